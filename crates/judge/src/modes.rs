//! Which rows of `modes` speak for the whole page, what they come to, and why they rank as they do.

pub mod row;
pub mod why;

use super::study::StudyJudge;
use assay_plan::plan::{Durability, ModesStudy, Work};
use assay_record::record::{MeasuredSubject, PhaseRecord, Record, Verdict};

impl StudyJudge for ModesStudy {
    /// A write that was left unflushed on purpose, and whose flush was watched to its end, is what the
    /// table is there to show, and no reason to doubt it.
    fn speaks(&self, record: &Record, phase: &PhaseRecord, verdict: &Verdict) -> bool {
        let jobs = record.planned_jobs(phase);
        let unflushed = jobs.iter().any(|job| match &job.work {
            Work::Blocks(blocks) => {
                blocks.durability == Durability::None && blocks.pattern.mix.writes()
            }
            _ => false,
        });
        let watched = phase.evidence.settle.as_ref().is_some_and(|settle| settle.complete);
        !(unflushed && watched && verdict.measures == MeasuredSubject::Deferred)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::super::verdicts;
    use assay_plan::plan::StudyPlan;
    use assay_record::record::{Record, Trust};

    /// A write without a flush, and one with.
    fn ways() -> Record {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.only_writes();
        bench.again_as("safe");
        let mut flushed = DoctoredRecord::write_flushed();
        flushed.only_writes();
        let phase = flushed.record.phases.as_mut_vec().remove(0);
        bench.record.phases[1] =
            assay_record::record::PhaseRecord { number: 1, name: "safe".into(), ..phase };
        bench.record
    }

    #[test]
    fn a_write_that_was_left_unflushed_on_purpose_is_no_doubt_of_the_page() {
        let mut record = ways();
        assert_eq!(verdicts(&record).1.trust, Trust::Wrong, "no page of modes");
        record.plan.aim = Some(StudyPlan::Modes);
        let (phases, whole) = verdicts(&record);
        assert_eq!((phases[0].trust, phases[1].trust), (Trust::Wrong, Trust::Sound));
        assert_eq!(whole.trust, Trust::Sound);
        record.phases[0].evidence.settle = None;
        assert_eq!(verdicts(&record).1.trust, Trust::Wrong, "nobody watched its flush");
        // Where there is nothing else, it is the verdict.
        let mut record = ways();
        record.plan.aim = Some(StudyPlan::Modes);
        record.phases.as_mut_vec().truncate(1);
        assert_eq!(verdicts(&record).1.trust, Trust::Wrong);
    }

    #[test]
    fn what_makes_the_file_is_no_row() {
        let mut record = ways();
        record.plan.aim = Some(StudyPlan::Modes);
        record.phases[0].evidence.settle = None;
        for name in [&mut record.phases[0].name, &mut record.plan.phases[0].name] {
            *name = "file".into();
        }
        assert_eq!(verdicts(&record).1.trust, Trust::Sound);
    }
}
