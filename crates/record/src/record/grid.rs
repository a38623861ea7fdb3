//! What a grid came to: each cell with its rate, and what of the machine it is a rate of.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Trust;
use assay_plan::unit::{Bandwidth, Bytes};

/// What a grid came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GridResult {
    /// The cells that were done, in the order of the plan.
    pub cells: Vec<GridFigure>,
}

impl GridResult {
    /// What was done, in the order in which it first was.
    pub fn tests(&self) -> Vec<&str> {
        let mut tests: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !tests.contains(&cell.test.as_str()) {
                tests.push(&cell.test);
            }
        }
        tests
    }

    /// The cells of a test.
    pub fn of_test(&self, test: &str) -> impl Iterator<Item = &GridFigure> {
        self.cells.iter().filter(move |cell| cell.test == test)
    }

    /// The sizes of its files, ascending.
    pub fn files(&self, test: &str) -> Vec<Bytes> {
        ascending(self.of_test(test).map(|cell| cell.file))
    }

    /// The sizes of its records, ascending.
    pub fn records(&self, test: &str) -> Vec<Bytes> {
        ascending(self.of_test(test).map(|cell| cell.record))
    }

    /// What the cells are of, with their number, of one test or of all: from the nearest to the CPU on.
    pub fn regions(&self, test: Option<&str>) -> Vec<(GridRegion, usize)> {
        let cells = self.cells.iter().filter(|cell| test.is_none_or(|test| cell.test == test));
        let mut regions: BTreeMap<GridRegion, usize> = BTreeMap::new();
        cells.for_each(|cell| *regions.entry(cell.region).or_default() += 1);
        regions.into_iter().collect()
    }
}

fn ascending(sizes: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
    sizes.collect::<BTreeSet<Bytes>>().into_iter().collect()
}

/// A cell: a test with a file of some size in I/Os of some size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GridFigure {
    pub phase: String,
    /// What was done.
    pub test: String,
    #[serde(default)]
    pub writes: bool,
    pub file: Bytes,
    /// Bytes of an I/O.
    pub record: Bytes,
    /// Bytes per second; absent where nothing moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// What that is a rate of.
    pub region: GridRegion,
    /// Whether the figure may be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

/// What a cell measured, by what the device was seen to move and by what fits where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GridRegion {
    /// Memory, and file and record together fit into the cache of a CPU of this level.
    CpuCache(u32),
    /// The page cache: the device moved no or few of the bytes.
    PageCache,
    /// Memory by design: the file lies in it.
    Memory,
    /// Part of the bytes came to the device or from it.
    Mixed,
    /// The device moved the bytes.
    Device,
    /// The evidence does not tell.
    Unknown,
}

impl GridRegion {
    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::CpuCache(level) => format!("CPU cache (L{level})"),
            Self::PageCache => "page cache".into(),
            Self::Memory => "memory by design".into(),
            Self::Mixed => "device and memory".into(),
            Self::Device => "device".into(),
            Self::Unknown => "unknown".into(),
        }
    }

    /// Whether memory took part, of whatever kind: then it is no figure of a disk.
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::CpuCache(_) | Self::PageCache | Self::Memory | Self::Mixed)
    }
}
