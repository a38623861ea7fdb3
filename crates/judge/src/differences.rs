//! What two documents differ in, by the words of the documents themselves.

use serde::Serialize;
use serde_json::Value;

use super::finding;
use assay_record::claim::{
    CompareClaim, ComparedThing, DifferingAt, DifferingState, DifferingValue, ExhibitOf,
    ExhibitSource, ExhibitValue, Series,
};
use assay_record::record::{Exhibit, Finding, FindingWeight, NextStep, TrapId, json_line};

/// A difference, if it is one.
pub(super) fn told<T: Into<DifferingState>>(
    at: DifferingAt,
    first: T,
    second: T,
) -> Option<DifferingValue> {
    let (first, second) = (first.into(), second.into());
    (first != second).then_some(DifferingValue { at, first, second })
}

/// A finding about differences, if there are any. Each is a reading, of what and where is in `places`; the first `most`
/// are told in the sentence.
pub(super) fn finding_of(
    (trap, weight, what): (TrapId, FindingWeight, ComparedThing),
    mut all: Vec<DifferingValue>,
    places: Vec<(ExhibitOf, ExhibitSource)>,
    most: usize,
    next: Option<NextStep>,
) -> Option<Finding> {
    let exhibit = |(found, (of, source)): (&DifferingValue, (ExhibitOf, ExhibitSource))| {
        let (first, second) = (found.first.clone(), found.second.clone());
        Exhibit::new(of, ExhibitValue::Both { first, second }, source)
    };
    let because: Vec<Exhibit> = all.iter().zip(places).map(exhibit).collect();
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    let claim = CompareClaim::Differ { what, differences: Series(all), more };
    (!because.is_empty()).then(|| finding(trap, weight, None, claim, because, next))
}

/// All differences of two values, but for the fields called one of these, wherever they stand.
pub(super) fn differences<T: Serialize>(
    first: &T,
    second: &T,
    but: &[&str],
) -> Vec<DifferingValue> {
    let text = |of: &T| json_line(of).unwrap_or_default();
    let value = |of: &T| serde_json::from_str(&text(of)).unwrap_or_default();
    let mut found = Vec::new();
    walk(&value(first), &value(second), "", but, &mut found);
    found
}

fn walk(first: &Value, second: &Value, at: &str, but: &[&str], found: &mut Vec<DifferingValue>) {
    match (first, second) {
        (first, second) if first == second => {}
        (Value::Object(one), Value::Object(other))
            if one.len() == 1 && other.len() == 1 && one.keys().ne(other.keys()) =>
        {
            // Two variants of the same choice.
            found.push(differing(at, first, second));
        }
        (Value::Object(one), Value::Object(other)) => {
            let more = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(more).filter(|key| !but.contains(&key.as_str())) {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(key).cloned().unwrap_or(Value::Null)
                };
                walk(&of(one), &of(other), &below(at, key), but, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let several = one.len() > 1;
            for (number, (first, second)) in one.iter().zip(other).enumerate() {
                let place = if several { below(at, &(number + 1).to_string()) } else { at.into() };
                walk(first, second, &place, but, found);
            }
        }
        _ => found.push(differing(at, first, second)),
    }
}

fn differing(at: &str, first: &Value, second: &Value) -> DifferingValue {
    let (first, second) = (words(first).into(), words(second).into());
    DifferingValue { at: DifferingAt::Field(at.into()), first, second }
}

fn below(at: &str, key: &str) -> String {
    if at.is_empty() { key.into() } else { [at, ".", key].concat() }
}

/// A value in as few words as it has.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_record::words::say;
    use serde_json::json;

    #[test]
    fn differences_are_named_by_their_way() {
        let one = json!({ "a": { "depth": 1, "path": "/x" }, "list": [{ "b": 2 }], "only": true });
        let other = json!({ "a": { "depth": 4, "path": "/y" }, "list": [{ "b": 3 }] });
        let found = differences(&one, &other, &["path"]);
        let told: Vec<_> = found.iter().map(say).collect();
        assert_eq!(told, ["a.depth 1 and 4", "list.b 2 and 3", "only true and -"]);
        assert_eq!(differences(&one, &one, &[]), []);
    }

    #[test]
    fn choices_are_told_whole() {
        let found =
            differences(&json!({ "rate": { "open": 3 } }), &json!({ "rate": "closed" }), &[]);
        assert_eq!(say(&found[0].first), r#"{"open":3}"#);
        let found = differences(&json!({ "file": { "size": 1 } }), &json!({ "device": {} }), &[]);
        assert_eq!(found.len(), 1);
    }
}
