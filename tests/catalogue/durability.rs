//! Writes that had not arrived when the clock stopped, and flushes.

use assay_plan::plan::Action;
use assay_record::record::{FindingWeight, MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::lab::{self, Card, DirtyLimit, MI, Skip, Speed};
use crate::row::Row;
use crate::shelf::{
    READS, Shelf, WRITES, blocks, busy, dd, dd_typed, finding, heard, kib, pattern, run,
};

crate::cases! {
    beside: [
        t02_written_without_a_flush,
        t03_a_close_is_not_a_flush,
        t04_a_burst_into_memory,
        t09_a_mapping_is_memory_until_it_is_flushed,
        t14_a_flush_for_each_write,
        t60_written_again_in_memory,
    ],
    alone: [
        t05_more_than_memory,
        t15_a_flush_that_nobody_passes_on,
        t16_direct_is_not_durable,
        t17_only_the_flush_tells,
    ],
}

fn t02_written_without_a_flush(shelf: &Shelf) -> Rows {
    // Four seconds' worth: what begins and ends a flush takes a while, too, on a busy machine.
    let slower = || shelf.paced_at(Speed::bytes(READS as u64, WRITES as u64 / 2));
    let card = slower()?;
    let written = dd(card, "if=/dev/zero of={x} bs=16M count=1");
    written.expect(Trust::Wrong, MeasuredSubject::Deferred);
    if written.rate(Action::Write) <= 10.0 * WRITES {
        // Memory takes no more at its own pace while much of it waits to be written elsewhere.
        busy(format!("memory was no faster\n{written}"));
    }
    let card = slower()?;
    let flushed = dd(card, "if=/dev/zero of={x} bs=16M count=1 conv=fsync");
    flushed.expect(Trust::Sound, MeasuredSubject::Device);
    Ok(vec![
        Row::named("T02", "dd bs=16M count=1", &written).corrected(&written, WRITES / 2.0),
        Row::silent("T02", "dd bs=16M count=1 conv=fsync", &flushed).between(
            flushed.rate(Action::Write),
            WRITES / 2.0,
            0.96,
            1.03,
        ),
    ])
}

/// What a card does on which it takes next to no time to put each byte into memory, or to have each page
/// of a mapping made: a part of the corrected figure, as of one with the flush in the timing.
const PATIENT_WRITES: u64 = MI;
/// What is written to it.
const PATIENT_SIZE: u64 = 4 * MI;

fn patient(shelf: &Shelf) -> Result<&Card, Skip> {
    shelf.paced_at(Speed::bytes(READS as u64, PATIENT_WRITES))
}

fn t03_a_close_is_not_a_flush(shelf: &Shelf) -> Rows {
    let put = |card: &Card, size: u64, durability: &str| {
        let words = json!({
            "method": { "stdio": { "buffer": 4096, "bytewise": true } }, "durability": durability,
            "pattern": pattern("write", "forward", kib(8)),
        });
        run(card, &blocks(card, size, "truncated", words))
    };
    let closed = put(patient(shelf)?, PATIENT_SIZE, "none");
    closed.expect(Trust::Wrong, MeasuredSubject::Deferred);
    assert!(!closed.found("T02"), "{closed}");
    let flushed = put(shelf.paced()?, 16 * MI, "fsync_at_end");
    assert_ne!(flushed.verdict().measures, MeasuredSubject::Deferred, "{flushed}");
    Ok(vec![
        Row::named("T03", "putc and a close", &closed).corrected(&closed, PATIENT_WRITES as f64),
        Row::silent("T03", "putc and an fsync", &flushed),
    ])
}

fn t04_a_burst_into_memory(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let limit = DirtyLimit::set(card.number(), 16 * MI)?;
    let burst = dd(card, "if=/dev/zero of={x} bs=64k count=640 conv=fsync");
    drop(limit);
    assert!(finding(&burst, "T04").text().contains(" went into memory at "), "{burst}");
    burst.expect(Trust::Sound, MeasuredSubject::Device);
    let how = "dd writes 40 MiB, of which 16 may be dirty";
    let row = Row::named("T04", how, &burst);
    Ok(vec![row.between(burst.rate(Action::Write), WRITES, 0.96, 1.03)])
}

fn t05_more_than_memory(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    // A v1 memory group has no dirty limit of its own: while all of its pages are on their way to the device, the
    // kernel ends whoever wants one that cannot wait, as for a buffer head.
    let _limit = DirtyLimit::set(card.number(), 16 * MI)?;
    let small = lab::limit_mem(32 * MI)?;
    let words = dd_typed(card, "if=/dev/zero of={x} bs=1M count=64").within(small.rooms());
    let large = heard(crate::kernel::hear(words));
    large.expect(Trust::Wrong, MeasuredSubject::Deferred);
    let named = if large.found("T05") { "T05" } else { "T02" };
    let row = Row::by("T05", named, "dd writes 64 MiB with 32 MiB of memory", &large);
    Ok(vec![row.corrected(&large, WRITES)])
}

fn t09_a_mapping_is_memory_until_it_is_flushed(shelf: &Shelf) -> Rows {
    let store = |card: &Card, size: u64, durability: &str| {
        let words = json!({
            "method": "mmap", "durability": durability,
            "pattern": pattern("write", "forward", kib(64)),
        });
        run(card, &blocks(card, size, "truncated", words))
    };
    let stored = store(patient(shelf)?, PATIENT_SIZE, "none");
    stored.expect(Trust::Wrong, MeasuredSubject::Deferred);
    let flushed = store(shelf.paced()?, 16 * MI, "fsync_at_end");
    assert!(!flushed.found("T02"), "{flushed}");
    assert_ne!(flushed.verdict().measures, MeasuredSubject::Deferred, "{flushed}");
    let row = Row::by("T09", "T02", "4 MiB are stored into a mapping", &stored);
    Ok(vec![
        row.corrected(&stored, PATIENT_WRITES as f64),
        Row::silent("T02", "the same with an fsync at the end", &flushed),
    ])
}

fn t14_a_flush_for_each_write(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let each = dd(card, "if=/dev/zero of={x} oflag=sync bs=10k count=400");
    each.expect(Trust::Sound, MeasuredSubject::Device);
    let row = Row::named("T14", "dd bs=10k count=400 oflag=sync", &each);
    Ok(vec![row.between(each.rate(Action::Write), WRITES, 0.05, 0.75)])
}

fn t15_a_flush_that_nobody_passes_on(shelf: &Shelf) -> Rows {
    let words = "if=/dev/zero of={x} bs=4k count=500 oflag=dsync";
    let card = Card::nobarrier()?;
    let swallowed = dd(&card, words);
    let found = finding(&swallowed, "T15");
    assert_eq!(found.measures, Some(MeasuredSubject::Deferred), "{swallowed}");
    assert!(found.text().contains("(it is mounted with nobarrier)"), "{swallowed}");
    assert_ne!(swallowed.verdict().trust, Trust::Sound, "{swallowed}");
    drop(card);
    let flushed = dd(shelf.fast()?, words);
    assert!(flushed.found("T14"), "{flushed}");
    Ok(vec![
        Row::named("T15", "dd bs=4k oflag=dsync, mounted with nobarrier", &swallowed),
        Row::silent("T15", "the same with barriers", &flushed),
    ])
}

fn t16_direct_is_not_durable(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let direct = dd(card, "if=/dev/zero of={x} bs=1M count=200 oflag=direct");
    let queue = direct.record.resolved.subjects[1].stack[0].queue.seen();
    if queue.and_then(|queue| queue.write_cache.as_deref()) != Some("write back") {
        return Err(Skip::Machine("the lab's device has no cache of its own".into()));
    }
    assert_eq!(finding(&direct, "T16").weight, FindingWeight::Note, "{direct}");
    let flushed = dd(card, "if=/dev/zero of={x} bs=16k count=12000 oflag=direct conv=fsync");
    Ok(vec![
        Row::named("T16", "dd bs=1M oflag=direct", &direct),
        Row::silent("T16", "dd bs=16k oflag=direct conv=fsync", &flushed),
    ])
}

fn t17_only_the_flush_tells(_: &Shelf) -> Rows {
    // 64 MiB are there, 512 were promised; dd would say that all is well.
    let card = Card::thin()?;
    let lost = dd(&card, "if=/dev/zero of={x} bs=1M count=100");
    lost.expect(Trust::Wrong, MeasuredSubject::Invalid);
    Ok(vec![Row::named("T17", "dd writes 100 MiB to a thin device that has 64", &lost)])
}

fn t60_written_again_in_memory(shelf: &Shelf) -> Rows {
    let card = shelf.paced_at(Speed::bytes(READS as u64, 2 * WRITES as u64))?;
    let write = |order: &str| {
        let words = json!({
            "durability": "fsync_at_end", "pattern": pattern("write", order, kib(4)),
        });
        let mut job = blocks(card, 10 * MI, "written", words);
        job["stop"] = json!({ "first_of": [{ "bytes": 10 * MI }] });
        run(card, &job)
    };
    let again = write("uniform");
    again.expect(Trust::Wrong, MeasuredSubject::Mixed);
    Ok(vec![
        Row::named("T60", "10 MiB to random places of 10 MiB, then an fsync", &again),
        Row::silent("T60", "the same, each place once", &write("shuffled")),
    ])
}
