//! `assay atto`: ATTO's sweep by its own choices, its table on standard output, and what may be
//! believed of it on standard error.

use std::io::Write;
use std::path::PathBuf;

use super::conduct::{PlanVerb, conduct_as, without_place};
use super::output::OutputArgs;
use super::place::{PathType, consents, look, standing};
use super::target_args::{ConsentArgs, SeedArgs};
use crate::dialect::atto::{self, AttoMode, AttoOptions, AttoTable};
use crate::dialect::verdict_place::VerdictPlace;
use crate::process::Environment;
use crate::process::stdout::printed;
use crate::process::typing::time;
use crate::process::{NOT_SOUND, SOUND};
use crate::report::sweep::SweepUnit;
use crate::report::verdict_lines;
use assay_engine::sys::clock;
use assay_judge::predict::places;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{Fill, LayoutMode, Lifetime, Plan, Size};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::record::Record;

/// The words of the dialect: ATTO has windows, and none of its own.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("seed", |seed| seed.help("Random seed for data (default: random)")))]
pub struct AttoArgs {
    /// A folder on the drive, or a block device
    ///
    /// In a folder one test file is written, read and removed.
    pub target: PathBuf,
    /// Leave to overwrite a device.
    #[command(flatten)]
    pub consent: ConsentArgs,
    /// The smallest transfer size
    #[arg(short, long, default_value = "512", value_name = "S")]
    pub from: Bytes,
    /// The largest transfer size; those between them double
    #[arg(short, long, default_value = "64M", value_name = "S")]
    pub to: Bytes,
    /// Explicit transfer sizes, separated by commas
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
    pub mode: AttoMode,
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
    /// Repeat all of it for this many minutes; the last repetition runs to its end
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=10_080))]
    #[arg(conflicts_with_all = ["record", "report", "plan", "json"])]
    pub continuous: Option<u32>,
    /// What the figures are
    #[arg(long, value_enum, default_value = "bytes", value_name = "UNIT")]
    pub unit: FigureKind,
    /// A line for the heading
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub description: String,
    /// Maximum time of a row: 20, 1m
    #[arg(long, default_value = "20", value_name = "T", value_parser = time)]
    pub row_limit: Nanos,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FigureKind {
    /// Bytes per second
    Bytes,
    /// I/Os per second
    Iops,
}

/// Where nothing is said of the queue.
const DEPTH: u32 = 4;

impl AttoArgs {
    /// The plan of what was chosen, and the choices.
    fn chosen(&self, typed: Vec<String>) -> Result<(Plan, AttoOptions), Error> {
        let options = options(self, typed)?;
        let plan = plan(self, look(&self.target)?, &options)?;
        Ok((plan, options))
    }
}

impl PlanVerb for AttoArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        Ok(self.chosen(typed)?.0)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }

    /// Does what ATTO would do with these words.
    fn run(
        &self,
        typed: Vec<String>,
        environment: &Environment,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<u8, Error> {
        let began = clock::now();
        let environment = &self.common.surroundings(environment);
        let (plan, options) = self.chosen(typed)?;
        let mut common = self.common.clone();
        common.record = common.record.or_else(|| environment.record.clone());
        let style = environment.err_lines_style();
        let kept = common.record.iter().chain(&common.report).cloned();
        let others: Vec<_> = places(&plan).into_iter().chain(kept).collect();
        let place = VerdictPlace::of(environment, false, &others)?;
        let mut verdict = |record: &Record, err: &mut dyn Write| {
            place.append(&place.lines(record))?;
            if !place.tells(false) {
                return Ok(());
            }
            for line in verdict_lines(record, style) {
                let _ = writeln!(err, "{line}");
            }
            if options.data != Fill::Random {
                let _ = writeln!(err, "assay: note: {}", atto::data(&options));
            }
            Ok(())
        };
        let minutes = u64::from(self.continuous.unwrap_or_default());
        let whole = Nanos::secs(minutes * 60);
        let mut worst = SOUND;
        loop {
            let page = Box::new(AttoTable::new(&options, environment.out_style()));
            let code =
                conduct_as(&plan, &common, environment, (&mut *out, &mut *err), page, &mut verdict)
                    .map_err(without_place)?;
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
}

/// The choices.
fn options(words: &AttoArgs, typed: Vec<String>) -> Result<AttoOptions, Refusal> {
    let mode = words.mode;
    let usual = if mode == AttoMode::Overlapped { DEPTH } else { 1 };
    Ok(AttoOptions {
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
            FigureKind::Bytes => SweepUnit::Bytes,
            FigureKind::Iops => SweepUnit::Ios,
        },
        description: words.description.clone(),
        seed: words.seed.number(),
        words: typed,
    })
}

/// The transfer sizes, ascending, each once.
fn sizes(words: &AttoArgs) -> Vec<Bytes> {
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
fn plan(words: &AttoArgs, kind: PathType, options: &AttoOptions) -> Result<Plan, Refusal> {
    let shown = words.target.to_text();
    consents(&words.target, kind, &words.consent.again, true)?;
    if matches!(kind, PathType::File(_)) {
        return Err(Refusal::new(
            format!("{shown} is somebody's file, and would be overwritten"),
            "name its folder: a test file of our own is made there",
        ));
    }
    let made = (Size::Exactly(options.length), LayoutMode::Written);
    let target = standing(&words.target, kind, &words.consent.again, made, Lifetime::Remove);
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

    fn plan(line: &str, kind: PathType) -> Result<Plan, Refusal> {
        let words = words(line);
        super::plan(&words, kind, &options(&words, vec![])?)
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
            ("-q 16", AttoOptions { depth: 16, ..usual.clone() }),
            ("-l 64k", AttoOptions { length: Bytes::kib(64), ..usual.clone() }),
            ("--mode neither", AttoOptions { mode: AttoMode::Neither, depth: 1, ..usual.clone() }),
            ("--mode compare", AttoOptions { mode: AttoMode::Compare, depth: 1, ..usual.clone() }),
            ("--no-direct", AttoOptions { direct: false, ..usual.clone() }),
            ("--bypass-write-cache", AttoOptions { write_through: true, ..usual.clone() }),
            ("--verify", AttoOptions { verify: true, ..usual.clone() }),
            ("--pattern ones", AttoOptions { data: Fill::Repeat(vec![0xff]), ..usual.clone() }),
            ("--incompressible", AttoOptions { data: Fill::Random, ..usual.clone() }),
            ("--unit iops", AttoOptions { unit: SweepUnit::Ios, ..usual.clone() }),
            ("--description mine", AttoOptions { description: "mine".into(), ..usual.clone() }),
            ("--row-limit 1m", AttoOptions { row_limit: Nanos::secs(60), ..usual.clone() }),
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
        plan("/mnt", PathType::Folder).expect("a plan").check().expect("sound");
        plan("/dev/x /dev/x", PathType::Device).expect("a plan").check().expect("consent");
        for (line, kind, says) in [
            ("/dev/x", PathType::Device, "name the device a second time"),
            ("/mnt/file", PathType::File(Bytes::mib(9)), "somebody's file"),
            ("/mnt /mnt", PathType::Folder, "one path too many"),
            ("-f 1M -t 4k /mnt", PathType::Folder, "no row at all"),
            ("-q 8 --mode neither /mnt", PathType::Folder, "a queue of 8"),
            ("-l 64G /mnt", PathType::Folder, "a total length of 64 GiB"),
            ("-f 0 /mnt", PathType::Folder, "no row of 1 B"),
        ] {
            let refusal = plan(line, kind).expect_err(line);
            assert!(refusal.to_string().contains(says), "{line}: {refusal}");
        }
    }
}
