//! Runs whose figure is memory's, over file systems, devices and tools: what assay says of the device instead.

use super::lab::{Card, Fs, MI, Shape, Skip, Speed};
use super::scene::{Beside, assay, operand};

use serde_json::Value;

/// What a card is.
pub struct Device {
    pub name: &'static str,
    fs: Fs,
    mount: &'static str,
    /// A limit of the kernel; else nothing shows why it is slow.
    limited: bool,
    /// Bytes per second.
    pub read: u64,
    pub write: u64,
}

/// A tool and its words.
pub struct Deferred {
    pub name: &'static str,
    run: fn(&Card) -> Beside,
}

/// A card whose flush ends while it is watched.
const EXT4: Device =
    Device { name: "ext4", fs: Fs::Ext4, mount: "", limited: false, read: 32 * MI, write: 8 * MI };

pub const DEVICES: &[Device] = &[
    EXT4,
    Device { name: "ext4, 16 MiB/s", read: 64 * MI, write: 16 * MI, ..EXT4 },
    Device { name: "ext4 noatime", mount: "noatime", ..EXT4 },
    Device { name: "ext4 data=writeback", mount: "data=writeback", ..EXT4 },
    Device { name: "ext4, 4 MiB/s", read: 16 * MI, write: 4 * MI, ..EXT4 },
    Device { name: "limited ext4", limited: true, ..EXT4 },
    Device { name: "limited XFS", fs: Fs::Xfs, limited: true, ..EXT4 },
    Device { name: "XFS", fs: Fs::Xfs, ..EXT4 },
    Device { name: "XFS, 16 MiB/s", fs: Fs::Xfs, read: 64 * MI, write: 16 * MI, ..EXT4 },
    Device { name: "btrfs", fs: Fs::Btrfs, ..EXT4 },
    Device { name: "btrfs, 16 MiB/s", fs: Fs::Btrfs, read: 64 * MI, write: 16 * MI, ..EXT4 },
];

pub const RUNS: &[Deferred] = &[
    Deferred { name: "dd", run: |card| dd(card, "bs=1M count=24") },
    Deferred { name: "dd 64k", run: |card| dd(card, "bs=64k count=320") },
    Deferred { name: "fio", run: |card| fio(card, "--rw=write --bs=64k --size=24m") },
    Deferred { name: "fio, random", run: |card| fio(card, "--rw=randwrite --bs=64k --size=16m") },
    Deferred { name: "iozone", run: iozone },
    Deferred { name: "io --buffered", run: io },
];

impl Device {
    /// Does a run on it; the record.
    pub fn record(&self, run: &Deferred) -> Result<Value, Skip> {
        let of = if self.limited { Shape::sdcard() } else { Shape::paced() };
        let size = if self.fs == Fs::Ext4 { 192 * MI } else { 512 * MI };
        let speed = Speed::bytes(self.read, self.write);
        let card = Card::new(Shape { size, fs: self.fs, mount: self.mount, speed, ..of })?;
        Ok((run.run)(&card).within(card.rooms()).first().run())
    }
}

fn dd(card: &Card, words: &str) -> Beside {
    assay(["dd", "if=/dev/zero"]).split(words).word(operand("of", card.path("x")))
}

fn fio(card: &Card, words: &str) -> Beside {
    assay(["fio", "--name=x"]).split(words).word(operand("--directory", card.mount()))
}

fn iozone(card: &Card) -> Beside {
    assay(["iozone", "-s", "16m", "-r", "256k", "-i0", "-i1", "-f"]).word(card.path("x"))
}

fn io(card: &Card) -> Beside {
    let run = assay(["io", "--rw", "write", "--bs", "256k", "--size", "24M", "--time", "1"]);
    run.word("--buffered").word(card.mount())
}
