//! Plans as people and programs write them: what is refused, and what the figures of odd ones are.

use std::path::Path;

use assay::error::Error;
use assay::plan::Plan;
use assay::record::Record;
use assay::run::{self, Options};
use serde_json::{Value, json};

/// A plan of one phase with one job: reads of 4 KiB by `psync` with whatever `changes` says.
fn plan(target: Value, changes: &[(&str, Value)]) -> Plan {
    let mut plan = json!({
        "title": "t",
        "origin": { "dialect": "plan" },
        "seed": 7,
        "phases": [{ "name": "p", "jobs": [{
            "name": "j",
            "work": { "blocks": {
                "target": target,
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
            }},
        }]}],
    });
    for (place, value) in changes {
        let place = match *place {
            "method" | "caching" | "durability" | "iodepth" => {
                format!("/phases/0/jobs/0/work/blocks/{place}")
            }
            "mix" | "order" | "block" | "region" | "fill" | "verify" => {
                format!("/phases/0/jobs/0/work/blocks/pattern/{place}")
            }
            _ => format!("/phases/0/jobs/0/{place}"),
        };
        let (parent, name) = place.rsplit_once('/').expect("a path");
        plan.pointer_mut(parent).expect("it is there")[name] = value.clone();
    }
    serde_json::from_value(plan).expect("a plan")
}

fn file(path: &Path, size: u64) -> Value {
    json!({ "file": { "path": path, "size": { "exactly": size } } })
}

fn writes() -> (&'static str, Value) {
    ("mix", json!([{ "action": "write", "weight": 1 }]))
}

fn go(plan: &Plan) -> Result<Record, Error> {
    run::run(plan, &Options::default(), &mut ())
}

fn refused(plan: &Plan) -> String {
    match go(plan) {
        Err(Error::Refusal(refusal)) => refusal.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn only_files_are_files() {
    for place in ["/dev/null", "/dev/zero"] {
        let why = refused(&plan(file(Path::new(place), 4096), &[writes()]));
        assert!(why.contains("is no regular file"), "{why}");
    }
}

#[test]
fn a_record_takes_the_place_of_files_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let _open = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let nowhere = json!({ "nowhere": { "size": 1 << 20 } });
    let plan = plan(nowhere, &[("method", json!("null"))]);
    let options = Options { record: Some(socket), ..Options::default() };
    match run::run(&plan, &options, &mut ()) {
        Err(Error::Refusal(refusal)) => assert!(refusal.why.contains("is no regular file")),
        other => panic!("not refused: {other:?}"),
    }
}
