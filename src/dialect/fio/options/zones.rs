//! Zones: strides through a file. Those of zoned block devices are not done here.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioFault, FioJob, FioZoneMode};

const NO_ZBD: FioStanding =
    FioStanding::Refused("zonemode=strided, or leave it out: zones of devices are not done here");
const NO_FDP: FioStanding =
    FioStanding::Refused("leave it out: placement of data in a device is not done here");

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "zonemode",
        FioKind::Word(FioZoneMode::WORDS),
        "what zonesize, zonerange and zoneskip mean",
        zonemode,
        "--name=a --size=1m --zonemode=strided --zonesize=64k --zoneskip=64k",
    )
    .default("none"),
    FioOption::new(
        "zonesize",
        FioKind::SIZE,
        "how much is done in a zone",
        |job, value| value.u64(&mut job.zones.size),
        "--name=a --size=1m --zonemode=strided --zonesize=64k",
    )
    .default("0"),
    FioOption::idle("zonecapacity", FioKind::SIZE, "how much of a zone can be written", NO_ZBD, "")
        .default("0"),
    FioOption::new(
        "zonerange",
        FioKind::SIZE,
        "how long a zone is",
        |job, value| value.u64(&mut job.zones.range),
        "--name=a --size=1m --zonemode=strided --zonesize=64k --zonerange=128k",
    )
    .default("0"),
    FioOption::new(
        "zoneskip",
        FioKind::Amount,
        "how much is skipped between two zones",
        |job, value| {
            job.zones.skip = value.amount();
            Ok(())
        },
        "--name=a --size=1m --zonemode=strided --zonesize=64k --zoneskip=64k",
    )
    .default("0"),
    FioOption::idle("read_beyond_wp", FioKind::Bool, "read beyond the write pointer", NO_ZBD, "")
        .default("0"),
    FioOption::idle(
        "max_open_zones",
        FioKind::between(0, 4096),
        "zones that are open at a time",
        NO_ZBD,
        "",
    )
    .default("0"),
    FioOption::idle(
        "job_max_open_zones",
        FioKind::between(0, 4096),
        "zones that are open at a time for each clone",
        NO_ZBD,
        "",
    )
    .default("0"),
    FioOption::idle(
        "ignore_zone_limits",
        FioKind::Bool,
        "let more zones be open than the device says",
        NO_ZBD,
        "",
    )
    .default("0"),
    FioOption::idle(
        "zone_reset_threshold",
        FioKind::Floats { least: 0.0, most: 1.0, length: 1 },
        "reset zones when so much is written",
        NO_ZBD,
        "",
    ),
    FioOption::idle(
        "zone_reset_frequency",
        FioKind::Floats { least: 0.0, most: 1.0, length: 1 },
        "reset zones so often",
        NO_ZBD,
        "",
    ),
    FioOption::idle(
        "recover_zbd_write_error",
        FioKind::Bool,
        "go on after an error of a write pointer",
        NO_ZBD,
        "",
    )
    .default("0"),
    FioOption::idle(
        "write_zone_remainder",
        FioKind::Bool,
        "write what is left of a zone",
        NO_ZBD,
        "",
    )
    .default("0"),
    FioOption::idle("fdp", FioKind::Bool, "use flexible data placement", NO_FDP, "").default("0"),
    FioOption::idle(
        "dataplacement",
        FioKind::Free,
        "how data are placed in a device: none, fdp, streams",
        NO_FDP,
        "",
    )
    .alias("data_placement")
    .default("none"),
    FioOption::idle(
        "plid_select",
        FioKind::Free,
        "how a placement is chosen: random, roundrobin, scheme",
        NO_FDP,
        "",
    )
    .alias("fdp_pli_select")
    .default("roundrobin"),
    FioOption::idle("plids", FioKind::Free, "the placements that are used", NO_FDP, "")
        .alias("fdp_pli"),
    FioOption::idle("dp_scheme", FioKind::Text, "a file with placements", NO_FDP, ""),
];

fn zonemode(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    value.choice(&mut job.zones.mode, FioZoneMode::of)?;
    match job.zones.mode {
        FioZoneMode::Zbd if !value.dry => Err(FioFault::new(
            "'zonemode=zbd' is not done here: it would need the zones of the device",
            "zonemode=strided, or leave it out",
        )),
        _ => Ok(()),
    }
}
