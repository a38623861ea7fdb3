//! T60: the same places were written again before they left memory.

use super::measure::{FlowView, all_flushed, lost_in_memory};
use super::threshold::{REACHED, UNTOUCHED};
use super::words::share;
use super::{Rule, RuleJudge, advice, finding, served_from_cache};
use assay_plan::plan::Caching;
use assay_record::claim::MemoryClaim;
use assay_record::evidence::{BlockLayer, PathKind};
use assay_record::record::{Finding, FindingWeight, Flow, MeasuredSubject, TrapId};

/// Writes that meet the same page twice cost the device one write: through the page cache, or through that of the file
/// behind a loop device.
pub const RULE: Rule = Rule {
    id: TrapId::T60,
    title: "Overwritten in memory",
    happens: "Buffered writes to the same page before it is flushed cost the device one write.",
    seen_by: "Bytes at the device after the flush; order and size in the plan.",
    said_when: "Less than {REACHED} of flushed random or repeated buffered writes reached the device: wrong, mixed or memory.",
    try_it: "Random buffered writes of twice the size of a small file, with a flush at the end.",
    answer: "`quick` writes with direct I/O where it is real.",
    judge: RuleJudge::Flow(judge),
};

/// The plan writes more than its target holds, or here and there, or several jobs write one file.
pub(super) fn explains(flow_view: &FlowView<'_>) -> bool {
    let flow = flow_view.flow;
    let too = |other: &Flow| other.job != flow.job && other.direction == flow.direction;
    let same = |other: &&Flow| too(other) && other.subject == flow.subject;
    let shared = flow_view.subject.kind != PathKind::Folder
        && flow_view.phase.flows.iter().any(|other| same(&other));
    let jobs = flow_view.record.jobs_of(flow_view.phase);
    let size: u64 = jobs.fold(0, |sum, job| sum.saturating_add(job.size.0));
    (flow.caching != Caching::Direct || cached_below(flow_view).is_some())
        && flow_view.writes()
        && (shared || !flow.sequential || size > 0 && flow.bytes.0 > size)
}

/// The loop device on the way whose file is in the page cache.
fn cached_below<'a>(flow_view: &FlowView<'a>) -> Option<&'a BlockLayer> {
    flow_view.subject.stack.iter().find(|layer| layer.is_cached_below())
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() || !explains(flow_view) || lost_in_memory(flow_view) {
        return None;
    }
    let (reach, level) = flow_view.reach()?;
    let settled = level.reach_settled(flow_view.direction()).unwrap_or(reach);
    if reach >= REACHED || settled >= REACHED || !all_flushed(flow_view, level) {
        return None;
    }
    let measures =
        if settled < UNTOUCHED { MeasuredSubject::Memory } else { MeasuredSubject::Mixed };
    let below = cached_below(flow_view).filter(|_| flow_view.flow.caching == Caching::Direct);
    let next = match below {
        Some(_) => served_from_cache::uncached(flow_view),
        None => advice::direct(flow_view),
    };
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(measures),
        MemoryClaim::OverwrittenInCache {
            behind: below.map(|layer| layer.name.clone()),
            device: level.name(),
            reached: share(settled),
        },
        vec![level.exhibit(flow_view.direction())],
        next,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::evidence::LayerKind;
    use assay_record::record::{Flow, MeasuredSubject, TrapId, Trust};

    #[test]
    fn writing_the_same_places_again_costs_the_device_once() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows[0].sequential = false;
        bench.written(Bytes::mib(8), Bytes::mib(8));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Mixed));
    }

    #[test]
    fn direct_writes_to_a_loop_device_meet_the_pages_of_its_file() {
        for (direct, trap) in [(false, TrapId::T60), (true, TrapId::T25)] {
            let mut bench = DoctoredRecord::write_flushed();
            bench.direct(true);
            bench.layer_kind(LayerKind::Loop { file: "/i".into(), on: "ext4".into(), direct });
            let size = Bytes(bench.record.phases[0].flows[0].bytes.0 / 2);
            bench.record.resolved.jobs[0].size = size;
            bench.written(size, size);
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Wrong, "{found:?}");
            assert!(found.findings.iter().any(|finding| finding.trap == trap), "{found:?}");
        }
    }

    #[test]
    fn jobs_that_write_one_file_meet_each_other_s_pages() {
        let mut bench = DoctoredRecord::write_flushed();
        let other = Flow { job: 1, ..bench.record.phases[0].flows[0].clone() };
        bench.record.phases[0].flows.push(other);
        bench.written(Bytes::mib(8), Bytes::mib(8));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Mixed));
        assert!(found.findings.iter().all(|finding| finding.trap != TrapId::T25), "{found:?}");
    }
}
