//! One timed test at a time, or several that wait for slow cards, over all test binaries of all processes.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::den::{base, sweep_once};
use super::skip::broken;

thread_local! {
    static HELD: Cell<bool> = const { Cell::new(false) };
}

/// While it lives no other holder of one runs on this machine, or none but those that are beside. Take it before making
/// devices.
#[must_use = "the machine is yours only while this lives: let _alone = lab::alone();"]
pub struct Alone {
    _lock: File,
    how: FlockOperation,
    waited: Duration,
    since: Instant,
    // Belongs to the thread that took it, since that is how a second taking is noticed.
    _here: PhantomData<*const ()>,
}

/// Waits until no other test that measures time runs.
pub fn alone() -> Alone {
    hold(FlockOperation::LockExclusive)
}

/// Waits until nobody is alone; others may be beside. For tests of cards of a few MB per second, which wait most of
/// the time and leave machine-wide settings and caches as they are.
pub fn beside() -> Alone {
    hold(FlockOperation::LockShared)
}

fn hold(how: FlockOperation) -> Alone {
    assert!(!HELD.get(), "this thread holds the lab's lock already, and would wait for itself");
    // A killed process that hangs in its own disk holds the lock until it is swept away.
    sweep_once();
    let path = base().join("assay-lab.alone");
    // Without O_CREAT first: a sticky folder refuses that for another user's file.
    let lock = File::open(&path)
        .or_else(|_| OpenOptions::new().create(true).append(true).open(&path))
        .unwrap_or_else(|e| broken(&format!("open {}", path.display()), e));
    let began = Instant::now();
    flock(&lock, how).unwrap_or_else(|e| broken(&format!("lock {}", path.display()), e));
    HELD.set(true);
    let since = Instant::now();
    Alone { _lock: lock, how, waited: since - began, since, _here: PhantomData }
}

impl Drop for Alone {
    fn drop(&mut self) {
        HELD.set(false);
        let thread = std::thread::current();
        // Benches and the catalogue have tables of their own.
        let Some(test) = thread.name().filter(|name| *name != "main") else { return };
        // Past the harness' capture: what the whole of them takes is made of this.
        let alone = matches!(self.how, FlockOperation::LockExclusive);
        let line = format!(
            "lab: {test} {}, {:.1} s, after {:.1} s\n",
            if alone { "alone" } else { "beside others" },
            self.since.elapsed().as_secs_f64(),
            self.waited.as_secs_f64(),
        );
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
