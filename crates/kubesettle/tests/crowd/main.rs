//! A few wanted objects among very many of others: what is kept in bytes, and what is asked for.
//!
//! The objects are made up line by line while the hub reads them, so that all that lives is the hub's.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::await_holding_lock, reason = "each test has a runtime and a thread of its own")]

mod bytes;
mod content;
mod late;
mod slow;
mod world;

use std::alloc::System;
use std::sync::atomic::{AtomicUsize, Ordering};

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes allocated and not yet freed in the whole process.
fn live() -> usize {
    ALLOCATOR.allocated()
}

static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Looks at how much lives just now.
fn sample() {
    PEAK.fetch_max(live(), Ordering::Relaxed);
}

/// The most that lived at any sample since this was last asked.
fn peak() -> usize {
    sample();
    PEAK.swap(0, Ordering::Relaxed)
}

/// Keeps other tests of this process out: the counter is the process's.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
