//! The rules of the house: who may import whom, and what may stand where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay::dialect::{DIALECTS, TO_COME, atto};

mod circles;
mod names;

/// Each room and those it may know. `main.rs` knows `cli` only.
const ROOMS: &[(&str, &[&str])] = &[
    ("unit", &[]),
    ("name", &[]),
    ("error", &[]),
    // A list of words that plan, verdict and report expand: it knows nobody.
    ("study", &[]),
    ("sys", &["unit", "error"]),
    // What is written beside that which is measured.
    ("output", &["sys", "name", "error"]),
    ("plan", &["unit", "name", "error"]),
    ("stats", &["unit", "name", "error"]),
    ("evidence", &["output", "sys", "plan", "unit", "name", "error"]),
    ("claim", &["unit"]),
    ("words", &["claim", "unit"]),
    ("engine", &["sys", "plan", "stats", "unit", "name", "error"]),
    ("record", &["words", "claim", "output", "plan", "stats", "evidence", "unit", "name", "error"]),
    (
        "run",
        &[
            "engine", "evidence", "words", "claim", "record", "plan", "stats", "output", "sys",
            "verdict", "unit", "name", "error",
        ],
    ),
    (
        "verdict",
        &["words", "claim", "record", "plan", "stats", "evidence", "unit", "name", "error"],
    ),
    (
        "report",
        &[
            "words", "claim", "verdict", "record", "stats", "plan", "evidence", "unit", "name",
            "error",
        ],
    ),
    // What the program was started with, and what it gives back.
    ("process", &["report", "record", "sys", "plan", "unit", "name", "error"]),
    // Whose words they are runs them: as another tool would, which has its own files and signals.
    (
        "dialect",
        &[
            "process", "run", "output", "sys", "report", "verdict", "record", "words", "claim",
            "plan", "stats", "evidence", "unit", "name", "error",
        ],
    ),
    (
        "cli",
        &[
            "dialect", "process", "report", "verdict", "run", "record", "evidence", "engine",
            "output", "sys", "plan", "stats", "unit", "name", "error",
        ],
    ),
];

/// The sources of each crate.
const CRATES: [&str; 6] = [
    "crates/plan/src",
    "crates/engine/src",
    "crates/record/src",
    "crates/judge/src",
    "crates/run/src",
    "src",
];

/// Crates that are one room, and its name.
const ONE_ROOM: [(&str, &str); 2] = [("crates/judge/src", "verdict"), ("crates/run/src", "run")];

/// A source file: its path below the root of the package, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The room of its crate, where that is one room.
    fn only_room(&self) -> Option<&'static str> {
        ONE_ROOM.iter().find(|(sources, _)| self.path.starts_with(sources)).map(|(_, room)| *room)
    }

    /// Its path among all rooms: `plan/mod.rs` of `crates/plan/src/plan/mod.rs`, `verdict/hot.rs` of
    /// `crates/judge/src/hot.rs`.
    fn inside(&self) -> String {
        let sources = CRATES.iter().find_map(|sources| self.path.strip_prefix(sources));
        let inside = sources.unwrap_or(&self.path).trim_start_matches('/');
        match self.only_room() {
            Some(room) if inside == "lib.rs" => format!("{room}/mod.rs"),
            Some(room) => format!("{room}/{inside}"),
            None => inside.to_string(),
        }
    }

    /// `report` of `src/report/text.rs` and of `src/report.rs`.
    fn room(&self) -> String {
        let inside = self.inside();
        let first = inside.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first).to_string()
    }

    /// Its text with each path as if all crates were one: `crate::plan::Plan` for `assay_plan::plan::Plan`,
    /// `crate::verdict::judge` for `assay_judge::judge`.
    fn as_one(&self) -> String {
        let mut text = self.text.clone();
        if let Some(room) = self.only_room() {
            text = text.replace("crate::", &format!("crate::{room}::"));
        }
        for name in ["plan", "engine", "record"] {
            text = text.replace(&format!("assay_{name}::"), "crate::");
        }
        for (name, room) in [("judge", "verdict"), ("run", "run")] {
            text = text.replace(&format!("assay_{name}::"), &format!("crate::{room}::"));
            text = text.replace(&format!("assay_{name} as "), &format!("crate::{room} as "));
        }
        text
    }

    /// Lines of code with their numbers: no comments, and no tests at the foot of the file.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
            .map(|(index, line)| (index + 1, line.split("//").next().unwrap_or(line)))
    }
}

/// Files with this ending below a folder of the package.
fn sources(folder: &str, ending: &str) -> Vec<Source> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join(folder), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| Source {
            text: std::fs::read_to_string(&path).expect("text"),
            path: path.strip_prefix(root).expect("below").display().to_string(),
        })
        .collect()
}

/// All code of all crates; for these rules they are one.
fn code() -> Vec<Source> {
    CRATES.iter().flat_map(|crate_sources| sources(crate_sources, "rs")).collect()
}

/// Fails with every complaint at once.
fn settle(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// The rooms that a line names: of `use crate::{plan::Plan, unit}` both.
fn named(line: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("crate::") {
        // `$crate::` in a macro is this crate too; `some_crate::` is not.
        let before = rest[..at].chars().next_back();
        rest = &rest[at + "crate::".len()..];
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let word = |text: &str| -> String {
            text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        match rest.strip_prefix('{') {
            None => rooms.push(word(rest)),
            Some(list) => {
                let (mut depth, mut fresh) = (0, true);
                for (index, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => fresh = true,
                        c if fresh && !c.is_whitespace() => {
                            rooms.push(word(&list[index..]));
                            fresh = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    rooms
}

#[test]
fn imports_go_downwards_only() {
    let mut complaints = Vec::new();
    for source in code() {
        let room = source.room();
        if room == "lib" || room == "main" {
            continue;
        }
        let Some((_, may)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            complaints.push(format!("{}: '{room}' is no room of the house", source.path));
            continue;
        };
        // Statements over several lines are read as one; tests obey the same table.
        let code: String = source
            .as_one()
            .lines()
            .map(|line| line.split("//").next().unwrap_or(line))
            .collect::<Vec<_>>()
            .join(" ");
        for named in named(&code) {
            let known = ROOMS.iter().any(|(name, _)| *name == named);
            if known && named != room && !may.contains(&named.as_str()) {
                complaints.push(format!("{}: '{room}' may not know '{named}'", source.path));
            }
        }
    }
    complaints.dedup();
    settle(&complaints);
}

/// Judges touch nothing: their package cannot even name a system call, or the engine.
#[test]
fn judges_know_values_only() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/judge/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("readable");
    let (_, after) = manifest.split_once("[dependencies]").expect("dependencies");
    let (own, _) = after.split_once("\n[").expect("a next section");
    let names = own.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<_> = names.filter_map(|line| line.split(['.', ' ']).next()).collect();
    assert_eq!(
        names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>(),
        ["assay-plan", "assay-record", "serde", "serde_json"]
    );
}

#[test]
fn no_name_loses_a_byte() {
    let mut complaints = Vec::new();
    for source in code() {
        for (number, line) in source.code() {
            if line.contains(".display()") {
                complaints.push(format!(
                    "{}:{number}: a path is shown by `name::NameText`, which loses nothing",
                    source.path
                ));
            }
        }
    }
    settle(&complaints);
}

#[test]
fn the_table_itself_has_no_circles() {
    fn below(room: &str, path: &mut Vec<String>) {
        assert!(!path.contains(&room.to_string()), "a circle: {path:?} -> {room}");
        path.push(room.to_string());
        let (_, may) = ROOMS.iter().find(|(name, _)| *name == room).expect("a room");
        for next in *may {
            below(next, path);
        }
        path.pop();
    }
    for (room, _) in ROOMS {
        below(room, &mut Vec::new());
    }
    assert_eq!(named("use crate::{plan::{A, B}, unit::Bytes}; my_crate::x"), ["plan", "unit"]);
}

#[test]
fn unsafe_code_stays_in_its_room_and_says_why_it_is_sound() {
    let mut complaints = Vec::new();
    for source in code() {
        let allows = source.text.contains("allow(unsafe_code");
        let keyword = source.code().find(|(_, line)| {
            line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "unsafe")
        });
        if let Some((number, _)) = keyword
            && source.room() != "sys"
        {
            complaints.push(format!("{}:{number}: unsafe outside of sys", source.path));
        }
        if allows && source.room() != "sys" {
            complaints.push(format!("{}: allows unsafe code", source.path));
        }
        if keyword.is_some() && !source.text.contains("# Safety") {
            complaints.push(format!("{}: has no '# Safety' paragraph", source.path));
        }
    }
    settle(&complaints);
}

#[test]
fn nobody_prints_but_the_printers() {
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| source.path != "src/main.rs") {
        for (number, line) in source.code() {
            for banned in ["print!(", "println!(", "eprint!(", "eprintln!(", "dbg!("] {
                let found = line.match_indices(banned).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                });
                if found {
                    complaints.push(format!("{}:{number}: {banned}...)", source.path));
                }
            }
        }
    }
    settle(&complaints);
}

/// Whether a whole file is for tests.
fn for_tests(source: &Source) -> bool {
    let path = source.path.trim_end_matches(".rs");
    path.split('/').any(|part| part == "bench" || part == "tests")
}

#[test]
fn which_study_it_is_matters_to_the_list_of_studies_only() {
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| !for_tests(source)) {
        for (number, line) in source.code() {
            let mut rest = line;
            while let Some(at) = rest.find("StudyPlan::") {
                let before = &rest[..at];
                rest = &rest[at + "StudyPlan::".len()..];
                let whole = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
                // A verb says which study it wants: `aim: Some(StudyPlan::Sustain)` in a plan of its own.
                let makes = matches!(&*source.room(), "cli" | "dialect")
                    && (before.ends_with("aim: Some(") || before.ends_with("aim = Some("));
                if whole && source.path != "crates/plan/src/study.rs" && !makes {
                    complaints.push(format!(
                        "{}:{number}: asks which study it is; that is a method of the study",
                        source.path
                    ));
                }
            }
        }
    }
    settle(&complaints);
}

/// Studies that a line names as variants of the enumeration of their results.
fn results(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("StudyResult::").map(|(at, name)| {
        let rest = &line[at + name.len()..];
        rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
    })
}

#[test]
fn which_study_came_to_something_matters_to_its_own_files_only() {
    // The list says which judge makes which; the type itself what each adds to the figures.
    let lists = [
        "crates/plan/src/study.rs",
        "crates/judge/src/study.rs",
        "crates/record/src/record/outcome.rs",
    ];
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| !for_tests(source)) {
        let stem = source.path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
        for (number, line) in source.code() {
            let foreign = |study: &&str| stem != Some(study.to_lowercase().as_str());
            if !lists.contains(&source.path.as_str())
                && let Some(study) = results(line).find(foreign)
            {
                complaints.push(format!(
                    "{}:{number}: asks whether it is {study}; that is a method of the result",
                    source.path
                ));
            }
        }
    }
    settle(&complaints);
    assert_eq!(
        results("Some(StudyResult::Card(x)) | StudyResult::Load").collect::<Vec<_>>(),
        ["Card", "Load"]
    );
}

/// Whether a line compares the name of a verb or tool with anything, in whatever order.
fn asks_for_the_tool(line: &str) -> bool {
    let field = |at: usize| !line[at + ".dialect".len()..].starts_with(char::is_alphanumeric);
    let named = line.match_indices(".dialect").any(|(at, _)| field(at));
    let compares =
        ["==", "!=", "match ", "matches!(", ".eq(", ".ne(", ".contains(", "starts_with("];
    named && (compares.iter().any(|word| line.contains(word)) || line.contains(".dialect.as_str()"))
}

#[test]
fn whose_words_a_plan_was_made_of_decides_nothing() {
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| !for_tests(source)) {
        if !matches!(&*source.room(), "verdict" | "report" | "run" | "evidence" | "engine") {
            continue;
        }
        for (number, line) in source.code() {
            if asks_for_the_tool(line) {
                complaints.push(format!(
                    "{}:{number}: asks which tool it is; what matters of it is in 'origin.tool'",
                    source.path
                ));
            }
        }
    }
    settle(&complaints);
    for line in
        ["x == origin.dialect", "if plan.origin.dialect != y", "match &*plan.origin.dialect {"]
    {
        assert!(asks_for_the_tool(line), "{line}");
    }
    for line in ["title(&plan.origin.dialect, words)", "self.dialects == other"] {
        assert!(!asks_for_the_tool(line), "{line}");
    }
}

#[test]
fn tools_are_named_by_their_dialects_only() {
    let known = DIALECTS.iter().flat_map(|tool| tool.names).chain(TO_COME);
    let names: Vec<&str> = known.copied().chain([atto::NAME]).collect();
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| !for_tests(source)) {
        if source.room() == "dialect" {
            continue;
        }
        for (number, line) in source.code() {
            for name in &names {
                // HTML has an element of that name.
                let element = source.path == "src/report/html.rs" && *name == "dd";
                if line.contains(&format!("\"{name}\"")) && !element {
                    complaints.push(format!("{}:{number}: names {name}", source.path));
                }
            }
        }
    }
    settle(&complaints);
}

#[test]
fn surroundings_and_clocks_are_read_in_one_place() {
    let mut complaints = Vec::new();
    for source in code() {
        let room = source.room();
        for (number, line) in source.code() {
            let mut refuse = |what: &str| {
                complaints.push(format!("{}:{number}: {what}", source.path));
            };
            if line.contains("env::var") && room != "process" {
                refuse("variables are read in process only");
            }
            if line.contains("std::env") && !matches!(&*room, "process" | "cli" | "main") {
                refuse("the environment is cli's");
            }
            let clock = ["Instant::now", "SystemTime", "::clock_gettime"]
                .iter()
                .any(|name| line.contains(name));
            if clock && source.path != "crates/engine/src/sys/clock.rs" {
                refuse("the clock is read in sys/clock.rs only");
            }
            if line.contains("jiff::") && !matches!(&*room, "run" | "report") {
                refuse("the calendar is run's");
            }
            if line.contains("process::exit") {
                refuse("an exit status is returned, not taken");
            }
        }
    }
    settle(&complaints);
}

/// Files that are opened for writing elsewhere than in `output`, and why.
const WRITERS: &[(&str, &str)] = &[
    ("crates/engine/src/output/", "the one place"),
    ("crates/engine/src/engine/copy/open.rs", "the two ends of a copy, which the user names"),
    ("crates/engine/src/engine/space.rs", "the donor file of a job, which the user names"),
    ("crates/engine/src/engine/tree/", "files of trees, which are measured"),
    ("crates/engine/src/sys/cache.rs", "/proc/sys/vm/drop_caches"),
    ("crates/run/src/open_target.rs", "files that are measured, which the user names"),
    ("crates/record/src/evidence/direct.rs", "files without a name"),
    ("crates/record/src/evidence/punch.rs", "files without a name"),
    ("crates/run/src/probe.rs", "files without a name"),
    ("crates/run/src/named_files.rs", "folders of a tree, which are measured"),
    ("crates/run/src/tree_dir.rs", "folders of a tree of ours"),
    ("src/cli/on/agent.rs", "the folder of the record in one of ours"),
    ("src/cli/on/link.rs", "a folder of ours by a name that nobody guesses"),
];

#[test]
fn files_are_written_replaced_and_removed_in_one_place() {
    let ways = [
        "File::create",
        "File::options",
        "OpenOptions",
        "create_new(true)",
        "fs::write(",
        "fs::copy(",
        "fs::rename(",
        "fs::remove_",
        "fs::hard_link(",
        "fs::create_dir",
        "fs::unlink",
        "fs::symlink(",
        "fs::mkdir",
        "fs::rmdir",
        "symlink(",
        "unlinkat(",
        "renameat(",
        "linkat(",
        "mknodat(",
        "DirBuilder",
        "OFlags::CREATE",
        "OFlags::TMPFILE",
        "OFlags::TRUNC",
    ];
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| !for_tests(source)) {
        if WRITERS.iter().any(|(path, _)| source.path.starts_with(path)) {
            continue;
        }
        // A file for tests only, and a test that makes schemas.
        if source.path == "crates/record/src/evidence/fake.rs" {
            continue;
        }
        for (number, line) in source.code() {
            // A parser of C's words has names that end so.
            let imports = line.trim_start().starts_with("use ");
            if let Some(way) = ways.iter().find(|way| line.contains(**way) && !imports) {
                complaints.push(format!(
                    "{}:{number}: {way}: files are made, opened and removed by `output`",
                    source.path
                ));
            }
        }
    }
    for (path, _) in WRITERS {
        assert!(code().iter().any(|source| source.path.starts_with(path)), "{path} is gone");
    }
    settle(&complaints);
}

// What is generic is compiled where it is called: in a package that a release does not optimise.
#[test]
fn what_the_engine_does_is_compiled_with_it() {
    let mut complaints = Vec::new();
    for source in sources("crates/engine/src/engine", "rs") {
        let code: Vec<_> = source.code().collect();
        for (at, (number, line)) in code.iter().enumerate() {
            let Some((_, after)) = line.split_once("pub fn ") else { continue };
            let name = |c: char| c.is_alphanumeric() || c == '_';
            let by_type = after
                .trim_start_matches(name)
                .strip_prefix('<')
                .is_some_and(|first| !first.starts_with('\''));
            let more = code[at..].iter().map(|(_, line)| *line);
            let by_call = more
                .take_while(|line| !line.ends_with('{'))
                .chain([after])
                .any(|line| line.contains("impl Fn"));
            if by_type || by_call {
                complaints.push(format!(
                    "{}:{number}: generic over its caller; take a 'dyn', or what it is called with",
                    source.path
                ));
            }
        }
    }
    settle(&complaints);
}

#[test]
fn figures_are_decided_in_one_place() {
    let own = ["total.bandwidth", "total.iops", ".lat_ns", "relative_spread", "events_beyond"];
    let mut complaints = Vec::new();
    for source in code() {
        if !matches!(&*source.room(), "report" | "dialect" | "cli") {
            continue;
        }
        for (number, line) in source.code() {
            // How long a single I/O took is no figure of many.
            let mut line = line.replace("single.lat_ns", "");
            // fio prints whole distributions, in bins and classes of its own.
            if source.path == "src/dialect/fio/outcome/measure.rs" {
                line = line.replace(".lat_ns", "");
            }
            if let Some(word) = own.iter().find(|word| line.contains(**word)) {
                complaints.push(format!(
                    "{}:{number}: '{word}': ask record::PhaseFigures for a figure",
                    source.path
                ));
            }
        }
    }
    settle(&complaints);
}

#[test]
fn files_say_what_they_are_for_and_leave_nothing_undone() {
    // In two halves, so that this file obeys itself.
    let undone = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let mut complaints = Vec::new();
    for source in
        code().iter().chain(&sources("tests", "rs")).chain(&sources("crates/testing", "rs"))
    {
        if !source.text.starts_with("//!") {
            complaints.push(format!("{}: does not open with '//!'", source.path));
        }
        for (index, line) in source.text.lines().enumerate() {
            if undone.iter().any(|word| line.contains(word)) {
                complaints.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    settle(&complaints);
}

/// What somebody gives is read by `record::document_file`: regular files and pipes of ours, and no more than is told.
#[test]
fn documents_have_one_reader() {
    // What the program has written itself a moment ago, and what stands in memory.
    let own = [
        "crates/record/src/record/document_file.rs",
        "crates/record/src/record/console.rs",
        "crates/record/src/record/journal.rs",
        "crates/record/src/record/phase_records.rs",
        "src/dialect/fio/session/mod.rs",
        "src/cli/on/agent.rs",
        "src/cli/schema.rs",
        "src/dialect/iozone/archive.rs",
    ];
    let readers = ["fs::read(", "fs::read_to_string(", ".read_to_end(", ".read_to_string("];
    let mut complaints = Vec::new();
    for source in code().iter().filter(|source| !for_tests(source)) {
        let looked_at = matches!(&*source.room(), "cli" | "dialect" | "report" | "record");
        if !looked_at || own.contains(&source.path.as_str()) {
            continue;
        }
        for (number, line) in source.code() {
            if readers.iter().any(|reader| line.contains(reader)) {
                complaints.push(format!(
                    "{}:{number}: what somebody gives is read by 'record::document_file'",
                    source.path
                ));
            }
        }
    }
    settle(&complaints);
}

#[test]
fn every_file_belongs_to_the_program() {
    let all = code();
    let mut complaints = Vec::new();
    for source in &all {
        let path = Path::new(&source.path);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let (owner, name) = match stem {
            "main" | "lib" => continue,
            "mod" => {
                let folder = path.parent().expect("a folder");
                let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
                (folder.parent().expect("src"), name)
            }
            stem => (path.parent().expect("a folder"), stem),
        };
        let declared = all.iter().any(|other| {
            let candidate = Path::new(&other.path);
            let beside = candidate.parent() == Some(owner);
            let within = candidate.with_extension("") == *owner;
            (beside || within)
                && other.text.lines().any(|line| line.trim_end().ends_with(&format!("mod {name};")))
        });
        if !declared {
            complaints.push(format!("{}: no 'mod {name};' names it", source.path));
        }
    }
    settle(&complaints);
}

#[test]
fn every_test_program_is_run_by_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let makefile = std::fs::read_to_string(root.join("Makefile")).expect("readable");
    let words: Vec<&str> = makefile.split_whitespace().collect();
    let is_run = |name: &str| words.windows(2).any(|pair| pair == ["--test", name]);
    let programs = std::fs::read_dir(root.join("tests")).expect("readable").filter_map(|entry| {
        let path = entry.expect("an entry").path();
        let is_program =
            path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").exists();
        is_program.then(|| path.file_stem().expect("a name").to_string_lossy().into_owned())
    });
    let missing = programs.filter(|name| !is_run(name));
    settle(
        &missing.map(|name| format!("Makefile: no '--test {name}' runs it")).collect::<Vec<_>>(),
    );
}

#[test]
fn every_rule_has_a_record_that_trips_it_and_one_that_nearly_does() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    if !records.is_dir() {
        return;
    }
    let files: Vec<String> = std::fs::read_dir(&records)
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().to_lowercase())
        .collect();
    let mut complaints = Vec::new();
    for source in sources("crates/judge/src", "rs") {
        let Some(id) = rule_id(&source.text) else {
            continue;
        };
        let start = format!("{}-", id.to_lowercase());
        let (near, trips): (Vec<&String>, Vec<&String>) = files
            .iter()
            .filter(|name| name.starts_with(&start))
            .partition(|name| name.starts_with(&format!("{start}nearly-")));
        if near.is_empty() || trips.is_empty() {
            complaints.push(format!(
                "{}: {id} needs a record {start}*.json and a record {start}nearly-*.json",
                source.path
            ));
        }
    }
    settle(&complaints);
}

/// Rules read what a phase's bytes and time came to from its ledger, so that a page has one number for one thing.
#[test]
fn a_rule_that_takes_a_difference_of_its_own_says_why() {
    let own = |line: &str| line.contains("_since(") || line.contains("grown(");
    let says = |source: &Source| source.text.contains("//! Its own difference: ");
    let mut complaints = Vec::new();
    for source in sources("crates/judge/src", "rs") {
        if rule_id(&source.text).is_none() {
            continue;
        }
        let taken = source.code().find(|(_, line)| own(line));
        match taken {
            Some((number, line)) if !says(&source) => complaints.push(format!(
                "{}:{number}: {}: the head of the file says '//! Its own difference: ', and why",
                source.path,
                line.trim()
            )),
            None if says(&source) => {
                complaints.push(format!("{}: takes no difference of its own", source.path));
            }
            _ => {}
        }
    }
    settle(&complaints);
}

#[test]
fn one_trap_number_is_one_rule() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources("crates/judge/src", "rs") {
        if let Some(id) = rule_id(&source.text) {
            files.entry(id.into()).or_default().push(source.path.clone());
        }
    }
    let twice = files.iter().filter(|(_, files)| files.len() > 1);
    settle(&twice.map(|(id, files)| format!("{id}: {}", files.join(", "))).collect::<Vec<_>>());
}

/// The trap number of a file that defines a rule.
fn rule_id(text: &str) -> Option<&str> {
    let rule = &text[text.find("pub const RULE:")?..];
    let (_, id) = rule.split_once("id: TrapId::")?;
    id.get(..3)
}
