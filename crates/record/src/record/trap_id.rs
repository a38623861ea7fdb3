//! Traps by their numbers.

use serde::{Deserialize, Deserializer, Serialize};

macro_rules! traps {
    ($($id:ident)*) => {
        /// A trap of the catalogue, by its number there: `T02`. `T00` is the general rule that there is no praise without
        /// evidence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum TrapId {
            $($id,)*
            /// One that this version does not know: a newer one judged the record.
            #[serde(rename = "unknown")]
            Unknown,
        }

        impl TrapId {
            /// All that the catalogue has, by number.
            pub const ALL: &[Self] = &[$(Self::$id),*];

            /// Its number, as it is written everywhere.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$id => stringify!($id),)*
                    Self::Unknown => "unknown",
                }
            }
        }
    };
}

traps! {
    T00 T01 T02 T03 T04 T05 T06 T07 T08 T09 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T20 T21 T22 T23 T24
    T25 T26 T27 T28 T29 T30 T31 T32 T33 T34 T35 T36 T37 T38 T39 T40 T41 T42 T43 T44 T45 T46 T47 T48 T49
    T50 T51 T52 T53 T54 T55 T56 T57 T58 T59 T60 T61 T62 T63 T64 T65 T66 T67 T68 T69 T70 T71 T72 T73 T74
}

impl TrapId {
    /// The trap of a number as it is written, `T02` or `t02`.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|id| id.name().eq_ignore_ascii_case(name))
    }
}

impl std::fmt::Display for TrapId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl<'de> Deserialize<'de> for TrapId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Ok(Self::of_name(&name).unwrap_or(Self::Unknown))
    }
}
