//! Handler of Ctrl-C, shared by `myriscope` and `myriscope-laws`.

use std::process;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Exit status of a command that Ctrl-C ended before its work was complete: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Signals within this time of the first are the same Ctrl-C: `timeout` sends two.
const SAME: Duration = Duration::from_secs(1);

static PRESSED: OnceLock<Instant> = OnceLock::new();

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
