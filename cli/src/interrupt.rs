//! Ctrl-C: the first ends the reading or the simulation, the second ends the program.

use std::io;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit status of a command that Ctrl-C ended before its work was complete: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Signals within this time of the first are the same Ctrl-C: `timeout` sends two.
const SAME: Duration = Duration::from_secs(1);

static PRESSED: OnceLock<Instant> = OnceLock::new();
static WORK_LOST: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C from now on. Commands that never call this end at once, as usual.
pub(crate) fn handle() {
    // Fails if a handler exists already, which is this one.
    let _ = ctrlc::set_handler(|| {
        if PRESSED.get_or_init(Instant::now).elapsed() > SAME {
            process::exit(INTERRUPTED.into());
        }
    });
}

/// True after Ctrl-C.
pub(crate) fn is_pressed() -> bool {
    PRESSED.get().is_some()
}

/// Error of a read or a run that Ctrl-C ended; the exit status will be [`INTERRUPTED`].
pub(crate) fn error() -> io::Error {
    WORK_LOST.store(true, Ordering::Relaxed);
    io::Error::other("interrupted")
}

/// True once [`error`] has been called.
pub(crate) fn ended_work() -> bool {
    WORK_LOST.load(Ordering::Relaxed)
}
