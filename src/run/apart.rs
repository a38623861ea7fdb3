//! Work before a timing in a thread of its own, which a signal ends early.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Fault;
use crate::sys::inbox::{Inbox, Letter};
use crate::unit::Nanos;

/// Does it in a thread of its own and waits for it. A signal that comes meanwhile is kept, and
/// raises `halt`, which the work looks at.
///
/// # Errors
/// What kept it from beginning, or what it met.
pub(super) fn apart<T: Send, E: Send + From<Fault>>(
    inbox: &Inbox,
    signal: &mut Option<i32>,
    halt: &AtomicBool,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    let over = AtomicBool::new(false);
    let bell = inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
    std::thread::scope(|scope| {
        let over = &over;
        let worker = scope.spawn(move || {
            let answer = work();
            over.store(true, Ordering::Release);
            bell.ring();
            answer
        });
        while !over.load(Ordering::Acquire) {
            if let Letter::Signal(came) = inbox.wait(Nanos::secs(1)) {
                signal.get_or_insert(came);
                halt.store(true, Ordering::Relaxed);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
