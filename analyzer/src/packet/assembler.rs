//! Assembles a packet from runs of its bytes.

use std::sync::Arc;

use codec::Chars;
use codec::framing::LinkRules;
use codec::packet::{CappedBytes, CrcCheck, PacketDialect, PacketParser, PacketTag};
use codec::time::Tick;

use super::lost_gap::LostGapSearch;
use super::{
    ByteRetention, COMPARED_MAX, FRONT_MAX, FrameEnd, PacketFront, REPETITION_MAX, ReceivedPacket,
    StartCoverage,
};
use crate::packet::transport::HeaderBytes;

/// An arriving packet.
#[derive(Clone, Debug)]
pub(crate) struct PacketAssembler {
    opening: StartCoverage,
    pub(crate) start: Tick,
    end: Tick,
    parser: PacketParser,
    front: PacketFront,
    /// Position of a possible lost GAP, until data follows.
    pause: Option<Tick>,
    possible_gap: Option<Tick>,
    bytes: Option<CappedBytes>,
    retention: ByteRetention,
    last: u8,
    ones: u8,
    /// First bytes behind a tag of the reliability protocol, of mapping, of IP or of answers of switches.
    header: Option<HeaderBytes>,
}

impl PacketAssembler {
    pub(crate) fn new(start: Tick, opening: StartCoverage, bytes: ByteRetention) -> Self {
        Self {
            opening,
            start,
            end: start,
            parser: PacketParser::default(),
            front: PacketFront::EMPTY,
            pause: None,
            possible_gap: None,
            bytes: (bytes != ByteRetention::Forget).then(CappedBytes::default),
            retention: bytes,
            last: 0,
            ones: 0,
            header: None,
        }
    }

    /// Adds consecutive bytes, at least one.
    #[inline]
    pub(crate) fn add(&mut self, at: Tick, data: &[u8]) {
        let had_tag = self.parser.tag().is_some();
        let behind_tag = self.parser.feed(data);
        if !had_tag {
            let tag = self.parser.tag().map(PacketTag::value);
            self.header = tag.and_then(HeaderBytes::of);
        }
        if let Some(header) = &mut self.header {
            header.add(behind_tag);
        }
        self.last = data.last().copied().unwrap_or(self.last);
        self.ones = data.iter().fold(self.ones, |ones, byte| ones | byte);
        self.front.add(data);
        if let Some(pause) = self.pause.take() {
            self.possible_gap.get_or_insert(pause);
        }
        self.end = Tick(at.0 + data.len() as u64 - 1);
        self.limit_bytes(data.len() as u64, COMPARED_MAX);
        if let Some(bytes) = &mut self.bytes {
            bytes.push(data);
        }
    }

    /// Drops the bytes for the comparison if there are too many with `more` of them, or too many of those.
    fn limit_bytes(&mut self, more: u64, more_max: u64) {
        let is_long =
            |bytes: &mut CappedBytes| more > more_max || bytes.count() + more > COMPARED_MAX;
        if self.retention == ByteRetention::Compare {
            self.bytes.take_if(is_long);
        }
    }

    /// Adds further iterations of a repeat: the bytes `data` of a pattern, `count` times.
    pub(crate) fn pass_over(
        &mut self,
        at: Tick,
        (pattern, data): (Chars<'_>, &[u8]),
        count: u64,
        rules: LinkRules,
    ) {
        if !data.is_empty() && count > 0 {
            let crc = self.parser.residue().crc();
            let (pause, possible_gap) = (self.pause, self.possible_gap);
            let mut search = LostGapSearch { crc, pause, possible_gap, rules };
            search.pass(pattern, at, count);
            (self.pause, self.possible_gap) = (search.pause, search.possible_gap);
        }
        self.add_repeated(data, count, pattern.len() as u64 * count);
    }

    /// Adds the same bytes `count` times, which moves the last byte by `later` characters.
    fn add_repeated(&mut self, data: &[u8], count: u64, later: u64) {
        self.parser.feed_repeated(data, count);
        if let Some(header) = &mut self.header {
            header.add_repeated(data, count);
        }
        if !data.is_empty() {
            let rounds = usize::try_from(count).unwrap_or(FRONT_MAX).min(FRONT_MAX);
            (0..rounds).for_each(|_| self.front.add(data));
            self.end = Tick(self.end.0 + later);
        }
        self.limit_bytes(count.saturating_mul(data.len() as u64), REPETITION_MAX);
        if let Some(bytes) = &mut self.bytes {
            bytes.push_repeated(data, count);
        }
    }

    /// Notes a character that is no symbol: a GAP may have been lost here. P-1
    pub(crate) fn pause(&mut self, at: Tick) {
        let (length, crc) = (self.parser.length(), self.parser.residue().crc());
        if self.pause.is_none() && length > 1 && crc.syndrome() == 0 {
            self.pause = Some(at);
        }
    }

    /// Moves the packet to a later iteration of a repeat.
    pub(crate) fn shift(&mut self, later: u64) {
        self.start.0 += later;
        self.end.0 += later;
        for at in [&mut self.pause, &mut self.possible_gap].into_iter().flatten() {
            at.0 += later;
        }
    }

    #[inline]
    pub(crate) fn close(self, number: u64, ended_by: FrameEnd) -> Box<ReceivedPacket> {
        let packet = self.parser.finish();
        let (body, payload) = (packet.body(), packet.payload());
        let is_cut_off = matches!(ended_by, FrameEnd::Hole | FrameEnd::CaptureEnd);
        let is_begun = self.opening == StartCoverage::Unsure && packet.check != CrcCheck::Good;
        let check = if is_cut_off || is_begun { CrcCheck::Partial } else { packet.check };
        let header =
            self.header.filter(|_| packet.tag.is_some() && !self.opening.is_headless(check));
        let transport = header.as_ref().and_then(|it| it.transport(payload, check, body));
        let ip = header.as_ref().and_then(|it| it.ip(payload, self.last, check));
        let switches = header.as_ref().and_then(|it| it.switches(payload));
        let mapping = header.and_then(|it| it.mapping(packet.route.bytes(), payload, check));
        Box::new(ReceivedPacket {
            number,
            start: self.start,
            end: self.end,
            length: packet.length,
            route: packet.route,
            front: self.front,
            tag: packet.tag,
            body,
            opening: self.opening,
            check,
            crc_byte: self.last,
            ones: self.ones,
            ended_by,
            possible_gap: self.possible_gap,
            bytes: self.bytes.map(Arc::new),
            transport,
            mapping,
            ip,
            switches,
            dialect: PacketDialect::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use codec::packet::CAPPED_BYTES_MAX;

    use super::*;

    #[test]
    fn bytes_of_a_long_packet_that_are_not_kept_are_counted() {
        let mut packet = PacketAssembler::new(Tick(0), StartCoverage::Seen, ByteRetention::Keep);
        packet.add(Tick(0), &[0x80, 0x81]);
        let rounds = CAPPED_BYTES_MAX as u64;
        packet.add_repeated(&[0x80, 0x81], rounds - 1, 2 * (rounds - 1));
        packet.add(Tick(2 * rounds), &[0x05, 0xaa, 0x00]);
        let packet = packet.close(0, FrameEnd::Gap);
        let row = packet.row("a>b");
        assert_eq!((row.start, row.end, row.length), (0, 2 * rounds + 2, 2 * rounds + 3));
        // The route has twice as many bytes as are kept; tag, one byte and the CRC byte follow.
        assert_eq!((row.route.len() as u64, row.route_left_out), (rounds, rounds));
        assert_eq!((row.tag, row.payload), (Some(5), 1));
        assert_eq!(row.bytes.map(|hex| hex.0.len()), Some(CAPPED_BYTES_MAX));
        assert_eq!(row.bytes_left_out, rounds + 3);
        assert_eq!(row.route.iter().take(3).copied().collect::<Vec<_>>(), [0x80, 0x81, 0x80]);
    }
}
