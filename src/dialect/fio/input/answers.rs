//! What fio answers in place of a run: help, lists of options and engines, and a job file as one line.

use crate::dialect::fio::NAME;
use crate::dialect::fio::job::{FioEngine, FioTyped, VERSION};
use crate::dialect::fio::options;
use crate::dialect::fio::options::kind::FioKind;
use crate::dialect::fio::options::option::FioOption;
use crate::dialect::fio::options::own::FioOwnOption;
use crate::dialect::near;
use crate::dialect::option::verdict_help;

/// The column at which help of an option begins.
const COLUMN: usize = 24;

/// What `--version` answers.
pub fn version() -> String {
    format!("{VERSION}\n")
}

/// What `--help` answers, and what fio prints where no job was asked for.
pub(super) fn usage(own: &[FioOwnOption]) -> String {
    let mut text = format!("{VERSION}\nfio [options] [job options] <job file(s)>\n");
    for option in own {
        let shown = option.shown();
        let gap = COLUMN.saturating_sub(shown.len() + 2).max(1);
        text.push_str(&format!("  {shown}{:gap$}{}\n", "", option.help));
    }
    text + &verdict_help(NAME)
}

/// What is known of an option below its first line: alias, kind, default, range, words.
pub fn details(option: &FioOption) -> String {
    let mut text = String::new();
    let mut line = |head: &str, what: &str| text.push_str(&format!("{head:>20}: {what}\n"));
    if !option.alias.is_empty() {
        line("alias", option.alias);
    }
    line("type", option.kind.shown());
    line("default", if option.default.is_empty() { "no default" } else { option.default });
    match option.kind {
        FioKind::Number { least, most, .. } if least != 0 || most < i64::from(u32::MAX) => {
            let most =
                if most < i64::from(u32::MAX) { format!(", max={most}") } else { String::new() };
            line("range", &format!("min={least}{most}"));
        }
        FioKind::Bool => line("range", "min=0, max=1"),
        FioKind::Floats { least, most, .. } if most < f64::MAX => {
            line("range", &format!("min={least:.6}, max={most:.6}"));
        }
        _ => {}
    }
    text
}

/// A line of a list of options.
fn listed(option: &FioOption, depth: usize) -> String {
    let name = format!("{}{}", "  ".repeat(depth), option.name);
    format!("{name:<COLUMN$}: {}\n", option.told())
}

/// An option and those below it.
fn branch(text: &mut String, option: &FioOption, depth: usize, all: &[&'static FioOption]) {
    text.push_str(&listed(option, depth));
    for below in all.iter().filter(|below| below.parent == option.name) {
        branch(text, below, depth + 1, all);
    }
}

fn list(all: &[&'static FioOption]) -> String {
    let mut text = String::new();
    let is_there = |name: &str| all.iter().any(|option| option.name == name);
    for option in all.iter().filter(|option| !is_there(option.parent)) {
        branch(&mut text, option, 0, all);
    }
    text
}

/// What `--cmdhelp` answers: all options, or one of them.
pub(super) fn command_help(name: Option<&str>) -> String {
    let all: Vec<_> = options::of_jobs()
        .filter(|option| !matches!(option.kind, FioKind::Gone | FioKind::Deprecated))
        .collect();
    let Some(name) = name.filter(|name| *name != "all") else { return list(&all) };
    one(name, &all)
}

fn one(name: &str, all: &[&'static FioOption]) -> String {
    let head = |option: &FioOption| {
        let values = option.kind.valid_values();
        format!("{:>20}: {}\n{}{values}", option.name, option.told(), details(option))
    };
    if let Some(option) = all.iter().find(|option| option.is(name)) {
        return head(option);
    }
    // fio shows one that is two letters away at most.
    let closest = all.iter().min_by_key(|option| near::distance(name, option.name));
    match closest.filter(|option| near::distance(name, option.name) < 3) {
        Some(option) => {
            format!("No such command: {name} - showing closest match\n{}", head(option))
        }
        None => format!("No such command: {name}\n"),
    }
}

/// What `--enghelp` answers: the engines, the options of one, or one of them.
pub(super) fn engine_help(asked: Option<&str>) -> String {
    let Some(asked) = asked else {
        let done = FioEngine::WORDS.iter().filter(|word| {
            FioEngine::of(word.name).is_some_and(|engine| engine.refusal().is_none())
        });
        let names: String = done.map(|word| format!("\t{}\n", word.name)).collect();
        return format!("Available IO engines:\n{names}");
    };
    let (name, option) = asked.split_once(',').map_or((asked, None), |(n, o)| (n, Some(o)));
    let Some(engine) = FioEngine::of(name) else {
        return format!("IO engine {name} not found\n");
    };
    let all: Vec<_> = options::of_engine(engine).collect();
    match option {
        _ if all.is_empty() => format!("IO engine {name} has no options\n"),
        Some(option) if option != "all" => one(option, &all),
        _ => list(&all),
    }
}

/// A job, or the defaults, as words of a command line.
pub(super) fn as_words(typed: &[FioTyped]) -> String {
    let word = |typed: &FioTyped| {
        let quote = if typed.name == "description" { "\"" } else { "" };
        match &typed.value {
            Some(value) => format!("--{}={quote}{value}{quote} ", typed.name),
            None => format!("--{} ", typed.name),
        }
    };
    typed.iter().map(word).collect()
}
