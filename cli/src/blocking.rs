//! `myriscope blocking`: who waited for whom, and why.

use std::ops::ControlFlow;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::blocking::Blocked;
use analyzer::blocking::trees::Trees;
use analyzer::filter::RowKind;
use analyzer::link::slack::Assumptions;
use analyzer::text;
use analyzer::timeline::Time;
use analyzer::window::{Edge, Window};
use codec::capture::{Channel, ChannelId};
use codec::tick::Tick;

use crate::analysing::{analyse, look_for_channel, tell_unread};
use crate::args::{self, Format, View};
use crate::files::Capture;
use crate::listing::{Choice, Listing, Origin};
use crate::output::Output;
use crate::report::{Failure, Report};

/// Trees that are shown where no number is asked for. *Chosen*: a page.
const TREES: usize = 10;

pub(crate) fn run(arguments: &args::Blocking, output: &mut Output) -> Result<Report, Failure> {
    let view = &arguments.view;
    let Some(mut choice) = Choice::of(view, RowKind::Waits, output)? else {
        return Ok(Report::default());
    };
    let mut report = Report::of(&view.file);
    if view.format == Format::Text && choice.columns().is_none() {
        let mut trees = Trees::default();
        let analysis = each(arguments, &mut report, &mut |analysis, blocked| {
            let known = |id| analysis.channel(id);
            if choice.keeps(&blocked.row(&known), origin(analysis, &blocked)) {
                trees.add(blocked);
            }
            ControlFlow::Continue(())
        })?;
        let most = view.limit.map_or(TREES, |limit| usize::try_from(limit).unwrap_or(TREES));
        let known = |id| analysis.channel(id);
        tell_unread(&analysis, output);
        text::blocking(&trees, most, &known, &mut |line| output.line(&line));
        return Ok(report);
    }
    let mut listing = Listing::new(view, choice, "blocking", output);
    listing.head(|_| {});
    each(arguments, &mut report, &mut |analysis, blocked| {
        let known = |id| analysis.channel(id);
        let row = blocked.row(&known);
        let origin = origin(analysis, &blocked);
        if listing.keeps(&row, origin) {
            listing.row(&row, origin.capture, |_| {});
        }
        if listing.wants_more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    listing.finish();
    Ok(report)
}

/// Hands out the waits that are asked for.
fn each(
    arguments: &args::Blocking,
    report: &mut Report,
    out: &mut dyn FnMut(&Analysis<Capture>, Blocked) -> ControlFlow<()>,
) -> Result<Analysis<Capture>, Failure> {
    let args::Blocking { view, min } = arguments;
    let assumptions = Assumptions::default();
    let analysis =
        analyse(&view.file, Wanted::Network, assumptions, report, &mut |known, told| match told {
            Told::Blocked(blocked) if is_asked_for(view, *min, known, &blocked) => {
                out(known, blocked)
            }
            Told::Blocked(_) | Told::Interval(_) | Told::Slack(_) | Told::Journey(_) => {
                ControlFlow::Continue(())
            }
            Told::Row(_) | Told::Spoken(_) | Told::Fault(_) => ControlFlow::Continue(()),
        })?;
    look_for_channel(view, &analysis, report);
    Ok(analysis)
}

/// Places of a wait are on the channel that was stopped, those of a deadlock on its first.
fn origin(known: &Analysis<Capture>, blocked: &Blocked) -> Origin {
    Origin::on(known.channel(blocked.channel()))
}

/// Whether it has to do with the channel that is asked for, lies in the window in part, and is long
/// enough.
fn is_asked_for(
    view: &View,
    min: Option<Edge>,
    known: &Analysis<Capture>,
    blocked: &Blocked,
) -> bool {
    let (first, rest, since, until) = match blocked {
        Blocked::Stop(stop) => (stop.channel, stop.chain.as_slice(), stop.since, stop.until),
        Blocked::Deadlock(deadlock) => {
            let first = deadlock.channels.first().copied().unwrap_or_default();
            (first, deadlock.channels.as_slice(), deadlock.since, deadlock.until)
        }
    };
    let Some(channel) = known.channel(first) else { return false };
    let place = |time: Time| {
        Tick(u64::try_from(time / Time::from(channel.period_ps.get())).unwrap_or(u64::MAX))
    };
    let named = |id: &ChannelId| {
        let name = known.channel(*id).map(|channel: &Channel| &channel.name);
        view.channel.is_none() || view.channel.as_ref() == name
    };
    let (from, to) = view.window().on(channel);
    let (least, _) = Window { from: min.unwrap_or(Window::ALL.from), to: None }.on(channel);
    let is_long = place(until.saturating_sub(since)) >= least;
    is_long
        && place(since) < to
        && from <= place(until)
        && (named(&first) || rest.iter().any(named))
}
