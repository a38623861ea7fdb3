//! T53: copying between program and page cache is what took the time.

use super::measure::Stage;
use super::threshold::{COPYING, CPU_DEVICE, REACHED};
use super::words::{pace, share};
use super::{Judge, Rule, finding, refuted};
use crate::evidence::Direction;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Buffered I/O went nearly as fast as this machine copies, while the device had time left.
pub const RULE: Rule = Rule {
    id: "T53",
    title: "The copy in memory is the limit",
    happens: "Copying from the page cache is slower than the device.",
    seen_by: "The rate of reads or writes of a file in memory, by calls of the same size, measured after the phase; the rate; time at work of the device.",
    said_when: "Buffered I/O that all came from the device, or went there, at more than {COPYING} of that rate for each worker that has a CPU, while the device worked for less than {CPU_DEVICE}: doubtful, tool.",
    try_it: "`assay dd if=x of=/dev/null bs=1M` with x out of memory, on a fast NVMe drive and a slow processor.",
    answer: "Own verbs go past the page cache where that is real.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let limited =
        found.iter().any(|f| matches!(f.measures, Some(Measures::Limited | Measures::Disturbed)));
    let copying = stage.phase.evidence.copying.as_ref()?.seen()?;
    let case = stage.cases.iter().find(|case| {
        let through = case.reach().is_some_and(|(reach, _)| reach >= REACHED);
        case.on_devices() && case.flow.caching.through_memory() && through
    })?;
    if refuted(found) || limited || stage.paced() || stage.work() >= CPU_DEVICE {
        return None;
    }
    let (one, way) = match case.direction() {
        Direction::Read => (copying.from, "from"),
        Direction::Write => (copying.into, "into"),
    };
    let side_by_side = stage.workers().min(u64::from(stage.record.machine.cpus)).max(1);
    let most = one * side_by_side as f64;
    let rate = case.flow.bytes.over(case.time())?.0;
    if rate <= most * COPYING {
        return None;
    }
    let near = match rate / most {
        1.0.. => "as fast as".to_string(),
        part => format!("at {} of the speed at which", share(part)),
    };
    let mut because = vec![
        Exhibit::new(
            format!("copied {way} the page cache in calls of {}", copying.block),
            format!("{} by {side_by_side}", pace(most)),
            "reads and writes of a file in memory",
        ),
        Exhibit::new("reached", pace(rate), "the run's clock and counts"),
    ];
    because.extend(case.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Tool),
        format!(
            "Copying in memory set the rate: it went {near} the machine copies {way} its page cache, and {} had time left.",
            case.named()
        ),
        because,
        Some(Next::Do(
            "go past the page cache (dd: iflag=direct or oflag=direct; in a plan: caching direct)"
                .into(),
        )),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    /// A cold buffered read of 20 MiB at 16.7 MB per second by a machine that copies so many MB per
    /// second.
    fn copies(mb: f64, busy: f64) -> Bench {
        let mut bench = Bench::read_cold();
        bench.work(busy, 0.95);
        bench.copies(mb * 1e6);
        bench
    }

    #[test]
    fn a_rate_near_that_of_copying_is_the_tools() {
        let found = verdict(&copies(20.0, 0.5).record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Tool));
        let said = "Copying in memory set the rate: it went at 83 % of the speed at which the machine copies from its page cache, and loop3 had time left.";
        assert_eq!(found.summary, said);
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        assert!(!traps.contains(&"T51"), "said once: {traps:?}");
    }

    #[test]
    fn a_fast_machine_a_busy_device_and_direct_reads_are_not_bound_by_it() {
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T53");
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
