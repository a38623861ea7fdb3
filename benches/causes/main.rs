//! A bench of causes: what makes a storage number mislead, made on real devices, with assay beside it: `make causes`.
//!
//! Of each cause the truth is known from the way it was made: what held the run for the largest part of its
//! time, whether the number is the device's or a limit's, and what the device really does. A row says what assay
//! made of it. Beside them stand figures of memory, whose corrections must be the device's, and honest runs over file
//! systems, devices and tools: none of those may be called wrong. A word after the command keeps to the rows whose
//! names hold it: `make causes CAUSES=stopped`. `KEEP=FOLDER` keeps all records, numbered. Needs root; takes half an
//! hour.

use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::Value;

mod corrections;
mod devices;
mod files;
mod held;
mod honest;
mod matrix;
mod others;
mod programs;
mod scene;

use assay_testing::lab;

use corrections::Deferred;
use lab::{Shape, Skip};
use scene::{About, Scene, Tried};

/// At least so many of the largest terms are right.
const RIGHT: f64 = 0.95;

/// So many honest runs may be doubtful, of all.
const DOUBTFUL: usize = 2;

/// A corrected figure is so near to the truth.
const NEAR: f64 = 0.03;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let only = words.next().unwrap_or_default();
    if only == scene::SERVE {
        scene::serve();
        return ExitCode::SUCCESS;
    }
    // On a busy machine this session comes before the others, so that only a scene keeps a run from a CPU.
    // Nothing is lost where that cannot be had.
    let _ = std::fs::write("/proc/self/autogroup", "-15");
    let mut tally = Tally::default();
    println!("{:44} {:30} {:44} right", "cause", "wanted", "got");
    let lists = [held::SCENES, others::SCENES, programs::SCENES, files::SCENES, devices::SCENES];
    for scene in lists.into_iter().flatten().filter(|scene| scene.name.contains(&only)) {
        tally.cause(scene);
    }
    println!("\n{:44} {:30} {:44} right", "figure of memory", "wanted", "got");
    for card in corrections::CARDS {
        for run in corrections::RUNS {
            let name = format!("{}: {}", card.name, run.name);
            if name.contains(&only) {
                tally.correction(&name, card, run);
            }
        }
    }
    println!("\n{:44} {:30} {:44} right", "honest run", "wanted", "got");
    for scene in honest::SCENES.iter().filter(|scene| scene.name.contains(&only)) {
        tally.honest(scene.name, scene.made, false, scene.play);
    }
    for place in matrix::PLACES {
        for work in matrix::WORKS.iter().filter(|work| work.fits(place)) {
            let name = format!("{}: {}", place.name, work.name);
            if name.contains(&only) {
                tally.honest(&name, place.made, place.memory, || work.play(place));
            }
        }
    }
    tally.print();
    if tally.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the rows came to.
#[derive(Default)]
struct Tally {
    causes: usize,
    terms: usize,
    right_terms: usize,
    praised: Vec<String>,
    corrected: usize,
    right_corrected: usize,
    honest: usize,
    accused: Vec<String>,
    doubtful: Vec<String>,
    left_out: Vec<String>,
}

impl Tally {
    /// Tries one, unless this machine cannot.
    fn tried<T>(&mut self, name: &str, play: impl FnOnce() -> Result<T, Skip>) -> Option<(T, f64)> {
        let _alone = lab::alone();
        let began = Instant::now();
        match play() {
            Ok(tried) => Some((tried, began.elapsed().as_secs_f64())),
            Err(skip) => {
                println!("{name:44} left out: {skip}");
                self.left_out.push(name.into());
                None
            }
        }
    }

    fn cause(&mut self, scene: &Scene) {
        let Some((tried, took)) = self.tried(scene.name, scene.play) else { return };
        let (seen, truth) = (Seen::of(&tried), &tried.truth);
        self.causes += 1;
        let term = truth.largest.is_empty() || truth.largest.contains(&seen.largest.as_str());
        if !truth.largest.is_empty() {
            self.terms += 1;
            self.right_terms += usize::from(term);
        }
        let praised = seen.trust == "sound" && !truth.about.is_said_by(&seen.measures);
        if praised {
            self.praised.push(scene.name.into());
        }
        let mut wrong = Vec::new();
        if !term {
            wrong.push("term");
        }
        if praised {
            wrong.push("sound");
        }
        let corrected = seen.corrected.zip(truth.rate).map(|(it, rate)| Correction { it, rate });
        if corrected.is_some_and(|corrected| !self.corrects(corrected)) {
            wrong.push("corrected");
        }
        let wanted = format!("{} · {}", truth.largest.join("/"), truth.about.word());
        row(scene.name, &wanted, &seen.told(), took, &wrong);
        if !wrong.is_empty() {
            println!("    made: {}", scene.made);
            println!("    time: {}", seen.time);
            if let Some(corrected) = corrected {
                println!("    corrected {corrected}");
            }
            println!("    said: {}", seen.summary);
        }
    }

    /// Counts a correction; whether it is right.
    fn corrects(&mut self, corrected: Correction) -> bool {
        self.corrected += 1;
        let right = corrected.is_right();
        self.right_corrected += usize::from(right);
        right
    }

    /// Whatever is corrected of a run, by phase. Writes and reads have their own truth.
    fn correction(&mut self, name: &str, card: &Shape, run: &Deferred) {
        let Some((record, took)) = self.tried(name, || run.record(card)) else { return };
        let none = Vec::new();
        let mut told = Vec::new();
        for phase in record["phases"].as_array().unwrap_or(&none) {
            let Some(it) = corrected_in(&phase["verdict"]) else { continue };
            let writes = phase["totals"]["write"].is_object();
            let rate = if writes { card.speed.write_bps } else { card.speed.read_bps } as f64;
            told.push((word(&phase["name"]), Correction { it, rate }));
        }
        let wrong = told.iter().filter(|(_, corrected)| !self.corrects(*corrected)).count();
        let wrong = if wrong > 0 { vec!["corrected"] } else { Vec::new() };
        let text: Vec<String> =
            told.iter().map(|(phase, corrected)| format!("{phase} {corrected}")).collect();
        let trust = word(&record["verdict"]["trust"]);
        row(name, "the device's", &format!("{trust}: {} corrected", told.len()), took, &wrong);
        if !wrong.is_empty() {
            println!("    corrected {}", text.join("; "));
        }
    }

    /// A run that is what it seems; of one on `memory` that it is memory has to be said.
    fn honest(
        &mut self,
        name: &str,
        made: &str,
        memory: bool,
        play: impl FnOnce() -> Result<Tried, Skip>,
    ) {
        let Some((tried, took)) = self.tried(name, play) else { return };
        let seen = Seen::of(&tried);
        self.honest += 1;
        let mut wrong = Vec::new();
        match seen.trust.as_str() {
            "sound" | "unproven" if !memory => {}
            "wrong" if memory && seen.measures == "not a disk" => {}
            "doubtful" => {
                self.doubtful.push(name.into());
                wrong.push("doubtful");
            }
            _ => {
                self.accused.push(name.into());
                wrong.push("accused");
            }
        }
        let wanted = if memory { "wrong, not a disk" } else { "not wrong" };
        row(name, wanted, &seen.told(), took, &wrong);
        if !memory && seen.trust != "sound" {
            println!("    made: {made}");
            println!("    time: {}", seen.time);
            println!("    said: {}", seen.summary);
        }
    }

    fn print(&self) {
        let list = |names: &[String]| {
            if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
        };
        println!();
        println!(
            "right largest term: {} of {} (wanted {:.0} %)",
            self.right_terms,
            self.terms,
            RIGHT * 100.0
        );
        println!(
            "sound, and not the device's nor the named limit's: {} of {} (wanted 0){}",
            self.praised.len(),
            self.causes,
            list(&self.praised)
        );
        println!(
            "corrected figures within {:.0} % and in their own interval: {} of {}",
            NEAR * 100.0,
            self.right_corrected,
            self.corrected
        );
        println!(
            "honest runs called wrong: {} of {} (wanted 0){}",
            self.accused.len(),
            self.honest,
            list(&self.accused)
        );
        println!(
            "honest runs called doubtful: {} (wanted {DOUBTFUL} at most){}",
            self.doubtful.len(),
            list(&self.doubtful)
        );
        if !self.left_out.is_empty() {
            println!("left out: {}{}", self.left_out.len(), list(&self.left_out));
        }
    }

    fn holds(&self) -> bool {
        self.right_terms as f64 >= RIGHT * self.terms as f64
            && self.praised.is_empty()
            && self.right_corrected == self.corrected
            && self.accused.is_empty()
            && self.doubtful.len() <= DOUBTFUL
    }
}

fn row(name: &str, wanted: &str, got: &str, took: f64, wrong: &[&str]) {
    let right = if wrong.is_empty() { "yes".into() } else { format!("NO: {}", wrong.join(", ")) };
    println!("{name:44} {wanted:30} {got:44} {right}  ({took:.1} s)");
}

/// A corrected figure with its interval, and what is true, bytes per second.
#[derive(Clone, Copy)]
struct Correction {
    it: [f64; 3],
    rate: f64,
}

impl Correction {
    /// Near to the truth, and in its own interval.
    fn is_right(&self) -> bool {
        let [value, low, high] = self.it;
        (value / self.rate - 1.0).abs() <= NEAR && (low..=high).contains(&self.rate)
    }
}

impl Display for Correction {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let [value, low, high, rate] =
            [self.it[0], self.it[1], self.it[2], self.rate].map(|it| it / 1e6);
        write!(f, "{value:.2} ({low:.2} to {high:.2}) MB/s, true {rate:.2}")
    }
}

/// What a verdict says instead of a figure.
fn corrected_in(verdict: &Value) -> Option<[f64; 3]> {
    let part = |name: &str| verdict["corrected"][name].as_f64();
    Some([part("value")?, part("low")?, part("high")?])
}

/// What assay said of a run.
struct Seen {
    /// The largest term of the time, as the record names it; `unexplained`, or `none` where there is no balance.
    largest: String,
    /// All of them.
    time: String,
    trust: String,
    measures: String,
    summary: String,
    /// The corrected figure with its interval, bytes per second.
    corrected: Option<[f64; 3]>,
}

impl Seen {
    fn of(tried: &Tried) -> Self {
        let record = &tried.record;
        let none = Vec::new();
        let phases = record["phases"].as_array().unwrap_or(&none);
        let named = |name: &str| phases.iter().find(|phase| phase["name"] == name);
        let phase = tried.truth.phase.and_then(named);
        let shown = phase.or(phases.last()).unwrap_or(&Value::Null);
        // Of a phase among several its own verdict; else that of the whole.
        let verdict = phase.map_or(&record["verdict"], |phase| &phase["verdict"]);
        let time = &shown["ledger"]["time"];
        let mut terms: Vec<(String, f64)> = time["terms"]
            .as_array()
            .unwrap_or(&none)
            .iter()
            .map(|term| (word(&term["held_by"]).to_owned(), term["share"].as_f64().unwrap_or(0.0)))
            .collect();
        if let Some(share) = time["unexplained"].as_f64() {
            terms.push(("unexplained".into(), share));
        }
        terms.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shares = terms.iter().filter(|term| term.1 > 0.0005);
        let shares: Vec<String> =
            shares.map(|(name, share)| format!("{:.1} % {name}", share * 100.0)).collect();
        Self {
            largest: terms.first().map_or("none".into(), |term| term.0.clone()),
            time: format!(
                "{:.2} s = {}",
                time["time_ns"].as_f64().unwrap_or(0.0) / 1e9,
                shares.join(" + ")
            ),
            trust: word(&verdict["trust"]).into(),
            measures: word(&verdict["measures"]).into(),
            summary: word(&verdict["summary"]).into(),
            corrected: corrected_in(verdict),
        }
    }

    /// In a row.
    fn told(&self) -> String {
        format!("{} · {} {}", self.largest, self.trust, self.measures)
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

impl About {
    /// Whether a sound verdict about this says what is true.
    fn is_said_by(self, measures: &str) -> bool {
        match self {
            Self::Device => measures == "device",
            Self::Limit => measures == "limited",
            Self::Neither => false,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Device => "the device",
            Self::Limit => "a limit",
            Self::Neither => "not sound",
        }
    }
}
