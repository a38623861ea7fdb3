//! How the kernel ranks the workers of a job among others.

use serde::{Deserialize, Serialize};

use super::Method;
use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::Bytes;

/// What a worker asks the kernel's schedulers for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// Added to its nice value, -20 to 19; below 0 takes rights.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub nice: i32,
    /// That of its I/O (`ioprio_set(2)`); absent: what it was started with.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub io: Option<IoPriority>,
}

/// A priority of I/O. What comes of it is the I/O scheduler's to say: most take no notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IoPriority {
    pub class: IoClass,
    /// The level in it, from 0, the first, to 7.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub level: u8,
    /// A hint for the device, 0 to 1023, such as the limit of a command's duration.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub hint: u16,
}

/// A class of I/O priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IoClass {
    /// Before all others; takes rights.
    Realtime = 1,
    /// The usual one.
    BestEffort = 2,
    /// When nobody else has anything to do.
    Idle = 3,
}

impl Priority {
    pub(super) fn check(self) -> Result<(), Refusal> {
        if !(-20..=19).contains(&self.nice) {
            return Err(Refusal::new(format!("nice {}", self.nice), "give -20 to 19"));
        }
        match self.io {
            Some(io) if io.level > 7 => {
                Err(Refusal::new(format!("I/O priority {}", io.level), "give a level of 0 to 7"))
            }
            Some(io) if io.hint > 1023 => {
                Err(Refusal::new(format!("I/O priority hint {}", io.hint), "give 0 to 1023"))
            }
            _ => Ok(()),
        }
    }
}

impl IoPriority {
    /// As the kernel has it: class, hint and level in 16 bits (`linux/ioprio.h`).
    pub fn value(self) -> u16 {
        (self.class as u16) << 13 | self.hint << 3 | u16::from(self.level)
    }

    /// What the kernel has as this value; `None` without a class: that of the thread counts.
    pub fn of_value(value: u16) -> Option<Self> {
        let all = [IoClass::Realtime, IoClass::BestEffort, IoClass::Idle];
        let class = all.into_iter().find(|class| *class as u16 == value >> 13)?;
        Some(Self { class, level: (value & 7) as u8, hint: value >> 3 & 1023 })
    }
}

/// I/Os of a job that have a priority of their own, drawn by chance (fio's `cmdprio_percentage` and
/// `cmdprio_bssplit`). For methods that hand it over with each I/O: io_uring and libaio.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct IoPriorities {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PriorityShare>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PriorityShare>,
    /// The seed of the draws (that of fio's stream for them); absent: that of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A share of the I/Os with one priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// Of I/Os of this size; absent: of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Bytes>,
    /// Percent of these, 1 to 100.
    pub percent: u8,
    pub priority: IoPriority,
}

impl IoPriorities {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    pub(super) fn check(&self, method: Method) -> Result<(), Refusal> {
        if self.is_empty() {
            return Ok(());
        }
        if !matches!(method, Method::IoUring(_) | Method::Libaio(_)) {
            return Err(Refusal::new(
                format!("priorities of single I/Os, and {}", method.name()),
                "use io_uring or libaio, or give the whole job a priority",
            ));
        }
        for shares in [&self.reads, &self.writes] {
            for share in shares {
                Priority { nice: 0, io: Some(share.priority) }.check()?;
                let alike = shares.iter().filter(|other| other.block == share.block);
                let sum: u32 = alike.map(|other| u32::from(other.percent)).sum();
                if share.percent == 0 || sum > 100 {
                    return Err(Refusal::new(
                        format!("{sum} percent of the I/Os of one size"),
                        "let shares be 1 percent or more, and 100 at the most together",
                    ));
                }
            }
        }
        Ok(())
    }
}
