//! T01: what was read was in memory from before.

use super::measure::{FlowView, estimate};
use super::threshold::{REACHED, SMALL_BYTES, UNTOUCHED};
use super::words::{of, share};
use super::{Rule, RuleJudge, advice, command, finding, not_direct, trimmed_blocks};
use assay_plan::stats::Estimate;
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, MemoryClaim};
use assay_record::evidence::LayerKind;
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// Less than 98 % of the bytes came from the lowest device.
pub const RULE: Rule = Rule {
    id: TrapId::T01,
    title: "Served from the page cache",
    happens: "The data was in the page cache from the write or an earlier read.",
    seen_by: "Bytes read from the lowest device; pages of the file in the page cache before.",
    said_when: "Less than {UNTOUCHED} came from the device: wrong, memory. Less than {REACHED}: wrong, mixed, with the rate of the part that did.",
    try_it: "`assay dd if=x of=/dev/null bs=1M`, twice.",
    answer: "Own verbs drop the file from the page cache and check that it is gone, or use direct I/O.",
    judge: RuleJudge::Flow(judge),
};

/// Share of the read that came from the device, when memory is what gave the rest.
fn part(flow_view: &FlowView<'_>) -> Option<f64> {
    let shared = flow_view.shared_share().is_some() || trimmed_blocks::applies(flow_view);
    if !flow_view.reads()
        || !flow_view.on_devices()
        || flow_view.flow.bytes == Bytes::ZERO
        || shared
    {
        return None;
    }
    let (reach, _) = flow_view.reach()?;
    (reach < REACHED && !flow_view.layout_explains(reach)).then_some(reach)
}

/// The pace of the part that did come from the device, when there was enough of it.
pub(super) fn device_part(flow_view: &FlowView<'_>) -> Option<Estimate> {
    let reach = part(flow_view)?;
    let (_, level) = flow_view.reach()?;
    let moved = Bytes(level.moved(flow_view.direction()));
    (reach >= UNTOUCHED && moved >= SMALL_BYTES)
        .then(|| estimate(moved, flow_view.time()))
        .flatten()
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if not_direct::applies(flow_view).is_some() {
        return None;
    }
    let reach = part(flow_view)?;
    let (_, level) = flow_view.reach()?;
    let (device, named) = (level.name(), flow_view.named());
    let below = level.depth > 0
        && flow_view.top().and_then(|top| top.reach(flow_view.direction())) >= Some(REACHED);
    let (measures, claim) = match reach {
        r if below && r < UNTOUCHED && past_cache(flow_view) => {
            (MeasuredSubject::Layer, MemoryClaim::AnsweredByItself { device: named, below: device })
        }
        r if below && r < UNTOUCHED => {
            (MeasuredSubject::Memory, MemoryClaim::CachedBelow { device: named, below: device })
        }
        r if r < UNTOUCHED => (
            MeasuredSubject::Memory,
            MemoryClaim::ReadFromMemory { reached: (r > 0.0).then(|| share(r)), device },
        ),
        r => (MeasuredSubject::Mixed, MemoryClaim::ReadFromBoth { reached: share(r), device }),
    };
    let mut because = vec![level.exhibit(flow_view.direction())];
    if let Some(pages) = flow_view.cached(&flow_view.phase.evidence.before) {
        because.push(Exhibit::new(
            ExhibitOf::PagesCachedBefore(flow_view.subject.path.clone()),
            of(pages.resident, flow_view.flow.bytes),
            "cachestat()",
        ));
    }
    let next = if below { uncached(flow_view) } else { advice::cold(flow_view) };
    Some(finding(RULE.id, FindingWeight::Refute, Some(measures), claim, because, next))
}

/// Whether the loop devices on the way read their files past the page cache.
fn past_cache(flow_view: &FlowView<'_>) -> bool {
    let mut loops = flow_view.subject.stack.iter().filter_map(|layer| match layer.kind {
        LayerKind::Loop { direct, .. } => Some(direct),
        _ => None,
    });
    loops.next() == Some(true) && loops.all(|direct| direct)
}

/// What keeps a cache from lying below the device that the path names.
pub(super) fn uncached(flow_view: &FlowView<'_>) -> Option<NextStep> {
    match flow_view.subject.stack.iter().find(|layer| layer.is_cached_below()) {
        Some(layer) => {
            let command = "sudo losetup --direct-io=on";
            Some(command::at_device(Remedy::Configure, command, &layer.name))
        }
        // Holes, or a cache that nobody here can drop: data that were written just now.
        None => advice::written_first(flow_view, "quick", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_second_read_is_memory() {
        let found = verdict(&DoctoredRecord::read_again().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Memory));
        assert_eq!(
            found.findings[0].next.as_ref().map(|next| next.words()),
            Some("ASSAY_COLD=target assay dd if=/mnt/x of=/dev/null bs=1M")
        );
    }

    #[test]
    fn half_of_it_is_a_mixture_with_the_disks_part() {
        let mut bench = DoctoredRecord::read_cold();
        bench.was_read(Bytes::mib(10));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Mixed));
        assert!(found.corrected.is_some());
    }

    #[test]
    fn a_cold_read_is_the_device() {
        let found = verdict(&DoctoredRecord::read_cold().record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device));
    }
}
