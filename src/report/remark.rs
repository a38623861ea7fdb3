//! The verdict in a few lines for standard error, beside another tool's output.
//!
//! Scripts grep that output for `MB/s`; so no line here holds a number followed by such a unit.

use super::fact::PageFact;
use super::figure::estimate;
use super::finding::reading;
use super::paint::{Ink, InkedText};
use super::{TerminalStyle, balance};
use assay_judge::leading::lead;
use assay_plan::name::quoted;
use assay_record::claim::CorrectedTo;
use assay_record::evidence::Direction;
use assay_record::record::{
    ByteBalance, Finding, FindingWeight, MeasuredSubject, PhaseRecord, Record, TrapId, Trust,
    Verdict,
};
use assay_record::words::Voice;

/// Two to some ten lines, each beginning with `assay: `, or with blanks where it goes on in the next; none for a
/// record that was not judged.
pub fn verdict_lines(record: &Record, style: TerminalStyle) -> Vec<String> {
    let first = record.phases.first();
    let Some(verdict) =
        record.verdict.as_ref().or_else(|| first.and_then(|phase| phase.verdict.as_ref()))
    else {
        return Vec::new();
    };
    let voice = beside(style);
    let summary = voice.sentences(&verdict.claims);
    let mut lines = vec![trusted(verdict, format!(" ({}): {summary}", verdict.measures.name()))];
    lines.extend(corrected(verdict, true, voice).as_deref().map(InkedText::from));
    lines.extend(because(verdict, voice).iter().map(|line| line.as_str().into()));
    // Part of what was asked for was done otherwise, or more than that.
    let sound = verdict.trust == Trust::Sound;
    let otherwise = |finding: &&Finding| {
        let more = finding.claim.is_of_more_work();
        finding.weight == FindingWeight::Note && (finding.trap == TrapId::T19 || more && !sound)
    };
    lines.extend(
        verdict.findings.iter().filter(otherwise).map(|finding| {
            InkedText::from(format!("note: {}", voice.say(&finding.claim)).as_str())
        }),
    );
    let unsound = verdict.trust != Trust::Sound && record.phases.len() == 1;
    let ledger = first.and_then(|phase| phase.ledger.as_ref()).filter(|_| unsound);
    lines.extend(
        ledger.into_iter().flat_map(|ledger| balances(&balance::facts(ledger, voice), None)),
    );
    // Beside a number that may be believed, advice would only cast doubt on it.
    let advice = verdict.findings.iter().find_map(|finding| finding.next.as_ref());
    let advice = advice.filter(|_| verdict.trust != Trust::Sound);
    if lines.len() == 1 && advice.is_none() {
        let seen = first.and_then(|phase| seen(phase, voice));
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
    let voice = beside(style);
    let mut said: Vec<(String, InkedText, Vec<InkedText>)> = Vec::new();
    let mut advice: Vec<String> = Vec::new();
    for phase in record.phases.stream() {
        let Some((figure, verdict)) = named(&phase).zip(phase.verdict.as_ref()) else { continue };
        let words = judged(verdict, voice);
        match said.last_mut() {
            Some((figures, last, _)) if *last == words => *figures += &format!(", {figure}"),
            _ => {
                let facts = balances(&balance::of_phase(&phase, voice), Some(&figure));
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
        Some(format!("{OURS}{of}: {}{next}", judged(verdict, Voice::BESIDE).plain()))
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

/// How quantities are spelled there.
const fn beside(style: TerminalStyle) -> Voice {
    Voice { spelled_rates: true, ..style.voice() }
}

/// What begins each line.
const OURS: &str = "assay: ";

/// A sentence in lines that are no wider than the terminal.
fn told(text: &InkedText, style: TerminalStyle) -> Vec<String> {
    let room = style.width.saturating_sub(OURS.len()).max(20);
    let lines = text.lines(room, style).into_iter().enumerate();
    let blank = " ".repeat(OURS.len());
    lines.map(|(at, line)| format!("{}{line}", if at == 0 { OURS } else { &blank })).collect()
}

/// A line that is to be typed, however long it is.
fn typed(command: &str) -> String {
    format!("{OURS}next: {command}")
}

/// A text behind what may be believed.
fn trusted(verdict: &Verdict, text: String) -> InkedText {
    InkedText::of(super::paint::ink(verdict.trust), verdict.trust.name()).then(Ink::Plain, text)
}

/// A corrected figure and what it is of, in a line of its own or in a sentence.
pub fn corrected(verdict: &Verdict, label: bool, voice: Voice) -> Option<String> {
    let of = match verdict.measures {
        MeasuredSubject::Limited => CorrectedTo::Lasting { label },
        _ => CorrectedTo::Device { label },
    };
    let figure = estimate(verdict.corrected.as_ref()?, voice);
    Some(format!("{}: {figure}{}", voice.say(&of), if label { "" } else { "." }))
}

/// A verdict in a line.
fn judged(verdict: &Verdict, voice: Voice) -> InkedText {
    let (measures, summary) = (verdict.measures.name(), voice.sentences(&verdict.claims));
    let itself = corrected(verdict, false, voice).map(|figure| format!(" {figure}"));
    trusted(verdict, format!(" ({measures}): {summary}{}", itself.unwrap_or_default()))
}

/// The one or two readings that show the most; of a sound number one is enough.
fn because(verdict: &Verdict, voice: Voice) -> Vec<String> {
    let most = if verdict.trust == Trust::Sound { 1 } else { 2 };
    let Some(finding) = lead(verdict) else {
        return Vec::new();
    };
    finding
        .because
        .iter()
        .take(most)
        .map(|exhibit| format!("because {} ({})", reading(exhibit, voice), exhibit.source()))
        .collect()
}

/// What the device took while the program worked: `loop3 wrote 20 MiB while the program moved 20 MiB`.
fn seen(phase: &PhaseRecord, voice: Voice) -> Option<String> {
    let flow = phase.flows.iter().max_by_key(|flow| flow.bytes)?;
    let balance = phase.ledger.as_ref()?.bytes.iter().find(|of| of.direction == flow.direction)?;
    let ByteBalance { device, at_device, .. } = balance;
    let verb = match flow.direction {
        Direction::Read => "read",
        Direction::Write => "wrote",
    };
    let (at_device, moved) = (voice.say(at_device), voice.say(&flow.bytes));
    Some(format!(
        "seen: {device} {verb} {at_device} while the program moved {moved} (/sys/block/{device}/stat)"
    ))
}
