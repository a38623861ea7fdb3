//! What fio says of a block that does not hold what it must.

use assay_plan::error::{Fault, HeaderField, PiecePart};
use assay_record::record::{JobResult, PhaseRecord};

/// fio's lines about each block that failed verification, passed over or not; and how many have none.
pub fn wrong_blocks(phase: &PhaseRecord) -> String {
    let passed = phase.jobs.iter().flat_map(|job| &job.wrong);
    let mut said: String = passed.chain(&phase.faults).filter_map(verify_failure).collect();
    let untold: u64 = phase.jobs.iter().map(untold).sum();
    if untold > 0 {
        said += &format!("assay: {untold} more blocks failed verification\n");
    }
    said
}

/// Blocks of a job that are wrong, and of which the record has the number alone.
fn untold(job: &JobResult) -> u64 {
    let wrong: u64 = job.totals.values().map(|total| total.mismatches).sum();
    let ended_it = job.faults.iter().filter(|fault| fault.piece.is_some()).count();
    match job.wrong.is_empty() {
        true => 0,
        false => wrong.saturating_sub((job.wrong.len() + ended_it) as u64),
    }
}

/// fio's lines about a block that failed verification, each with its end; none of another fault.
fn verify_failure(fault: &Fault) -> Option<String> {
    let wrong = fault.piece.as_deref()?;
    let (expected, found) = (&wrong.expected, &wrong.found);
    let (start, bytes) = match wrong.part {
        // Without headers fio names the block, and the byte of the piece.
        PiecePart::Pattern { headed: false, .. } => (wrong.block_offset, wrong.block_bytes),
        _ => (wrong.offset, wrong.bytes),
    };
    let place = format!(
        "at file {} offset {start}, length {bytes} (requested block: offset={}, length={})",
        fault.path, wrong.block_offset, wrong.block_bytes
    );
    Some(match &wrong.part {
        PiecePart::Checksum(name) => format!(
            "{name}: verify failed {place}\n       Expected CRC: {expected}\n       Received CRC: {found}\n"
        ),
        PiecePart::Pattern { byte, .. } => {
            let value = |digits: &str| u8::from_str_radix(digits, 16).unwrap_or_default();
            let bits = (value(expected) ^ value(found)).count_ones();
            format!(
                "fio: got pattern '{found}', wanted '{expected}'. Bad bits {bits}\n\
                 fio: bad pattern block offset {byte}\npattern: verify failed {place}\n"
            )
        }
        PiecePart::Header(field) => {
            let what = match field {
                HeaderField::Magic => format!("bad magic header {found}, wanted {expected}"),
                HeaderField::Version => format!(
                    "unsupported header version {found}, wanted {expected}. \
                     Are you trying to verify across versions of fio?"
                ),
                HeaderField::Length => format!("bad header length {found}, wanted {expected}"),
                HeaderField::Seed => format!("bad header rand_seed {found}, of another write"),
                HeaderField::Offset => format!("bad header offset {found}, wanted {expected}"),
                HeaderField::Crc => format!("bad header crc {expected}, calculated {found}"),
            };
            format!("verify: {what} {place}\n")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::error::PieceMismatch;

    fn said(part: PiecePart, expected: &str, found: &str) -> String {
        let wrong = PieceMismatch {
            offset: 28672,
            bytes: 2048,
            block_offset: 28672,
            block_bytes: 4096,
            part,
            expected: expected.into(),
            found: found.into(),
        };
        verify_failure(&Fault::piece("t", wrong.into())).expect("lines")
    }

    #[test]
    fn each_kind_of_failure_is_said_as_fio_does() {
        assert_eq!(
            said(PiecePart::Checksum("crc32c".into()), "1329fcc9", "3815dd88"),
            "crc32c: verify failed at file t offset 28672, length 2048 (requested block: \
             offset=28672, length=4096)\n       Expected CRC: 1329fcc9\n       Received CRC: 3815dd88\n"
        );
        assert_eq!(
            said(PiecePart::Pattern { byte: 7, headed: false }, "ff", "0f"),
            "fio: got pattern '0f', wanted 'ff'. Bad bits 4\nfio: bad pattern block offset 7\n\
             pattern: verify failed at file t offset 28672, length 4096 (requested block: \
             offset=28672, length=4096)\n"
        );
        assert_eq!(
            said(PiecePart::Header(HeaderField::Offset), "0", "365072220160"),
            "verify: bad header offset 365072220160, wanted 0 at file t offset 28672, length 2048 \
             (requested block: offset=28672, length=4096)\n"
        );
    }
}
