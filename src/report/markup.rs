//! Elements of SVG and HTML. What comes from a record is escaped here and nowhere else: paths and
//! descriptions are whatever their owners like.

use std::fmt::{Display, Write as _};

use assay_plan::name;

/// Names and values of an element.
pub type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// A document while it grows; each element stands on a line of its own.
#[derive(Debug, Default)]
pub struct Markup(String);

impl Markup {
    pub fn into_text(self) -> String {
        self.0
    }

    /// A line of markup that is no record's.
    pub fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
        self.0.push('\n');
    }

    /// The begin of an element.
    pub fn open(&mut self, name: &str, attributes: Attributes) {
        self.tag(name, attributes, ">\n");
    }

    /// The end of an element.
    pub fn close(&mut self, name: &str) {
        let _ = writeln!(self.0, "</{name}>");
    }

    /// An element with nothing in it.
    pub fn leaf(&mut self, name: &str, attributes: Attributes) {
        self.tag(name, attributes, "/>\n");
    }

    /// An element with a text in it.
    pub fn text(&mut self, name: &str, attributes: Attributes, text: &str) {
        self.tag(name, attributes, ">");
        self.0.push_str(&escaped(text));
        self.close(name);
    }

    /// An element of a picture that says what it is when somebody points at it.
    pub fn told(&mut self, name: &str, attributes: Attributes, told: &str) {
        if told.is_empty() {
            return self.leaf(name, attributes);
        }
        self.tag(name, attributes, ">");
        self.0.push_str("<title>");
        self.0.push_str(&escaped(told));
        self.0.push_str("</title>");
        self.close(name);
    }

    fn tag(&mut self, name: &str, attributes: Attributes, end: &str) {
        let _ = write!(self.0, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"{}\"", escaped(&value.to_string()));
        }
        self.0.push_str(end);
    }
}

/// A text in which nothing is markup. Characters that XML has no way to write, or that
/// nobody sees, become U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            c if name::is_hidden(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let mut out = Markup::default();
        out.text("p", &[("title", &"\"a\" & 'b'")], "</p><script>\u{1b}[0m\u{0}");
        let told = "<p title=\"&quot;a&quot; &amp; &#39;b&#39;\">&lt;/p&gt;&lt;script&gt;\u{fffd}[0m\u{fffd}</p>\n";
        assert_eq!(out.into_text(), told);
    }
}
