//! Pages beside other tools' words at the widths of terminals: ATTO's table, profiles of other programs, and
//! what stands on standard error beside dd's and Bonnie++'s output.

use std::process::Command;

use assay::dialect::atto::{AttoMode, AttoOptions, AttoTable};
use assay::report::sweep::SweepUnit;
use assay::report::{ReportPage as _, TerminalStyle, remarks, verdict_lines};
use assay_plan::plan::{Action, BlockSize, Caching, Fill, Plan, Work};
use assay_plan::unit::{Bytes, MIB, Nanos, Timestamp};
use assay_record::record::{MeasuredSubject, PhaseRecord, Record, Trust, Verdict};

use crate::common::pages::{UNICODE, golden_at_widths, page};
use crate::common::{Shape, card_limits, card_subject, memory, phase, record, resolved, sound};

/// The plan that a line makes, for a card at `/mnt/sd`.
fn planned(words: &[&str]) -> Plan {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let done = command.args(words).args(["--seed", "1", "--plan"]).arg(folder.path()).output();
    let text = String::from_utf8(done.expect("it runs").stdout).expect("text");
    let text = text.replace(folder.path().to_str().expect("text"), "/mnt/sd");
    serde_json::from_str(&text).expect("a plan")
}

/// What a card leaves that takes 1 ms for each request, and 40 MB/s.
fn done(plan: &Plan) -> Record {
    let phases = plan.phases.iter().map(|planned| {
        let Work::Blocks(blocks) = &planned.jobs[0].work else { panic!("{}", planned.name) };
        let BlockSize::Fixed(block) = blocks.pattern.block else { panic!("{}", planned.name) };
        let writes = blocks.pattern.mix.writes();
        let action = if writes { Action::Write } else { Action::Read };
        let rate = block.0 as f64 / (1e-3 + block.0 as f64 / 40e6);
        let shape = Shape {
            name: "",
            action,
            block,
            depth: blocks.iodepth,
            rate,
            seconds: 2,
            device: "loop3",
        };
        let mut done = phase(&shape, Timestamp(0));
        done.name.clone_from(&planned.name);
        done.verdict = Some(sound(MeasuredSubject::Device, "This is the speed of the device."));
        done
    });
    let phases: Vec<PhaseRecord> = phases.collect();
    let mut made = resolved(plan, card_subject("/mnt/sd"), card_limits(), Caching::Direct);
    made.jobs.iter_mut().for_each(|job| job.size = Bytes(128 * MIB));
    let verdict = sound(MeasuredSubject::Device, "This is the speed of the device.");
    record(plan.clone(), made, phases, verdict)
}

/// One of its phases came out of memory.
fn from_memory(record: &mut Record, name: &str) {
    let said = "This is the speed of memory: loop3 sent no byte.";
    let verdict = Verdict { trust: Trust::Wrong, ..sound(MeasuredSubject::Memory, said) };
    let phase = record.phases.iter_mut().find(|phase| phase.name == name).expect("there");
    phase.verdict = Some(verdict.clone());
    record.verdict = Some(verdict);
}

#[test]
fn attos_table_fits() {
    let plan = planned(&["atto", "--sizes", "4k,64k,1M", "-l", "2M", "--description", "card"]);
    let options = AttoOptions {
        sizes: [4096, 65_536, MIB].map(Bytes).into(),
        length: Bytes(2 * MIB),
        depth: 4,
        mode: AttoMode::Overlapped,
        direct: true,
        write_through: false,
        verify: false,
        data: Fill::Zero,
        row_limit: Nanos::secs(20),
        unit: SweepUnit::Bytes,
        description: "card".into(),
        seed: 1,
        words: Vec::new(),
    };
    let mut done = done(&plan);
    from_memory(&mut done, "read-64k");
    golden_at_widths("atto", |style| {
        let mut out = Vec::new();
        let mut page = AttoTable::new(&options, style);
        page.opening(&plan, &done.resolved, &mut out).expect("written");
        for phase in &done.phases {
            page.phase(&done, phase, &mut out).expect("written");
        }
        page.closing(&done, &mut out).expect("written");
        String::from_utf8(out).expect("text")
    });
}

#[test]
fn profiles_fit() {
    for name in ["cdm", "as-ssd", "gnome"] {
        let plan = planned(&["quick", "--profile", name]);
        let mut done = done(&plan);
        let read = plan.phases.iter().rev().find(|phase| phase.name.contains("read"));
        from_memory(&mut done, &read.expect("reads").name);
        golden_at_widths(&format!("profile-{name}"), |style| page(&done, style));
    }
}

/// Lines as they are printed.
fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_stands_beside_dd_and_bonnie_fits_a_terminal_and_is_whole_elsewhere() {
    let dd = crate::common::deferred();
    golden_at_widths("dd", |style| lines(&verdict_lines(&dd, style)));
    let mut bonnie = crate::common::card();
    let wrong = memory().verdict.expect("judged");
    bonnie.phases.iter_mut().for_each(|phase| phase.verdict = Some(wrong.clone()));
    let beside = |style| remarks(&bonnie, |phase| Some(phase.name.clone()), style);
    golden_at_widths("bonnie", |style| lines(&beside(style)));
    // For scripts each is one line, with the name of the program before it.
    let whole = TerminalStyle { width: usize::MAX, ..UNICODE };
    for line in verdict_lines(&dd, whole).iter().chain(&beside(whole)) {
        assert!(line.starts_with("assay: ") && !line.contains('\n'), "{line}");
    }
}
