//! The balances of a phase as stacked bars: each term as wide as its share.

use super::super::markup::Markup;
use assay_plan::unit::{Bytes, Share};
use assay_record::record::{ByteBalance, HeldSpan, PhaseLedger, TimeBalance, TimeHolder};

/// Narrower parts than this are not drawn.
const LEAST: f64 = 0.002;

pub fn bars(ledger: &PhaseLedger, out: &mut Markup) {
    for balance in &ledger.bytes {
        bar("bytes", &of_bytes(balance), out);
    }
    if let Some(balance) = &ledger.time {
        bar("time", &of_time(balance), out);
    }
    over_time(&ledger.held, out);
}

/// What held the run when, as wide as it lasted.
fn over_time(spans: &[HeldSpan], out: &mut Markup) {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return };
    let whole = last.to.less(first.from).0.max(1) as f64;
    let told = |span: &HeldSpan| span.held_by.map_or("unexplained", TimeHolder::name);
    let label = format!("what held the run over its time, in {} stretches", spans.len());
    out.open("div", &[("class", &"bar"), ("role", &"img"), ("aria-label", &label)]);
    for span in spans {
        let width = format!("width:{:.2}%", span.to.less(span.from).0 as f64 / whole * 100.0);
        let hint = format!("{} to {}: {}", span.from, span.to, told(span));
        let colour = span.held_by.map_or("b-none", colour);
        out.open("span", &[("class", &colour), ("style", &width), ("title", &hint)]);
        out.close("span");
    }
    out.close("div");
}

/// A part of a bar: its share, its words, its colour.
type BarPart = (f64, &'static str, &'static str);

fn bar(what: &str, parts: &[BarPart], out: &mut Markup) {
    let parts = || parts.iter().filter(|(share, ..)| *share >= LEAST);
    let told: Vec<String> =
        parts().map(|(share, words, _)| format!("{} {words}", Share(*share))).collect();
    let told = format!("{what}: {}", told.join(", "));
    out.open("div", &[("class", &"bar"), ("role", &"img"), ("aria-label", &told)]);
    for (share, words, colour) in parts() {
        let width = format!("width:{:.2}%", share * 100.0);
        let hint = format!("{} {words}", Share(*share));
        out.open("span", &[("class", colour), ("style", &width), ("title", &hint)]);
        out.close("span");
    }
    out.close("div");
}

fn of_time(balance: &TimeBalance) -> Vec<BarPart> {
    let part = |term: &assay_record::record::TimeTerm| {
        (term.share, term.held_by.name(), colour(term.held_by))
    };
    let unexplained = (balance.unexplained, "unexplained", "b-none");
    balance.terms.iter().map(part).chain([unexplained]).collect()
}

/// Devices, limits and processors have a colour each; so has what came between.
fn colour(holder: TimeHolder) -> &'static str {
    match holder {
        TimeHolder::Device => "b-device",
        TimeHolder::WakeUp | TimeHolder::Memory => "b-path",
        TimeHolder::Limit | TimeHolder::Pause => "b-limit",
        TimeHolder::Cpu => "b-cpu",
        TimeHolder::CpuWait | TimeHolder::OthersAtDevice | TimeHolder::Stopped => "b-others",
        TimeHolder::OtherEnd | TimeHolder::Server => "b-peer",
    }
}

fn of_bytes(balance: &ByteBalance) -> Vec<BarPart> {
    let all = balance.moved.max(balance.at_device);
    let all = all + balance.in_memory.min(balance.moved.less(balance.ours));
    let share = |bytes: Bytes| bytes.0 as f64 / all.0.max(1) as f64;
    vec![
        (share(balance.ours), "at the device", "b-device"),
        (share(balance.in_memory), "in memory", "b-cpu"),
        (share(balance.less), "needed no device", "b-limit"),
        (share(balance.file_system + balance.read_ahead), "added", "b-path"),
        (share(balance.others), "of others", "b-others"),
        (share(balance.unexplained), "unexplained", "b-none"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Nanos;

    #[test]
    fn each_stretch_is_as_wide_as_it_lasted_and_says_what_held_it() {
        let span = |from, to, held_by| HeldSpan {
            from: Nanos::millis(from),
            to: Nanos::millis(to),
            held_by,
        };
        let mut out = Markup::default();
        let spans = [
            span(0, 1000, Some(TimeHolder::Device)),
            span(1000, 3000, Some(TimeHolder::Stopped)),
            span(3000, 4000, None),
        ];
        over_time(&spans, &mut out);
        let text = out.into_text();
        for part in [
            r#"class="b-device" style="width:25.00%" title="0 ns to 1.00 s: device""#,
            r#"class="b-others" style="width:50.00%" title="1.00 s to 3.00 s: stopped""#,
            r#"class="b-none" style="width:25.00%" title="3.00 s to 4.00 s: unexplained""#,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let mut out = Markup::default();
        over_time(&[], &mut out);
        assert_eq!(out.into_text(), "");
    }
}
