//! What the two dds say: reports, progress, warnings, errors.

use std::fmt::Write;

use super::human::{self, general, human, rate};
use super::quote::{shell, shell_if_needed};
use super::{DdFlavor, DdOutput, StatusLevel};
use assay_plan::error::{Doing, Fault, errno_text};
use assay_plan::plan::CopyWork;
use assay_plan::stats::copy::{CopyCounts, CopyEvent};
use assay_plan::unit::{Bytes, Nanos};

/// The lines at the end, on SIGUSR1, and after each error that is passed over.
pub fn report(options: &DdOutput, counts: &CopyCounts, time: Nanos) -> String {
    let mut out = String::new();
    if options.status == StatusLevel::None {
        return out;
    }
    let _ = writeln!(out, "{}+{} records in", counts.reads_full, counts.reads_partial);
    let _ = writeln!(out, "{}+{} records out", counts.writes_full, counts.writes_partial);
    match counts.truncated {
        0 => {}
        1 => out.push_str("1 truncated record\n"),
        cut => {
            let _ = writeln!(out, "{cut} truncated records");
        }
    }
    if options.status == StatusLevel::Noxfer {
        return out;
    }
    match options.flavor {
        DdFlavor::Gnu => out.push_str(&gnu_line(counts, time, &general(time.as_secs()))),
        DdFlavor::Busybox => out.push_str(&busybox_line(counts, time)),
    }
    out.push('\n');
    out
}

/// A line of `status=progress`, with the carriage return before it and blanks over what is left
/// of a longer one before; and its length for the next time.
pub fn progress(counts: &CopyCounts, time: Nanos, before: usize) -> (String, usize) {
    let line = gnu_line(counts, time, &format!("{:.0}", time.as_secs()));
    let len = line.len();
    (format!("\r{line:before$}"), len)
}

/// The line before a flush, when progress was shown and is out of date. GNU dd 9.1 writes it behind
/// what stands there, and still takes that for unfinished.
pub fn before_flush(counts: &CopyCounts, time: Nanos) -> String {
    gnu_line(counts, time, &general(time.as_secs())) + "\n"
}

fn gnu_line(counts: &CopyCounts, time: Nanos, seconds: &str) -> String {
    let size = Bytes(counts.bytes_written);
    let rate = rate(size, time);
    let (si, iec) = (human(size, 1000), human(size, 1024));
    match size.0 {
        1 => format!("1 byte copied, {seconds} s, {rate}"),
        0..1000 => format!("{} bytes copied, {seconds} s, {rate}", size.0),
        1000..1024 => format!("{} bytes ({si}) copied, {seconds} s, {rate}", size.0),
        _ => format!("{} bytes ({si}, {iec}) copied, {seconds} s, {rate}", size.0),
    }
}

fn busybox_line(counts: &CopyCounts, time: Nanos) -> String {
    let bytes = counts.bytes_written;
    let micros = time.0 / 1000;
    let seconds = micros as f64 / 1e6;
    let rate = if micros > 0 { (bytes as f64 / seconds) as u64 } else { 0 };
    format!(
        "{bytes} bytes ({}B) copied, {seconds:.6} seconds, {}B/s",
        human::busybox(bytes),
        human::busybox(rate)
    )
}

/// What is said about an event: whole lines, or nothing. After [`CopyEvent::ReadError`] GNU dd
/// also reports.
pub fn event(options: &DdOutput, copy: &CopyWork, event: &CopyEvent) -> String {
    let busybox = options.flavor == DdFlavor::Busybox;
    let quiet = options.status == StatusLevel::None;
    match event {
        CopyEvent::Failed(new) => fault(options, copy, new),
        CopyEvent::ReadError { .. } if quiet && !busybox => String::new(),
        CopyEvent::ReadError { fault: new, .. } => fault(options, copy, new),
        _ if quiet || busybox => String::new(),
        CopyEvent::PartialRead { bytes } => {
            let s = if *bytes == 1 { "" } else { "s" };
            format!("dd: warning: partial read ({bytes} byte{s}); suggest iflag=fullblock\n")
        }
        CopyEvent::SkippedTooFar { path } => {
            format!("dd: {}: cannot skip to specified offset\n", shell_if_needed(path))
        }
        CopyEvent::LostPlace => "dd: warning: invalid file offset after failed read\n".into(),
        CopyEvent::StillDirect(new) => {
            let path = shell_if_needed(&new.path);
            format!("dd: failed to turn off O_DIRECT: {path}: {}\n", new.text)
        }
        CopyEvent::Progress { .. } | CopyEvent::Flushing { .. } => String::new(),
    }
}

/// Whether the report still follows after these failures of one run, in their order, or dd has
/// ended without one.
pub fn reports_after(options: &DdOutput, faults: &[Fault]) -> bool {
    let any = |doings: &[Doing]| faults.iter().any(|fault| doings.contains(&fault.doing));
    match options.flavor {
        DdFlavor::Gnu => {
            let at_once = [Doing::FindMemory, Doing::CloseInput, Doing::CloseOutput];
            // A failure that ends the copy from within, and then one of the flush.
            let twice = any(&[Doing::WriteTo, Doing::Skip, Doing::Seek])
                && any(&[Doing::Fsync, Doing::Fdatasync]);
            !any(&at_once) && !twice
        }
        DdFlavor::Busybox => faults.is_empty() || any(&[Doing::Write, Doing::WriteTo]),
    }
}

/// A failure in the dialect's words, as a whole line.
pub fn fault(options: &DdOutput, copy: &CopyWork, fault: &Fault) -> String {
    match options.flavor {
        DdFlavor::Gnu => gnu_fault(copy, fault),
        DdFlavor::Busybox => busybox_fault(fault),
    }
}

/// What is said when help or version cannot be written.
pub fn unprinted(error: &std::io::Error) -> String {
    format!("dd: write error: {}\n", errno_text(error.raw_os_error().unwrap_or(libc::EIO)))
}

fn gnu_fault(copy: &CopyWork, fault: &Fault) -> String {
    let quoted = shell(&fault.path);
    let bare = || shell_if_needed(&fault.path);
    let at = fault.offset.unwrap_or(0);
    let what = match fault.doing {
        Doing::Open => format!("failed to open {quoted}"),
        Doing::SetFlags => format!("setting flags for {quoted}"),
        Doing::Read => format!("error reading {quoted}"),
        Doing::Write => format!("error writing {quoted}"),
        Doing::WriteTo => format!("writing to {quoted}"),
        Doing::Truncate => format!("failed to truncate to {at} bytes in output file {quoted}"),
        Doing::Stat => format!("cannot fstat {quoted}"),
        Doing::Skip => format!("{}: cannot skip", bare()),
        Doing::Seek => format!("{}: cannot seek", bare()),
        Doing::Fsync => format!("fsync failed for {quoted}"),
        Doing::Fdatasync => format!("fdatasync failed for {quoted}"),
        Doing::CloseInput => format!("closing input file {quoted}"),
        Doing::CloseOutput => format!("closing output file {quoted}"),
        Doing::DropFromCache => format!("failed to discard cache for: {}", bare()),
        Doing::Reach => {
            return format!(
                "dd: offset too large: cannot truncate to a length of seek={} ({}-byte) blocks\n",
                copy.seek.blocks, copy.output_block.0
            );
        }
        Doing::FindMemory => {
            let size = human(Bytes(at), 1024);
            return format!("dd: memory exhausted by {} of size {at} bytes ({size})\n", fault.path);
        }
        doing => format!("cannot {doing} {quoted}"),
    };
    format!("dd: {what}: {}\n", fault.text)
}

fn busybox_fault(fault: &Fault) -> String {
    let Fault { path, text, .. } = fault;
    match fault.doing {
        Doing::Open => format!("dd: can't open '{path}': {text}\n"),
        Doing::Write | Doing::WriteTo => format!("dd: error writing '{path}': {text}\n"),
        Doing::FindMemory => "dd: out of memory\n".into(),
        Doing::Swab => format!("dd: can't swab {} byte buffer\n", fault.offset.unwrap_or(0)),
        _ => format!("dd: {path}: {text}\n"),
    }
}
