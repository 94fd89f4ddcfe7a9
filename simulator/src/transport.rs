//! Reliability protocol of a NIC as a pure state machine without clock or I/O. T-1..T-13
//!
//! Each step takes the time and an input, and appends its effects to a list. Messages are opaque
//! values of type `M`.

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
use resident_endpoints::{ResidentChange, ResidentEndpoints, ResidentStage};
use send::{AnswerKind, FlightPhase, InFlightMessage, PacketLabel, SendEntry};
use send_table::SendTable;

/// Time on a NIC's clock, in µs since power-up. Packets carry its low 32 bits. T-8
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Micros(pub u64);

/// Parameters of the protocol's tables and timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransportParameters {
    /// Maximum number of NICs: rows of the tables. T-3
    pub nics: u16,
    /// Logical channels to each NIC: columns of the tables, 1..=32. T-2
    pub channels: u8,
    /// Period of the scans. T-10
    pub scan: Micros,
    /// Time without acknowledgment after which a scan retransmits a packet. T-10
    pub timeout: Micros,
    /// Retransmissions without any ACK or NACK after which a message is returned. T-11
    pub retries: u32,
}

/// Transport packet with a message of type `M`; [`codec::transport::TransportPacket`] is its form in
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolPacket<M> {
    /// A message.
    Data(TransportHeader, SyncFlag, M),
    /// The message was written. T-5
    Ack(TransportHeader),
    /// The message was refused. T-6
    Nack(TransportHeader, NackReason),
}

/// Effect of a step of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransportEffect<M> {
    /// Queue this packet for its header's destination. Data packets get their timestamp in
    /// [`Transport::on_leave`].
    Send(ProtocolPacket<M>),
    /// The message was delivered. T-5
    Acknowledged(OutboundMessage<M>),
    /// The message is returned to its sender. T-6, T-11
    Returned(OutboundMessage<M>, ReturnReason),
    /// The endpoint may leave its frame, with these unacknowledged messages. T-13
    Unloaded(EndpointId, Vec<M>),
    /// Notice for counters and truth.
    Noted(TransportHeader, TransportNotice),
}

/// Message and its sending endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutboundMessage<M> {
    /// Sending endpoint.
    pub endpoint: EndpointId,
    /// Message.
    pub message: M,
}

/// Reason for the return of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnReason {
    /// Final NACK. T-6
    Refused(NackReason),
    /// No answer after too many retransmissions. T-11
    Unreachable,
}

/// Notice about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransportNotice {
    /// Duplicate data packet. T-5
    Duplicate,
    /// Data packet of a former incarnation. T-12
    Stale,
    /// ACK or NACK that matches no outstanding packet, or a repeated NACK. T-8
    Late,
    /// Packet with a NIC or logical channel beyond the tables. T-7
    Unknown,
    /// Retransmission. T-10
    Retransmitted,
    /// Valid NACK: the destination is alive. T-8, T-10, T-11
    Refused(NackReason),
}

/// Protocol machine of one NIC. Equal machines behave equally: the state has no counters, which
/// follow from [`TransportEffect::Noted`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transport<M> {
    nic: Nic,
    parameters: TransportParameters,
    /// Next incarnation of a logical channel. T-12
    next: ChannelIncarnation,
    /// Time of the next scan; none while nothing is outstanding. T-10
    scan: Option<Micros>,
    sends: SendTable<M>,
    /// A row for each NIC, a column for each logical channel. T-3
    receives: Box<[ReceiveEntry]>,
    residents: ResidentEndpoints,
}

impl<M: Clone + PartialEq> Transport<M> {
    /// Creates the machine of a NIC that has just been started: all logical channels are
    /// uninitialised. `first` must be newer than all incarnations that this NIC has used. T-11,
    /// T-12
    pub fn new(nic: Nic, parameters: TransportParameters, first: ChannelIncarnation) -> Self {
        let sends = SendTable::new(parameters.nics, parameters.channels);
        let receives = vec![ReceiveEntry::Unknown; sends.places()].into_boxed_slice();
        let residents = ResidentEndpoints::default();
        Self { nic, parameters, next: first, scan: None, sends, receives, residents }
    }

    /// Next incarnation, with which a restarted machine begins. T-12
    pub const fn next_incarnation(&self) -> ChannelIncarnation {
        self.next
    }

    /// Tests for a free logical channel to a NIC. Reading: the own NIC is like others. T-2
    pub fn has_channel(&self, to: Nic) -> bool {
        self.sends.free_channel(to).is_some()
    }

    /// Number of free logical channels to a NIC. T-2
    pub fn free_channels(&self, to: Nic) -> u32 {
        self.sends.free_channels(to)
    }

    /// Tests whether a data packet's message is new and would be offered to its endpoint. T-4, T-5,
    /// T-12
    pub fn is_new(&self, header: &TransportHeader, sync: SyncFlag) -> bool {
        let entry = self.place(header).and_then(|place| self.receives.get(place));
        entry.is_some_and(|entry| entry.is_new(header, sync))
    }

    /// Sends an endpoint's message on a free logical channel. T-2, T-3, T-11
    ///
    /// # Errors
    /// Hands the message back if there is no free channel or no row for that NIC, or if the
    /// endpoint is not resident or is leaving.
    pub fn on_send(
        &mut self,
        now: Micros,
        to: Nic,
        letter: OutboundMessage<M>,
        effects: &mut Vec<TransportEffect<M>>,
    ) -> Result<LogicalChannel, M> {
        // T-13: an endpoint that leaves sends nothing new.
        if self.residents.stage(letter.endpoint) != Some(ResidentStage::Staying) {
            return Err(letter.message);
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
        let phase = FlightPhase::Queued((label, sync));
        self.sends.occupy(to, channel, InFlightMessage { letter, sent: None, retries: 0, phase });
        // T-10: the first that is outstanding starts the period of the scans.
        self.scan = self.scan.or(Some(now.after(self.parameters.scan)));
        Ok(channel)
    }

    /// Tests whether a queued packet is still to be sent. A data packet is not if it was
    /// acknowledged, returned, unloaded with its endpoint or sent already. T-5, T-11, T-13
    pub fn is_queued(&self, packet: &ProtocolPacket<M>) -> bool {
        let ProtocolPacket::Data(header, _, message) = packet else { return true };
        matches!(self.sends.entry(header.destination, header.channel),
            Some(SendEntry::Busy(flight))
                if flight.is_queued_as(header) && flight.letter.message == *message)
    }

    /// Stamps a queued data packet as its first byte leaves, and starts its timer. Does nothing if
    /// it is no longer queued. T-3, T-8, T-10
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

    /// Handles a received packet. A new message is offered to `take`, which writes it to its
    /// endpoint or returns the reason to refuse it. The time is not needed: an answer is matched by
    /// its echo. T-4..T-8, T-12
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

    /// Runs a due scan: retransmits overdue packets, and returns messages that were never answered.
    /// T-10, T-11
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

    /// Time of the next scan; none while nothing is outstanding. T-10
    pub const fn due(&self) -> Option<Micros> {
        self.scan
    }

    /// Loads an endpoint, which may send from now on. One that was leaving stays. T-13
    pub fn on_load(&mut self, endpoint: EndpointId) {
        self.residents.load(endpoint);
    }

    /// Unloads an endpoint: it sends nothing new, and [`TransportEffect::Unloaded`] follows as soon
    /// as every packet was acknowledged or its latest transmission refused; at once if there is
    /// none, or if it is in no frame. T-13
    pub fn on_unload(&mut self, endpoint: EndpointId, effects: &mut Vec<TransportEffect<M>>) {
        if self.residents.unload(endpoint) {
            self.leave(endpoint, effects);
        }
    }

    /// Number of an endpoint's unacknowledged messages.
    pub fn outstanding(&self, endpoint: EndpointId) -> usize {
        usize::try_from(self.residents.outstanding(endpoint)).unwrap_or(usize::MAX)
    }

    /// Unacknowledged messages, ordered by NIC and logical channel. T-3
    pub fn flights(&self) -> impl Iterator<Item = (Nic, LogicalChannel, &OutboundMessage<M>)> {
        self.sends.flights().map(|(nic, channel, flight)| (nic, channel, &flight.letter))
    }

    /// Checks the consistency of tables, counts and scan timer over all entries.
    pub fn is_consistent(&self) -> bool {
        let mut counts = self.residents.counts();
        for (_, _, flight) in self.sends.flights() {
            let Some((outstanding, unanswered)) = counts.get_mut(&flight.letter.endpoint) else {
                return false;
            };
            *outstanding = outstanding.wrapping_sub(1);
            if flight.phase.is_unanswered() {
                *unanswered = unanswered.wrapping_sub(1);
            }
        }
        counts.values().all(|left| *left == (0, 0))
            && self.sends.is_consistent()
            && self.scan.is_none() == self.sends.is_idle()
    }

    /// Shifts all times back by `by`, but no packet before `oldest`, so that machines differing
    /// only in absolute time become equal, for state exploration. Packets in transit must be
    /// shifted too.
    pub fn shift_back(&mut self, by: Micros, oldest: Micros) {
        self.scan = self.scan.map(|scan| scan.since(by));
        self.sends.shift_back(by, oldest);
    }

    /// Memory of the tables in bytes. T-3
    pub fn table_bytes(&self) -> usize {
        self.sends.bytes() + size_of_val(&*self.receives)
    }
}

impl Default for TransportParameters {
    /// Values of the digest, T-2, T-10, T-11; rows for 256 NICs. *Chosen*
    fn default() -> Self {
        Self { nics: 256, channels: 8, scan: Micros(1_000), timeout: Micros(4_000), retries: 1000 }
    }
}

impl Micros {
    /// Time since `earlier`; 0 if that is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Adds a duration.
    pub const fn after(self, time: Self) -> Self {
        Self(self.0.saturating_add(time.0))
    }

    /// Timestamp in packets. T-8
    #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
    pub const fn timestamp(self) -> TransportTimestamp {
        TransportTimestamp(self.0 as u32)
    }
}

/// Sequence number of an incarnation's first packet. *Chosen*: any would do. T-12
pub const FIRST: SequenceBit = SequenceBit::Zero;

#[cfg(test)]
mod tests;
