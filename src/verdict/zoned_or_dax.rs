//! T50: drives with zones, and memory that is reached without block I/O.

use super::measure::Case;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// DAX is no disk; zones are good to know.
pub const RULE: Rule = Rule {
    id: "T50",
    title: "Zoned drives and DAX",
    happens: "Zoned drives write in order only, and DAX goes past the block layer: its bytes are in no counter.",
    seen_by: "The queue's zoned and dax; the mount's options.",
    said_when: "Mounted with dax on a device that has it: wrong, not a disk. Zones: a note.",
    try_it: "`mount -o dax` on pmem.",
    answer: "Says which of both it is, and does not hold such a device to ordinary rules in silence.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() {
        return None;
    }
    dax(case).or_else(|| zoned(case))
}

fn dax(case: &Case<'_>) -> Option<Finding> {
    let mount = case.subject.mount.seen()?;
    let option = mount.options.split(',').find(|option| matches!(*option, "dax" | "dax=always"))?;
    let able = |queue: &crate::evidence::Queue| queue.dax == Some(true);
    let layer = case.subject.stack.iter().find(|layer| layer.queue.seen().is_some_and(able))?;
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::NotADisk),
        format!(
            "This is the speed of memory: {} is mounted with {option}, and goes past the block layer.",
            mount.point
        ),
        vec![
            Exhibit::new(
                format!("options of {}", mount.point),
                mount.options.clone(),
                "/proc/self/mountinfo",
            ),
            Exhibit::new(
                format!("dax of {}", layer.name),
                "1",
                format!("/sys/block/{}/queue/dax", layer.name),
            ),
        ],
        Some(Next::Do(format!(
            "mount {} without {option} to measure the block device",
            mount.point
        ))),
    ))
}

fn zoned(case: &Case<'_>) -> Option<Finding> {
    let mut zones = case.subject.stack.iter().filter_map(|layer| {
        let kind = layer.queue.seen()?.zoned.as_deref()?;
        (kind.starts_with("host-")).then_some((layer, kind))
    });
    let (layer, kind) = zones.next()?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!("{} has zones ({kind}), each of which is written in order only.", layer.name),
        vec![Exhibit::new(
            format!("zones of {}", layer.name),
            kind,
            format!("/sys/block/{}/queue/zoned", layer.name),
        )],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn dax_is_memory_only_where_it_is_mounted_so() {
        let mut bench = Bench::write_flushed();
        bench.queue(|queue| queue.dax = Some(true));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        // Some files may go there; which, can not be told.
        bench.mounted("rw,dax=inode");
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
        bench.mounted("rw,dax=never");
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.mounted("rw,dax=always");
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::NotADisk));
    }

    #[test]
    fn zones_are_good_to_know() {
        let mut bench = Bench::write_flushed();
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T50");
        bench.queue(|queue| queue.zoned = Some("none".into()));
        assert!(!named(&bench));
        bench.queue(|queue| queue.zoned = Some("host-aware".into()));
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
