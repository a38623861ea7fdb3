//! How quantities are spelled, for whoever reads them.

use std::borrow::Cow;

/// Where something is said. By default as documents and plain terminals have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Voice {
    /// `85.0 µs` instead of `85.0 us`, where that can be shown.
    pub micro_sign: bool,
    /// `4 MB per second` instead of `4 MB/s`, beside the output of a tool: who reads that by its rates finds none in
    /// ours.
    pub spelled_rates: bool,
    /// The bytes of a size between two NULs instead of the size, for who tells several together.
    pub bare_sizes: bool,
    /// `+-12 %` instead of `±12 %`, where that cannot be shown.
    pub ascii: bool,
}

/// A unit, and how it may be spelled otherwise.
struct UnitSpelling {
    unit: &'static str,
    spelled: &'static str,
    /// It may stand behind a letter, as in `MB/s`.
    prefixed: bool,
}

const MICRO_SIGN: UnitSpelling = UnitSpelling { unit: " us", spelled: " µs", prefixed: false };
const SPELLED_RATE: UnitSpelling =
    UnitSpelling { unit: "B/s", spelled: "B per second", prefixed: true };

impl Voice {
    /// As documents have it.
    pub const PLAIN: Self =
        Self { micro_sign: false, spelled_rates: false, bare_sizes: false, ascii: false };
    /// Beside the output of another tool.
    pub const BESIDE: Self = Self { spelled_rates: true, ..Self::PLAIN };

    /// What came as words: from a document, from the kernel, or from who typed them.
    pub fn text(self, words: &str) -> Cow<'_, str> {
        let wanted = [(self.micro_sign, MICRO_SIGN), (self.spelled_rates, SPELLED_RATE)];
        let mut said = Cow::Borrowed(words);
        for (_, spelling) in wanted.iter().filter(|(wanted, _)| *wanted) {
            if said.contains(spelling.unit) {
                said = Cow::Owned(spelling.within(&said));
            }
        }
        if self.ascii && said.contains('±') {
            said = Cow::Owned(self.signs(said.into_owned()));
        }
        said
    }

    /// A message with the signs that can be shown.
    pub(super) fn signs(self, message: String) -> String {
        if self.ascii { message.replace('±', "+-") } else { message }
    }
}

impl UnitSpelling {
    /// The words with it wherever the unit stands behind a number.
    fn within(&self, words: &str) -> String {
        let mut said = String::with_capacity(words.len() + 8);
        let mut parts = words.split(self.unit).peekable();
        while let Some(part) = parts.next() {
            said.push_str(part);
            let Some(after) = parts.peek() else { break };
            let number = match self.prefixed {
                true => part
                    .trim_end_matches(|c: char| c.is_ascii_alphabetic())
                    .trim_end_matches([' ', '\u{a0}']),
                false => part,
            };
            let counted = number.ends_with(|c: char| c.is_ascii_digit());
            let whole = !after.starts_with(|c: char| c.is_alphanumeric() || c == '/');
            said.push_str(if counted && whole { self.spelled } else { self.unit });
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Claim, ExhibitValue, LimitClaim, SteadyClaim};
    use assay_plan::unit::{Bandwidth, Nanos, Share};

    const BESIDE: Voice = Voice { micro_sign: true, ..Voice::BESIDE };

    #[test]
    fn each_voice_has_its_units() {
        let page = Voice { micro_sign: true, ..Voice::default() };
        for (voice, time, rate) in [
            (Voice::default(), "85.0 us", "4.19 MB/s"),
            (page, "85.0 µs", "4.19 MB/s"),
            (BESIDE, "85.0 µs", "4.19 MB per second"),
        ] {
            assert_eq!(voice.say(&Nanos(85_000)), time);
            let most = Bandwidth(4_194_304.0);
            assert_eq!(voice.say(&most), rate);
            let (device, mode) = ("sda".into(), None);
            let claim = LimitClaim::LinkIsLimit { foreseen: false, device, mode, most };
            let said = format!("Limited by the link of sda: it carries at most {rate}.");
            assert_eq!(voice.say(&claim), said);
            assert_eq!(
                voice.sentences(&[Claim::Said(format!("At {most}."))]),
                format!("At {rate}.")
            );
        }
    }

    #[test]
    fn a_terminal_without_the_sign_of_a_spread_has_two_for_it() {
        let ascii = Voice { ascii: true, ..Voice::default() };
        let (device, spread) = ("sda".into(), Share(0.12));
        let uneven = Claim::from(SteadyClaim::UnevenRate { device, spread });
        for said in [
            ascii.say(&uneven),
            ascii.say(&ExhibitValue::Spread(Share(0.12))),
            ascii.say(&Claim::Said("It spreads by ±12 %.".into())),
        ] {
            assert!(said.contains("+-12 %") && !said.contains('±'), "{said}");
        }
        assert!(Voice::default().say(&uneven).contains("±12 %"));
    }

    #[test]
    fn words_of_others_have_them_too() {
        for (words, said) in [
            ("it is 4.19 MB/s here", "it is 4.19 MB per second here"),
            ("4MB/s, 3 kB/s", "4MB per second, 3 kB per second"),
            ("16 MiB/s", "16 MiB per second"),
            ("in MB/s", "in MB/s"),
            ("dd if=/tmp/1B/some", "dd if=/tmp/1B/some"),
            ("latency: 85.2 us, 9 us; for us, 5 user", "latency: 85.2 µs, 9 µs; for us, 5 user"),
        ] {
            assert_eq!(BESIDE.text(words), said);
            assert_eq!(Voice::default().text(words), words);
        }
    }
}
