//! What was read in a capture against what really happened, event by event.
//!
//! The truth is that of `docs/truth.md`, as any simulator may write it. What is expected of a channel
//! follows from the rows at the port where it was tapped and nothing else, never from characters.
//! Both accounts are read side by side, in time; what has found its counterpart is forgotten.

mod balance;
mod fills;
mod journeys;
mod line;
mod port;
mod truth;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use codec::capture::{CaptureError, Channel, ChannelId, Fault, Item, Progress, Reader};
use codec::tick::FULL_RATE_PERIOD_PS;
use serde::Serialize;

use self::balance::{Balance, Count, Odd};
use self::fills::Fills;
use self::journeys::Journeys;
use self::line::{Kind, Line};
use self::port::{Expected, Port, Reason};
use self::truth::{Happened, Lines, What as Truth};
use crate::analysis::{Analysis, Told, Wanted};
use crate::link::slack::{Assumptions, SlackSaid};
use crate::place::Way;
use crate::timeline::{Row, What};

/// How far one account may be behind the other in what it has told, in periods of the full rate.
/// *Chosen*: longer than anything that a row waits for.
const BEHIND: u64 = 1 << 12;
/// Differences that are kept as examples. *Chosen*: as many as one looks at.
const EXAMPLES_MAX: usize = 32;

/// Why nothing could be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The capture cannot be opened.
    #[error("{0}")]
    Open(#[source] io::Error),
    /// The capture is damaged.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// No channel says where it was tapped, so nothing of the truth belongs to any.
    #[error("no channel says where it was tapped (tap=node:port in its description)")]
    NoTap,
    /// A line of the truth is none.
    #[error("line {line}: {wrong}")]
    Truth {
        /// Counts from 1.
        line: u64,
        /// What is wrong with it.
        wrong: String,
    },
    /// The truth cannot be read on.
    #[error("line {line}: cannot read on: {source}")]
    Read {
        /// Counts from 1.
        line: u64,
        /// What the system says.
        source: io::Error,
    },
}

/// What a capture was worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// What the wire tells, a row a kind.
    pub scores: Vec<ScoreRow>,
    /// What it does not tell.
    pub unseen: Vec<Unseen>,
    /// Differences, the first of them.
    pub differences: Vec<Difference>,
}

/// A kind of thing that both tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreRow {
    /// `packet`, an event of `docs/output.md`, `journey`, `fate`, `injury`, `fill`.
    pub kind: &'static str,
    /// How many there are in the truth; of fills, moments.
    pub in_truth: u64,
    /// How many were found.
    pub found: u64,
    /// How many of those are in the truth as they were found.
    pub right: u64,
    /// `right` over `found`; none if none was found.
    pub precision: Option<f64>,
    /// `right` over `in_truth`; none if there is none.
    pub recall: Option<f64>,
    /// Of fills: cells from the lower bound to the upper, in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// How many are in the truth that are not compared, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<&'static str, u64>,
}

/// A kind of thing in the truth that no wire shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// The kind of event.
    pub event: &'static str,
    /// How many there are.
    pub count: u64,
    /// Why.
    pub why: &'static str,
}

/// Something that only one of the two tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `missed`: it happened and was not found; `invented`: the other way round.
    pub account: &'static str,
    /// The channel; of journeys none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Its place; of packets that the end of the capture closes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The kind.
    pub kind: &'static str,
    /// What it is, in words that are no contract.
    pub what: String,
}

impl ScoreRow {
    fn new(kind: &'static str, count: Count, left_out: BTreeMap<&'static str, u64>) -> Self {
        let Count { in_truth, found, right } = count;
        let share = |of: u64| (of > 0).then(|| right as f64 / of as f64);
        Self {
            kind,
            in_truth,
            found,
            right,
            precision: share(found),
            recall: share(in_truth),
            width: None,
            left_out,
        }
    }

    /// Whether all was found, and nothing else.
    #[must_use]
    pub const fn is_perfect(&self) -> bool {
        self.in_truth == self.right && self.found == self.right
    }
}

impl Score {
    /// Whether all that the wire tells was found, and nothing else.
    #[must_use]
    pub fn is_perfect(&self) -> bool {
        self.scores.iter().all(ScoreRow::is_perfect)
    }

    /// The row of a kind, if there is anything of it.
    #[must_use]
    pub fn of(&self, kind: &str) -> Option<&ScoreRow> {
        self.scores.iter().find(|row| row.kind == kind)
    }
}

impl Reason {
    /// The name in `docs/output.md`.
    const fn name(self) -> &'static str {
        match self {
            Self::PowerLost => "power-lost",
            Self::Raw => "raw",
            Self::NotRecorded => "not-recorded",
        }
    }
}

/// Scores a capture, which is opened twice, against the truth about it.
///
/// # Errors
/// Either cannot be read, or they have nothing to do with each other.
pub fn score<C: Read + Send>(
    mut capture: impl FnMut() -> io::Result<C>,
    truth: impl BufRead,
    assumptions: Assumptions,
    fault: &mut impl FnMut(Fault),
) -> Result<Score, ScoreError> {
    let mut accounts = Accounts::of(capture().map_err(ScoreError::Open)?)?;
    let capture = capture().map_err(ScoreError::Open)?;
    let mut analysis = Analysis::new(capture, Wanted::Everything, assumptions);
    let mut lines = Lines::new(truth);
    let mut step = Vec::new();
    // The latest row of the capture, in periods of the full rate.
    let mut now = 0;
    loop {
        let progress = analysis.step(&mut |told| step.push(told))?;
        for told in &step {
            if let Told::Row(row) = told {
                let at = row.time / u128::from(FULL_RATE_PERIOD_PS);
                now = now.max(u64::try_from(at).unwrap_or(u64::MAX));
            }
        }
        let until = if progress == Progress::Done { u64::MAX } else { now.saturating_add(BEHIND) };
        while lines.now() < until
            && let Some(row) = lines.next()?
        {
            accounts.happened(&row);
        }
        let known = if progress == Progress::Done { u64::MAX } else { lines.now() };
        for told in step.drain(..) {
            accounts.told(known, told, fault);
        }
        if progress == Progress::Done {
            return Ok(accounts.finish());
        }
        accounts.settle(now.min(lines.now()), known);
    }
}

/// Both accounts of all channels.
#[derive(Debug, Default)]
struct Accounts {
    channels: BTreeMap<ChannelId, (Channel, Balance)>,
    /// The tapped ports.
    ports: BTreeMap<String, Port>,
    fills: Fills,
    journeys: Journeys,
    /// By kind: how many no wire shows, and why.
    unseen: BTreeMap<&'static str, (u64, &'static str)>,
    differences: Vec<Difference>,
}

impl Accounts {
    /// Of the channels of a capture.
    fn of(capture: impl Read) -> Result<Self, ScoreError> {
        let mut accounts = Self::default();
        let (mut channels, mut recorded) = (BTreeMap::new(), BTreeMap::new());
        let mut reader = Reader::new(capture);
        let mut item = |item: Item<'_>| match item {
            Item::Channel(id, channel) => drop(channels.insert(id, channel.clone())),
            Item::Chunk(id, chunk) => {
                let last = chunk.end().0.saturating_sub(1);
                recorded.entry(id).or_insert((chunk.first.0, last)).1 = last;
            }
            Item::Section | Item::Link(..) | Item::Fault(_) => {}
        };
        while reader.step(&mut item)? == Progress::More {}
        for (id, channel) in channels {
            if let Some(recorded) = recorded.get(&id) {
                accounts.declare(id, channel, *recorded);
            }
        }
        if accounts.ports.is_empty() { Err(ScoreError::NoTap) } else { Ok(accounts) }
    }

    fn declare(&mut self, id: ChannelId, channel: Channel, recorded: (u64, u64)) {
        let (Some(way), Some(tap)) = (Way::of(&channel), channel.tap.clone()) else { return };
        let divisor = (channel.period_ps.get() / u64::from(FULL_RATE_PERIOD_PS)).max(1);
        let port = self.ports.entry(tap.clone()).or_insert_with(|| Port::new(divisor));
        let (from, to) = (way.from.to_string(), way.to.to_string());
        if from == tap {
            port.outgoing = Some(id);
        } else if to == tap {
            port.incoming = Some(id);
        } else {
            return;
        }
        self.fills.declare(id, &to, divisor);
        self.channels.insert(id, (channel, Balance::new(recorded)));
    }

    /// Takes the next row of the truth.
    fn happened(&mut self, row: &Happened) {
        let Self { channels, ports, fills, journeys, unseen, .. } = self;
        if let Some((kind, why)) = row.what.unseen() {
            unseen.entry(kind).or_insert((0, why)).0 += 1;
        }
        match &row.what {
            Truth::Fill { fill, slope } => fills.truth(&row.place, row.at, *fill, *slope),
            Truth::PowerLost => fills.limit(&row.place, row.at),
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
        }
        port.row(row, &mut |expected| expect(channels, expected));
    }

    /// Takes what the analysis tells, when the truth is known before a period of the full rate.
    fn told(&mut self, known: u64, told: Told, fault: &mut impl FnMut(Fault)) {
        match told {
            Told::Row(Row { channel, at, what, .. }) => {
                let Some((_, balance)) = self.channels.get_mut(&channel) else { return };
                match what {
                    What::Packet(packet) => balance.find(Line::packet(at, &packet)),
                    What::Event(event) => {
                        Line::found(at, &event).into_iter().for_each(|line| balance.find(line));
                    }
                    What::Detail(_) | What::Omitted { .. } => {}
                }
            }
            Told::Slack(SlackSaid::Fill(fill)) => self.fills.bounds(fill),
            Told::Journey(journey) => self.journeys.found(known, journey),
            Told::Fault(found) => fault(found),
            Told::Interval(_) | Told::Blocked(_) => {}
        }
    }

    /// Both accounts have come so far, in periods of the full rate; the truth is known so far.
    fn settle(&mut self, now: u64, known: u64) {
        let before = now.saturating_sub(BEHIND);
        let Self { channels, ports, fills, journeys, differences, .. } = self;
        for port in ports.values() {
            for id in [port.outgoing, port.incoming].into_iter().flatten() {
                let Some((channel, balance)) = channels.get_mut(&id) else { continue };
                balance.settle(before / port.divisor, &mut |odd| keep(differences, channel, odd));
            }
        }
        fills.settle(known);
        journeys.settle(before);
    }

    /// Both accounts are at their end.
    fn finish(mut self) -> Score {
        let Self { channels, ports, differences, .. } = &mut self;
        for port in ports.values_mut() {
            port.settle(u64::MAX, &mut |expected| expect(channels, expected));
        }
        for (channel, balance) in channels.values_mut() {
            balance.finish(&mut |odd| keep(differences, channel, odd));
        }
        let mut scores = self.lines();
        let fills = self.fills.finish();
        let journeys = self.journeys.finish();
        let left_out =
            |reason, number| BTreeMap::from_iter((number > 0).then_some((reason, number)));
        let rows = [
            ("journey", journeys.journeys, left_out("unknown-packet", journeys.unknown)),
            ("fate", journeys.fates, left_out("out-of-sight", journeys.out_of_sight)),
            ("injury", journeys.injuries, left_out("maimed", journeys.maimed)),
        ];
        scores.extend(rows.map(|(kind, count, left_out)| ScoreRow::new(kind, count, left_out)));
        let count = Count { in_truth: fills.moments, found: fills.moments, right: fills.inside };
        let mut fill = ScoreRow::new("fill", count, left_out("power-lost", fills.left_out));
        fill.width = (fills.moments > 0).then(|| fills.width as f64 / fills.moments as f64);
        scores.push(fill);
        scores.retain(|row| row.in_truth > 0 || row.found > 0 || !row.left_out.is_empty());
        let unseen = self.unseen.into_iter();
        let unseen = unseen.map(|(event, (count, why))| Unseen { event, count, why });
        let mut differences = self.differences;
        differences.extend(journeys.odd.into_iter().map(|what| Difference {
            account: "missed",
            channel: None,
            at: None,
            kind: "journey",
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
