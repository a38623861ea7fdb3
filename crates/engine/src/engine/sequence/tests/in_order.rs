//! Places in order, and the sizes of blocks.

use super::job::*;
use assay_plan::plan::{BlockSize, ByDirection, PlaceDistribution};
use assay_plan::unit::Bytes;

#[test]
fn places_in_order_are_those_of_fio() {
    compare(vec![
        ("rw=read size=16m", 5000, 0xa8cf_24a2_8aaa_1579, in_order(READ).bytes(16 * M)),
        (
            "rw=write size=10m bs=64k",
            5000,
            0xcef0_cb53_36e1_9e70,
            in_order(WRITE).bytes(10 * M).block(fixed(64 * K)),
        ),
        ("rw=rw size=16m", 5000, 0xef1e_2307_ccf4_b0e2, in_order(&mixed(50)).bytes(16 * M)),
        (
            "rw=rw rwmixread=70 size=16m",
            5000,
            0xe75e_f15d_313d_7ba3,
            in_order(&mixed(70)).bytes(16 * M),
        ),
        (
            "rw=rw rwmixread=100 size=9m",
            5000,
            0xfe7e_23c6_0a46_650b,
            in_order(&mixed(100)).bytes(9 * M),
        ),
        ("rw=trim size=9m", 5000, 0xae82_e56b_30ca_6f07, in_order(TRIM).bytes(9 * M)),
        ("rw=trimwrite size=9m", 5000, 0x1d60_ff3e_8ece_f9bc, in_order(TRIM_WRITE).bytes(9 * M)),
        ("rw=trimwrite size=9m fsync=3", 5000, 0x1d60_ff3e_8ece_f9bc, {
            in_order(TRIM_WRITE).bytes(9 * M).set(|sequence| sequence.flush_every = Some(3))
        }),
        (
            "rw=read:8k size=16m",
            5000,
            0xa440_a9c7_fa6a_4800,
            with_gap(READ, 8 * K as i64).bytes(16 * M),
        ),
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
            with_gap(&mixed(50), 8 * K as i64).bytes(16 * M).start(M)
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
        (
            "timed rw=rw size=4m rwmixread=60",
            3000,
            0x2be2_e54c_bf3d_41a5,
            in_order(&mixed(60)).bytes(4 * M).timed(),
        ),
        ("rw=write bsrange=1k-16k size=16m", 5000, 0x97ee_968c_0888_bcac, {
            in_order(WRITE).bytes(16 * M).block(range(K, 16 * K))
        }),
        ("file rw=write bsrange=1k-16k size=16000k", 5000, 0x25ea_11af_495b_239d, {
            in_order(WRITE).bytes(16_000 * K).block(range(K, 16 * K))
        }),
        ("rw=read bsrange=3k-13k size=16m", 5000, 0x8d60_06b2_97a7_f168, {
            in_order(READ).bytes(16 * M).block(range(3 * K, 13 * K))
        }),
        ("file rw=read bs=7k size=1000k", 5000, 0x9bb1_0f02_6df7_7ecb, {
            in_order(READ).bytes(1000 * K).block(fixed(7 * K))
        }),
    ]);
}

#[test]
fn sizes_are_those_of_fio() {
    compare(vec![
        (
            "rw=randread size=64m bsrange=4k-64k",
            5000,
            0xe20e_4c1b_858e_ad74,
            random(READ).block(range(4 * K, 64 * K)),
        ),
        ("rw=randwrite size=32m bssplit=4k/50:16k/30:64k/20", 5000, 0x099b_df81_0cbe_3f82, {
            random(WRITE).bytes(32 * M).block(split(&[(4 * K, 50), (16 * K, 30), (64 * K, 20)]))
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
        (
            "rw=randread size=64m bsrange=1000-9000 bs_unaligned norandommap",
            5000,
            0xb90c_fc46_a22f_cc2a,
            {
                let block =
                    BlockSize::Range { least: Bytes(1000), most: Bytes(9000), step: Bytes(1) };
                spread(READ, PlaceDistribution::Uniform { random_map: false })
                    .block(block)
                    .set(|sequence| sequence.unaligned = true)
            },
        ),
        ("rw=randwrite size=9m bsrange=1000-9000 bs_unaligned", 9000, 0x21d1_044e_0568_52de, {
            let block = BlockSize::Range { least: Bytes(1000), most: Bytes(9000), step: Bytes(1) };
            random(WRITE).bytes(9 * M).block(block).set(|sequence| sequence.unaligned = true)
        }),
        ("rw=randrw size=64m bs=4k,16k", 5000, 0x8c60_d3b4_b89c_2524, {
            random(&mixed(50)).block(each([fixed(4 * K), fixed(16 * K), fixed(16 * K)]))
        }),
        ("rw=randrw size=16m bs=16k,4k", 9000, 0x5d41_b324_5327_bba2, {
            random(&mixed(50)).bytes(16 * M).block(each([
                fixed(16 * K),
                fixed(4 * K),
                fixed(4 * K),
            ]))
        }),
        (
            "rw=randread size=64m bs=4k,64k,64k bs_is_seq_rand=1 percentage_random=50",
            5000,
            0xdbbb_1401_b8ae_bf41,
            {
                random(READ)
                    .block(each([fixed(4 * K), fixed(64 * K), fixed(64 * K)]))
                    .set(|sequence| sequence.sizes_by_order = true)
                    .places(|places| places.percent = Some(ByDirection::same(50)))
            },
        ),
        (
            "rw=randwrite size=32m bssplit=4k/50:16k/50 verify=crc32c do_verify=0",
            5000,
            0xfe07_2293_1a2b_e3be,
            {
                random(WRITE)
                    .bytes(32 * M)
                    .block(split(&[(4 * K, 50), (16 * K, 50)]))
                    .set(|sequence| sequence.verified = true)
            },
        ),
    ]);
}
