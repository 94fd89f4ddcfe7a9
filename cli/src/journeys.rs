//! `myriscope journeys`: packets over all captured links.

use std::ops::ControlFlow;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::filter::RowKind;
use analyzer::link::slack::Assumptions;
use analyzer::path::Journey;
use analyzer::text;

use crate::analysing::{analyse, look_for_channel};
use crate::args::View;
use crate::files::Capture;
use crate::listing::{Choice, Listing, Origin};
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(view: &View, output: &mut Output) -> Result<Report, Failure> {
    let kind = RowKind::Journeys;
    let Some(choice) = Choice::of(view, kind, output)? else { return Ok(Report::default()) };
    let mut report = Report::of(&view.file);
    let mut listing = Listing::new(view, choice, kind.name(), output);
    listing.head(|out| out(text::journey_head()));
    let mut told = |analysis: &Analysis<Capture>, told: Told| {
        if let Told::Journey(journey) = told
            && is_asked_for(view, analysis, &journey)
        {
            let known = |id| analysis.channel(id);
            let row = journey.row(&known);
            let first = journey.hops.first().and_then(|hop| known(hop.channel));
            let origin = Origin::across(first);
            if listing.keeps(&row, origin) {
                listing.row(&row, origin.capture, |mut out| {
                    text::journey_lines(&journey, &known, &mut out);
                });
            }
        }
        if listing.wants_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let wanted = Wanted::Network;
    let analysis = analyse(&view.file, wanted, Assumptions::default(), &mut report, &mut told)?;
    if listing.wants_more() {
        look_for_channel(view, &analysis, &mut report);
    }
    listing.finish();
    Ok(report)
}

/// Whether a journey led over the channel, and any of its characters there are in the window.
fn is_asked_for(view: &View, analysis: &Analysis<Capture>, journey: &Journey) -> bool {
    let window = view.window();
    journey.hops.iter().any(|hop| {
        let Some(channel) = analysis.channel(hop.channel) else { return false };
        let (from, to) = window.on(channel);
        let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
        named && hop.start < to && from <= hop.end
    })
}
