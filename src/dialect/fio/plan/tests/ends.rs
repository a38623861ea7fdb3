//! What ends a job, and what ends with it.

use super::*;
use assay_plan::plan::{ErrorTolerance, FaultReach, LeastRate, RestTime, ServiceLevel};

/// What the first job of a line reaches with a fault.
fn reach(line: &str) -> FaultReach {
    planned(line).expect(line).plan.phases[0].jobs[0].on_fault
}

#[test]
fn a_fault_ends_the_job_alone_unless_the_words_say_more() {
    let line = "--name=a --size=1m --name=b --size=1m --stonewall";
    assert_eq!(reach(line), FaultReach::Job);
    assert_eq!(reach(&format!("--exitall_on_error {line}")), FaultReach::Phase);
    let all = format!("--exitall_on_error --exit_what=all {line}");
    assert_eq!(reach(&all), FaultReach::Run);
    assert!(planned(line).expect(line).plan.origin.tool.until_full);
}

/// The only job of a line.
fn job(line: &str) -> Job {
    let whole = format!("--name=a --size=1m {line}");
    let plan = planned(whole.trim_end()).unwrap_or_else(|why| panic!("{line}: {why}")).plan;
    plan.phases[0].jobs[0].clone()
}

#[test]
fn errors_are_passed_over_where_the_words_say_so() {
    let passed = |line: &str| job(line).tolerance;
    assert_eq!(passed(""), ErrorTolerance::default());
    let usual = vec![5, 84];
    let io = ErrorTolerance { read: usual.clone(), write: usual.clone(), wrong_blocks: false };
    assert_eq!(passed("--continue_on_error=io"), io);
    assert_eq!(passed("--continue_on_error=1"), ErrorTolerance { wrong_blocks: true, ..io });
    let named = ErrorTolerance { read: vec![5, 28], write: vec![28], wrong_blocks: false };
    assert_eq!(passed("--rw=randrw --ignore_error=EIO:ENOSPC,28"), named);
    let wrong = ErrorTolerance { wrong_blocks: true, ..ErrorTolerance::default() };
    assert_eq!(passed("--rw=write --verify=crc32c --ignore_error=,,EILSEQ"), wrong);
    assert_eq!(passed("--ignore_error=,,EIO"), ErrorTolerance::default());
}

#[test]
fn a_level_is_kept_or_the_job_fails() {
    let level = |line: &str| job(line).service_level;
    assert_eq!(level("--rate_cycle=50"), ServiceLevel::default());
    let longest = level("--rw=randrw --max_latency=50ms,2s").max_latency;
    assert_eq!(longest.all(), [Nanos::millis(50), Nanos::secs(2), Nanos::secs(2)]);
    let untold = level("--max_latency=50ms --disable_lat=1 --disable_clat=1");
    assert_eq!(untold, ServiceLevel::default());
    let least = level("--rw=randrw --rate_iops=100 --rate_iops_min=50 --rate_cycle=500");
    let fifty = Some(LeastRate::Iops(50));
    assert_eq!((least.least.all(), least.window), ([fifty; 3], Nanos::millis(500)));
    let least = level("--rate_min=4k").least.read;
    assert_eq!(least, Some(LeastRate::Bandwidth(Bytes(4096))));
}

#[test]
fn a_device_is_filled_until_nothing_fits() {
    let filled = job("--rw=write --fill_device=1");
    assert!(filled.stop.first_of.contains(&StopLimit::Full));
    let line = "--name=a --rw=write --bs=64k --fill_fs=1";
    let Target::File { size: Size::Exactly(size), layout, .. } = blocks(line).target else {
        panic!("{line}")
    };
    assert_eq!((size.0, layout), ((i64::MAX as u64) / 65_536 * 65_536, LayoutMode::Truncated));
    let refused = planned("--name=a --rw=randwrite --fill_device=1").expect_err("no end");
    assert!(refused.contains("fill_device"), "{refused}");
}

#[test]
fn the_end_of_a_job_ends_others() {
    let until = |line: &str| planned(line).expect(line).plan.phases[0].until;
    let line = "--name=a --size=1m --name=b --size=1m";
    assert_eq!(until(line), PhaseEnd::Last);
    assert_eq!(until(&format!("--exitall {line}")), PhaseEnd::First);
    assert_eq!(until(&format!("--exitall --exit_what=all {line}")), PhaseEnd::FirstOfRun);
}

#[test]
fn a_rest_is_that_of_the_words() {
    let rest = |line: &str| job(line).rate.rest.expect(line);
    let usual = RestTime { time: Nanos::micros(100), every: 1, ..RestTime::default() };
    assert_eq!(job("").rate.rest, None);
    assert_eq!(rest("--thinktime=100"), usual);
    let busy = RestTime { busy: Nanos::micros(50), every: 8, ..usual };
    assert_eq!(rest("--thinktime=100 --thinktime_spin=50 --thinktime_blocks=8"), busy);
    let all = RestTime { busy: Nanos::micros(100), ..usual };
    assert_eq!(rest("--thinktime=100 --thinktime_spin=500"), all);
    let after = RestTime { every: 0, after: Nanos::secs(2), ..usual };
    assert_eq!(rest("--thinktime=100 --thinktime_iotime=2s"), after);
    let both = RestTime { every: 3, ..after };
    assert_eq!(rest("--thinktime=100 --thinktime_iotime=2s --thinktime_blocks=3"), both);
    let ignored = RestTime { uncapped: true, ..usual };
    assert_eq!(rest("--thinktime=100 --rate=1m --rate_ignore_thinktime=1"), ignored);
}

#[test]
fn ios_that_share_blocks_are_kept_apart_where_several_are_in_flight() {
    let apart = |line: &str| blocks(&format!("--name=a --size=1m {line}")).apart;
    let deep = "--rw=randwrite --ioengine=io_uring --iodepth=8";
    assert!(apart(&format!("{deep} --serialize_overlap=1")));
    assert!(!apart(deep) && !apart("--rw=randwrite --serialize_overlap=1"));
}

#[test]
fn a_file_is_written_on_from_its_end() {
    let appended = blocks("--name=a --filename=there --rw=write --size=64k --file_append=1");
    let Target::File { size: Size::Exactly(size), layout, .. } = appended.target else {
        panic!("no file")
    };
    assert_eq!((size, layout), (Bytes((1 << 20) + 65_536), LayoutMode::AsFound));
    let refused = planned("--name=a --rw=read --size=1m --file_append=1").expect_err("a read");
    assert!(refused.contains("file_append"), "{refused}");
}
