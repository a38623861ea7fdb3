//! What a user types, and what came of it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::group::{Room, command_in};
use super::seccomp::Seccomp;
use super::skip::broken;

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

/// The assay that was just built, with these words after it. Mix `&str` and paths: `&[&"quick", &path]`.
pub fn assay<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Typed {
    Typed {
        words: words.into_iter().map(|word| word.as_ref().to_owned()).collect(),
        env: Vec::new(),
        cwd: None,
        stdin: None,
        rooms: Vec::new(),
        lacking: None,
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

    /// When a run that does not end is killed and the test fails (two minutes unless told).
    pub fn patience(mut self, patience: Duration) -> Typed {
        self.patience = patience;
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Ran {
        let mut command = command_in(&self.rooms, env!("CARGO_BIN_EXE_assay"));
        command.args(&self.words).envs(self.env.iter().map(|(name, value)| (name, value)));
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
