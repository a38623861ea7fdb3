//! Kernels of the boards that people have, from 3.10 to 6.1: every reader of this room on each. The trees of
//! `tests/kernels` are written from the kernels' documentation, none is recorded; what this machine's own kernel says
//! is tried by all tests that measure.

use std::path::Path;

use super::fake::FakeSysRoot;
use super::{CounterReader, LeafKind, Reading};
use assay_plan::unit::Bytes;

/// The trees, oldest first.
const KERNELS: [(&str, &str); 9] = [
    ("3.10", include_str!("../../tests/kernels/3.10.txt")),
    ("3.18 android", include_str!("../../tests/kernels/3.18.txt")),
    ("4.4", include_str!("../../tests/kernels/4.4.txt")),
    ("4.9 android", include_str!("../../tests/kernels/4.9.txt")),
    ("4.14", include_str!("../../tests/kernels/4.14.txt")),
    ("4.19", include_str!("../../tests/kernels/4.19.txt")),
    ("5.4", include_str!("../../tests/kernels/5.4.txt")),
    ("5.10", include_str!("../../tests/kernels/5.10.txt")),
    ("6.1", include_str!("../../tests/kernels/6.1.txt")),
];

/// The machine of a tree: `== path` before the text of a file, `-> path target` for a link.
fn machine(tree: &str) -> FakeSysRoot {
    let machine = FakeSysRoot::new();
    machine.folder("mnt/sd").folder("sys/block");
    let mut file: Option<(&str, String)> = None;
    let keep = |file: Option<(&str, String)>| {
        if let Some((path, text)) = file {
            machine.file(path, &text);
        }
    };
    for line in tree.lines().filter(|line| !line.starts_with('#')) {
        match (line.split_once(' '), &mut file) {
            (Some(("==", path)), _) => keep(file.replace((path, String::new()))),
            (Some(("->", link)), _) => {
                keep(file.take());
                let (from, to) = link.split_once(' ').expect("two paths");
                machine.link(from, to.trim_start_matches('/'));
            }
            (_, Some((_, text))) => *text += &format!("{line}\n"),
            (_, None) => panic!("a line of no file: {line}"),
        }
    }
    keep(file);
    machine
}

/// What is seen there, in a line.
fn seen(tree: &str) -> String {
    let machine = machine(tree);
    let sys_root = machine.sys_root();
    let subject = sys_root.subject(Path::new("/mnt/sd"));
    assert!(matches!(subject.bottom, LeafKind::Devices), "{:?}", subject.bottom);
    let [card] = &subject.stack[..] else { panic!("{:?}", subject.stack) };
    let reader = CounterReader::new(&sys_root, std::slice::from_ref(&subject));
    let snapshot = reader.snapshot(&[]);
    let counters = *snapshot.devices[0].counters.seen().expect("counters");
    assert_eq!((counters.reads, counters.writes, counters.busy_ms), (41_474, 8126, 6080));
    let memory = *snapshot.memory.seen().expect("memory");
    assert_eq!((memory.dirty, memory.writeback), (Bytes::kib(132), Bytes::kib(4)));
    let limits = sys_root.limits(&subject.stack);
    let limits = limits.seen().expect("limits");
    let Reading::Seen(queue) = &card.queue else { panic!("{:?}", card.queue) };
    // Nothing of it may fail, whatever it says.
    let _ = (sys_root.machine(), sys_root.survey(Path::new("/mnt/sd")), reader.look());
    let has = |seen: bool| if seen { "seen" } else { "unseen" };
    format!(
        "discards {}, flushes {}, available {} MiB, own {}, pressure {}, memory {}, throttled disks {}, \
         cache {}, scheduler {}",
        counters.discards,
        counters.flushes.map_or("-".into(), |flushes| flushes.to_string()),
        memory.available.0 >> 20,
        has(snapshot.own.seen().is_some()),
        has(snapshot.pressure.seen().is_some()),
        limits.memory.map_or("-".into(), |limit| limit.to_string()),
        limits.io.len(),
        queue.write_cache.as_deref().unwrap_or("-"),
        queue.scheduler.as_deref().unwrap_or("-"),
    )
}

#[test]
fn each_kernel_says_what_it_can() {
    let all: Vec<String> =
        KERNELS.iter().map(|(kernel, tree)| format!("{kernel}: {}", seen(tree))).collect();
    assert_eq!(all.join("\n"), EXPECTED.trim());
}

/// What the documentation of each kernel promises: discards since 4.18, flushes since 5.5, pressure since 4.20, what the
/// drive caches since 4.7. Accounting of I/O and control groups are a choice of who built it.
const EXPECTED: &str = "
3.10: discards 0, flushes -, available 391 MiB, own seen, pressure unseen, memory 64 MiB, throttled disks 1, cache -, scheduler cfq
3.18 android: discards 0, flushes -, available 391 MiB, own unseen, pressure unseen, memory -, throttled disks 0, cache -, scheduler cfq
4.4: discards 0, flushes -, available 392 MiB, own unseen, pressure unseen, memory 64 MiB, throttled disks 1, cache -, scheduler cfq
4.9 android: discards 0, flushes -, available 392 MiB, own unseen, pressure unseen, memory -, throttled disks 0, cache write back, scheduler cfq
4.14: discards 0, flushes -, available 392 MiB, own seen, pressure unseen, memory 64 MiB, throttled disks 1, cache write back, scheduler cfq
4.19: discards 4501, flushes -, available 392 MiB, own seen, pressure unseen, memory 64 MiB, throttled disks 1, cache write back, scheduler cfq
5.4: discards 4501, flushes -, available 392 MiB, own seen, pressure seen, memory 64 MiB, throttled disks 1, cache write back, scheduler mq-deadline
5.10: discards 4501, flushes 477, available 392 MiB, own seen, pressure seen, memory 64 MiB, throttled disks 1, cache write back, scheduler mq-deadline
6.1: discards 4501, flushes 477, available 392 MiB, own seen, pressure seen, memory 64 MiB, throttled disks 1, cache write back, scheduler mq-deadline
";
