//! Buffered or direct: what the plan asks for, and what can be had here.

use assay_plan::error::Refusal;
use assay_plan::plan::{BlockWork, Caching, Pattern, StopLimit, StopRule};
use assay_record::evidence::DirectIo;

use super::fitter::PlanFitter;

impl PlanFitter<'_> {
    /// What is asked of the page cache, where the method leaves a choice.
    pub(super) fn cached(&mut self, blocks: &BlockWork) -> Caching {
        if blocks.method.needs_page_cache() && blocks.caching == Caching::DirectIfReal {
            self.note(format!("{} goes through the page cache", blocks.method.name()));
            return Caching::Buffered;
        }
        blocks.caching
    }

    /// btrfs takes direct writes through the page cache where it keeps checksums (6.15), waits for their writeback before
    /// it answers and drops the pages (`btrfs_direct_write`); reads that fit its sectors are direct. What came from memory
    /// nonetheless the device's counters tell.
    fn meets_the_device(&self, subject: usize) -> bool {
        let mount = self.subjects[subject].mount.seen();
        mount.is_some_and(|mount| mount.kind == "btrfs" && mount.compresses().is_none())
    }

    /// Buffered or direct.
    pub(super) fn caching(
        &mut self,
        wanted: Caching,
        subject: usize,
        pattern: &Pattern,
        stop: &StopRule,
    ) -> Result<Caching, Refusal> {
        let direct: Option<DirectIo> = self.subjects[subject].direct.seen().copied();
        let align = direct.and_then(|direct| direct.align).map_or(512, |align| align.offset.max(1));
        let bytes = stop.first_of.iter().filter_map(|limit| match limit {
            StopLimit::Bytes(bytes) => Some(*bytes),
            _ => None,
        });
        let mut words = vec![
            ("a block size", pattern.block.grain()),
            ("an offset", pattern.region.offset),
            ("a step per worker", pattern.region.step_per_worker),
            ("an align", pattern.region.align.unwrap_or_default()),
        ];
        words.extend(bytes.map(|bytes| ("a limit", bytes)));
        let odd = words.into_iter().find(|(_, bytes)| !bytes.0.is_multiple_of(align.into()));
        let fits = odd.is_none();
        let name = &self.subjects[subject].path;
        match wanted {
            Caching::Buffered | Caching::DropBehind => Ok(wanted),
            Caching::Direct => match odd {
                None => Ok(Caching::Direct),
                Some((word, bytes)) => Err(Refusal::new(
                    format!(
                        "'direct' contradicts {word} of {} bytes: direct I/O on {name} needs multiples of {align} bytes",
                        bytes.0
                    ),
                    format!("give a multiple of {align}, or use 'buffered'"),
                )),
            },
            // The phase is not done.
            Caching::DirectIfReal
                if odd.is_some()
                    && self.leaves_out
                    && direct.and_then(|direct| direct.real()) == Some(true) =>
            {
                Ok(Caching::Direct)
            }
            Caching::DirectIfReal
                if fits
                    && direct
                        .is_some_and(|direct| direct.accepted && direct.real() != Some(true))
                    && self.meets_the_device(subject) =>
            {
                self.note(format!(
                    "direct writes to {name} may go through the page cache, and are at the device when they return"
                ));
                Ok(Caching::Direct)
            }
            Caching::DirectIfReal => {
                let why = match direct {
                    _ if !fits => format!("its blocks are no multiples of {align} bytes"),
                    Some(direct) if direct.real() == Some(true) => return Ok(Caching::Direct),
                    Some(direct) if !direct.accepted => "it is refused".into(),
                    Some(direct) if direct.real() == Some(false) => {
                        "it is accepted, but goes through the page cache".into()
                    }
                    _ => "nothing shows that it goes past the page cache".into(),
                };
                let note =
                    format!("no direct I/O on {name}: {why}; buffered I/O with a flush is used");
                self.note(note);
                Ok(Caching::Buffered)
            }
        }
    }
}
