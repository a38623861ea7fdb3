//! The options of Bonnie++: one list, from which its words are read, its usage is made, and help and tables
//! come.

use super::super::option::{OptionValue, ToolOption};
use super::{BonnieComplaint, BonnieOptions, BonnieVersion, PerChar, StepMode};
use assay_plan::name;

/// An option, and who has it.
pub(super) struct BonnieOption {
    /// Whether a version has it.
    pub(super) has: fn(BonnieVersion) -> bool,
    pub(super) option: ToolOption<BonnieOptions, BonnieComplaint>,
}

/// The option of that name in a version.
pub(super) fn find(
    form: BonnieVersion,
    name: &str,
) -> Option<&'static ToolOption<BonnieOptions, BonnieComplaint>> {
    of(form).find(|option| option.is(name))
}

/// The options of a version.
pub(super) fn of(
    form: BonnieVersion,
) -> impl Iterator<Item = &'static ToolOption<BonnieOptions, BonnieComplaint>> {
    OPTIONS.iter().filter(move |one| (one.has)(form)).map(|one| &one.option)
}

/// The options of one letter as getopt has them: `bd:f::`.
pub(super) fn letters(form: BonnieVersion) -> String {
    let letter =
        |name: &str| name.strip_prefix('-').filter(|letter| letter.len() == 1).map(String::from);
    let of = |option: &ToolOption<BonnieOptions, BonnieComplaint>| {
        let colons = match option.value {
            OptionValue::None | OptionValue::Words(_) => "",
            OptionValue::Glued(_) => "::",
            OptionValue::Needed(_) => ":",
        };
        let letters = option.names.iter().filter_map(|name| letter(name));
        letters.map(|letter| letter + colons).collect::<String>()
    };
    self::of(form).map(of).collect()
}

fn all(_: BonnieVersion) -> bool {
    true
}

fn old(form: BonnieVersion) -> bool {
    form.is_old()
}

fn new(form: BonnieVersion) -> bool {
    !form.is_old()
}

type Effect = fn(&mut BonnieOptions, &str) -> Result<(), BonnieComplaint>;

const fn option(
    has: fn(BonnieVersion) -> bool,
    name: &'static [&'static str],
    value: OptionValue,
    help: &'static str,
    effect: Effect,
    example: &'static str,
) -> BonnieOption {
    BonnieOption { has, option: ToolOption { names: name, value, help, effect, example } }
}

const OPTIONS: &[BonnieOption] = &[
    option(
        all,
        &["-d"],
        OptionValue::Needed("scratch-dir"),
        "the folder to test in (the current one)",
        |asked, value| asked.folder(value),
        "-d .",
    ),
    option(
        new,
        &["-c"],
        OptionValue::Needed("concurrency"),
        "copies of each test that run at the same time (1)",
        |asked, value| {
            asked.concurrency = asked.number_of("-c", value, 1..=200)? as u32;
            Ok(())
        },
        "-c 2",
    ),
    option(
        new,
        &["-s"],
        OptionValue::Needed("size(MiB)[:chunk-size(b)]"),
        "size of the file, of an I/O, and of 2.00 seeks and seekers: SIZE[:CHUNK[:SEEKS[:SEEKERS]]] (twice the memory, 8k, 8192, 5); 0: no tests of it",
        BonnieOptions::size,
        "-s 64:8k:2k:7",
    ),
    option(
        old,
        &["-s"],
        OptionValue::Needed("size(MiB)[:chunk-size(b)]"),
        "size of the file, and of an I/O (twice the memory, 8k); 0: no tests of it",
        BonnieOptions::size,
        "--format 1.03 -s 64:8k",
    ),
    option(
        new,
        &["-n"],
        OptionValue::Needed("number-to-stat[:max-size[:min-size][:num-directories[:chunk-size]]]"),
        "small files, in units of 1024: how many, their sizes (-1: hard links, -2: symbolic), folders, size of an I/O (16); 0: no tests of them",
        BonnieOptions::files,
        "-n 4:2048:1024:3",
    ),
    option(
        old,
        &["-n"],
        OptionValue::Needed("number-to-stat[:max-size[:min-size][:num-directories]]"),
        "small files, in units of 1024: how many, their sizes, folders (16); 0: no tests of them",
        BonnieOptions::files,
        "--format 1.03 -n 4:2048:1024:3",
    ),
    option(
        all,
        &["-m"],
        OptionValue::Needed("machine-name"),
        "the name in tables and lines (that of this host)",
        |asked, value| {
            asked.name = Some(value.into());
            Ok(())
        },
        "-m box",
    ),
    option(
        all,
        &["-r"],
        OptionValue::Needed("ram-size-in-MiB"),
        "the memory, of which the file must have twice as much; 0: that is not checked",
        |asked, value| {
            asked.ram = Some(asked.number_of("-r", value, 0..=MIB_MAX)?);
            Ok(())
        },
        "-r 32",
    ),
    option(
        all,
        &["-x"],
        OptionValue::Needed("number-of-tests"),
        "so many times, a line of CSV for each",
        |asked, value| {
            asked.times = Some(asked.number_of("-x", value, 1..=1_000_000)? as u32);
            Ok(())
        },
        "-x 2",
    ),
    option(
        all,
        &["-u"],
        OptionValue::Needed("uid-to-use:gid-to-use"),
        "the user, and group, to become; root has to name one",
        BonnieOptions::user,
        "-u nobody:nogroup",
    ),
    option(
        all,
        &["-g"],
        OptionValue::Needed("gid-to-use"),
        "the group to become",
        BonnieOptions::group,
        "-g nogroup",
    ),
    option(
        all,
        &["-q"],
        OptionValue::None,
        "CSV on standard output, tables on standard error",
        |asked, _| {
            asked.quiet = true;
            Ok(())
        },
        "-q",
    ),
    option(
        new,
        &["-f"],
        OptionValue::Glued("size-for-char-io"),
        "no tests byte by byte; glued to a size: over so many MiB (3)",
        |asked, value| {
            asked.per_char = match value {
                "" => PerChar::Skipped,
                size => match asked.number_of("-f", size, 0..=MIB_MAX)? {
                    0 => PerChar::Skipped,
                    size => PerChar::Over(Some(size)),
                },
            };
            Ok(())
        },
        "-f",
    ),
    option(
        old,
        &["-f"],
        OptionValue::None,
        "no tests byte by byte",
        |asked, _| {
            asked.per_char = PerChar::Skipped;
            Ok(())
        },
        "--format 1.03 -f",
    ),
    option(
        all,
        &["-b"],
        OptionValue::None,
        "an fsync after each write and each file",
        |asked, _| {
            asked.sync = true;
            Ok(())
        },
        "-b",
    ),
    option(
        all,
        &["-p"],
        OptionValue::Needed("processes"),
        "make semaphores for so many that start together with -y, and end; -1: remove them",
        BonnieOptions::semaphores,
        "-p 2",
    ),
    option(
        new,
        &["-y"],
        OptionValue::Needed("s|p"),
        "begin each test together with others: s by the semaphores of -p, p when a line is typed",
        BonnieOptions::step,
        "-y s",
    ),
    option(
        old,
        &["-y"],
        OptionValue::None,
        "begin each test together with others, by the semaphores of -p",
        |asked, _| {
            asked.step = Some(StepMode::Semaphores);
            Ok(())
        },
        "--format 1.03 -y",
    ),
    option(
        new,
        &["-z"],
        OptionValue::Needed("seed"),
        "random seed of places (random)",
        |asked, value| {
            let most = u64::from(u32::MAX);
            asked.seed = Some(asked.number_of("-z", value, 0..=most)? as u32);
            Ok(())
        },
        "-z 7",
    ),
    option(
        new,
        &["-Z"],
        OptionValue::Needed("random-file"),
        "a file whose bytes are the seed",
        |asked, value| {
            asked.random = Some(asked.dir.join(name::path(value)));
            Ok(())
        },
        "-Z /dev/urandom",
    ),
    option(
        all,
        &["-D"],
        OptionValue::None,
        "direct I/O",
        |asked, _| {
            asked.direct = true;
            Ok(())
        },
        "-f -D",
    ),
    option(
        all,
        &["--format"],
        OptionValue::Needed("1.03|1.96|1.97|1.98"),
        "assay's own: whose words, tables and CSV (1.98, that of 2.00)",
        // It is looked for first: what the others mean depends on it.
        |_, _| Ok(()),
        "--format 1.97",
    ),
    option(
        all,
        &["--as-original"],
        OptionValue::None,
        "assay's own: nothing is dropped from memory before reads, data are zeros",
        |asked, _| {
            asked.as_original = true;
            Ok(())
        },
        "--as-original",
    ),
];

/// The most MiB of which there is twice as much in bytes.
const MIB_MAX: u64 = u64::MAX >> 21;

/// The options in the lines of a usage, by their letters; `|` stands between those of which one is chosen.
const USAGE_OLD: [&str; 6] = ["d s", "n", "m", "r", "x u g", "q f b D p|y"];
const USAGE: [&str; 6] = ["d c s", "n", "m r", "x u g", "q f b p|y z|Z", "D"];

/// How it is used, with an empty line and the version at its end.
pub(super) fn usage(form: BonnieVersion) -> String {
    let (lines, begin, indent) = match form.is_old() {
        true => (USAGE_OLD, "usage: bonnie++ ", " ".repeat(16)),
        false => (USAGE, "usage:\nbonnie++ ", " ".repeat(6)),
    };
    let one = |letter: &str| {
        let option = find(form, &format!("-{letter}"));
        match option.map(|option| option.value) {
            // Of these its authors say no more.
            Some(OptionValue::Needed(value)) if letter != "y" => format!("-{letter} {value}"),
            _ => format!("-{letter}"),
        }
    };
    let group = |letters: &str| {
        let options: Vec<String> = letters.split('|').map(one).collect();
        format!("[{}]", options.join(" | "))
    };
    let lines = lines.map(|line| line.split(' ').map(group).collect::<Vec<_>>().join(" "));
    format!("{begin}{}\n\nVersion: {}\n", lines.join(&format!("\n{indent}")), form.version())
}
