//! Who the others were, when the evidence shows that there were some. No rule of its own: that a
//! process was at work proves nothing about a device.

use super::measure::{DeviceLevel, FlowView, PhaseView};
use super::threshold::CULPRIT;
use super::words::{self, share};
use assay_plan::plan::PlanOrigin;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{
    CpuUser, ExhibitOf, ExhibitSource, ExhibitValue, ForeignMover, MovedBytes, NamedProcess,
};
use assay_record::evidence::{Mount, OtherProcess, OtherProcesses};
use assay_record::record::{Exhibit, NextStep, PhaseRecord, Record, Remedy};

/// No more than this many are named.
const NAMED: usize = 3;

/// Processes that a finding can name.
pub(super) struct NamedProcesses<T> {
    pub did: Vec<T>,
    /// What shows it.
    pub because: Vec<Exhibit>,
    /// What to do about them.
    pub next: Option<NextStep>,
}

/// Those who moved a part worth the name of a level's foreign bytes. Who is known to have no file open
/// there moved them elsewhere.
pub(super) fn movers(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    foreign: Bytes,
) -> Option<NamedProcesses<ForeignMover>> {
    let others = seen(flow_view.phase)?;
    let strangers = |one: &OtherProcess| !is_partner(flow_view.record, one);
    let moved = |one: &OtherProcess| moved_here(flow_view, level, one);
    let least = foreign.0 as f64 * CULPRIT;
    let much = |one: &OtherProcess| if strangers(one) { moved(one).0 as f64 } else { 0.0 };
    let found = most(others, much, least);
    let did = |one: &OtherProcess| {
        let (read, written) = (one.read.unwrap_or_default(), one.written.unwrap_or_default());
        // Whoever starts reads his program; that is not worth a word.
        let little = |part: Bytes| part.0.saturating_mul(100) < moved(one).0;
        match (little(read), little(written)) {
            (_, true) => MovedBytes::Read(read),
            (true, _) => MovedBytes::Written(written),
            _ => MovedBytes::Both { read, written },
        }
    };
    let who = |one: &OtherProcess| {
        if shell(one) && mostly_by_ended(one) {
            NamedProcess::StartedBy { name: one.name.clone(), pid: one.pid }
        } else {
            named(one)
        }
    };
    let mover = |one: &OtherProcess| ForeignMover { process: who(one), moved: did(one) };
    let shown = |one: &OtherProcess| {
        let of = ExhibitOf::IoOf { process: who(one), time: others.time };
        Exhibit::new(of, ExhibitValue::Moved(did(one)), ExhibitSource::process(one.pid, "io"))
    };
    culprits(&flow_view.record.plan.origin, &found, mover, shown)
}

/// Other runs that keep step with this one and were at work on a level meanwhile.
pub(super) struct WorkingPartners {
    pub named: Vec<NamedProcess>,
    pub moved: Bytes,
    /// In how long.
    pub time: Nanos,
    /// What shows it.
    pub because: Vec<Exhibit>,
}

/// Those who wait at the same semaphores, by their program's name.
pub(super) fn partners(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
) -> Option<WorkingPartners> {
    let others = seen(flow_view.phase)?;
    let moved = |one: &OtherProcess| moved_here(flow_view, level, one);
    let at_work =
        |one: &&OtherProcess| is_partner(flow_view.record, one) && moved(one) > Bytes::ZERO;
    let found: Vec<&OtherProcess> = others.processes.iter().filter(at_work).collect();
    let shown = |one: &&OtherProcess| {
        let of = ExhibitOf::IoOf { process: named(one), time: others.time };
        Exhibit::new(of, moved(one), ExhibitSource::process(one.pid, "io"))
    };
    (!found.is_empty()).then(|| WorkingPartners {
        named: found.iter().map(|one| named(one)).collect(),
        moved: found.iter().map(|one| moved(one)).sum(),
        time: others.time,
        because: found.iter().map(shown).collect(),
    })
}

fn is_partner(record: &Record, one: &OtherProcess) -> bool {
    record.plan.origin.tool.partners.contains(&one.name)
}

/// What a process moved that may have been on a level. Of children that have ended nobody knows where they had their
/// files: where another child has some there now, theirs count as there, too.
pub(super) fn moved_here(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    one: &OtherProcess,
) -> Bytes {
    let system =
        flow_view.subject.mount.seen().filter(|_| level.depth == 0).map(|mount| mount.device);
    let system = system.map(|device| device.to_string());
    let here = |disk: &String| level.has(disk) || Some(disk) == system.as_ref();
    let moved = one.read.unwrap_or_default() + one.written.unwrap_or_default();
    let Some(disks) = &one.open_on else { return moved };
    if disks.iter().any(here) {
        return moved;
    }
    let child_here = |child: &OtherProcess| {
        child.parent == Some(one.pid) && child.open_on.iter().flatten().any(here)
    };
    let all = seen(flow_view.phase).into_iter().flat_map(|others| &others.processes);
    one.by_ended.filter(|_| all.into_iter().any(child_here)).unwrap_or_default()
}

/// Where ext4 may have been making the inode tables of a new file system meanwhile, and a level is what it lies on.
pub(super) fn lazy_init<'a>(
    flow_view: &FlowView<'a>,
    level: &DeviceLevel<'_>,
) -> Option<&'a Mount> {
    let mount = flow_view.subject.mount.seen()?;
    let making = seen(flow_view.phase)?.lazy_init && level.depth == 0;
    (making && mount.kind == "ext4").then_some(mount)
}

/// Programs in which people work, or that keep others running: nobody ends them for a benchmark.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "ksh93",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "nu",
    "xonsh",
    "pwsh",
    "busybox",
    "login",
    "sshd",
    "sshd-session",
    "su",
    "sudo",
    "screen",
    "SCREEN",
    "tmux",
    "tmux: server",
    "systemd",
    "init",
];

fn shell(one: &OtherProcess) -> bool {
    one.pid == 1 || SHELLS.contains(&one.name.as_str())
}

/// Children and threads that have ended moved most of it.
fn mostly_by_ended(one: &OtherProcess) -> bool {
    let moved = one.read.unwrap_or_default() + one.written.unwrap_or_default();
    one.by_ended.is_some_and(|ended| ended.0 > moved.0 / 2)
}

/// Those who had this share of one CPU at least.
pub(super) fn users_of_cpu(
    phase_view: &PhaseView<'_>,
    least: f64,
) -> Option<NamedProcesses<CpuUser>> {
    let others = seen(phase_view.phase)?;
    let part = |one: &OtherProcess| one.cpu.0 as f64 / others.time.0.max(1) as f64;
    let strangers =
        |one: &OtherProcess| if is_partner(phase_view.record, one) { 0.0 } else { part(one) };
    let found = most(others, strangers, least);
    let user = |one: &OtherProcess| CpuUser { process: named(one), cpu: share(part(one)) };
    let shown = |one: &OtherProcess| {
        let time = ExhibitValue::TimeIn { time: one.cpu, of: others.time };
        let source = ExhibitSource::process(one.pid, "stat");
        Exhibit::new(ExhibitOf::CpuTimeOf(named(one)), time, source)
    };
    culprits(&phase_view.record.plan.origin, &found, user, shown)
}

/// For how long others were looked at.
pub(super) fn watched(phase: &PhaseRecord) -> Option<Nanos> {
    Some(seen(phase)?.time)
}

pub(super) fn seen(phase: &PhaseRecord) -> Option<&OtherProcesses> {
    phase.evidence.neighbours.as_ref()?.seen()
}

/// Those of whom there was this much at the least, most first.
fn most(
    others: &OtherProcesses,
    much: impl Fn(&OtherProcess) -> f64,
    least: f64,
) -> Vec<&OtherProcess> {
    let mut found: Vec<&OtherProcess> =
        others.processes.iter().filter(|one| much(one) > 0.0 && much(one) >= least).collect();
    found.sort_by(|a, b| much(b).total_cmp(&much(a)));
    found.truncate(NAMED);
    found
}

fn named(one: &OtherProcess) -> NamedProcess {
    NamedProcess::Itself { name: one.name.clone(), pid: one.pid }
}

fn culprits<T>(
    origin: &PlanOrigin,
    found: &[&OtherProcess],
    did: impl Fn(&OtherProcess) -> T,
    shown: impl Fn(&OtherProcess) -> Exhibit,
) -> Option<NamedProcesses<T>> {
    if found.is_empty() {
        return None;
    }
    // What they are is to be looked at: nobody is told to end what others rely on. Those that have ended disturb no
    // second run.
    let numbers = |which: &dyn Fn(&OtherProcess) -> bool| {
        let there = found.iter().filter(|one| !one.ended && which(one));
        there.map(|one| one.pid.to_string()).collect::<Vec<_>>().join(",")
    };
    let mut command = ["ps -o pid,etime,args -p ", &numbers(&|_| true)].concat();
    let parents = numbers(&|one| shell(one) || mostly_by_ended(one));
    if !parents.is_empty() {
        command.extend([" --ppid ", &parents]);
    }
    let gone = found.iter().all(|one| one.ended);
    let look = NextStep::new(Remedy::Inspect, command);
    Some(NamedProcesses {
        did: found.iter().map(|one| did(one)).collect(),
        because: found.iter().map(|one| shown(one)).collect(),
        next: if gone { words::once_more(origin) } else { Some(look) },
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::evidence::{LayerKind, Reading};
    use assay_record::record::{Finding, MeasuredSubject, TrapId, Trust};

    /// The file behind its loop device lies on such a file system.
    fn rests_on(bench: &mut DoctoredRecord, system: &str) {
        bench.layer_kind(LayerKind::Loop { file: "/i".into(), on: system.into(), direct: true });
    }

    fn found(bench: &DoctoredRecord, trap: TrapId) -> Finding {
        let verdict = verdict(&bench.record);
        verdict.findings.into_iter().find(|f| f.trap == trap).expect("named")
    }

    #[test]
    fn a_second_writer_is_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(40), Bytes::mib(40));
        assert!(found(&bench, TrapId::T31).text().contains("no process was seen"));
        let small = ("sh", Nanos::ZERO, Bytes::mib(1));
        bench.beside(&[small, ("dd", Nanos::ZERO, Bytes::mib(19))]);
        let named = found(&bench, TrapId::T31);
        assert!(
            named.text().ends_with("from this run. Meanwhile dd (process 11) wrote 19 MiB."),
            "{}",
            named.text()
        );
        assert_eq!(named.next.expect("something to do").words(), "ps -o pid,etime,args -p 11");
        assert!(named.because.iter().any(|shown| shown.source() == "/proc/11/io"));
        let mut open_on = |disk: &str| {
            let others = &mut bench.record.phases[0].evidence.neighbours;
            let Some(Reading::Seen(others)) = others else { panic!("not seen") };
            others.processes[1].open_on = Some(vec![disk.into()]);
            found(&bench, TrapId::T31).text().ends_with("wrote 19 MiB.")
        };
        assert!(open_on("loop3") && open_on("7:3") && !open_on("vda"));
    }

    #[test]
    fn what_ended_children_moved_was_where_another_child_is() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(40), Bytes::mib(40));
        bench.beside(&[("sh", Nanos::ZERO, Bytes::mib(16)), ("dd", Nanos::ZERO, Bytes::mib(3))]);
        bench.done_by_ended(0, Bytes::mib(16));
        let mut named = |disk: &str, parent: u32| {
            let others = &mut bench.record.phases[0].evidence.neighbours;
            let Some(Reading::Seen(others)) = others else { panic!("not seen") };
            others.processes[0].open_on = Some(Vec::new());
            others.processes[1].open_on = Some(vec![disk.into()]);
            others.processes[1].parent = Some(parent);
            found(&bench, TrapId::T31)
                .text()
                .contains("programs started by sh (process 10) wrote 16 MiB")
        };
        assert!(named("loop3", 10) && !named("vda", 10) && !named("loop3", 1));
    }

    #[test]
    fn nobody_is_told_to_end_a_shell() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(60), Bytes::mib(60));
        let bash = ("bash", Nanos::ZERO, Bytes::mib(20));
        bench.beside(&[bash]);
        let see = "ps -o pid,etime,args -p 10 --ppid 10";
        let next = |bench: &DoctoredRecord| {
            found(bench, TrapId::T31).next.expect("something to do").words().to_string()
        };
        assert_eq!(next(&bench), see);
        bench.done_by_ended(0, Bytes::mib(19));
        assert_eq!(next(&bench), see);
        let claim = found(&bench, TrapId::T31).text();
        assert!(claim.ends_with("programs started by bash (process 10) wrote 20 MiB."), "{claim}");
        bench.beside(&[bash, ("dd", Nanos::ZERO, Bytes::mib(19))]);
        assert_eq!(next(&bench), "ps -o pid,etime,args -p 10,11 --ppid 10");
        // Whose children have ended is as innocent, whatever it is called.
        bench.beside(&[("make", Nanos::ZERO, Bytes::mib(19))]);
        bench.done_by_ended(0, Bytes::mib(19));
        assert_eq!(next(&bench), see);
    }

    #[test]
    fn whoever_keeps_step_is_a_partner() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(60), Bytes::mib(60));
        let partner = ("bonnie++", Nanos::secs(4), Bytes::mib(20));
        bench.beside(&[partner, partner]);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Disturbed);
        bench.record.plan.origin.tool.partners = vec!["assay".into(), "bonnie++".into()];
        let judged = verdict(&bench.record);
        assert_eq!((judged.trust, judged.measures), (Trust::Sound, MeasuredSubject::Limited));
        assert_eq!(
            judged.summary(),
            "This is only part of what loop3 did: 2 partners on the same semaphores (bonnie++ (process 10) and bonnie++ (process 11)) moved 40 MiB meanwhile, 60 MiB in total, at 12.6 MB/s."
        );
        assert!(judged.findings.iter().all(|f| f.trap != TrapId::T52), "{judged:?}");
        // A stranger beside them is one.
        bench.beside(&[partner, ("dd", Nanos::ZERO, Bytes::mib(19))]);
        let claim = found(&bench, TrapId::T31).text();
        assert!(claim.ends_with("Meanwhile dd (process 11) wrote 19 MiB."), "{claim}");
    }

    #[test]
    fn whoever_has_the_cpus_is_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        bench.waited_for_cpu(Nanos::secs(3));
        bench.beside(&[("sh", Nanos::millis(4900), Bytes::ZERO)]);
        let named = found(&bench, TrapId::T52);
        assert!(
            named.text().ends_with("the CPUs. sh (process 10) used 98 % of a CPU."),
            "{}",
            named.text()
        );
    }

    #[test]
    fn nobody_is_accused_when_nothing_is_found() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.random();
        bench.beside(&[("dd", Nanos::secs(2), Bytes::mib(19))]);
        let found = verdict(&bench.record);
        assert!(found.findings.is_empty(), "{found:?}");
    }

    #[test]
    fn whoever_has_a_cpu_is_told_beside_the_figure() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.random();
        rests_on(&mut bench, "ext4");
        bench.ran(&[0], Some(Nanos::millis(150)));
        let busy = ("sh", Nanos::millis(4900), Bytes::ZERO);
        bench.beside(&[busy, ("top", Nanos::millis(300), Bytes::ZERO)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device));
        let said = "when the clock stopped. Meanwhile sh (process 10) used 98 % of a CPU; this run waited for a CPU 3.0 % of the time.";
        assert!(found.summary().ends_with(said), "{}", found.summary());
        // It took nothing from a run that did not wait for it.
        bench.ran(&[0], Some(Nanos::millis(10)));
        assert!(verdict(&bench.record).findings.is_empty());
        bench.ran(&[0], Some(Nanos::millis(150)));
        // A server of the file system works for the run.
        rests_on(&mut bench, "fuse");
        assert!(verdict(&bench.record).findings.is_empty());
    }

    #[test]
    fn a_buffered_run_that_waited_for_a_cpu_is_disturbed() {
        let mut bench = DoctoredRecord::write_flushed();
        rests_on(&mut bench, "ext4");
        bench.work(0.3, 0.2);
        bench.ran(&[0], Some(Nanos::secs(1)));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound, "nobody was there");
        bench.beside(&[("sh", Nanos::millis(4900), Bytes::ZERO)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        let claim = &found.findings[0].text();
        assert_eq!(
            claim,
            "The program waited for a CPU 20 % of the time; loop3 was idle in between. sh (process 10) used 98 % of a CPU."
        );
        // A server of the file system works for the run.
        rests_on(&mut bench, "fuse");
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
