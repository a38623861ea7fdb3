//! Words for the shell of a board, whichever it is.

/// A line that a shell takes apart into these words: POSIX shells, csh and fish alike. Words have no new line:
/// csh cannot have one in a word.
pub fn line(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word, quoted. What any of these shells looks at between quotes, too, stands outside of them behind a backslash.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    let mut quoted = String::from("'");
    for char in word.chars() {
        match char {
            '\'' | '\\' | '!' => quoted.extend(['\'', '\\', char, '\'']),
            char => quoted.push(char),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        let words = [
            "plain-1.0/x",
            "",
            "a b",
            "it's",
            r"\",
            "$(rm -rf x)",
            "`x`",
            "*",
            "~",
            "a!b",
            ";",
            "#",
        ];
        let script = format!("for word in {}; do printf '<%s>' \"$word\"; done", line(&words));
        let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
        for shell in ["sh", "bash"] {
            let said = std::process::Command::new(shell).args(["-c", &script]).output();
            assert_eq!(String::from_utf8_lossy(&said.expect("a shell").stdout), expected);
        }
        assert_eq!(line(&["a", "b c"]), "a 'b c'");
    }
}
