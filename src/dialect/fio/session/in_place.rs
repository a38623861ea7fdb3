//! What to type in place of words that surprise, and their refusal where only what is meant is to be done.

use crate::dialect::fio::{self, FioCommand, FioCorrection};
use crate::dialect::session::{ToolSaid, typed_line};
use crate::report;
use crate::surroundings::REFUSAL;
use assay_record::record::BetterCommand;

/// The line to type; lines of a job file one by one.
pub(super) fn better(correction: &FioCorrection) -> Vec<BetterCommand> {
    let why = correction.mends.join("; ");
    let Some(place) = &correction.place else {
        let why = format!("the same jobs as they are meant: {why}");
        return vec![BetterCommand { line: typed_line(fio::NAME, &correction.words), why }];
    };
    let where_to = if correction.below { "below" } else { "in place of" };
    let one = |word: &String| BetterCommand {
        line: word.clone(),
        why: format!("{where_to} what stands at {place}: {why}"),
    };
    correction.words.iter().map(one).collect()
}

/// What is said in place of a run: each surprise, and what to type.
pub(super) fn refused(command: &FioCommand, corrections: &[FioCorrection]) -> ToolSaid {
    let notes: Vec<_> = fio::surprising(command).cloned().collect();
    let mut lines = fio::note_lines(&notes);
    lines.dedup();
    for correction in corrections {
        let Some(place) = &correction.place else {
            lines.push(format!("type: {}", typed_line(fio::NAME, &correction.words)));
            continue;
        };
        let where_to = if correction.below { "below" } else { "at" };
        let written = correction.words.join("' and '");
        lines.push(format!("write {where_to} {place}: '{written}'"));
    }
    lines.push("ASSAY_STRICT=1 refuses words of which fio makes something else than is meant; without it they are done as fio does them, and told".into());
    let err = lines.iter().map(|line| format!("assay: {}\n", report::harmless(line))).collect();
    ToolSaid { err, refused: true, status: Some(REFUSAL), ..ToolSaid::default() }
}
