//! Wires that were recorded several times: at both ends of a cable, or at several times.

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId};

use crate::channel_name::ChannelEnds;
use crate::event::{ChannelEvent, LinkEvent, TimedEvent};
use crate::recorded::RecordedTime;

/// The recordings of each wire: channels from the same port to the same port. One of them is followed at a time, so that
/// the network has each wire, and each packet on it, once. A recording that has the wire's opposite too comes before
/// one without, for stops, and then the one declared first; another is followed while those before it have no
/// characters.
#[derive(Debug, Default)]
pub(crate) struct WireRecordings {
    first: BTreeMap<ChannelEnds, ChannelId>,
    /// All recordings of a wire with more than one, by the first of them.
    several: BTreeMap<ChannelId, Vec<ChannelId>>,
    /// The first recording of the wire of each channel that is in `several`.
    wires: BTreeMap<ChannelId, ChannelId>,
    /// Parts that began on a channel while it was followed, and have not ended.
    open: BTreeSet<(ChannelId, LastingPart)>,
}

/// A part of a recording that one event begins and another ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LastingPart {
    Packet,
    Stop,
    Silence,
    Reset,
}

impl WireRecordings {
    pub(crate) fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let Some(ends) = ChannelEnds::of(channel) else { return };
        let first = *self.first.entry(ends).or_insert(id);
        if first != id {
            self.several.entry(first).or_insert_with(|| vec![first]).push(id);
            self.wires.extend([(first, first), (id, first)]);
        }
    }

    /// True if the network is to process an event: its channel is followed, or the event ends what began while it was.
    pub(crate) fn follows(&mut self, event: &TimedEvent, recorded: &RecordedTime) -> bool {
        let TimedEvent { channel, time, body, .. } = event;
        let wire = self.wires.get(channel).and_then(|wire| self.several.get(wire));
        let Some(recordings) = wire else { return true };
        let rank = |id: ChannelId| (!recorded.has_opposite(id), id);
        let own = rank(*channel);
        let others = recordings.iter().filter(|other| rank(**other) < own);
        let mut others = others.peekable();
        if others.peek().is_none() {
            return true;
        }
        if let Some(part) = LastingPart::ended_by(body) {
            return self.open.remove(&(*channel, part));
        }
        let is_followed = !others.any(|other| recorded.covers(*other, [*time, time + 1]));
        if let Some(part) = LastingPart::begun_by(body).filter(|_| is_followed) {
            self.open.insert((*channel, part));
        }
        is_followed
    }
}

impl LastingPart {
    const fn begun_by(body: &ChannelEvent) -> Option<Self> {
        match body {
            ChannelEvent::Head(_) => Some(Self::Packet),
            ChannelEvent::Link(LinkEvent::SenderStopped) => Some(Self::Stop),
            ChannelEvent::Link(LinkEvent::OpenLink) => Some(Self::Silence),
            ChannelEvent::Link(LinkEvent::ForwardReset) => Some(Self::Reset),
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Data(_) => None,
            ChannelEvent::Packet(_) | ChannelEvent::Link(_) => None,
            ChannelEvent::Command(_) | ChannelEvent::Omitted { .. } => None,
        }
    }

    const fn ended_by(body: &ChannelEvent) -> Option<Self> {
        match body {
            ChannelEvent::Packet(_) => Some(Self::Packet),
            ChannelEvent::Link(LinkEvent::SenderResumed(_)) => Some(Self::Stop),
            ChannelEvent::Link(LinkEvent::LinkRestored) => Some(Self::Silence),
            ChannelEvent::Link(LinkEvent::ResetEnded) => Some(Self::Reset),
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Head(_) => None,
            ChannelEvent::Data(_) | ChannelEvent::Link(_) => None,
            ChannelEvent::Command(_) | ChannelEvent::Omitted { .. } => None,
        }
    }
}
