//! Where the evidence cannot be seen, what is no disk, and devices that forget.

use std::fs;
use std::os::unix::fs::FileExt;

use assay_plan::plan::Action;
use assay_record::record::{Ending, MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::{harmless, hear, hear_json, put};
use crate::lab::{self, MI, Seccomp, Setting};
use crate::row::Row;
use crate::shelf::{Shelf, blocks, dd, finding, heard, kib, pattern, run};

crate::cases! {
    beside: [],
    alone: [
        t00_counters_that_are_switched_off,
        t00_a_sandbox,
        t00_a_user_without_rights,
        t29_memory_and_nothing,
        t48_a_device_that_forgets,
    ],
}

/// `cachestat`, which has the same number everywhere.
const CACHESTAT: libc::c_long = 451;

fn t00_counters_that_are_switched_off(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 16 * MI);
    let off = Setting::queue(&card.leaf_name(), "iostats", "0")?;
    let blind = dd(card, "if={x} of=/dev/null bs=1M iflag=direct");
    drop(off);
    blind.expect(Trust::Unproven, MeasuredSubject::Unsure);
    Ok(vec![Row::named("T00", "dd from a device with iostats 0", &blind)])
}

/// The run works, and each phase has moved something.
fn works(heard: &crate::kernel::Heard) {
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    for phase in &heard.record.phases {
        assert!(phase.faults.is_empty(), "{:?}\n{heard}", phase.faults);
        let moved: u64 = phase.totals.values().map(|total| total.bytes.0).sum();
        assert!(moved > 0, "{}: nothing was moved\n{heard}", phase.name);
    }
}

fn t00_a_sandbox(_: &Shelf) -> Rows {
    let place = lab::folder("sandbox");
    let quick = lab::assay(["quick", "--time", "3", "--size", "16M", "--json", "."]);
    let typed = quick.hiding(&["/sys"])?.by_nobody(&place)?;
    let typed = typed.lacking(&Seccomp::answering(&[CACHESTAT], libc::ENOSYS)?);
    let blind = heard(hear_json(typed));
    works(&blind);
    assert_eq!(blind.verdict().trust, Trust::Unproven, "{blind}");
    let found = finding(&blind, "T00");
    assert!(found.text().contains("could not be found"), "{blind}");
    assert!(found.because.iter().any(|shown| shown.value().contains("/sys/")), "{blind}");
    assert_eq!(blind.ran.code(), 3, "{blind}");
    assert!(!blind.record.machine().root, "{blind}");
    Ok(vec![Row::named("T00", "quick by nobody, without /sys and cachestat", &blind)])
}

/// What needs no rights is seen without them.
fn t00_a_user_without_rights(_: &Shelf) -> Rows {
    let place = lab::folder("nobody");
    let typed = lab::assay(["dd", "if=/dev/zero", "of=x", "bs=1M", "count=256", "conv=fsync"]);
    let record = place.path().join("mine/record.json");
    let ran = typed.env("ASSAY_RECORD", &record).by_nobody(&place)?.run().expect(0);
    let record = assay_record::record::load(&record).expect("a record");
    let seen = heard(crate::kernel::Heard { ran, record });
    works(&seen);
    assert!(!seen.record.machine().root, "{seen}");
    Ok(vec![Row::silent("T00", "dd by nobody, with what everybody may see", &seen)])
}

fn t29_memory_and_nothing(_: &Shelf) -> Rows {
    let tmpfs = lab::Memory::tmpfs()?;
    let overlay = lab::Overlay::on_tmpfs()?;
    let mut rows = Vec::new();
    for (path, name) in [(tmpfs.path("x"), "tmpfs"), (overlay.path("x"), "overlay on tmpfs")] {
        let (to, from) = (format!("of={}", path.display()), format!("if={}", path.display()));
        for (words, how) in [
            (vec!["if=/dev/zero", to.as_str(), "bs=1M", "count=64"], "writes to"),
            (vec!["if=/dev/zero", to.as_str(), "bs=64M", "count=1"], "writes one block to"),
            (vec![from.as_str(), "of=/dev/null", "bs=1M"], "reads from"),
        ] {
            let found = heard(hear(lab::assay(["dd"]).words(&words)));
            harmless(&found.ran);
            found.expect(Trust::Wrong, MeasuredSubject::NotADisk);
            assert_eq!(found.ran.code(), 0, "{found}");
            rows.push(Row::named("T29", format!("dd {how} {name}"), &found));
        }
    }
    let words = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=1000"];
    let nothing = heard(hear(lab::assay(words)));
    harmless(&nothing.ran);
    nothing.expect(Trust::Wrong, MeasuredSubject::Tool);
    // Nothing left memory, and nothing says otherwise: the last line is dd's.
    let last = nothing.ran.stderr.lines().next_back().unwrap_or_default();
    assert!(last.starts_with("1048576000 bytes (1.0 GB, 1000 MiB) copied, "), "{nothing}");
    rows.push(Row::named("T29", "dd from /dev/zero to /dev/null", &nothing));
    Ok(rows)
}

fn t48_a_device_that_forgets(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let job = |action: &str, layout: &str, verify: &str| {
        let mut words = pattern(action, "forward", kib(64));
        words["verify"] = json!(verify);
        let mut job = blocks(
            card,
            64 * MI,
            layout,
            json!({ "caching": "direct", "durability": "fsync_at_end", "pattern": words }),
        );
        if action == "read" {
            job["work"]["blocks"]["durability"] = json!("none");
        }
        job["work"]["blocks"]["target"]["file"]["lifetime"] = json!("keep");
        job
    };
    let written = run(card, &job("write", "truncated", "none"));
    assert_eq!(written.record.ending, Ending::Complete, "{written}");
    let whole = run(card, &job("read", "existing", "full"));
    assert_eq!(whole.phase().totals[&Action::Read].mismatches, 0, "{whole}");
    let file = fs::File::options().write(true).open(card.path("x")).expect("it is there");
    file.write_all_at(&[0; 4096], 32 * MI).expect("harmed");
    file.sync_all().expect("flushed");
    lab::cold(&card.path("x")).expect("dropped");
    let harmed = run(card, &job("read", "existing", "full"));
    harmed.expect(Trust::Wrong, MeasuredSubject::Invalid);
    Ok(vec![
        Row::silent("T48", "data are read back and verified", &whole),
        Row::named("T48", "the same after 4 KiB of them were lost", &harmed),
    ])
}
