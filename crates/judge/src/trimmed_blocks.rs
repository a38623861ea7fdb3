//! T24: blocks of a bare device that hold nothing, which it answers without its flash.

use super::facts::PlaceFacts;
use super::measure::{FlowView, estimate, ratio};
use super::threshold::{
    REACHED, SAMPLES_EACH, SAMPLES_LEAST, SMALL_BYTES, UNTOUCHED, ZEROS, ZEROS_FASTER,
};
use super::words::share;
use super::{Rule, RuleJudge, advice, finding, note};
use assay_plan::stats::Estimate;
use assay_plan::unit::{Bytes, Times};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LayerClaim, ReadTimes};
use assay_record::evidence::{BlockSamples, PathKind, Quartiles};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Of the blocks that were looked at, more than a few are zeros, and they come faster than others.
pub const RULE: Rule = Rule {
    id: TrapId::T24,
    title: "Trimmed blocks",
    happens: "A drive answers reads of trimmed blocks without reading flash, at bus speed.",
    seen_by: "Up to 256 single blocks, spread over the part of a raw device that will be read and that this run has not written: which are all zeros, and how long each took; discard_max_bytes.",
    said_when: "More than {ZEROS} of at least {SAMPLES_LEAST} blocks are zeros, and the upper quartile of their read times is at most one in {ZEROS_FASTER} of the lower quartile of the others: wrong, layer, with the rate of the part that came from a lower device where that shows. With fewer than {SAMPLES_EACH} blocks of either kind, and a device that can be trimmed: doubtful. Zeros that take as long as other blocks count as data.",
    try_it: "`blkdiscard /dev/sdX; assay dd if=/dev/sdX of=/dev/null bs=1M iflag=direct`",
    answer: "Own verbs read only what they have written on a device that they may write.",
    judge: RuleJudge::Flow(judge),
};

/// What the blocks of the path hold.
fn samples<'a>(flow_view: &FlowView<'a>) -> Option<&'a BlockSamples> {
    let sampled = &flow_view.phase.evidence.sampled;
    sampled.iter().find(|found| found.path == flow_view.subject.path)?.samples.seen()
}

/// How blocks of zeros compare with others.
enum ZeroReadPace {
    /// They come so many times as fast, by the medians, and the slow ones of them are still faster than
    /// the fast ones of the others.
    Faster(f64),
    /// They take as long, as far as that can be told.
    Alike,
    /// There are too few of one kind.
    Unknown,
}

/// How blocks of zeros compare with others. Medians alone wander where some reads wait for other work
/// and some do not; so three quarters of each kind must lie apart.
fn pace(samples: &BlockSamples) -> ZeroReadPace {
    let others = samples.read.saturating_sub(samples.zero);
    let enough = samples.zero.min(others) >= SAMPLES_EACH;
    let Some((zero, other)) = samples.zero_ns.zip(samples.other_ns).filter(|_| enough) else {
        return ZeroReadPace::Unknown;
    };
    if ratio(other.p25.0, zero.p75.0.max(1)) >= ZEROS_FASTER {
        ZeroReadPace::Faster(ratio(other.p50.0, zero.p50.0.max(1)))
    } else {
        ZeroReadPace::Alike
    }
}

/// What may be said of a bare device before anything of it is read.
pub(super) fn foreseen(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let (layer, shown) = facts.trimmable().filter(|_| facts.kind == PathKind::Device)?;
    let claim = LayerClaim::TrimmedBlocks { device: layer.name.clone() };
    Some(note(RULE.id, claim, vec![shown], None))
}

/// Zeros come from something faster than the device: that alone explains a fast read.
pub(super) fn applies(flow_view: &FlowView<'_>) -> bool {
    let faster = |samples: &BlockSamples| matches!(pace(samples), ZeroReadPace::Faster(_));
    flow_view.reads()
        && samples(flow_view).is_some_and(|samples| mostly(samples) && faster(samples))
}

/// The pace of the part that did pass the lowest device, where that can be seen and was enough of it.
pub(super) fn device_part(flow_view: &FlowView<'_>) -> Option<Estimate> {
    let (reach, level) = flow_view.reach().filter(|_| applies(flow_view))?;
    let moved = Bytes(level.moved(flow_view.direction()));
    let part = (UNTOUCHED..REACHED).contains(&reach) && moved >= SMALL_BYTES;
    part.then(|| estimate(moved, flow_view.time())).flatten()
}

/// Enough was looked at, and more of it is zeros than data have by chance.
fn mostly(samples: &BlockSamples) -> bool {
    samples.read >= SAMPLES_LEAST && ratio(u64::from(samples.zero), u64::from(samples.read)) > ZEROS
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let samples = samples(flow_view).filter(|samples| flow_view.reads() && mostly(samples))?;
    let part = share(ratio(u64::from(samples.zero), u64::from(samples.read)));
    let path = flow_view.subject.path.clone();
    let (weight, claim, more) = match (pace(samples), flow_view.facts().trimmable()) {
        (ZeroReadPace::Faster(times), _) => (
            FindingWeight::Refute,
            LayerClaim::ZerosReadFaster {
                part,
                path,
                times: Times(times),
                device: flow_view.named(),
            },
            None,
        ),
        // They cost as much as any other.
        (ZeroReadPace::Alike, _) => return None,
        (ZeroReadPace::Unknown, Some((_, shown))) => {
            (FindingWeight::Doubt, LayerClaim::ZerosNotComparable { part, path }, Some(shown))
        }
        (ZeroReadPace::Unknown, None) => return None,
    };
    let mut because = vec![exhibit(flow_view, samples)];
    because.extend(more);
    let next = advice::written_first(flow_view, "quick", "");
    Some(finding(RULE.id, weight, Some(MeasuredSubject::Layer), claim, because, next))
}

fn exhibit(flow_view: &FlowView<'_>, samples: &BlockSamples) -> Exhibit {
    let times = |Quartiles { p25, p50, p75 }| ReadTimes { p25, p50, p75 };
    Exhibit::new(
        ExhibitOf::ZeroBlocks(flow_view.subject.path.clone()),
        ExhibitValue::ZeroBlocks {
            zero: samples.zero.into(),
            read: samples.read.into(),
            zero_times: samples.zero_ns.map(times),
            other_times: samples.other_ns.map(times),
        },
        ExhibitSource::SampledReads,
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    /// So many blocks of zeros and others with their quartiles in us, on a device that can be trimmed.
    fn read(
        zeros: (u32, [u64; 3]),
        others: (u32, [u64; 3]),
        trims: u64,
    ) -> (Trust, MeasuredSubject) {
        let mut bench = DoctoredRecord::read_cold();
        bench.sampled(zeros, others);
        bench.queue(|queue| queue.discard_max_bytes = Some(trims));
        let found = verdict(&bench.record);
        (found.trust, found.measures)
    }

    #[test]
    fn zeros_that_come_faster_were_not_read() {
        let (fast, slow) = ([15, 20, 30], [70, 80, 90]);
        assert_eq!(read((64, fast), (192, slow), 0), (Trust::Wrong, MeasuredSubject::Layer));
        assert_eq!(
            read((250, fast), (6, slow), 1 << 30),
            (Trust::Doubtful, MeasuredSubject::Layer)
        );
    }

    #[test]
    fn zeros_that_cost_as_much_are_data() {
        let sound = (Trust::Sound, MeasuredSubject::Device);
        let (fast, slow) = ([15, 20, 30], [70, 80, 90]);
        assert_eq!(read((64, slow), (192, slow), 1 << 30), sound);
        // Some reads of either kind waited for other work, and the medians say nothing.
        assert_eq!(read((239, [50, 78, 240]), (17, [60, 168, 250]), 1 << 30), sound);
        // A few, or of too few: any disk has some.
        assert_eq!(read((8, fast), (248, slow), 1 << 30), sound);
        assert_eq!(read((10, fast), (10, slow), 1 << 30), sound);
        // Nothing to compare with, and nothing that could have been trimmed.
        assert_eq!(read((256, fast), (0, slow), 0), sound);
    }
}
