//! The workbook of `-b FILE.xlsx`: what may be believed, then a sheet for each figure with its table and its
//! surface. What came from memory is hatched, as in the pictures of a report.
//!
//! The crate that writes workbooks has no surfaces among its charts. It makes room for a chart of lines, whose
//! part of the file is replaced by a surface over the same cells.

use std::fmt::Write as _;
use std::io::{self, Cursor, Write as _};

use rust_xlsxwriter::{
    Chart, ChartType, Color, Format, FormatBorder, FormatPattern, Workbook, Worksheet, XlsxError,
};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::archive::{ArchivePart, parts};
use super::asked::GridCell;
use super::table::GridReport;
use assay_plan::unit::KIB;
use assay_record::record::{GridRegion, Trust};

/// What a cell is of, and what its figure is worth; `None` where nobody has judged it.
pub type CellWorth = Option<(GridRegion, Option<Trust>)>;

/// The row of the record sizes in the sheet of a figure; those of the files follow.
const HEAD: u32 = 2;
/// Columns of the widest sheet.
const NAME: f64 = 14.0;

/// The workbook of these tables; `lines` are what stands on standard error, `unit` is that of the figures.
///
/// # Errors
/// What does not fit into a workbook.
pub fn workbook(
    line: &str,
    unit: &str,
    lines: &[String],
    reports: &[GridReport],
    worth: impl Fn(&GridReport, GridCell) -> CellWorth,
) -> io::Result<Vec<u8>> {
    let made = sheets(line, unit, lines, reports, &worth).map_err(io::Error::other)?;
    let charted = reports.iter().filter(|report| is_surface(report));
    let charts: Vec<String> = charted.map(|report| surface(report, unit)).collect();
    with_charts(&made, &charts)
}

/// Whether a figure has enough cells for a surface.
fn is_surface(report: &GridReport) -> bool {
    report.rows.len() > 1 && report.records.len() > 1
}

fn sheets(
    line: &str,
    unit: &str,
    lines: &[String],
    reports: &[GridReport],
    worth: &impl Fn(&GridReport, GridCell) -> CellWorth,
) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    verdict(workbook.add_worksheet(), (line, unit), lines, reports, worth)?;
    for report in reports {
        figure(workbook.add_worksheet(), report, unit, worth)?;
    }
    workbook.save_to_buffer()
}

/// The first sheet: what was typed, what was found, and every cell in a row of its own.
fn verdict(
    sheet: &mut Worksheet,
    (line, unit): (&str, &str),
    lines: &[String],
    reports: &[GridReport],
    worth: &impl Fn(&GridReport, GridCell) -> CellWorth,
) -> Result<(), XlsxError> {
    let bold = Format::new().set_bold();
    sheet.set_name("Verdict")?;
    sheet.write_string_with_format(0, 0, line, &bold)?;
    let mut row = 2;
    for said in lines {
        sheet.write_string(row, 0, said)?;
        row += 1;
    }
    row += 1;
    let titles = ["figure", "file, kB", "record, kB", unit, "region", "verdict"];
    for (column, title) in (0..).zip(titles) {
        sheet.write_string_with_format(row, column, title, &bold)?;
    }
    for report in reports {
        for (file, record, value) in report.cells() {
            row += 1;
            sheet.write_string(row, 0, report.title)?;
            for (column, number) in (1..).zip([file, record, value]) {
                sheet.write_number(row, column, number as f64)?;
            }
            if let Some((region, trust)) = worth(report, cell(file, record)) {
                sheet.write_string(row, 4, region.name())?;
                sheet.write_string(row, 5, trust.map_or("", Trust::name))?;
            }
        }
    }
    sheet.set_column_width(0, NAME)?;
    sheet.set_column_width(4, 2.0 * NAME)?;
    Ok(())
}

/// The sheet of a figure.
fn figure(
    sheet: &mut Worksheet,
    report: &GridReport,
    unit: &str,
    worth: &impl Fn(&GridReport, GridCell) -> CellWorth,
) -> Result<(), XlsxError> {
    let bold = Format::new().set_bold();
    sheet.set_name(report.title)?;
    sheet.write_string_with_format(0, 0, format!("{}, {unit}", report.title), &bold)?;
    sheet.write_string(
        1,
        0,
        "files down, records across, kB; hatched: memory, crosswise: a cache of the CPU",
    )?;
    for (column, record) in (1..).zip(&report.records) {
        sheet.write_number_with_format(HEAD, column, *record as f64, &bold)?;
    }
    for (row, (file, _)) in (HEAD + 1..).zip(&report.rows) {
        sheet.write_number_with_format(row, 0, *file as f64, &bold)?;
    }
    for (file, record, value) in report.cells() {
        let row = report.rows.iter().position(|(known, _)| *known == file).unwrap_or_default();
        let column = report.records.iter().position(|known| *known == record).unwrap_or_default();
        let ground = ground(worth(report, cell(file, record)));
        sheet.write_number_with_format(
            HEAD + 1 + row as u32,
            1 + column as u16,
            value as f64,
            &ground,
        )?;
    }
    sheet.set_column_width(0, NAME)?;
    sheet.set_freeze_panes(HEAD + 1, 1)?;
    if is_surface(report) {
        let mut chart = Chart::new(ChartType::Line);
        chart.add_series().set_values((report.title, HEAD + 1, 1, HEAD + 1, 2));
        chart.set_width(900).set_height(480);
        sheet.insert_chart(HEAD + 2 + report.rows.len() as u32, 0, &chart)?;
    }
    Ok(())
}

/// Sizes in KiB as a cell.
fn cell(file: u64, record: u64) -> GridCell {
    GridCell { file: file * KIB, record: record * KIB }
}

/// How a figure stands in its table.
fn ground(worth: CellWorth) -> Format {
    let format = Format::new().set_border(FormatBorder::Hair);
    let hatched = |pattern| {
        let grey = Color::RGB(0x8c_95_9f);
        format
            .clone()
            .set_pattern(pattern)
            .set_foreground_color(grey)
            .set_background_color(Color::White)
    };
    match worth {
        Some((GridRegion::CpuCache(_), _)) => hatched(FormatPattern::LightTrellis),
        Some((region, _)) if region.is_memory() => hatched(FormatPattern::LightUp),
        Some((GridRegion::Device, _)) => format.set_background_color(Color::RGB(0xf6_c9_a6)),
        _ => format,
    }
}

/// The file with other charts: the first in place of the first.
fn with_charts(file: &[u8], charts: &[String]) -> io::Result<Vec<u8>> {
    let mut written = ZipWriter::new(Cursor::new(Vec::new()));
    for ArchivePart { name, content } in parts(file)? {
        let number = name.strip_prefix("xl/charts/chart");
        let number = number.and_then(|rest| rest.strip_suffix(".xml")?.parse::<usize>().ok());
        let chart = number.and_then(|number| charts.get(number.checked_sub(1)?));
        written.start_file(name, SimpleFileOptions::default())?;
        written.write_all(chart.map_or(&content[..], |chart| chart.as_bytes()))?;
    }
    Ok(written.finish()?.into_inner())
}

/// The name of a column: `A`, `Z`, `AA`.
fn column(mut at: usize) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'A' + (at % 26) as u8));
        match (at / 26).checked_sub(1) {
            Some(next) => at = next,
            None => return name,
        }
    }
}

/// A surface over the table of a figure, in the language of charts (ECMA-376, part 1, 21.2).
fn surface(report: &GridReport, unit: &str) -> String {
    let sheet = format!("'{}'", report.title);
    let last = column(report.records.len());
    let mut series = String::new();
    for (number, row) in (HEAD + 2..).take(report.rows.len()).enumerate() {
        let _ = write!(
            series,
            "<c:ser><c:idx val=\"{number}\"/><c:order val=\"{number}\"/>\
             <c:tx><c:strRef><c:f>{sheet}!$A${row}</c:f></c:strRef></c:tx>\
             <c:cat><c:numRef><c:f>{sheet}!$B${head}:${last}${head}</c:f></c:numRef></c:cat>\
             <c:val><c:numRef><c:f>{sheet}!$B${row}:${last}${row}</c:f></c:numRef></c:val></c:ser>",
            head = HEAD + 1
        );
    }
    let title = |text: &str| {
        format!(
            "<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx>\
             <c:overlay val=\"0\"/></c:title>"
        )
    };
    let axis = |id: u32, place: &str, inside: &str, across: u32| {
        format!(
            "<c:axId val=\"{id}\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling>\
             <c:delete val=\"0\"/><c:axPos val=\"{place}\"/>{inside}\
             <c:numFmt formatCode=\"General\" sourceLinked=\"1\"/><c:majorTickMark val=\"out\"/>\
             <c:minorTickMark val=\"none\"/><c:tickLblPos val=\"nextTo\"/>\
             <c:crossAx val=\"{across}\"/><c:crosses val=\"autoZero\"/>"
        )
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" \
         xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><c:chart>{head}\
         <c:autoTitleDeleted val=\"0\"/><c:view3D><c:rotX val=\"20\"/><c:rotY val=\"40\"/>\
         <c:rAngAx val=\"0\"/><c:perspective val=\"30\"/></c:view3D><c:plotArea><c:layout/>\
         <c:surface3DChart><c:wireframe val=\"0\"/>{series}<c:bandFmts/>\
         <c:axId val=\"1\"/><c:axId val=\"2\"/><c:axId val=\"3\"/></c:surface3DChart>\
         <c:catAx>{across}<c:auto val=\"1\"/><c:lblAlgn val=\"ctr\"/><c:lblOffset val=\"100\"/>\
         <c:noMultiLvlLbl val=\"0\"/></c:catAx>\
         <c:valAx>{up}<c:crossBetween val=\"midCat\"/></c:valAx><c:serAx>{down}</c:serAx>\
         </c:plotArea><c:legend><c:legendPos val=\"r\"/><c:overlay val=\"0\"/></c:legend>\
         <c:plotVisOnly val=\"1\"/><c:dispBlanksAs val=\"zero\"/></c:chart></c:chartSpace>\n",
        head = title(&format!("{}, {unit}", report.title)),
        across = axis(1, "b", &title("record, kB"), 2),
        up = axis(2, "l", "<c:majorGridlines/>", 1),
        down = axis(3, "b", &title("file, kB"), 1),
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use calamine::{Data, Reader, Xlsx};
    use zip::ZipArchive;

    use super::super::asked::IozoneTest;
    use super::*;

    fn report(test: IozoneTest, title: &'static str) -> GridReport {
        let rows = vec![(64, vec![100, 0]), (128, vec![200, 300])];
        let rows = rows.into_iter().map(|(file, values): (u64, Vec<u64>)| {
            (file, values.into_iter().map(|value| value as f64).collect())
        });
        let rows = rows.collect();
        GridReport { test, title, records: vec![4, 128], rows }
    }

    fn made() -> Vec<u8> {
        let reports = [report(IozoneTest::Write, "Writer"), report(IozoneTest::Read, "Reader")];
        let lines = ["write: wrong".to_string()];
        workbook("iozone -a", "kB/s", &lines, &reports, |report, cell| {
            let cached = report.test == IozoneTest::Read && cell.file == 64 << 10;
            let region = if cached { GridRegion::CpuCache(2) } else { GridRegion::Device };
            Some((region, Some(if cached { Trust::Wrong } else { Trust::Sound })))
        })
        .expect("a workbook")
    }

    #[test]
    fn another_library_reads_it_back() {
        let mut book: Xlsx<_> =
            calamine::open_workbook_from_rs(Cursor::new(made())).expect("opens");
        assert_eq!(book.sheet_names(), ["Verdict", "Writer", "Reader"]);
        let table = book.worksheet_range("Writer").expect("a sheet");
        let number = |row, column| match table.get_value((row, column)) {
            Some(Data::Float(value)) => Some(*value),
            _ => None,
        };
        assert_eq!([number(2, 1), number(2, 2)], [Some(4.0), Some(128.0)]);
        assert_eq!([number(3, 0), number(3, 1), number(3, 2)], [Some(64.0), Some(100.0), None]);
        assert_eq!(
            [number(4, 0), number(4, 1), number(4, 2)],
            [Some(128.0), Some(200.0), Some(300.0)]
        );
        let verdict = book.worksheet_range("Verdict").expect("a sheet");
        let words: Vec<String> = verdict
            .rows()
            .map(|row| {
                row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ").trim().to_string()
            })
            .collect();
        assert_eq!((words[0].as_str(), words[2].as_str()), ("iozone -a", "write: wrong"));
        assert!(words.contains(&"Reader 64 4 100 CPU cache (L2) wrong".to_string()), "{words:?}");
        assert_eq!(words.len(), 5 + 6, "{words:?}");
    }

    #[test]
    fn each_figure_has_a_surface_over_its_cells() {
        let mut parts = ZipArchive::new(Cursor::new(made())).expect("opens");
        for (number, sheet) in [(1, "Writer"), (2, "Reader")] {
            let mut text = String::new();
            let name = format!("xl/charts/chart{number}.xml");
            parts.by_name(&name).expect("a chart").read_to_string(&mut text).expect("text");
            let chart = roxmltree::Document::parse(&text).expect("well formed");
            let found = |tag: &str| {
                let named = chart.descendants().filter(|node| {
                    node.has_tag_name((
                        "http://schemas.openxmlformats.org/drawingml/2006/chart",
                        tag,
                    ))
                });
                named.filter_map(|node| node.text()).map(String::from).collect::<Vec<_>>()
            };
            assert!(text.contains("<c:surface3DChart>") && !text.contains("lineChart"), "{text}");
            let cells = ["$A$4", "$B$3:$C$3", "$B$4:$C$4", "$A$5", "$B$3:$C$3", "$B$5:$C$5"];
            assert_eq!(found("f"), cells.map(|cells| format!("'{sheet}'!{cells}")));
        }
        assert!(parts.by_name("xl/charts/chart3.xml").is_err());
    }

    #[test]
    fn columns_are_named_as_in_a_sheet() {
        assert_eq!([0, 25, 26, 51, 52, 702].map(column), ["A", "Z", "AA", "AZ", "BA", "AAA"]);
    }
}
