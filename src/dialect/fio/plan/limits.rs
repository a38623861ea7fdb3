//! What single I/Os of a job may do, and what ends with it.

use std::time::Duration;

use crate::dialect::fio::job::{FioExitWhat, FioJob, PerDirection};
use assay_plan::plan::{
    ByDirection, DepthSearch, ErrorTolerance, FaultReach, LeastRate, ServiceLevel,
};
use assay_plan::unit::{Bytes, Nanos};

/// The errors that are passed over where none are named.
const USUAL: [i32; 2] = [libc::EIO, libc::EILSEQ];

impl FioJob {
    /// What ends with a clone that fails.
    pub(super) fn on_fault(&self) -> FaultReach {
        match (self.schedule.exitall_on_error, self.schedule.exit_what) {
            (false, _) => FaultReach::Job,
            (true, FioExitWhat::All) => FaultReach::Run,
            (true, FioExitWhat::Group | FioExitWhat::Stonewall) => FaultReach::Phase,
        }
    }

    /// The errors that do not end it.
    pub(super) fn tolerance(&self) -> ErrorTolerance {
        let verify = &self.verify;
        let passed = |kind: usize, borne: bool| match verify.ignore_error[kind].as_slice() {
            _ if !borne => Vec::new(),
            [] => USUAL.to_vec(),
            named => named.to_vec(),
        };
        ErrorTolerance {
            read: passed(0, verify.borne.read),
            write: passed(1, verify.borne.write),
            wrong_blocks: passed(2, verify.borne.verify).contains(&libc::EILSEQ),
        }
    }

    /// What its I/Os have to keep to.
    pub(super) fn service_level(&self) -> ServiceLevel {
        let pace = &self.pace;
        let PerDirection { read, write, trim } = pace.max_latency;
        // Without the whole latency nobody knows which is too long.
        let untold = self.statistics.disable_lat || self.statistics.gtod_reduce;
        let longest = |time: Duration| Nanos::from(if untold { Duration::ZERO } else { time });
        let least = |bytes: u64, iops: u32| match (bytes, iops) {
            (0, 0) => None,
            (0, iops) => Some(LeastRate::Iops(iops.into())),
            (bytes, _) => Some(LeastRate::Bandwidth(Bytes(bytes))),
        };
        let least = ByDirection {
            read: least(pace.rate_min.read, pace.rate_iops_min.read),
            write: least(pace.rate_min.write, pace.rate_iops_min.write),
            trim: least(pace.rate_min.trim, pace.rate_iops_min.trim),
        };
        let watched = least != ByDirection::default();
        let cycle = pace.rate_cycle.max(Duration::from_millis(1));
        ServiceLevel {
            max_latency: ByDirection {
                read: longest(read),
                write: longest(write),
                trim: longest(trim),
            },
            least,
            window: Nanos::from(if watched { cycle } else { Duration::ZERO }),
            depth: (pace.latency_target > Duration::ZERO && !untold).then(|| DepthSearch {
                target: Nanos::from(pace.latency_target),
                window: Nanos::from(pace.latency_window.max(Duration::from_micros(1))),
                percent: pace.latency_percentile.clamp(f64::MIN_POSITIVE, 100.0),
                endless: pace.latency_run,
            }),
        }
    }
}
