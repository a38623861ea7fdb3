//! T38: a file in many pieces, or a file system nearly full.

use super::measure::Case;
use super::threshold::{FRAGMENTS, FRAGMENTS_LEAST, NEARLY_FULL};
use super::words::share;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::MIB;

/// Many extents, and requests smaller than the calls; or little room left to write in.
pub const RULE: Rule = Rule {
    id: "T38",
    title: "Fragments, and a disk nearly full",
    happens: "A file in many pieces reaches the device as small requests, and a disk nearly full has no large pieces left.",
    seen_by: "FIEMAP; mean size of requests; free space.",
    said_when: "More than {FRAGMENTS} extents in each MiB and requests smaller than the calls, or less than {NEARLY_FULL} free in a write: a note.",
    try_it: "Fill a file system with small files, remove every other one, and write a large one.",
    answer: "Prints the size of requests; its own files are written in one piece where there is room.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() || case.of_trees() {
        return None;
    }
    pieces(case).or_else(|| full(case))
}

fn pieces(case: &Case<'_>) -> Option<Finding> {
    let extents = case.extents()?;
    let level = case.top()?;
    let size = level.request(case.direction())?;
    let many = extents.count as f64 * MIB as f64 > extents.range.0 as f64 * FRAGMENTS;
    if !many || extents.count < FRAGMENTS_LEAST || size >= case.flow.block {
        return None;
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "{} lies in {} pieces: calls of {} came to {} as requests of {size}.",
            case.subject.path,
            extents.count,
            case.flow.block,
            level.name()
        ),
        vec![
            Exhibit::new(
                format!("extents of {}", case.subject.path),
                format!("{} in {}", extents.count, extents.range),
                "FIEMAP",
            ),
            Exhibit::new(
                format!("mean size of a request to {}", level.name()),
                size.to_string(),
                level.source(),
            ),
        ],
        Some(Next::Do(
            "measure a file that lies in one piece as well: filefrag -v shows how it lies".into(),
        )),
    ))
}

fn full(case: &Case<'_>) -> Option<Finding> {
    let space = case.subject.space.seen().filter(|_| case.writes())?;
    let free = space.free.0 as f64 / space.total.0.max(1) as f64;
    let point = case.subject.mount.seen().map_or(case.subject.path.as_str(), |mount| &mount.point);
    (free < NEARLY_FULL).then(|| {
        finding(
            RULE.id,
            Weight::Note,
            None,
            format!("The file system is nearly full ({} free), which may make it slower than it was or will be.", share(free)),
            vec![Exhibit::new(
                format!("free on {point}"),
                format!("{} of {}", space.free, space.total),
                "statfs()",
            )],
            Some(Next::Do("compare it only with runs on a disk as full".into())),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::Reading;
    use crate::unit::Bytes;

    #[test]
    fn pieces_and_little_room_are_named() {
        let mut bench = Bench::read_cold();
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T38");
        bench.lay(Bytes::ZERO, Bytes::mib(20));
        assert!(!named(&bench));
        bench.pieces(320);
        assert!(named(&bench));
        let mut bench = Bench::write_flushed();
        let at = bench.record.phases[0].flows[0].subject;
        if let Reading::Seen(space) = &mut bench.record.resolved.subjects[at].space {
            space.free = Bytes::mib(90);
        }
        assert!(named(&bench));
    }
}
