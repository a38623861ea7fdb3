//! Words that act upon a terminal, in every string of a record: no printer lets them through, and each page has the
//! lines that it has with plain words.

use assay::cli::Environment;
use assay_plan::name::is_hidden;
use serde_json::Value;

use crate::mutants::{answer, kept};

/// What strangers write.
const NASTY: &[&str] = &[
    "\u{1b}[2J\u{1b}]0;x\u{7}",
    "\u{1b}[31m",
    "\u{9b}31m",
    "a\nassay: all is well",
    "a\r\u{8}\u{7f}",
    "\u{202e}txt.exe",
    "\u{200b}\u{feff}\u{2028}\u{2029}\u{e0041}",
    "\u{2066}a\u{2069}\u{61c}\u{200e}\u{200f}",
    "=1+1",
    "</title><script>alert(1)</script>",
    "|![x](http://y)`<b>`",
];

/// What is free text: names, places, and why something was not seen.
const FREE: &[&str] = &[
    "file", "host", "line", "model", "note", "notes", "nothing", "path", "point", "reason",
    "release", "root", "serial", "source", "unseen", "vendor", "version", "why", "words",
];

/// Replaces free text.
fn infect(value: &mut Value, key: &str, number: usize, plain: bool) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| infect(one, key, number, plain)),
        Value::Object(all) => {
            all.iter_mut().for_each(|(key, one)| infect(one, key, number, plain));
        }
        Value::String(text) => {
            // What was the same stays so: the judges look for it.
            let word = NASTY[(text.len() + number) % NASTY.len()];
            if FREE.contains(&key) {
                *text = format!("{text}{}", if plain { "q" } else { word });
            }
        }
        _ => {}
    }
}

/// The first character that nobody may print.
fn acting(text: &str, styled: bool) -> Option<char> {
    let bare = match styled {
        false => text.to_string(),
        true => assay::report::TerminalStyle::CODES
            .iter()
            .fold(text.to_string(), |text, code| text.replace(&format!("\u{1b}[{code}m"), "")),
    };
    bare.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t'))
}

#[test]
fn no_printer_lets_a_word_of_a_record_act() {
    let desk = tempfile::tempdir().expect("a desk");
    let at = desk.path().join("r.json");
    let path = at.to_str().expect("text");
    let bare = Environment { utf8: true, ..Environment::default() };
    let terminal = Environment { out: Some(100), err: Some(100), rows: 40, ..bare.clone() };
    let mut printed = 0;
    // A few of each kind are enough for each run of the tests.
    for (number, kept) in kept().into_iter().enumerate().step_by(5) {
        let text = std::fs::read_to_string(&kept).expect("a record");
        let whole = kept.to_str().expect("text");
        let infected = |plain: bool| {
            let mut document: Value = serde_json::from_str(&text).expect("JSON");
            infect(&mut document, "", number, plain);
            document.to_string()
        };
        let lines: &[&[&str]] = &[
            &["judge", path],
            &["--plain", "judge", path],
            &["judge", "--checksummed", path],
            &["judge", "--format", "markdown", path],
            &["judge", "--format", "html", path],
            &["judge", "--format", "svg", path],
            &["judge", "--format", "csv", path],
            &["judge", "--json", path],
            &["compare", path, whole],
            &["compare", "--json", path, whole],
            &["explain", path],
            &["explain", "--json", path],
        ];
        let mut counts: Vec<Vec<usize>> = Vec::new();
        for plain in [true, false] {
            std::fs::write(&at, infected(plain)).expect("written");
            let mut own = Vec::new();
            for words in lines {
                for environment in [&bare, &terminal] {
                    let (status, out, err) = answer(words, environment).expect("no panic");
                    let styled = environment.out.is_some();
                    for bytes in [&out, &err] {
                        let text = std::str::from_utf8(bytes).expect("text");
                        assert_eq!(acting(text, styled), None, "{}: {words:?}", kept.display());
                    }
                    let text = String::from_utf8(out).expect("text");
                    if words.contains(&"csv") {
                        csv_is_harmless(&text);
                    }
                    let alive = ["<script>", "<b>", "![x](http"];
                    let marked = |line: &&str| alive.iter().any(|it| line.contains(it));
                    if words.contains(&"html") || words.contains(&"svg") {
                        assert_eq!(text.lines().find(|line| line.contains("<script>alert")), None);
                    }
                    if words.contains(&"markdown") {
                        assert_eq!(outside_of_code(&text).find(marked), None);
                    }
                    printed += usize::from(status != 2);
                    own.push(text.lines().count());
                }
            }
            counts.push(own);
        }
        // Tables and documents: words are wrapped elsewhere.
        for at in [6, 7].map(|line| line * 2) {
            assert_eq!(counts[0][at], counts[1][at], "{}: {:?}", kept.display(), lines[at / 2]);
        }
    }
    assert!(printed > 500, "{printed}");
}

/// The lines of a page in Markdown that are no code.
fn outside_of_code(text: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        within ^= fence;
        !within && !fence && !line.starts_with("### `")
    })
}

fn csv_is_harmless(text: &str) {
    for line in text.lines() {
        for cell in line.split(',') {
            let cell = cell.trim_matches('"');
            let acts = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            assert!(!acts, "{line}");
        }
    }
}

#[test]
fn names_of_files_and_words_on_the_line_do_not_act() {
    let desk = tempfile::tempdir().expect("a desk");
    let folder = desk.path().join("a\u{1b}[31m\n\u{202e}\u{9b}");
    std::fs::create_dir(&folder).expect("made");
    let at = folder.to_str().expect("text");
    for words in [
        &["judge", at][..],
        &["explain", at],
        &["run", at],
        &["compare", at, at],
        &["probe", at],
        &["watch", "--count", "1", "--interval", "100ms", at],
        &["quick", "--plan", at],
        &["io", "--plan", "--rw", "read", "--size", "1M", at],
        &["\u{1b}[31m\nquick"],
        &["quick", "--\u{1b}[31m\n", "."],
        &["traps", "\u{1b}[2J\n"],
        &["dd", "if=\u{1b}[2J\n", "of=/dev/null"],
        &["fio", "--name=\u{1b}[2J\u{202e}", "--rw=none"],
        &["fio", at],
        &["bonnie", "-d", at, "-\u{1b}"],
        &["iozone", "-f", at, "\u{1b}[2J"],
    ] {
        let terminal = Environment { out: Some(100), err: Some(100), ..Environment::default() };
        for environment in [&Environment::default(), &terminal] {
            let (_, out, err) = answer(words, environment).expect("no panic");
            for bytes in [&out, &err] {
                let text = std::str::from_utf8(bytes).expect("text");
                let styled = environment.out.is_some();
                assert_eq!(acting(text, styled), None, "{words:?}: {text:?}");
            }
            let refused = String::from_utf8(err).expect("text");
            assert!(!refused.contains("\nquick"), "{refused}");
        }
    }
}
