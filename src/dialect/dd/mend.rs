//! The line as it should have been typed: the same copy, with what it walks into mended.

use super::copy_of;
use assay_judge::operands::{ENOUGH, EditedOperands};
use assay_judge::threshold::SMALL_BYTES;
use assay_plan::plan::{CopyWork, Plan};
use assay_plan::unit::Bytes;
use assay_record::claim::TransferClaim;
use assay_record::record::{BetterCommand, Finding, FindingWeight, TrapId};

/// The copy that these words should have asked for, given what they walk into; `None` when nothing
/// is to be mended in the words, or no dd could measure that place.
pub fn mended(words: &[String], plan: &Plan, found: &[Finding]) -> Option<BetterCommand> {
    let copy = copy_of(plan)?;
    let hopeless = |f: &Finding| f.trap == TrapId::T29 || f.trap == TrapId::T17;
    if found.iter().any(hopeless) || copy.to.path.is_none() {
        return None;
    }
    let mut operands = EditedOperands::of(words);
    let mut why: Vec<&str> = Vec::new();
    flush(&mut operands, found, &mut why);
    data(&mut operands, copy, found, &mut why);
    blocks(&mut operands, copy, found, &mut why);
    reads(&mut operands, found, &mut why);
    if why.is_empty() {
        return None;
    }
    let program = if plan.origin.tool.spoken.is_empty() { "dd" } else { "busybox dd" };
    Some(BetterCommand {
        line: format!("{program}{}", operands.line()),
        why: format!("the same copy, but {}", why.join("; ")),
    })
}

/// Whether one of these traps was found, and weighs at least as much.
fn walks_into(found: &[Finding], traps: &[TrapId], least: FindingWeight) -> bool {
    found.iter().any(|f| f.weight >= least && traps.contains(&f.trap))
}

fn flush(operands: &mut EditedOperands, found: &[Finding], why: &mut Vec<&str>) {
    if walks_into(found, &[TrapId::T02, TrapId::T05, TrapId::T16], FindingWeight::Note) {
        let mistaken = walks_into(found, &[TrapId::T13], FindingWeight::Note);
        operands.change("conv", if mistaken { "sync" } else { "" }, Some("fsync"));
        why.push("the flush is inside the time");
    }
}

fn data(operands: &mut EditedOperands, copy: &CopyWork, found: &[Finding], why: &mut Vec<&str>) {
    if copy.sparse && walks_into(found, &[TrapId::T23], FindingWeight::Refute) {
        operands.change("conv", "sparse", Some("fsync"));
        why.push("the zeros are written, and flushed inside the time");
    }
    if walks_into(found, &[TrapId::T25], FindingWeight::Refute) && operands.has("if") {
        operands.set("if", "/dev/urandom");
        why.push("of data that do not compress, as long as the CPU makes them fast enough");
    }
}

/// Large blocks, as many as make the same bytes. Positions in blocks would change their meaning.
fn blocks(operands: &mut EditedOperands, copy: &CopyWork, found: &[Finding], why: &mut Vec<&str>) {
    let short = found.iter().any(|f| f.claim == TransferClaim::ShortPipeReads.into());
    if short {
        operands.change("iflag", "", Some("fullblock"));
        why.push("every block is filled");
    }
    let large = copy.input_block > Bytes(1 << 30);
    let bytes = copy.count.map(|count| count.in_bytes(copy.input_block));
    let little = bytes.is_some_and(|bytes| bytes < SMALL_BYTES);
    let sized = walks_into(found, &[TrapId::T51, TrapId::T20], FindingWeight::Doubt)
        || found.iter().any(|f| f.trap == TrapId::T19 && copy.direct_gives_way)
        || walks_into(found, &[TrapId::T14], FindingWeight::Note) && !copy.to.flags.direct
        || large
        || little;
    if !sized || !operands.in_mebibytes(copy, if little { ENOUGH } else { 1 }) {
        return;
    }
    if walks_into(found, &[TrapId::T14], FindingWeight::Note) {
        for synchronous in ["dsync", "sync"] {
            operands.change("oflag", synchronous, None);
        }
        operands.change("conv", "", Some("fsync"));
        why.push("for bandwidth: one flush, at the end");
    }
    why.push(if little { "enough of it, in blocks of 1 MiB" } else { "in blocks of 1 MiB" });
}

fn reads(operands: &mut EditedOperands, found: &[Finding], why: &mut Vec<&str>) {
    if walks_into(found, &[TrapId::T01, TrapId::T06], FindingWeight::Note) {
        for idle in ["sync", "dsync", "nocache"] {
            operands.change("iflag", idle, None);
        }
        operands.change("iflag", "", Some("direct"));
        operands.drop("ibs");
        operands.drop("obs");
        if !operands.has("count") && !operands.has("skip") {
            operands.set("bs", "1M");
        }
        why.push("past memory, however often it is typed");
    }
}
