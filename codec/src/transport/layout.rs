//! Transport packets in bytes: big-endian, the layout of `docs/rules.md`. T-6..T-8, T-12

use nom::error::context;
use nom::number::complete::{be_u16, be_u32, be_u64, u8 as byte};
use nom::{IResult, Parser};

use super::{
    ANSWER_LEN, ChannelIncarnation, DATA_HEADER_LEN, EndpointId, EndpointKey, LogicalChannel,
    MEDIUM_MAX, MessageBody, MessageExtent, MessageForm, MessageRole, NackReason, Nic, SequenceBit,
    SyncFlag, TransportHeader, TransportMessage, TransportPacket, TransportTimestamp, WORDS_MAX,
};
use crate::error::{DecodeError, ParseTrace, cut_short, unexpected};

/// High nibble of the first byte.
const VERSION: u8 = 1;

/// Low nibble of the first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TransportKind {
    Short = 0,
    Medium = 1,
    Bulk = 2,
    Ack = 8,
    Nack = 9,
}

/// Flags of the second byte.
const SEQ: u8 = 0b001;
const SYNC: u8 = 0b010;
const REPLY: u8 = 0b100;

impl<'a> TransportPacket<MessageBody<'a>> {
    /// Parses the payload of a packet of type [`TAG`](super::TAG).
    ///
    /// # Errors
    /// The packet is malformed (T-7): the field that is cut short or invalid, and its place behind
    /// the tag.
    pub fn parse(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let packet = TransportPacket::parse_head(payload, payload.len() as u64)?;
        let bytes = payload.get(DATA_HEADER_LEN..).unwrap_or_default();
        Ok(match packet {
            TransportPacket::Data(header, sync, message) => {
                let body = MessageBody { form: message.body.form, bytes };
                Self::Data(header, sync, message.with_body(body))
            }
            TransportPacket::Ack(header) => Self::Ack(header),
            TransportPacket::Nack(header, reason) => Self::Nack(header, reason),
        })
    }

    /// Writes what [`TransportPacket::parse`] reads.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Data(header, sync, message) => {
                let kind = match message.body.form {
                    MessageForm::Short => TransportKind::Short,
                    MessageForm::Medium => TransportKind::Medium,
                    MessageForm::Bulk { .. } => TransportKind::Bulk,
                };
                let sync = if *sync == SyncFlag::Set { SYNC } else { 0 };
                let reply = if message.role == MessageRole::Reply { REPLY } else { 0 };
                header.emit(kind, sync | reply, 0, out);
                message.emit(out);
            }
            Self::Ack(header) => header.emit(TransportKind::Ack, 0, 0, out),
            Self::Nack(header, reason) => header.emit(TransportKind::Nack, 0, reason.code(), out),
        }
    }
}

impl TransportPacket<MessageExtent> {
    /// Parses the fields before the payload's bytes: `head` is the first [`DATA_HEADER_LEN`] bytes,
    /// or all if there are fewer, of `len` bytes. The checks are those of
    /// [`TransportPacket::parse`] for all bytes.
    ///
    /// # Errors
    /// Those of [`TransportPacket::parse`].
    pub fn parse_head(head: &[u8], len: u64) -> Result<Self, DecodeError> {
        let head = match usize::try_from(len) {
            Ok(len) => head.get(..len).unwrap_or(head),
            Err(_) => head,
        };
        let first = head.first().ok_or(DecodeError::CutShort { at: 0, field: "version" })?;
        let kind = TransportKind::of(*first)?;
        let (rest, fields) = common(head).map_err(|stop| cut_short(head, &stop))?;
        let header = fields.check(kind)?;
        if kind == TransportKind::Ack {
            return no_more(len, ANSWER_LEN).map(|()| Self::Ack(header));
        }
        if kind == TransportKind::Nack {
            let reason = NackReason::of(fields.reason)
                .ok_or_else(|| unexpected(7, "NACK reason", fields.reason, REASONS))?;
            return no_more(len, ANSWER_LEN).map(|()| Self::Nack(header, reason));
        }
        let (_, message) = message(rest).map_err(|stop| cut_short(head, &stop))?;
        let body = message.body.check(kind)?;
        let end = DATA_HEADER_LEN + usize::from(body.len);
        if len < end as u64 {
            return Err(DecodeError::CutShort { at: DATA_HEADER_LEN, field: "payload" });
        }
        no_more(len, end)?;
        let sync = if fields.flags & SYNC == 0 { SyncFlag::Clear } else { SyncFlag::Set };
        let reply = fields.flags & REPLY != 0;
        let role = if reply { MessageRole::Reply } else { MessageRole::Request };
        Ok(Self::Data(header, sync, TransportMessage { role, ..message.with_body(body) }))
    }
}

impl<B> TransportMessage<B> {
    fn with_body<C>(self, body: C) -> TransportMessage<C> {
        let Self { role, source, destination, key, handler, .. } = self;
        TransportMessage { role, source, destination, key, handler, body }
    }
}

impl TransportKind {
    fn of(first: u8) -> Result<Self, DecodeError> {
        if first >> 4 != VERSION {
            return Err(unexpected(0, "version", first >> 4, "1"));
        }
        let kind = first & 0x0f;
        [Self::Short, Self::Medium, Self::Bulk, Self::Ack, Self::Nack]
            .into_iter()
            .find(|it| *it as u8 == kind)
            .ok_or_else(|| unexpected(0, "kind", kind, "0, 1, 2 (data), 8 (ACK) or 9 (NACK)"))
    }

    /// Flags that a packet of this kind may have, and their text.
    const fn flags(self) -> (u8, &'static str) {
        match self {
            Self::Short | Self::Medium | Self::Bulk => (SEQ | SYNC | REPLY, "0..=7"),
            Self::Ack | Self::Nack => (SEQ, "0 or 1 (an answer)"),
        }
    }
}

/// The first 14 bytes.
struct CommonFields {
    flags: u8,
    reason: u8,
    header: TransportHeader,
}

fn common(head: &[u8]) -> IResult<&[u8], CommonFields, ParseTrace<&[u8]>> {
    let (rest, (_, flags, source, destination, channel, reason, timestamp, incarnation)) = (
        context("kind", byte),
        context("flags", byte),
        context("source NIC", be_u16.map(Nic)),
        context("destination NIC", be_u16.map(Nic)),
        context("logical channel", byte.map(LogicalChannel)),
        context("NACK reason", byte),
        context("timestamp", be_u32.map(TransportTimestamp)),
        context("incarnation", be_u16.map(ChannelIncarnation)),
    )
        .parse(head)?;
    let seq = if flags & SEQ == 0 { SequenceBit::Zero } else { SequenceBit::One };
    let header = TransportHeader { source, destination, channel, seq, timestamp, incarnation };
    Ok((rest, CommonFields { flags, reason, header }))
}

impl CommonFields {
    fn check(&self, kind: TransportKind) -> Result<TransportHeader, DecodeError> {
        let (allowed, expected) = kind.flags();
        if self.flags & !allowed != 0 {
            return Err(unexpected(1, "flags", self.flags, expected));
        }
        if kind != TransportKind::Nack && self.reason != 0 {
            return Err(unexpected(7, "NACK reason", self.reason, "0 but in a NACK"));
        }
        Ok(self.header)
    }
}

/// Fields of a data packet that depend on the form.
struct FormFields {
    words: u8,
    offset: u32,
    total: u32,
    len: u16,
}

/// Bytes 14 to 38 of a data packet.
fn message(rest: &[u8]) -> IResult<&[u8], TransportMessage<FormFields>, ParseTrace<&[u8]>> {
    let (rest, (source, destination, key, handler, words, offset, total, len)) = (
        context("source endpoint", be_u16.map(EndpointId)),
        context("destination endpoint", be_u16.map(EndpointId)),
        context("endpoint key", be_u64.map(EndpointKey)),
        context("handler index", byte),
        context("argument words", byte),
        context("bulk offset", be_u32),
        context("bulk total", be_u32),
        context("payload length", be_u16),
    )
        .parse(rest)?;
    let body = FormFields { words, offset, total, len };
    let role = MessageRole::default();
    Ok((rest, TransportMessage { role, source, destination, key, handler, body }))
}

impl FormFields {
    fn check(&self, kind: TransportKind) -> Result<MessageExtent, DecodeError> {
        let Self { words, offset, total, len } = *self;
        let (short, bulk) = (kind == TransportKind::Short, kind == TransportKind::Bulk);
        let (words, long) = (u32::from(words), u32::from(len));
        for (wrong, at, field, found, expected) in [
            (short && words as usize > WORDS_MAX, 27, "argument words", words, "0..=8"),
            (!short && words != 0, 27, "argument words", words, "0 but in a short message"),
            (!bulk && offset != 0, 28, "bulk offset", offset, "0 but in a bulk message"),
            (!bulk && total != 0, 32, "bulk total", total, "0 but in a bulk message"),
            (short && words * 4 != long, 36, "payload length", long, "4 bytes a word"),
            (usize::from(len) > MEDIUM_MAX, 36, "payload length", long, "0..=8192"),
            (bulk && long > total, 36, "payload length", long, "at most the bulk total"),
        ] {
            if wrong {
                return Err(unexpected(at, field, found, expected));
            }
        }
        let form = match (short, bulk) {
            (true, _) => MessageForm::Short,
            (_, true) => MessageForm::Bulk { offset, total },
            _ => MessageForm::Medium,
        };
        Ok(MessageExtent { form, len })
    }
}

impl TransportHeader {
    fn emit(&self, kind: TransportKind, flags: u8, reason: u8, out: &mut Vec<u8>) {
        let seq = if self.seq == SequenceBit::One { SEQ } else { 0 };
        out.extend([VERSION << 4 | kind as u8, flags | seq]);
        out.extend(self.source.0.to_be_bytes());
        out.extend(self.destination.0.to_be_bytes());
        out.extend([self.channel.0, reason]);
        out.extend(self.timestamp.0.to_be_bytes());
        out.extend(self.incarnation.0.to_be_bytes());
    }
}

impl TransportMessage<MessageBody<'_>> {
    fn emit(&self, out: &mut Vec<u8>) {
        let bytes = self.body.bytes;
        // A body has as many bytes as its form allows, so that the lengths fit.
        let (words, offset, total) = match self.body.form {
            MessageForm::Short => (u8::try_from(bytes.len() / 4).unwrap_or(u8::MAX), 0, 0),
            MessageForm::Medium => (0, 0, 0),
            MessageForm::Bulk { offset, total } => (0, offset, total),
        };
        out.extend(self.source.0.to_be_bytes());
        out.extend(self.destination.0.to_be_bytes());
        out.extend(self.key.0.to_be_bytes());
        out.extend([self.handler, words]);
        out.extend(offset.to_be_bytes());
        out.extend(total.to_be_bytes());
        out.extend(u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(bytes);
    }
}

/// Numbers of [`NackReason`].
const REASONS: &str = "1, 2, 3, 4, 16 or 17";

/// Checks that byte `end` of `len` is the last.
fn no_more(len: u64, end: usize) -> Result<(), DecodeError> {
    match len - end as u64 {
        0 => Ok(()),
        more => Err(unexpected(end, "trailing bytes", more, "0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: TransportHeader = TransportHeader {
        source: Nic(0x0102),
        destination: Nic(0x0304),
        channel: LogicalChannel(5),
        seq: SequenceBit::One,
        timestamp: TransportTimestamp(0x0607_0809),
        incarnation: ChannelIncarnation(0x0a0b),
    };

    fn bytes(packet: &TransportPacket<MessageBody<'_>>) -> Vec<u8> {
        let mut out = Vec::new();
        packet.emit(&mut out);
        out
    }

    fn data(form: MessageForm, bytes: &[u8]) -> TransportPacket<MessageBody<'_>> {
        let message = TransportMessage {
            role: MessageRole::Reply,
            source: EndpointId(0x0c0d),
            destination: EndpointId(0x0e0f),
            key: EndpointKey(0x1011_1213_1415_1617),
            handler: 0x18,
            body: MessageBody::new(form, bytes).unwrap(),
        };
        TransportPacket::Data(HEADER, SyncFlag::Set, message)
    }

    #[test]
    fn an_answer_is_fourteen_bytes_and_data_have_their_payload_behind_38() {
        let ack = [0x18, 1, 1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 0x0a, 0x0b];
        assert_eq!(bytes(&TransportPacket::Ack(HEADER)), ack);
        let nack = [0x19, 1, 1, 2, 3, 4, 5, 17, 6, 7, 8, 9, 0x0a, 0x0b];
        assert_eq!(bytes(&TransportPacket::Nack(HEADER, NackReason::NoSuchEndpoint)), nack);
        let out =
            bytes(&data(MessageForm::Bulk { offset: 0x191a_1b1c, total: 0x1d1e_1f20 }, b"my"));
        let envelope = [
            0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0, 0x19,
            0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0, 2, b'm', b'y',
        ];
        assert_eq!(out[..14], [0x12, 7, 1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 0x0a, 0x0b]);
        assert_eq!(out[14..], envelope);
        let short = bytes(&data(MessageForm::Short, &[0xaa; 32]));
        assert_eq!((short[0], short[27], &short[36..38]), (0x10, 8, &[0, 32][..]));
    }

    #[test]
    fn a_form_holds_what_it_can_and_no_more() {
        let bulk = |total| MessageForm::Bulk { offset: u32::MAX, total };
        for (form, len, held) in [
            (MessageForm::Short, 0, true),
            (MessageForm::Short, 32, true),
            (MessageForm::Short, 36, false),
            (MessageForm::Short, 6, false),
            (MessageForm::Medium, 8192, true),
            (MessageForm::Medium, 8193, false),
            (bulk(8192), 8192, true),
            (bulk(9000), 8193, false),
            (bulk(7), 8, false),
        ] {
            assert_eq!(MessageBody::new(form, &vec![0; len]).is_some(), held, "{form:?} {len}");
        }
        assert_eq!(MessageBody::new(MessageForm::Medium, &vec![0; 1 << 16]), None);
    }
}
