//! Writes the log of every I/O of a job to a file, or keeps it for the record, in a thread of its own,
//! away from those that do the I/O.
//!
//! In a file: one line for each I/O, as comma-separated values: when it was answered (ns since the start of
//! the phase), worker, operation, file, offset and length in bytes, latency in ns, and bytes moved
//! or the negative errno. Lines of one worker are in the order of their answers; those of several
//! are mixed page by page.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use assay_engine::engine::{FlushKind, LogEntry, LogPage, PageReturn, WorkerLog};
use assay_engine::output::{self, OutputMode};
use assay_engine::sys::close::close_file;
use assay_plan::error::{Doing, Fault};
use assay_plan::name::NameText as _;
use assay_plan::plan::LogForm;
use assay_plan::stats::SingleIo;
use assay_plan::unit::{Bytes, KIB, Timestamp};

/// The first line.
pub(super) const HEADING: &str = "time_ns,worker,op,file,offset,bytes,lat_ns,answer";

/// The first line of the form that has submission latencies and priorities, too.
pub(super) const SPLIT_HEADING: &str =
    "time_ns,worker,op,file,offset,bytes,lat_ns,answer,slat_ns,lag_ns,priority";

/// The first line of the form that has flushes, and the numbers by which all were sent.
pub(super) const ISSUED_HEADING: &str =
    "time_ns,worker,op,file,offset,bytes,lat_ns,answer,slat_ns,lag_ns,number,priority";

/// Where lines go.
enum LogOut {
    File(BufWriter<File>),
    Memory(Vec<u8>),
}

impl Write for LogOut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Memory(lines) => lines.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is left of a log when it is written.
#[derive(Debug, Default, PartialEq)]
pub(super) struct WrittenLog {
    /// I/Os that were kept for the record.
    pub each: Vec<SingleIo>,
    /// Lines that go to no file, and what the plan calls them.
    pub lines: Option<(PathBuf, Vec<u8>)>,
}

/// A log that is being written.
pub(super) struct IoLogWriter {
    /// The file, or its lines; absent where it is kept for the record.
    out: Option<(PathBuf, LogOut)>,
    form: LogForm,
    pages: Receiver<LogPage>,
    full: Option<Sender<LogPage>>,
    returns: Vec<PageReturn>,
}

impl IoLogWriter {
    /// Makes the file, unless lines stay in memory; what was in it is gone, unless the form is one that goes on.
    ///
    /// # Errors
    /// What making it answers.
    pub fn new(path: &Path, form: LogForm, in_memory: bool) -> Result<Self, Fault> {
        let fault = |error| Fault::new(Doing::Create, path.to_text(), &error);
        let mode = match form {
            LogForm::OffsetLatency => OutputMode::Append,
            LogForm::Csv | LogForm::Split | LogForm::Issued => OutputMode::Anew,
        };
        let mut out = match in_memory {
            true => LogOut::Memory(Vec::new()),
            // It has been looked at before; what has been put there since is no word of the user's.
            false => LogOut::File(BufWriter::with_capacity(1 << 20, output::open(path, mode)?)),
        };
        match form {
            LogForm::Csv => writeln!(out, "{HEADING}").map_err(fault)?,
            LogForm::Split => writeln!(out, "{SPLIT_HEADING}").map_err(fault)?,
            LogForm::Issued => writeln!(out, "{ISSUED_HEADING}").map_err(fault)?,
            LogForm::OffsetLatency => {}
        }
        Ok(Self { out: Some((path.to_path_buf(), out)), form, ..Self::kept() })
    }

    /// One that is kept for the record.
    pub fn kept() -> Self {
        let (full, pages) = channel();
        Self { out: None, form: LogForm::default(), pages, full: Some(full), returns: Vec::new() }
    }

    /// The log of one more worker. `None` after [`IoLogWriter::write`] has begun.
    pub fn worker(&mut self) -> Option<WorkerLog> {
        let (log, back) = WorkerLog::new(self.returns.len(), self.full.clone()?);
        self.returns.push(back);
        Some(log.with_flushes(self.form == LogForm::Issued))
    }

    /// Writes until every worker has ended; or gives back those I/Os that were kept, or lines.
    ///
    /// # Errors
    /// The first thing that writing answered; the rest is not written.
    pub fn write(mut self, start: Timestamp) -> Result<WrittenLog, Fault> {
        self.full = None;
        let mut written = WrittenLog::default();
        for mut page in &self.pages {
            for entry in page.entries.drain(..) {
                match &mut self.out {
                    Some((path, out)) => line(out, self.form, &entry, page.worker, start)
                        .map_err(|error| Fault::new(Doing::Write, path.to_text(), &error))?,
                    None => written.each.extend(single(&entry, start)),
                }
            }
            // The worker may have ended.
            let _ = self.returns[page.worker].send(page.entries);
        }
        match self.out {
            Some((path, LogOut::File(out))) => {
                let fault = |doing, error| Fault::new(doing, path.to_text(), &error);
                let file =
                    out.into_inner().map_err(|error| fault(Doing::Write, error.into_error()))?;
                close_file(file).map_err(|error| fault(Doing::Close, error))?;
            }
            Some((path, LogOut::Memory(lines))) => written.lines = Some((path, lines)),
            None => {}
        }
        Ok(written)
    }
}

/// The line of an I/O.
fn line(
    out: &mut impl Write,
    form: LogForm,
    entry: &LogEntry,
    worker: usize,
    start: Timestamp,
) -> io::Result<()> {
    if form == LogForm::OffsetLatency {
        let micros = entry.completed.since(entry.since).as_secs() * 1e6;
        return writeln!(out, "{:10} {micros:10.0} {:10}", entry.io.offset / KIB, entry.io.len);
    }
    write!(
        out,
        "{},{},{},{},{},{},{},{}",
        entry.completed.since(start).0,
        worker,
        match entry.flush {
            Some(FlushKind::Fsync) => "fsync",
            Some(FlushKind::Fdatasync) => "fdatasync",
            None => entry.io.op.action().name(),
        },
        entry.io.file,
        entry.io.offset,
        entry.io.len,
        entry.completed.since(entry.since).0,
        entry.answer
    )?;
    if form != LogForm::Csv {
        let (slat, lag) = (entry.accepted.since(entry.since), entry.sent.since(entry.since));
        write!(out, ",{},{}", slat.0, lag.0)?;
    }
    if form == LogForm::Issued {
        write!(out, ",{}", entry.number)?;
    }
    if form != LogForm::Csv {
        write!(out, ",{}", entry.priority)?;
    }
    writeln!(out)
}

/// What is kept of an I/O; nothing of one that failed.
fn single(entry: &LogEntry, start: Timestamp) -> Option<SingleIo> {
    (entry.answer > 0).then(|| SingleIo {
        offset: Bytes(entry.io.offset),
        at_ns: entry.since.since(start),
        lat_ns: entry.completed.since(entry.since),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_engine::engine::{IoOp, IoRequest};
    use assay_plan::unit::Nanos;

    /// A read of 4 KiB at 8 KiB, due at 1200, sent at 1220, taken at 1250 and answered whole at 1500.
    const READ: LogEntry = LogEntry {
        io: IoRequest { op: IoOp::Read, file: 0, offset: 8192, len: 4096 },
        flush: None,
        number: 0,
        priority: 24583,
        since: Timestamp(1200),
        sent: Timestamp(1220),
        accepted: Timestamp(1250),
        completed: Timestamp(1500),
        answer: 4096,
    };

    #[test]
    fn a_line_for_each_io() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let mut log_writer = IoLogWriter::new(&path, LogForm::Csv, false).unwrap();
        let mut log = log_writer.worker().unwrap();
        for (op, at, answer) in [(IoOp::Read, 1500, 4096), (IoOp::Write, 2500, -5)] {
            let io = IoRequest { op, file: 2, ..READ.io };
            log.add(LogEntry { io, completed: Timestamp(at), answer, ..READ });
        }
        drop(log);
        log_writer.write(Timestamp(1000)).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "time_ns,worker,op,file,offset,bytes,lat_ns,answer\n\
             500,0,read,2,8192,4096,300,4096\n\
             1500,0,write,2,8192,4096,1300,-5\n"
        );
    }

    #[test]
    fn submission_stands_at_the_end_of_a_line_where_it_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let mut log_writer = IoLogWriter::new(&path, LogForm::Split, false).unwrap();
        let mut log = log_writer.worker().unwrap();
        log.add(READ);
        drop(log);
        log_writer.write(Timestamp(1000)).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            format!("{SPLIT_HEADING}\n500,0,read,0,8192,4096,300,4096,50,20,24583\n")
        );
    }

    #[test]
    fn flushes_and_numbers_are_in_the_form_that_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let mut log_writer = IoLogWriter::new(&path, LogForm::Issued, false).unwrap();
        let mut log = log_writer.worker().unwrap();
        for (flush, number) in [(None, 1), (Some(FlushKind::Fdatasync), 2)] {
            let io = IoRequest { op: IoOp::Write, file: 3, offset: 0, len: 0 };
            log.add(LogEntry { io, flush, number, answer: 0, ..READ });
        }
        drop(log);
        log_writer.write(Timestamp(1000)).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            format!(
                "{ISSUED_HEADING}\n500,0,write,3,0,0,300,0,50,20,1,24583\n500,0,fdatasync,3,0,0,300,0,50,20,2,24583\n"
            )
        );
    }

    #[test]
    fn offsets_and_latencies_go_behind_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wol.dat");
        for (offset, at) in [(8192, 1500), (65_536, 9_001_200)] {
            let mut log_writer = IoLogWriter::new(&path, LogForm::OffsetLatency, false).unwrap();
            let mut log = log_writer.worker().unwrap();
            let io = IoRequest { offset, ..READ.io };
            log.add(LogEntry { io, completed: Timestamp(at), ..READ });
            drop(log);
            log_writer.write(Timestamp(1000)).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "         8          0       4096\n        64       9000       4096\n"
        );
    }

    #[test]
    fn what_failed_is_not_kept() {
        let mut log_writer = IoLogWriter::kept();
        let mut log = log_writer.worker().unwrap();
        for (at, answer) in [(1500, 4096), (2500, -5)] {
            log.add(LogEntry { completed: Timestamp(at), answer, ..READ });
        }
        drop(log);
        let one = SingleIo { offset: Bytes(8192), at_ns: Nanos(200), lat_ns: Nanos(300) };
        assert_eq!(log_writer.write(Timestamp(1000)).unwrap().each, [one]);
    }

    #[test]
    fn lines_can_stay_in_memory() {
        let path = Path::new("/dev/full");
        let mut log_writer = IoLogWriter::new(path, LogForm::Csv, true).unwrap();
        let mut log = log_writer.worker().unwrap();
        log.add(READ);
        drop(log);
        let lines = format!("{HEADING}\n500,0,read,0,8192,4096,300,4096\n").into_bytes();
        let lines = Some((path.to_path_buf(), lines));
        let written = WrittenLog { each: Vec::new(), lines };
        assert_eq!(log_writer.write(Timestamp(1000)).unwrap(), written);
    }

    #[test]
    fn a_full_disk_is_said() {
        let mut log_writer = IoLogWriter::new(Path::new("/dev/full"), LogForm::Csv, false).unwrap();
        drop(log_writer.worker());
        let fault = log_writer.write(Timestamp(0)).unwrap_err();
        assert_eq!((fault.doing.name(), fault.name.as_str()), ("write", "ENOSPC"));
    }
}
