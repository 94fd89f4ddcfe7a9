//! `myriscope flows`: packets, bytes, losses and latencies from node to node.

use std::ops::ControlFlow;

use analyzer::filter::RowKind;
use analyzer::flow_table::{FLOWS_MAX, FlowTable};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use codec::time::CharacterPeriod;

use crate::analyze::{analyze, check_channel_exists, is_selected};
use crate::args::ViewArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(view, RowKind::Flows, output, |writer| list(view, writer))
}

fn list(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let mut report = writer.run_report();
    let mut flows = FlowTable::default();
    let scope = AnalysisScope::Network;
    let assumptions = LinkAssumptions::default();
    let analysis =
        analyze(writer.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            let known = |id| analysis.channel(id);
            if let AnalysisEvent::Journey(journey) = event
                && journey.hops.iter().any(|hop| {
                    known(hop.channel)
                        .is_some_and(|channel| is_selected(view, channel, hop.start, hop.end))
                })
            {
                flows.add(&journey, &known);
            }
            ControlFlow::Continue(())
        })?;
    check_channel_exists(view, &analysis, &mut report);
    for (capture, row) in flows.rows(analysis.channels().map(|(_, channel)| channel)) {
        let source = RowSource { capture, period: CharacterPeriod::PICOSECOND };
        writer.select(&row, source, |_| {});
    }
    if flows.omitted() > 0 {
        let omitted = flows.omitted();
        report.error(&format!(
            "{omitted} packets of further flows are not listed: expected at most {FLOWS_MAX} flows"
        ));
    }
    Ok(report)
}
