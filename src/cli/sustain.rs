//! `assay sustain`: what a device keeps up when it is written to for long.

use std::path::PathBuf;

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{PathType, fits, look, target};
use super::ramp::RampOrder;
use super::target_args::{BlockArgs, ConsentArgs, DepthArgs, SeedArgs};
use crate::process::typing::time;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::{NameText as _, quoted};
use assay_plan::plan::{
    Action, BlockSize, BlockWork, Caching, Durability, Job, LayoutMode, Method, Mix,
    OffsetOrdering, Pattern, Phase, Plan, PlanOrigin, RingOptions, Size, SteadyRule, StopLimit,
    StopRule, StudyPlan, Target, ToolProfile, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("block", |block| block.help("Size of a write").default_value("1M")))]
#[command(mut_arg("depth", |depth| depth.help("Writes in flight").default_value("8")))]
pub struct SustainArgs {
    /// A folder on the device, or a block device
    ///
    /// In a folder one test file is written over and over, and removed.
    pub path: PathBuf,
    /// Leave to overwrite a device.
    #[command(flatten)]
    pub consent: ConsentArgs,
    /// Maximum time: 60, 5m, 2h
    ///
    /// A round of the steady state is a twenty-fifth of it: the SNIA's specification gives up
    /// after 25 rounds.
    #[arg(long, default_value = "5m", value_name = "T", value_parser = time)]
    pub time: Nanos,
    /// Maximum bytes to write: 10G, 500M
    #[arg(long, default_value = "64G", value_name = "S")]
    pub bytes: Bytes,
    /// The size of a write.
    #[command(flatten)]
    pub block: BlockArgs,
    /// Order of the writes
    #[arg(long, value_enum, default_value = "forward", value_name = "ORDER")]
    pub order: RampOrder,
    /// Writes in flight.
    #[command(flatten)]
    pub depth: DepthArgs,
    /// Size of the test file, or of the part of the device that is used (default: half of what is
    /// free; the whole device)
    #[arg(long, value_name = "S")]
    pub size: Option<Bytes>,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

/// Rounds after which the SNIA's specification gives up.
const ROUNDS: u64 = 25;
/// The shortest round that the lumps of a limiter or of writeback do not fill.
const ROUND: Nanos = Nanos::secs(1);
/// The test file takes this share of what is free.
const SHARE: f64 = 0.5;
/// Before it the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(400);
/// No verb takes a longer time, s.
const WEEK: u64 = 604_800;

impl PlanVerb for SustainArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        Ok(plan(self, look(&self.path)?, typed)?)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }
}

/// The plan for what stands at the path, without a look at the machine.
///
/// # Errors
/// When the words contradict each other or what stands there.
pub fn plan(words: &SustainArgs, kind: PathType, typed: Vec<String>) -> Result<Plan, Refusal> {
    let block = words.block.bytes();
    fits(&words.path, kind, words.size, block)?;
    let round = Nanos(words.time.0 / ROUNDS);
    if round < ROUND {
        return Err(Refusal {
            place: "--time".into(),
            why: format!("{ROUNDS} rounds in {} are shorter than {ROUND}", words.time),
            instead: format!("give {} or more", ROUNDS * ROUND.0 / 1_000_000_000),
        });
    }
    if words.bytes < block {
        return Err(Refusal {
            place: "--bytes".into(),
            why: format!("{} is less than one block", words.bytes),
            instead: format!("give {block} or more"),
        });
    }
    let size = match (words.size, kind) {
        (Some(size), _) => Size::Exactly(size),
        (None, PathType::Folder) => Size::ShareOfFree { share: SHARE, most: words.bytes },
        (None, PathType::File(_) | PathType::Device) => Size::Whole,
    };
    let target =
        target(&words.path, kind, &words.consent.again, true, (size, LayoutMode::Preallocated))?;
    let tool = ToolProfile { longer: Some(longer(words, &typed)), ..ToolProfile::default() };
    Ok(Plan {
        title: format!("sustain {}", words.path.to_text()),
        origin: PlanOrigin::of("sustain", typed).with(tool),
        seed: words.seed.number(),
        aim: Some(StudyPlan::Sustain),
        phases: vec![phase(words, target, round)],
    })
}

/// The words that were typed, with twice the budget.
fn longer(words: &SustainArgs, typed: &[String]) -> String {
    let time = words.time.0.div_ceil(1_000_000_000).saturating_mul(2).min(WEEK);
    let bytes = match words.bytes.0.saturating_mul(2) {
        bytes if bytes.is_multiple_of(GIB) => format!("{}G", bytes / GIB),
        bytes if bytes.is_multiple_of(MIB) => format!("{}M", bytes / MIB),
        bytes => bytes.to_string(),
    };
    let mut line = format!("assay sustain --time {time} --bytes {bytes}");
    let mut rest = typed.iter().skip_while(|word| matches!(word.as_str(), "assay" | "sustain"));
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--time" | "--bytes" => {
                rest.next();
            }
            one if one.starts_with("--time=") || one.starts_with("--bytes=") => {}
            one => {
                line.push(' ');
                line.push_str(&quoted(one));
            }
        }
    }
    line
}

fn phase(words: &SustainArgs, target: Target, round: Nanos) -> Phase {
    let order = match words.order {
        RampOrder::Random => OffsetOrdering::Shuffled,
        RampOrder::Forward => OffsetOrdering::Forward,
    };
    let first_of = vec![
        StopLimit::Steady(SteadyRule { round, ..SteadyRule::default() }),
        StopLimit::Time(words.time),
        StopLimit::Bytes(words.bytes),
    ];
    let pattern =
        Pattern::of(Mix::only(Action::Write), order, BlockSize::Fixed(words.block.bytes()));
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        durability: Durability::FdatasyncAtEnd,
        iodepth: words.depth.number(),
        ..BlockWork::of(target, pattern)
    };
    let stop = StopRule::until(first_of);
    Phase { quiet: QUIET, ..Phase::of(Job { stop, ..Job::of("write", Work::Blocks(blocks)) }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_budget_is_the_same_line_with_twice_as_much() {
        let typed = ["sustain", "--time", "25", "--bytes=100M", "--depth", "4", "/mnt/my disk"];
        let typed: Vec<String> = typed.map(String::from).into();
        let parsed = <Line as clap::Parser>::parse_from(&typed).words;
        assert_eq!(
            longer(&parsed, &typed),
            "assay sustain --time 50 --bytes 200M --depth 4 '/mnt/my disk'"
        );
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        words: SustainArgs,
    }
}
