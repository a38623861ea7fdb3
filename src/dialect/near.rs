//! The name that somebody meant who typed another.

/// The one of some names that fewest changes of a letter lead to, where they are few enough for a guess
/// by fio's own measure: half of what was typed.
pub(super) fn nearest<'n>(
    typed: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let best = names.into_iter().map(|name| (distance(typed, name), name)).min_by_key(|(d, _)| *d);
    best.filter(|(distance, _)| !typed.is_empty() && *distance <= typed.len().div_ceil(2))
        .map(|(_, name)| name)
}

/// How many letters have to be changed, added or removed.
pub(super) fn distance(one: &str, other: &str) -> usize {
    let other = other.as_bytes();
    let mut before: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.bytes().enumerate() {
        let mut now = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let changed = before[column] + usize::from(letter != *against);
            now.push(changed.min(now[column] + 1).min(before[column + 1] + 1));
        }
        before = now;
    }
    before[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_is_made_as_fio_makes_it() {
        assert_eq!(distance("iodepht", "iodepth"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("iodepht", ["bs", "iodepth", "rw"]), Some("iodepth"));
        assert_eq!(nearest("nosuchthing", ["bs", "rw"]), None);
        assert_eq!(nearest("", ["bs"]), None);
    }
}
