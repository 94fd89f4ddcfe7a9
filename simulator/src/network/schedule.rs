//! The times at which sleeping parts wake: a wheel of the next periods, and a heap of later ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::arena::{HostId, SwitchId, UnitId};

/// Words of a bit for each period in the wheel. Twice as many bits fit into one word.
const WORDS: usize = 32;

/// Periods in the wheel. *Chosen*: longer than most packets.
const WHEEL: u64 = 64 * WORDS as u64;

/// The end of one of the two channels at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PortEnd {
    Receiver,
    Sender,
}

/// A part that wakes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WakingPart {
    /// An end of a channel, by port.
    End(PortEnd, UnitId),
    /// The switch input of a port, once the first byte of a packet is decoded. S-6
    Decoder(UnitId),
    /// A host.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// The times at which parts wake. Entries of parts that have woken since, or sleep until another
/// time, are not removed: who reads them must ignore them.
#[derive(Clone, Debug)]
pub(super) struct WakeSchedule {
    /// The entries of the periods from the last one read on, each at its time modulo their number.
    wheel: Vec<Vec<WakingPart>>,
    marks: PlaceMarks,
    /// All entries before this time have been read.
    read: u64,
    far: BinaryHeap<Reverse<(u64, WakingPart)>>,
}

impl Default for WakeSchedule {
    fn default() -> Self {
        let places = usize::try_from(WHEEL).unwrap_or_default();
        Self {
            wheel: vec![Vec::new(); places],
            marks: PlaceMarks::default(),
            read: 0,
            far: BinaryHeap::new(),
        }
    }
}

impl WakeSchedule {
    /// Adds an entry, not before the time of the last one read.
    #[inline]
    pub(super) fn add(&mut self, at: u64, part: WakingPart) {
        if at.saturating_sub(self.read) >= WHEEL {
            if at < u64::MAX {
                self.far.push(Reverse((at, part)));
            }
            return;
        }
        let place = place(at);
        if let Some(entries) = self.wheel.get_mut(place) {
            entries.push(part);
            self.marks.set(place);
        }
    }

    /// True if an entry of this time is kept apart until then, whatever becomes of its part.
    #[inline]
    pub(super) const fn is_far(&self, at: u64) -> bool {
        at.saturating_sub(self.read) >= WHEEL
    }

    /// The time of the next entry. Removes those of the next periods that do not hold.
    pub(super) fn next(&mut self, holds: impl Fn(u64, WakingPart) -> bool) -> u64 {
        let far = self.far.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        loop {
            let at = self.next_in_wheel();
            if at == u64::MAX {
                return far;
            }
            let place = place(at);
            #[expect(
                clippy::indexing_slicing,
                reason = "a place is less than the length of the wheel"
            )]
            let entries = &mut self.wheel[place];
            entries.retain(|part| holds(at, *part));
            if !entries.is_empty() {
                return at.min(far);
            }
            self.marks.clear(place);
        }
    }

    fn next_in_wheel(&self) -> u64 {
        let first = place(self.read);
        let distance = |place: usize| (place as u64).wrapping_sub(first as u64) % WHEEL;
        self.marks.next_from(first).map_or(u64::MAX, |place| self.read + distance(place))
    }

    /// Removes an entry whose time has come.
    #[inline]
    pub(super) fn pop(&mut self, now: u64) -> Option<WakingPart> {
        if let Some(Reverse((at, part))) = self.far.peek()
            && *at <= now
        {
            let part = *part;
            self.far.pop();
            return Some(part);
        }
        while self.read < now {
            let next = self.next_in_wheel();
            if next >= now {
                self.read = now;
                break;
            }
            self.read = next;
            if let Some(part) = self.pop_here() {
                return Some(part);
            }
            self.read += 1;
        }
        self.pop_here()
    }

    fn pop_here(&mut self) -> Option<WakingPart> {
        let place = place(self.read);
        let part = self.wheel.get_mut(place)?.pop();
        if part.is_none() {
            self.marks.clear(place);
        }
        part
    }
}

/// The places of the wheel that have entries: a bit each, and a bit for each word with such bits.
#[derive(Clone, Debug, Default)]
struct PlaceMarks {
    words: [u64; WORDS],
    used: u64,
}

impl PlaceMarks {
    fn set(&mut self, place: usize) {
        self.used |= 1 << (place / 64);
        if let Some(word) = self.words.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn clear(&mut self, place: usize) {
        if let Some(word) = self.words.get_mut(place / 64) {
            *word &= !(1 << (place % 64));
            self.used &= !(u64::from(*word == 0) << (place / 64));
        }
    }

    /// The first marked place from this one on, and behind the last one from 0 on.
    fn next_from(&self, first: usize) -> Option<usize> {
        let (number, word) = (first / 64, |number: usize| self.words.get(number).copied());
        let rest = word(number)? & u64::MAX << (first % 64);
        if rest != 0 {
            return Some(number * 64 + rest.trailing_zeros() as usize);
        }
        // The word of the first place comes last, for the places before that one.
        let next = (self.used | self.used << WORDS) >> (number + 1);
        let number = (number + 1 + next.trailing_zeros() as usize) % WORDS;
        (next != 0).then_some(number * 64 + word(number)?.trailing_zeros() as usize)
    }
}

fn place(at: u64) -> usize {
    usize::try_from(at % WHEEL).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_hold_are_read_in_order_of_time_near_and_far() {
        let mut schedule = WakeSchedule::default();
        let times = [0, 1, 63, 64, 700, WHEEL - 1, WHEEL, WHEEL + 1, 3 * WHEEL, 100_000, 100_000];
        for (number, at) in (0..).zip(times) {
            schedule.add(at, WakingPart::Host(HostId(number)));
        }
        schedule.add(u64::MAX, WakingPart::End(PortEnd::Receiver, UnitId(0)));
        let mut read = Vec::new();
        loop {
            let now = schedule.next(|at, _| at != 63);
            if now == u64::MAX {
                break;
            }
            while let Some(part) = schedule.pop(now) {
                read.push((now, part));
            }
            // A later entry in the place of an earlier one.
            if now == 700 {
                schedule.add(WHEEL + 64, WakingPart::End(PortEnd::Sender, UnitId(9)));
            }
        }
        read.sort();
        let expected = (0..).zip(times).map(|(number, at)| (at, WakingPart::Host(HostId(number))));
        let mut expected: Vec<_> = expected.filter(|(at, _)| *at != 63).collect();
        expected.push((WHEEL + 64, WakingPart::End(PortEnd::Sender, UnitId(9))));
        expected.sort();
        assert_eq!(read, expected);
    }
}
