//! The reliability protocol of a NIC as a pure machine: no clock, no files, no packets of bytes. T-1..T-13
//!
//! Each step takes the time and what has come, and adds to a list what is to be done about it. A
//! message is whatever the machine's user keeps one as (`M`): the machine looks into none.

mod handlers;
mod receive;
mod resident_endpoints;
mod row_set;
mod send;
mod send_table;

use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, NackReason, Nic, SequenceBit, SyncFlag,
    TransportHeader, TransportTimestamp,
};

use receive::ReceiveEntry;
use resident_endpoints::{LeaveDecision, ResidentChange, ResidentEndpoints, ResidentStage};
use send::{AnswerKind, FlightPhase, InFlightMessage, PacketLabel, SendEntry};
use send_table::SendTable;

/// Time on a NIC's clock, in µs since it was powered. Its low 32 bits are what packets carry. T-8
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Micros(pub u64);

/// What the protocol's tables and clocks are set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransportParameters {
    /// NICs that there can be: rows of the tables. T-3
    pub nics: u16,
    /// Logical channels to each: columns of the tables, 1..=32. T-2
    pub channels: u8,
    /// From scan to scan. T-10
    pub scan: Micros,
    /// How long a packet is unacknowledged before a scan sends it again. T-10
    pub timeout: Micros,
    /// Retransmissions without any ACK or NACK of their packet, behind which its message goes back. T-11
    pub retries: u32,
}

/// A transport packet whose message is an `M`. The codec's [`codec::transport::TransportPacket`] in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolPacket<M> {
    /// A message.
    Data(TransportHeader, SyncFlag, M),
    /// It was written. T-5
    Ack(TransportHeader),
    /// It was not. T-6
    Nack(TransportHeader, NackReason),
}

/// What a step of the machine asks for, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransportEffect<M> {
    /// Queue this packet for its header's destination. Data gets its timestamp as it leaves: see
    /// [`Transport::on_leave`].
    Send(ProtocolPacket<M>),
    /// The message has been written at its destination; the sender is done with it. T-5
    Acknowledged(OutboundMessage<M>),
    /// The message goes back to its sender. T-6, T-11
    Returned(OutboundMessage<M>, ReturnReason),
    /// The endpoint may leave its frame, and takes these along: what was not acknowledged. T-13
    Unloaded(EndpointId, Vec<M>),
    /// Something to count, and to tell in the truth.
    Noted(TransportHeader, TransportNotice),
}

/// A message and the endpoint whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutboundMessage<M> {
    /// The sending endpoint.
    pub endpoint: EndpointId,
    /// The message.
    pub message: M,
}

/// Why a message goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnReason {
    /// The NACK was final. T-6
    Refused(NackReason),
    /// There was no sign of its destination after too many retransmissions. T-11
    Unreachable,
}

/// What a step noticed about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransportNotice {
    /// A data packet came that had been written before. T-5
    Duplicate,
    /// A data packet came of an incarnation that is over. T-12
    Stale,
    /// An ACK or a NACK came that answers nothing outstanding, or a NACK for the second time. T-8
    Late,
    /// A packet from or for a NIC, or of a logical channel, that the tables have no place for. T-7
    Unknown,
    /// A packet was queued to be sent again. T-10
    Retransmitted,
    /// A NACK counted: its destination is alive. T-8, T-10, T-11
    Refused(NackReason),
}

/// The protocol of one NIC. Equal machines go on in the same way: it keeps what decides, and counts
/// nothing for its own sake; what there is to count it tells as [`TransportEffect::Noted`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transport<M> {
    nic: Nic,
    parameters: TransportParameters,
    /// The counter of T-12: the next use of a logical channel gets it.
    next: ChannelIncarnation,
    /// When the next scan is due; none while nothing is outstanding. T-10
    scan: Option<Micros>,
    sends: SendTable<M>,
    /// A row for each NIC, a column for each logical channel. T-3
    receives: Box<[ReceiveEntry]>,
    residents: ResidentEndpoints,
}

impl<M: Clone + PartialEq> Transport<M> {
    /// A NIC that has just been started, all of whose logical channels are uninitialised. Whoever
    /// loads the control program gives the first incarnation that it uses: newer than all that this
    /// NIC has used before. T-11, T-12
    #[must_use]
    pub fn new(nic: Nic, parameters: TransportParameters, first: ChannelIncarnation) -> Self {
        let sends = SendTable::new(parameters.nics, parameters.channels);
        let receives = vec![ReceiveEntry::Unknown; sends.places()].into_boxed_slice();
        let residents = ResidentEndpoints::default();
        Self { nic, parameters, next: first, scan: None, sends, receives, residents }
    }

    /// The incarnation that it would use next: what a restart begins with. T-12
    #[must_use]
    pub const fn next_incarnation(&self) -> ChannelIncarnation {
        self.next
    }

    /// Whether a logical channel to that NIC is free. Reading: its own is a NIC as others are. T-2
    #[must_use]
    pub fn has_channel(&self, to: Nic) -> bool {
        self.sends.free_channel(to).is_some()
    }

    /// Logical channels to that NIC that are free. T-2
    #[must_use]
    pub fn free_channels(&self, to: Nic) -> u32 {
        self.sends.free_channels(to)
    }

    /// Whether a data packet's message would be offered to its endpoint, were it to come now: whether
    /// it is worth while to bring it there. T-4, T-5, T-12
    #[must_use]
    pub fn is_new(&self, header: &TransportHeader, sync: SyncFlag) -> bool {
        let entry = self.place(header).and_then(|place| self.receives.get(place));
        entry.is_some_and(|entry| entry.is_new(header, sync))
    }

    /// Sends an endpoint's message on a free logical channel. T-2, T-3, T-11
    ///
    /// # Errors
    /// Hands the message back if there is no free one, or no row for that NIC, or the endpoint is
    /// not resident or is being unloaded.
    pub fn on_send(
        &mut self,
        now: Micros,
        to: Nic,
        letter: OutboundMessage<M>,
        effects: &mut Vec<TransportEffect<M>>,
    ) -> Result<LogicalChannel, M> {
        // T-13: an endpoint that leaves sends nothing new.
        match self.residents.stage(letter.endpoint) {
            Some(ResidentStage::Staying) => {}
            Some(ResidentStage::Leaving) | None => return Err(letter.message),
        }
        let Some(channel) = self.sends.free_channel(to) else { return Err(letter.message) };
        let (label, sync) = match self.sends.entry_mut(to, channel) {
            Some(SendEntry::Open(label)) => (*label, SyncFlag::Clear),
            // T-11, T-12: an uninitialised channel is opened with SYNC and a new incarnation.
            Some(SendEntry::Closed) => (PacketLabel::open(&mut self.next), SyncFlag::Set),
            Some(SendEntry::Busy(_)) | None => return Err(letter.message),
        };
        let header = self.header(now, to, channel, label);
        effects.push(TransportEffect::Send(ProtocolPacket::Data(
            header,
            sync,
            letter.message.clone(),
        )));
        self.residents.count(letter.endpoint, ResidentChange::Sent);
        let phase = FlightPhase::Queued { label, sync };
        self.sends.occupy(to, channel, InFlightMessage { letter, sent: None, retries: 0, phase });
        // T-10: the first that is outstanding starts the period of the scans.
        self.scan = self.scan.or(Some(now.after(self.parameters.scan)));
        Ok(channel)
    }

    /// Whether a queued packet is still to leave. Data is not when its ACK has come, when its message
    /// went back or went with its endpoint, and when it has left before. T-5, T-11, T-13
    #[must_use]
    pub fn is_queued(&self, packet: &ProtocolPacket<M>) -> bool {
        let ProtocolPacket::Data(header, _, message) = packet else { return true };
        let entry = self.sends.entry(header.destination, header.channel);
        entry.is_some_and(|entry| match entry {
            SendEntry::Busy(flight) => {
                flight.is_queued_as(header) && flight.letter.message == *message
            }
            SendEntry::Closed | SendEntry::Open(_) => false,
        })
    }

    /// The first byte of a queued data packet leaves this NIC: stamps the packet, and starts its timer.
    /// Does nothing if it is not queued any more. T-3, T-8, T-10
    pub fn on_leave(&mut self, now: Micros, packet: &mut ProtocolPacket<M>) {
        if self.is_queued(packet)
            && let ProtocolPacket::Data(header, ..) = packet
            && let Some(SendEntry::Busy(flight)) =
                self.sends.entry_mut(header.destination, header.channel)
        {
            flight.leave(now);
            header.timestamp = now.timestamp();
        }
    }

    /// Takes a packet that has come. A message that is new is offered to `take`, which writes it to
    /// its endpoint or says why it cannot. When does not matter: what an answer is to is told by its
    /// echo. T-4..T-8, T-12
    pub fn on_packet(
        &mut self,
        packet: &ProtocolPacket<M>,
        take: &mut impl FnMut(&M) -> Result<(), NackReason>,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        match packet {
            ProtocolPacket::Data(header, sync, message) => {
                self.on_data(header, *sync, &mut || take(message), effects);
            }
            ProtocolPacket::Ack(header) => self.on_answer(header, AnswerKind::Ack, effects),
            ProtocolPacket::Nack(header, reason) => {
                self.on_answer(header, AnswerKind::Nack(*reason), effects);
            }
        }
    }

    /// Time has passed: if a scan is due, queues again what left too long ago and is unacknowledged,
    /// and gives up what there was no sign of. T-10, T-11
    pub fn on_tick(&mut self, now: Micros, effects: &mut Vec<TransportEffect<M>>) {
        if self.scan.is_none_or(|scan| now < scan) {
            return;
        }
        let mut from = 0;
        // T-10: rows with nothing outstanding are skipped.
        while let Some((nic, busy)) = self.sends.active_from(from) {
            let mut left = busy;
            while left != 0 {
                let channel = u8::try_from(left.trailing_zeros()).unwrap_or(u8::MAX);
                left &= left - 1;
                self.scan_flight(now, nic, LogicalChannel(channel), effects);
            }
            from = usize::from(nic.0) + 1;
        }
        self.scan = (!self.sends.is_idle()).then(|| now.after(self.parameters.scan));
    }

    /// When the next scan is due; none while nothing is outstanding. T-10
    #[must_use]
    pub const fn due(&self) -> Option<Micros> {
        self.scan
    }

    /// An endpoint is in a frame: it may send. One that was being unloaded stays. T-13
    pub fn on_load(&mut self, endpoint: EndpointId) {
        self.residents.load(endpoint);
    }

    /// An endpoint is to leave its frame: it sends nothing new, and [`TransportEffect::Unloaded`] comes as
    /// soon as every packet of its has been acknowledged, or refused for its latest transmission;
    /// at once if there is none, or if it is in no frame. T-13
    pub fn on_unload(&mut self, endpoint: EndpointId, effects: &mut Vec<TransportEffect<M>>) {
        match self.residents.unload(endpoint) {
            LeaveDecision::Now => self.leave(endpoint, effects),
            LeaveDecision::Not => {}
        }
    }

    /// Messages of an endpoint that are not acknowledged.
    #[must_use]
    pub fn outstanding(&self, endpoint: EndpointId) -> usize {
        usize::try_from(self.residents.outstanding(endpoint)).unwrap_or(usize::MAX)
    }

    /// All messages that are not acknowledged, each with the NIC and the logical channel that it is
    /// for, in this order. T-3
    pub fn flights(&self) -> impl Iterator<Item = (Nic, LogicalChannel, &OutboundMessage<M>)> {
        self.sends.flights().map(|(nic, channel, flight)| (nic, channel, &flight.letter))
    }

    /// Whether the tables, the counts of what is outstanding and the clock of the scans agree:
    /// table entries are conserved. Looks at all entries.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let mut counts = self.residents.counts();
        for (_, _, flight) in self.sends.flights() {
            let Some((outstanding, unanswered)) = counts.get_mut(&flight.letter.endpoint) else {
                return false;
            };
            *outstanding = outstanding.wrapping_sub(1);
            match flight.phase {
                FlightPhase::Queued { .. } | FlightPhase::Underway { .. } => {
                    *unanswered = unanswered.wrapping_sub(1);
                }
                FlightPhase::Refused { .. } | FlightPhase::Closed => {}
            }
        }
        counts.values().all(|left| *left == (0, 0))
            && self.sends.is_consistent()
            && self.scan.is_none() == self.sends.is_idle()
    }

    /// Makes it what it would be had all of it happened so much earlier, but no packet before
    /// `oldest`. Machines that differ only in when what they wait for began are then equal; packets on
    /// their way must be taken back as far. For whoever explores its states.
    pub fn shift_back(&mut self, by: Micros, oldest: Micros) {
        self.scan = self.scan.map(|scan| scan.since(by));
        self.sends.shift_back(by, oldest);
    }

    /// Bytes that the tables take, for the figures. T-3
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        self.sends.bytes() + size_of_val(&*self.receives)
    }
}

impl Default for TransportParameters {
    /// The digest's: T-2, T-10, T-11. Rows for 256 NICs. *Chosen*
    fn default() -> Self {
        Self { nics: 256, channels: 8, scan: Micros(1_000), timeout: Micros(4_000), retries: 1000 }
    }
}

impl Micros {
    /// How long ago that was; nothing if it is still to come.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// So much later.
    #[must_use]
    pub const fn after(self, time: Self) -> Self {
        Self(self.0.saturating_add(time.0))
    }

    /// What packets carry of it. T-8
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
    pub const fn timestamp(self) -> TransportTimestamp {
        TransportTimestamp(self.0 as u32)
    }
}

/// The sequence number of the first packet of an incarnation. *Chosen*: any would do. T-12
pub const FIRST: SequenceBit = SequenceBit::Zero;

#[cfg(test)]
mod tests;
