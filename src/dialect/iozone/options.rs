//! The options of IOzone: one list, from which its words are read and help and tables come. What cannot be
//! done is refused by its line here, with the reason.

use super::super::option::{OptionValue, ToolOption};
use super::asked::{IoList, IozoneComplaint, IozoneOptions, IozoneUnit, MmapSync};
use assay_plan::plan::CacheDrop;
use assay_plan::unit::KIB;

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

impl IozoneOptions {
    fn say(&mut self, line: impl Into<String>) -> Result<(), IozoneComplaint> {
        self.splash.push(line.into());
        Ok(())
    }
}

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
            asked.file = Some(assay_plan::name::path(value));
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
            asked.stride_given = true;
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
        "a worksheet for Excel, with -R: FILE.xlsx with surfaces and verdicts, else as there (BIFF2)",
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
        "size of the CPU's cache, which -p empties (1024)",
        |asked, value| {
            asked.cache = IozoneOptions::number("-S", value, 1..=1 << 30)?;
            Ok(())
        },
        "-S 512",
    ),
    value(
        &["-L"],
        "BYTES",
        "size of a line of it (32)",
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
        "throughput: so many microseconds between the beginnings of two streams",
        |asked, value| {
            asked.delay = IozoneOptions::number("-d", value, 0..=3_600_000_000)?;
            Ok(())
        },
        "-t 2 -d 100",
    ),
    value(
        &["-J"],
        "MS",
        "so many milliseconds of computing before each record; they are not in the rates",
        |asked, value| {
            asked.compute = Some(IozoneOptions::number("-J", value, 0..=3_600_000)?);
            Ok(())
        },
        "-J 2 -s 64k",
    ),
    flag(
        &["-+J"],
        "the time of -J is in the rates",
        |asked, _| {
            asked.counts_compute = true;
            asked.say(">>> Think time is included in throughput cal. <<<")
        },
        "-+J -J 2 -s 64k",
    ),
    value(
        &["-+b"],
        "SIZE,MS",
        "a pause of so many milliseconds after each SIZE of records; it is not in the rates",
        IozoneOptions::bursts,
        "-+b 64k,5 -s 128k",
    ),
    value(
        &["-+O"],
        "N",
        "so many records per second of each stream at the most",
        |asked, value| {
            let rate = IozoneOptions::number("-+O", value, 1..=1 << 30)?;
            asked.op_rate = Some(rate);
            asked.say(format!("Rate control active {rate} Ops/sec ."))
        },
        "-t 1 -+O 100",
    ),
    flag(
        &["-K"],
        "jitter for readers: the first two pages of the file before each 100th record",
        |asked, _| {
            asked.jitter = true;
            asked.say("Disrupted read patterns selected.")
        },
        "-K",
    ),
    flag(
        &["-p"],
        "the CPU's cache is emptied before each record; the page cache is not",
        |asked, _| {
            asked.purge = true;
            asked.say("Purge Mode On")
        },
        "-p",
    ),
    flag(
        &["-m"],
        "each record has the next buffer of 16 MiB",
        |asked, _| {
            asked.buffers = true;
            asked.say("Multi_buffer. Work area 16777216 bytes")
        },
        "-m",
    ),
    flag(
        &["-W"],
        "the file is locked while it is read or written",
        |asked, _| {
            asked.lock_file = true;
            asked.say("Lock file when reading/writing.")
        },
        "-W",
    ),
    flag(
        &["-+l"],
        "each record is locked while it is read or written",
        |asked, _| {
            asked.lock_records = true;
            asked.say(">>> Record locking mode enabled. <<<")
        },
        "-+l",
    ),
    flag(
        &["-+L"],
        "the same, and all streams have one file",
        |asked, _| {
            (asked.lock_records, asked.shared) = (true, true);
            asked.say(">>> Record locking, shared file mode enabled. <<<")
        },
        "-t 2 -+L",
    ),
    flag(
        &["-+V"],
        "all streams have one file, without locks",
        |asked, _| {
            asked.shared = true;
            asked.say(">>> Shared file mode enabled. <<<")
        },
        "-t 2 -+V",
    ),
    value(
        &["-U"],
        "MOUNT",
        "what is mounted there is unmounted and mounted again between tests",
        |asked, value| {
            asked.remount = Some(assay_plan::name::path(value));
            Ok(())
        },
        "-U /mnt/sd -f /mnt/sd/iozone.tmp",
    ),
    value(
        &["-V"],
        "N",
        "writes bytes of this value, and compares what is read; the figures are not valid then",
        |asked, value| {
            let byte = match IozoneOptions::number("-V", value, 0..=255)? {
                0 => 0xa5,
                byte => byte as u8,
            };
            asked.pattern = Some(byte);
            asked.say(format!("Verify Mode. Pattern {:x}", u32::from(byte) * 0x0101_0101))?;
            asked.say("Performance measurements are invalid in this mode.")
        },
        "-V 3",
    ),
    flag(
        &["-+d"],
        "each sector is written with data of its own, and what is read is compared; the figures are not valid then",
        |asked, _| {
            asked.diagnostic = true;
            asked.say(">>> I/O Diagnostic mode enabled. <<<")?;
            asked.say("Performance measurements are invalid in this mode.")
        },
        "-+d",
    ),
    flag(
        &["-+Z"],
        "data as of old: bytes of a5, which are compared",
        |asked, _| {
            asked.pattern = Some(0xa5);
            asked.say("Using old data sets.")?;
            asked.say(" Performance measurements may be invalid in this")?;
            asked.say(" mode due to published hack.")
        },
        "-+Z",
    ),
    value(
        &["-+w"],
        "PERCENT",
        "so much of each record can be deduplicated: it is alike in all files",
        |asked, value| {
            let percent = IozoneOptions::number("-+w", value, 0..=100)?;
            asked.alike = Some(percent as u8);
            asked.say(format!("Dedup activated {percent} percent."))
        },
        "-+w 50",
    ),
    value(
        &["-+y"],
        "PERCENT",
        "so much of the part of -+w is alike in all records, too",
        |asked, value| {
            let percent = IozoneOptions::number("-+y", value, 0..=100)?;
            asked.alike_everywhere = Some(percent as u8);
            asked.say(format!("Dedup within & across {percent} percent."))
        },
        "-+w 50 -+y 50",
    ),
    value(
        &["-+C"],
        "PERCENT",
        "so much of the part of -+y is alike in the records of one file only",
        |asked, value| {
            let percent = IozoneOptions::number("-+C", value, 0..=100)?;
            asked.alike_own = Some(percent as u8);
            asked.say(format!("Dedup within {percent} percent."))
        },
        "-+w 50 -+y 50 -+C 50",
    ),
    value(
        &["-+a"],
        "PERCENT",
        "so much of each page is zeros, which can be compressed; the rest cannot",
        |asked, value| {
            let percent = IozoneOptions::number("-+a", value, 0..=100)?;
            asked.zeros = Some(percent as u8);
            asked.say(format!("Zero Percent {percent}"))
        },
        "-+a 30",
    ),
    value(
        &["-+Q"],
        "BYTES",
        "what -+w, -+y and -+C take for a record (the record)",
        |asked, value| {
            let granule = IozoneOptions::number("-+Q", value, 8..=16 << 20)?;
            asked.granule = Some(granule);
            asked.say(format!("Dedup granule size {granule}"))
        },
        "-+w 50 -+Q 4096",
    ),
    value(
        &["-+S"],
        "N",
        "data are alike only where this number is",
        |asked, value| {
            let seed = IozoneOptions::number("-+S", value, 1..=1 << 31)?;
            asked.data_seed = Some(seed);
            asked.say(format!("Dedup manual seed {seed} ."))
        },
        "-+w 50 -+S 3",
    ),
    value(
        &["-+W"],
        "N",
        "the first stream has the data of this number, and so on",
        |asked, value| {
            let skew = IozoneOptions::number("-+W", value, 0..=1 << 31)? as u32;
            asked.data_skew = Some(skew);
            asked.say(format!("Dedup chid_skew {skew} ."))
        },
        "-+w 50 -+W 2",
    ),
    value(
        &["-X"],
        "FILE",
        "write and rewrite do the records of this file: offset, bytes, and milliseconds of computing before",
        |asked, value| {
            asked.write_list = Some(IoList::named(value));
            asked.say(format!("Using write telemetry file \"{value}\""))
        },
        "-X records",
    ),
    value(
        &["-Y"],
        "FILE",
        "read and reread do the records of this file: offset, bytes, and milliseconds of computing before",
        |asked, value| {
            asked.read_list = Some(IoList::named(value));
            asked.say(format!("Using read telemetry file \"{value}\""))
        },
        "-Y records",
    ),
    flag(
        &["-Q"],
        "files of offsets and latencies: wol.dat, rwol.dat, rol.dat, rrol.dat; of streams Child_0_wol.dat...",
        |asked, _| {
            asked.latency_files = true;
            asked.say("Offset/latency files enabled.")
        },
        "-Q",
    ),
    flag(
        &["-+z"],
        "throughput: files of latencies, Iozone_histogram_child_0.txt...",
        |asked, _| {
            asked.histograms = true;
            asked.say("Histogram summary enabled.")
        },
        "-t 2 -+z",
    ),
    flag(
        &["-+u"],
        "CPU time: of streams a line, and tables with -R",
        |asked, _| {
            asked.cpu = true;
            asked.say("CPU utilization Resolution = 0.000 seconds.")?;
            asked.say("CPU utilization Excel chart enabled")
        },
        "-+u -R",
    ),
    value(
        &["-+K"],
        "N",
        "throughput: so many of the streams of the mix read",
        |asked, value| {
            asked.reader_count = Some(IozoneOptions::number("-+K", value, 1..=1024)? as u32);
            asked.say("Manual control of test 8. >>> Very Experimental. Sony special <<<")
        },
        "-t 2 -+K 1",
    ),
    flag(
        &["-+F"],
        "throughput: writers of the mix cut their files first",
        |asked, _| {
            asked.cut_in_mix = true;
            Ok(())
        },
        "-t 2 -+F",
    ),
    value(
        &["-+q"],
        "SECONDS",
        "a rest before each test but the first",
        |asked, value| {
            asked.rest = IozoneOptions::number("-+q", value, 0..=86_400)?;
            asked.say(format!("Delay {} seconds between tests enabled.", asked.rest))
        },
        "-+q 1",
    ),
    flag(
        &["-Z"],
        "refused: one file by mapping and by calls",
        |_, _| {
            refused(
                "-Z",
                "a mapping and calls at once cannot be had here: on Linux both are one page cache",
                "leave it out, or use -B",
            )
        },
        "",
    ),
    value(
        &["-+M"],
        "N",
        "refused: experimental, and nowhere described",
        |_, _| {
            refused(
                "-+M",
                "it is experimental, and nothing tells what its data are",
                "use -+w and -+a, which can be had together",
            )
        },
        "",
    ),
    flag(
        &["-+e"],
        "refused: experimental, and nowhere described",
        |_, _| {
            refused(
                "-+e",
                "it is experimental, and nothing tells what its files are",
                "leave it out",
            )
        },
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
        &["-+R"],
        "FILE",
        "refused: names from a file",
        |_, _| refused("-+R", "names cannot be read from a file here", "name them by -F"),
        "",
    ),
    flag(
        &["-+t"],
        "refused: it needs -+m, which is",
        |_, _| {
            refused(
                "-+t",
                "it tests the network between machines of -+m, which cannot be had here",
                "test the network by iperf3",
            )
        },
        "",
    ),
    flag(
        &["-+T"],
        "refused: files of time stamps",
        |_, _| {
            refused(
                "-+T",
                "its files of dates cannot be had here",
                "leave it out; ASSAY_RECORD=FILE keeps when each test ran",
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
];
