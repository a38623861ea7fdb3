//! What a device keeps up, as a picture: the rate over the time, the cliff, and the rounds in which it
//! was steady.

use super::super::figure::duration;
use super::{Axis, Curves, Form, Look, Picture, Plot, Point, Series, Sign, Tone};
use crate::record::{Record, Stretch};
use crate::unit::{Bandwidth, Nanos};
use crate::verdict::sustain::Sustained;

/// The picture; none of a record with another aim.
pub fn pictures(record: &Record) -> Vec<Picture> {
    let Some(found) = Sustained::of(record) else { return Vec::new() };
    let rates = found.intervals.iter().map(|interval| Bandwidth(interval.rate()).mb());
    let most = rates.fold(0.0, f64::max);
    let end = found.all().time.as_secs();
    let series = Series {
        name: "written".into(),
        tone: Tone::Write,
        form: Form::Line,
        points: points(&found.intervals, Look::of_phase(found.phase)),
    };
    let mut signs = Vec::new();
    if let Some(burst) = found.burst {
        let text = format!("cliff after {}, {}", burst.bytes, duration(burst.time));
        signs.push(Sign::At { x: burst.time.as_secs(), text });
    }
    if let Some((state, after)) = found.steady {
        let lasts = Bandwidth(state.mean);
        signs.push(Sign::Level { y: lasts.mb(), text: format!("{lasts} lasts") });
        signs.push(Sign::At { x: after.as_secs(), text: "steady".into() });
    }
    let across = Axis::until("seconds", end);
    let up = Axis::from_zero("MB/s", most);
    let curves = Curves { across, up, series: vec![series], signs };
    let title = "rate over time".into();
    vec![Picture { title, half: false, plot: Plot::Curves(curves) }]
}

/// Each interval as a level from its begin to its end.
fn points(intervals: &[Stretch], look: Look) -> Vec<Point> {
    let mut points = Vec::new();
    let mut from = Nanos::ZERO;
    for interval in intervals {
        let to = from + interval.time;
        let y = Bandwidth(interval.rate()).mb();
        points.extend([from, to].map(|at| Point { x: at.as_secs(), y, look, ..Point::default() }));
        from = to;
    }
    points
}
