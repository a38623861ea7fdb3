//! Block work: a file, a device or several files, with the method and the size that fit.

use assay_engine::engine::TRIMS_IN_FLIGHT;
use assay_engine::engine::{DataFiller, OffsetStream};
use std::path::Path;

use assay_plan::error::{Error, Refusal};
use assay_plan::name;
use assay_plan::plan::{
    Action, BlockWork, Caching, Job, LayoutMode, Method, OverwriteScope, Plan, Size, Target,
};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::record::ResolvedJob;

use super::super::open_target::OpenTarget;
use super::empty::{laid_before, something_to_read};
use super::fitted::JobPlace;
use super::fitter::PlanFitter;
use super::region::{most, region, verifies};
use super::target_jobs::TargetJobs;

impl PlanFitter<'_> {
    /// A job of blocks of phase `number` (from 0), made to fit.
    pub(super) fn blocks(
        &mut self,
        (plan, on, number): (&Plan, &TargetJobs<'_>, usize),
        job: &Job,
        blocks: &BlockWork,
    ) -> Result<(ResolvedJob, JobPlace), Error> {
        let seed = plan.seed;
        let pattern = &blocks.pattern;
        let writes = pattern.mix.writes();
        DataFiller::new(&pattern.fill, seed)?;
        let (mut method, iodepth, workers) = self.method(blocks, job.workers)?;
        let by_rounds = job.stop.steady().is_some() || job.stop.even_halves().is_some();
        if matches!(method, Method::Sim(_)) && by_rounds {
            return Err(Refusal::new(
                "a steady state contradicts the method sim: its rounds take time, and sim takes none",
                "stop after a time",
            )
            .into());
        }
        // What is written before the timing.
        let mut laid = Bytes::ZERO;
        let mut files = 1;
        let (place, size, caching) = match &blocks.target {
            Target::Nowhere { size } => {
                if !method.without_io() {
                    return Err(Refusal::new(
                        format!("the method {} needs a file or device", method.name()),
                        "give one, or use null, compute or sim",
                    )
                    .into());
                }
                (JobPlace::Nowhere, *size, Caching::Buffered)
            }
            target @ Target::Files { count, shared, layout, .. } => {
                files = if *shared { *count } else { count.saturating_mul(workers) };
                let made = (writes || lays(*layout)) && *layout != LayoutMode::Existing;
                let (open_targets, size, new) = self.several(blocks, files, made)?;
                something_to_read(on, number, blocks, self.reads_holes)?;
                let wanted = self.cached(blocks);
                let mut caching = wanted;
                let mut subjects: Vec<usize> = Vec::new();
                for &open_target in &open_targets {
                    let subject = self.open_targets[open_target].subject;
                    if !subjects.contains(&subject) {
                        subjects.push(subject);
                    }
                }
                for &subject in &subjects {
                    // What one of them cannot have none has.
                    caching = self.caching(caching, subject, pattern, &job.stop)?;
                }
                for &subject in &subjects {
                    let path = name::path(&self.subjects[subject].path);
                    let one = of_the_place(blocks, &path);
                    method = self.suited(method, one.as_ref().unwrap_or(blocks), caching, &path)?;
                    self.log_beside(job, subject);
                }
                let each = laid_before(on, number, blocks, (size, new));
                laid = match each {
                    Bytes::ZERO => each,
                    _ if !target.sizes().is_empty() => target.all_bytes(size),
                    each => Bytes(each.0.saturating_mul(u64::from(files))),
                };
                (JobPlace::Sites(open_targets), size, caching)
            }
            target => {
                let (path, size) = match target {
                    Target::File { path, size, .. } | Target::Device { path, size, .. } => {
                        (path, *size)
                    }
                    Target::Scratch { dir, size, .. } => (dir, *size),
                    _ => unreachable!("the other targets are handled above"),
                };
                let layout = match target {
                    Target::File { layout, .. } | Target::Scratch { layout, .. } => *layout,
                    _ => LayoutMode::Existing,
                };
                let made = writes || lays(layout) || self.made.contains(path);
                self.exists(target, path, writes, made)?;
                something_to_read(on, number, blocks, self.reads_holes)?;
                if made && !self.made.contains(path) {
                    self.made.insert(path.clone());
                }
                let subject = if writes { self.subject_to_write(path) } else { self.subject(path) };
                let known = self.open_targets.iter().position(|open_target| open_target.is(target));
                let new = known.is_none();
                let open_target = known.unwrap_or_else(|| {
                    self.open_targets.extend(OpenTarget::of(target, subject));
                    self.open_targets.len() - 1
                });
                if let Target::Device { consent: Some(consent), .. } = target {
                    self.open_targets[open_target].in_use |= consent.over == OverwriteScope::InUse;
                }
                let written = (made, on.overwrite(target));
                let size = self.size(target, subject, size, written, path)?;
                let wanted = self.cached(blocks);
                let caching = self.caching(wanted, subject, pattern, &job.stop)?;
                method = self.suited(method, blocks, caching, path)?;
                if pattern.mix.has(Action::Trim) {
                    self.trims(target, path, subject, blocks)?;
                    if iodepth > TRIMS_IN_FLIGHT {
                        self.note(format!(
                            "of {iodepth} trims {TRIMS_IN_FLIGHT} are in flight for each worker at the most"
                        ));
                    }
                }
                self.log_beside(job, subject);
                laid = laid_before(on, number, blocks, (size, new));
                (JobPlace::Sites(vec![open_target]), size, caching)
            }
        };
        // The engine says now what it could not do later.
        let length = region(pattern, size, workers)?;
        if !self.leaves_out || pattern.largest().0 <= length {
            OffsetStream::new(pattern, 0, length, (0, 1), None, seed)?;
        }
        let own_files = matches!(blocks.target, Target::Files { shared: false, .. });
        verifies(pattern, length, method, iodepth, if own_files { 1 } else { workers })?;
        let each = blocks.target.all_bytes(size);
        let timed = match writes {
            false => Some(Bytes::ZERO),
            // How often they are written again is the device's to say.
            true if job.stop.at_least > Nanos::ZERO => None,
            true => most(&job.stop.first_of, each, job.workers),
        };
        let size = match blocks.target.sizes() {
            [] => Bytes(size.0.saturating_mul(u64::from(files))),
            _ => each,
        };
        let writes_at_most = timed.map(|timed| timed + laid);
        let resolved = ResolvedJob {
            phase: number,
            job: job.name.clone(),
            size,
            files,
            method,
            caching,
            iodepth,
            workers,
            writes_at_most,
        };
        Ok((resolved, place))
    }
}

/// The same work on a device alone, where that is what stands at a path of several; `None` of files.
fn of_the_place(blocks: &BlockWork, path: &Path) -> Option<BlockWork> {
    let (_, consent) = blocks.target.devices().find(|(device, _)| *device == path)?;
    let target = Target::Device { path: path.into(), size: Size::Whole, consent: consent.cloned() };
    Some(BlockWork { target, ..blocks.clone() })
}

/// Whether a file need not be there for this layout: it is made.
fn lays(layout: LayoutMode) -> bool {
    matches!(layout, LayoutMode::Written | LayoutMode::Preallocated | LayoutMode::Sparse)
}
