//! The counters of a block device: `/sys/block/D/stat`.
//!
//! The kernel grew the line from 11 to 15 (4.18, discards) to 17 numbers (5.5, flushes). A sector
//! is 512 bytes always, also on disks with larger blocks.

use super::snapshot::{DiskCounters, SECTOR};

/// Parses a `stat` line. Does not allocate unless it fails.
pub fn parse(text: &str) -> Result<DiskCounters, String> {
    let mut numbers = [0_u64; 17];
    let mut count = 0;
    for word in text.split_ascii_whitespace().take(numbers.len()) {
        numbers[count] = word.parse().map_err(|_| format!("stat: '{word}' is no number"))?;
        count += 1;
    }
    if count < 11 {
        return Err(format!("stat: {count} numbers where at least 11 were expected"));
    }
    let [reads, _, read, read_ms, writes, _, written, write_ms, in_flight, busy, weighted, ..] =
        numbers;
    let (discards, discarded) = if count >= 15 { (numbers[11], numbers[13]) } else { (0, 0) };
    Ok(DiskCounters {
        reads,
        read_bytes: read.wrapping_mul(SECTOR),
        read_ms,
        writes,
        write_bytes: written.wrapping_mul(SECTOR),
        write_ms,
        in_flight,
        busy_ms: busy,
        weighted_ms: weighted,
        discards,
        discard_bytes: discarded.wrapping_mul(SECTOR),
        flushes: (count >= 17).then_some(numbers[15]),
        flush_ms: (count >= 17).then_some(numbers[16]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "   41474     8800  5972434    29461     8126    18576  3070672     9890        0     6080    39683     4501       26   175408      315      477       16\n";
    const MIDDLE: &str = " 10 1 80 5 20 2 160 7 3 11 12 4 0 32 9\n";
    const OLD: &str = " 10 1 80 5 20 2 160 7 3 11 12\n";

    #[test]
    fn seventeen_numbers_have_flushes() {
        let counters = parse(NEW).unwrap();
        assert_eq!(
            counters,
            DiskCounters {
                reads: 41474,
                read_bytes: 5972434 * 512,
                read_ms: 29461,
                writes: 8126,
                write_bytes: 3070672 * 512,
                write_ms: 9890,
                in_flight: 0,
                busy_ms: 6080,
                weighted_ms: 39683,
                discards: 4501,
                discard_bytes: 175408 * 512,
                flushes: Some(477),
                flush_ms: Some(16),
            }
        );
        assert_eq!(parse(&format!("{} 99 98", NEW.trim())), Ok(counters));
    }

    #[test]
    fn older_kernels_have_fewer_numbers() {
        let middle = parse(MIDDLE).unwrap();
        assert_eq!((middle.discards, middle.discard_bytes), (4, 32 * 512));
        assert_eq!((middle.flushes, middle.flush_ms), (None, None));
        let old = parse(OLD).unwrap();
        assert_eq!((old.reads, old.writes, old.in_flight, old.discards), (10, 20, 3, 0));
        assert_eq!(old.flushes, None);
    }

    #[test]
    fn what_is_no_stat_line_is_an_error() {
        assert!(parse("").is_err());
        assert!(parse("1 2 3 4").is_err());
        assert!(parse("1 2 3 4 5 6 7 8 9 10 x").is_err());
    }

    #[test]
    fn a_wrapped_counter_still_gives_the_difference() {
        let before = DiskCounters { busy_ms: u32::MAX as u64 - 9, reads: 5, ..parse(OLD).unwrap() };
        let after = DiskCounters { busy_ms: 10, reads: 9, ..before };
        assert_eq!(after.since(&before).busy_ms, 20);
        assert_eq!(after.since(&before).reads, 4);
        let before = DiskCounters { write_bytes: (1 << 41) - 512, ..before };
        let after = DiskCounters { write_bytes: 1024, ..before };
        assert_eq!(after.since(&before).write_bytes, 1536);
    }
}
