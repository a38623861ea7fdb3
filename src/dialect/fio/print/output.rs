//! A report in all the formats that were asked for, one below the other as fio writes them to one stream.

use std::collections::BTreeSet;

use super::document::document;
use super::normal::job_lines;
use super::report::FioReport;
use super::summary::{FioGroup, disk_lines, groups, idle_lines};
use super::terse::{FioTerse, terse_line};

/// `--output-format`, `--append-terse` and `--terse-version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioFormats {
    pub normal: bool,
    /// A line of fields for each job.
    pub terse: bool,
    pub json: bool,
    /// `json+`: a JSON document with the bins of each histogram.
    pub json_plus: bool,
    /// Version of the terse line.
    pub version: FioTerse,
}

impl Default for FioFormats {
    fn default() -> Self {
        let version = FioTerse::default();
        Self { normal: true, terse: false, json: false, json_plus: false, version }
    }
}

/// The words of `--output-format`; `minimal` and `csv` are old ones for `terse`.
const FORMATS: [&str; 6] = ["normal", "terse", "json", "json+", "minimal", "csv"];

impl FioFormats {
    /// Reads `normal,json+`; a word that is no format is the error. Of several `--output-format` the last counts.
    pub fn read(list: &str) -> Result<Self, String> {
        let words: BTreeSet<&str> = list.split(',').collect();
        if let Some(unknown) = words.iter().find(|word| !FORMATS.contains(word)) {
            return Err((*unknown).into());
        }
        let has = |word| words.contains(word);
        Ok(Self {
            normal: has("normal"),
            terse: has("terse") || has("minimal") || has("csv"),
            json: has("json"),
            json_plus: has("json+"),
            version: FioTerse::default(),
        })
    }
}

/// The report as it stands in the output: terse lines, then the document, then the text for people. With
/// `--status-interval` there is one after the other.
pub fn report(report: &FioReport, formats: &FioFormats) -> String {
    let groups = groups(&report.jobs, report.groups);
    let mut out = String::new();
    if formats.terse {
        out += &terse(report, &groups, formats.version);
    }
    if formats.json || formats.json_plus {
        out += &document(report, formats.json_plus);
    }
    if formats.normal {
        out += &normal(report, &groups);
    }
    out
}

fn terse(report: &FioReport, groups: &[FioGroup], version: FioTerse) -> String {
    let lines = report.jobs.iter().map(|job| {
        let group = groups.get(job.group as usize).cloned().unwrap_or_default();
        terse_line(job, &group, &report.disks, &report.version, version)
    });
    lines.collect()
}

fn normal(report: &FioReport, groups: &[FioGroup]) -> String {
    let mut out = "\n".to_string();
    for job in &report.jobs {
        let group = groups.get(job.group as usize).cloned().unwrap_or_default();
        out += &job_lines(job, &group, &report.time);
    }
    groups.iter().for_each(|group| out += &group.lines());
    out += &disk_lines(&report.disks);
    if let Some(idleness) = &report.idleness {
        out += &idle_lines(idleness);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_words_with_commas() {
        let read = FioFormats::read("json+,normal").expect("formats");
        assert_eq!(
            (read.normal, read.terse, read.json, read.json_plus),
            (true, false, false, true)
        );
        assert_eq!(FioFormats::read("normal"), Ok(FioFormats::default()));
        assert_eq!(FioFormats::read("terse,jsn"), Err("jsn".into()));
        assert_eq!(FioFormats::read(""), Err(String::new()));
    }
}
