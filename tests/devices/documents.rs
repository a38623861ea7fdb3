//! Every command of the pages (`docs/*.md`) and of the read-me runs, and ends as the page says: lines of a block
//! of code that begin with `$ `, and all lines of a block that is called `sh`, typed to a shell in order, one page
//! after the other. The card of the pages, `/mnt/sd` (and `/data`, `/mnt/array`), is a small fast one here, the
//! folder that is measured as `.` lies on it, and what is installed comes below a folder of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::kernel::at_once;
use crate::lab::{self, Card};

/// What is not typed, and why.
const NOT_TYPED: [(&str, &str); 8] = [
    ("make check", "it runs the long tests for an hour"),
    ("make test", "it runs tests for a quarter of an hour"),
    ("make install DESTDIR=", "it installs outside of the folder of this test"),
    ("make dist", "it fetches compilers and builds for four kinds of machine, for an hour"),
    ("make smoke", "it runs what 'make dist' has built"),
    ("scp target/dist/", "it copies what 'make dist' has built"),
    ("ssh user@board ", "it runs what was copied there"),
    ("adb push target/dist/", "it copies what 'make dist' has built"),
];

/// What is typed otherwise, and why.
const SMALLER: [(&str, &str, &str); 5] = [
    (
        "assay bonnie ",
        "assay bonnie -u root -s 8 -r 4 -n 0 ",
        "the file is twice as large as the memory, for hours; and root has to name itself",
    ),
    (" -x 5 ", " -x 2 ", "nobody looks at the figures"),
    ("assay quick ", "assay quick --quick ", "nobody looks at the figures"),
    ("-- quick .", "-- quick --quick .", "nobody looks at the figures"),
    ("for i in 1 2 3 4 5; ", "for i in 1 2; ", "nobody looks at the figures"),
];

/// Pages about the program: they have no commands.
const OTHERS: [&str; 6] =
    ["ARCHITECTURE.md", "INTERNALS.md", "STABILITY.md", "TRAPS.md", "faults.md", "threat-model.md"];

/// What kind of block each is that is not a session: nothing else may stand behind the three marks.
const KINDS: [&str; 4] = ["sh", "text", "json", ""];

/// The commands of a page, in order.
fn commands(name: &str, text: &str) -> Vec<String> {
    let mut inside: Option<&str> = None;
    let mut session = false;
    let mut found = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(kind), None) => {
                assert!(KINDS.contains(&kind), "{name}: {line}");
                (inside, session) = (Some(kind), false);
            }
            (Some(_), Some(kind)) => {
                // No block is passed over because its commands look otherwise.
                assert!(session || !kind.is_empty(), "{name}: a block of what, before '{line}'?");
                inside = None;
            }
            (None, Some("sh")) if !line.trim().is_empty() => found.push(line.to_string()),
            (None, Some("")) => {
                let command = line.strip_prefix("$ ");
                session |= command.is_some();
                found.extend(command.map(String::from));
            }
            _ => {}
        }
    }
    found
}

/// A folder for programs by the name of which this one is meant, and for what is installed.
struct Sandbox {
    desk: tempfile::TempDir,
}

impl Sandbox {
    /// Where `cargo` has built already: an optimised build takes minutes, and these tests have their program.
    fn new(mount: &Path) -> Self {
        let desk = tempfile::tempdir().expect("a desk");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let built = Path::new(env!("CARGO_BIN_EXE_assay")).parent().expect("a folder");
        let script = "#!/bin/sh\n\
             case \"$1 $2\" in\n\
             'run --release') shift 3; exec assay \"$@\" ;;\n\
             'build --release') ;;\n\
             *) echo \"cargo $*: not a command of the pages\" >&2; exit 1 ;;\nesac\n";
        let sandbox = Self { desk };
        // This machine is the board and the phone, too: what is for a shell there is given to one here. The real ssh
        // is tried in `tests/engine/boards.rs`.
        let ssh = "#!/bin/sh\ncase \" $* \" in *' -O exit '*) exit 0;; esac\n\
             while [ \"$1\" != -- ]; do shift; done\nexec sh -c \"$3\"\n";
        let adb =
            "#!/bin/sh\nif [ \"$1\" = push ]; then exec cp \"$2\" \"$3\"; fi\nexec sh -c \"$2\"\n";
        fs::create_dir_all(mount.join("local/tmp")).expect("made");
        fs::create_dir(sandbox.path("bin")).expect("made");
        for (name, script) in [("cargo", script), ("ssh", ssh), ("adb", adb)] {
            let program = sandbox.path("bin").join(name);
            fs::write(&program, script).expect("written");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
        }
        // Where the Makefile looks for what was built.
        fs::create_dir(sandbox.path("target")).expect("made");
        symlink(built, sandbox.path("target/release")).expect("linked");
        let _ = fs::remove_file(mount.join("Makefile"));
        symlink(root.join("Makefile"), mount.join("Makefile")).expect("linked");
        sandbox
    }

    fn path(&self, name: &str) -> PathBuf {
        self.desk.path().join(name)
    }

    /// The output of a line; what is installed comes below `installed`.
    fn type_line(&self, line: &str, folder: &Path) -> std::process::Output {
        let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().expect("a folder");
        let known = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{known}", self.path("bin").display(), program.display());
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(folder).env("PATH", path).env_remove("CARGO");
        command.env("CARGO_TARGET_DIR", self.path("target")).env("DESTDIR", self.path("installed"));
        command.output().expect("bash")
    }
}

/// Types a page's commands where `assay` is the program, and the card is `mount`.
fn type_page(name: &str, text: &str, mount: &Path) {
    let commands = commands(name, text);
    assert!(!commands.is_empty(), "{name} has no command to type");
    let sandbox = Sandbox::new(mount);
    let desk = sandbox.path("desk");
    fs::create_dir(&desk).expect("made");
    for command in commands {
        if let Some((_, why)) = NOT_TYPED.iter().find(|(line, _)| command.starts_with(line)) {
            println!("{name}: not typed: {command}: {why}");
            continue;
        }
        let card = mount.display().to_string();
        let mut typed = command.clone();
        for place in ["/mnt/sd", "/mnt/array", "/data"] {
            typed = typed.replace(place, &card);
        }
        for (line, smaller, _) in SMALLER {
            typed = typed.replace(line, smaller);
        }
        // What is here is measured as `.`, and is what is built.
        let here = ["cargo ", "make "].iter().any(|tool| command.starts_with(tool));
        let began = Instant::now();
        let ran = sandbox.type_line(&typed, if here { mount } else { &desk });
        println!("{:6.1} s  {name}: {command}", began.elapsed().as_secs_f64());
        let (said, complained) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        // 3: it ran, and this card's number is not sound.
        let code = ran.status.code();
        assert!(
            matches!(code, Some(0 | 3)),
            "{name}: {command}\nended with {code:?}\n{said}\n{complained}"
        );
        if command.starts_with("make install") {
            let program = sandbox.path("installed/usr/local/bin/assay");
            let version = Command::new(program).arg("--version").output().expect("installed");
            assert!(version.stdout.starts_with(b"assay "), "{version:?}");
        }
    }
    let _ = fs::remove_file(mount.join("Makefile"));
}

#[test]
fn only_what_a_page_has_is_left_out_or_made_smaller() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    pages.extend(fs::read_dir(root.join("docs")).expect("docs").map(|it| it.expect("one").path()));
    let pages = pages.iter().filter(|page| page.extension().is_some_and(|it| it == "md"));
    let all: Vec<String> = pages
        .flat_map(|page| {
            let text = fs::read_to_string(page).expect("a page");
            commands(&page.display().to_string(), &text)
        })
        .collect();
    let lines = NOT_TYPED.iter().map(|(line, _)| line);
    for line in lines.chain(SMALLER.iter().map(|(line, ..)| line)) {
        assert!(all.iter().any(|command| command.contains(line)), "{line}");
    }
}

/// The pages that answer questions, by name, and the read-me.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &Path| fs::read_to_string(path).expect("a page");
    let mut pages: Vec<_> = fs::read_dir(root.join("docs"))
        .expect("docs")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| name.ends_with(".md") && !OTHERS.contains(&name.as_str()))
        .map(|(name, path)| (name, text(&path)))
        .collect();
    assert!(pages.len() >= 7, "{} pages", pages.len());
    pages.push(("README.md".into(), text(&root.join("README.md"))));
    pages
}

#[test]
fn every_command_of_the_pages_and_of_the_read_me_runs() {
    // Other tests forbid io_uring for a while.
    let _alone = lab::alone();
    // No page's figures are compared, so all are typed at once, each on a card of its own.
    at_once(pages(), |(name, text)| {
        let card = lab::need!(Card::fast());
        // The line that everybody knows, GNU's dd's, is typed like the others.
        type_page(&name, &text, card.mount());
    });
}

#[test]
fn the_read_me_is_short() {
    let read_me = include_str!("../../README.md");
    assert!(read_me.len() <= 12_000, "{} bytes of at most 12,000", read_me.len());
}
