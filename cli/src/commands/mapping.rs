//! `myriscope mapping`: probes, mappers and maps of a network that maps itself.

use std::ops::ControlFlow;

use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::mapping::{MapComparison, MappingEvent, newest_maps};
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
    let MappingArgs { view, dot } = arguments;
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
    if !writer.is_report() && !dot {
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
            let channel = analysis.channel(event.place().channel);
            channel.into_iter().for_each(|channel| text.add(event.clone(), channel));
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(input, SCOPE, assumptions, &mut report, emit)?;
    check_channel_exists(view, &analysis, &mut report);
    let homes = analysis.mapping().homes();
    let homes = homes.filter_map(|(it, id)| Some((it, analysis.channel(id)?.name.clone())));
    let homes = homes.collect();
    let compared = MapComparison::new(analysis.topology(), &newest_maps(text.maps()), &homes);
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
