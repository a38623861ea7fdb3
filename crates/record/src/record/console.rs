//! A record on a serial console: lines of at most 80 signs of ASCII, each with a checksum, which are found again in a
//! log of the console, between prompts and messages of the kernel, with whatever ends of lines.
//!
//! ```text
//! assay-record begin 01kb0000000000000000000000 312 97213 1a2b3c4d *5e6f
//! assay-record 1 7Vlrb9s2FP0rhD41gGNLfsVJgQFZ1qLFmrZY2n0oioGWrm02EqmRlF... *0a1b
//! assay-record end 01kb0000000000000000000000 *2c3d
//! ```
//!
//! The first line has the name of the run, how many pieces follow, and the length and CRC-32 of the document. Then
//! come its pieces, compressed (DEFLATE) and as base64, counted from 1. A line's checksum is the CRC-16 of IBM 3740 (polynomial 1021, initially ffff) of
//! what stands before the space and the star, in hexadecimal digits; lines of a page have such checksums, too.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::{Record, RecordDocument, document_file};
use assay_plan::name;

/// What each line of a record begins with.
const MARK: &str = "assay-record ";
/// Bytes of the compressed document in a line: a line is then 80 signs long, with a number of five digits.
const PIECE: usize = 42;
const LINE: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_IBM_3740);
const DOCUMENT: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// Signs that a checksum adds to a line.
pub const CHECKSUM_WIDTH: usize = 6;

pub fn checksummed(line: &str) -> String {
    let line = line.trim_end();
    format!("{line} *{:04x}", LINE.checksum(line.as_bytes()))
}

/// What a line says before its checksum, and whether that is right; `None` when it has none.
fn checked(line: &str) -> Option<(&str, bool)> {
    let (said, sum) = line.rsplit_once(" *")?;
    let digits =
        sum.len() == 4 && sum.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    digits.then(|| (said, checksummed(said) == line))
}

/// Writes each line with a checksum at its end; empty lines have nothing to be damaged.
pub struct ChecksumWriter<'a> {
    inner: &'a mut dyn Write,
    line: Vec<u8>,
}

impl<'a> ChecksumWriter<'a> {
    /// One that writes there.
    pub fn new(inner: &'a mut dyn Write) -> Self {
        Self { inner, line: Vec::new() }
    }
}

impl Write for ChecksumWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            // The checksum is that of what is seen.
            let line = name::of_bytes(&line);
            match name::shown(&line).trim_end() {
                "" => self.inner.write_all(b"\n")?,
                line => writeln!(self.inner, "{}", checksummed(line))?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes the lines of a record.
///
/// # Errors
/// When they cannot be written.
pub fn write_lines(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let mut packed = PackedDocument::new();
    RecordDocument::of(record).write(&mut packed)?;
    packed.write_lines(&record.run, out)
}

/// A document on its way into lines.
struct PackedDocument {
    bytes: u64,
    sum: crc::Digest<'static, u32>,
    deflated: DeflateEncoder<Vec<u8>>,
}

impl PackedDocument {
    fn new() -> Self {
        static SUMS: crc::Crc<u32> = DOCUMENT;
        let deflated = DeflateEncoder::new(Vec::new(), Compression::best());
        Self { bytes: 0, sum: SUMS.digest(), deflated }
    }

    fn write_lines(self, run: &str, out: &mut dyn Write) -> io::Result<()> {
        let packed = self.deflated.finish()?;
        let (lines, bytes, sum) = (packed.len().div_ceil(PIECE), self.bytes, self.sum.finalize());
        let mut line = |said: String| writeln!(out, "{}", checksummed(&format!("{MARK}{said}")));
        line(format!("begin {run} {lines} {bytes} {sum:08x}"))?;
        for (number, piece) in (1..).zip(packed.chunks(PIECE)) {
            line(format!("{number} {}", STANDARD.encode(piece)))?;
        }
        line(format!("end {run}"))?;
        out.flush()
    }
}

impl Write for PackedDocument {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.sum.update(bytes);
        self.deflated.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a log of a console holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsoleLog {
    /// The document of the last record in it; `None` where there is none.
    pub document: Option<Result<String, String>>,
    /// Numbers of lines of the log, from 1, whose checksum is not that of what stands there.
    pub damaged: Vec<usize>,
}

/// What the first line of a record says, and the pieces that have come whole, by their numbers.
#[derive(Default)]
struct LoggedRecord {
    run: String,
    lines: usize,
    bytes: u64,
    sum: u32,
    pieces: BTreeMap<usize, Vec<u8>>,
}

/// Whether bytes may be a log with a record in it, rather than a document.
pub fn is_log(bytes: &[u8]) -> bool {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    first != Some(&b'{') && bytes.windows(MARK.len()).any(|found| found == MARK.as_bytes())
}

/// Reads a log of a console. Of a record that stands there several times each line is taken from where it came
/// whole.
pub fn read_log(bytes: &[u8]) -> ConsoleLog {
    let mut log = ConsoleLog::default();
    let mut record: Option<LoggedRecord> = None;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', ' ']);
        // A prompt may stand before it.
        let from = line.find(MARK).unwrap_or(0);
        match checked(&line[from..]) {
            Some((said, true)) => {
                if let Some(said) = said.strip_prefix(MARK) {
                    takes(&mut record, said);
                }
            }
            Some((_, false)) => log.damaged.push(number),
            None if line[from..].starts_with(MARK) => log.damaged.push(number),
            None => {}
        }
    }
    log.document = record.map(|record| record.document());
    log
}

/// Takes in a line that came whole.
fn takes(record: &mut Option<LoggedRecord>, said: &str) {
    let words: Vec<&str> = said.split(' ').collect();
    match words.as_slice() {
        ["begin", run, lines, bytes, sum] => {
            let same = record.take().filter(|record| record.run == *run);
            let fresh = || {
                Some(LoggedRecord {
                    run: run.to_string(),
                    lines: lines.parse().ok()?,
                    bytes: bytes.parse().ok()?,
                    sum: u32::from_str_radix(sum, 16).ok()?,
                    pieces: BTreeMap::new(),
                })
            };
            // The same run, printed again, is the same document unless other rules have judged it since.
            let again = fresh();
            *record = match (same, again) {
                (Some(old), Some(new)) if (old.bytes, old.sum) == (new.bytes, new.sum) => Some(old),
                (_, new) => new,
            };
        }
        [number, piece] => {
            if let Some(record) = record
                && let Ok(number) = number.parse()
                && let Ok(piece) = STANDARD.decode(piece)
            {
                record.pieces.insert(number, piece);
            }
        }
        _ => {}
    }
}

impl LoggedRecord {
    /// The document, or why it cannot be had.
    fn document(&self) -> Result<String, String> {
        let missing: Vec<usize> =
            (1..=self.lines).filter(|number| !self.pieces.contains_key(number)).collect();
        if !missing.is_empty() {
            let shown: Vec<String> = missing.iter().take(8).map(ToString::to_string).collect();
            let more = if missing.len() > shown.len() { ", ..." } else { "" };
            return Err(format!(
                "{} of the {} lines of the record did not arrive: {}{more}",
                missing.len(),
                self.lines,
                shown.join(", ")
            ));
        }
        let packed: Vec<u8> = self.pieces.values().flatten().copied().collect();
        let mut document = Vec::new();
        let read = DeflateDecoder::new(&*packed)
            .take(document_file::largest().0.saturating_add(1))
            .read_to_end(&mut document);
        if document.len() as u64 > document_file::largest().0 {
            return Err(document_file::too_large().to_string());
        }
        let whole = read.is_ok()
            && document.len() as u64 == self.bytes
            && DOCUMENT.checksum(&document) == self.sum;
        let text = whole.then(|| String::from_utf8(document).ok()).flatten();
        text.ok_or_else(|| "its lines are not those of one document".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        super::super::load(&kept.join("../../tests/records/t02-no-flush.json")).expect("a record")
    }

    fn lines() -> Vec<String> {
        let mut out = Vec::new();
        write_lines(&record(), &mut out).expect("written");
        String::from_utf8(out).expect("text").lines().map(String::from).collect()
    }

    fn document() -> String {
        let mut out = Vec::new();
        RecordDocument::of(&record()).write(&mut out).expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_record_comes_back_out_of_a_log() {
        let lines = lines();
        assert!(lines.iter().all(|line| line.is_ascii() && line.len() <= 80), "{lines:?}");
        let log = lines.iter().enumerate().map(|(at, line)| match at {
            3 => format!("[   12.345678] mmc0: new card\r\n{line}\r\n"),
            5 => format!("board:~# {line}\r\n\r\n"),
            _ => format!("{line}  \r\n"),
        });
        let log: String = log.collect();
        assert!(is_log(log.as_bytes()) && !is_log(document().as_bytes()));
        let read = read_log(log.as_bytes());
        assert_eq!(read.damaged, Vec::<usize>::new());
        assert!(read.document == Some(Ok(document())));
    }

    #[test]
    fn what_is_damaged_is_told_and_taken_from_a_second_copy() {
        let lines = lines();
        let mut damaged = lines.clone();
        // A sign is another one, a message stands in the middle, the end of a line is missing.
        damaged[2].replace_range(20..21, "!");
        damaged[4].insert_str(30, "[ 1.5] usb 1-1: reset\r\n");
        damaged[7].truncate(50);
        let once = read_log(damaged.join("\n").as_bytes());
        // The second half of what was broken in two has a checksum, too, and that is wrong.
        assert_eq!(once.damaged, [3, 5, 6, 9]);
        let said =
            format!("3 of the {} lines of the record did not arrive: 2, 4, 7", lines.len() - 2);
        assert_eq!(once.document, Some(Err(said)));
        let mut second = lines.clone();
        second[9].clear();
        let both = [damaged.join("\n"), second.join("\n")].join("\n");
        assert!(read_log(both.as_bytes()).document == Some(Ok(document())));
    }

    #[test]
    fn lines_of_a_page_are_checked_too() {
        let mut out = Vec::new();
        let mut writer = ChecksumWriter::new(&mut out);
        writer.write_all(b"seq-write  1733\n\nver").expect("written");
        writer.write_all(b"dict  sound \n").expect("written");
        let page = String::from_utf8(out).expect("text");
        // CRC-16/IBM-3740 of "123456789" is 29b1, as its catalogue has it.
        assert_eq!(checksummed("123456789"), "123456789 *29b1");
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[1], "");
        assert_eq!(lines[2].rsplit_once(" *").expect("a sum").0, "verdict  sound");
        assert_eq!(read_log(page.as_bytes()), ConsoleLog::default());
        let damaged = page.replace("1733", "1738");
        assert_eq!(read_log(damaged.as_bytes()).damaged, [1]);
    }
}
