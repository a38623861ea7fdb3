//! The bytes of a file or device that a job may touch, and whether they fit.

use std::path::Path;

use assay_plan::error::{Refusal, errno_name, errno_text};
use assay_plan::name::{self, NameText as _};
use assay_plan::plan::{Size, Target};
use assay_plan::unit::Bytes;

use super::super::open_target::spare;
use super::fitter::PlanFitter;
use assay_engine::sys::block::readable_bytes;
use assay_record::evidence::{FilesystemSpace, LeafKind, Mount};

/// The kernel counts places in files with 63 bits.
const LARGEST: Bytes = Bytes(i64::MAX as u64);

impl PlanFitter<'_> {
    /// The bytes of the target that the job may touch. `overwritten`: the run writes over what it has written
    /// there.
    pub(super) fn size(
        &mut self,
        target: &Target,
        subject: usize,
        size: Size,
        (made, overwritten): (bool, bool),
        path: &Path,
    ) -> Result<Bytes, Refusal> {
        let name = path.to_text();
        if made && let LeafKind::Nothing(what) = &self.subjects[subject].bottom {
            return Err(Refusal::new(
                format!("{name} lies on {what}, which stores nothing: there is nothing to measure"),
                "name a folder on a disk",
            ));
        }
        let device = matches!(target, Target::Device { .. });
        let looked = (device || !matches!(target, Target::Scratch { .. })).then(|| {
            std::fs::File::open(path)
                .and_then(|file| readable_bytes(std::os::fd::AsFd::as_fd(&file)))
                .map(Bytes)
        });
        let there = looked.as_ref().and_then(|size| size.as_ref().ok()).copied();
        let free = self.subjects[subject].space.seen().and_then(FilesystemSpace::known_free);
        let mount = self.subjects[subject].mount.seen();
        let keeps = mount.is_some_and(Mount::keeps_overwritten);
        let asked = match size {
            Size::Exactly(size) => size,
            Size::Whole => there.ok_or_else(|| {
                unsized_place(&name.to_string(), looked.and_then(Result::err).as_ref())
            })?,
            Size::TimesRam(factor) => {
                let memory = self.sys_root.memory_for_runs().ok_or_else(|| {
                    Refusal::new("the size of the memory cannot be read", "give a size in bytes")
                })?;
                Bytes((memory.0 as f64 * factor) as u64)
            }
            Size::ShareOfFree { share, most } => {
                let free = free.ok_or_else(|| {
                    Refusal::new(format!("the free space of {name} cannot be read"), "give a size")
                })?;
                Bytes((free.0 as f64 * share) as u64).min(most)
            }
            Size::Written { most } if device => there.map_or(most, |there| most.min(there)),
            // What is written until nothing fits is as long as it came to be.
            Size::Written { most } if self.until_full => most,
            Size::Written { most } => free.map_or(most, |free| most.min(room(free, keeps))),
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
                format!("give {} {} or less", self.size_option, there.typed()),
            ));
        }
        if !device
            && !made
            && let Some(there) = there
            && asked > there
        {
            return Err(Refusal::new(
                format!("{asked} are more than {name} has ({there})"),
                format!("give {} {} or less", self.size_option, there.typed()),
            ));
        }
        // Several jobs on one new file need its space once, several files all of it.
        if !device && made && self.has_to_fit(target) {
            let subject = &self.subjects[subject];
            let mount = subject.mount.seen().map(|mount| name::path(&mount.point));
            let mount = mount.unwrap_or_else(|| path.to_path_buf());
            let new = asked.less(there.unwrap_or_default());
            let others = self.added.iter().filter(|(on, file, _)| *on == mount && file != path);
            let others: Bytes = others.map(|&(_, _, bytes)| bytes).sum();
            let twice = keeps && overwritten && matches!(size, Size::Exactly(_));
            if let Some(free) = free
                && let left = free.less(others)
                && let most = if twice { room(left, true) } else { left }
                && new > most
            {
                let beside = match others {
                    Bytes::ZERO => String::new(),
                    others => format!(" beside {others} for other files"),
                };
                let why = match subject.mount.seen().filter(|_| twice) {
                    Some(mount) => format!(
                        "of {free} free on {name} half is for what {} keeps of overwritten blocks",
                        mount.kind
                    ),
                    None => format!("{free} are free on {name}"),
                };
                let option = &self.size_option;
                let instead = match most.rounded_down() {
                    Bytes::ZERO => "free some space".to_string(),
                    most => format!("give {option} {} or less, or free some space", most.typed()),
                };
                return Err(Refusal::new(format!("{asked} do not fit{beside}: {why}"), instead));
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
}

/// Bytes of a file that is written and overwritten where so much is free. Where the file system `keeps`
/// what was overwritten until it commits, there is room for the file twice.
fn room(free: Bytes, keeps: bool) -> Bytes {
    let spare = spare(free);
    if keeps { Bytes(spare.0 / 2) } else { spare }
}

/// Why the size of what stands at `name` cannot be read: it could not be opened, or has none.
fn unsized_place(name: &str, error: Option<&std::io::Error>) -> Refusal {
    let why = error.and_then(std::io::Error::raw_os_error).map_or_else(String::new, |errno| {
        format!(": {} ({})", errno_text(errno), errno_name(errno))
    });
    Refusal::new(
        format!("the size of {name} cannot be read{why}"),
        "give one, or name another path",
    )
}
