//! `myriscope conversations`: messages of the reliability protocol.

use std::ops::ControlFlow;

use analyzer::conversation::{ObservedPlace, TransportEvent};
use analyzer::filter::RowKind;
use analyzer::ip_conversation::{IP_CONVERSATIONS_MAX, IpConversations};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{self, ConversationText};

use codec::time::CharacterPeriod;

use crate::analyze::{CliAnalysis, analyze, check_channel_exists, is_selected, list, print_unread};
use crate::args::{ConversationsArgs, ViewArgs};
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

const SCOPE: AnalysisScope = AnalysisScope::Conversations;

pub(crate) fn run(arguments: &ConversationsArgs, output: &mut StandardOutput) -> CommandResult {
    let ConversationsArgs { view, events, ip } = arguments;
    if *ip {
        return list_rows(view, RowKind::IpConversations, output, |writer| list_ip(view, writer));
    }
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

fn list_ip(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let mut report = writer.run_report();
    let mut table = IpConversations::default();
    let (scope, assumptions) = (AnalysisScope::Network, LinkAssumptions::default());
    let emit = &mut |analysis: &CliAnalysis, event| {
        if let AnalysisEvent::Journey(journey) = event
            && let Some(channel) = journey.hops.iter().find_map(|hop| {
                let channel = analysis.channel(hop.channel)?;
                is_selected(view, channel, hop.start, hop.end).then_some(channel)
            })
        {
            table.add(channel.capture, &journey);
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(writer.input(), scope, assumptions, &mut report, emit)?;
    check_channel_exists(view, &analysis, &mut report);
    let omitted = table.omitted();
    for (capture, row) in table.rows() {
        let source = RowSource { capture, period: CharacterPeriod::PICOSECOND };
        writer.select(&row, source, |_| {});
    }
    if omitted > 0 {
        report.error(&format!(
            "{omitted} packets of further conversations are not listed: expected at most \
             {IP_CONVERSATIONS_MAX}"
        ));
    }
    Ok(report)
}

/// The transport event, and the position of its first packet, if that is selected.
pub(crate) fn selected(
    view: &ViewArgs,
    analysis: &CliAnalysis,
    event: AnalysisEvent,
) -> Option<(TransportEvent, ObservedPlace)> {
    let AnalysisEvent::Spoken(event) = event else { return None };
    let place = event.place();
    let channel = analysis.channel(place.channel)?;
    is_selected(view, channel, place.at, place.at).then_some((event, place))
}
