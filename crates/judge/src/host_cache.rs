//! T30: a virtual disk that answers faster than a drive does.

use super::facts::is_virtual;
use super::measure::{DeviceLevel, FlowView, bytes};
use super::threshold::{DRIVE, SHORT, SMALL_BYTES};
use super::words::pace;
use super::{Rule, RuleJudge, finding};
use assay_record::claim::{ExhibitOf, FlushClaim};
use assay_record::evidence::BlockLayer;
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// What lies below a virtual disk cannot be seen from here; its rate tells that it is no single drive.
pub const RULE: Rule = Rule {
    id: TrapId::T30,
    title: "A cache below the device",
    happens: "Direct I/O ends at a loop device or virtual disk whose backing file the host caches.",
    seen_by: "The bus and model of the disk; bytes at it. What a loop device reads and writes is seen at the disk below it (T01).",
    said_when: "A virtual disk moved more than {DRIVE}: unproven.",
    try_it: "`assay quick` in a virtual machine whose disk has cache=writeback, on a file that fits into the memory of its host.",
    answer: "`assay probe` says that a disk is virtual, and the verdict that its rate is no drive's.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() || flow_view.time() < SHORT {
        return None;
    }
    let machine = flow_view.record.machine();
    flow_view.levels.iter().find_map(|level| {
        let [layer] = level.layers[..] else { return None };
        (layer.leaf && is_virtual(layer, machine)).then(|| fast(flow_view, level, layer))?
    })
}

fn fast(flow_view: &FlowView<'_>, level: &DeviceLevel<'_>, layer: &BlockLayer) -> Option<Finding> {
    let moved = bytes(&level.timed, flow_view.direction());
    let rate = moved as f64 / flow_view.time().as_secs();
    if !level.readable() || moved < SMALL_BYTES.0 || rate <= DRIVE as f64 {
        return None;
    }
    let name = &layer.name;
    let rate = pace(rate);
    Some(finding(
        RULE.id,
        FindingWeight::Unproven,
        Some(MeasuredSubject::Unsure),
        FlushClaim::HostMayCache { device: name.clone(), rate },
        vec![
            Exhibit::new(ExhibitOf::Bus, &layer.hardware.bus, ["/sys/block/", name].concat()),
            level.shows(ExhibitOf::MovedBy, rate),
        ],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_virtual_disk_that_is_faster_than_drives_proves_nothing() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.moved_fast("virtio");
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        let said = "loop3 is a virtual disk and moved 5154 MB/s, more than most drives can: its host may have answered from memory, which cannot be seen from here.";
        assert_eq!(found.summary(), said);
    }

    #[test]
    fn a_drive_may_be_as_fast_as_it_is() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.moved_fast("nvme");
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        let mut bench = DoctoredRecord::write_flushed();
        bench.moved_fast("virtio");
        bench.lasted(assay_plan::unit::Nanos::secs(10));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
