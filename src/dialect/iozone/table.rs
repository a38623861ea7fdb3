//! What IOzone prints on standard output, byte for byte as 3.507 does: banner, the table cell by cell, the
//! lines of throughput mode, and the tables for a spreadsheet.

use std::fmt::Write;

use super::asked::{GridCell, IoList, IozoneOptions, IozoneTest, IozoneUnit};
use super::measure::{CpuUse, StreamResults};
use assay_plan::unit::KIB;

/// The version whose output this is.
pub const VERSION: &str = "3.508";

/// Before the lines of the options: banner and the time.
fn banner(began: &str) -> String {
    let word = if cfg!(target_pointer_width = "64") { "64" } else { "32" };
    format!(
        "\tIozone: Performance Test of File I/O\n\
         \t        Version $Revision: {VERSION} $\n\
         \t\tCompiled for {word} bit mode.\n\
         \t\tBuild: linux \n\
         \n\
         \tContributors:William Norcott, Don Capps, Isom Crawford, Kirby Collins\n\
         \t             Al Slater, Scott Rhine, Mike Wisner, Ken Goss\n\
         \t             Steve Landherr, Brad Smith, Mark Kelly, Dr. Alain CYR,\n\
         \t             Randy Dunlap, Mark Montague, Dan Million, Gavin Brebner,\n\
         \t             Jean-Marc Zucconi, Jeff Blomberg, Benny Halevy, Dave Boone,\n\
         \t             Erik Habbinga, Kris Strecker, Walter Wong, Joshua Root,\n\
         \t             Fabrice Bacchella, Zhenghua Xue, Qin Li, Darren Sawyer,\n\
         \t             Vangel Bojaxhi, Ben England, Vikentsi Lapa,\n\
         \t             Alexey Skidanov, Sudhir Kumar.\n\
         \n\
         \tRun began: {began}\n\
         \n"
    )
}

/// What stands before the first figure; `began` is the time as ctime(3) has it.
pub fn opening(asked: &IozoneOptions, began: &str, machine: &str) -> String {
    if asked.silent {
        return String::new();
    }
    let mut text = banner(began);
    for line in &asked.splash {
        let _ = writeln!(text, "\t{line}");
    }
    if asked.machine {
        let _ = writeln!(text, "\n\tMachine = {machine}");
    }
    let words: String = asked.words.iter().map(|word| format!(" {word}")).collect();
    let _ = writeln!(text, "\tCommand line used: iozone{words}");
    if asked.unit == IozoneUnit::Kilobytes {
        text += "\tOutput is in kBytes/sec\n";
    }
    text += &compute_lines(asked);
    let _ = write!(
        text,
        "\tTime Resolution = 0.000001 seconds.\n\
         \tProcessor cache size set to {} kBytes.\n\
         \tProcessor cache line size set to {} bytes.\n\
         \tFile stride size set to {} * record size.\n",
        asked.cache, asked.line, asked.stride
    );
    if let Some((bytes, millis)) = asked.bursts {
        let _ = write!(
            text,
            "\tBurst size set to {} Kbytes.\n\tBurst sleep duration set to {millis} msec\n",
            bytes / KIB
        );
    }
    if asked.stream_range != (None, None) {
        let one = if asked.threads { "thread" } else { "process" };
        let (least, most) = (asked.streams.iter().min(), asked.streams.iter().max());
        for (word, streams) in [("Min", least), ("Max", most)] {
            let _ = writeln!(text, "\t{word} {one} = {} ", streams.copied().unwrap_or_default());
        }
    }
    match asked.is_throughput() {
        true => text += &streams_title(asked),
        false => text += &header(asked),
    }
    text
}

/// What is computed between records, by `-J` and by files of records.
fn compute_lines(asked: &IozoneOptions) -> String {
    let seconds = asked.compute.map(|millis| millis as f64 / 1000.0);
    let timed = |list: &Option<IoList>| list.as_ref().map(|list| list.timed);
    let (reads, writes) = (timed(&asked.read_list), timed(&asked.write_list));
    let line = |what: &str, timed: Option<bool>, both: bool| match (timed, seconds) {
        (Some(true), _) => format!("\tCompute time from telemetry files for {what}.\n"),
        (_, Some(seconds)) => format!("\tCompute time {seconds:.6} seconds for {what}.\n"),
        (Some(false), None) if both => format!("\tNo compute time for {what}.\n"),
        _ => String::new(),
    };
    match (reads, writes) {
        (None, None) => line("reads and writes", None, false),
        (None, Some(_)) => line("writes", writes, false) + &line("reads", None, false),
        _ => {
            let both = writes.is_some();
            line("reads", reads, both) + &line("writes", writes, both)
        }
    }
}

/// The titles of the columns.
fn header(asked: &IozoneOptions) -> String {
    let begin = format!("{:>16}{:>8}", "kB", "reclen");
    let basic = format!("{:>9}{:>11}{:>10}{:>10}", "write", "rewrite", "read", "reread");
    if asked.four_columns {
        return format!("{:64}\n{begin}{basic}\n", "");
    }
    let above = format!(
        "{:64}{:>10}{:>10}{:>10}{:>11}{:>11}{:40}",
        "", "random", "random", "bkwd", "record", "stride", ""
    );
    let more =
        format!("{:>10}{:>10}{:>10}{:>11}{:>11}", "read", "write", "read", "rewrite", "read");
    let streams = match asked.mmap || asked.async_depth.is_some() {
        true => " ".repeat(40),
        false => format!("{:>10}{:>10}{:>10}{:>10}", "fwrite", "frewrite", "fread", "freread"),
    };
    let (blank, extra) = match asked.extended {
        true => (
            " ".repeat(40),
            format!("{:>10}{:>10}{:>10}{:>10}", "pwrite", "repwrite", "pread", "repread"),
        ),
        false => (String::new(), String::new()),
    };
    format!("{above}{blank}\n{begin}{basic}{more}{streams}{extra}\n")
}

/// The beginning of a row; where a file tells the records there is no size of them.
pub fn row(asked: &IozoneOptions, cell: GridCell) -> String {
    let record = if asked.is_listed() { 0 } else { cell.record / KIB };
    format!("{:16}{record:8}", cell.file / KIB)
}

/// The columns, each with the tests that `-i` chooses together.
const COLUMNS: [&[IozoneTest]; 10] = [
    &[IozoneTest::Write, IozoneTest::Rewrite],
    &[IozoneTest::Read, IozoneTest::Reread],
    &[IozoneTest::RandomRead, IozoneTest::RandomWrite],
    &[IozoneTest::Backward],
    &[IozoneTest::RecordRewrite],
    &[IozoneTest::Stride],
    &[IozoneTest::Fwrite, IozoneTest::Refwrite],
    &[IozoneTest::Fread, IozoneTest::Refread],
    &[IozoneTest::Pwrite, IozoneTest::Repwrite],
    &[IozoneTest::Pread, IozoneTest::Repread],
];

/// The columns from `from` on up to the next one that has a figure to come: blanks for tests that were not
/// chosen, 0 for second times that are left out. What is there of a row grows by these pieces; `value` tells
/// the figures that there are.
pub fn columns(
    asked: &IozoneOptions,
    from: &mut usize,
    value: impl Fn(IozoneTest) -> Option<u64>,
) -> String {
    let mut text = String::new();
    let tests: Vec<IozoneTest> = COLUMNS.concat();
    while let Some(test) = tests.get(*from).copied() {
        let Some(piece) = piece(asked, test, &value) else { break };
        text += &piece;
        *from += 1;
    }
    text
}

/// One column; `None`: its figure is still to come.
fn piece(
    asked: &IozoneOptions,
    test: IozoneTest,
    value: &impl Fn(IozoneTest) -> Option<u64>,
) -> Option<String> {
    let wide = matches!(test, IozoneTest::RecordRewrite | IozoneTest::Stride);
    let width = if wide { 11 } else { 10 };
    if !asked.chose(test) {
        let no_streams = asked.mmap || asked.async_depth.is_some();
        return Some(match test {
            _ if asked.four_columns && test.number() > 1 => String::new(),
            _ if test.is_positional() && !asked.extended => String::new(),
            // Where there are no streams, the original forgets half of their blanks.
            IozoneTest::Fwrite if no_streams && asked.left_out(6) => skipped(test).into(),
            _ if test.is_of_streams() && no_streams => String::new(),
            _ => skipped(test).into(),
        });
    }
    if asked.no_retest && test.is_retest() {
        return Some(format!("{:>width$}", 0));
    }
    value(test).map(|value| format!("{value:>width$}"))
}

/// The blanks of a test that was not chosen.
const fn skipped(test: IozoneTest) -> &'static str {
    match test {
        IozoneTest::Backward => "         ",
        IozoneTest::RecordRewrite | IozoneTest::Stride => "          ",
        IozoneTest::Fwrite | IozoneTest::Write | IozoneTest::Read | IozoneTest::RandomRead => {
            "                  "
        }
        IozoneTest::Fread => "                 ",
        IozoneTest::Pwrite | IozoneTest::Pread => "                  ",
        _ => "",
    }
}

pub fn closing() -> &'static str {
    "\niozone test complete.\n"
}

/// What a figure of the report is called, and its table for a spreadsheet.
const REPORTS: [(IozoneTest, &str); 17] = [
    (IozoneTest::Write, "Writer"),
    (IozoneTest::Rewrite, "Re-writer"),
    (IozoneTest::Read, "Reader"),
    (IozoneTest::Reread, "Re-Reader"),
    (IozoneTest::RandomRead, "Random read"),
    (IozoneTest::RandomWrite, "Random write"),
    (IozoneTest::Backward, "Backward read"),
    (IozoneTest::RecordRewrite, "Record rewrite"),
    (IozoneTest::Stride, "Stride read"),
    (IozoneTest::Fwrite, "Fwrite"),
    (IozoneTest::Refwrite, "Re-Fwrite"),
    (IozoneTest::Fread, "Fread"),
    (IozoneTest::Refread, "Re-Fread"),
    (IozoneTest::Pwrite, "Pwrite"),
    (IozoneTest::Repwrite, "Re-Pwrite"),
    (IozoneTest::Pread, "Pread"),
    (IozoneTest::Repread, "Re-Pread"),
];

/// One figure over the grid: files down, records across as far as they fit into the file; 0 where a cell was not
/// done.
#[derive(Clone, Debug, PartialEq)]
pub struct GridReport {
    pub test: IozoneTest,
    /// `Writer`.
    pub title: &'static str,
    pub records: Vec<u64>,
    pub rows: Vec<(u64, Vec<f64>)>,
}

impl GridReport {
    /// The cells that were done, row by row: KiB of the file and of a record, and the value.
    pub fn cells(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let row = |(file, values): &(u64, Vec<f64>)| {
            let (file, cells) = (*file, self.records.iter().copied().zip(values.clone()));
            cells.map(move |(record, value)| (file, record, value as u64)).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(row).filter(|(_, _, value)| *value > 0)
    }
}

/// The sizes of files, and all of records that the words ask for, smallest first.
fn axes(asked: &IozoneOptions) -> (Vec<u64>, Vec<u64>) {
    let sorted = |mut sizes: Vec<u64>| {
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    let files = asked.cells().iter().map(|cell| cell.file).collect();
    (sorted(files), sorted(asked.record_sizes()))
}

/// The figures over the grid, of the tests that were chosen.
pub fn reports(
    asked: &IozoneOptions,
    value: impl Fn(GridCell, IozoneTest) -> Option<f64>,
) -> Vec<GridReport> {
    let (files, records) = axes(asked);
    let chosen = REPORTS.into_iter().filter(|(test, _)| asked.chose(*test));
    let report = |(test, title)| {
        let row = |file: &u64| {
            let cell = |record: &u64| GridCell { file: *file, record: *record };
            let fitting = records.iter().take_while(|record| *record <= file);
            let values = fitting.map(|record| value(cell(record), test).unwrap_or(0.0));
            (file / KIB, values.collect())
        };
        let records = records.iter().map(|record| record / KIB).collect();
        GridReport { test, title, records, rows: files.iter().map(row).collect() }
    };
    chosen.map(report).collect()
}

/// The tables of `-R`.
pub fn report_text(reports: &[GridReport]) -> String {
    let each = |value: f64| format!(" {value} ");
    "Excel output is below:\n".to_string() + &grid_text(reports, "report", each)
}

/// The tables of `-+u` behind them: percent of CPU time.
pub fn cpu_report(reports: &[GridReport]) -> String {
    let title = "CPU utilization report (Zero values should be ignored)";
    grid_text(reports, title, |value| format!(" {value:6.2}"))
}

/// Tables with files down and records across.
fn grid_text(reports: &[GridReport], title: &str, each: impl Fn(f64) -> String) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = write!(text, "\n\"{} {title}\"\n      ", report.title);
        for record in &report.records {
            let _ = write!(text, "  \"{record}\"");
        }
        text.push('\n');
        for (file, values) in &report.rows {
            let values: String = values.iter().copied().map(&each).collect();
            let _ = writeln!(text, "\"{file}\"  {values}");
        }
    }
    text
}

/// How many streams there are first.
fn streams_title(asked: &IozoneOptions) -> String {
    let (one, more) = if asked.threads { ("thread", "threads") } else { ("process", "processes") };
    // The last that was typed, or the least of a range.
    let streams = match asked.stream_range {
        (None, None) => asked.streams.last(),
        _ => asked.streams.first(),
    };
    let streams = streams.copied().unwrap_or_default();
    format!("\tThroughput test with {streams} {}\n", if streams == 1 { one } else { more })
}

/// Before the tests of so many streams.
pub fn streams_opening(asked: &IozoneOptions, cell: GridCell, file: u64) -> String {
    let one = if asked.threads { "thread" } else { "process" };
    format!(
        "\tEach {one} writes a {} kByte file in {} kByte records\n",
        file / KIB,
        cell.record / KIB
    )
}

/// After the tests of so many streams.
pub const fn streams_end() -> &'static str {
    "\n\n"
}

/// What the streams of a test did, in the lines of the original; the tabs differ from test to test.
pub fn streams_result(asked: &IozoneOptions, test: IozoneTest, results: &StreamResults) -> String {
    let count = results.children.len();
    let (who, tabs) = match test {
        IozoneTest::Write => ("initial writers", ["\t", "\t"]),
        IozoneTest::Rewrite => ("rewriters", ["\t", "\t"]),
        IozoneTest::Read => ("readers", ["\t\t", "\t\t"]),
        IozoneTest::Reread => ("re-readers", ["\t", "\t"]),
        IozoneTest::Backward => ("reverse readers", ["\t", "\t"]),
        IozoneTest::Stride => ("stride readers", ["\t", "\t"]),
        IozoneTest::RandomRead => ("random readers", ["\t", "\t"]),
        IozoneTest::Mixed => ("mixed workload", ["\t", "\t"]),
        IozoneTest::RandomWrite => ("random writers", ["\t", "\t"]),
        IozoneTest::Pwrite => ("pwrite writers", ["\t", "\t"]),
        IozoneTest::Pread => ("pread readers", ["\t", "\t"]),
        IozoneTest::Fwrite => ("fwriters", ["\t", "\t\t"]),
        IozoneTest::Fread => ("freaders", ["\t", "\t\t"]),
        other => (other.name(), ["\t", "\t"]),
    };
    let padded = matches!(
        test,
        IozoneTest::Write
            | IozoneTest::Rewrite
            | IozoneTest::Read
            | IozoneTest::Fwrite
            | IozoneTest::Fread
    );
    let count = if padded { format!("{count:2}") } else { count.to_string() };
    let each = if asked.threads { "thread" } else { "process" };
    let (rate, amount) = match asked.unit {
        IozoneUnit::Operations => ("ops/sec", "ops"),
        _ => ("kB/sec", "kB"),
    };
    let [of_children, of_parent] = tabs;
    let mut text = format!(
        "\n\tChildren see throughput for {count} {who} {of_children}= {:10.2} {rate}\n\
         \tParent sees throughput for {count} {who} {of_parent}= {:10.2} {rate}\n\
         \tMin throughput per {each} \t\t\t= {:10.2} {rate} \n\
         \tMax throughput per {each} \t\t\t= {:10.2} {rate}\n\
         \tAvg throughput per {each} \t\t\t= {:10.2} {rate}\n\
         \tMin xfer \t\t\t\t\t= {:10.2} {amount}\n",
        results.sum(),
        results.parent,
        results.least(),
        results.most(),
        results.mean(),
        results.least_moved()
    );
    if asked.cpu {
        let all = results.cpu();
        let word = if test == IozoneTest::Write { "Utilization" } else { "utilization" };
        let _ = write!(
            text,
            "\tCPU {word}: Wall time {:8.3}    CPU time {:8.3}    CPU utilization {:6.2} %\n\n",
            all.wall,
            all.cpu,
            all.percent()
        );
    }
    if asked.children {
        for (number, child) in results.children.iter().enumerate() {
            let _ = write!(
                text,
                "\tChild[{number}] xfer count = {:10.2} {amount}, Throughput = {:10.2} {rate}",
                child.moved, child.rate
            );
            if asked.cpu {
                let CpuUse { wall, cpu } = child.cpu;
                let percent = child.cpu.percent();
                let _ = write!(text, ", wall={wall:6.3}, cpu={cpu:6.3}, %={percent:6.2}");
            }
            text.push('\n');
        }
    }
    text
}

/// The histogram of a stream as `-+z` writes it behind what its file holds.
pub fn histogram(child: usize, op: &str, bands: &[u64; 40]) -> String {
    const TITLES: [&[&str]; 9] = [
        &[" 20us", " 40us", " 60us", " 80us", "100us"],
        &["200us", "400us", "600us", "800us", "  1ms"],
        &["  2ms", "  4ms", "  6ms", "  8ms", " 10ms"],
        &[" 12ms", " 14ms", " 16ms", " 18ms", " 20ms"],
        &[" 40ms", " 60ms", " 80ms", "100ms"],
        &["200ms", "400ms", "600ms", "800ms", "   1s"],
        &["   2s", "   4s", "   6s", "   8s", "  10s"],
        &["  20s", "  40s", "  60s", "  80s", " 120s"],
        &["120+s"],
    ];
    let mut counts = bands.iter();
    let mut text = format!("Child: {child} Op: {op}\n");
    for (number, titles) in (1..).zip(TITLES) {
        let each =
            titles.iter().zip(&mut counts).map(|(title, count)| format!("{title}:{count:<7} "));
        let _ = write!(text, "Band {number}:   ");
        text += &each.collect::<String>();
        text += if number == 9 { "\n\n" } else { "\n" };
    }
    text
}

/// What a test of streams is called in the histograms of `-+z`.
pub const fn histogram_name(test: IozoneTest, writes: bool) -> &'static str {
    match test {
        IozoneTest::Write => "write",
        IozoneTest::Rewrite => "Rewrite",
        IozoneTest::Read => "Read",
        IozoneTest::Reread => "Reread",
        IozoneTest::Backward => "Read Backwards",
        IozoneTest::Stride => "Stride Read",
        IozoneTest::RandomRead => "Random Read",
        IozoneTest::RandomWrite => "Random Write",
        IozoneTest::Mixed if writes => "Random Write",
        IozoneTest::Mixed => "Random Read",
        IozoneTest::Pwrite => "Pwrite",
        IozoneTest::Pread => "Pread",
        IozoneTest::Fwrite => "Fwrite",
        IozoneTest::Fread => "Fread",
        other => other.name(),
    }
}

/// The first line of a file of `-Q`; of writes of streams it has a blank less.
pub const fn latency_title(test: IozoneTest, streams: u32) -> &'static str {
    match (test, streams) {
        (IozoneTest::Write, 1..) => {
            "Offset in kBytes   Latency in microseconds Transfer size in bytes\n"
        }
        _ => "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n",
    }
}

/// The last line that a test leaves in a file of `-Q`, where it has no streams.
pub fn latency_end(system: f64, user: f64, real: f64) -> String {
    format!("\nSystem time {system:10.3} User time {user:10.3} Real {real:10.3}  (seconds)\n")
}

/// What a test of streams is called in the report of throughput mode.
const STREAM_REPORTS: [(IozoneTest, &str); 13] = [
    (IozoneTest::Write, "Initial write"),
    (IozoneTest::Rewrite, "Rewrite"),
    (IozoneTest::Read, "Read"),
    (IozoneTest::Reread, "Re-read"),
    (IozoneTest::Backward, "Reverse Read"),
    (IozoneTest::Stride, "Stride read"),
    (IozoneTest::RandomRead, "Random read"),
    (IozoneTest::Mixed, "Mixed workload"),
    (IozoneTest::RandomWrite, "Random write"),
    (IozoneTest::Pwrite, "Pwrite"),
    (IozoneTest::Pread, "Pread"),
    (IozoneTest::Fwrite, "Fwrite"),
    (IozoneTest::Fread, "Fread"),
];

/// A table of the report of throughput mode.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamsTable {
    /// What it is, of which records, in which unit.
    pub titles: [String; 3],
    /// A test, and its value for each number of streams.
    pub rows: Vec<(&'static str, Vec<f64>)>,
}

/// The report of throughput mode: what the children see, and with `-+u` their CPU time.
pub fn streams_tables(
    asked: &IozoneOptions,
    record: u64,
    results: impl Fn(u32, IozoneTest) -> Option<StreamResults>,
) -> Vec<StreamsTable> {
    let unit = match asked.unit {
        IozoneUnit::Operations => "ops/sec",
        _ => "kBytes/sec",
    };
    let many = if asked.threads { "threads" } else { "processes" };
    let table = |title: &str, unit: &str, value: &dyn Fn(&StreamResults) -> f64| {
        let row = |(test, name)| {
            let known = asked.streams.iter().filter_map(|streams| results(*streams, test));
            let values: Vec<f64> = known.map(|results| value(&results)).collect();
            (!values.is_empty()).then_some((name, values))
        };
        StreamsTable {
            titles: [
                format!("{title} report Y-axis is type of test X-axis is number of {many}"),
                format!("Record size = {} kBytes", record / KIB),
                format!("Output is in {unit}"),
            ],
            rows: STREAM_REPORTS.into_iter().filter_map(row).collect(),
        }
    };
    let mut tables = vec![table("Throughput", unit, &StreamResults::sum)];
    if asked.cpu {
        tables.push(table("CPU utilization", "CPU%", &|results| results.cpu().percent()));
    }
    tables
}

/// The same on the screen.
pub fn streams_report(tables: &[StreamsTable]) -> String {
    let mut text = String::new();
    for StreamsTable { titles: [title, record, unit], rows } in tables {
        let _ = write!(text, "\n\"{title}\"\n\"{record} \"\n\"{unit}\"\n\n");
        for (name, values) in rows {
            let values: String = values.iter().map(|value| format!(" {value:10.2} ")).collect();
            let _ = writeln!(text, "\"{name:>15} \"{values}\n");
        }
    }
    text
}
