//! Makes a plan fit this machine: looks, decides, refuses; touches nothing.

use std::io;
use std::path::{Path, PathBuf};

use crate::engine::{Cursor, Filler};
use crate::error::{Error, Fault, Refusal};
use crate::evidence::{Bottom, DirectIo, Limits, PathKind, Reading, Scene, Subject};
use crate::plan::{
    Action, Advice, Blocks, Caching, Cold, CopyCalls, Crew, Detail, Job, Layout, Lifetime, Limit,
    Mapping, Method, Order, Pattern, Phase, Plan, Ring, Size, Stop, Target, Tree, Vectored, Verify,
    Work,
};
use crate::record::{Resolved, ResolvedJob};
use crate::sys::{aio, process, ring, stdio};
use crate::unit::{Bytes, Nanos};

use super::grove::Grove;
use super::limits::{Room, room};
use super::log::HEADING;
use super::planting::too_often;
use super::probe::Ground;
use super::site::{Site, spare};

/// The plan, made to fit.
pub(super) struct Fitted {
    /// What goes into the record.
    pub resolved: Resolved,
    /// Every file and device, not yet opened.
    pub sites: Vec<Site>,
    /// Every folder in which trees of files grow, not yet made.
    pub groves: Vec<Grove>,
    /// For each job of each phase, its place among the sites.
    pub places: Vec<Vec<Place>>,
    /// Files that are open at once, at the most.
    pub descriptors: u64,
}

/// Where a job works.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// On a site, or on one for each of its files.
    Sites(Vec<usize>),
    /// In a grove.
    Tree(usize),
    /// Nowhere: no I/O is done.
    Nowhere,
    /// Between two ends; each is the index of a subject.
    Between(usize, usize),
}

struct Fitting<'a> {
    scene: &'a Scene,
    subjects: Vec<Subject>,
    sites: Vec<Site>,
    notes: Vec<String>,
    ring: Option<Result<(), String>>,
    /// Files that a job so far leaves behind.
    made: Vec<PathBuf>,
    /// What jobs so far add to their file systems: mount point, file, bytes.
    added: Vec<(PathBuf, PathBuf, Bytes)>,
    /// Several files that a job so far works on.
    groups: Vec<Group>,
    groves: Vec<Grove>,
    /// Folders in which a tree of the plan is to be kept.
    kept: Vec<PathBuf>,
}

/// Several files of one name.
struct Group {
    target: Target,
    /// Their sites, by number.
    sites: Vec<usize>,
    /// How many of them are there once a job so far has run.
    made: u32,
}

/// The kernel counts places in files with 63 bits.
const LARGEST: Bytes = Bytes(i64::MAX as u64);
/// Files of one job.
const MANY: u32 = 1 << 19;
/// Size of one of several files: what is written tells its offset and its file apart up to here.
const FILE: Bytes = Bytes(16 << 40);
/// Threads of one phase.
const THREADS: u64 = 4096;
/// Memory for the buffers of one phase that no machine is asked about.
const MODEST: Bytes = Bytes::mib(64);

/// Looks at the machine and answers every question that the plan leaves open.
pub(super) fn fit(plan: &Plan, scene: &Scene) -> Result<Fitted, Error> {
    plan.check()?;
    let mut fitting = Fitting {
        scene,
        subjects: Vec::new(),
        sites: Vec::new(),
        notes: Vec::new(),
        ring: None,
        made: Vec::new(),
        added: Vec::new(),
        groups: Vec::new(),
        groves: Vec::new(),
        kept: kept(plan),
    };
    let mut jobs: Vec<ResolvedJob> = Vec::new();
    let mut places = Vec::new();
    let mut opened = 0;
    for phase in &plan.phases {
        let mut here = Vec::new();
        for job in &phase.jobs {
            let place = |refusal: Refusal| Refusal {
                place: if refusal.place.is_empty() {
                    format!("phase '{}', job '{}'", phase.name, job.name)
                } else {
                    refusal.place
                },
                ..refusal
            };
            if let Some(cpus) = &job.cpus {
                allowed(&cpus.list).map_err(place)?;
            }
            if job.crew == Crew::Processes && matches!(job.work, Work::Copy(_)) {
                return Err(place(Refusal::new(
                    "a copy in a process of its own",
                    "leave 'crew' out",
                ))
                .into());
            }
            if job.crew == Crew::Processes && !process::is_single() {
                return Err(place(Refusal::new(
                    "workers as processes beside other threads of this program",
                    "use threads, or run the plan by 'assay run'",
                ))
                .into());
            }
            fitting.detail(job).map_err(place)?;
            let (resolved, where_) = match &job.work {
                Work::Blocks(blocks) => fitting.blocks(phase, job, blocks, plan.seed),
                Work::Copy(copy) => {
                    if phase.jobs.len() > 1 || job.workers > 1 {
                        return Err(place(Refusal::new(
                            "a copy runs alone and with one worker",
                            "give it a phase of its own",
                        ))
                        .into());
                    }
                    if let Some(why) = copy.only_read_write()
                        && copy.calls != CopyCalls::ReadWrite
                    {
                        let calls = copy.calls.name();
                        fitting.note(format!(
                            "{calls} can not make this copy: {why}; read and write do"
                        ));
                    }
                    let from = fitting.end(copy.from.path.as_deref(), "standard input");
                    let to = fitting.end(copy.to.path.as_deref(), "standard output");
                    let most = copy.count.map(|count| {
                        Bytes(count.blocks.saturating_mul(copy.input_block.0)) + count.bytes
                    });
                    Ok((
                        ResolvedJob {
                            phase: phase.name.clone(),
                            job: job.name.clone(),
                            size: most.unwrap_or_default(),
                            files: 1,
                            method: Method::Sync,
                            caching: if copy.to.flags.direct {
                                Caching::Direct
                            } else {
                                Caching::Buffered
                            },
                            iodepth: 1,
                            workers: 1,
                            writes_at_most: most,
                        },
                        Place::Between(from, to),
                    ))
                }
                Work::Tree(tree) => fitting.tree(phase, job, tree, plan.seed),
            }
            .map_err(|error| match error {
                Error::Refusal(refusal) => Error::Refusal(place(refusal)),
                fault => fault,
            })?;
            jobs.push(resolved);
            here.push(where_);
        }
        places.push(here);
        let theirs = &jobs[jobs.len() - phase.jobs.len()..];
        let open = |job: &Job, resolved: &ResolvedJob| match &job.work {
            Work::Blocks(blocks) => {
                // Each worker may open its files once more, for a place of its own in them.
                let shared = !matches!(blocks.target, Target::Files { shared: false, .. });
                let own = if shared { resolved.workers } else { 1 };
                u64::from(resolved.files)
                    * (1 + u64::from(own_places(resolved.method)) * u64::from(own))
            }
            // Each worker has its root, a folder and a file.
            Work::Tree(_) => 3 * u64::from(resolved.workers),
            Work::Copy(_) => 2,
        };
        opened =
            opened.max(phase.jobs.iter().zip(theirs).map(|(job, theirs)| open(job, theirs)).sum());
        fitting
            .crowd(phase, &jobs[jobs.len() - phase.jobs.len()..])
            .map_err(|refusal| Refusal { place: format!("phase '{}'", phase.name), ..refusal })?;
    }
    let descriptors = opened + fitting.sites.len() as u64;
    if let Room::Raise(soft, hard) = room(descriptors)? {
        fitting.note(format!(
            "{descriptors} files are open at once: the soft limit is raised from {soft} to {hard}"
        ));
    }
    let stack: Vec<_> =
        fitting.subjects.iter().flat_map(|subject| subject.stack.iter().cloned()).collect();
    let mut limits = scene.limits(&stack);
    if stack.is_empty() {
        // No disk is below: limits on some other disk are none of ours.
        limits = limits.map(|limits| Limits { io: Vec::new(), ..limits });
    }
    let resolved = Resolved { subjects: fitting.subjects, jobs, limits, notes: fitting.notes };
    Ok(Fitted { resolved, sites: fitting.sites, groves: fitting.groves, places, descriptors })
}

impl Fitting<'_> {
    /// The subject of a path, looked at once.
    fn subject(&mut self, path: &Path) -> usize {
        let name = path.display().to_string();
        if let Some(known) = self.subjects.iter().position(|subject| subject.path == name) {
            return known;
        }
        self.subjects.push(self.scene.subject(path));
        self.subjects.len() - 1
    }

    /// The subject of an end of a copy; a stream is reached through its descriptor.
    fn end(&mut self, path: Option<&Path>, stream: &str) -> usize {
        if let Some(path) = path {
            return self.subject(path);
        }
        let number = i32::from(stream == "standard output");
        let real = std::fs::read_link(format!("/proc/self/fd/{number}"))
            .ok()
            .filter(|path| path.is_absolute() && path.exists());
        let mut subject = match real {
            Some(path) => self.scene.subject(&path),
            None => Subject {
                path: String::new(),
                kind: PathKind::Stream,
                mount: Reading::Unseen("a stream lies on no mount".into()),
                space: Reading::Unseen("a stream has no space".into()),
                stack: Vec::new(),
                bottom: Bottom::Nothing(stream.into()),
                direct: Reading::Unseen("a stream is not opened".into()),
            },
        };
        subject.path = stream.into();
        self.subjects.push(subject);
        self.subjects.len() - 1
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn blocks(
        &mut self,
        phase: &Phase,
        job: &Job,
        blocks: &Blocks,
        seed: u64,
    ) -> Result<(ResolvedJob, Place), Error> {
        let pattern = &blocks.pattern;
        let writes = pattern.mix.writes();
        Filler::new(&pattern.fill, seed)?;
        let (mut method, iodepth, workers) = self.method(blocks, job.workers)?;
        if matches!(method, Method::Sim(_)) && job.stop.steady().is_some() {
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
                if !matches!(method, Method::Null | Method::Sim(_)) {
                    return Err(Refusal::new(
                        format!("the method {} needs a file or device", method.name()),
                        "give one, or use null or sim",
                    )
                    .into());
                }
                (Place::Nowhere, *size, Caching::Buffered)
            }
            target @ Target::Files { count, shared, layout, .. } => {
                files = if *shared { *count } else { count.saturating_mul(workers) };
                let lays = matches!(layout, Layout::Written | Layout::Preallocated);
                let made = (writes || lays) && *layout != Layout::Existing;
                let (sites, size, new) = self.several(target, files, made)?;
                let subject = self.sites[sites[0]].subject;
                let wanted = self.cached(blocks);
                let caching = self.caching(wanted, subject, pattern, &job.stop)?;
                let folder = self.subjects[subject].path.clone();
                method = self.suited(method, blocks, caching, Path::new(&folder))?;
                self.log_beside(job, subject);
                if *layout == Layout::Written && new {
                    laid = Bytes(size.0.saturating_mul(u64::from(files)));
                }
                (Place::Sites(sites), size, caching)
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
                    _ => Layout::Existing,
                };
                let lays = matches!(layout, Layout::Written | Layout::Preallocated);
                let made = writes || lays || self.made.contains(path);
                self.exists(target, path, writes, made)?;
                if made {
                    self.made.push(path.clone());
                }
                let subject = self.subject(path);
                let known = self.sites.iter().position(|site| site.is(target));
                let new = known.is_none();
                let site = known.unwrap_or_else(|| {
                    self.sites.extend(Site::of(target, subject));
                    self.sites.len() - 1
                });
                let size = self.size(target, subject, size, made, path)?;
                let wanted = self.cached(blocks);
                let caching = self.caching(wanted, subject, pattern, &job.stop)?;
                method = self.suited(method, blocks, caching, path)?;
                if pattern.mix.has(Action::Trim) {
                    self.trims(target, path, subject, pattern)?;
                    if iodepth > 1 {
                        self.note(format!(
                            "trims are done one at a time by each worker, whatever the iodepth of {iodepth}"
                        ));
                    }
                }
                self.log_beside(job, subject);
                if layout == Layout::Written && new {
                    laid = size;
                }
                (Place::Sites(vec![site]), size, caching)
            }
        };
        // The engine says now what it could not do later.
        let length = region(pattern, size, workers)?;
        Cursor::new(pattern, 0, length, (0, 1), None, seed)?;
        let own_files = matches!(blocks.target, Target::Files { shared: false, .. });
        verifies(pattern, length, method, iodepth, if own_files { 1 } else { workers })?;
        let each = match &blocks.target {
            Target::Files { count, .. } => Bytes(size.0.saturating_mul(u64::from(*count))),
            _ => size,
        };
        let timed =
            if !writes { Some(Bytes::ZERO) } else { most(&job.stop.first_of, each, job.workers) };
        let size = Bytes(size.0.saturating_mul(u64::from(files)));
        let writes_at_most = timed.map(|timed| timed + laid);
        let resolved = ResolvedJob {
            phase: phase.name.clone(),
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

    /// Work on a tree of files.
    fn tree(
        &mut self,
        phase: &Phase,
        job: &Job,
        tree: &Tree,
        seed: u64,
    ) -> Result<(ResolvedJob, Place), Error> {
        Filler::new(&tree.fill, seed)?;
        if let Some(why) = too_often(tree, &job.stop.first_of) {
            return Err(Refusal::new(why, "give 1, or repeat the phases").into());
        }
        if phase.cold == Cold::Target {
            return Err(Refusal::new(
                "the names and attributes of single files can not be dropped from memory",
                "use cold 'machine', or 'keep'",
            )
            .into());
        }
        if job.workers > 1024 {
            return Err(
                Refusal::new(format!("{} workers", job.workers), "give 1024 or fewer").into()
            );
        }
        let files = tree.files.saturating_mul(u64::from(job.workers));
        let files =
            u32::try_from(files).ok().filter(|&files| files <= 1 << 31).ok_or_else(|| {
                Refusal::new(
                    format!("{files} files in all"),
                    format!("give {} or fewer", 1_u64 << 31),
                )
            })?;
        let dir = &tree.dir;
        let name = dir.display();
        match std::fs::metadata(dir) {
            Err(error) => {
                return Err(Refusal::new(
                    format!("{name}: {}", Fault::new("open", "", &error).text),
                    "name a folder that is there",
                )
                .into());
            }
            Ok(found) if !found.is_dir() => {
                return Err(Refusal::new(format!("{name} is no folder"), "name a folder").into());
            }
            Ok(_) => writable(dir)?,
        }
        let space = rustix::fs::statvfs(dir).ok();
        // btrfs and others say 0: they have as many as they have room.
        if let Some(space) = space.filter(|space| space.f_files > 0)
            && u64::from(files) > space.f_favail
        {
            return Err(Refusal::new(
                format!("{files} files do not fit: {name} has room for {} more", space.f_favail),
                "give fewer files",
            )
            .into());
        }
        let subject = self.subject(dir);
        let most = Bytes(tree.largest().0.saturating_mul(u64::from(files)));
        let free = self.subjects[subject].space.seen().map(|space| space.free);
        if let Some(free) = free
            && most > free
        {
            return Err(Refusal::new(
                format!("{files} files with {most} do not fit: {free} are free on {name}"),
                "give fewer or smaller files, or free some space",
            )
            .into());
        }
        let known = self.groves.iter().position(|grove| grove.dir == *dir);
        let grove = known.unwrap_or_else(|| {
            self.groves.push(Grove::below(dir, subject, self.kept.contains(dir)));
            self.groves.len() - 1
        });
        let resolved = ResolvedJob {
            phase: phase.name.clone(),
            job: job.name.clone(),
            size: most,
            files,
            method: Method::Psync,
            caching: Caching::Buffered,
            iodepth: 1,
            workers: job.workers,
            writes_at_most: Some(most),
        };
        Ok((resolved, Place::Tree(grove)))
    }

    /// The sites of several files, the size of each, and whether they are new to the run.
    fn several(
        &mut self,
        target: &Target,
        files: u32,
        made: bool,
    ) -> Result<(Vec<usize>, Bytes, bool), Error> {
        let Target::Files { dirs, size, .. } = target else {
            unreachable!("only several files are asked for")
        };
        if files > MANY {
            return Err(Refusal::new(
                format!("{files} files in one job"),
                format!("give {MANY} or fewer"),
            )
            .into());
        }
        for dir in dirs {
            match std::fs::metadata(dir) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => {
                    return Err(Refusal::new(
                        format!("{} is no folder", dir.display()),
                        "name a folder",
                    )
                    .into());
                }
                Err(error) => {
                    return Err(Refusal::new(
                        format!("{}: {}", dir.display(), Fault::new("open", "", &error).text),
                        "name a folder that is there",
                    )
                    .into());
                }
            }
            if made {
                writable(dir)?;
            }
        }
        let subject = self.subject(&dirs[0]);
        let on = |subject: &Subject| subject.mount.seen().map(|mount| mount.point.clone());
        for dir in &dirs[1..] {
            let other = self.scene.subject(dir);
            if on(&other).is_none() || on(&other) != on(&self.subjects[subject]) {
                return Err(Refusal::new(
                    format!("{} and {} lie on two file systems", dirs[0].display(), dir.display()),
                    "give the files of each file system a job of their own",
                )
                .into());
            }
        }
        let group = self.groups.iter().position(|group| group.target.is_same(target));
        let before = group.map_or(0, |group| self.groups[group].made);
        let (mut there, mut absent) = (Bytes::ZERO, false);
        let mut least: Option<Bytes> = None;
        for file in 0..files {
            let Some(path) = target.numbered(file) else { unreachable!("there is a folder") };
            let name = path.display();
            match std::fs::metadata(&path) {
                Ok(found) if !found.is_file() => {
                    return Err(Refusal::new(
                        format!("{name} is no regular file"),
                        "give another 'stem'",
                    )
                    .into());
                }
                Ok(found) => {
                    there += Bytes(found.len());
                    least = Some(least.map_or(Bytes(found.len()), |l| l.min(Bytes(found.len()))));
                }
                Err(_) if made || file < before => absent = true,
                Err(error) => {
                    return Err(Refusal::new(
                        format!("{name}: {}", Fault::new("open", "", &error).text),
                        "give fewer files, or have them written first",
                    )
                    .into());
                }
            }
        }
        let size = match size {
            Size::Exactly(size) => *size,
            Size::Whole if absent => {
                return Err(Refusal::new(
                    "the size of files that are not there yet",
                    "give a size in bytes",
                )
                .into());
            }
            Size::Whole => least.unwrap_or_default(),
            Size::TimesRam(_) | Size::ShareOfFree { .. } | Size::Written { .. } => {
                return Err(Refusal::new(
                    "a size of each of several files that depends on the machine",
                    "give the size of each in bytes",
                )
                .into());
            }
        };
        if size > FILE {
            return Err(Refusal::new(
                format!("{size} in each of several files"),
                format!("give {FILE} or less, or use one file"),
            )
            .into());
        }
        if !made && before < files && least.is_some_and(|least| size > least) {
            return Err(Refusal::new(
                format!("{size} are more than each of the files has"),
                format!("give {} or less", least.unwrap_or_default()),
            )
            .into());
        }
        let all = Bytes(size.0.saturating_mul(u64::from(files)));
        let free = self.subjects[subject].space.seen().map(|space| space.free);
        if made
            && let Some(free) = free
            && all.less(there) > free
        {
            return Err(Refusal::new(
                format!("{all} in {files} files do not fit: {free} are free"),
                "give fewer or smaller files, or free some space",
            )
            .into());
        }
        let new = group.is_none();
        let group = group.unwrap_or_else(|| {
            self.groups.push(Group { target: target.clone(), sites: Vec::new(), made: 0 });
            self.groups.len() - 1
        });
        if made {
            self.groups[group].made = before.max(files);
        }
        let sites = &mut self.groups[group].sites;
        while sites.len() < files as usize {
            let Some(path) = target.numbered(sites.len() as u32) else {
                unreachable!("there is a folder")
            };
            self.sites.push(Site::of_several(path, subject));
            sites.push(self.sites.len() - 1);
        }
        Ok((sites[..files as usize].to_vec(), size, new))
    }

    /// The method that can be used here, with its depth and workers.
    fn method(&mut self, blocks: &Blocks, workers: u32) -> Result<(Method, u32, u32), Refusal> {
        if blocks.iodepth > 4096 {
            return Err(Refusal::new(format!("iodepth {}", blocks.iodepth), "give 4096 or less"));
        }
        if workers > 1024 {
            return Err(Refusal::new(format!("{workers} workers"), "give 1024 or fewer"));
        }
        match blocks.method {
            method if method.one_at_a_time() => {
                if blocks.iodepth > 1 {
                    self.note(format!(
                        "{} keeps one I/O in flight: iodepth {} becomes 1",
                        method.name(),
                        blocks.iodepth
                    ));
                }
                if matches!(method, Method::Stdio { .. }) {
                    self.note(format!("stdio is that of {}", stdio::LIBRARY));
                }
                Ok((method, 1, workers))
            }
            Method::PosixAio => {
                if blocks.iodepth > 1 {
                    self.note(
                        "posixaio serves one request of a file at a time, as glibc's does: the others of its iodepth wait in a queue"
                            .into(),
                    );
                }
                Ok((blocks.method, blocks.iodepth, workers))
            }
            Method::Libaio(options) => match aio::available() {
                Ok(()) => Ok((blocks.method, blocks.iodepth, workers)),
                Err(error) => {
                    let why = reason("use", &error);
                    if self.ring().is_ok() {
                        self.note(format!(
                            "libaio can not be used here: {why}; io_uring stands in"
                        ));
                        let ring = Ring { batch: options.batch, ..Ring::default() };
                        return Ok((Method::IoUring(ring), blocks.iodepth, workers));
                    }
                    self.note(format!(
                        "libaio can not be used here: {why}; {0} threads with pread and pwrite stand in for its depth of {0}",
                        blocks.iodepth
                    ));
                    Ok((Method::Pool, blocks.iodepth, workers))
                }
            },
            Method::IoUring(_) => match self.ring() {
                Ok(()) => Ok((blocks.method, blocks.iodepth, workers)),
                Err(why) => {
                    let note = format!(
                        "io_uring can not be used here: {why}; {} threads with pread and pwrite stand in for its depth of {}",
                        blocks.iodepth, blocks.iodepth
                    );
                    // The same reason is said once, whatever the depths of the phases.
                    if !self.notes.iter().any(|note| note.starts_with("io_uring can not")) {
                        self.note(note);
                    }
                    Ok((Method::Pool, blocks.iodepth, workers))
                }
            },
            method => Ok((method, blocks.iodepth, workers)),
        }
    }

    /// Whether io_uring can be used here, and if not why; asked once.
    fn ring(&mut self) -> Result<(), String> {
        self.ring
            .get_or_insert_with(|| ring::available().map_err(|error| reason("use", &error)))
            .clone()
    }

    /// What is asked of the page cache, where the method leaves a choice.
    fn cached(&mut self, blocks: &Blocks) -> Caching {
        if blocks.method.needs_page_cache() && blocks.caching == Caching::DirectIfReal {
            self.note(format!("{} goes through the page cache", blocks.method.name()));
            return Caching::Buffered;
        }
        blocks.caching
    }

    /// The method as this target takes it. What it does not take is left out and said, or another
    /// method stands in; where that would break a promise it is refused.
    fn suited(
        &mut self,
        method: Method,
        blocks: &Blocks,
        caching: Caching,
        path: &Path,
    ) -> Result<Method, Refusal> {
        let name = path.display();
        let ground = || Ground::of(&blocks.target, path, caching == Caching::Direct);
        match method {
            Method::Vectored(flags) => {
                let writes = blocks.pattern.mix.writes();
                self.flags(flags, blocks, &name.to_string(), |only| ground()?.takes(only, writes))?
                    .map_or(Ok(Method::Psync), |flags| {
                        if flags.atomic && writes {
                            atomic(blocks, ground().ok().and_then(|g| g.atomic()), path)?;
                        }
                        Ok(Method::Vectored(flags))
                    })
            }
            Method::Mmap(mapping) => {
                // A file that is not there yet is tried by the kernel when it is.
                if let Err(error) = ground().and_then(|ground| ground.maps())
                    && matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EOPNOTSUPP))
                {
                    let why = reason("map", &error);
                    self.note(format!("{name} can not be mapped: {why}; psync stands in"));
                    return Ok(Method::Psync);
                }
                let advice = match (mapping.advice, &blocks.pattern.order) {
                    (Advice::AsOrder, Order::Forward) => Advice::Sequential,
                    (Advice::AsOrder, _) => Advice::Random,
                    (advice, _) => advice,
                };
                Ok(Method::Mmap(Mapping { advice, ..mapping }))
            }
            Method::Libaio(_) if caching == Caching::Buffered && blocks.iodepth > 1 => {
                self.note(
                    "libaio does buffered I/O inside io_submit, one after the other: its iodepth is reached by direct I/O only"
                        .into(),
                );
                Ok(method)
            }
            Method::IoUring(mut ring) if ring.polled || ring.sqpoll => {
                if ring.sqpoll {
                    let thread = Ring { polled: false, ..ring };
                    if let Err(error) = ground().and_then(|ground| ground.rings(thread)) {
                        let why = reason("make", &error);
                        self.note(format!(
                            "io_uring can not have a submission thread here: {why}; each batch is submitted by a call"
                        ));
                        (ring.sqpoll, ring.sqpoll_cpu) = (false, None);
                    }
                }
                if ring.polled {
                    let answer = if caching == Caching::Direct {
                        ground().and_then(|ground| ground.rings(ring))
                    } else {
                        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
                    };
                    if let Err(error) = answer {
                        let why = match caching {
                            Caching::Direct => reason("poll", &error),
                            _ => "it is buffered".into(),
                        };
                        self.note(format!(
                            "completions can not be polled from {name}: {why}; interrupts tell of them"
                        ));
                        ring.polled = false;
                    }
                }
                Ok(Method::IoUring(ring))
            }
            method => Ok(method),
        }
    }

    /// The flags that a target takes: each is tried alone. `None`: the calls are missing.
    fn flags(
        &mut self,
        mut flags: Vectored,
        blocks: &Blocks,
        name: &str,
        takes: impl Fn(Vectored) -> io::Result<()>,
    ) -> Result<Option<Vectored>, Refusal> {
        let promises = flags.dsync || flags.sync || flags.atomic || flags.append;
        if matches!(blocks.target, Target::Device { .. }) && flags.append {
            return Err(Refusal::new(
                format!("append and {name}: a device can not grow"),
                "leave 'append' out",
            ));
        }
        if let Err(error) = takes(Vectored::default())
            && error.raw_os_error() == Some(libc::ENOSYS)
        {
            let why = reason("use", &error);
            if promises {
                return Err(Refusal::new(
                    format!("preadv2 and pwritev2 can not be used here: {why}"),
                    "use psync with a durability",
                ));
            }
            self.note(format!("preadv2 and pwritev2 can not be used here: {why}; psync stands in"));
            return Ok(None);
        }
        const REFUSED: [i32; 2] = [libc::EOPNOTSUPP, libc::EINVAL];
        for (word, hint, flag) in [
            ("RWF_HIPRI", "", flags_only(|f| &mut f.hipri)),
            ("RWF_NOWAIT", "", flags_only(|f| &mut f.nowait)),
            ("RWF_DONTCACHE", "", flags_only(|f| &mut f.dontcache)),
            ("RWF_DSYNC", "use open_dsync", flags_only(|f| &mut f.dsync)),
            ("RWF_SYNC", "use open_sync", flags_only(|f| &mut f.sync)),
            ("RWF_APPEND", "leave 'append' out", flags_only(|f| &mut f.append)),
        ] {
            if !flag.asked(&mut flags) {
                continue;
            }
            let Err(error) = takes(flag.alone()) else { continue };
            if !error.raw_os_error().is_some_and(|errno| REFUSED.contains(&errno)) {
                continue;
            }
            let why = reason("use", &error);
            if !hint.is_empty() {
                return Err(Refusal::new(format!("{name} does not take {word}: {why}"), hint));
            }
            self.note(format!("{name} does not take {word}: {why}; it is left out"));
            flag.clear(&mut flags);
        }
        Ok(Some(flags))
    }

    /// Refuses a phase that this machine has no threads or no memory for.
    fn crowd(&self, phase: &Phase, jobs: &[ResolvedJob]) -> Result<(), Refusal> {
        let (mut threads, mut buffers) = (0_u64, Bytes::ZERO);
        for (job, resolved) in phase.jobs.iter().zip(jobs) {
            let blocks = match &job.work {
                Work::Blocks(blocks) => blocks,
                Work::Tree(_) => {
                    threads += u64::from(resolved.workers);
                    continue;
                }
                Work::Copy(_) => continue,
            };
            let (workers, depth) = (u64::from(resolved.workers), u64::from(resolved.iodepth));
            threads += match resolved.method {
                Method::Pool => workers * depth,
                // Each has a helper.
                Method::PosixAio => workers * 2,
                _ => workers,
            };
            let block = blocks.pattern.largest().0.saturating_add(4095) / 4096 * 4096;
            buffers += Bytes(block.saturating_mul(workers * depth));
        }
        if threads > THREADS {
            return Err(Refusal::new(
                format!("{threads} threads"),
                format!("give fewer workers, or less iodepth: {THREADS} are the most"),
            ));
        }
        if buffers > MODEST
            && let Some(memory) = self.memory()
            && buffers.0 > memory.0 / 2
        {
            return Err(Refusal::new(
                format!("{buffers} of buffers are more than half of the memory ({memory})"),
                "give fewer workers, less iodepth, or a smaller block",
            ));
        }
        Ok(())
    }

    /// Memory that this run can have: the machine's, or less where a control group says so.
    fn memory(&self) -> Option<Bytes> {
        let machine = self.scene.machine().memory.seen().copied();
        let group = self.scene.limits(&[]).seen().and_then(|limits| limits.memory);
        machine.into_iter().chain(group).min()
    }

    /// Refuses a log that could not be written, or would take the place of something else.
    fn detail(&mut self, job: &Job) -> Result<(), Refusal> {
        if !matches!(job.work, Work::Blocks(_)) && job.detail != Detail::default() {
            return Err(Refusal::new(
                "submission latency and a log are kept of block work only",
                "leave 'detail' out",
            ));
        }
        let Some(log) = &job.detail.log else { return Ok(()) };
        if job.crew == Crew::Processes {
            return Err(Refusal::new(
                "a log of workers that are processes",
                "use threads, or leave the log out",
            ));
        }
        let name = log.display();
        match std::fs::metadata(log) {
            Ok(found) if !found.is_file() => Err(Refusal::new(
                format!("the log {name} is no regular file"),
                "name a file for it; what is in it will be gone",
            )),
            Ok(found) if found.len() > 0 && !starts_as_log(log) => Err(Refusal::new(
                format!("{name} is there and is no log of this program"),
                "name another file for the log",
            )),
            Ok(_) => Ok(()),
            Err(_) => writable(match log.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            }),
        }
    }

    /// Says so where a log would be written to a device that is measured.
    fn log_beside(&mut self, job: &Job, subject: usize) {
        let Some(log) = &job.detail.log else { return };
        let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
        let of_log = self.scene.subject(folder.unwrap_or(Path::new(".")));
        let leaves = |subject: &Subject| -> Vec<String> {
            subject.stack.iter().map(|layer| layer.name.clone()).collect()
        };
        let mine = leaves(&self.subjects[subject]);
        if let Some(both) = leaves(&of_log).into_iter().find(|name| mine.contains(name)) {
            self.note(format!(
                "the log {} lies on {both} too, which is measured: writing it disturbs the figure",
                log.display()
            ));
        }
    }

    /// Refuses a target that can not be what the plan takes it for. `made`: it need not be there
    /// yet.
    fn exists(
        &self,
        target: &Target,
        path: &Path,
        writes: bool,
        made: bool,
    ) -> Result<(), Refusal> {
        let name = path.display();
        let there = std::fs::metadata(path);
        match target {
            Target::Scratch { .. } => match there {
                Err(error) => Err(Refusal::new(
                    format!("{name}: {}", Fault::new("open", "", &error).text),
                    "name a folder that is there",
                )),
                Ok(found) if !found.is_dir() => {
                    Err(Refusal::new(format!("{name} is no folder"), "name a folder"))
                }
                Ok(_) => writable(path),
            },
            Target::Device { .. } => {
                use std::os::unix::fs::FileTypeExt as _;
                match there {
                    Err(error) => Err(Refusal::new(
                        format!("{name}: {}", Fault::new("open", "", &error).text),
                        "'lsblk' lists the devices",
                    )),
                    Ok(found) if !found.file_type().is_block_device() => Err(Refusal::new(
                        format!("{name} is no block device"),
                        "'lsblk' lists the devices",
                    )),
                    Ok(_) if writes => self.scene.unclaimed(path).map_err(|why| {
                        Refusal::new(
                            format!("will not write: {why}"),
                            "only a device that holds nothing is overwritten; reading needs no permission",
                        )
                    }),
                    Ok(_) => Ok(()),
                }
            }
            Target::File { layout, .. } => match there {
                Ok(found) if found.is_dir() => {
                    Err(Refusal::new(format!("{name} is a folder"), "name a file"))
                }
                // What holds for devices would be passed by otherwise: consent, and a look at
                // what lies on them.
                Ok(found) if !found.is_file() => Err(Refusal::new(
                    format!("{name} is no regular file"),
                    "name a file; a block device is a target of the kind 'device'",
                )),
                Ok(_) => Ok(()),
                Err(error) if !made || (*layout == Layout::Existing && writes) => {
                    Err(Refusal::new(
                        format!("{name}: {}", Fault::new("open", "", &error).text),
                        "name a file that is there",
                    ))
                }
                Err(_) => match path.parent() {
                    Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(
                        Refusal::new(format!("{} is no folder", folder.display()), "make it first"),
                    ),
                    Some(folder) if !folder.as_os_str().is_empty() => writable(folder),
                    _ => writable(Path::new(".")),
                },
            },
            Target::Files { .. } | Target::Nowhere { .. } => Ok(()),
        }
    }

    /// The bytes of the target that the job may touch.
    fn size(
        &mut self,
        target: &Target,
        subject: usize,
        size: Size,
        made: bool,
        path: &Path,
    ) -> Result<Bytes, Refusal> {
        let name = path.display();
        let device = matches!(target, Target::Device { .. });
        let there = if device || !matches!(target, Target::Scratch { .. }) {
            std::fs::File::open(path)
                .and_then(|file| super::site::size_of_open(std::os::fd::AsFd::as_fd(&file)))
                .ok()
                .map(Bytes)
        } else {
            None
        };
        let free = self.subjects[subject].space.seen().map(|space| space.free);
        let asked = match size {
            Size::Exactly(size) => size,
            Size::Whole => there.ok_or_else(|| {
                Refusal::new(format!("{name} can not be read for its size"), "give a size")
            })?,
            Size::TimesRam(factor) => {
                let memory = self.memory().ok_or_else(|| {
                    Refusal::new("the size of the memory can not be read", "give a size in bytes")
                })?;
                Bytes((memory.0 as f64 * factor) as u64)
            }
            Size::ShareOfFree { share, most } => {
                let free = free.ok_or_else(|| {
                    Refusal::new(format!("the free space of {name} can not be read"), "give a size")
                })?;
                Bytes((free.0 as f64 * share) as u64).min(most)
            }
            Size::Written { most } if device => there.map_or(most, |there| most.min(there)),
            Size::Written { most } => free.map_or(most, |free| most.min(spare(free))),
        };
        if asked > LARGEST {
            return Err(Refusal::new(
                format!("{asked} are more than any file can have"),
                "give a smaller size",
            ));
        }
        if made && asked == Bytes::ZERO && matches!(size, Size::Written { .. }) {
            return Err(Refusal::new(
                format!("nothing can be written to {name}: no space is free there"),
                "free some space, or name another folder",
            ));
        }
        if device
            && let Some(there) = there
            && asked > there
        {
            return Err(Refusal::new(
                format!("{asked} are more than {name} has ({there})"),
                format!("give {} or less", there),
            ));
        }
        if !device
            && !made
            && let Some(there) = there
            && asked > there
        {
            return Err(Refusal::new(
                format!("{asked} are more than {name} has ({there})"),
                "give a smaller size",
            ));
        }
        // Several jobs on one new file need its space once, several files all of it.
        if !device && made {
            let subject = &self.subjects[subject];
            let mount = subject.mount.seen().map(|mount| PathBuf::from(&mount.point));
            let mount = mount.unwrap_or_else(|| path.to_path_buf());
            let new = asked.less(there.unwrap_or_default());
            let others = self.added.iter().filter(|(on, file, _)| *on == mount && file != path);
            let others: Bytes = others.map(|&(_, _, bytes)| bytes).sum();
            if let Some(free) = free
                && new > free.less(others)
            {
                let beside = match others {
                    Bytes::ZERO => String::new(),
                    others => format!(" beside {others} for other files"),
                };
                return Err(Refusal::new(
                    format!("{asked} do not fit{beside}: {free} are free on {name}"),
                    "give a smaller --size, or free some space",
                ));
            }
            match self.added.iter_mut().find(|(_, file, _)| file == path) {
                Some((_, _, most)) => *most = new.max(*most),
                None => self.added.push((mount, path.to_path_buf(), new)),
            }
        }
        // Whole blocks of 4 KiB, so that direct I/O can use all of it.
        let size = if asked.0 > 4096
            && matches!(size, Size::ShareOfFree { .. } | Size::TimesRam(_) | Size::Written { .. })
        {
            let unit = if asked.0 > 1 << 20 { 1 << 20 } else { 4096 };
            Bytes(asked.0 / unit * unit)
        } else {
            asked
        };
        Ok(size)
    }

    /// Refuses trims that the target can not do.
    fn trims(
        &self,
        target: &Target,
        path: &Path,
        subject: usize,
        pattern: &Pattern,
    ) -> Result<(), Refusal> {
        let name = path.display();
        let refused = |why: String| Err(Refusal::new(why, "leave 'trim' out of the mix"));
        if !matches!(target, Target::Device { .. }) {
            return match self.scene.punches(path) {
                Some(false) => {
                    refused(format!("'trim' on {name}: its file system can make no holes in files"))
                }
                _ => Ok(()),
            };
        }
        let device = self.subjects[subject].stack.iter().find(|layer| layer.level == 0);
        let Some(queue) = device.and_then(|layer| layer.queue.seen()) else { return Ok(()) };
        if queue.discard_max_bytes == Some(0) {
            return refused(format!("'trim' on {name}: the device knows no discard"));
        }
        let unit = queue.logical_block_size.unwrap_or(512).max(1);
        let places = [pattern.region.offset, pattern.region.step_per_worker];
        let align = pattern.region.align.unwrap_or(pattern.block.grain());
        if places.into_iter().chain([align, pattern.block.grain()]).all(|b| b.0 % unit == 0) {
            return Ok(());
        }
        Err(Refusal::new(
            format!(
                "'trim' on {name} contradicts places or blocks that are no multiples of {unit} bytes"
            ),
            format!("give block sizes, an offset and an align that are multiples of {unit}"),
        ))
    }

    /// Buffered or direct.
    fn caching(
        &mut self,
        wanted: Caching,
        subject: usize,
        pattern: &Pattern,
        stop: &Stop,
    ) -> Result<Caching, Refusal> {
        let direct: Option<DirectIo> = self.subjects[subject].direct.seen().copied();
        let align = direct.and_then(|direct| direct.align).map_or(512, |align| align.offset.max(1));
        let bytes = stop.first_of.iter().filter_map(|limit| match limit {
            Limit::Bytes(bytes) => Some(*bytes),
            _ => None,
        });
        let mut words = vec![
            ("a block size", pattern.block.grain()),
            ("an offset", pattern.region.offset),
            ("a step per worker", pattern.region.step_per_worker),
            ("an align", pattern.region.align.unwrap_or_default()),
        ];
        words.extend(bytes.map(|bytes| ("a limit", bytes)));
        let odd = words.into_iter().find(|(_, bytes)| !bytes.0.is_multiple_of(align.into()));
        let fits = odd.is_none();
        let name = &self.subjects[subject].path;
        match wanted {
            Caching::Buffered => Ok(Caching::Buffered),
            Caching::DropBehind => Err(Refusal::new(
                "dropping behind each block is not built yet",
                "use buffered or direct",
            )),
            Caching::Direct => match odd {
                None => Ok(Caching::Direct),
                Some((word, bytes)) => Err(Refusal::new(
                    format!(
                        "'direct' contradicts {word} of {} bytes: direct I/O on {name} needs multiples of {align} bytes",
                        bytes.0
                    ),
                    format!("give a multiple of {align}, or use 'buffered'"),
                )),
            },
            Caching::DirectIfReal => {
                let why = match direct {
                    _ if !fits => format!("its blocks are no multiples of {align} bytes"),
                    Some(direct) if direct.real() == Some(true) => return Ok(Caching::Direct),
                    Some(direct) if !direct.accepted => "it is refused".into(),
                    Some(direct) if direct.real() == Some(false) => {
                        "it is accepted, but goes through the page cache".into()
                    }
                    _ => "nothing shows that it goes past the page cache".into(),
                };
                let note =
                    format!("no direct I/O on {name}: {why}; buffered I/O with a flush is used");
                self.note(note);
                Ok(Caching::Buffered)
            }
        }
    }
}

/// Refuses to verify what several write at the same time: nobody could say what must stand there.
fn verifies(
    pattern: &Pattern,
    length: u64,
    method: Method,
    iodepth: u32,
    workers: u32,
) -> Result<(), Refusal> {
    if !matches!(pattern.verify, Verify::Full | Verify::AfterWrite) || !pattern.mix.sends() {
        return Ok(());
    }
    let word = pattern.verify.name();
    let step = pattern.region.step_per_worker.0;
    if workers > 1 && !pattern.region.divided && step < length {
        return Err(Refusal::new(
            format!("verify '{word}' contradicts {workers} workers that write the same places"),
            "divide the region among them, or use one worker",
        ));
    }
    if method == Method::Pool && iodepth > 1 {
        return Err(Refusal::new(
            format!(
                "verify '{word}' contradicts a pool of {iodepth} threads that write the same places"
            ),
            "use iodepth 1",
        ));
    }
    Ok(())
}

/// Whether a method moves a place that lies in the open file, so that workers can not share one.
fn own_places(method: Method) -> bool {
    matches!(method, Method::Sync | Method::Stdio { .. })
}

/// Folders in which a tree of the plan is to be kept.
fn kept(plan: &Plan) -> Vec<PathBuf> {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.filter_map(|job| match &job.work {
        Work::Tree(tree) if tree.lifetime == Lifetime::Keep => Some(tree.dir.clone()),
        _ => None,
    })
    .collect()
}

/// One of the flags of [`Vectored`].
struct Flag(fn(&mut Vectored) -> &mut bool);

fn flags_only(field: fn(&mut Vectored) -> &mut bool) -> Flag {
    Flag(field)
}

impl Flag {
    fn asked(&self, flags: &mut Vectored) -> bool {
        *(self.0)(flags)
    }

    fn clear(&self, flags: &mut Vectored) {
        *(self.0)(flags) = false;
    }

    fn alone(&self) -> Vectored {
        let mut flags = Vectored::default();
        *(self.0)(&mut flags) = true;
        flags
    }
}

/// The kernel's words for an error, with its name.
fn reason(doing: &str, error: &io::Error) -> String {
    let fault = Fault::new(doing, "", error);
    if fault.name.is_empty() { fault.text } else { format!("{} ({})", fault.text, fault.name) }
}

/// Refuses blocks that can not be written atomically.
fn atomic(blocks: &Blocks, limits: Option<(u32, u32)>, path: &Path) -> Result<(), Refusal> {
    let name = path.display();
    let Some((least, most)) = limits else {
        return Err(Refusal::new(
            format!("{name} has no atomic writes: statx tells no sizes for them"),
            "leave 'atomic' out, or use a device and file system that have them",
        ));
    };
    let block = &blocks.pattern.block;
    let fits = |size: Bytes| {
        size.0.is_power_of_two() && (u64::from(least)..=u64::from(most)).contains(&size.0)
    };
    if fits(block.smallest()) && fits(block.largest()) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("{name} writes blocks of {least} to {most} bytes atomically, powers of two"),
        "give such a block size",
    ))
}

/// Refuses CPUs that this process may not run on.
fn allowed(cpus: &[u32]) -> Result<(), Refusal> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return Ok(()) };
    let most = rustix::thread::CpuSet::MAX_CPU;
    match cpus.iter().find(|&&cpu| cpu as usize >= most || !set.is_set(cpu as usize)) {
        None => Ok(()),
        Some(cpu) => Err(Refusal::new(
            format!("CPU {cpu} is not there, or this process may not run on it"),
            "'nproc' and 'taskset -p $$' tell which ones are",
        )),
    }
}

/// Whether a file begins as logs of this program do.
fn starts_as_log(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; HEADING.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == HEADING.as_bytes()
}

/// Whether this user may make files in a folder.
fn writable(folder: &Path) -> Result<(), Refusal> {
    match rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
        Ok(()) => Ok(()),
        Err(error) => {
            let fault = Fault::new("create", "", &error.into());
            Err(Refusal::new(
                format!("can not write in {}: {} ({})", folder.display(), fault.text, fault.name),
                "name a folder that this user may write to",
            ))
        }
    }
}

/// Bytes of the region that each worker gets.
pub(super) fn region(pattern: &Pattern, size: Bytes, workers: u32) -> Result<u64, Refusal> {
    let used = size.0.saturating_sub(pattern.region.offset.0);
    let used = if pattern.region.divided {
        // In whole blocks, so that each part begins with one.
        let part = used / u64::from(workers);
        let block = pattern.block.smallest().0;
        if part < block { part } else { part / block * block }
    } else {
        used
    };
    let last = pattern.region.step_per_worker.0.saturating_mul(u64::from(workers - 1));
    let used = if pattern.region.step_per_worker.0 > 0 { used.saturating_sub(last) } else { used };
    if used == 0 {
        return Err(Refusal::new(
            "the region begins beyond the end of the target",
            "give a smaller offset",
        ));
    }
    Ok(used)
}

/// Where the region of a worker begins.
pub(super) fn start_of(pattern: &Pattern, length: u64, worker: u32) -> u64 {
    let step = if pattern.region.divided { length } else { pattern.region.step_per_worker.0 };
    pattern.region.offset.0 + step * u64::from(worker)
}

/// The most that a job writes; `None` when only time ends it.
fn most(limits: &[Limit], size: Bytes, workers: u32) -> Option<Bytes> {
    if limits.is_empty() {
        return Some(Bytes(size.0.saturating_mul(u64::from(workers))));
    }
    limits
        .iter()
        .filter_map(|limit| match limit {
            Limit::Bytes(bytes) => Some(*bytes),
            Limit::Passes(passes) => Some(Bytes(
                size.0.saturating_mul(u64::from(*passes)).saturating_mul(u64::from(workers)),
            )),
            _ => None,
        })
        .min()
}

/// About how long a plan takes: the sum of its time limits; `None` when only the device's speed
/// decides.
pub(super) fn about(plan: &Plan) -> Option<Nanos> {
    plan.phases
        .iter()
        .map(|phase| {
            let jobs: Option<Vec<Nanos>> = phase
                .jobs
                .iter()
                .map(|job| Some(job.stop.time()? + job.stop.ramp + job.delay))
                .collect();
            Some(jobs?.into_iter().max()? + phase.quiet)
        })
        .sum()
}
