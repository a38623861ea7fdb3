//! Which of several devices side by side did the work.

use super::super::limits::{allowed, counted, over};
use super::super::measure::FlowView;
use assay_plan::unit::Bytes;
use assay_record::evidence::DiskCounters;
use assay_record::record::MemberWork;

/// The devices of the highest level below a flow that has several, those that moved most first.
pub fn members(flow_view: &FlowView<'_>) -> Vec<MemberWork> {
    let Some(level) = flow_view.beside() else { return Vec::new() };
    let wall_ms = (level.wall.as_secs() * 1e3).max(1.0);
    let member = |name: &String| {
        let done: DiskCounters = counted(flow_view.phase, name)?;
        let limit = over(flow_view).find(|(throttle, _)| throttle.name == *name);
        Some(MemberWork {
            device: name.clone(),
            read: Bytes(done.read_bytes),
            written: Bytes(done.write_bytes),
            busy: (done.busy_ms as f64 / wall_ms).min(1.0),
            in_flight: done.weighted_ms as f64 / wall_ms,
            limit: limit.map(|(throttle, _)| allowed(throttle.limit)),
        })
    };
    let mut members: Vec<MemberWork> =
        level.layers.iter().filter_map(|layer| member(&layer.name)).collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.read + member.written));
    members
}
