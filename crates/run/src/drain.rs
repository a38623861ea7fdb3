//! What earlier programs have left in memory goes to the device before a run begins, which would wait for it, and be
//! taken for the speed of the device.

use std::fs::File;

use assay_engine::sys::clock;
use assay_engine::sys::event_loop::{Event, EventLoop};
use assay_plan::name;
use assay_plan::plan::{Phase, Plan, WorkerKind};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{PlanClaim, Preparation};
use assay_record::evidence::{CounterReader, PathKind, Snapshot, Subject};

use super::observer::Observer;

/// Less than this is what a machine has in memory all the time.
const LEAST: Bytes = Bytes::mib(1);
/// No longer than this is waited for: what is left then goes on beside the run.
const LONGEST: Nanos = Nanos::secs(60);
/// What is over sooner needs no word.
const SHORT: Nanos = Nanos::millis(100);

/// Flushes the file systems and devices of these subjects, as far as they lie on devices, where pages wait in memory. What
/// that came to, where it is worth a sentence. A signal ends it.
pub(super) fn drain(
    (plan, phase): (&Plan, &Phase),
    subjects: &[Subject],
    counter_reader: &CounterReader,
    event_loop: &EventLoop,
    observer: &mut dyn Observer,
    signal: &mut Option<i32>,
) -> Option<PlanClaim> {
    let first = counter_reader.snapshot(&[]);
    let memory = first.memory.seen()?;
    // A thread that hangs in its flush must not be there when processes are forked.
    let mut jobs = plan.phases.iter().flat_map(|phase| phase.jobs.iter());
    let forks = jobs.any(|job| job.worker_kind == WorkerKind::Processes);
    if forks || memory.dirty + memory.writeback < LEAST {
        return None;
    }
    let on_devices = subjects.iter().filter(|subject| !subject.stack.is_empty());
    let open = |subject: &Subject| {
        let path = name::path(&subject.path);
        Some((File::open(path).ok()?, subject.kind == PathKind::Device))
    };
    let files: Vec<(File, bool)> = on_devices.filter_map(open).collect();
    if files.is_empty() {
        return None;
    }
    let waker = event_loop.waker().ok()?;
    let began = clock::now();
    let flush = move || {
        for (file, device) in files {
            let _ = if device { rustix::fs::fsync(&file) } else { rustix::fs::syncfs(&file) };
        }
        waker.ring();
    };
    std::thread::Builder::new().spawn(flush).ok()?;
    loop {
        let time = clock::now().since(began);
        match event_loop.wait(SHORT) {
            Event::Bell => break,
            Event::Signal(came) => {
                *signal = Some(came);
                break;
            }
            Event::Nothing | Event::Continued(_) if time >= LONGEST => break,
            Event::Nothing | Event::Continued(_) => {
                observer.preparing(phase, Preparation::WritingOthers);
            }
        }
    }
    let time = clock::now().since(began);
    let now = counter_reader.snapshot(&[]);
    let tops: Vec<&str> = subjects
        .iter()
        .flat_map(|subject| subject.stack.iter().filter(|layer| layer.level == 0))
        .map(|layer| layer.name.as_str())
        .collect();
    let written = |snapshot: &Snapshot| -> Bytes {
        let here = snapshot.devices.iter().filter(|device| tops.contains(&device.name.as_str()));
        here.filter_map(|device| device.counters.seen())
            .map(|counters| Bytes(counters.write_bytes))
            .sum()
    };
    let written = written(&now).less(written(&first));
    (time >= SHORT && written >= LEAST).then(|| PlanClaim::WrittenBefore {
        written,
        time,
        more: time >= LONGEST,
    })
}
