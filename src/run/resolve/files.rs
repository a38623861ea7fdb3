//! Several files of one name as the target of a job.

use std::path::{Path, PathBuf};

use crate::error::{Doing, Error, Fault, Refusal};
use crate::evidence::{FilesystemSpace, Subject};
use crate::name::NameText as _;
use crate::plan::{Size, Target};
use crate::unit::Bytes;

use super::super::open_target::OpenTarget;
use super::fitter::{FileGroup, PlanFitter};
use super::target::writable;

/// Files of one job.
const MANY: u32 = 1 << 19;
/// Size of one of several files: what is written tells its offset and its file apart up to here.
const FILE: Bytes = Bytes(16 << 40);

/// What stands where the files of a job belong.
struct FoundFiles {
    /// Bytes of those that are there.
    there: Bytes,
    /// Of the smallest; `None` where there is none.
    least: Option<Bytes>,
    /// One or more is not there yet.
    absent: bool,
}

impl PlanFitter<'_> {
    /// The sites of several files, the size of each, and whether they are new to the run.
    pub(super) fn several(
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
            is_folder(dir)?;
            if made {
                writable(dir)?;
            }
        }
        let subject = self.subject(&dirs[0]);
        self.on_one_file_system(subject, dirs)?;
        let group = self.groups.iter().position(|group| group.target.is_same(target));
        let before = group.map_or(0, |group| self.groups[group].made);
        let found = found(target, files, if made { files } else { before })?;
        let size = size_of_each(*size, &found)?;
        if !made && before < files && found.least.is_some_and(|least| size > least) {
            return Err(Refusal::new(
                format!("{size} are more than each of the files has"),
                format!("give {} or less", found.least.unwrap_or_default()),
            )
            .into());
        }
        let all = Bytes(size.0.saturating_mul(u64::from(files)));
        let free = self.subjects[subject].space.seen().and_then(FilesystemSpace::known_free);
        if made
            && self.has_to_fit(target)
            && let Some(free) = free
            && all.less(found.there) > free
        {
            return Err(Refusal::new(
                format!("{all} in {files} files do not fit: {free} are free"),
                "give fewer or smaller files, or free some space",
            )
            .into());
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
        Ok((self.sites_of(group, files, subject), size, new))
    }

    /// Whether all folders lie where the first of them, `subject`, does.
    fn on_one_file_system(&self, subject: usize, dirs: &[PathBuf]) -> Result<(), Refusal> {
        let on = |subject: &Subject| subject.mount.seen().map(|mount| mount.point.clone());
        let first = on(&self.subjects[subject]);
        for dir in &dirs[1..] {
            let other = on(&self.sys_root.subject(dir));
            if other.is_none() || other != first {
                return Err(Refusal::new(
                    format!("{} and {} lie on two file systems", dirs[0].to_text(), dir.to_text()),
                    "give the files of each file system a job of their own",
                ));
            }
        }
        Ok(())
    }

    /// The first sites of a group, which grows to as many.
    fn sites_of(&mut self, group: usize, files: u32, subject: usize) -> Vec<usize> {
        let FileGroup { target, open_targets, .. } = &mut self.groups[group];
        while open_targets.len() < files as usize {
            let Some(path) = target.numbered(open_targets.len() as u32) else {
                unreachable!("there is a folder")
            };
            self.open_targets.push(OpenTarget::of_several(path, subject, target.is_unnamed()));
            open_targets.push(self.open_targets.len() - 1);
        }
        open_targets[..files as usize].to_vec()
    }
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
    let mut all = FoundFiles { there: Bytes::ZERO, least: None, absent: target.is_unnamed() };
    let named = if target.is_unnamed() { 0 } else { files };
    for file in 0..named {
        let Some(path) = target.numbered(file) else { unreachable!("there is a folder") };
        match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => {
                let len = Bytes(found.len());
                all.there += len;
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
