//! Quantities: the only arithmetic on bytes, operations and time in the program.
//!
//! Every quantity is a whole number of its base unit (bytes, operations, nanoseconds) in a type of
//! its own, so that a size cannot be added to a duration. MB is 10^6 bytes, MiB is 2^20 bytes; a
//! bare "M" is never printed.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Bytes in one KiB.
pub const KIB: u64 = 1 << 10;
/// Bytes in one MiB.
pub const MIB: u64 = 1 << 20;
/// Bytes in one GiB.
pub const GIB: u64 = 1 << 30;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(pub u64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);

            /// What is left after taking `other` away; zero when `other` is larger.
            pub const fn less(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = Self;
            /// Panics in debug builds when `other` is larger: that is a bug, use [`Self::less`].
            fn sub(self, other: Self) -> Self {
                debug_assert!(self.0 >= other.0, "{} - {} underflows", self.0, other.0);
                self.less(other)
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, Add::add)
            }
        }
    };
}

quantity!(
    /// An amount of data or a place in it, in bytes.
    Bytes
);
/// An amount of data that is not known more exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByteRange {
    /// It is not less.
    pub least: Bytes,
    /// It is not more.
    pub most: Bytes,
}

impl Add for ByteRange {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { least: self.least + other.least, most: self.most + other.most }
    }
}

quantity!(
    /// A number of operations.
    Ops
);
quantity!(
    /// A duration, in nanoseconds (up to 584 years).
    Nanos
);

impl Bytes {
    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n * MIB)
    }

    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n * KIB)
    }

    /// As a length of memory. One that is longer than any address space here is the longest, which nobody
    /// is given.
    pub fn in_memory(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// As it is typed where sizes are read, to the byte: `4k`, `1536M`, `2G`, `1000`.
    pub fn typed(self) -> String {
        let units = [(GIB, "G"), (MIB, "M"), (KIB, "k")];
        let unit = units.into_iter().find(|(unit, _)| self.0 > 0 && self.0.is_multiple_of(*unit));
        unit.map_or_else(|| self.0.to_string(), |(unit, name)| format!("{}{name}", self.0 / unit))
    }

    /// The largest size of few digits that is no larger: two digits of its unit stay at the least.
    pub fn rounded_down(self) -> Self {
        let unit = [GIB, MIB, KIB].into_iter().find(|unit| self.0 >= 10 * unit).unwrap_or(1);
        Self(self.0 / unit * unit)
    }

    /// The mean rate at which this amount moved in `time`; `None` when no time passed.
    pub fn over(self, time: Nanos) -> Option<Bandwidth> {
        (time.0 > 0).then(|| Bandwidth(self.0 as f64 * 1e9 / time.0 as f64))
    }
}

impl Ops {
    /// The mean rate at which these operations were done in `time`; `None` when no time passed.
    pub fn over(self, time: Nanos) -> Option<Iops> {
        (time.0 > 0).then(|| Iops(self.0 as f64 * 1e9 / time.0 as f64))
    }
}

impl Nanos {
    /// Whether it is no time at all.
    pub fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// `n` whole seconds.
    pub const fn secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// `n` milliseconds.
    pub const fn millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` microseconds.
    pub const fn micros(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// In seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// From seconds; negative and not-a-number become zero.
    pub fn from_secs(seconds: f64) -> Self {
        Self((seconds * 1e9).max(0.0) as u64)
    }
}

impl From<std::time::Duration> for Nanos {
    fn from(duration: std::time::Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for std::time::Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

/// A moment on the monotonic clock, in nanoseconds since some fixed point of this boot (or since
/// zero on a simulated clock). Never a calendar time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The time from `earlier` to this moment; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for Timestamp {
    type Output = Self;
    fn add(self, time: Nanos) -> Self {
        Self(self.0.saturating_add(time.0))
    }
}

macro_rules! real_quantities {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(pub f64);

        // Equal by its bits, so that what holds it can be looked up and sorted.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }
    )*};
}

real_quantities! {
    /// A rate of data, in bytes per second.
    Bandwidth,
    /// A rate of operations, per second.
    Iops,
    /// Requests in flight, on average.
    MeanInFlight,
    /// A part of a whole, as percent: `12 %`, `0.40 %`.
    Share,
    /// So many times as much, or a number of things of which one may be there in part.
    Times,
}

impl Bandwidth {
    /// In MB (10^6 bytes) per second.
    pub fn mb(self) -> f64 {
        self.0 / 1e6
    }

    /// In MiB (2^20 bytes) per second.
    pub fn mib(self) -> f64 {
        self.0 / MIB as f64
    }
}

/// Three significant digits, as `statistics` asks for a measured figure: 4.19, 41.9, 419, 4190.
pub fn three_digits(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".into();
    }
    let decimals = match size {
        0.0 => 0,
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

impl fmt::Display for Bytes {
    /// In the largest binary unit that leaves at least one before the point: `20.0 MiB`, `4 KiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < KIB {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / KIB as f64;
        let mut unit = 0;
        while value >= 1023.5 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if value.fract() == 0.0 {
            write!(f, "{value:.0} {}", UNITS[unit])
        } else {
            write!(f, "{} {}", three_digits(value), UNITS[unit])
        }
    }
}

impl fmt::Display for Nanos {
    /// In the unit that leaves at least one before the point: `85.0 us`, `1.26 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..999_500 => write!(f, "{} us", three_digits(n / 1e3)),
            999_500..999_500_000 => write!(f, "{} ms", three_digits(n / 1e6)),
            _ => write!(f, "{} s", three_digits(n / 1e9)),
        }
    }
}

impl fmt::Display for Bandwidth {
    /// In decimal units, named: `4.19 MB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b < 1e3 => write!(f, "{b:.0} B/s"),
            b if b < 0.9995e6 => write!(f, "{} kB/s", three_digits(b / 1e3)),
            b if b < 9.995e9 => write!(f, "{} MB/s", three_digits(b / 1e6)),
            b => write!(f, "{} GB/s", three_digits(b / 1e9)),
        }
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            i if i < 9_995.0 => write!(f, "{}", three_digits(i)),
            i if i < 0.9995e6 => write!(f, "{}k", three_digits(i / 1e3)),
            i => write!(f, "{}M", three_digits(i / 1e6)),
        }
    }
}

impl fmt::Display for MeanInFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

impl std::str::FromStr for Bytes {
    type Err = String;

    /// A size as people type it: `4096`, `4k`, `4KiB`, `1M`, `2GiB` are binary; `4kB`, `1MB` are
    /// decimal. Letters may be of either case except that a decimal unit is written `kB`, `MB`...
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim();
        let number: u64 = number
            .parse()
            .map_err(|_| format!("'{text}' is not a size; give 4k, 1M, 2GiB or 500MB"))?;
        let scale = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => KIB,
            "m" | "mib" => MIB,
            "g" | "gib" => GIB,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            range if range.contains("..") => {
                return Err(format!("'{text}' is a range, and one size is wanted; give 4k or 1M"));
            }
            _ => {
                return Err(format!(
                    "'{unit}' in '{text}' is not a unit; use k, M, G, T (powers of 1024) or kB, MB, GB, TB (powers of 1000)"
                ));
            }
        };
        number.checked_mul(scale).map(Self).ok_or_else(|| format!("'{text}' is larger than 16 EiB"))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 * 100.0 {
            p if !p.is_finite() => "-".into(),
            p if p == 0.0 || p >= 9.95 => format!("{p:.0} %"),
            p if p >= 0.995 => format!("{p:.1} %"),
            p => format!("{p:.2} %"),
        };
        f.pad(&text)
    }
}

/// A part and its whole: `0 B of 20 MiB`; `64 MiB` of what was not all used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartOf<T>(pub T, pub T);

impl<T: fmt::Display + PartialOrd> fmt::Display for PartOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(part, whole) = self;
        if part > whole { part.fmt(f) } else { write!(f, "{part} of {whole}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_type_them() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("1M", MIB),
            ("500MB", 500_000_000),
            ("2GiB", 2 * GIB),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "k", "4x", "-1", "99999999999G", "1.5M", "4k..1k"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_is_typed_as_it_is_read() {
        for (bytes, text) in [
            (0, "0"),
            (1000, "1000"),
            (4096, "4k"),
            (1536 * MIB, "1536M"),
            (2 * GIB, "2G"),
            (2 << 40, "2048G"),
        ] {
            assert_eq!(Bytes(bytes).typed(), text);
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
        }
        for (bytes, round) in
            [(9, "9"), (10_000, "10000"), (10_241, "10k"), (9 * GIB + MIB + 7, "9217M")]
        {
            assert_eq!(Bytes(bytes).rounded_down().typed(), round);
        }
        assert_eq!(Bytes(49 * GIB + 7).rounded_down().typed(), "49G");
    }

    #[test]
    fn figures_carry_three_digits_and_their_unit() {
        assert_eq!(Bandwidth(4_194_304.0).to_string(), "4.19 MB/s");
        assert_eq!(Bandwidth(943_000.0).to_string(), "943 kB/s");
        assert_eq!(Bandwidth(1.26e10).to_string(), "12.6 GB/s");
        assert_eq!(Bytes::mib(20).to_string(), "20 MiB");
        assert_eq!(Bytes(1000).to_string(), "1000 B");
        assert_eq!(Bytes(1536).to_string(), "1.50 KiB");
        assert_eq!(Nanos(85_000).to_string(), "85.0 us");
        assert_eq!(Nanos(999_999).to_string(), "1.00 ms");
        assert_eq!(Nanos::secs(5).to_string(), "5.00 s");
        assert_eq!(Iops(24_100.0).to_string(), "24.1k");
    }

    #[test]
    fn a_rate_needs_time() {
        assert_eq!(Bytes(10).over(Nanos::ZERO), None);
        assert_eq!(Bytes::mib(20).over(Nanos::secs(5)), Some(Bandwidth(4.0 * MIB as f64)));
    }
}
