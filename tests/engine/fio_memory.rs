//! Many jobs of a great depth need little more memory than their buffers.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

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
