//! CPU time of threads, and how the kernel divides it.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::costs::ThreadEvents;
use crate::unit::Nanos;

/// CPU time, in the program and in the kernel for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuTime {
    /// In the program, ns.
    #[serde(rename = "user_ns")]
    pub user: Nanos,
    /// In the kernel, ns.
    #[serde(rename = "system_ns")]
    pub system: Nanos,
}

/// CPU time that was spent: by the thread's clock, and how much of it in the kernel, where that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSpent {
    pub time: Nanos,
    /// In the kernel, to the microsecond; absent where `getrusage` does not say.
    pub system: Option<Nanos>,
    /// What happened meanwhile; absent where `getrusage` does not say.
    pub events: Option<ThreadEvents>,
}

impl Default for CpuSpent {
    /// None at all.
    fn default() -> Self {
        Self { time: Nanos::ZERO, system: Some(Nanos::ZERO), events: Some(ThreadEvents::default()) }
    }
}

impl AddAssign for CpuSpent {
    fn add_assign(&mut self, other: Self) {
        self.time += other.time;
        self.system = self.system.zip(other.system).map(|(mine, theirs)| mine + theirs);
        self.events = self.events.zip(other.events).map(|(mut mine, theirs)| {
            mine += theirs;
            mine
        });
    }
}

impl CpuSpent {
    /// What was spent since then.
    pub fn since(self, then: Self) -> Self {
        let time = self.time.less(then.time);
        // The two are kept by different clocks.
        let system = self.system.zip(then.system).map(|(now, then)| now.less(then).min(time));
        let events = self.events.zip(then.events).map(|(now, then)| now.since(then));
        Self { time, system, events }
    }

    /// Without so much time, which was spent in the kernel.
    pub fn without(self, kernel: Nanos) -> Self {
        let system = self.system.map(|system| system.less(kernel));
        Self { time: self.time.less(kernel), system, ..self }
    }

    /// Both parts, where they are known.
    pub fn parts(self) -> Option<CpuTime> {
        self.system.map(|system| CpuTime { user: self.time.less(system), system })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_and_one_that_is_unknown_makes_the_sum_unknown() {
        let of = |time, system| CpuSpent { time: Nanos(time), system, ..CpuSpent::default() };
        let mut sum = of(900, Some(Nanos(500))).since(of(100, Some(Nanos(0))));
        sum += of(10, Some(Nanos(10)));
        assert_eq!(sum.parts(), Some(CpuTime { user: Nanos(300), system: Nanos(510) }));
        let late = of(900, Some(Nanos(2000))).since(of(100, Some(Nanos(0))));
        assert_eq!(late.parts(), Some(CpuTime { user: Nanos(0), system: Nanos(800) }));
        sum += of(5, None);
        assert_eq!((sum.time, sum.parts()), (Nanos(815), None));
        assert_eq!(CpuSpent::default().parts(), Some(CpuTime::default()));
    }
}
