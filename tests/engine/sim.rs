//! Plans on a modelled device: what comes out follows from the model, to one percent.

use crate::kernel;
use crate::lab;
use assay_plan::plan::Action;
use assay_record::record::{Ending, MeasuredSubject, PhaseRecord, Trust};
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
    let heard = kernel::hear_own(lab::run_plan(&file));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    // No device took part, and nothing else is said.
    heard.expect(Trust::Sound, MeasuredSubject::Tool);
    heard
}

fn latency(phase: &PhaseRecord) -> assay_plan::stats::Latency {
    phase.totals[&Action::Read].lat_ns.expect("latency")
}

fn near(figure: f64, right: f64) {
    assert!((figure / right - 1.0).abs() <= 0.01, "{figure} is not {right}");
}

/// A percentile that enough I/Os were timed for.
fn at(percentile: Option<u64>) -> f64 {
    percentile.expect("enough I/Os") as f64
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
            run(json!({ "latency": 100_000, "channels": channels }), iodepth, json!({}), 10);
        let lat = latency(heard.phase());
        kernel::told("IOPS and p50", format_args!("{} {:?}", iops(&heard), lat));
        near(iops(&heard), right);
        near(at(lat.p50), wait);
        near(lat.mean, wait);
        // Ten seconds of a virtual clock take no time.
        assert!(heard.ran.wall.as_secs() < 5, "{heard}");
    }
}

#[test]
fn stalls_show_in_an_open_loop() {
    let model = json!({ "latency": 100_000, "channels": 1, "stall_every": 10_000_000_000_u64, "stall": 1_000_000_000 });
    let heard = run(model.clone(), 1, json!({ "arrivals": { "even": { "iops": 100.0 } } }), 100);
    let lat = latency(heard.phase());
    kernel::told("open", format_args!("{lat:?}"));
    near(iops(&heard), 100.0);
    near(at(lat.p50), 100_000.0);
    // A tenth of the requests falls due in a stall and waits half of it in the mean; the worst of
    // a hundred waits nine tenths.
    let p99 = at(lat.p99) / 1e9;
    assert!((0.85..1.02).contains(&p99), "{p99}\n{heard}");
    near(lat.max as f64, 1_000_100_000.0);
    // The parts say whose time it was: the program came late, the device was as ever.
    let reads = &heard.phase().totals[&Action::Read];
    let (lag, service) = (reads.lag_ns.as_ref(), reads.service_ns.as_ref());
    let (lag, service) = (lag.expect("lag"), service.expect("service"));
    near(at(service.p99), 100_000.0);
    near(service.max as f64, 1_000_100_000.0);
    near(at(lag.p99), at(lat.p99));

    // A closed loop never sees it: one request in a hundred thousand waits.
    let heard = run(model, 1, json!({}), 100);
    let lat = latency(heard.phase());
    kernel::told("closed", format_args!("{lat:?}"));
    near(at(lat.p99), 100_000.0);
}

#[test]
fn the_stricter_of_two_caps_holds() {
    let model = json!({ "latency": 100_000, "channels": 1 });
    for (bandwidth, cap, right) in [(4096 * 1000, 500.0, 500.0), (4096 * 200, 500.0, 200.0)] {
        let rate = json!({ "caps": { "all": { "bandwidth": bandwidth, "iops": cap } } });
        let heard = run(model.clone(), 1, rate, 10);
        near(iops(&heard), right);
        near(at(latency(heard.phase()).p50), 100_000.0);
    }
}

/// Operations per second of reads and writes together on a modelled device, half and half, under
/// caps for each.
fn each_capped(caps: Value) -> [f64; 2] {
    let plan = json!({
        "title": "each", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "a", "jobs": [{
            "name": "a", "workers": 2,
            "work": { "blocks": {
                "target": { "nowhere": { "size": 40960 } },
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }, { "action": "write", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
                "method": { "sim": { "latency": 200_000 } },
            }},
            "rate": { "caps": caps },
            "stop": { "first_of": [{ "time": 10_000_000_000_u64 }] },
        }]}],
    });
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("written");
    let heard = kernel::hear_own(lab::run_plan(&file));
    ["read", "write"].map(|name| {
        let of = |(action, _): &(&Action, _)| action.name() == name;
        let total = heard.phase().totals.iter().find(of).expect("done").1;
        total.iops.expect("a rate").0
    })
}

#[test]
fn each_direction_has_a_rate_of_its_own() {
    // Both come to theirs, though the mix is half and half.
    let [reads, writes] =
        each_capped(json!({ "read": { "iops": 1000.0 }, "write": { "iops": 250.0 } }));
    near(reads, 1000.0);
    near(writes, 250.0);
    // By bytes, and the stricter of two.
    let [reads, writes] = each_capped(json!({
        "read": { "bandwidth": 4096 * 300, "iops": 5000.0 }, "write": { "bandwidth": 4096 * 700 },
    }));
    near(reads, 300.0);
    near(writes, 700.0);
    // What has no cap takes all the rest of what two workers can do.
    let [reads, writes] = each_capped(json!({ "write": { "iops": 500.0 } }));
    near(writes, 500.0);
    near(reads, 9500.0);
}

#[test]
fn rates_that_make_no_sense_are_refused_by_their_names() {
    let cases = [
        (
            json!({ "capped_iops": 5.0 }),
            "unknown field `capped_iops`, expected one of `arrivals`, `caps`, `think`",
        ),
        (json!({ "cap": { "all": { "iops": 5.0 } } }), "unknown field `cap`"),
        (
            json!({ "arrivals": { "poisson": { "iops": 0.0 } } }),
            "at an arrival rate of 0 no I/O ever comes; give an 'iops' above 0",
        ),
        (
            json!({ "arrivals": { "bursts": { "ops": 0, "every": 5 } } }),
            "in bursts of 0 operations no I/O ever comes; give 1 or more",
        ),
        (
            json!({ "arrivals": { "bursts": { "ops": 5, "every": 0 } } }),
            "bursts with no time between them never end; give an 'every' above 0",
        ),
        (
            json!({ "caps": { "all": { "bandwidth": 0, "iops": 5.0 } } }),
            "a cap of 0 on 'all' lets nothing through; give a cap above 0",
        ),
        (
            json!({ "caps": { "read": { "iops": 0.0 } } }),
            "a cap of 0 on 'read' lets nothing through; give a cap above 0",
        ),
        (
            json!({ "caps": { "read": { "iops": 5.0 }, "write": { "iops": 5.0 } } }),
            "'caps' has one for 'write', which the mix does not do; leave one of them out",
        ),
        (
            json!({ "think": { "pause": 5, "every": 0 } }),
            "a pause after every 0 I/Os never ends; give 1 or more",
        ),
        (
            json!({ "think": { "pause": 0, "every": 5 } }),
            "a pause of no time is none; give a 'pause' above 0",
        ),
    ];
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    for (rate, said) in cases {
        let plan = json!({
            "title": "two", "origin": { "dialect": "plan" }, "seed": 7,
            "phases": [{ "name": "a", "jobs": [{
                "name": "a",
                "work": { "blocks": {
                    "target": { "nowhere": { "size": 40960 } },
                    "pattern": { "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 4096 } },
                    "method": "null",
                }},
                "rate": rate,
            }]}],
        });
        std::fs::write(&file, plan.to_string()).expect("written");
        let refused = lab::run_plan(&file).run().expect(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}

#[test]
fn arrivals_caps_and_think_time_meet() {
    // Eighty at once every 800 ms; no more than 200 a second; after every fiftieth, 150 ms.
    let parts = [
        ("arrivals", json!({ "bursts": { "ops": 80, "every": 800_000_000 } })),
        ("caps", json!({ "all": { "iops": 200.0 } })),
        ("think", json!({ "pause": 150_000_000, "every": 50 })),
    ];
    let reads = |which: &[usize]| {
        let rate = which.iter().map(|&part| (parts[part].0.into(), parts[part].1.clone()));
        let model = json!({ "latency": 100_000, "channels": 128 });
        let heard = run(model, 128, Value::Object(rate.collect()), 1);
        let lat = latency(heard.phase());
        // Whatever the plan holds back is no latency, whether or not it counts from when it was due.
        assert!((100_000..100_100).contains(&lat.min), "{lat:?}");
        assert!((100_000..100_100).contains(&lat.max), "{lat:?}");
        let split = heard.phase().totals[&Action::Read].lag_ns.is_some();
        assert_eq!(split, which.contains(&0), "{heard}");
        heard.phase().totals[&Action::Read].ops.0
    };
    // In a second two bursts, one each 5 ms, fifty each 150 ms.
    assert_eq!([0, 1, 2].map(|part| reads(&[part])), [160, 200, 350]);
    // Bursts under a cap: the second has 21 at once and one each 5 ms. Bursts with pauses: in
    // the second twenty, and the rest after 950 ms. A cap with pauses: what was missed in a pause is
    // caught up after it, for 100 ms at the most.
    assert_eq!([[0, 1], [0, 2], [1, 2]].map(|pair| reads(&pair)), [140, 150, 173]);
    // All of them: fifty until 245 ms and thirty after the pause that ends at 395; twenty at 800, and
    // from 950 on 21 that the cap has room for, and nine more, one each 5 ms.
    assert_eq!(reads(&[0, 1, 2]), 130);
}

#[test]
fn a_burst_waits_for_itself() {
    let bursts = json!({ "arrivals": { "bursts": { "ops": 10, "every": 100_000_000 } } });
    let heard = run(json!({ "latency": 100_000, "channels": 1 }), 16, bursts, 10);
    near(iops(&heard), 100.0);
    let lat = latency(heard.phase());
    // The n-th of ten waits for those before it.
    near(lat.mean, 550_000.0);
    near(lat.max as f64, 1_000_000.0);
    near(lat.stddev.expect("a deviation"), 287_228.0);
    let depth = heard.phase().depth.clone().expect("a depth");
    assert_eq!((depth.mean, depth.max), (0.055, 10));
}

#[test]
fn every_io_is_logged_when_asked() {
    let desk = tempfile::tempdir().expect("a folder");
    let log = desk.path().join("ios.csv");
    let plan = json!({
        "title": "a log", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "a", "jobs": [{
            "name": "a",
            "work": { "blocks": {
                "target": { "nowhere": { "size": 40960 } },
                "pattern": { "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 4096 } },
                "method": { "sim": { "latency": 100_000 } },
            }},
            "workers": 2,
            "detail": { "log": log },
        }]}],
    });
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("written");
    let heard = kernel::hear_own(lab::run_plan(&file));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    let text = std::fs::read_to_string(&log).expect("a log");
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.remove(0), "time_ns,worker,op,file,offset,bytes,lat_ns,answer");
    for worker in 0..2 {
        let expected: Vec<String> = (0..10)
            .map(|n| {
                format!("{},{worker},write,0,{},4096,100000,4096", (n + 1) * 100_000, n * 4096)
            })
            .collect();
        let mine: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| line.split(',').nth(1) == Some(&worker.to_string()))
            .collect();
        assert_eq!(mine, expected);
    }

    // What is no log is not overwritten.
    std::fs::write(&log, "precious\n").expect("written");
    let refused = lab::run_plan(&file).run();
    assert_eq!(refused.code(), 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("is no log of this program"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&log).expect("there"), "precious\n");
}
