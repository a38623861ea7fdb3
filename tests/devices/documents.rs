//! Every command of the pages that answer questions (`docs/*.md`) and of the read-me runs, and ends as the page
//! says: lines of a block of code that begin with `$ `, typed to a shell in order, one page after the other. The
//! card of the pages, `/mnt/sd` (and `/data`), is a small fast one here.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::lab::{self, Card};

/// Pages about the program, not for its users' questions.
const OTHERS: [&str; 4] = ["ARCHITECTURE.md", "DIALECTS.md", "INTERNALS.md", "TRAPS.md"];

/// The commands of a page, in order.
fn commands(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            found.push(command.to_string());
        }
    }
    found
}

/// Types a page's commands where `assay` is the program, and the card is `mount`.
fn type_page(name: &str, text: &str, mount: &Path) {
    let commands = commands(text);
    assert!(!commands.is_empty(), "{name} has no command to type");
    let desk = tempfile::tempdir().expect("a desk");
    let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    for command in commands {
        let card = mount.display().to_string();
        let typed = command.replace("/mnt/sd", &card).replace("/data", &card);
        let ran = Command::new("bash")
            .args(["-c", &typed])
            .current_dir(desk.path())
            .env("PATH", &path)
            .output()
            .expect("bash");
        let (said, complained) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        // 3: it ran, and this card's number is not sound.
        let code = ran.status.code();
        assert!(
            matches!(code, Some(0 | 3)),
            "{name}: {command}\nended with {code:?}\n{said}\n{complained}"
        );
    }
}

#[test]
fn every_command_of_the_pages_runs() {
    // Other tests forbid io_uring for a while.
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut pages: Vec<_> = fs::read_dir(&folder)
        .expect("docs")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md") && !OTHERS.contains(&name.as_str()))
        .collect();
    pages.sort();
    assert!(pages.len() >= 7, "{pages:?}");
    for name in pages {
        let text = fs::read_to_string(folder.join(&name)).expect("a page");
        type_page(&name, &text, card.mount());
    }
}

#[test]
fn every_command_of_the_read_me_runs() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let read_me = include_str!("../../README.md");
    assert!(read_me.len() <= 12_000, "{} bytes of at most 12,000", read_me.len());
    // The line that everybody knows, GNU's dd's, is typed like the others.
    type_page("README.md", read_me, card.mount());
}
