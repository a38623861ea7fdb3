//! Charts of a few lines: bars that lie, and columns that stand. Both are drawn from zero.
//!
//! Crates that draw in terminals use Braille or colours; these pages must be readable in plain
//! ASCII, in a file and in a mail.

use super::Style;

/// A bar of at most `width` columns for this share (0 to 1) of the largest value. What is more than
/// nothing shows.
pub fn bar(share: f64, width: usize, style: Style) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    if !style.unicode {
        let columns = (eighths + 4) / 8;
        return "#".repeat(columns.max(usize::from(share > 0.0)));
    }
    let eighths = eighths.max(usize::from(share > 0.0));
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Columns for the values, `height` lines from the top down; none is higher than `most`.
pub fn columns(values: &[f64], most: f64, height: usize, style: Style) -> Vec<String> {
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

/// One line for the values, each a mark by its share of `most`, drawn from zero.
pub fn spark(values: &[f64], most: f64, style: Style) -> String {
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

    const UNICODE: Style = Style { colour: false, unicode: true, width: 90 };

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
            assert_eq!(bar(share, 4, Style::default()), ascii);
        }
    }

    #[test]
    fn columns_stand_side_by_side() {
        let values = [4.0, 3.0, 1.0, 0.0, 2.5];
        assert_eq!(columns(&values, 4.0, 2, UNICODE), ["█▄  ▂", "██▄ █"]);
        assert_eq!(columns(&values, 4.0, 2, Style::default()), ["##", "### #"]);
        assert_eq!(columns(&[], 0.0, 2, UNICODE), ["", ""]);
    }

    #[test]
    fn a_spark_is_as_high_as_its_share() {
        assert_eq!(spark(&[0.0, 1.0, 3.5, 7.0, 9.0], 7.0, UNICODE), "▁▂▄▇▇");
        assert_eq!(spark(&[0.0, 1.0, 3.5, 7.0], 7.0, Style::default()), "_.~#");
        assert_eq!(spark(&[0.0, 0.0], 0.0, Style::default()), "__");
    }

    #[test]
    fn many_values_are_gathered() {
        assert_eq!(gathered(&[1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
        assert_eq!(gathered(&[1.0, 3.0], 5), [1.0, 3.0]);
        assert_eq!(gathered(&[], 5), [] as [f64; 0]);
    }
}
