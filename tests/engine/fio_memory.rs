//! Memory of jobs: many of a great depth need little more than their buffers, which may consist of huge pages.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::fio_pair::{program, said};
use crate::lab::{self, Memory, Skip};

/// KiB that a process and those below it have for themselves: pages of no file, those that several share in parts.
fn own_memory(id: u32) -> Result<u64, Skip> {
    let name = format!("/proc/{id}/smaps_rollup");
    // A process may have ended meanwhile.
    let Ok(text) = std::fs::read_to_string(&name) else { return Ok(0) };
    let of = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
    };
    let own = of("Pss_Anon:").zip(of("Pss_Shmem:"));
    let own = own.ok_or_else(|| Skip::Machine(format!("{name} has no parts (Linux 5.4)")))?;
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    let below = children.split_whitespace().filter_map(|id| id.parse().ok()).map(own_memory);
    Ok(own.0 + own.1 + below.sum::<Result<u64, Skip>>()?)
}

#[test]
fn sixty_four_jobs_of_depth_128_need_64_mib() {
    let _alone = lab::alone();
    let folder = lab::need!(Memory::tmpfs());
    lab::need!(own_memory(std::process::id()));
    for more in ["--thread=0", "--thread=1"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(["fio", "--name=many", "--filename=x", "--size=8m", "--rw=randread", "--bs=4k"])
            .args(["--ioengine=libaio", "--iodepth=128", "--numjobs=64", "--group_reporting"])
            .args(["--runtime=3", "--time_based", "--output-format=json", "--output=report", more])
            .current_dir(folder.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let mut most = 0;
        while child.try_wait().expect("a child").is_none() {
            most = most.max(lab::need!(own_memory(child.id())));
            std::thread::sleep(Duration::from_millis(100));
        }
        let report = std::fs::read(folder.path("report")).expect("a report");
        let report: Value = serde_json::from_slice(&report).expect("a document");
        let job = &report["jobs"][0];
        let deep = job["iodepth_level"][">=64"].as_f64().expect("a share");
        assert!(deep > 50.0 && job["error"] == 0, "{more}: {}", job["iodepth_level"]);
        // All buffers are 32 MiB.
        assert!((32 << 10..=64 << 10).contains(&most), "{more}: {most} KiB");
    }
}

/// Where the machine says how many huge pages are set aside.
const SET_ASIDE: &str = "/proc/sys/vm/nr_hugepages";

/// Huge pages that are set aside as long as it lives.
struct HugePages(String);

impl HugePages {
    fn new(count: u32) -> Result<Self, Skip> {
        let machine = |error: std::io::Error| Skip::Machine(format!("{SET_ASIDE}: {error}"));
        let before = std::fs::read_to_string(SET_ASIDE).map_err(machine)?;
        let pages = Self(before);
        std::fs::write(SET_ASIDE, count.to_string()).map_err(machine)?;
        match of_memory("HugePages_Total:") {
            Some(total) if total == u64::from(count) => Ok(pages),
            total => Err(Skip::Machine(format!("{total:?} of {count} huge pages could be had"))),
        }
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        let _ = std::fs::write(SET_ASIDE, &self.0);
    }
}

/// A number of the machine's memory.
fn of_memory(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    text.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
}

#[test]
fn buffers_consist_of_huge_pages_where_some_are_set_aside() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=h --filename=x --size=1m --rw=randread --bs=64k --ioengine=libaio --iodepth=4 \
        --numjobs=2 --runtime=1 --time_based --hugepage-size=2m --output-format=json --output=report";
    let run = |theirs: bool, mem: &str| {
        let mut command = program(theirs, folder.mount());
        command.args(line.split_whitespace()).arg(mem).env("ASSAY_SETTLE", "no");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("it runs")
    };
    {
        let _pages = lab::need!(HugePages::new(4));
        for (theirs, mem) in [false, true]
            .into_iter()
            .flat_map(|theirs| ["--mem=mmaphuge", "--mem=shmhuge"].map(|mem| (theirs, mem)))
        {
            let mut child = run(theirs, mem);
            let mut least = u64::MAX;
            while child.try_wait().expect("a child").is_none() {
                least = least.min(of_memory("HugePages_Free:").expect("a number"));
                std::thread::sleep(Duration::from_millis(20));
            }
            let output = child.wait_with_output().expect("an output");
            assert!(output.status.success(), "{theirs} {mem}: {}", said(&output));
            // 256 KiB of each clone: one page.
            assert_eq!(least, 2, "{theirs} {mem}");
        }
    }
    let _none = lab::need!(HugePages::new(0));
    for theirs in [false, true] {
        let output = run(theirs, "--mem=mmaphuge").wait_with_output().expect("an output");
        assert!(!output.status.success(), "{theirs}");
        assert!(theirs || said(&output).contains("sysctl vm.nr_hugepages="), "{}", said(&output));
    }
}
