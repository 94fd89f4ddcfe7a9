//! `myriscope conversations`: what is said in the reliability protocol.

use std::ops::ControlFlow;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::conversation::{Place, Spoken};
use analyzer::filter::RowKind;
use analyzer::link::slack::Assumptions;
use analyzer::text::{self, Conversed};
use codec::capture::Channel;

use crate::analysing::{analyse, look_for_channel, tell_unread};
use crate::args::{self, Format, View};
use crate::files::Capture;
use crate::listing::{Choice, Listing, Origin};
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(arguments: &args::Conversations, output: &mut Output) -> Result<Report, Failure> {
    let args::Conversations { view, events } = arguments;
    let kind = if *events { RowKind::Remarks } else { RowKind::Conversations };
    let Some(mut choice) = Choice::of(view, kind, output)? else { return Ok(Report::default()) };
    let mut report = Report::of(&view.file);
    if *events {
        list_events(view, choice, &mut report, output)?;
    } else if view.format == Format::Text && choice.columns().is_none() {
        let mut conversed = Conversed::default();
        let mut left = view.limit.unwrap_or(u64::MAX);
        let analysis = each(view, &mut report, &mut |analysis, spoken| {
            let origin = Origin::across(analysis.channel(place(&spoken).channel));
            match spoken {
                Spoken::Conversation(it) if choice.keeps(&it.row(), origin) && left > 0 => {
                    left -= 1;
                    conversed.add(origin.capture, *it);
                }
                Spoken::Malformed(it) => conversed.malformed(&it),
                Spoken::Conversation(_) | Spoken::Noticed(_) => {}
            }
            ControlFlow::Continue(())
        })?;
        tell_unread(&analysis, output);
        text::conversations(&conversed, &mut |line| output.line(&line));
    } else {
        let mut listing = Listing::new(view, choice, "conversations", output);
        listing.head(|_| {});
        each(view, &mut report, &mut |analysis, spoken| {
            let origin = Origin::across(analysis.channel(place(&spoken).channel));
            if let Spoken::Conversation(it) = spoken {
                let row = it.row();
                if listing.keeps(&row, origin) {
                    listing.row(&row, origin.capture, |_| {});
                }
            }
            if listing.wants_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        listing.finish();
    }
    Ok(report)
}

/// Lists what was noticed.
fn list_events(
    view: &View,
    choice: Choice,
    report: &mut Report,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut listing = Listing::new(view, choice, "events", output);
    listing.head(|out| out(text::remark_head()));
    each(view, report, &mut |analysis, spoken| {
        let known = |id| analysis.channel(id);
        let origin = Origin::on(known(place(&spoken).channel));
        match spoken {
            Spoken::Noticed(it) => {
                let row = it.row(&known);
                if listing.keeps(&row, origin) {
                    listing.row(&row, origin.capture, |mut out| {
                        text::remark_line(&it, &known, &mut out);
                    });
                }
            }
            Spoken::Malformed(it) => {
                let row = it.row(&known);
                if listing.keeps(&row, origin) {
                    listing.row(&row, origin.capture, |mut out| {
                        text::malformed_line(&it, &known, &mut out);
                    });
                }
            }
            Spoken::Conversation(_) => {}
        }
        if listing.wants_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    listing.finish();
    Ok(())
}

/// Hands out what is asked for of what is said.
fn each(
    view: &View,
    report: &mut Report,
    out: &mut dyn FnMut(&Analysis<Capture>, Spoken) -> ControlFlow<()>,
) -> Result<Analysis<Capture>, Failure> {
    let (wanted, assumptions) = (Wanted::Conversations, Assumptions::default());
    let analysis =
        analyse(&view.file, wanted, assumptions, report, &mut |known, told| match told {
            Told::Spoken(spoken) if is_asked_for(view, known, &spoken) => out(known, spoken),
            Told::Spoken(_) | Told::Journey(_) | Told::Blocked(_) => ControlFlow::Continue(()),
            Told::Row(_) | Told::Interval(_) | Told::Slack(_) => ControlFlow::Continue(()),
            Told::Fault(_) => ControlFlow::Continue(()),
        })?;
    look_for_channel(view, &analysis, report);
    Ok(analysis)
}

/// Place of a packet, or of the first packet of a conversation.
fn place(spoken: &Spoken) -> Place {
    match spoken {
        Spoken::Noticed(it) => it.place,
        Spoken::Malformed(it) => it.place,
        Spoken::Conversation(it) => it.first,
    }
}

/// Whether it is on the channel, its first packet on it in the window: of a conversation that is its
/// first packet.
fn is_asked_for(view: &View, known: &Analysis<Capture>, spoken: &Spoken) -> bool {
    let place = place(spoken);
    let Some(channel) = known.channel(place.channel) else { return false };
    let named = |channel: &Channel| view.channel.as_ref().is_none_or(|it| *it == channel.name);
    let (from, to) = view.window().on(channel);
    named(channel) && from <= place.at && place.at < to
}
