//! `assay on`: this machine is the board, by a local sshd, and by a stand-in for adb that does what its documented
//! commands do.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_record::record::{Ending, load};

use crate::lab::{self, Ran, Skip, Typed, need_tool};

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// An sshd for one test, and the folder in which the board puts what comes there.
struct SshBoard {
    desk: tempfile::TempDir,
    sshd: Child,
}

impl SshBoard {
    fn new() -> Result<Self, Skip> {
        let sshd = need_tool("sshd", "openssh-server")?;
        let keygen = need_tool("ssh-keygen", "openssh-client")?;
        let desk = tempfile::tempdir().expect("a desk");
        let at = |name: &str| desk.path().join(name).display().to_string();
        for name in ["host", "key"] {
            let mut command = Command::new(&keygen);
            command.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(name)]);
            assert!(command.status().expect("it runs").success());
        }
        fs::create_dir(at("board")).expect("made");
        // It wants this folder where it is started by root, and makes it by its service only.
        let _ = fs::create_dir("/run/sshd");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.expect("a port").port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPidFile none\nPermitRootLogin yes\n\
             SetEnv TMPDIR={}\n",
            at("host"),
            at("key.pub"),
            at("board")
        );
        fs::write(at("sshd_config"), config).expect("written");
        let user = format!(
            "Host board\nHostName 127.0.0.1\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\n\
             UserKnownHostsFile /dev/null\nStrictHostKeyChecking no\nLogLevel ERROR\n",
            at("key")
        );
        fs::write(at("config"), user).expect("written");
        let log = fs::File::create(at("log")).expect("a log");
        let mut command = Command::new(sshd);
        command.args(["-D", "-e", "-f", &at("sshd_config")]).stdin(Stdio::null());
        let mut board = Self { sshd: command.stderr(log).spawn().expect("it starts"), desk };
        until("sshd listens", || {
            assert!(board.sshd.try_wait().expect("asked").is_none(), "{}", board.log());
            board.log().contains("listening")
        });
        Ok(board)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.desk.path().join("log")).unwrap_or_default()
    }

    /// What is typed there.
    fn on(&self, words: &[&str]) -> Typed {
        let config = self.desk.path().join("config");
        lab::assay(["on", "-F"]).word(config).word("board").words(words).cwd(self.desk.path())
    }

    /// Where the board puts what comes.
    fn board(&self) -> PathBuf {
        self.desk.path().join("board")
    }

    /// A load of many seconds there, of which something has been done.
    fn long_load(&self) -> Child {
        let here = self.desk.path().to_str().expect("text");
        let words = "io --rw randread --bs 4k --size 1M --time 300s";
        self.run_there(&words.split(' ').chain([here]).collect::<Vec<_>>())
    }

    /// Words that run there, once they have begun.
    fn run_there(&self, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(self.desk.path()).args(["on", "-F", "config", "--record", "r.json"]);
        command.arg("board").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        until("it runs there", || {
            let below = fs::read_dir(self.board()).expect("there").flatten();
            below.map(|it| it.path().join("record")).any(|it| it.is_dir() && !names(&it).is_empty())
        });
        std::thread::sleep(Duration::from_millis(300));
        child
    }

    /// Ends the connection: kills what sshd has started for it.
    fn lose_link(&self) {
        let id = self.sshd.id();
        let below = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("children");
        for child in below.split_whitespace() {
            let id = rustix::process::Pid::from_raw(child.parse().expect("a number")).expect("one");
            rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it lives");
        }
    }

    /// Whether a program of the board still runs.
    fn is_busy(&self) -> bool {
        let all = fs::read_dir("/proc").expect("there").flatten();
        let programs = all.filter_map(|it| fs::read_link(it.path().join("exe")).ok());
        programs.into_iter().any(|program| program.starts_with(self.board()))
    }
}

impl Drop for SshBoard {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

#[test]
fn a_line_on_a_board_is_what_it_is_here() {
    let board = lab::need!(SshBoard::new());
    // No shell makes anything of a word.
    let folder = board.desk.path().join("it's $(touch hit) `x`; \"!\" \\ *");
    fs::create_dir(&folder).expect("made");
    let place = folder.to_str().expect("text");
    let words = ["io", "--rw", "randwrite", "--bs", "4k", "--size", "1M", "--time", "200ms"];
    let words = [&words[..], &["--record", "r.json", "--report=r.md", place]].concat();
    let ran = board.on(&words).run();
    assert!([0, 3].contains(&ran.code()), "{ran}");
    let first = ran.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("assay io --rw randwrite --bs 4k"), "{ran}");
    assert!(!first.contains("--record"), "{ran}");
    let record = load(&board.desk.path().join("r.json")).expect("a record");
    assert_eq!((record.phases.len(), &record.ending), (1, &Ending::Complete));
    let report = fs::read_to_string(board.desk.path().join("r.md")).expect("a report");
    assert!(report.contains("randwrite"), "{report}");
    assert_eq!((names(&board.board()), names(&folder)), (vec![], vec![]));
    assert!(!board.desk.path().join("hit").exists());

    // Through standard input and output byte by byte; a plan and jobs of the desk go along.
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n.wrapping_mul(n) >> 9) as u8).collect();
    let copy = board.desk.path().join("copy");
    let to = format!("of={}", copy.display());
    let ran = board.on(&["dd", &to, "bs=1000", "status=none"]).stdin(&bytes).run().expect(0);
    assert_eq!(ran.stdout, "");
    assert!(fs::read(&copy).expect("there") == bytes);
    let jobs = format!("[job]\nfilename={}\nrw=read\nbs=50k\n", copy.display());
    fs::write(board.desk.path().join("my jobs.fio"), jobs).expect("written");
    let ran = board.on(&["fio", "my jobs.fio"]).run().expect(0);
    assert!(ran.stdout.contains("job: (groupid=0"), "{ran}");
    let plan = lab::assay(["io", "--rw", "read", "--size", "1M", "--time", "100ms", "--plan", "."]);
    fs::write(board.desk.path().join("plan.json"), plan.run().expect(0).stdout).expect("written");
    let ran = board.on(&["run", "plan.json", "--plan"]).run().expect(0);
    assert!(ran.stdout.starts_with('{'), "{ran}");
    // What is refused there ends as it does here.
    let ran = board.on(&["quick", "/nowhere"]).run().expect(2);
    let here = lab::assay(["quick", "/nowhere"]).run().expect(2);
    assert_eq!((ran.stdout, ran.stderr), (here.stdout, here.stderr));
    assert_eq!(names(&board.board()), Vec::<String>::new());
}

#[test]
fn the_verdict_on_what_runs_there_goes_into_a_file_here_once_for_each_result() {
    let board = lab::need!(SshBoard::new());
    let folder = board.desk.path().join("there");
    fs::create_dir(&folder).expect("made");
    let at = |name: &str| folder.join(name).display().to_string();
    let job = |name: &str| {
        ["--name", name, "--stonewall", "--rw=write", "--size=1m", "--bs=64k"].map(String::from)
    };
    let of = format!("of={}", at("copy"));
    let jobs = [&job("one")[..], &[format!("--filename={}", at("f"))]].concat();
    let jobs = [&jobs[..], &job("two"), &[format!("--filename={}", at("g"))]].concat();
    let folder_typed = folder.display().to_string();
    let load = ["io", "--rw", "randread", "--bs", "4k", "--size", "1M", "--time", "200ms"];
    let fio: Vec<&str> = ["fio"].into_iter().chain(jobs.iter().map(String::as_str)).collect();
    let mut wanted = 0;
    for (words, results, begins) in [
        (vec!["dd", "if=/dev/zero", &of, "bs=64k", "count=16"], 1, "assay: dd if=/dev/zero "),
        (fio, 2, "assay: fio --name one "),
        // A verb of ours has its verdict on its page.
        ([&load[..], &[&folder_typed]].concat(), 0, ""),
    ] {
        let ran = board.on(&words).env("ASSAY_VERDICT", "v").run();
        assert!([0, 3].contains(&ran.code()), "{ran}");
        let text = fs::read_to_string(board.desk.path().join("v")).expect("verdicts");
        let lines: Vec<&str> = text.lines().collect();
        let new = &lines[wanted..];
        wanted += results;
        assert_eq!(lines.len(), wanted, "{text}");
        assert!(new.iter().all(|line| line.starts_with(begins)), "{text}");
        assert!(!ran.stderr.contains("assay:"), "{ran}");
        assert!(names(&folder).iter().all(|name| name != "v"), "{ran}");
        assert_eq!(names(&board.board()), Vec::<String>::new());
    }
}

#[test]
fn ctrl_c_brings_home_what_there_is_and_leaves_nothing() {
    let board = lab::need!(SshBoard::new());
    let mut child = board.long_load();
    kernel_signal(&child, libc::SIGINT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let record = load(&board.desk.path().join("r.json")).expect("a record");
    assert_eq!((record.phases.len(), record.ending), (1, Ending::Interrupted(libc::SIGINT)));
    assert_eq!((names(&board.board()), board.is_busy()), (vec![], false));
}

fn kernel_signal(child: &Child, number: i32) {
    let signal = rustix::process::Signal::from_named_raw(number).expect("a signal");
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, signal).expect("it lives");
}

#[test]
fn a_board_that_loses_its_desk_cleans_up_by_itself() {
    let board = lab::need!(SshBoard::new());
    let child = board.long_load();
    board.lose_link();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "assay: cannot reach board: the link was lost\n  what runs there ends, and is removed, \
                    within a minute; its record is lost with it\n";
    assert!(said.ends_with(expected), "{said}");
    until("nothing is left", || names(&board.board()).is_empty() && !board.is_busy());

    // What was done stays, if the link holds until it is told.
    let planned = |time: &str| {
        let words = ["io", "--rw", "randread", "--bs", "4k", "--size", "1M", "--time", time];
        let ran = lab::assay(words).word("--plan").word(board.desk.path()).run().expect(0);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).expect("a plan")
    };
    let mut plan = planned("100ms");
    let mut last = planned("300s")["phases"][0].clone();
    last["name"] = "last".into();
    plan["phases"].as_array_mut().expect("phases").push(last);
    fs::write(board.desk.path().join("plan.json"), plan.to_string()).expect("written");
    let child = board.run_there(&["run", "plan.json"]);
    std::thread::sleep(Duration::from_secs(14));
    board.lose_link();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.ends_with("r.json holds its record as far as it has come\n"), "{said}");
    let record = load(&board.desk.path().join("r.json")).expect("a record");
    assert_eq!((record.phases.len(), record.ending), (1, Ending::Unfinished), "{said}");
    until("nothing is left", || names(&board.board()).is_empty() && !board.is_busy());

    // The same when the desk is killed.
    let mut child = board.long_load();
    child.kill().expect("it lives");
    child.wait().expect("it ends");
    until("nothing is left", || names(&board.board()).is_empty() && !board.is_busy());
}

/// A device behind the documented commands of adb: `adb [-s SERIAL] push LOCAL REMOTE` and `adb [-s SERIAL] shell
/// COMMAND...`, which hands one line to the shell there.
const ADB: &str = r#"#!/bin/sh
serial=
if [ "$1" = -s ]; then serial=$2; shift 2; fi
if [ -n "$serial" ] && [ "$serial" != 0123ABC ]; then
    echo "adb: device '$serial' not found" >&2; exit 1
fi
verb=$1; shift
echo "$verb" >>"$DESK/calls"
export TMPDIR="$DESK/device"
case $verb in
push) cp "$1" "$2" && echo "$1: 1 file pushed, 0 skipped. 9.9 MB/s ($(wc -c <"$1") bytes in 0.01s)" ;;
shell) SHELL_OF_DEVICE ;;
*) echo "adb: unknown command $verb" >&2; exit 1 ;;
esac
"#;

/// As it is since Android 7: standard error and the exit status come, too.
const NEW_SHELL: &str = "exec sh -c \"$*\"";
/// Before: a terminal between ends lines with both signs and has one stream, the status is that of adb, and there is
/// no uname.
const OLD_SHELL: &str = "PATH=\"$DESK/bin:$PATH\" sh -c \"$*\" 2>&1 | sed -u 's/$/\\r/'; exit 0";

#[test]
fn an_android_device_is_a_board_too() {
    let desk = tempfile::tempdir().expect("a desk");
    let (bin, device) = (desk.path().join("bin"), desk.path().join("device"));
    [&bin, &device].iter().for_each(|folder| fs::create_dir(folder).expect("made"));
    let program = |name: &str, text: &str| {
        fs::write(bin.join(name), text).expect("written");
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("set");
    };
    let abi = std::env::consts::ARCH;
    program("getprop", &format!("#!/bin/sh\n[ \"$1\" = ro.product.cpu.abi ] && echo {abi}\n"));
    program("uname", "#!/bin/sh\nexit 127\n");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let type_words = |words: &[&str]| -> Ran {
        let typed = lab::assay(["on"]).words(words).env("PATH", &path).env("DESK", desk.path());
        typed.cwd(desk.path()).run()
    };
    let folder = device.to_str().expect("text").to_string();
    for shell in [NEW_SHELL, OLD_SHELL] {
        program("adb", &ADB.replace("SHELL_OF_DEVICE", shell));
        let load = ["io", "--rw", "randread", "--bs", "4k", "--size", "1M", "--time", "200ms"];
        let words = [&["--record", "r.json", "adb:0123ABC"], &load[..], &[&folder]].concat();
        let ran = type_words(&words);
        assert!([0, 3].contains(&ran.code()), "{ran}");
        assert!(
            ran.stdout.starts_with("assay io --rw randread") && !ran.stdout.contains('\r'),
            "{ran}"
        );
        let record = load_and_remove(&desk.path().join("r.json"));
        assert_eq!(record, Ending::Complete);
        assert_eq!(names(&device), Vec::<String>::new());
        let calls = fs::read_to_string(desk.path().join("calls")).expect("calls");
        assert_eq!(calls.lines().collect::<Vec<_>>(), ["shell", "shell", "push", "shell"]);
        fs::remove_file(desk.path().join("calls")).expect("removed");
        // Without a serial number, and with the exit status of what ran.
        let ran = type_words(&["adb", "quick", "/nowhere"]).expect(2);
        assert!(ran.stderr.starts_with("assay: there is nothing at '/nowhere'"), "{ran}");
        fs::remove_file(desk.path().join("calls")).expect("removed");
    }
    let ran = type_words(&["--record", "r.json", "adb:gone", "quick", "."]).expect(1);
    let said = "adb: device 'gone' not found\nassay: cannot reach Android device gone: \
                adb ended with exit status: 1 and no answer\n";
    assert_eq!(ran.stderr, said);
    assert!(!desk.path().join("r.json").exists());
}

fn load_and_remove(path: &Path) -> Ending {
    let ending = load(path).expect("a record").ending;
    fs::remove_file(path).expect("removed");
    ending
}

#[test]
fn what_is_wrong_is_said_before_anything_is_reached() {
    // No program that reaches a board is found there.
    let desk = tempfile::tempdir().expect("a desk");
    let type_words = |line: &str| {
        let typed = lab::assay(line.split(' ')).env("PATH", desk.path()).cwd(desk.path());
        typed.run()
    };
    for (line, said) in [
        ("on pi@board", "assay: COMMAND is missing; see 'assay on --help'\n"),
        ("on pi@board quik .", "assay: unknown command 'quik'; did you mean 'quick'?\n"),
        (
            "on pi@board on other quick .",
            "assay: a board cannot be reached through another one by 'on'; name the host between with -J, \
             as ssh does\n",
        ),
        (
            "on -p 22 adb quick .",
            "assay: -p is for ssh, and 'adb' is reached by adb; leave it out, or write ssh://adb for a \
             host of that name\n",
        ),
        (
            "on pi@board quick . --report x.pdf",
            "assay: the ending of x.pdf is that of no report; let its name end with .txt, .json, .html, \
             .svg, .csv or .md\n",
        ),
        (
            "on --record r.json pi@board probe .",
            "assay: 'probe' makes no record; leave --record out\n",
        ),
        (
            "on-board /home",
            "assay: '/home' was not made by 'assay on'; type 'assay on BOARD COMMAND' on another machine\n",
        ),
    ] {
        let ran = type_words(line).expect(2);
        // A line that works may follow.
        assert!(ran.stderr.starts_with(said), "{line}\n{ran}");
        assert_eq!(names(desk.path()), Vec::<String>::new(), "{line}");
    }
    let ran = type_words("on pi@board quick .").expect(1);
    let said =
        "assay: cannot start ssh: No such file or directory (ENOENT)\n  install OpenSSH's client\n";
    assert_eq!(ran.stderr, said);
}
