//! T31: others used the device at the same time.

use super::measure::{Case, Level};
use super::threshold::{FOREIGN, FOREIGN_RUINS, LOWER_BUSY};
use super::words::{of, share};
use super::{Judge, Rule, finding, neighbours, throttled};
use crate::evidence::LayerKind;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;

/// Bytes passed the device that the run cannot account for. On devices below the one that the
/// path names they matter only where little time was left.
pub const RULE: Rule = Rule {
    id: "T31",
    title: "Others on the device",
    happens: "Somebody else's I/O shares the device.",
    seen_by: "Bytes at the device that the run can not account for; what it did in the quiet time before; requests in flight at the start; what other processes read and wrote meanwhile, and where their files are.",
    said_when: "More than {FOREIGN} foreign: doubtful, disturbed. More than {FOREIGN_RUINS}: wrong.",
    try_it: "A second `dd` to the same disk.",
    answer: "Listens to the devices before each phase (again, where its own earlier work may still have been written: that passes), counts what it heard there as nobody's own, and names the processes that moved most.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.first_here || !case.on_devices() || case.of_trees() {
        return None;
    }
    let mut found: Option<(&Level<'_>, u64, f64, Weight)> = None;
    for level in case.levels.iter().filter(|level| level.readable()) {
        if level.asked.read == 0 && level.asked.write == 0 {
            continue;
        }
        let foreign = case.foreign(level);
        let part = foreign as f64 / level.traffic().max(1) as f64;
        let weight = match level.depth {
            0 if part > FOREIGN_RUINS => Weight::Refute,
            0 if part > FOREIGN => Weight::Doubt,
            0 => continue,
            // Below a limit that was met there was time left for others.
            _ if parity(case) || throttled::limit(case).is_some() => continue,
            _ if part > FOREIGN_RUINS && level.busy() >= LOWER_BUSY => Weight::Doubt,
            _ => continue,
        };
        if found.is_none_or(|(.., worse)| worse < weight) {
            found = Some((level, foreign, part, weight));
        }
    }
    found.map(|(level, foreign, part, weight)| say(case, level, foreign, part, weight))
}

/// Parity makes writes of its own at the members.
fn parity(case: &Case<'_>) -> bool {
    let raid = |level: &str| matches!(level, "raid4" | "raid5" | "raid6");
    case.subject.stack.iter().any(|l| matches!(&l.kind, LayerKind::Raid { level } if raid(level)))
}

fn say(case: &Case<'_>, level: &Level<'_>, foreign: u64, part: f64, weight: Weight) -> Finding {
    let mut because = vec![
        Exhibit::new(
            format!("bytes on {} that the run can not account for", level.name()),
            of(Bytes(foreign), Bytes(level.traffic())),
            level.source(),
        ),
        level.exhibit_work(),
    ];
    if let Some((quiet, time)) = &level.quiet {
        let (read, written) = (Bytes(quiet.read_bytes), Bytes(quiet.write_bytes));
        because.push(Exhibit::new(
            format!("read, written by {} in the quiet time before", level.name()),
            format!("{read}, {written} in {time}"),
            level.source(),
        ));
    }
    if level.already > 0 {
        because.push(Exhibit::new(
            "requests in flight at the start",
            level.already.to_string(),
            level.source(),
        ));
    }
    let mut claim = format!(
        "Others used {} at the same time: {} of its bytes were not this run's.",
        level.name(),
        share(part)
    );
    let mut next =
        Next::Do("find out who: pidstat -d 1 (or iotop) shows it; then run again".into());
    if let Some(who) = neighbours::movers(case, level, Bytes(foreign)) {
        claim.push_str(&format!(" Meanwhile {}.", who.said));
        because.extend(who.because);
        next = who.next;
    }
    finding(RULE.id, weight, Some(Measures::Disturbed), claim, because, Some(next))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn a_second_writer_is_seen() {
        let mut bench = Bench::write_flushed();
        bench.written(Bytes::mib(40), Bytes::mib(40));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Disturbed));
        bench.written(Bytes::mib(23), Bytes::mib(23));
        assert_eq!(verdict(&bench.record).trust, Trust::Doubtful);
    }

    #[test]
    fn a_journal_is_nobody_else() {
        let mut bench = Bench::write_flushed();
        bench.written(Bytes(20_971_520 + 300_000), Bytes(20_971_520 + 300_000));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
