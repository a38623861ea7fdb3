//! The one driver of all that runs a plan, and what our own verbs have in common: show it or do it, print, and end
//! with a code.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::output::OutputArgs;
use super::plot::RunReports;
use crate::dialect::named;
use crate::dialect::session::{SessionEnd, ToolSession};
use crate::dialect::verdict_place::VerdictPlace;
use crate::process::Environment;
use crate::process::stdout::printed;
use crate::process::{FAULT, NOT_SOUND, REFUSAL, SOUND};
use crate::report::live::{LiveLine, REWRITE};
use crate::report::{self, ReportPage, TerminalStyle};
use assay_engine::output;
use assay_engine::sys::signal;
use assay_plan::error::{Error, Refusal};
use assay_plan::plan::{Phase, Plan};
use assay_plan::unit::{Bytes, Nanos, Ops};
use assay_record::record::console::{self, ChecksumWriter};
use assay_record::record::{Ending, JsonLayout, PhaseRecord, Record, Resolved, Trust, write_json};
use assay_run::{self as run, LiveStatus, Observer, Preparation, RunOptions};

/// What is done with a record when its page stands there; it may write to standard error.
pub type AfterRun<'a> = &'a mut dyn FnMut(&Record, &mut dyn Write) -> Result<(), Error>;

/// The words of a verb, of which a plan is made: to be run, shown or explained.
pub trait PlanVerb {
    /// Looks at the path and the words and makes a plan. `typed` is what stands behind the verb, for the
    /// record.
    ///
    /// # Errors
    /// A refusal that says what to write instead; nothing was touched.
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error>;

    /// What becomes of the run.
    fn output(&self) -> &OutputArgs;

    /// Does what the words say.
    ///
    /// # Errors
    /// As [`PlanVerb::planned`] and [`conduct`].
    fn run(
        &self,
        typed: Vec<String>,
        environment: &Environment,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<u8, Error> {
        let plan = self.planned(typed)?;
        conduct(&plan, self.output(), environment, out, err).map_err(without_place)
    }
}

/// What was refused, without the place in the plan. Who typed a path has no phases in mind: it would only
/// be in the way.
pub fn without_place(error: Error) -> Error {
    match error {
        Error::Refusal(refusal) => Refusal { place: String::new(), ..refusal }.into(),
        fault => fault,
    }
}

/// Shows what a plan would do, or does it.
///
/// # Errors
/// When it cannot be done here, or the output cannot be written.
pub fn conduct(
    plan: &Plan,
    common: &OutputArgs,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let environment = &common.surroundings(environment);
    let page = report::page(plan, environment.out_style());
    conduct_as(plan, common, environment, (out, err), page, &mut |_, _| Ok(()))
}

/// The same with another page, and what is to be done with the record when that stands there; it
/// may write to standard error.
///
/// # Errors
/// When it cannot be done here, or anything cannot be written.
pub fn conduct_as(
    plan: &Plan,
    common: &OutputArgs,
    environment: &Environment,
    (out, err): (&mut dyn Write, &mut dyn Write),
    page: Box<dyn ReportPage + '_>,
    then: AfterRun<'_>,
) -> Result<u8, Error> {
    if common.plan {
        return show(plan, out, err);
    }
    plan.check()?;
    if !common.checksummed {
        return conducted(plan, common, environment, (out, err), page, then);
    }
    let mut kept = None;
    let mut checked = ChecksumWriter::new(&mut *out);
    let streams: (&mut dyn Write, &mut dyn Write) = (&mut checked, err);
    let status = conducted(plan, common, environment, streams, page, &mut |record, err| {
        kept = Some(record.clone());
        then(record, err)
    });
    if let Some(record) = kept {
        printed(console::write_lines(&record, out))?;
    }
    status
}

/// Does what a plan says, with its page and its reports.
fn conducted(
    plan: &Plan,
    common: &OutputArgs,
    environment: &Environment,
    (out, err): (&mut dyn Write, &mut dyn Write),
    page: Box<dyn ReportPage + '_>,
    then: AfterRun<'_>,
) -> Result<u8, Error> {
    let record = common.record.clone().or_else(|| environment.board_record.clone());
    let reports = RunReports::of(&common.report, None, common.record.as_deref(), plan)?;
    // A write beyond the limit of a file's size fails then, and leaves a record.
    let _ = signal::ignore(libc::SIGXFSZ);
    let signals = signal::TERMINATING.to_vec();
    let board = environment.board.clone();
    // What was typed to a verb of ours begins with nothing left in memory; a tool's words, and a plan that was written by
    // hand, do only what they say.
    let origin = &plan.origin;
    let drain = !origin.words.is_empty() && origin.verb().is_some_and(|verb| named(verb).is_none());
    let options = RunOptions { record, signals, board, unseen: false, drain };
    // The record itself may go to standard output instead.
    let page = (!common.json).then_some(page);
    let session = TerminalObserver::new(plan, page, environment, (out, err), then);
    let kept = (&reports, &VerdictPlace::Nowhere);
    match drive(plan, &options, kept, environment, Box::new(session))?.0 {
        SessionEnd::Status(code) | SessionEnd::Killed(_, code) => Ok(code),
    }
}

/// Runs a plan, whoever's words it was made of: the session says what becomes of it. How that ended, and what is to
/// be drawn on standard error.
///
/// # Errors
/// When it cannot be done here, or anything cannot be written.
pub fn drive(
    plan: &Plan,
    options: &RunOptions,
    (reports, verdict): (&RunReports, &VerdictPlace),
    environment: &Environment,
    mut session: Box<dyn ToolSession + '_>,
) -> Result<(SessionEnd, String), Error> {
    let outcome = run::run(plan, options, session.as_mut());
    // Where nobody reads what the session says, the files are written all the same.
    let made = outcome.as_ref().map(|record| reports.made(record, environment)).ok();
    let lines = outcome.as_ref().map(|record| verdict.lines(record)).unwrap_or_default();
    let end = session.finish(outcome)?;
    verdict.append(&lines)?;
    Ok((end, made.transpose()?.unwrap_or_default()))
}

/// Says what could not be removed, a line each; the exit status by that. An earlier run's fails no later one.
pub fn tell_left(code: u8, err: &mut dyn Write) -> u8 {
    let left = output::take_left();
    for stays in &left {
        let _ = writeln!(err, "assay: {stays}");
    }
    match left.iter().any(|stays| !stays.earlier) && [SOUND, NOT_SOUND].contains(&code) {
        true => FAULT,
        false => code,
    }
}

/// The exit status of a finished run.
pub fn code(record: &Record) -> u8 {
    match &record.ending {
        Ending::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(FAULT),
        Ending::Failed(_) => FAULT,
        Ending::Complete if record.phases.stream().any(|phase| !phase.faults.is_empty()) => FAULT,
        Ending::Complete | Ending::Unfinished => judged(record),
    }
}

/// The exit status that only the verdict decides: what did not come to its end shows nothing whole.
pub fn judged(record: &Record) -> u8 {
    let whole = record.ending == Ending::Complete;
    match report::trust(record) {
        Some(Trust::Sound) if whole && report::met(record) => SOUND,
        _ => NOT_SOUND,
    }
}

/// The plan on standard output; what it would write, and how long that takes, on standard error.
/// What would be lost comes first; where the run would be refused for that, so is this.
pub fn show(plan: &Plan, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Error> {
    let losses = run::losses(plan);
    for loss in &losses {
        let _ = writeln!(err, "assay: {}", loss.told());
    }
    let preview = run::preview(plan)?;
    printed(write_json(plan, JsonLayout::Indented, out).and_then(|()| writeln!(out)))?;
    let writes = match preview.writes {
        Bytes::ZERO if preview.writes_more => "would write as much as the device takes".to_string(),
        bytes if preview.writes_more => {
            format!("would write {bytes} ({} bytes) and as much as the device takes", bytes.0)
        }
        Bytes::ZERO => "would write nothing".to_string(),
        bytes => format!("would write {bytes} ({} bytes) at most", bytes.0),
    };
    // Of a ramp steps are left out, and what writes until it is steady may be so at once.
    let early = plan.study().may_end_early();
    let time = preview.time.map(|time| time.words(early));
    let time = time.unwrap_or_else(|| "as long as the device needs".into());
    let _ = writeln!(err, "assay: {writes}, and take {time}");
    for note in &preview.resolved.notes {
        let _ = writeln!(err, "assay: note: {note}");
    }
    Ok(if losses.iter().any(|loss| loss.refused) { REFUSAL } else { SOUND })
}

/// Prints what happens while it happens: the page on standard output, part by part, and one
/// rewritten line on standard error when that is a terminal.
struct TerminalObserver<'a> {
    plan: &'a Plan,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// The page; absent when the record itself goes to standard output.
    page: Option<Box<dyn ReportPage + 'a>>,
    out_style: TerminalStyle,
    err_style: TerminalStyle,
    live: bool,
    /// A live line stands there.
    standing: bool,
    line: LiveLine,
    /// Phases that have ended, and the time from the first to the end of the last.
    ended: usize,
    gone: Nanos,
    /// The time of the present phase with the quiet before it.
    each: Option<Nanos>,
    /// The last second: time, bytes and operations since the start of the phase.
    past: VecDeque<(Nanos, Bytes, Ops)>,
    /// What went wrong with the output first.
    trouble: Option<io::Error>,
    /// Who looks at the page has been told of a failure.
    told: bool,
    then: AfterRun<'a>,
}

/// Ticks over which the live rate is taken: about a second.
const TICKS: usize = 10;

impl<'a> TerminalObserver<'a> {
    fn new(
        plan: &'a Plan,
        page: Option<Box<dyn ReportPage + 'a>>,
        environment: &Environment,
        (out, err): (&'a mut dyn Write, &'a mut dyn Write),
        then: AfterRun<'a>,
    ) -> Self {
        Self {
            told: environment.out.is_some() && page.is_some(),
            then,
            plan,
            out,
            err,
            page,
            out_style: environment.out_style(),
            err_style: environment.err_style(),
            live: environment.live(),
            standing: false,
            line: LiveLine {
                of: phases(plan),
                at_most: plan.study().may_leave_out(),
                ..LiveLine::default()
            },
            ended: 0,
            gone: Nanos::ZERO,
            each: None,
            past: VecDeque::new(),
            trouble: None,
        }
    }

    /// Takes the live line away.
    fn erase(&mut self) {
        if std::mem::take(&mut self.standing) {
            let _ = write!(self.err, "{REWRITE}");
            let _ = self.err.flush();
        }
    }

    /// Writes the live line anew.
    fn rewrite(&mut self) {
        if self.live {
            let _ = write!(self.err, "{REWRITE}{}", self.line.text(self.err_style));
            let _ = self.err.flush();
            self.standing = true;
        }
    }

    fn page(&mut self, part: impl FnOnce(&mut dyn ReportPage, &mut dyn Write) -> io::Result<()>) {
        self.erase();
        if let Some(page) = &mut self.page
            && self.trouble.is_none()
        {
            self.trouble = part(page.as_mut(), self.out).and_then(|()| self.out.flush()).err();
        }
    }

    /// The place of a phase among those that are done, from 1; of a sweep among its cells.
    fn place(&self, number: usize) -> usize {
        let plan = self.plan;
        match (plan.study().may_leave_out(), plan.study().steps()) {
            (false, _) => number + 1,
            (true, []) => {
                let until = plan.phases.iter().take(number + 1);
                until.filter(|phase| plan.counts(&phase.name)).count()
            }
            (true, _) => self.ended + 1,
        }
    }

    /// Time left after the present phase, at the most where phases may be left out; `None` when a phase has
    /// no set time.
    fn later(&self) -> Option<Nanos> {
        let study = self.plan.study();
        if !study.may_leave_out() {
            let phases = self.plan.phases.iter().skip(self.line.number);
            return phases.map(|phase| Some(phase.quiet + set_time(phase)?)).sum();
        }
        // The others take as long as this one does, but all no longer than they may.
        let rest = study.whole_time().map(|whole| whole.less(self.gone));
        let others = self.line.of.saturating_sub(self.line.number) as u64;
        let each = self.each.filter(|_| self.plan.counts(&self.line.phase));
        let alike = each.map(|each| Nanos(each.0.saturating_mul(others)));
        match (alike, rest) {
            (Some(alike), Some(rest)) => Some(alike.min(rest)),
            (alike, rest) => alike.or(rest),
        }
    }
}

/// How many phases there are at the most; of a sweep how many cells.
fn phases(plan: &Plan) -> usize {
    let all = plan.unrolled();
    let counted = |phase: &&Phase| {
        !plan.study().may_leave_out()
            || !plan.study().steps().is_empty()
            || plan.counts(&phase.name)
    };
    all.at_most().filter(counted).count()
}

/// The time at which a phase ends at the latest, if it has one.
fn set_time(phase: &Phase) -> Option<Nanos> {
    phase
        .jobs
        .iter()
        .map(|job| Some(job.delay + job.stop.ramp + job.stop.time()?))
        .collect::<Option<Vec<Nanos>>>()?
        .into_iter()
        .max()
}

impl ToolSession for TerminalObserver<'_> {
    fn finish(&mut self, outcome: Result<Record, Error>) -> Result<SessionEnd, Error> {
        self.erase();
        let record = outcome?;
        // The end of the page, or the whole record.
        if self.page.is_some() {
            self.page(|page, out| page.closing(&record, out));
        } else {
            self.trouble = report::format("json")
                .and_then(|format| (format.write)(&record, self.out_style, self.out).err());
        }
        if let Some(error) = self.trouble.take() {
            printed(Err(error))?;
        }
        (self.then)(&record, self.err)?;
        match &record.ending {
            Ending::Failed(fault) if !self.told => Err(fault.clone().into()),
            _ => Ok(SessionEnd::Status(code(&record))),
        }
    }
}

impl Observer for TerminalObserver<'_> {
    fn resolved(&mut self, resolved: &Resolved) {
        let plan = self.plan;
        self.page(|page, out| page.opening(plan, resolved, out));
    }

    fn preparing(&mut self, phase: &Phase, step: Preparation) {
        let number = self.plan.number(&phase.name);
        self.line.phase.clone_from(&phase.name);
        self.line.number = number.map_or(self.line.number, |number| self.place(number));
        self.line.step = Some(step);
        self.line.left = None;
        self.rewrite();
    }

    fn began(&mut self, phase: &Phase, number: usize, of: usize) {
        let (number, of) = (self.place(number), of.min(self.line.of));
        let at_most = self.line.at_most;
        self.each = set_time(phase).map(|time| phase.quiet + time);
        self.line =
            LiveLine { phase: phase.name.clone(), number, of, at_most, ..LiveLine::default() };
        self.line.left = set_time(phase).zip(self.later()).map(|(here, later)| here + later);
        self.past.clear();
        self.past.push_back((Nanos::ZERO, Bytes::ZERO, Ops::ZERO));
        self.rewrite();
    }

    fn tick(&mut self, live: &LiveStatus) {
        let bytes = Bytes(live.done.read_bytes + live.done.write_bytes);
        let ops = Ops(live.done.ops());
        if let Some(&(then, old_bytes, old_ops)) = self.past.front() {
            let time = live.elapsed.less(then);
            self.line.bandwidth = bytes.less(old_bytes).over(time);
            self.line.iops = ops.less(old_ops).over(time);
        }
        self.past.push_back((live.elapsed, bytes, ops));
        if self.past.len() > TICKS {
            self.past.pop_front();
        }
        self.line.step = live.settling.then_some(Preparation::WatchingFlush);
        self.line.share = LiveLine::share_of(live.elapsed, live.limit, bytes, live.goal);
        let by_time = live.limit.map(|limit| limit.less(live.elapsed));
        let by_bytes = live.goal.zip(self.line.bandwidth).and_then(|(goal, rate)| {
            (rate.0 > 0.0).then(|| Nanos::from_secs(goal.less(bytes).0 as f64 / rate.0))
        });
        let here = match (by_time, by_bytes) {
            (Some(time), Some(bytes)) => Some(time.min(bytes)),
            (time, bytes) => time.or(bytes),
        };
        self.line.left = here.zip(self.later()).map(|(here, later)| here + later);
        self.rewrite();
    }

    fn ended(&mut self, record: &Record, phase: &PhaseRecord) {
        self.ended += 1;
        if let Some(first) = record.phases.first() {
            self.gone = phase.span.ended().since(first.span.started);
        }
        self.page(|page, out| page.phase(record, phase, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_judge::judge;
    use assay_testing::doctored::DoctoredRecord;

    #[test]
    fn what_did_not_come_to_its_end_is_not_sound_as_a_whole() {
        let mut record = DoctoredRecord::write_flushed().record;
        judge(&mut record);
        assert_eq!(judged(&record), SOUND);
        for ending in [Ending::Unfinished, Ending::Interrupted(2)] {
            record.ending = ending;
            assert_eq!(judged(&record), NOT_SOUND);
        }
    }
}
