//! Reports with pictures: SVG, HTML and CSV of records made by hand, compared whole with files.

use crate::common;
use crate::common::pages::{UNICODE, golden_file, printed};
use crate::common::sweeps::{grid, swept};
use assay_record::record::Record;

/// A record that is made when it is wanted.
type Named = (&'static str, fn() -> Record);

/// Records that show something of their own, by their names.
const RECORDS: [Named; 13] = [
    ("card", common::card),
    ("deferred", common::deferred),
    ("memory", common::memory),
    ("interrupted", common::interrupted),
    ("failed", common::failed),
    ("ramp", common::climbed),
    ("sustain", common::sustained),
    ("classes", common::classes::graded),
    ("capacity", common::classes::wrapped),
    ("modes", || common::modes::record(common::modes::usual)),
    ("sweep", swept),
    ("grid", grid),
    ("surface", common::grids::surface),
];

/// The record of that name in a format.
fn shown(name: &str, format: &str) -> String {
    let (_, record) = RECORDS.iter().find(|(known, _)| *known == name).expect("a record");
    printed(&record(), format, UNICODE)
}

#[test]
fn reports_are_as_they_were() {
    for (name, formats) in [
        ("sweep", &["svg", "html", "csv", "md"][..]),
        ("grid", &["svg", "csv"]),
        ("surface", &["svg", "csv", "text"]),
        ("ramp", &["svg", "md"]),
        ("sustain", &["svg"]),
        ("deferred", &["svg", "html", "csv", "md"]),
        ("card", &["csv", "md"]),
        ("interrupted", &["html", "md"]),
        ("modes", &["md"]),
    ] {
        for format in formats {
            let named = if *format == "md" { "markdown" } else { format };
            let ending = if *format == "text" { "txt" } else { format };
            golden_file("report", &format!("{name}.{ending}"), &shown(name, named));
        }
    }
}

/// What is wrong with a text as XML; the elements of HTML are written so that they are that, too.
fn parsed(text: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(text, options)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Everything that is to be read in it.
fn words(text: &str) -> String {
    let document = parsed(text);
    let texts = document.descendants().filter(|node| node.is_text()).filter_map(|node| node.text());
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn reports_are_well_formed_and_fetch_nothing() {
    for (name, record) in RECORDS {
        let record = record();
        for format in ["svg", "html"] {
            let text = printed(&record, format, UNICODE);
            parsed(&text);
            let alone = text.replace("http://www.w3.org/2000/svg", "");
            for word in ["http", "url(", "<script", "src=", "href=", "@import", "NaN", "inf\""] {
                assert!(!alone.contains(word), "{name}.{format} has {word}");
            }
        }
    }
}

#[test]
fn nothing_of_a_path_is_markup() {
    const PATH: &str = "/mnt/\"><script>alert('x')</script>&amp;\u{1b}]0;\u{7}";
    let mut record = common::card();
    record.plan.origin.words = vec![PATH.into()];
    record.resolved.subjects[0].path = PATH.into();
    let phase = &mut record.phases[0];
    phase.name = PATH.into();
    record.plan.phases[0].name = PATH.into();
    for format in ["svg", "html"] {
        let text = printed(&record, format, UNICODE);
        let document = parsed(&text);
        assert!(document.descendants().all(|node| node.tag_name().name() != "script"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
        assert!(words(&text).contains("\"><script>alert('x')</script>&amp;"), "{text}");
    }
    let markdown = printed(&record, "markdown", UNICODE);
    assert!(!markdown.contains(['\u{1b}', '\u{7}']) && markdown.contains("&lt;script&gt;"));
    // Between fences nothing is markup, and commands stay as they are to be typed.
    let told = markdown.split("```").step_by(2).collect::<String>();
    // The heading is code, too.
    let (heading, told) = told.split_once('\n').expect("a heading");
    assert!(heading.starts_with("### `assay quick ") && heading.ends_with('`'), "{heading}");
    assert!(!told.replace("<sub>", "").replace("</sub>", "").contains('<'), "{markdown}");
    let csv = printed(&record, "csv", UNICODE);
    let field = format!("\"{}\",write,", PATH.replace('"', "\"\""));
    assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with(&field)), "{csv}");
}

#[test]
fn reports_say_what_the_page_says() {
    for (name, record) in RECORDS {
        let record = record();
        let html = words(&printed(&record, "html", UNICODE));
        // Lines are broken otherwise, and the bars are pictures there.
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let html = joined(&html);
        let verdict = record.verdict.as_ref().expect("judged");
        let same = assay::report::trust(&record) == Some(verdict.trust);
        assert!(!same || html.contains(&joined(&verdict.summary())), "{name}\n{html}");
        for phase in &record.phases {
            for total in phase.totals.values().filter(|total| total.bytes.0 > 0) {
                let iops = total.iops.expect("a rate").to_string();
                assert!(html.contains(&format!(" {iops} ")), "{name}: {iops}\n{html}");
            }
        }
        // Letter by letter it is there, too.
        let page = joined(&printed(&record, "text", UNICODE));
        assert!(html.contains(&page), "{name}\n{page}\n{html}");
    }
}

#[test]
fn a_refuted_figure_does_not_look_like_a_good_one() {
    let svg = shown("sweep", "svg");
    let document = parsed(&svg);
    let told = |class: &str| -> Vec<String> {
        let marks = document.descendants().filter(|node| node.attribute("class") == Some(class));
        marks.filter_map(|mark| Some(mark.first_element_child()?.text()?.to_string())).collect()
    };
    assert_eq!(told("read struck"), ["read at 8 KiB: 2310 MB/s, wrong · memory"]);
    assert_eq!(told("write hollow"), ["write at 256 KiB: 24.0 MB/s, doubtful · unsteady"]);
    assert_eq!((told("write firm").len(), told("read firm").len()), (8, 8));
    // It does not set the scale, is no best, and is crossed out in the table.
    let read = words(&svg);
    assert!(read.contains("↑ 2310") && read.contains("88.1 MB/s at 1 MiB"), "{read}");
    assert_eq!(shown("sweep", "html").matches("<tr class=\"refuted\">").count(), 1);
    let grid = shown("grid", "svg");
    let cell =
        parsed(&grid).descendants().filter(|node| node.attribute("class") == Some("void")).count();
    assert_eq!((cell, words(&grid).contains("1040 ✗")), (1, true));
}

#[test]
fn a_record_that_was_cut_off_is_shown_as_far_as_it_got() {
    let mut record = swept();
    record.phases.as_mut_vec().truncate(3);
    (record.verdict, record.outcome) = (None, None);
    record.ending = assay_record::record::Ending::Unfinished;
    let html = words(&printed(&record, "html", UNICODE));
    assert!(html.contains("No verdict: the record was cut off before it was judged."), "{html}");
    let most = record.plan.at_most().count();
    let killed =
        format!("Ended: killed after 3 phases of {most} at most; results so far are below");
    assert!(html.contains(&killed), "{html}");
    parsed(&printed(&record, "svg", UNICODE));
    record.phases.as_mut_vec().clear();
    for format in ["svg", "html"] {
        parsed(&printed(&record, format, UNICODE));
    }
    // Cells that were not done have no figures.
    assert_eq!(printed(&record, "csv", UNICODE).lines().count(), 25);
}
