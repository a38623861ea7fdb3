//! The words of GNU dd 9.1, with the numbers of the newest.

use std::fmt::Write;
use std::path::PathBuf;

use super::super::option::{self, OptionValue, OptionWord, ToolOption};
use super::number::{self, MAX, NumberError};
use super::quote::plain;
use super::{DdComplaint, NAME, StatusLevel};
use assay_plan::name;
use assay_plan::plan::{
    CaseChange, Charset, CopyCalls, CopyFlush, CopyInput, CopyLength, CopyOutput, CopyWork,
    EndFlags, RecordConversion, Resync,
};
use assay_plan::unit::Bytes;

/// Size of a block where nothing is said.
const BLOCK: u64 = 512;

/// What `conv=` can say.
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

const CONVERSIONS: &[OptionWord] = &[
    OptionWord::of(
        "ascii",
        ASCII | UNBLOCK | GATHER,
        "EBCDIC to ASCII; records end in a newline (cbs)",
    ),
    OptionWord::of(
        "ebcdic",
        EBCDIC | BLOCKS | GATHER,
        "ASCII to EBCDIC; lines become records (cbs)",
    ),
    OptionWord::of(
        "ibm",
        IBM | BLOCKS | GATHER,
        "ASCII to another EBCDIC; lines become records (cbs)",
    ),
    OptionWord::of(
        "block",
        BLOCKS | GATHER,
        "lines become records of cbs bytes, filled with blanks",
    ),
    OptionWord::of("unblock", UNBLOCK | GATHER, "records of cbs bytes become lines"),
    OptionWord::of("lcase", LCASE | GATHER, "capital letters to small ones"),
    OptionWord::of("ucase", UCASE | GATHER, "small letters to capital ones"),
    OptionWord::of(
        "sparse",
        SPARSE,
        "blocks of zeros are passed over in the output instead of written",
    ),
    OptionWord::of("swab", SWAB | GATHER, "each two bytes change places"),
    OptionWord::of(
        "sync",
        SYNC,
        "short input blocks are filled up with zeros (blanks with block and unblock): this is no flush",
    ),
    OptionWord::of("excl", EXCL, "fail if the output is there"),
    OptionWord::of("nocreat", NOCREAT, "do not make the output"),
    OptionWord::of("notrunc", NOTRUNC, "keep what the output holds beyond what is written"),
    OptionWord::of("noerror", NOERROR, "go on after errors of reading"),
    OptionWord::of("fdatasync", FDATASYNC, "one fdatasync at the end, inside the timing"),
    OptionWord::of("fsync", FSYNC, "one fsync at the end, inside the timing"),
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

const FLAGS: &[OptionWord] = &[
    OptionWord::of("append", APPEND, "at the end of the file, wherever that is"),
    OptionWord::of("direct", DIRECT, "past the page cache (O_DIRECT)"),
    OptionWord::of("directory", DIRECTORY, "fail unless it is a folder"),
    OptionWord::of(
        "dsync",
        DSYNC,
        "each write is flushed, with what is needed to read it back (O_DSYNC)",
    ),
    OptionWord::of("sync", FULLY_SYNC, "each write is flushed, with all of its metadata (O_SYNC)"),
    OptionWord::of("fullblock", FULLBLOCK, "gather full input blocks from pipes (iflag only)"),
    OptionWord::of("nonblock", NONBLOCK, "do not wait for data (O_NONBLOCK)"),
    OptionWord::of("noatime", NOATIME, "leave the time of the last read as it is"),
    OptionWord::of("nocache", NOCACHE, "drop from the page cache what was copied"),
    OptionWord::of("noctty", NOCTTY, "take no terminal over"),
    OptionWord::of("nofollow", NOFOLLOW, "follow no symbolic link"),
    OptionWord::of("count_bytes", COUNT_BYTES, "count=N is bytes"),
    OptionWord::of("skip_bytes", SKIP_BYTES, "skip=N is bytes"),
    OptionWord::of("seek_bytes", SEEK_BYTES, "seek=N is bytes"),
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

#[derive(Default)]
pub(super) struct GnuOperands {
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

const BYTES: OptionValue = OptionValue::Needed("BYTES");
const FILE: OptionValue = OptionValue::Needed("FILE");
const N: OptionValue = OptionValue::Needed("N");

pub(super) const OPERANDS: &[ToolOption<GnuOperands, DdComplaint>] = &[
    ToolOption {
        names: &["if"],
        value: FILE,
        help: "read from FILE instead of standard input",
        effect: |operands, value| {
            operands.input = Some(name::path(value));
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null count=1",
    },
    ToolOption {
        names: &["of"],
        value: FILE,
        help: "write to FILE instead of standard output",
        effect: |operands, value| {
            operands.output = Some(name::path(value));
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null count=1",
    },
    ToolOption {
        names: &["bs"],
        value: BYTES,
        help: "size of reads and writes, instead of ibs and obs; a read is a write, also a short one",
        effect: |operands, value| {
            operands.bs = operands.block(value, MAX - 1)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null bs=1M count=1",
    },
    ToolOption {
        names: &["ibs"],
        value: BYTES,
        help: "size of reads (512)",
        effect: |operands, value| {
            operands.ibs = operands.block(value, MAX - 1)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null ibs=4k count=1",
    },
    ToolOption {
        names: &["obs"],
        value: BYTES,
        help: "size of writes (512)",
        effect: |operands, value| {
            operands.obs = operands.block(value, MAX - 1)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null obs=4k count=1",
    },
    ToolOption {
        names: &["cbs"],
        value: BYTES,
        help: "length of a record, for conv=block and unblock",
        effect: |operands, value| {
            operands.cbs = operands.block(value, MAX)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null cbs=80 conv=unblock count=1",
    },
    ToolOption {
        names: &["count"],
        value: N,
        help: "copy N input blocks",
        effect: |operands, value| {
            operands.count = Some(operands.length(value)?);
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null count=4x512",
    },
    ToolOption {
        names: &["skip", "iseek"],
        value: N,
        help: "pass over N input blocks first",
        effect: |operands, value| {
            operands.skip = operands.length(value)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null skip=1KiB count=1",
    },
    ToolOption {
        names: &["seek", "oseek"],
        value: N,
        help: "pass over N output blocks first",
        effect: |operands, value| {
            operands.seek = operands.length(value)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null seek=512B count=1",
    },
    ToolOption {
        names: &["conv"],
        value: OptionValue::Words(CONVERSIONS),
        help: "what is done to the bytes, the output or its flush",
        effect: |operands, value| {
            operands.conv |= symbols(value, CONVERSIONS, "invalid conversion")?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null conv=notrunc,fsync count=1",
    },
    ToolOption {
        names: &["iflag"],
        value: OptionValue::Words(FLAGS),
        help: "how the input is opened and read",
        effect: |operands, value| {
            operands.iflag |= symbols(value, FLAGS, "invalid input flag")?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null iflag=fullblock,count_bytes count=512",
    },
    ToolOption {
        names: &["oflag"],
        value: OptionValue::Words(FLAGS),
        help: "how the output is opened and written",
        effect: |operands, value| {
            operands.oflag |= symbols(value, FLAGS, "invalid output flag")?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null oflag=dsync count=1",
    },
    ToolOption {
        names: &["status"],
        value: OptionValue::Needed("LEVEL"),
        help: "none, noxfer (no rate) or progress (every second)",
        effect: |operands, value| {
            operands.status = status(value)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null status=noxfer count=1",
    },
];

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
        (Some("help"), None) => Err(answer(help_text())),
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
        let Some(operand) = OPERANDS.iter().find(|operand| operand.is(name)) else {
            // Its number is looked at first.
            let _ = number::gnu(value).map(|(_, zero)| self.warn_zero(zero));
            return Err(unknown());
        };
        (operand.effect)(self, value)
    }

    fn block(&mut self, text: &str, most: u64) -> Result<Option<u64>, DdComplaint> {
        self.number(text, 1, most).map(Some)
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

fn symbols(text: &str, known: &'static [OptionWord], wrong: &str) -> Result<u32, DdComplaint> {
    text.split(',').try_fold(0, |set, symbol| {
        let word = OptionWord::find(known, symbol);
        word.map(|word| set | word.bits)
            .ok_or_else(|| usage(format_args!("{wrong}: {}", plain(symbol))))
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

/// The answer to `--help`.
fn help_text() -> String {
    let operands = option::help(OPERANDS, "=", HELP_COLUMN);
    format!("{HELP_BEGIN}{operands}{HELP_END}{}", option::verdict_help(NAME))
}

/// Where help begins in a line.
const HELP_COLUMN: usize = 20;

const HELP_BEGIN: &str = "\
Usage: dd [OPERAND]...
  or:  dd OPTION
Copies a file block by block, as GNU dd does, and says how fast that went.

";

const HELP_END: &str = "
WORDS are separated by commas. N and BYTES may end in c (1), w (2), b (512),
kB (1000), K or KiB (1024), MB, M or MiB, and so on for G, T, P, E, Z, Y, R, Q;
numbers may be multiplied as in 4x512. An N that ends in B counts bytes.
SIGUSR1 makes a running dd report.

Before dd's own lines assay says whether they can be trusted. --plan only prints
the plan. Variables: ASSAY_COLD=target drops the source's cached pages first
(machine: all pages), ASSAY_SETTLE=no leaves out watching what is still in
memory afterwards, ASSAY_RECORD=PLACE keeps the record in a file or folder,
ASSAY_DIALECT=busybox speaks as that one does.
";
