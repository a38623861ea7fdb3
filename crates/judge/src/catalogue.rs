//! The catalogue of traps for people: every number once, whether a rule judges it or not.
//!
//! `docs/TRAPS.md` is what [`document`] returns; `tests/pages/traps.rs` fails when the two differ. What a terminal
//! gets is the printer's.

use super::{RULES, Rule, threshold};
use assay_record::record::TrapId;

/// A trap that no rule of its own judges.
pub struct UnjudgedTrap {
    /// Its number.
    pub id: TrapId,
    /// What it is called.
    pub title: &'static str,
    /// What happens, in a sentence that a person can repeat.
    pub happens: &'static str,
    /// What becomes of it here.
    pub standing: TrapStanding,
}

/// What becomes of a trap without a rule of its own.
pub enum TrapStanding {
    /// Other rules find it: their numbers.
    Under {
        rules: &'static [TrapId],
        /// The test that shows it, as `file: function`.
        shown: &'static str,
    },
    /// It cannot happen here, and why.
    Prevented {
        /// Why.
        how: &'static str,
        /// The test that shows it, as `file: function`.
        shown: &'static str,
    },
}

use TrapStanding::{Prevented, Under};

/// The traps of the catalogue that have no rule, by number.
#[rustfmt::skip]
pub const UNRULED: &[UnjudgedTrap] = &[
    UnjudgedTrap { id: TrapId::T09, title: "Mapped memory", happens: "Writes to a mapping only change pages in memory; reads from one may fetch far more than is touched.", standing: Under { rules: &[TrapId::T01, TrapId::T02], shown: "tests/catalogue/durability.rs: t09_a_mapping_is_memory_until_it_is_flushed" } },
    UnjudgedTrap { id: TrapId::T13, title: "One option, two meanings", happens: "conv=fsync is one flush at the end in GNU dd, but was one after each block in BusyBox before 1.27.", standing: Prevented { how: "a plan states when it flushes, and the BusyBox 1.35 dialect flushes once, as BusyBox 1.35 does.", shown: "src/dialect/dd/tests.rs: one_flush_is_asked_for_whoever_speaks" } },
    UnjudgedTrap { id: TrapId::T26, title: "The same random buffer again and again", happens: "One random buffer, written repeatedly, compresses and deduplicates to almost nothing.", standing: Prevented { how: "no two sectors that assay generates are alike, unless the plan asks for it.", shown: "crates/engine/src/engine/fill.rs: no_two_sectors_are_alike_and_none_compresses" } },
    UnjudgedTrap { id: TrapId::T42, title: "Cleaning up after earlier data", happens: "Lazy initialization, or the deletion of an old file, still runs in the background.", standing: Under { rules: &[TrapId::T08, TrapId::T31], shown: "crates/judge/src/shared_device.rs: inode_tables_of_a_new_file_system_are_named" } },
    UnjudgedTrap { id: TrapId::T59, title: "MB and MiB", happens: "Tools print the same unit for 10^6 and 2^20 bytes.", standing: Prevented { how: "bytes and nanoseconds internally, and the exact unit with every figure.", shown: "crates/plan/src/unit.rs: figures_carry_three_digits_and_their_unit" } },
    UnjudgedTrap { id: TrapId::T63, title: "Counters added up", happens: "A byte is counted at the partition, the mapper and the disk, and a tool adds them up.", standing: Prevented { how: "devices are judged level by level, and mirrors count once.", shown: "crates/judge/src/tests.rs: both_halves_of_a_mirror_are_expected" } },
];

/// What the catalogue says of one trap.
pub struct CatalogueEntry {
    /// Its number.
    pub id: TrapId,
    /// What it is called.
    pub title: &'static str,
    pub happens: &'static str,
    /// How it is seen and judged, how to meet it, and what assay does about it: of each what it is, and a sentence.
    pub said: Vec<(&'static str, String)>,
    /// The test that shows it, where no rule of its own judges it.
    pub shown: Option<&'static str>,
}

/// What the catalogue is.
pub const ABOUT: &str = "Ways in which the number of a storage benchmark misleads, by the trap numbers in verdicts and records, and how assay handles each.";

/// All that it knows, by number.
pub fn all() -> Vec<CatalogueEntry> {
    TrapId::ALL.iter().flat_map(|id| entries(*id)).collect()
}

/// What the catalogue says of one trap: an entry for each rule of this number, or the one of a trap
/// without a rule.
pub fn entries(id: TrapId) -> Vec<CatalogueEntry> {
    let ruled = RULES.iter().filter(|rule| rule.id == id).map(of_rule);
    let unruled = UNRULED.iter().filter(|trap| trap.id == id).map(of_unruled);
    ruled.chain(unruled).collect()
}

fn of_rule(rule: &Rule) -> CatalogueEntry {
    let said = vec![
        ("Evidence", rule.seen_by.to_string()),
        ("Rule", filled(rule.said_when)),
        ("Try it", rule.try_it.to_string()),
        ("assay", rule.answer.to_string()),
    ];
    CatalogueEntry { id: rule.id, title: rule.title, happens: rule.happens, said, shown: None }
}

fn of_unruled(trap: &UnjudgedTrap) -> CatalogueEntry {
    let (said, shown) = match &trap.standing {
        Under { rules, shown } => {
            (("Rule", rules.iter().map(|id| id.name()).collect::<Vec<_>>().join(", ")), shown)
        }
        Prevented { how, shown } => (("Prevented", how.to_string()), shown),
    };
    CatalogueEntry {
        id: trap.id,
        title: trap.title,
        happens: trap.happens,
        said: vec![said],
        shown: Some(shown),
    }
}

/// The whole catalogue as Markdown.
pub fn document() -> String {
    let mut text = format!("# Traps\n\n{ABOUT}\n{HEAD}");
    for CatalogueEntry { id, title, happens, said, shown } in all() {
        text.push_str(&format!("\n## {id}: {title}\n\n{happens}\n\n"));
        for (what, words) in said {
            let shown = shown.map(|shown| format!(" (`{shown}`)")).unwrap_or_default();
            text.push_str(&format!("* **{what}:** {words}{shown}\n"));
        }
    }
    text
}

/// What its document says of itself.
const HEAD: &str = "\
`assay traps` prints it for a terminal. The rules are in `crates/judge/src`, one per file; their thresholds, with
reasons, in `crates/judge/src/threshold.rs`.
";

/// The text with each `{NAME}` replaced by the threshold of that name. A name that is none stays as
/// it is; a test looks for those.
fn filled(text: &str) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        whole.push_str(before);
        let Some((name, later)) = after.split_once('}') else {
            whole.push('{');
            rest = after;
            continue;
        };
        match threshold::spoken(name) {
            Some(words) => whole.push_str(&words),
            None => whole.push_str(&format!("{{{name}}}")),
        }
        rest = later;
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_entry_and_only_one_kind() {
        for &id in TrapId::ALL {
            let ruled = RULES.iter().filter(|rule| rule.id == id).count();
            let unruled = UNRULED.iter().filter(|trap| trap.id == id).count();
            assert_eq!(ruled + unruled, 1, "{id}: one trap, one rule");
        }
    }

    #[test]
    fn rules_that_are_named_exist_and_no_threshold_is_left_unspoken() {
        for trap in UNRULED {
            if let Under { rules, .. } = trap.standing {
                assert!(
                    rules.iter().all(|id| RULES.iter().any(|rule| rule.id == *id)),
                    "{}",
                    trap.id
                );
            }
        }
        assert!(!document().contains(['{', '}']), "{}", document());
    }

    #[test]
    fn every_text_is_there_and_ends_as_a_sentence() {
        for rule in RULES {
            for text in [rule.happens, rule.seen_by, rule.said_when, rule.answer] {
                assert!(text.ends_with('.'), "{}: {text}", rule.id);
            }
            assert!(!rule.try_it.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn thresholds_are_spoken_as_they_are() {
        assert_eq!(filled("less than {REACHED} {or"), "less than 98 % {or");
        assert_eq!(filled("{NOBODY}"), "{NOBODY}");
    }
}
