//! How long a thread that sleeps takes to run again after another has woken it.
//!
//! Between a device's answer and the next call of the program lies such a wake-up; where an idle processor
//! has to be woken first, as under a hypervisor, it takes many times as long as the rest of the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use assay_engine::sys::clock;
use assay_plan::unit::{Nanos, Timestamp};

/// So many wake-ups are timed: of an odd number one is in the middle.
const ROUNDS: usize = 11;
/// For so long the sleeper has slept before: its processor has gone idle.
const ASLEEP: Duration = Duration::from_micros(200);
/// "The sleeper has not been woken since", of a time.
const NONE: u64 = 0;

/// The median of some wake-ups, after sleeps of 200 us: 3 ms in all. `None` where no thread can be started, or one
/// was not woken in time.
pub fn wake_up() -> Option<Nanos> {
    let woken = Arc::new(AtomicU64::new(NONE));
    let told = Arc::clone(&woken);
    let sleeper = thread::Builder::new().name("wake-up".into()).spawn(move || {
        for _ in 0..ROUNDS {
            thread::park();
            told.store(clock::now().0.max(1), Ordering::Release);
        }
    });
    let sleeper = sleeper.ok()?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        thread::sleep(ASLEEP);
        let called = clock::now();
        sleeper.thread().unpark();
        times.push(answer(&woken, called)?);
    }
    let _ = sleeper.join();
    times.sort_unstable();
    times.get(ROUNDS / 2).copied()
}

/// How long after the call the sleeper ran. `None`: not within a second.
fn answer(woken: &AtomicU64, called: Timestamp) -> Option<Nanos> {
    loop {
        let at = woken.swap(NONE, Ordering::Acquire);
        if at != NONE {
            return Some(Timestamp(at).since(called));
        }
        if clock::now().since(called) > Nanos::secs(1) {
            return None;
        }
        // Where there is one processor only, it is the sleeper's now.
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_takes_some_time() {
        let took = wake_up().expect("a thread can be started");
        assert!(took > Nanos::ZERO && took < Nanos::secs(1), "{took}");
    }
}
