//! A value as words: quantities with their units, variants by their messages.

use std::fmt::Display;

use fluent_bundle::{FluentArgs, FluentValue};
use serde::ser::{self, Serialize, Serializer};

use super::{ENGLISH, Voice};
use assay_plan::unit::{Bandwidth, Bytes, Iops, MeanInFlight, Nanos, Share};

/// The words of a value.
pub(super) fn spoken<T: Serialize + ?Sized>(value: &T, voice: Voice) -> String {
    match value.serialize(Speaker::plain(voice)) {
        Ok(FluentValue::String(text)) => text.into_owned(),
        Ok(FluentValue::Number(number)) => number.as_string().into_owned(),
        Ok(_) | Err(_) => String::new(),
    }
}

/// `CacheClaim` and `NotFromDevice` as the name of a message: `cache-not-from-device`.
pub(super) fn message_name(kind: &str, variant: &str) -> String {
    let kind = kind.strip_suffix("Claim").unwrap_or(kind);
    let mut name = String::with_capacity(kind.len() + variant.len() + 8);
    for letter in kind.chars().chain("-".chars()).chain(variant.chars()) {
        let breaks = letter.is_ascii_uppercase() && !name.is_empty() && !name.ends_with('-');
        if breaks || letter == '_' {
            name.push('-');
        }
        if letter != '_' {
            name.push(letter.to_ascii_lowercase());
        }
    }
    name
}

/// The message of this name; the name where there is none, which a test forbids.
fn message(name: &str, arguments: &FluentArgs<'_>, voice: Voice) -> String {
    let said = ENGLISH.with_borrow_mut(|catalogue| catalogue.message(name, arguments));
    said.map_or_else(|| name.to_string(), |said| voice.signs(said))
}

/// Makes a value into an argument of a message.
struct Speaker {
    /// How the messages begin by which lists are joined.
    list: &'static str,
    voice: Voice,
}

impl Speaker {
    /// Of lists as sentences have them: `sda, sdb and sdc`.
    fn plain(voice: Voice) -> Self {
        Self { list: "list", voice }
    }
}

/// What has no words: no claim has a field of it.
#[derive(Debug)]
struct Wordless(String);

impl Display for Wordless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wordless {}

impl ser::Error for Wordless {
    fn custom<T: Display>(text: T) -> Self {
        Self(text.to_string())
    }
}

type Spoken = Result<FluentValue<'static>, Wordless>;

fn text(text: impl Into<String>) -> Spoken {
    Ok(FluentValue::from(text.into()))
}

/// A number is chosen by its plural, and printed as it is.
macro_rules! numbers {
    ($($method:ident $kind:ty),*) => {$(
        fn $method(self, number: $kind) -> Spoken {
            Ok(FluentValue::from(number))
        }
    )*};
}

impl Serializer for Speaker {
    type Ok = FluentValue<'static>;
    type Error = Wordless;
    type SerializeSeq = SpokenList;
    type SerializeTuple = ser::Impossible<FluentValue<'static>, Wordless>;
    type SerializeTupleStruct = ser::Impossible<FluentValue<'static>, Wordless>;
    type SerializeTupleVariant = ser::Impossible<FluentValue<'static>, Wordless>;
    type SerializeMap = ser::Impossible<FluentValue<'static>, Wordless>;
    type SerializeStruct = SpokenMessage;
    type SerializeStructVariant = SpokenMessage;

    numbers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64
    }

    fn serialize_f32(self, number: f32) -> Spoken {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Spoken {
        Ok(FluentValue::from(number))
    }

    fn serialize_bool(self, yes: bool) -> Spoken {
        text(if yes { "yes" } else { "no" })
    }

    fn serialize_char(self, letter: char) -> Spoken {
        text(letter)
    }

    fn serialize_str(self, said: &str) -> Spoken {
        text(self.voice.text(said))
    }

    fn serialize_bytes(self, _: &[u8]) -> Spoken {
        Err(ser::Error::custom("bytes"))
    }

    fn serialize_none(self) -> Spoken {
        text("none")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Spoken {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Spoken {
        text("none")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Spoken {
        text(name)
    }

    /// Its message, where it has one; a selector else.
    fn serialize_unit_variant(self, kind: &'static str, _: u32, variant: &'static str) -> Spoken {
        let name = message_name(kind, variant);
        if ENGLISH.with_borrow(|catalogue| catalogue.has(&name)) {
            return text(message(&name, &FluentArgs::new(), self.voice));
        }
        text(variant)
    }

    /// A quantity, with its unit.
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Spoken {
        match name {
            "Sentences" => return value.serialize(Self { list: "sentences", ..self }),
            "Series" => return value.serialize(Self { list: "series", ..self }),
            "Values" => return value.serialize(Self { list: "values", ..self }),
            _ => {}
        }
        let FluentValue::Number(number) = value.serialize(Self::plain(self.voice))? else {
            return Err(ser::Error::custom(name));
        };
        let value = number.value;
        match name {
            "Bytes" if self.voice.bare_sizes => text(["\0", &value.to_string(), "\0"].concat()),
            "Bytes" => text(Bytes(value as u64).to_string()),
            "Nanos" => self.serialize_str(&Nanos(value as u64).to_string()),
            "Bandwidth" => self.serialize_str(&Bandwidth(value).to_string()),
            "MeanInFlight" => text(MeanInFlight(value).to_string()),
            "Iops" => text(Iops(value).to_string()),
            "Share" => text(Share(value).to_string()),
            // How many digits it has, its message says.
            "Times" => Ok(FluentValue::Number(number)),
            _ => Err(ser::Error::custom(name)),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        kind: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Spoken {
        let mut arguments = FluentArgs::new();
        arguments.set("value", value.serialize(Self::plain(self.voice))?);
        text(message(&message_name(kind, variant), &arguments, self.voice))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<SpokenList, Wordless> {
        Ok(SpokenList { speaker: self, items: Vec::new() })
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Wordless> {
        Err(ser::Error::custom("a tuple"))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Wordless> {
        Err(ser::Error::custom(name))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Wordless> {
        Err(ser::Error::custom(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Wordless> {
        Err(ser::Error::custom("a map"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<SpokenMessage, Wordless> {
        Ok(SpokenMessage::of(message_name(name, "").trim_end_matches('-'), self.voice))
    }

    fn serialize_struct_variant(
        self,
        kind: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<SpokenMessage, Wordless> {
        Ok(SpokenMessage::of(&message_name(kind, variant), self.voice))
    }
}

/// A message and its arguments.
struct SpokenMessage {
    name: String,
    arguments: FluentArgs<'static>,
    voice: Voice,
}

impl SpokenMessage {
    fn of(name: &str, voice: Voice) -> Self {
        Self { name: name.to_string(), arguments: FluentArgs::new(), voice }
    }
}

/// A struct and a variant with fields are said alike.
macro_rules! said_by_fields {
    ($($kind:ident),*) => {$(
        impl ser::$kind for SpokenMessage {
            type Ok = FluentValue<'static>;
            type Error = Wordless;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Wordless> {
                self.arguments.set(name, value.serialize(Speaker::plain(self.voice))?);
                Ok(())
            }

            fn end(self) -> Spoken {
                text(message(&self.name, &self.arguments, self.voice))
            }
        }
    )*};
}

said_by_fields! { SerializeStruct, SerializeStructVariant }

/// Several of a kind.
struct SpokenList {
    speaker: Speaker,
    items: Vec<FluentValue<'static>>,
}

impl SpokenList {
    /// By two messages, `list-next` and `list-last`, of what stands before and one more.
    fn said(mut self) -> Spoken {
        let Some(last) = self.items.pop() else { return text("none") };
        let joined = |name: &str, before: FluentValue<'static>, item: FluentValue<'static>| {
            let mut arguments = FluentArgs::new();
            arguments.set("before", before);
            arguments.set("item", item);
            FluentValue::from(message(
                &format!("{}-{name}", self.speaker.list),
                &arguments,
                self.speaker.voice,
            ))
        };
        let before = self.items.into_iter().reduce(|before, item| joined("next", before, item));
        Ok(match before {
            Some(before) => joined("last", before, last),
            None => last,
        })
    }
}

impl ser::SerializeSeq for SpokenList {
    type Ok = FluentValue<'static>;
    type Error = Wordless;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wordless> {
        self.items.push(value.serialize(Speaker::plain(self.speaker.voice))?);
        Ok(())
    }

    fn end(self) -> Spoken {
        self.said()
    }
}
