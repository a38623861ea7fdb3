//! The studies: what a run can be about beyond the figures of its phases. One line for each, and the
//! only `match` on which one it is.
//!
//! A study is a type of `plan` with three sides, each a trait in the room that needs it:
//! `plan::Study` (what the plan must be), `verdict::StudyJudge` (which phases are done, and what they
//! come to) and `report::StudyPrinter` (its page, facts and pictures). The list is made of words only
//! and expanded in those rooms, so that it knows none of them.

/// Hands the list to another macro: behind what was `given`, for each study what it is for, its name
/// in [`StudyPlan`](crate::plan::StudyPlan), what it holds if it holds anything, and the value that has the sides.
#[macro_export]
macro_rules! with_studies {
    ($then:ident!($($given:tt)*)) => {
        $then! {
            ($($given)*)
            /// How the rate grows with the I/Os in flight. Steps that would tell nothing more are left out.
            Ramp(study: RampPlan) => study;
            /// What a device keeps up, and for how long it is faster.
            Sustain => &SustainStudy;
            /// What a trap looks like here, and the truth beside it.
            Lesson(study: LessonPlan) => study;
            /// Which speed classes of SD cards a device clears. Their figures are those of its phases with
            /// one job that writes in order, or reads or writes 4 KiB anywhere.
            Card => &CardStudy;
            /// Whether a device holds what it promises to: tagged blocks are written by one phase and read by
            /// the next, which counts what they hold ([`crate::plan::Verify::Census`]).
            Capacity => &CapacityStudy;
            /// How the rate depends on the size of an I/O, or on something else that is varied. Cells that
            /// cannot be done here are left out.
            Sweep(study: SweepPlan) => study;
            /// How rates depend on the sizes of the file and of an I/O together.
            Grid => &GridStudy;
            /// The figures of another program's quick test. Those that cannot be had here are left out.
            Profile(study: ProfilePlan) => study;
            /// One load, and whether its latency is what was asked for.
            Load(study: SingleLoad) => study;
            /// How the ways in which data reach a device compare: a phase for each, in the order of the page.
            Modes => &ModesStudy;
        }
    };
}

/// The enumeration of the studies.
macro_rules! enumerated {
    (
        ($(#[$about:meta])* $visible:vis enum $StudyPlan:ident)
        $($(#[$doc:meta])* $name:ident $(($study:ident: $plan:ty))? => $sides:expr;)*
    ) => {
        $(#[$about])*
        $visible enum $StudyPlan {
            $($(#[$doc])* $name $(($plan))?,)*
        }
    };
}

/// The study of an aim as one of its sides; [`PlainRun`](crate::plan::PlainRun) where there is none.
#[macro_export]
macro_rules! chosen {
    (
        ($aim:expr, $side:ty)
        $($(#[$doc:meta])* $name:ident $(($study:ident: $plan:ty))? => $sides:expr;)*
    ) => {
        match $aim {
            None => &PlainRun as &$side,
            $(Some(StudyPlan::$name $(($study))?) => $sides as &$side,)*
        }
    };
}

/// The same aim, of a plan in which each phase is written out as often as it is done.
macro_rules! aim_unrolled {
    (
        ($aim:expr, $phases:expr)
        $($(#[$doc:meta])* $name:ident $(($study:ident: $plan:ty))? => $sides:expr;)*
    ) => {
        match $aim {
            $(StudyPlan::$name $(($study))? => { $($study.unroll($phases);)? })*
        }
    };
}
