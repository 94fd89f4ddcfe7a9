//! `myriscope journeys`: packets across all captured links.

use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;

use crate::analyze::{is_selected, list};
use crate::args::ViewArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, list_rows};

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    let kind = RowKind::Journeys;
    let (scope, assumptions) = (AnalysisScope::Network, LinkAssumptions::default());
    list_rows(view, kind, output, |writer| {
        writer.head(|out| out(render::journey_head(view.unit())));
        list(view, scope, assumptions, writer, &mut |analysis, event, writer| {
            let AnalysisEvent::Journey(journey) = event else { return };
            let known = |id| analysis.channel(id);
            let selected = journey.hops.iter().any(|hop| {
                known(hop.channel)
                    .is_some_and(|channel| is_selected(view, channel, hop.start, hop.end))
            });
            if selected {
                let first = journey.hops.first().and_then(|hop| known(hop.channel));
                writer.select(&journey.row(&known), RowSource::across(first), |mut out| {
                    render::journey_lines(&journey, &known, view.unit(), &mut out);
                });
            }
        })
    })
}
