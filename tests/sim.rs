//! Plans on a modelled device: what comes out follows from the model, to one percent.

mod kernel;
mod lab;

use assay::plan::Action;
use assay::record::{Ending, Measures, PhaseRecord, Trust};
use serde_json::{Value, json};

/// A plan of one phase of 4 KiB reads on a modelled device, typed as a file.
fn run(model: Value, iodepth: u32, rate: Value, seconds: u64) -> kernel::Heard {
    let plan = json!({
        "title": "a model",
        "origin": { "dialect": "plan" },
        "seed": 7,
        "phases": [{
            "name": "reads",
            "jobs": [{
                "name": "reads",
                "work": { "blocks": {
                    "target": { "nowhere": { "size": 1_u64 << 30 } },
                    "pattern": {
                        "mix": [{ "action": "read", "weight": 1 }],
                        "order": "uniform",
                        "block": { "fixed": 4096 },
                    },
                    "method": { "sim": model },
                    "iodepth": iodepth,
                }},
                "rate": rate,
                "stop": { "first_of": [{ "time": seconds * 1_000_000_000 }] },
            }],
        }],
    });
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("written");
    let heard = kernel::hear_own(lab::assay(["run"]).word(&file));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    // No device took part, and nothing else is said.
    heard.expect(Trust::Sound, Measures::Tool);
    heard
}

fn latency(phase: &PhaseRecord) -> assay::stats::Latency {
    phase.totals[&Action::Read].lat_ns.expect("latency")
}

fn near(figure: f64, right: f64) {
    assert!((figure / right - 1.0).abs() <= 0.01, "{figure} is not {right}");
}

fn iops(heard: &kernel::Heard) -> f64 {
    heard.phase().totals[&Action::Read].iops.expect("iops").0
}

#[test]
fn a_device_of_a_hundred_microseconds() {
    for (iodepth, channels, right, wait) in
        [(1, 1, 10_000.0, 100_000.0), (4, 4, 40_000.0, 100_000.0), (4, 1, 10_000.0, 400_000.0)]
    {
        let heard =
            run(json!({ "latency": 100_000, "channels": channels }), iodepth, json!("closed"), 10);
        let lat = latency(heard.phase());
        kernel::told("IOPS and p50", format_args!("{} {:?}", iops(&heard), lat));
        near(iops(&heard), right);
        near(lat.p50 as f64, wait);
        near(lat.mean, wait);
        // Ten seconds of a virtual clock take no time.
        assert!(heard.ran.wall.as_secs() < 5, "{heard}");
    }
}

#[test]
fn stalls_show_in_an_open_loop() {
    let model = json!({ "latency": 100_000, "channels": 1, "stall_every": 10_000_000_000_u64, "stall": 1_000_000_000 });
    let heard = run(model.clone(), 1, json!({ "open": { "iops": 100.0 } }), 100);
    let lat = latency(heard.phase());
    kernel::told("open", format_args!("{lat:?}"));
    near(iops(&heard), 100.0);
    near(lat.p50 as f64, 100_000.0);
    // A tenth of the requests falls due in a stall and waits half of it in the mean; the worst of
    // a hundred waits nine tenths.
    let p99 = lat.p99 as f64 / 1e9;
    assert!((0.85..1.02).contains(&p99), "{p99}\n{heard}");
    near(lat.max as f64, 1_000_100_000.0);

    // A closed loop never sees it: one request in a hundred thousand waits.
    let heard = run(model, 1, json!("closed"), 100);
    let lat = latency(heard.phase());
    kernel::told("closed", format_args!("{lat:?}"));
    near(lat.p99 as f64, 100_000.0);
}
