//! T21: writes of less than a physical sector.

use super::measure::Case;
use super::{Judge, Rule, finding};
use crate::evidence::Layer;
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// Direct writes that are no multiple of the sector that the drive really writes.
pub const RULE: Rule = Rule {
    id: "T21",
    title: "Less than a physical sector",
    happens: "A drive with sectors of 4096 bytes that takes 512 reads the sector before it writes part of it.",
    seen_by: "Size of the calls against physical_block_size of every device below, down to a loop device over a file.",
    said_when: "Direct writes are no multiple of a physical sector: a note.",
    try_it: "`assay dd if=/dev/zero of=x bs=512 oflag=direct` on a drive of kind 512e.",
    answer: "Own verbs write blocks of 4 KiB and more.",
    judge: Judge::Flow(judge),
};

/// The device below a flow of direct writes of whose physical sector they cover a part, and that
/// sector.
pub(super) fn sector<'a>(case: &Case<'a>) -> Option<(&'a Layer, Bytes)> {
    if !case.writes() || !case.direct() || !case.on_devices() || case.flow.bytes == Bytes::ZERO {
        return None;
    }
    // Below the file of a loop device another file system decides what is written.
    let apart = case.subject.stack.iter().filter(|layer| layer.kind.over_file());
    let depth = apart.map(|layer| layer.level).min();
    let layers = case.subject.stack.iter().filter(|layer| layer.level <= depth.unwrap_or(u32::MAX));
    let mut cut = layers.filter_map(|layer| {
        let sector = layer.queue.seen()?.physical_block_size?;
        (sector > 0 && !case.flow.block.0.is_multiple_of(sector)).then_some((layer, Bytes(sector)))
    });
    cut.next()
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    let (layer, sector) = sector(case)?;
    let block = case.flow.block;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Writes of {block} cover parts of the physical sectors of {} ({sector}): it reads before it writes.",
            layer.name
        ),
        vec![
            Exhibit::new(
                format!("physical sector of {}", layer.name),
                sector.to_string(),
                format!("/sys/block/{}/queue/physical_block_size", layer.name),
            ),
            Exhibit::new("size of a write", block.to_string(), "the plan"),
        ],
        Some(Next::Do(format!("write multiples of {sector}"))),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::Bytes;

    #[test]
    fn parts_of_sectors_are_named_once() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.record.phases[0].flows[0].block = Bytes(512);
        let traps = |bench: &Bench| -> Vec<String> {
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound);
            found.findings.into_iter().map(|f| f.trap.0).collect()
        };
        assert_eq!(traps(&bench), ["T20"]);
        bench.queue(|queue| queue.physical_block_size = Some(4096));
        assert_eq!(traps(&bench), ["T21"]);
        bench.record.phases[0].flows[0].block = Bytes(8192);
        assert!(traps(&bench).is_empty());
    }
}
