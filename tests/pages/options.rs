//! Options of dialects: each one's example is a line that is understood and explained.

use std::path::Path;
use std::process::Command;

use assay::dialect::bonnie::{self, BonnieVersion};
use assay::dialect::dd::{self, DdFlavor};
use assay::dialect::{DIALECTS, iozone};

/// What `explain` says of a line, with these variables.
fn explained(line: &str, dialect: &str) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["explain", line])
        .env("ASSAY_DIALECT", dialect)
        .env("COLUMNS", "90")
        .output()
        .expect("assay can be run");
    let text = String::from_utf8(ran.stdout).expect("text");
    assert_eq!(ran.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    text
}

#[test]
fn each_example_is_understood_and_its_words_are_explained() {
    for flavor in [DdFlavor::Gnu, DdFlavor::Busybox] {
        let called = if flavor == DdFlavor::Gnu { "gnu" } else { "busybox" };
        for example in dd::examples(flavor) {
            let words: Vec<String> = example.split(' ').map(String::from).collect();
            if let Err(complaint) = dd::parse(&words, flavor) {
                panic!("{example}: {}", complaint.stderr);
            }
            let told = dd::meanings(&words, flavor);
            let named: Vec<&str> = told.iter().map(|meaning| meaning.word.as_str()).collect();
            assert_eq!(named, words, "{called}");
            let page = explained(&format!("dd {example}"), called);
            assert!(page.contains(&format!("  {}", words[0])), "{page}");
        }
    }
    for form in [BonnieVersion::F1_03, BonnieVersion::F1_98] {
        for example in bonnie::examples(form) {
            let mut words: Vec<String> = example.split(' ').map(String::from).collect();
            if !form.is_old() || words[0] != "--format" {
                words.splice(0..0, ["--format".to_string(), form.name().to_string()]);
            }
            if words.iter().filter(|word| *word == "--format").count() > 1 {
                continue;
            }
            if let Err(complaint) = bonnie::read(&words) {
                panic!("{example}: {}", complaint.text());
            }
            assert!(!bonnie::meanings(&words).is_empty(), "{example}");
        }
    }
    for example in iozone::examples() {
        let words: Vec<String> = example.split(' ').map(String::from).collect();
        let records = |_: &std::path::Path| Ok(b"0 4096 1\n".to_vec());
        assert!(iozone::read(&words, &records).is_ok(), "{example}");
        assert!(!iozone::meanings(&words).is_empty(), "{example}");
    }
}

#[test]
fn a_line_is_explained_word_by_word() {
    let page = explained("dd if=/dev/zero of=/tmp/x bs=1M count=8 conv=sync,fsync", "gnu");
    let words: String = page.lines().skip(2).take(6).map(|line| format!("{line}\n")).collect();
    assert_eq!(
        words,
        "  \
  if=/dev/zero     read from /dev/zero instead of standard input
  of=/tmp/x        write to /tmp/x instead of standard output
  bs=1M            size of reads and writes, instead of ibs and obs; a read is a write,
                   also a short one
  count=8          copy 8 input blocks
  conv=sync,fsync  short input blocks are filled up with zeros (blanks with block and
"
    );
}

#[test]
fn the_tools_of_the_readme_are_those_of_the_list() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(file).expect("readable");
    for tool in DIALECTS {
        let row = format!("| `assay {} {}", tool.names[0], tool.value_name);
        assert_eq!(readme.matches(&row).count(), 1, "{row}");
    }
}
