//! A copy between two ends.

use std::path::Path;

use assay_engine::sys::start;
use assay_plan::error::{Error, Refusal};
use assay_plan::plan::{Caching, CopyCalls, CopyWork, Job, Method, Plan};
use assay_record::evidence::{LeafKind, PathKind, Reading, Subject};
use assay_record::record::ResolvedJob;

use super::fitted::JobPlace;
use super::fitter::PlanFitter;

impl PlanFitter<'_> {
    /// What a copy comes to here, and its two ends.
    pub(super) fn copy(
        &mut self,
        (plan, number): (&Plan, usize),
        job: &Job,
        copy: &CopyWork,
    ) -> Result<(ResolvedJob, JobPlace), Error> {
        if plan.phases[number].jobs.len() > 1 || job.workers > 1 {
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
            self.note(format!("{calls} cannot make this copy: {why}; read and write do"));
        }
        let from = self.end(copy.from.path.as_deref(), "standard input", false);
        let to = self.end(copy.to.path.as_deref(), "standard output", true);
        let most = copy.count.map(|count| count.in_bytes(copy.input_block));
        let direct = copy.to.flags.direct;
        let resolved = ResolvedJob {
            phase: number,
            job: job.name.clone(),
            size: most.unwrap_or_default(),
            files: 1,
            method: Method::Sync,
            caching: if direct { Caching::Direct } else { Caching::Buffered },
            iodepth: 1,
            workers: 1,
            writes_at_most: most,
        };
        Ok((resolved, JobPlace::Between(from, to)))
    }

    /// The subject of an end of a copy; a stream is reached through its descriptor.
    fn end(&mut self, path: Option<&Path>, stream: &str, written: bool) -> usize {
        match path {
            Some(path) if written => return self.subject_to_write(path),
            Some(path) => return self.subject(path),
            None => {}
        }
        let number = u8::from(stream == "standard output");
        let real = std::fs::read_link(format!("/proc/self/fd/{number}"))
            .ok()
            .filter(|_| !start::was_closed(number))
            .filter(|path| path.is_absolute() && path.exists());
        let mut subject = match real {
            Some(path) => self.sys_root.subject_beside(&path, &self.subjects),
            None => Subject {
                host: 0,
                path: String::new(),
                kind: PathKind::Stream,
                mount: Reading::Unseen("a stream lies on no mount".into()),
                space: Reading::Unseen("a stream has no space".into()),
                stack: Vec::new(),
                bottom: LeafKind::Nothing(stream.into()),
                direct: Reading::Unseen("a stream is not opened".into()),
                copies: None,
                sync_attribute: false,
                copied_up: false,
            },
        };
        subject.path = stream.into();
        self.subjects.push(subject);
        self.subjects.len() - 1
    }
}
