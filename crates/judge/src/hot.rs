//! T35: heat, or too little power, slowed the processors or the drive down.
//!
//! Its own difference: how often processors were slowed down is neither bytes nor time of the run.

use super::measure::PhaseView;
use super::threshold::{CEILING_FELL, CPU_DEVICE, WARM};
use super::{Rule, RuleJudge, command, finding, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LimitClaim};
use assay_record::evidence::{DriveWarmth, Warmth};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// The drive is at the temperature at which it slows down, or the processors were held back while the
/// device had time left.
pub const RULE: Rule = Rule {
    id: TrapId::T35,
    title: "Heat, frequency, power",
    happens: "A hot CPU or drive throttles itself in the middle of a run.",
    seen_by: "Before and after: throttle counts, cooling devices and frequency limits of the CPUs, voltage of the board, temperature of the drive against its own limit.",
    said_when: "The drive ended at its limit: doubtful, unsteady; within {WARM} of it: a note. CPUs were throttled (a count rose, a cooling device is active, a limit fell by more than a factor of {CEILING_FELL}): doubtful, unsteady, if the device was busy for less than {CPU_DEVICE}, else a note.",
    try_it: "Write to an NVMe drive without a heat sink for minutes and watch `/sys/block/nvme0n1/device/hwmon*/temp1_input`.",
    answer: "Says so beside the figure; a temperature that cannot be read is not called cool.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let warmth = phase_view.phase.evidence.warmth.as_ref()?;
    let after = warmth.after.seen()?;
    if refuted(found) {
        return None;
    }
    hot_drive(phase_view, after).or_else(|| {
        let slowed = slowed(warmth.before.seen()?, after)?;
        let limited = found.iter().any(|f| f.measures == Some(MeasuredSubject::Limited));
        Some(slow_processors(phase_view, slowed, limited))
    })
}

/// The hottest of the drives that the phase used, against its limit.
fn hot_drive(phase_view: &PhaseView<'_>, after: &Warmth) -> Option<Finding> {
    let used = |name: &str| {
        let stacks = phase_view.cases.iter().flat_map(|flow_view| &flow_view.subject.stack);
        stacks.into_iter().any(|layer| layer.name == name)
    };
    let drives = after.drives.iter().filter(|drive| used(&drive.name));
    let told = drives.filter_map(|drive| Some((drive, drive.warning?.saturating_sub(drive.now))));
    let (drive, left) = told.min_by_key(|(_, left)| *left)?;
    let at_limit = left <= 0;
    let (weight, measures) = match at_limit {
        true => (FindingWeight::Doubt, Some(MeasuredSubject::Unsteady)),
        false if left <= WARM => (FindingWeight::Note, None),
        false => return None,
    };
    let claim = LimitClaim::HotDrive { device: drive.name.clone(), at_limit };
    let next = command::at_device(Remedy::Inspect, "sudo smartctl -A", &drive.name);
    Some(finding(RULE.id, weight, measures, claim, vec![thermometer(drive)], Some(next)))
}

/// The temperature of a drive and its limit.
pub(super) fn thermometer(drive: &DriveWarmth) -> Exhibit {
    let degrees = |thousandths: i64| thousandths as f64 / 1000.0;
    Exhibit::new(
        ExhibitOf::Temperature(drive.name.clone()),
        ExhibitValue::Celsius { now: degrees(drive.now), limit: drive.warning.map(degrees) },
        drive.source.clone(),
    )
}

/// What shows that processors were slowed down in between.
fn slowed(before: &Warmth, after: &Warmth) -> Option<Exhibit> {
    let counted = after.slowed_since(before).filter(|times| *times > 0);
    let counted = counted.map(|times| {
        let source = "/sys/devices/system/cpu/cpu*/thermal_throttle";
        Exhibit::new(ExhibitOf::CpusThrottled, ExhibitValue::Times(times), source)
    });
    counted.or_else(|| cooled(after)).or_else(|| lowered(before, after)).or_else(|| weak(after))
}

/// A cooling device that holds processors back.
pub(super) fn cooled(warmth: &Warmth) -> Option<Exhibit> {
    let device = warmth.cooling.iter().find(|device| device.state > 0)?;
    Some(Exhibit::new(
        ExhibitOf::Cooling(device.kind.clone()),
        ExhibitValue::Step(device.state),
        ["/sys/class/thermal/", &device.name, "/cur_state"].concat(),
    ))
}

/// A limit on the frequency that fell.
fn lowered(before: &Warmth, after: &Warmth) -> Option<Exhibit> {
    after.ceilings.iter().find_map(|now| {
        let then = before.ceilings.iter().find(|then| then.policy == now.policy)?;
        let fell = now.khz > 0 && then.khz as f64 > now.khz as f64 * CEILING_FELL;
        let mhz = |khz: u64| khz / 1000;
        fell.then(|| {
            Exhibit::new(
                ExhibitOf::HighestCpuFrequency,
                ExhibitValue::Megahertz { now: mhz(now.khz), before: mhz(then.khz) },
                ["/sys/devices/system/cpu/cpufreq/", &now.policy, "/scaling_max_freq"].concat(),
            )
        })
    })
}

/// A board whose voltage is too low runs its processors slower.
pub(super) fn weak(warmth: &Warmth) -> Option<Exhibit> {
    (warmth.undervolted == Some(true)).then(|| {
        let (of, source) = (ExhibitOf::BoardVoltage, ExhibitSource::UndervoltageAlarm);
        Exhibit::new(of, ExhibitValue::FellTooLow, source)
    })
}

/// What shows the temperatures of the machine.
pub(super) fn temperatures() -> NextStep {
    NextStep::new(Remedy::Inspect, "grep . /sys/class/thermal/thermal_zone*/temp")
}

fn slow_processors(phase_view: &PhaseView<'_>, shown: Exhibit, limited: bool) -> Finding {
    let device_waited = phase_view.work() < CPU_DEVICE && !limited;
    let (weight, measures) = match device_waited {
        true => (FindingWeight::Doubt, Some(MeasuredSubject::Unsteady)),
        false => (FindingWeight::Note, None),
    };
    finding(
        RULE.id,
        weight,
        measures,
        LimitClaim::ThrottledCpus { device_waited },
        vec![shown],
        Some(temperatures()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::evidence::{Ceiling, Cooling, Warmth};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    fn judged(busy: f64, before: Warmth, after: Warmth) -> (Trust, MeasuredSubject, bool) {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(busy, 0.3);
        bench.warmed(before, after);
        let found = verdict(&bench.record);
        let named = found.findings.iter().any(|f| f.trap == TrapId::T35);
        (found.trust, found.measures, named)
    }

    #[test]
    fn processors_that_were_slowed_matter_where_the_device_waited() {
        let slowed = |count| Warmth { slowed: Some(count), ..Warmth::default() };
        let sound = (Trust::Sound, MeasuredSubject::Device);
        assert_eq!(judged(0.55, slowed(7), slowed(7)), (sound.0, sound.1, false));
        assert_eq!(judged(0.9, slowed(7), slowed(9)), (sound.0, sound.1, true));
        let doubtful = (Trust::Doubtful, MeasuredSubject::Unsteady, true);
        assert_eq!(judged(0.55, slowed(7), slowed(9)), doubtful);
        let kind = "cpufreq-cpu0".into();
        let cooling = vec![Cooling { name: "cooling_device0".into(), kind, state: 3 }];
        assert_eq!(judged(0.55, Warmth::default(), Warmth { cooling, ..slowed(0) }), doubtful);
        let weak = Warmth { undervolted: Some(true), ..Warmth::default() };
        assert_eq!(judged(0.55, Warmth::default(), weak), doubtful);
        let ceiling = |khz| Warmth {
            ceilings: vec![Ceiling { policy: "policy0".into(), khz }],
            ..Warmth::default()
        };
        assert_eq!(judged(0.55, ceiling(1_800_000), ceiling(600_000)), doubtful);
        assert!(!judged(0.55, ceiling(1_800_000), ceiling(1_700_000)).2);
        assert!(!judged(0.55, ceiling(600_000), ceiling(1_800_000)).2);
    }

    #[test]
    fn a_drive_is_held_against_its_own_limit() {
        let drive = |now| Warmth {
            drives: vec![DoctoredRecord::thermometer(now, 81_850)],
            ..Warmth::default()
        };
        let at = |now| judged(0.95, drive(40_000), drive(now));
        assert_eq!(at(70_000), (Trust::Sound, MeasuredSubject::Device, false));
        assert_eq!(at(79_850), (Trust::Sound, MeasuredSubject::Device, true));
        assert_eq!(at(81_850), (Trust::Doubtful, MeasuredSubject::Unsteady, true));
    }
}
