//! The settings of a block queue: `/sys/block/D/queue`.

use super::{QueueSettings, Reading, SysRoot};

/// Reads the settings of the device whose sysfs folder this is.
pub(super) fn read(sys_root: &SysRoot, folder: &str) -> Reading<QueueSettings> {
    let folder = format!("{folder}/queue");
    if !sys_root.has(&folder) {
        return Reading::Unseen(format!("{folder}: no such folder"));
    }
    let line = |name: &str| sys_root.line(format!("{folder}/{name}"));
    let number = |name: &str| sys_root.number(format!("{folder}/{name}"));
    let flag = |name: &str| number(name).map(|n| n != 0);
    Reading::Seen(QueueSettings {
        logical_block_size: number("logical_block_size"),
        physical_block_size: number("physical_block_size"),
        optimal_io_size: number("optimal_io_size"),
        max_sectors_kb: number("max_sectors_kb"),
        max_segments: number("max_segments"),
        nr_requests: number("nr_requests"),
        read_ahead_kb: number("read_ahead_kb"),
        scheduler: line("scheduler").map(|text| active(&text).to_string()),
        rotational: flag("rotational"),
        write_cache: line("write_cache"),
        fua: flag("fua"),
        wbt_lat_usec: number("wbt_lat_usec"),
        zoned: line("zoned"),
        dax: flag("dax"),
        iostats: flag("iostats"),
        discard_max_bytes: number("discard_max_bytes"),
    })
}

/// The choice in brackets: `mq-deadline` of `none [mq-deadline] kyber`. A line without brackets is
/// its own answer.
pub fn active(line: &str) -> &str {
    match (line.find('['), line.find(']')) {
        (Some(open), Some(close)) if open < close => &line[open + 1..close],
        _ => line.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_the_active_one() {
        assert_eq!(active("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(active("[none] mq-deadline"), "none");
        assert_eq!(active("none\n"), "none");
    }

    #[test]
    fn absent_files_are_none_and_an_absent_queue_is_unseen() {
        let tree = FakeSysRoot::new();
        for (name, text) in [
            ("logical_block_size", "512\n"),
            ("rotational", "1\n"),
            ("write_cache", "write back\n"),
            ("iostats", "0\n"),
            ("wbt_lat_usec", "-1\n"),
        ] {
            tree.file(&format!("sys/block/sda/queue/{name}"), text);
        }
        let sys_root = tree.sys_root();
        let Reading::Seen(seen) = read(&sys_root, "/sys/block/sda") else { panic!() };
        assert_eq!(seen.logical_block_size, Some(512));
        assert_eq!(seen.rotational, Some(true));
        assert_eq!(seen.write_cache.as_deref(), Some("write back"));
        assert_eq!((seen.iostats, seen.fua, seen.wbt_lat_usec), (Some(false), None, None));
        assert!(read(&sys_root, "/sys/block/sdb").seen().is_none());
    }
}
