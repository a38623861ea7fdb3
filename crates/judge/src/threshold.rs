//! Every number that a verdict turns on, in one table, each with its reason.
//!
//! Shares are of 1. A rule may combine thresholds; it has none of its own.

use super::words::share;
use assay_plan::unit::{Bytes, KIB, MIB, Nanos};

/// Bytes per second that few single drives exceed: what PCIe 3.0 carries on four lanes, and what 4.0 drives write.
/// Through a virtual disk they have not been seen to.
pub const DRIVE: u64 = 4_000_000_000;

/// Of the bytes the program moved, the share that must have passed the device: the rest is the
/// inexactness of counters that are not read at one instant.
pub const REACHED: f64 = 0.98;

/// Below this share the device took no part worth the name: journal and read-ahead bytes alone
/// make as much.
pub const UNTOUCHED: f64 = 0.05;

/// After a complete flush, a device that took less than this was given fewer bytes than were
/// written: something on the way made them fewer. Above it, rounding may.
pub const STORED: f64 = 0.90;

/// The distance of two samples: what is read at the edge of a phase may be wrong by one of them.
pub const SAMPLE: Nanos = Nanos::millis(100);

/// The pace of a flush that was not watched to its end is told from so many of the device's answers: one
/// more or less is an eighth.
pub const LUMPS: u64 = 8;

/// The most that a sample's inexactness may excuse of a run, however short.
pub const SAMPLE_SHARE_MOST: f64 = 0.05;

/// Of a write of which so much is left to the flush after it, the pace of that flush, unless it is short, is the
/// device's.
pub const LEFT_MOST: f64 = 0.90;

/// What a flush that had nothing left to do still writes, of the run: superblock and journal.
pub const SETTLED_ADDS: f64 = 0.01;

/// Below this many bytes at the device its counters prove nothing good: journal and read-ahead are
/// a large part of them.
pub const SMALL_BYTES: Bytes = Bytes::mib(8);

/// Below this many requests at the device, likewise.
pub const SMALL_REQUESTS: u64 = 64;

/// A shorter run says more about its start and end than about what lies between.
pub const SHORT: Nanos = Nanos::millis(250);

/// A run of fewer steps of the clock than this is measured to no better than one in a thousand.
pub const CLOCK_STEPS: u64 = 1000;

/// Share of a range that may be in memory, or be holes, before a read of it is not one of the
/// device: the share by which good runs differ anyway.
pub const RESIDENT: f64 = 0.01;

/// Bytes beyond the asked ones that a file system may add for its own records, as a share.
pub const OWN_SHARE: f64 = 0.02;

/// And at the least, however little was asked: one journal commit.
pub const OWN_BYTES: u64 = 256 * KIB;

/// Requests that a file system may make for its own records beside direct I/O: those of [`OWN_BYTES`].
pub const OWN_REQUESTS: u64 = 64;

/// What one flush or synchronous write may add: a journal commit of a few blocks, rounded to the
/// log's unit.
pub const OWN_PER_FLUSH: u64 = 64 * KIB;

/// What one flush of a mapping may write for a single store: the kernel keeps a file in memory in
/// pieces of up to a huge page (folios), and a store makes the whole piece dirty.
pub const OWN_PER_MAPPED_FLUSH: u64 = 2 * MIB;

/// What one write to a place of its own may add where nothing is overwritten in place (btrfs,
/// bcachefs, F2FS, ZFS): a leaf of each of three trees, twice.
pub const OWN_PER_MOVED_WRITE: u64 = 96 * KIB;

/// A block of a file system's own records.
pub const RECORD: u64 = 4 * KIB;

/// Trims that share such a block with the extents they leave: half of the 340 that it holds (ext4;
/// a leaf of XFS holds 250).
pub const TRIMS_PER_LEAF: u64 = 170;

/// Bytes of a file whose free space one such block maps (ext4: a bit for each 4 KiB).
pub const TRIMS_PER_MAP: u64 = 128 * MIB;

/// How often ext4 commits its journal, unless its mount options say otherwise.
pub const OWN_COMMIT: Nanos = Nanos::secs(5);

/// How often file systems commit, unless their mount options say otherwise: jbd2's commit interval,
/// XFS's fs.xfs.xfssyncd_centisecs, btrfs's commit interval, F2FS's cp_interval, bcachefs's
/// journal_flush_delay.
pub const COMMIT_INTERVALS: &[(&str, Nanos)] = &[
    ("ext3", Nanos::secs(5)),
    ("ext4", Nanos::secs(5)),
    ("xfs", Nanos::secs(30)),
    ("btrfs", Nanos::secs(30)),
    ("f2fs", Nanos::secs(60)),
    ("bcachefs", Nanos::secs(1)),
];

/// A run of fewer commits than this has met one more or less than the next run will.
pub const COMMITS: u64 = 3;

/// Of the blocks of a device that were looked at, as a share: more zeros than a disk in use has
/// here and there.
pub const ZEROS: f64 = 0.05;

/// Fewer blocks than this tell little about a device: of so many, one in twenty is two by chance.
pub const SAMPLES_LEAST: u32 = 32;

/// With fewer than this of a kind their median is chance.
pub const SAMPLES_EACH: u32 = 8;

/// Zeros that come so many times as fast are made up: flash takes 50 us and more to read a page, and a
/// bus 20 us to answer. On a machine with other work medians wander by half.
pub const ZEROS_FASTER: f64 = 2.0;

/// Data that the storage has already must be written so much faster than fresh ones, each time: rates
/// of equal runs differ by a tenth.
pub const SAME_FASTER: f64 = 1.2;

/// Read-ahead is still running when the program stops: twice its window, and this.
pub const AHEAD_BYTES: u64 = MIB;

/// Foreign share of the device's bytes above which the figure may be off.
pub const FOREIGN: f64 = 0.05;

/// Foreign share above which it is not the program's figure any more.
pub const FOREIGN_RUINS: f64 = 0.25;

/// Who moved less than this share of the foreign bytes is not the one to be named.
pub const CULPRIT: f64 = 0.10;

/// Of a source that came from its disk to a smaller part than this, the disk read little beside what it
/// wrote.
pub const FROM_DISK: f64 = 0.50;

/// A device that wrote this many times what the program did, or more, is worth a word: the usual journal
/// of a flushed file adds a few percent.
pub const AMPLIFIED: f64 = 1.5;

/// Below the device that the path names, others matter only when that device had little time
/// left.
pub const LOWER_BUSY: f64 = 0.50;

/// A rate this close to a configured limit is that limit.
pub const LIMIT_NEAR: f64 = 0.03;

/// A rate this close below it, while requests evidently wait above the queue, likewise: what is
/// missing is the start and the end of the run.
pub const LIMIT_NEAR_IDLE: f64 = 0.10;

/// A rate of less than this share of a limit is not held by it. Where the kernel counts a request twice
/// the rate is half the limit; what is missing beside that is the start and the end of the run.
pub const LIMIT_HOLDS: f64 = 0.40;

/// What held a run for more of its time than this is what its number measures.
pub const HELD_MOST: f64 = 0.50;

/// A device busy for less than this does not set the rate.
pub const IDLE: f64 = 0.50;

/// A limiter lets the bytes of this much time through at once.
pub const LIMIT_SLICE: Nanos = Nanos::millis(200);

/// Limits are looked at as often as this: one may have changed so long before that was seen.
pub const LIMIT_LOOK: Nanos = Nanos::millis(500);

/// Waits above the queue: the caller uses less than this share of a CPU...
pub const WAITING_CPU: f64 = 0.50;

/// ...and the device works, and flushes, for less than this share of the time.
pub const WAITING_BUSY: f64 = 0.20;

/// Flushes for each write from which on a rate is the latency of a flush.
pub const FLUSH_BOUND: f64 = 0.5;

/// With fewer writes than this the flush at the end is already half of them.
pub const FLUSH_WRITES: u64 = 16;

/// A device with one I/O at a time that is busy for less than this waits for the caller.
pub const LATENCY_BUSY: f64 = 0.90;

/// CPU time of each worker, as a share of one CPU, from which on the program may be what sets the
/// rate...
pub const CPU_FULL: f64 = 0.90;

/// ...if the device works and flushes for less than this share of the time.
pub const CPU_DEVICE: f64 = 0.70;

/// As `CPU_FULL` where calls end in memory and the device works for less than `IDLE`: more of the time
/// went to the program than to the device.
pub const CPU_MOST: f64 = 0.50;

/// As `CPU_FULL` where each byte is a call of its own: between the calls is little else than their flush.
pub const CPU_OF_BYTES: f64 = 0.50;

/// Making the data (`/dev/urandom`) for more than this share of the time: the disk waited for them.
pub const MAKING: f64 = 0.50;

/// The shortest time without any completion that is a stall.
pub const STALL: Nanos = Nanos::secs(1);

/// And it must be this many times the slowest of a hundred operations.
pub const STALL_P99: f64 = 20.0;

/// Or this many times the usual one, if it is more than [`LASTS`] of the time, or comes often.
pub const STALL_USUAL: f64 = 6.0;

/// An interval with less than this share of the usual one is a stall.
pub const STALL_RATE: f64 = 0.10;

/// The shortest gap that is a stall where such gaps come often...
pub const STALL_OFTEN: Nanos = Nanos::millis(300);
/// ...and more than this share of the time is in them.
pub const STALL_PART: f64 = 0.20;
/// Fewer operations or intervals than this have no usual one.
pub const STALL_OPS: u64 = 20;

/// An interval long enough that chance does not empty it holds this many operations.
pub const STALL_INTERVAL_OPS: f64 = 10.0;

/// Intervals from which on there is a usual one.
pub const STALL_INTERVALS: usize = 5;

/// Waiting for a CPU for more of the time than this leaves open what else was waited for.
pub const WAITING_FOR_CPU: f64 = 0.10;

/// Whoever used so much of one CPU all the time is named beside the figure: less is what a desktop does
/// by itself.
pub const BESIDE_CPU: f64 = 0.50;

/// And only where this run waited for a CPU so much: below that it took nothing from it.
pub const BESIDE_WAIT: f64 = 0.01;

/// Share of the I/Os in flight that must be in the device's queue, on average, for the device to be
/// what the others wait for.
pub const QUEUE_FULL: f64 = 0.5;

/// Rates that differ by less are equal: two runs of the same differ by more.
pub const EQUAL: f64 = 0.01;

/// Read calls for each request from which on read-ahead served them: two calls from one request.
pub const AHEAD_REQUESTS: f64 = 0.5;

/// What a device may do beyond what was asked before it is worth a word.
pub const MORE: f64 = 0.10;

/// Written in a phase that only reads, as a share of what was read.
pub const WRITES_OF_READS: f64 = 0.01;

/// A p99 from when I/Os were due that is this many times the one from when they were sent counts
/// stalls that the other leaves out.
pub const OMITTED: f64 = 2.0;

/// Where no more than this share of the blocks that were looked at are wrong, all of them were written: the right ones
/// say so.
pub const STRAY: f64 = 0.01;

/// The share of the I/Os per second that were asked for of a load, from which on its rate is reached: the
/// edges of the counted time take or give a few.
pub const RATE_REACHED: f64 = 0.99;

/// More of a call's time than this outside of the device is no time of the device.
pub const OUTSIDE_DEVICE: f64 = 0.50;

/// And the wait for a CPU is what it was if it is this share of that time at least.
pub const WAIT_EXPLAINS: f64 = 0.50;

/// Below this planned depth a mean cannot tell whether it was reached.
pub const DEPTH_LEAST: u32 = 4;

/// The share of the planned depth that the device must have had on average.
pub const DEPTH_REACHED: f64 = 0.5;

/// Extents in each MiB from which on a file is in pieces: requests of 256 KiB at the most.
pub const FRAGMENTS: f64 = 4.0;

/// A small file has a few extents in any case.
pub const FRAGMENTS_LEAST: u64 = 16;

/// With less free space than this, file systems look long for room and take small pieces of it.
pub const NEARLY_FULL: f64 = 0.10;

/// Swapped bytes as a share of what the run moved.
pub const SWAPPED: f64 = 0.01;

/// A device that falls to less than one in this has two speeds. The catalogue of falls that people
/// have measured begins at 1.25; machines shared with others wander that much by themselves.
pub const CLIFF: f64 = 2.0;

/// A drift is looked for in steps of this length at the least: shorter ones see the lumps of a limiter.
pub const DRIFT_STEP: Nanos = Nanos::millis(200);

/// Share of the intervals of each side that must lie on their side of the middle of both rates.
pub const CLIFF_SIDE: f64 = assay_plan::stats::ON_THEIR_SIDE;

/// Each side lasts this long at least, and this share of the run.
pub const CLIFF_PART: Nanos = Nanos::secs(1);

/// See [`CLIFF_PART`].
pub const CLIFF_PART_SHARE: f64 = 0.05;

/// Shorter intervals see the lumps of a limiter or of writeback.
pub const CLIFF_INTERVAL: Nanos = Nanos::millis(500);

/// And more of them than this tell no more.
pub const CLIFF_INTERVALS: u64 = 60;

/// A speed class is held against the rate in each second: a camera's buffer covers about that.
pub const CLASS_SECOND: Nanos = Nanos::secs(1);

/// A shorter phase is cut into so many parts instead; with half of them, nothing is said.
pub const CLASS_SECONDS: u64 = 5;

/// One second in twenty may be slower: the host, too, has something to do now and then.
pub const CLASS_SLOW: f64 = 0.05;

/// An interval with less than this share of its side's rate does not belong to that rate.
pub const CLIFF_GOING: f64 = 0.25;

/// An average no further above the second rate than this is that rate.
pub const CLIFF_HARMLESS: f64 = 1.0 + LASTS;

/// A figure that parts by more than this from what lasts is not it: honest figures of devices whose speed is known
/// lie within it.
pub const LASTS: f64 = 0.03;

/// Neighbouring stretches of time whose rates differ by less than this factor have one level: machines
/// shared with others wander by a fifth.
pub const LEVEL_CHANGE: f64 = 1.3;

/// What is shorter than this share of the time is no level of its own.
pub const LEVEL_PART: f64 = 0.10;

/// The least spread of the rates of single intervals, as a share of their mean, that is taken for chance.
pub const LEVEL_SPREAD: f64 = 0.05;

/// Who waits for memory for more of the time than this has a rate that is partly its limit's.
pub const FOR_MEMORY: f64 = 0.05;

/// A rate that spreads by as much as its median has no typical value.
pub const UNEVEN: f64 = 1.0;

/// A run that did not run for more of its time than this has an average that is not its rate.
pub const STOPPED: f64 = 0.05;

/// A machine that was suspended for so long was so on purpose: shorter ones are the two clocks' own difference.
pub const SUSPENDED: Nanos = Nanos::millis(100);

/// Of the time in which a run did not run, this share and more in a frozen control group: that is why.
pub const FROZEN: f64 = 0.80;

/// Whoever waits for the other end of a pipe for more of the time than this has a rate that is partly the
/// other end's.
pub const OTHER_END: f64 = 0.10;

/// Share of the time, and of the bytes, that must be explained before a number is called sound.
pub const EXPLAINED: f64 = 0.95;

/// Waking a thread that sleeps takes no longer than this, whatever a machine has measured or nobody has. On a
/// virtual machine that has to be woken itself it takes 50 to 100 us; what takes longer is something else.
pub const WAKE_UP: Nanos = Nanos::micros(250);

/// Less of the bytes that a program read from a device than this were asked for by it: others had them read.
pub const OWN_READS: f64 = 0.95;

/// What gathers in memory of a buffered write, as a share of it, before there was a burst.
pub const BURST_SHARE: f64 = 0.05;

/// A rate is the link's when it is this share of what the link can carry: 1 in 1.15, for what remains
/// are commands and gaps.
pub const LINK_NEAR: f64 = 0.87;

/// Of USB 2 no more than three quarters of what its signal carries have been seen.
pub const LINK_NEAR_USB_2: f64 = 0.65;

/// Fewer free inodes than this share are soon used up by a test of small files.
pub const FREE_INODES: f64 = 0.01;

/// A link of at most this many bytes per second is slower than the disks that hang on it: USB 2, and
/// the card buses up to UHS-I.
pub const LINK_SLOW: u64 = 104_000_000;

/// Life used of an eMMC, in tenths: from here on it is near its end.
pub const CARD_LIFE: u32 = 10;

/// Erase units from this size on make small writes expensive.
pub const CARD_ERASE: Bytes = Bytes::mib(1);

/// Two figures of a lesson that differ by less teach nothing: devices differ by that from one run to
/// the next.
pub const LESSON: f64 = 1.5;
/// Degrees, in thousandths, below a drive's own limit from which on it is warm: thermometers of drives
/// are off by as much.
pub const WARM: i64 = 3_000;

/// A frequency limit that falls to less than one in this takes away more than a governor's next step.
pub const CEILING_FELL: f64 = 1.2;

/// Share of the writes from which on first writes or overwrites are a part of the figure worth a word.
pub const FIRST_WRITES: f64 = 0.05;

/// Up to this size what a write allocates costs as much as the write: an extent, its records, and their
/// place in the journal.
pub const SMALL_WRITE: Bytes = Bytes::kib(64);

/// A lock lets one write at a time to the device; what comes after it overlaps by less than another.
pub const LOCKED: f64 = 2.0;

/// From this size on a card is written in whole pages of its flash.
pub const LARGE_WRITE: Bytes = Bytes::kib(512);

/// Scattered small writes that come to less of the bytes per second of ordered ones wait for more than
/// the flash itself needs.
pub const SCATTERED: f64 = 0.01;

/// Places from which on a difference between them may be one of the device.
pub const PLACES: usize = 3;

/// Rates at several places that differ by more than this share of the highest: by half of it the same
/// run wanders by itself.
pub const PLACES_DIFFER: f64 = 0.20;

/// Times the capacity of a flash drive after which it has used all of its spare blocks: what the SNIA's
/// specification wants written before a test.
pub const PRECONDITIONED: f64 = 2.0;

/// Single reads that take this many times what they took before wait for something.
pub const AFTERMATH: f64 = 2.0;

/// And this much longer: less is the machine's own wandering.
pub const AFTERMATH_LEAST: Nanos = Nanos::micros(200);

/// Share of the speed at which a machine copies that can only be reached by copying most of the time.
pub const COPYING: f64 = 0.70;

/// A threshold in words, by its name: for the catalogue, so that it cannot say another number.
/// Those that no text names are not here.
pub(super) fn spoken(name: &str) -> Option<String> {
    Some(match name {
        "REACHED" => share(REACHED).to_string(),
        "UNTOUCHED" => share(UNTOUCHED).to_string(),
        "STORED" => share(STORED).to_string(),
        "RESIDENT" => share(RESIDENT).to_string(),
        "FOREIGN" => share(FOREIGN).to_string(),
        "FOREIGN_RUINS" => share(FOREIGN_RUINS).to_string(),
        "LIMIT_NEAR" => share(LIMIT_NEAR).to_string(),
        "LIMIT_HOLDS" => share(LIMIT_HOLDS).to_string(),
        "WAITING_CPU" => share(WAITING_CPU).to_string(),
        "WAITING_BUSY" => share(WAITING_BUSY).to_string(),
        "CPU_FULL" => share(CPU_FULL).to_string(),
        "FROM_DISK" => share(FROM_DISK).to_string(),
        "AMPLIFIED" => AMPLIFIED.to_string(),
        "CPU_MOST" => share(CPU_MOST).to_string(),
        "IDLE" => share(IDLE).to_string(),
        "CPU_OF_BYTES" => share(CPU_OF_BYTES).to_string(),
        "CPU_DEVICE" => share(CPU_DEVICE).to_string(),
        "LATENCY_BUSY" => share(LATENCY_BUSY).to_string(),
        "STALL_RATE" => share(STALL_RATE).to_string(),
        "LINK_NEAR_USB_2" => share(LINK_NEAR_USB_2).to_string(),
        "LINK_NEAR" => share(LINK_NEAR).to_string(),
        "CARD_LIFE" => CARD_LIFE.to_string(),
        "MORE" => share(MORE).to_string(),
        "WRITES_OF_READS" => share(WRITES_OF_READS).to_string(),
        "OUTSIDE_DEVICE" => share(OUTSIDE_DEVICE).to_string(),
        "WAIT_EXPLAINS" => share(WAIT_EXPLAINS).to_string(),
        "WAITING_FOR_CPU" => share(WAITING_FOR_CPU).to_string(),
        "BESIDE_WAIT" => share(BESIDE_WAIT).to_string(),
        "BESIDE_CPU" => share(BESIDE_CPU).to_string(),
        "DEPTH_REACHED" => share(DEPTH_REACHED).to_string(),
        "NEARLY_FULL" => share(NEARLY_FULL).to_string(),
        "SWAPPED" => share(SWAPPED).to_string(),
        "CLIFF_SIDE" => share(CLIFF_SIDE).to_string(),
        "BURST_SHARE" => share(BURST_SHARE).to_string(),
        "ZEROS" => share(ZEROS).to_string(),
        "SAME_FASTER" => share(SAME_FASTER - 1.0).to_string(),
        "ZEROS_FASTER" => ZEROS_FASTER.to_string(),
        "SAMPLES_LEAST" => SAMPLES_LEAST.to_string(),
        "SAMPLES_EACH" => SAMPLES_EACH.to_string(),
        "COMMITS" => COMMITS.to_string(),
        "AHEAD_REQUESTS" => AHEAD_REQUESTS.to_string(),
        "OMITTED" => OMITTED.to_string(),
        "STRAY" => share(STRAY).to_string(),
        "DEPTH_LEAST" => DEPTH_LEAST.to_string(),
        "FRAGMENTS" => FRAGMENTS.to_string(),
        "CLIFF" => CLIFF.to_string(),
        "LASTS" => share(LASTS).to_string(),
        "FLUSH_BOUND" => FLUSH_BOUND.to_string(),
        "STALL_P99" => STALL_P99.to_string(),
        "STALL" => STALL.to_string(),
        "STALL_USUAL" => STALL_USUAL.to_string(),
        "STALL_OFTEN" => STALL_OFTEN.to_string(),
        "STALL_PART" => share(STALL_PART).to_string(),
        "WARM" => format!("{} K", WARM / 1000),
        "CEILING_FELL" => CEILING_FELL.to_string(),
        "FIRST_WRITES" => share(FIRST_WRITES).to_string(),
        "SMALL_WRITE" => SMALL_WRITE.to_string(),
        "LOCKED" => LOCKED.to_string(),
        "SCATTERED" => share(SCATTERED).to_string(),
        "PLACES" => PLACES.to_string(),
        "PLACES_DIFFER" => share(PLACES_DIFFER).to_string(),
        "PRECONDITIONED" => PRECONDITIONED.to_string(),
        "AFTERMATH" => AFTERMATH.to_string(),
        "AFTERMATH_LEAST" => AFTERMATH_LEAST.to_string(),
        "COPYING" => share(COPYING).to_string(),
        "SHORT" => SHORT.to_string(),
        "SUSPENDED" => SUSPENDED.to_string(),
        "STOPPED" => share(STOPPED).to_string(),
        "LEVEL_CHANGE" => LEVEL_CHANGE.to_string(),
        "DRIVE" => super::words::pace(DRIVE as f64).to_string(),
        "HELD_MOST" => share(HELD_MOST).to_string(),
        "FOR_MEMORY" => share(FOR_MEMORY).to_string(),
        "UNEVEN" => share(UNEVEN).to_string(),
        "OTHER_END" => share(OTHER_END).to_string(),
        "OWN_READS" => share(OWN_READS).to_string(),
        "EXPLAINED" => share(EXPLAINED).to_string(),
        "CLOCK_STEPS" => CLOCK_STEPS.to_string(),
        _ => return None,
    })
}
