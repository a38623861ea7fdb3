//! What samples add up to: histograms, tallies, and the live counters of a run.

mod census;
mod change_points;
pub mod copy;
mod costs;
mod cpu_time;
mod depth;
mod drift;
mod halves;
mod heat;
mod histogram;
mod histogram_cells;
mod knee;
mod levels;
mod live;
mod passed;
mod percentile;
mod phantom;
pub mod random;
mod ratio;
mod single;
mod spread;
mod steady;
mod steady_window;
mod tally;

pub use census::{BlockCensus, BlockContent, ContentCounts, divisor};
pub use change_points::change_points;
pub use costs::{CallSizes, ThreadEvents, WorkCosts};
pub use cpu_time::{CpuSpent, CpuTime};
pub use depth::{DepthCounts, DepthReached};
pub use drift::drift;
pub use halves::EvenHalves;
pub use heat::{HeatCounts, HeatRow, HeatRows};
pub use histogram::Histogram;
pub use histogram_cells::{HistogramCell, HistogramCells};
pub use knee::{LoadRate, knee, worth};
pub use levels::{ON_THEIR_SIDE, SIDE, fall};
pub use live::{LiveCounters, LiveReading};
pub use passed::PassedErrors;
pub use percentile::{FEWEST_BEYOND, Percentile};
pub use phantom::PhantomWrites;
pub use random::RandomStream;
pub use ratio::{
    ChangeVerdict, FEWEST, MedianRatio, RatioKnowledge, SMALLEST, cliffs_delta, ratio,
};
pub use single::SingleIo;
pub use spread::{Estimate, mean, median, relative_spread};
pub use steady::{Steadiness, SteadyState};
pub use steady_window::WindowSteadiness;
pub use tally::{
    ActionTally, ActionTotal, IoTimes, Latency, LatencyByAcceptance, LatencyByArrival,
    LatencyParts, LatencySplit,
};
