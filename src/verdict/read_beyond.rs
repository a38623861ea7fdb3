//! T11: read-ahead fetched more than was asked for.

use super::measure::{Case, Level};
use super::threshold::{MORE, OWN_BYTES};
use super::words::of;
use super::{Judge, Rule, finding};
use crate::evidence::Direction;
use crate::record::{Exhibit, Finding, Weight};
use crate::unit::Bytes;

/// Reads in order, for which the kernel fetched more than a tenth beyond what was asked.
pub const RULE: Rule = Rule {
    id: "T11",
    title: "Read-ahead beyond the end",
    happens: "Read-ahead still runs when the tool stops: the device did more than was asked.",
    seen_by: "Bytes read from the device, and bytes that the kernel read for this process, against what was asked.",
    said_when: "Both are more than {MORE} above what was asked in order: a note; rates are of what was asked.",
    try_it: "`assay dd if=x of=/dev/null bs=4k count=1000` of a large file with a long read-ahead.",
    answer: "Counts what the calls returned, never what the device did.",
    judge: Judge::Flow(judge),
};

/// What the device read for a flow beyond what was asked.
pub(super) struct Excess<'c, 'a> {
    /// The device.
    pub level: &'c Level<'a>,
    /// What it read, as a multiple of what was asked.
    pub times: f64,
    /// What the kernel read for this process.
    pub own: Bytes,
}

/// More than a tenth beyond what was asked, and the kernel says that it was read for us.
pub(super) fn excess<'c, 'a>(case: &'c Case<'a>) -> Option<Excess<'c, 'a>> {
    if !case.reads() || !case.on_devices() || case.direct() || case.of_trees() {
        return None;
    }
    let level = case.top()?;
    let asked = level.asked.read;
    let evidence = &case.phase.evidence;
    let own = evidence.stop.own.seen()?.read_bytes.0;
    let own = own.saturating_sub(evidence.before.own.seen()?.read_bytes.0);
    let times = level.reach(Direction::Read)?;
    let more = |bytes: u64| bytes as f64 > asked as f64 * (1.0 + MORE) && bytes - asked > OWN_BYTES;
    (more(own) && more(level.moved(Direction::Read))).then_some(Excess {
        level,
        times,
        own: Bytes(own),
    })
}

impl Excess<'_, '_> {
    /// The two readings that show it.
    pub fn exhibits(&self) -> Vec<Exhibit> {
        let asked = Bytes(self.level.asked.read);
        vec![
            self.level.exhibit(Direction::Read),
            Exhibit::new(
                "read by the kernel for this process",
                format!("{}, asked for {asked}", of(self.own, asked)),
                "/proc/self/io read_bytes",
            ),
        ]
    }
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    let excess = excess(case).filter(|_| case.flow.sequential)?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Read-ahead went beyond what was asked for: {} read {:.2} times as much.",
            excess.level.name(),
            excess.times
        ),
        excess.exhibits(),
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::Bytes;

    fn traps(bench: &Bench) -> Vec<String> {
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.into_iter().map(|f| f.trap.0).collect()
    }

    #[test]
    fn what_the_kernel_read_for_us_is_ours() {
        let mut bench = Bench::read_cold();
        bench.was_read(Bytes::kib(23_000));
        bench.own_read(Bytes::mib(24));
        assert_eq!(traps(&bench), ["T11"]);
        bench.record.phases[0].flows[0].sequential = false;
        assert!(traps(&bench).contains(&"T12".into()));
        bench.own_read(Bytes::mib(20));
        assert!(!traps(&bench).contains(&"T12".into()));
    }
}
