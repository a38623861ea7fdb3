//! What `assay fio` does not do unasked: words that mean something else, where only what is meant is wanted
//! (`ASSAY_STRICT`), and writes to a device that holds something (`ASSAY_OVERWRITE`).

use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::lab::{self, RamDisk};

/// What comes of a line, in a folder of its own.
fn typed(
    program: &Path,
    first: &[&str],
    line: &str,
    environment: &[(&str, &str)],
) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("job.fio"), "[j]\nioengine=null\nsize=1m\nbs = 8k\n")
        .expect("a file");
    let Output { status, stderr, .. } = Command::new(program)
        .args(first)
        .args(line.split(' '))
        .envs(environment.iter().copied())
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    (status.code().expect("no signal"), String::from_utf8_lossy(&stderr).into_owned())
}

fn ours(line: &str, environment: &[(&str, &str)]) -> (i32, String) {
    typed(Path::new(env!("CARGO_BIN_EXE_assay")), &["fio"], line, environment)
}

#[test]
fn words_that_surprise_are_refused_where_that_is_wanted() {
    let strict = [("ASSAY_STRICT", "1")];
    let surprising = "--name=a --ioengine=null --size=1m --bs=8KiB --time_based --runtime=1sec";
    let (code, said) = ours(surprising, &strict);
    assert_eq!(code, 2, "{said}");
    for line in [
        "assay: word 4: '--bs=8KiB' means 8000, not 8k; write bs=8k\n",
        "assay: type: assay fio --name=a --ioengine=null --size=1m --bs=8k --time_based --runtime=1s\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let (code, said) = ours("job.fio", &strict);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("assay: write at job.fio:4:1: 'bs=8k'\n"), "{said}");
    // By fio's name the status is the same: the variable is ours.
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("fio");
    symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("a link");
    assert_eq!(typed(&link, &[], surprising, &strict).0, 2);
    // What is meant is done, also where a word has no effect on it; and without the variable all is.
    let plain = "--name=a --ioengine=null --size=1m --bs=8k --clocksource=cpu";
    assert_eq!(ours(plain, &strict).0, 0);
    assert_eq!(ours("job.fio", &[]).0, 0);
    assert_eq!(ours("job.fio", &[("ASSAY_STRICT", "0")]).0, 0);
    let (code, said) = ours(plain, &[("ASSAY_STRICT", "yes")]);
    assert!(code == 2 && said.contains("ASSAY_STRICT: invalid value 'yes'"), "{said}");
}

#[test]
fn a_device_that_holds_something_is_written_to_when_it_is_named_twice() {
    let _alone = lab::alone();
    lab::need!(lab::need_root());
    let disk = lab::need!(RamDisk::ext4(64 << 20));
    let name = disk.device().to_str().expect("a name").to_string();
    let tail = || {
        let mut bytes = vec![0; 4096];
        let device = std::fs::File::open(disk.device()).expect("the device");
        device.read_exact_at(&mut bytes, 60 << 20).expect("read");
        bytes
    };
    let before = tail();
    let line =
        format!("--name=w --filename={name} --rw=write --bs=4k --offset=60m --size=4k --direct=1");
    let allowed = format!("{line} --allow_mounted_write=1");
    let named = [("ASSAY_OVERWRITE", name.as_str())];
    let other = [("ASSAY_OVERWRITE", "/dev/null")];
    for (line, environment) in
        [(&line, &[][..]), (&allowed, &[][..]), (&line, &named[..]), (&allowed, &other[..])]
    {
        let (code, said) = ours(line, environment);
        assert_eq!(code, 2, "{line}: {said}");
        assert!(said.contains("will not write: ") && said.contains("is mounted on"), "{said}");
        assert!(
            said.contains(&format!("ASSAY_OVERWRITE={name} and --allow_mounted_write=1")),
            "{said}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("fio");
    symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("a link");
    // fio ends with 0 here, and has done nothing.
    assert_eq!(typed(&link, &[], &line, &[]).0, 1);
    assert_eq!(tail(), before);
    let (code, said) = ours(&allowed, &named);
    assert_eq!(code, 0, "{said}");
    assert_ne!(tail(), before);
    // Reading needs no permission.
    assert_eq!(ours(&line.replace("--rw=write", "--rw=read"), &[]).0, 0);
}
