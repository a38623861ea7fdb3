//! A copy from one end to another, block by block: everything dd can be told to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Durability;
use crate::error::Refusal;
use crate::unit::Bytes;

/// A copy as dd makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyWork {
    /// Where bytes come from.
    pub from: CopyInput,
    /// Where they go.
    pub to: CopyOutput,
    /// By which calls blocks move.
    #[serde(default, skip_serializing_if = "CopyCalls::is_default")]
    pub calls: CopyCalls,
    /// Size of a read.
    pub input_block: Bytes,
    /// Size of a write.
    pub output_block: Bytes,
    /// One read is one write, short ones too (`bs=`); otherwise reads are gathered into full
    /// output blocks.
    pub block_for_block: bool,
    /// Blocks or bytes of input that are passed over first.
    #[serde(default)]
    pub skip: CopyLength,
    /// Blocks or bytes of output that are passed over first.
    #[serde(default)]
    pub seek: CopyLength,
    /// Where to stop; absent: at the end of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<CopyLength>,
    /// What is done to the bytes on the way.
    #[serde(default)]
    pub records: RecordConversion,
    /// Go on after errors of reading.
    #[serde(default)]
    pub keep_going: bool,
    /// A block that cannot be read counts as one that was read, and written, with nothing in it
    /// (BusyBox's way).
    #[serde(default, skip_serializing_if = "is_not")]
    pub unread_counts: bool,
    /// Fill short input blocks up to `input_block` with zeros (`conv=sync`).
    #[serde(default)]
    pub resync: Resync,
    /// Pass over blocks of zeros in the output instead of writing them (`conv=sparse`).
    #[serde(default)]
    pub sparse: bool,
    /// What is made durable at the end, inside the timing. GNU dd does both, `fdatasync` first,
    /// when both are asked for.
    #[serde(default)]
    pub flush: CopyFlush,
    /// When a direct write or read is refused, go on through the page cache without a word
    /// (BusyBox's way) instead of failing.
    #[serde(default)]
    pub direct_gives_way: bool,
    /// An fsync after every block (BusyBox before 1.27).
    #[serde(default)]
    pub fsync_every_block: bool,
}

/// By which calls the blocks of a copy move. Where the plan, the kernel or the file systems do not
/// allow what is asked for, read and write are used, and why is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CopyCalls {
    /// `read` into memory of this program, and `write` from there, as dd does it.
    #[default]
    ReadWrite,
    /// `copy_file_range` (Linux 4.5): from file to file within the kernel. A file system that can
    /// lets both files share their blocks, and then no data move at all.
    CopyFileRange,
    /// `splice` from the input into a pipe and from there to the output: pages are handed on
    /// without a copy in this program.
    Splice {
        /// Bytes that the pipe holds; the kernel rounds up to a power of two pages, and lets
        /// unprivileged users have no more than `/proc/sys/fs/pipe-max-size`.
        #[serde(default = "CopyCalls::pipe")]
        pipe: Bytes,
    },
}

impl CopyCalls {
    fn is_default(&self) -> bool {
        *self == Self::ReadWrite
    }

    /// What a pipe of Linux holds when nobody asks for another size.
    fn pipe() -> Bytes {
        Bytes::kib(64)
    }

    /// What the calls are named.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadWrite => "read and write",
            Self::CopyFileRange => "copy_file_range",
            Self::Splice { .. } => "splice",
        }
    }
}

/// A length in blocks, or in bytes, or both (GNU dd allows `count=3` blocks and bytes only one
/// way at a time; both are here so that a remainder can be said).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CopyLength {
    /// Whole blocks.
    pub blocks: u64,
    /// Bytes beyond them.
    pub bytes: Bytes,
}

impl CopyLength {
    /// The same in bytes, where a block has so many.
    pub fn in_bytes(self, block: Bytes) -> Bytes {
        Bytes(self.blocks.saturating_mul(block.0).saturating_add(self.bytes.0))
    }

    /// The same as whole blocks of so many bytes of memory and a rest that is shorter than one.
    pub fn in_blocks(self, block: usize) -> (u64, usize) {
        let size = (block as u64).max(1);
        // The rest is less than `block`.
        (self.blocks.saturating_add(self.bytes.0 / size), (self.bytes.0 % size) as usize)
    }
}

/// The flush at the end of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CopyFlush {
    /// `fdatasync`.
    pub fdatasync: bool,
    /// `fsync`.
    pub fsync: bool,
    /// Neither after a failure (BusyBox's way).
    #[serde(skip_serializing_if = "is_not")]
    pub unless_failed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyInput {
    /// The file; absent: standard input.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::name::maybe")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::name::PathText>"))]
    pub path: Option<PathBuf>,
    /// How it is opened and read.
    #[serde(default)]
    pub flags: EndFlags,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyOutput {
    /// The file; absent: standard output.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::name::maybe")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::name::PathText>"))]
    pub path: Option<PathBuf>,
    /// How it is opened and written.
    #[serde(default)]
    pub flags: EndFlags,
    /// It must not be there yet (`conv=excl`).
    #[serde(default)]
    pub exclusive: bool,
    /// It must be there already (`conv=nocreat`).
    #[serde(default)]
    pub no_create: bool,
    /// What it held beyond the copy stays (`conv=notrunc`).
    #[serde(default)]
    pub no_truncate: bool,
}

/// Flags of one end, as dd names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EndFlags {
    /// O_APPEND.
    pub append: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_DIRECTORY.
    pub directory: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// O_SYNC.
    pub sync: bool,
    /// Reads are repeated until a block is full.
    pub fullblock: bool,
    /// The count is one of bytes that come, in however many reads (BusyBox's `count_bytes`).
    #[serde(skip_serializing_if = "is_not")]
    pub count_bytes: bool,
    /// What stands before the place that is sought stays, be that less than a block away (BusyBox's
    /// `seek_bytes`).
    #[serde(skip_serializing_if = "is_not")]
    pub seek_bytes: bool,
    /// O_NONBLOCK.
    pub nonblock: bool,
    /// O_NOATIME.
    pub noatime: bool,
    /// Pages are dropped from the cache behind the copy.
    pub nocache: bool,
    /// O_NOCTTY.
    pub noctty: bool,
    /// O_NOFOLLOW.
    pub nofollow: bool,
}

impl EndFlags {
    /// What a write through these flags promises.
    pub fn durability(self) -> Durability {
        match self {
            Self { sync: true, .. } => Durability::OpenSync,
            Self { dsync: true, .. } => Durability::OpenDsync,
            _ => Durability::None,
        }
    }
}

/// What is done to the bytes between the ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RecordConversion {
    /// Another character set.
    pub charset: Charset,
    /// Another case.
    pub case: CaseChange,
    /// Neighbouring bytes change places.
    pub swab: bool,
    /// The same in each block by itself: a last odd byte stays where it is, and ends the copy if a block
    /// follows it (BusyBox's way).
    #[serde(skip_serializing_if = "is_not")]
    pub swab_blocks: bool,
    /// Lines to records of this length, filled with blanks (`conv=block cbs=N`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// Records of this length to lines, trailing blanks removed (`conv=unblock cbs=N`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unblock: Option<u64>,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

impl RecordConversion {
    /// Whether each byte stays in its block: reads need not be gathered.
    pub fn within_blocks(&self) -> bool {
        Self { swab_blocks: false, ..*self }.untouched()
    }

    /// Whether the bytes come out as they went in.
    pub fn untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// Character sets of dd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Charset {
    #[default]
    Keep,
    /// EBCDIC to ASCII.
    Ascii,
    /// ASCII to EBCDIC.
    Ebcdic,
    /// ASCII to IBM's other EBCDIC.
    Ibm,
}

/// Cases of dd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseChange {
    #[default]
    Keep,
    /// To lower case.
    Lower,
    /// To upper case.
    Upper,
}

/// What short input blocks are filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Resync {
    /// They stay short.
    #[default]
    No,
    Zeros,
    /// Blanks (with `block` or `unblock`).
    Blanks,
}

impl CopyWork {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.input_block.0 == 0 || self.output_block.0 == 0 {
            return Err(Refusal::new("a block of 0 bytes copies nothing", "give 1 or more"));
        }
        if self.to.exclusive && self.to.no_create {
            return Err(Refusal::new("cannot combine excl and nocreat", "leave one of them out"));
        }
        if let CopyCalls::Splice { pipe } = self.calls
            && !(1..=1 << 31).contains(&pipe.0)
        {
            return Err(Refusal::new(
                format!("a pipe of {pipe} for splice"),
                "give 1 byte to 2 GiB; 65536 is what pipes hold by themselves",
            ));
        }
        Ok(())
    }

    /// Why only read and write can do what this copy asks for, if so.
    pub fn only_read_write(&self) -> Option<&'static str> {
        let reasons = [
            (self.input_block != self.output_block, "the blocks of both sides differ"),
            (!self.block_for_block, "reads are gathered into full blocks"),
            (!self.records.untouched(), "bytes are changed on the way"),
            (self.resync != Resync::No, "short blocks are filled up"),
            (self.sparse, "blocks of zeros are passed over"),
            (self.keep_going, "it goes on after errors of reading"),
            (self.fsync_every_block, "every block is flushed by itself"),
            (self.from.flags.direct, "the input is read past the page cache"),
            (self.to.flags.direct, "the output is written past the page cache"),
            (self.to.flags.append, "the output is appended to"),
        ];
        reasons.into_iter().find_map(|(so, why)| so.then_some(why))
    }

    /// What a finished copy has promised.
    pub fn durability(&self) -> Durability {
        let opened = self.to.flags.durability();
        if opened != Durability::None {
            opened
        } else if self.fsync_every_block {
            Durability::FsyncEvery(crate::unit::Ops(1))
        } else if self.flush.fsync {
            Durability::FsyncAtEnd
        } else if self.flush.fdatasync {
            Durability::FdatasyncAtEnd
        } else {
            Durability::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_whole_blocks_and_a_rest_of_less() {
        for (blocks, bytes, block, expected) in [
            (3, 0, 512, (3, 0)),
            (3, 511, 512, (3, 511)),
            (3, 512, 512, (4, 0)),
            (0, (1 << 42) + 5, 1 << 20, (1 << 22, 5)),
            (u64::MAX, u64::MAX, 4096, (u64::MAX, 4095)),
        ] {
            let length = CopyLength { blocks, bytes: Bytes(bytes) };
            assert_eq!(length.in_blocks(block), expected, "{length:?} {block}");
        }
    }
}
