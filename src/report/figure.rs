//! Figures as a person reads them: three significant digits, the unit always named.

use super::TerminalStyle;
use assay_plan::stats::Estimate;
use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos};
use assay_record::record::{Figure, FigureUnit};
use assay_record::words::Voice;

/// Three significant digits down to 0.001: 4190, 419, 41.9, 4.19, 0.419, 0.0419.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".into();
    }
    let decimals = match size {
        0.0 => 0,
        s if s < 0.009_995 => 5,
        s if s < 0.099_95 => 4,
        s if s < 0.999_5 => 3,
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A rate in MB (10^6 bytes) per second, without the unit: the column names it.
pub fn megabytes(rate: Option<Bandwidth>) -> String {
    rate.map_or_else(|| "-".into(), |rate| digits(rate.mb()))
}

/// A time in the unit that leaves at least one before the point.
pub fn time(time: Nanos, style: TerminalStyle) -> String {
    style.voice().say(&time)
}

/// The text of a figure in the unit of its column; `-` where it is absent.
pub fn text(figure: Option<&Figure>, style: TerminalStyle) -> String {
    let known = figure.and_then(|figure| Some((figure.known()?, figure.unit)));
    known.map_or_else(|| "-".into(), |(value, unit)| text_of(value, unit, style))
}

/// A number in the unit of its column.
pub fn text_of(value: f64, unit: FigureUnit, style: TerminalStyle) -> String {
    match unit {
        FigureUnit::BytesPerSecond => megabytes(Some(Bandwidth(value))),
        FigureUnit::OperationsPerSecond => Iops(value).to_string(),
        FigureUnit::Ns => time(Nanos(value.round() as u64), style),
        FigureUnit::Share => spread(value, style),
        FigureUnit::Operations => format!("{value:.0}"),
        FigureUnit::Bytes => Bytes(value as u64).to_string(),
    }
}

/// A relative spread: `±3 %`, `±0.4 %`.
pub fn spread(share: f64, style: TerminalStyle) -> String {
    let percent = share * 100.0;
    let sign = style.glyph("±", "+-");
    if percent < 0.95 { format!("{sign}{percent:.1}%") } else { format!("{sign}{percent:.0}%") }
}

/// `4.19 MB/s (4.10 to 4.25)`; the range only when it is one.
pub fn estimate(estimate: &Estimate, voice: Voice) -> String {
    let shown = |rate: f64| voice.say(&Bandwidth(rate));
    let (value, low, high) = (shown(estimate.value), shown(estimate.low), shown(estimate.high));
    if low == high {
        return value;
    }
    let [unit, one, other] = [&value, &low, &high].map(|text| text.split_once(' '));
    match (unit, one, other) {
        (Some((_, unit)), Some((low, one)), Some((high, other))) if [one, other] == [unit; 2] => {
            format!("{value} ({low} to {high})")
        }
        _ => format!("{value} ({low} to {high})"),
    }
}

/// A whole number of seconds as a person says it: `31 s`, `4 min 10 s`, `2 h 5 min`.
pub fn duration(time: Nanos) -> String {
    let seconds = time.as_secs().round() as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.041_94, "0.0419"),
            (0.943, "0.943"),
            (4.194_304, "4.19"),
            (9.999, "10.0"),
            (16.78, "16.8"),
            (4190.0, "4190"),
        ] {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn durations_are_said_as_people_do() {
        assert_eq!(duration(Nanos::secs(31)), "31 s");
        assert_eq!(duration(Nanos::secs(250)), "4 min 10 s");
        assert_eq!(duration(Nanos::secs(7500)), "2 h 5 min");
    }
}
