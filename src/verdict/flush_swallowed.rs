//! T15: flushes were asked for, and none came to the device.

use super::measure::{Case, Level};
use super::{Judge, Rule, finding};
use crate::evidence::Reading;
use crate::plan::Durability;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;

/// The device says that it has a write-back cache and has counted flushes before, and of those that
/// the run asked for it saw none.
pub const RULE: Rule = Rule {
    id: "T15",
    title: "A flush that does not reach the device",
    happens: "With nobarrier, or a layer that swallows it, a flush is answered and the drive keeps the data in its cache.",
    seen_by: "Flushes of the device, which has counted some before; its write_cache; the mount's options.",
    said_when: "Flushes were asked for, the device says write back, and it counted none: doubtful, deferred.",
    try_it: "`mount -o remount,nobarrier`, then `assay dd if=/dev/zero of=x bs=4k count=1000 oflag=dsync`.",
    answer: "Counts flushes at the device, and does not believe the answer to the call alone.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let wrote = case.writes() && case.flow.bytes > Bytes::ZERO;
    if !wrote || !case.on_devices() || case.of_trees() || !case.flow.durability.durable() {
        return None;
    }
    let level = case.top()?;
    let evidence = &case.phase.evidence;
    let later = level.settled.as_ref().and_then(|counters| counters.flushes).unwrap_or(0);
    let none = level.timed.flushes == Some(0) && later == 0;
    if !none || forced_through(case, level) {
        return None;
    }
    let keeps = level.layers.iter().all(|layer| {
        let queue = layer.queue.seen();
        queue.is_some_and(|queue| queue.write_cache.as_deref() == Some("write back"))
    });
    // Drivers that pass requests on by themselves never count a flush (mapper, md).
    let counts = level.layers.iter().all(|layer| {
        let reading = evidence.before.devices.iter().find(|device| device.name == layer.name);
        let counters = reading.map(|device| &device.counters).and_then(Reading::seen);
        counters.and_then(|counters| counters.flushes).is_some_and(|flushes| flushes > 0)
    });
    (keeps && counts).then(|| say(case, level))
}

/// Each write may have gone through the drive's cache by itself, without a flush.
fn forced_through(case: &Case<'_>, level: &Level<'_>) -> bool {
    let able =
        level.layers.iter().any(|layer| layer.queue.seen().is_some_and(|q| q.fua == Some(true)));
    able && matches!(case.flow.durability, Durability::OpenSync | Durability::OpenDsync)
}

fn say(case: &Case<'_>, level: &Level<'_>) -> Finding {
    let first = level.layers.first().map_or("", |layer| layer.name.as_str());
    let mut because = vec![
        Exhibit::new(format!("flushes of {}", level.name()), "0", level.source()),
        Exhibit::new(
            format!("write cache of {}", level.name()),
            "write back",
            format!("/sys/block/{first}/queue/write_cache"),
        ),
    ];
    let mount = case.subject.mount.seen();
    let option = mount.and_then(|mount| {
        mount.options.split(',').find(|option| matches!(*option, "nobarrier" | "barrier=0"))
    });
    if let (Some(mount), Some(option)) = (mount, option) {
        because.push(Exhibit::new(
            format!("mount option of {}", mount.point),
            option,
            "/proc/self/mountinfo",
        ));
    }
    let (why, next) = match option {
        Some(option) => (
            format!(" (it is mounted with {option})"),
            format!("mount it without {option}: data that were said to be safe would be lost with the power"),
        ),
        None => (
            String::new(),
            "look which layer answers flushes by itself: data that were said to be safe may be lost with the power".into(),
        ),
    };
    finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Deferred),
        format!(
            "The flush never came to {}{why}: what is in its cache was not made safe.",
            level.name()
        ),
        because,
        Some(Next::Do(next)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::plan::Durability;
    use crate::record::{Measures, Trust};

    #[test]
    fn a_flush_that_was_not_counted_did_not_come() {
        let mut bench = Bench::write_flushed();
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.flushes(0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Deferred));
        assert_eq!(found.findings[0].trap.0, "T15");
    }

    #[test]
    fn writes_that_go_through_by_themselves_need_none() {
        let mut bench = Bench::write_flushed();
        bench.flushes(0);
        bench.record.phases[0].flows[0].durability = Durability::OpenDsync;
        bench.queue(|queue| queue.fua = Some(true));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
