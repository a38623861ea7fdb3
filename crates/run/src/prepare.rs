//! Targets are opened and made what their jobs want to find, before any clock runs.

use std::borrow::Cow;
use std::sync::Mutex;

use assay_plan::error::{Doing, Error, Fault};
use assay_plan::plan::{
    Advice, BlockWork, CacheDrop, Job, LayoutMode, Lifetime, Method, Size, Target, Work,
};
use assay_plan::unit::Bytes;
use assay_record::claim::Preparation;
use assay_record::record::{ResolvedJob, UnprovenData};

use super::coverage::places_in;
use super::open_target::DataRecipe;
use super::phase_context::PhaseContext;
use super::prepared_job::{JobPart, PreparedJob, WorkerFileShare};
use super::resolve::JobPlace;

/// How the files of a target come and go, and how large they are said to be.
#[derive(Clone, Copy)]
struct FileLifecycle {
    layout: LayoutMode,
    lifetime: Lifetime,
    size: Size,
}

impl FileLifecycle {
    /// That of a target; of one that is nowhere there is none.
    fn of(target: &Target) -> Option<Self> {
        let (layout, lifetime, size) = match target {
            Target::File { layout, lifetime, size, .. }
            | Target::Scratch { layout, lifetime, size, .. }
            | Target::Files { layout, lifetime, size, .. } => (*layout, *lifetime, *size),
            Target::Device { size, .. } => (LayoutMode::AsFound, Lifetime::Keep, *size),
            Target::Nowhere { .. } => return None,
        };
        Some(Self { layout, lifetime, size })
    }
}

/// What the kernel is told.
fn told(advice: Advice, job: &PreparedJob) -> rustix::fs::Advice {
    use rustix::fs::Advice as Told;
    match advice {
        Advice::AsOrder if job.blocks.pattern.order.sequential() => Told::Sequential,
        Advice::AsOrder | Advice::Random => Told::Random,
        Advice::Normal => Told::Normal,
        Advice::Sequential => Told::Sequential,
        Advice::WillNeed => Told::WillNeed,
        Advice::DontNeed => Told::DontNeed,
    }
}

impl<'a> PhaseContext<'a> {
    /// Opens and lays out the targets.
    pub(super) fn prepare(&mut self) -> Result<Vec<PreparedJob<'a>>, Error> {
        let phase = self.phase;
        let (jobs, places) = (self.jobs, self.places);
        let mut ready = Vec::new();
        for ((job, resolved), place) in phase.jobs.iter().zip(jobs).zip(places) {
            ready.push(match (&job.work, place) {
                (Work::Blocks(blocks), place) => self.ready(job, blocks, resolved, place)?,
                (Work::Tree(tree), JobPlace::Tree(tree_dir)) => {
                    self.plant(job, tree, resolved, *tree_dir)?
                }
                (Work::Tree(_), _) => unreachable!("a tree is placed in a grove"),
                (Work::Copy(_), _) => unreachable!("resolving refuses a copy beside other work"),
            });
        }
        for job in &mut ready {
            job.unsure = self.unsure(job);
        }
        Ok(ready)
    }

    /// Makes one job of blocks ready.
    fn ready(
        &mut self,
        job: &'a Job,
        blocks: &'a BlockWork,
        resolved: &'a ResolvedJob,
        place: &JobPlace,
    ) -> Result<PreparedJob<'a>, Error> {
        let pool = matches!(resolved.method, Method::Pool);
        let mut ready = PreparedJob {
            job,
            blocks: Cow::Borrowed(blocks),
            resolved,
            open_targets: Vec::new(),
            label: String::new(),
            parts: Vec::new(),
            files: Mutex::default(),
            size: match blocks.target.sizes().iter().max() {
                Some(largest) => *largest,
                None => Bytes(resolved.size.0 / u64::from(resolved.files.max(1))),
            },
            sizes: blocks.target.sizes().to_vec(),
            threads: resolved.workers * if pool { resolved.iodepth } else { 1 },
            tree: None,
            alone_and_cold: self.phase.jobs.len() == 1 && self.phase.cold != CacheDrop::Keep,
            unsure: None,
        };
        if let (JobPlace::Sites(open_targets), Some(manner)) =
            (place, FileLifecycle::of(&blocks.target))
        {
            self.open(&mut ready, open_targets, manner)?;
        }
        Ok(ready)
    }

    /// Opens and lays out the target of one job.
    fn open(
        &mut self,
        job: &mut PreparedJob<'a>,
        numbers: &[usize],
        manner: FileLifecycle,
    ) -> Result<(), Error> {
        for (file, &number) in numbers.iter().enumerate() {
            self.make(job, (file, number), manner)?;
        }
        self.lay_out(job, numbers, manner.layout)?;
        job.parts = self.parts(job, numbers);
        job.label = job.parts[0].label.clone();
        for (file, &number) in numbers.iter().enumerate() {
            self.long_enough(job, (file, number))?;
        }
        job.files = Mutex::new(self.shares(job, numbers)?);
        job.open_targets = numbers.to_vec();
        Ok(())
    }

    /// What the files of a job are in the record, each once.
    fn parts(&self, job: &PreparedJob, numbers: &[usize]) -> Vec<JobPart> {
        let mut parts: Vec<JobPart> = Vec::new();
        for (file, &number) in numbers.iter().enumerate() {
            let open_target = &self.open_targets[number];
            let subject = open_target.subject;
            match parts.iter_mut().find(|part| part.subject == subject) {
                Some(part) => part.files.push(file),
                None => parts.push(JobPart {
                    label: match &job.blocks.target {
                        Target::Files { .. } => self.resolved.subjects[subject].path.clone(),
                        _ => open_target.label.clone(),
                    },
                    subject,
                    files: vec![file],
                }),
            }
        }
        parts
    }

    /// Opens a file or device, with whatever its layout says but for data.
    fn make(
        &mut self,
        job: &mut PreparedJob,
        (file, number): (usize, usize),
        manner: FileLifecycle,
    ) -> Result<(), Fault> {
        let target = &job.blocks.target;
        let open_target = &self.open_targets[number];
        let device = open_target.is_device().then_some(open_target.path.as_path());
        let manner = match device {
            Some(_) => FileLifecycle {
                layout: LayoutMode::AsFound,
                lifetime: Lifetime::Keep,
                size: manner.size,
            },
            None => manner,
        };
        // A file that any phase writes is opened for writing once.
        let ever_written = self.plan.phases.iter().flat_map(|phase| &phase.jobs).any(|other| {
            let Work::Blocks(blocks) = &other.work else { return false };
            let same = match device {
                Some(device) => blocks.target.is_device(device),
                None => blocks.target.is_same(target),
            };
            other.writes() && same
        });
        let found =
            matches!(manner.layout, LayoutMode::AsFound | LayoutMode::Grown | LayoutMode::Existing);
        let open_target = &mut self.open_targets[number];
        open_target.open(self.run, ever_written || !found, manner.lifetime)?;
        let reach = open_target.reach;
        let grown = matches!(manner.size, Size::Written { .. }) && reach > 0;
        if grown && !matches!(manner.layout, LayoutMode::Truncated | LayoutMode::Anew) {
            // Whole blocks of the largest kind that was written.
            let block = job.blocks.pattern.block.largest().0;
            job.size = Bytes(reach.max(block) / block * block);
            if manner.layout != LayoutMode::Sparse {
                return Ok(());
            }
        }
        if manner.layout == LayoutMode::Preallocated {
            self.observer.preparing(self.phase, Preparation::AllocatingFile);
        }
        match open_target.lay(manner.layout, job.size_of(file).0) {
            // The first write that finds no room says so.
            Err(fault)
                if fault.doing == Doing::Allocate
                    && fault.errno == libc::ENOSPC
                    && self.plan.origin.tool.until_full =>
            {
                Ok(())
            }
            laid => laid,
        }
    }

    /// Sees to it that a file is as long as the job needs it.
    fn long_enough(&self, job: &PreparedJob, (file, number): (usize, usize)) -> Result<(), Error> {
        let open_target = &self.open_targets[number];
        let there = open_target
            .size()
            .map_err(|error| Fault::new(Doing::Stat, open_target.label.clone(), &error))?;
        let end = places_in(job, file).last().map_or(0, |place| place.end);
        let size = job.size_of(file);
        // What is read again was written, whatever else was to be.
        let pattern = &job.blocks.pattern;
        let reads = !job.writes() && (pattern.again.is_none() || pattern.another_run);
        if reads && there < end && self.signal.is_none() {
            let text = format!("it ends there, and {size} were to be read");
            return Err(Fault::told(Doing::Read, open_target.label.as_str(), text)
                .at(there)
                .hinting("give a smaller size, or have it written first")
                .into());
        }
        if job.writes() && there < size.0 && matches!(job.resolved.method, Method::Mmap(_)) {
            // A store cannot make a file longer.
            open_target.grow(size.0)?;
        }
        Ok(())
    }

    /// Opens the files once more, as the job wants them: for all workers together, or for each its
    /// own.
    fn shares(&self, job: &PreparedJob, numbers: &[usize]) -> Result<Vec<WorkerFileShare>, Fault> {
        let open = |&number: &usize| {
            let open_target = &self.open_targets[number];
            let file =
                open_target.again(job.writes(), job.resolved.caching, job.blocks.durability)?;
            if let Some(advice) = job.blocks.fadvise {
                // Advice: a refusal changes nothing.
                let _ = rustix::fs::fadvise(&file, 0, None, told(advice, job));
            }
            Ok(file)
        };
        let each = job.files_of_a_worker(numbers.len());
        let mut shares = Vec::new();
        for (share, mine) in numbers.chunks(each).enumerate() {
            shares.push(WorkerFileShare {
                files: mine.iter().map(open).collect::<Result<Vec<_>, _>>()?.into(),
                paths: mine.iter().map(|&number| self.open_targets[number].label.clone()).collect(),
                first: (share * each) as u32,
            });
        }
        Ok(shares)
    }

    /// What a job will look at when it reads it, though this plan is not certain to have written
    /// all of it.
    fn unsure(&self, job: &PreparedJob) -> Option<UnprovenData> {
        if !job.looks_at_old() {
            return None;
        }
        let make = DataRecipe::of(&job.blocks.pattern);
        let (mut range, mut written) = (0, 0);
        for (file, &number) in job.open_targets.iter().enumerate() {
            let open_target = &self.open_targets[number];
            let alike = open_target.makes.iter().all(|known| *known == make);
            for place in places_in(job, file) {
                range += place.end - place.start;
                written += if alike { open_target.written.bytes_of(place) } else { 0 };
            }
        }
        let unsure =
            UnprovenData { path: job.label.clone(), range: Bytes(range), written: Bytes(written) };
        (unsure.written < unsure.range).then_some(unsure)
    }
}
