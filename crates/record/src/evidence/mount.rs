//! Mounts: `/proc/self/mountinfo`, and which of them a path lies on.

use super::{DeviceNumber, Mount, SysRoot};
use assay_plan::name;

/// One line of mountinfo.
#[derive(Clone, Debug, PartialEq)]
pub struct MountEntry {
    /// Mount id, as `statx` names it.
    pub id: u64,
    /// What part of the file system is mounted: `/`, or a folder of it for bind mounts, or a
    /// control group.
    pub root: String,
    /// Options of the file system itself, still joined and escaped.
    pub super_options: String,
    /// The mount in the words of the record.
    pub mount: Mount,
}

impl MountEntry {
    /// The value of an option of the file system: `upperdir`.
    pub fn option(&self, key: &str) -> Option<String> {
        self.super_options.split(',').find_map(|option| {
            let value = option.strip_prefix(key)?.strip_prefix('=')?;
            Some(unescape(value))
        })
    }
}

/// What is mounted at a place: the last, which covers the others.
pub fn mounted_at(sys_root: &SysRoot, point: &str) -> Option<MountEntry> {
    let table = parse(&sys_root.text("/proc/self/mountinfo").ok()?);
    table.into_iter().rfind(|entry| entry.mount.point == point)
}

/// Parses the whole of mountinfo; lines that are not understood are left out.
pub fn parse(text: &str) -> Vec<MountEntry> {
    text.lines().filter_map(entry).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn entry(line: &str) -> Option<MountEntry> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let id = left.next()?.parse().ok()?;
    left.next()?;
    let device = device_number(left.next()?)?;
    let root = unescape(left.next()?);
    let point = unescape(left.next()?);
    let own = left.next()?;
    let mut right = right.split(' ');
    let kind = unescape(right.next()?);
    let source = unescape(right.next()?);
    let super_options = right.next().unwrap_or("").to_string();
    let mut options: Vec<&str> = Vec::new();
    for option in own.split(',').chain(super_options.split(',')) {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    let read_only = options.contains(&"ro");
    let options = unescape(&options.join(","));
    let mount = Mount { point, kind, source, options, read_only, device };
    Some(MountEntry { id, root, super_options, mount })
}

/// `8:17`.
pub fn device_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.trim().split_once(':')?;
    Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// Undoes the kernel's octal escapes: `\040` is a blank.
pub fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return name::tamed(text).into();
    }
    let bytes = name::bytes(text);
    let mut plain = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let digits = bytes.get(i + 1..i + 4).unwrap_or(&[]);
        if bytes[i] == b'\\' && digits.len() == 3 && digits.iter().all(|d| matches!(d, b'0'..=b'7'))
        {
            let value = digits.iter().fold(0_u32, |v, d| v * 8 + u32::from(d - b'0'));
            plain.push(value as u8);
            i += 4;
        } else {
            plain.push(bytes[i]);
            i += 1;
        }
    }
    name::word(&plain)
}

/// The mount of a path: by mount id; else the longest mount point above the path, the latest of
/// equals, since it covers the others. With a device number only mounts of that device count, when
/// there is one.
pub fn find<'a>(
    entries: &'a [MountEntry],
    id: Option<u64>,
    device: Option<DeviceNumber>,
    path: &str,
) -> Option<&'a MountEntry> {
    if let Some(entry) = id.and_then(|id| entries.iter().find(|e| e.id == id)) {
        return Some(entry);
    }
    let longest = |of: Option<DeviceNumber>| {
        entries
            .iter()
            .filter(|e| of.is_none_or(|d| e.mount.device == d))
            .filter(|e| below(path, &e.mount.point).is_some())
            .max_by_key(|e| e.mount.point.len())
    };
    longest(device).filter(|_| device.is_some()).or_else(|| longest(None))
}

/// The part of `path` below `point`, without a leading slash; `None` when it is not below.
pub fn below<'a>(path: &'a str, point: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(point.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,errors=remount-ro
40 27 8:1 / /mnt/sd rw,noatime shared:1 master:3 - vfat /dev/sda1 rw,fmask=0022
41 27 8:17 / /mnt/two\040words ro,relatime - ext4 /dev/sdb1 rw
42 27 0:44 /sub /mnt/sd/deep rw - btrfs /dev/mapper/vg\134x rw,space_cache
43 27 0:45 / /mnt/sd rw - overlay overlay rw,lowerdir=/l,upperdir=/up\054per,workdir=/w
44 27 0:46 / /home rw - fuse.sshfs me@host: rw,user_id=0
this is not a mount
";

    #[test]
    fn lines_are_taken_apart() {
        let table = parse(TABLE);
        assert_eq!(table.len(), 7);
        assert_eq!(table[1].id, 27);
        assert_eq!(table[1].mount.options, "rw,relatime,discard,errors=remount-ro");
        assert_eq!(table[2].mount.device, DeviceNumber { major: 8, minor: 1 });
        assert_eq!(table[3].mount.point, "/mnt/two words");
        assert!(table[3].mount.read_only && !table[2].mount.read_only);
        assert_eq!(table[4].root, "/sub");
        assert_eq!(table[4].mount.source, r"/dev/mapper/vg\x");
        assert_eq!(table[5].option("upperdir").as_deref(), Some("/up,per"));
        assert_eq!(table[5].option("upper"), None);
        assert_eq!(table[6].mount.kind, "fuse.sshfs");
    }

    #[test]
    fn the_id_decides_then_the_longest_and_latest_point() {
        let table = parse(TABLE);
        let point = |id, device, path| {
            find(&table, id, device, path).map(|e| (e.id, e.mount.point.as_str()))
        };
        assert_eq!(point(Some(40), None, "/mnt/sd/x"), Some((40, "/mnt/sd")));
        assert_eq!(point(None, None, "/mnt/sd/x"), Some((43, "/mnt/sd")));
        assert_eq!(point(None, None, "/mnt/sdx"), Some((27, "/")));
        assert_eq!(point(None, None, "/mnt/sd/deep/x"), Some((42, "/mnt/sd/deep")));
        assert_eq!(point(Some(999), None, "/home"), Some((44, "/home")));
        let sda1 = Some(DeviceNumber { major: 8, minor: 1 });
        assert_eq!(point(None, sda1, "/mnt/sd/x"), Some((40, "/mnt/sd")));
        let other = Some(DeviceNumber { major: 9, minor: 9 });
        assert_eq!(point(None, other, "/mnt/sd/x"), Some((43, "/mnt/sd")));
    }

    #[test]
    fn escapes_are_octal() {
        assert_eq!(unescape(r"a\040b\011c\134"), name::word(b"a b\tc\\"));
        assert_eq!(unescape(r"a\04"), r"a\04");
        assert_eq!(unescape(r"\303\244"), "ä");
    }

    #[test]
    fn a_path_below_a_point() {
        assert_eq!(below("/a/b", "/"), Some("a/b"));
        assert_eq!(below("/a/b", "/a"), Some("b"));
        assert_eq!(below("/a", "/a"), Some(""));
        assert_eq!(below("/ab", "/a"), None);
    }
}
