//! What samples add up to: histograms, tallies, and the live counters of a run.

mod census;
pub mod copy;
mod depth;
mod each;
mod gauge;
mod heat;
mod histogram;
mod knee;
mod levels;
pub(crate) mod random;
mod ratio;
mod spread;
mod steady;
mod tally;

pub use census::{Census, Content, Held};
pub use depth::{DepthReached, Depths};
pub use each::Single;
pub use gauge::{Gauge, GaugeReading};
pub use heat::{Heat, HeatRow, HeatRows};
pub use histogram::{Cell, Histogram};
pub use knee::{Rung, knee, worth};
pub use levels::{ON_THEIR_SIDE, SIDE, fall};
pub use ratio::{Change, FEWEST, Ratio, SMALLEST, Sure, ratio};
pub use spread::{Estimate, mean, median, relative_spread};
pub use steady::{Steadiness, SteadyState};
pub use tally::{Latency, Moments, Parts, Split, Tally, Total};
