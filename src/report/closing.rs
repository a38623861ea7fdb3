//! What a page closes with: how the run ended, what to type next, and when, where and with what it was
//! measured. Every format says the same.

use std::io::{self, Write};

use super::TerminalStyle;
use super::fact::labelled;
use super::figure::{digits, duration};
use super::heading;
use super::paint::{Ink, wrap};
use assay_plan::name::quoted;
use assay_plan::plan::Method;
use assay_record::record::{Ending, FindingWeight, NextStep, Record, Remedy};

/// How the run ended, if not as planned, in lines. `there` says where the results stand from them: above or
/// below.
pub fn ending(record: &Record, there: &str) -> Vec<String> {
    let (done, planned) = (record.phases.len(), record.plan.at_most().count());
    let far = match (done, planned) {
        (0, _) => "before the first phase".to_string(),
        (_, 1) => "in the only phase".to_string(),
        (done, planned) => format!("in phase {done} of {planned}"),
    };
    let results = match done {
        0 => String::new(),
        _ => format!("; results so far are {there}"),
    };
    match &record.ending {
        Ending::Complete => Vec::new(),
        Ending::Unfinished => vec![format!("killed {}{results}", killed(record, done, planned))],
        Ending::Interrupted(signal) => vec![format!("by {} {far}{results}", signal_name(*signal))],
        Ending::Failed(fault)
            if record.phases.stream().any(|phase| phase.faults.contains(fault)) =>
        {
            vec![format!("by that error {far}{results}")]
        }
        Ending::Failed(fault) => {
            format!("{far}: {fault}").lines().map(|line| line.trim().to_string()).collect()
        }
    }
}

/// Where a run was that left no word: a record that grew has the phases that had ended.
fn killed(record: &Record, done: usize, planned: usize) -> String {
    if done >= planned {
        return "at the end".into();
    }
    if record.plan.study().may_leave_out() {
        return match done {
            1 => format!("after 1 phase of {planned} at most"),
            _ => format!("after {done} phases of {planned} at most"),
        };
    }
    let next = record.plan.unrolled().phases.get(done).map(|phase| format!(", {}", phase.name));
    format!("in phase {} of {planned}{}", done + 1, next.unwrap_or_default())
}

/// What to type now: two things at the most.
pub fn nexts(record: &Record) -> Vec<NextStep> {
    let mut nexts: Vec<NextStep> = Vec::new();
    if let Some(verdict) = &record.verdict {
        // A note beside a sound figure is no reason to do anything.
        let heavy = verdict.findings.iter().filter(|finding| finding.weight > FindingWeight::Note);
        for next in heavy.filter_map(|finding| finding.next.as_ref()) {
            if nexts.len() < 2 && !nexts.contains(next) {
                nexts.push(next.clone());
            }
        }
    }
    if nexts.is_empty() {
        nexts.extend(usual_next(record));
    }
    nexts
}

/// What is worth typing after a run that leaves nothing to mend.
fn usual_next(record: &Record) -> Option<NextStep> {
    let tool = &record.plan.origin.tool;
    let at_path = |command: &String| {
        let path = &record.resolved.subjects.first()?.path;
        record.plan.origin.from_desk(command.replace("{path}", &quoted(path)))
    };
    match record.ending {
        Ending::Complete if !record.phases.is_empty() => {
            Some(NextStep::new(Remedy::MoreTime, at_path(tool.then.as_ref()?)?))
        }
        Ending::Interrupted(_) => {
            Some(NextStep::new(Remedy::Rerun, at_path(tool.sooner.as_ref()?)?))
        }
        _ => None,
    }
}

/// The name of a signal that ends programs.
fn signal_name(signal: i32) -> String {
    match signal {
        1 => "SIGHUP".into(),
        2 => "SIGINT (Ctrl-C)".into(),
        3 => "SIGQUIT".into(),
        10 => "SIGUSR1".into(),
        12 => "SIGUSR2".into(),
        13 => "SIGPIPE".into(),
        14 => "SIGALRM".into(),
        15 => "SIGTERM".into(),
        24 => "SIGXCPU (ulimit -t)".into(),
        other => format!("signal {other}"),
    }
}

/// What had to be done otherwise than planned and was not known before it began: the notes behind the
/// first `known`.
pub fn later_notes(record: &Record, known: usize, style: TerminalStyle) -> Vec<String> {
    let notes = record.resolved.notes.iter().skip(known);
    notes.flat_map(|note| labelled("note", &style.voice().text(note), style)).collect()
}

/// The end of a page: these lines, an empty one, and when, where and with what it was measured.
pub fn foot(
    lines: &[String],
    record: &Record,
    style: TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    heading::put(lines, out)?;
    for line in wrap(&imprint(record, style), style.width.saturating_sub(2).max(20)) {
        writeln!(out, "  {}", style.paint(Ink::Faint, &line))?;
    }
    Ok(())
}

/// What stands behind the time of a machine whose clock was not set.
pub const UNSET: &str = " (clock not set)";

/// Whether a text ends with an imprint, of whatever version, and then with `end`.
pub fn ends_in_imprint(text: &str, end: &str) -> bool {
    // It may stand in several lines, each in an element of its own.
    const LONGEST: usize = 1000;
    let Some(text) = text.trim_end().strip_suffix(end) else { return false };
    let mut words = text.split_whitespace().rev();
    let version = words.next().is_some_and(|version| {
        version.split('.').count() == 3 && version.starts_with(|first: char| first.is_ascii_digit())
    });
    let named = words.next().is_some_and(|name| name.ends_with("assay"));
    let rest: Vec<char> = text.chars().rev().take(LONGEST).collect();
    let rest: String = rest.into_iter().rev().collect();
    version && named && rest.contains(": Linux ") && rest.contains(" CPU")
}

/// When, how long, on which machine, by which version.
pub fn imprint(record: &Record, style: TerminalStyle) -> String {
    let dot = style.glyph(" · ", ", ");
    let machine = record.machine();
    let mut when: String = record.started.chars().take(16).collect();
    when = when.replace('T', " ");
    if !record.has_calendar() {
        when.push_str(UNSET);
    }
    let mut parts = vec![when];
    if let (Some(first), Some(last)) = (record.phases.first(), record.phases.last()) {
        let end = last.span.settled.unwrap_or(last.span.ended());
        let length = duration(end.since(first.span.started));
        let modelled = record.resolved.jobs.iter().all(|job| matches!(job.method, Method::Sim(_)));
        parts.push(if modelled { format!("{length} by the model's clock") } else { length });
    }
    let mut host = format!("{}: Linux {}", machine.host, machine.kernel);
    if !machine.product.is_empty() {
        host = format!("{} ({}): Linux {}", machine.host, machine.product, machine.kernel);
    }
    parts.push(host);
    let plural = if machine.cpus == 1 { "" } else { "s" };
    parts.push(format!("{}, {} CPU{plural}", machine.architecture, machine.cpus));
    if let Some(memory) = machine.memory.seen() {
        let gib = digits(memory.0 as f64 / (1_u64 << 30) as f64);
        parts.push(format!("{gib} GiB memory"));
    }
    if machine.virtual_machine == Some(true) {
        parts.push("virtual machine".into());
    }
    parts.push(format!("assay {}", record.version));
    parts.join(dot)
}
