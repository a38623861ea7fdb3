//! Pages of records, and the files that they are compared with.

use assay::report::{self, TerminalStyle};
use assay_record::record::Record;

pub const UNICODE: TerminalStyle = TerminalStyle { colour: false, unicode: true, width: 90 };
pub const ASCII: TerminalStyle = TerminalStyle { colour: false, unicode: false, width: 80 };

/// The record as assay's own page.
pub fn page(record: &Record, style: TerminalStyle) -> String {
    printed(record, "text", style)
}

/// The record in the format of that name.
pub fn printed(record: &Record, format: &str, style: TerminalStyle) -> String {
    let mut out = Vec::new();
    let format = report::format(format).expect("there");
    (format.write)(record, style, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// Compares with `tests/<folder>/<name>.txt`, or writes it.
pub fn golden(folder: &str, name: &str, text: &str) {
    golden_file(folder, &format!("{name}.txt"), text);
}

/// The same with a name that has its ending.
pub fn golden_file(folder: &str, name: &str, text: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let path = folder.join(name);
    if std::env::var_os("ASSAY_BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(&path, text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{name} differs (ASSAY_BLESS=1 accepts)\n--- is\n{text}\n--- was\n{kept}"
    );
}

/// Columns of terminals at which pages are kept.
pub const WIDTHS: [usize; 3] = [60, 80, 120];

/// Compares what is printed at each of these widths with `tests/width/<name>-<width>.txt`, or writes it.
pub fn golden_at_widths(name: &str, print: impl Fn(TerminalStyle) -> String) {
    for width in WIDTHS {
        let page = print(TerminalStyle { width, ..UNICODE });
        fits(name, &page, width);
        golden("width", &format!("{name}-{width}"), &page);
    }
}

/// Asserts that no line is wider, but for a path or word that is itself longer, and for commands: they
/// are there to be copied.
pub fn fits(name: &str, page: &str, width: usize) {
    const COMMANDS: [&str; 16] = [
        "assay ",
        "ASSAY_",
        "dd ",
        "busybox ",
        "bonnie++ ",
        "fio ",
        "sudo ",
        "sync",
        "mount ",
        "echo ",
        "pidstat ",
        "ps ",
        "fuser ",
        "truncate ",
        "blkdiscard ",
        "cat ",
    ];
    const LABEL: usize = 11;
    for line in page.lines().filter(|line| line.chars().count() > width) {
        let behind = |from: usize| line.chars().skip(from).collect::<String>();
        let text = behind(LABEL);
        let word = !text.trim().contains(' ') || !line.trim().contains(' ');
        let starts = |text: &str| {
            let text = text.trim_start().trim_start_matches("→ ").trim_start_matches("-> ");
            let text = text.trim_start_matches("assay: next: ").trim_start_matches(['\'', '"']);
            COMMANDS.iter().any(|command| text.starts_with(command))
        };
        assert!(word || starts(line) || starts(&text), "{name} at {width}: {line}\n{page}");
    }
}

/// A page without its last lines, which say when and where.
pub fn undated(page: &str) -> String {
    let parts: Vec<&str> = page.trim_end().split("\n\n").collect();
    parts[..parts.len() - 1].join("\n\n") + "\n"
}
