//! Whether anything is there that a job could read.

use assay_plan::error::Refusal;
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockWork, Job, LayoutMode, OffsetOrdering, Size, StopLimit, Target,
};
use assay_plan::unit::Bytes;
use assay_record::evidence;

use super::region::writes_each_block;
use super::target_jobs::TargetJobs;

/// Refuses to read a file that is empty for certain: one that this run makes, where no phase
/// before sends it any data, unless holes of files that were there are read, too. `number` is that of the job's
/// phase, from 0.
pub(super) fn something_to_read(
    jobs: &TargetJobs<'_>,
    number: usize,
    blocks: &BlockWork,
    reads_holes: bool,
) -> Result<(), Refusal> {
    let reads = blocks.pattern.mix.fetches();
    if !reads || blocks.method.without_io() || blocks.method.moves_no_data() {
        return Ok(());
    }
    let layout = blocks.target.layout();
    let emptied = match layout {
        LayoutMode::Truncated => Some("truncated"),
        LayoutMode::Anew => Some("anew"),
        _ => None,
    };
    if let Some(name) = emptied {
        return Err(Refusal::new(
            format!("the layout '{name}' contradicts reads: nothing is left that could be read"),
            "give the layout 'written', or leave the reads out",
        ));
    }
    let wanted = match layout {
        LayoutMode::Written | LayoutMode::Sparse => true,
        LayoutMode::Grown => blocks.pattern.mix.sends(),
        _ => false,
    };
    if wanted || is_sent_to(jobs, number, blocks) {
        return Ok(());
    }
    if !is_new(&blocks.target) {
        return if reads_holes { Ok(()) } else { holds_data(&blocks.target) };
    }
    Err(Refusal::new(
        format!("nothing has written what is to be read of {}", name(&blocks.target)),
        "give it the layout 'written', or a phase before that writes it",
    ))
}

/// Refuses a file of somebody that nothing was ever written to: memory would answer.
fn holds_data(target: &Target) -> Result<(), Refusal> {
    let path = match target {
        Target::File { path, .. } => Some(path.clone()),
        Target::Files { .. } => target.numbered(0).filter(|path| !target.is_device(path)),
        Target::Scratch { .. } | Target::Device { .. } | Target::Nowhere { .. } => None,
    };
    match path.filter(|path| evidence::all_holes(path)) {
        Some(path) => Err(Refusal::new(
            format!("nothing was ever written to {}: it is all holes", path.to_text()),
            "write it first, or give the layout 'sparse' to read holes",
        )),
        None => Ok(()),
    }
}

/// Bytes of each file, of `size`, that may have to be written before the phase; `new`: it is the
/// first phase that works on it.
pub(super) fn laid_before(
    jobs: &TargetJobs<'_>,
    number: usize,
    blocks: &BlockWork,
    (size, new): (Bytes, bool),
) -> Bytes {
    let empties = |(_, other): (&Job, &BlockWork)| {
        matches!(
            other.target.layout(),
            LayoutMode::Truncated | LayoutMode::Anew | LayoutMode::Sparse
        )
    };
    let emptied = jobs.before(number, &blocks.target).any(empties);
    match blocks.target.layout() {
        LayoutMode::Sparse | LayoutMode::Grown => Bytes::ZERO,
        LayoutMode::Written if new || emptied => size,
        LayoutMode::Written => Bytes::ZERO,
        _ if emptied && blocks.pattern.mix.fetches() => size,
        _ => laid_for_reads(jobs, number, blocks, size),
    }
}

/// Of these, those that a read wants: phases before may have left some out.
fn laid_for_reads(jobs: &TargetJobs<'_>, number: usize, blocks: &BlockWork, size: Bytes) -> Bytes {
    let by_what_is_written = matches!(size_of(&blocks.target), Some(Size::Written { .. }));
    if !blocks.pattern.mix.fetches() || by_what_is_written || !is_new(&blocks.target) {
        return Bytes::ZERO;
    }
    let fills = |(job, other): (&Job, &BlockWork)| {
        let alike = size_of(&other.target) == size_of(&blocks.target)
            && other.pattern.region == blocks.pattern.region;
        let passes = job.stop.first_of.iter().all(|limit| matches!(limit, StopLimit::Passes(_)));
        let same = matches!(blocks.pattern.order, OffsetOrdering::Spaced { .. })
            && other.pattern.order == blocks.pattern.order
            && other.pattern.block == blocks.pattern.block
            && other.pattern.mix.sends();
        let written = (writes_each_block(&other.pattern) && passes) || same;
        alike && (written || other.pattern.mix.fetches())
    };
    let trims = |(_, other): (&Job, &BlockWork)| other.pattern.mix.has(Action::Trim);
    let known = jobs.before(number, &blocks.target).any(fills);
    let trimmed = jobs.before(number, &blocks.target).any(trims);
    if known && !trimmed { Bytes::ZERO } else { size }
}

/// Whether a phase before sends data to the same target, or a layout up to this phase writes it.
fn is_sent_to(jobs: &TargetJobs<'_>, number: usize, blocks: &BlockWork) -> bool {
    let laid = |other: &BlockWork| other.target.layout() == LayoutMode::Written;
    let sends = |(_, other): (&Job, &BlockWork)| other.pattern.mix.sends() || laid(other);
    jobs.within(number, &blocks.target).any(|(_, other)| laid(other))
        || jobs.before(number, &blocks.target).any(sends)
}

fn size_of(target: &Target) -> Option<Size> {
    match target {
        Target::File { size, .. }
        | Target::Scratch { size, .. }
        | Target::Files { size, .. }
        | Target::Device { size, .. } => Some(*size),
        Target::Nowhere { .. } => None,
    }
}

/// Whether this run makes it.
fn is_new(target: &Target) -> bool {
    match target {
        Target::Scratch { .. } => true,
        Target::File { path, .. } => !path.exists(),
        Target::Files { .. } => {
            target.is_unnamed() || target.numbered(0).is_some_and(|path| !path.exists())
        }
        Target::Device { .. } | Target::Nowhere { .. } => false,
    }
}

fn name(target: &Target) -> String {
    match target {
        Target::File { path, .. } | Target::Device { path, .. } => path.to_text(),
        Target::Files { named, .. } if !named.is_empty() => {
            format!("the files '{}' and others", named[0].to_text())
        }
        Target::Files { stem, .. } => format!("the files '{stem}'"),
        Target::Scratch { .. } | Target::Nowhere { .. } => "the scratch file".into(),
    }
}
