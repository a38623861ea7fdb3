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
    /// How often they stopped running, all together; absent where the kernel does not tell, and in records of
    /// before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub switches: Option<ContextSwitches>,
    /// The CPUs on which they were seen at their beginning and end, in order.
    pub cpus: Vec<u32>,
}

/// How often threads stopped running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSwitches {
    /// They went to sleep (voluntary context switches).
    pub sleeps: u64,
    /// Others were given their CPU (involuntary ones).
    pub preempted: u64,
}

impl ContextSwitches {
    /// Of a `/proc/PID/status`.
    fn parse(status: &str) -> Option<Self> {
        let count =
            |name| status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
        Some(Self {
            sleeps: count("voluntary_ctxt_switches:")?,
            preempted: count("nonvoluntary_ctxt_switches:")?,
        })
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            sleeps: self.sleeps.saturating_sub(earlier.sleeps),
            preempted: self.preempted.saturating_sub(earlier.preempted),
        }
    }
}

impl Add for ContextSwitches {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            sleeps: self.sleeps.saturating_add(other.sleeps),
            preempted: self.preempted.saturating_add(other.preempted),
        }
    }
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
            switches: self.switches.zip(other.switches).map(|(a, b)| a + b),
            cpus,
        }
    }
}

/// A look of a thread at itself.
#[derive(Clone, Copy, Debug)]
pub struct ThreadSample {
    cpu: u32,
    waited: Option<Nanos>,
    switches: Option<ContextSwitches>,
}

impl ThreadSample {
    /// Where the calling thread runs, how often it has stopped and for how long it has waited since it was
    /// made. Some tens of microseconds.
    pub fn now() -> Self {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let status = std::fs::read_to_string("/proc/thread-self/status").ok();
        Self {
            cpu: rustix::thread::sched_getcpu() as u32,
            waited: line.as_deref().and_then(waited),
            switches: status.as_deref().and_then(ContextSwitches::parse),
        }
    }

    /// How the calling thread has run since this look.
    pub fn until_now(self) -> ThreadTimes {
        let now = Self::now();
        let mut cpus = vec![self.cpu, now.cpu];
        cpus.sort_unstable();
        cpus.dedup();
        let waited = now.waited.zip(self.waited).map(|(now, then)| time_grown(then, now));
        let switches = now.switches.zip(self.switches).map(|(now, then)| now.since(then));
        ThreadTimes { threads: 1, waited, switches, cpus }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_up_and_cpus_named_once() {
        let switches = |sleeps, preempted| Some(ContextSwitches { sleeps, preempted });
        let one = ThreadTimes {
            threads: 1,
            waited: Some(Nanos(3)),
            switches: switches(5, 1),
            cpus: vec![0, 4],
        };
        let two = ThreadTimes {
            threads: 1,
            waited: Some(Nanos(4)),
            switches: switches(6, 2),
            cpus: vec![4],
        };
        let both = ThreadTimes {
            threads: 2,
            waited: Some(Nanos(7)),
            switches: switches(11, 3),
            cpus: vec![0, 4],
        };
        assert_eq!(one.clone() + two, both);
        let unseen = ThreadTimes { threads: 1, waited: None, switches: None, cpus: vec![1] };
        assert_eq!((one + unseen).waited, None);
    }

    #[test]
    fn a_thread_that_has_to_share_its_cpu_waits() {
        let began = ThreadSample::now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let ran = began.until_now();
        assert!(ran.switches.is_none_or(|switches| switches.sleeps > 0), "{ran:?}");
        println!("{ran:?}");
        assert_eq!(ran.threads, 1);
        assert!((1..=2).contains(&ran.cpus.len()));
    }
}
