//! Traps whose cause is the method, the settings or the layout, each sprung on purpose on a lab
//! device: the verdict names the cause, and says nothing where it is absent.

mod kernel;
mod lab;

use std::time::Duration;

use assay::record::{Finding, Measures, Trust};
use kernel::{Heard, hear, hear_own, told};
use lab::{Card, DirtyLimit, MI, Shape, Speed};
use serde_json::{Value, json};

/// `assay dd` with these words; `{x}` is a file on the card.
fn dd(card: &Card, words: &str) -> Heard {
    let file = card.path("x").display().to_string();
    let words: Vec<String> =
        words.split_whitespace().map(|word| word.replace("{x}", &file)).collect();
    hear(lab::assay(["dd"]).words(&words))
}

/// A plan of one phase and one job of blocks on the file `x`, which is as large as this.
fn blocks(card: &Card, size: u64, layout: &str, words: Value) -> Value {
    let mut work = json!({
        "target": { "file": {
            "path": card.path("x"), "size": { "exactly": size }, "layout": layout,
        } },
    });
    for (word, value) in words.as_object().expect("words") {
        work[word] = value.clone();
    }
    json!({ "name": "job", "work": { "blocks": work } })
}

/// Runs one job as a phase of its own.
fn run(job: Value) -> Heard {
    let plan = json!({
        "title": "trap", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{ "name": "trap", "quiet": 400_000_000, "settle": 20_000_000_000_u64, "jobs": [job] }],
    });
    let desk = tempfile::tempdir().expect("a folder for the plan");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("the plan can be written");
    hear_own(lab::assay(["run"]).word(&file))
}

fn finding<'a>(heard: &'a Heard, trap: &str) -> &'a Finding {
    let all = &heard.verdict().findings;
    all.iter().find(|f| f.trap.0 == trap).unwrap_or_else(|| panic!("no {trap}\n{heard}"))
}

#[test]
fn t09_a_mapping_is_memory_until_it_is_flushed() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let heard = |durability: &str| {
        run(blocks(
            &card,
            24 * MI,
            "truncated",
            json!({
                "method": "mmap", "durability": durability,
                "pattern": { "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 65536 } },
            }),
        ))
    };
    let stored = heard("none");
    told("stored into a mapping", &stored);
    stored.expect(Trust::Wrong, Measures::Deferred);
    assert!(stored.found("T02"), "{stored}");
    let corrected = stored.verdict().corrected.expect("the flush was watched").value;
    // A store makes a whole folio dirty, and one that is written out in between goes twice: of what the
    // device takes, a part was stored before.
    assert!((0.85..1.03).contains(&(corrected / (4.0 * MI as f64))), "{corrected} {stored}");
    let flushed = heard("fsync_at_end");
    assert!(!flushed.found("T02"), "{flushed}");
    assert_ne!(flushed.verdict().measures, Measures::Deferred, "{flushed}");
}

#[test]
fn t10_t12_what_the_kernel_reads_for_small_reads() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    kernel::put(&card, "x", 16 * MI);
    let small = dd(&card, "if={x} of=/dev/null bs=4k");
    told("small reads in order", &small);
    let ahead = finding(&small, "T10");
    assert!(ahead.claim.starts_with("Read-ahead served 4097 calls from "), "{small}");
    lab::cold(&card.path("x")).unwrap();
    let direct = dd(&card, "if={x} of=/dev/null bs=4k count=500 iflag=direct");
    assert!(!direct.found("T10") && !direct.found("T12"), "{direct}");
    lab::cold(&card.path("x")).unwrap();
    let mut job = blocks(
        &card,
        16 * MI,
        "existing",
        json!({
            "method": { "mmap": { "advice": "normal" } },
            "pattern": {
                "mix": [{ "action": "read", "weight": 1 }], "order": "uniform",
                "block": { "fixed": 4096 },
            },
        }),
    );
    job["stop"] = json!({ "first_of": [{ "ops": 300 }] });
    let touched = run(job);
    told("touched here and there", &touched);
    assert!(touched.found("T12"), "{touched}");
}

#[test]
fn t15_a_flush_that_nobody_passes_on() {
    let _alone = lab::alone();
    let words = "if=/dev/zero of={x} bs=4k count=500 oflag=dsync";
    let card = lab::need!(Card::nobarrier());
    let swallowed = dd(&card, words);
    told("nobarrier", &swallowed);
    let found = finding(&swallowed, "T15");
    assert_eq!(found.measures, Some(Measures::Deferred), "{swallowed}");
    assert!(found.claim.contains("(it is mounted with nobarrier)"), "{swallowed}");
    assert_ne!(swallowed.verdict().trust, Trust::Sound, "{swallowed}");
    drop(card);
    let card = lab::need!(Card::fast());
    let flushed = dd(&card, words);
    assert!(!flushed.found("T15") && flushed.found("T14"), "{flushed}");
}

#[test]
fn t20_parts_of_blocks_on_xfs() {
    let _alone = lab::alone();
    let card = lab::need!(Card::xfs());
    let parts = dd(&card, "if=/dev/zero of={x} bs=512 count=500 oflag=direct conv=fsync");
    told("half a KiB each", &parts);
    assert!(parts.found("T20"), "{parts}");
    let whole = dd(&card, "if=/dev/zero of={x} bs=4k count=100 oflag=direct conv=fsync");
    assert!(!whole.found("T20"), "{whole}");
}

#[test]
fn t38_a_file_in_pieces() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { size: 64 * MI, ..Shape::paced() }));
    card.crumble();
    kernel::put(&card, "x", 8 * MI);
    let heard = dd(&card, "if={x} of=/dev/null bs=1M iflag=direct");
    told("crumbs", &heard);
    assert!(finding(&heard, "T38").claim.contains(" pieces: calls of 1 MiB came to "), "{heard}");
}

#[test]
fn t43_a_fast_start_that_does_not_last() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape {
        speed: Speed::bytes(32 * MI, 32 * MI),
        size: 256 * MI,
        ..Shape::sdcard()
    }));
    let write = || {
        run(blocks(
            &card,
            96 * MI,
            "truncated",
            json!({
                "caching": "direct", "durability": "fdatasync_at_end",
                "pattern": { "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 262_144 } },
            }),
        ))
    };
    // The lab counts bytes in a thread of its own, which must get its processor in time.
    for left in (0..3).rev() {
        let steady = write();
        let bursts = card.bursts(64 * MI, 4 * MI, Duration::from_secs(60));
        let heard = write();
        drop(bursts);
        told("burst", &heard);
        let kept = heard.verdict().corrected.map_or(0.0, |kept| kept.value / (4.0 * MI as f64));
        told("lasting, of the true rate", format_args!("{kept:.4}"));
        if left > 0 && (steady.found("T43") || !(0.97..1.03).contains(&kept)) {
            continue;
        }
        assert!(!steady.found("T43"), "{steady}");
        assert_eq!(finding(&heard, "T43").measures, Some(Measures::Unsteady), "{heard}");
        assert!((0.97..1.03).contains(&kept), "{heard}");
        break;
    }
}

#[test]
fn t04_a_burst_into_memory() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let limit = lab::need!(DirtyLimit::set(card.number(), 16 * MI));
    let heard = dd(&card, "if=/dev/zero of={x} bs=64k count=640 conv=fsync");
    drop(limit);
    told("40 MiB with 16 MiB of dirty pages at the most", &heard);
    assert!(finding(&heard, "T04").claim.contains(" went into memory at "), "{heard}");
    assert_eq!(heard.verdict().trust, Trust::Sound, "{heard}");
}

#[test]
fn t52_a_limit_on_the_processor_is_not_the_disk() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let group = lab::need!(lab::limit_cpu(3));
    let file = card.path("x").display().to_string();
    let words = ["if=/dev/zero".into(), format!("of={file}"), "bs=4k".into()];
    let words = [&words[..], &["count=3000".into(), "oflag=direct".into()]].concat();
    let heard = hear(lab::assay(["dd"]).words(&words).within(group.rooms()));
    told("a thirtieth of a processor", &heard);
    let found = finding(&heard, "T52");
    assert_eq!(found.measures, Some(Measures::Limited), "{heard}");
    assert_ne!(heard.verdict().trust, Trust::Sound, "{heard}");
}

#[test]
fn t57_a_stall_counts_for_all_who_wait() {
    let _alone = lab::alone();
    let card =
        lab::need!(Card::new(Shape { speed: Speed::bytes(32 * MI, 32 * MI), ..Shape::paced() }));
    kernel::put(&card, "x", 64 * MI);
    let stalls = card.stalls(Duration::from_millis(2500), Duration::from_millis(800));
    let mut job = blocks(
        &card,
        64 * MI,
        "existing",
        json!({
            "caching": "direct",
            "pattern": {
                "mix": [{ "action": "read", "weight": 1 }], "order": "uniform",
                "block": { "fixed": 4096 },
            },
        }),
    );
    job["rate"] = json!({ "open": { "iops": 100.0 } });
    job["stop"] = json!({ "first_of": [{ "time": 16_000_000_000_u64 }] });
    let heard = run(job);
    drop(stalls);
    told("100 a second, with stalls", &heard);
    assert!(heard.found("T57"), "{heard}");
}
