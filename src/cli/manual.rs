//! The long help and the man page: what clap knows of the verbs, and what else there is to know.

use std::io::{self, Write};

/// What the man page begins with.
const DESCRIPTION: &str = "\
assay measures storage, and says of each figure whether it can be trusted: what the program \
moved is compared with what the kernel's counters of the lowest device saw, while the clock ran \
and after it. A verdict has two words. Trust: sound, doubtful, unproven (the evidence that would \
be needed could not be seen) or wrong. And what the figure is about: device, limited, tool, \
unsteady, disturbed, mixed, deferred, layer, memory, not a disk, unsure or invalid.";

/// What else a user can count on.
struct ManualSection {
    heading: &'static str,
    /// A sentence about the whole; may be empty.
    about: &'static str,
    /// Words, and what they mean.
    entries: &'static [(&'static str, &'static str)],
}

/// What the long help and the man page end with.
const CHAPTERS: &[ManualSection] = &[
    ManualSection {
        heading: "Exit status",
        about: "Of assay's own verbs. A dialect (another tool's words: dd, fio, iozone, bonnie) ends with the status of its tool, except for words that it refuses (2; through a link the tool's own).",
        entries: &[
            ("0", "the number is sound, or what was asked for has been printed"),
            ("1", "something failed: a device, a file system, the output"),
            ("2", "the words are wrong, or it cannot be done here; nothing was touched"),
            (
                "3",
                "it ran, and the number is not sound: doubtful, unproven or wrong; two records are unlike",
            ),
            (
                "128+N",
                "signal N ended it, 130 after Ctrl-C; what was measured so far is kept. Ctrl-C is how 'watch' ends: 0",
            ),
        ],
    },
    ManualSection {
        heading: "Environment",
        about: "Down to ASSAY_OVERWRITE they are for dialects, whose words have no place for options of assay; each begins with those that know it.",
        entries: &[
            (
                "ASSAY_RECORD=PLACE",
                "all: keep the record in this file, or in a new file in this folder, as --record does",
            ),
            (
                "ASSAY_PLOT=FILE|-",
                "all: write a page or picture with charts (.html, .svg) or another report into a file, as --report does; draw a grid in characters on standard error",
            ),
            (
                "ASSAY_VERDICT=FILE|-|off",
                "all, and 'atto' and 'on': put the verdict into a file, a line for each result behind what it holds; say it on standard error, or nowhere. Without it a dialect that is called by the tool's own name is silent where standard error is no terminal, unless it fails",
            ),
            (
                "ASSAY_COLD=target|machine|no",
                "dd, iozone, fio: drop the cached pages of what is read first, or all that the machine has (root only)",
            ),
            (
                "ASSAY_SETTLE=yes|no|T",
                "dd, fio: whether to watch what is still in memory go to the disk afterwards: for that time at most, yes is 20 seconds. Where nothing is said 20 on a terminal, 2 elsewhere, none with dd's status=none",
            ),
            (
                "ASSAY_DIALECT=gnu|busybox|fio-3.N",
                "dd: whose dd is spoken (gnu); fio: whose headers 'verify' writes (before fio-3.41 they were others)",
            ),
            (
                "ASSAY_STRICT=1",
                "fio: refuse words of which fio makes something else than is meant, and say what to type",
            ),
            (
                "ASSAY_OVERWRITE=/dev/NAME",
                "fio: with --allow_mounted_write=1 that device may be written to, whatever it holds",
            ),
            (
                "ASSAY_BINARIES=DIR",
                "where 'on' finds the program for other processors: assay-aarch64-linux and its like",
            ),
            ("NO_COLOR", "no colours, when it is set to something"),
            ("COLUMNS", "width of the page"),
            ("LC_ALL, LC_CTYPE, LANG", "without UTF-8 the page is plain ASCII"),
        ],
    },
    ManualSection {
        heading: "Files",
        about: "",
        entries: &[
            (
                ".assay-RUN.tmp",
                "the test file, where the file system knows no files without names; the next run in that folder removes what a killed one left",
            ),
            ("assay-RUN.dat", "the test file that --keep leaves"),
        ],
    },
    ManualSection {
        heading: "Examples",
        about: "",
        entries: &[
            ("assay quick .", "measure the device below this folder"),
            ("assay quick /dev/sdb", "a device, which is only read"),
            (
                "assay io . --rw randrw --read 70 --bs 8k --iodepth 16 --workers 4 --p99 2ms",
                "one load, and whether its p99 held",
            ),
            ("assay ramp --p99 5ms .", "the knee, and the highest rate with a p99 of 5 ms"),
            ("assay ramp --action write --block 16k .", "the same for writes of 16 KiB"),
            (
                "assay sustain --time 30m --bytes 200G .",
                "the write speed that lasts after the burst",
            ),
            ("assay modes .", "what fsync, O_DSYNC, O_DIRECT and mmap cost there, and why"),
            ("assay demo flush .", "what a write without a flush leaves in memory, shown there"),
            (
                "assay on pi@board quick --record r.json /mnt/sd",
                "a card in a board, from the desk; the record comes home",
            ),
            ("assay probe /mnt/sd", "what lies under it, and what can skew results there"),
            ("assay watch /mnt/sd", "what its disk does now, and who makes it"),
            (
                "assay watch --json --time 1m . | jq .devices[0].figures.seen.write.bandwidth",
                "the rate second by second, for scripts",
            ),
            (
                "assay explain 'dd if=/dev/zero of=x bs=20M count=1'",
                "what that line measures, what it does not, and what to type instead",
            ),
            ("assay quick --json . | jq .verdict", "for scripts"),
            ("assay quick --record r.json . ; assay judge r.json", "keep it, judge it again later"),
            (
                "assay sweep . --report s.html --report s.csv",
                "a page with charts for a browser, and a table",
            ),
            (
                "assay compare a.json b.json",
                "two runs side by side, and what makes the comparison invalid",
            ),
            ("assay quick --plan . > p.json ; assay run p.json", "change the plan between the two"),
            ("assay dd if=/dev/zero of=x bs=1M count=100 conv=fsync", "a copy, with a verdict"),
            (
                "assay bonnie -d /mnt/sd -u root -r 0 -s 64 -n 1",
                "its twelve tests, each with a verdict",
            ),
            (
                "ASSAY_COLD=target assay dd if=x of=/dev/null bs=1M",
                "the file as its disk gives it, not as memory does",
            ),
        ],
    },
];

/// What follows the long help.
pub(super) fn epilogue() -> String {
    let mut text = String::new();
    for ManualSection { heading, about, entries } in CHAPTERS {
        text += &format!("{heading}:\n");
        if !about.is_empty() {
            text += &format!("  {about}\n");
        }
        for (word, meaning) in *entries {
            text += &format!("  {word}\n          {meaning}\n");
        }
        text.push('\n');
    }
    text + "Start with: assay quick ."
}

/// One page for the program and all of its verbs.
pub(super) fn write(mut command: clap::Command, out: &mut dyn Write) -> io::Result<()> {
    command.build();
    let whole = clap_mangen::Man::new(command.clone());
    whole.render_title(out)?;
    whole.render_name_section(out)?;
    let verbs = || {
        command.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set())
    };
    writeln!(out, ".SH SYNOPSIS")?;
    for verb in verbs() {
        let usage = verb.clone().render_usage().to_string();
        writeln!(out, "{}\n.br", roff(usage.trim_start_matches("Usage: ")))?;
    }
    writeln!(out, ".SH DESCRIPTION\n{}", roff(DESCRIPTION))?;
    for verb in verbs() {
        let page = clap_mangen::Man::new(verb.clone());
        let mut sections = Vec::new();
        page.render_description_section(&mut sections)?;
        page.render_options_section(&mut sections)?;
        // A section for the verb, with the usual ones below it.
        let text = String::from_utf8_lossy(&sections).replace(".SH ", ".SS ");
        let name = verb.get_name().to_uppercase();
        write!(out, ".SH \"ASSAY {name}\"\n{text}{}", afterwards(verb))?;
    }
    for ManualSection { heading, about, entries } in CHAPTERS {
        writeln!(out, ".SH \"{}\"", heading.to_uppercase())?;
        if !about.is_empty() {
            writeln!(out, "{}", roff(about))?;
        }
        for (word, meaning) in *entries {
            writeln!(out, ".TP\n\\fB{}\\fR\n{}", roff(word), roff(meaning))?;
        }
    }
    Ok(())
}

/// What follows the help of a verb, with its lines as they are: columns, examples.
fn afterwards(verb: &clap::Command) -> String {
    let Some(text) = verb.get_after_long_help().or(verb.get_after_help()) else {
        return String::new();
    };
    let lines: String = text.to_string().lines().map(|line| roff(line) + "\n").collect();
    format!(".PP\n.nf\n{lines}.fi\n")
}

/// Text as the man page's language wants it: no word may look like one of its commands.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
