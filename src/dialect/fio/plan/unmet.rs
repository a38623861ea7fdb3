//! What would change the figures, and is not done here: it is refused by its name.

use crate::dialect::fio::job::{
    FioAmount, FioCommand, FioEngine, FioJob, FioLockfile, FioMem, FioRw, FioSubmitMode,
    FioVerifyKind, FioZoneMode, refused,
};
use assay_plan::error::Refusal;

/// A word of a job that is not done: its name, whether it is meant, why not, and what to write instead.
struct UnmetOption {
    name: &'static str,
    asked: fn(&FioJob) -> bool,
    why: &'static str,
    instead: &'static str,
}

const fn unmet(
    name: &'static str,
    asked: fn(&FioJob) -> bool,
    why: &'static str,
    instead: &'static str,
) -> UnmetOption {
    UnmetOption { name, asked, why, instead }
}

const UNMET: &[UnmetOption] = &[
    unmet(
        "read_iolog",
        |job| job.replay.read.is_some() && job.verify.kind != FioVerifyKind::None,
        "what a list writes is not verified here",
        "leave verify out",
    ),
    unmet(
        "spr_op",
        |job| {
            job.pattern.sprandom.asked
                && !(job.pattern.sprandom.spare > 0.0 && job.pattern.sprandom.spare < 1.0)
        },
        "it is a share above 0 and below 1",
        "give what the SSD has beyond its size: spr_op=0.15",
    ),
    unmet(
        "spr_num_regions",
        |job| job.pattern.sprandom.asked && job.pattern.sprandom.regions == 0,
        "there are no regions",
        "give 1 or more",
    ),
    unmet(
        "loops",
        |job| job.pattern.sprandom.asked && job.schedule.loops > 1,
        "the pass of sprandom is made once",
        "leave it out",
    ),
    unmet(
        "sprandom",
        |job| {
            let (pattern, target) = (&job.pattern, &job.target);
            let alone = pattern.rw == FioRw::RandWrite && pattern.one_block_size();
            let plain = pattern.bssplit.write.is_empty() && job.zones.mode == FioZoneMode::None;
            pattern.sprandom.asked && (!alone || !plain || target.nrfiles != 1)
        },
        "it is for random writes of one size in one file without zones",
        "use rw=randwrite with one bs and one filename",
    ),
    unmet(
        "directory",
        |job| job.replay.read.is_some() && !job.target.directories.is_empty(),
        "fio looks for the files of a list below it, and crashes where their names are whole",
        "leave it out, and start this in that folder",
    ),
    unmet(
        "ioengine",
        |job| job.queue.engine == FioEngine::Vsync && job.queue.iodepth > 1,
        "neighbours are not put into one call here",
        "use iodepth=1, or ioengine=sync",
    ),
    unmet(
        "mem",
        |job| job.data.mem_file.is_some() && job.data.mem != FioMem::Mmaphuge,
        "buffers are memory of no file here",
        "use mem=malloc",
    ),
    unmet(
        "lockfile",
        |job| job.target.lockfile != FioLockfile::None && !job.queue.engine.synchronous(),
        "a file is locked around each call that waits, not for I/Os in flight",
        "use ioengine=psync, or leave it out",
    ),
    unmet(
        "atomic",
        |job| job.sync.atomic && !job.queue.engine.atomic_writes(),
        "this engine has no atomic writes",
        "use ioengine=pvsync2, libaio or io_uring",
    ),
    unmet(
        "thp",
        |job| job.queue.engine_options.thp && job.pattern.rw.writes(),
        "fio maps the file privately for it, and what is written never reaches the file",
        "leave it out of jobs that write",
    ),
    unmet(
        "buffer_compress_chunk",
        |job| job.data.compress_percentage > 0 && !job.data.compress_chunk.is_multiple_of(512),
        "data compress by pieces of 512 bytes or a multiple of that",
        "give a multiple of 512",
    ),
    unmet(
        "ramp_size",
        |job| {
            let several = job.schedule.group_reporting && job.schedule.numjobs > 1;
            job.schedule.ramp_size > 0 && several
        },
        "what a group does together before it counts is not looked at",
        "give ramp_time, or leave group_reporting out",
    ),
    unmet(
        "file_append",
        |job| {
            let writes = job.pattern.rw.writes() && !job.pattern.rw.reads();
            job.target.file_append && (job.target.nrfiles > 1 || !writes)
        },
        "only writes to one file go on from its end here",
        "use rw=write and one file, or give offset= the size of the file",
    ),
    unmet(
        "io_submit_mode",
        |job| job.queue.submit_mode == FioSubmitMode::Offload && job.queue.engine.synchronous(),
        "calls that wait are made by one thread here",
        "use an engine that queues, such as ioengine=io_uring",
    ),
    unmet(
        "buffer_pattern",
        |job| !job.data.pattern.offsets.is_empty(),
        "the offset cannot stand in a pattern here",
        "leave %o out",
    ),
    unmet(
        "zonemode",
        |job| job.zones.mode == FioZoneMode::Zbd,
        "zones of devices are not done here",
        "use zonemode=strided",
    ),
    unmet(
        "zoneskip",
        |job| {
            let skips = matches!(job.zones.skip, FioAmount::Percent(percent) if percent > 0);
            job.zones.mode == FioZoneMode::Strided && skips
        },
        "a gap between zones has a size here",
        "give it in bytes",
    ),
    unmet(
        "log_alternate_epoch_clock_id",
        |job| job.logs.alternate_epoch && job.logs.alternate_epoch_clock_id > 1,
        "logs have the time of day, or that since the machine was started",
        "use 0 (CLOCK_REALTIME) or 1 (CLOCK_MONOTONIC)",
    ),
    unmet(
        "log_store_compressed",
        |job| job.logs.store_compressed && job.logs.hist.is_some(),
        "logs of histograms are not compressed here",
        "compress them afterwards",
    ),
];

impl FioJob {
    /// Refuses what would change the figures, and is not done here.
    pub(super) fn check_done(&self) -> Result<(), Refusal> {
        self.check_verify()?;
        if let Some((why, instead)) = self.queue.engine.refusal() {
            return Err(refused(self, "ioengine", why, &format!("write {instead}")));
        }
        match UNMET.iter().find(|unmet| (unmet.asked)(self)) {
            Some(unmet) => Err(refused(self, unmet.name, unmet.why, unmet.instead)),
            None => Ok(()),
        }
    }
}

impl FioCommand {
    /// Refuses options of the program itself that are not done here.
    pub(super) fn check_own(&self) -> Result<(), Refusal> {
        let own = &self.own;
        let unmet = [(
            own.trigger != Default::default(),
            "--trigger",
            "nothing ends a run from outside but a signal",
            "leave it out",
        )];
        match unmet.into_iter().find(|(asked, ..)| *asked) {
            Some((_, word, why, instead)) => {
                Err(Refusal { place: word.into(), why: why.into(), instead: instead.into() })
            }
            None => Ok(()),
        }
    }
}
