//! What the evidence costs: the conductor's share of a core, and the rate of the worker beside it
//! against the rate while the conductor is held still.
//!
//! There is no switch that turns the watch off, and none is needed: a tracer can stop one thread of a
//! program and let the others go on (ptrace(2)), which is all that a run without a watch would be.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Pairs of runs with and without the watch.
const PAIRS: usize = 15;

/// How long each of them takes.
const RUN: Duration = Duration::from_millis(2500);

/// Both rows, of reads of a device that answers in less than two microseconds.
pub fn rows(device: &Path) {
    let target = json!({ "device": { "path": device, "size": "whole" } });
    let plan = |seconds| super::plan(target.clone(), json!("psync"), "direct", 1, seconds);
    share_of_a_core(&plan(10.0));
    rate_beside(&plan(RUN.as_secs_f64()));
}

/// CPU time of the conductor, the program's first thread, over nine seconds of a run of ten.
fn share_of_a_core(plan: &Value) {
    let run = Run::start(plan);
    let (began, first) = (Instant::now(), run.conductor_ns());
    std::thread::sleep(Duration::from_secs(9));
    let spent = (run.conductor_ns() - first) as f64 / began.elapsed().as_nanos() as f64;
    run.reads();
    let share = format!("{:.3} %", spent * 100.0);
    super::row("CPU time of the watch, of a core", share, "-", f64::NAN, "<= 0.5 %");
}

/// The same reads with the watch and without it, in turn.
fn rate_beside(plan: &Value) {
    let rate = |held: bool| {
        let run = Run::start(plan);
        let conductor = held.then(|| Held::new(run.child.id()));
        std::thread::sleep(RUN.mul_f64(0.9));
        drop(conductor);
        run.reads()
    };
    let (mut with, mut without, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        // Whoever goes first in a pair goes last in the next.
        let first = rate(pair % 2 == 0);
        let second = rate(pair % 2 != 0);
        let (still, watched) = if pair % 2 == 0 { (first, second) } else { (second, first) };
        with.push(watched);
        without.push(still);
        ratios.push(watched / still);
    }
    let (with, without) =
        (super::thousands(super::median(with)), super::thousands(super::median(without)));
    super::row("4 KiB reads, watched and not", with, without, super::median(ratios), ">= 0.99");
}

/// A run that has begun to do its work.
struct Run {
    child: Child,
    _plan: tempfile::NamedTempFile,
}

impl Run {
    fn start(plan: &Value) -> Self {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        serde_json::to_writer(&file, plan).expect("a plan is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(["run", "--json"]).arg(file.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let run = Self { child: child.expect("assay runs"), _plan: file };
        let began = Instant::now();
        while !run.works() {
            assert!(began.elapsed() < Duration::from_secs(10), "no worker came");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Until the gate is open.
        std::thread::sleep(Duration::from_millis(20));
        run
    }

    /// Whether a worker is there.
    fn works(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let name = |path: &Path| std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        threads.is_ok_and(|all| all.flatten().any(|one| name(&one.path()).starts_with("assay-0")))
    }

    /// CPU time of the first thread, ns: the first number of its schedstat.
    fn conductor_ns(&self) -> u64 {
        let pid = self.child.id();
        let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/schedstat"));
        let text = text.expect("this kernel counts the time of threads");
        text.split(' ').next().and_then(|word| word.parse().ok()).expect("a number")
    }

    /// Reads per second, when it has ended.
    fn reads(self) -> f64 {
        let out = self.child.wait_with_output().expect("it ends");
        let record: Value = serde_json::from_slice(&out.stdout).expect("a record");
        record["phases"][0]["totals"]["read"]["iops"].as_f64().expect("a rate")
    }
}

/// The first thread of a program, stopped; the others go on. Let go when dropped.
struct Held(libc::pid_t);

impl Held {
    fn new(pid: u32) -> Self {
        let pid = libc::pid_t::try_from(pid).expect("a process");
        // SAFETY: these requests take no pointers; the process is a child of this one, and the thread
        // that attaches is the one that waits and lets go.
        unsafe {
            assert_eq!(libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0), 0, "it may not be held");
            assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, pid, 0, 0), 0, "it is not stopped");
            let mut status = 0;
            assert_eq!(libc::waitpid(pid, &raw mut status, libc::__WALL), pid, "it did not stop");
        }
        Self(pid)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: as above; a process that has ended is not there to be let go, which is as well.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.0, 0, 0) };
    }
}
