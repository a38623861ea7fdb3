//! A modelled device on a virtual clock: the real loop, without a disk and without waiting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use crate::sys::slab::{Brand, Slab, Slot};
use assay_plan::plan::DeviceModel;
use assay_plan::unit::Timestamp;

use super::random::RandomStream;
use super::{FlushKind, IoBackend, IoOp, IoRequest};

/// The device: requests wait for the first free channel.
pub(crate) struct SimulatedDevice<'s> {
    model: DeviceModel,
    slab: Slab<'s>,
    now: u64,
    channels: BinaryHeap<Reverse<u64>>,
    flying: BinaryHeap<Reverse<(u64, u64)>>,
    slots: Vec<Option<(Slot<'s>, i32)>>,
    burst_left: u64,
    random: RandomStream,
    sent: u64,
}

impl<'s> SimulatedDevice<'s> {
    pub(crate) fn new(
        brand: Brand<'s>,
        model: DeviceModel,
        depth: u32,
        size: usize,
        seed: u64,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let (slab, slots) = Slab::new(brand, depth, size)?;
        let sim = Self {
            model,
            slab,
            now: 0,
            // More than are in flight never matter.
            channels: (0..model.channels.clamp(1, depth)).map(|_| Reverse(0)).collect(),
            flying: BinaryHeap::with_capacity(depth as usize),
            slots: (0..depth).map(|_| None).collect(),
            burst_left: model.burst,
            random: RandomStream::new(seed),
            sent: 0,
        };
        Ok((sim, slots))
    }

    /// The end of the stall that `at` lies in, or `at`.
    fn past_stall(&self, at: u64) -> u64 {
        let (every, stall) = (self.model.stall_every.0, self.model.stall.0);
        if every == 0 || stall == 0 || at < every {
            return at;
        }
        let into = at % every;
        if into < stall { (at - into).saturating_add(stall) } else { at }
    }

    fn service(&mut self, io: IoRequest) -> u64 {
        let bandwidth = if io.op == IoOp::Write && self.burst_left > 0 {
            self.burst_left = self.burst_left.saturating_sub(u64::from(io.len));
            self.model.burst_bandwidth
        } else {
            self.model.bandwidth
        };
        let transfer = match bandwidth {
            0 => 0,
            // A trim carries nothing.
            _ if io.op == IoOp::Trim => 0,
            rate => u64::from(io.len) * 1_000_000_000 / rate,
        };
        let jitter = match self.model.jitter.0 {
            0 => 0,
            most => self.random.below(most.saturating_add(1)),
        };
        // Without any time of its own its clock would stand still for ever.
        self.model.latency.0.saturating_add(jitter).saturating_add(transfer).max(1)
    }
}

impl<'s> IoBackend<'s> for SimulatedDevice<'s> {
    const CARRIES_DATA: bool = false;
    const TAKES_TRIMS: bool = true;

    fn now(&mut self) -> Timestamp {
        Timestamp(self.now)
    }

    fn sleep_until(&mut self, due: Timestamp) {
        self.now = self.now.max(due.0);
    }

    fn compute_until(&mut self, due: Timestamp) {
        self.sleep_until(due);
    }

    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        let Reverse(free) = self.channels.pop().unwrap_or(Reverse(0));
        let start = self.past_stall(free.max(self.now));
        let end = start.saturating_add(self.service(io));
        self.channels.push(Reverse(end));
        let index = slot.index();
        // Equal ends are answered in the order of sending.
        self.flying.push(Reverse((end, self.sent << 16 | index as u64)));
        self.sent += 1;
        self.slots[index] = Some((slot, io.len as i32));
    }

    fn wait(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        if let Some(Reverse((end, _))) = self.flying.peek() {
            let end = until.map_or(*end, |until| until.0.min(*end));
            self.now = self.now.max(end);
        }
        Ok(())
    }

    fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        let Reverse((end, key)) = *self.flying.peek()?;
        if end > self.now {
            return None;
        }
        self.flying.pop();
        self.slots[(key & 0xffff) as usize].take()
    }

    fn flush(&mut self, _how: FlushKind) -> io::Result<()> {
        Ok(())
    }
}
