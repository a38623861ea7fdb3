//! The same words for fio and for `assay fio`: what each says in a folder, and its report.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;

/// What `fio --version` says, or would in Debian: versions differ in what they draw and write.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let out = Command::new("fio").arg("--version").output();
    out.map_or_else(|_| "fio-3.33".into(), |out| String::from_utf8_lossy(&out.stdout).trim().into())
});

/// One of the two in a folder, without words.
pub fn program(theirs: bool, folder: &Path) -> Command {
    let mut command = match theirs {
        true => Command::new("fio"),
        false => Command::new(env!("CARGO_BIN_EXE_assay")),
    };
    command.args((!theirs).then_some("fio")).env("ASSAY_DIALECT", &*VERSION).current_dir(folder);
    command
}

/// Runs one of the two in a folder.
pub fn run(theirs: bool, folder: &Path, line: &str) -> Output {
    program(theirs, folder).args(line.split(' ')).output().expect("it runs")
}

/// What it says beside its report.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report as a document: other lines may stand before it and behind.
pub fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = text.lines().skip_while(|line| *line != "{").collect();
    let end = lines.iter().position(|line| *line == "}").map_or(0, |end| end + 1);
    let text = lines[..end].join("\n");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{output:?}"))
}

/// The document of a run that succeeds.
pub fn report(theirs: bool, folder: &Path, line: &str) -> Value {
    let output = run(theirs, folder, &format!("{line} --output-format=json"));
    assert!(output.status.success(), "{line}: {}", said(&output));
    document(&output)
}
