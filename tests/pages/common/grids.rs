//! A grid of IOzone on a card, as a run would leave it: small files were read from caches, larger ones partly,
//! the largest and all writes from and to the card.

use assay::dialect::iozone;
use assay_plan::plan::{Action, Caching};
use assay_plan::unit::{Bandwidth, Bytes, MIB, Timestamp};
use assay_record::evidence::CpuCache;
use assay_record::record::{
    GridFigure, GridRegion, GridResult, MeasuredSubject, Record, StudyResult, Trust, Verdict,
};

use super::{Shape, card_limits, card_subject, phase, record, resolved, sound};

/// What a cell of so many bytes is of, and how fast.
fn found(file: u64, block: u64, writes: bool) -> (GridRegion, f64) {
    let share = block as f64 / MIB as f64;
    match file / MIB {
        _ if writes => (GridRegion::Device, 4e6 * (0.9 + share / 10.0)),
        0 => (GridRegion::CpuCache(2), 9e9 * (0.5 + share)),
        1 => (GridRegion::PageCache, 5e9 * (0.5 + share)),
        2 => (GridRegion::Mixed, 60e6),
        _ => (GridRegion::Device, 16e6 * (0.9 + share / 10.0)),
    }
}

/// The grid.
pub fn surface() -> Record {
    let words = "-a -n 512k -g 4m -y 256k -q 1m -e -+n -i 0 -i 1 -f /mnt/sd/t";
    let words: Vec<String> = words.split(' ').map(String::from).collect();
    let command = iozone::read(&words, &|_| Err(std::io::ErrorKind::NotFound.into()))
        .and_then(|asked| asked.command())
        .expect("a plan");
    let plan = command.plan;
    let mut phases = Vec::new();
    let mut cells = Vec::new();
    for planned in &plan.phases {
        let place = planned.grid_place().expect("a cell");
        let writes = planned.jobs[0].writes();
        let (region, rate) = found(place.file.0, place.record.0, writes);
        let action = if writes { Action::Write } else { Action::Read };
        let shape = Shape {
            name: "",
            action,
            block: place.record,
            depth: 1,
            rate,
            seconds: 1,
            device: "loop3",
        };
        let mut done = phase(&shape, Timestamp(0));
        done.name.clone_from(&planned.name);
        let verdict = match region {
            GridRegion::Device => {
                sound(MeasuredSubject::Device, "This is the speed of the device.")
            }
            _ => Verdict {
                trust: Trust::Wrong,
                ..sound(MeasuredSubject::Memory, "This is the speed of memory.")
            },
        };
        cells.push(GridFigure {
            phase: planned.name.clone(),
            test: place.test.into(),
            writes,
            file: place.file,
            record: place.record,
            bandwidth: Some(Bandwidth(rate)),
            region,
            trust: Some(verdict.trust),
        });
        done.verdict = Some(verdict);
        phases.push(done);
    }
    let resolved = resolved(&plan, card_subject("/mnt/sd"), card_limits(), Caching::Buffered);
    let verdict = Verdict {
        trust: Trust::Wrong,
        ..sound(MeasuredSubject::Memory, "This is the speed of memory.")
    };
    let mut record = record(plan, resolved, phases, verdict);
    record.hosts[0].machine.caches = vec![CpuCache { level: 2, size: Bytes(MIB) }];
    record.outcome = Some(StudyResult::Grid(GridResult { cells }));
    record
}
