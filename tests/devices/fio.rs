//! `assay fio` on devices of known speed: what fio's own words say of them, and what is true.

use std::os::unix::fs::FileExt as _;

use assay_record::record::{MeasuredSubject, Trust};
use serde_json::Value;

use crate::kernel::{Heard, hear, told};
use crate::lab::{self, Card, MI};

/// fio's words on a file of the card, with the report as a document.
fn asked(card: &Card, line: &str) -> (Heard, Value) {
    // What stands before the first job is for all of them.
    let file = format!("--filename={}", card.path("t").display());
    let words = ["fio", "--output-format=json", &file].into_iter().chain(line.split(' '));
    let heard = hear(lab::assay(words).within(card.rooms()));
    let document = serde_json::from_str(&heard.ran.stdout).unwrap_or(Value::Null);
    (heard, document)
}

fn verdicts(heard: &Heard) -> Vec<(Trust, MeasuredSubject)> {
    let judged = heard.record.phases.iter().filter_map(|phase| phase.verdict.as_ref());
    judged.map(|verdict| (verdict.trust, verdict.measures)).collect()
}

#[test]
fn the_usual_write_job_is_memory_and_the_card_is_told_beside_it() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    for left in (0..3).rev() {
        let (heard, document) = asked(&card, "--name=w --rw=write --bs=64k --size=16m --unlink=1");
        assert_eq!(heard.ran.code(), 0, "{heard}");
        let said = document["jobs"][0]["write"]["bw"].as_u64().unwrap_or_default();
        assert!(said > 50_000, "fio's own figure is that of memory: {heard}");
        assert_eq!(verdicts(&heard), [(Trust::Wrong, MeasuredSubject::Deferred)], "{heard}");
        assert_eq!(document["assay"]["phases"][0]["verdict"]["trust"], "wrong", "{heard}");
        let verdict = heard.record.phases[0].verdict.clone().expect("judged");
        let right = 4.0 * MI as f64;
        if verdict.corrected.is_some_and(|device| (device.low..=device.high).contains(&right)) {
            assert!(heard.ran.stderr.contains("The device itself: 4."), "{heard}");
            assert!(!card.path("t").exists(), "unlink=1");
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn direct_jobs_say_what_the_card_does() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    for left in (0..3).rev() {
        let (heard, document) = asked(
            &card,
            "--bs=1m --size=12m --direct=1 --name=w --rw=write --name=r --rw=read --stonewall",
        );
        assert_eq!(heard.ran.code(), 0, "{heard}");
        let rate = |job: usize, direction: &str| {
            document["jobs"][job][direction]["bw"].as_f64().unwrap_or_default()
        };
        let near = |rate: f64, right: f64, off: f64| (rate / right - 1.0).abs() < off;
        let (write, read) = (rate(0, "write"), rate(1, "read"));
        told("fio", format_args!("{write} {read} {:?}", verdicts(&heard)));
        // A throttle lets a tenth of a second's worth pass at once.
        let right = near(write, 4096.0, 0.05) && near(read, 16_384.0, 0.15);
        let sound = verdicts(&heard).iter().all(|(trust, _)| *trust == Trust::Sound);
        if right && sound {
            assert_eq!(verdicts(&heard).len(), 2, "{heard}");
            assert!(card.path("t").exists(), "fio leaves its files");
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn direct_reads_of_a_file_that_was_mostly_only_allocated_are_none_of_the_card() {
    let _alone = lab::alone();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    let file = std::fs::File::create(card.path("t")).expect("a file");
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 24 * MI).expect("room");
    // As a job of writes leaves it that was cut short.
    file.write_all_at(&vec![0x5a; MI as usize], 0).expect("written");
    file.sync_all().expect("flushed");
    drop(file);
    let (heard, _) = asked(&card, "--name=r --rw=read --bs=1m --direct=1");
    assert_eq!(heard.ran.code(), 0, "{heard}");
    assert_eq!(verdicts(&heard), [(Trust::Wrong, MeasuredSubject::Layer)], "{heard}");
}
