//! The links' storey by itself: chunks of a link's two channels come in, states come out.

use std::sync::Arc;

use analyzer::event::{ChannelEvent, Picoseconds, TimedEvent};
use analyzer::link::interval::ActivityInterval;
use analyzer::options::AnalysisScope;

use analyzer::link::slack::SlackEvent;

use analyzer::link_analysis::{LinkAnalysis, LinkOutput};

use arbitrary::{Arbitrary, Unstructured};
use codec::capture::{Channel, ChannelId};
use codec::time::{CharacterPeriod, Tick};

use super::{sums, tile};
use crate::capture_input::{self, OwnedChunk, in_order};
use crate::chars::pieces;
use crate::record_ops;
use crate::repair::SeededRng;

/// Two channels, and what is recorded of them.
#[derive(Clone, Debug)]
struct StatesInput {
    channels: [Channel; 2],
    joined: LinkJoin,
    chunks: Vec<(ChannelId, OwnedChunk)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkJoin {
    Link,
    Apart,
}

/// Two channels, and what is recorded of them.
type RecordedPair = ([Channel; 2], Vec<(ChannelId, OwnedChunk)>);

/// The channels that some bytes stand for, and what is recorded of them.
pub(crate) fn recorded_pair(bytes: &[u8]) -> Option<RecordedPair> {
    StatesInput::from_bytes(bytes).map(|plan| (plan.channels, plan.chunks))
}

impl StatesInput {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unstructured::new(bytes);
        let shape = u8::arbitrary(&mut bytes).ok()?;
        let joined = if shape % 8 == 7 { LinkJoin::Apart } else { LinkJoin::Link };
        let [here, there] = match shape / 8 % 4 {
            0 | 1 => [12_500, 12_500],
            2 => [12_500, 25_000],
            _ => [12_500, 23_333],
        };
        let tap = match shape / 32 % 3 {
            0 => None,
            1 => Some("a:0".to_owned()),
            _ => Some("b:0".to_owned()),
        };
        let peer = |peer| (joined == LinkJoin::Link).then_some(peer);
        let channel = |name: &str, period: u64, peer| Channel {
            period: CharacterPeriod::from_ps(period).unwrap_or(CharacterPeriod::FULL_RATE),
            peer,
            tap: tap.clone(),
            ..Channel::named(name)
        };
        let channels = [channel("a:0>b:0", here, peer(1)), channel("b:0>a:0", there, peer(0))];
        let [here, there] = record_ops::record_chunks(&record_ops::ops(&mut bytes));
        let mut chunks: Vec<_> = here.into_iter().map(|it| (ChannelId(0), it)).collect();
        chunks.extend(there.into_iter().map(|it| (ChannelId(1), it)));
        in_order(&channels, &mut chunks);
        Some(Self { channels, joined, chunks })
    }

    /// Divides the characters into other chunks.
    fn cut(&self, mut cut: impl FnMut(&OwnedChunk) -> Vec<OwnedChunk>) -> Self {
        let mut cut = |(id, chunk): &(ChannelId, OwnedChunk)| {
            let id = *id;
            cut(chunk).into_iter().map(move |piece| (id, piece))
        };
        let mut chunks: Vec<(ChannelId, OwnedChunk)> =
            self.chunks.iter().flat_map(&mut cut).collect();
        in_order(&self.channels, &mut chunks);
        Self { channels: self.channels.clone(), joined: self.joined, chunks }
    }

    fn time(&self, id: ChannelId, at: Tick) -> Picoseconds {
        let period =
            self.channels.get(id.0 as usize).map_or(CharacterPeriod::PICOSECOND, |it| it.period);
        period.time(at.0)
    }

    /// Recorded stretches of a channel, in order.
    fn stretches(&self, id: ChannelId) -> Vec<(Tick, Tick)> {
        let own = self.chunks.iter().filter(|(own, _)| *own == id);
        capture_input::stretches(own.map(|(_, chunk)| chunk))
    }
}

/// The law: states of a link's channels tile what was recorded, they add up to the sums, and they are
/// the same however the characters are cut into chunks.
pub fn law(bytes: &[u8]) {
    StatesInput::from_bytes(bytes).into_iter().for_each(|plan| check(&plan, &reduced));
}

/// `reduce` may be another way, for a test.
fn check(plan: &StatesInput, reduce: &impl Fn(&StatesInput) -> (LinkAnalysis, LinkOutput)) {
    let (link, seen) = reduce(plan);
    for report in link.reports() {
        let of_it = |(_, it): &&(Picoseconds, ActivityInterval)| it.channel == report.id;
        let own: Vec<ActivityInterval> =
            seen.intervals.iter().filter(of_it).map(|(_, it)| *it).collect();
        tile(&own, &plan.stretches(report.id));
        sums(&report, &own);
    }
    let repeats = plan.chunks.iter().any(|(_, chunk)| chunk.count.is_some());
    let plain = plan.cut(|chunk| vec![chunk.literally()]);
    let whole = repeats.then(|| reduce(&plain).1);
    let mut dice = SeededRng::new(&[]);
    let cut = plain
        .cut(|chunk| pieces(chunk.chunk(), &mut dice).into_iter().map(OwnedChunk::from).collect());
    let (_, pieces) = reduce(&cut);
    same(&pieces, whole.as_ref().unwrap_or(&seen));
    let Some(whole) = whole else { return };
    // What rounds that are left out bring is not known, but for rows.
    let is_omission = |row: &TimedEvent| matches!(row.body, ChannelEvent::Omitted { .. });
    if seen.events.iter().any(is_omission) {
        let rows: Vec<TimedEvent> =
            seen.events.into_iter().filter(|row| !is_omission(row)).collect();
        // Bytes up to a stop may be among what is left out: then fewer are told.
        let mut expected = whole.events;
        for (row, expected) in rows.iter().zip(&mut expected) {
            if let (ChannelEvent::Data(told), ChannelEvent::Data(all)) =
                (&row.body, &mut expected.body)
            {
                *all = (*all).min(*told);
            }
        }
        assert_eq!(rows, expected, "a repeat is its rounds");
    } else {
        same(&seen, &whole);
    }
}

fn same(seen: &LinkOutput, other: &LinkOutput) {
    assert_eq!(seen.intervals, other.intervals, "cutting changes no state");
    assert_eq!(seen.events, other.events, "cutting changes no row");
    assert_eq!(bounds(seen), bounds(other), "cutting changes no bound");
}

/// Events of each channel's slack buffer, bounds before the rest: when one channel's are
/// handed out beside another's, or beside the rest, is not promised.
fn bounds(seen: &LinkOutput) -> Vec<SlackEvent> {
    let mut said = seen.slack.clone();
    said.sort_by_key(|said| (said.channel(), !matches!(said, SlackEvent::Fill(_))));
    said
}

fn reduced(plan: &StatesInput) -> (LinkAnalysis, LinkOutput) {
    let mut link = LinkAnalysis::new(AnalysisScope::Everything, Arc::default());
    for (id, channel) in (0..).map(ChannelId).zip(&plan.channels) {
        link.declare(id, &Arc::new(channel.clone()));
    }
    if plan.joined == LinkJoin::Link {
        link.join(ChannelId(0), ChannelId(1));
    }
    for (id, chunk) in &plan.chunks {
        link.pass(plan.time(*id, chunk.first));
        link.feed(*id, &chunk.chunk());
    }
    link.finish();
    let seen = link.take_output();
    (link, seen)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Names of states, of ends of packets, and of events.
    pub(crate) fn shown(bytes: &[u8]) -> BTreeSet<&'static str> {
        let (_, seen) = StatesInput::from_bytes(bytes).map(|plan| reduced(&plan)).unwrap();
        let states = seen.intervals.iter().map(|(_, it)| it.state.name());
        let rows = seen.events.iter().map(|row| row.body.name());
        states.chain(rows).collect()
    }

    fn storm(reduce: impl Fn(&StatesInput) -> (LinkAnalysis, LinkOutput)) {
        let mut dice = SeededRng::new(b"a storm over the states of a link");
        for _ in 0..1000 {
            StatesInput::from_bytes(&dice.bytes(80))
                .into_iter()
                .for_each(|plan| check(&plan, &reduce));
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(reduced);
    }

    pub(crate) fn a_state_that_is_left_out_is_caught() {
        storm(|plan| {
            let (link, mut seen) = reduced(plan);
            seen.intervals.truncate(7);
            (link, seen)
        });
    }

    /// The law, after something has been done to what comes of many chunks.
    fn changed(change: fn(&mut LinkOutput)) {
        storm(|plan| {
            let (link, mut seen) = reduced(plan);
            if plan.chunks.len() > 16 {
                change(&mut seen);
            }
            (link, seen)
        });
    }

    /// Stretches come in another order.
    pub(crate) fn a_state_that_depends_on_the_cut_is_caught() {
        changed(|seen| seen.intervals.reverse());
    }

    pub(crate) fn a_bound_that_is_lost_at_a_cut_is_caught() {
        changed(|seen| _ = seen.slack.pop());
    }

    pub(crate) fn a_row_that_is_lost_at_a_cut_is_caught() {
        changed(|seen| _ = seen.events.pop());
    }
}
