//! A copy from one end to another, block by block: everything dd can be told to do.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Durability;
use crate::error::Refusal;
use crate::unit::Bytes;

/// A copy as dd makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// Where bytes come from.
    pub from: End,
    /// Where they go.
    pub to: Outlet,
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
    pub skip: Extent,
    /// Blocks or bytes of output that are passed over first.
    #[serde(default)]
    pub seek: Extent,
    /// Where to stop; absent: at the end of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Extent>,
    /// What is done to the bytes on the way.
    #[serde(default)]
    pub records: Records,
    /// Go on after errors of reading.
    #[serde(default)]
    pub keep_going: bool,
    /// Fill short input blocks up to `input_block` with zeros (`conv=sync`).
    #[serde(default)]
    pub resync: Resync,
    /// Pass over blocks of zeros in the output instead of writing them (`conv=sparse`).
    #[serde(default)]
    pub sparse: bool,
    /// What is made durable at the end, inside the timing. GNU dd does both, `fdatasync` first,
    /// when both are asked for.
    #[serde(default)]
    pub flush: Flush,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Extent {
    /// Whole blocks.
    pub blocks: u64,
    /// Bytes beyond them.
    pub bytes: Bytes,
}

/// The flush at the end of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Flush {
    /// `fdatasync`.
    pub fdatasync: bool,
    /// `fsync`.
    pub fsync: bool,
}

/// The input of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The file; absent: standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// How it is opened and read.
    #[serde(default)]
    pub flags: EndFlags,
}

/// The output of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outlet {
    /// The file; absent: standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Records {
    /// Another character set.
    pub charset: Charset,
    /// Another case.
    pub case: CaseChange,
    /// Neighbouring bytes change places.
    pub swab: bool,
    /// Lines to records of this length, filled with blanks (`conv=block cbs=N`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// Records of this length to lines, trailing blanks removed (`conv=unblock cbs=N`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unblock: Option<u64>,
}

impl Records {
    /// Whether the bytes come out as they went in.
    pub fn untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// Character sets of dd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Charset {
    /// As it is.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseChange {
    /// As it is.
    #[default]
    Keep,
    /// To lower case.
    Lower,
    /// To upper case.
    Upper,
}

/// What short input blocks are filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resync {
    /// They stay short.
    #[default]
    No,
    /// Zeros.
    Zeros,
    /// Blanks (with `block` or `unblock`).
    Blanks,
}

impl Copy {
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
