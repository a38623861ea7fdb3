//! Which I/Os of a worker have a priority of their own.

use crate::plan::{IoPriorities, PriorityShare, Tausworthe};

use super::IoRequest;

/// Draws the priority of each I/O.
#[derive(Clone, Debug)]
pub struct PriorityDraw {
    reads: Vec<PriorityShare>,
    writes: Vec<PriorityShare>,
    stream: Tausworthe,
}

impl PriorityDraw {
    /// The draws of a worker, from the plan's seed for it unless they have their own; `None` where no I/O has a
    /// priority of its own.
    pub fn new(priorities: &IoPriorities, seed: u64) -> Option<Self> {
        (!priorities.is_empty()).then(|| Self {
            reads: priorities.reads.clone(),
            writes: priorities.writes.clone(),
            stream: Tausworthe::new(priorities.seed.unwrap_or(seed), false),
        })
    }

    /// The priority of an I/O as the kernel has it; 0: that of its thread. A number is drawn only where a share of
    /// such I/Os has one, as fio does.
    #[inline]
    pub(super) fn of(&mut self, io: IoRequest) -> u16 {
        let shares = if io.sends() { &self.writes } else { &self.reads };
        let meets =
            |share: &&PriorityShare| share.block.is_none_or(|block| block.0 == u64::from(io.len));
        let mut theirs = shares.iter().filter(meets).peekable();
        if theirs.peek().is_none() {
            return 0;
        }
        let mut drawn = (100.0 * self.stream.share()) as u32;
        for share in theirs {
            match drawn.checked_sub(u32::from(share.percent)) {
                None => return share.priority.value(),
                Some(rest) => drawn = rest,
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::IoOp;
    use super::*;
    use crate::plan::{IoClass, IoPriority};
    use crate::unit::Bytes;

    #[test]
    fn shares_are_those_of_their_sizes() {
        let share = |block: u64, percent, level| PriorityShare {
            block: (block > 0).then_some(Bytes(block)),
            percent,
            priority: IoPriority { class: IoClass::Realtime, level, hint: 0 },
        };
        let priorities = IoPriorities {
            reads: vec![share(4096, 20, 1), share(4096, 30, 2), share(65536, 100, 3)],
            writes: vec![share(0, 50, 4)],
            seed: Some(7),
        };
        let mut draw = PriorityDraw::new(&priorities, 1).expect("some");
        let mut count = |op, len, value: u16| {
            let io = IoRequest { op, file: 0, offset: 0, len };
            (0..10_000).filter(|_| draw.of(io) == value).count()
        };
        const FIRST: u16 = 1 << 13;
        assert!((1_800..2_200).contains(&count(IoOp::Read, 4096, FIRST | 1)));
        assert!((2_800..3_200).contains(&count(IoOp::Read, 4096, FIRST | 2)));
        assert!((4_800..5_200).contains(&count(IoOp::Read, 4096, 0)));
        assert_eq!(count(IoOp::Read, 65536, FIRST | 3), 10_000);
        assert_eq!(count(IoOp::Read, 8192, 0), 10_000);
        assert!((4_800..5_200).contains(&count(IoOp::Write, 512, FIRST | 4)));
        assert!(PriorityDraw::new(&IoPriorities::default(), 1).is_none());
    }
}
