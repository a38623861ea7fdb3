//! The part of `assay on` that runs here: puts the program on the board, shows what it says there, passes on
//! signals and standard input, and brings the record home.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use super::super::output::ReportFiles;
use super::super::place::any_seed;
use super::args::OnArgs;
use super::binaries;
use super::frame::{BoardFrame, CHUNK, FrameBytes, PULSE, SILENCE};
use super::link::{Board, BoardDesk, BoardLink, BoardProcess, lines, thread};
use super::work::BoardWork;
use crate::dialect::verdict_place::VerdictPlace;
use crate::process::Environment;
use crate::process::stdout::{PipeWriter, printed};
use assay_engine::output::{remove_file, replace};
use assay_engine::sys::clock;
use assay_engine::sys::event_loop::{Event, EventLoop, EventWaker};
use assay_engine::sys::{signal, start};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::{self, NameText as _};
use assay_plan::unit::Nanos;
use assay_record::record::{self, RecordSink, document_file};

/// After so many signals the board is left to itself.
const ENOUGH: u32 = 3;

/// How often it is looked whether anything has come.
const LOOK: Nanos = Nanos::millis(500);
/// How long what runs there may take after a signal for its own cleaning up, before the board is left to itself.
const OBEDIENCE: Nanos = Nanos::secs(10);
/// How long is waited for what is said when it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Pieces of news that wait to be taken.
const QUEUED: usize = 16;
/// What a board may say beside its news, bytes.
const LARGEST_TALK: usize = 16 << 20;

/// What becomes of a board that is lost.
const ENDS: &str = "what runs there ends, and is removed, within a minute";

/// A file that was made to see that a record can stand there: away again where none came.
struct TriedPlace(PathBuf);

impl Drop for TriedPlace {
    fn drop(&mut self) {
        if std::fs::metadata(&self.0).is_ok_and(|file| file.is_file() && file.len() == 0) {
            let _ = remove_file(&self.0, false);
        }
    }
}

/// What comes from the board.
enum BoardNews {
    /// What the program there says.
    Frame(BoardFrame),
    /// What somebody else there says.
    Other(Vec<u8>),
    /// No more news.
    Closed,
}

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
    let others: Vec<PathBuf> = places.iter().chain(&work.reports).cloned().collect();
    let verdict = work.verdict.as_ref().map(|path| VerdictPlace::at(path, &others)).transpose()?;
    let _tried = match work.record.as_ref().filter(|place| !place.is_dir()) {
        Some(place) => {
            let new = !place.exists();
            RecordSink::at(place, "")?;
            new.then(|| TriedPlace(place.clone()))
        }
        None => None,
    };
    let number = format!("{:08x}{:08x}", any_seed(), any_seed());
    let fault = |error: io::Error| Fault::new(Doing::Prepare, "for signals", &error);
    // Before the link, and so given up after it: no signal ends this while the link is taken down.
    let events = EventLoop::new(signal::TERMINATING).map_err(fault)?;
    let link = BoardLink::new(board, &number)?;
    let named = args.binaries.clone().or_else(|| environment.binaries.clone());
    let own = std::env::current_exe().ok();
    let mut desk = BoardDesk { events: &events, err: &mut *err, signal: None };
    let put = |desk: &mut BoardDesk<'_>| -> Result<String, Error> {
        let kind = binaries::kind(&link.machine(desk)?)?;
        let program = binaries::find(kind, named.as_deref(), own.as_deref())?;
        link.put(&program, &number, args.folder.as_deref(), desk)
    };
    let folder = match put(&mut desk) {
        Ok(folder) => folder,
        // ssh has died of Ctrl-C, too.
        Err(error) => {
            let came = desk.signal.map(|number| u8::try_from(128 + number).unwrap_or(1));
            return came.or_else(|| interrupted(&events)).ok_or(error);
        }
    };
    let mut session = BoardSession::new(&link, &folder, &events, work)?;
    let ending = session.until_the_end(&events, out, err);
    let BoardSession { child, name, record, greeted, .. } = session;
    let outcome = finished(child, ending, greeted, &link, &folder);
    // What has come of the record is kept, however it ended.
    let came = !record.is_empty();
    if came {
        keep(&record, &name, work, (&reports, verdict.as_ref()), &link, environment)?;
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
    mut child: BoardProcess,
    ending: Result<BoardEnding, Error>,
    greeted: bool,
    link: &BoardLink,
    folder: &str,
) -> Result<BoardEnding, Error> {
    // One that has said its last word ends by itself, if it is honest.
    let said_all = matches!(ending, Ok(BoardEnding::Status(_)));
    for _ in 0..if said_all { 250 } else { 0 } {
        if !matches!(child.0.try_wait(), Ok(None)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(child);
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
    (reports, verdict): (&ReportFiles, Option<&VerdictPlace>),
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
    if !work.reports.is_empty() || verdict.is_some() {
        let record = record::load(&place)?;
        reports.write(&record, environment.file_style())?;
        if let Some(verdict) = verdict {
            verdict.append(&verdict.lines(&record))?;
        }
    }
    Ok(())
}

/// What runs on a board, seen from here.
struct BoardSession<'a> {
    link: &'a BoardLink,
    work: &'a BoardWork,
    child: BoardProcess,
    frames: Option<Sender<BoardFrame>>,
    news: Receiver<BoardNews>,
    input: Option<Sender<()>>,
    /// The program there has said that it is there.
    greeted: bool,
    /// The record, as far as it has come, and its name.
    record: Vec<u8>,
    name: String,
    /// Bytes that were no news.
    other: usize,
    /// Of a character that has not come whole.
    begun: Vec<u8>,
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
        let (tell, news) = sync_channel(QUEUED);
        let helpers = || -> io::Result<_> {
            if let Some(pipe) = child.0.stdin.take() {
                thread(move || write_frames(pipe, &to_board))?;
            }
            if let Some(pipe) = child.0.stdout.take() {
                let (waker, tell) = (events.waker()?, tell.clone());
                thread(move || read_news(pipe, tell, &waker))?;
            }
            if let Some(pipe) = child.0.stderr.take() {
                let waker = events.waker()?;
                thread(move || {
                    let _ = lines(pipe, |line| {
                        let told = tell.send(BoardNews::Other(line.to_vec())).is_ok();
                        waker.ring();
                        told
                    });
                })?;
            }
            input(work.input, frames.clone())
        };
        let input = helpers().map_err(|error| {
            link.remove(folder);
            Fault::no_thread(&error)
        })?;
        let (record, name, begun) = (Vec::new(), String::new(), Vec::new());
        let (frames, greeted, other) = (Some(frames), false, 0);
        Ok(Self { link, work, child, frames, news, input, greeted, record, name, other, begun })
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
        let (mut told, mut more) = (None, false);
        loop {
            if let Event::Signal(number) = events.wait(if more { Nanos::ZERO } else { LOOK }) {
                signals += 1;
                if signals == ENOUGH || !self.greeted {
                    return Ok(BoardEnding::Left(number));
                }
                told.get_or_insert((number, clock::now()));
                self.send(BoardFrame::Signal(number));
            }
            more = true;
            // Signals are looked for in between, however much it says.
            for _ in 0..QUEUED {
                use std::sync::mpsc::TryRecvError;
                match self.news.try_recv() {
                    Ok(news) => {
                        heard = clock::now();
                        if let Some(status) = self.takes(news, out, err)? {
                            self.frames = None;
                            return Ok(BoardEnding::Status(status));
                        }
                    }
                    Err(TryRecvError::Empty) => {
                        more = false;
                        break;
                    }
                    Err(TryRecvError::Disconnected) => return Err(self.ended_early().into()),
                }
            }
            let now = clock::now();
            if let Some((number, then)) = told
                && now.since(then) > OBEDIENCE
            {
                return Ok(BoardEnding::Left(number));
            }
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
                self.other += line.len();
                if self.other > LARGEST_TALK {
                    return Err(self.link.lost("it says without end what is no news").into());
                }
                let _ = err.write_all(&line);
                return Ok(None);
            }
            BoardNews::Closed => {
                // Why stands on the other stream, and is on its way.
                while let Ok(BoardNews::Other(line)) = self.news.recv_timeout(LAST_WORDS) {
                    self.other += line.len();
                    if self.other > LARGEST_TALK {
                        break;
                    }
                    let _ = err.write_all(&line);
                }
                return Err(self.ended_early().into());
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
                let whole = self.whole_characters(bytes.0);
                printed(out.write_foreign(&whole).and_then(|()| out.flush()))?
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
                let largest = document_file::largest();
                if (self.record.len() + bytes.0.len()) as u64 > largest.0 {
                    let why = format!("its record is larger than {largest}");
                    return Err(self
                        .link
                        .lost(why)
                        .hinting(format!(
                            "{}=1G in the environment allows more",
                            document_file::VARIABLE
                        ))
                        .into());
                }
                self.record.extend(bytes.0);
            }
            BoardFrame::Failed { why } => {
                let name = self.link.board().name();
                return Err(Fault::told(Doing::Start, format!("assay on {name}"), why).into());
            }
            BoardFrame::Ended { status } => {
                let last = std::mem::take(&mut self.begun);
                printed(out.write_foreign(&last))?;
                return Ok(Some(status));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Bytes without a character that has begun at their end, which goes with the next ones.
    fn whole_characters(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend(bytes);
        if let Err(error) = std::str::from_utf8(&whole)
            && error.error_len().is_none()
        {
            self.begun = whole.split_off(error.valid_up_to());
        }
        whole
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
fn read_news(pipe: impl io::Read, tell: SyncSender<BoardNews>, waker: &EventWaker) {
    let _ = lines(pipe, |line| {
        let news = BoardFrame::of_line(line)
            .map_or_else(|| BoardNews::Other(line.to_vec()), BoardNews::Frame);
        let told = tell.send(news).is_ok();
        waker.ring();
        told
    });
    let _ = tell.send(BoardNews::Closed);
    waker.ring();
}

/// Who reads standard input, each time when it is asked to; nobody where it is not wanted, is closed, or is a
/// terminal, which other programs read, too.
fn input(wanted: bool, frames: Sender<BoardFrame>) -> io::Result<Option<Sender<()>>> {
    if !wanted || start::was_closed(0) || io::stdin().is_terminal() {
        return Ok(None);
    }
    let (ask, asked) = channel();
    thread(move || {
        let mut buffer = vec![0; CHUNK];
        for () in asked {
            let read = io::stdin().read(&mut buffer).unwrap_or(0);
            let sent = frames.send(BoardFrame::Input(FrameBytes(buffer[..read].to_vec())));
            if read == 0 || sent.is_err() {
                return;
            }
        }
    })?;
    Ok(Some(ask))
}
