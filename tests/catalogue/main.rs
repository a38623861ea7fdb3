//! Every trap of the catalogue, sprung on purpose: one table of what was done, what is said of it,
//! the figure that does describe the device, and what the device really does.
//!
//! Its own harness, so that the table comes out whole at the end: `cargo test --test catalogue` runs
//! all rows, words after `--` those cases whose name holds one of them. A case is a function whose
//! name begins with the numbers it makes rows for. It fails by a panic; the others go on. A number of
//! `docs/TRAPS.md` without a row is a failure too.

mod balance;
mod cache;
mod combined;
mod direct;
mod durability;
mod kept;
mod layout;
mod limits;
mod load;
mod machine;
mod row;
mod shelf;

use assay_testing::{kernel, lab};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use assay_record::record::TrapId;
use kernel::told;
use lab::Skip;
use row::Row;
use shelf::{Shelf, told_of_trouble};

/// What makes rows of the table.
pub struct Case {
    name: &'static str,
    run: fn(&Shelf) -> Rows,
    /// It waits for a slow card most of the time, and leaves what is the whole machine's as it is: others of its
    /// kind may run beside it.
    beside: bool,
}

/// What a case has checked, or why it cannot be done on this machine.
pub type Rows = Result<Vec<Row>, Skip>;

/// The cases of a family, by their functions: those that may run beside each other, and those that want the machine.
macro_rules! cases {
    (beside: [$($beside:ident),* $(,)?], alone: [$($alone:ident),* $(,)?] $(,)?) => {
        pub const CASES: &[$crate::Case] = &[
            $($crate::Case { name: stringify!($beside), run: $beside, beside: true },)*
            $($crate::Case { name: stringify!($alone), run: $alone, beside: false },)*
        ];
    };
}
pub(crate) use cases;

const FAMILIES: &[&[Case]] = &[
    cache::CASES,
    durability::CASES,
    direct::CASES,
    layout::CASES,
    limits::CASES,
    load::CASES,
    combined::CASES,
    balance::CASES,
    machine::CASES,
];

/// How often a case is tried while others have the machine, or it forgets what was in memory.
const TRIES: usize = 3;

/// How many cases run beside each other, each on cards of its own.
const LANES: usize = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let named = |case: &&Case| {
        wanted.is_empty() || wanted.iter().any(|word| case.name.contains(word.as_str()))
    };
    let cases: Vec<&Case> = FAMILIES.iter().copied().flatten().filter(named).collect();
    if words.iter().any(|word| word == "--list") {
        cases.iter().for_each(|case| println!("{}: test", case.name));
        return ExitCode::SUCCESS;
    }
    if cases.is_empty() {
        return ExitCode::SUCCESS;
    }
    let (mut rows, mut failed) = run(&cases);
    if wanted.is_empty() {
        match catch_unwind(AssertUnwindSafe(|| kept::rows(&rows))) {
            Ok(kept) => rows.extend(kept),
            Err(_) => failed.push("kept records".into()),
        }
        failed.extend(missing(&rows).map(|id| format!("{id} has no row")));
    }
    print!("{}", row::table(rows));
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nfailed:");
    failed.iter().for_each(|name| println!("  {name}"));
    ExitCode::FAILURE
}

/// What became of a case. `None`: it failed.
type Done<'c> = (&'c Case, Option<Rows>);

/// The rows of all cases, and the names of those that failed.
fn run(cases: &[&Case]) -> (Vec<Row>, Vec<String>) {
    let (beside, mut alone): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.beside);
    let mut done = {
        let _beside = lab::beside();
        run_beside(&beside)
    };
    // What failed may have been disturbed by the others.
    done.retain(|(case, rows)| {
        if rows.is_none() {
            told(case.name, "again, alone");
            alone.push(case);
        }
        rows.is_some()
    });
    let _alone = lab::alone();
    let shelf = Shelf::default();
    done.extend(alone.into_iter().map(|case| (case, timed(case, &shelf))));
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (case, done) in done {
        match done {
            Some(Ok(done)) => rows.extend(done),
            Some(Err(skip)) => {
                // Fails in CI where a package would mend it.
                match catch_unwind(|| lab::skipped(case.name, &skip)) {
                    Ok(()) => rows.extend(numbers(case.name).map(|id| Row::skipped(&id, &skip))),
                    Err(_) => failed.push(case.name.into()),
                }
            }
            None => failed.push(case.name.into()),
        }
    }
    (rows, failed)
}

/// Cases in lanes, each with a shelf of its own; a lane that is free takes the next.
fn run_beside<'c>(cases: &[&'c Case]) -> Vec<Done<'c>> {
    let next = AtomicUsize::new(0);
    let lane = || {
        let shelf = Shelf::default();
        let mine = std::iter::from_fn(|| cases.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.map(|case| (*case, timed(case, &shelf))).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES.min(cases.len())).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("cases' panics are caught")).collect()
    })
}

fn timed(case: &Case, shelf: &Shelf) -> Option<Rows> {
    let began = Instant::now();
    let done = tried(case, shelf);
    told(case.name, format_args!("{:.1} s", began.elapsed().as_secs_f64()));
    done
}

/// Does it; again while that was the machine's trouble. `None`: it failed.
fn tried(case: &Case, shelf: &Shelf) -> Option<Rows> {
    for left in (0..TRIES).rev() {
        if let Ok(done) = catch_unwind(AssertUnwindSafe(|| (case.run)(shelf))) {
            return Some(done);
        }
        if !told_of_trouble() || left == 0 {
            return None;
        }
        told(case.name, "again, for others had the machine");
        // They are rarely done at once.
        std::thread::sleep(Duration::from_secs(5));
    }
    None
}

/// The numbers that a case's name begins with: T06 and T07 of `t06_t07_what_was_left`.
fn numbers(name: &str) -> impl Iterator<Item = String> {
    let number = |word: &&str| {
        word.len() == 3 && word.starts_with('t') && word[1..].bytes().all(|b| b.is_ascii_digit())
    };
    name.split('_').take_while(number).map(str::to_uppercase)
}

/// Numbers of the catalogue that no row is about.
fn missing(rows: &[Row]) -> impl Iterator<Item = String> {
    let all = TrapId::ALL.iter().map(|id| id.name().to_string());
    all.filter(|id| !rows.iter().any(|row| row.trap == *id))
}
