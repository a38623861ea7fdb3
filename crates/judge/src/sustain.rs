//! What a device keeps up: its burst, the rate that lasts, and its stalls.

use super::measure::PhaseView;
use super::stalls;
use super::threshold::{CLIFF, CLIFF_INTERVAL, CLIFF_INTERVALS};
use assay_plan::plan::Caching;
use assay_plan::stats::{SIDE, SteadyState, fall};
use assay_plan::unit::{Bandwidth, Bytes, Nanos};
use assay_record::record::{PhaseRecord, Record, SamplePoint, SustainedResult, WrittenSpan};

/// What came of writing for long.
pub struct SustainedView<'a> {
    /// The phase that wrote.
    pub phase: &'a PhaseRecord,
    /// All of its time in equal intervals.
    pub intervals: Vec<WrittenSpan>,
    /// The fast start, when there was one.
    pub burst: Option<WrittenSpan>,
    /// What came after it, or everything.
    pub rest: WrittenSpan,
    /// The rounds in which the rate was steady, and when it was, after the start.
    pub steady: Option<(&'a SteadyState, Nanos)>,
    /// Times in which next to nothing was written.
    pub stalls: Vec<Nanos>,
}

impl<'a> SustainedView<'a> {
    /// What the last phase of a record has of it; `None` where nothing was written.
    pub fn of(record: &'a Record) -> Option<Self> {
        let phase = record.phases.last()?;
        let phase_view = PhaseView::new(record, phase);
        let intervals = intervals(phase, step(phase));
        let all = total(&intervals);
        (all.bytes > Bytes::ZERO).then_some(())?;
        let rates: Vec<f64> = intervals.iter().map(WrittenSpan::rate).collect();
        let split = fall(&rates, CLIFF, SIDE).map(|at| intervals.split_at(at));
        let steadied = phase.steady.first();
        Some(Self {
            phase,
            burst: split.map(|(before, _)| total(before)),
            rest: split.map_or(all, |(_, after)| total(after)),
            steady: steadied.and_then(|found| found.state.as_ref().zip(found.after)),
            stalls: stalls::stalls(&phase_view, split.is_some()),
            intervals,
        })
    }

    /// The rate that lasts, bytes per second: that of the steady rounds, else of all after the burst.
    pub fn rate(&self) -> f64 {
        self.steady.map_or(self.rest.rate(), |(state, _)| state.mean)
    }

    /// Everything that was written, and in which time.
    pub fn all(&self) -> WrittenSpan {
        total(&self.intervals)
    }
}

/// What the last phase of a record has of it; `None` where nothing was written.
pub fn endurance(record: &Record) -> Option<SustainedResult> {
    let found = SustainedView::of(record)?;
    Some(SustainedResult {
        burst: found.burst,
        rate: Bandwidth(found.rate()),
        steady_after: found.steady.map(|(_, after)| after),
        written: found.all(),
        stalls: found.stalls,
    })
}

fn total(intervals: &[WrittenSpan]) -> WrittenSpan {
    WrittenSpan {
        time: intervals.iter().map(|interval| interval.time).sum(),
        bytes: intervals.iter().map(|interval| interval.bytes).sum(),
    }
}

/// Intervals in which a burst shows.
fn step(phase: &PhaseRecord) -> Nanos {
    let all = phase.span.stopped.since(phase.span.started);
    CLIFF_INTERVAL.max(Nanos(all.0 / CLIFF_INTERVALS))
}

/// The series in equal intervals of `step` or a sample more, without the closing flush. What goes past the page cache is at
/// the device when its call returns; of the rest the device's own counters tell.
pub(super) fn intervals(phase: &PhaseRecord, step: Nanos) -> Vec<WrittenSpan> {
    let direct = phase.flows.iter().all(|flow| flow.caching == Caching::Direct);
    let bytes = |point: &SamplePoint| match point.device_write_bytes {
        Some(bytes) if !direct => bytes,
        _ => point.write_bytes,
    };
    let end = phase.span.stopped.since(phase.span.started);
    let (mut steps, mut then, mut sum) = (vec![], Nanos::ZERO, Bytes::ZERO);
    for point in phase.series.points.iter().filter(|point| point.at_ns <= end) {
        sum += Bytes(bytes(point));
        let time = point.at_ns.less(then);
        if time >= step {
            steps.push(WrittenSpan { time, bytes: sum });
            (then, sum) = (point.at_ns, Bytes::ZERO);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;
    use assay_plan::plan::Plan;
    use assay_plan::plan::StudyPlan;
    use assay_plan::unit::MIB;

    /// A direct write of so many MiB in each tenth of a second.
    fn record(mebibytes: &[u64]) -> Record {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.lasted(Nanos::millis(100 * mebibytes.len() as u64));
        bench.series(mebibytes);
        Record {
            plan: Plan { aim: Some(StudyPlan::Sustain), ..bench.record.plan.clone() },
            ..bench.record
        }
    }

    #[test]
    fn a_burst_has_a_size_and_a_rate() {
        let points: Vec<u64> = (0..200).map(|n| if n < 40 { 16 } else { 1 }).collect();
        let record = record(&points);
        let found = SustainedView::of(&record).expect("written");
        let burst = found.burst.expect("a burst");
        assert_eq!((burst.bytes, burst.time), (Bytes(640 * MIB), Nanos::secs(4)));
        assert_eq!(found.rest, WrittenSpan { time: Nanos::secs(16), bytes: Bytes(160 * MIB) });
        assert_eq!(found.rate(), 10.0 * MIB as f64);
        assert_eq!(found.all().bytes, Bytes(800 * MIB));
        assert_eq!(found.stalls, []);
    }

    #[test]
    fn an_even_rate_has_none_and_a_stall_is_counted() {
        let mut points = [4; 100];
        let even = record(&points);
        assert_eq!(SustainedView::of(&even).expect("written").burst, None);
        points[50..65].fill(0);
        let stalled = record(&points);
        let found = SustainedView::of(&stalled).expect("written");
        assert_eq!((found.burst, found.stalls), (None, vec![Nanos::millis(1500)]));
    }
}
