//! What held the run when: the terms of its time, in the order in which they were seen.
//!
//! Of each sample it is known whether it came, which state most of the threads were in, and which limit was there. What a
//! thread that waits for its I/O waited for in this sample is taken from the balance of the whole time.

use super::super::limits;
use super::super::measure::{FlowView, PhaseView};
use super::time::{WaitKind, gaps, kind};
use assay_plan::unit::Nanos;
use assay_record::evidence::ThreadStates;
use assay_record::record::{HeldSpan, TimeBalance, TimeHolder};

/// As many stretches as a picture has room for; where there were more, each is what most of it was.
const SPANS: usize = 100;

/// The stretches of a phase, one after the other; none where one thing held it all the time, or its states were not
/// kept.
pub fn held(phase_view: &PhaseView<'_>, balance: &TimeBalance) -> Vec<HeldSpan> {
    let Some(states) = phase_view.phase.evidence.states.as_ref() else { return Vec::new() };
    if states.samples.is_empty() {
        return Vec::new();
    }
    let samples = samples(phase_view, balance, states);
    let each = samples.len().div_ceil(SPANS).max(1);
    let mut spans: Vec<HeldSpan> = Vec::new();
    for span in samples.chunks(each).filter_map(most) {
        match spans.last_mut() {
            Some(last) if last.held_by == span.held_by => last.to = span.to,
            _ => spans.push(span),
        }
    }
    if spans.len() > 1 { spans } else { Vec::new() }
}

/// What held the run in each sample.
fn samples(
    phase_view: &PhaseView<'_>,
    balance: &TimeBalance,
    states: &ThreadStates,
) -> Vec<HeldSpan> {
    let end = phase_view.phase.span.length();
    let gaps = gaps(phase_view);
    let mut from = Nanos::ZERO;
    let mut spans = Vec::new();
    for (number, point) in phase_view.phase.series.points.iter().enumerate() {
        let to = point.at_ns.min(end);
        if to <= from {
            continue;
        }
        let stopped = gaps.iter().any(|(begin, end)| (*begin, *end) == (from, point.at_ns));
        let held_by = match states.in_sample(number).map(kind) {
            _ if stopped => Some(TimeHolder::Stopped),
            None => None,
            Some(None) => larger(balance, &[TimeHolder::Cpu, TimeHolder::CpuWait]),
            Some(Some(WaitKind::Pause)) => Some(TimeHolder::Pause),
            Some(Some(WaitKind::OtherEnd)) => Some(TimeHolder::OtherEnd),
            Some(Some(WaitKind::Server)) => Some(TimeHolder::Server),
            Some(Some(WaitKind::Stopped)) => Some(TimeHolder::Stopped),
            Some(Some(WaitKind::Memory)) if balance.share(TimeHolder::Memory) > 0.0 => {
                Some(TimeHolder::Memory)
            }
            Some(Some(WaitKind::Io | WaitKind::Memory)) => for_io(phase_view, balance, to),
        };
        spans.push(HeldSpan { from, to, held_by });
        from = to;
    }
    spans
}

/// What a thread waits for that waits for its I/O at this moment; `None` where most of that is unexplained.
fn for_io(phase_view: &PhaseView<'_>, balance: &TimeBalance, at: Nanos) -> Option<TimeHolder> {
    use TimeHolder::{Device, Limit, OthersAtDevice, Pause, WakeUp};
    let limited = |flow_view: &FlowView<'_>| limits::there(flow_view, at);
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let found = match on_devices.any(limited) {
        true => larger(balance, &[Limit, Device, OthersAtDevice, WakeUp, Pause]),
        false => larger(balance, &[Device, OthersAtDevice, WakeUp, Pause]),
    };
    found.filter(|held_by| balance.share(*held_by) >= balance.unexplained)
}

/// Which of these the balance has most of; `None` where it has none of them.
fn larger(balance: &TimeBalance, of: &[TimeHolder]) -> Option<TimeHolder> {
    // The terms stand in order.
    balance.terms.iter().map(|term| term.held_by).find(|held_by| of.contains(held_by))
}

/// Several samples as one: what held the run for most of them.
fn most(samples: &[HeldSpan]) -> Option<HeldSpan> {
    let (first, last) = (samples.first()?, samples.last()?);
    let time = |held_by: Option<TimeHolder>| -> Nanos {
        let these = samples.iter().filter(|span| span.held_by == held_by);
        these.map(|span| span.to.less(span.from)).sum()
    };
    let held_by = samples.iter().map(|span| span.held_by).max_by_key(|held_by| time(*held_by))?;
    Some(HeldSpan { from: first.from, to: last.to, held_by })
}

#[cfg(test)]
mod tests {
    use super::super::super::bench::DoctoredRecord;
    use super::super::of_phase;
    use super::*;
    use assay_plan::unit::MIB;

    fn told(bench: &DoctoredRecord) -> Vec<(u64, u64, Option<TimeHolder>)> {
        let phase_view = PhaseView::new(&bench.record, &bench.record.phases[0]);
        let spans = of_phase(&phase_view).held;
        let ms = |time: Nanos| time.0 / 1_000_000;
        spans.iter().map(|span| (ms(span.from), ms(span.to), span.held_by)).collect()
    }

    /// A direct write in 50 samples in which its thread was seen so.
    fn seen(states: &[(&str, u32)]) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.device_series(&[MIB / 4; 50]);
        bench.lasted(Nanos::secs(5));
        bench.looked_at_in_turn(states);
        bench
    }

    #[test]
    fn each_wait_stands_at_its_time() {
        let wait = "D __iomap_dio_rw";
        let mut bench = seen(&[(wait, 20), ("S anon_pipe_read", 10), (wait, 20)]);
        bench.work(0.75, 0.05);
        let (device, pipe) = (Some(TimeHolder::Device), Some(TimeHolder::OtherEnd));
        let expected = [(0, 2000, device), (2000, 3000, pipe), (3000, 5000, device)];
        assert_eq!(told(&bench), expected);
        // All the time the same.
        assert_eq!(told(&seen(&[(wait, 50)])), []);
    }

    #[test]
    fn a_limit_holds_as_long_as_it_is_there() {
        let mut bench = seen(&[("D __iomap_dio_rw", 50)]);
        bench.work(0.25, 0.0);
        bench.capped(5 * MIB / 2);
        bench.record.phases[0].evidence.limit_changes =
            vec![assay_record::record::LimitChange { at_ns: Nanos::secs(4), io: Vec::new() }];
        let (limit, device) = (Some(TimeHolder::Limit), Some(TimeHolder::Device));
        assert_eq!(told(&bench), [(0, 4000, limit), (4000, 5000, device)]);
    }

    #[test]
    fn a_gap_between_samples_is_a_stop() {
        let mut bench = seen(&[("D __iomap_dio_rw", 50)]);
        for point in &mut bench.record.phases[0].series.points[20..] {
            point.at_ns += Nanos::secs(2);
        }
        bench.lasted(Nanos::secs(7));
        bench.work(0.7, 0.0);
        let (stopped, device) = (Some(TimeHolder::Stopped), Some(TimeHolder::Device));
        let expected = [(0, 2000, device), (2000, 4100, stopped), (4100, 7000, device)];
        // The sample with the gap has its own tenth, too.
        assert_eq!(told(&bench), expected);
    }
}
