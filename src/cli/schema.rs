//! The schemas of our documents: files of the package (`docs/schema`), which the types of the documents make in a
//! test. So the program carries the texts, compressed by `build.rs`, and not the code that makes them.

use std::io::{self, Read as _};

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

/// The text of `docs/schema`, compressed.
macro_rules! packed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".json.deflate"))
    };
}

impl SchemaDocument {
    const fn packed(self) -> &'static [u8] {
        match self {
            Self::Record => packed!("record"),
            Self::Plan => packed!("plan"),
            Self::Probe => packed!("probe"),
            Self::Explanation => packed!("explanation"),
            Self::Comparison => packed!("comparison"),
            Self::Watch => packed!("watch"),
        }
    }

    /// Its schema, with a line break at its end.
    ///
    /// # Errors
    /// None but what unpacking has.
    pub fn text(self) -> io::Result<String> {
        let mut text = String::new();
        DeflateDecoder::new(self.packed()).read_to_string(&mut text)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::ValueEnum as _;
    use schemars::schema_for;

    use super::*;
    use crate::plan::Plan;
    use crate::record::{Comparison, Explanation, IntervalStats, ProbeResult, RecordDocument};

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
