//! What `assay watch` shows of machines that are not here: a doctored `/proc` and `/sys`, looked at
//! twice or more. `ASSAY_BLESS=1 cargo test --test pages -- watch` writes the pages anew.

use crate::common::pages::{golden, golden_at_widths};
use assay::report::TerminalStyle;
use assay::report::watch::{WatchLines, WatchPage, WatchSummary, heading, json};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::evidence::{BlockLayer, CounterReader, Survey, SysRoot, SystemSample};
use assay_record::record::{IntervalStats, WATCH_SCHEMA};

use crate::machines::Tree;

const SATA: &str = "pci0000:00/0000:00:17.0";
const WIDE: TerminalStyle = TerminalStyle { colour: false, unicode: true, width: 90 };

/// A mirror of two disks under ext4, on a machine that tells everything.
struct Mirror(Tree);

/// What a disk has counted: reads and writes of 64 KiB, and the milliseconds that they took.
type Counts = (u64, u64, u64, u64);
/// The same at the moments at which it is looked at.
const SDA: [Counts; 4] =
    [(0, 0, 0, 0), (100, 40, 500, 200), (100, 140, 500, 1600), (100, 140, 500, 1600)];
const SDB: [Counts; 4] = [(7, 7, 9, 9), (7, 47, 9, 250), (7, 147, 9, 3450), (7, 148, 9, 4450)];

impl Mirror {
    fn new() -> Self {
        let tree = Tree::new("28 1 9:0 / / rw,relatime - ext4 /dev/md0 rw");
        let disk = |port: u32, name: &str, number: &str| {
            let disk = format!("{SATA}/ata{port}/host{port}/target/0/block/{name}");
            tree.disk(&disk, number, 1863);
            tree.file(&format!("sys/devices/{disk}/device/model"), "Platter 2000");
            disk
        };
        let (first, second) = (disk(1, "sda", "8:0"), disk(2, "sdb", "8:16"));
        tree.disk("virtual/block/md0", "9:0", 1860);
        tree.file("sys/devices/virtual/block/md0/md/level", "raid1");
        tree.slave("virtual/block/md0", &first);
        tree.slave("virtual/block/md0", &second);
        let mirror = Self(tree);
        mirror.at(0);
        mirror
    }

    /// As it is after so many seconds.
    fn at(&self, second: u64) {
        let moment = second as usize;
        self.counts("sda", SDA[moment]);
        self.counts("sdb", SDB[moment]);
        self.counts("md0", (107, 47 * second, 0, 0));
        let tree = &self.0;
        tree.file(
            "proc/meminfo",
            &format!(
                "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nDirty: {} kB\nWriteback: {} kB\nCached: 1048576 kB",
                4096 * second,
                512 * second
            ),
        );
        for (name, share) in [("io", 400_000), ("cpu", 20_000), ("memory", 0)] {
            let total = share * second;
            tree.file(&format!("proc/pressure/{name}"), &format!("some avg10=0 total={total}"));
        }
        let (user, idle, wait) = (10 * second, 100 * second, 80 * second);
        tree.file("proc/stat", &format!("cpu  {user} 0 {user} {idle} {wait} 0 0 0 0 0"));
        self.process(4711, "dd", second, second * 2_097_152);
        self.process(4712, "tar", (second / 2) << 20, 0);
        self.process(4713, "idle", 9 << 20, 9 << 20);
        self.named(4714, "somebody's");
    }

    fn counts(&self, disk: &str, (reads, writes, read_ms, write_ms): Counts) {
        let line = format!(
            "{reads} 0 {} {read_ms} {writes} 0 {} {write_ms} 1 {} {} 3 0 24 1 {writes} {writes}",
            reads * 128,
            writes * 128,
            reads * 3 + writes * 2,
            read_ms + write_ms,
        );
        self.0.file(&format!("sys/block/{disk}/stat"), &line);
    }

    fn named(&self, pid: u32, name: &str) {
        let after = "S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 77 0 0";
        self.0.file(&format!("proc/{pid}/stat"), &format!("{pid} ({name}) {after}"));
    }

    fn process(&self, pid: u32, name: &str, read: u64, write: u64) {
        self.named(pid, name);
        self.0.file(
            &format!("proc/{pid}/io"),
            &format!(
                "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: {read}\nwrite_bytes: {write}\ncancelled_write_bytes: 0"
            ),
        );
    }

    fn survey(&self) -> Survey {
        self.0.survey("/mnt/sd")
    }

    fn counter_reader(&self, layers: &[BlockLayer]) -> CounterReader {
        CounterReader::over(&SysRoot::under(self.0.0.path()), layers)
    }
}

/// The lowest devices under the path.
fn leaves(survey: &Survey) -> Vec<BlockLayer> {
    survey.leaves().map(|device| device.layer.clone()).collect()
}

/// A look at a set moment of the clock.
fn look(counter_reader: &CounterReader, second: u64) -> SystemSample {
    SystemSample { at: Timestamp(Nanos::secs(second).0), ..counter_reader.look() }
}

/// What three seconds of the mirror were.
fn three_seconds(
    mirror: &Mirror,
    layers: &[BlockLayer],
) -> (Vec<SystemSample>, Vec<IntervalStats>) {
    let counter_reader = mirror.counter_reader(layers);
    let looks: Vec<SystemSample> = (0..4)
        .map(|second| {
            mirror.at(second);
            look(&counter_reader, second)
        })
        .collect();
    let at = |second: usize| format!("2026-11-22T10:00:0{second}.250+01:00");
    let glances = looks
        .windows(2)
        .enumerate()
        .map(|(index, pair)| IntervalStats::between(layers, &pair[0], &pair[1], at(index + 1)))
        .collect();
    (looks, glances)
}

fn text(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

#[test]
fn a_line_for_each_disk_of_a_mirror_and_what_it_came_to() {
    let mirror = Mirror::new();
    let survey = mirror.survey();
    let layers = leaves(&survey);
    let (looks, glances) = three_seconds(&mirror, &layers);
    let typed = ["--count".into(), "3".into(), "/mnt/sd".into()];
    let whole = IntervalStats::between(&layers, &looks[0], &looks[3], glances[2].at.clone());
    let all = |style: TerminalStyle, log: TerminalStyle| {
        let mut all = heading(&typed, &survey, &looks[0].unseen(), style);
        let (mut lines, mut summary) = (WatchLines::default(), WatchSummary::default());
        for glance in &glances {
            all.extend(lines.of(glance, log));
            summary.add(glance);
        }
        all.push(String::new());
        all.extend(summary.lines(&whole, style));
        text(&all)
    };
    // A log has all figures in one line where nobody asks for a width.
    golden("watch", "lines", &all(WIDE, TerminalStyle { width: 1000, ..WIDE }));
    golden_at_widths("watch", |style| all(style, style));
}

#[test]
fn the_page_on_a_terminal() {
    let mirror = Mirror::new();
    let (_, glances) = three_seconds(&mirror, &leaves(&mirror.survey()));
    for (name, style) in [
        ("page", TerminalStyle { width: 80, ..WIDE }),
        ("page-ascii", TerminalStyle { width: 80, ..TerminalStyle::default() }),
    ] {
        let mut page = WatchPage::default();
        let pages: Vec<Vec<String>> = glances.iter().map(|glance| page.of(glance, style)).collect();
        for line in pages.iter().flatten() {
            assert!(line.chars().count() < 80, "{line}");
        }
        // It is drawn anew in place: only processes may come and go.
        let place = |page: &Vec<String>| page.iter().position(|line| line.contains("I/O of"));
        assert!(pages.iter().all(|page| place(page).is_some() && place(page) == place(&pages[0])));
        golden("watch", name, &text(&pages[2]));
    }
    golden_at_widths("watch-page", |style| {
        let mut page = WatchPage::default();
        let pages: Vec<Vec<String>> = glances.iter().map(|glance| page.of(glance, style)).collect();
        text(&pages[2])
    });
}

#[test]
fn names_of_columns_come_again() {
    let mirror = Mirror::new();
    let (_, glances) = three_seconds(&mirror, &leaves(&mirror.survey()));
    let mut lines = WatchLines::default();
    let count = |lines: Vec<String>| lines.iter().filter(|line| line.contains("busy%")).count();
    let heads: usize = (0..41).map(|_| count(lines.of(&glances[0], WIDE))).sum();
    assert_eq!(heads, 3);
}

#[test]
fn the_whole_stack_says_which_devices_are_the_lowest() {
    let mirror = Mirror::new();
    let survey = mirror.survey();
    let layers: Vec<BlockLayer> = survey.devices().map(|device| device.layer.clone()).collect();
    let (_, glances) = three_seconds(&mirror, &layers);
    let devices: Vec<_> =
        glances[0].devices.iter().map(|device| (device.name.as_str(), device.leaf)).collect();
    assert_eq!(devices, [("md0", false), ("sda", true), ("sdb", true)]);
}

#[test]
fn json_is_one_line_that_obeys_its_schema() {
    let mirror = Mirror::new();
    let (_, glances) = three_seconds(&mirror, &leaves(&mirror.survey()));
    let schema = serde_json::to_value(schemars::schema_for!(IntervalStats)).expect("json");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for glance in &glances {
        let mut line = Vec::new();
        json(glance, &mut line).expect("json");
        let line = String::from_utf8(line).expect("text");
        assert_eq!((line.lines().count(), line.ends_with('\n')), (1, true));
        let value = serde_json::from_str(&line).expect("json");
        let errors: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert_eq!(serde_json::from_value::<IntervalStats>(value).expect("a glance"), *glance);
        assert_eq!(glance.schema, WATCH_SCHEMA);
    }
}

#[test]
fn what_can_not_be_seen_is_said_and_no_figure() {
    let mirror = Mirror::new();
    let tree = &mirror.0;
    let root = tree.0.path();
    std::fs::remove_dir_all(root.join("proc/pressure")).expect("removed");
    for pid in 4711..=4713 {
        std::fs::remove_file(root.join(format!("proc/{pid}/io"))).expect("removed");
    }
    std::fs::remove_file(root.join("sys/block/sdb/stat")).expect("removed");
    let survey = mirror.survey();
    let layers = leaves(&survey);
    let counter_reader = mirror.counter_reader(&layers);
    let (before, after) = (look(&counter_reader, 0), look(&counter_reader, 1));
    let glance =
        IntervalStats::between(&layers, &before, &after, "2026-11-22T10:00:01.250+01:00".into());
    let mut all = heading(&["/mnt/sd".into()], &survey, &before.unseen(), WIDE);
    all.extend(WatchLines::default().of(&glance, WIDE));
    all.push(String::new());
    all.extend(WatchPage::default().of(&glance, WIDE));
    let mut summary = WatchSummary::default();
    summary.add(&glance);
    all.push(String::new());
    all.extend(summary.lines(&glance, WIDE));
    golden("watch", "unseen", &text(&all));
}
