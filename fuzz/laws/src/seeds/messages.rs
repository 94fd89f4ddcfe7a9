//! Seeds of transport packets: each kind, and what is only just malformed.

use codec::transport::{
    ChannelIncarnation, EndpointId, EndpointKey, LogicalChannel, MessageBody, MessageForm,
    MessageRole, NackReason, Nic, SequenceBit, SyncFlag, TransportHeader, TransportMessage,
    TransportPacket, TransportTimestamp,
};

use super::CorpusSeed;

const HEADER: TransportHeader = TransportHeader {
    source: Nic(3),
    destination: Nic(4),
    channel: LogicalChannel(5),
    seq: SequenceBit::One,
    timestamp: TransportTimestamp(0x0102_0304),
    incarnation: ChannelIncarnation(0xfffe),
};

fn emitted(packet: &TransportPacket<MessageBody<'_>>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(&mut out);
    out
}

/// A request with this payload; nothing where the form does not hold it.
fn data(form: MessageForm, role: MessageRole, bytes: &[u8]) -> Vec<u8> {
    let message = |body| TransportMessage {
        role,
        source: EndpointId(6),
        destination: EndpointId(7),
        key: EndpointKey(0x1122_3344_5566_7788),
        handler: 9,
        body,
    };
    let sync = if role == MessageRole::Request { SyncFlag::Set } else { SyncFlag::Clear };
    let body = MessageBody::new(form, bytes);
    body.map_or(Vec::new(), |body| emitted(&TransportPacket::Data(HEADER, sync, message(body))))
}

pub(super) fn all() -> impl Iterator<Item = CorpusSeed> {
    let bulk = MessageForm::Bulk { offset: 0x4000, total: 9000 };
    let whole = MessageForm::Bulk { offset: 0, total: 5 };
    let ack = emitted(&TransportPacket::Ack(HEADER));
    let nack = |reason| emitted(&TransportPacket::Nack(HEADER, reason));
    let short =
        data(MessageForm::Short, MessageRole::Request, &[0, 0, 0, 42, 0xde, 0xad, 0xbe, 0xef]);
    let medium = data(MessageForm::Medium, MessageRole::Reply, b"myrinet");
    let with = |bytes: &[u8], at: usize, byte: u8| {
        let mut bytes = bytes.to_vec();
        bytes.iter_mut().skip(at).take(1).for_each(|place| *place = byte);
        bytes
    };
    let cut = |bytes: &[u8]| bytes.split_last().map_or(Vec::new(), |(_, rest)| rest.to_vec());
    let seeds = [
        ("good-short", short.clone()),
        ("good-short-of-eight-words", data(MessageForm::Short, MessageRole::Reply, &[0x5a; 32])),
        ("good-medium", medium.clone()),
        ("good-medium-of-nothing", data(MessageForm::Medium, MessageRole::Request, &[])),
        ("good-bulk", data(bulk, MessageRole::Request, &[0xa5; 60])),
        ("good-bulk-of-one-piece", data(whole, MessageRole::Request, b"whole")),
        ("good-ack", ack.clone()),
        ("good-nack-not-resident", nack(NackReason::NotResident)),
        ("good-nack-no-such-endpoint", nack(NackReason::NoSuchEndpoint)),
        ("another-version", with(&ack, 0, 0x28)),
        ("no-kind", with(&short, 0, 0x13)),
        ("an-answer-with-sync", with(&ack, 1, 3)),
        ("a-reason-that-is-none", with(&ack, 7, 1)),
        ("an-unknown-reason", with(&nack(NackReason::QueueFull), 7, 5)),
        ("words-of-a-medium-message", with(&medium, 27, 1)),
        ("a-word-less", with(&short, 27, 1)),
        ("an-offset-of-a-short-message", with(&short, 31, 1)),
        ("a-piece-beyond-the-whole", with(&data(whole, MessageRole::Request, b"whole"), 35, 4)),
        ("cut-in-the-payload", cut(&medium)),
        ("cut-in-the-header", short.get(..20).unwrap_or_default().to_vec()),
        ("regression-an-answer-without-its-last-byte", cut(&ack)),
        ("behind-an-answer", [ack, vec![0]].concat()),
    ];
    seeds.into_iter().map(|(name, bytes)| ("message", name, bytes))
}
