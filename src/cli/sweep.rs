//! `assay sweep`: how the rate depends on the size of an I/O, on how many are in flight, on workers
//! or on the share of reads; one of these down the page, or two of them as a grid.

mod over;

pub use over::VariedParam;

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{PathType, consents, fits, look_for_data, standing};
use super::ramp::RampOrder;
use super::target_args::{LoadArgs, SeedArgs, TargetArgs};
use crate::process::typing::time;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    self, ActionShare, BlockSize, BlockWork, CacheDrop, Caching, CellParams, Durability, Job,
    LayoutMode, Lifetime, Method, Mix, OffsetOrdering, Pattern, Phase, PhaseRef, Plan, PlanOrigin,
    Region, RingOptions, Size, StopRule, Study, StudyPlan, SweepAxis, SweepPacing, SweepPlan,
    Target, ToolProfile, Verify, Work,
};
use assay_plan::unit::{Bytes, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("block", |block| block.help("Block size, where it is not varied (default: 64k)")))]
#[command(mut_arg("depth", |depth| depth.help("I/Os in flight of each worker, where they are not varied (default: 4)")))]
#[command(mut_arg("workers", |workers| workers.help("Workers, where they are not varied (default: 1)")))]
#[command(after_help = "Examples: assay sweep /mnt/sd\n          \
                        assay sweep /mnt/sd --over bs=4k..1M --over depth=1..64")]
pub struct SweepArgs {
    /// What is measured.
    #[command(flatten)]
    pub target: TargetArgs,
    /// What to vary: bs, depth, workers or read (percent); once or twice
    ///
    /// A range (bs=4k..1M) doubles, reads (read=0..100) go in steps of 25; or with a list
    /// (bs=4k,64k,1M). Twice gives a grid. Without it bs=512..64M.
    #[arg(long, value_name = "WHAT=VALUES", value_parser = over::read)]
    pub over: Vec<VariedParam>,
    /// What to do
    #[arg(long, value_enum, default_value = "both", value_name = "ACTION")]
    pub action: SweepAction,
    /// The load, where it is not varied.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Order of the I/Os
    #[arg(long, value_enum, default_value = "forward", value_name = "ORDER")]
    pub order: RampOrder,
    /// Total time on a slow device; a fast one takes a third of it: 90s, 5m
    ///
    /// I/Os in flight are waited for. Cells for which no time is left are skipped.
    #[arg(long, default_value = "3m", value_name = "T", value_parser = time)]
    pub time: Nanos,
    /// Write a test file of exactly this size, however long that takes; of a file or device, use
    /// only its first part
    ///
    /// Without it the file becomes as large as can be written in a ninth of the time, at most
    /// 256 MiB.
    #[arg(long, value_name = "S")]
    pub size: Option<Bytes>,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SweepAction {
    /// Writes, flushed at the end of each cell, then reads
    Both,
    /// Reads
    Read,
    /// Writes
    Write,
}

/// Where nothing else is said.
const USUAL: CellParams = CellParams { block: Bytes::kib(64), iodepth: 4, workers: 1, reads: 0 };
/// The test file is no larger than this unless asked.
const LARGEST_FILE: Bytes = Bytes::mib(256);
/// Block of the phase that makes the file: so large that flushes do not decide how much it writes.
const FILE_BLOCK: Bytes = Bytes::mib(4);
/// The test file is written for this share of the time, and no longer.
const FILLING: u64 = 9;
/// More cells are no table, and no time would be left for one of them.
const MOST_CELLS: usize = 500;
/// Before each cell the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(200);
/// The most and the least time of a cell.
const LONGEST: Nanos = Nanos::secs(5);
const SHORTEST: Nanos = Nanos::millis(500);
/// What a cell takes beside its I/O: watching, opening, dropping, looking.
const BESIDE: Nanos = Nanos::millis(350);

/// The verb, as it stands in the origin of its plans.
pub const VERB: &str = "sweep";

/// How its remedies are spelled: where the blocks are varied, others are given there.
pub(super) fn tool(varied: bool) -> ToolProfile {
    let aligned = if varied { "--over bs={align}..1M" } else { "--block {align}" };
    ToolProfile { aligned: Some(aligned.into()), ..ToolProfile::default() }
}

impl PlanVerb for SweepArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        Ok(plan(self, look_for_data(&self.target.path)?, typed)?)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }
}

/// The plan for what stands at the path, without a look at the machine.
///
/// # Errors
/// When the words contradict each other or what stands there.
pub fn plan(words: &SweepArgs, kind: PathType, typed: Vec<String>) -> Result<Plan, Refusal> {
    let over = match words.over.as_slice() {
        [] => vec![VariedParam::usual()],
        some => some.to_vec(),
    };
    check(words, &over)?;
    let writes = writes(words, kind, &over)?;
    let params_of_cells = params_of_cells(words, &over, writes);
    // Larger blocks than there is room for are left out later, and said.
    let smallest =
        params_of_cells.iter().map(|cell_params| cell_params.block).min().unwrap_or_default();
    fits(&words.target.path, kind, words.size, smallest)?;
    let pace = pace(words.time, params_of_cells.len())?;
    let target = target(words, kind, writes);
    let ours = writes || kind == PathType::Folder;
    let cells: Vec<Phase> = params_of_cells
        .iter()
        .map(|cell_params| cell(words, &target, cell_params, &over, ours))
        .collect();
    let filling = ours.then(|| filling(words, &target));
    let first = usize::from(filling.is_some());
    let aim = SweepPlan {
        over: over.iter().map(|over| over.axis).collect(),
        cells: (first..).take(cells.len()).map(PhaseRef::from).collect(),
        pace: Some(pace),
    };
    Ok(Plan {
        title: format!("sweep {}", words.target.path.to_text()),
        origin: PlanOrigin::of(VERB, typed).with(tool(aim.varies(SweepAxis::Block))),
        seed: words.seed.number(),
        aim: Some(StudyPlan::Sweep(aim)),
        phases: filling.into_iter().chain(cells).collect(),
    })
}

/// The words that make no sense together.
fn check(words: &SweepArgs, over: &[VariedParam]) -> Result<(), Refusal> {
    let refused = |why: String, instead: &str| {
        Err(Refusal { place: "--over".into(), why, instead: instead.into() })
    };
    match over {
        [_] => {}
        [one, other] if one.axis == other.axis => {
            return refused(
                format!("{} is varied twice", one.name()),
                "give all its values in one list",
            );
        }
        [_, _] => {}
        _ => return refused(format!("{} things are varied", over.len()), "vary one or two"),
    }
    for (axis, word, given) in [
        (SweepAxis::Block, "--block", words.load.block.size.is_some()),
        (SweepAxis::Depth, "--depth", words.load.depth.each.is_some()),
        (SweepAxis::Workers, "--workers", words.load.workers.is_some()),
    ] {
        if given && over.iter().any(|over| over.axis == axis) {
            return Err(Refusal {
                place: word.into(),
                why: "it is varied, and given beside that".into(),
                instead: format!("leave {word} out, or vary something else"),
            });
        }
    }
    if words.load.block.size == Some(Bytes::ZERO) {
        return Err(Refusal {
            place: "--block".into(),
            why: "an I/O of 0 bytes moves nothing".into(),
            instead: "give a size such as 64k".into(),
        });
    }
    Ok(())
}

/// Whether anything is written but a test file, and whether that is allowed.
fn writes(words: &SweepArgs, kind: PathType, over: &[VariedParam]) -> Result<bool, Refusal> {
    let shown = words.target.path.to_text();
    let mixes = over.iter().any(|over| over.axis == SweepAxis::Reads);
    if mixes && words.action != SweepAction::Both {
        return Err(Refusal {
            place: "--action".into(),
            why: "the share of reads is varied, so both are done".into(),
            instead: "leave --action out".into(),
        });
    }
    let may = match kind {
        PathType::Folder => true,
        PathType::File(_) => false,
        PathType::Device => !words.target.again.is_empty(),
    };
    let must = mixes || words.action == SweepAction::Write;
    if must && !may && matches!(kind, PathType::File(_)) {
        return Err(Refusal::new(
            format!("{shown} is somebody's file, and would be overwritten"),
            "name its folder: a test file of our own is made there",
        ));
    }
    let wants = words.action != SweepAction::Read;
    consents(&words.target.path, kind, &words.target.again, must || (wants && may))?;
    Ok(may && wants)
}

/// Every cell, in the order in which they are done: a row after the other, in each the writes
/// before the reads.
fn params_of_cells(words: &SweepArgs, over: &[VariedParam], writes: bool) -> Vec<CellParams> {
    let mut params_of_cells = vec![words.load.or(USUAL)];
    for VariedParam { axis, values } in over {
        let varied = |cell_params: &CellParams| {
            let cell_params = *cell_params;
            values.iter().map(move |value| at(cell_params, *axis, *value))
        };
        params_of_cells = params_of_cells.iter().flat_map(varied).collect();
    }
    if over.iter().any(|over| over.axis == SweepAxis::Reads) {
        return params_of_cells;
    }
    let sides: &[u32] = match words.action {
        SweepAction::Write => &[0],
        SweepAction::Both if writes => &[0, 100],
        SweepAction::Read | SweepAction::Both => &[100],
    };
    let sided = |cell_params: &CellParams| {
        let cell_params = *cell_params;
        sides.iter().map(move |reads| CellParams { reads: *reads, ..cell_params })
    };
    params_of_cells.iter().flat_map(sided).collect()
}

/// The spot with another value on an axis. Values were read with their ranges.
fn at(cell_params: CellParams, axis: SweepAxis, value: u64) -> CellParams {
    let small = u32::try_from(value).unwrap_or(u32::MAX);
    match axis {
        SweepAxis::Block => CellParams { block: Bytes(value), ..cell_params },
        SweepAxis::Depth => CellParams { iodepth: small, ..cell_params },
        SweepAxis::Workers => CellParams { workers: small, ..cell_params },
        SweepAxis::Reads => CellParams { reads: small, ..cell_params },
    }
}

/// How the time is shared: on a fast device all is over after a third of it.
fn pace(whole: Nanos, cells: usize) -> Result<SweepPacing, Refusal> {
    if cells > MOST_CELLS {
        return Err(Refusal {
            place: "--over".into(),
            why: format!("a table of {cells} cells"),
            instead: format!("give fewer values: {MOST_CELLS} cells at most"),
        });
    }
    let share = |percent: u64| Nanos(whole.0 / 100 * percent / cells.max(1) as u64).less(BESIDE);
    let (least, most) = (share(27), share(95));
    if most < SHORTEST {
        let needed = Nanos((SHORTEST + BESIDE).0 * cells as u64 * 100 / 95);
        return Err(Refusal {
            place: "--time".into(),
            why: format!("too short for {cells} cells"),
            instead: format!("give {} or more, or fewer values", needed.as_secs().ceil()),
        });
    }
    let most = most.min(LONGEST);
    let least = least.clamp(SHORTEST, most);
    let needed = Nanos((most + BESIDE).0 * cells as u64) + Nanos(whole.0 / FILLING);
    Ok(SweepPacing { whole: needed.min(Nanos(whole.0 / 100 * 95)), least, most, end: Some(whole) })
}

fn target(words: &SweepArgs, kind: PathType, writes: bool) -> Target {
    let size = match (words.size, kind) {
        (Some(size), _) => Size::Exactly(size),
        (None, PathType::Folder) => Size::Written { most: LARGEST_FILE },
        (None, PathType::Device) if writes => Size::Written { most: LARGEST_FILE },
        (None, PathType::File(_) | PathType::Device) => Size::Whole,
    };
    let made = (size, LayoutMode::Preallocated);
    standing(&words.target.path, kind, &words.target.again, made, Lifetime::Remove)
}

/// The test file is written before anything is read from it or overwritten in it: what nobody has
/// written is neither read nor written as the rest is. Each write is durable before the next, so that
/// the time never goes into memory.
fn filling(words: &SweepArgs, target: &Target) -> Phase {
    let block = FILE_BLOCK.min(words.size.unwrap_or(LARGEST_FILE));
    let pattern = Pattern::of(
        Mix::only(plan::Action::Write),
        OffsetOrdering::Forward,
        BlockSize::Fixed(block),
    );
    let blocks = BlockWork {
        caching: Caching::DirectIfReal,
        durability: Durability::OpenDsync,
        ..BlockWork::of(target.clone(), pattern)
    };
    let stop = match words.size {
        Some(_) => StopRule::one_pass(),
        None => StopRule::pass_or(Nanos(words.time.0 / FILLING)),
    };
    Phase { quiet: QUIET, ..Phase::of(Job { stop, ..Job::of("file", Work::Blocks(blocks)) }) }
}

/// One cell. How long it really takes follows from what is found out meanwhile.
fn cell(
    words: &SweepArgs,
    target: &Target,
    cell_params: &CellParams,
    over: &[VariedParam],
    ours: bool,
) -> Phase {
    let mix = mix(cell_params);
    let writes = mix.writes();
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        durability: if writes { Durability::FdatasyncAtEnd } else { Durability::None },
        iodepth: cell_params.iodepth,
        ..BlockWork::of(target.clone(), pattern(words, cell_params, mix, ours))
    };
    let cold = if cell_params.reads > 0 { CacheDrop::Target } else { CacheDrop::Keep };
    let stop = StopRule::after(LONGEST);
    let job = Job {
        stop,
        workers: cell_params.workers,
        ..Job::of(name(cell_params, over), Work::Blocks(blocks))
    };
    Phase { cold, quiet: QUIET, ..Phase::of(job) }
}

fn mix(cell_params: &CellParams) -> Mix {
    let share = |action, weight| ActionShare { action, weight };
    match cell_params.reads {
        0 => Mix::only(plan::Action::Write),
        100 => Mix::only(plan::Action::Read),
        reads => {
            Mix(vec![share(plan::Action::Read, reads), share(plan::Action::Write, 100 - reads)])
        }
    }
}

/// Where the I/Os of a cell go; `ours`: data of this run are read.
fn pattern(words: &SweepArgs, cell_params: &CellParams, mix: Mix, ours: bool) -> Pattern {
    let forward = words.order == RampOrder::Forward;
    let order = if forward { OffsetOrdering::Forward } else { OffsetOrdering::Shuffled };
    Pattern {
        // Together they visit each block once: without direct I/O none meets what another has fetched.
        region: Region { divided: cell_params.workers > 1, ..Region::default() },
        verify: if ours && cell_params.reads == 100 { Verify::Tags } else { Verify::None },
        ..Pattern::of(mix, order, BlockSize::Fixed(cell_params.block))
    }
}

/// The name of a cell's phase: `write-64k`, `read-4k-q8`, `mix-r70`.
fn name(cell_params: &CellParams, over: &[VariedParam]) -> String {
    let action = match cell_params.reads {
        0 => "write",
        100 => "read",
        _ => "mix",
    };
    let parts = over.iter().map(|over| over.part_of_name(cell_params));
    std::iter::once(action.to_string()).chain(parts).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests;
