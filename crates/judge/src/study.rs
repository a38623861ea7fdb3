//! What a study has to say while a run goes on and when it is over: which phases are still worth
//! doing, how long, and what they come to.

use super::{capacity, card, grid, leave, profile, ramp, sustain, sweep};
use assay_plan::plan::{
    CapacityStudy, CardStudy, GridStudy, LessonPlan, ModesStudy, Phase, PlainRun, Plan,
    ProfilePlan, RampPlan, StudyPlan, SustainStudy, SweepPlan,
};
use assay_record::record::{PhaseRecord, Record, StudyResult, Verdict};

/// The judge of a study. Its answers are pure functions of the record so far.
pub trait StudyJudge {
    /// Whether a phase is still to be done, after those that the record has.
    fn wanted(&self, _record: &Record, _phase: &Phase) -> bool {
        true
    }

    /// The phase with the limits that the speed of the device so far suggests; `None` where it stays
    /// as planned.
    fn paced(&self, _record: &Record, _phase: &Phase) -> Option<Phase> {
        None
    }

    /// Whether the verdict on a phase that counts is one on the whole run.
    fn speaks(&self, _record: &Record, _phase: &PhaseRecord, _verdict: &Verdict) -> bool {
        true
    }

    /// What the phases come to together; `None` where no figure of the whole is of use.
    fn conclude(&self, _record: &Record) -> Option<StudyResult> {
        None
    }
}

/// The judge of what a plan is about.
fn judge(plan: &Plan) -> &dyn StudyJudge {
    with_studies!(chosen!(&plan.aim, dyn StudyJudge))
}

/// Whether a phase is still to be done, after those that the record has: steps that can tell nothing
/// more and cells that cannot be done here are left out.
pub fn wanted(record: &Record, phase: &Phase) -> bool {
    judge(&record.plan).wanted(record, phase)
}

/// The phase with the limits that the speed of the device so far suggests; `None` where it stays as
/// planned.
pub fn paced(record: &Record, phase: &Phase) -> Option<Phase> {
    judge(&record.plan).paced(record, phase)
}

/// Whether the verdict on a phase that counts is one on the whole run.
pub(super) fn speaks(record: &Record, phase: &PhaseRecord, verdict: &Verdict) -> bool {
    judge(&record.plan).speaks(record, phase, verdict)
}

/// What the run came to beyond the figures of its phases.
pub(super) fn outcome(record: &Record) -> Option<StudyResult> {
    judge(&record.plan).conclude(record)
}

impl StudyJudge for PlainRun {}

impl StudyJudge for LessonPlan {}

impl StudyJudge for RampPlan {
    fn wanted(&self, record: &Record, phase: &Phase) -> bool {
        ramp::wanted(self, record, phase)
    }

    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        ramp::ramp_result(self, record).map(StudyResult::Ramp)
    }
}

impl StudyJudge for SustainStudy {
    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        sustain::endurance(record).map(StudyResult::Sustain)
    }
}

impl StudyJudge for CardStudy {
    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        Some(StudyResult::Card(card::grading(record)))
    }
}

impl StudyJudge for CapacityStudy {
    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        Some(StudyResult::Capacity(capacity::capacity(record)))
    }
}

impl StudyJudge for SweepPlan {
    fn wanted(&self, record: &Record, phase: &Phase) -> bool {
        leave::wanted(record, phase) && sweep::over(self, record, phase).is_none()
    }

    fn paced(&self, record: &Record, phase: &Phase) -> Option<Phase> {
        sweep::paced(self, record, phase)
    }

    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        Some(StudyResult::Sweep(sweep::swept(self, record)))
    }
}

impl StudyJudge for GridStudy {
    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        Some(StudyResult::Grid(grid::result(record)))
    }
}

impl StudyJudge for ProfilePlan {
    fn wanted(&self, record: &Record, phase: &Phase) -> bool {
        leave::wanted(record, phase)
    }

    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        Some(StudyResult::Profile(profile::profiled(self, record)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;

    #[test]
    fn a_plain_run_does_all_its_phases_as_planned_and_comes_to_no_more() {
        let record = DoctoredRecord::write_flushed().record;
        let phase = &record.plan.phases[0];
        assert!(wanted(&record, phase));
        assert_eq!((paced(&record, phase), outcome(&record)), (None, None));
    }
}
