//! `myriscope mapping`: probes, mappers and maps of a network that maps itself.

use std::ops::ControlFlow;

use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::mapping::{MapComparison, MappingEvent, newest_maps};
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{self, MappingText};
use codec::capture::Channel;

use crate::analyze::{CliAnalysis, analyze, check_channel_exists, is_selected, list, print_unread};
use crate::args::{MappingArgs, ViewArgs};
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

const SCOPE: AnalysisScope = AnalysisScope::Mapping;

pub(crate) fn run(arguments: &MappingArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(&arguments.view, RowKind::Mapping, output, |writer| list_events(arguments, writer))
}

fn list_events(arguments: &MappingArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let MappingArgs { view, dot } = arguments;
    let assumptions = LinkAssumptions::default();
    if !writer.is_report() && !dot {
        return list(view, SCOPE, assumptions, writer, &mut |analysis, event, writer| {
            let Some((event, channel)) = selected(view, analysis, event) else { return };
            let source = RowSource::on(Some(channel));
            writer.select(&event.row(&|id| analysis.channel(id)), source, |_| {});
        });
    }
    let (mut report, input) = (writer.run_report(), writer.input());
    let mut text = MappingText::default();
    let emit = &mut |analysis: &CliAnalysis, event| {
        if let Some((event, channel)) = selected(view, analysis, event)
            && let source = RowSource::on(Some(channel))
            && writer.keeps(&event.row(&|id| analysis.channel(id)), source)
        {
            text.add(event, channel);
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(input, SCOPE, assumptions, &mut report, emit)?;
    check_channel_exists(view, &analysis, &mut report);
    let compared = compared(&analysis, &text);
    if let Some(output) = writer.report() {
        if *dot {
            output.text(&compared.dot());
            return Ok(report);
        }
        print_unread(&analysis, view.unit(), output);
        let layout = view.layout(output);
        render::mapping(&text, &compared, layout, &mut |line| output.fitted(line));
    }
    Ok(report)
}

pub(crate) fn selected<'a>(
    view: &ViewArgs,
    analysis: &'a CliAnalysis,
    event: AnalysisEvent,
) -> Option<(MappingEvent, &'a Channel)> {
    let AnalysisEvent::Mapping(event) = event else { return None };
    let place = event.place();
    let channel = analysis.channel(place.channel)?;
    is_selected(view, channel, place.at, place.at).then_some((event, channel))
}

/// The newest maps beside the captured network.
pub(crate) fn compared(analysis: &CliAnalysis, text: &MappingText) -> MapComparison {
    let homes = analysis.mapping().homes();
    let homes = homes.filter_map(|(it, id)| Some((it, analysis.channel(id)?.name.clone())));
    MapComparison::new(analysis.topology(), &newest_maps(text.maps()), &homes.collect())
}
