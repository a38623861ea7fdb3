//! T39: a phase that only reads, and writes all the same.

use super::facts::mount_options;
use super::measure::PhaseView;
use super::threshold::{OWN_BYTES, WRITES_OF_READS};
use super::{Rule, RuleJudge, command, note, shared_device};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, PlaceClaim};
use assay_record::record::{Finding, TrapId};

/// The device was written to while it was only read.
pub const RULE: Rule = Rule {
    id: TrapId::T39,
    title: "Reads that cause writes",
    happens: "Reading a file updates its access time, which is written with the journal.",
    seen_by: "Bytes written to the device in a read-only phase; mount options.",
    said_when: "Writes exceed {WRITES_OF_READS} of the bytes read, and the file system keeps access times: a note.",
    try_it: "Read many small files on a mount with `strictatime`.",
    answer: "Names the cause, so that the writes are not taken for another program's.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    // Whose they are is said there.
    if found.iter().any(|f| f.trap == shared_device::RULE.id) {
        return None;
    }
    let reads_only =
        phase_view.cases.iter().all(|flow_view| flow_view.reads() || !flow_view.on_devices());
    let flow_view =
        phase_view.cases.iter().find(|flow_view| flow_view.reads() && flow_view.on_devices())?;
    let (level, mount) = (flow_view.top()?, flow_view.subject.mount.seen()?);
    let keeps = !mount.read_only && mount.option(&["noatime"]).is_none();
    let written = level.timed.write_bytes;
    let least = (level.asked.read as f64 * WRITES_OF_READS).max(OWN_BYTES as f64);
    if !reads_only || !keeps || written as f64 <= least {
        return None;
    }
    Some(note(
        RULE.id,
        PlaceClaim::WrittenDuringReads { written: Bytes(written), device: level.name() },
        vec![level.shows(ExhibitOf::WrittenMeanwhile, Bytes(written)), mount_options(mount)],
        Some(command::remount(mount, "noatime")),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, KIB};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn writes_during_reads_are_named_unless_there_are_none_to_expect() {
        let mut bench = DoctoredRecord::read_cold();
        let named = |bench: &DoctoredRecord| {
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound, "{found:?}");
            found.findings.iter().any(|f| f.trap == TrapId::T39)
        };
        bench.written(Bytes(200 * KIB), Bytes(200 * KIB));
        assert!(!named(&bench));
        bench.written(Bytes(300 * KIB), Bytes(300 * KIB));
        assert!(named(&bench));
        bench.mounted("rw,noatime");
        assert!(!named(&bench));
    }
}
