//! Records of version 1, lifted to the form of today: what that version kept stands where it belongs now, and
//! nothing is made up. It knew one host, named a phase's jobs only where there were several, kept no
//! worker by itself, and did not say of a flow whose it was.

use serde_json::{Map, Value, json};

use assay_plan::plan::Action;

/// What such a record calls its form.
pub const SCHEMA_1: &str = "assay.record/1";

/// The same record in the form of today. What is no record is left as it is, to be refused by who reads it.
pub fn lifted(mut record: Value) -> Value {
    let plan = record.get("plan").cloned().unwrap_or_default();
    let resolved = record.pointer("/resolved/jobs").cloned().unwrap_or_default();
    let Some(all) = record.as_object_mut() else { return record };
    all.insert("schema".into(), super::SCHEMA.into());
    if let Some(machine) = all.remove("machine") {
        let name = machine.get("host").cloned().unwrap_or_default();
        all.insert("hosts".into(), json!([{ "name": name, "machine": machine }]));
    }
    for subject in list(all.get_mut("resolved").and_then(|resolved| resolved.get_mut("subjects"))) {
        insert(subject, "host", 0.into());
    }
    for phase in list(all.get_mut("phases")) {
        let planned = named(&plan["phases"], "name", &phase["name"]).unwrap_or(&Value::Null);
        let jobs = planned["jobs"].as_array().map_or(&[][..], Vec::as_slice);
        let resolved: Vec<&Value> = resolved
            .as_array()
            .into_iter()
            .flatten()
            .filter(|job| job["phase"] == phase["name"])
            .collect();
        own_jobs(phase, jobs);
        own_flows(phase, jobs, &resolved);
    }
    record
}

/// A phase with one job had no list of them: the job's figures are the phase's.
fn own_jobs(phase: &mut Value, planned: &[Value]) {
    let Some(phase) = phase.as_object_mut() else { return };
    if phase.contains_key("jobs") {
        return;
    }
    let mut job = Map::new();
    let name = planned.first().map(|job| job["name"].clone());
    job.insert(
        "name".into(),
        name.unwrap_or_else(|| phase.get("name").cloned().unwrap_or_default()),
    );
    for key in ["totals", "depth"] {
        if let Some(value) = phase.get(key) {
            job.insert(key.into(), value.clone());
        }
    }
    phase.insert("jobs".into(), json!([job]));
}

/// Flows stand in the order of their jobs, each job's reads before its writes.
fn own_flows(phase: &mut Value, planned: &[Value], resolved: &[&Value]) {
    let last = planned.len().max(1) - 1;
    let mut job = 0;
    let mut before = None;
    for flow in list(phase.get_mut("flows")) {
        let writes = flow["direction"] == "write";
        // The one before has had its writes, or this direction: it has no more.
        let over = before == Some(true) || before == Some(writes);
        job = (job + usize::from(over)).min(last);
        let found = (job..=last).find(|&job| {
            let caching = resolved.get(job).is_none_or(|job| job["caching"] == flow["caching"]);
            caching && planned.get(job).is_none_or(|planned| does(planned, writes))
        });
        if let Some(found) = found {
            job = found;
        }
        insert(flow, "job", job.into());
        before = Some(writes);
    }
}

/// Whether a planned job moves bytes that way. Of trees and copies it is not looked at.
fn does(planned: &Value, writes: bool) -> bool {
    let Some(blocks) = planned["work"].get("blocks") else { return true };
    let mix = blocks["pattern"]["mix"].as_array();
    mix.is_none_or(|mix| {
        mix.iter().any(|part| match serde_json::from_value(part["action"].clone()) {
            Ok(Action::Read) => !writes,
            Ok(Action::Write) => writes,
            Ok(Action::Rewrite) => true,
            _ => false,
        })
    })
}

/// The members of a list, if it is one.
fn list(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

/// The member of a list that has this under that key.
fn named<'v>(list: &'v Value, key: &str, wanted: &Value) -> Option<&'v Value> {
    list.as_array()?.iter().find(|one| &one[key] == wanted)
}

fn insert(value: &mut Value, key: &str, what: Value) {
    if let Some(object) = value.as_object_mut() {
        object.insert(key.into(), what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(direction: &str, caching: &str) -> Value {
        json!({ "direction": direction, "caching": caching })
    }

    fn job(name: &str, actions: &[&str]) -> Value {
        let mix: Vec<Value> = actions.iter().map(|action| json!({ "action": action })).collect();
        json!({ "name": name, "work": { "blocks": { "pattern": { "mix": mix } } } })
    }

    /// Whose each flow is, by the jobs' actions and the flows' directions.
    fn owners(jobs: &[Value], flows: &[Value]) -> Vec<u64> {
        let resolved: Vec<Value> =
            jobs.iter().map(|_| json!({ "phase": "p", "caching": "direct" })).collect();
        let one = lifted(json!({
            "plan": { "phases": [{ "name": "p", "jobs": jobs }] },
            "resolved": { "jobs": resolved, "subjects": [{ "path": "/x" }] },
            "machine": { "host": "here" },
            "phases": [{ "name": "p", "totals": { "read": 1 }, "flows": flows }],
        }));
        assert_eq!(one["schema"], "assay.record/2");
        assert_eq!(one["hosts"], json!([{ "name": "here", "machine": { "host": "here" } }]));
        assert_eq!(one["resolved"]["subjects"], json!([{ "path": "/x", "host": 0 }]));
        assert_eq!(
            one["phases"][0]["jobs"],
            json!([{ "name": jobs[0]["name"], "totals": { "read": 1 } }])
        );
        let flows = one["phases"][0]["flows"].as_array().expect("flows");
        flows.iter().map(|flow| flow["job"].as_u64().expect("a number")).collect()
    }

    #[test]
    fn flows_find_their_jobs() {
        let (read, write) = (flow("read", "direct"), flow("write", "direct"));
        let (reader, writer, both) =
            (job("r", &["read"]), job("w", &["write"]), job("b", &["read", "write"]));
        let one = |jobs: &[&Value], flows: &[&Value]| {
            let own = |all: &[&Value]| all.iter().map(|&one| one.clone()).collect::<Vec<_>>();
            owners(&own(jobs), &own(flows))
        };
        assert_eq!(one(&[&both], &[&read, &write]), [0, 0]);
        assert_eq!(one(&[&reader, &writer], &[&read, &write]), [0, 1]);
        assert_eq!(one(&[&writer, &reader], &[&write, &read]), [0, 1]);
        assert_eq!(one(&[&reader, &reader, &both], &[&read, &read, &read, &write]), [0, 1, 2, 2]);
        // Writes that are read back: nobody's plan but the only job's.
        assert_eq!(one(&[&writer], &[&read, &write]), [0, 0]);
    }

    #[test]
    fn what_is_no_record_is_left_to_be_refused() {
        assert_eq!(lifted(json!([1])), json!([1]));
        assert_eq!(
            lifted(json!({ "phases": 3 })),
            json!({ "phases": 3, "schema": "assay.record/2" })
        );
    }
}
