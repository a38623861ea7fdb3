//! What is known while a plan is made to fit: what has been looked at, and what the jobs so far come to.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use assay_plan::name::NameText as _;
use assay_plan::plan::{LayoutMode, Target};
use assay_plan::unit::Bytes;
use assay_record::evidence::{Subject, SysRoot};

use super::super::open_target::OpenTarget;
use super::super::tree_dir::TreeDir;

/// A plan that is being made to fit. Each question that it leaves open is answered in a file of its own.
pub(super) struct PlanFitter<'a> {
    pub sys_root: &'a SysRoot,
    pub subjects: Vec<Subject>,
    pub open_targets: Vec<OpenTarget>,
    pub notes: Vec<String>,
    pub ring: Option<Result<(), String>>,
    /// Files that a job so far leaves behind.
    pub made: HashSet<PathBuf>,
    /// What jobs so far add to their file systems: mount point, file, bytes.
    pub added: Vec<(PathBuf, PathBuf, Bytes)>,
    /// Several files that a job so far works on.
    pub groups: Vec<FileGroup>,
    pub tree_dirs: Vec<TreeDir>,
    /// Folders in which a tree of the plan is to be kept.
    pub kept: Vec<PathBuf>,
    /// The phase at hand is left out where its blocks do not fit.
    pub leaves_out: bool,
    /// Folders of files that are missing are made.
    pub makes_folders: bool,
    /// Files may be larger than what is free.
    pub until_full: bool,
    /// A file that nothing was ever written to is read, too.
    pub reads_holes: bool,
    /// The option that names the method, where no other stands in for one without a queue.
    pub method_option: Option<String>,
    /// What the words call the size of a file of our own.
    pub size_option: String,
}

/// Several files of one name.
pub(super) struct FileGroup {
    pub target: Target,
    /// Their sites, by number.
    pub open_targets: Vec<usize>,
    /// How many of them are there once a job so far has run.
    pub made: u32,
}

impl PlanFitter<'_> {
    /// The subject of a path, looked at once.
    pub fn subject(&mut self, path: &Path) -> usize {
        let name = path.to_text();
        if let Some(known) = self.subjects.iter().position(|subject| subject.path == name) {
            return known;
        }
        let subject = self.sys_root.subject_beside(path, &self.subjects);
        self.subjects.push(subject);
        self.subjects.len() - 1
    }

    /// The subject of a path that is to be written.
    pub fn subject_to_write(&mut self, path: &Path) -> usize {
        let at = self.subject(path);
        if self.subjects[at].copied_up {
            self.subjects[at] = self.sys_root.subject_to_write(path);
        }
        at
    }

    /// Whether a file has to fit before anything begins: where it is written out beforehand, or nobody wants to see
    /// its file system full.
    pub fn has_to_fit(&self, target: &Target) -> bool {
        let laid = match target {
            Target::File { layout, .. } | Target::Files { layout, .. } => *layout,
            _ => LayoutMode::AsFound,
        };
        !self.until_full || laid == LayoutMode::Written
    }

    /// Keeps a note for the record, once.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
