//! The options of IOzone: one list, from which its words are read and help and tables come. What cannot be
//! done is refused by its line here, with the reason.

use super::super::option::{OptionValue, ToolOption};
use super::asked::{IozoneComplaint, IozoneOptions, IozoneUnit, MmapSync};
use crate::plan::CacheDrop;
use crate::unit::KIB;

type IozoneEffect = fn(&mut IozoneOptions, &str) -> Result<(), IozoneComplaint>;
type IozoneOption = ToolOption<IozoneOptions, IozoneComplaint>;

const fn flag(
    names: &'static [&'static str],
    help: &'static str,
    effect: IozoneEffect,
    example: &'static str,
) -> IozoneOption {
    ToolOption { names, value: OptionValue::None, help, effect, example }
}

const fn value(
    names: &'static [&'static str],
    value: &'static str,
    help: &'static str,
    effect: IozoneEffect,
    example: &'static str,
) -> IozoneOption {
    ToolOption { names, value: OptionValue::Needed(value), help, effect, example }
}

/// Refuses an option, with the reason.
fn refused(option: &str, why: &str, instead: &str) -> Result<(), IozoneComplaint> {
    Err(IozoneComplaint::new(format!("{option}: {why}"), instead))
}

/// Why tests of data that are shared, repeated or compressible are refused.
const DEDUP: &str = "data that repeat by its own rules cannot be made here";
const DEDUP_INSTEAD: &str =
    "leave it out: data are zeros, as the original's nearly are; 'assay io' writes random ones";

impl IozoneOptions {
    fn say(&mut self, line: impl Into<String>) -> Result<(), IozoneComplaint> {
        self.splash.push(line.into());
        Ok(())
    }
}

/// All of them.
pub(super) const OPTIONS: &[IozoneOption] = &[
    flag(
        &["-a"],
        "the grid: files of 64 KiB to 512 MiB, records of 4 KiB to 16 MiB",
        |asked, _| {
            asked.auto = true;
            asked.say("Auto Mode")
        },
        "-a -g 128k",
    ),
    flag(
        &["-A"],
        "the grid with all records, and two tests only (obsolete)",
        |asked, _| {
            (asked.auto, asked.four_columns, asked.no_crossover) = (true, true, true);
            asked.say("Auto Mode 2. This option is obsolete. Use -az -i0 -i1 ")
        },
        "-A -g 128k",
    ),
    flag(
        &["-z"],
        "in the grid: small records of large files, too",
        |asked, _| {
            asked.no_crossover = true;
            asked.say("Cross over of record size disabled.")
        },
        "-a -z -g 128k",
    ),
    value(
        &["-s"],
        "SIZE",
        "size of the file, KiB or with k, m, g (512k); several: a list",
        |asked, value| {
            let bytes = IozoneOptions::bytes("-s", value)?;
            asked.sizes.push(bytes);
            asked.no_crossover = true;
            asked.say(format!("File size set to {} kB", bytes / KIB))
        },
        "-s 64m",
    ),
    value(
        &["-r"],
        "SIZE",
        "size of a record, KiB or with k, m, g (4k); several: a list",
        |asked, value| {
            let bytes = IozoneOptions::record("-r", value)?;
            asked.records.push(bytes);
            asked.no_crossover = true;
            asked.say(format!("Record Size {} kB", bytes / KIB))
        },
        "-r 64k",
    ),
    value(
        &["-n"],
        "SIZE",
        "smallest file of the grid (64k)",
        |asked, value| {
            asked.file_range.0 = IozoneOptions::bytes("-n", value)?;
            asked.say(format!("Using minimum file size of {} kilobytes.", asked.file_range.0 / KIB))
        },
        "-a -n 128k -g 256k",
    ),
    value(
        &["-g"],
        "SIZE",
        "largest file of the grid (512m)",
        |asked, value| {
            asked.file_range.1 = IozoneOptions::bytes("-g", value)?;
            asked.say(format!("Using maximum file size of {} kilobytes.", asked.file_range.1 / KIB))
        },
        "-a -g 128k",
    ),
    value(
        &["-y"],
        "SIZE",
        "smallest record of the grid (4k)",
        |asked, value| {
            asked.record_range.0 = IozoneOptions::record("-y", value)?;
            asked.no_crossover = true;
            asked.say(format!("Using Minimum Record Size {} kB", asked.record_range.0 / KIB))
        },
        "-a -y 8k -g 128k",
    ),
    value(
        &["-q"],
        "SIZE",
        "largest record of the grid (16m)",
        |asked, value| {
            asked.record_range.1 = IozoneOptions::record("-q", value)?;
            asked.no_crossover = true;
            asked.say(format!("Using Maximum Record Size {} kB", asked.record_range.1 / KIB))
        },
        "-a -q 64k -g 128k",
    ),
    value(
        &["-+x"],
        "FACTOR",
        "each size of the grid is so many times the one before (2)",
        |asked, value| {
            asked.factor = IozoneOptions::number("-+x", value, 2..=1024)?;
            Ok(())
        },
        "-a -+x 4 -g 256k",
    ),
    value(
        &["-i"],
        "N",
        "a test, once for each: 0 write and rewrite, 1 read and reread, 2 random read and write, 3 backward, 4 record rewrite, 5 stride, 6 fwrite, 7 fread, 8 random mix (streams), 9 pwrite, 10 pread (all)",
        |asked, value| {
            let test = IozoneOptions::number("-i", value, 0..=12)? as u32;
            if test > 10 {
                return refused(
                    &format!("-i {value}"),
                    "the original does nothing there, as it is built for Linux",
                    "leave it out; -i 9 and -i 10 are pwrite and pread",
                );
            }
            asked.tests.push(test);
            Ok(())
        },
        "-i 0 -i 1",
    ),
    flag(
        &["-E"],
        "pwrite and pread too",
        |asked, _| {
            asked.extended = true;
            Ok(())
        },
        "-E -i 0 -i 9",
    ),
    value(
        &["-f"],
        "FILE",
        "the file (iozone.tmp); it is written over, and removed at the end",
        |asked, value| {
            if value.is_empty() {
                return refused(
                    "-f",
                    "it names no file; is a variable of the shell not set?",
                    "name one: -f /mnt/sd/iozone.tmp",
                );
            }
            asked.file = Some(crate::name::path(value));
            Ok(())
        },
        "-f iozone.tmp",
    ),
    value(
        &["-t"],
        "N",
        "throughput: so many streams, each with a file of its own; several: one after the other",
        |asked, value| {
            asked.streams.push(IozoneOptions::number("-t", value, 1..=1024)? as u32);
            Ok(())
        },
        "-t 2",
    ),
    value(
        &["-l"],
        "N",
        "throughput: from so many streams",
        |asked, value| {
            asked.stream_range.0 = Some(IozoneOptions::number("-l", value, 1..=1024)? as u32);
            Ok(())
        },
        "-l 1 -u 2",
    ),
    value(
        &["-u"],
        "N",
        "throughput: to so many streams",
        |asked, value| {
            asked.stream_range.1 = Some(IozoneOptions::number("-u", value, 1..=1024)? as u32);
            Ok(())
        },
        "-u 2",
    ),
    value(
        &["-F"],
        "FILE...",
        "throughput: the files of the streams, after -t",
        IozoneOptions::stream_file,
        "-t 2 -F a b",
    ),
    flag(
        &["-T"],
        "streams are threads, not processes",
        |asked, _| {
            asked.threads = true;
            Ok(())
        },
        "-t 2 -T",
    ),
    flag(
        &["-C"],
        "throughput: a line for each stream",
        |asked, _| {
            asked.children = true;
            Ok(())
        },
        "-t 2 -C",
    ),
    flag(
        &["-x"],
        "throughput: each stream finishes its file",
        |asked, _| {
            asked.no_stonewall = true;
            asked.say("Stonewall disabled")
        },
        "-t 2 -x",
    ),
    value(
        &["-P"],
        "CPU",
        "throughput: streams run on the CPUs from this one on",
        |asked, value| {
            asked.first_cpu = Some(IozoneOptions::number("-P", value, 0..=4095)? as u32);
            asked.say(format!("Binding of processors beginning with {value} "))
        },
        "-t 1 -P 0",
    ),
    value(
        &["-+p"],
        "PERCENT",
        "throughput: so many of the streams of the mix read (every second)",
        |asked, value| {
            let readers = IozoneOptions::number("-+p", value, 1..=100)? as u32;
            asked.readers = Some(readers);
            asked.say(format!("Percent read in mix test is {readers}"))
        },
        "-t 2 -+p 50",
    ),
    flag(
        &["-+B"],
        "throughput: the mix goes in order",
        |asked, _| {
            asked.sequential_mix = true;
            asked.say(">>> Sequential Mixed workload. <<<")
        },
        "-t 2 -+B",
    ),
    flag(
        &["-+k"],
        "throughput: -s is the size of all files together",
        |asked, _| {
            asked.constant_total = true;
            Ok(())
        },
        "-t 2 -+k",
    ),
    flag(
        &["-I"],
        "O_DIRECT; fwrite and fread go through the page cache all the same",
        |asked, _| {
            asked.direct = true;
            asked.say("O_DIRECT feature enabled")
        },
        "-I",
    ),
    flag(
        &["-o"],
        "O_SYNC where it writes",
        |asked, _| {
            asked.sync = true;
            asked.say("SYNC Mode. ")
        },
        "-o",
    ),
    flag(
        &["-+r"],
        "O_RSYNC and O_SYNC; Linux has no O_RSYNC: reads come from memory all the same",
        |asked, _| {
            (asked.sync, asked.read_sync) = (true, true);
            asked.say("Read & Write sync mode active.")
        },
        "-+r",
    ),
    flag(
        &["-+D"],
        "O_DSYNC where it writes",
        |asked, _| {
            asked.dsync = true;
            asked.say(">>> O_DSYNC mode enabled. <<<")
        },
        "-+D",
    ),
    flag(
        &["-e"],
        "fsync inside the timing",
        |asked, _| {
            asked.fsync = true;
            asked.say("Include fsync in write timing")
        },
        "-e",
    ),
    flag(
        &["-c"],
        "close inside the timing",
        |asked, _| {
            asked.close = true;
            asked.say("Include close in write timing")
        },
        "-c",
    ),
    flag(
        &["-B"],
        "through a mapping; no fwrite and fread",
        |asked, _| {
            asked.mmap = true;
            asked.say("Using mmap files")
        },
        "-B",
    ),
    flag(
        &["-D"],
        "msync(MS_ASYNC) after each record of a mapping",
        |asked, _| {
            asked.msync = Some(MmapSync::Async);
            asked.say("Using msync(MS_ASYNC) on mmap files")
        },
        "-B -D",
    ),
    flag(
        &["-G"],
        "msync(MS_SYNC) after each record of a mapping",
        |asked, _| {
            asked.msync = Some(MmapSync::Sync);
            asked.say("Using msync(MS_SYNC) on mmap files")
        },
        "-B -G",
    ),
    value(
        &["-+A"],
        "N",
        "madvise of a mapping: 0 normal, 1 random, 2 sequential, 3 dontneed, 4 willneed",
        |asked, value| {
            let advice = IozoneOptions::number("-+A", value, 0..=4)? as u32;
            asked.advice = Some(advice);
            asked.say(format!("Madvise enabled: {advice}"))
        },
        "-B -+A 1",
    ),
    value(
        &["-H"],
        "N",
        "POSIX AIO with so many in flight, copied; no fwrite and fread",
        |asked, value| {
            let depth = IozoneOptions::number("-H", value, 1..=1024)? as u32;
            asked.async_depth = Some(depth);
            asked.say(format!("POSIX async I/O (with bcopy). Depth {depth}"))
        },
        "-H 4",
    ),
    value(
        &["-k"],
        "N",
        "POSIX AIO with so many in flight; no fwrite and fread",
        |asked, value| {
            let depth = IozoneOptions::number("-k", value, 1..=1024)? as u32;
            asked.async_depth = Some(depth);
            asked.say(format!("POSIX Async I/O (no bcopy). Depth {depth} "))
        },
        "-k 4",
    ),
    value(
        &["-j"],
        "N",
        "the stride, in records (17)",
        |asked, value| {
            asked.stride = IozoneOptions::number("-j", value, 1..=1 << 20)?;
            Ok(())
        },
        "-j 9",
    ),
    flag(
        &["-R"],
        "tables for a spreadsheet at the end",
        |asked, _| {
            asked.report = true;
            asked.say("Excel chart generation enabled")
        },
        "-R",
    ),
    value(
        &["-b"],
        "FILE",
        "a worksheet for Excel (BIFF2), with -R",
        |asked, value| {
            (asked.report, asked.worksheet) = (true, Some(value.into()));
            Ok(())
        },
        "-b out.xls",
    ),
    flag(
        &["-O"],
        "records per second",
        |asked, _| {
            asked.unit = IozoneUnit::Operations;
            asked.say("OPS Mode. Output is in operations per second.")
        },
        "-O",
    ),
    flag(
        &["-N"],
        "microseconds for each record",
        |asked, _| {
            asked.unit = IozoneUnit::Microseconds;
            asked.say("Microseconds/op Mode. Output is in microseconds per operation.")
        },
        "-N",
    ),
    flag(
        &["-w"],
        "leave the file",
        |asked, _| {
            asked.keep = true;
            asked.say("Setting no_unlink")
        },
        "-w -i 0",
    ),
    flag(
        &["-+n"],
        "no second times; they are printed as 0, which is no measurement",
        |asked, _| {
            asked.no_retest = true;
            asked.say("No retest option selected")
        },
        "-+n",
    ),
    flag(
        &["-+N"],
        "existing files are not cut before they are written",
        |asked, _| {
            asked.no_truncate = true;
            Ok(())
        },
        "-+N",
    ),
    flag(
        &["-+E"],
        "a file that is there already, which is only read: with -i 1 to 5, and -f",
        |asked, _| {
            asked.existing = true;
            Ok(())
        },
        "-+E -i 1 -f iozone.tmp",
    ),
    flag(
        &["-+s"],
        "no banner",
        |asked, _| {
            asked.silent = true;
            Ok(())
        },
        "-+s",
    ),
    flag(
        &["-M"],
        "the machine, as uname -a says it",
        |asked, _| {
            asked.machine = true;
            Ok(())
        },
        "-M",
    ),
    value(
        &["-S"],
        "KIB",
        "printed only: size of the CPU's cache (1024)",
        |asked, value| {
            asked.cache = IozoneOptions::number("-S", value, 1..=1 << 30)?;
            Ok(())
        },
        "-S 512",
    ),
    value(
        &["-L"],
        "BYTES",
        "printed only: size of a line of the CPU's cache (32)",
        |asked, value| {
            asked.line = IozoneOptions::number("-L", value, 1..=1 << 20)?;
            Ok(())
        },
        "-L 64",
    ),
    flag(
        &["--honest"],
        "assay's own: cached pages of the file are dropped before each test that reads",
        |asked, _| {
            asked.cold = CacheDrop::Target;
            Ok(())
        },
        "--honest",
    ),
    value(
        &["--report"],
        "FILE",
        "assay's own: a report into this file (.html, .svg, .md, .csv, .json or .txt); repeatable",
        |asked, value| {
            asked.reports.push(value.into());
            Ok(())
        },
        "--report r.html",
    ),
    value(
        &["-d"],
        "US",
        "refused: streams begin together",
        |_, _| refused("-d", "streams begin together here", "leave it out"),
        "",
    ),
    value(
        &["-J"],
        "MS",
        "refused: no time is spent computing between records",
        |_, _| {
            refused(
                "-J",
                "its time between records cannot be had here",
                "leave it out; 'assay io --rate' holds I/Os apart",
            )
        },
        "",
    ),
    flag(
        &["-+J"],
        "refused: with -J",
        |_, _| refused("-+J", "it belongs to -J, which cannot be had here", "leave it out"),
        "",
    ),
    flag(
        &["-K"],
        "refused: places are not shaken",
        |_, _| {
            refused(
                "-K",
                "its shaken order of places cannot be had here",
                "leave it out; -i 2 reads at random",
            )
        },
        "",
    ),
    flag(
        &["-m"],
        "refused: each worker has a buffer of one record",
        |_, _| refused("-m", "several buffers of one worker cannot be had here", "leave it out"),
        "",
    ),
    flag(
        &["-p"],
        "refused: the CPU's cache is not emptied between records",
        |_, _| {
            refused(
                "-p",
                "it empties the CPU's cache, not the page cache, and cannot be had here",
                "leave it out; --honest drops the file's pages before it is read",
            )
        },
        "",
    ),
    flag(
        &["-Q"],
        "refused: no files of latencies in its format",
        |_, _| {
            refused(
                "-Q",
                "its files of places and latencies cannot be had here",
                "leave it out; ASSAY_RECORD=FILE keeps all latencies",
            )
        },
        "",
    ),
    value(
        &["-U"],
        "MOUNT",
        "refused: nothing is unmounted",
        |_, _| {
            refused(
                "-U",
                "no file system is unmounted here",
                "use --honest instead, which drops the file's pages before it is read and checks that they went",
            )
        },
        "",
    ),
    value(
        &["-V"],
        "N",
        "refused: what is read is not compared with its pattern",
        |_, _| {
            refused(
                "-V",
                "its pattern cannot be compared here, and its times would be invalid",
                "leave it out; 'assay io --verify' compares all that is read",
            )
        },
        "",
    ),
    flag(
        &["-+d"],
        "refused: what is read is not compared",
        |_, _| {
            refused(
                "-+d",
                "its data cannot be compared here, and its times would be invalid",
                "leave it out; 'assay io --verify' compares all that is read",
            )
        },
        "",
    ),
    flag(
        &["-W"],
        "refused: the file is not locked",
        |_, _| refused("-W", "the file cannot be locked for each record here", "leave it out"),
        "",
    ),
    value(
        &["-X"],
        "FILE",
        "refused: no telemetry of writes",
        |_, _| refused("-X", "places cannot be read from a file here", "leave it out"),
        "",
    ),
    value(
        &["-Y"],
        "FILE",
        "refused: no telemetry of reads",
        |_, _| refused("-Y", "places cannot be read from a file here", "leave it out"),
        "",
    ),
    flag(
        &["-Z"],
        "refused: one file by mapping and by calls",
        |_, _| refused("-Z", "a mapping and calls cannot be mixed here", "leave it out, or use -B"),
        "",
    ),
    value(
        &["-+a"],
        "PERCENT",
        "refused: data of its own rules",
        |_, _| refused("-+a", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+w"],
        "PERCENT",
        "refused: data of its own rules",
        |_, _| refused("-+w", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+y"],
        "PERCENT",
        "refused: data of its own rules",
        |_, _| refused("-+y", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+C"],
        "PERCENT",
        "refused: data of its own rules",
        |_, _| refused("-+C", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+S"],
        "N",
        "refused: data of its own rules",
        |_, _| refused("-+S", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+W"],
        "N",
        "refused: data of its own rules",
        |_, _| refused("-+W", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+Q"],
        "BYTES",
        "refused: data of its own rules",
        |_, _| refused("-+Q", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+M"],
        "N",
        "refused: data of its own rules",
        |_, _| refused("-+M", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    flag(
        &["-+e"],
        "refused: data of its own rules",
        |_, _| refused("-+e", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    flag(
        &["-+Z"],
        "refused: data of its own rules",
        |_, _| refused("-+Z", DEDUP, DEDUP_INSTEAD),
        "",
    ),
    value(
        &["-+b"],
        "KB,MS",
        "refused: bursts",
        |_, _| refused("-+b", "bursts with pauses cannot be had here", "leave it out"),
        "",
    ),
    flag(
        &["-+F"],
        "refused: files are not cut in the mix",
        |_, _| refused("-+F", "the mix does not cut its files here", "leave it out"),
        "",
    ),
    value(
        &["-+h", "-+H"],
        "HOST",
        "refused: no time server",
        |_, _| refused("-+H", "times are those of this machine's clock", "leave it out"),
        "",
    ),
    value(
        &["-+P", "-+i"],
        "PORT",
        "refused: no network",
        |_, _| {
            refused(
                "-+P",
                "times are those of this machine's clock, and nothing listens",
                "leave it out",
            )
        },
        "",
    ),
    value(
        &["-+K"],
        "N",
        "refused: readers of the mix by hand",
        |_, _| {
            refused(
                "-+K",
                "the readers of the mix cannot be chosen one by one here",
                "use -+p with a percentage",
            )
        },
        "",
    ),
    flag(
        &["-+l"],
        "refused: no record is locked",
        |_, _| refused("-+l", "records cannot be locked here", "leave it out"),
        "",
    ),
    flag(
        &["-+L"],
        "refused: no record is locked",
        |_, _| refused("-+L", "records of a shared file cannot be locked here", "leave it out"),
        "",
    ),
    value(
        &["-+m"],
        "FILE",
        "refused: other machines",
        |_, _| {
            refused(
                "-+m",
                "other machines are not reached by rsh or ssh",
                "run it there by mpirun: mpirun -host A,B assay iozone ...",
            )
        },
        "",
    ),
    value(
        &["-+O"],
        "N",
        "refused: a limit of operations per second",
        |_, _| {
            refused(
                "-+O",
                "its limit of operations per second cannot be had here",
                "use 'assay io --rate N'",
            )
        },
        "",
    ),
    value(
        &["-+q"],
        "SECONDS",
        "a rest between tests: not needed, and left out",
        |asked, value| {
            let rest = IozoneOptions::number("-+q", value, 0..=86_400)?;
            asked.say(format!("Delay {rest} seconds between tests enabled."))
        },
        "-+q 1",
    ),
    value(
        &["-+R"],
        "FILE",
        "refused: names from a file",
        |_, _| refused("-+R", "names cannot be read from a file here", "name them by -F"),
        "",
    ),
    flag(
        &["-+t"],
        "refused: no test of the network",
        |_, _| refused("-+t", "the network is not tested here", "leave it out"),
        "",
    ),
    flag(
        &["-+T"],
        "refused: time stamps",
        |_, _| {
            refused(
                "-+T",
                "lines have no time stamps here",
                "leave it out; ASSAY_RECORD=FILE keeps when each test ran",
            )
        },
        "",
    ),
    flag(
        &["-+u"],
        "refused: no tables of CPU use",
        |_, _| {
            refused(
                "-+u",
                "its tables of CPU use cannot be had here",
                "leave it out; ASSAY_RECORD=FILE keeps the CPU time of each test",
            )
        },
        "",
    ),
    flag(
        &["-+V"],
        "refused: streams do not share a file",
        |_, _| {
            refused(
                "-+V",
                "streams with one file cannot be had here",
                "leave it out; 'assay io --workers' shares one",
            )
        },
        "",
    ),
    flag(
        &["-+X"],
        "refused: results that are not valid",
        |_, _| refused("-+X", "its results are not valid, as it says itself", "leave it out"),
        "",
    ),
    flag(
        &["-+z"],
        "refused: no files of latencies in its format",
        |_, _| {
            refused(
                "-+z",
                "its histograms cannot be had here",
                "leave it out; ASSAY_RECORD=FILE keeps all latencies",
            )
        },
        "",
    ),
];
