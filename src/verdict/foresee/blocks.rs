//! What a job of blocks or of files walks into, by its plan and by what stands at its target.

use std::path::PathBuf;

use super::ends::device;
use super::source::resident;
use super::{Sight, file, machine, mount, place};
use crate::evidence::{Bottom, Direction, Machine, PathKind, Survey};
use crate::plan::{Blocks, Cold, Durability, Fill, Layout, Order, Origin, Target, Tree};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::verdict::threshold::{DEPTH_LEAST, RESIDENT, SMALL_WRITE};
use crate::verdict::{
    client_bound, compressed, file_lock, finding, first_write, flush_bound, latency_bound,
    not_flushed, own, served_from_cache, trimmed_blocks, uncommitted, words,
};

/// A job on blocks and where it takes place.
pub(super) struct Ground<'a> {
    /// The job's blocks.
    pub blocks: &'a Blocks,
    /// Its workers.
    pub workers: u32,
    /// Whose words made it.
    pub origin: &'a Origin,
    /// What is dropped from memory before it.
    pub cold: Cold,
    /// Its target.
    pub survey: &'a Survey,
    /// The machine.
    pub machine: &'a Machine,
}

/// The paths of a target.
pub(super) fn paths(target: &Target) -> Vec<PathBuf> {
    match target {
        Target::File { path, .. } | Target::Device { path, .. } => vec![path.clone()],
        Target::Scratch { dir, .. } => vec![dir.clone()],
        Target::Files { dirs, .. } => dirs.clone(),
        Target::Nowhere { .. } => Vec::new(),
    }
}

/// Everything that can be foreseen of a job of blocks.
pub(super) fn see(ground: &Ground<'_>) -> Vec<Finding> {
    let judges = [
        unflushed,
        each_write,
        fewer_bytes,
        from_memory,
        one_at_a_time,
        lock,
        first_writes,
        byte_by_byte,
    ];
    let mut found: Vec<Finding> = match ground.survey.bottom {
        Bottom::Devices => judges.iter().filter_map(|judge| judge(ground)).collect(),
        _ => Vec::new(),
    };
    let writes = ground.blocks.pattern.mix.writes();
    let direct = !ground.blocks.caching.through_memory();
    let durable = ground.blocks.promises().durable();
    found.extend(around(ground.survey, ground.machine, writes, direct, durable));
    if !writes && let Some(lay) = &ground.survey.file {
        found.extend(file::empty(lay).into_iter().chain(file::encoded(lay)));
    }
    if ground.blocks.pattern.mix.fetches() {
        found.extend(trimmed_blocks::foreseen(ground.survey));
    }
    found
}

/// Everything that can be foreseen of a job on files.
pub(super) fn see_tree(tree: &Tree, survey: &Survey, machine: &Machine) -> Vec<Finding> {
    let writes = tree.action.changes();
    let mut found = around(survey, machine, writes, false, tree.durability.durable());
    if writes && survey.bottom == Bottom::Devices && !tree.durability.durable() {
        found.push(finding(
            not_flushed::RULE.id,
            Weight::Doubt,
            Some(Measures::Deferred),
            format!("Nothing is flushed: changes may be in memory, and not on {}, when the clock stops.", device(survey)),
            vec![Exhibit::new("durability", "none", "the plan")],
            None,
        ));
        found.extend(uncommitted::foreseen(survey));
    }
    found
}

/// What lies around a target, as far as such a job meets it.
fn around(
    survey: &Survey,
    machine: &Machine,
    writes: bool,
    direct: bool,
    durable: bool,
) -> Vec<Finding> {
    let sight = Sight { survey, machine };
    let mut found = Vec::new();
    for see in [place::see, mount::see, super::device::see] {
        see(&sight, &mut found);
    }
    found.retain(|finding| match finding.trap.0.as_str() {
        "T00" | "T22" | "T29" | "T46" | "T47" | "T50" | "T55" => true,
        "T14" => writes && !durable,
        "T15" => writes && durable,
        "T16" => writes && direct && !durable,
        "T44" => writes,
        "T19" => direct,
        "T30" => direct && finding.weight > Weight::Note,
        "T38" => writes && finding.weight > Weight::Note,
        _ => false,
    });
    let direction = if writes { Direction::Write } else { Direction::Read };
    found.extend(machine::limits(&sight, direction));
    found
}

/// T02.
fn unflushed(ground: &Ground<'_>) -> Option<Finding> {
    let blocks = ground.blocks;
    let buffered = blocks.caching.through_memory() && ground.survey.kind != PathKind::Device;
    let left = blocks.pattern.mix.sends() && buffered && !blocks.promises().durable();
    let limit = ground.survey.writeback.seen().map(|writeback| writeback.limit);
    left.then(|| {
        let most = limit.map_or_else(|| "some of it".to_string(), |limit| format!("up to {limit}"));
        let exhibit = |limit: crate::unit::Bytes| {
            Exhibit::new("dirty limit", limit.to_string(), "/proc/vmstat nr_dirty_threshold")
        };
        finding(
            not_flushed::RULE.id,
            Weight::Doubt,
            Some(Measures::Deferred),
            format!(
                "Nothing is flushed: {most} may be in memory, and not on {}, when the clock stops.",
                device(ground.survey)
            ),
            limit.map(exhibit).into_iter().collect(),
            Some(words::with_flush(ground.origin)),
        )
    })
}

/// T14.
fn each_write(ground: &Ground<'_>) -> Option<Finding> {
    let promise = ground.blocks.promises();
    let each = matches!(promise, Durability::OpenSync | Durability::OpenDsync)
        || promise.every() == Some(1);
    (each && ground.blocks.pattern.mix.sends()).then(|| {
        finding(
            flush_bound::RULE.id,
            Weight::Note,
            None,
            format!("Flush-bound: each write waits for {}; this is the latency of a durable write, not bandwidth.", device(ground.survey)),
            vec![Exhibit::new("durability", "of each write", "the plan")],
            None,
        )
    })
}

/// T25.
fn fewer_bytes(ground: &Ground<'_>) -> Option<Finding> {
    let pattern = &ground.blocks.pattern;
    if !pattern.mix.sends() || matches!(pattern.fill, Fill::Random | Fill::File(_)) {
        return None;
    }
    let (mount, option) =
        ground.survey.mounts().find_map(|mount| Some((mount, mount::compressing(mount)?)))?;
    Some(finding(
        compressed::RULE.id,
        Weight::Doubt,
        Some(Measures::Layer),
        format!(
            "{} at {} compresses ({option}), and these data ({}) shrink: {} writes fewer bytes.",
            mount.kind,
            mount.point,
            pattern.fill.name(),
            device(ground.survey)
        ),
        mount::exhibit(mount, option),
        Some(compressed::next()),
    ))
}

/// T01.
fn from_memory(ground: &Ground<'_>) -> Option<Finding> {
    let reads = ground.blocks.pattern.mix.fetches();
    if !reads || !ground.blocks.caching.through_memory() || ground.cold != Cold::Keep {
        return None;
    }
    let part = resident(ground.survey);
    if part.is_some_and(|part| part <= RESIDENT) {
        return None;
    }
    let claim = match part {
        Some(part) => format!(
            "{} of {} is in memory: that part is read without {}.",
            words::share(part),
            ground.survey.path,
            device(ground.survey)
        ),
        None => format!(
            "Reads go through memory, and what a phase before them or an earlier run left there is read without {}.",
            device(ground.survey)
        ),
    };
    Some(finding(
        served_from_cache::RULE.id,
        Weight::Doubt,
        Some(Measures::Memory),
        claim,
        vec![Exhibit::new("caching", "buffered, and nothing is dropped", "the plan")],
        Some(words::cold(ground.origin, false)),
    ))
}

/// Direct writes to a file that begins with nothing in it.
fn grows(ground: &Ground<'_>) -> bool {
    let blocks = ground.blocks;
    let empty = match &blocks.target {
        Target::File { layout: Layout::Truncated, .. } => true,
        Target::File { layout: Layout::AsFound, .. } => ground.survey.kind == PathKind::Missing,
        Target::Scratch { layout: Layout::Truncated | Layout::AsFound, .. } => true,
        _ => false,
    };
    let moved = ground.survey.mounts().next().is_some_and(|mount| own::moves(&mount.kind));
    empty && !moved && blocks.pattern.mix.sends() && !blocks.caching.through_memory()
}

/// T37.
fn lock(ground: &Ground<'_>) -> Option<Finding> {
    let depth = match ground.blocks.method.one_at_a_time() {
        true => ground.workers,
        false => ground.workers.saturating_mul(ground.blocks.iodepth),
    };
    (grows(ground) && depth >= DEPTH_LEAST).then(|| {
        finding(
            file_lock::RULE.id,
            Weight::Doubt,
            Some(Measures::Tool),
            format!("{depth} writes in flight make one file longer: they wait for each other behind its lock, and {} gets one at a time.", device(ground.survey)),
            vec![Exhibit::new("writes in flight", depth.to_string(), "the plan")],
            Some(Next::Do("have the file written or allocated first: layout written, or preallocated".into())),
        )
    })
}

/// T36.
fn first_writes(ground: &Ground<'_>) -> Option<Finding> {
    let pattern = &ground.blocks.pattern;
    let small = pattern.order != Order::Forward || pattern.largest() <= SMALL_WRITE;
    (grows(ground) && small).then(|| {
        finding(
            first_write::RULE.id,
            Weight::Note,
            None,
            "These are first writes, which allocate: overwriting what is there may be several times as fast.",
            vec![Exhibit::new("the file", "empty when the writes begin", "the plan")],
            None,
        )
    })
}

/// T51.
fn byte_by_byte(ground: &Ground<'_>) -> Option<Finding> {
    let method = ground.blocks.method;
    method.is_bytewise().then(|| {
        finding(
            client_bound::RULE.id,
            Weight::Doubt,
            Some(Measures::Tool),
            format!(
                "Each byte is a call of its own ({}): the processor sets the rate, unless {} is slower than a few MB/s.",
                method.name(),
                device(ground.survey)
            ),
            vec![Exhibit::new("method", method.name(), "the plan")],
            Some(client_bound::by_blocks()),
        )
    })
}

/// T54.
fn one_at_a_time(ground: &Ground<'_>) -> Option<Finding> {
    let blocks = ground.blocks;
    let alone = ground.workers == 1 && (blocks.iodepth <= 1 || blocks.method.one_at_a_time());
    (alone && !blocks.caching.through_memory()).then(|| {
        finding(
            latency_bound::RULE.id,
            Weight::Note,
            None,
            format!("Latency-bound at depth 1: one I/O of {} is under way at a time, so this is not the disk's maximum.", blocks.pattern.largest()),
            vec![Exhibit::new("I/Os in flight", "1", "the plan")],
            None,
        )
    })
}
