//! Lists of CPUs: `0,2,4-7`, and masks of them.

use crate::dialect::fio::job::FioFault;

/// CPUs that a list may name: the numbers of fio's own sets.
const MOST: u32 = 1024;

/// The CPUs of a list.
pub fn read(name: &str, text: &str) -> Result<Vec<u32>, FioFault> {
    let bad = || FioFault::new(format!("'{text}' of '{name}' is no list of CPUs"), "0,2,4-7");
    let mut cpus = Vec::new();
    for part in text.trim().split(',').take_while(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
        let (first, last) = (number(first)?, number(last)?);
        if last >= MOST {
            return Err(FioFault::line(
                format!("fio: your OS only supports up to {MOST} CPUs"),
                "a CPU that is there",
            ));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    match cpus.is_empty() {
        true => Err(bad()),
        false => Ok(cpus),
    }
}

/// The CPUs of a mask.
pub fn of_mask(mask: i64) -> Vec<u32> {
    (0..32).filter(|bit| mask >> bit & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_are_sets_of_cpus() {
        assert_eq!(read("cpus_allowed", "0,2,4-6"), Ok(vec![0, 2, 4, 5, 6]));
        assert_eq!(read("cpus_allowed", "3"), Ok(vec![3]));
        assert_eq!(of_mask(0b1011), [0, 1, 3]);
        for text in ["", "a", "0-", "1-99999"] {
            assert!(read("cpus_allowed", text).is_err(), "{text}");
        }
    }
}
