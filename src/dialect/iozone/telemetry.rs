//! Files of `-X` and `-Y`: a line for each record, with its offset and length in bytes, and milliseconds of
//! computing before it.

use std::io;
use std::path::Path;

use super::asked::{IoList, IozoneComplaint, IozoneOptions};
use assay_plan::name::NameText as _;
use assay_plan::plan::ListedIo;
use assay_plan::unit::{Bytes, KIB, Nanos};

/// The status of the original where a list cannot be read.
const NO_LIST: u8 = 174;
/// ... where it does not agree with another option.
const MODES: u8 = 17;
/// The most lines that are done.
const LINES: usize = 100_000;

impl IoList {
    /// Reads it. `compute` is the time of `-J`, for lines without one.
    fn load(
        &mut self,
        option: &str,
        compute: Nanos,
        files: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<(), IozoneComplaint> {
        let name = self.path.to_text();
        let kind = if option == "-X" { "write" } else { "read" };
        let bytes = files(&self.path).map_err(|error| {
            IozoneComplaint::new(
                format!("{option} {name}: {error}"),
                "name a file of lines 'OFFSET BYTES [MILLISECONDS]'",
            )
            .saying(format!("Unable to open {kind} telemetry file \"{name}\""), NO_LIST)
        })?;
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let (io, timed) = entry(line, compute).ok_or_else(|| {
                IozoneComplaint::new(
                    format!("{option} {name}: line {number} is '{line}'"),
                    "write 'OFFSET BYTES [MILLISECONDS]' as whole numbers",
                )
                .saying(format!("\n\tInvalid {kind} telemetry file entry. Line {number}"), NO_LIST)
            })?;
            self.timed |= timed;
            self.ios.push(io);
        }
        if self.ios.is_empty() || self.ios.len() > LINES {
            return Err(IozoneComplaint::new(
                format!("{option} {name}: {} records", self.ios.len()),
                format!("give 1 to {LINES}"),
            ));
        }
        Ok(())
    }
}

/// A record, and whether its line tells the time before it.
fn entry(line: &str, compute: Nanos) -> Option<(ListedIo, bool)> {
    let numbers: Option<Vec<u64>> =
        line.split_whitespace().map(|number| number.parse().ok()).collect();
    let (offset, bytes, millis) = match numbers?[..] {
        [offset, bytes] => (offset, bytes, None),
        [offset, bytes, millis] => (offset, bytes, Some(millis)),
        _ => return None,
    };
    let of_a_day = millis.is_none_or(|millis| millis <= 86_400_000);
    let fits = (1..=1 << 30).contains(&bytes) && offset <= 1 << 60 && of_a_day;
    let compute = millis.map_or(compute, Nanos::millis);
    let io = ListedIo { offset: Bytes(offset), bytes: Bytes(bytes), compute };
    fits.then_some((io, millis.is_some()))
}

impl IozoneOptions {
    /// Reads the lists that the words name, and lets them say which tests there are and how large the file is.
    pub(super) fn load_lists(
        &mut self,
        files: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<(), IozoneComplaint> {
        if !self.is_listed() {
            return Ok(());
        }
        self.agree_with_lists()?;
        let compute = Nanos::millis(self.compute.unwrap_or_default());
        for (option, list) in [("-X", &mut self.write_list), ("-Y", &mut self.read_list)] {
            if let Some(list) = list {
                list.load(option, compute, files)?;
            }
        }
        self.tests.retain(|test| *test <= 1);
        if self.read_list.is_some() && !self.tests.contains(&1) {
            self.tests = vec![0, 1];
        }
        if self.write_list.is_some() && !self.tests.contains(&0) {
            self.tests.push(0);
        }
        let lists = [&self.write_list, &self.read_list];
        let reach = lists.into_iter().flatten().map(IoList::reach).max().unwrap_or_default();
        let record = self.records.first().copied().unwrap_or(4 * KIB);
        self.sizes = vec![reach.next_multiple_of(record)];
        Ok(())
    }

    /// Whether records come from files.
    pub fn is_listed(&self) -> bool {
        self.write_list.is_some() || self.read_list.is_some()
    }

    fn agree_with_lists(&self) -> Result<(), IozoneComplaint> {
        let writes = self.write_list.is_some();
        let option = if writes { "-X" } else { "-Y" };
        let against = [
            (
                self.pattern.is_some() || self.diagnostic,
                "-V, -+d or -+Z",
                "Full verification not supported in telemetry mode.",
            ),
            (self.jitter, "-K", "Disrupt not supported in telemetry mode."),
            (
                self.auto || self.four_columns || self.sizes.len() > 1 || self.records.len() > 1,
                "-a or several sizes",
                "Auto mode not supported in telemetry mode.\n\tTry:   -i 0 -i 1 ",
            ),
            (
                writes && !self.sizes.is_empty(),
                "-s",
                "Size of file is determined by telemetry file.",
            ),
            (
                writes && !self.records.is_empty(),
                "-r",
                "Record size of file is determined by telemetry file.",
            ),
            (self.stride_given, "-j", "Stride size is determined by telemetry file."),
        ];
        match against.into_iter().find(|(given, ..)| *given) {
            Some((_, other, line)) => Err(IozoneComplaint::new(
                format!("{option} and {other}: the file says which records there are"),
                format!("leave {other} out"),
            )
            .saying(format!("\n\t{line}\n"), MODES)),
            None => Ok(()),
        }
    }
}
