//! `myriscope log`: packets, events, waits and findings of all channels in order of time.

use analyzer::event::{ChannelEvent, LinkEvent, TimedEvent};
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::log_row::LogRow;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::capture::ChannelId;
use codec::time::Tick;

use crate::analyze::{CliAnalysis, is_selected, list};
use crate::args::ViewArgs;
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, list_rows};

pub(crate) fn run(view: &ViewArgs, output: &mut StandardOutput) -> CommandResult {
    let kind = RowKind::Log;
    let (scope, assumptions) = (AnalysisScope::Log, LinkAssumptions::default());
    list_rows(view, kind, output, |writer| {
        writer.head(|out| out(render::log_head(view.unit())));
        list(view, scope, assumptions, writer, &mut |analysis, event, writer| {
            let Some((id, row)) = row(analysis, &event) else { return };
            let Some(channel) = analysis.channel(id) else { return };
            if is_selected(view, channel, Tick(row.start), Tick(row.at)) {
                let source = RowSource::on(Some(channel));
                writer.select(&row, source, |out| out(render::log_line(&row, view.unit())));
            }
        })
    })
}

/// Row of an event, and its channel. The release of a sender is the end of its wait.
fn row<'a>(analysis: &'a CliAnalysis, event: &AnalysisEvent) -> Option<(ChannelId, LogRow<'a>)> {
    let known = |id| analysis.channel(id);
    match event {
        AnalysisEvent::Row(event) if is_release(event) => None,
        AnalysisEvent::Row(event) => {
            Some((event.channel, LogRow::of_event(known(event.channel)?, event)?))
        }
        AnalysisEvent::Blocked(wait) => Some((wait.channel(), LogRow::of_wait(wait, &known))),
        AnalysisEvent::Case(case) => Some((case.channel, LogRow::of_case(case, &known))),
        AnalysisEvent::Interval(_) | AnalysisEvent::Slack(_) | AnalysisEvent::Journey(_) => None,
        AnalysisEvent::Spoken(_) | AnalysisEvent::Mapping(_) | AnalysisEvent::Fault(_) => None,
    }
}

const fn is_release(event: &TimedEvent) -> bool {
    matches!(event.body, ChannelEvent::Link(LinkEvent::SenderResumed(_)))
}
