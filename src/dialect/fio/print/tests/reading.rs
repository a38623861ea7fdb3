//! JSON with its keys in order, as fio wrote it.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::FioJson;

impl<'de> Deserialize<'de> for FioJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = FioJson;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_u64<E>(self, number: u64) -> Result<FioJson, E> {
        Ok(FioJson::Whole(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<FioJson, E> {
        Ok(FioJson::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<FioJson, E> {
        Ok(FioJson::Decimal(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<FioJson, E> {
        Ok(FioJson::Text(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FioJson, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(FioJson::Object(pairs))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FioJson, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(FioJson::List(values))
    }
}

/// What a document holds; what is missing is a failed test.
impl FioJson {
    pub(super) fn get(&self, key: &str) -> Option<&FioJson> {
        self.pairs().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn at(&self, key: &str) -> &FioJson {
        self.get(key).unwrap_or_else(|| panic!("no '{key}' in {self:?}"))
    }

    pub(super) fn pairs(&self) -> &[(String, FioJson)] {
        match self {
            Self::Object(pairs) => pairs,
            other => panic!("no object: {other:?}"),
        }
    }

    pub(super) fn list(&self) -> &[FioJson] {
        match self {
            Self::List(values) => values,
            other => panic!("no list: {other:?}"),
        }
    }

    pub(super) fn whole(&self) -> u64 {
        match self {
            Self::Whole(number) => u64::try_from(*number).expect("not below 0"),
            other => panic!("no whole number: {other:?}"),
        }
    }

    pub(super) fn decimal(&self) -> f64 {
        match self {
            Self::Decimal(number) => *number,
            other => panic!("no decimal: {other:?}"),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }
}
