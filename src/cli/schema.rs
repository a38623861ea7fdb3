//! The schemas of our documents: a file of the package, `docs/schema.txt`, which the types of the documents make in a
//! test. So the program carries the text, compressed by `build.rs`, and not the code that makes it.
//!
//! Documents share most of their definitions. A line is the names of documents, a tab, and what all of them have:
//! a definition, or the document itself without its definitions.

use std::io::{self, Read as _};

use clap::ValueEnum as _;
use flate2::read::DeflateDecoder;

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SchemaDocument {
    Record,
    Plan,
    Probe,
    Explanation,
    Comparison,
    Watch,
}

/// `docs/schema.txt`, compressed.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"));

impl SchemaDocument {
    /// Its schema, with a line break at its end.
    ///
    /// # Errors
    /// None but what unpacking has.
    pub fn text(self) -> io::Result<String> {
        let mut all = String::new();
        DeflateDecoder::new(PACKED).read_to_string(&mut all)?;
        let mut document = "";
        let mut definitions: Vec<&str> = Vec::new();
        for line in all.lines() {
            match line.split_once('\t') {
                Some((names, part)) if names.split(' ').any(|name| name == self.name()) => {
                    match part.strip_suffix('}').filter(|part| part.starts_with('{')) {
                        Some(open) => document = open,
                        None => definitions.push(part),
                    }
                }
                _ => {}
            }
        }
        Ok(indented(&format!("{document},\"$defs\":{{{}}}}}", definitions.join(","))))
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }
}

/// JSON without blanks as people read it. Its keys stay in their order, which a map would not keep.
fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut rest = text.chars().peekable();
    while let Some(sign) = rest.next() {
        let broken = |depth: usize| format!("\n{}", "  ".repeat(depth));
        match sign {
            _ if quoted => {
                quoted = sign != '"' || escaped;
                escaped = sign == '\\' && !escaped;
                out.push(sign);
            }
            '{' | '[' => {
                out.push(sign);
                match rest.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        out += &broken(depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                out += &broken(depth);
                out.push(sign);
            }
            ',' => out += &format!(",{}", broken(depth)),
            ':' => out += ": ",
            _ => {
                quoted = sign == '"';
                out.push(sign);
            }
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use schemars::{Schema, schema_for};

    use super::*;
    use assay_plan::plan::Plan;
    use assay_record::record::{
        Comparison, Explanation, IntervalStats, ProbeResult, RecordDocument,
    };

    /// `ASSAY_BLESS=1` writes the file.
    #[test]
    fn the_schemas_that_are_published_are_those_of_the_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema.txt");
        let mut lines: Vec<String> = Vec::new();
        let mut definitions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let bless = std::env::var_os("ASSAY_BLESS").is_some();
        for document in SchemaDocument::value_variants() {
            let mut schema = match document {
                SchemaDocument::Record => schema_for!(RecordDocument<'_>),
                SchemaDocument::Plan => schema_for!(Plan),
                SchemaDocument::Probe => schema_for!(ProbeResult),
                SchemaDocument::Explanation => schema_for!(Explanation),
                SchemaDocument::Comparison => schema_for!(Comparison),
                SchemaDocument::Watch => schema_for!(IntervalStats),
            };
            let own = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
            let name = document.name();
            let parts = schema.remove("$defs").expect("definitions");
            for (part, definition) in parts.as_object().expect("definitions") {
                let definition = Schema::try_from(definition.clone()).expect("a schema");
                let definition = serde_json::to_string(&definition).expect("JSON");
                let line = format!("\"{part}\":{definition}");
                definitions.entry(line).or_default().push(name.clone());
            }
            lines.push(format!("{name}\t{}\n", serde_json::to_string(&schema).expect("JSON")));
            let printed = document.text().expect("unpacked");
            assert!(bless || printed == own, "{name} is not what the types say: {BLESS}");
        }
        lines.extend(
            definitions.iter().map(|(line, names)| format!("{}\t{line}\n", names.join(" "))),
        );
        if bless {
            std::fs::write(&path, lines.concat()).expect("written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == lines.concat(), "{} is not what the types say: {BLESS}", path.display());
    }

    /// What writes the file. It is in the program when that is built anew.
    const BLESS: &str = "ASSAY_BLESS=1 cargo test --lib cli::schema";

    #[test]
    fn signs_within_quotes_are_no_structure() {
        let text = indented(r#"{"a{":["\"],:\\",{},[]],"b":-1}"#);
        let wanted: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(serde_json::to_string_pretty(&wanted).expect("JSON") + "\n", text);
    }
}
