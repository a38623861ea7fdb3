//! What a lesson came to: the two figures, whether the trap shows between them, and the readings
//! that tell why.

use super::measure::{DeviceLevel, FlowView, PhaseView};
use super::threshold::LESSON;
use assay_plan::plan::{Action, LessonPlan, LessonTopic, PhaseRef};
use assay_plan::unit::{Bytes, Nanos, Ops};
use assay_record::evidence::{Direction, Snapshot};
use assay_record::record::{
    Figure, Finding, FindingWeight, LatencyPart, Metric, PhaseFigures, PhaseRecord, Record,
    Statistic, TrapId, Trust, Verdict,
};

/// A lesson, as far as it got.
pub struct LessonResult<'a> {
    /// What was to be taught.
    pub topic: LessonTopic,
    /// What people do.
    pub trap: Option<LessonFigure<'a>>,
    /// What they should do.
    pub cure: Option<LessonFigure<'a>>,
}

/// One half of a lesson, measured.
pub struct LessonFigure<'a> {
    pub phase: &'a PhaseRecord,
    /// What was read from the kernel meanwhile.
    phase_view: PhaseView<'a>,
    /// What it did.
    pub action: Action,
    pub figures: PhaseFigures,
}

/// What a lesson is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonHalfFigure {
    /// Bytes per second.
    Bandwidth,
    /// Operations per second.
    Iops,
    /// The latency that one of a hundred exceeds, seconds.
    P99,
}

/// Whether the trap shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LessonOutcome {
    /// One of the halves is missing, or has no figure.
    Unfinished,
    /// A figure that would have to be true is not ([`LessonResult::untrue`]): there is nothing to compare
    /// with.
    Groundless,
    /// The rules of the trap have nothing against its figure: here it is none.
    Escaped,
    /// Both figures are about the same.
    Alike,
    /// The trap's figure is so many times off.
    Shown(f64),
}

impl LessonHalfFigure {
    /// What a topic is compared by.
    pub fn of(topic: LessonTopic) -> Self {
        match topic {
            LessonTopic::Readahead | LessonTopic::Depth => Self::Iops,
            LessonTopic::Omission => Self::P99,
            _ => Self::Bandwidth,
        }
    }
}

/// The rules that speak against the trap of a topic. There are none where its own figure is true, and
/// only what it is taken for is not.
fn caught_by(topic: LessonTopic) -> &'static [TrapId] {
    match topic {
        LessonTopic::Flush | LessonTopic::Burst => &[TrapId::T02, TrapId::T05],
        LessonTopic::Cache => &[TrapId::T01, TrapId::T06],
        LessonTopic::Holes => &[TrapId::T23],
        LessonTopic::Compress => &[TrapId::T25],
        LessonTopic::Readahead | LessonTopic::Depth | LessonTopic::Omission => &[],
    }
}

impl<'a> LessonResult<'a> {
    /// What a record has of it.
    pub fn of(lesson: &LessonPlan, record: &'a Record) -> Self {
        let half = |which: &PhaseRef| LessonFigure::of(record, record.phase_of(which)?);
        Self { topic: lesson.topic, trap: half(&lesson.trap), cure: half(&lesson.cure) }
    }

    /// What was said of a figure that would have to be true for a lesson, and is not: that of the cure,
    /// and where no rule is to catch it that of the trap.
    pub fn untrue(&self) -> Option<&'a Verdict> {
        let trap = self.trap.as_ref().filter(|_| caught_by(self.topic).is_empty());
        trap.into_iter().chain(&self.cure).find_map(LessonFigure::untrue)
    }

    /// Whether the trap shows.
    pub fn outcome(&self) -> LessonOutcome {
        let (Some(trap), Some(cure)) = (&self.trap, &self.cure) else {
            return LessonOutcome::Unfinished;
        };
        let figure = LessonHalfFigure::of(self.topic);
        let (Some(seen), Some(truth)) = (trap.figure(figure), cure.figure(figure)) else {
            return LessonOutcome::Unfinished;
        };
        if self.untrue().is_some() {
            return LessonOutcome::Groundless;
        }
        let caught = caught_by(self.topic);
        if !caught.is_empty() && !caught.iter().any(|rule| trap.refuted_by(*rule)) {
            return LessonOutcome::Escaped;
        }
        let times = match self.topic {
            // One at a time is less than there is, and a p99 that leaves waits out is too short.
            LessonTopic::Depth | LessonTopic::Omission => truth / seen,
            _ => seen / truth,
        };
        // What would be lost without power is lost from the fastest device, too.
        let lost = self.topic == LessonTopic::Flush;
        if times < LESSON && !lost { LessonOutcome::Alike } else { LessonOutcome::Shown(times) }
    }
}

impl<'a> LessonFigure<'a> {
    fn of(record: &'a Record, phase: &'a PhaseRecord) -> Option<Self> {
        let mut actions = [Action::Read, Action::Write].into_iter();
        let action = actions.find(|action| phase.totals.contains_key(action))?;
        let figures = PhaseFigures::of(phase);
        Some(Self { phase, phase_view: PhaseView::new(record, phase), action, figures })
    }

    /// A figure of its one action.
    fn measured(&self, metric: Metric) -> Option<&Figure> {
        self.figures.find(Some(self.action), metric)
    }

    /// Its figure, in the unit of that figure.
    pub fn figure(&self, figure: LessonHalfFigure) -> Option<f64> {
        let figure = match figure {
            LessonHalfFigure::Bandwidth => self.measured(Metric::Throughput)?.known()?,
            LessonHalfFigure::Iops => self.measured(Metric::Iops)?.known()?,
            LessonHalfFigure::P99 => self.measured(Metric::P99)?.time()?.as_secs(),
        };
        (figure > 0.0).then_some(figure)
    }

    /// What was said of it; absent in a record that was not judged.
    pub fn verdict(&self) -> Option<&'a Verdict> {
        self.phase.verdict.as_ref()
    }

    fn found(&self, rule: TrapId) -> Option<&'a Finding> {
        self.verdict()?.findings.iter().find(|found| found.trap == rule)
    }

    /// What was said of it, if its figure is not to be believed. A short run is less exact, but no less
    /// true: the halves of a lesson differ by more than that.
    fn untrue(&self) -> Option<&'a Verdict> {
        let verdict = self.verdict()?;
        let missing = |found: &Finding| {
            found.weight == FindingWeight::Unproven && found.trap != super::too_short::RULE.id
        };
        let untrue = match verdict.trust {
            Trust::Wrong => true,
            Trust::Unproven => verdict.findings.iter().any(missing),
            Trust::Sound | Trust::Doubtful => false,
        };
        untrue.then_some(verdict)
    }

    pub fn said(&self, rule: TrapId) -> Option<String> {
        self.found(rule).map(Finding::text)
    }

    /// A rule says more than a note.
    fn refuted_by(&self, rule: TrapId) -> bool {
        self.found(rule).is_some_and(|found| found.weight > FindingWeight::Note)
    }

    fn flow_view(&self) -> Option<&FlowView<'a>> {
        self.phase_view.cases.first()
    }

    /// The device where the least arrived, or the one that the path names.
    fn level(&self) -> Option<&DeviceLevel<'a>> {
        let flow_view = self.flow_view()?;
        flow_view.reach().map(|(_, level)| level).or_else(|| flow_view.top())
    }

    /// Bytes that the program moved.
    pub fn moved(&self) -> Bytes {
        self.flow_view().map_or(Bytes::ZERO, |flow_view| flow_view.flow.bytes)
    }

    /// Operations that were answered.
    fn answered(&self) -> Ops {
        let ops = self.measured(Metric::Ops).and_then(Figure::known);
        Ops(ops.unwrap_or_default() as u64)
    }

    /// Calls of the program.
    pub fn calls(&self) -> Ops {
        self.flow_view().map_or_else(|| self.answered(), |flow_view| flow_view.flow.calls)
    }

    /// The name of the device.
    pub fn device(&self) -> Option<String> {
        Some(self.level()?.name())
    }

    fn direction(&self) -> Option<Direction> {
        Some(self.flow_view()?.direction())
    }

    /// Bytes that the device moved for it until the clock stopped.
    pub fn arrived(&self) -> Option<Bytes> {
        Some(Bytes(self.level()?.moved(self.direction()?)))
    }

    /// Requests of the device.
    pub fn requests(&self) -> Option<u64> {
        Some(super::measure::requests(&self.level()?.timed, self.direction()?))
    }

    /// Mean size of these.
    pub fn request(&self) -> Option<Bytes> {
        self.level()?.request(self.direction()?)
    }

    /// Share of the time with a request in the device.
    pub fn busy(&self) -> Option<f64> {
        self.level().map(DeviceLevel::busy)
    }

    /// Requests in flight on average.
    pub fn in_flight(&self) -> Option<f64> {
        self.level().map(DeviceLevel::in_flight)
    }

    fn resident(&self, at: &Snapshot) -> Option<Bytes> {
        Some(self.flow_view()?.cached(at)?.resident)
    }

    /// Bytes of the file in memory at the first call.
    pub fn resident_before(&self) -> Option<Bytes> {
        self.resident(&self.phase.evidence.before)
    }

    /// Bytes that only memory had when the clock stopped.
    pub fn unwritten(&self) -> Option<Bytes> {
        self.flow_view()?.unwritten_pages()
    }

    /// How long the flush took that came after it, when it was watched to its end.
    pub fn flushed_later(&self) -> Option<Nanos> {
        let settle = self.phase.evidence.settle.as_ref()?;
        (settle.complete && settle.fault.is_none()).then_some(settle.time)
    }

    /// The flush that is part of its timing, after the last call.
    pub fn flush(&self) -> Option<Nanos> {
        let span = &self.phase.span;
        Some(span.flushed?.since(span.stopped))
    }

    /// Bytes that the calls of its first tenth of a second wrote.
    pub fn written_first(&self) -> Option<Bytes> {
        Some(Bytes(self.phase.series.points.first()?.write_bytes))
    }

    /// Bytes of the range that lie nowhere on the device.
    pub fn empty(&self) -> Option<Bytes> {
        let laid = self.flow_view()?.extents()?;
        Some(laid.hole + laid.unwritten)
    }

    /// The p99 from when I/Os were sent, and from when they were due.
    pub fn p99(&self) -> Option<[Nanos; 2]> {
        let due = self.measured(Metric::P99)?.time()?;
        let service = Metric::Latency(LatencyPart::Service, Statistic::P99);
        let sent = self.measured(service).map_or(Some(due), Figure::time)?;
        Some([sent, due])
    }

    /// The longest wait, from when an I/O was due.
    pub fn longest(&self) -> Option<Nanos> {
        self.measured(Metric::lat(Statistic::Max))?.time()
    }
}
