//! What the two dds say: reports, progress, warnings, errors.

use std::fmt::Write;

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
        busybox_size(bytes),
        busybox_size(rate)
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

// ------------------------------------------------------------------ sizes, rates and seconds as GNU dd rounds them

/// Letters of the powers; the first power of 1000 is a small k.
const POWERS: [&str; 9] = ["", "K", "M", "G", "T", "P", "E", "Z", "Y"];

fn unit(power: usize, base: u64) -> String {
    match (power, base) {
        (0, _) => "B".into(),
        (1, 1000) => "kB".into(),
        (_, 1000) => format!("{}B", POWERS[power]),
        _ => format!("{}iB", POWERS[power]),
    }
}

/// `numerator / denominator` to the nearest whole number, ties to even.
fn nearest(numerator: u128, denominator: u128) -> u128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    match (rest * 2).cmp(&denominator) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}

/// A size in powers of `base` (1000 or 1024): one decimal below ten, none above.
pub fn human(size: Bytes, base: u64) -> String {
    exact(u128::from(size.0), 1, base)
}

/// The fraction `numerator / denominator` as a size is written.
fn exact(numerator: u128, denominator: u128, base: u64) -> String {
    let wide = u128::from(base);
    let mut power = 0;
    let mut scale = denominator;
    while numerator / scale >= wide && power + 1 < POWERS.len() {
        scale *= wide;
        power += 1;
    }
    // Below ten, tenths; but only behind a multiple.
    if power > 0 && numerator / scale < 10 {
        let tenths = nearest(numerator * 10, scale);
        if tenths < 100 {
            return format!("{}.{} {}", tenths / 10, tenths % 10, unit(power, base));
        }
        return format!("10 {}", unit(power, base));
    }
    let whole = nearest(numerator, scale);
    if whole == wide && power + 1 < POWERS.len() {
        return format!("1.0 {}", unit(power + 1, base));
    }
    format!("{whole} {}", unit(power, base))
}

/// `size` over `time` in powers of 1000 per second.
///
/// Where one second divides the time or the time divides it, a rate is written as a size is;
/// otherwise at least in kB, with one decimal below a hundred.
pub fn rate(size: Bytes, time: Nanos) -> String {
    const SECOND: u64 = 1_000_000_000;
    if time.0 == 0 {
        return "Infinity B/s".into();
    }
    let numerator = u128::from(size.0) * u128::from(SECOND);
    let denominator = u128::from(time.0);
    if SECOND.is_multiple_of(time.0) || time.0.is_multiple_of(SECOND) {
        return format!("{}/s", exact(numerator, denominator, 1000));
    }
    let mut power = 1;
    let mut scale = denominator * 1000;
    while numerator / scale >= 1000 && power + 1 < POWERS.len() {
        scale *= 1000;
        power += 1;
    }
    let tenths = nearest(numerator * 10, scale);
    if tenths < 1000 {
        format!("{}.{} {}/s", tenths / 10, tenths % 10, unit(power, 1000))
    } else {
        format!("{} {}/s", nearest(numerator, scale), unit(power, 1000))
    }
}

/// A number as C's `%g` writes it: six digits, no zeros behind them, an exponent where the number
/// is very small or large.
pub fn general(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let scientific = format!("{number:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |text: &str| -> String {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text.into()
        }
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return strip(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip(digits), exponent.abs())
}

/// A number in powers of 1024 with one decimal and no blank, as BusyBox writes it.
fn busybox_size(number: u64) -> String {
    let (mut number, mut tenths, mut power) = (number, 0, 0);
    while number >= 1024 && power + 1 < POWERS.len() {
        tenths = ((number % 1024) * 10 + 512) / 1024;
        number /= 1024;
        power += 1;
    }
    if power == 0 {
        return number.to_string();
    }
    if tenths >= 10 {
        (number, tenths) = (number + 1, 0);
    }
    format!("{number}.{tenths}{}", POWERS[power])
}
