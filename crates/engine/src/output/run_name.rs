//! What a run is called: what has such a name whole in its own may be a run's.

/// The 32 signs of the name of a run, which are not taken for each other (Crockford's).
pub const RUN_SIGNS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Signs of a whole name: 5 bits each of 128.
const LENGTH: usize = 26;

/// Whether this is the whole name of a run.
pub fn is_run(name: &str) -> bool {
    name.len() == LENGTH
        // The first sign has the upper 3 bits.
        && name.starts_with(|first: char| ('0'..='7').contains(&first))
        && name.bytes().all(|sign| RUN_SIGNS.contains(&sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_name_is_one() {
        let name = "01aryz6s41tsv4rrffq69g5fav";
        assert!(is_run(name));
        for other in ["", "backup", "notes", &name[1..], &format!("{name}0")] {
            assert!(!is_run(other), "{other}");
        }
        for (sign, other) in [("a", "A"), ("y", "u"), ("z", "i"), ("t", "-"), ("0", "8")] {
            assert!(!is_run(&name.replacen(sign, other, 1)), "{other}");
        }
    }
}
