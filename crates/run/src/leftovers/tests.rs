//! What is swept, and all that is not: by name, and in states of folders that are made at random.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt as _, symlink};

use super::*;
use assay_engine::output::{self, OutputPlace, take_left};
use assay_record::record::{RecordSink, sweep_journals};

/// The name of a run that is over.
pub(crate) const DEAD: &str = "01aryz6s41tsv4rrffq69g5fav";
const LIVING: &str = "01aryz6s42tsv4rrffq69g5fav";

/// A folder in memory, where there is one.
fn desk() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.map(|name| name.to_text()).collect();
    names.sort();
    names
}

#[test]
fn leftovers_of_the_dead_go_and_files_of_the_living_and_of_others_stay() {
    let folder = desk();
    let at = |name: &str| folder.path().join(name);
    // A user's, however they are called.
    for name in [".assay-backup.tree", &format!(".assay-{DEAD}0.tree"), "mine.tree"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join(".assay"), mark(DEAD)).unwrap();
    }
    for name in [".assay-notes.tmp", ".assay-notes.lock", &format!(".assay-{LIVING}-3.tmp")] {
        fs::write(at(name), mark(DEAD)).unwrap();
    }
    let others = names(folder.path());
    let (living, _living) = NamedScratch::make(folder.path(), LIVING, None).unwrap();
    let tree = make_tree(folder.path(), LIVING).unwrap();
    let stays = names(folder.path());
    assert_eq!(stays.len(), others.len() + 3);
    drop(NamedScratch::make(folder.path(), DEAD, None).unwrap());
    drop(NamedScratch::make(folder.path(), DEAD, Some(7)).unwrap());
    let dead = make_tree(folder.path(), DEAD).unwrap().0;
    fs::create_dir_all(dead.join("t0/w0000")).unwrap();
    symlink(at(".assay-backup.tree"), dead.join("t0/link")).unwrap();
    sweep(folder.path());
    assert_eq!(names(folder.path()), stays);
    // They end, and by the next sweep nothing of theirs is there.
    drop((living, _living, tree));
    sweep(folder.path());
    assert_eq!(names(folder.path()), others);
    assert!(at(".assay-backup.tree/.assay").is_file());
    assert_eq!(take_left(), []);
}

#[test]
fn what_cannot_have_its_name_leaves_nothing_and_takes_nothing() {
    let folder = desk();
    for name in [format!(".assay-{DEAD}.tree"), format!(".assay-{DEAD}.tmp")] {
        symlink("/nowhere", folder.path().join(name)).unwrap();
    }
    let before = names(folder.path());
    make_tree(folder.path(), DEAD).unwrap_err();
    NamedScratch::make(folder.path(), DEAD, None).unwrap_err();
    assert_eq!(names(folder.path()), before);
}

/// So many states are made; more where that is set when the tests are built.
const STATES: Option<&str> = option_env!("ASSAY_STATES");

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What stands at a path, as far as anybody could have changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    inode: u64,
    owner: u32,
    mode: u32,
    links: u64,
    /// The bytes of a file, where a link leads, how many are in a folder.
    holds: Vec<u8>,
}

fn found(folder: &Path, all: &mut BTreeMap<PathBuf, Found>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let stat = fs::symlink_metadata(&path).unwrap();
        let kind = stat.file_type();
        let holds = match () {
            () if kind.is_file() => fs::read(&path).unwrap(),
            () if kind.is_symlink() => fs::read_link(&path).unwrap().to_text().into_bytes(),
            () => Vec::new(),
        };
        let folder = kind.is_dir();
        let (owner, mode) = (stat.uid(), stat.mode());
        // Folders have links for those in them, which come and go.
        let links = if folder { 0 } else { stat.nlink() };
        all.insert(path.clone(), Found { inode: stat.ino(), owner, mode, links, holds });
        if folder {
            found(&path, all);
        }
    }
}

/// A record that holds no more than what names it.
const RECORD: &str = r#"{"schema":"assay.record/2","version":"0"}"#;

/// Makes something at a path.
fn put(path: &Path, precious: &Path, dice: &mut Dice, depth: u32) {
    let run = [DEAD, LIVING, "backup"][dice.below(3)];
    let other_user = mark(run).replace("of user", "of user 1");
    let nowhere = format!(
        "{{\"journal_of\":{{\"run\":\"{run}\",\"record\":{:?}}}}}\n",
        precious.join("gone/r.json")
    );
    let texts = ["", "precious", &mark(run), &mark(DEAD), &other_user, RECORD, &nowhere];
    match dice.below(9) {
        0 => symlink(precious.join(dice.of(&["file", "folder", "gone", "record"])), path).unwrap(),
        1 => fs::hard_link(precious.join(dice.of(&["file", "record"])), path).unwrap(),
        2 => {
            let mode = Mode::from_raw_mode(0o600);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
        }
        3 | 4 if depth > 0 => {
            fs::create_dir(path).unwrap();
            for name in [".assay", "t0", "more"] {
                match (name, dice.below(4)) {
                    (".assay", 0 | 1) => fs::write(path.join(name), mark(DEAD)).unwrap(),
                    (_, 0) => {}
                    _ => put(&path.join(name), precious, dice, depth - 1),
                }
            }
        }
        _ => fs::write(path, *dice.of(&texts)).unwrap(),
    }
    if rustix::process::geteuid().is_root() && dice.below(5) == 0 {
        let _ = std::os::unix::fs::lchown(path, Some(1000), Some(1000));
    }
}

/// Names near ours, and some that are.
fn name(dice: &mut Dice) -> String {
    let upper = DEAD.to_uppercase();
    let runs = [DEAD, DEAD, DEAD, LIVING, "backup", "notes", "", &DEAD[1..], &upper];
    let run = *dice.of(&runs);
    let number = *dice.of(&["", "", "", "-0", "-12", "-", "-x"]);
    let end = *dice.of(&[".tree", ".tree", ".tmp", ".lock", ".lock", ".new", ".journal", ""]);
    match dice.below(5) {
        0 => format!("assay-{run}.journal"),
        1 => dice.of(&["r.json", "log.csv", "notes.md"]).to_string(),
        _ => format!(".assay-{run}{number}{end}"),
    }
}

/// What of a state is a dead run's, and has to go: found out by another way than the sweep's, from names and bytes.
fn is_a_leftover(path: &Path, desk: &Path, all: &BTreeMap<PathBuf, Found>) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let kind = |found: &Found| found.mode & 0o170_000;
    let marks = |path: &Path, run: &str| {
        all.get(path).is_some_and(|found| {
            kind(found) == 0o100_000
                && (found.owner, found.links) == (own, 1)
                && found.holds == mark(run).as_bytes()
        })
    };
    let Ok(below) = path.strip_prefix(desk) else { return false };
    let top = below.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
    [DEAD, LIVING].iter().any(|run| {
        let tree = desk.join(format!(".assay-{run}.tree"));
        let is_tree = all.get(&tree).is_some_and(|it| kind(it) == 0o040_000 && it.owner == own)
            && marks(&tree.join(".assay"), run)
            && path.starts_with(&tree);
        let is_file = ["", "-0", "-12"].iter().any(|number| {
            let (file, lock) =
                (format!(".assay-{run}{number}.tmp"), format!(".assay-{run}{number}.lock"));
            let scratch = all
                .get(&desk.join(&file))
                .is_none_or(|it| kind(it) == 0o100_000 && (it.owner, it.links) == (own, 1));
            scratch && marks(&desk.join(&lock), run) && [file, lock].iter().any(|it| top == it)
        });
        is_tree || is_file
    })
}

// Nothing is written, replaced or removed that is not ours and was not named.
#[test]
fn in_no_state_of_a_folder_is_anything_touched_that_is_not_ours() {
    let states: u64 = STATES.and_then(|states| states.parse().ok()).unwrap_or(50_000);
    let above = desk();
    let precious = above.path().join("precious");
    fs::create_dir_all(precious.join("folder")).unwrap();
    fs::write(precious.join("file"), "precious").unwrap();
    fs::write(precious.join("folder/inside"), "precious").unwrap();
    fs::write(precious.join("record"), RECORD).unwrap();
    let (mut swept, mut replaced, mut refused) = (0, 0, 0);
    for state in 0..states {
        let mut dice = Dice(state);
        let desk = above.path().join("desk");
        fs::create_dir(&desk).unwrap();
        for _ in 0..=dice.below(5) {
            let path = desk.join(name(&mut dice));
            if fs::symlink_metadata(&path).is_err() {
                put(&path, &precious, &mut dice, 2);
            }
        }
        let look = || {
            let mut all = BTreeMap::new();
            found(above.path(), &mut all);
            all
        };
        let before = look();
        sweep(&desk);
        sweep_journals(&desk, 0);
        let after = look();
        for (path, it) in &before {
            let goes = is_a_leftover(path, &desk, &before);
            let there = after.get(path);
            swept += u32::from(goes);
            match goes {
                // Of what has several names one fewer is left.
                true => assert_eq!(there, None, "state {state}: {path:?} stays"),
                false => assert!(
                    there.is_some_and(|now| Found { links: it.links, ..now.clone() } == *it),
                    "state {state}: {path:?}: {it:?} became {there:?}"
                ),
            }
        }
        assert!(
            after.keys().all(|path| before.contains_key(path)),
            "state {state}: it made something"
        );
        // A run is named its record and its report: only what they lead to is another file then.
        let asked = desk.join(name(&mut dice));
        let leads = OutputPlace::of(&asked).map(|place| place.path().to_path_buf());
        let at = after.get(leads.as_deref().unwrap_or(&asked)).map(|it| it.holds.clone());
        // A pipe is waited for.
        let is_pipe = fs::metadata(&asked).is_ok_and(|it| it.file_type().is_fifo());
        let outcome = if is_pipe {
            Ok(())
        } else {
            RecordSink::at(&asked, "r").map(|_| ()).and_then(|()| {
                if !asked.is_dir() {
                    output::replace(&asked, b"ours")?;
                }
                Ok(())
            })
        };
        let scratch = NamedScratch::make(&desk, "01aryz6s43tsv4rrffq69g5fav", Some(1)).unwrap();
        scratch.1.remove().unwrap();
        let tree = make_tree(&desk, "01aryz6s43tsv4rrffq69g5fav").unwrap();
        remove_tree(&tree.0, &tree.1, false).unwrap();
        let now = look();
        for (path, it) in &after {
            let named = outcome.is_ok() && leads.as_ref().is_ok_and(|leads| leads == path);
            let is_now = now.get(path);
            if named && !asked.is_dir() && !is_pipe {
                let was_ours =
                    at.as_ref().is_none_or(|at| at.is_empty() || at == RECORD.as_bytes());
                assert!(was_ours, "state {state}: {path:?} was no record");
                let is = is_now.unwrap();
                assert_eq!((is.owner, is.mode), (it.owner, it.mode), "state {state}: {path:?}");
                assert_eq!(is.holds, b"ours");
                replaced += 1;
                continue;
            }
            assert!(
                is_now.is_some_and(|is| Found { links: it.links, ..is.clone() } == *it),
                "state {state}: {path:?}: {it:?} became {is_now:?}"
            );
        }
        refused += u32::from(outcome.is_err());
        let made = now.keys().filter(|path| !after.contains_key(*path)).count();
        assert!(made <= 1, "state {state}: {made} new files");
        fs::remove_dir_all(&desk).unwrap();
        if replaced_precious(&precious) {
            let _ = fs::remove_file(precious.join("record"));
            fs::write(precious.join("record"), RECORD).unwrap();
        }
    }
    assert!(swept > 0 && replaced > 0 && refused > 0, "{swept}, {replaced}, {refused}");
    assert_eq!(take_left(), []);
}

/// Whether the record that links lead to was replaced, or given another owner by the state.
fn replaced_precious(precious: &Path) -> bool {
    fs::read(precious.join("record")).is_ok_and(|bytes| bytes != RECORD.as_bytes())
        || restored(&precious.join("file"), "precious")
        || restored(&precious.join("record"), RECORD)
}

/// Makes a file anew that a hard link of a state has given to another user.
fn restored(path: &Path, text: &str) -> bool {
    let own = rustix::process::geteuid().as_raw();
    if fs::metadata(path).is_ok_and(|it| it.uid() != own) {
        fs::remove_file(path).unwrap();
        fs::write(path, text).unwrap();
    }
    false
}
