//! Charts of a few lines: bars that lie, and columns that stand. Both are drawn from zero.
//!
//! Crates that draw in terminals use Braille or colours; these pages must be readable in plain
//! ASCII, in a file and in a mail.

use super::TerminalStyle;

/// A bar of at most `width` columns for this share (0 to 1) of the largest value. What is more than
/// nothing shows.
pub fn bar(share: f64, width: usize, style: TerminalStyle) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    if !style.unicode {
        let columns = (eighths + 4) / 8;
        return "#".repeat(columns.max(usize::from(share > 0.0)));
    }
    let eighths = eighths.max(usize::from(share > 0.0));
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Two bars in one line, one above the other, of at most `width` columns for these shares (0 to 1) of
/// the largest value. In plain characters `upper` and `lower` stand where only one of them reaches.
pub fn two_bars(
    shares: (f64, f64),
    width: usize,
    (upper, lower): (char, char),
    style: TerminalStyle,
) -> String {
    let columns = |share: f64| {
        let columns = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
        columns.max(usize::from(share > 0.0))
    };
    let (above, below) = (columns(shares.0), columns(shares.1));
    let (both, above_only, below_only) =
        if style.unicode { ('█', '▀', '▄') } else { ('#', upper, lower) };
    let column = |at: usize| match (at < above, at < below) {
        (true, true) => both,
        (true, false) => above_only,
        _ => below_only,
    };
    (0..above.max(below)).map(column).collect()
}

/// How much of the largest value a share (0 to 1) is, in one character, and its level from 0 to 4.
pub fn shade(share: f64, style: TerminalStyle) -> (usize, char) {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    const ASCII: [char; 5] = [' ', '.', ':', '+', '#'];
    let level = ((share.clamp(0.0, 1.0) * 5.0).ceil() as usize).saturating_sub(1);
    (level, if style.unicode { SHADES[level] } else { ASCII[level] })
}

/// Columns for the values, `height` lines from the top down; none is higher than `most`.
pub fn columns(values: &[f64], most: f64, height: usize, style: TerminalStyle) -> Vec<String> {
    const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let level = |value: f64| {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        let eighths = (share * height as f64 * 8.0).round() as usize;
        if style.unicode { eighths.max(usize::from(value > 0.0)) } else { (eighths + 4) / 8 * 8 }
    };
    let line = |row: usize| {
        let below = row * 8;
        let cell = |value: &f64| {
            let part = level(*value).saturating_sub(below).min(8);
            if style.unicode {
                EIGHTHS[part]
            } else if part > 0 {
                "#"
            } else {
                " "
            }
        };
        values.iter().map(cell).collect::<String>().trim_end().to_string()
    };
    (0..height).rev().map(line).collect()
}

/// Dots at these places of an area of so many columns and lines, from the top down; places are shares
/// (0 to 1) from the left and from below, and what is beyond stands at the edge. The
/// more of the most on one place fall on it, the larger its dot.
pub fn dots(
    places: &[(f64, f64)],
    (width, height): (usize, usize),
    style: TerminalStyle,
) -> Vec<String> {
    const DOTS: [char; 4] = [' ', '·', '•', '●'];
    const ASCII: [char; 4] = [' ', '.', 'o', '@'];
    let at = |share: f64, cells: usize| ((share.max(0.0) * cells as f64) as usize).min(cells - 1);
    let mut counts = vec![vec![0_usize; width]; height];
    for (across, up) in places {
        counts[height - 1 - at(*up, height)][at(*across, width)] += 1;
    }
    let most = counts.iter().flatten().copied().max().unwrap_or_default().max(1);
    let dot = |count: &usize| {
        let size = (count * (DOTS.len() - 1)).div_ceil(most);
        if style.unicode { DOTS[size] } else { ASCII[size] }
    };
    let line = |row: &Vec<usize>| row.iter().map(dot).collect::<String>().trim_end().to_string();
    counts.iter().map(line).collect()
}

/// One line for the values, each a mark by its share of `most`, drawn from zero.
pub fn spark(values: &[f64], most: f64, style: TerminalStyle) -> String {
    // Without the full block: the lines of a table would grow together.
    const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];
    const ASCII: [char; 7] = ['_', '.', '-', '~', '=', '*', '#'];
    let marks = if style.unicode { BARS } else { ASCII };
    let mark = |value: &f64| {
        let level = if most > 0.0 { (value / most * 7.0) as usize } else { 0 };
        marks[level.min(6)]
    };
    values.iter().map(mark).collect()
}

/// The values as the means of at most `width` groups of neighbours.
pub fn gathered(values: &[f64], width: usize) -> Vec<f64> {
    let cells = values.len().min(width.max(1));
    (0..cells)
        .map(|cell| {
            let part = &values[cell * values.len() / cells..(cell + 1) * values.len() / cells];
            part.iter().sum::<f64>() / part.len() as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNICODE: TerminalStyle = TerminalStyle { colour: false, unicode: true, width: 90 };

    #[test]
    fn bars_are_as_long_as_their_share() {
        for (share, unicode, ascii) in [
            (0.0, "", ""),
            (0.001, "▏", "#"),
            (0.5, "██", "##"),
            (0.59, "██▍", "##"),
            (1.0, "████", "####"),
            (9.0, "████", "####"),
        ] {
            assert_eq!(bar(share, 4, UNICODE), unicode);
            assert_eq!(bar(share, 4, TerminalStyle::default()), ascii);
        }
    }

    #[test]
    fn two_bars_lie_on_each_other() {
        for (shares, unicode, ascii) in [
            ((0.5, 1.0), "██▄▄", "##rr"),
            ((1.0, 0.25), "█▀▀▀", "#www"),
            ((0.001, 0.0), "▀", "w"),
            ((0.0, 0.0), "", ""),
        ] {
            assert_eq!(two_bars(shares, 4, ('w', 'r'), UNICODE), unicode);
            assert_eq!(two_bars(shares, 4, ('w', 'r'), TerminalStyle::default()), ascii);
        }
    }

    #[test]
    fn dots_stand_where_they_belong() {
        let places =
            [(0.0, 0.0), (0.3, 0.6), (0.3, 0.6), (1.0, 9.0), (1.0, 1.0), (1.0, 0.7), (1.0, 0.8)];
        assert_eq!(dots(&places, (4, 2), UNICODE), [" • ●", "·"]);
        assert_eq!(dots(&places, (4, 2), TerminalStyle::default()), [" o @", "."]);
        assert_eq!(dots(&[], (4, 2), UNICODE), ["", ""]);
    }

    #[test]
    fn shades_have_five_levels() {
        let levels = [0.0, 0.2, 0.21, 0.6, 0.8, 0.81, 1.0].map(|share| shade(share, UNICODE));
        let shown = [(0, ' '), (0, ' '), (1, '░'), (2, '▒'), (3, '▓'), (4, '█'), (4, '█')];
        assert_eq!(levels, shown);
        assert_eq!(shade(1.0, TerminalStyle::default()), (4, '#'));
    }

    #[test]
    fn columns_stand_side_by_side() {
        let values = [4.0, 3.0, 1.0, 0.0, 2.5];
        assert_eq!(columns(&values, 4.0, 2, UNICODE), ["█▄  ▂", "██▄ █"]);
        assert_eq!(columns(&values, 4.0, 2, TerminalStyle::default()), ["##", "### #"]);
        assert_eq!(columns(&[], 0.0, 2, UNICODE), ["", ""]);
    }

    #[test]
    fn a_spark_is_as_high_as_its_share() {
        assert_eq!(spark(&[0.0, 1.0, 3.5, 7.0, 9.0], 7.0, UNICODE), "▁▂▄▇▇");
        assert_eq!(spark(&[0.0, 1.0, 3.5, 7.0], 7.0, TerminalStyle::default()), "_.~#");
        assert_eq!(spark(&[0.0, 0.0], 0.0, TerminalStyle::default()), "__");
    }

    #[test]
    fn many_values_are_gathered() {
        assert_eq!(gathered(&[1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
        assert_eq!(gathered(&[1.0, 3.0], 5), [1.0, 3.0]);
        assert_eq!(gathered(&[], 5), [] as [f64; 0]);
    }
}
