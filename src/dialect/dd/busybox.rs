//! The words of BusyBox dd 1.35.

use std::path::PathBuf;

use super::super::option::{self, OptionValue, OptionWord, ToolOption};
use super::number::{self, NumberError};
use super::{DdComplaint, NAME, StatusLevel};
use assay_plan::name;
use assay_plan::plan::{
    CopyCalls, CopyFlush, CopyInput, CopyLength, CopyOutput, CopyWork, EndFlags, RecordConversion,
    Resync,
};
use assay_plan::unit::Bytes;

/// The largest block: half of the address space.
const BLOCK_MAX: u64 = u64::MAX / 2;

const NOTRUNC: u32 = 1 << 0;
const SYNC: u32 = 1 << 1;
const NOERROR: u32 = 1 << 2;
const FSYNC: u32 = 1 << 3;
const SWAB: u32 = 1 << 4;
const SKIP_BYTES: u32 = 1 << 5;
const COUNT_BYTES: u32 = 1 << 6;
const FULLBLOCK: u32 = 1 << 7;
const DIRECT: u32 = 1 << 8;
const SEEK_BYTES: u32 = 1 << 9;
const APPEND: u32 = 1 << 10;

const CONVERSIONS: &[OptionWord] = &[
    OptionWord::of("notrunc", NOTRUNC, "keep what the output holds beyond what is written"),
    OptionWord::of("noerror", NOERROR, "go on after errors of reading"),
    OptionWord::of("sync", SYNC, "short input blocks are filled up with zeros: this is no flush"),
    OptionWord::of(
        "fsync",
        FSYNC,
        "one fsync at the end, inside the timing (1.11 to 1.26: one after each block)",
    ),
    OptionWord::of("swab", SWAB, "each two bytes change places"),
];

const INPUT_FLAGS: &[OptionWord] = &[
    OptionWord::of("skip_bytes", SKIP_BYTES, "skip=N is bytes"),
    OptionWord::of("count_bytes", COUNT_BYTES, "count=N is bytes"),
    OptionWord::of("fullblock", FULLBLOCK, "gather full input blocks from pipes"),
    OptionWord::of("direct", DIRECT, "past the page cache (O_DIRECT) where that works"),
];

const OUTPUT_FLAGS: &[OptionWord] = &[
    OptionWord::of("seek_bytes", SEEK_BYTES, "seek=N is bytes"),
    OptionWord::of("append", APPEND, "at the end of the file, wherever that is"),
    OptionWord::of("direct", DIRECT, "past the page cache (O_DIRECT) where that works"),
];

pub(super) struct BusyboxOperands {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    ibs: u64,
    obs: u64,
    skip: u64,
    seek: u64,
    count: Option<u64>,
    conv: u32,
    iflag: u32,
    oflag: u32,
    status: StatusLevel,
}

impl Default for BusyboxOperands {
    fn default() -> Self {
        Self {
            input: None,
            output: None,
            ibs: 512,
            obs: 512,
            skip: 0,
            seek: 0,
            count: None,
            conv: 0,
            iflag: 0,
            oflag: 0,
            status: StatusLevel::Full,
        }
    }
}

const FILE: OptionValue = OptionValue::Needed("FILE");
const N: OptionValue = OptionValue::Needed("N");

/// The operands of BusyBox dd.
pub(super) const OPERANDS: &[ToolOption<BusyboxOperands, DdComplaint>] = &[
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
        value: N,
        help: "size of reads and writes, instead of ibs and obs",
        effect: |operands, value| {
            operands.ibs = number(value, 1, BLOCK_MAX)?;
            operands.obs = operands.ibs;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null bs=1M count=1",
    },
    ToolOption {
        names: &["ibs"],
        value: N,
        help: "size of reads (512)",
        effect: |operands, value| {
            operands.ibs = number(value, 1, BLOCK_MAX)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null ibs=4k count=1",
    },
    ToolOption {
        names: &["obs"],
        value: N,
        help: "size of writes (512)",
        effect: |operands, value| {
            operands.obs = number(value, 1, BLOCK_MAX)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null obs=4k count=1",
    },
    ToolOption {
        names: &["count"],
        value: N,
        help: "copy N input blocks",
        effect: |operands, value| {
            operands.count = Some(number(value, 0, u64::MAX)?);
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null count=4",
    },
    ToolOption {
        names: &["skip"],
        value: N,
        help: "pass over N input blocks first",
        effect: |operands, value| {
            operands.skip = number(value, 0, u64::MAX)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null skip=1 count=1",
    },
    ToolOption {
        names: &["seek"],
        value: N,
        help: "pass over N output blocks first",
        effect: |operands, value| {
            operands.seek = number(value, 0, u64::MAX)?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null seek=1 count=1",
    },
    ToolOption {
        names: &["conv"],
        value: OptionValue::Words(CONVERSIONS),
        help: "what is done to the bytes, the output or its flush",
        effect: |operands, value| {
            operands.conv |= list(value, CONVERSIONS, "conv")?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null conv=fsync,notrunc count=1",
    },
    ToolOption {
        names: &["status"],
        value: OptionValue::Needed("none|noxfer"),
        help: "no lines at the end, or none of the rate",
        effect: |operands, value| {
            operands.status = match value {
                "none" => StatusLevel::None,
                "noxfer" => StatusLevel::Noxfer,
                _ => return Err(invalid(value, "status")),
            };
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null status=noxfer count=1",
    },
    ToolOption {
        names: &["iflag"],
        value: OptionValue::Words(INPUT_FLAGS),
        help: "how the input is opened and read",
        effect: |operands, value| {
            operands.iflag |= list(value, INPUT_FLAGS, "iflag")?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null iflag=count_bytes,fullblock count=512",
    },
    ToolOption {
        names: &["oflag"],
        value: OptionValue::Words(OUTPUT_FLAGS),
        help: "how the output is opened and written",
        effect: |operands, value| {
            operands.oflag |= list(value, OUTPUT_FLAGS, "oflag")?;
            Ok(())
        },
        example: "if=/dev/zero of=/dev/null oflag=append count=1",
    },
];

pub(super) fn parse(words: &[String]) -> Result<(CopyWork, StatusLevel, String), DdComplaint> {
    let option = words
        .iter()
        .take_while(|word| *word != "--")
        .find(|word| word.len() > 1 && word.starts_with('-'));
    if let Some(option) = option {
        // Help is asked for by its whole name, first.
        return Err(usage(if option == "--help" { 0 } else { 1 }));
    }
    let mut operands = BusyboxOperands::default();
    let mut dashes = false;
    for word in words {
        if word == "--" && !dashes {
            dashes = true;
            continue;
        }
        let (name, value) = word.split_once('=').ok_or_else(|| usage(1))?;
        let operand = OPERANDS.iter().find(|operand| operand.is(name)).ok_or_else(|| usage(1))?;
        (operand.effect)(&mut operands, value)?;
    }
    let BusyboxOperands { input, output, ibs, obs, skip, seek, count, conv, iflag, oflag, status } =
        operands;
    let extent = |number: u64, bytes: bool, block: u64| {
        if bytes {
            CopyLength { blocks: number / block, bytes: Bytes(number % block) }
        } else {
            CopyLength { blocks: number, bytes: Bytes::ZERO }
        }
    };
    let has = |set: u32, bit: u32| set & bit != 0;
    // It sets these when it opens a file, and never on a standard stream.
    let (opens_input, opens_output) = (input.is_some(), output.is_some());
    let copy = CopyWork {
        from: CopyInput {
            path: input,
            flags: EndFlags {
                direct: has(iflag, DIRECT) && opens_input,
                fullblock: has(iflag, FULLBLOCK),
                count_bytes: has(iflag, COUNT_BYTES) && count.is_some(),
                ..EndFlags::default()
            },
        },
        to: CopyOutput {
            path: output,
            flags: EndFlags {
                direct: has(oflag, DIRECT) && opens_output,
                append: has(oflag, APPEND) && opens_output,
                seek_bytes: has(oflag, SEEK_BYTES),
                ..EndFlags::default()
            },
            exclusive: false,
            no_create: false,
            no_truncate: has(conv, NOTRUNC),
        },
        calls: CopyCalls::ReadWrite,
        input_block: Bytes(ibs),
        output_block: Bytes(obs),
        // Equal sizes are enough, however they were given.
        block_for_block: ibs == obs,
        skip: extent(skip, has(iflag, SKIP_BYTES), ibs),
        seek: extent(seek, has(oflag, SEEK_BYTES), obs),
        count: count.map(|count| extent(count, has(iflag, COUNT_BYTES), ibs)),
        records: RecordConversion { swab_blocks: has(conv, SWAB), ..RecordConversion::default() },
        keep_going: has(conv, NOERROR),
        unread_counts: true,
        resync: if has(conv, SYNC) { Resync::Zeros } else { Resync::No },
        sparse: false,
        flush: CopyFlush { fdatasync: false, fsync: has(conv, FSYNC), unless_failed: true },
        direct_gives_way: true,
        fsync_every_block: false,
    };
    Ok((copy, status, String::new()))
}

fn complaint(text: impl std::fmt::Display) -> DdComplaint {
    DdComplaint { stdout: String::new(), stderr: format!("dd: {text}\n"), code: 1 }
}

fn invalid(word: &str, operand: &str) -> DdComplaint {
    complaint(format_args!("invalid argument '{word}' to '{operand}'"))
}

fn number(text: &str, least: u64, most: u64) -> Result<u64, DdComplaint> {
    match number::busybox(text) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        Ok(_) | Err(NumberError::Large) => {
            Err(complaint(format_args!("number {text} is not in {least}..{most} range")))
        }
        Err(NumberError::Form) => Err(complaint(format_args!("invalid number '{text}'"))),
    }
}

/// The bits of words that are separated by commas.
fn list(text: &str, known: &'static [OptionWord], operand: &str) -> Result<u32, DdComplaint> {
    text.split(',').try_fold(0, |set, word| {
        let found = OptionWord::find(known, word).ok_or_else(|| invalid(word, operand))?;
        Ok(set | found.bits)
    })
}

/// Its usage goes to standard error, also when it was asked for.
fn usage(code: i32) -> DdComplaint {
    let of =
        |known: &[OptionWord]| known.iter().map(|word| word.name).collect::<Vec<_>>().join("|");
    let (conv, iflag, oflag) = (of(CONVERSIONS), of(INPUT_FLAGS), of(OUTPUT_FLAGS));
    let stderr = format!(
        "\
Usage: dd [if=FILE] [of=FILE] [bs=N | ibs=N obs=N] [count=N] [skip=N] [seek=N]
\t[conv={conv}] [status=none|noxfer]
\t[iflag={iflag}]
\t[oflag={oflag}]

Copies a file block by block, as BusyBox dd does. N may end in c (1), w (2),
b (512), kB (1000), k (1024), MB, M, GB or G.
{}",
        if code == 0 { option::verdict_help(NAME) } else { String::new() }
    );
    DdComplaint { stdout: String::new(), stderr, code }
}
