//! A capture read through all storeys of the analyzer, for the commands that show what it finds.

use std::ops::ControlFlow;
use std::path::Path;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::link::slack::Assumptions;
use codec::capture::Progress;

use crate::files::{self, Capture};
use crate::listing::read_on;
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
    });
    Ok(analysis)
}
