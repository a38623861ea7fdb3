//! dd: GNU's and BusyBox's words in, their words out.
//!
//! GNU is coreutils 9.1 in the C locale, BusyBox is 1.35. What either says is said to the letter;
//! only `--help` and `--version` speak for assay.

mod busybox;
mod gnu;
mod human;
mod meant;
mod mend;
mod number;
mod options;
mod quote;
mod say;
mod session;

pub use human::{general, human, rate};
pub use meant::meant;
pub use mend::mended;
pub use options::{DdComplaint, DdFlavor, DdOutput, NAME, StatusLevel};
pub use say::{before_flush, event, fault, progress, report, reports_after, unprinted};
pub use session::TOOL;

use super::option::ToolOption;
use assay_plan::plan::{
    AddedWords, CopyWork, Job, OtherMeaning, Phase, Plan, PlanOrigin, ToolProfile, Work,
};
use assay_record::record::WordMeaning;

/// What has assay speak as BusyBox's.
pub const BUSYBOX: &str = "ASSAY_DIALECT=busybox ";

/// What others have to know of it.
pub fn tool() -> ToolProfile {
    ToolProfile {
        until_end: true,
        operands: true,
        flush: Some(AddedWords::after(" conv=fsync")),
        cold: Some(AddedWords::before("ASSAY_COLD=target ")),
        direct: Some(AddedWords::after(" iflag=direct")),
        direct_write: Some(AddedWords::after(" oflag=direct")),
        overwrite: Some(AddedWords::after(" conv=notrunc")),
        flush_elsewhere: Some(OtherMeaning {
            option: "conv".into(),
            value: "fsync".into(),
            means:
                "conv=fsync is one flush at the end, but in BusyBox 1.11 to 1.26 one after each \
                    block: there the figure falls with the block."
                    .into(),
        }),
        ..ToolProfile::default()
    }
}

/// Reads the words after `dd`.
///
/// # Errors
/// What that dd would print instead of copying: also the answer to `--help`.
pub fn parse(words: &[String], flavor: DdFlavor) -> Result<(Plan, DdOutput), DdComplaint> {
    let (copy, status, warnings) = match flavor {
        DdFlavor::Gnu => gnu::parse(words)?,
        DdFlavor::Busybox => busybox::parse(words)?,
    };
    Ok((plan(copy, words, flavor), DdOutput { flavor, status, warnings }))
}

fn plan(copy: CopyWork, words: &[String], flavor: DdFlavor) -> Plan {
    let phase = Phase::of(Job::of("copy", Work::Copy(copy)));
    let spoken = if flavor == DdFlavor::Busybox { BUSYBOX } else { "" };
    let tool = ToolProfile { spoken: spoken.into(), ..tool() };
    let origin = PlanOrigin::of(NAME, words.to_vec()).with(tool);
    Plan { title: NAME.into(), origin, seed: 0, aim: None, phases: vec![phase] }
}

/// What each operand among the words is for; nothing of what is none.
pub fn meanings(words: &[String], flavor: DdFlavor) -> Vec<WordMeaning> {
    fn of<A, E>(known: &[ToolOption<A, E>], word: &str) -> Option<WordMeaning> {
        let (name, value) = word.split_once('=')?;
        Some(known.iter().find(|operand| operand.is(name))?.meaning(word.into(), value))
    }
    let meaning = |word: &String| match flavor {
        DdFlavor::Gnu => of(gnu::OPERANDS, word),
        DdFlavor::Busybox => of(busybox::OPERANDS, word),
    };
    words.iter().filter_map(meaning).collect()
}

/// The lines that its operands have as examples.
pub fn examples(flavor: DdFlavor) -> Vec<&'static str> {
    match flavor {
        DdFlavor::Gnu => gnu::OPERANDS.iter().map(|operand| operand.example).collect(),
        DdFlavor::Busybox => busybox::OPERANDS.iter().map(|operand| operand.example).collect(),
    }
}

/// The copy in a plan that [`parse`] made.
pub fn copy_of(plan: &Plan) -> Option<&CopyWork> {
    match &plan.phases.first()?.jobs.first()?.work {
        Work::Copy(copy) => Some(copy),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
