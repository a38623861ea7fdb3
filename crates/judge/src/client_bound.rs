//! T51: the program, or the CPU under it, set the rate.

use super::measure::PhaseView;
use super::threshold::{
    CPU_DEVICE, CPU_FULL, CPU_MOST, CPU_OF_BYTES, IDLE, MAKING, REACHED, SHORT,
};
use super::words::share;
use super::{Rule, RuleJudge, advice, copy_bound, explained, finding, refuted};
use assay_plan::plan::Action;
use assay_record::claim::{ExhibitOf, ExhibitSource, LimitClaim};
use assay_record::evidence::LeafKind;
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, Remedy, TimeBalance, TimeHolder,
    TrapId,
};

/// Each worker used up a CPU while the device had time left.
pub const RULE: Rule = Rule {
    id: TrapId::T51,
    title: "CPU-bound",
    happens: "The program, or generating its data, is slower than the device.",
    seen_by: "CPU time of each worker, busy time of the device, time in reads from a source that stores nothing.",
    said_when: "Each worker uses at least {CPU_FULL} of a CPU ({CPU_OF_BYTES}, waiting for a CPU included, with one call per byte) while the device is busy for less than {CPU_DEVICE}, or {CPU_MOST} for buffered calls while it is busy for less than {IDLE}: doubtful, tool.",
    try_it: "`assay dd if=/dev/urandom of=x bs=1M count=150 conv=fsync` on a fast disk.",
    answer: "Says how much of the time went into generating data, and how much of a CPU the rest took.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    // What the program was busy with is said already where it was the copying.
    let said =
        |f: &Finding| f.measures == Some(MeasuredSubject::Limited) || f.trap == copy_bound::RULE.id;
    let limited = found.iter().any(said);
    let flow_view = phase_view
        .cases
        .iter()
        .find(|flow_view| flow_view.on_devices() && flow_view.top().is_some())?;
    let idle = phase_view
        .cases
        .iter()
        .flat_map(|flow_view| flow_view.levels.iter())
        .all(|level| level.in_flight() < 1.0);
    if !refuted(found)
        && !limited
        && let Some(making) = making_data(phase_view).or_else(|| single_bytes(phase_view, ledger))
    {
        return Some(making);
    }
    let balance = ledger.time.as_ref()?;
    let cpu = balance.on_cpu;
    if refuted(found) || limited {
        return None;
    }
    if cpu < CPU_FULL || phase_view.work() >= CPU_DEVICE || !idle {
        return idle_meanwhile(phase_view, found, balance);
    }
    let mut because =
        vec![Exhibit::new(ExhibitOf::CpuPerWorker, share(cpu), ExhibitSource::ThreadClocks)];
    because.extend(flow_view.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::CpuBound { device: flow_view.named(), cpu: share(cpu) },
        because,
        advice::less_cpu(flow_view),
    ))
}

/// Calls that ended in memory kept the program at work, and the device was idle for most of the time.
fn idle_meanwhile(
    phase_view: &PhaseView<'_>,
    found: &[Finding],
    balance: &TimeBalance,
) -> Option<Finding> {
    let (work, cpu) = (phase_view.work(), balance.on_cpu);
    let flow_view = phase_view.cases.iter().find(|flow_view| {
        // One small read at a time waits for the device, by turns with the program.
        let alone = flow_view.reads() && !flow_view.flow.sequential;
        let through = flow_view.reach().is_some_and(|(reach, _)| reach >= REACHED);
        flow_view.on_devices() && flow_view.flow.caching.through_memory() && through && !alone
    })?;
    let level = flow_view.top()?;
    let apart = phase_view.paced() || phase_view.of_trees() || explained(found);
    if apart || cpu < CPU_MOST || work >= IDLE || flow_view.time() < SHORT {
        return None;
    }
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::ProgramBound {
            device: level.name(),
            reads: flow_view.reads(),
            cpu: share(cpu),
            idle: share(balance.share(TimeHolder::Cpu)),
        },
        vec![
            Exhibit::new(ExhibitOf::CpuPerWorker, share(cpu), ExhibitSource::ThreadClocks),
            level.exhibit_work(),
        ],
        advice::direct(flow_view),
    ))
}

/// A copy from something that stores nothing, whose reads took most of the time.
fn making_data(phase_view: &PhaseView<'_>) -> Option<Finding> {
    let source = phase_view.cases.iter().find(|flow_view| flow_view.reads())?;
    let LeafKind::Nothing(name) = &source.subject.bottom else { return None };
    phase_view.phase.copy?;
    let reads = phase_view.phase.totals.get(&Action::Read)?;
    let spent =
        reads.lat_ns?.mean * reads.ops.0 as f64 / phase_view.phase.span.time().0.max(1) as f64;
    if spent < MAKING || phase_view.work() >= CPU_DEVICE {
        return None;
    }
    let writes = phase_view.cases.iter().find(|flow_view| flow_view.writes());
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::SourceBound { generating: share(spent) },
        vec![Exhibit::new(
            ExhibitOf::TimeInReads(name.clone()),
            share(spent),
            ExhibitSource::RunClock,
        )],
        writes.and_then(advice::own_data),
    ))
}

/// Each byte is a call of its own, to the kernel or to the C library, and calls are what the CPU did.
fn single_bytes(phase_view: &PhaseView<'_>, ledger: &PhaseLedger) -> Option<Finding> {
    let mut own = phase_view.record.jobs_of(phase_view.phase);
    let job = own.find(|job| job.method.is_bytewise())?;
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let balance = ledger.time.as_ref()?;
    let (cpu, waited) = (balance.on_cpu, balance.share(TimeHolder::CpuWait));
    let processor = cpu + waited;
    if processor < CPU_OF_BYTES || phase_view.work() >= CPU_DEVICE {
        return None;
    }
    let mut because = vec![
        Exhibit::new(ExhibitOf::CpuPerWorker, share(cpu), ExhibitSource::ThreadClocks),
        Exhibit::new(ExhibitOf::WaitingForCpu, share(waited), "schedstat"),
    ];
    because.extend(flow_view.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::BytewiseBound {
            device: flow_view.named(),
            method: job.method.name().into(),
            cpu: share(processor),
        },
        because,
        advice::load(flow_view, Remedy::OtherBlocks),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_full_cpu_and_an_idle_device_are_the_tool() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.4, 0.95);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Tool));
    }

    #[test]
    fn a_full_cpu_and_a_busy_device_are_the_device() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.95, 0.99);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_device_that_was_idle_while_the_program_worked_is_not_praised() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.18, 0.85);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Tool));
        let said = "Limited by the program, not by loop3: it was on a CPU 85 % of the time (copying into the page cache included), 82 % while loop3 had nothing to do.";
        assert_eq!(found.summary(), said);
        // However many requests were in flight in the little time in which it worked.
        bench.in_flight(1.3);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Tool);
        for (busy, cpu) in [(0.55, 0.85), (0.55, 0.3)] {
            bench.work(busy, cpu);
            assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
        }
    }

    #[test]
    fn half_a_cpu_is_enough_where_each_byte_is_a_call() {
        for (cpu, trust) in [(0.6, Trust::Doubtful), (0.4, Trust::Sound)] {
            let mut bench = DoctoredRecord::write_flushed();
            bench.work(0.6, cpu);
            assert_eq!(verdict(&bench.record).trust, Trust::Sound);
            bench.bytewise(cpu);
            assert_eq!(verdict(&bench.record).trust, trust);
        }
    }
}
