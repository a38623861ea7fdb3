//! Commands to type next about a flow: the same line done otherwise, or a verb of our own at its place.
//!
//! A tool's own words come first: the plan has them. Where it has none, or its line would not do the same
//! again, a verb of our own does the like at the same place.

use super::measure::{FlowView, PhaseView};
use super::words::{self, ShellLine, typed_with, with};
use assay_plan::plan::{AddedWords, CacheDrop, Durability};
use assay_plan::unit::{Bytes, KIB, MIB, Nanos};
use assay_record::evidence::PathKind;
use assay_record::record::{NextStep, Remedy};

/// The same past the page cache.
pub fn direct(flow_view: &FlowView<'_>) -> Option<NextStep> {
    let origin = &flow_view.record.plan.origin;
    let tool = &origin.tool;
    let added = if flow_view.reads() { &tool.direct } else { &tool.direct_write };
    let fits = flow_view.flow.block.0.is_multiple_of(DIRECT_UNIT);
    let added = added.as_ref().filter(|_| fits);
    typed_with(origin, Remedy::Direct, added).or_else(|| load(flow_view, Remedy::Direct))
}

/// The least unit of direct I/O.
const DIRECT_UNIT: u64 = 512;

/// The same with a flush inside the timing.
pub fn flush(flow_view: &FlowView<'_>) -> Option<NextStep> {
    words::with_flush(&flow_view.record.plan.origin).or_else(|| load(flow_view, Remedy::Flush))
}

/// What reads from the device and not from memory.
pub fn cold(flow_view: &FlowView<'_>) -> Option<NextStep> {
    if flow_view.of_trees() {
        // The names and sizes of files are dropped with the caches of the whole machine only.
        let again = words::once_more(&flow_view.record.plan.origin)?;
        let drop = "echo 3 | sudo tee /proc/sys/vm/drop_caches";
        return Some(
            ShellLine::of(drop).words("&&").words(&again.command).next(Remedy::DropCaches),
        );
    }
    let planned = flow_view.record.planned(flow_view.phase);
    let tried = planned.is_some_and(|phase| phase.cold != CacheDrop::Keep) || flow_view.direct();
    words::cold(&flow_view.record.plan.origin, tried)
        .or_else(|| load(flow_view, Remedy::DropCaches))
}

/// More of the same by the tool's own words, so much that it takes two seconds.
pub fn more(phase_view: &PhaseView<'_>) -> Option<NextStep> {
    let origin = &phase_view.record.plan.origin;
    let name = Some(phase_view.phase.name.as_str());
    let of =
        |phase: Option<&str>| origin.tool.more.iter().find(|more| more.phase.as_deref() == phase);
    let more = of(name).or_else(|| of(None))?;
    let times = LONG_ENOUGH.as_secs() / phase_view.phase.span.time().as_secs().max(1e-6);
    let wanted = (more.done as f64 * times).ceil();
    // One digit that counts, or a power of two, is enough.
    let tens = 10_f64.powi(wanted.log10().floor() as i32);
    let (number, size) = ((wanted / tens).ceil() * tens, (wanted as u64).next_power_of_two());
    if number as u64 > more.most || size > more.most {
        return None;
    }
    let number = (number as u64).to_string();
    let words = more.words.replace("{n}", &number).replace("{size}", &in_units(size));
    let command = with(origin, &AddedWords::after(&words))?;
    Some(NextStep::new(Remedy::MoreData, command))
}

/// What lasts long enough: more of the same, or the like for as long as it takes.
pub fn longer(phase_view: &PhaseView<'_>) -> Option<NextStep> {
    more(phase_view).or_else(|| {
        let mut flows = phase_view.cases.iter();
        flows.find_map(|flow_view| load(flow_view, Remedy::MoreData))
    })
}

/// A run that lasts so long can be measured, also where the next is twice as fast.
const LONG_ENOUGH: Nanos = Nanos::secs(2);

/// A power of two as tools read sizes: `4G`.
fn in_units(size: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| size >= *unit);
    unit.map_or_else(
        || size.to_string(),
        |(unit, name)| [&(size / unit).to_string(), name].concat(),
    )
}

/// What makes the program need less CPU for each byte.
pub fn less_cpu(flow_view: &FlowView<'_>) -> Option<NextStep> {
    if flow_view.flow.caching.through_memory() {
        return direct(flow_view);
    }
    larger_blocks(flow_view)
}

/// By which blocks the rate grows.
pub fn larger_blocks(flow_view: &FlowView<'_>) -> Option<NextStep> {
    let action = if flow_view.reads() { "read" } else { "write" };
    let options = ShellLine::default().option("--over", "bs=4k..1M").option("--action", action);
    own_verb(flow_view, Remedy::OtherBlocks, "sweep", &options.0)
}

/// A verb of our own, with these options, where a flow went; `None` where that is nothing that such a
/// verb may use. It writes no file but its own, and to no device.
pub fn own_verb(
    flow_view: &FlowView<'_>,
    remedy: Remedy,
    verb: &str,
    options: &str,
) -> Option<NextStep> {
    let kind = match flow_view.subject.kind {
        // What a copy reads is there before it and after.
        PathKind::File if flow_view.reads() && flow_view.phase.copy.is_some() => PathKind::Folder,
        kind => kind,
    };
    words::own_verb(remedy, verb, (&flow_view.subject.path, kind), flow_view.reads(), options)
}

/// A verb of our own that only looks, where a flow went.
pub fn look(flow_view: &FlowView<'_>, verb: &str) -> Option<NextStep> {
    let subject = flow_view.subject;
    words::own_verb(Remedy::Inspect, verb, (&subject.path, subject.kind), true, "")
}

/// A verb of our own that writes a file where a flow went before it reads it.
pub fn written_first(flow_view: &FlowView<'_>, verb: &str, options: &str) -> Option<NextStep> {
    let subject = flow_view.subject;
    words::own_verb(Remedy::WriteFirst, verb, (&subject.path, subject.kind), false, options)
}

/// The load of a flow as `assay io` does it where it went: from the device, and flushed.
pub fn load(flow_view: &FlowView<'_>, remedy: Remedy) -> Option<NextStep> {
    load_of(flow_view, remedy, flow_view.flow.block)
}

/// The same with blocks that are multiples of a unit.
pub fn in_multiples(flow_view: &FlowView<'_>, unit: Bytes) -> Option<NextStep> {
    let unit = unit.0.max(1);
    let block = flow_view.flow.block.0.div_ceil(unit).saturating_mul(unit);
    load_of(flow_view, Remedy::OtherBlocks, Bytes(block))
}

fn load_of(flow_view: &FlowView<'_>, remedy: Remedy, block: Bytes) -> Option<NextStep> {
    let flow = flow_view.flow;
    if flow_view.of_trees() {
        return None;
    }
    let rw = match (flow_view.reads(), flow.sequential) {
        (true, true) => "read",
        (true, false) => "randread",
        (false, true) => "write",
        (false, false) => "randwrite",
    };
    let block = match block.0 {
        block if block >= MIB && block.is_multiple_of(MIB) => {
            [&(block / MIB).to_string(), "M"].concat()
        }
        block if block >= 4 * KIB && block.is_multiple_of(KIB) => {
            [&(block / KIB).to_string(), "k"].concat()
        }
        // Bytes and parts of sectors are nothing that a device does.
        _ if flow.sequential => "1M".into(),
        _ => "4k".into(),
    };
    let mut options = ShellLine::default().option("--rw", rw).option("--bs", block);
    if let Some(job) = flow_view.record.jobs_of(flow_view.phase).nth(flow.job) {
        let counts = [("--iodepth", job.iodepth, 1024), ("--workers", job.workers, 256)];
        for (option, count, most) in counts {
            if (2..=most).contains(&count) {
                options = options.option(option, count);
            }
        }
    }
    match (remedy, flow.durability) {
        (Remedy::Direct, _) => options = options.words("--direct"),
        (_, Durability::FsyncEvery(every) | Durability::FsyncBetween(every))
            if flow_view.writes() =>
        {
            options = options.option("--fsync", every.0);
        }
        _ => {}
    }
    own_verb(flow_view, remedy, "io", &options.0)
}

/// The same work with more and more in flight.
pub fn ramp(flow_view: &FlowView<'_>) -> Option<NextStep> {
    let block = flow_view.flow.block.0;
    let size = match block {
        MIB => Some("1M".to_string()),
        KIB..MIB if block.is_multiple_of(4 * KIB) => {
            Some([&(block / KIB).to_string(), "k"].concat())
        }
        _ => None,
    };
    let mut options = ShellLine::default();
    if let Some(size) = size {
        options = options.option("--block", size);
    }
    if flow_view.flow.sequential {
        options = options.option("--order", "forward");
    }
    if flow_view.writes() {
        options = options.option("--action", "write");
    }
    own_verb(flow_view, Remedy::Deeper, "ramp", &options.0)
}

/// The rate that lasts: what writes keep up, and reads for a minute.
pub fn sustained(flow_view: &FlowView<'_>) -> Option<NextStep> {
    match flow_view.writes() {
        true => own_verb(flow_view, Remedy::MoreTime, "sustain", ""),
        false => {
            let next = load(flow_view, Remedy::MoreTime)?;
            Some(ShellLine::of(&next.command).option("--time", 60).next(next.remedy))
        }
    }
}

/// The same place with data of our own, which do not compress.
pub fn own_data(flow_view: &FlowView<'_>) -> Option<NextStep> {
    own_verb(flow_view, Remedy::UniqueData, "quick", "")
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::super::measure::PhaseView;
    use super::super::words::after_sync;
    use super::*;

    #[test]
    fn a_verb_of_our_own_goes_to_the_folder_of_the_file() {
        let mut bench = DoctoredRecord::write_flushed();
        let typed = |bench: &DoctoredRecord| {
            let phase_view = PhaseView::new(&bench.record, &bench.record.phases[0]);
            let written = phase_view.cases.iter().find(|flow_view| flow_view.writes());
            let written = written.expect("a write");
            let words = [sustained(written), own_data(written), direct(written)];
            words.map(|next| next.expect("a command").command)
        };
        let [sustain, quick, direct] = typed(&bench);
        assert_eq!([sustain.as_str(), quick.as_str()], ["assay sustain /mnt", "assay quick /mnt"]);
        assert!(direct.starts_with("assay dd ") && direct.ends_with(" oflag=direct"), "{direct}");
        let again = after_sync(&bench.record.plan.origin).expect("a command").command;
        assert!(again.starts_with("sync && assay dd "), "{again}");
        for subject in &mut bench.record.resolved.subjects {
            if subject.kind == PathKind::File {
                subject.path = "-my files/x".into();
            }
        }
        assert_eq!(typed(&bench)[0], "assay sustain './-my files'");
    }
}
