//! Job files as lines: sections, comments, includes, by the rules of fio's own reader.

use std::path::Path;

use crate::dialect::fio::job::{FioComplaint, FioFault, FioPlace, FioWorld};
use assay_plan::name;

/// The longest name of a section, characters.
const LONGEST_NAME: usize = 255;
/// How deep files may include others.
const DEEPEST: u32 = 16;
/// The longest line, bytes.
const LONGEST_LINE: usize = 8191;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionLine {
    /// The line without blanks around it and without its comment.
    pub text: String,
    /// Where it begins.
    pub place: FioPlace,
    /// What was cut off as a comment though no blank is before it.
    pub cut: Option<String>,
}

/// A section of a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSection {
    pub name: String,
    /// Its line as it was typed.
    pub typed: String,
    /// Where it begins.
    pub place: FioPlace,
    pub lines: Vec<SectionLine>,
}

impl FileSection {
    /// Whether it sets what jobs below begin with: whatever begins with that word does.
    pub(in crate::dialect::fio) fn global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// The sections of a job file; of those that are not asked for nothing is read.
pub fn sections(
    name: &str,
    only: &[String],
    world: &FioWorld<'_>,
) -> Result<Vec<FileSection>, FioComplaint> {
    let content = match name {
        "-" => (world.stdin)(),
        _ => (world.files)(Path::new(name)),
    };
    let content = content.map_err(|error| {
        let mut fault = FioFault::line(format!("fio: unable to open '{name}' job file"), "");
        fault.why = format!("cannot read the job file '{name}': {error}");
        fault.instead = instead_of_file(name);
        FioComplaint::at(None, fault)
    })?;
    let mut sections: Vec<FileSection> = Vec::new();
    let mut skipped = false;
    for line in lines(name, &content) {
        if line.text.starts_with('[') && line.text.len() > 1 {
            let section = opened(line);
            skipped = !only.is_empty() && !section.global() && !only.contains(&section.name);
            if !skipped {
                sections.push(section);
            }
            continue;
        }
        if skipped {
            continue;
        }
        let Some(section) = sections.last_mut() else {
            let fault = FioFault::line(
                format!("fio: option <{}> outside of [] job section", line.text),
                "a section before it: [global] or [NAME]",
            );
            return Err(FioComplaint::at(Some(&line.place), fault));
        };
        match line.text.strip_prefix("include") {
            Some(rest) => include(rest, name, &line.place, world, &mut section.lines, 0)?,
            None => section.lines.push(line),
        }
    }
    Ok(sections)
}

/// What was probably meant by a word that was taken for a job file.
fn instead_of_file(name: &str) -> String {
    match name {
        "0" | "1" => format!("a flag takes its value behind '=': --thread={name}"),
        _ if name.contains('=') => format!("--{name}"),
        _ => "the name of a job file, or - for standard input".into(),
    }
}

/// The section that a line opens. The last character of the line is taken for its bracket, whatever it is.
fn opened(line: SectionLine) -> FileSection {
    let mut name: String = line.text.chars().skip(1).take(LONGEST_NAME).collect();
    name.pop();
    FileSection { name, typed: line.text, place: line.place, lines: Vec::new() }
}

/// The lines of a file that are neither empty nor comments.
fn lines(file: &str, content: &[u8]) -> Vec<SectionLine> {
    let mut lines = Vec::new();
    for (index, raw) in content.split(|byte| *byte == b'\n').enumerate() {
        let raw = String::from_utf8_lossy(&raw[..raw.len().min(LONGEST_LINE)]);
        let blank = |c: char| c.is_ascii_whitespace() || c == '\x0b';
        let text = raw.trim_start_matches(blank);
        let column = raw[..raw.len() - text.len()].chars().count() + 1;
        let (kept, comment) = match text.find([';', '#']) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let cut = (!comment.is_empty() && !kept.is_empty() && !kept.ends_with(blank))
            .then(|| comment.trim_end_matches(blank).to_string());
        let kept = kept.trim_end_matches(|c: char| blank(c) || c.is_ascii_control());
        if kept.is_empty() || kept.chars().all(|c| blank(c) || c.is_ascii_control()) {
            continue;
        }
        let place = FioPlace::Line { file: file.into(), line: index + 1, column };
        lines.push(SectionLine { text: name::of_bytes(kept.as_bytes()), place, cut });
    }
    lines
}

/// Puts the lines of another file into a section.
fn include(
    rest: &str,
    from: &str,
    place: &FioPlace,
    world: &FioWorld<'_>,
    into: &mut Vec<SectionLine>,
    depth: u32,
) -> Result<(), FioComplaint> {
    // One character stands between the word and the name.
    let typed: String = rest.chars().skip(1).collect();
    let failed = |mut fault: FioFault, name: &str| {
        fault.lines.push(format!("Error 1 while parsing include file {name}"));
        Err(FioComplaint::at(Some(place), fault))
    };
    if depth >= DEEPEST {
        return failed(FioFault::new(format!("'{typed}' includes itself"), "leave it out"), &typed);
    }
    // A name is tried as it is, and then from the folder of the file that includes it.
    let folder = from.rfind('/').map(|at| &from[..=at]);
    let beside = folder.map(|folder| format!("{folder}{typed}"));
    let mut name = typed.clone();
    let content = (world.files)(Path::new(&name)).or_else(|error| match beside {
        Some(beside) => {
            name = beside;
            (world.files)(Path::new(&name))
        }
        None => Err(error),
    });
    let content = match content {
        Ok(content) => content,
        Err(error) => {
            let mut fault = FioFault::line(format!("fio: unable to open '{name}' job file"), "");
            fault.why = format!("cannot read '{name}', which is included: {error}");
            fault.instead =
                "a name from the working directory or from the folder of this file".into();
            return failed(fault, &name);
        }
    };
    for line in lines(&name, &content) {
        if line.text.starts_with('[') {
            let fault = FioFault::line("No new sections in included files", "options only");
            let mut complaint = FioComplaint::at(Some(&line.place), fault);
            complaint.said.push_str(&format!("Error 1 while parsing include file {name}\n"));
            return Err(complaint);
        }
        match line.text.strip_prefix("include") {
            Some(rest) => include(rest, &name, &line.place, world, into, depth + 1)?,
            None => into.push(line),
        }
    }
    Ok(())
}
