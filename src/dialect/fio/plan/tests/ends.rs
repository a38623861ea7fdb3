//! What ends a job, and what ends with it.

use super::*;
use crate::plan::FaultReach;

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
