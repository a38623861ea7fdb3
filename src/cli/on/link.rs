//! The way to a board: the commands of the system's `ssh` and `adb`. Words of the user go there in frames, not in
//! these lines; what stands in a line is quoted.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::args::OnArgs;
use super::frame::SILENCE;
use super::quote::line;
use assay_engine::output::remove_tree;
use assay_engine::sys::clock;
use assay_engine::sys::event_loop::{Event, EventLoop};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::{self, NameText as _};
use assay_plan::unit::Nanos;

/// What an answer of a script begins with: whatever else a login says is passed over.
const ANSWER: &str = "assay-on: ";

/// What the folder on a board is called, before a number that nobody guesses.
pub const FOLDER: &str = "assay-on-";

/// The kernel's word for the processor; Android's, where there is no uname.
const MACHINE: &str =
    "m=$(uname -m 2>/dev/null || getprop ro.product.cpu.abi); echo \"assay-on: $m\"";

/// Makes the folder `$1` where there is room for `$2` KiB and programs may run; PLACES are looked at in order.
const MAKE: &str = "umask 077; f=; for d in PLACES; do \
    [ -n \"$d\" ] && [ -d \"$d\" ] || continue; \
    k=$(df -Pk \"$d\" 2>/dev/null | tail -n 1 | { read -r a b c k e; echo \"$k\"; }); \
    case $k in ''|*[!0-9]*) ;; *) [ \"$k\" -gt \"$2\" ] || continue;; esac; \
    mkdir \"$d/$1\" 2>/dev/null || continue; f=$d/$1; \
    printf '#!%s\\nexit 0\\n' \"$(command -v sh)\" >\"$f/x\" 2>/dev/null; chmod 700 \"$f/x\"; \
    if \"$f/x\" 2>/dev/null; then rm -f \"$f/x\"; break; fi; \
    rm -rf \"$f\"; f=; done; \
    if [ -z \"$f\" ]; then echo \"assay-on: none\"; exit 0; fi; ";

/// Takes the program of `$4` bytes from standard input; what comes half is removed.
const TAKE: &str = "cat >\"$f/assay\" && [ $(($(wc -c <\"$f/assay\"))) -eq \"$4\" ] \
    || { rm -rf \"$f\"; echo \"assay-on: half\"; exit 0; }; ";

/// Says where it is.
const TELL: &str = "echo \"assay-on: $f\"";

/// Where a folder is made unless the user says where.
const PLACES: &str = "\"$TMPDIR\" /tmp /dev/shm /data/local/tmp /var/tmp /run \"$HOME\"";

/// Starts the program that lies in `$1`.
const START: &str = "chmod 700 \"$1/assay\" && exec \"$1/assay\" on-board \"$1\"";

/// Removes the folder `$1`.
const REMOVE: &str = "rm -rf \"$1\"";

/// A board, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Board {
    /// A host for ssh, and options for it.
    Ssh {
        /// As ssh takes it: `user@host`, or an address that begins with `ssh://`.
        destination: String,
        /// Options before it.
        options: Vec<String>,
    },
    /// An Android device by adb; by its serial number where there are several.
    Adb(Option<String>),
}

impl Board {
    /// The board that the words name.
    ///
    /// # Errors
    /// When it is no name of one, or has options that it cannot have.
    pub fn of(args: &OnArgs) -> Result<Self, Refusal> {
        let name = args.board.as_str();
        if name.is_empty()
            || name.starts_with('-')
            || name.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            return Err(Refusal::new(
                format!("'{name}' is no board"),
                "give user@host, adb or adb:SERIAL, and behind it what runs there",
            ));
        }
        let mut options = Vec::new();
        let mut option = |flag: &str, value: Option<String>| {
            options.extend(value.into_iter().flat_map(|value| [flag.to_string(), value]));
        };
        option("-F", args.ssh_config.as_ref().map(|path| path.to_text()));
        option("-p", args.port.map(|port| port.to_string()));
        option("-i", args.identity.as_ref().map(|path| path.to_text()));
        option("-J", args.jump.clone());
        args.ssh_option.iter().for_each(|it| option("-o", Some(it.clone())));
        let adb = match name.split_once(':') {
            None if name == "adb" => Some(None),
            Some(("adb", serial)) => Some(Some(serial.to_string())),
            _ => None,
        };
        match adb {
            None => Ok(Self::Ssh { destination: name.into(), options }),
            Some(Some(serial)) if serial.is_empty() || serial.starts_with('-') => {
                Err(Refusal::new(
                    format!("'{name}' names no device"),
                    "give adb:SERIAL with a serial number that 'adb devices' lists",
                ))
            }
            Some(_) if !options.is_empty() => Err(Refusal::new(
                format!("{} is for ssh, and '{name}' is reached by adb", options[0]),
                "leave it out, or write ssh://adb for a host of that name",
            )),
            Some(serial) => Ok(Self::Adb(serial)),
        }
    }

    /// How it is called in a sentence.
    pub fn name(&self) -> String {
        match self {
            Self::Ssh { destination, .. } => destination.clone(),
            Self::Adb(None) => "the Android device".into(),
            Self::Adb(Some(serial)) => format!("Android device {serial}"),
        }
    }

    /// The words before a line for its own shell.
    pub fn shell(&self) -> Vec<String> {
        let mut words = vec![self.program().to_string()];
        match self {
            Self::Ssh { destination, options } => {
                words.extend(options.iter().cloned());
                words.push(destination.clone());
            }
            Self::Adb(serial) => {
                words.extend(serial.iter().flat_map(|serial| ["-s".into(), serial.clone()]));
                words.push("shell".into());
            }
        }
        words
    }

    /// The program that reaches it.
    const fn program(&self) -> &'static str {
        match self {
            Self::Ssh { .. } => "ssh",
            Self::Adb(_) => "adb",
        }
    }
}

/// The way to a board. All sessions of ssh share one connection, so that a password is asked for once.
#[derive(Debug)]
pub struct BoardLink {
    board: Board,
    /// A folder of our own, with the socket of that connection.
    desk: PathBuf,
}

impl BoardLink {
    /// One to that board; `number` is one that nobody guesses.
    ///
    /// # Errors
    /// When no folder can be made here.
    pub fn new(board: Board, number: &str) -> Result<Self, Fault> {
        let desk = std::env::temp_dir().join(format!("{FOLDER}{number}"));
        let made = DirBuilder::new().mode(0o700).create(&desk);
        made.map_err(|error| Fault::new(Doing::Make, desk.to_text(), &error))?;
        Ok(Self { board, desk })
    }

    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// A file of our own here, gone with this value.
    pub fn own_file(&self, name: &str) -> PathBuf {
        self.desk.join(name)
    }

    /// The program that reaches the board, with what each call of it begins with.
    fn command(&self) -> Command {
        let mut command = Command::new(self.board.program());
        match &self.board {
            Board::Ssh { options, .. } => {
                command.args(options).args(["-T", "-o", "ServerAliveInterval=5"]);
                command.args(["-o", "ServerAliveCountMax=4", "-o", "ControlMaster=auto"]);
                command.args(["-o", "ControlPersist=10", "-o"]).arg(self.control_path());
            }
            Board::Adb(serial) => {
                command.args(serial.iter().flat_map(|serial| ["-s", serial]));
            }
        }
        command
    }

    /// Where sessions of ssh meet; nowhere when the path is none for a socket.
    fn control_path(&self) -> String {
        const LONGEST: usize = 80;
        let path = self.own_file("s").to_text();
        let fits = path.len() <= LONGEST && !path.contains(['%', ' ', '"']);
        format!("ControlPath={}", if fits { path.as_str() } else { "none" })
    }

    /// A script to be run on the board with these words.
    fn script(&self, script: &str, words: &[&str]) -> Command {
        let all = [&["exec", "sh", "-c", script, "assay-on"], words].concat();
        let mut command = self.command();
        match &self.board {
            Board::Ssh { destination, .. } => command.args(["--", destination]),
            Board::Adb(_) => command.arg("shell"),
        };
        command.arg(line(&all));
        command
    }

    /// The answer of a script that is given `input`; its complaints go to standard error.
    fn ask(
        &self,
        mut command: Command,
        input: Stdio,
        desk: &mut BoardDesk<'_>,
        patience: Nanos,
    ) -> Result<String, Fault> {
        command.stdin(input);
        let (status, said, _) = self.hear(&mut command, desk, patience, true)?;
        let text =
            name::of_bytes(&said.into_iter().filter(|byte| *byte != b'\r').collect::<Vec<_>>());
        let answer = text.lines().find_map(|line| line.strip_prefix(ANSWER));
        answer.map(|answer| answer.trim().to_string()).ok_or_else(|| {
            let program = self.board.program();
            self.lost(format!("{program} ended with {status} and no answer"))
        })
    }

    /// What a command says until it ends: its status, and what came from both of its outputs. Its complaints go on to
    /// standard error where they are `passed_on`.
    fn hear(
        &self,
        command: &mut Command,
        desk: &mut BoardDesk<'_>,
        patience: Nanos,
        passed_on: bool,
    ) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), Fault> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.spawn(command)?;
        let (tell, heard) = sync_channel(QUEUED);
        let pipes = [
            child.0.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
            child.0.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        ];
        for (number, pipe) in pipes.into_iter().enumerate() {
            let (tell, waker) = (tell.clone(), desk.events.waker().map_err(|it| self.fault(&it))?);
            let reader = thread(move || {
                let each = |line: &[u8]| {
                    let told = tell.send((number, Some(line.to_vec()))).is_ok();
                    waker.ring();
                    told
                };
                let _ = pipe.map(|pipe| lines(pipe, each));
                let _ = tell.send((number, None));
                waker.ring();
            });
            reader.map_err(|error| Fault::no_thread(&error))?;
        }
        let (began, mut over, mut said) = (clock::now(), false, [Vec::new(), Vec::new()]);
        loop {
            let look = if over { Nanos::millis(20) } else { Nanos::millis(500) };
            if let Event::Signal(number) = desk.events.wait(look) {
                desk.signal = Some(number);
                return Err(self.lost("a signal came"));
            }
            for (number, piece) in heard.try_iter().take(QUEUED) {
                over |= number == 0 && piece.is_none();
                let piece = piece.unwrap_or_default();
                if number == 1 && passed_on {
                    let _ = desk.err.write_all(&piece);
                }
                said[number].extend(piece);
                if said[number].len() > LARGEST_ANSWER {
                    return Err(self.lost("it answers without end"));
                }
            }
            if over && let Some(status) = child.0.try_wait().map_err(|it| self.fault(&it))? {
                // What it said last is on its way yet.
                while let Ok((1, Some(piece))) = heard.recv_timeout(Duration::from_millis(100)) {
                    if passed_on {
                        let _ = desk.err.write_all(&piece);
                    }
                    said[1].extend(piece);
                    if said[1].len() > LARGEST_ANSWER {
                        break;
                    }
                }
                let [out, err] = said;
                return Ok((status, out, err));
            }
            if clock::now().since(began) > patience {
                return Err(self.lost(format!("it did not answer within {patience}")));
            }
        }
    }

    /// Does something there, as far as that can be done at once.
    fn briefly(&self, mut command: Command) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = self.spawn(&mut command) else { return };
        for _ in 0..150 {
            if !matches!(child.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn spawn(&self, command: &mut Command) -> Result<BoardProcess, Fault> {
        // What asks for a password has to stay with its terminal. Without one it is ended with all that it started.
        if File::open("/dev/tty").is_err() {
            command.process_group(0);
        }
        command.spawn().map(BoardProcess).map_err(|error| {
            let fault = Fault::new(Doing::Start, self.board.program(), &error);
            match (error.kind(), &self.board) {
                (io::ErrorKind::NotFound, Board::Ssh { .. }) => {
                    fault.hinting("install OpenSSH's client")
                }
                (io::ErrorKind::NotFound, Board::Adb(_)) => {
                    fault.hinting("install Android's platform tools")
                }
                _ => fault,
            }
        })
    }

    fn fault(&self, error: &io::Error) -> Fault {
        Fault::new(Doing::Reach, self.board.name(), error)
    }

    /// The fault of a board that cannot be reached.
    pub fn lost(&self, why: impl Into<String>) -> Fault {
        Fault::told(Doing::Reach, self.board.name(), why)
    }

    /// What the board calls its processor.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn machine(&self, desk: &mut BoardDesk<'_>) -> Result<String, Fault> {
        let command = self.script(MACHINE, &[]);
        // Somebody may have to type a password.
        let patience = if File::open("/dev/tty").is_ok() { LOGIN } else { SILENCE };
        self.ask(command, Stdio::null(), desk, patience)
    }

    /// Puts a program there, into a folder that is made for it; that folder.
    ///
    /// # Errors
    /// When it cannot be read here, or there is no place for it there.
    pub fn put(
        &self,
        program: &Path,
        number: &str,
        place: Option<&str>,
        desk: &mut BoardDesk<'_>,
    ) -> Result<String, Error> {
        let fault = |error: io::Error| Fault::new(Doing::Read, program.to_text(), &error);
        let file = File::open(program).map_err(fault)?;
        let bytes = file.metadata().map_err(fault)?.len();
        let name = format!("{FOLDER}{number}");
        // What is run there needs some room, too.
        let room = (bytes.div_ceil(1024) + 1024).to_string();
        let words = [&*name, &room, place.unwrap_or_default(), &bytes.to_string()];
        let make = MAKE.replace("PLACES", place.map_or(PLACES, |_| "\"$3\""));
        let streams = matches!(self.board, Board::Ssh { .. });
        let take = if streams { TAKE } else { "" };
        let command = self.script(&format!("{make}{take}{TELL}"), &words);
        let input = if streams { Stdio::from(file) } else { Stdio::null() };
        let patience = SILENCE + Nanos::secs(bytes / SLOWEST);
        let folder = match self.ask(command, input, desk, patience)?.as_str() {
            "none" => {
                let where_to =
                    place.map_or("any folder it is tried in".into(), |it| format!("'{it}'"));
                let why = format!(
                    "{} of {} has no room for {} KiB, or does not let programs run",
                    where_to,
                    self.board.name(),
                    bytes.div_ceil(1024)
                );
                return Err(
                    Refusal::new(why, "name another folder of the board with --folder").into()
                );
            }
            "half" => {
                let why = "the program did not arrive whole there: no room, or the link was lost";
                return Err(self.lost(why).into());
            }
            folder if folder.ends_with(&name) => folder.to_string(),
            other => return Err(self.lost(format!("it answered '{other}'")).into()),
        };
        if !streams && let Err(fault) = self.push(program, &folder, desk, patience) {
            self.remove(&folder);
            return Err(fault.into());
        }
        Ok(folder)
    }

    /// Copies the program by adb, which tells of it on both streams.
    fn push(
        &self,
        program: &Path,
        folder: &str,
        desk: &mut BoardDesk<'_>,
        patience: Nanos,
    ) -> Result<(), Fault> {
        let mut command = self.command();
        command.arg("push").arg(program).arg(format!("{folder}/assay"));
        command.stdin(Stdio::null());
        let (status, _, said) = self.hear(&mut command, desk, patience, false)?;
        if status.success() {
            return Ok(());
        }
        let said = name::of_bytes(&said);
        let why = said.lines().last().unwrap_or("adb push failed");
        Err(self.lost(why.trim_start_matches("adb: ")))
    }

    /// Starts the program there, with pipes to its standard input and output.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&self, folder: &str) -> Result<BoardProcess, Fault> {
        let mut command = self.script(START, &[folder]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawn(&mut command)
    }

    /// Removes the folder there, as far as it can be reached.
    pub fn remove(&self, folder: &str) {
        self.briefly(self.script(REMOVE, &[folder]));
    }
}

impl Drop for BoardLink {
    /// Ends the connection that sessions shared.
    fn drop(&mut self) {
        if let Board::Ssh { destination, options } = &self.board
            // A connection that the user shares with others is not ours to end.
            && !options.iter().any(|it| it.to_ascii_lowercase().starts_with("controlpath"))
        {
            let mut command = self.command();
            command.args(["-O", "exit", "--", destination]);
            self.briefly(command);
        }
        // What stays is told at the end.
        let _ = File::open(&self.desk).map(|open| remove_tree(&self.desk, &open, false));
    }
}

/// Starts a thread, where another may be started.
pub fn thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().spawn(work)
}

/// A program that reaches a board; it ends with this value.
#[derive(Debug)]
pub struct BoardProcess(pub Child);

impl Drop for BoardProcess {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        let id = Pid::from_child(&self.0);
        // Alone in its group, or with others in ours.
        if rustix::process::getpgid(Some(id)).is_ok_and(|group| group == id) {
            let _ = rustix::process::kill_process_group(id, Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is at hand here while a board is asked.
pub struct BoardDesk<'a> {
    /// Signals end it at any moment.
    pub events: &'a EventLoop,
    /// Where complaints go.
    pub err: &'a mut dyn Write,
    /// The signal that has come.
    pub signal: Option<i32>,
}

/// What the answer to a question may come to, bytes.
const LARGEST_ANSWER: usize = 1 << 20;
/// Lines that wait to be taken.
const QUEUED: usize = 16;
/// How long somebody may take for a password; sshd waits as long (LoginGraceTime).
const LOGIN: Nanos = Nanos::secs(120);
/// The slowest link over which a program is sent, bytes in a second.
const SLOWEST: u64 = 16 << 10;

/// Reads lines of any length; `each` is told each, with its end, until it says no.
///
/// # Errors
/// When they cannot be read.
pub fn lines(from: impl io::Read, mut each: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    // A line that never ends is cut.
    const LONGEST: u64 = 1 << 20;
    let mut from = io::BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = io::Read::by_ref(&mut from).take(LONGEST);
        if io::BufRead::read_until(&mut limited, b'\n', &mut line)? == 0 || !each(&line) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(board: &str, option: Option<&str>) -> Result<Board, Refusal> {
        let words = option.into_iter().chain([board, "quick"]);
        let words = ["on"].into_iter().chain(words);
        #[derive(clap::Parser)]
        struct Words {
            #[command(flatten)]
            on: OnArgs,
        }
        let words = <Words as clap::Parser>::try_parse_from(words).expect("words");
        Board::of(&words.on)
    }

    #[test]
    fn a_board_is_a_host_or_an_android_device() {
        let ssh = |destination: &str, options: &[&str]| Board::Ssh {
            destination: destination.into(),
            options: options.iter().map(ToString::to_string).collect(),
        };
        for (name, option, expected) in [
            ("pi@board", None, ssh("pi@board", &[])),
            ("ssh://pi@board:2222", None, ssh("ssh://pi@board:2222", &[])),
            ("board", Some("-p22"), ssh("board", &["-p", "22"])),
            ("board", Some("-oUser=x"), ssh("board", &["-o", "User=x"])),
            ("adb", None, Board::Adb(None)),
            ("adb:0123", None, Board::Adb(Some("0123".into()))),
            ("adb:10.0.0.2:5555", None, Board::Adb(Some("10.0.0.2:5555".into()))),
        ] {
            assert_eq!(named(name, option), Ok(expected), "{name}");
        }
        for (name, option) in
            [("a b", None), ("", None), ("adb:", None), ("adb:-s", None), ("adb", Some("-p22"))]
        {
            assert!(named(name, option).is_err(), "{name}");
        }
    }
}
