//! The rows of the part of a capture that options select: which row of a kind an event of an analysis is, where it is,
//! and what its text is.

use analyzer::blocking::BlockingEvent;
use analyzer::captured::CapturedRow;
use analyzer::conversation::{ObservedPlace, TransportEvent};
use analyzer::event::{LinkEvent, TimedEvent};
use analyzer::filter::RowKind;
use analyzer::journey::Journey;
use analyzer::link::slack::SlackEvent;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::LogRow;
use analyzer::render::{self, StyledLine, TimeUnit};
use analyzer::row::ListRow;
use codec::capture::{Channel, ChannelId};
use codec::time::{CharacterPeriod, Tick};

use crate::args::CapturePart;

type ChannelByIdFn<'l, 'a> = &'l dyn Fn(ChannelId) -> Option<&'a Channel>;

/// Passes the lines of a row, with times in a unit.
type RowLines<'r> = dyn Fn(TimeUnit, &mut dyn FnMut(StyledLine)) + 'r;

pub(crate) struct SelectedRow<'r> {
    pub(crate) row: &'r dyn ListRow,
    /// The channel of its first place.
    pub(crate) channel: &'r Channel,
    /// Character period of the channel; 1 ps if the positions of the row are on several channels.
    pub(crate) period: CharacterPeriod,
    lines: &'r RowLines<'r>,
}

impl SelectedRow<'_> {
    /// The row with its time and the number of its capture.
    pub(crate) fn captured(&self) -> CapturedRow<'_> {
        CapturedRow::new(self.row, self.channel.capture, self.period)
    }

    /// Passes the lines of its text; none for kinds whose text is a table.
    pub(crate) fn lines(&self, unit: TimeUnit, out: &mut dyn FnMut(StyledLine)) {
        (self.lines)(unit, out);
    }
}

impl CapturePart {
    /// True if characters `first..=last` of a channel are selected.
    pub(crate) fn has(&self, channel: &Channel, [first, last]: [Tick; 2]) -> bool {
        self.channels().selects(channel) && self.window().overlaps(channel, first, last)
    }

    /// The channel by which an event is selected: that of its place, of the first selected hop of a journey, or of
    /// the first stop of a wait.
    pub(crate) fn channel_of<'a>(
        &self,
        event: &AnalysisEvent,
        known: ChannelByIdFn<'_, 'a>,
    ) -> Option<&'a Channel> {
        let on = |id, span| known(id).filter(|channel| self.has(channel, span));
        let at = |place: ObservedPlace| on(place.channel, [place.at; 2]);
        match event {
            AnalysisEvent::Interval(it) => on(it.channel, [it.start, before(it.end)]),
            AnalysisEvent::Slack(event) => {
                event.fill().and_then(|it| on(it.channel, [it.start, before(it.end)]))
            }
            AnalysisEvent::Journey(journey) => {
                journey.hops.iter().find_map(|hop| on(hop.channel, [hop.start, hop.end]))
            }
            AnalysisEvent::Blocked(wait) => {
                known(wait.channel()).filter(|channel| self.has_wait(wait, channel, known))
            }
            AnalysisEvent::Conversation(event) => at(event.place()),
            AnalysisEvent::Mapping(event) => at(event.place()),
            AnalysisEvent::Row(_) | AnalysisEvent::Case(_) | AnalysisEvent::Fault(_) => None,
        }
    }

    /// True if a wait concerns a selected channel, overlaps the time, and lasts long enough.
    fn has_wait(
        &self,
        wait: &BlockingEvent,
        first: &Channel,
        known: ChannelByIdFn<'_, '_>,
    ) -> bool {
        let (rest, since, until, periods) = match wait {
            BlockingEvent::Stop(it) => (it.chain.as_slice(), it.since, it.until, it.periods),
            BlockingEvent::Deadlock(it) => (it.channels.as_slice(), it.since, it.until, it.periods),
        };
        let tick = |time| Tick(first.period.periods(time));
        let (from, to) = self.window().on(first);
        let selects = |channel: &Channel| self.channels().selects(channel);
        self.wait_min.is_none_or(|min| Tick(periods) >= min.on(first))
            && tick(since) < to
            && from <= tick(until)
            && (selects(first) || rest.iter().any(|id| known(*id).is_some_and(selects)))
    }

    /// Passes the row of a kind that an event is, if it is one and is selected.
    pub(crate) fn row(
        &self,
        kind: RowKind,
        event: &AnalysisEvent,
        known: ChannelByIdFn<'_, '_>,
        out: &mut dyn FnMut(&SelectedRow<'_>),
    ) {
        if kind == RowKind::Log {
            return self.log_row(event, known, out);
        }
        if let AnalysisEvent::Row(event) = event {
            let channel = known(event.channel).into_iter();
            return channel.for_each(|channel| self.channel_row(kind, (channel, event), out));
        }
        let Some(channel) = self.channel_of(event, known) else { return };
        let mut emit = |row: &dyn ListRow, period| {
            out(&SelectedRow { row, channel, period, lines: &|_, _| {} });
        };
        match (event, kind) {
            (AnalysisEvent::Interval(it), RowKind::Intervals) => {
                emit(&it.row(&channel.name), channel.period);
            }
            (AnalysisEvent::Slack(SlackEvent::Fill(it)), RowKind::Fills) => {
                emit(&it.row(&channel.name), channel.period);
            }
            (AnalysisEvent::Journey(journey), RowKind::Journeys) => {
                journey_row(journey, known, out);
            }
            (AnalysisEvent::Blocked(wait), RowKind::Waits) => {
                emit(&wait.row(&known), channel.period);
            }
            (AnalysisEvent::Conversation(event), kind) => match (event, kind) {
                (TransportEvent::Conversation(it), RowKind::Conversations) => {
                    emit(&it.row(), CharacterPeriod::PICOSECOND);
                }
                (TransportEvent::Observed(it), RowKind::Remarks) => {
                    emit(&it.row(known), channel.period);
                }
                (TransportEvent::Malformed(it), RowKind::Remarks) => {
                    emit(&it.row(known), channel.period);
                }
                (_, _) => {}
            },
            (AnalysisEvent::Mapping(event), RowKind::Mapping) => {
                emit(&event.row(&|id| known(id)), channel.period);
            }
            (_, _) => {}
        }
    }

    /// As [`Self::row`], of a packet or an event of a channel.
    pub(crate) fn channel_row(
        &self,
        kind: RowKind,
        (channel, event): (&Channel, &TimedEvent),
        out: &mut dyn FnMut(&SelectedRow<'_>),
    ) {
        // A packet's row takes longer than the question whether it is selected.
        if !self.has(channel, span(event)) {
            return;
        }
        let period = channel.period;
        let lines = &|unit, mut out: &mut dyn FnMut(StyledLine)| {
            render::row(channel, event, unit, &mut out);
        };
        let mut emit = |row: &dyn ListRow| out(&SelectedRow { row, channel, period, lines });
        if let (Some(packet), RowKind::Packets) = (event.body.packet(), kind) {
            emit(&packet.row(&channel.name));
        } else if let (Some(link), RowKind::Events) = (event.body.link(), kind) {
            emit(&link.row(&channel.name, event.at));
        }
    }

    /// The row of `log`. The release of a sender is the end of its wait.
    fn log_row(
        &self,
        event: &AnalysisEvent,
        known: ChannelByIdFn<'_, '_>,
        out: &mut dyn FnMut(&SelectedRow<'_>),
    ) {
        let (id, row) = match event {
            AnalysisEvent::Row(event) => match (known(event.channel), event.body.link()) {
                (None, _) | (_, Some(LinkEvent::SenderResumed(_))) => return,
                (Some(channel), _) => (event.channel, LogRow::of_event(channel, event)),
            },
            AnalysisEvent::Blocked(wait) => (wait.channel(), Some(LogRow::of_wait(wait, known))),
            AnalysisEvent::Case(case) => (case.channel, Some(LogRow::of_case(case, known))),
            AnalysisEvent::Interval(_) | AnalysisEvent::Slack(_) | AnalysisEvent::Journey(_) => {
                return;
            }
            AnalysisEvent::Conversation(_)
            | AnalysisEvent::Mapping(_)
            | AnalysisEvent::Fault(_) => {
                return;
            }
        };
        let (Some(row), Some(channel)) = (&row, known(id)) else { return };
        if self.has(channel, [Tick(row.start), Tick(row.at)]) {
            let lines = &|unit, out: &mut dyn FnMut(StyledLine)| out(render::log_line(row, unit));
            out(&SelectedRow { row, channel, period: channel.period, lines });
        }
    }
}

fn journey_row(
    journey: &Journey,
    known: ChannelByIdFn<'_, '_>,
    out: &mut dyn FnMut(&SelectedRow<'_>),
) {
    let first = journey.hops.iter().find_map(|hop| known(hop.channel));
    let Some(channel) = first else { return };
    let lines = &|unit, mut out: &mut dyn FnMut(StyledLine)| {
        render::journey_lines(journey, &|id| known(id), unit, &mut out);
    };
    let (row, period) = (&journey.row(known), CharacterPeriod::PICOSECOND);
    out(&SelectedRow { row, channel, period, lines });
}

/// First and last character of an event.
fn span(event: &TimedEvent) -> [Tick; 2] {
    event.body.packet().map_or([event.at; 2], |packet| [packet.start, packet.end])
}

/// The character before the end of an interval.
fn before(end: Tick) -> Tick {
    Tick(end.0.saturating_sub(1))
}
