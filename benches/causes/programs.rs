//! The program and its surroundings: CPUs that others use, data that cost time, pipes with a slow other end,
//! servers of file systems.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::lab::{
    self, Card, Faults, FaultyFuse, Image, KI, MI, Memory, Op, RamDisk, Shape, Skip, on,
};
use super::scene::{
    About, Meanwhile, Scene, Server, Tried, Truth, assay, file, hold, operand, paced, sleep,
};

pub const SCENES: &[Scene] = &[
    Scene {
        name: "three busy programs on its CPU",
        made: "taskset to a CPU with three that never sleep",
        play: hogs,
    },
    Scene {
        name: "moved to a busy CPU in mid-run",
        made: "taskset to a CPU with five that never sleep, after 0.5 s",
        play: moved,
    },
    Scene {
        name: "blocks of 32 bytes",
        made: "a buffered dd of 32-byte blocks on a fast device",
        play: small_blocks,
    },
    Scene { name: "converted data", made: "dd conv=ebcdic to a fast device", play: converted },
    Scene {
        name: "data with checksums",
        made: "fio verify=sha3-512 on a fast device",
        play: checksums,
    },
    Scene {
        name: "zeros to the machine's own disk",
        made: "dd if=/dev/zero bs=1M conv=fdatasync to a disk that does more directly",
        play: commonest,
    },
    Scene { name: "file in memory", made: "dd to tmpfs with conv=fdatasync", play: tmpfs },
    Scene {
        name: "disk that is compressed memory",
        made: "random reads of ext4 on zram",
        play: zram,
    },
    Scene {
        name: "slow reader of a pipe",
        made: "dd to a pipe that is read at 2 MiB/s",
        play: slow_reader,
    },
    Scene {
        name: "slow reader of a socket",
        made: "dd to a socket that is read at 2 MiB/s",
        play: slow_socket,
    },
    Scene {
        name: "slow writer of a pipe",
        made: "dd from a pipe that is written at 2 MiB/s",
        play: slow_writer,
    },
    Scene {
        name: "slow writer of a FIFO",
        made: "dd from a named FIFO that is written at 2 MiB/s",
        play: slow_fifo,
    },
    Scene {
        name: "reader of a pipe that pauses",
        made: "a pipe that is read at once, but for 3 s",
        play: pausing_reader,
    },
    Scene {
        name: "FUSE server that sleeps",
        made: "each request waits 20 ms, as a network does",
        play: sleeping_server,
    },
    Scene {
        name: "FUSE server that is stopped",
        made: "a server of 5 ms a request, stopped for 3 s",
        play: stopped_server,
    },
];

/// A fast device that the machine's own disk cannot make slower.
fn in_memory() -> Result<Card, Skip> {
    Card::new(Shape { image: Image::Thin(400 * MI), ..Shape::fast() })
}

fn hogs() -> Result<Tried, Skip> {
    let card = in_memory()?;
    let _hogs: Vec<Meanwhile> = (0..3).map(|_| Meanwhile::hog(0)).collect();
    let run = assay(["dd", "if=/dev/zero", "bs=32", "count=250000", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    let record = run.first().through(&["taskset", "-c", "0"]).run();
    Truth::of(About::Neither, &["cpu_wait"]).with(record)
}

fn moved() -> Result<Tried, Skip> {
    let card = in_memory()?;
    let _hogs: Vec<Meanwhile> = (0..5).map(|_| Meanwhile::hog(0)).collect();
    let run = assay(["dd", "if=/dev/zero", "bs=32", "count=900000", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    let record = run.first().through(&["taskset", "-c", "1"]).beside(|pid| {
        sleep(0.5);
        let pid = pid.as_raw_nonzero().to_string();
        let _ = std::process::Command::new("taskset").args(["-pac", "0", &pid]).output();
    });
    Truth::of(About::Neither, &["cpu_wait"]).with(record)
}

fn small_blocks() -> Result<Tried, Skip> {
    let card = in_memory()?;
    let run = assay(["dd", "if=/dev/zero", "bs=32", "count=700000", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    Truth::of(About::Neither, &["cpu"]).with(run.first().run())
}

fn converted() -> Result<Tried, Skip> {
    let card = in_memory()?;
    let run = assay(["dd", "if=/dev/zero", "bs=64", "count=500000", "conv=ebcdic,fdatasync"])
        .word(operand("of", card.path("x")));
    Truth::of(About::Neither, &["cpu"]).with(run.first().run())
}

fn checksums() -> Result<Tried, Skip> {
    let card = in_memory()?;
    let run = assay(["fio", "--name=x", "--rw=write", "--bs=64k", "--direct=1", "--size=96m"])
        .words(&["--verify=sha3-512", "--do_verify=0", "--verify_state_save=0"])
        .word(operand("--filename", card.path("x")));
    // Checksums and a device that is served by the same CPUs: about as long, either.
    Truth::of(About::Neither, &["cpu", "device"]).with(run.first().run())
}

fn commonest() -> Result<Tried, Skip> {
    let folder = lab::folder("disk");
    folder.need_free(2048 * MI)?;
    let path = folder.path().join("x");
    let run = assay(["dd", "if=/dev/zero", "bs=1M", "count=1024", "conv=fdatasync"])
        .word(operand("of", &path));
    let record = run.first().run();
    let rate = record["phases"][0]["totals"]["write"]["bandwidth"].as_f64().unwrap_or(0.0);
    let _ = std::fs::remove_file(&path);
    // Several in flight, past the cache, as a person would who wants to know the disk.
    let direct = assay(["io", "--rw", "write", "--bs", "1M", "--depth", "4", "--time", "2"])
        .word(folder.path())
        .run();
    let alone = direct["phases"][0]["totals"]["write"]["bandwidth"].as_f64().unwrap_or(0.0);
    println!("    (buffered {:.0} MB/s, direct {:.0} MB/s)", rate / 1e6, alone / 1e6);
    let truth = if rate > 0.9 * alone {
        // Others keep the disk busy today: it is all that it gives.
        Truth::of(About::Device, &["device", "cpu", "others_at_device", "cpu_wait"])
    } else {
        // That of the path through the page cache, if it says so.
        Truth::of(About::Limit, &["cpu"])
    };
    truth.with(record)
}

fn tmpfs() -> Result<Tried, Skip> {
    let memory = Memory::tmpfs_of(600 * MI)?;
    let run = assay(["dd", "if=/dev/zero", "bs=64k", "count=8192", "conv=fdatasync"])
        .word(operand("of", memory.path("x")));
    Truth::of(About::Neither, &["cpu"]).with(run.first().run())
}

fn zram() -> Result<Tried, Skip> {
    let disk = RamDisk::ext4(128 * MI)?;
    let run = assay(["io", "--rw", "randread", "--bs", "4k", "--time", "3", "--size", "64M"]);
    Truth::of(About::Neither, &["cpu"]).with(run.word(disk.mount()).first().run())
}

/// What the slow ends of pipes move at a time, and how often: 2 MiB/s.
const PART: usize = 64 * KI as usize;
const EACH: Duration = Duration::from_micros(31_250);

/// A pipe whose ends are not inherited.
fn pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe")
}

/// Reads to the end: after each part it waits so long.
fn drain(from: impl Into<OwnedFd>, each: Duration) {
    let mut from = File::from(from.into());
    std::thread::spawn(move || {
        let mut part = vec![0; PART];
        while from.read_exact(&mut part).is_ok() {
            std::thread::sleep(each);
        }
    });
}

/// Writes so many bytes, with a wait after each part.
fn feed(to: impl Into<OwnedFd>, bytes: u64) {
    let mut to = File::from(to.into());
    std::thread::spawn(move || {
        let part = vec![7; PART];
        for _ in 0..bytes / PART as u64 {
            if to.write_all(&part).is_err() {
                return;
            }
            std::thread::sleep(EACH);
        }
    });
}

fn slow_reader() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 8 * MI);
    let (reader, writer) = pipe();
    drain(reader, EACH);
    let run = assay(["dd", "bs=64k", "iflag=direct"]).word(operand("if", path));
    Truth::of(About::Neither, &["other_end"]).with(run.stdout(writer).run())
}

fn slow_socket() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 8 * MI);
    let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
    drain(reader, EACH);
    let run = assay(["dd", "bs=64k", "iflag=direct"]).word(operand("if", path));
    Truth::of(About::Neither, &["other_end"]).with(run.stdout(writer.into()).run())
}

fn slow_writer() -> Result<Tried, Skip> {
    let card = paced()?;
    let (reader, writer) = pipe();
    feed(writer, 8 * MI);
    let run = assay(["dd", "bs=64k", "iflag=fullblock", "oflag=direct"])
        .word(operand("of", card.path("x")));
    Truth::of(About::Neither, &["other_end"]).with(run.stdin(reader).run())
}

fn slow_fifo() -> Result<Tried, Skip> {
    let card = paced()?;
    let folder = lab::folder("fifo");
    let fifo = folder.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).expect("a FIFO");
    let name = fifo.clone();
    std::thread::spawn(move || {
        if let Ok(to) = File::options().write(true).open(name) {
            feed(to, 8 * MI);
        }
    });
    let run = assay(["dd", "bs=64k", "iflag=fullblock", "conv=fdatasync"])
        .word(operand("of", card.path("x")))
        .word(operand("if", fifo));
    Truth::of(About::Neither, &["other_end"]).with(run.run())
}

fn pausing_reader() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 64 * MI);
    let (reader, writer) = pipe();
    let mut from = File::from(reader);
    std::thread::spawn(move || {
        let mut part = vec![0; PART];
        for n in 0.. {
            if from.read_exact(&mut part).is_err() {
                return;
            }
            // After half of it.
            if n == 512 {
                sleep(3.0);
            }
        }
    });
    let run = assay(["dd", "bs=64k", "iflag=direct"]).word(operand("if", path));
    Truth::of(About::Neither, &["other_end"]).with(run.stdout(writer).run())
}

fn sleeping_server() -> Result<Tried, Skip> {
    let time = Duration::from_millis(20);
    let waits = Faults::from(on(Op::Read).hangs(time)).and(on(Op::Write).hangs(time));
    let fuse = FaultyFuse::new(waits)?;
    fuse.put("x", &vec![7; (16 * MI) as usize]);
    let run = assay(["dd", "of=/dev/null", "bs=128k"]).word(operand("if", fuse.path("x")));
    Truth::of(About::Neither, &["server"]).with(run.run())
}

fn stopped_server() -> Result<Tried, Skip> {
    let server = Server::start()?;
    let run = assay(["dd", "of=/dev/null", "bs=64k"]).word(operand("if", &server.file));
    let record = run.beside(|_| {
        sleep(0.5);
        hold(server.pid(), 3.0);
    });
    Truth::of(About::Neither, &["server"]).with(record)
}
