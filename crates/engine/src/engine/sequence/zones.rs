//! Zones of a file, with gaps between them: when the next begins, and where.

use assay_plan::plan::StridedZones;

use super::file::SequenceFile;

/// The zone that is under way.
#[derive(Clone, Debug)]
pub(super) struct ZoneStride {
    zones: StridedZones,
    /// Where the first begins.
    home: u64,
    /// Where the file ends.
    end: u64,
    /// Where this one begins.
    at: u64,
    /// Bytes sent in it.
    sent: u64,
}

impl ZoneStride {
    pub(super) fn new(zones: StridedZones, home: u64, end: u64) -> Self {
        Self { zones, home, end, at: home, sent: 0 }
    }

    /// Goes on to the next zone when this one is done; where the zone begins that the next I/O of this direction
    /// is in. A zone in which more is moved than it is long begins again.
    pub(super) fn enter(&mut self, file: &mut SequenceFile, direction: usize) -> u64 {
        let StridedZones { size, range, skip } = self.zones;
        if self.sent >= size.0 {
            self.sent = 0;
            self.at = self.at.saturating_add(range.0).saturating_add(skip.0);
            if self.at >= self.end {
                self.at = self.home;
            }
            file.ends[direction] = self.at;
        }
        if file.ends[direction] >= self.at.saturating_add(range.0) {
            file.ends[direction] = self.at;
        }
        if self.sent.is_multiple_of(range.0) {
            file.reset(self.at);
        }
        self.at
    }

    /// An I/O of so many bytes is sent.
    pub(super) fn send(&mut self, bytes: u64) {
        self.sent += bytes;
    }
}
