//! T04: a burst into memory, and then the pace of the device.

use super::measure::PhaseView;
use super::threshold::{BURST_SHARE, CLIFF, CLIFF_PART, SMALL_BYTES};
use super::words::pace;
use super::{Rule, RuleJudge, advice, note, refuted};
use assay_plan::plan::Caching;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim};
use assay_record::record::{Exhibit, Finding, TrapId};

/// Buffered writes, flushed inside the timing, that went at two speeds: what the calls did at first
/// is memory's, and latencies of both are mixed.
pub const RULE: Rule = Rule {
    id: TrapId::T04,
    title: "Burst into memory, then device speed",
    happens: "Buffered writes run at memory speed up to the dirty limit and are then throttled to the speed of the device.",
    seen_by: "Bytes written by the program against bytes at the device over time: the difference is in memory.",
    said_when: "More than {BURST_SHARE} of a buffered write piled up in memory, and the program then slowed down by more than a factor of {CLIFF}: a note with the size of the burst and both rates.",
    try_it: "Limit the dirty pages of the device (`/sys/class/bdi/*/max_bytes`, strict_limit) and write more than that.",
    answer: "Own verbs bypass the page cache and flush inside the timing.",
    judge: RuleJudge::Phase(judge),
};

/// The burst, and what came after it.
struct WriteBurst {
    gathered: Bytes,
    wrote: Bytes,
    time: Nanos,
    later: Bytes,
    later_time: Nanos,
}

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || phase_view.paced() || phase_view.of_trees() {
        return None;
    }
    let flow_view =
        phase_view.cases.iter().find(|flow_view| flow_view.writes() && flow_view.on_devices())?;
    if phase_view.cases.iter().any(|other| other.writes() && other.flow.caching == Caching::Direct)
    {
        return None;
    }
    let burst = burst(phase_view)?;
    let first = burst.wrote.over(burst.time)?.0;
    let later = burst.later.over(burst.later_time)?.0;
    let much = burst.gathered.0 as f64 > flow_view.flow.bytes.0 as f64 * BURST_SHARE;
    let paced = burst.later_time >= CLIFF_PART && first > later * CLIFF;
    if !much || burst.gathered < SMALL_BYTES || !paced {
        return None;
    }
    Some(note(
        RULE.id,
        FlushClaim::BurstIntoMemory { bytes: burst.wrote, first: pace(first), later: pace(later) },
        vec![
            Exhibit::new(ExhibitOf::InMemoryOfThat, burst.gathered, ExhibitSource::RunSeries),
            Exhibit::new(
                ExhibitOf::WrittenAfterThat,
                ExhibitValue::BytesIn { bytes: burst.later, time: burst.later_time },
                ExhibitSource::RunSeries,
            ),
        ],
        advice::direct(flow_view),
    ))
}

/// Up to where the program wrote at the first of two rates: the point of its curve of bytes over time
/// that lies furthest above the straight line from the first write to the last (the knee of a
/// concave curve: Satopää et al., "Finding a Kneedle in a Haystack", 2011). What arrived is the less
/// of what the path's own device got and the leaves: these have what others write there and what
/// mirrors double, and a layer above them may hold back what it got.
fn burst(phase_view: &PhaseView<'_>) -> Option<WriteBurst> {
    let end = phase_view.phase.span.stopped.since(phase_view.phase.span.started);
    let (mut wrote, mut leaf, mut top) = (0_u64, 0_u64, 0_u64);
    let mut sums = vec![];
    for point in phase_view.phase.series.points.iter().filter(|point| point.at_ns <= end) {
        wrote = wrote.saturating_add(point.write_bytes);
        leaf = leaf.saturating_add(point.device_write_bytes?);
        // Where the leaves are the path's own devices they are told once.
        top = top.saturating_add(point.top_write_bytes.or(point.device_write_bytes)?);
        let arrived = leaf.min(top);
        sums.push((point.at_ns, wrote, wrote.saturating_sub(arrived)));
    }
    // After the last write follows the flush.
    let writing = sums.partition_point(|(_, written, _)| *written < wrote);
    let (last, _, _) = *sums.get(writing)?;
    let above = |&(time, written, _): &(Nanos, u64, u64)| {
        written as f64 - wrote as f64 * (time.0 as f64 / last.0 as f64)
    };
    let (time, first, gathered) =
        *sums[..writing].iter().max_by(|a, b| above(a).total_cmp(&above(b)))?;
    Some(WriteBurst {
        gathered: Bytes(gathered),
        wrote: Bytes(first),
        time,
        later: Bytes(wrote - first),
        later_time: last.less(time),
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn a_burst_is_told_apart_from_what_follows() {
        let mut bench = DoctoredRecord::write_flushed();
        let mut named = |first: u64| {
            // The device takes 4 MiB in ten points; what it is given first waits in memory.
            bench.burst_series(first);
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound, "{found:?}");
            found.findings.iter().any(|f| f.trap == TrapId::T04)
        };
        assert!(!named(1));
        assert!(named(12));
    }

    #[test]
    fn a_dirty_limit_that_still_rises_does_not_hide_it() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.burst_series(12);
        // Memory takes a tenth more than the device does, to the end.
        for point in &mut bench.record.phases[0].series.points[1..] {
            point.write_bytes += point.write_bytes / 10;
        }
        let found = verdict(&bench.record).findings;
        assert!(found.iter().any(|finding| finding.trap == TrapId::T04), "{found:?}");
    }

    #[test]
    fn what_others_write_to_the_lowest_disk_is_not_taken_for_ours() {
        let named = |others: u64, above: Option<u64>| {
            let mut bench = DoctoredRecord::write_flushed();
            bench.burst_series(12);
            for point in &mut bench.record.phases[0].series.points {
                point.top_write_bytes = above.or(point.device_write_bytes);
                point.device_write_bytes = point.device_write_bytes.map(|mine| mine + others);
            }
            verdict(&bench.record).findings.iter().any(|found| found.trap == TrapId::T04)
        };
        assert!(named(0, None));
        assert!(named(4 << 20, None));
        // A layer that took all of it at once, and holds it back from the leaf.
        assert!(named(0, Some(16 << 20)));
        assert!(!named(4 << 20, Some(16 << 20)));
    }
}
