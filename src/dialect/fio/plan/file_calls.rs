//! Engines that make, look at and remove files and folders: one call for each, and no data.

use std::path::PathBuf;

use super::target::folders;
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{FioEngine, FioJob, FioServiceOrder, FioStatType, refused};
use assay_plan::error::Refusal;
use assay_plan::plan::{
    Action, Durability, Fill, Naming, StatCall, StopLimit, StopRule, TreeOrder, TreeSize, TreeWork,
    Verify,
};
use assay_plan::unit::{Bytes, Nanos};

impl FioEngine {
    /// What an engine does to each file or folder, where that is all that it does.
    pub(in super::super) const fn file_call(self) -> Option<Action> {
        match self {
            Self::Filecreate | Self::Dircreate => Some(Action::Create),
            Self::Filestat | Self::Dirstat => Some(Action::Stat),
            Self::Filedelete | Self::Dirdelete => Some(Action::Remove),
            _ => None,
        }
    }
}

impl FioJob {
    /// The files of a clone, to which such an engine does something.
    pub(super) fn tree_of(&self, clone: u32, action: Action) -> Result<TreeWork, Refusal> {
        let named: Vec<PathBuf> =
            names::files_of(self, clone).into_iter().map(PathBuf::from).collect();
        let blocks = &self.pattern.bs;
        let block = if self.pattern.rw.writes() { blocks.write } else { blocks.read };
        let (least, most) = match (self.target.filesize, self.target.size) {
            (Some(sizes), _) => sizes,
            (None, Some(size)) => {
                let size = self.amount("size", size, 0)? / (named.len() as u64).max(1);
                (size, size)
            }
            (None, None) => return Err(self.needs_size()),
        };
        // Each block of a file is an I/O to fio, and does nothing but the first.
        if (least, most) != (block, block) {
            return Err(refused(
                self,
                if self.target.filesize.is_some() { "filesize" } else { "size" },
                "files of this engine have one block each: there is one call for each file",
                "give filesize= the value of bs=",
            ));
        }
        let in_turn = matches!(
            self.target.file_service.order,
            FioServiceOrder::Roundrobin | FioServiceOrder::Sequential
        );
        if !in_turn {
            return Err(refused(
                self,
                "file_service_type",
                "files of this engine are gone through in turn here",
                "leave it out",
            ));
        }
        let loops = self.schedule.loops > 1 || self.schedule.time_based;
        if loops && action != Action::Stat {
            return Err(refused(
                self,
                if self.schedule.time_based { "time_based" } else { "loops" },
                "what is there can be made or removed only once",
                "leave it out, and give more files",
            ));
        }
        let folder = folders(&named).swap_remove(0);
        let whole = matches!(
            self.queue.engine,
            FioEngine::Dircreate | FioEngine::Dirstat | FioEngine::Dirdelete
        );
        Ok(TreeWork {
            dir: folder,
            action,
            files: named.len() as u64,
            folders: 0,
            shared: false,
            stat_call: match self.queue.engine_options.stat_type {
                FioStatType::Stat => StatCall::Stat,
                FioStatType::Lstat => StatCall::Lstat,
                FioStatType::Statx => StatCall::Statx,
            },
            naming: Naming::default(),
            named,
            size: match whole {
                true => TreeSize::Folders,
                // What is made is empty.
                false if action == Action::Create => TreeSize::default(),
                false => TreeSize::Files { least: Bytes(least), most: Bytes(most) },
            },
            order: TreeOrder::ByName,
            block: None,
            stat_first: false,
            fill: Fill::Zero,
            verify: Verify::None,
            durability: Durability::None,
            sync_folder: false,
            lifetime: self.lifetime(),
        })
    }

    /// Until when such a clone works.
    pub(super) fn stop_of_tree(&self) -> StopRule {
        let schedule = &self.schedule;
        let time = Nanos::from(schedule.runtime);
        let endless = schedule.time_based && time > Nanos::ZERO;
        let limits = [
            (!endless).then_some(StopLimit::Passes(schedule.loops.max(1))),
            (time > Nanos::ZERO).then_some(StopLimit::Time(time)),
        ];
        StopRule {
            ramp: Nanos::from(schedule.ramp_time),
            ..StopRule::until(limits.into_iter().flatten())
        }
    }
}
