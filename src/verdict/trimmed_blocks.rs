//! T24: blocks of a bare device that hold nothing, which it answers without its flash.

use super::measure::{Case, estimate, ratio};
use super::threshold::{
    REACHED, SAMPLES_EACH, SAMPLES_LEAST, SMALL_BYTES, UNTOUCHED, ZEROS, ZEROS_FASTER,
};
use super::words::share;
use super::{Judge, Rule, finding};
use crate::evidence::{Device, PathKind, Samples, Subject, Survey};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::stats::Estimate;
use crate::unit::{Bytes, Nanos};

/// Of the blocks that were looked at, more than a few are zeros, and they come faster than others.
pub const RULE: Rule = Rule {
    id: "T24",
    title: "Trimmed blocks",
    happens: "A drive answers reads of trimmed blocks without its flash, at the speed of the bus.",
    seen_by: "Up to 256 single blocks, spread over the part of a bare device that will be read and that this run has not written: which are all zeros, and how long each took; discard_max_bytes.",
    said_when: "More than {ZEROS} of at least {SAMPLES_LEAST} blocks are zeros, and take one in {ZEROS_FASTER} of the time of others, or less: wrong, layer, with the rate of what did come from a lower device where that shows. Where there are fewer than {SAMPLES_EACH} of a kind to compare, and the device can be trimmed: doubtful. Zeros that take as long as others are data.",
    try_it: "`blkdiscard /dev/sdX; assay dd if=/dev/sdX of=/dev/null bs=1M iflag=direct`",
    answer: "Own verbs read what they have written, and nothing else of a device that they may write.",
    judge: Judge::Flow(judge),
};

/// What the blocks of the path hold.
fn samples<'a>(case: &Case<'a>) -> Option<&'a Samples> {
    let sampled = &case.phase.evidence.sampled;
    sampled.iter().find(|found| found.path == case.subject.path)?.samples.seen()
}

/// How much faster zeros come than other blocks, where there are enough of both.
fn faster(samples: &Samples) -> Option<f64> {
    let others = samples.read.saturating_sub(samples.zero);
    let enough = samples.zero.min(others) >= SAMPLES_EACH;
    let (zero, other) = samples.zero_ns.zip(samples.other_ns).filter(|_| enough)?;
    Some(ratio(other.0, zero.0.max(1)))
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
    case.reads()
        && samples(case).is_some_and(|samples| {
            mostly(samples) && faster(samples).is_some_and(|times| times >= ZEROS_FASTER)
        })
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
    let (weight, claim, more) = match (faster(samples), trims(case.subject)) {
        (Some(times), _) if times >= ZEROS_FASTER => (
            Weight::Refute,
            format!(
                "{part} of {} holds nothing, and such blocks come {times:.1} times as fast as others: {name} answers them without reading.",
                case.subject.path
            ),
            None,
        ),
        // They cost as much as any other.
        (Some(_), _) => return None,
        (None, Some(trims)) => (
            Weight::Doubt,
            format!(
                "{part} of {} holds nothing: blocks that were trimmed, or never written, are answered without reading, and there is too little else to compare them with.",
                case.subject.path
            ),
            Some(trimmable(trims)),
        ),
        (None, None) => return None,
    };
    let mut because = vec![exhibit(case, samples)];
    because.extend(more);
    let next = Next::Do("write all of it first, or read a file that has been written".into());
    Some(finding(RULE.id, weight, Some(Measures::Layer), claim, because, Some(next)))
}

fn exhibit(case: &Case<'_>, samples: &Samples) -> Exhibit {
    let time = |time: Option<Nanos>| time.map_or_else(|| "-".into(), |time| time.to_string());
    Exhibit::new(
        format!(
            "blocks of {} that are zeros; median times of these and of others",
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
    use crate::unit::Nanos;

    fn read(zeros: (u32, u64), others: (u32, u64), trims: u64) -> (Trust, Measures) {
        let mut bench = Bench::read_cold();
        let in_us = |(count, us): (u32, u64)| (count, Nanos(us * 1000));
        bench.sampled(in_us(zeros), in_us(others));
        bench.queue(|queue| queue.discard_max_bytes = Some(trims));
        let found = verdict(&bench.record);
        (found.trust, found.measures)
    }

    #[test]
    fn zeros_that_come_faster_were_not_read() {
        assert_eq!(read((64, 20), (192, 80), 0), (Trust::Wrong, Measures::Layer));
        assert_eq!(read((250, 40), (6, 80), 1 << 30), (Trust::Doubtful, Measures::Layer));
    }

    #[test]
    fn zeros_that_cost_as_much_are_data() {
        assert_eq!(read((64, 70), (192, 80), 1 << 30), (Trust::Sound, Measures::Device));
        // A few, or of too few: any disk has some.
        assert_eq!(read((8, 20), (248, 80), 1 << 30), (Trust::Sound, Measures::Device));
        assert_eq!(read((10, 20), (10, 80), 1 << 30), (Trust::Sound, Measures::Device));
        // Nothing to compare with, and nothing that could have been trimmed.
        assert_eq!(read((256, 40), (0, 0), 0), (Trust::Sound, Measures::Device));
    }
}
