//! I/Os that a list has one by one: each with its file, its place, its length and its time.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use super::{Action, Mix, Shared};
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// The I/Os of one worker, in the order in which they are sent, once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Waits are counted from the start of the worker, not from the I/O before.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub from_start: bool,
    pub ios: Shared<Vec<ReplayIo>>,
}

/// An I/O of such a list: 24 bytes in memory. In documents: action, file, offset, bytes, wait in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "ReplayRow", into = "ReplayRow")]
#[cfg_attr(feature = "schema", schemars(with = "ReplayRow"))]
pub struct ReplayIo {
    /// Where in the file.
    pub offset: Bytes,
    /// It is sent so long after the I/O before, or after the start.
    pub wait: Nanos,
    /// How much; of a flush nothing.
    pub bytes: u32,
    /// The number of its file among those of the target, from 0.
    pub file: u16,
    /// What is done.
    pub action: ReplayAction,
}

/// What one of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayAction {
    Read,
    Write,
    Trim,
    /// Makes the file durable, once all that was sent before is answered.
    Fsync,
    /// The same by `fdatasync`.
    Fdatasync,
}

/// An I/O as documents have it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReplayRow(ReplayAction, u16, u64, u32, u64);

impl From<ReplayRow> for ReplayIo {
    fn from(ReplayRow(action, file, offset, bytes, wait): ReplayRow) -> Self {
        Self { offset: Bytes(offset), wait: Nanos(wait), bytes, file, action }
    }
}

impl From<ReplayIo> for ReplayRow {
    fn from(io: ReplayIo) -> Self {
        Self(io.action, io.file, io.offset.0, io.bytes, io.wait.0)
    }
}

impl ReplayAction {
    /// The action of a mix that it is; none of a flush.
    pub const fn moved(self) -> Option<Action> {
        match self {
            Self::Read => Some(Action::Read),
            Self::Write => Some(Action::Write),
            Self::Trim => Some(Action::Trim),
            Self::Fsync | Self::Fdatasync => None,
        }
    }
}

impl Replay {
    /// How many I/Os there are of an action.
    pub fn count(&self, action: Action) -> u64 {
        self.ios.iter().filter(|io| io.action.moved() == Some(action)).count() as u64
    }

    /// Whether it has any flush.
    pub fn flushes(&self) -> bool {
        self.ios.iter().any(|io| io.action.moved().is_none())
    }

    /// Writes for each flush, where each file that is written is flushed after its last write.
    pub(super) fn flushed_every(&self) -> Option<u64> {
        let mut open = std::collections::BTreeSet::new();
        for io in self.ios.iter() {
            match io.action {
                ReplayAction::Write => drop(open.insert(io.file)),
                ReplayAction::Fsync | ReplayAction::Fdatasync => drop(open.remove(&io.file)),
                ReplayAction::Read | ReplayAction::Trim => {}
            }
        }
        let flushes = self.ios.iter().filter(|io| io.action.moved().is_none()).count() as u64;
        let writes = self.count(Action::Write);
        (open.is_empty() && flushes > 0).then(|| writes.div_ceil(flushes).max(1))
    }

    /// Refuses a list that a pattern of this mix, with blocks of at most so many bytes, does not have.
    pub(super) fn check(&self, mix: &Mix, largest: Bytes) -> Result<(), Refusal> {
        for action in [Action::Read, Action::Write, Action::Trim, Action::Rewrite] {
            let (listed, mixed) = (self.count(action) > 0, mix.has(action));
            if listed != mixed {
                let (one, other) = if listed { ("list", "mix") } else { ("mix", "list") };
                return Err(Refusal::new(
                    format!("'{}' is in the {one} of a replay, not in its {other}", action.name()),
                    "let the mix have what the list has",
                ));
            }
        }
        let moved = || self.ios.iter().filter(|io| io.action.moved().is_some());
        let most = moved().map(|io| Bytes(io.bytes.into())).max().unwrap_or_default();
        if most != largest {
            return Err(Refusal::new(
                format!("the largest I/O of a replay has {most}, and the largest block {largest}"),
                "give the block of the largest I/O",
            ));
        }
        if moved().any(|io| io.bytes == 0) {
            return Err(Refusal::new("an I/O of 0 bytes in a replay", "give each its length"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_takes_24_bytes_and_stands_in_a_row_of_a_document() {
        assert_eq!(size_of::<ReplayIo>(), 24);
        let io = ReplayIo {
            offset: Bytes(8192),
            wait: Nanos(1500),
            bytes: 512,
            file: 2,
            action: ReplayAction::Write,
        };
        let replay = Replay { from_start: false, ios: vec![io].into() };
        let text = serde_json::to_string(&replay).unwrap();
        assert_eq!(text, r#"{"ios":[["write",2,8192,512,1500]]}"#);
        assert_eq!(serde_json::from_str::<Replay>(&text).unwrap(), replay);
        let check = |action, largest| replay.check(&Mix::only(action), Bytes(largest));
        assert!(check(Action::Write, 512).is_ok());
        assert!(check(Action::Read, 512).unwrap_err().why.contains("in the mix"));
        assert_eq!((replay.flushes(), replay.flushed_every()), (false, None));
        let flush = ReplayIo { bytes: 0, action: ReplayAction::Fdatasync, ..io };
        let other = ReplayIo { file: 0, ..flush };
        for (ios, every) in [
            (vec![io, io, flush], Some(2)),
            (vec![io, flush, io], None),
            (vec![io, other], None),
            (vec![io, flush, other], Some(1)),
        ] {
            assert_eq!(Replay { from_start: false, ios: ios.into() }.flushed_every(), every);
        }
        assert!(check(Action::Write, 4096).unwrap_err().why.contains("largest"));
    }
}
