//! Names and fields of events about IP: `docs/truth.md`. H-1

use serde::ser::SerializeMap;
use smoltcp::wire::{IpAddress, Ipv4Address, Ipv4Packet, TcpPacket, UdpPacket};

use super::row::RowWriter;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Fields of an IP packet, each if the packet has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpLabel {
    /// Addresses and ports of sender and receiver.
    pub ends: [(Ipv4Address, Option<u16>); 2],
    /// Protocol over IP.
    pub protocol: &'static str,
    /// Identification of the datagram.
    pub id: u16,
    /// Bytes of the packet before a fragment's own.
    pub offset: Option<u16>,
    /// Bytes of the packet.
    pub length: u16,
    /// Bytes behind the headers.
    pub data: usize,
    /// Fields of a TCP segment.
    pub segment: Option<SegmentLabel>,
    /// State of the checksum of UDP or TCP, unless it is right, or that of a fragment.
    pub checksum: Option<&'static str>,
}

/// Fields of a segment of TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentLabel {
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number.
    pub acknowledgment: u32,
    /// Names of its flags, from the lowest.
    pub flags: Vec<&'static str>,
    /// True if its data begins with bytes that were sent before.
    pub again: bool,
}

impl IpLabel {
    /// The fields of a packet with a right header.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let header = Ipv4Packet::new_checked(packet).ok().filter(Ipv4Packet::verify_checksum)?;
        let (offset, is_first) = (header.frag_offset(), header.frag_offset() == 0);
        let body = header.payload();
        let label = Self {
            ends: [(header.src_addr(), None), (header.dst_addr(), None)],
            protocol: "other",
            id: header.ident(),
            offset: (header.more_frags() || !is_first).then_some(offset),
            length: header.total_len(),
            data: body.len(),
            segment: None,
            checksum: None,
        };
        let ends = [header.src_addr(), header.dst_addr()].map(IpAddress::from);
        let bad = |is_right: bool| (!is_right && label.offset.is_none()).then_some("bad");
        Some(match u8::from(header.next_header()) {
            UDP if !is_first => Self { protocol: "udp", ..label },
            TCP if !is_first => Self { protocol: "tcp", ..label },
            UDP => {
                // A first fragment is shorter than the datagram.
                let udp = UdpPacket::new_unchecked(body.get(..8)?);
                let ports = [udp.src_port(), udp.dst_port()];
                let checksum = match (udp.checksum(), usize::from(udp.len()) == body.len()) {
                    _ if label.offset.is_some() => None,
                    (0, _) => Some("absent"),
                    (_, false) => Some("unchecked"),
                    (_, true) => {
                        let udp = UdpPacket::new_unchecked(body);
                        bad(udp.verify_checksum(&ends[0], &ends[1]))
                    }
                };
                Self { protocol: "udp", data: body.len() - 8, checksum, ..label }.with_ports(ports)
            }
            TCP => {
                let tcp = TcpPacket::new_checked(body).ok()?;
                let segment = Some(SegmentLabel::of(&tcp));
                let (ports, data) = ([tcp.src_port(), tcp.dst_port()], tcp.payload().len());
                let checksum = bad(tcp.verify_checksum(&ends[0], &ends[1]));
                Self { protocol: "tcp", data, segment, checksum, ..label }.with_ports(ports)
            }
            _ => label,
        })
    }

    fn with_ports(mut self, ports: [u16; 2]) -> Self {
        self.ends.iter_mut().zip(ports).for_each(|((_, end), port)| *end = Some(port));
        self
    }
}

impl SegmentLabel {
    fn of(tcp: &TcpPacket<&[u8]>) -> Self {
        let flags = [
            (tcp.fin(), "fin"),
            (tcp.syn(), "syn"),
            (tcp.rst(), "rst"),
            (tcp.psh(), "psh"),
            (tcp.ack(), "ack"),
            (tcp.urg(), "urg"),
            (tcp.ece(), "ece"),
            (tcp.cwr(), "cwr"),
        ];
        Self {
            sequence: tcp.seq_number().0.cast_unsigned(),
            acknowledgment: tcp.ack_number().0.cast_unsigned(),
            flags: flags.into_iter().filter_map(|(is_set, name)| is_set.then_some(name)).collect(),
            again: false,
        }
    }
}

impl<M: SerializeMap> RowWriter<'_, M> {
    /// Writes the name and the fields of its transmission.
    pub(super) fn ip(&mut self, label: &IpLabel) -> &mut Self {
        let [(source, source_port), (destination, destination_port)] = label.ends;
        self.event("ip-transmitted").field("protocol", label.protocol);
        self.field("source", &format_args!("{source}")).optional("source_port", source_port);
        self.field("destination", &format_args!("{destination}"));
        self.optional("destination_port", destination_port);
        self.field("id", &label.id).optional("offset", label.offset);
        if let Some(SegmentLabel { sequence, acknowledgment, flags, .. }) = &label.segment {
            self.field("sequence", sequence).field("acknowledgment", acknowledgment);
            self.field("flags", &flags.join(" "));
        }
        let again = label.segment.as_ref().filter(|_| label.data > 0).map(|it| it.again);
        self.field("length", &label.length).field("data", &label.data).optional("again", again);
        self.optional("checksum", label.checksum)
    }
}
