//! The part of `assay on` that runs here: puts the program on the board, shows what it says there, passes on
//! signals and standard input, and brings the record home.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::super::environment::Environment;
use super::super::output::ReportFiles;
use super::super::place::any_seed;
use super::super::stdout::{PipeWriter, printed};
use super::args::OnArgs;
use super::binaries;
use super::frame::{BoardFrame, CHUNK, FrameBytes, PULSE, SILENCE};
use super::link::{Board, BoardLink, lines};
use super::work::BoardWork;
use crate::error::{Doing, Error, Fault, Refusal};
use crate::name::{self, NameText as _};
use crate::record::{self, RecordSink, replace};
use crate::sys::clock;
use crate::sys::event_loop::{Event, EventLoop, EventWaker};
use crate::sys::{signal, start};
use crate::unit::Nanos;

/// After so many signals the board is left to itself.
const ENOUGH: u32 = 3;

/// What becomes of a board that is lost.
const ENDS: &str = "what runs there ends, and is removed, within a minute";

/// What comes from the board.
enum BoardNews {
    /// What the program there says.
    Frame(BoardFrame),
    /// What somebody else there says.
    Other(Vec<u8>),
}

/// How it ended.
enum BoardEnding {
    /// With this exit status there.
    Status(u8),
    /// By signals here, of which this was the last.
    Left(i32),
}

/// Does on a board what the words say; the exit status there.
///
/// # Errors
/// When the words are wrong, the board cannot be reached, or the record cannot be kept here.
pub fn serve(
    args: &OnArgs,
    work: &BoardWork,
    environment: &Environment,
    out: &mut PipeWriter<'_>,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let board = Board::of(args)?;
    if args.folder.as_deref().is_some_and(|it| it.is_empty() || it.contains(char::is_control)) {
        let why = "invalid value for --folder: it is no name of a folder";
        return Err(Refusal::new(why, "give a folder of the board").into());
    }
    let places: Vec<PathBuf> = work.record.iter().cloned().collect();
    let reports = ReportFiles::beside(&work.reports, &places)?;
    if let Some(place) = work.record.as_ref().filter(|place| !place.is_dir()) {
        RecordSink::at(place, "")?;
    }
    let number = format!("{:08x}{:08x}", any_seed(), any_seed());
    let link = BoardLink::new(board, &number)?;
    let fault = |error: io::Error| Fault::new(Doing::Prepare, "for signals", &error);
    let events = EventLoop::new(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP]).map_err(fault)?;
    let named = args.binaries.clone().or_else(|| environment.binaries.clone());
    let own = std::env::current_exe().ok();
    let put = || -> Result<String, Error> {
        let kind = binaries::kind(&link.machine()?)?;
        let program = binaries::find(kind, named.as_deref(), own.as_deref())?;
        link.put(&program, &number, args.folder.as_deref())
    };
    let folder = match put() {
        Ok(folder) => folder,
        // ssh has died of Ctrl-C, too.
        Err(error) => return interrupted(&events).ok_or(error),
    };
    let mut session = BoardSession::new(&link, &folder, &events, work)?;
    let ending = session.until_the_end(&events, out, err);
    let BoardSession { child, name, record, greeted, .. } = session;
    let outcome = finished(child, ending, greeted, &link, &folder);
    // What has come of the record is kept, however it ended.
    let came = !record.is_empty();
    if came {
        keep(&record, &name, work, &reports, &link, environment)?;
    }
    let status = match outcome? {
        BoardEnding::Status(status) => status,
        BoardEnding::Left(signal) => {
            if greeted {
                let _ = writeln!(err, "assay: the board is left to itself: {ENDS}");
            }
            return Ok(u8::try_from(128 + signal).unwrap_or(1));
        }
    };
    if !came && work.command.record.is_some() && !work.input && [0, 3].contains(&status) {
        return Err(link.lost("no record came from there").into());
    }
    Ok(status)
}

/// The exit status of a signal that has come.
fn interrupted(events: &EventLoop) -> Option<u8> {
    match events.wait(Nanos::ZERO) {
        Event::Signal(number) => u8::try_from(128 + number).ok(),
        Event::Bell | Event::Continued(_) | Event::Nothing => None,
    }
}

/// How a session ended; one that never began leaves nothing there either.
fn finished(
    mut child: Child,
    ending: Result<BoardEnding, Error>,
    greeted: bool,
    link: &BoardLink,
    folder: &str,
) -> Result<BoardEnding, Error> {
    if !matches!(ending, Ok(BoardEnding::Status(_))) {
        let _ = child.kill();
    }
    let _ = child.wait();
    if !greeted {
        link.remove(folder);
    }
    ending
}

/// Keeps the record where it is wanted, and writes the reports.
fn keep(
    bytes: &[u8],
    name: &str,
    work: &BoardWork,
    reports: &ReportFiles<'_>,
    link: &BoardLink,
    environment: &Environment,
) -> Result<(), Error> {
    let place = match &work.record {
        // The board has named it; of that only what is a name of a file is used.
        Some(place) if place.is_dir() => {
            let own = name::path(name).file_stem().unwrap_or_default().to_text();
            RecordSink::at(place, &own)?.path().to_path_buf()
        }
        Some(place) => place.clone(),
        None => link.own_file("record.json"),
    };
    replace(&place, bytes)?;
    if !work.reports.is_empty() {
        reports.write(&record::load(&place)?, environment.file_style())?;
    }
    Ok(())
}

/// What runs on a board, seen from here.
struct BoardSession<'a> {
    link: &'a BoardLink,
    work: &'a BoardWork,
    child: Child,
    frames: Option<Sender<BoardFrame>>,
    news: Receiver<BoardNews>,
    input: Option<Sender<()>>,
    /// The program there has said that it is there.
    greeted: bool,
    /// The record, as far as it has come, and its name.
    record: Vec<u8>,
    name: String,
}

impl<'a> BoardSession<'a> {
    fn new(
        link: &'a BoardLink,
        folder: &str,
        events: &EventLoop,
        work: &'a BoardWork,
    ) -> Result<Self, Error> {
        // Ctrl-C is for us: ssh shall live to bring home what is left.
        let _ = signal::ignore(libc::SIGINT);
        let started = link.start(folder);
        let mut child = started.inspect_err(|_| link.remove(folder))?;
        let (frames, to_board) = channel();
        let (tell, news) = channel();
        let fault = |error: io::Error| Fault::new(Doing::Prepare, "for signals", &error);
        if let Some(pipe) = child.stdin.take() {
            std::thread::spawn(move || write_frames(pipe, &to_board));
        }
        if let Some(pipe) = child.stdout.take() {
            let waker = events.waker().map_err(fault)?;
            std::thread::spawn(move || read_news(pipe, tell, &waker));
        }
        let input = input(work.input, frames.clone());
        let (record, name) = (Vec::new(), String::new());
        let frames = Some(frames);
        Ok(Self { link, work, child, frames, news, input, greeted: false, record, name })
    }

    fn send(&self, frame: BoardFrame) {
        // What is not heard there is found out by what comes from there, or does not.
        let _ = self.frames.as_ref().map(|frames| frames.send(frame));
    }

    /// Shows what is said there, until it ends.
    fn until_the_end(
        &mut self,
        events: &EventLoop,
        out: &mut PipeWriter<'_>,
        err: &mut dyn Write,
    ) -> Result<BoardEnding, Error> {
        let mut heard = clock::now();
        let (mut said, mut signals) = (heard, 0);
        loop {
            if let Event::Signal(number) = events.wait(PULSE) {
                signals += 1;
                if signals == ENOUGH || !self.greeted {
                    return Ok(BoardEnding::Left(number));
                }
                self.send(BoardFrame::Signal(number));
            }
            loop {
                use std::sync::mpsc::TryRecvError;
                match self.news.try_recv() {
                    Ok(news) => {
                        heard = clock::now();
                        if let Some(status) = self.takes(news, out, err)? {
                            self.frames = None;
                            return Ok(BoardEnding::Status(status));
                        }
                    }
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Err(self.ended_early().into()),
                }
            }
            let now = clock::now();
            if now.since(heard) > SILENCE {
                return Err(self.silent().into());
            }
            if now.since(said) >= PULSE {
                said = now;
                self.send(BoardFrame::Alive {});
            }
        }
    }

    /// Does what a piece of news asks for; the exit status when it was the last.
    fn takes(
        &mut self,
        news: BoardNews,
        out: &mut PipeWriter<'_>,
        err: &mut dyn Write,
    ) -> Result<Option<u8>, Error> {
        let frame = match news {
            BoardNews::Frame(frame) => frame,
            BoardNews::Other(line) => {
                let _ = err.write_all(&line);
                return Ok(None);
            }
        };
        match frame {
            BoardFrame::Hello { version } => {
                let own = env!("CARGO_PKG_VERSION");
                if version != own {
                    let why = format!("the program there is assay {version}, and this is {own}");
                    return Err(
                        Refusal::new(why, "give a binary of this version with --binaries").into()
                    );
                }
                self.greeted = true;
                self.work.files.iter().for_each(|file| self.send(file.clone()));
                self.send(BoardFrame::Run(self.work.command.clone()));
            }
            BoardFrame::Output(bytes) => {
                printed(out.write_raw(&bytes.0).and_then(|()| out.flush()))?
            }
            BoardFrame::Errors(bytes) => {
                let _ = err.write_all(&bytes.0).and_then(|()| err.flush());
            }
            BoardFrame::InputWanted {} => match &self.input {
                Some(input) => {
                    let _ = input.send(());
                }
                None => self.send(BoardFrame::Input(FrameBytes::default())),
            },
            BoardFrame::Record { name, from, bytes } => {
                self.name = name;
                if from == 0 {
                    self.record.clear();
                }
                self.record.extend(bytes.0);
            }
            BoardFrame::Failed { why } => {
                let name = self.link.board().name();
                return Err(Fault::told(Doing::Start, format!("assay on {name}"), why).into());
            }
            BoardFrame::Ended { status } => return Ok(Some(status)),
            _ => {}
        }
        Ok(None)
    }

    /// Why nothing comes any more.
    fn ended_early(&mut self) -> Fault {
        if !self.greeted {
            return self.link.lost("the program does not run there").hinting(
                "what the board said stands above; a static binary runs everywhere: name its folder with --binaries",
            );
        }
        self.link.lost("the link was lost").hinting(self.what_is_left())
    }

    /// What becomes of the board, and of the record.
    fn what_is_left(&self) -> String {
        let record = match (&self.work.record, self.record.is_empty()) {
            (_, true) => "its record is lost with it".into(),
            (None, false) => "the reports are made of what has come of its record".into(),
            (Some(place), false) => {
                format!("{} holds its record as far as it has come", place.to_text())
            }
        };
        format!("{ENDS}; {record}")
    }

    fn silent(&self) -> Fault {
        let why = format!("nothing was heard from there for {SILENCE}");
        self.link.lost(why).hinting(self.what_is_left())
    }
}

/// Writes frames until there are no more, or nobody takes them.
fn write_frames(mut pipe: ChildStdin, frames: &Receiver<BoardFrame>) {
    for frame in frames {
        if frame.write(&mut pipe).is_err() {
            return;
        }
    }
}

/// Reads what comes from a board, line by line.
fn read_news(pipe: impl io::Read, tell: Sender<BoardNews>, waker: &EventWaker) {
    let _ = lines(pipe, |line| {
        let news = BoardFrame::of_line(line)
            .map_or_else(|| BoardNews::Other(line.to_vec()), BoardNews::Frame);
        let told = tell.send(news).is_ok();
        waker.ring();
        told
    });
    // That nothing comes any more is news, too.
    drop(tell);
    waker.ring();
}

/// Who reads standard input, each time when it is asked to; nobody where it is not wanted, is closed, or is a
/// terminal, which other programs read, too.
fn input(wanted: bool, frames: Sender<BoardFrame>) -> Option<Sender<()>> {
    if !wanted || start::was_closed(0) || io::stdin().is_terminal() {
        return None;
    }
    let (ask, asked) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        for () in asked {
            let read = io::stdin().read(&mut buffer).unwrap_or(0);
            let sent = frames.send(BoardFrame::Input(FrameBytes(buffer[..read].to_vec())));
            if read == 0 || sent.is_err() {
                return;
            }
        }
    });
    Some(ask)
}
