//! T51: the program, or the CPU under it, set the rate.

use super::measure::Stage;
use super::threshold::{CPU_DEVICE, CPU_FULL};
use super::words::share;
use super::{Judge, Rule, finding, refuted};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Each worker used up a CPU while the device had time left.
pub const RULE: Rule = Rule { id: "T51", title: "Bound by the CPU", judge: Judge::Phase(judge) };

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let limited = found.iter().any(|f| f.measures == Some(Measures::Limited));
    let case = stage.cases.iter().find(|case| case.on_devices() && case.top().is_some())?;
    let cpu = stage.cpu_share()?;
    let idle =
        stage.cases.iter().flat_map(|case| &case.levels).all(|level| level.in_flight() < 1.0);
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
}
