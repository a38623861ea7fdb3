//! What a phase has of its run: the plan and what it became here, the open targets, and who watches.

use assay_engine::sys::event_loop::EventLoop;
use assay_plan::error::Fault;
use assay_plan::plan::{Phase, Plan, Shared};
use assay_plan::unit::Nanos;
use assay_record::evidence::{BlockLayer, CounterReader, Limits, Snapshot};
use assay_record::record::{
    DroppedCache, Evidence, FileExtents, Flow, JobResult, PhaseRecord, QuietPeriod, Resolved,
    ResolvedJob, SampledDevice, Span, TruncatedFile, Warmths, WatchedFlush,
};

use super::copying;
use super::job_writes::JobWrites;
use super::observer::Observer;
use super::open_target::OpenTarget;
use super::resolve::JobPlace;
use super::sampler::PhaseSamples;
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

/// What was looked at around the work of a phase, of whatever kind that is.
pub(super) struct SeenAround {
    pub quiet: QuietPeriod,
    pub cold: Vec<DroppedCache>,
    pub extents: Vec<FileExtents>,
    pub onto: Vec<FileExtents>,
    pub sampled: Vec<SampledDevice>,
    pub cut: Vec<TruncatedFile>,
    /// Limits when the clock had stopped, where they are others than before the run.
    pub limits: Option<Box<Limits>>,
    pub before: Snapshot,
    pub stop: Snapshot,
    pub settled: Option<Snapshot>,
    pub settle: Option<WatchedFlush>,
    pub warmth: Warmths,
}

/// A limit that changes within less than this time explains nothing of a rate.
const LIMITS_CHANGE: Nanos = Nanos::secs(1);

impl PhaseContext<'_> {
    /// The record of a phase that is over, with what was seen; what was done is still to be put in.
    pub(super) fn record(
        &self,
        span: Span,
        jobs: Vec<JobResult>,
        flows: Vec<Flow>,
        faults: Vec<Fault>,
        samples: PhaseSamples,
        seen: SeenAround,
    ) -> PhaseRecord {
        let SeenAround {
            quiet,
            cold,
            extents,
            onto,
            sampled,
            cut,
            limits,
            before,
            stop,
            settled,
            settle,
            warmth,
        } = seen;
        PhaseRecord {
            number: self.number,
            name: self.phase.name.clone(),
            totals: Shared::default(),
            cpu: None,
            depth: None,
            steady: Vec::new(),
            heat: Vec::new(),
            each: Vec::new(),
            census: None,
            jobs,
            copy: None,
            evidence: Evidence {
                quiet,
                cold,
                extents,
                onto,
                copied: None,
                unsure: Vec::new(),
                sampled,
                cut,
                ran: None,
                states: samples.states,
                limits,
                limit_changes: samples.limit_changes,
                condition_changes: samples.condition_changes,
                halts: samples.halts,
                before,
                stop,
                settled: settled.map(Box::new),
                settle: settle.map(Box::new),
                neighbours: samples.neighbours,
                warmth: Some(warmth.into()),
                copying: copying::around(self.resolved, &flows, &span),
                aftermath: None,
                journal: None,
            },
            span,
            flows,
            series: samples.series,
            faults,
            verdict: None,
            ledger: None,
        }
    }

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
