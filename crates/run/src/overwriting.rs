//! What a plan would write over, and whether it may.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use assay_engine::engine::is_own_sector;
use assay_plan::error::Refusal;
use assay_plan::name::{NameText as _, quoted};
use assay_plan::plan::{
    BlockWork, Job, LayoutMode, Lifetime, OverwriteConsent, OverwriteScope, Plan, Target, Work,
};
use assay_plan::unit::Bytes;
use assay_record::evidence::{DeviceContent, DeviceUser, SysRoot};
use assay_record::record::ExpectedLoss;

fn jobs(plan: &Plan) -> impl Iterator<Item = &Job> {
    plan.phases.iter().flat_map(|phase| phase.jobs.iter())
}

/// The work on blocks that writes, or tells the device that blocks are needed no longer.
fn writing(plan: &Plan) -> impl Iterator<Item = &BlockWork> {
    jobs(plan).filter_map(|job| match &job.work {
        Work::Blocks(blocks) if blocks.pattern.mix.writes() => Some(blocks),
        _ => None,
    })
}

/// The block devices that a plan writes to, each with all that it allows; `None` where that is nothing.
fn written_devices(plan: &Plan) -> Vec<(PathBuf, Option<OverwriteScope>)> {
    let mut devices: Vec<(PathBuf, Option<OverwriteScope>)> = Vec::new();
    for (path, consent) in writing(plan).flat_map(|blocks| blocks.target.devices()) {
        let over = consent.map(|consent| consent.over);
        match devices.iter_mut().find(|(known, _)| known == path) {
            Some((_, known)) => *known = over.max(*known),
            None => devices.push((path.to_path_buf(), over)),
        }
    }
    devices
}

/// What would be lost on each block device that a plan writes to and that is not empty; and whether the run is refused
/// for that. A copy never is: its tool writes where it is told to. Only reads: the ends of the device, and a sample
/// between.
pub fn losses(plan: &Plan) -> Vec<ExpectedLoss> {
    let sys_root = SysRoot::default();
    let copies = copied_to(plan).map(Path::to_path_buf);
    let copies = copies.filter_map(|path| loss(&sys_root, path, OverwriteScope::InUse));
    written_over(plan, &sys_root).chain(copies).collect()
}

/// The same without the copies, one device after the other.
fn written_over(plan: &Plan, sys_root: &SysRoot) -> impl Iterator<Item = ExpectedLoss> {
    let devices = written_devices(plan).into_iter();
    devices.filter_map(|(device, over)| loss(sys_root, device, over.unwrap_or_default()))
}

/// The block devices that copies of a plan go to.
fn copied_to(plan: &Plan) -> impl Iterator<Item = &Path> {
    let to = jobs(plan).filter_map(|job| match &job.work {
        Work::Copy(copy) => copy.to.path.as_deref(),
        _ => None,
    });
    to.filter(|path| std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device()))
}

/// Who uses the devices that copies of a plan go to, in words: what lies there is damaged by the copy. Only kernel tables
/// are read.
pub fn damages(plan: &Plan) -> Vec<String> {
    let sys_root = SysRoot::default();
    copied_to(plan)
        .filter_map(|path| {
            let told = match sys_root.holder_of(path)? {
                DeviceUser::Mount { how, .. } => {
                    format!("{how}: this copy damages its file system")
                }
                DeviceUser::Other(how) => format!("{how}: this copy damages what is there"),
                DeviceUser::Unknown(_) => return None,
            };
            Some(format!("{}: {told}", path.to_text()))
        })
        .collect()
}

/// What is lost where a device is written over.
fn loss(sys_root: &SysRoot, path: PathBuf, over: OverwriteScope) -> Option<ExpectedLoss> {
    if !path.exists() {
        return None;
    }
    let user = sys_root.user_of(&path);
    let (holds, unknown) = match content(sys_root, &path) {
        Ok(holds) => (holds, None),
        Err(why) => (None, Some(format!("what it holds cannot be seen: {why}"))),
    };
    let needed = match (&user, &holds, &unknown) {
        (Some(_), ..) => OverwriteScope::InUse,
        (None, None, None) => return None,
        (None, ..) => OverwriteScope::Content,
    };
    let in_use = user.is_some();
    let used = user.as_ref().map(DeviceUser::to_string).or(unknown);
    Some(ExpectedLoss { path, used, holds, refused: over < needed, in_use })
}

/// What stands on a device, in words; `None` where it reads as empty.
fn content(sys_root: &SysRoot, device: &Path) -> Result<Option<String>, String> {
    let found = sys_root.content(device, is_own_sector)?;
    let parts = sys_root.partitions(device);
    Ok(match (found, parts.as_slice()) {
        (DeviceContent::Holds(what), _) => Some(what),
        (DeviceContent::Empty, []) => None,
        (DeviceContent::Empty, [part]) => Some(format!("the partition {part}")),
        (DeviceContent::Empty, [part, ..]) => {
            Some(format!("{} partitions ({part} and others)", parts.len()))
        }
    })
}

/// Refuses a plan that would write over what its user has not named for that. Nothing was touched.
pub(super) fn keep_off(plan: &Plan) -> Result<(), Refusal> {
    let sys_root = SysRoot::default();
    let mut files: Vec<PathBuf> =
        writing(plan).flat_map(|blocks| files_of(&blocks.target)).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        if let Some(used) = sys_root.user_of_file(&file) {
            return Err(Refusal::new(
                format!("will not write: {}: {used}", file.to_text()),
                "let go of it first, or name another file",
            ));
        }
    }
    match written_over(plan, &sys_root).find(|loss| loss.refused) {
        Some(loss) => {
            let tool = &plan.origin.tool;
            let lose = if loss.in_use { &tool.lose_in_use } else { &tool.lose };
            Err(refusal(&loss, lose.as_deref()))
        }
        None => Ok(()),
    }
}

/// Why a device is not written to, and what allows it; `lose` are the words of a tool for that.
fn refusal(loss: &ExpectedLoss, lose: Option<&str>) -> Refusal {
    let device = quoted(&loss.path.to_text());
    let instead = match (loss.in_use, lose) {
        (true, None) => "let go of it first, or name another; reading needs no permission".into(),
        (_, Some(words)) => format!("to lose that, {}", words.replace("{device}", &device)),
        (false, None) => {
            format!("to lose that, name it a third time: {device} {device} {device}")
        }
    };
    Refusal::new(format!("will not write: {}", loss.why()), instead)
}

// ------------------------------------------------------------------ plans of a file

/// The paths of a target that are files, or stand for them.
fn files_of(target: &Target) -> Vec<PathBuf> {
    match target {
        Target::File { path, .. } => vec![path.clone()],
        Target::Files { lifetime: Lifetime::Unnamed, .. } => Vec::new(),
        Target::Files { count, .. } => {
            let all = (0..*count).map_while(|file| target.numbered(file));
            all.filter(|path| !target.is_device(path)).collect()
        }
        Target::Scratch { .. } | Target::Device { .. } | Target::Nowhere { .. } => Vec::new(),
    }
}

/// Whether files of a target are changed by the way they come to be, or by what becomes of them.
fn changes(target: &Target) -> bool {
    let lifetime = match target {
        Target::File { lifetime, .. } | Target::Files { lifetime, .. } => *lifetime,
        _ => return false,
    };
    lifetime == Lifetime::Remove
        || !matches!(
            target.layout(),
            LayoutMode::AsFound | LayoutMode::Grown | LayoutMode::Existing
        )
}

/// All paths that a plan writes over, empties or removes where something stands there: devices, files, logs, and mounts
/// that it takes away for a while.
fn changed(plan: &Plan) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for job in jobs(plan) {
        paths.extend(job.detail.log.clone());
        match &job.work {
            Work::Blocks(blocks) => {
                let writes = blocks.pattern.mix.writes();
                if writes || changes(&blocks.target) {
                    paths.extend(files_of(&blocks.target));
                }
                if writes {
                    paths.extend(blocks.target.devices().map(|(path, _)| path.to_path_buf()));
                }
                paths.extend(blocks.donor.iter().map(|donor| donor.path.clone()));
            }
            Work::Copy(copy) => paths.extend(copy.to.path.clone()),
            Work::Tree(tree) => paths.extend(tree.named.iter().map(|name| tree.dir.join(name))),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()) && holds_something(path));
    paths
}

/// Whether something stands at a path that is changed where it is written to.
fn holds_something(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    // `/dev/null`, `/dev/zero` and `/dev/full`: all others may be a console, a tape or the memory.
    let devours = found.file_type().is_char_device()
        && [3, 5, 7].contains(&rustix::fs::minor(found.rdev()))
        && rustix::fs::major(found.rdev()) == 1;
    !found.is_dir() && !devours
}

/// Has a plan of a file write over what its user has named, and nothing else: what the file itself allows counts for
/// nothing. `named`: each device or file once; a device that holds something twice. What is left is what would be lost
/// all the same, for which the run has to be refused.
///
/// # Errors
/// When something is named that the plan does not write over.
pub fn allow(plan: &mut Plan, named: &[PathBuf]) -> Result<Vec<ExpectedLoss>, Refusal> {
    let times = |path: &Path| named.iter().filter(|named| *named == path).count();
    let changed = changed(plan);
    let remounts = plan.phases.iter().filter_map(|phase| phase.remount.clone());
    let remounts: Vec<PathBuf> = remounts.collect();
    let known = |path: &&PathBuf| changed.contains(path) || remounts.contains(path);
    if let Some(stray) = named.iter().find(|path| !known(path)) {
        return Err(Refusal::new(
            format!("the plan writes over nothing at '{}'", stray.to_text()),
            "name only what it may write over, as 'assay explain' of the plan lists it",
        ));
    }
    for phase in &mut plan.phases {
        for job in phase.jobs.iter_mut() {
            let Work::Blocks(blocks) = &mut job.work else { continue };
            for (path, consent) in blocks.target.consents_mut() {
                let over = match times(path) {
                    0 => None,
                    1 => Some(OverwriteScope::Empty),
                    _ => Some(OverwriteScope::Content),
                };
                *consent = over.map(|over| OverwriteConsent { device: path.to_path_buf(), over });
            }
        }
    }
    let sys_root = SysRoot::default();
    let devices = written_devices(plan);
    let is_written = |path: &PathBuf| devices.iter().any(|(device, _)| device == path);
    let on_devices = devices.iter().filter_map(|(device, over)| {
        let loss = loss(&sys_root, device.clone(), over.unwrap_or_default());
        let unnamed = over.is_none().then(|| ExpectedLoss {
            path: device.clone(),
            used: None,
            holds: Some("nothing, and only the plan names it".into()),
            refused: true,
            in_use: false,
        });
        loss.or(unnamed)
    });
    let others = changed.iter().filter(|path| !is_written(path) && times(path) == 0).map(|path| {
        let there = std::fs::metadata(path);
        let is_device = there.as_ref().is_ok_and(|there| there.file_type().is_block_device());
        let holds = match there {
            Ok(there) if there.is_file() => Some(Bytes(there.len()).to_string()),
            _ if is_device => content(&sys_root, path).ok().flatten(),
            _ => None,
        };
        let user = if is_device { sys_root.user_of(path) } else { None };
        let in_use = user.is_some();
        let used = match (&user, &holds) {
            (Some(user), _) => Some(user.to_string()),
            (None, None) => Some("it is there already".into()),
            (None, Some(_)) => None,
        };
        ExpectedLoss { path: path.clone(), used, holds, refused: true, in_use }
    });
    let unmounted = remounts.iter().filter(|path| times(path) == 0).map(|path| ExpectedLoss {
        path: path.clone(),
        used: Some("what is mounted there would be unmounted for a while".into()),
        holds: None,
        refused: true,
        in_use: false,
    });
    Ok(on_devices.chain(others).chain(unmounted).collect())
}
