//! What an SD card or eMMC tells of itself: wear, erase blocks, and the class it claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scene;
use crate::unit::Bytes;

/// An SD card or eMMC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Card {
    /// `SD` or `MMC`.
    pub kind: String,
    /// The size in which it prefers to erase, bytes.
    pub erase: Option<Bytes>,
    /// Life used, the worse of the two areas of an eMMC: 1 is up to 10 %, 10 up to 100 %, 11 more.
    pub life: Option<u32>,
    /// Reserve blocks of an eMMC: 1 normal, 2 more than 80 % used, 3 more than 90 % used.
    pub reserve: Option<u32>,
    /// Whether commands are queued (6.13 for SD): what the figures of class A2 need.
    pub queue: Option<bool>,
    /// Classes that an SD card claims; `None` where its status register is not shown.
    pub claims: Option<Claims>,
}

/// The classes of an SD card's status register, each 0 where none is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// `C`: MB/s of sequential writes, 2 to 10.
    pub speed: u32,
    /// `U`: 1 for 10 MB/s, 3 for 30 MB/s.
    pub uhs: u32,
    /// `V`: MB/s of sequential writes, 6 to 90.
    pub video: u32,
    /// `A`: 1 or 2.
    pub application: u32,
}

impl Claims {
    /// As they are printed on the card: `C10 U3 V30 A2`; empty when there is none.
    pub fn words(self) -> String {
        let classes =
            [("C", self.speed), ("U", self.uhs), ("V", self.video), ("A", self.application)];
        let claimed: Vec<String> = classes
            .iter()
            .filter(|(_, class)| *class > 0)
            .map(|(letter, class)| format!("{letter}{class}"))
            .collect();
        claimed.join(" ")
    }
}

/// The card with this sysfs folder of a disk; `None` for what is none.
pub(super) fn read(scene: &Scene, disk: &str) -> Option<Card> {
    let folder = format!("{disk}/device");
    let kind = scene.line(format!("{folder}/type")).filter(|kind| kind == "SD" || kind == "MMC")?;
    let number = |name: &str| scene.number(format!("{folder}/{name}"));
    Some(Card {
        kind,
        erase: number("preferred_erase_size").map(Bytes),
        life: scene.line(format!("{folder}/life_time")).and_then(|text| worst(&text)),
        reserve: scene.line(format!("{folder}/pre_eol_info")).and_then(|text| worst(&text)),
        queue: number("cmdq_en").map(|on| on != 0),
        claims: scene.line(format!("{folder}/ssr")).and_then(|text| claims(&text)),
    })
}

/// The largest of the hexadecimal numbers of a line, `0x01 0x02`; `None` when all are 0, which
/// means that the card does not say.
fn worst(text: &str) -> Option<u32> {
    text.split_ascii_whitespace()
        .filter_map(|word| u32::from_str_radix(word.strip_prefix("0x")?, 16).ok())
        .max()
        .filter(|worst| *worst > 0)
}

/// The classes of the SD status, 128 hexadecimal digits, bit 511 first (SD 6.0, 4.10.2). All zero:
/// a reader that hides it.
fn claims(digits: &str) -> Option<Claims> {
    let byte = |at: usize| u32::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    if digits.len() != 128 || digits.bytes().all(|b| b == b'0') {
        return None;
    }
    Some(Claims {
        speed: match byte(8)? {
            code @ 1..=3 => 2 * code,
            4 => 10,
            _ => 0,
        },
        uhs: byte(14)? >> 4,
        video: byte(15)?,
        application: byte(21)? & 0xf,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_from_the_status_register() {
        let mut ssr = [0_u8; 64];
        (ssr[0], ssr[8], ssr[14], ssr[15], ssr[21]) = (0x80, 4, 0x39, 30, 0x02);
        let hex: String = ssr.iter().map(|byte| format!("{byte:02x}")).collect();
        let found = claims(&hex).expect("claims");
        assert_eq!(found.words(), "C10 U3 V30 A2");
        assert_eq!(claims(&"0".repeat(128)), None);
        assert_eq!(claims("80"), None);
    }

    #[test]
    fn the_worse_area_counts() {
        assert_eq!(worst("0x01 0x0b"), Some(11));
        assert_eq!(worst("0x00 0x00"), None);
        assert_eq!(worst(""), None);
    }
}
