//! The worksheet of `-b`: records of the binary format that Excel 2 had (BIFF2), as IOzone writes them.
//!
//! Each record has a type and a length, little-endian, 16 bits each, and its content. A label always has
//! 264 bytes: row, column, three bytes of attributes, the length, and the text padded with zeros.

use super::table::{GridReport, StreamsTable};

/// Begins a worksheet: version 2, a sheet.
const BEGIN: [u8; 8] = [0x09, 0x00, 0x04, 0x00, 0x02, 0x00, 0x10, 0x00];
const END: [u8; 4] = [0x0a, 0x00, 0x00, 0x00];
const LABEL: u16 = 4;
const NUMBER: u16 = 3;
/// The content of a label, bytes.
const LABEL_SIZE: u16 = 264;
/// The most characters of a label.
const TEXT: usize = 247;

struct Sheet(Vec<u8>);

impl Sheet {
    fn place(&mut self, kind: u16, size: u16, row: u16, column: u16) {
        for field in [kind, size, row, column] {
            self.0.extend(field.to_le_bytes());
        }
        self.0.extend([0; 3]);
    }

    fn label(&mut self, row: u16, column: u16, text: &str) {
        let text: Vec<u8> =
            text.chars().map(|it| if it.is_ascii() { it as u8 } else { b'?' }).take(TEXT).collect();
        self.place(LABEL, LABEL_SIZE, row, column);
        self.0.push(text.len() as u8);
        let filled = 8 + text.len();
        self.0.extend(&text);
        self.0.extend(std::iter::repeat_n(0, usize::from(LABEL_SIZE) - filled));
    }

    fn number(&mut self, row: u16, column: u16, value: f64) {
        self.place(NUMBER, 15, row, column);
        self.0.extend(value.to_le_bytes());
    }
}

/// What a figure is called here: not as on the screen.
fn sheet_title(title: &str) -> &str {
    match title {
        "Re-Reader" => "Re-reader",
        "Random read" => "Random Read",
        "Random write" => "Random Write",
        "Backward read" => "Backward Read",
        "Record rewrite" => "Record Rewrite",
        "Stride read" => "Stride Read",
        "Re-Fwrite" => "Re-fwrite",
        "Re-Fread" => "Re-fread",
        "Re-Pwrite" => "Re-pwrite",
        "Re-Pread" => "Re-pread",
        other => other,
    }
}

impl Sheet {
    /// The tables of a grid from a row on, each with a title that ends so; the row behind.
    fn grids(&mut self, mut row: u16, reports: &[GridReport], ends: &str) -> u16 {
        for report in reports {
            self.label(row, 0, &format!("{} {ends}", sheet_title(report.title)));
            row = row.saturating_add(1);
            for (column, record) in (1..).zip(&report.records) {
                self.number(row, column, *record as f64);
            }
            for (file, values) in &report.rows {
                row = row.saturating_add(1);
                self.number(row, 0, *file as f64);
                for (column, value) in (1..).zip(values) {
                    self.number(row, column, *value);
                }
            }
            row = row.saturating_add(1);
        }
        row
    }
}

/// The worksheet of a grid: its figures, and where they were asked for their CPU times.
pub fn worksheet(line: &str, reports: &[GridReport], cpu: &[GridReport]) -> Vec<u8> {
    let mut sheet = Sheet(BEGIN.to_vec());
    sheet.label(0, 0, line);
    sheet.label(1, 0, " ");
    sheet.label(2, 0, "The top row is records sizes, the left column is file sizes");
    let row = sheet.grids(3, reports, "Report");
    let ends = "CPU utilization report (Zero values should be ignored)";
    sheet.grids(row.saturating_add(1), cpu, ends);
    sheet.0.extend(END);
    sheet.0
}

pub fn streams_worksheet(line: &str, tables: &[StreamsTable]) -> Vec<u8> {
    let mut sheet = Sheet(BEGIN.to_vec());
    sheet.label(0, 0, line);
    let mut row: u16 = 1;
    for table in tables {
        for title in &table.titles {
            sheet.label(row, 0, title);
            row = row.saturating_add(1);
        }
        for (name, values) in &table.rows {
            sheet.label(row, 0, &format!("{name:>15} "));
            for (column, value) in (2..).zip(values) {
                sheet.number(row, column, *value);
            }
            row = row.saturating_add(1);
        }
    }
    sheet.0.extend(END);
    sheet.0
}
