//! `myriscope conversations`: messages of the reliability protocol.

use analyzer::conversation::TransportEvent;
use analyzer::filter::RowKind;
use analyzer::ip_conversation::{IP_CONVERSATIONS_MAX, IpConversations};
use analyzer::link::parameters::LinkAssumptions;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{self, ConversationText};

use codec::capture::Channel;

use crate::analyze::{CliAnalysis, list, print_list, print_unread, sum_up};
use crate::args::{ConversationsArgs, ViewArgs};
use crate::exit::CommandResult;
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

pub(crate) fn run(arguments: &ConversationsArgs, output: &mut StandardOutput) -> CommandResult {
    let ConversationsArgs { view, events, ip } = arguments;
    if *ip {
        return list_rows(view, RowKind::IpConversations, output, |writer| list_ip(view, writer));
    }
    if *events {
        return print_list(view, RowKind::Remarks, output);
    }
    list_rows(view, RowKind::Conversations, output, |writer| list_conversations(view, writer))
}

fn list_conversations(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    if !writer.is_report() {
        return list(view, LinkAssumptions::default(), writer);
    }
    let mut text = ConversationText::default();
    let add = &mut |_: &CliAnalysis, channel: &Channel, event, writer: &mut RowWriter<'_>| {
        let AnalysisEvent::Conversation(event) = event else { return };
        match event {
            TransportEvent::Conversation(it)
                if writer.admits(&it.row(), RowSource::of_capture(channel.capture)) =>
            {
                text.add(channel.capture, *it);
            }
            TransportEvent::Malformed(it) => text.malformed(&it),
            TransportEvent::Conversation(_) | TransportEvent::Observed(_) => {}
        }
    };
    let (analysis, report) = sum_up(view, LinkAssumptions::default(), writer, add)?;
    if let Some(output) = writer.report() {
        print_unread(&analysis, view.unit(), output);
        let layout = view.layout(output);
        render::conversations(&text, layout, &mut |line| output.fitted(line));
    }
    Ok(report)
}

fn list_ip(view: &ViewArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let mut table = IpConversations::default();
    let add = &mut |_: &CliAnalysis, channel: &Channel, event, _: &mut RowWriter<'_>| {
        if let AnalysisEvent::Journey(journey) = event {
            table.add(channel.capture, &journey);
        }
    };
    let (_, mut report) = sum_up(view, LinkAssumptions::default(), writer, add)?;
    let omitted = table.omitted();
    for (capture, row) in table.rows() {
        writer.select(&row, RowSource::of_capture(capture), |_| {});
    }
    if omitted > 0 {
        report.error(&format!(
            "{omitted} packets of further conversations are not listed: expected at most \
             {IP_CONVERSATIONS_MAX}"
        ));
    }
    Ok(report)
}
