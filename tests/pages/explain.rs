//! Pages of `assay explain`: well-known lines on a machine that is not here, and what the program
//! itself says of plans, records and words that make no sense.
//! `ASSAY_BLESS=1 cargo test --test pages -- explain` writes the pages anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::pages::{WIDTHS, fits, golden, golden_at_widths};
use assay::cli::Environment;
use assay::cli::explain::{PathSurveyor, of_line, of_text};
use assay::report::{self, TerminalStyle};
use assay_plan::error::Error;
use assay_plan::unit::{Bytes, GIB};
use assay_record::evidence::{CachePages, FileLayout, Reading, Survey, SysRoot};
use assay_record::record::Explanation;
use assay_record::words::say;

use crate::common;
use crate::machines::Tree;

const CARD: &str = "platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";

/// A card of 29 GiB with ext4 at `/`, and a mount that compresses on it at `/zip`.
fn machine() -> Tree {
    let tree = Tree::new(
        "28 1 179:2 / / rw,relatime - ext4 /dev/mmcblk0p2 rw\n\
         29 28 179:2 / /zip rw,relatime - xfs /dev/mmcblk0p2 rw,compress=zstd:3\n\
         30 28 0:30 / /run rw - tmpfs tmpfs rw",
    );
    tree.disk(CARD, "179:0", 29);
    tree.partition(&format!("{CARD}/mmcblk0p2"), "179:2", 256 << 20);
    for file in ["mnt/sd/cold", "mnt/sd/warm", "zip/there", "run/there"] {
        tree.file(file, "");
    }
    tree
}

/// A look at that machine. What stores nothing is the same on all machines; how a file lies and what
/// of it is in memory only system calls would say.
fn look(tree: &Tree, path: &Path) -> Survey {
    let name = path.to_str().expect("a name");
    if matches!(name, "/dev/zero" | "/dev/null" | "/dev/urandom") {
        return SysRoot::default().survey(path);
    }
    let mut survey = tree.survey(name);
    let resident = match name {
        "/mnt/sd/warm" => GIB,
        "/mnt/sd/cold" => 0,
        _ => return survey,
    };
    survey.file = Some(FileLayout {
        size: Bytes(GIB),
        extents: Reading::Unseen("not this machine".into()),
        cached: Reading::Seen(CachePages {
            resident: Bytes(resident),
            dirty: None,
            writeback: None,
            evicted: None,
        }),
    });
    survey
}

fn explained(tree: &Tree, line: &str) -> Result<Explanation, Error> {
    let survey = |path: &Path| look(tree, path);
    let sight = PathSurveyor { survey: &survey, machine: common::machine() };
    let words = line.split_whitespace().map(String::from).collect();
    of_line(words, &Environment::default(), &sight)
}

fn page(explanation: &Explanation, style: TerminalStyle) -> String {
    let mut out = Vec::new();
    report::explain::text(explanation, style, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// Lines as forums give them: the name of the page, the line, the traps it walks into, and the
/// line that mends them.
const LINES: &[(&str, &str, &[&str], Option<&str>)] = &[
    (
        "no-flush",
        "dd if=/dev/zero of=/mnt/sd/x bs=20M count=1",
        &["T02", "T25"],
        Some("dd if=/dev/zero of=/mnt/sd/x bs=20M count=1 conv=fsync"),
    ),
    (
        "small-blocks-flushed",
        "dd if=/dev/zero of=/mnt/sd/x bs=10k count=2048 conv=fsync",
        &["T13", "T25"],
        None,
    ),
    ("fdatasync", "dd if=/dev/zero of=/mnt/sd/t bs=64k count=16k conv=fdatasync", &["T25"], None),
    (
        "one-gigabyte-dsync",
        "dd if=/dev/zero of=/mnt/sd/test1.img bs=1G count=1 oflag=dsync",
        &["T25"],
        None,
    ),
    (
        "latency-dsync",
        "dd if=/dev/zero of=/mnt/sd/test2.img bs=512 count=1000 oflag=dsync",
        &["T14", "T25"],
        Some("dd if=/dev/zero of=/mnt/sd/test2.img bs=1M count=256 conv=fsync"),
    ),
    (
        "direct",
        "dd if=/dev/zero of=/mnt/sd/x bs=64K count=50K oflag=direct",
        &["T16", "T25", "T54"],
        Some("dd if=/dev/zero of=/mnt/sd/x bs=64K count=50K oflag=direct conv=fsync"),
    ),
    (
        "direct-no-sector",
        "dd if=/dev/zero of=/mnt/sd/x bs=1000 count=100000 oflag=direct",
        &["T20", "T51", "T25"],
        Some("dd if=/dev/zero of=/mnt/sd/x bs=1M count=96 oflag=direct"),
    ),
    (
        "direct-busybox",
        "busybox dd if=/dev/zero of=/mnt/sd/x bs=1000 count=100000 oflag=direct",
        &["T19", "T51", "T25"],
        Some("busybox dd if=/dev/zero of=/mnt/sd/x bs=1M count=96 oflag=direct"),
    ),
    (
        "bigger-than-the-limit",
        "time dd if=/dev/zero of=/mnt/sd/ddfile bs=8k count=250000",
        &["T05", "T25"],
        Some("dd if=/dev/zero of=/mnt/sd/ddfile bs=8k count=250000 conv=fsync"),
    ),
    (
        "until-full",
        "dd if=/dev/zero of=/mnt/sd/x",
        &["T05", "T51", "T62", "T25"],
        Some("dd if=/dev/zero of=/mnt/sd/x conv=fsync bs=1M"),
    ),
    (
        "random",
        "dd if=/dev/urandom of=/mnt/sd/x bs=1M count=100 conv=sync",
        &["T02", "T13", "T51"],
        Some("dd if=/dev/urandom of=/mnt/sd/x bs=1M count=100 conv=fsync"),
    ),
    (
        "zeros-on-compression",
        "dd if=/dev/zero of=/zip/x bs=1M count=1000 conv=fsync",
        &["T25", "T13"],
        Some("dd if=/dev/urandom of=/zip/x bs=1M count=1000 conv=fsync"),
    ),
    (
        "sparse",
        "dd if=/dev/zero of=/mnt/sd/x bs=1M count=1000 conv=sparse",
        &["T23"],
        Some("dd if=/dev/zero of=/mnt/sd/x bs=1M count=1000 conv=fsync"),
    ),
    (
        "read-cold",
        "dd if=/mnt/sd/cold of=/dev/null bs=8k",
        &["T01"],
        Some("dd if=/mnt/sd/cold of=/dev/null bs=1M iflag=direct"),
    ),
    (
        "read-again",
        "dd if=/mnt/sd/warm of=/dev/null bs=8k",
        &["T01"],
        Some("dd if=/mnt/sd/warm of=/dev/null bs=1M iflag=direct"),
    ),
    (
        "read-device",
        "sudo dd if=/dev/mmcblk0 of=/dev/null bs=1M count=1024",
        &["T01"],
        Some("sudo dd if=/dev/mmcblk0 of=/dev/null bs=1M count=1024 iflag=direct"),
    ),
    (
        "overwrite-device",
        "dd if=/dev/zero of=/dev/mmcblk0 bs=1M count=1024",
        &["T02", "T25"],
        Some("dd if=/dev/zero of=/dev/mmcblk0 bs=1M count=1024 conv=fsync"),
    ),
    (
        "same-disk",
        "dd if=/dev/mmcblk0 of=/mnt/sd/x bs=1M count=500 conv=fsync",
        &["T13", "T66"],
        None,
    ),
    ("nothing-at-all", "dd if=/dev/zero of=/dev/null bs=1M count=10000", &["T29"], None),
    ("memory", "dd if=/dev/zero of=/run/x bs=1M count=100 conv=fsync", &["T29"], None),
    ("not-there", "dd if=/mnt/sd/nowhere of=/dev/null", &["T17"], None),
];

#[test]
fn well_known_lines() {
    let tree = machine();
    let mut wrong = Vec::new();
    for (name, line, traps, mended) in LINES {
        let told = explained(&tree, line).expect("explained");
        let wide = page(&told, TerminalStyle { colour: false, unicode: true, width: 90 });
        assert!(page(&told, TerminalStyle::default()).is_ascii(), "{name}");
        let text = serde_json::to_string(&told).expect("JSON");
        assert_eq!(serde_json::from_str::<Explanation>(&text).expect("read"), told, "{name}");
        let found: Vec<&str> =
            told.phases[0].verdict.findings.iter().map(|f| f.trap.name()).collect();
        // What to do next is a line: one of ours is understood, and not the one that was typed.
        for finding in &told.phases[0].verdict.findings {
            let Some(next) = &finding.next else { continue };
            assert_ne!(next.command, format!("assay {line}"), "{name}");
            if next.command.starts_with("assay dd ") {
                let told = explained(&tree, &next.command);
                told.unwrap_or_else(|error| panic!("{name}: {}: {error}", next.command));
            }
        }
        let first = told.better.first().map(|better| better.line.as_str());
        let first = first.filter(|line| !line.contains("assay dd"));
        if found != *traps || first != *mended {
            wrong.push(format!("{name}: {found:?} {first:?}"));
        }
        golden("explain", name, &wide);
        for width in WIDTHS {
            let style = TerminalStyle { colour: false, unicode: true, width };
            fits(name, &page(&told, style), width);
        }
        if *name == "memory" {
            golden_at_widths("explain", |style| page(&told, style));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn pasted(tree: &Tree, text: &str) -> Explanation {
    let survey = |path: &Path| look(tree, path);
    let sight = PathSurveyor { survey: &survey, machine: common::machine() };
    of_text(text, &Environment::default(), &sight).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Lines as people paste them: the command, what is the same as of it alone, and whether places of this machine
/// were looked at.
const PASTED: &[&str] = &[
    "{}; sync",
    "{} && sync",
    "sync; {}",
    "{} \\\n&& sync",
    "time {}",
    "time sh -c \"{} && sync\"",
    "sh -c '{}; sync'",
    "nice -n 10 {}",
    "nice -19 ionice -c2 -n 7 {}",
    "$ {}",
    "# {}",
    "user@host:~$ {}",
    "[root@host ~]# {}",
    "pi@raspberrypi:/mnt/sd $ sudo {}\n20+0 records in\n20+0 records out\n20971520 bytes (21 MB, 20 MiB) copied, 0.02 s, 1.0 GB/s",
    "{} 2>&1 | tail -1",
    "{} 2>/dev/null",
    "LC_ALL=C taskset -c 0 /bin/{}",
    "sudo -u pi env A=1 timeout 60 {}",
    "for i in 1 2 3; do {}; done",
    "for i in {1..5}\ndo\n  {}\n  sync\ndone",
    "while true; do {}; sleep 1; done",
    "echo 3 | sudo tee /proc/sys/vm/drop_caches; {}",
    "sync && echo 3 > /proc/sys/vm/drop_caches && {}",
    "rm -f /mnt/sd/x; {}; rm /mnt/sd/x",
    "{} &",
    "({}; sync)",
    "{}; dd if=/mnt/sd/x of=/dev/null bs=1M",
    "# a test with dd\n{}\n# and its flush\nsync",
    "B=20M; {b}",
    "{“}",
];

/// What stands round a command is set aside and said; the rest is as if it stood alone.
#[test]
fn lines_as_people_paste_them() {
    let tree = machine();
    let bare = "dd if=/dev/zero of=/mnt/sd/x bs=20M count=1";
    let alone = pasted(&tree, bare);
    assert_eq!(alone.around, []);
    let mut told = String::new();
    for line in PASTED {
        let line = line.replace("{b}", &bare.replace("20M", "$B"));
        let line = line.replace("{“}", &bare.replace("of=/mnt/sd/x", "of=“/mnt/sd/x”"));
        let line = line.replace("{}", bare);
        let found = pasted(&tree, &line);
        assert_eq!((&found.phases, &found.words), (&alone.phases, &alone.words), "{line}");
        told += &format!("{line}\n");
        for said in &found.around {
            told += &format!("    {}: {}\n", said.word, said.means);
        }
    }
    golden("explain", "pasted", &told);
}

/// What runs on another machine is not judged by the places of this one.
#[test]
fn lines_for_other_machines() {
    let tree = machine();
    let bare = "dd if=/dev/zero of=/mnt/sd/x bs=20M count=1";
    let mut told = String::new();
    for line in [
        "adb shell {}",
        "adb -s 1234 shell \"{} && sync\"",
        "ssh -p 22 root@host '{}'",
        "docker exec -it box {}",
        "docker run --rm -v /srv:/data alpine {}",
        "kubectl exec -it pod -n x -- {}",
        "sudo chroot /srv/root {}",
    ] {
        let line = line.replace("{}", bare);
        let found = pasted(&tree, &line);
        told += &format!("{line}\n    {}\n", found.phases[0].verdict.summary());
        for said in &found.around {
            told += &format!("    {}: {}\n", said.word, said.means);
        }
        assert!(found.better.iter().all(|better| !better.line.contains("assay quick")), "{line}");
    }
    golden("explain", "elsewhere", &told);
}

/// A path that is not there is said before it is judged by what is above it.
#[test]
fn places_that_are_not_there() {
    let tree = machine();
    let mut told = String::new();
    for line in [
        "dd if=/dev/zero of=/mnt/none/x bs=20M count=1",
        "fio --name=a --filename=/mnt/none/x --rw=write --size=1m",
        "bonnie++ -d /mnt/none -s 64 -r 32 -n 0 -u root",
        "iozone -f /mnt/none/x -s 64m -i 0",
        "dd if=/dev/zero of=/mnt/sd/new bs=20M count=1",
    ] {
        let found = pasted(&tree, line);
        told += &format!("{line}\n");
        for said in &found.around {
            told += &format!("    {}: {}\n", said.word, said.means);
        }
    }
    golden("explain", "absent", &told);
}

/// Engines without I/O measure no disk; a small file that is gone over again and again is memory.
#[test]
fn jobs_that_are_not_about_a_disk() {
    let tree = machine();
    let told = |words: &str| {
        let told = pasted(&tree, &format!("fio --name=a --filename=/mnt/sd/cold {words}"));
        let verdict = &told.phases[0].verdict;
        let found: Vec<&str> = verdict.findings.iter().map(|f| f.trap.name()).collect();
        (verdict.trust.name(), say(&told.phases[0].measures.0), found.join(" "))
    };
    let tool = "the program, its system calls and memory".to_string();
    assert_eq!(told("--ioengine=null --rw=read --size=1g"), ("wrong", tool.clone(), "T29".into()));
    assert_eq!(told("--ioengine=cpuio --cpuload=50 --runtime=1"), ("wrong", tool, "T29".into()));
    let memory = "the speed of the page cache".to_string();
    let timed = "--size=64m --time_based --runtime=60";
    // fio drops the pages of a file whenever a job begins it anew, unless it is told not to.
    let again = format!("--rw=read {timed} --invalidate=0");
    assert_eq!(told(&again), ("doubtful", memory.clone(), "T01".into()));
    assert_eq!(told(&format!("--rw=read {timed}")).0, "sound");
    assert_eq!(told(&format!("--rw=randwrite {timed}")).2, "T60 T02");
    assert_eq!(told(&format!("--rw=read --direct=1 {timed}")).2, "T54");
    assert_eq!(told("--rw=read --size=64m --runtime=60").0, "sound");
}

/// Lines of results of Bonnie++ are told field by field.
#[test]
fn lines_of_results_of_bonnie() {
    let tree = machine();
    let told = pasted(
        &tree,
        "1.97,1.97,box,1,1414141414,8G,,512,98,62410,14,31283,8,1022,98,94810,9,301.2,1,16,,,,,3245,12,+++++,+++,2411,9,3198,12,+++++,+++,1989,8,20ms,8082us,4572us,41ms,8070us,44ms,122us,39us,16ms,8088us,9us,9307us\n",
    );
    golden(
        "explain",
        "bonnie-csv",
        &page(&told, TerminalStyle { colour: false, unicode: true, width: 90 }),
    );
}

/// The size that another machine allowed is not refused for the memory of this one.
#[test]
fn lines_of_bonnie_from_larger_and_smaller_machines() {
    let tree = machine();
    let told = pasted(&tree, "bonnie++ –d /mnt/sd -s 64 -n 0 -u root");
    let means = |told: &Explanation, word: &str| {
        told.words.iter().find(|meaning| meaning.word == word).expect(word).means.clone()
    };
    assert!(
        means(&told, "-s 64")
            .ends_with("; refused where the machine has more than 32 MiB of memory, without -r"),
        "{told:?}"
    );
    assert_eq!(told.around[0].means, "holds an en dash (U+2013); it is read as -d");
}

/// What the tool does with its words, not what ours would.
#[test]
fn the_tests_of_bonnie() {
    let tree = machine();
    let line = "bonnie++ -d /mnt/sd -s 64 -r 32 -n 1 -u root";
    let told = explained(&tree, line).expect("explained");
    let found = |phase: &assay_record::record::PhaseExplanation| {
        phase
            .verdict
            .findings
            .iter()
            .map(|f| f.trap.name().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let found: Vec<String> =
        told.phases.iter().map(|phase| format!("{}: {}", phase.name, found(phase))).collect();
    let big = [
        "putc: T51",
        "put_block: ",
        "rewrite: T01",
        "getc: T01 T51",
        "get_block: T01",
        "seeks: T01",
    ];
    assert_eq!(found[..6], big);
    golden(
        "explain",
        "bonnie",
        &page(&told, TerminalStyle { colour: false, unicode: true, width: 90 }),
    );
    let ours = explained(&tree, &line.replace("bonnie++", "assay bonnie")).expect("explained");
    let cached = |phase: &assay_record::record::PhaseExplanation| {
        phase.verdict.findings.iter().any(|finding| finding.trap.name() == "T01")
    };
    assert!(told.phases.iter().any(cached) && !ours.phases.iter().any(cached));
    let refused = explained(&tree, "bonnie++ -s 0 -n 0").expect_err("nothing to do");
    assert_eq!(
        refused.to_string(),
        "bonnie++: -s 0 and -n 0 leave nothing to do; give one of them a size or number, or leave it out"
    );
}

/// Words of fio that surprise are told word by word, and mended in one line.
#[test]
fn jobs_of_fio_as_they_are_meant() {
    let tree = machine();
    let line = "fio --name=a --filename=/mnt/sd/x --rw=randwrite --bs=8KiB --size=64m --iodepth=16 --ioengine=libaio";
    let told = explained(&tree, line).expect("explained");
    golden(
        "explain",
        "fio",
        &page(&told, TerminalStyle { colour: false, unicode: true, width: 90 }),
    );
    let better = "assay fio --name=a --filename=/mnt/sd/x --rw=randwrite --bs=8k --size=64m --iodepth=16 --direct=1 --ioengine=libaio";
    assert_eq!(told.better[0].line, better);
    let means = |told: &Explanation, word: &str| {
        told.words.iter().find(|meaning| meaning.word == word).expect(word).means.clone()
    };
    let depth = means(&told, "--iodepth=16");
    assert!(depth.ends_with("not 16 I/Os in flight: write direct=1"), "{depth}");
    let mended = explained(&tree, better).expect("explained");
    assert_eq!(
        means(&mended, "--bs=8k"),
        "the block size, or one each for reads, writes and trims"
    );
    let surprised: Vec<_> =
        mended.words.iter().filter(|meaning| meaning.means.contains("it means")).collect();
    assert!(surprised.is_empty(), "{surprised:?}");
}

/// Direct I/O in blocks that are no multiple of a logical block fails, and that is said before it does.
#[test]
fn direct_io_by_parts_of_a_logical_block_is_foretold() {
    let tree = machine();
    let told = |words: &str| {
        let line =
            format!("fio --name=a --filename=/mnt/sd/x --rw=read --size=64m --direct=1 {words}");
        let told = explained(&tree, &line).expect("explained");
        let verdict = told.phases[0].verdict.clone();
        (verdict.trust.name(), verdict.summary())
    };
    let fails = |what: &str| {
        let summary = format!(
            "Direct I/O {what} bytes is not by multiples of 512: it fails with 'Invalid argument' on most file systems."
        );
        ("wrong", summary)
    };
    assert_eq!(told("--bs=4000"), fails("in blocks of 4000"));
    assert_eq!(told("--bssplit=4k/50:1000/50"), fails("in blocks of 8"));
    let cut = "--bs=4k --offset=100 --offset_align=100";
    assert_eq!(told(cut), fails("from an offset of 100"));
    assert_ne!(told("--bs=4k --offset=512").0, "wrong");
    assert_ne!(told("--bs=4000 --direct=0").0, "wrong");
}

/// A mended line walks into nothing heavy any more, apart from what no words can mend.
#[test]
fn mended_lines_are_mended() {
    let tree = machine();
    for (name, _, _, mended) in LINES {
        let Some(mended) = mended else { continue };
        let told = explained(&tree, mended).expect("explained");
        let heavy: Vec<_> = told.phases[0]
            .verdict
            .findings
            .iter()
            .filter(|f| {
                f.weight > assay_record::record::FindingWeight::Note && f.trap.name() != "T62"
            })
            .collect();
        assert!(heavy.is_empty(), "{name}: {mended}: {heavy:?}");
    }
}

// ------------------------------------------------------------------ the program itself

fn run(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    for name in ["NO_COLOR", "COLUMNS", "ASSAY_DIALECT", "ASSAY_COLD"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } =
        command.current_dir(folder).env("LC_ALL", "C.UTF-8").args(words).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

#[test]
fn a_line_in_quotes_and_word_by_word_is_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "dd if=/dev/zero of=/dev/null bs=1M count=10";
    let words: Vec<&str> = ["explain"].into_iter().chain(line.split(' ')).collect();
    let quoted = run(folder.path(), &["explain", line]);
    assert_eq!((quoted.0, quoted.2.as_str()), (0, ""));
    assert_eq!(run(folder.path(), &words), quoted);
    let words: Vec<&str> = ["explain", "--", "sudo"].into_iter().chain(line.split(' ')).collect();
    assert!(run(folder.path(), &words).1.contains("sudo assay dd if=/dev/zero"));
    let (code, out, _) = run(folder.path(), &["explain", "--json", line]);
    let told: Explanation = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, told.line.as_str()), (0, line));
}

#[test]
fn nothing_is_run_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, out, err) = run(folder.path(), &["explain", "dd if=/dev/zero of=x bs=1M count=1"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
}

/// The words of a page but those before a unit of memory.
fn without_amounts(page: &str) -> Vec<&str> {
    let words: Vec<&str> = page.split_whitespace().collect();
    let is_amount = |place: usize| words.get(place + 1).is_some_and(|unit| unit.contains("iB"));
    (0..words.len()).filter(|place| !is_amount(*place)).map(|place| words[place]).collect()
}

#[test]
fn a_job_file_is_told_like_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let jobs = "; a comment\n[global]\nsize=8m\nbs = 8k\n\n[one]\nrw=read\nruntime=1sec\n[two]\nstonewall\nrw=write\n";
    std::fs::write(folder.path().join("disk.jobs"), jobs).expect("a file");
    let (code, out, err) = run(folder.path(), &["explain", "disk.jobs"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let joined = out.split_whitespace().collect::<Vec<_>>().join(" ");
    // How much may be dirty follows the free memory of the moment.
    let by_name = run(folder.path(), &["explain", "fio", "disk.jobs"]).1;
    assert_eq!(without_amounts(&by_name), without_amounts(&out));
    for said in [
        "bs = 8k the block size, or one each for reads, writes and trims; it means 8, not 8k: write bs=8k",
        "Reads sequentially in the file one.0.0, in blocks of 8 B",
        "Writes sequentially in the file two.0.0",
        "What to type: bs=8k in place of what stands at disk.jobs:4:1: disk.jobs:4:1: 'bs = 8k' means 8, not 8k; write bs=8k",
        "runtime=1s in place of what stands at disk.jobs:8:1",
    ] {
        assert!(joined.contains(said), "{said}: {joined}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    // A list of JSON is none.
    std::fs::write(folder.path().join("list"), "[1, 2]\n").expect("a file");
    let (code, _, err) = run(folder.path(), &["explain", "list"]);
    assert!(code == 2 && err.contains("not a plan"), "{err}");
}

#[test]
fn a_grid_is_told_test_by_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, out, err) = run(folder.path(), &["explain", "iozone -a -i 0 -i 1"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let names: Vec<&str> = out.lines().filter(|line| line.contains(" more, the last ")).collect();
    let named = |from, last| format!("  {from} and 251 more, the last {last}");
    let writes = named("write-64k-4k", "rewrite-524288k-16384k");
    assert_eq!(names, [writes, named("read-64k-4k", "reread-524288k-16384k")], "{out}");
    let joined = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(joined.matches("in blocks of 4 KiB to 16 MiB, one in flight").count(), 2, "{out}");
    assert!(out.lines().count() < 80, "{out}");
}

#[test]
fn a_record_is_told_at_length() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["t02-no-flush", "t01-read-again", "t51-cpu-bound"] {
        let from =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/records/{name}.json"));
        std::fs::copy(from, folder.path().join("run.json")).expect("copied");
        let (code, out, err) = run(folder.path(), &["explain", "run.json"]);
        assert_eq!((code, err.as_str()), (0, ""));
        golden("explain", &format!("record-{name}"), &out);
    }
}

#[test]
fn a_plan_is_told_phase_by_phase() {
    let tree = machine();
    let survey = |path: &Path| look(&tree, path);
    let sight = PathSurveyor { survey: &survey, machine: common::machine() };
    let told = assay::cli::explain::of_plan(
        &common::quick_plan("/mnt/sd"),
        "plan.json".into(),
        vec![],
        &sight,
    );
    golden(
        "explain",
        "plan",
        &page(&told, TerminalStyle { colour: false, unicode: true, width: 90 }),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let (_, plan, _) = run(folder.path(), &["quick", "--plan", "--size", "64M", "."]);
    std::fs::write(folder.path().join("plan.json"), plan).expect("written");
    let (code, out, err) = run(folder.path(), &["explain", "plan.json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.contains("Writes sequentially in its own file in ., in blocks of 1 MiB, 8 in flight"),
        "{out}"
    );
    assert!(out.contains("\n  assay run plan.json\n"), "{out}");
}

#[test]
fn every_verb_that_runs_a_plan_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, plan, _) = run(folder.path(), &["quick", "--plan", "--size", "64M", "."]);
    std::fs::write(folder.path().join("plan.json"), plan).expect("written");
    for (line, says) in [
        ("assay quick .", "in ., in blocks of 1 MiB, 8 in flight"),
        ("assay quick --profile cdm .", "in blocks of 1 MiB, 8 in flight"),
        ("assay io --block 8k --depth 3 .", "in blocks of 8 KiB, 3 in flight"),
        ("assay ramp --block 16k --max-depth 4 .", "in blocks of 16 KiB, 4 in flight"),
        ("assay sweep --over bs=32k,64k .", "in blocks of 32 KiB, 4 in flight"),
        ("assay sustain --bytes 1M --size 64M .", "in blocks of 1 MiB, 8 in flight"),
        ("assay card .", "in ., in blocks of 512 KiB, 4 in flight"),
        ("assay modes --block 64k .", "in blocks of 64 KiB"),
        ("assay demo flush .", "in blocks of 1 MiB"),
        ("assay demo omission", "in blocks of 4 KiB"),
        ("assay run plan.json", "in ., in blocks of 1 MiB, 8 in flight"),
        ("assay atto --sizes 4k -l 1M .", "in ., in blocks of 4 KiB, 4 in flight"),
        ("atto --sizes 4k -l 1M .", "in ., in blocks of 4 KiB, 4 in flight"),
    ] {
        let (code, out, err) = run(folder.path(), &["explain", line]);
        assert_eq!((code, err.as_str()), (0, ""), "{line}");
        // Sentences are broken where the page ends.
        let whole = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(whole.contains(says), "{line}: {out}");
    }
    let there: Vec<_> = std::fs::read_dir(folder.path()).expect("read").flatten().collect();
    assert_eq!(there.len(), 1, "nothing is written: {there:?}");
}

#[test]
fn words_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("notes.txt"), "bs=1M was fine").expect("written");
    for (words, says) in [
        (
            &["explain"][..],
            "assay: LINE is missing; give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record\n",
        ),
        (
            &["explain", ""],
            "assay: there is nothing to explain; give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record\n",
        ),
        (
            &["explain", "dd if=a foo"],
            "assay: dd: unrecognized operand 'foo'; 'assay dd --help' lists the operands\n",
        ),
        (
            &["explain", "dd", "--help"],
            "assay: dd: it is asked for help or its version, and copies nothing; 'assay dd --help' lists the operands\n",
        ),
        (
            &["explain", "busybox dd oflag=dsync"],
            "assay: dd: invalid argument 'dsync' to 'oflag'; 'assay dd --help' lists the operands\n",
        ),
        (
            &["explain", "dd if=a of=$TARGET && sync"],
            "assay: '$TARGET' is for a shell, and nothing is run here; write what the shell would put there\n",
        ),
        (&["explain", "dd if='a of=b"], "assay: a ' is not closed; close it\n"),
        (
            &["explain", "ioping -c 10 ."],
            "assay: the words of ioping are not understood yet; those of dd, bonnie++, iozone and fio are: give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record\n",
        ),
        (
            &["explain", "cp a b"],
            "assay: 'cp' is neither a tool whose words are understood nor a file; give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record\n",
        ),
        (
            &["explain", "assay probe ."],
            "assay: 'assay probe' runs no plan; give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record\n",
        ),
        (
            &["explain", "assay demo"],
            "assay: LESSON is missing; 'assay demo' lists them; write for example 'assay demo flush .'\n",
        ),
        (
            &["explain", "assay sweep --tme 9 ."],
            "assay: unknown option '--tme'; did you mean '--time'?\n",
        ),
        (
            &["explain", "none.json"],
            "assay: there is no plan or record at 'none.json'; write one with --plan or --record, or give a line such as 'dd if=... of=...'\n",
        ),
        (
            &["explain", "notes.txt"],
            "assay: 'notes.txt' holds neither a plan nor a record; give a file that --plan or --record wrote, or a line in quotes\n",
        ),
    ] {
        assert_eq!(run(folder.path(), words), (2, String::new(), says.to_string()), "{words:?}");
    }
}
