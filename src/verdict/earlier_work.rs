//! T08: what was written before was still on its way.

use super::measure::Case;
use super::threshold::OWN_BYTES;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// The device was written to in the quiet time before, and dirty pages were left at the start.
pub const RULE: Rule = Rule {
    id: "T08",
    title: "An earlier test's work",
    happens: "What an earlier test left dirty in memory is written while the next one is timed.",
    seen_by: "Bytes written to the device in the quiet time before the phase; dirty and writeback pages of the machine at its start.",
    said_when: "The device was written to while nothing was done, and dirty pages were left: a note that names the cause; T31 weighs what it cost.",
    try_it: "`dd if=/dev/zero of=x bs=1M count=200; sync & assay quick .`",
    answer: "Flushes what its own phases have written before the next one.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.first_here || !case.on_devices() {
        return None;
    }
    let level = case.top()?;
    let (quiet, time) = level.quiet.as_ref()?;
    let memory = case.phase.evidence.before.memory.seen()?;
    let left = memory.dirty + memory.writeback;
    if quiet.write_bytes <= OWN_BYTES || left.0 <= OWN_BYTES {
        return None;
    }
    let written = Bytes(quiet.write_bytes);
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Earlier writes were still on their way: {} took {written} in the quiet {time} before, and {left} were left in memory.",
            level.name()
        ),
        vec![
            Exhibit::new(
                format!("written to {} in the quiet time before", level.name()),
                format!("{written} in {time}"),
                level.source(),
            ),
            Exhibit::new(
                "dirty and under writeback at the start",
                left.to_string(),
                "/proc/meminfo",
            ),
        ],
        Some(Next::Do("wait for it (sync), then run again".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::unit::Bytes;

    #[test]
    fn writes_before_the_phase_with_more_to_come_are_earlier_work() {
        let mut bench = Bench::write_flushed();
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T08");
        bench.earlier(Bytes::mib(2), Bytes::ZERO);
        assert!(!named(&bench));
        bench.earlier(Bytes::mib(2), Bytes::mib(30));
        assert!(named(&bench));
    }
}
