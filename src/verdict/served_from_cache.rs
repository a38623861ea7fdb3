//! T01: what was read was in memory from before.

use super::measure::{Case, estimate};
use super::threshold::{REACHED, SMALL_BYTES, UNTOUCHED};
use super::words::{of, quoted, share};
use super::{Judge, Rule, finding, not_direct, trimmed_blocks};
use crate::evidence::LayerKind;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::stats::Estimate;
use crate::unit::Bytes;

/// Less than 98 % of the bytes came from the lowest device.
pub const RULE: Rule = Rule {
    id: "T01",
    title: "Served from memory",
    happens: "The data were in memory from the write or an earlier read.",
    seen_by: "Bytes read from the lowest device; pages of the file in memory before.",
    said_when: "Less than {UNTOUCHED} came from the device: wrong, memory. Less than {REACHED}: wrong, mixed, with the rate of the part that did come from it.",
    try_it: "`assay dd if=x of=/dev/null bs=1M`, twice.",
    answer: "Own verbs drop the file from memory, look whether it is gone, or read past the cache.",
    judge: Judge::Flow(judge),
};

/// Share of the read that came from the device, when memory is what gave the rest.
fn part(case: &Case<'_>) -> Option<f64> {
    let shared = case.shared_share().is_some() || trimmed_blocks::applies(case);
    if !case.reads() || !case.on_devices() || case.flow.bytes == Bytes::ZERO || shared {
        return None;
    }
    let (reach, _) = case.reach()?;
    (reach < REACHED && !case.layout_explains(reach)).then_some(reach)
}

/// The pace of the part that did come from the device, when there was enough of it.
pub(super) fn device_part(case: &Case<'_>) -> Option<Estimate> {
    let reach = part(case)?;
    let (_, level) = case.reach()?;
    let moved = Bytes(level.moved(case.direction()));
    (reach >= UNTOUCHED && moved >= SMALL_BYTES).then(|| estimate(moved, case.time())).flatten()
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    if not_direct::applies(case).is_some() {
        return None;
    }
    let reach = part(case)?;
    let (_, level) = case.reach()?;
    let name = level.name();
    let below =
        level.depth > 0 && case.top().and_then(|top| top.reach(case.direction())) >= Some(REACHED);
    let (measures, claim) = match reach {
        r if below && r < UNTOUCHED && past_cache(case) => (
            Measures::Layer,
            format!(
                "This is not the speed of a disk: {} answered by itself, as it does where the file behind it has holes, and {name} had nothing to do.",
                case.named()
            ),
        ),
        r if below && r < UNTOUCHED => (
            Measures::Memory,
            format!(
                "This is the speed of memory: {} read from a cache below it, and {name} had nothing to do.",
                case.named()
            ),
        ),
        r if r < UNTOUCHED => (
            Measures::Memory,
            format!(
                "This is the speed of memory: {} of what was read came from {name}.",
                if r == 0.0 { "nothing".into() } else { share(r) }
            ),
        ),
        r => (
            Measures::Mixed,
            format!(
                "This is a mixture of disk and memory: {} of what was read came from {name}, the rest was in memory.",
                share(r)
            ),
        ),
    };
    let mut because = vec![level.exhibit(case.direction())];
    if let Some(pages) = case.cached(&case.phase.evidence.before) {
        because.push(Exhibit::new(
            format!("pages of {} in memory before", case.subject.path),
            of(pages.resident, case.flow.bytes),
            "cachestat()",
        ));
    }
    let next = if below { uncached(case) } else { case.cold_next() };
    Some(finding(RULE.id, Weight::Refute, Some(measures), claim, because, Some(next)))
}

/// Whether the loop devices on the way read their files past the page cache.
fn past_cache(case: &Case<'_>) -> bool {
    let mut loops = case.subject.stack.iter().filter_map(|layer| match layer.kind {
        LayerKind::Loop { direct, .. } => Some(direct),
        _ => None,
    });
    loops.next() == Some(true) && loops.all(|direct| direct)
}

/// What keeps a cache from lying below the device that the path names.
fn uncached(case: &Case<'_>) -> Next {
    let cached = case.subject.stack.iter().find_map(|layer| match &layer.kind {
        LayerKind::Loop { direct: false, .. } => Some(&layer.name),
        _ => None,
    });
    match cached {
        Some(name) => {
            Next::Type(format!("losetup --direct-io=on {}", quoted(&format!("/dev/{name}"))))
        }
        None if past_cache(case) => {
            Next::Do("read a part that has been written, or write it out first".into())
        }
        None => Next::Do(
            "read a part that was not read before, or more than the cache below holds".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn a_second_read_is_memory() {
        let found = verdict(&Bench::read_again().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Memory));
        assert_eq!(
            found.findings[0].next.as_ref().map(|next| next.words()),
            Some("ASSAY_COLD=target assay dd if=/mnt/x of=/dev/null bs=1M")
        );
    }

    #[test]
    fn half_of_it_is_a_mixture_with_the_disks_part() {
        let mut bench = Bench::read_cold();
        bench.was_read(Bytes::mib(10));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Mixed));
        assert!(found.corrected.is_some());
    }

    #[test]
    fn a_cold_read_is_the_device() {
        let found = verdict(&Bench::read_cold().record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Device));
    }
}
