//! Journeys against the ways that packets went: every hop, what became of them, where they were hurt.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a packet")]

mod judge;

use std::collections::BTreeMap;

use codec::capture::ChannelId;

use super::channel_score::MatchCount;
use super::truth::{TruthFrame, TruthLine, TruthWhat};
use crate::journey::Journey;
use crate::packet::PacketEnd;

/// Duration for which nothing has happened to a packet when it is done with, in periods of the full rate.
/// *Chosen*: twice the longest that a packet can stand (R-4).
pub(super) const QUIET: u64 = 1 << 23;

/// All packets that are or were on captured channels.
#[derive(Clone, Debug, Default)]
pub(super) struct JourneyScore {
    /// Packet of a frame, by its channel and its first byte.
    frames: BTreeMap<(ChannelId, u64), String>,
    packets: BTreeMap<String, ScoredPacket>,
    /// The names of channels: a link that is tapped at both ends has two of each.
    names: BTreeMap<ChannelId, String>,
    /// Time to look next for packets that are done with.
    next: u64,
    worth: JourneyTotals,
}

/// Totals of compared journeys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JourneyTotals {
    pub(super) journeys: MatchCount,
    pub(super) fates: MatchCount,
    pub(super) injuries: MatchCount,
    /// Journeys with frames of which the truth does not know the packet.
    pub(super) unknown: u64,
    /// Packets whose fate was not captured.
    pub(super) out_of_sight: u64,
    /// Packets of which more happened behind the last tap than that shows.
    pub(super) behind: u64,
    /// Packets that were cut, merged or lost a byte, so that their CRC byte says nothing of injuries.
    pub(super) maimed: u64,
    /// Journeys of links that were tapped at both ends, seen once more.
    pub(super) again: u64,
    /// The first differences: kind and description.
    pub(super) odd: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug, Default)]
struct ScoredPacket {
    hops: Vec<ScoredHop>,
    ended: ScoredFate,
    whole: Completeness,
    /// Bytes behind its route where it was first captured.
    body: Option<u64>,
    found: Vec<Journey>,
    /// Time something last happened to it.
    last: u64,
}

/// A packet on a captured channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScoredHop {
    /// Time at which its first byte was on the wire, in periods of the full rate.
    time: u64,
    channel: ChannelId,
    start: u64,
    syndrome: Option<u8>,
}

/// Fate of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum ScoredFate {
    /// Nothing yet.
    #[default]
    UnderWay,
    /// At a port.
    Consumed(String),
    /// At a port, by a rule.
    Dropped(String, String),
    Merged,
}

/// Completeness of its CRC bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Completeness {
    #[default]
    Yes,
    No,
}

impl JourneyScore {
    /// Adds a channel.
    pub(super) fn declare(&mut self, id: ChannelId, name: &str) {
        self.names.insert(id, name.to_owned());
    }

    /// A frame stood on a captured channel of so many periods of the full rate each.
    pub(super) fn frame(
        &mut self,
        id: ChannelId,
        divisor: u64,
        row: &TruthLine,
        frame: &TruthFrame,
    ) {
        let Some(name) = &row.packet else { return };
        self.frames.insert((id, frame.start), name.clone());
        let packet = self.packets.entry(name.clone()).or_default();
        packet.last = row.at;
        packet.hops.push(ScoredHop {
            time: frame.start.saturating_mul(divisor),
            channel: id,
            start: frame.start,
            syndrome: frame.syndrome,
        });
        // A weakened byte may look like a control symbol: its packet is a byte shorter, with its own GAP.
        let body = frame.length.saturating_sub(frame.route.len() as u64);
        if frame.ended_by != PacketEnd::Gap.name() || body != *packet.body.get_or_insert(body) {
            packet.whole = Completeness::No;
        }
    }

    /// Something happened to a packet, anywhere.
    pub(super) fn row(&mut self, row: &TruthLine) {
        let ended = match &row.what {
            TruthWhat::Consumed { .. } => ScoredFate::Consumed(row.place.clone()),
            TruthWhat::Dropped { rule } => ScoredFate::Dropped(row.place.clone(), rule.clone()),
            TruthWhat::Merged => ScoredFate::Merged,
            // Of what is left of it no syndrome tells.
            TruthWhat::Truncated | TruthWhat::Overflow => ScoredFate::UnderWay,
            _ => return,
        };
        let Some(name) = &row.packet else { return };
        let packet = self.packets.entry(name.clone()).or_default();
        packet.last = row.at;
        if ended == ScoredFate::UnderWay {
            packet.whole = Completeness::No;
        } else {
            packet.ended = ended;
        }
    }

    /// A journey was found; the truth is known as far.
    pub(super) fn found(&mut self, now: u64, journey: Journey) {
        let of = |hop: &crate::journey::JourneyHop| self.frames.get(&(hop.channel, hop.start.0));
        let all = journey.hops.iter().all(|hop| of(hop).is_some());
        match journey.hops.first().and_then(of).filter(|_| all) {
            None => self.worth.unknown += 1,
            Some(name) => {
                let packet = self.packets.entry(name.clone()).or_default();
                packet.last = packet.last.max(now);
                packet.found.push(journey);
            }
        }
    }

    /// Both accounts have come so far: packets that are long done with are judged, but for those from
    /// `oldest` on of which not all is told.
    pub(super) fn settle(&mut self, now: u64, oldest: impl FnOnce() -> u64) {
        if now < self.next {
            return;
        }
        let oldest = oldest();
        self.next = now.saturating_add(QUIET);
        let done = |packet: &ScoredPacket| {
            packet.last.saturating_add(QUIET) < now && (packet.last < oldest || packet.is_told())
        };
        let Self { packets, frames, worth, names, .. } = self;
        packets.retain(|name, packet| {
            let done = done(packet);
            if done {
                judge::compare((name, packet), names, worth);
                packet.hops.iter().for_each(|hop| drop(frames.remove(&(hop.channel, hop.start))));
            }
            !done
        });
    }

    /// Both accounts are at their end.
    pub(super) fn finish(mut self) -> JourneyTotals {
        for (name, packet) in &mut self.packets {
            judge::compare((name, packet), &self.names, &mut self.worth);
        }
        self.worth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = r#"{"at":30,"place":"h0:0","packet":"h0#0","event":"sent","start":1,"end":29,
        "length":29,"route":[129],"tag":5,"payload":26,"crc":"good","syndrome":0,"ended_by":"gap"}"#;

    #[test]
    fn a_packet_waits_for_journeys_that_may_still_be_told_of_it() {
        let row: TruthLine = serde_json::from_str(SENT).unwrap();
        let TruthWhat::Sent(frame) = &row.what else { panic!("{row:?}") };
        // Before the oldest of which something may be told nothing comes any more.
        for (oldest, kept) in [(0, 1), (30, 1), (31, 0)] {
            let mut journeys = JourneyScore::default();
            journeys.declare(ChannelId(0), "h0:0>s0:0");
            journeys.frame(ChannelId(0), 1, &row, frame);
            journeys.settle(30 + QUIET + 1, || oldest);
            assert_eq!(journeys.packets.len(), kept, "{oldest}");
        }
    }
}
