//! T44: nobody knows whether a flash drive is as slow as it will be.

use super::measure::Case;
use super::threshold::PRECONDITIONED;
use super::{Judge, Rule, finding};
use crate::evidence::{Layer, LayerKind, Snapshot};
use crate::plan::Action;
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// Less than twice its capacity is known to have been written to a flash drive.
pub const RULE: Rule = Rule {
    id: "T44",
    title: "Fresh out of the box",
    happens: "A new SSD is several times faster than a full one.",
    seen_by: "Bytes written to the drive since boot, by its file systems since they were made, and in its life by the health log of an NVMe drive (root); the life register of an eMMC; its capacity.",
    said_when: "Writes to a flash drive of which less than {PRECONDITIONED} times its capacity is known to have been written, the run included: a note, once a run.",
    try_it: "Any run that writes to an SSD of a machine that was started today.",
    answer: "Says that the state of the drive is unknown, unless it can show otherwise; `assay sustain` goes on until the rate is steady.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let written = case.phase.totals.contains_key(&Action::Write);
    if !case.writes() || !written || case.record.machine.virtual_machine == Some(true) {
        return None;
    }
    let layer = case.subject.stack.iter().find(|layer| layer.leaf && wears(layer))?;
    let first = case.record.phases.iter().find(|phase| {
        phase.totals.contains_key(&Action::Write)
            && phase.evidence.stop.devices.iter().any(|device| device.name == layer.name)
    })?;
    if !std::ptr::eq(first, case.phase) {
        return None;
    }
    unconditioned(layer, taken(&case.phase.evidence.stop, &layer.name))
}

/// Flash behind a controller that moves blocks about: a drive of this machine that does not spin.
fn wears(layer: &Layer) -> bool {
    let spins = layer.queue.seen().and_then(|queue| queue.rotational);
    let bus = matches!(&*layer.hardware.bus, "nvme" | "sata" | "mmc" | "usb" | "scsi");
    layer.kind == LayerKind::Disk && bus && spins == Some(false)
}

/// Bytes written to a device since boot, as a snapshot has them.
fn taken(snapshot: &Snapshot, name: &str) -> Bytes {
    let device = snapshot.devices.iter().find(|device| device.name == name);
    device
        .and_then(|device| device.counters.seen())
        .map_or(Bytes::ZERO, |now| Bytes(now.write_bytes))
}

/// What there is to say of a flash drive to which at least so much was written.
pub(super) fn unconditioned(layer: &Layer, since_boot: Bytes) -> Option<Finding> {
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
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "The state of {name} is unknown: a fresh drive writes faster than one that has been written full twice."
        ),
        vec![Exhibit::new(
            format!("known to have been written to {name}"),
            format!("{known}, capacity {size}"),
            match layer.hardware.written.by_itself {
                Some(_) => format!("health log of {name}"),
                None => {
                    format!("/sys/block/{name}/stat, lifetime_write_kbytes of its file systems")
                }
            },
        )],
        Some(Next::Do("see what lasts: assay sustain".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::Bytes;

    fn named(bench: &Bench) -> bool {
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.iter().any(|f| f.trap.0 == "T44")
    }

    #[test]
    fn a_drive_with_an_unknown_past_is_told_and_one_with_a_known_one_is_not() {
        // 1 GiB large, and 110 MiB written since boot.
        let mut bench = Bench::write_flushed();
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
        let mut bench = Bench::write_flushed();
        assert!(!named(&bench), "a loop device");
        bench.flash("nvme", Bytes::ZERO);
        bench.queue(|queue| queue.rotational = Some(true));
        assert!(!named(&bench), "it spins");
        bench.flash("nvme", Bytes::ZERO);
        bench.record.machine.virtual_machine = Some(true);
        assert!(!named(&bench), "a disk that somebody else's machine makes up");
    }

    #[test]
    fn it_is_said_once_a_run() {
        let mut bench = Bench::write_flushed();
        bench.flash("nvme", Bytes::ZERO);
        let mut again = bench.record.phases[0].clone();
        again.name = "again".into();
        bench.record.phases.push(again);
        let (phases, _) = super::super::verdicts(&bench.record);
        let said = phases.iter().flat_map(|phase| &phase.findings).filter(|f| f.trap.0 == "T44");
        assert_eq!(said.count(), 1);
    }
}
