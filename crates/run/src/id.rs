//! What a run is called: a name that no other has, on this host or another, and that sorts by time.

use assay_engine::output::RUN_SIGNS;
use assay_engine::sys::clock;

/// A new name, 26 signs: of a ULID's 128 bits the upper 48 are milliseconds since 1970, the others random.
pub(super) fn fresh(milliseconds: u64) -> String {
    let mut bytes = [0; 16];
    if rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK) != Ok(16) {
        // A machine that has just been started and has no entropy yet, or forbids to ask for it.
        let mixed =
            u128::from(clock::now().0).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        bytes = (mixed ^ u128::from(std::process::id()).rotate_left(64)).to_be_bytes();
    }
    spelled(milliseconds, u128::from_be_bytes(bytes))
}

fn spelled(milliseconds: u64, random: u128) -> String {
    let number = u128::from(milliseconds) << 80 | random & ((1 << 80) - 1);
    let sign = |at: u32| char::from(RUN_SIGNS[(number >> (5 * at)) as usize & 31]);
    (0..26).rev().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_none_comes_twice() {
        assert_eq!(spelled(0, 0), "0".repeat(26));
        // As the specification of ULIDs has it.
        assert_eq!(&spelled(1_469_918_176_385, 0)[..10], "01aryz6s41");
        assert_eq!(spelled((1 << 48) - 1, u128::MAX), format!("7{}", "z".repeat(25)));
        assert!(spelled(1, u128::MAX) < spelled(2, 0));
        let names: std::collections::BTreeSet<String> = (0..1000).map(|_| fresh(5)).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| assay_engine::output::is_run(name)));
    }
}
