//! `myriscope conversations`: what is said in the reliability protocol.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::conversation::{ObservedPlace, TransportEvent};
use analyzer::filter::RowKind;

use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::render::{self, ConversationText};
use codec::capture::Channel;

use crate::analyze::{analyze, check_channel_exists, print_unread};
use crate::args::{self, OutputFormat, ViewArgs};
use crate::exit::{CliError, RunReport};
use crate::input::CliCapture;
use crate::listing::{RowSelection, RowSource, RowWriter};
use crate::output::StandardOutput;

pub(crate) fn run(
    arguments: &args::ConversationsArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let args::ConversationsArgs { view, events } = arguments;
    let kind = if *events { RowKind::Remarks } else { RowKind::Conversations };
    let Some(mut choice) = RowSelection::of(view, kind, output)? else {
        return Ok(RunReport::default());
    };
    let mut report = RunReport::of(&view.file);
    if *events {
        list_events(view, choice, &mut report, output)?;
    } else if view.format == OutputFormat::Text && choice.columns().is_none() {
        let mut conversed = ConversationText::default();
        let mut left = view.limit.unwrap_or(u64::MAX);
        let analysis = each_event(view, &mut report, &mut |analysis, spoken| {
            let origin = RowSource::across(analysis.channel(place(&spoken).channel));
            match spoken {
                TransportEvent::Conversation(it) if choice.keeps(&it.row(), origin) && left > 0 => {
                    left -= 1;
                    conversed.add(origin.capture, *it);
                }
                TransportEvent::Malformed(it) => conversed.malformed(&it),
                TransportEvent::Conversation(_) | TransportEvent::Noticed(_) => {}
            }
            ControlFlow::Continue(())
        })?;
        print_unread(&analysis, output);
        render::conversations(&conversed, &mut |line| output.line(&line));
    } else {
        let mut listing = RowWriter::new(view, choice, "conversations", output);
        listing.head(|_| {});
        each_event(view, &mut report, &mut |analysis, spoken| {
            let origin = RowSource::across(analysis.channel(place(&spoken).channel));
            if let TransportEvent::Conversation(it) = spoken {
                let row = it.row();
                if listing.keeps(&row, origin) {
                    listing.row(&row, origin.capture, |_| {});
                }
            }
            if listing.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        listing.finish();
    }
    Ok(report)
}

/// Lists what was noticed.
fn list_events(
    view: &ViewArgs,
    choice: RowSelection,
    report: &mut RunReport,
    output: &mut StandardOutput,
) -> Result<(), CliError> {
    let mut listing = RowWriter::new(view, choice, "events", output);
    listing.head(|out| out(render::remark_head()));
    each_event(view, report, &mut |analysis, spoken| {
        let known = |id| analysis.channel(id);
        let origin = RowSource::on(known(place(&spoken).channel));
        match spoken {
            TransportEvent::Noticed(it) => {
                let row = it.row(&known);
                if listing.keeps(&row, origin) {
                    listing.row(&row, origin.capture, |mut out| {
                        render::remark_line(&it, &known, &mut out);
                    });
                }
            }
            TransportEvent::Malformed(it) => {
                let row = it.row(&known);
                if listing.keeps(&row, origin) {
                    listing.row(&row, origin.capture, |mut out| {
                        render::malformed_line(&it, &known, &mut out);
                    });
                }
            }
            TransportEvent::Conversation(_) => {}
        }
        if listing.accepts_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    listing.finish();
    Ok(())
}

/// Hands out what is asked for of what is said.
fn each_event(
    view: &ViewArgs,
    report: &mut RunReport,
    out: &mut dyn FnMut(&CaptureAnalysis<CliCapture>, TransportEvent) -> ControlFlow<()>,
) -> Result<CaptureAnalysis<CliCapture>, CliError> {
    let (wanted, assumptions) = (AnalysisScope::Conversations, LinkAssumptions::default());
    let analysis =
        analyze(&view.file, wanted, assumptions, report, &mut |known, told| match told {
            AnalysisEvent::Spoken(spoken) if is_selected(view, known, &spoken) => {
                out(known, spoken)
            }
            AnalysisEvent::Spoken(_) | AnalysisEvent::Journey(_) | AnalysisEvent::Blocked(_) => {
                ControlFlow::Continue(())
            }
            AnalysisEvent::Row(_) | AnalysisEvent::Interval(_) | AnalysisEvent::Slack(_) => {
                ControlFlow::Continue(())
            }
            AnalysisEvent::Fault(_) => ControlFlow::Continue(()),
        })?;
    check_channel_exists(view, &analysis, report);
    Ok(analysis)
}

/// Place of a packet, or of the first packet of a conversation.
fn place(spoken: &TransportEvent) -> ObservedPlace {
    match spoken {
        TransportEvent::Noticed(it) => it.place,
        TransportEvent::Malformed(it) => it.place,
        TransportEvent::Conversation(it) => it.first,
    }
}

/// Whether it is on the channel, its first packet on it in the window: of a conversation that is its
/// first packet.
fn is_selected(
    view: &ViewArgs,
    known: &CaptureAnalysis<CliCapture>,
    spoken: &TransportEvent,
) -> bool {
    let place = place(spoken);
    let Some(channel) = known.channel(place.channel) else { return false };
    let named = |channel: &Channel| view.channel.as_ref().is_none_or(|it| *it == channel.name);
    let (from, to) = view.window().on(channel);
    named(channel) && from <= place.at && place.at < to
}
