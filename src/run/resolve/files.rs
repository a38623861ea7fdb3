//! Several files of one name as the target of a job.

use crate::error::{Error, Fault, Refusal};
use crate::evidence::Subject;
use crate::plan::{Size, Target};
use crate::unit::Bytes;

use super::super::site::Site;
use super::Fitting;
use super::target::writable;

/// Files of one job.
const MANY: u32 = 1 << 19;
/// Size of one of several files: what is written tells its offset and its file apart up to here.
const FILE: Bytes = Bytes(16 << 40);

/// Several files of one name.
pub(super) struct Group {
    target: Target,
    /// Their sites, by number.
    sites: Vec<usize>,
    /// How many of them are there once a job so far has run.
    made: u32,
}

impl Fitting<'_> {
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
}
