//! `myriscope conversations`: messages of the reliability protocol.

use std::ops::ControlFlow;

use analyzer::conversation::{ObservedPlace, TransportEvent};
use analyzer::filter::RowKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{self, ConversationText};

use crate::analyze::{CliAnalysis, analyze, check_channel_exists, is_selected, list, print_unread};
use crate::args::{ConversationsArgs, ViewArgs};
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

const SCOPE: AnalysisScope = AnalysisScope::Conversations;

pub(crate) fn run(arguments: &ConversationsArgs, output: &mut StandardOutput) -> CommandResult {
    let ConversationsArgs { view, events } = arguments;
    let kind = if *events { RowKind::Remarks } else { RowKind::Conversations };
    let list = if *events { list_events } else { list_conversations };
    list_rows(view, kind, output, |writer| list(view, writer))
}

fn list_conversations(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let assumptions = LinkAssumptions::default();
    if !writer.is_report() {
        return list(view, SCOPE, assumptions, writer, &mut |analysis, event, writer| {
            if let Some((TransportEvent::Conversation(it), place)) = selected(view, analysis, event)
            {
                let source = RowSource::across(analysis.channel(place.channel));
                writer.select(&it.row(), source, |_| {});
            }
        });
    }
    let (mut report, input) = (writer.run_report(), writer.input());
    let mut text = ConversationText::default();
    let emit = &mut |analysis: &CliAnalysis, event| {
        let Some((event, place)) = selected(view, analysis, event) else {
            return ControlFlow::Continue(());
        };
        let source = RowSource::across(analysis.channel(place.channel));
        match event {
            TransportEvent::Conversation(it) if writer.admits(&it.row(), source) => {
                text.add(source.capture, *it);
            }
            TransportEvent::Malformed(it) => text.malformed(&it),
            TransportEvent::Conversation(_) | TransportEvent::Noticed(_) => {}
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(input, SCOPE, assumptions, &mut report, emit)?;
    check_channel_exists(view, &analysis, &mut report);
    if let Some(output) = writer.report() {
        print_unread(&analysis, view.unit(), output);
        let layout = view.layout(output);
        render::conversations(&text, layout, &mut |line| output.fitted(line));
    }
    Ok(report)
}

/// Lists the observations of each packet.
fn list_events(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let assumptions = LinkAssumptions::default();
    list(view, SCOPE, assumptions, writer, &mut |analysis, event, writer| {
        let known = |id| analysis.channel(id);
        let Some((event, place)) = selected(view, analysis, event) else { return };
        let source = RowSource::on(known(place.channel));
        match event {
            TransportEvent::Noticed(it) => writer.select(&it.row(&known), source, |_| {}),
            TransportEvent::Malformed(it) => writer.select(&it.row(&known), source, |_| {}),
            TransportEvent::Conversation(_) => {}
        }
    })
}

/// The transport event, and the position of its first packet, if that is selected.
pub(super) fn selected(
    view: &ViewArgs,
    analysis: &CliAnalysis,
    event: AnalysisEvent,
) -> Option<(TransportEvent, ObservedPlace)> {
    let AnalysisEvent::Spoken(event) = event else { return None };
    let place = match &event {
        TransportEvent::Noticed(it) => it.place,
        TransportEvent::Malformed(it) => it.place,
        TransportEvent::Conversation(it) => it.first,
    };
    let channel = analysis.channel(place.channel)?;
    is_selected(view, channel, place.at, place.at).then_some((event, place))
}
