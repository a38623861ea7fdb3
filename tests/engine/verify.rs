//! Data that came to harm: what is said about them, and that whole ones are never accused.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use assay_engine::engine::{DataFiller, WriteGeneration};
use assay_plan::error::Error;
use assay_plan::plan::{Action, Fill, Phase, Plan};
use assay_plan::stats::ContentCounts;
use assay_record::record::{Ending, PhaseRecord, Record};
use assay_run::{self as run, Observer, Preparation, RunOptions};
use serde_json::{Value, json};

use crate::lab::{self, Faults, FaultyFuse, Op, on};

const SEED: u64 = 7;
const BLOCK: u64 = 4096;
const BLOCKS: u64 = 16;

/// A phase of one job on a file, with whatever `changes` say of its pattern.
fn phase(name: &str, path: &Path, action: &str, changes: &[(&str, Value)]) -> Value {
    let mut blocks = json!({
        "target": { "file": { "path": path, "size": { "exactly": BLOCKS * BLOCK }, "lifetime": "keep" } },
        "pattern": { "mix": [{ "action": action, "weight": 1 }], "block": { "fixed": BLOCK } },
    });
    let mut job = json!({ "name": name, "stop": { "first_of": [{ "passes": 1 }] } });
    for (word, value) in changes {
        match *word {
            "method" | "iodepth" | "caching" => blocks[word] = value.clone(),
            "workers" | "stop" => job[word] = value.clone(),
            _ => blocks["pattern"][word] = value.clone(),
        }
    }
    job["work"] = json!({ "blocks": blocks });
    json!({ "name": name, "jobs": [job] })
}

fn plan(phases: &[Value]) -> Plan {
    let plan = json!({
        "title": "verify", "origin": { "dialect": "plan" }, "seed": SEED, "phases": phases,
    });
    serde_json::from_value(plan).expect("a plan")
}

/// Does something to the data after a phase.
struct After<'a>(&'a mut dyn FnMut(&str));

impl Observer for After<'_> {
    fn preparing(&mut self, _phase: &Phase, _step: Preparation) {}
    fn ended(&mut self, _: &Record, phase: &PhaseRecord) {
        (self.0)(&phase.name);
    }
}

fn go(phases: &[Value], mut after: impl FnMut(&str)) -> Record {
    run::run(&plan(phases), &RunOptions::default(), &mut After(&mut after)).expect("a run")
}

fn full() -> (&'static str, Value) {
    ("verify", json!("full"))
}

/// What is said of a file that was written, harmed, and read.
fn said(harm: impl Fn(&File), fill: &Value) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let fill = ("fill", fill.clone());
    let phases = [
        phase("write", &path, "write", std::slice::from_ref(&fill)),
        phase("read", &path, "read", &[full(), fill]),
    ];
    let record = go(&phases, |name| {
        if name == "write" {
            harm(&File::options().read(true).write(true).open(&path).expect("open"));
        }
    });
    let read = &record.phases[1];
    let Ending::Failed(fault) = &record.ending else { return "nothing".into() };
    assert_eq!(read.totals[&Action::Read].mismatches, 1);
    fault.to_string().replace(&path.display().to_string(), "FILE")
}

const HINT: &str = "\n  the device does not keep what it is given; do not use it";

#[test]
fn harm_is_named_with_place_expected_and_found() {
    let random = json!("random");
    let put = |bytes: Vec<u8>, at: u64| {
        move |file: &File| file.write_all_at(&bytes, at).expect("written")
    };
    assert_eq!(said(|_| (), &random), "nothing");
    assert_eq!(
        said(put(vec![0; 512], 8192 + 1024), &random),
        format!(
            "cannot verify FILE at 9216: zeros stand here: the data were lost, trimmed or never written{HINT}"
        )
    );
    let moved = |file: &File| {
        let mut block = [0; 4096];
        file.read_exact_at(&mut block, 4096).expect("read");
        file.write_all_at(&block, 16_384).expect("written");
    };
    assert_eq!(
        said(moved, &random),
        format!("cannot verify FILE at 16384: misplaced: the data of offset 4096 stand here{HINT}")
    );
    let text = said(put(b"something else altogether".repeat(30), 4096), &random);
    let (before, after) = text.split_once("expected the tag ").expect("both");
    assert_eq!(before, "cannot verify FILE at 4096: foreign: ");
    assert_eq!(&after[16..], format!(", found 736f6d657468696e{HINT}"));
    let flipped = |file: &File| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, 20_000).expect("read");
        file.write_all_at(&[!byte[0]], 20_000).expect("written");
    };
    let text = said(flipped, &random);
    let (before, after) = text.split_once("the byte ").expect("both");
    assert_eq!(before, "cannot verify FILE at 20000: damaged: expected ");
    let bytes: Vec<u8> = after[..12]
        .split(", found ")
        .map(|digits| u8::from_str_radix(digits.trim(), 16).expect("a byte"))
        .collect();
    assert_eq!(bytes[0], !bytes[1], "{text}");
    // Data without tags.
    let repeat = json!({ "repeat": [1, 2, 3] });
    assert_eq!(said(|_| (), &repeat), "nothing");
    assert_eq!(
        said(put(vec![9], 4098), &repeat),
        format!("cannot verify FILE at 4098: damaged: expected the byte 01, found 09{HINT}")
    );
    assert_eq!(said(|_| (), &json!("zero")), "nothing");
    let copies = json!({ "compressible": { "compress_percent": 50, "dedupe_percent": 30 } });
    assert_eq!(said(|_| (), &copies), "nothing");
    assert!(said(put(vec![1], 4098), &copies).contains(" at 4096: foreign: "));
}

#[test]
fn a_census_counts_what_every_block_holds_and_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let census = ("verify", json!("census"));
    for (method, depth) in [("psync", 1), ("pool", 4)] {
        let how = [("method", json!(method)), ("iodepth", json!(depth)), census.clone()];
        let phases = [phase("write", &path, "write", &[]), phase("read", &path, "read", &how)];
        let record = go(&phases, |name| {
            if name == "write" {
                let file = File::options().read(true).write(true).open(&path).expect("open");
                let put = |bytes: &[u8], block: u64| {
                    file.write_all_at(bytes, block * BLOCK).expect("written");
                };
                let mut block = [0; BLOCK as usize];
                put(&block, 1);
                put(b"something else", 2);
                file.read_exact_at(&mut block, 9 * BLOCK).expect("read");
                put(&block, 3);
                put(&block, 5);
                file.read_exact_at(&mut block, 7 * BLOCK).expect("read");
                block[4000] ^= 1;
                put(&block, 7);
            }
        });
        assert_eq!(record.ending, Ending::Complete);
        let read = &record.phases[1];
        let (total, found) = (&read.totals[&Action::Read], read.census.as_ref().expect("a census"));
        assert_eq!((total.ops.0, total.mismatches, read.faults.len()), (BLOCKS, 5, 0));
        let whole = ContentCounts {
            right: 11,
            misplaced: 2,
            zeros: 1,
            foreign: 1,
            damaged: 1,
            ..ContentCounts::default()
        };
        assert_eq!((found.whole(), found.period.0), (whole, 2 * BLOCK));
        assert_eq!(found.parts.len() as u64, BLOCKS);
        assert_eq!(found.parts[5], ContentCounts { misplaced: 1, ..ContentCounts::default() });
    }
}

/// Blocks that lie apart are known one by one: what lies between was never written, is not read, and
/// is not blamed.
#[test]
fn places_apart_are_known_and_nothing_is_laid_out_between_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let apart = ("order", json!({ "spaced": { "stride": 4 * BLOCK } }));
    let from = ("region", json!({ "offset": BLOCK }));
    let phases = [
        phase("write", &path, "write", &[apart.clone(), from.clone()]),
        phase("read", &path, "read", &[apart, from, ("verify", json!("census"))]),
        phase("all", &path, "read", &[("verify", json!("census"))]),
    ];
    let mut content = Vec::new();
    let record = go(&phases, |name| {
        if name == "read" {
            content = std::fs::read(&path).expect("read");
        }
    });
    let right =
        |phase: usize| record.phases[phase].census.as_ref().expect("a census").whole().right;
    assert_eq!((right(1), right(2)), (BLOCKS / 4, BLOCKS));
    assert!(record.phases[1].evidence.unsure.is_empty(), "{:?}", record.phases[1].evidence.unsure);
    let empty = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    let holes = content.chunks(BLOCK as usize).filter(|block| empty(block)).count() as u64;
    assert_eq!(holes, content.len() as u64 / BLOCK - BLOCKS / 4);
}

#[test]
fn what_a_later_phase_wrote_must_not_be_what_an_earlier_one_wrote() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    for (order, bytes, what) in [
        (
            "forward",
            4096,
            "stale: expected write 1 of worker 0 in phase 2 or a later one, found write 3 of worker 0 in phase 1",
        ),
        (
            "backward",
            4096,
            "stale: expected write 1 of worker 0 in phase 2 or a later one, found write 14 of worker 0 in phase 1",
        ),
        (
            "forward",
            1024,
            "torn: expected all of the block to be write 3 of worker 0 in phase 2, found write 3 of worker 0 in phase 1 here",
        ),
    ] {
        let order = ("order", json!(order));
        let phases = [
            phase("one", &path, "write", std::slice::from_ref(&order)),
            phase("two", &path, "rewrite", &[order]),
            phase("read", &path, "read", &[full()]),
        ];
        let mut old = vec![0; bytes];
        let record = go(&phases, |name| {
            let file = File::options().read(true).write(true).open(&path).expect("open");
            match name {
                "one" => file.read_exact_at(&mut old, 8192).expect("read"),
                "two" => file.write_all_at(&old, 8192).expect("written"),
                _ => {}
            }
        });
        let Ending::Failed(fault) = &record.ending else { panic!("nothing is said") };
        assert_eq!((fault.offset, fault.text.as_str()), (Some(8192), what));
    }
}

#[test]
fn a_pass_of_one_phase_is_told_from_the_one_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let filler = DataFiller::new(&Fill::Random, SEED).expect("a filler");
    // Of two workers, each with half of it, in two passes of 8 blocks.
    let region = ("region", json!({ "divided": true }));
    let twice = ("stop", json!({ "first_of": [{ "passes": 2 }] }));
    let phases = [
        phase("write", &path, "write", &[("workers", json!(2)), region, twice]),
        phase("read", &path, "read", &[full()]),
    ];
    let said = |write| {
        let record = go(&phases, |name| {
            if name == "write" {
                let file = File::options().write(true).open(&path).expect("open");
                let mut block = [0; BLOCK as usize];
                filler.fill(&mut block, 12 * BLOCK, WriteGeneration::timed(0, 1).later(write));
                file.write_all_at(&block, 12 * BLOCK).expect("written");
            }
        });
        match record.ending {
            Ending::Failed(fault) => fault.text,
            _ => "nothing".into(),
        }
    };
    // The second pass of a worker begins with its write 9.
    assert_eq!(said(9), "nothing");
    assert_eq!(
        said(8),
        "stale: expected write 9 of worker 1 in phase 1 or a later one, found write 8 of worker 1 in phase 1"
    );
}

#[test]
fn whole_data_are_never_accused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let mixed = |verify| {
        let mix = [("read", 40), ("write", 40), ("rewrite", 20)];
        let mix = mix.map(|(action, weight)| json!({ "action": action, "weight": weight }));
        vec![
            ("mix", json!(mix)),
            ("order", json!("uniform")),
            ("verify", json!(verify)),
            ("stop", json!({ "first_of": [{ "ops": 3000 }] })),
        ]
    };
    for (method, depth) in [(json!("psync"), 1), (json!({ "io_uring": {} }), 8)] {
        let with = |mut changes: Vec<(&'static str, Value)>| {
            changes.push(("method", method.clone()));
            changes.push(("iodepth", json!(depth)));
            changes
        };
        let region = ("region", json!({ "divided": true }));
        let three = [region, ("workers", json!(3)), ("block", json!({ "fixed": 1024 }))];
        let phases = [
            phase("write", &path, "write", &with(vec![("order", json!("shuffled"))])),
            phase("mixed", &path, "read", &with(mixed("full"))),
            phase("back", &path, "read", &with([mixed("after_write"), three.into()].concat())),
            phase(
                "again",
                &path,
                "write",
                &with(vec![
                    ("order", json!("shuffled")),
                    ("block", json!({ "fixed": 512 })),
                    ("stop", json!({ "first_of": [{ "passes": 3 }] })),
                    ("verify", json!("after_write")),
                ]),
            ),
            phase("read", &path, "read", &with(vec![full(), ("block", json!({ "fixed": 8192 }))])),
            phase("zero", &path, "write", &with(vec![("fill", json!("zero"))])),
            phase("zeros", &path, "read", &with(vec![full(), ("fill", json!("zero"))])),
        ];
        let record = go(&phases, |_| ());
        assert_eq!(record.ending, Ending::Complete, "{method}");
        for phase in &record.phases {
            assert!(phase.totals.values().all(|total| total.mismatches == 0), "{}", phase.name);
        }
        // Every write was read back.
        let again = &record.phases[3].totals;
        assert_eq!(again[&Action::Write].ops.0, 3 * BLOCKS * BLOCK / 512);
        assert_eq!(again[&Action::Read].ops, again[&Action::Write].ops);
        let back = &record.phases[2].totals;
        let sent = back[&Action::Write].ops.0 + back[&Action::Rewrite].ops.0;
        let reads = 3000 - sent;
        assert_eq!(back[&Action::Read].ops.0, reads + sent);
    }
}

#[test]
fn a_device_that_loses_writes_is_found_out_at_once() {
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    let path = faulty.path("x");
    let after = ("verify", json!("after_write"));
    let phases = [
        phase("write", &path, "write", &[]),
        phase("again", &path, "write", std::slice::from_ref(&after)),
    ];
    let lost = Faults::from(on(Op::Write).past(20_480).lost());
    let torn = Faults::from(on(Op::Write).past(20_480).torn());
    for (faults, offset, what) in [
        (
            lost,
            20_480,
            "stale: expected write 6 of worker 0 in phase 2 or a later one, found write 6 of worker 0 in phase 1",
        ),
        (
            torn,
            22_528,
            "torn: expected all of the block to be write 6 of worker 0 in phase 2, found write 6 of worker 0 in phase 1 here",
        ),
    ] {
        faulty.set(Faults::default());
        let record = go(&phases, |name| {
            if name == "write" {
                faulty.set(faults.clone());
            }
        });
        let Ending::Failed(fault) = &record.ending else { panic!("nothing is said") };
        assert_eq!((fault.offset, fault.text.as_str()), (Some(offset), what));
        assert_eq!(fault.doing.name(), "verify");
        let totals = &record.phases[1].totals;
        assert_eq!((totals[&Action::Write].ops.0, totals[&Action::Read].mismatches), (6, 1));
    }
}

#[test]
fn words_that_contradict_verification_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let write = |weight| json!([{ "action": "write", "weight": weight }]);
    let trims = json!([{ "action": "read", "weight": 1 }, { "action": "trim", "weight": 1 }]);
    let split = json!({ "split": [{ "size": 1000, "weight": 1 }, { "size": 4096, "weight": 1 }] });
    for (changes, why) in [
        (
            vec![full(), ("mix", trims)],
            "verify 'full' contradicts a mix with 'trim': what was trimmed cannot be read back; leave one of them out",
        ),
        (
            vec![("verify", json!("tags")), ("fill", json!("zero"))],
            "verify 'tags' contradicts the fill 'zero', which carries no tags; use verify 'full', or the fill 'random'",
        ),
        (
            vec![("verify", json!("after_write"))],
            "verify 'after_write' contradicts a mix without 'write' or 'rewrite'; use verify 'full' for reads",
        ),
        (
            vec![full(), ("mix", write(1))],
            "verify 'full' contradicts a mix without 'read' or 'rewrite': nothing is read that could be looked at; use verify 'after_write', or verify in a later phase that reads",
        ),
        (
            vec![full(), ("block", split)],
            "verify 'full' contradicts blocks or places that are no multiples of 512 bytes; use whole sectors, one block size, or the fill 'repeat'",
        ),
        (
            vec![
                full(),
                ("change", json!("one_byte")),
                ("mix", json!([{ "action": "rewrite", "weight": 1 }])),
            ],
            "verify 'full' contradicts change 'one_byte': of what is changed so only the tags can be told; use verify 'tags', or leave 'change' out",
        ),
        (
            vec![("verify", json!("census")), ("mix", write(1))],
            "verify 'census' contradicts a mix of more than 'read'; use verify 'full'",
        ),
        (
            vec![("verify", json!("after_write")), ("mix", write(1)), ("workers", json!(2))],
            "verify 'after_write' contradicts 2 workers that write the same places; divide the region among them, or use one worker",
        ),
        (
            vec![
                ("verify", json!("after_write")),
                ("mix", write(1)),
                ("method", json!("pool")),
                ("iodepth", json!(4)),
            ],
            "verify 'after_write' contradicts a pool of 4 threads that write the same places; use iodepth 1",
        ),
    ] {
        // There, so that nothing else is to be complained about.
        std::fs::write(&path, vec![0; (BLOCKS * BLOCK) as usize]).expect("written");
        match run::run(
            &plan(&[phase("p", &path, "read", &changes)]),
            &RunOptions::default(),
            &mut (),
        ) {
            Err(Error::Refusal(refusal)) => {
                assert_eq!(refusal.to_string(), format!("phase 'p', job 'p': {why}"));
            }
            other => panic!("not refused: {other:?}"),
        }
        let content = std::fs::read(&path).expect("read");
        assert!(content.iter().all(|byte| *byte == 0), "it was touched");
    }
}
