//! The lab: storage of known true speed and known faults, made for one test and gone after it.
//!
//! A benchmark can only be tested against disks whose speed is known beforehand. The lab makes such
//! disks out of loop devices, throttles, file systems and FUSE servers. Every part is an owner that
//! cleans up when it is dropped; what a killed test leaves behind, the next run removes.
//!
//! A test asks for what it needs, and says so by being skipped where the machine cannot give it:
//!
//! ```ignore
//! use assay_testing::lab;
//!
//! #[test]
//! fn quick_tells_the_truth() {
//!     let _alone = lab::alone();
//!     let card = lab::need!(lab::Card::sdcard());
//!     let ran = lab::assay(["quick"]).word(card.path("x")).within(card.rooms()).run();
//!     assert_eq!(ran.code(), 0, "{ran}");
//! }
//! ```
//!
//! Two rules. What times something holds [`alone`] while it does, or [`beside`] where it waits for a slow card. What fails unexpectedly while the
//! lab is being set up panics with what the tool said: only what the machine cannot do is a [`Skip`].

use std::path::PathBuf;

mod alone;
mod card;
mod dedup;
mod den;
mod dirty;
mod emulated;
mod fake;
mod faulty;
mod gauge;
mod group;
mod memory;
mod nature;
mod noise;
mod paced;
mod seccomp;
mod setting;
mod skip;
mod speed;
mod swap;
mod typed;

pub use crate::need;
pub use alone::{Alone, alone, beside};
pub use card::{Bursts, Card, Fs, Holes, Image, Knob, Shape, Slowness, Stalls};
pub use den::{Folder, copy_program, folder, sweep};
pub use dirty::DirtyLimit;
pub use emulated::Emulated;
pub use fake::Fake;
pub use faulty::{Counts, FaultRule, Faults, FaultyFuse, Op, on};
pub use gauge::{
    Leaf, Measured, cold, drop_caches, read, read_direct, write_direct, write_then_fsync,
};
pub use group::{Group, Joined, Limits, Room, command_in, limit_cpu, limit_mem};
pub use memory::{Memory, Mounted, OverCard, Overlay, RamDisk};
pub use nature::Nature;
pub use noise::Noise;
pub use paced::{Asked, Backing, PacedFuse};
pub use seccomp::Seccomp;
pub use setting::Setting;
pub use skip::{Skip, need_fuse, need_root, need_tool, skipped};
pub use speed::Speed;
pub use swap::{Hungry, Swap};
pub use typed::{Ran, Typed, assay, run_plan};

/// The program that cargo has just built: it stands above the folder of the test that asks.
///
/// # Panics
/// If this is no test of the package `assay`.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test program");
    let program = test.ancestors().nth(2).expect("the folder of the build").join("assay");
    assert!(
        program.exists(),
        "{} is not there: cargo builds it for tests of 'assay'",
        program.display()
    );
    program
}

/// 2^10 bytes.
pub const KI: u64 = 1 << 10;
/// 2^20 bytes.
pub const MI: u64 = 1 << 20;
