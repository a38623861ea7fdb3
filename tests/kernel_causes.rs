//! Traps whose cause is the method, the settings or the layout, each sprung on purpose on a lab
//! device: the verdict names the cause, and says nothing where it is absent.

mod kernel;
mod lab;

use assay::record::{Finding, Measures, Trust};
use kernel::{Heard, hear, hear_own, told};
use lab::{Card, MI};
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
    let desk = tempfile::tempdir().unwrap();
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).unwrap();
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
            8 * MI,
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
    assert!((0.97..1.03).contains(&(corrected / (4.0 * MI as f64))), "{corrected} {stored}");
    let flushed = heard("fsync_at_end");
    assert!(!flushed.found("T02"), "{flushed}");
    assert_ne!(flushed.verdict().measures, Measures::Deferred, "{flushed}");
}
