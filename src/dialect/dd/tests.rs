//! The words of both dds, and their lines.

use super::*;
use assay_plan::plan::{CopyLength, CopyWork, Resync};
use assay_plan::stats::copy::{CopyCounts, CopyEvent};
use assay_plan::unit::Bytes;
use assay_plan::unit::Nanos;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn gnu_copy(text: &str) -> CopyWork {
    let (plan, _) = parse(&words(text), DdFlavor::Gnu).expect(text);
    plan.check().expect("a sound plan");
    copy_of(&plan).expect("a copy").clone()
}

fn refused(text: &str, flavor: DdFlavor) -> String {
    let complaint = parse(&words(text), flavor).expect_err(text);
    assert_eq!((complaint.code, complaint.stdout.as_str()), (1, ""), "{text}");
    complaint.stderr
}

#[test]
fn operands_become_a_copy() {
    let copy = gnu_copy("if=a of=b bs=4k count=10kB skip=3 oseek=1MiB conv=sync,fsync");
    assert_eq!((copy.input_block, copy.output_block), (Bytes(4096), Bytes(4096)));
    assert!(copy.block_for_block && copy.flush.fsync && !copy.flush.fdatasync);
    assert_eq!(copy.count, Some(CopyLength { blocks: 2, bytes: Bytes(1808) }));
    assert_eq!(copy.skip, CopyLength { blocks: 3, bytes: Bytes(0) });
    assert_eq!(copy.seek, CopyLength { blocks: 256, bytes: Bytes(0) });
    assert_eq!(copy.resync, Resync::Zeros);
    assert!(!gnu_copy("").block_for_block);
    assert!(!gnu_copy("bs=1 conv=block").block_for_block);
    assert_eq!(gnu_copy("cbs=80 conv=ascii").records.unblock, Some(80));
    assert_eq!(gnu_copy("conv=ebcdic").records.block, None);
    assert_eq!(gnu_copy("count=9223372036854775807").count, None);
}

#[test]
fn one_flush_is_asked_for_whoever_speaks() {
    for flavor in [DdFlavor::Gnu, DdFlavor::Busybox] {
        let (plan, _) = parse(&words("if=a of=b bs=10k conv=fsync"), flavor).expect("a plan");
        let copy = copy_of(&plan).expect("a copy");
        assert!(copy.flush.fsync && !copy.fsync_every_block, "{flavor:?}");
    }
}

#[test]
fn gnu_complains_to_the_letter() {
    let more = "\nTry 'dd --help' for more information.\n";
    for (text, says) in [
        ("bs=abc", "dd: invalid number: 'abc'\n".into()),
        ("count=2xx4", "dd: invalid number: '2xx4'\n".into()),
        ("count=10BB", "dd: invalid number: '10BB'\n".into()),
        ("bs=0", "dd: invalid number: '0'\n".into()),
        ("bs=8E", "dd: invalid number: '8E': Value too large for defined data type\n".into()),
        ("foo", format!("dd: unrecognized operand 'foo'{more}")),
        ("conv=block,foo", format!("dd: invalid conversion: 'foo'{more}")),
        ("iflag=text", format!("dd: invalid input flag: 'text'{more}")),
        ("oflag=fullblock", format!("dd: invalid output flag: 'fullblock'{more}")),
        ("status=", format!("dd: invalid status level: ''{more}")),
        ("conv=ascii,ibm", "dd: cannot combine any two of {ascii,ebcdic,ibm}\n".into()),
        ("conv=excl,nocreat", "dd: cannot combine excl and nocreat\n".into()),
        ("oflag=direct,nocache", "dd: cannot combine direct and nocache\n".into()),
        ("--help=1", format!("dd: option '--help' doesn't allow an argument{more}")),
        ("-x", format!("dd: invalid option -- 'x'{more}")),
    ] {
        assert_eq!(refused(text, DdFlavor::Gnu), says);
    }
    let (_, options) = parse(&words("count=0x5"), DdFlavor::Gnu).expect("a warning only");
    assert_eq!(
        options.warnings,
        "dd: warning: '0x' is a zero multiplier; use '00x' if that is intended\n"
    );
}

#[test]
fn busybox_complains_to_the_letter() {
    for (text, says) in [
        ("bs=abc", "dd: invalid number 'abc'\n"),
        ("bs=0", "dd: number 0 is not in 1..9223372036854775807 range\n"),
        ("count=1KiB", "dd: invalid number '1KiB'\n"),
        ("conv=xx", "dd: invalid argument 'xx' to 'conv'\n"),
        ("status=progress", "dd: invalid argument 'progress' to 'status'\n"),
    ] {
        assert_eq!(refused(text, DdFlavor::Busybox), says);
    }
    assert!(refused("oseek=1", DdFlavor::Busybox).starts_with("Usage: dd "));
}

#[test]
fn sizes_are_rounded_as_dd_rounds_them() {
    for (size, si, iec) in [
        (1000, "1.0 kB", "1000 B"),
        (1050, "1.0 kB", "1.0 KiB"),
        (1051, "1.1 kB", "1.0 KiB"),
        (9949, "9.9 kB", "9.7 KiB"),
        (9950, "10 kB", "9.7 KiB"),
        (10239, "10 kB", "10 KiB"),
        (99950, "100 kB", "98 KiB"),
        (999_499, "999 kB", "976 KiB"),
        (999_500, "1.0 MB", "976 KiB"),
        (1_048_575, "1.0 MB", "1.0 MiB"),
        (107_374_182_400, "107 GB", "100 GiB"),
    ] {
        assert_eq!(
            (human(Bytes(size), 1000).as_str(), human(Bytes(size), 1024).as_str()),
            (si, iec)
        );
    }
}

#[test]
fn rates_are_rounded_as_dd_rounds_them() {
    for (size, nanos, says) in [
        (0, 23_846, "0.0 kB/s"),
        (1, 27_000, "37.0 kB/s"),
        (999, 34_752, "28.7 MB/s"),
        (9949, 38_037, "262 MB/s"),
        (9950, 1_231_380, "8.1 MB/s"),
        (1_073_741_823, 2_420_890_000, "444 MB/s"),
        (5, 23_786, "210 kB/s"),
        (5, 0, "Infinity B/s"),
        (5, 1_000_000_000, "5 B/s"),
    ] {
        assert_eq!(rate(Bytes(size), Nanos(nanos)), says);
    }
}

#[test]
fn seconds_are_written_as_printf_writes_them() {
    let mut numbers = vec![0.0, 1.0, 0.1, 999_999.5, 999_999.4, 1e6, 0.0001, 0.000_099_999_95];
    let mut state = 12_345_u64;
    for _ in 0..300 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.push((state >> (state % 50 + 8)) as f64 / 1e9);
    }
    let texts: Vec<String> = numbers.iter().map(|number| format!("{number:.70}")).collect();
    let output = std::process::Command::new("/usr/bin/printf")
        .env("LC_ALL", "C")
        .arg("%g\n")
        .args(&texts)
        .output()
        .expect("printf");
    let expected = String::from_utf8(output.stdout).expect("ascii");
    for (number, line) in numbers.iter().zip(expected.lines()) {
        assert_eq!(general(*number), line, "{number}");
    }
}

#[test]
fn lines_have_their_forms() {
    let gnu =
        DdOutput { flavor: DdFlavor::Gnu, status: StatusLevel::Full, warnings: String::new() };
    let counts = |bytes_written| CopyCounts { bytes_written, ..CopyCounts::default() };
    let last = |options: &DdOutput, bytes, time| {
        report(options, &counts(bytes), Nanos(time)).lines().last().expect("lines").to_string()
    };
    assert_eq!(
        last(&gnu, 20_971_520, 29_142_600),
        "20971520 bytes (21 MB, 20 MiB) copied, 0.0291426 s, 720 MB/s"
    );
    assert_eq!(last(&gnu, 1000, 2_919_250), "1000 bytes (1.0 kB) copied, 0.00291925 s, 343 kB/s");
    assert_eq!(last(&gnu, 1, 47_029), "1 byte copied, 4.7029e-05 s, 21.3 kB/s");
    let (line, len) = progress(&counts(14_638_120_960), Nanos(1_000_400_000), 70);
    assert_eq!(line.trim_end(), "\r14638120960 bytes (15 GB, 14 GiB) copied, 1 s, 14.6 GB/s");
    assert_eq!((line.len(), len), (71, 56));
    let busybox = DdOutput { flavor: DdFlavor::Busybox, ..gnu.clone() };
    assert_eq!(
        last(&busybox, 20_971_520, 38_789_000),
        "20971520 bytes (20.0MB) copied, 0.038789 seconds, 515.6MB/s"
    );
    assert_eq!(
        last(&busybox, 512, 29_353_000),
        "512 bytes (512B) copied, 0.029353 seconds, 17.0KB/s"
    );
    assert_eq!(last(&busybox, 0, 27_000), "0 bytes (0B) copied, 0.000027 seconds, 0B/s");
    let copy = gnu_copy("");
    let skipped = CopyEvent::SkippedTooFar { path: "standard input".into() };
    assert_eq!(
        event(&gnu, &copy, &skipped),
        "dd: 'standard input': cannot skip to specified offset\n"
    );
}

#[test]
fn help_fits_a_terminal_of_eighty_columns() {
    let flavors = [DdFlavor::Gnu, DdFlavor::Busybox];
    for flavor in flavors {
        let said = parse(&["--help".to_string()], flavor).expect_err("help");
        for line in format!("{}{}", said.stdout, said.stderr).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
    let form = crate::dialect::bonnie::BonnieVersion::default();
    for line in crate::dialect::bonnie::help(form).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
