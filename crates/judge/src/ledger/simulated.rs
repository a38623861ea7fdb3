//! Runs of a modelled machine, whose balance is known from the way each was made.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::super::bench::{DoctoredRecord, verdict};
use super::super::measure::PhaseView;
use super::time::time;
use assay_plan::unit::Nanos;
use assay_record::record::{FindingWeight, TimeHolder, TrapId};

/// So many runs are drawn.
const SEEDS: u32 = 10_000;

/// How long each modelled run takes.
const TIME: Nanos = Nanos::secs(20);
/// Looks at its thread.
const SEEN: f64 = 200.0;
/// How often it sleeps.
const SLEEPS: u64 = 50;

/// A run whose thread did nothing but this, in shares of the time; what is left over it was at the device.
#[derive(Clone, Copy, Debug)]
struct ModelledRun {
    cpu: f64,
    cpu_wait: f64,
    stopped: f64,
    other_end: f64,
    pause: f64,
    server: f64,
    /// Part of what is left over in which the device had nothing of it.
    held: f64,
    limited: bool,
}

impl ModelledRun {
    /// The share that was spent in I/O.
    fn io(self) -> f64 {
        1.0 - self.cpu - self.cpu_wait - self.stopped - self.other_end - self.pause - self.server
    }

    fn device(self) -> f64 {
        self.io() * (1.0 - self.held)
    }

    /// What the kernel would have counted.
    fn counted(self) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        // 20 MiB at its pace, in 200 samples of a tenth of a second with one gap.
        let samples = ((1.0 - self.stopped) * 200.0).round() as usize;
        bench.device_series(&vec![20 * assay_plan::unit::MIB / samples as u64; samples]);
        let gap = TIME.less(Nanos::millis(100 * samples as u64));
        for point in &mut bench.record.phases[0].series.points[samples / 2..] {
            point.at_ns += gap;
        }
        bench.lasted(TIME);
        bench.work(self.device(), self.cpu);
        let time = |share: f64| Nanos((TIME.0 as f64 * share) as u64);
        bench.ran(&[0], Some(time(self.cpu_wait)));
        // It slept fifty times, and was given a CPU for 4 ms each time.
        let waits = time(self.cpu_wait).0 / 4_000_000;
        bench.switched(SLEEPS, waits.saturating_sub(SLEEPS));
        bench.record.phases[0].cpu = Some(time(self.cpu));
        let looks = |share: f64| (share * SEEN).round() as u32;
        bench.looked_at(&[
            ("R", looks(self.cpu + self.cpu_wait)),
            ("D folio_wait_bit_common", looks(self.io())),
            ("S anon_pipe_read", looks(self.other_end)),
            ("S hrtimer_nanosleep", looks(self.pause)),
            ("S request_wait_answer", looks(self.server)),
        ]);
        if self.limited {
            bench.capped(assay_plan::unit::MIB);
        }
        bench
    }
}

fn runs() -> impl Strategy<Value = ModelledRun> {
    let part = || 0.0_f64..1.0;
    (prop::array::uniform7(part()), part(), any::<bool>()).prop_map(|(parts, held, limited)| {
        let all: f64 = parts.iter().sum::<f64>().max(1e-9);
        let [cpu, cpu_wait, stopped, other_end, pause, server, _] = parts.map(|part| part / all);
        // Shorter gaps are late samples.
        let stopped = if stopped < 0.03 { 0.0 } else { stopped };
        ModelledRun { cpu, cpu_wait, stopped, other_end, pause, server, held, limited }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(SEEDS))]

    #[test]
    fn what_a_run_was_made_of_is_found_again(run in runs()) {
        let bench = run.counted();
        let phase_view = PhaseView::new(&bench.record, &bench.record.phases[0]);
        let balance = time(&phase_view, &[]).expect("a balance");
        let near = |held_by: TimeHolder, share: f64| {
            let found = balance.share(held_by);
            prop_assert!((found - share).abs() < 0.05, "{held_by:?} {found} {share} {run:?} {balance:?}");
            Ok(())
        };
        near(TimeHolder::Cpu, run.cpu)?;
        near(TimeHolder::CpuWait, run.cpu_wait)?;
        near(TimeHolder::Stopped, run.stopped)?;
        near(TimeHolder::OtherEnd, run.other_end)?;
        near(TimeHolder::Pause, run.pause)?;
        near(TimeHolder::Server, run.server)?;
        // A device that works while the thread is on a CPU holds the run: not in this model.
        near(TimeHolder::Device, run.device())?;
        let held = run.io() * run.held;
        near(TimeHolder::Limit, if run.limited { held } else { 0.0 })?;
        let rest = if run.limited { 0.0 } else { held };
        prop_assert!((balance.unexplained - rest).abs() < 0.05, "{rest} {balance:?}");
        let sum: f64 = balance.terms.iter().map(|term| term.share).sum();
        // Terms that are too small are left out.
        prop_assert!((sum + balance.unexplained - 1.0).abs() < 0.006, "{balance:?}");
    }
}

/// What an honest run is: one I/O at a time, of which the device has most, the program makes its data and is woken,
/// and now and then another program has the CPU.
#[derive(Clone, Copy, Debug)]
struct HonestRun {
    /// Mean time of an I/O at the device.
    at_device: Nanos,
    /// CPU time for each.
    cpu: Nanos,
    /// From the device's answer until its thread runs, and what this machine has measured of that before.
    wake_up: Nanos,
    measured: Nanos,
    /// Wait for a CPU after each sleep.
    wait: Nanos,
    /// The kernel's counters are read so much too late.
    late: Nanos,
    /// Of the looks this share meets the thread elsewhere than its time does.
    noise: f64,
}

impl HonestRun {
    /// What the kernel would have counted in five seconds.
    fn counted(self) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let wall = Nanos::secs(5);
        let each = self.at_device + self.cpu + self.wake_up + self.wait;
        let ios = wall.0 / each.0.max(1);
        bench.lasted(wall);
        let share = |part: Nanos| (part.0 * ios) as f64 / wall.0 as f64;
        let late = self.late.0 as f64 / wall.0 as f64;
        bench.work((share(self.at_device) - late).max(0.0), share(self.cpu));
        bench.record.phases[0].cpu = Some(Nanos(self.cpu.0 * ios));
        bench.ran(&[0], Some(Nanos(self.wait.0 * ios)));
        bench.switched(ios, 0);
        bench.record.hosts[0].machine.wake_up = Some(self.measured);
        let looks = |share: f64| (share * 50.0).round() as u32;
        let awake = (share(self.cpu) + share(self.wait) + self.noise).clamp(0.0, 1.0);
        bench.looked_at(&[("R", looks(awake)), ("D __iomap_dio_rw", looks(1.0 - awake))]);
        bench
    }
}

fn honest() -> impl Strategy<Value = HonestRun> {
    let us = |us: std::ops::Range<u64>| us.prop_map(Nanos::micros);
    // A wake-up takes as long as was measured, give or take a third: two processors are not alike.
    let wake_up = (1_u64..120, 0.67_f64..1.33);
    (us(20..20_000), us(2..60), wake_up, us(0..20), us(0..2_000), -0.2_f64..0.2).prop_map(
        |(at_device, cpu, (measured, factor), wait, late, noise)| HonestRun {
            at_device,
            cpu,
            wake_up: Nanos((measured as f64 * factor * 1e3) as u64),
            measured: Nanos::micros(measured),
            wait,
            late,
            noise,
        },
    )
}

#[test]
fn of_ten_thousand_honest_runs_less_than_ten_are_accused() {
    let mut runner = TestRunner::deterministic();
    let mut accused = Vec::new();
    for _ in 0..SEEDS {
        let run = honest().new_tree(&mut runner).expect("drawn").current();
        let found = verdict(&run.counted().record);
        let said = found.findings.iter().find(|f| f.weight > FindingWeight::Note);
        accused.extend(said.map(|finding| format!("{run:?}: {}", finding.text())));
    }
    assert!(accused.len() < SEEDS as usize / 1000, "{}: {accused:#?}", accused.len());
}

#[test]
fn who_is_held_above_the_device_for_a_tenth_of_the_time_is_not_called_sound() {
    let mut runner = TestRunner::deterministic();
    let mut missed = Vec::new();
    for _ in 0..SEEDS / 10 {
        let run = honest().new_tree(&mut runner).expect("drawn").current();
        // Something unseen holds each I/O for as long as the device takes and its thread to wake three times.
        let held = run.at_device + Nanos(run.measured.0 * 3);
        let mut bench = run.counted();
        let each = run.at_device + run.cpu + run.wake_up + run.wait;
        let stretched = Nanos(5_000_000_000 / each.0.max(1) * (each + held).0);
        bench.lasted(stretched);
        let found = verdict(&bench.record);
        if found.findings.iter().all(|f| f.trap != TrapId::T73)
            && found.trust == assay_record::record::Trust::Sound
        {
            missed.push(format!("{run:?}: {}", found.summary()));
        }
    }
    assert!(missed.len() < SEEDS as usize / 1000, "{}: {missed:#?}", missed.len());
}
