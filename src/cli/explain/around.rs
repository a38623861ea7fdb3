//! What stands round the command of a line as people paste it: prompts, what starts the command, other
//! commands, loops, pipes. It is set aside, and said; what it changes for the command is kept.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::CommandFactory as _;

use super::super::dialect::{as_verb, meant};
use super::super::shell::{self, ShellCommand, braces, is_name};
use super::super::verb::Cli;
use crate::dialect::named;
use crate::process::Environment;
use crate::process::typing;
use assay_plan::error::Refusal;
use assay_plan::name::quoted;
use assay_plan::plan::ToolProfile;
use assay_record::record::WordMeaning;

/// The command of a line, and what was round it.
#[derive(Clone, Debug, Default)]
pub struct BareLine {
    /// Its words.
    pub words: Vec<String>,
    /// The variables that are set for it.
    pub environment: Environment,
    /// What was set aside, and what it does.
    pub around: Vec<WordMeaning>,
    /// It is run as root.
    pub root: bool,
    /// Where else it runs: on another machine, or below another root.
    pub elsewhere: Option<String>,
    /// The folder that it is run in.
    pub folder: Option<PathBuf>,
    /// What only a running shell knows of it.
    unknown: Option<String>,
}

/// What starts another command.
struct Starter {
    /// How it is called.
    names: &'static [&'static str],
    /// Its options of one letter that take a value.
    valued: &'static str,
    /// Words of its own before the command.
    operands: usize,
    /// What that does to what is measured.
    means: &'static str,
}

const fn starter(
    names: &'static [&'static str],
    valued: &'static str,
    operands: usize,
    means: &'static str,
) -> Starter {
    Starter { names, valued, operands, means }
}

const STARTERS: &[Starter] = &[
    starter(&["sudo", "doas"], "ugpChrtTUDR", 0, "as root"),
    starter(
        &["time"],
        "fo",
        0,
        "times all that stands behind it, from the start of the first program on; the tool's own clock does not",
    ),
    starter(&["nice"], "n", 0, "another priority on the CPU, which no disk knows of"),
    starter(
        &["ionice"],
        "cnpPu",
        0,
        "another priority of its I/O, which only the scheduler BFQ heeds",
    ),
    starter(&["chrt"], "TPD", 1, "another scheduling policy on the CPU"),
    starter(&["taskset"], "", 1, "only on these CPUs"),
    starter(&["numactl"], "NmCpi", 0, "CPUs and memory of some nodes alone"),
    starter(&["env"], "uCS", 0, "sets variables"),
    starter(&["nohup", "setsid"], "", 0, "goes on when the terminal is closed"),
    starter(&["command", "exec", "builtin", "unbuffer", "then", "else", "do", "{", "!"], "", 0, ""),
    starter(&["stdbuf"], "ioe", 0, "how its output is buffered"),
    starter(&["timeout"], "sk", 1, "ends it after that time, whatever is done by then"),
    starter(
        &["strace", "ltrace"],
        "aeopsEIOPSUX",
        0,
        "stops it at each call, so that calls and not the disk are measured",
    ),
    starter(&["perf"], "eopCrI", 1, "counts events of the CPU meanwhile"),
    starter(&["systemd-run"], "pEuMC", 0, "in a unit of its own, with its limits"),
    starter(&["cgexec"], "g", 0, "in a control group, with its limits"),
    starter(&["setarch", "linux32", "linux64"], "", 1, "with another personality"),
    starter(&["watch"], "n", 0, "again and again; one time is told"),
    starter(&["mpirun", "mpiexec", "srun"], "nN", 0, "several times at once"),
];

/// Those whose command is run elsewhere. Options are as above; the operand is where.
const ELSEWHERE: &[Starter] = &[
    starter(&["chroot"], "", 1, ""),
    starter(&["ssh"], "bcDEeFIiJLlmOopQRSWw", 1, ""),
    starter(&["adb"], "sHPtL", 0, "shell"),
    starter(&["docker", "podman", "nerdctl"], "euwvmpc", 1, "exec run"),
    starter(&["kubectl", "oc"], "nc", 1, "exec"),
    starter(&["lxc", "incus"], "", 1, "exec"),
    starter(&["nsenter"], "tSG", 0, ""),
];

/// Their long options that take a value in the next word.
const LONG_VALUED: &[&str] = &[
    "--adjustment",
    "--class",
    "--classdata",
    "--cpu-list",
    "--cpus",
    "--cpunodebind",
    "--device",
    "--entrypoint",
    "--env",
    "--membind",
    "--memory",
    "--mount",
    "--name",
    "--namespace",
    "--network",
    "--np",
    "--output",
    "--property",
    "--user",
    "--volume",
    "--workdir",
    "-np",
    "--target",
];

/// Shells, whose word behind `-c` is a text of commands.
const SHELLS: &[&str] = &["sh", "bash", "ash", "dash", "zsh", "ksh", "su"];

/// A text with curly quotes made straight, where a shell could read it then.
fn with_straight_quotes(text: &str) -> Option<String> {
    let straight: String = text
        .chars()
        .map(|sign| match sign {
            '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
            '\u{2018}' | '\u{2019}' | '\u{201a}' => '\'',
            other => other,
        })
        .collect();
    (straight != text && shell::commands(&straight).is_ok()).then_some(straight)
}

/// Takes apart a text as it was pasted.
///
/// # Errors
/// When a quote is not closed, or the command holds what only a running shell knows.
pub fn of_text(text: &str, environment: &Environment) -> Result<BareLine, Refusal> {
    let mut line = BareLine { environment: environment.clone(), ..BareLine::default() };
    let mut text = line.without_prompts(text);
    if let Some(straight) = with_straight_quotes(&text) {
        line.aside(
            "\u{201c} \u{201d} \u{2018} \u{2019}",
            "curly quotes are read as straight ones, which a shell takes",
        );
        text = straight;
    }
    line.take(&text)?;
    line.settled()
}

/// Takes apart words that a shell has handed over.
///
/// # Errors
/// As [`of_text`].
pub fn of_words(words: &[String], environment: &Environment) -> Result<BareLine, Refusal> {
    let mut line = BareLine { environment: environment.clone(), ..BareLine::default() };
    line.peel(words)?;
    line.settled()
}

/// Whether a word is one of our verbs that run a plan.
pub fn runs_something(word: &str) -> bool {
    let command = Cli::command();
    let verb = command.find_subcommand(word);
    verb.is_some_and(|verb| verb.get_arguments().any(|argument| argument.get_id() == "plan"))
}

/// Whether words begin with a tool or a verb that is understood.
fn is_understood(words: &[String]) -> bool {
    let Some(first) = words.first() else { return false };
    let mut typed: Vec<OsString> = words.iter().map(OsString::from).collect();
    if program(first) == "toybox" {
        typed.remove(0);
    }
    let first = typed.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    first == "assay"
        || meant(&typed).is_some()
        || as_verb(&typed).is_some()
        || runs_something(&first)
}

impl BareLine {
    fn aside(&mut self, word: impl Into<String>, means: impl Into<String>) {
        let said = WordMeaning { word: word.into(), means: means.into() };
        if !said.means.is_empty() && !self.around.contains(&said) {
            self.around.push(said);
        }
    }

    /// The line, where nothing in its command is left to a shell; signs that a page made of others are those.
    fn settled(mut self) -> Result<Self, Refusal> {
        if let Some(unknown) = self.unknown.take() {
            return Err(Refusal::new(
                format!("'{unknown}' is for a shell, and nothing is run here"),
                "write what the shell would put there",
            ));
        }
        for place in 0..self.words.len() {
            if let Some(typed) = typing::foreign(&self.words[place]) {
                let word = std::mem::replace(&mut self.words[place], typed.meant.clone());
                self.aside(
                    word,
                    format!("holds {}; it is read as {}", typed.what, quoted(&typed.meant)),
                );
            }
        }
        Ok(self)
    }

    // ------------------------------------------------------------------ prompts

    /// The text without the prompts before its lines, and without what stands between them.
    fn without_prompts(&mut self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        // A script has comments, and no prompts.
        let script = lines.iter().any(|line| prompt(line).is_none() && is_typed(line));
        let prompts: Vec<Option<(&str, &str)>> = lines
            .iter()
            .map(|line| prompt(line).filter(|(sign, _)| !script || !matches!(*sign, "#" | "+")))
            .collect();
        let typed = prompts.iter().any(|prompt| prompt.is_some());
        let (mut kept, mut goes_on) = (Vec::new(), false);
        for (line, prompt) in lines.iter().zip(prompts) {
            let line = match prompt {
                Some((sign, rest)) => {
                    let root = sign.ends_with('#');
                    self.root |= root;
                    self.aside(
                        sign.trim(),
                        if root { "the prompt, of root" } else { "the prompt" },
                    );
                    rest
                }
                None if goes_on => line.trim_start().strip_prefix("> ").unwrap_or(line),
                None if typed && !line.trim().is_empty() && !is_typed(line) || printed(line) => {
                    self.aside(line.trim(), "was printed, and is no command");
                    continue;
                }
                None => line,
            };
            goes_on = line.trim_end().ends_with(['\\', '|', '&', ';'])
                || line.split_whitespace().any(|word| matches!(word, "do" | "then"))
                || line
                    .split_whitespace()
                    .next()
                    .is_some_and(|word| matches!(word, "for" | "while"));
            kept.push(line);
        }
        kept.join("\n")
    }

    // ------------------------------------------------------------------ commands

    /// The first command that is understood; all others are set aside.
    fn take(&mut self, text: &str) -> Result<(), Refusal> {
        let commands = shell::commands(text)?;
        let peeled = commands.iter().map(|command| {
            let (environment, unknown) = (self.environment.clone(), command.unknown.clone());
            let mut line = BareLine { environment, unknown, ..BareLine::default() };
            line.peel(&command.words)?;
            Ok((line, command))
        });
        let mut peeled: Vec<(BareLine, &ShellCommand)> = peeled.collect::<Result<_, Refusal>>()?;
        let chosen = peeled.iter().position(|(line, _)| is_understood(&line.words));
        // Of what nothing is understood, the first is complained of.
        let chosen = chosen.unwrap_or(0);
        let Some((line, command)) = peeled.get_mut(chosen) else { return Ok(()) };
        let (line, command) = (std::mem::take(line), *command);
        let around = std::mem::take(&mut self.around);
        *self = BareLine {
            root: self.root | line.root,
            elsewhere: line.elsewhere.or(self.elsewhere.take()),
            folder: line.folder.or(self.folder.take()),
            around: around.into_iter().chain(line.around).collect(),
            ..line
        };
        for (place, (other, shown)) in peeled.iter().enumerate().take(chosen) {
            let pipes = command.before == "|" && place + 1 == chosen;
            self.stands_before(other, shown, pipes);
        }
        self.redirected(command);
        for (place, (other, shown)) in peeled.iter().enumerate().skip(chosen + 1) {
            self.stands_behind(other, shown, place == chosen + 1);
        }
        Ok(())
    }

    /// How the command is called in a sentence.
    fn tool(&self) -> String {
        let named =
            self.words.iter().find(|word| !matches!(word.as_str(), "assay" | "busybox" | "toybox"));
        named.map_or("it", |word| program(word)).into()
    }

    /// What is known of it before its words are read.
    fn profile(&self) -> ToolProfile {
        named(&self.tool()).map_or_else(ToolProfile::default, |tool| (tool.profile)())
    }

    fn stands_before(&mut self, other: &BareLine, command: &ShellCommand, pipes: bool) {
        let (tool, shown) = (self.tool(), shown(command));
        let words: Vec<&str> = other.words.iter().map(String::as_str).collect();
        let to = command.redirected.iter().map(|(_, to)| to);
        let drops = command.words.iter().any(|word| word.contains("vm.drop_caches="))
            || command.words.iter().chain(to).any(|word| word.ends_with("vm/drop_caches"));
        match words.as_slice() {
            _ if drops => {
                self.environment.cold.get_or_insert_with(|| "machine".into());
                self.aside(shown, format!("drops the page cache before {tool} reads; ASSAY_COLD=machine does that, and checks it"));
            }
            ["sync", ..] => self.aside(
                shown,
                format!("what other programs left in memory is flushed before {tool} starts"),
            ),
            ["cd", folder] => {
                self.folder = Some(PathBuf::from(folder));
                self.aside(shown, format!("{tool} is run there"));
            }
            ["for", name, "in", values @ ..] => {
                let values: Vec<String> = values.iter().flat_map(|value| braces(value)).collect();
                let first = values.first().cloned().unwrap_or_default();
                let rounds = match values.len() {
                    1 => "1 round".into(),
                    n => format!("{n} rounds, one after the other"),
                };
                self.aside(
                    shown,
                    format!("{rounds}; the first is told, in which {name} is {first}"),
                );
            }
            ["for", ..] => self.aside(shown, "several rounds, one after the other; one is told"),
            ["while" | "until", ..] => {
                self.aside(shown, "round after round, as long as that says; one is told");
            }
            ["done" | "fi" | "}" | "esac"] => {}
            [] if command.words.is_empty() => {}
            [] if command.words.iter().all(|word| word.contains('=')) => {
                self.aside(shown, "a variable of the shell");
            }
            _ if pipes => self.aside(shown, format!("what it prints is what {tool} reads")),
            // What feeds it in turn.
            _ => self.aside(shown, format!("runs before {tool}, outside of its clock")),
        }
    }

    fn stands_behind(&mut self, other: &BareLine, command: &ShellCommand, next: bool) {
        let tool = self.tool();
        let sign = command.before.as_str();
        let shown = match sign {
            ";" => shown(command),
            _ => format!("{sign} {}", shown(command)).trim_end().to_string(),
        };
        let words: Vec<&str> = other.words.iter().map(String::as_str).collect();
        if sign == "&" && next {
            self.aside("&", format!("{tool} runs in the background: what else runs meanwhile shares the disk with it"));
            if words.is_empty() {
                return;
            }
        }
        match words.as_slice() {
            ["done" | "fi" | "}" | "esac" | "wait", ..] | [] => {}
            _ if sign == "|" && next => {
                let data = self.profile().operands
                    && !self.words.iter().any(|word| word.starts_with("of="));
                let what = if data { "the data" } else { "what it prints" };
                self.aside(shown, format!("gets {what}, and is not looked at"));
            }
            _ if sign == "|" => self.aside(shown, "is not looked at"),
            ["sync", ..] => {
                let flush = self.profile().flush.map(|flush| flush.after.trim().to_string());
                let inside = flush
                    .map_or_else(String::new, |flush| format!("; {flush} flushes inside of it"));
                self.aside(shown, format!("flushes after {tool} has stopped its clock: that time is not in {tool}'s figure{inside}"));
            }
            _ if is_understood(&other.words) => {
                let line: Vec<String> = command.words.iter().map(|word| quoted(word)).collect();
                let line = quoted(&line.join(" "));
                self.aside(shown, format!("measures something else: assay explain {line}"));
            }
            _ => self.aside(shown, format!("runs after {tool}, outside of its clock")),
        }
    }

    /// What redirections do: those of a dd that names no file are its files.
    fn redirected(&mut self, command: &ShellCommand) {
        let tool = self.tool();
        for (sign, place) in &command.redirected {
            let operand = match sign.as_str() {
                "<" | "0<" => "if=",
                ">" | "1>" | ">|" => "of=",
                _ => "",
            };
            let free = self.profile().operands && !operand.is_empty();
            let free = free && !self.words.iter().any(|word| word.starts_with(operand));
            let shown = format!("{sign}{}", quoted(place));
            if free {
                self.words.push(format!("{operand}{place}"));
                self.aside(shown, format!("read as {operand}{place}"));
            } else if sign.contains('<') {
                self.aside(shown, format!("what {tool} reads from standard input"));
            } else {
                self.aside(shown, format!("where what {tool} prints goes"));
            }
        }
    }

    // ------------------------------------------------------------------ what starts it

    /// Keeps the words of the command that others start.
    fn peel(&mut self, words: &[String]) -> Result<(), Refusal> {
        let mut rest = words;
        while let Some(first) = rest.first() {
            if self.assigned(first) {
                rest = &rest[1..];
                continue;
            }
            let name = program(first);
            if matches!(name, "busybox" | "toybox")
                && rest.get(1).is_some_and(|word| started_by(word).is_some())
            {
                rest = &rest[1..];
                continue;
            }
            if SHELLS.contains(&name) {
                if let Some(text) = text_of(rest) {
                    return self.take(text);
                }
                break;
            }
            if let Some(far) = ELSEWHERE.iter().find(|far| far.names.contains(&name)) {
                return self.sent(far, name, rest);
            }
            let Some(starter) = started_by(first) else { break };
            let taken = own_words(starter, rest, starter.operands);
            let shown: Vec<String> = rest[..taken].iter().map(|word| quoted(word)).collect();
            let another = user(starter, &rest[..taken]);
            match (name, another) {
                ("sudo" | "doas", Some(user)) => {
                    self.aside(shown.join(" "), format!("as the user {user}"))
                }
                ("sudo" | "doas", None) => self.root = true,
                _ => self.aside(shown.join(" "), starter.means),
            }
            rest = &rest[taken..];
        }
        // Like that of GNU, as far as it goes.
        if let [first, dd @ ..] = rest
            && first.ends_with("toybox")
            && !dd.is_empty()
        {
            self.aside(first, "its words are read as those of GNU");
            rest = dd;
        }
        self.words = rest.to_vec();
        Ok(())
    }

    /// A command that is sent elsewhere.
    fn sent(&mut self, far: &Starter, name: &str, words: &[String]) -> Result<(), Refusal> {
        let mut taken = own_words(far, words, 0);
        // Its own word for running something.
        if !far.means.is_empty() {
            match words.get(taken) {
                Some(verb) if far.means.split(' ').any(|known| known == verb) => {}
                _ => {
                    self.words = words.to_vec();
                    return Ok(());
                }
            }
            taken += own_words(far, &words[taken..], 0);
        }
        let operand = words.get(taken).filter(|_| far.operands > 0).cloned();
        taken = (taken + far.operands).min(words.len());
        // Its own options may stand behind it, too.
        if matches!(name, "kubectl" | "oc" | "lxc" | "incus")
            && let Some(end) = words.iter().position(|word| word == "--")
        {
            taken = end + 1;
        }
        let at = match (name, operand) {
            ("adb", _) => "another device".into(),
            ("chroot", Some(root)) => format!("below {root}"),
            ("ssh", Some(host)) => host,
            ("kubectl" | "oc", Some(pod)) => format!("pod {pod}"),
            (_, Some(container)) => format!("container {container}"),
            (_, None) => "other namespaces".into(),
        };
        let shown: Vec<String> = words[..taken].iter().map(|word| quoted(word)).collect();
        let place = if name == "chroot" { at.clone() } else { format!("on {at}") };
        let inside = at.starts_with("container ") || at.starts_with("pod ") || name == "nsenter";
        let place = if inside { format!("in {at}") } else { place };
        self.aside(shown.join(" "), format!("runs it {place}: what lies there cannot be looked at from here, and is taken for a disk"));
        self.elsewhere = Some(at);
        let inner = &words[taken..];
        // A shell there takes them apart once more.
        match name {
            "ssh" | "adb" => self.take(&inner.join(" ")),
            _ => self.peel(inner),
        }
    }

    /// Takes a variable that stands before the command.
    fn assigned(&mut self, word: &str) -> bool {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) else {
            return false;
        };
        if name.to_ascii_lowercase() == name {
            return false;
        }
        match name {
            "ASSAY_COLD" => self.environment.cold = Some(value.into()),
            "ASSAY_DIALECT" => self.environment.dialect = Some(value.into()),
            "ASSAY_OVERWRITE" => self.environment.overwrite = Some(value.into()),
            "ASSAY_SETTLE" | "ASSAY_RECORD" | "ASSAY_PLOT" | "ASSAY_STRICT" | "ASSAY_VERDICT" => {}
            "LC_ALL" | "LANG" => {}
            _ => self.aside(word, "a variable of its surroundings"),
        }
        true
    }
}

/// The name of a program, by the path to it.
fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// A command as it stands in its line.
fn shown(command: &ShellCommand) -> String {
    let plain =
        |word: &str| word.chars().all(|sign| sign.is_alphanumeric() || "{}.,-_/".contains(sign));
    let words =
        command.words.iter().map(|word| if plain(word) { word.clone() } else { quoted(word) });
    let to = command.redirected.iter().map(|(sign, place)| format!("{sign}{}", quoted(place)));
    words.chain(to).collect::<Vec<_>>().join(" ")
}

/// Who starts another command by that word.
fn started_by(word: &str) -> Option<&'static Starter> {
    STARTERS.iter().find(|starter| starter.names.contains(&program(word)))
}

/// How many words are its own: its name, its options with their values, so many operands.
fn own_words(starter: &Starter, words: &[String], operands: usize) -> usize {
    let mut taken = 1;
    let options = |taken: &mut usize| {
        while let Some(word) =
            words.get(*taken).filter(|word| word.len() > 1 && word.starts_with('-'))
        {
            *taken += 1;
            if word == "--" {
                break;
            }
            let valued = LONG_VALUED.contains(&word.as_str());
            let short = || {
                let at =
                    word[1..].char_indices().find(|(_, letter)| starter.valued.contains(*letter));
                at.is_some_and(|(at, letter)| at + letter.len_utf8() == word.len() - 1)
            };
            if valued || !word.starts_with("--") && short() {
                *taken += 1;
            }
        }
    };
    options(&mut taken);
    if operands > 0 {
        taken += operands;
        options(&mut taken);
    }
    taken.min(words.len())
}

/// The user, other than root, that `sudo` becomes.
fn user<'w>(starter: &Starter, words: &'w [String]) -> Option<&'w str> {
    let place = words.iter().position(|word| word == "-u" || word == "--user")?;
    let user = words.get(place + 1).filter(|_| starter.valued.contains('u'))?;
    (user != "root").then_some(user)
}

/// The text that a shell is given behind `-c`.
fn text_of(words: &[String]) -> Option<&str> {
    let place = words.iter().position(|word| word.starts_with('-') && word.ends_with('c'))?;
    words.get(place + 1).map(String::as_str)
}

/// The prompt before what was typed, and that.
fn prompt(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start();
    let signs = ["$", "#", "%", "❯", "➜", "+"];
    let mut places: Vec<(usize, usize)> = signs
        .iter()
        .flat_map(|sign| trimmed.match_indices(sign).map(|(at, sign)| (at, sign.len())))
        .collect();
    places.sort_unstable();
    places.into_iter().find_map(|(at, length)| {
        let (head, rest) = (trimmed[..at].trim_end(), &trimmed[at + length..]);
        let spaced = rest.starts_with(' ');
        let rest = rest.trim_start();
        let word = head.split_whitespace().last().unwrap_or_default();
        let shell = SHELLS
            .iter()
            .any(|shell| word.strip_prefix(shell).is_some_and(|rest| rest.starts_with('-')));
        let like = head.is_empty()
            || head.contains('@')
            || head.starts_with(['[', '(', '~', '/'])
            || shell;
        let command = rest.split_whitespace().any(is_tool);
        let plain =
            !head.contains(['=', '\'', '"', ';', '|']) && !head.split_whitespace().any(is_tool);
        let direct = rest.split_whitespace().next().is_some_and(is_tool);
        (like && plain && command && (spaced || direct)).then(|| (&trimmed[..at + length], rest))
    })
}

/// Whether a line begins with a tool, or what starts one.
fn is_typed(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    is_tool(first) || started_by(first).is_some() || SHELLS.contains(&first)
}

/// Whether a word is the name of a tool.
fn is_tool(word: &str) -> bool {
    let name = program(word.trim_start_matches(['"', '\'', '(']));
    matches!(name, "assay" | "toybox" | "busybox") || named(name).is_some()
}

/// Whether dd printed that line.
fn printed(line: &str) -> bool {
    let line = line.trim();
    let records = line.split_once(" records ").is_some_and(|(count, _)| {
        count
            .split('+')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    });
    records || line.contains(" copied, ") && line.ends_with("/s")
}
