//! How documents are written as JSON: all of them by one serializer, so that a program of many documents has the
//! code for each once. Names of files in them are written as [`JsonNames`] has them.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use assay_plan::name::JsonNames;

/// What has lines of its own in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonLayout {
    /// Nothing: it is one line.
    Line,
    /// Its parts, and what each is a list of: of a long run the indentation alone would be more than what
    /// it says.
    Parts,
    /// Everything.
    Indented,
}

impl JsonLayout {
    /// Levels with lines of their own.
    const fn levels(self) -> usize {
        match self {
            Self::Line => 0,
            Self::Parts => 2,
            Self::Indented => usize::MAX,
        }
    }
}

/// Writes a value, without a line break at its end.
///
/// # Errors
/// When it cannot be written, or a part of it cannot be JSON.
pub fn write_json(
    value: &(impl Serialize + ?Sized),
    layout: JsonLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let names: &mut dyn Write = &mut JsonNames(&mut out);
    let formatter = LevelFormatter { levels: layout.levels(), ..LevelFormatter::default() };
    value.serialize(&mut Serializer::with_formatter(names, formatter))?;
    out.flush()
}

/// A value as text in one line, without a line break at its end.
///
/// # Errors
/// When a part of it cannot be JSON.
pub fn json_line(value: &(impl Serialize + ?Sized)) -> io::Result<String> {
    let mut text = Vec::new();
    write_json(value, JsonLayout::Line, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// Indents the outer levels.
#[derive(Clone, Debug, Default)]
struct LevelFormatter {
    outer: PrettyFormatter<'static>,
    inner: CompactFormatter,
    levels: usize,
    depth: usize,
}

/// Hands a call to the formatter of the level that it is for.
macro_rules! by_level {
    ($this:ident.$call:ident($($argument:expr),*)) => {
        match $this.depth <= $this.levels {
            true => $this.outer.$call($($argument),*),
            false => $this.inner.$call($($argument),*),
        }
    };
}

impl Formatter for LevelFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        by_level!(self.begin_array(out))
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let ended = by_level!(self.end_array(out));
        self.depth -= 1;
        ended
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        by_level!(self.begin_array_value(out, first))
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        by_level!(self.end_array_value(out))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        by_level!(self.begin_object(out))
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let ended = by_level!(self.end_object(out));
        self.depth -= 1;
        ended
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        by_level!(self.begin_object_key(out, first))
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        by_level!(self.begin_object_value(out))
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        by_level!(self.end_object_value(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_of_a_list_has_a_line() {
        let value =
            serde_json::json!({ "a": [{ "b": [1, { "c": {} }] }, { "b": [] }], "d": "x", "e": [] });
        let written = |layout| {
            let mut text = Vec::new();
            write_json(&value, layout, &mut text).expect("written");
            String::from_utf8(text).expect("text")
        };
        let text = written(JsonLayout::Parts);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
        let lines = [
            "{",
            "  \"a\": [",
            "    {\"b\":[1,{\"c\":{}}]},",
            "    {\"b\":[]}",
            "  ],",
            "  \"d\": \"x\",",
            "  \"e\": []",
            "}",
        ];
        assert_eq!(text, lines.join("\n"));
        let own = serde_json::to_string_pretty(&value).expect("JSON");
        assert_eq!(written(JsonLayout::Indented), own);
        assert_eq!(written(JsonLayout::Line), serde_json::to_string(&value).expect("JSON"));
        assert_eq!(json_line(&value).expect("JSON"), written(JsonLayout::Line));
    }
}
