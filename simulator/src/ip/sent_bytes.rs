//! Bytes of TCP that a host has sent, so that the truth tells of those that it sends again. H-1

use std::collections::BTreeMap;

use smoltcp::wire::Ipv4Address;

use crate::truth::{IpLabel, SegmentLabel};

/// Sequence numbers behind the bytes that were sent, by sender and receiver.
#[derive(Debug, Default)]
pub(crate) struct SentBytes(BTreeMap<[(Ipv4Address, Option<u16>); 2], u32>);

impl SentBytes {
    /// The fields of an IP packet that leaves.
    pub(crate) fn label(&mut self, packet: &[u8]) -> Option<IpLabel> {
        let mut label = IpLabel::of(packet)?;
        let Some(SegmentLabel { sequence, flags, again, .. }) = &mut label.segment else {
            return Some(label);
        };
        if flags.contains(&"syn") {
            // A new connection of the same ports.
            self.0.remove(&label.ends);
        }
        if let Ok(length @ 1..) = u32::try_from(label.data) {
            // Numbers of TCP compare modulo 2³².
            let is_behind = |one: u32, other: u32| other.wrapping_sub(one).cast_signed() > 0;
            let end = sequence.wrapping_add(length);
            let next = self.0.entry(label.ends).or_insert(*sequence);
            *again = is_behind(*sequence, *next);
            if is_behind(*next, end) {
                *next = end;
            }
        }
        Some(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smoltcp::phy::ChecksumCapabilities;
    use smoltcp::wire::{IpProtocol, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr};

    /// A segment of TCP with data of a length.
    fn segment(sequence: u32, length: usize, control: TcpControl) -> Vec<u8> {
        let [src_addr, dst_addr] = [1, 2].map(|host| Ipv4Address::new(10, 0, 0, host));
        let data = vec![0; length];
        let tcp = TcpRepr {
            src_port: 32_768,
            dst_port: 1024,
            control,
            seq_number: smoltcp::wire::TcpSeqNumber(sequence.cast_signed()),
            ack_number: None,
            window_len: 100,
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: &data,
        };
        let payload_len = tcp.buffer_len();
        let next_header = IpProtocol::Tcp;
        let ip = Ipv4Repr { src_addr, dst_addr, next_header, payload_len, hop_limit: 64 };
        let mut bytes = vec![0; ip.buffer_len() + payload_len];
        let checksums = ChecksumCapabilities::default();
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes);
        ip.emit(&mut packet, &checksums);
        let mut body = TcpPacket::new_unchecked(packet.payload_mut());
        tcp.emit(&mut body, &src_addr.into(), &dst_addr.into(), &checksums);
        bytes
    }

    #[test]
    fn bytes_sent_again_are_known_modulo_2_to_the_32() {
        use TcpControl::{None as Plain, Psh, Syn};
        let first = u32::MAX - 99;
        let mut sent = SentBytes::default();
        for (sequence, length, control, expected) in [
            (first.wrapping_sub(1), 0, Syn, false),
            (first, 100, Plain, false),
            (0, 100, Psh, false),
            // An acknowledgment has no data.
            (50, 0, Plain, false),
            (first, 100, Plain, true),
            // It begins with bytes that were sent before, and ends with others.
            (50, 100, Plain, true),
            (150, 1, Plain, false),
            // Another connection.
            (9, 0, Syn, false),
            (10, 5, Plain, false),
        ] {
            let label = sent.label(&segment(sequence, length, control)).unwrap();
            let found = label.segment.unwrap();
            assert_eq!((found.sequence, label.data, found.again), (sequence, length, expected));
        }
    }
}
