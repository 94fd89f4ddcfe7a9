//! `myriscope flows`: packets, bytes, losses and latencies from node to node.

use analyzer::filter::RowKind;
use analyzer::flow_table::{FLOWS_MAX, FlowTable};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::pipeline::AnalysisEvent;
use codec::capture::Channel;

use crate::analyze::{CliAnalysis, sum_up};
use crate::args::ViewArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(view, RowKind::Flows, output, |writer| list(view, writer))
}

fn list(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let mut flows = FlowTable::default();
    let add = &mut |analysis: &CliAnalysis, _: &Channel, event, _: &mut RowWriter<'_>| {
        if let AnalysisEvent::Journey(journey) = event {
            flows.add(&journey, &|id| analysis.channel(id));
        }
    };
    let (analysis, mut report) = sum_up(view, LinkAssumptions::default(), writer, add)?;
    for (capture, row) in flows.rows(analysis.channels().map(|(_, channel)| channel)) {
        writer.select(&row, RowSource::of_capture(capture), |_| {});
    }
    if flows.omitted() > 0 {
        let omitted = flows.omitted();
        report.error(&format!(
            "{omitted} packets of further flows are not listed: expected at most {FLOWS_MAX} flows"
        ));
    }
    Ok(report)
}
