//! `assay sustain`: the burst, the rate that lasts, and what it may cost, said before it starts.

use std::time::Duration;

use assay_plan::stats::mean;
use assay_record::record::StudyResult;

use crate::kernel::{hear_own, told};
use crate::lab::{self, Card, MI, Shape, Speed};

/// The value of one labelled line of the page.
fn labelled<'a>(page: &'a str, label: &str) -> &'a str {
    let start = format!("  {label:9}");
    let line = page.lines().find_map(|line| line.strip_prefix(start.as_str()));
    line.unwrap_or_else(|| panic!("no line '{label}'\n{page}"))
}

/// A card that takes 32 MiB/s for 96 MiB, and then 4 MiB/s.
#[test]
fn a_burst_is_told_from_what_lasts() {
    let _beside = lab::beside();
    let speed = Speed::bytes(0, 32 * MI);
    let card = lab::need!(Card::new(Shape { speed, ..Shape::fast() }));
    for left in (0..3).rev() {
        card.set_speed(speed);
        let bursts = card.bursts(96 * MI, 4 * MI, Duration::from_secs(1000));
        let heard = hear_own(
            lab::assay(["sustain", "--time", "30", "--size", "64M"])
                .word(card.mount())
                .within(card.rooms()),
        );
        drop(bursts);
        let page = &heard.ran.stdout;
        told("sustain", page);
        let state = heard.phase().steady.first().and_then(|found| found.state.clone());
        let rate = state.and_then(|state| mean(&state.rounds)).unwrap_or(0.0) / (4 * MI) as f64;
        if left > 0 && (heard.disturbed() || !(0.95..1.05).contains(&rate)) {
            continue;
        }
        assert!((0.95..1.05).contains(&rate), "{rate}\n{heard}");
        assert!(page.contains(BUDGET), "{heard}");
        // The limit of the start is none that held the rate of the whole.
        let held = |claim: &str| claim.contains("holds the rate below");
        assert!(!heard.verdict().findings.iter().any(|f| held(&f.text())), "{heard}");
        let burst = labelled(page, "burst");
        let size: f64 = burst.split(' ').next().and_then(|n| n.parse().ok()).expect("a size");
        assert!((90.0..112.0).contains(&size) && burst.contains(" MiB at "), "{heard}");
        assert!(labelled(page, "lasts").contains("MB/s: steady after "), "{heard}");
        assert!(page.contains("  rate "), "{heard}");
        let Some(StudyResult::Sustain(found)) = &heard.record.outcome else {
            panic!("none\n{heard}")
        };
        let lasts = found.rate.0 / (4 * MI) as f64;
        assert!(found.burst.is_some() && (0.95..1.05).contains(&lasts), "{found:?}\n{heard}");
        break;
    }
}

const BUDGET: &str = "
  budget   overwrites the same 64 MiB, until 5 rounds of 1 s are steady, 30 s at most,
           64 GiB at most
";

#[test]
fn a_budget_of_bytes_ends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["sustain", "--bytes", "8M", "--size", "4M", "--time", "60"];
    let heard = hear_own(lab::assay(words).word(folder.path()));
    let written = heard.phase().flows.iter().map(|flow| flow.bytes.0).sum::<u64>();
    assert_eq!(written, 8 * MI, "{heard}");
    let page = &heard.ran.stdout;
    assert!(labelled(page, "budget").starts_with("overwrites the same 4 MiB"), "{heard}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn a_plan_says_what_it_would_cost() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = lab::assay(["sustain", "--plan", "--size", "4M", "--bytes", "1G"])
        .word(folder.path())
        .run()
        .expect(0);
    assert_eq!(
        ran.stderr.lines().next(),
        Some("assay: would write 1 GiB (1073741824 bytes) at most, and take at most about 301 s")
    );
}
