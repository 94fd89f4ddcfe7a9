//! Progress bars on standard error, shown when something takes long.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const DELAY: Duration = Duration::from_secs(1);

static LATEST: Mutex<Option<ProgressBar>> = Mutex::new(None);

pub(crate) fn bar(length: impl Into<Option<u64>>, style: ProgressStyle) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length.into(), ProgressDrawTarget::stderr());
    bar.set_style(style);
    *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

/// Prints on standard output while the bar is removed from the terminal, so that neither garbles the other.
pub(crate) fn suspended<T>(print: impl FnOnce() -> T) -> T {
    let bar = LATEST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar.filter(|bar| io::stdout().is_terminal() && is_due(bar) && !bar.is_finished()) {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// The style of a template, which is a constant of the caller.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// True once a bar is to be drawn.
pub(crate) fn is_due(bar: &ProgressBar) -> bool {
    bar.elapsed() > DELAY
}

/// Counts progress, and draws it once it is due.
pub(crate) fn advance(bar: &ProgressBar, by: u64) {
    if is_due(bar) {
        bar.inc(by);
    } else {
        bar.update(|state| state.set_pos(state.pos() + by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_counted_before_and_after_it_is_shown() {
        for elapsed in [Duration::ZERO, 2 * DELAY] {
            let bar = ProgressBar::hidden().with_elapsed(elapsed);
            [3, 4].into_iter().for_each(|by| advance(&bar, by));
            assert_eq!((is_due(&bar), bar.position()), (elapsed > DELAY, 7));
        }
    }
}
