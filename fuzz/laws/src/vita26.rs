//! A body of the later dialect, read by the table of `docs/dialect.md`: whole and by its head.

use codec::error::DecodeError;
use codec::vita26::{HEAD_LEN, Vita26Packet, ip_packet};

use crate::transport_packet::number;

/// A body parses if the table allows it; its fields are where the table has them; emit writes it again; a
/// frame and the IP packet in it are parts of it; the head and the length decide all of this.
pub fn law(body: &[u8]) {
    check(body, Vita26Packet::parse);
}

fn check<'a>(body: &'a [u8], parse: impl Fn(&'a [u8]) -> Result<Vita26Packet<'a>, DecodeError>) {
    let parsed = parse(body);
    assert_eq!(parsed.is_ok(), is_allowed(body), "the table decides what parses");
    match &parsed {
        Ok(packet) => {
            let mut out = Vec::new();
            packet.emit(&mut out);
            assert_eq!(out, body, "emit writes what parse read");
            fields(body, packet);
        }
        Err(fault) => assert!(fault.at() <= body.len(), "a fault is in the packet: {fault}"),
    }
    let head = body.get(..HEAD_LEN).unwrap_or(body);
    let by_head = Vita26Packet::parse_head(head, body.len() as u64);
    let kind = |it: Vita26Packet<'_>| it.packet_type();
    assert_eq!(by_head.map(kind), parsed.map(kind), "a head and a length are enough");
}

fn is_allowed(body: &[u8]) -> bool {
    let at = |at, size| number(body, at, size);
    let room = |header: usize| body.len().checked_sub(header).map(|room| room as u64);
    body.len() >= 4
        && at(0, 1) < 0x80
        && match (at(0, 2), at(2, 2)) {
            (8, 256..384) => room(24).is_some_and(|room| at(12, 2) <= room),
            (8, 384..512) => room(24).is_some(),
            (9, _) => room(14).is_some_and(|room| at(4, 2) <= room),
            _ => true,
        }
}

/// Every field is what stands at its place.
fn fields(body: &[u8], packet: &Vita26Packet<'_>) {
    let at = |at, size| number(body, at, size);
    assert_eq!(u64::from(packet.packet_type().value()), at(0, 4), "a field is at its place");
    match packet {
        Vita26Packet::Gm(_, header, rest) => {
            let numbers = [header.target, header.sender].map(u64::from);
            assert_eq!(numbers, [at(4, 4), at(16, 4)], "a field is at its place");
            let numbers = header.session_sequence_length.map(u64::from);
            assert_eq!(numbers, [at(8, 2), at(10, 2), at(12, 2)], "a field is at its place");
            assert_eq!(body.get(24..), Some(*rest), "a payload is behind the header");
        }
        Vita26Packet::Ethernet(_, [length, sequence], ..) => {
            assert_eq!([*length, *sequence].map(u64::from), [at(4, 2), at(6, 2)]);
            let frame = packet.frame().unwrap_or_default();
            assert_eq!(Some(frame), body.get(14..14 + usize::from(*length)), "it has its length");
            let inside = |ip| frame.get(14..).is_some_and(|it| it.starts_with(ip));
            assert!(ip_packet(frame).is_none_or(inside), "an IP packet is in its frame");
        }
        Vita26Packet::Other(..) => {}
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use codec::vita26::GmHeader;

    use super::*;

    const ACK: [u8; 24] =
        [0, 8, 1, 0x80, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 3, 0, 4];

    pub(crate) fn a_reader_of_short_headers_is_caught() {
        check(&ACK[..20], |_| Vita26Packet::parse(&ACK));
    }

    pub(crate) fn a_reader_that_swaps_the_interfaces_is_caught() {
        let Ok(Vita26Packet::Gm(kind, header, rest)) = Vita26Packet::parse(&ACK) else { return };
        let swapped = GmHeader { target: header.sender, sender: header.target, ..header };
        fields(&ACK, &Vita26Packet::Gm(kind, swapped, rest));
    }
}
