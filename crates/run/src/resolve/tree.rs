//! A tree of files as the target of a job.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use assay_engine::engine::DataFiller;
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, CacheDrop, Caching, Job, Method, Plan, StopLimit, TreeSize, TreeWork,
};
use assay_plan::unit::Bytes;
use assay_record::evidence::{FilesystemSpace, folder_of};
use assay_record::record::ResolvedJob;

use super::super::tree_dir::TreeDir;
use super::fitted::JobPlace;
use super::fitter::PlanFitter;
use super::target::writable;

impl PlanFitter<'_> {
    /// Work on a tree of files.
    pub(super) fn tree(
        &mut self,
        (plan, number): (&Plan, usize),
        job: &Job,
        tree: &TreeWork,
    ) -> Result<(ResolvedJob, JobPlace), Error> {
        let (phase, seed) = (&plan.phases[number], plan.seed);
        DataFiller::new(&tree.fill, seed)?;
        if let Some(why) = too_often(tree, &job.stop.first_of) {
            return Err(Refusal::new(why, "give 1, or repeat the phases").into());
        }
        if phase.cold == CacheDrop::Target && tree.named.is_empty() {
            return Err(Refusal::new(
                "the names and attributes of single files cannot be dropped from memory",
                "use cold 'machine', or 'keep'",
            )
            .into());
        }
        if job.workers > 1024 {
            return Err(
                Refusal::new(format!("{} workers", job.workers), "give 1024 or fewer").into()
            );
        }
        let files = tree.files.saturating_mul(u64::from(job.workers));
        let files =
            u32::try_from(files).ok().filter(|&files| files <= 1 << 31).ok_or_else(|| {
                Refusal::new(
                    format!("{files} files in all"),
                    format!("give {} or fewer", 1_u64 << 31),
                )
            })?;
        let dir = &tree.dir;
        let name = dir.to_text();
        match std::fs::metadata(dir) {
            Err(error) => {
                return Err(Refusal::new(
                    format!("{name}: {}", Fault::new(Doing::Open, "", &error).text),
                    "name a folder that is there",
                )
                .into());
            }
            Ok(found) if !found.is_dir() => {
                return Err(Refusal::new(format!("{name} is no folder"), "name a folder").into());
            }
            Ok(_) => writable(dir)?,
        }
        named_on_one(tree)?;
        let space = rustix::fs::statvfs(dir).ok();
        let roots = if tree.shared { 1 } else { u64::from(job.workers) };
        // A hard link is a name and no file.
        let named = if tree.size == TreeSize::HardLinks { 0 } else { u64::from(files) };
        let inodes = named + roots * u64::from(tree.folders);
        // btrfs and others say 0: they have as many as they have room.
        if let Some(space) = space.filter(|space| space.f_files > 0)
            && inodes > space.f_favail
        {
            return Err(Refusal::new(
                format!(
                    "{inodes} files and folders do not fit: {name} has room for {} more",
                    space.f_favail
                ),
                "give fewer",
            )
            .into());
        }
        let subject = self.subject(dir);
        let most = Bytes(tree.largest().0.saturating_mul(u64::from(files)));
        let free = self.subjects[subject].space.seen().and_then(FilesystemSpace::known_free);
        if let Some(free) = free
            && most > free
        {
            return Err(Refusal::new(
                format!("{files} files with {most} do not fit: {free} are free on {name}"),
                "give fewer or smaller files, or free some space",
            )
            .into());
        }
        let known = self.tree_dirs.iter().position(|tree_dir| tree_dir.dir == *dir);
        let tree_dir = known.unwrap_or_else(|| {
            self.tree_dirs.push(TreeDir::below(dir, subject, self.kept.contains(dir)));
            self.tree_dirs.len() - 1
        });
        let resolved = ResolvedJob {
            phase: number,
            job: job.name.clone(),
            size: most,
            files,
            method: Method::Psync,
            caching: Caching::Buffered,
            iodepth: 1,
            workers: job.workers,
            writes_at_most: Some(most),
        };
        Ok((resolved, JobPlace::Tree(tree_dir)))
    }
}

/// Refuses named files that do not all lie on the file system of their tree, or in folders where nothing can be
/// made.
fn named_on_one(tree: &TreeWork) -> Result<(), Refusal> {
    let mut looked_at: Vec<&Path> = Vec::new();
    let home = std::fs::metadata(&tree.dir).map(|found| found.dev()).ok();
    for path in &tree.named {
        let folder = folder_of(path);
        if looked_at.contains(&folder) {
            continue;
        }
        looked_at.push(folder);
        writable(folder)?;
        if std::fs::metadata(folder).map(|found| found.dev()).ok() != home {
            return Err(Refusal::new(
                format!("{} and {} lie on two file systems", tree.dir.to_text(), folder.to_text()),
                "give the files of each file system a job of their own",
            ));
        }
    }
    Ok(())
}

/// Why a job on a tree cannot have this limit, if it cannot.
fn too_often(tree: &TreeWork, limits: &[StopLimit]) -> Option<String> {
    let once = matches!(
        tree.action,
        Action::Create | Action::Remove | Action::Truncate | Action::Allocate
    );
    limits.iter().find_map(|limit| match limit {
        StopLimit::Passes(passes) if once && *passes > 1 => {
            Some(format!("{passes} passes of '{}'", tree.action.name()))
        }
        _ => None,
    })
}
