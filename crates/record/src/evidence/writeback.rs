//! When written pages leave memory: the dirty limits and their ages.

use serde::{Deserialize, Serialize};

use super::{Reading, SysRoot, memory};
use assay_plan::unit::{Bytes, Nanos};

/// The dirty limits of the machine as they are now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Writeback {
    /// Dirty memory at which a writer has to wait. Moves with available memory unless set in bytes.
    pub limit: Bytes,
    /// Dirty memory from which on it is written out in the background.
    pub background: Bytes,
    /// Age from which on a dirty page is written out whatever the limits (`dirty_expire_centisecs`).
    pub expire: Option<Nanos>,
    /// What the limit was set to: `dirty_ratio=20`, `dirty_bytes=67108864`.
    pub setting: String,
}

impl SysRoot {
    /// The dirty limits: `nr_dirty_threshold` of `/proc/vmstat` (2.6.37) and `/proc/sys/vm`.
    pub(super) fn writeback(&self) -> Reading<Writeback> {
        self.dirty_limits().into()
    }

    fn dirty_limits(&self) -> Result<Writeback, String> {
        let text = self.text("/proc/vmstat")?;
        let page = rustix::param::page_size() as u64;
        let pages = |key: &str| {
            let pages = memory::value(&text, key, ' ');
            let bytes = pages.map(|pages| Bytes(pages.saturating_mul(page)));
            bytes.ok_or_else(|| format!("/proc/vmstat: no {key}"))
        };
        let number = |name: &str| self.number(format!("/proc/sys/vm/{name}"));
        let set = |name: &str| number(name).filter(|n| *n > 0).map(|n| format!("{name}={n}"));
        Ok(Writeback {
            limit: pages("nr_dirty_threshold")?,
            background: pages("nr_dirty_background_threshold")?,
            expire: number("dirty_expire_centisecs").map(|n| Nanos::millis(n.saturating_mul(10))),
            setting: set("dirty_bytes").or_else(|| set("dirty_ratio")).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn bytes_win_over_a_share() {
        let tree = FakeSysRoot::new();
        let sys_root = tree.sys_root();
        assert!(sys_root.writeback().why().is_some());
        tree.file("proc/vmstat", "nr_dirty_threshold 1000\nnr_dirty_background_threshold 500\n");
        tree.file("proc/sys/vm/dirty_ratio", "20\n");
        tree.file("proc/sys/vm/dirty_bytes", "0\n");
        tree.file("proc/sys/vm/dirty_expire_centisecs", "3000\n");
        let page = rustix::param::page_size() as u64;
        let seen = sys_root.writeback().seen().cloned().expect("limits");
        assert_eq!((seen.limit, seen.background), (Bytes(1000 * page), Bytes(500 * page)));
        assert_eq!((seen.expire, &*seen.setting), (Some(Nanos::secs(30)), "dirty_ratio=20"));
        tree.file("proc/sys/vm/dirty_bytes", "67108864\n");
        assert_eq!(sys_root.writeback().seen().unwrap().setting, "dirty_bytes=67108864");
    }
}
