//! T33: the queues of two runs are set differently.

use super::differences::{finding_of, told};
use super::{Rule, RuleJudge};
use assay_record::claim::{ComparedThing, DifferingAt, ExhibitOf, ExhibitSource};
use assay_record::evidence::{BlockLayer, QueueSettings};
use assay_record::record::{Finding, FindingWeight, Record, TrapId};

/// A setting of a queue that changes figures is not the same below two records.
pub const RULE: Rule = Rule {
    id: TrapId::T33,
    title: "Queue settings",
    happens: "I/O scheduler, writeback throttling or request sizes differ between two runs that are compared.",
    seen_by: "/sys/block/D/queue of every layer, in both records.",
    said_when: "A setting recorded in both is not the same: a note, shown as `changed`; within the runs of one side: doubtful.",
    try_it: "`assay quick . --record a`, `echo none > /sys/block/D/queue/scheduler`, `assay quick . --record b`, `assay compare a b`.",
    answer: "Every record has the settings, and `assay compare` shows above the figures which have changed.",
    judge: RuleJudge::Pair(judge),
};

/// A setting: its file in the queue's folder, and its value as text.
type QueueSetting = (&'static str, fn(&QueueSettings) -> Option<String>);

/// Those that change figures.
const SETTINGS: &[QueueSetting] = &[
    ("scheduler", |queue| queue.scheduler.clone()),
    ("nr_requests", |queue| queue.nr_requests.map(|value| value.to_string())),
    ("max_sectors_kb", |queue| queue.max_sectors_kb.map(|value| value.to_string())),
    ("read_ahead_kb", |queue| queue.read_ahead_kb.map(|value| value.to_string())),
    ("wbt_lat_usec", |queue| queue.wbt_lat_usec.map(|value| value.to_string())),
    ("write_cache", |queue| queue.write_cache.clone()),
    ("rotational", |queue| queue.rotational.map(|value| u8::from(value).to_string())),
];

fn judge(first: &Record, second: &Record) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (one, other) in layers(first).zip(layers(second)) {
        if let Some(finding) = between(one, other).filter(|new| !found.contains(new)) {
            found.push(finding);
        }
    }
    found
}

/// The layers below all paths of a run.
fn layers(record: &Record) -> impl Iterator<Item = &BlockLayer> {
    record.resolved.subjects.iter().flat_map(|subject| &subject.stack)
}

/// What two queues differ in.
fn between(one: &BlockLayer, other: &BlockLayer) -> Option<Finding> {
    let (here, there) = one.queue.seen().zip(other.queue.seen())?;
    let differing = |(file, value): &QueueSetting| {
        let (here, there) = value(here).zip(value(there))?;
        let found = told(DifferingAt::Field((*file).into()), here, there)?;
        let first = one.name.clone();
        let second = (other.name != first).then(|| other.name.clone());
        let of = ExhibitOf::QueueSetting { setting: (*file).into(), first, second };
        let source = ExhibitSource::block(&one.name, &["queue/", file].concat());
        Some((found, (of, source)))
    };
    let (all, places): (Vec<_>, Vec<_>) = SETTINGS.iter().filter_map(differing).unzip();
    let what = (RULE.id, FindingWeight::Note, ComparedThing::Queues);
    let most = all.len();
    finding_of(what, all, places, most, None)
}
