//! What is typed at the file system that fails: every verb, every dialect, every method of I/O.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::lab::{self, FaultyFuse, Typed};

/// The file that is there before, and what it holds in bytes.
pub const THERE: &str = "there";
pub const LENGTH: usize = 2 << 20;

/// A line that is tried.
pub struct Line {
    /// What it is called in the table.
    pub name: &'static str,
    kind: Kind,
    /// Whether it writes, and whether it reads.
    pub writes: bool,
    pub reads: bool,
    compares: bool,
    /// What it leaves there, as its original does.
    pub leaves: &'static [&'static str],
    /// What the file system holds at most, in bytes.
    pub room: Option<u64>,
}

enum Kind {
    /// Words; `{D}` is the folder, `{T}` the file that is there.
    Words(&'static str),
    /// A plan of this work on blocks by this method.
    Method(&'static str),
    /// A plan of a copy by these calls.
    Copy(&'static str),
    /// A plan of a tree of files.
    Tree(&'static str),
}

const fn words(name: &'static str, line: &'static str, writes: bool, reads: bool) -> Line {
    Line { name, kind: Kind::Words(line), writes, reads, compares: false, leaves: &[], room: None }
}

const fn method(name: &'static str, method: &'static str) -> Line {
    Line {
        name,
        kind: Kind::Method(method),
        writes: true,
        reads: false,
        compares: false,
        leaves: &[],
        room: None,
    }
}

impl Line {
    const fn comparing(self) -> Line {
        Line { compares: true, ..self }
    }

    const fn with_room(self, bytes: u64) -> Line {
        Line { room: Some(bytes), ..self }
    }

    const fn leaving(self, leaves: &'static [&'static str]) -> Line {
        Line { leaves, ..self }
    }
}

/// All of them.
pub const LINES: &[Line] = &[
    words("io, writing", "io {D} --rw write --block 64k --size 1M --time 300ms", true, false),
    words(
        "io, verifying",
        "io {D} --rw write --verify --block 64k --size 1M --time 300ms",
        true,
        true,
    )
    .comparing(),
    words("io, reading", "io {T} --rw read --block 64k --size 1M --time 300ms", false, true),
    words("quick", "quick {D} --quick --size 4M", true, true),
    words("sweep", "sweep {D} --size 1M --over bs=64k --depth 1 --time 2", true, true),
    words("ramp", "ramp {D} --action write --size 1M --max-depth 1 --step 1s", true, false),
    words("sustain", "sustain {D} --size 1M --bytes 4M", true, false),
    words("modes", "modes {D} --quick --block 64k --size 2M", true, true),
    words("card", "card {D} --quick", true, true),
    words("card --capacity", "card {D} --capacity --fill", true, true)
        .comparing()
        .with_room(64 << 20),
    words("atto", "atto {D} --sizes 64k,128k --length 1M", true, true),
    words("demo", "demo flush {D}", true, true),
    words("dd, writing", "dd if=/dev/zero of={D}/new bs=64k count=16 conv=fsync", true, false)
        .leaving(&["new"]),
    words("dd, reading", "dd if={T} of=/dev/null bs=64k", false, true),
    words(
        "fio, writing",
        "fio --name=a --filename={D}/a --rw=write --bs=64k --size=1M --end_fsync=1 --unlink=1",
        true,
        false,
    ),
    words(
        "fio, verifying",
        "fio --name=a --filename={D}/a --rw=write --bs=64k --size=1M --verify=crc32c --unlink=1",
        true,
        true,
    )
    .comparing(),
    words("fio, reading", "fio --name=a --filename={T} --rw=read --bs=64k --size=1M", false, true),
    words(
        "fio, small files",
        "fio --name=a --directory={D} --ioengine=filecreate --nrfiles=4 --filesize=4k --fallocate=none --unlink=1",
        true,
        false,
    ),
    words("iozone", "iozone -i 0 -i 1 -s 1m -r 64k -f {D}/i", true, true),
    words("bonnie", "bonnie -d {D} -s 2:64k -n 0 -r 1 -u 0 -f -b -q", true, true),
    words("bonnie, small files", "bonnie -d {D} -s 0 -n 1:10:10:1 -r 0 -u 0 -b -q", true, true),
    method("psync", "\"psync\""),
    method("sync", "\"sync\""),
    method("pvsync2", "{\"vectored\":{}}"),
    method("io_uring", "{\"io_uring\":{}}"),
    method("libaio", "{\"libaio\":{}}"),
    method("posixaio", "\"posixaio\""),
    method("mmap", "{\"mmap\":{}}"),
    method("stdio", "{\"stdio\":{\"buffer\":4096}}"),
    method("splice", "\"splice\""),
    method("pool", "\"pool\""),
    Line {
        name: "a copy by copy_file_range",
        kind: Kind::Copy("\"copy_file_range\""),
        writes: true,
        reads: true,
        compares: false,
        leaves: &["new"],
        room: None,
    },
    Line {
        name: "a copy by splice",
        kind: Kind::Copy("{\"splice\":{}}"),
        writes: true,
        reads: true,
        compares: false,
        leaves: &["new"],
        room: None,
    },
    Line {
        name: "a tree of files",
        kind: Kind::Tree("create"),
        writes: true,
        reads: false,
        compares: false,
        leaves: &[],
        room: None,
    },
];

impl Line {
    /// It, as it is typed at a file system; the plan of it, where it has one, lies in `desk`.
    pub fn typed(&self, at: &FaultyFuse, desk: &Path) -> Typed {
        let dir = at.mount().display().to_string();
        let there = at.path(THERE).display().to_string();
        let plan = match &self.kind {
            Kind::Words(line) => {
                let words = line.replace("{D}", &dir).replace("{T}", &there);
                return lab::assay(words.split_whitespace());
            }
            Kind::Method(method) => blocks(at, &serde_json::from_str(method).expect("a method")),
            Kind::Copy(calls) => copy(at, &serde_json::from_str(calls).expect("calls")),
            Kind::Tree(action) => tree(at, action),
        };
        let plan = json!({
            "title": "faults", "origin": { "dialect": "plan" }, "seed": 7,
            "phases": [{ "name": "work", "settle": 2_000_000_000_u64, "jobs": [plan] }],
        });
        let file = desk.join("plan.json");
        fs::write(&file, plan.to_string()).expect("written");
        lab::run_plan(&file)
    }

    /// Whether what it reads is compared with what was written.
    pub fn compares(&self) -> bool {
        self.compares
    }

    /// Whether it verifies, by io_uring.
    pub fn verifies_by_ring(&self) -> bool {
        ["io, verifying", "quick", "sweep", "card", "card --capacity"].contains(&self.name)
    }

    /// Whether it counts what it meets, and goes on.
    pub fn counts(&self) -> bool {
        self.name == "card --capacity"
    }

    /// Whether it needs the page cache.
    pub fn cached(&self) -> bool {
        self.name == "mmap"
    }

    /// What it leaves in the file `new`, if it copies.
    pub fn copies(&self) -> Option<Vec<u8>> {
        match self.name {
            "dd, writing" => Some(vec![0; 1 << 20]),
            name if name.starts_with("a copy") => Some(vec![5; LENGTH]),
            _ => None,
        }
    }

    /// How the messages of its original begin.
    pub fn tongue(&self) -> Option<&'static str> {
        let Kind::Words(line) = &self.kind else { return None };
        ["dd", "fio", "iozone", "bonnie"].into_iter().find(|verb| line.starts_with(*verb))
    }

    /// Whether it is one of our own verbs, which take `--record`.
    pub fn own(&self) -> bool {
        self.tongue().is_none()
    }
}

fn blocks(at: &FaultyFuse, method: &Value) -> Value {
    json!({
        "name": "work",
        "work": { "blocks": {
            "target": { "file": {
                "path": at.path("new"), "size": { "exactly": 1 << 20 }, "lifetime": "remove",
            } },
            "pattern": { "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 65_536 } },
            "method": method,
            "caching": "buffered",
            "durability": "fsync_at_end",
        }},
        "stop": { "first_of": [{ "passes": 1 }] },
    })
}

fn copy(at: &FaultyFuse, calls: &Value) -> Value {
    json!({ "name": "copy", "work": { "copy": {
        "from": { "path": at.path(THERE) }, "to": { "path": at.path("new") },
        "input_block": 65_536, "output_block": 65_536, "block_for_block": true, "calls": calls,
        "flush": { "fsync": true },
    }}})
}

fn tree(at: &FaultyFuse, action: &str) -> Value {
    json!({ "name": "work", "work": { "tree": {
        "dir": at.mount(), "action": action, "files": 8, "durability": { "fsync_every": 1 },
        "size": { "files": { "least": 4096, "most": 4096 } },
    }}})
}
