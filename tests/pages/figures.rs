//! Every page is taken apart, and each number of its tables and of the lines below a load is looked for in
//! `figures[]` of the JSON of the same record, after the same rounding. What stands there as absent must be
//! absent on the page, too.

use std::path::Path;
use std::process::Command;

use crate::common;
use crate::common::pages::{UNICODE, printed};
use crate::common::sweeps::{grid, swept};
use assay_plan::plan::Action;
use assay_plan::stats::ActionTotal;
use assay_plan::unit::{Bytes, Nanos, Ops};
use assay_record::record::{IntervalCount, JobResult, Record, SamplePoint};
use serde_json::Value;

/// Columns of the table of phases, and what they show.
const COLUMNS: [(&str, &str); 6] = [
    ("MB/s", "throughput"),
    ("IOPS", "iops"),
    ("p50", "lat_p50"),
    ("p99", "lat_p99"),
    ("max", "lat_max"),
    ("spread", "spread"),
];

/// A number as it stands on a page, in the unit of its figure, and how far rounding has moved it at the
/// most.
#[derive(Clone, Copy, Debug)]
struct Printed {
    value: f64,
    half: f64,
}

impl Printed {
    /// `24.1k`, `85.2 µs`, `±3%`, `4.19`; `scale` is what the unit of the column is worth.
    fn of(text: &str, scale: f64) -> Option<Self> {
        let text = text.trim().trim_start_matches('±');
        let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let scale = match unit.trim() {
            "" => scale,
            "k" => 1e3,
            "M" => 1e6,
            "%" => 0.01,
            "ns" => 1.0,
            "µs" | "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "B/s" => 1.0,
            "kB/s" => 1e3,
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            _ => return None,
        };
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10_f64.powi(-(decimals as i32)) * scale;
        Some(Self { value: number.parse::<f64>().ok()? * scale, half })
    }

    /// Whether it is this value, rounded.
    fn is(self, value: f64) -> bool {
        (self.value - value).abs() <= self.half * (1.0 + 1e-9) + value.abs() * 1e-12
    }
}

/// The figures of a record, as its JSON has them.
struct Listed {
    phases: Vec<String>,
    figures: Vec<Value>,
}

impl Listed {
    fn of(record: &Record) -> Self {
        Self::read(&printed(record, "json", UNICODE))
    }

    fn read(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).expect("json");
        let phases = document["phases"].as_array().expect("phases").iter();
        Self {
            phases: phases.map(|phase| phase["name"].as_str().expect("a name").into()).collect(),
            figures: document["figures"].as_array().expect("figures").clone(),
        }
    }

    /// The value of a figure of all jobs; `Err` where the list does not have it, `None` where it is absent.
    fn value(
        &self,
        phase: &str,
        action: Option<&str>,
        metric: &str,
    ) -> Result<Option<f64>, String> {
        let wanted = |figure: &&Value| {
            figure["job"].is_null()
                && self.phases[figure["phase"].as_u64().expect("a number") as usize] == phase
                && figure["action"].as_str() == action
                && figure["metric"] == metric
        };
        let mut found = self.figures.iter().filter(wanted);
        let figure = found.next().ok_or(format!("no {metric} of {phase} {action:?}"))?;
        assert!(found.next().is_none(), "{metric} of {phase} {action:?} is there twice");
        assert_eq!(figure["value"].is_null(), figure["absent"].is_string(), "{figure}");
        Ok(figure["value"].as_f64())
    }

    /// The actions of a phase that pages show, in their order.
    fn actions(&self, phase: &str) -> Vec<String> {
        let serves = ["flush", "sync_file_range", "drop", "close"];
        let ops = self.figures.iter().filter(|figure| {
            self.phases[figure["phase"].as_u64().expect("a number") as usize] == phase
                && figure["job"].is_null()
                && figure["metric"] == "ops"
        });
        let names = ops.map(|figure| figure["action"].as_str().expect("an action").to_string());
        let any = |name: &str, metric| self.value(phase, Some(name), metric) != Ok(Some(0.0));
        let done = |name: &String| any(name, "ops") || any(name, "errors");
        names.filter(|name| !serves.contains(&name.as_str())).filter(done).collect()
    }

    /// Holds a cell of the table of phases against its figure.
    fn hold(&self, phase: &str, action: &str, metric: &str, text: &str, scale: f64, page: &str) {
        self.hold_of(phase, Some(action), metric, text, scale, page);
    }

    /// The same of what may be of all actions together.
    fn hold_of(
        &self,
        phase: &str,
        action: Option<&str>,
        metric: &str,
        text: &str,
        scale: f64,
        page: &str,
    ) {
        let value = self.value(phase, action, metric);
        // Only phases with workers of their own have CPU time and depth.
        let whole = action.is_none() && text.is_empty();
        let value = if whole { value.unwrap_or_default() } else { value.expect("listed") };
        match (value, text.trim()) {
            (None, "-" | "") => {}
            (Some(value), text) => {
                let printed = Printed::of(text, scale);
                let printed =
                    printed.unwrap_or_else(|| panic!("{phase} {metric}: '{text}'\n{page}"));
                assert!(printed.is(value), "{phase} {metric}: '{text}' of {value}\n{page}");
            }
            (None, text) => {
                panic!("{phase} {metric}: '{text}' is on the page, absent in JSON\n{page}")
            }
        }
    }

    /// Whether any figure of these metrics is this number.
    fn has(&self, metrics: &[&str], printed: Printed) -> bool {
        let values = self
            .figures
            .iter()
            .filter(|figure| metrics.contains(&figure["metric"].as_str().expect("a word")));
        values.filter_map(|figure| figure["value"].as_f64()).any(|value| printed.is(value))
    }
}

/// What the unit of a column is worth.
fn scale(metric: &str) -> f64 {
    if metric == "throughput" { 1e6 } else { 1.0 }
}

/// The table of phases on a page for a terminal; how many cells of it were held against figures.
fn text_page(listed: &Listed, page: &str) -> usize {
    let mut lines = page.lines().skip_while(|line| !line.trim_start().starts_with("MB/s   IOPS"));
    let Some(head) = lines.next() else { return 0 };
    let head: Vec<char> = head.chars().collect();
    let end = |name: &str| {
        let head: String = head.iter().collect();
        head.find(name).expect("a column") + name.len()
    };
    let ends = COLUMNS.map(|(name, _)| end(name));
    let mut rows = lines.take_while(|line| !line.is_empty()).filter(|line| {
        // What stands beneath a row has an arrow, or goes on beneath one.
        !line.starts_with("    ↳")
            && !line.starts_with("      ")
            // So has what stands below the table.
            && !line.starts_with("  - no value")
            && !line.starts_with("  not shown at ")
            && !line.ends_with("nothing was done")
    });
    let mut cells = 0;
    for phase in &listed.phases {
        for action in &listed.actions(phase) {
            let row = rows.next().unwrap_or_else(|| panic!("no row of {phase} {action}\n{page}"));
            let row: Vec<char> = row.chars().collect();
            let mut from = 0;
            for ((_, metric), to) in COLUMNS.into_iter().zip(ends) {
                let text: String = row[from.min(row.len())..to.min(row.len())].iter().collect();
                // The first figure follows names and shapes.
                let text = match metric {
                    "throughput" => text.split_whitespace().next_back().unwrap_or_default().into(),
                    _ => text,
                };
                from = to;
                listed.hold(phase, action, metric, &text, scale(metric), page);
                cells += 1;
            }
        }
    }
    assert!(rows.next().is_none(), "more rows than figures\n{page}");
    cells
}

/// The table of phases of a report with commas.
fn csv_page(listed: &Listed, page: &str) -> usize {
    let mut lines = page.lines();
    let names: Vec<&str> = lines.next().expect("a head").split(',').collect();
    if names[0] != "phase" {
        return 0;
    }
    let metric = |name: &str| match name {
        "ops" | "bytes" | "errors" | "iops" | "spread" => Some(name.to_string()),
        "time_ns" => Some("time".into()),
        "bytes_per_second" => Some("throughput".into()),
        "cpu_ns" => Some("cpu".into()),
        "cpu_share" | "depth_mean" | "depth_max" => Some(name.into()),
        name => name.strip_prefix("lat_").map(|_| name.trim_end_matches("_ns").into()),
    };
    let promised = ["lat_p90_ns", "lat_p99_9_ns", "cpu_ns", "depth_mean", "depth_max"];
    assert!(promised.iter().all(|name| names.contains(name)), "{names:?}");
    let mut cells = 0;
    for phase in &listed.phases {
        for action in &listed.actions(phase) {
            let line =
                lines.next().unwrap_or_else(|| panic!("no line of {phase} {action}\n{page}"));
            let texts: Vec<&str> = line.split(',').collect();
            assert_eq!((texts.len(), texts[1]), (names.len(), action.as_str()), "{page}");
            for (name, text) in names.iter().zip(texts) {
                let Some(metric) = metric(name) else { continue };
                let of_phase = metric.starts_with("cpu") || metric.starts_with("depth");
                let action = (!of_phase).then_some(action.as_str());
                listed.hold_of(phase, action, &metric, text, 1.0, page);
                cells += 1;
            }
        }
    }
    assert_eq!(lines.next(), None, "{page}");
    cells
}

/// The table of phases of a page for a browser.
fn html_page(listed: &Listed, page: &str) -> usize {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(page, options).expect("well-formed");
    let mut rows = document.descendants().filter(|node| {
        let figure = |node: roxmltree::Node| node.attribute("class") == Some("figure");
        node.tag_name().name() == "tr" && node.children().any(figure)
    });
    let mut cells = 0;
    for phase in &listed.phases {
        for action in &listed.actions(phase) {
            let row = rows.next().unwrap_or_else(|| panic!("no row of {phase} {action}"));
            let figures = row.children().filter(|node| node.attribute("class") == Some("figure"));
            let texts: Vec<&str> = figures.map(|node| node.text().unwrap_or_default()).collect();
            assert_eq!(texts.len(), COLUMNS.len());
            for ((_, metric), text) in COLUMNS.into_iter().zip(texts) {
                listed.hold(phase, action, metric, text, scale(metric), "html");
                cells += 1;
            }
        }
    }
    assert!(rows.next().is_none(), "more rows than figures");
    cells
}

/// The table of phases of a page in Markdown.
fn markdown_page(listed: &Listed, page: &str) -> usize {
    let mut lines = page.lines().skip_while(|line| !line.starts_with("| phase |"));
    let Some(head) = lines.next() else { return 0 };
    let cells = |line: &str| -> Vec<String> {
        let inside = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |"));
        let inside = inside.unwrap_or_else(|| panic!("{line}"));
        inside.split(" | ").map(|cell| cell.trim_matches('~').to_string()).collect()
    };
    let names = cells(head);
    let mut rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let mut held = 0;
    for phase in &listed.phases {
        for action in &listed.actions(phase) {
            let row = cells(rows.next().unwrap_or_else(|| panic!("no row of {phase}\n{page}")));
            assert_eq!((row.len(), &row[1]), (names.len(), action), "{page}");
            for (title, metric) in COLUMNS {
                let at = names.iter().position(|name| name == title).expect("a column");
                listed.hold(phase, action, metric, &row[at], scale(metric), page);
                held += 1;
            }
        }
    }
    assert_eq!(rows.find(|row| !row.contains("nothing was done")), None, "{page}");
    held
}

/// The lines below the table of one load; how many numbers of them were held against figures.
fn fact_lines(listed: &Listed, phase: &str, page: &str) -> usize {
    // What a line goes on with belongs to its label.
    let mut facts: Vec<(String, String)> = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("  ")) {
        let label: String = line.chars().skip(2).take(9).collect();
        let text: String = line.chars().skip(11).collect();
        let fresh = !label.trim().is_empty() || text.starts_with("from submission: ");
        match facts.last_mut() {
            Some((_, last)) if !fresh && !text.starts_with("-: ") => last.extend([" ", &text]),
            _ => facts.push((label.trim().into(), text)),
        }
    }
    let (mut held, mut last) = (0, String::new());
    let mut hold = |action: Option<&str>, metric: &str, text: &str| {
        listed.hold_of(phase, action, metric, text, 1.0, page);
        held += 1;
    };
    for (label, text) in &facts {
        let (part, latencies) = match text.strip_prefix("from submission: ") {
            Some(rest) if label.is_empty() => ("service", rest),
            _ => ("lat", text.as_str()),
        };
        if latencies.starts_with("p50 ") {
            if part == "lat" {
                last.clone_from(label);
            }
            for told in latencies.split(", ") {
                let (name, value) = told.split_once(' ').expect("a name and a value");
                hold(Some(&last), &format!("{part}_{}", name.replace('.', "_")), value);
            }
            continue;
        }
        let words: Vec<&str> = text.split(' ').collect();
        match (label.as_str(), words.as_slice()) {
            ("cpu", [share, "%", ..]) => hold(None, "cpu_share", &format!("{share}%")),
            ("depth", [mean, "of", .., most, "at", "most"]) => {
                hold(None, "depth_mean", mean);
                hold(None, "depth_max", most);
            }
            ("rate", [reached, "of", asked, "IOPS", "asked:", ..]) => {
                hold(None, "iops_reached", reached);
                hold(None, "iops_asked", asked);
            }
            _ => {}
        }
    }
    held
}

/// A load as `assay io` does it, with all that its page can say.
fn loaded() -> Record {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "io . --rw randrw --size 4M --buffered --time 500ms --rate 2k --workers 2 --p99 1s";
    let done = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(words.split(' ').chain(["--record", "record.json"]))
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assay_record::record::load(&folder.path().join("record.json"))
        .unwrap_or_else(|_| panic!("{said}"))
}

#[test]
fn the_lines_below_a_load_are_figures() {
    let record = loaded();
    let listed = Listed::of(&record);
    let page = printed(&record, "text", UNICODE);
    // Read, write and flush have five each from when they were due; read and write from submission, too.
    let held = fact_lines(&listed, "randrw", &page);
    assert!(held >= 5 * 4 + 5, "{held}\n{page}");
    assert!(page.lines().any(|line| line.starts_with("  rate ")), "{page}");
}

#[test]
fn the_cells_of_a_profile_are_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    let assay = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(words)
            .current_dir(folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "90");
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    // On a model, whose clock takes no time.
    let planned = assay(&["quick", "--profile", "cdm", ".", "--plan"]);
    let mut plan: Value = serde_json::from_str(&planned).expect("a plan");
    for phase in plan["phases"].as_array_mut().expect("phases") {
        phase["quiet"] = 0.into();
        for job in phase["jobs"].as_array_mut().expect("jobs") {
            let blocks = &mut job["work"]["blocks"];
            blocks["target"] = serde_json::json!({ "nowhere": { "size": 1_u64 << 30 } });
            blocks["method"] = serde_json::json!({ "sim": { "latency": 100_000, "channels": 8 } });
            blocks["caching"] = "buffered".into();
        }
    }
    std::fs::write(folder.path().join("plan.json"), plan.to_string()).expect("written");
    let page = assay(&["run", "plan.json", "--record", "record.json"]);
    let text = std::fs::read_to_string(folder.path().join("record.json")).expect("a record");
    let listed = Listed::read(&text);
    let cells = plan["aim"]["profile"]["cells"].as_array().expect("cells");
    let mut held = 0;
    for (head, action) in [("[Read]", "read"), ("[Write]", "write")] {
        let rows = page.lines().skip_while(|line| !line.trim_start().starts_with(head)).skip(1);
        let rows = rows.take_while(|line| !line.is_empty() && !line.starts_with("  ? "));
        for (row, cell) in rows.zip(cells.iter().filter(|cell| cell["action"] == action)) {
            let title = cell["title"].as_str().expect("a title");
            let rest = row.trim_start().strip_prefix(title).unwrap_or_else(|| panic!("{page}"));
            let words: Vec<&str> = rest.split_whitespace().collect();
            let [best, mean, _, iops, latency, unit, ..] = words.as_slice() else {
                panic!("{row}")
            };
            let runs = cell["runs"].as_array().expect("runs").iter();
            let name = |run: &Value| {
                let number = run.as_u64().expect("a number") as usize;
                plan["phases"][number]["name"].as_str().expect("a name")
            };
            let runs: Vec<&str> = runs.map(name).collect();
            let values = |metric: &str| -> Vec<f64> {
                let value = |run: &&str| listed.value(run, Some(action), metric).expect("listed");
                runs.iter().filter_map(value).collect()
            };
            let rates = values("throughput");
            let highest = rates.iter().copied().fold(0.0, f64::max);
            let middle = rates.iter().sum::<f64>() / rates.len() as f64;
            for (text, scale, right) in [
                (best.to_string(), 1e6, vec![highest]),
                (mean.to_string(), 1e6, vec![middle]),
                (iops.to_string(), 1.0, values("iops")),
                (format!("{latency} {unit}"), 1.0, values("lat_mean")),
            ] {
                let printed = Printed::of(&text, scale).unwrap_or_else(|| panic!("{text} {row}"));
                assert!(
                    right.iter().any(|value| printed.is(*value)),
                    "{text} of {right:?}\n{page}"
                );
                held += 1;
            }
        }
    }
    assert_eq!(held, 8 * 4, "{page}");
}

#[test]
fn the_rows_of_atto_are_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["atto", "--sizes", "64k,1M", "-l", "2M", ".", "--record", "record.json"])
        .current_dir(folder.path())
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "90")
        .output()
        .expect("it runs");
    let page = String::from_utf8(done.stdout).expect("text");
    let text = std::fs::read_to_string(folder.path().join("record.json")).expect("a record");
    let listed = Listed::read(&text);
    let mut held = 0;
    for (size, name) in [("64 KiB", "64k"), ("1 MiB", "1m")] {
        let row = page.lines().find_map(|line| line.trim_start().strip_prefix(size));
        let words = row.unwrap_or_else(|| panic!("{page}")).split_whitespace();
        // Without the marks of what is not sound.
        let words: Vec<&str> = words.filter(|word| !["?", "✗", "*"].contains(word)).collect();
        let [write, per, flush, unit, read, again, ..] = words.as_slice() else { panic!("{page}") };
        for (action, metric, text) in [
            ("write", "throughput", format!("{write} {per}")),
            ("flush", "lat_max", format!("{flush} {unit}")),
            ("read", "throughput", format!("{read} {again}")),
        ] {
            let phase = format!("{}-{name}", if action == "read" { "read" } else { "write" });
            let text = text.trim_end_matches(['*', '?', '✗']).trim_end();
            listed.hold(&phase, action, metric, text, 1.0, &page);
            held += 1;
        }
    }
    assert_eq!(held, 6, "{page}");
}

/// All tables of phases of a record.
fn hold(name: &str, record: &Record) -> usize {
    let listed = Listed::of(record);
    // A sweep has a table of its own there.
    let sweeps = matches!(record.plan.aim, Some(assay_plan::plan::StudyPlan::Sweep(_)));
    let page = |format| printed(record, format, UNICODE);
    let (csv, html) = (csv_page(&listed, &page("csv")), html_page(&listed, &page("html")));
    let own = !page("text").lines().any(|line| line.trim_start().starts_with("MB/s   IOPS"));
    let text = text_page(&listed, &page("text"));
    let markdown = markdown_page(&listed, &page("markdown"));
    assert!(html > 0 && (csv > 0 || sweeps), "{name}: {csv} {html}");
    assert!((text > 0 && markdown > 0) || own, "{name}: {text} {markdown}");
    csv + html + text + markdown
}

#[test]
fn each_number_of_a_table_is_a_figure() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    let (mut records, mut cells) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("records") {
        let path = entry.expect("an entry").path();
        let record = assay_record::record::load(&path).expect("a record");
        if record.phases.iter().any(|phase| !phase.totals.is_empty()) {
            cells += hold(&path.display().to_string(), &record);
            records += 1;
        }
    }
    assert!(records > 100 && cells > 2000, "{records} records, {cells} cells");
}

#[test]
fn kept_records_obey_the_schema_that_is_published() {
    let printed = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["schema", "record"])
        .output()
        .expect("it runs");
    let schema: Value = serde_json::from_slice(&printed.stdout).expect("json");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    for entry in std::fs::read_dir(folder).expect("records") {
        let path = entry.expect("an entry").path();
        let record = assay_record::record::load(&path).expect("a record");
        let text = assay_record::record::RecordDocument::of(&record).text().expect("json");
        let document: Value = serde_json::from_str(&text).expect("json");
        let errors: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

#[test]
fn pages_of_every_verb_show_figures() {
    for (name, record) in [
        ("card", common::card()),
        ("fast", common::fast()),
        ("deferred", common::deferred()),
        ("memory", common::memory()),
        ("interrupted", common::interrupted()),
        ("failed", common::failed()),
        ("ramp", common::climbed()),
        ("sustain", common::sustained()),
        ("classes", common::classes::graded()),
        ("modes", common::modes::record(common::modes::usual)),
        ("sweep", swept()),
        ("grid", grid()),
        ("io", loaded()),
    ] {
        hold(name, &record);
    }
}

#[test]
fn the_curve_of_a_ramp_shows_figures() {
    let record = common::climbed();
    let (listed, page) = (Listed::of(&record), printed(&record, "text", UNICODE));
    let rows = page.lines().skip_while(|line| !line.starts_with("  curve"));
    let rows: Vec<&str> = rows.skip(1).take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), listed.phases.len());
    // Its scale is the highest rate, and each bar its part of it; the figures stand in the table.
    let scale = page.lines().find_map(|line| line.strip_prefix("  curve"));
    let words: Vec<&str> = scale.expect("a scale").split_whitespace().collect();
    let [.., "0", most, "IOPS"] = words.as_slice() else { panic!("{words:?}") };
    let iops = |phase: &String| {
        let action = &listed.actions(phase)[0];
        listed.value(phase, Some(action), "iops").expect("listed").expect("a rate")
    };
    let highest = listed.phases.iter().map(iops).fold(0.0, f64::max);
    assert!(Printed::of(most, 1.0).expect("a rate").is(highest), "{most} of {highest}");
    let length = |row: &str| row.chars().filter(|c| *c == '█').count() as f64;
    let longest = rows.iter().map(|row| length(row)).fold(0.0, f64::max);
    for (phase, row) in listed.phases.iter().zip(rows) {
        let (drawn, part) = (length(row) / longest, iops(phase) / highest);
        assert!((drawn - part).abs() < 0.05, "{row}: {drawn} of {part}");
    }
}

#[test]
fn the_cells_of_a_sweep_are_figures() {
    for record in [swept(), grid()] {
        let listed = Listed::of(&record);
        let page = printed(&record, "csv", UNICODE);
        let mut held = 0;
        for line in page.lines().skip(1) {
            let texts: Vec<&str> = line.split(',').collect();
            for (text, metric) in [(texts[5], "throughput"), (texts[6], "iops")] {
                let Some(printed) = Printed::of(text, 1.0) else { continue };
                assert!(listed.has(&[metric], printed), "{metric} {text}\n{page}");
                held += 1;
            }
        }
        let page = printed(&record, "text", UNICODE);
        let words: Vec<&str> = page.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[1].trim_end_matches(',') == "MB/s") {
            let Some(printed) = Printed::of(pair[0], 1e6) else { continue };
            let limit = page.contains(&format!("at most {} MB/s", pair[0]));
            assert!(limit || listed.has(&["throughput"], printed), "{pair:?}\n{page}");
            held += 1;
        }
        assert!(held > 10, "{held}\n{page}");
    }
}

#[test]
fn what_a_long_write_came_to_are_figures() {
    let mut record = common::sustained();
    assay_judge::judge(&mut record);
    let (listed, page) = (Listed::of(&record), printed(&record, "text", UNICODE));
    for (label, metric) in [("burst", "throughput_burst"), ("lasts", "throughput_lasting")] {
        let line = page.lines().find(|line| line.starts_with(&format!("  {label} ")));
        let words: Vec<&str> = line.expect("a line").split_whitespace().collect();
        let at = words.iter().position(|word| word.starts_with("MB/s")).expect("a rate");
        listed.hold("write", "write", metric, words[at - 1], 1e6, &page);
    }
}

#[test]
fn the_rows_of_modes_are_figures() {
    let record = common::modes::record(common::modes::usual);
    let (listed, page) = (Listed::of(&record), printed(&record, "text", UNICODE));
    let rows = page.lines().filter(|line| line.starts_with("  ✓ ") || line.starts_with("  ✗ "));
    let mut held = 0;
    for row in rows {
        let called = ["throughput_calls", "throughput"];
        let durable = ["throughput", "throughput_settled"];
        let rates: String = row.chars().skip(22).collect();
        for (text, metrics) in rates.split_whitespace().zip([called, durable]) {
            let Some(printed) = Printed::of(text, 1e6) else { continue };
            assert!(listed.has(&metrics, printed), "{text} {metrics:?}\n{page}");
            held += 1;
        }
    }
    assert!(held > 15, "{held}\n{page}");
}

#[test]
fn jobs_beside_each_other_have_figures_of_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs/two-jobs.json");
    let record = assay_record::record::load(&path).expect("a record");
    let listed = Listed::of(&record);
    assert_eq!(listed.phases, ["fill", "both"]);
    let of_job = |figure: &&Value| figure["job"].is_string();
    let jobs: Vec<&Value> = listed.figures.iter().filter(of_job).collect();
    // One job alone has the figures of its phase.
    assert!(jobs.iter().all(|figure| figure["phase"] == 1));
    for (action, job) in [("read", "reader"), ("write", "writer")] {
        for metric in ["ops", "bytes", "errors", "lat_max"] {
            let own = |figure: &&&Value| figure["action"] == action && figure["metric"] == metric;
            let own: Vec<&&Value> = jobs.iter().filter(own).collect();
            let [figure] = own.as_slice() else { panic!("{metric}: {own:?}") };
            assert_eq!(figure["job"], job);
            let whole = listed.value("both", Some(action), metric).expect("listed");
            assert_eq!(figure["value"].as_f64(), whole, "{metric}");
        }
    }
}

#[test]
fn what_dd_says_are_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    let copied = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["dd", "if=/dev/zero", "of=x", "bs=64k", "count=32"])
        .current_dir(folder.path())
        .env("LC_ALL", "C")
        .env("ASSAY_RECORD", "record.json")
        .env("ASSAY_SETTLE", "no")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&copied.stderr);
    let text = std::fs::read_to_string(folder.path().join("record.json"));
    let listed = Listed::read(&text.unwrap_or_else(|_| panic!("{said}")));
    // 2097152 bytes (2.1 MB, 2.0 MiB) copied, 0.00123 s, 1.7 GB/s
    let line = said.lines().find(|line| line.contains(" copied, ")).expect("a line");
    let words: Vec<&str> = line.split_whitespace().collect();
    let [.., seconds, _, rate, unit] = words.as_slice() else { panic!("{line}") };
    let phase = &listed.phases[0];
    listed.hold(phase, "write", "bytes", words[0], 1.0, line);
    listed.hold(phase, "write", "time", seconds, 1e9, line);
    listed.hold(phase, "write", "throughput", &format!("{rate} {unit}"), 1.0, line);
    assert!(
        listed.value(phase, None, "throughput").is_err(),
        "both ends of a copy are not one rate"
    );
}

#[test]
fn what_bonnie_shows_are_figures() {
    let mut record = common::fast();
    for (phase, name) in record.phases.iter_mut().zip(["put_block", "get_block"]) {
        phase.name = name.into();
    }
    let listed = Listed::of(&record);
    let tests = assay::dialect::bonnie::measured(&record);
    for (at, phase, action) in [(1, "put_block", "write"), (4, "get_block", "read")] {
        let value = |metric| listed.value(phase, Some(action), metric).expect("listed");
        let measure = tests[at].expect("measured");
        let rate = value("throughput").expect("a rate");
        assert!((measure.rate * 1024.0 - rate).abs() < rate * 1e-9, "{} {rate}", measure.rate);
        assert_eq!(measure.latency.map(|time| time.0 as f64), value("lat_max"));
    }
}

#[test]
fn what_is_compared_are_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, record) in [("one.json", common::fast()), ("two.json", common::fast())] {
        let text = printed(&record, "json", UNICODE);
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let listed = Listed::of(&common::fast());
    let compared = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["compare", "--json", "one.json", "two.json"])
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    let document: Value = serde_json::from_slice(&compared.stdout).expect("json");
    let pairs = document["figures"].as_array().expect("figures");
    assert!(pairs.len() > 6, "{document}");
    for pair in pairs {
        let (metric, scale) = match pair["quantity"].as_str().expect("a word") {
            "megabytes_per_second" => ("throughput", 1e6),
            "operations_per_second" => ("iops", 1.0),
            "p99_ns" => ("lat_p99", 1.0),
            other => panic!("{other}"),
        };
        let (phase, action) = (pair["phase"].as_str(), pair["action"].as_str());
        let value = listed.value(phase.expect("a phase"), action, metric).expect("listed");
        let shown = pair["first"][0].as_f64().expect("a number") * scale;
        let value = value.expect("not absent");
        assert!((shown - value).abs() <= value * 1e-12, "{pair} {value}");
    }
}

#[test]
fn a_run_writes_the_same_figures_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = serde_json::json!({
        "title": "both ways", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{ "name": "mixed", "jobs": [
            { "name": "one", "workers": 2, "stop": { "first_of": [{ "time": 600_000_000 }] },
              "work": { "blocks": {
                "target": { "nowhere": { "size": 16_777_216 } }, "method": "null",
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }, { "action": "write", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
            }}},
        ]}],
    });
    std::fs::write(folder.path().join("plan.json"), plan.to_string()).expect("written");
    let run = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run", "plan.json", "--record", "record.json", "--report", "report.txt"])
        .args(["--report", "report.csv", "--report", "report.html"])
        .args(["--report", "report.md", "--json"])
        .current_dir(folder.path())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&run.stderr);
    let read = |name: &str| {
        std::fs::read_to_string(folder.path().join(name))
            .unwrap_or_else(|_| panic!("{name}: {said}"))
    };
    let listed = Listed::read(&read("record.json"));
    assert_eq!(listed.actions("mixed"), ["read", "write"]);
    assert!(listed.value("mixed", None, "throughput").expect("listed").is_some());
    assert_eq!(read("record.json"), String::from_utf8_lossy(&run.stdout));
    assert!(text_page(&listed, &read("report.txt")) > 0);
    assert!(csv_page(&listed, &read("report.csv")) > 0);
    assert!(html_page(&listed, &read("report.html")) > 0);
    assert!(markdown_page(&listed, &read("report.md")) > 0);
}

/// A phase that reads steadily and writes by fits and starts, with a flush at its end.
fn unsteady_writes() -> Record {
    let mut record = common::fast();
    record.phases.as_mut_vec().truncate(1);
    let phase = &mut record.phases[0];
    let total = phase.totals.values().next().expect("something was done").clone();
    let (step, span) = (Nanos::millis(100), &mut phase.span);
    (span.counted, span.stopped) = (span.started, span.started + Nanos::secs(2));
    phase.series.points = (1..=20_u64)
        .map(|number| SamplePoint {
            at_ns: Nanos(number * step.0),
            ops: 100,
            read_bytes: 1 << 20,
            write_bytes: if number % 2 == 0 { 3 << 20 } else { 1 << 20 },
            ..SamplePoint::default()
        })
        .collect();
    let flush = Box::new(ActionTotal { ops: Ops(1), bytes: Bytes::ZERO, ..*total.clone() });
    phase.totals = [(Action::Read, total.clone()), (Action::Write, total), (Action::Flush, flush)]
        .into_iter()
        .collect();
    record
}

#[test]
fn each_action_has_the_spread_of_its_own_rate_and_a_flush_has_none() {
    let mut record = unsteady_writes();
    let name = record.phases[0].name.clone();
    let hold = |record: &Record| {
        let listed = Listed::of(record);
        let spread = |action| listed.value(&name, action, "spread").expect("listed");
        let (read, write) = (spread(Some("read")), spread(Some("write")));
        assert_eq!(read, Some(0.0));
        assert!(write.is_some_and(|share| share > 0.5), "{write:?}");
        assert!(spread(None).is_some_and(|share| Some(share) < write));
        assert!(listed.value(&name, Some("flush"), "spread").is_err());
        for figure in &listed.figures {
            let (action, metric) = (figure["action"].as_str(), figure["metric"].as_str());
            let wanted = matches!(action, Some("read" | "write")) && metric == Some("iops");
            if wanted {
                let (low, high) = (&figure["spread"]["low"], &figure["spread"]["high"]);
                assert_eq!(low == high, action == Some("read"), "{figure}");
            }
            assert!(action != Some("flush") || figure["spread"].is_null(), "{figure}");
        }
        text_page(&listed, &printed(record, "text", UNICODE));
    };
    // By the bytes of each direction in the series of the phase ...
    hold(&record);
    // ... or, where the jobs have series of their own, by these.
    let phase = &mut record.phases[0];
    let counts = |bytes: fn(&SamplePoint) -> u64| -> Vec<IntervalCount> {
        phase.series.points.iter().map(|point| IntervalCount(50, bytes(point))).collect()
    };
    let series = [
        (Action::Read, counts(|point| point.read_bytes)),
        (Action::Write, counts(|point| point.write_bytes)),
    ];
    phase.jobs = vec![JobResult {
        name: "both".into(),
        span: None,
        totals: phase.totals.clone(),
        priorities: Vec::new(),
        cpu: None,
        depth: None,
        costs: None,
        faults: Vec::new(),
        phantom: None,
        passed: None,
        wrong: Vec::new(),
        series: series.into_iter().collect(),
        workers: Vec::new(),
    }];
    phase.series.points.iter_mut().for_each(|point| point.write_bytes = 0);
    hold(&record);
    // Rewrites are both reads and writes: their samples cannot be told from those of reads.
    let phase = &mut record.phases[0];
    let total = phase.totals.remove(&Action::Write).expect("there");
    phase.totals.insert(Action::Rewrite, total);
    let listed = Listed::of(&record);
    assert_eq!(listed.value(&name, Some("read"), "spread"), Ok(None));
}

#[test]
fn figures_are_made_anew_when_a_record_is_read() {
    let mut document: Value =
        serde_json::from_str(&printed(&common::card(), "json", UNICODE)).expect("json");
    document["figures"][0]["value"] = 1.into();
    let record: Record = serde_json::from_value(document).expect("a record");
    assert_eq!(record, common::card());
}
