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
