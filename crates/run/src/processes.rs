//! Work before a timing in a thread of its own, which a signal ends early.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::sys::event_loop::{Event, EventLoop};
use assay_plan::error::{Doing, Fault};
use assay_plan::unit::Nanos;

use super::limits::no_thread;

/// Does it in a thread of its own and waits for it. A signal that comes meanwhile is kept, and
/// raises `halt`, which the work looks at.
///
/// # Errors
/// What kept it from beginning, or what it met.
pub(super) fn apart<T: Send, E: Send + From<Fault>>(
    event_loop: &EventLoop,
    signal: &mut Option<i32>,
    halt: &AtomicBool,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    let over = AtomicBool::new(false);
    let waker = event_loop.waker().map_err(|error| Fault::new(Doing::Prepare, "a bell", &error))?;
    std::thread::scope(|scope| {
        let over = &over;
        let worker = std::thread::Builder::new().spawn_scoped(scope, move || {
            let answer = work();
            over.store(true, Ordering::Release);
            waker.ring();
            answer
        });
        let worker = worker.map_err(|error| no_thread(&error))?;
        while !over.load(Ordering::Acquire) {
            if let Event::Signal(came) = event_loop.wait(Nanos::secs(1)) {
                signal.get_or_insert(came);
                halt.store(true, Ordering::Relaxed);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
