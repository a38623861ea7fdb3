//! `read_iolog`: the I/Os of a list in place of a pattern.

use std::path::{Path, PathBuf};

use super::blktrace;
use super::placed::{FioSurroundings, FioThere};
use super::replay_list::{self, FioList};
use super::target::{folders, made_before};
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{FioAmount, FioEngine, FioJob, NAME, refused};
use assay_plan::error::{Doing, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, ActionShare, BlockSize, Durability, FileOrder, Job, LayoutMode, ListedDevice, Mix,
    OffsetOrdering, Pattern, Phase, Replay, Size, StopLimit, StopRule, Target, Work,
};
use assay_plan::stats::divisor;
use assay_plan::unit::{Bytes, Nanos, Ops};

/// What a clone does of a list, and where.
pub(super) struct PlannedList {
    target: Target,
    replay: Replay,
    depth: Option<u32>,
}

impl FioJob {
    /// The list that a clone does, if it does one.
    pub(super) fn list_of(
        &self,
        clone: u32,
        found: &FioSurroundings<'_>,
        before: &[Phase],
    ) -> Result<Option<PlannedList>, Refusal> {
        let Some(read) = &self.replay.read else { return Ok(None) };
        let lists = names::split(read);
        let Some(name) = lists.get(clone as usize % lists.len().max(1)) else { return Ok(None) };
        let bytes = (found.files)(Path::new(name)).map_err(|error| {
            let why = Fault::new(Doing::Open, "", &error).text;
            refused(self, "read_iolog", &format!("{name}: {why}"), "name a list that is there")
        })?;
        let list = match blktrace::is_trace(&bytes) {
            true => blktrace::read(name, &bytes, &self.replay, &|major, minor| {
                device_of(found, major, minor)
            })?,
            false => replay_list::read(name, &String::from_utf8_lossy(&bytes), &self.replay)?,
        };
        let target = self.target_of_list(&list, found, before)?;
        let replay = Replay { from_start: list.from_start, ios: list.ios.into() };
        Ok(Some(PlannedList { target, replay, depth: list.depth }))
    }

    /// The files of a list: they are as they are, and grow where it writes behind their end.
    fn target_of_list(
        &self,
        list: &FioList,
        found: &FioSurroundings<'_>,
        before: &[Phase],
    ) -> Result<Target, Refusal> {
        let paths: Vec<PathBuf> = list.files.iter().map(PathBuf::from).collect();
        let furthest = list.ends.iter().copied().max().unwrap_or(1).max(1);
        if self.queue.engine == FioEngine::Null {
            return Ok(Target::Nowhere { size: Bytes(furthest) });
        }
        let changes = list
            .ios
            .iter()
            .any(|io| io.action.moved().is_some_and(|action| action != Action::Read));
        let (lifetime, layout) = (self.lifetime(), LayoutMode::AsFound);
        let denied = |path: &Path, why: &str| {
            let why = format!("{} {why}", path.to_text());
            refused(self, "read_iolog", &why, "have it written first, or give replay_redirect=")
        };
        let mut devices: Vec<ListedDevice> = Vec::new();
        for (path, end) in paths.iter().zip(&list.ends) {
            match (found.there)(path) {
                FioThere::Folder | FioThere::Other | FioThere::Endless => {
                    return Err(denied(path, "is neither a file nor a block device"));
                }
                FioThere::Device { bytes: whole, .. } if *end > whole => {
                    let why = format!("has {whole} bytes, and the list goes to {end}");
                    return Err(denied(path, &why));
                }
                FioThere::Device { named, .. } if paths.len() > 1 => {
                    let consent = changes.then(|| self.consent(path, named));
                    devices.push(ListedDevice { path: path.clone(), consent });
                }
                FioThere::Device { named, .. } => {
                    let consent = changes.then(|| self.consent(path, named));
                    let size = Size::Exactly(Bytes(*end));
                    return Ok(Target::Device { path: path.clone(), size, consent });
                }
                FioThere::File(_) | FioThere::Nothing if changes => {}
                there => {
                    let whole = match there {
                        FioThere::File(whole) => whole,
                        _ => made_before(before, path).unwrap_or(0),
                    };
                    if *end > whole {
                        let why = format!("has {whole} bytes, and the list reads up to {end}");
                        return Err(denied(path, &why));
                    }
                }
            }
        }
        if let [path] = paths.as_slice() {
            let (path, size) = (path.clone(), Size::Exactly(Bytes(furthest)));
            return Ok(Target::File { path, size, layout, lifetime });
        }
        // One size for all of them: what each has at least.
        let least = list.ends.iter().copied().filter(|end| *end > 0).min().unwrap_or(furthest);
        Ok(Target::Files {
            dirs: folders(
                paths.iter().filter(|path| devices.iter().all(|device| device.path != **path)),
            ),
            stem: NAME.into(),
            shared: true,
            count: paths.len() as u32,
            named: paths,
            devices,
            sizes: Vec::new(),
            size: Size::Exactly(Bytes(least)),
            order: FileOrder::RoundRobin,
            layout,
            lifetime,
        })
    }

    /// A clone that does a list. What a list flushes it says itself.
    pub(super) fn replaying(
        &self,
        list: PlannedList,
        clone: (u32, u32),
        found: &FioSurroundings<'_>,
    ) -> Result<Job, Refusal> {
        let PlannedList { target, replay, depth } = list;
        let share = |action| ActionShare {
            action,
            weight: u32::try_from(replay.count(action)).unwrap_or(u32::MAX),
        };
        let shares = [Action::Read, Action::Write, Action::Trim].map(share);
        let mix = Mix(shares.into_iter().filter(|share| share.weight > 0).collect());
        let sizes = replay.ios.iter().filter(|io| io.bytes > 0).map(|io| u64::from(io.bytes));
        let (least, most, step, all) = sizes.fold((u64::MAX, 0, 0, 0_u64), |sum, bytes| {
            (sum.0.min(bytes), sum.1.max(bytes), divisor(sum.2, bytes), sum.3 + bytes)
        });
        let block = match least == most {
            true => BlockSize::Fixed(Bytes(most)),
            false => BlockSize::Range { least: Bytes(least), most: Bytes(most), step: Bytes(step) },
        };
        let all = match self.target.io_size {
            Some(FioAmount::Bytes(bytes)) if bytes > 0 => all.min(bytes),
            _ => all,
        };
        let time = Nanos::from(self.schedule.runtime);
        let limits = [
            Some(StopLimit::Bytes(Bytes(all))),
            (time.0 > 0).then_some(StopLimit::Time(time)),
            (self.target.number_ios > 0).then_some(StopLimit::Ops(Ops(self.target.number_ios))),
        ];
        let stop = StopRule {
            ramp: Nanos::from(self.schedule.ramp_time),
            ..StopRule::until(limits.into_iter().flatten())
        };
        let pattern = Pattern {
            fill: self.fill(),
            replay: Some(replay),
            ..Pattern::of(mix, OffsetOrdering::Uniform, block)
        };
        let mut job = self.job_of(target, pattern, stop, clone, found)?;
        if let Work::Blocks(blocks) = &mut job.work {
            if blocks.durability.every().is_some() {
                blocks.durability = Durability::None;
            }
            if let Some(depth) = depth
                && !self.is_set("iodepth")
                && !self.queue.engine.synchronous()
            {
                blocks.iodepth = depth;
            }
        }
        Ok(job)
    }
}

/// The path of a device, by what the kernel says of its numbers.
fn device_of(found: &FioSurroundings<'_>, major: u32, minor: u32) -> Option<String> {
    let told = format!("/sys/dev/block/{major}:{minor}/uevent");
    let told = (found.files)(Path::new(&told)).ok()?;
    let told = String::from_utf8_lossy(&told);
    let name = told.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(format!("/dev/{name}"))
}
