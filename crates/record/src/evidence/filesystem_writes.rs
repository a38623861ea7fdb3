//! What a file system writes for itself, by its own accounts.
//!
//! | file system | log | metadata for their places |
//! |---|---|---|
//! | ext3, ext4 | `/proc/fs/jbd2/D-INODE/info`: commits, and their blocks as a mean without its fraction; `/proc/fs/ext4/D/fc_info`: blocks of fast commits (5.10) | `write_bytes` of the journal's thread (`/sys/fs/ext4/D/journal_task`, 5.2; `/proc/PID/io`, for root): pages that it made dirty |
//! | XFS | `/sys/fs/xfs/D/stats/stats` (4.4): blocks of 512 bytes | the same: items of the log that were written back |
//!
//! A journal on another device is no write to this one, and ext2 has none. btrfs counts commits, but no bytes: its
//! records are the pages that writeback wrote beyond the data (`nr_written` of `/proc/vmstat`).

use super::counter_delta::{CounterWidth, grown};
use super::memory::value;
use super::open_counter::OpenCounter;
use super::{FilesystemWrites, SysRoot};
use assay_plan::name::NameText as _;
use assay_plan::unit::{ByteRange, Bytes, KIB};

/// A block of XFS's log.
const BASIC_BLOCK: u64 = 512;
/// XFS writes inodes by clusters of this size, and all else by blocks.
const CLUSTER: u64 = 16 * KIB;

impl FilesystemWrites {
    /// What was written since an earlier reading: its log, and with it, at the most, metadata in their places.
    pub fn since(&self, earlier: &Self) -> ByteRange {
        let commits = grown(earlier.commits, self.commits, CounterWidth::Register(1));
        let exact = self.log_unsure + earlier.log_unsure == Bytes::ZERO;
        let log = grown(earlier.log.0, self.log.0, CounterWidth::Register(BASIC_BLOCK));
        let (least, most) = match commits {
            0 => (Bytes::ZERO, Bytes::ZERO),
            _ if exact => (Bytes(log), Bytes(log)),
            _ => (
                self.log.less(earlier.log + earlier.log_unsure),
                (self.log + self.log_unsure).less(earlier.log),
            ),
        };
        // What is logged is written once more at the most.
        let metadata = self.metadata.zip(earlier.metadata);
        let in_place = metadata.map_or(most, |(now, then)| now.less(then));
        ByteRange { least, most: most + in_place }
    }
}

/// A file system whose accounts are read again and again.
pub(super) struct WatchedFilesystem {
    /// Kernel name of its device.
    pub name: String,
    accounts: Accounts,
}

enum Accounts {
    Jbd2 { info: String, fast: OpenCounter, thread: Option<OpenCounter>, block: Bytes },
    Xfs { stats: OpenCounter, block: Bytes },
}

impl WatchedFilesystem {
    /// The file system on a device, by blocks of this size; `None` where none keeps accounts.
    pub fn on(sys_root: &SysRoot, name: &str, block: Bytes) -> Option<Self> {
        let xfs = format!("/sys/fs/xfs/{name}/stats/stats");
        if sys_root.has(&xfs) {
            let stats = OpenCounter::open(sys_root, &xfs);
            return Some(Self { name: name.into(), accounts: Accounts::Xfs { stats, block } });
        }
        let journals = std::fs::read_dir(sys_root.at("/proc/fs/jbd2")).ok()?;
        let own =
            journals.filter_map(|entry| Some(entry.ok()?.file_name().to_text())).find(|own| {
                let inode = own.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
                inode.is_some_and(|inode| inode.bytes().all(|byte| byte.is_ascii_digit()))
            })?;
        let thread = sys_root.number(format!("/sys/fs/ext4/{name}/journal_task"));
        let accounts = Accounts::Jbd2 {
            info: format!("/proc/fs/jbd2/{own}/info"),
            fast: OpenCounter::open(sys_root, &format!("/proc/fs/ext4/{name}/fc_info")),
            thread: thread.map(|pid| OpenCounter::open(sys_root, &format!("/proc/{pid}/io"))),
            block,
        };
        Some(Self { name: name.into(), accounts })
    }

    /// What it has written until now.
    ///
    /// # Errors
    /// Why that cannot be seen.
    pub fn writes(
        &self,
        sys_root: &SysRoot,
        buffer: &mut Vec<u8>,
    ) -> Result<FilesystemWrites, String> {
        match &self.accounts {
            Accounts::Jbd2 { info, fast, thread, block } => {
                // An open one goes on telling what was so when it was opened.
                let text = sys_root.text(info)?;
                let of_log = jbd2(&text).ok_or_else(|| format!("{info}: no count of blocks"))?;
                let fast = fast.text(buffer).ok().and_then(fast_commits).unwrap_or_default();
                let blocks = |count: u64| Bytes(count.saturating_mul(block.0));
                let io = thread.as_ref().and_then(|io| io.text(buffer).ok());
                Ok(FilesystemWrites {
                    commits: of_log.commits.saturating_add(fast.commits),
                    log: blocks(of_log.blocks) + blocks(fast.blocks),
                    log_unsure: blocks(of_log.commits.saturating_sub(1)),
                    metadata: io.and_then(|io| value(io, "write_bytes", ':')).map(Bytes),
                })
            }
            Accounts::Xfs { stats, block } => {
                let text = stats.text(buffer)?;
                xfs(text, *block).ok_or_else(|| format!("{}: no log or push_ail", stats.name))
            }
        }
    }
}

/// What went through a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LogCount {
    commits: u64,
    /// At the least.
    blocks: u64,
}

/// `51 transactions (51 requested), each up to 1365 blocks` ... `  7 logged blocks per transaction`.
fn jbd2(info: &str) -> Option<LogCount> {
    let commits = info.split_ascii_whitespace().next()?.parse().ok()?;
    let mean = info.lines().find_map(|line| line.strip_suffix(" logged blocks per transaction"));
    // The mean is not told before the first commit.
    let mean: u64 = if commits == 0 { 0 } else { mean?.trim().parse().ok()? };
    Some(LogCount { commits, blocks: mean.saturating_mul(commits) })
}

/// `3 commits`, `12 numblks`.
fn fast_commits(info: &str) -> Option<LogCount> {
    let number = |of: &str| info.lines().find_map(|line| line.strip_suffix(of)?.parse().ok());
    Some(LogCount { commits: number(" commits")?, blocks: number(" numblks")? })
}

/// `log 9027 40972 ...`: writes and blocks; `push_ail 735918 0 30620 3974 ...`: the fourth are the items written.
fn xfs(stats: &str, block: Bytes) -> Option<FilesystemWrites> {
    let numbers = |key: &str| {
        let line = stats.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()
    };
    let [commits, blocks, ..] = numbers("log")?[..] else { return None };
    let pushed = *numbers("push_ail")?.get(3)?;
    Some(FilesystemWrites {
        commits,
        log: Bytes(blocks.saturating_mul(BASIC_BLOCK)),
        log_unsure: Bytes::ZERO,
        metadata: Some(Bytes(pushed.saturating_mul(block.0.max(CLUSTER)))),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    const INFO: &str = "51 transactions (51 requested), each up to 1365 blocks\naverage: \n  0ms waiting for transaction\n  7 blocks per transaction\n  7 logged blocks per transaction\n";
    const FAST: &str = "fc stats:\n3 commits\n0 ineligible\n12 numblks\n0us avg_commit_time\n";
    const STATS: &str = "extent_alloc 65129 4654283 104373 3367429\nlog 9027 40972 0 9867 8972\npush_ail 735918 0 30620 3974 0 77 11 12 0 23\nxstrat 18212 0\n";

    fn range(least: u64, most: u64) -> ByteRange {
        ByteRange { least: Bytes(least), most: Bytes(most) }
    }

    fn look(machine: &FakeSysRoot, name: &str) -> Option<Result<FilesystemWrites, String>> {
        let sys_root = machine.sys_root();
        let watched = WatchedFilesystem::on(&sys_root, name, Bytes(4096))?;
        Some(watched.writes(&sys_root, &mut Vec::new()))
    }

    #[test]
    fn ext4_tells_a_mean_and_its_thread_what_it_made_dirty() {
        let machine = FakeSysRoot::of(&[
            ("proc/fs/jbd2/sda1-8/info", INFO),
            ("proc/fs/jbd2/sda11-8/info", "no"),
            ("proc/fs/ext4/sda1/fc_info", FAST),
            ("sys/fs/ext4/sda1/journal_task", "77\n"),
            ("proc/77/io", "write_bytes: 36864\ncancelled_write_bytes: 0\n"),
        ]);
        let seen = look(&machine, "sda1").unwrap().unwrap();
        let log = Bytes((51 * 7 + 12) * 4096);
        let metadata = Some(Bytes(36864));
        let expected =
            FilesystemWrites { commits: 54, log, log_unsure: Bytes(50 * 4096), metadata };
        assert_eq!(seen, expected);
        assert_eq!(
            look(&machine, "sda11").unwrap(),
            Err("/proc/fs/jbd2/sda11-8/info: no count of blocks".into())
        );
        assert_eq!(look(&machine, "sda"), None, "another device");
    }

    #[test]
    fn a_journal_without_a_commit_has_written_nothing() {
        let machine = FakeSysRoot::of(&[(
            "proc/fs/jbd2/sda1-8/info",
            "0 transactions (0 requested), each up to 1365 blocks\n",
        )]);
        let nothing = look(&machine, "sda1").unwrap().unwrap();
        assert_eq!(nothing, FilesystemWrites { metadata: None, ..FilesystemWrites::default() });
    }

    #[test]
    fn xfs_counts_blocks_and_items() {
        let machine = FakeSysRoot::of(&[("sys/fs/xfs/dm-0/stats/stats", STATS)]);
        let seen = look(&machine, "dm-0").unwrap().unwrap();
        assert_eq!((seen.commits, seen.log), (9027, Bytes(40972 * 512)));
        assert_eq!((seen.log_unsure, seen.metadata), (Bytes::ZERO, Some(Bytes(3974 * 16384))));
        let machine = FakeSysRoot::of(&[("sys/fs/xfs/dm-0/stats/stats", "rw 1 2\n")]);
        assert_eq!(
            look(&machine, "dm-0").unwrap(),
            Err("/sys/fs/xfs/dm-0/stats/stats: no log or push_ail".into())
        );
    }

    #[test]
    fn a_mean_without_its_fraction_is_a_range() {
        let at = |commits: u64, mean: u64, metadata| FilesystemWrites {
            commits,
            log: Bytes(commits * mean * 4096),
            log_unsure: Bytes(commits.saturating_sub(1) * 4096),
            metadata,
        };
        // 2 commits of 6 to 6.5 blocks, 643 of 5 to 5.998: 3,202 blocks at the least, 3,845 at the most.
        let (then, now) = (at(2, 6, Some(Bytes(24576))), at(643, 5, Some(Bytes(49152))));
        assert_eq!(now.since(&then), range(3202 * 4096, 3845 * 4096 + 24576));
        // What is not told of the metadata is at most what was logged.
        let (then, now) = (at(2, 6, None), at(643, 5, Some(Bytes(49152))));
        assert_eq!(now.since(&then), range(3202 * 4096, 2 * 3845 * 4096));
        // Without a commit there is nothing to be unsure of.
        assert_eq!(now.since(&now), range(0, 0));
        let first = at(1, 8, Some(Bytes::ZERO));
        assert_eq!(first.since(&at(0, 0, Some(Bytes::ZERO))), range(8 * 4096, 8 * 4096));
    }

    #[test]
    fn the_log_of_xfs_wraps_after_two_tib() {
        let at = |log: u64| FilesystemWrites {
            commits: log,
            log: Bytes(log * 512),
            metadata: Some(Bytes::ZERO),
            ..FilesystemWrites::default()
        };
        assert_eq!(at(5).since(&at((1 << 32) - 3)), range(8 * 512, 8 * 512));
    }
}
