//! Every line that a verdict says to type next can be pasted into a shell, and assay takes its own lines.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use clap::Parser as _;

use super::documents::read_record;
use super::verb::Cli;
use crate::dialect::dd::{self, DdFlavor};
use crate::report::closing;
use assay_judge as verdict;
use assay_record::record::Record;

/// Programs that lines to type begin with, beside assay.
const PROGRAMS: &[&str] = &[
    "df",
    "dmesg",
    "echo",
    "fdisk",
    "filefrag",
    "findmnt",
    "fuser",
    "grep",
    "head",
    "losetup",
    "lspci",
    "lsusb",
    "mount",
    "pgrep",
    "pidstat",
    "ps",
    "smartctl",
    "sync",
    "systemctl",
    "tail",
    "tee",
    "umount",
];

/// Programs that start another one: their own options come before it.
const STARTERS: &[&str] = &["sudo", "numactl", "systemd-run"];

/// The commands of a line, as words. Knows the quotes that assay writes.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut redirected = false;
    let mut rest = line.chars().peekable();
    while let Some(char) = rest.next() {
        let begun = word.get_or_insert_default();
        match char {
            '\'' => {
                let octal = begun.ends_with('$');
                while let Some(char) = rest.next().filter(|char| *char != '\'') {
                    begun.push(char);
                    if octal && char == '\\' {
                        begun.extend(rest.next());
                    }
                }
            }
            '\\' => begun.extend(rest.next()),
            '#' if begun.is_empty() => {
                word = None;
                break;
            }
            ' ' | ';' | '|' | '&' | '<' | '>' => {
                let whole = word.take().filter(|word| !word.is_empty());
                let whole = whole.filter(|_| !std::mem::take(&mut redirected));
                commands.last_mut().expect("one").extend(whole);
                match char {
                    '<' | '>' => {
                        redirected = true;
                        while rest.next_if(|char| matches!(char, '<' | '>' | ' ')).is_some() {}
                    }
                    ' ' => {}
                    _ => commands.push(Vec::new()),
                }
            }
            other => begun.push(other),
        }
    }
    commands.last_mut().expect("one").extend(word.filter(|_| !redirected));
    commands.retain(|command| !command.is_empty());
    commands
}

/// Why a line cannot be pasted.
fn fault(line: &str) -> Option<String> {
    let shell = Command::new("bash").args(["-n", "-c", line]).output().expect("a shell");
    if !shell.status.success() || line.contains('\n') {
        return Some(format!("no line for a shell: {}", String::from_utf8_lossy(&shell.stderr)));
    }
    commands(line).iter().find_map(|words| of_command(words))
}

fn of_command(words: &[String]) -> Option<String> {
    let assigned = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|char| char.is_ascii_uppercase() || char == '_')
        })
    };
    let started = |word: &String| assigned(word) || STARTERS.contains(&word.as_str());
    let mut words = words.iter().skip_while(|word| started(word)).peekable();
    // The options of what starts it.
    while words.next_if(|word| word.starts_with("--") || started(word)).is_some() {}
    let words: Vec<&String> = words.collect();
    let Some((program, arguments)) = words.split_first() else { return Some("no program".into()) };
    if program.as_str() != "assay" {
        let known = PROGRAMS.contains(&program.as_str());
        return (!known).then(|| format!("'{program}' is no program that is known here"));
    }
    if let Err(error) = Cli::try_parse_from(&words) {
        return Some(error.to_string());
    }
    let copied = arguments.first().is_some_and(|verb| verb.as_str() == dd::NAME);
    let operands: Vec<String> = arguments.iter().skip(1).map(|word| (*word).clone()).collect();
    let refused = copied && dd::parse(&operands, DdFlavor::Gnu).is_err();
    refused.then(|| "dd does not take these operands".into())
}

/// The records of the catalogue: of each trap one that meets it, and one that nearly does.
fn records() -> Vec<(String, Record)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
        let mut record = read_record(&entry.path()).expect("a record");
        verdict::judge(&mut record);
        found.push((entry.file_name().to_string_lossy().into_owned(), record));
    }
    found
}

#[test]
fn every_next_step_can_be_pasted() {
    let (mut lines, mut wrong) = (BTreeSet::new(), Vec::new());
    for (name, record) in records() {
        let phases = record.phases.iter().filter_map(|phase| phase.verdict.as_ref());
        let findings = phases.chain(&record.verdict).flat_map(|verdict| &verdict.findings);
        let of_findings = findings.filter_map(|finding| finding.next.clone());
        for next in of_findings.chain(closing::nexts(&record)) {
            if lines.insert(next.command.clone()) {
                wrong.extend(
                    fault(&next.command).map(|why| format!("{name}: {}: {why}", next.command)),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines.len() > 35, "only {}: {lines:#?}", lines.len());
}

#[test]
fn what_cannot_be_pasted_is_found_out() {
    for line in [
        "use direct I/O (dd: iflag=direct)",
        "stop dd (process 11) or wait for it to finish, then run again",
        "wait before the next run",
        "assay quick --fast /mnt",
        "assay dd if=/mnt/x og=/mnt/y",
        "cat '/mnt/x",
    ] {
        assert!(fault(line).is_some(), "{line}");
    }
    for line in [
        "assay quick '/mnt/my disk' --quick    # does it last?",
        "sync && ASSAY_COLD=target assay dd 'if=/mnt/it'\\''s' of=/dev/null bs=1M < /dev/null",
        "echo 1 | sudo tee /sys/block/sda/queue/nomerges; sudo numactl --cpunodebind=1 assay modes /mnt",
    ] {
        assert_eq!(fault(line), None, "{line}");
    }
}
