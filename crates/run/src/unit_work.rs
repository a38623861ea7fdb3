//! How long a processor takes for a unit of work: a page that is written byte by byte.

use std::hint::black_box;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use assay_engine::sys::clock;

/// Units that are timed together.
const UNITS: usize = 50;
/// How often that is done: the shortest counts.
const TURNS: usize = 10;

/// Microseconds that each processor of this process takes for a unit, all at the same time; none where they
/// cannot be told apart.
pub fn unit_work() -> Vec<f64> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for cpu in cpus {
            let on_cpu = move || {
                let mut one = CpuSet::new();
                one.set(cpu);
                sched_setaffinity(None, &one).ok().map(|()| shortest())
            };
            threads.extend(std::thread::Builder::new().spawn_scoped(scope, on_cpu));
        }
        threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
    })
}

/// Microseconds of a unit on this processor.
fn shortest() -> f64 {
    let mut page = vec![0_u8; rustix::param::page_size()];
    let turn = |_| {
        let began = clock::now();
        for unit in 0..UNITS {
            for (at, byte) in page.iter_mut().enumerate() {
                *byte = black_box((at + unit) as u8);
            }
        }
        clock::now().since(began).0
    };
    let shortest = (0..TURNS).map(turn).min().unwrap_or_default();
    shortest as f64 / UNITS as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_takes_some_time() {
        let each = unit_work();
        let cpus = std::thread::available_parallelism().expect("processors").get();
        assert!(!each.is_empty() && each.len() >= cpus, "{each:?}");
        assert!(each.iter().all(|us| (0.01..1e5).contains(us)), "{each:?}");
    }
}
