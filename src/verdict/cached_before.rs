//! T06: part of what was read was in memory before, though the device's bytes seem enough.

use super::measure::Case;
use super::threshold::{REACHED, RESIDENT};
use super::words::of;
use super::{Judge, Rule, finding};
use crate::plan::Caching;
use crate::record::{Exhibit, Finding, Measures, Weight};

/// A buffered read, more than a hundredth of it in memory before, and the device gave a little
/// less than was read, or so little that read-ahead may have made up for it.
pub const RULE: Rule = Rule {
    id: "T06",
    title: "Partly in memory before",
    happens: "Part of the file was in memory, or RAM is larger than the tool believes, and read-ahead hides how much.",
    seen_by: "Pages of the file in memory before; bytes read from the device.",
    said_when: "More than {RESIDENT} resident and the device gave a little less than was read: doubtful, mixed.",
    try_it: "Read half a file, then all of it.",
    answer: "Drops and looks, instead of relying on a size.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.reads() || !case.on_devices() || case.flow.caching == Caching::Direct {
        return None;
    }
    let pages = case.cached(&case.phase.evidence.before)?;
    let (reach, level) = case.reach()?;
    let asked = case.flow.bytes.0 as f64;
    let some = pages.resident.0 as f64 > asked * RESIDENT && reach < 1.0;
    let much = pages.resident.0 as f64 > asked * 0.5 && level.small(case.direction());
    (reach >= REACHED && asked > 0.0 && (some || much)).then(|| {
        finding(
            RULE.id,
            Weight::Doubt,
            Some(Measures::Mixed),
            format!("Part of {} was in memory before it was read.", case.subject.path),
            vec![
                Exhibit::new(
                    "pages in memory before",
                    of(pages.resident, case.flow.bytes),
                    "cachestat()",
                ),
                level.exhibit(case.direction()),
            ],
            Some(case.cold_next()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::{Bytes, MIB};

    #[test]
    fn a_part_in_memory_is_a_doubt_unless_the_device_gave_everything() {
        let mut bench = Bench::read_cold();
        bench.resident_before(Bytes::mib(1));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.was_read(Bytes(20 * MIB * 99 / 100));
        assert_eq!(verdict(&bench.record).trust, Trust::Doubtful);
    }
}
