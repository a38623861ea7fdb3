//! Which actions, in which order, how large, with which data: the shape of a stream of I/Os.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Bytes;

use super::usual::is_usual;
use super::{
    Action, BlockSize, HeadedData, Mix, OffsetOrdering, Replay, ReplayAction, SeededSequence,
};

/// The shape of a stream of I/Os.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// What is done, and how often each.
    pub mix: Mix,
    /// Order of the I/Os.
    #[serde(default)]
    pub order: OffsetOrdering,
    /// How large it is.
    pub block: BlockSize,
    /// The part of the target that is used, and how workers share it.
    #[serde(default)]
    pub region: Region,
    /// What is written.
    #[serde(default)]
    pub fill: Fill,
    /// What a rewrite changes of the block that it has read.
    #[serde(default, skip_serializing_if = "RewriteChange::is_all")]
    pub change: RewriteChange,
    /// Whether what is read is compared with what must be there.
    #[serde(default)]
    pub verify: Verify,
    /// The I/Os follow from fixed seeds, one by one, as those of other tools do. Absent: from the seed of the
    /// plan, in a way of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Box<SeededSequence>>,
    /// The I/Os are those that the job of this name has done in the phase before, drawn from this mix: what it
    /// wrote is read, the rest is left out. For reads of one worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Mix>,
    /// Which of the writes are read `again`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub again_of: WrittenPart,
    /// What is read `again` is all that such a job writes, in another run (fio's `verify_only`): there is none before.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub another_run: bool,
    /// The I/Os are those of a list, each with its file, place, length and time; `order` says what they amount to:
    /// `uniform`. For one worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

/// The part of the target that is used, and how workers share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Where it begins.
    #[serde(default)]
    pub offset: Bytes,
    /// Each further worker begins this much later (fio's `offset_increment`).
    #[serde(default)]
    pub step_per_worker: Bytes,
    /// The workers divide it into equal parts, instead of all using the whole.
    #[serde(default)]
    pub divided: bool,
    /// Places are multiples of this, counted from where a worker's part begins (fio's blockalign).
    /// Absent: random places are multiples of the smallest block, and other blocks touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// No two sectors alike and none compressible; every sector says where it belongs, so that it
    /// can be verified.
    #[default]
    Random,
    Zero,
    /// These bytes, again and again.
    Repeat(Vec<u8>),
    /// The content of a file, again and again.
    File(
        #[serde(with = "crate::name::one")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
        PathBuf,
    ),
    /// Data that compress and deduplicate by a stated measure.
    Compressible {
        /// Percent of each sector of 512 bytes that are zeros, 0 to 96: the rest does not compress
        /// and holds the sector's tag.
        compress_percent: u8,
        /// Percent of the pieces of 4 KiB that are copies of another piece in the same 400 KiB,
        /// 0 to 99. With copies, writing a place again writes the same data.
        dedupe_percent: u8,
        /// The zeros stand together at the end of pieces of so many bytes, a multiple of 512 (fio's
        /// `buffer_compress_chunk`); each sector in them keeps its tag of 16 bytes. 0: at the end of each sector.
        #[serde(default, skip_serializing_if = "is_usual")]
        chunk: Bytes,
        /// Copies are of the first pieces of the file that are none, so many bytes of them (fio's
        /// `dedupe_mode=working_set`). 0: of pieces beside them.
        #[serde(default, skip_serializing_if = "is_usual")]
        set: Bytes,
    },
    /// Random data that are made once, when a worker begins: each of its buffers holds others, and is written
    /// again and again. What stands in a block cannot be told from what was read.
    Once {
        /// Each write changes 16 bytes of each sector of 512, by place and write: no two blocks of one size are
        /// alike then, but what keeps more than a block together finds the rest again (fio's
        /// `scramble_buffers`).
        scrambled: bool,
    },
    /// Records of which parts are alike (IOzone's `-+w`, `-+y`, `-+C` and `-+a`).
    Alike(AlikeData),
    /// Pieces that each carry a header and a checksum (fio's `verify`).
    Headed(HeadedData),
}

/// Records of which parts are like those of other records or files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AlikeData {
    pub record: Bytes,
    /// Percent of each record, at its beginning, that others are like.
    pub alike_percent: u8,
    /// Percent of these, at their beginning, that each record of each file has; the others only the record at
    /// the same place of each file.
    #[serde(default)]
    pub everywhere_percent: u8,
    /// Percent of those, at their end, that each record of this file has, and no other file.
    #[serde(default)]
    pub own_percent: u8,
    /// Percent of each piece of 4 KiB, at its end, that are zeros.
    #[serde(default)]
    pub zero_percent: u8,
    /// The number of this file: what no other is like follows from it.
    #[serde(default)]
    pub file: u32,
}

impl AlikeData {
    fn percents(&self) -> impl Iterator<Item = u8> {
        [self.alike_percent, self.everywhere_percent, self.own_percent, self.zero_percent]
            .into_iter()
    }
}

/// Which writes of a job are read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WrittenPart {
    /// All that did not fail.
    #[default]
    All,
    /// Those that a flush between them followed.
    Flushed,
    /// All but the last: what fio takes a flush at the end to cover.
    ButLast,
}

/// What a rewrite changes of the block that it has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RewriteChange {
    /// All of it: new data as for a write.
    #[default]
    All,
    /// The last byte of each sector of 512: as a program changes a record. That is as little as keeps a
    /// layer below from taking any part of the block for what stood there. Of such blocks only the
    /// tags can be verified.
    OneByte,
}

impl RewriteChange {
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// How closely what is read is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Not at all.
    #[default]
    None,
    /// The tag of each block: does it belong here, is it ours.
    Tags,
    /// Every byte.
    Full,
    /// Every byte, and each block that is written is read back at once and compared: it must be
    /// of this very write. The reads are counted as such. Through the page cache this compares
    /// what memory holds.
    AfterWrite,
    /// Every byte, and what is written is read back and compared after every so many writes. The reads are counted
    /// as such; those of a mix are not looked at. Through the page cache this compares what memory holds.
    Backlog(VerifyBacklog),
    /// Every byte, and what a pass of a `sequence` has written is read back and compared after it, before the next
    /// begins: in the order of the writes, or in that of places where some were written twice. It is flushed and dropped
    /// from memory before. The reads are counted as such; those of a mix are not looked at. What the end comes in
    /// between is not read back.
    EachPass,
    /// Every byte, and a block that does not hold what it must, or cannot be read, ends nothing:
    /// what was found is counted by place. For reads only.
    Census,
}

/// When what was written is read back, of a job that verifies as it goes (fio's `verify_backlog`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerifyBacklog {
    /// A batch is read when so many writes wait to be verified, or a multiple of that.
    pub writes: u64,
    /// Blocks that a batch reads.
    pub batch: u64,
    /// Blocks are read in the order of their places, each once however often it was written; else in the
    /// order of their writes.
    #[serde(default)]
    pub by_place: bool,
    /// At the end all that is left is read.
    #[serde(default)]
    pub rest: bool,
}

impl VerifyBacklog {
    /// All is read when no write follows, in the order of the writes.
    pub const AT_THE_END: Self =
        Self { writes: u64::MAX, batch: u64::MAX, by_place: false, rest: true };
}

impl Verify {
    /// The word for it in JSON and text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tags => "tags",
            Self::Full => "full",
            Self::AfterWrite => "after_write",
            Self::Backlog(_) => "backlog",
            Self::EachPass => "each_pass",
            Self::Census => "census",
        }
    }
}

impl Fill {
    /// The word for it in JSON and text.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Zero => "zero",
            Self::Repeat(_) => "repeat",
            Self::File(_) => "file",
            Self::Compressible { .. } => "compressible",
            Self::Once { .. } => "once",
            Self::Alike(_) => "alike",
            Self::Headed(_) => "headed",
        }
    }

    /// Whether each sector says where it belongs.
    pub const fn tagged(&self) -> bool {
        matches!(self, Self::Random | Self::Compressible { .. })
    }

    /// Whether data say which write they are from.
    pub const fn dated(&self) -> bool {
        matches!(
            self,
            Self::Random | Self::Headed(_) | Self::Compressible { dedupe_percent: 0, .. }
        )
    }

    /// What stands in a file that is only made to be there: nobody has written data with headers.
    pub fn laid(&self) -> Self {
        match self {
            Self::Headed(_) => Self::Random,
            other => other.clone(),
        }
    }

    fn check(&self, smallest: Bytes) -> Result<(), Refusal> {
        match self {
            Self::Headed(data) => data.check(smallest),
            Self::Compressible { compress_percent: 97.., .. } => Err(Refusal::new(
                "a compress_percent above 96 leaves no room for the tags of the data",
                "give 0 to 96, or use the fill 'zero'",
            )),
            Self::Compressible { chunk, .. } if !chunk.0.is_multiple_of(512) => Err(Refusal::new(
                format!("zeros at the end of pieces of {} bytes", chunk.0),
                "give 'chunk' a multiple of 512",
            )),
            Self::Compressible { dedupe_percent: 100.., .. } => Err(Refusal::new(
                "a dedupe_percent of 100 or more leaves nothing to be copied",
                "give 0 to 99, or use the fill 'repeat'",
            )),
            Self::Alike(data)
                if data.record == Bytes::ZERO || data.percents().any(|it| it > 100) =>
            {
                Err(Refusal::new(
                    "alike data without a record, or of more than 100 percent",
                    "give 'record' in bytes, and percents of 0 to 100",
                ))
            }
            Self::Repeat(bytes) if bytes.is_empty() => Err(Refusal::new(
                "the fill 'repeat' has no bytes to repeat",
                "give one or more, or use the fill 'zero'",
            )),
            _ => Ok(()),
        }
    }
}

/// Sectors of 512 bytes carry tags.
const SECTOR: u64 = 512;

impl Pattern {
    /// The largest block.
    pub fn largest(&self) -> Bytes {
        self.block.largest()
    }

    /// The largest block that needs memory: a trim moves no data.
    pub fn largest_buffer(&self) -> Bytes {
        let moved = match &self.replay {
            Some(replay) => {
                let moved = replay.ios.iter().filter(|io| io.action != ReplayAction::Trim);
                moved.map(|io| Bytes(io.bytes.into())).max()
            }
            None => {
                let moved = self.mix.0.iter().filter(|share| share.action != Action::Trim);
                moved.map(|share| self.block.of(share.action).largest()).max()
            }
        };
        moved.unwrap_or_default().clamp(Bytes(512), self.largest().max(Bytes(512)))
    }

    /// Whether its words go together.
    ///
    /// # Errors
    /// Those that do not, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.mix.0.iter().all(|share| share.weight == 0) {
            return Err(Refusal::new("a mix of nothing", "give one action a weight"));
        }
        if let Some(share) = self.mix.0.iter().find(|share| share.action.is_of_trees()) {
            return Err(Refusal::new(
                format!("'{}' is done to trees of files, not to blocks", share.action.name()),
                "use the work 'tree'",
            ));
        }
        if let Some(share) = self.mix.0.iter().find(|share| share.action.serves()) {
            return Err(Refusal::new(
                format!("'{}' is no part of a mix", share.action.name()),
                match share.action {
                    Action::SyncFileRange => "say it beside the durability: 'sync_file_range'",
                    Action::Drop => "say it as caching: 'drop_behind'",
                    Action::Close => "say 'timed_close': true",
                    _ => "say it as durability: 'fsync_every', 'fdatasync_at_end'...",
                },
            ));
        }
        self.block.check()?;
        self.fill.check(self.block.smallest())?;
        self.order.check()?;
        if let OffsetOrdering::Listed { ios } = &self.order {
            let largest = ios.iter().map(|io| io.bytes).max().unwrap_or_default();
            if self.block != BlockSize::Fixed(largest) {
                return Err(Refusal::new(
                    "listed I/Os, and blocks that are not as large as the largest of them",
                    format!("give block {{\"fixed\": {}}}", largest.0),
                ));
            }
        }
        if let Some(sequence) = &self.sequence {
            let drawn = self.again.as_ref().unwrap_or(&self.mix);
            sequence.check(drawn, &self.order, &self.block, self.region.align)?;
        }
        if let Some(replay) = &self.replay {
            replay.check(&self.mix, self.largest())?;
            if self.order != OffsetOrdering::Uniform
                || self.sequence.is_some()
                || self.again.is_some()
                || self.verify != Verify::None
                || self.region != Region::default()
            {
                return Err(Refusal::new(
                    "a 'replay', and an order, region or verification beside it",
                    "leave them out, and let 'order' be 'uniform'",
                ));
            }
        }
        if self.again.is_some() && !self.mix.has_only(Action::Read) {
            return Err(Refusal::new(
                "'again', and a mix of more than 'read': what was written is read again",
                "leave 'again' out, or use a mix of 'read' alone",
            ));
        }
        if self.another_run && self.again.is_none() {
            return Err(Refusal::new(
                "'another_run', and nothing that is read 'again'",
                "leave 'another_run' out",
            ));
        }
        if self.again_of != WrittenPart::All && (self.again.is_none() || self.another_run) {
            return Err(Refusal::new(
                "'again_of', which is of what the phase before has written",
                "leave it out, or read 'again' what a job of that phase writes",
            ));
        }
        if self.region.align == Some(Bytes::ZERO) {
            return Err(Refusal::new("places that are multiples of 0", "leave 'align' out"));
        }
        if self.region.divided && self.region.step_per_worker > Bytes::ZERO {
            return Err(Refusal::new(
                "a region that is divided and has a step per worker",
                "leave one of them out",
            ));
        }
        if self.change == RewriteChange::OneByte && !self.mix.has(Action::Rewrite) {
            return Err(Refusal::new(
                "change 'one_byte' contradicts a mix without 'rewrite': nothing is read and changed",
                "leave 'change' out",
            ));
        }
        self.check_verify()
    }

    /// Words about verification that contradict others.
    fn check_verify(&self) -> Result<(), Refusal> {
        let word = self.verify.name();
        let refused = |with: String, instead: &str| {
            Err(Refusal::new(format!("verify '{word}' contradicts {with}"), instead))
        };
        let whole = |bytes: Bytes| bytes.0.is_multiple_of(SECTOR);
        let fixed = self.block.smallest() == self.block.largest();
        match self.verify {
            Verify::None => Ok(()),
            _ if matches!(self.fill, Fill::Once { .. }) => refused(
                "the fill 'once': nobody knows afterwards what was written where".into(),
                "use the fill 'random', or leave 'verify' out",
            ),
            _ if self.mix.has(Action::Trim) => refused(
                "a mix with 'trim': what was trimmed cannot be read back".into(),
                "leave one of them out",
            ),
            Verify::Census if !self.mix.has_only(Action::Read) => {
                refused("a mix of more than 'read'".into(), "use verify 'full'")
            }
            Verify::Tags | Verify::Census if !self.fill.tagged() => refused(
                format!("the fill '{}', which carries no tags", self.fill.name()),
                "use verify 'full', or the fill 'random'",
            ),
            Verify::Backlog(VerifyBacklog { writes, batch, .. }) if writes == 0 || batch == 0 => {
                Err(Refusal::new("a backlog of 0 writes, or batches of none", "give 1 or more"))
            }
            Verify::EachPass if self.sequence.is_none() => {
                refused("an order of our own".into(), "give a 'sequence'")
            }
            Verify::Backlog(_) | Verify::EachPass
                if !self.mix.sends() || self.mix.has(Action::Rewrite) =>
            {
                refused(
                    "a mix of other than 'write' and 'read'".into(),
                    "use verify 'full' for reads",
                )
            }
            Verify::Backlog(_) | Verify::EachPass if self.fill.tagged() => refused(
                format!("the fill '{}', whose data change with each write", self.fill.name()),
                "use the fill 'headed', or verify 'after_write'",
            ),
            Verify::AfterWrite if !self.mix.sends() => {
                refused("a mix without 'write' or 'rewrite'".into(), "use verify 'full' for reads")
            }
            Verify::Full | Verify::AfterWrite if self.change == RewriteChange::OneByte => refused(
                "change 'one_byte': of what is changed so only the tags can be told".into(),
                "use verify 'tags', or leave 'change' out",
            ),
            Verify::Tags | Verify::Full if !self.mix.fetches() => refused(
                "a mix without 'read' or 'rewrite': nothing is read that could be looked at".into(),
                "use verify 'after_write', or verify in a later phase that reads",
            ),
            _ if !self.fill.tagged() => Ok(()),
            _ if !fixed && !whole(self.block.grain())
                || self.region.align.is_some_and(|align| !whole(align))
                || !whole(self.region.offset)
                || !whole(self.region.step_per_worker) =>
            {
                refused(
                    format!("blocks or places that are no multiples of {SECTOR} bytes"),
                    "use whole sectors, one block size, or the fill 'repeat'",
                )
            }
            _ => Ok(()),
        }
    }
}
