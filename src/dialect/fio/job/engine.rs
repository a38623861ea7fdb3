//! fio's I/O engines: their names, what they can, and which are not done here.

use super::choices::{FioWord, fio_words};
use super::complaint::FioFault;
use crate::dialect::near;

fio_words! {
    /// An I/O engine of fio.
    FioEngine {
        Sync = "sync" => "lseek() and read() or write()",
        Psync = "psync" => "pread() or pwrite()",
        Vsync = "vsync" => "readv() or writev(), neighbours in one call",
        Pvsync = "pvsync" => "preadv() or pwritev()",
        Pvsync2 = "pvsync2" => "preadv2() or pwritev2()",
        Libaio = "libaio" => "the kernel's native asynchronous I/O",
        IoUring = "io_uring" => "io_uring",
        IoUringCmd = "io_uring_cmd" => "commands to an NVMe device through io_uring",
        Posixaio = "posixaio" => "POSIX asynchronous I/O",
        Mmap = "mmap" => "a mapping of the file and memcpy()",
        Splice = "splice" => "splice() through a pipe",
        Null = "null" => "nothing, but for the accounting",
        Sg = "sg" => "SCSI generic",
        Cpuio = "cpuio" => "no I/O: load for the CPUs",
        Net = "net" => "sockets",
        Netsplice = "netsplice" => "splice() to sockets",
        Rdma = "rdma" => "RDMA",
        Falloc = "falloc" => "fallocate() in place of I/O",
        Ftruncate = "ftruncate" => "ftruncate() in place of I/O",
        E4defrag = "e4defrag" => "EXT4_IOC_MOVE_EXT",
        Filecreate = "filecreate" => "creates files",
        Filestat = "filestat" => "looks at files",
        Filedelete = "filedelete" => "removes files",
        Dircreate = "dircreate" => "creates directories",
        Dirstat = "dirstat" => "looks at directories",
        Dirdelete = "dirdelete" => "removes directories",
        Exec = "exec" => "runs a program",
        PageFault = "page_fault" => "touches pages of memory",
        Mtd = "mtd" => "flash memory without a controller",
        External = "external" => "a library of the user",
        Rbd = "rbd" => "Ceph block devices",
        Rados = "rados" => "Ceph objects",
        Http = "http" => "HTTP, WebDAV, S3, Swift",
        Nfs = "nfs" => "NFS without a mount",
        Nbd = "nbd" => "network block devices",
        Libiscsi = "libiscsi" => "iSCSI without a device",
        Libhdfs = "libhdfs" => "Hadoop",
        Gfapi = "gfapi" => "GlusterFS",
        GfapiAsync = "gfapi_async" => "GlusterFS, asynchronous",
        ImePsync = "ime_psync" => "DDN IME",
        ImePsyncv = "ime_psyncv" => "DDN IME, vectored",
        ImeAio = "ime_aio" => "DDN IME, asynchronous",
        Dfs = "dfs" => "DAOS",
        DevDax = "dev-dax" => "persistent memory as a character device",
        Libpmem = "libpmem" => "persistent memory as a mapping",
        Libblkio = "libblkio" => "libblkio",
        Libzbc = "libzbc" => "zoned block devices through libzbc",
        Libcufile = "libcufile" => "GPUDirect storage",
        Xnvme = "xnvme" => "xNVMe",
        Spdk = "spdk" => "SPDK",
        Windowsaio = "windowsaio" => "Windows",
        Solarisaio = "solarisaio" => "Solaris",
    }
}

/// A name that is none of an engine: what fio says, and the engine that was probably meant.
pub fn unknown(typed: &str) -> FioFault {
    let names = FioEngine::WORDS.iter().map(|word| word.name);
    let instead = match (typed.trim(), near::nearest(typed.trim(), names)) {
        ("liburing" | "uring" | "iouring", _) => "ioengine=io_uring".to_string(),
        (_, Some(near)) => format!("ioengine={near}"),
        (_, None) => "ioengine=psync, io_uring or libaio".to_string(),
    };
    let mut fault = FioFault::line(format!("fio: engine {typed} not loadable"), instead);
    fault.lines.push("fio: failed to load engine".into());
    FioFault { why: format!("there is no engine '{typed}'"), ..fault }
}

/// What is said of an engine that is not done here.
pub fn refused(engine: FioEngine, why: &str) -> String {
    format!("'ioengine={}' is not done here: {why}", engine.word())
}

impl FioEngine {
    /// Whether each I/O is waited for, so that no more than one is in flight.
    pub const fn synchronous(self) -> bool {
        !matches!(
            self,
            Self::Libaio
                | Self::IoUring
                | Self::IoUringCmd
                | Self::Posixaio
                | Self::Null
                | Self::Rdma
                | Self::Rbd
                | Self::Rados
                | Self::Nfs
                | Self::Nbd
                | Self::Dfs
                | Self::GfapiAsync
                | Self::ImeAio
                | Self::Libblkio
                | Self::Xnvme
                | Self::Spdk
                | Self::Windowsaio
                | Self::Solarisaio
        )
    }

    /// Whether it moves no data at all and has no files: it has no line before a run.
    pub const fn without_io(self) -> bool {
        matches!(self, Self::Cpuio | Self::Exec)
    }

    /// Whether no file has to be there: fio's `FIO_DISKLESSIO`.
    pub const fn without_disk(self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Cpuio
                | Self::Exec
                | Self::Net
                | Self::Netsplice
                | Self::Rdma
                | Self::Filecreate
                | Self::Dircreate
                | Self::Dirstat
                | Self::Dirdelete
                | Self::PageFault
        )
    }

    /// Whether files cannot grow under it.
    pub const fn keeps_size(self) -> bool {
        matches!(
            self,
            Self::Mmap
                | Self::Mtd
                | Self::PageFault
                | Self::DevDax
                | Self::Libpmem
                | Self::Libzbc
                | Self::Nbd
                | Self::Nfs
                | Self::Libblkio
                | Self::Xnvme
        )
    }

    /// Whether it goes through pipes, and cannot seek.
    pub const fn through_pipes(self) -> bool {
        matches!(self, Self::Splice | Self::Net | Self::Netsplice | Self::Rdma)
    }

    /// Whether it can write with `RWF_ATOMIC`.
    pub const fn atomic_writes(self) -> bool {
        matches!(self, Self::Pvsync2 | Self::Libaio | Self::IoUring)
    }

    /// Whether it trims several ranges by one command.
    pub const fn trims_many_ranges(self) -> bool {
        matches!(self, Self::IoUringCmd)
    }

    /// Why it is not done here, and what can be written instead; nothing for one that is done.
    pub const fn refusal(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Net | Self::Netsplice | Self::Rdma => {
                Some(("it measures a network", "ioengine=psync for files and block devices"))
            }
            Self::Sg | Self::IoUringCmd | Self::Mtd | Self::Libzbc => Some((
                "it sends commands around the block layer",
                "ioengine=io_uring and the block device as filename",
            )),
            Self::Exec => {
                Some(("it measures no storage", "ioengine=psync for files and block devices"))
            }
            Self::DevDax | Self::Libpmem | Self::Libcufile => Some((
                "it needs a library for memory that is storage",
                "ioengine=mmap and a file on that memory",
            )),
            Self::Windowsaio | Self::Solarisaio => {
                Some(("it is of another system", "ioengine=io_uring"))
            }
            Self::External
            | Self::Rbd
            | Self::Rados
            | Self::Http
            | Self::Nfs
            | Self::Nbd
            | Self::Libiscsi
            | Self::Libhdfs
            | Self::Gfapi
            | Self::GfapiAsync
            | Self::ImePsync
            | Self::ImePsyncv
            | Self::ImeAio
            | Self::Dfs
            | Self::Libblkio
            | Self::Xnvme
            | Self::Spdk => Some((
                "it needs the client library of a storage system",
                "ioengine=io_uring and a file or block device of that system",
            )),
            _ => None,
        }
    }
}
