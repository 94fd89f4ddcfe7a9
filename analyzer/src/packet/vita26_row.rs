//! Packets of the later dialect in rows. `docs/dialect.md`

use codec::packet::{CrcCheck, PacketDialect};
use codec::vita26::{
    EthernetAddress, GM_NAMES, GmHeader, HEAD_LEN, PacketType, TypeGroup, Vita26Packet,
    ethernet_header,
};

use super::ReceivedPacket;
use crate::row::FieldShape::{Number, Words};
use crate::row::row;

row! {
    /// A packet of the later dialect in a row, without the fields that it does not have.
    #[derive(Default)]
    pub struct Vita26Row {
        kind: &'static str as Words(TypeGroup::NAMES), "", "", "group of its type";
        code: Option<u32> ["Option::is_none"] as Number(0x7fff_ffff), "", "", "the four bytes behind the route";
        fault: Option<String> ["Option::is_none"], "", "", "where it is malformed, and how";
        name: Option<&'static str> ["Option::is_none"] as Words(&GM_NAMES), "", "", "subtype of a GM packet";
        target: Option<u32> ["Option::is_none"], "", "", "interface that it goes to";
        sender: Option<u32> ["Option::is_none"], "", "", "interface that sends it";
        target_subport: Option<u8> ["Option::is_none"], "", "", "port there times 2, plus 1 for high priority";
        sender_subport: Option<u8> ["Option::is_none"], "", "", "port times 2, plus 1 for high priority";
        session: Option<u16> ["Option::is_none"], "", "", "session of a connection";
        sequence: Option<u16> ["Option::is_none"], "", "", "sequence number";
        length: Option<u16> ["Option::is_none"], "bytes", "", "payload of GM, or Ethernet frame";
        gateway: Option<String> ["Option::is_none"], "", "", "address of the gateway of an Ethernet frame";
        destination: Option<String> ["Option::is_none"], "", "", "destination of an Ethernet frame";
        source: Option<String> ["Option::is_none"], "", "", "source of an Ethernet frame";
        ethertype: Option<u16> ["Option::is_none"], "", "", "type of an Ethernet frame";
    }
}

/// Values of `kind`.
impl ReceivedPacket {
    /// Number of bytes between the route and the CRC byte.
    fn body_len(&self) -> u64 {
        self.payload() + u64::from(self.tag.is_some())
    }

    /// Those of some first bytes of the packet that are between the route and the CRC byte.
    pub(super) fn body_in<'b>(&self, first: &'b [u8]) -> &'b [u8] {
        let route = usize::try_from(self.route.count()).unwrap_or(usize::MAX);
        let len = usize::try_from(self.body_len()).unwrap_or(usize::MAX);
        let body = first.get(route..).unwrap_or_default();
        body.get(..len).unwrap_or(body)
    }

    /// The first bytes behind the route; none if fewer were kept than are needed.
    fn head(&self) -> Option<(&[u8], u64)> {
        let (body, len) = (self.body_in(self.front.bytes()), self.body_len());
        (self.tag.is_some() && body.len() as u64 >= len.min(HEAD_LEN as u64)).then_some((body, len))
    }

    /// The packet as one of the later dialect; none in the earlier one, if it has no type, or if its route is
    /// so long that its header was not kept.
    pub fn vita26(&self) -> Option<Box<Vita26Row>> {
        let (body, len) = self.head().filter(|_| self.dialect == PacketDialect::Vita26)?;
        let code = body.first_chunk().and_then(|bytes| PacketType::new(*bytes));
        let mut row = Vita26Row {
            kind: code.map_or(TypeGroup::Unknown, PacketType::group).name(),
            code: code.map(PacketType::value),
            name: code.and_then(PacketType::gm_name),
            ..Vita26Row::default()
        };
        match Vita26Packet::parse_head(body, len) {
            Err(fault) => row.fault = Some(fault.to_string()),
            Ok(Vita26Packet::Gm(kind, header, _)) => row.gm(kind, &header),
            Ok(packet @ Vita26Packet::Ethernet(_, [length, sequence], gateway, _)) => {
                (row.length, row.sequence) = (Some(length), Some(sequence));
                row.gateway = Some(address(gateway));
                if let Some((to, from, kind)) = packet.frame().and_then(ethernet_header) {
                    (row.destination, row.source) = (Some(address(to)), Some(address(from)));
                    row.ethertype = Some(kind);
                }
            }
            Ok(Vita26Packet::Other(..)) => {}
        }
        Some(Box::new(row))
    }

    /// Group of the later dialect's type, if more than the type agrees and the CRC is good: a guess.
    pub fn vita26_guess(&self) -> Option<TypeGroup> {
        if self.check != CrcCheck::Good || self.tag.is_none_or(|tag| tag.value() != 0) {
            return None;
        }
        let (body, len) = self.head()?;
        let packet = Vita26Packet::parse_head(body, len).ok()?;
        packet.is_typical(len).then(|| packet.packet_type().group())
    }

    /// The IP packet in a packet of type 08 whose bytes were kept, and the number of its bytes that were not.
    pub fn ip_bytes(&self) -> Option<(&[u8], u64)> {
        let body = self.body_in(self.bytes.as_ref()?.bytes()).get(1..)?;
        self.ip.as_ref()?;
        Some((body, self.payload() - body.len() as u64))
    }

    /// The Ethernet frame in a packet of the later dialect whose bytes were kept, and the number of its bytes
    /// that were not.
    pub fn vita26_frame(&self) -> Option<(&[u8], u64)> {
        let body = self.body_in(self.bytes.as_ref()?.bytes());
        let packet = Vita26Packet::parse_head(body, self.body_len()).ok()?;
        let Vita26Packet::Ethernet(_, [length, _], ..) = packet else { return None };
        let frame = packet.frame()?;
        Some((frame, u64::from(length) - frame.len() as u64))
    }
}

fn address(bytes: EthernetAddress) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

impl Vita26Row {
    fn gm(&mut self, kind: PacketType, header: &GmHeader) {
        let [session, sequence, length] = header.session_sequence_length;
        let [target_subport, sender_subport] = header.subports;
        (self.target, self.sender) = (Some(header.target), Some(header.sender));
        (self.session, self.sequence) = (Some(session), Some(sequence));
        if kind.has_payload() {
            self.length = Some(length);
            self.target_subport = Some(target_subport);
            self.sender_subport = Some(sender_subport);
        }
    }

    /// The packet in a few words, behind its route.
    pub fn summary(&self) -> String {
        let mut words = vec![match self.code {
            Some(code) if self.kind == TypeGroup::Unknown.name() => format!("type {code:08x}"),
            Some(_) => self.kind.to_owned(),
            None => "no type".to_owned(),
        }];
        let ends = self.source.as_ref().zip(self.destination.as_ref()).zip(self.ethertype);
        words.extend(self.name.map(str::to_owned));
        words.extend(self.sender.zip(self.target).map(|(from, to)| format!("{from} > {to}")));
        words.extend(ends.map(|((from, to), kind)| format!("{from} > {to} type {kind:04x}")));
        words.extend(self.sequence.map(|sequence| format!("seq {sequence}")));
        words.extend(self.fault.as_ref().map(|fault| format!("malformed: {fault}")));
        words.join(" ")
    }
}
