//! T60: the same places were written again before they left memory.

use super::measure::Case;
use super::threshold::{REACHED, UNTOUCHED};
use super::words::share;
use super::{Judge, Rule, compressed, dropped_unwritten, finding};
use crate::plan::Caching;
use crate::record::{Finding, Measures, Next, Weight};

/// Buffered writes that meet the same page twice cost the device one write.
pub const RULE: Rule = Rule {
    id: "T60",
    title: "Overwritten in memory",
    happens: "Buffered writes that meet the same page again before it is flushed cost the device one write.",
    seen_by: "Bytes at the device after the flush; order and size in the plan.",
    said_when: "Random or repeated buffered writes, flushed, of which less than {REACHED} arrived: wrong, mixed or memory.",
    try_it: "Random buffered writes of twice a small file's size with a flush at the end.",
    answer: "`quick` writes past the page cache where that is real.",
    judge: Judge::Flow(judge),
};

/// The plan writes more than its target holds, or here and there.
pub(super) fn explains(case: &Case<'_>) -> bool {
    let jobs = case.record.resolved.jobs.iter().filter(|job| job.phase == case.phase.name);
    let size: u64 = jobs.fold(0, |sum, job| sum.saturating_add(job.size.0));
    case.flow.caching != Caching::Direct
        && case.writes()
        && (!case.flow.sequential || size > 0 && case.flow.bytes.0 > size)
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() || !explains(case) || dropped_unwritten::applies(case) {
        return None;
    }
    let (reach, level) = case.reach()?;
    let settled = level.reach_settled(case.direction()).unwrap_or(reach);
    if reach >= REACHED || settled >= REACHED || !compressed::all_flushed(case, level) {
        return None;
    }
    let measures = if settled < UNTOUCHED { Measures::Memory } else { Measures::Mixed };
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(measures),
        format!(
            "The same places were written again while they were still in memory: {} was given {} of the bytes.",
            level.name(),
            share(settled)
        ),
        vec![level.exhibit(case.direction())],
        Some(Next::Do("write each place once (a shuffled order), or use direct I/O".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn writing_the_same_places_again_costs_the_device_once() {
        let mut bench = Bench::write_flushed();
        bench.record.phases[0].flows[0].sequential = false;
        bench.written(Bytes::mib(8), Bytes::mib(8));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Mixed));
    }
}
