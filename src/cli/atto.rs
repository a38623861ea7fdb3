//! `assay atto`: ATTO's sweep by its own choices, its table on standard output, and what may be
//! believed of it on standard error.

use std::io::Write;
use std::path::PathBuf;

use super::conduct::{NOT_SOUND, SOUND, conduct_as};
use super::environment::Environment;
use super::place::{Kind, any_seed, consents, look, standing, time};
use super::{Common, printed, without_place};
use crate::dialect::atto::{self, Atto, Mode, Options};
use crate::error::{Error, Refusal};
use crate::plan::{Fill, Layout, Lifetime, Plan, Size};
use crate::record::Record;
use crate::report::sweep::Unit;
use crate::report::verdict_lines;
use crate::sys::clock;
use crate::unit::{Bytes, Nanos};

/// The words of the dialect: ATTO has windows, and none of its own.
#[derive(Clone, Debug, clap::Args)]
pub struct Words {
    /// A folder on the drive, or a block device
    ///
    /// In a folder one test file is written, read and removed.
    pub target: PathBuf,
    /// The block device a second time: it is overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
    /// The smallest transfer size
    #[arg(short, long, default_value = "512", value_name = "S")]
    pub from: Bytes,
    /// The largest transfer size; those between them double
    #[arg(short, long, default_value = "64M", value_name = "S")]
    pub to: Bytes,
    /// Any transfer sizes instead, with commas between them
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["from", "to"])]
    pub sizes: Vec<Bytes>,
    /// Total length: size of the file, and bytes that each row moves
    #[arg(short, long, default_value = "256M", value_name = "S")]
    pub length: Bytes,
    /// I/Os in flight, of overlapped I/O (default: 4)
    #[arg(short = 'q', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub queue_depth: Option<u32>,
    /// How I/Os are sent
    #[arg(long, value_enum, default_value = "overlapped", value_name = "MODE")]
    pub mode: Sending,
    /// Through the page cache
    #[arg(long)]
    pub no_direct: bool,
    /// Each write is durable when it is answered (O_DSYNC)
    #[arg(long)]
    pub bypass_write_cache: bool,
    /// Compare what is read with what was written
    #[arg(long)]
    pub verify: bool,
    /// What is written: zero, ones, random, or bytes in hexadecimal digits, over and over
    #[arg(long, default_value = "zero", value_name = "DATA", value_parser = pattern)]
    pub pattern: Fill,
    /// The same as --pattern random
    #[arg(long, conflicts_with = "pattern")]
    pub incompressible: bool,
    /// Repeat the whole until so many minutes are over; the last one is done to its end
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=10_080))]
    #[arg(conflicts_with_all = ["record", "report", "plan", "json"])]
    pub continuous: Option<u32>,
    /// What the figures are
    #[arg(long, value_enum, default_value = "bytes", value_name = "UNIT")]
    pub unit: Figures,
    /// A line for the heading
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub description: String,
    /// The most time of a row: 20, 1m
    #[arg(long, default_value = "20", value_name = "T", value_parser = time)]
    pub row_limit: Nanos,
    /// Number from which all random data follow (default: another one each time)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: Common,
}

/// How I/Os are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sending {
    /// As many at once as the queue is deep
    Overlapped,
    /// One after another
    Neither,
    /// One after another, each block read back and compared: a test of correctness, not of speed
    Compare,
}

/// What the figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Figures {
    /// Bytes per second
    Bytes,
    /// I/Os per second
    Iops,
}

/// Where nothing is said of the queue.
const DEPTH: u32 = 4;

/// Does what ATTO would do with these words.
///
/// # Errors
/// When it can not be done here, or the output can not be written.
pub fn atto(
    words: &Words,
    typed: Vec<String>,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let began = clock::now();
    let options = options(words, typed)?;
    let plan = planned(words, look(&words.target)?, &options)?;
    let mut common = words.common.clone();
    common.record = common.record.or_else(|| environment.record.clone());
    let style = environment.err_style();
    let verdict = |record: &Record, err: &mut dyn Write| {
        for line in verdict_lines(record, style) {
            let _ = writeln!(err, "{line}");
        }
        if options.data != Fill::Random {
            let _ = writeln!(err, "assay: note: {}", atto::data(&options));
        }
        Ok(())
    };
    let minutes = u64::from(words.continuous.unwrap_or_default());
    let whole = Nanos::secs(minutes * 60);
    let mut worst = SOUND;
    loop {
        let page = Box::new(Atto::new(&options, environment.out_style()));
        let code = conduct_as(&plan, &common, environment, (&mut *out, &mut *err), page, verdict)
            .map_err(|error| by_length(without_place(error)))?;
        if !matches!(code, SOUND | NOT_SOUND) {
            return Ok(code);
        }
        worst = worst.max(code);
        if clock::now().since(began) >= whole {
            return Ok(worst);
        }
        printed(writeln!(out))?;
    }
}

/// What other verbs call the size of the file is the total length here.
fn by_length(error: Error) -> Error {
    match error {
        Error::Refusal(refusal) => {
            let instead = refusal.instead.replace("--size", "-l");
            Refusal { instead, ..refusal }.into()
        }
        fault => fault,
    }
}

/// The choices.
fn options(words: &Words, typed: Vec<String>) -> Result<Options, Refusal> {
    let mode = match words.mode {
        Sending::Overlapped => Mode::Overlapped,
        Sending::Neither => Mode::Neither,
        Sending::Compare => Mode::Compare,
    };
    let usual = if mode == Mode::Overlapped { DEPTH } else { 1 };
    Ok(Options {
        sizes: sizes(words),
        length: words.length,
        depth: words.queue_depth.unwrap_or(usual),
        mode,
        direct: !words.no_direct,
        write_through: words.bypass_write_cache,
        verify: words.verify,
        data: if words.incompressible { Fill::Random } else { words.pattern.clone() },
        row_limit: words.row_limit,
        unit: match words.unit {
            Figures::Bytes => Unit::Bytes,
            Figures::Iops => Unit::Ios,
        },
        description: words.description.clone(),
        seed: words.seed.unwrap_or_else(any_seed),
        words: typed,
    })
}

/// The transfer sizes, ascending, each once.
fn sizes(words: &Words) -> Vec<Bytes> {
    let mut sizes = words.sizes.clone();
    if sizes.is_empty() {
        let doubled = std::iter::successors(Some(words.from.0.max(1)), |size| size.checked_mul(2));
        sizes.extend(doubled.take_while(|size| *size <= words.to.0).map(Bytes));
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The plan for what stands at the path, without a look at the machine.
fn planned(words: &Words, kind: Kind, options: &Options) -> Result<Plan, Refusal> {
    let shown = words.target.display();
    consents(&words.target, kind, words.again.as_deref(), true)?;
    if matches!(kind, Kind::File(_)) {
        return Err(Refusal::new(
            format!("{shown} is somebody's file, and would be overwritten"),
            "name its folder: a test file of our own is made there",
        ));
    }
    let made = (Size::Exactly(options.length), Layout::Written);
    let target = standing(&words.target, kind, words.again.as_deref(), made, Lifetime::Remove);
    atto::plan(options, &target)
}

/// What is written: `zero`, `ones`, `random`, or bytes in hexadecimal digits.
fn pattern(text: &str) -> Result<Fill, String> {
    let bytes = match text {
        "zero" => return Ok(Fill::Zero),
        "ones" => return Ok(Fill::Repeat(vec![0xff])),
        "random" => return Ok(Fill::Random),
        digits => digits.strip_prefix("0x").unwrap_or(digits).as_bytes(),
    };
    let byte = |pair: &[u8]| {
        let pair =
            std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.contains('+'))?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = bytes.chunks(2).map(byte).collect();
    bytes.filter(|bytes| !bytes.is_empty()).map(Fill::Repeat).ok_or_else(|| {
        format!("'{text}' is no pattern; write zero, ones, random, or pairs of digits such as a5 or deadbeef")
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::words;
    use super::*;

    fn plan(line: &str, kind: Kind) -> Result<Plan, Refusal> {
        let words = words(line);
        planned(&words, kind, &options(&words, vec![])?)
    }

    #[test]
    fn sizes_double_or_are_listed() {
        assert_eq!(sizes(&words("/mnt")).len(), 18);
        let some = sizes(&words("-f 4k -t 20k /mnt"));
        assert_eq!(some, [4, 8, 16].map(Bytes::kib));
        let listed = sizes(&words("--sizes 12M,512,12M /mnt"));
        assert_eq!(listed, [Bytes(512), Bytes::mib(12)]);
    }

    #[test]
    fn each_option_is_a_choice() {
        let chosen = |line: &str| {
            let words = words(&format!("--seed 1 {line} /mnt"));
            options(&words, vec![]).unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
        };
        let usual = chosen("");
        assert_eq!((usual.sizes.len(), usual.length, usual.depth), (18, Bytes::mib(256), 4));
        assert_eq!((usual.direct, usual.write_through, usual.verify), (true, false, false));
        assert_eq!((&usual.data, usual.row_limit), (&Fill::Zero, Nanos::secs(20)));
        for (line, one) in [
            ("-q 16", Options { depth: 16, ..usual.clone() }),
            ("-l 64k", Options { length: Bytes::kib(64), ..usual.clone() }),
            ("--mode neither", Options { mode: Mode::Neither, depth: 1, ..usual.clone() }),
            ("--mode compare", Options { mode: Mode::Compare, depth: 1, ..usual.clone() }),
            ("--no-direct", Options { direct: false, ..usual.clone() }),
            ("--bypass-write-cache", Options { write_through: true, ..usual.clone() }),
            ("--verify", Options { verify: true, ..usual.clone() }),
            ("--pattern ones", Options { data: Fill::Repeat(vec![0xff]), ..usual.clone() }),
            ("--incompressible", Options { data: Fill::Random, ..usual.clone() }),
            ("--unit iops", Options { unit: Unit::Ios, ..usual.clone() }),
            ("--description mine", Options { description: "mine".into(), ..usual.clone() }),
            ("--row-limit 1m", Options { row_limit: Nanos::secs(60), ..usual.clone() }),
        ] {
            assert_eq!(chosen(line), one, "{line}");
        }
    }

    #[test]
    fn patterns_are_words_or_digits() {
        assert_eq!(pattern("ones"), Ok(Fill::Repeat(vec![0xff])));
        assert_eq!(pattern("0xA5"), Ok(Fill::Repeat(vec![0xa5])));
        assert_eq!(pattern("deadbeef"), Ok(Fill::Repeat(vec![0xde, 0xad, 0xbe, 0xef])));
        for bad in ["", "a", "abc", "zz", "0x", "+1"] {
            assert!(pattern(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn drives_are_written_only_where_that_is_allowed() {
        plan("/mnt", Kind::Folder).expect("a plan").check().expect("sound");
        plan("/dev/x /dev/x", Kind::Device).expect("a plan").check().expect("consent");
        for (line, kind, says) in [
            ("/dev/x", Kind::Device, "name the device a second time"),
            ("/mnt/file", Kind::File(Bytes::mib(9)), "somebody's file"),
            ("/mnt /mnt", Kind::Folder, "one path too many"),
            ("-f 1M -t 4k /mnt", Kind::Folder, "no row at all"),
            ("-q 8 --mode neither /mnt", Kind::Folder, "a queue of 8"),
            ("-l 64G /mnt", Kind::Folder, "a total length of 64 GiB"),
            ("-f 0 /mnt", Kind::Folder, "no row of 1 B"),
        ] {
            let refusal = plan(line, kind).expect_err(line);
            assert!(refusal.to_string().contains(says), "{line}: {refusal}");
        }
    }
}
