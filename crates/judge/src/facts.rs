//! What a place is, by a look at it or by the record of a run there. `probe`, `explain` and the judges of a run go by the
//! same facts and the same thresholds, and show the same readings for them.

use super::threshold::{CARD_ERASE, FRAGMENTS, FRAGMENTS_LEAST, NEARLY_FULL};
use super::words::of;
use assay_plan::unit::{Bytes, MIB};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LayerWork};
use assay_record::evidence::{
    BlockLayer, Extents, FilesystemSpace, LayerKind, LeafKind, Machine, Mount, NumaNode, PathKind,
    Subject, Survey,
};
use assay_record::record::Exhibit;

pub struct PlaceFacts<'a> {
    pub path: &'a str,
    pub kind: PathKind,
    pub bottom: &'a LeafKind,
    /// The mounts on the way, that of the path first: a record has no other.
    pub mounts: Vec<&'a Mount>,
    /// The devices on the way, those that the path names first.
    pub layers: Vec<&'a BlockLayer>,
    pub space: Option<&'a FilesystemSpace>,
    /// How a file lies, before the run.
    pub extents: Option<&'a Extents>,
    /// What offsets of direct I/O are multiples of; 0: there is none.
    pub direct_unit: Option<u32>,
    pub machine: &'a Machine,
}

impl<'a> PlaceFacts<'a> {
    /// By a look at it.
    pub fn surveyed(survey: &'a Survey, machine: &'a Machine) -> Self {
        Self {
            path: &survey.path,
            kind: survey.kind,
            bottom: &survey.bottom,
            mounts: survey.mounts().collect(),
            layers: survey.devices().map(|device| &device.layer).collect(),
            space: survey.space.seen(),
            extents: survey.file.as_ref().and_then(|file| file.extents.seen()),
            direct_unit: survey.direct.seen().map(|align| align.offset),
            machine,
        }
    }

    /// By the record of a run there.
    pub fn recorded(
        subject: &'a Subject,
        extents: Option<&'a Extents>,
        machine: &'a Machine,
    ) -> Self {
        Self {
            path: &subject.path,
            kind: subject.kind,
            bottom: &subject.bottom,
            mounts: subject.mount.seen().into_iter().collect(),
            layers: subject.stack.iter().collect(),
            space: subject.space.seen(),
            extents,
            direct_unit: subject.direct.seen().and_then(|direct| direct.align).map(|a| a.offset),
            machine,
        }
    }

    /// The first device on the way of which something is known.
    pub fn find<T>(
        &self,
        known: impl Fn(&'a BlockLayer) -> Option<T>,
    ) -> Option<(&'a BlockLayer, T)> {
        self.layers.iter().find_map(|layer| Some((*layer, known(layer)?)))
    }

    /// A device that can be trimmed, with the reading.
    pub fn trimmable(&self) -> Option<(&'a BlockLayer, Exhibit)> {
        self.find(|layer| {
            let shown = || {
                shown(
                    layer,
                    ExhibitOf::SupportsDiscard,
                    ExhibitValue::Yes,
                    "queue/discard_max_bytes",
                )
            };
            layer.can_trim().then(shown)
        })
    }

    /// The devices on the way whose node is known, with it and the reading.
    pub fn near(&self) -> impl Iterator<Item = (&'a BlockLayer, &'a NumaNode, Exhibit)> {
        let nodes = &self.machine.nodes;
        self.layers.iter().filter_map(|layer| {
            let near = nodes.iter().find(|node| Some(node.number) == layer.hardware.node)?;
            let value = ExhibitValue::Node { number: near.number, cpus: near.cpus.clone() };
            let of = ExhibitOf::NodeOf(layer.name.clone());
            Some((*layer, near, Exhibit::new(of, value, "numa_node, /sys/devices/system/node")))
        })
    }

    /// What direct I/O takes multiples of: as the file system says, else the sector of the device that the path names.
    pub fn direct_multiple(&self) -> Option<Bytes> {
        let told = self.direct_unit.filter(|unit| *unit > 0).map(|unit| Bytes(unit.into()));
        told.or_else(|| self.layers.first()?.logical_sector())
    }

    /// The kernel says that there is no direct I/O here; the reading.
    pub fn not_direct(&self) -> Option<Exhibit> {
        (self.direct_unit == Some(0)).then(|| {
            let value = ExhibitValue::DirectNotSupported;
            Exhibit::new(ExhibitOf::DirectAlignment, value, "statx STATX_DIOALIGN")
        })
    }

    /// How much of a file has no data on the device.
    pub fn empty_share(&self) -> f64 {
        self.extents.map_or(0.0, |extents| extents.share(extents.empty()))
    }

    /// How much of it lies compressed or encrypted.
    pub fn encoded_share(&self) -> f64 {
        self.extents.map_or(0.0, |extents| extents.share(extents.encoded))
    }

    pub fn shown_empty(&self) -> Option<Exhibit> {
        let extents = self.extents?;
        let value = of(extents.empty(), extents.range);
        Some(Exhibit::new(ExhibitOf::HolesIn(self.path.into()), value, "FIEMAP"))
    }

    pub fn shown_encoded(&self) -> Option<Exhibit> {
        let extents = self.extents?;
        let value = of(extents.encoded, extents.range);
        Some(Exhibit::new(ExhibitOf::EncodedIn(self.path.into()), value, "FIEMAP"))
    }

    /// The extents of a file that lies in many pieces, and the reading. A compressed one has an extent for each 128 KiB,
    /// wherever they lie.
    pub fn in_pieces(&self) -> Option<(u64, Exhibit)> {
        let Extents { count, range, encoded, .. } = *self.extents?;
        let many = count as f64 * MIB as f64 > range.0 as f64 * FRAGMENTS;
        (many && count >= FRAGMENTS_LEAST && encoded == Bytes::ZERO).then(|| {
            let value = ExhibitValue::ExtentsIn { extents: count, range };
            (count, Exhibit::new(ExhibitOf::ExtentsOf(self.path.into()), value, "FIEMAP"))
        })
    }

    /// Where its file system is mounted.
    pub fn point(&self) -> &'a str {
        self.mounts.first().map_or(self.path, |mount| &mount.point)
    }

    /// The free part of a file system that is nearly full, and the reading.
    pub fn nearly_full(&self) -> Option<(f64, Exhibit)> {
        let space = self.space?;
        let free = space.free_share().filter(|free| *free < NEARLY_FULL)?;
        let on = ExhibitOf::FreeOn(self.point().into());
        Some((free, Exhibit::new(on, of(space.free, space.total), "statfs()")))
    }

    /// What was found below it.
    pub fn shown_below(&self, what: &str) -> Exhibit {
        let source = if self.mounts.is_empty() { "stat()" } else { "/proc/self/mountinfo" };
        Exhibit::new(ExhibitOf::Below(self.path.into()), what, source)
    }
}

/// How a file system is mounted.
pub fn mount_options(mount: &Mount) -> Exhibit {
    let of = ExhibitOf::MountOptions(mount.point.clone());
    Exhibit::new(of, mount.options.clone(), "/proc/self/mountinfo")
}

pub fn mount_option(mount: &Mount, option: &str) -> Exhibit {
    Exhibit::new(ExhibitOf::MountOption(mount.point.clone()), option, "/proc/self/mountinfo")
}

/// Something that a file of a device shows.
pub fn shown(
    layer: &BlockLayer,
    of: fn(String) -> ExhibitOf,
    value: impl Into<ExhibitValue>,
    file: &str,
) -> Exhibit {
    Exhibit::new(of(layer.name.clone()), value, ExhibitSource::block(&layer.name, file))
}

pub fn shown_mapped(layer: &BlockLayer) -> Exhibit {
    shown(layer, ExhibitOf::Dax, 1_u64, "queue/dax")
}

pub fn shown_zones(layer: &BlockLayer, zones: &str) -> Exhibit {
    shown(layer, ExhibitOf::Zones, zones, "queue/zoned")
}

pub fn shown_logical(layer: &BlockLayer, sector: Bytes) -> Exhibit {
    shown(layer, ExhibitOf::LogicalSector, sector, "queue/logical_block_size")
}

/// The block that a drive really writes.
pub fn shown_physical(layer: &BlockLayer, sector: Bytes) -> Exhibit {
    shown(layer, ExhibitOf::PhysicalSector, sector, "queue/physical_block_size")
}

/// The erase block of a card, and the reading.
pub fn erase_block(layer: &BlockLayer) -> Option<(Bytes, Exhibit)> {
    let erase = layer.hardware.card.as_ref()?.erase?;
    Some((erase, shown(layer, ExhibitOf::EraseBlock, erase, "device/preferred_erase_size")))
}

/// The same where it is so large that small writes cost much.
pub fn large_erase(layer: &BlockLayer) -> Option<(Bytes, Exhibit)> {
    erase_block(layer).filter(|(erase, _)| *erase >= CARD_ERASE)
}

/// What a layer does to the bytes, and where that is read.
pub fn works_on_bytes(layer: &BlockLayer) -> Option<(LayerWork, Exhibit)> {
    match &layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            let exhibit = shown(layer, ExhibitOf::KindOf, uuid.as_str(), "dm/uuid");
            Some((LayerWork::Encrypts, exhibit))
        }
        LayerKind::Raid { level } => {
            let work = match level.as_str() {
                "raid1" | "raid10" => LayerWork::Mirrors,
                "raid4" | "raid5" | "raid6" => LayerWork::KeepsParity,
                _ => return None,
            };
            Some((work, shown(layer, ExhibitOf::LevelOf, level.as_str(), "md/level")))
        }
        _ => None,
    }
}

/// Whether a disk is one that a host makes of something else.
pub fn is_virtual(layer: &BlockLayer, machine: &Machine) -> bool {
    layer.hardware.bus == "virtio"
        || layer.name.starts_with("xvd")
        || machine.virtual_machine == Some(true)
            && layer.hardware.model.to_ascii_uppercase().contains("QEMU")
}
