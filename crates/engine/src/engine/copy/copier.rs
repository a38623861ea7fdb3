//! The parts of a running copy, and why it is left early.

use rustix::io::Errno;

use super::meter::CopyMeter;
use super::orders::CopyOrders;
use super::reader::InputReader;
use super::records::RecordConverter;
use super::writer::OutputWriter;
use crate::sys::buffer::Buffer;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan;
use assay_plan::stats::copy::CopyEvent;
use assay_plan::unit::{Bytes, Timestamp};

/// The parts of a running copy.
pub(super) struct Copier<'a> {
    pub(super) plan: &'a plan::CopyWork,
    pub(super) reader: InputReader<'a>,
    pub(super) writer: OutputWriter<'a>,
    pub(super) meter: CopyMeter<'a>,
    pub(super) stop: &'a CopyOrders,
    /// When it began, and when it is to tell next how far it has come.
    pub(super) started: Timestamp,
    pub(super) tells_at: Timestamp,
    pub(super) tell: &'a mut dyn FnMut(CopyEvent),
    pub(super) converter: Option<RecordConverter>,
    /// A failure that did not end the copy.
    pub(super) fault: Option<Fault>,
    /// Read and write took over.
    pub(super) handover: Option<CopyHandover>,
    /// What else is not as planned.
    pub(super) notes: Vec<String>,
}

/// Why the loop was left early.
pub(super) enum CopyStop {
    /// Something failed; what can still be flushed is.
    Failed(Fault),
    /// The same, and it has been told.
    Told(Fault),
    /// Nothing more makes sense, not even a flush.
    Dead(Fault),
    /// The flag to stop is up.
    Stopped,
}

/// Why the kernel does not move the rest.
#[derive(Clone, Copy)]
pub(super) enum KernelRefusal {
    /// It said so.
    Errno(Errno),
    /// It moves nothing: at the end of the input, or of a file whose size it does not know.
    Nothing,
}

/// Where read and write took over.
pub(super) struct CopyHandover {
    pub(super) call: &'static str,
    pub(super) refused: KernelRefusal,
    /// Bytes written until then.
    pub(super) at: u64,
}

/// Memory for a buffer; the fault carries the `asked` size as its place.
pub(super) fn memory(len: usize, what: &str, asked: usize) -> Result<Buffer, CopyStop> {
    Buffer::new(len).map_err(|error| {
        let fault = Fault::new(Doing::FindMemory, what, &error).at(asked as u64);
        CopyStop::Dead(fault.hinting(format!(
            "a block of {} has to fit in memory: with bs=1M no disk is slower",
            Bytes(asked as u64)
        )))
    })
}
