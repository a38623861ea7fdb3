//! How documents are read from JSON: all of them by one reader, in which the fields of a struct have names.
//!
//! serde also reads a struct from a list of its fields in their order, which no document of ours is. The code for
//! that was a third of all that reads, so it is kept out: what is between the reader of JSON and a struct asks for
//! a map. The same makes words of all strings ([`name::tamed`]).

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use assay_plan::name;

/// The value of a whole text.
///
/// # Errors
/// When it is no JSON, or not that of such a value; with its line and column.
pub fn read_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(ByName(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// The value with which a text begins, and what comes behind it.
///
/// # Errors
/// As [`read_json`].
pub(super) fn read_first<T: DeserializeOwned>(text: &str) -> serde_json::Result<(T, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<ValueByName<T>>();
    match values.next() {
        Some(value) => Ok((value?.0, &text[values.byte_offset()..])),
        None => Err(Error::custom("there is none")),
    }
}

/// A value whose structs are read by names.
struct ValueByName<T>(T);

impl<'de, T: DeserializeOwned> serde::Deserialize<'de> for ValueByName<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        T::deserialize(ByName(reader)).map(Self)
    }
}

/// A reader whose structs are maps, on every level below it. Also what such a reader gives to read on from.
struct ByName<R>(R);

/// Forwards to the reader inside, with a visitor that keeps to names.
macro_rules! forward {
    ($($method:ident($($name:ident: $kind:ty),*)),* $(,)?) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Levels(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ByName<D> {
    type Error = D::Error;

    forward! {
        deserialize_any(), deserialize_bool(), deserialize_i8(), deserialize_i16(), deserialize_i32(),
        deserialize_i64(), deserialize_i128(), deserialize_u8(), deserialize_u16(), deserialize_u32(),
        deserialize_u64(), deserialize_u128(), deserialize_f32(), deserialize_f64(), deserialize_char(),
        deserialize_str(), deserialize_string(), deserialize_bytes(), deserialize_byte_buf(),
        deserialize_option(), deserialize_unit(), deserialize_seq(), deserialize_map(),
        deserialize_identifier(), deserialize_ignored_any(),
        deserialize_unit_struct(name: &'static str),
        deserialize_newtype_struct(name: &'static str),
        deserialize_tuple(len: usize),
        deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Fields(visitor))
    }
}

/// A visitor that is given no readers but those that keep to names.
struct Levels<V>(V);

/// Hands a value on.
macro_rules! hand_on {
    ($($method:ident: $kind:ty),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Levels<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(out)
    }

    hand_on! {
        visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128, visit_f64: f64,
        visit_bytes: &[u8], visit_borrowed_bytes: &'de [u8], visit_byte_buf: Vec<u8>,
    }

    // Strangers wrote it.
    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        self.0.visit_str(&name::tamed(text))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        match name::tamed(text) {
            Cow::Borrowed(text) => self.0.visit_borrowed_str(text),
            Cow::Owned(text) => self.0.visit_string(text),
        }
    }

    fn visit_string<E: Error>(self, text: String) -> Result<V::Value, E> {
        match name::tamed(&text) {
            Cow::Borrowed(_) => self.0.visit_string(text),
            Cow::Owned(text) => self.0.visit_string(text),
        }
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(ByName(reader))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, reader: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(ByName(reader))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(ByName(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(ByName(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(ByName(variant))
    }
}

/// The visitor of a struct: it takes a map, and nothing else.
struct Fields<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Fields<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(out)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(ByName(entries))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(ByName(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(ByName(seed))
    }

    // One for all fields of a type, not one for each.
    #[inline(never)]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(ByName(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for ByName<A> {
    type Error = A::Error;
    type Variant = ByName<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0.variant_seed(seed).map(|(variant, content)| (variant, ByName(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(ByName(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Levels(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Fields(visitor))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ByName<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ByName(reader))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Round,
        Square { side: u8 },
        Named(String),
        Pair(u8, Inner),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        n: u8,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Flattened {
        #[serde(flatten)]
        rest: BTreeMap<String, Inner>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Document {
        shapes: Vec<Shape>,
        inner: Option<Box<Inner>>,
        by_name: BTreeMap<String, (u8, Inner)>,
        flattened: Flattened,
        #[serde(default)]
        any: serde_json::Value,
    }

    const TEXT: &str = r#"{"shapes": ["round", {"square": {"side": 3}}, {"named": "x"}, {"pair": [1, {"n": 2}]}],
        "inner": {"n": 4}, "by_name": {"a": [5, {"n": 6}]}, "flattened": {"b": {"n": 7}}, "any": [{"c": null}, -1, 0.5]}"#;

    #[test]
    fn what_serde_reads_is_read() {
        let plain: Document = serde_json::from_str(TEXT).expect("a document");
        assert_eq!(read_json::<Document>(TEXT).expect("the same"), plain);
        let (first, rest) = read_first::<Document>(&format!("{TEXT}\n[1]"))
            .map(|(first, rest)| (first, rest.to_string()))
            .expect("the first");
        assert_eq!((first, &*rest), (plain, "\n[1]"));
    }

    #[test]
    fn strings_are_words_whoever_wrote_them() {
        let text = TEXT.replace(r#""x""#, r#""x\n\u001b""#).replace("null", "\"\u{202e}\"");
        let read = read_json::<Document>(&text).expect("a document");
        assert_eq!(read.shapes[2], Shape::Named("x\u{10fe0a}\u{10fe1b}".into()));
        assert_eq!(read.any[0]["c"], "\u{10fee2}\u{10fe80}\u{10feae}");
        let mut again = Vec::new();
        crate::record::write_json(&read.any, crate::record::JsonLayout::Line, &mut again)
            .expect("written");
        assert_eq!(again, br#"[{"c":"\u202e"},-1,0.5]"#);
    }

    #[test]
    fn a_struct_is_no_list_wherever_it_stands() {
        for text in [r#"[1]"#, r#"{"n": 1} 2"#, r#"{"n": -1}"#] {
            assert!(read_json::<Inner>(text).is_err(), "{text}");
        }
        // But for one below a flattened field, which serde keeps and reads again by itself.
        for inner in [r#"{"n": 4}"#, r#"{"n": 2}"#, r#"{"n": 6}"#, r#"{"side": 3}"#] {
            let text = TEXT.replace(inner, "[4]");
            assert_ne!(text, TEXT);
            let error = read_json::<Document>(&text).expect_err(&text).to_string();
            assert!(
                error.contains("invalid type: sequence, expected struct")
                    && error.contains(" at line "),
                "{error}"
            );
        }
    }
}
