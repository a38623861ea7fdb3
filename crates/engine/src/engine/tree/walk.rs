//! The ways through the files of a worker: by their numbers, and as their folders list them.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::RawDir;

use super::file_op::{
    AllocateFile, CreateFile, CreateFolder, FileOp, HardLink, OpenFile, OpenNewFile, ReadFile,
    RemoveFile, RenameFile, StatAll, StatFile, StatTarget, SymbolicLink, TruncateFile,
};
use super::meter::{OpDone, OpFailed, TreeMeter, stuck};
use super::worker::{TreeFile, TreeTools, TreeWorker};
use crate::engine::random::{Shuffle, mix};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, StatCall, TreeOrder, TreeSize};

/// A worker on its way.
pub(super) struct TreeWalk<'w, 'a> {
    pub(super) worker: &'w TreeWorker<'a>,
    pub(super) tree_meter: TreeMeter<'w, 'a>,
    pub(super) tools: TreeTools,
    /// Names that a folder holds.
    pub(super) listing: Vec<MaybeUninit<u8>>,
    /// From where paths below the root go.
    pub(super) dir: BorrowedFd<'w>,
    /// How many passes came before.
    pub(super) pass: u64,
}

impl TreeWalk<'_, '_> {
    /// One pass over all files.
    pub(super) fn pass(&mut self) {
        let action = self.worker.action;
        if !self.worker.named.is_empty() {
            self.named();
            self.pass += 1;
            return;
        }
        match action {
            Action::List => self.list(),
            Action::Create => match self.worker.size {
                TreeSize::Files { .. } => self.each::<CreateFile>(),
                TreeSize::SymbolicLinks => self.each::<SymbolicLink>(),
                TreeSize::HardLinks => self.each::<HardLink>(),
                TreeSize::Folders => self.each::<CreateFolder>(),
            },
            Action::Open => self.each::<OpenFile>(),
            Action::Stat => self.each::<StatFile>(),
            Action::Rename => self.each::<RenameFile>(),
            Action::Remove => self.each::<RemoveFile>(),
            Action::Read => self.each::<ReadFile>(),
            Action::Allocate => self.each::<AllocateFile>(),
            Action::Truncate => self.each::<TruncateFile>(),
            Action::Write
            | Action::Rewrite
            | Action::Trim
            | Action::Flush
            | Action::SyncFileRange
            | Action::Drop
            | Action::Close => unreachable!("the plan's check refuses '{}' here", action.name()),
        }
        if action == Action::Rename {
            self.tools.name.flip();
        }
        self.pass += 1;
    }

    /// One pass over files that stand for themselves.
    fn named(&mut self) {
        let folders = self.worker.size == TreeSize::Folders;
        match self.worker.action {
            Action::Create if folders => self.by_path::<CreateFolder>(),
            Action::Create => self.by_path::<OpenNewFile>(),
            Action::Stat => match self.worker.stat_call {
                StatCall::Lstat => self.by_path::<StatFile>(),
                StatCall::Stat => self.by_path::<StatTarget>(),
                StatCall::Statx => self.by_path::<StatAll>(),
            },
            Action::Remove => self.by_path::<RemoveFile>(),
            other => unreachable!("the plan's check refuses '{}' here", other.name()),
        }
    }

    fn by_path<A: FileOp>(&mut self) {
        let Self { worker, tree_meter, tools, dir, .. } = self;
        for (number, path) in (0..).zip(worker.named.iter()) {
            let Some(since) = tree_meter.next() else { return };
            let at = TreeFile { dir: *dir, path, folder: None, number, folder_number: 0 };
            match A::act(worker, tools, &at) {
                Ok(done) => tree_meter.done(since, done),
                Err(stuck) => return tree_meter.fail(stuck, path),
            }
        }
    }

    fn each<A: FileOp>(&mut self) {
        match self.worker.order {
            TreeOrder::AsListed => self.as_listed::<A>(),
            TreeOrder::ByName | TreeOrder::Shuffled => self.by_number::<A>(),
        }
    }

    /// In the order of names, or shuffled.
    fn by_number<A: FileOp>(&mut self) {
        let Self { worker, tree_meter, tools, dir, .. } = self;
        let shuffle = (worker.order == TreeOrder::Shuffled).then(|| {
            let key = worker.seed ^ mix(self.pass + (u64::from(worker.number) << 32));
            Shuffle::new(worker.files, key)
        });
        let mut name = tools.name;
        for step in 0..worker.files {
            let Some(since) = tree_meter.next() else { return };
            let number = shuffle.as_ref().map_or(step, |shuffle| shuffle.at(step));
            let folder_number = worker.folder_of(number);
            name.point(folder_number, number);
            let at = TreeFile { dir: *dir, path: name.path(), folder: None, number, folder_number };
            let answer = A::act(worker, tools, &at);
            if !tree_meter.ended(since, answer, &tools.name, &at) {
                return;
            }
        }
    }

    /// As the file system lists them.
    fn as_listed<A: FileOp>(&mut self) {
        let Self { worker, tree_meter, tools, listing, .. } = self;
        let mut visited = 0;
        for folder in 0..worker.used_folders() {
            let fd = match worker.open_folder(folder) {
                Ok(fd) => fd,
                Err(stuck) => return tree_meter.fail(stuck, c"."),
            };
            let dir = tools.stand_in(&fd);
            let mut entries = RawDir::new(&fd, listing);
            loop {
                let fresh = entries.is_buffer_empty();
                let entry = entries.next();
                if fresh {
                    let lat_ns = tree_meter.skip();
                    if tree_meter.now >= tree_meter.worker_totals.counted {
                        tree_meter.listings.add(0, 0, lat_ns);
                    }
                }
                let entry = match entry {
                    None => break,
                    Some(Ok(entry)) => entry,
                    Some(Err(errno)) => return tree_meter.fail((Doing::List, errno), c"."),
                };
                // Others' files, the anchor, and names that this very pass has given.
                let path = entry.file_name();
                let Some(number) = tools.name.number_in(path.to_bytes()) else { continue };
                let Some(since) = tree_meter.next() else { return };
                let at =
                    TreeFile { dir, path, folder: Some(fd.as_fd()), number, folder_number: folder };
                let answer = A::act(worker, tools, &at);
                if !tree_meter.ended(since, answer, &tools.name, &at) {
                    return;
                }
                visited += 1;
            }
        }
        if visited != worker.files {
            tree_meter.cut = true;
            tree_meter.worker_totals.fault.get_or_insert_with(|| {
                let text = format!("{visited} of {} files were listed", worker.files);
                let hint = "something else changes this folder, or its file system lists wrongly";
                Fault::told(Doing::List, worker.path.as_str(), text).hinting(hint)
            });
        }
    }

    /// One pass over the folders: all names of each.
    pub(super) fn list(&mut self) {
        let Self { worker, tree_meter, tools, listing, .. } = self;
        let folders = worker.used_folders();
        let shuffle = (worker.order == TreeOrder::Shuffled)
            .then(|| Shuffle::new(folders, worker.seed ^ mix(self.pass)));
        for step in 0..folders {
            let Some(since) = tree_meter.next() else { return };
            let folder = shuffle.as_ref().map_or(step, |shuffle| shuffle.at(step));
            let mut all = || -> Result<(), OpFailed> {
                let fd = worker.open_folder(folder)?;
                let mut entries = RawDir::new(&fd, listing);
                while let Some(entry) = entries.next() {
                    entry.map_err(stuck(Doing::List))?;
                }
                Ok(())
            };
            match all() {
                Ok(()) => tree_meter.done(since, OpDone::default()),
                Err(stuck) => {
                    tools.name.point(folder, 0);
                    return tree_meter.fail(stuck, tools.name.path());
                }
            }
        }
    }
}
