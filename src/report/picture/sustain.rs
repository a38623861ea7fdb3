//! What a device keeps up, as a picture: the rate over the time, the cliff, and the rounds in which it
//! was steady.

use super::super::figure::duration;
use super::{
    Curves, FigureLook, LineForm, Picture, PlotAxis, PlotKind, PlotMark, PlotPoint, PlotSeries,
    Tone,
};
use assay_judge::sustain::SustainedView;
use assay_plan::unit::{Bandwidth, Nanos};
use assay_record::record::{Record, WrittenSpan};

/// The picture; none where nothing was written.
pub fn pictures(record: &Record) -> Vec<Picture> {
    let Some(found) = SustainedView::of(record) else { return Vec::new() };
    let rates = found.intervals.iter().map(|interval| Bandwidth(interval.rate()).mb());
    let most = rates.fold(0.0, f64::max);
    let end = found.all().time.as_secs();
    let series = PlotSeries {
        name: "written".into(),
        tone: Tone::Write,
        form: LineForm::Line,
        points: points(&found.intervals, FigureLook::of_phase(found.phase)),
    };
    let mut signs = Vec::new();
    if let Some(burst) = found.burst {
        let text = format!("cliff after {}, {}", burst.bytes, duration(burst.time));
        signs.push(PlotMark::At { x: burst.time.as_secs(), text });
    }
    if let Some((state, after)) = found.steady {
        let lasts = Bandwidth(state.mean);
        signs.push(PlotMark::Level { y: lasts.mb(), text: format!("{lasts} lasts") });
        signs.push(PlotMark::At { x: after.as_secs(), text: "steady".into() });
    }
    let across = PlotAxis::until("seconds", end);
    let up = PlotAxis::from_zero("MB/s", most);
    let curves = Curves { across, up, series: vec![series], signs };
    let title = "rate over time".into();
    vec![Picture { title, half: false, plot: PlotKind::Curves(curves) }]
}

/// Each interval as a level from its begin to its end.
fn points(intervals: &[WrittenSpan], look: FigureLook) -> Vec<PlotPoint> {
    let mut points = Vec::new();
    let mut from = Nanos::ZERO;
    for interval in intervals {
        let to = from + interval.time;
        let y = Bandwidth(interval.rate()).mb();
        points.extend([from, to].map(|at| PlotPoint {
            x: at.as_secs(),
            y,
            look,
            ..PlotPoint::default()
        }));
        from = to;
    }
    points
}
