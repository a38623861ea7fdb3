//! How much of the corpus of fio's job files and lines is done whole: read, and planned with nothing refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay::dialect::fio::{
    self, FioCommand, FioPathKind, FioPlan, FioSurroundings, FioThere, FioWorld,
};

use assay_plan::error::Refusal;

use crate::common::pages::golden_file;

/// Each list of I/Os in the corpus is this one.
pub const LIST: &[u8] =
    b"fio version 3 iolog\n1 f add\n1 f open\n2 f read 0 4096\n3 f write 4096 4096\n";

/// What fio 3.33 leaves when a job of one in flight has made 64 writes.
pub fn state() -> Vec<u8> {
    let mut body = vec![0; 168];
    (body[0], body[8], body[12], body[16]) = (1, 1, 1, 64);
    state_of(body)
}

/// A file of state with this body: its version, length and checksum stand before it.
pub fn state_of(body: Vec<u8>) -> Vec<u8> {
    let sum = u64::from(!crc32c::crc32c(&body));
    let head = [3, body.len() as u64, sum];
    head.into_iter().flat_map(u64::to_le_bytes).chain(body).collect()
}

/// The folder of the corpus.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio/corpus")
}

/// The job files of the corpus and of its parts, by name.
pub fn files() -> BTreeMap<String, Vec<u8>> {
    let folders =
        [corpus(), corpus().join("parts")].map(|folder| fs::read_dir(folder).expect("there"));
    let paths = folders.into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let of_jobs = |path: &PathBuf| path.extension().is_some_and(|end| end == "fio" || end == "inc");
    let each = paths.filter(of_jobs).map(|path| {
        let name =
            path.strip_prefix(corpus()).expect("below").to_str().expect("a name").to_string();
        (name, fs::read(path).expect("a file"))
    });
    each.collect()
}

/// The lines of the corpus.
pub fn lines() -> Vec<String> {
    let lines = fs::read_to_string(corpus().join("lines.txt")).expect("the lines");
    let lines = lines.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(String::from).collect()
}

/// Does something on a machine with these files, where each folder is there.
pub fn in_world<T>(files: &BTreeMap<String, Vec<u8>>, act: impl FnOnce(&FioWorld<'_>) -> T) -> T {
    act(&FioWorld {
        files: &|path| {
            let found = path.to_str().and_then(|name| files.get(name));
            found.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
        },
        stdin: &|| Ok(Vec::new()),
        files_below: &|folder| {
            Ok(["a", "b"].map(|name| folder.join(name).to_string_lossy().into_owned()).into())
        },
        environment: &|name| match name {
            "SIZE" => Some("64m".into()),
            "TARGET" => Some("/mnt".into()),
            _ => None,
        },
        kind: &|_| FioPathKind::Folder,
        page_size: 4096,
        cpus: 8,
        memory_mb: 16384,
    })
}

/// Reads words that are understood.
fn understood(words: &[String], files: &BTreeMap<String, Vec<u8>>) -> FioCommand {
    in_world(files, |world| {
        fio::read(words, world).unwrap_or_else(|complaint| panic!("{words:?}: {complaint:?}"))
    })
}

/// The plan of a command, where devices have 1 TiB and may be written to.
///
/// # Errors
/// What stands in its way.
pub fn planned(command: &FioCommand) -> Result<FioPlan, Refusal> {
    planned_with(command, LIST, &state())
}

/// The same, where each list of I/Os and each file of state holds these bytes.
///
/// # Errors
/// What stands in its way.
pub fn planned_with(command: &FioCommand, list: &[u8], state: &[u8]) -> Result<FioPlan, Refusal> {
    let there = |path: &Path| match path {
        _ if path.starts_with("/dev") => FioThere::Device { bytes: 1 << 40, named: true },
        _ if path.starts_with("/srv") => FioThere::File(1 << 20),
        _ => FioThere::Nothing,
    };
    let files = |path: &Path| match path.to_str() {
        Some(path) if path.ends_with(".log") => Ok(list.to_vec()),
        Some(path) if path.ends_with("-verify.state") => Ok(state.to_vec()),
        Some(path) if path.starts_with("/sys/devices/system/node/") => Ok(b"0-1".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let found = FioSurroundings { there: &there, files: &files, aux_path: None };
    command.plan(Vec::new(), &found, 1)
}

fn refusal(command: &FioCommand) -> Option<String> {
    if command.answer.is_some() {
        return None;
    }
    planned(command).err().map(|refusal| refusal.to_string())
}

#[test]
fn what_is_not_done_of_the_corpus_is_listed_and_does_not_grow() {
    let files = files();
    let jobs = files.keys().filter(|name| name.ends_with(".fio")).cloned();
    let (mut all, mut refused) = (0, Vec::new());
    for text in jobs.chain(lines()) {
        let words: Vec<String> = text.split_whitespace().map(String::from).collect();
        all += 1;
        if let Some(refusal) = refusal(&understood(&words, &files)) {
            refused.push(format!("{text}\n    {refusal}\n"));
        }
    }
    let whole = all - refused.len();
    let mut page = String::new();
    let share = 100.0 * whole as f64 / all as f64;
    let _ = writeln!(
        page,
        "# {whole} of {all} job files and lines are done whole ({share:.1} %). The others, and why not:\n"
    );
    page.push_str(&refused.concat());
    golden_file("fio/corpus", "not-done.txt", &page);
}
