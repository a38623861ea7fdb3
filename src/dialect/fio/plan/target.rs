//! On which files a clone works, and on which part of them.

use std::path::{Path, PathBuf};

use super::placed::FioThere;
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{FioAmount, FioEngine, FioFallocate, FioJob, FioRw, refused};
use assay_plan::error::Refusal;
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    LayoutMode, Lifetime, OverwriteConsent, OverwriteScope, Phase, Size, StopLimit, Target, Work,
};
use assay_plan::unit::Bytes;

/// Where a clone works, and how much of it.
#[derive(Clone, Debug)]
pub(super) struct FioRegion {
    pub target: Target,
    /// Where its part begins, bytes.
    pub offset: u64,
    /// What it moves in all loops but for `loops`, bytes.
    pub bytes: u64,
    /// Its part of all files, bytes.
    pub region: u64,
    /// Its part of each file, bytes.
    pub each: u64,
    pub files: u32,
    /// Where each file ends, where that is not where its part ends.
    pub file_end: Option<u64>,
}

impl FioJob {
    pub(super) fn place_of(
        &self,
        (clone, thread): (u32, u32),
        there: &dyn Fn(&Path) -> FioThere,
        before: &[Phase],
    ) -> Result<FioRegion, Refusal> {
        if self.queue.engine == FioEngine::PageFault {
            let unmet = [
                (self.target.nrfiles > 1, "nrfiles", "it has no files"),
                (self.target.offset != FioAmount::Bytes(0), "offset", "it begins at its beginning"),
                (self.verifies_its_writes(), "verify", "its memory is gone before it is read back"),
            ];
            if let Some((_, word, why)) = unmet.into_iter().find(|(asked, ..)| *asked) {
                return Err(refused(self, word, why, "leave it out, or use ioengine=mmap"));
            }
        }
        if matches!(self.queue.engine, FioEngine::Null | FioEngine::PageFault) {
            let size = self.bytes_asked(0)?.max(1);
            let offset = self.offset_of(clone, size)?;
            return Ok(FioRegion {
                target: Target::Nowhere { size: Bytes(offset + size) },
                offset,
                bytes: self.moved(size)?,
                region: size,
                each: size,
                files: 1,
                file_end: None,
            });
        }
        let mut paths: Vec<PathBuf> =
            names::files_of(self, clone).into_iter().map(PathBuf::from).collect();
        if paths.is_empty() {
            return Err(refused(
                self,
                "opendir",
                "there is no file below it",
                "name a folder with files in it",
            ));
        }
        // A file may be longer than what is done in it, or shorter.
        let sized = self.target.filesize.is_some_and(|(least, most)| {
            let moved = match self.target.size {
                Some(FioAmount::Bytes(size)) if size != u64::MAX => size,
                _ => least,
            };
            (least, most) != (moved, moved)
        });
        if paths.len() > 1 || sized && !matches!(there(&paths[0]), FioThere::Device { .. }) {
            return self.on_files((clone, thread), paths, there);
        }
        let path = paths.pop().unwrap_or_default();
        let writes = self.pattern.rw.writes() || self.pattern.rw.trims();
        match there(&path) {
            FioThere::Device { bytes, named } => self.on_device(clone, path, bytes, named),
            FioThere::Endless if !writes => self.on_file(clone, path, FioThere::Endless, before),
            FioThere::Other | FioThere::Endless => Err(refused(
                self,
                "filename",
                "it is neither a file nor a block device",
                "name a file or a block device",
            )),
            FioThere::Folder => Err(refused(
                self,
                "filename",
                "it is a folder",
                "name a file, or write directory= instead of filename=",
            )),
            found => self.on_file(clone, path, found, before),
        }
    }

    /// An amount as bytes of what is there.
    pub(super) fn amount(&self, word: &str, amount: FioAmount, whole: u64) -> Result<u64, Refusal> {
        match amount {
            FioAmount::Bytes(bytes) => Ok(bytes),
            FioAmount::Percent(_) if whole == 0 => Err(refused(
                self,
                word,
                "a percentage of a file that is not there",
                "give a size in bytes",
            )),
            FioAmount::Percent(percent) => {
                Ok((u128::from(whole) * u128::from(percent) / 100) as u64)
            }
            FioAmount::Zones(_) => Err(refused(
                self,
                word,
                "zones of zoned devices are not done here",
                "give a size in bytes",
            )),
        }
    }

    /// Bytes of the region; 0: all that is there.
    fn bytes_asked(&self, whole: u64) -> Result<u64, Refusal> {
        match (self.target.size, self.target.filesize) {
            (Some(size), _) => self.amount("size", size, whole),
            (None, Some((least, _))) => Ok(least.saturating_mul(self.target.nrfiles.into())),
            (None, None) => Ok(0),
        }
    }

    /// Where the part of a clone begins: where the words say, and only an amount in percent is rounded up.
    pub(super) fn offset_of(&self, clone: u32, whole: u64) -> Result<u64, Refusal> {
        let target = &self.target;
        let step = self.amount("offset_increment", target.offset_increment, whole)?;
        let offset = self.amount("offset", target.offset, whole)?;
        let place = offset.saturating_add(step.saturating_mul(clone.into()));
        let percent = |amount| matches!(amount, FioAmount::Percent(1..));
        if !percent(target.offset) && !percent(target.offset_increment) {
            return Ok(place);
        }
        let least = self.pattern.min_bs.iter().copied().filter(|bytes| *bytes > 0).min();
        let align = match target.offset_align {
            0 => least.unwrap_or(1),
            align => align,
        };
        Ok(place.next_multiple_of(align.max(1)))
    }

    /// What is moved in a loop, of a region of so many bytes.
    pub(super) fn moved(&self, region: u64) -> Result<u64, Refusal> {
        if self.pattern.sprandom.asked {
            // All that the drive has.
            return self.sprandom_bytes(region);
        }
        match self.target.io_size {
            None | Some(FioAmount::Bytes(0)) => Ok(region),
            Some(size) => {
                let size = self.amount("io_size", size, region)?;
                // fio counts what it reads back between the writes, too, and looks only after whole passes.
                let counted = self.reads_back_between()
                    && size > region
                    && !(self.pattern.rw.random() && self.pattern.norandommap);
                Ok(match counted {
                    true => size.div_ceil(region.saturating_mul(2).max(1)).saturating_mul(region),
                    false => size,
                })
            }
        }
    }

    /// Whether more is moved than there is.
    pub(super) fn moves_more_than_its_region(&self) -> bool {
        match (self.target.io_size, self.target.size) {
            (None | Some(FioAmount::Bytes(0)), _) => false,
            (Some(FioAmount::Bytes(moved)), Some(FioAmount::Bytes(region))) => moved > region,
            (Some(FioAmount::Percent(percent)), _) => percent > 100,
            _ => true,
        }
    }

    fn on_device(
        &self,
        clone: u32,
        path: PathBuf,
        whole: u64,
        named: bool,
    ) -> Result<FioRegion, Refusal> {
        let offset = self.offset_of(clone, whole)?;
        let rest = whole.saturating_sub(offset);
        let asked = match self.bytes_asked(whole)? {
            0 => rest,
            asked => asked.min(rest),
        };
        if whole == 0 {
            return Err(refused(
                self,
                "filename",
                &format!("the size of {} cannot be told", path.to_text()),
                "name a device that can be opened; 'lsblk' lists them",
            ));
        }
        if asked == 0 {
            return Err(refused(
                self,
                "offset",
                &format!("it lies behind the end of {}", path.to_text()),
                "give a smaller one",
            ));
        }
        let changes = self.pattern.rw.writes() || self.pattern.rw.trims();
        let consent = changes.then(|| self.consent(&path, named));
        let target = Target::Device { path, size: Size::Exactly(Bytes(offset + asked)), consent };
        let end = offset + asked;
        Ok(FioRegion {
            target,
            offset,
            bytes: self.moved(asked)?,
            region: asked,
            each: asked,
            files: 1,
            file_end: (whole > end).then_some(whole),
        })
    }

    fn on_file(
        &self,
        clone: u32,
        path: PathBuf,
        found: FioThere,
        before: &[Phase],
    ) -> Result<FioRegion, Refusal> {
        let there = match found {
            FioThere::File(bytes) => bytes,
            _ => made_before(before, &path).unwrap_or(0),
        };
        let offset = match self.target.file_append {
            // fio looks at no offset then.
            true => there,
            false => self.offset_of(clone, there)?,
        };
        let filled = self.pattern.rw == FioRw::Read && filled_before(before, &path);
        let asked = match self.bytes_asked(there)? {
            0 => there.saturating_sub(offset),
            // To the end of what is there, or of what is written until nothing fits.
            u64::MAX if self.pattern.rw == FioRw::Read && there > offset => there - offset,
            u64::MAX if filled => self.without_end(offset),
            u64::MAX => self.endless(offset)?,
            asked => asked,
        };
        let filled = filled && there == 0 && asked == self.without_end(offset);
        if asked == 0 {
            return Err(self.needs_size());
        }
        let end = offset + asked;
        let target = Target::File {
            path,
            size: match filled {
                true => Size::Written { most: Bytes(end) },
                false => Size::Exactly(Bytes(end)),
            },
            layout: match filled {
                true => LayoutMode::AsFound,
                false => self.layout(there >= end || found == FioThere::Endless),
            },
            lifetime: self.lifetime(),
        };
        Ok(FioRegion {
            target,
            offset,
            bytes: self.moved(asked)?,
            region: asked,
            each: asked,
            files: 1,
            file_end: (there > end).then_some(there),
        })
    }

    /// Its permission to write to a device; `named`: whose content may be lost, says its user.
    pub(super) fn consent(&self, device: &Path, named: bool) -> OverwriteConsent {
        let over = match (named, self.target.allow_mounted_write) {
            (true, true) => OverwriteScope::InUse,
            (true, false) => OverwriteScope::Content,
            (false, _) => OverwriteScope::Empty,
        };
        OverwriteConsent { device: device.to_path_buf(), over }
    }

    /// The size of a file that is written until nothing fits.
    pub(super) fn endless(&self, offset: u64) -> Result<u64, Refusal> {
        if self.pattern.rw != FioRw::Write {
            return Err(refused(
                self,
                "fill_device",
                "random places, or reads, of a file without an end are none",
                "give the size of the file: size=",
            ));
        }
        Ok(self.without_end(offset))
    }

    /// More than any file has, in whole blocks.
    fn without_end(&self, offset: u64) -> u64 {
        let block = self.pattern.max_bs.iter().copied().max().unwrap_or_default().max(1);
        (i64::MAX as u64).saturating_sub(offset) / block * block
    }

    pub(super) fn needs_size(&self) -> Refusal {
        Refusal {
            place: format!("job '{}'", self.name),
            why: "you need to specify size=".into(),
            instead: "add size=, such as size=1g".into(),
        }
    }

    /// How files come to be, where they are there and long enough, or not.
    pub(super) fn layout(&self, complete: bool) -> LayoutMode {
        let target = &self.target;
        match complete {
            // It comes to be where it is opened.
            false
                if target.create_on_open && self.pattern.rw.reads() && self.pattern.rw.writes() =>
            {
                LayoutMode::Grown
            }
            false if target.overwrite => LayoutMode::Written,
            // What stands there stays; with create_on_open nothing does.
            false if target.file_append || target.create_on_open => LayoutMode::AsFound,
            // What has no end is not allocated.
            false if target.size == Some(FioAmount::Bytes(u64::MAX)) => LayoutMode::Truncated,
            true if self.pattern.rw.writes() => LayoutMode::AsFound,
            true => LayoutMode::AsFound,
            false if self.pattern.rw.reads() => LayoutMode::Written,
            false => match target.fallocate {
                FioFallocate::None => LayoutMode::Truncated,
                FioFallocate::Truncate => LayoutMode::Sparse,
                FioFallocate::Native | FioFallocate::Posix | FioFallocate::Keep => {
                    LayoutMode::Preallocated
                }
            },
        }
    }

    pub(super) fn lifetime(&self) -> Lifetime {
        match self.target.unlink {
            true => Lifetime::Remove,
            false => Lifetime::Keep,
        }
    }
}

/// The folders that files lie in, each once.
pub(super) fn folders<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => ".".into(),
        };
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// Whether a job writes until nothing fits: how long its file is then nobody knows before.
fn fills(job: &assay_plan::plan::Job) -> bool {
    job.stop.first_of.contains(&StopLimit::Full)
}

/// Whether an earlier phase writes a file until nothing fits.
fn filled_before(before: &[Phase], path: &Path) -> bool {
    let mut jobs = before.iter().flat_map(|phase| phase.jobs.iter()).filter(|job| fills(job));
    jobs.any(|job| match &job.work {
        Work::Blocks(blocks) => {
            matches!(&blocks.target, Target::File { path: other, .. } if other == path)
        }
        _ => false,
    })
}

/// How long a file is that an earlier phase makes.
pub(super) fn made_before(before: &[Phase], path: &Path) -> Option<u64> {
    let jobs = before.iter().flat_map(|phase| phase.jobs.iter()).filter(|job| !fills(job));
    let size = |job: &assay_plan::plan::Job| match &job.work {
        Work::Blocks(blocks) => match &blocks.target {
            Target::File { path: other, size: Size::Exactly(size), .. } if other == path => {
                Some(size.0)
            }
            _ => None,
        },
        _ => None,
    };
    jobs.filter_map(size).max()
}
