//! T24: blocks of a bare device that hold nothing, which it answers without its flash.

use super::measure::{Case, estimate, ratio};
use super::threshold::{
    REACHED, SAMPLES_EACH, SAMPLES_LEAST, SMALL_BYTES, UNTOUCHED, ZEROS, ZEROS_FASTER,
};
use super::words::share;
use super::{Judge, Rule, finding};
use crate::evidence::{Device, PathKind, Quartiles, Samples, Subject, Survey};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::stats::Estimate;
use crate::unit::Bytes;

/// Of the blocks that were looked at, more than a few are zeros, and they come faster than others.
pub const RULE: Rule = Rule {
    id: "T24",
    title: "Trimmed blocks",
    happens: "A drive answers reads of trimmed blocks without its flash, at the speed of the bus.",
    seen_by: "Up to 256 single blocks, spread over the part of a bare device that will be read and that this run has not written: which are all zeros, and how long each took; discard_max_bytes.",
    said_when: "More than {ZEROS} of at least {SAMPLES_LEAST} blocks are zeros, and three quarters of these take no more than one in {ZEROS_FASTER} of the time that three quarters of the others take at least: wrong, layer, with the rate of what did come from a lower device where that shows. Where there are fewer than {SAMPLES_EACH} of a kind to compare, and the device can be trimmed: doubtful. Zeros that take as long as others are data.",
    try_it: "`blkdiscard /dev/sdX; assay dd if=/dev/sdX of=/dev/null bs=1M iflag=direct`",
    answer: "Own verbs read what they have written, and nothing else of a device that they may write.",
    judge: Judge::Flow(judge),
};

/// What the blocks of the path hold.
fn samples<'a>(case: &Case<'a>) -> Option<&'a Samples> {
    let sampled = &case.phase.evidence.sampled;
    sampled.iter().find(|found| found.path == case.subject.path)?.samples.seen()
}

/// How blocks of zeros compare with others.
enum Pace {
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
fn pace(samples: &Samples) -> Pace {
    let others = samples.read.saturating_sub(samples.zero);
    let enough = samples.zero.min(others) >= SAMPLES_EACH;
    let Some((zero, other)) = samples.zero_ns.zip(samples.other_ns).filter(|_| enough) else {
        return Pace::Unknown;
    };
    if ratio(other.p25.0, zero.p75.0.max(1)) >= ZEROS_FASTER {
        Pace::Faster(ratio(other.p50.0, zero.p50.0.max(1)))
    } else {
        Pace::Alike
    }
}

/// Some layer below can be trimmed.
fn trims(subject: &Subject) -> Option<&str> {
    let queues = subject.stack.iter().filter_map(|layer| Some((layer, layer.queue.seen()?)));
    let can = queues.filter(|(_, queue)| queue.discard_max_bytes.is_some_and(|most| most > 0));
    can.map(|(layer, _)| layer.name.as_str()).next()
}

/// What may be said of a bare device before anything of it is read.
pub(super) fn foreseen(survey: &Survey) -> Option<Finding> {
    let can = |device: &&Device| {
        let queue = device.layer.queue.seen();
        queue.is_some_and(|queue| queue.discard_max_bytes.is_some_and(|most| most > 0))
    };
    let device = survey.devices().find(can).filter(|_| survey.kind == PathKind::Device)?;
    let name = &device.layer.name;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Blocks of {name} that were trimmed or never written are answered without reading: their figure is not that of its flash."
        ),
        vec![trimmable(name)],
        None,
    ))
}

/// The reading that tells so.
fn trimmable(name: &str) -> Exhibit {
    let source = format!("/sys/block/{name}/queue/discard_max_bytes");
    Exhibit::new(format!("{name} can be trimmed"), "yes", source)
}

/// Zeros come from something faster than the device: that alone explains a fast read.
pub(super) fn applies(case: &Case<'_>) -> bool {
    let faster = |samples: &Samples| matches!(pace(samples), Pace::Faster(_));
    case.reads() && samples(case).is_some_and(|samples| mostly(samples) && faster(samples))
}

/// The pace of the part that did pass the lowest device, where that can be seen and was enough of it.
pub(super) fn device_part(case: &Case<'_>) -> Option<Estimate> {
    let (reach, level) = case.reach().filter(|_| applies(case))?;
    let moved = Bytes(level.moved(case.direction()));
    let part = (UNTOUCHED..REACHED).contains(&reach) && moved >= SMALL_BYTES;
    part.then(|| estimate(moved, case.time())).flatten()
}

/// Enough was looked at, and more of it is zeros than data have by chance.
fn mostly(samples: &Samples) -> bool {
    samples.read >= SAMPLES_LEAST && ratio(u64::from(samples.zero), u64::from(samples.read)) > ZEROS
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    let samples = samples(case).filter(|samples| case.reads() && mostly(samples))?;
    let part = share(ratio(u64::from(samples.zero), u64::from(samples.read)));
    let name = case.named();
    let (weight, claim, more) = match (pace(samples), trims(case.subject)) {
        (Pace::Faster(times), _) => (
            Weight::Refute,
            format!(
                "{part} of {} holds nothing, and such blocks come {times:.1} times as fast as others: {name} answers them without reading.",
                case.subject.path
            ),
            None,
        ),
        // They cost as much as any other.
        (Pace::Alike, _) => return None,
        (Pace::Unknown, Some(trims)) => (
            Weight::Doubt,
            format!(
                "{part} of {} holds nothing: blocks that were trimmed, or never written, are answered without reading, and there is too little else to compare them with.",
                case.subject.path
            ),
            Some(trimmable(trims)),
        ),
        (Pace::Unknown, None) => return None,
    };
    let mut because = vec![exhibit(case, samples)];
    because.extend(more);
    let next = Next::Do("write all of it first, or read a file that has been written".into());
    Some(finding(RULE.id, weight, Some(Measures::Layer), claim, because, Some(next)))
}

fn exhibit(case: &Case<'_>, samples: &Samples) -> Exhibit {
    let time = |times: Option<Quartiles>| match times {
        Some(Quartiles { p25, p50, p75 }) => format!("{p50} ({p25} to {p75})"),
        None => "-".into(),
    };
    Exhibit::new(
        format!(
            "blocks of {} that are zeros; medians and quartiles of these and of others",
            case.subject.path
        ),
        format!(
            "{} of {}; {} and {}",
            samples.zero,
            samples.read,
            time(samples.zero_ns),
            time(samples.other_ns)
        ),
        "pread() of 4 KiB each",
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    /// So many blocks of zeros and others with their quartiles in us, on a device that can be trimmed.
    fn read(zeros: (u32, [u64; 3]), others: (u32, [u64; 3]), trims: u64) -> (Trust, Measures) {
        let mut bench = Bench::read_cold();
        bench.sampled(zeros, others);
        bench.queue(|queue| queue.discard_max_bytes = Some(trims));
        let found = verdict(&bench.record);
        (found.trust, found.measures)
    }

    #[test]
    fn zeros_that_come_faster_were_not_read() {
        let (fast, slow) = ([15, 20, 30], [70, 80, 90]);
        assert_eq!(read((64, fast), (192, slow), 0), (Trust::Wrong, Measures::Layer));
        assert_eq!(read((250, fast), (6, slow), 1 << 30), (Trust::Doubtful, Measures::Layer));
    }

    #[test]
    fn zeros_that_cost_as_much_are_data() {
        let sound = (Trust::Sound, Measures::Device);
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
