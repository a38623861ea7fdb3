//! What a user types, and what came of it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Skip;
use super::den::{Folder, copy_program};
use super::group::{Room, command_in};
use super::seccomp::Seccomp;
use super::skip::{broken, need_root, need_tool};

/// assay with words, about to be run.
#[must_use = "nothing has run yet: .run()"]
#[derive(Debug, Clone)]
pub struct Typed {
    words: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
    rooms: Vec<Room>,
    lacking: Option<Seccomp>,
    /// Programs that start assay, with their words; and which assay.
    through: Vec<OsString>,
    program: PathBuf,
    stopped: Option<(Duration, Duration)>,
    patience: Duration,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Ran {
    pub words: Vec<OsString>,
    pub stdout: String,
    pub stderr: String,
    pub status: ExitStatus,
    pub wall: Duration,
}

/// A plan from a file, which may write over all that is there where it writes: the words behind it name that.
pub fn run_plan(file: &Path) -> Typed {
    let text = std::fs::read_to_string(file).expect("a plan");
    let mut named = Vec::new();
    // A device that holds something is named twice. What is no plan is refused for that.
    for _ in 0..2 {
        let Ok(mut plan) = serde_json::from_str::<assay_plan::plan::Plan>(&text) else { break };
        let Ok(losses) = assay_run::allow(&mut plan, &named) else { break };
        named.extend(losses.into_iter().filter(|loss| loss.refused).map(|loss| loss.path));
    }
    named.iter().fold(assay(["run"]).word(file), |typed, path| typed.word(path))
}

/// The assay that was just built, with these words after it. Mix `&str` and paths: `&[&"quick", &path]`.
pub fn assay<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Typed {
    Typed {
        words: words.into_iter().map(|word| word.as_ref().to_owned()).collect(),
        env: Vec::new(),
        cwd: None,
        stdin: None,
        rooms: Vec::new(),
        lacking: None,
        through: Vec::new(),
        program: super::program(),
        stopped: None,
        patience: Duration::from_secs(120),
    }
}

impl Typed {
    /// One more word.
    pub fn word(mut self, word: impl AsRef<OsStr>) -> Typed {
        self.words.push(word.as_ref().to_owned());
        self
    }

    /// More words.
    pub fn words<W: AsRef<OsStr>>(mut self, words: &[W]) -> Typed {
        self.words.extend(words.iter().map(|word| word.as_ref().to_owned()));
        self
    }

    /// A variable in its environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Typed {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// The same where the test has not set it.
    pub fn env_unless_set(self, name: &str, value: &str) -> Typed {
        if self.env.iter().any(|(set, _)| set == name) { self } else { self.env(name, value) }
    }

    /// The folder it is typed in.
    pub fn cwd(mut self, dir: impl AsRef<Path>) -> Typed {
        self.cwd = Some(dir.as_ref().to_owned());
        self
    }

    /// What it is given on standard input (otherwise nothing at all).
    pub fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Typed {
        self.stdin = Some(bytes.as_ref().to_owned());
        self
    }

    /// Within a card's or a group's rooms.
    pub fn within(mut self, rooms: &[Room]) -> Typed {
        self.rooms.extend_from_slice(rooms);
        self
    }

    /// On a kernel that lacks calls.
    pub fn lacking(mut self, calls: &Seccomp) -> Typed {
        self.lacking = Some(calls.clone());
        self
    }

    /// In a container that has nothing in these folders. Before [`Typed::by_nobody`].
    pub fn hiding(mut self, folders: &[&str]) -> Result<Typed, Skip> {
        need_root()?;
        let unshare = need_tool("unshare", "util-linux")?;
        let mounts = folders.iter().map(|folder| format!("mount -t tmpfs none {folder} && "));
        let script = format!("{}exec \"$@\"", mounts.collect::<String>());
        self.through.push(unshare.into());
        self.through.extend(["-m", "sh", "-c", &script, "sh"].map(OsString::from));
        Ok(self)
    }

    /// By a user without rights, who has this folder for himself and types there.
    pub fn by_nobody(mut self, place: &Folder) -> Result<Typed, Skip> {
        need_root()?;
        let setpriv = need_tool("setpriv", "util-linux")?;
        self.through.push(setpriv.into());
        let who = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
        self.through.extend(who.map(OsString::from));
        // A copy, for the folders above the one where it was built may be closed to others.
        self.program = place.path().join("assay");
        let mine = place.make("mine");
        copy_program(super::program(), &self.program);
        std::os::unix::fs::chown(&mine, Some(65_534), Some(65_534))
            .unwrap_or_else(|e| broken("give a folder away", e));
        Ok(self.cwd(mine))
    }

    /// By root, to whom the kernel forbids what it forbids to everybody but administrators.
    pub fn without_admin(mut self) -> Result<Typed, Skip> {
        need_root()?;
        self.through.push(need_tool("setpriv", "util-linux")?.into());
        let less = ["--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"];
        self.through.extend(less.map(OsString::from));
        Ok(self)
    }

    /// When a run that does not end is killed and the test fails (two minutes unless told).
    pub fn patience(mut self, patience: Duration) -> Typed {
        self.patience = patience;
        self
    }

    /// Is stopped so long after its start, for so long.
    pub fn stopped(mut self, after: Duration, long: Duration) -> Typed {
        self.stopped = Some((after, long));
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Ran {
        let mut all = self.through.clone();
        all.push(self.program.clone().into());
        let mut command = command_in(&self.rooms, &all[0]);
        command
            .args(&all[1..])
            .args(&self.words)
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        if let Some(calls) = &self.lacking {
            calls.over(&mut command);
        }
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn().unwrap_or_else(|e| broken("start assay", e));
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.stdin.clone()) {
            // A program that does not read its input closes the pipe, which is its right.
            thread::spawn(move || pipe.write_all(&bytes));
        }
        if let Some((after, long)) = self.stopped {
            stop_and_go_on(&child, after, long);
        }
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let mut late = false;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if !late && start.elapsed() > self.patience => {
                    late = true;
                    let _ = child.kill();
                }
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Err(error) => broken("wait for assay", error),
            }
        };
        let wall = start.elapsed();
        let text = |drained: thread::JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&drained.join().unwrap_or_default()).into_owned()
        };
        let ran =
            Ran { words: self.words, stdout: text(stdout), stderr: text(stderr), status, wall };
        assert!(!late, "no end after {:?}, killed:\n{ran}", self.patience);
        ran
    }
}

/// Stops a program so long after now, and lets it go on after so long.
fn stop_and_go_on(child: &std::process::Child, after: Duration, long: Duration) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        for (time, signal) in [(after, Signal::STOP), (long, Signal::CONT)] {
            thread::sleep(time);
            // It may have ended.
            let _ = kill_process(pid, signal);
        }
    });
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

impl Ran {
    /// The exit code; a shell's 128 + n for a signal.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Fails the test, with all that was said, unless it exited with this code.
    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code(), code, "exit code\n{self}");
        self
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$ assay")?;
        for word in &self.words {
            write!(f, " {}", word.to_string_lossy())?;
        }
        writeln!(f, "    # {}, {:.3} s", self.status, self.wall.as_secs_f64())?;
        writeln!(f, "--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}
