//! T31: others used the device at the same time.

use super::measure::{DeviceLevel, FlowView};
use super::neighbours::WorkingPartners;
use super::own::moves_what_it_writes;
use super::threshold::{FOREIGN, FOREIGN_RUINS, LOWER_BUSY, OWN_BYTES};
use super::words::{self, of, pace, share};
use super::{Rule, RuleJudge, command, finding, neighbours, throttled};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{ExhibitOf, ExhibitValue, ForeignPart, ForeignSource, OthersClaim};
use assay_record::evidence::LayerKind;
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// Bytes passed the device that the run cannot account for. On devices below the one that the
/// path names they matter only where little time was left.
pub const RULE: Rule = Rule {
    id: TrapId::T31,
    title: "Other I/O on the device",
    happens: "Another program's I/O shares the device.",
    seen_by: "Bytes at the device that the run did not request; its traffic in the quiet time before; requests in flight at the start; what other processes read and wrote meanwhile, and where their files are; pages that the kernel wrote back.",
    said_when: "More than {FOREIGN} of the bytes are foreign, and a process that moved them is known, or the device was busy before the phase began: doubtful, disturbed. More than {FOREIGN_RUINS}: wrong. Where no process is known: unproven, with the pages that the kernel wrote back where they are most of it. More than {FOREIGN_RUINS} of the requests of a device, in fewer bytes, by a process that is known: doubtful, disturbed. Runs that share semaphores with this one are partners: a note with the sum of all.",
    try_it: "A second `dd` to the same disk.",
    answer: "Watches the devices before each phase (again where its own earlier writes may still be in progress), counts that traffic as foreign, and names the processes that moved most.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.first_here || !flow_view.on_devices() || flow_view.of_trees() {
        return None;
    }
    let mut found: Option<(&DeviceLevel<'_>, u64, FindingWeight)> = None;
    for level in flow_view.levels.iter().filter(|level| level.readable()) {
        if level.asked.read == 0 && level.asked.write == 0 {
            continue;
        }
        let foreign = flow_view.foreign(level);
        let part = foreign as f64 / level.traffic().max(1) as f64;
        let weight = match level.depth {
            0 if part > FOREIGN_RUINS => FindingWeight::Refute,
            0 if part > FOREIGN => FindingWeight::Doubt,
            0 => continue,
            // Below a limit that was met there was time left for others.
            _ if parity(flow_view) || throttled::limit(flow_view).is_some() => continue,
            _ if part > FOREIGN_RUINS && level.busy() >= LOWER_BUSY => FindingWeight::Doubt,
            _ => continue,
        };
        if found.is_none_or(|(.., worse)| worse < weight) {
            found = Some((level, foreign, weight));
        }
    }
    match found {
        Some((level, foreign, weight)) => Some(say(flow_view, level, foreign, weight)),
        None => small_requests(flow_view),
    }
}

/// Others moved few bytes in many requests, each of which costs the device its time.
fn small_requests(flow_view: &FlowView<'_>) -> Option<Finding> {
    let level = flow_view.top()?;
    let part = flow_view.foreign_requests(level).filter(|part| *part > FOREIGN_RUINS)?;
    let foreign = Bytes(flow_view.foreign(level));
    let who = neighbours::movers(flow_view, level, foreign)?;
    let name = level.name();
    let all = level.timed.reads.saturating_add(level.timed.writes);
    let mut because = vec![level.shows(ExhibitOf::RequestsAt, all), level.exhibit_work()];
    because.extend(who.because);
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Disturbed),
        OthersClaim::DeviceShared {
            device: name,
            foreign: ForeignPart::Requests(share(part)),
            movers: who.did,
        },
        because,
        who.next,
    ))
}

/// Parity makes writes of its own at the members.
fn parity(flow_view: &FlowView<'_>) -> bool {
    let raid = |level: &str| matches!(level, "raid4" | "raid5" | "raid6");
    flow_view
        .subject
        .stack
        .iter()
        .any(|l| matches!(&l.kind, LayerKind::Raid { level } if raid(level)))
}

fn say(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    foreign: u64,
    weight: FindingWeight,
) -> Finding {
    let mut because = vec![
        level.shows(ExhibitOf::ForeignBytes, of(Bytes(foreign), Bytes(level.traffic()))),
        level.exhibit_work(),
    ];
    if let Some((quiet, time)) = &level.quiet {
        let (read, written) = (Bytes(quiet.read_bytes), Bytes(quiet.write_bytes));
        let value = ExhibitValue::QuietTraffic { read, written, time: *time };
        because.push(level.shows(ExhibitOf::QuietTraffic, value));
    }
    if level.already > 0 {
        because.push(Exhibit::new(ExhibitOf::InFlightAtStart, level.already, level.source()));
    }
    let (device, moved) = (level.name(), Bytes(level.traffic()));
    let next = NextStep::new(Remedy::Inspect, "pidstat -d 1 10");
    let who = neighbours::movers(flow_view, level, Bytes(foreign));
    if who.is_none()
        && let Some(partners) = neighbours::partners(flow_view, level)
    {
        return with_partners(flow_view, level, partners, because);
    }
    if who.is_none() && !at_work_before(level) {
        let (source, better) = nobody(flow_view, level, foreign, &mut because);
        let next = better.unwrap_or(next);
        return finding(
            RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::Unsure),
            OthersClaim::MovedByNobody { device, foreign: Bytes(foreign), moved, source },
            because,
            Some(next),
        );
    }
    let (movers, next) = match who {
        Some(who) => {
            because.extend(who.because);
            (who.did, who.next)
        }
        None => (Vec::new(), Some(next)),
    };
    let foreign = ForeignPart::Bytes { part: Bytes(foreign), whole: moved };
    let claim = OthersClaim::DeviceShared { device, foreign, movers };
    finding(RULE.id, weight, Some(MeasuredSubject::Disturbed), claim, because, next)
}

/// What may have moved the foreign bytes where no process was seen that did, and what helps.
fn nobody(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    foreign: u64,
    because: &mut Vec<Exhibit>,
) -> (ForeignSource, Option<NextStep>) {
    // Its thread is there, which may also read ahead the maps of free blocks.
    if let Some(mount) = neighbours::lazy_init(flow_view, level) {
        return (ForeignSource::InodeTables, Some(command::remount(mount, "noinit_itable")));
    }
    // They are counted for the whole machine. Own records are among them on btrfs, and own data below a loop device.
    let alone = flow_view.levels.len() == 1 && !moves_what_it_writes(flow_view.subject);
    let [_, written] = level.excess();
    let pages = flow_view.pages_of_others();
    match pages.filter(|pages| alone && pages.0.min(written) > foreign / 2) {
        Some(pages) => {
            because.push(Exhibit::new(ExhibitOf::PagesWrittenBack, pages, "/proc/vmstat"));
            let settled = words::after_sync(&flow_view.record.plan.origin);
            (ForeignSource::Writeback(pages), settled)
        }
        None => (ForeignSource::Unknown, None),
    }
}

/// Runs that keep step with this one had the rest of the device.
fn with_partners(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    partners: WorkingPartners,
    mut because: Vec<Exhibit>,
) -> Finding {
    because.extend(partners.because);
    let asked = level.asked.read.saturating_add(level.asked.write);
    let rate = |bytes: u64, time: Nanos| bytes as f64 / time.as_secs().max(f64::MIN_POSITIVE);
    let both = rate(asked, flow_view.time()) + rate(partners.moved.0, partners.time);
    let claim = OthersClaim::PartnersBeside {
        device: level.name(),
        count: partners.named.len(),
        partners: partners.named,
        moved: partners.moved,
        total: Bytes(asked.saturating_add(partners.moved.0)),
        pace: pace(both),
    };
    let measures = Some(MeasuredSubject::Limited);
    finding(RULE.id, FindingWeight::Note, measures, claim, because, None)
}

/// Somebody was at work there in the quiet time, before the run began, in a direction in which there was more than it asked
/// for.
fn at_work_before(level: &DeviceLevel<'_>) -> bool {
    let (quiet, _) = level.quiet.unwrap_or_default();
    let [read, write] = level.excess();
    quiet.read_bytes.min(read).saturating_add(quiet.write_bytes.min(write)) >= OWN_BYTES
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_second_writer_is_seen() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.beside(&[("dd", Nanos::ZERO, Bytes::mib(19))]);
        bench.written(Bytes::mib(40), Bytes::mib(40));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Disturbed));
        bench.written(Bytes::mib(23), Bytes::mib(23));
        assert_eq!(verdict(&bench.record).trust, Trust::Doubtful);
    }

    #[test]
    fn inode_tables_of_a_new_file_system_are_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.beside(&[]);
        bench.written(Bytes::mib(40), Bytes::mib(40));
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
        bench.makes_inode_tables();
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        assert_eq!(
            found.summary(),
            "19.5 MiB of the 40 MiB that loop3 moved were not requested by this run, and no process was seen that moved them: ext4, which may be writing the inode tables of a new file system (ext4lazyinit), or another program."
        );
        let next = found.findings.iter().find_map(|finding| finding.next.as_ref());
        assert_eq!(
            next.expect("something to do").words(),
            "sudo mount -o remount,noinit_itable /mnt"
        );
        bench.beside(&[("dd", Nanos::ZERO, Bytes::mib(19))]);
        bench.makes_inode_tables();
        assert!(verdict(&bench.record).summary().contains("dd (process 10)"));
    }

    #[test]
    fn pages_that_were_changed_before_are_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.beside(&[]);
        bench.written(Bytes::mib(40), Bytes::mib(40));
        bench.written_back(Bytes::mib(9));
        let unknown =
            "and no process was seen that moved them: the file system itself, or another program.";
        assert!(
            verdict(&bench.record).summary().ends_with(unknown),
            "it is the least part of them"
        );
        bench.written_back(Bytes::mib(19));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        assert_eq!(
            found.summary(),
            "19.5 MiB of the 40 MiB that loop3 moved were not requested by this run, and no process was seen that moved them: the kernel, which wrote back 19 MiB of pages that programs had changed before."
        );
        let next = found.findings.iter().find_map(|finding| finding.next.as_ref());
        assert!(next.expect("something to do").words().starts_with("sync && "));
        // Those that were read are none of them.
        bench.written(Bytes::mib(20), Bytes::mib(20));
        bench.was_read(Bytes::mib(20));
        assert!(verdict(&bench.record).summary().ends_with(unknown));
        // A thread of this file system is more than pages of any.
        bench.written(Bytes::mib(40), Bytes::mib(40));
        bench.makes_inode_tables();
        assert!(verdict(&bench.record).summary().contains("(ext4lazyinit)"));
    }

    #[test]
    fn many_small_requests_of_others_are_a_part_of_its_time() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.queue(|queue| queue.max_sectors_kb = Some(1280));
        bench.beside(&[("dd", Nanos::ZERO, Bytes::kib(400))]);
        let written = Bytes::mib(20) + Bytes::kib(400);
        bench.written(written, written);
        let judged = |bench: &mut DoctoredRecord, requests: u64| {
            bench.requests(requests);
            let found = verdict(&bench.record);
            (found.trust, found.measures, found.summary())
        };
        let (trust, measures, said) = judged(&mut bench, 200);
        assert_eq!((trust, measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        assert!(said.contains(" of its requests were not from this run. Meanwhile dd"), "{said}");
        assert_eq!(judged(&mut bench, 80).0, Trust::Sound);
        bench.beside(&[]);
        assert_eq!(judged(&mut bench, 200).0, Trust::Sound, "nobody was seen");
    }

    #[test]
    fn a_call_is_as_many_requests_as_its_buffer_has_pieces() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.queue(|queue| queue.max_sectors_kb = Some(4096));
        bench.beside(&[("dd", Nanos::ZERO, Bytes::kib(400))]);
        let written = Bytes::mib(20) + Bytes::kib(400);
        bench.written(written, written);
        // Two for each of the 20 calls, and those of others.
        let judged = |bench: &mut DoctoredRecord, others: u64, most: Option<u64>| {
            bench.requests(40 + others);
            bench.queue(|queue| queue.max_segments = most);
            verdict(&bench.record).trust
        };
        assert_eq!(judged(&mut bench, 80, Some(254)), Trust::Sound);
        assert_eq!(judged(&mut bench, 180, Some(254)), Trust::Doubtful);
        assert_eq!(judged(&mut bench, 80, Some(300)), Trust::Doubtful, "one for each");
    }

    #[test]
    fn others_cannot_have_made_more_requests_than_they_moved_sectors() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.queue(|queue| queue.max_sectors_kb = Some(1280));
        bench.beside(&[("dd", Nanos::ZERO, Bytes::kib(72))]);
        let judged = |bench: &mut DoctoredRecord, more: Bytes| {
            let written = Bytes::mib(20) + more;
            bench.written(written, written);
            bench.requests(250);
            verdict(&bench.record).trust
        };
        assert_eq!(judged(&mut bench, Bytes::kib(36)), Trust::Sound);
        assert_eq!(judged(&mut bench, Bytes::kib(72)), Trust::Doubtful);
    }

    #[test]
    fn nobody_is_accused_who_is_not_named() {
        for others in [None, Some([("sh", Nanos::ZERO, Bytes::kib(4))])] {
            for more in [Bytes::mib(40), Bytes::mib(23)] {
                let mut bench = DoctoredRecord::write_flushed();
                others.iter().for_each(|others| bench.beside(others));
                bench.written(more, more);
                let found = verdict(&bench.record);
                assert_eq!(
                    (found.trust, found.measures),
                    (Trust::Unproven, MeasuredSubject::Unsure)
                );
                assert!(
                    found.summary().contains("and no process was seen that moved them"),
                    "{found:?}"
                );
            }
        }
    }

    #[test]
    fn traffic_that_was_there_before_the_run_is_somebody_elses() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(40), Bytes::mib(40));
        bench.earlier(Bytes::mib(2), Bytes::ZERO);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Disturbed));
    }

    #[test]
    fn what_was_read_before_is_not_what_is_written_now() {
        let mut bench = DoctoredRecord::write_flushed();
        let judged = |bench: &DoctoredRecord| {
            let found = verdict(&bench.record);
            (found.trust, found.measures)
        };
        bench.read_before(Bytes::mib(4));
        // A journal, and no reads.
        bench.written(Bytes(20_971_520 + 300_000), Bytes(20_971_520 + 300_000));
        assert_eq!(judged(&bench), (Trust::Sound, MeasuredSubject::Device));
        bench.written(Bytes::mib(40), Bytes::mib(40));
        assert_eq!(judged(&bench), (Trust::Unproven, MeasuredSubject::Unsure));
    }

    #[test]
    fn a_journal_is_nobody_else() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes(20_971_520 + 300_000), Bytes(20_971_520 + 300_000));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
