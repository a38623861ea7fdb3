//! An option of a job is one value in one list: its names, what it takes, its default, what it does to the
//! job, whether it is done here, and a line that has it. The parser, the help and `assay explain` come from
//! that list, and so cannot differ.

use super::kind::FioKind;
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioEngine, FioJob};

/// Whether an option is done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioStanding {
    Done,
    /// It is taken and changes no number; why.
    Noted(&'static str),
    /// It would change the numbers and is not done here, unless its value is the default; what helps.
    Refused(&'static str),
    /// fio takes it for a profile, and in a job it does nothing; the option that was probably meant.
    Unused(&'static str),
}

/// An option of a job.
pub struct FioOption {
    pub name: &'static str,
    /// Another name for it; empty where it has none.
    pub alias: &'static str,
    pub kind: FioKind,
    /// Its default as it would be typed; empty where it has none.
    pub default: &'static str,
    /// What it is for, in a line.
    pub help: &'static str,
    /// The option that it belongs to in lists; empty where it stands alone.
    pub parent: &'static str,
    /// The engines that have it; empty is that it is an option of every job.
    pub engines: &'static [FioEngine],
    /// Whether it is done here.
    pub standing: FioStanding,
    /// Options of a section with more are taken before those with less.
    pub priority: i8,
    /// What it does to the job.
    pub effect: fn(&mut FioJob, &FioValue<'_>) -> Applied,
    /// A line of the tool that has it, without the name of the program.
    pub example: &'static str,
}

impl FioOption {
    /// What it is for, and what becomes of it here where that is less.
    pub fn told(&self) -> String {
        let help = self.help;
        match self.standing {
            FioStanding::Done => help.into(),
            FioStanding::Noted(why) => format!("{help}; changes nothing: {why}"),
            FioStanding::Refused(instead) => format!("{help}; refused: {instead}"),
            FioStanding::Unused("") => format!("{help}; does nothing in a job"),
            FioStanding::Unused(meant) => format!("{help}; does nothing in a job: write {meant}"),
        }
    }

    pub(in crate::dialect::fio) const fn new(
        name: &'static str,
        kind: FioKind,
        help: &'static str,
        effect: fn(&mut FioJob, &FioValue<'_>) -> Applied,
        example: &'static str,
    ) -> Self {
        Self {
            name,
            alias: "",
            kind,
            default: "",
            help,
            parent: "",
            engines: &[],
            standing: FioStanding::Done,
            priority: 0,
            effect,
            example,
        }
    }

    /// An option that changes nothing in the job.
    pub(in crate::dialect::fio) const fn idle(
        name: &'static str,
        kind: FioKind,
        help: &'static str,
        standing: FioStanding,
        example: &'static str,
    ) -> Self {
        Self { standing, ..Self::new(name, kind, help, |_, _| Ok(()), example) }
    }

    pub(in crate::dialect::fio) const fn alias(self, alias: &'static str) -> Self {
        Self { alias, ..self }
    }

    pub(in crate::dialect::fio) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    pub(in crate::dialect::fio) const fn below(self, parent: &'static str) -> Self {
        Self { parent, ..self }
    }

    pub(in crate::dialect::fio) const fn of(self, engines: &'static [FioEngine]) -> Self {
        Self { engines, ..self }
    }

    /// Taken before or after others.
    pub(in crate::dialect::fio) const fn priority(self, priority: i8) -> Self {
        Self { priority, ..self }
    }

    /// Taken, without an effect on the numbers.
    pub(super) const fn noted(self, why: &'static str) -> Self {
        Self { standing: FioStanding::Noted(why), ..self }
    }

    /// Not done here unless its value is the default.
    pub(in crate::dialect::fio) const fn refused(self, instead: &'static str) -> Self {
        Self { standing: FioStanding::Refused(instead), ..self }
    }

    /// Whether it is called so.
    pub fn is(&self, name: &str) -> bool {
        self.name == name || !self.alias.is_empty() && self.alias == name
    }

    /// Its names, the usual one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name, self.alias].into_iter().filter(|name| !name.is_empty())
    }
}
