//! Copies by read and write, by `copy_file_range` and by `splice`: the same bytes, the same counts, and
//! what is said where the kernel will not.

use std::fs;
use std::path::Path;

use assay_plan::stats::copy::CopyCounts;
use assay_record::evidence::Reading;
use assay_record::record::{Ending, MeasuredSubject, Trust};
use serde_json::{Value, json};

use crate::kernel;
use crate::lab::{self, Card, MI, Shape, Skip, skipped};
use crate::runs::traced;

/// The calls, and how long a pipe they go through.
fn loop_config() -> [(&'static str, Value); 4] {
    [
        ("read and write", json!("read_write")),
        ("copy_file_range", json!("copy_file_range")),
        ("splice", json!({ "splice": {} })),
        ("splice, 1 MiB", json!({ "splice": { "pipe": 1 << 20 } })),
    ]
}

/// A plan of one copy; `changes` are fields of it.
fn plan(from: &Path, to: &Path, block: u64, calls: &Value, changes: &[(&str, Value)]) -> Value {
    let mut copy = json!({
        "from": { "path": from }, "to": { "path": to },
        "input_block": block, "output_block": block, "block_for_block": true, "calls": calls,
    });
    for (field, value) in changes {
        copy[field] = value.clone();
    }
    json!({
        "title": "a copy", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "copy", "jobs": [{ "name": "copy", "work": { "copy": copy } }] }],
    })
}

fn run(plan: &Value) -> kernel::Heard {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("written");
    kernel::hear_own(lab::run_plan(&file))
}

/// Bytes that do not repeat.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}

#[test]
fn every_way_copies_the_same_and_counts_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let bytes = noise(1_000_000);
    fs::write(&from, &bytes).expect("written");
    // Blocks below, at and above the size of a pipe, and each with an end of its own: that of the
    // file, that of the count, and a part of a block.
    let ends = [
        json!({}),
        json!({ "count": { "blocks": 3 } }),
        json!({ "count": { "blocks": 2, "bytes": 777 }, "skip": { "blocks": 1 } }),
    ];
    for block in [4096_usize, 65536, 200_000] {
        for end in &ends {
            let changes: Vec<(&str, Value)> = end
                .as_object()
                .expect("fields")
                .iter()
                .map(|(field, value)| (field.as_str(), value.clone()))
                .collect();
            let skip = if changes.iter().any(|(field, _)| *field == "skip") { block } else { 0 };
            let len = match changes.len() {
                0 => bytes.len(),
                1 => 3 * block,
                _ => 2 * block + 777,
            };
            let expected = &bytes[skip..(skip + len).min(bytes.len())];
            let full = (expected.len() / block) as u64;
            let part = u64::from(!expected.len().is_multiple_of(block));
            for (name, calls) in loop_config() {
                let heard = run(&plan(&from, &to, block as u64, &calls, &changes));
                assert_eq!(heard.record.ending, Ending::Complete, "{name}\n{heard}");
                assert_eq!(heard.record.resolved.notes, Vec::<String>::new(), "{name}\n{heard}");
                assert!(fs::read(&to).expect("there") == expected, "{name} {block} {end}");
                let counts = CopyCounts {
                    reads_full: full,
                    reads_partial: part,
                    writes_full: full,
                    writes_partial: part,
                    truncated: 0,
                    bytes_read: expected.len() as u64,
                    bytes_written: expected.len() as u64,
                };
                assert_eq!(heard.phase().copy, Some(counts), "{name} {block} {end}");
                let moved: Vec<u64> = heard.phase().flows.iter().map(|flow| flow.bytes.0).collect();
                assert_eq!(moved, [expected.len() as u64; 2], "{name} {block} {end}");
            }
        }
    }
}

#[test]
fn lengths_in_bytes_may_be_many_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let bytes = noise(40_000);
    fs::write(&from, &bytes).expect("written");
    let changes = [("count", json!({ "bytes": 13_065 })), ("skip", json!({ "bytes": 8193 }))];
    for (name, calls) in loop_config() {
        let heard = run(&plan(&from, &to, 4096, &calls, &changes));
        assert_eq!(heard.record.ending, Ending::Complete, "{name}\n{heard}");
        assert!(fs::read(&to).expect("there") == bytes[8193..8193 + 13_065], "{name}\n{heard}");
    }
}

#[test]
fn the_calls_are_those_of_the_plan() {
    if let Err(skip) = lab::need_tool("strace", "strace") {
        return skipped("the_calls_are_those_of_the_plan", &skip);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::write(&from, noise(40 * 4096)).expect("written");
    for (name, calls, expected) in [
        ("copy_file_range", json!("copy_file_range"), ["copy_file_range(", "splice("]),
        ("splice", json!({ "splice": {} }), ["splice(", "copy_file_range("]),
    ] {
        let plan = plan(&from, &to, 4096, &calls, &[]).to_string();
        let text = traced(&plan, &["-e", "trace=copy_file_range,splice"]).expect("a trace");
        let calls = |call: &str| text.matches(call).count();
        // In and out for splice, and one more that finds the end.
        let times = if name == "splice" { 81 } else { 41 };
        assert_eq!((calls(expected[0]), calls(expected[1])), (times, 0), "{name}\n{text}");
    }
}

#[test]
fn what_only_read_and_write_can_do_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::write(&from, b"abcdefgh").expect("written");
    let cases = [
        (json!({ "output_block": 3 }), "the blocks of both sides differ", "abcdefgh"),
        (json!({ "block_for_block": false }), "reads are gathered into full blocks", "abcdefgh"),
        (json!({ "records": { "case": "upper" } }), "bytes are changed on the way", "ABCDEFGH"),
        (json!({ "sparse": true }), "blocks of zeros are passed over", "abcdefgh"),
        (json!({ "keep_going": true }), "it goes on after errors of reading", "abcdefgh"),
    ];
    for (change, why, expected) in cases {
        let (field, value) = change.as_object().expect("a field").iter().next().expect("one");
        for (name, calls) in
            [("copy_file_range", json!("copy_file_range")), ("splice", json!({ "splice": {} }))]
        {
            let heard = run(&plan(&from, &to, 4, &calls, &[(field, value.clone())]));
            let said = format!("{name} cannot make this copy: {why}; read and write do");
            assert_eq!(heard.record.resolved.notes, [said], "{heard}");
            assert_eq!(fs::read_to_string(&to).expect("there"), expected, "{heard}");
        }
    }
}

#[test]
fn what_the_kernel_refuses_is_said_and_copied_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::write(&from, noise(10_000)).expect("written");
    let range = json!("copy_file_range");
    let four = [("count", json!({ "blocks": 4 }))];

    // A character device is no file.
    let heard = run(&plan(Path::new("/dev/zero"), &to, 1024, &range, &four));
    let said = format!(
        "copy_file_range cannot move bytes from /dev/zero to {}: Invalid argument (EINVAL); read and write do",
        to.display()
    );
    assert_eq!(heard.record.resolved.notes, [said.as_str()], "{heard}");
    let page = heard.ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&said), "{heard}");
    assert_eq!(fs::read(&to).expect("there"), [0; 4096]);

    // A file whose size the kernel does not know: the call says that there is nothing.
    let cpuinfo = Path::new("/proc/self/status");
    let heard = run(&plan(cpuinfo, &to, 256, &range, &four));
    assert_eq!(heard.phase().copy.expect("counts").bytes_written, 1024, "{heard}");
    assert_eq!(heard.record.resolved.notes.len(), 1, "{heard}");

    // From another file system.
    if lab::need_root().is_ok() {
        let shm = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
        let there = shm.path().join("to");
        let heard = run(&plan(&from, &there, 1024, &range, &[]));
        assert!(fs::read(&there).expect("there") == noise(10_000), "{heard}");
        let notes = &heard.record.resolved.notes;
        assert!(notes.iter().all(|note| note.contains("EXDEV")), "{notes:?}");
    }

    // A pipe that nobody has the memory for.
    let huge = json!({ "splice": { "pipe": 1_u64 << 31 } });
    let heard = run(&plan(&from, &to, 1024, &huge, &[]));
    assert!(fs::read(&to).expect("there") == noise(10_000), "{heard}");
    let none = plan(&from, &to, 1024, &json!({ "splice": { "pipe": 0 } }), &[]);
    let file = folder.path().join("plan.json");
    fs::write(&file, none.to_string()).expect("written");
    let refused = lab::run_plan(&file).run().expect(2);
    assert!(
        refused.stderr.contains("a pipe of 0 B for splice; give 1 byte to 2 GiB"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_full_disk_is_the_same_failure_every_way() {
    const TEST: &str = "a_full_disk_is_the_same_failure_every_way";
    let card = match Card::new(Shape::fast()) {
        Ok(card) => card,
        Err(skip) => return skipped(TEST, &skip),
    };
    let (from, to) = (card.path("from"), card.path("to"));
    fs::write(&from, noise(2 * MI as usize)).expect("written");
    card.fill_all_but(MI);
    for (name, calls) in loop_config() {
        let _ = fs::remove_file(&to);
        let heard = run(&plan(&from, &to, 65536, &calls, &[]));
        let faults = &heard.phase().faults;
        assert_eq!(faults.len(), 1, "{name}\n{heard}");
        assert_eq!((faults[0].doing.name(), faults[0].errno), ("write", libc::ENOSPC), "{name}");
        let counts = heard.phase().copy.expect("counts");
        let size = fs::metadata(&to).expect("there").len();
        assert_eq!(counts.bytes_written, size, "{name}\n{heard}");
        assert_eq!(heard.record.resolved.notes, Vec::<String>::new(), "{name}\n{heard}");
    }
}

/// A file system that shares blocks makes no copy that says anything of its disk.
fn shared(test: &str, card: Result<Card, Skip>) {
    let card = match card {
        Ok(card) => card,
        Err(skip) => return skipped(test, &skip),
    };
    let to = card.path("to");
    for dirty in [false, true] {
        let from = kernel::put(&card, "from", 16 * MI);
        if dirty {
            // What is in memory only must be written before blocks can be shared: the counters see that.
            card.freely(|| fs::write(&from, noise(16 * MI as usize)));
        }
        for flush in [false, true] {
            let _ = fs::remove_file(&to);
            let flush = json!({ "fsync": flush });
            let heard = run(&plan(&from, &to, MI, &json!("copy_file_range"), &[("flush", flush)]));
            heard.expect(Trust::Wrong, MeasuredSubject::Layer);
            assert!(heard.found("T65"), "{heard}");
            let summary = &heard.verdict().summary();
            assert_eq!(
                summary,
                "This is not the speed of a disk: 100 % of the copy shares its blocks with the source (reflink by copy_file_range), so that part was neither read nor written.",
                "{heard}"
            );
            let copied = heard.phase().evidence.copied.clone();
            assert!(
                matches!(copied.as_deref(), Some(Reading::Seen(laid)) if laid.shared.0 == 16 * MI),
                "{heard}"
            );
            assert!(fs::read(&from).expect("there") == fs::read(&to).expect("there"), "{heard}");
        }
    }
}

#[test]
fn blocks_shared_on_btrfs() {
    shared(
        "blocks_shared_on_btrfs",
        Card::new(Shape { speed: Shape::fast().speed, ..Shape::btrfs() }),
    );
}

#[test]
fn blocks_shared_on_xfs() {
    shared("blocks_shared_on_xfs", Card::new(Shape { speed: Shape::fast().speed, ..Shape::xfs() }));
}
