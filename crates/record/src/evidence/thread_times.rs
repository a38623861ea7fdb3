//! How the threads that did the I/O ran: where, and for how long they waited for a CPU.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::counter_delta::time_grown;
use super::cpu::waited;
use assay_engine::sys::clock::{self, ThreadUsage};
use assay_plan::unit::Nanos;

/// How some threads ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSwitches {
    /// They went to sleep (voluntary context switches).
    pub sleeps: u64,
    /// Others were given their CPU (involuntary ones).
    pub preempted: u64,
}

impl ContextSwitches {
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
    /// made. Some microseconds.
    pub fn now() -> Self {
        let usage = clock::thread_usage();
        Self {
            cpu: rustix::thread::sched_getcpu() as u32,
            waited: waited_until_now().ok().flatten(),
            switches: usage
                .map(|ThreadUsage { sleeps, preempted, .. }| ContextSwitches { sleeps, preempted }),
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

/// For how long the calling thread has waited for a CPU since it was made.
fn waited_until_now() -> io::Result<Option<Nanos>> {
    // Three numbers of 20 digits at the most.
    let mut line = [0; 64];
    let end = File::open("/proc/thread-self/schedstat")?.read(&mut line)?;
    Ok(std::str::from_utf8(&line[..end]).ok().and_then(waited))
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
