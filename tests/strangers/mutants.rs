//! Records, plans and comparisons that nobody wrote: kept ones, changed at random. Whatever stands in one, the program
//! reads, judges, prints, compares and explains it, or says in one line that it does not.
//!
//! `ASSAY_FUZZ=100000` tries so many, from the seed `ASSAY_FUZZ_SEED`, and lists each place at which it failed once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use assay::cli::{self, Environment};
use serde_json::{Number, Value};

/// Numbers that follow from a seed (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// The kept records, and plans among them.
pub fn kept() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut found = Vec::new();
    for folder in ["records", "runs"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("kept records") {
            found.push(entry.expect("an entry").path());
        }
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    found.sort();
    assert!(found.len() > 100, "{}", found.len());
    found
}

/// Values that nobody expects.
fn odd(chance: &mut Chance) -> Value {
    let number = |value: f64| Number::from_f64(value).map_or(Value::Null, Value::Number);
    match chance.below(26) {
        0 => 0.into(),
        1 => 1.into(),
        2 => (-1).into(),
        3 => u64::MAX.into(),
        4 => (u64::MAX - 1).into(),
        5 => i64::MIN.into(),
        6 => i64::MAX.into(),
        7 => (1_u64 << 32).into(),
        8 => u32::MAX.into(),
        9 => number(f64::MAX),
        10 => number(f64::MIN),
        11 => number(5e-324),
        12 => number(-0.0),
        13 => number(0.5),
        14 => number(1e19),
        15 => Value::Null,
        16 => true.into(),
        17 => "".into(),
        18 => "\u{1b}[2J\n\u{202e}".into(),
        19 => "\u{e9}".repeat(300).into(),
        20 => Value::Array(Vec::new()),
        21 => Value::Object(serde_json::Map::new()),
        22 => vec![Value::from(chance.next()); 3].into(),
        23 => chance.next().into(),
        24 => (chance.next() >> 40).into(),
        _ => "/".into(),
    }
}

/// The values in a document, counted from the outside.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

/// The value of that number.
fn nth(value: &mut Value, number: usize) -> Option<&mut Value> {
    fn go<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
        if *left == 0 {
            return Some(value);
        }
        *left -= 1;
        match value {
            Value::Array(all) => all.iter_mut().find_map(|one| go(one, left)),
            Value::Object(all) => all.values_mut().find_map(|one| go(one, left)),
            _ => None,
        }
    }
    let mut left = number;
    go(value, &mut left)
}

/// A number instead of another, of the same kind.
fn renumber(document: &mut Value, chance: &mut Chance) {
    let all = count(document);
    for _ in 0..64 {
        let at = chance.below(all);
        let Some(one) = nth(document, at).filter(|one| one.is_number()) else { continue };
        let edge = 1_u64.checked_shl(chance.below(64) as u32).unwrap_or_default();
        *one = match (one.as_u64(), chance.below(6)) {
            (Some(_), 0) => 0.into(),
            (Some(_), 1) => edge.into(),
            (Some(_), 2) => (edge - 1).into(),
            (Some(whole), 3) => (whole / 1000).into(),
            (Some(whole), 4) => whole.saturating_mul(1000).into(),
            (Some(_), _) => (u64::MAX - edge).into(),
            (None, 0) => (one.as_f64().unwrap_or_default() * 1e6).into(),
            (None, 1) => 0.0.into(),
            (None, 2) => (-1.5).into(),
            (None, _) => 1e300.into(),
        };
        return;
    }
}

/// Changes one value.
fn mutate(document: &mut Value, chance: &mut Chance) {
    let all = count(document);
    let other = nth(document, chance.below(all)).map(|it| it.clone()).unwrap_or_default();
    let Some(one) = nth(document, chance.below(all)) else { return };
    match (one, chance.below(8)) {
        (Value::Object(entries), 0..=3) if !entries.is_empty() => {
            let key = entries.keys().nth(chance.below(entries.len())).cloned().expect("a key");
            match chance.below(3) {
                0 => drop(entries.remove(&key)),
                1 => drop(entries.insert(key, odd(chance))),
                _ => {
                    let value = entries.remove(&key).expect("a value");
                    entries.insert(key + "x", value);
                }
            }
        }
        (Value::Array(elements), 0..=4) if !elements.is_empty() => {
            let at = chance.below(elements.len());
            match chance.below(5) {
                0 => drop(elements.remove(at)),
                1 => elements.insert(at, elements[at].clone()),
                2 => elements.clear(),
                3 => elements.truncate(1),
                _ => elements.reverse(),
            }
        }
        (one @ Value::Number(_), 0..=5) => {
            *one = match (one.as_u64(), one.as_f64(), chance.below(6)) {
                (Some(whole), _, 0) => whole.wrapping_mul(1 << 40).into(),
                (Some(whole), _, 1) => (whole / 1000).into(),
                (Some(whole), _, 2) => whole.wrapping_sub(1).into(),
                (Some(whole), _, 3) => whole.wrapping_add(1).into(),
                (None, Some(real), 0..=3) => (-real).into(),
                _ => odd(chance),
            };
        }
        (one, 6) => *one = other,
        (one, _) => *one = odd(chance),
    }
}

/// Changes the text of a document.
fn damage(text: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.below(text.len());
    match chance.below(7) {
        0 => text.truncate(at),
        1 => text[at] = chance.next() as u8,
        2 => {
            let end = (at + chance.below(400)).min(text.len());
            let part = text[at..end].to_vec();
            text.splice(at..at, part);
        }
        3 => {
            let end = (at + chance.below(40)).min(text.len());
            text.drain(at..end);
        }
        4 => drop(text.splice(at..at, *b"\xff\xfe\x00")),
        5 => drop(text.splice(at..at, vec![b'['; 100_000])),
        _ => {
            // A key that is there twice.
            let twice = br#"{"schema": "assay.record/2", "phases": [], "#;
            if text.first() == Some(&b'{') {
                drop(text.splice(0..1, *twice));
            }
        }
    }
}

thread_local! {
    static WHERE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What the program answers: its exit status and what it wrote; or where it panicked.
pub fn answer(words: &[&str], environment: &Environment) -> Result<(u8, Vec<u8>, Vec<u8>), String> {
    let words: Vec<OsString> = ["assay"].iter().chain(words).map(OsString::from).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended =
        catch_unwind(AssertUnwindSafe(|| cli::main(&words, environment, &mut out, &mut err)));
    ended.map(|status| (status, out, err)).map_err(|_| WHERE.with_borrow(String::clone))
}

/// What the program does with a document, in all ways; how it fails.
fn tried(path: &str, whole: &str, every: bool) -> Result<u8, String> {
    let environment = Environment { utf8: true, ..Environment::default() };
    let check = |words: &[&str]| {
        let (status, out, err) = answer(words, &environment)
            .map_err(|place| format!("{}: {place}", words[..words.len() - 1].join(" ")))?;
        let said = String::from_utf8_lossy(&err).into_owned();
        let refused = status == 2 && out.is_empty() && said.starts_with("assay: ");
        let one_line = said.lines().count() == 1;
        match status {
            0 | 3 => Ok(status),
            // A page may be out before a run is called failed by its record.
            1 if !out.is_empty() => Ok(status),
            _ if refused && one_line => Ok(status),
            _ => Err(format!("{}: {status}: {said}", words[0])),
        }
    };
    let status = check(&["judge", path])?;
    if status == 2 && !every {
        return Ok(status);
    }
    for format in ["json", "html", "svg", "csv", "markdown"] {
        check(&["judge", "--format", format, path])?;
    }
    for words in [
        &["--plain", "judge", path][..],
        &["judge", "--checksummed", path],
        &["compare", whole, path],
        &["compare", path, path],
        &["explain", path],
        &["explain", "--json", path],
        &["compare", "--json", path, whole],
    ] {
        check(words)?;
    }
    Ok(status)
}

#[test]
fn any_document_is_judged_printed_compared_and_explained_or_refused_in_a_line() {
    let number = |name: &str| std::env::var(name).ok().and_then(|told| told.parse().ok());
    let (cases, seed) = (number("ASSAY_FUZZ").unwrap_or(600), number("ASSAY_FUZZ_SEED"));
    let desk = tempfile::tempdir().expect("a desk");
    let at = desk.path().join("r.json");
    let path = at.to_str().expect("text");
    let documents: Vec<(PathBuf, Value)> = kept()
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a record");
            (path, serde_json::from_str(&text).expect("JSON"))
        })
        .collect();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        WHERE.with_borrow_mut(|place| *place = info.to_string().replace('\n', " "));
    }));
    let mut chance = Chance(seed.unwrap_or(42));
    let mut failures: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut judged = 0;
    for case in 0..cases {
        let from = chance.0;
        let (whole, document) = &documents[chance.below(documents.len())];
        let mut text = if chance.below(10) == 0 {
            let mut text = std::fs::read(whole).expect("a record");
            damage(&mut text, &mut chance);
            text
        } else {
            let mut document = document.clone();
            for _ in 0..=chance.below(3) {
                match chance.below(4) {
                    0 => mutate(&mut document, &mut chance),
                    _ => renumber(&mut document, &mut chance),
                }
            }
            serde_json::to_vec(&document).expect("JSON")
        };
        text.push(b'\n');
        std::fs::write(&at, &text).expect("written");
        match tried(path, whole.to_str().expect("text"), case % 16 == 0) {
            Ok(status) => judged += u64::from(status != 2),
            Err(failure) => {
                let (times, _) = failures.entry(failure.clone()).or_insert((0, from));
                *times += 1;
                if let (1, Some(kept)) = (*times, std::env::var_os("ASSAY_FUZZ_KEEP")) {
                    let name = Path::new(&kept).join(format!("{from}.json"));
                    std::fs::write(name, &text).expect("kept");
                }
            }
        }
    }
    std::panic::set_hook(before);
    let told = failures
        .iter()
        .map(|(how, (times, seed))| format!("{times} times, from seed {seed}: {how}"));
    assert!(failures.is_empty(), "\n{}\n", told.collect::<Vec<_>>().join("\n"));
    assert!(judged > cases / 4, "of {cases} only {judged} were records");
}
