//! How figures look in a picture: their colour by what they are of, their form by what they are worth.

use assay_plan::plan::Action;
use assay_record::record::{PhaseRecord, SweepSide, Trust};

/// A colour, by what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Write,
    Read,
    Mixed,
    /// What the counters of the device saw.
    Device,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureLook {
    #[default]
    Firm,
    /// Something speaks against it, or evidence is missing: hollow.
    Hollow,
    /// It is refuted: crossed out.
    Struck,
}

impl FigureLook {
    /// Of a figure with that trust. One that was not judged is firm: nothing speaks against it.
    pub fn of(trust: Option<Trust>) -> Self {
        match trust {
            Some(Trust::Sound) | None => Self::Firm,
            Some(Trust::Doubtful | Trust::Unproven) => Self::Hollow,
            Some(Trust::Wrong) => Self::Struck,
        }
    }

    /// Of what was done in a phase.
    pub fn of_phase(phase: &PhaseRecord) -> Self {
        Self::of(phase.verdict.as_ref().map(|verdict| verdict.trust))
    }
}

impl Tone {
    pub fn of(action: Action) -> Self {
        match action {
            Action::Write => Self::Write,
            Action::Read => Self::Read,
            _ => Self::Mixed,
        }
    }

    pub fn of_side(side: SweepSide) -> Self {
        match side {
            SweepSide::Write => Self::Write,
            SweepSide::Read => Self::Read,
            SweepSide::Mixed => Self::Mixed,
        }
    }
}
