//! Makes mutated inputs whole again, so that a fuzzer gets past lengths and CRCs: the code under
//! test never skips a check.

use codec::chars::Chars;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::reference::{crc, decode_symbol};
use codec::character::{Character, Symbol};

/// Numbers that follow from a seed, the same on every machine.
#[derive(Clone, Debug)]
pub struct SeededRng(SplitMix64);

impl SeededRng {
    /// Seeded by bytes, all of which count (FNV-1a).
    pub fn new(seed: &[u8]) -> Self {
        let hash = seed.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(SplitMix64::seed_from_u64(hash))
    }

    /// Seeded by a name and a number.
    pub fn numbered(name: &[u8], number: u64) -> Self {
        Self::new(&[name, &number.to_le_bytes()].concat())
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below another; 0 below 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let roll = self.roll();
        if bound == 0 { 0 } else { roll % bound }
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.roll().to_le_bytes()[0]).collect()
    }

    /// As many bytes as the first number at least, and fewer than the sum of both.
    pub fn bytes_within(&mut self, least: u64, more: u64) -> Vec<u8> {
        let len = least + self.below(more);
        self.bytes(usize::try_from(len).unwrap_or_default())
    }
}

/// Number of random cases of a law: this one in `cargo test`, and a multiple of it in `cargo xtask laws`, which sets
/// the variable `MYRISCOPE_LAWS`.
#[expect(clippy::disallowed_methods, reason = "the extent of a run of tests is no input of a law")]
pub fn draws(count: u64) -> u64 {
    let times = std::env::var("MYRISCOPE_LAWS").ok().and_then(|times| times.parse().ok());
    count * times.unwrap_or(1)
}

/// Makes the version of a transport packet 1 and its kind one that there is, clears what must be 0
/// for it, and fits its lengths. Nothing is done where no length fits. T-7
pub fn repair_message(payload: &mut [u8]) {
    const KINDS: [u8; 5] = [0x10, 0x11, 0x12, 0x18, 0x19];
    let len = payload.len();
    let Some(first) = payload.first_mut() else { return };
    *first = if len == 14 {
        0x18 | *first & 1
    } else {
        KINDS.iter().copied().find(|kind| kind == first).unwrap_or(0x10 | *first & 1)
    };
    let (first, body) = (*first, len.saturating_sub(38));
    let mut change = |at: usize, to: &dyn Fn(u8) -> u8| {
        payload.iter_mut().skip(at).take(1).for_each(|byte| *byte = to(*byte));
    };
    if first >= 0x18 {
        change(1, &|flags| flags & 1);
        return change(7, &|reason| if first == 0x18 { 0 } else { 1 + reason % 4 });
    }
    let short = first == 0x10 && body.is_multiple_of(4) && body <= 32;
    let bulk = first == 0x12;
    change(0, &|kind| if short || bulk { kind } else { 0x11 });
    change(1, &|flags| flags & 7);
    change(7, &|_| 0);
    change(27, &|_| if short { u8::try_from(body / 4).unwrap_or(0) } else { 0 });
    (28..36).filter(|_| !bulk).for_each(|at| change(at, &|_| 0));
    // The whole of a bulk transfer is then longer than any piece.
    change(33, &|total| total | u8::from(bulk));
    let [high, low] = u16::try_from(body).unwrap_or(u16::MAX).to_be_bytes();
    change(36, &|_| high);
    change(37, &|_| low);
}

/// Makes a frame's last byte the CRC of the others. P-4
pub fn repair_crc(frame: &mut [u8]) {
    if let [body @ .., last] = frame
        && !body.is_empty()
    {
        *last = crc(body);
    }
}

/// Bytes of a chunk before its planes, if it is literal, and if it is a repeat.
const LITERAL_HEAD: usize = 16;
const REPEAT_HEAD: usize = 24;

/// Makes a payload a chunk: version, kind and length fit, a repeat has a round, and the frames
/// that a GAP ends have good CRCs. Nothing is done where no length fits.
pub fn repair_chunk(payload: &mut [u8]) {
    let Some(planes) = payload.len().checked_sub(LITERAL_HEAD) else { return };
    let repeat = payload.get(1).is_some_and(|kind| kind & 1 == 1)
        && (2..=72).contains(&planes.saturating_sub(REPEAT_HEAD - LITERAL_HEAD));
    let head = if repeat { REPEAT_HEAD } else { LITERAL_HEAD };
    let Some((head, planes)) = payload.split_at_mut_checked(head) else { return };
    // n characters take n + ⌈n/8⌉ bytes.
    let n = planes.len() * 8 / 9;
    let (Ok(length), true) = (u32::try_from(n), n > 0) else { return };
    let mut fields = vec![1, u8::from(repeat), 0, 0];
    fields.extend(length.to_le_bytes());
    head.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
    if let Some(count) = head.get_mut(LITERAL_HEAD..)
        && count.iter().all(|byte| *byte == 0)
        && let Some(low) = count.first_mut()
    {
        *low = 1;
    }
    let (low, d) = planes.split_at_mut(n);
    repair_frames(low, d);
}

/// Gives the frames that a GAP ends their CRC.
fn repair_frames(low: &mut [u8], d: &[u8]) {
    let before = low.to_vec();
    let Some(chars) = Chars::from_planes(&before, d) else { return };
    let mut frame: Vec<u8> = Vec::new();
    let mut last = None;
    for (at, character) in chars.iter().enumerate() {
        match character {
            Character::Data(byte) => {
                frame.push(byte);
                last = Some(at);
            }
            Character::Control(code) => {
                if decode_symbol(code).is_some_and(|(symbol, _)| symbol == Symbol::Gap) {
                    repair_crc(&mut frame);
                    let place = last.take().and_then(|last| low.get_mut(last));
                    place.into_iter().zip(frame.last()).for_each(|(to, from)| *to = *from);
                    frame.clear();
                }
            }
        }
    }
}

/// Makes a pcapng file's block lengths agree with each other and its packet blocks chunks.
pub fn repair_capture(file: &mut [u8]) {
    let big = matches!(file.get(8..12), Some([0x1a, 0x2b, 0x3c, 0x4d]));
    let read = |bytes: [u8; 4]| {
        if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    let write = |value: usize| {
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        if big { value.to_be_bytes() } else { value.to_le_bytes() }
    };
    let mut rest = file;
    while rest.len() >= 12 {
        let word = |at: usize| rest.get(at..).and_then(|from| from.first_chunk::<4>().copied());
        let kind = word(0).map_or(0, read);
        let asked = word(4).map_or(0, read) as usize;
        let fits = asked >= 12 && asked.is_multiple_of(4) && asked <= rest.len();
        let len = if fits { asked } else { rest.len() / 4 * 4 };
        let (block, after) = rest.split_at_mut(len);
        let mut put = |at: usize, value: [u8; 4]| {
            block.iter_mut().skip(at).zip(value).for_each(|(to, from)| *to = from);
        };
        put(4, write(len));
        put(len - 4, write(len));
        if kind == 6
            && let Some(room) = len.checked_sub(32)
        {
            let captured = (word_of(block, 20).map_or(0, read) as usize).min(room);
            let lengths = [write(captured), write(captured)].concat();
            block.iter_mut().skip(20).zip(lengths).for_each(|(to, from)| *to = from);
            repair_chunk(block.get_mut(28..28 + captured).unwrap_or_default());
        }
        rest = after;
    }
}

fn word_of(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..)?.first_chunk::<4>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use codec::capture::{CaptureItem, CaptureReader, Chunk, ReadProgress};
    use codec::framing::frames;
    use codec::packet::{CrcCheck, Packet};

    #[test]
    fn a_repaired_frame_is_a_good_packet() {
        let mut frame = [0x83, 0x05, 0xaa, 0x00];
        repair_crc(&mut frame);
        assert_eq!(Packet::parse(&frame).check, CrcCheck::Good);
    }

    #[test]
    fn a_repaired_message_parses_if_it_is_long_enough() {
        for len in [14, 38, 39, 42, 46, 300] {
            for first in 0..=u8::MAX {
                let mut payload = vec![0xff; len];
                payload[0] = first;
                repair_message(&mut payload);
                let parsed = codec::transport::TransportPacket::parse(&payload);
                let answer = payload[0] >= 0x18;
                assert_eq!(parsed.is_ok(), answer == (len == 14), "{first:#x} {len} {parsed:?}");
            }
        }
    }

    #[test]
    fn a_repaired_payload_is_a_chunk_of_good_packets() {
        for count in [None, Some(7)] {
            let mut payload = corpus::chunk("83 05 STOP aa 00 GAP 01 00 GAP!04 GO 77", count);
            payload[0] = 9;
            payload[4..8].fill(0xee);
            repair_chunk(&mut payload);
            let chunk = Chunk::parse(&payload).unwrap();
            let (chars, _) = chunk.content.parts();
            let checks: Vec<_> =
                frames(chars).map(|frame| Packet::parse(&frame.bytes).check).collect();
            assert_eq!(checks, [CrcCheck::Good, CrcCheck::Good, CrcCheck::Runt]);
        }
    }

    #[test]
    fn a_repaired_capture_is_read_to_its_end_without_a_fault() {
        let captures = corpus::inputs("capture").into_iter();
        for (name, mut file) in captures.filter(|(name, _)| name.starts_with("whole")) {
            let last = file.len() - 4;
            file[last] ^= 0x40;
            let version = file.windows(8).position(|head| head == [1, 0, 0, 0, 6, 0, 0, 0]);
            version.into_iter().for_each(|at| file[at..at + 8].fill(0xee));
            repair_capture(&mut file);
            let (mut reader, mut faults) = (CaptureReader::new(file.as_slice()), 0);
            let mut step = || reader.step(&mut |item| faults += u64::from(is_fault(&item)));
            while step().unwrap() == ReadProgress::More {}
            assert_eq!(faults, 0, "{name}");
        }
    }

    const fn is_fault(item: &CaptureItem<'_>) -> bool {
        matches!(item, CaptureItem::Fault(_))
    }
}
