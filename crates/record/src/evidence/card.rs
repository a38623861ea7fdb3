//! What an SD card or eMMC tells of itself: wear, erase blocks, and the class it claims.

use serde::{Deserialize, Serialize};

use super::SysRoot;
use assay_plan::unit::Bytes;

/// An SD card or eMMC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardInfo {
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
    pub claims: Option<SpeedClaims>,
    /// The allocation unit of an SD card, in which its speed is promised (`ssr`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Bytes>,
    /// The SD specification that it keeps to (`scr`): `3.0`, `6`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
    /// What an SD card says it holds (`csd`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// The month in which it was made (`cid`): `09/2021`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
}

/// The classes of an SD card's status register, each 0 where none is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedClaims {
    /// `C`: MB/s of sequential writes, 2 to 10.
    pub speed: u32,
    /// `U`: 1 for 10 MB/s, 3 for 30 MB/s.
    pub uhs: u32,
    /// `V`: MB/s of sequential writes, 6 to 90.
    pub video: u32,
    /// `A`: 1 or 2.
    pub application: u32,
}

impl SpeedClaims {
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
pub(super) fn read(sys_root: &SysRoot, disk: &str) -> Option<CardInfo> {
    let folder = format!("{disk}/device");
    let kind =
        sys_root.line(format!("{folder}/type")).filter(|kind| kind == "SD" || kind == "MMC")?;
    let number = |name: &str| sys_root.number(format!("{folder}/{name}"));
    let register =
        |name: &str| sys_root.line(format!("{folder}/{name}")).and_then(|text| bits(&text));
    let sd = kind == "SD";
    Some(CardInfo {
        kind,
        erase: number("preferred_erase_size").map(Bytes),
        life: sys_root.line(format!("{folder}/life_time")).and_then(|text| worst(&text)),
        reserve: sys_root.line(format!("{folder}/pre_eol_info")).and_then(|text| worst(&text)),
        queue: number("cmdq_en").map(|on| on != 0),
        claims: register("ssr").and_then(|ssr| claims(&ssr)),
        unit: register("ssr").and_then(|ssr| unit(&ssr)),
        specification: register("scr").filter(|_| sd).and_then(|scr| specification(&scr)),
        capacity: register("csd").filter(|_| sd).and_then(|csd| capacity(&csd)),
        made: sys_root.line(format!("{folder}/date")),
    })
}

/// The bytes of a register that sysfs prints as hexadecimal digits, its highest bit first; `None`
/// when all are 0, which is what a reader shows that hides it.
fn bits(digits: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    bytes.filter(|bytes| bytes.iter().any(|byte| *byte != 0))
}

/// Bits `high` to `low` of a register, counted as its standard does: the last is 0.
fn field(register: &[u8], high: usize, low: usize) -> Option<u64> {
    let bit = |at: usize| {
        let byte = register.get((register.len() - 1).checked_sub(at / 8)?)?;
        Some(u64::from(byte >> (at % 8) & 1))
    };
    (low..=high).rev().try_fold(0, |number, at| Some(number << 1 | bit(at)?))
}

/// The largest of the hexadecimal numbers of a line, `0x01 0x02`; `None` when all are 0, which
/// means that the card does not say.
fn worst(text: &str) -> Option<u32> {
    text.split_ascii_whitespace()
        .filter_map(|word| u32::from_str_radix(word.strip_prefix("0x")?, 16).ok())
        .max()
        .filter(|worst| *worst > 0)
}

/// The classes of the SD status (SD 6.0, 4.10.2).
fn claims(ssr: &[u8]) -> Option<SpeedClaims> {
    let class = |high, low| Some(field(ssr, high, low)? as u32);
    (ssr.len() == 64).then_some(())?;
    Some(SpeedClaims {
        speed: match class(447, 440)? {
            code @ 1..=3 => 2 * code,
            4 => 10,
            _ => 0,
        },
        uhs: class(399, 396)?,
        video: class(391, 384)?,
        application: class(339, 336)?,
    })
}

/// The allocation unit of the SD status: that of UHS where there is one.
fn unit(ssr: &[u8]) -> Option<Bytes> {
    (ssr.len() == 64).then_some(())?;
    let uhs = field(ssr, 395, 392).filter(|code| *code > 0);
    match uhs.or(field(ssr, 431, 428))? {
        code @ 1..=10 => Some(Bytes::kib(8 << code)),
        11 => Some(Bytes::mib(12)),
        12 => Some(Bytes::mib(16)),
        13 => Some(Bytes::mib(24)),
        14 => Some(Bytes::mib(32)),
        15 => Some(Bytes::mib(64)),
        _ => None,
    }
}

/// The specification that the SD configuration register names (SD 6.0, 5.6).
fn specification(scr: &[u8]) -> Option<String> {
    (scr.len() == 8).then_some(())?;
    let later = field(scr, 41, 38)?;
    let version = match (field(scr, 59, 56)?, field(scr, 47, 47)?, field(scr, 42, 42)?) {
        (2, 1, _) if later > 0 => (later + 4).to_string(),
        (2, 1, 1) => "4".into(),
        (2, 1, _) => "3.0".into(),
        (2, ..) => "2.0".into(),
        (1, ..) => "1.10".into(),
        _ => "1.0".into(),
    };
    Some(version)
}

/// The capacity that the card-specific data name, in their three forms (SD 9.0, 5.3).
fn capacity(csd: &[u8]) -> Option<Bytes> {
    (csd.len() == 16).then_some(())?;
    match field(csd, 127, 126)? {
        0 => {
            let (size, factor) = (field(csd, 73, 62)?, field(csd, 49, 47)?);
            let block = field(csd, 83, 80)?;
            Some(Bytes((size + 1) << (factor + 2) << block))
        }
        1 => Some(Bytes::kib(512 * (field(csd, 69, 48)? + 1))),
        2 => Some(Bytes::kib(512 * (field(csd, 75, 48)? + 1))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_from_the_status_register() {
        let mut ssr = [0_u8; 64];
        (ssr[0], ssr[8], ssr[14], ssr[15], ssr[21]) = (0x80, 4, 0x39, 30, 0x02);
        let hex: String = ssr.iter().map(|byte| format!("{byte:02x}")).collect();
        let read = |text: &str| bits(text).and_then(|ssr| claims(&ssr));
        assert_eq!(read(&hex).expect("claims").words(), "C10 U3 V30 A2");
        assert_eq!(bits(&hex).and_then(|ssr| unit(&ssr)), Some(Bytes::mib(4)));
        assert_eq!(read(&"0".repeat(128)), None);
        assert_eq!(read("80"), None);
        assert_eq!(read("not hexadecimal"), None);
    }

    #[test]
    fn other_registers_tell_version_and_capacity() {
        let read = |text: &str| bits(text).expect("digits");
        // A card of 32 GB that keeps to 3.0, one of 1.0, and one of 6.
        assert_eq!(specification(&read("0235800001000000")).as_deref(), Some("3.0"));
        assert_eq!(specification(&read("0025000000000001")).as_deref(), Some("1.0"));
        assert_eq!(specification(&read("0245848f33333039")).as_deref(), Some("6"));
        let csd = read("400e00325b590000edc87f800a404013");
        assert_eq!(capacity(&csd), Some(Bytes::kib(512 * (0xedc8 + 1))));
        // 2 GB in the first form: 3752 times 512 blocks of 1 KiB.
        let csd = read("002600325b5a83a9ffffff801680009b");
        assert_eq!(capacity(&csd), Some(Bytes((0xea7 + 1) << 19)));
        assert_eq!(capacity(&read("40")), None);
    }

    #[test]
    fn the_worse_area_counts() {
        assert_eq!(worst("0x01 0x0b"), Some(11));
        assert_eq!(worst("0x00 0x00"), None);
        assert_eq!(worst(""), None);
    }
}
