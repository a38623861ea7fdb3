//! What each lesson says: the two lines, the readings that tell them apart, and why.

use assay_judge::lesson::LessonFigure;
use assay_judge::words::share;
use assay_plan::plan::LessonTopic;
use assay_plan::unit::Bytes;
use assay_record::record::TrapId;
use assay_record::words::Voice;

/// The words of one lesson.
pub(super) struct LessonText {
    /// What it shows, in one line.
    pub about: &'static str,
    /// What people type. `{count}` stands for the calls, `{size}` for their bytes.
    pub trap: &'static str,
    pub cure: &'static str,
    /// Its number in the catalogue.
    pub trap_id: TrapId,
    /// What tells the two apart.
    pub rows: &'static [LessonRow],
    /// Why the figures differ, from the readings of trap and cure.
    pub why: fn(&LessonFigure<'_>, &LessonFigure<'_>, Voice) -> String,
    /// What it means when they do not.
    pub otherwise: &'static str,
}

/// One reading of both halves. `{device}` in the label stands for its name.
pub(super) struct LessonRow {
    pub label: &'static str,
    pub cell: fn(&LessonFigure<'_>) -> Option<String>,
}

/// The words of a lesson.
pub(super) fn of(topic: LessonTopic) -> &'static LessonText {
    match topic {
        LessonTopic::Flush => &FLUSH,
        LessonTopic::Cache => &CACHE,
        LessonTopic::Holes => &HOLES,
        LessonTopic::Burst => &BURST,
        LessonTopic::Compress => &COMPRESS,
        LessonTopic::Readahead => &READAHEAD,
        LessonTopic::Depth => &DEPTH,
        LessonTopic::Omission => &OMISSION,
    }
}

const MOVED: LessonRow =
    LessonRow { label: "the program moved", cell: |half| Some(half.moved().to_string()) };
const CALLS: LessonRow =
    LessonRow { label: "calls by the program", cell: |half| Some(half.calls().0.to_string()) };
const WRITTEN: LessonRow = LessonRow {
    label: "{device} had written when the clock stopped",
    cell: |half| Some(half.arrived()?.to_string()),
};
const READ: LessonRow = LessonRow {
    label: "{device} had read when the clock stopped",
    cell: |half| Some(half.arrived()?.to_string()),
};
const UNWRITTEN: LessonRow = LessonRow {
    label: "only in memory then, lost in a power cut",
    cell: |half| Some(half.unwritten()?.to_string()),
};
const FLUSHED: LessonRow = LessonRow {
    label: "flush inside the timing, after the last call",
    cell: |half| Some(half.flush()?.to_string()),
};
const FIRST: LessonRow = LessonRow {
    label: "the program wrote in its first 100 ms",
    cell: |half| Some(half.written_first()?.to_string()),
};
const RESIDENT: LessonRow = LessonRow {
    label: "of the file cached before",
    cell: |half| Some(half.resident_before()?.to_string()),
};
const EMPTY: LessonRow =
    LessonRow { label: "holes in the file", cell: |half| Some(half.empty()?.to_string()) };
const REQUESTS: LessonRow =
    LessonRow { label: "requests of {device}", cell: |half| Some(half.requests()?.to_string()) };
const REQUEST: LessonRow =
    LessonRow { label: "their mean size", cell: |half| Some(half.request()?.to_string()) };
const BUSY: LessonRow = LessonRow {
    label: "{device} busy, of the time",
    cell: |half| Some(share(half.busy()?).to_string()),
};
const IN_FLIGHT: LessonRow =
    LessonRow { label: "average queue", cell: |half| Some(format!("{:.2}", half.in_flight()?)) };
const SENT: LessonRow =
    LessonRow { label: "p99 from submission", cell: |half| Some(half.p99()?[0].to_string()) };
const DUE: LessonRow =
    LessonRow { label: "p99 as counted", cell: |half| Some(half.p99()?[1].to_string()) };
const LONGEST: LessonRow =
    LessonRow { label: "maximum", cell: |half| Some(half.longest()?.to_string()) };

/// A reading in a sentence.
fn said(reading: Option<Bytes>) -> String {
    reading.map_or_else(|| "an unknown part".into(), |bytes| bytes.to_string())
}

/// The name of the device in a sentence.
fn device(half: &LessonFigure<'_>) -> String {
    half.device().unwrap_or_else(|| "the device".into())
}

const FLUSH: LessonText = LessonText {
    about: "writes return from the page cache; the device gets them later unless flushed",
    trap: "dd if=/dev/zero of=x bs=1M count={count}",
    cure: "dd if=/dev/zero of=x bs=1M count={count} conv=fsync",
    trap_id: TrapId::T02,
    rows: &[MOVED, FLUSHED, WRITTEN, UNWRITTEN],
    why: |trap, cure, voice| {
        let later = trap.flushed_later().map_or_else(String::new, |time| {
            format!(" {} took {} more to write them.", device(cure), voice.say(&time))
        });
        format!(
            "When A's clock stopped, {} of its {} were only in memory: a power cut would have lost them.{later} B's clock ran until all of it was flushed.",
            said(trap.unwritten()),
            trap.moved()
        )
    },
    otherwise: "the device had A's bytes when its clock stopped, without a flush.",
};

const CACHE: LessonText = LessonText {
    about: "data just written or read comes from the page cache, not the device",
    trap: "dd if=x of=/dev/null bs=1M",
    cure: "ASSAY_COLD=target assay dd if=x of=/dev/null bs=1M",
    trap_id: TrapId::T01,
    rows: &[MOVED, RESIDENT, READ],
    why: |trap, cure, _| {
        format!(
            "{} of the {} that A read were in the page cache from writing them, and {} read {}. Before B the cache was dropped, so it had to read {}.",
            said(trap.resident_before()),
            trap.moved(),
            device(cure),
            said(trap.arrived()),
            said(cure.arrived())
        )
    },
    otherwise: "the device is about as fast as memory, or the file was no longer in the page cache.",
};

const HOLES: LessonText = LessonText {
    about: "a file made by truncate is all holes: reading it needs no device I/O",
    trap: "truncate -s {size} x; dd if=x of=/dev/null bs=1M",
    cure: "ASSAY_COLD=target assay dd if=y of=/dev/null bs=1M    # y was written in full",
    trap_id: TrapId::T23,
    rows: &[MOVED, EMPTY, READ],
    why: |trap, cure, _| {
        format!(
            "{} of A's {} are holes, with no blocks on {}: the file system returned zeros from memory. B read a file of the same size that had been written and dropped from the page cache.",
            said(trap.empty()),
            trap.moved(),
            device(cure)
        )
    },
    otherwise: "the device is about as fast as memory, or this file system fills the holes.",
};

const BURST: LessonText = LessonText {
    about: "a short write shows what memory absorbs, a long one the sustained speed",
    trap: "dd if=/dev/zero of=x bs=1M count={count}",
    cure: "dd if=/dev/zero of=x bs=1M count={count} conv=fsync",
    trap_id: TrapId::T04,
    rows: &[MOVED, FIRST, FLUSHED, WRITTEN, UNWRITTEN],
    why: |trap, cure, _| {
        let inside = [TrapId::T43, TrapId::T04].iter().find_map(|rule| cure.said(*rule));
        let inside = inside.map_or_else(
            || format!("B's clock ran until all of its {} were written.", cure.moved()),
            |claim| format!("B shows both speeds. {claim}"),
        );
        format!(
            "A's {} fit in dirty pages; {} of them were not yet written to {}. {inside}",
            trap.moved(),
            said(trap.unwritten()),
            device(cure)
        )
    },
    otherwise: "the short write was throttled to the speed of the long one, too.",
};

const COMPRESS: LessonText = LessonText {
    about: "zeros shrink on their way to the device, other data does not",
    trap: "dd if=/dev/zero of=x bs=4M count={count} oflag=dsync",
    cure: "dd if=/dev/urandom of=x bs=4M count={count} oflag=dsync",
    trap_id: TrapId::T25,
    rows: &[MOVED, WRITTEN],
    why: |trap, cure, _| {
        format!(
            "{} wrote {} for A's {} of zeros, and {} for B's {} of incompressible data.",
            device(cure),
            said(trap.arrived()),
            trap.moved(),
            said(cure.arrived()),
            cure.moved()
        )
    },
    otherwise: "no visible layer shrinks zeros. A drive, or the host of a virtual machine, may still do it.",
};

const READAHEAD: LessonText = LessonText {
    about: "small sequential reads become a few large ones; random reads do not",
    trap: "dd if=x of=/dev/null bs=4k",
    cure: "fio --name=x --filename=x --rw=randread --bs=4k --direct=1",
    trap_id: TrapId::T10,
    rows: &[CALLS, REQUESTS, REQUEST],
    why: |trap, cure, _| {
        format!(
            "A's {} calls became {} requests of {} on {}: most of them were served by read-ahead. B's reads went to random blocks one by one, like those of a database.",
            trap.calls().0,
            trap.requests().unwrap_or(0),
            said(trap.request()),
            device(cure)
        )
    },
    otherwise: "random reads are as fast as sequential ones.",
};

const DEPTH: LessonText = LessonText {
    about: "one read in flight leaves the device idle; a deeper queue shows its peak",
    trap: "fio --name=x --filename=x --rw=randread --bs=4k --direct=1 --iodepth=1",
    cure: "fio --name=x --filename=x --rw=randread --bs=4k --direct=1 --ioengine=io_uring --iodepth=32",
    trap_id: TrapId::T54,
    rows: &[CALLS, BUSY, IN_FLIGHT],
    why: |trap, cure, _| {
        format!(
            "In A {} had {} requests in flight on average, in B {}: at queue depth 1 the result is the latency of one read, not the peak throughput.",
            device(cure),
            (IN_FLIGHT.cell)(trap).unwrap_or_else(|| "few".into()),
            (IN_FLIGHT.cell)(cure).unwrap_or_else(|| "more".into())
        )
    },
    otherwise: "a deeper queue does not help on this path. B's verdict says what limits it.",
};

const OMISSION: LessonText = LessonText {
    about: "waiting for each completion counts a stall only once (on a modelled device)",
    trap: "fio --name=x --filename=x --rw=randread --bs=4k --rate_iops=100",
    cure: "assay io . --rate 100",
    trap_id: TrapId::T57,
    rows: &[CALLS, SENT, DUE, LONGEST],
    why: |trap, cure, voice| {
        format!(
            "The model stalls for 1 s in every 10. A submits no read while one is outstanding: it counts each stall once (maximum {}), and {} of the {} reads that were due were never submitted. In B latency counts from when each read was due: 1 % wait {} or more. A alone cannot show this.",
            voice.say(&trap.longest().unwrap_or_default()),
            cure.calls().less(trap.calls()).0,
            cure.calls().0,
            voice.say(&cure.p99().unwrap_or_default()[1])
        )
    },
    otherwise: "both count the same latency.",
};
