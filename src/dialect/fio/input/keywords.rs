//! What a line of a job file refers to: `${VARIABLE}` and `$keyword`.

use super::expression;
use crate::dialect::fio::job::FioWorld;

/// The longest line that is computed, characters, and its longest value.
const LONGEST: (usize, usize) = (128, 100);

/// A line with variables and keywords replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpandedLine {
    pub text: String,
    /// Whether fio could not have computed what is there now.
    pub beyond: bool,
}

/// Replaces variables, then keywords, and then computes what has a keyword in it.
pub(super) fn expand(line: &str, world: &FioWorld<'_>) -> ExpandedLine {
    let text = variables(line, world);
    let words = [
        ("$pagesize", world.page_size),
        ("$mb_memory", world.memory_mb),
        ("$ncpus", u64::from(world.cpus)),
    ];
    let mut replaced = text.clone();
    for (word, number) in words {
        replaced = replaced.replace(word, &number.to_string());
    }
    if replaced == text {
        return ExpandedLine { text, beyond: false };
    }
    compute(replaced)
}

/// `${VARIABLE}`: its value, nothing if there is none.
fn variables(line: &str, world: &FioWorld<'_>) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        text.push_str(&rest[..at]);
        text.push_str(&(world.environment)(&rest[at + 2..at + end]).unwrap_or_default());
        rest = &rest[at + end + 1..];
    }
    text.push_str(rest);
    text
}

/// A value with an arithmetic sign in it is computed; fio gives it to `bc`, which knows no units.
fn compute(line: String) -> ExpandedLine {
    let plain = ExpandedLine { text: line.clone(), beyond: false };
    let signs = line.contains(['+', '-', '*', '/']) && !line.contains('\'');
    let Some((name, value)) = line.split_once('=').filter(|_| signs) else { return plain };
    if line.len() >= LONGEST.0 || value.len() > LONGEST.1 {
        return plain;
    }
    match expression::plain(value) {
        Some(number) => ExpandedLine {
            text: format!("{name}={number}"),
            beyond: value.contains(|c: char| c.is_ascii_alphabetic()),
        },
        None => ExpandedLine { text: line, beyond: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::fio::FioPathKind;

    #[test]
    fn variables_and_keywords_are_replaced_and_computed() {
        let world = FioWorld {
            files: &|_| Ok(Vec::new()),
            stdin: &|| Ok(Vec::new()),
            files_below: &|_| Ok(Vec::new()),
            environment: &|name| (name == "SIZE").then(|| "64k".to_string()),
            kind: &|_| FioPathKind::Missing,
            page_size: 4096,
            cpus: 8,
            memory_mb: 16384,
        };
        let table = [
            ("size=${SIZE}", "size=64k", false),
            ("size=${NOSUCH}", "size=", false),
            ("size=${SIZE", "size=${SIZE", false),
            ("bs=$pagesize", "bs=4096", false),
            ("size=2*$pagesize", "size=8192", false),
            ("numjobs=$ncpus", "numjobs=8", false),
            ("size=$ncpus*8192", "size=65536", false),
            ("size=$mb_memory*8k", "size=134217728", true),
            ("directory=/mnt/$ncpus", "directory=/mnt/8", true),
            ("rw=read", "rw=read", false),
        ];
        for (line, text, beyond) in table {
            assert_eq!(expand(line, &world), ExpandedLine { text: text.into(), beyond }, "{line}");
        }
    }
}
