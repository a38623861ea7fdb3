//! A document as fio writes JSON: keys in a fixed order, `"key" : value`, numbers with six decimals.

use std::fmt::Write;

use assay_plan::name;

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum FioJson {
    Whole(i128),
    /// A number with six decimals.
    Decimal(f64),
    Text(String),
    /// Keys and values in their order.
    Object(Vec<(String, FioJson)>),
    List(Vec<FioJson>),
    /// A word of JSON as it is: `true`, `null`, a number.
    Word(String),
}

impl From<&serde_json::Value> for FioJson {
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Array(values) => Self::List(values.iter().map(Self::from).collect()),
            serde_json::Value::Object(pairs) => {
                Self::Object(pairs.iter().map(|(key, value)| (key.clone(), value.into())).collect())
            }
            other => Self::Word(other.to_string()),
        }
    }
}

impl From<u64> for FioJson {
    fn from(number: u64) -> Self {
        Self::Whole(number.into())
    }
}

impl From<f64> for FioJson {
    fn from(number: f64) -> Self {
        Self::Decimal(number)
    }
}

impl From<&str> for FioJson {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl FioJson {
    pub fn object(pairs: impl IntoIterator<Item = (&'static str, FioJson)>) -> Self {
        Self::Object(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The document, without a line end.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.put(&mut out, 0);
        out
    }

    fn put(&self, out: &mut String, level: usize) {
        match self {
            Self::Whole(number) => {
                let _ = write!(out, "{number}");
            }
            // JSON has no words for what is no number.
            Self::Decimal(number) => {
                let number = if number.is_finite() { *number } else { 0.0 };
                let _ = write!(out, "{number:.6}");
            }
            Self::Text(text) => put_text(out, text),
            Self::Word(word) => out.push_str(word),
            Self::Object(pairs) => {
                put_all(out, level, ['{', '}'], pairs, |out, (key, value)| {
                    put_text(out, key);
                    out.push_str(" : ");
                    value.put(out, level + 1);
                });
            }
            Self::List(values) => {
                put_all(out, level, ['[', ']'], values, |out, value| value.put(out, level + 1));
            }
        }
    }
}

fn put_all<T>(
    out: &mut String,
    level: usize,
    [open, close]: [char; 2],
    all: &[T],
    put: impl Fn(&mut String, &T),
) {
    out.push(open);
    out.push('\n');
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            out.push_str(",\n");
        }
        indent(out, level + 1);
        put(out, one);
    }
    out.push('\n');
    indent(out, level);
    out.push(close);
}

fn indent(out: &mut String, level: usize) {
    (0..level).for_each(|_| out.push_str("  "));
}

/// Text in quotes. Control characters are escaped, too, which fio forgets.
fn put_text(out: &mut String, text: &str) {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    out.push_str(&name::in_json(&quoted));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_document_is_spaced_as_fio_does_it() {
        let list = FioJson::List(vec![1_u64.into(), FioJson::Object(Vec::new())]);
        let all = FioJson::object([("a", 1.5.into()), ("b", "x\"y".into()), ("c", list)]);
        assert_eq!(
            all.write(),
            "{\n  \"a\" : 1.500000,\n  \"b\" : \"x\\\"y\",\n  \"c\" : [\n    1,\n    {\n\n    }\n  ]\n}"
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(key: String, text: String, number: f64) {
            let all = FioJson::Object(vec![(key.clone(), FioJson::Text(text.clone())), ("n".into(), number.into())]);
            let read: serde_json::Value = serde_json::from_str(&all.write()).expect("JSON");
            if key != "n" {
                prop_assert_eq!(&read[&key], &text);
            }
            prop_assert!(read["n"].is_number());
        }

        #[test]
        fn what_assay_says_arrives_whole(number: f64, whole: u64, text: String) {
            let said = serde_json::json!({"number": number, "whole": [whole, null, true], "text": text});
            let read: serde_json::Value = serde_json::from_str(&FioJson::from(&said).write()).expect("JSON");
            prop_assert_eq!(read, said);
        }
    }
}
