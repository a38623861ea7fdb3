//! T64: two runs are compared that did not do the same, or not in the same surroundings.

use serde::Serialize;

use super::differences::{differences, finding_of, told};
use super::other_node::nodes_of;
use super::words::once_more;
use super::{Rule, RuleJudge, limits};
use assay_plan::plan::Phase;
use assay_plan::unit::{Bytes, Times};
use assay_record::claim::{
    CgroupLimit, ComparedThing, DifferingAt, DifferingState, DifferingValue, ExhibitOf,
    ExhibitSource, IoLimit, Values,
};
use assay_record::evidence::{BlockLayer, Direction, Machine, Mount, Reading, Throttle};
use assay_record::record::{Finding, FindingWeight, NextStep, Record, ResolvedJob, TrapId};

/// Something that both records tell, and that a figure depends on, is not the same.
pub const RULE: Rule = Rule {
    id: TrapId::T64,
    title: "Unlike runs compared",
    happens: "Two figures with different sizes, states, limits or kernels are compared.",
    seen_by: "Both records: plans, resolved jobs, cgroup limits, machine, kernel, mounts, devices, and verdicts.",
    said_when: "Plans or methods differ, or one of the figures is wrong: wrong, not comparable. A figure is doubtful, or the runs of one side differ in kernel, machine, file system, mount options, limits or NUMA nodes: doubtful. Between the sides these are what is compared, as are a device and a version of assay: a note, shown as `changed`.",
    try_it: "`assay quick --record a .`, `assay ramp --record b .`, `assay compare a b`",
    answer: "`assay compare` refuses unlike work, and shows what else has changed above the figures; for five or more runs per side, the change with its interval.",
    judge: RuleJudge::Pair(judge),
};

/// Words of a plan that say where and not what, and those that change no figure.
const WHERE: &[&str] = &["path", "dir", "dirs", "consent", "log", "lifetime"];

/// As many differences are told in a sentence; the others are among the readings.
const TOLD: usize = 3;

fn judge(first: &Record, second: &Record) -> Vec<Finding> {
    let judges = [asked, done, limited, machine, mounts, placed, device, version];
    judges.iter().filter_map(|judge| judge(first, second)).collect()
}

/// What the runs of one side have in common: of two sides it is what is compared.
pub(super) fn surrounds(what: ComparedThing) -> bool {
    use ComparedThing::{FileSystems, Limits, Machines, Nodes, Queues};
    matches!(what, FileSystems | Limits | Machines | Nodes | Queues)
}

/// A finding about differences, each of which is a reading.
fn differing(
    weight: FindingWeight,
    what: ComparedThing,
    all: Vec<DifferingValue>,
    source: impl Into<ExhibitSource>,
    next: Option<NextStep>,
) -> Option<Finding> {
    let source = source.into();
    let place = |found: &DifferingValue| (ExhibitOf::Differing(found.at.clone()), source.clone());
    let places = all.iter().map(place).collect();
    // What has changed is a list above the figures.
    let most = if weight == FindingWeight::Note { all.len() } else { TOLD };
    finding_of((RULE.id, weight, what), all, places, most, next)
}

/// The phases of two plans in pairs, those of the same name together; a single one needs no name.
fn pairs<'a>(one: &'a [Phase], other: &'a [Phase]) -> Vec<(&'a Phase, Option<&'a Phase>)> {
    if let ([one], [other]) = (one, other) {
        return vec![(one, Some(other))];
    }
    let same = |phase: &Phase| other.iter().find(|found| found.name == phase.name);
    one.iter().map(|phase| (phase, same(phase))).collect()
}

/// Differences of two values below a name.
fn of<T: Serialize>(name: &str, first: &T, second: &T, but: &[&str]) -> Vec<DifferingValue> {
    let below = |found: DifferingValue| match found.at {
        DifferingAt::Field(at) => {
            DifferingValue { at: DifferingAt::Field([name, " ", &at].concat()), ..found }
        }
        _ => found,
    };
    differences(first, second, but).into_iter().map(below).collect()
}

/// The words of the plans.
fn asked(first: &Record, second: &Record) -> Option<Finding> {
    let (one, other) = (first.plan.unrolled(), second.plan.unrolled());
    let mut all = of("aim", &one.aim, &other.aim, &[]);
    let missing = |name: &str, here: bool| {
        let state = |there| if there { DifferingState::There } else { DifferingState::Missing };
        let at = DifferingAt::Phase(name.into());
        DifferingValue { at, first: state(here), second: state(!here) }
    };
    let but = [WHERE, &["name"]].concat();
    for (phase, found) in pairs(&one.phases, &other.phases) {
        match found {
            Some(found) => all.extend(of(&phase.name, phase, found, &but)),
            None => all.push(missing(&phase.name, true)),
        }
    }
    if one.phases.len() > 1 || other.phases.len() > 1 {
        let only = other.phases.iter().filter(|p| one.phases.iter().all(|q| q.name != p.name));
        all.extend(only.map(|phase| missing(&phase.name, false)));
    }
    let next = once_more(&first.plan.origin);
    differing(FindingWeight::Refute, ComparedThing::Plans, all, ExhibitSource::Plans, next)
}

/// What the machines made of equal plans.
fn done(first: &Record, second: &Record) -> Option<Finding> {
    let asked_alike = asked(first, second).is_none();
    let (one, other) = (&first.resolved.jobs, &second.resolved.jobs);
    let but = ["phase", "job", "writes_at_most"];
    let below = |(one, other): (&ResolvedJob, &ResolvedJob)| {
        let phase = first.plan.phases.get(one.phase);
        of(phase.map_or(&one.job, |phase| &phase.name), one, other, &but)
    };
    let all = one.iter().zip(other).filter(|_| asked_alike).flat_map(below).collect();
    let next = once_more(&first.plan.origin);
    differing(FindingWeight::Refute, ComparedThing::Jobs, all, ExhibitSource::Records, next)
}

/// Limits of control groups, without the names of devices.
fn limited(first: &Record, second: &Record) -> Option<Finding> {
    let limits = |record: &Record| record.resolved.limits.seen().cloned();
    let (one, other) = limits(first).zip(limits(second))?;
    let io = |throttles: &[Throttle]| {
        let limit = |throttle: &Throttle| IoLimit {
            reads: throttle.direction == Direction::Read,
            limit: limits::allowed(throttle.limit),
        };
        let mut limits: Vec<IoLimit> = throttles.iter().map(limit).collect();
        // The order of the files is no difference.
        let amount = |limit: &IoLimit| match limit.limit {
            CgroupLimit::BytesPerSecond(pace) => (pace.0 as u64, 0),
            CgroupLimit::OperationsPerSecond(operations) => (0, operations),
        };
        limits.sort_by_key(|limit| (!limit.reads, amount(limit)));
        limits.dedup();
        match limits.is_empty() {
            true => DifferingState::Unlimited,
            false => DifferingState::IoLimits(Values(limits)),
        }
    };
    let bytes =
        |bytes: Option<Bytes>| bytes.map_or(DifferingState::Unlimited, DifferingState::Bytes);
    let cpus = |cpus: Option<f64>| {
        cpus.map_or(DifferingState::Unlimited, |cpus| DifferingState::Cpus(Times(cpus)))
    };
    let all = vec![
        told(DifferingAt::IoLimits, io(&one.io), io(&other.io)),
        told(DifferingAt::MemoryLimit, bytes(one.memory), bytes(other.memory)),
        told(DifferingAt::CpuLimit, cpus(one.cpus), cpus(other.cpus)),
    ];
    let all = all.into_iter().flatten().collect();
    differing(FindingWeight::Note, ComparedThing::Limits, all, "cgroups", None)
}

/// The machines but for their names, and for what is measured anew each time.
fn machine(first: &Record, second: &Record) -> Option<Finding> {
    let text = |reading: &Reading<String>| reading.seen().cloned().unwrap_or_default();
    let memory = |machine: &Machine| machine.memory.seen().map(|m| m.to_string());
    let (one, other) = (first.machine(), second.machine());
    let all = vec![
        told(DifferingAt::Kernel, one.kernel.clone(), other.kernel.clone()),
        told(DifferingAt::Processor, text(&one.cpu), text(&other.cpu)),
        told(DifferingAt::Cpus, one.cpus.to_string(), other.cpus.to_string()),
        told(
            DifferingAt::Memory,
            memory(one).unwrap_or_default(),
            memory(other).unwrap_or_default(),
        ),
        told(DifferingAt::Page, one.page.to_string(), other.page.to_string()),
        told(DifferingAt::Product, one.product.clone(), other.product.clone()),
        told(DifferingAt::Clock, text(&one.clock.source), text(&other.clock.source)),
    ];
    let all = all.into_iter().flatten().collect();
    differing(FindingWeight::Note, ComparedThing::Machines, all, "/proc, /sys", None)
}

/// File systems and their options.
fn mounts(first: &Record, second: &Record) -> Option<Finding> {
    let of = |record: &Record| -> Vec<Mount> {
        let subjects = record.resolved.subjects.iter();
        subjects.filter_map(|subject| subject.mount.seen().cloned()).collect()
    };
    let (one, other) = (of(first), of(second));
    let mut all = Vec::new();
    for (one, other) in one.iter().zip(&other) {
        all.extend(told(DifferingAt::FileSystem, one.kind.clone(), other.kind.clone()));
        if one.kind == other.kind {
            all.extend(told(DifferingAt::MountOptions, options(one, other), options(other, one)));
        }
    }
    let what = ComparedThing::FileSystems;
    differing(FindingWeight::Note, what, all, "/proc/self/mountinfo", None)
}

/// The options that only one of two mounts has, but for names of places.
fn options(of: &Mount, but: &Mount) -> String {
    let known: Vec<&str> = but.options.split(',').collect();
    let only = |option: &&str| !known.contains(option) && !option.contains('/');
    let mut only: Vec<&str> = of.options.split(',').filter(only).collect();
    only.sort_unstable();
    if only.is_empty() { "none".into() } else { only.join(",") }
}

/// The nodes on which the workers ran.
fn placed(first: &Record, second: &Record) -> Option<Finding> {
    let text = |record: &Record| {
        DifferingState::Names(nodes_of(record).iter().map(u32::to_string).collect())
    };
    let known = |record: &Record| !nodes_of(record).is_empty();
    let all = told(DifferingAt::Nodes, text(first), text(second))
        .filter(|_| known(first) && known(second));
    let what = ComparedThing::Nodes;
    differing(FindingWeight::Note, what, all.into_iter().collect(), "sched_getcpu()", None)
}

/// The lowest devices. To compare two of them is what most comparisons are for.
fn device(first: &Record, second: &Record) -> Option<Finding> {
    let leaf = |layer: &BlockLayer| {
        let size = layer.size.seen().map(|size| size.to_string()).unwrap_or_default();
        let hardware = &layer.hardware;
        let words = [hardware.model.trim(), &hardware.revision, &hardware.bus, &size];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(" ")
    };
    let of = |record: &Record| -> Vec<String> {
        let layers = record.resolved.subjects.iter().flat_map(|subject| &subject.stack);
        layers.filter(|layer| layer.leaf).map(leaf).collect()
    };
    let (one, other) = (of(first), of(second));
    let all = told(DifferingAt::Devices, DifferingState::Names(one), DifferingState::Names(other))
        .into_iter()
        .collect();
    differing(FindingWeight::Note, ComparedThing::Devices, all, "/sys/block", None)
}

/// The programs that made the records.
fn version(first: &Record, second: &Record) -> Option<Finding> {
    let all = told(DifferingAt::Version, first.version.clone(), second.version.clone());
    let what = ComparedThing::Versions;
    differing(FindingWeight::Note, what, all.into_iter().collect(), ExhibitSource::Records, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::DoctoredRecord;
    use crate::unlike;
    use assay_plan::unit::MIB;

    fn claims(first: &DoctoredRecord, second: &DoctoredRecord) -> Vec<(FindingWeight, String)> {
        let found = unlike(&[&first.record], &[&second.record]).findings;
        found.into_iter().map(|found| (found.weight, found.text())).collect()
    }

    #[test]
    fn equal_runs_of_another_day_are_alike() {
        let first = DoctoredRecord::write_flushed();
        let mut second = DoctoredRecord::write_flushed();
        second.record.started = "2027-01-01T00:00:00Z".into();
        second.record.plan.seed = 7;
        second.record.hosts[0].machine.host = "there".into();
        second.record.resolved.subjects[1].path = "/mnt/elsewhere".into();
        assert_eq!(claims(&first, &second), []);
    }

    #[test]
    fn other_work_is_named_by_the_words_of_the_plan() {
        let first = DoctoredRecord::write_flushed();
        let mut second = DoctoredRecord::write_flushed();
        let assay_plan::plan::Work::Copy(copy) = &mut second.record.plan.phases[0].jobs[0].work
        else {
            unreachable!("the bench copies")
        };
        copy.output_block = Bytes::kib(64);
        let [(weight, claim)] = &claims(&first, &second)[..] else { panic!() };
        assert_eq!(*weight, FindingWeight::Refute);
        assert_eq!(claim, "The plans differ: dd jobs.work.copy.output_block 1048576 and 65536.");
    }

    #[test]
    fn surroundings_are_told_apart_from_the_work() {
        let first = DoctoredRecord::write_flushed();
        let mut second = DoctoredRecord::write_flushed();
        second.capped(64 * MIB);
        second.mounted("rw,relatime,nobarrier");
        second.record.hosts[0].machine.kernel = "6.1.0".into();
        second.record.version = "0.2.0".into();
        second.queue(|queue| queue.scheduler = Some("bfq".into()));
        let found = claims(&first, &second);
        let told = |weight, claim: &str| {
            assert!(found.contains(&(weight, claim.into())), "{claim}: {found:#?}");
        };
        for claim in [
            "The cgroup limits differ: I/O limits none and reads 67.1 MB/s, writes 67.1 MB/s.",
            "The machines differ: kernel 6.18.0 and 6.1.0.",
            "The file systems differ: mount options none and nobarrier.",
            "The versions of assay differ: version 0.1.0 and 0.2.0.",
        ] {
            told(FindingWeight::Note, claim);
        }
    }

    #[test]
    fn a_wrong_figure_is_compared_with_none() {
        let found =
            claims(&DoctoredRecord::write_flushed(), &DoctoredRecord::write_without_flush());
        assert!(found.iter().any(|(weight, claim)| *weight == FindingWeight::Refute
            && claim.starts_with("'dd' in the second run is wrong:")));
    }

    #[test]
    fn other_nodes_are_named() {
        let (mut first, mut second) =
            (DoctoredRecord::write_flushed(), DoctoredRecord::write_flushed());
        first.nodes(0);
        second.nodes(0);
        first.ran(&[1], None);
        second.ran(&[1, 3], None);
        assert_eq!(claims(&first, &second), []);
        second.ran(&[1, 5], None);
        assert_eq!(
            claims(&first, &second),
            [(
                FindingWeight::Note,
                "The workers ran on different NUMA nodes: nodes 0 and 0 and 1.".into()
            )]
        );
    }
}
