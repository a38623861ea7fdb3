//! T00: no evidence, no praise.

use super::measure::{Case, Stage};
use super::threshold::REACHED;
use super::{Judge, Rule, finding};
use crate::evidence::Bottom;
use crate::plan::{Action, Durability, Method};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;

/// The counters of the device were not seen, so nothing is proven.
pub const RULE: Rule = Rule {
    id: "T00",
    title: "Evidence that was not seen",
    happens: "Without the counters of the lowest device nothing can be shown.",
    seen_by: "Which readings are absent, and why.",
    said_when: "A reading that the verdict would rest on was not seen: unproven.",
    try_it: "`echo 0 > /sys/block/D/queue/iostats`, then measure.",
    answer: "Calls nothing sound without evidence.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let jobs = stage.record.resolved.jobs.iter();
    let mut ours = jobs.filter(|job| job.phase == stage.phase.name).peekable();
    let idle = ours.peek().is_some()
        && ours.all(|job| matches!(job.method, Method::Null | Method::Sim(_)));
    if idle {
        return Some(finding(
            RULE.id,
            Weight::Note,
            Some(Measures::Tool),
            "No device took part: this is what the program itself does.",
            vec![],
            None,
        ));
    }
    let mut done = stage.phase.totals.keys().filter(|action| !action.serves()).peekable();
    if stage.phase.flows.is_empty() && done.peek().is_some() && done.all(|a| *a == Action::Trim) {
        return Some(finding(
            RULE.id,
            Weight::Unproven,
            Some(Measures::Unsure),
            "Trims move no data: it can not be told when the device itself did what they ask for.",
            vec![],
            Some(Next::Do("compare it only with runs on the same device".into())),
        ));
    }
    if stage.cases.len() < stage.phase.flows.len() || stage.cases.is_empty() {
        return Some(say("the record does not tell what moved where", vec![]));
    }
    let unseen = stage.cases.iter().find_map(|case| missing(stage, case, found));
    unseen.or_else(|| metadata(stage, found))
}

/// No counter of a device says which of its requests were for names and attributes, so what files
/// were created or looked at per second is never proven to be about the device; only that it had
/// nothing to do can be seen.
fn metadata(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let case = stage.cases.iter().find(|case| case.on_devices()).filter(|_| stage.of_trees())?;
    if stage.ops() == 0 {
        return None;
    }
    if found.iter().any(|f| f.weight == Weight::Refute) {
        return None;
    }
    let level = case.top()?;
    let lean = if case.reads() {
        case.cold_next()
    } else {
        Next::Do("have each file flushed (in a plan: durability fsync_every 1, sync_folder)".into())
    };
    let moved = [
        Exhibit::new(
            format!("read from {} meanwhile", level.name()),
            Bytes(level.timed.read_bytes).to_string(),
            level.source(),
        ),
        Exhibit::new(
            format!("written to {} meanwhile", level.name()),
            Bytes(level.timed.write_bytes).to_string(),
            level.source(),
        ),
    ];
    let (measures, claim, next) = if level.traffic() == 0 {
        (
            Measures::Memory,
            format!("This is the speed of memory: {} had nothing to do.", level.name()),
            lean,
        )
    } else {
        (
            Measures::Unsure,
            format!(
                "It can not be told how much of this is {}: what the file system writes and reads for names and attributes is not counted by file.",
                level.name()
            ),
            Next::Do(
                "compare it only with runs on the same file system, with as many files".into(),
            ),
        )
    };
    Some(finding(RULE.id, Weight::Unproven, Some(measures), claim, moved.into(), Some(next)))
}

fn missing(stage: &Stage<'_>, case: &Case<'_>, found: &[Finding]) -> Option<Finding> {
    match &case.subject.bottom {
        Bottom::Unknown(why) => {
            let shown = Exhibit::new(
                format!("what {} lies on", case.subject.path),
                why.clone(),
                "mountinfo, /sys/dev/block",
            );
            return Some(say(
                &format!("what {} lies on could not be found out", case.subject.path),
                vec![shown],
            ));
        }
        Bottom::Devices => {}
        Bottom::Memory(_) | Bottom::Remote(_) | Bottom::Nothing(_) => return None,
    }
    if case.levels.iter().all(|level| level.layers.is_empty()) {
        return Some(say(&format!("no device was found below {}", case.subject.path), vec![]));
    }
    // Leaves that end higher are part of the deepest level, so it is the one that judges.
    if let Some(level) = case.levels.last().filter(|level| level.unseen.is_some()) {
        let why = level.unseen.clone().unwrap_or_default();
        let shown = Exhibit::new(format!("counters of {}", level.name()), why, level.source());
        return Some(say(
            &format!("the counters of {} could not be read", level.name()),
            vec![shown],
        ));
    }
    let dax = case
        .subject
        .stack
        .iter()
        .any(|layer| layer.queue.seen().is_some_and(|q| q.dax == Some(true)))
        && case
            .subject
            .mount
            .seen()
            .is_some_and(|mount| mount.options.split(',').any(|o| o == "dax=inode"));
    if dax {
        return Some(say("files may go around the counted queue (dax=inode)", vec![]));
    }
    // The counters of a small buffered write without a flush prove nothing: its journal may be all
    // that they show. Only the file's pages could tell.
    let (reach, level) = case.reach()?;
    let blind = case.writes()
        && case.flow.durability == Durability::None
        && !case.direct()
        && reach >= REACHED
        && level.small(case.direction())
        && case.unwritten_pages().is_none()
        && !stage.of_trees();
    let told = found.iter().any(|f| f.weight == Weight::Refute);
    (blind && !told).then(|| {
        say(
            "so little was written that the journal may be all that reached the device",
            vec![level.exhibit(case.direction())],
        )
    })
}

fn say(why: &str, because: Vec<Exhibit>) -> Finding {
    finding(
        RULE.id,
        Weight::Unproven,
        Some(Measures::Unsure),
        format!("It can not be told what this figure is about: {why}."),
        because,
        Some(Next::Do(
            "run as root on the machine itself, where /sys/block and /proc can be read".into(),
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::{Bottom, Reading};
    use crate::record::{Measures, Trust};

    #[test]
    fn what_was_not_seen_is_not_sound() {
        let mut bench = Bench::write_flushed();
        bench.record.phases[0].evidence.stop.devices[0].counters = Reading::Unseen("EACCES".into());
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, Measures::Unsure));

        let mut bench = Bench::write_flushed();
        bench.bottom(Bottom::Unknown("zfs".into()));
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);

        let mut bench = Bench::write_flushed();
        bench.record.phases[0].flows.clear();
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
    }

    #[test]
    fn counters_that_are_switched_off_prove_nothing() {
        let mut bench = Bench::read_again();
        bench.queue(|queue| queue.iostats = Some(false));
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
    }
}
