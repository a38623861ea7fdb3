//! The traps that a lab device can spring, each sprung on purpose: the verdict names it.
//!
//! T01, T02, T05, T14, T23, T29 and T32 are in the table of `kernel_dd.rs`, T62 among the faults.

mod kernel;
mod lab;

use std::time::Duration;

use assay::evidence::Snapshot;
use assay::record::{Finding, Measures, Trust, Weight};
use kernel::{Heard, hear, hear_own, told};
use lab::{Card, MI, Noise, Shape};
use serde_json::json;

/// `assay dd` with these words; `{x}` is a file on the card.
fn dd(card: &Card, words: &str) -> lab::Typed {
    let file = card.path("x").display().to_string();
    let words: Vec<String> =
        words.split_whitespace().map(|word| word.replace("{x}", &file)).collect();
    lab::assay(["dd"]).words(&words)
}

fn finding<'a>(heard: &'a Heard, trap: &str) -> &'a Finding {
    let all = &heard.verdict().findings;
    all.iter().find(|f| f.trap.0 == trap).unwrap_or_else(|| panic!("no {trap}\n{heard}"))
}

#[test]
fn t03_a_close_is_not_a_flush() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let heard = |durability: &str| {
        let plan = json!({
            "title": "stdio", "origin": { "dialect": "plan" }, "seed": 1,
            "phases": [{ "name": "putc", "settle": 20_000_000_000_u64, "jobs": [{
                "name": "putc",
                "work": { "blocks": {
                    "target": { "file": {
                        "path": card.path("x"), "size": { "exactly": 8 * MI }, "layout": "truncated",
                    } },
                    "method": { "stdio": { "buffer": 4096, "bytewise": true } },
                    "durability": durability,
                    "pattern": {
                        "mix": [{ "action": "write", "weight": 1 }],
                        "block": { "fixed": 8192 },
                    },
                } },
            }] }],
        });
        let desk = tempfile::tempdir().unwrap();
        let file = desk.path().join("plan.json");
        std::fs::write(&file, plan.to_string()).unwrap();
        hear_own(lab::assay(["run"]).word(&file))
    };
    let closed = heard("none");
    told("putc and close", &closed);
    closed.expect(Trust::Wrong, Measures::Deferred);
    assert!(closed.found("T03") && !closed.found("T02"), "{closed}");
    let flushed = heard("fsync_at_end");
    assert!(!flushed.found("T03") && !flushed.found("T02"), "{flushed}");
    assert_ne!(flushed.verdict().measures, Measures::Deferred, "{flushed}");
}

#[test]
fn t19_direct_that_is_not_direct() {
    let _alone = lab::alone();
    let card = lab::need!(Card::journal());
    let heard = hear(dd(&card, "if=/dev/zero of={x} bs=1M count=8 oflag=direct"));
    told("journal", &heard);
    assert_eq!(heard.verdict().trust, Trust::Wrong, "{heard}");
    assert_eq!(finding(&heard, "T19").weight, Weight::Refute, "{heard}");
    // Direct is asked for only where it is real: quick goes another way there, and says so.
    let heard = hear_own(lab::assay(["quick", "--quick"]).word(card.mount()));
    let notes = &heard.record.resolved.notes;
    assert!(notes.iter().any(|note| note.contains("no direct I/O")), "{notes:?}\n{heard}");
}

#[test]
fn t16_direct_is_not_durable() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let heard = hear(dd(&card, "if=/dev/zero of={x} bs=1M count=256 oflag=direct"));
    if heard.record.resolved.subjects[1].stack[0]
        .queue
        .seen()
        .and_then(|queue| queue.write_cache.as_deref())
        != Some("write back")
    {
        eprintln!("SKIP t16: the lab's device has no cache to speak of");
        return;
    }
    assert_eq!(finding(&heard, "T16").weight, Weight::Note, "{heard}");
    let flushed = hear(dd(&card, "if=/dev/zero of={x} bs=1M count=256 oflag=direct conv=fsync"));
    assert!(!flushed.found("T16"), "{flushed}");
}

#[test]
fn t31_somebody_else_uses_the_disk() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let noise = Noise::writer(card.mount());
    std::thread::sleep(Duration::from_millis(500));
    let heard = hear(dd(&card, "if=/dev/zero of={x} bs=1M count=8 oflag=direct"));
    drop(noise);
    told("noise", &heard);
    assert_ne!(heard.verdict().trust, Trust::Sound, "{heard}");
    let found = finding(&heard, "T31");
    assert!(
        found.weight >= Weight::Doubt && found.measures == Some(Measures::Disturbed),
        "{heard}"
    );
}

/// Direct reads among many trims of a file of 256 MiB, slow enough for several commits of a file
/// system that commits each second.
fn reads_among_trims(card: &Card, order: &str) -> Heard {
    kernel::put(card, "x", 256 * MI);
    let plan = json!({
        "title": "trims", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{ "name": "trims", "quiet": 500_000_000, "jobs": [{
            "name": "trims",
            "work": { "blocks": {
                "target": { "file": {
                    "path": card.path("x"), "size": { "exactly": 256 * MI }, "layout": "existing",
                } },
                "caching": "direct",
                "pattern": {
                    "mix": [{ "action": "read", "weight": 2 }, { "action": "trim", "weight": 98 }],
                    "block": { "fixed": 4096 }, "order": order,
                },
            } },
            "rate": { "capped_iops": 14_000.0 },
            "stop": { "first_of": [{ "passes": 1 }, { "time": 6_000_000_000_u64 }] },
        }] }],
    });
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("written");
    hear_own(lab::assay(["run"]).word(&file))
}

/// Bytes written to the device that the path names, during the first phase.
fn written_during(heard: &Heard) -> u64 {
    let evidence = &heard.phase().evidence;
    let written = |snapshot: &Snapshot| {
        let counters = snapshot.devices.first().and_then(|device| device.counters.seen());
        counters.unwrap_or_else(|| panic!("no counters\n{heard}")).write_bytes
    };
    written(&evidence.stop) - written(&evidence.before)
}

#[test]
fn t23_t31_what_trims_cause_is_nobody_else_and_no_failing_of_direct_io() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape {
        speed: lab::Speed::bytes(64 * MI, 64 * MI),
        size: 512 * MI,
        mount: "commit=1",
        ..Shape::paced()
    }));
    let once = reads_among_trims(&card, "shuffled");
    told("trims, each place once", &once);
    // Far more than a run without trims could explain.
    assert!(written_during(&once) > 512 << 10, "{} bytes\n{once}", written_during(&once));
    assert!(!once.found("T31") && !once.found("T19") && !once.found("T23"), "{once}");
    let again = reads_among_trims(&card, "uniform");
    told("trims, places again", &again);
    let found = finding(&again, "T23");
    assert!(found.claim.contains("had been trimmed before in the same phase"), "{again}");
    assert_eq!(found.measures, Some(Measures::Layer), "{again}");
    assert!(!again.found("T31") && !again.found("T19"), "{again}");
}

#[test]
fn t51_t54_t56_the_program_the_depth_and_the_clock() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    // One block of 64 KiB: nothing can be said of so short a time.
    let short = hear(dd(&card, "if=/dev/zero of={x} bs=64k count=1 oflag=direct conv=fsync"));
    assert!(short.found("T56"), "{short}");
    assert_ne!(short.verdict().trust, Trust::Sound, "{short}");
    // A generator of random numbers, not the disk.
    let slow = hear(dd(&card, "if=/dev/urandom of={x} bs=1M count=150 conv=fsync"));
    told("urandom", &slow);
    let reads = &slow.phase().totals[&assay::plan::Action::Read];
    let spent = reads.lat_ns.unwrap().mean * reads.ops.0 as f64;
    let share = spent / slow.phase().span.time().0 as f64;
    // On a busy machine the loop device takes as long as the generator does.
    if share > 0.55 && !slow.disturbed() {
        assert!(slow.found("T51"), "{slow}");
        assert_ne!(slow.verdict().trust, Trust::Sound, "{slow}");
    } else {
        told("urandom took no more than", format!("{:.0} % of the time", share * 100.0));
    }
    // One at a time is the latency, not the most that the device can do.
    let alone = hear(dd(&card, "if=/dev/zero of={x} bs=4k count=20000 oflag=direct conv=fsync"));
    told("depth 1", &alone);
    assert!(alone.found("T54"), "{alone}");
}

#[test]
fn t58_an_average_hides_stalls() {
    let _alone = lab::alone();
    // A card in memory with 32 MiB/s, which stops for a second and a half every three.
    let card = lab::need!(Card::new(Shape {
        speed: lab::Speed::bytes(32 * MI, 32 * MI),
        size: 256 * MI,
        ..Shape::paced()
    }));
    kernel::put(&card, "x", 128 * MI);
    let stalls = card.stalls(Duration::from_millis(2500), Duration::from_millis(1500));
    let plan = json!({
        "title": "stalls", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{ "name": "reads", "cold": "target", "jobs": [{
            "name": "reads",
            "work": { "blocks": {
                "target": { "file": { "path": card.path("x"), "size": "whole", "layout": "existing" } },
                "caching": "direct",
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }], "order": "uniform",
                    "block": { "fixed": 16384 },
                },
            } },
            "stop": { "first_of": [{ "time": 9_000_000_000_u64 }] },
        }] }],
    });
    let desk = tempfile::tempdir().unwrap();
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).unwrap();
    let heard = hear_own(lab::assay(["run"]).word(&file));
    drop(stalls);
    told("stalls", &heard);
    let found = finding(&heard, "T58");
    assert_eq!(found.measures, Some(Measures::Unsteady), "{heard}");
    assert_ne!(heard.verdict().trust, Trust::Sound, "{heard}");
}

#[test]
fn t06_t07_what_is_left_in_memory_is_seen() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    kernel::put(&card, "x", 16 * MI);
    lab::cold(&card.path("x")).unwrap();
    // Half of it is in memory before; the figure is of both.
    let warm = hear(dd(&card, "if={x} of=/dev/null bs=1M count=8"));
    assert_eq!(warm.verdict().trust, Trust::Sound, "{warm}");
    let mixed = hear(dd(&card, "if={x} of=/dev/null bs=1M"));
    told("half cached", &mixed);
    mixed.expect(Trust::Wrong, Measures::Mixed);
    // Pages that somebody has locked can not be dropped: the drop is checked, not believed.
    let file = std::fs::File::open(card.path("x")).unwrap();
    // SAFETY: a new mapping at an address of the kernel's choice; nobody changes the file, and the
    // mapping ends with this process.
    let locked = unsafe {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let flags = MapFlags::SHARED | MapFlags::LOCKED | MapFlags::POPULATE;
        mmap(std::ptr::null_mut(), 16 << 20, ProtFlags::READ, flags, &file, 0)
    };
    if let Err(error) = locked {
        eprintln!("SKIP t07: pages can not be locked: {error}");
        return;
    }
    let kept = hear(dd(&card, "if={x} of=/dev/null bs=1M").env("ASSAY_COLD", "target"));
    told("not dropped", &kept);
    kept.expect(Trust::Wrong, Measures::Memory);
    assert!(kept.found("T07"), "{kept}");
}
