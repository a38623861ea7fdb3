//! What each lesson says: the two lines, the readings that tell them apart, and why.

use crate::plan::Topic;
use crate::unit::Bytes;
use crate::verdict::lesson::Half;
use crate::verdict::words::share;

/// The words of one lesson.
pub(super) struct Words {
    /// What it shows, in one line.
    pub about: &'static str,
    /// What people type. `{count}` stands for the calls, `{size}` for their bytes.
    pub trap: &'static str,
    /// What they should type.
    pub cure: &'static str,
    /// Its number in the catalogue.
    pub trap_id: &'static str,
    /// What tells the two apart.
    pub rows: &'static [Row],
    /// Why the figures differ, from the readings of trap and cure.
    pub why: fn(&Half<'_>, &Half<'_>) -> String,
    /// What it means when they do not.
    pub otherwise: &'static str,
}

/// One reading of both halves. `{device}` in the label stands for its name.
pub(super) struct Row {
    pub label: &'static str,
    pub cell: fn(&Half<'_>) -> Option<String>,
}

/// The words of a lesson.
pub(super) fn of(topic: Topic) -> &'static Words {
    match topic {
        Topic::Flush => &FLUSH,
        Topic::Cache => &CACHE,
        Topic::Holes => &HOLES,
        Topic::Burst => &BURST,
        Topic::Compress => &COMPRESS,
        Topic::Readahead => &READAHEAD,
        Topic::Depth => &DEPTH,
        Topic::Omission => &OMISSION,
    }
}

const MOVED: Row = Row { label: "the program moved", cell: |half| Some(half.moved().to_string()) };
const CALLS: Row =
    Row { label: "calls of the program", cell: |half| Some(half.calls().0.to_string()) };
const WRITTEN: Row = Row {
    label: "{device} had written when the clock stopped",
    cell: |half| Some(half.arrived()?.to_string()),
};
const READ: Row = Row {
    label: "{device} had read when the clock stopped",
    cell: |half| Some(half.arrived()?.to_string()),
};
const UNWRITTEN: Row = Row {
    label: "only in memory then, and lost without power",
    cell: |half| Some(half.unwritten()?.to_string()),
};
const FLUSHED: Row = Row {
    label: "flush inside the timing, after the last call",
    cell: |half| Some(half.flush()?.to_string()),
};
const FIRST: Row = Row {
    label: "the program wrote in its first 100 ms",
    cell: |half| Some(half.written_first()?.to_string()),
};
const RESIDENT: Row = Row {
    label: "of the file in memory before",
    cell: |half| Some(half.resident_before()?.to_string()),
};
const EMPTY: Row = Row { label: "holes in the file", cell: |half| Some(half.empty()?.to_string()) };
const REQUESTS: Row =
    Row { label: "requests of {device}", cell: |half| Some(half.requests()?.to_string()) };
const REQUEST: Row =
    Row { label: "their mean size", cell: |half| Some(half.request()?.to_string()) };
const BUSY: Row =
    Row { label: "{device} at work, of the time", cell: |half| Some(share(half.busy()?)) };
const IN_FLIGHT: Row = Row {
    label: "requests in flight, on average",
    cell: |half| Some(format!("{:.2}", half.in_flight()?)),
};
const SENT: Row =
    Row { label: "p99 from when a read was sent", cell: |half| Some(half.p99()?[0].to_string()) };
const DUE: Row = Row {
    label: "p99 of the waits that were counted",
    cell: |half| Some(half.p99()?[1].to_string()),
};
const LONGEST: Row =
    Row { label: "the longest of them", cell: |half| Some(half.longest()?.to_string()) };

/// A reading in a sentence.
fn said(reading: Option<Bytes>) -> String {
    reading.map_or_else(|| "an unknown part".into(), |bytes| bytes.to_string())
}

/// The name of the device in a sentence.
fn device(half: &Half<'_>) -> String {
    half.device().unwrap_or_else(|| "the device".into())
}

const FLUSH: Words = Words {
    about: "a write is over when memory has it; without a flush the device gets it later",
    trap: "dd if=/dev/zero of=x bs=1M count={count}",
    cure: "dd if=/dev/zero of=x bs=1M count={count} conv=fsync",
    trap_id: "T02",
    rows: &[MOVED, FLUSHED, WRITTEN, UNWRITTEN],
    why: |trap, cure| {
        let later = trap.flushed_later().map_or_else(String::new, |time| {
            format!(" {} took {time} more to get them.", device(cure))
        });
        format!(
            "When A's clock stopped, {} of its {} were only in memory: a power cut would have taken them.{later} B's clock ran until all was safe.",
            said(trap.unwritten()),
            trap.moved()
        )
    },
    otherwise: "the device had A's bytes when its clock stopped, without a flush.",
};

const CACHE: Words = Words {
    about: "what was just written or read comes from memory, not the device",
    trap: "dd if=x of=/dev/null bs=1M",
    cure: "ASSAY_COLD=target assay dd if=x of=/dev/null bs=1M",
    trap_id: "T01",
    rows: &[MOVED, RESIDENT, READ],
    why: |trap, cure| {
        format!(
            "{} of the {} that A read lay in memory from when they were written, and {} read {}. Before B they were dropped, so it had to read {}.",
            said(trap.resident_before()),
            trap.moved(),
            device(cure),
            said(trap.arrived()),
            said(cure.arrived())
        )
    },
    otherwise: "the device is about as fast as memory, or memory had not kept the file.",
};

const HOLES: Words = Words {
    about: "a file that truncate made holds nothing, and no device is asked for it",
    trap: "truncate -s {size} x; dd if=x of=/dev/null bs=1M",
    cure: "ASSAY_COLD=target assay dd if=y of=/dev/null bs=1M    # y was written in full",
    trap_id: "T23",
    rows: &[MOVED, EMPTY, READ],
    why: |trap, cure| {
        format!(
            "{} of A's {} lie nowhere on {}: the file system made zeros in memory. B read a file of the same size that had been written, and dropped from memory.",
            said(trap.empty()),
            trap.moved(),
            device(cure)
        )
    },
    otherwise: "the device is about as fast as memory, or this file system fills the holes.",
};

const BURST: Words = Words {
    about: "a short write shows what memory takes at once, a long one what lasts",
    trap: "dd if=/dev/zero of=x bs=1M count={count}",
    cure: "dd if=/dev/zero of=x bs=1M count={count} conv=fsync",
    trap_id: "T04",
    rows: &[MOVED, FIRST, FLUSHED, WRITTEN, UNWRITTEN],
    why: |trap, cure| {
        let inside = ["T43", "T04"].iter().find_map(|rule| cure.said(rule));
        let inside = inside.map_or_else(
            || format!("B's clock ran until all of its {} were there.", cure.moved()),
            |claim| format!("In B both speeds show. {claim}"),
        );
        format!(
            "A's {} fit into memory, which took them at once; {} of them had yet to go to {}. {inside}",
            trap.moved(),
            said(trap.unwritten()),
            device(cure)
        )
    },
    otherwise: "the short write was held to the pace of the long one, too.",
};

const COMPRESS: Words = Words {
    about: "zeros become less on their way to the device, and other data do not",
    trap: "dd if=/dev/zero of=x bs=4M count={count} oflag=dsync",
    cure: "dd if=/dev/urandom of=x bs=4M count={count} oflag=dsync",
    trap_id: "T25",
    rows: &[MOVED, WRITTEN],
    why: |trap, cure| {
        format!(
            "{} got {} for A's {} of zeros, and {} for B's {} of data that do not compress.",
            device(cure),
            said(trap.arrived()),
            trap.moved(),
            said(cure.arrived()),
            cure.moved()
        )
    },
    otherwise: "no layer that can be seen makes zeros less. A drive, or the host of a virtual machine, may do it unseen.",
};

const READAHEAD: Words = Words {
    about: "small reads in order become a few large ones, and tell nothing of seeks",
    trap: "dd if=x of=/dev/null bs=4k",
    cure: "fio --name=x --filename=x --rw=randread --bs=4k --direct=1",
    trap_id: "T10",
    rows: &[CALLS, REQUESTS, REQUEST],
    why: |trap, cure| {
        format!(
            "A's {} calls became {} requests of {} on {}: most of them were answered by what had been read ahead. B's went one by one to any place, as those of a database do.",
            trap.calls().0,
            trap.requests().unwrap_or(0),
            said(trap.request()),
            device(cure)
        )
    },
    otherwise: "reads at random are as fast as those in order.",
};

const DEPTH: Words = Words {
    about: "one read at a time leaves the device idle; many show what it can do",
    trap: "fio --name=x --filename=x --rw=randread --bs=4k --direct=1 --iodepth=1",
    cure: "fio --name=x --filename=x --rw=randread --bs=4k --direct=1 --ioengine=io_uring --iodepth=32",
    trap_id: "T54",
    rows: &[CALLS, BUSY, IN_FLIGHT],
    why: |trap, cure| {
        format!(
            "In A {} had {} requests in flight on average, in B {}: what waits for each answer measures how long one takes, not how many there can be.",
            device(cure),
            (IN_FLIGHT.cell)(trap).unwrap_or_else(|| "few".into()),
            (IN_FLIGHT.cell)(cure).unwrap_or_else(|| "more".into())
        )
    },
    otherwise: "one read at a time is all that this path gives. B's verdict says what holds it.",
};

const OMISSION: Words = Words {
    about: "who waits for each answer counts a stall once (on a modelled device)",
    trap: "fio --name=x --filename=x --rw=randread --bs=4k --rate_iops=100",
    cure: "assay run PLAN    # with \"rate\": {\"open\": {\"iops\": 100}}",
    trap_id: "T57",
    rows: &[CALLS, SENT, DUE, LONGEST],
    why: |trap, cure| {
        format!(
            "The model stands still for 1 s in every 10. A sends no read while one is unanswered: it counts each stall once ({} at the most), and {} of the {} reads that were due were never sent. In B each counts from when it was due: one in a hundred waits {} and more. Nothing in A alone can tell.",
            trap.longest().unwrap_or_default(),
            cure.calls().less(trap.calls()).0,
            cure.calls().0,
            cure.p99().unwrap_or_default()[1]
        )
    },
    otherwise: "both count the same waits.",
};
