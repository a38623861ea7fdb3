//! What was meant by a word that dd does not take.

use super::super::near::distance;
use super::super::option::{OptionValue, ToolOption};
use super::{DdFlavor, busybox, gnu, parse};

/// The one word that has to be typed otherwise, where dd then takes them all.
pub fn meant(words: &[String], flavor: DdFlavor) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| {
        let others = match flavor {
            DdFlavor::Gnu => others(word, gnu::OPERANDS),
            DdFlavor::Busybox => others(word, busybox::OPERANDS),
        };
        others.into_iter().find(|other| {
            let mut words = words.to_vec();
            words[at].clone_from(other);
            other != word && parse(&words, flavor).is_ok()
        })
    })
}

/// What may have been meant by a word, the likeliest first: another operand, letters of a unit in their cases, or
/// another one of the words of an operand.
fn others<A, E>(word: &str, known: &[ToolOption<A, E>]) -> Vec<String> {
    let Some((name, value)) = word.split_once('=') else { return Vec::new() };
    let Some(operand) = known.iter().find(|operand| operand.is(name)) else {
        let names = known.iter().flat_map(|operand| operand.names.iter().copied());
        let near = nearest(&name.to_lowercase(), names);
        return near.map(|name| format!("{name}={value}")).into_iter().collect();
    };
    let values = match operand.value {
        OptionValue::Words(list) => {
            let all = || list.iter().map(|word| word.name);
            let meant =
                |typed: &str| nearest(&typed.to_lowercase(), all()).unwrap_or("").to_string();
            vec![value.split(',').map(meant).collect::<Vec<_>>().join(",")]
        }
        _ if name == "status" => {
            let levels = ["none", "noxfer", "progress"].into_iter();
            nearest(&value.to_lowercase(), levels).map(String::from).into_iter().collect()
        }
        // Products, as they are typed.
        _ if name != "if" && name != "of" => {
            let unit = value.to_uppercase().replace('X', "x");
            let iec = unit.replace("IB", "iB");
            vec![iec, unit.replace("IB", ""), unit.replace("IB", "").replace('B', "")]
        }
        _ => Vec::new(),
    };
    values.into_iter().map(|value| format!("{name}={value}")).collect()
}

/// The one that two changes of a letter lead to at most.
fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names.map(|name| (distance(typed, name), name)).min_by_key(|(far, _)| *far);
    near.filter(|(far, name)| *far <= 2 && *far < name.len()).map(|(_, name)| name)
}
