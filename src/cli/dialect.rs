//! Lines of other tools: which one is meant, and what becomes of its words.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use super::conduct::{drive, show, tell_left};
use super::plot::RunReports;
use crate::dialect::session::{
    Dialect, InvokedAs, LineContext, PLAN, ReadLine, SessionEnd, ToolStreams, without_plan,
};
use crate::dialect::verdict_place::VerdictPlace;
use crate::dialect::{atto, named};
use crate::process::stdout::printed;
use crate::process::{Environment, FAULT, REFUSAL, SOUND, typing};
use assay_engine::output::{OutputKind, OutputPlace};
use assay_engine::sys::{signal, start};
use assay_judge::predict::places;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::{self, NameText as _};
use assay_record::evidence::SysRoot;
use assay_record::record::document_file;
use assay_run::RunOptions;

/// Verbs of our own by whose name a link may call the program: ATTO has no words, so there are none to read.
const LINKED_VERBS: &[&str] = &[atto::NAME];

/// Another tool's words.
#[derive(Clone, Copy)]
pub struct ForeignCommand<'a> {
    /// Whose words these are.
    pub dialect: &'static dyn Dialect,
    /// What follows its name.
    pub words: &'a [OsString],
    /// By which name the program was called.
    pub called: InvokedAs,
}

/// Who reads the words of the tool that a path or a verb names.
fn speaker(word: &OsString) -> Option<&'static dyn Dialect> {
    Some(named(Path::new(word).file_name()?.to_str()?)?.dialect)
}

/// The words as our own, where the program was called by the name of a verb.
pub fn as_verb(words: &[OsString]) -> Option<Vec<OsString>> {
    let (called, rest) = words.split_first()?;
    let name = Path::new(called).file_name()?;
    let verb = LINKED_VERBS.iter().find(|verb| name == **verb)?;
    Some(["assay", *verb].map(OsString::from).into_iter().chain(rest.iter().cloned()).collect())
}

/// The tool that is meant by the name under which the program was called, or by its first word;
/// and the words that are that tool's.
pub fn meant(words: &[OsString]) -> Option<ForeignCommand<'_>> {
    let (called, rest) = words.split_first()?;
    if let Some(dialect) = speaker(called) {
        return Some(ForeignCommand { dialect, words: rest, called: InvokedAs::Tool });
    }
    let busybox = Path::new(called).file_name().is_some_and(|name| name == "busybox");
    let called = if busybox { InvokedAs::Busybox } else { InvokedAs::Assay };
    let (verb, rest) = rest.split_first()?;
    let dialect = named(verb.to_str()?)?.dialect;
    Some(ForeignCommand { dialect, words: rest, called })
}

/// Refuses what `busybox` does otherwise, when the program was called by that name or it is the first word.
pub fn spoken(words: &[OsString]) -> Result<(), Refusal> {
    let (place, applet, instead) = match words {
        [called, rest @ ..] if Path::new(called).file_name().is_some_and(|n| n == "busybox") => {
            ("busybox", rest.first(), "write 'busybox dd if=... of=...'")
        }
        [_, verb, rest @ ..] if verb == "busybox" => {
            ("assay busybox", rest.first(), "write 'ASSAY_DIALECT=busybox assay dd if=... of=...'")
        }
        _ => return Ok(()),
    };
    let asked = applet.map_or_else(String::new, |word| format!(" {}", word.to_text()));
    Err(Refusal {
        place: format!("{place}{asked}"),
        why: "of busybox this program does only dd".into(),
        instead: format!("{instead}, or call the real one by its path"),
    })
}

/// Hands out what a line of this machine is read with.
pub fn with_context<T>(
    called: InvokedAs,
    environment: &Environment,
    planned_only: bool,
    read: impl FnOnce(&LineContext<'_>) -> T,
) -> T {
    read(&LineContext {
        called,
        environment,
        planned_only,
        // A name as text is that of a file again.
        files: &|path| {
            let named = path.to_str().map_or_else(|| path.into(), name::path);
            document_file::bytes_of(&named)
        },
        is_folder: &|path| path.is_dir(),
        machine: &|| SysRoot::default().machine(),
    })
}

/// Does as that tool would, and says on `err` whether its figure may be believed.
///
/// # Errors
/// When our own words (variables, `--plan`) make no sense, or the record cannot be kept. What the
/// tool itself would refuse is printed in its words, with its exit status.
pub fn call(
    meant: &ForeignCommand,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let words: Vec<String> = meant.words.iter().map(|word| word.to_text()).collect();
    let planned_only = words.iter().any(|word| word == PLAN);
    let words = without_plan(&words);
    let outcome = with_context(meant.called, environment, planned_only, |context| {
        done(meant.dialect, &words, context, out, err)
    });
    match outcome {
        Err(Error::Refusal(refused))
            if meant.called == InvokedAs::Tool && meant.dialect.has_one_status() =>
        {
            let _ = writeln!(err, "assay: {}", typing::one_line(&refused));
            Ok(FAULT)
        }
        outcome => outcome,
    }
}

/// Reads the words and does what they say.
fn done(
    dialect: &dyn Dialect,
    words: &[String],
    context: &LineContext<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let err = &mut CheckedWriter { inner: err, failed: false };
    let read =
        dialect.read(words, context).map_err(|error| match (error, typing::refused(words)) {
            (Error::Refusal(_), Some(foreign)) => foreign.into(),
            (error, _) => error,
        });
    let line = match read? {
        ReadLine::Run(line) => line,
        ReadLine::Said(said) => {
            let _ = err.write_all(said.err.as_bytes());
            if said.refused {
                let _ = err.write_all(typing::told(words).as_bytes());
            }
            let printed_all = out.write_all(said.out.as_bytes()).and_then(|()| out.flush());
            if let Err(error) = &printed_all
                && let Some(complaint) = dialect.unprinted(error)
            {
                let _ = err.write_all(complaint.as_bytes());
                return Ok(FAULT);
            }
            printed(printed_all)?;
            if let Some(error) = said.error {
                return Err(error);
            }
            return Ok(match (said.refused, context.called) {
                (false, _) => SOUND,
                (true, InvokedAs::Assay) => REFUSAL,
                (true, InvokedAs::Tool | InvokedAs::Busybox) => said.status.unwrap_or(FAULT),
            });
        }
    };
    let _ = err.write_all(line.warnings().as_bytes());
    for path in line.outputs() {
        if OutputPlace::of(&path)?.kind() == OutputKind::Folder {
            let why = format!("{} is a folder", path.to_text());
            return Err(Refusal::new(why, "name a file").into());
        }
    }
    if context.planned_only {
        return show(line.plan(), out, err);
    }
    let signals = line.signals();
    if signals.inherits_pipe && !start::ignored_broken_pipes() {
        let _ = signal::restore(libc::SIGPIPE);
    }
    for ignored in signals.ignored {
        let _ = signal::ignore(*ignored);
    }
    let environment = context.environment;
    let record = environment.record.as_deref();
    let reports = RunReports::of(line.reports(), environment.plot.as_deref(), record, line.plan())?;
    let mut others = places(line.plan());
    let kept = environment.record.iter().chain(&environment.plot).chain(line.reports()).cloned();
    others.extend(line.outputs().into_iter().chain(kept));
    let verdict = VerdictPlace::of(environment, context.called.is_tool(), &others)?;
    let options = RunOptions {
        record: environment.record.clone(),
        board: environment.board.clone(),
        unseen: record.is_none() && !line.measures() && reports.is_empty(),
        signals: signal::TERMINATING.to_vec(),
        drain: false,
    };
    for time in 0..line.times() {
        let streams =
            ToolStreams { out: &mut *out, err: &mut *err, environment, verdict: &verdict };
        let session = line.session(time, streams)?;
        let (end, drawn) =
            drive(line.plan(), &options, (&reports, &verdict), environment, session)?;
        let _ = err.write_all(drawn.as_bytes());
        match end {
            SessionEnd::Status(SOUND) => {}
            SessionEnd::Status(other) => return Ok(other),
            SessionEnd::Killed(signal, otherwise) => {
                tell_left(otherwise, err);
                let _ = err.flush();
                signal::die_of(signal);
                return Ok(otherwise);
            }
        }
    }
    Ok(if err.failed && line.checks_stderr() { FAULT } else { SOUND })
}

/// A writer that knows afterwards whether all of it was written.
struct CheckedWriter<'a> {
    inner: &'a mut dyn Write,
    failed: bool,
}

impl Write for CheckedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(bytes);
        let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        self.failed |= outcome.as_ref().is_err_and(|error| !interrupted(error));
        outcome
    }

    fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(text.to_string().as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.failed |= outcome.is_err();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{DIALECTS, TO_COME};

    fn typed(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_tool_is_meant_by_a_link_or_a_verb() {
        for (line, rest, called) in [
            ("/usr/bin/dd if=a of=b", 2, InvokedAs::Tool),
            ("assay dd --plan", 1, InvokedAs::Assay),
            ("dd dd", 1, InvokedAs::Tool),
            ("/bin/busybox dd if=a", 1, InvokedAs::Busybox),
            ("/usr/sbin/bonnie++ -q", 1, InvokedAs::Tool),
            ("assay bonnie -q", 1, InvokedAs::Assay),
            ("bonnie -q", 1, InvokedAs::Tool),
            ("assay bonnie++ -q", 1, InvokedAs::Assay),
        ] {
            let typed = typed(line);
            let meant = meant(&typed).expect(line);
            assert_eq!((meant.words.len(), meant.called), (rest, called), "{line}");
        }
        for line in ["assay quick dd", "assay", "add dd2", "assay atto /mnt", "atto /mnt"] {
            assert!(meant(&typed(line)).is_none(), "{line}");
        }
        assert_eq!(as_verb(&typed("/bin/atto /mnt")), Some(typed("assay atto /mnt")));
        assert_eq!(as_verb(&typed("dd if=a")), None);
    }

    #[test]
    fn no_name_means_two_tools() {
        let all: Vec<&str> = DIALECTS.iter().flat_map(|tool| tool.names).copied().collect();
        for name in &all {
            assert_eq!(all.iter().filter(|other| *other == name).count(), 1, "{name}");
            assert!(!TO_COME.contains(name) && !LINKED_VERBS.contains(name), "{name}");
        }
    }
}
