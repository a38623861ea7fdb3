//! Single reads around a phase: a device that has said done, and works on, answers them late.
//!
//! They lie outside of every timing and of what the rules compare: before the devices are listened to,
//! and after the last edge.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::sys::buffer::Buffer;
use assay_engine::sys::clock;
use assay_engine::sys::close::HeardFile;
use assay_engine::sys::event_loop::Event;
use assay_judge as verdict;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Caching, Durability};
use assay_plan::stats::RandomStream;
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::claim::Preparation;
use assay_record::evidence::Reading;
use assay_record::record::{Aftermath, AftermathRound, SingleReadLatencies};

use super::phase_context::PhaseContext;
use super::prepared_job::PreparedJob;
use super::processes::apart;

/// Reads of a round.
const READS: u64 = 20;
/// Bytes of a read, unless direct I/O wants more.
const BLOCK: u64 = 4096;
/// Between two rounds while the device is slow.
const PAUSE: Nanos = Nanos::millis(500);
/// A device that is slow for longer is waited for no more.
const PATIENCE: Nanos = Nanos::secs(10);

/// Something to look at a device with.
pub(super) struct SingleReader {
    path: String,
    before: Reading<SingleReadLatencies>,
    eye: Option<ProbedFile>,
}

/// The open file, and where in it data of this run stood before the phase.
struct ProbedFile {
    file: HeardFile,
    places: Range<u64>,
    block: u64,
    random: RandomStream,
    /// Of a round.
    time: Nanos,
}

impl PhaseContext<'_> {
    /// Looks before a phase that wants it; `None` where it does not, or works on no file or device.
    pub(super) fn look_before(&mut self, ready: &[PreparedJob]) -> Option<SingleReader> {
        let job = ready.iter().find(|job| !job.open_targets.is_empty())?;
        if self.phase.aftermath == Nanos::ZERO {
            return None;
        }
        let mut eye = match self.eye(job) {
            Ok(eye) => eye,
            Err(why) => {
                let (path, before) = (job.label.clone(), Reading::Unseen(why));
                return Some(SingleReader { path, before, eye: None });
            }
        };
        let before = self.round(&mut eye);
        Some(SingleReader { path: job.label.clone(), before, eye: Some(eye) })
    }

    /// Looks after it, again and again as long as the device is slow. What is still in memory (`left`)
    /// would have to be written before it is read past the page cache: then nothing is looked at.
    pub(super) fn look_after(&mut self, prober: SingleReader, left: bool) -> Aftermath {
        let SingleReader { path, before, eye } = prober;
        let (mut after, ended) = (Vec::new(), clock::now());
        let usual = before.seen().copied().filter(|_| !left);
        let (Some(mut eye), Some(usual)) = (eye, usual) else {
            return Aftermath { path, before, after };
        };
        while self.signal.is_none() {
            let since_end_ns = clock::now().since(ended);
            let Reading::Seen(reads) = self.round(&mut eye) else { break };
            after.push(AftermathRound { since_end_ns, reads });
            if !verdict::slower(&usual, &reads) || since_end_ns >= PATIENCE {
                break;
            }
            self.observer.preparing(self.phase, Preparation::AwaitingDevice);
            self.pause();
        }
        Aftermath { path, before, after }
    }

    fn pause(&mut self) {
        let until = clock::now() + PAUSE;
        while self.signal.is_none() && clock::now() < until {
            if let Event::Signal(came) = self.event_loop.wait(until.since(clock::now())) {
                *self.signal = Some(came);
            }
        }
    }

    /// An eye on the first file of a job, or why there is none.
    fn eye(&self, job: &PreparedJob) -> Result<ProbedFile, String> {
        let open_target = &self.open_targets[job.open_targets[0]];
        let direct =
            self.resolved.subjects.get(open_target.subject).and_then(|on| on.direct.seen());
        let Some(direct) = direct.filter(|direct| direct.real() == Some(true)) else {
            return Err("single reads: no direct I/O here, memory would answer them".into());
        };
        let align = direct.align.map_or(0, |align| u64::from(align.offset));
        let (block, places) = (BLOCK.max(align), open_target.written.longest());
        if places.end - places.start < block * READS {
            return Err("single reads: nothing of this run stood there before the phase".into());
        }
        let file = open_target.again(false, Caching::Direct, Durability::None);
        let file = file.map_err(|fault| fault.to_string())?;
        let random = RandomStream::new(self.plan.seed ^ self.number as u64);
        Ok(ProbedFile { file, places, block, random, time: self.phase.aftermath })
    }

    /// One round, in a thread of its own: a device may hang.
    fn round(&mut self, eye: &mut ProbedFile) -> Reading<SingleReadLatencies> {
        let halt = AtomicBool::new(self.signal.is_some());
        let times = apart(self.event_loop, self.signal, &halt, || eye.look(&halt));
        match times.map(|times| SingleReadLatencies::of(&times)) {
            Ok(Some(reads)) => Reading::Seen(reads),
            Ok(None) => Reading::Unseen("single reads: interrupted".into()),
            Err(fault) => Reading::Unseen(fault.to_string()),
        }
    }
}

impl ProbedFile {
    /// The times of some reads here and there, spread over the time of a round.
    fn look(&mut self, halt: &AtomicBool) -> Result<Vec<Nanos>, Fault> {
        let fault =
            |error: &std::io::Error| Fault::new(Doing::Read, "for a look at the device", error);
        let mut buffer = Buffer::new(self.block as usize).map_err(|error| fault(&error))?;
        let mut times = Vec::with_capacity(READS as usize);
        let first = self.places.start.div_ceil(self.block);
        let blocks = self.places.end / self.block - first;
        let began = clock::now();
        for number in 0..READS {
            sleep(began + Nanos(self.time.0 / READS * number), halt);
            if halt.load(Ordering::Relaxed) {
                break;
            }
            let at = (first + self.random.below(blocks)) * self.block;
            let sent = clock::now();
            rustix::io::pread(&self.file, &mut *buffer, at)
                .map_err(|error| fault(&error.into()))?;
            times.push(clock::now().since(sent));
        }
        Ok(times)
    }
}

/// Sleeps until then, in steps after which `halt` is looked at.
fn sleep(until: Timestamp, halt: &AtomicBool) {
    while clock::now() < until && !halt.load(Ordering::Relaxed) {
        clock::sleep_until(until.min(clock::now() + Nanos::millis(20)));
    }
}
