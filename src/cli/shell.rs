//! A line as a shell would take it apart into words: quotes and backslashes, and nothing that only
//! a shell can do.

use crate::error::Refusal;

/// What a shell would act on outside of quotes: more commands, pipes, files, variables, background.
const ACTS: &str = ";&|<>()`$\n";

/// The words of one command.
///
/// # Errors
/// When a quote is not closed, or a shell would do more than to start this one command.
pub fn words(line: &str) -> Result<Vec<String>, Refusal> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut rest = line.trim().chars();
    while let Some(char) = rest.next() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (Some('"'), '$' | '`') => return Err(acts(char)),
            (Some('"'), '\\') => escaped(&mut word, rest.next(), "\"\\$`")?,
            (Some(_), _) => word.get_or_insert_default().push(char),
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, '\\') => escaped(&mut word, rest.next(), "")?,
            (None, _) if ACTS.contains(char) => return Err(acts(char)),
            (None, _) if char.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(char),
        }
    }
    if let Some(quote) = quote {
        return Err(Refusal::new(format!("a {quote} is not closed"), "close it"));
    }
    words.extend(word);
    Ok(words)
}

/// The character after a backslash; between double quotes the backslash of most others stays.
fn escaped(word: &mut Option<String>, next: Option<char>, only: &str) -> Result<(), Refusal> {
    let Some(next) = next else {
        return Err(Refusal::new("a \\ stands at the end", "leave it out"));
    };
    let word = word.get_or_insert_default();
    if !only.is_empty() && !only.contains(next) {
        word.push('\\');
    }
    word.push(next);
    Ok(())
}

fn acts(char: char) -> Refusal {
    let (shown, instead) = match char {
        '$' | '`' => (char.to_string(), "write what the shell would put there"),
        '\n' => ("a new line".into(), "give one command alone"),
        _ => (char.to_string(), "give one command alone: 'dd if=... of=...'"),
    };
    Refusal::new(format!("'{shown}' is for a shell, and nothing is run here"), instead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_as_by_a_shell() {
        for (line, expected) in [
            ("dd if=a  of=b", vec!["dd", "if=a", "of=b"]),
            (
                r#"dd if='my card/x' of="it's" bs=1\ M"#,
                vec!["dd", "if=my card/x", "of=it's", "bs=1 M"],
            ),
            (r#""a\"b\c" '' x'y'z"#, vec!["a\"b\\c", "", "xyz"]),
            ("  ", vec![]),
        ] {
            assert_eq!(words(line).expect("words"), expected, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_refused() {
        for line in [
            "dd if=a of=b && sync",
            "dd | cat",
            "dd of=$HOME/x",
            "dd \"of=$x\"",
            "dd 'of=x",
            "dd \\",
        ] {
            assert!(words(line).is_err(), "{line}");
        }
    }
}
