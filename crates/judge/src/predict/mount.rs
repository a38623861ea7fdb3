//! What the mounts on the way do to a figure: their options, and the room that is left.

use super::facts::{PlaceFacts, compressing, note, option};
use crate::threshold::{FREE_INODES, FREE_SPACE};
use crate::words::ShellLine;
use crate::{command, compressed, finding, flush_bound, mount_options, not_direct, words};
use assay_plan::unit::PartOf;
use assay_record::claim::{ExhibitOf, FlushClaim, LayerClaim, MemoryClaim, PlaceClaim};
use assay_record::evidence::{LeafKind, Mount, PathKind};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

pub(super) fn see(facts: &PlaceFacts<'_>, found: &mut Vec<Finding>) {
    for mount in facts.mounts() {
        let judges = [compresses, journals_data, no_barrier, synchronous, discards, strict_atime];
        found.extend(judges.iter().filter_map(|judge| judge(mount)));
    }
    found.extend(not_direct_by_statx(facts));
    if release(&facts.machine.kernel) >= Some((6, 14)) {
        found.extend(facts.mounts().filter_map(checksums));
    }
    found.extend(nearly_full(facts));
    found.extend(few_inodes(facts));
}

/// The reading of an option.
pub(super) fn exhibit(mount: &Mount, option: &str) -> Vec<Exhibit> {
    let of = ExhibitOf::MountOption(mount.point.clone());
    vec![Exhibit::new(of, option, "/proc/self/mountinfo")]
}

/// Figures of the place itself, flushed, and of data that do not compress.
fn below(mount: &Mount, remedy: Remedy) -> Option<NextStep> {
    Some(ShellLine::of("assay quick").path(&mount.point).next(remedy))
}

/// T25.
fn compresses(mount: &Mount) -> Option<Finding> {
    let option = compressing(mount)?;
    Some(finding(
        compressed::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Layer),
        LayerClaim::Compresses {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        exhibit(mount, option),
        below(mount, Remedy::UniqueData),
    ))
}

/// T19: data that go through the journal do not go past memory.
fn journals_data(mount: &Mount) -> Option<Finding> {
    let option = option(mount, &["data=journal"])?;
    Some(finding(
        not_direct::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        MemoryClaim::NotDirect { journal: Some(option.into()) },
        exhibit(mount, option),
        below(mount, Remedy::Flush),
    ))
}

/// T15: a flush that asks the drive for nothing.
fn no_barrier(mount: &Mount) -> Option<Finding> {
    let option = option(mount, &["nobarrier", "barrier=0"])?;
    Some(finding(
        TrapId::T15,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        FlushClaim::NoBarrier {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        exhibit(mount, option),
        Some(command::remount(mount, "barrier")),
    ))
}

/// T14: every write waits for the disk.
fn synchronous(mount: &Mount) -> Option<Finding> {
    let option = option(mount, &["sync"])?;
    Some(finding(
        flush_bound::RULE.id,
        FindingWeight::Note,
        None,
        FlushClaim::MountedSync {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        exhibit(mount, option),
        None,
    ))
}

/// T40.
fn discards(mount: &Mount) -> Option<Finding> {
    let option = option(mount, &["discard", "discard=sync", "discard=async"])?;
    Some(finding(
        TrapId::T40,
        FindingWeight::Note,
        None,
        LayerClaim::Discards {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
        },
        exhibit(mount, option),
        None,
    ))
}

/// T39. Without any of the three words the kernel keeps every access time (`strictatime`).
fn strict_atime(mount: &Mount) -> Option<Finding> {
    let stored = mount.device.major != 0 || mount.kind == "btrfs";
    let eased = option(mount, &["relatime", "noatime", "ro"]).is_some();
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
fn not_direct_by_statx(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let align = facts.direct.seen()?;
    let journal = facts.mounts().any(|mount| journals_data(mount).is_some());
    if align.offset != 0 || journal || facts.bottom != LeafKind::Devices {
        return None;
    }
    Some(finding(
        not_direct::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        MemoryClaim::NotDirect { journal: None },
        vec![not_direct::not_supported()],
        None,
    ))
}

/// T19: since Linux 6.14 btrfs takes direct writes through memory where it keeps checksums of the
/// data, lest a program changes its buffer between the sum and the write.
fn checksums(mount: &Mount) -> Option<Finding> {
    let without = option(mount, &["nodatasum", "nodatacow"]).is_some();
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
fn nearly_full(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let space = facts.space.seen()?;
    let free = space.free.0 as f64 / space.total.0.max(1) as f64;
    if free >= FREE_SPACE || space.total.0 == 0 || facts.kind == PathKind::File {
        return None;
    }
    Some(finding(
        TrapId::T38,
        FindingWeight::Doubt,
        None,
        PlaceClaim::LittleSpace { free: words::share(free) },
        vec![Exhibit::new(
            ExhibitOf::FreeOn(facts.judged_by.clone()),
            words::of(space.free, space.total),
            "statvfs()",
        )],
        Some(command::look("df -h", &facts.judged_by)),
    ))
}

/// No trap of its own, but the end of every test that makes files.
fn few_inodes(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let inodes = facts.inodes.seen().filter(|inodes| inodes.total > 0)?;
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
