//! Words and figures of verdicts, and commands to type next.

use crate::name::quoted;
use crate::plan::{AddedWords, PlanOrigin};
use crate::record::NextStep;
use crate::unit::{Bandwidth, Bytes};

/// A rate, in the unit of the tables and of dd's own line: `4.19 MB/s`.
pub fn pace(bytes_per_second: f64) -> String {
    Bandwidth(bytes_per_second).to_string()
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

/// The command that made the plan, with more words before and after it. `before` is for the
/// environment. Absent when the plan was not typed, or the command alone would do something else.
fn again(origin: &PlanOrigin, before: &str, after: &str) -> Option<String> {
    if origin.piped {
        return None;
    }
    let verb = origin.verb()?;
    let mut command = format!("{before}assay {verb}");
    for word in origin.arguments() {
        command.push(' ');
        command.push_str(&quoted(word));
    }
    command.push_str(after);
    command.push_str(&origin.redirected);
    Some(command)
}

/// The same with the words that a tool has for something.
pub(super) fn with(origin: &PlanOrigin, added: &AddedWords) -> Option<String> {
    again(origin, &added.before, &added.after)
}

/// The command with these words, or what to do where it cannot be typed.
pub(super) fn typed_with(
    origin: &PlanOrigin,
    added: Option<&AddedWords>,
    otherwise: &str,
) -> NextStep {
    match added {
        Some(added) if origin.piped => {
            let words = [&*added.before, &*added.after].map(str::trim);
            let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
            NextStep::Do(format!("run the same line with {}", words.join(" and ")))
        }
        added => typed(added.and_then(|added| with(origin, added)), otherwise),
    }
}

/// A command, or what to do where it cannot be typed.
pub(super) fn typed(command: Option<String>, otherwise: &str) -> NextStep {
    match command {
        Some(command) => NextStep::Type(command),
        None => NextStep::Do(otherwise.into()),
    }
}

/// The same with a flush inside the timing.
pub fn with_flush(origin: &PlanOrigin) -> NextStep {
    typed_with(
        origin,
        origin.tool.flush.as_ref(),
        "flush inside the timing (in a plan: durability fsync_at_end)",
    )
}

/// The same with the target's pages dropped from memory first; where that was `tried` already,
/// past the page cache.
pub fn cold(origin: &PlanOrigin, tried: bool) -> NextStep {
    let tool = &origin.tool;
    let added = if tried { &tool.direct } else { &tool.cold };
    typed_with(
        origin,
        added.as_ref(),
        "drop the target from the page cache first (in a plan: cold target), or use direct I/O",
    )
}

/// The same on the CPUs of one node of the machine.
pub fn on_node(origin: &PlanOrigin, node: u32) -> NextStep {
    typed(
        again(origin, &format!("numactl --cpunodebind={node} "), ""),
        "run it on the CPUs of the device's node (in a plan: cpus)",
    )
}

/// The same after everything that is still in memory has been written.
pub fn after_sync(origin: &PlanOrigin) -> NextStep {
    typed(again(origin, "sync && ", ""), "wait until everything is written (sync), then run again")
}

/// The same over what it has written.
pub fn overwriting(origin: &PlanOrigin) -> NextStep {
    typed_with(
        origin,
        origin.tool.overwrite.as_ref(),
        "compare it only with first writes, or write the same file again",
    )
}

/// The same once more, unchanged.
pub fn once_more(origin: &PlanOrigin, otherwise: &str) -> NextStep {
    typed(again(origin, "", ""), otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ToolProfile;
    use crate::unit::MIB;

    fn origin(dialect: &str, words: &[&str]) -> PlanOrigin {
        let tool = ToolProfile {
            flush: Some(AddedWords::after(" conv=fsync")),
            cold: Some(AddedWords::before("ASSAY_COLD=target ")),
            ..ToolProfile::default()
        };
        PlanOrigin::of(dialect, words.iter().map(|&word| word.into()).collect()).with(tool)
    }

    #[test]
    fn a_rate_has_the_unit_of_the_tables() {
        assert_eq!(pace(4.0 * MIB as f64), "4.19 MB/s");
        assert_eq!(pace(51_200.0), "51.2 kB/s");
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
    fn a_name_of_any_bytes_survives_the_shell_in_one_line() {
        for (name, spelled) in [
            (&b"/mnt/x"[..], "/mnt/x"),
            (b"it's", r"'it'\''s'"),
            (b"/m/\xff1", r"$'/m/\3771'"),
            (b"a\nb'\\", r"$'a\012b\'\\'"),
            ("ä b".as_bytes(), "'ä b'"),
        ] {
            assert_eq!(quoted(&crate::name::of_bytes(name)), spelled);
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
        assert_eq!(with_flush(&dd), NextStep::Do("run the same line with conv=fsync".into()));
        assert_eq!(
            cold(&dd, false),
            NextStep::Do("run the same line with ASSAY_COLD=target".into())
        );
        assert!(matches!(once_more(&dd, "again"), NextStep::Do(_)));
    }

    #[test]
    fn what_can_not_be_typed_is_described() {
        assert!(matches!(
            with_flush(&PlanOrigin::of("fio", vec!["job.fio".into()])),
            NextStep::Do(_)
        ));
        assert!(matches!(cold(&origin("dd", &["if=x"]), true), NextStep::Do(_)));
        assert!(matches!(with_flush(&origin("plan.json", &[])), NextStep::Do(_)));
    }

    #[test]
    fn shares_keep_two_digits() {
        assert_eq!(share(0.0), "0 %");
        assert_eq!(share(0.004), "0.40 %");
        assert_eq!(share(0.05), "5.0 %");
        assert_eq!(share(0.47), "47 %");
    }
}
