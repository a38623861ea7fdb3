//! Reads that memory answers, and what the kernel reads beside them.

use std::fs;
use std::time::Duration;

use assay_plan::plan::Action;
use assay_record::record::{MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::put;
use crate::lab::{self, Card, MI, Shape};
use crate::row::Row;
use crate::shelf::{
    READS, Shelf, blocks, busy, dd, dd_typed, finding, from_memory, heard, kib, pattern,
    read_again, run,
};

crate::cases! {
    beside: [
        t01_a_file_read_again,
        t06_much_of_it_in_memory,
        t06_a_little_of_it_in_memory,
        t07_pages_that_can_not_be_dropped,
        t08_t42_what_was_written_before,
        t10_t12_small_reads,
        t11_read_ahead_beyond_the_end,
    ],
    alone: [t30_a_cache_below_the_device],
}

fn t01_a_file_read_again(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 64 * MI);
    let words = "if={x} of=/dev/null bs=20k";
    let cold = dd(card, words);
    cold.expect(Trust::Sound, MeasuredSubject::Device);
    let warm = read_again(card, words);
    assert!(warm.rate(Action::Read) > 10.0 * READS, "{warm}");
    let dropped = dd_typed(card, words).env("ASSAY_COLD", "target");
    let dropped = heard(crate::kernel::hear(dropped));
    dropped.expect(Trust::Sound, MeasuredSubject::Device);
    let read = |heard: &crate::kernel::Heard| heard.rate(Action::Read);
    Ok(vec![
        Row::silent("T01", "dd reads a file", &cold).figure(read(&cold), READS),
        Row::named("T01", "dd reads it again", &warm).truth(READS),
        Row::silent("T01", "again, with ASSAY_COLD=target", &dropped).figure(read(&dropped), READS),
    ])
}

fn t06_much_of_it_in_memory(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 80 * MI);
    let half = dd(card, "if={x} of=/dev/null bs=1M count=32");
    assert_eq!(half.verdict().trust, Trust::Sound, "{half}");
    let mixed = dd(card, "if={x} of=/dev/null bs=1M");
    mixed.expect(Trust::Wrong, MeasuredSubject::Mixed);
    let row = Row::by("T06", "T01", "dd reads a file of which two fifths were read before", &mixed);
    Ok(vec![row.corrected(&mixed, READS)])
}

fn t06_a_little_of_it_in_memory(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let file = fs::File::open(put(card, "x", 64 * MI)).expect("it is there");
    // A hundredth of it and a little more, without what a read would read ahead.
    let part = std::num::NonZeroU64::new(kib(900));
    rustix::fs::fadvise(&file, 0, part, rustix::fs::Advice::WillNeed).expect("asked for");
    std::thread::sleep(Duration::from_millis(300));
    let mixed = dd(card, "if={x} of=/dev/null bs=1M");
    let row = match mixed.found("T06") {
        true => Row::named("T06", "dd reads a file of which a little was read before", &mixed),
        false => busy(format!("pages were forgotten meanwhile\n{mixed}")),
    };
    mixed.expect(Trust::Doubtful, MeasuredSubject::Mixed);
    Ok(vec![row.figure(mixed.rate(Action::Read), READS)])
}

/// The pages of a file locked into memory by this process, as long as it lives.
struct Locked {
    at: *mut std::ffi::c_void,
    len: usize,
}

impl Locked {
    fn new(file: &fs::File, len: usize) -> Result<Locked, lab::Skip> {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let flags = MapFlags::SHARED | MapFlags::LOCKED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice, which nobody looks into.
        let at = unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ, flags, file, 0) };
        let at = at.map_err(|error| {
            lab::Skip::Machine(format!("pages cannot be locked into memory: {error}"))
        })?;
        Ok(Locked { at, len })
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and nobody has a reference into it.
        let _ = unsafe { rustix::mm::munmap(self.at, self.len) };
    }
}

fn t07_pages_that_can_not_be_dropped(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let file = fs::File::open(put(card, "x", 16 * MI)).expect("it is there");
    let locked = Locked::new(&file, 16 << 20)?;
    let words = dd_typed(card, "if={x} of=/dev/null bs=1M").env("ASSAY_COLD", "target");
    let kept = heard(crate::kernel::hear(words));
    drop(locked);
    from_memory(&kept);
    let how = "ASSAY_COLD=target, and another program has its pages locked";
    Ok(vec![Row::named("T07", how, &kept).truth(READS)])
}

fn t08_t42_what_was_written_before(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 64 * MI);
    let earlier = card.path("earlier");
    fs::write(&earlier, vec![7; 32 << 20]).expect("written");
    let flushed = std::thread::spawn(move || fs::File::open(earlier)?.sync_all());
    std::thread::sleep(Duration::from_millis(200));
    let mut job =
        blocks(card, 64 * MI, "existing", json!({ "pattern": pattern("read", "forward", MI) }));
    job["stop"] = json!({ "first_of": [{ "bytes": 16 * MI }] });
    job["work"]["blocks"]["caching"] = json!("direct");
    let during = run(card, &job);
    card.freely(|| Ok(()));
    flushed.join().expect("no panic").expect("flushed");
    assert!(during.found("T31"), "{during}");
    assert_ne!(during.verdict().trust, Trust::Sound, "{during}");
    Ok(vec![
        Row::named("T08", "reads while an earlier file is still flushed", &during).truth(READS),
        Row::by("T42", "T08", "the same: work of before in the background", &during).truth(READS),
    ])
}

fn t10_t12_small_reads(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 16 * MI);
    let small = dd(card, "if={x} of=/dev/null bs=4k");
    let claim = &finding(&small, "T10").text();
    assert!(claim.starts_with("Read-ahead served 4097 calls with "), "{small}");
    lab::cold(&card.path("x")).expect("dropped");
    let direct = dd(card, "if={x} of=/dev/null bs=4k count=4000 iflag=direct");
    lab::cold(&card.path("x")).expect("dropped");
    let words = json!({
        "method": { "mmap": { "advice": "normal" } }, "pattern": pattern("read", "uniform", kib(4)),
    });
    let mut job = blocks(card, 16 * MI, "existing", words);
    job["stop"] = json!({ "first_of": [{ "ops": 300 }] });
    let touched = run(card, &job);
    Ok(vec![
        Row::named("T10", "dd bs=4k in order", &small),
        Row::silent("T10", "the same with iflag=direct", &direct),
        Row::named("T12", "300 places of a mapping are touched here and there", &touched),
        Row::silent("T12", "dd bs=4k iflag=direct", &direct),
    ])
}

fn t11_read_ahead_beyond_the_end(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 64 * MI);
    let window = lab::Setting::queue(&card.leaf_name(), "read_ahead_kb", "16384")?;
    let words = "if={x} of=/dev/null bs=4k count=4000";
    let beyond = dd(card, words);
    drop(window);
    lab::cold(&card.path("x")).expect("dropped");
    let window = lab::Setting::queue(&card.leaf_name(), "read_ahead_kb", "128")?;
    let usual = dd(card, words);
    drop(window);
    Ok(vec![
        Row::named("T11", "dd bs=4k count=4000, read-ahead of 16 MiB", &beyond),
        Row::silent("T11", "the same with a read-ahead of 128 KiB", &usual).between(
            usual.rate(Action::Read),
            READS,
            0.9,
            1.03,
        ),
    ])
}

fn t30_a_cache_below_the_device(_: &Shelf) -> Rows {
    let card = Card::new(Shape { size: 64 * MI, ..Shape::dcache() })?;
    put(&card, "x", 32 * MI);
    let cached = read_again(&card, "if={x} of=/dev/null bs=1M iflag=direct");
    assert!(finding(&cached, "T01").text().contains("read from a cache below it"), "{cached}");
    let how = "dd iflag=direct on a loop device whose file the host has in memory";
    Ok(vec![Row::by("T30", "T01", how, &cached)])
}
