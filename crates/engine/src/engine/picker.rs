//! What the next I/O is, and how large: thrown by weight.

use assay_plan::error::Refusal;
use assay_plan::plan::{Action, BlockSize, Mix};

use super::IoOp;
use super::random::RandomStream;

/// What the next I/O is.
#[derive(Clone, Debug)]
pub(super) enum IoPicker {
    One(IoOp),
    /// The second with this share, in 2^32ths.
    Two(IoOp, IoOp, u64),
    /// Cumulative weights.
    Many(u64, Vec<(u64, IoOp)>),
}

impl IoPicker {
    pub(super) fn new(mix: &Mix) -> Result<Self, Refusal> {
        let mut weights = [0_u64; 4];
        for share in mix.0.iter().filter(|share| share.weight > 0) {
            weights[op(share.action)? as usize] += u64::from(share.weight);
        }
        let shares: Vec<(u64, IoOp)> =
            weights.into_iter().zip(IoOp::ALL).filter(|(weight, _)| *weight > 0).collect();
        let total: u64 = shares.iter().map(|(weight, _)| weight).sum();
        Ok(match shares.as_slice() {
            [] => Self::One(IoOp::Read),
            [(_, only)] => Self::One(*only),
            [(_, first), (weight, second)] => {
                let share = ((u128::from(*weight) << 32) / u128::from(total)) as u64;
                Self::Two(*first, *second, share)
            }
            _ => {
                let mut until = 0;
                let upto = |(weight, op): &(u64, IoOp)| {
                    until += weight;
                    (until, *op)
                };
                Self::Many(total, shares.iter().map(upto).collect())
            }
        })
    }

    #[inline]
    pub(super) fn throw(&self, random: &mut RandomStream) -> IoOp {
        match self {
            Self::One(op) => *op,
            Self::Two(first, second, share) => {
                if (random.next_u64() >> 32) < *share {
                    *second
                } else {
                    *first
                }
            }
            Self::Many(total, shares) => {
                let picker = random.below(*total);
                shares.iter().find(|(until, _)| picker < *until).map_or(shares[0].1, |&(_, op)| op)
            }
        }
    }

    /// The same, but none of those that are barred (bits by [`IoOp`]), as long as there is another.
    #[inline]
    pub(super) fn throw_but(&self, random: &mut RandomStream, barred: u8) -> IoOp {
        let op = self.throw(random);
        if barred & bit(op) == 0 { op } else { self.instead(op, random, barred) }
    }

    /// What is done instead of an action that is barred: another one, by their weights.
    fn instead(&self, op: IoOp, random: &mut RandomStream, barred: u8) -> IoOp {
        match self {
            Self::One(only) => *only,
            Self::Two(first, second, _) => {
                let other = if op == *first { *second } else { *first };
                if barred & bit(other) == 0 { other } else { op }
            }
            Self::Many(_, shares) => {
                let mut until = 0;
                let mut before = 0;
                let mut free = [(0, op); IoOp::ALL.len()];
                for (entry, (upto, other)) in free.iter_mut().zip(shares) {
                    until += if barred & bit(*other) == 0 { upto - before } else { 0 };
                    before = *upto;
                    *entry = (until, *other);
                }
                if until == 0 {
                    return op;
                }
                let picker = random.below(until);
                free.iter().find(|(upto, _)| picker < *upto).map_or(op, |&(_, other)| other)
            }
        }
    }

    pub(super) fn has(&self, op: IoOp) -> bool {
        match self {
            Self::One(only) => *only == op,
            Self::Two(first, second, _) => *first == op || *second == op,
            Self::Many(_, shares) => shares.iter().any(|(_, known)| *known == op),
        }
    }
}

/// The bit of an action among those that are barred.
fn bit(op: IoOp) -> u8 {
    1 << op as u8
}

/// What an action is to the loop.
fn op(action: Action) -> Result<IoOp, Refusal> {
    IoOp::ALL.into_iter().find(|op| op.action() == action).ok_or_else(|| {
        Refusal::new(
            format!("'{}' is nothing that is done to blocks", action.name()),
            "mix read, write, rewrite and trim",
        )
    })
}

#[derive(Clone, Debug)]
pub(super) enum SizePicker {
    Fixed(u32),
    Range {
        least: u32,
        step: u32,
        count: u32,
    },
    /// Cumulative weights.
    Split {
        total: u64,
        sizes: Vec<(u64, u32)>,
    },
}

impl SizePicker {
    pub(super) fn new(block: &BlockSize, action: Action) -> Result<Self, Refusal> {
        let small = |size: assay_plan::unit::Bytes| {
            u32::try_from(size.0)
                .ok()
                .filter(|&size| size <= 1 << 30)
                .ok_or_else(|| Refusal::new(format!("a block of {size}"), "give 1 GiB or less"))
        };
        Ok(match block {
            BlockSize::Fixed(size) => Self::Fixed(small(*size)?),
            BlockSize::Range { least, most, step } => Self::Range {
                least: small(*least)?,
                step: small(*step)?,
                count: small(assay_plan::unit::Bytes((most.0 - least.0) / step.0 + 1))?,
            },
            BlockSize::Split(sizes) => {
                let mut total = 0;
                let mut list = Vec::new();
                for entry in sizes.iter().filter(|entry| entry.weight > 0) {
                    total += u64::from(entry.weight);
                    list.push((total, small(entry.size)?));
                }
                Self::Split { total, sizes: list }
            }
            BlockSize::PerAction(_) => Self::new(block.of(action), action)?,
        })
    }

    #[inline]
    pub(super) fn next(&self, random: &mut RandomStream) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { least, step, count } => {
                least + step * random.below(u64::from(*count)) as u32
            }
            Self::Split { total, sizes } => {
                let picker = random.below(*total);
                sizes
                    .iter()
                    .find(|(until, _)| picker < *until)
                    .map_or(sizes[0].1, |&(_, size)| size)
            }
        }
    }
}
