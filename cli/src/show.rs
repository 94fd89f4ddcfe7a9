//! `myriscope show`: the characters of both directions of a link side by side.

use analyzer::show::{Found, Pair, Show, Shown};
use codec::capture::{Item, Progress, Reader};

use crate::args::View;
use crate::files;
use crate::listing::{Listing, read_on};
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(view: &View, output: &mut Output) -> Result<Report, Failure> {
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let mut reader = Reader::new(capture);
    let mut show = Show::new(view.channel.clone().map_or(Pair::First, Pair::Of));
    let window = view.window();
    let mut listing = Listing::new(view, "rows", output);
    read_on(&mut report, |report| {
        if !listing.wants_more() {
            return Ok(Progress::Done);
        }
        reader.step(&mut |item| {
            show.feed(&item, &window, &mut |shown| print(&shown, &mut listing));
            if let Item::Fault(fault) = item {
                report.fault(fault);
            }
        })
    });
    show.finish(&mut |shown| print(&shown, &mut listing));
    listing.finish();
    if let (Some(name), Found::No) = (&view.channel, show.found()) {
        report.no_channel(name, show.names());
    }
    Ok(report)
}

fn print(shown: &Shown, listing: &mut Listing<'_>) {
    match shown {
        Shown::Row(row) => listing.row(row, |mut out| shown.lines(&mut out)),
        Shown::Head { .. } | Shown::Unrecorded { .. } => {
            shown.lines(&mut |line| listing.line(&line));
        }
    }
}
