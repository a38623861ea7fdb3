//! What a job does, and on which files.

use super::choices::{
    FioFadvise, FioFallocate, FioFiletype, FioLockfile, FioRandomGenerator, FioRw, FioRwSequencer,
    FioServiceOrder,
};
use super::direction::PerDirection;

/// An amount of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioAmount {
    Bytes(u64),
    /// Percent of the file: 0 to 100.
    Percent(u8),
    /// Zones of a zoned device.
    Zones(u32),
}

/// A block size among several, and its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioBlockShare {
    /// The block size, bytes.
    pub bytes: u64,
    /// Its share of I/Os, percent: 0 to 100.
    pub percent: u32,
}

/// A part of the file, and how many of the I/Os go there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioAccessZone {
    /// Its share of I/Os, percent: 0 to 100.
    pub accesses: u32,
    pub size: FioAmount,
}

/// How random offsets are spread. A centre is a part of the file, 0 to 1; none is anywhere for Zipf and
/// Pareto, and the middle for a normal distribution.
#[derive(Clone, Debug, PartialEq)]
pub enum FioDistribution {
    Random,
    Zipf {
        /// Theta, anything but 1.
        theta: f64,
        center: Option<f64>,
    },
    Pareto {
        /// The power, above 0 and below 1.
        h: f64,
        center: Option<f64>,
    },
    Normal {
        /// The deviation, percent of the file: 0 to below 100.
        deviation: f64,
        center: Option<f64>,
    },
    /// In zones whose sizes are shares of the file or bytes; none for a direction is evenly.
    Zoned(PerDirection<Vec<FioAccessZone>>),
    /// Blocks by their numbers, over and over.
    Sequence(Vec<u32>),
}

/// What a job does, block after block.
#[derive(Clone, Debug, PartialEq)]
pub struct FioPattern {
    pub rw: FioRw,
    /// `rw=randread:N`: I/Os for each random place, from 1.
    pub sequence_length: u32,
    /// `rw=read:SIZE`: bytes from the end of a block to the start of the next; negative goes back.
    pub sequence_gap: i64,
    pub sequencer: FioRwSequencer,
    /// `bs`, bytes, from 1.
    pub bs: PerDirection<u64>,
    /// The smallest block, bytes; 0 is `bs` until the job is complete.
    pub min_bs: PerDirection<u64>,
    /// The largest block, bytes; 0 is `bs` until the job is complete.
    pub max_bs: PerDirection<u64>,
    /// Block sizes with their shares, the smallest share first; empty where there is no `bssplit`.
    pub bssplit: PerDirection<Vec<FioBlockShare>>,
    /// What offsets are multiples of, bytes; 0 is the smallest block until the job is complete.
    pub ba: PerDirection<u64>,
    /// Whether block sizes of a range may be anything, not multiples of the smallest.
    pub bs_unaligned: bool,
    /// Whether `bs=A,B` means sequential and random I/Os, and not reads and writes.
    pub bs_is_seq_rand: bool,
    /// Whether all runs have the same random numbers.
    pub randrepeat: bool,
    pub randseed: u64,
    /// Whether random blocks may be done twice before all are done once.
    pub norandommap: bool,
    /// Whether the job goes on where memory for the map is not to be had.
    pub softrandommap: bool,
    /// The generator of random offsets.
    pub random_generator: FioRandomGenerator,
    /// Whether places are those that leave an SSD as a long random job would, and of which SSD.
    pub sprandom: FioSprandom,
    /// How random offsets are spread.
    pub distribution: FioDistribution,
    /// Whether a sequence of blocks is a stride, and not numbers of blocks.
    pub sequence_stride: bool,
    /// How much of a random job is random, percent: 0 to 100.
    pub percentage_random: PerDirection<u32>,
    /// How much of a mixed job is reads, percent: 0 to 100.
    pub rwmix_read: u32,
    /// How much of it is writes, percent: 0 to 100.
    pub rwmix_write: u32,
    /// Ranges in a trim, from 1.
    pub num_range: u32,
}

impl FioPattern {
    /// Whether all blocks of all directions have one size, when the job is complete.
    pub fn one_block_size(&self) -> bool {
        let first = self.min_bs.read;
        self.min_bs.iter().chain(self.max_bs.iter()).all(|size| *size == first)
    }
}

impl Default for FioPattern {
    fn default() -> Self {
        Self {
            rw: FioRw::Read,
            sequence_length: 1,
            sequence_gap: 0,
            sequencer: FioRwSequencer::Sequential,
            bs: PerDirection::all(4096),
            min_bs: PerDirection::all(0),
            max_bs: PerDirection::all(0),
            bssplit: PerDirection::all(Vec::new()),
            ba: PerDirection::all(0),
            bs_unaligned: false,
            bs_is_seq_rand: false,
            randrepeat: true,
            randseed: 0x89,
            norandommap: false,
            softrandommap: false,
            random_generator: FioRandomGenerator::Tausworthe,
            sprandom: FioSprandom::default(),
            distribution: FioDistribution::Random,
            sequence_stride: false,
            percentage_random: PerDirection::all(100),
            rwmix_read: 50,
            rwmix_write: 50,
            num_range: 1,
        }
    }
}

/// A pass over an SSD that leaves it as a long random job would.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioSprandom {
    pub asked: bool,
    /// Parts that it is divided into.
    pub regions: u32,
    /// What the SSD has beyond its size, as a share of it.
    pub spare: f64,
    /// Bytes of its cache; 0 is none.
    pub cache: u64,
}

impl Default for FioSprandom {
    fn default() -> Self {
        Self { asked: false, regions: 100, spare: 0.15, cache: 0 }
    }
}

/// How the next file of several is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioFileService {
    pub order: FioServiceOrder,
    /// I/Os in a file before the next is chosen, from 1; 0 was typed where it is 0.
    pub ios: u32,
    /// Theta of Zipf, the power of Pareto, the deviation of a normal distribution in percent.
    pub parameter: f64,
    /// The centre, a part of the list from 0 to 1.
    pub center: Option<f64>,
}

/// The files of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct FioTarget {
    /// Files that are named one by one; empty where names are made by `filename_format`.
    pub filenames: Vec<String>,
    /// Folders that clones take in turn; empty is the working directory.
    pub directories: Vec<String>,
    /// How names of files are made; keywords are `$jobname`, `$jobnum`, `$filenum`, `$clientuid`.
    pub filename_format: String,
    /// Whether names have the address of a network client before them; nothing in a run on one machine.
    pub unique_filename: bool,
    /// A folder whose files are all files of the job.
    pub opendir: Option<String>,
    /// What kind of file all of them are.
    pub filetype: FioFiletype,
    /// Whether files are locked during an I/O.
    pub lockfile: FioLockfile,
    /// Files, from 1.
    pub nrfiles: u32,
    /// Files that are open at a time; 0 is all, until the job is complete.
    pub openfiles: u32,
    /// How the next file is chosen.
    pub file_service: FioFileService,
    /// `size`; none is the size of what is there.
    pub size: Option<FioAmount>,
    /// `io_size`; none is `size`.
    pub io_size: Option<FioAmount>,
    /// Whether it writes until there is no space.
    pub fill_device: bool,
    /// The smallest and largest size of a file, bytes, from 1.
    pub filesize: Option<(u64, u64)>,
    /// Whether I/O begins at the end of the files.
    pub file_append: bool,
    /// Where the region begins.
    pub offset: FioAmount,
    /// What is added to it for each clone.
    pub offset_increment: FioAmount,
    /// What offsets are rounded up to, bytes; 0 is the smallest block.
    pub offset_align: u64,
    /// I/Os after which the job ends; 0 is no limit.
    pub number_ios: u64,
    /// How a file is laid out.
    pub fallocate: FioFallocate,
    /// Whether files are written before the run.
    pub overwrite: bool,
    /// Whether files are created when they are opened for I/O.
    pub create_on_open: bool,
    /// Whether the job is over when its files are there.
    pub create_only: bool,
    /// Whether files of jobs are created one after the other.
    pub create_serialize: bool,
    /// Whether files are flushed when they are created.
    pub create_fsync: bool,
    /// Whether files may be created.
    pub allow_file_create: bool,
    /// Whether mounted devices may be written to.
    pub allow_mounted_write: bool,
    /// Whether files are removed at the end.
    pub unlink: bool,
    /// Whether files are removed after each loop.
    pub unlink_each_loop: bool,
    /// Whether files are read before the run, so that they are in the cache.
    pub pre_read: bool,
    /// What the kernel is told about the order of I/O.
    pub fadvise: FioFadvise,
    /// Whether files are dropped from the cache before the run.
    pub invalidate: bool,
}

impl Default for FioTarget {
    fn default() -> Self {
        Self {
            filenames: Vec::new(),
            directories: Vec::new(),
            filename_format: "$jobname.$jobnum.$filenum".into(),
            unique_filename: true,
            opendir: None,
            filetype: FioFiletype::None,
            lockfile: FioLockfile::None,
            nrfiles: 1,
            openfiles: 0,
            file_service: FioFileService {
                order: FioServiceOrder::Roundrobin,
                ios: 1,
                parameter: 0.0,
                center: None,
            },
            size: None,
            io_size: None,
            fill_device: false,
            filesize: None,
            file_append: false,
            offset: FioAmount::Bytes(0),
            offset_increment: FioAmount::Bytes(0),
            offset_align: 0,
            number_ios: 0,
            fallocate: FioFallocate::Native,
            overwrite: false,
            create_on_open: false,
            create_only: false,
            create_serialize: true,
            create_fsync: true,
            allow_file_create: true,
            allow_mounted_write: false,
            unlink: false,
            unlink_each_loop: false,
            pre_read: false,
            fadvise: FioFadvise::Typical,
            invalidate: true,
        }
    }
}
