//! A sweep as a picture: curves of its sides over one thing, or a table for each side over two.

use super::super::figure::megabytes;
use super::{
    Curves, FigureLook, HeatCell, HeatTable, LineForm, Picture, PlotAxis, PlotKind, PlotMark,
    PlotPoint, PlotSeries, SHOWN,
};
use super::{Tone, most, told};
use assay_judge::sweep::{CellResult, GOOD_ENOUGH, SweepView};
use assay_plan::plan;
use assay_record::record::SweepSide;
use assay_record::words::say;

pub fn pictures(sweep: &SweepView) -> Vec<Picture> {
    match sweep.aim.over.as_slice() {
        [down, across] => {
            sweep.sides().into_iter().map(|side| grid(sweep, side, *down, *across)).collect()
        }
        [axis] => vec![curves(sweep, *axis)],
        _ => Vec::new(),
    }
}

fn title(axis: plan::SweepAxis) -> &'static str {
    match axis {
        plan::SweepAxis::Block => "size of an I/O",
        plan::SweepAxis::Depth => "I/Os in flight of each worker",
        plan::SweepAxis::Workers => "workers",
        plan::SweepAxis::Reads => "share of reads",
    }
}

fn curves(sweep: &SweepView, axis: plan::SweepAxis) -> Picture {
    let values = sweep.values(axis);
    let named = values.iter().map(|value| (*value as f64, axis.shown(*value)));
    let figures = sweep.params_of_cells.iter().filter_map(figure);
    let across = PlotAxis::doubling(title(axis), named.collect());
    let up = PlotAxis::from_zero("MB/s", most(figures));
    let sides = sweep.sides();
    let series = sides.iter().map(|side| one_side(sweep, *side, axis)).collect();
    let mut signs: Vec<PlotMark> =
        sides.iter().filter_map(|side| plateau(sweep, *side, axis, across.high)).collect();
    signs.extend(absent(sweep, axis));
    let names: Vec<&str> = sides.iter().map(|side| side.name()).collect();
    Picture {
        title: format!("{} rate over {}", names.join(" and "), title(axis)),
        half: false,
        plot: PlotKind::Curves(Curves { across, up, series, signs }),
    }
}

/// MB/s of a cell, and whether they may be believed.
fn figure(placed: &CellResult) -> Option<(FigureLook, f64)> {
    Some((FigureLook::of(placed.trust()), placed.bandwidth()?.mb()))
}

fn one_side(sweep: &SweepView, side: SweepSide, axis: plan::SweepAxis) -> PlotSeries {
    let points =
        sweep.params_of_cells.iter().filter(|placed| placed.side == side).filter_map(|placed| {
            let rate = placed.bandwidth()?;
            let value = placed.cell_params.on(axis);
            let what = format!("{} at {}", side.name(), axis.shown(value));
            let figure = format!("{rate}{}", if placed.cut() { ", cut by its time" } else { "" });
            Some(PlotPoint {
                x: value as f64,
                y: rate.mb(),
                look: FigureLook::of(placed.trust()),
                told: told(&what, &figure, placed.done),
            })
        });
    let mut points: Vec<PlotPoint> = points.collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    PlotSeries {
        name: side.name().into(),
        tone: Tone::of_side(side),
        form: LineForm::Marks,
        points,
    }
}

/// From where on a side gives nine tenths of its best.
fn plateau(
    sweep: &SweepView,
    side: SweepSide,
    axis: plan::SweepAxis,
    end: f64,
) -> Option<PlotMark> {
    let plateau = sweep.plateau(side)?;
    let from = sweep.spot_of(&plateau.from)?.on(axis) as f64;
    let best = plateau.bandwidth.mb();
    let tone = Tone::of_side(side);
    let name = "90 % of the best or more".into();
    Some(PlotMark::Field { tone, name, x: (from, end), y: (best * GOOD_ENOUGH, best) })
}

/// The values at which no side has a cell that could be done.
fn absent(sweep: &SweepView, axis: plan::SweepAxis) -> Vec<PlotMark> {
    let left_out = |value: &u64| {
        let mut there =
            sweep.params_of_cells.iter().filter(|placed| placed.cell_params.on(axis) == *value);
        let why = there.clone().find_map(|placed| placed.left_out.as_ref().map(say))?;
        there.all(|placed| placed.left_out.is_some()).then_some(why)
    };
    let sign = |value: u64| Some(PlotMark::Absent { x: value as f64, told: left_out(&value)? });
    sweep.values(axis).into_iter().filter_map(sign).collect()
}

fn grid(
    sweep: &SweepView,
    side: SweepSide,
    down: plan::SweepAxis,
    across: plan::SweepAxis,
) -> Picture {
    let most =
        most(sweep.params_of_cells.iter().filter(|cell| cell.side == side).filter_map(figure));
    let named = |axis: plan::SweepAxis| {
        let values = sweep.values(axis).into_iter();
        (title(axis).to_string(), values.map(|value| axis.shown(value)).collect::<Vec<_>>())
    };
    let row = |row: u64| {
        let columns = sweep.values(across).into_iter();
        columns.map(|column| Some(cell(sweep.at(side, &[row, column])?, most))).collect()
    };
    let cells = sweep.values(down).into_iter().map(row).collect();
    let heat =
        HeatTable { down: named(down), across: named(across), tone: Tone::of_side(side), cells };
    Picture { title: format!("{}, MB/s", side.name()), half: false, plot: PlotKind::Heat(heat) }
}

fn cell(placed: &CellResult, most: f64) -> HeatCell {
    let what = placed.planned.name.as_str();
    if let Some(why) = &placed.left_out {
        let told = format!("{what}: {}", say(why));
        return HeatCell { share: 0.0, text: "n/a".into(), look: FigureLook::Firm, told };
    }
    let Some(rate) = placed.bandwidth().filter(|_| most > 0.0) else {
        let told = format!("{what}: no figure");
        return HeatCell { share: 0.0, text: "-".into(), look: FigureLook::Firm, told };
    };
    let look = FigureLook::of(placed.trust());
    let mark = match look {
        FigureLook::Struck => SHOWN.glyph(" ✗", " x"),
        FigureLook::Hollow => " ?",
        FigureLook::Firm if placed.cut() => " *",
        FigureLook::Firm => "",
    };
    let text = format!("{}{mark}", megabytes(Some(rate)));
    HeatCell {
        share: (rate.mb() / most).min(1.0),
        text,
        look,
        told: told(what, &rate.to_string(), placed.done),
    }
}
