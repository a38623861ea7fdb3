//! `assay bonnie`: the twelve tests of Bonnie++, with its tables and its line of CSV; on standard
//! error, after its progress, what may be believed of each.

mod step;
mod user;

use std::io::{self, Write};
use std::path::Path;

use step::Keeper;

use super::conduct::{FAULT, REFUSAL, SOUND, show};
use super::dialect::Called;
use super::environment::Environment;
use super::printed;
use crate::dialect::bonnie::{self, Asked, Complaint, Host, Measure, Semaphores, Settled};
use crate::error::{Error, Fault, Refusal};
use crate::evidence::Scene;
use crate::plan::{Phase, Plan};
use crate::record::{Ending, PhaseRecord, Record, Trust};
use crate::report;
use crate::run::{self, Live, Observer};
use crate::sys::{clock, semaphore, signal};
use crate::unit::MIB;

/// Exit status after a signal that ends the tests in order.
const INTERRUPTED: u8 = 5;

/// Does what Bonnie++ would do with these words.
///
/// # Errors
/// When the run can not be done here, a call of it failed, or the output can not be written.
pub fn call(
    mut words: Vec<String>,
    called: Called,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    if words.iter().any(|word| word == "--help") {
        return printed(out.write_all(help().as_bytes())).map(|()| SOUND);
    }
    let planned_only = words.iter().any(|word| word == "--plan");
    words.retain(|word| word != "--plan");
    let outcome = match understood(&words, planned_only, out, err) {
        Ok(Some((plan, _))) if planned_only => show(&plan, out, err),
        Ok(Some((plan, settled))) => tests(&plan, &settled, environment, out, err),
        Ok(None) => Ok(SOUND),
        Err(Stop::Complaint(complaint)) => {
            let _ = err.write_all(complaint.text().as_bytes());
            return Ok(refusal(called));
        }
        Err(Stop::Error(error)) => Err(error),
    };
    match outcome {
        Err(Error::Refusal(refused)) if called == Called::Tool => {
            let _ = writeln!(err, "assay: {refused}");
            Ok(FAULT)
        }
        outcome => outcome,
    }
}

/// The exit status of words that make no sense.
fn refusal(called: Called) -> u8 {
    if called == Called::Tool { FAULT } else { REFUSAL }
}

/// The plan of a line that is not to be run: what our tests do, or those of the tool itself.
///
/// # Errors
/// When the words would be refused, or make no plan.
pub(super) fn planned(words: &[String], ours: bool) -> Result<Plan, Refusal> {
    let words: Vec<String> = words.iter().filter(|word| *word != "--plan").cloned().collect();
    let named = |refusal: Refusal| Refusal { place: "bonnie++".into(), ..refusal };
    let mut asked = bonnie::read(&words).map_err(|complaint| named(complaint.refusal))?;
    asked.as_original |= !ours;
    if asked.semaphores.is_some() {
        let refusal =
            Refusal::new("-p makes or removes semaphores and tests nothing", "leave it out");
        return Err(named(refusal));
    }
    match settled(&asked) {
        Ok((plan, _)) => Ok(plan),
        Err(complaint) => Err(named(complaint.refusal)),
    }
}

/// Why there are no tests.
enum Stop {
    Complaint(Complaint),
    Error(Error),
}

impl From<Complaint> for Stop {
    fn from(complaint: Complaint) -> Self {
        Self::Complaint(complaint)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What the words come to, after whatever they want done before any test; nothing when that was all.
fn understood(
    words: &[String],
    planned_only: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Option<bonnie::Understood>, Stop> {
    let asked = bonnie::read(words)?;
    if !asked.dir.is_dir() {
        let dir = asked.dir.display();
        let refusal = Refusal::new(format!("-d '{dir}' is no folder"), "name one that is there");
        let said = format!("Can't change to directory \"{dir}\".\n");
        return Err(Complaint { said, usage: Some(asked.form), refusal }.into());
    }
    if planned_only {
        return Ok(Some(settled(&asked)?));
    }
    user::become_who_is_asked(&asked, err)?;
    if let Some(what) = asked.semaphores {
        semaphores(what, out)?;
        return Ok(None);
    }
    Ok(Some(settled(&asked)?))
}

/// Makes or removes the semaphores.
fn semaphores(what: Semaphores, out: &mut dyn Write) -> Result<(), Error> {
    let fault =
        |doing: &str, error: io::Error| Fault::new(doing, "the semaphores of bonnie++", &error);
    match what {
        Semaphores::Make(processes) => {
            semaphore::Set::make(step::KEY, step::MEMBERS, processes as i32)
                .map_err(|error| fault("make", error))?;
            printed(writeln!(out, "Creating semaphore for {processes} procs."))
        }
        Semaphores::Remove => {
            semaphore::Set::open(step::KEY, step::MEMBERS)
                .and_then(semaphore::Set::remove)
                .map_err(|error| fault("remove", error))?;
            printed(writeln!(out, "Semaphore removed."))
        }
    }
}

/// The plan on this machine.
fn settled(asked: &Asked) -> Result<bonnie::Understood, Complaint> {
    let machine = Scene::default().machine();
    let pid = std::process::id();
    let host = Host {
        name: machine.host,
        ram: machine.memory.seen().map_or(0, |memory| memory.0 / MIB),
        pid,
        seed: pid ^ clock::now().0 as u32,
    };
    let random = asked.random.as_deref().map(std::fs::read).transpose().map_err(|error| {
        let path = asked.random.clone().unwrap_or_default();
        let refusal = Refusal::new(
            format!("-Z {}: {}", path.display(), Fault::new("read", "", &error).text),
            "name a file that can be read; below the folder of a -d before it",
        );
        let said = format!("Can't open random file \"{}\".\n", path.display());
        Complaint { said, usage: None, refusal }
    })?;
    asked.settled(&host, random.as_deref())
}

/// Runs the tests as often as asked, and prints what they came to.
fn tests(
    plan: &Plan,
    settled: &Settled,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let asked = &settled.asked;
    one_each(asked.times, environment.record.as_deref())?;
    // As the original: a terminal that goes away ends nothing, and a file that may not grow is an error.
    let _ = signal::ignore(libc::SIGHUP);
    let _ = signal::ignore(libc::SIGXFSZ);
    if asked.times.is_some_and(|times| times > 1) {
        printed(writeln!(out, "{}", bonnie::header(asked.form)))?;
    }
    for _ in 0..asked.times.unwrap_or(1) {
        let keeper = asked.step.map(Keeper::new).transpose()?;
        let mut talk = Talk { settled, out, err, keeper, standing: false, interrupted: false };
        let options = run::Options {
            record: environment.record.clone(),
            signals: vec![libc::SIGINT, libc::SIGTERM, libc::SIGXCPU],
        };
        let outcome = run::run(plan, &options, &mut talk);
        talk.end_line();
        let record = outcome?;
        match &record.ending {
            Ending::Failed(fault) => return Err(fault.clone().into()),
            Ending::Interrupted(libc::SIGTERM) => {
                let _ = err.flush();
                signal::die_of(libc::SIGTERM);
                return Ok(INTERRUPTED);
            }
            Ending::Interrupted(_) => return Ok(INTERRUPTED),
            Ending::Complete | Ending::Unfinished => {}
        }
        told(&record, settled, environment, out, err)?;
    }
    Ok(SOUND)
}

/// Refuses to keep the records of several runs in one file.
fn one_each(times: Option<u32>, record: Option<&Path>) -> Result<(), Refusal> {
    match (times, record) {
        (Some(times @ 2..), Some(path)) if !path.is_dir() => Err(Refusal {
            place: "ASSAY_RECORD".into(),
            why: format!("-x {times} makes {times} records, and {} is no folder", path.display()),
            instead: "make a folder, and name that: 'assay compare' takes two of them".into(),
        }),
        _ => Ok(()),
    }
}

/// The verdicts, the tables, and the line of CSV.
fn told(
    record: &Record,
    settled: &Settled,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Error> {
    let asked = &settled.asked;
    let named = |phase: &PhaseRecord| {
        let shown = phase.verdict.as_ref().is_some_and(|verdict| verdict.trust == Trust::Wrong);
        let measure = Measure::of(phase).filter(|_| shown || !asked.quiet)?;
        Some(bonnie::figure(&phase.name, &measure))
    };
    for line in report::remarks(record, named, environment.err_style()) {
        let _ = writeln!(err, "{line}");
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
struct Talk<'a> {
    settled: &'a Settled,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    keeper: Option<Keeper>,
    /// A line of progress stands there without an end.
    standing: bool,
    interrupted: bool,
}

impl Talk<'_> {
    fn end_line(&mut self) {
        if std::mem::take(&mut self.standing) {
            let _ = self.err.write_all(b"\n");
        }
    }
}

impl Observer for Talk<'_> {
    fn may_begin(&mut self, phase: &Phase) -> Result<bool, Fault> {
        match (&mut self.keeper, bonnie::test_of(&phase.name)) {
            (Some(keeper), Some(test)) => keeper.may_begin(test, self.out),
            _ => Ok(true),
        }
    }

    fn began(&mut self, phase: &Phase, _number: usize, _of: usize) {
        if !self.settled.asked.quiet {
            let text = bonnie::began(self.settled.asked.form, &phase.name);
            let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
            self.standing = true;
        }
    }

    fn asked(&mut self, _signal: i32, _live: &Live) -> bool {
        self.interrupted = true;
        false
    }

    fn ended(&mut self, _record: &Record, phase: &PhaseRecord) {
        if phase.faults.is_empty() && !self.interrupted && std::mem::take(&mut self.standing) {
            let text = bonnie::ended(self.settled, &phase.name);
            let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
        }
    }
}

/// What `--help` answers.
fn help() -> String {
    format!(
        "\
assay bonnie: the twelve tests of Bonnie++, each with a verdict on standard error
{}
Of assay's own:
      --format 1.03|1.96|1.97|1.98   whose words, tables and CSV (1.98, that of 2.00, when not said)
      --as-original                  nothing is dropped from memory before reads, data are zeros
      --plan                         the plan instead of a run
",
        bonnie::help(bonnie::Form::default())
    )
}
