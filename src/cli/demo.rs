//! `assay demo`: a trap shown on this machine, and the truth beside it, in about half a minute.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::conduct::{PlanVerb, conduct, without_place};
use super::output::OutputArgs;
use super::place::{PathType, any_seed, look, standing};
use crate::process::Environment;
use crate::process::SOUND;
use crate::process::stdout::printed;
use crate::report::lesson::{about, list};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, Arrivals, BlockSize, BlockWork, CacheDrop, Caching, Cap, Caps, DeviceModel, Durability,
    Fill, Job, LayoutMode, LessonPlan, LessonTopic, Lifetime, Method, Mix, OffsetOrdering, Pattern,
    Phase, Plan, PlanOrigin, Rate, RingOptions, Size, StopRule, StudyPlan, Target, Work,
};
use assay_plan::unit::{Bytes, GIB, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay demo flush /mnt/sd")]
pub struct DemoArgs {
    /// Which trap to show; without it the lessons are listed
    #[arg(value_parser = lesson_words())]
    pub lesson: Option<LessonTopic>,
    /// A folder on the device (default: this one)
    ///
    /// A test file is made there and removed: an eighth of what is free at most, and 1 GiB.
    pub path: Option<PathBuf>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

/// The names of the lessons, and what each is about.
fn lesson_words() -> impl TypedValueParser<Value = LessonTopic> {
    let possible =
        LessonTopic::ALL.map(|topic| PossibleValue::new(topic.name()).help(about(topic)));
    PossibleValuesParser::new(possible).try_map(|name| {
        LessonTopic::ALL.into_iter().find(|topic| topic.name() == name).ok_or("no such lesson")
    })
}

#[derive(Clone)]
struct LessonHalf {
    action: Action,
    order: OffsetOrdering,
    block: Bytes,
    fill: Fill,
    layout: LayoutMode,
    /// Only so much of the file; all of it when absent.
    size: Option<Bytes>,
    method: Method,
    iodepth: u32,
    caching: Caching,
    durability: Durability,
    cold: CacheDrop,
    rate: Rate,
    /// It ends after one pass over the file, or this time.
    time: Nanos,
}

/// `dd if=/dev/zero of=x bs=1M`, with data that do not compress.
const WRITE: LessonHalf = LessonHalf {
    action: Action::Write,
    order: OffsetOrdering::Forward,
    block: Bytes::mib(1),
    fill: Fill::Random,
    layout: LayoutMode::Preallocated,
    size: None,
    method: Method::Psync,
    iodepth: 1,
    caching: Caching::Buffered,
    durability: Durability::None,
    cold: CacheDrop::Keep,
    rate: Rate::CLOSED,
    time: Nanos::secs(15),
};

/// `dd if=x of=/dev/null bs=1M`.
const READ: LessonHalf = LessonHalf { action: Action::Read, ..WRITE };

/// Reads of 4 KiB anywhere in the file, past the page cache, one after the other.
fn seeks() -> LessonHalf {
    LessonHalf {
        order: OffsetOrdering::Shuffled,
        block: Bytes::kib(4),
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        cold: CacheDrop::Target,
        time: Nanos::secs(3),
        ..READ
    }
}

/// A hundred requests per second on a device that stands still for one second in ten. No machine
/// has to be stopped for it: the device is a model, and its clock, too.
fn stalls() -> LessonHalf {
    let (latency, stall_every, stall) = (Nanos::millis(4), Nanos::secs(10), Nanos::secs(1));
    LessonHalf {
        method: Method::Sim(DeviceModel { latency, stall_every, stall, ..DeviceModel::default() }),
        caching: Caching::Buffered,
        cold: CacheDrop::Keep,
        time: Nanos::secs(100),
        ..seeks()
    }
}

/// Requests per second of it.
const PER_SECOND: f64 = 100.0;
/// The size that the model pretends to have.
const MODELLED: Bytes = Bytes(GIB);

/// The way in which the file is made: as much as is durable within the time, so that no lesson takes
/// longer on a slow card. Its pages stay in memory.
const MAKING: LessonHalf = LessonHalf {
    block: Bytes::mib(4),
    durability: Durability::OpenDsync,
    time: Nanos::secs(3),
    ..WRITE
};

/// `dd if=/dev/zero of=x bs=4M oflag=dsync`, for some time: nobody knows before how much becomes
/// of zeros. Preallocated files are not compressed on btrfs, nor those that began with noise.
const LOGGED: LessonHalf = LessonHalf {
    layout: LayoutMode::AsFound,
    caching: Caching::Buffered,
    time: Nanos::secs(5),
    ..MAKING
};

/// A write so short that memory has room for it almost anywhere.
const SHORT: Bytes = Bytes::mib(8);
/// The file is no larger than this...
const LARGEST: Bytes = Bytes(GIB);
/// ...and no more than one part in so many of what is free...
const SHARE: u64 = 8;
/// ...but large enough that journal and read-ahead are a small part of what the device counts.
const LEAST: Bytes = SHORT;
/// What was not to be flushed is flushed under the watch for no longer than this.
const SETTLE: Nanos = Nanos::secs(30);
/// Before each phase the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(200);

/// The phases of a lesson. The first is only there where its size must be found out.
const FILE: &str = "file";
const TRAP: &str = "trap";
const CURE: &str = "cure";

/// What people do, and what they should do.
fn halves(topic: LessonTopic) -> [LessonHalf; 2] {
    let flushed = LessonHalf { durability: Durability::FsyncAtEnd, ..WRITE };
    let cold = LessonHalf { cold: CacheDrop::Target, ..READ };
    match topic {
        LessonTopic::Flush => [WRITE, flushed],
        LessonTopic::Cache => [READ, cold],
        LessonTopic::Holes => [
            LessonHalf { layout: LayoutMode::Sparse, ..READ },
            LessonHalf { layout: LayoutMode::Written, ..cold },
        ],
        LessonTopic::Burst => [LessonHalf { size: Some(SHORT), ..WRITE }, flushed],
        LessonTopic::Compress => [LessonHalf { fill: Fill::Zero, ..LOGGED }, LOGGED],
        LessonTopic::Readahead => [
            LessonHalf { block: seeks().block, time: seeks().time, ..cold },
            LessonHalf { method: Method::Psync, ..seeks() },
        ],
        LessonTopic::Depth => [seeks(), LessonHalf { iodepth: 32, ..seeks() }],
        LessonTopic::Omission => [
            LessonHalf { rate: Rate::capped(Caps::of_all(Cap::of_iops(PER_SECOND))), ..stalls() },
            LessonHalf { rate: Rate::arriving(Arrivals::Even { iops: PER_SECOND }), ..stalls() },
        ],
    }
}

impl DemoArgs {
    /// Nothing is said but the verb: the lessons are listed.
    fn lists(&self) -> bool {
        let OutputArgs { plan, record, report, json, checksummed } = &self.common;
        let said = *plan || *json || *checksummed || record.is_some() || !report.is_empty();
        self.lesson.is_none() && !said
    }
}

impl PlanVerb for DemoArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        let Some(topic) = self.lesson else {
            return Err(Refusal::new(
                "LESSON is missing",
                "'assay demo' lists them; write for example 'assay demo flush .'",
            )
            .into());
        };
        if topic == LessonTopic::Omission {
            return match &self.path {
                None => Ok(plan(topic, &Target::Nowhere { size: MODELLED }, typed)),
                Some(path) => Err(Refusal::new(
                    format!("'{}' cannot be made to stand still for this lesson", path.to_text()),
                    "leave it out: 'omission' is shown on a modelled device",
                )
                .into()),
            };
        }
        let path = self.path.as_deref().unwrap_or(Path::new("."));
        if look(path)? != PathType::Folder {
            return Err(Refusal::new(
                format!("a lesson makes a file of its own, and '{}' is no folder", path.to_text()),
                "name a folder on the device",
            )
            .into());
        }
        Ok(plan(topic, &scratch(path, room(path)?), typed))
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }

    fn run(
        &self,
        typed: Vec<String>,
        environment: &Environment,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<u8, Error> {
        if self.lists() {
            printed(list(environment.out_style(), out))?;
            return Ok(SOUND);
        }
        conduct(&self.planned(typed)?, &self.common, environment, out, err).map_err(without_place)
    }
}

/// The size of the file at most.
fn room(path: &Path) -> Result<Bytes, Error> {
    let shown = path.to_text();
    let there = rustix::fs::statvfs(path)
        .map_err(|error| Fault::new(Doing::Look, shown.to_string(), &error.into()))?;
    let most = LARGEST.min(Bytes(there.f_bavail.saturating_mul(there.f_frsize) / SHARE));
    if most < LEAST {
        let needed = Bytes(LEAST.0 * SHARE);
        return Err(Refusal::new(
            format!("too little is free in '{shown}' for a file that is a small part of it"),
            format!("free {needed}, or name another folder"),
        )
        .into());
    }
    Ok(most)
}

fn scratch(path: &Path, most: Bytes) -> Target {
    let how = (Size::Written { most }, LayoutMode::Preallocated);
    standing(path, PathType::Folder, &[], how, Lifetime::Remove)
}

/// The plan of a lesson on a file of that target, or nowhere, without a look at the machine.
pub fn plan(topic: LessonTopic, target: &Target, typed: Vec<String>) -> Plan {
    let [trap, cure] = halves(topic);
    let mut phases = Vec::new();
    if !matches!(topic, LessonTopic::Compress | LessonTopic::Omission) {
        // What is to be more than the burst must be written for longer.
        let time = if topic == LessonTopic::Burst { Nanos(2 * MAKING.time.0) } else { MAKING.time };
        phases.push(phase(FILE, &LessonHalf { time, ..MAKING }, target));
    }
    phases.extend([phase(TRAP, &trap, target), phase(CURE, &cure, target)]);
    let first = phases.len() - 2;
    let aim = LessonPlan { topic, trap: first.into(), cure: (first + 1).into() };
    Plan {
        title: format!("demo {}", topic.name()),
        origin: PlanOrigin::of("demo", typed),
        seed: any_seed(),
        aim: Some(StudyPlan::Lesson(aim)),
        phases,
    }
}

/// The target as one half wants it.
fn laid(target: &Target, half: &LessonHalf) -> Target {
    match target.clone() {
        Target::Scratch { dir, size, lifetime, .. } => Target::Scratch {
            dir,
            size: half.size.map_or(size, Size::Exactly),
            layout: half.layout,
            lifetime,
        },
        other => other,
    }
}

fn phase(name: &str, half: &LessonHalf, target: &Target) -> Phase {
    let unflushed = half.action == Action::Write && half.durability == Durability::None;
    let modelled = matches!(half.method, Method::Sim(_));
    let mix = Mix::only(half.action);
    let pattern = Pattern {
        fill: half.fill.clone(),
        ..Pattern::of(mix, half.order.clone(), BlockSize::Fixed(half.block))
    };
    let blocks = BlockWork {
        method: half.method,
        caching: half.caching,
        durability: half.durability,
        iodepth: half.iodepth,
        ..BlockWork::of(laid(target, half), pattern)
    };
    let job = Job {
        rate: half.rate,
        stop: StopRule::pass_or(half.time),
        ..Job::of(name, Work::Blocks(blocks))
    };
    Phase {
        cold: half.cold,
        settle: if unflushed { SETTLE } else { Nanos::ZERO },
        quiet: if modelled { Nanos::ZERO } else { QUIET },
        ..Phase::of(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_is_a_good_plan_of_half_a_minute() {
        for topic in LessonTopic::ALL {
            let target = scratch(Path::new("/x"), LARGEST);
            let plan = plan(topic, &target, vec![topic.name().into()]);
            plan.check().expect("a good plan");
            let time = |phase: &Phase| phase.jobs[0].stop.time();
            let most: Nanos = plan.phases.iter().filter_map(time).sum();
            // A modelled clock takes no time.
            assert!(most <= Nanos::secs(36) || topic == LessonTopic::Omission, "{topic:?} {most}");
        }
    }
}
