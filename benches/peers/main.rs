//! What assay costs, beside the tools it is measured against: `make bench`.
//!
//! Everything is a ratio of two programs that took turns in the same run, because machines are
//! noisy: each pair runs several times, and the medians are compared. Peers that are not installed,
//! and devices that this machine can not make, are left out with a printed reason. Run it on a
//! quiet machine, as root.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

mod bonnie;
mod disk;
mod fio_dialect;
mod iozone;
mod slices;
mod watch;

/// Turns that each pair takes.
const TURNS: usize = 7;

fn main() {
    // `cargo bench` passes its own flags. Then the rows that are wanted, and a folder on a disk.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let only = words.next().filter(|only| only != "all");
    let folder = words.next().unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    one_core();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    println!("{:44} {:>12} {:>12} {:>7}  wanted", "", "assay", "peer", "ratio");
    if wanted("null") {
        null();
    }
    if wanted("ram") {
        match Ram::new() {
            Ok(ram) => on_ram(&ram.device),
            Err(why) => println!("reads of a RAM disk: left out: {why}"),
        }
    }
    if wanted("disk") {
        disk::rows(Path::new(&folder));
    }
    if wanted("twelve") {
        twelve();
    }
    if wanted("mmap") {
        mapped();
    }
    if wanted("stdio") {
        stdio();
    }
    if wanted("bonnie") {
        bonnie::rows();
    }
    if wanted("dd") {
        dd();
    }
    if wanted("fio") {
        fio_dialect::rows();
    }
    if wanted("iozone") {
        iozone::rows();
    }
    if wanted("start") {
        start();
    }
    if wanted("memory") {
        memory();
    }
    if wanted("watch") {
        match Ram::new() {
            Ok(ram) => watch::rows(&ram.device),
            Err(why) => println!("what watching costs: left out: {why}"),
        }
    }
}

/// Keeps this process and all that it starts on one core, the last it may use: rates are per core,
/// and a ring's kernel threads do not wander.
fn one_core() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|&cpu| allowed.is_set(cpu)) else { return };
    let mut one = CpuSet::new();
    one.set(last);
    if sched_setaffinity(None, &one).is_ok() {
        println!("all on CPU {last}");
    }
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Lets two take turns; what the first and the second reached in the middle.
fn turns(mut ours: impl FnMut() -> f64, mut theirs: impl FnMut() -> f64) -> (f64, f64) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        first.push(ours());
        second.push(theirs());
    }
    (median(first), median(second))
}

fn row(name: &str, ours: impl Display, theirs: impl Display, ratio: f64, wanted: &str) {
    let ratio = if ratio.is_finite() { format!("{ratio:.2}") } else { "-".into() };
    println!("{name:44} {ours:>12} {theirs:>12} {ratio:>7}  {wanted}");
}

fn thousands(rate: f64) -> String {
    format!("{:.0}k/s", rate / 1e3)
}

/// Whether a program is there.
fn there(program: &str) -> bool {
    let found =
        Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        println!("{program} is not installed: its rows are left out");
    }
    found
}

/// A plan of one job of reads.
fn plan(target: Value, method: Value, caching: &str, iodepth: u32, seconds: f64) -> Value {
    json!({
        "title": "bench", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{ "name": "bench", "jobs": [{
            "name": "bench",
            "work": { "blocks": {
                "target": target, "method": method, "caching": caching, "iodepth": iodepth,
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }], "order": "uniform",
                    "block": { "fixed": 4096 },
                },
            } },
            "stop": { "first_of": [{ "time": (seconds * 1e9) as u64 }] },
        }] }],
    })
}

/// Runs a plan, and gives its reads per second.
fn assay(plan: &Value) -> f64 {
    totals(plan)["read"]["iops"].as_f64().expect("a rate")
}

/// Runs a plan, and gives the totals of its phase.
fn totals(plan: &Value) -> Value {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    serde_json::to_writer(&file, plan).expect("a plan is written");
    let out = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run", "--json"])
        .arg(file.path())
        .output()
        .expect("assay runs");
    let record: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| {
        panic!("no record: {}", String::from_utf8_lossy(&out.stderr));
    });
    record["phases"][0]["totals"].clone()
}

/// Runs fio, and gives its reads per second.
fn fio(words: &[&str]) -> f64 {
    fio_does(words)["read"]["iops"].as_f64().expect("a rate")
}

/// Runs fio, and gives its report of the job.
fn fio_does(words: &[&str]) -> Value {
    let out = Command::new("fio")
        .args(["--name=bench", "--rw=randread", "--bs=4k", "--time_based", "--output-format=json"])
        .args(words)
        .output()
        .expect("fio runs");
    let text = String::from_utf8_lossy(&out.stdout);
    let start =
        text.find('{').unwrap_or_else(|| panic!("fio: {}", String::from_utf8_lossy(&out.stderr)));
    let report: Value = serde_json::from_str(&text[start..]).expect("fio's report");
    report["jobs"][0].clone()
}

/// The loop alone, with full statistics.
fn null() {
    let plan =
        plan(json!({ "nowhere": { "size": 1_u64 << 30 } }), json!("null"), "buffered", 1, 1.0);
    let ours = || assay(&plan);
    if there("fio") {
        let theirs = || fio(&["--ioengine=null", "--size=1g", "--runtime=1"]);
        let (ours, theirs) = turns(ours, theirs);
        row(
            "null method, one worker",
            thousands(ours),
            thousands(theirs),
            ours / theirs,
            ">= 5000k/s",
        );
    } else {
        let (ours, _) = turns(ours, || 0.0);
        row("null method, one worker", thousands(ours), "-", f64::NAN, ">= 5000k/s");
    }
}

/// A RAM disk that goes away by itself.
struct Ram {
    device: PathBuf,
    number: String,
}

impl Ram {
    fn new() -> Result<Self, String> {
        let add = Path::new("/sys/class/zram-control/hot_add");
        let number = std::fs::read_to_string(add).map_err(|e| format!("{}: {e}", add.display()))?;
        let ram = Self {
            device: format!("/dev/zram{}", number.trim()).into(),
            number: number.trim().into(),
        };
        let size = format!("/sys/block/zram{}/disksize", ram.number);
        std::fs::write(&size, "512M").map_err(|error| format!("{size}: {error}"))?;
        // One word all over: answered without decompressing, so the device costs least.
        let filled = Command::new("dd")
            .args(["if=/dev/zero", "bs=1M", "count=512", "oflag=direct", "status=none"])
            .arg(format!("of={}", ram.device.display()))
            .status();
        match filled {
            Ok(status) if status.success() => Ok(ram),
            _ => Err(format!("{} can not be written", ram.device.display())),
        }
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        let _ = std::fs::write(format!("/sys/block/zram{}/reset", self.number), "1");
        let _ = std::fs::write("/sys/class/zram-control/hot_remove", &self.number);
    }
}

/// fio with everything registered, and eight at a time.
const EIGHTS: &[&str] = &[
    "--ioengine=io_uring",
    "--iodepth=32",
    "--fixedbufs",
    "--registerfiles",
    "--iodepth_batch_submit=8",
    "--iodepth_batch_complete_min=8",
];

/// 4 KiB random direct reads of a RAM disk.
fn on_ram(device: &Path) {
    if !there("fio") {
        return;
    }
    let target = json!({ "device": { "path": device, "size": "whole" } });
    let file = format!("--filename={}", device.display());
    let rows: [(&str, Value, u32, &str, &[&str]); 10] = [
        ("4 KiB random reads, psync", json!("psync"), 1, ">= 1.20", &["--ioengine=psync"]),
        ("4 KiB random reads, sync", json!("sync"), 1, ">= 1.10", &["--ioengine=sync"]),
        (
            "4 KiB random reads, vectored (pvsync2)",
            json!("vectored"),
            1,
            ">= 1.10",
            &["--ioengine=pvsync2"],
        ),
        (
            "4 KiB random reads, libaio q32",
            json!("libaio"),
            32,
            ">= 1.20",
            &["--ioengine=libaio", "--iodepth=32"],
        ),
        (
            "the same in batches of 8",
            json!({ "libaio": { "batch": 8 } }),
            32,
            ">= 1.20",
            &[
                "--ioengine=libaio",
                "--iodepth=32",
                "--iodepth_batch_submit=8",
                "--iodepth_batch_complete_min=8",
            ],
        ),
        (
            "4 KiB random reads, posixaio q8",
            json!("posixaio"),
            8,
            "-",
            &["--ioengine=posixaio", "--iodepth=8"],
        ),
        (
            "4 KiB random reads, io_uring q32",
            json!({ "io_uring": {} }),
            32,
            ">= 1.20",
            &["--ioengine=io_uring", "--iodepth=32"],
        ),
        (
            "the same in batches of 8, all registered",
            json!({ "io_uring": { "batch": 8 } }),
            32,
            ">= 1.20",
            EIGHTS,
        ),
        // What is best for each: a larger batch saves the kernel changes of thread, and fio gains by
        // an option that assay sets by itself where a device has no answer without waiting.
        (
            "the same in batches of 32 (fio: 8)",
            json!({ "io_uring": { "batch": 32 } }),
            32,
            ">= 1.30",
            EIGHTS,
        ),
        (
            "the same in batches of 32 (fio: 32, force_async)",
            json!({ "io_uring": { "batch": 32 } }),
            32,
            ">= 1.00",
            &[
                "--ioengine=io_uring",
                "--iodepth=32",
                "--fixedbufs",
                "--registerfiles",
                "--iodepth_batch_submit=32",
                "--iodepth_batch_complete_min=32",
                "--force_async=1",
            ],
        ),
    ];
    for (name, method, depth, wanted, words) in rows {
        let plan = plan(target.clone(), method, "direct", depth, 1.5);
        let words: Vec<&str> = [&[&file, "--direct=1", "--runtime=1.5"], words].concat();
        let (ours, theirs) = turns(|| assay(&plan), || fio(&words));
        row(name, thousands(ours), thousands(theirs), ours / theirs, wanted);
    }
}

/// The twelve jobs of `tests/engine/twelve.rs`, which both can do, over and over on a file in memory.
fn twelve() {
    if !there("fio") {
        return;
    }
    let Ok(folder) = tempfile::Builder::new().tempdir_in("/dev/shm") else {
        println!("twelve jobs: left out: no /dev/shm");
        return;
    };
    let path = folder.path().join("x");
    std::fs::write(&path, vec![0; 64 << 20]).expect("a file");
    let target = json!({ "file": { "path": path, "size": "whole", "layout": "existing" } });
    let file = format!("--filename={}", path.display());
    for Job { name, words, method, depth, action, order, block } in jobs() {
        let mut plan = plan(target.clone(), method, "buffered", depth, 1.0);
        let pattern = &mut plan["phases"][0]["jobs"][0]["work"]["blocks"]["pattern"];
        pattern["mix"][0]["action"] = json!(action);
        pattern["order"] = order;
        pattern["block"]["fixed"] = json!(block);
        pattern["fill"] = json!("zero");
        let ours = || totals(&plan)[action]["iops"].as_f64().expect("a rate");
        let same = [&file, "--size=64m", "--zero_buffers", "--overwrite=1", "--runtime=1"];
        let words = [&same, words].concat();
        let theirs = || fio_does(&words)[action]["iops"].as_f64().expect("a rate");
        let (ours, theirs) = turns(ours, theirs);
        let name = format!("twelve: {name}");
        row(&name, thousands(ours), thousands(theirs), ours / theirs, ">= 0.95");
    }
}

/// One of the twelve jobs, in fio's words and as a plan has it.
struct Job {
    name: &'static str,
    words: &'static [&'static str],
    method: Value,
    depth: u32,
    action: &'static str,
    order: Value,
    block: u64,
}

fn jobs() -> [Job; 12] {
    let job = |name, words, method: &str, order| Job {
        name,
        words,
        method: json!(method),
        depth: 1,
        action: "read",
        order,
        block: 4096,
    };
    let any = || json!("shuffled");
    [
        job("reads, psync", &["--ioengine=psync", "--rw=read"], "psync", json!("forward")),
        Job {
            action: "write",
            ..job("writes, psync", &["--ioengine=psync", "--rw=write"], "psync", json!("forward"))
        },
        job("random reads, psync", &["--ioengine=psync", "--rw=randread"], "psync", any()),
        Job {
            action: "write",
            ..job("random writes, sync", &["--ioengine=sync", "--rw=randwrite"], "sync", any())
        },
        job("random reads, pvsync2", &["--ioengine=pvsync2", "--rw=randread"], "vectored", any()),
        job("random reads, mmap", &["--ioengine=mmap", "--rw=randread"], "mmap", any()),
        Job {
            action: "write",
            ..job("random writes, mmap", &["--ioengine=mmap", "--rw=randwrite"], "mmap", any())
        },
        Job {
            depth: 16,
            ..job(
                "random reads, io_uring q16",
                &["--ioengine=io_uring", "--iodepth=16", "--rw=randread"],
                "io_uring",
                any(),
            )
        },
        Job {
            depth: 16,
            ..job(
                "random reads, libaio q16",
                &["--ioengine=libaio", "--iodepth=16", "--rw=randread"],
                "libaio",
                any(),
            )
        },
        Job {
            depth: 4,
            block: 65_536,
            ..job(
                "reads of 64 KiB, io_uring q4",
                &["--ioengine=io_uring", "--iodepth=4", "--rw=read", "--bs=64k"],
                "io_uring",
                json!("forward"),
            )
        },
        job(
            "reads every 16 KiB, psync",
            &["--ioengine=psync", "--rw=read:12k"],
            "psync",
            json!({ "spaced": { "stride": 16_384 } }),
        ),
        job(
            "zipf reads, psync",
            &["--ioengine=psync", "--rw=randread", "--random_distribution=zipf:1.1"],
            "psync",
            json!({ "zipf": { "theta": 1.1 } }),
        ),
    ]
}

/// 4 KiB random loads from a mapping of a file in memory.
fn mapped() {
    if !there("fio") {
        return;
    }
    let Ok(folder) = tempfile::Builder::new().tempdir_in("/dev/shm") else {
        println!("loads from a mapping: left out: no /dev/shm");
        return;
    };
    let path = folder.path().join("x");
    std::fs::write(&path, vec![7; 256 << 20]).expect("a file");
    let target = json!({ "file": { "path": path, "size": "whole", "layout": "existing" } });
    let plan = plan(target, json!("mmap"), "buffered", 1, 1.5);
    let file = format!("--filename={}", path.display());
    let words = [file.as_str(), "--ioengine=mmap", "--size=256m", "--runtime=1.5"];
    let (ours, theirs) = turns(|| assay(&plan), || fio(&words));
    row("4 KiB random loads, mmap", thousands(ours), thousands(theirs), ours / theirs, ">= 1.10");
}

/// The loops of Bonnie++ 1.03 for a character at a time, in a program with one thread: bytes per
/// second of both, on standard output. Bonnie++ 2.00a has none: it calls `write` for each byte.
const PUTC: &str = r#"
#include <stdio.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int count, char **words) {
    const long bytes = 64L << 20;
    FILE *file = fopen(words[1], "w+");
    double began = now();
    for (long i = 0; i < bytes; i++)
        if (putc((int)(i & 0x7f), file) == EOF) return 1;
    if (fclose(file)) return 1;
    double put = bytes / (now() - began);
    file = fopen(words[1], "r");
    long sum = 0;
    began = now();
    for (long i = 0; i < bytes; i++) {
        int c = getc(file);
        if (c == EOF) return 1;
        sum += c;
    }
    double get = bytes / (now() - began);
    printf("%.0f %.0f %ld\n", put, get, sum & 1);
    return 0;
}
"#;

/// Bytes by `putc` and `getc` to and from a file in memory.
fn stdio() {
    let Ok(folder) = tempfile::Builder::new().tempdir_in("/dev/shm") else {
        println!("putc and getc: left out: no /dev/shm");
        return;
    };
    let (source, program) = (folder.path().join("putc.c"), folder.path().join("putc"));
    std::fs::write(&source, PUTC).expect("a source");
    let made = Command::new("cc").arg("-O2").arg("-o").args([&program, &source]).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("putc and getc: left out: no C compiler for Bonnie++'s loops");
        return;
    }
    let path = folder.path().join("x");
    let theirs = || -> [f64; 2] {
        let out = Command::new(&program).arg(&path).output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stdout);
        let figures: Vec<f64> =
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        [figures[0], figures[1]]
    };
    let ours = |action: &str| {
        let target = json!({ "file": {
            "path": path, "size": { "exactly": 64 << 20 }, "lifetime": "keep",
            "layout": if action == "write" { "truncated" } else { "existing" },
        } });
        let method = json!({ "stdio": { "buffer": 4096, "bytewise": true } });
        let mut plan = plan(target, method, "buffered", 1, 9.0);
        plan["phases"][0]["jobs"][0]["stop"] = json!({});
        let pattern = &mut plan["phases"][0]["jobs"][0]["work"]["blocks"]["pattern"];
        pattern["mix"][0]["action"] = json!(action);
        pattern["order"] = json!("forward");
        pattern["block"]["fixed"] = json!(8192);
        pattern["fill"] = json!("zero");
        totals(&plan)[action]["bandwidth"].as_f64().expect("a rate")
    };
    let mut figures: [Vec<f64>; 4] = Default::default();
    for _ in 0..TURNS {
        let [putc, getc] = theirs();
        for (list, figure) in figures.iter_mut().zip([ours("write"), putc, ours("read"), getc]) {
            list.push(figure);
        }
    }
    let [put, putc, get, getc] = figures.map(median);
    let mega = |rate: f64| format!("{:.0} MB/s", rate / 1e6);
    row("bytes by putc, as Bonnie++ 1.03", mega(put), mega(putc), put / putc, ">= 1.00");
    row("bytes by getc, as Bonnie++ 1.03", mega(get), mega(getc), get / getc, ">= 1.00");
}

/// The same copies by `assay dd` and by dd.
fn dd() {
    if !there("dd") {
        return;
    }
    let memory = tempfile::Builder::new().tempdir_in("/dev/shm");
    let folder = memory.or_else(|_| tempfile::tempdir()).expect("a folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, vec![7; 256 << 20]).expect("an input");
    let from = format!("if={}", input.display());
    let to = format!("of={}", output.display());
    let copies: [(&str, Vec<&str>); 5] = [
        (
            "dd zero to null, bs=512",
            vec!["if=/dev/zero", "of=/dev/null", "bs=512", "count=2000000"],
        ),
        ("dd zero to null, bs=64k", vec!["if=/dev/zero", "of=/dev/null", "bs=64k", "count=200000"]),
        ("dd file to file in memory, bs=4k", vec![&from, &to, "bs=4k", "conv=notrunc"]),
        ("dd file to file in memory, bs=1M", vec![&from, &to, "bs=1M", "conv=notrunc"]),
        ("dd file to file, no bs", vec![&from, &to, "count=200000", "conv=notrunc"]),
    ];
    for (name, words) in copies {
        let time = |program: &str, first: &[&str]| {
            let mut command = Command::new(program);
            command.args(first).args(&words).env("ASSAY_SETTLE", "no").stderr(Stdio::piped());
            let out = command.output().expect("dd runs");
            let said = String::from_utf8_lossy(&out.stderr);
            let seconds = said.rsplit(" copied, ").next().and_then(|rest| rest.split(' ').next());
            seconds.and_then(|text| text.parse::<f64>().ok()).expect("dd's seconds")
        };
        let program = env!("CARGO_BIN_EXE_assay");
        let (ours, theirs) = turns(|| time(program, &["dd"]), || time("dd", &[]));
        row(name, format!("{ours:.3} s"), format!("{theirs:.3} s"), theirs / ours, ">= 1.00");
    }
}

/// From the start of the program to its first I/O: all of a run that copies one small block, so
/// an upper bound.
fn start() {
    let time = |program: &str, first: &[&str]| {
        let began = Instant::now();
        let status = Command::new(program)
            .args(first)
            .args(["if=/dev/zero", "of=/dev/null", "bs=512", "count=1", "status=none"])
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{program} runs");
        began.elapsed().as_secs_f64() * 1e3
    };
    let program = env!("CARGO_BIN_EXE_assay");
    let (ours, theirs) = turns(|| time(program, &["dd"]), || time("dd", &[]));
    row(
        "start to end of a one-block copy",
        format!("{ours:.2} ms"),
        format!("{theirs:.2} ms"),
        theirs / ours,
        "<= 10 ms",
    );
}

/// The most memory that half a minute's worth of phases takes.
fn memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["quick", "--quick", "--size", "64M"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("assay runs");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // VmHWM is gone with the process: the last look before its end counts.
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(now.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mib = peak as f64 / 1024.0;
    row("memory of quick, buffers and all", format!("{mib:.1} MiB"), "-", f64::NAN, "<= 16 MiB");
}
