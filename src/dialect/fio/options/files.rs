//! Which files, how large, and how they are prepared.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::value::{Applied, FioValue, leading_count, leading_float};
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{
    FioAmount, FioFadvise, FioFallocate, FioFault, FioFiletype, FioJob, FioLockfile,
    FioServiceOrder,
};

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "description",
        FioKind::Text,
        "a text for the report",
        |job, value| value.some_text(&mut job.statistics.description),
        "--name=a --size=1m --description=nightly",
    ),
    FioOption::new(
        "name",
        FioKind::Text,
        "the name of the job, which begins a new one on the command line",
        |job, value| {
            job.name = value.text().into();
            Ok(())
        },
        "--name=a --size=1m",
    ),
    FioOption::new(
        "filename",
        FioKind::Text,
        "files or devices, separated by colons; \\: is a colon in a name",
        filename,
        "--name=a --filename=/mnt/x/one:/mnt/x/two --size=1m",
    )
    .priority(-1),
    FioOption::new(
        "lockfile",
        FioKind::Word(FioLockfile::WORDS),
        "lock files during each I/O",
        |job, value| value.choice(&mut job.target.lockfile, FioLockfile::of),
        "--name=a --size=1m --lockfile=exclusive",
    )
    .default("none")
    .below("filename")
    .priority(1),
    FioOption::new(
        "filetype",
        FioKind::Word(FioFiletype::WORDS),
        "take it that all files are of this kind",
        |job, value| value.choice(&mut job.target.filetype, FioFiletype::of),
        "--name=a --size=1m --filetype=file",
    )
    .default("none")
    .noted("what stands at a path is looked up"),
    FioOption::new(
        "directory",
        FioKind::Text,
        "folders for the files, separated by colons, which clones take in turn",
        |job, value| {
            job.target.directories = names::split(value.text());
            Ok(())
        },
        "--name=a --directory=/mnt/x --size=1m",
    ),
    FioOption::new(
        "filename_format",
        FioKind::Text,
        "how names are made; knows $jobname, $jobnum, $filenum, $clientuid",
        |job, value| {
            job.target.filename_format = value.text().into();
            Ok(())
        },
        "--name=a --size=1m --filename_format=test.$jobnum",
    )
    .default("$jobname.$jobnum.$filenum")
    .priority(-1),
    FioOption::new(
        "unique_filename",
        FioKind::Bool,
        "put the address of a network client before names",
        |job, value| value.bool(&mut job.target.unique_filename),
        "--name=a --size=1m --unique_filename=0",
    )
    .default("1")
    .noted("there is no network client"),
    FioOption::new(
        "opendir",
        FioKind::Text,
        "take all files below a folder",
        |job, value| value.some_text(&mut job.target.opendir),
        "--name=a --opendir=/mnt/x --rw=read",
    ),
    FioOption::new(
        "nrfiles",
        FioKind::from(1),
        "files of each clone",
        |job, value| value.u32(&mut job.target.nrfiles),
        "--name=a --size=1m --nrfiles=4",
    )
    .alias("nr_files")
    .default("1"),
    FioOption::new(
        "openfiles",
        FioKind::INT,
        "files that are gone through at a time; all stay open",
        |job, value| value.u32(&mut job.target.openfiles),
        "--name=a --size=1m --nrfiles=4 --openfiles=2",
    ),
    FioOption::new(
        "file_service_type",
        FioKind::Word(FioServiceOrder::WORDS),
        "how the next of several files is chosen; :N is I/Os in each",
        file_service,
        "--name=a --size=1m --nrfiles=4 --file_service_type=roundrobin:8",
    )
    .default("roundrobin")
    .below("nrfiles"),
    FioOption::new(
        "size",
        FioKind::Amount,
        "how much is done, and how large the region is; % of what is there",
        |job, value| {
            job.target.size = amount(value);
            Ok(())
        },
        "--name=a --size=1g",
    ),
    FioOption::new(
        "io_size",
        FioKind::Amount,
        "how much is done, in a region of 'size'",
        |job, value| {
            job.target.io_size = amount(value);
            Ok(())
        },
        "--name=a --size=1g --io_size=10g",
    )
    .alias("io_limit"),
    FioOption::new(
        "fill_device",
        FioKind::Bool,
        "write until there is no space",
        |job, value| value.bool(&mut job.target.fill_device),
        "--name=a --rw=write --fill_device=1",
    )
    .alias("fill_fs")
    .default("0"),
    FioOption::new(
        "filesize",
        FioKind::between(1, i64::MAX),
        "the size of each file, or the smallest and the largest",
        |job, value| {
            if let Some((low, high)) = value.first_and_last() {
                let (low, high) = (low.unsigned_abs(), high.unsigned_abs());
                job.target.filesize = Some((low.min(high), low.max(high)));
            }
            Ok(())
        },
        "--name=a --nrfiles=4 --filesize=64k-1m --size=4m",
    ),
    FioOption::new(
        "file_append",
        FioKind::Bool,
        "begin at the end of the files",
        |job, value| value.bool(&mut job.target.file_append),
        "--name=a --rw=write --size=1m --file_append=1",
    )
    .default("0"),
    FioOption::new(
        "offset",
        FioKind::Amount,
        "where the region begins",
        |job, value| {
            job.target.offset = value.amount();
            Ok(())
        },
        "--name=a --size=1m --offset=50%",
    )
    .alias("fileoffset")
    .default("0"),
    FioOption::new(
        "offset_increment",
        FioKind::Amount,
        "what is added to it for each clone",
        |job, value| {
            job.target.offset_increment = value.amount();
            Ok(())
        },
        "--name=a --size=1m --numjobs=4 --offset_increment=1m",
    )
    .default("0")
    .below("offset"),
    FioOption::new(
        "offset_align",
        FioKind::INT,
        "what an offset in percent is rounded up to",
        |job, value| {
            let mut bytes = 0;
            value.u32(&mut bytes)?;
            job.target.offset_align = u64::from(bytes);
            Ok(())
        },
        "--name=a --size=1m --offset=33% --offset_align=4k",
    )
    .default("0"),
    FioOption::new(
        "number_ios",
        FioKind::SIZE,
        "end after so many I/Os",
        |job, value| value.u64(&mut job.target.number_ios),
        "--name=a --size=1m --number_ios=100",
    )
    .default("0"),
    FioOption::new(
        "fallocate",
        FioKind::Word(FioFallocate::WORDS),
        "how a file is laid out",
        |job, value| value.choice(&mut job.target.fallocate, FioFallocate::of),
        "--name=a --rw=write --size=1m --fallocate=none",
    )
    .default("native"),
    FioOption::new(
        "fadvise_hint",
        FioKind::Word(FioFadvise::WORDS),
        "what the kernel is told about the order of I/O",
        |job, value| value.choice(&mut job.target.fadvise, FioFadvise::of),
        "--name=a --size=1m --fadvise_hint=0",
    )
    .default("1"),
    FioOption::new(
        "overwrite",
        FioKind::Bool,
        "write files before the run, so that it writes over what is there",
        |job, value| value.bool(&mut job.target.overwrite),
        "--name=a --rw=randwrite --size=1m --overwrite=1",
    )
    .default("0"),
    FioOption::new(
        "create_serialize",
        FioKind::Bool,
        "lay out files one after the other",
        |job, value| value.bool(&mut job.target.create_serialize),
        "--name=a --size=1m --create_serialize=0",
    )
    .default("1"),
    FioOption::new(
        "create_fsync",
        FioKind::Bool,
        "flush files when they are laid out",
        |job, value| value.bool(&mut job.target.create_fsync),
        "--name=a --size=1m --create_fsync=0",
    )
    .default("1"),
    FioOption::new(
        "create_on_open",
        FioKind::Bool,
        "create files when they are opened for I/O",
        |job, value| value.bool(&mut job.target.create_on_open),
        "--name=a --rw=write --size=1m --create_on_open=1",
    )
    .default("0"),
    FioOption::new(
        "create_only",
        FioKind::Bool,
        "lay out files and stop",
        |job, value| value.bool(&mut job.target.create_only),
        "--name=a --size=1m --create_only=1",
    )
    .default("0"),
    FioOption::new(
        "allow_file_create",
        FioKind::Bool,
        "let files be created",
        |job, value| value.bool(&mut job.target.allow_file_create),
        "--name=a --size=1m --allow_file_create=0",
    )
    .default("1"),
    FioOption::new(
        "allow_mounted_write",
        FioKind::Bool,
        "let mounted devices be written to",
        |job, value| value.bool(&mut job.target.allow_mounted_write),
        "--name=a --rw=write --size=1m --allow_mounted_write=1",
    )
    .default("0"),
    FioOption::new(
        "pre_read",
        FioKind::Bool,
        "read files before the run, so that they are in the cache",
        |job, value| value.bool(&mut job.target.pre_read),
        "--name=a --size=1m --pre_read=1",
    )
    .default("0"),
    FioOption::new(
        "invalidate",
        FioKind::Bool,
        "drop files from the cache before the run",
        |job, value| value.bool(&mut job.target.invalidate),
        "--name=a --size=1m --invalidate=1",
    )
    .default("1"),
    FioOption::new(
        "unlink",
        FioKind::Bool,
        "remove files at the end",
        |job, value| value.bool(&mut job.target.unlink),
        "--name=a --rw=write --size=1m --unlink=1",
    )
    .default("0"),
    FioOption::new(
        "unlink_each_loop",
        FioKind::Bool,
        "remove files after each loop",
        |job, value| value.bool(&mut job.target.unlink_each_loop),
        "--name=a --rw=write --size=1m --loops=2 --unlink_each_loop=1",
    )
    .default("0"),
    FioOption::idle(
        "ioscheduler",
        FioKind::Text,
        "set the I/O scheduler of the device",
        FioStanding::Refused(
            "set it before the run: echo none > /sys/block/DEVICE/queue/scheduler",
        ),
        "",
    ),
];

/// fio adds files to those that the defaults named already.
fn filename(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let fresh = names::split(value.text().trim());
    let before = if job.target.filenames.is_empty() { 0 } else { job.target.nrfiles };
    job.target.nrfiles = before.saturating_add(u32::try_from(fresh.len()).unwrap_or(u32::MAX));
    job.target.filenames.extend(fresh);
    Ok(())
}

/// `size=0` is that it was not said.
fn amount(value: &FioValue<'_>) -> Option<FioAmount> {
    Some(value.amount()).filter(|amount| *amount != FioAmount::Bytes(0))
}

/// `roundrobin:8`, `zipf:1.2:0.5`.
fn file_service(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let service = &mut job.target.file_service;
    value.choice(&mut service.order, FioServiceOrder::of)?;
    (service.ios, service.center) = (1, None);
    service.parameter = match service.order {
        FioServiceOrder::Zipf => 1.1,
        FioServiceOrder::Pareto => 0.2,
        _ => 0.0,
    };
    let Some(postfix) = value.postfix() else { return Ok(()) };
    if matches!(
        service.order,
        FioServiceOrder::Random | FioServiceOrder::Roundrobin | FioServiceOrder::Sequential
    ) {
        service.ios = leading_count(postfix);
        return Ok(());
    }
    let (parameter, center) =
        postfix.split_once(':').map_or((postfix, None), |(p, c)| (p, Some(c)));
    let bad = || FioFault::line("fio: file service type random postfix parsing failed", "zipf:1.1");
    service.parameter = leading_float(parameter).ok_or_else(bad)?;
    service.center = center.map(|text| leading_float(text).ok_or_else(bad)).transpose()?;
    super::pattern::in_shape(service.order, service.parameter, service.center)
}
