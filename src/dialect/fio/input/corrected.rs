//! Words to type in place of those that surprise: a line with other options, or other lines of a job file. Each is
//! read before it is shown, and nothing is touched by that.

use std::io;
use std::path::Path;

use super::read::read;
use crate::dialect::fio::job::{FioCommand, FioNote, FioPlace, FioWorld};
use crate::dialect::fio::options;
use crate::dialect::fio::outcome::run_report::note_line;
use assay_record::words::Voice;

/// A line that says what was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioCorrection {
    /// The place in a job file; none is the whole command line, in words.
    pub place: Option<FioPlace>,
    /// Whether it goes below the line that is there, and not in its place.
    pub below: bool,
    /// Lines of the file, or the words after the name of the program.
    pub words: Vec<String>,
    /// What it mends: whole sentences without a point, as they stand beside a report.
    pub mends: Vec<String>,
}

/// Surprises in which fio does something else than its user means.
pub fn surprising(command: &FioCommand) -> impl Iterator<Item = &FioNote> {
    command.notes.iter().filter(|note| !note.meant.is_empty())
}

/// What to type in place of what surprises: the command line with all that can be mended in it, and each line of a
/// job file by itself. None for what only its user can say better.
pub fn corrections(
    words: &[String],
    command: &FioCommand,
    world: &FioWorld<'_>,
) -> Vec<FioCorrection> {
    // Standard input is read once.
    if words.iter().any(|word| word == "-") {
        return Vec::new();
    }
    let mut line: Vec<Vec<String>> = words.iter().map(|word| vec![word.clone()]).collect();
    let (mut mended, mut in_files) = (Vec::new(), Vec::new());
    let mut seen: Vec<&FioNote> = Vec::new();
    for note in surprising(command) {
        if seen.iter().any(|other| (&other.place, &other.made) == (&note.place, &note.made)) {
            continue;
        }
        seen.push(note);
        match &note.place {
            FioPlace::Word(number) => {
                if let Some(better) = on_the_line(&line, *number, note, world) {
                    line = better;
                    mended.push(note_line(note, Voice::default()));
                }
            }
            FioPlace::Line { file, line, .. } => {
                let better = in_file(words, (file, *line), note, world);
                in_files.extend(better.map(|(below, words)| FioCorrection {
                    place: Some(note.place.clone()),
                    below,
                    words,
                    mends: vec![note_line(note, Voice::default())],
                }));
            }
        }
    }
    let whole = (!mended.is_empty()).then(|| FioCorrection {
        place: None,
        below: false,
        words: line.concat(),
        mends: mended,
    });
    whole.into_iter().chain(in_files).collect()
}

/// The options that say what was meant; none where that is said in prose.
fn instead(note: &FioNote) -> Option<Vec<&str>> {
    let tokens: Vec<&str> = note.instead.split(' ').filter(|token| *token != "and").collect();
    let known = |token: &&str| {
        let (name, value) = token.split_once('=').unwrap_or((token, ""));
        let placeholder = value.len() > 1 && value.chars().all(|c| c.is_ascii_uppercase());
        !placeholder && options::all().any(|option| option.is(name))
    };
    tokens.iter().all(known).then_some(tokens).filter(|tokens| !tokens.is_empty())
}

fn name_of(word: &str) -> &str {
    let bare = word.trim_start_matches('-');
    bare.split(['=', ' ']).next().unwrap_or(bare).trim_end()
}

/// Whether those of the options with the name of the word go in its place; else they stand beside it first.
fn replaces(note: &FioNote, tokens: &[&str]) -> bool {
    tokens.iter().any(|token| name_of(token) == name_of(&note.word))
}

/// Whether a surprise is still there, or another has come.
fn is_mended(note: &FioNote, before: usize, better: &FioCommand) -> bool {
    let same = |other: &&FioNote| other.word == note.word && other.made == note.made;
    let left: Vec<&FioNote> = surprising(better).collect();
    !left.iter().any(same) && left.len() < before
}

/// The line with a word of it mended. A line is kept as the words that stand for each that was typed.
fn on_the_line(
    line: &[Vec<String>],
    number: usize,
    note: &FioNote,
    world: &FioWorld<'_>,
) -> Option<Vec<Vec<String>>> {
    let tokens = instead(note)?;
    let at = number.checked_sub(1)?;
    let before = surprising(&read(&line.concat(), world).ok()?).count();
    // Its value may be the word after it.
    let taken = usize::from(line.get(at)?.first().is_some_and(|word| *word != note.word));
    let typed: Vec<String> = tokens.iter().map(|token| format!("--{token}")).collect();
    let with = |replaced: bool| {
        let mut better = line.to_vec();
        let last = better.len() - 1;
        if replaced {
            better[at].clone_from(&typed);
            (at + 1..=(at + taken).min(last)).for_each(|value| better[value].clear());
        } else {
            better[(at + taken).min(last)].extend(typed.iter().cloned());
        }
        better
    };
    let first = replaces(note, &tokens);
    [first, !first].into_iter().map(with).find(|better| {
        read(&better.concat(), world).is_ok_and(|command| is_mended(note, before, &command))
    })
}

/// What stands in place of a line of a job file, or below it.
fn in_file(
    words: &[String],
    (file, number): (&str, usize),
    note: &FioNote,
    world: &FioWorld<'_>,
) -> Option<(bool, Vec<String>)> {
    let section = note.word.starts_with('[') && note.instead.starts_with('[');
    let tokens = if section { vec![note.instead.as_str()] } else { instead(note)? };
    let before = surprising(&read(words, world).ok()?).count();
    let text = String::from_utf8((world.files)(Path::new(file)).ok()?).ok()?;
    let works = |below: &bool| {
        let better = |(at, line): (usize, &str)| match (at + 1 == number, below) {
            (false, _) => format!("{line}\n"),
            (true, true) => format!("{line}\n{}\n", tokens.join("\n")),
            (true, false) => format!("{}\n", tokens.join("\n")),
        };
        let text: String = text.lines().enumerate().map(better).collect();
        let files = |path: &Path| -> io::Result<Vec<u8>> {
            match path == Path::new(file) {
                true => Ok(text.clone().into_bytes()),
                false => (world.files)(path),
            }
        };
        let other = FioWorld { files: &files, ..*world };
        read(words, &other).is_ok_and(|command| is_mended(note, before, &command))
    };
    let first = !section && !replaces(note, &tokens);
    let below = [first, !first].into_iter().find(works)?;
    Some((below, tokens.iter().map(|token| token.to_string()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::fio::tests::in_world;

    /// The place, what to type there, and how many surprises that mends.
    fn corrected(line: &str, files: &[(&str, &str)]) -> Vec<(String, String, usize)> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        in_world(files, |world| {
            let command = read(&words, world).expect(line);
            let all = corrections(&words, &command, world);
            all.iter()
                .map(|one| {
                    let place = one.place.as_ref().map(ToString::to_string).unwrap_or_default();
                    let below = if one.below { "below: " } else { "" };
                    (place, format!("{below}{}", one.words.join(" | ")), one.mends.len())
                })
                .collect()
        })
    }

    #[test]
    fn a_line_is_mended_as_a_whole() {
        let table = [
            (
                "--name=a --bs=8KiB --size=1m --runtime=1sec",
                "--name=a | --bs=8k | --size=1m | --runtime=1s",
                2,
            ),
            (
                "--name=a --size=1m --bs 8KiB --rw=read",
                "--name=a | --size=1m | --bs=8k | --rw=read",
                1,
            ),
            ("--name=a --size=1m --bs=4k-64k", "--name=a | --size=1m | --bsrange=4k-64k", 1),
            ("--name=a --size=1m --dir=/mnt", "--name=a | --size=1m | --directory=/mnt", 1),
            ("--name=a --size=1m --threads=4", "--name=a | --size=1m | --thread | --numjobs=4", 1),
            (
                "--name=a --size=1m --iodepth=8 --ioengine=libaio",
                "--name=a | --size=1m | --iodepth=8 | --direct=1 | --ioengine=libaio",
                1,
            ),
            (
                "--name=a --size=1m --iodepth=8 --rw=randread",
                "--name=a | --size=1m | --ioengine=io_uring | --iodepth=8 | --rw=randread",
                1,
            ),
            (
                "--name=a --size=1m --time_based",
                "--name=a | --size=1m | --time_based | --runtime=60s",
                1,
            ),
        ];
        for (line, better, mended) in table {
            assert_eq!(corrected(line, &[]), [(String::new(), better.into(), mended)], "{line}");
        }
    }

    #[test]
    fn what_only_its_user_can_say_has_no_line() {
        for line in [
            "--name=a --size=1m",
            "--name=a --size=1m --clocksource=cpu",
            "--name=a --filename=x --size=1m --rw=write --numjobs=4",
            "--name=a --size=1m --iodepth=1-32",
        ] {
            assert_eq!(corrected(line, &[]), [], "{line}");
        }
    }

    #[test]
    fn each_line_of_a_file_is_mended_by_itself() {
        let text =
            "[global]\nbs = 8k\nsize=1m\n[a\nioengine=libaio\niodepth=32\ninclude more.fio\n";
        let files = [("job.fio", text), ("more.fio", "runtime=1sec\n")];
        let places: Vec<_> = corrected("job.fio", &files);
        let expected = [
            ("job.fio:2:1", "bs=8k"),
            ("job.fio:4:1", "[a]"),
            ("more.fio:1:1", "runtime=1s"),
            ("job.fio:6:1", "below: direct=1"),
        ];
        let expected = expected.map(|(place, better)| (place.into(), better.into(), 1));
        assert_eq!(places, expected);
    }

    #[test]
    fn a_line_and_its_file_are_both_mended() {
        let files = [("job.fio", "[a]\nsize=1m\nruntime=10min\n")];
        let better = corrected("--bs=4KiB job.fio", &files);
        assert_eq!(better[0], (String::new(), "--bs=4k | job.fio".into(), 1));
        assert_eq!(better[1], ("job.fio:3:1".into(), "runtime=10m".into(), 1));
    }
}
