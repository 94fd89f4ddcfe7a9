//! Recordings whose clocks began apart: packets come out of a switch before equal ones come in, or when those can no
//! longer be there. No effect is before its cause.

use codec::capture::ChannelId;
use codec::crc::CrcResidue;
use codec::route::PortId;
use codec::time::Tick;

use super::JourneyTracker;
use super::channel_traffic::ChannelTraffic;
use super::fit::FEW;
use super::hop_record::HopId;
use super::network_map::NetworkMap;
use crate::event::Picoseconds;

/// Packets of an input and an output of a switch that unlike clocks explain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockGap {
    /// The channel with the earlier times, and that with the later ones.
    pub(crate) channels: [ChannelId; 2],
    /// Time by which the clocks are apart at least.
    pub(crate) least: Picoseconds,
    /// Time and place of the first of these packets on the channel with the earlier times.
    pub(crate) first: (Picoseconds, Tick),
    /// Index of the input.
    input: usize,
    packets: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SwitchSide {
    Input,
    Output,
}

/// A whole packet that was not seen on the other side of a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct LonePacket {
    side: SwitchSide,
    lane: usize,
    start: Tick,
    /// The switch, and length and residue behind it.
    bytes: (usize, u64, CrcResidue),
    /// When it was seen, and up to when it was looked for on the other side.
    span: [Picoseconds; 2],
}

impl JourneyTracker {
    /// Keeps a whole packet that was seen on one side of a switch only. True if one clock alone does not explain that:
    /// an equal one was seen on the other side when it cannot have been there, or the clocks are known to be apart.
    pub(super) fn shows_gap(&mut self, id: HopId, side: SwitchSide) -> bool {
        let Some(hop) = self.table.get(id) else { return false };
        let Some(lane) = self.net.lane(hop.lane) else { return false };
        let (end, until, stripped) = match side {
            SwitchSide::Input => (lane.to, self.now, 1),
            SwitchSide::Output => (lane.from, hop.time, 0),
        };
        let is_apart = self.net.is_apart(end);
        let sound = hop.closed.as_ref().filter(|it| it.is_sound() && it.length > FEW.into());
        let behind = sound.and_then(|it| Some((it.length - stripped, it.peeled(stripped)?)));
        let Some(((node, _), (length, content))) = end.zip(behind) else { return is_apart };
        let (bytes, span) = ((node, length, content), [hop.time, until]);
        let own = LonePacket { side, lane: hop.lane, start: hop.start, bytes, span };
        let is_common = hop.is_common();
        let gap = self.lone.find(content, node).find_map(|other| self.net.gap([other, own]));
        match gap {
            Some((output, gap)) if !is_common => self.net.note_gap(output, gap),
            Some(_) => {}
            None => self.lone.add(content, node, own),
        }
        is_apart || gap.is_some()
    }

    /// Inputs and outputs whose clocks are apart.
    pub(crate) fn clock_gaps(&self) -> impl Iterator<Item = ClockGap> {
        self.net.lanes.iter().filter_map(|lane| lane.clock_gap())
    }
}

impl NetworkMap {
    /// True if the clocks of a node's channels are apart.
    pub(super) fn is_apart(&self, end: Option<(usize, PortId)>) -> bool {
        self.node_at(end).is_some_and(|(node, _)| node.out_of_time > 0)
    }

    /// Output and gap of the clocks if two packets on unlike sides of a switch are one.
    fn gap(&self, mut pair: [LonePacket; 2]) -> Option<(usize, ClockGap)> {
        pair.sort_unstable_by_key(|packet| packet.span[0]);
        let [early, late] = pair;
        let is_one = early.bytes == late.bytes && early.side != late.side;
        let least = late.span[0].checked_sub(early.span[1]).filter(|_| is_one)?;
        let (input, output) = match early.side {
            SwitchSide::Input => (early.lane, late.lane),
            SwitchSide::Output => (late.lane, early.lane),
        };
        let channels = [self.lane(early.lane)?.id, self.lane(late.lane)?.id];
        // What came in while the input was not recorded may have been sent again.
        self.lane(input)?.blind_until.filter(|until| *until < early.span[0])?;
        let first = (early.span[0], early.start);
        Some((output, ClockGap { channels, least, first, input, packets: 1 }))
    }

    /// Counts a packet that unlike clocks explain.
    fn note_gap(&mut self, output: usize, gap: ClockGap) {
        let Some(lane) = self.lane_mut(output) else { return };
        let known = lane.apart.get_or_insert(ClockGap { packets: 0, ..gap });
        if known.input == gap.input {
            known.least = known.least.max(gap.least);
            known.packets += 1;
        }
        let Some(gap) = lane.clock_gap() else { return };
        // It is not known which of them differs from the channels at its other end.
        let lanes = [self.lane(gap.input), self.lane(output)];
        let ends = lanes.map(|lane| lane.map_or([None; 2], |lane| [lane.from, lane.to]));
        for (node, _) in ends.into_iter().flatten().flatten() {
            if let Some(node) = self.nodes.get_mut(node) {
                node.out_of_time += 1;
            }
        }
    }
}

impl ChannelTraffic {
    /// Evidence that the clocks of an input and this output are apart: several packets, and not as many passed in order
    /// of time. One may have been lost, and an equal one have come by a port that was not captured.
    fn clock_gap(&self) -> Option<ClockGap> {
        let gap = self.apart.filter(|gap| gap.packets > 2)?;
        let passages = self.passages.iter().filter(|(input, ..)| *input == gap.input);
        (gap.packets > passages.map(|(.., packets)| packets).sum()).then_some(gap)
    }
}
