//! A table on a terminal, at the width that it has. One rule for all of them:
//!
//! 1. Columns are as wide as usual while they fit; where all rows are known, they are then made as
//!    narrow as what stands in them.
//! 2. What still does not fit goes by its rank, the highest first, and columns of one rank go together:
//!    a column that may stand beneath its row does, and any other is left out. Rank 0 always stays.
//! 3. Two blanks at least are behind a name; one that is too long for that has a line for itself.
//!    A figure is never cut.
//! 4. A line below the table says what was left out, and what its marks mean.

use super::TerminalStyle;
use super::paint::{Ink, columns, wrap};
use super::table::TableAlign;
use assay_record::record::Trust;

/// Columns before a table, and before what stands beneath a row.
const INDENT: usize = 2;
const DEEPER: usize = 4;
/// Blanks behind a name, at the least, and behind a figure.
const BEHIND_NAME: usize = 2;
const BEHIND_FIGURE: usize = 1;
/// Columns of a name that is too long for its column.
const LEAST_NAME: usize = 8;

/// A column of a table on a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedColumn {
    /// What stands above it and those of its neighbours that have the same.
    group: &'static str,
    /// What stands above it alone.
    title: String,
    /// What it is called where it is left out, if not by its group and title.
    name: &'static str,
    align: TableAlign,
    /// Columns of the terminal, with the blanks before it.
    width: usize,
    /// The highest goes first; 0 stays.
    rank: u8,
    /// It may stand beneath its row.
    beneath: bool,
}

impl FittedColumn {
    /// Words, of so many columns with the blanks before them.
    pub fn left(title: impl Into<String>, width: usize) -> Self {
        let (title, align) = (title.into(), TableAlign::Left);
        Self { group: "", title, name: "", align, width, rank: 0, beneath: false }
    }

    /// Figures, of so many columns with the blanks before them.
    pub fn right(title: impl Into<String>, width: usize) -> Self {
        Self { align: TableAlign::Right, ..Self::left(title, width) }
    }

    /// With its place in the order in which columns go: the highest first.
    pub fn ranked(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Under a title that it has in common with its neighbours.
    pub fn under(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// What it is called where it is left out.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// It stands beneath its row where there is no room beside it.
    pub fn or_beneath(self) -> Self {
        Self { beneath: true, ..self }
    }

    /// What it is called where it is left out.
    fn called(&self) -> String {
        match (self.name, self.group, self.title.trim()) {
            ("", "", title) => title.into(),
            ("", group, title) => format!("{group} {title}"),
            (name, ..) => name.into(),
        }
    }
}

/// What stands in a cell, and how it is painted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FittedCell {
    plain: String,
    painted: String,
    /// The trust that a mark in it stands for.
    mark: Option<Trust>,
}

impl FittedCell {
    /// A text that stands out, or does not.
    pub fn inked(text: impl Into<String>, ink: Ink, style: TerminalStyle) -> Self {
        let plain = text.into();
        Self { painted: style.paint(ink, &plain), plain, mark: None }
    }

    /// A text that is painted in parts.
    pub fn painted(plain: String, painted: String) -> Self {
        Self { plain, painted, mark: None }
    }

    pub fn written(&self) -> &str {
        &self.painted
    }

    /// Columns that it takes.
    pub fn columns(&self) -> usize {
        columns(&self.plain)
    }

    /// The same in that ink.
    pub fn in_ink(self, ink: Ink, style: TerminalStyle) -> Self {
        Self { painted: style.paint(ink, &self.plain), ..self }
    }

    /// With the trust that a mark in it stands for.
    pub fn marked(self, mark: Option<Trust>) -> Self {
        Self { mark, ..self }
    }
}

impl From<String> for FittedCell {
    fn from(text: String) -> Self {
        Self { painted: text.clone(), plain: text, mark: None }
    }
}

impl From<&str> for FittedCell {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

/// The mark of a trust, in one character.
pub fn mark(trust: Trust, style: TerminalStyle) -> &'static str {
    match trust {
        Trust::Sound => style.glyph("✓", "+"),
        Trust::Doubtful | Trust::Unproven => "?",
        Trust::Wrong => style.glyph("✗", "x"),
    }
}

/// The marks that the cells of a page have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableMarks {
    sound: bool,
    doubtful: bool,
    wrong: bool,
    none: bool,
}

impl TableMarks {
    /// Takes those of a cell in.
    pub fn look(&mut self, cell: &FittedCell) {
        self.none |= cell.plain.trim() == "-";
        match cell.mark {
            Some(Trust::Sound) => self.sound = true,
            Some(Trust::Doubtful | Trust::Unproven) => self.doubtful = true,
            Some(Trust::Wrong) => self.wrong = true,
            None => {}
        }
    }

    /// What they mean, in a line; nothing where there are none.
    pub fn legend(self, style: TerminalStyle) -> Option<String> {
        let all = [
            (self.sound, mark(Trust::Sound, style), "sound"),
            (self.doubtful, mark(Trust::Doubtful, style), "doubtful or unproven"),
            (self.wrong, mark(Trust::Wrong, style), "wrong"),
            (self.none, "-", "no value"),
        ];
        let used = all.iter().filter(|(used, ..)| *used);
        let words: Vec<String> = used.map(|(_, mark, means)| format!("{mark} {means}")).collect();
        (!words.is_empty()).then(|| words.join("  "))
    }
}

/// A table with the columns that fit, and what its rows have used.
#[derive(Clone, Debug)]
pub struct FittedTable {
    columns: Vec<FittedColumn>,
    /// Which of them stand in a row, and which beneath it.
    beside: Vec<usize>,
    beneath: Vec<usize>,
    style: TerminalStyle,
    /// Columns of the terminal before it.
    indent: usize,
    /// Columns that the page is said to have.
    said: usize,
    marks: TableMarks,
}

impl FittedTable {
    /// A table that grows: nobody knows yet what will stand in its cells.
    pub fn new(columns: Vec<FittedColumn>, style: TerminalStyle) -> Self {
        Self::indented(columns, INDENT, style)
    }

    /// The same with so many columns of the terminal before it.
    pub fn indented(columns: Vec<FittedColumn>, indent: usize, style: TerminalStyle) -> Self {
        let beside = (0..columns.len()).collect();
        let marks = TableMarks::default();
        let mut table =
            Self { columns, beside, beneath: Vec::new(), style, indent, said: style.width, marks };
        table.fit();
        table
    }

    /// A table whose rows are all known: no cell is wider than its column.
    pub fn of(
        mut columns: Vec<FittedColumn>,
        rows: &[Vec<FittedCell>],
        style: TerminalStyle,
    ) -> Self {
        let needed = |at: usize, column: &FittedColumn| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            let widest = cells.map(|cell| self::columns(&cell.plain)).max().unwrap_or(0);
            let blanks = if at == 0 { 0 } else { BEHIND_NAME };
            blanks + widest.max(self::columns(&column.title))
        };
        let needed: Vec<usize> =
            columns.iter().enumerate().map(|(at, column)| needed(at, column)).collect();
        for (column, needed) in columns.iter_mut().zip(&needed) {
            column.width = column.width.max(*needed);
        }
        let all: usize = columns.iter().map(|column| column.width).sum();
        if INDENT + all > style.width {
            for (column, needed) in columns.iter_mut().zip(needed) {
                column.width = needed;
            }
        }
        Self::new(columns, style)
    }

    /// Lets columns go by their rank until the others fit.
    fn fit(&mut self) {
        while self.taken() > self.style.width {
            let highest = self.beside.iter().map(|at| self.columns[*at].rank).max().unwrap_or(0);
            if highest == 0 {
                break;
            }
            let (go, stay): (Vec<usize>, Vec<usize>) =
                self.beside.iter().partition(|at| self.columns[**at].rank == highest);
            self.beside = stay;
            self.beneath.extend(go.into_iter().filter(|at| self.columns[*at].beneath));
        }
        self.beneath.sort_unstable();
        let over = self.taken().saturating_sub(self.style.width);
        if let Some(first) = self.beside.first() {
            let name = &mut self.columns[*first].width;
            *name = name.saturating_sub(over).max(LEAST_NAME.min(*name));
        }
    }

    /// Columns of the terminal that a row takes.
    fn taken(&self) -> usize {
        self.indent + self.beside.iter().map(|at| self.columns[*at].width).sum::<usize>()
    }

    /// Columns of the terminal that are left beside a row.
    pub fn room(&self) -> usize {
        self.style.width.saturating_sub(self.taken())
    }

    /// Adds a column in the room that is left.
    pub fn push(&mut self, column: FittedColumn) {
        self.beside.push(self.columns.len());
        self.columns.push(column);
    }

    /// Gives a column another title.
    pub fn title(&mut self, column: usize, title: String) {
        if let Some(column) = self.columns.get_mut(column) {
            column.title = title;
        }
    }

    /// The names of the columns, groups above.
    pub fn head(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.beside.iter().any(|at| !self.columns[*at].group.is_empty()) {
            lines.push(self.groups());
        }
        let titles: Vec<FittedCell> =
            self.columns.iter().map(|column| column.title.as_str().into()).collect();
        lines.extend(self.placed(&titles, false));
        lines.iter().map(|line| self.style.paint(Ink::Faint, line.trim_end())).collect()
    }

    fn groups(&self) -> String {
        let (mut line, mut end) = (String::new(), self.indent);
        let shown: Vec<&FittedColumn> = self.beside.iter().map(|at| &self.columns[*at]).collect();
        for same in shown.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
            end += same.iter().map(|column| column.width).sum::<usize>();
            let group = same[0].group;
            let before = columns(&line);
            let fits = |text: &&str| before + BEHIND_FIGURE + columns(text) <= end;
            // Where there is no room for all of it, its last word has the unit.
            let unit = group.rsplit(' ').next().unwrap_or_default();
            if let Some(text) = [group, unit].into_iter().find(fits).filter(|it| !it.is_empty()) {
                line.push_str(&format!("{text:>width$}", width = end - before));
            }
        }
        line
    }

    /// A row, with what stands beneath it; a cell for each column.
    pub fn row(&mut self, cells: &[FittedCell]) -> Vec<String> {
        for at in self.beside.iter().chain(&self.beneath) {
            self.marks.look(&cells[*at]);
        }
        let mut lines = Vec::new();
        match self.placed(cells, true) {
            Some(line) => lines.push(line),
            None => {
                let mut rest = cells.to_vec();
                if let Some(first) = self.beside.first() {
                    lines.extend(self.alone(&cells[*first]));
                    rest[*first] = FittedCell::default();
                }
                lines.extend(self.placed(&rest, false));
            }
        }
        lines.extend(self.under(cells));
        lines
    }

    /// A name that has nothing beside it.
    fn alone(&self, cell: &FittedCell) -> Vec<String> {
        let room = self.style.width.saturating_sub(self.indent).max(LEAST_NAME);
        if columns(&cell.plain) <= room {
            return vec![format!("{}{}", " ".repeat(self.indent), cell.painted)];
        }
        let lines = wrap(&cell.plain, room).into_iter();
        lines.map(|line| format!("{}{line}", " ".repeat(self.indent))).collect()
    }

    /// The cells of a row in their columns. Nothing where it is `strict` and the name pushes what is
    /// beside it away, or something is pushed off the page.
    fn placed(&self, cells: &[FittedCell], strict: bool) -> Option<String> {
        let (mut line, mut written, mut start) = (String::new(), 0, self.indent);
        let mut behind_name = true;
        for (number, at) in self.beside.iter().enumerate() {
            let (column, cell) = (&self.columns[*at], &cells[*at]);
            let (from, end) = (start, start + column.width);
            start = end;
            let length = columns(&cell.plain);
            if length > 0 {
                let left = column.align == TableAlign::Left;
                let place = match column.align {
                    TableAlign::Left if number == 0 => from,
                    TableAlign::Left => from + BEHIND_NAME.min(column.width.saturating_sub(1)),
                    TableAlign::Right => end.saturating_sub(length),
                };
                let behind = if behind_name { BEHIND_NAME } else { BEHIND_FIGURE };
                let least = if written == 0 { self.indent } else { written + behind };
                let first = self.beside.first().is_some_and(|first| {
                    written > 0 && columns(&cells[*first].plain) > self.columns[*first].width
                });
                if strict && number == 1 && first && place < least {
                    return None;
                }
                let place = place.max(least);
                line.push_str(&" ".repeat(place - written));
                line.push_str(&cell.painted);
                written = place + length;
                behind_name = left;
            }
        }
        if strict && written > self.style.width && self.beside.len() > 1 {
            return None;
        }
        Some(line.trim_end().to_string())
    }

    /// What stands beneath a row, each with its title.
    fn under(&self, cells: &[FittedCell]) -> Vec<String> {
        let told = self.beneath.iter().map(|at| (&self.columns[*at], &cells[*at]));
        let told: Vec<(String, String)> = told
            .filter(|(_, cell)| !cell.plain.trim().is_empty())
            .map(|(column, cell)| {
                let title = match column.title.trim() {
                    "" => String::new(),
                    title => format!("{title}: "),
                };
                let painted = self.style.paint(Ink::Faint, &title) + cell.painted.trim_start();
                (title + cell.plain.trim(), painted)
            })
            .collect();
        let join = |part: fn(&(String, String)) -> &str| {
            told.iter().map(part).collect::<Vec<_>>().join("  ")
        };
        let (plain, painted) = (join(|told| &told.0), join(|told| &told.1));
        let room = self.style.width.saturating_sub(DEEPER).max(LEAST_NAME);
        match columns(&plain) {
            0 => Vec::new(),
            length if length <= room => vec![format!("{:DEEPER$}{painted}", "")],
            _ => wrap(&plain, room).iter().map(|line| format!("{:DEEPER$}{line}", "")).collect(),
        }
    }

    /// A row that has a name and no figures, but words instead.
    pub fn remark(&self, name: &str, words: &str) -> Vec<String> {
        let first = self.beside.first().map_or(0, |at| self.columns[*at].width);
        let room =
            self.style.width.saturating_sub(self.indent + first + BEHIND_NAME).max(LEAST_NAME);
        let mut words = wrap(words, room).into_iter();
        let mut lines = Vec::new();
        if columns(name) <= first {
            let line = words.next().unwrap_or_default();
            let (before, behind) = (" ".repeat(self.indent), " ".repeat(BEHIND_NAME));
            lines.push(format!("{before}{name:first$}{behind}{line}"));
        } else {
            lines.push(format!("{}{name}", " ".repeat(self.indent)));
        }
        let blanks = self.indent + first + BEHIND_NAME;
        lines.extend(words.map(|line| format!("{:blanks$}{line}", "")));
        lines
    }

    /// Takes the marks of another table in, below which nothing stands.
    pub fn join(&mut self, other: &Self) {
        let (ours, theirs) = (&mut self.marks, other.marks);
        ours.sound |= theirs.sound;
        ours.doubtful |= theirs.doubtful;
        ours.wrong |= theirs.wrong;
        ours.none |= theirs.none;
    }

    /// It says that the page has so many columns, of which it leaves some free.
    pub fn said_of(self, width: usize) -> Self {
        Self { said: width, ..self }
    }

    /// Its marks are those that a row without a figure has, before there is one.
    pub fn with_none(mut self) -> Self {
        self.marks.none = true;
        self
    }

    /// What stands below the table: what its marks mean, and which columns are not there; `more` is what
    /// else had no room.
    pub fn foot(&self, more: &[&str]) -> Vec<String> {
        let legend = self.marks.legend(self.style);
        [legend.map(|text| self.noted(&text)).unwrap_or_default(), self.left_out(more)].concat()
    }

    /// Which columns are not there, and what else had no room.
    pub fn left_out(&self, more: &[&str]) -> Vec<String> {
        let shown = |at: &usize| self.beside.contains(at) || self.beneath.contains(at);
        let gone = (0..self.columns.len()).filter(|at| !shown(at));
        let mut names: Vec<String> = gone.map(|at| self.columns[at].called()).collect();
        names.extend(more.iter().map(|name| (*name).to_string()));
        let mut known = Vec::new();
        names.retain(|name| {
            let new = !name.is_empty() && !known.contains(name);
            known.push(name.clone());
            new
        });
        if names.is_empty() {
            return Vec::new();
        }
        self.noted(&format!("not shown at {} columns: {}", self.said, names.join(", ")))
    }

    fn noted(&self, text: &str) -> Vec<String> {
        let room = self.style.width.saturating_sub(self.indent).max(LEAST_NAME);
        // Its blanks stay, where they can.
        let lines = if columns(text) <= room { vec![text.into()] } else { wrap(text, room) };
        let indent = " ".repeat(self.indent);
        lines.iter().map(|line| format!("{indent}{}", self.style.paint(Ink::Faint, line))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(width: usize) -> TerminalStyle {
        TerminalStyle { width, ..TerminalStyle::default() }
    }

    fn usual() -> Vec<FittedColumn> {
        vec![
            FittedColumn::left("", 10),
            FittedColumn::right("MB/s", 8).under("rate"),
            FittedColumn::right("IOPS", 8).ranked(1).under("rate"),
            FittedColumn::right("max", 8).ranked(3).named("longest"),
            FittedColumn::right("ratio", 8).ranked(2).or_beneath(),
        ]
    }

    fn row(texts: [&str; 5]) -> Vec<FittedCell> {
        texts.map(FittedCell::from).into()
    }

    #[test]
    fn columns_go_by_their_rank_and_it_is_said() {
        let cells = row(["seq-write", "12.3", "-", "9 ms", "2.00"]);
        for (width, titles, foot) in [
            (44, "                MB/s    IOPS     max   ratio", "  - no value"),
            (40, "                MB/s    IOPS   ratio", "not shown at 40 columns: longest"),
            (30, "                MB/s    IOPS", "not shown at 30 columns: longest"),
            (20, "                MB/s", "longest"),
        ] {
            let mut table = FittedTable::new(usual(), style(width));
            let lines = table.row(&cells);
            assert_eq!(table.head()[1], titles, "{width}");
            let said = table.foot(&[]).join(" ").replace("   ", " ");
            assert!(said.contains(foot), "{width}: {said}");
            assert_eq!(lines.len(), if width < 40 { 2 } else { 1 }, "{lines:?}");
            for line in lines.iter().chain(&table.head()).chain(&table.foot(&[])) {
                assert!(line.len() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn what_may_stand_beneath_does() {
        let mut table = FittedTable::new(usual(), style(30));
        let lines = table.row(&row(["a", "12.3", "400", "9 ms", "2.00"]));
        assert_eq!(lines, ["  a             12.3     400", "    ratio: 2.00"]);
    }

    #[test]
    fn a_long_name_has_its_own_line_and_figures_never_touch() {
        let mut table = FittedTable::new(usual(), style(44));
        let lines = table.row(&row(["a-very-long-name", "12.3", "400", "9 ms", "2.00"]));
        assert_eq!(lines, ["  a-very-long-name", "                12.3     400    9 ms    2.00"]);
        // A little too long takes from the blanks of the next.
        let lines = table.row(&row(["seq-write-q1", "12.3", "400", "9 ms", "2.00"]));
        assert_eq!(lines, ["  seq-write-q1  12.3     400    9 ms    2.00"]);
        let lines = table.row(&row(["a", "12.3", "123456789", "1234567", "2.00"]));
        assert_eq!(lines, ["  a             12.3 123456789 1234567  2.00"]);
    }

    #[test]
    fn where_all_is_known_columns_are_as_narrow_as_they_can_be() {
        let rows = vec![row(["a", "12.3", "400", "9 ms", "2.00"])];
        let mut table = FittedTable::of(usual(), &rows, style(32));
        assert_eq!(table.row(&rows[0]), ["  a  12.3   400  9 ms   2.00"]);
        assert_eq!(table.foot(&[]), [] as [&str; 0]);
    }

    #[test]
    fn marks_are_explained_where_they_are_used() {
        let mut table = FittedTable::new(usual(), style(60));
        assert_eq!(table.foot(&["curve"]), ["  not shown at 60 columns: curve"]);
        for trust in [Trust::Wrong, Trust::Sound] {
            let mut cells = row(["a", "12.3", "", "", ""]);
            cells[0] = FittedCell::from("x a").marked(Some(trust));
            table.row(&cells);
        }
        assert_eq!(table.foot(&[]), ["  + sound  x wrong"]);
    }

    #[test]
    fn random_cells_never_touch_and_names_stand_apart() {
        for width in 24..100 {
            for length in 1..30 {
                for figure in 1..7 {
                    let (name, digits) = ("n".repeat(length), "7".repeat(figure));
                    let cells = row([&name, &digits, "8", &digits, "9"]);
                    let mut table = FittedTable::new(usual(), style(width));
                    let line = table.row(&cells).join("\n");
                    let words: Vec<&str> = line.split_whitespace().collect();
                    assert_eq!((words[0], words[1]), (name.as_str(), digits.as_str()), "{line}");
                    let apart = format!("{name}  ");
                    assert!(line.contains(&apart) || line.contains(&format!("{name}\n")), "{line}");
                    for line in line.lines() {
                        assert!(columns(line) <= width.max(length + 2), "{width}: {line}");
                    }
                }
            }
        }
    }
}
