//! What holds for all verdicts, whatever the record says.

use super::bench::DoctoredRecord;
use super::*;
use assay_plan::plan::{Caching, Durability};
use assay_plan::unit::{Bytes, Nanos, Ops, Timestamp};
use assay_record::evidence::{DiskCounters, LayerKind, Reading};
use assay_record::record::{Ending, MeasuredSubject, NextStep, TrapId, Verdict};
use proptest::prelude::*;

fn benches() -> Vec<DoctoredRecord> {
    vec![
        DoctoredRecord::write_without_flush(),
        DoctoredRecord::write_flushed(),
        DoctoredRecord::read_cold(),
        DoctoredRecord::read_again(),
        DoctoredRecord::read_of_holes(),
        DoctoredRecord::copy_within(),
    ]
}

fn texts(verdict: &Verdict) -> Vec<String> {
    let mut texts = vec![verdict.summary()];
    for finding in &verdict.findings {
        texts.push(finding.text());
        texts.extend(finding.next.iter().map(|next| next.words().to_string()));
        for exhibit in &finding.because {
            texts.extend([exhibit.reading(), exhibit.value(), exhibit.source()]);
        }
    }
    texts
}

#[test]
fn texts_spell_rates_as_the_tables_do() {
    let mut rates = 0;
    for mut bench in benches() {
        judge(&mut bench.record);
        let verdict = bench.record.verdict.clone().expect("judged");
        assert_eq!(bench.record.phases[0].verdict.as_ref(), Some(&verdict));
        for text in texts(&verdict) {
            assert!(!text.contains("B per second"), "{text}");
            assert!(!text.is_empty());
            rates += usize::from(text.contains("B/s"));
        }
    }
    assert!(rates > 0);
}

#[test]
fn each_rule_has_a_number_and_a_title() {
    for rule in RULES {
        assert!(!rule.title.is_empty(), "{}", rule.id);
    }
}

#[test]
fn a_run_is_as_good_as_its_worst_phase() {
    let mut record = DoctoredRecord::write_flushed().record;
    let worse = DoctoredRecord::write_without_flush().record;
    let mut second = worse.phases[0].clone();
    (second.number, second.name) = (1, "again".into());
    record.phases.push(second);
    let (phases, whole) = verdicts(&record);
    assert_eq!([phases[0].trust, phases[1].trust], [Trust::Sound, Trust::Wrong]);
    assert_eq!((whole.trust, whole.measures), (Trust::Wrong, MeasuredSubject::Deferred));
    assert!(whole.summary().starts_with("1 of 2 results are valid. again:"));
    record.phases.as_mut_vec().clear();
    assert_eq!(verdicts(&record).1.trust, Trust::Unproven);
}

#[test]
fn a_source_in_memory_does_not_make_the_written_end_memory() {
    let mut bench = DoctoredRecord::copy_within();
    bench.was_read(Bytes::ZERO);
    let found = bench::verdict(&bench.record);
    assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device), "{found:?}");
    assert!(
        found.findings.iter().any(|f| f.trap == TrapId::T01 && f.weight == FindingWeight::Note)
    );
}

#[test]
fn a_copy_that_was_read_and_not_written_left_work_behind() {
    let mut bench = DoctoredRecord::copy_within();
    bench.record.phases[0].flows[1].durability = Durability::None;
    bench.written(Bytes::ZERO, Bytes::mib(20));
    bench.settled_at(Nanos::secs(5), Bytes::mib(20), true);
    let found = bench::verdict(&bench.record);
    assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
    assert!(
        found.summary().starts_with("Writes were left in memory: the source was read"),
        "{found:?}"
    );
}

#[test]
fn a_run_that_failed_is_not_sound() {
    let mut record = DoctoredRecord::write_flushed().record;
    let error = std::io::Error::from_raw_os_error(5);
    record.ending = Ending::Failed(assay_plan::error::Fault::new(
        assay_plan::error::Doing::Open,
        "/mnt/y",
        &error,
    ));
    assert_eq!(verdicts(&record).1.trust, Trust::Unproven);
}

/// A cold read through a loop device, for which the disk below did nothing.
fn nothing_read_below_a_loop(direct: bool) -> DoctoredRecord {
    let mut bench = DoctoredRecord::read_cold();
    let subject = &mut bench.record.resolved.subjects[0];
    let on = LayerKind::Loop { file: "/i".into(), on: "ext4".into(), direct };
    subject.stack =
        vec![bench::layer("loop3", 0, on, false), bench::layer("vda", 1, LayerKind::Disk, true)];
    let evidence = &mut bench.record.phases[0].evidence;
    for snapshot in
        [Some(&mut evidence.before), Some(&mut evidence.stop), evidence.settled.as_deref_mut()]
            .into_iter()
            .flatten()
    {
        let mut vda = snapshot.devices[0].clone();
        vda.name = "vda".into();
        vda.counters = Reading::Seen(DiskCounters::default());
        snapshot.devices.push(vda);
    }
    bench
}

#[test]
fn a_cache_below_a_loop_device_is_found() {
    let found = bench::verdict(&nothing_read_below_a_loop(false).record);
    assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Memory));
    assert_eq!(
        found.findings[0].next.as_ref().map(NextStep::words),
        Some("sudo losetup --direct-io=on /dev/loop3")
    );
}

#[test]
fn a_loop_device_past_the_cache_read_holes() {
    let found = bench::verdict(&nothing_read_below_a_loop(true).record);
    assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Layer));
    assert!(found.summary().contains("holes"), "{}", found.summary());
}

/// A card as it is built for tests: a loop device under a limit, over a busy disk that others use.
fn card_on_a_busy_disk() -> DoctoredRecord {
    let mut bench = DoctoredRecord::write_flushed();
    bench.work(0.01, 0.05);
    let on = LayerKind::Loop { file: "/i".into(), on: "ext4".into(), direct: true };
    bench.record.resolved.subjects[1].stack =
        vec![bench::layer("loop3", 0, on, false), bench::layer("vda", 1, LayerKind::Disk, true)];
    let evidence = &mut bench.record.phases[0].evidence;
    let wrote = [0, 400 << 20, 400 << 20];
    let snapshots =
        [Some(&mut evidence.before), Some(&mut evidence.stop), evidence.settled.as_deref_mut()];
    for (snapshot, write_bytes) in snapshots.into_iter().flatten().zip(wrote) {
        let mut vda = snapshot.devices[0].clone();
        vda.name = "vda".into();
        let busy_ms = if write_bytes > 0 { 4500 } else { 0 };
        vda.counters =
            Reading::Seen(DiskCounters { write_bytes, busy_ms, ..DiskCounters::default() });
        snapshot.devices.push(vda);
    }
    bench
}

#[test]
fn others_below_matter_only_where_no_limit_left_time_for_them() {
    let mut bench = card_on_a_busy_disk();
    let found = bench::verdict(&bench.record);
    assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
    bench.beside(&[("dd", Nanos::ZERO, Bytes::mib(350))]);
    let found = bench::verdict(&bench.record);
    assert_eq!(
        (found.trust, found.measures),
        (Trust::Doubtful, MeasuredSubject::Disturbed),
        "{found:?}"
    );
    bench.capped(4 << 20);
    let found = bench::verdict(&bench.record);
    assert_eq!(
        (found.trust, found.measures),
        (Trust::Sound, MeasuredSubject::Limited),
        "{found:?}"
    );
}

#[test]
fn both_halves_of_a_mirror_are_expected() {
    let mut bench = DoctoredRecord::write_flushed();
    let subject = &mut bench.record.resolved.subjects[1];
    let raid = LayerKind::Raid { level: "raid1".into() };
    subject.stack = vec![
        bench::layer("md0", 0, raid, false),
        bench::layer("loop3", 1, LayerKind::Disk, true),
        bench::layer("sdb", 1, LayerKind::Disk, true),
    ];
    let evidence = &mut bench.record.phases[0].evidence;
    for snapshot in
        [Some(&mut evidence.before), Some(&mut evidence.stop), evidence.settled.as_deref_mut()]
            .into_iter()
            .flatten()
    {
        for name in ["md0", "sdb"] {
            let mut other = snapshot.devices[0].clone();
            other.name = name.into();
            snapshot.devices.push(other);
        }
    }
    let found = bench::verdict(&bench.record);
    assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device), "{found:?}");
}

/// Hides everything that was read from the kernel.
fn blind(record: &mut Record) {
    for phase in &mut record.phases {
        let evidence = &mut phase.evidence;
        for snapshot in
            [Some(&mut evidence.before), Some(&mut evidence.stop), evidence.settled.as_deref_mut()]
                .into_iter()
                .flatten()
        {
            for device in &mut snapshot.devices {
                device.counters = Reading::Unseen("EACCES".into());
            }
            for file in &mut snapshot.cache {
                file.pages = Reading::Unseen("ENOSYS".into());
            }
            snapshot.memory = Reading::Unseen("EACCES".into());
            snapshot.cpu = Reading::Unseen("EACCES".into());
        }
    }
    record.resolved.limits = Reading::Unseen("EACCES".into());
}

fn counters() -> impl Strategy<Value = DiskCounters> {
    let number = || prop_oneof![Just(0_u64), Just(u64::MAX), any::<u64>(), 0_u64..1 << 30];
    (prop::collection::vec(number(), 11), prop::option::of(number()), prop::option::of(number()))
        .prop_map(|(n, flushes, flush_ms)| DiskCounters {
            reads: n[0],
            read_bytes: n[1],
            read_ms: n[2],
            writes: n[3],
            write_bytes: n[4],
            write_ms: n[5],
            in_flight: n[6],
            busy_ms: n[7],
            weighted_ms: n[8],
            discards: n[9],
            discard_bytes: n[10],
            flushes,
            flush_ms,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_record_makes_a_judge_panic(
        which in 0_usize..6,
        before in counters(),
        stop in counters(),
        settled in counters(),
        quiet in counters(),
        times in prop::collection::vec(any::<u64>(), 6),
        bytes in any::<u64>(),
        calls in any::<u64>(),
        subject in prop_oneof![Just(0_usize), Just(1), Just(usize::MAX)],
        level in any::<u32>(),
        kinds in (0_usize..4, 0_usize..3),
    ) {
        let mut record = benches().swap_remove(which).record;
        let phase = &mut record.phases[0];
        phase.evidence.before.devices[0].counters = Reading::Seen(before);
        phase.evidence.stop.devices[0].counters = Reading::Seen(stop);
        if let Some(end) = &mut phase.evidence.settled {
            end.devices[0].counters = Reading::Seen(settled);
            end.at = Timestamp(times[5]);
        }
        phase.evidence.quiet.devices[0].counters = Reading::Seen(quiet);
        phase.evidence.quiet.time = Nanos(times[0] % 3);
        phase.evidence.before.at = Timestamp(times[1]);
        phase.evidence.stop.at = Timestamp(times[2]);
        phase.span.started = Timestamp(times[3]);
        phase.span.stopped = Timestamp(times[4]);
        if let Some(settle) = &mut phase.evidence.settle {
            settle.time = Nanos(times[0]);
        }
        phase.flows[0].bytes = Bytes(bytes);
        phase.flows[0].calls = Ops(calls);
        phase.flows[0].subject = subject;
        phase.flows[0].block = Bytes(calls);
        phase.flows[0].durability =
            [Durability::None, Durability::OpenSync, Durability::FsyncEvery(Ops(0)), Durability::FsyncAtEnd][kinds.0];
        phase.flows[0].caching = [Caching::Buffered, Caching::Direct, Caching::DropBehind][kinds.1];
        for layer in record.resolved.subjects.iter_mut().flat_map(|subject| &mut subject.stack) {
            layer.level = level;
        }
        judge(&mut record);
        let text = serde_json::to_string(&record).expect("a judged record is JSON");
        let back: Record = serde_json::from_str(&text).expect("and is read back");
        prop_assert_eq!(back.verdict.map(|v| v.trust), record.verdict.map(|v| v.trust));
    }

    #[test]
    fn nothing_seen_is_never_sound(
        which in 0_usize..6,
        bytes in 1_u64..1 << 40,
        time in 1_u64..1 << 40,
        direct in any::<bool>(),
    ) {
        let mut bench = benches().swap_remove(which);
        bench.record.phases[0].flows[0].bytes = Bytes(bytes);
        bench.direct(direct);
        bench.lasted(Nanos(time));
        blind(&mut bench.record);
        let (phases, whole) = verdicts(&bench.record);
        prop_assert!(phases[0].trust >= Trust::Unproven);
        prop_assert!(whole.trust >= Trust::Unproven);
    }
}
