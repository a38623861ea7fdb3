//! Several files or devices as the target of a job.

use std::path::{Path, PathBuf};

use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{Action, BlockWork, OverwriteScope, Size, Target};
use assay_plan::unit::Bytes;
use assay_record::evidence::{FilesystemSpace, Subject};

use super::super::open_target::OpenTarget;
use super::fitter::{FileGroup, PlanFitter};
use super::target::{nearest, writable};

/// Files of one job.
const MANY: u32 = 1 << 19;
/// Size of one of several files: what is written tells its offset and its file apart up to here.
const FILE: Bytes = Bytes(16 << 40);

/// What stands where the files of a job belong.
struct FoundFiles {
    /// Of the smallest; `None` where there is none.
    least: Option<Bytes>,
    /// One or more is not there yet.
    absent: bool,
}

impl PlanFitter<'_> {
    /// The sites of several files, the size of each, and whether they are new to the run.
    pub(super) fn several(
        &mut self,
        blocks: &BlockWork,
        files: u32,
        made: bool,
    ) -> Result<(Vec<usize>, Bytes, bool), Error> {
        let target = &blocks.target;
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
            if made && self.makes_folders && !dir.exists() {
                writable(nearest(dir))?;
                continue;
            }
            is_folder(dir)?;
            if made {
                writable(dir)?;
            }
        }
        let places = self.file_systems(dirs);
        let group = self.groups.iter().position(|group| group.target.is_same(target));
        let before = group.map_or(0, |group| self.groups[group].made);
        let found = found(target, files, if made { files } else { before })?;
        let size = size_of_each(*size, &found)?;
        self.listed_devices(blocks, size)?;
        let alike = target.sizes().is_empty();
        if !made && before < files && alike && found.least.is_some_and(|least| size > least) {
            return Err(Refusal::new(
                format!("{size} are more than each of the files has"),
                format!("give {} or less", found.least.unwrap_or_default()),
            )
            .into());
        }
        if made && self.has_to_fit(target) {
            self.fits(target, files, size, &places)?;
        }
        let new = group.is_none();
        let group = group.unwrap_or_else(|| {
            self.groups.push(FileGroup {
                target: target.clone(),
                open_targets: Vec::new(),
                made: 0,
            });
            self.groups.len() - 1
        });
        if made {
            self.groups[group].made = before.max(files);
        }
        Ok((self.sites_of(group, files, &places), size, new))
    }

    /// Looks at the devices among several files as at one alone: whether they are there, may be written to, are
    /// large enough, and can be trimmed.
    fn listed_devices(&mut self, blocks: &BlockWork, size: Bytes) -> Result<(), Refusal> {
        let Target::Files { named, devices, .. } = &blocks.target else { return Ok(()) };
        let writes = blocks.pattern.mix.writes();
        for device in devices {
            let path = &device.path;
            let sizes = named.iter().enumerate().filter(|(_, other)| *other == path);
            let of_file = |file: usize| blocks.target.sizes().get(file).copied().unwrap_or(size);
            let most = sizes.map(|(file, _)| of_file(file)).max().unwrap_or(size);
            let alone = Target::Device {
                path: path.clone(),
                size: Size::Exactly(most),
                consent: device.consent.clone(),
            };
            self.exists(&alone, path, writes, writes)?;
            let subject = self.subject(path);
            self.size(&alone, subject, Size::Exactly(most), (writes, false), path)?;
            if blocks.pattern.mix.has(Action::Trim) {
                self.trims(&alone, path, subject, blocks)?;
            }
        }
        Ok(())
    }

    /// The subject of each folder: one for those on the same file system.
    fn file_systems(&mut self, dirs: &[PathBuf]) -> Vec<(PathBuf, usize)> {
        let mut places: Vec<(PathBuf, usize)> = Vec::with_capacity(dirs.len());
        let on = |subject: &Subject| subject.mount.seen().map(|mount| mount.point.clone());
        for dir in dirs {
            let mount = places.first().and_then(|_| on(&self.sys_root.subject(dir)));
            let beside = places
                .iter()
                .map(|(_, subject)| *subject)
                .find(|&subject| mount.is_some() && on(&self.subjects[subject]) == mount);
            let subject = beside.unwrap_or_else(|| self.subject(dir));
            places.push((dir.clone(), subject));
        }
        places
    }

    /// Refuses files that a file system has no room for.
    fn fits(
        &self,
        target: &Target,
        files: u32,
        each: Bytes,
        places: &[(PathBuf, usize)],
    ) -> Result<(), Refusal> {
        let mut looked_at: Vec<usize> = Vec::new();
        for &(_, subject) in places {
            let space = self.subjects[subject].space.seen();
            let Some(free) = space.and_then(FilesystemSpace::known_free) else { continue };
            if looked_at.contains(&subject) {
                continue;
            }
            looked_at.push(subject);
            let (mut count, mut all, mut there) = (0_u32, Bytes::ZERO, Bytes::ZERO);
            for file in 0..files {
                let Some(path) = target.numbered(file) else { break };
                if target.is_device(&path) || place_of(&path, places) != Some(subject) {
                    continue;
                }
                count += 1;
                all += target.sizes().get(file as usize).copied().unwrap_or(each);
                if !target.is_unnamed()
                    && let Ok(found) = std::fs::metadata(&path)
                {
                    there += Bytes(found.len());
                }
            }
            if all.less(there) > free {
                return Err(Refusal::new(
                    format!("{all} in {count} files do not fit: {free} are free"),
                    "give fewer or smaller files, or free some space",
                ));
            }
        }
        Ok(())
    }

    /// The first sites of a group, which grows to as many.
    fn sites_of(&mut self, group: usize, files: u32, places: &[(PathBuf, usize)]) -> Vec<usize> {
        let target = self.groups[group].target.clone();
        while self.groups[group].open_targets.len() < files as usize {
            let Some(path) = target.numbered(self.groups[group].open_targets.len() as u32) else {
                unreachable!("there is a folder")
            };
            let site = match place_of(&path, places) {
                Some(subject) if !target.is_device(&path) => {
                    self.open_targets.push(OpenTarget::of_several(path, subject, &target));
                    self.open_targets.len() - 1
                }
                _ => self.site_of_device(&path, &target),
            };
            self.groups[group].open_targets.push(site);
        }
        self.groups[group].open_targets[..files as usize].to_vec()
    }

    /// The site of a device among several files: a device is opened once, whoever names it.
    fn site_of_device(&mut self, path: &Path, target: &Target) -> usize {
        let subject = self.subject(path);
        let known = self.open_targets.iter().position(|other| other.is_device_at(path));
        let site = known.unwrap_or_else(|| {
            self.open_targets.push(OpenTarget::of_several(path.into(), subject, target));
            self.open_targets.len() - 1
        });
        let mut named = target.devices().filter(|(device, _)| *device == path);
        self.open_targets[site].in_use |= named.any(|(_, consent)| {
            consent.is_some_and(|consent| consent.over == OverwriteScope::InUse)
        });
        site
    }
}

/// The subject of the folder that a file lies in.
fn place_of(file: &Path, places: &[(PathBuf, usize)]) -> Option<usize> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let within = places.iter().find(|(dir, _)| dir == folder);
    within.or(places.first()).map(|(_, subject)| *subject)
}

fn is_folder(dir: &Path) -> Result<(), Refusal> {
    match std::fs::metadata(dir) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Refusal::new(format!("{} is no folder", dir.to_text()), "name a folder")),
        Err(error) => Err(Refusal::new(
            format!("{}: {}", dir.to_text(), Fault::new(Doing::Open, "", &error).text),
            "name a folder that is there",
        )),
    }
}

/// Looks at each of the files. The first `to_come` of them need not be there: the job makes them,
/// or one before it does.
fn found(target: &Target, files: u32, to_come: u32) -> Result<FoundFiles, Refusal> {
    let mut all = FoundFiles { least: None, absent: target.is_unnamed() };
    let named = if target.is_unnamed() { 0 } else { files };
    for file in 0..named {
        let Some(path) = target.numbered(file) else { unreachable!("there is a folder") };
        if target.is_device(&path) {
            continue;
        }
        match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => {
                let len = Bytes(found.len());
                all.least = Some(all.least.map_or(len, |least| least.min(len)));
            }
            Ok(_) => {
                return Err(Refusal::new(
                    format!("{} is no regular file", path.to_text()),
                    "give another 'stem'",
                ));
            }
            Err(_) if file < to_come => all.absent = true,
            Err(error) => {
                return Err(Refusal::new(
                    format!("{}: {}", path.to_text(), Fault::new(Doing::Open, "", &error).text),
                    "give fewer files, or have them written first",
                ));
            }
        }
    }
    Ok(all)
}

fn size_of_each(size: Size, found: &FoundFiles) -> Result<Bytes, Refusal> {
    let size = match size {
        Size::Exactly(size) => size,
        Size::Whole if found.absent => {
            return Err(Refusal::new(
                "the size of files that are not there yet",
                "give a size in bytes",
            ));
        }
        Size::Whole => found.least.unwrap_or_default(),
        Size::TimesRam(_) | Size::ShareOfFree { .. } | Size::Written { .. } => {
            return Err(Refusal::new(
                "a size of each of several files that depends on the machine",
                "give the size of each in bytes",
            ));
        }
    };
    if size > FILE {
        return Err(Refusal::new(
            format!("{size} in each of several files"),
            format!("give {FILE} or less, or use one file"),
        ));
    }
    Ok(size)
}
