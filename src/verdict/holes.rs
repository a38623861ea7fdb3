//! T23: holes and unwritten extents: zeros that come from memory, even with O_DIRECT.

use super::measure::Case;
use super::threshold::{REACHED, RESIDENT};
use super::words::{of, quoted, share};
use super::{Judge, Rule, finding};
use crate::plan::Action;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::{Bytes, MIB};

/// More than a hundredth of what is read has no data on the device, and the device gave that much
/// less.
pub const RULE: Rule = Rule {
    id: "T23",
    title: "Holes",
    happens: "Parts of a file that were never written have no blocks, or blocks flagged unwritten: zeros are made in memory, even for O_DIRECT.",
    seen_by: "FIEMAP of the range before the read; bytes read from the device.",
    said_when: "Holes and unwritten extents are more than {RESIDENT} of the range, and the device gave that much less: wrong, layer.",
    try_it: "`truncate -s 1G x; assay dd if=x of=/dev/null bs=1M iflag=direct`",
    answer: "Own verbs write their files out in full before they read them.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    laid(case).or_else(|| trimmed(case))
}

/// Holes that were there before the phase.
fn laid(case: &Case<'_>) -> Option<Finding> {
    let extents = case.extents()?;
    let absent = case.empty_share();
    if !case.reads() || absent <= RESIDENT || case.flow.calls.0 == 0 {
        return None;
    }
    let reach = case.reach();
    if reach.is_some_and(|(reach, _)| reach >= 1.0 - absent / 2.0) {
        return None;
    }
    let empty = Bytes(extents.hole.0.saturating_add(extents.unwritten.0));
    let mut because = vec![Exhibit::new(
        format!("holes and unwritten extents in {}", case.subject.path),
        of(empty, extents.range),
        "FIEMAP",
    )];
    if let Some((_, level)) = reach {
        because.push(level.exhibit(case.direction()));
    }
    let count = extents.range.0.div_ceil(MIB).max(1);
    let full = quoted(&format!("{}.full", case.subject.path));
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::Layer),
        format!(
            "{} of the range holds no data: zeros were made in memory, and {} had nothing to read.",
            share(absent),
            case.named()
        ),
        because,
        Some(Next::Type(format!(
            "assay dd if=/dev/urandom of={full} bs=1M count={count} conv=fsync"
        ))),
    ))
}

/// Holes that the phase made itself, and read again.
fn trimmed(case: &Case<'_>) -> Option<Finding> {
    if !case.reads() || case.trimmed_share() <= RESIDENT {
        return None;
    }
    let (reach, level) = case.reach()?;
    if reach >= REACHED || !case.layout_explains(reach) {
        return None;
    }
    let trims = case.phase.totals.get(&Action::Trim)?;
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::Layer),
        format!(
            "{} of what was read had been trimmed before in the same phase: zeros were made in memory, and {} had nothing to read.",
            share(1.0 - reach),
            case.named()
        ),
        vec![
            Exhibit::new(
                format!("trimmed in {} during the phase", case.subject.path),
                of(trims.bytes, case.size_of_phase()),
                "the calls that were answered",
            ),
            level.exhibit(case.direction()),
        ],
        Some(Next::Do(
            "visit each place once (in a plan: order shuffled, one pass), or trim in a phase of its own".into(),
        )),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn a_hole_is_not_read() {
        let found = verdict(&Bench::read_of_holes().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Layer));
        assert!(found.findings.iter().all(|f| f.trap.0 != "T01"), "said once: {found:?}");
    }

    #[test]
    fn holes_that_were_not_read_do_not_matter() {
        let mut bench = Bench::read_cold();
        bench.lay(Bytes::mib(10), Bytes::mib(30));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
