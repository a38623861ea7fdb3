//! What is written for somebody to read: a reader that went away is no failure, and whatever else keeps
//! the program from writing is a fault. All text goes through one filter here: of what is no text, or acts upon a
//! terminal, nothing passes but our own layout and colours. The rest is written as a shell takes it.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use crate::report::TerminalStyle;
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::name;

/// A writer for which a reader that went away is no failure: what nobody reads is not written.
pub struct PipeWriter<'a> {
    inner: &'a mut dyn Write,
    /// It is a terminal, which colours and a page that is drawn anew are for.
    terminal: bool,
    pub gone: bool,
}

impl<'a> PipeWriter<'a> {
    /// One whose reader is there, as far as anybody knows.
    pub fn new(inner: &'a mut dyn Write, terminal: bool) -> Self {
        Self { inner, terminal, gone: false }
    }

    /// Writes output of another program: as it is, but for a terminal.
    ///
    /// # Errors
    /// When it cannot be written, though somebody reads.
    pub fn write_foreign(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal {
            return self.write_all(bytes);
        }
        let outcome = self.inner.write_all(bytes);
        self.forgive(outcome, ())
    }

    /// The outcome, without the failure that is none; `nothing` stands for it.
    fn forgive<T>(&mut self, outcome: io::Result<T>, nothing: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(nothing)
            }
            outcome => outcome,
        }
    }
}

impl Write for PipeWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = match filtered(bytes, self.terminal) {
            Cow::Borrowed(bytes) => self.inner.write(bytes),
            Cow::Owned(other) => self.inner.write_all(&other).map(|()| bytes.len()),
        };
        self.forgive(outcome, bytes.len())
    }

    /// In one piece, so that a part of a sentence is not taken for the whole of it.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        match text.as_str() {
            Some(text) => self.write_all(text.as_bytes()),
            None => self.write_all(text.to_string().as_bytes()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.forgive(outcome, ())
    }
}

pub fn escaped(bytes: &[u8]) -> Cow<'_, [u8]> {
    filtered(bytes, false)
}

/// Output as people may see it. Of what is written at once a return of the carriage may stand at either end: a line
/// that is written again and again.
fn filtered(bytes: &[u8], terminal: bool) -> Cow<'_, [u8]> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if bytes.iter().all(plain) {
        return bytes.into();
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(name::of_bytes(bytes)),
    };
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = text[at..].find(['\r', '\x1b']) {
        at += found;
        let ours = own_layout(&text[at..], terminal, at == 0);
        if ours > 0 {
            out.push_str(&name::shown(&text[from..at]));
            out.push_str(&text[at..at + ours]);
            from = at + ours;
        }
        at += ours.max(1);
    }
    let last = name::shown(&text[from..]);
    if let (true, Cow::Borrowed(text), Cow::Borrowed(_)) = (out.is_empty(), &text, &last) {
        return text.as_bytes().into();
    }
    out.push_str(&last);
    out.into_bytes().into()
}

/// Bytes of the layout of ours with which a text begins; 0 where it does with none.
fn own_layout(text: &str, terminal: bool, first: bool) -> usize {
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if terminal {
        if let Some(rest) = text.strip_prefix("\r\x1b[") {
            // A line, or so many of a page, are drawn anew.
            let digits = number(rest);
            match &rest[digits..] {
                rest if digits == 0 && rest.starts_with('K') => return 4,
                rest if digits > 0 && rest.starts_with("A\x1b[J") => return 3 + digits + 4,
                _ => {}
            }
        }
        const ANEW: &str = "\x1b[H\x1b[2J";
        if first && text.starts_with(ANEW) {
            return ANEW.len();
        }
        if let Some(end) = text.find('m').filter(|_| text.starts_with("\x1b["))
            && TerminalStyle::CODES.contains(&&text[2..end])
        {
            return end + 1;
        }
    }
    usize::from(text.starts_with('\r') && (first || text.len() == 1))
}

/// A failure to write the output, as a fault.
pub fn printed(outcome: io::Result<()>) -> Result<(), Error> {
    outcome.map_err(|error| Fault::new(Doing::Write, "standard output", &error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &[u8], terminal: bool) -> String {
        String::from_utf8(filtered(text, terminal).into_owned()).expect("text")
    }

    #[test]
    fn our_own_layout_passes_and_nothing_else() {
        use crate::report::Ink;
        let coloured = TerminalStyle { colour: true, ..TerminalStyle::default() };
        let inks = [Ink::Plain, Ink::Faint, Ink::Strong, Ink::Good, Ink::Careful, Ink::Bad];
        let painted = inks.iter().map(|ink| coloured.paint(*ink, "word"));
        let heated = (0..5).map(|level| coloured.heat(level, "word"));
        for text in painted.chain(heated) {
            assert_eq!(seen(text.as_bytes(), true), text);
            assert!(!seen(text.as_bytes(), false).contains('\x1b'));
        }
        for text in
            ["\r\x1b[Kline", "\r\x1b[12A\x1b[Ja\nb\n", "\x1b[H\x1b[2Ja\n", "\r1 MB", "eta\r"]
        {
            assert_eq!(seen(text.as_bytes(), true), text);
        }
        for (text, shown) in [
            (&b"a\x1b[2Jb"[..], r"a$'\033'[2Jb"),
            (b"\x1b]0;title\x07", r"$'\033']0;title$'\007'"),
            (b"\x1b[8mhidden", r"$'\033'[8mhidden"),
            (b"a\rb", r"a$'\015'b"),
            (b"a\x9b2J\xff", r"a$'\233'2J$'\377'"),
            (
                "a\u{9b}b\u{202e}c\u{feff}".as_bytes(),
                r"a$'\302\233'b$'\342\200\256'c$'\357\273\277'",
            ),
            ("é ✓ \u{10fe0a}".as_bytes(), r"é ✓ $'\012'"),
        ] {
            assert_eq!(seen(text, true), shown);
            assert_eq!(seen(text, false), shown);
        }
    }

    #[test]
    fn random_bytes_leave_nothing_that_acts() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..next() % 24).map(|_| (next() >> 8) as u8).collect();
            let shown = seen(&bytes, false);
            let inner = shown.trim_matches('\r');
            let hidden = inner.chars().find(|c| name::is_hidden(*c) && !matches!(c, '\n' | '\t'));
            assert_eq!(hidden, None, "{bytes:?}: {shown:?}");
        }
    }
}
