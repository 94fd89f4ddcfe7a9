//! Checks of the wires of channels: open wires, and the measurements of recordings. W-3, W-5, W-6

use codec::character::DecodedCode;
use codec::packet::CrcCheck;
use codec::time::{CharacterPeriod, Tick};

use super::sink::FindingSink;
use super::{CheckedChannel, FindingChecks, FindingFact, FindingKind};
use crate::packet::{FrameEnd, ReceivedPacket};
use crate::totals::totals;

/// Codes that must lack a 1 on a wire that has none. *Chosen*: a wire that loses half of its 1s
/// loses so many in succession once in 2³².
const CODES_MIN: u64 = 32;
/// Different invalid codes without a data byte that show `d` to be open. *Chosen*: errors on one
/// wire turn the codes of fill into eight at most.
const INVALID_MIN: u32 = 32;
/// Different CRC bytes without a 1 on a wire that show it to be open. If a second wire had no 1
/// either, there would be 64 at most; in sound traffic half of all have it.
const CRC_MIN: u32 = 65;
/// Bad packets among those. *Chosen*
const BAD_MIN: u64 = 32;
/// Wires that only packets use, but for rare codes: the fill of the others shows them.
const PACKET_WIRES: u8 = 0xf0;
/// Number of the wire `d`. W-1
const D: u8 = 8;
/// Tolerance of an oscillator. W-6
const TOLERANCE_PPM: u64 = 100;

totals! {
    /// Occasions on which the wires of channels were checked.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WireCoverage {
        /// Channels with a measured skew. W-3
        pub skews: u64,
        /// Channels of which the samples are too far apart to tell whether their skew is too great. W-3
        pub vague_skews: u64,
        /// Comparisons of measured periods. W-6
        pub rates: u64,
        /// Hurt packets whose flipped bits, or inserted byte, are known. W-8
        pub located: u64,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ByteSet([u128; 2]);

impl ByteSet {
    fn insert(&mut self, byte: u8) {
        if let Some(half) = self.0.get_mut(usize::from(byte >> 7)) {
            *half |= 1 << (byte & 0x7f);
        }
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|half| half.count_ones()).sum()
    }
}

/// Signs that a wire is open, without a 1 on it since the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OpenSigns {
    count: u64,
    since: Tick,
    /// Different bytes among them.
    bytes: ByteSet,
    is_reported: bool,
}

impl OpenSigns {
    /// Adds signs, and returns the place of the first once there are enough.
    fn add(&mut self, at: Tick, count: u64, is_enough: impl Fn(&Self) -> bool) -> Option<Tick> {
        if self.count == 0 {
            self.since = at;
        }
        self.count = self.count.saturating_add(count);
        let proved = !self.is_reported && is_enough(self);
        self.is_reported |= proved;
        proved.then_some(self.since)
    }
}

/// Search for open wires by the codes of a channel. W-5
///
/// A code that is a symbol but for one cleared bit is a sign for that wire, an invalid code one for
/// `d`. A 1 on the wire refutes all signs before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenWireCodes {
    signs: [OpenSigns; 9],
    /// Wires with signs.
    pub(super) suspected: u16,
}

/// An open wire: its number, and the first sign.
pub(super) type OpenWire = (u8, Tick);

impl OpenWireCodes {
    #[inline]
    pub(super) fn data(&mut self, bytes: &[u8]) {
        if self.suspected != 0 {
            self.refute(1 << D | u16::from(bytes.iter().fold(0, |ones, byte| ones | byte)));
        }
    }

    /// Takes a control code other than IDLE; returns a wire that it proves to be open.
    #[inline]
    pub(super) fn code(&mut self, at: Tick, code: u8, decoded: DecodedCode) -> Option<OpenWire> {
        if self.suspected != 0 {
            self.refute(code.into());
        }
        let wire = match decoded {
            DecodedCode::Exact(_) => return None,
            DecodedCode::Corrected(symbol) => (symbol.code()? & !code).trailing_zeros(),
            DecodedCode::Invalid => u32::from(D),
        };
        self.suspected |= 1 << wire;
        let signs = self.signs.get_mut(wire as usize)?;
        let wire = u8::try_from(wire).ok()?;
        signs.bytes.insert(code);
        let is_enough = |signs: &OpenSigns| {
            if wire == D { signs.bytes.len() >= INVALID_MIN } else { signs.count >= CODES_MIN }
        };
        Some((wire, signs.add(at, 1, is_enough)?))
    }

    /// Adds what was added since `before` another `times` times: further rounds of a repeat.
    pub(super) fn repeat(&mut self, before: &Self, times: u64) -> Option<OpenWire> {
        let wires = (0..D).zip(self.signs.iter_mut().zip(&before.signs));
        let mut proved = None;
        for (wire, (signs, before)) in wires {
            // A 1 in the round would have moved the first sign.
            if before.count > 0 && signs.since == before.since {
                let more = (signs.count - before.count).saturating_mul(times);
                let since = signs.add(signs.since, more, |signs| signs.count >= CODES_MIN);
                proved = proved.or(since.map(|since| (wire, since)));
            }
        }
        proved
    }

    fn refute(&mut self, ones: u16) {
        let mut refuted = self.suspected & ones;
        self.suspected &= !ones;
        while refuted != 0 {
            if let Some(signs) = self.signs.get_mut(refuted.trailing_zeros() as usize) {
                *signs = OpenSigns::default();
            }
            refuted &= refuted - 1;
        }
    }
}

/// Search for open wires by the packets of a channel. W-5
///
/// Payload may lack a bit for ever: that of ASCII text has no 1 on wire 7. The CRC byte of varied
/// packets has none only if the wire is open, and then most of them are bad.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenWirePackets {
    signs: [OpenSigns; 8],
    suspected: u8,
}

impl OpenWirePackets {
    /// Takes a packet; returns a wire that it proves to be open.
    pub(super) fn packet(&mut self, packet: &ReceivedPacket) -> Option<OpenWire> {
        let ReceivedPacket { ones, crc_byte, check, ended_by, start, .. } = *packet;
        self.suspected &= !ones;
        let bad = match check {
            CrcCheck::Bad(_) if ended_by == FrameEnd::Gap => true,
            CrcCheck::Good if self.suspected != 0 => false,
            CrcCheck::Good | CrcCheck::Bad(_) | CrcCheck::Runt | CrcCheck::Partial => return None,
        };
        let wires = if bad { !ones & PACKET_WIRES } else { self.suspected };
        for (wire, signs) in (0..8).zip(&mut self.signs) {
            let bit = 1 << wire;
            if wires & bit == 0 {
                continue;
            }
            if self.suspected & bit == 0 {
                *signs = OpenSigns::default();
            }
            self.suspected |= bit;
            signs.bytes.insert(crc_byte);
            let is_enough =
                |signs: &OpenSigns| signs.count >= BAD_MIN && signs.bytes.len() >= CRC_MIN;
            if let Some(since) = signs.add(start, bad.into(), is_enough) {
                return Some((wire, since));
            }
        }
        None
    }
}

pub(super) fn open_wire(wire: u8) -> Vec<FindingFact> {
    vec![FindingFact::number("wire", wire.into())]
}

impl FindingChecks {
    /// Judges what was measured on the wires of the channels, at their end.
    pub(super) fn measurements(&mut self) {
        let Self { set, sides, .. } = self;
        let recorded = sides.iter().filter(|(_, side)| side.watch.first < side.wire.next());
        for (id, side) in recorded {
            let mut sink = FindingSink { set, channel: *id, period: side.period };
            side.judge_skew(&mut sink);
            side.judge_transitions(&mut sink);
            let peer = side.peer.filter(|peer| id < peer);
            let peer = peer.and_then(|peer| Some((peer, sides.get(&peer)?)));
            side.judge_rate(peer.map(|(_, peer)| &**peer), &mut sink);
        }
    }
}

impl CheckedChannel {
    /// Judges the longest character: less than a tenth of the window is left. W-3
    fn judge_skew(&self, sink: &mut FindingSink<'_>) {
        let (Some((skew, at)), Some(sample)) = (self.measured.skew, self.measured.sample_fs) else {
            return;
        };
        let window = self.measured.window_fs.unwrap_or_else(|| self.period.fs() / 2);
        let is_much = |skew: u64| u128::from(skew) * 10 > u128::from(window) * 9;
        let [least, most] = [skew.saturating_sub(sample), skew.saturating_add(sample)];
        let wires = &mut sink.seen().wires;
        let is_clear = is_much(least) || !is_much(most);
        *if is_clear { &mut wires.skews } else { &mut wires.vague_skews } += 1;
        if is_much(least) {
            let recorded = self.watch.first..self.wire.next();
            let at = at.filter(|at| recorded.contains(at)).unwrap_or(recorded.start);
            sink.note(FindingKind::SkewMargin, at, || {
                let picoseconds = |name, fs: u64| FindingFact::number(name, fs / 1000);
                vec![picoseconds("skew_ps", skew), picoseconds("window_ps", window)]
            });
        }
    }

    /// Repeats what the transitions of the wires proved. W-5, W-8
    fn judge_transitions(&self, sink: &mut FindingSink<'_>) {
        let at = self.watch.first;
        if let Some(glitches) = self.measured.glitches.filter(|glitches| *glitches > 0) {
            let count = || vec![FindingFact::number("glitches", glitches)];
            sink.note(FindingKind::WireGlitches, at, count);
        }
        if self.measured.forced == Some(true) {
            sink.note(FindingKind::ForcedImport, at, Vec::new);
        }
        let still = self.measured.still_wires.unwrap_or_default();
        for wire in (0..=D).filter(|wire| still >> wire & 1 == 1) {
            sink.note(FindingKind::StillWire, at, || open_wire(wire));
        }
    }

    /// Judges the period, against the nominal one and against that of the opposite channel. W-6
    fn judge_rate(&self, peer: Option<&Self>, sink: &mut FindingSink<'_>) {
        let Some(error) = self.measured.period_error_fs else { return };
        let nominal = self.measured.nominal.map(|nominal| (nominal, error, TOLERANCE_PPM));
        let peer = peer.and_then(|peer| {
            let error = error.saturating_add(peer.measured.period_error_fs?);
            Some((peer.period, error, 2 * TOLERANCE_PPM))
        });
        for (other, error, tolerance) in [nominal, peer].into_iter().flatten() {
            sink.seen().wires.rates += 1;
            if let Some(ppm) = beyond(self.period, other, error, tolerance) {
                let clock = if self.period.fs() < other.fs() { "fast" } else { "slow" };
                return sink.note(FindingKind::ClockOutOfTolerance, self.watch.first, || {
                    let limit = FindingFact::number("tolerance_ppm", tolerance);
                    vec![FindingFact::number("ppm", ppm), FindingFact::word("clock", clock), limit]
                });
            }
        }
    }
}

/// Difference of two periods in ppm, if it is certainly greater than the tolerance.
fn beyond(own: CharacterPeriod, other: CharacterPeriod, error: u64, tolerance: u64) -> Option<u64> {
    let apart = own.fs().abs_diff(other.fs());
    let ppm = |apart: u64| u128::from(apart) * 1_000_000;
    let limit = u128::from(other.fs()) * u128::from(tolerance);
    let is_beyond = ppm(apart.saturating_sub(error)) > limit;
    is_beyond.then(|| u64::try_from(ppm(apart) / u128::from(other.fs())).unwrap_or(u64::MAX))
}
