//! T36: the first write to a place costs more than the second.

use super::measure::{Case, ratio};
use super::own::moves_what_it_writes;
use super::threshold::{FIRST_WRITES, SMALL_WRITE};
use super::words::share;
use super::{Judge, Rule, finding};
use crate::evidence::{Bottom, Extents, PathKind};
use crate::plan::{Durability, Order, Work};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// Small writes that cannot wait for each other were the first to their places, or some of them were.
pub const RULE: Rule = Rule {
    id: "T36",
    title: "The first write is not the second",
    happens: "Writing where nothing was allocates; overwriting does not.",
    seen_by: "FIEMAP before the write: holes, unwritten and written extents of what was written.",
    said_when: "Direct or synchronous writes, scattered or of {SMALL_WRITE} and less, where the file system overwrites in place: a note if all were first writes, and another if between {FIRST_WRITES} and all but that share were.",
    try_it: "4 KiB direct writes here and there into a new file, and then again.",
    answer: "`quick` measures scattered writes as overwrites, on what its first phase has written.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let first = first_writes(case)?;
    let claim = if first > 1.0 - FIRST_WRITES {
        format!(
            "These were first writes to {}, which allocate: overwriting what is there may be several times as fast.",
            case.subject.path
        )
    } else {
        format!(
            "{} of the writes to {} were first writes, which allocate, and the others overwrote: the figure is of both.",
            share(first),
            case.subject.path
        )
    };
    let onto = case.onto()?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        claim,
        vec![Exhibit::new(
            format!("written before in {}", case.subject.path),
            format!("{} of {}", onto.written, case.size_of_phase().max(onto.range)),
            "FIEMAP",
        )],
        Some(Next::Do("compare it only with first writes, or write the same again".into())),
    ))
}

/// Share of the writes that were the first to their place, where that makes a difference and can be
/// told: at least [`FIRST_WRITES`].
fn first_writes(case: &Case<'_>) -> Option<f64> {
    let waits = case.direct()
        || matches!(case.flow.durability, Durability::OpenSync | Durability::OpenDsync);
    let small = !case.flow.sequential || case.flow.block <= SMALL_WRITE;
    let file = case.subject.kind != PathKind::Device && case.subject.bottom == Bottom::Devices;
    if !case.writes() || !waits || !small || !file || moves_what_it_writes(case.subject) {
        return None;
    }
    case.first_share().filter(|first| *first > FIRST_WRITES)
}

impl Case<'_> {
    /// How the file lay before it was written.
    pub(super) fn onto(&self) -> Option<&Extents> {
        let laid = self.phase.evidence.onto.iter().find(|laid| laid.path == self.subject.path)?;
        laid.extents.seen()
    }

    /// Share of the written bytes that were the first to their place; `None` where that can not be told.
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
        let planned = self.record.plan.phases.iter().find(|phase| phase.name == self.phase.name);
        let jobs = planned.map(|phase| phase.jobs.as_slice()).unwrap_or_default();
        jobs.len() == 1
            && jobs.iter().all(|job| match &job.work {
                Work::Blocks(blocks) => {
                    let order = &blocks.pattern.order;
                    matches!(order, Order::Forward | Order::Backward | Order::Shuffled)
                }
                Work::Copy(_) => true,
                Work::Tree(_) => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::{Bytes, KIB};

    /// What is said of direct writes of 4 KiB to a file of 20 MiB with so many MiB written before.
    fn said(written: u64, change: impl FnOnce(&mut Bench)) -> Option<String> {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.record.phases[0].flows[0].block = Bytes(4 * KIB);
        bench.written_onto(Bytes::mib(written));
        change(&mut bench);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.into_iter().find(|f| f.trap.0 == "T36").map(|f| f.claim)
    }

    #[test]
    fn first_writes_overwrites_and_both_are_told_apart() {
        let first = said(0, |_| ()).expect("first writes");
        assert!(first.starts_with("These were first writes to /mnt/x, which allocate"), "{first}");
        let both = said(5, |_| ()).expect("both");
        assert!(both.starts_with("75 % of the writes to /mnt/x were first writes"), "{both}");
        assert_eq!(said(20, |_| ()), None);
    }

    #[test]
    fn large_writes_in_order_and_what_is_moved_anyway_are_no_matter() {
        let large = |bench: &mut Bench| bench.record.phases[0].flows[0].block = Bytes::mib(1);
        assert_eq!(said(0, large), None);
        assert_eq!(said(0, |bench| bench.system("btrfs")), None);
        assert_eq!(said(0, |bench| bench.record.phases[0].evidence.onto.clear()), None);
    }
}
