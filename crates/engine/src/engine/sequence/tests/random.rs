//! Random places.

use super::job::*;
use assay_plan::plan::{ByDirection, PlaceDistribution, RandomGenerator, SequenceSeeds, SizedZone};
use assay_plan::unit::Bytes;

#[test]
fn random_places_are_those_of_fio() {
    compare(vec![
        ("rw=randread size=64m", 5000, 0x507b_1cc2_65d1_5a1e, random(READ)),
        ("rw=randwrite size=8m", 5000, 0xbba1_c1e1_efa3_bc5d, random(WRITE).bytes(8 * M)),
        ("rw=randrw rwmixread=30 size=64m", 5000, 0x9516_5990_75b3_8066, random(&mixed(30))),
        (
            "rw=randrw rwmixread=0 size=9m",
            5000,
            0x8c5a_9580_133e_a069,
            random(&mixed(0)).bytes(9 * M),
        ),
        ("rw=randread size=1000m bs=64k", 20000, 0x0f28_e987_8977_0306, {
            random(READ).bytes(1000 * M).block(fixed(64 * K))
        }),
        ("rw=randread size=64m norandommap", 5000, 0xe680_5931_ceeb_3e01, {
            spread(READ, PlaceDistribution::Uniform { random_map: false })
        }),
        ("rw=randread size=64m random_generator=tausworthe64", 5000, 0x5c5b_df3f_00fa_385a, {
            random(READ).set(|sequence| sequence.generator = Some(RandomGenerator::Tausworthe64))
        }),
        (
            "rw=randrw size=64m random_generator=tausworthe64 bssplit=4k/40:8k/60",
            5000,
            0xe7d3_73eb_9ab7_4ccc,
            {
                random(&mixed(50))
                    .set(|sequence| sequence.generator = Some(RandomGenerator::Tausworthe64))
                    .block(split(&[(4 * K, 40), (8 * K, 60)]))
            },
        ),
        ("rw=randread size=16m random_generator=lfsr", 5000, 0x5b33_a872_ce93_f6bb, {
            random(READ)
                .bytes(16 * M)
                .set(|sequence| sequence.generator = Some(RandomGenerator::Lfsr))
        }),
        (
            "rw=randwrite size=9m random_generator=lfsr norandommap loops=3",
            9000,
            0x23b2_3fd7_4d9b_1213,
            {
                spread(WRITE, PlaceDistribution::Uniform { random_map: false })
                    .bytes(9 * M)
                    .passes(3)
                    .set(|sequence| sequence.generator = Some(RandomGenerator::Lfsr))
            },
        ),
        ("rw=randread size=20t norandommap io_size=16m", 5000, 0xde50_41ba_35d6_6c19, {
            spread(READ, PlaceDistribution::Uniform { random_map: false })
                .bytes(20 * M * M)
                .set(|sequence| sequence.io_size = Some(Bytes(16 * M)))
        }),
        (
            "rw=randread size=20t norandommap random_generator=tausworthe io_size=16m",
            5000,
            0xea23_ffc1_7674_f039,
            {
                spread(READ, PlaceDistribution::Uniform { random_map: false })
                    .bytes(20 * M * M)
                    .set(|sequence| {
                        sequence.io_size = Some(Bytes(16 * M));
                        sequence.generator = Some(RandomGenerator::Tausworthe);
                    })
            },
        ),
        (
            "rw=randread:8 size=64m",
            5000,
            0x606a_411e_07aa_f767,
            random(READ).places(|places| places.run = 8),
        ),
        ("rw=randrw:5 size=16m", 5000, 0x01ab_d923_47b6_b322, {
            random(&mixed(50)).bytes(16 * M).places(|places| places.run = 5)
        }),
        ("rw=randwrite:4 rw_sequencer=identical size=16m", 5000, 0xee7a_dd00_b08c_53e0, {
            random(WRITE).bytes(16 * M).places(|places| (places.run, places.same) = (4, true))
        }),
        ("rw=randread percentage_random=60 size=64m", 5000, 0xf7a3_a629_30ac_76f8, {
            random(READ).places(|places| places.percent = Some(ByDirection::same(60)))
        }),
        ("rw=randrw percentage_random=20,80 size=16m", 5000, 0x46fa_46be_0581_f5e6, {
            random(&mixed(50)).bytes(16 * M).places(|places| {
                places.percent = Some(ByDirection { read: 20, write: 80, trim: 80 });
            })
        }),
        (
            "rw=randread:3 percentage_random=50 size=16m bsrange=4k-32k",
            5000,
            0xdc3d_d2cd_c6a5_c2fd,
            {
                random(READ).bytes(16 * M).block(range(4 * K, 32 * K)).places(|places| {
                    places.run = 3;
                    places.percent = Some(ByDirection::same(50));
                })
            },
        ),
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
        (
            "rw=randread offset=3m size=16m",
            5000,
            0x4992_9e8d_1cb8_d720,
            random(READ).bytes(16 * M).start(3 * M),
        ),
        (
            "file rw=randread filesize=20m offset=3m size=16m bsrange=4k-64k",
            5000,
            0x2612_e6e9_0b54_ed8d,
            {
                random(READ)
                    .bytes(17 * M)
                    .start(3 * M)
                    .block(range(4 * K, 64 * K))
                    .set(|sequence| sequence.size = Some(Bytes(16 * M)))
            },
        ),
        ("rw=randread ba=512 size=64m", 5000, 0x4640_eb9f_3c49_fa51, {
            random(READ).places(|places| places.align = Some(ByDirection::same(Bytes(512))))
        }),
        ("file rw=randwrite ba=16k size=16m", 9000, 0x7125_8d58_661f_4a54, {
            random(WRITE)
                .bytes(16 * M)
                .places(|places| places.align = Some(ByDirection::same(Bytes(16 * K))))
        }),
        ("second rw=randread size=64m", 5000, 0xedf0_ecf1_effd_0725, random(READ).second()),
        (
            "rw=randread size=64m randseed=12345",
            5000,
            0x9900_4e7f_34a5_ada6,
            random(READ).set(|sequence| {
                sequence.seeds =
                    SequenceSeeds::Fixed { base: 12345, first: 1, repeat: false, block: None };
            }),
        ),
    ]);
}

#[test]
fn uneven_places_are_those_of_fio() {
    compare(vec![
        (
            "rw=randread size=64m random_distribution=zipf:1.2",
            5000,
            0x11c6_f737_540d_6748,
            spread(READ, zipf(1.2, None)),
        ),
        (
            "rw=randwrite size=64m random_distribution=zipf:0.8:0.3 loops=2",
            40000,
            0x531c_6bd2_25b8_9667,
            { spread(WRITE, zipf(0.8, Some(0.3))).passes(2) },
        ),
        (
            "second rw=randread size=64m random_distribution=zipf:1.1",
            5000,
            0xfa97_77a9_f6e7_59ba,
            { spread(READ, zipf(1.1, None)).second() },
        ),
        ("rw=randrw size=64m random_distribution=pareto:0.3", 5000, 0xacb1_9cee_eb91_15ec, {
            spread(&mixed(50), PlaceDistribution::Pareto { h: 0.3, center: None, names: names(1) })
        }),
        ("rw=randread size=64m random_distribution=pareto:0.1:0.9", 5000, 0x3150_9eeb_a669_58ab, {
            spread(READ, PlaceDistribution::Pareto { h: 0.1, center: Some(0.9), names: names(1) })
        }),
        ("rw=randread size=64m random_distribution=normal:15", 5000, 0x3501_d85d_90f1_15c0, {
            spread(
                READ,
                PlaceDistribution::Normal { deviation: 15.0, center: None, names: names(1) },
            )
        }),
        ("rw=randread size=64m random_distribution=normal:5:0.7", 5000, 0xa824_2d20_7475_6c5d, {
            spread(
                READ,
                PlaceDistribution::Normal { deviation: 5.0, center: Some(0.7), names: names(1) },
            )
        }),
        ("rw=randread size=64m random_distribution=normal:0", 5000, 0xa255_2509_a45d_b0d9, {
            spread(
                READ,
                PlaceDistribution::Normal { deviation: 0.0, center: None, names: names(1) },
            )
        }),
        (
            "rw=randread size=64m random_distribution=zoned:60/10:30/20:10/70",
            5000,
            0xf923_5afe_c2a8_03b3,
            {
                let all = zones(&[(60, 10), (30, 20), (10, 70)]);
                spread(READ, PlaceDistribution::Zoned(ByDirection::same(all)))
            },
        ),
        (
            "rw=randrw size=64m random_distribution=zoned:50/20:50/80,70/50:30/50",
            5000,
            0x79f4_d328_be47_f815,
            {
                let writes = zones(&[(70, 50), (30, 50)]);
                spread(
                    &mixed(50),
                    PlaceDistribution::Zoned(ByDirection {
                        read: zones(&[(50, 20), (50, 80)]),
                        write: writes.clone(),
                        trim: writes,
                    }),
                )
            },
        ),
        (
            "rw=randread size=64m random_distribution=zoned_abs:60/4m:40/20m",
            5000,
            0x57da_120d_c421_720d,
            {
                let all = [(60.0, 4 * M), (40.0, 20 * M)]
                    .map(|(access_percent, size)| SizedZone { access_percent, size: Bytes(size) });
                spread(READ, PlaceDistribution::ZonedAbs(ByDirection::same(all.to_vec())))
            },
        ),
        (
            "rw=randread size=64m random_distribution=sequence:2,0,7,1",
            5000,
            0xfd84_6267_4555_0015,
            {
                spread(READ, PlaceDistribution::Listed { blocks: vec![2, 0, 7, 1], advance: false })
            },
        ),
        (
            "rw=randread size=9m random_distribution=sequence:2,0,1 random_sequence_stride=1",
            5000,
            0xce35_2463_f6c2_91cd,
            {
                spread(READ, PlaceDistribution::Listed { blocks: vec![2, 0, 1], advance: true })
                    .bytes(9 * M)
            },
        ),
        (
            "rw=randread:4 size=64m random_distribution=zipf:1.2 percentage_random=70",
            5000,
            0xa80b_1dee_4f13_6952,
            {
                spread(READ, zipf(1.2, None)).places(|places| {
                    places.run = 4;
                    places.percent = Some(ByDirection::same(70));
                })
            },
        ),
    ]);
}
