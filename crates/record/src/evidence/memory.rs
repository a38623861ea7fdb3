//! Machine-wide memory and writeback: `/proc/meminfo` and `/proc/vmstat`.

use super::Memory;
use assay_plan::unit::{Bytes, KIB};

/// The last of the counters of `/proc/vmstat` that are read here, as the kernel orders them.
pub const LAST: &str = "pswpout";

/// Joins the two texts. `vmstat` may be missing: then what only it tells is `None`.
pub fn parse(meminfo: &str, vmstat: Option<&str>, page: u64) -> Result<Memory, String> {
    let kib = |key: &str| {
        value(meminfo, key, ':')
            .map(|n| Bytes(n.saturating_mul(KIB)))
            .ok_or_else(|| format!("/proc/meminfo: no {key}"))
    };
    let pages = |key: &str| value(vmstat?, key, ' ').map(|n| Bytes(n.saturating_mul(page)));
    Ok(Memory {
        total: kib("MemTotal")?,
        available: kib("MemAvailable").or_else(|why| estimated(&kib).ok_or(why))?,
        dirty: kib("Dirty")?,
        writeback: kib("Writeback")?,
        dirty_limit: pages("nr_dirty_threshold"),
        swapped: pages("pswpin").zip(pages(LAST)).map(|(i, o)| i + o),
        written: pages("nr_written"),
    })
}

/// What can be had without swapping where the kernel does not say so itself (before 3.14): what is free and what
/// holds pages of files, without tmpfs and shared memory, which go nowhere.
fn estimated(kib: &impl Fn(&str) -> Result<Bytes, String>) -> Option<Bytes> {
    let files = kib("Cached").ok()? + kib("Buffers").ok()?;
    Some(kib("MemFree").ok()? + files.less(kib("Shmem").unwrap_or_default()))
}

/// The page cache of the whole machine (`Cached`): pages of files and of tmpfs.
pub(super) fn cached(meminfo: &str) -> Result<Bytes, String> {
    let kib = value(meminfo, "Cached", ':').ok_or("/proc/meminfo: no Cached")?;
    Ok(Bytes(kib.saturating_mul(KIB)))
}

/// The number behind a key at the start of a line.
pub fn value(text: &str, key: &str, separator: char) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?.strip_prefix(separator)?;
        rest.split_ascii_whitespace().next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24684092 kB\nMemFree:        22000000 kB\nMemAvailable:   23000000 kB\nDirty:               132 kB\nWritebackTmp:          9 kB\nWriteback:             4 kB\n";
    const VMSTAT: &str = "nr_free_pages 1\nnr_dirty 33\nnr_dirty_threshold 1000\nnr_dirty_background_threshold 500\nnr_written 21\npswpin 3\npswpout 4\n";

    #[test]
    fn the_two_texts_are_joined() {
        let memory = parse(MEMINFO, Some(VMSTAT), 4096).unwrap();
        assert_eq!(memory.total, Bytes::kib(24684092));
        assert_eq!(memory.available, Bytes::kib(23000000));
        assert_eq!((memory.dirty, memory.writeback), (Bytes::kib(132), Bytes::kib(4)));
        assert_eq!(memory.dirty_limit, Some(Bytes(4096 * 1000)));
        assert_eq!(memory.swapped, Some(Bytes(4096 * 7)));
        assert_eq!(memory.written, Some(Bytes(4096 * 21)));
    }

    #[test]
    fn cached_is_not_swap_cached() {
        assert_eq!(cached("SwapCached: 3 kB\nCached: 8 kB\n"), Ok(Bytes::kib(8)));
        assert_eq!(cached(MEMINFO), Err("/proc/meminfo: no Cached".into()));
    }

    #[test]
    fn what_is_missing_is_not_zero() {
        let memory = parse(MEMINFO, None, 4096).unwrap();
        assert_eq!((memory.dirty_limit, memory.swapped, memory.written), (None, None, None));
        assert_eq!(
            parse("MemTotal: 5 kB\n", None, 4096),
            Err("/proc/meminfo: no MemAvailable".into())
        );
    }
}
