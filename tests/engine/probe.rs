//! `assay probe` on devices that are really there: the whole output, and nothing touched.
//!
//! A lab device lies on a file of this machine's own disk. What is said of that disk is left out,
//! and figures that differ between machines are `#`.

use std::fs;
use std::path::Path;

use assay_plan::unit::Bytes;
use assay_record::evidence::{SysRoot, Throttle};
use assay_record::record::{PROBE_SCHEMA, ProbeResult};

use crate::kernel;
use crate::lab::{self, Card, Fs, MI, Memory, Overlay, Shape, Typed};

/// The page in paragraphs: each label, device or trap with all of its lines, blanks made one.
fn paragraphs(page: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in page.lines().filter(|line| !line.trim().is_empty()) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let named = indent == 11 && text.split(' ').next().is_some_and(|word| word.ends_with(':'));
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match all.last_mut() {
            Some(last) if indent > 2 && !named && !text.starts_with(['└', '├', '`', '|']) => {
                last.push(' ');
                last.push_str(&words);
            }
            _ => all.push(words),
        }
    }
    all
}

/// Whether a paragraph speaks of the disk below an image, or of what only this machine has.
fn of_this_machine(text: &str, host: &[String]) -> bool {
    let words = |c: char| !(c.is_alphanumeric() || "-/_.".contains(c));
    let hosts = host.iter().any(|name| match name.starts_with('/') {
        true => text.ends_with(&format!(" at {name}")) || text.contains(&format!(" at {name} ")),
        false => text.split(words).any(|word| word == name),
    });
    let only_here = ["machine Linux", "T21", "T32 note Control groups", "T35", "T52", "T56"];
    hosts
        || only_here.iter().any(|start| text.starts_with(start))
        || text.contains("cpufreq: shows")
        || text.contains("heat: neither")
        || text.contains("this process: ")
}

/// Figures that differ between machines, each with its unit, as `#`.
fn masked(text: &str) -> String {
    let differs = ["space ", "dirty ", "T02 ", "T06 note Data", "sectors ", "queue ", "cache "];
    if !differs.iter().any(|start| text.starts_with(start)) {
        return text.into();
    }
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches(',');
        let unit = matches!(bare, "B" | "KiB" | "MiB" | "GiB" | "TiB" | "ms" | "s");
        let figure = word.starts_with(|c: char| c.is_ascii_digit()) || word.starts_with("(dirty_");
        match words.last_mut() {
            Some(last) if unit && last == "#" => last.push_str(&word[bare.len()..]),
            _ if figure => words.push("#".into()),
            _ => words.push(word.into()),
        }
    }
    words.join(" ")
}

/// What it prints, without what is this machine's.
fn said(typed: Typed, renamed: &[(&str, &str)], host: &[String]) -> String {
    let ran = typed.env("LC_ALL", "C.UTF-8").run().expect(0);
    assert_eq!(ran.stderr, "", "{ran}");
    tidied(&ran.stdout, renamed, host)
}

fn tidied(page: &str, renamed: &[(&str, &str)], host: &[String]) -> String {
    let kept: Vec<String> = paragraphs(page)
        .into_iter()
        .filter(|text| !of_this_machine(text, host))
        .map(|text| renamed.iter().fold(masked(&text), |text, (from, to)| text.replace(from, to)))
        .collect();
    kept.join("\n") + "\n"
}

/// Devices and mount points below a path of this machine.
fn host_of(path: &Path) -> Vec<String> {
    let survey = SysRoot::default().survey(path);
    let devices = survey.devices().map(|device| device.layer.name.clone());
    devices.chain(survey.mounts().map(|mount| mount.point.clone())).collect()
}

/// A card with what is known of it from the kernel.
struct Known {
    card: Card,
    image: String,
    name: String,
}

impl Known {
    fn new(shape: Shape) -> Result<Self, lab::Skip> {
        let card = Card::new(shape)?;
        let name = card.leaf_name();
        let image = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"))
            .expect("a loop device has a file");
        Ok(Self { image: image.trim().into(), name, card })
    }

    /// The page for a path, with the names of this card made the same on all machines.
    fn said(&self, path: impl AsRef<Path>) -> String {
        let typed = lab::assay(["probe"]).word(path.as_ref()).within(self.card.rooms());
        let mount = match self.card.shape().fs {
            Fs::Raw => "/nowhere".into(),
            _ => self.card.mount().display().to_string(),
        };
        let renamed = [(&*mount, "/mnt/sd"), (&*self.image, "/sd.img"), (&*self.name, "loop0")];
        let host = host_of(Path::new(&self.image).parent().expect("a folder"));
        said(typed, &renamed, &host)
    }

    /// The limit on this card, of version 1 or 2 of control groups.
    fn throttle(&self, way: &str) -> Throttle {
        let survey = SysRoot::default().survey(self.card.device());
        let limits = survey.limits.seen().expect("limits").io.clone();
        let wanted =
            |throttle: &Throttle| format!("{:?}", throttle.direction).to_lowercase() == way;
        limits.into_iter().find(wanted).expect("a throttle")
    }

    /// What lifts it.
    fn lifted(&self, way: &str) -> String {
        let Throttle { file, device, .. } = self.throttle(way);
        let none = match (file.ends_with("io.max"), way) {
            (false, _) => "0",
            (true, "read") => "rbps=max",
            (true, _) => "wbps=max",
        };
        format!("echo '{}:{} {none}' | sudo tee {file}", device.major, device.minor)
    }
}

const SETTINGS: &str = "\
dirty writeback starts at # or after #, writers are throttled at # #
";

const BUFFERED: &str = "\
T02 note Without a flush, up to # of a write stays in dirty pages: smaller writes measure only memory. → assay quick /mnt/sd
";

const AGAIN: &str = "\
T06 note Data just written or read is read back from the page cache, up to the # of the machine. → assay quick /mnt/sd
";

const CHECKSUMS: &str = "\
T19 note btrfs at /mnt/sd keeps checksums, so direct writes go through the page cache. → assay quick /mnt/sd
";

/// Linux 6.14 or later, on which btrfs does so.
fn direct_writes_are_summed() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(14))
}

/// The queue of a device as the page has it, with `#` for figures.
fn queue(name: &str) -> String {
    let line = |file: &str| {
        fs::read_to_string(format!("/sys/block/{name}/queue/{file}")).unwrap_or_default()
    };
    let schedulers = line("scheduler");
    let active = schedulers.split(['[', ']']).nth(1).unwrap_or("none").to_string();
    let throttled: u64 = line("wbt_lat_usec").trim().parse().unwrap_or(0);
    let wbt = if throttled > 0 { ", writeback throttled at #" } else { "" };
    format!(
        "queue loop0: scheduler {active}, # requests, each at most #, read-ahead #{wbt}\n\
         sectors loop0: # logical, # physical\n\
         cache loop0: write back, volatile until flushed{}\n",
        if line("discard_max_bytes").trim() == "0" { "" } else { ", discard supported" },
    )
}

/// The memory group of the machine that tests, which may be smaller than its memory.
fn group_has_a_limit() -> bool {
    let survey = SysRoot::default().survey(Path::new("/"));
    survey.limits.seen().is_none_or(|limits| limits.memory.is_some())
}

fn again() -> &'static str {
    match group_has_a_limit() {
        true => {
            "T06 note Data just written or read is read back from the page cache, up to the # of its cgroup. → assay quick /mnt/sd\n"
        }
        false => AGAIN,
    }
}

#[test]
fn a_card_behind_a_throttle() {
    let known = lab::need!(Known::new(Shape::sdcard()));
    known.card.flush();
    let before = known.card.leaf();
    let is = known.said(known.card.mount());
    let (queue, again) = (queue(&known.name), again());
    let reads = known.throttle("read").file;
    let (lift_reads, lift_writes) = (known.lifted("read"), known.lifted("write"));
    let folder = reads.rsplit_once('/').expect("a folder").0;
    let expected = format!(
        "\
/mnt/sd folder · this user may read and write it
└─ ext4 at /mnt/sd relatime
└─ loop0 loop device over /sd.img, past its page cache · 128 MiB
space # free of #, # inodes free of # blocks of #
{queue}{SETTINGS}limited loop0: reads at most 16.8 MB/s, writes at most 4.19 MB/s (cgroup {folder})
unseen direct I/O: only a test file would show it, and a run makes one
Things that can skew results here:
T32 note A cgroup limits reads from loop0 to 16.8 MB/s: results will show that limit. → {lift_reads}
T32 note A cgroup limits writes to loop0 to 4.19 MB/s: results will show that limit. → {lift_writes}
{BUFFERED}{again}next assay quick /mnt/sd
"
    );
    assert_eq!(is, expected);
    let after = known.card.leaf();
    assert_eq!(
        (before.read_bytes, before.write_bytes),
        (after.read_bytes, after.write_bytes),
        "something was read or written"
    );
}

#[test]
fn a_file_that_is_not_there_yet() {
    let known = lab::need!(Known::new(Shape::fast()));
    let is = known.said(known.card.path("not/yet"));
    let (queue, again) = (queue(&known.name), again());
    let expected = format!(
        "\
/mnt/sd/not/yet does not exist yet, judged by /mnt/sd · this user may read and write there
└─ ext4 at /mnt/sd relatime
└─ loop0 loop device over /sd.img, past its page cache · 256 MiB
space # free of #, # inodes free of # blocks of #
{queue}{SETTINGS}unseen direct I/O: only a test file would show it, and a run makes one
Things that can skew results here:
{BUFFERED}{again}next assay quick /mnt/sd
"
    );
    assert_eq!(is, expected);
    assert_eq!(
        kernel::names(known.card.mount()).len(),
        1,
        "lost+found is all there is: {:?}",
        kernel::names(known.card.mount())
    );
}

#[test]
fn a_file_that_was_only_allocated() {
    let known = lab::need!(Known::new(Shape::fast()));
    let holes = known.card.holes(8 * MI);
    let is = known.said(&holes.unwritten);
    let of_file =
        |text: &&str| ["file", "direct", "T23", "next"].iter().any(|s| text.starts_with(s));
    let about: Vec<&str> = is.lines().filter(of_file).collect();
    assert_eq!(
        about,
        [
            "file 1 extent, 8 MiB never written, not in the page cache",
            "direct in multiples of 512 B, from memory aligned to 512 B",
            "T23 doubtful 100 % of the file was never written (holes): reads there return zeros without disk I/O. → assay quick /mnt/sd",
            "next assay quick /mnt/sd/unwritten.bin",
        ],
        "{is}"
    );
}

#[test]
fn a_compressing_file_system() {
    let known = lab::need!(Known::new(Shape::compress()));
    let is = known.said(known.card.mount());
    let reads = known.throttle("read").file;
    let (lift_reads, lift_writes) = (known.lifted("read"), known.lifted("write"));
    let folder = reads.rsplit_once('/').expect("a folder").0;
    let (queue, again) = (queue(&known.name), again());
    let checksums = if direct_writes_are_summed() { CHECKSUMS } else { "" };
    let expected = format!(
        "\
/mnt/sd folder · this user may read and write it
└─ btrfs at /mnt/sd compress-force=zstd:1, discard=async · relatime
└─ loop0 loop device over /sd.img, past its page cache · 256 MiB
space # free of #, blocks of #
{queue}{SETTINGS}limited loop0: reads at most 16.8 MB/s, writes at most 4.19 MB/s (cgroup {folder})
unseen direct I/O: only a test file would show it, and a run makes one
Things that can skew results here:
T25 doubtful btrfs at /mnt/sd compresses (compress-force=zstd:1): for zeros and repeated data the disk writes fewer bytes. → assay quick /mnt/sd
T32 note A cgroup limits reads from loop0 to 16.8 MB/s: results will show that limit. → {lift_reads}
T32 note A cgroup limits writes to loop0 to 4.19 MB/s: results will show that limit. → {lift_writes}
{BUFFERED}{again}{checksums}T40 note btrfs at /mnt/sd uses online discard (discard=async): deleting files slows down the I/O that follows.
next assay quick /mnt/sd
"
    );
    assert_eq!(is, expected);
}

#[test]
fn a_bare_block_device() {
    let known = lab::need!(Known::new(Shape { speed: lab::Speed::FREE, ..Shape::rawsd() }));
    let is = known.said(known.card.device());
    // A device is written only when it is named: there is no line to paste.
    let (queue, again) = (queue(&known.name), again().replace(" → assay quick /mnt/sd", ""));
    let expected = format!(
        "\
/dev/loop0 block device · this user may read and write it
└─ loop0 loop device over /sd.img, past its page cache · 64 MiB
direct in multiples of 512 B, from memory aligned to 512 B
{queue}{SETTINGS}Things that can skew results here:
{again}next assay quick /dev/loop0
"
    );
    assert_eq!(is, expected);
}

#[test]
fn memory() {
    let tmpfs = lab::need!(Memory::tmpfs());
    let mount = tmpfs.mount().display().to_string();
    let is = said(lab::assay(["probe"]).word(&mount), &[(&mount, "/mnt/sd")], &[]);
    assert_eq!(
        is,
        "\
/mnt/sd folder · this user may read and write it
└─ tmpfs at /mnt/sd source assay-lab · relatime
space # free of #, # inodes free of # blocks of #
Things that can skew results here:
T29 wrong Results here are the speed of memory: /mnt/sd is on tmpfs, with no disk below it.
next df -hT
"
    );
}

#[test]
fn an_overlay_on_memory() {
    let overlay = lab::need!(Overlay::on_tmpfs());
    let mount = overlay.mount().display().to_string();
    let pool = overlay.mount().with_file_name("pool").display().to_string();
    let renamed = [(&*mount, "/mnt/sd"), (&*pool, "/pool")];
    let is = said(lab::assay(["probe"]).word(&mount), &renamed, &[]);
    assert_eq!(
        is,
        "\
/mnt/sd folder · this user may read and write it
└─ overlay at /mnt/sd source assay-lab · relatime
└─ tmpfs at /pool source assay-lab · relatime
space # free of #, # inodes free of # blocks of #
Things that can skew results here:
T29 wrong Results here are the speed of memory: /mnt/sd is on overlay on tmpfs, with no disk below it.
next df -hT
"
    );
}

#[test]
fn a_path_that_this_user_may_not_look_at() {
    let known = lab::need!(Known::new(Shape::fast()));
    let secret = known.card.path("secret");
    fs::create_dir(&secret).expect("made");
    fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("closed");
    let place = lab::folder("program");
    let typed = lab::assay(["probe"]).word(secret.join("inner")).env("LC_ALL", "C.UTF-8");
    let ran = lab::need!(typed.by_nobody(&place)).run().expect(0);
    assert_eq!(ran.stderr, "", "{ran}");
    let out = ran.stdout;
    let mount = known.card.mount().display().to_string();
    let renamed = [(&*mount, "/mnt/sd"), (&*known.image, "/sd.img"), (&*known.name, "loop0")];
    let host = host_of(Path::new(&known.image).parent().expect("a folder"));
    let is = tidied(&out, &renamed, &host);
    let below =
        |text: &str| text.replace("→ assay quick /mnt/sd", "→ sudo assay quick /mnt/sd/secret");
    let (queue, again, buffered) = (queue(&known.name), below(again()), below(BUFFERED));
    let expected = format!(
        "\
/mnt/sd/secret/inner not accessible to this user, judged by /mnt/sd/secret
└─ ext4 at /mnt/sd relatime
└─ loop0 loop device over /sd.img, past its page cache · 256 MiB
space # free of #, # inodes free of # blocks of #
{queue}{SETTINGS}unseen statx: Permission denied (EACCES) direct I/O: only a test file would show it, and a run makes one
Things that can skew results here:
{buffered}{again}next sudo assay probe /mnt/sd/secret/inner
"
    );
    assert_eq!(is, expected);
}

#[test]
fn the_same_as_json() {
    let known = lab::need!(Known::new(Shape::dcache()));
    let typed = lab::assay(["probe", "--json"]).word(known.card.mount());
    let ran = typed.within(known.card.rooms()).run().expect(0);
    let probe: ProbeResult = serde_json::from_str(&ran.stdout).expect("a probe");
    assert_eq!(probe.schema, PROBE_SCHEMA);
    let leaf = probe.survey.devices().next().expect("a device");
    assert_eq!((&leaf.layer.name, leaf.layer.size.seen()), (&known.name, Some(&Bytes::mib(256))));
    // Its image is cached a second time.
    let cached = probe.findings.iter().find(|found| found.trap.name() == "T30").expect("T30");
    assert!(cached.text().contains(&known.image), "{}", cached.text());
    let schema = lab::assay(["schema", "probe"]).run().expect(0);
    assert!(schema.stdout.contains("\"title\": \"Probe\""), "{schema}");
}

#[test]
fn words_that_make_no_sense() {
    for (words, said) in [
        (
            vec!["probe"],
            "assay: PATH is missing; name a folder on the device, a file, or a block device\n  assay probe .\n",
        ),
        (vec!["probe", ".", " x"], "assay: unknown argument ' x'; see 'assay probe --help'\n"),
        (
            vec!["probe", "--record", "."],
            "assay: unknown option '--record'; see 'assay probe --help'\n",
        ),
    ] {
        let ran = lab::assay(words).run().expect(2);
        assert_eq!((&*ran.stdout, &*ran.stderr), ("", said), "{ran}");
    }
    for (path, said) in [
        ("", "assay: 'PATH' needs a value; see 'assay probe --help'\n"),
        (
            "Cargo.toml/x",
            "assay: 'Cargo.toml/x' cannot be there: what is above it is no folder; name a folder, a file, a block device, or something that is not there yet\n",
        ),
    ] {
        let ran = lab::assay(["probe", path]).cwd(env!("CARGO_MANIFEST_DIR")).run().expect(2);
        assert_eq!((&*ran.stdout, &*ran.stderr), ("", said), "{ran}");
    }
}
