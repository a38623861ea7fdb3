//! Options that are taken for the sake of old lines, and options of what is not measured here.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::job::FioEngine;

const GONE: FioStanding = FioStanding::Noted("fio takes it no more");
const NO_COMMANDS: FioStanding = FioStanding::Refused("ioengine=io_uring and the block device");
const CMD: &[FioEngine] = &[FioEngine::IoUringCmd];
const EXEC: &[FioEngine] = &[FioEngine::Exec];
const NET: &[FioEngine] = &[FioEngine::Net, FioEngine::Netsplice];

/// An option that nothing is done about.
const fn idle(
    name: &'static str,
    kind: FioKind,
    help: &'static str,
    standing: FioStanding,
) -> FioOption {
    FioOption::idle(name, kind, help, standing, "")
}

/// An option of a profile, and the option of a job that was probably meant.
const fn unused(
    name: &'static str,
    kind: FioKind,
    help: &'static str,
    meant: &'static str,
) -> FioOption {
    FioOption::idle(name, kind, help, FioStanding::Unused(meant), "")
}

pub(super) const OPTIONS: &[FioOption] = &[
    idle("percentage_sequential", FioKind::Gone, "nothing any more; percentage_random", GONE),
    idle("rwmixcycle", FioKind::Gone, "nothing any more", GONE),
    unused("device-names", FioKind::Text, "devices of the profile act", "filename"),
    unused("load", FioKind::INT, "the load of the profile act", ""),
    unused("test-duration", FioKind::TIME, "how long the profile act runs", "runtime"),
    unused("threads-per-queue", FioKind::INT, "threads of the profile act", "numjobs"),
    unused("read-req-num-512-blocks", FioKind::INT, "reads of the profile act", "bs"),
    unused("large-block-op-kbytes", FioKind::INT, "large blocks of the profile act", "bs"),
    unused("prep", FioKind::Flag, "preparation of the profile act", ""),
    unused("block", FioKind::INT, "block size of the profile tiobench", "bs"),
    unused("numruns", FioKind::INT, "runs of the profile tiobench", "loops"),
    unused("dir", FioKind::Text, "folder of the profile tiobench", "directory"),
    unused("threads", FioKind::INT, "threads of the profile tiobench", "thread"),
    idle("program", FioKind::Text, "the program that is run", NO_COMMANDS).of(EXEC),
    idle("arguments", FioKind::Text, "its arguments", NO_COMMANDS).of(EXEC),
    idle("grace_time", FioKind::INT, "how long it may take to end", NO_COMMANDS)
        .default("1")
        .of(EXEC),
    idle("std_redirect", FioKind::Bool, "write what it prints to files", NO_COMMANDS)
        .default("1")
        .of(EXEC),
    idle("write_mode", FioKind::Text, "which command writes", NO_COMMANDS).default("write").of(CMD),
    idle("verify_mode", FioKind::Text, "which command verifies", NO_COMMANDS)
        .default("read")
        .of(CMD),
    idle("cmd_type", FioKind::Text, "the kind of command", NO_COMMANDS).default("nvme").of(CMD),
    idle("md_per_io_size", FioKind::INT, "metadata of each I/O", NO_COMMANDS).default("0").of(CMD),
    idle("pi_act", FioKind::Bool, "who makes protection information", NO_COMMANDS)
        .default("1")
        .of(CMD),
    idle("pi_chk", FioKind::Text, "which protection information is checked", NO_COMMANDS).of(CMD),
    idle("apptag", FioKind::INT, "the application tag", NO_COMMANDS).default("0x1234").of(CMD),
    idle("apptag_mask", FioKind::INT, "which bits of it count", NO_COMMANDS)
        .default("0xffff")
        .of(CMD),
    idle("deac", FioKind::Bool, "deallocate with zeroes", NO_COMMANDS).default("0").of(CMD),
    idle("sg_write_mode", FioKind::Text, "which SCSI command writes", NO_COMMANDS)
        .default("write")
        .of(&[FioEngine::Sg]),
    idle("stream_id", FioKind::INT, "the stream of SCSI writes", NO_COMMANDS)
        .default("0")
        .of(&[FioEngine::Sg]),
    idle("skip_bad", FioKind::Bool, "leave bad blocks out", NO_COMMANDS).of(&[FioEngine::Mtd]),
    idle("hostname", FioKind::Text, "the other machine", NO_COMMANDS).of(NET),
    idle("port", FioKind::between(1, 65535), "its port", NO_COMMANDS).of(NET),
    idle("protocol", FioKind::Text, "the protocol", NO_COMMANDS)
        .alias("proto")
        .default("tcp")
        .of(NET),
    idle("nodelay", FioKind::Bool, "send at once", NO_COMMANDS).of(NET),
    idle("listen", FioKind::Flag, "wait for the other machine", NO_COMMANDS).of(NET),
    idle("pingpong", FioKind::Flag, "send back what comes", NO_COMMANDS).of(NET),
    idle("interface", FioKind::Text, "the network interface", NO_COMMANDS).of(NET),
    idle("ttl", FioKind::INT, "how far packets go", NO_COMMANDS).default("1").of(NET),
    idle("window_size", FioKind::INT, "the TCP window", NO_COMMANDS).of(NET),
    idle("mss", FioKind::INT, "the size of TCP segments", NO_COMMANDS).of(NET),
];
