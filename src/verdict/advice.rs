//! Commands to type next about a flow: the same line done otherwise, or a verb of our own at its place.

use super::measure::{FlowView, PhaseView};
use super::words::{typed, typed_with, with};
use crate::evidence::PathKind;
use crate::name::quoted;
use crate::plan::AddedWords;
use crate::record::NextStep;
use crate::unit::{KIB, MIB, Nanos};

/// The same past the page cache; `otherwise` where it cannot be typed.
pub fn past_cache(flow_view: &FlowView<'_>, otherwise: &str) -> NextStep {
    let origin = &flow_view.record.plan.origin;
    let tool = &origin.tool;
    let added = if flow_view.reads() { &tool.direct } else { &tool.direct_write };
    let added = added.as_ref().filter(|_| flow_view.flow.block.0.is_multiple_of(DIRECT_UNIT));
    typed_with(origin, added, otherwise)
}

/// The least unit of direct I/O.
const DIRECT_UNIT: u64 = 512;

/// The same past the page cache.
pub fn direct(flow_view: &FlowView<'_>) -> NextStep {
    past_cache(
        flow_view,
        "use direct I/O (dd: iflag=direct or oflag=direct; in a plan: caching direct)",
    )
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
    let words =
        more.words.replace("{n}", &format!("{number:.0}")).replace("{size}", &in_units(size));
    with(origin, &AddedWords::after(&words)).map(NextStep::Type)
}

/// A run that lasts so long can be measured, also where the next is twice as fast.
const LONG_ENOUGH: Nanos = Nanos::secs(2);

/// A power of two as tools read sizes: `4G`.
fn in_units(size: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| size >= *unit);
    unit.map_or_else(|| size.to_string(), |(unit, name)| format!("{}{name}", size / unit))
}

/// What makes the program need less CPU for each byte.
pub fn less_cpu(flow_view: &FlowView<'_>) -> NextStep {
    if flow_view.flow.caching.through_memory() {
        return past_cache(flow_view, "use larger blocks, more workers, or direct I/O");
    }
    let action = if flow_view.reads() { "read" } else { "write" };
    let options = format!(" --over bs=4k..1M --action {action}");
    own_verb(flow_view, "sweep", &options, "use larger blocks or more workers")
}

/// A verb of our own, with these options, where a flow went; `otherwise` where that is nothing that such
/// a verb may use. It writes no file but its own, and to no device.
pub fn own_verb(flow_view: &FlowView<'_>, verb: &str, options: &str, otherwise: &str) -> NextStep {
    let command = own_place(flow_view).map(|place| format!("assay {verb} {place}{options}"));
    typed(command, otherwise)
}

/// The path for such a verb: of a file its folder, as it may be gone after the run.
fn own_place(flow_view: &FlowView<'_>) -> Option<String> {
    let path = &flow_view.subject.path;
    let place = match flow_view.subject.kind {
        PathKind::Folder => path.as_str(),
        PathKind::Device if flow_view.reads() => path.as_str(),
        PathKind::File if flow_view.reads() && flow_view.phase.copy.is_some() => path.as_str(),
        PathKind::File | PathKind::Missing => match path.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((folder, _)) => folder,
            None => ".",
        },
        PathKind::Device | PathKind::Character | PathKind::Stream => return None,
    };
    let place = if place.starts_with('-') { format!("./{place}") } else { place.into() };
    Some(quoted(&place))
}

/// The same work with more and more in flight.
pub fn ramp(flow_view: &FlowView<'_>, otherwise: &str) -> NextStep {
    let block = flow_view.flow.block.0;
    let size = match block {
        MIB => Some("1M".to_string()),
        KIB..MIB if block.is_multiple_of(4 * KIB) => Some(format!("{}k", block / KIB)),
        _ => None,
    };
    let mut options = String::new();
    if let Some(size) = size {
        options.push_str(&format!(" --block {size}"));
    }
    if flow_view.flow.sequential {
        options.push_str(" --order forward");
    }
    if flow_view.writes() {
        options.push_str(" --action write");
    }
    own_verb(flow_view, "ramp", &options, otherwise)
}

/// The rate that lasts: what writes keep up.
pub fn sustained(flow_view: &FlowView<'_>) -> NextStep {
    let longer =
        "run longer (dd: a larger count=; in a plan: stop steady) to see the sustained rate";
    match flow_view.writes() {
        true => own_verb(flow_view, "sustain", "", longer),
        false => NextStep::Do(longer.into()),
    }
}

/// The same place with data of our own, which do not compress.
pub fn own_data(flow_view: &FlowView<'_>) -> NextStep {
    let otherwise = "use data that do not compress, and a file without compression";
    own_verb(flow_view, "quick", "", otherwise)
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
            words.map(|next| next.words().to_string())
        };
        let [sustain, quick, direct] = typed(&bench);
        assert_eq!([sustain.as_str(), quick.as_str()], ["assay sustain /mnt", "assay quick /mnt"]);
        assert!(direct.starts_with("assay dd ") && direct.ends_with(" oflag=direct"), "{direct}");
        let again = after_sync(&bench.record.plan.origin);
        assert!(again.words().starts_with("sync && assay dd "), "{}", again.words());
        for subject in &mut bench.record.resolved.subjects {
            if subject.kind == PathKind::File {
                subject.path = "-my files/x".into();
            }
        }
        assert_eq!(typed(&bench)[0], "assay sustain './-my files'");
    }
}
