//! T22: a partition that does not begin where a physical sector does.

use super::measure::Case;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// The start of the partition is no multiple of the physical sector.
pub const RULE: Rule = Rule {
    id: "T22",
    title: "A partition off its boundary",
    happens: "A partition that begins inside a physical sector makes each block touch two.",
    seen_by: "The start of the partition; physical_block_size.",
    said_when: "The start is no multiple of the physical sector: a note.",
    try_it: "A partition from sector 63 on a drive with physical sectors of 4096 bytes.",
    answer: "Says it beside the figure.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() {
        return None;
    }
    let mut off = case.subject.stack.iter().filter_map(|layer| {
        let sector = layer.queue.seen()?.physical_block_size.filter(|sector| *sector > 0)?;
        let start = layer.start.filter(|start| !start.0.is_multiple_of(sector))?;
        Some((layer, layer.partition.as_deref()?, start, Bytes(sector)))
    });
    let (layer, partition, start, sector) = off.next()?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "{partition} begins inside a physical sector ({sector}): a block of it touches two."
        ),
        vec![
            Exhibit::new(
                format!("start of {partition}"),
                format!("{} bytes", start.0),
                format!("/sys/block/{}/{partition}/start", layer.name),
            ),
            Exhibit::new(
                format!("physical sector of {}", layer.name),
                sector.to_string(),
                format!("/sys/block/{}/queue/physical_block_size", layer.name),
            ),
        ],
        Some(Next::Do("make the partition anew at a multiple of 1 MiB".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};

    #[test]
    fn sector_sixty_three_is_off_the_boundary() {
        let mut bench = Bench::write_flushed();
        let mut named = |start: u64| {
            bench.partition_at(start);
            verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T22")
        };
        assert!(named(63 * 512));
        assert!(!named(2048 * 512));
    }
}
