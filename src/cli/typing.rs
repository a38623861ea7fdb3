//! Signs that a page or a phone made of those that were typed: dashes and quotes that no shell and no tool takes.

use super::words::one_line;
use assay_plan::error::Refusal;
use assay_plan::name::quoted;

/// A word with signs of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignSign {
    /// The first of them, by its name.
    pub what: String,
    /// The word as it was meant.
    pub meant: String,
}

/// The names of dashes.
const DASHES: &[(char, &str)] = &[
    ('\u{2010}', "a hyphen"),
    ('\u{2011}', "a hyphen"),
    ('\u{2012}', "a figure dash"),
    ('\u{2013}', "an en dash"),
    ('\u{2014}', "an em dash"),
    ('\u{2212}', "a minus sign"),
];

/// What is meant by a word that begins with another dash, or has curly quotes around something.
pub fn foreign(word: &str) -> Option<ForeignSign> {
    let dash = |sign: char| DASHES.iter().find(|(dash, _)| *dash == sign);
    let is_quote = |sign: char| "\u{201c}\u{201d}\u{201e}\u{2018}\u{2019}\u{201a}".contains(sign);
    let first = word.chars().next()?;
    let quote = word.chars().find(|sign| is_quote(*sign));
    let leading: String = word.chars().take_while(|sign| dash(*sign).is_some()).collect();
    let (sign, name) = match (dash(first), quote) {
        (Some((sign, name)), _) if word.len() > first.len_utf8() => (*sign, *name),
        (_, Some(sign)) => (sign, "a curly quote"),
        _ => return None,
    };
    // A long dash is often made of two.
    let long =
        word[leading.len()..].chars().take_while(|sign| sign.is_ascii_alphabetic()).count() > 1;
    let dashes = match (leading.is_empty(), long && word.contains('=')) {
        (true, _) => "",
        (_, true) => "--",
        _ => "-",
    };
    let dashes = if leading.chars().count() > 1 { "--" } else { dashes };
    let rest = word[leading.len()..].chars().filter(|sign| !is_quote(*sign));
    let meant = format!("{dashes}{}", rest.collect::<String>());
    Some(ForeignSign { what: format!("{name} (U+{:04X})", u32::from(sign)), meant })
}

/// The first word of a refused line that has such signs, in a line of ours.
pub fn told(words: &[String]) -> String {
    refused(words).map_or_else(String::new, |refusal| format!("assay: {}\n", one_line(&refusal)))
}

/// The same as a refusal.
pub fn refused(words: &[String]) -> Option<Refusal> {
    let (word, found) = words.iter().find_map(|word| Some((word, foreign(word)?)))?;
    Some(Refusal::new(
        format!("'{word}' holds {}, which no tool knows", found.what),
        format!("write {}", quoted(&found.meant)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_pages_are_those_that_were_typed() {
        let told = |word: &str| foreign(word).map(|found| (found.what, found.meant));
        let known = |what: &str, meant: &str| Some((what.to_string(), meant.to_string()));
        assert_eq!(told("–m"), known("an en dash (U+2013)", "-m"));
        assert_eq!(told("—name=a"), known("an em dash (U+2014)", "--name=a"));
        assert_eq!(told("––name"), known("an en dash (U+2013)", "--name"));
        assert_eq!(told("−s64m"), known("a minus sign (U+2212)", "-s64m"));
        assert_eq!(told("of=“x”"), known("a curly quote (U+201C)", "of=x"));
        assert_eq!(told("-m"), None);
        assert_eq!(told("–"), None);
        assert_eq!(told("a–b"), None);
    }
}
