//! Whether a file system can be unmounted and mounted again.

use std::path::Path;

use assay_plan::error::Refusal;
use assay_plan::name::NameText as _;
use assay_record::evidence::{MountEntry, SysRoot, mounted_at};

/// The mount at that place, if it can be had again by what is known of it.
pub(in super::super) fn mount_to_renew(
    point: &Path,
    sys_root: &SysRoot,
) -> Result<MountEntry, Refusal> {
    let text = point.to_text();
    let refused =
        |why: String| Refusal::new(why, "name the mount point of a file system on a disk: /mnt/sd");
    let whole = std::fs::canonicalize(point).map_or_else(|_| text.clone(), |path| path.to_text());
    let entry = mounted_at(sys_root, &whole)
        .ok_or_else(|| refused(format!("nothing is mounted at {text}")))?;
    let on_disk = entry.mount.source.starts_with("/dev/") && !entry.mount.kind.starts_with("fuse");
    if entry.root != "/" || !on_disk {
        return Err(refused(format!(
            "{text} is {} of {}, which may not come back as it was",
            entry.mount.kind, entry.mount.source
        )));
    }
    if whole == "/" {
        return Err(refused("the root of all files cannot be unmounted".into()));
    }
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_come_back_is_not_unmounted() {
        for (point, why) in [
            ("/proc", "/proc is proc of proc, which may not come back as it was"),
            ("/no/such", "nothing is mounted at /no/such"),
        ] {
            assert_eq!(
                mount_to_renew(Path::new(point), &SysRoot::default()).expect_err(point).why,
                why
            );
        }
    }
}
