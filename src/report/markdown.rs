//! A page for a pull request or an issue, in the Markdown of GitHub: what was typed, where, the table, and
//! whether it may be believed.

use std::io::{self, Write};

use super::closing::ends_in_imprint;
use super::fact::PageFact;
use super::report_format::ReportFormat;
use super::study::printer;
use super::table::{ReportTable, TableAlign, TableCell, TableRow};
use super::{TerminalStyle, badge, closing};
use assay_plan::name;
use assay_record::record::Record;

pub const FORMAT: ReportFormat = ReportFormat {
    name: "markdown",
    ending: "md",
    about: "a table with its verdict, for a pull request",
    made: |head, tail| {
        let title = head.strip_prefix("### `").map(|title| title.trim_start_matches(['`', ' ']));
        title.is_some_and(|title| title.starts_with("assay "))
            && ["</sub>", "```"].into_iter().any(|end| ends_in_imprint(tail, end))
    },
    write,
};

fn write(record: &Record, style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let style = TerminalStyle { colour: false, unicode: true, ..style };
    let mut lines = vec![format!("### {}", code(&badge::title(record))), String::new()];
    let study = printer(&record.plan);
    if study.has_page() {
        // Where, what came of it, and what to do now: all of that is in it.
        lines.extend(verdict(record));
        lines.push(String::new());
        lines.extend(fenced(&badge::terminal(record)));
        return put(&lines, out);
    }
    lines.extend(listed(&badge::heading(record)));
    lines.push(String::new());
    if !record.phases.is_empty() {
        lines.extend(table(&study.table(record), style));
        lines.push(String::new());
    }
    lines.extend(verdict(record));
    let facts = badge::outcome(record);
    if !facts.is_empty() {
        lines.push(String::new());
        lines.extend(listed(&facts));
    }
    lines.extend(nexts(record));
    lines.push(String::new());
    lines.push(format!("<sub>{}</sub>", plain(&badge::imprint(record))));
    put(&lines, out)
}

fn put(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A table; figures that are refuted are crossed out.
fn table(table: &ReportTable, style: TerminalStyle) -> Vec<String> {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let side = |align| match align {
        TableAlign::Left => ":--".to_string(),
        TableAlign::Right => "--:".to_string(),
    };
    let mut lines = vec![
        row(table.titles().map(|(title, _)| title.to_string()).collect()),
        row(table.titles().map(|(_, align)| side(align)).collect()),
    ];
    for line in &table.rows {
        let cells = match line {
            TableRow::Remark(name, text) => {
                let empty = std::iter::repeat_n(String::new(), table.titles().count() - 2);
                [plain(name), plain(text)].into_iter().chain(empty).collect()
            }
            TableRow::Cells(cells) => {
                let refuted = line.is_refuted();
                let told = |cell: &TableCell| match plain(&cell.shown(style)) {
                    text if refuted && cell.is_measured() => format!("~~{text}~~"),
                    text => text,
                };
                table.shown(cells).map(|(_, cell)| told(cell)).collect()
            }
        };
        lines.push(row(cells));
    }
    lines
}

/// May it be believed, why, and the figure that does describe the device.
fn verdict(record: &Record) -> Vec<String> {
    let mut lines = match badge::badge(record) {
        Some(badge) if badge.summary.is_empty() => vec![format!("**{}**", plain(&badge.words))],
        Some(badge) => vec![format!("**{}**: {}", plain(&badge.words), plain(&badge.summary))],
        None => vec!["No verdict: the record was cut off before it was judged.".to_string()],
    };
    for line in closing::ending(record, "above") {
        lines.extend([String::new(), format!("Ended: {}.", plain(&line))]);
    }
    let because = badge::whole(record).map(badge::because).unwrap_or_default();
    if !because.is_empty() {
        lines.push(String::new());
        lines.extend(listed(&because));
    }
    lines
}

fn nexts(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    for next in closing::nexts(record) {
        lines.push(String::new());
        lines.extend(["Next:".to_string(), String::new()]);
        lines.extend(fenced(&next.command));
    }
    lines
}

/// Facts as a list; what has no label of its own stands beneath the one that has, and where something
/// was read stands behind it.
fn listed(facts: &[PageFact]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for PageFact { label, text, aside } in facts {
        let text = plain(text);
        match lines.last_mut() {
            Some(last) if *aside && text.starts_with('(') => last.push_str(&format!(" {text}")),
            _ if label.is_empty() => lines.push(format!("  * {text}")),
            _ => lines.push(format!("* {label}: {text}")),
        }
    }
    lines
}

/// Lines that stay as they are, between fences that are longer than any in them.
fn fenced(text: &str) -> Vec<String> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let seen = |c: char| if name::is_hidden(c) { '\u{fffd}' } else { c };
    let lines = text.lines().map(|line| line.chars().map(seen).collect());
    std::iter::once(fence.clone()).chain(lines).chain([fence]).collect()
}

/// A text in one line as code, whatever stands in it.
fn code(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if name::is_hidden(c) { ' ' } else { c }).collect();
    // The fence is longer than any run of its character inside.
    let longest = one_line.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let room = if one_line.starts_with('`') || one_line.ends_with('`') { " " } else { "" };
    format!("{fence}{room}{one_line}{room}{fence}")
}

/// A text in one line in which nothing is markup.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        // GitHub makes links of addresses, and tells people who are named.
        if let Some((word, told)) = LINKED.iter().find(|(word, _)| starts_with(rest, word)) {
            plain.push_str(&rest[..word.len() - 1]);
            plain.push_str(told);
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match character {
            '\\' | '`' | '*' | '_' | '~' | '|' | '[' | ']' | '#' => plain.extend(['\\', character]),
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '\n' | '\t' => plain.push(' '),
            other if name::is_hidden(other) => plain.push('\u{fffd}'),
            other => plain.push(other),
        }
    }
    plain
}

/// What GitHub makes a link of without any mark, and how its last character is written so that it does not.
const LINKED: [(&str, &str); 7] = [
    ("http:", "&#58;"),
    ("https:", "&#58;"),
    ("ftp:", "&#58;"),
    ("mailto:", "&#58;"),
    ("xmpp:", "&#58;"),
    ("www.", "&#46;"),
    ("@", "&#64;"),
];

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(plain("a|b *c* <d>\n`e`\u{1b}"), r"a\|b \*c\* &lt;d&gt; \`e\`�");
        assert_eq!(
            plain("![x](https://x.y) @you WWW.x"),
            r"!\[x\](https&#58;//x.y) &#64;you WWW&#46;x"
        );
        assert_eq!(fenced("a ``` b"), ["````", "a ``` b", "````"]);
        assert_eq!(code("assay dd of=*x*"), "`assay dd of=*x*`");
        assert_eq!(code("a `b` ``"), "``` a `b` `` ```");
    }
}
