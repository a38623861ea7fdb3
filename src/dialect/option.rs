//! An option of a tool is one value in one list: how it is typed, what it is for, what it does to what is
//! asked for, and a line that a test types. The tool's parser, its help and `assay explain` come from
//! that list, and so cannot differ.

use std::fmt::Write;

use assay_record::record::WordMeaning;

/// One option of a tool. `A` is what the words ask for, `E` what the tool says to words that make no sense.
pub struct ToolOption<A: 'static, E: 'static> {
    /// As it is typed: `-s`, `bs`, `--format`. The first is the usual one.
    pub names: &'static [&'static str],
    pub value: OptionValue,
    /// What it is for, in a line.
    pub help: &'static str,
    /// What it does to what is asked for.
    pub effect: fn(&mut A, &str) -> Result<(), E>,
    /// A line of the tool that has it and is understood.
    pub example: &'static str,
}

/// What follows an option, by the name that its usage gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    None,
    /// Something, which belongs to it by the tool's rules.
    Needed(&'static str),
    /// Something, if it is glued to the option.
    Glued(&'static str),
    /// Words of a list, separated by commas.
    Words(&'static [OptionWord]),
}

/// A word of an option that takes a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionWord {
    pub name: &'static str,
    /// The bits that it sets in the tool's own set.
    pub bits: u32,
    /// What it is for, in a line.
    pub help: &'static str,
}

impl OptionWord {
    /// A word of a list.
    pub const fn of(name: &'static str, bits: u32, help: &'static str) -> Self {
        Self { name, bits, help }
    }

    /// The word of that name.
    pub fn find(known: &'static [Self], name: &str) -> Option<&'static Self> {
        known.iter().find(|word| word.name == name)
    }
}

impl<A, E> ToolOption<A, E> {
    /// Whether it is typed so.
    pub fn is(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// How it is shown in help and tables: `-s SIZE`, `bs=BYTES`; `between` stands before the value.
    pub fn shown(&self, between: &str) -> String {
        let names = |value: &str| {
            let named = self.names.iter().map(|name| format!("{name}{value}"));
            named.collect::<Vec<_>>().join(", ")
        };
        match self.value {
            OptionValue::None => names(""),
            OptionValue::Needed(value) => names(&format!("{between}{value}")),
            OptionValue::Glued(value) => names(&format!("[{value}]")),
            OptionValue::Words(_) => names(&format!("{between}WORDS")),
        }
    }

    /// The words that it takes, but for those that another option told already.
    fn new_words(&self, told: &mut Vec<&'static [OptionWord]>) -> &'static [OptionWord] {
        match self.value {
            OptionValue::Words(words) if !told.contains(&words) => {
                told.push(words);
                words
            }
            _ => &[],
        }
    }

    /// What this value of it means.
    pub fn meaning(&self, typed: String, value: &str) -> WordMeaning {
        let means = match self.value {
            OptionValue::Words(known) => {
                let words = value.split(',').filter_map(|name| OptionWord::find(known, name));
                words.map(|word| word.help).collect::<Vec<_>>().join("; ")
            }
            OptionValue::Needed(name) => valued(&valued(self.help, name, value), SO_MANY, value),
            _ => self.help.into(),
        };
        WordMeaning { word: typed, means }
    }
}

/// What stands for a number in what an option is for.
const SO_MANY: &str = "so many";

/// What an option is for, with the value that was typed in the place of its name; one is no plural.
pub fn valued(help: &str, name: &str, value: &str) -> String {
    let apart = |sign: Option<char>| sign.is_none_or(|sign| sign == ' ' || sign == ',');
    let counts = value.chars().next().is_some_and(|first| first.is_ascii_digit());
    let found = help.match_indices(name).map(|(at, _)| (&help[..at], &help[at + name.len()..]));
    let alone =
        |ends: &(&str, &str)| apart(ends.0.chars().next_back()) && apart(ends.1.chars().next());
    let Some((before, after)) = found.filter(|_| counts || name != SO_MANY).find(alone) else {
        return help.into();
    };
    let one = |(place, word): (usize, &str)| {
        let body = word.trim_end_matches([',', ';']);
        let plural = body.strip_suffix('s').filter(|_| value == "1" && (1..=2).contains(&place));
        plural.map_or(word.into(), |single| format!("{single}{}", &word[body.len()..]))
    };
    let after: Vec<String> = after.split(' ').enumerate().map(one).collect();
    format!("{before}{value}{}", after.join(" "))
}

/// Columns of the terminal that help is written for.
const WIDTH: usize = 80;

/// A sentence as lines that are no wider, but for a word that is.
fn within(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// The options as lines of help, with what they are for behind them from a column on.
pub fn help<'o, A: 'static, E: 'static>(
    options: impl IntoIterator<Item = &'o ToolOption<A, E>>,
    between: &str,
    column: usize,
) -> String {
    let (mut text, mut told) = (String::new(), Vec::new());
    let mut line = |shown: &str, help: &str| {
        let gap = column.saturating_sub(shown.chars().count() + 2);
        let help = within(help, WIDTH.saturating_sub(column)).join(&format!("\n{:column$}", ""));
        let _ = match gap {
            0 | 1 => writeln!(text, "  {shown}\n{:column$}{help}", ""),
            _ => writeln!(text, "  {shown}{:gap$}{help}", ""),
        };
    };
    for option in options {
        line(&option.shown(between), option.help);
        for word in option.new_words(&mut told) {
            line(&format!("  {}", word.name), word.help);
        }
    }
    text
}

/// Where the verdict is said, as the end of a help.
pub fn verdict_help(name: &str) -> String {
    format!(
        "
Called by the name {name}, with standard error in a file or a pipe, it says there
what {name} says and no more, unless it fails. ASSAY_VERDICT=FILE puts the verdict
into a file, a line for each result behind what it holds; - says it on standard
error, off nowhere.
"
    )
}
