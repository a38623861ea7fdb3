//! A log as `log_store_compressed` stores it: the samples as fio has them in memory, deflated. `fio --inflate-log` makes
//! lines of them again, if it is of the same version.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::asked::FioJob;

/// What a sample carries beside its values: bits beside its direction (`LOG_*_SAMPLE_BIT` in iolog.h).
const WITH_OFFSET: u32 = 1 << 31;
const WITH_PRIORITY: u32 = 1 << 30;
const WITH_LARGEST: u32 = 1 << 29;
const WITH_ISSUE_TIME: u32 = 1 << 28;

/// The first minor version of fio 3 whose samples have two values.
const TWO_VALUES: u32 = 37;

/// The file of a log with these lines, as fio 3 of this minor version stores it. Without lines it is empty.
pub fn stored_log(job: &FioJob, lines: &str, minor: u32) -> Vec<u8> {
    let samples: Vec<u8> =
        lines.lines().filter_map(|line| sample(job, line, minor)).flatten().collect();
    if samples.is_empty() {
        return samples;
    }
    let mut stored = ZlibEncoder::new(Vec::new(), Compression::default());
    // Into memory: there is nothing that could go wrong.
    let written = stored.write_all(&samples).and_then(|()| stored.finish());
    written.unwrap_or_default()
}

/// The bytes of the sample that a line shows.
fn sample(job: &FioJob, line: &str, minor: u32) -> Option<Vec<u8>> {
    let logs = &job.logs;
    let count = line.split(", ").count();
    let largest = count > 5 + usize::from(logs.offset) + usize::from(logs.issue_time);
    let mut fields = line.split(", ");
    let mut number = || {
        let field = fields.next()?;
        match field.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => field.parse::<i64>().map(i64::cast_unsigned).ok(),
        }
    };
    let (time, value) = (number()?, number()?);
    let second = if largest { number()? } else { 0 };
    let (direction, block) = (number()? as u32, number()?);
    let offset = if logs.offset { number()? } else { 0 };
    let priority = match (logs.prio, number()?) {
        (true, priority) => priority as u16,
        // Whether it is of the class of real time.
        (false, class) => (class as u16) << 13,
    };
    let issued = if logs.issue_time { number()? } else { 0 };
    let bits = [
        (logs.offset, WITH_OFFSET),
        (logs.prio, WITH_PRIORITY),
        (largest, WITH_LARGEST),
        (logs.issue_time, WITH_ISSUE_TIME),
    ];
    let kept =
        bits.into_iter().filter(|(given, _)| *given).fold(direction, |all, (_, bit)| all | bit);
    let mut bytes = Vec::with_capacity(56);
    let mut put = |number: u64| bytes.extend(number.to_ne_bytes());
    put(time);
    put(value);
    if minor >= TWO_VALUES {
        put(second);
    }
    bytes.extend(kept.to_ne_bytes());
    bytes.extend(priority.to_ne_bytes());
    bytes.extend([0; 2]);
    bytes.extend(block.to_ne_bytes());
    if logs.offset {
        bytes.extend(offset.to_ne_bytes());
    }
    if logs.issue_time {
        bytes.extend(issued.to_ne_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::*;

    fn samples(job: &FioJob, lines: &str, minor: u32) -> Vec<u64> {
        let mut bytes = Vec::new();
        let stored = stored_log(job, lines, minor);
        ZlibDecoder::new(stored.as_slice()).read_to_end(&mut bytes).expect("a stream");
        let (numbers, rest) = bytes.as_chunks::<8>();
        assert!(rest.is_empty());
        numbers.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect()
    }

    #[test]
    fn a_line_becomes_the_sample_that_it_was() {
        let mut job = FioJob::default();
        let lines = "5, 400, 1, 4096, 0\n7, 500, 0, 512, 1\n";
        assert_eq!(samples(&job, lines, 33), [5, 400, 1, 4096, 7, 500, 0x2000 << 32, 512]);
        assert_eq!(samples(&job, "5, 400, 1, 4096, 0\n", 42), [5, 400, 0, 1, 4096]);
        assert_eq!(
            samples(&job, "5, 400, 900, 1, 4096, 0\n", 42),
            [5, 400, 900, 0x2000_0001, 4096]
        );
        (job.logs.offset, job.logs.prio) = (true, true);
        assert_eq!(
            samples(&job, "5, 400, 2, 4096, 8192, 0x4002\n", 33),
            [5, 400, 0x4002_c000_0002, 4096, 8192]
        );
        assert!(stored_log(&job, "", 42).is_empty());
    }
}
