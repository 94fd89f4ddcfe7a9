//! A channel whose characters go through levels: encoded to transitions, disturbed, and decoded by
//! the receiver's window. W-1 to W-3, W-8
//!
//! The receiver takes one character in each period. Transitions decoded from half a period before
//! the one at which a character is due, up to half a period after it, belong to that period; what a
//! receiver would take for two characters of one period is one, with the 1s of both. The window is
//! half a period of the sender: the receiver's own (W-3) differs from it by 1.25 ps at most, by W-6.

use codec::character::Character;
use codec::wires::{FS_PER_PS, WIRES, WindowDecoder, WireEncoder, WireTransition};

use super::{CableWires, DISTURBANCE_PS_MAX, SKEW_PS_MAX, WireDelays, WireFault};
use crate::rng::Rng;

/// The wires of a channel between its encoder and its decoder.
#[derive(Clone, Debug)]
pub(crate) struct DisturbedLine {
    /// Repeaters are between them.
    sections: Vec<LineSection>,
    /// Active faults, all in the last section, with their random numbers.
    faults: Vec<(WireFault, Rng)>,
    service: LineService,
    changed: Option<ChangedCharacter>,
}

/// A character that the wires have changed: its nine bits as sent and as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangedCharacter {
    pub(crate) sent: u16,
    pub(crate) received: u16,
}

/// Time for which a channel needs its levels.
#[derive(Clone, Copy, Debug)]
enum LineService {
    /// As long as it exists.
    Always,
    /// While faults last, and for this many more characters, after which its wires are at rest.
    Faults(u64),
}

/// A cable, or the part of one between two repeaters.
#[derive(Clone, Debug)]
struct LineSection {
    encoder: WireEncoder,
    decoder: WindowDecoder,
    period_fs: u64,
    /// Edge of `sendclk` that sends the next character.
    now_fs: u64,
    delays: WireDelays,
    polarity_ps: u32,
    jitter_ps: u32,
    rng: Rng,
    /// Levels of the wires as the sender drives them now, as they arrive at the far end, and as the
    /// receiver sees them there.
    sent: u16,
    driven: u16,
    seen: u16,
    transitions: Vec<WireTransition>,
}

impl DisturbedLine {
    /// The channel of a cable with the delays of its sections, given its character period.
    pub(crate) fn new(
        wires: &CableWires,
        delays: &[WireDelays],
        period_fs: u64,
        rng: &Rng,
    ) -> Self {
        let section = |delays: &WireDelays| LineSection {
            encoder: WireEncoder::new(period_fs, 0),
            decoder: WindowDecoder::new(period_fs / 2),
            period_fs,
            now_fs: 0,
            delays: *delays,
            polarity_ps: wires.polarity_ps,
            jitter_ps: wires.jitter_ps,
            rng: rng.clone(),
            sent: 0,
            driven: 0,
            seen: 0,
            transitions: Vec::new(),
        };
        let sections = delays.iter().map(section).collect();
        Self { sections, faults: Vec::new(), service: LineService::Always, changed: None }
    }

    /// A channel that has faults for a while.
    pub(crate) fn temporary(period_fs: u64) -> Self {
        let (wires, rng) = (CableWires::default(), Rng::new(0, 0));
        let line = Self::new(&wires, &[[0; WIRES]], period_fs, &rng);
        Self { service: LineService::Faults(0), ..line }
    }

    pub(crate) fn begin(&mut self, fault: WireFault, rng: Rng) {
        self.faults.push((fault, rng));
        let period = self.sections.last().map_or(0, |section| section.period_fs);
        if let LineService::Faults(left) = &mut self.service {
            let longest = (2 * DISTURBANCE_PS_MAX + SKEW_PS_MAX) * FS_PER_PS;
            *left = longest / period.max(1) + 2;
        }
    }

    pub(crate) fn end(&mut self, fault: WireFault) {
        let place = self.faults.iter().position(|(active, _)| *active == fault);
        if let Some(place) = place {
            self.faults.remove(place);
        }
    }

    /// Carries the character of a period to the receiver, without the open wires.
    pub(crate) fn carry(&mut self, bits: u16, closed: u16) -> u16 {
        let sent = bits & closed;
        let mut bits = sent;
        if let Some((last, others)) = self.sections.split_last_mut() {
            for section in others {
                bits = section.carry(bits, &mut Vec::new());
            }
            bits = last.carry(bits, &mut self.faults) & closed;
        }
        if let (LineService::Faults(left), true) = (&mut self.service, self.faults.is_empty()) {
            *left = left.saturating_sub(1);
        }
        let changed = ChangedCharacter { sent, received: bits };
        self.changed = (bits != sent).then_some(changed);
        bits
    }

    /// The last character carried, if it was changed.
    pub(crate) const fn take_changed(&mut self) -> Option<ChangedCharacter> {
        self.changed.take()
    }

    /// True if its characters need go through levels no longer.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.service, LineService::Faults(0))
            && self.faults.is_empty()
            && self.changed.is_none()
    }
}

impl LineSection {
    fn carry(&mut self, mut bits: u16, faults: &mut Vec<(WireFault, Rng)>) -> u16 {
        let mut received = 0;
        self.observe(WireTransition { time_fs: self.now_fs, wires: 0 }, faults, &mut received);
        let mut late = [0; WIRES];
        faults.retain_mut(|(fault, rng)| self.disturb(*fault, rng, (&mut bits, &mut late)));
        let delays: [u64; WIRES] = std::array::from_fn(|wire| {
            let jitter = self.rng.below(u64::from(self.jitter_ps) * FS_PER_PS + 1);
            self.delay_fs(wire) + jitter + late.get(wire).copied().unwrap_or_default()
        });
        let mut transitions = std::mem::take(&mut self.transitions);
        let delay = |wire: usize| delays.get(wire).copied().unwrap_or_default();
        let character = Character::from_bits(bits);
        self.encoder.send(character, delay, |transition| transitions.push(transition));
        self.sent ^= bits;
        self.now_fs = self.now_fs.saturating_add(self.period_fs);
        for transition in transitions.drain(..) {
            self.observe(transition, faults, &mut received);
        }
        self.transitions = transitions;
        if let Some((_, last)) = self.decoder.settle(self.now_fs) {
            received |= last.bits();
        }
        received
    }

    /// Applies a fault to the next character; returns false if it is over.
    fn disturb(
        &mut self,
        fault: WireFault,
        rng: &mut Rng,
        (bits, late): (&mut u16, &mut [u64; WIRES]),
    ) -> bool {
        match fault {
            WireFault::Short { .. } => {}
            WireFault::Glitch { wire, offset_ps, width_ps } => {
                let offset = self.delay_fs(wire.into()) + u64::from(offset_ps) * FS_PER_PS;
                self.glitch(wire, offset, width_ps);
                return false;
            }
            WireFault::MissedTransition { wire } => {
                let missed = *bits & 1 << wire;
                *bits ^= missed;
                return missed == 0;
            }
            WireFault::Crosstalk { from, to, mean, width_ps } => {
                if *bits & 1 << from != 0 && rng.below(mean) == 0 {
                    self.glitch(to, self.delay_fs(from.into()), width_ps);
                }
            }
            WireFault::SlowEdge { wire, late_ps } => {
                let late = late.get_mut(usize::from(wire));
                late.into_iter().for_each(|late| *late += u64::from(late_ps) * FS_PER_PS);
            }
        }
        true
    }

    /// Makes two false transitions.
    fn glitch(&mut self, wire: u8, offset_fs: u64, width_ps: u32) {
        let begin = self.now_fs.saturating_add(offset_fs);
        let end = begin.saturating_add(u64::from(width_ps) * FS_PER_PS);
        [begin, end].into_iter().for_each(|at| self.encoder.toggle(at, wire.into()));
    }

    /// Delay of a wire's next transition, without jitter.
    fn delay_fs(&self, wire: usize) -> u64 {
        let rises = self.sent & 1 << wire == 0;
        let skew = self.delays.get(wire).copied().unwrap_or_default();
        u64::from(skew + if rises { self.polarity_ps } else { 0 }) * FS_PER_PS
    }

    /// Brings a transition to the receiver, which adds the 1s of a character that it ends.
    fn observe(
        &mut self,
        transition: WireTransition,
        faults: &[(WireFault, Rng)],
        received: &mut u16,
    ) {
        self.driven ^= transition.wires;
        let levels = faults.iter().fold(self.driven, |levels, (fault, _)| match fault {
            WireFault::Short { wires: [one, other] } => {
                let both = 1 << one | 1 << other;
                if levels & both == both { levels } else { levels & !both }
            }
            WireFault::Glitch { .. }
            | WireFault::MissedTransition { .. }
            | WireFault::Crosstalk { .. }
            | WireFault::SlowEdge { .. } => levels,
        });
        let wires = levels ^ self.seen;
        self.seen = levels;
        if wires != 0
            && let Some((_, ended)) = self.decoder.receive(WireTransition { wires, ..transition })
        {
            *received |= ended.bits();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wires::WireSkew;

    const PERIOD_FS: u64 = 12_500_000;

    /// Characters that arrive of a text, one a period.
    fn carried(mut line: DisturbedLine, text: &str) -> Vec<u16> {
        let text = codec::notation::parse(text).unwrap();
        text.chars().iter().map(|sent| line.carry(sent.bits(), 0x1ff)).collect()
    }

    fn check(line: DisturbedLine, sent: &str, expected: &str) {
        let wanted = codec::notation::parse(expected).unwrap();
        let wanted: Vec<u16> = wanted.chars().iter().map(Character::bits).collect();
        assert_eq!(carried(line, sent), wanted, "{sent} -> {expected}");
    }

    fn faulty(fault: WireFault) -> DisturbedLine {
        let mut line = DisturbedLine::temporary(PERIOD_FS);
        line.begin(fault, Rng::new(7, 0));
        line
    }

    fn uneven(wires: CableWires) -> DisturbedLine {
        let delays = match wires.skew {
            WireSkew::Given(delays) => delays,
            WireSkew::UpTo(_) => [0; WIRES],
        };
        DisturbedLine::new(&wires, &[delays], PERIOD_FS, &Rng::new(7, 0))
    }

    /// W-8. The window is 6.25 ns, and `d` opens it at the edge of every byte. W-3
    #[test]
    fn a_glitch_hurts_one_wire_in_the_characters_of_its_two_transitions() {
        let glitch =
            |wire, offset_ps, width_ps| faulty(WireFault::Glitch { wire, offset_ps, width_ps });
        // A period long, from an edge on: the bit is inverted in both.
        check(glitch(0, 0, 12_500), "00 00 00", "01 01 00");
        check(glitch(0, 0, 12_500), "01 00 01", "00 01 01");
        check(glitch(0, 0, 12_500), "01 01 01", "00 00 01");
        check(glitch(8, 0, 12_500), "05 05 05", "!05 !05 05");
        check(glitch(0, 0, 25_000), "00 00 00", "01 00 01");
        // Within a window it is one 1 more; a wire that has its 1 already keeps it.
        check(glitch(0, 1_000, 5_250), "00 00", "01 00");
        check(glitch(0, 1_000, 5_250), "01 00", "01 00");
        check(glitch(0, 1_000, 5_251), "00 00", "01 01");
        // Where nothing is sent, it is a character inserted.
        check(glitch(3, 0, 5_000), "IDLE IDLE IDLE", "!08 IDLE IDLE");
        check(glitch(3, 6_249, 2_000), "IDLE IDLE IDLE", "!08 IDLE IDLE");
        check(glitch(3, 6_250, 2_000), "IDLE IDLE IDLE", "IDLE !08 IDLE");
        check(glitch(3, 0, 12_500), "IDLE IDLE IDLE", "!08 !08 IDLE");
    }

    /// W-8
    #[test]
    fn a_missed_transition_makes_one_error() {
        let missed = || faulty(WireFault::MissedTransition { wire: 0 });
        check(missed(), "00 01 01 00 01", "00 00 01 00 01");
    }

    /// W-3: a transition up to 6.25 ns after the first belongs to the character, a later one to the
    /// next.
    #[test]
    fn a_wire_that_is_later_than_the_window_falls_into_the_next_character() {
        let slow = |late_ps| faulty(WireFault::SlowEdge { wire: 0, late_ps });
        check(slow(6_250), "01 00 01 IDLE", "01 00 01 IDLE");
        check(slow(6_251), "01 00 01 IDLE", "00 01 00 !01");
        check(slow(6_251), "01 01 IDLE", "00 01 !01");
        // Two periods later.
        check(slow(18_751), "01 00 00 IDLE", "00 00 01 IDLE");
        // The first transition opens the window: a wire that is alone may be as late.
        check(slow(6_249), "!01 IDLE", "!01 IDLE");
        let mut skew = [3_000; WIRES];
        skew[0] = 9_250;
        let given = |skew| uneven(CableWires { skew: WireSkew::Given(skew), ..Default::default() });
        check(given(skew), "01 81 IDLE GAP 01", "01 81 IDLE GAP 01");
        skew[0] = 9_251;
        check(given(skew), "01 80 IDLE 01 01 IDLE", "00 81 IDLE 00 01 !01");
        // Rising edges are late: `d` of the first byte and wire 0 of the second.
        let late = CableWires { polarity_ps: 6_300, ..Default::default() };
        check(uneven(late), "00 01 IDLE", "IDLE 00 !01");
    }

    #[test]
    fn two_wires_that_touch_are_high_only_together() {
        let short = || faulty(WireFault::Short { wires: [0, 1] });
        // Levels of wires 1 and 0 as driven: 01, 11, 00, 10, 11.
        check(short(), "01 02 03 02 01", "00 03 03 00 03");
        check(short(), "84 03 03", "84 03 03");
        let mut line = short();
        let bits = |line: &mut DisturbedLine, bits| line.carry(bits, 0x1ff);
        assert_eq!(bits(&mut line, 0x101), 0x100);
        line.end(WireFault::Short { wires: [0, 1] });
        // Wire 0 returns to its level.
        assert_eq!([bits(&mut line, 0x100), bits(&mut line, 0x100)], [0x101, 0x100]);
    }

    #[test]
    fn crosstalk_gives_a_wire_the_transitions_of_another() {
        let fault = WireFault::Crosstalk { from: 8, to: 0, mean: 1, width_ps: 2_000 };
        check(faulty(fault), "00 01 GAP 02", "01 01 GAP 03");
        let rare = WireFault::Crosstalk { from: 8, to: 0, mean: 10, width_ps: 2_000 };
        let hurt = carried(faulty(rare), "00×10000").iter().filter(|bits| **bits == 0x101).count();
        assert!((900..1100).contains(&hurt), "{hurt}");
    }

    /// W-5
    #[test]
    fn an_open_wire_opens_no_window() {
        let mut wires = CableWires { skew: WireSkew::Given([7_000; WIRES]), ..Default::default() };
        if let WireSkew::Given(skew) = &mut wires.skew {
            skew[8] = 0;
        }
        let mut line = uneven(wires);
        // Without `d` the others are 7 ns late together, which is the next period.
        assert_eq!([0x155, 0, 0].map(|bits| line.carry(bits, 0xff)), [0, 0x55, 0]);
    }

    /// W-3, W-4
    #[test]
    fn skew_and_jitter_within_the_window_change_nothing() {
        let mut rng = Rng::new(7, 1);
        for round in 0..40 {
            let jitter_ps = u32::try_from(rng.below(3_000)).unwrap();
            let polarity_ps = u32::try_from(rng.below(1_500)).unwrap();
            let most = 6_250 - jitter_ps - polarity_ps;
            let skew = [(); WIRES].map(|()| u32::try_from(rng.below(u64::from(most) + 1)).unwrap());
            let (skew, ends) = (WireSkew::Given(skew), Default::default());
            let wires = CableWires { skew, jitter_ps, polarity_ps, ends, ..Default::default() };
            let mut line = uneven(wires);
            for _ in 0..2_000 {
                let bits = u16::try_from(rng.below(512)).unwrap();
                assert_eq!(line.carry(bits, 0x1ff), bits, "round {round}: {wires:?}");
                assert_eq!(line.take_changed(), None);
            }
        }
    }

    #[test]
    fn levels_are_left_when_the_last_fault_has_ended_and_the_wires_rest() {
        let fault = WireFault::SlowEdge { wire: 0, late_ps: 1_000_000 };
        let mut line = faulty(fault);
        assert_eq!(line.carry(1, 0x1ff), 0);
        assert!(!line.is_over());
        line.end(fault);
        // 1 µs is 80 periods.
        let arrived = (1..1000).find(|_| line.carry(0, 0x1ff) != 0);
        assert_eq!(arrived, Some(80));
        let changed = ChangedCharacter { sent: 0, received: 1 };
        assert_eq!(line.take_changed(), Some(changed));
        let rest = (0..1000).find(|_| line.carry(0, 0x1ff) == 0 && line.is_over());
        assert!(rest.is_some_and(|rest| rest < 200), "{rest:?}");
    }
}
