//! `myriscope journeys`: packets over all captured links.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::filter::RowKind;
use analyzer::journey::Journey;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render;

use crate::analyze::{analyze, check_channel_exists};
use crate::args::ViewArgs;
use crate::exit::{CliError, RunReport};
use crate::input::CliCapture;
use crate::listing::{RowSelection, RowSource, RowWriter};
use crate::output::StandardOutput;

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> Result<RunReport, CliError> {
    let kind = RowKind::Journeys;
    let Some(choice) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let mut report = RunReport::of(&view.file);
    let mut listing = RowWriter::new(view, choice, kind.name(), output);
    listing.head(|out| out(render::journey_head()));
    let mut told = |analysis: &CaptureAnalysis<CliCapture>, told: AnalysisEvent| {
        if let AnalysisEvent::Journey(journey) = told
            && is_selected(view, analysis, &journey)
        {
            let known = |id| analysis.channel(id);
            let row = journey.row(&known);
            let first = journey.hops.first().and_then(|hop| known(hop.channel));
            let origin = RowSource::across(first);
            if listing.keeps(&row, origin) {
                listing.row(&row, origin.capture, |mut out| {
                    render::journey_lines(&journey, &known, &mut out);
                });
            }
        }
        if listing.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let wanted = AnalysisScope::Network;
    let analysis = analyze(&view.file, wanted, LinkAssumptions::default(), &mut report, &mut told)?;
    if listing.accepts_more() {
        check_channel_exists(view, &analysis, &mut report);
    }
    listing.finish();
    Ok(report)
}

/// Whether a journey led over the channel, and any of its characters there are in the window.
fn is_selected(view: &ViewArgs, analysis: &CaptureAnalysis<CliCapture>, journey: &Journey) -> bool {
    let window = view.window();
    journey.hops.iter().any(|hop| {
        let Some(channel) = analysis.channel(hop.channel) else { return false };
        let (from, to) = window.on(channel);
        let named = view.channel.as_ref().is_none_or(|name| *name == channel.name);
        named && hop.start < to && from <= hop.end
    })
}
