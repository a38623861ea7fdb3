//! `docs/TRAPS.md` says what the rules say, and what it names as proof exists.

use assay_record::record::TrapId;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay::report::catalogue::page;
use assay_judge::catalogue::{CatalogueEntry, TrapStanding, UNRULED, all, entries};

use crate::common::pages::{ASCII, UNICODE, golden_at_widths};

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn traps(words: &[&str]) -> (i32, String, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("traps")
        .args(words)
        .env_remove("COLUMNS")
        .envs([("LC_ALL", "C.UTF-8")])
        .output()
        .expect("assay can be run");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (ran.status.code().expect("an exit status"), text(ran.stdout), text(ran.stderr))
}

#[test]
fn the_document_is_what_the_rules_say() {
    let document = assay_judge::catalogue::document();
    let file = place("docs/TRAPS.md");
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::write(&file, &document).expect("the document can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == document,
        "docs/TRAPS.md is not what the rules say; 'ASSAY_BLESS=1 cargo test --test pages -- traps' writes it"
    );
}

#[test]
fn the_verb_prints_for_a_terminal_what_the_document_says() {
    golden_at_widths("traps", page);
    for (name, id) in
        [("trap-t31", TrapId::T31), ("trap-t28", TrapId::T28), ("trap-t09", TrapId::T09)]
    {
        let [entry] = &entries(id)[..] else { panic!("{id}: one trap, one entry") };
        golden_at_widths(name, |style| assay::report::catalogue::entry(entry, style));
    }
    // Nothing of Markdown, of tests or of how this is made is on the page.
    let (code, printed, _) = traps(&[]);
    assert_eq!(code, 0);
    assert!(printed == page(UNICODE), "{printed}");
    for alien in ["ASSAY_BLESS", "**", "## ", "`", "tests/", "src/"] {
        assert!(!printed.contains(alien), "{alien}");
    }
    let words = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let plain = words(&page(ASCII));
    for CatalogueEntry { happens, said, .. } in all() {
        for text in said.iter().map(|(_, text)| text.as_str()).chain([happens]) {
            assert!(plain.contains(&words(text)), "{text}");
        }
    }
}

#[test]
fn one_trap_is_told_by_its_number() {
    let (_, page, _) = traps(&[]);
    let (one, text, _) = traps(&["t02"]);
    assert_eq!(one, 0);
    assert!(text.starts_with("T02: Written without a flush\n") && page.contains(&text), "{text}");
    // No number has two rules.
    assert_eq!(traps(&["T31"]).1.lines().filter(|line| line.starts_with('T')).count(), 1);
}

#[test]
fn a_number_may_be_written_shortly() {
    let whole = traps(&["T02"]);
    assert_eq!(whole.0, 0, "{}", whole.2);
    for word in ["t02", "02", "T2", "2"] {
        assert_eq!(traps(&[word]), whole, "{word}");
    }
}

#[test]
fn a_number_that_is_none_is_refused() {
    for word in ["T75", "75", "cache", "T001", "T", ""] {
        let (code, out, err) = traps(&[word]);
        assert_eq!((code, out.as_str()), (2, ""), "{word}");
        assert_eq!(
            err,
            format!("assay: there is no trap '{word}'; write a number from T00 to T74\n")
        );
    }
}

#[test]
fn tests_that_are_named_as_proof_exist() {
    for trap in UNRULED {
        let (TrapStanding::Under { shown, .. } | TrapStanding::Prevented { shown, .. }) =
            trap.standing;
        let (file, function) = shown.split_once(": ").expect("a file and a function");
        let text = std::fs::read_to_string(place(file)).unwrap_or_default();
        assert!(text.contains(&format!("fn {function}(")), "{}: {shown}", trap.id);
    }
}
