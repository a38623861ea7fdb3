//! `Laying out IO file`: what fio says of files that its jobs make or make longer, before any of them begins.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::placed::FioThere;
use crate::dialect::fio::job::{FioFallocate, FioJob};
use assay_plan::plan::{Job, Size, Target, TreeSize, Work};
use assay_plan::unit::MIB;

/// The lines, and how long files are by then.
pub(super) struct FilesLaidOut<'f> {
    there: &'f dyn Fn(&Path) -> FioThere,
    /// Those that a job before has made or made longer.
    lengths: HashMap<PathBuf, u64>,
    /// A line for each clone that makes any.
    pub lines: String,
}

impl<'f> FilesLaidOut<'f> {
    pub(super) fn new(there: &'f dyn Fn(&Path) -> FioThere) -> Self {
        Self { there, lengths: HashMap::new(), lines: String::new() }
    }

    /// The line of a clone, where a file of it is missing or too short.
    pub(super) fn add(&mut self, job: &FioJob, planned: &Job) {
        let target = &job.target;
        if job.queue.engine.without_disk() || target.create_on_open || job.replay.read.is_some() {
            return;
        }
        let (mut count, mut bytes) = (0_u64, 0_u64);
        for (path, size) in files_of(planned) {
            let found = || match (self.there)(path) {
                FioThere::File(bytes) => Some(bytes),
                FioThere::Nothing => Some(0),
                _ => None,
            };
            let Some(length) = self.lengths.get(path).copied().or_else(found) else { continue };
            if size <= length {
                continue;
            }
            (count, bytes) = (count + 1, bytes.saturating_add(size));
            if job.lengthens() {
                self.lengths.insert(path.clone(), size);
            }
        }
        if count > 0 {
            let (s, total) = if count > 1 { ("s", "total ") } else { ("", "") };
            self.lines += &format!(
                "{}: Laying out IO file{s} ({count} file{s} / {total}{}MiB)\n",
                job.name,
                bytes / MIB
            );
        }
    }
}

impl FioJob {
    /// Whether its files have their size before it begins: it writes them out, or allocates them.
    fn lengthens(&self) -> bool {
        let target = &self.target;
        let written = self.pattern.rw.reads() || target.overwrite && !target.file_append;
        let allocated = !matches!(target.fallocate, FioFallocate::None | FioFallocate::Keep);
        written || allocated && !target.fill_device
    }
}

/// The files of a planned job, each with the bytes that it is to have.
fn files_of(job: &Job) -> Vec<(&PathBuf, u64)> {
    match &job.work {
        Work::Blocks(blocks) => match &blocks.target {
            Target::File { path, size: Size::Exactly(size), .. } => vec![(path, size.0)],
            Target::Files { named, sizes, size: Size::Exactly(size), .. } => {
                let each = |file: usize| sizes.get(file).unwrap_or(size).0;
                named.iter().enumerate().map(|(file, path)| (path, each(file))).collect()
            }
            _ => Vec::new(),
        },
        Work::Tree(tree) => match tree.size {
            TreeSize::Files { most, .. } => tree.named.iter().map(|path| (path, most.0)).collect(),
            _ => Vec::new(),
        },
        Work::Copy(_) => Vec::new(),
    }
}
