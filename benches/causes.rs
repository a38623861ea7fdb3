//! A bench of causes: what makes a storage number mislead, made on real devices, with assay beside it: `make causes`.
//!
//! Of each cause the truth is known from the way it was made: what held the run for the largest part of its
//! time, whether the number is the device's or a limit's, and what the device really does. A row says what assay
//! made of it. Honest runs stand beside them: none of those may be called wrong. A word after the command keeps
//! to the rows whose names hold it: `make causes CAUSES=stopped`. Needs root; takes some minutes.

use std::process::ExitCode;
use std::time::Instant;

use serde_json::Value;

#[path = "causes/devices.rs"]
mod devices;
#[path = "causes/files.rs"]
mod files;
#[path = "causes/held.rs"]
mod held;
#[path = "causes/honest.rs"]
mod honest;
#[path = "../tests/lab/mod.rs"]
mod lab;
#[path = "causes/others.rs"]
mod others;
#[path = "causes/programs.rs"]
mod programs;
#[path = "causes/scene.rs"]
mod scene;

use scene::{About, Scene, Tried};

/// At least so many of the largest terms are right.
const RIGHT: f64 = 0.95;

/// So many honest runs may be doubtful, of all.
const DOUBTFUL: usize = 2;

/// A corrected figure is so near to the truth, and no further above it.
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
    println!("\n{:44} {:30} {:44} right", "honest run", "wanted", "got");
    for scene in honest::SCENES.iter().filter(|scene| scene.name.contains(&only)) {
        tally.honest(scene);
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
    praised: Vec<&'static str>,
    corrected: usize,
    right_corrected: usize,
    honest: usize,
    accused: Vec<&'static str>,
    doubtful: Vec<&'static str>,
    left_out: Vec<&'static str>,
}

impl Tally {
    /// Tries one, unless this machine cannot.
    fn tried(&mut self, scene: &Scene) -> Option<(Seen, Tried, f64)> {
        let _alone = lab::alone();
        let began = Instant::now();
        match (scene.play)() {
            Ok(tried) => {
                let seen = Seen::of(&tried);
                Some((seen, tried, began.elapsed().as_secs_f64()))
            }
            Err(skip) => {
                println!("{:44} left out: {skip}", scene.name);
                self.left_out.push(scene.name);
                None
            }
        }
    }

    fn cause(&mut self, scene: &Scene) {
        let Some((seen, tried, took)) = self.tried(scene) else { return };
        let truth = &tried.truth;
        self.causes += 1;
        let term = truth.largest.is_empty() || truth.largest.contains(&seen.largest.as_str());
        if !truth.largest.is_empty() {
            self.terms += 1;
            self.right_terms += usize::from(term);
        }
        let praised = seen.trust == "sound" && !truth.about.is_said_by(&seen.measures);
        if praised {
            self.praised.push(scene.name);
        }
        let mut wrong = Vec::new();
        if !term {
            wrong.push("term");
        }
        if praised {
            wrong.push("sound");
        }
        if let (Some([value, low, high]), Some(rate)) = (seen.corrected, truth.rate) {
            self.corrected += 1;
            let near = (value / rate - 1.0).abs() <= NEAR && value <= rate * (1.0 + NEAR);
            if near && (low..=high).contains(&rate) {
                self.right_corrected += 1;
            } else {
                wrong.push("corrected");
            }
        }
        let wanted = format!("{} · {}", truth.largest.join("/"), truth.about.word());
        row(scene, &wanted, &seen, took, &wrong);
        if !wrong.is_empty() {
            println!("    made: {}", scene.made);
            println!("    time: {}", seen.time);
            if let (Some([value, low, high]), Some(rate)) = (seen.corrected, truth.rate) {
                println!(
                    "    corrected {:.2} ({:.2} to {:.2}) MB/s, true {:.2}",
                    value / 1e6,
                    low / 1e6,
                    high / 1e6,
                    rate / 1e6
                );
            }
            println!("    said: {}", seen.summary);
        }
    }

    fn honest(&mut self, scene: &Scene) {
        let Some((seen, _, took)) = self.tried(scene) else { return };
        self.honest += 1;
        let mut wrong = Vec::new();
        match seen.trust.as_str() {
            "sound" | "unproven" => {}
            "doubtful" => {
                self.doubtful.push(scene.name);
                wrong.push("doubtful");
            }
            _ => {
                self.accused.push(scene.name);
                wrong.push("accused");
            }
        }
        row(scene, "not wrong", &seen, took, &wrong);
        if seen.trust != "sound" {
            println!("    made: {}", scene.made);
            println!("    time: {}", seen.time);
            println!("    said: {}", seen.summary);
        }
    }

    fn print(&self) {
        let list = |names: &[&str]| {
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

fn row(scene: &Scene, wanted: &str, seen: &Seen, took: f64, wrong: &[&str]) {
    let got = format!("{} · {} {}", seen.largest, seen.trust, seen.measures);
    let right = if wrong.is_empty() { "yes".into() } else { format!("NO: {}", wrong.join(", ")) };
    println!("{:44} {wanted:30} {got:44} {right}  ({took:.1} s)", scene.name);
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
        let corrected = &verdict["corrected"];
        let part = |name: &str| corrected[name].as_f64();
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
            corrected: part("value")
                .zip(part("low"))
                .zip(part("high"))
                .map(|((value, low), high)| [value, low, high]),
        }
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
