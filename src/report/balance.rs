//! The two balances of a phase in words: where its bytes went, and its time.

use super::fact::{PageFact, fact, listed};
use super::figure::digits;
use assay_plan::unit::{ByteRange, Bytes, Share};
use assay_record::claim::ConditionStep;
use assay_record::evidence::Direction;
use assay_record::record::{
    ByteBalance, ByteMover, ConditionChange, MeasuredSubject, MemberWork, PhaseLedger, PhaseRecord,
    RateLevel, Record, TimeBalance, Trust, Verdict,
};
use assay_record::words::Voice;

/// Of so many phases it is told.
const PHASES: usize = 4;
/// So many devices side by side are told of.
const MEMBERS: usize = 8;
/// So many changes are told.
const CHANGES: usize = 6;
/// Terms below this share are not told.
const LEAST: f64 = 0.005;

/// Whether a verdict wants its number explained: it is not plainly the device's.
fn wanted(verdict: &Verdict) -> bool {
    verdict.trust != Trust::Sound || verdict.measures != MeasuredSubject::Device
}

/// The balances of the one phase that a record is about, where its number wants explaining.
pub fn of_single(record: &Record, voice: Voice) -> Vec<PageFact> {
    let mut counted = record.phases.stream().filter(|phase| record.plan.counts(&phase.name));
    let (Some(phase), None) = (counted.next(), counted.next()) else { return Vec::new() };
    let explained = phase.verdict.as_ref().is_some_and(wanted);
    phase
        .ledger
        .as_ref()
        .filter(|_| explained)
        .map(|ledger| facts(ledger, voice))
        .unwrap_or_default()
}

/// The balances of a phase among others: where its number is not sound.
pub fn of_phase(phase: &PhaseRecord, voice: Voice) -> Vec<PageFact> {
    let unsound = phase.verdict.as_ref().is_some_and(|verdict| verdict.trust != Trust::Sound);
    phase.ledger.as_ref().filter(|_| unsound).map(|ledger| facts(ledger, voice)).unwrap_or_default()
}

/// The balances of what a record is about: of its only phase, or of the first few whose numbers are not sound, under
/// their names.
pub fn of_record(record: &Record, voice: Voice) -> Vec<PageFact> {
    let counted = || record.phases.stream().filter(|phase| record.plan.counts(&phase.name));
    if counted().nth(1).is_none() {
        return of_single(record, voice);
    }
    let (mut told, mut named, mut more) = (Vec::new(), 0, 0);
    for phase in counted() {
        let facts = of_phase(&phase, voice);
        match facts.is_empty() {
            true => {}
            false if named == PHASES => more += 1,
            false => named += 1,
        }
        for fact in facts.into_iter().take_while(|_| more == 0) {
            told.push(PageFact { text: format!("{}: {}", phase.name, fact.text), ..fact });
        }
    }
    if more > 0 {
        told.push(fact("", format!("{more} more: --explain tells of all")));
    }
    told
}

/// The balances of a phase, with `bytes` and `time` before them.
pub fn facts(ledger: &PhaseLedger, voice: Voice) -> Vec<PageFact> {
    let mut facts = listed("bytes", ledger.bytes.iter().map(bytes));
    facts.extend(listed("members", members(&ledger.members, voice)));
    facts.extend(ledger.time.as_ref().map(|balance| fact("time", time(balance, voice))));
    facts.extend(levels(ledger, voice).map(|text| fact("rate", text)));
    facts.extend(listed(
        "changed",
        ledger.changes.iter().take(CHANGES).map(|one| change(one, voice)),
    ));
    facts
}

/// `loop0: 20 MiB written, 98 % busy, 7.9 in flight, limit 4.19 MB/s`.
fn members(members: &[MemberWork], voice: Voice) -> Vec<String> {
    let one = |member: &MemberWork| {
        let bytes = [(member.read, "read"), (member.written, "written")]
            .into_iter()
            .filter(|(bytes, _)| *bytes > Bytes::ZERO)
            .map(|(bytes, way)| format!("{bytes} {way}, "))
            .collect::<String>();
        if bytes.is_empty() {
            return format!("{}: nothing", member.device);
        }
        let (busy, queue) = (Share(member.busy), digits(member.in_flight));
        let limit = member.limit.map(|limit| format!(", limit {}", voice.say(&limit)));
        let limit = limit.unwrap_or_default();
        format!("{}: {bytes}{busy} busy, {queue} in flight{limit}", member.device)
    };
    let mut told: Vec<String> = members.iter().take(MEMBERS).map(one).collect();
    if members.len() > MEMBERS {
        told.push(format!("{} more", members.len() - MEMBERS));
    }
    told
}

/// `at 2.04 s: limit on writes to loop3, 4.19 MB/s, then 16.8 MB/s`.
fn change(change: &ConditionChange, voice: Voice) -> String {
    let ConditionStep { what, before, now } = change.step();
    let (at, what) = (voice.say(&change.at_ns), voice.say(&what));
    format!("at {at}: {what}, {}, then {}", voice.say(&before), voice.say(&now))
}

/// `20 MiB written = 20 MiB at loop0; the file system added 412 KiB`.
fn bytes(balance: &ByteBalance) -> String {
    let ByteBalance { short, moved, ours, in_memory, less, .. } = *balance;
    let (way, at, kept) = match balance.direction {
        Direction::Read => ("read", "from", "from memory"),
        Direction::Write => ("written", "at", "in memory"),
    };
    let missing = moved.less(ours).less(in_memory).less(less);
    let asked = match short {
        Bytes::ZERO => String::new(),
        _ => format!("{} asked for = {short} not moved + {moved}; ", moved + short),
    };
    let mut sum = format!("{asked}{moved} {way} = {ours} {at} {}", balance.device);
    for (part, what) in
        [(in_memory, kept), (less, "that needed no device"), (missing, "unexplained")]
    {
        if part > Bytes::ZERO {
            sum.push_str(&format!(" + {part} {what}"));
        }
    }
    let surplus = balance.unexplained.less(missing);
    for (part, what, account) in [
        (balance.file_system, "the file system added", accounted(balance)),
        (balance.read_ahead, "read ahead", None),
        (balance.others, "others moved", named(&balance.movers)),
        (surplus, "unexplained at the device", None),
    ] {
        if part > Bytes::ZERO {
            sum.push_str(&format!("; {what} {part}{}", account.unwrap_or_default()));
        }
    }
    // What layers below make of it, where that is something else.
    for lower in &balance.below {
        let differs = lower.bytes.0.abs_diff(balance.at_device.0);
        if differs.saturating_mul(20) > balance.at_device.0 {
            sum.push_str(&format!("; below it {} passed {}", lower.bytes, lower.device));
        }
    }
    sum
}

/// ` (by its own account 12.6 MiB to 15 MiB)`, where it keeps one.
fn accounted(balance: &ByteBalance) -> Option<String> {
    let ByteRange { least, most } = balance.accounted.filter(|range| range.most > Bytes::ZERO)?;
    let alike = most.less(least).0.saturating_mul(100) <= most.0;
    let range = if alike { most.to_string() } else { format!("{least} to {most}") };
    Some(format!(" (by its own account {range})"))
}

/// ` (dd (process 3273) 12.5 MiB, cat (process 3274) 1 MiB)`: no more than three.
fn named(movers: &[ByteMover]) -> Option<String> {
    let named =
        |mover: &ByteMover| format!("{} (process {}) {}", mover.name, mover.pid, mover.bytes);
    let all: Vec<String> = movers.iter().take(3).map(named).collect();
    (!all.is_empty()).then(|| format!(" ({})", all.join(", ")))
}

/// `5.1 s = 76 % throttled + 21 % stopped + 2.0 % device + 1.0 % CPU`.
pub fn time(balance: &TimeBalance, voice: Voice) -> String {
    let terms = balance.terms.iter().filter(|term| term.share >= LEAST);
    let mut parts: Vec<String> =
        terms.map(|term| format!("{} {}", Share(term.share), term.held_by.name())).collect();
    if balance.unexplained >= LEAST {
        parts.push(format!("{} unexplained", Share(balance.unexplained)));
    }
    let each = match balance.threads {
        0 | 1 => String::new(),
        many => format!(" of each of {many} threads"),
    };
    format!("{}{each} = {}", voice.say(&balance.time), parts.join(" + "))
}

/// `4.19 MB/s for 3.5 s, 16.8 MB/s for 2 s`; nothing of one level.
fn levels(ledger: &PhaseLedger, voice: Voice) -> Option<String> {
    let level = |level: &RateLevel| {
        let (rate, time) = (voice.say(&level.rate), voice.say(&level.to.less(level.from)));
        format!("{rate} for {time}")
    };
    let all: Vec<String> = ledger.levels.iter().map(level).collect();
    (all.len() > 1).then(|| all.join(", then "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Bandwidth;
    use assay_record::claim::CgroupLimit;
    use assay_record::record::LowerBytes;

    fn of_20_mib() -> ByteBalance {
        ByteBalance {
            direction: Direction::Write,
            device: "loop0".into(),
            short: Bytes::ZERO,
            moved: Bytes::mib(20),
            at_device: Bytes::mib(20),
            ours: Bytes::mib(20),
            in_memory: Bytes::ZERO,
            less: Bytes::ZERO,
            file_system: Bytes::ZERO,
            accounted: None,
            read_ahead: Bytes::ZERO,
            others: Bytes::ZERO,
            movers: Vec::new(),
            below: Vec::new(),
            unexplained: Bytes::ZERO,
        }
    }

    #[test]
    fn each_of_several_devices_is_told_with_its_work_and_limit() {
        let member = |device: &str, written| MemberWork {
            device: device.into(),
            read: Bytes::ZERO,
            written: Bytes::mib(written),
            busy: 0.98,
            in_flight: 7.9,
            limit: (written > 0).then_some(CgroupLimit::BytesPerSecond(Bandwidth(4_194_304.0))),
        };
        let told = |several: Vec<MemberWork>| {
            let ledger = PhaseLedger { members: several, ..PhaseLedger::default() };
            let facts = facts(&ledger, Voice::PLAIN);
            facts
                .into_iter()
                .map(|fact| format!("{} {}", fact.label, fact.text))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(vec![member("sda", 20), member("sdb", 0)]),
            [
                "members sda: 20 MiB written, 98 % busy, 7.90 in flight, limit 4.19 MB/s",
                " sdb: nothing"
            ]
        );
        assert_eq!(told(vec![member("sda", 1); 10]).last().map(String::as_str), Some(" 2 more"));
    }

    #[test]
    fn a_file_system_that_keeps_accounts_is_quoted() {
        let (file_system, at_device) = (Bytes::mib(13), Bytes::mib(33));
        let mut balance = ByteBalance { file_system, at_device, ..of_20_mib() };
        let range = |least, most| Some(ByteRange { least, most });
        let plain = "20 MiB written = 20 MiB at loop0; the file system added 13 MiB";
        for (accounted, said) in [
            (None, ""),
            (range(Bytes::ZERO, Bytes::ZERO), ""),
            (range(Bytes::mib(12), Bytes::mib(15)), " (by its own account 12 MiB to 15 MiB)"),
            (range(Bytes::mib(13), Bytes(13_631_489)), " (by its own account 13.0 MiB)"),
            (range(Bytes::mib(13), Bytes::mib(13)), " (by its own account 13 MiB)"),
        ] {
            balance.accounted = accounted;
            assert_eq!(bytes(&balance), format!("{plain}{said}"));
        }
    }

    #[test]
    fn what_was_asked_for_and_who_else_was_there() {
        let mover = |name: &str, pid, mib| {
            let (name, bytes) = (name.into(), Bytes::mib(mib));
            ByteMover { name, pid, bytes }
        };
        let balance = ByteBalance {
            short: Bytes::mib(4),
            at_device: Bytes::mib(35),
            others: Bytes::mib(15),
            movers: vec![mover("dd", 7, 13), mover("cat", 8, 2)],
            below: [("loop1", 35), ("vda", 53)]
                .map(|(device, mib)| LowerBytes { device: device.into(), bytes: Bytes::mib(mib) })
                .into(),
            ..of_20_mib()
        };
        assert_eq!(
            bytes(&balance),
            "24 MiB asked for = 4 MiB not moved + 20 MiB; 20 MiB written = 20 MiB at loop0; others moved 15 MiB (dd (process 7) 13 MiB, cat (process 8) 2 MiB); below it 53 MiB passed vda"
        );
    }
}
