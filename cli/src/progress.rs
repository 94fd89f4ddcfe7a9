//! Progress bars on standard error, shown when something takes long.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const DELAY: Duration = Duration::from_millis(500);

/// A bar of this length in the given style.
pub(crate) fn bar(length: impl Into<Option<u64>>, style: ProgressStyle) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length.into(), ProgressDrawTarget::stderr());
    bar.set_style(style);
    bar
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
