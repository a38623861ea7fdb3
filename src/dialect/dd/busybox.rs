//! The words of BusyBox dd 1.35.

use std::path::PathBuf;

use super::number::{self, NumberError};
use super::{DdComplaint, StatusLevel};
use crate::plan::{
    CopyCalls, CopyFlush, CopyInput, CopyLength, CopyOutput, CopyWork, EndFlags, RecordConversion,
    Resync,
};
use crate::unit::Bytes;

/// The largest block: half of the address space.
const BLOCK_MAX: u64 = u64::MAX / 2;

pub(super) fn parse(words: &[String]) -> Result<(CopyWork, StatusLevel, String), DdComplaint> {
    let option = words
        .iter()
        .take_while(|word| *word != "--")
        .find(|word| word.len() > 1 && word.starts_with('-'));
    if let Some(option) = option {
        // Help is asked for by its whole name, first.
        return Err(usage(if option == "--help" { 0 } else { 1 }));
    }
    let (mut ibs, mut obs) = (512, 512);
    let (mut skip, mut seek, mut count) = (0, 0, None);
    let (mut input, mut output): (Option<PathBuf>, Option<PathBuf>) = (None, None);
    let (mut conv, mut iflag, mut oflag) = (Vec::new(), Vec::new(), Vec::new());
    let mut status = StatusLevel::Full;
    let mut dashes = false;
    for word in words {
        if word == "--" && !dashes {
            dashes = true;
            continue;
        }
        let (name, value) = word.split_once('=').ok_or_else(|| usage(1))?;
        match name {
            "if" => input = Some(value.into()),
            "of" => output = Some(value.into()),
            "ibs" => ibs = number(value, 1, BLOCK_MAX)?,
            "obs" => obs = number(value, 1, BLOCK_MAX)?,
            "bs" => {
                ibs = number(value, 1, BLOCK_MAX)?;
                obs = ibs;
            }
            "count" => count = Some(number(value, 0, u64::MAX)?),
            "skip" => skip = number(value, 0, u64::MAX)?,
            "seek" => seek = number(value, 0, u64::MAX)?,
            "conv" => {
                let known = ["notrunc", "sync", "noerror", "fsync", "swab"];
                conv.extend(list(value, &known, name)?);
            }
            "iflag" => {
                let known = ["skip_bytes", "count_bytes", "fullblock", "direct"];
                iflag.extend(list(value, &known, name)?);
            }
            "oflag" => oflag.extend(list(value, &["seek_bytes", "append", "direct"], name)?),
            "status" => {
                status = match value {
                    "none" => StatusLevel::None,
                    "noxfer" => StatusLevel::Noxfer,
                    _ => return Err(invalid(value, name)),
                }
            }
            _ => return Err(usage(1)),
        }
    }
    let extent = |number: u64, bytes: bool, block: u64| {
        if bytes {
            CopyLength { blocks: number / block, bytes: Bytes(number % block) }
        } else {
            CopyLength { blocks: number, bytes: Bytes::ZERO }
        }
    };
    let has = |set: &[&str], word: &str| set.contains(&word);
    // It sets these when it opens a file, and never on a standard stream.
    let (opens_input, opens_output) = (input.is_some(), output.is_some());
    let copy = CopyWork {
        from: CopyInput {
            path: input,
            flags: EndFlags {
                direct: has(&iflag, "direct") && opens_input,
                fullblock: has(&iflag, "fullblock"),
                count_bytes: has(&iflag, "count_bytes") && count.is_some(),
                ..EndFlags::default()
            },
        },
        to: CopyOutput {
            path: output,
            flags: EndFlags {
                direct: has(&oflag, "direct") && opens_output,
                append: has(&oflag, "append") && opens_output,
                seek_bytes: has(&oflag, "seek_bytes"),
                ..EndFlags::default()
            },
            exclusive: false,
            no_create: false,
            no_truncate: has(&conv, "notrunc"),
        },
        calls: CopyCalls::ReadWrite,
        input_block: Bytes(ibs),
        output_block: Bytes(obs),
        // Equal sizes are enough, however they were given.
        block_for_block: ibs == obs,
        skip: extent(skip, has(&iflag, "skip_bytes"), ibs),
        seek: extent(seek, has(&oflag, "seek_bytes"), obs),
        count: count.map(|count| extent(count, has(&iflag, "count_bytes"), ibs)),
        records: RecordConversion {
            swab_blocks: has(&conv, "swab"),
            ..RecordConversion::default()
        },
        keep_going: has(&conv, "noerror"),
        unread_counts: true,
        resync: if has(&conv, "sync") { Resync::Zeros } else { Resync::No },
        sparse: false,
        flush: CopyFlush { fdatasync: false, fsync: has(&conv, "fsync"), unless_failed: true },
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

fn list<'a>(text: &'a str, known: &[&str], operand: &str) -> Result<Vec<&'a str>, DdComplaint> {
    text.split(',')
        .map(|word| known.contains(&word).then_some(word).ok_or_else(|| invalid(word, operand)))
        .collect()
}

/// Its usage goes to standard error, also when it was asked for.
fn usage(code: i32) -> DdComplaint {
    DdComplaint { stdout: String::new(), stderr: USAGE.into(), code }
}

const USAGE: &str = "\
Usage: dd [if=FILE] [of=FILE] [bs=N | ibs=N obs=N] [count=N] [skip=N] [seek=N]
	[conv=notrunc|noerror|sync|fsync|swab] [status=none|noxfer]
	[iflag=skip_bytes|count_bytes|fullblock|direct]
	[oflag=seek_bytes|append|direct]

Copies a file block by block, as BusyBox dd does. N may end in c (1), w (2),
b (512), kB (1000), k (1024), MB, M, GB or G.
";
