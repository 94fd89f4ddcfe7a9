//! Comparison of truth and analysis of all channels: matches each row of one with its counterpart
//! in the other.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are for one stage only")]

use crate::event::{ChannelEvent, TimedEvent};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use codec::capture::{CaptureFault, CaptureItem, CaptureReader, Channel, ChannelId, ReadProgress};
use codec::time::{CharacterPeriod, Tick, Ticks};

use super::channel_line::{ChannelLine, LineClass, LineKind};
use super::channel_score::{ChannelScore, MatchCount};
use super::error::ScoreError;
use super::fills::FillScore;
use super::ip::IpScore;
use super::journeys::JourneyScore;
use super::mapping::MappingScore;
use super::messages::MessageScore;
use super::port::{OmissionReason, PortExpectation, ScoredPort};
use super::score_report::{HiddenEvents, ScoreDifference, ScoreReport, ScoreRow};
use super::truth::{TruthLine, TruthWhat as Truth};
use crate::channel_name::{ChannelEnds, TapEnd};
use crate::conversation::TransportEvent;
use crate::link::slack::SlackEvent;
use crate::pipeline::AnalysisEvent;
use crate::totals::AddTotals as _;

/// Longest lag between truth and analysis, in periods of the full rate. *Chosen*: longer than any
/// row is delayed.
pub(super) const BEHIND: u64 = 1 << 12;

/// Maximum number of differences kept as examples. *Chosen*: as many as a reader examines.
const EXAMPLES_MAX: usize = 32;

/// Comparison of truth and analysis of all channels.
#[derive(Debug, Default)]
pub(super) struct Scorer {
    channels: BTreeMap<ChannelId, (Channel, ChannelScore)>,
    /// The opposite of each channel that has one.
    opposites: BTreeMap<ChannelId, ChannelId>,
    /// Tapped ports by name.
    ports: BTreeMap<String, ScoredPort>,
    fills: FillScore,
    journeys: JourneyScore,
    messages: MessageScore,
    mapping: MappingScore,
    ip: IpScore,
    /// Number of hidden events by kind, with the reason.
    unseen: BTreeMap<&'static str, (u64, &'static str)>,
    differences: Vec<ScoreDifference>,
}

impl Scorer {
    /// Creates a scorer for the channels of a capture.
    pub(super) fn of(capture: impl Read) -> Result<Self, ScoreError> {
        let mut accounts = Self::default();
        let (mut channels, mut recorded) = (BTreeMap::new(), BTreeMap::new());
        let mut reader = CaptureReader::new(capture).with_virtual_channels(None);
        let mut item = |item: CaptureItem<'_>| match item {
            CaptureItem::Channel(id, channel) => drop(channels.insert(id, channel.clone())),
            CaptureItem::Chunk(id, chunk) => {
                let last = chunk.end().0.saturating_sub(1);
                recorded.entry(id).or_insert((chunk.first.0, last)).1 = last;
            }
            CaptureItem::Link(one, other) => {
                accounts.opposites.extend([(one, other), (other, one)]);
            }
            CaptureItem::Section | CaptureItem::Fault(_) => {}
        };
        while reader.step(&mut item)? == ReadProgress::More {}
        let periods: BTreeMap<_, _> = channels.iter().map(|(id, it)| (*id, it.period)).collect();
        for (id, channel) in channels {
            if let Some(own) = recorded.get(&id) {
                let opposite = accounts.opposites.get(&id);
                let opposite = opposite.and_then(|id| Some((recorded.get(id)?, periods.get(id)?)));
                let slip = u64::from(opposite.is_some_and(|(_, other)| *other != channel.period));
                // As places of this channel.
                let opposite = opposite.map(|((first, last), period)| {
                    let place = |at| channel.period.periods(period.time(at));
                    (place(*first), place(*last))
                });
                accounts.declare(
                    id,
                    Arc::unwrap_or_clone(channel),
                    ChannelScore::new(*own, opposite, slip),
                );
            }
        }
        if accounts.ports.is_empty() { Err(ScoreError::NoTap) } else { Ok(accounts) }
    }

    fn declare(&mut self, id: ChannelId, channel: Channel, balance: ChannelScore) {
        let (Some(way), Some(tap)) = (ChannelEnds::of(&channel), TapEnd::of(&channel)) else {
            return;
        };
        let place = match tap {
            TapEnd::Sender => &way.from,
            TapEnd::Receiver => &way.to,
        };
        let port = self.ports.entry(place.to_string()).or_default();
        match tap {
            TapEnd::Sender => (port.outgoing, port.sent) = (Some(id), channel.period),
            TapEnd::Receiver => (port.incoming, port.received) = (Some(id), channel.period),
        }
        self.fills.declare((id, channel.period), &way, tap, balance.end());
        let end = CharacterPeriod::FULL_RATE.periods(channel.period.time(balance.end()));
        self.journeys.declare(id, &channel.name, end);
        self.channels.insert(id, (channel, balance));
    }

    /// Processes the next row of the truth.
    pub(super) fn truth_event(&mut self, row: &TruthLine) {
        let Self { channels, ports, fills, journeys, messages, mapping, ip, unseen, .. } = self;
        messages.row(row);
        ip.row(row);
        mapping.row(row);
        if let Some([kind, why]) = row.unseen() {
            unseen.entry(kind).or_insert((0, why)).0 += 1;
        }
        match &row.what {
            Truth::Fill { fill, slope } => fills.truth(&row.place, row.time(), *fill, *slope),
            Truth::PowerLost => {
                fills.limit(&row.place, row.time());
                journeys.power_lost(row);
            }
            // A host's forced STOP or GO is unrelated to its slack buffer.
            Truth::Raw { .. } => fills.limit(&row.place, row.time()),
            Truth::Fault
            | Truth::OpenLink
            | Truth::InvalidCode { .. }
            | Truth::CorrectedCode { .. } => fills.harm(&row.place, row.time()),
            _ => journeys.row(row),
        }
        let Some(port) = ports.get_mut(&row.place) else { return };
        let frame = match &row.what {
            Truth::Sent(frame) => port.outgoing.map(|id| (id, frame)),
            Truth::Received(frame) => port.incoming.map(|id| (id, frame)),
            _ => None,
        };
        if let Some((id, frame)) = frame
            && let Some((channel, balance)) = channels.get(&id)
            && balance.has(frame.start)
        {
            journeys.frame(id, channel.period, row, frame);
            if balance.has(channel.period.periods(row.time())) {
                messages.frame(row, frame);
                mapping.frame(id, row, frame);
                ip.frame(id, row, frame);
            }
        }
        port.row(row, &mut |expected| expect(channels, expected));
    }

    /// Processes an event of the analysis when the truth is known before `known`, in periods of the
    /// full rate.
    pub(super) fn analysis_event(
        &mut self,
        known: u64,
        event: AnalysisEvent,
        fault: &mut impl FnMut(CaptureFault),
    ) {
        match event {
            AnalysisEvent::Row(TimedEvent { channel, at, body: what, .. }) => {
                let Some((_, balance)) = self.channels.get_mut(&channel) else { return };
                if let ChannelEvent::Packet(packet) = &what {
                    balance.find(ChannelLine::packet(at, packet));
                    self.ip.packet(channel, packet);
                } else if let ChannelEvent::Link(event) = &what {
                    if let Some(line) = ChannelLine::found(at, event) {
                        balance.find(line);
                    }
                } else if let ChannelEvent::Omitted { rounds, every, .. } = what {
                    self.leave_out_repeat(channel, at, [rounds, every]);
                }
            }
            AnalysisEvent::Slack(SlackEvent::Fill(fill)) => self.fills.bounds(fill),
            AnalysisEvent::Journey(journey) => {
                self.ip.journey(&journey);
                self.journeys.found(known, journey);
            }
            AnalysisEvent::Mapping(event) => {
                let ends = |id| ChannelEnds::of(&self.channels.get(&id)?.0);
                self.mapping.found(&event, |id| Some(ends(id)?.to.to_string()));
            }
            AnalysisEvent::Fault(found) => fault(found),
            AnalysisEvent::Conversation(TransportEvent::Observed(observation)) => {
                self.messages.found(&observation);
            }
            AnalysisEvent::Conversation(_) | AnalysisEvent::Slack(_) => {}
            AnalysisEvent::Interval(_) | AnalysisEvent::Blocked(_) | AnalysisEvent::Case(_) => {}
        }
    }

    /// Leaves out what repeated characters of a channel tell, from the first one on that the analysis does not examine:
    /// events of the channel, and of the senders of its link. F-1, R-1
    fn leave_out_repeat(&mut self, id: ChannelId, at: Tick, [rounds, every]: [u64; 2]) {
        let Some(period) = self.channels.get(&id).map(|(channel, _)| channel.period) else {
            return;
        };
        // A sender's state is known again with the first command of the round behind them.
        let own = [(LineClass::Own, 0), (LineClass::ResetEnd, 0), (LineClass::Sender, every)];
        let own = own.map(|(class, behind)| (id, class, behind));
        let opposite = self.opposites.get(&id).map(|id| (*id, LineClass::Sender, every));
        for (id, class, behind) in own.into_iter().chain(opposite) {
            if let Some((channel, balance)) = self.channels.get_mut(&id) {
                let periods = rounds.saturating_mul(every).saturating_add(behind) - 1;
                let last = at.after(Ticks(periods));
                let [first, last] = [at, last].map(|at| channel.period.periods(period.time(at.0)));
                balance.exclude(class, first..=last, OmissionReason::Repeated);
            }
        }
    }

    /// Compares everything before `now`, in periods of the full rate, minus the longest lag. The
    /// truth is known up to `known`; journeys may still be reported for packets from `oldest` on.
    pub(super) fn settle(&mut self, now: u64, known: u64, oldest: impl FnOnce() -> u64) {
        let before = now.saturating_sub(BEHIND);
        let Self { channels, ports, fills, journeys, differences, .. } = self;
        for port in ports.values_mut() {
            // Lines that are due are expected before unmatched ones are closed.
            port.settle(now, &mut |expected| expect(channels, expected));
            for id in [port.outgoing, port.incoming].into_iter().flatten() {
                let Some((channel, balance)) = channels.get_mut(&id) else { continue };
                let before = channel.period.periods(CharacterPeriod::FULL_RATE.time(before));
                balance.settle(before, &mut |account, line| {
                    keep(differences, channel, (account, line));
                });
            }
        }
        fills.settle(known);
        journeys.settle(before, oldest);
    }

    /// Compares all remaining events and returns the scores.
    pub(super) fn finish(mut self) -> ScoreReport {
        let Self { channels, ports, differences, .. } = &mut self;
        for port in ports.values_mut() {
            port.settle(u64::MAX, &mut |expected| expect(channels, expected));
        }
        for (channel, balance) in channels.values_mut() {
            balance.finish(&mut |account, line| keep(differences, channel, (account, line)));
        }
        let mut scores = Vec::from(self.lines());
        let (fills, outside) = self.fills.finish();
        let journeys = self.journeys.finish();
        let rows = [
            ("journey", journeys.journeys),
            ("fate", journeys.fates),
            ("injury", journeys.injuries),
        ];
        scores.extend(rows.map(|(kind, it)| ScoreRow::new(kind, it.compared, it.left_out)));
        self.mapping.finish();
        let ip = self.ip.finish();
        let counts = self.messages.counts().into_iter().chain(self.mapping.counts());
        let counts = counts.chain(ip.counts);
        scores.extend(counts.map(|(kind, count)| ScoreRow::new(kind, count, BTreeMap::new())));
        let count =
            MatchCount { in_truth: fills.moments, found: fills.moments, right: fills.inside };
        let left_out = (fills.left_out > 0).then_some(("fault", fills.left_out));
        let mut fill = ScoreRow::new("fill", count, left_out.into_iter().collect());
        fill.width = (fills.moments > 0).then(|| fills.width as f64 / fills.moments as f64);
        scores.push(fill);
        scores.retain(|row| row.in_truth > 0 || row.found > 0 || !row.left_out.is_empty());
        let unseen = self.unseen.into_iter();
        let unseen = unseen.map(|(event, (count, why))| HiddenEvents { event, count, why });
        let mut differences = self.differences;
        let name = |id| self.channels.get(&id).map(|(channel, _)| channel.name.clone());
        differences.extend(outside.into_iter().map(|outside| ScoreDifference {
            account: "missed",
            channel: name(outside.channel),
            at: Some(outside.at),
            kind: "fill",
            what: outside.what,
        }));
        let odd = journeys.odd.into_iter().map(|(kind, what)| ("missed", kind, what));
        let odd = odd.chain(self.messages.odd()).chain(self.mapping.odd()).chain(ip.odd);
        differences.extend(odd.map(|(account, kind, what)| ScoreDifference {
            account,
            channel: None,
            at: None,
            kind,
            what,
        }));
        ScoreReport { scores, unseen: unseen.collect(), differences }
    }

    /// The scores of lines, by kind.
    fn lines(&self) -> [ScoreRow; 14] {
        LineKind::ALL.map(|kind| {
            let (mut count, mut left_out) = (MatchCount::default(), BTreeMap::new());
            for (_, balance) in self.channels.values() {
                if let Some(own) = balance.counts.get(&kind) {
                    count.absorb(own);
                }
                for ((of, reason), number) in &balance.left_out {
                    if *of == kind {
                        *left_out.entry(reason.name()).or_default() += number;
                    }
                }
            }
            ScoreRow::new(kind.name(), count, left_out)
        })
    }
}

fn expect(channels: &mut BTreeMap<ChannelId, (Channel, ChannelScore)>, expected: PortExpectation) {
    let (PortExpectation::Line(id, _) | PortExpectation::Limit(id, ..)) = &expected;
    let Some((_, balance)) = channels.get_mut(id) else { return };
    match expected {
        PortExpectation::Line(_, line) => balance.expect(line),
        PortExpectation::Limit(_, class, from, why) => balance.exclude(class, from..=u64::MAX, why),
    }
}

fn keep(
    differences: &mut Vec<ScoreDifference>,
    channel: &Channel,
    (account, line): (&'static str, ChannelLine),
) {
    if differences.len() >= EXAMPLES_MAX {
        return;
    }
    differences.push(ScoreDifference {
        account,
        channel: Some(channel.name.clone()),
        at: (line.at < u64::MAX).then_some(line.at),
        kind: line.kind.name(),
        what: line.more,
    });
}
