//! Where the bytes went, and whose the bytes at the device were.

use super::super::measure::{DeviceLevel, FlowView, PhaseView, dropped};
use super::super::neighbours;
use assay_plan::plan::{BlockSize, Work};
use assay_plan::unit::Bytes;
use assay_record::evidence::{Direction, OtherProcess};
use assay_record::record::{ByteBalance, ByteMover, Flow, LowerBytes};

/// The balances of a phase, one for each direction and set of devices; none of trees, where metadata are what
/// moves, and where devices cannot be read.
pub fn bytes(phase_view: &PhaseView<'_>) -> Vec<ByteBalance> {
    if phase_view.of_trees() {
        return Vec::new();
    }
    let mut all: Vec<ByteBalance> = Vec::new();
    for flow_view in phase_view.cases.iter().filter(|flow_view| flow_view.on_devices()) {
        // A thousand flows may go one way to one device.
        let told = |level: &DeviceLevel<'_>| {
            let (direction, device) = (flow_view.direction(), level.name());
            all.iter().any(|known| known.direction == direction && known.device == device)
        };
        let new = flow_view.top().filter(|level| !told(level));
        all.extend(new.map(|level| balance(phase_view, flow_view, level)));
    }
    all
}

fn balance(
    phase_view: &PhaseView<'_>,
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
) -> ByteBalance {
    let direction = flow_view.direction();
    let moved = Bytes(level.asked.bytes(direction));
    let at_device = Bytes(level.moved(direction));
    let accounted = match direction {
        Direction::Read => None,
        Direction::Write => flow_view.accounted(level),
    };
    // What is certainly the file system's is not ours.
    let journal = accounted.map_or(Bytes::ZERO, |range| range.least);
    let ours = moved.min(at_device.less(journal));
    // What did not get to the device.
    let mut missing = moved.less(ours);
    let mut take = |most: Bytes| {
        let part = missing.min(most);
        missing = missing.less(part);
        part
    };
    let in_memory = take(in_memory(phase_view, flow_view, moved));
    let less = take(never_stored(flow_view, moved));
    // What got there beyond it.
    let mut surplus = at_device.less(ours);
    let mut take = |most: Bytes| {
        let part = surplus.min(most);
        surplus = surplus.less(part);
        part
    };
    let own = Bytes(flow_view.own_extra(level));
    let (file_system, read_ahead) = match direction {
        Direction::Read => (Bytes::ZERO, take(own)),
        Direction::Write => (take(own), Bytes::ZERO),
    };
    let mut movers = movers(flow_view, level, direction);
    let others = take(movers.iter().map(|mover| mover.bytes).sum());
    movers.retain(|mover| mover.bytes > Bytes::ZERO && others > Bytes::ZERO);
    ByteBalance {
        direction,
        device: level.name(),
        short: short(phase_view, level, direction),
        moved,
        at_device,
        ours,
        in_memory,
        less,
        file_system,
        accounted,
        read_ahead,
        others,
        movers,
        below: below(flow_view, direction),
        unexplained: missing + surplus,
    }
}

/// Read: what this process did not have to ask the devices for, by its own account. Written: what was still
/// in memory when the clock stopped, or reached the device only with the flush after it.
fn in_memory(phase_view: &PhaseView<'_>, flow_view: &FlowView<'_>, moved: Bytes) -> Bytes {
    let evidence = &flow_view.phase.evidence;
    match flow_view.direction() {
        Direction::Read if flow_view.direct() => Bytes::ZERO,
        Direction::Read => {
            let own = evidence.stop.own_since(&evidence.before).map(|own| own.read_bytes);
            let alone = phase_view.cases.iter().filter(|other| other.reads()).count() == 1;
            let from_page_cache = own.filter(|_| alone).map(|own| moved.less(own));
            let there = flow_view.cached(&evidence.before).map(|pages| pages.resident);
            from_page_cache.or(there).unwrap_or_default()
        }
        Direction::Write => {
            let later = flow_view.top().and_then(|level| {
                let settled = level.moved_settled(Direction::Write)?;
                Some(Bytes(settled.saturating_sub(level.moved(Direction::Write))))
            });
            later.max(flow_view.unwritten_pages()).unwrap_or_default()
        }
    }
}

/// What needed no device: no data on it, fewer bytes, or pages that were dropped.
fn never_stored(flow_view: &FlowView<'_>, moved: Bytes) -> Bytes {
    let part = |share: f64| Bytes((moved.0 as f64 * share.min(1.0)) as u64);
    match flow_view.direction() {
        Direction::Read => {
            let encoded = if flow_view.encoded_share() > 0.0 { 1.0 } else { 0.0 };
            part(flow_view.empty_share() + flow_view.trimmed_share() + encoded)
        }
        Direction::Write => {
            let mount = flow_view.subject.mount.seen();
            let encoded = mount.is_some_and(|mount| mount.compresses().is_some());
            let all = encoded || flow_view.shared_share().is_some();
            // Of what is written twice before it is flushed, the device gets the second.
            let again = match flow_view.direct() {
                true => Bytes::ZERO,
                false => moved.less(flow_view.size_of_phase()),
            };
            if all { moved } else { dropped(flow_view).unwrap_or_default() + again }
        }
    }
}

/// What passed the devices below those that the path names.
fn below(flow_view: &FlowView<'_>, direction: Direction) -> Vec<LowerBytes> {
    let top = flow_view.top().map_or(0, |level| level.depth);
    let lower = flow_view.levels.iter().filter(|level| level.depth > top && level.readable());
    let known = |level: &DeviceLevel<'_>| LowerBytes {
        device: level.name(),
        bytes: Bytes(level.moved(direction)),
    };
    lower.map(known).collect()
}

/// The other processes that were seen and may have moved something there in that direction, most first.
fn movers(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    direction: Direction,
) -> Vec<ByteMover> {
    let moved = |one: &OtherProcess| match direction {
        Direction::Read => one.read,
        Direction::Write => one.written,
    };
    let others = neighbours::seen(flow_view.phase).into_iter().flat_map(|all| &all.processes);
    let here = others
        .filter(|one| neighbours::moved_here(flow_view, level, one) > Bytes::ZERO)
        .filter_map(|one| {
            let (name, pid) = (one.name.clone(), one.pid);
            Some(ByteMover { name, pid, bytes: moved(one)? })
        });
    let mut all: Vec<ByteMover> = here.collect();
    all.sort_by_key(|mover| std::cmp::Reverse(mover.bytes));
    all
}

/// What the calls to these devices asked for and did not move, where each of them asked for as much, and none met the
/// end of the data.
fn short(phase_view: &PhaseView<'_>, level: &DeviceLevel<'_>, direction: Direction) -> Bytes {
    let jobs = phase_view.record.planned_jobs(phase_view.phase);
    let alike = |flow: &Flow| match jobs.get(flow.job).map(|job| &job.work) {
        Some(Work::Blocks(blocks)) => matches!(blocks.pattern.block, BlockSize::Fixed(_)),
        Some(Work::Copy(_)) => true,
        _ => false,
    };
    let here = phase_view.cases.iter().filter(|flow_view| {
        let flow = flow_view.flow;
        let on = flow_view.subject.stack.iter().any(|layer| level.has(&layer.name));
        on && flow.direction == direction && flow.short > 0 && !flow.end_of_data && alike(flow)
    });
    here.map(|flow_view| {
        let Flow { calls, block, bytes, .. } = *flow_view.flow;
        Bytes(calls.0.saturating_mul(block.0)).less(bytes)
    })
    .sum()
}
