//! The page of `modes`: the same write and read in several ways, one row each, and why they rank
//! as they do.

use super::fact::{PageFact, fact, inked, labelled};
use super::figure::{digits, megabytes};
use super::fitted::{FittedCell, FittedColumn, FittedTable, mark};
use super::framed::{FramedContent, FramedPage};
use super::paint::{Ink, InkedText, ink};
use super::study::StudyPrinter;
use super::text::TextPage;
use super::{ReportPage, TerminalStyle};
use assay_judge::modes::row::{self, ModeDevice, ModeRow, SIZING};
use assay_judge::modes::why::ranking;
use assay_judge::words;
use assay_plan::plan::{ModesStudy, Plan, StopRule, Work};
use assay_plan::unit::{Bandwidth, Bytes, Nanos};
use assay_record::record::{PhaseRecord, Record, Resolved, ResolvedJob, Trust};

/// Columns of the mark and the name of a way.
const NAME: usize = 18;

/// The figures behind it. Where the page is narrow those of the highest rank go first: what the file had
/// in memory, then the CPU, then how the requests were made; what was safe always stays.
fn figures() -> [FittedColumn; 10] {
    let memory =
        |title, width, rank| FittedColumn::right(title, width).ranked(rank).under("in memory, MiB");
    let requests =
        |title, width, rank| FittedColumn::right(title, width).ranked(rank).under("requests");
    [
        FittedColumn::right("app", 7).ranked(1).under("MB/s"),
        FittedColumn::right("durable", 8).under("MB/s"),
        requests("count", 7, 6),
        requests("size", 9, 4),
        requests("depth", 6, 5),
        FittedColumn::right("flushes", 8).ranked(3),
        FittedColumn::right("CPU", 5).ranked(7),
        memory("before", 7, 8).named("in memory before"),
        memory("after", 6, 8).named("in memory after"),
        memory("lost", 6, 2),
    ]
}

impl StudyPrinter for ModesStudy {
    fn page(&self, style: TerminalStyle) -> Option<Box<dyn ReportPage>> {
        Some(Box::new(FramedPage::new(ModesPage::new(style), style)))
    }

    fn has_page(&self) -> bool {
        true
    }
}

/// What is between heading and foot of the page.
#[derive(Debug)]
struct ModesPage {
    style: TerminalStyle,
    /// Direction and block of the table that stands there.
    of: Option<(bool, Bytes)>,
    /// The same with its columns; all tables of a page have the same ones.
    table: FittedTable,
}

impl ModesPage {
    fn new(style: TerminalStyle) -> Self {
        let columns = std::iter::once(FittedColumn::left("", NAME)).chain(figures());
        Self { style, of: None, table: FittedTable::new(columns.collect(), style) }
    }

    /// The names of the columns, apart from a table above.
    fn head(&mut self, row: &ModeRow) -> Vec<String> {
        let above = self.of.replace((row.writes, row.block)).map(|_| String::new());
        let what = if row.writes { "write" } else { "read" };
        self.table.title(0, format!("{what} {}", row.block));
        above.into_iter().chain(self.table.head()).collect()
    }

    fn row(&mut self, row: &ModeRow) -> Vec<String> {
        let style = self.style;
        let rate = |rate: Option<f64>| megabytes(rate.map(Bandwidth));
        let mib = |bytes: Option<Bytes>| {
            bytes.map_or_else(|| "-".into(), |bytes| digits(bytes.0 as f64 / 1_048_576.0))
        };
        let device = row.device.as_ref().ok();
        let cell = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let star = if row.drive.is_some() { "*" } else { "" };
        let trust = row.trust.map(|(trust, _)| trust);
        let sign = trust.map_or(" ", |trust| mark(trust, style));
        let painted = trust.map_or_else(|| sign.into(), |trust| style.paint(ink(trust), sign));
        let (name, painted) = (format!("{sign} {}", row.mode), format!("{painted} {}", row.mode));
        let cells = [
            FittedCell::painted(name, painted).marked(trust),
            rate(row.app).into(),
            FittedCell::inked(rate(row.durable), Ink::Strong, style),
            cell(device.map(|device| device.requests.to_string())).into(),
            cell(device.and_then(|device| Some(device.size?.to_string()))).into(),
            cell(device.map(depth)).into(),
            cell(device.and_then(|device| Some(device.flushes?.to_string()))).into(),
            cell(row.cpu.map(|cpu| format!("{:.0}%", cpu * 100.0))).into(),
            mib(row.before).into(),
            mib(row.after).into(),
            (mib(row.lost) + star).into(),
        ];
        self.table.row(&cells)
    }

    /// Why the rows rank as they do, table by table.
    fn why(&self, rows: &[ModeRow]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut tables: Vec<(bool, Bytes)> = Vec::new();
        for row in rows {
            if !tables.contains(&(row.writes, row.block)) {
                tables.push((row.writes, row.block));
            }
        }
        for (writes, block) in tables {
            let rows: Vec<&ModeRow> =
                rows.iter().filter(|row| (row.writes, row.block) == (writes, block)).collect();
            let claims = ranking(&rows);
            if claims.is_empty() {
                continue;
            }
            let what = if writes { "write" } else { "read" };
            let label = if lines.is_empty() { "why" } else { "" };
            lines.extend(labelled(label, &format!("{what} {block}:"), self.style));
            for claim in claims {
                lines.extend(self.item(&self.style.voice().say(&claim)));
            }
        }
        lines
    }

    /// A sentence of a list.
    fn item(&self, text: &str) -> Vec<String> {
        let dash = self.style.glyph("–", "-");
        let narrow = TerminalStyle { width: self.style.width.saturating_sub(2), ..self.style };
        let lines = labelled("", text, narrow).into_iter().enumerate();
        lines
            .map(|(index, line)| {
                let text = line.trim_start();
                let start = line.len() - text.len();
                let dash = if index == 0 { dash } else { " " };
                format!("{}{dash} {text}", &line[..start])
            })
            .collect()
    }

    /// What the signs mean, as far as they were used.
    fn legend(&self, record: &Record, rows: &[ModeRow]) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(drive) = rows.iter().find_map(|row| row.drive.as_ref()) {
            let text = format!(
                "* plus whatever was in the write cache of {drive}, which was not flushed; how much cannot be seen"
            );
            lines.extend(labelled("lost", &text, self.style));
        }
        if let Some(names) = absent(record) {
            let text = format!("{names}: not available here, so not in the table");
            lines.extend(labelled("absent", &text, self.style));
        }
        if rows.iter().any(|row| !row.writes) {
            let text = "there are three ways to read: flushes and O_SYNC have no effect on reads";
            lines.extend(labelled("read", text, self.style));
        }
        lines
    }

    /// Trust in the rows: what is said against some, once for all of them.
    fn judged(&self, record: &Record, rows: &[ModeRow]) -> Vec<String> {
        let whole = record.verdict.as_ref().map(|verdict| verdict.trust);
        let Some(all) = whole.filter(|_| !rows.is_empty()) else { return Vec::new() };
        let sound =
            rows.iter().filter(|row| row.trust.is_some_and(|(trust, _)| trust == Trust::Sound));
        let valid = format!(": {} of {} results are valid", sound.count(), rows.len());
        let text = InkedText::of(ink(all), all.name()).then(Ink::Plain, valid);
        let mut lines = inked("verdict", &text, self.style);
        for (what, who) in self.doubts(rows) {
            lines.extend(self.item(&format!("{}: {what}", words::names(&who))));
        }
        lines
    }

    /// What is not sound, and of which rows: each row has its own reading.
    fn doubts(&self, rows: &[ModeRow]) -> Vec<(String, Vec<String>)> {
        let plain = TerminalStyle { colour: false, ..self.style };
        let mut said: Vec<(String, Vec<String>)> = Vec::new();
        for row in rows {
            let Some(judged) = row.trust.filter(|(trust, _)| *trust != Trust::Sound) else {
                continue;
            };
            let who = format!("{} {}", row.mode, row.block);
            let claims = self.style.voice().sentences(&row.claims);
            let what = format!("{}: {claims}", plain.judgement(judged.0, judged.1));
            match said.iter_mut().find(|(known, _)| *known == what) {
                Some((_, rows)) => rows.push(who),
                None => said.push((what, vec![who])),
            }
        }
        said
    }
}

impl FramedContent for ModesPage {
    fn opening(&self, plan: &Plan, resolved: &Resolved) -> Option<PageFact> {
        Some(fact("writes", writes(plan, resolved)))
    }

    fn phase(&mut self, record: &Record, phase: &PhaseRecord) -> Vec<String> {
        let Some(row) = ModeRow::of(record, phase) else { return Vec::new() };
        let known = self.of == Some((row.writes, row.block));
        let mut lines = if known { Vec::new() } else { self.head(&row) };
        lines.extend(self.row(&row));
        lines
    }

    fn table(&mut self, _record: &Record) -> Vec<String> {
        let mut lines = self.table.foot(&[]);
        lines.push(String::new());
        lines
    }

    fn findings(&self, record: &Record) -> Vec<String> {
        let rows = rows(record);
        [self.legend(record, &rows), self.why(&rows)].concat()
    }

    fn verdict(&self, record: &Record, _text: &TextPage) -> Vec<String> {
        self.judged(record, &rows(record))
    }
}

/// A mean depth to a hundredth, and above that three digits: `0.72`, `31.0`.
fn depth(device: &ModeDevice) -> String {
    if device.depth < 1.0 { format!("{:.2}", device.depth) } else { digits(device.depth) }
}

fn rows(record: &Record) -> Vec<ModeRow> {
    record.phases.iter().filter_map(|phase| ModeRow::of(record, phase)).collect()
}

/// How much will be written, said before anything is.
fn writes(plan: &Plan, resolved: &Resolved) -> String {
    let jobs = || plan.phases.iter().flat_map(|phase| &phase.jobs);
    let writes = |resolved: &&ResolvedJob| {
        jobs().any(|job| {
            let writes =
                |work: &Work| matches!(work, Work::Blocks(blocks) if blocks.pattern.mix.writes());
            job.name == resolved.job && writes(&job.work)
        })
    };
    let each: Vec<Bytes> = resolved.jobs.iter().filter(writes).map(|job| job.size).collect();
    let most = each.iter().copied().max().unwrap_or_default();
    let making = plan.phases.iter().find(|phase| phase.name == SIZING);
    let stop = making.and_then(|phase| Some(&phase.jobs.first()?.stop));
    let mut text = format!("{} runs of {most} each", each.len());
    if let Some(time) = stop.and_then(StopRule::time) {
        text = format!(
            "{} runs of up to {most} each, as much as can be written and flushed in {time}",
            each.len()
        );
    }
    match stop.map_or(Nanos::ZERO, |stop| stop.at_least) {
        Nanos::ZERO => text,
        least => format!("{text}; what takes less than {least} is repeated"),
    }
}

/// The ways that this path does not offer.
fn absent(record: &Record) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for phase in record.plan.phases.iter().filter(|phase| phase.name != SIZING) {
        let Some(blocks) = row::blocks(phase) else { continue };
        if let Some(mode) = row::mode(blocks).filter(|_| row::gave_way(record, phase, blocks))
            && !names.iter().any(|name| name == mode)
        {
            names.push(mode.into());
        }
    }
    (!names.is_empty()).then(|| words::names(&names))
}
