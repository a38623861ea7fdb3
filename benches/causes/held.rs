//! Runs that were held: by a signal, a group, a tracer, a frozen file system, or by limits that came and went.

use std::fs;

use rustix::process::Pid;

use super::lab::{self, Card, Group, KI, Limits, MI, Skip, Speed};
use super::scene::{
    About, Freezer, Progress, READ, Scene, Tried, Truth, WRITE, assay, file, hold, limited,
    operand, paced, paced_at, sleep,
};

pub const SCENES: &[Scene] = &[
    Scene {
        name: "stopped for 3 s",
        made: "SIGSTOP for 3 s in a direct dd of 2 s",
        play: || {
            stopped_dd(&[], |pid| {
                hold(pid, 3.0);
            })
        },
    },
    Scene {
        name: "stopped twice for 1.5 s",
        made: "SIGSTOP for 1.5 s, twice, in a direct dd of 2 s",
        play: || {
            stopped_dd(&[], |pid| {
                hold(pid, 1.5);
                sleep(0.5);
                hold(pid, 1.5);
            })
        },
    },
    Scene {
        name: "stopped 6 of 10 times",
        made: "stopped for 60 of 100 ms, as cpulimit does",
        play: stopped_often,
    },
    Scene {
        name: "frozen for 3 s, v1",
        made: "a group of v1 that is FROZEN for 3 s in a direct dd of 2 s",
        play: || {
            let freezer = Freezer::v1()?;
            stopped_dd(freezer.rooms(), |_| freezer.freeze(3.0))
        },
    },
    Scene {
        name: "frozen for 3 s, v2",
        made: "cgroup.freeze for 3 s in a direct dd of 2 s",
        play: || {
            let freezer = Freezer::v2()?;
            stopped_dd(freezer.rooms(), |_| freezer.freeze(3.0))
        },
    },
    Scene {
        name: "worker held by a debugger",
        made: "the thread that reads is held by ptrace for 3 of 5 s",
        play: debugged,
    },
    Scene {
        name: "every call traced",
        made: "strace -f around a dd of small blocks",
        play: traced,
    },
    Scene {
        name: "file system frozen for 3 s",
        made: "fsfreeze for 3 s in a direct dd of 2 s",
        play: file_system_frozen,
    },
    Scene {
        name: "limit raised in mid-run",
        made: "dd of 16 MiB; 2 MiB/s become 8 after 4 MiB",
        play: || changed_limit(2 * MI, 16, 4, Speed::bytes(READ, 8 * MI)),
    },
    Scene {
        name: "limit lowered in mid-run",
        made: "dd of 20 MiB; 8 MiB/s become 2 after 12 MiB",
        play: || changed_limit(8 * MI, 20, 12, Speed::bytes(READ, 2 * MI)),
    },
    Scene {
        name: "limit removed in mid-run",
        made: "dd of 74 MiB; 4 MiB/s become none after 10 MiB",
        play: || changed_limit(4 * MI, 74, 10, Speed::FREE),
    },
    Scene {
        name: "limit set in mid-run",
        made: "reads of 6 s; 16 MiB/s after 2 of them",
        play: limit_set,
    },
    Scene {
        name: "limit of the run's own group",
        made: "a group with 4 MiB/s on a fast device",
        play: own_group,
    },
    Scene {
        name: "limit of requests",
        made: "4 KiB random reads below 200 requests/s",
        play: requests,
    },
    Scene { name: "limit one device below", made: "a loop device upon a limited one", play: below },
    Scene {
        name: "CPU quota of a tenth",
        made: "cpu.cfs_quota_us of 10 % around a buffered dd",
        play: quota,
    },
    Scene {
        name: "rate of the plan",
        made: "io --rate 50 on a device that does 512",
        play: planned_rate,
    },
    Scene {
        name: "think time of the plan",
        made: "fio with thinktime=20ms on a device that answers in 2",
        play: think_time,
    },
];

/// A direct dd of 16 MiB on a card of 8 MiB/s; something happens after a quarter, for 3 s.
fn stopped_dd(rooms: &[lab::Room], what: impl FnOnce(Pid)) -> Result<Tried, Skip> {
    let card = paced()?;
    let progress = Progress::of(&card);
    let run = assay(["dd", "if=/dev/zero", "bs=1M", "count=16", "oflag=direct"]);
    let record = run.word(operand("of", card.path("x"))).within(rooms).beside(|pid| {
        progress.reach(4 * MI);
        what(pid);
    });
    Truth::of(About::Neither, &["stopped"]).rate(WRITE).with(record)
}

fn stopped_often() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let progress = Progress::of(&card);
    let run = assay(["io", "--rw", "read", "--bs", "256k", "--time", "4"]).word(path);
    let record = run.beside(|pid| {
        progress.reach(MI);
        // All of it, and a little more: a program that has ended is not there to be stopped.
        for _ in 0..42 {
            hold(pid, 0.06);
            sleep(0.04);
        }
    });
    Truth::of(About::Neither, &["stopped"]).rate(READ).with(record)
}

fn debugged() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let progress = Progress::of(&card);
    let run = assay(["io", "--rw", "read", "--bs", "256k", "--time", "5"]).word(path);
    let record = run.beside(|pid| {
        progress.reach(24 * MI);
        if let Some(worker) = worker(pid) {
            let _held = Held::new(worker);
            sleep(3.0);
        }
    });
    Truth::of(About::Neither, &["stopped"]).rate(READ).with(record)
}

/// The first thread that does I/O.
fn worker(pid: Pid) -> Option<libc::pid_t> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).ok()?;
    tasks.flatten().find_map(|task| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        let number = task.file_name().to_string_lossy().parse().ok()?;
        name.starts_with("assay-0").then_some(number)
    })
}

/// A thread of a program, held by this one; let go when dropped.
struct Held(libc::pid_t);

impl Held {
    fn new(thread: libc::pid_t) -> Self {
        // SAFETY: these requests take no pointers, and whoever attaches lets go.
        unsafe {
            assert_eq!(libc::ptrace(libc::PTRACE_SEIZE, thread, 0, 0), 0, "it may not be held");
            assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0, 0), 0, "it is not held");
            let mut status = 0;
            libc::waitpid(thread, &raw mut status, libc::__WALL);
        }
        Self(thread)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: as above; a thread that has ended is not there to be let go, which is as well.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.0, 0, 0) };
    }
}

fn traced() -> Result<Tried, Skip> {
    lab::need_tool("strace", "strace")?;
    let card = Card::fast()?;
    let run = assay(["dd", "if=/dev/zero", "bs=4k", "count=15000", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    let record = run.through(&["strace", "-f", "-o", "/dev/null"]).run();
    Truth::of(About::Neither, &["stopped"]).with(record)
}

fn file_system_frozen() -> Result<Tried, Skip> {
    let fsfreeze = lab::need_tool("fsfreeze", "util-linux")?;
    let card = paced()?;
    let tell = |word: &str| {
        let told = std::process::Command::new(&fsfreeze).arg(word).arg(card.mount()).status();
        assert!(told.is_ok_and(|status| status.success()), "fsfreeze {word}");
    };
    let progress = Progress::of(&card);
    let run = assay(["dd", "if=/dev/zero", "bs=1M", "count=16", "oflag=direct"])
        .word(operand("of", card.path("x")));
    let record = run.beside(|_| {
        progress.reach(4 * MI);
        tell("-f");
        sleep(3.0);
        tell("-u");
    });
    // Nobody at the device, and the run frozen where it writes.
    Truth::of(About::Neither, &["stopped"]).rate(WRITE).with(record)
}

/// A direct dd of so many MiB, with another limit after some of them.
fn changed_limit(write: u64, count: u64, after: u64, then: Speed) -> Result<Tried, Skip> {
    let card = limited(READ, write)?;
    let progress = Progress::of(&card);
    let run = assay(["dd", "if=/dev/zero", "bs=256k", "oflag=direct"])
        .word(format!("count={}", count * 4))
        .word(operand("of", card.path("x")))
        .within(card.rooms());
    let record = run.beside(|_| {
        progress.reach(after * MI);
        card.set_speed(then);
    });
    Truth::of(About::Neither, &["limit"]).with(record)
}

fn limit_set() -> Result<Tried, Skip> {
    let card = Card::fast()?;
    let path = file(&card, "x", 128 * MI);
    let progress = Progress::of(&card);
    let run = assay(["io", "--rw", "read", "--bs", "256k", "--time", "6"]).word(path);
    let record = run.beside(|_| {
        progress.reach(8 * MI);
        sleep(2.0);
        card.set_speed(Speed::bytes(16 * MI, 16 * MI));
    });
    Truth::of(About::Neither, &["limit"]).with(record)
}

fn own_group() -> Result<Tried, Skip> {
    let card = Card::fast()?;
    let io = (card.number().to_owned(), Speed::bytes(4 * MI, 4 * MI));
    let group = Group::new(&Limits { io: Some(io), ..Limits::default() })?;
    let run = assay(["dd", "if=/dev/zero", "bs=256k", "count=64", "oflag=direct"])
        .word(operand("of", card.path("x")));
    let record = run.within(group.rooms()).run();
    Truth::of(About::Limit, &["limit"]).rate(4 * MI).with(record)
}

fn requests() -> Result<Tried, Skip> {
    let card = Card::new(lab::Shape { speed: Speed::both(0, 200), ..lab::Shape::perreq() })?;
    let path = file(&card, "x", 64 * MI);
    let run = assay(["io", "--rw", "randread", "--bs", "4k", "--time", "4"]).word(path);
    let record = run.within(card.rooms()).run();
    Truth::of(About::Limit, &["limit"]).rate(200 * 4 * KI).with(record)
}

fn below() -> Result<Tried, Skip> {
    let card = limited(16 * MI, WRITE)?;
    let upper = super::scene::Upon::card(&card, 96 * MI, true)?;
    let run = assay(["io", "--rw", "read", "--bs", "256k", "--time", "4"]).word(&upper.device);
    let record = run.within(card.rooms()).run();
    Truth::of(About::Limit, &["limit"]).rate(16 * MI).with(record)
}

fn quota() -> Result<Tried, Skip> {
    let card = Card::fast()?;
    let group = lab::limit_cpu(10)?;
    let run = assay(["dd", "if=/dev/zero", "bs=64k", "count=2400", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    let record = run.within(group.rooms()).run();
    Truth::of(About::Neither, &["cpu_wait"]).with(record)
}

fn planned_rate() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let run = assay(["io", "--rw", "read", "--bs", "64k", "--rate", "50", "--time", "4"]);
    let record = run.word(path).run();
    Truth::of(About::Limit, &["pause"]).rate(50 * 64 * KI).with(record)
}

fn think_time() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(READ, WRITE))?;
    let path = file(&card, "x", 96 * MI);
    let run = assay(["fio", "--name=x", "--rw=read", "--bs=64k", "--direct=1", "--runtime=4"])
        .words(&["--time_based", "--thinktime=20000"])
        .word(operand("--filename", path));
    Truth::of(About::Limit, &["pause"]).with(run.run())
}
