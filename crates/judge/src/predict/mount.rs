//! What the mounts on the way do to a figure: their options, and the room that is left.

use super::view::{SurveyView, note};
use crate::facts::{mount_option, mount_options};
use crate::threshold::FREE_INODES;
use crate::words::ShellLine;
use crate::{command, compressed, finding, flush_bound, not_direct, words};
use assay_plan::unit::PartOf;
use assay_record::claim::{ExhibitOf, FlushClaim, LayerClaim, MemoryClaim, PlaceClaim};
use assay_record::evidence::{LeafKind, Mount, PathKind};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

pub(super) fn see(view: &SurveyView<'_>, found: &mut Vec<Finding>) {
    for mount in view.mounts() {
        let judges = [compresses, journals_data, no_barrier, synchronous, discards, strict_atime];
        found.extend(judges.iter().filter_map(|judge| judge(mount)));
    }
    found.extend(not_direct_by_statx(view));
    if release(&view.facts.machine.kernel) >= Some((6, 14)) {
        found.extend(view.mounts().filter_map(checksums));
    }
    found.extend(nearly_full(view));
    found.extend(few_inodes(view));
}

/// Figures of the place itself, flushed, and of data that do not compress.
fn below(mount: &Mount, remedy: Remedy) -> Option<NextStep> {
    Some(ShellLine::of("assay quick").path(&mount.point).next(remedy))
}

/// T25.
fn compresses(mount: &Mount) -> Option<Finding> {
    let option = mount.compresses()?;
    Some(finding(
        compressed::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Layer),
        LayerClaim::Compresses {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        vec![mount_option(mount, option)],
        below(mount, Remedy::UniqueData),
    ))
}

/// T19: data that go through the journal do not go past memory.
fn journals_data(mount: &Mount) -> Option<Finding> {
    let option = mount.journals_data()?;
    Some(finding(
        not_direct::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        MemoryClaim::NotDirect { journal: Some(option.into()) },
        vec![mount_option(mount, option)],
        below(mount, Remedy::Flush),
    ))
}

/// T15: a flush that asks the drive for nothing.
fn no_barrier(mount: &Mount) -> Option<Finding> {
    let option = mount.flushes_nothing()?;
    Some(finding(
        TrapId::T15,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        FlushClaim::NoBarrier {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        vec![mount_option(mount, option)],
        Some(command::remount(mount, "barrier")),
    ))
}

/// T14: every write waits for the disk.
fn synchronous(mount: &Mount) -> Option<Finding> {
    let option = mount.waits_each_time()?;
    Some(finding(
        flush_bound::RULE.id,
        FindingWeight::Note,
        None,
        FlushClaim::MountedSync {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        vec![mount_option(mount, option)],
        None,
    ))
}

/// T40.
fn discards(mount: &Mount) -> Option<Finding> {
    let option = mount.trims()?;
    Some(finding(
        TrapId::T40,
        FindingWeight::Note,
        None,
        LayerClaim::Discards {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        vec![mount_option(mount, option)],
        None,
    ))
}

/// T39. Without any of the three words the kernel keeps every access time (`strictatime`).
fn strict_atime(mount: &Mount) -> Option<Finding> {
    let stored = mount.device.major != 0 || mount.kind == "btrfs";
    let eased = mount.option(&["relatime", "noatime", "ro"]).is_some();
    (stored && !eased).then(|| {
        finding(
            TrapId::T39,
            FindingWeight::Note,
            None,
            PlaceClaim::AccessTimes { kind: mount.kind.clone(), point: mount.point.clone() },
            vec![mount_options(mount)],
            None,
        )
    })
}

/// T19: the kernel itself says that there is no direct I/O on this file.
fn not_direct_by_statx(view: &SurveyView<'_>) -> Option<Finding> {
    let shown = view.facts.not_direct()?;
    let journal = view.mounts().any(|mount| mount.journals_data().is_some());
    if journal || view.bottom != LeafKind::Devices {
        return None;
    }
    Some(finding(
        not_direct::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        MemoryClaim::NotDirect { journal: None },
        vec![shown],
        None,
    ))
}

/// T19: since Linux 6.14 btrfs takes direct writes through memory where it keeps checksums of the
/// data, lest a program changes its buffer between the sum and the write.
fn checksums(mount: &Mount) -> Option<Finding> {
    let without = mount.option(&["nodatasum", "nodatacow"]).is_some();
    (mount.kind == "btrfs" && !without).then(|| {
        finding(
            not_direct::RULE.id,
            FindingWeight::Note,
            None,
            MemoryClaim::Checksums { point: mount.point.clone() },
            vec![mount_options(mount)],
            below(mount, Remedy::Flush),
        )
    })
}

/// The first two numbers of a kernel's release: 6 and 14 of `6.14.2-arch1`.
fn release(kernel: &str) -> Option<(u32, u32)> {
    let mut numbers = kernel.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// T38.
fn nearly_full(view: &SurveyView<'_>) -> Option<Finding> {
    let (free, shown) = view.facts.nearly_full().filter(|_| view.kind != PathKind::File)?;
    Some(finding(
        TrapId::T38,
        FindingWeight::Doubt,
        None,
        PlaceClaim::LittleSpace { free: words::share(free) },
        vec![shown],
        Some(command::look("df -h", &view.judged_by)),
    ))
}

/// No trap of its own, but the end of every test that makes files.
fn few_inodes(view: &SurveyView<'_>) -> Option<Finding> {
    let inodes = view.inodes.seen().filter(|inodes| inodes.total > 0)?;
    let free = inodes.free as f64 / inodes.total as f64;
    (free < FREE_INODES).then(|| {
        note(
            TrapId::T38,
            PlaceClaim::FewInodes { free: inodes.free },
            Exhibit::new(ExhibitOf::FreeInodes, PartOf(inodes.free, inodes.total), "statvfs()"),
            None,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_as_numbers() {
        assert_eq!(release("6.18.44"), Some((6, 18)));
        assert_eq!(release("6.9-rc1"), Some((6, 9)));
        assert!(release("6.9-rc1") < Some((6, 14)) && release("7.0.0") > Some((6, 14)));
        assert_eq!(release("unknown"), None);
    }
}
