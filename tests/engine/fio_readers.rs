//! Programs that read what fio prints read what `assay fio` prints, called by fio's name: front ends, scripts with
//! jq and cut, plotters, and fio's own tools.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::lab::{self, Skip};

/// A folder with assay in it under the name of fio.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        symlink(env!("CARGO_BIN_EXE_assay"), folder.path().join("fio")).expect("a link");
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file there.
    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    /// Runs a program there, which finds our fio first.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", self.0.path().display()));
        command
    }

    fn fio(&self, line: &str) -> Output {
        let out = self.command("fio").args(line.split(' ')).output().expect("it runs");
        assert!(out.status.success(), "{line}: {}", text(&out.stderr));
        out
    }

    /// What jq makes of a file there, a line for each value.
    fn jq(&self, filter: &str, file: &str) -> Vec<String> {
        let out = self.command("jq").args(["-r", filter, file]).output().expect("jq runs");
        assert!(out.status.success(), "{filter}: {}", text(&out.stderr));
        text(&out.stdout).lines().map(String::from).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn number(value: &str) -> f64 {
    value.parse().unwrap_or_else(|_| panic!("'{value}' is no number"))
}

/// A disk mark asks for the version, lays its file out in a run of its own, and reads three figures of each direction;
/// what stands on standard error is a failure to it.
#[test]
fn a_disk_mark_lays_out_and_measures() {
    let _alone = lab::alone();
    let desk = Desk::new();
    assert!(text(&desk.fio("--version").stdout).starts_with("fio-3."));
    let made = desk.fio("--output-format=json --create_only=1 --filename=mark.tmp --size=8m --zero_buffers=0 --name=prepare");
    assert_eq!(text(&made.stderr), "");
    assert_eq!(std::fs::metadata(desk.path("mark.tmp")).expect("laid out").len(), 8 << 20);
    for (rw, way, idle) in
        [("read", "read", "write"), ("randwrite", "write", "read"), ("randrw", "write", "trim")]
    {
        let ran = desk.fio(&format!(
            "--output-format=json --ioengine=libaio --randrepeat=0 --refill_buffers --end_fsync=1 --rwmixread=30 --filename=mark.tmp --name={rw} --size=8m --zero_buffers=0 --bs=64k --runtime=2 --rw={rw} --iodepth=8 --numjobs=2 --group_reporting"
        ));
        assert_eq!(text(&ran.stderr), "", "{rw}");
        // One document and no word around it.
        let document: Value = serde_json::from_slice(&ran.stdout).expect("a document");
        let jobs = document["jobs"].as_array().expect("jobs");
        assert_eq!((jobs.len(), &jobs[0]["error"]), (1, &Value::from(0)), "{rw}");
        let figures = |way: &str| {
            let part = &jobs[0][way];
            [&part["bw"], &part["iops"], &part["clat_ns"]["mean"], &part["lat_ns"]["mean"]]
                .map(|figure| figure.as_f64().expect("a figure"))
        };
        assert!(figures(way).iter().all(|figure| *figure > 0.0), "{rw}: {:?}", figures(way));
        assert_eq!(figures(idle), [0.0; 4], "{rw}");
        assert!(document["assay"]["verdict"]["trust"].is_string(), "{rw}");
    }
}

/// Called by our own name the verdict stands on standard error, and by fio's where that is wanted.
#[test]
fn only_a_document_keeps_the_verdict_to_itself() {
    let _alone = lab::alone();
    let desk = Desk::new();
    let job = "--name=a --rw=write --size=1m --bs=8KiB --filename=f";
    let said = |line: &str| text(&desk.fio(line).stderr);
    assert_eq!(said(&format!("--output-format=json {job}")), "");
    assert_eq!(said(&format!("--output=o --output-format=json+ {job}")), "");
    let document: Value =
        serde_json::from_slice(&std::fs::read(desk.path("o")).expect("a report")).expect("JSON");
    let note = document["assay"]["notes"][0].as_str().expect("a note");
    assert!(note.contains("'--bs=8KiB' means 8000, not 8k; write bs=8k"), "{note}");
    for shown in ["--output-format=normal,json", "--output-format=terse", "--eta=never"] {
        let line = format!("{shown} {job}");
        assert_eq!(said(&line), "", "{shown}");
        let told = desk.command("fio").args(line.split(' ')).env("ASSAY_VERDICT", "-").output();
        let told = text(&told.expect("it runs").stderr);
        assert!(told.contains("assay: a: ") && told.contains("means 8000"), "{shown}: {told}");
    }
    let ours =
        lab::assay(["fio", "--output-format=json"]).words(&job.split(' ').collect::<Vec<_>>());
    let ours = ours.cwd(desk.path(".")).run();
    assert!(ours.stderr.contains("assay: a: "), "{ours:?}");
}

/// Four jobs one after another from files that include each other, each read by its place.
#[test]
fn a_volume_benchmark_reads_four_jobs_and_idle_processors() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("jq", "jq"));
    let desk = Desk::new();
    desk.file("part.fio", "bs=16K\niodepth=4\ninclude all.fio\n");
    desk.file("all.fio", "stonewall=1\nrandrepeat=0\nverify=0\nioengine=libaio\ntime_based=1\nruntime=${SECONDS}s\nramp_time=100ms\n");
    let jobs = ["randread", "randwrite", "read", "write"]
        .map(|rw| format!("[{rw}-part]\nreadwrite={rw}\ninclude part.fio\n"));
    desk.file("jobs.fio", &jobs.join("\n"));
    let out = desk
        .command("fio")
        .args("jobs.fio --idle-prof=percpu --filename=v --size=8m --output-format=json --output=r.json".split(' '))
        .env("SECONDS", "1")
        .output()
        .expect("it runs");
    assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
    let filter = ".jobs[0].read,.jobs[1].write,.jobs[2].read,.jobs[3].write|.iops_mean,.bw_mean,.lat_ns.mean,.clat_ns.percentile[\"99.000000\"]";
    let figures = desk.jq(filter, "r.json");
    assert_eq!(figures.len(), 16, "{figures:?}");
    assert!(figures.iter().all(|figure| number(figure) > 0.0), "{figures:?}");
    let idle =
        desk.jq(".cpu_idleness.system,.cpu_idleness.unit_mean,.cpu_idleness[\"cpu-0\"]", "r.json");
    assert!((0.0..=100.0).contains(&number(&idle[0])), "{idle:?}");
    assert!(number(&idle[1]) > 0.0, "{idle:?}");
}

/// The line of a script for rented servers: four fields of version 3 of the terse format.
#[test]
fn fields_are_cut_from_a_terse_line() {
    let _alone = lab::alone();
    let desk = Desk::new();
    let ran = desk.fio("--name=rand_rw_64k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=64k --iodepth=64 --numjobs=2 --size=8m --runtime=1 --gtod_reduce=1 --direct=0 --filename=t --group_reporting --minimal");
    let line = text(&ran.stdout);
    let fields: Vec<&str> = line.trim_end().split(';').collect();
    assert_eq!((fields[0], fields[2]), ("3", "rand_rw_64k"), "{line}");
    for at in [7, 8, 48, 49] {
        assert!(number(fields[at - 1]) > 0.0, "field {at} of {line}");
    }
    // Bandwidth is KiB/s, and whole; so are IOPS.
    let ratio = number(fields[6]) / number(fields[7]);
    assert!((60.0..68.0).contains(&ratio), "{line}");
}

/// The keys that a benchmarker of clouds takes samples of, and its logs of latency.
#[test]
fn a_cloud_benchmarker_finds_its_keys() {
    let _alone = lab::alone();
    let desk = Desk::new();
    desk.file("c.fio", "[global]\nioengine=libaio\ninvalidate=1\nsize=4m\nfilename=c\nlog_avg_msec=100\nwrite_lat_log=tmp\n[seq]\nrw=write\nbs=64k\nruntime=600ms\ntime_based\n[rand]\nstonewall\nrw=randread\nbs=4k\nruntime=600ms\ntime_based\n");
    let ran = desk.fio("--output-format=json c.fio");
    let document: Value = serde_json::from_slice(&ran.stdout).expect("a document");
    for (job, way) in [(0, "write"), (1, "read")] {
        let job = &document["jobs"][job];
        assert!(job["jobname"].is_string() && job["job options"]["rw"].is_string(), "{job}");
        let of = &job[way];
        for key in ["bw", "bw_min", "bw_max", "bw_dev", "bw_agg", "bw_mean", "iops"] {
            assert!(of[key].as_f64().is_some(), "{key}: {of}");
        }
        let clat = &of["clat_ns"];
        for key in ["min", "max", "mean", "stddev"] {
            assert!(clat[key].as_f64().expect(key) > 0.0, "{key}: {clat}");
        }
        let list = clat["percentile"].as_object().expect("percentiles");
        assert!(list.keys().all(|percent| percent.ends_with("0000")), "{list:?}");
        assert!(list.len() == 17 && list["99.950000"].as_u64() > Some(0), "{list:?}");
    }
    assert_eq!(document["global options"]["filename"], "c");
    for log in ["tmp_lat.1.log", "tmp_clat.2.log", "tmp_slat.2.log"] {
        let lines = std::fs::read_to_string(desk.path(log)).expect(log);
        assert!(lines.lines().count() >= 4, "{log}: {lines}");
        for line in lines.lines() {
            let fields: Vec<f64> = line.split(", ").map(number).collect();
            assert!((4..=6).contains(&fields.len()), "{log}: {line}");
        }
    }
}

/// fio's own converter of bins, as Debian packs it, finds its table and our document alike.
#[test]
fn bins_of_a_document_become_a_table() {
    let _alone = lab::alone();
    let tool = lab::need!(lab::need_tool("fio_jsonplus_clat2csv", "fio"));
    lab::need!(need_module("six", "python3-six"));
    let desk = Desk::new();
    desk.fio("--output=o.json --output-format=json+ --slat_percentiles=1 --clat_percentiles=1 --lat_percentiles=1 --ioengine=libaio --iodepth=4 --size=4m --name=a --rw=randrw --name=b --rw=read --name=c --rw=write");
    let tool = |more: &[&str]| {
        let mut command = desk.command(PYTHON);
        let out = command.arg(&tool).args(["o.json", "o.csv"]).args(more).output();
        let out = out.expect("it runs");
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    assert_eq!(tool(&[]).matches("generated").count(), 3);
    assert_eq!(tool(&["--validate"]).matches("validated").count(), 3);
}

/// A log of histograms has all bins in each line, and all I/Os of the job in its bins.
#[test]
fn a_log_of_histograms_adds_up() {
    let _alone = lab::alone();
    let desk = Desk::new();
    let ran = desk.fio("--output-format=json --write_hist_log=h --log_hist_msec=50 --name=h --rw=randread --bs=4k --size=4m --rate_iops=4000 --runtime=600ms --time_based");
    let document: Value = serde_json::from_slice(&ran.stdout).expect("a document");
    let lines = std::fs::read_to_string(desk.path("h_clat_hist.1.log")).expect("a log");
    let (mut counted, mut at) = (0.0, 0.0);
    for line in lines.lines() {
        let fields: Vec<f64> = line.split(", ").map(number).collect();
        assert_eq!((fields.len(), fields[1], fields[2]), (3 + 1856, 0.0, 4096.0));
        assert!(fields[0] > at, "{at} and then {}", fields[0]);
        at = fields[0];
        counted += fields[3..].iter().sum::<f64>();
    }
    let all = document["jobs"][0]["read"]["total_ios"].as_f64().expect("I/Os");
    assert!(lines.lines().count() >= 8, "{}", lines.lines().count());
    // What came after the last line is in none.
    assert!(counted <= all && counted > all * 0.8, "{counted} of {all}");
}

/// `--bandwidth-log` has three logs, in which a mixed job moves what its report says.
#[test]
fn all_jobs_have_a_log_of_bandwidth_together() {
    let _alone = lab::alone();
    let desk = Desk::new();
    desk.fio("--bandwidth-log=all --output-format=json --name=b --rw=rw --bs=4k --size=4m --rate=1m --runtime=1700ms --time_based --ioengine=null --numjobs=2");
    for (way, direction, right) in
        [("read", 0.0, 2048.0), ("write", 1.0, 2048.0), ("trim", 2.0, 0.0)]
    {
        let lines = std::fs::read_to_string(desk.path(&format!("all-{way}_bw.log"))).expect(way);
        assert_eq!(lines.lines().count(), 3, "{way}: {lines}");
        for line in lines.lines() {
            let fields: Vec<f64> = line.split(", ").map(number).collect();
            assert_eq!((fields.len(), fields[2], fields[3]), (5, direction, 0.0), "{line}");
            assert!((fields[1] - right).abs() < 300.0, "{way}: {lines}");
        }
    }
    desk.fio("--bandwidth-log --name=b --size=4k --ioengine=null");
    assert!(desk.path("agg-trim_bw.log").exists());
}

/// What idle processors look like, and what is told without a run.
#[test]
fn idle_processors_are_told_as_fio_tells_them() {
    let _alone = lab::alone();
    let desk = Desk::new();
    let told = |line: &str| text(&desk.fio(line).stdout);
    let run = "--name=i --ioengine=null --size=1g --rate=1m --runtime=400ms --time_based";
    let system = told(&format!("--idle-prof=system {run}"));
    let at = system.find("\nCPU idleness:\n  system: ").unwrap_or_else(|| panic!("{system}"));
    assert!(system[at..].contains("%\n  unit work: mean="), "{system}");
    let each = told(&format!("--idle-prof=percpu {run}"));
    let cpus = each.split("  percpu: ").nth(1).and_then(|rest| rest.lines().next()).expect("CPUs");
    let cpus: Vec<f64> = cpus.split(", ").map(|idle| number(idle.trim_end_matches('%'))).collect();
    assert!(!cpus.is_empty() && cpus.iter().all(|idle| (0.0..=100.0).contains(idle)), "{each}");
    let alone = told("--idle-prof=calibrate");
    let lines: Vec<&str> = alone.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "CPU idleness:"), "{alone}");
    assert!(
        lines[1].starts_with("  unit work: mean=") && lines[1].contains("us, stddev="),
        "{alone}"
    );
}

/// Debian's interpreter: one that somebody else put into PATH lacks Debian's modules.
const PYTHON: &str = "/usr/bin/python3";

fn need_module(name: &'static str, package: &'static str) -> Result<(), Skip> {
    lab::need_tool("python3", "python3")?;
    let found = Command::new(PYTHON).args(["-c", &format!("import {name}")]).output();
    match found.is_ok_and(|out| out.status.success()) {
        true => Ok(()),
        false => Err(Skip::MissingTool { tool: name, package }),
    }
}

/// The folder of the programs of fio-plot, which pip puts there once.
fn need_fio_plot() -> Result<PathBuf, Skip> {
    need_module("ensurepip", "python3-venv")?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fio-plot-1.1.21");
    let programs = folder.join("bin");
    if programs.join("fio-plot").exists() {
        return Ok(programs);
    }
    let failed = |what: &str, out: &Output| {
        let why = text(&out.stderr);
        let why = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Skip::Machine(format!("{what} failed: {why}"))
    };
    let made = Command::new(PYTHON).args(["-m", "venv", "--clear"]).arg(&folder).output();
    let made = made.map_err(|error| Skip::Machine(format!("{PYTHON}: {error}")))?;
    if !made.status.success() {
        return Err(failed("python3 -m venv", &made));
    }
    let got = Command::new(programs.join("pip"))
        .args(["install", "--quiet", "--retries=1", "--timeout=15", "fio-plot==1.1.21"])
        .output();
    let got = got.map_err(|error| Skip::Machine(format!("pip: {error}")))?;
    if !got.status.success() {
        return Err(failed("pip install fio-plot", &got));
    }
    Ok(programs)
}

/// bench-fio runs fio over a grid, and fio-plot draws what it printed and logged: bars, surfaces, histograms, lines.
#[test]
fn a_plotter_runs_its_grid_and_draws_it() {
    let _alone = lab::alone();
    let programs = lab::need!(need_fio_plot());
    let desk = Desk::new();
    desk.file("target", &"assay".repeat(1 << 20));
    let run = |program: &str, line: &str| {
        let out = desk.command(programs.join(program)).args(line.split(' ')).output();
        let out = out.expect("it runs");
        assert!(
            out.status.success(),
            "{program} {line}: {}{}",
            text(&out.stdout),
            text(&out.stderr)
        );
    };
    let target = desk.path("target");
    run(
        "bench-fio",
        &format!(
            "--target {} --type file --size 4m --mode randread randrw --rwmixread 70 --iodepth 1 4 --numjobs 1 --direct 0 --runtime 1 --time-based --loginterval 200 --output out --quiet --destructive",
            target.display()
        ),
    );
    for (number, (folder, chart)) in [
        ("target/4k", "-L -r randread -t iops"),
        ("target/4k", "-l -r randread -d 1 4 --show-cpu"),
        ("target/4k", "-N -r randread -d 4 -n 1"),
        ("target/4k", "-H -r randread -d 4 -n 1"),
        ("target/4k", "-g -r randread -t iops lat bw -d 1 4 -n 1"),
        ("target/randrw70/4k", "-l -r randrw -f write -d 1 4"),
        ("target/randrw70/4k", "-g -r randrw -t clat -d 4 -n 1 -f read write"),
    ]
    .into_iter()
    .enumerate()
    {
        let picture = format!("p{number}.png");
        run("fio-plot", &format!("-i out/{folder} -T t {chart} -o {picture}"));
        let bytes = std::fs::read(desk.path(&picture)).unwrap_or_default();
        assert!(bytes.starts_with(b"\x89PNG"), "{chart}");
    }
}
