//! T34: the machine swapped meanwhile.

use super::measure::Stage;
use super::threshold::{OWN_BYTES, SWAPPED};
use super::words::of;
use super::{Judge, Rule, finding, refuted};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;

/// Pages went to swap or came from it, as much as a hundredth of what was moved.
pub const RULE: Rule = Rule {
    id: "T34",
    title: "Swap",
    happens: "The machine is short of memory and swaps, perhaps on the very disk that is measured.",
    seen_by: "pswpin and pswpout of /proc/vmstat.",
    said_when: "Swapped bytes are more than {SWAPPED} of what the run moved: doubtful, disturbed.",
    try_it: "Measure in a machine with swap while another program fills the memory.",
    answer: "Its own buffers are small.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || !stage.cases.iter().any(|case| case.on_devices()) {
        return None;
    }
    let evidence = &stage.phase.evidence;
    let now = evidence.stop.memory.seen()?.swapped?;
    let swapped = now.less(evidence.before.memory.seen()?.swapped?);
    let moved: u64 = stage.phase.flows.iter().fold(0, |sum, f| sum.saturating_add(f.bytes.0));
    let much = swapped.0 as f64 > moved as f64 * SWAPPED && swapped.0 > OWN_BYTES;
    much.then(|| {
        finding(
            RULE.id,
            Weight::Doubt,
            Some(Measures::Disturbed),
            format!("The machine was short of memory: it swapped {swapped} meanwhile."),
            vec![Exhibit::new(
                "swapped in and out meanwhile",
                of(swapped, Bytes(moved)).replace(" of ", ", while the run moved "),
                "/proc/vmstat pswpin, pswpout",
            )],
            Some(Next::Do("free memory (swapon --show, top), then run again".into())),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn swapping_disturbs() {
        let mut bench = Bench::write_flushed();
        bench.swapped(Bytes::kib(128));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.swapped(Bytes::mib(2));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Disturbed));
    }
}
