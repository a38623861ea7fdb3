//! What this machine does not let a program call: it is found out before anything is measured, said
//! in one line with the reason, and the nearest thing that works is used. A seccomp filter stands
//! for kernels that lack a call (ENOSYS) and for sandboxes that forbid it (EPERM).

use std::fs;
use std::path::{Path, PathBuf};

use assay_engine::engine::{DataFiller, KnownGenerations};
use assay_plan::plan::{Fill, Method, RingOptions};
use assay_plan::unit::Bytes;
use assay_record::evidence::Reading;
use assay_record::record::{Ending, Trust};
use serde_json::{Value, json};

use crate::kernel;
use crate::lab::{self, Card, Ran, Seccomp, Shape, Skip, Speed};
use crate::runs::traced;

const SEED: u64 = 7;
/// `cachestat`, which has the same number everywhere.
const CACHESTAT: libc::c_long = 451;

/// What the two errors are called, and who is named as behind them.
const ANSWERS: [(i32, &str); 2] = [
    (
        libc::ENOSYS,
        "Function not implemented (ENOSYS), the kernel lacks it, or a seccomp filter hides it",
    ),
    (libc::EPERM, "Operation not permitted (EPERM), a seccomp filter forbids it"),
];

/// A plan of one phase with one job on a file of 1 MiB; `changes` are fields of the work.
fn plan(path: &Path, action: &str, method: &Value, changes: &[(&str, Value)]) -> Value {
    let mut blocks = json!({
        "target": { "file": {
            "path": path, "size": { "exactly": 1 << 20 }, "lifetime": "keep", "layout": "written",
        } },
        "pattern": { "mix": [{ "action": action, "weight": 1 }], "block": { "fixed": 4096 } },
        "method": method,
    });
    for (name, value) in changes {
        blocks[*name] = value.clone();
    }
    json!({
        "title": "t", "origin": { "dialect": "plan" }, "seed": SEED,
        "phases": [{ "name": "p", "jobs": [{ "name": "j", "work": { "blocks": blocks } }] }],
    })
}

/// Runs a plan on a kernel that lacks calls.
fn run(plan: &Value, calls: &Seccomp) -> kernel::Heard {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("written");
    kernel::hear_own(lab::run_plan(&file).lacking(calls))
}

/// The same, of which no record is expected.
fn refused(plan: &Value, calls: &Seccomp) -> Ran {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("written");
    lab::run_plan(&file).lacking(calls).run()
}

/// Whether every byte of a file is what a plan with the seed writes there.
fn is_written(path: &Path) -> bool {
    let bytes = fs::read(path).expect("readable");
    let filler = DataFiller::new(&Fill::Random, SEED).expect("a filler");
    bytes.len() == 1 << 20 && filler.check(&bytes, 0, KnownGenerations::Layers(&[])).is_ok()
}

/// The page on which the user reads it, its lines joined.
fn page(heard: &kernel::Heard) -> String {
    heard.ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_method_that_may_not_be_called_has_its_nearest_in_its_place() {
    use libc::{
        SYS_io_getevents as getevents, SYS_io_setup as setup, SYS_io_submit as submit,
        SYS_io_uring_enter as enter, SYS_io_uring_register as register,
        SYS_io_uring_setup as uring, SYS_preadv2 as preadv2, SYS_pwritev2 as pwritev2,
    };
    let aio = "libaio cannot be used here: REASON; io_uring stands in";
    let aio_pool = "libaio cannot be used here: REASON; \
                    8 threads with pread and pwrite stand in for its depth of 8";
    let ring = "io_uring cannot be used here: REASON; \
                8 threads with pread and pwrite stand in for its depth of 8";
    let vectored = "preadv2 and pwritev2 cannot be used here: REASON; psync stands in";
    let has_ring = assay_engine::sys::ring::available().is_ok();
    for (method, calls, said, instead) in [
        (json!("libaio"), &[setup][..], aio, "io_uring"),
        (json!("libaio"), &[submit], aio, "io_uring"),
        (json!("libaio"), &[getevents], aio, "io_uring"),
        (json!("libaio"), &[setup, uring], aio_pool, "pool"),
        (json!("io_uring"), &[uring], ring, "pool"),
        (json!("io_uring"), &[enter], ring, "pool"),
        (json!("io_uring"), &[register], ring, "pool"),
        (json!("io_uring"), &[uring, enter, register], ring, "pool"),
        (json!("vectored"), &[preadv2], vectored, "psync"),
        (json!("vectored"), &[pwritev2], vectored, "psync"),
        (json!({ "vectored": { "nowait": true } }), &[preadv2, pwritev2], vectored, "psync"),
    ] {
        if instead == "io_uring" && !has_ring {
            eprintln!("SKIP libaio on a kernel without {calls:?}: io_uring is missing here too");
            continue;
        }
        for (errno, reason) in ANSWERS {
            let lacking = lab::need!(Seccomp::answering(calls, errno));
            for action in ["write", "read"] {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("x");
                let depth = if instead == "psync" { 1 } else { 8 };
                let changes = [("iodepth", json!(depth))];
                let heard = run(&plan(&path, action, &method, &changes), &lacking);
                let told = format!("{method} {action} without {calls:?}\n{heard}");
                assert_eq!(heard.record.ending, Ending::Complete, "{told}");
                assert_eq!(heard.record.phases[0].faults, [], "{told}");
                let said = said.replace("REASON", reason);
                assert_eq!(heard.record.resolved.notes, [said.as_str()], "{told}");
                assert!(page(&heard).contains(&said), "{told}");
                assert_eq!(heard.record.resolved.jobs[0].method.name(), instead, "{told}");
                let totals = heard.phase().totals.values().map(|total| total.bytes);
                assert_eq!(totals.max(), Some(Bytes::mib(1)), "{told}");
                assert!(is_written(&path), "{told}");
            }
        }
    }
}

#[test]
fn a_promise_is_refused_and_not_broken() {
    for (errno, reason) in ANSWERS {
        let lacking = lab::need!(Seccomp::answering(&[libc::SYS_pwritev2], errno));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let method = json!({ "vectored": { "dsync": true } });
        let ran = refused(&plan(&path, "write", &method, &[]), &lacking).expect(2);
        let said = format!(
            "assay: phase 'p', job 'j': preadv2 and pwritev2 cannot be used here: {reason}; \
             use psync with a durability\n"
        );
        assert_eq!((ran.stderr.as_str(), ran.stdout.as_str()), (said.as_str(), ""), "{ran}");
        assert!(!path.exists());
    }
}

#[test]
fn methods_that_need_none_of_these_calls_say_nothing() {
    let calls = [
        libc::SYS_io_setup,
        libc::SYS_io_uring_setup,
        libc::SYS_preadv2,
        libc::SYS_pwritev2,
        libc::SYS_copy_file_range,
        libc::SYS_splice,
    ];
    let lacking = lab::need!(Seccomp::answering(&calls, libc::EPERM));
    for method in ["psync", "sync", "mmap", "posixaio", "pool"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let heard = run(&plan(&path, "write", &json!(method), &[]), &lacking);
        assert_eq!(heard.record.resolved.jobs[0].method.name(), method, "{heard}");
        let notes = &heard.record.resolved.notes;
        assert!(!notes.iter().any(|note| note.contains("cannot")), "{notes:?}");
        assert!(is_written(&path), "{heard}");
    }
}

#[test]
fn a_copy_goes_on_by_read_and_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    fs::write(&from, &bytes).expect("written");
    for (name, calls, denied) in [
        ("copy_file_range", json!("copy_file_range"), libc::SYS_copy_file_range),
        ("splice", json!({ "splice": {} }), libc::SYS_splice),
        ("splice", json!({ "splice": {} }), libc::SYS_pipe2),
    ] {
        for (errno, reason) in [
            (libc::ENOSYS, "Function not implemented (ENOSYS)"),
            (libc::EPERM, "Operation not permitted (EPERM)"),
        ] {
            let lacking = lab::need!(Seccomp::answering(&[denied], errno));
            let plan = json!({
                "title": "t", "origin": { "dialect": "plan" }, "seed": SEED,
                "phases": [{ "name": "p", "jobs": [{ "name": "j", "work": { "copy": {
                    "from": { "path": from }, "to": { "path": to }, "calls": calls,
                    "input_block": 4096, "output_block": 4096, "block_for_block": true,
                }}}]}],
            });
            let heard = run(&plan, &lacking);
            let said = format!(
                "{name} cannot move bytes from {} to {}: {reason}; read and write do",
                from.display(),
                to.display()
            );
            assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
            assert_eq!(heard.record.resolved.notes, [said.as_str()], "{heard}");
            assert!(page(&heard).contains(&said), "{heard}");
            assert!(fs::read(&to).expect("there") == bytes, "{heard}");
        }
    }
}

#[test]
fn what_stands_below_is_found_without_statx() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let work = plan(&path, "write", &json!("psync"), &[("durability", json!("fdatasync_at_end"))]);
    let free = run(&work, &lab::need!(Seccomp::answering(&[], 0)));
    for (errno, _) in ANSWERS {
        let heard = run(&work, &lab::need!(Seccomp::answering(&[libc::SYS_statx], errno)));
        let devices = |heard: &kernel::Heard| {
            let stack = heard.record.resolved.subjects[0].stack.iter();
            stack.map(|layer| layer.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(devices(&heard), devices(&free), "{heard}");
        assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    }
}

#[test]
fn a_cache_that_can_not_be_seen_is_looked_at_otherwise_or_nothing_is_proven() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    // Long enough to be believed, if it could be.
    let time = json!([{ "time": 1_500_000_000_u64 }]);
    let mut reads = plan(&path, "read", &json!("psync"), &[]);
    reads["phases"][0]["jobs"][0]["stop"]["first_of"] = time;
    let seen = |heard: &kernel::Heard| match &heard.phase().evidence.before.cache[0].pages {
        Reading::Seen(pages) => Some(pages.dirty.is_some()),
        Reading::Unseen(_) => None,
    };
    let both = [CACHESTAT, libc::SYS_mincore];
    for (errno, _) in ANSWERS {
        // mincore tells what is resident, but not what is dirty.
        let heard = run(&reads, &lab::need!(Seccomp::answering(&both[..1], errno)));
        assert_eq!(seen(&heard), Some(false), "{heard}");
        let heard = run(&reads, &lab::need!(Seccomp::answering(&both, errno)));
        assert_eq!(seen(&heard), None, "{heard}");
        assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
        assert_ne!(heard.verdict().trust, Trust::Sound, "{heard}");
    }
}

#[test]
fn what_is_left_in_memory_is_flushed_without_sync_file_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let mut work = plan(&path, "write", &json!("psync"), &[]);
    work["phases"][0]["settle"] = json!(20_000_000_000_u64);
    for (errno, _) in ANSWERS {
        let lacking = lab::need!(Seccomp::answering(&[libc::SYS_sync_file_range], errno));
        let heard = run(&work, &lacking);
        let settle = heard.phase().evidence.settle.as_ref().expect("it was flushed");
        assert!(settle.complete && settle.fault.is_none(), "{heard}");
    }
}

#[test]
fn nothing_that_is_forbidden_makes_it_hang_or_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let mut work = plan(&path, "write", &json!("psync"), &[]);
    work["phases"][0]["settle"] = json!(1_000_000_000_u64);
    work["phases"][0]["cold"] = json!("target");
    for (name, call, fatal) in [
        ("fadvise64", libc::SYS_fadvise64, false),
        ("fallocate", libc::SYS_fallocate, false),
        ("flock", libc::SYS_flock, false),
        ("getrusage", libc::SYS_getrusage, false),
        ("ioctl", libc::SYS_ioctl, false),
        ("madvise", libc::SYS_madvise, false),
        ("prlimit64", libc::SYS_prlimit64, false),
        ("sched_getaffinity", libc::SYS_sched_getaffinity, false),
        ("syncfs", libc::SYS_syncfs, false),
        ("eventfd2", libc::SYS_eventfd2, true),
        ("signalfd4", libc::SYS_signalfd4, true),
        ("ppoll", libc::SYS_ppoll, true),
    ] {
        for (errno, _) in ANSWERS {
            let lacking = lab::need!(Seccomp::answering(&[call], errno));
            if fatal {
                // Without signals and bells there is no run; that is a fault of one or two lines.
                let ran = refused(&work, &lacking).expect(1);
                let said = ran.stderr.starts_with("assay: cannot prepare for signals: ");
                assert!(said && ran.stderr.lines().count() <= 2, "{name}\n{ran}");
            } else {
                let heard = run(&work, &lacking);
                assert_eq!(heard.record.ending, Ending::Complete, "{name}\n{heard}");
                assert!(is_written(&path), "{name}\n{heard}");
            }
        }
    }
}

#[test]
fn a_path_of_which_nothing_can_be_found_out_proves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let mut reads = plan(&path, "read", &json!("psync"), &[("caching", json!("direct"))]);
    reads["phases"][0]["jobs"][0]["stop"]["first_of"] = json!([{ "time": 1_500_000_000_u64 }]);
    let links = [libc::SYS_readlink, libc::SYS_readlinkat];
    for (errno, _) in ANSWERS {
        let heard = run(&reads, &lab::need!(Seccomp::answering(&links, errno)));
        assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
        assert_eq!(heard.verdict().trust, Trust::Unproven, "{heard}");
        assert!(heard.found("T00"), "{heard}");
    }
}

/// Writes that are atomic, 1 MiB of them, of this many bytes each.
fn atomic(path: &Path, block: u64) -> Value {
    let method = json!({ "vectored": { "atomic": true } });
    let mut work = plan(path, "write", &method, &[("caching", json!("direct"))]);
    let blocks = &mut work["phases"][0]["jobs"][0]["work"]["blocks"];
    blocks["pattern"]["block"]["fixed"] = json!(block);
    work
}

#[test]
fn atomic_writes_are_made_where_the_file_system_has_them() {
    let reflink = &["-m", "reflink=1"];
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, mkfs: reflink, ..Shape::xfs() }));
    let path = card.path("x");
    fs::write(&path, [0; 4096]).expect("written");
    let file = fs::File::open(&path).expect("a file");
    let told = assay_engine::sys::block::stat_open(std::os::fd::AsFd::as_fd(&file)).expect("statx");
    // XFS writes them anew and swaps the extents (6.16); before, the device had to know of them.
    let Some((least, most)) = told.atomic.filter(|(least, most)| *least > 0 && *most >= 16384)
    else {
        let reason = format!(
            "XFS on a loop device has no atomic writes of 16 KiB on this kernel (6.16 has them in \
             software): statx says {:?}",
            told.atomic
        );
        return lab::skipped(
            "atomic_writes_are_made_where_the_file_system_has_them",
            &Skip::Machine(reason),
        );
    };
    let none = lab::need!(Seccomp::answering(&[], 0));
    let heard = run(&atomic(&path, 16384), &none);
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    assert_eq!(heard.record.resolved.notes, Vec::<String>::new(), "{heard}");
    let Method::Vectored(flags) = heard.record.resolved.jobs[0].method else { panic!("{heard}") };
    assert!(flags.atomic, "{heard}");
    assert_eq!(heard.phase().totals[&assay_plan::plan::Action::Write].ops.0, 64, "{heard}");
    assert!(is_written(&path), "{heard}");
    // The flag is there with every one of these writes.
    match lab::need_tool("strace", "strace") {
        Ok(_) => assert_eq!(flagged(&atomic(&path, 16384)), 64),
        Err(skip) => lab::skipped("the flags of atomic writes", &skip),
    }

    let ran = refused(&atomic(&path, 12288), &none).expect(2);
    let said = format!(
        "assay: phase 'p', job 'j': {} writes blocks of {least} to {most} bytes atomically, powers \
         of two; give such a block size\n",
        path.display()
    );
    assert_eq!(ran.stderr, said, "{ran}");
}

/// How many writes of a run carry RWF_ATOMIC, by strace.
fn flagged(plan: &Value) -> usize {
    let text = traced(&plan.to_string(), &["-e", "trace=pwritev2"]).expect("a trace");
    let whole = |line: &&str| line.contains("16384") && line.trim_end().ends_with("= 16384");
    // By its name, or by its number where strace is older than the flag.
    let atomic = |line: &&str| line.contains("RWF_ATOMIC") || line.contains("0x40");
    text.lines().filter(whole).filter(atomic).count()
}

#[test]
fn atomic_writes_are_refused_where_there_are_none() {
    let card = lab::need!(Card::fast());
    let path = card.path("x");
    let ran = refused(&atomic(&path, 4096), &lab::need!(Seccomp::answering(&[], 0))).expect(2);
    let said = format!(
        "assay: phase 'p', job 'j': {} has no atomic writes: statx tells no sizes for them; leave \
         'atomic' out, or use a device and file system that have them\n",
        path.display()
    );
    assert_eq!(ran.stderr, said, "{ran}");
    assert!(!path.exists());
}

/// Block devices, and whether completions can be polled from them.
fn devices() -> Vec<(String, bool)> {
    let mut all: Vec<(String, bool)> = fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            let polls = fs::read_to_string(entry.path().join("queue/io_poll"));
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, polls.is_ok_and(|text| text.trim() == "1"))
        })
        .collect();
    all.sort();
    all
}

/// A hundred reads of a device, their completions polled.
fn polled(device: &Path) -> Value {
    json!({
        "title": "t", "origin": { "dialect": "plan" }, "seed": SEED,
        "phases": [{ "name": "p", "jobs": [{ "name": "j", "work": { "blocks": {
            "target": { "device": { "path": device, "size": { "exactly": 1 << 20 } } },
            "pattern": {
                "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 4096 },
                "order": "uniform",
            },
            "method": { "io_uring": { "polled": true } }, "caching": "direct",
        }}, "stop": { "first_of": [{ "ops": 100 }] } }] }],
    })
}

/// What a run of that has used, after its hundred reads.
fn used(heard: &kernel::Heard) -> Method {
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    assert_eq!(heard.phase().totals[&assay_plan::plan::Action::Read].ops.0, 100, "{heard}");
    heard.record.resolved.jobs[0].method
}

#[test]
fn completions_are_polled_where_a_device_has_queues_for_it() {
    let test = "completions_are_polled_where_a_device_has_queues_for_it";
    if let Err(error) = assay_engine::sys::ring::available() {
        return lab::skipped(test, &Skip::Machine(format!("io_uring: {error}")));
    }
    let none = lab::need!(Seccomp::answering(&[], 0));
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, ..Shape::rawsd() }));
    let heard = run(&polled(card.device()), &none);
    assert_eq!(used(&heard), Method::IoUring(RingOptions::default()), "{heard}");
    let said = format!(
        "completions cannot be polled from {}: Operation not supported (EOPNOTSUPP); interrupts \
         tell of them",
        card.device().display()
    );
    assert_eq!(heard.record.resolved.notes, [said], "{heard}");

    let all = devices();
    let Some((name, _)) = all.iter().find(|(_, polls)| *polls) else {
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let reason = format!(
            "that it works: no block device here has poll queues (queue/io_poll is 0 for {}); \
             null_blk, or NVMe or virtio_blk with the parameter poll_queues, would",
            names.join(" ")
        );
        return lab::skipped(test, &Skip::Machine(reason));
    };
    // Only read: it is not ours.
    let heard = run(&polled(&PathBuf::from("/dev").join(name)), &none);
    let expected = Method::IoUring(RingOptions { polled: true, ..RingOptions::default() });
    assert_eq!(used(&heard), expected, "{heard}");
}
