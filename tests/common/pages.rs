//! Pages of records, and the files that they are compared with.

use assay::record::Record;
use assay::report::{self, Style};

pub const UNICODE: Style = Style { colour: false, unicode: true, width: 90 };
pub const ASCII: Style = Style { colour: false, unicode: false, width: 80 };

/// The record as assay's own page.
pub fn page(record: &Record, style: Style) -> String {
    printed(record, "text", style)
}

/// The record in the format of that name.
pub fn printed(record: &Record, format: &str, style: Style) -> String {
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
