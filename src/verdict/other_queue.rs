//! T33: the queues of two runs are set differently.

use super::{Judge, Rule, finding};
use crate::evidence::{Layer, Queue};
use crate::record::{Exhibit, Finding, Next, Record, Weight};

/// A setting of a queue that changes figures is not the same below two records.
pub const RULE: Rule = Rule {
    id: "T33",
    title: "Settings of the queue",
    happens: "Scheduler, write-back throttling and request sizes differ between two runs that are compared.",
    seen_by: "/sys/block/D/queue of every layer, in both records.",
    said_when: "A setting that both records tell is not the same: doubtful; they are not compared.",
    try_it: "`assay quick . --record a`, `echo none > /sys/block/D/queue/scheduler`, `assay quick . --record b`, `assay compare a b`.",
    answer: "Every record holds the settings, and `assay compare` holds them against each other before any figure.",
    judge: Judge::Pair(judge),
};

/// A setting: its file in the queue's folder, and its value as text.
type Setting = (&'static str, fn(&Queue) -> Option<String>);

/// Those that change figures.
const SETTINGS: &[Setting] = &[
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
fn layers(record: &Record) -> impl Iterator<Item = &Layer> {
    record.resolved.subjects.iter().flat_map(|subject| &subject.stack)
}

/// What two queues differ in.
fn between(one: &Layer, other: &Layer) -> Option<Finding> {
    let (here, there) = one.queue.seen().zip(other.queue.seen())?;
    let differing = |(file, value): &Setting| {
        let (here, there) = value(here).zip(value(there))?;
        (here != there).then_some((*file, here, there))
    };
    let all: Vec<_> = SETTINGS.iter().filter_map(differing).collect();
    let told: Vec<String> =
        all.iter().map(|(file, here, there)| format!("{file} {here} and {there}")).collect();
    let exhibit = |(file, here, there): &(&str, String, String)| {
        Exhibit::new(
            format!("{file} of {} and of {}", one.name, other.name),
            format!("{here}, {there}"),
            format!("/sys/block/{}/queue/{file}", one.name),
        )
    };
    (!all.is_empty()).then(|| {
        finding(
            RULE.id,
            Weight::Doubt,
            None,
            format!("The queues are set differently: {}.", told.join(", ")),
            all.iter().map(exhibit).collect(),
            Some(Next::Do("set both queues alike, and run one of the two again".into())),
        )
    })
}
