//! T44: nobody knows whether a flash drive is as slow as it will be.

use super::measure::FlowView;
use super::threshold::PRECONDITIONED;
use super::words::own_verb;
use super::{Rule, RuleJudge, note};
use assay_plan::plan::Action;
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, PlaceClaim};
use assay_record::evidence::{BlockLayer, LayerKind, PathKind};
use assay_record::record::{Exhibit, Finding, NextStep, Remedy, TrapId};

/// Less than twice its capacity is known to have been written to a flash drive.
pub const RULE: Rule = Rule {
    id: TrapId::T44,
    title: "Unknown preconditioning",
    happens: "A fresh SSD writes several times faster than one in steady state.",
    seen_by: "Bytes written to the drive since boot, by its file systems since they were created, and over its life by the health log of an NVMe drive (root); the life register of an eMMC; its capacity.",
    said_when: "Writes to a flash drive of which less than {PRECONDITIONED} times its capacity is known to have been written, the run included: a note, once a run.",
    try_it: "Any run that writes to an SSD of a machine that was booted today.",
    answer: "Says that the state of the drive is unknown, unless the evidence shows it; `assay sustain` writes until the rate is steady.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let written = flow_view.phase.totals.contains_key(&Action::Write);
    if !flow_view.writes() || !written || flow_view.record.machine().virtual_machine == Some(true) {
        return None;
    }
    let layer = flow_view.subject.stack.iter().find(|layer| layer.leaf && wears(layer))?;
    let first = flow_view.record.phases.iter().find(|phase| {
        phase.totals.contains_key(&Action::Write)
            && phase.evidence.stop.devices.iter().any(|device| device.name == layer.name)
    })?;
    if !std::ptr::eq(first, flow_view.phase) {
        return None;
    }
    let evidence = &flow_view.phase.evidence;
    let before = evidence.before.counted(&layer.name);
    let since_boot = evidence.stop.counted(&layer.name).zip(before).map(|(stop, before)| {
        // Where the counter wrapped in between, it is more than it says.
        Bytes(before.write_bytes.saturating_add(stop.since(before).write_bytes))
    });
    let subject = flow_view.subject;
    let next = sustained(subject.kind, &subject.path);
    unconditioned(layer, since_boot.unwrap_or_default(), next)
}

/// What shows the speed in the steady state, at a path. Nobody is told to overwrite a device.
pub(super) fn sustained(kind: PathKind, path: &str) -> Option<NextStep> {
    own_verb(Remedy::MoreTime, "sustain", (path, kind), false, "")
}

/// Flash behind a controller that moves blocks about: a drive of this machine that does not spin.
fn wears(layer: &BlockLayer) -> bool {
    let spins = layer.queue.seen().and_then(|queue| queue.rotational);
    let bus = matches!(&*layer.hardware.bus, "nvme" | "sata" | "mmc" | "usb" | "scsi");
    layer.kind == LayerKind::Disk && bus && spins == Some(false)
}

/// What there is to say of a flash drive to which at least so much was written.
pub(super) fn unconditioned(
    layer: &BlockLayer,
    since_boot: Bytes,
    next: Option<NextStep>,
) -> Option<Finding> {
    if !wears(layer) {
        return None;
    }
    let size = *layer.size.seen()?;
    let known = layer.hardware.written.least().max(since_boot);
    // A tenth of an eMMC's life is hundreds of times its capacity.
    let aged =
        layer.hardware.card.as_ref().and_then(|card| card.life).is_some_and(|tenths| tenths > 1);
    if aged || known.0 as f64 >= size.0 as f64 * PRECONDITIONED {
        return None;
    }
    let name = &layer.name;
    Some(note(
        RULE.id,
        PlaceClaim::Unconditioned { device: name.clone() },
        vec![Exhibit::new(
            ExhibitOf::KnownWrites(name.clone()),
            ExhibitValue::KnownOfCapacity { known, capacity: size },
            match layer.hardware.written.by_itself {
                Some(_) => ExhibitSource::HealthLog(name.clone()),
                None => ExhibitSource::WritesOfSystem(name.clone()),
            },
        )],
        next,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::evidence::PathKind;
    use assay_record::record::{TrapId, Trust};

    fn named(bench: &DoctoredRecord) -> bool {
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.iter().any(|f| f.trap == TrapId::T44)
    }

    #[test]
    fn a_drive_with_an_unknown_past_is_told_and_one_with_a_known_one_is_not() {
        // 1 GiB large, and 110 MiB written since boot.
        let mut bench = DoctoredRecord::write_flushed();
        bench.flash("nvme", Bytes::ZERO);
        assert!(named(&bench));
        bench.flash("nvme", Bytes::mib(2047));
        assert!(named(&bench));
        bench.flash("nvme", Bytes::mib(2048));
        assert!(!named(&bench));
        bench.flash("mmc", Bytes::ZERO);
        bench.worn(Some(1), None);
        assert!(named(&bench));
        bench.worn(Some(2), None);
        assert!(!named(&bench));
    }

    #[test]
    fn what_is_no_flash_of_this_machine_has_no_such_state() {
        let mut bench = DoctoredRecord::write_flushed();
        assert!(!named(&bench), "a loop device");
        bench.flash("nvme", Bytes::ZERO);
        bench.queue(|queue| queue.rotational = Some(true));
        assert!(!named(&bench), "it spins");
        bench.flash("nvme", Bytes::ZERO);
        bench.record.hosts[0].machine.virtual_machine = Some(true);
        assert!(!named(&bench), "a disk that somebody else's machine makes up");
    }

    #[test]
    fn the_steady_state_is_measured_in_a_folder_and_no_device_is_overwritten() {
        let next = |kind, path| super::sustained(kind, path).expect("a line").command;
        assert_eq!(next(PathKind::Folder, "/mnt/my disk"), "assay sustain '/mnt/my disk'");
        assert_eq!(next(PathKind::File, "/mnt/x"), "assay sustain /mnt");
        assert_eq!(next(PathKind::Missing, "x"), "assay sustain .");
        assert_eq!(super::sustained(PathKind::Device, "/dev/sda"), None);
    }

    #[test]
    fn it_is_said_once_a_run() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.flash("nvme", Bytes::ZERO);
        let mut again = bench.record.phases[0].clone();
        (again.number, again.name) = (1, "again".into());
        bench.record.phases.push(again);
        let (phases, _) = super::super::verdicts(&bench.record);
        let said =
            phases.iter().flat_map(|phase| &phase.findings).filter(|f| f.trap == TrapId::T44);
        assert_eq!(said.count(), 1);
    }
}
