//! Pressure stall totals: `/proc/pressure/*` (4.20). A sign, not a measure.

use super::{Pressure, Reading};
use assay_plan::unit::Nanos;

/// The total of the `some` line; it is in microseconds.
pub fn some(text: &str) -> Option<Nanos> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
    Some(Nanos(total.parse::<u64>().ok()?.saturating_mul(1000)))
}

/// Joins the three files; unseen only when none of them told.
pub(super) fn join(texts: [Result<&str, String>; 3]) -> Reading<Pressure> {
    let mut reason = String::new();
    let [io, cpu, memory] = texts.map(|text| match text {
        Ok(text) => some(text),
        Err(why) => {
            if reason.is_empty() {
                reason = why;
            }
            None
        }
    });
    if io.or(cpu).or(memory).is_some() {
        return Reading::Seen(Pressure { io, cpu, memory });
    }
    if reason.is_empty() {
        reason = "/proc/pressure: no totals".into();
    }
    Reading::Unseen(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "some avg10=0.24 avg60=0.29 avg300=0.21 total=3582363\nfull avg10=0.22 avg60=0.26 avg300=0.19 total=3265226\n";

    #[test]
    fn totals_are_microseconds() {
        assert_eq!(some(IO), Some(Nanos::micros(3_582_363)));
        assert_eq!(some("full avg10=0 total=4\n"), None);
        assert_eq!(some(""), None);
    }

    #[test]
    fn one_file_is_enough_and_none_is_unseen() {
        let one = join([Ok(IO), Err("cpu: no".into()), Ok("")]);
        assert_eq!(one, Reading::Seen(Pressure { io: some(IO), cpu: None, memory: None }));
        let none = join([Err("io: no".into()), Err("cpu: no".into()), Err("x".into())]);
        assert_eq!(none, Reading::Unseen("io: no".into()));
    }
}
