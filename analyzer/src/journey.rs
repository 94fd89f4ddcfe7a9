//! Packets followed over several links: stripped routes, latencies, corruption and fate. P-3, P-5,
//! S-1
//!
//! A packet is identified by its bytes: a switch strips the first route byte, recomputes the CRC
//! byte and leaves the others unchanged. A packet that leaves a switch is matched with the packets
//! at the switch's inputs: by turn when it begins, by bytes when it has ended. A packet from an
//! uncaptured part of the network is matched with the packets that entered it.

mod busy_period;
mod byte_reading;
mod candidate;
mod channel_traffic;
mod clock_gaps;
mod completed;
mod corruption;
mod fibre;
mod fit;
mod head_packet;
mod hop_record;
mod linking;
mod located_harm;
mod matching;
mod multicast;
mod network_map;
mod outcome;
mod passage;
mod recent_sets;
mod relays;
mod row;
mod uncaptured;
mod undecided;
mod visible_bytes;
mod wire_damage;

use crate::event::{ChannelEvent, LinkEvent, Picoseconds, ResumeCause, TimedEvent};
use std::collections::VecDeque;

use codec::capture::{Channel, ChannelId};
use codec::route::{PortId, is_route_byte};

use self::candidate::HopCandidate;
use self::channel_traffic::QueuedHop;
use self::clock_gaps::LonePacket;
pub use self::completed::{Journey, JourneyHop};
pub use self::corruption::{BitPlace, Corruption, CorruptionSite, FlipParity};
use self::fit::ByteFit;
pub use self::head_packet::{HeadPacket, HeadProgress, SwitchDelays};
use self::hop_record::{BlockingPackets, ClosedPacket, HopId, HopRecord, HopTable};
pub use self::located_harm::LocatedHarm;
use self::network_map::{MappedNode, NetworkMap, RequestedOutput};
pub use self::outcome::{JourneyFate, MatchCertainty, WaitReason};
use self::recent_sets::{ANY_NODE, RecentSets};
use self::relays::ArrivedPacket;
pub use self::relays::RelayedFrom;
pub use self::row::{
    BitPlaceRow, ChangedByteRow, CorruptionRow, HopRow, JourneyRow, PLACES_MAX, WireRow,
};
pub use self::wire_damage::{CHANGED_MAX, ChangedByte, CopyDamage, WireTally};
use crate::clock::ClockEstimator;
use crate::link::parameters::LinkAssumptions;
use crate::packet::{FrameEnd, ReceivedPacket, StartCoverage};

/// Maximum of kept packets that have entered uncaptured links. *Chosen*: more than the slack of a
/// large network holds.
const WAITING_MAX: usize = 4096;
/// Maximum of counted passages between channels. *Chosen*: a switch of 32 ports has 1024 pairs.
const IMPLIED_MAX: usize = 1 << 16;
/// Maximum of ambiguous packet contents kept for each channel. *Chosen*: identical packets are
/// short, and there are few different short packets.
const DOUBTED_MAX: usize = 64;
/// Maximum of packets kept for each input. *Chosen*: a slack buffer of 80 cells holds 40 (F-3).
const QUEUE_MAX: usize = 1024;

/// Connection of two channels by a switch, derived from packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpliedPassage {
    /// The channel to the switch.
    pub from: ChannelId,
    /// The channel from the switch.
    pub to: ChannelId,
    /// The route byte that selects this output at this input.
    pub byte: u8,
    /// Number of packets that took this passage.
    pub packets: u64,
}

/// Matches packets of different channels that are the same packet.
#[derive(Debug, Default)]
pub struct JourneyTracker {
    net: NetworkMap,
    table: HopTable,
    pub(crate) clocks: ClockEstimator,
    /// Whole packets that were seen on one side of a switch only.
    lone: RecentSets<LonePacket>,
    recent: RecentSets<(u64, HopId)>,
    arrivals: RecentSets<ArrivedPacket>,
    /// Packets that have entered uncaptured links, the oldest first.
    waiting: VecDeque<(u64, HopId)>,
    /// Packets whose origin is undecided because a possible origin has not ended; in the order of
    /// their ends.
    undecided: Vec<(u64, HopId)>,
    /// Number of counted passages between channels.
    implied: usize,
    reported: u64,
    /// A packet all of whose copies have been reported, by its serial number. S-9
    over: Option<(u64, HopId)>,
    /// Buffer for the hops of one journey.
    chain: Vec<HopId>,
    /// Places of the channels that carried FRES in the instant of the last event.
    resets: Vec<usize>,
    /// Time of the last event.
    now: Picoseconds,
}

impl JourneyTracker {
    /// Adds a channel, with the link parameters assumed for all channels.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel, assumed: &LinkAssumptions) {
        self.net.declare(id, channel, assumed);
        self.clocks.declare(id, channel);
    }

    /// Processes the next event of any channel; events come in order of time. Those of one instant may come in any order,
    /// and `end_instant` ends it with its resets.
    pub fn row(&mut self, row: &TimedEvent, out: &mut Vec<Journey>) {
        self.now = row.time;
        let Some(place) = self.net.place(row.channel) else { return };
        let Some(channel) = self.net.lane_mut(place) else { return };
        match &row.body {
            ChannelEvent::Head(first) => self.begin(place, row, *first, out),
            ChannelEvent::Packet(packet) => self.close(place, row, packet, out),
            ChannelEvent::Link(LinkEvent::ForwardReset) => {
                channel.resetting.get_or_insert(row.time);
                self.resets.push(place);
            }
            ChannelEvent::Link(LinkEvent::ResetEnded) => channel.reset_ended(row.time),
            ChannelEvent::Link(LinkEvent::SenderResumed(
                ResumeCause::Go | ResumeCause::OpenLink | ResumeCause::Reset,
            )) => self.table.released(channel, row.time),
            ChannelEvent::Begins | ChannelEvent::Link(LinkEvent::Hole { .. }) => {
                channel.blind(row);
                channel.restored(row.time);
            }
            ChannelEvent::Link(LinkEvent::OpenLink) => {
                channel.silent = Some([row.time, Picoseconds::MAX]);
            }
            ChannelEvent::Link(LinkEvent::LinkRestored) => channel.restored(row.time),
            ChannelEvent::Data(length) => self.stopped(place, row.time, *length),
            ChannelEvent::Framed => {}
            ChannelEvent::Command(_) | ChannelEvent::Link(_) | ChannelEvent::Omitted { .. } => {}
        }
    }

    /// Passages through switches that packets imply, in order.
    pub fn implied(&self) -> impl Iterator<Item = ImpliedPassage> {
        let mut implied: Vec<ImpliedPassage> = Vec::with_capacity(self.implied);
        for output in &self.net.lanes {
            implied.extend(output.passages.iter().filter_map(|(input, byte, packets)| {
                let from = self.net.lane(*input)?.id;
                Some(ImpliedPassage { from, to: output.id, byte: *byte, packets: *packets })
            }));
        }
        implied.sort_unstable_by_key(|it| (it.from, it.to, it.byte));
        implied.into_iter()
    }

    /// Reports all pending packets at the end of the recording, after [`Self::decide_all`].
    pub fn finish(&mut self, end: Picoseconds, out: &mut Vec<Journey>) {
        let copied: Vec<(u64, HopId)> =
            self.net.lanes.iter().flat_map(|lane| lane.copied.iter().copied()).collect();
        copied.into_iter().for_each(|copied| self.end_copied(copied));
        for hop in self.table.ids() {
            let Some(found) = self.table.get(hop) else { continue };
            if found.fate.is_none() && !found.is_gone() {
                // A packet that has left the switch may not have reached the next tap.
                let is_over = found.passed.is_some_and(|until| until < end);
                let unseen =
                    if is_over { JourneyFate::Dropped(None) } else { JourneyFate::UnderWay };
                let fate = self.verdict(found, unseen);
                self.settle(hop, fate, out);
            }
        }
        // Only packets with omitted events remain.
        self.table = HopTable::default();
        self.waiting.clear();
        let waiting = self.net.lanes.iter_mut().filter(|lane| !lane.queue.is_empty());
        waiting.for_each(|lane| lane.queue.clear());
    }

    /// Records the first byte of a packet.
    fn begin(&mut self, place: usize, row: &TimedEvent, first: u8, out: &mut Vec<Journey>) {
        let since = self.net.busy_since(place, first, row.time);
        let Some(lane) = self.net.lane(place) else { return };
        let held = BlockingPackets { output: lane.last, input: None, resumed: lane.resumed };
        let hop = self.table.add(HopRecord {
            lane: place,
            number: lane.next_number,
            first,
            start: row.at,
            time: row.time,
            since,
            held,
            ..HopRecord::default()
        });
        let Some(lane) = self.net.lane_mut(place) else { return };
        let unclosed = lane.open.replace(hop);
        let crowded = lane.to.and_then(|_| {
            lane.queue.push_back(QueuedHop { id: hop, first });
            let is_full = lane.queue.len() > QUEUE_MAX;
            lane.is_crowded |= is_full;
            lane.queue.pop_front_if(|_| is_full).map(|it| it.id)
        });
        self.net.heads(place).into_iter().for_each(|heads| heads.count(first));
        unclosed.into_iter().for_each(|hop| self.forget(hop));
        crowded.into_iter().for_each(|hop| self.overtaken(hop, out));
        self.claim(hop);
    }

    /// Records the end of a packet and matches it with its hop before.
    fn close(
        &mut self,
        place: usize,
        row: &TimedEvent,
        packet: &ReceivedPacket,
        out: &mut Vec<Journey>,
    ) {
        self.net.heads(place).into_iter().for_each(|heads| heads.correct(packet));
        let Some(lane) = self.net.lane_mut(place) else { return };
        lane.next_number = packet.number + 1;
        // A packet that the end of the recording cuts goes on. The event of the first byte may have been omitted.
        let is_cut = packet.ended_by == FrameEnd::CaptureEnd;
        let Some(id) = (if is_cut { lane.open } else { lane.open.take() }) else { return };
        lane.sum = lane.sum.saturating_add(packet.length);
        lane.last = Some((packet.number, row.time));
        let sum = lane.sum;
        let Some(hop) = self.table.get(id) else { return };
        let closed = ClosedPacket::new(row.time, hop.first, packet, sum);
        self.table.close(id, packet.number, closed);
        if is_cut {
            // Decided on when all that the end cuts have ended.
            self.postpone(id, out);
            self.arrive(id, out);
            return;
        }
        self.find_before(id, out);
        self.decide_behind(place, out);
        let Some(hop) = self.table.get(id) else { return };
        if hop.is_gone() {
            self.emit_if_complete(id, out);
            return;
        }
        if self.loads_table(id, out) {
            return;
        }
        self.arrive(id, out);
        self.drain(place, out);
    }

    /// Settles a complete packet at the node behind its channel, or keeps it for later matching.
    fn arrive(&mut self, id: HopId, out: &mut Vec<Journey>) {
        let Some(hop) = self.table.get(id) else { return };
        let Some(body) = hop.closed.as_ref().map(|closed| closed.body) else { return };
        self.net.note_requested(hop);
        let (seq, node) = (hop.seq, self.net.lane(hop.lane).and_then(|it| self.net.node_at(it.to)));
        let may_leave = |node: &MappedNode| node.may_strip_routes() && is_route_byte(hop.first);
        if hop.is_runt() && self.verdict(hop, JourneyFate::UnderWay) == JourneyFate::RUNT {
            self.drop_runt(id, out);
        } else if node.is_some_and(|(node, _)| !node.is_switch() && !may_leave(node)) {
            let fate = self.verdict(hop, JourneyFate::UnderWay);
            self.leave_queue(id);
            self.settle(id, fate, out);
        } else if node.is_none() && !is_route_byte(hop.first) {
            // A packet whose first byte is a tag is for a host.
            self.settle(id, JourneyFate::Arrived, out);
        } else {
            self.recent.add(body, ANY_NODE, (seq, id));
            let is_fibre = node.is_some_and(|(node, _)| node.fibre.is_some());
            if hop.is_free() && (is_fibre || self.requested(hop) == RequestedOutput::Unseen) {
                self.wait(id, out);
            }
        }
    }

    /// Removes a matched packet from its input and updates the state of input and output.
    fn left(&mut self, candidate: &HopCandidate, to: HopId, out: &mut Vec<Journey>) {
        let Some(leaving) = self.table.get(to) else { return };
        let (output, since, last) = (leaving.lane, leaving.time, leaving.number);
        let ended = leaving.closed.as_ref().map(|closed| closed.at);
        let is_shown = leaving.is_shown_by(candidate.fit);
        let Some(hop) = self.table.get(candidate.hop) else { return };
        let (number, first) = (hop.number, hop.first);
        // A wrong reading would confirm itself.
        if is_shown {
            self.net.vote(candidate.lane, output, first);
        }
        if candidate.fit == ByteFit::Same {
            self.record_passage(candidate, to);
        }
        if matches!(candidate.fit, ByteFit::Same | ByteFit::Elsewhere) {
            self.imply(candidate.lane, output, first);
        }
        let late = self.net.lane(output).and_then(|output| output.since_sent);
        let Some(lane) = self.net.lane_mut(candidate.lane) else { return };
        lane.clear = ended.zip(late).map(|(ended, late)| ended.saturating_sub(late));
        let closed = self.table.get(to).and_then(|leaving| leaving.closed.as_ref());
        lane.leaves(number, candidate.fit, closed);
        let port = lane.to.map_or(PortId(0), |(_, port)| port);
        let gone: Vec<HopId> = lane.queue.iter().take(candidate.place).map(|it| it.id).collect();
        lane.queue.remove(candidate.place);
        let cleared = ended.map(|ended| (number, ended.saturating_sub(late.unwrap_or(0))));
        // Of a packet that is decided on late, those that came behind it were not in its way.
        let before = lane.left.filter(|(packet, _)| *packet < number);
        if before.is_some() || lane.left.is_none() {
            lane.left = cleared;
        }
        if let Some(hop) = self.table.get_mut(to) {
            hop.held.input = before;
        }
        // The token is updated only by the newest packet of the output: a late decision is
        // outdated. S-5
        if let Some(output) = self.net.lane_mut(output)
            && output.next_number == last + 1
        {
            output.served = port;
        }
        let likely = self.table.get(to).filter(|to| self.net.may_be_unseen(to));
        let likely = likely.map(|to| to.time);
        // A match by turn alone, or of one of several that are alike, is no evidence about other packets.
        let is_alike = candidate.fit == ByteFit::Same && !is_shown && likely.is_none();
        let is_evidence = candidate.fit != ByteFit::Turn && !is_alike;
        for hop in gone.into_iter().filter(|_| is_evidence) {
            self.mark_overtaken(hop, since);
            if let Some(hop) = self.table.get_mut(hop) {
                hop.likely_left = hop.likely_left.or(likely);
            }
        }
        self.drain(candidate.lane, out);
    }

    /// Fate of a packet that was not captured at an output; `unseen` if there is no other evidence.
    fn verdict(&self, hop: &HopRecord, unseen: JourneyFate) -> JourneyFate {
        let place =
            self.net.lane(hop.lane).and_then(|lane| Some((lane, self.net.node_at(lane.to)?)));
        let Some((input, (node, _))) = place else { return JourneyFate::OutOfSight };
        if !node.is_switch() {
            let ended = hop.closed.as_ref().filter(|it| it.ended_by != FrameEnd::CaptureEnd);
            return match ended {
                None => JourneyFate::UnderWay,
                Some(_) if !is_route_byte(hop.first) || hop.is_part() => JourneyFate::Arrived,
                Some(closed) if closed.is_sound() && node.is_sure() => JourneyFate::Misrouted,
                Some(_) => JourneyFate::OutOfSight,
            };
        }
        if hop.is_part() || node.may_be_fibre(input) {
            return JourneyFate::OutOfSight;
        }
        if !is_route_byte(hop.first) {
            // A CRC may be good by chance.
            let is_begun =
                hop.closed.as_ref().is_some_and(|it| it.opening == StartCoverage::Unsure);
            return if is_begun || !node.is_sure() {
                JourneyFate::OutOfSight
            } else {
                JourneyFate::Dropped(Some("S-2"))
            };
        }
        if hop.is_runt() {
            return if node.is_sure() { JourneyFate::RUNT } else { JourneyFate::OutOfSight };
        }
        match self.requested(hop) {
            RequestedOutput::Nothing => JourneyFate::Dropped(Some("S-1")),
            RequestedOutput::Unseen => JourneyFate::OutOfSight,
            RequestedOutput::Seen(output) if self.net.is_blind(output, hop.time) => {
                JourneyFate::OutOfSight
            }
            RequestedOutput::Seen(_)
                if unseen != JourneyFate::UnderWay
                    && (hop.likely_left.is_some() || input.is_crowded) =>
            {
                JourneyFate::OutOfSight
            }
            RequestedOutput::Seen(_) if hop.emptied.is_some() => JourneyFate::Dropped(Some("R-2")),
            RequestedOutput::Seen(_)
                if unseen != JourneyFate::UnderWay && self.net.finds_silence(hop) =>
            {
                JourneyFate::Dropped(Some("S-1"))
            }
            RequestedOutput::Seen(_) => unseen,
        }
    }
}
