//! The cells of a histogram that hold anything, packed: a record of a long run has some fifty for each action of
//! each phase, and most of them are a few steps from the one before and hold a handful.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A cell of a histogram: the smallest value it holds (ns), and how many it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistogramCell(pub u64, pub u64);

/// Cells of a histogram in their order. In memory each is its distance from the one before and its count, seven
/// bits to a byte, the lowest first; in a document they are a list of pairs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HistogramCells(Box<[u8]>);

/// Says that more bytes of a number follow.
const MORE: u8 = 0x80;

fn pack(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= MORE.into() {
        bytes.push(number as u8 | MORE);
        number >>= 7;
    }
    bytes.push(number as u8);
}

impl HistogramCells {
    pub fn iter(&self) -> impl Iterator<Item = HistogramCell> + '_ {
        let mut bytes = self.0.iter();
        let mut number = move || {
            let mut number = 0;
            for shift in (0..u64::BITS).step_by(7) {
                let byte = *bytes.next()?;
                number |= u64::from(byte & !MORE) << shift;
                if byte & MORE == 0 {
                    break;
                }
            }
            Some(number)
        };
        let mut floor = 0_u64;
        std::iter::from_fn(move || {
            floor = floor.wrapping_add(number()?);
            Some(HistogramCell(floor, number()?))
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<HistogramCell> for HistogramCells {
    fn from_iter<I: IntoIterator<Item = HistogramCell>>(cells: I) -> Self {
        let mut bytes = Vec::new();
        let mut before = 0;
        for HistogramCell(floor, count) in cells {
            // Whatever a document has comes back as it was, in order or not.
            pack(&mut bytes, floor.wrapping_sub(before));
            pack(&mut bytes, count);
            before = floor;
        }
        Self(bytes.into())
    }
}

impl fmt::Debug for HistogramCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for HistogramCells {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for HistogramCells {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PackingVisitor;
        impl<'de> Visitor<'de> for PackingVisitor {
            type Value = HistogramCells;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<Self::Value, A::Error> {
                std::iter::from_fn(|| cells.next_element().transpose()).collect()
            }
        }
        from.deserialize_seq(PackingVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for HistogramCells {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Vec::<HistogramCell>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<HistogramCell>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_back_as_it_was(
            pairs in prop::collection::vec((any::<u64>(), any::<u64>()), 0..50),
        ) {
            let pairs: Vec<HistogramCell> =
                pairs.into_iter().map(|(floor, count)| HistogramCell(floor, count)).collect();
            let packed: HistogramCells = pairs.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), pairs.clone());
            let text = serde_json::to_string(&packed).expect("json");
            prop_assert_eq!(&text, &serde_json::to_string(&pairs).expect("json"));
            prop_assert_eq!(serde_json::from_str::<HistogramCells>(&text).expect("cells"), packed);
        }
    }

    #[test]
    fn usual_cells_take_three_bytes_or_four() {
        let cells = (0..100).map(|step| HistogramCell(80_000 + step * 512, 1 + step * 3));
        let packed: HistogramCells = cells.collect();
        assert!(packed.0.len() < 400, "{}", packed.0.len());
    }
}
