//! Targets are opened and made what their jobs want to find, before any clock runs.

use std::borrow::Cow;
use std::sync::Mutex;

use crate::error::{Error, Fault};
use crate::plan::{Blocks, Job, Layout, Lifetime, Method, Size, Target, Work};
use crate::record::{ResolvedJob, Unsure};
use crate::unit::Bytes;

use super::account::places;
use super::phase::Stage;
use super::ready::{Ready, Share};
use super::resolve::Place;
use super::site::Make;

/// How the files of a target come and go, and how large they are said to be.
#[derive(Clone, Copy)]
struct Manner {
    layout: Layout,
    lifetime: Lifetime,
    size: Size,
}

impl Manner {
    /// That of a target; of one that is nowhere there is none.
    fn of(target: &Target) -> Option<Self> {
        let (layout, lifetime, size) = match target {
            Target::File { layout, lifetime, size, .. }
            | Target::Scratch { layout, lifetime, size, .. }
            | Target::Files { layout, lifetime, size, .. } => (*layout, *lifetime, *size),
            Target::Device { size, .. } => (Layout::AsFound, Lifetime::Keep, *size),
            Target::Nowhere { .. } => return None,
        };
        Some(Self { layout, lifetime, size })
    }
}

impl<'a> Stage<'a> {
    /// Opens and lays out the targets.
    pub(super) fn prepare(&mut self) -> Result<Vec<Ready<'a>>, Error> {
        let phase = self.phase;
        let (jobs, places) = (self.jobs, self.places);
        let mut ready = Vec::new();
        for ((job, resolved), place) in phase.jobs.iter().zip(jobs).zip(places) {
            ready.push(match (&job.work, place) {
                (Work::Blocks(blocks), place) => self.ready(job, blocks, resolved, place)?,
                (Work::Tree(tree), Place::Tree(grove)) => {
                    self.plant(job, tree, resolved, *grove)?
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
        blocks: &'a Blocks,
        resolved: &'a ResolvedJob,
        place: &Place,
    ) -> Result<Ready<'a>, Error> {
        let pool = matches!(resolved.method, Method::Pool);
        let mut ready = Ready {
            job,
            blocks: Cow::Borrowed(blocks),
            resolved,
            sites: Vec::new(),
            label: String::new(),
            subject: None,
            files: Mutex::default(),
            size: Bytes(resolved.size.0 / u64::from(resolved.files.max(1))),
            threads: resolved.workers * if pool { resolved.iodepth } else { 1 },
            tree: None,
            unsure: None,
        };
        if let (Place::Sites(sites), Some(manner)) = (place, Manner::of(&blocks.target)) {
            self.open(&mut ready, sites, manner)?;
        }
        Ok(ready)
    }

    /// Opens and lays out the target of one job.
    fn open(
        &mut self,
        job: &mut Ready<'a>,
        numbers: &[usize],
        manner: Manner,
    ) -> Result<(), Error> {
        for &number in numbers {
            self.make(job, number, manner)?;
        }
        self.lay_out(job, numbers, manner.layout)?;
        let first = &self.sites[numbers[0]];
        job.subject = Some(first.subject);
        job.label = match &job.blocks.target {
            Target::Files { .. } => self.resolved.subjects[first.subject].path.clone(),
            _ => first.label.clone(),
        };
        for &number in numbers {
            self.long_enough(job, number)?;
        }
        job.files = Mutex::new(self.shares(job, numbers)?);
        job.sites = numbers.to_vec();
        Ok(())
    }

    /// Opens a file or device, with whatever its layout says but for data.
    fn make(&mut self, job: &mut Ready, number: usize, manner: Manner) -> Result<(), Fault> {
        let target = &job.blocks.target;
        // A file that any phase writes is opened for writing once.
        let ever_written = self.plan.phases.iter().flat_map(|phase| &phase.jobs).any(|other| {
            other.writes()
                && matches!(&other.work, Work::Blocks(blocks) if blocks.target.is_same(target))
        });
        let found = matches!(manner.layout, Layout::AsFound | Layout::Existing);
        let site = &mut self.sites[number];
        site.open(self.run, ever_written || !found, manner.lifetime)?;
        let reach = site.reach;
        let grown = matches!(manner.size, Size::Written { .. }) && reach > 0;
        if grown && manner.layout != Layout::Truncated {
            // Whole blocks of the largest kind that was written.
            let block = job.blocks.pattern.block.largest().0;
            job.size = Bytes(reach.max(block) / block * block);
            if manner.layout != Layout::Sparse {
                return Ok(());
            }
        }
        if manner.layout == Layout::Preallocated {
            self.observer.preparing(self.phase, "allocating the test file");
        }
        site.lay(manner.layout, job.size.0)
    }

    /// Sees to it that a file is as long as the job needs it.
    fn long_enough(&self, job: &Ready, number: usize) -> Result<(), Error> {
        let site = &self.sites[number];
        let there = site.size().map_err(|error| Fault::new("stat", site.label.clone(), &error))?;
        let end = places(job).last().map_or(0, |place| place.end);
        if !job.writes() && there < end && self.signal.is_none() {
            return Err(Fault {
                doing: "read".into(),
                path: site.label.clone(),
                offset: Some(there),
                errno: 0,
                name: String::new(),
                text: format!("it ends there, and {} were to be read", job.size),
                hint: "give a smaller size, or have it written first".into(),
            }
            .into());
        }
        if job.writes() && there < job.size.0 && matches!(job.resolved.method, Method::Mmap(_)) {
            // A store can not make a file longer.
            site.grow(job.size.0)?;
        }
        Ok(())
    }

    /// Opens the files once more, as the job wants them: for all workers together, or for each its
    /// own.
    fn shares(&self, job: &Ready, numbers: &[usize]) -> Result<Vec<Share>, Fault> {
        let open = |&number: &usize| {
            let site = &self.sites[number];
            site.again(job.writes(), job.resolved.caching, job.blocks.durability)
        };
        let each = job.files_of_a_worker(numbers.len());
        let mut shares = Vec::new();
        for (share, mine) in numbers.chunks(each).enumerate() {
            shares.push(Share {
                files: mine.iter().map(open).collect::<Result<Vec<_>, _>>()?.into(),
                paths: mine.iter().map(|&number| self.sites[number].label.clone()).collect(),
                first: (share * each) as u32,
            });
        }
        Ok(shares)
    }

    /// What a job will look at when it reads it, though this plan is not certain to have written
    /// all of it.
    fn unsure(&self, job: &Ready) -> Option<Unsure> {
        if !job.looks_at_old() {
            return None;
        }
        let places = places(job);
        let make = Make::of(&job.blocks.pattern);
        let written = |&site: &usize| {
            let site = &self.sites[site];
            let alike = site.makes.iter().all(|known| *known == make);
            let bytes = places.iter().map(|place| site.written.bytes_of(place.clone()));
            if alike { bytes.sum() } else { 0 }
        };
        let all: u64 = places.iter().map(|place| place.end - place.start).sum();
        let unsure = Unsure {
            path: job.label.clone(),
            range: Bytes(all * job.sites.len() as u64),
            written: Bytes(job.sites.iter().map(written).sum()),
        };
        (unsure.written < unsure.range).then_some(unsure)
    }
}
