//! `myriscope mapping`: probes, mappers and maps of a network that maps itself.

use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{self, MappingText};
use codec::capture::Channel;

use crate::analyze::{CliAnalysis, compared_maps, list, print_unread, sum_up};
use crate::args::MappingArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(arguments: &MappingArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(&arguments.view, RowKind::Mapping, output, |writer| list_events(arguments, writer))
}

fn list_events(arguments: &MappingArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let MappingArgs { view, dot } = arguments;
    if !writer.is_report() {
        return list(view, LinkAssumptions::default(), writer);
    }
    let mut text = MappingText::default();
    let add =
        &mut |analysis: &CliAnalysis, channel: &Channel, event, writer: &mut RowWriter<'_>| {
            if let AnalysisEvent::Mapping(event) = event
                && writer.keeps(&event.row(&|id| analysis.channel(id)), RowSource::on(channel))
            {
                text.add(event, channel);
            }
        };
    let (analysis, report) = sum_up(view, LinkAssumptions::default(), writer, add)?;
    let compared = compared_maps(&analysis, &text);
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
