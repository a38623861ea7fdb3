//! Where work is done: a file, several files, a device.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::name::NameText as _;
use crate::unit::Bytes;

/// Where blocks are read and written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// One file by its name.
    File {
        /// The file.
        #[serde(with = "crate::name::one")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
        path: PathBuf,
        /// The part of it that is used, from its beginning.
        size: Size,
        /// How it comes to be.
        #[serde(default)]
        layout: LayoutMode,
        /// What becomes of it.
        #[serde(default)]
        lifetime: Lifetime,
    },
    /// One file of our own in a folder, whose name nobody needs to know.
    Scratch {
        /// The folder.
        #[serde(with = "crate::name::one")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
        dir: PathBuf,
        size: Size,
        /// How it comes to be.
        #[serde(default)]
        layout: LayoutMode,
        /// What becomes of it.
        #[serde(default)]
        lifetime: Lifetime,
    },
    /// Several files, `<dir>/<stem>.<n>` or by their names (fio's nrfiles, IOzone's and elbencho's many files), and
    /// block devices among those by name.
    Files {
        /// The folders over which they are spread in turn.
        #[serde(with = "crate::name::several")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::name::PathText>"))]
        dirs: Vec<PathBuf>,
        /// What their names begin with.
        stem: String,
        /// Each of them by its path, in `dirs`, where their names are not `<stem>.<n>` (fio's `filename=a:b`).
        #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::name::several")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::name::PathText>"))]
        named: Vec<PathBuf>,
        /// Those of `named` that are block devices.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        devices: Vec<ListedDevice>,
        /// The size of each of `named`, where they are not all of one `size`: that is the largest of them then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sizes: Vec<Bytes>,
        /// How many, for each worker when `shared` is false.
        count: u32,
        /// Whether all workers use the same files.
        #[serde(default)]
        shared: bool,
        size: Size,
        /// Which file the next I/O goes to.
        #[serde(default)]
        order: FileOrder,
        /// How they come to be.
        #[serde(default)]
        layout: LayoutMode,
        /// What becomes of them.
        #[serde(default)]
        lifetime: Lifetime,
    },
    /// A block device.
    Device {
        /// The device.
        #[serde(with = "crate::name::one")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
        path: PathBuf,
        /// How much of it, from its beginning.
        size: Size,
        /// Permission to write to it. Reading needs none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        consent: Option<OverwriteConsent>,
    },
    /// No file at all: for the methods `null` and `sim`.
    Nowhere {
        /// The size that it pretends to have.
        size: Bytes,
    },
}

/// A block device among several files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListedDevice {
    /// The device.
    #[serde(with = "crate::name::one")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
    pub path: PathBuf,
    /// Permission to write to it. Reading needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<OverwriteConsent>,
}

/// What may be overwritten on a device whose user has named it for that. Each allows what stands before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OverwriteScope {
    /// Nothing: the device reads as empty, or holds what a benchmark has written.
    #[default]
    Empty,
    /// What it holds, whatever that is.
    Content,
    /// Also what is in use: a mounted file system, a volume, swap.
    InUse,
}

/// Permission to overwrite a device: its name, given once more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OverwriteConsent {
    /// Must equal the path of the device.
    #[serde(with = "crate::name::one")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
    pub device: PathBuf,
    /// How far it goes.
    #[serde(default, skip_serializing_if = "super::usual::is_usual")]
    pub over: OverwriteScope,
}

/// How large, in words that do not need a look at the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// This many bytes.
    Exactly(Bytes),
    /// All that is there: the file's or device's present size.
    Whole,
    /// This many times the memory that could cache it (Bonnie's rule is 2).
    TimesRam(f64),
    /// This share of the free space, 0 to 1, and no more than `most`.
    ShareOfFree {
        /// 0 to 1.
        share: f64,
        /// No more than this.
        most: Bytes,
    },
    /// As much as the phases before have written (a read of what a timed write left), and no more
    /// than `most` in the phase that writes.
    Written {
        /// No more than this, also bounded by the free space.
        most: Bytes,
    },
}

/// How a file comes to be before it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LayoutMode {
    /// As found; made empty when it is not there (writes extend it). What no phase has written of a
    /// file that the run made is written out before a phase that reads it.
    #[default]
    AsFound,
    /// As found, and nothing is written before a phase: a job that reads what its own writes make longer may meet
    /// its end. One that waits for each I/O fails there, one that has several in flight counts a read of nothing
    /// (fio's `create_on_open`).
    Grown,
    /// Emptied first.
    Truncated,
    /// Removed, and made again: another file of the same name, empty. A device stays as it is.
    Anew,
    /// Emptied, and made as long as it shall be by one hole (`truncate -s`). It stays one: what reads
    /// it finds zeros that no device holds.
    Sparse,
    /// Fully written with the pattern's data and flushed before the phase, outside its timing.
    Written,
    /// Preallocated (`fallocate`): blocks are there, their content is not. It is written out before
    /// a phase that reads it, where no phase has written it.
    Preallocated,
    /// Must be there already and large enough.
    Existing,
}

/// What becomes of a file after the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// It stays if it was there, and goes if this run made it.
    #[default]
    AsFound,
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It has no name, or loses it as soon as it is open: whatever ends the run, nothing stays, and
    /// what has that name is left alone. For several files.
    Unnamed,
}

/// Which of several files the next I/O goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileOrder {
    /// Each in turn, one I/O each.
    #[default]
    RoundRobin,
    /// One to its end, then the next.
    Sequential,
    /// Any, uniformly.
    Random,
}

/// The kernel counts places in files with 63 bits.
const LARGEST: Bytes = Bytes(i64::MAX as u64);

impl Size {
    fn check(self) -> Result<(), Refusal> {
        match self {
            Self::Exactly(size) if size > LARGEST => Err(Refusal::new(
                format!("{} bytes are more than any file or device can have", size.0),
                "give a smaller size",
            )),
            Self::Exactly(Bytes(0)) => {
                Err(Refusal::new("size 0 leaves nothing to do", "give a size such as 64M"))
            }
            Self::TimesRam(factor) if !(factor.is_finite() && factor > 0.0) => Err(Refusal::new(
                format!("{factor} times the memory is no size"),
                "give a factor above 0",
            )),
            Self::ShareOfFree { share, .. } if !(share > 0.0 && share <= 1.0) => Err(Refusal::new(
                format!("a share of {share} of the free space is no size"),
                "give a share above 0 and up to 1",
            )),
            Self::Written { most: Bytes(0) } => {
                Err(Refusal::new("size 0 leaves nothing to do", "give a size such as 64M"))
            }
            _ => Ok(()),
        }
    }
}

/// The file, files or device that a target names: targets of one key are [the same](Target::is_same).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKey<'t> {
    File(&'t Path),
    /// A block device, by its path.
    Device(&'t Path),
    /// A file without a name in this folder.
    Scratch(&'t Path),
    /// Several files.
    Files {
        /// Their folders.
        dirs: &'t [PathBuf],
        /// What their names begin with.
        stem: &'t str,
        named: &'t [PathBuf],
    },
}

impl Target {
    /// How its files come to be; what is no file is there already.
    pub fn layout(&self) -> LayoutMode {
        match self {
            Self::File { layout, .. }
            | Self::Scratch { layout, .. }
            | Self::Files { layout, .. } => *layout,
            Self::Device { .. } | Self::Nowhere { .. } => LayoutMode::Existing,
        }
    }

    /// Whether both name the same file, files or device.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key().is_some_and(|key| other.key() == Some(key))
    }

    /// What tells it from the other targets of a plan; `None` of one that is nowhere.
    pub fn key(&self) -> Option<TargetKey<'_>> {
        Some(match self {
            Self::File { path, .. } => TargetKey::File(path),
            Self::Device { path, .. } => TargetKey::Device(path),
            Self::Scratch { dir, .. } => TargetKey::Scratch(dir),
            Self::Files { dirs, stem, named, .. } => TargetKey::Files { dirs, stem, named },
            Self::Nowhere { .. } => return None,
        })
    }

    /// Its size, of each file, where that is planned to the byte.
    pub fn exact_size(&self) -> Option<Bytes> {
        match self {
            Self::File { size: Size::Exactly(size), .. }
            | Self::Scratch { size: Size::Exactly(size), .. }
            | Self::Files { size: Size::Exactly(size), .. }
            | Self::Device { size: Size::Exactly(size), .. }
            | Self::Nowhere { size } => Some(*size),
            _ => None,
        }
    }

    /// Whether it is written out in full before it is used.
    pub fn is_laid_out(&self) -> bool {
        self.layout() == LayoutMode::Written
    }

    /// The block devices that it names, with the permission to write to each.
    pub fn devices(&self) -> impl Iterator<Item = (&Path, Option<&OverwriteConsent>)> {
        let (one, several) = match self {
            Self::Device { path, consent, .. } => {
                (Some((path.as_path(), consent.as_ref())), &[][..])
            }
            Self::Files { devices, .. } => (None, devices.as_slice()),
            _ => (None, &[][..]),
        };
        let several = several.iter().map(|other| (other.path.as_path(), other.consent.as_ref()));
        one.into_iter().chain(several)
    }

    /// The permission to write to each of the block devices that it names, to be changed.
    pub fn consents_mut(&mut self) -> impl Iterator<Item = (&Path, &mut Option<OverwriteConsent>)> {
        let (one, several) = match self {
            Self::Device { path, consent, .. } => (Some((path.as_path(), consent)), &mut [][..]),
            Self::Files { devices, .. } => (None, devices.as_mut_slice()),
            _ => (None, &mut [][..]),
        };
        let several = several.iter_mut().map(|other| (other.path.as_path(), &mut other.consent));
        one.into_iter().chain(several)
    }

    /// Whether a path of it is that of a block device.
    pub fn is_device(&self, path: &Path) -> bool {
        self.devices().any(|(device, _)| device == path)
    }

    /// The bytes of all its files, of which each has so many where they do not say themselves.
    pub fn all_bytes(&self, each: Bytes) -> Bytes {
        match self {
            Self::Files { sizes, .. } if !sizes.is_empty() => sizes.iter().copied().sum(),
            Self::Files { count, .. } => Bytes(each.0.saturating_mul(u64::from(*count))),
            _ => each,
        }
    }

    /// The sizes of its files, where they are not all the same.
    pub fn sizes(&self) -> &[Bytes] {
        match self {
            Self::Files { sizes, .. } => sizes,
            _ => &[],
        }
    }

    /// Whether its files have no names.
    pub fn is_unnamed(&self) -> bool {
        matches!(self, Self::Files { lifetime: Lifetime::Unnamed, .. })
    }

    /// The path of one of several files, by its number among all; of any other target nothing.
    pub fn numbered(&self, file: u32) -> Option<PathBuf> {
        match self {
            Self::Files { named, .. } if !named.is_empty() => named.get(file as usize).cloned(),
            Self::Files { dirs, stem, .. } => {
                let dir = dirs.get(file as usize % dirs.len().max(1))?;
                Some(dir.join(format!("{stem}.{file}")))
            }
            _ => None,
        }
    }

    pub(super) fn check(&self, writes: bool) -> Result<(), Refusal> {
        match self {
            Self::File { lifetime: Lifetime::Unnamed, .. }
            | Self::Scratch { lifetime: Lifetime::Unnamed, .. } => Err(Refusal::new(
                "one file with the lifetime unnamed",
                "give a scratch file the lifetime remove: it has no name where that can be had",
            )),
            Self::Files { lifetime: Lifetime::Unnamed, layout: LayoutMode::Existing, .. } => {
                Err(Refusal::new(
                    "files without a name that are there already",
                    "give another layout, or another lifetime",
                ))
            }
            Self::File { size, .. } | Self::Scratch { size, .. } => size.check(),
            Self::Files { named, count, shared, .. }
                if !named.is_empty() && (named.len() != *count as usize || !shared) =>
            {
                Err(Refusal::new(
                    format!("{} named files, and a count of {count}", named.len()),
                    "let 'count' be as many as are named, and 'shared' true",
                ))
            }
            Self::Files { size, count, dirs, stem, named, devices, sizes, .. } => {
                for device in devices {
                    if !named.contains(&device.path) {
                        return Err(Refusal::new(
                            format!("the device {} is not named", device.path.to_text()),
                            "let 'named' have each of 'devices'",
                        ));
                    }
                    allowed(&device.path, device.consent.as_ref(), writes)?;
                }
                check_sizes(sizes, *size, named.len())?;
                if stem.is_empty() || stem.contains('/') {
                    return Err(Refusal::new(
                        format!("'{stem}' is no name of files"),
                        "give a 'stem' such as \"data\"",
                    ));
                }
                let on_devices = !named.is_empty() && named.iter().all(|path| self.is_device(path));
                if *count == 0 || dirs.is_empty() && !on_devices {
                    return Err(Refusal::new(
                        "no files to work on",
                        "give at least one file and one folder",
                    ));
                }
                size.check()
            }
            Self::Device { path, size, consent } => {
                allowed(path, consent.as_ref(), writes)?;
                size.check()
            }
            Self::Nowhere { size } => Size::Exactly(*size).check(),
        }
    }
}

/// Refuses writes to a device whose user has not allowed them.
fn allowed(device: &Path, consent: Option<&OverwriteConsent>, writes: bool) -> Result<(), Refusal> {
    if writes && consent.is_none_or(|consent| consent.device != device) {
        return Err(Refusal::new(
            format!("writing would destroy what is on {}", device.to_text()),
            "name the device a second time to allow it, or plan reads only",
        ));
    }
    Ok(())
}

/// Refuses sizes of several files that are not those of each of them.
fn check_sizes(sizes: &[Bytes], largest: Size, named: usize) -> Result<(), Refusal> {
    let most = sizes.iter().max().copied();
    match most {
        None => Ok(()),
        Some(most) if sizes.len() == named && largest == Size::Exactly(most) => Ok(()),
        Some(most) => Err(Refusal::new(
            format!("{} sizes of {named} files, the largest of them {most}", sizes.len()),
            "give each of 'named' a size, and 'size' the largest of them",
        )),
    }
}
