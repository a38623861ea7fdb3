//! The method of a job as this kernel and its target take it.

use std::io;
use std::path::Path;

use assay_engine::engine::try_vectored;
use assay_engine::sys::{aio, ring, stdio};
use assay_plan::error::{Doing, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Advice, BlockWork, Caching, Method, MmapOptions, RingOptions, Target, VectoredFlags,
};
use assay_plan::unit::Bytes;
use assay_record::evidence::CheckedCall;

use super::super::probe::ProbeGround;
use super::fitter::PlanFitter;

impl PlanFitter<'_> {
    /// The method that can be used here, with its depth and workers.
    pub(super) fn method(
        &mut self,
        blocks: &BlockWork,
        workers: u32,
    ) -> Result<(Method, u32, u32), Refusal> {
        if blocks.iodepth > 4096 {
            return Err(Refusal::new(format!("iodepth {}", blocks.iodepth), "give 4096 or less"));
        }
        if workers > 1024 {
            return Err(Refusal::new(format!("{workers} workers"), "give 1024 or fewer"));
        }
        match blocks.method {
            method if method.one_at_a_time() => {
                if blocks.iodepth > 1 {
                    self.note(format!(
                        "{} keeps one I/O in flight per worker: iodepth {} becomes 1 (q{workers} in all)",
                        method.name(),
                        blocks.iodepth
                    ));
                }
                if matches!(method, Method::Stdio { .. }) {
                    self.note(format!("stdio is that of {}", stdio::LIBRARY));
                }
                Ok((method, 1, workers))
            }
            Method::PosixAio => {
                if blocks.iodepth > 1 {
                    self.note(
                        "posixaio serves one request of a file at a time, as glibc's does: the others of its iodepth wait in a queue"
                            .into(),
                    );
                }
                Ok((blocks.method, blocks.iodepth, workers))
            }
            Method::Libaio(options) => match aio::available() {
                Ok(()) => Ok((blocks.method, blocks.iodepth, workers)),
                Err(error) => {
                    let why = self.why(CheckedCall::Other, &error);
                    if self.keeps(blocks.method, &why) {
                        return Ok((blocks.method, blocks.iodepth, workers));
                    }
                    if self.ring().is_ok() {
                        self.note(format!("libaio cannot be used here: {why}; io_uring stands in"));
                        let ring = RingOptions { batch: options.batch, ..RingOptions::default() };
                        return Ok((Method::IoUring(ring), blocks.iodepth, workers));
                    }
                    self.note(format!(
                        "libaio cannot be used here: {why}; {0} threads with pread and pwrite stand in for its depth of {0}",
                        blocks.iodepth
                    ));
                    Ok((Method::Pool, blocks.iodepth, workers))
                }
            },
            Method::IoUring(_) => match self.ring() {
                Ok(()) => Ok((blocks.method, blocks.iodepth, workers)),
                Err(why) => {
                    if self.keeps(blocks.method, &why) {
                        return Ok((blocks.method, blocks.iodepth, workers));
                    }
                    let note = format!(
                        "io_uring cannot be used here: {why}; {} threads with pread and pwrite stand in for its depth of {}",
                        blocks.iodepth, blocks.iodepth
                    );
                    // The same reason is said once, whatever the depths of the phases.
                    if !self.notes.iter().any(|note| note.starts_with("io_uring cannot")) {
                        self.note(note);
                    }
                    Ok((Method::Pool, blocks.iodepth, workers))
                }
            },
            method => Ok((method, blocks.iodepth, workers)),
        }
    }

    /// Whether a method stays though it has no queue here, as its tool would have it; then a note says what has one.
    fn keeps(&mut self, method: Method, why: &str) -> bool {
        let Some(option) = self.method_option.clone() else { return false };
        let (name, instead) = (method.name(), instead_of_queue(method, &option));
        self.note(format!("{name} cannot be used here: {why}; {instead}"));
        true
    }

    /// Whether io_uring can be used here, and if not why; asked once.
    fn ring(&mut self) -> Result<(), String> {
        if self.ring.is_none() {
            self.ring =
                Some(ring::available().map_err(|error| self.why(CheckedCall::IoUring, &error)));
        }
        self.ring.clone().unwrap_or(Ok(()))
    }

    /// The kernel's words for the refusal of a call, and who is behind it as far as that shows.
    fn why(&self, call: CheckedCall, error: &io::Error) -> String {
        let words = reason(Doing::Use, error);
        match error.raw_os_error().and_then(|errno| self.sys_root.forbids(call, errno)) {
            Some(who) => format!("{words}, {who}"),
            None => words,
        }
    }

    /// The method as this target takes it. What it does not take is left out and said, or another
    /// method stands in; where that would break a promise it is refused.
    pub(super) fn suited(
        &mut self,
        method: Method,
        blocks: &BlockWork,
        caching: Caching,
        path: &Path,
    ) -> Result<Method, Refusal> {
        let name = path.to_text();
        let ground = || ProbeGround::of(&blocks.target, path, caching == Caching::Direct);
        match method {
            Method::Vectored(flags) => {
                let writes = blocks.pattern.mix.writes();
                self.flags(flags, blocks, &name.to_string(), |only| ground()?.takes(only, writes))?
                    .map_or(Ok(Method::Psync), |flags| {
                        if flags.atomic && writes {
                            atomic(blocks, ground().ok().and_then(|g| g.atomic()), path)?;
                        }
                        Ok(Method::Vectored(flags))
                    })
            }
            Method::IoUring(mut ring) if ring.flags != VectoredFlags::NONE => {
                ring.flags = self.queued_flags(ring.flags, blocks, path, caching)?;
                self.suited(
                    Method::IoUring(RingOptions { flags: VectoredFlags::NONE, ..ring }),
                    blocks,
                    caching,
                    path,
                )
                .map(|method| match method {
                    Method::IoUring(suited) => {
                        Method::IoUring(RingOptions { flags: ring.flags, ..suited })
                    }
                    other => other,
                })
            }
            Method::Libaio(mut aio) if aio.flags != VectoredFlags::NONE => {
                aio.flags = self.queued_flags(aio.flags, blocks, path, caching)?;
                Ok(Method::Libaio(aio))
            }
            Method::Mmap(mapping) => {
                // A file that is not there yet is tried by the kernel when it is.
                if let Err(error) = ground().and_then(|ground| ground.maps())
                    && matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EOPNOTSUPP))
                {
                    let why = reason(Doing::Map, &error);
                    self.note(format!("{name} cannot be mapped: {why}; psync stands in"));
                    return Ok(Method::Psync);
                }
                let advice = match mapping.advice {
                    Advice::AsOrder if blocks.pattern.order.sequential() => Advice::Sequential,
                    Advice::AsOrder => Advice::Random,
                    advice => advice,
                };
                Ok(Method::Mmap(MmapOptions { advice, ..mapping }))
            }
            Method::Libaio(_) if caching == Caching::Buffered && blocks.iodepth > 1 => {
                self.note(
                    "libaio does buffered I/O inside io_submit, one after the other: its iodepth is reached by direct I/O only"
                        .into(),
                );
                Ok(method)
            }
            Method::IoUring(mut ring) if ring.polled || ring.sqpoll => {
                if ring.sqpoll {
                    let thread = RingOptions { polled: false, ..ring };
                    if let Err(error) = ground().and_then(|ground| ground.rings(thread)) {
                        let why = reason(Doing::Make, &error);
                        self.note(format!(
                            "io_uring cannot have a submission thread here: {why}; each batch is submitted by a call"
                        ));
                        (ring.sqpoll, ring.sqpoll_cpu) = (false, None);
                    }
                }
                if ring.polled {
                    let answer = if caching == Caching::Direct {
                        ground().and_then(|ground| ground.rings(ring))
                    } else {
                        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
                    };
                    if let Err(error) = answer {
                        let why = match caching {
                            Caching::Direct => reason(Doing::Poll, &error),
                            _ => "it is buffered".into(),
                        };
                        self.note(format!(
                            "completions cannot be polled from {name}: {why}; interrupts tell of them"
                        ));
                        ring.polled = false;
                    }
                }
                Ok(Method::IoUring(ring))
            }
            method => Ok(method),
        }
    }

    /// The flags of a queue as a target takes them: those of preadv2 and pwritev2 are tried.
    fn queued_flags(
        &mut self,
        flags: VectoredFlags,
        blocks: &BlockWork,
        path: &Path,
        caching: Caching,
    ) -> Result<VectoredFlags, Refusal> {
        let name = path.to_text();
        let ground = || ProbeGround::of(&blocks.target, path, caching == Caching::Direct);
        let writes = blocks.pattern.mix.writes();
        let taken =
            self.flags(flags, blocks, &name.to_string(), |only| ground()?.takes(only, writes))?;
        if flags.atomic && writes {
            atomic(blocks, ground().ok().and_then(|g| g.atomic()), path)?;
        }
        Ok(taken.unwrap_or(flags))
    }

    /// The flags that a target takes: each is tried alone. `None`: the calls are missing.
    fn flags(
        &mut self,
        mut flags: VectoredFlags,
        blocks: &BlockWork,
        name: &str,
        takes: impl Fn(VectoredFlags) -> io::Result<()>,
    ) -> Result<Option<VectoredFlags>, Refusal> {
        let promises = flags.dsync || flags.sync || flags.atomic || flags.append;
        if matches!(blocks.target, Target::Device { .. }) && flags.append {
            return Err(Refusal::new(
                format!("append and {name}: a device cannot grow"),
                "leave 'append' out",
            ));
        }
        if let Err(error) = try_vectored() {
            let why = self.why(CheckedCall::Other, &error);
            if promises {
                return Err(Refusal::new(
                    format!("preadv2 and pwritev2 cannot be used here: {why}"),
                    "use psync with a durability",
                ));
            }
            self.note(format!("preadv2 and pwritev2 cannot be used here: {why}; psync stands in"));
            return Ok(None);
        }
        const REFUSED: [i32; 2] = [libc::EOPNOTSUPP, libc::EINVAL];
        for (word, hint, flag) in [
            ("RWF_HIPRI", "", flags_only(|f| &mut f.hipri)),
            ("RWF_NOWAIT", "", flags_only(|f| &mut f.nowait)),
            ("RWF_DONTCACHE", "", flags_only(|f| &mut f.dontcache)),
            ("RWF_DSYNC", "use open_dsync", flags_only(|f| &mut f.dsync)),
            ("RWF_SYNC", "use open_sync", flags_only(|f| &mut f.sync)),
            ("RWF_APPEND", "leave 'append' out", flags_only(|f| &mut f.append)),
        ] {
            if !flag.asked(&mut flags) {
                continue;
            }
            let Err(error) = takes(flag.alone()) else { continue };
            if !error.raw_os_error().is_some_and(|errno| REFUSED.contains(&errno)) {
                continue;
            }
            let why = reason(Doing::Use, &error);
            if !hint.is_empty() {
                return Err(Refusal::new(format!("{name} does not take {word}: {why}"), hint));
            }
            self.note(format!("{name} does not take {word}: {why}; it is left out"));
            flag.clear(&mut flags);
        }
        Ok(Some(flags))
    }
}

/// What to write where this method has no queue: one that keeps I/Os in flight, or does them one by one.
pub(crate) fn instead_of_queue(method: Method, option: &str) -> String {
    let other = match method {
        Method::Libaio(_) if ring::available().is_ok() => "io_uring",
        Method::IoUring(_) if aio::available().is_ok() => "libaio",
        _ => "psync",
    };
    format!("use {option}={other}")
}

/// Whether a method moves a place that lies in the open file, so that workers cannot share one.
pub(super) fn own_places(method: Method) -> bool {
    matches!(method, Method::Sync | Method::Bytewise | Method::Stdio { .. })
}

/// One of the flags of [`VectoredFlags`].
struct MethodFlag(fn(&mut VectoredFlags) -> &mut bool);

fn flags_only(field: fn(&mut VectoredFlags) -> &mut bool) -> MethodFlag {
    MethodFlag(field)
}

impl MethodFlag {
    fn asked(&self, flags: &mut VectoredFlags) -> bool {
        *(self.0)(flags)
    }

    fn clear(&self, flags: &mut VectoredFlags) {
        *(self.0)(flags) = false;
    }

    fn alone(&self) -> VectoredFlags {
        let mut flags = VectoredFlags::default();
        *(self.0)(&mut flags) = true;
        flags
    }
}

/// The kernel's words for an error, with its name.
fn reason(doing: Doing, error: &io::Error) -> String {
    let fault = Fault::new(doing, "", error);
    if fault.name.is_empty() { fault.text } else { format!("{} ({})", fault.text, fault.name) }
}

/// Refuses blocks that cannot be written atomically.
fn atomic(blocks: &BlockWork, limits: Option<(u32, u32)>, path: &Path) -> Result<(), Refusal> {
    let name = path.to_text();
    let Some((least, most)) = limits else {
        return Err(Refusal::new(
            format!("{name} has no atomic writes: statx tells no sizes for them"),
            "leave 'atomic' out, or use a device and file system that have them",
        ));
    };
    let block = &blocks.pattern.block;
    let fits = |size: Bytes| {
        size.0.is_power_of_two() && (u64::from(least)..=u64::from(most)).contains(&size.0)
    };
    if fits(block.smallest()) && fits(block.largest()) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("{name} writes blocks of {least} to {most} bytes atomically, powers of two"),
        "give such a block size",
    ))
}
