//! What lies on a block device, by the bytes that its owner left at known places.
//!
//! The table is what libblkid knows (util-linux 2.38 and later, `libblkid/src/superblocks` and `partitions`), and what
//! others leave that it does not. It only gives names: whether a device is empty is told by all of its bytes
//! ([`super::DeviceContent`]), so that a magic number is enough here, and no checksum has to agree.

/// Where a signature stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignaturePlace {
    /// So many bytes from the start of the device.
    Start(u64),
    /// In this sector of 512 bytes before the end of the device, and so many bytes in it. The last is number 1.
    Sector(u64, u64),
    /// So many bytes before the end.
    End(u64),
    /// In the last whole piece of so many bytes but some pieces, and so many bytes in it: `(size & !(piece - 1)) - before`.
    Aligned {
        /// Bytes of a piece, a power of two.
        piece: u64,
        /// Bytes before the end of the last whole piece.
        before: u64,
    },
}

use SignaturePlace::{Aligned, End, Sector, Start};

impl SignaturePlace {
    /// Where that is on a device of `size` bytes; `None` where the device is smaller.
    pub fn offset(self, size: u64) -> Option<u64> {
        match self {
            Start(offset) => Some(offset),
            Sector(number, within) => {
                Some((size / 512).checked_sub(number)?.saturating_mul(512) + within)
            }
            End(before) => size.checked_sub(before),
            Aligned { piece, before } => (size & !(piece - 1)).checked_sub(before),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    /// What it is the signature of, with an article.
    pub name: &'static str,
    /// What `wipefs` and `blkid` call it; empty where they do not know it.
    pub kind: &'static str,
    /// Where it stands.
    pub place: SignaturePlace,
    /// The bytes.
    pub magic: &'static [u8],
}

const fn of(
    name: &'static str,
    kind: &'static str,
    place: SignaturePlace,
    magic: &'static [u8],
) -> Signature {
    Signature { name, kind, place, magic }
}

const KIB: u64 = 1024;

const SWAP: &str = "swap space";
const HIBERNATED: &str = "the image of a hibernated system";
const BTRFS: &str = "a btrfs file system";
const BCACHE: &str = "a bcache device";
const BCACHEFS: &str = "a bcachefs file system";
/// Which of them it is, its features tell: [`ext_kind`].
const EXT: &str = "an ext2, ext3 or ext4 file system";
const HFS: &str = "an HFS or HFS+ file system";
const LUKS: &str = "a LUKS volume";
const LUKS_SECOND: &str = "a LUKS volume (its second header)";
const LVM2: &str = "an LVM physical volume";
const MINIX: &str = "a Minix file system";
const OCFS2: &str = "an OCFS2 file system";
const REISER: &str = "a ReiserFS file system";
const STRATIS: &str = "a member of a Stratis pool";
const UDF: &str = "a UDF file system";
const VXFS: &str = "a VxFS file system";
const FAT: &str = "a FAT file system";
const BFS: &str = "a BeFS file system";
const SQUASHFS: &str = "a squashfs image";
const CRAMFS: &str = "a cramfs image";
const DRBD: &str = "a DRBD device";
const DDF: &str = "a member of a DDF RAID";
const PROMISE: &str = "a member of a Promise FastTrak RAID";
const HPT37X: &str = "a member of a HighPoint 37x RAID";
const HPT45X: &str = "a member of a HighPoint 45x RAID";
const INTEL: &str = "a member of an Intel RAID";
const UFS: &str = "a UFS file system";
const SYSV: &str = "a System V file system";
const XENIX: &str = "a Xenix file system";
const MD_11: &str = "a member of a software RAID (md 1.1)";
const MD_12: &str = "a member of a software RAID (md 1.2)";
const MD_10: &str = "a member of a software RAID (md 1.0)";
const MD_090: &str = "a member of a software RAID (md 0.90)";
const GPT: &str = "a GPT partition table";
const GPT_SECOND: &str = "the second copy of a GPT partition table";
const BSD: &str = "a BSD disk label";
const NILFS: &str = "a NILFS2 file system";
const NILFS_SECOND: &str = "a NILFS2 file system (its second superblock)";

const BCACHE_MAGIC: [u8; 16] = [
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
const BCACHEFS_MAGIC: [u8; 16] = [
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];
const STRATIS_MAGIC: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";
/// Of md superblocks, little and big endian.
const MD: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];
const MD_BIG: [u8; 4] = [0xa9, 0x2b, 0x4e, 0xfc];
const PROMISE_MAGIC: &[u8] = b"Promise Technology, Inc.";
const DDF_MAGIC: [u8; 4] = [0xde, 0x11, 0xde, 0x11];

/// Signatures that say more than others come first: of several at one device the first is told.
pub(super) const SIGNATURES: &[Signature] = &[
    // ---- what other devices are made of
    of(LUKS, "crypto_LUKS", Start(0), b"LUKS\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x4000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x8000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x1_0000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x2_0000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x4_0000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x8_0000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x10_0000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x20_0000), b"SKUL\xba\xbe"),
    of(LUKS_SECOND, "crypto_LUKS", Start(0x40_0000), b"SKUL\xba\xbe"),
    of(LVM2, "LVM2_member", Start(24), b"LVM2 001"),
    of(LVM2, "LVM2_member", Start(512 + 24), b"LVM2 001"),
    of(LVM2, "LVM2_member", Start(1024 + 24), b"LVM2 001"),
    of(LVM2, "LVM2_member", Start(1536 + 24), b"LVM2 001"),
    of("a snapshot of a volume manager", "DM_snapshot_cow", Start(0), b"SnAp"),
    of("the hashes of a dm-verity volume", "DM_verity_hash", Start(0), b"verity\0\0"),
    of("a dm-integrity volume", "DM_integrity", Start(0), b"integrt\0"),
    of(MD_11, "linux_raid_member", Start(0), &MD),
    of(MD_12, "linux_raid_member", Start(4096), &MD),
    of(MD_10, "linux_raid_member", Aligned { piece: 4096, before: 8192 }, &MD),
    of(MD_090, "linux_raid_member", Aligned { piece: 65536, before: 65536 }, &MD),
    of(MD_090, "linux_raid_member", Aligned { piece: 65536, before: 65536 }, &MD_BIG),
    of(DDF, "ddf_raid_member", Sector(1, 0), &DDF_MAGIC),
    of(DDF, "ddf_raid_member", Sector(257, 0), &DDF_MAGIC),
    of(INTEL, "isw_raid_member", Sector(2, 0), b"Intel Raid ISM Cfg Sig. "),
    of(INTEL, "isw_raid_member", End(8192), b"Intel Raid ISM Cfg Sig. "),
    of("a member of an LSI MegaRAID", "lsi_mega_raid_member", Sector(1, 0), b"$XIDE$"),
    of("a member of an Nvidia RAID", "nvidia_raid_member", Sector(2, 0), b"NVIDIA  "),
    of(
        "a member of an Adaptec RAID",
        "adaptec_raid_member",
        Sector(1, 0),
        &[0x37, 0xfc, 0x4d, 0x1e],
    ),
    of("a member of a JMicron RAID", "jmicron_raid_member", Sector(1, 0), b"JM"),
    of("a member of a VIA RAID", "via_raid_member", Sector(1, 0), &[0x55, 0xaa]),
    of(
        "a member of a Silicon Image Medley RAID",
        "silicon_medley_raid_member",
        Sector(1, 0x60),
        &[0, 0, 0, 0x2f],
    ),
    of(HPT45X, "hpt45x_raid_member", Sector(11, 0), &[0xf3, 0x16, 0x78, 0x5a]),
    of(HPT45X, "hpt45x_raid_member", Sector(11, 0), &[0xfd, 0x16, 0x78, 0x5a]),
    of(HPT37X, "hpt37x_raid_member", Start(4640), &[0xf0, 0x16, 0x78, 0x5a]),
    of(HPT37X, "hpt37x_raid_member", Start(4640), &[0xfd, 0x16, 0x78, 0x5a]),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(63, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(255, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(256, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(16, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(399, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(591, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(675, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(735, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(911, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(974, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(991, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(951, 0), PROMISE_MAGIC),
    of(PROMISE, "promise_fasttrack_raid_member", Sector(3087, 0), PROMISE_MAGIC),
    of(DRBD, "drbd", End(4096 - 60), &[0x83, 0x74, 0x02, 0x6b]),
    of(DRBD, "drbd", End(4096 - 60), &[0x83, 0x74, 0x02, 0x6c]),
    of(DRBD, "drbd", End(4096 - 60), &[0x83, 0x74, 0x02, 0x6d]),
    of("the control volume of drbdmanage", "drbdmanage_control_volume", Start(0), b"$DRBDmgr=q"),
    of("the log of a DRBD proxy", "drbdproxy_datalog", Start(0), b"DRBDdlh*"),
    of(BCACHE, "bcache", Start(4096 + 24), &BCACHE_MAGIC),
    of(BCACHEFS, "bcachefs", Start(4096 + 24), &BCACHEFS_MAGIC),
    of(BCACHEFS, "bcachefs", Start(2048 * KIB + 24), &BCACHEFS_MAGIC),
    of(BCACHEFS, "bcachefs", End(1024 * KIB - 24), &BCACHEFS_MAGIC),
    of(STRATIS, "stratis", Start(512 + 4), STRATIS_MAGIC),
    of(STRATIS, "stratis", Start(512 * 9 + 4), STRATIS_MAGIC),
    // Without the checksum before it: as versions before 2.0 had it.
    of(STRATIS, "stratis", Start(512), STRATIS_MAGIC),
    of("a VDO volume", "vdo", Start(0), b"dmvdo001"),
    of("a Ceph BlueStore device", "ceph_bluestore", Start(0), b"bluestore block device"),
    of("a disk of Oracle ASM", "oracleasm", Start(32), b"ORCLDISK"),
    of("a VMFS file system", "VMFS", Start(2048 * KIB), &[0x5e, 0xf1, 0xab, 0x2f]),
    of(
        "a member of a VMFS volume",
        "VMFS_volume_member",
        Start(1024 * KIB),
        &[0x0d, 0xd0, 0x01, 0xc0],
    ),
    of("a UBI volume", "ubi", Start(0), b"UBI#"),
    of("a UBIFS file system", "ubifs", Start(0), &[0x31, 0x18, 0x10, 0x06]),
    of("an mpool device", "mpool", Start(0), b"mpoolDev"),
    of("a FileVault 2 volume", "cs_fvault2", Start(88), b"CS\x01\x00"),
    // ---- swap
    of(SWAP, "swap", Start(0xff6), b"SWAPSPACE2"),
    of(SWAP, "swap", Start(0x1ff6), b"SWAPSPACE2"),
    of(SWAP, "swap", Start(0x3ff6), b"SWAPSPACE2"),
    of(SWAP, "swap", Start(0x7ff6), b"SWAPSPACE2"),
    of(SWAP, "swap", Start(0xfff6), b"SWAPSPACE2"),
    of(SWAP, "swap", Start(0xff6), b"SWAP-SPACE"),
    of(SWAP, "swap", Start(0x1ff6), b"SWAP-SPACE"),
    of(SWAP, "swap", Start(0x3ff6), b"SWAP-SPACE"),
    of(SWAP, "swap", Start(0x7ff6), b"SWAP-SPACE"),
    of(SWAP, "swap", Start(0xfff6), b"SWAP-SPACE"),
    of(HIBERNATED, "swsuspend", Start(0), &[0xed, 0xc3, 0x02, 0xe9, 0x98, 0x56, 0xe5, 0x0c]),
    of(HIBERNATED, "swsuspend", Start(0xff6), b"S1SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0xff6), b"S2SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0xff6), b"ULSUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0xff6), b"LINHIB0001"),
    of(HIBERNATED, "swsuspend", Start(0x1ff6), b"S1SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x1ff6), b"S2SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x1ff6), b"ULSUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x1ff6), b"LINHIB0001"),
    of(HIBERNATED, "swsuspend", Start(0x3ff6), b"S1SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x3ff6), b"S2SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x3ff6), b"ULSUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x3ff6), b"LINHIB0001"),
    of(HIBERNATED, "swsuspend", Start(0x7ff6), b"S1SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x7ff6), b"S2SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x7ff6), b"ULSUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0x7ff6), b"LINHIB0001"),
    of(HIBERNATED, "swsuspend", Start(0xfff6), b"S1SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0xfff6), b"S2SUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0xfff6), b"ULSUSPEND"),
    of(HIBERNATED, "swsuspend", Start(0xfff6), b"LINHIB0001"),
    // ---- file systems
    of("an XFS file system", "xfs", Start(0), b"XFSB"),
    of("an external log of XFS", "xfs_external_log", Start(0), &[0xfe, 0xed, 0xba, 0xbe]),
    of("an EXFS file system", "exfs", Start(0), b"EXFS"),
    of(BTRFS, "btrfs", Start(64 * KIB + 64), b"_BHRfS_M"),
    of(BTRFS, "btrfs", Start((64 << 20) + 64), b"_BHRfS_M"),
    of(BTRFS, "btrfs", Start((256 << 30) + 64), b"_BHRfS_M"),
    of("an F2FS file system", "f2fs", Start(1024), &[0x10, 0x20, 0xf5, 0xf2]),
    of("an F2FS file system", "f2fs", Start(1024 + 4096), &[0x10, 0x20, 0xf5, 0xf2]),
    of("an exFAT file system", "exfat", Start(3), b"EXFAT   "),
    of("an NTFS file system", "ntfs", Start(3), b"NTFS    "),
    of("an NTFS file system (its second boot sector)", "ntfs", Sector(1, 3), b"NTFS    "),
    of("a ReFS file system", "ReFS", Start(0), b"\0\0\0ReFS\0"),
    of("a BitLocker volume", "BitLocker", Start(0), b"\xeb\x52\x90-FVE-FS-"),
    of("a BitLocker volume", "BitLocker", Start(0), b"\xeb\x58\x90-FVE-FS-"),
    of("a BitLocker volume", "BitLocker", Start(0), b"\xeb\x58\x90MSWIN4.1"),
    of("an APFS container", "apfs", Start(32), b"NXSB"),
    of(HFS, "hfsplus", Start(1024), b"H+"),
    of(HFS, "hfsplus", Start(1024), b"HX"),
    of(HFS, "hfs", Start(1024), b"BD"),
    of("a JFS file system", "jfs", Start(32 * KIB), b"JFS1"),
    of(REISER, "reiserfs", Start(8 * KIB + 0x34), b"ReIsErFs"),
    of(REISER, "reiserfs", Start(64 * KIB + 0x34), b"ReIsEr2Fs"),
    of(REISER, "reiserfs", Start(64 * KIB + 0x34), b"ReIsEr3Fs"),
    of(REISER, "reiserfs", Start(64 * KIB + 0x34), b"ReIsErFs"),
    of(REISER, "reiserfs", Start(8 * KIB + 20), b"ReIsErFs"),
    of("a Reiser4 file system", "reiser4", Start(64 * KIB), b"ReIsEr4"),
    of("a GFS or GFS2 file system", "gfs2", Start(64 * KIB), &[0x01, 0x16, 0x19, 0x70]),
    of("an OCFS file system", "ocfs", Start(8 * KIB), b"OracleCFS"),
    of(OCFS2, "ocfs2", Start(KIB), b"OCFSV2"),
    of(OCFS2, "ocfs2", Start(2 * KIB), b"OCFSV2"),
    of(OCFS2, "ocfs2", Start(4 * KIB), b"OCFSV2"),
    of(OCFS2, "ocfs2", Start(8 * KIB), b"OCFSV2"),
    of("a NetWare (NSS) file system", "nss", Start(4 * KIB), b"SPB5"),
    of("an HPFS file system", "hpfs", Start(8 * KIB), &[0x49, 0xe8, 0x95, 0xf9]),
    of("an ISO 9660 image", "iso9660", Start(32 * KIB + 1), b"CD001"),
    of("an ISO 9660 image", "iso9660", Start(32 * KIB + 9), b"CDROM"),
    of(UDF, "udf", Start(32 * KIB + 1), b"BEA01"),
    of(UDF, "udf", Start(32 * KIB + 1), b"BOOT2"),
    of(UDF, "udf", Start(32 * KIB + 1), b"CDW02"),
    of(UDF, "udf", Start(32 * KIB + 1), b"NSR02"),
    of(UDF, "udf", Start(32 * KIB + 1), b"NSR03"),
    of(UDF, "udf", Start(32 * KIB + 1), b"TEA01"),
    of(SQUASHFS, "squashfs", Start(0), b"hsqs"),
    of(SQUASHFS, "squashfs3", Start(0), b"sqsh"),
    of(CRAMFS, "cramfs", Start(0), &[0x45, 0x3d, 0xcd, 0x28]),
    of(CRAMFS, "cramfs", Start(0), &[0x28, 0xcd, 0x3d, 0x45]),
    of("a romfs image", "romfs", Start(0), b"-rom1fs-"),
    of("an EROFS image", "erofs", Start(1024), &[0xe2, 0xe1, 0xf5, 0xe0]),
    of("a zonefs file system", "zonefs", Start(0), b"SFOZ"),
    of("a ScoutFS device", "scoutfs_meta", Start(64 * KIB + 4), &[0x8b, 0x42, 0x3c, 0x10]),
    of("a SCO BFS file system", "bfs", Start(0), &[0xce, 0xfa, 0xad, 0x1b]),
    of(BFS, "befs", Start(32), b"BFS1"),
    of(BFS, "befs", Start(32), b"1SFB"),
    of(BFS, "befs", Start(512 + 32), b"BFS1"),
    of(BFS, "befs", Start(512 + 32), b"1SFB"),
    of(VXFS, "vxfs", Start(KIB), &[0xf5, 0xfc, 0x01, 0xa5]),
    of(VXFS, "vxfs", Start(8 * KIB), &[0xa5, 0x01, 0xfc, 0xf5]),
    // In four places, of six kinds, in both byte orders.
    of(UFS, "ufs", Start(0x55c), &[0x54, 0x19, 0x01, 0x00]),
    of(UFS, "ufs", Start(0x55c), &[0x00, 0x01, 0x19, 0x54]),
    of(UFS, "ufs", Start(0x55c), &[0x19, 0x01, 0x54, 0x19]),
    of(UFS, "ufs", Start(0x55c), &[0x19, 0x54, 0x01, 0x19]),
    of(UFS, "ufs", Start(8 * KIB + 0x55c), &[0x54, 0x19, 0x01, 0x00]),
    of(UFS, "ufs", Start(8 * KIB + 0x55c), &[0x00, 0x01, 0x19, 0x54]),
    of(UFS, "ufs", Start(8 * KIB + 0x55c), &[0x19, 0x01, 0x54, 0x19]),
    of(UFS, "ufs", Start(8 * KIB + 0x55c), &[0x19, 0x54, 0x01, 0x19]),
    of(UFS, "ufs", Start(64 * KIB + 0x55c), &[0x54, 0x19, 0x01, 0x00]),
    of(UFS, "ufs", Start(64 * KIB + 0x55c), &[0x00, 0x01, 0x19, 0x54]),
    of(UFS, "ufs", Start(64 * KIB + 0x55c), &[0x19, 0x01, 0x54, 0x19]),
    of(UFS, "ufs", Start(64 * KIB + 0x55c), &[0x19, 0x54, 0x01, 0x19]),
    of(UFS, "ufs", Start(256 * KIB + 0x55c), &[0x54, 0x19, 0x01, 0x00]),
    of(UFS, "ufs", Start(256 * KIB + 0x55c), &[0x00, 0x01, 0x19, 0x54]),
    of(UFS, "ufs", Start(256 * KIB + 0x55c), &[0x19, 0x01, 0x54, 0x19]),
    of(UFS, "ufs", Start(256 * KIB + 0x55c), &[0x19, 0x54, 0x01, 0x19]),
    of(XENIX, "xenix", Start(2 * KIB), &[0x2b, 0x55, 0x44]),
    of(XENIX, "xenix", Start(2 * KIB), &[0x44, 0x55, 0x2b]),
    // The superblock is in the second half of block 0, 9, 15 or 18, of 1 KiB; its magic at 504.
    of(SYSV, "sysv", Start(512 + 504), &[0x20, 0x7e, 0x18, 0xfd]),
    of(SYSV, "sysv", Start(512 + 504), &[0xfd, 0x18, 0x7e, 0x20]),
    of(SYSV, "sysv", Start(9 * KIB + 512 + 504), &[0x20, 0x7e, 0x18, 0xfd]),
    of(SYSV, "sysv", Start(9 * KIB + 512 + 504), &[0xfd, 0x18, 0x7e, 0x20]),
    of(SYSV, "sysv", Start(15 * KIB + 512 + 504), &[0x20, 0x7e, 0x18, 0xfd]),
    of(SYSV, "sysv", Start(15 * KIB + 512 + 504), &[0xfd, 0x18, 0x7e, 0x20]),
    of(SYSV, "sysv", Start(18 * KIB + 512 + 504), &[0x20, 0x7e, 0x18, 0xfd]),
    of(SYSV, "sysv", Start(18 * KIB + 512 + 504), &[0xfd, 0x18, 0x7e, 0x20]),
    of(FAT, "vfat", Start(0x52), b"MSWIN"),
    of(FAT, "vfat", Start(0x52), b"FAT32   "),
    of(FAT, "vfat", Start(0x36), b"MSDOS"),
    of(FAT, "vfat", Start(0x36), b"FAT16   "),
    of(FAT, "vfat", Start(0x36), b"FAT12   "),
    of(FAT, "vfat", Start(0x36), b"FAT     "),
    // ---- partition tables
    of(GPT, "gpt", Start(512), b"EFI PART"),
    of(GPT, "gpt", Start(4096), b"EFI PART"),
    of(GPT_SECOND, "gpt", End(512), b"EFI PART"),
    of(GPT_SECOND, "gpt", End(4096), b"EFI PART"),
    of("an SGI disk label", "sgi", Start(0), &[0x0b, 0xe5, 0xa9, 0x41]),
    of("an AIX disk label", "aix", Start(0), &[0xc9, 0xc2, 0xd4, 0xc1]),
    of(BSD, "bsd", Start(512), &[0x57, 0x45, 0x56, 0x82]),
    of(BSD, "bsd", Start(64), &[0x57, 0x45, 0x56, 0x82]),
    of(BSD, "bsd", Start(128), &[0x57, 0x45, 0x56, 0x82]),
    of("a Solaris disk label", "solaris", Start(512 + 12), &[0xee, 0xde, 0x0d, 0x60]),
    of("a UnixWare disk label", "unixware", Start(29 * 512 + 4), &[0x0d, 0x60, 0xe5, 0xca]),
    of("an Ultrix disk label", "ultrix", Start(16384 - 72), &[0x57, 0x29, 0x03, 0x00]),
    of("a DASD label", "dasd", Start(4096), &[0xd3, 0xd5, 0xe7, 0xf1]),
    of("a DASD label", "dasd", Start(8192), &[0xe5, 0xd6, 0xd3, 0xf1]),
    of("a DASD label", "dasd", Start(8192), &[0xd3, 0xd5, 0xe7, 0xf1]),
    of("a DASD label", "dasd", Start(8192), &[0xc3, 0xd4, 0xe2, 0xf1]),
    // ---- of two bytes: what has more says more
    of(EXT, "ext2", Start(EXT_AT + 0x38), &[0x53, 0xef]),
    of(NILFS, "nilfs2", Start(1024 + 6), &[0x34, 0x34]),
    of(NILFS_SECOND, "nilfs2", Sector(8, 6), &[0x34, 0x34]),
    of("an LVM1 physical volume", "LVM1_member", Start(0), b"HM\x01\0"),
    of("an LVM1 physical volume", "LVM1_member", Start(0), b"HM\x02\0"),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x7f, 0x13]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x8f, 0x13]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x13, 0x7f]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x13, 0x8f]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x68, 0x24]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x78, 0x24]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x24, 0x68]),
    of(MINIX, "minix", Start(KIB + 0x10), &[0x24, 0x78]),
    of(MINIX, "minix", Start(KIB + 0x18), &[0x5a, 0x4d]),
    of(MINIX, "minix", Start(KIB + 0x18), &[0x4d, 0x5a]),
    of("a Macintosh partition map", "mac", Start(0), b"ER"),
    of("a Sun disk label", "sun", Start(508), &[0xda, 0xbe]),
    // ---- what is no file system and no table, and has an owner all the same
    of("a tar archive", "", Start(257), b"ustar"),
    of("a gzip stream", "", Start(0), &[0x1f, 0x8b, 0x08]),
    of("an xz stream", "", Start(0), b"\xfd7zXZ\0"),
    of("a Zstandard stream", "", Start(0), &[0x28, 0xb5, 0x2f, 0xfd]),
    of("a cpio archive", "", Start(0), b"07070"),
    of("a ZIP archive", "", Start(0), b"PK\x03\x04"),
    of("a database of SQLite", "", Start(0), b"SQLite format 3\0"),
    of("a disk image of QEMU (qcow2)", "", Start(0), b"QFI\xfb"),
    of("a VMware disk image", "", Start(0), b"KDMV"),
    of("an Android sparse image", "", Start(0), &[0x3a, 0xff, 0x26, 0xed]),
    of("an Android boot image", "", Start(0), b"ANDROID!"),
    of("a U-Boot image", "", Start(0), &[0x27, 0x05, 0x19, 0x56]),
    of("a device tree or FIT image", "", Start(0), &[0xd0, 0x0d, 0xfe, 0xed]),
];

/// What lies on a device of `size` bytes: the name of the first signature of which `has` says that its bytes stand at
/// that offset.
pub(super) fn known(size: u64, has: impl Fn(u64, &[u8]) -> bool) -> Option<&'static Signature> {
    let stands = |signature: &&Signature| {
        signature.place.offset(size).is_some_and(|offset| has(offset, signature.magic))
    };
    SIGNATURES.iter().find(stands)
}

/// Where the first superblock of ext2, ext3 and ext4 stands.
pub(super) const EXT_AT: u64 = 1024;

/// What a superblock of ext2, ext3 or ext4 is of, by its features as libblkid reads them (`superblocks/ext.c`): the name, and
/// what wipefs calls it.
pub(super) fn ext_kind(superblock: &[u8; 0x68]) -> (&'static str, &'static str) {
    let word = |at: usize| {
        u32::from_le_bytes([
            superblock[at],
            superblock[at + 1],
            superblock[at + 2],
            superblock[at + 3],
        ])
    };
    let (compatible, incompatible, read_only) = (word(0x5c), word(0x60), word(0x64));
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    // File types, recovery, journal device, meta block groups; and sparse superblocks, large files, B-trees.
    let beyond_ext3 = incompatible & !0x1e != 0 || read_only & !0x7 != 0;
    match (incompatible & JOURNAL_DEVICE != 0, compatible & HAS_JOURNAL != 0) {
        (true, _) => ("an external journal of ext3 or ext4", "jbd"),
        _ if beyond_ext3 => ("an ext4 file system", "ext4"),
        (_, true) => ("an ext3 file system", "ext3"),
        _ => ("an ext2 file system", "ext2"),
    }
}

/// What has no magic number of its own, at the start of a device: its name, and what wipefs calls it. A boot sector of
/// FAT without its text; a master boot record with partitions, or without.
pub(super) fn boot_sector(sector: &[u8; 512]) -> Option<(&'static str, &'static str)> {
    // Four entries of 12 bytes: a flag, three letters, a place and a size.
    const ATARI: [&[u8]; 6] = [b"GEM", b"BGM", b"XGM", b"LNX", b"SWP", b"RAW"];
    let mut atari = (0..4).map(|i| &sector[0x1c6 + 12 * i..0x1c6 + 12 * (i + 1)]);
    if atari.any(|entry| entry[0] & 1 != 0 && ATARI.contains(&&entry[1..4])) {
        return Some(("an Atari partition table", "atari"));
    }
    if sector[510..] != [0x55, 0xaa] {
        return None;
    }
    let little = |at: usize| u16::from_le_bytes([sector[at], sector[at + 1]]);
    // Bytes of a sector, sectors of a cluster, reserved sectors, copies of the table, and the medium, which is 0xf0 or
    // 0xf8 and up (Microsoft's specification of FAT).
    let fat = matches!(little(11), 512 | 1024 | 2048 | 4096)
        && sector[13].is_power_of_two()
        && little(14) != 0
        && matches!(sector[16], 1 | 2)
        && (sector[21] == 0xf0 || sector[21] >= 0xf8);
    if fat && matches!(sector[0], 0xeb | 0xe9) {
        return Some((FAT, "vfat"));
    }
    // Four entries of 16 bytes; the fifth byte is the kind of partition, zero for none.
    let entries = || (0..4).map(|i| &sector[446 + 16 * i..462 + 16 * i]);
    if entries().any(|entry| entry[4] != 0 && matches!(entry[0], 0 | 0x80)) {
        return Some(("an MBR partition table", "dos"));
    }
    Some(("a boot sector", "dos"))
}

/// Whether bytes that stand at `offset` hold an uberblock of ZFS, in either byte order: labels are 256 KiB, two at each
/// end, and the second half of a label is an array of uberblocks at multiples of 1 KiB.
pub(super) fn has_uberblock(bytes: &[u8], offset: u64) -> bool {
    const MAGIC: u64 = 0x00ba_b10c;
    let skip = offset.next_multiple_of(KIB) - offset;
    let chunks = bytes.get(skip as usize..).unwrap_or(&[]).chunks_exact(KIB as usize);
    let uberblock =
        |chunk: &[u8]| chunk[..8] == MAGIC.to_le_bytes() || chunk[..8] == MAGIC.to_be_bytes();
    chunks.into_iter().any(uberblock)
}
