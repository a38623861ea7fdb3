//! The verdict in a few lines for standard error, beside another tool's output.
//!
//! Scripts grep that output for `MB/s`; so no line here holds a number followed by such a unit.

use super::fact::PageFact;
use super::figure::{estimate, signs};
use super::finding::lead;
use super::paint::{Ink, InkedText};
use super::{TerminalStyle, balance};
use assay_plan::name::quoted;
use assay_plan::unit::Bytes;
use assay_record::evidence::Direction;
use assay_record::record::{FindingWeight, PhaseRecord, Record, TrapId, Trust, Verdict};

/// Two to some ten lines, each beginning with `assay: `, or with blanks where it goes on in the next; none for a
/// record that was not judged.
pub fn verdict_lines(record: &Record, style: TerminalStyle) -> Vec<String> {
    let first = record.phases.first();
    let Some(verdict) =
        record.verdict.as_ref().or_else(|| first.and_then(|phase| phase.verdict.as_ref()))
    else {
        return Vec::new();
    };
    let mut lines =
        vec![trusted(verdict, format!(" ({}): {}", verdict.measures.name(), verdict.summary()))];
    if let Some(corrected) = &verdict.corrected {
        lines.push(format!("the device itself: {}", estimate(corrected)).as_str().into());
    }
    lines.extend(because(verdict).iter().map(|line| line.as_str().into()));
    // Part of what was asked for was done otherwise.
    let otherwise = verdict
        .findings
        .iter()
        .find(|finding| finding.trap == TrapId::T19 && finding.weight == FindingWeight::Note);
    let otherwise = otherwise.map(|finding| format!("note: {}", finding.text()));
    lines.extend(otherwise.as_deref().map(InkedText::from));
    let unsound = verdict.trust != Trust::Sound && record.phases.len() == 1;
    let ledger = first.and_then(|phase| phase.ledger.as_ref()).filter(|_| unsound);
    lines.extend(ledger.into_iter().flat_map(|ledger| balances(&balance::facts(ledger), None)));
    // Beside a number that may be believed, advice would only cast doubt on it.
    let advice = verdict.findings.iter().find_map(|finding| finding.next.as_ref());
    let advice = advice.filter(|_| verdict.trust != Trust::Sound);
    if lines.len() == 1 && advice.is_none() {
        let seen = first.and_then(|phase| seen(record, phase));
        lines.push(seen.unwrap_or_else(|| "seen: no problem".into()).as_str().into());
    }
    let mut lines: Vec<String> = lines.iter().flat_map(|line| told(line, style)).collect();
    lines.extend(advice.map(|next| typed(next.words())));
    lines
}

/// A line for each phase that `named` names with its figure: the verdict on it, and the figure of the
/// device itself where that was measured too. Phases in a row of which the same is to be said share one.
/// Then what to do about what is not sound. Lines begin as those of [`verdict_lines`].
pub fn remarks(
    record: &Record,
    named: impl Fn(&PhaseRecord) -> Option<String>,
    style: TerminalStyle,
) -> Vec<String> {
    let mut said: Vec<(String, InkedText, Vec<InkedText>)> = Vec::new();
    let mut advice: Vec<String> = Vec::new();
    for phase in record.phases.stream() {
        let Some((figure, verdict)) = named(&phase).zip(phase.verdict.as_ref()) else { continue };
        let words = judged(verdict);
        match said.last_mut() {
            Some((figures, last, _)) if *last == words => *figures += &format!(", {figure}"),
            _ => {
                let facts = balances(&balance::of_phase(&phase), Some(&figure));
                said.push((figure, words, facts));
            }
        }
        let next = verdict.findings.iter().find_map(|finding| finding.next.as_ref());
        let next = next.filter(|_| verdict.trust != Trust::Sound);
        let next = next.map(|next| typed(next.words()));
        advice.extend(next.filter(|next| !advice.contains(next)));
    }
    let lines = said.into_iter().flat_map(|(figures, words, facts)| {
        let words = InkedText::of(Ink::Plain, format!("{figures}: ")).and(words);
        [words].into_iter().chain(facts).flat_map(|text| told(&text, style)).collect::<Vec<_>>()
    });
    lines.chain(advice).collect()
}

/// A line for each phase that was judged: the words that were typed, the phase where there are several, the verdict, and
/// what to do about what is not sound.
pub fn result_lines(record: &Record) -> impl Iterator<Item = String> {
    let origin = &record.plan.origin;
    let words: String = origin.words.iter().map(|word| format!(" {}", quoted(word))).collect();
    let typed = format!("{}{words}", origin.dialect);
    let several = record.phases.len() > 1;
    record.phases.stream().filter_map(move |phase| {
        let verdict = phase.verdict.as_ref()?;
        let of = if several { format!("{typed}: {}", phase.name) } else { typed.clone() };
        let next = verdict.findings.iter().find_map(|finding| finding.next.as_ref());
        let next = next.filter(|_| verdict.trust != Trust::Sound);
        let next = next.map(|next| format!(" Next: {}", next.words())).unwrap_or_default();
        Some(format!("{OURS}{}", harmless(&format!("{of}: {}{next}", judged(verdict).plain()))))
    })
}

/// Balances, one after the other, of the figure that is named.
fn balances(facts: &[PageFact], of: Option<&str>) -> Vec<InkedText> {
    let mut label = "";
    let told = |fact: &PageFact| {
        label = if fact.label.is_empty() { label } else { fact.label };
        let text = match of {
            Some(figure) => format!("{label} of {figure}: {}", fact.text),
            None => format!("{label} {}", fact.text),
        };
        InkedText::from(text.as_str())
    };
    facts.iter().map(told).collect()
}

/// What begins each line.
const OURS: &str = "assay: ";

/// A sentence in lines that are no wider than the terminal.
fn told(text: &InkedText, style: TerminalStyle) -> Vec<String> {
    let text = text.map(|part| signs(&harmless(part), style));
    let room = style.width.saturating_sub(OURS.len()).max(20);
    let lines = text.lines(room, style).into_iter().enumerate();
    let blank = " ".repeat(OURS.len());
    lines.map(|(at, line)| format!("{}{line}", if at == 0 { OURS } else { &blank })).collect()
}

/// A line that is to be typed, however long it is.
fn typed(command: &str) -> String {
    format!("{OURS}{}", harmless(&format!("next: {command}")))
}

/// A text behind what may be believed.
fn trusted(verdict: &Verdict, text: String) -> InkedText {
    InkedText::of(super::paint::ink(verdict.trust), verdict.trust.name()).then(Ink::Plain, text)
}

/// A verdict in a line.
fn judged(verdict: &Verdict) -> InkedText {
    let (measures, summary) = (verdict.measures.name(), verdict.summary());
    let itself = verdict.corrected.as_ref();
    let itself = itself.map(|device| format!(" The device itself: {}.", estimate(device)));
    trusted(verdict, format!(" ({measures}): {summary}{}", itself.unwrap_or_default()))
}

/// The one or two readings that show the most; of a sound number one is enough.
fn because(verdict: &Verdict) -> Vec<String> {
    let most = if verdict.trust == Trust::Sound { 1 } else { 2 };
    let Some(finding) = lead(verdict) else {
        return Vec::new();
    };
    finding
        .because
        .iter()
        .take(most)
        .map(|exhibit| {
            format!("because {}: {} ({})", exhibit.reading(), exhibit.value(), exhibit.source())
        })
        .collect()
}

/// What the device took while the program worked: `loop3 wrote 20 MiB of the program's 20 MiB`.
fn seen(record: &Record, phase: &PhaseRecord) -> Option<String> {
    let flow = phase.flows.iter().max_by_key(|flow| flow.bytes)?;
    let subject = record.resolved.subjects.get(flow.subject)?;
    // The device that the path names, as in the verdicts.
    let device = subject.stack.first()?;
    let counters = |devices: &[assay_record::evidence::DeviceReading]| {
        devices.iter().find(|read| read.name == device.name)?.counters.seen().copied()
    };
    let moved =
        counters(&phase.evidence.stop.devices)?.since(&counters(&phase.evidence.before.devices)?);
    let (verb, bytes) = match flow.direction {
        Direction::Read => ("read", moved.read_bytes),
        Direction::Write => ("wrote", moved.write_bytes),
    };
    Some(format!(
        "seen: {} {verb} {} while the program moved {} (/sys/block/{}/stat)",
        device.name,
        Bytes(bytes),
        flow.bytes,
        device.name
    ))
}

/// The text with every `N unit/s` said as `N unit per second`: whoever reads another tool's output by its rates
/// finds none in ours.
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("B/s") {
        let (before, unit) = rest.split_at(at);
        safe.push_str(before);
        let number = before
            .trim_end_matches(|c: char| c.is_ascii_alphabetic())
            .trim_end_matches([' ', '\u{a0}']);
        let after = &unit["B/s".len()..];
        let whole = !after.starts_with(|c: char| c.is_alphanumeric() || c == '/');
        let counted = number.ends_with(|c: char| c.is_ascii_digit());
        safe.push_str(if counted && whole { "B per second" } else { "B/s" });
        rest = after;
    }
    safe.push_str(rest);
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_can_be_taken_for_a_rate() {
        for (text, safe) in [
            ("it is 4.19 MB/s here", "it is 4.19 MB per second here"),
            ("4MB/s, 3 kB/s", "4MB per second, 3 kB per second"),
            ("16 MiB/s", "16 MiB per second"),
            ("in MB/s", "in MB/s"),
            ("dd if=/tmp/1B/some", "dd if=/tmp/1B/some"),
        ] {
            assert_eq!(harmless(text), safe);
        }
    }
}
