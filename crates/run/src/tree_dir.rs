//! The folders in which work on trees of files happens: made, filled before a phase needs it,
//! emptied, and taken away again.
//!
//! A grove is one folder of this run's own below the folder that the plan names; each kind of tree
//! has a folder in it. Nothing else is ever touched.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use assay_engine::engine::{ANCHOR, folder_name};
use assay_engine::output::{create_new, create_new_folder, remove_tree};
use assay_engine::sys::close::close_file;
use assay_plan::error::{Doing, Fault};
use assay_plan::name::{self, NameText as _};
use assay_plan::plan::{Action, TreeWork};

use super::leftovers;
use super::named_files::{paths_from, taken_away};

/// One folder of this run's own.
#[derive(Debug)]
pub(super) struct TreeDir {
    /// The folder below which it lies.
    pub dir: PathBuf,
    /// Which subject of the record it lies on.
    pub subject: usize,
    /// It stays.
    keep: bool,
    top: Option<(PathBuf, File)>,
    file_sets: Vec<FileSet>,
}

/// The files of one kind of tree.
#[derive(Debug)]
struct FileSet {
    tree: TreeWork,
    workers: u32,
    /// The open root of each worker, or the one that they share.
    roots: Vec<Arc<OwnedFd>>,
    /// Paths of files that stand for themselves, from the root.
    names: Arc<[CString]>,
    held: FileSetContents,
}

/// What a set holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileSetContents {
    /// Its folders, and no file.
    Nothing,
    /// Every file.
    All {
        /// By the other of their two names.
        renamed: bool,
        content: FileContent,
    },
    /// Some of them, or nobody knows.
    Unsure,
}

/// What is in the files of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// What the plan says.
    Data,
    /// Nothing.
    Empty,
    /// Blocks without data.
    Allocated,
}

/// What must be made before a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFiles {
    Nothing,
    /// What is there must go.
    Room,
    /// The files, with their data or without.
    Files {
        data: bool,
    },
}

impl TreeDir {
    /// The grove below a folder, not yet made.
    pub fn below(dir: &Path, subject: usize, keep: bool) -> Self {
        Self { dir: dir.to_path_buf(), subject, keep, top: None, file_sets: Vec::new() }
    }

    /// What it is called in faults and in the record.
    pub fn label(&self) -> String {
        self.dir.to_text()
    }

    fn fault(&self, doing: Doing, path: &Path, error: &io::Error) -> Fault {
        Fault::new(doing, path.to_text(), error)
    }

    /// Makes it, and the folders of a tree in it, as far as they are not there; the number of the
    /// tree in it.
    pub fn open(&mut self, run: &str, tree: &TreeWork, workers: u32) -> Result<usize, Fault> {
        if self.top.is_none() && tree.named.is_empty() {
            leftovers::sweep(&self.dir);
            self.top = Some(match self.keep {
                true => {
                    let path = self.dir.join(format!("assay-{run}.tree"));
                    let open = create_new_folder(&path, 0o777)
                        .map_err(|error| self.fault(Doing::Create, &path, &error))?;
                    (path, open)
                }
                false => leftovers::make_tree(&self.dir, run)?,
            });
        }
        let known =
            self.file_sets.iter().position(|s| s.workers == workers && s.tree.is_same(tree));
        if let Some(known) = known {
            return Ok(known);
        }
        let set = FileSet {
            tree: tree.clone(),
            workers,
            roots: Vec::new(),
            names: Arc::from([]),
            held: FileSetContents::Nothing,
        };
        self.file_sets.push(set);
        let number = self.file_sets.len() - 1;
        match tree.named.is_empty() {
            true => self.make_folders(number)?,
            false => self.find_named(number)?,
        }
        Ok(number)
    }

    /// Opens the folder of files that stand for themselves.
    fn find_named(&mut self, number: usize) -> Result<(), Fault> {
        let open = File::open(&self.dir);
        let open = open.map_err(|error| self.fault(Doing::Open, &self.dir, &error))?;
        let names = paths_from(&self.file_sets[number].tree);
        let names = names.map_err(|error| self.fault(Doing::Find, &self.dir, &error))?;
        self.file_sets[number].roots = vec![Arc::new(open.into())];
        self.file_sets[number].names = names.into();
        Ok(())
    }

    /// The paths of files that stand for themselves.
    pub fn names(&self, number: usize) -> Arc<[CString]> {
        self.file_sets[number].names.clone()
    }

    /// The folder of one kind of tree.
    fn folder(&self, number: usize) -> PathBuf {
        let top = self.top.as_ref().map_or(self.dir.as_path(), |(top, _)| top.as_path());
        top.join(format!("t{number}"))
    }

    fn root(&self, number: usize, worker: u32) -> PathBuf {
        match self.file_sets[number].tree.shared {
            true => self.folder(number).join("all"),
            false => self.folder(number).join(format!("w{worker:04}")),
        }
    }

    /// Makes the roots, subfolders and anchors of one kind of tree.
    fn make_folders(&mut self, number: usize) -> Result<(), Fault> {
        let set = &self.file_sets[number];
        let make = |path: &Path| {
            fs::create_dir(path).map_err(|error| self.fault(Doing::Create, path, &error))
        };
        make(&self.folder(number))?;
        let workers = if set.tree.shared { 1 } else { set.workers };
        let mut roots = Vec::new();
        for worker in 0..workers {
            let root = self.root(number, worker);
            make(&root)?;
            for folder in 0..set.tree.folders {
                make(&root.join(folder_name(folder)))?;
            }
            let anchor = root.join(name::path(&name::word(ANCHOR.to_bytes())));
            let made = create_new(&anchor, 0o666)
                .map_err(|error| self.fault(Doing::Create, &anchor, &error))?;
            close_file(made).map_err(|error| self.fault(Doing::Close, &anchor, &error))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let open = rustix::fs::open(&root, flags, Mode::empty())
                .map_err(|error| self.fault(Doing::Open, &root, &error.into()))?;
            roots.push(Arc::new(open));
        }
        self.file_sets[number].roots = roots;
        Ok(())
    }

    /// The open root of one worker, and what it is called in faults.
    pub fn open_root(&self, number: usize, worker: u32) -> (Arc<OwnedFd>, String) {
        let set = &self.file_sets[number];
        if !set.tree.named.is_empty() {
            return (set.roots[0].clone(), self.label());
        }
        let place = if set.tree.shared { 0 } else { worker as usize };
        (set.roots[place].clone(), self.root(number, worker).to_text())
    }

    /// What an action needs that is not there.
    pub fn missing(&self, number: usize, action: Action) -> MissingFiles {
        match (action, self.file_sets[number].held) {
            (Action::Create, FileSetContents::Nothing) => MissingFiles::Nothing,
            (Action::Create, _) => MissingFiles::Room,
            (Action::Allocate, FileSetContents::All { content: FileContent::Empty, .. }) => {
                MissingFiles::Nothing
            }
            (Action::Allocate, _) => MissingFiles::Files { data: false },
            (Action::Read, FileSetContents::All { content: FileContent::Data, .. }) => {
                MissingFiles::Nothing
            }
            (Action::Read, _) => MissingFiles::Files { data: true },
            // What is empty cannot be cut.
            (Action::Truncate, FileSetContents::All { content: FileContent::Empty, .. }) => {
                MissingFiles::Files { data: true }
            }
            (_, FileSetContents::All { .. }) => MissingFiles::Nothing,
            (_, _) => MissingFiles::Files { data: true },
        }
    }

    /// Whether the files have the other of their names.
    pub fn renamed(&self, number: usize) -> bool {
        matches!(self.file_sets[number].held, FileSetContents::All { renamed: true, .. })
    }

    /// What it holds now.
    pub fn hold(&mut self, number: usize, held: FileSetContents) {
        self.file_sets[number].held = held;
    }

    /// What it holds after an action that was done to all its files, or not to all.
    pub fn after(&mut self, number: usize, action: Action, whole: bool, renamed: bool) {
        let held = self.file_sets[number].held;
        let content = match held {
            FileSetContents::All { content, .. } => content,
            _ => FileContent::Data,
        };
        self.file_sets[number].held = match action {
            _ if !action.changes() => held,
            _ if !whole => FileSetContents::Unsure,
            Action::Create => FileSetContents::All { renamed: false, content: FileContent::Data },
            Action::Remove => FileSetContents::Nothing,
            Action::Truncate => FileSetContents::All { renamed, content: FileContent::Empty },
            Action::Allocate => FileSetContents::All { renamed, content: FileContent::Allocated },
            _ => FileSetContents::All { renamed, content },
        };
    }

    /// Removes every file of one kind of tree.
    pub fn clear(&mut self, number: usize) -> Result<(), Fault> {
        let folder = self.folder(number);
        let open = File::open(&folder);
        let open = open.map_err(|error| self.fault(Doing::Open, &folder, &error))?;
        remove_tree(&folder, &open, false)?;
        self.make_folders(number)?;
        self.file_sets[number].held = FileSetContents::Nothing;
        Ok(())
    }

    /// An open folder: through it its file system is reached.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        let root = || self.file_sets.first()?.roots.first().map(|root| root.as_fd());
        self.top.as_ref().map(|(_, open)| open.as_fd()).or_else(root)
    }

    /// Takes it away, unless it is to be kept.
    ///
    /// What could not be removed comes back.
    pub fn remove_tree(&mut self) -> Vec<Fault> {
        let mut faults: Vec<Fault> =
            self.file_sets.drain(..).flat_map(|set| taken_away(&set.tree)).collect();
        if let Some((path, open)) = self.top.take().filter(|_| !self.keep) {
            faults.extend(remove_tree(&path, &open, false).err());
        }
        faults
    }
}

impl Drop for TreeDir {
    fn drop(&mut self) {
        self.remove_tree();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(dir: &Path, change: impl FnOnce(&mut TreeWork)) -> TreeWork {
        let mut tree: TreeWork = serde_json::from_value(serde_json::json!({
            "dir": dir, "action": "create", "files": 10, "folders": 2,
        }))
        .unwrap();
        change(&mut tree);
        tree
    }

    #[test]
    fn a_grove_goes_with_its_run_and_leaves_the_rest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = folder.path().join("mine");
        fs::write(&foreign, "x").unwrap();
        let dead = leftovers::make_tree(folder.path(), leftovers::tests::DEAD).unwrap().0;
        fs::create_dir_all(dead.join("t0/w0000")).unwrap();

        let mut tree_dir = TreeDir::below(folder.path(), 0, false);
        let number = tree_dir.open("run", &tree(folder.path(), |_| {}), 2).unwrap();
        assert!(!dead.exists() && foreign.exists());
        let top = folder.path().join(".assay-run.tree");
        assert!(top.join("t0/w0001/d000001").is_dir() && top.join("t0/w0001/anchor").is_file());
        // The same tree for another action; another one for other workers.
        let stat = tree(folder.path(), |tree| tree.action = Action::Stat);
        assert_eq!(tree_dir.open("run", &stat, 2).unwrap(), number);
        assert_eq!(tree_dir.open("run", &stat, 3).unwrap(), number + 1);
        drop(tree_dir);
        assert!(!top.exists() && foreign.exists());
    }

    #[test]
    fn what_an_action_finds_follows_from_those_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree_dir = TreeDir::below(folder.path(), 0, false);
        let number = tree_dir.open("run", &tree(folder.path(), |_| {}), 1).unwrap();
        let files = |data| MissingFiles::Files { data };
        assert_eq!(tree_dir.missing(number, Action::Create), MissingFiles::Nothing);
        assert_eq!(tree_dir.missing(number, Action::Stat), files(true));
        tree_dir.after(number, Action::Create, true, false);
        assert_eq!(tree_dir.missing(number, Action::Create), MissingFiles::Room);
        assert_eq!(tree_dir.missing(number, Action::Read), MissingFiles::Nothing);
        tree_dir.after(number, Action::Rename, true, true);
        assert!(tree_dir.renamed(number));
        tree_dir.after(number, Action::Truncate, true, true);
        assert_eq!(tree_dir.missing(number, Action::Read), files(true));
        assert_eq!(tree_dir.missing(number, Action::Truncate), files(true));
        assert_eq!(tree_dir.missing(number, Action::Allocate), MissingFiles::Nothing);
        tree_dir.after(number, Action::Stat, false, true);
        assert_eq!(tree_dir.missing(number, Action::Open), MissingFiles::Nothing);
        tree_dir.after(number, Action::Remove, false, true);
        assert_eq!(tree_dir.missing(number, Action::Stat), files(true));
        tree_dir.after(number, Action::Remove, true, true);
        assert_eq!(tree_dir.missing(number, Action::Create), MissingFiles::Nothing);
    }
}
