//! What is done: direction and order, block sizes, random offsets.

use super::kind::FioKind;
use super::option::FioOption;
use crate::dialect::fio::input::number;
use crate::dialect::fio::input::shares::{self, DISTRIBUTIONS};
use crate::dialect::fio::input::value::{Applied, FioValue, leading_float};
use crate::dialect::fio::job::{
    FioDistribution, FioFault, FioJob, FioRandomGenerator, FioRw, FioRwSequencer, FioServiceOrder,
};

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "rw",
        FioKind::Word(FioRw::WORDS),
        "direction and order; random:N is N I/Os in a row, sequential:SIZE leaves SIZE out",
        rw,
        "--name=a --rw=randread --size=1m",
    )
    .alias("readwrite")
    .default("read"),
    FioOption::new(
        "rw_sequencer",
        FioKind::Word(FioRwSequencer::WORDS),
        "what the N of rw=randread:N repeats",
        |job, value| value.choice(&mut job.pattern.sequencer, FioRwSequencer::of),
        "--name=a --rw=randread:4 --size=1m --rw_sequencer=identical",
    )
    .default("sequential"),
    FioOption::new(
        "rwmixread",
        FioKind::PERCENT,
        "how much of a mixed job is reads",
        |job, value| {
            mix(job, value, true);
            Ok(())
        },
        "--name=a --rw=randrw --size=1m --rwmixread=70",
    )
    .default("50"),
    FioOption::new(
        "rwmixwrite",
        FioKind::PERCENT,
        "how much of a mixed job is writes",
        |job, value| {
            mix(job, value, false);
            Ok(())
        },
        "--name=a --rw=randrw --size=1m --rwmixwrite=30",
    )
    .default("50"),
    FioOption::new(
        "bs",
        FioKind::between(1, i64::MAX),
        "the block size, or one each for reads, writes and trims",
        |job, value| value.three_u64(&mut job.pattern.bs),
        "--name=a --size=1m --bs=4k,64k",
    )
    .alias("blocksize")
    .default("4096")
    .below("rw"),
    FioOption::new(
        "ba",
        FioKind::between(1, i64::MAX),
        "what random offsets are multiples of",
        |job, value| value.three_u64(&mut job.pattern.ba),
        "--name=a --rw=randread --size=1m --bs=4k --ba=8k",
    )
    .alias("blockalign")
    .below("rw"),
    FioOption::new(
        "bsrange",
        FioKind::Ranges,
        "block sizes from one to another",
        |job, value| {
            let pattern = &mut job.pattern;
            let min = [&mut pattern.min_bs.read, &mut pattern.min_bs.write, &mut pattern.min_bs.trim];
            let max = [&mut pattern.max_bs.read, &mut pattern.max_bs.write, &mut pattern.max_bs.trim];
            for ((min, max), range) in min.into_iter().zip(max).zip(value.ranges) {
                if let Some((low, high)) = range {
                    (*min, *max) = (low, high);
                }
            }
            Ok(())
        },
        "--name=a --rw=randwrite --size=1m --bsrange=4k-64k",
    )
    .alias("blocksize_range")
    .below("rw"),
    FioOption::new(
        "bssplit",
        FioKind::Free,
        "block sizes with their shares in percent",
        shares::bssplit,
        "--name=a --rw=randread --size=1m --bssplit=4k/60:64k/40",
    )
    .below("rw"),
    FioOption::new(
        "bs_unaligned",
        FioKind::Flag,
        "let block sizes of a range be anything",
        |job, value| value.bool(&mut job.pattern.bs_unaligned),
        "--name=a --size=1m --bsrange=1k-4k --bs_unaligned",
    )
    .alias("blocksize_unaligned")
    .below("rw"),
    FioOption::new(
        "bs_is_seq_rand",
        FioKind::Bool,
        "take bs=A,B as sequential and random",
        |job, value| value.bool(&mut job.pattern.bs_is_seq_rand),
        "--name=a --rw=randread --percentage_random=50 --size=1m --bs=64k,4k --bs_is_seq_rand=1",
    )
    .default("0")
    .below("blocksize"),
    FioOption::new(
        "randrepeat",
        FioKind::Bool,
        "have the same random numbers in every run",
        |job, value| value.bool(&mut job.pattern.randrepeat),
        "--name=a --rw=randread --size=1m --randrepeat=0",
    )
    .alias("allrandrepeat")
    .default("1")
    .below("rw"),
    FioOption::new(
        "randseed",
        FioKind::SIZE,
        "the seed of random numbers",
        |job, value| value.u64(&mut job.pattern.randseed),
        "--name=a --rw=randread --size=1m --randseed=42",
    )
    .default("0x89")
    .below("rw"),
    FioOption::new(
        "norandommap",
        FioKind::Flag,
        "let random blocks be done twice before all are done once",
        |job, value| value.bool(&mut job.pattern.norandommap),
        "--name=a --rw=randread --size=1m --norandommap",
    )
    .below("rw"),
    FioOption::new(
        "softrandommap",
        FioKind::Bool,
        "go on where memory for the map of blocks is not to be had",
        |job, value| value.bool(&mut job.pattern.softrandommap),
        "--name=a --rw=randread --size=1m --softrandommap=1",
    )
    .default("0")
    .below("norandommap"),
    FioOption::new(
        "random_generator",
        FioKind::Word(FioRandomGenerator::WORDS),
        "the generator of random offsets",
        |job, value| value.choice(&mut job.pattern.random_generator, FioRandomGenerator::of),
        "--name=a --rw=randread --size=1m --random_generator=lfsr",
    )
    .default("tausworthe"),
    FioOption::new(
        "sprandom",
        FioKind::Bool,
        "leave an SSD as a long random job would, in one pass over all it has",
        |job, value| value.bool(&mut job.pattern.sprandom.asked),
        "--name=a --rw=randwrite --size=1m --sprandom=1",
    )
    .default("0")
    .below("rw"),
    FioOption::new(
        "spr_num_regions",
        FioKind::INT,
        "parts that this pass is divided into",
        |job, value| value.u32(&mut job.pattern.sprandom.regions),
        "--name=a --rw=randwrite --size=1m --sprandom=1 --spr_num_regions=10",
    )
    .default("100")
    .below("sprandom"),
    FioOption::new(
        "spr_op",
        FioKind::Floats { least: f64::MIN, most: f64::MAX, length: 1 },
        "what the SSD has beyond its size, as a share of it",
        |job, value| {
            let sprandom = &mut job.pattern.sprandom;
            sprandom.spare = value.floats.first().copied().unwrap_or(sprandom.spare);
            Ok(())
        },
        "--name=a --rw=randwrite --size=1m --sprandom=1 --spr_op=0.3",
    )
    .default("0.15")
    .below("sprandom"),
    FioOption::new(
        "spr_cs",
        FioKind::SIZE,
        "the cache of the SSD: what comes again waits until it has left that",
        |job, value| value.u64(&mut job.pattern.sprandom.cache),
        "--name=a --rw=randwrite --size=1m --sprandom=1 --spr_num_regions=10 --spr_cs=4k",
    )
    .default("0")
    .below("sprandom"),
    FioOption::new(
        "random_distribution",
        FioKind::Word(DISTRIBUTIONS),
        "how random offsets are spread",
        distribution,
        "--name=a --rw=randread --size=1m --random_distribution=zipf:1.2",
    )
    .default("random"),
    FioOption::new(
        "random_sequence_stride",
        FioKind::Bool,
        "take a sequence of blocks as a stride",
        |job, value| value.bool(&mut job.pattern.sequence_stride),
        "--name=a --rw=randread --size=1m --random_distribution=sequence:0,2 --random_sequence_stride=1",
    )
    .default("0"),
    FioOption::new(
        "percentage_random",
        FioKind::PERCENT,
        "how much of a random job is random",
        |job, value| value.three_u32(&mut job.pattern.percentage_random),
        "--name=a --rw=randread --size=1m --percentage_random=80",
    )
    .default("100,100,100"),
    FioOption::new(
        "num_range",
        FioKind::between(0, 256),
        "ranges in a trim command",
        |job, value| value.u32(&mut job.pattern.num_range),
        "--name=a --ioengine=null --rw=trim --size=1m --num_range=1",
    )
    .default("1")
    .refused("num_range=1: block devices are trimmed a range at a time"),
];

/// `rw=randread:8`, `rw=read:8k`.
fn rw(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    value.choice(&mut job.pattern.rw, FioRw::of)?;
    (job.pattern.sequence_length, job.pattern.sequence_gap) = (1, 0);
    let Some(postfix) = value.postfix() else { return Ok(()) };
    let random = job.pattern.rw.random();
    let Ok(number) = number::size(postfix, value.kb_base) else {
        let line = match random {
            true => "fio: randrw postfix parsing failed",
            false => "fio: rw postfix parsing failed",
        };
        return Err(FioFault::line(line, "a number behind the colon"));
    };
    if !random {
        job.pattern.sequence_gap = number.value;
        return Ok(());
    }
    match u32::try_from(number.value) {
        Ok(length) if length > 0 && !number.percent => {
            job.pattern.sequence_length = length;
            Ok(())
        }
        _ => Err(FioFault::line("fio: randrw postfix parsing out of range", "1 or more")),
    }
}

/// The last share that was typed decides, and the other is what is left.
fn mix(job: &mut FioJob, value: &FioValue<'_>, reads: bool) {
    let share = value.last.and_then(|number| u32::try_from(number.value).ok()).unwrap_or(50);
    let (this, other) = (share.min(100), 100 - share.min(100));
    let pattern = &mut job.pattern;
    (pattern.rwmix_read, pattern.rwmix_write) = if reads { (this, other) } else { (other, this) };
}

fn distribution(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let word = value.words.last().copied().unwrap_or_default();
    let postfix = value.postfix();
    job.pattern.distribution = match word {
        "zipf" => {
            let (theta, center) = shape(FioServiceOrder::Zipf, 1.1, postfix)?;
            FioDistribution::Zipf { theta, center }
        }
        "pareto" => {
            let (h, center) = shape(FioServiceOrder::Pareto, 0.2, postfix)?;
            FioDistribution::Pareto { h, center }
        }
        "normal" => {
            let (deviation, center) = shape(FioServiceOrder::Normal, 0.0, postfix)?;
            FioDistribution::Normal { deviation, center }
        }
        "zoned" | "zoned_abs" => {
            let zones = shares::zones(postfix, word == "zoned_abs", value.kb_base)?;
            FioDistribution::Zoned(zones)
        }
        "sequence" => FioDistribution::Sequence(shares::sequence(postfix)?),
        _ => FioDistribution::Random,
    };
    Ok(())
}

/// The parameter and the centre behind the colon, or the usual ones.
fn shape(
    order: FioServiceOrder,
    usual: f64,
    postfix: Option<&str>,
) -> Result<(f64, Option<f64>), FioFault> {
    let Some(postfix) = postfix else { return Ok((usual, None)) };
    let (parameter, center) =
        postfix.split_once(':').map_or((postfix, None), |(p, c)| (p, Some(c)));
    let read = |text: &str| {
        leading_float(text).ok_or_else(|| {
            FioFault::line(
                "fio: random postfix parsing failed",
                format!("a number in place of '{text}'"),
            )
        })
    };
    let (parameter, center) = (read(parameter)?, center.map(read).transpose()?);
    in_shape(order, parameter, center)?;
    Ok((parameter, center))
}

/// Whether a distribution can have that parameter and that centre.
pub(super) fn in_shape(order: FioServiceOrder, parameter: f64, center: Option<f64>) -> Applied {
    if center.is_some_and(|center| center != -1.0 && !(0.0..=1.0).contains(&center)) {
        return Err(FioFault::line(
            "fio: distribution center out of range (0 <= center <= 1.0)",
            "a part of the file from 0 to 1",
        ));
    }
    let (fine, line, instead) = match order {
        FioServiceOrder::Zipf => {
            (parameter != 1.0, "fio: zipf theta must different than 1.0", "zipf:1.1")
        }
        FioServiceOrder::Pareto => (
            parameter > 0.0 && parameter < 1.0,
            "fio: pareto input out of range (0 < input < 1.0)",
            "pareto:0.2",
        ),
        _ => (
            (0.0..100.0).contains(&parameter),
            "fio: normal deviation out of range (0 <= input < 100.0)",
            "normal:10",
        ),
    };
    if fine { Ok(()) } else { Err(FioFault::line(line, instead)) }
}
