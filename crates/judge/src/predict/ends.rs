//! A copy with what stands at its two ends: what the judges of lines look at.

use std::path::{Path, PathBuf};

use super::super::compressed;
use super::view::SurveyView;
use assay_plan::plan::{CacheDrop, CopyWork, Durability, PlanOrigin};
use assay_plan::unit::Bytes;
use assay_record::claim::{CopiedData, ExhibitOf, ExhibitSource, ExhibitValue};
use assay_record::evidence::{Direction, LeafKind, PathKind, Survey};
use assay_record::record::{Exhibit, Finding};

/// Who knows a trap of copies.
pub(super) type EndsJudge = fn(&CopyEnds<'_>) -> Option<Finding>;

/// An option of the command, as it was typed or not.
pub(super) fn typed(option: &str, value: impl Into<ExhibitValue>) -> Exhibit {
    Exhibit::new(ExhibitOf::CommandOption(option.into()), value, ExhibitSource::Command)
}

/// A copy and its two ends.
pub(super) struct CopyEnds<'a> {
    pub copy: &'a CopyWork,
    /// Whose words made it.
    pub origin: &'a PlanOrigin,
    /// What is dropped from memory before it.
    pub cold: CacheDrop,
    /// Where bytes come from; absent: standard input.
    pub from: Option<&'a SurveyView<'a>>,
    /// Where they go; absent: standard output.
    pub to: Option<&'a SurveyView<'a>>,
}

impl CopyEnds<'_> {
    /// What the source holds, as far as its name tells.
    pub fn data(&self) -> CopiedData {
        compressed::copied(self.copy)
    }

    /// The target, when it lies on a disk.
    pub fn written(&self) -> Option<&SurveyView<'_>> {
        self.to.filter(|to| to.bottom == LeafKind::Devices)
    }

    /// The source, when it lies on a disk.
    pub fn read(&self) -> Option<&SurveyView<'_>> {
        self.from.filter(|from| from.bottom == LeafKind::Devices && from.kind != PathKind::Missing)
    }

    /// The end whose speed the figure is taken for: the target, or the source when what is read
    /// goes nowhere.
    pub fn subject(&self) -> (Option<&SurveyView<'_>>, Direction) {
        let null = self.copy.to.path.as_deref() == Some(Path::new("/dev/null"));
        let nowhere = null || self.to.is_some_and(|to| matches!(to.bottom, LeafKind::Nothing(_)));
        if nowhere { (self.from, Direction::Read) } else { (self.to, Direction::Write) }
    }

    /// Bytes that will be copied, when the words and the source tell.
    pub fn bytes(&self) -> Option<Bytes> {
        let block = self.copy.input_block;
        let source = self.from.and_then(|from| source_size(from));
        let left = source.map(|size| size.less(self.copy.skip.in_bytes(block)));
        let counted = self.copy.count.map(|count| count.in_bytes(block));
        left.into_iter().chain(counted).min()
    }

    /// Writes that the copy will make.
    pub fn writes(&self) -> Option<u64> {
        Some(self.bytes()?.0.div_ceil(self.copy.output_block.0.max(1)))
    }

    /// Writes go past the page cache, as far as the words go.
    pub fn writes_direct(&self) -> bool {
        self.copy.to.flags.direct
    }

    /// Every write waits until it is durable.
    pub fn waits_each_time(&self) -> bool {
        let synchronous = matches!(
            self.copy.durability(),
            Durability::OpenSync | Durability::OpenDsync | Durability::FsyncEvery(_)
        );
        synchronous || self.to.is_some_and(|to| to.mounted_sync())
    }

    /// What is written is durable when the clock stops.
    pub fn durable(&self) -> bool {
        self.copy.durability().durable() || self.waits_each_time()
    }
}

/// Length of a file, or of a device.
fn source_size(survey: &Survey) -> Option<Bytes> {
    match survey.kind {
        PathKind::File => survey.file.as_ref().map(|file| file.size),
        PathKind::Device => {
            let device = survey.devices().next().filter(|device| device.partition.is_none())?;
            device.layer.size.seen().copied()
        }
        _ => None,
    }
}

/// The paths that a copy names.
pub(super) fn paths(copy: &CopyWork) -> Vec<PathBuf> {
    copy.from.path.iter().chain(&copy.to.path).cloned().collect()
}
