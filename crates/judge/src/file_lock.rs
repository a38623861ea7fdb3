//! T37: parallel writes that allocate wait for each other, behind the lock of their file.

use super::measure::PhaseView;
use super::threshold::{CPU_FULL, DEPTH_LEAST, DEPTH_REACHED, FIRST_WRITES, LOCKED, SHORT};
use super::words::{of, share};
use super::{Rule, RuleJudge, advice, explained, finding, refuted};
use assay_plan::unit::MeanInFlight;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LimitClaim};
use assay_record::evidence::{LayerKind, PathKind};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, Remedy, TrapId,
};

/// The program had enough writes in flight, the device did not, and the file had yet to be allocated.
pub const RULE: Rule = Rule {
    id: TrapId::T37,
    title: "Writers behind one lock",
    happens: "Writes that allocate or extend take the file's lock exclusively, so parallel ones wait.",
    seen_by: "FIEMAP before the write; writes in flight from the program and at the device; CPU time.",
    said_when: "Direct writes at depth {DEPTH_LEAST} or more to one file, most of it not yet allocated, with {DEPTH_REACHED} of the depth in flight from the program and fewer than {LOCKED} at the device, and neither a limit nor the CPU explains it: doubtful, tool.",
    try_it: "Four workers append to one file with direct writes of 16 KiB, and then overwrite it.",
    answer: "`quick` writes its file first and measures random writes at depth 32 as overwrites.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || explained(found) || phase_view.paced() || phase_view.of_trees() {
        return None;
    }
    let [flow_view] = phase_view.cases.as_slice() else { return None };
    let one_file = flow_view.subject.kind != PathKind::Device
        && phase_view.record.jobs_of(phase_view.phase).all(|job| job.files == 1);
    if !flow_view.writes() || !flow_view.direct() || !flow_view.on_devices() || !one_file {
        return None;
    }
    let level = flow_view.top()?;
    // A disk in memory answers before the call returns: it never has more than one.
    if level.layers.iter().any(|layer| layer.kind == LayerKind::Memory) {
        return None;
    }
    let planned = f64::from(flow_view.flow.depth);
    let program = phase_view.phase.depth.as_ref()?.mean * phase_view.workers() as f64;
    let had = level.in_flight();
    let waited = program >= planned * DEPTH_REACHED && had < LOCKED;
    // Blocks that are allocated and not yet written are no matter: ext4 (6.3) and XFS share the lock
    // there, as for what is overwritten.
    let onto = flow_view.onto()?;
    let size = flow_view.size_of_phase().max(onto.range);
    let there = onto.written + onto.unwritten;
    let allocates = (there.0 as f64) < size.0 as f64 * FIRST_WRITES;
    let cpu = ledger.time.as_ref().map(|time| time.on_cpu).or_else(|| phase_view.cpu_share())?;
    let long = flow_view.time() >= SHORT && !level.small(flow_view.direction());
    if flow_view.flow.depth < DEPTH_LEAST || !waited || !allocates || cpu >= CPU_FULL || !long {
        return None;
    }
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::FileLock {
            device: level.name(),
            writes: program.round() as u64,
            had: MeanInFlight(had),
        },
        vec![
            level.exhibit_work(),
            Exhibit::new(
                ExhibitOf::InFlightFromProgram,
                ExhibitValue::InFlight(MeanInFlight(program)),
                ExhibitSource::CallCount,
            ),
            Exhibit::new(
                ExhibitOf::AllocatedBefore(flow_view.subject.path.clone()),
                of(there, size),
                "FIEMAP",
            ),
            Exhibit::new(ExhibitOf::CpuPerWorker, share(cpu), ExhibitSource::ThreadClocks),
        ],
        advice::load(flow_view, Remedy::WriteFirst),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::stats::DepthReached;
    use assay_plan::unit::Bytes;
    use assay_record::evidence::LayerKind;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    /// Direct writes at depth 8 to a file of which so many MiB are written; the device had one at a
    /// time.
    fn eight(written: u64, in_flight: f64) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.only_writes();
        let phase = &mut bench.record.phases[0];
        phase.flows[0].depth = 8;
        phase.depth = Some(DepthReached { mean: in_flight, max: 8, idle: None, counts: vec![] });
        bench.written_onto(Bytes::mib(written));
        bench
    }

    fn named(bench: &DoctoredRecord) -> bool {
        verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T37)
    }

    #[test]
    fn writes_that_allocate_and_wait_are_behind_the_lock() {
        let bench = eight(0, 7.8);
        let found = verdict(&bench.record);
        assert_eq!(
            (found.trust, found.measures),
            (Trust::Doubtful, MeasuredSubject::Tool),
            "{found:?}"
        );
        let said = "Limited by the lock of the file: 8 writes were in flight, but loop3 had 0.9;";
        assert!(found.summary().starts_with(said), "{}", found.summary());
        assert!(found.findings.iter().all(|f| f.trap != TrapId::T55), "said once: {found:?}");
    }

    #[test]
    fn what_has_another_cause_is_not_the_lock() {
        assert!(!named(&eight(20, 7.8)), "overwrites");
        assert!(!named(&eight(0, 2.0)), "the program did not send them");
        let mut allocated = eight(0, 7.8);
        allocated.allocated_only();
        assert!(!named(&allocated), "blocks that are there, if never written");
        let mut limited = eight(0, 7.8);
        limited.capped(4 << 20);
        assert!(!named(&limited), "a limit");
        let mut memory = eight(0, 7.8);
        memory.layer_kind(LayerKind::Memory);
        assert!(!named(&memory), "a disk that answers at once");
        let mut busy = eight(0, 7.8);
        busy.work(0.95, 0.97);
        assert!(!named(&busy), "the CPU");
    }
}
