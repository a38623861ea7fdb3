//! Memory that a process shares with its threads, or with those it forks.
//!
//! # Safety
//! A [`Mapping`] owns one anonymous mapping from its making to its drop. Its values are
//! written once, before anybody else knows of them, and after that only lent as `&T` of types that
//! may be used from several threads at once; to the hardware another process is no different.
//! Types with something to drop are refused, so that no value refers to memory of one process that
//! another would free; a reference to what was there before the fork is good in both.
#![allow(unsafe_code)]

use std::ops::Deref;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// A row of values in memory that outlives a fork as one and the same, if that is asked for.
#[derive(Debug)]
pub enum SharedSlice<T> {
    /// For threads any memory does.
    Threads(Box<[T]>),
    /// For processes, too.
    Processes(Mapping<T>),
}

impl<T: Default + Sync + 'static> SharedSlice<T> {
    /// So many values, each as it begins. Memory of threads alone costs less to make.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(count: usize, across_fork: bool) -> std::io::Result<Self> {
        Ok(match across_fork {
            true => Self::Processes(Mapping::new(count)?),
            false => Self::Threads((0..count).map(|_| T::default()).collect()),
        })
    }
}

impl<T> Deref for SharedSlice<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::Threads(values) => values,
            Self::Processes(values) => values,
        }
    }
}

/// A row of values in memory that is the same after a fork.
#[derive(Debug)]
pub struct Mapping<T> {
    start: NonNull<T>,
    count: usize,
    bytes: usize,
}

// SAFETY: the mapping is not tied to a thread, and only lends what may be shared.
unsafe impl<T: Sync> Send for Mapping<T> {}
// SAFETY: only `&T` is lent, of types that may be shared.
unsafe impl<T: Sync> Sync for Mapping<T> {}

impl<T: Default + Sync + 'static> Mapping<T> {
    fn new(count: usize) -> std::io::Result<Self> {
        assert!(!std::mem::needs_drop::<T>(), "what is shared owns nothing");
        assert!(align_of::<T>() <= 4096, "a mapping begins with a page");
        let bytes = size_of::<T>().saturating_mul(count).max(1);
        // SAFETY: a new mapping at an address of the kernel's choice touches no other.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )
        }?;
        let start = NonNull::new(start.cast::<T>()).ok_or(rustix::io::Errno::NOMEM)?;
        for index in 0..count {
            // SAFETY: inside the mapping, aligned, and nobody else knows of it yet.
            unsafe { start.as_ptr().add(index).write(T::default()) };
        }
        Ok(Self { start, count, bytes })
    }
}

impl<T> Deref for Mapping<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `count` values were written when the mapping was made, and it lives with `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl<T> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no borrow outlives `self`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
