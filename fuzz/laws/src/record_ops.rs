//! Characters of one or two channels as a list of things to record: what the laws of the receiver and
//! of states are fed with. Two bytes each, so that what a fuzzer changes in one leaves the others as
//! they are.

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::character::Character;
use codec::chars::CharBuf;
use codec::time::Tick;

use crate::capture_input::OwnedChunk;
use crate::reference::crc;

/// Most periods of a channel, or little more. *Chosen*: a few states, gone through in some ten
/// microseconds.
const PERIODS_MAX: u64 = 1 << 8;

/// Rounds of a repeat at most. *Chosen*: more than twice the 16 of F-7.
const ROUNDS_MAX: u8 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordOp {
    Data(u8),
    Bytes(u8),
    /// A route byte, a tag, a payload of this length, a correct CRC byte, GAP.
    Packet(u8),
    Code(u8),
    Silence(u8),
    Fill(u8),
    /// The characters since the last cut are a chunk.
    Cut,
    Repeat(u8),
    /// Characters, and this number of missing ones after them.
    Hole(u8),
    Over,
}

impl<'a> Arbitrary<'a> for RecordOp {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self, Error> {
        let [kind, value]: [u8; 2] = bytes.arbitrary()?;
        Ok(match kind % 24 {
            0 | 1 => Self::Data(value),
            2 => Self::Bytes(1 + value % 24),
            3 => Self::Packet(value % 6),
            4 | 5 => Self::Code(0x0c),
            6 | 7 => Self::Code(0x03),
            8 | 9 => Self::Code(0x0f),
            10 => Self::Code(0x33),
            11 | 12 => Self::Code(value),
            13 => Self::Silence(1),
            14 => Self::Silence(1 + value % 20),
            15 => Self::Silence(15 + value % 3),
            16 => Self::Fill(1 + value % 12),
            17 | 18 => Self::Cut,
            19 => Self::Repeat(1 + value % ROUNDS_MAX),
            20 => Self::Hole(1 + value % 40),
            _ => Self::Over,
        })
    }
}

pub(crate) fn ops(bytes: &mut Unstructured<'_>) -> Vec<RecordOp> {
    let mut ops = Vec::with_capacity(bytes.len() / 2);
    while !bytes.is_empty() {
        ops.extend(bytes.arbitrary::<RecordOp>());
    }
    ops
}

#[derive(Clone, Debug, Default)]
struct ChannelRecording {
    next: u64,
    chars: CharBuf,
    chunks: Vec<OwnedChunk>,
}

impl ChannelRecording {
    fn cut(&mut self, count: Option<u64>) {
        if !self.chars.is_empty() {
            let chars = std::mem::take(&mut self.chars);
            let room = (PERIODS_MAX.saturating_sub(self.next) / chars.len() as u64).max(1);
            let count = count.map(|count| count.min(room));
            let chunk = OwnedChunk { first: Tick(self.next), chars, count };
            self.next = chunk.chunk().end().0;
            self.chunks.push(chunk);
        }
    }

    fn push(&mut self, character: Character, times: u8) {
        (0..times).for_each(|_| self.chars.push(character));
    }

    fn take(&mut self, op: RecordOp) {
        match op {
            RecordOp::Data(byte) => self.push(Character::Data(byte), 1),
            RecordOp::Bytes(count) => {
                (0..count).for_each(|byte| self.push(Character::Data(byte), 1));
            }
            RecordOp::Packet(payload) => {
                let bytes: Vec<u8> = [0x81, 0x05].into_iter().chain(0..payload).collect();
                self.chars.push_data(&bytes);
                self.push(Character::Data(crc(&bytes)), 1);
                self.push(Character::GAP, 1);
            }
            RecordOp::Code(code) => self.push(Character::Control(code), 1),
            RecordOp::Silence(count) => self.push(Character::IDLE, count),
            RecordOp::Fill(count) => (0..count).for_each(|_| {
                self.push(Character::GAP, 1);
                self.push(Character::Control(0x03), 1);
            }),
            RecordOp::Cut => self.cut(None),
            RecordOp::Repeat(count) => self.cut(Some(count.into())),
            RecordOp::Hole(missing) => {
                self.cut(None);
                self.next += u64::from(missing);
            }
            RecordOp::Over => {}
        }
    }
}

pub(crate) fn record_chunks(ops: &[RecordOp]) -> [Vec<OwnedChunk>; 2] {
    let (mut here, mut there) = (ChannelRecording::default(), ChannelRecording::default());
    for op in ops {
        if *op == RecordOp::Over {
            std::mem::swap(&mut here, &mut there);
        } else if here.next + here.chars.len() as u64 <= PERIODS_MAX {
            here.take(*op);
        }
    }
    if ops.iter().filter(|op| **op == RecordOp::Over).count() % 2 == 1 {
        std::mem::swap(&mut here, &mut there);
    }
    here.cut(None);
    there.cut(None);
    [here.chunks, there.chunks]
}
