//! `assay card --capacity`: whether a device holds as much as it promises to.
//!
//! Tagged blocks are written and read back: usually some, spread over the space at places that lie a
//! power of two apart, so that a card whose addresses wrap around at a power of two, as most fakes do,
//! writes them over each other; with `--fill` all of it. Nothing that was there before is read and put
//! back: on a fake that would go to another place and do harm there. So a device is only used when it
//! holds nothing and is named twice, and on a file system only what is free.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use super::super::place::{PathType, target};
use super::args::CardArgs;
use assay_engine::sys::block::size_of_open;
use assay_engine::sys::limits::{ProcessLimit, limit};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, CacheDrop, Caching, Durability, FileOrder, Job, LayoutMode,
    Lifetime, Method, Mix, OffsetOrdering, Pattern, Phase, Plan, PlanOrigin, Region, RingOptions,
    Size, StopLimit, StopRule, StudyPlan, Target, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos};

/// Blocks that are spread over the space, at the most: with all of them more is written than a
/// controller keeps in memory.
const PLACES: u64 = 1024;
/// The size of such a block.
const SPREAD: Bytes = Bytes::kib(64);
/// The size of a block where all is written.
const FILL: Bytes = Bytes(MIB);
/// Files that fill a file system are no larger: FAT has no room for 4 GiB in one.
const FILE: Bytes = Bytes(GIB);
/// What is left free on a file system for its own records, of its free space, and at the least.
const LEFT_SHARE: u64 = 32;
const LEFT: u64 = 16 * MIB;
/// Places of direct I/O are multiples of this.
const GRAIN: u64 = 4096;
/// Before each phase the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(400);
/// File systems that set space aside without writing to it (`fallocate`), by the magic numbers of
/// statfs(2): ext4, XFS, btrfs, F2FS.
const SETS_ASIDE: [u32; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010];

/// A space to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedSpace {
    /// The device, or what may be used of the free space.
    pub size: Bytes,
    /// The largest file that may be made in it.
    pub file: Bytes,
    /// A file of it takes space all over it, though nothing was written yet.
    pub set_aside: bool,
}

/// Looks how large the space is.
pub(super) fn space(path: &Path, kind: PathType) -> Result<CheckedSpace, Error> {
    let fault = |doing: Doing, error: std::io::Error| {
        Error::from(Fault::new(doing, path.to_text(), &error))
    };
    if kind != PathType::Folder {
        let file = File::open(path).map_err(|error| fault(Doing::Open, error))?;
        let size = size_of_open(file.as_fd()).map_err(|error| fault(Doing::Size, error))?;
        return Ok(CheckedSpace {
            size: Bytes(size / GRAIN * GRAIN),
            file: Bytes(u64::MAX),
            set_aside: true,
        });
    }
    let free = rustix::fs::statvfs(path).map_err(|error| fault(Doing::Statvfs, error.into()))?;
    let system = rustix::fs::statfs(path).map_err(|error| fault(Doing::Statfs, error.into()))?;
    let free_bytes = free.f_bavail.saturating_mul(free.f_frsize);
    let used = free_bytes.saturating_sub(LEFT.max(free_bytes / LEFT_SHARE));
    let set_aside = SETS_ASIDE.contains(&(system.f_type as u32));
    // No write goes beyond the limit of this process (setrlimit(2)).
    let file = limit(ProcessLimit::FileSize).map_or(Bytes(u64::MAX), |(soft, _)| Bytes(soft));
    Ok(CheckedSpace { size: Bytes(used / MIB * MIB), file, set_aside })
}

/// The plan for what stands at the path.
///
/// # Errors
/// When the words contradict what stands there, or too little is free.
pub fn plan(
    words: &CardArgs,
    kind: PathType,
    space: CheckedSpace,
    typed: Vec<String>,
) -> Result<Plan, Refusal> {
    let shown = words.path.to_text();
    let one = (Size::Exactly(space.size), LayoutMode::Preallocated);
    let target = target(&words.path, kind, &words.consent.again, true, one)?;
    if space.size < FILL {
        return Err(Refusal::new(
            format!("too little is free on {shown} to be checked"),
            "free at least 32M, or name another folder",
        ));
    }
    if space.file < if words.fill { FILL } else { space.size } {
        return Err(Refusal::new(
            format!("no file may be larger than {} here (ulimit -f)", space.file),
            "lift that: ulimit -f unlimited",
        ));
    }
    if !words.fill && !space.set_aside {
        return Err(Refusal::new(
            format!(
                "the file system of {shown} sets no space aside: blocks cannot be spread over it"
            ),
            "add --fill, which writes all that is free, or name the bare device",
        ));
    }
    let phases =
        if words.fill { filled(target, kind, space, words) } else { spread(&target, space) };
    Ok(Plan {
        title: format!("card --capacity {shown}"),
        origin: PlanOrigin::of("card", typed),
        seed: words.seed.number(),
        aim: Some(StudyPlan::Capacity),
        phases,
    })
}

/// Blocks that are spread over the space, the last of them at its end.
fn spread(target: &Target, space: CheckedSpace) -> Vec<Phase> {
    let stride = space.size.0.div_ceil(PLACES).next_power_of_two().max(SPREAD.0);
    let last = space.size.0 - SPREAD.0;
    let offset = last % stride / GRAIN * GRAIN;
    let places = (last - offset) / stride + 1;
    let pattern = |action| Pattern {
        region: Region { offset: Bytes(offset), ..Region::default() },
        ..Pattern::of(
            Mix::only(action),
            OffsetOrdering::Spaced { stride: Bytes(stride) },
            BlockSize::Fixed(SPREAD),
        )
    };
    phases(target, pattern, Bytes(places * SPREAD.0))
}

/// All of it: a device from its beginning to its end, a file system by files.
fn filled(target: Target, kind: PathType, space: CheckedSpace, words: &CardArgs) -> Vec<Phase> {
    let target = match kind {
        PathType::Folder => {
            let files = space.size.0.div_ceil(FILE.min(space.file).0);
            Target::Files {
                dirs: vec![words.path.clone()],
                stem: ".assay-capacity".into(),
                named: Vec::new(),
                devices: Vec::new(),
                sizes: Vec::new(),
                count: files as u32,
                shared: true,
                size: Size::Exactly(Bytes(space.size.0 / files / MIB * MIB)),
                order: FileOrder::Sequential,
                layout: LayoutMode::AsFound,
                lifetime: Lifetime::Unnamed,
            }
        }
        PathType::File(_) | PathType::Device => target,
    };
    // Whole blocks up to the end.
    let all = bytes(&target).unwrap_or(space.size);
    let block = Bytes(FILL.0.min(1 << all.0.trailing_zeros()));
    let pattern =
        |action| Pattern::of(Mix::only(action), OffsetOrdering::Forward, BlockSize::Fixed(block));
    phases(&target, pattern, all)
}

/// Bytes of several files together.
fn bytes(target: &Target) -> Option<Bytes> {
    match target {
        Target::Files { count, size: Size::Exactly(size), .. } => {
            Some(Bytes(size.0 * u64::from(*count)))
        }
        _ => None,
    }
}

/// One phase that writes, and one that reads and counts what it finds.
fn phases(target: &Target, pattern: impl Fn(Action) -> Pattern, bytes: Bytes) -> Vec<Phase> {
    let phase = |name: &str, blocks: BlockWork, cold| {
        let stop = StopRule::until([StopLimit::Bytes(bytes)]);
        let job = Job { stop, ..Job::of(name, Work::Blocks(blocks)) };
        Phase { cold, quiet: QUIET, ..Phase::of(job) }
    };
    let blocks = |pattern| BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        iodepth: 4,
        ..BlockWork::of(target.clone(), pattern)
    };
    let write =
        BlockWork { durability: Durability::FdatasyncAtEnd, ..blocks(pattern(Action::Write)) };
    let read = blocks(Pattern { verify: Verify::Census, ..pattern(Action::Read) });
    vec![phase("write", write, CacheDrop::Keep), phase("read", read, CacheDrop::Target)]
}

#[cfg(test)]
mod tests {
    use super::super::super::told::words;
    use super::*;

    /// Files and the size of each that fill so much, where none may be larger than `file`.
    fn files(size: Bytes, file: Bytes) -> Result<(u32, Bytes), Refusal> {
        let words = words("--capacity --fill --seed 1 /mnt");
        let plan =
            plan(&words, PathType::Folder, CheckedSpace { size, file, set_aside: false }, vec![])?;
        plan.check().expect("sound");
        let Work::Blocks(blocks) = &plan.phases[0].jobs[0].work else { panic!("blocks") };
        let Target::Files { count, size: Size::Exactly(each), lifetime, .. } = blocks.target else {
            panic!("files")
        };
        assert_eq!(lifetime, Lifetime::Unnamed);
        Ok((count, each))
    }

    #[test]
    fn no_file_is_larger_than_any_may_be() {
        // FAT has room for 4 GiB less one byte.
        assert_eq!(files(Bytes(32 * GIB), Bytes(u64::MAX)), Ok((32, Bytes(GIB))));
        assert_eq!(files(Bytes(GIB), Bytes::mib(300)), Ok((4, Bytes::mib(256))));
        assert_eq!(files(Bytes::mib(10), Bytes::mib(4)), Ok((3, Bytes::mib(3))));
        let refusal = files(Bytes(GIB), Bytes(1000)).expect_err("less than a block");
        let said =
            "no file may be larger than 1000 B here (ulimit -f); lift that: ulimit -f unlimited";
        assert_eq!(refusal.to_string(), said);
    }

    #[test]
    fn the_last_block_lies_at_the_end_and_a_power_of_two_between_all() {
        for size in [MIB, 64 * MIB, 3 * GIB + 12 * 4096, 31_914_983_424, 4000 * GIB] {
            let space = CheckedSpace { size: Bytes(size), file: Bytes(u64::MAX), set_aside: true };
            let target = Target::Device { path: "/dev/x".into(), size: Size::Whole, consent: None };
            let [write, _] = spread(&target, space).try_into().expect("two phases");
            let Work::Blocks(blocks) = &write.jobs[0].work else { panic!("blocks") };
            let OffsetOrdering::Spaced { stride } = blocks.pattern.order else { panic!("spaced") };
            let StopLimit::Bytes(bytes) = write.jobs[0].stop.first_of[0] else { panic!("bytes") };
            let places = bytes.0 / SPREAD.0;
            assert!(stride.0.is_power_of_two() && (16..=PLACES + 1).contains(&places), "{size}");
            let end = blocks.pattern.region.offset.0 + (places - 1) * stride.0 + SPREAD.0;
            assert!(end <= size && size - end < GRAIN, "{size}: {end}");
        }
    }
}
