//! What ends a job: a steady state, and whatever comes first.

use crate::kernel;
use crate::lab::{self, Card, Image, MI, Shape};
use assay_plan::plan::Action;
use assay_plan::unit::Nanos;
use assay_record::record::{Ending, RateBasis};
use serde_json::{Value, json};

/// A plan of one phase on the null method: one job for each of these.
fn plan(jobs: &[(Value, Value)]) -> Value {
    let jobs: Vec<Value> = (0..)
        .zip(jobs)
        .map(|(number, (rate, first_of)): (u32, _)| {
            json!({
                "name": format!("job{number}"),
                "work": { "blocks": {
                    "target": { "nowhere": { "size": 1 << 30 } },
                    "pattern": { "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 4096 } },
                    "method": "null",
                }},
                "rate": rate,
                "stop": { "first_of": first_of },
            })
        })
        .collect();
    json!({
        "title": "ends", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "writes", "jobs": jobs }],
    })
}

fn run(plan: &Value) -> kernel::Heard {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("written");
    let heard = kernel::hear_own(lab::run_plan(&file));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    heard
}

fn steady(rounds: u32, spread: f64) -> Value {
    json!({ "steady": { "round": 200_000_000, "rounds": rounds, "spread": spread, "slope": spread } })
}

const MINUTE: u64 = 60_000_000_000;

#[test]
fn a_job_ends_when_its_rate_is_steady_and_the_others_go_on() {
    // 1000 a second whatever the machine does, in bursts of 50.
    let even = json!({ "arrivals": { "bursts": { "ops": 50, "every": 50_000_000 } } });
    let heard = run(&plan(&[
        (even.clone(), json!([steady(4, 0.5), { "time": MINUTE }])),
        (even, json!([{ "ops": 2500 }])),
    ]));
    let phase = heard.phase();
    let [found] = phase.steady.as_slice() else { panic!("{heard}") };
    assert_eq!((found.job.as_str(), found.counted), ("job0", RateBasis::Bytes), "{heard}");
    let state = found.state.as_ref().expect("steady");
    assert_eq!(state.rounds.len(), 4, "{heard}");
    assert!((state.mean / 4.096e6 - 1.0).abs() < 0.3, "{}\n{heard}", state.mean);
    assert!(found.after.expect("when").as_secs() < 10.0, "{heard}");
    let ops = |job: usize| phase.jobs[job].totals[&Action::Write].ops.0;
    assert!(ops(0) < ops(1), "{heard}");
    assert_eq!(ops(1), 2500, "{heard}");
    assert!(heard.ran.stdout.contains("steady after "), "{heard}");
    assert!(heard.ran.stdout.contains(" MB/s in the last 4 rounds"), "{heard}");
}

#[test]
fn what_is_never_steady_ends_by_its_time_and_says_so() {
    // All of it comes in every third round.
    let bursts = json!({ "arrivals": { "bursts": { "ops": 50, "every": 600_000_000 } } });
    let heard = run(&plan(&[(bursts, json!([steady(3, 0.2), { "time": 2_000_000_000_u64 }]))]));
    let [found] = heard.phase().steady.as_slice() else { panic!("{heard}") };
    assert_eq!((&found.state, found.after), (&None, None), "{heard}");
    assert!(heard.ran.stdout.contains("before it was steady"), "{heard}");
}

#[test]
fn latencies_over_time_are_kept_when_asked() {
    let capped = json!({ "caps": { "all": { "iops": 1000.0 } } });
    let mut asked = plan(&[(capped, json!([{ "ops": 700 }]))]);
    asked["phases"][0]["heat"] = json!(200_000_000);
    let heard = run(&asked);
    let phase = heard.phase();
    // Four stretches, the last of them to the end; every operation is in one of them.
    assert!((3..=5).contains(&phase.heat.len()), "{heard}");
    let all: u64 = phase.heat.iter().flat_map(|row| &row.cells).map(|cell| cell.1).sum();
    assert_eq!(all, 700, "{heard}");
    assert!(phase.heat.is_sorted_by_key(|row| row.at_ns), "{heard}");
    asked["phases"][0]["heat"] = json!(7);
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, asked.to_string()).expect("written");
    let refused = lab::run_plan(&file).run();
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr.contains("rows of heat of less than 100 ms"), "{refused}");
}

#[test]
fn a_window_that_makes_no_sense_is_refused() {
    for (limits, says) in [
        (json!([{ "steady": { "rounds": 1 } }]), "a window of 1 rounds"),
        (json!([{ "steady": { "round": 5 } }]), "a round of less than 100 ms"),
        (json!([{ "steady": { "slope": 0.0 } }]), "no rate is so steady"),
        (json!([steady(4, 0.5), { "steady": { "rounds": 1 } }]), "two steady states of one job"),
    ] {
        let desk = tempfile::tempdir().expect("a folder");
        let file = desk.path().join("plan.json");
        std::fs::write(&file, plan(&[(json!({}), limits)]).to_string()).expect("written");
        let refused = lab::run_plan(&file).run();
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr.contains(says), "{refused}");
    }
}

/// The model does 10 000 I/Os of 4 KiB a second: 64 of them in 6.4 ms.
#[test]
fn the_bytes_of_a_job_are_moved_again_until_so_much_time_has_passed() {
    let run_of = |at_least: u64, workers: u32| {
        let mut plan = plan(&[(json!({}), json!([{ "bytes": 64 * 4096 }]))]);
        let job = &mut plan["phases"][0]["jobs"][0];
        job["rate"] = Value::Null;
        job.as_object_mut().expect("a job").remove("rate");
        job["workers"] = json!(workers);
        job["work"]["blocks"]["method"] = json!({ "sim": { "latency": 100_000, "channels": 1 } });
        job["stop"]["at_least"] = json!(at_least);
        run(&plan)
    };
    for (at_least, workers) in [(0, 1), (1_000_000, 1), (50_000_000, 1), (1_000_000_000, 2)] {
        let heard = run_of(at_least, workers);
        let total = &heard.phase().totals[&Action::Write];
        let length = 64 * 4096;
        // Each worker does its part again; whole ones only.
        assert!(total.bytes.0.is_multiple_of(length), "{}\n{heard}", total.bytes.0);
        let time = heard.phase().span.time().0;
        let once = 6_400_000 / u64::from(workers);
        assert!(time >= at_least, "{time} ns\n{heard}");
        assert!(time <= at_least.max(once) + once, "{time} ns\n{heard}");
        assert_eq!(total.bytes.0 / length, time.div_ceil(once), "{heard}");
    }
}

/// Through the page cache each pass meets what the first one met: nothing in memory. To drop it is not timed.
#[test]
fn what_goes_through_memory_is_moved_again_when_that_was_dropped() {
    let shape = Shape { image: Image::Thin(320 * MI), ..Shape::fast() };
    let card = lab::need!(Card::new(shape));
    let (size, at_least) = (4 * MI, 300_000_000);
    for (action, method, durability) in [
        ("read", "psync", "none"),
        ("read", "mmap", "none"),
        ("write", "psync", "fsync_at_end"),
        ("write", "psync", "open_dsync"),
    ] {
        let mut plan = plan(&[(json!({}), json!([{ "passes": 1 }, { "time": MINUTE }]))]);
        let phase = &mut plan["phases"][0];
        phase["cold"] = json!("target");
        let job = &mut phase["jobs"][0];
        job.as_object_mut().expect("a job").remove("rate");
        job["stop"]["at_least"] = json!(at_least);
        let blocks = &mut job["work"]["blocks"];
        blocks["target"] = json!({ "scratch": {
            "dir": card.mount(), "size": { "exactly": size }, "layout": "written",
        } });
        blocks["pattern"] = json!({
            "mix": [{ "action": action, "weight": 1 }], "block": { "fixed": 65536 },
        });
        blocks["method"] = match method {
            "mmap" => json!({ "mmap": {} }),
            method => json!(method),
        };
        blocks["caching"] = json!("buffered");
        blocks["durability"] = json!(durability);
        let heard = run(&plan);
        let phase = heard.phase();
        let (span, what) = (&phase.span, format!("{action} {method} {durability}\n{heard}"));
        let [flow] = phase.flows.as_slice() else { panic!("{what}") };
        let passes = flow.bytes.0 / size;
        assert!(passes > 1 && flow.bytes.0.is_multiple_of(size), "{passes} passes: {what}");
        assert!(span.time().0 >= at_least && span.paused > Nanos::ZERO, "{span:?}: {what}");
        let whole = span.ended().since(span.counted);
        assert_eq!(span.time() + span.paused, whole, "{what}");
        // All of it was the device's, each time.
        let moved = kernel::grew(phase, &card, |device| {
            if action == "read" { device.read_bytes } else { device.write_bytes }
        });
        assert!(moved >= flow.bytes.0, "{moved} of {}: {what}", flow.bytes.0);
        if durability == "fsync_at_end" {
            let flushes = phase.totals[&Action::Flush].ops.0;
            assert!((passes..=passes + 1).contains(&flushes), "{flushes} of {passes}: {what}");
        }
    }
}

/// Where that is not dropped, nothing is repeated: the second time would meet what the first left in memory.
#[test]
fn what_goes_through_memory_is_moved_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut plan = plan(&[(json!({}), json!([{ "bytes": 64 * 4096 }]))]);
    let job = &mut plan["phases"][0]["jobs"][0];
    job.as_object_mut().expect("a job").remove("rate");
    job["work"]["blocks"]["target"] =
        json!({ "scratch": { "dir": folder.path(), "size": { "exactly": 64 * 4096 } } });
    job["work"]["blocks"]["method"] = json!("psync");
    job["work"]["blocks"]["caching"] = json!("buffered");
    job["stop"]["at_least"] = json!(100_000_000);
    let heard = run(&plan);
    assert_eq!(heard.phase().totals[&Action::Write].bytes.0, 64 * 4096, "{heard}");
}
