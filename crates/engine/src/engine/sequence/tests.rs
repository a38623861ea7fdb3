//! Whole sequences, compared with what fio 3.42 did for the same words (`--ioengine=null --write_iolog`).
//!
//! Words that begin with `file` were given to `--ioengine=sync` with a new file, those with `aio` to `io_uring`,
//! `second` is the second job of its run, `timed` one that ends with its time, and `3.33` an older fio.

mod in_order;
mod job;
mod passes;
mod random;

use crate::engine::{FileSpan, IoRoute};
use assay_plan::plan::Tausworthe;
use assay_plan::plan::{
    ByDirection, FileOrder, FileService, PlaceDistribution, SeedStream, SequenceSeeds,
};
use assay_plan::unit::Bytes;
use job::*;

#[test]
fn short_sequences_are_those_of_fio() {
    let blocks = |job: SeededJob, expected: &[(u32, char, u64)]| {
        let line =
            |&(file, op, block): &(u32, char, u64)| format!("{file} {op} {} 4096", block * 4 * K);
        let expected: Vec<String> = expected.iter().map(line).chain(["end".into()]).collect();
        assert_eq!(job.lines(100), expected);
    };
    let reads = [11, 10, 7, 6, 8, 0, 1, 2, 3, 4, 9, 5].map(|block| (0, 'r', block));
    blocks(random(READ).bytes(48 * K), &reads);
    let turns = [5, 5, 3, 3, 4, 0, 0, 1, 1, 2, 2, 4];
    let turns: Vec<_> = (0..).zip(turns).map(|(io, block)| (io % 2, 'w', block)).collect();
    blocks(random(WRITE).bytes(24 * K).files(2, FileService::RoundRobin { ios: 1 }), &turns);
    let ops = "rrrwrrwrrrwr".chars().zip([0, 1, 2, 0, 3, 4, 1, 5, 6, 7, 2, 8]);
    let ops: Vec<_> = ops.map(|(op, block)| (0, op, block)).collect();
    blocks(in_order(&mixed(60)).bytes(48 * K), &ops);
    // A block that would touch one that was used before is cut short.
    let sizes = random(&mixed(50)).bytes(96 * K).block(range(4 * K, 16 * K)).lines(6);
    assert_eq!(
        sizes,
        [
            "0 r 94208 4096",
            "0 r 81920 12288",
            "0 r 61440 16384",
            "0 w 49152 4096",
            "0 r 57344 4096",
            "0 r 0 16384",
        ]
    );
}

#[test]
fn headers_of_verified_blocks_have_the_seeds_that_fio_gives_them() {
    // rw=write verify=crc32c size=16k, bytes 8 to 15 of each block.
    let seeds = SequenceSeeds::default().of(0, |_| 0);
    let mut stream = Tausworthe::new(seeds[SeedStream::Verify as usize], false);
    let headers: Vec<u64> = (0..4).map(|_| stream.next_seed()).collect();
    assert_eq!(
        headers,
        [
            46_386_204_153_304_124,
            9_852_480_210_356_360_750,
            4_726_550_845_720_924_880,
            1_763_778_943_062_938_676,
        ]
    );
}

#[test]
fn what_cannot_be_drawn_is_refused_or_ends() {
    let refused =
        |job: &SeededJob| IoRoute::new(&job.pattern, 1, FileOrder::default(), job.span).is_err();
    let shared = random(READ);
    let shared = SeededJob { span: FileSpan { backend: (0, 2), ..shared.span }, ..shared };
    assert!(refused(&shared), "threads that share a sequence");
    let nameless = PlaceDistribution::Zipf { theta: 1.2, center: None, names: Vec::new() };
    assert!(refused(&spread(READ, nameless)), "a law without names of files");
    // No place is a multiple of so much.
    let wide = random(READ)
        .places(|places| places.align = Some(ByDirection::same(Bytes(128 * M))))
        .files(3, FileService::Zipf { theta: 1.2, center: None });
    assert_eq!(wide.lines(5), ["end"]);
    assert_eq!(wide.timed().lines(5), ["end"]);
    assert_eq!(in_order(READ).passes(0).lines(5), ["end"]);
}
