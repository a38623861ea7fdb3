//! The table of a report as an element of the page.

use super::super::markup::Markup;
use super::super::picture::SHOWN;
use super::super::table::{ReportTable, TableAlign, TableRow};

/// A table that is moved sideways where there is no room for it.
pub fn whole(table: &ReportTable, out: &mut Markup) {
    out.open("div", &[("class", &"scroll")]);
    out.open("table", &[]);
    out.open("thead", &[]);
    out.open("tr", &[]);
    for (title, _) in table.titles() {
        out.text("th", &[("scope", &"col")], title);
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    table.rows.iter().for_each(|row| cells(table, row, out));
    out.close("tbody");
    out.close("table");
    out.close("div");
}

/// A row; its first cell names it. Figures that are refuted are crossed out.
fn cells(table: &ReportTable, row: &TableRow, out: &mut Markup) {
    match row {
        TableRow::Remark(name, text) => {
            out.open("tr", &[]);
            out.text("th", &[("scope", &"row")], name);
            out.text("td", &[("colspan", &(table.titles().count() - 1))], text);
        }
        TableRow::Cells(cells) => {
            let class = if row.is_refuted() { "refuted" } else { "stands" };
            out.open("tr", &[("class", &class)]);
            for (index, (column, cell)) in table.shown(cells).enumerate() {
                let text = cell.shown(SHOWN);
                match cell.class() {
                    _ if index == 0 => out.text("th", &[("scope", &"row")], &text),
                    Some(class) => {
                        out.text("td", &[("class", &format!("trust is-{class}"))], &text)
                    }
                    None if column.align == TableAlign::Right => {
                        out.text("td", &[("class", &"figure")], &text);
                    }
                    None => out.text("td", &[], &text),
                }
            }
        }
    }
    out.close("tr");
}
