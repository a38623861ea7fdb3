//! Lines whose words are operands, `name=value`: the same line with some of them otherwise.

use super::words::with;
use assay_plan::name::quoted;
use assay_plan::plan::{AddedWords, CopyWork, PlanOrigin, Resync};
use assay_plan::unit::MIB;
use assay_record::record::{NextStep, Remedy};

/// MiB that take any disk longer than the start of a program.
pub const ENOUGH: u64 = 256;

/// Operands, as name and value.
pub struct EditedOperands(Vec<(String, String)>);

impl EditedOperands {
    /// Those among the words.
    pub fn of(words: &[String]) -> Self {
        let operand =
            |word: &String| word.split_once('=').map(|(name, value)| (name.into(), value.into()));
        Self(words.iter().filter_map(operand).collect())
    }

    /// Whether one of that name is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Gives an operand one value: in its place, or at the end.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some(there) => there.1 = value.into(),
            None => self.0.push((name.into(), value.into())),
        }
        let mut seen = false;
        self.0.retain(|(known, _)| known != name || !std::mem::replace(&mut seen, true));
    }

    /// Takes all of that name away.
    pub fn drop(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Takes a word out of the lists of that name, and adds another.
    pub fn change(&mut self, name: &str, out: &str, into: Option<&str>) {
        let lists = self.0.iter().filter(|(known, _)| known == name);
        let words = lists.flat_map(|(_, list)| list.split(','));
        let mut kept: Vec<&str> = words.filter(|word| *word != out).collect();
        kept.extend(into.filter(|word| !kept.contains(word)));
        match kept.join(",") {
            list if list.is_empty() => self.drop(name),
            list => self.set(name, &list),
        }
    }

    /// Blocks of 1 MiB, as many as make the same bytes, `least` at the least. False, and nothing is changed, where
    /// positions in blocks would get another meaning.
    pub fn in_mebibytes(&mut self, copy: &CopyWork, least: u64) -> bool {
        let placed = ["skip", "seek", "iseek", "oseek", "cbs"].iter().any(|name| self.has(name));
        if placed || copy.resync != Resync::No && !self.has("count") {
            return false;
        }
        self.drop("ibs");
        self.drop("obs");
        self.set("bs", "1M");
        let bytes = copy.count.map(|count| count.in_bytes(copy.input_block).0);
        if let Some(bytes) = bytes {
            self.change("iflag", "count_bytes", None);
            self.set("count", &bytes.div_ceil(MIB).max(least).to_string());
        }
        true
    }

    /// As they are typed, each with a blank before it.
    pub fn line(&self) -> String {
        self.words().iter().map(|word| format!(" {}", quoted(word))).collect()
    }

    fn words(&self) -> Vec<String> {
        self.0.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// The same line with other operands; `None` where it has none, they are as they should be, or `change` finds no
/// others.
pub(super) fn edited(
    origin: &PlanOrigin,
    remedy: Remedy,
    change: impl FnOnce(&mut EditedOperands) -> bool,
) -> Option<NextStep> {
    if !origin.tool.operands {
        return None;
    }
    let mut operands = EditedOperands::of(origin.arguments());
    let before = operands.words();
    if !change(&mut operands) || operands.words() == before {
        return None;
    }
    let other = PlanOrigin { words: operands.words(), ..origin.clone() };
    with(&other, &AddedWords::default()).map(|command| NextStep::new(remedy, command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::plan::ToolProfile;

    #[test]
    fn a_line_is_said_again_with_other_operands() {
        let words = ["if=/dev/zero", "of=my file", "bs=512", "bs=4k", "conv=sparse,notrunc"];
        let words = words.map(String::from).to_vec();
        let tool = ToolProfile { operands: true, ..ToolProfile::default() };
        let origin = PlanOrigin::of("dd", words.clone()).with(tool);
        let other = edited(&origin, Remedy::OtherBlocks, |operands| {
            operands.set("bs", "1M");
            operands.change("conv", "sparse", Some("fsync"));
            true
        });
        assert_eq!(
            other.expect("a line").command,
            "assay dd if=/dev/zero 'of=my file' bs=1M conv=notrunc,fsync"
        );
        assert_eq!(edited(&origin, Remedy::Direct, |_| true), None);
        let no_operands = PlanOrigin::of("quick", words);
        assert_eq!(
            edited(&no_operands, Remedy::Direct, |o| {
                o.drop("bs");
                true
            }),
            None
        );
    }
}
