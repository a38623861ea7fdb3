//! A copy between two ends.

use std::path::Path;

use crate::error::{Error, Refusal};
use crate::evidence::{Bottom, PathKind, Reading, Subject};
use crate::plan::{Caching, Copy, CopyCalls, Job, Method, Phase};
use crate::record::ResolvedJob;
use crate::unit::Bytes;

use super::{Fitting, Place};

impl Fitting<'_> {
    /// What a copy comes to here, and its two ends.
    pub(super) fn copy(
        &mut self,
        phase: &Phase,
        job: &Job,
        copy: &Copy,
    ) -> Result<(ResolvedJob, Place), Error> {
        if phase.jobs.len() > 1 || job.workers > 1 {
            return Err(Refusal::new(
                "a copy runs alone and with one worker",
                "give it a phase of its own",
            )
            .into());
        }
        if let Some(why) = copy.only_read_write()
            && copy.calls != CopyCalls::ReadWrite
        {
            let calls = copy.calls.name();
            self.note(format!("{calls} can not make this copy: {why}; read and write do"));
        }
        let from = self.end(copy.from.path.as_deref(), "standard input");
        let to = self.end(copy.to.path.as_deref(), "standard output");
        let most = copy
            .count
            .map(|count| Bytes(count.blocks.saturating_mul(copy.input_block.0)) + count.bytes);
        let direct = copy.to.flags.direct;
        let resolved = ResolvedJob {
            phase: phase.name.clone(),
            job: job.name.clone(),
            size: most.unwrap_or_default(),
            files: 1,
            method: Method::Sync,
            caching: if direct { Caching::Direct } else { Caching::Buffered },
            iodepth: 1,
            workers: 1,
            writes_at_most: most,
        };
        Ok((resolved, Place::Between(from, to)))
    }

    /// The subject of an end of a copy; a stream is reached through its descriptor.
    fn end(&mut self, path: Option<&Path>, stream: &str) -> usize {
        if let Some(path) = path {
            return self.subject(path);
        }
        let number = i32::from(stream == "standard output");
        let real = std::fs::read_link(format!("/proc/self/fd/{number}"))
            .ok()
            .filter(|path| path.is_absolute() && path.exists());
        let mut subject = match real {
            Some(path) => self.scene.subject(&path),
            None => Subject {
                path: String::new(),
                kind: PathKind::Stream,
                mount: Reading::Unseen("a stream lies on no mount".into()),
                space: Reading::Unseen("a stream has no space".into()),
                stack: Vec::new(),
                bottom: Bottom::Nothing(stream.into()),
                direct: Reading::Unseen("a stream is not opened".into()),
            },
        };
        subject.path = stream.into();
        self.subjects.push(subject);
        self.subjects.len() - 1
    }
}
