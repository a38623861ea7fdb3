//! T25, for a copy: `copy_file_range` let both files share their blocks, and nothing was moved.

use super::measure::Case;
use super::words::share;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Blocks of the output belong to another file too: they were not written.
pub const RULE: Rule = Rule {
    id: "T25",
    title: "Copied by sharing blocks",
    happens: "copy_file_range lets a file system note that two files share blocks, and nothing is copied.",
    seen_by: "FIEMAP of the output after the copy, the SHARED flag.",
    said_when: "More than {RESIDENT} of the output is shared: wrong, layer.",
    try_it: "On btrfs or XFS, a plan with a copy by `copy_file_range`.",
    answer: "Copies by read and write unless the plan asks otherwise.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let part = case.shared_share().filter(|_| case.writes())?;
    let mut because = vec![Exhibit::new(
        "of the output shared with another file",
        share(part),
        "FIEMAP, FIEMAP_EXTENT_SHARED",
    )];
    because.extend(case.top().map(|top| top.exhibit(case.direction())));
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::Layer),
        format!(
            "This is not the speed of a disk: {} of the copy shares its blocks with the source, as copy_file_range lets a file system do, and these were neither read nor written.",
            share(part)
        ),
        because,
        Some(Next::Do(
            "to move the bytes, copy by read and write (in a plan: calls read_write)".into(),
        )),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn a_copy_that_shares_its_blocks_is_no_copy_of_a_disk() {
        let mut bench = Bench::copy_within();
        bench.shares(Bytes::mib(20));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Layer));
        // Even where the counters look well, because the source had to be written first.
        assert!(found.summary.contains("100 % of the copy shares its blocks"), "{found:?}");
        assert_eq!(found.corrected, None);
    }
}
