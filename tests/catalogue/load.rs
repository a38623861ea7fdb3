//! Others on the device and on the processors, and devices that do not keep one pace.

use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_record::record::{FindingWeight, MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::{Heard, hear, put};
use crate::lab::{self, Card, Faults, FaultyFuse, KI, MI, Op, RamDisk, Shape, Speed, on};
use crate::row::Row;
use crate::shelf::{
    Beside, READS, Shelf, WRITES, blocks, busy, dd, finding, heard, kib, pattern, plan, run,
    run_plan,
};

crate::cases! {
    beside: [
        t31_a_second_writer,
        t66_both_ends_on_one_disk,
        t43_a_fast_start_that_does_not_last,
        t57_a_stall_counts_for_all_who_wait,
        t58_an_average_hides_stalls,
        t62_partial_transfers,
    ],
    alone: [
        t34_swap,
        t52_another_process_on_the_cpu,
        t52_a_busy_program_beside,
    ],
}

/// Somebody else is blamed, and nobody says anything of the device.
fn does_not_blame_the_disk(heard: &Heard) {
    assert_eq!(heard.verdict().measures, MeasuredSubject::Disturbed, "{heard}");
    for finding in &heard.verdict().findings {
        let blamed = finding.weight >= FindingWeight::Doubt
            && finding.measures != Some(MeasuredSubject::Disturbed);
        assert!(!blamed, "{} blames something else\n{heard}", finding.trap.name());
    }
}

fn t31_a_second_writer(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let program = lab::need_tool("dd", "coreutils")?;
    let to = format!("of={}", card.path("noise").display());
    let words = ["if=/dev/zero", &to, "bs=1M", "count=190", "oflag=direct"];
    let noise = Beside::start(&program, &words);
    std::thread::sleep(Duration::from_millis(500));
    let disturbed = dd(card, "if=/dev/zero of={x} bs=1M count=16 oflag=direct");
    assert_ne!(disturbed.verdict().trust, Trust::Sound, "{disturbed}");
    does_not_blame_the_disk(&disturbed);
    let claim = &finding(&disturbed, "T31").text();
    assert!(claim.contains(&format!("{} wrote ", noise.named("dd"))), "{disturbed}");
    drop(noise);
    Ok(vec![Row::named("T31", "a second dd writes to the same disk, and is named", &disturbed)])
}

fn t66_both_ends_on_one_disk(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    let device = card.device().to_owned();
    let mut rows = Vec::new();
    for (source, flags, how) in [
        (card.path("source"), ["conv=fsync"].as_slice(), "dd from file to file of one disk"),
        (device.clone(), &["count=8", "conv=fsync"], "dd from the disk to a file on it"),
        (device, &["count=8", "oflag=direct", "iflag=direct"], "the same, both ends direct"),
    ] {
        let card = shelf.paced()?;
        put(card, "source", 8 * MI);
        lab::cold(&source).expect("dropped");
        let (from, to) = (format!("if={}", source.display()), card.path("copy"));
        let typed = lab::assay(["dd", "bs=1M"]).word(from).word(format!("of={}", to.display()));
        let copied = heard(hear(typed.words(flags)));
        let leaf = card.leaf_name();
        for flow in &copied.phase().flows {
            let stack = &copied.record.resolved.subjects[flow.subject].stack;
            let below = stack.iter().any(|layer| layer.leaf && layer.name == leaf);
            assert!(below, "{leaf} is not below\n{copied}");
        }
        assert_eq!(copied.phase().flows.len(), 2);
        assert_ne!(copied.verdict().trust, Trust::Wrong, "{copied}");
        let said = ["same", "one disk"].iter().any(|word| copied.ran.stderr.contains(word));
        assert!(said, "the same disk is not spoken of\n{copied}");
        rows.push(Row::named("T66", how, &copied));
    }
    Ok(rows)
}

/// Another program wants more memory than its group gives it, and has a disk of memory to swap to.
fn t34_swap(shelf: &Shelf) -> Rows {
    let swapon = lab::need_tool("swapon", "mount")?;
    let mkswap = lab::need_tool("mkswap", "util-linux")?;
    let area = RamDisk::raw(128 * MI)?;
    let swap = lab::Swap::on(&mkswap, &swapon, area.device())?;
    let card = shelf.paced()?;
    let small = lab::limit_mem(24 * MI)?;
    let hungry = lab::Hungry::start(small.rooms(), 64 * MI);
    let swapped = dd(card, "if=/dev/zero of={x} bs=1M count=24 conv=fsync");
    drop((hungry, small, swap));
    drop(area);
    assert_eq!(finding(&swapped, "T34").measures, Some(MeasuredSubject::Disturbed), "{swapped}");
    Ok(vec![Row::named("T34", "dd while another program is swapped out and in", &swapped)])
}

/// No limit is seen to change: that would be the cause, and the second rate not the device's.
fn t43_a_fast_start_that_does_not_last(_: &Shelf) -> Rows {
    let speed = Speed::bytes(32 * MI, 32 * MI);
    let card = &Card::new(Shape { speed, ..Shape::paced() })?;
    let write = || {
        let words = json!({
            "caching": "direct", "durability": "fdatasync_at_end",
            "pattern": pattern("write", "forward", kib(256)),
        });
        run(card, &blocks(card, 80 * MI, "truncated", words))
    };
    let steady = write();
    let bursts = card.bursts(64 * MI, 4 * MI, Duration::from_secs(60));
    let burst = write();
    drop(bursts);
    assert_eq!(finding(&burst, "T43").measures, Some(MeasuredSubject::Unsteady), "{burst}");
    Ok(vec![
        Row::silent("T43", "80 MiB at one pace", &steady),
        Row::named("T43", "the first 64 MiB at 32 MiB/s, then 4", &burst)
            .corrected(&burst, 4.0 * MI as f64),
    ])
}

/// One processor, which the run has to share with programs that come before it. On the machine's own disk, for the lab's cards need a
/// processor themselves.
fn t52_another_process_on_the_cpu(_: &Shelf) -> Rows {
    let (sh, taskset) = (lab::need_tool("sh", "dash")?, lab::need_tool("taskset", "util-linux")?);
    let nice = lab::need_tool("nice", "coreutils")?;
    let place = lab::folder("crowded");
    let file = place.path().join("x");
    lab::write_then_fsync(&file, 64 * MI, MI).expect("written");
    let reads = || {
        let work = json!({
            "target": { "file": { "path": file, "size": "whole", "layout": "existing" } },
            "caching": "direct", "method": "psync", "pattern": pattern("read", "uniform", 4 * KI),
        });
        let job = json!({
            "name": "job", "work": { "blocks": work }, "cpus": { "list": [0] },
            "stop": { "first_of": [{ "time": 2_000_000_000_u64 }] },
        });
        run_plan(&plan(&job), |typed| typed)
    };
    let alone = reads();
    let (sh, taskset) = (sh.display().to_string(), taskset.display().to_string());
    let words = ["-n", "-10", &taskset, "-c", "0", &sh, "-c", "while :; do :; done"];
    let loops: Vec<Beside> = (0..2).map(|_| Beside::start(&nice, &words)).collect();
    let crowded = reads();
    let claim = &finding(&crowded, "T52").text();
    if !loops.iter().any(|one| claim.contains(&one.named("sh"))) {
        busy(format!("others used more of the processors\n{crowded}"));
    }
    drop(loops);
    does_not_blame_the_disk(&crowded);
    Ok(vec![
        Row::undoubted("T52", "direct reads on a processor of their own", &alone),
        Row::named("T52", "the same with two programs on it, which are named", &crowded),
    ])
}

/// Whether a run of one phase waited for a CPU so long that it may have felt it.
fn waited(heard: &Heard) -> bool {
    let phase = &heard.record.phases[0];
    let waited = phase.evidence.ran.as_ref().and_then(|ran| ran.waited).unwrap_or_default();
    waited.as_secs() >= 0.01 * phase.span.time().as_secs()
}

/// Any program that takes one processor, wherever the kernel puts it and the run: it is named where the run
/// waited for a CPU, and nothing is said against the disk.
fn t52_a_busy_program_beside(_: &Shelf) -> Rows {
    let (sh, nice) = (lab::need_tool("sh", "dash")?, lab::need_tool("nice", "coreutils")?);
    let place = lab::folder("beside");
    let file = place.path().join("x");
    lab::write_then_fsync(&file, 64 * MI, MI).expect("written");
    // It has its processor even where others want one, too.
    let words = ["-n", "-10", &sh.display().to_string(), "-c", "while :; do :; done"];
    let noise = Beside::start(&nice, &words);
    let mut rows = Vec::new();
    for (action, caching, how) in [
        ("read", "direct", "direct reads beside a busy program, which is named"),
        ("write", "buffered", "buffered writes beside it"),
    ] {
        let flushed = json!({ "fsync_every": 256 });
        let durability = if action == "write" { flushed } else { json!("none") };
        let work = json!({
            "target": { "file": { "path": file, "size": "whole", "layout": "existing" } },
            "caching": caching, "method": "psync", "durability": durability,
            "pattern": pattern(action, "forward", 64 * KI),
        });
        let job = json!({
            "name": "job", "work": { "blocks": work },
            "stop": { "first_of": [{ "time": 1_000_000_000_u64 }] },
        });
        let (began, before) = (Instant::now(), noise.cpu());
        let beside = run_plan(&plan(&job), |typed| typed);
        let share = (noise.cpu() - before).as_secs_f64() / began.elapsed().as_secs_f64();
        let named = format!("{} used ", noise.named("sh"));
        let claims = beside.verdict().findings.iter().filter(|found| found.trap.name() == "T52");
        match claims.map(|found| found.text()).any(|claim| claim.contains(&named)) {
            true => rows.push(Row::named("T52", how, &beside)),
            // Where the run did not wait for a CPU, it took nothing from it.
            false if !waited(&beside) => {
                rows.push(Row::told("T52", how, "it did not wait for a CPU, and nobody is named"));
            }
            // With many others on the machine it was no program that takes a processor.
            false if share < 0.75 => {
                let had = format!("it had {:.0} % of a processor", share * 100.0);
                rows.push(Row::told("T52", how, had));
            }
            false => panic!("it had {share} of a processor, and is not named\n{beside}"),
        }
    }
    Ok(rows)
}

/// Reads here and there of the file `x`, past the cache.
fn reads(card: &Card, block: u64, seconds: f64) -> serde_json::Value {
    let words = json!({ "caching": "direct", "pattern": pattern("read", "uniform", block) });
    let mut job = blocks(card, 64 * MI, "existing", words);
    job["stop"] = json!({ "first_of": [{ "time": (seconds * 1e9) as u64 }] });
    job
}

fn t57_a_stall_counts_for_all_who_wait(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 64 * MI);
    let mut job = reads(card, kib(4), 5.5);
    job["rate"] = json!({ "arrivals": { "even": { "iops": 250.0 } } });
    let stalls = card.stalls(Duration::from_millis(2500), Duration::from_millis(800));
    let late = run(card, &job);
    drop(stalls);
    Ok(vec![Row::named("T57", "250 reads a second of a device that stops for 0.8 s", &late)])
}

fn t58_an_average_hides_stalls(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 64 * MI);
    let stalls = card.stalls(Duration::from_millis(2500), Duration::from_millis(1500));
    let stopped = run(card, &reads(card, kib(16), 4.5));
    drop(stalls);
    assert_eq!(finding(&stopped, "T58").measures, Some(MeasuredSubject::Unsteady), "{stopped}");
    assert_ne!(stopped.verdict().trust, Trust::Sound, "{stopped}");
    let steady = run(card, &reads(card, kib(16), 1.0));
    Ok(vec![
        Row::named("T58", "reads of a device that stops for 1.5 s", &stopped).truth(READS),
        Row::silent("T58", "reads of one that does not", &steady),
    ])
}

fn t62_partial_transfers(shelf: &Shelf) -> Rows {
    let faulty = FaultyFuse::new(Faults::default())?;
    faulty.put("x", &vec![5; 1 << 20]);
    faulty.set(Faults::from(on(Op::Read).at_most(1000)));
    let job = json!({ "name": "job", "work": { "blocks": {
        "target": { "file": {
            "path": faulty.path("x"), "size": { "exactly": MI }, "layout": "existing",
        } },
        "pattern": pattern("read", "forward", kib(64)),
    } } });
    let short = run_plan(&plan(&job), |typed| typed);
    let card = shelf.paced()?;
    let whole = dd(card, "if=/dev/zero of={x} bs=1M count=16 oflag=direct");
    let row = Row::silent("T62", "dd bs=1M oflag=direct", &whole);
    Ok(vec![
        Row::named("T62", "reads of a file system that answers with 1000 bytes", &short),
        row.figure(whole.rate(Action::Write), WRITES),
    ])
}
