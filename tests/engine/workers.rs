//! Each worker of a job can be seen in the record, and what a job or a phase came to is the sum of its workers.

use std::collections::BTreeMap;
use std::path::Path;

use assay_plan::plan::{Action, Plan};
use assay_plan::stats::{ActionTotal, HistogramCell, HistogramCells};
use assay_record::record::{IntervalCount, IntervalCounts, JobResult, PhaseRecord, WorkerResult};
use serde_json::{Value, json};

use crate::runs::whole;

/// A phase of 8 KiB reads and writes in turns for 450 ms, with these jobs' changes.
fn plan(path: &Path, jobs: &[Value]) -> Plan {
    let jobs: Vec<Value> = jobs
        .iter()
        .enumerate()
        .map(|(number, changes)| {
            let mut job = json!({
                "name": format!("job-{number}"),
                "workers": 4,
                "work": { "blocks": {
                    "target": { "file": { "path": path, "size": { "exactly": 8 << 20 }, "layout": "written" } },
                    "iodepth": 4,
                    "pattern": {
                        "mix": [{ "action": "read", "weight": 1 }, { "action": "write", "weight": 1 }],
                        "order": "uniform",
                        "block": { "fixed": 8192 },
                    },
                }},
                "stop": { "first_of": [{ "time": 450_000_000 }] },
            });
            for (key, value) in changes.as_object().expect("changes") {
                match key.as_str() {
                    "method" | "iodepth" => job["work"]["blocks"][key] = value.clone(),
                    _ => job[key] = value.clone(),
                }
            }
            job
        })
        .collect();
    let plan = json!({
        "title": "workers", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "p", "jobs": jobs, "settle": 5_000_000_000_u64 }],
    });
    serde_json::from_value(plan).expect("a plan")
}

/// What one phase of these jobs came to.
fn ran(jobs: &[Value]) -> PhaseRecord {
    let folder = tempfile::tempdir().expect("a folder");
    let mut record = whole(&plan(&folder.path().join("file"), jobs));
    assert_eq!(record.hosts.len(), 1);
    record.phases.as_mut_vec().remove(0)
}

fn added<'c>(all: impl Iterator<Item = &'c HistogramCells>) -> HistogramCells {
    let mut sum = BTreeMap::new();
    for HistogramCell(floor, count) in all.flat_map(HistogramCells::iter) {
        *sum.entry(floor).or_insert(0) += count;
    }
    sum.into_iter().map(|(floor, count)| HistogramCell(floor, count)).collect()
}

/// Fails unless this is what the parts came to, in every count and every cell of each histogram.
fn is_sum(whole: &ActionTotal, parts: &[&ActionTotal]) {
    let sum = |of: fn(&ActionTotal) -> u64| parts.iter().map(|part| of(part)).sum::<u64>();
    let ops = sum(|total| total.ops.0);
    assert!(ops > 0);
    assert_eq!(whole.ops.0, ops);
    assert_eq!(whole.bytes.0, sum(|total| total.bytes.0));
    assert_eq!(whole.errors, sum(|total| total.errors));
    for of in [
        (|total| &total.histogram) as fn(&ActionTotal) -> &HistogramCells,
        |total| &total.slat_histogram,
        |total| &total.clat_histogram,
    ] {
        assert_eq!(*of(whole), added(parts.iter().map(|part| of(part))));
    }
    let most = parts.iter().filter_map(|part| part.lat_ns).map(|lat| lat.max).max();
    assert_eq!(whole.lat_ns.map(|lat| lat.max), most);
}

fn is_sum_of_workers(totals: &BTreeMap<Action, Box<ActionTotal>>, workers: &[&WorkerResult]) {
    for action in [Action::Read, Action::Write] {
        let parts: Vec<&ActionTotal> = workers.iter().map(|worker| &*worker.io[&action]).collect();
        is_sum(&totals[&action], &parts);
    }
}

/// Operations and bytes of all samples of a direction.
fn sampled(series: &IntervalCounts, action: Action) -> (u64, u64) {
    let points = series.get(&action).into_iter().flatten();
    points.fold((0, 0), |sum, point| (sum.0 + point.0, sum.1 + point.1))
}

fn numbers(job: &JobResult) -> Vec<u32> {
    job.workers.iter().map(|worker| worker.number).collect()
}

#[test]
fn four_workers_give_four_results() {
    for method in [json!({ "io_uring": {} }), json!({ "libaio": {} })] {
        let detail = json!({ "submission": true, "workers": true });
        let phase = ran(&[json!({ "method": method, "detail": detail })]);
        let [job] = &phase.jobs[..] else { panic!("one job") };
        assert_eq!(numbers(job), [0, 1, 2, 3], "{method}");
        for worker in &job.workers {
            for (action, total) in &worker.io {
                let all: u64 = total.histogram.iter().map(|cell| cell.1).sum();
                let count = |cells: &HistogramCells| cells.iter().map(|cell| cell.1).sum::<u64>();
                assert_eq!(all, total.ops.0, "{method} {action:?}");
                assert_eq!(count(&total.slat_histogram), all, "{method} {action:?}");
                assert_eq!(count(&total.clat_histogram), all, "{method} {action:?}");
                assert!(total.bandwidth.is_some_and(|rate| rate.0 > 0.0), "{method} {action:?}");
            }
            let (span, cpu) = (worker.span, worker.cpu.expect("CPU time"));
            assert!(span.started <= span.counted && span.counted < span.stopped, "{span:?}");
            assert!(span.started >= phase.span.started && span.stopped <= phase.span.stopped);
            let (spent, took) = (cpu.user + cpu.system, span.stopped.since(span.started));
            assert!(spent.0 > 0 && spent.0 <= took.0 * 11 / 10, "{spent} of {took}");
            assert!(cpu.system.0 > 0, "{cpu:?}");
            assert!(worker.depth.as_ref().is_some_and(|depth| depth.max <= 4));
            assert_eq!(worker.host, 0);
        }
        let workers: Vec<&WorkerResult> = job.workers.iter().collect();
        is_sum_of_workers(&job.totals, &workers);
        is_sum_of_workers(&phase.totals, &workers);
        let cpu = job.cpu.expect("CPU time");
        assert_eq!(phase.cpu, Some(cpu.user + cpu.system));

        // Samples: those of the workers are those of the job, and these those of the phase.
        for action in [Action::Read, Action::Write] {
            for (at, point) in job.series[&action].iter().enumerate() {
                let parts = job.workers.iter().filter_map(|one| one.series.get(&action)?.get(at));
                let sum = parts.fold(IntervalCount(0, 0), |sum, part| {
                    IntervalCount(sum.0 + part.0, sum.1 + part.1)
                });
                assert_eq!(*point, sum, "{method} {action:?} {at}");
            }
            let job_has = sampled(&job.series, action);
            assert_eq!(job_has, (job.totals[&action].ops.0, job.totals[&action].bytes.0));
            assert!(job.series[&action].len() >= 4, "ten samples a second");
        }
        for (at, point) in phase.series.points.iter().enumerate() {
            let of = |action| job.series[&action].get(at).copied().unwrap_or_default();
            let (read, write) = (of(Action::Read), of(Action::Write));
            // The counters go on between one reading of them and the next.
            let near = |a: u64, b: u64| a.abs_diff(b) <= a.max(b) / 5 + 64 * 8192;
            assert!(near(read.1, point.read_bytes), "{at}: {read:?} {point:?}");
            assert!(near(write.1, point.write_bytes), "{at}: {write:?} {point:?}");
        }
    }
}

#[test]
fn threads_that_share_a_stream_are_one_worker() {
    let phase = ran(&[json!({ "method": "pool" })]);
    let [job] = &phase.jobs[..] else { panic!("one job") };
    assert_eq!(numbers(job), [0, 1, 2, 3]);
    is_sum_of_workers(&job.totals, &job.workers.iter().collect::<Vec<_>>());
    assert!(job.workers.iter().all(|worker| worker.series.is_empty()), "nobody asked");
    for action in [Action::Read, Action::Write] {
        let total = &job.totals[&action];
        assert_eq!(sampled(&job.series, action), (total.ops.0, total.bytes.0));
    }
}

#[test]
fn jobs_have_samples_of_their_own_and_a_phase_is_the_sum_of_them() {
    let phase = ran(&[
        json!({ "method": "psync", "iodepth": 1, "workers": 1 }),
        json!({ "method": "psync", "iodepth": 1, "workers": 12 }),
    ]);
    let [one, twelve] = &phase.jobs[..] else { panic!("two jobs") };
    assert!(one.workers.is_empty() && twelve.workers.is_empty(), "one alone, and too many");
    for action in [Action::Read, Action::Write] {
        is_sum(&phase.totals[&action], &[&one.totals[&action], &twelve.totals[&action]]);
        for job in [one, twelve] {
            let total = &job.totals[&action];
            assert_eq!(sampled(&job.series, action), (total.ops.0, total.bytes.0), "{}", job.name);
        }
    }
    let owners: Vec<usize> = phase.flows.iter().map(|flow| flow.job).collect();
    assert_eq!(owners, [0, 0, 1, 1]);

    // One worker alone is its job, which has the samples of the phase; unless it is asked for.
    let phase = ran(&[json!({ "workers": 1 })]);
    let [job] = &phase.jobs[..] else { panic!("one job") };
    assert!(job.workers.is_empty() && job.series.is_empty());
    assert_eq!(job.totals, phase.totals);
    let phase = ran(&[json!({ "workers": 1, "detail": { "workers": true } })]);
    let [job] = &phase.jobs[..] else { panic!("one job") };
    assert_eq!(numbers(job), [0]);
    assert_eq!(job.workers[0].series, job.series);
}
