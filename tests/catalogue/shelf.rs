//! Cards that several cases use, made when the first asks for one, and what is typed at them.

use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_record::record::{Finding, MeasuredSubject, Trust};
use serde_json::{Value, json};

use crate::kernel::{self, Heard};
use crate::lab::{self, Card, KI, MI, Shape, Skip, Speed, Typed};

/// What the paced card does, bytes per second.
pub const WRITES: f64 = 8.0 * MI as f64;
pub const READS: f64 = 32.0 * MI as f64;
/// What the throttled card does. The kernel's throttle lets a tenth of a second's worth pass at once,
/// so rows that hold a figure against it move four seconds' worth.
pub const SLOW_WRITES: f64 = 4.0 * MI as f64;
pub const SLOW_READS: f64 = 16.0 * MI as f64;

thread_local! {
    static TROUBLE: Cell<bool> = const { Cell::new(false) };
}

/// Fails, and lets the case be tried again: the machine was too busy for what was asked.
pub fn busy(why: impl std::fmt::Display) -> ! {
    TROUBLE.set(true);
    panic!("{why}")
}

/// Whether a case that has failed had trouble with the machine, and not with assay.
pub fn told_of_trouble() -> bool {
    TROUBLE.replace(false)
}

/// The shared cards.
#[derive(Default)]
pub struct Shelf {
    paced: OnceCell<Card>,
    slow: OnceCell<Card>,
    fast: OnceCell<Card>,
}

impl Shelf {
    /// A card of known pace that no file shows, with nothing on it.
    pub fn paced(&self) -> Result<&Card, Skip> {
        self.paced_at(Speed::bytes(READS as u64, WRITES as u64))
    }

    /// The same at another pace.
    pub fn paced_at(&self, speed: Speed) -> Result<&Card, Skip> {
        one(&self.paced, Shape { size: 256 * MI, ..Shape::paced() }, speed)
    }

    /// A card that is slow by a limit of a control group.
    pub fn slow(&self) -> Result<&Card, Skip> {
        self.slow_at(Speed::bytes(SLOW_READS as u64, SLOW_WRITES as u64))
    }

    /// The same at another pace.
    pub fn slow_at(&self, speed: Speed) -> Result<&Card, Skip> {
        one(&self.slow, Shape { size: 256 * MI, ..Shape::sdcard() }, speed)
    }

    /// A card as fast as the machine's own disk.
    pub fn fast(&self) -> Result<&Card, Skip> {
        one(&self.fast, Shape::fast(), Speed::FREE)
    }
}

/// The card of a place on the shelf, emptied.
fn one(place: &OnceCell<Card>, shape: Shape, speed: Speed) -> Result<&Card, Skip> {
    if place.get().is_none() {
        let made = Card::new(shape)?;
        assert!(place.set(made).is_ok(), "nobody else makes it");
    }
    let Some(card) = place.get() else { unreachable!("it has just been made") };
    card.freely(|| empty(card.mount()));
    if card.speed() != speed {
        card.set_speed(speed);
    }
    Ok(card)
}

fn empty(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == "lost+found" => {}
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// What came of it; remembers when others disturbed it.
pub fn heard(heard: Heard) -> Heard {
    if heard.disturbed() {
        TROUBLE.set(true);
    }
    heard
}

/// `assay dd` with these words; `{x}` is a file on the card.
pub fn dd(card: &Card, words: &str) -> Heard {
    heard(kernel::hear(dd_typed(card, words)))
}

/// The same, not yet run.
pub fn dd_typed(card: &Card, words: &str) -> Typed {
    let file = card.path("x").display().to_string();
    let words: Vec<OsString> =
        words.split_whitespace().map(|word| word.replace("{x}", &file).into()).collect();
    lab::assay(["dd"]).words(&words).within(card.rooms())
}

/// A job of blocks on the file `x`, of which so much is used.
pub fn blocks(card: &Card, size: u64, layout: &str, words: Value) -> Value {
    let mut work = json!({
        "target": { "file": {
            "path": card.path("x"), "size": { "exactly": size }, "layout": layout,
        } },
    });
    for (word, value) in words.as_object().expect("words") {
        work[word] = value.clone();
    }
    json!({ "name": "job", "work": { "blocks": work } })
}

/// A pattern of one action, here and there or in order.
pub fn pattern(action: &str, order: &str, block: u64) -> Value {
    json!({ "mix": [{ "action": action, "weight": 1 }], "order": order, "block": { "fixed": block } })
}

/// A plan of one phase with this job.
pub fn plan(job: &Value) -> Value {
    json!({
        "title": "trap", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": [{ "name": "trap", "quiet": 400_000_000, "settle": 20_000_000_000_u64, "jobs": [job] }],
    })
}

/// Runs a job as a phase of its own.
pub fn run(card: &Card, job: &Value) -> Heard {
    run_plan(&plan(job), |typed| typed.within(card.rooms()))
}

/// Runs a plan as it is typed.
pub fn run_plan(plan: &Value, typed: impl FnOnce(Typed) -> Typed) -> Heard {
    let desk = tempfile::tempdir().expect("a folder for the plan");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("the plan can be written");
    heard(kernel::hear_own(typed(lab::run_plan(&file))))
}

/// The finding about a trap.
pub fn finding<'a>(heard: &'a Heard, trap: &str) -> &'a Finding {
    let all = &heard.verdict().findings;
    all.iter().find(|f| f.trap.name() == trap).unwrap_or_else(|| panic!("no {trap}\n{heard}"))
}

/// Reads what was read before. Some machines take pages from the cache at any time (DAMON's reclaim
/// does); what is read again then is a mixture, and is in memory for the next.
pub fn read_again(card: &Card, words: &str) -> Heard {
    let mut heard = dd(card, words);
    for _ in 0..8 {
        if heard.verdict().measures != MeasuredSubject::Mixed {
            break;
        }
        heard = dd(card, words);
    }
    from_memory(&heard);
    heard
}

/// Fails unless memory is what was measured.
pub fn from_memory(heard: &Heard) {
    if heard.verdict().measures == MeasuredSubject::Mixed {
        busy(format!("pages were forgotten meanwhile\n{heard}"));
    }
    heard.expect(Trust::Wrong, MeasuredSubject::Memory);
}

/// A program that runs beside, until it is dropped.
pub struct Beside(Child);

impl Beside {
    pub fn start(program: &Path, words: &[&str]) -> Beside {
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Beside(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display())))
    }

    /// The CPU time that it has used: fields 14 and 15 of proc_pid_stat(5).
    pub fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        let after = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: u64 = after.skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
        Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// How a verdict names it.
    pub fn named(&self, program: &str) -> String {
        format!("{program} (process {})", self.0.id())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Blocks of so many KiB.
pub const fn kib(count: u64) -> u64 {
    count * KI
}
