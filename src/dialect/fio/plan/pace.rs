//! How fast a job is done, and until when.

use super::target::FioRegion;
use crate::dialect::fio::job::{
    FioAmount, FioDirection, FioJob, FioRateProcess, FioSubmitMode, refused,
};
use assay_plan::error::Refusal;
use assay_plan::plan::{
    Arrivals, Balance, Cap, Caps, ComputeTime, Rate, RestTime, SteadyWindow, StopLimit, StopRule,
};
use assay_plan::unit::{Bytes, Nanos, Ops};

impl FioJob {
    pub(super) fn rate(&self) -> Result<Rate, Refusal> {
        let caps = Caps {
            read: self.cap(FioDirection::Read),
            write: self.cap(FioDirection::Write),
            trim: self.cap(FioDirection::Trim),
            ..Caps::NONE
        };
        let cycles = u64::from(self.pace.thinkcycles);
        let compute = ComputeTime { time: Nanos::ZERO, cycles, every: 1, idle: false };
        let compute = (cycles > 0).then_some(compute);
        let rate = Rate { rest: self.rest(), compute, ..Rate::CLOSED };
        let linear = self.pace.rate_process == FioRateProcess::Linear;
        let offload = self.counts_from_due();
        if caps == Caps::NONE {
            return Ok(rate);
        }
        if linear && !offload {
            return Ok(Rate { caps: Caps { catch_up: true, ..caps }, ..rate });
        }
        let rw = self.pattern.rw;
        let several =
            [rw.reads(), rw.writes(), rw.trims()].iter().filter(|does| **does).count() > 1;
        if several && !linear {
            return Ok(Rate { caps: Caps { catch_up: true, poisson: true, ..caps }, ..rate });
        }
        if several {
            return Err(refused(
                self,
                "io_submit_mode",
                "I/Os of two directions that arrive at times of their own are not done here",
                "give each direction a job of its own",
            ));
        }
        let iops = self.arrivals(if rw.reads() {
            FioDirection::Read
        } else if rw.writes() {
            FioDirection::Write
        } else {
            FioDirection::Trim
        });
        let arrivals = if linear { Arrivals::Even { iops } } else { Arrivals::Poisson { iops } };
        Ok(Rate { arrivals: Some(arrivals), ..rate })
    }

    /// Whether its latency counts from when an I/O was due: others send it, who may be late.
    pub(in crate::dialect::fio) fn counts_from_due(&self) -> bool {
        self.queue.submit_mode == FioSubmitMode::Offload
    }

    /// The cap of a direction, where the job moves anything in it.
    fn cap(&self, direction: FioDirection) -> Cap {
        let rw = self.pattern.rw;
        let does = match direction {
            FioDirection::Read => rw.reads(),
            FioDirection::Write => rw.writes(),
            FioDirection::Trim => rw.trims(),
        };
        if !does {
            return Cap::NONE;
        }
        let bandwidth = *self.pace.rate.of(direction);
        let iops = *self.pace.rate_iops.of(direction);
        Cap {
            bandwidth: (bandwidth > 0).then_some(Bytes(bandwidth)),
            iops: (iops > 0).then_some(iops.into()),
        }
    }

    /// I/Os per second of a rate.
    fn arrivals(&self, direction: FioDirection) -> f64 {
        match *self.pace.rate_iops.of(direction) {
            0 => {
                *self.pace.rate.of(direction) as f64
                    / (*self.pattern.bs.of(direction)).max(1) as f64
            }
            iops => iops.into(),
        }
    }

    /// A rest after so many I/Os, after so long, or both.
    fn rest(&self) -> Option<RestTime> {
        let pace = &self.pace;
        let (time, after) = (Nanos::from(pace.thinktime), Nanos::from(pace.thinktime_iotime));
        // The usual count does not go with a time.
        let counts = after == Nanos::ZERO || self.is_set("thinktime_blocks");
        (time > Nanos::ZERO).then(|| RestTime {
            time,
            busy: Nanos::from(pace.thinktime_spin).min(time),
            every: if counts { pace.thinktime_blocks.max(1) } else { 0 },
            after,
            uncapped: pace.rate_ignore_thinktime,
            ..RestTime::default()
        })
    }

    /// Jobs of a flow keep step.
    pub(super) fn balance(&self) -> Option<Balance> {
        let weight = self.pace.flow;
        (weight > 0).then_some(Balance { group: self.pace.flow_id, weight })
    }

    /// The steady state that ends it.
    fn steady_window(&self) -> Option<SteadyWindow> {
        let schedule = &self.schedule;
        let limit = &schedule.steadystate;
        let (figure, by) = limit.criterion.watched();
        let rounds = self.steady_rounds();
        (rounds > 0).then_some(SteadyWindow {
            figure,
            by,
            below: limit.limit,
            percent: limit.percent,
            round: Nanos::from(schedule.steadystate_check_interval),
            rounds,
            after: Nanos::from(schedule.steadystate_ramp_time),
            group: schedule.group_reporting.then_some(self.group),
        })
    }

    /// The rounds of the window of its steady state; 0 without one.
    pub(in crate::dialect::fio) fn steady_rounds(&self) -> u32 {
        let (duration, round) =
            (self.schedule.steadystate_duration, self.schedule.steadystate_check_interval);
        duration.as_millis().checked_div(round.as_millis()).map_or(0, |rounds| rounds as u32)
    }

    /// What all of its passes move: one for each loop, and more of them until it is `io_size` (`keep_running` in
    /// backend.c), where what is read back between the writes counts, too.
    fn bytes_of_passes(&self, place: &FioRegion) -> Result<u64, Refusal> {
        let loops = u64::from(self.schedule.loops.max(1));
        let asked = match self.target.io_size {
            None | Some(FioAmount::Bytes(0)) => return Ok(place.bytes.saturating_mul(loops)),
            Some(size) => self.amount("io_size", size, place.region)?,
        };
        let pattern = &self.pattern;
        let pass = match pattern.rw.random() && pattern.norandommap {
            true => asked,
            false => self.bytes_of_pass(place).min(asked),
        };
        let verified = self.reads_back_between() || self.reads_back_each_pass();
        let counted = if verified { pass.saturating_mul(2) } else { pass };
        // Less than a block is not begun.
        let largest = pattern.max_bs.iter().copied().max().unwrap_or_default().max(1);
        let passes = (asked.saturating_sub(largest) + 1).div_ceil(counted.max(1)).max(loops);
        Ok(passes.saturating_mul(pass))
    }

    /// What one pass over its region moves. One with gaps goes on from the beginning where the file ends, and ends where
    /// its region does before that.
    fn bytes_of_pass(&self, place: &FioRegion) -> u64 {
        let pattern = &self.pattern;
        let (block, gap) = (pattern.bs.write.max(pattern.bs.read), pattern.sequence_gap);
        let holed = !pattern.rw.random() && gap > 0 && pattern.one_block_size() && place.files == 1;
        let ends_before = place.offset > 0 || place.file_end.is_some();
        match holed && ends_before && place.region >= block {
            true => ((place.region - block) / block.saturating_add_signed(gap).max(1) + 1) * block,
            false => place.region,
        }
    }

    /// Whether only time ends it.
    pub(super) fn is_endless(&self) -> bool {
        self.schedule.time_based && !self.schedule.runtime.is_zero()
    }

    /// Until when a clone works; `drawn`: its blocks are a sequence drawn from seeds.
    pub(super) fn stop_of(&self, place: &FioRegion, drawn: bool) -> Result<StopRule, Refusal> {
        let schedule = &self.schedule;
        if self.target.create_only {
            // Its files are laid out before it begins, and that is all.
            return Ok(StopRule::until([StopLimit::Ops(Ops(1))]));
        }
        let time = Nanos::from(schedule.runtime);
        let endless = self.is_endless();
        // What is trimmed and then written is counted twice.
        let twice = if self.pattern.rw.trims() && self.pattern.rw.writes() { 2 } else { 1 };
        // A sequence of blocks ends by itself, with a whole one.
        let bytes = self.bytes_of_passes(place)?.saturating_mul(twice);
        let largest = self.pattern.max_bs.iter().copied().max().unwrap_or_default().max(1);
        let whole = self.pattern.min_bs.iter().all(|least| *least == largest)
            && bytes.is_multiple_of(largest);
        let bytes = if drawn && !whole { bytes.saturating_add(largest) } else { bytes };
        let passes = match endless || place.bytes != place.region {
            true => u32::MAX,
            false => schedule.loops.max(1),
        };
        let limits = [
            Some(StopLimit::Passes(passes)),
            (!endless && bytes > 0).then_some(StopLimit::Bytes(Bytes(bytes))),
            (time > Nanos::ZERO).then_some(StopLimit::Time(time)),
            self.target.fill_device.then_some(StopLimit::Full),
            (self.target.number_ios > 0)
                .then_some(StopLimit::Ops(Ops(self.target.number_ios.saturating_mul(twice)))),
            self.steady_window().map(StopLimit::SteadyWindow),
        ];
        Ok(StopRule {
            ramp: Nanos::from(schedule.ramp_time),
            ramp_bytes: Bytes(schedule.ramp_size),
            ..StopRule::until(limits.into_iter().flatten())
        })
    }
}
