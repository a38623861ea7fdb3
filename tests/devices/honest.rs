//! No false alarm: fifty honest runs on devices of five kinds. Nothing refutes any of them, and what is
//! doubted is true: somebody else really was at work.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_record::record::{Ending, Finding, FindingWeight, MeasuredSubject};
use serde_json::{Value, json};

use crate::kernel::{Heard, hear_own, told};
use crate::lab::{self, Card, Fs, MI, RamDisk, Shape, Skip};

/// Bytes of each target.
const SIZE: u64 = 96 * MI;

/// What a run does: its name, action, order, block, depth, caching, durability.
type Kind = (&'static str, &'static str, &'static str, u64, u32, &'static str, &'static str);

const KINDS: [Kind; 10] = [
    ("4 KiB reads, direct, depth 1", "read", "uniform", 4096, 1, "direct", "none"),
    ("4 KiB reads, direct, depth 32", "read", "uniform", 4096, 32, "direct", "none"),
    ("4 KiB writes, direct, depth 1", "write", "uniform", 4096, 1, "direct", "fdatasync_at_end"),
    ("4 KiB writes, direct, depth 32", "write", "uniform", 4096, 32, "direct", "fdatasync_at_end"),
    ("1 MiB reads, direct, depth 1", "read", "forward", MI, 1, "direct", "none"),
    ("1 MiB reads, direct, depth 32", "read", "forward", MI, 32, "direct", "none"),
    ("1 MiB writes, direct, depth 1", "write", "forward", MI, 1, "direct", "fsync_at_end"),
    ("1 MiB writes, direct, depth 32", "write", "forward", MI, 32, "direct", "fsync_at_end"),
    ("1 MiB writes, buffered and flushed", "write", "forward", MI, 1, "buffered", "fsync_every"),
    ("64 KiB writes, O_DSYNC", "write", "shuffled", 65_536, 1, "buffered", "open_dsync"),
];

/// Where fifty runs go, ten each; the device goes when it is dropped.
struct Place {
    name: &'static str,
    target: Value,
    /// What is true of it, and is to be said: a RAM disk is no disk, but it is what was asked about.
    declared: Option<&'static str>,
    /// The disk below it, where that may be faster than copying.
    disk: Option<String>,
    _owner: Box<dyn std::any::Any>,
}

fn on_file(name: &'static str, path: PathBuf, owner: impl std::any::Any) -> Place {
    lab::write_then_fsync(&path, SIZE, MI).expect("written");
    let target = json!({ "file": {
        "path": path, "size": { "exactly": SIZE }, "layout": "existing", "lifetime": "keep",
    } });
    Place { name, target, declared: None, disk: None, _owner: Box::new(owner) }
}

fn on_device(name: &'static str, path: &Path, owner: impl std::any::Any) -> Place {
    lab::write_direct(path, SIZE, MI).expect("written");
    let target = json!({ "device": {
        "path": path, "size": { "exactly": SIZE }, "consent": { "device": path },
    } });
    Place { name, target, declared: None, disk: None, _owner: Box::new(owner) }
}

fn places() -> Result<Vec<Place>, Skip> {
    let folder = lab::folder("honest");
    let below = disk_of(folder.path());
    let own = on_file("ext4 on the machine's disk", folder.path().join("x"), folder);
    let card = |shape: Shape| Card::new(Shape { speed: lab::Speed::FREE, ..shape });
    // What is overwritten keeps its room until the next commit: a fast machine fills a small one.
    let roomy = Shape { size: 2048 * MI, ..Shape::btrfs() };
    let (xfs, btrfs) = (card(Shape::xfs())?, card(roomy)?);
    let raw = card(Shape { fs: Fs::Raw, size: 128 * MI, ..Shape::fast() })?;
    let memory = RamDisk::raw(128 * MI)?;
    let (device, disk) = (raw.device().to_owned(), memory.device().to_owned());
    Ok(vec![
        Place { disk: below, ..own },
        on_file("XFS", xfs.path("x"), xfs),
        on_file("btrfs", btrfs.path("x"), btrfs),
        on_device("a loop device", &device, raw),
        Place { declared: Some("T29"), ..on_device(memory.kind, &disk, memory) },
    ])
}

/// One short run, whatever the device does in that time.
fn run(target: &Value, kind: &Kind) -> Heard {
    let (_, action, order, block, depth, caching, durability) = kind;
    // A flush at the end only would find what was written again in memory (T60).
    let durability = match *durability {
        "fsync_every" => json!({ "fsync_every": 32 }),
        word => json!(word),
    };
    let plan = json!({
        "title": "honest", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{
            "name": "honest", "quiet": 200_000_000, "settle": 5_000_000_000_u64,
            "jobs": [{
                "name": "honest",
                "work": { "blocks": {
                    "target": target, "caching": caching, "durability": durability,
                    "method": if *depth == 1 { "psync" } else { "io_uring" }, "iodepth": depth,
                    "pattern": {
                        "mix": [{ "action": action, "weight": 1 }], "order": order,
                        "block": { "fixed": block },
                    },
                } },
                "stop": { "first_of": [{ "time": 700_000_000_u64 }] },
            }],
        }],
    });
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("written");
    hear_own(lab::run_plan(&file))
}

/// What is said against it and is not true.
fn slander<'a>(heard: &'a Heard, declared: Option<&str>, others: &Others) -> Vec<&'a Finding> {
    let untrue = |finding: &&Finding| {
        let true_of_place = Some(finding.trap.name()) == declared;
        let of_others = ["T31", "T51", "T52", "T58", "T43", "T68"].contains(&finding.trap.name())
            && finding.weight < FindingWeight::Refute;
        let refuted_by_others = finding.trap.name() == "T31" && others.moved > MI;
        let true_of_others = refuted_by_others || of_others && others.at_work();
        // The machine's own disk may be a virtual one that is faster than any medium.
        let true_of_host =
            finding.trap.name() == "T30" && finding.weight == FindingWeight::Unproven;
        finding.weight != FindingWeight::Note && !true_of_place && !true_of_others && !true_of_host
    };
    heard.verdict().findings.iter().filter(untrue).collect()
}

#[test]
fn fifty_honest_runs_are_not_slandered() {
    let _alone = lab::alone();
    let places = lab::need!(places());
    let mut slandered = Vec::new();
    let mut runs = 0;
    told(&format!("{:26} {:34}", "where", "what"), "verdict, what else was said");
    for Place { name, target, declared, disk, .. } in &places {
        for kind in &KINDS {
            let witness = Witness::start();
            let spent = Spent::now(disk.as_deref());
            let heard = run(target, kind);
            let spent = Spent::now(disk.as_deref()) - spent;
            let others = witness.ask();
            assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
            runs += 1;
            let verdict = heard.verdict();
            let traps: Vec<String> = verdict
                .findings
                .iter()
                .map(|f| format!("{} {}", f.trap.name(), format!("{:?}", f.weight).to_lowercase()))
                .collect();
            told(
                &format!("{name:26} {:34}", kind.0),
                format_args!(
                    "{}, {}; {}; {others}",
                    verdict.trust.name(),
                    verdict.measures.name(),
                    traps.join(", ")
                ),
            );
            let mut untrue = slander(&heard, *declared, &others);
            if disk.is_some() && spent.copying_held() {
                untrue.retain(|finding| !is_of_copying(finding));
            }
            if !untrue.is_empty() {
                slandered.push(heard);
            } else if declared.is_some() {
                assert_eq!(
                    verdict.measures,
                    MeasuredSubject::NotADisk,
                    "a RAM disk is no disk\n{heard}"
                );
            }
        }
    }
    assert_eq!(runs, 50);
    let all: String = slandered.iter().map(ToString::to_string).collect();
    assert!(slandered.is_empty(), "{} of {runs} runs are slandered\n{all}", slandered.len());
}

/// Says that copying into the page cache held the rate down, not the device.
fn is_of_copying(finding: &Finding) -> bool {
    finding.trap.name() == "T51" && finding.weight == FindingWeight::Doubt
}

/// What a run used, as seen from outside, in seconds.
#[derive(Clone, Copy)]
struct Spent {
    /// On a CPU.
    cpu: f64,
    /// The disk had something to do.
    busy: f64,
}

impl Spent {
    fn now(disk: Option<&str>) -> Spent {
        let leaf = disk.and_then(|disk| lab::Leaf::of(disk).ok()).unwrap_or_default();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        // User and system time of children that have ended: fields 16 and 17 of proc_pid_stat(5).
        let cpu = (own_stat(13) + own_stat(14)) / ticks;
        Spent { cpu, busy: leaf.busy_ms as f64 / 1e3 }
    }

    /// Longer on a CPU than waiting for the disk.
    fn copying_held(self) -> bool {
        self.cpu > self.busy
    }
}

impl std::ops::Sub for Spent {
    type Output = Spent;

    fn sub(self, earlier: Spent) -> Spent {
        Spent { cpu: self.cpu - earlier.cpu, busy: self.busy - earlier.busy }
    }
}

/// The name of the disk that holds a folder.
fn disk_of(folder: &Path) -> Option<String> {
    let device = rustix::fs::stat(folder).ok()?.st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let block = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let disk = if block.join("partition").exists() { block.parent()? } else { &block };
    Some(disk.file_name()?.to_string_lossy().into_owned())
}

/// What other programs did meanwhile.
struct Others {
    /// Bytes that they moved, or had waiting in memory.
    moved: u64,
    /// CPUs that they used, all together.
    cpus: f64,
}

impl Others {
    /// Enough for a second's figure to suffer.
    fn at_work(&self) -> bool {
        self.moved > MI || self.cpus > 0.2
    }
}

impl std::fmt::Display for Others {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "others {} MiB, {:.1} CPUs", self.moved >> 20, self.cpus)
    }
}

/// Sees what other programs do, as long as it lives.
struct Witness {
    stop: Arc<AtomicBool>,
    began: Instant,
    busy: f64,
    thread: Option<JoinHandle<u64>>,
}

impl Witness {
    fn start() -> Witness {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            // For each process, what it had moved at first and at last.
            let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            // What they wrote before, and what goes to the disk only now.
            let dirty = kib("/proc/meminfo", "Dirty:") + kib("/proc/meminfo", "Writeback:");
            while !seen.load(Ordering::Relaxed) {
                for (pid, moved) in others() {
                    all.entry(pid).or_insert((moved, moved)).1 = moved;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            all.values().map(|(first, last)| last - first).sum::<u64>() + (dirty << 10)
        });
        Witness { stop, began: Instant::now(), busy: busy(), thread: Some(thread) }
    }

    fn ask(mut self) -> Others {
        self.stop.store(true, Ordering::Relaxed);
        let moved = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(0);
        let cpus = (busy() - self.busy) / self.began.elapsed().as_secs_f64();
        Others { moved, cpus }
    }
}

/// CPU time of user programs but this one and its children that have ended, seconds since boot.
fn busy() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let user: f64 =
        text.split_whitespace().skip(1).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
    // User time of this process, and of its children: fields 14 and 16 of proc_pid_stat(5).
    (user - own_stat(11) - own_stat(13)) / rustix::param::clock_ticks_per_second() as f64
}

/// A number of /proc/self/stat, counted from its third field on, which stands behind the name.
fn own_stat(number: usize) -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(") ").next().unwrap_or_default();
    fields.split(' ').nth(number).and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// Bytes that every process but assay and this one has moved to and from devices.
fn others() -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let comm = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        let Ok(io) = fs::read_to_string(entry.path().join("io")) else { continue };
        if comm.starts_with("assay") || entry.file_name() == *std::process::id().to_string() {
            continue;
        }
        let figure = |name: &str| -> u64 {
            let line = io.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
        };
        all.push((
            entry.file_name().to_string_lossy().into_owned(),
            figure("read_bytes:") + figure("write_bytes:"),
        ));
    }
    all
}

fn kib(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
