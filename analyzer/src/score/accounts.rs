//! Both accounts of all channels, side by side: each row of one finds its counterpart in the other.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are for one stage only")]

use std::collections::BTreeMap;
use std::io::Read;

use codec::capture::{Channel, ChannelId, Fault, Item, Progress, Reader};
use codec::tick::FULL_RATE_PERIOD_PS;

use super::balance::{Balance, Count, Odd};
use super::fills::Fills;
use super::journeys::Journeys;
use super::line::{Kind, Line};
use super::messages::Messages;
use super::port::{Expected, Port};
use super::truth::{Happened, What as Truth};
use super::{BEHIND, Difference, Score, ScoreError, ScoreRow, Unseen};
use crate::analysis::Told;
use crate::conversation::Spoken;
use crate::link::slack::SlackSaid;
use crate::place::{TapEnd, Way};
use crate::timeline::{Row, What};

/// Differences that are kept as examples. *Chosen*: as many as one looks at.
const EXAMPLES_MAX: usize = 32;

/// Both accounts of all channels.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    channels: BTreeMap<ChannelId, (Channel, Balance)>,
    /// The tapped ports.
    ports: BTreeMap<String, Port>,
    fills: Fills,
    journeys: Journeys,
    messages: Messages,
    /// By kind: how many no wire shows, and why.
    unseen: BTreeMap<&'static str, (u64, &'static str)>,
    differences: Vec<Difference>,
}

impl Accounts {
    /// Of the channels of a capture.
    pub(super) fn of(capture: impl Read) -> Result<Self, ScoreError> {
        let mut accounts = Self::default();
        let (mut channels, mut recorded) = (BTreeMap::new(), BTreeMap::new());
        let mut joined = BTreeMap::new();
        let mut reader = Reader::new(capture);
        let mut item = |item: Item<'_>| match item {
            Item::Channel(id, channel) => drop(channels.insert(id, channel.clone())),
            Item::Chunk(id, chunk) => {
                let last = chunk.end().0.saturating_sub(1);
                recorded.entry(id).or_insert((chunk.first.0, last)).1 = last;
            }
            Item::Link(one, other) => joined.extend([(one, other), (other, one)]),
            Item::Section | Item::Fault(_) => {}
        };
        while reader.step(&mut item)? == Progress::More {}
        for (id, channel) in channels {
            if let Some(own) = recorded.get(&id) {
                let opposite = joined.get(&id).and_then(|id| recorded.get(id)).copied();
                accounts.declare(id, channel, Balance::new(*own, opposite));
            }
        }
        if accounts.ports.is_empty() { Err(ScoreError::NoTap) } else { Ok(accounts) }
    }

    fn declare(&mut self, id: ChannelId, channel: Channel, balance: Balance) {
        let (Some(way), Some(tap)) = (Way::of(&channel), TapEnd::of(&channel)) else { return };
        let divisor = (channel.period_ps.get() / u64::from(FULL_RATE_PERIOD_PS)).max(1);
        let place = match tap {
            TapEnd::Sender => &way.from,
            TapEnd::Receiver => &way.to,
        };
        let port = self.ports.entry(place.to_string()).or_insert_with(|| Port::new(divisor));
        match tap {
            TapEnd::Sender => port.outgoing = Some(id),
            TapEnd::Receiver => port.incoming = Some(id),
        }
        self.fills.declare(id, &way, tap, balance.end());
        self.fills.divide(id, divisor);
        self.journeys.declare(id, &channel.name);
        self.channels.insert(id, (channel, balance));
    }

    /// Takes the next row of the truth.
    pub(super) fn happened(&mut self, row: &Happened) {
        let Self { channels, ports, fills, journeys, messages, unseen, .. } = self;
        messages.row(row);
        if let Some((kind, why)) = row.what.unseen() {
            unseen.entry(kind).or_insert((0, why)).0 += 1;
        }
        match &row.what {
            Truth::Fill { fill, slope } => fills.truth(&row.place, row.at, *fill, *slope),
            // A host that is made to send STOP or GO says nothing of its slack buffer.
            Truth::PowerLost | Truth::Raw { .. } => fills.limit(&row.place, row.at),
            Truth::Fault
            | Truth::OpenLink
            | Truth::InvalidCode { .. }
            | Truth::CorrectedCode { .. } => fills.harm(&row.place, row.at),
            _ => journeys.row(row),
        }
        let Some(port) = ports.get_mut(&row.place) else { return };
        let frame = match &row.what {
            Truth::Sent(frame) => port.outgoing.map(|id| (id, frame)),
            Truth::Received(frame) => port.incoming.map(|id| (id, frame)),
            _ => None,
        };
        if let Some((id, frame)) = frame
            && channels.get(&id).is_some_and(|(_, balance)| balance.has(frame.start))
        {
            journeys.frame(id, port.divisor, row, frame);
            messages.frame(row, frame);
        }
        port.row(row, &mut |expected| expect(channels, expected));
    }

    /// Takes what the analysis tells, when the truth is known before a period of the full rate.
    pub(super) fn told(&mut self, known: u64, told: Told, fault: &mut impl FnMut(Fault)) {
        match told {
            Told::Row(Row { channel, at, what, .. }) => {
                let Some((_, balance)) = self.channels.get_mut(&channel) else { return };
                match what {
                    What::Packet(packet) => balance.find(Line::packet(at, &packet)),
                    What::Event(event) => {
                        Line::found(at, &event).into_iter().for_each(|line| balance.find(line));
                    }
                    What::Omitted { rounds, every } => {
                        balance.repeat(at.0..at.0.saturating_add(rounds.saturating_mul(every)));
                    }
                    What::Detail(_) => {}
                }
            }
            Told::Slack(SlackSaid::Fill(fill)) => self.fills.bounds(fill),
            Told::Journey(journey) => self.journeys.found(known, journey),
            Told::Fault(found) => fault(found),
            Told::Spoken(Spoken::Noticed(noticed)) => self.messages.found(&noticed),
            Told::Spoken(Spoken::Malformed(_) | Spoken::Conversation(_))
            | Told::Interval(_)
            | Told::Blocked(_)
            | Told::Slack(
                SlackSaid::Late { .. }
                | SlackSaid::OverrunRisk { .. }
                | SlackSaid::Contradiction { .. },
            ) => {}
        }
    }

    /// Both accounts have come so far, in periods of the full rate; the truth is known so far, and of
    /// packets from `oldest` on journeys may still be told.
    pub(super) fn settle(&mut self, now: u64, known: u64, oldest: impl FnOnce() -> u64) {
        let before = now.saturating_sub(BEHIND);
        let Self { channels, ports, fills, journeys, differences, .. } = self;
        for port in ports.values_mut() {
            // What was due is expected before what was found of it is given up.
            port.settle(now, &mut |expected| expect(channels, expected));
            for id in [port.outgoing, port.incoming].into_iter().flatten() {
                let Some((channel, balance)) = channels.get_mut(&id) else { continue };
                balance.settle(before / port.divisor, &mut |odd| keep(differences, channel, odd));
            }
        }
        fills.settle(known);
        journeys.settle(before, oldest);
    }

    /// Both accounts are at their end.
    pub(super) fn finish(mut self) -> Score {
        let Self { channels, ports, differences, .. } = &mut self;
        for port in ports.values_mut() {
            port.settle(u64::MAX, &mut |expected| expect(channels, expected));
        }
        for (channel, balance) in channels.values_mut() {
            balance.finish(&mut |odd| keep(differences, channel, odd));
        }
        let mut scores = self.lines();
        let (fills, outside) = self.fills.finish();
        let journeys = self.journeys.finish();
        let left_out =
            |reason, number| BTreeMap::from_iter((number > 0).then_some((reason, number)));
        let mut unknown = left_out("unknown-packet", journeys.unknown);
        unknown.extend(left_out("seen-again", journeys.again));
        let mut unseen = left_out("out-of-sight", journeys.out_of_sight);
        unseen.extend(left_out("behind-the-tap", journeys.behind));
        let rows = [
            ("journey", journeys.journeys, unknown),
            ("fate", journeys.fates, unseen),
            ("injury", journeys.injuries, left_out("maimed", journeys.maimed)),
        ];
        scores.extend(rows.map(|(kind, count, left_out)| ScoreRow::new(kind, count, left_out)));
        let said = self.messages.counts();
        let said = said.map(|(kind, count)| ScoreRow::new(kind.name(), count, BTreeMap::new()));
        scores.extend(said);
        let count = Count { in_truth: fills.moments, found: fills.moments, right: fills.inside };
        let mut fill = ScoreRow::new("fill", count, left_out("fault", fills.left_out));
        fill.width = (fills.moments > 0).then(|| fills.width as f64 / fills.moments as f64);
        scores.push(fill);
        scores.retain(|row| row.in_truth > 0 || row.found > 0 || !row.left_out.is_empty());
        let unseen = self.unseen.into_iter();
        let unseen = unseen.map(|(event, (count, why))| Unseen { event, count, why });
        let mut differences = self.differences;
        let name = |id| self.channels.get(&id).map(|(channel, _)| channel.name.clone());
        differences.extend(outside.into_iter().map(|outside| Difference {
            account: "missed",
            channel: name(outside.channel),
            at: Some(outside.at),
            kind: "fill",
            what: outside.what,
        }));
        differences.extend(journeys.odd.into_iter().map(|(kind, what)| Difference {
            account: "missed",
            channel: None,
            at: None,
            kind,
            what,
        }));
        differences.extend(self.messages.odd().map(|(account, kind, what)| Difference {
            account,
            channel: None,
            at: None,
            kind,
            what,
        }));
        Score { scores, unseen: unseen.collect(), differences }
    }

    /// What lines came to, kind by kind.
    fn lines(&self) -> Vec<ScoreRow> {
        let rows = Kind::ALL.map(|kind| {
            let (mut count, mut left_out) = (Count::default(), BTreeMap::new());
            for (_, balance) in self.channels.values() {
                if let Some(own) = balance.counts().get(&kind) {
                    count.in_truth += own.in_truth;
                    count.found += own.found;
                    count.right += own.right;
                }
                for ((of, reason), number) in balance.left_out() {
                    if *of == kind {
                        *left_out.entry(reason.name()).or_default() += number;
                    }
                }
            }
            ScoreRow::new(kind.name(), count, left_out)
        });
        rows.into_iter().collect()
    }
}

fn expect(channels: &mut BTreeMap<ChannelId, (Channel, Balance)>, expected: Expected) {
    match expected {
        Expected::Line(id, line) => {
            channels.get_mut(&id).into_iter().for_each(|(_, it)| it.expect(line.clone()));
        }
        Expected::Limit(id, class, from, reason) => {
            channels.get_mut(&id).into_iter().for_each(|(_, it)| it.limit(class, from, reason));
        }
    }
}

/// Keeps a difference as an example.
fn keep(differences: &mut Vec<Difference>, channel: &Channel, odd: Odd) {
    if differences.len() >= EXAMPLES_MAX {
        return;
    }
    let (account, line) = match odd {
        Odd::Missed(line) => ("missed", line),
        Odd::Invented(line) => ("invented", line),
    };
    differences.push(Difference {
        account,
        channel: Some(channel.name.clone()),
        at: (line.at < u64::MAX).then_some(line.at),
        kind: line.kind.name(),
        what: line.more,
    });
}
