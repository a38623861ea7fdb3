//! A sweep as a picture: curves of its sides over one thing, or a table for each side over two.

use super::super::figure::megabytes;
use super::{Axis, Curves, Form, Heat, HeatCell, Look, Picture, Plot, Point, SHOWN, Series, Sign};
use super::{Tone, most, told};
use crate::plan;
use crate::record::{Record, Side};
use crate::verdict::sweep::{GOOD_ENOUGH, Placed, Sweep};

/// The pictures of a sweep; none of a record that has none.
pub fn pictures(record: &Record) -> Vec<Picture> {
    let Some(sweep) = Sweep::of(record) else { return Vec::new() };
    match sweep.aim.over.as_slice() {
        [down, across] => {
            sweep.sides().into_iter().map(|side| grid(&sweep, side, *down, *across)).collect()
        }
        [axis] => vec![curves(&sweep, *axis)],
        _ => Vec::new(),
    }
}

/// What an axis counts.
fn title(axis: plan::Axis) -> &'static str {
    match axis {
        plan::Axis::Block => "size of an I/O",
        plan::Axis::Depth => "I/Os in flight of each worker",
        plan::Axis::Workers => "workers",
        plan::Axis::Reads => "share of reads",
    }
}

fn curves(sweep: &Sweep, axis: plan::Axis) -> Picture {
    let values = sweep.values(axis);
    let named = values.iter().map(|value| (*value as f64, axis.shown(*value)));
    let figures = sweep.spots.iter().filter_map(figure);
    let across = Axis::doubling(title(axis), named.collect());
    let up = Axis::from_zero("MB/s", most(figures));
    let sides = sweep.sides();
    let series = sides.iter().map(|side| one_side(sweep, *side, axis)).collect();
    let mut signs: Vec<Sign> =
        sides.iter().filter_map(|side| plateau(sweep, *side, axis, across.high)).collect();
    signs.extend(absent(sweep, axis));
    let names: Vec<&str> = sides.iter().map(|side| side.name()).collect();
    Picture {
        title: format!("{} rate over {}", names.join(" and "), title(axis)),
        half: false,
        plot: Plot::Curves(Curves { across, up, series, signs }),
    }
}

/// MB/s of a cell, and whether they may be believed.
fn figure(placed: &Placed) -> Option<(Look, f64)> {
    Some((Look::of(placed.trust()), placed.bandwidth()?.mb()))
}

fn one_side(sweep: &Sweep, side: Side, axis: plan::Axis) -> Series {
    let points = sweep.spots.iter().filter(|placed| placed.side == side).filter_map(|placed| {
        let rate = placed.bandwidth()?;
        let value = placed.spot.on(axis);
        let what = format!("{} at {}", side.name(), axis.shown(value));
        let figure = format!("{rate}{}", if placed.cut() { ", cut by its time" } else { "" });
        Some(Point {
            x: value as f64,
            y: rate.mb(),
            look: Look::of(placed.trust()),
            told: told(&what, &figure, placed.done),
        })
    });
    let mut points: Vec<Point> = points.collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Series { name: side.name().into(), tone: Tone::of_side(side), form: Form::Marks, points }
}

/// From where on a side gives nine tenths of its best.
fn plateau(sweep: &Sweep, side: Side, axis: plan::Axis, end: f64) -> Option<Sign> {
    let plateau = sweep.plateau(side)?;
    let from = sweep.spot_of(&plateau.from)?.on(axis) as f64;
    let best = plateau.bandwidth.mb();
    let tone = Tone::of_side(side);
    let name = "90 % of the best or more".into();
    Some(Sign::Field { tone, name, x: (from, end), y: (best * GOOD_ENOUGH, best) })
}

/// The values at which no side has a cell that could be done.
fn absent(sweep: &Sweep, axis: plan::Axis) -> Vec<Sign> {
    let left_out = |value: &u64| {
        let mut there = sweep.spots.iter().filter(|placed| placed.spot.on(axis) == *value);
        let why = there.clone().find_map(|placed| placed.left_out.clone())?;
        there.all(|placed| placed.left_out.is_some()).then_some(why)
    };
    let sign = |value: u64| Some(Sign::Absent { x: value as f64, told: left_out(&value)? });
    sweep.values(axis).into_iter().filter_map(sign).collect()
}

fn grid(sweep: &Sweep, side: Side, down: plan::Axis, across: plan::Axis) -> Picture {
    let most = most(sweep.spots.iter().filter(|cell| cell.side == side).filter_map(figure));
    let named = |axis: plan::Axis| {
        let values = sweep.values(axis).into_iter();
        (title(axis).to_string(), values.map(|value| axis.shown(value)).collect::<Vec<_>>())
    };
    let row = |row: u64| {
        let columns = sweep.values(across).into_iter();
        columns.map(|column| Some(cell(sweep.at(side, &[row, column])?, most))).collect()
    };
    let cells = sweep.values(down).into_iter().map(row).collect();
    let heat = Heat { down: named(down), across: named(across), tone: Tone::of_side(side), cells };
    Picture { title: format!("{}, MB/s", side.name()), half: false, plot: Plot::Heat(heat) }
}

fn cell(placed: &Placed, most: f64) -> HeatCell {
    let what = placed.planned.name.as_str();
    if let Some(why) = &placed.left_out {
        let told = format!("{what}: {why}");
        return HeatCell { share: 0.0, text: "n/a".into(), look: Look::Firm, told };
    }
    let Some(rate) = placed.bandwidth().filter(|_| most > 0.0) else {
        let told = format!("{what}: no figure");
        return HeatCell { share: 0.0, text: "-".into(), look: Look::Firm, told };
    };
    let look = Look::of(placed.trust());
    let mark = match look {
        Look::Struck => SHOWN.glyph(" ✗", " x"),
        Look::Hollow => " ?",
        Look::Firm if placed.cut() => " *",
        Look::Firm => "",
    };
    let text = format!("{}{mark}", megabytes(Some(rate)));
    HeatCell {
        share: (rate.mb() / most).min(1.0),
        text,
        look,
        told: told(what, &rate.to_string(), placed.done),
    }
}
