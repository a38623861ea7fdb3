//! The words of GNU dd 9.1.

use std::fmt::Write;
use std::path::PathBuf;

use super::number::{self, MAX, NumberError};
use super::quote::plain;
use super::{DdComplaint, StatusLevel};
use crate::plan::{
    CaseChange, Charset, CopyCalls, CopyFlush, CopyInput, CopyLength, CopyOutput, CopyWork,
    EndFlags, RecordConversion, Resync,
};
use crate::unit::Bytes;

/// Size of a block where nothing is said.
const BLOCK: u64 = 512;

/// What `conv=` can say; the first of each row is the word.
const ASCII: u32 = 1 << 0;
const EBCDIC: u32 = 1 << 1;
const IBM: u32 = 1 << 2;
const BLOCKS: u32 = 1 << 3;
const UNBLOCK: u32 = 1 << 4;
const LCASE: u32 = 1 << 5;
const UCASE: u32 = 1 << 6;
const SPARSE: u32 = 1 << 7;
const SWAB: u32 = 1 << 8;
const SYNC: u32 = 1 << 9;
const EXCL: u32 = 1 << 10;
const NOCREAT: u32 = 1 << 11;
const NOTRUNC: u32 = 1 << 12;
const NOERROR: u32 = 1 << 13;
const FDATASYNC: u32 = 1 << 14;
const FSYNC: u32 = 1 << 15;
/// Reads and writes have buffers of their own: blocks are gathered anew, even with `bs=`.
const GATHER: u32 = 1 << 16;

const CONVERSIONS: [(&str, u32); 16] = [
    ("ascii", ASCII | UNBLOCK | GATHER),
    ("ebcdic", EBCDIC | BLOCKS | GATHER),
    ("ibm", IBM | BLOCKS | GATHER),
    ("block", BLOCKS | GATHER),
    ("unblock", UNBLOCK | GATHER),
    ("lcase", LCASE | GATHER),
    ("ucase", UCASE | GATHER),
    ("sparse", SPARSE),
    ("swab", SWAB | GATHER),
    ("sync", SYNC),
    ("excl", EXCL),
    ("nocreat", NOCREAT),
    ("notrunc", NOTRUNC),
    ("noerror", NOERROR),
    ("fdatasync", FDATASYNC),
    ("fsync", FSYNC),
];

const APPEND: u32 = 1 << 0;
const DIRECT: u32 = 1 << 1;
const DIRECTORY: u32 = 1 << 2;
const DSYNC: u32 = 1 << 3;
const FULLY_SYNC: u32 = 1 << 4;
const FULLBLOCK: u32 = 1 << 5;
const NONBLOCK: u32 = 1 << 6;
const NOATIME: u32 = 1 << 7;
const NOCACHE: u32 = 1 << 8;
const NOCTTY: u32 = 1 << 9;
const NOFOLLOW: u32 = 1 << 10;
const COUNT_BYTES: u32 = 1 << 11;
const SKIP_BYTES: u32 = 1 << 12;
const SEEK_BYTES: u32 = 1 << 13;

const FLAGS: [(&str, u32); 14] = [
    ("append", APPEND),
    ("direct", DIRECT),
    ("directory", DIRECTORY),
    ("dsync", DSYNC),
    ("sync", FULLY_SYNC),
    ("fullblock", FULLBLOCK),
    ("nonblock", NONBLOCK),
    ("noatime", NOATIME),
    ("nocache", NOCACHE),
    ("noctty", NOCTTY),
    ("nofollow", NOFOLLOW),
    ("count_bytes", COUNT_BYTES),
    ("skip_bytes", SKIP_BYTES),
    ("seek_bytes", SEEK_BYTES),
];

/// A length as given: a number, and whether its text speaks of bytes.
#[derive(Clone, Copy, Default)]
struct CountedLength {
    number: u64,
    bytes: bool,
}

impl CountedLength {
    fn extent(self, bytes: bool, block: u64) -> CopyLength {
        if bytes || self.bytes {
            CopyLength { blocks: self.number / block, bytes: Bytes(self.number % block) }
        } else {
            CopyLength { blocks: self.number, bytes: Bytes::ZERO }
        }
    }
}

/// The operands so far.
#[derive(Default)]
struct GnuOperands {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    ibs: Option<u64>,
    obs: Option<u64>,
    bs: Option<u64>,
    cbs: Option<u64>,
    skip: CountedLength,
    seek: CountedLength,
    count: Option<CountedLength>,
    conv: u32,
    iflag: u32,
    oflag: u32,
    status: StatusLevel,
    warnings: String,
}

pub(super) fn parse(words: &[String]) -> Result<(CopyWork, StatusLevel, String), DdComplaint> {
    options(words)?;
    let mut operands = GnuOperands::default();
    let mut dashes = false;
    for word in words {
        if word == "--" && !dashes {
            dashes = true;
            continue;
        }
        if let Err(mut complaint) = operands.take(word) {
            complaint.stderr.insert_str(0, &operands.warnings);
            return Err(complaint);
        }
    }
    operands.finish()
}

/// The first option among the words is answered before any operand is read.
fn options(words: &[String]) -> Result<(), DdComplaint> {
    let option = words
        .iter()
        .take_while(|word| *word != "--")
        .find(|word| word.len() > 1 && word.starts_with('-'));
    let Some(option) = option else { return Ok(()) };
    let Some(long) = option.strip_prefix("--") else {
        let letter = option[1..].chars().next().unwrap_or('-');
        return Err(usage(format!("invalid option -- '{letter}'")));
    };
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    let known = ["help", "version"].into_iter().find(|known| known.starts_with(name));
    match (known.filter(|_| !name.is_empty()), value) {
        (Some(known), Some(_)) => {
            Err(usage(format!("option '--{known}' doesn't allow an argument")))
        }
        (Some("help"), None) => Err(answer(HELP.into())),
        (Some(_), None) => Err(answer(format!(
            "dd (assay) {}, speaking as dd (coreutils) 9.1\n",
            env!("CARGO_PKG_VERSION")
        ))),
        (None, _) => Err(usage(format!("unrecognized option '{option}'"))),
    }
}

fn answer(stdout: String) -> DdComplaint {
    DdComplaint { stdout, stderr: String::new(), code: 0 }
}

fn complaint(text: impl std::fmt::Display) -> DdComplaint {
    DdComplaint { stdout: String::new(), stderr: format!("dd: {text}\n"), code: 1 }
}

fn usage(text: impl std::fmt::Display) -> DdComplaint {
    complaint(format_args!("{text}\nTry 'dd --help' for more information."))
}

impl GnuOperands {
    fn take(&mut self, word: &str) -> Result<(), DdComplaint> {
        let unknown = || usage(format_args!("unrecognized operand {}", plain(word)));
        let (name, value) = word.split_once('=').ok_or_else(unknown)?;
        match name {
            "if" => self.input = Some(value.into()),
            "of" => self.output = Some(value.into()),
            "conv" => self.conv |= symbols(value, &CONVERSIONS, "invalid conversion")?,
            "iflag" => self.iflag |= symbols(value, &FLAGS, "invalid input flag")?,
            "oflag" => self.oflag |= symbols(value, &FLAGS, "invalid output flag")?,
            "status" => self.status = status(value)?,
            "ibs" => self.ibs = Some(self.number(value, 1, MAX - 1)?),
            "obs" => self.obs = Some(self.number(value, 1, MAX - 1)?),
            "bs" => self.bs = Some(self.number(value, 1, MAX - 1)?),
            "cbs" => self.cbs = Some(self.number(value, 1, MAX)?),
            "skip" | "iseek" => self.skip = self.length(value)?,
            "seek" | "oseek" => self.seek = self.length(value)?,
            "count" => self.count = Some(self.length(value)?),
            _ => {
                // Its number is looked at first.
                let _ = number::gnu(value).map(|(_, zero)| self.warn_zero(zero));
                return Err(unknown());
            }
        }
        Ok(())
    }

    fn warn_zero(&mut self, zero: bool) {
        if zero {
            self.warnings.push_str(
                "dd: warning: '0x' is a zero multiplier; use '00x' if that is intended\n",
            );
        }
    }

    fn number(&mut self, text: &str, least: u64, most: u64) -> Result<u64, DdComplaint> {
        let bad = |bad: NumberError| {
            let large = match bad {
                NumberError::Form => "",
                NumberError::Large => ": Value too large for defined data type",
            };
            complaint(format_args!("invalid number: {}{large}", plain(text)))
        };
        let (number, zero) = number::gnu(text).map_err(bad)?;
        self.warn_zero(zero);
        match number {
            _ if number < least => Err(bad(NumberError::Form)),
            _ if number > most => Err(bad(NumberError::Large)),
            _ => Ok(number),
        }
    }

    fn length(&mut self, text: &str) -> Result<CountedLength, DdComplaint> {
        Ok(CountedLength { number: self.number(text, 0, MAX)?, bytes: text.contains('B') })
    }

    fn finish(mut self) -> Result<(CopyWork, StatusLevel, String), DdComplaint> {
        if self.bs.is_none() {
            self.conv |= GATHER;
        }
        let ibs = self.bs.or(self.ibs).unwrap_or(BLOCK);
        let obs = self.bs.or(self.obs).unwrap_or(BLOCK);
        if self.cbs.is_none() {
            self.conv &= !(BLOCKS | UNBLOCK);
        }
        if self.oflag & FULLBLOCK != 0 {
            return Err(self.late(usage("invalid output flag: 'fullblock'")));
        }
        let both = |set: u32, mask: u32| (set & mask).count_ones() > 1;
        for (clash, what) in [
            (both(self.conv, ASCII | EBCDIC | IBM), "any two of {ascii,ebcdic,ibm}"),
            (both(self.conv, BLOCKS | UNBLOCK), "block and unblock"),
            (both(self.conv, LCASE | UCASE), "lcase and ucase"),
            (both(self.conv, EXCL | NOCREAT), "excl and nocreat"),
            (
                both(self.iflag, DIRECT | NOCACHE) || both(self.oflag, DIRECT | NOCACHE),
                "direct and nocache",
            ),
        ] {
            if clash {
                return Err(self.late(complaint(format_args!("cannot combine {what}"))));
            }
        }
        let has = |bit: u32| self.conv & bit != 0;
        if self.oflag & APPEND != 0 && !has(NOTRUNC) {
            let _ = writeln!(self.warnings, "dd: you probably want conv=notrunc with oflag=append");
        }
        let shaped = has(BLOCKS | UNBLOCK);
        let count = self.count.map(|count| {
            let bytes = self.iflag & COUNT_BYTES != 0;
            (count.number != MAX).then(|| count.extent(bytes, ibs))
        });
        let copy = CopyWork {
            from: CopyInput { path: self.input, flags: flags(self.iflag) },
            to: CopyOutput {
                path: self.output,
                flags: flags(self.oflag),
                exclusive: has(EXCL),
                no_create: has(NOCREAT),
                no_truncate: has(NOTRUNC),
            },
            calls: CopyCalls::ReadWrite,
            input_block: Bytes(ibs),
            output_block: Bytes(obs),
            block_for_block: !has(GATHER),
            skip: self.skip.extent(self.iflag & SKIP_BYTES != 0, ibs),
            seek: self.seek.extent(self.oflag & SEEK_BYTES != 0, obs),
            count: count.flatten(),
            records: RecordConversion {
                charset: match () {
                    () if has(ASCII) => Charset::Ascii,
                    () if has(EBCDIC) => Charset::Ebcdic,
                    () if has(IBM) => Charset::Ibm,
                    () => Charset::Keep,
                },
                case: match () {
                    () if has(UCASE) => CaseChange::Upper,
                    () if has(LCASE) => CaseChange::Lower,
                    () => CaseChange::Keep,
                },
                swab: has(SWAB),
                swab_blocks: false,
                block: self.cbs.filter(|_| has(BLOCKS)),
                unblock: self.cbs.filter(|_| has(UNBLOCK)),
            },
            keep_going: has(NOERROR),
            unread_counts: false,
            resync: match (has(SYNC), shaped) {
                (false, _) => Resync::No,
                (true, false) => Resync::Zeros,
                (true, true) => Resync::Blanks,
            },
            sparse: has(SPARSE),
            flush: CopyFlush { fdatasync: has(FDATASYNC), fsync: has(FSYNC), unless_failed: false },
            direct_gives_way: false,
            fsync_every_block: false,
        };
        Ok((copy, self.status, self.warnings))
    }

    /// A complaint after all operands were read: what was warned of comes before it.
    fn late(&self, mut complaint: DdComplaint) -> DdComplaint {
        complaint.stderr.insert_str(0, &self.warnings);
        complaint
    }
}

fn flags(set: u32) -> EndFlags {
    let has = |bit: u32| set & bit != 0;
    EndFlags {
        append: has(APPEND),
        direct: has(DIRECT),
        directory: has(DIRECTORY),
        dsync: has(DSYNC),
        sync: has(FULLY_SYNC),
        fullblock: has(FULLBLOCK),
        count_bytes: false,
        seek_bytes: false,
        nonblock: has(NONBLOCK),
        noatime: has(NOATIME),
        nocache: has(NOCACHE),
        noctty: has(NOCTTY),
        nofollow: has(NOFOLLOW),
    }
}

fn symbols(text: &str, known: &[(&str, u32)], wrong: &str) -> Result<u32, DdComplaint> {
    text.split(',').try_fold(0, |set, symbol| {
        let bits = known.iter().find(|(name, _)| *name == symbol).map(|(_, bits)| bits);
        bits.map(|bits| set | bits).ok_or_else(|| usage(format_args!("{wrong}: {}", plain(symbol))))
    })
}

fn status(text: &str) -> Result<StatusLevel, DdComplaint> {
    text.split(',').try_fold(StatusLevel::Full, |_, level| match level {
        "none" => Ok(StatusLevel::None),
        "noxfer" => Ok(StatusLevel::Noxfer),
        "progress" => Ok(StatusLevel::Progress),
        _ => Err(usage(format_args!("invalid status level: {}", plain(level)))),
    })
}

const HELP: &str = "\
Usage: dd [OPERAND]...
  or:  dd OPTION
Copies a file block by block, as GNU dd does, and says how fast that went.

  if=FILE  of=FILE  read from, write to FILE (else standard input, output)
  bs=BYTES          size of reads and writes, instead of ibs and obs (512)
  ibs=BYTES         size of reads (512)
  obs=BYTES         size of writes (512)
  cbs=BYTES         length of a record, for conv=block and unblock
  count=N           copy N input blocks
  skip=N, iseek=N   pass over N input blocks first
  seek=N, oseek=N   pass over N output blocks first
  conv=WORDS        ascii ebcdic ibm block unblock lcase ucase sparse swab sync
                    excl nocreat notrunc noerror fdatasync fsync
  iflag=WORDS       append direct directory dsync sync fullblock nonblock
  oflag=WORDS       noatime nocache noctty nofollow (fullblock: iflag only)
  status=LEVEL      none, noxfer (no rate) or progress (every second)

WORDS are separated by commas. N and BYTES may end in c (1), w (2), b (512),
kB (1000), K or KiB (1024), MB, M or MiB, and so on for G, T, P, E, Z, Y; two
numbers may be multiplied as in 4x512. An N that ends in B counts bytes.
SIGUSR1 makes a running dd report.

Before dd's own lines assay says what may be believed of them. --plan only prints
the plan. Variables: ASSAY_COLD=target drops the source's cached pages first
(machine: all pages), ASSAY_SETTLE=no leaves out watching what is still in memory
afterwards, ASSAY_RECORD=PLACE keeps the record in a file or folder,
ASSAY_DIALECT=busybox speaks as that one does.
";
