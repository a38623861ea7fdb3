//! Traps of first writes, of what follows after the last, and of the place: each sprung on purpose on a
//! lab device, and not named where it is absent.

use std::time::Duration;

use crate::kernel::{self, Heard, hear, hear_own, rate, told};
use crate::lab::{self, Card, Fs, MI, Shape, Speed};
use assay_plan::plan::Action;
use assay_record::evidence::{CopySpeed, Reading};
use assay_record::record::{Finding, MeasuredSubject, Trust};
use serde_json::{Value, json};

/// Runs phases on a file or device, each with words of its own for the job.
fn run(target: &Value, phases: &[(&str, Value, Value)]) -> Heard {
    let phase = |(name, words, around): &(&str, Value, Value)| {
        let mut work = json!({ "target": target });
        let mut job = json!({ "name": name });
        for (word, value) in words.as_object().expect("words") {
            let place = if matches!(&**word, "stop" | "workers") { &mut job } else { &mut work };
            place[word] = value.clone();
        }
        job["work"] = json!({ "blocks": work });
        let mut phase = json!({ "name": name, "quiet": 400_000_000, "jobs": [job] });
        for (word, value) in around.as_object().expect("words") {
            phase[word] = value.clone();
        }
        phase
    };
    let plan = json!({
        "title": "firsts", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": phases.iter().map(phase).collect::<Vec<_>>(),
    });
    let desk = tempfile::tempdir().expect("a folder for the plan");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("the plan can be written");
    hear_own(lab::run_plan(&file))
}

fn file(card: &Card, size: u64, layout: &str) -> Value {
    let path = card.path("x");
    json!({ "file": { "path": path, "size": { "exactly": size }, "layout": layout } })
}

/// Direct writes, flushed at the end.
fn writes(block: u64, order: &str, more: Value) -> Value {
    let mut words = json!({
        "caching": "direct", "durability": "fdatasync_at_end",
        "pattern": {
            "mix": [{ "action": "write", "weight": 1 }], "order": order, "block": { "fixed": block },
        },
    });
    for (word, value) in more.as_object().expect("words") {
        words[word] = value.clone();
    }
    words
}

fn of<'a>(heard: &'a Heard, phase: &str, trap: &str) -> Option<&'a Finding> {
    let verdict = heard.named(phase).verdict.as_ref().expect("judged");
    verdict.findings.iter().find(|finding| finding.trap.name() == trap)
}

#[test]
fn t36_the_first_write_is_told_from_the_second() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let scattered = || writes(4096, "shuffled", json!({}));
    let none = || json!({});
    let heard = run(
        &file(&card, 16 * MI, "preallocated"),
        &[("first", scattered(), none()), ("second", scattered(), none())],
    );
    told("into an allocated file, twice", &heard);
    let first = of(&heard, "first", "T36").unwrap_or_else(|| panic!("not named\n{heard}"));
    assert!(first.text().starts_with("First writes to "), "{heard}");
    assert!(of(&heard, "second", "T36").is_none(), "{heard}");
    // Half of it written before, by somebody else.
    kernel::put(&card, "x", 8 * MI);
    let heard = run(&file(&card, 16 * MI, "preallocated"), &[("both", scattered(), none())]);
    let both = of(&heard, "both", "T36").unwrap_or_else(|| panic!("not named\n{heard}"));
    assert!(both.text().starts_with("50 % of the writes to "), "{heard}");
    // Large writes in order are what files are made of.
    let large = writes(1 << 20, "forward", json!({}));
    let heard = run(&file(&card, 64 * MI, "truncated"), &[("large", large, none())]);
    assert!(of(&heard, "large", "T36").is_none(), "{heard}");
}

#[test]
fn t37_writers_that_extend_a_file_wait_for_its_lock() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let deep = || writes(16_384, "forward", json!({ "iodepth": 32, "method": "io_uring" }));
    let none = || json!({});
    let extend = run(&file(&card, 64 * MI, "truncated"), &[("extend", deep(), none())]);
    told("32 writes in flight that make a file longer", &extend);
    let over = run(&file(&card, 64 * MI, "written"), &[("over", deep(), none())]);
    told("32 writes in flight over what is there", &over);
    assert!(!over.found("T37"), "{over}");
    let found = extend.found("T37");
    let explained = extend.disturbed() || ["T51", "T52"].iter().any(|cause| extend.found(cause));
    if !found && explained {
        eprintln!("SKIP t37: the machine had no processor to spare, and the verdict says so");
        return;
    }
    assert!(found && !extend.found("T55"), "{extend}");
    extend.expect(Trust::Doubtful, MeasuredSubject::Tool);
}

#[test]
fn t45_a_device_that_is_not_as_fast_everywhere() {
    let _beside = lab::beside();
    let shape = Shape {
        speed: Speed::bytes(16 * MI, 16 * MI),
        fs: Fs::Raw,
        size: 192 * MI,
        ..Shape::paced()
    };
    let card = lab::need!(Card::new(shape));
    // It is slow once 16 MiB have been written, which a place does as well as a time.
    let device = card.device().display().to_string();
    let target = json!({ "device": {
        "path": device, "size": { "exactly": 128 * MI }, "consent": { "device": device },
    } });
    let at = |offset: u64| {
        let stop = json!({ "first_of": [{ "bytes": 16 * MI }] });
        let mut words = writes(1 << 20, "forward", json!({ "stop": stop }));
        words["pattern"]["region"] = json!({ "offset": offset });
        words
    };
    let none = || json!({});
    let bursts = card.bursts(16 * MI, 4 * MI, Duration::from_secs(60));
    let phases =
        [("start", at(0), none()), ("middle", at(32 * MI), none()), ("end", at(64 * MI), none())];
    let heard = run(&target, &phases);
    drop(bursts);
    told("three places", &heard);
    let found = of(&heard, "end", "T45").unwrap_or_else(|| panic!("not named\n{heard}"));
    assert!(found.text().starts_with("The same work at 3 offsets ran at "), "{heard}");
    assert!(of(&heard, "start", "T45").is_none() && of(&heard, "middle", "T45").is_none());
    let even = run(&target, &phases);
    assert!(!even.found("T45"), "{even}");
}

#[test]
fn t49_a_device_that_works_on_is_waited_for() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape {
        speed: Speed::bytes(64 * MI, 64 * MI),
        size: 256 * MI,
        ..Shape::paced()
    }));
    let phase = || {
        let words =
            writes(16_384, "shuffled", json!({ "stop": { "first_of": [{ "bytes": 32 * MI }] } }));
        [("scattered", words, json!({ "aftermath": 250_000_000 }))]
    };
    let steady_watcher = run(&file(&card, 32 * MI, "written"), &phase());
    told("a device that is done", &steady_watcher);
    let aftermath = steady_watcher.phase().evidence.aftermath.as_ref().expect("looked");
    assert!(
        matches!(aftermath.before, Reading::Seen(_)) && !aftermath.after.is_empty(),
        "{steady_watcher}"
    );
    assert!(!steady_watcher.found("T49") || steady_watcher.disturbed(), "{steady_watcher}");
    // It is slow from the moment at which the last write has come, for some seconds.
    let knob = card.knob();
    let usual = knob.speed();
    let written = || card.leaf().write_bytes;
    let (before, done) = (written(), std::sync::atomic::AtomicBool::new(false));
    let heard = std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::sync::atomic::Ordering;
            // What lays the file out, and then the phase.
            while written() - before < 64 * MI && !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            knob.set(Speed::bytes(MI / 16, MI / 16));
            std::thread::sleep(Duration::from_secs(4));
            knob.set(usual);
        });
        let heard = run(&file(&card, 32 * MI, "written"), &phase());
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        heard
    });
    told("a device that works on", &heard);
    let found = of(&heard, "scattered", "T49").unwrap_or_else(|| panic!("not named\n{heard}"));
    assert!(found.text().contains(" after the last completion"), "{heard}");
    assert!(heard.phase().evidence.aftermath.as_ref().expect("looked").after.len() >= 2, "{heard}");
}

#[test]
fn t53_how_fast_the_machine_copies_is_known_where_it_matters() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let path = kernel::put(&card, "x", 128 * MI);
    let words = |more: &str| format!("if={} of=/dev/null bs=1M {more}", path.display());
    let read = |more: &str| {
        let words = words(more);
        hear(lab::assay(["dd"]).words(&words.split_whitespace().collect::<Vec<_>>()))
    };
    let heard = read("");
    let pace = rate(heard.phase(), Action::Read).expect("a rate");
    told("a buffered read out of a file in memory, bytes per second", pace);
    match &heard.phase().evidence.copying {
        Some(Reading::Seen(CopySpeed { from, into, .. })) => {
            told("copied from and into the page cache", format_args!("{from:.0} {into:.0}"));
            assert!(pace >= 100e6, "measured for nothing\n{heard}");
            // No buffered read is faster than the copying that it is made of.
            assert!(pace < from * 1.5, "{pace} {from}\n{heard}");
            assert_eq!(
                heard.found("T53"),
                heard.verdict().measures == MeasuredSubject::Tool && !heard.found("T51")
            );
        }
        Some(Reading::Unseen(why)) => panic!("{why}"),
        None => assert!(pace < 110e6, "not measured at {pace}\n{heard}"),
    }
    lab::cold(&path).expect("put out of memory");
    let direct = read("iflag=direct");
    assert!(direct.phase().evidence.copying.is_none(), "{direct}");
}

#[test]
fn t53_small_calls_are_bound_by_their_copies() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { size: 640 * MI, ..Shape::fast() }));
    kernel::put(&card, "x", 512 * MI);
    let words = json!({
        "method": "psync",
        "pattern": { "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 512 } },
    });
    let phases = [("small", words, json!({ "cold": "target" }))];
    // Others may take the processors or the disk for a while.
    for left in (0..4).rev() {
        let heard = run(&file(&card, 512 * MI, "existing"), &phases);
        told("buffered reads of 512 bytes", &heard);
        if heard.found("T53") {
            heard.expect(Trust::Doubtful, MeasuredSubject::Tool);
            assert!(!heard.found("T51"), "said once\n{heard}");
            return;
        }
        if left == 0 {
            eprintln!("SKIP t53: the device never had time left, or others took the processors");
        }
    }
}

#[test]
fn what_a_file_system_writes_of_earlier_work_is_nobody_else() {
    let _alone = lab::alone();
    // It writes its trees down each second: surely in the quiet time before the second phase.
    let shape = Shape { fs: Fs::Btrfs, size: 256 * MI, mount: "commit=1", ..Shape::paced() };
    let card = lab::need!(Card::new(shape));
    let scattered = |millis: u64| {
        let stop = json!({ "first_of": [{ "time": millis * 1_000_000 }] });
        writes(4096, "uniform", json!({ "stop": stop }))
    };
    let quiet = json!({ "quiet": 1_200_000_000 });
    let heard = run(
        &file(&card, 32 * MI, "written"),
        &[("before", scattered(1500), json!({})), ("after", scattered(3000), quiet)],
    );
    told("after scattered writes on btrfs", &heard);
    assert!(of(&heard, "after", "T31").is_none(), "{heard}");
    let quiet = &heard.named("after").evidence.quiet;
    let own = quiet.devices.iter().find(|device| device.name == card.leaf_name());
    let own = own.and_then(|device| device.counters.seen());
    assert_eq!(own.map(|counters| counters.write_bytes), Some(0), "{quiet:?}\n{heard}");
}
