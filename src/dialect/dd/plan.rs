//! The words become a plan, and what each of them means.

use super::{BUSYBOX, DdComplaint, DdFlavor, DdOutput, NAME, busybox, gnu};
use crate::dialect::option::ToolOption;
use assay_plan::plan::{
    AddedWords, CopyWork, Job, OtherMeaning, Phase, Plan, PlanOrigin, ToolProfile, Work,
};
use assay_record::record::WordMeaning;

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
