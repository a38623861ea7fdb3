//! T15: flushes were asked for, and none came to the device.

use super::facts::mount_option;
use super::measure::{DeviceLevel, FlowView};
use super::{Rule, RuleJudge, advice, command, finding};
use assay_plan::plan::Durability;
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, FlushClaim};
use assay_record::evidence::{Mount, Reading};
use assay_record::record::{Finding, FindingWeight, MeasuredSubject, TrapId};

/// The device says that it has a write-back cache and has counted flushes before, and of those that
/// the run asked for it saw none.
pub const RULE: Rule = Rule {
    id: TrapId::T15,
    title: "A flush that does not reach the device",
    happens: "With nobarrier, or a layer that swallows flushes, a flush returns while the data stay in the cache of the drive.",
    seen_by: "Flushes of a device that has counted some before; its write_cache; the mount options.",
    said_when: "Flushes were requested, the device has a write-back cache, and it counted none: doubtful, deferred.",
    try_it: "`mount -o remount,nobarrier`, then `assay dd if=/dev/zero of=x bs=4k count=1000 oflag=dsync`.",
    answer: "Counts flushes at the device and does not rely on the result of the call alone.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let wrote = flow_view.writes() && flow_view.flow.bytes > Bytes::ZERO;
    if !wrote
        || !flow_view.on_devices()
        || flow_view.of_trees()
        || !flow_view.flow.durability.durable()
    {
        return None;
    }
    let level = flow_view.top()?;
    let evidence = &flow_view.phase.evidence;
    let later = level.settled.as_ref().and_then(|counters| counters.flushes).unwrap_or(0);
    let none = level.timed.flushes == Some(0) && later == 0;
    if !none || forced_through(flow_view, level) {
        return None;
    }
    let keeps = level.layers.iter().all(|layer| layer.writes_back());
    // Drivers that pass requests on by themselves never count a flush (mapper, md).
    let counts = level.layers.iter().all(|layer| {
        let reading = evidence.before.devices.iter().find(|device| device.name == layer.name);
        let counters = reading.map(|device| &device.counters).and_then(Reading::seen);
        counters.and_then(|counters| counters.flushes).is_some_and(|flushes| flushes > 0)
    });
    (keeps && counts).then(|| say(flow_view, level))
}

/// Each write may have gone through the drive's cache by itself, without a flush.
fn forced_through(flow_view: &FlowView<'_>, level: &DeviceLevel<'_>) -> bool {
    let able = level.layers.iter().any(|layer| layer.forces_writes());
    able && matches!(flow_view.flow.durability, Durability::OpenSync | Durability::OpenDsync)
}

fn say(flow_view: &FlowView<'_>, level: &DeviceLevel<'_>) -> Finding {
    let mut because = vec![level.shows(ExhibitOf::FlushesOf, 0_u64), level.write_back()];
    let mount = flow_view.subject.mount.seen();
    let option = mount.and_then(Mount::flushes_nothing);
    because.extend(mount.zip(option).map(|(mount, option)| mount_option(mount, option)));
    let next = match mount.zip(option) {
        Some((mount, "barrier=0")) => Some(command::remount(mount, "barrier=1")),
        Some((mount, _)) => Some(command::remount(mount, "barrier")),
        None => advice::look(flow_view, "probe"),
    };
    finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        FlushClaim::NeverReached { device: level.name(), option: option.map(String::from) },
        because,
        next,
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::Durability;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn a_flush_that_was_not_counted_did_not_come() {
        let mut bench = DoctoredRecord::write_flushed();
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.flushes(0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Deferred));
        assert_eq!(found.findings[0].trap, TrapId::T15);
    }

    #[test]
    fn writes_that_go_through_by_themselves_need_none() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.flushes(0);
        bench.record.phases[0].flows[0].durability = Durability::OpenDsync;
        bench.queue(|queue| queue.fua = Some(true));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
