//! The page of `modes` on records made by hand: the table, and whether the words that explain it
//! follow from the readings.

use crate::common::modes::{EACH, FULL, ONE, Way, record, usual};
use crate::common::pages::{ASCII, UNICODE, golden, page};
use assay_plan::unit::Bytes;
use assay_record::evidence::{LeafKind, Reading};
use assay_record::record::Record;

/// The sentences of the page, each on one line.
fn sentences(record: &Record) -> Vec<String> {
    let page = page(record, UNICODE);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    words.split(" – ").map(String::from).collect()
}

/// The sentence about one way to write, when all others are as usual.
fn said(name: &str, way: Way, begins: &str) -> String {
    let record = record(|phase| if phase == name { way } else { usual(phase) });
    let all = sentences(&record);
    let found = all.iter().find(|sentence| sentence.starts_with(begins));
    found.unwrap_or_else(|| panic!("no '{begins}' in {all:#?}")).clone()
}

#[test]
fn the_page_is_as_it_was() {
    let record = record(usual);
    let text = page(&record, UNICODE);
    for line in text.lines() {
        assert!(line.chars().count() <= 90, "{line}");
    }
    golden("report", "modes", &text);
    let plain = page(&record, ASCII);
    assert!(plain.is_ascii(), "{plain}");
    golden("report", "modes-ascii", &plain);
}

#[test]
fn one_at_a_time_is_told_from_a_full_queue() {
    let first = said("write-1m-fsync", FULL, "fsync at end and fdatasync");
    assert_eq!(
        first,
        "fsync at end and fdatasync at end come to 116 MB/s to 117 MB/s: the page cache takes \
         the writes and writes them back in parallel; sda was 98 % busy, with 31.0 requests of 483 KiB in flight on average."
    );
    let direct = said("write-1m-direct", ONE, "O_DIRECT reaches");
    assert_eq!(
        direct,
        "O_DIRECT reaches 86.0 MB/s, 26 % less: one write in flight: sda was idle for 3.42 ms \
         between two of them, 28 % of the time; 0.72 requests of 1 MiB in flight."
    );
}

#[test]
fn small_requests_and_few_at_a_time_are_told_from_gaps() {
    let small = Way { work: 0.99, depth: 0.99, size: Bytes::kib(64), ..ONE };
    assert_eq!(
        said("write-1m-direct", small, "O_DIRECT reaches"),
        "O_DIRECT reaches 86.0 MB/s, 26 % less: smaller requests, each with its own overhead; \
         0.99 requests of 64 KiB in flight, where fsync at end had 31.0 requests of 483 KiB in \
         flight."
    );
    let few = Way { work: 0.99, depth: 0.99, ..ONE };
    assert_eq!(
        said("write-1m-direct", few, "O_DIRECT reaches"),
        "O_DIRECT reaches 86.0 MB/s, 26 % less: a shallower queue on sda; 0.99 requests of \
         1 MiB in flight, where fsync at end had 31.0 requests of 483 KiB in flight."
    );
}

#[test]
fn a_flush_for_each_write_is_named_with_its_count_and_time() {
    assert_eq!(
        said("write-1m-dsync", EACH, "O_DSYNC reaches"),
        "O_DSYNC reaches 30.0 MB/s, 74 % less: each write waits for a flush, 256 flushes for 256 \
         writes: sda was 30 % busy and 65 % flushing; 0.30 requests of 1 MiB \
         in flight."
    );
}

#[test]
fn what_never_reached_the_device_is_memory() {
    assert_eq!(
        said("", FULL, "no flush shows"),
        "no flush shows 1100 MB/s, the speed of memory: 256 MiB of 256 MiB were only in memory when \
         the clock stopped. With a flush it is 116 MB/s. read 1 MiB:"
    );
}

#[test]
fn pages_that_are_read_before_they_are_written_are_seen() {
    let reads = Way { against: Bytes::mib(256), work: 0.95, flushing: 0.02, ..EACH };
    assert_eq!(
        said("write-1m-mmap-msync", reads, "mmap + msync reaches"),
        "mmap + msync reaches 30.0 MB/s, 74 % less: read-modify-write: sda read 256 MiB for 256 MiB \
         written; 0.30 requests of 1 MiB in flight."
    );
}

#[test]
fn somebody_elses_work_explains_nothing() {
    let others = Way { against: Bytes::mib(256), work: 0.95, flushing: 0.02, ..EACH };
    assert_eq!(
        said("write-1m-dsync", others, "O_DSYNC reaches"),
        "O_DSYNC reaches 30.0 MB/s, 74 % less: 235 MiB of the 512 MiB that sda moved were not \
         requested by this run, and no process was seen that moved them: the file system itself, or another \
         program."
    );
}

#[test]
fn a_busy_program_is_told_from_a_slow_device() {
    let busy = Way { cpu: 0.97, work: 0.3, depth: 0.3, ..ONE };
    assert_eq!(
        said("write-1m-direct", busy, "O_DIRECT reaches"),
        "O_DIRECT reaches 86.0 MB/s, 26 % less: CPU-bound: the program used a CPU 97 % of the time, \
         and sda was idle 70 %."
    );
}

#[test]
fn where_nothing_can_be_seen_nothing_is_explained() {
    let mut unseen = record(usual);
    for phase in &mut unseen.phases {
        let evidence = &mut phase.evidence;
        for edge in
            [Some(&mut evidence.before), Some(&mut evidence.stop), evidence.settled.as_deref_mut()]
        {
            for device in edge.into_iter().flat_map(|edge| &mut edge.devices) {
                device.counters = Reading::Unseen("/sys/block/sda/stat: no such file".into());
            }
        }
    }
    assay_judge::judge(&mut unseen);
    let all = sentences(&unseen);
    let direct = all.iter().find(|said| said.starts_with("O_DIRECT reaches")).expect("there");
    assert_eq!(
        direct,
        "O_DIRECT reaches 86.0 MB/s, 26 % less: the cause is unknown: /sys/block/sda/stat: no such \
         file."
    );
}

#[test]
fn memory_is_never_durable() {
    let mut memory = record(usual);
    memory.resolved.subjects[0].stack.clear();
    memory.resolved.subjects[0].bottom = LeafKind::Memory("tmpfs".into());
    assay_judge::judge(&mut memory);
    let text = page(&memory, UNICODE);
    let row = text.lines().find(|line| line.contains("fsync at end")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    // The rate that the program saw, none that is durable, and all of it lost without power.
    assert_eq!(cells[4..6], ["900", "-"], "{row}");
    assert_eq!(cells.last(), Some(&"256"), "{row}");
}
