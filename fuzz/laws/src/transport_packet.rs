//! A transport packet's bytes: judged by the table of `docs/rules.md`, whole and by its head. T-6..T-8, T-12

use std::cell::RefCell;

use codec::error::DecodeError;
use codec::transport::{
    DATA_HEADER_LEN, MessageBody, MessageForm, MessageRole, NackReason, SequenceBit, SyncFlag,
    TransportHeader, TransportPacket,
};

thread_local! {
    /// Kept from run to run, so that none begins with taking memory.
    static ROOM: RefCell<Vec<u8>> = RefCell::default();
}

type MessageParse<'a> = Result<TransportPacket<MessageBody<'a>>, DecodeError>;

/// A payload parses if the table allows it; its fields are where the table puts them; emit writes it
/// again; head and length agree.
pub fn law(payload: &[u8]) {
    check(payload, TransportPacket::parse);
}

fn check<'a>(payload: &'a [u8], parse: impl Fn(&'a [u8]) -> MessageParse<'a>) {
    let parsed = parse(payload);
    assert_eq!(parsed.is_ok(), is_allowed(payload), "the table decides what parses");
    match &parsed {
        Ok(packet) => {
            ROOM.with_borrow_mut(|out| {
                out.clear();
                packet.emit(out);
                assert_eq!(out, payload, "emit writes what parse read");
            });
            fields(payload, packet);
        }
        Err(fault) => assert!(fault.at() <= payload.len(), "a fault is in the packet: {fault}"),
    }
    let head = payload.get(..DATA_HEADER_LEN).unwrap_or(payload);
    let by_head = TransportPacket::parse_head(head, payload.len() as u64);
    assert!(
        same(&by_head, &parsed),
        "its head and its length tell the same: {by_head:?} {parsed:?}"
    );
    if let (Ok(TransportPacket::Data(.., message)), Ok(TransportPacket::Data(.., told))) =
        (&parsed, &by_head)
    {
        let told = (told.body.form(), usize::from(told.body.len()));
        assert_eq!(told, (message.body.form(), message.body.bytes().len()), "and the same extent");
    }
}

/// A number of `size` bytes, 0 beyond the end.
pub(crate) fn number(payload: &[u8], at: usize, size: usize) -> u64 {
    let bytes = payload.get(at..at + size).unwrap_or_default();
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn is_allowed(payload: &[u8]) -> bool {
    let at = |at, size| number(payload, at, size);
    let (kind, flags, reason) = (at(0, 1), at(1, 1), at(7, 1));
    let (words, offset, total, len) = (at(27, 1), at(28, 4), at(32, 4), at(36, 2));
    let data = flags < 8 && reason == 0 && payload.len() as u64 == 38 + len;
    match kind {
        0x10 => data && words <= 8 && len == 4 * words && (offset, total) == (0, 0),
        0x11 => data && words == 0 && len <= 8192 && (offset, total) == (0, 0),
        0x12 => data && words == 0 && len <= 8192 && len <= total,
        0x18 => payload.len() == 14 && flags < 2 && reason == 0,
        0x19 => payload.len() == 14 && flags < 2 && [1, 2, 3, 4, 16, 17].contains(&reason),
        _ => false,
    }
}

/// Every field is what stands at its place.
fn fields(payload: &[u8], packet: &TransportPacket<MessageBody<'_>>) {
    let at = |at, size| number(payload, at, size);
    let TransportHeader { source, destination, channel, seq, timestamp, incarnation } =
        packet.header();
    assert_eq!((u64::from(source.0), u64::from(destination.0)), (at(2, 2), at(4, 2)));
    assert_eq!((u64::from(channel.0), u64::from(timestamp.0)), (at(6, 1), at(8, 4)));
    assert_eq!((u64::from(incarnation.0), seq == SequenceBit::One), (at(12, 2), at(1, 1) & 1 == 1));
    match packet {
        TransportPacket::Ack(_) => assert_eq!(at(0, 1), 0x18),
        TransportPacket::Nack(_, reason) => {
            assert_eq!(at(0, 1), 0x19);
            let is_final = matches!(reason, NackReason::BadKey | NackReason::NoSuchEndpoint);
            assert_eq!((u64::from(reason.code()), reason.is_final()), (at(7, 1), is_final));
        }
        TransportPacket::Data(_, sync, message) => {
            assert_eq!(
                (*sync == SyncFlag::Set, message.role == MessageRole::Reply),
                (at(1, 1) & 2 == 2, at(1, 1) & 4 == 4)
            );
            assert_eq!(u64::from(message.source.0), at(14, 2));
            assert_eq!(u64::from(message.destination.0), at(16, 2));
            assert_eq!((message.key.0, u64::from(message.handler)), (at(18, 8), at(26, 1)));
            let (kind, bulk) = match message.body.form() {
                MessageForm::Short => (0x10, (0, 0)),
                MessageForm::Medium => (0x11, (0, 0)),
                MessageForm::Bulk { offset, total } => (0x12, (offset, total)),
            };
            let bulk = (u64::from(bulk.0), u64::from(bulk.1));
            assert_eq!((kind, bulk), (at(0, 1), (at(28, 4), at(32, 4))));
            assert_eq!(Some(message.body.bytes()), payload.get(38..), "the payload is the rest");
        }
    }
}

/// Compares two witnesses, as far as they do not depend on the payload.
pub(crate) fn same<A, B>(
    one: &Result<TransportPacket<A>, DecodeError>,
    other: &Result<TransportPacket<B>, DecodeError>,
) -> bool {
    match (one, other) {
        (Err(one), Err(other)) => one == other,
        (Ok(TransportPacket::Ack(one)), Ok(TransportPacket::Ack(other))) => one == other,
        (Ok(TransportPacket::Nack(one, reason)), Ok(TransportPacket::Nack(other, again))) => {
            (one, reason) == (other, again)
        }
        (
            Ok(TransportPacket::Data(one, sync, sent)),
            Ok(TransportPacket::Data(other, again, told)),
        ) => {
            let ends = (sent.role, sent.source, sent.destination, sent.key, sent.handler);
            let others = (told.role, told.source, told.destination, told.key, told.handler);
            (one, sync, ends) == (other, again, others)
        }
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus;

    /// A receiver that does not look behind the end of an answer.
    fn careless(payload: &[u8]) -> MessageParse<'_> {
        match payload {
            [0x18, answer @ ..] if answer.len() >= 13 => TransportPacket::parse(&payload[..14]),
            _ => TransportPacket::parse(payload),
        }
    }

    #[test]
    fn a_parser_that_does_not_look_behind_the_end_is_not_caught_by_good_packets() {
        let mut good = corpus::inputs("message");
        good.retain(|(name, _)| name.starts_with("good"));
        assert!(good.len() > 4);
        good.iter().for_each(|(_, bytes)| check(bytes, careless));
    }

    pub(crate) fn a_parser_that_swaps_the_nics_is_caught() {
        let good = corpus::input("message", "good-ack");
        let swapped = TransportPacket::parse(&good)
            .map(|packet| TransportPacket::Ack(packet.header().answer()));
        fields(&good, &swapped.unwrap());
    }

    pub(crate) fn a_parser_that_does_not_look_behind_the_end_is_caught() {
        check(&[0x18, 0, 0, 1, 0, 2, 3, 0, 0, 0, 0, 4, 0, 5, 6], careless);
    }
}
