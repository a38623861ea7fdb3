//! `read_iolog`: lists of I/Os in the second and third version of fio's form, one I/O in a line.

use std::collections::BTreeMap;

use crate::dialect::fio::job::FioReplay;
use assay_plan::error::Refusal;
use assay_plan::plan::{ReplayAction, ReplayIo};
use assay_plan::unit::{Bytes, Nanos};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioList {
    /// The files that something is done to, by the names in the list.
    pub files: Vec<String>,
    /// Where the last I/O of each ends, bytes.
    pub ends: Vec<u64>,
    pub ios: Vec<ReplayIo>,
    /// Waits are counted from the start.
    pub from_start: bool,
    /// I/Os that were in flight, where that can be told.
    pub depth: Option<u32>,
}

/// A list that is being read.
pub(super) struct ListReader<'r> {
    rules: &'r FioReplay,
    list: FioList,
    /// The number of a file among those of the list, once something is done to it.
    files: BTreeMap<String, FileInList>,
    /// When the last line was done; 0 before the first.
    last: u64,
    /// Time since the last I/O, or the moment from the start.
    wait: Nanos,
    /// What the last line added to it.
    step: Nanos,
}

/// A file that a list knows.
#[derive(Clone, Copy, Debug, Default)]
struct FileInList {
    open: bool,
    number: Option<u16>,
}

/// What is wrong with a word: its number in the line, what it is, what would be right.
struct Wrong {
    word: usize,
    why: String,
    instead: String,
}

fn wrong<T>(word: usize, why: impl Into<String>, instead: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { word, why: why.into(), instead: instead.into() })
}

/// The first line of a list, but for the number of its version.
const HEADING: [&str; 3] = ["fio", "version", "iolog"];

/// Reads a list. `name` is what its file is called.
pub fn read(name: &str, text: &str, rules: &FioReplay) -> Result<FioList, Refusal> {
    let mut reader = ListReader::new(rules);
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    let version = version_of(first).ok_or_else(|| Refusal {
        place: format!("{name}:1:1"),
        why: format!(
            "'{}' is not the first line of a list of I/Os",
            first.chars().take(40).collect::<String>()
        ),
        instead: "begin it with 'fio version 3 iolog', or give a trace of blktrace".into(),
    })?;
    let mut words = Vec::new();
    for (number, line) in lines {
        words.clear();
        words.extend(line.split_whitespace());
        // Clones that write one list begin it each.
        if words.is_empty() || version_of(line) == Some(version) {
            continue;
        }
        let taken = match version {
            2 => reader.second(&words),
            _ => reader.third(&words),
        };
        taken.map_err(|wrong| {
            let column = words
                .get(wrong.word)
                .map_or(line.len(), |word| word.as_ptr() as usize - line.as_ptr() as usize);
            Refusal {
                place: format!("{name}:{}:{}", number + 1, line[..column].chars().count() + 1),
                why: wrong.why,
                instead: wrong.instead,
            }
        })?;
    }
    reader.finish(name)
}

/// The version of a list that begins with this line.
fn version_of(line: &str) -> Option<u8> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [fio, version, number, iolog, ..] if [fio, version, iolog] == HEADING => match number {
            "2" => Some(2),
            "3" => Some(3),
            _ => None,
        },
        _ => None,
    }
}

/// A number of a line.
fn number(words: &[&str], word: usize, what: &str) -> Result<u64, Wrong> {
    match words[word].parse() {
        Ok(number) => Ok(number),
        Err(_) => wrong(word, format!("'{}' is no {what}", words[word]), "write a whole number"),
    }
}

impl<'r> ListReader<'r> {
    pub(in crate::dialect::fio) fn new(rules: &'r FioReplay) -> Self {
        Self {
            rules,
            list: FioList::default(),
            files: BTreeMap::new(),
            last: 0,
            wait: Nanos::ZERO,
            step: Nanos::ZERO,
        }
    }

    /// A line with a time.
    fn third(&mut self, words: &[&str]) -> Result<(), Wrong> {
        let forms = "MICROSECONDS FILE add|open|close, or MICROSECONDS FILE read|write|trim|sync|datasync OFFSET LENGTH";
        if !matches!(words.len(), 3 | 5) {
            return wrong(0, format!("{} words in a line", words.len()), forms);
        }
        let time = number(words, 0, "time in microseconds")?;
        self.passes(time.saturating_mul(1000));
        match words.len() {
            3 => self.file(words, 1),
            _ if words[2] == "wait" => {
                wrong(2, "'wait': lines of the third version have times", "leave it out")
            }
            _ => self.io(words, 1),
        }
    }

    fn second(&mut self, words: &[&str]) -> Result<(), Wrong> {
        match words.len() {
            2 => self.file(words, 0),
            4 if words[1] == "wait" => {
                let millis = number(words, 2, "time in milliseconds")?;
                if !self.rules.no_stall {
                    self.list.from_start = true;
                    self.wait = self.wait.max(Nanos::millis(millis));
                }
                Ok(())
            }
            4 => self.io(words, 0),
            others => wrong(
                0,
                format!("{others} words in a line"),
                "FILE add|open|close, or FILE read|write|trim|sync|datasync|wait OFFSET LENGTH",
            ),
        }
    }

    /// A moment of the list, ns: what follows comes so much later than what was before.
    pub(in crate::dialect::fio) fn passes(&mut self, time: u64) {
        let later = match self.last {
            0 => 0,
            _ if self.rules.no_stall => 0,
            last => time.saturating_sub(last),
        };
        let scaled = match self.rules.time_scale {
            100 => later,
            percent => (later as f64 * (100.0 / f64::from(percent.max(1)))) as u64,
        };
        self.step = Nanos(scaled);
        self.wait = Nanos(self.wait.0.saturating_add(scaled));
        self.last = time;
    }

    /// Something about a file as a whole, whose name is the word at `at`.
    fn file(&mut self, words: &[&str], at: usize) -> Result<(), Wrong> {
        let name = words[at];
        match words[at + 1] {
            "add" => {
                self.files.entry(name.into()).or_default();
            }
            "open" | "close" => match self.files.get_mut(name) {
                Some(file) => file.open = words[at + 1] == "open",
                None => {
                    return wrong(
                        at,
                        format!("'{name}' was not added"),
                        format!("put '{name} add' before"),
                    );
                }
            },
            other => {
                return wrong(
                    at + 1,
                    format!("'{other}' is nothing to do with a file"),
                    "write add, open or close",
                );
            }
        }
        Ok(())
    }

    /// An I/O of the file whose name is the word at `at`.
    fn io(&mut self, words: &[&str], at: usize) -> Result<(), Wrong> {
        let action = match words[at + 1] {
            "read" => ReplayAction::Read,
            "write" => ReplayAction::Write,
            "trim" => ReplayAction::Trim,
            "sync" => ReplayAction::Fsync,
            "datasync" => ReplayAction::Fdatasync,
            other => {
                return wrong(
                    at + 1,
                    format!("'{other}' is no I/O"),
                    "write read, write, trim, sync or datasync",
                );
            }
        };
        let offset = number(words, at + 2, "offset in bytes")?;
        let bytes = number(words, at + 3, "length in bytes")?;
        let Ok(bytes) = u32::try_from(bytes) else {
            return wrong(at + 3, format!("{bytes} bytes in one I/O"), "write less than 4 GiB");
        };
        if bytes == 0 && action.moved().is_some() {
            return wrong(at + 3, "an I/O of 0 bytes", "give its length");
        }
        let name = words[at];
        let known = self.files.get(name).copied();
        match known {
            Some(FileInList { open: true, .. }) => {}
            Some(_) => {
                return wrong(
                    at,
                    format!("'{name}' is not open"),
                    format!("put '{name} open' before"),
                );
            }
            None => {
                return wrong(
                    at,
                    format!("'{name}' was not added"),
                    format!("put '{name} add' and '{name} open' before"),
                );
            }
        }
        match self.add(name, action, offset, bytes) {
            Ok(()) => Ok(()),
            Err((why, instead)) => wrong(at, why, instead),
        }
    }

    /// Adds an I/O, unless its kind is left out.
    pub(in crate::dialect::fio) fn add(
        &mut self,
        name: &str,
        action: ReplayAction,
        offset: u64,
        bytes: u32,
    ) -> Result<(), (String, String)> {
        let skip = &self.rules.skip;
        let skipped = match action {
            ReplayAction::Read => skip.read,
            ReplayAction::Write => skip.write,
            ReplayAction::Trim => skip.trim,
            ReplayAction::Fsync => self.rules.skip_sync,
            ReplayAction::Fdatasync => false,
        };
        if skipped {
            // The time of its line goes with it.
            self.wait = Nanos(self.wait.0.saturating_sub(self.step.0));
            return Ok(());
        }
        let offset = offset / u64::from(self.rules.scale.max(1));
        let offset = match self.rules.align {
            0 => offset,
            align => offset & !(u64::from(align) - 1),
        };
        let Some(file) = self.number_of(name) else {
            return Err((
                "65536 files in one list".into(),
                "give replay_redirect, or fewer files".into(),
            ));
        };
        let end = &mut self.list.ends[usize::from(file)];
        *end = (*end).max(offset.saturating_add(bytes.into()));
        if *end > i64::MAX as u64 {
            return Err((format!("an I/O at {offset}"), "places are less than 2^63".into()));
        }
        let (offset, wait) = (Bytes(offset), self.wait);
        (self.wait, self.step) = (Nanos::ZERO, Nanos::ZERO);
        self.list.ios.push(ReplayIo { offset, wait, bytes, file, action });
        Ok(())
    }

    /// The number of a file, which is the next where nothing was done to it yet.
    fn number_of(&mut self, name: &str) -> Option<u16> {
        let list = &mut self.list;
        if self.rules.redirect.is_some() && !list.files.is_empty() {
            return Some(0);
        }
        let known = self.files.get(name).copied().unwrap_or_default();
        if let Some(number) = known.number {
            return Some(number);
        }
        let number = u16::try_from(list.files.len()).ok()?;
        list.files.push(self.rules.redirect.clone().unwrap_or_else(|| name.into()));
        list.ends.push(0);
        self.files.insert(name.into(), FileInList { number: Some(number), open: true });
        Some(number)
    }

    /// The depth that a trace had.
    pub(in crate::dialect::fio) fn depth(&mut self, depth: u32) {
        self.list.depth = Some(depth);
    }

    pub(in crate::dialect::fio) fn finish(mut self, name: &str) -> Result<FioList, Refusal> {
        if self.list.ios.iter().all(|io| io.action.moved().is_none()) {
            return Err(Refusal {
                place: name.into(),
                why: "there is no I/O in the list".into(),
                instead: "list reads, writes or trims, and let replay_skip leave some of them"
                    .into(),
            });
        }
        self.list.ios.shrink_to_fit();
        Ok(self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str, rules: &FioReplay) -> FioList {
        read("l", text, rules).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    /// Action, file, offset, bytes, wait in microseconds.
    fn rows(list: &FioList) -> Vec<(ReplayAction, u16, u64, u32, u64)> {
        let row = |io: &ReplayIo| (io.action, io.file, io.offset.0, io.bytes, io.wait.0 / 1000);
        list.ios.iter().map(row).collect()
    }

    const THIRD: &str = "fio version 3 iolog\n10 a add\n20 b add\n30 a open\n50 a write 4096 512\n\
        60 b open\n150 b read 9000 4096\n160 a sync 0 0\nfio version 3 iolog\n170 a trim 0 8192\n180 a close\n";

    #[test]
    fn times_of_the_third_version_are_between_the_ios() {
        use ReplayAction::{Fsync, Read, Trim, Write};
        let list = listed(THIRD, &FioReplay::default());
        assert_eq!(
            (list.files.as_slice(), list.ends.as_slice()),
            (&["a".into(), "b".into()][..], &[8192, 13096][..])
        );
        assert!(!list.from_start);
        assert_eq!(
            rows(&list),
            [
                (Write, 0, 4096, 512, 40),
                (Read, 1, 9000, 4096, 100),
                (Fsync, 0, 0, 0, 10),
                (Trim, 0, 0, 8192, 10)
            ]
        );
        let rules = FioReplay {
            time_scale: 200,
            align: 4096,
            scale: 2,
            redirect: Some("d".into()),
            skip_sync: true,
            ..FioReplay::default()
        };
        let list = listed(THIRD, &rules);
        assert_eq!(list.files, ["d"]);
        assert_eq!(
            rows(&list),
            [(Write, 0, 0, 512, 20), (Read, 0, 4096, 4096, 50), (Trim, 0, 0, 8192, 5)]
        );
        let rules = FioReplay { no_stall: true, ..FioReplay::default() };
        assert!(rows(&listed(THIRD, &rules)).iter().all(|row| row.4 == 0));
    }

    #[test]
    fn waits_of_the_second_version_are_moments_from_the_start() {
        use ReplayAction::{Fdatasync, Read};
        let text = "fio version 2 iolog\nf add\nf open\nf wait 20 0\nf read 0 512\nf datasync 0 0\nf wait 50 0\nf read 512 512\nf close\n";
        let list = listed(text, &FioReplay::default());
        assert!(list.from_start);
        assert_eq!(
            rows(&list),
            [(Read, 0, 0, 512, 20_000), (Fdatasync, 0, 0, 0, 0), (Read, 0, 512, 512, 50_000)]
        );
    }

    #[test]
    fn a_bad_list_is_refused_where_it_is_bad() {
        for (lines, said) in [
            ("fio version 1 iolog\n", "l:1:1: 'fio version 1 iolog'"),
            ("0 a add\n0 a open\n1 a reed 0 512\n", "l:4:5: 'reed' is no I/O"),
            ("0 a add\n1 a read 0 512\n", "l:3:3: 'a' is not open"),
            ("1 a open\n", "l:2:3: 'a' was not added"),
            ("0 a add\n0 a open\n1 a read 0x 512\n", "l:4:10: '0x' is no offset"),
            ("0 a add\n0 a open\n1 a read 0\n", "l:4:1: 4 words"),
            ("0 a add\n0 a open\n1 a read 0 0\n", "l:4:12: an I/O of 0 bytes"),
            ("0 a add\n0 a open\n1 a wait 0 5\n", "l:4:5: 'wait'"),
            ("0 a unlink\n", "l:2:5: 'unlink'"),
            ("0 a add\n0 a open\n1 a sync 0 0\n", "l: there is no I/O"),
        ] {
            let text = match lines.starts_with("fio") {
                true => lines.to_string(),
                false => format!("fio version 3 iolog\n{lines}"),
            };
            let refusal = read("l", &text, &FioReplay::default()).unwrap_err();
            assert!(refusal.to_string().starts_with(said), "{refusal}");
            assert!(!refusal.instead.is_empty(), "{refusal}");
        }
    }
}
