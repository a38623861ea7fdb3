//! The table: every line under every fault that it can meet, what must be so each time, and the page of it.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assay_record::record::{self, Ending, Record, Trust};

use crate::lab::{self, FaultRule, Faults, FaultyFuse, Op, Ran, on};
use crate::lines::{LENGTH, LINES, Line, THERE};

/// So long hangs what hangs.
const HANG: Duration = Duration::from_secs(3);

/// What is tried under a line.
struct Column {
    /// A call and what becomes of it, in two words.
    name: &'static str,
    faults: Faults,
    then: Then,
}

impl Column {
    fn call(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// What must come of it.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// It fails with this errno; what is only interrupted may be tried again, and is whole.
    Fails(&'static str),
    /// What was moved is moved whole.
    Whole,
    /// It ends, and the time of the hang is in what is measured.
    Waits,
    /// What was read is wrong: said where the line compares it.
    Harms,
}

/// All of them, those of one call beside each other; reads and writes go wrong from the `n`-th on.
fn columns(n: u64) -> Vec<Column> {
    use Then::{Fails, Harms, Waits, Whole};
    let rules: Vec<(&'static str, Then, FaultRule)> = vec![
        ("write EIO", Fails("EIO"), on(Op::Write).from(n).fails(libc::EIO)),
        ("write ENOSPC", Fails("ENOSPC"), on(Op::Write).from(n).fails(libc::ENOSPC)),
        ("write EDQUOT", Fails("EDQUOT"), on(Op::Write).from(n).fails(libc::EDQUOT)),
        ("write EROFS", Fails("EROFS"), on(Op::Write).from(n).fails(libc::EROFS)),
        ("write ESTALE", Fails("ESTALE"), on(Op::Write).from(n).fails(libc::ESTALE)),
        ("write EINTR", Fails("EINTR"), on(Op::Write).nth(n).fails(libc::EINTR)),
        ("write short", Whole, on(Op::Write).nth(n).at_most(1)),
        ("write hangs", Waits, on(Op::Write).nth(n).hangs(HANG)),
        ("read EIO", Fails("EIO"), on(Op::Read).from(n).fails(libc::EIO)),
        ("read ESTALE", Fails("ESTALE"), on(Op::Read).from(n).fails(libc::ESTALE)),
        ("read EINTR", Fails("EINTR"), on(Op::Read).nth(n).fails(libc::EINTR)),
        ("read short", Whole, on(Op::Read).nth(n).at_most(1)),
        ("read hangs", Waits, on(Op::Read).nth(n).hangs(HANG)),
        ("read flips", Harms, on(Op::Read).from(n).flips(4243)),
        ("read stale", Harms, on(Op::Read).from(n).stale()),
        ("sync EIO", Fails("EIO"), on(Op::Sync).fails(libc::EIO)),
        ("sync ENOSPC", Fails("ENOSPC"), on(Op::Sync).fails(libc::ENOSPC)),
        ("sync EINTR", Fails("EINTR"), on(Op::Sync).nth(1).fails(libc::EINTR)),
        ("sync hangs", Waits, on(Op::Sync).nth(1).hangs(HANG)),
        ("sync lies", Harms, on(Op::Sync).lies()),
        ("close EIO", Fails("EIO"), on(Op::Close).fails(libc::EIO)),
        ("close EDQUOT", Fails("EDQUOT"), on(Op::Close).fails(libc::EDQUOT)),
        ("unlink EIO", Fails("EIO"), on(Op::Unlink).fails(libc::EIO)),
        ("unlink EROFS", Fails("EROFS"), on(Op::Unlink).fails(libc::EROFS)),
        ("create EDQUOT", Fails("EDQUOT"), on(Op::Create).fails(libc::EDQUOT)),
        ("open ESTALE", Fails("ESTALE"), on(Op::Open).fails(libc::ESTALE)),
    ];
    let column = |(name, then, rule)| Column { name, then, faults: Faults::from(rule) };
    let mut all: Vec<Column> = rules.into_iter().map(column).collect();
    for (name, op) in [("write partial EIO", Op::Write), ("read partial EIO", Op::Read)] {
        let partial =
            Faults::from(on(op).nth(n).at_most(4096)).and(on(op).nth(n + 1).at_most(4096));
        let faults = partial.and(on(op).from(n + 2).fails(libc::EIO));
        all.push(Column { name, then: Fails("EIO"), faults });
    }
    let faults = Faults { read_only: true, ..Faults::default() };
    all.push(Column { name: "all EROFS", then: Fails("EROFS"), faults });
    all
}

/// Whether a line can meet such a fault at all.
fn meets(line: &Line, column: &Column) -> bool {
    // Where a read of io_uring falls short on FUSE, the kernel itself goes on with it, from the same place once more
    // (fs/fuse/file.c, fuse_direct_IO, leaves ki_pos where it was; seen on 6.18): the block is wrong indeed.
    let short = ["read short", "read partial EIO"].contains(&column.name);
    if short && line.verifies_by_ring() {
        return false;
    }
    // What the kernel writes back for a mapping it writes again.
    if column.name == "write partial EIO" && line.cached() {
        return false;
    }
    match column.call() {
        "write" | "sync" | "all" | "unlink" | "create" => line.writes,
        "read" => line.reads,
        "open" => line.reads && !line.writes,
        _ => true,
    }
}

/// What came of one line under one fault.
struct Cell {
    /// As it stands in the table.
    text: String,
    /// What is wrong with it.
    wrong: Vec<String>,
}

fn tried(line: &Line, column: &Column, fuse: &FaultyFuse) -> Cell {
    fuse.set(Faults::default());
    for name in fuse.names() {
        if fuse.path(&name).is_dir() {
            std::fs::remove_dir_all(fuse.path(&name)).expect("removed");
        } else {
            fuse.take(&name);
        }
    }
    fuse.closed();
    fuse.put(THERE, &vec![5; LENGTH]);
    fuse.set(Faults { cached: line.cached(), full_at: line.room, ..column.faults.clone() });
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("record.json");
    let mut typed = line
        .typed(fuse, desk.path())
        .cwd(desk.path())
        .env("LC_ALL", "C")
        .patience(Duration::from_secs(60));
    typed = if line.own() {
        typed.word("--record").word(&file)
    } else {
        typed.env("ASSAY_RECORD", &file)
    };
    let ran = typed.run();
    let met = fuse.counts().met > 0;
    let left = fuse.names();
    let record = record::load(&file).ok();
    let mut wrong = Vec::new();
    if std::env::var_os("SHOW").is_some() {
        eprintln!("#### {} / {}\nleft {left:?}\n{ran}", line.name, column.name);
    }
    if std::env::var_os("TIMES").is_some() {
        eprintln!("{:?} {} / {}", ran.wall, line.name, column.name);
    }
    let text = match met {
        true => judged(line, column, &ran, record.as_ref(), &mut wrong),
        false => {
            if ![0, 3].contains(&ran.code()) {
                wrong.push(format!("status {} without a fault", ran.code()));
            }
            "-".into()
        }
    };
    if column.then == Then::Whole && met {
        whole(line, &fuse.path("new"), &mut wrong);
    }
    let at = fuse.mount().display().to_string();
    let mut may: Vec<&str> = vec![THERE];
    may.extend(line.leaves);
    for name in left.iter().filter(|name| !may.contains(&name.as_str())) {
        // What cannot be removed is left: it is named, and of a file with a mark beside it the file is.
        let named = format!("cannot remove {at}/{}", name.replace(".lock", ".tmp"));
        if column.call() != "unlink" || !ran.stderr.contains(&named) {
            wrong.push(format!("left: {name}"));
        }
    }
    if !left.iter().any(|name| name == THERE) {
        wrong.push("the file that was there is gone".into());
    }
    for one in &mut wrong {
        *one = format!("{} / {}: {one}\n{ran}", line.name, column.name);
    }
    Cell { text, wrong }
}

/// What is to be in the table, and what is wrong with the status, the messages and the record.
fn judged(
    line: &Line,
    column: &Column,
    ran: &Ran,
    record: Option<&Record>,
    wrong: &mut Vec<String>,
) -> String {
    let Some(record) = record else {
        wrong.push("no record".into());
        return "no record".into();
    };
    let reads = column.call() == "read";
    match (column.then, &record.ending) {
        // A census counts what it meets in each block, and ends by nothing.
        (Then::Fails(_) | Then::Harms, Ending::Complete) if line.counts() && reads => {
            let wrong_all = record.verdict.as_ref().is_some_and(|it| it.trust == Trust::Wrong);
            if ran.code() != 3 || !wrong_all {
                wrong.push(format!("status {}, {:?}", ran.code(), record.verdict));
            }
            if let Then::Fails(errno) = column.then
                && !ran.stdout.contains(&format!("answered with an error, the first with {errno}"))
            {
                wrong.push(format!("no {errno} on the page"));
            }
            return "counted".into();
        }
        (Then::Fails("EINTR"), Ending::Complete) => {}
        // What the kernel writes back fails as EIO, unless the device is full (mapping_set_error()).
        (Then::Fails("EDQUOT" | "EROFS" | "ESTALE"), _)
            if line.cached() && column.call() == "write" =>
        {
            return failure(line, column, "EIO", ran, record, wrong);
        }
        (Then::Fails(errno), _) => return failure(line, column, errno, ran, record, wrong),
        (Then::Harms, Ending::Failed(fault)) => {
            if ran.code() != 1 || fault.doing.name() != "verify" {
                wrong.push(format!("status {}, {fault}", ran.code()));
            }
            // What others look at in passing depends on what they come by.
            return if line.compares() { "seen" } else { "not compared" }.into();
        }
        _ => {}
    }
    if ![0, 3].contains(&ran.code()) || record.ending != Ending::Complete {
        wrong.push(format!("status {}, {:?}: it was to go on", ran.code(), record.ending));
    }
    match column.then {
        Then::Harms if line.compares() && reads => {
            wrong.push("what was read was wrong, and nobody says so".into());
            "not seen".into()
        }
        Then::Harms if reads => "not compared".into(),
        Then::Harms => "not seen".into(),
        Then::Waits => {
            if ran.wall < HANG {
                wrong.push(format!("it took {:?}", ran.wall));
            }
            if ran.stdout.contains("on purpose") || ran.stderr.contains("on purpose") {
                wrong.push("'on purpose' is said".into());
            }
            "waited for".into()
        }
        Then::Whole => "whole".into(),
        Then::Fails(_) => "tried again".into(),
    }
}

/// It failed with this errno: status 1, one message that says what could not be done where, and the record.
fn failure(
    line: &Line,
    column: &Column,
    errno: &str,
    ran: &Ran,
    record: &Record,
    wrong: &mut Vec<String>,
) -> String {
    if ran.code() != 1 {
        wrong.push(format!("status {} instead of 1", ran.code()));
    }
    let said = words(errno);
    let lines = |begins: &'static str| {
        let all = ran.stderr.lines().filter(move |text| text.starts_with(begins));
        all.filter(|text| text.contains(said)).collect::<Vec<&str>>()
    };
    // Its original's own message, or ours.
    let mut messages = lines("assay: cannot ");
    if messages.is_empty() {
        messages = line.tongue().map(lines).unwrap_or_default();
    }
    // Of several files that stay each is named.
    if messages.is_empty() || messages.len() > 1 && column.call() != "unlink" {
        wrong.push(format!("{} messages", messages.len()));
    }
    for message in messages.iter().filter(|message| message.starts_with("assay: ")) {
        if !message.contains(errno) || !message.contains(" /") {
            wrong.push(format!("no errno or path in '{message}'"));
        }
        let moves = message.contains("cannot write /") || message.contains("cannot read /");
        if moves && !message.contains(".tree/") && !message.contains(" at ") {
            wrong.push(format!("no offset in '{message}'"));
        }
    }
    let Ending::Failed(fault) = &record.ending else {
        wrong.push(format!("the record ended {:?}", record.ending));
        return "not heard".into();
    };
    if fault.name != errno || !fault.path.starts_with('/') {
        wrong.push(format!("the record says {} of {}", fault.name, fault.path));
    }
    if record.verdict.as_ref().is_none_or(|verdict| verdict.trust == Trust::Sound) {
        wrong.push("the record is sound, or has no verdict".into());
    }
    fault.doing.name().into()
}

/// What is copied is whole, however few bytes a call has moved.
fn whole(line: &Line, copy: &Path, wrong: &mut Vec<String>) {
    let Some(expected) = line.copies() else { return };
    match std::fs::read(copy) {
        Ok(bytes) if bytes == expected => {}
        other => wrong.push(format!("the copy: {:?}", other.map(|bytes| bytes.len()))),
    }
}

/// What the C library says for it.
fn words(errno: &str) -> &'static str {
    match errno {
        "EIO" => "Input/output error",
        "ENOSPC" => "No space left on device",
        "EDQUOT" => "Disk quota exceeded",
        "EROFS" => "Read-only file system",
        "ESTALE" => "Stale file handle",
        "EINTR" => "Interrupted system call",
        other => panic!("{other}"),
    }
}

#[test]
fn every_line_under_every_fault() {
    let _beside = lab::beside();
    let mounts: Vec<FaultyFuse> =
        (0..4).map_while(|_| FaultyFuse::new(Faults::default()).ok()).collect();
    if mounts.is_empty() {
        lab::need!(FaultyFuse::new(Faults::default()));
    }
    // What the kernel writes back for a mapping are few writes of many pages.
    let (columns, of_cache) = (columns(3), columns(1));
    let only = |variable, name: &str| {
        std::env::var(variable).is_ok_and(|part: String| !name.contains(&part))
    };
    let mut todo = Vec::new();
    for (row, line) in LINES.iter().enumerate() {
        for (place, column) in columns.iter().enumerate() {
            if meets(line, column) && !only("ONLY", line.name) && !only("FAULT", column.name) {
                todo.push((row, place));
            }
        }
    }
    let next = AtomicUsize::new(0);
    let cells: Mutex<Vec<Vec<Option<Cell>>>> =
        Mutex::new(LINES.iter().map(|_| columns.iter().map(|_| None).collect()).collect());
    std::thread::scope(|scope| {
        for fuse in &mounts {
            scope.spawn(|| {
                while let Some(&(row, place)) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let line = &LINES[row];
                    let columns = if line.cached() { &of_cache } else { &columns };
                    let cell = tried(line, &columns[place], fuse);
                    cells.lock().expect("whole")[row][place] = Some(cell);
                }
            });
        }
    });
    let cells = cells.into_inner().expect("whole");
    let wrong: Vec<&str> =
        cells.iter().flatten().flatten().flat_map(|cell| &cell.wrong).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    // A part of them is no page.
    if ["ONLY", "FAULT"].iter().all(|name| std::env::var_os(name).is_none()) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/faults.md");
        let page = page(&columns, &cells);
        if std::env::var_os("ASSAY_BLESS").is_some() {
            std::fs::write(&path, &page).expect("written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == page, "docs/faults.md differs (ASSAY_BLESS=1 accepts):\n{page}");
    }
}

/// What of a fault is told apart in the page.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "write fails",
        &[
            "write EIO",
            "write ENOSPC",
            "write EDQUOT",
            "write EROFS",
            "write ESTALE",
            "write EINTR",
            "write partial EIO",
        ],
    ),
    ("write short", &["write short"]),
    ("read fails", &["read EIO", "read ESTALE", "read EINTR", "read partial EIO"]),
    ("read short", &["read short"]),
    ("read flips a bit", &["read flips"]),
    ("read is stale", &["read stale"]),
    ("sync fails", &["sync EIO", "sync ENOSPC", "sync EINTR"]),
    ("sync lies", &["sync lies"]),
    ("close fails", &["close EIO", "close EDQUOT"]),
    ("unlink fails", &["unlink EIO", "unlink EROFS"]),
    ("create, open fail", &["create EDQUOT", "open ESTALE"]),
    ("read-only", &["all EROFS"]),
    ("hangs", &["write hangs", "read hangs", "sync hangs"]),
];

fn page(columns: &[Column], cells: &[Vec<Option<Cell>>]) -> String {
    let mut page = String::from(include_str!("page.md"));
    let heads: Vec<&str> = GROUPS.iter().map(|(head, _)| *head).collect();
    let _ =
        writeln!(page, "\n| line | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
    for (line, row) in LINES.iter().zip(cells) {
        let texts = GROUPS.iter().map(|(_, names)| {
            let of_group =
                columns.iter().zip(row).filter(|(column, _)| names.contains(&column.name));
            let mut texts: Vec<&str> =
                of_group.filter_map(|(_, cell)| Some(cell.as_ref()?.text.as_str())).collect();
            texts.retain(|text| *text != "-");
            let mut seen = std::collections::HashSet::new();
            texts.retain(|text| seen.insert(*text));
            if texts.is_empty() { "-".into() } else { texts.join(", ") }
        });
        let texts: Vec<String> = texts.collect();
        let _ = writeln!(page, "| {} | {} |", line.name, texts.join(" | "));
    }
    page
}
