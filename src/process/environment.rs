//! What surrounds the program: its variables and its terminal. Read here, once, and nowhere else.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::report::TerminalStyle;
use assay_engine::sys::start;
use assay_plan::name::NameText as _;
use assay_plan::plan::PlanBoard;
use assay_record::record::console::CHECKSUM_WIDTH;
use assay_record::record::document_file;

#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `NO_COLOR` is set to something.
    pub no_colour: bool,
    /// `TERM`.
    pub term: String,
    /// 80 columns of ASCII that go on and on: a serial console.
    pub plain: bool,
    /// Columns that a checksum takes from each line.
    pub checksum: usize,
    /// The locale's character set is UTF-8.
    pub utf8: bool,
    /// `COLUMNS`, when it is a number.
    pub columns: Option<usize>,
    /// Standard output is a terminal, and how wide it is.
    pub out: Option<usize>,
    /// Lines of that terminal; 0 when it does not tell.
    pub rows: usize,
    /// Standard error is a terminal, and how wide it is.
    pub err: Option<usize>,
    /// `ASSAY_DIALECT`: which of a tool's ways a dialect follows.
    pub dialect: Option<OsString>,
    /// `ASSAY_RECORD`: where a dialect keeps its record.
    pub record: Option<PathBuf>,
    /// `ASSAY_COLD`: what a dialect drops from memory first.
    pub cold: Option<OsString>,
    /// `ASSAY_BOARD_RECORD`: the folder for the record of a run that was started from a desk.
    pub board_record: Option<PathBuf>,
    /// `ASSAY_BOARD_VERB` and `ASSAY_BOARD_SHELL`: how that desk reaches this machine.
    pub board: Option<PlanBoard>,
    /// `ASSAY_BINARIES`: the folder with programs for other processors.
    pub binaries: Option<PathBuf>,
    /// `ASSAY_PLOT`: where a dialect draws what it measured.
    pub plot: Option<PathBuf>,
    /// `ASSAY_SETTLE`: whether a dialect watches the flush after its copy.
    pub settle: Option<OsString>,
    /// `ASSAY_STRICT`: whether fio's words that do not mean what they seem to are refused.
    pub strict: Option<OsString>,
    /// `ASSAY_LARGEST_DOCUMENT`: what a record, a plan or another document may come to.
    pub largest_document: Option<OsString>,
    /// `ASSAY_VERDICT`: where the verdict on a dialect's run is said.
    pub verdict: Option<PathBuf>,
    /// `ASSAY_OVERWRITE`: the device whose content may be lost.
    pub overwrite: Option<PathBuf>,
}

/// Width of a page where nothing tells.
const PAGE: usize = 90;
/// Width of a page on a serial console.
const PLAIN: usize = 80;
/// Width of a page at the least.
const LEAST: usize = 60;
/// Width of the lines of a log where nobody asks for one.
const LOG: usize = 1000;

impl Environment {
    pub fn read() -> Self {
        let text = |name: &str| std::env::var(name).unwrap_or_default();
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .map(|name| text(name))
            .find(|value| !value.is_empty())
            .unwrap_or_default()
            .to_ascii_lowercase();
        let (out, rows, err) = match set("ASSAY_TERMINAL") {
            Some(told) => terminal(&told.to_text()),
            None => (columns(io::stdout()), rows(), columns(io::stderr())),
        };
        Self {
            no_colour: set("NO_COLOR").is_some(),
            plain: text("TERM") == "dumb" && (out.is_some() || err.is_some()),
            term: text("TERM"),
            checksum: 0,
            utf8: locale.contains("utf-8") || locale.contains("utf8"),
            columns: text("COLUMNS").parse().ok(),
            out,
            rows,
            err,
            dialect: set("ASSAY_DIALECT"),
            record: set("ASSAY_RECORD").map(PathBuf::from),
            cold: set("ASSAY_COLD"),
            board_record: set("ASSAY_BOARD_RECORD").map(PathBuf::from),
            board: set("ASSAY_BOARD_VERB")
                .zip(set("ASSAY_BOARD_SHELL"))
                .map(|(verb, shell)| PlanBoard { verb: verb.to_text(), shell: shell.to_text() }),
            binaries: set("ASSAY_BINARIES").map(PathBuf::from),
            plot: set("ASSAY_PLOT").map(PathBuf::from),
            settle: set("ASSAY_SETTLE"),
            strict: set("ASSAY_STRICT"),
            largest_document: set(document_file::VARIABLE),
            verdict: set("ASSAY_VERDICT").map(PathBuf::from),
            overwrite: set("ASSAY_OVERWRITE").map(PathBuf::from),
        }
    }

    /// Any variable: words of a tool may stand for what one holds.
    pub fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_text())
    }

    /// The same where that is so, or `plain` says so.
    pub fn plain_if(&self, plain: bool) -> Self {
        Self { plain: self.plain || plain, ..self.clone() }
    }

    /// The same for lines that end with a checksum.
    pub fn checksummed(&self) -> Self {
        Self { plain: true, checksum: CHECKSUM_WIDTH, ..self.clone() }
    }

    /// The same with the size that the terminal has by now.
    pub fn resized(&self) -> Self {
        match std::env::var_os("ASSAY_TERMINAL") {
            Some(_) => self.clone(),
            None => Self { out: columns(io::stdout()), rows: rows(), ..self.clone() },
        }
    }

    /// The terminal in a word, for a program that shows what it says here: columns and lines of standard output,
    /// columns of standard error; nothing where there is none.
    pub fn terminal_text(&self) -> String {
        let out = self.out.map_or(String::new(), |columns| format!("{columns}x{}", self.rows));
        let err = self.err.map_or(String::new(), |columns| columns.to_string());
        format!("{out},{err}")
    }

    /// What can be shown on standard output.
    pub fn out_style(&self) -> TerminalStyle {
        self.style(self.out)
    }

    /// What can be shown on standard error.
    pub fn err_style(&self) -> TerminalStyle {
        self.style(self.err)
    }

    /// What can be shown in lines on standard error that scripts read, too: those that no terminal shows are
    /// as wide as they need to be.
    pub fn err_lines_style(&self) -> TerminalStyle {
        let style = self.err_style();
        TerminalStyle { width: if self.err.is_some() { style.width } else { usize::MAX }, ..style }
    }

    /// What can be shown in the lines of a log on standard output: they are as wide as the terminal is,
    /// and as they need to be where nobody asks for a width.
    pub fn log_style(&self) -> TerminalStyle {
        if self.plain {
            return self.out_style();
        }
        let asked = self.columns.or(self.out.filter(|&columns| columns > 0));
        let width = asked.unwrap_or(LOG).max(LEAST);
        TerminalStyle { width, ..self.out_style() }
    }

    /// What can be shown in a file.
    pub fn file_style(&self) -> TerminalStyle {
        TerminalStyle { colour: false, unicode: self.utf8, width: PAGE }
    }

    fn style(&self, terminal: Option<usize>) -> TerminalStyle {
        if self.plain {
            let wide = self.columns.unwrap_or(PLAIN).clamp(LEAST, PLAIN);
            return TerminalStyle { colour: false, unicode: false, width: wide - self.checksum };
        }
        let wide = self.columns.or(terminal.filter(|&columns| columns > 0)).unwrap_or(PAGE);
        TerminalStyle {
            colour: terminal.is_some() && !self.no_colour,
            unicode: self.utf8,
            width: wide.clamp(LEAST, PAGE),
        }
    }

    /// The lines of a terminal on which a page that is so wide can be drawn anew in place.
    pub fn page(&self, columns: usize) -> Option<usize> {
        let fits = self.out.is_some_and(|wide| wide >= columns);
        (fits && self.rows > 0 && !self.plain).then_some(self.rows)
    }

    /// A line can be rewritten on standard error.
    pub fn live(&self) -> bool {
        self.err.is_some() && !self.plain
    }
}

/// Standard output and error. One that was closed when the program was started stays so: the language's
/// runtime has opened `/dev/null` in its place, and what is written there would pass for written.
pub fn standard_streams() -> [Box<dyn Write>; 2] {
    let open: [Box<dyn Write>; 2] = [Box::new(io::stdout()), Box::new(io::stderr())];
    let [out, err] = open;
    [
        if start::was_closed(1) { Box::new(ClosedStream) } else { out },
        if start::was_closed(2) { Box::new(ClosedStream) } else { err },
    ]
}

/// A stream that nothing can be written to.
struct ClosedStream;

impl Write for ClosedStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal as [`Environment::terminal_text`] tells it: columns and lines of standard output, columns of
/// standard error.
fn terminal(told: &str) -> (Option<usize>, usize, Option<usize>) {
    let (out, err) = told.split_once(',').unwrap_or((told, ""));
    let size = out.split_once('x');
    let number = |text: &str| text.parse().ok();
    (
        size.and_then(|(columns, _)| number(columns)),
        size.and_then(|(_, rows)| number(rows)).unwrap_or(0),
        number(err),
    )
}

/// Columns of a terminal (0 when it does not tell); `None` for anything else.
fn columns(stream: impl std::os::fd::AsFd + std::io::IsTerminal) -> Option<usize> {
    stream
        .is_terminal()
        .then(|| rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col)))
}

/// Lines of the terminal on standard output; 0 when it does not tell.
fn rows() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(0, |size| usize::from(size.ws_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_needs_a_terminal_that_it_fits_on() {
        let terminal = Environment { out: Some(90), rows: 24, ..Default::default() };
        assert_eq!(terminal.page(80), Some(24));
        for poor in [
            Environment { out: None, ..terminal.clone() },
            Environment { out: Some(60), ..terminal.clone() },
            Environment { rows: 0, ..terminal.clone() },
            Environment { plain: true, ..terminal.clone() },
        ] {
            assert_eq!(poor.page(80), None, "{poor:?}");
        }
    }

    #[test]
    fn a_terminal_is_told_and_understood() {
        for (out, rows, err) in
            [(None, 0, None), (Some(120), 40, Some(80)), (None, 0, Some(0)), (Some(90), 0, None)]
        {
            let told = Environment { out, rows, err, ..Default::default() }.terminal_text();
            assert_eq!(terminal(&told), (out, rows, err), "{told}");
        }
        assert_eq!(terminal("nonsense"), (None, 0, None));
    }

    #[test]
    fn colour_needs_a_terminal_and_nobody_against_it() {
        let terminal = Environment { out: Some(120), term: "xterm".into(), ..Default::default() };
        assert!(terminal.out_style().colour);
        assert!(!terminal.err_style().colour);
        assert!(!Environment { no_colour: true, ..terminal.clone() }.out_style().colour);
        let plain = terminal.plain_if(true);
        assert!(!plain.out_style().colour && !plain.live());
        let style = |colour, width| TerminalStyle { colour, unicode: false, width };
        assert_eq!(plain.out_style(), style(false, 80));
        assert_eq!(plain.checksummed().out_style(), style(false, 74));
        assert_eq!(terminal.out_style().width, 90);
        assert_eq!(Environment { columns: Some(80), ..terminal }.out_style().width, 80);
    }
}
