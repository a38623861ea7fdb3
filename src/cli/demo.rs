//! `assay demo`: a trap shown on this machine, and the truth beside it, in about half a minute.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::Common;
use super::place::{Kind, any_seed, look, standing};
use crate::error::{Error, Fault, Refusal};
use crate::plan::{
    Action, Aim, Arrivals, BlockSize, Blocks, Caching, Cold, Durability, Fill, Job, Layout, Lesson,
    Lifetime, Method, Mix, Model, Order, Origin, Pattern, Phase, Plan, Rate, Ring, Size, Stop,
    Target, Topic, Work,
};
use crate::report::lesson::about;
use crate::unit::{Bytes, GIB, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay demo flush /mnt/sd")]
pub struct Words {
    /// What is to be shown; without it the lessons are listed
    #[arg(value_enum)]
    pub lesson: Option<Topic>,
    /// A folder on the device (default: this one)
    ///
    /// A test file is made there and removed: an eighth of what is free at most, and 1 GiB.
    pub path: Option<PathBuf>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: Common,
}

impl ValueEnum for Topic {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(about(*self)))
    }
}

/// One half of a lesson.
#[derive(Clone)]
struct Half {
    action: Action,
    order: Order,
    block: Bytes,
    fill: Fill,
    layout: Layout,
    /// Only so much of the file; all of it when absent.
    size: Option<Bytes>,
    method: Method,
    iodepth: u32,
    caching: Caching,
    durability: Durability,
    cold: Cold,
    rate: Rate,
    /// It ends after one pass over the file, or this time.
    time: Nanos,
}

/// `dd if=/dev/zero of=x bs=1M`, with data that do not compress.
const WRITE: Half = Half {
    action: Action::Write,
    order: Order::Forward,
    block: Bytes::mib(1),
    fill: Fill::Random,
    layout: Layout::Preallocated,
    size: None,
    method: Method::Psync,
    iodepth: 1,
    caching: Caching::Buffered,
    durability: Durability::None,
    cold: Cold::Keep,
    rate: Rate::Closed,
    time: Nanos::secs(15),
};

/// `dd if=x of=/dev/null bs=1M`.
const READ: Half = Half { action: Action::Read, ..WRITE };

/// Reads of 4 KiB anywhere in the file, past the page cache, one after the other.
fn seeks() -> Half {
    Half {
        order: Order::Shuffled,
        block: Bytes::kib(4),
        method: Method::IoUring(Ring::default()),
        caching: Caching::DirectIfReal,
        cold: Cold::Target,
        time: Nanos::secs(3),
        ..READ
    }
}

/// A hundred requests per second on a device that stands still for one second in ten. No machine
/// has to be stopped for it: the device is a model, and its clock, too.
fn stalls() -> Half {
    let (latency, stall_every, stall) = (Nanos::millis(4), Nanos::secs(10), Nanos::secs(1));
    Half {
        method: Method::Sim(Model { latency, stall_every, stall, ..Model::default() }),
        caching: Caching::Buffered,
        cold: Cold::Keep,
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
const MAKING: Half =
    Half { block: Bytes::mib(4), durability: Durability::OpenDsync, time: Nanos::secs(3), ..WRITE };

/// `dd if=/dev/zero of=x bs=4M oflag=dsync`, for some time: nobody knows before how much becomes
/// of zeros. Preallocated files are not compressed on btrfs, nor those that began with noise.
const LOGGED: Half =
    Half { layout: Layout::AsFound, caching: Caching::Buffered, time: Nanos::secs(5), ..MAKING };

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
fn halves(topic: Topic) -> [Half; 2] {
    let flushed = Half { durability: Durability::FsyncAtEnd, ..WRITE };
    let cold = Half { cold: Cold::Target, ..READ };
    match topic {
        Topic::Flush => [WRITE, flushed],
        Topic::Cache => [READ, cold],
        Topic::Holes => {
            [Half { layout: Layout::Sparse, ..READ }, Half { layout: Layout::Written, ..cold }]
        }
        Topic::Burst => [Half { size: Some(SHORT), ..WRITE }, flushed],
        Topic::Compress => [Half { fill: Fill::Zero, ..LOGGED }, LOGGED],
        Topic::Readahead => [
            Half { block: seeks().block, time: seeks().time, ..cold },
            Half { method: Method::Psync, ..seeks() },
        ],
        Topic::Depth => [seeks(), Half { iodepth: 32, ..seeks() }],
        Topic::Omission => [
            Half { rate: Rate::CappedIops(PER_SECOND), ..stalls() },
            Half { rate: Rate::Open { iops: PER_SECOND, arrivals: Arrivals::Even }, ..stalls() },
        ],
    }
}

/// The lesson that was asked for; none when they are to be listed.
///
/// # Errors
/// When something was said of a run, and none is meant.
pub fn wanted(words: &Words) -> Result<Option<Topic>, Refusal> {
    let Common { plan, record, report, json } = &words.common;
    let said = *plan || *json || record.is_some() || !report.is_empty();
    if words.lesson.is_none() && said {
        return Err(Refusal::new(
            "LESSON is missing",
            "'assay demo' lists them; write for example 'assay demo flush .'",
        ));
    }
    Ok(words.lesson)
}

/// Looks at the path and makes a plan.
///
/// # Errors
/// A refusal that says what to write instead; nothing was touched.
pub fn planned(topic: Topic, path: Option<&Path>, typed: Vec<String>) -> Result<Plan, Error> {
    if topic == Topic::Omission {
        return match path {
            None => Ok(plan(topic, &Target::Nowhere { size: MODELLED }, typed)),
            Some(path) => Err(Refusal::new(
                format!("'{}' can not be made to stand still for this lesson", path.display()),
                "leave it out: 'omission' is shown on a modelled device",
            )
            .into()),
        };
    }
    let path = path.unwrap_or(Path::new("."));
    if look(path)? != Kind::Folder {
        return Err(Refusal::new(
            format!("a lesson makes a file of its own, and '{}' is no folder", path.display()),
            "name a folder on the device",
        )
        .into());
    }
    Ok(plan(topic, &scratch(path, room(path)?), typed))
}

/// The size of the file at most.
fn room(path: &Path) -> Result<Bytes, Error> {
    let shown = path.display();
    let there = rustix::fs::statvfs(path)
        .map_err(|error| Fault::new("look at", shown.to_string(), &error.into()))?;
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
    let how = (Size::Written { most }, Layout::Preallocated);
    standing(path, Kind::Folder, None, how, Lifetime::Remove)
}

/// The plan of a lesson on a file of that target, or nowhere, without a look at the machine.
pub fn plan(topic: Topic, target: &Target, typed: Vec<String>) -> Plan {
    let [trap, cure] = halves(topic);
    let mut phases = Vec::new();
    if !matches!(topic, Topic::Compress | Topic::Omission) {
        // What is to be more than the burst must be written for longer.
        let time = if topic == Topic::Burst { Nanos(2 * MAKING.time.0) } else { MAKING.time };
        phases.push(phase(FILE, &Half { time, ..MAKING }, target));
    }
    phases.extend([phase(TRAP, &trap, target), phase(CURE, &cure, target)]);
    Plan {
        title: format!("demo {}", topic.name()),
        origin: Origin { dialect: "demo".into(), words: typed, sources: Vec::new() },
        seed: any_seed(),
        aim: Some(Aim::Lesson(Lesson { topic, trap: TRAP.into(), cure: CURE.into() })),
        phases,
    }
}

/// The target as one half wants it.
fn laid(target: &Target, half: &Half) -> Target {
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

fn phase(name: &str, half: &Half, target: &Target) -> Phase {
    let unflushed = half.action == Action::Write && half.durability == Durability::None;
    let modelled = matches!(half.method, Method::Sim(_));
    let mix = Mix::only(half.action);
    let pattern = Pattern {
        fill: half.fill.clone(),
        ..Pattern::of(mix, half.order.clone(), BlockSize::Fixed(half.block))
    };
    let blocks = Blocks {
        method: half.method,
        caching: half.caching,
        durability: half.durability,
        iodepth: half.iodepth,
        ..Blocks::of(laid(target, half), pattern)
    };
    let job = Job {
        rate: half.rate,
        stop: Stop::pass_or(half.time),
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
        for topic in Topic::ALL {
            let target = scratch(Path::new("/x"), LARGEST);
            let plan = plan(topic, &target, vec![topic.name().into()]);
            plan.check().expect("a good plan");
            let time = |phase: &Phase| phase.jobs[0].stop.time();
            let most: Nanos = plan.phases.iter().filter_map(time).sum();
            // A modelled clock takes no time.
            assert!(most <= Nanos::secs(36) || topic == Topic::Omission, "{topic:?} {most}");
        }
    }
}
