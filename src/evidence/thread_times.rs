//! How the threads that did the I/O ran: where, and for how long they waited for a CPU.

use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counter_delta::time_grown;
use super::cpu::waited;
use crate::unit::Nanos;

/// How some threads ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTimes {
    /// How many they are.
    pub threads: u32,
    /// Time that they were ready and waited for a CPU, all together, in ns; absent where the kernel
    /// does not count it (`schedstat`).
    pub waited: Option<Nanos>,
    /// The CPUs on which they were seen at their beginning and end, in order.
    pub cpus: Vec<u32>,
}

impl Add for ThreadTimes {
    type Output = Self;
    /// Those threads and these.
    fn add(self, other: Self) -> Self {
        let mut cpus = [self.cpus, other.cpus].concat();
        cpus.sort_unstable();
        cpus.dedup();
        Self {
            threads: self.threads + other.threads,
            waited: self.waited.zip(other.waited).map(|(a, b)| a + b),
            cpus,
        }
    }
}

/// A look of a thread at itself.
#[derive(Clone, Copy, Debug)]
pub struct ThreadSample {
    cpu: u32,
    waited: Option<Nanos>,
}

impl ThreadSample {
    /// Where the calling thread runs, and for how long it has waited since it was made. Some ten
    /// microseconds.
    pub fn now() -> Self {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        Self {
            cpu: rustix::thread::sched_getcpu() as u32,
            waited: line.as_deref().and_then(waited),
        }
    }

    /// How the calling thread has run since this look.
    pub fn until_now(self) -> ThreadTimes {
        let now = Self::now();
        let mut cpus = vec![self.cpu, now.cpu];
        cpus.sort_unstable();
        cpus.dedup();
        let waited = now.waited.zip(self.waited).map(|(now, then)| time_grown(then, now));
        ThreadTimes { threads: 1, waited, cpus }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_up_and_cpus_named_once() {
        let one = ThreadTimes { threads: 1, waited: Some(Nanos(3)), cpus: vec![0, 4] };
        let two = ThreadTimes { threads: 1, waited: Some(Nanos(4)), cpus: vec![4] };
        let both = ThreadTimes { threads: 2, waited: Some(Nanos(7)), cpus: vec![0, 4] };
        assert_eq!(one.clone() + two, both);
        let unseen = ThreadTimes { threads: 1, waited: None, cpus: vec![1] };
        assert_eq!((one + unseen).waited, None);
    }

    #[test]
    fn a_thread_that_has_to_share_its_cpu_waits() {
        let began = ThreadSample::now();
        let ran = began.until_now();
        println!("{ran:?}");
        assert_eq!(ran.threads, 1);
        assert!((1..=2).contains(&ran.cpus.len()));
    }
}
