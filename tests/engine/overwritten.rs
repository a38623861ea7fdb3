//! Small file systems that keep what was overwritten until they commit: every verb that overwrites chooses
//! sizes by which it comes to its end.

use crate::lab::{self, Card, Image, MI, Shape, Speed};

/// Types it at a fresh btrfs of so many MiB. It must neither fail nor run into the end of the space.
fn ends_well(size: u64, words: &[&str]) {
    let shape = Shape {
        size: size * MI,
        image: Image::Thin((size + 128) * MI),
        speed: Speed::FREE,
        ..Shape::btrfs()
    };
    let card = lab::need!(Card::new(shape));
    let ran = lab::assay(words).word(card.mount()).run();
    assert!(matches!(ran.code(), 0 | 3), "{size} MiB: {words:?}\n{ran}");
    assert!(!ran.stdout.contains("ENOSPC"), "{size} MiB: {words:?}\n{ran}");
}

#[test]
fn the_ways_of_modes_fit_on_a_small_btrfs() {
    for size in [512, 768, 1024] {
        ends_well(size, &["modes", "--quick"]);
    }
}

#[test]
fn quick_fits_on_a_small_btrfs() {
    for size in [512, 1024] {
        ends_well(size, &["quick", "--quick"]);
    }
}

#[test]
fn sweeps_and_ramps_fit_on_a_small_btrfs() {
    for size in [512, 1024] {
        ends_well(size, &["sweep", "--over", "bs=4k,1M", "--action", "write", "--time", "6s"]);
        for action in ["read", "write"] {
            ends_well(
                size,
                &[
                    "ramp",
                    "--action",
                    action,
                    "--step",
                    "1s",
                    "--max-depth",
                    "4",
                    "--max-workers",
                    "2",
                ],
            );
        }
    }
}

#[test]
fn what_is_overwritten_without_an_end_fits_on_a_small_btrfs() {
    ends_well(512, &["quick", "--profile", "cdm", "--loops", "1", "--time", "24", "--size", "64M"]);
    ends_well(512, &["sustain", "--time", "25s"]);
}

#[test]
fn a_size_that_leaves_no_room_for_what_is_kept_is_refused_before_anything_is_touched() {
    let shape = Shape {
        size: 512 * MI,
        image: Image::Thin(640 * MI),
        speed: Speed::FREE,
        ..Shape::btrfs()
    };
    let card = lab::need!(Card::new(shape));
    for words in [
        &["quick", "--size", "300M", "--time", "3"][..],
        &["io", "--rw", "randwrite", "--size", "300M", "--time", "1"],
        &["ramp", "--action", "write", "--size", "300M", "--step", "1", "--max-depth", "1"],
        &["atto", "--length", "300M", "--sizes", "1M"],
    ] {
        let ran = lab::assay(words).word(card.mount()).run().expect(2);
        assert_eq!(std::fs::read_dir(card.mount()).expect("there").count(), 0, "{ran}");
        assert!(ran.stderr.contains("half is for what btrfs keeps of overwritten blocks"), "{ran}");
        // As much as is named fits.
        let option = if words[0] == "atto" { "-l" } else { "--size" };
        let most = ran.stderr.split(&format!("give {option} ")).nth(1);
        let most = most.and_then(|rest| rest.split(' ').next()).expect("a size");
        let fitting: Vec<&str> =
            words.iter().map(|word| if *word == "300M" { most } else { word }).collect();
        lab::assay(&fitting).word(card.mount()).word("--plan").run().expect(0);
    }
    // What is written once has all of it.
    let read = ["io", "--size", "300M", "--time", "1", "--plan"];
    lab::assay(read).word(card.mount()).run().expect(0);
}
