//! Two traps at once: both are named.

use assay_plan::plan::Action;
use assay_record::record::{MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::{Heard, put};
use crate::lab::{Card, MI};
use crate::row::Row;
use crate::shelf::{
    SLOW_READS, SLOW_WRITES, Shelf, blocks, busy, dd, kib, pattern, read_again, run,
};

crate::cases! {
    beside: [
        t01_t32_cached_and_throttled,
        t02_t32_deferred_and_throttled,
        t60_t02_overwritten_and_not_flushed,
    ],
    alone: [t25_t02_compressed_and_not_flushed],
}

/// Rows of a run in which both are named.
fn both(traps: [&str; 2], how: &str, heard: &Heard) -> [Row; 2] {
    let [first, second] = traps;
    [
        Row::named(first, format!("{how}: with {second}"), heard),
        Row::named(second, format!("{how}: with {first}"), heard),
    ]
}

fn t01_t32_cached_and_throttled(shelf: &Shelf) -> Rows {
    let card = shelf.slow()?;
    put(card, "x", 80 * MI);
    dd(card, "if={x} of=/dev/null bs=1M count=16");
    let mixed = dd(card, "if={x} of=/dev/null bs=1M");
    mixed.expect(Trust::Wrong, MeasuredSubject::Mixed);
    let again = read_again(card, "if={x} of=/dev/null bs=1M count=16");
    let [first, second] = both(["T01", "T32"], "a fifth cached, under a throttle", &mixed);
    let [third, fourth] = both(["T01", "T32"], "all cached, under a throttle", &again);
    Ok(vec![first.corrected(&mixed, SLOW_READS), second, third.truth(SLOW_READS), fourth])
}

fn t02_t32_deferred_and_throttled(shelf: &Shelf) -> Rows {
    let card = shelf.slow()?;
    let written = dd(card, "if=/dev/zero of={x} bs=20M count=1");
    written.expect(Trust::Wrong, MeasuredSubject::Deferred);
    if written.rate(Action::Write) <= 10.0 * SLOW_WRITES {
        busy(format!("memory was no faster\n{written}"));
    }
    let [first, second] = both(["T02", "T32"], "no flush, under a throttle", &written);
    Ok(vec![first.corrected(&written, SLOW_WRITES), second])
}

fn t25_t02_compressed_and_not_flushed(_: &Shelf) -> Rows {
    let card = Card::compress()?;
    let zeros = dd(&card, "if=/dev/zero of={x} bs=1M count=64");
    assert_eq!(zeros.verdict().trust, Trust::Wrong, "{zeros}");
    Ok(both(["T25", "T02"], "zeros on btrfs that compresses, no flush", &zeros).into())
}

fn t60_t02_overwritten_and_not_flushed(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let words = json!({ "pattern": pattern("write", "uniform", kib(4)) });
    let mut job = blocks(card, 16 * MI, "written", words);
    job["stop"] = json!({ "first_of": [{ "bytes": 32 * MI }] });
    let again = run(card, &job);
    assert_eq!(again.verdict().trust, Trust::Wrong, "{again}");
    Ok(both(["T60", "T02"], "16 MiB written twice, no flush", &again).into())
}
