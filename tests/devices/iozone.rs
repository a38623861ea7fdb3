//! `assay iozone` on devices of known speed: the table of the original, the card's figures where the words ask
//! for them, and what the others are.

use assay_record::record::{MeasuredSubject, Trust};

use crate::kernel::{self, hear, told};
use crate::lab::{self, Card, Fs, MI, Memory, Shape, Speed};

/// The rows of a table, as those who read it have them: lines that begin with a number, every token of
/// which is a whole number.
fn rows(out: &str) -> Vec<Vec<u64>> {
    let begins = |line: &&str| {
        line.split_whitespace()
            .next()
            .is_some_and(|token| token.starts_with(|c: char| c.is_ascii_digit()))
    };
    let numbers = |line: &str| -> Vec<u64> {
        line.split_whitespace().map(|token| token.parse().expect("a whole number")).collect()
    };
    out.lines().filter(begins).map(numbers).collect()
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn what_is_written_out_when_a_file_is_closed_is_not_faster_than_the_card() {
    let _beside = lab::beside();
    // btrfs does that with a file that was cut before.
    let shape = Shape { size: 512 * MI, fs: Fs::Btrfs, ..Shape::paced() };
    let speed = Speed::bytes(32 * MI, 8 * MI);
    let card = lab::need!(Card::new(Shape { speed, ..shape }));
    for left in (0..3).rev() {
        let typed = lab::assay(words("iozone -s 12m -r 256k -i0 -f"));
        let heard = hear(typed.word(card.path("t")));
        let verdicts = heard.record.phases.iter().filter_map(|phase| phase.verdict.as_ref());
        let corrected: Vec<f64> = verdicts
            .filter_map(|verdict| Some(verdict.corrected?.value / (8 * MI) as f64))
            .collect();
        told("write and rewrite", format_args!("{corrected:.3?}"));
        if corrected.len() == 2 && corrected.iter().all(|part| (0.95..1.03).contains(part)) {
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn direct_and_flushed_it_says_what_the_card_does() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    for left in (0..3).rev() {
        let typed = lab::assay(words("iozone -azecI -+n -L64 -S32 -r1m -s12m -i0 -i2 -w -f"));
        let heard = hear(typed.word(card.path("t")).within(card.rooms()));
        assert_eq!(heard.ran.code(), 0, "{heard}");
        assert!(card.path("t").exists(), "-w leaves the file");
        std::fs::remove_file(card.path("t")).expect("removed");
        let [row] = &rows(&heard.ran.stdout)[..] else { panic!("{heard}") };
        let [12_288, 1024, write, 0, read, rewritten] = row[..] else { panic!("{heard}") };
        let trusts: Vec<_> = heard
            .record
            .phases
            .iter()
            .filter_map(|phase| phase.verdict.as_ref())
            .map(|verdict| (verdict.trust, verdict.measures))
            .collect();
        told("iozone", format_args!("{row:?} {trusts:?}"));
        let near = |rate: u64, right: f64, off: f64| (rate as f64 / right - 1.0).abs() < off;
        // A throttle lets a tenth of a second's worth pass at once.
        let right = near(write, 4096.0, 0.05)
            && near(rewritten, 4096.0, 0.05)
            && near(read, 16_384.0, 0.15);
        let sound = trusts.iter().all(|(trust, _)| *trust == Trust::Sound);
        if right && sound && trusts.len() == 3 {
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn unflushed_every_figure_is_memory_and_the_card_is_told_beside_it() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    for left in (0..3).rev() {
        let typed = lab::assay(words("iozone -i 0 -i 1 -s 8m -r 64k -f"));
        let heard = hear(typed.word(card.path("t")).within(card.rooms()));
        assert_eq!(heard.ran.code(), 0, "{heard}");
        assert!(!card.path("t").exists(), "nothing stays");
        let [row] = &rows(&heard.ran.stdout)[..] else { panic!("{heard}") };
        assert_eq!(row.len(), 6, "{heard}");
        let verdict =
            |name: &str| heard.named(&format!("{name}-8192k-64k")).verdict.clone().expect("judged");
        let device = ["write", "rewrite"].map(|name| {
            let verdict = verdict(name);
            assert_eq!(
                (verdict.trust, verdict.measures),
                (Trust::Wrong, MeasuredSubject::Deferred)
            );
            verdict.corrected
        });
        for name in ["read", "reread"] {
            let verdict = verdict(name);
            assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, MeasuredSubject::Memory));
        }
        let card_writes = 4.0 * MI as f64;
        let holds = |device: &Option<assay_plan::stats::Estimate>| {
            device.is_some_and(|device| (device.low..=device.high).contains(&card_writes))
        };
        if device.iter().all(holds) {
            assert!(heard.ran.stderr.contains("The device itself: 4."), "{heard}");
            // No byte of the reads met the card: of that only its limit is known.
            let limit = "to 16.8 MB per second here, whatever the device can do";
            assert!(heard.ran.stderr.contains(limit), "{heard}");
            assert!(heard.ran.stderr.contains("-s 8m -r 64k -f"), "{heard}");
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn honest_reads_come_from_the_card() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    for left in (0..3).rev() {
        let typed = lab::assay(words("iozone --honest -+n -e -i 0 -i 1 -s 8m -r 64k -f"));
        let heard = hear(typed.word(card.path("t")).within(card.rooms()));
        assert_eq!(heard.ran.code(), 0, "{heard}");
        let [row] = &rows(&heard.ran.stdout)[..] else { panic!("{heard}") };
        let [8192, 64, write, 0, read, 0] = row[..] else { panic!("{heard}") };
        if (3900..4400).contains(&write) && (14_000..20_000).contains(&read) {
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn a_grid_has_a_row_for_each_cell_and_a_table_for_each_figure() {
    let memory = lab::need!(Memory::tmpfs());
    let ran = lab::assay(words("iozone -Ra -g 128k -i 0 -i 1 -i 2 -b out.xls -+r"))
        .cwd(memory.mount())
        .run();
    assert_eq!(ran.code(), 0, "{ran}");
    let (table, report) =
        ran.stdout.split_once("\niozone test complete.\n").expect("it is complete");
    let cells: Vec<(u64, u64)> = rows(table).iter().map(|row| (row[0], row[1])).collect();
    let records = |file: u64, count: u32| (0..count).map(move |power| (file, 4 << power));
    let wanted: Vec<(u64, u64)> = records(64, 5).chain(records(128, 6)).collect();
    assert_eq!(cells, wanted, "{ran}");
    assert!(rows(table).iter().all(|row| row.len() == 8), "{ran}");
    let titles: Vec<&str> = report.lines().filter(|line| line.ends_with("report\"")).collect();
    let named = ["Writer", "Re-writer", "Reader", "Re-Reader", "Random read", "Random write"];
    assert_eq!(titles, named.map(|name| format!("\"{name} report\"")), "{ran}");
    let sheet = std::fs::read(memory.path("out.xls")).expect("a worksheet");
    assert_eq!(
        (&sheet[..6], &sheet[sheet.len() - 4..]),
        (&[9, 0, 4, 0, 2, 0][..], &[10, 0, 0, 0][..])
    );
    assert_eq!(kernel::names(memory.mount()).len(), 1, "only the worksheet stays");
}

#[test]
fn a_grid_is_drawn_and_says_which_cells_are_memory() {
    let memory = lab::need!(Memory::tmpfs());
    let ran = lab::assay(words("iozone -a -g 128k -+n -i 0 -i 1 --report cells.csv"))
        .env("ASSAY_PLOT", "-")
        .env("ASSAY_RECORD", "r.json")
        .cwd(memory.mount())
        .run();
    assert_eq!(ran.code(), 0, "{ran}");
    for test in ["write", "read"] {
        assert!(ran.stderr.contains(&format!("\n  {test}, records across\n")), "{ran}");
    }
    let told = |text: &str| text.contains("CPU cache (L") || text.contains("memory by design");
    assert!(told(&ran.stderr), "{ran}");
    let csv = std::fs::read_to_string(memory.path("cells.csv")).expect("a report");
    let cells: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(cells.len(), 2 * (5 + 6), "{csv}");
    assert!(cells.iter().all(|cell| told(cell) && cell.ends_with(",wrong")), "{csv}");
    let judged =
        lab::assay(words("judge --report g.html --report g.svg r.json")).cwd(memory.mount()).run();
    assert_eq!(judged.code(), 3, "{judged}");
    for picture in ["g.html", "g.svg"] {
        let text = std::fs::read_to_string(memory.path(picture)).expect("a picture");
        assert!(text.contains("write, MB/s") && told(&text), "{picture}");
    }
    let bad = lab::assay(words("iozone -a -g 64k")).env("ASSAY_PLOT", "x.bmp").run();
    assert!(bad.code() == 2 && bad.stderr.contains("x.bmp"), "{bad}");
}

/// The numbers of a worksheet of BIFF2, row by row, as a library reads them that is not ours.
fn numbers_of(sheet: &std::path::Path) -> Result<Vec<Vec<f64>>, lab::Skip> {
    const READ: &str = "import sys, xlrd\n\
        sheet = xlrd.open_workbook(sys.argv[1], logfile=sys.stderr).sheet_by_index(0)\n\
        for row in range(sheet.nrows):\n \
        print(*[v for v in sheet.row_values(row) if isinstance(v, float)])\n";
    let missing = lab::Skip::MissingTool { tool: "xlrd for Python", package: "python3-xlrd" };
    for python in ["/usr/bin/python3", "python3"] {
        let known = std::process::Command::new(python).args(["-c", "import xlrd"]).output();
        if !known.is_ok_and(|ran| ran.status.success()) {
            continue;
        }
        let ran = std::process::Command::new(python).args(["-c", READ]).arg(sheet).output();
        let ran = ran.expect("it ran before");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let text = String::from_utf8(ran.stdout).expect("numbers");
        let numbers = |line: &str| line.split(' ').filter_map(|word| word.parse().ok()).collect();
        return Ok(text.lines().map(numbers).collect());
    }
    Err(missing)
}

/// The numbers of a sheet of whatever format, row by row, as LibreOffice Calc opens it.
fn opened_by_calc(sheet: &std::path::Path) -> Result<Vec<Vec<f64>>, lab::Skip> {
    let desk = tempfile::tempdir().expect("a desk");
    // A profile of its own: another instance of the user would be asked instead.
    let profile = format!("-env:UserInstallation=file://{}/profile", desk.path().display());
    let ran = std::process::Command::new("soffice")
        .args([&profile, "--headless", "--convert-to", "csv", "--outdir"])
        .args([desk.path(), sheet])
        .output();
    let missing =
        lab::Skip::MissingTool { tool: "LibreOffice Calc", package: "libreoffice-calc-nogui" };
    let ran = ran.map_err(|_| missing)?;
    let name = sheet.with_extension("csv");
    let csv = desk.path().join(name.file_name().expect("a name"));
    let text = std::fs::read_to_string(csv)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr)));
    let numbers = |line: &str| line.split(',').filter_map(|word| word.parse().ok()).collect();
    Ok(text.lines().map(numbers).collect())
}

#[test]
fn other_programs_read_worksheet_and_workbook() {
    let memory = lab::need!(Memory::tmpfs());
    let table = |file: &str| {
        let typed = lab::assay(words("iozone -a -g 128k -+n -i 0 -i 1 -b"));
        let ran = typed.word(file).cwd(memory.mount()).run();
        assert_eq!(ran.code(), 0, "{ran}");
        let (table, _) = ran.stdout.split_once("\niozone test complete.\n").expect("complete");
        rows(table)
    };
    let printed = table("out.xlsx");
    let mut book: calamine::Xlsx<_> =
        calamine::open_workbook(memory.path("out.xlsx")).expect("a workbook");
    use calamine::Reader as _;
    assert_eq!(book.sheet_names(), ["Verdict", "Writer", "Re-writer", "Reader", "Re-Reader"]);
    for (sheet, column) in [("Writer", 2), ("Reader", 4)] {
        let sheet = book.worksheet_range(sheet).expect("a sheet");
        let values: Vec<u64> = (3..5)
            .flat_map(|row| (1..7).map(move |column| (row, column)))
            .filter_map(
                |place| Some(calamine::DataType::get_float(sheet.get_value(place)?)? as u64),
            )
            .collect();
        assert_eq!(values, printed.iter().map(|row| row[column]).collect::<Vec<_>>());
    }
    let verdict = book.worksheet_range("Verdict").expect("a sheet");
    let judged = verdict.rows().filter(|row| row.last().is_some_and(|it| *it == *"wrong"));
    assert_eq!(judged.count(), 2 * (5 + 6));

    let printed = table("out.xls");
    let read = lab::need!(numbers_of(&memory.path("out.xls")));
    let writer: Vec<u64> =
        read[5..7].iter().flat_map(|row| &row[1..]).map(|it| *it as u64).collect();
    let values = printed.iter().map(|row| row[2]).collect::<Vec<_>>();
    // The axis is as long as IOzone's own, whatever the largest file is.
    assert_eq!(read[4], (2..15).map(|power| f64::from(1 << power)).collect::<Vec<_>>());
    assert_eq!(writer.into_iter().filter(|value| *value > 0).collect::<Vec<_>>(), values);
    let opened = lab::need!(opened_by_calc(&memory.path("out.xls")));
    assert_eq!(opened, read);
}

/// What an article measured on three file systems in memory, and took for a property of them.
#[test]
fn file_systems_in_memory_are_memory_by_design() {
    lab::need!(lab::need_root());
    let (ramfs, tmpfs) = (lab::need!(Memory::ramfs()), lab::need!(Memory::tmpfs()));
    let disk = lab::need!(lab::RamDisk::ext2(64 << 20));
    let mut writes = Vec::new();
    for (name, place) in
        [("ramfs", ramfs.mount()), ("tmpfs", tmpfs.mount()), ("disk", disk.mount())]
    {
        let began = std::time::Instant::now();
        let ran = lab::assay(words("iozone -Raz -b out.xls -i 0 -i 1 -i 2 -S 512 -g 256k -+r"))
            .env("ASSAY_PLOT", "cells.csv")
            .env("ASSAY_RECORD", "r.json")
            .cwd(place)
            .run();
        assert_eq!(ran.code(), 0, "{name}: {ran}");
        let (table, report) = ran.stdout.split_once("\niozone test complete.\n").expect("complete");
        // Reads that no device took part in have asked it for nothing that could still come.
        let time = began.elapsed();
        told("iozone", format_args!("{name}: {time:?}"));
        assert!(time.as_millis() < 6 * (5 + 6 + 7) * 60, "{name}: {time:?}");
        assert_eq!(rows(table).len(), 5 + 6 + 7, "{name}: {ran}");
        assert_eq!(report.matches(" report\"\n").count(), 6, "{name}: {ran}");
        assert!(ran.stderr.contains("This is the speed of memory"), "{name}: {ran}");
        let why = "Each write went through a file system and the block layer to get there";
        assert_eq!(ran.stderr.contains(why), name == "disk", "{name}: {ran}");
        // The record of the whole default grid, 1,638 phases, is less than 20 MB.
        let kept = std::fs::metadata(place.join("r.json")).expect("a record").len();
        told("iozone", format_args!("{name}: {kept} bytes of record"));
        assert!(kept < 6 * (5 + 6 + 7) * 20_000_000 / 1638, "{name}: {kept}");
        let csv = std::fs::read_to_string(place.join("cells.csv")).expect("a report");
        let cells: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(cells.len(), 6 * (5 + 6 + 7), "{name}: {csv}");
        let is_memory =
            |cell: &&str| cell.contains(",CPU cache (L") || cell.contains(",memory by design,");
        assert!(
            cells.iter().all(|cell| is_memory(cell) && cell.ends_with(",wrong")),
            "{name}: {csv}"
        );
        let mut rates: Vec<u64> = rows(table).iter().map(|row| row[2]).collect();
        rates.sort_unstable();
        writes.push(rates[rates.len() / 2]);
    }
    told("iozone", format_args!("ramfs, tmpfs, ext2 on a RAM disk write {writes:?} kB/s"));
    // O_SYNC sends each record through the block layer, and the inode after it.
    assert!(writes[2] * 2 < writes[0] && writes[2] * 2 < writes[1], "{writes:?}");
}

#[test]
fn large_records_do_not_cost_new_memory_in_each_test() {
    let memory = lab::need!(Memory::tmpfs());
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(words("iozone -a -n 16m -g 16m -y 16m -f t"))
        .current_dir(memory.mount())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    // The kernel tells of a process that is over until somebody asks for its status.
    let stat = format!("/proc/{}/stat", child.id());
    let fields = loop {
        let text = std::fs::read_to_string(&stat).expect("its counters");
        let (_, rest) = text.rsplit_once(") ").expect("a name");
        let fields: Vec<String> = rest.split(' ').map(String::from).collect();
        if fields[0] == "Z" {
            break fields;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert!(child.wait().expect("over").success());
    let faults: u64 = fields[7].parse().expect("a number");
    // Thirteen tests with records of 16 MiB, four of them with a stream's buffer of that size: 17 times 4096
    // pages of 4 KiB, if each had its own.
    crate::kernel::told("iozone", format_args!("{faults} page faults"));
    assert!(faults < 17 * 4096 / 3, "{faults}");
}

#[test]
fn streams_are_told_one_by_one_and_together() {
    let memory = lab::need!(Memory::tmpfs());
    let ran =
        lab::assay(words("iozone -t 2 -s 4m -r 256k -i 0 -i 1 -C -R")).cwd(memory.mount()).run();
    assert_eq!(ran.code(), 0, "{ran}");
    let number = |line: &str| -> f64 {
        let value = line.rsplit('=').next().expect("a value");
        value.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
    };
    for who in [" 2 initial writers \t", " 2 rewriters \t", " 2 readers \t\t", "2 re-readers \t"] {
        let begin = format!("\tChildren see throughput for {who}= ");
        let at = ran.stdout.find(&begin).unwrap_or_else(|| panic!("{begin}: {ran}"));
        let lines: Vec<&str> = ran.stdout[at..].lines().take(8).collect();
        let children: f64 = lines[6..8].iter().copied().map(number).sum();
        assert!(
            lines[6].starts_with("\tChild[0] xfer count = ") && lines[7].starts_with("\tChild[1]")
        );
        assert!((number(lines[0]) - children).abs() < 0.02, "{ran}");
        assert!(
            number(lines[2]) <= number(lines[4]) && number(lines[4]) <= number(lines[3]),
            "{ran}"
        );
        // A stream that came too late has moved nothing.
        assert!((0.0..=4096.0).contains(&number(lines[5])), "{ran}");
    }
    assert!(ran.stdout.contains("\n\"  Initial write \" "), "{ran}");
    assert_eq!(kernel::names(memory.mount()), [], "nothing stays");
}

#[test]
fn what_cannot_be_done_is_refused_and_nothing_is_touched() {
    let memory = lab::need!(Memory::tmpfs());
    let place = memory.mount();
    for (line, option, cure) in [
        ("-s abc", "'abc' for -s", "-s 64m"),
        ("-i 13", "'13' for -i", "a whole number from 0 to 12"),
        ("-a -t 4", "-t and -a", "leave out -a, or -t"),
        ("-q 32m -a", "-q 32m", "give -q 16m or less"),
        ("-F a b", "-F comes before -t", "write -t 2 -F FILE1 FILE2"),
        ("-H 4 -B", "-B with -H or -k", "leave one of them out"),
        ("-i 1", "iozone.tmp", "name a file"),
        ("-f no/t", "no is no folder", "make it first"),
        ("-U /no/mount -f t", "nothing is mounted at /no/mount", "name the mount point"),
        ("-X none", "-X none", "name a file of lines"),
        ("-+m list", "-+m", "mpirun -host A,B assay iozone"),
    ] {
        let ran = lab::assay(["iozone"]).words(&words(line)).cwd(place).run();
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{line}: {ran}");
        let told = ran.stderr.lines().find(|line| line.starts_with("assay: ")).expect("a line");
        assert!(told.contains(option) && told.contains(cure), "{line}: {ran}");
        assert_eq!(kernel::names(place), [], "{line}");
    }
    let link = place.join("iozone");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("a link");
    let out = std::process::Command::new(&link).args(["-a", "-t", "4"]).output().expect("it runs");
    assert_eq!(out.status.code(), Some(17));
}

/// What parsers in use take for a row of the table: blanks and three numbers first, and then no token that is not
/// a whole number (iozone-results-comparator, report.pl, gengnuplot.sh).
fn is_row(line: &str) -> bool {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let digits = |token: &&str| token.chars().all(|c| c.is_ascii_digit());
    line.starts_with(' ') && tokens.len() >= 3 && tokens.iter().take(3).all(digits)
}

#[test]
fn those_who_read_the_original_s_output_read_ours() {
    let memory = lab::need!(Memory::tmpfs());
    let run = |line: &str| {
        let ran = lab::assay(["iozone"]).words(&words(line)).cwd(memory.mount()).run();
        assert_eq!(ran.code(), 0, "{ran}");
        ran.stdout
    };
    let out = run("-s 1m -r 64k -R");
    let lines: Vec<&str> = out.lines().collect();
    // iozone2csv: the version among the first lines, the build behind it, and the rest right before the titles.
    let version = lines[1].trim().strip_prefix("Version $Revision: ").expect("a version");
    assert!(version.trim_end_matches(" $").split('.').all(|part| part.parse::<u32>().is_ok()));
    assert!(lines[3].trim_start().starts_with("Build: linux"), "{out}");
    let titles = lines.iter().position(|line| line.trim_start().starts_with("kB  reclen"));
    let titles = titles.expect("titles");
    for (within, begin) in [
        (10, "Output is in kBytes/sec"),
        (10, "Time Resolution = 0.000001 seconds."),
        (10, "Processor cache size set to 1024 kBytes."),
        (5, "File stride size set to 17 * record size."),
    ] {
        let before = &lines[titles - within..titles];
        assert!(before.iter().any(|line| line.trim() == begin), "{begin}: {out}");
    }
    let above: Vec<&str> = lines[titles - 1].split_whitespace().collect();
    assert_eq!(above, ["random", "random", "bkwd", "record", "stride"]);
    assert_eq!(lines[titles].split_whitespace().count(), 15);
    // Nothing but rows begins with a number, and a row has 13 figures.
    let numbered = |line: &&&str| {
        line.split_whitespace().next().is_some_and(|word| word.as_bytes()[0].is_ascii_digit())
    };
    let rows: Vec<&&str> = lines.iter().filter(numbered).collect();
    let [row] = rows[..] else { panic!("{out}") };
    let values: Vec<u64> = row.split_whitespace().map(|it| it.parse().expect("whole")).collect();
    assert!(is_row(row) && values.len() == 15 && values[..2] == [1024, 64], "{row}");
    assert!(values[2..].iter().all(|value| *value > 0), "{row}");
    // iozone-renderer and makeTables.sh: a title in quotes, records in quotes, a file in quotes and its values.
    let (_, report) = out.split_once("\nExcel output is below:\n").expect("a report");
    let tables: Vec<Vec<&str>> =
        report.trim().split("\n\n").map(|table| table.lines().collect()).collect();
    assert_eq!(tables.len(), 13, "{report}");
    for (table, value) in tables.iter().zip(&values[2..]) {
        let [title, records, row] = table[..] else { panic!("{table:?}") };
        assert!(title.starts_with('"') && title.ends_with(" report\""), "{title}");
        assert_eq!(records.trim(), "\"64\"");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["\"1024\"", &value.to_string()]);
    }
    // phoronix-test-suite: the third value of the line behind the titles, or the fifth.
    for (line, place) in [("-s 1m -r 4k -i0", 3), ("-s 1m -r 4k -i0 -i1", 5)] {
        let out = run(&format!("-e {line}"));
        let (_, row) = out.split_once("freread\n").expect("titles");
        let value = row.split_whitespace().nth(place - 1).expect("a value");
        assert!(value.parse::<u64>().is_ok_and(|value| value > 0), "{out}");
    }
    // An absolute line: the row is the 31st of `-Ra`, sizes and two tests, as in 3.507 and 3.510 with `-I`.
    let out = run("-Rae -r 64k -s 1m -i 0 -i 1");
    assert!(is_row(out.lines().nth(30).expect("31 lines")), "{out}");
    // iozone-wrapper: lines cut by blanks and '='.
    let out = run("-t 2 -s 1m -r 64k -i 0 -i 1 -+u -C");
    let told = out.lines().filter(|line| line.contains("Children see throughput for"));
    let who: Vec<String> = told
        .map(|line| {
            let tokens: Vec<&str> =
                line.split([' ', '\t', '=']).filter(|token| !token.is_empty()).collect();
            let rate: f64 = tokens[tokens.len() - 2].parse().expect("a rate");
            assert!(rate > 0.0 && tokens[tokens.len() - 1] == "kB/sec", "{line}");
            tokens[4..tokens.len() - 2].join(" ")
        })
        .collect();
    assert_eq!(who, ["2 initial writers", "2 rewriters", "2 readers", "2 re-readers"]);
    assert_eq!(out.matches("\tCPU utilization: Wall time ").count(), 3, "{out}");
    assert_eq!(out.matches("\tCPU Utilization: Wall time ").count(), 1, "{out}");
    assert!(!out.lines().any(|line| line.starts_with(|c: char| c.is_ascii_digit())), "{out}");
}

#[test]
fn a_card_that_is_mounted_again_is_read() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    let mount = card.mount().to_str().expect("text").to_string();
    let options = || {
        let table = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        let line = table.lines().find(|line| line.split(' ').nth(4) == Some(&mount));
        let line = line.map(|line| line.split(' ').skip(5).collect::<Vec<_>>().join(" "));
        line.unwrap_or_default()
    };
    let before = options();
    for left in (0..3).rev() {
        let typed = lab::assay(words("iozone -+n -e -i 0 -i 1 -s 8m -r 64k -U"));
        let typed = typed.word(&mount).word("-f").word(card.path("t"));
        let heard = hear(typed.within(card.rooms()));
        assert_eq!(heard.ran.code(), 0, "{heard}");
        assert_eq!(options(), before, "it is mounted as it was");
        assert!(!card.path("t").exists(), "nothing stays");
        let [row] = &rows(&heard.ran.stdout)[..] else { panic!("{heard}") };
        let [8192, 64, _, 0, read, 0] = row[..] else { panic!("{heard}") };
        if (14_000..20_000).contains(&read) {
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn records_of_files_are_done_and_written_down() {
    let memory = lab::need!(Memory::tmpfs());
    let place = memory.mount();
    std::fs::write(place.join("list"), "# a comment\n65536 4096 1\n0 512\n131072 65536 0\n")
        .expect("a list");
    let ran = lab::assay(words("iozone -Y list -Q")).cwd(place).run();
    assert_eq!(ran.code(), 0, "{ran}");
    let [row] = &rows(&ran.stdout)[..] else { panic!("{ran}") };
    assert!(row.len() == 6 && row[..2] == [192, 0], "{ran}");
    let log = std::fs::read_to_string(place.join("rrol.dat")).expect("latencies");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "Offset in kBytes   Latency in microseconds  Transfer size in bytes");
    let columns = |line: &str| -> Vec<u64> {
        assert_eq!(line.len(), 32, "{line}");
        line.split_whitespace().map(|token| token.parse().expect("a number")).collect()
    };
    let moved: Vec<(u64, u64)> =
        lines[1..4].iter().map(|line| columns(line)).map(|it| (it[0], it[2])).collect();
    assert_eq!(moved, [(64, 4096), (0, 512), (128, 65_536)]);
    assert!(lines[5].starts_with("System time      0.0") && lines[5].ends_with("  (seconds)"));
    for name in ["list", "wol.dat", "rwol.dat", "rol.dat", "rrol.dat"] {
        std::fs::remove_file(place.join(name)).expect(name);
    }
    let ran =
        lab::assay(words("iozone -t 2 -+L -+z -Q -x -s 1m -r 64k -i 0 -i 1")).cwd(place).run();
    assert_eq!(ran.code(), 0, "{ran}");
    let text = std::fs::read_to_string(place.join("Iozone_histogram_child_1.txt")).expect("one");
    let ops: Vec<&str> = text.lines().filter(|line| line.starts_with("Child: 1 Op: ")).collect();
    assert_eq!(ops.len(), 4, "{text}");
    let counted: u64 = text
        .split([' ', '\n'])
        .filter_map(|token| token.split_once(':'))
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .sum();
    assert_eq!(counted, 4 * 16, "{text}");
    let log = std::fs::read_to_string(place.join("Child_0_wol.dat")).expect("latencies");
    assert_eq!(log.lines().count(), 17, "{log}");
    assert!(!place.join("iozone.DUMMY.0").exists(), "only what was asked for stays");
}

#[test]
fn what_does_not_hold_what_was_written_is_told() {
    let memory = lab::need!(Memory::tmpfs());
    let place = memory.mount();
    for line in ["-V 3", "-+d", "-+Z", "-+d -B", "-V 9 -H 4"] {
        let ran = lab::assay(["iozone", "-s", "1m", "-r", "64k"]).words(&words(line)).cwd(place);
        let ran = ran.run();
        assert_eq!(ran.code(), 0, "{line}: {ran}");
    }
    std::fs::write(place.join("t"), vec![3; 1 << 20]).expect("a file");
    let again = || lab::assay(words("iozone -V 3 -i 1 -s 1m -r 64k -w -f t")).cwd(place).run();
    assert_eq!(again().code(), 0);
    let mut damaged = vec![3; 1 << 20];
    damaged[777_777] = 4;
    std::fs::write(place.join("t"), damaged).expect("a file");
    let ran = again();
    assert_eq!(ran.code(), 1, "{ran}");
    assert!(ran.stderr.contains("expected the byte 03, found 04"), "{ran}");
}

#[test]
fn the_time_between_records_is_not_in_their_rate() {
    let memory = lab::need!(Memory::tmpfs());
    let write = |line: &str| -> u64 {
        let typed = lab::assay(["iozone", "-s", "1m", "-r", "64k", "-i", "0", "-+n"]);
        let ran = typed.words(&words(line)).cwd(memory.mount()).run();
        assert_eq!(ran.code(), 0, "{ran}");
        rows(&ran.stdout)[0][2]
    };
    // Sixteen records with 5 ms before each are 12,800 kB/s at the most.
    let (apart, together) = (write("-J 5"), write("-J 5 -+J"));
    told("iozone", format_args!("{apart} and {together} kB/s"));
    assert!(together < 13_500 && together > 5_000, "{together}");
    assert!(apart > 10 * together, "{apart}");
    let pauses = write("-+b 128k,5");
    assert!(pauses > 10 * 25_600, "{pauses}");
}

#[test]
fn a_disk_that_is_full_in_the_middle_is_told_and_nothing_stays() {
    let memory = lab::need!(Memory::tmpfs_of(8 * MI));
    let place = memory.mount();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(words("iozone -s 6m -r 64k -i 0 -+O 50 -+n"))
        .current_dir(place)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let grown = || std::fs::metadata(place.join("iozone.tmp")).is_ok_and(|it| it.len() > 0);
    while !grown() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let filler = place.join("filler");
    // As much as there is.
    let _ = std::fs::write(&filler, vec![1; 8 * MI as usize]);
    let output = child.wait_with_output().expect("it ends");
    std::fs::remove_file(filler).expect("removed");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(
        err.contains("assay: cannot write iozone.tmp at ") && err.contains("(ENOSPC)"),
        "{err}"
    );
    assert!(!out.contains("iozone test complete."), "{out}");
    assert_eq!(kernel::names(place), [], "nothing stays");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let memory = lab::need!(Memory::tmpfs());
    let place = memory.mount();
    let read_only = std::process::Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(place)
        .status()
        .expect("mount runs");
    assert!(read_only.success());
    for line in ["-s 64k -i 0", "-t 2 -s 64k -i 0"] {
        let ran = lab::assay(["iozone"]).words(&words(line)).cwd(place).run();
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{line}: {ran}");
        assert!(ran.stderr.contains("(EROFS)") && ran.stderr.contains("; name a folder"), "{ran}");
    }
}
