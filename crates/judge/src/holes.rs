//! T23: holes and unwritten extents: zeros that come from memory, even with O_DIRECT.

use super::measure::FlowView;
use super::threshold::{REACHED, RESIDENT};
use super::words::{of, share};
use super::{Rule, RuleJudge, advice, command, finding};
use assay_plan::plan::Action;
use assay_plan::unit::MIB;
use assay_record::claim::{ExhibitOf, ExhibitSource, LayerClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, Remedy, TrapId};

/// More than a hundredth of what is read has no data on the device, and the device gave that much
/// less.
pub const RULE: Rule = Rule {
    id: TrapId::T23,
    title: "Holes",
    happens: "Parts of a file that were never written have no blocks, or unwritten ones: reads get zeros from memory, even with O_DIRECT.",
    seen_by: "FIEMAP of the range before the read; bytes read from the device.",
    said_when: "Holes and unwritten extents are more than {RESIDENT} of the range, and that much less came from the device: wrong, layer.",
    try_it: "`truncate -s 1G x; assay dd if=x of=/dev/null bs=1M iflag=direct`",
    answer: "Own verbs write their files in full before they read them.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    laid(flow_view).or_else(|| trimmed(flow_view))
}

/// Holes that were there before the phase.
fn laid(flow_view: &FlowView<'_>) -> Option<Finding> {
    let (facts, extents) = (flow_view.facts(), flow_view.extents()?);
    let absent = flow_view.empty_share();
    if !flow_view.reads() || absent <= RESIDENT || flow_view.flow.calls.0 == 0 {
        return None;
    }
    let reach = flow_view.reach();
    if reach.is_some_and(|(reach, _)| reach >= 1.0 - absent / 2.0) {
        return None;
    }
    let mut because: Vec<Exhibit> = facts.shown_empty().into_iter().collect();
    if let Some((_, level)) = reach {
        because.push(level.exhibit(flow_view.direction()));
    }
    let count = extents.range.0.div_ceil(MIB).max(1);
    let full = [&flow_view.subject.path, ".full"].concat();
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Layer),
        LayerClaim::HolesRead { part: share(absent), device: flow_view.named() },
        because,
        Some(command::copy(Remedy::WriteFirst, "/dev/urandom", &full, Some(count))),
    ))
}

/// Holes that the phase made itself, and read again.
fn trimmed(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.reads() || flow_view.trimmed_share() <= RESIDENT {
        return None;
    }
    let (reach, level) = flow_view.reach()?;
    if reach >= REACHED || !flow_view.layout_explains(reach) {
        return None;
    }
    let trims = flow_view.phase.totals.get(&Action::Trim)?;
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Layer),
        LayerClaim::TrimmedThenRead { part: share(1.0 - reach), device: flow_view.named() },
        vec![
            Exhibit::new(
                ExhibitOf::TrimmedIn(flow_view.subject.path.clone()),
                of(trims.bytes, flow_view.size_of_phase()),
                ExhibitSource::CompletedCalls,
            ),
            level.exhibit(flow_view.direction()),
        ],
        advice::load(flow_view, Remedy::Separate),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn a_hole_is_not_read() {
        let found = verdict(&DoctoredRecord::read_of_holes().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Layer));
        assert!(found.findings.iter().all(|f| f.trap != TrapId::T01), "said once: {found:?}");
    }

    #[test]
    fn holes_that_were_not_read_do_not_matter() {
        let mut bench = DoctoredRecord::read_cold();
        bench.lay(Bytes::mib(10), Bytes::mib(30));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
