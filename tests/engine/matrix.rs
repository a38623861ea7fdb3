//! Every method, order and direction on every kind of target: the bytes that were really touched,
//! against a model of the orders, the log of the same run, and on FUSE the kernel's own requests.
//!
//! What is written repeats every 251 bytes, so that the right value of each byte follows from its
//! place without any code of ours, and differs from what was there before. A pairing that a target
//! does not take must be refused, or replaced by another method, in one line.
//!
//! On ext4 all are done. On the five other kinds of target each is done once: each method meets each order on each of
//! them, and each direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_plan::error::Error;
use assay_plan::plan::{Action, OffsetOrdering, Plan};
use assay_record::record::{Ending, Record};
use assay_run::{self as run, RunOptions};
use serde_json::{Value, json};

use crate::lab::{self, Asked, Backing, Card, Fs, Image, MI, Memory, PacedFuse, Shape, Speed};
use crate::places;

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 64;
const SIZE: u64 = BLOCK * BLOCKS;
/// What is written has these many different bytes, so that no two blocks are alike.
const PERIOD: u64 = 251;
/// What was there before: none of them.
const OLD: u8 = 0xff;

/// The byte that a write puts at a place.
fn right(place: u64) -> u8 {
    (place % PERIOD) as u8
}

/// Where a matrix is run.
struct Ground<'a> {
    name: &'static str,
    path: PathBuf,
    device: bool,
    fuse: Option<&'a PacedFuse>,
    share: Share,
}

/// Which pairings are done on a kind of target.
#[derive(Clone, Copy)]
enum Share {
    All,
    /// Those of which the numbers of method, order and direction add up to this, modulo the directions.
    Fifth(usize),
}

/// A method, a direction and an order, each by its number.
type Pairing = (usize, usize, usize);

impl Share {
    /// The pairings of these methods, by method. A flush after each read, or trim, is no plan.
    fn pairings(self, ways: &[Way]) -> Vec<Pairing> {
        let each = |way: usize| (0..DIRECTIONS.len()).map(move |direction| (way, direction));
        let all = (0..ways.len()).flat_map(each).flat_map(|(way, direction)| {
            (0..orders().len()).map(move |order| (way, direction, order))
        });
        let is_mine = |(way, direction, order): &Pairing| match self {
            Self::All => true,
            Self::Fifth(number) => (way + direction + order) % DIRECTIONS.len() == number,
        };
        let writes = |direction: usize| {
            DIRECTIONS[direction].iter().any(|action| ["write", "rewrite"].contains(action))
        };
        all.filter(is_mine).filter(|pairing| !ways[pairing.0].flush || writes(pairing.1)).collect()
    }
}

/// A method as the plan has it, with its depth.
struct Way {
    name: &'static str,
    method: Value,
    depth: u32,
    caching: &'static str,
    /// A flush after each write, where the method is about that.
    flush: bool,
}

fn loop_config() -> Vec<Way> {
    let way = |name, method, depth, caching| Way { name, method, depth, caching, flush: false };
    let flags = json!({ "vectored": { "dsync": true, "nowait": false } });
    vec![
        way("psync", json!("psync"), 1, "buffered"),
        way("psync, direct", json!("psync"), 1, "direct"),
        way("sync", json!("sync"), 1, "buffered"),
        way("sync, direct", json!("sync"), 1, "direct"),
        way("vectored", json!("vectored"), 1, "buffered"),
        way("vectored, RWF_DSYNC, direct", flags, 1, "direct"),
        way("mmap", json!("mmap"), 1, "buffered"),
        way("stdio by records", json!({ "stdio": { "buffer": 4096 } }), 1, "buffered"),
        way(
            "stdio by bytes",
            json!({ "stdio": { "buffer": 4096, "bytewise": true } }),
            1,
            "buffered",
        ),
        way("libaio", json!({ "libaio": { "batch": 2 } }), 5, "direct"),
        way("posixaio", json!("posixaio"), 4, "buffered"),
        way("io_uring", json!("io_uring"), 1, "direct"),
        way("io_uring, batches", json!({ "io_uring": { "batch": 4 } }), 8, "direct"),
        way("io_uring, buffered", json!({ "io_uring": { "fixed": false } }), 4, "buffered"),
        way("io_uring, vectored", json!({ "io_uring": { "vectored": true } }), 3, "direct"),
        way("io_uring, sqpoll", json!({ "io_uring": { "sqpoll": true } }), 4, "direct"),
        Way {
            flush: true,
            ..way("io_uring, linked", json!({ "io_uring": { "linked": true } }), 4, "direct")
        },
        way("pool", json!("pool"), 3, "buffered"),
        way("pool, direct", json!("pool"), 3, "direct"),
    ]
}

fn orders() -> Vec<Value> {
    let zones = json!([
        { "access_percent": 100.0, "space_percent": 25.0 },
        { "access_percent": 0.0, "space_percent": 75.0 },
    ]);
    vec![
        json!("forward"),
        json!("backward"),
        json!({ "strided": { "stride": 5 * BLOCK } }),
        json!({ "spaced": { "stride": 3 * BLOCK } }),
        json!("uniform"),
        json!("shuffled"),
        json!({ "zipf": { "theta": 3.0, "center": 0.0 } }),
        json!({ "pareto": { "h": 0.1, "center": 1.0 } }),
        json!({ "normal": { "deviation": 2.0 } }),
        json!({ "zoned": { "zones": zones } }),
        json!({ "runs": { "sequential": 4, "random_percent": 100 } }),
        json!({ "runs": { "sequential": 4, "random_percent": 100, "same": true } }),
        json!("same"),
    ]
}

const DIRECTIONS: [&[&str]; 5] =
    [&["read"], &["write"], &["rewrite"], &["read", "write"], &["trim"]];

/// The bytes of a target before a run: what a write would put there for reads, else none of it.
fn before(directions: &[&str]) -> Vec<u8> {
    match directions {
        ["read"] => (0..SIZE).map(right).collect(),
        _ => vec![OLD; SIZE as usize],
    }
}

fn put(ground: &Ground, content: &[u8]) {
    let mut options = File::options();
    let file = options.write(true).create(!ground.device).truncate(false).open(&ground.path);
    file.and_then(|file| file.write_all_at(content, 0)).expect("the target is written");
}

fn content(ground: &Ground) -> Vec<u8> {
    let mut content = vec![0; SIZE as usize];
    let file = File::open(&ground.path).expect("the target");
    file.read_exact_at(&mut content, 0).expect("the target is read");
    content
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
struct Logged {
    action: String,
    offset: u64,
    len: u64,
    answer: i64,
}

fn logged(path: &Path) -> Vec<Logged> {
    let text = std::fs::read_to_string(path).expect("a log");
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, _, action, "0", offset, len, _, answer] = fields[..] else {
            panic!("no line of a log of one file: {line}");
        };
        Logged {
            action: action.into(),
            offset: offset.parse().expect("an offset"),
            len: len.parse().expect("a length"),
            answer: answer.parse().expect("an answer"),
        }
    };
    text.lines().skip(1).map(line).collect()
}

fn plan(ground: &Ground, way: &Way, order: &Value, actions: &[&str], log: &Path) -> Plan {
    let target = match ground.device {
        true => json!({ "device": {
            "path": ground.path, "size": "whole", "consent": { "device": ground.path },
        } }),
        false => json!({ "file": { "path": ground.path, "size": { "exactly": SIZE } } }),
    };
    let mix: Vec<Value> = actions.iter().map(|a| json!({ "action": a, "weight": 1 })).collect();
    let fill: Vec<u8> = (0..PERIOD).map(right).collect();
    let plan = json!({
        "title": "matrix", "origin": { "dialect": "plan" }, "seed": 11,
        "phases": [{ "name": "p", "jobs": [{
            "name": "j",
            "work": { "blocks": {
                "target": target, "method": way.method, "caching": way.caching,
                "iodepth": way.depth,
                "durability": if way.flush { json!({ "fdatasync_every": 1 }) } else { json!("none") },
                "pattern": {
                    "mix": mix, "order": order, "block": { "fixed": BLOCK },
                    "fill": { "repeat": fill },
                    "verify": if actions == ["read"] { "full" } else { "none" },
                },
            } },
            "stop": { "first_of": [{ "passes": 1 }] },
            "detail": { "log": log },
        }] }],
    });
    serde_json::from_value(plan).expect("a plan")
}

/// Asserts that these places, in order when `ordered`, are a pass of this order.
fn is_a_pass(order: &Value, found: &[u64], ordered: bool, what: &str) {
    let parsed: OffsetOrdering = serde_json::from_value(order.clone()).expect("an order");
    let blocks: Vec<u64> = found.iter().map(|offset| offset / BLOCK).collect();
    assert!(found.iter().all(|at| at % BLOCK == 0 && at + BLOCK <= SIZE), "{what}: {found:?}");
    let sorted = |list: &[u64]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    match &parsed {
        OffsetOrdering::Forward
        | OffsetOrdering::Backward
        | OffsetOrdering::Strided { .. }
        | OffsetOrdering::Spaced { .. }
        | OffsetOrdering::Same => {
            let model = places::model(&parsed, BLOCK, SIZE);
            match ordered {
                true => assert_eq!(found, model, "{what}"),
                false => assert_eq!(sorted(found), sorted(&model), "{what}"),
            }
            return;
        }
        _ => assert_eq!(found.len() as u64, BLOCKS, "{what}: I/Os of a pass"),
    }
    let count = |block: u64| blocks.iter().filter(|found| **found == block).count();
    match &parsed {
        OffsetOrdering::Shuffled => {
            assert_eq!(sorted(&blocks), (0..BLOCKS).collect::<Vec<_>>(), "{what}");
            assert_ne!(blocks, sorted(&blocks), "{what}: not shuffled");
        }
        OffsetOrdering::Uniform => {
            // Of 64 throws at 64 places about 40 are hit; fewer than 25 or all are no chance.
            let different = blocks.iter().collect::<BTreeSet<_>>().len();
            assert!((25..60).contains(&different), "{what}: {different} places");
        }
        // By the law 83 % of the accesses, and a tenth of the blocks 90 %.
        OffsetOrdering::Zipf { .. } => {
            assert!(count(0) > BLOCKS as usize / 2, "{what}: {blocks:?}")
        }
        OffsetOrdering::Pareto { .. } => {
            let hottest = (0..BLOCKS).max_by_key(|block| count(*block));
            assert_eq!(hottest, Some(BLOCKS - 1), "{what}: {blocks:?}");
        }
        // Six deviations of 1.28 blocks.
        OffsetOrdering::Normal { .. } => {
            assert!(
                blocks.iter().all(|block| block.abs_diff(BLOCKS / 2) <= 8),
                "{what}: {blocks:?}"
            );
        }
        OffsetOrdering::Zoned { .. } => {
            assert!(blocks.iter().all(|block| *block < BLOCKS / 4), "{what}: {blocks:?}");
        }
        OffsetOrdering::Runs { same, .. } if ordered => {
            let run = |run: &[u64]| {
                run.windows(2).all(|pair| match same {
                    true => pair[1] == pair[0],
                    false => pair[1] == (pair[0] + 1) % BLOCKS,
                })
            };
            assert!(blocks.chunks(4).all(run), "{what}: {blocks:?}");
        }
        OffsetOrdering::Runs { .. } => {}
        other => panic!("{what}: {other:?} has no model"),
    }
}

/// What the kernel asked of the FUSE server is what the log says, and nothing else.
fn is_what_was_asked(fuse: &PacedFuse, log: &[Logged], way: &Way, what: &str) {
    let ordered = way.depth == 1;
    let tries = way.name.starts_with("vectored") || way.name.ends_with("sqpoll");
    // The program looks whether direct I/O is what it says by reading one byte at an odd place.
    let is_probe = |asked: &Asked| *asked == Asked { write: false, offset: 1, len: 1 };
    let asked = fuse.noted().into_iter().filter(|asked| !is_probe(asked));
    let mut asked: Vec<_> = asked.map(|asked| (asked.write, asked.offset, asked.len)).collect();
    let mut model = Vec::new();
    for io in log {
        if matches!(io.action.as_str(), "read" | "rewrite") {
            model.push((false, io.offset, io.len));
        }
        if matches!(io.action.as_str(), "write" | "rewrite") {
            model.push((true, io.offset, io.len));
        }
    }
    // What is still in the buffer of stdio is not asked for again.
    if way.name.starts_with("stdio") {
        let again =
            |one: &mut (bool, u64, u64), before: &mut (bool, u64, u64)| !one.0 && one == before;
        asked.dedup_by(again);
        model.dedup_by(again);
    }
    // Flags of preadv2, each alone and none, and rings with a thread are tried by reading the first
    // block of a target beside which no file can be made.
    if tries {
        let more = asked.len().saturating_sub(model.len()).min(2);
        let tried = asked.drain(..more);
        assert!(tried.into_iter().all(|asked| asked == (false, 0, BLOCK)), "{what}: tried");
    }
    if !ordered {
        asked.sort_unstable();
        model.sort_unstable();
    }
    assert_eq!(asked, model, "{what}: requests of the kernel");
}

/// What the target holds after a run that did what the log says.
fn is_what_was_logged(ground: &Ground, before: &[u8], log: &[Logged], what: &str) {
    let mut model = before.to_vec();
    for io in log {
        for place in io.offset..io.offset + io.len {
            match io.action.as_str() {
                "write" | "rewrite" => model[place as usize] = right(place),
                "trim" => model[place as usize] = 0,
                _ => {}
            }
        }
    }
    let found = content(ground);
    if let Some(at) = (0..SIZE as usize).find(|at| found[*at] != model[*at]) {
        panic!("{what}: byte {at} is {:#x}, not {:#x}", found[at], model[at]);
    }
}

/// Runs one pairing and looks at it from all sides. What was said instead of doing it, if
/// something was.
fn pairing(ground: &Ground, way: &Way, order: &Value, actions: &[&str], log: &Path) -> Vec<String> {
    let what = format!("{}: {}, {order}, {actions:?}", ground.name, way.name);
    let before = before(actions);
    put(ground, &before);
    if let Some(fuse) = ground.fuse {
        fuse.note_requests();
    }
    let plan = plan(ground, way, order, actions, log);
    let record = match go(&plan) {
        Ok(record) => record,
        Err(Error::Refusal(refusal)) => {
            assert!(content(ground) == before, "{what}: refused, and touched");
            let refusal = refusal.to_string();
            assert_eq!(refusal.lines().count(), 1, "{what}: {refusal}");
            return vec![format!("refused: {refusal}")];
        }
        Err(fault) => panic!("{what}: {fault}"),
    };
    assert_eq!(record.phases[0].faults, [], "{what}");
    assert_eq!(record.ending, Ending::Complete, "{what}");
    let entries = logged(log);
    assert!(entries.iter().all(|io| io.len == BLOCK && io.answer == BLOCK as i64), "{what}");
    // One at a time, the answers come in the order of the plan.
    let ordered = way.depth == 1;
    let offsets: Vec<u64> = entries.iter().map(|io| io.offset).collect();
    is_a_pass(order, &offsets, ordered, &what);
    counts_are_those_of(&record, &entries, actions, &what);
    if let Some(fuse) = ground.fuse {
        is_what_was_asked(fuse, &entries, way, &what);
    }
    is_what_was_logged(ground, &before, &entries, &what);
    if actions == ["read"] && order == "shuffled" {
        // It was compared with what is really there: one wrong byte is seen, where it is.
        let last = entries[entries.len() - 1].offset;
        put_one(ground, last + 77, OLD);
        let record = go(&plan).expect("a run");
        // Each thread of a pool that comes there says so.
        let faults = &record.phases[0].faults;
        assert!(!faults.is_empty(), "{what}: a wrong byte at {} is not seen", last + 77);
        assert!(faults.iter().all(|fault| fault.offset == Some(last + 77)), "{what}: {faults:?}");
    }
    record.resolved.notes
}

/// Runs a plan. A command that the lab starts for another test of this process has all that is
/// open here until it has become that command, and a device is opened exclusively.
fn go(plan: &Plan) -> Result<Record, Error> {
    for _ in 0..200 {
        match run::run(plan, &RunOptions::default(), &mut ()) {
            Err(Error::Fault(fault)) if (fault.doing.name(), &*fault.name) == ("open", "EBUSY") => {
                std::thread::sleep(Duration::from_millis(5));
            }
            answer => return answer,
        }
    }
    run::run(plan, &RunOptions::default(), &mut ())
}

fn put_one(ground: &Ground, place: u64, byte: u8) {
    let file = File::options().write(true).open(&ground.path).expect("the target");
    file.write_all_at(&[byte], place).expect("a byte is written");
}

/// The record counts what the log lists.
fn counts_are_those_of(record: &Record, log: &[Logged], actions: &[&str], what: &str) {
    let mut model: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for io in log {
        let (ops, bytes) = model.entry(&io.action).or_default();
        (*ops, *bytes) = (*ops + 1, *bytes + io.len);
    }
    let totals = record.phases[0].totals.iter().filter(|(action, _)| **action != Action::Flush);
    let found: BTreeMap<&str, (u64, u64)> =
        totals.map(|(action, total)| (action.name(), (total.ops.0, total.bytes.0))).collect();
    assert_eq!(found, model, "{what}");
    if log.len() as u64 == BLOCKS {
        assert!(actions.iter().all(|action| model.contains_key(action)), "{what}: {model:?}");
    }
}

/// What was said instead of doing a pairing as asked, and by which methods.
type Said = BTreeMap<String, BTreeSet<&'static str>>;

/// These pairings on one target: how many were done.
fn pairings(ground: &Ground, ways: &[Way], pairings: &[Pairing]) -> (usize, Said) {
    let desk = tempfile::tempdir().expect("a folder");
    let log = desk.path().join("log");
    let orders = orders();
    let (mut done, mut said) = (0, Said::new());
    for &(way, direction, order) in pairings {
        let way = &ways[way];
        let notes = pairing(ground, way, &orders[order], DIRECTIONS[direction], &log);
        done += usize::from(!notes.iter().any(|note| note.starts_with("refused: ")));
        for note in notes {
            assert_eq!(note.lines().count(), 1, "{note}");
            said.entry(note).or_default().insert(way.name);
        }
    }
    (done, said)
}

/// The matrix on one kind of target, of which there may be several that take their part of
/// the methods at the same time (`io_destroy` sleeps, for one). Prints once what was not done as
/// asked, and gives it.
fn matrix(grounds: &[Ground]) -> Said {
    let ways = loop_config();
    let all = grounds[0].share.pairings(&ways);
    let (mut done, mut said) = (0, Said::new());
    std::thread::scope(|scope| {
        let runs = grounds.iter().enumerate().map(|(number, ground)| {
            let mine = all.iter().filter(|pairing| pairing.0 % grounds.len() == number).copied();
            let (mine, ways): (Vec<Pairing>, _) = (mine.collect(), &ways);
            scope.spawn(move || pairings(ground, ways, &mine))
        });
        for run in runs.collect::<Vec<_>>() {
            let (theirs, notes) = run.join().expect("no pairing failed");
            done += theirs;
            notes.into_iter().for_each(|(note, ways)| said.entry(note).or_default().extend(ways));
        }
    });
    let name = grounds[0].name;
    for (note, ways) in &said {
        eprintln!("{name}: {}: {note}", ways.iter().copied().collect::<Vec<_>>().join("; "));
    }
    // All but the trims, where there are none.
    let no_trims = said.keys().any(|note| note.contains("refused: ") && note.contains("'trim' on"));
    let trims = all.iter().filter(|pairing| DIRECTIONS[pairing.1] == ["trim"]).count();
    let all = all.len();
    assert_eq!(done, all - if no_trims { trims } else { 0 }, "{name}: {said:?}");
    eprintln!("{name}: {done} of {all} pairings");
    said
}

/// A card in memory, so that a busy disk of the machine slows nothing.
fn card(name: &'static str, fs: Fs, size: u64) -> Result<Card, lab::Skip> {
    Card::new(Shape { name, fs, size, image: Image::Thin(size + 64 * MI), ..Shape::fast() })
}

fn on_files(name: &'static str, folder: &Path, share: Share) {
    let ground = |n| Ground { name, path: folder.join(n), device: false, fuse: None, share };
    matrix(&["x", "y", "z"].map(ground));
}

#[test]
fn ext4() {
    let card = lab::need!(card("matrix-ext4", Fs::Ext4, 64 * MI));
    on_files("ext4", card.mount(), Share::All);
}

#[test]
fn xfs() {
    let card = lab::need!(card("matrix-xfs", Fs::Xfs, 320 * MI));
    on_files("xfs", card.mount(), Share::Fifth(0));
}

#[test]
fn btrfs() {
    let card = lab::need!(card("matrix-btrfs", Fs::Btrfs, 160 * MI));
    on_files("btrfs", card.mount(), Share::Fifth(1));
}

#[test]
fn tmpfs() {
    let memory = lab::need!(Memory::tmpfs());
    on_files("tmpfs", memory.mount(), Share::Fifth(2));
}

#[test]
fn a_loop_device() {
    let one = lab::need!(card("matrix-loop", Fs::Raw, SIZE));
    let two = lab::need!(card("matrix-loop", Fs::Raw, SIZE));
    let ground = |card: &Card| Ground {
        name: "a loop device",
        path: card.device().to_path_buf(),
        device: true,
        fuse: None,
        share: Share::Fifth(3),
    };
    matrix(&[ground(&one), ground(&two)]);
}

#[test]
fn fuse() {
    let one = lab::need!(PacedFuse::new(SIZE, Speed::FREE, Backing::Memory));
    let two = lab::need!(PacedFuse::new(SIZE, Speed::FREE, Backing::Memory));
    let ground = |fuse| Ground {
        name: "fuse",
        path: PacedFuse::path(fuse),
        device: false,
        fuse: Some(fuse),
        share: Share::Fifth(4),
    };
    let said = matrix(&[ground(&one), ground(&two)]);
    assert!(said.keys().any(|note| note.ends_with("psync stands in")), "{said:?}");
    assert!(said.keys().any(|note| note.contains("can make no holes in files")), "{said:?}");
}
