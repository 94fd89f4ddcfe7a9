//! The characters in flight on one channel, and the faults of its wires. F-4 (§4.2)

use std::collections::VecDeque;
use std::num::NonZeroU32;

use codec::time::Ticks;

use crate::link::cell_cycle::CellCycle;
use crate::link::tagged_char::{PacketId, TaggedChar, move_cells};
use crate::rng::Rng;
use crate::wires::WireFault;
use crate::wires::line::{ChangedCharacter, DisturbedLine};

/// Kind of random bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitErrors {
    /// A 1 of any wire arrives as 0.
    Weaken,
    /// Any bit is inverted.
    Flip,
}

impl BitErrors {
    /// Names in scenarios.
    pub const WORDS: [(&str, Self); 2] = [("weaken", Self::Weaken), ("flip", Self::Flip)];
}

/// The wires of a channel: a delay line.
#[derive(Clone, Debug)]
pub struct ChannelWire {
    /// The characters in flight, the next one to arrive first.
    cells: VecDeque<TaggedChar>,
    /// Number of characters that arrived unseen before they were put here.
    ahead: u64,
    state: WireHealth,
    extras: Option<Box<WireExtras>>,
}

/// Rarely used state.
#[derive(Clone, Debug, Default)]
struct WireExtras {
    /// The packets whose first bytes are in flight.
    heads: VecDeque<PacketId>,
    damage: Option<WireDamage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WireHealth {
    /// Characters arrive unchanged.
    Sound,
    /// Characters may arrive changed.
    Damaged,
    /// Characters may be lost when sent, and may arrive changed.
    Cut,
}

/// The active faults of a channel.
#[derive(Clone, Debug, Default)]
struct WireDamage {
    /// Number of faults that cut it.
    cuts: u32,
    /// Number of faults that open each wire, whose bit arrives as 0. W-5
    open: [u32; 9],
    /// Times and inverted bits of single errors to come, in order of time.
    flips: VecDeque<(u64, u16)>,
    noise: Vec<RandomErrors>,
    /// GAPs at packet ends still to lose, and number of faults that lose every GAP.
    gaps: (u32, u32),
    /// The wires between encoder and decoder, if characters go through levels.
    line: Option<Box<DisturbedLine>>,
}

#[derive(Clone, Debug)]
struct RandomErrors {
    errors: BitErrors,
    mean: u64,
    /// Characters until the next error.
    left: u64,
    rng: Rng,
    until: u64,
}

/// The GAPs to lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostGaps {
    /// The next one that ends a packet.
    Next,
    /// All, until the fault ends.
    All,
}

impl ChannelWire {
    /// A silent channel, given its delay and its sender's character period.
    pub fn new(delay: Ticks, divisor: NonZeroU32) -> Self {
        // A character sent with the sender's m-th clock arrives `delay` periods later. If that is
        // no whole number of the sender's periods, one more is in flight before it arrives.
        let divisor = u64::from(divisor.get());
        let in_flight = delay.0.max(divisor * u64::from(delay.0 == 0)) / divisor;
        let in_flight = usize::try_from(in_flight).unwrap_or(usize::MAX);
        Self {
            cells: vec![TaggedChar::IDLE; in_flight].into(),
            ahead: 0,
            state: WireHealth::Sound,
            // Made when it is needed, so that it takes no memory where nothing is damaged.
            extras: None,
        }
    }

    /// The character that arrives now.
    #[inline]
    pub fn arrive(&mut self, now: u64) -> TaggedChar {
        let cell = self.cells.pop_front().unwrap_or(TaggedChar::IDLE);
        if self.state == WireHealth::Sound { cell } else { self.damaged(now, cell) }
    }

    /// The packet whose first byte has just arrived.
    pub fn head(&mut self) -> Option<PacketId> {
        self.extras.as_mut()?.heads.pop_front()
    }

    /// Sends the character of this period; returns it as it is on the wire.
    #[inline]
    pub fn put(&mut self, cell: TaggedChar) -> TaggedChar {
        let cell = if self.state == WireHealth::Cut { self.lose(cell) } else { cell };
        self.cells.push_back(cell);
        cell
    }

    /// Registers the packet that begins with the next character sent; returns false if it is lost.
    pub(crate) fn push_head(&mut self, packet: PacketId) -> bool {
        let aside = self.extras.get_or_insert_default();
        let sound = aside.damage.as_ref().is_none_or(|damage| damage.cuts == 0);
        if sound {
            aside.heads.push_back(packet);
        }
        sound
    }

    /// The characters in flight, the next one to arrive first.
    pub(crate) const fn cells(&self) -> &VecDeque<TaggedChar> {
        &self.cells
    }

    /// True if characters arrive unchanged, and all that are sent are put on the wire.
    #[inline]
    pub(crate) fn is_sound(&self) -> bool {
        self.state == WireHealth::Sound
    }

    /// Puts characters on a sound wire.
    pub(crate) fn put_all(&mut self, cells: &[TaggedChar]) {
        self.cells.extend(cells);
    }

    /// Moves the next characters to arrive to a list.
    pub(crate) fn take(&mut self, count: usize, to: &mut Vec<TaggedChar>) {
        move_cells(&mut self.cells, count, to);
    }

    /// The character on the wire after one is sent that ends no packet.
    pub(crate) fn after_loss(&self, cell: TaggedChar) -> TaggedChar {
        let lost = self.damage_ref().is_some_and(|damage| {
            damage.cuts > 0 || cell.bits() == TaggedChar::GAP.bits() && damage.gaps.1 > 0
        });
        if lost { TaggedChar::IDLE } else { cell }
    }

    /// The character that arrives without random errors, if that is always the same.
    pub(crate) fn after_damage(&self, cell: TaggedChar) -> Option<TaggedChar> {
        let Some(damage) = self.damage_ref() else { return Some(cell) };
        let same = damage.flips.is_empty() && damage.line.is_none();
        same.then(|| cell.with_bits(damage.mask(cell.bits())))
    }

    /// Number of characters before the next random error, and the earliest end of its sources.
    pub(crate) fn until_next_error(&self) -> Option<(u64, u64)> {
        let noise = &self.damage_ref()?.noise;
        let left = noise.iter().map(|noise| noise.left.saturating_sub(1)).min()?;
        Some((left, noise.iter().map(|noise| noise.until).min()?))
    }

    /// Removes arriving characters that the receiver ignores; they may be put here later. None of
    /// them has a random error.
    pub(crate) fn skip(&mut self, characters: u64) {
        for noise in self.damage_mut().into_iter().flat_map(|damage| &mut damage.noise) {
            noise.left = noise.left.saturating_sub(characters);
        }
        let here = usize::try_from(characters).unwrap_or(usize::MAX).min(self.cells.len());
        self.cells.drain(..here);
        self.ahead += characters - here as u64;
    }

    /// Puts characters that come again and again on the wire, in the periods of the sender from
    /// `first` to before `end`.
    pub(crate) fn fill(&mut self, cycle: &CellCycle, first: u64, end: u64) {
        let seen = self.ahead.min(end - first);
        self.ahead -= seen;
        self.cells.extend((first + seen..end).map(|period| cycle.at(period)));
    }

    /// Number of packets whose first bytes are in flight.
    pub(crate) fn heads(&self) -> usize {
        self.extras.as_ref().map_or(0, |aside| aside.heads.len())
    }

    fn damage_ref(&self) -> Option<&WireDamage> {
        self.extras.as_ref().and_then(|aside| aside.damage.as_ref())
    }

    fn damage_mut(&mut self) -> Option<&mut WireDamage> {
        self.extras.as_mut().and_then(|aside| aside.damage.as_mut())
    }

    fn lose(&mut self, cell: TaggedChar) -> TaggedChar {
        let Some(damage) = self.damage_mut() else { return cell };
        let (next, all) = damage.gaps;
        if damage.cuts > 0 || cell.bits() == TaggedChar::GAP.bits() && all > 0 {
            return TaggedChar::IDLE;
        }
        if next > 0 && cell.is_end() {
            damage.gaps.0 -= 1;
            self.update_state();
            return TaggedChar::IDLE;
        }
        cell
    }

    fn damaged(&mut self, now: u64, cell: TaggedChar) -> TaggedChar {
        let Some(damage) = self.damage_mut() else { return cell };
        let mut bits = cell.bits();
        for noise in &mut damage.noise {
            bits = noise.step(bits);
        }
        while let Some((_, flip)) = damage.flips.pop_front_if(|(at, _)| *at <= now) {
            bits ^= flip;
        }
        let closed = damage.mask(0x1ff);
        bits = match &mut damage.line {
            Some(line) => line.carry(bits, closed),
            None => bits & closed,
        };
        damage.noise.retain(|noise| noise.until > now);
        self.update_state();
        cell.with_bits(bits)
    }

    fn update_state(&mut self) {
        let Some(aside) = &mut self.extras else { return };
        let Some(damage) = &mut aside.damage else { return };
        damage.line.take_if(|line| line.is_over());
        let changing = damage.line.is_some()
            || !damage.flips.is_empty()
            || !damage.noise.is_empty()
            || damage.open.iter().any(|faults| *faults > 0);
        self.state = if damage.cuts > 0 || damage.gaps != (0, 0) {
            WireHealth::Cut
        } else if changing {
            WireHealth::Damaged
        } else {
            aside.damage = None;
            WireHealth::Sound
        };
    }

    fn damage(&mut self, change: impl FnOnce(&mut WireDamage)) {
        change(self.extras.get_or_insert_default().damage.get_or_insert_default());
        self.update_state();
    }

    /// Cuts the wire and loses the characters in flight; returns the packets that began there.
    pub fn cut(&mut self) -> VecDeque<PacketId> {
        self.damage(|damage| damage.cuts += 1);
        self.cells.iter_mut().for_each(|cell| *cell = TaggedChar::IDLE);
        self.extras.as_mut().map(|aside| std::mem::take(&mut aside.heads)).unwrap_or_default()
    }

    /// Ends one cut.
    pub(crate) fn mend(&mut self) {
        self.damage(|damage| damage.cuts = damage.cuts.saturating_sub(1));
    }

    /// Opens one of the nine wires, 8 being `d`. W-5
    pub fn open(&mut self, wire: u8) {
        self.damage(|damage| {
            damage.open.iter_mut().skip(wire.into()).take(1).for_each(|n| *n += 1);
        });
    }

    /// Closes a wire.
    pub fn close(&mut self, wire: u8) {
        let closed = |faults: &mut u32| *faults = faults.saturating_sub(1);
        self.damage(|damage| damage.open.iter_mut().skip(wire.into()).take(1).for_each(closed));
    }

    /// Makes characters go through levels.
    pub(crate) fn set_line(&mut self, line: DisturbedLine) {
        self.damage(|damage| damage.line = Some(Box::new(line)));
    }

    /// Begins a fault of the levels, given the character period.
    pub(crate) fn disturb(&mut self, fault: WireFault, period_fs: u64, rng: Rng) {
        self.damage(|damage| {
            let line = || Box::new(DisturbedLine::temporary(period_fs));
            damage.line.get_or_insert_with(line).begin(fault, rng);
        });
    }

    /// Ends a fault of the levels.
    pub(crate) fn end_disturbance(&mut self, fault: WireFault) {
        self.damage(|damage| damage.line.iter_mut().for_each(|line| line.end(fault)));
    }

    /// The character that has just arrived, if the levels of the wires have changed it.
    pub(crate) fn take_changed(&mut self) -> Option<ChangedCharacter> {
        self.damage_mut()?.line.as_mut()?.take_changed()
    }

    /// Inverts bits of the first character that arrives from a period on. Called in order of time.
    pub(crate) fn flip(&mut self, at: u64, bits: u16) {
        self.damage(|damage| damage.flips.push_back((at, bits)));
    }

    /// Adds random errors, `mean` characters apart, until a period.
    pub(crate) fn noise(&mut self, errors: BitErrors, mean: u64, until: u64, mut rng: Rng) {
        let left = rng.exponential(mean);
        self.damage(|damage| damage.noise.push(RandomErrors { errors, mean, left, rng, until }));
    }

    pub(crate) fn lose_gaps(&mut self, which: LostGaps) {
        self.damage(|damage| match which {
            LostGaps::Next => damage.gaps.0 += 1,
            LostGaps::All => damage.gaps.1 += 1,
        });
    }

    pub(crate) fn stop_losing_gaps(&mut self) {
        self.damage(|damage| damage.gaps.1 = damage.gaps.1.saturating_sub(1));
    }
}

impl WireDamage {
    /// The bits that open wires leave.
    fn mask(&self, bits: u16) -> u16 {
        let open = self.open.iter().enumerate().filter(|(_, faults)| **faults > 0);
        open.fold(bits, |bits, (wire, _)| bits & !(1 << wire))
    }
}

impl RandomErrors {
    fn step(&mut self, bits: u16) -> u16 {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return bits;
        }
        self.left = self.rng.exponential(self.mean);
        match self.errors {
            BitErrors::Flip => bits ^ 1 << self.rng.below(9),
            BitErrors::Weaken => {
                // One of the 1s, all alike. IDLE has none to lose.
                let ones = u64::from(bits.count_ones());
                let lost = self.rng.below(ones);
                let mut wires = (0..9).filter(|wire| bits & 1 << wire != 0);
                let wire = usize::try_from(lost).ok().and_then(|lost| wires.nth(lost));
                bits & !wire.map_or(0, |wire| 1 << wire)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::clock::PortClock;
    use crate::node::NodeId;
    use codec::CharBuf;

    fn link(delay: u64, divisor: u32) -> (Ticks, NonZeroU32) {
        (Ticks(delay), NonZeroU32::new(divisor).unwrap())
    }

    /// The times and texts of the arriving characters other than IDLE; each GAP of the text ends a
    /// packet.
    fn check(
        (delay, divisor): (Ticks, NonZeroU32),
        text: &str,
        damage: impl FnOnce(&mut ChannelWire),
    ) -> Vec<(u64, String)> {
        let (mut wire, clock) =
            (ChannelWire::new(delay, divisor), PortClock::new(delay, [divisor; 2]));
        damage(&mut wire);
        let text = codec::notation::parse(text).unwrap();
        let mut cells = text.chars().iter().map(|character| {
            let cell = TaggedChar::of(character);
            if cell == TaggedChar::GAP { TaggedChar::END } else { cell }
        });
        let mut arrived = Vec::new();
        for now in 0..100 {
            if clock.receive_slot(now).is_some() {
                let cell = wire.arrive(now);
                if cell.bits() != 0 {
                    arrived.push((now, cell.character().to_string()));
                }
            }
            if clock.send_slot(now).is_some() {
                wire.put(cells.next().unwrap_or(TaggedChar::IDLE));
            }
        }
        arrived
    }

    fn row(at: u64, text: &str) -> (u64, String) {
        (at, text.to_owned())
    }

    #[test]
    fn a_character_arrives_after_the_delay() {
        let sound = |_: &mut ChannelWire| ();
        assert_eq!(check(link(1, 1), "83 05", sound), [row(1, "83"), row(2, "05")]);
        assert_eq!(check(link(12, 1), "83 05", sound), [row(12, "83"), row(13, "05")]);
        // At a fourth of the rate they go out in periods 0 and 4.
        for delay in 1..20 {
            let expected = [row(delay, "83"), row(delay + 4, "05")];
            assert_eq!(check(link(delay, 4), "83 05", sound), expected);
        }
    }

    #[test]
    fn an_open_wire_brings_no_ones() {
        // W-5: 0x83 without its bit 7 is 0x03; without d, data is control, here GO and an invalid code.
        let open = |number| move |wire: &mut ChannelWire| wire.open(number);
        assert_eq!(check(link(1, 1), "83 05", open(7)), [row(1, "03"), row(2, "05")]);
        assert_eq!(check(link(1, 1), "03 85", open(8)), [row(1, "GO"), row(2, "!85")]);
        let mended = |wire: &mut ChannelWire| {
            wire.open(7);
            wire.close(7);
        };
        assert_eq!(check(link(1, 1), "83", mended), [row(1, "83")]);
    }

    #[test]
    fn the_next_gap_that_ends_a_packet_is_lost_or_all_of_them() {
        let next = |wire: &mut ChannelWire| wire.lose_gaps(LostGaps::Next);
        assert_eq!(
            check(link(1, 1), "83 GAP 05 GAP", next),
            [row(1, "83"), row(3, "05"), row(4, "GAP")]
        );
        let all = |wire: &mut ChannelWire| wire.lose_gaps(LostGaps::All);
        assert_eq!(check(link(1, 1), "83 GAP 05 GAP", all), [row(1, "83"), row(3, "05")]);
    }

    #[test]
    fn single_errors_and_noise_change_what_arrives() {
        // 0x83 with bits 0 and 8 inverted: control code 0x82.
        let flip = |wire: &mut ChannelWire| wire.flip(2, 0x101);
        assert_eq!(
            check(link(1, 1), "83 83 83", flip),
            [row(1, "83"), row(2, "!82"), row(3, "83")]
        );
        // An error in every character: each loses one of its 1s, so 0x100 loses d.
        let weak = |wire: &mut ChannelWire| wire.noise(BitErrors::Weaken, 1, 50, Rng::new(1, 1));
        assert_eq!(check(link(1, 1), "00 00", weak), []);
    }

    #[test]
    fn a_cut_loses_what_is_in_flight_and_what_is_sent() {
        let (delay, divisor) = link(5, 1);
        let mut wire = ChannelWire::new(delay, divisor);
        let id = PacketId { host: NodeId(0), number: 0 };
        assert!(wire.push_head(id));
        let step = |wire: &mut ChannelWire, cell| {
            let character = wire.arrive(0).character();
            wire.put(cell);
            character
        };
        step(&mut wire, TaggedChar::data(0x83).as_head());
        assert_eq!(wire.cut(), [id]);
        assert!(!wire.push_head(id));
        step(&mut wire, TaggedChar::data(0x83).as_head());
        wire.mend();
        step(&mut wire, TaggedChar::data(0x05));
        let arrived: CharBuf = (0..5).map(|_| step(&mut wire, TaggedChar::IDLE)).collect();
        assert_eq!(arrived.to_string(), "IDLE×4 05");
        assert_eq!(wire.heads(), 0);
    }

    #[test]
    fn a_cable_that_two_faults_cut_is_whole_when_both_have_ended() {
        let cut = |mended: usize| {
            move |wire: &mut ChannelWire| {
                (0..2).for_each(|_| drop(wire.cut()));
                (0..mended).for_each(|_| wire.mend());
            }
        };
        assert_eq!(check(link(1, 1), "83", cut(1)), []);
        assert_eq!(check(link(1, 1), "83", cut(2)), [row(1, "83")]);
    }
}
