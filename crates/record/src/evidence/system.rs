//! What somebody who watches sees at one moment: the disks, and the whole machine around them.
//!
//! A run takes a `Snapshot` at its edges, which is about the run itself; a look is about everybody.
//! Both come from the same open files.

use super::{DeviceReading, Memory, Pressure, Process, Processors, Reading};
use assay_plan::unit::{Bytes, Timestamp};

/// Counters of the disks and of the machine at one moment. What happened is the difference of two.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemSample {
    /// When the disks were read, which come first.
    pub at: Timestamp,
    /// The disks. One that has lost its medium is unseen.
    pub devices: Vec<DeviceReading>,
    /// Dirty pages and the like.
    pub memory: Reading<Memory>,
    /// Pages of files in memory.
    pub cached: Reading<Bytes>,
    /// Time in which somebody waited.
    pub pressure: Reading<Pressure>,
    /// Time of all processors.
    pub processors: Reading<Processors>,
    /// Every process but our own.
    pub processes: Reading<Vec<Process>>,
}

impl SystemSample {
    /// Everything that could not be seen, each reason once.
    pub fn unseen(&self) -> Vec<String> {
        let mut reasons: Vec<String> = Vec::new();
        let devices = self.devices.iter().map(|device| device.counters.why());
        let others = [
            self.memory.why(),
            self.cached.why(),
            self.pressure.why(),
            self.processors.why(),
            self.processes.why(),
        ];
        reasons.extend(devices.chain(others).flatten().map(String::from));
        reasons.extend(self.pressure.seen().and_then(untold));
        reasons.extend(self.processes.seen().and_then(|all| hidden(all)));
        let mut once: Vec<String> = Vec::new();
        for reason in reasons {
            if !once.contains(&reason) {
                once.push(reason);
            }
        }
        once
    }
}

/// The pressure files that do not tell, when others do.
fn untold(pressure: &Pressure) -> Option<String> {
    let all = [("io", pressure.io), ("cpu", pressure.cpu), ("memory", pressure.memory)];
    let silent = all.iter().filter(|(_, total)| total.is_none());
    let names: Vec<String> = silent.map(|(name, _)| format!("/proc/pressure/{name}")).collect();
    (!names.is_empty()).then(|| format!("{}: no total", names.join(", ")))
}

/// How many processes do not show their I/O to this user, when others do.
fn hidden(processes: &[Process]) -> Option<String> {
    let count = processes.iter().filter(|process| process.io.seen().is_none()).count();
    let of = processes.len();
    (count > 0)
        .then(|| format!("/proc/PID/io of {count} of {of} processes: not shown to this user"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::SysRoot;
    use crate::evidence::{CounterReader, ProcessIo};
    use assay_plan::unit::Nanos;

    #[test]
    fn nothing_is_zero_where_nothing_can_be_seen() {
        let folder = tempfile::tempdir().unwrap();
        let look = CounterReader::over(&SysRoot::under(folder.path()), []).look();
        assert_eq!(
            look.unseen(),
            [
                "/proc/meminfo: No such file or directory (ENOENT)",
                "/proc/pressure/io: No such file or directory (ENOENT)",
                "/proc/stat: No such file or directory (ENOENT)",
                "/proc: shows no processes",
            ]
        );
    }

    #[test]
    fn what_is_seen_in_part_says_which_part_is_not() {
        let io = Reading::Seen(ProcessIo { read: Bytes(1), write: Bytes(2) });
        let process =
            |pid, io| Process { pid, parent: 1, born: 1, name: "x".into(), cpu: Nanos::ZERO, io };
        let look = SystemSample {
            at: Timestamp(0),
            devices: Vec::new(),
            memory: Reading::Unseen("memory".into()),
            cached: Reading::Unseen("memory".into()),
            pressure: Reading::Seen(Pressure { io: Some(Nanos(1)), cpu: None, memory: None }),
            processors: Reading::Seen(Processors::default()),
            processes: Reading::Seen(vec![
                process(1, io),
                process(2, Reading::Unseen("hidden".into())),
            ]),
        };
        assert_eq!(
            look.unseen(),
            [
                "memory",
                "/proc/pressure/cpu, /proc/pressure/memory: no total",
                "/proc/PID/io of 1 of 2 processes: not shown to this user",
            ]
        );
    }
}
