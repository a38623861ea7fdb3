//! What sets the rate when the device does not: limits, the program, the depth.

use assay_plan::plan::Action;
use assay_record::record::{Finding, MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::{Heard, hear, put, told};
use crate::lab::{self, MI};
use crate::row::Row;
use crate::shelf::{
    SLOW_READS, SLOW_WRITES, Shelf, blocks, busy, dd, dd_typed, finding, heard, kib, pattern, run,
};

crate::cases! {
    beside: [t32_a_throttle, t32_a_throttle_that_can_not_be_seen],
    alone: [
        t51_a_source_that_makes_its_data,
        t52_a_limit_on_the_processor,
        t54_one_at_a_time,
        t55_a_lock_above_the_queue,
        t56_a_blink,
    ],
}

/// T32, with the file of the throttle and its value.
fn names_the_throttle(heard: &Heard) {
    let limited = finding(heard, "T32");
    let shown = limited.because.iter().any(|exhibit| {
        exhibit.source().starts_with("/sys/fs/cgroup")
            && (exhibit.source().contains("bps_device") || exhibit.source().contains("io.max"))
    });
    assert!(shown, "the throttle's file is not named\n{heard}");
}

fn t32_a_throttle(shelf: &Shelf) -> Rows {
    let card = shelf.slow()?;
    let written = dd(card, "if=/dev/zero of={x} bs=20M count=1 conv=fsync");
    let card = shelf.slow()?;
    put(card, "x", 64 * MI);
    let read = dd(card, "if={x} of=/dev/null bs=20k");
    for heard in [&written, &read] {
        heard.expect(Trust::Sound, MeasuredSubject::Limited);
        names_the_throttle(heard);
    }
    Ok(vec![
        Row::named("T32", "dd bs=20M count=1 conv=fsync under a throttle", &written)
            .figure(written.rate(Action::Write), SLOW_WRITES),
        Row::named("T32", "dd reads 64 MiB under a throttle", &read)
            .figure(read.rate(Action::Read), SLOW_READS),
    ])
}

fn t32_a_throttle_that_can_not_be_seen(shelf: &Shelf) -> Rows {
    let card = shelf.slow()?;
    put(card, "x", 64 * MI);
    let typed = dd_typed(card, "if={x} of=/dev/null bs=1M iflag=direct");
    let hidden = heard(hear(typed.hiding(&["/sys/fs/cgroup"])?));
    if !hidden.found("T67") {
        // Who waits for a CPU as well cannot tell what else was waited for.
        busy(format!("no T67\n{hidden}"));
    }
    hidden.expect(Trust::Unproven, MeasuredSubject::Limited);
    assert!(finding(&hidden, "T67").text().contains("above"), "{hidden}");
    let row = Row::named("T67", "dd reads under a throttle, without /sys/fs/cgroup", &hidden);
    Ok(vec![row.figure(hidden.rate(Action::Read), SLOW_READS)])
}

fn t51_a_source_that_makes_its_data(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let made = dd(card, "if=/dev/urandom of={x} bs=1M count=150 conv=fsync");
    let reads = &made.phase().totals[&Action::Read];
    let spent = reads.lat_ns.expect("timed").mean * reads.ops.0 as f64;
    let share = spent / made.phase().span.time().0 as f64;
    let how = "dd from /dev/urandom to a fast disk";
    // On a busy machine the loop device takes as long as the generator does.
    if share > 0.55 && made.found("T51") {
        assert_ne!(made.verdict().trust, Trust::Sound, "{made}");
        return Ok(vec![Row::named("T51", how, &made)]);
    }
    if made.disturbed() {
        busy(format!("the disk was others'\n{made}"));
    }
    told("urandom took no more than", format!("{:.0} % of the time", share * 100.0));
    let how = format!("{how}, here only {:.0} % of the time", share * 100.0);
    Ok(vec![Row::silent("T51", how, &made)])
}

fn t52_a_limit_on_the_processor(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let group = lab::limit_cpu(3)?;
    let words = "if=/dev/zero of={x} bs=4k count=3000 oflag=direct";
    let held = heard(hear(dd_typed(card, words).within(group.rooms())));
    let limited =
        |f: &Finding| f.trap.name() == "T52" && f.measures == Some(MeasuredSubject::Limited);
    if !held.verdict().findings.iter().any(limited) {
        // A disk that others keep busy is waited for as well.
        busy(format!("the limit is not named\n{held}"));
    }
    assert_ne!(held.verdict().trust, Trust::Sound, "{held}");
    Ok(vec![
        Row::named("T52", "dd bs=4k with a thirtieth of a processor", &held),
        Row::undoubted("T52", "the same without a limit", &dd(card, words)),
    ])
}

fn t54_one_at_a_time(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let alone = dd(card, "if=/dev/zero of={x} bs=4k count=20000 oflag=direct conv=fsync");
    Ok(vec![Row::named("T54", "dd bs=4k oflag=direct: depth 1", &alone)])
}

/// Writes that extend a file go one at a time, however many are in flight.
fn t55_a_lock_above_the_queue(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let deep = |layout: &str, action: &str| {
        let words = json!({
            "method": "pool", "iodepth": 32, "caching": "direct",
            "pattern": pattern(action, "shuffled", kib(16)),
        });
        let mut job = blocks(card, 128 * MI, layout, words);
        if action == "read" {
            job["stop"] = json!({ "first_of": [{ "time": 600_000_000_u64 }] });
        }
        run(card, &job)
    };
    let queued = deep("truncated", "write");
    if queued.verdict().trust == Trust::Doubtful {
        // A disk of the machine that others keep busy for a part of the run is the reason that is told then.
        busy(format!("its rate is doubted\n{queued}"));
    }
    let read = deep("written", "read");
    Ok(vec![
        Row::named("T55", "depth 32 of direct writes that extend a file on ext4", &queued),
        Row::silent("T55", "depth 32 of direct reads of it", &read),
    ])
}

fn t56_a_blink(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let short = dd(card, "if=/dev/zero of={x} bs=64k count=1 oflag=direct conv=fsync");
    assert_ne!(short.verdict().trust, Trust::Sound, "{short}");
    Ok(vec![Row::named("T56", "dd bs=64k count=1 oflag=direct conv=fsync", &short)])
}
