//! Which speed classes a device clears: one line for each letter, what the card claims, and what of
//! the host may be why a class is missed.

use super::TerminalStyle;
use super::fact::{self, PageFact, fact};
use super::heading::capacity;
use super::study::StudyPrinter;
use assay_plan::plan::{CardStudy, Plan};
use assay_record::evidence::CardInfo;
use assay_record::record::{CardGrading, ClassGrade, ClassStanding, Record, Resolved, StudyResult};
use assay_record::words::Voice;

impl StudyPrinter for CardStudy {
    fn budget(&self, _plan: &Plan, resolved: &Resolved) -> Option<PageFact> {
        Some(budget(resolved))
    }

    fn facts(&self, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
        facts(record, style.voice())
    }
}

/// How much may be written, said before anything is.
fn budget(resolved: &Resolved) -> PageFact {
    let most = resolved.jobs.iter().map(|job| job.size).max().unwrap_or_default();
    let text = format!("up to {most}, overwritten repeatedly at full speed");
    fact("writes", text)
}

/// Everything that is to be said of it; nothing of a record that was not judged.
fn facts(record: &Record, voice: Voice) -> Vec<PageFact> {
    let Some(StudyResult::Card(found)) = &record.outcome else { return Vec::new() };
    let mut facts = vec![fact("card", identity(found))];
    for letter in ["C", "U", "V", "A"] {
        let grades: Vec<&ClassGrade> =
            found.grades.iter().filter(|grade| grade.class.starts_with(letter)).collect();
        facts.push(fact(letter, standing(&grades, found, voice)));
    }
    facts.extend(fact::listed("host", found.host.iter().map(|told| voice.say(&told.0))));
    facts
}

/// What the card says of itself.
fn identity(found: &CardGrading) -> String {
    let Some(card) = &found.card else {
        return "no card detected, so no claimed class; graded by the SD speed classes".into();
    };
    let mut parts = vec![card.kind.clone()];
    parts.extend(claim(card));
    parts.extend(card.specification.as_ref().map(|version| format!("specification {version}")));
    parts.extend(card.capacity.map(|bytes| format!("{} by its register", capacity(bytes))));
    parts.extend(card.unit.map(|unit| format!("allocation unit {unit}")));
    parts.extend(card.made.as_ref().map(|month| format!("made {month}")));
    parts.join(", ")
}

/// The classes that the card claims.
fn claim(card: &CardInfo) -> Option<String> {
    (card.kind == "SD").then(|| match card.claims.map(|claims| claims.words()) {
        None => "claimed class unknown".into(),
        Some(words) if words.is_empty() => "claims no class".into(),
        Some(words) => format!("claims {words}"),
    })
}

/// How it stands to the classes of one letter: the highest that it clears, and why not the next.
fn standing(grades: &[&ClassGrade], found: &CardGrading, voice: Voice) -> String {
    let cleared =
        grades.iter().take_while(|grade| grade.standing == ClassStanding::Cleared).count();
    let mut parts = Vec::new();
    if let Some(best) = cleared.checked_sub(1).and_then(|last| grades.get(last)) {
        let anywhere = best.needs.len() > 1;
        let within = if anywhere { format!(" within {}", found.space) } else { String::new() };
        parts.push(format!("meets {}{within}", best.class));
    }
    if let Some(next) = grades.get(cleared) {
        let why: Vec<String> = next.because.iter().map(|told| voice.say(&told.0)).collect();
        let why = why.join("; ");
        parts.push(match next.standing {
            ClassStanding::Below => format!("below {}: {why}", next.class),
            ClassStanding::Borderline => format!("borderline for {}: {why}", next.class),
            ClassStanding::Unknown | ClassStanding::Cleared => {
                format!("{} not tested: {why}", next.class)
            }
        });
    }
    parts.join("; ")
}
