//! `myriscope show`: the characters of both directions of a link side by side.

use analyzer::filter::RowKind;
use analyzer::show::{Found, Pair, Show, Shown};
use codec::capture::{Item, Progress, Reader};

use crate::args::View;
use crate::files;
use crate::listing::{Choice, Listing, Origin, read_on};
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(view: &View, output: &mut Output) -> Result<Report, Failure> {
    let Some(choice) = Choice::of(view, RowKind::Characters, output)? else {
        return Ok(Report::default());
    };
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let mut reader = Reader::new(capture);
    let mut show = Show::new(view.channel.clone().map_or(Pair::First, Pair::Of));
    let window = view.window();
    let mut listing = Listing::new(view, choice, "rows", output);
    let mut left = Origin { capture: 0, period_ps: 0 };
    read_on(&mut report, |report| {
        if !listing.wants_more() {
            return Ok(Progress::Done);
        }
        reader.step(&mut |item| {
            show.feed(&item, &window, &mut |shown| print(&shown, &mut left, &mut listing));
            if let Item::Fault(fault) = item {
                report.fault(fault);
            }
        })
    })?;
    show.finish(&mut |shown| print(&shown, &mut left, &mut listing));
    listing.finish();
    if let (Some(name), Found::No) = (&view.channel, show.found()) {
        report.no_channel(name, show.names());
    }
    Ok(report)
}

/// Prints what is shown; `left` is the channel on the left, once it is known.
fn print(shown: &Shown, left: &mut Origin, listing: &mut Listing<'_>) {
    match shown {
        Shown::Row(row) if listing.keeps(row, *left) => {
            listing.row(row, left.capture, |mut out| shown.lines(&mut out));
        }
        Shown::Row(_) => {}
        Shown::Head { period_ps, capture, .. } => {
            *left = Origin { capture: *capture, period_ps: *period_ps };
            listing.enter(*capture);
            listing.head(|mut out| shown.lines(&mut out));
        }
        Shown::Unrecorded { .. } => shown.lines(&mut |line| listing.line(&line)),
    }
}
