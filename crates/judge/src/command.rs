//! Lines for a shell that are not the tool's own: looks at what is there, and settings of the system.

use super::words::ShellLine;
use assay_record::evidence::Mount;
use assay_record::record::{NextStep, Remedy};

pub(super) fn look(command: &str, path: &str) -> NextStep {
    ShellLine::of(command).path(path).next(Remedy::Inspect)
}

/// A command for the node of a device.
pub(super) fn at_device(remedy: Remedy, command: &str, device: &str) -> NextStep {
    ShellLine::of(command).name("/dev/", device).next(remedy)
}

/// Mounts it with another option.
pub(super) fn remount(mount: &Mount, option: &str) -> NextStep {
    let options = ["remount,", option].concat();
    let line = ShellLine::of("sudo mount -o").words(&options);
    line.name("", &mount.point).next(Remedy::Remount)
}

/// Mounts it with an option that cannot be changed while it is mounted.
pub(super) fn mount_anew(mount: &Mount, option: &str) -> NextStep {
    let line = ShellLine::of("sudo umount").name("", &mount.point).words("&& sudo mount -o");
    let line = line.words(option).name("", &mount.source).name("", &mount.point);
    line.next(Remedy::Remount)
}

/// Writes a value into a file of the kernel, as root.
pub(super) fn set(value: &str, file: &str) -> String {
    ShellLine::of("echo").name("", value).words("| sudo tee").name("", file).0
}

/// A copy by calls that move the bytes, and a flush; of so many mebibytes where that is told.
pub(super) fn copy(remedy: Remedy, from: &str, to: &str, count: Option<u64>) -> NextStep {
    let line = ShellLine::of("assay dd").name("if=", from).name("of=", to).words("bs=1M");
    let line = match count {
        Some(count) => line.name("count=", &count.to_string()),
        None => line,
    };
    line.words("conv=fsync").next(remedy)
}
