//! Whole sequences, compared with what fio 3.42 did for the same words (`--ioengine=null --write_iolog`).

use std::path::PathBuf;

use crate::engine::{FileSpan, IoOp, IoRoute};
use crate::plan::{
    Action, ActionShare, ActionSize, BlockSize, FileOrder, FileService, Mix, OffsetOrdering,
    Pattern, PerDirection, PlaceDistribution, RandomGenerator, RandomPlaces, SeededSequence,
    SequencePlaces, SequenceSeeds, SizedZone, WeightedSize, Zone,
};
use crate::unit::Bytes;

const K: u64 = 1024;
const M: u64 = 1024 * K;

/// A job of one worker.
struct Job {
    pattern: Pattern,
    files: u32,
    span: FileSpan,
}

/// A job of one file.
fn job(mix: &[(Action, u32)], places: SequencePlaces) -> Job {
    let order = match places {
        SequencePlaces::InOrder { .. } => OffsetOrdering::Forward,
        SequencePlaces::Random(_) => OffsetOrdering::Uniform,
    };
    let shares = mix.iter().map(|&(action, weight)| ActionShare { action, weight });
    let sequence = SeededSequence::of(places);
    let pattern = Pattern {
        sequence: Some(Box::new(sequence)),
        ..Pattern::of(Mix(shares.collect()), order, BlockSize::Fixed(Bytes(4 * K)))
    };
    let span =
        FileSpan { start: 0, len: 64 * M, backend: (0, 1), passes: Some(1), seed: 0, worker: 0 };
    Job { pattern, files: 1, span }
}

const READ: &[(Action, u32)] = &[(Action::Read, 100)];
const WRITE: &[(Action, u32)] = &[(Action::Write, 100)];
const TRIM: &[(Action, u32)] = &[(Action::Trim, 100)];
const TRIM_WRITE: &[(Action, u32)] = &[(Action::Trim, 50), (Action::Write, 50)];

fn mixed(reads: u32) -> Vec<(Action, u32)> {
    vec![(Action::Read, reads), (Action::Write, 100 - reads)]
}

fn in_order(mix: &[(Action, u32)]) -> Job {
    job(mix, SequencePlaces::InOrder { gap: 0 })
}

fn with_gap(mix: &[(Action, u32)], gap: i64) -> Job {
    job(mix, SequencePlaces::InOrder { gap })
}

fn random(mix: &[(Action, u32)]) -> Job {
    job(mix, SequencePlaces::Random(RandomPlaces::default()))
}

fn spread(mix: &[(Action, u32)], distribution: PlaceDistribution) -> Job {
    random(mix).places(|places| places.distribution = distribution)
}

fn zipf(theta: f64, center: Option<f64>) -> PlaceDistribution {
    PlaceDistribution::Zipf { theta, center, names: names(1) }
}

fn names(files: u32) -> Vec<PathBuf> {
    (0..files).map(|file| PathBuf::from(format!("t.0.{file}"))).collect()
}

fn zones(parts: &[(u32, u32)]) -> Vec<Zone> {
    let zone = |&(access, space): &(u32, u32)| Zone {
        access_percent: f64::from(access),
        space_percent: f64::from(space),
    };
    parts.iter().map(zone).collect()
}

fn range(least: u64, most: u64) -> BlockSize {
    BlockSize::Range { least: Bytes(least), most: Bytes(most), step: Bytes(least) }
}

fn split(sizes: &[(u64, u32)]) -> BlockSize {
    let sized = |&(size, weight): &(u64, u32)| WeightedSize { size: Bytes(size), weight };
    BlockSize::Split(sizes.iter().map(sized).collect())
}

fn each(sizes: [BlockSize; 3]) -> BlockSize {
    let actions = [Action::Read, Action::Write, Action::Trim];
    let size = |(action, size)| ActionSize { action, size: Box::new(size) };
    BlockSize::PerAction(actions.into_iter().zip(sizes).map(size).collect())
}

fn fixed(size: u64) -> BlockSize {
    BlockSize::Fixed(Bytes(size))
}

impl Job {
    /// Bytes of each file.
    fn bytes(mut self, len: u64) -> Self {
        self.span.len = len;
        self
    }

    fn start(mut self, start: u64) -> Self {
        self.span.start = start;
        self
    }

    fn block(mut self, block: BlockSize) -> Self {
        self.pattern.block = block;
        self
    }

    fn files(mut self, files: u32, service: FileService) -> Self {
        self.files = files;
        self.set(|sequence| sequence.files = service)
    }

    fn passes(mut self, passes: u64) -> Self {
        self.span.passes = Some(passes);
        self
    }

    fn timed(mut self) -> Self {
        self.span.passes = None;
        self
    }

    fn queued(self) -> Self {
        self.set(|sequence| sequence.queued = true)
    }

    /// The second job of its run.
    fn second(mut self) -> Self {
        self.span.worker = 1;
        self
    }

    fn set(mut self, change: impl FnOnce(&mut SeededSequence)) -> Self {
        change(self.pattern.sequence.as_mut().expect("a sequence"));
        self
    }

    fn places(self, change: impl FnOnce(&mut RandomPlaces)) -> Self {
        self.set(|sequence| match &mut sequence.places {
            SequencePlaces::Random(places) => change(places),
            SequencePlaces::InOrder { .. } => unreachable!("a job with random places"),
        })
    }

    /// Its first I/Os, a line for each, and 'end' where there are no more.
    fn lines(&self, ios: usize) -> Vec<String> {
        self.pattern.check().expect("a valid plan");
        let mut route = IoRoute::new(&self.pattern, self.files, FileOrder::default(), self.span)
            .expect("a route");
        let mut lines = Vec::new();
        while lines.len() < ios {
            let Some(io) = route.next_io() else {
                lines.push("end".into());
                break;
            };
            let op = match io.op {
                IoOp::Read => 'r',
                IoOp::Write => 'w',
                _ => 't',
            };
            lines.push(format!("{} {op} {} {}", io.file, io.offset, io.len));
        }
        lines
    }
}

/// FNV-1a of lines.
fn digest(lines: &[String]) -> u64 {
    lines.iter().flat_map(|line| line.bytes().chain([b'\n'])).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The words of a job, its first I/Os that are compared, their digest as the other program did them, and the
/// job here.
type Row = (&'static str, usize, u64, Job);

fn compare(rows: Vec<Row>) {
    let mut others = Vec::new();
    for (number, (words, ios, expected, job)) in rows.into_iter().enumerate() {
        let lines = job.lines(ios);
        if digest(&lines) != expected {
            dump(words, &lines);
            let first = &lines[..lines.len().min(3)];
            others.push(format!("{number}: {words}: {} lines, {first:?}", lines.len()));
        }
    }
    assert!(others.is_empty(), "other sequences:\n{}", others.join("\n"));
}

fn dump(words: &str, lines: &[String]) {
    let name: String = words.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    std::fs::write(format!("/tmp/t/seq/{name}.ours"), lines.join("\n") + "\n").unwrap();
}

#[test]
fn places_in_order_are_those_of_fio() {
    compare(vec![
        ("rw=read size=16m", 5000, 0xa8cf_24a2_8aaa_1579, in_order(READ).bytes(16 * M)),
        ("rw=write size=10m bs=64k", 5000, 0xcef0_cb53_36e1_9e70, in_order(WRITE).bytes(10 * M).block(fixed(64 * K))),
        ("rw=rw size=16m", 5000, 0xef1e_2307_ccf4_b0e2, in_order(&mixed(50)).bytes(16 * M)),
        ("rw=rw rwmixread=70 size=16m", 5000, 0xe75e_f15d_313d_7ba3, in_order(&mixed(70)).bytes(16 * M)),
        ("rw=rw rwmixread=100 size=9m", 5000, 0xfe7e_23c6_0a46_650b, in_order(&mixed(100)).bytes(9 * M)),
        ("rw=trim size=9m", 5000, 0xae82_e56b_30ca_6f07, in_order(TRIM).bytes(9 * M)),
        ("rw=trimwrite size=9m", 5000, 0x1d60_ff3e_8ece_f9bc, in_order(TRIM_WRITE).bytes(9 * M)),
        ("rw=trimwrite size=9m fsync=3", 5000, 0x1d60_ff3e_8ece_f9bc, {
            in_order(TRIM_WRITE).bytes(9 * M).set(|sequence| sequence.flush_every = Some(3))
        }),
        ("rw=read:8k size=16m", 5000, 0xa440_a9c7_fa6a_4800, with_gap(READ, 8 * K as i64).bytes(16 * M)),
        ("rw=write:12k size=16m loops=2", 9000, 0xab34_1b37_ef38_b600, {
            with_gap(WRITE, 12 * K as i64).bytes(16 * M).passes(2)
        }),
        ("rw=rw:8k size=16m offset=1m", 5000, 0x0476_798d_5c55_e31d, {
            with_gap(&mixed(50), 8 * K as i64).bytes(16 * M).start(M)
        }),
        ("file rw=read:-8k size=16m", 5000, 0x711d_a695_a116_c4cc, {
            with_gap(READ, -8 * K as i64).bytes(16 * M)
        }),
        ("file rw=read:-8k size=16m offset=64k", 5000, 0x2966_9769_7424_3512, {
            with_gap(READ, -8 * K as i64).bytes(16 * M).start(64 * K)
        }),
        ("file rw=rw:8k size=16m offset=1m", 5000, 0x0476_798d_5c55_e31d, {
            with_gap(&mixed(50), 8 * K as i64)
                .bytes(16 * M)
                .start(M)
        }),
        ("rw=write size=4m io_size=11m bs=64k", 5000, 0xe0a4_fdb1_350b_66fe, {
            in_order(WRITE)
                .bytes(4 * M)
                .block(fixed(64 * K))
                .set(|sequence| sequence.io_size = Some(Bytes(11 * M)))
        }),
        ("rw=read size=4m io_size=11m", 5000, 0xc776_6420_f0a2_eecf, {
            in_order(READ).bytes(4 * M).set(|sequence| sequence.io_size = Some(Bytes(11 * M)))
        }),
        ("timed rw=read size=4m", 3000, 0x7cc0_b297_111d_8f19, in_order(READ).bytes(4 * M).timed()),
        ("timed rw=rw size=4m rwmixread=60", 3000, 0x2be2_e54c_bf3d_41a5, in_order(&mixed(60)).bytes(4 * M).timed()),
        ("rw=write bsrange=1k-16k size=16m", 5000, 0x97ee_968c_0888_bcac, {
            in_order(WRITE).bytes(16 * M).block(range(K, 16 * K))
        }),
        ("file rw=write bsrange=1k-16k size=16000k", 5000, 0x25ea_11af_495b_239d, {
            in_order(WRITE)
                .bytes(16_000 * K)
                .block(range(K, 16 * K))
        }),
        ("rw=read bsrange=3k-13k size=16m", 5000, 0x8d60_06b2_97a7_f168, {
            in_order(READ).bytes(16 * M).block(range(3 * K, 13 * K))
        }),
        ("file rw=read bs=7k size=1000k", 5000, 0x9bb1_0f02_6df7_7ecb, {
            in_order(READ)
                .bytes(1000 * K)
                .block(fixed(7 * K))
        }),
    ]);
}

#[test]
fn random_places_are_those_of_fio() {
    compare(vec![
        ("rw=randread size=64m", 5000, 0x507b_1cc2_65d1_5a1e, random(READ)),
        ("rw=randwrite size=8m", 5000, 0xbba1_c1e1_efa3_bc5d, random(WRITE).bytes(8 * M)),
        ("rw=randrw rwmixread=30 size=64m", 5000, 0x9516_5990_75b3_8066, random(&mixed(30))),
        ("rw=randrw rwmixread=0 size=9m", 5000, 0x8c5a_9580_133e_a069, random(&mixed(0)).bytes(9 * M)),
        ("rw=randread size=1000m bs=64k", 20000, 0x0f28_e987_8977_0306, {
            random(READ).bytes(1000 * M).block(fixed(64 * K))
        }),
        ("rw=randread size=64m norandommap", 5000, 0xe680_5931_ceeb_3e01, {
            spread(READ, PlaceDistribution::Uniform { random_map: false })
        }),
        ("rw=randread size=64m random_generator=tausworthe64", 5000, 0x5c5b_df3f_00fa_385a, {
            random(READ).set(|sequence| sequence.generator = Some(RandomGenerator::Tausworthe64))
        }),
        ("rw=randrw size=64m random_generator=tausworthe64 bssplit=4k/40:8k/60", 5000, 0xe7d3_73eb_9ab7_4ccc, {
            random(&mixed(50))
                .set(|sequence| sequence.generator = Some(RandomGenerator::Tausworthe64))
                .block(split(&[(4 * K, 40), (8 * K, 60)]))
        }),
        ("rw=randread size=16m random_generator=lfsr", 5000, 0x5b33_a872_ce93_f6bb, {
            random(READ).bytes(16 * M).set(|sequence| sequence.generator = Some(RandomGenerator::Lfsr))
        }),
        ("rw=randwrite size=9m random_generator=lfsr norandommap loops=3", 9000, 0x23b2_3fd7_4d9b_1213, {
            spread(WRITE, PlaceDistribution::Uniform { random_map: false })
                .bytes(9 * M)
                .passes(3)
                .set(|sequence| sequence.generator = Some(RandomGenerator::Lfsr))
        }),
        ("rw=randread size=20t norandommap io_size=16m", 5000, 0xde50_41ba_35d6_6c19, {
            spread(READ, PlaceDistribution::Uniform { random_map: false })
                .bytes(20 * M * M)
                .set(|sequence| sequence.io_size = Some(Bytes(16 * M)))
        }),
        ("rw=randread size=20t norandommap random_generator=tausworthe io_size=16m", 5000, 0xea23_ffc1_7674_f039, {
            spread(READ, PlaceDistribution::Uniform { random_map: false })
                .bytes(20 * M * M)
                .set(|sequence| {
                    sequence.io_size = Some(Bytes(16 * M));
                    sequence.generator = Some(RandomGenerator::Tausworthe);
                })
        }),
        ("rw=randread:8 size=64m", 5000, 0x606a_411e_07aa_f767, random(READ).places(|places| places.run = 8)),
        ("rw=randrw:5 size=16m", 5000, 0x01ab_d923_47b6_b322, {
            random(&mixed(50)).bytes(16 * M).places(|places| places.run = 5)
        }),
        ("rw=randwrite:4 rw_sequencer=identical size=16m", 5000, 0xee7a_dd00_b08c_53e0, {
            random(WRITE).bytes(16 * M).places(|places| (places.run, places.same) = (4, true))
        }),
        ("rw=randread percentage_random=60 size=64m", 5000, 0xf7a3_a629_30ac_76f8, {
            random(READ).places(|places| places.percent = Some(PerDirection::same(60)))
        }),
        ("rw=randrw percentage_random=20,80 size=16m", 5000, 0x46fa_46be_0581_f5e6, {
            random(&mixed(50)).bytes(16 * M).places(|places| {
                places.percent = Some(PerDirection { read: 20, write: 80, trim: 80 });
            })
        }),
        ("rw=randread:3 percentage_random=50 size=16m bsrange=4k-32k", 5000, 0xdc3d_d2cd_c6a5_c2fd, {
            random(READ).bytes(16 * M).block(range(4 * K, 32 * K)).places(|places| {
                places.run = 3;
                places.percent = Some(PerDirection::same(50));
            })
        }),
        ("rw=randtrim size=9m", 5000, 0x4e75_b260_7054_5223, random(TRIM).bytes(9 * M)),
        ("rw=randtrimwrite size=9m", 5000, 0x78b2_134f_9d54_abb8, random(TRIM_WRITE).bytes(9 * M)),
        ("rw=randtrimwrite size=9m bssplit=4k/50:16k/50", 5000, 0x9098_a232_2889_23f1, {
            random(TRIM_WRITE).bytes(9 * M).block(split(&[(4 * K, 50), (16 * K, 50)]))
        }),
        ("rw=randtrimwrite size=256k norandommap io_size=12m", 9000, 0xa076_22a8_3016_d77a, {
            spread(TRIM_WRITE, PlaceDistribution::Uniform { random_map: false })
                .bytes(256 * K)
                .set(|sequence| sequence.io_size = Some(Bytes(12 * M)))
        }),
        ("rw=randread offset=3m size=16m", 5000, 0x4992_9e8d_1cb8_d720, random(READ).bytes(16 * M).start(3 * M)),
        ("file rw=randread filesize=20m offset=3m size=16m bsrange=4k-64k", 5000, 0x2612_e6e9_0b54_ed8d, {
            random(READ)
                .bytes(17 * M)
                .start(3 * M)
                .block(range(4 * K, 64 * K))
                .set(|sequence| sequence.size = Some(Bytes(16 * M)))
        }),
        ("rw=randread ba=512 size=64m", 5000, 0x4640_eb9f_3c49_fa51, {
            random(READ).places(|places| places.align = Some(PerDirection::same(Bytes(512))))
        }),
        ("file rw=randwrite ba=16k size=16m", 9000, 0x7125_8d58_661f_4a54, {
            random(WRITE)
                .bytes(16 * M)
                .places(|places| places.align = Some(PerDirection::same(Bytes(16 * K))))
        }),
        ("second rw=randread size=64m", 5000, 0xedf0_ecf1_effd_0725, random(READ).second()),
        ("rw=randread size=64m randseed=12345", 5000, 0x9900_4e7f_34a5_ada6, random(READ).set(|sequence| {
            sequence.seeds = SequenceSeeds::Fixed { base: 12345, first: 1, repeat: false, block: None };
        })),
    ]);
}

#[test]
fn passes_are_those_of_fio() {
    compare(vec![
        ("rw=randread size=4m loops=3", 5000, 0x85c8_29ef_fea7_0358, random(READ).bytes(4 * M).passes(3)),
        ("rw=randrw size=4m loops=3", 5000, 0xbf69_159f_0aef_f7d8, random(&mixed(50)).bytes(4 * M).passes(3)),
        ("rw=randread size=4m loops=3 randseed=99", 5000, 0x5890_a08d_0c38_06ac, {
            random(READ).bytes(4 * M).passes(3).set(|sequence| {
                sequence.seeds = SequenceSeeds::Fixed { base: 99, first: 1, repeat: false, block: None };
            })
        }),
        ("rw=randread size=4m io_size=10m", 5000, 0xe882_f161_d17d_0183, {
            random(READ).bytes(4 * M).set(|sequence| sequence.io_size = Some(Bytes(10 * M)))
        }),
        ("rw=randwrite size=4m io_size=10m", 5000, 0x99ba_ceea_a9da_bf19, {
            random(WRITE).bytes(4 * M).set(|sequence| sequence.io_size = Some(Bytes(10 * M)))
        }),
        ("rw=randwrite size=4m io_size=10m norandommap", 5000, 0x08d3_3c5f_8d06_b545, {
            spread(WRITE, PlaceDistribution::Uniform { random_map: false })
                .bytes(4 * M)
                .set(|sequence| sequence.io_size = Some(Bytes(10 * M)))
        }),
        ("rw=randread size=9m io_size=3m loops=4", 5000, 0xc9fc_9dfc_e5ba_26f3, {
            random(READ)
                .bytes(9 * M)
                .passes(4)
                .set(|sequence| sequence.io_size = Some(Bytes(3 * M)))
        }),
        ("aio rw=randread size=4m loops=3 randseed=99", 5000, 0x5cdf_7460_cf10_2040, {
            random(READ).bytes(4 * M).passes(3).queued().set(|sequence| {
                sequence.seeds = SequenceSeeds::Fixed { base: 99, first: 1, repeat: false, block: None };
            })
        }),
        ("aio rw=randwrite size=4m norandommap loops=3", 5000, 0x2bfd_49af_80f2_fa9f, {
            spread(WRITE, PlaceDistribution::Uniform { random_map: false })
                .bytes(4 * M)
                .passes(3)
                .queued()
        }),
        ("rw=randwrite size=4m norandommap loops=3", 5000, 0xbe1c_9575_a599_4e80, {
            spread(WRITE, PlaceDistribution::Uniform { random_map: false }).bytes(4 * M).passes(3)
        }),
        ("aio rw=randwrite size=4m io_size=10m", 5000, 0x99ba_ceea_a9da_bf19, {
            random(WRITE)
                .bytes(4 * M)
                .queued()
                .set(|sequence| sequence.io_size = Some(Bytes(10 * M)))
        }),
        ("aio rw=write size=4m io_size=11m", 5000, 0xa481_b395_a270_17d5, {
            in_order(WRITE)
                .bytes(4 * M)
                .queued()
                .set(|sequence| sequence.io_size = Some(Bytes(11 * M)))
        }),
        ("aio rw=randrw size=4m bsrange=1k-64k loops=5", 5000, 0x90c8_4aec_7082_96b2, {
            random(&mixed(50)).bytes(4 * M).passes(5).queued().block(range(K, 64 * K))
        }),
        ("aio rw=rw nrfiles=3 size=6m file_service_type=zipf:1.3 loops=3", 9000, 0xe4d7_c546_5e86_d9f4, {
            in_order(&mixed(50))
                .bytes(2 * M)
                .files(3, FileService::Zipf { theta: 1.3, center: None })
                .passes(3)
                .queued()
        }),
        ("timed aio rw=randwrite size=4m verify=crc32c do_verify=0", 2000, 0xa51e_47cc_355c_cf17, {
            random(WRITE)
                .bytes(4 * M)
                .timed()
                .queued()
                .set(|sequence| sequence.verified = true)
        }),
        ("timed rw=randread size=4m", 3000, 0x9101_2fbf_b93e_6c0b, random(READ).bytes(4 * M).timed()),
        ("timed rw=randrw size=4m", 3000, 0x5a3c_aea0_4bbc_be52, random(&mixed(50)).bytes(4 * M).timed()),
        ("timed rw=randread size=4m random_generator=lfsr", 3000, 0x6d88_9aaf_3bd4_0896, {
            random(READ)
                .bytes(4 * M)
                .timed()
                .set(|sequence| sequence.generator = Some(RandomGenerator::Lfsr))
        }),
        ("rw=randwrite size=4m bssplit=4k/33:8k/33:16k/34 loops=5", 5000, 0x8257_53d7_fb14_bfb1, {
            random(WRITE)
                .bytes(4 * M)
                .passes(5)
                .block(split(&[(4 * K, 33), (8 * K, 33), (16 * K, 34)]))
        }),
        ("rw=rw size=4m bsrange=1k-64k loops=5", 5000, 0xf975_7789_db87_5b75, {
            in_order(&mixed(50)).bytes(4 * M).passes(5).block(range(K, 64 * K))
        }),
    ]);
}

#[test]
fn uneven_places_are_those_of_fio() {
    compare(vec![
        ("rw=randread size=64m random_distribution=zipf:1.2", 5000, 0x11c6_f737_540d_6748, spread(READ, zipf(1.2, None))),
        ("rw=randwrite size=64m random_distribution=zipf:0.8:0.3 loops=2", 40000, 0x531c_6bd2_25b8_9667, {
            spread(WRITE, zipf(0.8, Some(0.3))).passes(2)
        }),
        ("second rw=randread size=64m random_distribution=zipf:1.1", 5000, 0xfa97_77a9_f6e7_59ba, {
            spread(READ, zipf(1.1, None)).second()
        }),
        ("rw=randrw size=64m random_distribution=pareto:0.3", 5000, 0xacb1_9cee_eb91_15ec, {
            spread(&mixed(50), PlaceDistribution::Pareto { h: 0.3, center: None, names: names(1) })
        }),
        ("rw=randread size=64m random_distribution=pareto:0.1:0.9", 5000, 0x3150_9eeb_a669_58ab, {
            spread(READ, PlaceDistribution::Pareto {
                h: 0.1,
                center: Some(0.9),
                names: names(1),
            })
        }),
        ("rw=randread size=64m random_distribution=normal:15", 5000, 0x3501_d85d_90f1_15c0, {
            spread(READ, PlaceDistribution::Normal {
                deviation: 15.0,
                center: None,
                names: names(1),
            })
        }),
        ("rw=randread size=64m random_distribution=normal:5:0.7", 5000, 0xa824_2d20_7475_6c5d, {
            spread(READ, PlaceDistribution::Normal {
                deviation: 5.0,
                center: Some(0.7),
                names: names(1),
            })
        }),
        ("rw=randread size=64m random_distribution=normal:0", 5000, 0xa255_2509_a45d_b0d9, {
            spread(READ, PlaceDistribution::Normal {
                deviation: 0.0,
                center: None,
                names: names(1),
            })
        }),
        ("rw=randread size=64m random_distribution=zoned:60/10:30/20:10/70", 5000, 0xf923_5afe_c2a8_03b3, {
            let all = zones(&[(60, 10), (30, 20), (10, 70)]);
            spread(READ, PlaceDistribution::Zoned(PerDirection::same(all)))
        }),
        ("rw=randrw size=64m random_distribution=zoned:50/20:50/80,70/50:30/50", 5000, 0x79f4_d328_be47_f815, {
            let writes = zones(&[(70, 50), (30, 50)]);
            spread(&mixed(50), PlaceDistribution::Zoned(PerDirection {
                read: zones(&[(50, 20), (50, 80)]),
                write: writes.clone(),
                trim: writes,
            }))
        }),
        ("rw=randread size=64m random_distribution=zoned_abs:60/4m:40/20m", 5000, 0x57da_120d_c421_720d, {
            let all = [(60.0, 4 * M), (40.0, 20 * M)]
                .map(|(access_percent, size)| SizedZone { access_percent, size: Bytes(size) });
            spread(READ, PlaceDistribution::ZonedAbs(PerDirection::same(all.to_vec())))
        }),
        ("rw=randread size=64m random_distribution=sequence:2,0,7,1", 5000, 0xfd84_6267_4555_0015, {
            spread(READ, PlaceDistribution::Listed { blocks: vec![2, 0, 7, 1], advance: false })
        }),
        ("rw=randread size=9m random_distribution=sequence:2,0,1 random_sequence_stride=1", 5000, 0xce35_2463_f6c2_91cd, {
            spread(READ, PlaceDistribution::Listed { blocks: vec![2, 0, 1], advance: true })
                .bytes(9 * M)
        }),
        ("rw=randread:4 size=64m random_distribution=zipf:1.2 percentage_random=70", 5000, 0xa80b_1dee_4f13_6952, {
            spread(READ, zipf(1.2, None)).places(|places| {
                places.run = 4;
                places.percent = Some(PerDirection::same(70));
            })
        }),
    ]);
}

#[test]
fn sizes_are_those_of_fio() {
    compare(vec![
        ("rw=randread size=64m bsrange=4k-64k", 5000, 0xe20e_4c1b_858e_ad74, random(READ).block(range(4 * K, 64 * K))),
        ("rw=randwrite size=32m bssplit=4k/50:16k/30:64k/20", 5000, 0x099b_df81_0cbe_3f82, {
            random(WRITE)
                .bytes(32 * M)
                .block(split(&[(4 * K, 50), (16 * K, 30), (64 * K, 20)]))
        }),
        ("rw=randrw size=64m bssplit=4k/10:8k/90,16k/50:32k/50", 5000, 0x6c38_5932_a1a3_c288, {
            let writes = split(&[(16 * K, 50), (32 * K, 50)]);
            let reads = split(&[(4 * K, 10), (8 * K, 90)]);
            random(&mixed(50)).block(each([reads, writes.clone(), writes]))
        }),
        ("rw=randread size=64m bssplit=3k/50:7k/50 norandommap", 5000, 0x9473_5cf3_87d4_7b79, {
            spread(READ, PlaceDistribution::Uniform { random_map: false })
                .block(split(&[(3 * K, 50), (7 * K, 50)]))
        }),
        ("rw=randread size=64m bsrange=1000-9000 bs_unaligned norandommap", 5000, 0xb90c_fc46_a22f_cc2a, {
            let block = BlockSize::Range { least: Bytes(1000), most: Bytes(9000), step: Bytes(1) };
            spread(READ, PlaceDistribution::Uniform { random_map: false })
                .block(block)
                .set(|sequence| sequence.unaligned = true)
        }),
        ("rw=randwrite size=9m bsrange=1000-9000 bs_unaligned", 9000, 0x21d1_044e_0568_52de, {
            let block = BlockSize::Range { least: Bytes(1000), most: Bytes(9000), step: Bytes(1) };
            random(WRITE).bytes(9 * M).block(block).set(|sequence| sequence.unaligned = true)
        }),
        ("rw=randrw size=64m bs=4k,16k", 5000, 0x8c60_d3b4_b89c_2524, {
            random(&mixed(50)).block(each([fixed(4 * K), fixed(16 * K), fixed(16 * K)]))
        }),
        ("rw=randrw size=16m bs=16k,4k", 9000, 0x5d41_b324_5327_bba2, {
            random(&mixed(50)).bytes(16 * M).block(each([fixed(16 * K), fixed(4 * K), fixed(4 * K)]))
        }),
        ("rw=randread size=64m bs=4k,64k,64k bs_is_seq_rand=1 percentage_random=50", 5000, 0xdbbb_1401_b8ae_bf41, {
            random(READ)
                .block(each([fixed(4 * K), fixed(64 * K), fixed(64 * K)]))
                .set(|sequence| sequence.sizes_by_order = true)
                .places(|places| places.percent = Some(PerDirection::same(50)))
        }),
        ("rw=randwrite size=32m bssplit=4k/50:16k/50 verify=crc32c do_verify=0", 5000, 0xfe07_2293_1a2b_e3be, {
            random(WRITE)
                .bytes(32 * M)
                .block(split(&[(4 * K, 50), (16 * K, 50)]))
                .set(|sequence| sequence.verified = true)
        }),
    ]);
}

#[test]
fn files_are_those_of_fio() {
    let turns = |ios| FileService::RoundRobin { ios };
    compare(vec![
        ("rw=randread nrfiles=3 size=24m", 9000, 0xf9c0_0f48_ac61_4f65, random(READ).bytes(8 * M).files(3, turns(1))),
        ("rw=randrw nrfiles=3 size=24m loops=2", 19000, 0x73c6_f88e_185c_4af8, {
            random(&mixed(50)).bytes(8 * M).files(3, turns(1)).passes(2)
        }),
        ("rw=read nrfiles=3 size=24m file_service_type=roundrobin:5 loops=2", 19000, 0xf182_17e7_f96f_58f0, {
            in_order(READ).bytes(8 * M).files(3, turns(5)).passes(2)
        }),
        ("rw=randwrite nrfiles=4 size=16m file_service_type=sequential", 9000, 0xf0d2_084a_b7e1_53ea, {
            random(WRITE).bytes(4 * M).files(4, FileService::Sequential)
        }),
        ("rw=read nrfiles=4 size=16m file_service_type=random", 9000, 0x39c5_1619_8ff6_56a6, {
            in_order(READ).bytes(4 * M).files(4, FileService::Random { ios: 1 })
        }),
        ("rw=randrw nrfiles=4 size=16m file_service_type=random:3 loops=2", 9000, 0x6cae_eb7e_33ac_8418, {
            random(&mixed(50)).bytes(4 * M).files(4, FileService::Random { ios: 3 }).passes(2)
        }),
        ("rw=read nrfiles=5 size=20m file_service_type=zipf:1.3 loops=2", 19000, 0xbd52_6bc3_cbab_a602, {
            in_order(READ)
                .bytes(4 * M)
                .files(5, FileService::Zipf { theta: 1.3, center: None })
                .passes(2)
        }),
        ("rw=randread nrfiles=5 size=20m file_service_type=pareto:0.2", 9000, 0x83bb_a7a6_a675_d156, {
            random(READ).bytes(4 * M).files(5, FileService::Pareto { h: 0.2, center: None })
        }),
        ("rw=randread nrfiles=5 size=20m file_service_type=normal:10", 9000, 0x275f_3ed6_5e92_7cf9, {
            random(READ)
                .bytes(4 * M)
                .files(5, FileService::Normal { deviation: 10.0, center: None })
        }),
        ("rw=write nrfiles=2 size=16m fsync=4", 9000, 0x6ac5_3e9c_c2d4_c80a, {
            in_order(WRITE)
                .bytes(8 * M)
                .files(2, turns(1))
                .set(|sequence| sequence.flush_every = Some(4))
        }),
        ("rw=randrw nrfiles=3 size=24m fdatasync=3", 9000, 0x9936_ced8_aed7_cf8d, {
            random(&mixed(50))
                .bytes(8 * M)
                .files(3, turns(1))
                .set(|sequence| sequence.flush_every = Some(3))
        }),
        ("rw=randread:8 nrfiles=2 size=8m", 9000, 0x5354_913f_caad_47b9, {
            random(READ).bytes(4 * M).files(2, turns(1)).places(|places| places.run = 8)
        }),
        ("rw=randread nrfiles=2 size=32m random_distribution=zipf:1.2 loops=2", 9000, 0x8067_19c6_4fdb_0cdf, {
            let law = PlaceDistribution::Zipf { theta: 1.2, center: None, names: names(2) };
            spread(READ, law).bytes(16 * M).files(2, turns(1)).passes(2)
        }),
        ("timed rw=read nrfiles=2 size=4m", 3000, 0xb3c5_1617_6fbb_709d, {
            in_order(READ).bytes(2 * M).files(2, turns(1)).timed()
        }),
        ("timed rw=randwrite nrfiles=2 size=4m", 3000, 0x9423_40e4_f4f2_c729, {
            random(WRITE).bytes(2 * M).files(2, turns(1)).timed()
        }),
        ("rw=write nrfiles=3 size=12m bsrange=1k-32k loops=2", 9000, 0x8224_37c9_9056_ef6b, {
            in_order(WRITE).bytes(4 * M).files(3, turns(1)).passes(2).block(range(K, 32 * K))
        }),
        ("rw=trimwrite nrfiles=2 size=8m", 9000, 0xe957_e2bc_0619_fd08, {
            in_order(TRIM_WRITE).bytes(4 * M).files(2, turns(1))
        }),
    ]);
}

#[test]
fn an_older_fio_has_another_seed_for_blocks() {
    let older = |sequence: &mut SeededSequence| {
        let block = Some(0xb189_9bed);
        sequence.seeds = SequenceSeeds::Fixed { base: 0x89, first: 1, repeat: true, block };
    };
    let laws = PlaceDistribution::Normal { deviation: 5.0, center: Some(0.3), names: names(1) };
    compare(vec![
        ("3.33 rw=randread size=64m", 5000, 0xa519_70ba_3f0e_730a, random(READ).set(older)),
        ("3.33 second rw=randrw size=16m loops=2", 9000, 0xe43b_5882_0564_f9bd, {
            random(&mixed(50)).bytes(16 * M).passes(2).second().set(older)
        }),
        ("3.33 rw=randread size=64m random_distribution=zipf:1.2", 5000, 0x475f_cb00_dabe_5e84, {
            spread(READ, zipf(1.2, None)).set(older)
        }),
        // What 3.42 does with a center below 0.5 differs from processor to processor.
        ("3.33 rw=randread size=64m random_distribution=normal:5:0.3", 5000, 0x3b68_bec1_bd97_0d68, {
            spread(READ, laws).set(older)
        }),
        ("3.33 rw=randwrite size=16m random_generator=lfsr", 5000, 0x816c_b822_c4ba_7fcd, {
            random(WRITE).bytes(16 * M).set(older).set(|sequence| {
                sequence.generator = Some(RandomGenerator::Lfsr);
            })
        }),
    ]);
}
