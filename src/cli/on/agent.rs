//! The part of `assay on` that runs on the board: starts what is wanted, hands on what it says, and removes
//! everything when it is over, when the desk says so, or when nothing is heard of the desk any more.

use std::fs;
use std::io::{self, IsTerminal as _, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::frame::{BoardCommand, BoardFrame, BoardWord, CHUNK, FrameBytes, PULSE, SILENCE};
use super::link::{FOLDER, lines, thread};
use assay_engine::output::{self, OutputMode, remove_tree};
use assay_engine::sys::clock;
use assay_engine::sys::event_loop::{Event, EventLoop, EventWaker};
use assay_engine::sys::signal::TERMINATING;
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::{self, NameText as _};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::record::JournalTail;

/// How long what runs has for its own cleaning up before it is killed.
const GRACE: Nanos = Nanos::secs(15);

/// What happens here.
enum BoardEvent {
    /// The desk says something.
    Frame(BoardFrame),
    /// The desk says nothing any more.
    Closed,
    /// What runs has ended.
    Ended,
}

/// Tells what happens, from any thread.
struct BoardBell {
    events: Sender<BoardEvent>,
    waker: EventWaker,
}

impl BoardBell {
    fn tell(&self, event: BoardEvent) -> bool {
        let told = self.events.send(event).is_ok();
        self.waker.ring();
        told
    }
}

/// Frames to the desk, from any thread.
#[derive(Clone)]
struct FrameWriter(Arc<Mutex<io::Stdout>>);

impl FrameWriter {
    fn send(&self, frame: &BoardFrame) {
        // Whether anybody hears it is found out by what the desk says, or does not.
        let _ = self.0.lock().map(|mut out| frame.write(&mut *out));
    }
}

/// The folder that was made for this program, and goes with this value.
struct BoardFolder(PathBuf);

impl BoardFolder {
    /// The folder in which this program lies, where it was put there by a desk.
    fn of(path: &Path) -> Result<Self, Refusal> {
        let named = path.file_name().is_some_and(|name| name.to_text().starts_with(FOLDER));
        let whole = fs::canonicalize(path).ok();
        let own =
            std::env::current_exe().ok().or_else(|| std::env::args_os().next().map(Into::into));
        let own = own.and_then(|own| fs::canonicalize(own.parent()?).ok());
        if named && whole.is_some() && whole == own {
            return Ok(Self(path.to_path_buf()));
        }
        Err(Refusal::new(
            format!("'{}' was not made by 'assay on'", path.to_text()),
            "type 'assay on BOARD COMMAND' on another machine",
        ))
    }

    /// Where the record is kept until it goes to the desk.
    fn records(&self) -> PathBuf {
        self.0.join("record")
    }

    /// The record, once there is one. What is written to take its place has another ending.
    fn record(&self) -> Option<PathBuf> {
        let all = fs::read_dir(self.records()).into_iter().flatten().flatten();
        all.map(|file| file.path()).find(|path| path.extension().is_none_or(|it| it != "new"))
    }
}

impl Drop for BoardFolder {
    fn drop(&mut self) {
        // What stays there is told by nobody: the desk is gone.
        let _ = fs::File::open(&self.0).map(|open| remove_tree(&self.0, &open, false));
    }
}

/// What runs, and what is connected with it.
struct BoardRun {
    child: Child,
    /// Bytes for its standard input; gone after the last.
    input: Option<Sender<Vec<u8>>>,
    readers: Vec<JoinHandle<()>>,
    /// When it was told to end because nobody listens any more.
    told: Option<Timestamp>,
}

/// Where what goes to a program is sent, and the threads that read what comes from it.
type BoardStreams = (Option<Sender<Vec<u8>>>, Vec<JoinHandle<()>>);

/// The server of one desk.
struct BoardServer {
    folder: BoardFolder,
    frames: FrameWriter,
    events: EventLoop,
    all: Receiver<BoardEvent>,
    bell: Sender<BoardEvent>,
    run: Option<BoardRun>,
    /// The record that grows, by the file in which it does; and the bytes of it that went home.
    record: Option<(PathBuf, JournalTail)>,
    sent: u64,
    /// Nobody listens any more.
    lost: bool,
}

/// Serves the desk at the other end of standard input and output, until it is over.
///
/// # Errors
/// When the folder is not ours, or signals cannot be waited for.
pub fn serve(folder: &Path) -> Result<(), Error> {
    let folder = BoardFolder::of(folder)?;
    let fault = |error: io::Error| Fault::new(Doing::Prepare, "for signals", &error);
    let events = EventLoop::new(TERMINATING).map_err(fault)?;
    let (bell, all) = channel();
    let desk = BoardBell { events: bell.clone(), waker: events.waker().map_err(fault)? };
    let frames = FrameWriter(Arc::new(Mutex::new(io::stdout())));
    raw_terminal();
    let listener = thread(move || {
        let _ = lines(io::stdin(), |line| {
            BoardFrame::of_line(line).is_none_or(|frame| desk.tell(BoardEvent::Frame(frame)))
        });
        desk.tell(BoardEvent::Closed);
    });
    listener.map_err(|error| Fault::no_thread(&error))?;
    frames.send(&BoardFrame::Hello { version: env!("CARGO_PKG_VERSION").into() });
    let (run, record) = (None, None);
    let mut server =
        BoardServer { folder, frames, events, all, bell, run, record, sent: 0, lost: false };
    let status = server.until_the_end();
    let BoardServer { folder, frames, lost, .. } = server;
    drop(folder);
    if let Some(status) = status.filter(|_| !lost) {
        frames.send(&BoardFrame::Ended { status });
    }
    Ok(())
}

/// A terminal is to change nothing of what goes through it, nor say it again: old versions of Android have one
/// between adb and every program.
fn raw_terminal() {
    let input = io::stdin();
    if input.is_terminal()
        && let Ok(mut modes) = tcgetattr(&input)
    {
        modes.make_raw();
        let _ = tcsetattr(&input, OptionalActions::Now, &modes);
    }
}

impl BoardServer {
    /// Does what the desk says; the exit status of what ran, or `None` where nothing did.
    fn until_the_end(&mut self) -> Option<u8> {
        let mut heard = clock::now();
        let mut said = heard;
        loop {
            if matches!(self.events.wait(PULSE), Event::Signal(_)) {
                self.lost = true;
            }
            while let Ok(event) = self.all.try_recv() {
                match event {
                    BoardEvent::Frame(frame) => {
                        heard = clock::now();
                        self.does(frame);
                    }
                    BoardEvent::Closed => self.lost = true,
                    BoardEvent::Ended => return self.run.take().map(|run| self.ended(run)),
                }
            }
            let now = clock::now();
            self.lost |= now.since(heard) > SILENCE;
            if now.since(said) >= PULSE {
                said = now;
                self.frames.send(&BoardFrame::Alive {});
                self.send_what_was_added();
            }
            if self.lost {
                self.stop(self.run.as_ref()?.told, now);
            }
        }
    }

    /// Ends what nobody waits for any more: as Ctrl-C does, and when that does not help, at once.
    fn stop(&mut self, told: Option<Timestamp>, now: Timestamp) {
        let Some(run) = &mut self.run else { return };
        match told {
            None => {
                run.told = Some(now);
                signal(&run.child, libc::SIGINT);
            }
            Some(then) if now.since(then) > GRACE => signal(&run.child, libc::SIGKILL),
            Some(_) => {}
        }
    }

    fn does(&mut self, frame: BoardFrame) {
        let outcome = match (frame, &mut self.run) {
            (BoardFrame::File { name, bytes }, _) => self.keep(&name, &bytes.0),
            (BoardFrame::Run(command), None) => self.start(&command),
            (BoardFrame::Input(bytes), Some(run)) => {
                // The last is an empty one, and closes it.
                let open = run.input.take().filter(|_| !bytes.0.is_empty());
                run.input = open.filter(|input| input.send(bytes.0).is_ok());
                Ok(())
            }
            (BoardFrame::Signal(number), Some(run)) => {
                signal(&run.child, number);
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            self.frames.send(&BoardFrame::Failed { why: error.to_string() });
        }
    }

    /// Adds to a file that goes along.
    fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.0.join(name::path(name).file_name().unwrap_or_default());
        // It is one of a folder of ours, and nobody else's.
        let file = output::open(&path, OutputMode::Append).map_err(io::Error::other);
        file?.write_all(bytes)
    }

    fn start(&mut self, wanted: &BoardCommand) -> io::Result<()> {
        let mut command = Command::new(self.folder.0.join("assay"));
        command.args(wanted.words.iter().map(|word| match word {
            BoardWord::Text(text) => name::path(text),
            BoardWord::File(name) => self.folder.0.join(name),
        }));
        command.envs(wanted.variables.iter().map(|(name, value)| (name, name::path(value))));
        if let Some(variable) = &wanted.record {
            fs::create_dir(self.folder.records())?;
            command.env(variable, self.folder.records());
        }
        // Signals of a terminal reach it through the desk only.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let helpers = self.listen(&mut child).inspect_err(|_| {
            // Nobody would hear it.
            let _ = child.kill();
            let _ = child.wait();
        });
        let (input, readers) = helpers?;
        self.run = Some(BoardRun { child, input, readers, told: None });
        Ok(())
    }

    /// Has threads hand on what a program says and is told, and wait for its end.
    fn listen(&self, child: &mut Child) -> io::Result<BoardStreams> {
        let out = child.stdout.take().map(|pipe| self.reads(pipe, BoardFrame::Output));
        let err = child.stderr.take().map(|pipe| self.reads(pipe, BoardFrame::Errors));
        let input = child.stdin.take().map(|pipe| self.writes(pipe)).transpose()?;
        let id = Pid::from_child(child);
        let bell = BoardBell { events: self.bell.clone(), waker: self.events.waker()? };
        thread(move || {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(id), ended), Err(rustix::io::Errno::INTR)) {}
            bell.tell(BoardEvent::Ended);
        })?;
        Ok((input, out.into_iter().chain(err).collect::<io::Result<_>>()?))
    }

    /// Hands on what a pipe gives. What the desk does not take any more is read all the same, so that nobody is
    /// held up by it.
    fn reads(
        &self,
        mut pipe: impl Read + Send + 'static,
        frame: fn(FrameBytes) -> BoardFrame,
    ) -> io::Result<JoinHandle<()>> {
        let frames = self.frames.clone();
        thread(move || {
            let mut buffer = vec![0; CHUNK];
            while let Ok(read) = pipe.read(&mut buffer) {
                if read == 0 {
                    return;
                }
                frames.send(&frame(FrameBytes(buffer[..read].to_vec())));
            }
        })
    }

    /// Writes what the desk sends, and asks for more when there is room.
    fn writes(&self, mut pipe: ChildStdin) -> io::Result<Sender<Vec<u8>>> {
        let (input, chunks) = channel::<Vec<u8>>();
        let frames = self.frames.clone();
        thread(move || {
            frames.send(&BoardFrame::InputWanted {});
            for chunk in chunks {
                if pipe.write_all(&chunk).is_err() {
                    return;
                }
                frames.send(&BoardFrame::InputWanted {});
            }
        })?;
        Ok(input)
    }

    /// Sends home what the record has gained: so much is there when the link is lost.
    fn send_what_was_added(&mut self) {
        if self.lost {
            return;
        }
        if self.record.is_none() {
            let followed = |path: PathBuf| Some((path.clone(), JournalTail::of(&path).ok()?));
            self.record = self.folder.record().and_then(followed);
        }
        if let Some((path, tail)) = &mut self.record {
            let bytes = tail.more().unwrap_or_default();
            if !bytes.is_empty() {
                send_record(&self.frames, path, &mut self.sent, &bytes);
            }
        }
    }

    /// Sends the record home, and tells how it ended.
    fn ended(&mut self, mut run: BoardRun) -> u8 {
        drop(run.input.take());
        let status = run.child.wait();
        // Somebody else may hold the pipes open.
        for _ in 0..100 {
            if run.readers.iter().all(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.send_what_was_added();
        // Where nobody listens a writer may wait for ever. What did not come to its end is there already.
        let whole = self.folder.record().filter(|path| {
            !self.lost && self.record.as_ref().is_none_or(|(_, tail)| tail.is_replaced(path))
        });
        if let Some(path) = whole {
            self.sent = 0;
            send_record(&self.frames, &path, &mut self.sent, &fs::read(&path).unwrap_or_default());
        }
        status.map_or(1, shell_status)
    }
}

/// Sends more of a record, which goes on where `sent` says, and counts it.
fn send_record(frames: &FrameWriter, path: &Path, sent: &mut u64, bytes: &[u8]) {
    let name = path.file_name().unwrap_or_default().to_text();
    let parts = BoardFrame::parts(bytes, |bytes| {
        let from = *sent;
        *sent += bytes.0.len() as u64;
        BoardFrame::Record { name: name.clone(), from, bytes }
    });
    parts.for_each(|part| frames.send(&part));
}

/// The exit status; 128 and its number after a signal, as a shell has it.
fn shell_status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Sends it a signal. It is still there, or waits to be reaped by us.
fn signal(child: &Child, number: i32) {
    if let Some(signal) = Signal::from_named_raw(number) {
        let _ = kill_process(Pid::from_child(child), signal);
    }
}
