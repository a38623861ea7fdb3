//! T18: names and sizes are changed in memory, and the journal writes them down every few seconds.

use super::measure::{DeviceLevel, FlowView, PhaseView, ratio};
use super::own::commit_option;
use super::threshold::{COMMIT_INTERVALS, COMMITS, REACHED, UNTOUCHED};
use super::words::{of, share, with_flush};
use super::{Rule, RuleJudge, finding, note, refuted, shared_device};
use assay_plan::plan::Durability;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim};
use assay_record::evidence::{Mount, Survey};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Files were made, renamed or removed, nothing was flushed, and most of what that costs the device
/// came after the clock had stopped; or the run is too short to have met the usual share of commits.
pub const RULE: Rule = Rule {
    id: TrapId::T18,
    title: "Journal commits",
    happens: "Journals commit every few seconds; a short run includes one commit or none.",
    seen_by: "The commit interval of the file system (`commit=`, or its default); bytes written to the device before the clock stopped, and by a flush observed afterwards.",
    said_when: "Metadata was changed without a flush, and less than {UNTOUCHED} of what that wrote to the device came before the clock stopped: wrong, deferred; less than {REACHED}: doubtful. Where the flush was not observed, and the run was shorter than {COMMITS} commits: a note.",
    try_it: "A plan that creates 5000 empty files (`tree`, `create`) with durability `none`.",
    answer: "With durability `fsync_at_end` the commit is inside the timing; without it, the flush is observed.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let disturbed = found.iter().any(|f| f.trap == shared_device::RULE.id);
    if !phase_view.of_trees() || phase_view.ops() == 0 || refuted(found) || disturbed {
        return None;
    }
    let flow_view =
        phase_view.cases.iter().find(|flow_view| flow_view.writes() && flow_view.on_devices())?;
    let mount = flow_view.subject.mount.seen()?;
    let interval = interval(mount)?;
    if flow_view.flow.durability != Durability::None {
        return None;
    }
    let level = flow_view.top()?;
    match level.settled.filter(|_| flushed(flow_view)) {
        Some(settled) => {
            let next = with_flush(&flow_view.record.plan.origin);
            let late = late(level, (mount, interval), settled.write_bytes)?;
            Some(Finding { next, ..late })
        }
        None => short(flow_view, mount, interval),
    }
}

/// How often the file system commits by itself; `None` where that is not known.
fn interval(mount: &Mount) -> Option<Nanos> {
    let (_, usual) = COMMIT_INTERVALS.iter().find(|(kind, _)| *kind == mount.kind)?;
    Some(commit_option(mount).unwrap_or(*usual))
}

/// What may be said of a place where names are about to be changed without a flush.
pub(super) fn foreseen(survey: &Survey) -> Option<Finding> {
    let mount = survey.mounts().next()?;
    let interval = interval(mount)?;
    Some(note(
        RULE.id,
        FlushClaim::CommitsEvery { file_system: mount.kind.clone(), interval },
        vec![exhibit(mount, interval)],
        None,
    ))
}

/// The flush after the clock was watched to its end.
fn flushed(flow_view: &FlowView<'_>) -> bool {
    let settle = flow_view.phase.evidence.settle.as_ref();
    settle.is_some_and(|settle| settle.complete && settle.fault.is_none())
}

/// What of the cost came after the clock.
fn late(level: &DeviceLevel<'_>, (mount, interval): (&Mount, Nanos), all: u64) -> Option<Finding> {
    let before = ratio(level.timed.write_bytes, all);
    if all == 0 || before >= REACHED {
        return None;
    }
    let (file_system, device, reached) = (mount.kind.clone(), level.name(), share(before));
    let (weight, claim) = if before < UNTOUCHED {
        let claim = FlushClaim::CommittedLater { file_system, interval, device, reached };
        (FindingWeight::Refute, claim)
    } else {
        let claim = FlushClaim::PartlyCommittedLater { file_system, interval, device, reached };
        (FindingWeight::Doubt, claim)
    };
    let because = vec![
        level.shows(ExhibitOf::AtStopOfTotal, of(Bytes(level.timed.write_bytes), Bytes(all))),
        exhibit(mount, interval),
    ];
    Some(finding(RULE.id, weight, Some(MeasuredSubject::Deferred), claim, because, None))
}

/// Too short for the usual share of commits.
fn short(flow_view: &FlowView<'_>, mount: &Mount, interval: Nanos) -> Option<Finding> {
    let time = flow_view.time();
    (time.0 < interval.0.saturating_mul(COMMITS)).then(|| {
        note(
            RULE.id,
            FlushClaim::CommitsByChance { file_system: mount.kind.clone(), interval, time },
            vec![exhibit(mount, interval)],
            with_flush(&flow_view.record.plan.origin),
        )
    })
}

fn exhibit(mount: &Mount, interval: Nanos) -> Exhibit {
    let source = match commit_option(mount) {
        Some(_) => "/proc/self/mountinfo".into(),
        None => ExhibitSource::DefaultOf(mount.kind.clone()),
    };
    Exhibit::new(
        ExhibitOf::JournalCommits(mount.point.clone()),
        ExhibitValue::Every(interval),
        source,
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    fn made(before: Bytes, all: Bytes) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.made_files();
        bench.written(before, all);
        bench
    }

    #[test]
    fn names_that_were_changed_in_memory_are_left_behind() {
        let found = verdict(&made(Bytes::ZERO, Bytes::mib(1)).record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
        assert_eq!(
            found.summary(),
            "This was done in memory: ext4 commits its journal every 5.00 s, and when the clock \
             stopped loop3 had 0 % of the writes that the changes cause."
        );
    }

    #[test]
    fn what_was_written_in_time_is_not_told() {
        let said = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|found| found.trap == TrapId::T18)
        };
        assert!(!said(&made(Bytes::mib(1), Bytes::mib(1))));
        assert!(said(&made(Bytes::mib(1), Bytes::mib(2))));
        // Where the file system's commits are not known, nothing is said of them.
        let mut other = made(Bytes::ZERO, Bytes::mib(1));
        for subject in &mut other.record.resolved.subjects {
            if let assay_record::evidence::Reading::Seen(mount) = &mut subject.mount {
                mount.kind = "vfat".into();
            }
        }
        assert!(!said(&other));
    }
}
