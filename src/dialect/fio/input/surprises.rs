//! What fio makes of a value that means something else to most people.

use super::number;
use super::value::{self, FioValue};
use crate::dialect::fio::options::kind::{FioKind, FioUnit};
use crate::dialect::fio::options::option::{FioOption, FioStanding};

/// A surprise in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioSurprise {
    /// What fio makes of it.
    pub made: String,
    pub meant: String,
    /// The word that says that.
    pub instead: String,
}

impl FioSurprise {
    pub(in crate::dialect::fio) fn new(
        made: impl Into<String>,
        meant: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Self { made: made.into(), meant: meant.into(), instead: instead.into() }
    }
}

pub fn of(option: &FioOption, value: &FioValue<'_>) -> Vec<FioSurprise> {
    let mut surprises: Vec<_> = number_of(option, value).into_iter().collect();
    surprises.extend(list_of(option, value));
    for part in &value.ignored {
        surprises.push(FioSurprise::new(
            format!("'{part}' is left out, the rest is taken"),
            "all of it",
            "",
        ));
    }
    match option.standing {
        FioStanding::Noted(why) => surprises.push(FioSurprise::new(why, "", "")),
        FioStanding::Unused("") => {
            surprises.push(FioSurprise::new("nothing: it belongs to a profile of fio", "", ""));
        }
        FioStanding::Unused(meant) => surprises.push(FioSurprise::new(
            "nothing: it belongs to a profile of fio",
            format!("'{meant}'"),
            unused_instead(meant, value),
        )),
        FioStanding::Done | FioStanding::Refused(_) => {}
    }
    if option.name == "exitall" && value.slots[0] == Some(0) {
        surprises.push(FioSurprise::new("exitall, whatever its value is", "not exitall", ""));
    }
    surprises
}

/// `threads=4` may mean `thread` as well as a number of clones.
fn unused_instead(meant: &str, value: &FioValue<'_>) -> String {
    match (meant, value.slots[0]) {
        ("thread", Some(number)) if number > 1 => format!("thread and numjobs={number}"),
        ("thread", _) => "thread".into(),
        _ => format!("{meant}={}", value.text()),
    }
}

/// A number whose suffix or fraction fio reads in its own way.
fn number_of(option: &FioOption, value: &FioValue<'_>) -> Option<FioSurprise> {
    let unit = match option.kind {
        FioKind::Number { unit, .. } => unit,
        FioKind::Amount => FioUnit::Bytes,
        _ => return None,
    };
    let text = value.text?;
    if text.starts_with('(') {
        return None;
    }
    let mut rewritten = Vec::new();
    let mut found: Option<(String, String)> = None;
    for part in value::parts(text) {
        let (read, meant) = match unit {
            FioUnit::Bytes => {
                let read = number::size(part, value.kb_base).ok().filter(|number| !number.percent);
                (read.map(|number| number.value), number::meant_size(part, value.kb_base))
            }
            _ => {
                let seconds = unit == FioUnit::Seconds;
                (number::time(part, seconds).ok(), number::meant_time(part, seconds))
            }
        };
        let decimal = part.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if !decimal || part.contains("0x") || part.contains("0X") {
            rewritten.push(part.trim().into());
            continue;
        }
        let shown = |amount: i64| match unit {
            FioUnit::Bytes => number::written_size(amount, value.kb_base),
            _ => number::written_time(amount),
        };
        match (read, meant) {
            (Some(read), Some(meant)) if read != meant => {
                found.get_or_insert((shown_exactly(read, unit), shown(meant)));
                rewritten.push(shown(meant));
            }
            (Some(read), None) => {
                // Letters that are no unit: nobody can say what they mean.
                let made = format!("{} without what follows", shown_exactly(read, unit));
                found.get_or_insert((made, "all of it".into()));
                rewritten.push(shown(read));
            }
            (Some(read), Some(_)) if number::has_fraction(part) => {
                found.get_or_insert((shown_exactly(read, unit), part.trim().into()));
                rewritten.push(shown(read));
            }
            _ => rewritten.push(part.trim().into()),
        }
    }
    let (made, meant) = found?;
    let instead = format!("{}={}", option.name, rewritten.join(","));
    Some(FioSurprise { made, meant, instead })
}

/// A number to the last byte or microsecond.
fn shown_exactly(number: i64, unit: FioUnit) -> String {
    match unit {
        FioUnit::Bytes => number.to_string(),
        _ => number::written_time(number),
    }
}

/// `bs=4k-64k` is two block sizes and no range.
fn list_of(option: &FioOption, value: &FioValue<'_>) -> Option<FioSurprise> {
    let text = value.text?;
    if option.name == "bs" && !text.contains(',') && text.contains(['-', ':']) {
        let [read, write, _] = value.slots.map(Option::unwrap_or_default);
        return Some(FioSurprise::new(
            format!("{read} bytes for reads and {write} bytes for writes"),
            "sizes from one to the other",
            format!("bsrange={text}"),
        ));
    }
    let single =
        matches!(option.name, "iodepth" | "numjobs" | "runtime" | "size" | "io_size" | "nrfiles");
    let parts = value::parts(text);
    if single && parts.len() > 1 && value.ignored.is_empty() {
        let taken = match option.kind {
            FioKind::Amount => parts.last(),
            _ => parts.first(),
        };
        return Some(FioSurprise::new(
            format!("'{}' alone", taken.copied().unwrap_or_default()),
            "several values",
            "a job for each",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::fio::options;

    fn surprises(name: &str, text: &str) -> Vec<(String, String, String)> {
        let option = options::all().find(|option| option.is(name)).expect(name);
        let value = FioValue::read(option.name, &option.kind, Some(text), 1024).expect(text);
        of(option, &value).into_iter().map(|s| (s.made, s.meant, s.instead)).collect()
    }

    #[test]
    fn numbers_that_fio_reads_in_its_own_way_are_told() {
        let table = [
            ("bs", " 8k", "8", "8k", "bs=8k"),
            ("bs", "8KiB", "8000", "8k", "bs=8k"),
            ("size", "1.5g", "1", "1536m", "size=1536m"),
            ("runtime", "1sec", "1us", "1s", "runtime=1s"),
            ("runtime", "10min", "10us", "10m", "runtime=10m"),
            ("ramp_time", "0.5", "0us", "500ms", "ramp_time=500ms"),
            ("iodepth", "32x", "32 without what follows", "all of it", "iodepth=32"),
            ("bs", "256KB1", "262144 without what follows", "all of it", "bs=256k"),
            ("rate", "50.49", "50", "50.49", "rate=50"),
            ("bs", "4k,1MiB", "1000000", "1m", "bs=4k,1m"),
        ];
        for (name, text, made, meant, instead) in table {
            let expected = (made.to_string(), meant.to_string(), instead.to_string());
            assert_eq!(surprises(name, text), [expected], "{name}={text}");
        }
        for (name, text) in [
            ("bs", "8k"),
            ("bs", "8kb"),
            ("size", "10%"),
            ("runtime", "60"),
            ("runtime", "60s"),
            ("thinktime", "100us"),
            ("randseed", "0x10"),
            ("size", "(2*8k)"),
        ] {
            assert_eq!(surprises(name, text), [], "{name}={text}");
        }
    }

    #[test]
    fn lists_that_are_no_ranges_and_words_of_profiles_are_told() {
        assert_eq!(surprises("bs", "4k-64k")[0].2, "bsrange=4k-64k");
        assert_eq!(surprises("iodepth", "1-32")[0].0, "'1' alone");
        assert_eq!(surprises("dir", "/mnt")[0].2, "directory=/mnt");
        assert_eq!(surprises("threads", "4")[0].2, "thread and numjobs=4");
        assert_eq!(surprises("exitall", "0").len(), 1);
        assert_eq!(surprises("rate", "10m,banana")[0].0, "'banana' is left out, the rest is taken");
    }
}
