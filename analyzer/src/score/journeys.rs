//! Comparison of journeys with the true paths of packets: every hop, the fate, the corruptions.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a packet")]

mod judge;

use std::collections::BTreeMap;

use codec::capture::ChannelId;
use codec::time::CharacterPeriod;

use super::channel_score::MatchCount;
use super::truth::{TruthFrame, TruthLine, TruthWhat};
use crate::event::Picoseconds;
use crate::journey::{Journey, JourneyFate, JourneyHop};
use crate::packet::FrameEnd;

/// Time without an event after which a packet is finished, in periods of the full rate. *Chosen*:
/// twice the longest time that a packet can be blocked (R-4).
pub(super) const QUIET: u64 = 1 << 23;

/// Comparison of the journeys of all packets on captured channels.
#[derive(Clone, Debug, Default)]
pub(super) struct JourneyScore {
    /// Name of a frame's packet, by the frame's channel and first byte.
    frames: BTreeMap<(ChannelId, u64), String>,
    packets: BTreeMap<String, ScoredPacket>,
    /// Journeys that the end of the recording broke off: the truth has their frames when these end.
    under_way: Vec<Journey>,
    /// Names of the channels. A link that is tapped at both ends has two channels of each name.
    names: BTreeMap<ChannelId, String>,
    /// The first channel of each name.
    first: BTreeMap<String, ChannelId>,
    /// Times from which ports may be without power.
    powerless: BTreeMap<String, Picoseconds>,
    /// End of each channel's recording, in periods of the full rate.
    ends: BTreeMap<ChannelId, u64>,
    /// Time of the next search for finished packets.
    next: u64,
    worth: JourneyTotals,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JourneyTotals {
    pub(super) journeys: JourneyCount,
    pub(super) fates: JourneyCount,
    pub(super) injuries: JourneyCount,
    /// The first differences: kind and description.
    pub(super) odd: Vec<(&'static str, String)>,
}

/// Numbers of what is compared, and of what is not, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JourneyCount {
    pub(super) compared: MatchCount,
    pub(super) left_out: BTreeMap<&'static str, u64>,
}

impl JourneyCount {
    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

#[derive(Clone, Debug, Default)]
struct ScoredPacket {
    hops: Vec<ScoredHop>,
    ended: ScoredFate,
    /// True if a frame of it is incomplete, so that their CRC bytes do not show its corruptions.
    is_maimed: bool,
    /// Bytes after the route at its first capture.
    body: Option<u64>,
    found: Vec<Journey>,
    /// Time of its last event.
    last: u64,
}

/// The passage of a packet over a captured channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScoredHop {
    /// Time of its first byte on the wire, in periods of the full rate.
    time: u64,
    channel: ChannelId,
    start: u64,
    syndrome: Option<u8>,
    /// True on the first recording of a wire, which is followed while it has characters.
    is_followed: bool,
    /// Time at which its frame ended, in periods of the full rate.
    over: u64,
}

/// True fate of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum ScoredFate {
    #[default]
    UnderWay,
    /// Consumed at a port.
    Consumed(String),
    /// Dropped at a port, with the rule.
    Dropped(String, String),
    Merged,
}

impl JourneyScore {
    /// Adds a channel whose recording ends at `end`, in periods of the full rate.
    pub(super) fn declare(&mut self, id: ChannelId, name: &str, end: u64) {
        self.names.insert(id, name.to_owned());
        self.ends.insert(id, end);
        self.first.entry(name.to_owned()).or_insert(id);
    }

    /// Adds a frame of the truth on a captured channel with this character period.
    pub(super) fn frame(
        &mut self,
        id: ChannelId,
        period: CharacterPeriod,
        row: &TruthLine,
        frame: &TruthFrame,
    ) {
        let Some(name) = &row.packet else { return };
        self.frames.insert((id, frame.start), name.clone());
        let packet = self.packets.entry(name.clone()).or_default();
        packet.last = row.at;
        let is_followed = self.names.get(&id).is_none_or(|name| self.first.get(name) == Some(&id));
        packet.hops.push(ScoredHop {
            time: CharacterPeriod::FULL_RATE.periods(period.time(frame.start)),
            channel: id,
            start: frame.start,
            syndrome: frame.syndrome,
            is_followed,
            over: row.at,
        });
        // A corrupted byte may be received as a control symbol: the packet is then a byte shorter
        // and still ends with its own GAP.
        let body = frame.length.saturating_sub(frame.route.len() as u64);
        // The truth has all of it, of which the recording may have a part.
        let is_cut = self.ends.get(&id).is_some_and(|end| row.at >= *end);
        packet.is_maimed |= is_cut
            || frame.ended_by != FrameEnd::Gap.name()
            || body != *packet.body.get_or_insert(body);
    }

    /// Processes a row of the truth about a packet, at any place.
    pub(super) fn row(&mut self, row: &TruthLine) {
        let ended = match &row.what {
            TruthWhat::Consumed { .. } => ScoredFate::Consumed(row.place.clone()),
            TruthWhat::Dropped { rule } => ScoredFate::Dropped(row.place.clone(), rule.clone()),
            TruthWhat::Merged => ScoredFate::Merged,
            // The remainder has no meaningful syndrome.
            TruthWhat::Truncated | TruthWhat::Overflow => ScoredFate::UnderWay,
            _ => return,
        };
        let Some(name) = &row.packet else { return };
        let packet = self.packets.entry(name.clone()).or_default();
        packet.last = row.at;
        // As far as the recording of its last channel shows, it is under way.
        let is_behind = |hop: &ScoredHop| {
            let to = self.names.get(&hop.channel).and_then(|name| name.split('>').nth(1));
            let at = if to == Some(&row.place) { hop.over } else { row.at };
            self.ends.get(&hop.channel).is_some_and(|end| at >= *end)
        };
        let is_hidden = || packet.hops.iter().max().is_some_and(is_behind);
        match ended {
            ScoredFate::UnderWay => packet.is_maimed = true,
            ScoredFate::Consumed(_) if is_hidden() => {}
            ended => packet.ended = ended,
        }
    }

    /// Takes the loss of power of a port: its tap goes on recording what it does not receive.
    pub(super) fn power_lost(&mut self, row: &TruthLine) {
        self.powerless.entry(row.place.clone()).or_insert(row.time());
    }

    /// Adds a journey that the analysis found when the truth was known up to `now`.
    pub(super) fn found(&mut self, now: u64, mut journey: Journey) {
        let of = |hop: &JourneyHop| self.frames.get(&(hop.channel, hop.start.0));
        let is_known = |journey: &Journey| journey.hops.iter().all(|hop| of(hop).is_some());
        if journey.fate == JourneyFate::UnderWay && now < u64::MAX && !is_known(&journey) {
            return self.under_way.push(journey);
        }
        let is_powerless = |hop: &mut JourneyHop| {
            let to = || self.names.get(&hop.channel)?.split('>').nth(1);
            let lost = || self.powerless.get(to()?);
            of(hop).is_none() && lost().is_some_and(|lost| hop.closed >= *lost)
        };
        while journey.hops.pop_if(is_powerless).is_some() {
            journey.fate = JourneyFate::OutOfSight;
        }
        match journey.hops.first().and_then(of).filter(|_| is_known(&journey)) {
            None => self.worth.journeys.leave_out("unknown-packet"),
            Some(name) => {
                let packet = self.packets.entry(name.clone()).or_default();
                packet.last = packet.last.max(now);
                packet.found.push(journey);
            }
        }
    }

    /// Compares and removes the packets that were finished long before `now`, except those whose
    /// last event is at or after `oldest` and of which journeys may still be reported.
    pub(super) fn settle(&mut self, now: u64, oldest: impl FnOnce() -> u64) {
        if now < self.next {
            return;
        }
        let oldest = oldest();
        self.next = now.saturating_add(QUIET);
        let done = |packet: &ScoredPacket| {
            packet.last.saturating_add(QUIET) < now
                && (packet.last < oldest || packet.is_reported())
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

    /// Compares all remaining packets.
    pub(super) fn finish(mut self) -> JourneyTotals {
        for journey in std::mem::take(&mut self.under_way) {
            self.found(u64::MAX, journey);
        }
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
        let row = TruthLine::parse(SENT.as_bytes()).unwrap();
        let TruthWhat::Sent(frame) = &row.what else { panic!("{row:?}") };
        // Journeys are still reported for packets from `oldest` on only.
        for (oldest, kept) in [(0, 1), (30, 1), (31, 0)] {
            let mut journeys = JourneyScore::default();
            journeys.declare(ChannelId(0), "h0:0>s0:0", u64::MAX);
            journeys.frame(ChannelId(0), CharacterPeriod::FULL_RATE, &row, frame);
            journeys.settle(30 + QUIET + 1, || oldest);
            assert_eq!(journeys.packets.len(), kept, "{oldest}");
        }
    }
}
