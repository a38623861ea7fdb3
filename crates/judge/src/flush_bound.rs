//! T14: a flush for each small write: the figure is the latency of a flush.

use super::facts::mount_options;
use super::measure::{DeviceLevel, FlowView, ratio};
use super::threshold::{AMPLIFIED, FLUSH_BOUND, FLUSH_WRITES};
use super::{Rule, RuleJudge, advice, note, own};
use assay_plan::unit::{Bytes, MIB, Times};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim, SyncCause};
use assay_record::evidence::Direction;
use assay_record::record::{Exhibit, Finding, Remedy, TrapId};

/// At least half as many flushes as writes.
pub const RULE: Rule = Rule {
    id: TrapId::T14,
    title: "One flush per write",
    happens: "With a flush after each small write the figure is flush latency, and that time is in no busy counter.",
    seen_by: "Flushes of the device against write calls.",
    said_when: "At least {FLUSH_BOUND} flushes per write: a note with the latency of a durable write, and with the amplification if the device wrote at least {AMPLIFIED} times as much as the program. So much more because data go into a journal first (`data=journal`): a note, which is said first; as are other metadata of as much.",
    try_it: "`assay dd if=/dev/zero of=x bs=10k count=400 oflag=dsync`",
    answer: "Prints the counts of flushes and writes beside the rate.",
    judge: RuleJudge::Flow(judge),
};

/// Flushes of the device where there was one for every two writes at the least.
fn flushes(flow_view: &FlowView<'_>) -> Option<u64> {
    if !flow_view.writes() || !flow_view.on_devices() || !flow_view.first_write() {
        return None;
    }
    let level = flow_view.top()?;
    let (flushes, writes) = (level.timed.flushes?, level.asked.writes);
    let bound = writes >= FLUSH_WRITES && flushes as f64 >= writes as f64 * FLUSH_BOUND;
    bound.then_some(flushes)
}

/// How many times as much as the program the device wrote because each write was made durable by itself, and the
/// reading.
fn amplified(level: &DeviceLevel<'_>) -> Option<(f64, Exhibit)> {
    let (asked, wrote) = (level.asked.write, level.moved(Direction::Write));
    let times = ratio(wrote, asked);
    if asked == 0 || times < AMPLIFIED {
        return None;
    }
    let value = ExhibitValue::BytesFor { written: Bytes(wrote), asked: Bytes(asked) };
    Some((times, level.shows(ExhibitOf::WrittenTo, value)))
}

/// All data went into the journal first.
fn written_twice(flow_view: &FlowView<'_>) -> Option<Finding> {
    let ours = flow_view.writes() && flow_view.on_devices() && flow_view.first_write();
    let option = own::journals_data(flow_view.subject).filter(|_| ours)?;
    let level = flow_view.top()?;
    let (times, shown) = amplified(level)?;
    let (device, times) = (level.name(), Times(times));
    let claim = FlushClaim::WrittenTwice { device, times, option: option.into() };
    let because = vec![shown, mount_options(flow_view.subject.mount.seen()?)];
    Some(note(RULE.id, claim, because, None))
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    written_twice(flow_view)
        .or_else(|| each_write_flushed(flow_view))
        .or_else(|| written_more(flow_view))
}

/// The file system's own records are as much as the data, or more: small writes where it moves what it writes.
fn written_more(flow_view: &FlowView<'_>) -> Option<Finding> {
    let level = flow_view.top().filter(|_| flow_view.writes() && flow_view.first_write())?;
    let (wrote, asked) = (level.moved(Direction::Write), level.asked.write);
    let (times, shown) = amplified(level).filter(|_| asked >= MIB)?;
    let own = wrote.saturating_sub(asked) <= flow_view.own_extra(level);
    let mount = flow_view.subject.mount.seen().filter(|_| own)?;
    let (device, times, kind) = (level.name(), Times(times), mount.kind.clone());
    let claim = FlushClaim::WrittenMore { device, times, kind };
    Some(note(RULE.id, claim, vec![shown], None))
}

fn each_write_flushed(flow_view: &FlowView<'_>) -> Option<Finding> {
    let flushes = flushes(flow_view)?;
    let level = flow_view.top()?;
    let writes = level.asked.writes;
    let mut because = vec![
        level.shows(ExhibitOf::FlushesOf, flushes),
        Exhibit::new(ExhibitOf::WriteCalls, writes, ExhibitSource::CallCount),
        level.exhibit_work(),
    ];
    if let Some(each) = flow_view.time().0.checked_div(writes) {
        because.push(Exhibit::new(
            ExhibitOf::TimePerDurableWrite,
            assay_plan::unit::Nanos(each),
            ExhibitSource::RunClock,
        ));
    }
    let (amplified, shown) = amplified(level).unzip();
    because.extend(shown);
    let device = level.name();
    Some(note(
        RULE.id,
        FlushClaim::EachWriteFlushed {
            flushes,
            writes,
            device,
            amplified: amplified.map(Times),
            cause: own::synchronous(flow_view.subject).unwrap_or(SyncCause::Asked),
        },
        because,
        advice::own_verb(flow_view, Remedy::OtherBlocks, "quick", ""),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Ops};
    use assay_record::evidence::{Mount, Reading};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn a_flush_for_each_write_is_latency() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows[0].calls = Ops(2048);
        bench.flushes(2049);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        assert!(found.summary().contains("Flush-bound: 2049 flushes for 2048 writes"), "{found:?}");
    }

    #[test]
    fn what_goes_into_the_journal_first_is_said_first() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(8 << 20);
        bench.written(Bytes::mib(41), Bytes::mib(41));
        let mount = bench.record.resolved.subjects[1].mount.seen().cloned().expect("a mount");
        let options = "rw,data=journal".into();
        let mounted = Mount { options, ..mount };
        bench.record.resolved.subjects[1].mount = Reading::Seen(mounted);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let said = "loop3 wrote 2.05 times as much as the program: the file system writes all data into its journal first (data=journal). Limited by a cgroup";
        assert!(found.summary().starts_with(said), "{found:?}");
    }

    #[test]
    fn the_flush_at_the_end_of_one_large_write_is_none() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows[0].calls = Ops(1);
        bench.flushes(2);
        assert!(verdict(&bench.record).findings.iter().all(|f| f.trap != TrapId::T14));
    }
}
