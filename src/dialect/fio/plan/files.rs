//! On which of several files a clone works, and on how much of each.

use std::path::{Path, PathBuf};

use super::placed::FioThere;
use super::target::{FioRegion, folders};
use crate::dialect::fio::job::{
    FioAmount, FioJob, FioRandomGenerator, FioServiceOrder, NAME, refused,
};
use assay_plan::error::Refusal;
use assay_plan::name::NameText as _;
use assay_plan::plan::{FileOrder, ListedDevice, SeedStream, Size, Target, Tausworthe};
use assay_plan::unit::Bytes;

/// One of the files of a clone.
struct ListedFile {
    path: PathBuf,
    /// It is a block device, and whether its content may be lost.
    device: Option<bool>,
    there: u64,
    len: u64,
}

impl FioJob {
    /// Where a clone of several files works.
    pub(super) fn on_files(
        &self,
        clone: (u32, u32),
        paths: Vec<PathBuf>,
        there: &dyn Fn(&Path) -> FioThere,
    ) -> Result<FioRegion, Refusal> {
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let (device, there) = match there(&path) {
                FioThere::Device { bytes, named } => (Some(named), bytes),
                FioThere::File(bytes) => (None, bytes),
                FioThere::Nothing => (None, 0),
                FioThere::Folder | FioThere::Other | FioThere::Endless => {
                    let why = format!("{} is neither a file nor a block device", path.to_text());
                    return Err(refused(
                        self,
                        "filename",
                        &why,
                        "name files or block devices, or write directory= for a folder",
                    ));
                }
            };
            files.push(ListedFile { path, device, there, len: 0 });
        }
        let least = files.iter().map(|file| file.there).min().unwrap_or(0);
        let offset = self.offset_of(clone.0, least)?;
        self.measure(&mut files, offset, clone)?;
        let total: u64 = files.iter().fold(0, |sum, file| sum.saturating_add(file.len));
        if total == 0 {
            return Err(self.needs_size());
        }
        let each = files.iter().map(|file| file.len).max().unwrap_or(0);
        if each < self.pattern.min_bs.iter().copied().filter(|bytes| *bytes > 0).min().unwrap_or(1)
        {
            return Err(refused(
                self,
                "nrfiles",
                "there is less than a block for each file",
                "give a larger size",
            ));
        }
        let region = match self.target.size {
            Some(FioAmount::Bytes(size)) if self.target.filesize.is_some() => total.min(size),
            _ => total,
        };
        let alike = files.iter().all(|file| file.len == each);
        let complete =
            files.iter().all(|file| file.device.is_some() || file.there >= offset + file.len);
        let least = files.iter().map(|file| file.there).min().unwrap_or(0);
        // Which file comes next the sequence says.
        let order = match self.target.file_service.order {
            FioServiceOrder::Sequential => FileOrder::Sequential,
            FioServiceOrder::Roundrobin => FileOrder::RoundRobin,
            _ => FileOrder::Random,
        };
        let (regular, on_devices): (Vec<&ListedFile>, Vec<&ListedFile>) =
            files.iter().partition(|file| file.device.is_none());
        let changes = self.pattern.rw.writes() || self.pattern.rw.trims();
        let mut devices: Vec<ListedDevice> = Vec::new();
        for file in on_devices {
            let named = file.device == Some(true);
            if devices.iter().all(|device| device.path != file.path) {
                let consent = changes.then(|| self.consent(&file.path, named));
                devices.push(ListedDevice { path: file.path.clone(), consent });
            }
        }
        let regular: Vec<PathBuf> = regular.into_iter().map(|file| file.path.clone()).collect();
        let target = Target::Files {
            dirs: folders(&regular),
            stem: NAME.into(),
            shared: true,
            count: files.len() as u32,
            devices,
            sizes: match alike {
                true => Vec::new(),
                false => files.iter().map(|file| Bytes(offset + file.len)).collect(),
            },
            size: Size::Exactly(Bytes(offset + each)),
            order,
            layout: self.layout(complete),
            lifetime: self.lifetime(),
            named: files.iter().map(|file| file.path.clone()).collect(),
        };
        Ok(FioRegion {
            target,
            offset,
            bytes: self.moved(region)?,
            region,
            each,
            files: files.len() as u32,
            file_end: (alike && least > offset + each).then_some(least),
        })
    }

    /// Says how much of each file is worked on.
    fn measure(
        &self,
        files: &mut [ListedFile],
        offset: u64,
        clone: (u32, u32),
    ) -> Result<(), Refusal> {
        let count = files.len() as u64;
        // A rest in which no block has room changes nothing, and keeps sizes even.
        let least = self.pattern.min_bs.iter().copied().filter(|bytes| *bytes > 0).min();
        let block = if self.pattern.bs_unaligned { 1 } else { least.unwrap_or(1) };
        let mut sizes = self.file_sizes(clone);
        for file in files {
            let rest = file.there.saturating_sub(offset);
            file.len = match (self.target.filesize, self.target.size) {
                // What has a size within the bounds keeps it.
                (Some((least, most)), _) if (least..=most).contains(&file.there) => rest,
                (Some((least, most)), _) => {
                    let size = if least == most { least } else { sizes.next(least, most) };
                    size.saturating_sub(offset)
                }
                (None, Some(FioAmount::Bytes(u64::MAX))) => {
                    self.endless(0)? / count / block * block
                }
                (None, Some(FioAmount::Bytes(size))) => size / count / block * block,
                (None, Some(size)) => {
                    let part = self.amount("size", size, file.there)?.min(rest);
                    part / block * block
                }
                (None, None) => rest,
            };
            if file.device.is_some() {
                if file.there == 0 {
                    let why = format!("the size of {} cannot be told", file.path.to_text());
                    let instead = "name devices that can be opened; 'lsblk' lists them";
                    return Err(refused(self, "filename", &why, instead));
                }
                file.len = file.len.min(rest);
            }
        }
        Ok(())
    }

    /// The sizes of files that have none yet, as fio draws them.
    fn file_sizes(&self, (_, thread): (u32, u32)) -> DrawnSizes {
        let wide = self.pattern.random_generator == FioRandomGenerator::Tausworthe64;
        DrawnSizes {
            stream: Tausworthe::new(self.seed_of(thread, SeedStream::FileSize), wide),
            step: self.pattern.min_bs.iter().copied().filter(|bytes| *bytes > 0).min().unwrap_or(1),
        }
    }
}

/// Sizes between a least and a largest, in whole blocks.
struct DrawnSizes {
    stream: Tausworthe,
    step: u64,
}

impl DrawnSizes {
    fn next(&mut self, least: u64, most: u64) -> u64 {
        let size = least + ((most - least) as f64 * self.stream.share()) as u64;
        size / self.step * self.step
    }
}
