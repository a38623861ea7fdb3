//! What single I/Os of a job carry with them, as strace sees it: the same from fio and from `assay fio`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fio_pair::program;
use crate::lab;

/// What each call that submits says of its I/O, but for its buffer and its file.
fn submitted(theirs: bool, folder: &Path, line: &str) -> Vec<String> {
    let trace = folder.join("trace");
    let traced = program(theirs, folder);
    let mut command = Command::new("strace");
    command.args(["-f", "-v", "-e", "trace=io_submit", "-o"]).arg(&trace);
    command.arg(traced.get_program()).args(traced.get_args()).args(line.split(' '));
    command.envs(traced.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(folder).output().expect("strace");
    assert!(output.status.success(), "{line}: {output:?}");
    let text = fs::read_to_string(&trace).expect("a trace");
    let carried = |line: &str| {
        let (_, block) = line.split_once("[{aio_data=")?;
        let kept = ["aio_lio_opcode", "aio_reqprio", "aio_rw_flags", "aio_offset", "aio_flags"];
        let parts = block.split("aio_").map(|part| format!("aio_{}", part.trim_end_matches(", ")));
        let parts = parts.filter(|part| kept.iter().any(|kept| part.starts_with(kept)));
        Some(parts.map(|part| part.replace("}]) = 1", "")).collect::<Vec<_>>().join(" "))
    };
    text.lines().filter_map(carried).collect()
}

#[test]
fn ios_carry_the_priorities_and_flags_that_fio_gives_them() {
    lab::need!(lab::need_root());
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t"), vec![7; 1 << 20]).expect("a file");
    let usual =
        "--name=c --filename=t --bs=4k --size=1m --ioengine=libaio --thread --number_ios=60";
    for line in [
        "--rw=randread --cmdprio_percentage=20",
        "--rw=randrw --cmdprio_percentage=0,50 --cmdprio_class=2 --cmdprio=6",
        "--rw=randread --bssplit=4k/50:8k/50 --cmdprio_bssplit=4k/40/2/7:8k/10/1/0:8k/20",
        "--rw=randread --nowait=1 --ignore_error=EAGAIN",
    ] {
        let line = format!("{usual} {line}");
        let [theirs, ours] = [true, false].map(|theirs| submitted(theirs, folder.path(), &line));
        // What would have had to wait is none of the number.
        let theirs = theirs.get(..60).unwrap_or_else(|| panic!("{line}: {theirs:?}"));
        assert_eq!(theirs, &ours[..60], "{line}");
    }
}
