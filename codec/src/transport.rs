//! Packets of the reliability protocol: data, ACK, NACK. T-8, T-12, the layout of `docs/rules.md`
//!
//! A transport packet is the payload of a packet of type [`TAG`]: the bytes between its tag and its
//! CRC byte. Places in it count from the byte behind the tag.

mod layout;

/// The type of transport packets.
pub const TAG: u8 = 0x01;

/// Bytes of an ACK or a NACK.
pub const ANSWER_LEN: usize = 14;

/// Bytes of a data packet before its payload.
pub const DATA_HEADER_LEN: usize = 38;

/// Argument words of a short message at most. *Chosen* by the digest
pub const WORDS_MAX: usize = 8;

/// Bytes of a medium message, and of a piece of a bulk one, at most. Text
pub const MEDIUM_MAX: usize = 8192;

/// A NIC: an interface with its control program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nic(pub u16);

/// One of the independent channels between two NICs. T-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogicalChannel(pub u8);

/// An application's port on a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId(pub u16);

/// Key that a sender must present to an endpoint. T-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointKey(pub u64);

/// A transmission's time by its sender's clock, in µs; wraps. T-8
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TransportTimestamp(pub u32);

/// Successive use of a logical channel; compared by serial-number arithmetic. T-12
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelIncarnation(pub u16);

/// A sequence number, which has one bit. T-4
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SequenceBit {
    /// 0.
    #[default]
    Zero,
    /// 1.
    One,
}

/// Flag of a packet that opens its logical channel. T-11, T-12
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SyncFlag {
    /// The packet continues the open incarnation.
    #[default]
    Clear,
    /// The packet sets a new incarnation and its sequence number.
    Set,
}

crate::named_enum! {
    /// Role of a message in a conversation.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum MessageRole {
        /// A request, which takes a credit. T-9
        #[default]
        Request = "request",
        /// The reply to a request, which returns its credit. T-9
        Reply = "reply",
    }
}

crate::named_enum! {
    /// Reason of a NACK. T-6, T-12
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum NackReason {
        /// 1: the endpoint is not resident.
        NotResident = "not-resident" as 1,
        /// 2: its receive queue is full.
        QueueFull = "queue-full" as 2,
        /// 3: there is no staging area or DMA resource.
        NoResource = "no-resource" as 3,
        /// 4: no state is stored for the logical channel.
        NoChannelState = "no-channel-state" as 4,
        /// 16, final: the key does not match.
        BadKey = "bad-key" as 16,
        /// 17, final: there is no such endpoint.
        NoSuchEndpoint = "no-such-endpoint" as 17,
    }
}

/// Fields of all transport packets. An answer echoes them with the NICs exchanged. T-8
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransportHeader {
    /// The sending NIC.
    pub source: Nic,
    /// The receiving NIC.
    pub destination: Nic,
    /// The logical channel, of the NIC that sends the data.
    pub channel: LogicalChannel,
    /// The sequence number of the data.
    pub seq: SequenceBit,
    /// Transmission time of the data, by its sender's clock.
    pub timestamp: TransportTimestamp,
    /// Incarnation of the data's channel.
    pub incarnation: ChannelIncarnation,
}

/// A transport packet. `B` is the type of a message's body: with its bytes a [`MessageBody`], without them an
/// [`MessageExtent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportPacket<B> {
    /// Kinds 0–2: a message, or a piece of one.
    Data(TransportHeader, SyncFlag, TransportMessage<B>),
    /// Kind 8: the message was written. T-5
    Ack(TransportHeader),
    /// Kind 9: the message was rejected. T-6
    Nack(TransportHeader, NackReason),
}

/// The message, or piece of one, in a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransportMessage<B> {
    /// Request or reply.
    pub role: MessageRole,
    /// The sending endpoint.
    pub source: EndpointId,
    /// The receiving endpoint.
    pub destination: EndpointId,
    /// The receiving endpoint's key, according to the sender.
    pub key: EndpointKey,
    /// Index of the receiver's handler function.
    pub handler: u8,
    /// The body.
    pub body: B,
}

crate::named_enum! {
    /// The three forms of a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum MessageForm {
        /// Argument words of 4 bytes, [`WORDS_MAX`] at most.
        Short = "short",
        /// Bytes, [`MEDIUM_MAX`] at most.
        Medium = "medium",
        /// A piece of a transfer into the receiver's segment, [`MEDIUM_MAX`] bytes at most, and no more
        /// than the whole.
        Bulk {
            /// Offset of the piece in the segment, in bytes.
            offset: u32,
            /// Bytes of the whole transfer.
            total: u32,
        } = "bulk",
    }
}

/// A valid form and length of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageExtent {
    form: MessageForm,
    len: u16,
}

/// Bytes of a message, valid for its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageBody<'a> {
    form: MessageForm,
    bytes: &'a [u8],
}

impl SequenceBit {
    /// The other value.
    pub const fn flipped(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::One => Self::Zero,
        }
    }
}

impl ChannelIncarnation {
    /// True if it is later by serial-number arithmetic: less than half the range ahead. T-12
    pub const fn is_newer_than(self, other: Self) -> bool {
        let ahead = self.0.wrapping_sub(other.0);
        ahead != 0 && ahead < 1 << 15
    }

    /// The next one.
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl TransportHeader {
    /// The header of an answer.
    pub const fn answer(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }
}

impl NackReason {
    /// The number in a NACK. T-6, T-12
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn of(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// True if retransmission is useless, so that the message is returned at once. T-6
    pub const fn is_final(self) -> bool {
        matches!(self, Self::BadKey | Self::NoSuchEndpoint)
    }
}

impl MessageExtent {
    /// A length in a form, if the form allows it.
    pub const fn new(form: MessageForm, len: u16) -> Option<Self> {
        let bytes = len as usize;
        let held = match form {
            MessageForm::Short => bytes.is_multiple_of(4) && bytes <= 4 * WORDS_MAX,
            MessageForm::Medium => bytes <= MEDIUM_MAX,
            MessageForm::Bulk { total, .. } => bytes <= MEDIUM_MAX && len as u32 <= total,
        };
        if held { Some(Self { form, len }) } else { None }
    }

    /// The message's form.
    pub const fn form(self) -> MessageForm {
        self.form
    }

    /// Number of payload bytes.
    pub const fn len(self) -> u16 {
        self.len
    }

    /// True if there is no payload.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<'a> MessageBody<'a> {
    /// Bytes in a form, if the form allows them.
    pub fn new(form: MessageForm, bytes: &'a [u8]) -> Option<Self> {
        let len = u16::try_from(bytes.len()).ok()?;
        MessageExtent::new(form, len).map(|MessageExtent { form, .. }| Self { form, bytes })
    }

    /// The message's form.
    pub const fn form(self) -> MessageForm {
        self.form
    }

    /// The payload.
    pub const fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

impl<B> TransportPacket<B> {
    /// The common header.
    pub const fn header(&self) -> TransportHeader {
        match self {
            Self::Data(header, ..) | Self::Ack(header) | Self::Nack(header, _) => *header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_in_a_circle_and_an_answer_echoes_them() {
        let newer = |one, other| ChannelIncarnation(one).is_newer_than(ChannelIncarnation(other));
        assert!(newer(1, 0) && newer(0, 0xffff) && newer(0x7fff, 0) && newer(0x8000, 1));
        assert!(!newer(5, 5) && !newer(0, 1) && !newer(0xffff, 0));
        assert!(!newer(0x8000, 0) && !newer(0, 0x8000), "half the circle is neither");
        assert_eq!(ChannelIncarnation(0xffff).next(), ChannelIncarnation(0));
        let (source, destination) = (Nic(1), Nic(2));
        let (channel, seq) = (LogicalChannel(3), SequenceBit::One);
        let (timestamp, incarnation) = (TransportTimestamp(4), ChannelIncarnation(5));
        let header = TransportHeader { source, destination, channel, seq, timestamp, incarnation };
        let answer = TransportHeader { source: Nic(2), destination: Nic(1), ..header };
        assert_eq!((header.answer(), answer.answer()), (answer, header));
    }

    #[test]
    fn names_are_those_of_the_truth() {
        let roles = [MessageRole::Request, MessageRole::Reply];
        assert_eq!(roles.map(MessageRole::name), ["request", "reply"]);
        let forms =
            [MessageForm::Short, MessageForm::Medium, MessageForm::Bulk { offset: 0, total: 0 }];
        assert_eq!(forms.map(MessageForm::name), ["short", "medium", "bulk"]);
        let reasons = [
            ("not-resident", false),
            ("queue-full", false),
            ("no-resource", false),
            ("no-channel-state", false),
            // T-6
            ("bad-key", true),
            ("no-such-endpoint", true),
        ];
        assert_eq!(NackReason::ALL.map(|reason| (reason.name(), reason.is_final())), reasons);
    }

    #[test]
    fn an_extent_without_bytes_is_empty() {
        let extent = |len| MessageExtent::new(MessageForm::Medium, len).unwrap();
        assert_eq!((extent(0).is_empty(), extent(0).len()), (true, 0));
        assert_eq!((extent(1).is_empty(), extent(1).len()), (false, 1));
    }
}
