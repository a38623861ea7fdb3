//! Sweeps of a card with blocks of 4 KiB, as a run would leave them: one cell came out of memory, one is
//! doubtful, and the smallest sizes could not be done.

use std::path::Path;

use assay::cli::quick::PathType;
use assay::cli::ramp::RampOrder;
use assay::cli::sweep::{self, SweepAction as Done, SweepArgs, VariedParam};
use assay::cli::target_args::{SeedArgs, TargetArgs};
use assay_plan::plan::{self, Action, Caching, SweepAxis};
use assay_plan::unit::{Bytes, MIB, Nanos, Timestamp};
use assay_record::evidence::DirectAlign;
use assay_record::record::{MeasuredSubject, PhaseRecord, Record, Trust, Verdict};

use super::{Shape, card_limits, card_subject, phase, record, resolved, sound};

fn words(over: Vec<VariedParam>) -> SweepArgs {
    SweepArgs {
        target: TargetArgs { path: "/mnt/sd".into(), again: Vec::new() },
        over,
        action: Done::Both,
        load: Default::default(),
        order: RampOrder::Forward,
        time: Nanos::secs(180),
        size: None,
        seed: SeedArgs { seed: Some(1) },
        common: Default::default(),
    }
}

/// What a cell of the card comes to: 4 ms for each request and 40 MB/s of writes, 1 ms and 90 MB/s of
/// reads; four at a time are no faster than one.
fn rate(cell_params: &plan::CellParams) -> f64 {
    let block = cell_params.block.0 as f64;
    let depth = f64::from(cell_params.iodepth.min(4)) / 4.0;
    let (each, pace) = if cell_params.reads == 100 { (1e-3, 90e6) } else { (4e-3, 40e6) };
    depth * block / (each / 4.0 + block / pace)
}

/// A phase that was judged.
fn done(name: &str, (action, block, depth): (Action, Bytes, u32), rate: f64) -> PhaseRecord {
    let shape = Shape { name: "", action, block, depth, rate, seconds: 2, device: "loop3" };
    let mut done = phase(&shape, Timestamp(0));
    done.name = name.into();
    done.verdict = Some(sound(MeasuredSubject::Device, "This is the speed of the device."));
    done
}

fn sweep_of(over: Vec<VariedParam>, typed: &[&str]) -> Record {
    let typed = typed.iter().map(|word| (*word).to_string()).collect();
    let mut words = words(over);
    words.target.path = Path::new("/mnt/sd").into();
    let plan = sweep::plan(&words, PathType::Folder, typed).expect("a plan");
    let mut subject = card_subject("/mnt/sd");
    if let assay_record::evidence::Reading::Seen(direct) = &mut subject.direct {
        direct.align = Some(DirectAlign { memory: 512, offset: 4096 });
    }
    let mut phases = Vec::new();
    for planned in &plan.phases {
        let cell_params = planned.cell_params().expect("a cell or the file");
        if planned.name == "file" || cell_params.block.0 >= 4096 {
            let action = if cell_params.reads == 100 { Action::Read } else { Action::Write };
            phases.push(done(
                &planned.name,
                (action, cell_params.block, cell_params.iodepth),
                rate(&cell_params),
            ));
        }
    }
    let mut resolved = resolved(&plan, subject, card_limits(), Caching::Direct);
    resolved.jobs.iter_mut().for_each(|job| job.size = Bytes(128 * MIB));
    let verdict = sound(MeasuredSubject::Device, "This is the speed of the device.");
    record(plan, resolved, phases, verdict)
}

fn judged(record: &mut Record, phase: &str, rate: f64, verdict: Verdict) {
    let done = record.phases.iter_mut().find(|done| done.name == phase).expect("a cell");
    done.totals.values_mut().for_each(|total| {
        total.bandwidth = Some(assay_plan::unit::Bandwidth(rate));
    });
    done.verdict = Some(verdict.clone());
    record.verdict = Some(Verdict { trust: Trust::Wrong, ..verdict });
}

fn memory() -> Verdict {
    let said = "This is the speed of memory: loop3 sent no byte.";
    Verdict { trust: Trust::Wrong, ..sound(MeasuredSubject::Memory, said) }
}

fn unsteady() -> Verdict {
    let said = "The device stood still for 0.41 s of it.";
    Verdict { trust: Trust::Doubtful, ..sound(MeasuredSubject::Unsteady, said) }
}

/// Over one thing: sizes from 512 B to 1 MiB.
pub fn swept() -> Record {
    let values = (9..=20).map(|power| 1_u64 << power).collect();
    let mut record = sweep_of(
        vec![VariedParam { axis: SweepAxis::Block, values }],
        &["--over", "bs=512..1M", "/mnt/sd"],
    );
    judged(&mut record, "write-256k", 24e6, unsteady());
    judged(&mut record, "read-8k", 2.31e9, memory());
    record
}

/// Over two things: sizes and depths.
pub fn grid() -> Record {
    let over = vec![
        VariedParam { axis: SweepAxis::Block, values: vec![2048, 4096, 65536, 1 << 20] },
        VariedParam { axis: SweepAxis::Depth, values: vec![1, 2, 4, 8] },
    ];
    let typed = ["--over", "bs=2k,4k,64k,1M", "--over", "depth=1..8", "/mnt/sd"];
    let mut record = sweep_of(over, &typed);
    judged(&mut record, "write-64k-q8", 19e6, unsteady());
    judged(&mut record, "read-4k-q1", 1.04e9, memory());
    record
}
