//! A log as `log_store_compressed` stores it: the samples as fio has them in memory, deflated. `fio --inflate-log` makes
//! lines of them again, if it is of the same version.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};

use crate::dialect::fio::print::{FioLogFormat, FioLogSample};
use assay_plan::plan::{IoClass, IoPriority};

/// What a sample carries beside its values: bits beside its direction (`LOG_*_SAMPLE_BIT` in iolog.h).
const WITH_OFFSET: u32 = 1 << 31;
const WITH_PRIORITY: u32 = 1 << 30;
const WITH_LARGEST: u32 = 1 << 29;
const WITH_ISSUE_TIME: u32 = 1 << 28;

/// The first minor version of fio 3 whose samples have two values.
const TWO_VALUES: u32 = 37;

const REAL_TIME: IoPriority = IoPriority { class: IoClass::Realtime, level: 0, hint: 0 };

/// The file of a log with these samples, as fio 3 of this minor version stores it. Without samples it is empty.
pub fn stored_log(format: FioLogFormat, samples: &[FioLogSample], minor: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(samples.len() * 56);
    for sample in samples {
        put(&mut bytes, format, sample, minor);
    }
    if bytes.is_empty() {
        return bytes;
    }
    let mut stored = ZlibEncoder::new(Vec::new(), Compression::default());
    // Into memory: there is nothing that could go wrong.
    let written = stored.write_all(&bytes).and_then(|()| stored.finish());
    written.unwrap_or_default()
}

/// Bytes that are inflated at a time.
const PIECE: usize = 64 << 10;
/// Bytes of a log at the most.
const MOST: usize = 1 << 30;

/// The lines of a stored log, as fio 3 of this minor version prints them.
///
/// # Errors
/// Why the bytes are none.
pub fn inflated_log(bytes: &[u8], minor: u32) -> Result<String, String> {
    let mut samples = Vec::new();
    // Parts that were stored one after the other are streams one after the other.
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut stream = Decompress::new(true);
        loop {
            samples.reserve(PIECE);
            let (taken, before) = (stream.total_in() as usize, samples.len());
            let status = stream
                .decompress_vec(&rest[taken..], &mut samples, FlushDecompress::None)
                .map_err(|error| error.to_string())?;
            let stands = stream.total_in() as usize == taken && samples.len() == before;
            match status {
                Status::StreamEnd => break,
                _ if stands => return Err("it is cut off".into()),
                _ if samples.len() > MOST => return Err("it has more than 1 GiB".into()),
                _ => {}
            }
        }
        rest = &rest[stream.total_in() as usize..];
    }
    let mut text = String::new();
    let mut words = samples.as_slice();
    while !words.is_empty() {
        let line = inflated_sample(&mut words, minor);
        text += &line.ok_or_else(|| "it ends within a sample".to_string())?;
    }
    Ok(text)
}

/// The next sample as a line.
fn inflated_sample(words: &mut &[u8], minor: u32) -> Option<String> {
    let mut word = || {
        let (bytes, rest) = words.split_first_chunk::<8>()?;
        *words = rest;
        Some(u64::from_ne_bytes(*bytes))
    };
    let (time, value) = (word()?, word()?);
    let largest = if minor >= TWO_VALUES { Some(word()?) } else { None };
    let (kept, block) = (word()?, word()?);
    let (bits, priority) = (kept as u32, (kept >> 32) as u16);
    let has = |bit: u32| bits & bit != 0;
    let offset = if has(WITH_OFFSET) { Some(word()?) } else { None };
    let issued = if has(WITH_ISSUE_TIME) { Some(word()?) } else { None };
    let direction = bits & !(WITH_OFFSET | WITH_PRIORITY | WITH_LARGEST | WITH_ISSUE_TIME);
    let mut line = format!("{time}, {value}");
    if let Some(largest) = largest.filter(|_| has(WITH_LARGEST)) {
        line += &format!(", {largest}");
    }
    line += &format!(", {direction}, {block}");
    if let Some(offset) = offset {
        line += &format!(", {offset}");
    }
    line += &match has(WITH_PRIORITY) {
        true => format!(", {priority:#06x}"),
        false => format!(", {}", u8::from(priority != 0)),
    };
    if let Some(issued) = issued {
        line += &format!(", {issued}");
    }
    Some(line + "\n")
}

/// Adds a sample as fio has it in memory.
fn put(bytes: &mut Vec<u8>, format: FioLogFormat, sample: &FioLogSample, minor: u32) {
    let priority = match format.priority {
        true => sample.priority,
        // Only whether it is of the class of real time.
        false if sample.is_real_time() => REAL_TIME.value(),
        false => 0,
    };
    let bits = [
        (format.offset, WITH_OFFSET),
        (format.priority, WITH_PRIORITY),
        (format.largest, WITH_LARGEST),
        (format.issued, WITH_ISSUE_TIME),
    ];
    let given = bits.into_iter().filter(|(given, _)| *given);
    let kept = given.fold(u32::from(sample.direction), |all, (_, bit)| all | bit);
    bytes.extend(sample.time_ms.to_ne_bytes());
    bytes.extend(sample.value.to_ne_bytes());
    if minor >= TWO_VALUES {
        let largest = if format.largest { sample.largest } else { 0 };
        bytes.extend(largest.to_ne_bytes());
    }
    bytes.extend(kept.to_ne_bytes());
    bytes.extend(priority.to_ne_bytes());
    bytes.extend([0; 2]);
    bytes.extend(sample.block.to_ne_bytes());
    if format.offset {
        bytes.extend(sample.offset.to_ne_bytes());
    }
    if format.issued {
        bytes.extend(sample.issued_ns.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::*;

    fn stored(format: FioLogFormat, sample: FioLogSample, minor: u32) -> Vec<u64> {
        let mut bytes = Vec::new();
        let stored = stored_log(format, &[sample], minor);
        ZlibDecoder::new(stored.as_slice()).read_to_end(&mut bytes).expect("a stream");
        let (numbers, rest) = bytes.as_chunks::<8>();
        assert!(rest.is_empty());
        numbers.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect()
    }

    #[test]
    fn a_sample_has_the_fields_that_its_log_has() {
        let plain = FioLogFormat::default();
        let sample = FioLogSample {
            time_ms: 5,
            value: 400,
            largest: 900,
            direction: 1,
            block: 4096,
            offset: 8192,
            priority: 0x2002,
            issued_ns: 77,
        };
        assert_eq!(stored(plain, sample, 33), [5, 400, 0x2000 << 32 | 1, 4096]);
        let usual = FioLogSample { priority: 0x4002, ..sample };
        assert_eq!(stored(plain, usual, 42), [5, 400, 0, 1, 4096]);
        let both = FioLogFormat { largest: true, ..plain };
        assert_eq!(stored(both, usual, 42), [5, 400, 900, 0x2000_0001, 4096]);
        let all = FioLogFormat { offset: true, priority: true, issued: true, ..plain };
        assert_eq!(stored(all, usual, 33), [5, 400, 0x4002_d000_0001, 4096, 8192, 77]);
        assert!(stored_log(plain, &[], 42).is_empty());
    }
}
