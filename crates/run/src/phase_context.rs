//! What a phase has of its run: the plan and what it became here, the open targets, and who watches.

use assay_engine::sys::event_loop::EventLoop;
use assay_plan::plan::{Phase, Plan};
use assay_plan::unit::Nanos;
use assay_record::evidence::{BlockLayer, CounterReader, Limits};
use assay_record::record::{PhaseRecord, Resolved, ResolvedJob, Span};

use super::job_writes::JobWrites;
use super::observer::Observer;
use super::open_target::OpenTarget;
use super::resolve::JobPlace;
use super::tree_dir::TreeDir;

/// Everything a phase needs from its run.
pub(super) struct PhaseContext<'a> {
    pub plan: &'a Plan,
    pub phase: &'a Phase,
    pub number: usize,
    pub run: &'a str,
    pub resolved: &'a Resolved,
    /// The phase that was done last.
    pub last: Option<&'a PhaseRecord>,
    pub jobs: &'a [ResolvedJob],
    pub places: &'a [JobPlace],
    pub open_targets: &'a mut Vec<OpenTarget>,
    pub tree_dirs: &'a mut Vec<TreeDir>,
    /// What the jobs of that phase have written.
    pub wrote: &'a mut Vec<JobWrites>,
    pub counter_reader: &'a CounterReader,
    pub event_loop: &'a EventLoop,
    pub observer: &'a mut dyn Observer,
    /// What was done otherwise than planned, in sentences.
    pub otherwise: &'a mut Vec<String>,
    /// The signal that ended the run.
    pub signal: &'a mut Option<i32>,
}

/// A limit that changes within less than this time explains nothing of a rate.
const LIMITS_CHANGE: Nanos = Nanos::secs(1);

impl PhaseContext<'_> {
    /// The limits of control groups now, where they are not those from before the run.
    pub(super) fn limits_after(&self, span: &Span) -> Option<Box<Limits>> {
        let stack: Vec<BlockLayer> = self
            .resolved
            .subjects
            .iter()
            .flat_map(|subject| subject.stack.iter().cloned())
            .collect();
        if span.ended().since(span.started) < LIMITS_CHANGE || stack.is_empty() {
            return None;
        }
        let now = self.counter_reader.limits(&stack);
        let now = now
            .seen()
            .filter(|now| Some(&now.io) != self.resolved.limits.seen().map(|then| &then.io))?;
        Some(Box::new(now.clone()))
    }
}
