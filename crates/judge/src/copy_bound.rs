//! T53: copying between program and page cache is what took the time.

use super::measure::PhaseView;
use super::threshold::{COPYING, CPU_DEVICE, REACHED};
use super::words::{pace, share};
use super::{Rule, RuleJudge, advice, disturbed, finding, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LimitClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Buffered I/O went nearly as fast as this machine copies, while the device had time left.
pub const RULE: Rule = Rule {
    id: TrapId::T53,
    title: "Limited by the memory copy",
    happens: "Copying to or from the page cache is slower than the device.",
    seen_by: "The rate of reads or writes of a cached file with calls of the same size, measured after the phase; the rate of the run; busy time of the device.",
    said_when: "Buffered I/O that all came from the device, or reached it, at more than {COPYING} of that rate for each worker that has a CPU, while the device was busy for less than {CPU_DEVICE}: doubtful, tool.",
    try_it: "`assay dd if=x of=/dev/null bs=1M` with x not cached, on a fast NVMe drive and a slow CPU.",
    answer: "Own verbs use direct I/O where it is real.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let limited =
        disturbed(found) || found.iter().any(|f| f.measures == Some(MeasuredSubject::Limited));
    let copying = phase_view.phase.evidence.copying.as_ref()?.seen()?;
    let flow_view = phase_view.cases.iter().find(|flow_view| {
        let through = flow_view.reach().is_some_and(|(reach, _)| reach >= REACHED);
        flow_view.on_devices() && flow_view.flow.caching.through_memory() && through
    })?;
    if refuted(found) || limited || phase_view.paced() || phase_view.work() >= CPU_DEVICE {
        return None;
    }
    let one = if flow_view.reads() { copying.from } else { copying.into };
    let side_by_side = phase_view.workers().min(u64::from(phase_view.record.machine().cpus)).max(1);
    let most = one * side_by_side as f64;
    let rate = flow_view.flow.bytes.over(flow_view.time())?.0;
    if rate <= most * COPYING {
        return None;
    }
    let part = rate / most;
    let mut because = vec![
        Exhibit::new(
            ExhibitOf::CopiedThroughCache { reads: flow_view.reads(), block: copying.block },
            ExhibitValue::PaceByWorkers { pace: pace(most), workers: side_by_side },
            ExhibitSource::CachedFile,
        ),
        Exhibit::new(ExhibitOf::Reached, pace(rate), ExhibitSource::RunClockAndCounts),
    ];
    because.extend(flow_view.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::MemoryCopy {
            device: flow_view.named(),
            reads: flow_view.reads(),
            of_speed: (part < 1.0).then(|| share(part)),
        },
        because,
        advice::direct(flow_view),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    /// A cold buffered read of 20 MiB at 16.7 MB per second by a machine that copies so many MB per
    /// second.
    fn copies(mb: f64, busy: f64) -> DoctoredRecord {
        let mut bench = DoctoredRecord::read_cold();
        bench.work(busy, 0.95);
        bench.copies(mb * 1e6);
        bench
    }

    #[test]
    fn a_rate_near_that_of_copying_is_the_tools() {
        let found = verdict(&copies(20.0, 0.5).record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Tool));
        let said = "Limited by the copy from the page cache: it ran at 83 % of the speed at which this machine copies; loop3 was idle in between.";
        assert_eq!(found.summary(), said);
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap).collect();
        assert!(!traps.contains(&TrapId::T51), "said once: {traps:?}");
    }

    #[test]
    fn a_fast_machine_a_busy_device_and_direct_reads_are_not_bound_by_it() {
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T53)
        };
        assert!(!named(&copies(24.0, 0.5)), "70 %");
        assert!(!named(&copies(20.0, 0.9)), "the device was busy");
        let mut direct = copies(20.0, 0.5);
        direct.direct(true);
        assert!(!named(&direct));
        let mut cached = copies(20.0, 0.5);
        cached.was_read(Bytes::ZERO);
        assert!(!named(&cached), "memory: said by another rule");
    }
}
