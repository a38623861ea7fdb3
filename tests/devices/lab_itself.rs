//! The lab under test: what it says of its disks must be true, or every other test proves nothing.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{
    self, Card, DirtyLimit, Faults, FaultyFuse, Image, KI, MI, Measured, Op, Shape, Speed, on,
};

/// Prints a figure past the harness' capture, beside the test's name.
fn told(what: &str, figure: impl std::fmt::Display) {
    let _ = std::io::stderr().write_all(format!("lab: {what}: {figure}\n").as_bytes());
}

/// Fails unless a speed is within a share of the true one.
///
/// A busy machine makes things slower, which is no lie of the lab: that is tried again a few times.
/// Nothing makes them faster, so too fast fails at once.
fn near(what: &str, true_bps: u64, within: f64, mut measure: impl FnMut() -> io::Result<Measured>) {
    for left in (0..5).rev() {
        let measured = measure().expect("the lab's own I/O");
        let (speed, off) = (measured.bps() / MI as f64, measured.error(true_bps));
        told(what, format_args!("{speed:.3} MiB/s, {:+.2} %", off * 100.0));
        assert!(off <= within, "{what}: {off:+.4}, faster than the true {true_bps} B/s");
        if off >= -within {
            return;
        }
        assert!(left > 0, "{what}: {off:+.4}, slower than the true {true_bps} B/s each time");
    }
}

/// A program that moves so many bytes, by the stopwatch.
fn timed(command: &mut Command, bytes: u64) -> io::Result<Measured> {
    let start = Instant::now();
    let status = command.stderr(Stdio::null()).status()?;
    assert!(status.success(), "{command:?}: {status}");
    Ok(Measured { bytes, took: start.elapsed() })
}

#[test]
fn an_sdcard_writes_4_and_reads_16_mib_per_second() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let _here = card.join();
    let file = card.path("direct.bin");

    near("sdcard, direct write", 4 * MI, 0.03, || {
        let before = card.leaf();
        let measured = lab::write_direct(&file, 12 * MI, MI);
        let seen = card.leaf() - before;
        assert!((12 * MI..13 * MI).contains(&seen.write_bytes), "the leaf saw {seen:?}");
        measured
    });
    near("sdcard, direct read", 16 * MI, 0.03, || {
        let before = card.leaf();
        let measured = lab::read_direct(&file, 12 * MI, MI);
        let seen = card.leaf() - before;
        assert!((12 * MI..13 * MI).contains(&seen.read_bytes), "the leaf saw {seen:?}");
        measured
    });
    near("sdcard, cold buffered read", 16 * MI, 0.03, || {
        lab::cold(&file)?;
        lab::read(&file, 12 * MI, MI)
    });
    let before = card.leaf();
    let warm = lab::read(&file, 12 * MI, MI).unwrap();
    assert!(warm.error(16 * MI) > 5.0, "a second read comes from memory");
    // A block of metadata may be read; of the data, nothing.
    let seen = card.leaf() - before;
    assert!(seen.read_bytes < MI, "the leaf saw {seen:?}");
}

#[test]
fn a_paced_card_is_as_slow_and_nothing_shows_why() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    assert!(card.rooms().is_empty(), "its speed holds wherever a program runs");
    let file = card.path("paced.bin");

    near("paced, 20 MiB and fsync", 4 * MI, 0.03, || lab::write_then_fsync(&file, 20 * MI, MI));
    near("paced, cold buffered read", 16 * MI, 0.03, || {
        lab::cold(&file)?;
        let before = card.leaf();
        let measured = lab::read(&file, 20 * MI, MI);
        let seen = card.leaf() - before;
        assert!((20 * MI..21 * MI).contains(&seen.read_bytes), "the leaf saw {seen:?}");
        measured
    });
    // Once more, so that a copy kept by the loop device or by FUSE would show.
    near("paced, direct read", 16 * MI, 0.01, || lab::read_direct(&file, 20 * MI, MI));
    near("paced, direct read of 16 KiB blocks", 16 * MI, 0.03, || {
        lab::read_direct(&file, 8 * MI, 16 * KI)
    });
    near("paced, direct write", 4 * MI, 0.01, || lab::write_direct(&file, 12 * MI, MI));
    card.set_speed(Speed::both(0, 100));
    let requests = 100 * 4 * KI;
    near("paced, 100 requests per second", requests, 0.03, || {
        lab::read_direct(&file, requests, 4 * KI)
    });
}

#[test]
fn a_raw_card_and_requests_per_second() {
    let _beside = lab::beside();
    // In memory: small single requests would also measure how busy the host's own disk is.
    let card = lab::need!(Card::new(Shape { image: Image::Thin(80 * MI), ..Shape::rawsd() }));
    let _here = card.join();
    near("rawsd, direct write", 4 * MI, 0.03, || lab::write_direct(card.device(), 8 * MI, MI));
    card.set_speed(Speed::both(0, 200));
    near("rawsd at 200 requests per second", 200 * 4 * KI, 0.05, || {
        // What the throttle lets pass at first is out of the way after these.
        lab::read_direct(card.device(), 40 * 4 * KI, 4 * KI)?;
        lab::read_direct(card.device(), 400 * 4 * KI, 4 * KI)
    });
}

#[test]
fn a_thin_card_fails_at_the_flush() {
    let _alone = lab::alone();
    let card = lab::need!(Card::thin());
    let error = lab::write_then_fsync(&card.path("much.bin"), 128 * MI, MI).unwrap_err();
    told("thin, fsync", &error);
    let errno = error.raw_os_error();
    assert!([Some(libc::EIO), Some(libc::ENOSPC)].contains(&errno), "{error}");
}

#[test]
fn every_file_system_can_be_put_on_a_card() {
    let _alone = lab::alone();
    for shape in [
        Shape { speed: Speed::FREE, ..Shape::xfs() },
        Shape { speed: Speed::FREE, ..Shape::compress() },
        Shape { speed: Speed::FREE, ..Shape::journal() },
        Shape { speed: Speed::FREE, ..Shape::sector4k() },
        Shape::nobarrier(),
        Shape::dcache(),
    ] {
        let card = lab::need!(Card::new(shape));
        let file = card.path("some.bin");
        lab::write_direct(&file, 4 * MI, MI).unwrap();
        lab::cold(&file).unwrap();
        assert_eq!(lab::read(&file, 4 * MI, MI).unwrap().bytes, 4 * MI);
        let queue = Path::new("/sys/block").join(card.leaf_name()).join("queue/logical_block_size");
        let sector = fs::read_to_string(queue).unwrap();
        assert_eq!(sector.trim(), card.shape().sector.to_string());
        assert_eq!(card.direct(), card.shape().name != "dcache", "{}", card.shape().name);
    }
}

#[test]
fn holes_and_a_full_card() {
    use std::os::unix::fs::MetadataExt;
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let holes = card.holes(8 * MI);
    let stored = |path: &Path| fs::metadata(path).map(|m| (m.len(), m.blocks() * 512)).unwrap();
    assert_eq!(stored(&holes.written), (8 * MI, 8 * MI));
    assert_eq!(stored(&holes.hole), (8 * MI, 0));
    assert_eq!(stored(&holes.unwritten), (8 * MI, 8 * MI));
    assert_eq!(stored(&holes.eighth), (8 * MI, MI));
    let before = card.leaf();
    lab::read_direct(&holes.unwritten, 8 * MI, MI).unwrap();
    assert_eq!((card.leaf() - before).read_bytes, 0, "what was never written is not read either");
    card.fill_all_but(4 * MI);
    let error = lab::write_direct(&card.path("more.bin"), 16 * MI, MI).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

#[test]
fn a_card_can_stall_and_run_out_of_burst() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { speed: Speed::bytes(0, 64 * MI), ..Shape::rawsd() }));
    let _here = card.join();
    {
        let _bursts = card.bursts(8 * MI, 4 * MI, Duration::from_secs(60));
        let fast = lab::write_direct(card.device(), 6 * MI, 256 * KI).unwrap();
        lab::write_direct(card.device(), 8 * MI, 256 * KI).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let slow = lab::write_direct(card.device(), 2 * MI, 256 * KI).unwrap();
        told("burst, MiB/s then", fast.bps() / MI as f64);
        told("sustained", slow.bps() / MI as f64);
        assert!(fast.bps() > 40.0 * MI as f64 && slow.bps() < 6.0 * MI as f64);
    }
    assert_eq!(card.speed(), Speed::bytes(0, 64 * MI));
    let _stalls = card.stalls(Duration::from_millis(300), Duration::from_millis(400));
    let mut worst = Duration::ZERO;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        worst = worst.max(lab::write_direct(card.device(), 256 * KI, 256 * KI).unwrap().took);
    }
    told("stall, worst write (s)", worst.as_secs_f64());
    assert!(worst > Duration::from_millis(250), "{worst:?}");
}

#[test]
fn noise_takes_its_share_of_a_paced_card() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    let noise = lab::Noise::writer(card.mount());
    let ours = lab::write_direct(&card.path("ours.bin"), 4 * MI, 256 * KI).unwrap();
    told("beside noise, MiB/s", ours.bps() / MI as f64);
    assert!(ours.bps() < 3.0 * MI as f64 && noise.moved() > MI);
    drop(noise);
    card.set_speed(Speed::FREE);
    let noise = lab::Noise::reader(card.mount());
    std::thread::sleep(Duration::from_millis(50));
    assert!(noise.moved() > 0);
}

#[test]
fn a_faulty_file_system_gives_its_errors() {
    let _alone = lab::alone();
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    let path = faulty.path("file");
    fs::write(&path, vec![7; 64 << 10]).unwrap();
    assert_eq!(faulty.content("file").unwrap(), vec![7; 64 << 10]);
    fs::create_dir(faulty.path("dir")).unwrap();
    fs::write(faulty.path("dir/inner"), "x").unwrap();
    fs::rename(faulty.path("dir/inner"), faulty.path("moved")).unwrap();
    let mut names: Vec<_> = fs::read_dir(faulty.mount())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["dir", "file", "moved"]);
    fs::remove_file(faulty.path("moved")).unwrap();
    fs::remove_dir(faulty.path("dir")).unwrap();

    let file = fs::File::options().read(true).write(true).open(&path).unwrap();
    let read_at =
        |offset| file.read_at(&mut [0; 4096], offset).map_err(|e| e.raw_os_error().unwrap());
    let write_at =
        |offset| file.write_at(&[1; 4096], offset).map_err(|e| e.raw_os_error().unwrap());
    let set = |faults| faulty.set(faults);

    set(Faults::from(on(Op::Read).every(3).fails(libc::EIO)));
    let answers: Vec<_> = (0..6).map(|i| read_at(i * 4096)).collect();
    let (good, bad) = (Ok(4096), Err(libc::EIO));
    assert_eq!(answers, [good, good, bad, good, good, bad]);
    assert_eq!((faulty.counts().reads, faulty.counts().failed), (6, 2));

    set(Faults::from(on(Op::Write).every(2).fails(libc::EIO)));
    assert_eq!([write_at(0), write_at(0)], [good, bad]);
    set(Faults::from(on(Op::Read).past(8192).fails(libc::EIO))
        .and(on(Op::Write).past(4096).fails(libc::EIO)));
    assert_eq!([read_at(4096), read_at(8192), write_at(0), write_at(4096)], [good, bad, good, bad]);
    set(Faults::from(on(Op::Sync).fails(libc::EIO)));
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(libc::EIO));
    set(Faults::from(on(Op::Read).at_most(1000)).and(on(Op::Write).at_most(100)));
    assert_eq!((read_at(0), write_at(0)), (Ok(1000), Ok(100)));
    set(Faults { full_at: Some(66_000), ..Faults::default() });
    assert_eq!([write_at(65_536), write_at(66_000)], [Ok(464), Err(libc::ENOSPC)]);
    set(Faults::from(on(Op::Io).every(2).hangs(Duration::from_millis(100))));
    let start = Instant::now();
    assert_eq!([read_at(0), read_at(0)], [good, good]);
    assert!((100..150).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    set(Faults { read_only: true, ..Faults::default() });
    assert_eq!(write_at(0), Err(libc::EROFS));
    assert_eq!(fs::File::create(faulty.path("new")).unwrap_err().raw_os_error(), Some(libc::EROFS));

    set(Faults { cached: true, ..Faults::default() });
    faulty.put("there", b"before");
    assert_eq!(fs::read(faulty.path("there")).unwrap(), b"before");
    assert_eq!(fs::read(faulty.path("there")).unwrap(), b"before");
}

#[test]
fn memory_file_systems_and_overlays() {
    let _alone = lab::alone();
    let kind = |path: &Path| rustix::fs::statfs(path).unwrap().f_type as u64;
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let ramfs = lab::need!(lab::Memory::ramfs());
    let overlay = lab::need!(lab::Overlay::on_tmpfs());
    assert_eq!(
        [kind(tmpfs.mount()), kind(ramfs.mount()), kind(overlay.mount())],
        [0x0102_1994, 0x8584_58f6, 0x794c_7630]
    );
    for mounted in [&tmpfs, &ramfs, &overlay] {
        fs::write(mounted.path("x"), "x").unwrap();
        assert_eq!(fs::read_to_string(mounted.path("x")).unwrap(), "x");
    }
    let card = lab::need!(Card::fast());
    let over = lab::need!(lab::Overlay::on_card(&card));
    let before = card.leaf();
    lab::write_then_fsync(&over.path("x"), 4 * MI, MI).unwrap();
    assert!((card.leaf() - before).write_bytes >= 4 * MI);
}

#[test]
fn a_ram_disk() {
    let _alone = lab::alone();
    let disk = lab::need!(lab::RamDisk::ext4(64 * MI));
    told("RAM disk", disk.kind);
    let file = disk.mount().join("x");
    lab::write_direct(&file, 8 * MI, MI).unwrap();
    assert_eq!(lab::read_direct(&file, 8 * MI, MI).unwrap().bytes, 8 * MI);
    let device = disk.device().to_owned();
    drop(disk);
    assert!(!device.exists(), "{} stays", device.display());
}

#[test]
fn groups_limit_what_runs_in_them() {
    let _beside = lab::beside();
    let small = lab::need!(lab::limit_mem(64 * MI));
    // tail keeps the last line, which here is everything.
    let mut greedy = small.command("sh");
    greedy.args(["-c", "head -c 200000000 /dev/zero | tail >/dev/null"]).stderr(Stdio::null());
    assert!(!greedy.status().unwrap().success(), "200 MB within 64 MiB");
    assert!(small.command("true").status().unwrap().success());

    let slow = lab::need!(lab::limit_cpu(20));
    let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; times";
    let start = Instant::now();
    let output = slow.command("bash").args(["-c", work]).output().unwrap();
    let wall = start.elapsed().as_secs_f64();
    // The first line of `times`: 0m0.512s 0m0.004s
    let said = String::from_utf8(output.stdout).unwrap();
    let seconds =
        |word: &str| word.trim_start_matches("0m").trim_end_matches('s').parse::<f64>().unwrap();
    let used: f64 = said.lines().next().unwrap().split_whitespace().map(seconds).sum();
    told("of a processor, in a group of a fifth", used / wall);
    assert!(used / wall < 0.25, "{used} s within {wall} s");

    let card = lab::need!(Card::new(Shape { fs: lab::Fs::Raw, ..Shape::fast() }));
    let limits = lab::Limits {
        io: Some((card.number().to_owned(), Speed::bytes(0, 4 * MI))),
        ..Default::default()
    };
    let group = lab::need!(lab::Group::new(&limits));
    near("a group at 4 MiB/s", 4 * MI, 0.05, || {
        let mut dd = group.command("dd");
        dd.args(["if=/dev/zero", "bs=1M", "count=4", "oflag=direct"]);
        timed(dd.arg(format!("of={}", card.device().display())), 4 * MI)
    });
}

#[test]
fn assay_runs_as_typed() {
    let here = tempfile::tempdir().unwrap();
    let ran = lab::assay(["--version"])
        .env("LC_ALL", "C")
        .cwd(here.path())
        .stdin("nothing")
        .run()
        .expect(0);
    assert!(ran.wall < Duration::from_secs(10));
    let group = lab::need!(lab::limit_mem(256 * MI));
    lab::assay(["--version"]).within(group.rooms()).run().expect(0);
}

#[test]
fn a_missing_package_is_a_failure_in_ci() {
    let tool = lab::need_tool("no-such-tool", "no-such-package").unwrap_err();
    let machine = lab::Skip::Machine("no such device".into());
    assert_eq!(tool.to_string(), "no-such-tool is missing (apt-get install no-such-package)");
    assert!(
        tool.is_failure(Some("true")) && !tool.is_failure(None) && !tool.is_failure(Some("false"))
    );
    assert!(!machine.is_failure(Some("true")));
}

/// A program writes more than it may keep in memory to a disk that this process serves: neither
/// must end up waiting for the other. (How fast it is then depends on the processors, too.)
#[test]
fn a_paced_card_survives_when_memory_is_short() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { speed: Speed::bytes(0, 64 * MI), ..Shape::paced() }));
    let small = lab::need!(lab::limit_mem(48 * MI));
    near("paced, in 48 MiB of memory", 64 * MI, 0.5, || {
        let mut dd = small.command("dd");
        dd.args(["if=/dev/zero", "bs=1M", "count=100", "conv=fsync"]);
        timed(dd.arg(format!("of={}", card.path("x").display())), 100 * MI)
    });
}

const LEAK: &str = "ASSAY_LAB_LEAK";

/// Not a test of its own: the child of the next one, which is killed while it owns things.
#[test]
fn leaking_child() {
    if std::env::var_os(LEAK).is_none() {
        return;
    }
    let _card = lab::need!(Card::sdcard());
    let _paced = lab::need!(Card::paced());
    let _limit = lab::need!(DirtyLimit::set(_card.number(), 16 * MI));
    let _group = lab::limit_mem(64 * MI);
    let _zram = lab::RamDisk::raw(16 * MI);
    let _faulty = FaultyFuse::new(Faults::default());
    let _overlay = lab::Overlay::on_tmpfs();
    // Written and not flushed: what is taken down has work left to do.
    fs::write(_paced.path("dirty.bin"), vec![1; 4 << 20]).unwrap();
    println!("owning");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn what_a_killed_test_leaves_is_swept() {
    let _alone = lab::alone();
    lab::need!(lab::need_root());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["lab_itself::leaking_child", "--exact", "--nocapture", "--test-threads=1"])
        .env(LEAK, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut out = child.stdout.take().unwrap();
    let mut some = [0; 256];
    while !said.contains("owning") {
        let n = out.read(&mut some).unwrap();
        if n == 0 {
            // It was skipped, and has said why.
            assert!(child.wait().unwrap().success());
            return;
        }
        said.push_str(&String::from_utf8_lossy(&some[..n]));
    }
    let pid = child.id();
    let name = format!("assay-lab-{pid}-0");
    // The kernel's tables: none of what it owned may be in any of them afterwards.
    let left = || {
        let mut left = Vec::new();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        left.extend(mounts.lines().filter(|line| line.contains(&name)).map(str::to_owned));
        for block in fs::read_dir("/sys/block").unwrap().flatten() {
            let back =
                fs::read_to_string(block.path().join("loop/backing_file")).unwrap_or_default();
            if back.contains(&name) {
                left.push(back);
            }
        }
        left
    };
    assert!(left().len() >= 6, "{:?}", left());
    // Loop devices whose dirty pages are limited; FUSE has them limited always.
    let limited = || {
        let disks = fs::read_dir("/sys/block").unwrap().flatten();
        let loops = disks.map(|disk| disk.file_name().to_string_lossy().into_owned());
        let strict = |name: &String| {
            let strict = format!("/sys/block/{name}/bdi/strict_limit");
            name.starts_with("loop") && fs::read_to_string(strict).is_ok_and(|is| is.trim() == "1")
        };
        loops.filter(strict).collect::<Vec<_>>()
    };
    assert_eq!(limited().len(), 1, "{:?}", limited());
    assert!(!lab::sweep().iter().any(|den| den.ends_with(&name)), "the living are left alone");
    child.kill().unwrap();
    child.wait().unwrap();
    let start = Instant::now();
    let swept = lab::sweep();
    told("swept in (s)", start.elapsed().as_secs_f64());
    assert!(swept.iter().any(|den| den.ends_with(&name)), "{swept:?}");
    assert_eq!(left(), Vec::<String>::new());
    assert_eq!(limited(), Vec::<String>::new());
    assert!(swept.iter().all(|den| !den.exists()));
    for root in fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten() {
        for group in fs::read_dir(root.path()).into_iter().flatten().flatten() {
            assert!(
                !group.file_name().to_string_lossy().starts_with(&name),
                "{:?} stays",
                group.path()
            );
        }
    }
    let rules = fs::read_to_string("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
        .unwrap_or_default();
    told("throttle rules left on the machine", rules.lines().count());
}

#[test]
fn a_panic_takes_its_card_down() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let (mount, leaf) = (card.mount().to_owned(), card.leaf_name());
    let image = fs::read_to_string(format!("/sys/block/{leaf}/loop/backing_file")).unwrap();
    let panicked = std::thread::spawn(move || {
        let _card = card;
        // Without the hook's message, which would look like a failure.
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(panicked.join().is_err());
    assert!(!mount.exists());
    let now =
        fs::read_to_string(format!("/sys/block/{leaf}/loop/backing_file")).unwrap_or_default();
    assert_ne!(now, image);
}
