//! Words and figures of verdicts, and commands to type next.
//!
//! Verdicts are printed into the output of tools whose readers search it for rates such as a
//! number followed by `MB/s`. So no rate is ever written with a slash here: [`pace`] says
//! `4.19 MB per second`.

use crate::plan::Origin;
use crate::record::Next;
use crate::unit::{Bandwidth, Bytes};

/// A rate in words: `4.19 MB per second`.
pub fn pace(bytes_per_second: f64) -> String {
    // The unit of the tables and of dd's own line, so that the figures can be laid side by side.
    Bandwidth(bytes_per_second).to_string().replace("/s", " per second")
}

/// A share in words: `12 %`, `0.40 %`.
pub fn share(part: f64) -> String {
    let percent = part * 100.0;
    match percent {
        p if !p.is_finite() => "-".into(),
        p if p == 0.0 || p >= 9.95 => format!("{p:.0} %"),
        p if p >= 0.995 => format!("{p:.1} %"),
        p => format!("{p:.2} %"),
    }
}

/// Part and whole: `0 B of 20 MiB`; `64 MiB` of what was not all used.
pub fn of(part: Bytes, whole: Bytes) -> String {
    if part > whole { part.to_string() } else { format!("{part} of {whole}") }
}

/// Names in a sentence: `sda`, `sda and sdb`.
pub fn names(list: &[String]) -> String {
    match list {
        [] => "no device".into(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A sentence begins with a capital letter.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A word as a POSIX shell reads it back unchanged.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command that made the plan, with more words before and after it. `before` is for the
/// environment. Absent when the plan was not typed.
fn again(origin: &Origin, before: &str, after: &str) -> Option<String> {
    if origin.dialect.is_empty() || origin.dialect.contains(['.', '/', ' ']) {
        return None;
    }
    let words = match origin.words.as_slice() {
        [tool, verb, rest @ ..] if *tool == "assay" && *verb == origin.dialect => rest,
        [verb, rest @ ..] if *verb == origin.dialect => rest,
        all => all,
    };
    let mut command = String::from(before);
    command.push_str("assay ");
    command.push_str(&origin.dialect);
    for word in words {
        command.push(' ');
        command.push_str(&quoted(word));
    }
    command.push_str(after);
    Some(command)
}

/// Whether a fio command line describes its job by itself, so that a word more changes that job.
fn job_on_the_line(origin: &Origin) -> bool {
    origin.words.iter().any(|word| word.starts_with("--name") || word.starts_with("-name"))
}

fn typed(command: Option<String>, otherwise: &str) -> Next {
    match command {
        Some(command) => Next::Type(command),
        None => Next::Do(otherwise.into()),
    }
}

/// The same with a flush inside the timing.
pub fn with_flush(origin: &Origin) -> Next {
    let command = match origin.dialect.as_str() {
        "dd" => again(origin, "", " conv=fsync"),
        "fio" if job_on_the_line(origin) => again(origin, "", " --end_fsync=1"),
        "iozone" => again(origin, "", " -e"),
        _ => None,
    };
    typed(command, "let the timing end with a flush (in a plan: durability fsync_at_end)")
}

/// The same with the target's pages dropped from memory first; where that was `tried` already,
/// past the page cache.
pub fn cold(origin: &Origin, tried: bool) -> Next {
    let command = match origin.dialect.as_str() {
        "dd" if tried => again(origin, "", " iflag=direct"),
        "dd" => again(origin, "ASSAY_COLD=target ", ""),
        "fio" if job_on_the_line(origin) => again(origin, "", " --direct=1"),
        "iozone" => again(origin, "", " -I"),
        _ => None,
    };
    typed(
        command,
        "drop the target from memory before the phase (in a plan: cold target), or use direct I/O",
    )
}

/// The same on the CPUs of one node of the machine.
pub fn on_node(origin: &Origin, node: u32) -> Next {
    typed(
        again(origin, &format!("numactl --cpunodebind={node} "), ""),
        "run it on the CPUs near to the device (in a plan: cpus)",
    )
}

/// The same once more, unchanged.
pub fn once_more(origin: &Origin, otherwise: &str) -> Next {
    typed(again(origin, "", ""), otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::MIB;

    fn origin(dialect: &str, words: &[&str]) -> Origin {
        Origin {
            dialect: dialect.into(),
            words: words.iter().map(|&word| word.into()).collect(),
            sources: vec![],
        }
    }

    #[test]
    fn no_rate_is_written_with_a_slash() {
        for rate in [0.0, 12.0, 4096.0, 4.0 * MIB as f64, 3e9, 1e12] {
            assert!(!pace(rate).contains("/s"), "{}", pace(rate));
        }
        assert_eq!(pace(4.0 * MIB as f64), "4.19 MB per second");
        assert_eq!(pace(51_200.0), "51.2 kB per second");
    }

    #[test]
    fn a_command_survives_the_shell() {
        let dd = origin("dd", &["if=/dev/zero", "of=/mnt/my card/it's", "bs=20M"]);
        assert_eq!(
            with_flush(&dd).words(),
            r"assay dd if=/dev/zero 'of=/mnt/my card/it'\''s' bs=20M conv=fsync"
        );
        assert_eq!(
            cold(&origin("dd", &["dd", "if=x", "of=/dev/null"]), false).words(),
            "ASSAY_COLD=target assay dd if=x of=/dev/null"
        );
    }

    #[test]
    fn what_can_not_be_typed_is_described() {
        assert!(matches!(with_flush(&origin("fio", &["job.fio"])), Next::Do(_)));
        assert!(matches!(with_flush(&origin("plan.json", &[])), Next::Do(_)));
    }

    #[test]
    fn shares_keep_two_digits() {
        assert_eq!(share(0.0), "0 %");
        assert_eq!(share(0.004), "0.40 %");
        assert_eq!(share(0.05), "5.0 %");
        assert_eq!(share(0.47), "47 %");
    }
}
