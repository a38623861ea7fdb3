//! Who the others were, when the evidence shows that there were some. No rule of its own: that a
//! process was at work proves nothing about a device.

use super::measure::{Case, Level};
use super::threshold::CULPRIT;
use super::words::share;
use crate::evidence::{Neighbour, Neighbours};
use crate::record::{Exhibit, Next, PhaseRecord};
use crate::unit::{Bytes, Nanos};

/// No more than this many are named.
const NAMED: usize = 3;

/// Processes that a finding can name.
pub(super) struct Culprits {
    /// What they did, as a part of a sentence.
    pub said: String,
    /// What shows it.
    pub because: Vec<Exhibit>,
    /// What to do about them.
    pub next: Next,
}

/// Those who moved a part worth the name of a level's foreign bytes. Who is known to have no file open
/// there moved them elsewhere.
pub(super) fn movers(case: &Case<'_>, level: &Level<'_>, foreign: Bytes) -> Option<Culprits> {
    let others = seen(case.phase)?;
    let system = case.subject.mount.seen().filter(|_| level.depth == 0).map(|mount| mount.device);
    let system = system.map(|device| format!("{}:{}", device.major, device.minor));
    let here = |disk: &String| level.has(disk) || Some(disk) == system.as_ref();
    let elsewhere =
        |one: &Neighbour| one.open_on.as_ref().is_some_and(|disks| !disks.iter().any(here));
    let moved = |one: &Neighbour| match elsewhere(one) {
        true => Bytes::ZERO,
        false => one.read.unwrap_or_default() + one.written.unwrap_or_default(),
    };
    let least = foreign.0 as f64 * CULPRIT;
    let found = most(others, |one| moved(one).0 as f64, least);
    let did = |one: &Neighbour| {
        let (read, written) = (one.read.unwrap_or_default(), one.written.unwrap_or_default());
        // Whoever starts reads his program; that is not worth a word.
        let little = |part: Bytes| part.0.saturating_mul(100) < moved(one).0;
        match (little(read), little(written)) {
            (_, true) => format!("read {read}"),
            (true, _) => format!("wrote {written}"),
            _ => format!("read {read} and wrote {written}"),
        }
    };
    let said = listed(&found, |one| format!("{} {}", named(one), did(one)));
    let shown = |one: &Neighbour| {
        let file = format!("/proc/{}/io", one.pid);
        Exhibit::new(format!("what {} did in {}", named(one), others.time), did(one), file)
    };
    culprits(&found, said, shown)
}

/// Those who had this share of one CPU at least.
pub(super) fn users_of_cpu(phase: &PhaseRecord, least: f64) -> Option<Culprits> {
    let others = seen(phase)?;
    let part = |one: &Neighbour| one.cpu.0 as f64 / others.time.0.max(1) as f64;
    let found = most(others, part, least);
    let used = |one: &Neighbour| format!("{} used {} of one", named(one), share(part(one)));
    let said = listed(&found, used);
    let shown = |one: &Neighbour| {
        let file = format!("/proc/{}/stat", one.pid);
        let time = format!("{} in {}", one.cpu, others.time);
        Exhibit::new(format!("CPU time of {}", named(one)), time, file)
    };
    culprits(&found, said, shown)
}

/// For how long others were looked at.
pub(super) fn watched(phase: &PhaseRecord) -> Option<Nanos> {
    Some(seen(phase)?.time)
}

fn seen(phase: &PhaseRecord) -> Option<&Neighbours> {
    phase.evidence.neighbours.as_ref()?.seen()
}

/// Those of whom there was this much at the least, most first.
fn most(others: &Neighbours, much: impl Fn(&Neighbour) -> f64, least: f64) -> Vec<&Neighbour> {
    let mut found: Vec<&Neighbour> =
        others.processes.iter().filter(|one| much(one) > 0.0 && much(one) >= least).collect();
    found.sort_by(|a, b| much(b).total_cmp(&much(a)));
    found.truncate(NAMED);
    found
}

fn named(one: &Neighbour) -> String {
    format!("{} (process {})", one.name, one.pid)
}

fn listed(found: &[&Neighbour], words: impl Fn(&Neighbour) -> String) -> String {
    super::words::names(&found.iter().map(|one| words(one)).collect::<Vec<_>>())
}

fn culprits(
    found: &[&Neighbour],
    said: String,
    shown: impl Fn(&Neighbour) -> Exhibit,
) -> Option<Culprits> {
    if found.is_empty() {
        return None;
    }
    let them = listed(found, named);
    let next = format!("end {them}, or wait until that is done; then run again");
    Some(Culprits {
        said,
        because: found.iter().map(|one| shown(one)).collect(),
        next: Next::Do(next),
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::{LayerKind, Neighbour, Neighbours, Reading};
    use crate::record::{Finding, Measures, Trust};
    use crate::unit::{Bytes, Nanos};

    fn beside(bench: &mut Bench, processes: &[(&str, Nanos, Bytes)]) {
        let all = (10..).zip(processes).map(|(pid, (name, cpu, written))| Neighbour {
            pid,
            name: (*name).into(),
            cpu: *cpu,
            read: Some(Bytes::ZERO),
            written: Some(*written),
            open_on: None,
        });
        let others = Neighbours { time: Nanos::secs(5), processes: all.collect() };
        bench.record.phases[0].evidence.neighbours = Some(Reading::Seen(others));
    }

    /// The file behind its loop device lies on such a file system.
    fn rests_on(bench: &mut Bench, system: &str) {
        bench.layer_kind(LayerKind::Loop { file: "/i".into(), on: system.into(), direct: true });
    }

    fn found(bench: &Bench, trap: &str) -> Finding {
        let verdict = verdict(&bench.record);
        verdict.findings.into_iter().find(|f| f.trap.0 == trap).expect("named")
    }

    #[test]
    fn a_second_writer_is_named() {
        let mut bench = Bench::write_flushed();
        bench.written(Bytes::mib(40), Bytes::mib(40));
        assert!(found(&bench, "T31").claim.ends_with("were not this run's."));
        let small = ("sh", Nanos::ZERO, Bytes::mib(1));
        beside(&mut bench, &[small, ("dd", Nanos::ZERO, Bytes::mib(19))]);
        let named = found(&bench, "T31");
        assert!(
            named.claim.ends_with("this run's. Meanwhile dd (process 11) wrote 19 MiB."),
            "{}",
            named.claim
        );
        assert_eq!(
            named.next.expect("something to do").words(),
            "end dd (process 11), or wait until that is done; then run again"
        );
        assert!(named.because.iter().any(|shown| shown.source == "/proc/11/io"));
        let mut open_on = |disk: &str| {
            let others = &mut bench.record.phases[0].evidence.neighbours;
            let Some(Reading::Seen(others)) = others else { panic!("not seen") };
            others.processes[1].open_on = Some(vec![disk.into()]);
            found(&bench, "T31").claim.ends_with("wrote 19 MiB.")
        };
        assert!(open_on("loop3") && open_on("7:3") && !open_on("vda"));
    }

    #[test]
    fn whoever_has_the_cpus_is_named() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        bench.waited_for_cpu(Nanos::secs(3));
        beside(&mut bench, &[("sh", Nanos::millis(4900), Bytes::ZERO)]);
        let named = found(&bench, "T52");
        assert!(
            named.claim.ends_with("the CPUs. Of the others sh (process 10) used 98 % of one."),
            "{}",
            named.claim
        );
    }

    #[test]
    fn nobody_is_accused_when_nothing_is_found() {
        let mut bench = Bench::write_flushed();
        beside(&mut bench, &[("dd", Nanos::secs(2), Bytes::mib(19))]);
        let found = verdict(&bench.record);
        assert!(found.findings.is_empty(), "{found:?}");
    }

    #[test]
    fn whoever_has_a_cpu_is_told_beside_the_figure() {
        let mut bench = Bench::write_flushed();
        rests_on(&mut bench, "ext4");
        bench.ran(&[0], Some(Nanos::millis(150)));
        let busy = ("sh", Nanos::millis(4900), Bytes::ZERO);
        beside(&mut bench, &[busy, ("top", Nanos::millis(300), Bytes::ZERO)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Device));
        let said = "when the clock stopped. Meanwhile sh (process 10) used 98 % of one CPU; this run waited for a CPU for 3.0 % of the time.";
        assert!(found.summary.ends_with(said), "{}", found.summary);
        // A server of the file system works for the run.
        rests_on(&mut bench, "fuse");
        assert!(verdict(&bench.record).findings.is_empty());
    }

    #[test]
    fn a_buffered_run_that_waited_for_a_cpu_is_disturbed() {
        let mut bench = Bench::write_flushed();
        rests_on(&mut bench, "ext4");
        bench.work(0.3, 0.2);
        bench.ran(&[0], Some(Nanos::secs(1)));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound, "nobody was there");
        beside(&mut bench, &[("sh", Nanos::millis(4900), Bytes::ZERO)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Disturbed));
        let claim = &found.findings[0].claim;
        assert_eq!(
            claim,
            "The program waited for a CPU for 20 % of the time, in which loop3 had time left. Of the others sh (process 10) used 98 % of one."
        );
        // A server of the file system works for the run.
        rests_on(&mut bench, "fuse");
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
