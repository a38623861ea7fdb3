//! Names: a type has its own, which is none of the standard library's, and what the documents name
//! is there.

use std::collections::{BTreeMap, BTreeSet};

use std::path::Path;

use super::{code, settle, sources};

/// Types and traits of the standard library that one meets in any program.
const OF_STD: &[&str] = &[
    "Any",
    "Arc",
    "Barrier",
    "Borrow",
    "Box",
    "BufReader",
    "BufWriter",
    "Bytes",
    "Cell",
    "Chain",
    "Chars",
    "Child",
    "Clone",
    "Command",
    "Component",
    "Condvar",
    "Context",
    "Copy",
    "Cow",
    "Cursor",
    "Debug",
    "Default",
    "Deref",
    "DirEntry",
    "Display",
    "Drop",
    "Duration",
    "Empty",
    "Entry",
    "Eq",
    "Error",
    "ExitCode",
    "ExitStatus",
    "File",
    "Fn",
    "Formatter",
    "From",
    "Future",
    "Hash",
    "Hasher",
    "Instant",
    "Into",
    "Iter",
    "Iterator",
    "Layout",
    "Lines",
    "Location",
    "Map",
    "Metadata",
    "Mutex",
    "Once",
    "OpenOptions",
    "Option",
    "Ord",
    "Ordering",
    "Output",
    "Path",
    "PathBuf",
    "Permissions",
    "Pin",
    "Poll",
    "Prefix",
    "Range",
    "Rc",
    "Read",
    "RefCell",
    "Result",
    "Reverse",
    "Seek",
    "Send",
    "Skip",
    "Split",
    "Stdin",
    "Stdio",
    "Stdout",
    "String",
    "Sync",
    "SystemTime",
    "Take",
    "Thread",
    "Vec",
    "Wake",
    "Waker",
    "Weak",
    "Wrapping",
    "Write",
    "Zip",
];

/// Those that mean what the library means by them.
const ALLOWED: &[&str] = &["Bytes", "Error"];

/// The types that a line declares; associated types of traits are none.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = match rest.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c| c != ' ').trim_start(),
        None => rest,
    };
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (kind, rest) = rest.split_once(' ')?;
    if !matches!(kind, "struct" | "enum" | "trait" | "union" | "type") {
        return None;
    }
    if kind == "type" && line.starts_with(' ') {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| name.starts_with(|c: char| c.is_uppercase()))
}

#[test]
fn each_type_has_a_name_of_its_own() {
    assert_eq!(declared("pub(crate) struct Lane<'a> {"), Some("Lane"));
    assert_eq!(declared("    type Output = u64;"), None);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in code() {
        for (index, line) in source.text.lines().enumerate() {
            if let Some(name) = declared(line) {
                let place = format!("{}:{}", source.path, index + 1);
                found.entry(name.to_string()).or_default().push(place);
            }
        }
    }
    assert!(found.len() > 400, "only {} types were found", found.len());
    let mut complaints = Vec::new();
    for (name, places) in &found {
        if places.len() > 1 {
            complaints.push(format!(
                "{name} is there {} times: {}",
                places.len(),
                places.join(", ")
            ));
        }
        let allowed = ALLOWED.contains(&name.as_str());
        if OF_STD.contains(&name.as_str()) && !allowed {
            complaints.push(format!("{}: {name} is a name of the standard library", places[0]));
        }
    }
    settle(&complaints);
}

/// What stands between backticks, outside of blocks of code.
fn quoted(text: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            block = !block;
        } else if !block {
            let parts: Vec<&str> = line.split('`').collect();
            all.extend(parts.iter().skip(1).step_by(2).map(|part| (index + 1, part.to_string())));
        }
    }
    all
}

/// The parts of a name of our code, such as `run::phase` or `IoBackend::wait`; nothing of other text.
fn parts(text: &str) -> Option<Vec<&str>> {
    let name = text.split(['<', '(', '{']).next().unwrap_or(text);
    let parts: Vec<&str> = name.split("::").collect();
    let word = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let camel = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().any(|c| c.is_ascii_lowercase())
    };
    let ours = parts.iter().all(word) && (parts.len() > 1 || camel(parts[0]));
    ours.then_some(parts)
}

#[test]
fn what_the_documents_name_is_there() {
    let code = code();
    let words: BTreeSet<&str> = code
        .iter()
        .flat_map(|source| source.text.split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .chain(code.iter().flat_map(|source| source.path.split(['/', '.'])))
        .collect();
    let paths: BTreeSet<String> =
        code.iter().flat_map(|source| [source.path.clone(), source.inside()]).collect();
    let mut complaints = Vec::new();
    for name in ["docs/ARCHITECTURE.md", "docs/INTERNALS.md"] {
        let text = sources("docs", "md").into_iter().find(|source| source.path == name);
        let text = text.unwrap_or_else(|| panic!("{name} is missing")).text;
        for (line, quoted) in quoted(&text) {
            if quoted.ends_with(".rs") && !quoted.contains(' ') {
                let ours = paths.contains(&quoted) || quoted.starts_with("tests/");
                if !ours && !Path::new(env!("CARGO_MANIFEST_DIR")).join(&quoted).exists() {
                    complaints.push(format!("{name}:{line}: there is no {quoted}"));
                }
            } else if let Some(parts) = parts(&quoted) {
                for part in parts {
                    if !words.contains(part) {
                        complaints.push(format!("{name}:{line}: `{quoted}`: no '{part}' in src"));
                    }
                }
            }
        }
    }
    settle(&complaints);
}

#[test]
fn the_architecture_can_be_read_at_one_sitting() {
    let all = sources("docs", "md");
    let page = all.iter().find(|source| source.path == "docs/ARCHITECTURE.md").expect("there");
    assert!(page.text.len() <= 15_000, "{} bytes of at most 15,000", page.text.len());
}
