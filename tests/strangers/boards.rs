//! Boards that never stop, never begin, break off or say nonsense: a stand-in for ssh that does so.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder with an `ssh` that is this script.
fn with_ssh(script: &str) -> tempfile::TempDir {
    let desk = tempfile::tempdir().expect("a desk");
    let path = desk.path().join("ssh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    desk
}

/// `assay on board probe /`, with that ssh, in a session of its own: nobody has a terminal there.
fn on_board(desk: &Path) -> Command {
    let path = format!("{}:{}", desk.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("setsid");
    command.args(["-w", env!("CARGO_BIN_EXE_assay"), "on", "board", "probe", "/"]);
    command.env("PATH", path).env("TMPDIR", desk).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a board answers up to its own part: that it has a processor, and a folder.
const ANSWERS: &str = r#"
case "$*" in
*"-O exit"*) exit 0 ;;
*uname*) echo "assay-on: x86_64"; exit 0 ;;
*"wc -c"*) cat >/dev/null; name=$(echo "$*" | grep -o 'assay-on-[0-9a-f]*' | head -n 1)
    echo "assay-on: /tmp/$name"; exit 0 ;;
*"rm -rf"*) exit 0 ;;
esac
"#;

fn hello() -> String {
    format!("echo 'assay-on:{{\"hello\":{{\"version\":\"{}\"}}}}'", env!("CARGO_PKG_VERSION"))
}

#[test]
fn what_a_board_does_is_answered_in_a_line() {
    for (script, said) in [
        ("yes".to_string(), "it answers without end"),
        ("cat /dev/zero".into(), "it answers without end"),
        ("cat /dev/zero >&2".into(), "it answers without end"),
        ("head -c 100000 /dev/urandom".into(), "ssh ended with exit status: 0 and no answer"),
        ("exit 3".into(), "ssh ended with exit status: 3 and no answer"),
        (format!("{ANSWERS} yes"), "it says without end what is no news"),
        (format!("{ANSWERS} cat /dev/zero >&2"), "it says without end what is no news"),
        (format!("{ANSWERS} {}; printf 'assay-on:{{\"out'", hello()), "the link was lost"),
        (format!("{ANSWERS} printf 'assay-on:{{\"hel'"), "the program does not run there"),
    ] {
        let desk = with_ssh(&script);
        let output = on_board(desk.path()).output().expect("it runs");
        let all = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{script}");
        assert!(
            all.contains(&format!("assay: cannot reach board: {said}\n")),
            "{script}: {all:.300}"
        );
        let acts = |c: char| assay_plan::name::is_hidden(c) && c != '\n' && c != '\t';
        assert_eq!(all.chars().find(|c| acts(*c)), None, "{script}");
    }
}

/// The processes that have this folder in their environment or line.
fn left(desk: &Path) -> Vec<String> {
    let mark = desk.to_str().expect("text");
    let all = fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| {
        let line = fs::read(entry.path().join("environ")).ok()?;
        let comm = fs::read_to_string(entry.path().join("comm")).ok()?;
        String::from_utf8_lossy(&line).contains(mark).then_some(comm)
    })
    .collect()
}

#[test]
fn a_signal_ends_it_at_any_moment_with_all_that_it_started() {
    for script in [
        "sleep 1000".to_string(),
        "yes".into(),
        "cat".into(),
        format!("{ANSWERS} sleep 1000"),
        format!("{ANSWERS} {}; sleep 1000", hello()),
        format!("{ANSWERS} {}; yes 'assay-on:{{\"output\":\"eAo=\"}}'", hello()),
    ] {
        for (signal, status) in [("INT", 130), ("TERM", 143)] {
            let desk = with_ssh(&script);
            let mut child = on_board(desk.path()).stdout(Stdio::null()).spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(700));
            let most = memory(desk.path());
            let since = Instant::now();
            kill(desk.path(), signal);
            let ended = child.wait().expect("it ends");
            let ended = ended.code().or_else(|| ended.signal().map(|number| 128 + number));
            // A board that answers without end may be found out first; a signal that comes after all has been taken
            // down kills, as any.
            assert!([Some(status), Some(1)].contains(&ended), "{script}: {signal}: {ended:?}");
            assert!(since.elapsed() < Duration::from_secs(30), "{script}: {signal}");
            assert!(most < 200 << 20, "{script}: {most}");
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(left(desk.path()), Vec::<String>::new(), "{script}: {signal}");
        }
    }
}

/// Processes of the program whose temporary folder is this one.
fn own(desk: &Path) -> Vec<String> {
    let mark = format!("TMPDIR={}", desk.display());
    let all = fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| {
        let comm = fs::read_to_string(entry.path().join("comm")).ok()?;
        let variables = fs::read(entry.path().join("environ")).ok()?;
        let ours = comm.trim() == "assay" && String::from_utf8_lossy(&variables).contains(&mark);
        ours.then(|| entry.file_name().to_string_lossy().into_owned())
    })
    .collect()
}

fn kill(desk: &Path, signal: &str) {
    for id in own(desk) {
        let _ = Command::new("kill").args(["-s", signal, &id]).status();
    }
}

/// Bytes that the program holds.
fn memory(desk: &Path) -> u64 {
    let of = |id: &String| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:").map(String::from));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    own(desk).iter().map(of).sum::<u64>() * 1024
}
