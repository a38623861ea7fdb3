//! A small machine: BusyBox and this program, a root that is only read, no `/sys`, no `/tmp`, no home, 64 MiB of
//! memory, with and without `/proc`. It is a folder of this machine in a mount namespace.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use assay_plan::unit::Nanos;
use assay_record::record::TimeHolder;

use crate::lab::{
    self, Faults, FaultyFuse, MI, Op, Skip, command_in, limit_mem, need_root, need_tool, on,
};

/// Makes the machine of the folder `$1`, with `/proc` where `$2` says so, and starts a line there.
const MACHINE: &str = r#"
set -e
root=$1 proc=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
for folder in lib lib64 usr/lib; do
    [ ! -d "/$folder" ] || mount --bind -o ro "/$folder" "$root/$folder"
done
mount --bind "$root/../card" "$root/mnt/sd"
[ "$proc" = no ] || mount -t proc none "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot "$root" /bin/busybox env -i PATH=/bin sh -c "$1"
"#;

/// What came of a line there: the status, and both streams.
fn typed(desk: &Path, proc: &str, line: &str) -> Result<(i32, String, String), Skip> {
    need_root()?;
    let (unshare, busybox) =
        (need_tool("unshare", "util-linux")?, need_tool("busybox", "busybox")?);
    let root = desk.join("root");
    if !root.exists() {
        for folder in ["bin", "lib", "lib64", "usr/lib", "proc", "dev", "mnt/sd", "../card"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        lab::copy_program(busybox, root.join("bin/busybox"));
        lab::copy_program(env!("CARGO_BIN_EXE_assay"), root.join("bin/assay"));
        symlink("busybox", root.join("bin/sh")).expect("linked");
    }
    let memory = limit_mem(64 * MI)?;
    let mut command = command_in(memory.rooms(), unshare);
    command.args(["-m", "-p", "-f", "sh", "-c", MACHINE, "sh"]).arg(&root).args([proc, line]);
    let ran = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((ran.status.code().unwrap_or(-1), text(&ran.stdout), text(&ran.stderr)))
}

#[test]
fn it_runs_where_there_is_next_to_nothing() {
    let desk = tempfile::tempdir().expect("a desk");
    let load = "assay io --rw randrw --bs 16k --size 4M --time 300ms --seed 1 /mnt/sd";
    for (proc, trust) in [("yes", &["sound", "doubtful", "unproven"][..]), ("no", &["unproven"])] {
        let (code, page, err) = lab::need!(typed(desk.path(), proc, load));
        let told = format!("/proc: {proc}\n{page}{err}");
        assert!([0, 3].contains(&code) && err.is_empty(), "{code} {told}");
        let verdict = page.lines().find_map(|line| line.trim().strip_prefix("verdict  "));
        let verdict = verdict.unwrap_or_else(|| panic!("no verdict: {told}"));
        assert!(trust.iter().any(|trust| verdict.starts_with(trust)), "{told}");
        assert!(page.is_ascii(), "{told}");

        // Nothing stays, and where nothing can be written it is said.
        let card = || fs::read_dir(desk.path().join("card")).expect("there").count();
        assert_eq!(card(), 0, "{told}");
        let (code, _, err) = lab::need!(typed(desk.path(), proc, "assay quick /"));
        assert_eq!(code, 2, "{err}");
        assert!(
            err.starts_with("assay: cannot write in /: Read-only file system (EROFS)"),
            "{err}"
        );

        let line = "assay dd if=/bin/busybox of=/mnt/sd/x bs=64k conv=fsync && \
                    busybox cmp /bin/busybox /mnt/sd/x && busybox rm /mnt/sd/x && assay probe /mnt/sd";
        let (code, page, err) = lab::need!(typed(desk.path(), proc, line));
        assert!(code == 0 && page.starts_with("  /mnt/sd"), "{code} {page}{err}");
        assert!(err.lines().next_back().is_some_and(|line| line.contains(" copied, ")), "{err}");
        assert_eq!(card(), 0, "{page}");
    }
}

/// How many of ten copies of 48 MiB to a disk live in 16 MiB of memory.
fn lived(program: &[&OsStr], words: &[&str], to: &Path) -> Result<usize, Skip> {
    let memory = limit_mem(16 * MI)?;
    let mut lived = 0;
    for _ in 0..10 {
        let mut command = command_in(memory.rooms(), program[0]);
        command.args(&program[1..]).args(words).arg(format!("of={}", to.display()));
        lived += usize::from(command.output().expect("it runs").status.success());
        fs::remove_file(to).expect("what it wrote");
    }
    Ok(lived)
}

#[test]
fn a_copy_lives_in_as_little_memory_as_dd_does() {
    let folder = lab::folder("little-memory");
    let dd = lab::need!(need_tool("dd", "coreutils"));
    let to = folder.path().join("x");
    for (bs, count) in [("bs=1M", "count=48"), ("bs=4M", "count=12")] {
        for flush in ["conv=notrunc", "conv=fdatasync"] {
            let words = ["if=/dev/zero", bs, count, flush];
            let theirs = lab::need!(lived(&[dd.as_os_str()], &words, &to));
            let assay = [OsStr::new(env!("CARGO_BIN_EXE_assay")), OsStr::new("dd")];
            let ours = lab::need!(lived(&assay, &words, &to));
            println!("{words:?}: dd {theirs}, assay dd {ours} of 10");
            assert!(ours >= theirs, "{words:?}: dd lived {theirs} times of 10, assay dd {ours}");
        }
    }
}

/// The clock of a machine without a battery: the calendar of the C library begins at 1970 when the program does. All
/// other clocks are as they are.
const UNSET_CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int ask(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    return real(id, now);
}
int clock_gettime(clockid_t id, struct timespec *now) {
    static struct timespec began;
    if (id != CLOCK_REALTIME) return ask(id, now);
    if (!began.tv_sec) ask(CLOCK_MONOTONIC, &began);
    int answer = ask(CLOCK_MONOTONIC, now);
    now->tv_sec = now->tv_sec - began.tv_sec + 7;
    return answer;
}
"#;

#[test]
fn a_clock_that_was_never_set_costs_no_figure() {
    let desk = tempfile::tempdir().expect("a desk");
    let (source, shim) = (desk.path().join("clock.c"), desk.path().join("clock.so"));
    fs::write(&source, UNSET_CLOCK).expect("written");
    let compiler = lab::need!(need_tool("cc", "gcc"));
    let mut command = std::process::Command::new(compiler);
    command.args(["-shared", "-fPIC", "-o"]).args([&shim, &source]).arg("-ldl");
    assert!(command.status().expect("it runs").success());
    let here = |words: &[&str]| {
        let typed = lab::assay(words).env("LD_PRELOAD", &shim).env("TZ", "UTC");
        typed.cwd(desk.path()).run()
    };
    fs::create_dir(desk.path().join("kept")).expect("made");
    let load = ["io", "--rw", "randrw", "--bs", "16k", "--size", "4M", "--time", "300ms"];
    let words = [&load[..], &["--record", "kept", "."]].concat();
    // Two in the same second of 1970: neither takes the other's name.
    for _ in 0..2 {
        let ran = here(&words);
        assert!([0, 3].contains(&ran.code()), "{ran}");
        assert!(ran.stdout.contains("1970-01-01 00:00 (clock not set)"), "{ran}");
    }
    let kept = fs::read_dir(desk.path().join("kept")).expect("there");
    let kept: Vec<_> = kept.map(|entry| entry.expect("an entry").path()).collect();
    let [first, second] = kept.as_slice() else { panic!("two records: {kept:?}") };
    for path in [first, second] {
        let record = assay_record::record::load(path).expect("a record");
        assert!(record.started.starts_with("1970-01-01T00:00:0"), "{}", record.started);
        // Durations are of the clock that only goes forward.
        let span = record.phases[0].span;
        assert!(span.ended().since(span.started) < Nanos::secs(60), "{span:?}");
        let ran = here(&["judge", path.to_str().expect("text")]);
        assert!(ran.stdout.contains("(clock not set)"), "{ran}");
    }
    let both = [first, second].map(|path| path.to_str().expect("text"));
    let ran = here(&["compare", both[0], both[1]]);
    assert!([0, 3].contains(&ran.code()), "{ran}");
    assert!(ran.stdout.contains("(clock not set)"), "{ran}");
}

/// A line of a shell as the user nobody, in a folder that is theirs: the status, both streams, and what it left.
fn as_nobody(line: &str) -> Result<(i32, String, usize), Skip> {
    need_root()?;
    let setpriv = need_tool("setpriv", "util-linux")?;
    // Not each sh has 'ulimit -u'.
    need_tool("bash", "bash")?;
    let desk = tempfile::tempdir().expect("a desk");
    let open = |path: &Path| {
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(path, all).expect("opened");
    };
    let folder = desk.path().join("d");
    fs::create_dir(&folder).expect("made");
    lab::copy_program(env!("CARGO_BIN_EXE_assay"), desk.path().join("assay"));
    [desk.path(), &folder].into_iter().for_each(open);
    // A user of its own: what another line of this test left running counts for its user.
    static USER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(64_000);
    let user = USER.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string();
    let mut command = std::process::Command::new(setpriv);
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "bash", "-c"]).arg(line);
    let ran = command.current_dir(desk.path()).output().expect("it runs");
    let text = [&ran.stdout[..], &ran.stderr].concat();
    let left = fs::read_dir(&folder).expect("there").count();
    Ok((ran.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned(), left))
}

#[test]
fn a_user_who_may_start_no_thread_is_told_how_many_are_needed() {
    for (tool, needed) in [
        ("io --time 1s --size 1M d", 3),
        ("fio --name=x --size=1M --directory=d --thread --numjobs=4", 6),
        ("fio --name=x --size=1M --directory=d", 3),
        ("iozone -s 1M -i 0 -f d/x", 3),
        ("dd if=/dev/zero of=d/x bs=1M count=1", 3),
    ] {
        let line = format!("ulimit -u 1; exec ./assay {tool}");
        let (code, told, left) = lab::need!(as_nobody(&line));
        let why = format!(
            "the limit of this user's processes and threads (ulimit -u) is 1, and this run needs {needed}: raise it, or \
             give fewer workers"
        );
        assert!(code == 1 && left == 0 && told.contains(&why), "{tool}: {code} {left} {told}");
        assert!(!told.contains("panicked"), "{told}");
        // Not so many threads may be had where others of the user run: it is still a sentence.
        let line = format!("ulimit -u 4; sleep 1 & sleep 1 & sleep 1 & exec ./assay {tool}");
        let (code, told, left) = lab::need!(as_nobody(&line));
        // fio keeps what it has laid out.
        let kept = left == 0 || tool.starts_with("fio");
        assert!(code == 1 && kept && told.contains("(ulimit -u) is 4"), "{tool}: {code} {told}");
        assert!(!told.contains("panicked"), "{told}");
    }
}

#[test]
fn one_file_needs_no_five_hundred_descriptors() {
    let load = "exec ./assay io --time 300ms --size 1M d";
    let (code, told, left) = lab::need!(as_nobody(&format!("ulimit -n 64; {load}")));
    assert!([0, 3].contains(&code) && left == 0 && told.contains("verdict"), "{code} {told}");
    // The soft limit is only raised.
    let (code, told, _) = lab::need!(as_nobody(&format!("ulimit -Sn 16; {load}")));
    assert!([0, 3].contains(&code) && told.contains("verdict"), "{code} {told}");
    let (code, told, left) = lab::need!(as_nobody(&format!("ulimit -n 16; {load}")));
    assert!(code == 2 && left == 0 && told.lines().count() == 1, "{code} {told}");
    assert!(told.contains(" open files are more than this process may have (16); "), "{told}");
}

#[test]
fn other_tools_words_run_without_proc() {
    let desk = tempfile::tempdir().expect("a desk");
    for (line, said) in [
        ("assay iozone -s 1M -i 0 -i 1 -f /mnt/sd/x", "iozone test complete."),
        ("assay bonnie -d /mnt/sd -s 16 -r 8 -n 1 -u root", "Latency"),
        ("assay fio --name=x --size=1M --directory=/mnt/sd --rw=write --unlink=1", "WRITE: bw="),
        (
            "assay fio --name=x --size=1M --directory=/mnt/sd --rw=read --ioengine=sync --unlink=1",
            "READ: bw=",
        ),
    ] {
        // bonnie wants to know who runs it.
        lab::need!(typed(desk.path(), "no", "true"));
        let etc = desk.path().join("root/etc");
        fs::create_dir_all(&etc).expect("made");
        fs::write(etc.join("passwd"), "root:x:0:0::/:/bin/sh\n").expect("written");
        fs::write(etc.join("group"), "root:x:0:\n").expect("written");
        let (code, page, err) = lab::need!(typed(desk.path(), "no", line));
        let told = format!("{line}: {code}\n{page}{err}");
        assert!(code == 0 && page.contains(said), "{told}");
        assert!(!err.contains("sound (") && err.contains("unproven"), "{told}");
        assert_eq!(fs::read_dir(desk.path().join("card")).expect("there").count(), 0, "{told}");
    }
}

#[test]
fn whatever_ends_a_run_it_keeps_what_it_has() {
    let desk = tempfile::tempdir().expect("a desk");
    let kill = lab::need!(need_tool("timeout", "coreutils"));
    let phases = "--name=x --size=1M --rw=randread --time_based --runtime=1 --unlink=1 --name=y --stonewall \
                  --size=1M --rw=randread --time_based --runtime=60 --unlink=1";
    for signal in ["HUP", "INT", "QUIT", "USR2", "ALRM", "TERM", "XCPU"] {
        for verb in [
            format!("fio {phases}"),
            "io --time 60s --size 1M .".into(),
            "dd if=/dev/zero of=/dev/null".into(),
            "iozone -i 0 -i 1 -s 512M -r 4k -f x".into(),
        ] {
            let mut command = std::process::Command::new(&kill);
            command
                .args(["-s", signal, "2", env!("CARGO_BIN_EXE_assay")])
                .args(verb.split_whitespace());
            let record = desk.path().join("r.json");
            command.env("ASSAY_RECORD", &record).current_dir(desk.path());
            if verb.starts_with("io ") {
                command.arg("--record").arg(&record);
            }
            let ran = command.output().expect("it runs");
            let told = format!("{signal} {verb}: {}", String::from_utf8_lossy(&ran.stderr));
            let kept = assay_record::record::load(&record)
                .unwrap_or_else(|error| panic!("{told} {error}"));
            let phases = kept.phases.iter().count();
            assert!(phases > usize::from(verb.starts_with("fio")), "{phases} {told}");
            let by = |ending: &_| matches!(ending, assay_record::record::Ending::Interrupted(_));
            assert!(by(&kept.ending) || verb.starts_with("iozone"), "{:?} {told}", kept.ending);
            fs::remove_file(&record).expect("kept");
            let left: Vec<_> = fs::read_dir(desk.path()).expect("there").collect();
            assert!(left.is_empty(), "{left:?} {told}");
        }
    }
}

#[test]
fn a_run_under_nohup_goes_on() {
    let desk = tempfile::tempdir().expect("a desk");
    let line = "trap '' HUP; \"$0\" io --time 2s --size 1M . & sleep 1; kill -HUP $!; wait $!";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_assay")]).current_dir(desk.path());
    let ran = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.code().is_some_and(|code| [0, 3].contains(&code)), "{told}");
    assert!(!told.contains("SIGHUP"), "{told}");
}

#[test]
fn a_plan_of_four_times_as_many_jobs_takes_no_sixteen_times_as_long() {
    let desk = tempfile::tempdir().expect("a desk");
    let took = |most: &str| {
        let typed = ["iozone", "-l", "1", "-u", most, "-s", "1M", "-i", "0", "-i", "1", "--plan"];
        let one = |_| {
            let began = std::time::Instant::now();
            let ran = lab::assay(typed).cwd(desk.path()).run();
            assert_eq!(ran.code(), 0, "{}", ran.stderr);
            began.elapsed()
        };
        (0..3).map(one).min().expect("three")
    };
    let (half, whole) = (took("40"), took("80"));
    assert!(whole < half * 8, "{half:?} {whole:?}");
}

#[test]
fn a_write_that_hangs_is_no_pause_on_purpose() {
    let _alone = lab::alone();
    for method in ["posixaio", "libaio", "psync"] {
        let faulty = lab::need!(FaultyFuse::new(Faults::default()));
        faulty.set(on(Op::Write).nth(3).hangs(Duration::from_secs(3)));
        let rate = ["--rw=write", "--bs=4k", "--size=64k", "--rate_iops=100"];
        let words = ["fio", "--name=x", "--unlink=1"].into_iter().chain(rate);
        let engine = format!("--ioengine={method}");
        let words: Vec<&str> = words.chain([&*engine]).collect();
        let record = tempfile::tempdir().expect("a desk");
        let record = record.path().join("r.json");
        let typed = lab::assay(&words).cwd(faulty.mount()).env("ASSAY_RECORD", &record);
        let ran = typed.run();
        let kept =
            assay_record::record::load(&record).unwrap_or_else(|error| panic!("{error} {ran}"));
        let phase = kept.phases.first().expect("a phase");
        let ledger = phase.ledger.as_ref().unwrap_or_else(|| panic!("no ledger: {ran}"));
        let time = ledger.time.as_ref().unwrap_or_else(|| panic!("no time: {ran}"));
        // 16 writes at 100 a second pause for 160 ms at the most, of 3 s.
        assert!(time.share(TimeHolder::Pause) < 0.2, "{method}: {time:?}\n{ran}");
        assert!(time.share(TimeHolder::Server) > 0.7, "{method}: {time:?}\n{ran}");
    }
}

#[test]
fn an_input_that_ends_before_its_length_is_said_to_have_been_cut() {
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    faulty.put("f", &[7; 64 << 10]);
    // It is as long as before when somebody looks again.
    faulty.set(on(Op::Read).nth(4).at_most(0));
    let desk = tempfile::tempdir().expect("a desk");
    let record = desk.path().join("r.json");
    let typed = lab::assay(["dd", "if=f", "of=/dev/null", "bs=4k"]).cwd(faulty.mount());
    let ran = typed.env("ASSAY_RECORD", &record).run();
    let kept = assay_record::record::load(&record).unwrap_or_else(|error| panic!("{error} {ran}"));
    let phase = kept.phases.first().expect("a phase");
    let [cut] = &*phase.evidence.cut else { panic!("{ran}") };
    let read = phase.copy.expect("counts").bytes_read;
    assert!(read < 64 << 10, "{ran}");
    assert_eq!((cut.written.0, cut.left.0), (64 << 10, read), "{ran}");
    assert!(!ran.stderr.contains("sound"), "{ran}");
}

/// What a shell may set before it starts a program, or have closed.
#[test]
fn whatever_is_limited_or_closed_ends_in_words_and_leaves_nothing() {
    let desk = tempfile::tempdir().expect("a desk");
    let assay = env!("CARGO_BIN_EXE_assay");
    for line in [
        "io . --rw write --size 1M --time 100ms",
        "iozone -i 0 -i 1 -s 256k -r 64k -f i",
        "fio --name=a --rw=write --bs=64k --size=1M --unlink=1 --ioengine=posixaio --iodepth=4",
        "dd if=/dev/zero of=/dev/null bs=64k count=16",
        "probe .",
    ] {
        for before in [
            "ulimit -n 8",
            "ulimit -v 200000",
            "ulimit -d 8000",
            "ulimit -l 0",
            "ulimit -s 64",
            "ulimit -f 100",
            "ulimit -c 0 && exec <&-",
            "exec >&-",
            "exec 2>&-",
            "exec <&- >&- 2>&-",
            "exec >/dev/full",
            "exec 2>/dev/full",
            "unset HOME TERM PATH LANG TMPDIR",
        ] {
            let script = format!("{before}; exec {assay} {line}");
            let mut command = std::process::Command::new("/bin/bash");
            let ran = command.args(["-c", &script]).current_dir(desk.path()).output();
            let ran = ran.expect("a shell");
            let err = String::from_utf8_lossy(&ran.stderr);
            let told = format!("{before}; assay {line}: {:?}\n{err}", ran.status);
            assert!(matches!(ran.status.code(), Some(0..=3)), "{told}");
            assert!(!err.contains("panicked"), "{told}");
            let left: Vec<_> = fs::read_dir(desk.path()).expect("there").flatten().collect();
            assert!(left.is_empty(), "{told}{left:?}");
            // Who could not say what was wrong has had nowhere to say it.
            let silent = ran.status.code() == Some(1) && err.is_empty();
            assert!(!silent || before.contains("2>"), "{told}");
        }
    }
}
