//! JSON of which only the outer levels have lines of their own: of a long run the indentation alone would be more
//! than what it says.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Levels with lines of their own: the parts of the document, and what each is a list of.
const LEVELS: usize = 2;

/// Indents the outer levels.
#[derive(Clone, Debug, Default)]
pub struct ShallowFormatter {
    outer: PrettyFormatter<'static>,
    inner: CompactFormatter,
    depth: usize,
}

/// Hands a call to the formatter of the level that it is for.
macro_rules! by_level {
    ($this:ident.$call:ident($($argument:expr),*)) => {
        match $this.depth <= LEVELS {
            true => $this.outer.$call($($argument),*),
            false => $this.inner.$call($($argument),*),
        }
    };
}

impl Formatter for ShallowFormatter {
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
    use serde::Serialize;

    use super::*;

    #[test]
    fn each_element_of_a_list_has_a_line() {
        let value =
            serde_json::json!({ "a": [{ "b": [1, { "c": {} }] }, { "b": [] }], "d": "x", "e": [] });
        let mut text = Vec::new();
        let mut serializer =
            serde_json::Serializer::with_formatter(&mut text, ShallowFormatter::default());
        value.serialize(&mut serializer).expect("JSON");
        let text = String::from_utf8(text).expect("text");
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
    }
}
