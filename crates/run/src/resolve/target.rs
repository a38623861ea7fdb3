//! What stands at the path of a job: whether it is what the plan takes it for.

use std::path::Path;

use assay_engine::sys::block::is_endless;
use assay_plan::error::{Doing, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{BlockWork, LayoutMode, Target, TrimCall};
use assay_record::evidence::folder_of;

use super::fitter::PlanFitter;

impl PlanFitter<'_> {
    /// Refuses a target that cannot be what the plan takes it for. `made`: it need not be there
    /// yet.
    pub(super) fn exists(
        &self,
        target: &Target,
        path: &Path,
        writes: bool,
        made: bool,
    ) -> Result<(), Refusal> {
        let name = path.to_text();
        let there = std::fs::metadata(path);
        match target {
            Target::Scratch { .. } => match there {
                Err(error) => Err(Refusal::new(
                    format!("{name}: {}", Fault::new(Doing::Open, "", &error).text),
                    "name a folder that is there",
                )),
                Ok(found) if !found.is_dir() => {
                    Err(Refusal::new(format!("{name} is no folder"), "name a folder"))
                }
                Ok(_) => writable(path),
            },
            Target::Device { .. } => {
                use std::os::unix::fs::FileTypeExt as _;
                match there {
                    Err(error) => Err(Refusal::new(
                        format!("{name}: {}", Fault::new(Doing::Open, "", &error).text),
                        "'lsblk' lists the devices",
                    )),
                    Ok(found) if !found.file_type().is_block_device() => Err(Refusal::new(
                        format!("{name} is no block device"),
                        "'lsblk' lists the devices",
                    )),
                    // What it holds, and who uses it, is looked at when all else is clear.
                    Ok(_) => Ok(()),
                }
            }
            Target::File { layout, .. } => match there {
                Ok(found) if found.is_dir() => {
                    Err(Refusal::new(format!("{name} is a folder"), "name a file"))
                }
                Ok(found) if is_endless(&found) && !writes => Ok(()),
                // What holds for devices would be passed by otherwise: consent, and a look at
                // what lies on them.
                Ok(found) if !found.is_file() => Err(Refusal::new(
                    format!("{name} is no regular file"),
                    "name a file; a block device is a target of the kind 'device'",
                )),
                Ok(_) => Ok(()),
                Err(error) if !made || (*layout == LayoutMode::Existing && writes) => {
                    Err(Refusal::new(
                        format!("{name}: {}", Fault::new(Doing::Open, "", &error).text),
                        "name a file that is there",
                    ))
                }
                Err(_) => match folder_of(path) {
                    folder if folder.is_dir() => writable(folder),
                    folder if self.makes_folders => writable(nearest(folder)),
                    folder => Err(Refusal::new(
                        format!("{} is no folder", folder.to_text()),
                        "make it first",
                    )),
                },
            },
            Target::Files { .. } | Target::Nowhere { .. } => Ok(()),
        }
    }

    /// Refuses trims that the target cannot do.
    pub(super) fn trims(
        &self,
        target: &Target,
        path: &Path,
        subject: usize,
        blocks: &BlockWork,
    ) -> Result<(), Refusal> {
        let pattern = &blocks.pattern;
        let name = path.to_text();
        let refused = |why: String| Err(Refusal::new(why, "leave 'trim' out of the mix"));
        if !matches!(target, Target::Device { .. }) {
            if blocks.trim_call != TrimCall::Fitting {
                return Ok(());
            }
            return match self.sys_root.punches(path) {
                Some(false) => {
                    refused(format!("'trim' on {name}: its file system can make no holes in files"))
                }
                _ => Ok(()),
            };
        }
        let device = self.subjects[subject].stack.iter().find(|layer| layer.level == 0);
        let Some(queue) = device.and_then(|layer| layer.queue.seen()) else { return Ok(()) };
        if queue.discard_max_bytes == Some(0) {
            return refused(format!("'trim' on {name}: the device knows no discard"));
        }
        let unit = queue.logical_block_size.unwrap_or(512).max(1);
        let places = [pattern.region.offset, pattern.region.step_per_worker];
        let align = pattern.region.align.unwrap_or(pattern.block.grain());
        if places.into_iter().chain([align, pattern.block.grain()]).all(|b| b.0 % unit == 0) {
            return Ok(());
        }
        Err(Refusal::new(
            format!(
                "'trim' on {name} contradicts places or blocks that are no multiples of {unit} bytes"
            ),
            format!("give block sizes, an offset and an align that are multiples of {unit}"),
        ))
    }
}

/// The nearest that is there of a folder and those above it.
pub(super) fn nearest(folder: &Path) -> &Path {
    let there = |folder: &&Path| folder.is_dir() || folder.as_os_str().is_empty();
    let found = folder.ancestors().find(there).unwrap_or(folder);
    if found.as_os_str().is_empty() { Path::new(".") } else { found }
}

/// Whether this user may make files in a folder.
pub(super) fn writable(folder: &Path) -> Result<(), Refusal> {
    match rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
        Ok(()) => Ok(()),
        Err(error) => {
            let fault = Fault::new(Doing::Create, "", &error.into());
            Err(Refusal::new(
                format!("cannot write in {}: {} ({})", folder.to_text(), fault.text, fault.name),
                "name a folder that this user may write to",
            ))
        }
    }
}
