//! T39: a phase that only reads, and writes all the same.

use super::measure::Stage;
use super::threshold::{OWN_BYTES, WRITES_OF_READS};
use super::{Judge, Rule, finding, shared_device};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// The device was written to while it was only read.
pub const RULE: Rule = Rule {
    id: "T39",
    title: "Reading that writes",
    happens: "Reading a file writes its access time, and the journal with it.",
    seen_by: "Bytes written to the device in a phase that only reads; the mount's options.",
    said_when: "More than {WRITES_OF_READS} of what was read was written, and the file system keeps access times: a note.",
    try_it: "Read many small files on a mount with `strictatime`.",
    answer: "Says it, so that the writes are not taken for somebody else's.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    // Whose they are is said there.
    if found.iter().any(|f| f.trap.0 == shared_device::RULE.id) {
        return None;
    }
    let reads_only = stage.cases.iter().all(|case| case.reads() || !case.on_devices());
    let case = stage.cases.iter().find(|case| case.reads() && case.on_devices())?;
    let (level, mount) = (case.top()?, case.subject.mount.seen()?);
    let keeps = !mount.read_only && !mount.options.split(',').any(|option| option == "noatime");
    let written = level.timed.write_bytes;
    let least = (level.asked.read as f64 * WRITES_OF_READS).max(OWN_BYTES as f64);
    if !reads_only || !keeps || written as f64 <= least {
        return None;
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "{} was written to {} while it was only read: access times, or the work of others.",
            Bytes(written),
            level.name()
        ),
        vec![
            Exhibit::new(
                format!("written to {} meanwhile", level.name()),
                Bytes(written).to_string(),
                level.source(),
            ),
            Exhibit::new(
                format!("options of {}", mount.point),
                mount.options.clone(),
                "/proc/self/mountinfo",
            ),
        ],
        Some(Next::Do(format!("mount {} with noatime to have the reads alone", mount.point))),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::{Bytes, KIB};

    #[test]
    fn writes_during_reads_are_named_unless_there_are_none_to_expect() {
        let mut bench = Bench::read_cold();
        let named = |bench: &Bench| {
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound, "{found:?}");
            found.findings.iter().any(|f| f.trap.0 == "T39")
        };
        bench.written(Bytes(200 * KIB), Bytes(200 * KIB));
        assert!(!named(&bench));
        bench.written(Bytes(300 * KIB), Bytes(300 * KIB));
        assert!(named(&bench));
        bench.mounted("rw,noatime");
        assert!(!named(&bench));
    }
}
