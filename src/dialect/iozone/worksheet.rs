//! The worksheet of `-b`: records of the binary format that Excel 2 had (BIFF2), as IOzone writes them.
//!
//! Each record has a type and a length, little-endian, 16 bits each, and its content. A label always has
//! 264 bytes: row, column, three bytes of attributes, the length, and the text padded with zeros.

use super::table::GridReport;

/// Begins a worksheet: version 2, a sheet.
const BEGIN: [u8; 8] = [0x09, 0x00, 0x04, 0x00, 0x02, 0x00, 0x10, 0x00];
/// Ends it.
const END: [u8; 4] = [0x0a, 0x00, 0x00, 0x00];
const LABEL: u16 = 4;
const NUMBER: u16 = 3;
/// The content of a label, bytes.
const LABEL_SIZE: u16 = 264;
/// The most characters of a label.
const TEXT: usize = 247;

/// A sheet in memory.
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

/// The worksheet of these tables.
pub fn worksheet(line: &str, reports: &[GridReport]) -> Vec<u8> {
    let mut sheet = Sheet(BEGIN.to_vec());
    sheet.label(0, 0, line);
    sheet.label(1, 0, " ");
    sheet.label(2, 0, "The top row is records sizes, the left column is file sizes");
    let mut row: u16 = 3;
    for report in reports {
        sheet.label(row, 0, &format!("{} Report", report.title));
        row = row.saturating_add(1);
        for (column, record) in (1..).zip(&report.records) {
            sheet.number(row, column, *record as f64);
        }
        for (file, values) in &report.rows {
            row = row.saturating_add(1);
            sheet.number(row, 0, *file as f64);
            for (column, value) in (1..).zip(values) {
                sheet.number(row, column, *value as f64);
            }
        }
        row = row.saturating_add(2);
    }
    sheet.0.extend(END);
    sheet.0
}
