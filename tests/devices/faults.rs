//! The world says no, or the words are wrong: what is said, what is kept, and nothing left behind.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_record::record::{Ending, MeasuredSubject, Trust};
use serde_json::{Value, json};

use crate::kernel::{self, Heard, hear, hear_own, names, told};
use crate::lab::{self, Card, Faults, FaultyFuse, MI, Op, Ran, Typed, on};

/// A plan of one phase of 64 KiB blocks on one file.
fn plan(path: &Path, action: &str, size: u64, caching: &str, durability: &str) -> Value {
    let layout = if action == "read" { "existing" } else { "as_found" };
    json!({
        "title": "faults",
        "origin": { "dialect": "plan" },
        "seed": 7,
        "phases": [{
            "name": "work",
            "settle": 2_000_000_000_u64,
            "jobs": [{
                "name": "work",
                "work": { "blocks": {
                    "target": { "file": {
                        "path": path, "size": { "exactly": size }, "layout": layout,
                    } },
                    "pattern": {
                        "mix": [{ "action": action, "weight": 1 }],
                        "block": { "fixed": 65_536 },
                    },
                    "method": "psync",
                    "caching": caching,
                    "durability": durability,
                }},
                "stop": { "first_of": [{ "passes": 1 }] },
            }],
        }],
    })
}

fn typed(plan: &Value) -> (tempfile::TempDir, Typed) {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("written");
    (desk, lab::assay(["run"]).word(file))
}

/// Runs a plan that fails: exit 1, the record says why, and one message with all that is known.
fn fails(plan: &Value, doing: &str, offset: Option<u64>, errno: &str) -> Heard {
    let (_desk, typed) = typed(plan);
    let heard = hear_own(typed);
    told(errno, &heard.ran.stderr);
    assert_eq!(heard.ran.code(), 1, "{heard}");
    let Ending::Failed(fault) = &heard.record.ending else { panic!("{heard}") };
    assert_eq!((fault.doing.name(), fault.name.as_str()), (doing, errno), "{heard}");
    if let Some(offset) = offset {
        assert_eq!(fault.offset, Some(offset), "{heard}");
    }
    assert!(!fault.hint.is_empty(), "no hint\n{heard}");
    assert_ne!(heard.verdict().trust, Trust::Sound, "{heard}");
    message(&heard.ran, doing, errno);
    heard
}

/// The message on standard error: the operation, the path, the errno's name, a hint on its own line.
fn message(ran: &Ran, doing: &str, errno: &str) {
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| !line.is_empty()).collect();
    let at = lines.iter().position(|line| line.starts_with("assay: cannot "));
    let at = at.unwrap_or_else(|| panic!("no message\n{ran}"));
    assert!(lines[at].starts_with(&format!("assay: cannot {doing} /")), "{ran}");
    assert!(lines[at].ends_with(&format!("({errno})")), "{ran}");
    assert!(lines.get(at + 1).is_some_and(|hint| hint.starts_with("  ")), "no hint\n{ran}");
}

#[test]
fn errors_in_mid_run() {
    let _beside = lab::beside();
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    let there = faulty.path("there");
    faulty.put("there", &vec![5; 4 << 20]);
    let fresh = faulty.path("fresh");
    let mib = MI;

    faulty.set(Faults::from(on(Op::Write).past(mib).fails(libc::EIO)));
    let heard =
        fails(&plan(&fresh, "write", 4 * mib, "buffered", "none"), "write", Some(mib), "EIO");
    assert_eq!(heard.phase().faults.len(), 1, "{heard}");
    assert!(!fresh.exists(), "the file it made is left");

    // Somebody else fills it up meanwhile.
    let slow = Faults::from(on(Op::Io).every(1).hangs(Duration::from_millis(10)));
    faulty.set(slow.clone());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            faulty.set(Faults { full_at: Some(1), ..slow });
        });
        let four = plan(&fresh, "write", 4 * mib, "buffered", "none");
        let heard = fails(&four, "write", None, "ENOSPC");
        let Ending::Failed(fault) = &heard.record.ending else { panic!("{heard}") };
        let at = fault.offset.expect("an offset");
        assert!(at > 0 && at % 65_536 == 0 && at < 4 * mib, "{heard}");
    });
    assert!(!fresh.exists(), "the file it made is left");

    faulty.set(Faults::from(on(Op::Read).past(mib).fails(libc::EIO)));
    fails(&plan(&there, "read", 4 * mib, "buffered", "none"), "read", Some(mib), "EIO");

    faulty.set(Faults::from(on(Op::Sync).fails(libc::EIO)));
    fails(&plan(&fresh, "write", mib, "buffered", "fsync_at_end"), "fsync", None, "EIO");
    assert!(!fresh.exists(), "the file it made is left");

    // Only the flush afterwards tells: that is as bad.
    let (_desk, unflushed) = typed(&plan(&fresh, "write", mib, "buffered", "none"));
    let heard = hear_own(unflushed);
    told("only the flush tells", &heard.ran.stderr);
    heard.expect(Trust::Wrong, MeasuredSubject::Invalid);
    assert_eq!(heard.ran.code(), 1, "{heard}");
    assert!(heard.found("T17"), "{heard}");
    message(&heard.ran, "flush", "EIO");

    faulty.set(Faults { read_only: true, ..Faults::default() });
    let (_desk, refused) = typed(&plan(&fresh, "write", mib, "buffered", "none"));
    let ran = refused.run();
    told("read-only", &ran);
    assert_eq!(ran.code(), 1, "{ran}");
    message(&ran, "open", "EROFS");
    let ran = lab::assay(["quick", "--quick"]).word(faulty.mount()).run();
    told("read-only", &ran);
    assert_eq!(ran.code(), 1, "{ran}");
    assert!(ran.stderr.contains("EROFS"), "{ran}");

    // Short answers are no errors; they are counted.
    faulty.set(Faults::from(on(Op::Read).at_most(1000)).and(on(Op::Write).at_most(100)));
    for (path, action) in [(&there, "read"), (&fresh, "write")] {
        let (_desk, typed) = typed(&plan(path, action, 256 << 10, "buffered", "none"));
        let heard = hear_own(typed);
        assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
        assert!(heard.found("T62"), "{heard}");
    }
    let left: Vec<_> = names(faulty.mount()).into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [there]);
}

#[test]
fn quick_on_what_fails() {
    let _beside = lab::beside();
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    for (faults, errno) in [
        (Faults::from(on(Op::Write).past(3 * MI).fails(libc::EIO)), "EIO"),
        (Faults::from(on(Op::Sync).fails(libc::EIO)), "EIO"),
        (Faults::from(on(Op::Read).every(50).fails(libc::EIO)), "EIO"),
    ] {
        faulty.set(faults);
        let heard = hear_own(lab::assay(["quick", "--quick", "--size", "8M"]).word(faulty.mount()));
        told(errno, &heard.ran.stderr);
        assert_eq!(heard.ran.code(), 1, "{heard}");
        assert!(matches!(&heard.record.ending, Ending::Failed(fault) if fault.name == errno));
        assert!(heard.ran.stderr.contains(errno), "{heard}");
        assert_eq!(names(faulty.mount()), [], "{heard}");
    }
}

#[test]
fn dd_has_its_own_words() {
    let _alone = lab::alone();
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    faulty.put("there", &vec![5; 4 << 20]);
    let (there, fresh) = (faulty.path("there"), faulty.path("fresh"));
    let to = format!("of={}", fresh.display());
    let from = format!("if={}", there.display());
    let short = |path: &Path| path.display().to_string();
    for (faults, words, says, records) in [
        (
            Faults::from(on(Op::Write).past(MI).fails(libc::EIO)),
            vec!["if=/dev/zero", &to, "bs=64k", "count=64"],
            format!("dd: error writing '{}': Input/output error", short(&fresh)),
            "16+0 records out",
        ),
        (
            Faults { full_at: Some(5 * MI), ..Faults::default() },
            vec!["if=/dev/zero", &to, "bs=64k", "count=64"],
            format!("dd: error writing '{}': No space left on device", short(&fresh)),
            "16+0 records out",
        ),
        (
            Faults::from(on(Op::Read).past(MI).fails(libc::EIO)),
            vec![&from, "of=/dev/null", "bs=64k"],
            format!("dd: error reading '{}': Input/output error", short(&there)),
            "16+0 records in",
        ),
        (
            Faults::from(on(Op::Sync).fails(libc::EIO)),
            vec!["if=/dev/zero", &to, "bs=64k", "count=16", "conv=fsync"],
            format!("dd: fsync failed for '{}': Input/output error", short(&fresh)),
            "16+0 records out",
        ),
        (
            Faults { read_only: true, ..Faults::default() },
            vec!["if=/dev/zero", &to, "bs=64k", "count=16"],
            format!("dd: failed to open '{}': Read-only file system", short(&fresh)),
            "",
        ),
    ] {
        faulty.set(Faults::default());
        let _ = fs::remove_file(&fresh);
        faulty.set(faults);
        let desk = tempfile::tempdir().unwrap();
        let file = desk.path().join("record.json");
        let ran = lab::assay(["dd"]).words(&words).env("ASSAY_RECORD", &file).run();
        told("dd", &ran.stderr);
        assert_eq!(ran.code(), 1, "{ran}");
        assert!(ran.stderr.lines().any(|line| line == says), "'{says}'\n{ran}");
        assert!(records.is_empty() || ran.stderr.lines().any(|line| line == records), "{ran}");
        kernel::harmless(&ran);
        if !records.is_empty() {
            let record = assay_record::record::load(&file).expect("the record is kept");
            assert_eq!(record.phases.len(), 1);
            assert!(matches!(record.ending, Ending::Failed(_)), "{:?}", record.ending);
        }
    }
}

#[test]
fn a_thin_device_fails_at_the_flush() {
    let _alone = lab::alone();
    let card = lab::need!(Card::thin());
    let x = card.path("x");
    let to = format!("of={}", x.display());
    // 64 MiB are there, 512 were promised.
    let heard =
        hear(lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=100", "conv=fsync"]).word(&to));
    told("flushed", &heard);
    assert_eq!(heard.ran.code(), 1, "{heard}");
    // EIO or ENOSPC: kernels differ.
    let says = format!("dd: fsync failed for '{}': ", x.display());
    assert!(heard.ran.stderr.lines().any(|line| line.starts_with(&says)), "{heard}");
    heard.expect(Trust::Wrong, MeasuredSubject::Invalid);
    drop(card);

    let card = lab::need!(Card::thin());
    let to = format!("of={}", card.path("x").display());
    let heard = hear(lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=100"]).word(&to));
    told("not flushed", &heard);
    // dd would say that all is well; the bytes are lost all the same.
    heard.expect(Trust::Wrong, MeasuredSubject::Invalid);
    assert!(heard.found("T17"), "{heard}");
    drop(card);

    let card = lab::need!(Card::thin());
    let heard = hear_own(lab::assay(["quick", "--quick", "--size", "128M"]).word(card.mount()));
    told("quick", &heard);
    assert_eq!(heard.ran.code(), 1, "{heard}");
    let left: Vec<_> =
        names(card.mount()).into_iter().filter(|(path, _)| !path.ends_with("lost+found")).collect();
    assert_eq!(left, [], "{heard}");
}

#[test]
fn a_target_that_goes_away() {
    let _alone = lab::alone();
    let card = lab::need!(Card::sdcard());
    let x = card.path("x");
    let plan = plan(&x, "write", 12 * MI, "direct", "none");
    let (_desk, typed) = typed(&plan);
    let gone = x.clone();
    let remover = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1200));
        fs::remove_file(gone)
    });
    let heard = hear_own(typed.within(card.rooms()));
    remover.join().unwrap().expect("it was there");
    told("removed", &heard.ran.stderr);
    assert_eq!(heard.ran.code(), 1, "{heard}");
    message(&heard.ran, "find", "ENOENT");
    assert!(matches!(&heard.record.ending, Ending::Failed(fault) if fault.name == "ENOENT"));
    assert_eq!(heard.record.phases.len(), 1, "{heard}");
}

/// Each refused in one clear line, with nothing touched.
#[test]
fn bad_input_touches_nothing() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(lab::Shape { size: 32 * MI, ..lab::Shape::fast() }));
    let raw = lab::need!(Card::new(lab::Shape { speed: lab::Speed::FREE, ..lab::Shape::rawsd() }));
    let small = card.path("small");
    fs::write(&small, vec![1; 2 << 20]).unwrap();
    let before = names(card.mount());
    let place = card.mount().display().to_string();
    let small = small.display().to_string();
    let mounted = card.device().display().to_string();
    let raw_name = raw.device().display().to_string();
    let writes = || raw.leaf().writes;
    let written = writes();
    let beyond = json!({ "device": { "path": raw_name, "size": { "exactly": 1_u64 << 30 },
        "consent": { "device": raw_name } } });
    let mut device = plan(Path::new("x"), "write", MI, "direct", "none");
    device["phases"][0]["jobs"][0]["work"]["blocks"]["target"] = beyond;
    let (_desk, beyond) = typed(&device);
    let beyond = beyond.word(&raw_name);
    let missing = plan(&card.path("nowhere/x"), "write", MI, "buffered", "none");
    let (_desk, missing) = typed(&missing);
    let own = |words: &[&str]| lab::assay(["quick"]).words(words);
    for (typed, says) in [
        (own(&[&place, "--frob"]), "--frob"),
        (own(&[&place, "--size", "abc"]), "abc"),
        (own(&[&place, "--size", "0"]), "0"),
        (own(&[&format!("{place}/nowhere")]), "nowhere"),
        (own(&[&place, "--size", "1G"]), "free"),
        (own(&[&small, "--size", "1G"]), "more than"),
        (own(&[&place, "--quick", "--time", "20"]), "contradict"),
        (own(&[&place, "--read-only", "--keep"]), "contradict"),
        (own(&[&mounted, &mounted]), "mounted"),
        (own(&[&raw_name, &raw_name, "--size", "1G"]), "more than"),
        (beyond, "more than"),
        (missing, "no folder"),
    ] {
        let ran = typed.run();
        told("refused", ran.stderr.trim_end());
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{ran}");
        // A line that works may follow; tests/pages/cli.rs looks at those.
        let other = ran.stderr.lines().skip(1).filter(|line| !line.starts_with("  assay quick "));
        assert_eq!(other.count(), 0, "{ran}");
        assert!(ran.stderr.contains(says), "'{says}'\n{ran}");
        assert_eq!(names(card.mount()), before, "{ran}");
    }
    // dd refuses in its own words.
    for (words, says) in [
        ("bs=0", "dd: invalid number: '0'"),
        ("count=abc", "dd: invalid number: 'abc'"),
        ("frob=1", "dd: unrecognized operand 'frob=1'"),
        ("conv=excl,nocreat", "dd: cannot combine excl and nocreat"),
        ("oflag=frob", "dd: invalid output flag: 'frob'"),
    ] {
        let ran = lab::assay(["dd", "if=/dev/zero"])
            .word(format!("of={place}/new"))
            .word(words)
            .env("LC_ALL", "C")
            .run();
        assert_eq!(ran.code(), 2, "{ran}");
        assert_eq!(ran.stderr.lines().next(), Some(says), "{ran}");
        assert_eq!(names(card.mount()), before, "{ran}");
    }
    assert_eq!(writes(), written, "the raw device was written");
}

/// A device that something holds is not written, even without a mount.
#[test]
fn a_device_in_use_is_left_alone() {
    let _beside = lab::beside();
    let card = lab::need!(Card::rawsd());
    let held = fs::OpenOptions::new();
    let mut held = held.clone();
    use std::os::unix::fs::OpenOptionsExt as _;
    let _held =
        held.read(true).write(true).custom_flags(libc::O_EXCL).open(card.device()).expect("held");
    let before = card.leaf();
    let ran = lab::assay(["quick", "--quick"])
        .word(card.device())
        .word(card.device())
        .within(card.rooms())
        .run();
    told("held", &ran);
    assert!([1, 2].contains(&ran.code()), "{ran}");
    assert_eq!((card.leaf() - before).writes, 0, "{ran}");
}

/// io_uring forbidden for a moment to all but administrators, as other tests are; given back whatever happens.
struct Forbidden(String);

const SWITCH: &str = "/proc/sys/kernel/io_uring_disabled";

impl Forbidden {
    fn now() -> Result<Forbidden, lab::Skip> {
        lab::need_root()?;
        let before =
            fs::read_to_string(SWITCH).map_err(|e| lab::Skip::Machine(format!("{SWITCH}: {e}")))?;
        fs::write(SWITCH, "1").map_err(|e| lab::Skip::Machine(format!("{SWITCH}: {e}")))?;
        Ok(Forbidden(before))
    }
}

impl Drop for Forbidden {
    fn drop(&mut self) {
        let _ = fs::write(SWITCH, self.0.trim());
    }
}

#[test]
fn io_uring_forbidden() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    // A busy machine wakes who waits for the card too late, and only ever takes from a rate: of
    // each phase the best of some turns is told.
    let (mut with, mut without) = (vec![0.0; 6], vec![0.0; 6]);
    for left in (0..3).rev() {
        let with_ring = quick_of(&card, &mut with);
        let forbidden = {
            let _forbidden = lab::need!(Forbidden::now());
            quick_of(&card, &mut without)
        };
        told("forbidden", &forbidden);
        let said = forbidden.ran.stdout.matches("io_uring cannot be used").count();
        assert_eq!(said, 1, "{forbidden}");
        assert_eq!(forbidden.record.resolved.notes.len(), 1, "{forbidden}");
        for job in &forbidden.record.resolved.jobs {
            let deep = job.iodepth > 1;
            assert!(!deep || job.method == assay_plan::plan::Method::Pool, "{job:?}");
        }
        told("with and without", format_args!("{with:.0?} {without:.0?}"));
        let phases = with_ring.record.phases.iter().zip(with.iter().zip(&without));
        // At depth 1 it also counts how soon a busy machine wakes a waiter.
        let deep = phases.filter(|(phase, _)| !phase.name.ends_with("-q1"));
        let off = deep.map(|(_, (with, without))| (without / with - 1.0).abs());
        let alike = off.fold(0.0, f64::max) < 0.10;
        let trusts = (with_ring.verdict().trust, forbidden.verdict().trust);
        if left == 0 || alike && trusts.0 == trusts.1 {
            assert!(alike, "{with:.0?} {without:.0?}");
            assert_eq!(trusts.0, trusts.1, "{forbidden}");
            break;
        }
    }
}

/// Runs quick, and takes the rates of its phases into `best` where they are better.
fn quick_of(card: &Card, best: &mut [f64]) -> Heard {
    let typed = lab::assay(["quick", "--time", "8"]).word(card.mount());
    let heard = hear_own(typed.without_admin().expect("root has a card"));
    assert_eq!(heard.record.phases.len(), best.len(), "{heard}");
    for (phase, best) in heard.record.phases.iter().zip(best) {
        let rates = phase.totals.values().filter_map(|total| Some(total.bandwidth?.0));
        *best = rates.sum::<f64>().max(*best);
    }
    heard
}

/// A plan of one phase that makes a tree by one worker.
fn tree(dir: &Path, files: u64, size: Value, durability: &str) -> Value {
    json!({
        "title": "faults", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "work", "jobs": [{ "name": "work", "work": { "tree": {
            "dir": dir, "action": "create", "files": files, "size": size,
            "durability": durability,
        }}}]}],
    })
}

#[test]
fn a_large_file_of_a_tree_does_not_make_a_signal_wait() {
    use rustix::process::{Pid, Signal, kill_process};
    let card = lab::need!(Card::sdcard());
    let desk = tempfile::tempdir().expect("a desk");
    // At the card's 4 MiB/s the file takes 15 seconds.
    let large = json!({ "files": { "least": 60 * MI, "most": 60 * MI } });
    let (file, record) = (desk.path().join("plan"), desk.path().join("record"));
    let plan = tree(card.mount(), 1, large, "open_sync");
    fs::write(&file, plan.to_string()).expect("written");
    let mut command = card.command(env!("CARGO_BIN_EXE_assay"));
    command.arg("run").arg(&file).arg("--record").arg(&record);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    while !names(card.mount()).iter().any(|(_, len)| *len >= 2 * MI) {
        std::thread::sleep(Duration::from_millis(20));
        assert!(child.try_wait().expect("a child").is_none(), "it has ended");
    }
    let asked = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).expect("alive");
    assert_eq!(child.wait().expect("a child").code(), Some(130));
    assert!(asked.elapsed().as_secs() < 8, "it went on for {:?}", asked.elapsed());
    // What was moved of the file is told; a file that is not whole is no operation.
    let record = assay_record::record::load(&record).expect("a record");
    let phase = &record.phases[0];
    let moved = phase.flows[0].bytes.0;
    assert!((2 * MI..50 * MI).contains(&moved), "{moved}");
    assert!(!phase.totals.contains_key(&Action::Create) && phase.faults.is_empty());
}

#[test]
fn more_links_than_a_file_may_have_are_a_fault_with_its_name() {
    let card = lab::need!(Card::fast());
    let before = names(card.mount());
    // ext4 has 65000 for one file.
    let plan = tree(card.mount(), 65_001, json!("hard_links"), "none");
    let heard = fails(&plan, "create", None, "EMLINK");
    assert!(heard.ran.stderr.contains("give fewer files for each worker"), "{heard}");
    assert_eq!(names(card.mount()), before);
}
