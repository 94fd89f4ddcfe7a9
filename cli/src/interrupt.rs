//! Ctrl-C: the first ends the reading or the simulation, the second ends the program.

mod signal;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use self::signal::{INTERRUPTED, handle, is_pressed};

static WORK_LOST: AtomicBool = AtomicBool::new(false);

/// Error of a read or a run that Ctrl-C ended; the exit status will be [`INTERRUPTED`].
pub(crate) fn error() -> io::Error {
    WORK_LOST.store(true, Ordering::Relaxed);
    io::Error::other("interrupted")
}

/// True once [`error`] has been called.
pub(crate) fn ended_work() -> bool {
    WORK_LOST.load(Ordering::Relaxed)
}
