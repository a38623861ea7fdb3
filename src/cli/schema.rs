//! The schemas of our documents: files of the package (`docs/schema`), which the types of the documents make in a
//! test. So the program carries the texts, compressed by `build.rs`, and not the code that makes them.

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

/// The texts of `docs/schema` in sections, compressed: `build.rs` says how.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"));

impl SchemaDocument {
    /// Its schema, with a line break at its end.
    ///
    /// # Errors
    /// None but what unpacking has.
    pub fn text(self) -> io::Result<String> {
        let mut all = String::new();
        DeflateDecoder::new(PACKED).read_to_string(&mut all)?;
        let sections: Vec<&str> = all.split('\0').collect();
        let name = self.to_possible_value().map(|value| value.get_name().to_string());
        let document = sections.iter().find_map(|section| {
            let (heading, document) = section.split_once('\n')?;
            (Some(heading) == name.as_deref()).then_some(document)
        });
        let mut text = String::new();
        for line in document.ok_or(io::ErrorKind::NotFound)?.lines() {
            match line.strip_prefix('\t') {
                Some(number) => {
                    let digits = number.trim_end_matches(',');
                    let definition = digits.parse().ok().and_then(|at: usize| sections.get(at));
                    text += definition.ok_or(io::ErrorKind::InvalidData)?;
                    text += &number[digits.len()..];
                }
                None => text += line,
            }
            text.push('\n');
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use schemars::schema_for;

    use super::*;
    use assay_plan::plan::Plan;
    use assay_record::record::{
        Comparison, Explanation, IntervalStats, ProbeResult, RecordDocument,
    };

    /// `ASSAY_BLESS=1` writes the files.
    #[test]
    fn the_schemas_that_are_published_are_those_of_the_types() {
        for document in SchemaDocument::value_variants() {
            let schema = match document {
                SchemaDocument::Record => schema_for!(RecordDocument<'_>),
                SchemaDocument::Plan => schema_for!(Plan),
                SchemaDocument::Probe => schema_for!(ProbeResult),
                SchemaDocument::Explanation => schema_for!(Explanation),
                SchemaDocument::Comparison => schema_for!(Comparison),
                SchemaDocument::Watch => schema_for!(IntervalStats),
            };
            let own = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
            let name = document.to_possible_value().expect("a word").get_name().to_string();
            let path =
                Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schema/{name}.json"));
            if std::env::var_os("ASSAY_BLESS").is_some() {
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                std::fs::write(path, own).expect("written");
                continue;
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                kept == own,
                "{} is not what the types say: ASSAY_BLESS=1 cargo test --lib cli::schema",
                path.display()
            );
            assert!(document.text().expect("unpacked") == own, "{name} is packed as it was before");
        }
    }
}
