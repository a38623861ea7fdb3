//! A line as a shell would take it apart: into commands, words and what is written between them. Nothing is run,
//! and what only a running shell knows (variables, the output of commands) is kept as unknown.

use std::collections::HashMap;
use std::iter::Peekable;
use std::mem::replace;
use std::str::Chars;

use assay_plan::error::Refusal;

/// A command among others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its words.
    pub words: Vec<String>,
    /// Its redirections: descriptor and sign (`<`, `2>&`), and where.
    pub redirected: Vec<(String, String)>,
    /// What stands before it: `;`, `&&`, `||`, `|`, `&`, or nothing at the start.
    pub before: String,
    /// The first thing in it that only a running shell knows.
    pub unknown: Option<String>,
}

/// The commands of a text.
///
/// # Errors
/// When a quote is not closed.
pub fn commands(text: &str) -> Result<Vec<ShellCommand>, Refusal> {
    let mut reading = ShellReader { rest: text.chars().peekable(), ..ShellReader::default() };
    reading.read()?;
    // Without words: the last one runs in the background.
    let ShellReader { mut done, command, .. } = reading;
    done.extend((command.before == "&").then_some(command));
    Ok(done)
}

/// What was read so far.
struct ShellReader<'a> {
    rest: Peekable<Chars<'a>>,
    done: Vec<ShellCommand>,
    command: ShellCommand,
    word: Option<String>,
    /// The sign of a redirection whose place is the next word.
    redirecting: Option<String>,
    /// What variables are known to hold.
    known: HashMap<String, String>,
}

impl Default for ShellReader<'_> {
    fn default() -> Self {
        Self {
            rest: "".chars().peekable(),
            done: Vec::new(),
            command: ShellCommand::default(),
            word: None,
            redirecting: None,
            known: HashMap::new(),
        }
    }
}

impl ShellReader<'_> {
    fn read(&mut self) -> Result<(), Refusal> {
        let mut quote: Option<char> = None;
        while let Some(char) = self.rest.next() {
            match (quote, char) {
                (Some(open), _) if char == open => quote = None,
                (None | Some('"'), '$' | '`') => self.dollar(char),
                (Some('"'), '\\') => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(next) if "\"\\$`".contains(next) => self.push(next),
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                },
                (Some(_), _) => self.push(char),
                (None, '\'' | '"') => {
                    quote = Some(char);
                    self.word.get_or_insert_default();
                }
                (None, '\\') => self.backslash(),
                (None, '#') if self.word.is_none() => {
                    while self.rest.next_if(|next| *next != '\n').is_some() {}
                }
                (None, '<' | '>') => self.redirect(char.to_string()),
                (None, '&') if self.rest.peek() == Some(&'>') => {
                    self.end_word();
                    self.rest.next();
                    self.redirect("&>".into());
                }
                (None, ';' | '&' | '|' | '(' | ')' | '\n') => {
                    self.end_word();
                    let double = matches!(char, '&' | '|' | ';');
                    let again = double && self.rest.next_if_eq(&char).is_some();
                    let sign = if again { format!("{char}{char}") } else { char.to_string() };
                    self.end_command(&sign);
                }
                (None, _) if char.is_whitespace() => self.end_word(),
                (None, _) => self.push(char),
            }
        }
        if let Some(quote) = quote {
            return Err(Refusal::new(format!("a {quote} is not closed"), "close it"));
        }
        self.end_word();
        self.end_command("");
        Ok(())
    }

    fn push(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    /// A line goes on behind it, also where the new line was lost on the way here; else it quotes one character.
    fn backslash(&mut self) {
        while self.rest.next_if_eq(&'\r').is_some() {}
        match self.rest.next() {
            None => {}
            Some('\n') => {}
            Some(next) if next.is_whitespace() && self.word.is_none() => {}
            Some(next) => self.push(next),
        }
    }

    fn redirect(&mut self, mut sign: String) {
        // Digits before it are a descriptor.
        match self.word.take() {
            Some(digits) if digits.chars().all(|c| c.is_ascii_digit()) => {
                sign.insert_str(0, &digits)
            }
            other => {
                self.word = other;
                self.end_word();
            }
        }
        while let Some(next) = self.rest.next_if(|next| matches!(next, '<' | '>' | '&' | '|')) {
            sign.push(next);
        }
        self.redirecting = Some(sign);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirecting.take() {
            Some(sign) => self.command.redirected.push((sign, word)),
            None => self.command.words.push(word),
        }
    }

    fn end_command(&mut self, sign: &str) {
        self.redirecting = None;
        let sign = if matches!(sign, "\n" | "(" | ")" | ";;" | "") { ";" } else { sign };
        if self.command.words.is_empty() && self.command.redirected.is_empty() {
            if sign != ";" {
                self.command.before = sign.into();
            }
            return;
        }
        let next = ShellCommand { before: sign.into(), ..ShellCommand::default() };
        let command = replace(&mut self.command, next);
        self.learn(&command.words);
        self.done.push(command);
    }

    /// What a loop or an assignment sets: of a loop the first round.
    fn learn(&mut self, words: &[String]) {
        match words {
            [first, name, of, values @ ..] if first == "for" && of == "in" => {
                if let Some(value) = values.iter().flat_map(|value| braces(value)).next() {
                    self.known.insert(name.clone(), value);
                }
            }
            _ => {
                for word in words {
                    let Some((name, value)) = word.split_once('=') else { break };
                    if is_name(name) {
                        self.known.insert(name.into(), value.into());
                    }
                }
            }
        }
    }

    /// `$name`, `${name}`, `$(command)`, `$((sum))` and the same between backquotes.
    fn dollar(&mut self, char: char) {
        let mut shown = char.to_string();
        if char == '$' && self.rest.next_if_eq(&'{').is_some() {
            let name: String = self.until('}');
            return match self.known.get(&name).cloned() {
                Some(value) => self.put(&value),
                None => self.keep(format!("${{{name}}}")),
            };
        }
        if char == '$' && self.rest.next_if_eq(&'(').is_some() {
            let mut depth = 1;
            shown.push('(');
            let mut inside = String::new();
            for next in self.rest.by_ref() {
                depth += i32::from(next == '(') - i32::from(next == ')');
                if depth == 0 {
                    break;
                }
                inside.push(next);
            }
            return match counted(&inside) {
                Some(values) => self.put(&values),
                None => self.keep(format!("$({inside})")),
            };
        }
        if char == '`' {
            let inside = self.until('`');
            return match counted(&inside) {
                Some(values) => self.put(&values),
                None => self.keep(format!("`{inside}`")),
            };
        }
        let mut name = String::new();
        while let Some(next) =
            self.rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_')
        {
            name.push(next);
        }
        if name.is_empty() {
            match self.rest.next_if(|next| "@*#?$!-".contains(*next)) {
                Some(next) => self.keep(format!("${next}")),
                None => self.push('$'),
            }
            return;
        }
        match self.known.get(&name).cloned() {
            Some(value) => self.put(&value),
            None => self.keep(format!("${name}")),
        }
    }

    fn until(&mut self, end: char) -> String {
        self.rest.by_ref().take_while(|next| *next != end).collect()
    }

    /// A value that is known: words of it are words.
    fn put(&mut self, value: &str) {
        for (number, part) in value.split_whitespace().enumerate() {
            if number > 0 {
                self.end_word();
            }
            self.word.get_or_insert_default().push_str(part);
        }
    }

    fn keep(&mut self, shown: String) {
        self.word.get_or_insert_default().push_str(&shown);
        self.command.unknown.get_or_insert(shown);
    }
}

/// Whether a word can be the name of a variable.
pub fn is_name(word: &str) -> bool {
    let first =
        word.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    first && word.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// What `seq` prints.
fn counted(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    let seq = words.next() == Some("seq");
    let numbers: Vec<i64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (from, step, to) = match numbers.as_slice() {
        _ if !seq => return None,
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] => (*from, *step, *to),
        _ => return None,
    };
    listed(from, step, to)
}

/// Numbers from one to another.
fn listed(from: i64, step: i64, to: i64) -> Option<String> {
    let count = to.checked_sub(from)?.checked_div(step)?.checked_add(1)?;
    let numbers = (0..count.clamp(0, 1000)).map(|number| (from + number * step).to_string());
    Some(numbers.collect::<Vec<_>>().join(" "))
}

/// The words that braces make of one: `{1..5}`, `a{b,c}`.
pub fn braces(word: &str) -> Vec<String> {
    let inside = word.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (inside, tail))) = inside else { return vec![word.into()] };
    let ends = inside.split_once("..").and_then(|(from, to)| {
        let (from, to) = (from.parse::<i64>().ok()?, to.parse::<i64>().ok()?);
        listed(from, if from <= to { 1 } else { -1 }, to)
    });
    let parts: Vec<&str> = match &ends {
        Some(numbers) => numbers.split(' ').collect(),
        None if inside.contains(',') => inside.split(',').collect(),
        None => return vec![word.into()],
    };
    parts.iter().map(|part| format!("{head}{part}{tail}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let commands = commands(text).expect("commands");
        let told = commands.iter().map(|command| {
            let to: String =
                command.redirected.iter().map(|(sign, to)| format!(" {sign}[{to}]")).collect();
            let unknown =
                command.unknown.iter().map(|unknown| format!(" !{unknown}")).collect::<String>();
            format!("{}{:?}{to}{unknown}", command.before, command.words)
        });
        told.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_are_taken_apart_as_by_a_shell() {
        for (line, expected) in [
            ("dd if=a  of=b", r#"["dd", "if=a", "of=b"]"#),
            (
                r#"dd if='my card/x' of="it's" bs=1\ M"#,
                r#"["dd", "if=my card/x", "of=it's", "bs=1 M"]"#,
            ),
            (r#""a\"b\c" '' x'y'z"#, r#"["a\"b\\c", "", "xyz"]"#),
            ("  ", ""),
            ("dd of=b && sync; ls", r#"["dd", "of=b"] &&["sync"] ;["ls"]"#),
            ("dd of=b 2>&1 | tail -1", r#"["dd", "of=b"] 2>&[1] |["tail", "-1"]"#),
            ("dd bs=1M </dev/zero >x &>log &", r#"["dd", "bs=1M"] <[/dev/zero] >[x] &>[log] &[]"#),
            ("dd if=a \\\n  of=b \\\r\n bs=1", r#"["dd", "if=a", "of=b", "bs=1"]"#),
            ("dd if=a \\ of=b \\", r#"["dd", "if=a", "of=b"]"#),
            (
                "for i in 1 2 3; do dd of=x$i bs=${i}M; done",
                r#"["for", "i", "in", "1", "2", "3"] ;["do", "dd", "of=x1", "bs=1M"] ;["done"]"#,
            ),
            (
                "for i in $(seq 2 3)\ndo\n dd of=$i\ndone",
                r#"["for", "i", "in", "2", "3"] ;["do"] ;["dd", "of=2"] ;["done"]"#,
            ),
            ("F=/mnt/x\ndd of=$F bs=$B", r#"["F=/mnt/x"] ;["dd", "of=/mnt/x", "bs=$B"] !$B"#),
            ("(dd of=x; sync) # now", r#"["dd", "of=x"] ;["sync"]"#),
            ("dd of=`date` 'a$b'", r#"["dd", "of=`date`", "a$b"] !`date`"#),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
        assert!(commands("dd 'of=x").is_err());
        assert_eq!(braces("{1..3}"), ["1", "2", "3"]);
        assert_eq!(braces("x{a,b}"), ["xa", "xb"]);
    }
}
