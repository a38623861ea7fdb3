//! `assay iozone` on devices of known speed: the table of the original, the card's figures where the words ask
//! for them, and what the others are.

use assay::record::{MeasuredSubject, Trust};

use crate::kernel::{self, hear, told};
use crate::lab::{self, Card, MI, Memory};

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
fn direct_and_flushed_it_says_what_the_card_does() {
    let _alone = lab::alone();
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
    let _alone = lab::alone();
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
        let holds = |device: &Option<assay::stats::Estimate>| {
            device.is_some_and(|device| (device.low..=device.high).contains(&card_writes))
        };
        if device.iter().all(holds) {
            assert!(heard.ran.stderr.contains("The device itself: 4."), "{heard}");
            assert!(heard.ran.stderr.contains("-s 8m -r 64k -f"), "{heard}");
            return;
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

#[test]
fn honest_reads_come_from_the_card() {
    let _alone = lab::alone();
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
    for line in ["-s abc", "-i 13", "-a -t 4", "-q 32m -a", "-F a b", "-H 4 -B", "-i 1", "-f no/t"]
    {
        let ran = lab::assay(["iozone"]).words(&words(line)).cwd(place).run();
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{line}: {ran}");
        assert!(ran.stderr.contains("assay: "), "{line}: {ran}");
        assert_eq!(kernel::names(place), [], "{line}");
    }
    let link = place.join("iozone");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("a link");
    let out = std::process::Command::new(&link).args(["-a", "-t", "4"]).output().expect("it runs");
    assert_eq!(out.status.code(), Some(17));
}
