//! A dd of the library's parts alone: parse, open, copy, print. `dd busybox ...` speaks BusyBox.

use std::io::Write;
use std::process::exit;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use assay::dialect::dd::{self, Flavor, Options, Status};
use assay::engine::copy;
use assay::stats::copy::{CopyCounts, CopyEvent, CopyGauge};
use assay::sys::{clock, signal};
use assay::unit::{Instant, Nanos};

/// Standard error: what stands there without a newline is known.
#[derive(Default)]
struct Screen {
    progress: usize,
    /// Bytes that progress has shown, once it has shown any.
    shown: Option<u64>,
}

impl Screen {
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let newline = if std::mem::take(&mut self.progress) > 0 { "\n" } else { "" };
        let _ = std::io::stderr().write_all(format!("{newline}{text}").as_bytes());
    }

    fn progress(&mut self, counts: &CopyCounts, time: Nanos) {
        let (line, len) = dd::progress(counts, time, self.progress);
        self.progress = len;
        self.shown = Some(counts.bytes_written);
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// What the watcher and the copying thread share.
struct Shared {
    gauge: CopyGauge,
    screen: Mutex<Screen>,
    options: Options,
    started: Instant,
}

impl Shared {
    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn time(&self) -> Nanos {
        clock::now().since(self.started)
    }

    fn report(&self) {
        let text = dd::report(&self.options, &self.gauge.snapshot(), self.time());
        self.screen().say(&text);
    }
}

/// Reports when SIGUSR1 comes, and shows progress every second if that is wanted.
fn watch(shared: &Shared) {
    let progress = shared.options.status == Status::Progress;
    let mut next = Nanos::secs(1);
    loop {
        let longest = if progress { next.less(shared.time()) } else { Nanos::secs(3600) };
        match signal::wait(&[libc::SIGUSR1], longest) {
            Ok(Some(_)) => shared.report(),
            Ok(None) if progress && next <= shared.time() => {
                next += Nanos::secs(1);
                shared.screen().progress(&shared.gauge.snapshot(), shared.time());
            }
            Ok(None) => {}
            Err(_) => return,
        }
    }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut flavor = Flavor::Gnu;
    if words.first().is_some_and(|word| word == "busybox") {
        words.remove(0);
        flavor = Flavor::Busybox;
    }
    let (plan, options) = dd::parse(&words, flavor).unwrap_or_else(|complaint| {
        print!("{}", complaint.stdout);
        eprint!("{}", complaint.stderr);
        exit(complaint.code);
    });
    eprint!("{}", options.warnings);
    let Some(plan) = dd::copy_of(&plan) else { exit(1) };
    let _ = signal::restore(libc::SIGPIPE);
    let _ = signal::hold(&[libc::SIGUSR1]);
    let never = AtomicBool::new(false);
    let stop = match flavor {
        Flavor::Gnu => signal::flag_on(libc::SIGINT).unwrap_or(&never),
        Flavor::Busybox => &never,
    };
    let ends = copy::open(plan).unwrap_or_else(|fault| {
        eprint!("{}", dd::fault(&options, plan, &fault));
        exit(1);
    });
    let shared = Arc::new(Shared {
        gauge: CopyGauge::default(),
        screen: Mutex::default(),
        options,
        started: clock::now(),
    });
    let watcher = Arc::clone(&shared);
    std::thread::spawn(move || watch(&watcher));
    let mut faults = Vec::new();
    let mut tell = |event: CopyEvent| {
        let text = dd::event(&shared.options, plan, &event);
        shared.screen().say(&text);
        match &event {
            CopyEvent::ReadError(_) if flavor == Flavor::Gnu => shared.report(),
            CopyEvent::Failed(fault) => faults.push(fault.clone()),
            CopyEvent::Flushing => {
                let counts = shared.gauge.snapshot();
                let mut screen = shared.screen();
                if screen.shown.is_some_and(|shown| shown < counts.bytes_written) {
                    screen.shown = Some(counts.bytes_written);
                    eprint!("{}", dd::before_flush(&counts, shared.time()));
                }
            }
            _ => {}
        }
    };
    let mut calls = 0_u64;
    let outcome = copy::copy(plan, ends, &shared.gauge, stop, &mut tell, |_, _, _, _| calls += 1);
    let time = outcome.stopped.since(outcome.started);
    let mut screen = shared.screen();
    if dd::reports_after(&shared.options, &faults) {
        screen.say(&dd::report(&shared.options, &outcome.counts, time));
    }
    if outcome.cut_short
        && let Some(signal) = signal::asked_by()
    {
        signal::die_of(signal);
    }
    exit(i32::from(outcome.fault.is_some()));
}
