//! What stands at a path, and words that several verbs share: times, latencies, seeds.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{LayoutMode, Lifetime, OverwriteConsent, OverwriteScope, Size, Target};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::evidence;

/// What stands at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathType {
    /// A folder, for a test file of our own.
    Folder,
    /// A file with so many bytes, which is only read.
    File(Bytes),
    /// A block device.
    Device,
}

/// What stands at a path, and whether this user may use it.
pub(super) fn look(path: &Path) -> Result<PathType, Error> {
    use std::os::unix::fs::FileTypeExt as _;
    let shown = path.to_text();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            let refusal = match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => Refusal::new(
                    format!("there is nothing at '{shown}'"),
                    "name a folder on the device, a file to read, or a block device",
                ),
                Some(libc::EACCES) => Refusal::new(
                    format!("this user may not look at '{shown}'"),
                    "name another path, or run as root",
                ),
                _ => return Err(Fault::new(Doing::Look, shown.to_string(), &error).into()),
            };
            return Err(refusal.into());
        }
    };
    let kind = metadata.file_type();
    let (kind, access, what) = if kind.is_dir() {
        (PathType::Folder, Access::WRITE_OK | Access::EXEC_OK, "write in")
    } else if kind.is_file() {
        (PathType::File(Bytes(metadata.len())), Access::READ_OK, "read")
    } else if kind.is_block_device() {
        (PathType::Device, Access::READ_OK, "read")
    } else {
        return Err(Refusal::new(
            format!("'{shown}' is neither folder, file nor block device"),
            "name one of those",
        )
        .into());
    };
    // Other errors (a read-only file system) are the run's to meet and explain.
    if rustix::fs::access(path, access) == Err(rustix::io::Errno::ACCESS) {
        return Err(Refusal::new(
            format!("this user may not {what} '{shown}'"),
            "name another path, or run as root",
        )
        .into());
    }
    Ok(kind)
}

/// The same for verbs that read a file as it is: of one that nothing was ever written to there is nothing
/// to read from a device.
pub(super) fn look_for_data(path: &Path) -> Result<PathType, Error> {
    let kind = look(path)?;
    if matches!(kind, PathType::File(Bytes(1..))) && evidence::all_holes(path) {
        let shown = path.to_text();
        return Err(Refusal::new(
            format!("nothing was ever written to '{shown}': it is all holes, which memory answers"),
            "name a file that holds data, or its folder: a test file is made there and written in full",
        )
        .into());
    }
    Ok(kind)
}

/// Another seed each time, so that a drive cannot know the data from the last run. Short, because
/// people repeat runs by it.
pub(super) fn any_seed() -> u64 {
    let mut bytes = [0; 4];
    match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK) {
        Ok(_) => u64::from(u32::from_le_bytes(bytes)),
        Err(_) => u64::from(std::process::id()),
    }
}

/// A share in percent: `70`, `70%`.
pub(super) fn percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse();
    number
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or(format!("'{text}' is not a share in percent; give 0 to 100"))
}

/// So many per second: `5000`, `5k`, `1.5M`.
pub(super) fn per_second(text: &str) -> Result<u32, String> {
    let (number, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1e3),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value = number.parse::<f64>().ok().filter(|_| plain).map(|number| (number * scale).round());
    match value {
        Some(value) if (1.0..=f64::from(u32::MAX)).contains(&value) => Ok(value as u32),
        _ => Err(format!("'{text}' is not a rate; give 1 to {}, such as 5000 or 5k", u32::MAX)),
    }
}

/// A latency as people type it: `500us`, `5ms`, `2s`.
pub(super) fn latency(text: &str) -> Result<Nanos, String> {
    const RANGE: &str = "give 1us to 3600s, such as 500us, 5ms or 2s";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale: Option<u64> = match &text[digits.len()..] {
        "us" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        _ => None,
    };
    let number: Option<u64> = digits.parse().ok();
    match (number, scale) {
        (Some(number), Some(scale)) => match number.saturating_mul(scale) {
            0 => Err(format!("'{text}' is too short; {RANGE}")),
            nanos @ ..=3_600_000_000_000 => Ok(Nanos(nanos)),
            _ => Err(format!("'{text}' is too long; {RANGE}")),
        },
        (Some(_), None) if digits == text => Err(format!("'{text}' has no unit; {RANGE}")),
        _ => Err(format!("'{text}' is not a latency; {RANGE}")),
    }
}

/// The target of a verb that works on one file or device. The layout is that of a file of our own;
/// `again` is the name of a device that may be overwritten, a second time, and a third where what it holds may be lost.
///
/// # Errors
/// When the words contradict what stands there.
pub(super) fn target(
    path: &Path,
    kind: PathType,
    again: &[PathBuf],
    writes: bool,
    (size, layout): (Size, LayoutMode),
) -> Result<Target, Refusal> {
    let shown = path.to_text();
    consents(path, kind, again, writes)?;
    if writes && matches!(kind, PathType::File(_)) {
        return Err(Refusal::new(
            format!("{shown} is somebody's file, and would be overwritten"),
            "name its folder: a test file of our own is made there",
        ));
    }
    Ok(standing(path, kind, again, (size, layout), Lifetime::Remove))
}

/// What stands at a path, as a target: a test file in a folder, with that layout and lifetime, or the
/// file or device itself. Whether the words agree with it has been looked at.
pub(super) fn standing(
    path: &Path,
    kind: PathType,
    again: &[PathBuf],
    (size, layout): (Size, LayoutMode),
    lifetime: Lifetime,
) -> Target {
    let path = path.to_path_buf();
    match kind {
        PathType::Folder => Target::Scratch { dir: path, size, layout, lifetime },
        PathType::File(_) => {
            Target::File { path, size, layout: LayoutMode::Existing, lifetime: Lifetime::Keep }
        }
        PathType::Device => {
            let over = match again {
                [] | [_] => OverwriteScope::Empty,
                _ => OverwriteScope::Content,
            };
            let consent =
                again.first().map(|device| OverwriteConsent { device: device.clone(), over });
            Target::Device { path, size, consent }
        }
    }
}

/// Refuses a further name that is not that of the device which may be overwritten.
pub(super) fn named_twice(path: &Path, kind: PathType, again: &[PathBuf]) -> Result<(), Refusal> {
    let shown = path.to_text();
    match again.iter().find(|again| kind != PathType::Device || *again != path) {
        Some(again) if kind != PathType::Device => Err(Refusal::new(
            format!("'{}' is one path too many: {shown} is no block device", again.to_text()),
            "give one path; only a device that may be overwritten is named twice",
        )),
        Some(again) => Err(Refusal::new(
            format!("'{}' is not '{shown}'", again.to_text()),
            "to allow that a device is overwritten, give the very same name twice",
        )),
        None => Ok(()),
    }
}

/// As [`named_twice`], and refuses a device that is written and has no second name, or has one and
/// is only read.
pub(super) fn consents(
    path: &Path,
    kind: PathType,
    again: &[PathBuf],
    writes: bool,
) -> Result<(), Refusal> {
    let shown = path.to_text();
    named_twice(path, kind, again)?;
    match again.first() {
        Some(_) if !writes => Err(Refusal::new(
            format!("{shown} is named twice, and only read"),
            "name it once, or write to it with --action write",
        )),
        None if kind == PathType::Device && writes => Err(Refusal::new(
            format!("writing would destroy what is on {shown}"),
            "name the device a second time to allow it, or name a folder on it",
        )),
        _ => Ok(()),
    }
}

/// Refuses a block of nothing, and a size that is smaller than a block, or larger than a file.
pub(super) fn fits(
    path: &Path,
    kind: PathType,
    size: Option<Bytes>,
    block: Bytes,
) -> Result<(), Refusal> {
    let shown = path.to_text();
    let refuse =
        |why: String, instead: String| Err(Refusal { place: "--size".into(), why, instead });
    if block == Bytes::ZERO {
        return Err(Refusal {
            place: "--block".into(),
            why: "a block has one byte at least".into(),
            instead: "give 4k, 64k or 1M".into(),
        });
    }
    match (size, kind) {
        (Some(size), _) if size < block => {
            refuse(format!("{size} is less than one block"), format!("give {block} or more"))
        }
        (Some(size), PathType::File(there)) if size > there => refuse(
            format!("{size} is more than {shown} has ({there})"),
            "give less, or leave --size out".into(),
        ),
        (None, PathType::File(there)) if there < block => Err(Refusal::new(
            format!("{shown} has only {there}"),
            format!("name a file of {block} or more"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_rates_are_read_as_people_type_them() {
        assert_eq!([percent("70"), percent("70%"), percent("0")], [Ok(70), Ok(70), Ok(0)]);
        for bad in ["", "%", "101", "101%", "-1", "70%%", "half"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
        for (text, rate) in [("5000", 5000), ("5k", 5000), ("1.5k", 1500), ("2M", 2_000_000)] {
            assert_eq!(per_second(text), Ok(rate));
        }
        for bad in ["", "k", "0", "-5", "5G", "1e3", "inf", "9999M", "0.1", "."] {
            assert!(per_second(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn latencies_are_typed_with_their_units() {
        assert_eq!(latency("500us"), Ok(Nanos::micros(500)));
        assert_eq!(latency("5ms"), Ok(Nanos::millis(5)));
        assert_eq!(latency("2s"), Ok(Nanos::secs(2)));
        for bad in ["", "5", "ms", "0ms", "5min", "-1ms", "2h", "99999s"] {
            assert!(latency(bad).is_err(), "{bad}");
        }
    }
}
