//! One worker of a phase, whatever kind of work it does, in a thread or in a process of its own.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Haul, TreeWorker, Worker};
use crate::error::Fault;
use crate::sys::clock;
use crate::sys::process::{self, Child, Death};
use crate::unit::Nanos;

use super::gate::Gate;

/// A worker that is ready to go.
pub(super) enum Hand<'a> {
    /// On blocks.
    Blocks(Box<Worker<'a>>),
    /// On a tree of files.
    Tree(Box<TreeWorker<'a>>),
    /// In a process of its own, which waits at the gate already.
    Away(Away<'a>),
}

/// A worker in a process of its own.
pub(super) struct Away<'a> {
    child: Child,
    gate: &'a Gate,
    /// It has come to the gate.
    came: &'a AtomicBool,
}

impl<'a> Hand<'a> {
    /// Calls `ready` when all memory is there, and does its work. Who is away has its own.
    ///
    /// # Errors
    /// What kept it from beginning. `ready` has been called all the same.
    pub fn go(self, ready: impl FnOnce()) -> Result<Haul, Fault> {
        let mut began = Nanos::ZERO;
        let timed = || {
            ready();
            began = clock::thread_cpu();
        };
        let haul = match self {
            Self::Blocks(worker) => worker.go(timed),
            Self::Tree(worker) => worker.go(timed),
            Self::Away(away) => return away.home(),
        };
        haul.map(|haul| Haul { cpu: clock::thread_cpu().less(began), ..haul })
    }

    /// Puts it into a process of its own, which comes to the gate and calls `after` behind it.
    ///
    /// # Errors
    /// What [`process::fork`] met.
    pub fn send(
        self,
        gate: &'a Gate,
        came: &'a AtomicBool,
        before: impl FnOnce(),
        after: impl FnOnce(),
    ) -> io::Result<Self> {
        let child = process::fork(|| {
            before();
            let haul = self.go(|| {
                gate.arrive();
                came.store(true, Ordering::Release);
                gate.pass();
                after();
            });
            // It holds numbers and texts only.
            serde_json::to_vec(&haul).unwrap_or_default()
        })?;
        Ok(Self::Away(Away { child, gate, came }))
    }
}

impl Away<'_> {
    fn home(self) -> Result<Haul, Fault> {
        let answer = self.child.home();
        if !self.came.load(Ordering::Acquire) {
            // The others are not to wait for it.
            self.gate.arrive();
        }
        let text = match answer {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(haul) => return haul,
                Err(error) => format!("what it brought home can not be read: {error}"),
            },
            Err(Death::Signal(signal)) => format!("it died of signal {signal}"),
            Err(Death::Status(status)) => format!("it ended with status {status}"),
        };
        Err(Fault {
            doing: "finish".into(),
            path: "the work of a process".into(),
            offset: None,
            errno: 0,
            name: String::new(),
            text,
            hint: "its part of the work is missing in all figures".into(),
        })
    }
}
