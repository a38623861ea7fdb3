//! How several Bonnies begin each test together: by semaphores, or when somebody says so.

use std::io::{self, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::dialect::bonnie::{StepMode, TESTS};
use assay_engine::sys::clock;
use assay_engine::sys::semaphore::SemaphoreSet;
use assay_plan::error::{Doing, Fault};
use assay_plan::unit::{Nanos, Timestamp};

/// The key of the semaphores that every Bonnie++ knows.
pub const KEY: i32 = 4711;
pub const MEMBERS: u16 = 12;
/// Who has waited this long for the others says so: one of them that has ended never comes.
const LONG: Nanos = Nanos::millis(5000);

/// Keeps step. It never blocks: who asks has signals to answer.
#[derive(Debug)]
pub struct StepKeeper {
    how: StepMethod,
    /// The test that has been announced.
    announced: Option<usize>,
    /// When it will be said that it waits, if that was not said of this test.
    to_say: Option<Timestamp>,
}

#[derive(Debug)]
enum StepMethod {
    Semaphores(SemaphoreSet),
    Prompt,
}

fn fault(doing: Doing, error: &io::Error, hint: &str) -> Fault {
    Fault::new(doing, "the semaphores of bonnie++", error).hinting(hint)
}

impl StepKeeper {
    /// One that is ready for the first test.
    ///
    /// # Errors
    /// When nobody has made the semaphores.
    pub fn new(step: StepMode) -> Result<Self, Fault> {
        let how = match step {
            StepMode::Prompt => StepMethod::Prompt,
            StepMode::Semaphores => {
                StepMethod::Semaphores(SemaphoreSet::open(KEY, MEMBERS).map_err(|error| {
                    fault(
                        Doing::Join,
                        &error,
                        "make them first: 'assay bonnie -p N' for N processes",
                    )
                })?)
            }
        };
        Ok(Self { how, announced: None, to_say: None })
    }

    /// Whether a test may begin: all have come to it, or the line was there.
    ///
    /// # Errors
    /// When the semaphores are used up or gone, or the prompt cannot be written.
    pub fn may_begin(
        &mut self,
        test: usize,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<bool, Fault> {
        let first = self.announced.replace(test) != Some(test);
        match self.how {
            StepMethod::Semaphores(set) => {
                let member = test as u16;
                if first {
                    set.lower(member).map_err(|error| match error.raw_os_error() {
                        Some(libc::EAGAIN) => fault(
                            Doing::Join,
                            &error,
                            "more processes came than they were made for, or this is their second run: make them anew with 'assay bonnie -p N'",
                        ),
                        _ => fault(Doing::Join, &error, "they were removed: make them with -p"),
                    })?;
                    self.to_say = Some(clock::now() + LONG);
                }
                let left = set
                    .left(member)
                    .map_err(|error| fault(Doing::Wait, &error, "they were removed meanwhile"))?;
                if left > 0 && self.to_say.take_if(|at| clock::now() >= *at).is_some() {
                    let more = if left == 1 { "process" } else { "processes" };
                    let _ = writeln!(
                        err,
                        "assay: {} waits for {left} more {more} (-y). One that has ended never comes: end this one with Ctrl-C.",
                        TESTS[test]
                    );
                }
                Ok(left == 0)
            }
            StepMethod::Prompt => {
                if first {
                    write!(out, "\n{test}:\n")
                        .and_then(|()| out.flush())
                        .map_err(|error| Fault::new(Doing::Write, "standard output", &error))?;
                }
                Ok(line_came())
            }
        }
    }
}

/// Takes a line from standard input, if anything is there; its end counts as one.
fn line_came() -> bool {
    let input = io::stdin();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut byte = [0];
    loop {
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        if poll(&mut fds, Some(&now)).unwrap_or(0) == 0 {
            return false;
        }
        match rustix::io::read(&input, &mut byte) {
            Ok(1) if byte[0] != b'\n' => {}
            Err(rustix::io::Errno::INTR) => {}
            _ => return true,
        }
    }
}
