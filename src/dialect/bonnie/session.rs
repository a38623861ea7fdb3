//! `assay bonnie`: the twelve tests of Bonnie++, with its tables and its line of CSV; on standard
//! error, after its progress, what may be believed of each.

use std::io::{self, Write};
use std::path::Path;

use super::step::{self, StepKeeper};
use super::user;

use crate::dialect::bonnie::{
    self, BonnieComplaint, BonnieOptions, BonnieRun, HostFacts, SemaphoreCommand, TestResult,
};
use crate::dialect::option::verdict_help;
use crate::dialect::session::{
    Dialect, KnownTool, LineContext, PrintedResult, ReadLine, SessionEnd, SignalUse, ToolRun,
    ToolSaid, ToolSession, ToolStreams, typed_line, without_plan,
};
use crate::process::SOUND;
use crate::process::stdout::printed;
use crate::report;
use assay_engine::sys::{clock, semaphore};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{Phase, Plan, ToolProfile};
use assay_plan::unit::MIB;
use assay_record::record::{BetterCommand, Ending, PhaseRecord, Record, Trust, WordMeaning};
use assay_run::{LiveStatus, Observer};

/// Exit status after a signal that ends the tests in order.
const INTERRUPTED: u8 = 5;

/// Bonnie++, all versions.
pub const TOOL: KnownTool = KnownTool {
    title: bonnie::TITLE,
    names: &[bonnie::NAME, bonnie::TITLE],
    about: "Run the twelve tests of Bonnie++, with its options, tables and CSV; verdicts go to standard error",
    more: "'assay bonnie --help' lists the options; --format chooses the version whose tables and CSV are \
           printed, --as-original leaves in memory what the tool would, --plan only prints the plan. The exit status is \
           Bonnie++'s own; only words that make no sense end with 2.",
    value_name: "OPTION",
    whose: "Bonnie++'s own words",
    profile: ToolProfile::default,
    dialect: &Bonnie,
};

#[derive(Debug)]
struct Bonnie;

impl Dialect for Bonnie {
    fn has_one_status(&self) -> bool {
        true
    }

    fn read(&self, words: &[String], context: &LineContext<'_>) -> Result<ReadLine, Error> {
        if words.iter().any(|word| word == "--help") {
            return Ok(ReadLine::Said(ToolSaid::answer(help())));
        }
        let mut said = String::new();
        Ok(understood(words, context, &mut said).unwrap_or_else(|complaint| {
            ReadLine::Said(ToolSaid::refused(said + &complaint.text(), None))
        }))
    }

    fn planned(
        &self,
        words: &[String],
        ours: bool,
        context: &LineContext<'_>,
    ) -> Result<(Plan, BetterCommand), Refusal> {
        let named = |refusal: Refusal| Refusal { place: bonnie::TITLE.into(), ..refusal };
        let read = bonnie::read(&without_plan(words));
        let mut asked = read.map_err(|complaint| named(complaint.refusal))?;
        // What the tool makes of them, unless they are ours.
        asked.as_original |= !ours;
        // A line is not refused for the memory of the machine where it is only looked at.
        if asked.size.is_some() {
            asked.ram.get_or_insert(0);
        }
        if asked.semaphores.is_some() {
            let refusal =
                Refusal::new("-p makes or removes semaphores and tests nothing", "leave it out");
            return Err(named(refusal));
        }
        let (plan, _) = settled(&asked, context).map_err(|complaint| named(complaint.refusal))?;
        let again = BetterCommand {
            line: typed_line(bonnie::NAME, words),
            why: "the same tests, cold and flushed, each with a verdict".into(),
        };
        Ok((plan, again))
    }

    fn printed(&self, text: &str) -> Option<PrintedResult> {
        bonnie::read_csv(text)
    }

    fn meanings(&self, words: &[String], _context: &LineContext<'_>) -> Vec<WordMeaning> {
        let mut meanings = bonnie::meanings(words);
        let read = bonnie::read(&without_plan(words)).ok().filter(|asked| asked.ram.is_none());
        let size =
            read.and_then(|asked| Some((asked.size.filter(|size| *size > 0)?, asked.concurrency)));
        let sized = meanings.iter_mut().find(|meaning| meaning.word.starts_with("-s"));
        if let (Some((size, copies)), Some(sized)) = (size, sized) {
            let most = size.saturating_mul(copies.into()) / 2;
            sized.means += &format!(
                "; refused where the machine has more than {most} MiB of memory, without -r"
            );
        }
        meanings
    }
}

/// What the words come to, after whatever they want done before any test; what was `said` then goes to
/// standard error.
fn understood(
    words: &[String],
    context: &LineContext<'_>,
    said: &mut String,
) -> Result<ReadLine, BonnieComplaint> {
    let asked = bonnie::read(words)?;
    if !(context.is_folder)(&asked.dir) {
        let dir = asked.dir.to_text();
        let refusal = Refusal::new(format!("-d '{dir}' is no folder"), "name one that is there");
        let said = format!("Can't change to directory \"{dir}\".\n");
        return Err(BonnieComplaint { said, usage: Some(asked.form), refusal });
    }
    if !context.planned_only {
        user::become_who_is_asked(&asked, said)?;
        if let Some(what) = asked.semaphores {
            let err = std::mem::take(said);
            let done = semaphores(what).map(ToolSaid::answer);
            let said =
                done.unwrap_or_else(|error| ToolSaid { error: Some(error), ..ToolSaid::default() });
            return Ok(ReadLine::Said(ToolSaid { err, ..said }));
        }
    }
    let (plan, settled) = settled(&asked, context)?;
    Ok(ReadLine::Run(Box::new(TestLine { plan, settled, said: std::mem::take(said) })))
}

/// Makes or removes the semaphores, and says so.
fn semaphores(what: SemaphoreCommand) -> Result<String, Error> {
    let fault =
        |doing: Doing, error: io::Error| Fault::new(doing, "the semaphores of bonnie++", &error);
    match what {
        SemaphoreCommand::Make(processes) => {
            semaphore::SemaphoreSet::make(step::KEY, step::MEMBERS, processes as i32)
                .map_err(|error| fault(Doing::Make, error))?;
            Ok(format!("Creating semaphore for {processes} procs.\n"))
        }
        SemaphoreCommand::Remove => {
            semaphore::SemaphoreSet::open(step::KEY, step::MEMBERS)
                .and_then(semaphore::SemaphoreSet::remove)
                .map_err(|error| fault(Doing::Remove, error))?;
            Ok("Semaphore removed.\n".into())
        }
    }
}

/// The plan on this machine.
fn settled(
    asked: &BonnieOptions,
    context: &LineContext<'_>,
) -> Result<bonnie::BonnieCommand, BonnieComplaint> {
    let machine = (context.machine)();
    let pid = std::process::id();
    let host = HostFacts {
        name: machine.host,
        ram: machine.memory.seen().map_or(0, |memory| memory.0 / MIB),
        pid,
        seed: pid ^ clock::now().0 as u32,
    };
    let random = asked.random.as_deref().map(context.files).transpose().map_err(|error| {
        let path = asked.random.clone().unwrap_or_default();
        let refusal = Refusal::new(
            format!("-Z {}: {}", path.to_text(), Fault::new(Doing::Read, "", &error).text),
            "name a file that can be read; below the folder of a -d before it",
        );
        let said = format!("Can't open random file \"{}\".\n", path.to_text());
        BonnieComplaint { said, usage: None, refusal }
    })?;
    asked.settled(&host, random.as_deref())
}

/// A line that was understood.
struct TestLine {
    plan: Plan,
    settled: BonnieRun,
    /// What was said while it was read.
    said: String,
}

impl ToolRun for TestLine {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn warnings(&self) -> &str {
        &self.said
    }

    fn times(&self) -> u32 {
        self.settled.asked.times.unwrap_or(1)
    }

    fn signals(&self) -> SignalUse {
        SignalUse {
            inherits_pipe: false,
            // As the original: a terminal that goes away ends nothing, and a file that may not grow is an
            // error.
            ignored: &[libc::SIGHUP, libc::SIGXFSZ],
        }
    }

    fn session<'a>(
        &'a self,
        time: u32,
        streams: ToolStreams<'a>,
    ) -> Result<Box<dyn ToolSession + 'a>, Error> {
        let asked = &self.settled.asked;
        if time == 0 {
            one_each(asked.times, streams.environment.record.as_deref())?;
            if self.times() > 1 {
                printed(writeln!(streams.out, "{}", bonnie::header(asked.form)))?;
            }
        }
        let step_keeper = asked.step.map(StepKeeper::new).transpose()?;
        let settled = &self.settled;
        Ok(Box::new(BonnieProgress {
            settled,
            streams,
            step_keeper,
            standing: false,
            interrupted: false,
        }))
    }
}

/// Refuses to keep the records of several runs in one file.
fn one_each(times: Option<u32>, record: Option<&Path>) -> Result<(), Refusal> {
    match (times, record) {
        (Some(times @ 2..), Some(path)) if !path.is_dir() => Err(Refusal {
            place: "ASSAY_RECORD".into(),
            why: format!("-x {times} makes {times} records, and {} is no folder", path.to_text()),
            instead: "make a folder, and name that: 'assay compare' takes two of them".into(),
        }),
        _ => Ok(()),
    }
}

/// The verdicts, the tables, and the line of CSV.
fn told(record: &Record, settled: &BonnieRun, streams: &mut ToolStreams<'_>) -> Result<(), Error> {
    let asked = &settled.asked;
    let named = |phase: &PhaseRecord| {
        let shown = phase.verdict.as_ref().is_some_and(|verdict| verdict.trust == Trust::Wrong);
        let measure = TestResult::of(phase).filter(|_| shown || !asked.quiet)?;
        Some(bonnie::figure(&phase.name, &measure))
    };
    let ToolStreams { out, err, environment, verdict } = streams;
    if verdict.tells(false) {
        for line in report::remarks(record, named, environment.err_lines_style()) {
            let _ = writeln!(err, "{line}");
        }
    }
    let tests = bonnie::measured(record);
    if asked.times.is_none() {
        let tables = bonnie::table(settled, &tests);
        match asked.quiet {
            true => err.write_all(tables.as_bytes()).unwrap_or_default(),
            false => printed(out.write_all(tables.as_bytes()))?,
        }
    }
    printed(writeln!(out, "{}", bonnie::csv(settled, &tests)).and_then(|()| out.flush()))
}

/// Says on standard error how far it has come.
struct BonnieProgress<'a> {
    settled: &'a BonnieRun,
    streams: ToolStreams<'a>,
    step_keeper: Option<StepKeeper>,
    /// A line of progress stands there without an end.
    standing: bool,
    interrupted: bool,
}

impl BonnieProgress<'_> {
    fn say(&mut self, text: &str) {
        let err = &mut self.streams.err;
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.standing) {
            let _ = self.streams.err.write_all(b"\n");
        }
    }
}

impl ToolSession for BonnieProgress<'_> {
    fn finish(&mut self, outcome: Result<Record, Error>) -> Result<SessionEnd, Error> {
        self.end_line();
        let record = outcome?;
        match &record.ending {
            Ending::Failed(fault) => return Err(fault.clone().into()),
            // As the original, which answers these two.
            Ending::Interrupted(libc::SIGINT | libc::SIGXCPU) => {
                return Ok(SessionEnd::Status(INTERRUPTED));
            }
            Ending::Interrupted(signal) => return Ok(SessionEnd::Killed(*signal, INTERRUPTED)),
            Ending::Complete | Ending::Unfinished => {}
        }
        told(&record, self.settled, &mut self.streams)?;
        Ok(SessionEnd::Status(SOUND))
    }
}

impl Observer for BonnieProgress<'_> {
    fn may_begin(&mut self, phase: &Phase) -> Result<bool, Fault> {
        match (&mut self.step_keeper, bonnie::test_of(&phase.name)) {
            (Some(step_keeper), Some(test)) => {
                step_keeper.may_begin(test, self.streams.out, self.streams.err)
            }
            _ => Ok(true),
        }
    }

    fn began(&mut self, phase: &Phase, _number: usize, _of: usize) {
        if !self.settled.asked.quiet {
            let text = bonnie::began(self.settled.asked.form, &phase.name);
            self.say(text.as_ref());
            self.standing = true;
        }
    }

    fn asked(&mut self, _signal: i32, _live: &LiveStatus) -> bool {
        self.interrupted = true;
        false
    }

    fn ended(&mut self, _record: &Record, phase: &PhaseRecord) {
        if phase.faults.is_empty() && !self.interrupted && std::mem::take(&mut self.standing) {
            let text = bonnie::ended(self.settled, &phase.name);
            self.say(text.as_ref());
        }
    }
}

/// What `--help` answers.
fn help() -> String {
    format!(
        "\
assay bonnie: the twelve tests of Bonnie++, each with a verdict on stderr
{}  --plan                the plan instead of a run
{}",
        bonnie::help(bonnie::BonnieVersion::default()),
        verdict_help(bonnie::TITLE)
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::dialect::session::InvokedAs;
    use crate::process::Environment;
    use assay_testing::doctored::DoctoredRecord;

    /// What becomes of a line where there is a folder `/mnt/sd` with a file `seeds` in it.
    fn read(line: &str) -> ReadLine {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        let environment = Environment::default();
        let context = LineContext {
            called: InvokedAs::Tool,
            environment: &environment,
            planned_only: true,
            files: &|path| match path == Path::new("/mnt/sd/seeds") {
                true => Ok(b"abcd".to_vec()),
                false => Err(io::ErrorKind::NotFound.into()),
            },
            is_folder: &|path| path == Path::new("/mnt/sd"),
            machine: &|| DoctoredRecord::write_flushed().record.machine().clone(),
        };
        Bonnie.read(&words, &context).expect("read")
    }

    fn said(line: &str) -> ToolSaid {
        match read(line) {
            ReadLine::Said(said) => said,
            ReadLine::Run(_) => panic!("{line}: tests"),
        }
    }

    #[test]
    fn a_line_is_read_without_a_disk() {
        let ReadLine::Run(tests) = read("-d /mnt/sd -s 16 -r 8 -n 0 -x 3 -Z seeds") else {
            panic!("no tests")
        };
        assert_eq!((tests.times(), tests.warnings()), (3, ""));
        assert_eq!(tests.plan().origin.sources, ["/mnt/sd/seeds"]);
        let absent = said("-d /mnt/sd -s 16 -r 8 -n 0 -Z sown");
        assert!(absent.refused && absent.out.is_empty());
        assert!(absent.err.starts_with("Can't open random file \"/mnt/sd/sown\".\n"), "{absent:?}");
        let nowhere = said("-d /mnt/hd");
        assert!(nowhere.err.starts_with("Can't change to directory \"/mnt/hd\".\n"), "{nowhere:?}");
        let help = said("--help");
        assert!(!help.refused && help.err.is_empty() && help.out.contains("--as-original"));
    }
}
