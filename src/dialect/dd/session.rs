//! `assay dd`: the copy as dd makes it, with dd's words on standard error, and before its last
//! lines what may be believed of them.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use rustix::fs::OFlags;

use crate::dialect::dd::{self, DdComplaint, DdFlavor, DdOutput, StatusLevel};
use crate::dialect::session::{
    Dialect, InvokedAs, KnownTool, LineContext, ReadLine, SessionEnd, SignalUse, ToolRun, ToolSaid,
    ToolSession, ToolStreams, cold, settle, typed_line, unknown_value, without_plan,
};
use crate::dialect::verdict_place::{VerdictPlace, is_silent, is_unheard};
use crate::process::Environment;
use crate::process::{FAULT, SOUND};
use crate::report::verdict_lines;
use assay_engine::sys::{clock, start};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::{NameText as _, quoted};
use assay_plan::plan::{CacheDrop, CopyWork, Durability, Phase, Plan};
use assay_plan::stats::copy::{CopyCounts, CopyEvent};
use assay_plan::unit::{Bytes, Nanos, Timestamp};
use assay_record::record::{BetterCommand, Ending, Finding, PhaseRecord, Record, WordMeaning};
use assay_run::{self as run, LiveStatus, Observer};

/// So little is no measurement, whatever the kernel would tell of it.
const LITTLE: Bytes = Bytes::kib(64);

/// GNU's dd and BusyBox's.
pub const TOOL: KnownTool = KnownTool {
    title: dd::NAME,
    names: &[dd::NAME],
    about: "Copy as dd does, with all its operands; the verdict goes to standard error",
    more: "'assay dd --help' lists the operands; --plan among them only prints the plan. What is said, \
           and the exit status, are dd's own, also when the number is wrong; only words that make no sense end with 2.",
    value_name: "OPERAND",
    whose: "dd's own words",
    profile: dd::tool,
    dialect: &Dd,
};

#[derive(Debug)]
struct Dd;

impl Dialect for Dd {
    fn lends_first_thread(&self) -> bool {
        true
    }

    fn read(&self, words: &[String], context: &LineContext<'_>) -> Result<ReadLine, Error> {
        let environment = context.environment;
        let flavor = flavor(context.called, environment)?;
        let (mut plan, mut options) = match dd::parse(words, flavor) {
            Ok(understood) => understood,
            Err(DdComplaint { stdout, mut stderr, code }) => {
                if code != 0
                    && !is_silent(environment, context.called.is_tool())
                    && let Some(word) = dd::meant(words, flavor)
                {
                    stderr.push_str(&format!("assay: did you mean {}?\n", quoted(&word)));
                }
                let (out, err, refused) = (stdout, stderr, code != 0);
                return Ok(ReadLine::Said(ToolSaid { out, err, refused, ..ToolSaid::default() }));
            }
        };
        for phase in &mut plan.phases {
            phase.cold = cold(environment)?;
            phase.settle = settle(options.status == StatusLevel::None, environment)?;
        }
        if let Some(copy) = dd::copy_of(&plan) {
            let spelled = |named: bool, stream: u8, open: BorrowedFd<'_>| match named {
                true => Some(String::new()),
                false => redirected(open).filter(|_| !start::was_closed(stream)),
            };
            let input = spelled(copy.from.path.is_some(), 0, io::stdin().as_fd());
            let output = spelled(copy.to.path.is_some(), 1, io::stdout().as_fd());
            let both = input.zip(output).map(|(input, output)| input + &output);
            plan.origin.piped = both.is_none();
            plan.origin.redirected = both.unwrap_or_default();
        }
        let unheard = is_unheard(environment, context.called.is_tool());
        if unheard && environment.record.is_none() && environment.settle.is_none() {
            plan.phases.iter_mut().for_each(|phase| phase.settle = Nanos::ZERO);
        }
        let waited_for = environment.settle.as_deref().is_some_and(|word| word != "no");
        if !context.planned_only {
            plan.origin.damages = run::damages(&plan);
            if !is_silent(environment, context.called.is_tool()) {
                let warned = plan.origin.damages.iter().map(|damage| format!("assay: {damage}\n"));
                options.warnings.extend(warned);
            }
        }
        let measured = !(unheard || dd::copy_of(&plan).is_some_and(is_little))
            || plan.phases.iter().any(|phase| phase.cold != CacheDrop::Keep)
            || waited_for;
        Ok(ReadLine::Run(Box::new(CopyLine { plan, options, measured })))
    }

    fn planned(
        &self,
        words: &[String],
        _ours: bool,
        context: &LineContext<'_>,
    ) -> Result<(Plan, BetterCommand), Refusal> {
        let flavor = flavor(context.called, context.environment)?;
        let read = dd::parse(&without_plan(words), flavor);
        let (mut plan, _) =
            read.map_err(|complaint| refused(&complaint, dd::meant(words, flavor)))?;
        for phase in &mut plan.phases {
            phase.cold = cold(context.environment)?;
        }
        plan.origin.damages = run::damages(&plan);
        Ok((plan, with_verdict(words, flavor)))
    }

    fn meanings(&self, words: &[String], context: &LineContext<'_>) -> Vec<WordMeaning> {
        let flavor = flavor(context.called, context.environment);
        flavor.map(|flavor| dd::meanings(words, flavor)).unwrap_or_default()
    }

    fn unprinted(&self, error: &io::Error) -> Option<String> {
        Some(dd::unprinted(error))
    }

    fn mended(&self, words: &[String], plan: &Plan, found: &[Finding]) -> Option<BetterCommand> {
        dd::mended(words, plan, found)
    }
}

/// How a shell is told of what a standard stream is, so that a line with the same effect can be typed.
/// `None` where none has it: a pipe or a terminal has no name, and of a file that holds something
/// already, or is used from its middle on, `>` would make an end.
fn redirected(stream: BorrowedFd<'_>) -> Option<String> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd())).ok()?;
    let (open, named) = (rustix::fs::fstat(stream).ok()?, std::fs::metadata(&path).ok()?);
    if (open.st_dev, open.st_ino) != (named.dev(), named.ino()) {
        return None;
    }
    let flags = rustix::fs::fcntl_getfl(stream).ok()?;
    let kind = named.file_type();
    let sign = if kind.is_char_device() {
        let sign = if stream.as_raw_fd() == 0 { "<" } else { ">" };
        (!rustix::termios::isatty(stream)).then_some(sign)?
    } else if !kind.is_file() && !kind.is_block_device() {
        return None;
    } else if stream.as_raw_fd() != 0 && flags.contains(OFlags::APPEND) {
        ">>"
    } else if rustix::fs::tell(stream).ok()? != 0 {
        return None;
    } else if stream.as_raw_fd() == 0 {
        "<"
    } else if kind.is_block_device() || named.len() == 0 {
        ">"
    } else if flags.contains(OFlags::RDWR) {
        "1<>"
    } else {
        return None;
    };
    Some(format!(" {sign}{}", quoted(&path.to_text())))
}

/// The same line with a verdict.
fn with_verdict(words: &[String], flavor: DdFlavor) -> BetterCommand {
    let whose = match flavor {
        DdFlavor::Gnu => "",
        DdFlavor::Busybox => dd::BUSYBOX,
    };
    BetterCommand {
        line: format!("{whose}{}", typed_line(dd::NAME, words)),
        why: "the same copy as it stands, with a verdict beside dd's own figure".into(),
    }
}

/// What a dd says instead of copying, as a refusal.
fn refused(complaint: &DdComplaint, meant: Option<String>) -> Refusal {
    let said = complaint.stderr.lines().find_map(|line| line.strip_prefix("dd: "));
    let why = match (complaint.code, said) {
        (0, _) => "it is asked for help or its version, and copies nothing",
        (_, Some(said)) => said,
        (_, None) => "BusyBox's dd does not take these words",
    };
    Refusal {
        place: dd::NAME.into(),
        why: why.into(),
        instead: meant.map_or_else(
            || "'assay dd --help' lists the operands".into(),
            |word| format!("did you mean {}?", quoted(&word)),
        ),
    }
}

/// Whose dd is meant.
fn flavor(called: InvokedAs, environment: &Environment) -> Result<DdFlavor, Refusal> {
    match environment.dialect.as_deref().map(OsStr::as_encoded_bytes) {
        None if called == InvokedAs::Busybox => Ok(DdFlavor::Busybox),
        None | Some(b"gnu") => Ok(DdFlavor::Gnu),
        Some(b"busybox") => Ok(DdFlavor::Busybox),
        Some(other) => Err(unknown_value("ASSAY_DIALECT", other, "gnu or busybox")),
    }
}

/// Whether a copy is known to move no more than a few blocks, none of which waits for a device.
fn is_little(copy: &CopyWork) -> bool {
    let there = |path: &Option<PathBuf>| std::fs::metadata(path.as_ref()?).ok();
    let (from, to) = (there(&copy.from.path), there(&copy.to.path));
    let on_device = |end: &Option<Metadata>| {
        end.as_ref().is_some_and(|there| there.file_type().is_block_device())
    };
    let waits = on_device(&from)
        || on_device(&to)
        || copy.from.flags.direct
        || copy.to.flags.direct
        || copy.durability() != Durability::None;
    // Files of /proc hold more than their size, which is 0.
    let of_file =
        from.filter(|from| from.is_file() && from.len() > 0).map(|file| Bytes(file.len()));
    let counted = copy.count.map(|count| count.in_bytes(copy.input_block));
    !waits && [of_file, counted].into_iter().flatten().any(|bytes| bytes <= LITTLE)
}

/// A line that was understood.
struct CopyLine {
    plan: Plan,
    options: DdOutput,
    /// Enough is copied for a figure, or it was asked for.
    measured: bool,
}

impl ToolRun for CopyLine {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn warnings(&self) -> &str {
        &self.options.warnings
    }

    fn measures(&self) -> bool {
        self.options.status != StatusLevel::None && self.measured
    }

    fn checks_stderr(&self) -> bool {
        self.options.flavor == DdFlavor::Gnu
    }

    fn signals(&self) -> SignalUse {
        SignalUse { inherits_pipe: true, ignored: &[libc::SIGXFSZ] }
    }

    fn session<'a>(
        &'a self,
        _time: u32,
        streams: ToolStreams<'a>,
    ) -> Result<Box<dyn ToolSession + 'a>, Error> {
        let Some(copy) = dd::copy_of(&self.plan) else { unreachable!("dd's words make a copy") };
        Ok(Box::new(DdProgress {
            options: &self.options,
            copy,
            err: streams.err,
            environment: streams.environment,
            verdict: streams.verdict,
            started: clock::now(),
            standing: 0,
            faults: Vec::new(),
            told_of_settling: false,
            signal: None,
            shown: None,
        }))
    }
}

/// The verdict's lines. With `status=none` no number is printed, so there is nothing to speak of.
fn verdict(record: &Record, options: &DdOutput, environment: &Environment) -> String {
    if options.status == StatusLevel::None {
        return String::new();
    }
    verdict_lines(record, environment.err_lines_style())
        .iter()
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The signal that ended the copy. One that only ended the watching of its flush did not.
fn cut_short(record: &Record, phase: &PhaseRecord) -> Option<i32> {
    match record.ending {
        Ending::Interrupted(signal) if phase.evidence.settle.is_none() => Some(signal),
        _ => None,
    }
}

/// Says on standard error what dd would say, when it would say it.
struct DdProgress<'a> {
    options: &'a DdOutput,
    copy: &'a CopyWork,
    err: &'a mut dyn Write,
    environment: &'a Environment,
    verdict: &'a VerdictPlace,
    started: Timestamp,
    /// Length of the progress line that stands there without an end.
    standing: usize,
    /// What it said that had failed.
    faults: Vec<Fault>,
    told_of_settling: bool,
    signal: Option<i32>,
    /// Bytes that the last progress line spoke of.
    shown: Option<u64>,
}

impl DdProgress<'_> {
    /// Whole lines; a progress line that stands there is ended first.
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end_line();
        let _ = self.err.write_all(text.as_bytes());
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.standing) > 0 {
            let _ = self.err.write_all(b"\n");
        }
    }

    fn progress(&mut self, counts: &CopyCounts, time: Nanos) {
        let (line, length) = dd::progress(counts, time, self.standing);
        self.standing = length;
        self.shown = Some(counts.bytes_written);
        let _ = self.err.write_all(line.as_bytes());
        let _ = self.err.flush();
    }

    fn time(&self) -> Nanos {
        clock::now().since(self.started)
    }
}

impl ToolSession for DdProgress<'_> {
    fn finish(&mut self, outcome: Result<Record, Error>) -> Result<SessionEnd, Error> {
        let kept = self.environment.record.as_ref().map(|path| path.to_text());
        let record = match outcome {
            Ok(record) => record,
            // Of what no dd does: dropping caches, keeping a record.
            Err(Error::Fault(fault))
                if fault.doing == Doing::Drop || kept.as_ref() == Some(&fault.path) =>
            {
                return Err(fault.into());
            }
            // While it waited for the other side of a FIFO.
            Err(Error::Fault(fault)) if fault.errno == libc::EINTR => {
                return Ok(SessionEnd::Killed(self.signal.unwrap_or(libc::SIGINT), FAULT));
            }
            // What dd itself would have met when it opened its files; what had been said then has
            // been heard.
            Err(Error::Fault(fault)) => {
                if self.faults.is_empty() {
                    self.say(&dd::fault(self.options, self.copy, &fault));
                    // What no dd meets is explained.
                    if self.verdict.tells(true)
                        && fault.doing == Doing::Start
                        && !fault.hint.is_empty()
                    {
                        self.say(&format!("assay: {}\n", fault.hint));
                    }
                }
                return Ok(SessionEnd::Status(FAULT));
            }
            Err(refusal) => return Err(refusal),
        };
        let Some(phase) = record.phases.first() else { return Ok(SessionEnd::Status(FAULT)) };
        // That nobody reads is said, and there is nothing to judge.
        if self.verdict.tells(!self.faults.is_empty())
            && !self.faults.iter().any(|fault| fault.errno == libc::EPIPE)
        {
            self.say(&verdict(&record, self.options, self.environment));
        }
        if dd::reports_after(self.options, &self.faults) {
            let counts = phase.copy.unwrap_or_default();
            self.say(&dd::report(self.options, &counts, phase.span.time()));
        }
        if !self.faults.is_empty() {
            return Ok(SessionEnd::Status(FAULT));
        }
        // What is left of a look at the folder.
        if let Ending::Failed(fault) = &record.ending
            && fault.doing == Doing::Remove
        {
            return Err(fault.clone().into());
        }
        Ok(match cut_short(&record, phase) {
            Some(signal) => SessionEnd::Killed(signal, SOUND),
            None => SessionEnd::Status(SOUND),
        })
    }
}

impl Observer for DdProgress<'_> {
    fn began(&mut self, _phase: &Phase, _number: usize, _of: usize) {
        self.started = clock::now();
    }

    fn tick(&mut self, live: &LiveStatus) {
        if live.settling
            && self.environment.err.is_some()
            && !self.told_of_settling
            && self.options.status != StatusLevel::None
            && self.verdict.tells(false)
        {
            self.told_of_settling = true;
            self.say(
                "assay: copied; watching what is still in memory go to the disk (ASSAY_SETTLE=no skips this)\n",
            );
        }
    }

    fn asked(&mut self, signal: i32, live: &LiveStatus) -> bool {
        if signal != libc::SIGUSR1 {
            self.signal = Some(signal);
            return false;
        }
        let counts = live.copy.unwrap_or_default();
        self.say(&dd::report(self.options, &counts, live.elapsed));
        let _ = self.err.flush();
        true
    }

    fn said(&mut self, event: &CopyEvent) {
        let text = dd::event(self.options, self.copy, event);
        self.say(&text);
        match event {
            CopyEvent::ReadError { counts, .. } if self.options.flavor == DdFlavor::Gnu => {
                let time = self.time();
                self.say(&dd::report(self.options, counts, time));
            }
            CopyEvent::Failed(fault) => {
                self.faults.push(fault.clone());
            }
            CopyEvent::Progress { counts, time }
                if self.options.status == StatusLevel::Progress =>
            {
                self.progress(counts, *time);
            }
            CopyEvent::Flushing { counts }
                if self.shown.is_some_and(|shown| shown < counts.bytes_written) =>
            {
                self.shown = Some(counts.bytes_written);
                let line = dd::before_flush(counts, self.time());
                let _ = self.err.write_all(line.as_bytes());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::session::{SETTLE, SETTLE_UNSEEN};

    fn read(line: &str, variables: &Environment) -> Result<ReadLine, Error> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        let context = LineContext {
            called: InvokedAs::Assay,
            environment: variables,
            planned_only: false,
            files: &|_| unreachable!("dd's words name no file that is read"),
            is_folder: &|_| unreachable!("nor a folder"),
            machine: &|| unreachable!("nor depend on the machine"),
        };
        Dd.read(&words, &context)
    }

    #[test]
    fn variables_say_what_no_operand_can() {
        let mut variables = Environment { cold: Some("target".into()), ..Environment::default() };
        let Ok(ReadLine::Run(copy)) = read("if=a of=b count=1", &variables) else {
            panic!("no copy")
        };
        let phase = &copy.plan().phases[0];
        assert_eq!((phase.cold, phase.settle), (CacheDrop::Target, SETTLE_UNSEEN));
        let settled = |variables: &Environment| match read("if=a of=b", variables) {
            Ok(ReadLine::Run(copy)) => copy.plan().phases[0].settle,
            _ => panic!("no copy"),
        };
        let seen = Environment { err: Some(80), ..Environment::default() };
        assert_eq!(settled(&seen), SETTLE);
        for (word, time) in [("yes", SETTLE), ("no", Nanos::ZERO), ("5m", Nanos::secs(300))] {
            assert_eq!(settled(&Environment { settle: Some(word.into()), ..seen.clone() }), time);
        }
        variables.cold = Some("much".into());
        let Err(Error::Refusal(refused)) = read("if=a of=b", &variables) else {
            panic!("understood")
        };
        assert_eq!(
            refused.to_string(),
            "ASSAY_COLD: invalid value 'much'; give target, machine or no"
        );
    }

    #[test]
    fn what_dd_would_refuse_is_said_in_its_words() {
        let Ok(ReadLine::Said(said)) = read("if=a fo=b", &Environment::default()) else {
            panic!("a copy")
        };
        assert!(said.refused && said.out.is_empty());
        assert!(said.err.starts_with("dd: unrecognized operand 'fo=b'\n"), "{said:?}");
    }
}
