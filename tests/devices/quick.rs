//! `assay quick` on devices of known speed: the figures, the verdict, and nothing left behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_record::record::{Ending, MeasuredSubject, Record, Trust};

use crate::kernel::{self, Heard, at_once, cards, hear_own, names, rate, told};
use crate::lab::{self, Card, Fs, MI, Shape};

const WRITES: f64 = 4.0 * MI as f64;
const READS: f64 = 16.0 * MI as f64;

/// What is below a folder, but for the file system's own.
fn below(folder: &Path) -> Vec<String> {
    names(folder)
        .into_iter()
        .filter_map(|(path, _)| Some(path.strip_prefix(folder).ok()?.display().to_string()))
        .filter(|name| !name.starts_with("lost+found"))
        .collect()
}

fn figures(heard: &Heard) {
    for phase in &heard.record.phases {
        let verdict = phase.verdict.as_ref().expect("judged");
        told(
            &phase.name,
            format_args!(
                "read {:?} write {:?} {} {}",
                rate(phase, Action::Read).map(f64::round),
                rate(phase, Action::Write).map(f64::round),
                verdict.trust.name(),
                verdict.measures.name()
            ),
        );
    }
}

#[test]
fn cards_of_every_kind() {
    {
        let _beside = lab::beside();
        at_once(cards(), without_any_option);
    }
    // They say that nobody else uses the disk below: one at a time, nobody does.
    let _alone = lab::alone();
    [Shape::btrfs(), Shape::xfs()].into_iter().for_each(another_file_system);
}

fn without_any_option((shape, pace): (Shape, MeasuredSubject)) {
    let card = lab::need!(Card::new(shape));
    for left in (0..3).rev() {
        let heard = hear_own(lab::assay(["quick"]).word(card.mount()).within(card.rooms()));
        figures(&heard);
        let write = rate(heard.named("seq-write"), Action::Write).expect("a rate") / WRITES;
        let read = rate(heard.named("seq-read"), Action::Read).expect("a rate") / READS;
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
        // Each of them is busy beside the others.
        let unsound = heard.verdict().trust != Trust::Sound;
        if left > 0 && (write < 0.97 || read < 0.97 || unsound) {
            told("again", &heard);
            continue;
        }
        told("within the true speed", format_args!("{write:.4} {read:.4}"));
        assert!((0.97..1.03).contains(&write), "{heard}");
        assert!((0.97..1.03).contains(&read), "{heard}");
        assert!(heard.ran.wall < Duration::from_secs(60), "{heard}");
        assert_eq!(heard.record.phases.len(), 6);
        // Three times others had the machine, and the verdict says so.
        if heard.disturbed() {
            told("SKIP the verdict of the whole", "others had the processors or the disk");
        } else {
            heard.expect(Trust::Sound, pace);
            assert_eq!(heard.ran.code(), 0, "{heard}");
        }
        for name in ["seq-write", "seq-read"] {
            let verdict = heard.named(name).verdict.as_ref().expect("judged");
            assert_eq!((verdict.trust, verdict.measures), (Trust::Sound, pace), "{heard}");
        }
        break;
    }
}

fn another_file_system(shape: Shape) {
    let card = lab::need!(Card::new(shape.clone()));
    let heard =
        hear_own(lab::assay(["quick", "--time", "18"]).word(card.mount()).within(card.rooms()));
    told(shape.name, "");
    figures(&heard);
    let write = rate(heard.named("seq-write"), Action::Write).expect("a rate") / WRITES;
    let read = rate(heard.named("seq-read"), Action::Read).expect("a rate") / READS;
    assert!((0.90..1.06).contains(&write), "{heard}");
    assert!((0.90..1.06).contains(&read), "{heard}");
    for name in ["seq-write", "seq-read"] {
        let verdict = heard.named(name).verdict.as_ref().expect("judged");
        assert_eq!(verdict.trust, Trust::Sound, "{name}\n{heard}");
    }
    // Nobody else was there, whatever a file system writes of its own records.
    assert!(!heard.found("T48"), "{heard}");
    assert!(!heard.found("T31"), "{}{heard}", moved(&heard));
    assert_eq!(below(card.mount()), Vec::<String>::new());
}

/// What the counters of each device were before each phase, and when its clock stopped.
fn moved(heard: &Heard) -> String {
    let mut text = String::new();
    for phase in &heard.record.phases {
        let (before, stop) = (&phase.evidence.before.devices, &phase.evidence.stop.devices);
        text.push_str(&format!("{}: {before:?}\n{stop:?}\n", phase.name));
    }
    text
}

#[test]
fn memory_is_no_disk() {
    let _alone = lab::alone();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let heard = hear_own(lab::assay(["quick", "--quick"]).word(tmpfs.mount()));
    figures(&heard);
    heard.expect(Trust::Wrong, MeasuredSubject::NotADisk);
    assert_eq!(heard.ran.code(), 3, "{heard}");
    assert_eq!(below(tmpfs.mount()), Vec::<String>::new());
}

#[test]
fn files_and_devices_are_read_and_stay_as_they_were() {
    let _alone = lab::alone();
    let card = lab::need!(Card::sdcard());
    let file = kernel::put(&card, "film", 40 * MI);
    let content = fs::read(&file).unwrap();
    let heard = hear_own(lab::assay(["quick", "--quick"]).word(&file).within(card.rooms()));
    figures(&heard);
    assert!(heard.record.phases.iter().all(|phase| !phase.totals.contains_key(&Action::Write)));
    let read = rate(heard.named("seq-read"), Action::Read).expect("a rate") / READS;
    // A second and a half, of which the throttle gives a tenth of a second for nothing.
    assert!((0.95..1.10).contains(&read), "{read} {heard}");
    let measures = heard.named("seq-read").verdict.as_ref().expect("judged").measures;
    assert_eq!(measures, MeasuredSubject::Limited, "{heard}");
    assert!(fs::read(&file).unwrap() == content, "the file was changed");

    // The device below, mounted: reading is allowed, writing never. On a card of which every block
    // is there, for a loop device over blocks that were never written reads nothing.
    drop(card);
    let card = lab::need!(Card::paced());
    let file = kernel::put(&card, "film", 8 * MI);
    let content = fs::read(&file).unwrap();
    let before = card.leaf();
    let heard = hear_own(lab::assay(["quick", "--quick"]).word(card.device()).within(card.rooms()));
    figures(&heard);
    assert!((card.leaf() - before).write_bytes < MI, "{heard}");
    assert!(heard.verdict().trust == Trust::Sound || heard.disturbed(), "{heard}");
    let refused = lab::assay(["quick", "--quick"]).word(card.device()).word(card.device()).run();
    told("mounted", &refused);
    assert_eq!(refused.code(), 2, "{refused}");
    assert_eq!(refused.stderr.lines().count(), 1, "{refused}");
    assert!(fs::read(&file).unwrap() == content, "the file was changed");
}

#[test]
fn a_device_is_written_only_when_it_holds_nothing() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape { fs: Fs::Raw, size: 64 * MI, ..Shape::paced() }));
    let device = card.device();
    let read = |len: usize| {
        use std::io::Read as _;
        let mut bytes = vec![0; len];
        fs::File::open(device).and_then(|mut file| file.read_exact(&mut bytes)).unwrap();
        bytes
    };
    let again = || lab::assay(["quick", "--quick"]).word(device).word(device).within(card.rooms());
    let heard = hear_own(again());
    figures(&heard);
    assert_eq!(heard.record.phases.len(), 6, "{heard}");
    assert!(read(1 << 20).iter().any(|byte| *byte != 0), "nothing was written");
    let write = rate(heard.named("seq-write"), Action::Write).expect("a rate") / WRITES;
    assert!((0.90..1.10).contains(&write), "{heard}");

    // Somebody's file system, not mounted: refused, and not a byte changed.
    for tool in ["mkfs.ext4", "mkswap"] {
        let made =
            Command::new(tool).arg(device).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !made.is_ok_and(|status| status.success()) {
            told("skipped", tool);
            continue;
        }
        let before = read(2 << 20);
        let refused = again().run();
        told(tool, &refused);
        assert_eq!((refused.code(), refused.stderr.lines().count()), (2, 1), "{refused}");
        assert!(read(2 << 20) == before, "{tool}: it was written");
    }
}

#[test]
fn the_record_keeps_to_its_schema() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let schema = lab::assay(["schema"]).run().expect(0);
    let schema: serde_json::Value = serde_json::from_str(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let typed = lab::assay(["quick", "--quick", "--json"]).word(card.mount());
    let ran = typed.within(card.rooms()).run();
    let record: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    let wrong: Vec<String> = validator.iter_errors(&record).map(|e| e.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new());
    let record: Record = serde_json::from_value(record).expect("a record");
    assert_eq!((record.phases.len(), &record.ending), (6, &Ending::Complete));
}

/// quick, started and not yet waited for; its output goes to files.
struct Going {
    child: Child,
    desk: tempfile::TempDir,
    began: Instant,
}

impl Going {
    fn start(folder: &Path, card: &Card) -> Going {
        let desk = tempfile::tempdir().expect("a folder");
        let open = |name: &str| fs::File::create(desk.path().join(name)).expect("a file");
        let mut command = card.command(env!("CARGO_BIN_EXE_assay"));
        command.arg("quick").arg(folder).arg("--record").arg(desk.path().join("record.json"));
        command.stdin(Stdio::null()).stdout(open("out")).stderr(open("err"));
        Going { child: command.spawn().expect("it runs"), desk, began: Instant::now() }
    }

    fn record(&self) -> Option<Record> {
        assay_record::record::load(&self.desk.path().join("record.json")).ok()
    }

    /// Waits until so many phases are in the record.
    fn until_phases(&self, phases: usize) -> Record {
        loop {
            if let Some(record) = self.record().filter(|record| record.phases.len() >= phases) {
                return record;
            }
            assert!(
                self.began.elapsed() < Duration::from_secs(60),
                "no {phases} phases\n{}{}",
                self.text("out"),
                self.text("err")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn signal(&self, signal: i32) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let signal = rustix::process::Signal::from_named_raw(signal).expect("a signal");
        rustix::process::kill_process(pid, signal).expect("sent");
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.desk.path().join(name)).expect("its output")
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The part of a killed run's record that was kept off the disk which it measured.
        if let Some(record) = self.record() {
            let _ = fs::remove_file(format!("/dev/shm/assay-{}.journal", record.run));
        }
    }
}

#[test]
fn a_killed_run_leaves_its_record_and_no_file() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape { speed: lab::Speed::FREE, ..Shape::fast() }));
    let mut going = Going::start(card.mount(), &card);
    let one = going.until_phases(1);
    assert_eq!(one.ending, Ending::Unfinished);
    going.until_phases(2);
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    let left = going.record().expect("a record");
    assert!(left.phases.len() >= 2 && left.phases[0].verdict.is_some());
    assert_eq!(left.ending, Ending::Unfinished);
    let judged = lab::assay(["judge"]).word(going.desk.path().join("record.json")).run();
    assert!(judged.stdout.contains("seq-write"), "{judged}");
    // No file has a name, or the next run removes it.
    told("left behind", format_args!("{:?}", below(card.mount())));
    let next = lab::assay(["quick", "--quick"]).word(card.mount()).run();
    assert_eq!(below(card.mount()), Vec::<String>::new(), "{next}");
}

/// Where files must have names, what a killed run leaves goes with the next one.
#[test]
fn a_leftover_goes_with_the_next_run() {
    let _beside = lab::beside();
    let card = lab::need!(Card::fast());
    let faulty = lab::need!(lab::FaultyFuse::new(lab::Faults::default()));
    let mut going = Going::start(faulty.mount(), &card);
    going.until_phases(1);
    let named = below(faulty.mount());
    told("while it runs", format_args!("{named:?}"));
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    let next = lab::assay(["quick", "--quick"]).word(faulty.mount()).run();
    assert_eq!(below(faulty.mount()), Vec::<String>::new(), "{next}");
}

#[test]
fn ctrl_c_keeps_what_there_is() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    for phases in [0, 1] {
        let mut going = Going::start(card.mount(), &card);
        going.until_phases(phases);
        std::thread::sleep(Duration::from_millis(1500));
        going.signal(2);
        let asked = Instant::now();
        let status = going.child.wait().unwrap();
        let (out, err) = (going.text("out"), going.text("err"));
        told("ended after", format_args!("{:?}\n{out}{err}", asked.elapsed()));
        assert_eq!(status.code(), Some(130), "{out}{err}");
        assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
        let record = going.record().expect("a record");
        assert_eq!(record.ending, Ending::Interrupted(2));
        assert_eq!(record.phases.len(), phases + 1);
        assert!(out.contains("seq-write"), "{out}{err}");
        assert_eq!(below(card.mount()), Vec::<String>::new());
    }
}
