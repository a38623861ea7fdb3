//! `assay fio` beside fio: the same words given to both, on a RAM disk. I/Os per second and CPU time for each I/O
//! are of the two reports; the time to the first I/O and the memory of many jobs are seen from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Ram, median, row};

/// Pairs of runs of each row.
const TURNS: usize = 3;
/// How long one of them runs.
const SECONDS: &str = "0.6";

/// The shapes that are typed most: direction, block, engine, depth.
const SHAPES: [(&str, &str, &str, u32); 12] = [
    ("randread", "4k", "psync", 1),
    ("randwrite", "4k", "psync", 1),
    ("read", "128k", "psync", 1),
    ("write", "1m", "psync", 1),
    ("randread", "4k", "libaio", 16),
    ("randread", "4k", "libaio", 32),
    ("randwrite", "4k", "libaio", 32),
    ("randrw", "4k", "libaio", 32),
    ("write", "1m", "libaio", 16),
    ("randread", "4k", "io_uring", 32),
    ("randread", "4k", "io_uring", 128),
    ("randwrite", "4k", "io_uring", 16),
];

/// The program of the original: `FIO`, or the one in the path.
fn original() -> Option<PathBuf> {
    let fio = std::env::var_os("FIO").map_or_else(|| "fio".into(), PathBuf::from);
    let works = Command::new(&fio).arg("--version").output();
    works.is_ok_and(|out| out.status.success()).then_some(fio)
}

/// All rows.
pub fn rows() {
    let Some(fio) = original() else {
        println!("assay fio beside fio: left out: fio is not installed (FIO=/path names one)");
        return;
    };
    match Ram::new() {
        Ok(ram) => shapes(&fio, &ram.device),
        Err(why) => println!("assay fio beside fio, on a RAM disk: left out: {why}"),
    }
    first_io(&fio);
    many_jobs(&fio);
}

/// A program, with the words that come first.
fn program(fio: Option<&Path>) -> Command {
    match fio {
        Some(fio) => Command::new(fio),
        None => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
            command.arg("fio").env("ASSAY_SETTLE", "no").env("ASSAY_DIALECT", "fio-3.42");
            command
        }
    }
}

/// What a report says of its only job: I/Os per second, and ns of CPU for each I/O.
fn done(fio: Option<&Path>, words: &[String]) -> Option<[f64; 2]> {
    let out = program(fio).args(words).arg("--output-format=json").output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout);
    let report: Value = serde_json::from_str(&text[text.find('{')?..]).ok()?;
    let job = &report["jobs"][0];
    let sum =
        |key: &str| ["read", "write"].iter().filter_map(|way| job[*way][key].as_f64()).sum::<f64>();
    let busy = job["usr_cpu"].as_f64()? + job["sys_cpu"].as_f64()?;
    let cpu = job["job_runtime"].as_f64()? * 1e6 * busy / 100.0;
    (sum("total_ios") > 0.0).then(|| [sum("iops"), cpu / sum("total_ios")])
}

fn shapes(fio: &Path, device: &Path) {
    for (rw, block, engine, depth) in SHAPES {
        let words: Vec<String> = [
            "--name=bench",
            "--time_based",
            "--direct=1",
            "--rwmixread=70",
            // Other data would cost the compression of the device other time.
            "--zero_buffers",
            &format!("--filename={}", device.display()),
            &format!("--runtime={}ms", (SECONDS.parse::<f64>().unwrap_or(1.0) * 1e3) as u64),
            &format!("--rw={rw}"),
            &format!("--bs={block}"),
            &format!("--ioengine={engine}"),
            &format!("--iodepth={depth}"),
        ]
        .map(String::from)
        .to_vec();
        let title = format!("fio: {rw} {block}, {engine} q{depth}");
        let mut all: [Vec<f64>; 4] = Default::default();
        for _ in 0..TURNS {
            let (ours, theirs) = (done(None, &words), done(Some(fio), &words));
            let Some((ours, theirs)) = ours.zip(theirs) else { break };
            for (list, figure) in all.iter_mut().zip(ours.into_iter().chain(theirs)) {
                list.push(figure);
            }
        }
        if all[0].len() < TURNS {
            println!("{title}: left out: {} does not do it", fio.display());
            continue;
        }
        let [ours, our_cpu, theirs, their_cpu] = all.map(median);
        let rate = |iops: f64| format!("{:.1}k/s", iops / 1e3);
        let cpu = |ns: f64| format!("{ns:.0} ns");
        // Nearly all of a large block is the kernel's copying.
        let (faster, cheaper) = match block {
            "4k" => (">= 1.20", "<= 0.60"),
            _ => (">= 0.95", "<= 1.05"),
        };
        row(&title, rate(ours), rate(theirs), ours / theirs, faster);
        row("  CPU for each I/O", cpu(our_cpu), cpu(their_cpu), our_cpu / their_cpu, cheaper);
    }
}

/// From the start of the program to the end of a job of one I/O.
fn first_io(fio: &Path) {
    let time = |fio: Option<&Path>| {
        let began = Instant::now();
        let status = program(fio)
            .args(["--name=first", "--filename=/dev/zero", "--rw=read", "--bs=4k", "--size=4k"])
            .args(["--ioengine=null", "--output-format=json"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "it runs");
        began.elapsed().as_secs_f64() * 1e3
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        ours.push(time(None));
        theirs.push(time(Some(fio)));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    row(
        "fio: start to end of one I/O",
        format!("{ours:.1} ms"),
        format!("{theirs:.1} ms"),
        ours / theirs,
        "<= 1.00",
    );
}

/// 64 jobs, 128 I/Os in flight each: the most memory of all their processes together.
fn many_jobs(fio: &Path) {
    let Ok(folder) = tempfile::Builder::new().tempdir_in("/dev/shm") else {
        println!("fio: 64 jobs of depth 128: left out: no /dev/shm");
        return;
    };
    let peak = |fio: Option<&Path>| {
        let mut child = program(fio)
            .args(["--name=many", "--filename=x", "--size=16m", "--rw=randread", "--bs=4k"])
            .args(["--ioengine=libaio", "--iodepth=128", "--numjobs=64", "--group_reporting"])
            .args(["--runtime=2", "--time_based", "--output-format=json"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let mut most = 0;
        while child.try_wait().expect("a child").is_none() {
            most = most.max(memory_of(child.id()));
            std::thread::sleep(Duration::from_millis(50));
        }
        most as f64 / 1024.0
    };
    let (ours, theirs) = (peak(None), peak(Some(fio)));
    row(
        "fio: memory of 64 jobs, depth 128",
        format!("{ours:.0} MiB"),
        format!("{theirs:.0} MiB"),
        ours / theirs,
        "<= 64 MiB",
    );
}

/// KiB that a process and its children have for themselves: what they share is shared out among them.
fn memory_of(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let own = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0);
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    let below: u64 =
        children.split_whitespace().filter_map(|id| id.parse().ok()).map(memory_of).sum();
    own + below
}
