//! Which I/Os of a worker have a priority of their own.

use assay_plan::plan::{IoPriorities, PriorityShare, Tausworthe};

use super::IoRequest;

/// Draws the priority of each I/O.
#[derive(Clone, Debug)]
pub struct PriorityDraw {
    reads: Vec<PriorityShare>,
    writes: Vec<PriorityShare>,
    stream: Tausworthe,
    /// Of what is in flight, by slot.
    drawn: Vec<u16>,
}

impl PriorityDraw {
    /// The draws of a worker, from the plan's seed for it unless they have their own; `None` where no I/O has a
    /// priority of its own.
    pub fn new(priorities: &IoPriorities, seed: u64) -> Option<Self> {
        (!priorities.is_empty()).then(|| Self {
            reads: priorities.reads.clone(),
            writes: priorities.writes.clone(),
            stream: Tausworthe::new(priorities.seed.unwrap_or(seed), false),
            drawn: Vec::new(),
        })
    }

    /// The same for so many I/Os in flight.
    pub(super) fn of_depth(mut self, depth: u32) -> Self {
        self.drawn = vec![0; depth as usize];
        self
    }

    /// All that it may draw: that of the thread first (0), then by the sizes that they are for.
    pub(super) fn all(&self) -> Vec<u16> {
        let mut shares: Vec<_> = self.reads.iter().chain(&self.writes).collect();
        shares.sort_by_key(|share| share.block);
        let mut all = vec![0];
        for value in shares.into_iter().map(|share| share.priority.value()) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        all
    }

    /// Draws the priority of an I/O, and keeps it for its slot.
    #[inline]
    pub(super) fn draw(&mut self, slot: usize, io: IoRequest) -> u16 {
        let drawn = self.of(io);
        self.drawn[slot] = drawn;
        drawn
    }

    /// What was drawn for the I/O of a slot.
    #[inline]
    pub(super) fn drawn(&self, slot: usize) -> u16 {
        self.drawn[slot]
    }

    /// The priority of an I/O as the kernel has it; 0: that of its thread. A number is drawn only where a share of
    /// such I/Os has one, as fio does.
    #[inline]
    fn of(&mut self, io: IoRequest) -> u16 {
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
    use assay_plan::plan::{IoClass, IoPriority};
    use assay_plan::unit::Bytes;

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
        assert_eq!(draw.all(), [0, FIRST | 4, FIRST | 1, FIRST | 2, FIRST | 3]);
        let mut draw = draw.of_depth(2);
        let io = IoRequest { op: IoOp::Read, file: 0, offset: 0, len: 65536 };
        assert_eq!((draw.draw(1, io), draw.drawn(1), draw.drawn(0)), (FIRST | 3, FIRST | 3, 0));
        assert!(PriorityDraw::new(&IoPriorities::default(), 1).is_none());
    }
}
