//! Makes a job complete: what its options mean together, and which of them cannot be together.

use std::path::Path;
use std::time::Duration;

use super::conflicts;
use super::conflicts::Findings;
use super::reader::Reader;
use super::together;
use crate::dialect::fio::job::engine;
use crate::dialect::fio::job::{
    FioAmount, FioComplaint, FioDirection, FioDistribution, FioFault, FioJob, FioNote, FioOptions,
    FioPathKind, FioRandomGenerator, FioSubmitMode, FioVerifyKind, FioWorld, FioZoneMode,
};

/// Where a list of jobs stands: groups, and what the jobs before were.
#[derive(Debug, Default)]
pub struct JobList {
    /// The jobs that are complete.
    pub jobs: Vec<FioJob>,
    group: u32,
    in_group: u32,
}

impl JobList {
    /// Completes a job and puts it behind the others.
    ///
    /// # Errors
    /// What cannot be together.
    pub(in crate::dialect::fio) fn add(
        &mut self,
        mut job: FioJob,
        own: &FioOptions,
        world: &FioWorld<'_>,
        said: &mut Vec<String>,
        told: &mut Vec<String>,
        notes: &mut Vec<FioNote>,
    ) -> Result<(), FioFault> {
        if let Some(name) = job.queue.unknown_engine.take() {
            return Err(engine::unknown(&name));
        }
        refused_engine(&job)?;
        device_of_name(&mut job, world);
        let mut findings = Findings::default();
        files_of_folder(&mut job, world, &mut findings)?;
        conflicts::before(&job, own, &mut findings);
        derive(&mut job, &mut findings);
        conflicts::after(&job, &self.jobs, &mut findings);
        let fault = findings.fault(own.warnings_fatal);
        said.append(&mut findings.warnings);
        told.append(&mut findings.told);
        if let Some(fault) = fault {
            return Err(fault);
        }
        conflicts::waits_for(&job, &self.jobs)?;
        conflicts::too_many(&job, &self.jobs)?;
        self.number(&mut job);
        conflicts::in_group(&job, &self.jobs, self.in_group)?;
        conflicts::logs(&job)?;
        notes.extend(together::notes(&job));
        notes.extend(together::written_over(&job, &self.jobs));
        self.jobs.push(job);
        Ok(())
    }

    /// The group that a job belongs to.
    fn number(&mut self, job: &mut FioJob) {
        if (job.schedule.stonewall || job.schedule.new_group) && self.in_group > 0 {
            self.group += 1;
            self.in_group = 0;
        }
        job.group = self.group;
        self.in_group += job.schedule.numjobs;
    }
}

fn refused_engine(job: &FioJob) -> Result<(), FioFault> {
    let asked = job.queue.engine;
    match asked.refusal() {
        Some((why, instead)) => Err(FioFault::new(engine::refused(asked, why), instead)),
        None => Ok(()),
    }
}

/// All files below the folder of `opendir` are files of the job.
fn files_of_folder(
    job: &mut FioJob,
    world: &FioWorld<'_>,
    findings: &mut Findings,
) -> Result<(), FioFault> {
    let Some(folder) = &job.target.opendir else { return Ok(()) };
    let below = (world.files_below)(Path::new(folder)).map_err(|error| {
        let why = format!("cannot list the folder of opendir={folder}: {error}");
        FioFault::new(why, "name a folder that can be read")
    })?;
    job.target.filenames.extend(below);
    job.target.nrfiles = u32::try_from(job.target.filenames.len()).unwrap_or(u32::MAX);
    findings.tell(format!("fio: opendir added {} files", job.target.nrfiles));
    Ok(())
}

/// A job with the name of a device is done on that device.
fn device_of_name(job: &mut FioJob, world: &FioWorld<'_>) {
    let target = &mut job.target;
    let unnamed = target.filenames.is_empty() && target.opendir.is_none() && target.nrfiles == 1;
    if unnamed && job.replay.read.is_none() && !job.name.is_empty() {
        let kind = (world.kind)(Path::new(&job.name));
        if kind == FioPathKind::Other {
            target.filenames = vec![job.name.clone()];
        }
    }
}

/// What options mean together.
fn derive(job: &mut FioJob, findings: &mut Findings) {
    blocks(job, findings);
    files(job);
    queue(job);
    zones(job);
    sprandom(job, findings);
    // What is read has to be there, so it is written first.
    job.target.overwrite |= job.pattern.rw.reads();
    if job.schedule.startdelay.1 < job.schedule.startdelay.0 {
        job.schedule.startdelay.1 = job.schedule.startdelay.0;
    }
    job.pace.thinktime_spin = job.pace.thinktime_spin.min(job.pace.thinktime);
    if job.schedule.time_based && job.schedule.runtime.is_zero() {
        findings.warn("fio: time_based requires a runtime/timeout setting");
        job.schedule.time_based = false;
    }
    job.schedule.loops = job.schedule.loops.max(1);
    // A seed that was typed is a seed, and not that of every run.
    if job.is_set("randseed") {
        job.pattern.randrepeat = false;
    }
    verify(job, findings);
    if job.pattern.distribution != FioDistribution::Random {
        job.pattern.norandommap = true;
    }
    data(job);
    if job.target.pre_read {
        job.target.invalidate = false;
        if job.queue.engine.through_pipes() {
            findings.tell(
                "fio: cannot pre-read files with an IO engine that isn't seekable. Pre-read disabled.",
            );
        }
    }
    report(job);
}

fn blocks(job: &mut FioJob, findings: &mut Findings) {
    let random = job.pattern.rw.random();
    let pattern = &mut job.pattern;
    for direction in FioDirection::ALL {
        let bs = *pattern.bs.of(direction);
        for size in [pattern.min_bs.of_mut(direction), pattern.max_bs.of_mut(direction)] {
            if *size == 0 {
                *size = bs;
            }
        }
    }
    let mut moved = false;
    for direction in FioDirection::ALL {
        let smallest = *pattern.min_bs.of(direction);
        let ba = pattern.ba.of_mut(direction);
        if *ba == 0 || !random {
            *ba = smallest;
        }
        moved |= *ba != smallest;
    }
    if moved && !pattern.norandommap {
        findings.warn("fio: Any use of blockalign= turns off randommap");
        pattern.norandommap = true;
    }
}

fn files(job: &mut FioJob) {
    let target = &mut job.target;
    if !target.filenames.is_empty() && target.opendir.is_none() {
        let named = u32::try_from(target.filenames.len()).unwrap_or(u32::MAX);
        target.nrfiles = target.nrfiles.min(named);
    }
    if target.openfiles > target.nrfiles || target.openfiles == 0 {
        target.openfiles = target.nrfiles;
    }
}

fn queue(job: &mut FioJob) {
    let writes = job.pattern.rw.writes() || job.pattern.rw.trims();
    let queue = &mut job.queue;
    if queue.low > queue.iodepth || queue.low == 0 {
        queue.low = queue.iodepth;
    }
    if queue.batch > queue.iodepth || queue.batch == 0 {
        queue.batch = queue.iodepth;
    }
    queue.batch_complete_max = queue.batch_complete_max.max(queue.batch_complete_min);
    let inline = queue.submit_mode == FioSubmitMode::Inline;
    if job.replay.read.is_none() && (!writes || queue.iodepth == 1) && inline {
        queue.serialize_overlap = false;
    }
}

fn zones(job: &mut FioJob) {
    let zones = &mut job.zones;
    if zones.mode != FioZoneMode::Strided {
        return;
    }
    // Strides are those of one file.
    if job.target.openfiles > 1 {
        zones.mode = FioZoneMode::None;
    } else if zones.range == 0 {
        zones.range = zones.size;
    }
}

/// What `sprandom` sets where nothing else is said.
fn sprandom(job: &mut FioJob, findings: &mut Findings) {
    if !job.pattern.sprandom.asked {
        return;
    }
    let random_writes = job.pattern.rw.writes() && job.pattern.rw.random();
    findings.deny(
        !random_writes,
        "fio: sprandom requires random write, random_generator=lfsr, norandommap=1",
        "rw=randwrite",
    );
    if !random_writes {
        return;
    }
    // It has bytes of its own.
    job.target.io_size = None;
    let (generator, map) = (job.is_set("random_generator"), job.is_set("norandommap"));
    let pattern = &mut job.pattern;
    findings.deny(
        generator && pattern.random_generator != FioRandomGenerator::Lfsr,
        "fio: sprandom requires random_generator=lfsr",
        "random_generator=lfsr",
    );
    findings.deny(
        map && !pattern.norandommap,
        "fio: sprandom requires norandommap=1",
        "norandommap=1",
    );
    if !generator {
        findings.tell("fio: sprandom sets random_generator=lfsr");
        pattern.random_generator = FioRandomGenerator::Lfsr;
    }
    if !map {
        findings.tell("fio: sprandom sets norandommap=1");
        pattern.norandommap = true;
    }
}

fn verify(job: &mut FioJob, findings: &mut Findings) {
    if job.verify.kind == FioVerifyKind::None {
        return;
    }
    verify_warnings(job, findings);
    if !job.is_set("refill_buffers") {
        job.data.refill_buffers = true;
    }
    job.verify.interval = interval(job);
    let typed = |name: &str| job.is_set(name);
    let (sequence, seed) = (typed("verify_write_sequence"), typed("verify_header_seed"));
    let deep = !job.queue.engine.synchronous() && job.queue.iodepth > 1;
    let overlap = may_overlap(job);
    if !sequence
        && (job.verify.verify_only
            || job.pattern.norandommap && deep
            || typed("experimental_verify") && overlap)
    {
        job.verify.write_sequence = false;
    }
    if !seed
        && (job.verify.verify_only || !job.pattern.rw.writes() || job.verify.backlog > 0 || overlap)
    {
        job.verify.header_seed = false;
    }
}

/// Whether a block may be written twice.
pub fn may_overlap(job: &FioJob) -> bool {
    let (pattern, target) = (&job.pattern, &job.target);
    let again = match (target.io_size, target.size) {
        (Some(FioAmount::Bytes(done)), Some(FioAmount::Bytes(size))) => done > size,
        (Some(FioAmount::Bytes(_)), None) => true,
        _ => false,
    };
    pattern.norandommap
        || pattern.softrandommap
        || pattern.sequence_gap != 0
        || pattern.sequence_length > 1
        || again
}

fn verify_warnings(job: &FioJob, findings: &mut Findings) {
    let rw = job.pattern.rw;
    let fixed = job.pattern.one_block_size();
    if job.pattern.norandommap && !fixed {
        findings.warn("fio: norandommap given for variable block sizes, verify limited");
    }
    let writes = rw.writes() && job.verify.do_verify;
    let format = &job.target.filename_format;
    let own_files = job.target.filenames.is_empty()
        && job.target.unique_filename
        && ["$jobname", "$jobnum", "$filenum"].iter().all(|word| format.contains(word));
    if writes && job.schedule.numjobs > 1 && !own_files {
        findings.tell(
            "fio: multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.",
        );
    }
    if writes && job.schedule.time_based && !rw.reads() && job.verify.backlog == 0 {
        findings.tell(
            "fio: verification read phase will never start because write phase uses all of runtime",
        );
    }
}

/// Bytes between two headers: no more than a block, and a divisor of every block.
fn interval(job: &FioJob) -> u32 {
    let pattern = &job.pattern;
    let (min, max) = (pattern.min_bs.write, pattern.max_bs.write);
    let mut interval = u64::from(job.verify.interval);
    if min != max && interval == 0 {
        interval = min;
    }
    if interval > min {
        interval = min;
    } else if pattern.rw.reads() && interval > pattern.min_bs.read {
        interval = pattern.min_bs.read;
    }
    if interval == 0 || min % interval != 0 || max % interval != 0 {
        interval = common_divisor(min, max);
    }
    u32::try_from(interval).unwrap_or(u32::MAX)
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

fn data(job: &mut FioJob) {
    if job.data.compress_percentage == 100 {
        job.data.zero_buffers = true;
        job.data.compress_percentage = 0;
    } else if job.data.compress_percentage > 0 && !job.is_set("refill_buffers") {
        job.data.refill_buffers = true;
    }
    // Zeros stay zeros, unless scrambling was asked for.
    let zeros = job.data.zero_buffers && job.is_set("zero_buffers");
    job.data.scramble_buffers &= job.is_set("scramble_buffers") || !zeros;
    if job.target.fill_device && job.target.size.is_none() {
        job.target.size = Some(FioAmount::Bytes(u64::MAX));
    }
    if !job.pattern.rw.writes() {
        job.sync.atomic = false;
    }
}

fn report(job: &mut FioJob) {
    let typed = (job.is_set("bwavgtime"), job.is_set("iopsavgtime"));
    let statistics = &mut job.statistics;
    statistics.lat_percentiles &= !statistics.disable_lat;
    statistics.clat_percentiles &= !statistics.disable_clat;
    statistics.slat_percentiles &= !statistics.disable_slat;
    if statistics.unit_base == 0 {
        statistics.unit_base = 8;
    }
    let logs = &mut job.logs;
    let window = |log: bool, typed: bool, window: &mut Duration, avg: Duration| match (log, typed) {
        (true, true) => avg.min(*window),
        (true, false) => {
            *window = avg;
            avg
        }
        _ => avg,
    };
    logs.bw_avg = window(logs.bw.is_some(), typed.0, &mut statistics.bwavgtime, logs.avg);
    logs.iops_avg = window(logs.iops.is_some(), typed.1, &mut statistics.iopsavgtime, logs.avg);
}

/// Completes a job, unless nothing is run.
pub fn finish(
    reader: &mut Reader<'_>,
    jobs: &mut JobList,
    job: FioJob,
) -> Result<(), FioComplaint> {
    if reader.dry {
        return Ok(());
    }
    let place = job.place.clone();
    let (name, options) = (job.name.clone(), job.options.clone());
    let Reader { own, world, said, told, notes, .. } = reader;
    let added = jobs.add(job, own, world, said, told, notes);
    added.map_err(|fault| {
        // The word that the fault speaks of, where one of the job does.
        let named = options.iter().find(|typed| {
            fault.why.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == typed.name)
        });
        let place = named.map(|typed| typed.place.clone()).or(place);
        let mut complaint = FioComplaint::at(place.as_ref(), fault).after(&reader.said);
        if !name.is_empty() && !complaint.refusal.why.contains(&name) {
            complaint.refusal.why = format!("job {name}: {}", complaint.refusal.why);
        }
        complaint
    })
}
