//! Honest runs over file systems, devices and tools: each work in each place that it makes sense in. None may be
//! called wrong.

use std::path::{Path, PathBuf};

use super::lab::{self, Card, Fs, MI, Noise, Overlay, RamDisk, Room, Shape, Skip, Speed};
use super::scene::{
    About, Beside, READ, Tried, Truth, Upon, WRITE, assay, limited, operand, paced, paced_at,
    paced_of, room_for,
};

/// Where works are done.
pub struct Place {
    pub name: &'static str,
    pub made: &'static str,
    /// Makes it, and does something there.
    with: fn(&Doing) -> Result<Tried, Skip>,
    /// A work of a few MiB takes no time there, or zeros are no data: only what takes its time and brings data of
    /// its own says something.
    fast: bool,
    /// It is memory, which is what is to be said of it.
    pub memory: bool,
    /// Direct writes go through the page cache there: ext4 that journals data, btrfs with checksums (Linux 6.15).
    buffers: bool,
}

type Doing<'a> = dyn Fn(&Site) -> Result<Tried, Skip> + 'a;

impl Place {
    const fn new(
        name: &'static str,
        made: &'static str,
        with: fn(&Doing) -> Result<Tried, Skip>,
    ) -> Self {
        Self { name, made, with, fast: false, memory: false, buffers: false }
    }

    const fn fast(self) -> Self {
        Self { fast: true, ..self }
    }

    const fn memory(self) -> Self {
        Self { memory: true, ..self.fast() }
    }

    const fn buffers(self) -> Self {
        Self { buffers: true, ..self }
    }
}

/// A folder on a device.
struct Site<'a> {
    folder: &'a Path,
    rooms: &'a [Room],
    /// What it can do when nothing holds it.
    card: Option<&'a Card>,
}

impl Site<'_> {
    /// A path on it.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A file on it, none of it in memory; made at full speed.
    fn file(&self, bytes: u64) -> PathBuf {
        let path = self.path("made");
        let make = || lab::write_direct(&path, bytes, MI).map(drop);
        match self.card {
            Some(card) => card.freely(make),
            None => make().expect("a file"),
        }
        lab::cold(&path).expect("a file that is not cached");
        path
    }
}

/// What is done there.
pub struct Work {
    pub name: &'static str,
    run: fn(&Site) -> Beside,
    /// It ends after some MiB of zeros, however long that takes.
    brief: bool,
    /// It asks for direct I/O.
    direct: bool,
}

impl Work {
    const fn new(name: &'static str, run: fn(&Site) -> Beside) -> Self {
        Self { name, run, brief: false, direct: false }
    }

    const fn brief(self) -> Self {
        Self { brief: true, ..self }
    }

    const fn direct(self) -> Self {
        Self { direct: true, ..self }
    }

    /// Whether this says something there.
    pub fn fits(&self, place: &Place) -> bool {
        !(place.fast && self.brief || place.buffers && self.direct)
    }

    /// Does it there.
    pub fn play(&self, place: &Place) -> Result<Tried, Skip> {
        (place.with)(&|site| {
            let run = (self.run)(site).within(site.rooms);
            // Only the trust counts.
            Truth::of(About::Device, &[]).with(run.first().run())
        })
    }
}

const SLOW: &str = "a device of 8 and 32 MiB/s";
const LIMITED: &str = "a limit of the root group";

pub const PLACES: &[Place] = &[
    Place::new("ext4", SLOW, |work| on_card(&paced()?, work)),
    Place::new("ext4 noatime", SLOW, |work| on_card(&paced_of(Fs::Ext4, "noatime")?, work)),
    Place::new("ext4 -o sync", SLOW, |work| on_card(&paced_of(Fs::Ext4, "sync")?, work)),
    Place::new("ext4 data=journal", SLOW, |work| {
        on_card(&paced_of(Fs::Ext4, "data=journal")?, work)
    })
    .buffers(),
    Place::new("XFS", SLOW, |work| on_card(&paced_of(Fs::Xfs, "")?, work)),
    Place::new("btrfs", SLOW, |work| on_card(&paced_of(Fs::Btrfs, "")?, work)).buffers(),
    Place::new("limited ext4", LIMITED, |work| on_card(&limited(READ, WRITE)?, work)),
    Place::new("limited XFS", LIMITED, limited_xfs),
    Place::new("150 requests/s", LIMITED, |work| on_card(&Card::hdd()?, work)).fast(),
    Place::new("loop upon a card", "with direct I/O", on_loop),
    Place::new("overlay", "upon a card", on_overlay),
    Place::new("beside a busy disk", "a writer on a second card", beside_busy),
    Place::new("42 MiB/s", "a device of 42 and 200 MiB/s", |work| on_card(&paced_at(EMMC)?, work)),
    Place::new("no limit", "a loop device", |work| on_card(&Card::fast()?, work)).fast(),
    Place::new("zram, ext4", "RAM", on_zram).memory(),
];

pub const WORKS: &[Work] = &[
    Work::new("dd, fdatasync", |site| dd(site, "bs=1M count=24 conv=fdatasync")).brief(),
    Work::new("dd 64k, fsync", |site| dd(site, "bs=64k count=384 conv=fsync")).brief(),
    Work::new("dd, dsync", |site| dd(site, "bs=512k count=32 oflag=dsync")).brief(),
    Work::new("dd, direct", |site| dd(site, "bs=1M count=24 oflag=direct")).brief().direct(),
    Work::new("dd, reads", |site| dd_reads(site, "bs=128k")).brief(),
    Work::new("dd, reads direct", |site| dd_reads(site, "bs=1M iflag=direct")).brief().direct(),
    Work::new("io, reads", |site| io(site, "--rw read --bs 256k")).direct(),
    Work::new("io, 4 reads", |site| io(site, "--rw randread --bs 64k --depth 4")).direct(),
    Work::new("io, writes", |site| io(site, "--rw write --bs 256k")).direct(),
    Work::new("io, mixed", |site| io(site, "--rw randrw --bs 64k --depth 2")).direct(),
    Work::new("fio, reads", |site| fio(site, "--rw=read --bs=256k")).direct(),
    Work::new("fio, 4 writes", |site| {
        fio(site, "--rw=randwrite --bs=64k --iodepth=4 --ioengine=libaio")
    })
    .direct(),
    Work::new("fio, fsync", |site| fio(site, "--rw=write --bs=256k --fsync=4")).direct(),
    Work::new("iozone -I", iozone).brief().direct(),
    Work::new("bonnie -D", bonnie).brief().direct(),
    Work::new("quick", |site| verb(site, "quick --quick")),
    Work::new("modes", |site| verb(site, "modes --quick")),
    Work::new("sweep", |site| verb(site, "sweep --over bs=64k,1M --time 4 --size 32M")),
];

/// An eMMC of 42 MiB/s, read at 200.
const EMMC: Speed = Speed::bytes(200 * MI, 42 * MI);

fn on_card(card: &Card, work: &Doing) -> Result<Tried, Skip> {
    work(&Site { folder: card.mount(), rooms: card.rooms(), card: Some(card) })
}

fn limited_xfs(work: &Doing) -> Result<Tried, Skip> {
    let speed = Speed::bytes(READ, WRITE);
    on_card(
        &Card::new(Shape { size: room_for(Fs::Xfs), fs: Fs::Xfs, speed, ..Shape::sdcard() })?,
        work,
    )
}

fn on_loop(work: &Doing) -> Result<Tried, Skip> {
    let card = paced()?;
    let upper = Upon::ext4(&card, 128 * MI)?;
    work(&Site { folder: upper.mount(), rooms: card.rooms(), card: Some(&card) })
}

fn on_overlay(work: &Doing) -> Result<Tried, Skip> {
    let card = paced()?;
    let over = Overlay::on_card(&card)?;
    work(&Site { folder: over.mount(), rooms: card.rooms(), card: Some(&card) })
}

fn beside_busy(work: &Doing) -> Result<Tried, Skip> {
    let (card, other) = (paced()?, paced()?);
    let _busy = Noise::writer(other.mount());
    on_card(&card, work)
}

fn on_zram(work: &Doing) -> Result<Tried, Skip> {
    let disk = RamDisk::ext4(512 * MI)?;
    work(&Site { folder: disk.mount(), rooms: &[], card: None })
}

fn dd(site: &Site, words: &str) -> Beside {
    assay(["dd", "if=/dev/zero"]).split(words).word(operand("of", site.path("x")))
}

fn dd_reads(site: &Site, words: &str) -> Beside {
    assay(["dd", "of=/dev/null"]).split(words).word(operand("if", site.file(80 * MI)))
}

fn io(site: &Site, words: &str) -> Beside {
    assay(["io", "--time", "3", "--size", "32M"]).split(words).word(site.folder)
}

fn fio(site: &Site, words: &str) -> Beside {
    let run = assay(["fio", "--name=x", "--direct=1", "--size=32m", "--runtime=3", "--time_based"]);
    run.split(words).word(operand("--directory", site.folder))
}

fn iozone(site: &Site) -> Beside {
    assay(["iozone", "-I", "-s", "16m", "-r", "512k", "-i0", "-i1", "-f"]).word(site.path("x"))
}

fn bonnie(site: &Site) -> Beside {
    let run = assay(["bonnie", "-D", "-u", "root", "-s", "32", "-r", "16", "-n", "0", "-f", "-d"]);
    run.word(site.folder)
}

fn verb(site: &Site, words: &str) -> Beside {
    assay(words.split(' ')).word(site.folder)
}
