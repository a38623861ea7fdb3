//! How GNU programs quote what they were given: for people, and for a shell to take back.

use std::fmt::Write;

use assay_plan::name;

/// For people: `'it\'s'`.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::from("'");
    for char in text.chars() {
        match char {
            '\'' | '\\' => out.extend(['\\', char]),
            _ if escaped(char) => escape(&mut out, char),
            _ => out.push(char),
        }
    }
    out.push('\'');
    out
}

/// For a shell, always in quotes: `'a b'`, `"it's"`, `'a'$'\n''b'`.
pub(super) fn shell(text: &str) -> String {
    if text.contains('\'') && text.chars().all(|char| char == '\'' || weak(char)) {
        return format!("\"{text}\"");
    }
    let mut out = String::from("'");
    let mut escaping = false;
    for char in text.chars() {
        if escaped(char) {
            if !escaping {
                out.push_str("'$'");
            }
            escaping = true;
            escape(&mut out, char);
            continue;
        }
        if escaping {
            out.push_str("''");
        }
        escaping = false;
        match char {
            '\'' => out.push_str("'\\''"),
            _ => out.push(char),
        }
    }
    out.push('\'');
    out
}

/// For a shell and before a colon: in quotes only where they are needed.
pub(super) fn shell_if_needed(text: &str) -> String {
    let mut chars = text.chars();
    let needed = match chars.next() {
        None => true,
        Some('#' | '~') => true,
        Some('{' | '}') if text.len() == 1 => true,
        Some(_) => text.chars().any(|char| {
            escaped(char) || matches!(char, ' ' | ':' | '\'' | '\\' | '?') || special(char)
        }),
    };
    if needed { shell(text) } else { text.into() }
}

/// What a shell would act on.
fn special(char: char) -> bool {
    "!\"$&()*;<=>[^`|".contains(char)
}

/// What may stand between double quotes as well as between single ones.
fn weak(char: char) -> bool {
    !escaped(char) && !special(char) && !matches!(char, '\\' | '#' | '~' | '{' | '}' | '?')
}

/// What is told by its number: it cannot be printed, or is a byte that is no text.
fn escaped(char: char) -> bool {
    char.is_control() || name::stands_for(char).is_some()
}

fn escape(out: &mut String, char: char) {
    let letter = match char {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        _ => {
            for byte in name::bytes(char.encode_utf8(&mut [0; 4])) {
                let _ = write!(out, "\\{byte:03o}");
            }
            return;
        }
    };
    out.extend(['\\', letter]);
}
