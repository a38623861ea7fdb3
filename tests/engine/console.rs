//! A run on a serial console, and the record out of its log.

use std::fs;

use assay_record::record::{Ending, load};
use serde_json::json;

use crate::lab;

/// A phase of a tenth of a second that goes nowhere.
fn plan() -> String {
    let plan = json!({
        "title": "\u{b5}", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "phase", "jobs": [{
            "name": "job",
            "work": { "blocks": {
                "target": { "nowhere": { "size": 1 << 30 } },
                "method": "null",
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
            }},
            "stop": { "first_of": [{ "time": 100_000_000 }] },
        }]}],
    });
    plan.to_string()
}

#[test]
fn a_record_comes_out_of_the_log_of_a_console() {
    let desk = tempfile::tempdir().expect("a desk");
    fs::write(desk.path().join("plan.json"), plan()).expect("written");
    let type_words =
        |line: &str| lab::assay(line.split(' ')).env("LC_ALL", "C.UTF-8").cwd(desk.path());
    let ran = type_words("run plan.json --record r.json --checksummed").run();
    assert!([0, 3].contains(&ran.code()), "{ran}");
    for line in ran.stdout.lines().filter(|line| !line.is_empty()) {
        let (_, sum) = line.rsplit_once(" *").unwrap_or_else(|| panic!("no checksum: {line}"));
        assert!(sum.len() == 4 && line.is_ascii() && line.len() <= 80, "{line}");
    }
    assert_eq!(load(&desk.path().join("r.json")).expect("a record").ending, Ending::Complete);

    // Through a terminal, between messages of the kernel and prompts.
    let log = format!("board login: root\r\nboard# assay run\r\n{}board# ", ran.stdout);
    let log = log.replace('\n', "\r\n").replace("assay-record 2 ", "board# assay-record 2 ");
    let log = log.replace("assay-record 3 ", "[   12.5] mmc0: tuning\r\nassay-record 3 ");
    let here = type_words("judge r.json --json").run();
    let through = type_words("judge - --json").stdin(&log).run();
    assert_eq!(through.stderr, "");
    assert_eq!((through.code(), &through.stdout), (here.code(), &here.stdout), "{through}");
    fs::write(desk.path().join("log"), &log).expect("written");
    let named = type_words("judge log").run();
    assert_eq!(named.stdout, type_words("judge r.json").run().stdout);
    // A document that comes through a pipe is one, too.
    let piped =
        type_words("judge - --json").stdin(fs::read(desk.path().join("r.json")).expect("there"));
    assert_eq!(piped.run().stdout, here.stdout);

    // A line of the page and one of the record are damaged: each is told, and a second copy heals the record.
    let of_page = log.lines().position(|line| line.contains("verdict")).expect("a verdict");
    let of_record =
        log.lines().position(|line| line.starts_with("assay-record 5 ")).expect("a line");
    let damage = |(number, line): (usize, &str)| match number {
        _ if number == of_page => line.replace("verdict", "vardict") + "\n",
        _ if number == of_record => line[..line.len() - 9].to_string() + "\n",
        _ => format!("{line}\n"),
    };
    let damaged: String = log.lines().enumerate().map(damage).collect();
    let ran = type_words("judge -").stdin(&damaged).run().expect(2);
    let lines = log.lines().filter(|line| line.contains("assay-record ")).count() - 2;
    let said = format!(
        "assay: standard input: 1 of the {lines} lines of the record did not arrive: 5; damaged lines of the \
         log: {}, {}; add another copy to the log: 'assay judge --checksummed RECORD' prints it\n",
        of_page + 1,
        of_record + 1
    );
    assert_eq!(ran.stderr, said);
    let again = type_words("judge --checksummed r.json").run();
    let both = format!("{damaged}{}", again.stdout);
    let healed = type_words("judge --json -").stdin(&both).run();
    assert_eq!(healed.stdout, here.stdout, "{healed}");
    let told = |number| {
        format!(
            "assay: line {number} of the log is damaged: its checksum is not that of what stands there\n"
        )
    };
    assert_eq!(healed.stderr, told(of_page + 1) + &told(of_record + 1));
}

#[test]
fn a_plain_page_is_ascii_of_80_columns() {
    let desk = tempfile::tempdir().expect("a desk");
    fs::write(desk.path().join("plan.json"), plan()).expect("written");
    for line in ["--plain run plan.json", "run plan.json --plain"] {
        let ran = lab::assay(line.split(' ')).env("LC_ALL", "C.UTF-8").cwd(desk.path()).run();
        let first = ran.stdout.lines().next().unwrap_or_default();
        assert!(ran.stdout.is_ascii() && first.len() <= 80, "{ran}");
        assert!(ran.stdout.lines().all(|line| line.len() <= 80), "{ran}");
    }
    let ran =
        lab::assay(["--plain", "dd", "if=/dev/zero", "of=/dev/null", "count=1"]).run().expect(0);
    assert!(ran.stderr.contains("1+0 records in\n"), "{ran}");
}
