//! The reliability protocol of a NIC as a pure machine: no clock, no files, no packets of bytes. T-1..T-13
//!
//! Each step takes the time and what has come, and adds to a list what is to be done about it. A
//! message is whatever the machine's user keeps one as (`M`): the machine looks into none.

use codec::transport::{
    EndpointId, Header, Incarnation, LogicalChannel, Nic, Reason, Seq, Sync, Timestamp,
};

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
    /// How long there is no sign of its destination before a message goes back. T-11
    pub unreachable: Micros,
}

/// A transport packet whose message is an `M`. The codec's [`codec::transport::Packet`] in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packet<M> {
    /// A message.
    Data(Header, Sync, M),
    /// It was written. T-5
    Ack(Header),
    /// It was not. T-6
    Nack(Header, Reason),
}

/// What a step of the machine asks for, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<M> {
    /// Send this packet to its header's destination.
    Send(Packet<M>),
    /// The message has been written at its destination; the sender is done with it. T-5
    Acknowledged(Letter<M>),
    /// The message goes back to its sender. T-6, T-11
    Returned(Letter<M>, Return),
    /// The endpoint may leave its frame, and takes these along: what was not acknowledged. T-13
    Unloaded(EndpointId, Vec<M>),
    /// Something to count, and to tell in the truth.
    Noted(Header, Note),
}

/// A message and the endpoint whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Letter<M> {
    /// The sending endpoint.
    pub endpoint: EndpointId,
    /// The message.
    pub message: M,
}

/// Why a message goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// The NACK was final. T-6
    Refused(Reason),
    /// There was no sign of its destination for too long. T-11
    Unreachable,
}

/// What a step noticed about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Note {
    /// A data packet came that had been written before. T-5
    Duplicate,
    /// A data packet came of an incarnation that is over. T-12
    Stale,
    /// An ACK or a NACK came that answers nothing outstanding, or not its latest transmission. T-8
    Late,
    /// A packet from or for a NIC, or of a logical channel, that the tables have no place for. T-7
    Unknown,
    /// A packet was sent again. T-10
    Retransmitted,
    /// A NACK counted. T-8, T-10
    Refused(Reason),
}

/// The protocol of one NIC.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transport<M> {
    // SKELETON: owner MACHINE. Tables as arrays, rows × columns. T-3
    nic: Nic,
    parameters: TransportParameters,
    next: Incarnation,
    _message: Option<M>,
}

impl<M: Clone> Transport<M> {
    /// A NIC that has just been started, all of whose logical channels are uninitialised. Whoever
    /// loads the control program gives the first incarnation that it uses: newer than all that this
    /// NIC has used before. T-11, T-12
    #[must_use]
    pub fn new(nic: Nic, parameters: TransportParameters, first: Incarnation) -> Self {
        Self { nic, parameters, next: first, _message: None }
    }

    /// The incarnation that it would use next: what a restart begins with. T-12
    #[must_use]
    pub const fn next_incarnation(&self) -> Incarnation {
        self.next
    }

    /// Whether a logical channel to that NIC is free. T-2
    #[must_use]
    pub fn has_channel(&self, _to: Nic) -> bool {
        let _ = (self.nic, self.parameters);
        false
    }

    /// Sends an endpoint's message on a free logical channel. T-2, T-3, T-11
    ///
    /// # Errors
    /// Hands the message back if there is no free one, or no row for that NIC, or the endpoint is
    /// not resident or is being unloaded.
    pub fn on_send(
        &mut self,
        _now: Micros,
        _to: Nic,
        letter: Letter<M>,
        _effects: &mut Vec<Effect<M>>,
    ) -> Result<LogicalChannel, M> {
        Err(letter.message)
    }

    /// Takes a packet that has come. A message that is new is offered to `take`, which writes it to
    /// its endpoint or says why it cannot. T-4..T-8, T-12
    pub fn on_packet(
        &mut self,
        _now: Micros,
        _packet: &Packet<M>,
        _take: &mut impl FnMut(&M) -> Result<(), Reason>,
        _effects: &mut Vec<Effect<M>>,
    ) {
    }

    /// Time has passed: if a scan is due, sends again what is unacknowledged for too long, and gives
    /// up what there was no sign of. T-10, T-11
    pub fn on_tick(&mut self, _now: Micros, _effects: &mut Vec<Effect<M>>) {}

    /// When the next scan is due; none while nothing is outstanding.
    #[must_use]
    pub const fn due(&self) -> Option<Micros> {
        None
    }

    /// An endpoint is in a frame: it may send. T-13
    pub fn on_load(&mut self, _endpoint: EndpointId) {}

    /// An endpoint is to leave its frame: it sends nothing new, and [`Effect::Unloaded`] comes as
    /// soon as every packet of its has been acknowledged, or refused for its latest transmission;
    /// at once if there is none. T-13
    pub fn on_unload(&mut self, _endpoint: EndpointId, _effects: &mut Vec<Effect<M>>) {}

    /// Messages of an endpoint that are not acknowledged.
    #[must_use]
    pub fn outstanding(&self, _endpoint: EndpointId) -> usize {
        0
    }

    /// Bytes that the tables take, for the figures. T-3
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        0
    }
}

impl Default for TransportParameters {
    /// The digest's: T-2, T-10, T-11. Rows for 256 NICs. *Chosen*
    fn default() -> Self {
        Self {
            nics: 256,
            channels: 8,
            scan: Micros(1_000),
            timeout: Micros(4_000),
            unreachable: Micros(4_000_000),
        }
    }
}

impl Micros {
    /// What packets carry of it. T-8
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
    pub const fn timestamp(self) -> Timestamp {
        Timestamp(self.0 as u32)
    }
}

/// The sequence number of the first packet of an incarnation. *Chosen*: any would do. T-12
pub const FIRST: Seq = Seq::Zero;
