//! A capture read through all storeys of the analyzer, for the commands that show what it finds.

use std::ops::ControlFlow;
use std::path::Path;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::link::slack::Assumptions;
use analyzer::text::check::unread;
use analyzer::text::{Line, Role};
use codec::capture::Progress;

use crate::args::View;
use crate::files::{self, Capture};
use crate::listing::read_on;
use crate::output::Output;
use crate::report::{Failure, Report};

/// Reads a capture to its end, or until nobody wants more. What is wrong with the file goes to the
/// report; what else is told, to `told`.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn analyse(
    file: &Path,
    wanted: Wanted,
    assumptions: Assumptions,
    report: &mut Report,
    told: &mut dyn FnMut(&Analysis<Capture>, Told) -> ControlFlow<()>,
) -> Result<Analysis<Capture>, Failure> {
    let capture = files::open(file).map_err(|error| Failure::file(file, &error))?;
    let mut analysis = Analysis::new(capture, wanted, assumptions);
    let mut step = Vec::new();
    read_on(report, |report| {
        let progress = analysis.step(&mut |told| step.push(told));
        for said in step.drain(..) {
            if let Told::Fault(fault) = said {
                report.fault(fault);
            } else if told(&analysis, said).is_break() {
                return Ok(Progress::Done);
            }
        }
        progress
    })?;
    Ok(analysis)
}

/// Prints, above a summary for people, up to where a file was read, if not to its end.
pub(crate) fn tell_unread(analysis: &Analysis<Capture>, output: &mut Output) {
    if let Some(unread) = unread(&analysis.extent(), &|id| analysis.channel(id)) {
        output.line(&Line::of(Role::Bad, format!("✗ {unread}")));
    }
}

/// Whether the channel that was asked for, if any, is in the file; if it is not, that is told.
pub(crate) fn look_for_channel(
    view: &View,
    analysis: &Analysis<Capture>,
    report: &mut Report,
) -> bool {
    let names = || analysis.channels().map(|(_, channel)| channel.name.as_str());
    let missing = view.channel.as_ref().filter(|asked| !names().any(|name| name == *asked));
    missing.into_iter().for_each(|asked| report.no_channel(asked, names()));
    missing.is_none()
}
