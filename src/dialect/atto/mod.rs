//! ATTO Disk Benchmark: its choices in, its table out.
//!
//! ATTO has windows and no command line, and how it measures a row is not published. So the words
//! are ours, the choices are those of versions 2 to 4, and the rule of a row is said in the heading
//! ([`rule`]): figures stand beside ATTO's, and are not claimed to be equal.

mod print;

pub use print::AttoTable;

use crate::report::sweep::SweepUnit;
use assay_plan::error::Refusal;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, CacheDrop, Caching, Durability, Fill, Job, Method, Mix, MoreWork,
    OffsetOrdering, Pattern, Phase, PhaseRef, Plan, PlanOrigin, RingOptions, StopLimit, StopRule,
    StudyPlan, SweepAxis, SweepPlan, Target, ToolProfile, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, KIB, MIB, Nanos};

/// The name of the dialect.
pub const NAME: &str = "atto";

/// What ATTO's window offers.
#[derive(Clone, Debug, PartialEq)]
pub struct AttoOptions {
    /// The transfer sizes, ascending.
    pub sizes: Vec<Bytes>,
    /// Total length: bytes of the file, and of each row and direction.
    pub length: Bytes,
    /// I/Os in flight, 1 to 256; one in the modes that know no queue.
    pub depth: u32,
    /// How I/Os are sent.
    pub mode: AttoMode,
    /// Past the page cache.
    pub direct: bool,
    /// Each write is durable when it is answered.
    pub write_through: bool,
    /// What is read is compared with what was written.
    pub verify: bool,
    /// What is written.
    pub data: Fill,
    /// A row ends after this time, whatever it has moved.
    pub row_limit: Nanos,
    /// What the figures are.
    pub unit: SweepUnit,
    /// A line for the heading; empty for none.
    pub description: String,
    /// Everything random follows from it.
    pub seed: u64,
    /// The words as typed, for the record.
    pub words: Vec<String>,
}

/// How I/Os are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AttoMode {
    /// As many at once as the queue is deep
    Overlapped,
    /// One after another
    Neither,
    /// One after another, each block read back and compared: a test of correctness, not of speed
    Compare,
}

/// The transfer sizes that versions 3 and 4 offer.
pub const SIZES: (Bytes, Bytes) = (Bytes(512), Bytes::mib(64));
/// The total lengths.
pub const LENGTHS: (Bytes, Bytes) = (Bytes::kib(64), Bytes(32 * GIB));
/// Before each row the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(200);
/// A row repeats its length until this time has passed: shorter ones cannot be judged.
const ROW_LEAST: Nanos = Nanos::millis(500);
/// Name of the phase that writes a device before its rows.
const LAYING: &str = "device";

/// How its remedies are spelled.
pub fn tool() -> ToolProfile {
    ToolProfile {
        aligned: Some("-f {align}".into()),
        size: Some("-l".into()),
        fitting: Some("give smaller sizes with -f and -t, or a larger -l".into()),
        ..ToolProfile::default()
    }
}

/// With the words that make it do more than it was asked for.
fn tool_for(options: &AttoOptions) -> ToolProfile {
    ToolProfile {
        more: vec![MoreWork {
            phase: None,
            done: options.length.0,
            most: LENGTHS.1.0,
            words: " -l {size}".into(),
        }],
        ..tool()
    }
}

/// The plan for a target of our own, as large as the total length.
///
/// # Errors
/// When a choice is out of its range.
pub fn plan(options: &AttoOptions, target: &Target) -> Result<Plan, Refusal> {
    check(options)?;
    let rows: Vec<Phase> = options
        .sizes
        .iter()
        .flat_map(|&size| {
            [Action::Write, Action::Read].map(|action| row(options, target, size, action))
        })
        .collect();
    // A file is laid out by its layout; a device has none.
    let laying = matches!(target, Target::Device { .. }).then(|| laying(options, target));
    let phases: Vec<Phase> = laying.into_iter().chain(rows).collect();
    Ok(Plan {
        title: NAME.into(),
        origin: PlanOrigin::of(NAME, options.words.clone()).with(tool_for(options)),
        seed: options.seed,
        aim: Some(StudyPlan::Sweep(sweep(options, phases.len()))),
        phases,
    })
}

/// Its rows as a sweep: of so many phases they are the last.
fn sweep(options: &AttoOptions, phases: usize) -> SweepPlan {
    let first = phases.saturating_sub(2 * options.sizes.len());
    SweepPlan {
        over: vec![SweepAxis::Block],
        cells: (first..phases).map(PhaseRef::from).collect(),
        pace: None,
    }
}

/// The name of a row.
fn name(size: Bytes, action: Action) -> String {
    format!("{}-{}", action.name(), short(size))
}

fn check(options: &AttoOptions) -> Result<(), Refusal> {
    let refused = |place: &str, why: String, instead: &str| {
        Err(Refusal { place: place.into(), why, instead: instead.into() })
    };
    let within = |size: Bytes, (least, most): (Bytes, Bytes)| (least..=most).contains(&size);
    if let Some(size) = options.sizes.iter().find(|size| !within(**size, SIZES)) {
        return refused("sizes", format!("no row of {size}"), "give 512 B to 64 MiB");
    }
    if options.sizes.is_empty() {
        return refused("sizes", "no row at all".into(), "let -f be no more than -t");
    }
    if !within(options.length, LENGTHS) {
        let why = format!("a total length of {}", options.length);
        return refused("-l", why, "give 64 KiB to 32 GiB");
    }
    if options.mode != AttoMode::Overlapped && options.depth > 1 {
        let why = format!("a queue of {} in a mode that sends one at a time", options.depth);
        return refused("-q", why, "leave -q out, or use --mode overlapped");
    }
    match &options.data {
        Fill::Repeat(bytes) if bytes.is_empty() => {
            refused("--pattern", "no bytes".into(), "give one or more, such as a5")
        }
        _ => Ok(()),
    }
}

/// A device is written once before the rows, as far as they reach.
fn laying(options: &AttoOptions, target: &Target) -> Phase {
    let block = BlockSize::Fixed(Bytes(MIB).min(options.length));
    let pattern = Pattern {
        fill: options.data.clone(),
        ..Pattern::of(Mix::only(Action::Write), OffsetOrdering::Forward, block)
    };
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: caching(options),
        durability: Durability::FdatasyncAtEnd,
        iodepth: 8,
        ..BlockWork::of(target.clone(), pattern)
    };
    Phase::of(Job { stop: StopRule::one_pass(), ..Job::of(LAYING, Work::Blocks(blocks)) })
}

/// One direction of a row.
fn row(options: &AttoOptions, target: &Target, size: Bytes, action: Action) -> Phase {
    let writes = action == Action::Write;
    let verify = match (options.mode, writes) {
        (AttoMode::Compare, true) => Verify::AfterWrite,
        (AttoMode::Compare, false) => Verify::Full,
        (_, false) if options.verify => Verify::Full,
        _ => Verify::None,
    };
    let pattern = Pattern {
        fill: options.data.clone(),
        verify,
        ..Pattern::of(Mix::only(action), OffsetOrdering::Forward, BlockSize::Fixed(size))
    };
    let overlapped = options.mode == AttoMode::Overlapped;
    let blocks = BlockWork {
        method: if overlapped { Method::IoUring(RingOptions::default()) } else { Method::Psync },
        caching: caching(options),
        durability: match (writes, options.write_through) {
            (false, _) => Durability::None,
            (true, true) => Durability::OpenDsync,
            (true, false) => Durability::FdatasyncAtEnd,
        },
        iodepth: if overlapped { options.depth } else { 1 },
        ..BlockWork::of(target.clone(), pattern)
    };
    // Whole blocks; a size that is larger than the file is left out.
    let bytes = Bytes((options.length.0 / size.0).max(1) * size.0);
    let first_of = vec![StopLimit::Bytes(bytes), StopLimit::Time(options.row_limit)];
    let name = name(size, action);
    let stop = StopRule { at_least: ROW_LEAST, ..StopRule::until(first_of) };
    let job = Job { stop, ..Job::of(name, Work::Blocks(blocks)) };
    Phase { cold: CacheDrop::Target, quiet: QUIET, ..Phase::of(job) }
}

fn caching(options: &AttoOptions) -> Caching {
    if options.direct { Caching::DirectIfReal } else { Caching::Buffered }
}

/// A size in the name of a phase: `512`, `64k`, `1m`.
fn short(size: Bytes) -> String {
    match size.0 {
        bytes if bytes.is_multiple_of(MIB) => format!("{}m", bytes / MIB),
        bytes if bytes.is_multiple_of(KIB) => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    }
}

/// The rule of a row, in words for the heading.
pub fn rule(options: &AttoOptions, through_memory: bool) -> String {
    let AttoOptions { length, row_limit, .. } = options;
    let queue = match options.mode {
        AttoMode::Overlapped => format!("{} in flight", options.depth),
        AttoMode::Neither => "one at a time".into(),
        AttoMode::Compare => "one at a time, each read back at once and compared".into(),
    };
    let flush = match (options.write_through, through_memory) {
        (true, _) => "each write is durable when it is answered",
        (false, false) => "writes end with one fdatasync, which is timed and counted",
        (false, true) => "writes end each time with one fdatasync, which is timed and counted",
    };
    let compared =
        if options.verify { "; what is read is compared with what was written" } else { "" };
    let between = if through_memory { " from a cold cache" } else { "" };
    format!(
        "{length} from the beginning of the file, {queue}; repeated{between} until {ROW_LEAST} have passed, \
         cut at {row_limit} (*); {flush}; cached pages are dropped before each row{compared}"
    )
}

/// What the data are, in words for the heading.
pub fn data(options: &AttoOptions) -> &'static str {
    match options.data {
        Fill::Random | Fill::Once { .. } | Fill::Compressible { .. } | Fill::Headed(_) => {
            "random: nothing below can compress it"
        }
        Fill::Zero | Fill::Repeat(_) | Fill::File(_) | Fill::Alike(_) => {
            "compressible data, as ATTO's: results of a compressing device or file system are not \
             comparable; --incompressible writes random data"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::plan::{LayoutMode, Lifetime, Size};

    fn options() -> AttoOptions {
        AttoOptions {
            sizes: vec![Bytes(512), Bytes::kib(64), Bytes::mib(1)],
            length: Bytes::mib(256),
            depth: 4,
            mode: AttoMode::Overlapped,
            direct: true,
            write_through: false,
            verify: false,
            data: Fill::Zero,
            row_limit: Nanos::secs(20),
            unit: SweepUnit::Bytes,
            description: String::new(),
            seed: 1,
            words: vec![],
        }
    }

    fn target() -> Target {
        Target::Scratch {
            dir: "/mnt".into(),
            size: Size::Exactly(Bytes::mib(256)),
            layout: LayoutMode::Written,
            lifetime: Lifetime::Remove,
        }
    }

    fn first_row(options: &AttoOptions) -> (BlockWork, StopRule) {
        let plan = plan(options, &target()).expect("a plan");
        plan.check().expect("sound");
        let job = plan.phases[0].jobs[0].clone();
        let Work::Blocks(blocks) = job.work else { panic!("no blocks") };
        (blocks, job.stop)
    }

    #[test]
    fn every_size_is_written_and_then_read() {
        let plan = plan(&options(), &target()).expect("a plan");
        plan.check().expect("sound");
        let names: Vec<&str> = plan.phases.iter().map(|phase| phase.name.as_str()).collect();
        let rows = ["write-512", "read-512", "write-64k", "read-64k", "write-1m", "read-1m"];
        assert_eq!(names, rows);
    }

    #[test]
    fn choices_become_flags() {
        let (blocks, stop) = first_row(&options());
        assert_eq!((blocks.iodepth, blocks.caching), (4, Caching::DirectIfReal));
        assert_eq!(blocks.durability, Durability::FdatasyncAtEnd);
        let both = [StopLimit::Bytes(Bytes::mib(256)), StopLimit::Time(Nanos::secs(20))];
        assert_eq!(stop.first_of, both);
        let through = AttoOptions { write_through: true, direct: false, ..options() };
        let (blocks, _) = first_row(&through);
        assert_eq!((blocks.durability, blocks.caching), (Durability::OpenDsync, Caching::Buffered));
        let compare = AttoOptions { mode: AttoMode::Compare, depth: 1, ..options() };
        let (blocks, _) = first_row(&compare);
        assert_eq!((blocks.method, blocks.iodepth), (Method::Psync, 1));
        assert_eq!(blocks.pattern.verify, Verify::AfterWrite);
    }

    #[test]
    fn what_the_window_does_not_offer_is_refused() {
        for (options, says) in [
            (AttoOptions { sizes: vec![Bytes(256)], ..options() }, "no row of 256 B"),
            (AttoOptions { sizes: vec![Bytes::mib(128)], ..options() }, "no row of 128 MiB"),
            (AttoOptions { sizes: vec![], ..options() }, "no row at all"),
            (AttoOptions { length: Bytes::kib(32), ..options() }, "a total length of 32 KiB"),
            (AttoOptions { mode: AttoMode::Neither, ..options() }, "a queue of 4 in a mode"),
            (AttoOptions { data: Fill::Repeat(vec![]), ..options() }, "no bytes"),
        ] {
            let refusal = plan(&options, &target()).expect_err(says);
            assert!(refusal.to_string().contains(says), "{refusal}");
        }
    }
}
