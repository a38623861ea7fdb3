//! Words and figures of verdicts, and commands to type next.

use std::borrow::Cow;

use assay_plan::name::quoted;
use assay_plan::plan::{AddedWords, PlanOrigin};
use assay_plan::unit::{Bandwidth, PartOf, Share};
use assay_record::evidence::PathKind;
use assay_record::record::{NextStep, Remedy};
use assay_record::words::say;

/// A rate, in the unit of the tables and of dd's own line: `4.19 MB/s`.
pub fn pace(bytes_per_second: f64) -> Bandwidth {
    Bandwidth(bytes_per_second)
}

/// A share in words: `12 %`, `0.40 %`.
pub fn share(part: f64) -> Share {
    Share(part)
}

/// Part and whole: `0 B of 20 MiB`; `64 MiB` of what was not all used.
pub fn of<T>(part: T, whole: T) -> PartOf<T> {
    PartOf(part, whole)
}

/// Names in a sentence: `sda`, `sda and sdb`.
pub fn names(list: &[String]) -> String {
    match list {
        [] => "no device".into(),
        list => say(list),
    }
}

/// A line for a shell: words as they stand, and names, which are quoted.
#[derive(Default)]
pub(super) struct ShellLine(pub String);

impl ShellLine {
    pub fn of(words: &str) -> Self {
        Self(words.into())
    }

    pub fn words(mut self, words: &str) -> Self {
        self.0.extend([" ", words]);
        self
    }

    pub fn option(self, option: &str, value: impl ToString) -> Self {
        self.words(option).words(&value.to_string())
    }

    /// A path where a word may be taken for an option.
    pub fn path(self, path: &str) -> Self {
        self.words(&operand(path))
    }

    /// A name behind what it begins with.
    pub fn name(self, begins: &str, name: &str) -> Self {
        self.words(&quoted(&[begins, name].concat()))
    }

    pub fn next(self, remedy: Remedy) -> NextStep {
        NextStep::new(remedy, self.0)
    }
}

/// The command that made the plan, with more words before and after it. `before` is for the
/// environment. Absent when the plan was not typed, or the command alone would do something else.
fn again(origin: &PlanOrigin, before: &str, after: &str) -> Option<String> {
    if origin.piped || !origin.damages.is_empty() {
        return None;
    }
    let verb = origin.verb()?;
    // A program that starts ours takes no variable; sudo does, and hands on no other.
    let mut leads = ["sync && ", "sudo "].into_iter();
    let lead = leads.find(|lead| before.starts_with(lead)).unwrap_or_default();
    let (spoken, before) = (&origin.tool.spoken, &before[lead.len()..]);
    let begins = [lead, spoken.as_str(), before, "assay"].concat();
    let mut line = ShellLine::of(&begins).words(verb);
    for word in unless_given_anew(origin, after) {
        line = line.name("", &word);
    }
    line.0.extend([after, &origin.redirected]);
    Some(line.0)
}

/// The words but an option of one letter that `after` gives another value.
fn unless_given_anew<'w>(origin: &'w PlanOrigin, after: &str) -> Vec<Cow<'w, str>> {
    let mut added = after.split_whitespace();
    let letter = added.next().and_then(|word| word.strip_prefix('-'));
    let letter = letter.and_then(|letter| letter.parse().ok()).filter(|_| added.next().is_some());
    let words = origin.arguments().iter().map(String::as_str);
    match letter {
        Some(letter) => without(words, letter, &origin.tool.letters),
        None => words.map(Cow::Borrowed).collect(),
    }
}

/// The words without an option of one letter that has a value. `letters` are those that may share a word.
fn without<'w>(
    mut words: impl Iterator<Item = &'w str>,
    letter: char,
    letters: &str,
) -> Vec<Cow<'w, str>> {
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.extend([word].into_iter().chain(words).map(Cow::Borrowed));
            break;
        }
        let Some((others, value)) = parted(word, letter, letters) else {
            kept.push(Cow::Borrowed(word));
            // What looks like the option may be the value of another.
            if value_follows(word, letters) {
                kept.extend(words.next().map(Cow::Borrowed));
            }
            continue;
        };
        if value.is_empty() {
            words.next();
        }
        if !others.is_empty() {
            kept.push(Cow::Owned(["-", others].concat()));
        }
    }
    kept
}

/// A word with an option of one letter: the letters before it, and the value that is glued to it.
fn parted<'w>(word: &'w str, letter: char, letters: &str) -> Option<(&'w str, &'w str)> {
    let word = word.strip_prefix('-').filter(|word| !word.starts_with('-'))?;
    let at = word.find(letter)?;
    let (others, value) = (&word[..at], &word[at + letter.len_utf8()..]);
    // Behind the first that takes all that follows there is no other.
    is_flags(others, letters).then_some((others, value))
}

/// Whether a word of letters ends with one whose value is the next word.
fn value_follows(word: &str, letters: &str) -> bool {
    let word = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
    let last = word.and_then(|word| Some((word, word.chars().next_back()?)));
    last.is_some_and(|(word, last)| {
        let others = &word[..word.len() - last.len_utf8()];
        takes(last, letters) == Some(":") && is_flags(others, letters)
    })
}

/// Whether all of these are letters that take nothing of what follows.
fn is_flags(word: &str, letters: &str) -> bool {
    word.chars().all(|letter| takes(letter, letters).is_some_and(|colons| colons != ":"))
}

/// The colons behind a letter; `None` of one that is none of them.
fn takes(letter: char, letters: &str) -> Option<&str> {
    let (_, rest) = letters.split_once(letter).filter(|_| letter != ':')?;
    Some(&rest[..rest.len() - rest.trim_start_matches(':').len()])
}

/// The same with the words that a tool has for something.
pub(super) fn with(origin: &PlanOrigin, added: &AddedWords) -> Option<String> {
    let after = added.after.trim();
    // What was typed with them already is the same line.
    let typed = origin.arguments().iter().any(|word| word == after);
    (!typed).then(|| again(origin, &added.before, &added.after)).flatten()
}

/// The command with the words that its tool has for a remedy; `None` where it has none, or the command
/// cannot be typed.
pub(super) fn typed_with(
    origin: &PlanOrigin,
    remedy: Remedy,
    added: Option<&AddedWords>,
) -> Option<NextStep> {
    with(origin, added?).map(|command| NextStep::new(remedy, command))
}

/// The same with a flush inside the timing.
pub fn with_flush(origin: &PlanOrigin) -> Option<NextStep> {
    typed_with(origin, Remedy::Flush, origin.tool.flush.as_ref())
}

/// The same with the target's pages dropped from memory first; where that was `tried` already,
/// past the page cache.
pub fn cold(origin: &PlanOrigin, tried: bool) -> Option<NextStep> {
    let tool = &origin.tool;
    match tried {
        true => typed_with(origin, Remedy::Direct, tool.direct.as_ref()),
        false => typed_with(origin, Remedy::DropCaches, tool.cold.as_ref()),
    }
}

/// The same on the CPUs of one node of the machine.
pub fn on_node(origin: &PlanOrigin, node: u32) -> Option<NextStep> {
    let command = again(origin, &["numactl --cpunodebind=", &node.to_string(), " "].concat(), "")?;
    Some(NextStep::new(Remedy::OnNode, command))
}

/// The same after everything that is still in memory has been written.
pub fn after_sync(origin: &PlanOrigin) -> Option<NextStep> {
    Some(NextStep::new(Remedy::Settle, again(origin, "sync && ", "")?))
}

/// The same over what it has written.
pub fn overwriting(origin: &PlanOrigin) -> Option<NextStep> {
    typed_with(origin, Remedy::Overwrite, origin.tool.overwrite.as_ref())
}

/// The same once more, unchanged.
pub fn once_more(origin: &PlanOrigin) -> Option<NextStep> {
    Some(NextStep::new(Remedy::Rerun, again(origin, "", "")?))
}

/// The same with the rights of root.
pub fn as_root(origin: &PlanOrigin) -> Option<NextStep> {
    Some(NextStep::new(Remedy::AsRoot, again(origin, "sudo ", "")?))
}

/// The same outside of its control group.
pub fn outside_group(origin: &PlanOrigin) -> Option<NextStep> {
    let command = again(origin, "sudo systemd-run --scope ", "")?;
    Some(NextStep::new(Remedy::LiftLimit, command))
}

/// The same with an option and its value in place of the ones that were typed. An option that may be
/// there for several things (`--over bs=4k`) gives way for its own only.
pub(super) fn replacing(origin: &PlanOrigin, option: &str, value: &str) -> Option<String> {
    let of_it = |typed: &str| match value.split_once('=') {
        Some((thing, _)) => typed.split_once('=').is_some_and(|(typed, _)| typed == thing),
        None => true,
    };
    let mut left = origin.clone();
    let mut typed = origin.arguments().iter().peekable();
    left.words.clear();
    while let Some(word) = typed.next() {
        let joined = word.strip_prefix(option).filter(|rest| !rest.is_empty());
        let joined = joined.and_then(|rest| match option.starts_with("--") {
            true => rest.strip_prefix('='),
            false => Some(rest),
        });
        if joined.is_some_and(of_it) {
            continue;
        }
        if word == option && typed.peek().is_some_and(|value| of_it(value)) {
            typed.next();
            continue;
        }
        left.words.push(word.clone());
    }
    again(&left, "", &ShellLine::default().option(option, value).0)
}

/// A verb of our own, with these options, at a path; `None` where that is nothing that such a verb may
/// use. It writes no file but its own, and to no device.
pub fn own_verb(
    remedy: Remedy,
    verb: &str,
    (path, kind): (&str, PathKind),
    reads: bool,
    options: &str,
) -> Option<NextStep> {
    let place = match kind {
        PathKind::Folder => path,
        PathKind::Device if reads => path,
        // Of a file its folder, as it may be gone after the run.
        PathKind::File | PathKind::Missing => folder(path),
        PathKind::Device | PathKind::Character | PathKind::Stream => return None,
    };
    let mut line = ShellLine::of("assay").words(verb).path(place);
    line.0.push_str(options);
    Some(line.next(remedy))
}

/// The folder that a file is in.
pub(super) fn folder(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

/// A path as a word that no program takes for an option.
pub(super) fn operand(path: &str) -> String {
    if path.starts_with('-') { quoted(&["./", path].concat()) } else { quoted(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::plan::ToolProfile;
    use assay_plan::unit::MIB;

    fn origin(dialect: &str, words: &[&str]) -> PlanOrigin {
        let tool = ToolProfile {
            flush: Some(AddedWords::after(" conv=fsync")),
            cold: Some(AddedWords::before("ASSAY_COLD=target ")),
            ..ToolProfile::default()
        };
        PlanOrigin::of(dialect, words.iter().map(|&word| word.into()).collect()).with(tool)
    }

    fn said(next: Option<NextStep>) -> String {
        next.expect("a command").command
    }

    #[test]
    fn a_rate_has_the_unit_of_the_tables() {
        assert_eq!(pace(4.0 * MIB as f64).to_string(), "4.19 MB/s");
        assert_eq!(pace(51_200.0).to_string(), "51.2 kB/s");
    }

    #[test]
    fn a_command_survives_the_shell() {
        let dd = origin("dd", &["if=/dev/zero", "of=/mnt/my card/it's", "bs=20M"]);
        assert_eq!(
            said(with_flush(&dd)),
            r"assay dd if=/dev/zero 'of=/mnt/my card/it'\''s' bs=20M conv=fsync"
        );
        assert_eq!(
            said(cold(&origin("dd", &["dd", "if=x", "of=/dev/null"]), false)),
            "ASSAY_COLD=target assay dd if=x of=/dev/null"
        );
    }

    #[test]
    fn an_option_gets_another_value_and_no_second_one() {
        for (typed, left) in [
            ("-d /mnt -s 64 -n 0", "-d /mnt -n 0"),
            ("-s64 -d /mnt -n 0", "-d /mnt -n 0"),
            ("-fs64 -d /mnt", "-f -d /mnt"),
            ("-fs 64 -d /mnt", "-f -d /mnt"),
            ("-bfqs64:8k -d/mnt", "-bfq -d/mnt"),
            ("-f10 -s 64 -s128", "-f10"),
            // A value, and no option.
            ("-ms1 -qs64", "-ms1 -q"),
            ("-m -s64 -s 64", "-m -s64"),
            ("-qd -s64 -s 64", "-qd -s64"),
            ("-ds64 -s 64", "-ds64"),
            ("-q -d --sets", "-q -d --sets"),
            ("-q -- -s64", "-q -- -s64"),
        ] {
            let mut origin = origin("bonnie", &typed.split(' ').collect::<Vec<_>>());
            origin.tool.letters = "bd:f::m:n:qs:".into();
            let larger = with(&origin, &AddedWords::after(" -s 512:8192"));
            let wanted = format!("assay bonnie {left} -s 512:8192");
            assert_eq!(larger, Some(wanted), "{typed}");
        }
        // Of a tool whose letters nobody knows each has a word of its own.
        let origin = origin("atto", &["-fs64", "-s64"]);
        let line = with(&origin, &AddedWords::after(" -s 9"));
        assert_eq!(line.as_deref(), Some("assay atto -fs64 -s 9"));
    }

    #[test]
    fn a_name_of_any_bytes_survives_the_shell_in_one_line() {
        for (name, spelled) in [
            (&b"/mnt/x"[..], "/mnt/x"),
            (b"it's", r"'it'\''s'"),
            (b"/m/\xff1", r"$'/m/\3771'"),
            (b"a\nb'\\", r"$'a\012b\'\\'"),
            ("ä b".as_bytes(), "'ä b'"),
        ] {
            assert_eq!(quoted(&assay_plan::name::of_bytes(name)), spelled);
            let said = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {spelled}")])
                .output()
                .expect("a shell");
            assert_eq!(said.stdout, name, "{spelled}");
        }
    }

    #[test]
    fn a_line_that_would_not_do_the_same_is_not_offered() {
        let mut dd = origin("dd", &["bs=1M"]);
        dd.piped = true;
        assert_eq!([with_flush(&dd), cold(&dd, false), once_more(&dd)], [None, None, None]);
        dd.piped = false;
        assert!(once_more(&dd).is_some());
        dd.damages = vec!["sdb1 is mounted on /mnt".into()];
        assert_eq!([with_flush(&dd), cold(&dd, false), once_more(&dd)], [None, None, None]);
    }

    #[test]
    fn what_can_not_be_typed_is_not_offered() {
        assert_eq!(with_flush(&PlanOrigin::of("fio", vec!["job.fio".into()])), None);
        assert_eq!(cold(&origin("dd", &["if=x"]), true), None);
        assert_eq!(with_flush(&origin("plan.json", &[])), None);
    }

    #[test]
    fn an_option_takes_the_place_of_the_one_that_was_typed() {
        for (words, option, value, line) in [
            (&["atto", "/mnt", "-f", "512"][..], "-f", "4096", "assay atto /mnt -f 4096"),
            (&["atto", "-f512", "/mnt"], "-f", "4096", "assay atto /mnt -f 4096"),
            (
                &["sweep", "/mnt", "--over", "bs=512..4k", "--over=depth=1,2"],
                "--over",
                "bs=4096..1M",
                "assay sweep /mnt --over=depth=1,2 --over bs=4096..1M",
            ),
        ] {
            let origin = origin(words[0], words);
            assert_eq!(replacing(&origin, option, value).as_deref(), Some(line));
        }
    }

    #[test]
    fn shares_keep_two_digits() {
        assert_eq!(share(0.0).to_string(), "0 %");
        assert_eq!(share(0.004).to_string(), "0.40 %");
        assert_eq!(share(0.05).to_string(), "5.0 %");
        assert_eq!(share(0.47).to_string(), "47 %");
    }
}
