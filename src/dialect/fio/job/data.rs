//! What a job writes and what it checks: buffers, verification, errors that are borne, lists of I/Os.

use super::choices::{FioDedupeMode, FioMem, FioVerifyKind, FioVerifyPolicy};
use super::direction::PerDirection;

/// Bytes that are repeated over a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioBytePattern {
    /// The bytes. Empty is no pattern.
    pub bytes: Vec<u8>,
    /// Where in it the offset of the block stands, as 8 bytes of the machine's own order.
    pub offsets: Vec<usize>,
}

/// What is written, and the memory that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioData {
    pub zero_buffers: bool,
    /// Whether buffers are made anew for each write.
    pub refill_buffers: bool,
    /// Whether a few words of each 512 bytes change with each write.
    pub scramble_buffers: bool,
    /// What buffers are made of.
    pub pattern: FioBytePattern,
    /// How much of each chunk can be compressed away, percent: 0 to 100.
    pub compress_percentage: u32,
    /// The chunk, bytes.
    pub compress_chunk: u32,
    /// How many buffers are duplicates, percent: 0 to 100.
    pub dedupe_percentage: u32,
    pub dedupe_mode: FioDedupeMode,
    /// The size of the set of duplicates, percent of the file: 0 to 100.
    pub dedupe_working_set_percentage: u32,
    /// Whether all jobs have one set.
    pub dedupe_global: bool,
    pub mem: FioMem,
    /// The file that it is a mapping of.
    pub mem_file: Option<String>,
    /// What buffers are aligned to, bytes; 0 is as malloc does.
    pub iomem_align: u32,
    /// The size of a huge page, bytes.
    pub hugepage_size: u32,
    /// Memory that is locked by each clone, bytes.
    pub lockmem: u64,
}

impl Default for FioData {
    fn default() -> Self {
        Self {
            zero_buffers: false,
            refill_buffers: false,
            scramble_buffers: true,
            pattern: FioBytePattern::default(),
            compress_percentage: 0,
            compress_chunk: 512,
            dedupe_percentage: 0,
            dedupe_mode: FioDedupeMode::Repeat,
            dedupe_working_set_percentage: 5,
            dedupe_global: false,
            mem: FioMem::Malloc,
            mem_file: None,
            iomem_align: 0,
            hugepage_size: 4 << 20,
            lockmem: 0,
        }
    }
}

/// Which errors do not end a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioBorneErrors {
    pub read: bool,
    pub write: bool,
    /// Data that are not as written.
    pub verify: bool,
}

/// What is verified, and which errors are borne.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioVerify {
    /// What is written to be verified.
    pub kind: FioVerifyKind,
    /// Whether it is read back after the writes.
    pub do_verify: bool,
    /// Whether nothing is written, and what was written before is read.
    pub verify_only: bool,
    /// Which writes are verified from a file of state.
    pub policy: FioVerifyPolicy,
    /// Bytes between two headers; 0 is the block, until the job is complete.
    pub interval: u32,
    /// Where in that the header stands, bytes.
    pub offset: u32,
    /// What is behind the headers.
    pub pattern: FioBytePattern,
    /// Bytes after which the pattern is made anew; 0 is the interval.
    pub pattern_interval: u32,
    /// Whether the first wrong block ends the job.
    pub fatal: bool,
    /// Whether a wrong block is written to a file, and the right one to another.
    pub dump: bool,
    /// Threads that verify; 0 is the job's own.
    pub async_threads: u32,
    /// Their CPUs; empty is all.
    pub async_cpus: Vec<u32>,
    /// Blocks after which they are verified; 0 is at the end.
    pub backlog: u64,
    /// Blocks that are verified then; 0 is all of them.
    pub backlog_batch: u32,
    /// Whether the state of a run that ended early is read.
    pub state_load: bool,
    pub state_save: bool,
    /// Whether the number of the write is compared.
    pub write_sequence: bool,
    /// Whether the seed of the header is compared.
    pub header_seed: bool,
    /// How many verified blocks are trimmed, percent: 0 to 100.
    pub trim_percentage: u32,
    /// Whether trimmed blocks have to be zeros.
    pub trim_verify_zero: bool,
    /// Blocks after which they are trimmed; 0 is never.
    pub trim_backlog: u64,
    /// Blocks that are trimmed then; 0 is all of them.
    pub trim_backlog_batch: u32,
    /// Which errors do not end the job.
    pub borne: FioBorneErrors,
    /// Errors (`errno`) that are none: of reads, of writes, of verification.
    pub ignore_error: [Vec<i32>; 3],
    /// Whether each error is printed.
    pub error_dump: bool,
}

impl Default for FioVerify {
    fn default() -> Self {
        Self {
            kind: FioVerifyKind::None,
            do_verify: true,
            verify_only: false,
            policy: FioVerifyPolicy::Completed,
            interval: 0,
            offset: 0,
            pattern: FioBytePattern::default(),
            pattern_interval: 0,
            fatal: false,
            dump: false,
            async_threads: 0,
            async_cpus: Vec::new(),
            backlog: 0,
            backlog_batch: 0,
            state_load: false,
            state_save: true,
            write_sequence: true,
            header_seed: true,
            trim_percentage: 0,
            trim_verify_zero: true,
            trim_backlog: 0,
            trim_backlog_batch: 0,
            borne: FioBorneErrors::default(),
            ignore_error: [Vec::new(), Vec::new(), Vec::new()],
            error_dump: false,
        }
    }
}

/// A list of I/Os in place of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioReplay {
    /// The list that is done; several are separated by colons, `-` is standard input.
    pub read: Option<String>,
    /// Whether it is read piece by piece.
    pub chunked: bool,
    /// Whether what is done is printed (`--debug=io`).
    pub printed: bool,
    /// Where what is done is listed.
    pub write: Option<String>,
    /// Whether it is done as fast as it goes.
    pub no_stall: bool,
    /// The device that all of it goes to.
    pub redirect: Option<String>,
    /// What offsets are divided by, from 1.
    pub scale: u32,
    /// What offsets are rounded down to, bytes, a power of two; 0 is as they are.
    pub align: u32,
    /// How fast it is done, percent of the time that it took: from 1.
    pub time_scale: u32,
    /// Directions that are left out.
    pub skip: PerDirection<bool>,
    /// Whether flushes are left out.
    pub skip_sync: bool,
}

impl Default for FioReplay {
    fn default() -> Self {
        Self {
            printed: false,
            read: None,
            chunked: false,
            write: None,
            no_stall: false,
            redirect: None,
            scale: 1,
            align: 0,
            time_scale: 100,
            skip: PerDirection::all(false),
            skip_sync: false,
        }
    }
}
