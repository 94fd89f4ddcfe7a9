//! Ctrl-C: the first ends the storm after the networks at work, the second ends the program.

use std::process;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Exit status of a storm that Ctrl-C ended: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Signals within this time of the first are the same Ctrl-C: `timeout` sends two.
const SAME: Duration = Duration::from_secs(1);

static PRESSED: OnceLock<Instant> = OnceLock::new();

/// Handles Ctrl-C from now on.
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
