//! A small machine: BusyBox and this program, a root that is only read, no `/sys`, no `/tmp`, no home, 64 MiB of
//! memory, with and without `/proc`. It is a folder of this machine in a mount namespace.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use assay::unit::Nanos;

use crate::lab::{self, MI, Skip, command_in, limit_mem, need_root, need_tool};

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
        let record = assay::record::load(path).expect("a record");
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
