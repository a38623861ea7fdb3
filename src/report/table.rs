//! Tables as values: what is measured says which table there is, a format says how it is written.

use std::io::{self, Write};

use super::TerminalStyle;
use super::figure::{estimate, text_of};
use assay_plan::name;
use assay_plan::stats::Estimate;
use assay_record::record::{Absence, Figure, FigureUnit, FigureValue, MeasuredSubject, Trust};

#[derive(Clone, Debug, PartialEq)]
pub struct ReportTable {
    /// What its cells are, from left to right.
    pub columns: Vec<TableColumn>,
    /// Its rows, from above to below.
    pub rows: Vec<TableRow>,
}

/// A column: for people, for programs, or for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name for programs, with the unit; `None` where it is for people only.
    pub key: Option<&'static str>,
    /// What stands above it for people; `None` where it is for programs only.
    pub title: Option<&'static str>,
    /// On which side its cells stand in line.
    pub align: TableAlign,
    /// Decimals of its numbers for programs.
    pub decimals: usize,
}

/// On which side cells stand in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableAlign {
    Left,
    Right,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableRow {
    /// A cell for each column.
    Cells(Vec<TableCell>),
    /// What has no figures: its name and why. It is for people only.
    Remark(String, String),
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum TableCell {
    Text(String),
    /// What the row above has, too: people need not read it again.
    Again(Box<TableCell>),
    /// A number and what it counts.
    Quantity(f64, FigureUnit),
    /// A rate in bytes per second with the range that it lies in.
    Interval(Estimate),
    /// May the figures of the row be believed, and what are they about; `None` where nobody has judged.
    Judgement(Option<(Trust, MeasuredSubject)>),
    /// May they be believed, where it is not said what they are about; `None` where there are none.
    Worth(Option<Trust>),
    Absent(Absence),
}

impl TableColumn {
    /// Of people and programs both.
    pub const fn both(key: &'static str, title: &'static str, align: TableAlign) -> Self {
        Self { key: Some(key), title: Some(title), align, decimals: 0 }
    }

    pub const fn of_people(title: &'static str) -> Self {
        Self { key: None, title: Some(title), align: TableAlign::Left, decimals: 0 }
    }

    pub const fn of_programs(key: &'static str) -> Self {
        Self { key: Some(key), title: None, align: TableAlign::Left, decimals: 0 }
    }

    /// With so many decimals for programs.
    pub const fn with_decimals(self, decimals: usize) -> Self {
        Self { decimals, ..self }
    }
}

impl TableCell {
    pub fn text(words: impl Into<String>) -> Self {
        Self::Text(words.into())
    }

    /// A figure; what a record does not have at all is absent, too.
    pub fn of(figure: Option<&Figure>) -> Self {
        match figure.map(|figure| (figure.value, figure.unit)) {
            Some((FigureValue::Known(value), unit)) => Self::Quantity(value, unit),
            Some((FigureValue::Absent(why), _)) => Self::Absent(why),
            None => Self::Absent(Absence::NotKept),
        }
    }

    /// A number, where there is one.
    pub fn quantity(value: Option<f64>, unit: FigureUnit) -> Self {
        value.map_or(Self::Absent(Absence::NotKept), |value| Self::Quantity(value, unit))
    }

    /// This, which people do not read again where it is not the `first`.
    pub fn once(self, first: bool) -> Self {
        if first { self } else { Self::Again(Box::new(self)) }
    }

    pub fn shown(&self, style: TerminalStyle) -> String {
        match self {
            Self::Text(words) => words.clone(),
            Self::Again(_) => String::new(),
            Self::Quantity(value, unit) => text_of(*value, *unit, style),
            Self::Interval(found) => estimate(found, style.voice()),
            Self::Judgement(found) => judged(*found).0,
            Self::Worth(found) => found.map_or("".into(), |trust| signed(trust, trust.name())),
            Self::Absent(_) => "-".into(),
        }
    }

    /// As programs read it: numbers in the base unit with so many decimals, nothing where it is absent.
    pub fn written(&self, decimals: usize) -> String {
        match self {
            Self::Text(words) => words.clone(),
            Self::Again(same) => same.written(decimals),
            Self::Quantity(value, _) => format!("{value:.decimals$}"),
            Self::Interval(found) => format!("{:.decimals$}", found.value),
            Self::Judgement(found) => found.map_or("", |(trust, _)| trust.name()).into(),
            Self::Worth(found) => found.map_or("", Trust::name).into(),
            Self::Absent(_) => String::new(),
        }
    }

    /// Words that may be anybody's, where it is words.
    fn words(&self) -> Option<&str> {
        match self {
            Self::Text(words) => Some(words),
            Self::Again(same) => same.words(),
            _ => None,
        }
    }

    /// Whether it is something that was measured, not how.
    pub fn is_measured(&self) -> bool {
        match self {
            Self::Quantity(_, unit) => !matches!(unit, FigureUnit::Bytes | FigureUnit::Operations),
            Self::Interval(_) => true,
            _ => false,
        }
    }

    /// What is thought of the row, where this tells.
    fn judgement(&self) -> Option<Option<(Trust, MeasuredSubject)>> {
        match self {
            Self::Judgement(found) => Some(*found),
            Self::Again(same) => same.judgement(),
            _ => None,
        }
    }

    /// The colour of a judgement; `None` of other cells.
    pub fn class(&self) -> Option<&'static str> {
        Some(judged(self.judgement()?).1)
    }
}

impl TableRow {
    /// Whether its figures are not what they look like.
    pub fn is_refuted(&self) -> bool {
        let Self::Cells(cells) = self else { return false };
        let wrong = |cell: &TableCell| match cell {
            TableCell::Worth(found) => *found == Some(Trust::Wrong),
            cell => cell.judgement().flatten().is_some_and(|(trust, _)| trust == Trust::Wrong),
        };
        cells.iter().any(wrong)
    }
}

impl ReportTable {
    /// What stands above the columns that people read, and on which side these stand in line.
    pub fn titles(&self) -> impl Iterator<Item = (&'static str, TableAlign)> {
        self.columns.iter().filter_map(|column| Some((column.title?, column.align)))
    }

    /// The cells of a row that people read, each with its column.
    pub fn shown<'a>(
        &'a self,
        cells: &'a [TableCell],
    ) -> impl Iterator<Item = (&'a TableColumn, &'a TableCell)> {
        self.columns.iter().zip(cells).filter(|(column, _)| column.title.is_some())
    }

    /// The table with commas (RFC 4180), its first line the names of the columns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<&str> = self.columns.iter().filter_map(|column| column.key).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in &self.rows {
            let TableRow::Cells(cells) = row else { continue };
            let written = self.columns.iter().zip(cells).filter(|(column, _)| column.key.is_some());
            let texts = written.map(|(column, cell)| match cell.words() {
                Some(words) => quoted(harmless_cell(words)),
                None => quoted(cell.written(column.decimals)),
            });
            writeln!(out, "{}", texts.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}

/// What a judgement says: words and colour.
pub fn judged(found: Option<(Trust, MeasuredSubject)>) -> (String, &'static str) {
    let style = TerminalStyle { unicode: true, ..TerminalStyle::default() };
    match found {
        Some((trust, measures)) => (signed(trust, &style.judgement(trust, measures)), class(trust)),
        None => ("not judged".into(), "doubtful"),
    }
}

/// A judgement in words, told apart without colours, too.
pub fn signed(trust: Trust, words: &str) -> String {
    let sign = match trust {
        Trust::Sound => "✓",
        Trust::Doubtful | Trust::Unproven => "?",
        Trust::Wrong => "✗",
    };
    format!("{sign} {words}")
}

pub fn class(trust: Trust) -> &'static str {
    match trust {
        Trust::Sound => "sound",
        Trust::Doubtful | Trust::Unproven => "doubtful",
        Trust::Wrong => "wrong",
    }
}

/// Words that a spreadsheet takes for words: not for a formula, whatever they begin with (OWASP, CSV injection). A
/// number stays one.
fn harmless_cell(words: &str) -> String {
    let acts = |first: char| {
        let first = name::stands_for(first).map_or(first, char::from);
        matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '＝' | '＋' | '－' | '＠')
    };
    let number = words.parse::<f64>().is_ok_and(f64::is_finite);
    match words.starts_with(acts) && !number {
        true => format!("'{words}"),
        false => words.into(),
    }
}

/// A text as a field: in quotation marks only where it must be.
fn quoted(text: String) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        assert_eq!(quoted("seq-write".into()), "seq-write");
        assert_eq!(quoted("a, \"b\"".into()), "\"a, \"\"b\"\"\"");
    }

    #[test]
    fn no_cell_is_a_formula() {
        for (words, cell) in [
            ("=1+1", "'=1+1"),
            ("+A1", "'+A1"),
            ("-A1", "'-A1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("\u{10fe09}=1", "'\u{10fe09}=1"),
            ("-5", "-5"),
            ("+0.5e3", "+0.5e3"),
            ("-inf", "'-inf"),
            ("-", "'-"),
            ("seq-write", "seq-write"),
            ("", ""),
        ] {
            assert_eq!(harmless_cell(words), cell);
        }
    }

    #[test]
    fn people_and_programs_read_their_own_columns() {
        let table = ReportTable {
            columns: vec![
                TableColumn::both("phase", "phase", TableAlign::Left),
                TableColumn::of_people("load"),
                TableColumn::both("bytes_per_second", "MB/s", TableAlign::Right).with_decimals(1),
                TableColumn::of_programs("time_ns"),
            ],
            rows: vec![
                TableRow::Cells(vec![
                    TableCell::text("a, b").once(false),
                    TableCell::text("q1"),
                    TableCell::Quantity(4_194_304.0, FigureUnit::BytesPerSecond),
                    TableCell::Absent(Absence::NoTime),
                ]),
                TableRow::Remark("c".into(), "nothing was done".into()),
            ],
        };
        let mut text = Vec::new();
        table.csv(&mut text).expect("written");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text, "phase,bytes_per_second,time_ns\n\"a, b\",4194304.0,\n");
        let TableRow::Cells(cells) = &table.rows[0] else { panic!("cells") };
        let shown = table.shown(cells).map(|(_, cell)| cell.shown(TerminalStyle::default()));
        assert_eq!(shown.collect::<Vec<_>>(), ["", "q1", "4.19"]);
        assert_eq!(table.titles().map(|it| it.0).collect::<Vec<_>>(), ["phase", "load", "MB/s"]);
    }
}
