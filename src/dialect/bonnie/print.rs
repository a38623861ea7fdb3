//! What Bonnie++ says beside its tables: how it is used, and how far it has come.

use super::{BonnieRun, BonnieVersion, TestResult, test_of};
use assay_plan::unit::{Bandwidth, Iops};

/// What is said when a test begins, without an end of line.
pub fn began(form: BonnieVersion, phase: &str) -> &'static str {
    match (phase, form.is_old()) {
        ("putc", true) => "Writing with putc()...",
        ("putc", false) => "Writing a byte at a time...",
        ("put_block", _) => "Writing intelligently...",
        ("rewrite", _) => "Rewriting...",
        ("getc", true) => "Reading with getc()...",
        ("getc", false) => "Reading a byte at a time...",
        ("get_block", _) => "Reading intelligently...",
        ("seeks", _) => "start 'em...",
        ("seq_create", _) => "Create files in sequential order...",
        ("seq_stat", _) => "Stat files in sequential order...",
        ("seq_del", _) => "Delete files in sequential order...",
        ("ran_create", _) => "Create files in random order...",
        ("ran_stat", _) => "Stat files in random order...",
        ("ran_del", _) => "Delete files in random order...",
        _ => "",
    }
}

pub fn ended(settled: &BonnieRun, phase: &str) -> String {
    match test_of(phase) {
        Some(5) => format!("{}\n", "done...".repeat(settled.asked.seekers as usize)),
        Some(6..) => "done.\n".into(),
        _ => "done\n".into(),
    }
}

/// A figure of a test in full, also where the table has crosses: `block write at 4.19 MB/s`.
pub fn figure(phase: &str, measure: &TestResult) -> String {
    let name = match phase {
        "putc" => "write byte by byte",
        "put_block" => "block write",
        "rewrite" => "rewrite",
        "getc" => "read byte by byte",
        "get_block" => "block read",
        "seeks" => "random seeks",
        "seq_create" => "create in order",
        "seq_stat" => "read in order",
        "seq_del" => "delete in order",
        "ran_create" => "create at random",
        "ran_stat" => "read at random",
        "ran_del" => "delete at random",
        other => other,
    };
    let rate = match test_of(phase) {
        Some(0..5) => Bandwidth(measure.rate * 1024.0).to_string(),
        _ => format!("{} per second", Iops(measure.rate)),
    };
    format!("{name} at {rate}")
}
