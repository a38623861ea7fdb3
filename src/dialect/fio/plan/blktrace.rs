//! `read_iolog`: traces as the kernel's blktrace writes them, of which what was queued is done again.

use super::replay_list::{FioList, ListReader};
use crate::dialect::fio::job::FioReplay;
use assay_plan::error::Refusal;
use assay_plan::plan::ReplayAction;

/// Bytes of an event, without what may follow it.
const EVENT: usize = 48;
/// The first four bytes of each, but for the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// The kinds of event: the lower half of its action.
const QUEUED: u32 = 1;
const BACK_MERGED: u32 = 2;
const FRONT_MERGED: u32 = 3;
const COMPLETED: u32 = 8;

/// What it is about: bits of the upper half.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// More in flight are not believed: stacked devices do not tell of each answer.
const DEEPEST: i64 = 1024;

/// An event, as far as it matters.
#[derive(Clone, Copy, Debug)]
struct TraceEvent {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    more: u16,
}

/// The order of bytes of a trace; none where it is no trace.
fn order_of(trace: &[u8]) -> Option<ByteOrder> {
    let first: [u8; 4] = trace.get(..EVENT)?[..4].try_into().ok()?;
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.four(first) & !0xff == MAGIC)
}

/// Whether these are bytes of a trace.
pub(super) fn is_trace(bytes: &[u8]) -> bool {
    order_of(bytes).is_some()
}

/// The order of bytes of the machine that was traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn four(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn number(self, bytes: &[u8]) -> u64 {
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        match self {
            Self::Little => bytes.iter().rev().fold(0, add),
            Self::Big => bytes.iter().fold(0, add),
        }
    }

    fn event(self, bytes: &[u8]) -> TraceEvent {
        let at = |from: usize, len: usize| self.number(&bytes[from..from + len]);
        TraceEvent {
            time: at(8, 8),
            sector: at(16, 8),
            bytes: at(24, 4) as u32,
            action: at(28, 4) as u32,
            device: at(36, 4) as u32,
            more: at(46, 2) as u16,
        }
    }
}

/// Reads a trace. `device` tells the path of a device by its two numbers.
pub fn read(
    name: &str,
    trace: &[u8],
    rules: &FioReplay,
    device: &dyn Fn(u32, u32) -> Option<String>,
) -> Result<FioList, Refusal> {
    let refused = |at: usize, why: String, instead: &str| Refusal {
        place: format!("{name}: byte {at}"),
        why,
        instead: instead.into(),
    };
    let order = order_of(trace)
        .ok_or_else(|| refused(0, "it is no trace".into(), "give what blktrace has written"))?;
    let mut reader = ListReader::new(rules);
    let mut depth = InFlightCount::default();
    let mut known: Option<(u32, String)> = None;
    let mut at = 0;
    while at < trace.len() {
        let Some(bytes) = trace.get(at..at + EVENT) else {
            return Err(refused(
                at,
                "an event of less than 48 bytes".into(),
                "copy the trace whole",
            ));
        };
        let magic = order.number(&bytes[..4]) as u32;
        if magic & !0xff != MAGIC {
            return Err(refused(at, format!("{magic:x} begins no event"), "copy the trace whole"));
        }
        if magic & 0xff != VERSION {
            let why = format!("an event of version {}", magic & 0xff);
            return Err(refused(at, why, "give a trace of version 7, as blktrace writes it"));
        }
        let event = order.event(bytes);
        let here = at;
        at += EVENT + usize::from(event.more);
        depth.take(&event);
        if event.action & 0xffff != QUEUED || event.action & NOTIFY != 0 {
            continue;
        }
        reader.passes(event.time);
        let action = if event.action & DISCARD != 0 {
            ReplayAction::Trim
        } else if event.action & FLUSH != 0 {
            ReplayAction::Fsync
        } else if event.action & WRITE != 0 {
            ReplayAction::Write
        } else {
            ReplayAction::Read
        };
        let bytes = match rules.align {
            0 => event.bytes,
            align => event.bytes.checked_next_multiple_of(align).unwrap_or(event.bytes),
        };
        let (offset, bytes) = match action {
            ReplayAction::Fsync => (0, 0),
            _ if bytes == 0 => continue,
            _ => (event.sector.saturating_mul(512), bytes),
        };
        let path = match &known {
            Some((number, path)) if *number == event.device => path.clone(),
            _ => {
                let (major, minor) = (event.device >> 20, event.device & 0xf_ffff);
                let path = rules.redirect.clone().or_else(|| device(major, minor));
                path.ok_or_else(|| {
                    let why = format!("there is no device {major}:{minor}");
                    refused(here, why, "give one by replay_redirect=/dev/...")
                })?
            }
        };
        let added = reader.add(&path, action, offset, bytes);
        added.map_err(|(why, instead)| refused(here, why, &instead))?;
        known = Some((event.device, path));
    }
    reader.depth(depth.most());
    reader.finish(name)
}

/// How many were in flight, by direction: those that were queued and not merged until one is answered.
#[derive(Debug, Default)]
struct InFlightCount {
    now: [i64; 3],
    most: [i64; 3],
}

impl InFlightCount {
    fn take(&mut self, event: &TraceEvent) {
        let direction = match event.action {
            action if action & NOTIFY != 0 => return,
            action if action & READ != 0 => 0,
            action if action & WRITE != 0 => 1,
            action if action & DISCARD != 0 => 2,
            _ => return,
        };
        let (now, most) = (&mut self.now[direction], &mut self.most[direction]);
        match event.action & 0xffff {
            QUEUED => *now += 1,
            BACK_MERGED | FRONT_MERGED => *now -= 1,
            COMPLETED => {
                *most = (*most).max(*now);
                *now = 0;
            }
            _ => {}
        }
    }

    fn most(&self) -> u32 {
        self.most.into_iter().max().unwrap_or(1).clamp(1, DEEPEST) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event, byte by byte.
    fn event(
        order: ByteOrder,
        time: u64,
        sector: u64,
        bytes: u32,
        action: u32,
        more: &[u8],
    ) -> Vec<u8> {
        let mut all = Vec::new();
        let mut put = |value: u64, len: usize| {
            let mut bytes = value.to_be_bytes()[8 - len..].to_vec();
            if order == ByteOrder::Little {
                bytes.reverse();
            }
            all.extend(bytes);
        };
        put(u64::from(MAGIC | VERSION), 4);
        put(1, 4);
        put(time, 8);
        put(sector, 8);
        put(bytes.into(), 4);
        put(action.into(), 4);
        put(77, 4);
        put(8 << 20 | 3, 4);
        put(0, 4);
        put(0, 2);
        put(more.len() as u64, 2);
        all.extend(more);
        all
    }

    #[test]
    fn what_was_queued_is_done_again_whatever_the_order_of_bytes() {
        use ReplayAction::{Fsync, Read, Trim, Write};
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let of =
                |time, sector, bytes, action, more| event(order, time, sector, bytes, action, more);
            let trace = [
                of(0, 0, 0, NOTIFY | QUEUED, b"a name"),
                of(5_000, 8, 4096, READ | QUEUED, b""),
                of(6_000, 16, 512, WRITE | QUEUED, b"more"),
                of(6_500, 24, 512, WRITE | QUEUED, b""),
                of(6_600, 24, 512, WRITE | BACK_MERGED, b""),
                of(7_000, 8, 4096, READ | COMPLETED, b""),
                of(9_000, 0, 0, FLUSH | WRITE | QUEUED, b""),
                of(9_000, 0, 0, READ | QUEUED, b""),
                of(19_000, 64, 8192, DISCARD | QUEUED, b""),
            ]
            .concat();
            assert!(is_trace(&trace));
            let name = |major, minor| Some(format!("/dev/{major}-{minor}"));
            let list = read("t", &trace, &FioReplay::default(), &name).unwrap();
            assert_eq!(
                (list.files.as_slice(), list.depth),
                (&["/dev/8-3".to_string()][..], Some(1))
            );
            let rows: Vec<_> =
                list.ios.iter().map(|io| (io.action, io.offset.0, io.bytes, io.wait.0)).collect();
            assert_eq!(
                rows,
                [
                    (Read, 4096, 4096, 0),
                    (Write, 8192, 512, 1000),
                    (Write, 12288, 512, 500),
                    (Fsync, 0, 0, 2500),
                    (Trim, 32768, 8192, 10_000),
                ]
            );
        }
    }

    #[test]
    fn a_trace_that_is_cut_off_or_of_no_device_is_refused() {
        let order = ByteOrder::Little;
        let trace = event(order, 5, 8, 4096, READ | QUEUED, b"");
        let none = |_, _| None;
        let said =
            |trace: &[u8]| read("t", trace, &FioReplay::default(), &none).unwrap_err().to_string();
        assert!(said(&trace).starts_with("t: byte 0: there is no device 8:3"), "{}", said(&trace));
        let redirect = FioReplay { redirect: Some("f".into()), ..FioReplay::default() };
        let cut = [&trace[..], &trace[..20]].concat();
        let refusal = read("t", &cut, &redirect, &none).unwrap_err().to_string();
        assert!(refusal.starts_with("t: byte 48: an event of less"), "{refusal}");
        let mut other = [&trace[..], &trace[..]].concat();
        other[48] = 6;
        let refusal = read("t", &other, &redirect, &none).unwrap_err().to_string();
        assert!(refusal.starts_with("t: byte 48: an event of version 6"), "{refusal}");
        assert!(!is_trace(b"fio version 3 iolog\n0 a add\n0 a open\n0 a read 0 4096\n"));
    }
}
