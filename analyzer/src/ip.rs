//! Packets that carry IP, at a tap. H-1, RFC 791, RFC 768, RFC 9293
//!
//! While such a packet arrives, its first bytes are kept, and all are summed for the Internet checksum.

use codec::packet::CrcCheck;

use crate::row::FieldShape::{Number, Words};
use crate::row::row;

/// Most bytes of the headers of IP and TCP.
pub(crate) const HEADERS_MAX: usize = 120;
const HEADER_LEN: u16 = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Names of the flags of TCP, from the lowest.
const FLAGS: [&str; 8] = ["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"];
pub(crate) const PROTOCOLS: &[&str] = &["tcp", "udp", "other"];

/// Sums of the bytes in even and in odd places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteSums {
    sums: [u64; 2],
    is_odd: bool,
}

/// Contents of a captured packet of the type of IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedIp {
    bytes: Box<[u8]>,
    payload: u64,
    checksum: IpChecksum,
    /// Check of its bytes. P-4
    pub check: CrcCheck,
}

codec::named_enum! {
    /// Result of the check of the Internet checksums.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IpChecksum {
        /// All are right.
        Good = "good",
        /// That of the IP header is wrong.
        BadHeader = "bad-header",
        /// That of UDP or TCP is wrong.
        Bad = "bad",
        /// UDP without a checksum.
        Absent = "absent",
        /// Not checked: a fragment, another protocol, a bad CRC, or lengths that disagree.
        Unchecked = "unchecked",
    }
}

row! {
    /// A packet that carries IP in a row, without the fields that it does not have.
    #[derive(Default)]
    pub struct IpRow {
        source: Option<String> ["Option::is_none"], "", "", "source address";
        destination: Option<String> ["Option::is_none"], "", "", "destination address";
        protocol: Option<&'static str> ["Option::is_none"] as Words(PROTOCOLS), "", "", "protocol over IP";
        id: Option<u16> ["Option::is_none"], "", "", "identification of a datagram and its fragments";
        offset: Option<u32> ["Option::is_none"] as Number(65_528), "bytes", "", "bytes before those of a fragment";
        source_port: Option<u16> ["Option::is_none"], "", "", "port of the sender";
        destination_port: Option<u16> ["Option::is_none"], "", "", "port of the receiver";
        sequence: Option<u32> ["Option::is_none"], "", "", "sequence number of TCP";
        acknowledgment: Option<u32> ["Option::is_none"], "", "", "acknowledgment number of TCP";
        window: Option<u16> ["Option::is_none"], "bytes", "", "window of TCP, not scaled";
        flags: Option<String> ["Option::is_none"], "", "", "flags of TCP: fin syn rst psh ack urg ece cwr";
        data: Option<u64> ["Option::is_none"], "bytes", "", "bytes behind the headers that are there";
        checksum: &'static str as Words(IpChecksum::NAMES), "", "I-5", "the Internet checksums; bad: that of UDP or TCP";
        fault: Option<&'static str> ["Option::is_none"] as Words(&FAULTS), "", "", "why it is no IP packet";
    }
}

const FAULTS: [&str; 4] = ["cut-short", "version", "header-length", "total-length"];

impl ByteSums {
    /// Adds the same bytes `count` times.
    pub(crate) fn add(&mut self, bytes: &[u8], count: u64) {
        let (words, last) = bytes.as_chunks::<2>();
        let [mut high, mut low] = [0, 0];
        for [a, b] in words {
            high += u64::from(*a);
            low += u64::from(*b);
        }
        high += last.iter().map(|last| u64::from(*last)).sum::<u64>();
        // Where a round has an odd length, every other one begins in an odd place.
        let turned = if last.is_empty() { 0 } else { count / 2 };
        let [even, odd] = [high, low].map(|sum| sum % 0xffff);
        let as_is = (count - turned) % 0xffff;
        let turned = turned % 0xffff;
        let sums = [even * as_is + odd * turned, odd * as_is + even * turned];
        let [first, second] = sums.map(|sum| sum % 0xffff);
        let [a, b] = self.sums;
        self.sums = if self.is_odd { [a + second, b + first] } else { [a + first, b + second] };
        self.sums = self.sums.map(|sum| sum % 0xffff);
        self.is_odd ^= !last.is_empty() && count % 2 == 1;
    }

    /// The sum of all bytes but the last, a ones' complement number below 0xffff.
    fn without_last(self, last: u8) -> u64 {
        let [even, odd] = self.sums;
        // The last byte is in an even place, if their number is odd.
        let weight = if self.is_odd { 256 } else { 1 };
        (even * 256 + odd + 0xffff * 256 - u64::from(last) * weight) % 0xffff
    }

    fn of(bytes: &[u8]) -> u64 {
        let mut sums = Self::default();
        sums.add(bytes, 1);
        let [even, odd] = sums.sums;
        (even * 256 + odd) % 0xffff
    }
}

impl ParsedIp {
    /// A packet with `payload` bytes between its tag and its CRC byte, the first of which are `bytes`.
    pub(crate) fn new(
        bytes: &[u8],
        payload: u64,
        (sums, last, check): (ByteSums, u8, CrcCheck),
    ) -> Self {
        let len = usize::try_from(payload).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = bytes.get(..len).unwrap_or(bytes).into();
        let mut packet = Self { bytes, payload, checksum: IpChecksum::Unchecked, check };
        if check == CrcCheck::Good {
            let sum = sums.without_last(last);
            packet.checksum = packet.checked(sum).unwrap_or(IpChecksum::Unchecked);
        }
        packet
    }

    /// True if its CRC is good.
    pub fn is_sound(&self) -> bool {
        self.check == CrcCheck::Good
    }

    /// Result of the check of the checksums.
    pub const fn checksum(&self) -> IpChecksum {
        self.checksum
    }

    fn number<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    fn half(&self, at: usize) -> Option<u16> {
        self.number(at).map(u16::from_be_bytes)
    }

    /// Fault of the header; otherwise its length.
    fn header_len(&self) -> Result<u16, &'static str> {
        let [short, version, header, total] = FAULTS;
        let first = *self.bytes.first().ok_or(short)?;
        if first >> 4 != 4 {
            return Err(version);
        }
        let length = u16::from(first & 0xf) * 4;
        let whole = self.half(2).ok_or(short)?;
        if length < HEADER_LEN || length > whole {
            Err(header)
        } else if u64::from(whole) != self.payload {
            Err(total)
        } else {
            Ok(length)
        }
    }

    /// Offset in bytes of a fragment.
    fn fragment(&self) -> Option<u32> {
        let field = self.half(6)?;
        (field & 0x3fff != 0).then_some(u32::from(field & 0x1fff) * 8)
    }

    /// Checks the checksums of a packet with this sum of all bytes.
    fn checked(&self, sum: u64) -> Option<IpChecksum> {
        let length = self.header_len().ok()?;
        let header = usize::from(length);
        if ByteSums::of(self.bytes.get(..header)?) != 0 {
            return Some(IpChecksum::BadHeader);
        }
        let protocol = *self.bytes.get(9)?;
        if self.fragment().is_some() {
            return None;
        }
        match protocol {
            TCP if self.bytes.len() >= header + 20 => {}
            UDP if self.half(header + 6)? == 0 => return Some(IpChecksum::Absent),
            UDP if u64::from(self.half(header + 4)?) == self.payload - u64::from(length) => {}
            _ => return None,
        }
        let ends = ByteSums::of(self.bytes.get(12..20)?);
        let pseudo = ends + u64::from(protocol) + (self.payload - u64::from(length));
        // The header's own sum is zero.
        let is_good = (sum + pseudo).is_multiple_of(0xffff);
        Some(if is_good { IpChecksum::Good } else { IpChecksum::Bad })
    }

    /// Its row.
    pub fn row(&self) -> IpRow {
        let checksum = self.checksum.name();
        let header = match self.header_len() {
            Ok(header) => header,
            Err(fault) => return IpRow { checksum, fault: Some(fault), ..IpRow::default() },
        };
        let address = |at| self.number(at).map(|[a, b, c, d]: [u8; 4]| format!("{a}.{b}.{c}.{d}"));
        let protocol = self.bytes.get(9).copied();
        let offset = self.fragment();
        let mut row = IpRow {
            source: address(12),
            destination: address(16),
            protocol: protocol.map(|protocol| match protocol {
                TCP => "tcp",
                UDP => "udp",
                _ => "other",
            }),
            id: self.half(4),
            offset,
            data: Some(self.payload - u64::from(header)),
            checksum,
            ..IpRow::default()
        };
        let at = usize::from(header);
        let length = match protocol {
            Some(UDP) => 8,
            Some(TCP) => {
                let words = self.bytes.get(at + 12).map_or(0, |byte| u64::from(byte >> 4));
                if words < 5 { 0 } else { words * 4 }
            }
            Some(_) | None => 0,
        };
        if offset.is_none_or(|offset| offset == 0) && length > 0 {
            (row.source_port, row.destination_port) = (self.half(at), self.half(at + 2));
            row.data = row.data.map(|data| data.saturating_sub(length));
            if protocol == Some(TCP) {
                row.sequence = self.number(at + 4).map(u32::from_be_bytes);
                row.acknowledgment = self.number(at + 8).map(u32::from_be_bytes);
                row.window = self.half(at + 14);
                row.flags = self.bytes.get(at + 13).map(|flags| {
                    let set = FLAGS.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1);
                    set.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
                });
            }
        }
        row
    }
}

impl IpRow {
    /// The packet in a few words, behind its route.
    pub fn summary(&self) -> String {
        if let Some(fault) = self.fault {
            return format!("no IP: {fault}");
        }
        let end = |address: &Option<String>, port: Option<u16>| {
            let port = port.map_or_else(String::new, |port| format!(":{port}"));
            format!("{}{port}", address.as_deref().unwrap_or_default())
        };
        let mut words = vec![
            self.protocol.unwrap_or_default().to_owned(),
            end(&self.source, self.source_port),
            ">".to_owned(),
            end(&self.destination, self.destination_port),
        ];
        words.extend(self.flags.clone().map(|flags| flags.replace(' ', "+")));
        words.extend(self.sequence.map(|sequence| format!("seq {sequence}")));
        words.extend(self.acknowledgment.map(|number| format!("ack {number}")));
        words.extend(self.data.map(|data| format!("{data} bytes")));
        words.extend(self.offset.map(|offset| format!("at {offset} of {}", self.id.unwrap_or(0))));
        if self.checksum.starts_with("bad") {
            words.push(format!("checksum {}", self.checksum));
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071: the sum of the example is ddf2.
    #[test]
    fn sums_do_not_depend_on_the_parts() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(ByteSums::of(&bytes), 0xddf2);
        for cut in 0..=bytes.len() {
            let mut sums = ByteSums::default();
            sums.add(&bytes[..cut], 1);
            sums.add(&bytes[cut..], 1);
            sums.add(&[0x7e], 1);
            assert_eq!(sums.without_last(0x7e), 0xddf2);
            let (mut repeated, mut one_by_one) = (sums, sums);
            repeated.add(&bytes[..cut], 1001);
            (0..1001).for_each(|_| one_by_one.add(&bytes[..cut], 1));
            assert_eq!(repeated, one_by_one, "{cut}");
        }
    }

    #[test]
    fn headers_are_read_and_checked() {
        // UDP from 10.0.0.1:32768 to 10.0.0.2:1024 without data: the header's words sum to 9931, those of
        // pseudo header and UDP header to 9824.
        const UDP: [u8; 28] = [
            0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0x66, 0xce, 10, 0, 0, 1, 10, 0, 0, 2, 0x80, 0, 4,
            0, 0, 8, 0x67, 0xdb,
        ];
        type Change = fn(&mut Vec<u8>);
        let read = |change: Change| {
            let mut bytes = UDP.to_vec();
            change(&mut bytes);
            let mut sums = ByteSums::default();
            sums.add(&bytes, 1);
            sums.add(&[9], 1);
            ParsedIp::new(&bytes, bytes.len() as u64, (sums, 9, CrcCheck::Good)).row().summary()
        };
        let cases: [(Change, &str); 9] = [
            (|_| (), "udp 10.0.0.1:32768 > 10.0.0.2:1024 0 bytes"),
            (|b| b[27] ^= 1, "udp 10.0.0.1:32768 > 10.0.0.2:1024 0 bytes checksum bad"),
            (|b| b[8] = 1, "udp 10.0.0.1:32768 > 10.0.0.2:1024 0 bytes checksum bad-header"),
            (|b| b[26..].fill(0), "udp 10.0.0.1:32768 > 10.0.0.2:1024 0 bytes"),
            (
                |b| (b[6], b[10]) = (0x20, 0x46),
                "udp 10.0.0.1:32768 > 10.0.0.2:1024 0 bytes at 0 of 1",
            ),
            (|b| b.truncate(27), "no IP: total-length"),
            (|b| b.truncate(3), "no IP: cut-short"),
            (|b| b[0] = 0x44, "no IP: header-length"),
            (|b| b[0] = 0x65, "no IP: version"),
        ];
        for (change, expected) in cases {
            assert_eq!(read(change), expected);
        }
    }
}
