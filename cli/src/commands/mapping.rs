//! `myriscope mapping`: probes, mappers and maps of a network that maps itself.

use std::ops::ControlFlow;

use analyzer::channel_name::ChannelEnds;
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::mapping::MappingEvent;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{self, MappingText};

use crate::analyze::{CliAnalysis, analyze, check_channel_exists, is_selected, list, print_unread};
use crate::args::MappingArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

const SCOPE: AnalysisScope = AnalysisScope::Mapping;

pub(crate) fn run(arguments: &MappingArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(&arguments.view, RowKind::Mapping, output, |writer| list_events(arguments, writer))
}

fn list_events(arguments: &MappingArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let MappingArgs { view } = arguments;
    let assumptions = LinkAssumptions::default();
    let selected = |analysis: &CliAnalysis, event| {
        let AnalysisEvent::Mapping(event) = event else { return None };
        let place = event.place();
        let channel = analysis.channel(place.channel)?;
        is_selected(view, channel, place.at, place.at).then_some(event)
    };
    let source = |analysis: &CliAnalysis, event: &MappingEvent| {
        RowSource::on(analysis.channel(event.place().channel))
    };
    if !writer.is_report() {
        return list(view, SCOPE, assumptions, writer, &mut |analysis, event, writer| {
            let Some(event) = selected(analysis, event) else { return };
            writer.select(&event.row(&|id| analysis.channel(id)), source(analysis, &event), |_| {});
        });
    }
    let (mut report, input) = (writer.run_report(), writer.input());
    let mut text = MappingText::default();
    let emit = &mut |analysis: &CliAnalysis, event| {
        if let Some(event) = selected(analysis, event)
            && writer.keeps(&event.row(&|id| analysis.channel(id)), source(analysis, &event))
        {
            let ends = analysis.channel(event.place().channel).and_then(ChannelEnds::of);
            text.add(event, ends.map_or_else(|| "?".to_owned(), |ends| ends.from.node));
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(input, SCOPE, assumptions, &mut report, emit)?;
    check_channel_exists(view, &analysis, &mut report);
    if let Some(output) = writer.report() {
        print_unread(&analysis, view.unit(), output);
        let layout = view.layout(output);
        render::mapping(&text, layout, &mut |line| output.fitted(line));
    }
    Ok(report)
}
