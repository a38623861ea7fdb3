//! Which speed classes a device clears: one line for each letter, what the card claims, and what of
//! the host may be why a class is missed.

use super::fact::{self, Fact, fact};
use super::heading::capacity;
use crate::evidence::Card;
use crate::plan::{Aim, Plan};
use crate::record::{Grade, Grading, Outcome, Record, Resolved, Standing};

/// How much may be written, said before anything is; nothing of a plan with another aim.
pub fn budget(plan: &Plan, resolved: &Resolved) -> Option<Fact> {
    (plan.aim == Some(Aim::Card)).then_some(())?;
    let most = resolved.jobs.iter().map(|job| job.size).max().unwrap_or_default();
    let text = format!("the same {most} or less, again and again, as fast as the device takes it");
    Some(fact("writes", text))
}

/// Everything that is to be said of it; nothing of a record with another aim.
pub fn facts(record: &Record) -> Vec<Fact> {
    let Some(Outcome::Card(found)) = &record.outcome else { return Vec::new() };
    let mut facts = vec![fact("card", identity(found))];
    for letter in ["C", "U", "V", "A"] {
        let grades: Vec<&Grade> =
            found.grades.iter().filter(|grade| grade.class.starts_with(letter)).collect();
        facts.push(fact(letter, standing(&grades, found)));
    }
    facts.extend(fact::listed("host", found.host.iter().cloned()));
    facts
}

/// What the card says of itself.
fn identity(found: &Grading) -> String {
    let Some(card) = &found.card else {
        return "none shows itself, and so no claim; the classes are those of SD cards".into();
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
fn claim(card: &Card) -> Option<String> {
    (card.kind == "SD").then(|| match card.claims.map(|claims| claims.words()) {
        None => "its claim is not shown".into(),
        Some(words) if words.is_empty() => "claims no class".into(),
        Some(words) => format!("claims {words}"),
    })
}

/// How it stands to the classes of one letter: the highest that it clears, and why not the next.
fn standing(grades: &[&Grade], found: &Grading) -> String {
    let cleared = grades.iter().take_while(|grade| grade.standing == Standing::Cleared).count();
    let mut parts = Vec::new();
    if let Some(best) = cleared.checked_sub(1).and_then(|last| grades.get(last)) {
        let anywhere = best.needs.len() > 1;
        let within = if anywhere { format!(", within {}", found.space) } else { String::new() };
        parts.push(format!("clears the {} minimums here{within}", best.class));
    }
    if let Some(next) = grades.get(cleared) {
        let why = next.because.as_deref().unwrap_or_default();
        parts.push(match next.standing {
            Standing::Below => format!("below the {} minimums here: {why}", next.class),
            Standing::Borderline => format!("borderline for {}: {why}", next.class),
            Standing::Unknown | Standing::Cleared => format!("{} not shown: {why}", next.class),
        });
    }
    parts.join("; ")
}
