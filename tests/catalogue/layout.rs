//! Data that are not there, not all there, or in pieces.

use std::fs;
use std::path::Path;

use assay_plan::plan::Action;
use assay_record::evidence::Snapshot;
use assay_record::record::{MeasuredSubject, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::{Heard, hear, hear_json, put};
use crate::lab::{self, Card, Emulated, Fs, MI, Shape, Speed};
use crate::row::Row;
use crate::shelf::{Shelf, blocks, dd, finding, heard, pattern, plan, run, run_plan};

crate::cases! {
    beside: [],
    alone: [
        t21_t22_sectors_of_4096_bytes,
        t23_holes_on_ext4,
        t23_holes_on_xfs,
        t23_holes_on_btrfs,
        t23_t31_what_trims_cause,
        t25_zeros_on_a_layer_that_compresses,
        t25_blocks_that_two_files_share,
        t38_a_file_in_pieces,
        t39_reading_that_writes,
        t40_trimmed_by_the_file_system,
    ],
}

fn t21_t22_sectors_of_4096_bytes(_: &Shelf) -> Rows {
    let mut drive = Emulated::new(32 * MI)?;
    let write = |device: &Path, block: &str| {
        let to = format!("of={}", device.display());
        let words = ["dd", "if=/dev/zero", "count=200", "oflag=direct", "conv=fsync", block];
        heard(hear(lab::assay(words).word(to)))
    };
    let parts = write(drive.device(), "bs=512");
    let whole = write(drive.device(), "bs=4k");
    let early = drive.partition(63, 8192)?;
    let early = write(&early, "bs=4k");
    let later = drive.partition(16_384, 8192)?;
    let later = write(&later, "bs=4k");
    assert!(
        finding(&parts, "T21")
            .text()
            .contains("512 B is not a multiple of the physical sector of "),
        "{parts}"
    );
    let start = &finding(&early, "T22").because[0];
    assert_eq!(start.value(), "32256 bytes", "{early}");
    Ok(vec![
        Row::named("T21", "dd bs=512 oflag=direct, sectors of 4096 below", &parts),
        Row::silent("T21", "the same with bs=4k", &whole),
        Row::named("T22", "dd bs=4k oflag=direct to a partition from sector 63 of it", &early),
        Row::silent("T22", "the same from sector 16384", &later),
    ])
}

/// What the cards of holes read, bytes per second.
const READS: f64 = 16.0 * MI as f64;

fn t23_holes_on_ext4(_: &Shelf) -> Rows {
    holes(Fs::Ext4)
}

fn t23_holes_on_xfs(_: &Shelf) -> Rows {
    holes(Fs::Xfs)
}

fn t23_holes_on_btrfs(_: &Shelf) -> Rows {
    holes(Fs::Btrfs)
}

fn holes(fs: Fs) -> Rows {
    let card = Card::new(Shape { fs, size: 320 * MI, ..Shape::paced() })?;
    let holes = card.holes(16 * MI);
    let read = |file: &Path, flag: &str| {
        lab::cold(file).expect("dropped");
        let from = format!("if={}", file.display());
        heard(hear(lab::assay(["dd", "of=/dev/null", "bs=1M"]).word(from).word(flag)))
    };
    let name = fs.kind().expect("a file system");
    let mut rows = Vec::new();
    for (file, what) in [(&holes.hole, "holes"), (&holes.unwritten, "unwritten extents")] {
        for (flag, way) in [("iflag=direct", "direct"), ("iflag=fullblock", "buffered")] {
            let found = read(file, flag);
            found.expect(Trust::Wrong, MeasuredSubject::Layer);
            rows.push(Row::named("T23", format!("dd reads {what} on {name}, {way}"), &found));
        }
    }
    let eighth = read(&holes.eighth, "iflag=direct");
    assert_eq!(eighth.verdict().trust, Trust::Wrong, "{eighth}");
    rows.push(Row::named("T23", format!("dd reads one eighth data on {name}"), &eighth));
    let written = read(&holes.written, "iflag=direct");
    written.expect(Trust::Sound, MeasuredSubject::Device);
    rows.push(Row::silent("T23", format!("dd reads data on {name}"), &written));
    Ok(rows)
}

/// Direct reads among many trims of a file of 256 MiB, slow enough for several commits of a file
/// system that commits each second.
fn reads_among_trims(card: &Card, order: &str, seconds: u64) -> Heard {
    put(card, "x", 256 * MI);
    let words = json!({
        "caching": "direct",
        "pattern": {
            "mix": [{ "action": "read", "weight": 2 }, { "action": "trim", "weight": 98 }],
            "block": { "fixed": 4096 }, "order": order,
        },
    });
    let mut job = blocks(card, 256 * MI, "existing", words);
    job["rate"] = json!({ "caps": { "all": { "iops": 14_000.0 } } });
    job["stop"] = json!({ "first_of": [{ "passes": 1 }, { "time": seconds * 1_000_000_000 }] });
    run(card, &job)
}

/// Bytes written to the device that the path names, during the first phase.
fn written_during(heard: &Heard) -> u64 {
    let evidence = &heard.phase().evidence;
    let written = |snapshot: &Snapshot| {
        let counters = snapshot.devices.first().and_then(|device| device.counters.seen());
        counters.unwrap_or_else(|| panic!("no counters\n{heard}")).write_bytes
    };
    written(&evidence.stop) - written(&evidence.before)
}

fn t23_t31_what_trims_cause(_: &Shelf) -> Rows {
    let card = Card::new(Shape {
        speed: Speed::bytes(64 * MI, 64 * MI),
        size: 512 * MI,
        mount: "commit=1",
        ..Shape::paced()
    })?;
    let once = reads_among_trims(&card, "shuffled", 6);
    // Far more than a run without trims could explain.
    assert!(written_during(&once) > 512 << 10, "{} bytes\n{once}", written_during(&once));
    assert!(!once.found("T19") && !once.found("T23"), "{once}");
    let again = reads_among_trims(&card, "uniform", 2);
    let found = finding(&again, "T23");
    assert!(found.text().contains("had been trimmed earlier in the same phase"), "{again}");
    assert_eq!(found.measures, Some(MeasuredSubject::Layer), "{again}");
    assert!(!again.found("T31") && !again.found("T19"), "{again}");
    Ok(vec![
        Row::silent("T31", "reads among trims, each place once", &once),
        Row::named("T23", "reads among trims, places again", &again),
    ])
}

fn t25_zeros_on_a_layer_that_compresses(_: &Shelf) -> Rows {
    let card = Card::compress()?;
    let zeros = dd(&card, "if=/dev/zero of={x} bs=1M count=64 conv=fsync");
    zeros.expect(Trust::Wrong, MeasuredSubject::Layer);
    let noise = dd(&card, "if=/dev/urandom of={x} bs=1M count=16 conv=fsync");
    assert_ne!(noise.verdict().measures, MeasuredSubject::Layer, "{noise}");
    Ok(vec![
        Row::named("T25", "dd writes zeros to btrfs with compress-force", &zeros),
        Row::silent("T25", "dd writes noise there", &noise),
    ])
}

fn t25_blocks_that_two_files_share(_: &Shelf) -> Rows {
    let card = Card::new(Shape { speed: Speed::FREE, ..Shape::btrfs() })?;
    let from = put(&card, "x", 16 * MI);
    let copy = json!({
        "from": { "path": from }, "to": { "path": card.path("to") }, "calls": "copy_file_range",
        "input_block": MI, "output_block": MI, "block_for_block": true,
    });
    let job = json!({ "name": "copy", "work": { "copy": copy } });
    let shared = run_plan(&plan(&job), |typed| typed);
    shared.expect(Trust::Wrong, MeasuredSubject::Layer);
    let same = fs::read(&from).expect("there") == fs::read(card.path("to")).expect("there");
    assert!(same, "the copy differs");
    Ok(vec![Row::named("T65", "a copy by copy_file_range on btrfs", &shared)])
}

fn t38_a_file_in_pieces(_: &Shelf) -> Rows {
    let card = Card::new(Shape { size: 64 * MI, ..Shape::paced() })?;
    card.crumble();
    put(&card, "x", 8 * MI);
    let crumbs = dd(&card, "if={x} of=/dev/null bs=1M iflag=direct");
    let claim = &finding(&crumbs, "T38").text();
    assert!(claim.contains(" extents: calls of 1 MiB reached "), "{crumbs}");
    let row = Row::named("T38", "dd reads a file in pieces of 64 KiB", &crumbs);
    Ok(vec![row.between(crumbs.rate(Action::Read), READS, 0.9, 1.03)])
}

/// Reads of many files on a mount with these options, by somebody who may not ask for `O_NOATIME`, and
/// slow enough for the file system to write its records meanwhile.
fn reads_of_many_files(options: &'static str) -> Result<Heard, lab::Skip> {
    let card = Card::new(Shape { mount: options, ..Shape::fast() })?;
    card.freely(|| {
        let folder = card.path("many");
        fs::create_dir(&folder)?;
        (0..4000).try_for_each(|n| fs::write(folder.join(format!("x.{n}")), [7; 4096]))
    });
    lab::drop_caches().expect("dropped");
    let work = json!({
        "target": { "files": {
            "dirs": [card.path("many")], "stem": "x", "count": 4000, "shared": true,
            "size": { "exactly": 4096 }, "layout": "existing",
        } },
        "pattern": {
            "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 4096 },
        },
    });
    let job = json!({
        "name": "job", "work": { "blocks": work }, "rate": { "caps": { "all": { "iops": 1500.0 } } },
        "stop": { "first_of": [{ "passes": 1 }] },
    });
    let place = lab::folder("reader");
    let file = place.path().join("plan.json");
    fs::write(&file, plan(&job).to_string()).expect("the plan can be written");
    Ok(heard(hear_json(lab::assay(["run", "--json"]).word(&file).by_nobody(&place)?)))
}

fn t39_reading_that_writes(_: &Shelf) -> Rows {
    let strict = reads_of_many_files("strictatime,commit=1")?;
    let never = reads_of_many_files("noatime,commit=1")?;
    Ok(vec![
        Row::named("T39", "nobody reads 4000 small files, mounted with strictatime", &strict),
        Row::silent("T39", "the same with noatime", &never),
    ])
}

fn t40_trimmed_by_the_file_system(_: &Shelf) -> Rows {
    let card = Card::new(Shape { mount: "discard,commit=1", ..Shape::fast() })?;
    put(&card, "x", 64 * MI);
    let large = put(&card, "large", 64 * MI);
    // Long enough for a commit, after which the file system trims.
    let reads = || {
        let words = json!({ "caching": "direct", "pattern": pattern("read", "uniform", 65_536) });
        let mut job = blocks(&card, 64 * MI, "existing", words);
        job["stop"] = json!({ "first_of": [{ "time": 2_500_000_000_u64 }] });
        run(&card, &job)
    };
    let nothing = reads();
    fs::remove_file(large).expect("removed");
    let trimmed = reads();
    assert!(finding(&trimmed, "T40").text().contains("mounted with discard"), "{trimmed}");
    Ok(vec![
        Row::named("T40", "reads after a large file was removed, mounted with discard", &trimmed),
        Row::silent("T40", "the same when nothing was removed", &nothing),
    ])
}
