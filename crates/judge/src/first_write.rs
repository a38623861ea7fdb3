//! T36: the first write to a place costs more than the second.

use super::facts::mount_options;
use super::measure::{FlowView, ratio};
use super::own::moves_what_it_writes;
use super::threshold::{FIRST_WRITES, RESIDENT, SMALL_WRITE};
use super::words::{self, of, share};
use super::{Rule, RuleJudge, note};
use assay_plan::plan::{Durability, OffsetOrdering, Work};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, PlaceClaim};
use assay_record::evidence::{Extents, LeafKind, PathKind};
use assay_record::record::{Exhibit, Finding, TrapId};

/// Small writes that cannot wait for each other were the first to their places, or some of them were.
pub const RULE: Rule = Rule {
    id: TrapId::T36,
    title: "First write or overwrite",
    happens: "The first write to a place allocates; an overwrite does not.",
    seen_by: "FIEMAP before the write: holes, unwritten and written extents.",
    said_when: "Direct or synchronous writes, random or of {SMALL_WRITE} or less, where the file system overwrites in place: a note if all were first writes, and another if between {FIRST_WRITES} and all but that share were. A file that shared its blocks, or that its overlay copied up: a note, said beside the figure.",
    try_it: "Random direct writes of 4 KiB into a new file, and then once more.",
    answer: "`quick` measures random writes as overwrites of what its first phase has written.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    copied_up(flow_view).or_else(|| shared(flow_view)).or_else(|| first(flow_view))
}

/// The file was copied out of a lower folder of its overlay.
fn copied_up(flow_view: &FlowView<'_>) -> Option<Finding> {
    let subject = flow_view.subject;
    let claim = PlaceClaim::CopiedUp { path: subject.path.clone() };
    let because = subject.mount.seen().map(mount_options).into_iter().collect();
    (flow_view.writes() && subject.copied_up).then(|| note(RULE.id, claim, because, None))
}

/// What was written over was shared (reflink, snapshot).
fn shared(flow_view: &FlowView<'_>) -> Option<Finding> {
    let onto = flow_view.onto().filter(|_| flow_view.writes() && flow_view.on_devices())?;
    let part = ratio(onto.shared.0, onto.range.0);
    let path = flow_view.subject.path.clone();
    let seen =
        Exhibit::new(ExhibitOf::SharedWithOtherFile, share(part), "FIEMAP, FIEMAP_EXTENT_SHARED");
    let claim = PlaceClaim::OverwritesShared { part: share(part), path };
    (part > RESIDENT).then(|| note(RULE.id, claim, vec![seen], None))
}

fn first(flow_view: &FlowView<'_>) -> Option<Finding> {
    let first = first_writes(flow_view)?;
    let path = flow_view.subject.path.clone();
    let claim = if first > 1.0 - FIRST_WRITES {
        PlaceClaim::FirstWrites { path }
    } else {
        PlaceClaim::SomeFirstWrites { first: share(first), path }
    };
    let onto = flow_view.onto()?;
    Some(note(
        RULE.id,
        claim,
        vec![Exhibit::new(
            ExhibitOf::WrittenBefore(flow_view.subject.path.clone()),
            of(onto.written, flow_view.size_of_phase().max(onto.range)),
            "FIEMAP",
        )],
        words::overwriting(&flow_view.record.plan.origin),
    ))
}

/// Share of the writes that were the first to their place, where that makes a difference and can be
/// told: at least [`FIRST_WRITES`].
fn first_writes(flow_view: &FlowView<'_>) -> Option<f64> {
    let waits = flow_view.direct()
        || matches!(flow_view.flow.durability, Durability::OpenSync | Durability::OpenDsync);
    let small = !flow_view.flow.sequential || flow_view.flow.block <= SMALL_WRITE;
    let file =
        flow_view.subject.kind != PathKind::Device && flow_view.subject.bottom == LeafKind::Devices;
    if !flow_view.writes() || !waits || !small || !file || moves_what_it_writes(flow_view.subject) {
        return None;
    }
    flow_view.first_share().filter(|first| *first > FIRST_WRITES)
}

impl FlowView<'_> {
    /// How the file lay before it was written.
    pub(super) fn onto(&self) -> Option<&Extents> {
        let laid = self.phase.evidence.onto.iter().find(|laid| laid.path == self.subject.path)?;
        laid.extents.seen()
    }

    /// Share of the written bytes that were the first to their place; `None` where that cannot be told.
    pub(super) fn first_share(&self) -> Option<f64> {
        let onto = self.onto()?;
        let (written, size) = (self.flow.bytes.0, self.size_of_phase().max(onto.range).0);
        let fresh = size.saturating_sub(onto.written.0);
        if written == 0 || size == 0 {
            return None;
        }
        // What is written where nothing stood is new as long as no place comes twice.
        if onto.written == Bytes::ZERO && (written <= size && self.once()) {
            return Some(1.0);
        }
        if fresh == 0 {
            return Some(0.0);
        }
        // Of a part of a file nobody knows which; all of it has all of its new places.
        let all = written as f64 >= size as f64 * (1.0 - FIRST_WRITES);
        (all && self.once()).then(|| ratio(fresh.min(written), written))
    }

    /// Each place comes once before any comes again.
    fn once(&self) -> bool {
        let jobs = self.record.planned_jobs(self.phase);
        jobs.len() == 1
            && jobs.iter().all(|job| match &job.work {
                Work::Blocks(blocks) => {
                    let order = &blocks.pattern.order;
                    matches!(
                        order,
                        OffsetOrdering::Forward
                            | OffsetOrdering::Backward
                            | OffsetOrdering::Shuffled
                    )
                }
                Work::Copy(_) => true,
                Work::Tree(_) => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, KIB};
    use assay_record::record::{TrapId, Trust};

    /// What is said of direct writes of 4 KiB to a file of 20 MiB with so many MiB written before.
    fn said(written: u64, change: impl FnOnce(&mut DoctoredRecord)) -> Option<String> {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.record.phases[0].flows[0].block = Bytes(4 * KIB);
        bench.written_onto(Bytes::mib(written));
        change(&mut bench);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.into_iter().find(|f| f.trap == TrapId::T36).map(|f| f.text())
    }

    #[test]
    fn first_writes_overwrites_and_both_are_told_apart() {
        let first = said(0, |_| ()).expect("first writes");
        assert!(first.starts_with("First writes to /mnt/x, which allocate"), "{first}");
        let both = said(5, |_| ()).expect("both");
        assert!(both.starts_with("75 % of the writes to /mnt/x were first writes"), "{both}");
        assert_eq!(said(20, |_| ()), None);
    }

    #[test]
    fn large_writes_in_order_and_what_is_moved_anyway_are_no_matter() {
        let large =
            |bench: &mut DoctoredRecord| bench.record.phases[0].flows[0].block = Bytes::mib(1);
        assert_eq!(said(0, large), None);
        assert_eq!(said(0, |bench| bench.system("btrfs")), None);
        assert_eq!(said(0, |bench| bench.record.phases[0].evidence.onto.clear()), None);
    }
}
