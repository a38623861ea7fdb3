//! T16: direct writes skip the page cache, not the drive's own; `sync_file_range` empties the page
//! cache, and not the drive's own.

use super::measure::FlowView;
use super::{Rule, RuleJudge, advice, note};
use assay_plan::plan::Durability;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim};
use assay_record::record::{Exhibit, Finding, TrapId};

/// Direct writes, no flush, and a drive with a write-back cache: into that cache is what was
/// measured.
pub const RULE: Rule = Rule {
    id: TrapId::T16,
    title: "Direct is not durable",
    happens: "O_DIRECT bypasses the page cache, not the cache of the drive.",
    seen_by: "write_cache of the device; its count of flushes.",
    said_when: "Direct writes without a flush to a device with a write-back cache: a note.",
    try_it: "`assay dd if=/dev/zero of=x bs=1M count=256 oflag=direct`",
    answer: "Own verbs flush inside the timing.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let asked = flow_view.flow.durability != Durability::None;
    if !flow_view.writes() || !flow_view.on_devices() || asked {
        return None;
    }
    if flow_view.flow.written_out {
        return written_out(flow_view);
    }
    if !flow_view.direct() {
        return None;
    }
    let mut readable = flow_view.levels.iter().filter(|level| level.readable());
    let level = readable.find(|level| level.layers.iter().any(|layer| layer.writes_back()))?;
    if level.timed.flushes.is_some_and(|flushes| flushes > 0) {
        return None;
    }
    let mut because = vec![level.write_back()];
    if let Some(flushes) = level.timed.flushes {
        because.push(level.shows(ExhibitOf::FlushesOf, flushes));
    }
    Some(note(
        RULE.id,
        FlushClaim::InDriveCache { device: level.name() },
        because,
        advice::flush(flow_view),
    ))
}

/// `sync_file_range` was the only thing that brought bytes to the device. Whether its cache is
/// written through is no matter: what leads to the bytes was not written either.
fn written_out(flow_view: &FlowView<'_>) -> Option<Finding> {
    let level = flow_view.top()?;
    let flushes = level.timed.flushes.map_or(ExhibitValue::NotCounted, ExhibitValue::Count);
    Some(note(
        RULE.id,
        FlushClaim::OnlyWrittenOut { device: level.name() },
        vec![
            Exhibit::new(ExhibitOf::FlushesRequested, 0_u64, ExhibitSource::Plan),
            level.shows(ExhibitOf::FlushesOf, flushes),
        ],
        advice::flush(flow_view),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::Durability;
    use assay_record::evidence::LayerKind;
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn the_drives_cache_is_named_and_no_reason_to_doubt() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T16)
        };
        assert!(!named(&bench));
        bench.record.phases[0].flows[0].durability = Durability::None;
        bench.flushes(0);
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn what_only_sync_file_range_wrote_is_not_called_durable() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.random();
        let on = "ext4".into();
        bench.layer_kind(LayerKind::Loop { file: "/i".into(), on, direct: true });
        bench.record.phases[0].flows[0].written_out = true;
        let found = verdict(&bench.record);
        assert!(found.findings.iter().all(|f| f.trap != TrapId::T16), "{found:?}");
        bench.record.phases[0].flows[0].durability = Durability::None;
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        assert_eq!(
            found.summary(),
            "This is the speed of the device: all bytes had reached loop3 when the clock stopped."
        );
        let said = found.findings.iter().find(|f| f.trap == TrapId::T16).expect("a note");
        assert!(said.text().starts_with("Not durable: sync_file_range"), "{}", said.text());
    }
}
