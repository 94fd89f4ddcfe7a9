//! A packet of IP at a tap, against smoltcp, which the analyzer does not use.

use analyzer::event::ChannelEvent;
use analyzer::ip::{IpChecksum, IpRow};
use analyzer::packet::{ByteRetention, ReceivedPacket};
use analyzer::receiver::ChannelReceiver;
use codec::chars::CharBuf;
use codec::crc::crc8;
use codec::{Character, ip};
use smoltcp::wire::{IpProtocol, Ipv4Packet, TcpPacket, UdpPacket};

/// The analyzer reads the same from an IP packet in whatever pieces and repeats it comes, and reads the addresses,
/// ports and checksums that smoltcp reads.
pub fn law(body: &[u8]) {
    check(body, |packet| packet.ip.as_ref().map(|ip| (ip.row(), ip.checksum())));
}

fn check(body: &[u8], read: impl Fn(&ReceivedPacket) -> Option<(IpRow, IpChecksum)>) {
    let mut bytes = [&[ip::TAG], body].concat();
    bytes.push(crc8(&bytes));
    let whole = received(&bytes, bytes.len()).as_ref().and_then(&read);
    assert!(whole.is_some(), "a packet of the type of IP is read");
    let Some(whole) = whole else { return };
    let cut = usize::from(body.first().copied().unwrap_or(0)) % bytes.len();
    let parts = received(&bytes, cut).as_ref().and_then(&read);
    assert_eq!(parts.as_ref(), Some(&whole), "pieces change nothing");
    let (row, checksum) = whole;
    let Some(packet) = Ipv4Packet::new_checked(body).ok().filter(|it| {
        it.version() == 4 && usize::from(it.total_len()) == body.len() && it.header_len() >= 20
    }) else {
        return assert_eq!(checksum, IpChecksum::Unchecked, "only IP has checksums: {row:?}");
    };
    assert_eq!(row.source, Some(packet.src_addr().to_string()), "an address is at its place");
    assert_eq!(row.destination, Some(packet.dst_addr().to_string()), "an address is at its place");
    let (src, dst) = (packet.src_addr().into(), packet.dst_addr().into());
    let good = |is_good| if is_good { IpChecksum::Good } else { IpChecksum::Bad };
    let is_whole = !packet.more_frags() && packet.frag_offset() == 0;
    let mut filled = body.to_vec();
    let mut filled = Ipv4Packet::new_unchecked(&mut filled);
    filled.fill_checksum();
    let expected = if !is_sum(packet.checksum(), filled.checksum()) {
        IpChecksum::BadHeader
    } else if !is_whole {
        IpChecksum::Unchecked
    } else if packet.next_header() == IpProtocol::Tcp && packet.payload().len() >= 20 {
        let tcp = TcpPacket::new_unchecked(packet.payload());
        let sequence = (tcp.header_len() >= 20).then(|| tcp.seq_number().0.cast_unsigned());
        assert_eq!(row.sequence, sequence, "a number is at its place");
        let mut filled = packet.payload().to_vec();
        let mut filled = TcpPacket::new_unchecked(&mut filled);
        filled.fill_checksum(&src, &dst);
        good(is_sum(tcp.checksum(), filled.checksum()))
    } else if packet.next_header() == IpProtocol::Udp && packet.payload().len() >= 8 {
        let udp = UdpPacket::new_unchecked(packet.payload());
        assert_eq!(row.destination_port, Some(udp.dst_port()), "a port is at its place");
        let mut filled = packet.payload().to_vec();
        let mut filled = UdpPacket::new_unchecked(&mut filled);
        match udp.checksum() {
            0 => IpChecksum::Absent,
            _ if usize::from(udp.len()) != packet.payload().len() => IpChecksum::Unchecked,
            sum => {
                filled.fill_checksum(&src, &dst);
                good(is_sum(sum, filled.checksum()))
            }
        }
    } else {
        IpChecksum::Unchecked
    };
    assert_eq!(checksum, expected, "the sums are those of smoltcp");
}

/// True if a checksum is that which smoltcp fills in; both zeros of one's complement are. Its own comparison always
/// succeeds in builds for fuzzing.
const fn is_sum(found: u16, filled: u16) -> bool {
    found == filled || (filled == 0 && found == 0xffff)
}

/// The packet of these bytes, received in two parts.
fn received(bytes: &[u8], cut: usize) -> Option<ReceivedPacket> {
    let mut receiver = ChannelReceiver::new(ByteRetention::Forget);
    let mut packet = None;
    let mut out = |_, event| {
        if let ChannelEvent::Packet(it) = event {
            packet = Some(*it);
        }
    };
    let (first, second) = bytes.split_at(cut.min(bytes.len()));
    for part in [first, second] {
        let mut chars = CharBuf::new();
        chars.push_data(part);
        receiver.feed(chars.chars(), &mut out);
    }
    let end: CharBuf = [Character::GAP].into_iter().collect();
    receiver.feed(end.chars(), &mut out);
    packet
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A UDP datagram without data, its checksum one too small.
    const WRONG: [u8; 28] = [
        0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0x66, 0xce, 10, 0, 0, 1, 10, 0, 0, 2, 0x80, 0, 4, 0, 0,
        8, 0x67, 0xda,
    ];

    #[test]
    fn a_wrong_checksum_is_judged_alike() {
        law(&WRONG);
    }

    pub(crate) fn a_reader_that_checks_nothing_is_caught() {
        check(&WRONG, |packet| packet.ip.as_ref().map(|ip| (ip.row(), IpChecksum::Good)));
    }

    pub(crate) fn a_reader_that_reads_nothing_is_caught() {
        check(&WRONG, |_| None);
    }
}
