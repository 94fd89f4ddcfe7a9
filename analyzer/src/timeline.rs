//! All channels in time: what each notices, and what it makes the opposite sender do. F-1, F-2
//!
//! Blocks of a capture come in order of their first character's time, so the newest one is a
//! watermark: what lies before it is complete and is handed on. What a literal chunk brings is
//! worked out at once and waits; a repeat waits itself, and is worked out a round at a time as the
//! watermark passes.

mod channel_queue;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::time::Tick;

use self::channel_queue::{ChannelQueue, QueuedEvent};
use crate::event::LinkEvent;
use crate::flow_control::FlowInput;
use crate::packet::{ByteRetention, ReceivedPacket};
use crate::receiver::{ChannelEvent, FlowCommand};

/// How many characters of one repeat are worked out one by one if they go on bringing rows. *Chosen*:
/// far more than a writer makes of anything but fill, and few enough that no file of 60 bytes keeps
/// a reader busy for years.
pub const REPEATED_MAX: u64 = 1 << 20;

/// The same where all is wanted, and so may have to be kept until other channels have come as far.
/// *Chosen*: little beside a packet.
pub const REPEATED_MAX_ALL: u64 = 1 << 12;

/// Tools that order blocks by their timestamps see whole nanoseconds only.
pub(crate) const TIMESTAMP_PS: u128 = 1000;

/// Something on one channel, in order of time across channels and of sequence within each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    /// When it was noticed.
    pub time: Time,
    /// The channel.
    pub channel: ChannelId,
    /// The character on it at which it was noticed; where a packet was closed.
    pub at: Tick,
    /// What it is.
    pub body: EventBody,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventBody {
    /// A packet.
    Packet(Box<ReceivedPacket>),
    /// Anything else.
    Event(LinkEvent),
    /// What a packet or the flow of data is made of: only where all is wanted.
    Detail(EventDetail),
    /// The same rows come over and over, and are not handed out again.
    Omitted {
        /// Rounds left out.
        rounds: u64,
        /// Characters in a round.
        every: u64,
    },
}

/// What the rows of packets and events do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventDetail {
    /// The recording of the channel begins.
    Begins,
    /// From here on it is known where packets begin and end: the first GAP, FRES or sixteenth silent
    /// period since the channel's first character, or since a hole. P-1, F-7, R-2
    Framed,
    /// A packet begins with this byte. P-3
    Head(u8),
    /// So many bytes of a packet, one a period from the row's place on. A run of them may be told in
    /// parts.
    Data(u64),
    /// The channel says GO or STOP, and said something else before. F-1
    Command(FlowCommand),
}

/// Which rows are wanted; the others are not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// Packets, events and details.
    All,
    /// Packets only.
    Packets,
    /// Events only.
    Events,
}

/// Picoseconds since the capture's time zero.
pub type Time = u128;

impl From<FlowCommand> for FlowInput {
    fn from(command: FlowCommand) -> Self {
        match command {
            FlowCommand::Stop => Self::Stop,
            FlowCommand::Go => Self::Go,
        }
    }
}

/// See the module's head. Channels are declared before they are fed.
#[derive(Debug)]
pub struct EventTimeline {
    want: EventFilter,
    bytes: ByteRetention,
    tracks: BTreeMap<ChannelId, ChannelQueue>,
    /// When each track has something next. Entries may be out of date, but none is missing.
    due: BinaryHeap<Reverse<(Time, ChannelId)>>,
    newest: Time,
    /// Rows of one instant, to be put in order.
    instant: Vec<(ChannelId, EventOrigin, TimedEvent)>,
    now: Time,
}

/// Which rows of a channel come first in an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventOrigin {
    /// Those of its own characters,
    Own,
    /// then those that the opposite channel commands.
    Sender,
}

impl EventTimeline {
    /// A timeline of no channels.
    #[must_use]
    pub const fn new(want: EventFilter, bytes: ByteRetention) -> Self {
        Self {
            want,
            bytes,
            tracks: BTreeMap::new(),
            due: BinaryHeap::new(),
            newest: 0,
            instant: Vec::new(),
            now: 0,
        }
    }

    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel) {
        self.tracks.insert(id, ChannelQueue::new(channel, self.bytes));
    }

    /// Makes two channels the directions of one link.
    pub fn link(&mut self, one: ChannelId, other: ChannelId) {
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(track) = self.tracks.get_mut(&id) {
                track.peer = Some(peer);
            }
        }
    }

    /// Takes over the channels of another, all of whose rows so far have been handed out.
    pub fn absorb(&mut self, other: Self) {
        self.tracks.extend(other.tracks);
        self.due.extend(other.due);
        self.newest = self.newest.max(other.newest);
    }

    /// Takes the next chunk of a channel, and hands out what lies before it in time. Chunks of one
    /// channel are in order and do not overlap.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>, out: &mut impl FnMut(TimedEvent)) {
        let Some(track) = self.tracks.get(&id) else { return };
        self.newest = self.newest.max(track.time(chunk.first));
        self.release(self.newest.saturating_sub(TIMESTAMP_PS), out);
        let want = self.want;
        if let Some(track) = self.tracks.get_mut(&id) {
            track.add(chunk, want);
        }
        self.schedule(id);
    }

    /// The recording ends: hands out the rest, and last what its end closes. The timeline is as new,
    /// without channels.
    pub fn finish(&mut self, out: &mut impl FnMut(TimedEvent)) {
        self.release(Time::MAX, out);
        for (id, track) in &mut self.tracks {
            track.end();
            self.due.extend(track.due().map(|time| Reverse((time, *id))));
        }
        self.release(Time::MAX, out);
        *self = Self::new(self.want, self.bytes);
    }

    /// Hands out what lies before a moment that no chunk to come begins before.
    pub fn pass(&mut self, moment: Time, out: &mut impl FnMut(TimedEvent)) {
        self.newest = self.newest.max(moment);
        self.release(self.newest.saturating_sub(TIMESTAMP_PS), out);
    }

    /// Hands out all rows of before a time.
    fn release(&mut self, until: Time, out: &mut impl FnMut(TimedEvent)) {
        while let Some(Reverse((time, id))) = self.due.peek().copied() {
            if time >= until {
                break;
            }
            self.due.pop();
            if self.tracks.get(&id).and_then(ChannelQueue::due) != Some(time) {
                continue;
            }
            if time != self.now {
                self.hand_out(out);
                self.now = time;
            }
            self.advance(id);
            self.schedule(id);
        }
        self.hand_out(out);
    }

    fn hand_out(&mut self, out: &mut impl FnMut(TimedEvent)) {
        self.instant.sort_by_key(|(channel, origin, _)| (*channel, *origin));
        self.instant.drain(..).for_each(|(_, _, row)| out(row));
    }

    fn schedule(&mut self, id: ChannelId) {
        let due = self.tracks.get(&id).and_then(ChannelQueue::due);
        self.due.extend(due.map(|time| Reverse((time, id))));
    }

    /// Takes the next thing of a track, which is due now.
    fn advance(&mut self, id: ChannelId) {
        let Some(track) = self.tracks.get_mut(&id) else { return };
        let peer = track.peer;
        match track.step(self.want) {
            None => {}
            Some((at, QueuedEvent::Omitted { rounds, every })) => {
                self.row(id, at, EventBody::Omitted { rounds, every });
            }
            Some((at, QueuedEvent::Notice(notice))) => match notice {
                ChannelEvent::Packet(packet) => self.row(id, at, EventBody::Packet(packet)),
                ChannelEvent::Begins => self.row(id, at, EventBody::Detail(EventDetail::Begins)),
                ChannelEvent::Framed => self.row(id, at, EventBody::Detail(EventDetail::Framed)),
                ChannelEvent::Head(first) => {
                    self.row(id, at, EventBody::Detail(EventDetail::Head(first)))
                }
                ChannelEvent::Data(len) => {
                    self.row(id, at, EventBody::Detail(EventDetail::Data(len)))
                }
                ChannelEvent::Command(command) => {
                    self.command(id, at, command);
                    self.control(peer, command.into());
                }
                ChannelEvent::Event(event) => {
                    self.row(id, at, EventBody::Event(event));
                    if event == LinkEvent::OpenLink {
                        self.control(peer, FlowInput::PeerSilent);
                    } else if let LinkEvent::Hole { .. } = event {
                        if let Some(track) = self.tracks.get_mut(&id) {
                            track.last_command = None;
                        }
                        self.control(peer, FlowInput::PeerHole);
                    } else if event == LinkEvent::ForwardReset {
                        self.control(Some(id), FlowInput::OwnReset);
                        self.recall_stop(peer, id);
                    }
                }
            },
        }
    }

    /// A channel says STOP or GO.
    fn command(&mut self, channel: ChannelId, at: Tick, command: FlowCommand) {
        let Some(track) = self.tracks.get_mut(&channel) else { return };
        if self.want == EventFilter::All && track.last_command.replace(command) != Some(command) {
            self.row(channel, at, EventBody::Detail(EventDetail::Command(command)));
        }
    }

    fn row(&mut self, channel: ChannelId, at: Tick, what: EventBody) {
        let time = self.now;
        self.instant.push((
            channel,
            EventOrigin::Own,
            TimedEvent { time, channel, at, body: what },
        ));
    }

    /// Something happens now to a channel's sender.
    fn control(&mut self, channel: Option<ChannelId>, input: FlowInput) {
        let Some(channel) = channel else { return };
        let Some(track) = self.tracks.get_mut(&channel) else { return };
        if let Some(event) = track.sender.step(input) {
            // Reading: on a channel of another rate, the period in which it happens.
            let at = self.now / u128::from(track.period_ps);
            let at = Tick(u64::try_from(at).unwrap_or(u64::MAX));
            let time = self.now;
            let row = TimedEvent { time, channel, at, body: EventBody::Event(event) };
            self.instant.push((channel, EventOrigin::Sender, row));
        }
    }

    /// A reset has released the sender on `released`: see [`ChannelQueue::recall_stop`].
    fn recall_stop(&mut self, opposite: Option<ChannelId>, released: ChannelId) {
        let Some(opposite) = opposite else { return };
        if let Some(track) = self.tracks.get_mut(&opposite) {
            track.recall_stop(opposite, self.now, released);
        }
        self.schedule(opposite);
    }
}
