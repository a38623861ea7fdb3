//! T51: the program, or the CPU under it, set the rate.

use super::measure::Stage;
use super::threshold::{CPU_DEVICE, CPU_FULL, CPU_OF_BYTES, MAKING};
use super::words::share;
use super::{Judge, Rule, copy_bound, finding, refuted};
use crate::evidence::Bottom;
use crate::plan::Action;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Nanos;

/// Each worker used up a CPU while the device had time left.
pub const RULE: Rule = Rule {
    id: "T51",
    title: "Bound by the CPU",
    happens: "The program, or the making of its data, is slower than the device.",
    seen_by: "CPU time of each worker, device busy, time in reads of a source that stores nothing.",
    said_when: "CPU at least {CPU_FULL} of one per worker ({CPU_OF_BYTES}, with waiting for one, where each byte is a call of its own) while the device works for less than {CPU_DEVICE}: doubtful, tool.",
    try_it: "`assay dd if=/dev/urandom of=x bs=1M count=150 conv=fsync` on a fast disk.",
    answer: "Says how much of the time went to making data, and how much of a CPU to the rest.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    // What the program was busy with is said already where it was the copying.
    let said =
        |f: &Finding| f.measures == Some(Measures::Limited) || f.trap.0 == copy_bound::RULE.id;
    let limited = found.iter().any(said);
    let case = stage.cases.iter().find(|case| case.on_devices() && case.top().is_some())?;
    let idle =
        stage.cases.iter().flat_map(|case| &case.levels).all(|level| level.in_flight() < 1.0);
    if !refuted(found)
        && !limited
        && let Some(making) = making_data(stage).or_else(|| single_bytes(stage))
    {
        return Some(making);
    }
    let cpu = stage.cpu_share()?;
    if refuted(found) || limited || cpu < CPU_FULL || stage.work() >= CPU_DEVICE || !idle {
        return None;
    }
    let mut because = vec![Exhibit::new("CPU time of each worker", share(cpu), "/proc/self/stat")];
    because.extend(case.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Tool),
        format!(
            "The CPU set the rate: each worker used {} of one, and {} had time left.",
            share(cpu),
            case.named()
        ),
        because,
        Some(Next::Do("use larger blocks, more workers, or direct I/O".into())),
    ))
}

/// A copy from something that stores nothing, whose reads took most of the time.
fn making_data(stage: &Stage<'_>) -> Option<Finding> {
    let source = stage.cases.iter().find(|case| case.reads())?;
    let Bottom::Nothing(name) = &source.subject.bottom else { return None };
    stage.phase.copy?;
    let reads = stage.phase.totals.get(&Action::Read)?;
    let spent = reads.lat_ns?.mean * reads.ops.0 as f64 / stage.phase.span.time().0.max(1) as f64;
    if spent < MAKING || stage.work() >= CPU_DEVICE {
        return None;
    }
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Tool),
        format!("The source set the rate: {} of the time went to making data.", share(spent)),
        vec![Exhibit::new(format!("time in reads of {name}"), share(spent), "the run's clock")],
        Some(Next::Do(format!("copy from /dev/zero, or put the data of {name} into a file first"))),
    ))
}

/// Each byte is a call of its own, to the kernel or to the C library, and calls are what the CPU did.
fn single_bytes(stage: &Stage<'_>) -> Option<Finding> {
    let jobs = &stage.record.resolved.jobs;
    let mut own = jobs.iter().filter(|job| job.phase == stage.phase.name);
    let job = own.find(|job| job.method.is_bytewise())?;
    let case = stage.cases.iter().find(|case| case.on_devices())?;
    let all = case.time().0.saturating_mul(stage.workers()).max(1);
    let waited = stage.phase.evidence.ran.as_ref().and_then(|ran| ran.waited).unwrap_or_default();
    let part = |time: Nanos| time.0 as f64 / all as f64;
    let cpu = part(stage.phase.cpu?);
    let processor = cpu + part(waited);
    if processor < CPU_OF_BYTES || stage.work() >= CPU_DEVICE {
        return None;
    }
    let mut because = vec![
        Exhibit::new("CPU time of each worker", share(cpu), "its thread's clock"),
        Exhibit::new("it waited for a CPU", share(part(waited)), "schedstat"),
    ];
    because.extend(case.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Tool),
        format!(
            "Each byte is a call of its own ({}): each worker was on a CPU or waited for one for {} of the time, and {} had time left.",
            job.method.name(),
            share(processor),
            case.named()
        ),
        because,
        Some(by_blocks()),
    ))
}

/// What to do about a figure of single bytes.
pub(super) fn by_blocks() -> Next {
    Next::Do("take the block figures for the device: these are of the processor".into())
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn a_full_cpu_and_an_idle_device_are_the_tool() {
        let mut bench = Bench::write_flushed();
        bench.work(0.4, 0.95);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Tool));
    }

    #[test]
    fn a_full_cpu_and_a_busy_device_are_the_device() {
        let mut bench = Bench::write_flushed();
        bench.work(0.95, 0.99);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn half_a_cpu_is_enough_where_each_byte_is_a_call() {
        for (cpu, trust) in [(0.6, Trust::Doubtful), (0.4, Trust::Sound)] {
            let mut bench = Bench::write_flushed();
            bench.work(0.4, cpu);
            assert_eq!(verdict(&bench.record).trust, Trust::Sound);
            bench.bytewise(cpu);
            assert_eq!(verdict(&bench.record).trust, trust);
        }
    }
}
