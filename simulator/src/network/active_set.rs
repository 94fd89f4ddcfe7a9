//! The parts of a network that are processed in a period. All others sleep (`sleep.rs`), or have
//! nothing to do.

use std::marker::PhantomData;

use super::schedule::PortEnd;
use crate::arena::{HostId, PartNumber, SwitchId, UnitId};

/// A set of parts, one bit each.
#[derive(Clone, Debug, Default)]
pub(super) struct PartSet<I> {
    words: Vec<u64>,
    number: PhantomData<I>,
}

impl<I: PartNumber> PartSet<I> {
    /// No part of `count`.
    fn none(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)], number: PhantomData }
    }

    pub(super) fn insert(&mut self, part: I) {
        *self.word(part) |= 1 << (part.place() % 64);
    }

    pub(super) fn remove(&mut self, part: I) {
        *self.word(part) &= !(1 << (part.place() % 64));
    }

    fn word(&mut self, part: I) -> &mut u64 {
        let word = self.words.get_mut(part.place() / 64);
        word.unwrap_or_else(|| unreachable!("{part:?} is beyond the parts of the set"))
    }

    #[inline]
    pub(super) fn contains(&self, part: I) -> bool {
        let part = part.place();
        self.words.get(part / 64).is_some_and(|word| word & 1 << (part % 64) != 0)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    #[inline]
    fn set_to(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }

    /// Removes the part with the lowest number.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<I> {
        let place = self.words.iter().position(|word| *word != 0)?;
        let word = self.words.get_mut(place)?;
        let part = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(I::at(place * 64 + part))
    }
}

/// The active ends of channels, by port, hosts and switches.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSet {
    pub(super) receiving: PartSet<UnitId>,
    pub(super) sending: PartSet<UnitId>,
    pub(super) hosts: PartSet<HostId>,
    /// Those that may have something to decide.
    pub(super) switches: PartSet<SwitchId>,
    /// Receivers and senders that have just done what they can do asleep.
    pub(super) calm_receivers: PartSet<UnitId>,
    pub(super) calm_senders: PartSet<UnitId>,
    /// Sleeping ends that must wake.
    marked: Vec<(PortEnd, UnitId)>,
    /// Buffer for the set that a phase iterates over.
    scratch: Vec<u64>,
}

impl ActiveSet {
    /// No part.
    pub(super) fn none(units: usize, hosts: usize, switches: usize) -> Self {
        Self {
            receiving: PartSet::none(units),
            sending: PartSet::none(units),
            hosts: PartSet::none(hosts),
            switches: PartSet::none(switches),
            calm_receivers: PartSet::none(units),
            calm_senders: PartSet::none(units),
            ..Self::default()
        }
    }

    /// Makes the parts of another set active, and no others.
    pub(super) fn set_to(&mut self, other: &Self) {
        self.receiving.set_to(&other.receiving);
        self.sending.set_to(&other.sending);
        self.hosts.set_to(&other.hosts);
        self.switches.set_to(&other.switches);
    }

    /// The active ends of a kind, by port.
    #[inline]
    pub(super) const fn ends(&mut self, end: PortEnd) -> &mut PartSet<UnitId> {
        match end {
            PortEnd::Receiver => &mut self.receiving,
            PortEnd::Sender => &mut self.sending,
        }
    }

    /// The ends of a kind that have just done what they can do asleep.
    #[inline]
    pub(super) const fn calm(&mut self, end: PortEnd) -> &mut PartSet<UnitId> {
        match end {
            PortEnd::Receiver => &mut self.calm_receivers,
            PortEnd::Sender => &mut self.calm_senders,
        }
    }

    /// Marks an end to be woken, if it sleeps.
    #[inline]
    pub(super) fn wake(&mut self, end: PortEnd, unit: UnitId) {
        if !self.ends(end).contains(unit) {
            self.marked.push((end, unit));
        }
    }

    #[inline]
    pub(super) fn next_marked(&mut self) -> Option<(PortEnd, UnitId)> {
        self.marked.pop()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.receiving.is_empty()
            && self.sending.is_empty()
            && self.hosts.is_empty()
            && self.switches.is_empty()
    }

    /// A copy of one of the sets, to be returned with [`Self::give_back`].
    #[inline]
    pub(super) fn take<I: PartNumber>(
        &mut self,
        set: impl FnOnce(&Self) -> &PartSet<I>,
    ) -> PartSet<I> {
        let mut copy = PartSet { words: std::mem::take(&mut self.scratch), number: PhantomData };
        copy.set_to(set(self));
        copy
    }

    #[inline]
    pub(super) fn give_back<I>(&mut self, set: PartSet<I>) {
        self.scratch = set.words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_hands_out_its_parts_in_order() {
        let mut set = PartSet::none(130);
        (0..130).for_each(|number| set.insert(UnitId(number)));
        let part = |number| UnitId(number);
        assert!((0..130).all(|number| set.contains(part(number))) && !set.contains(part(130)));
        (0..130).filter(|number| number % 43 != 0).for_each(|number| set.remove(part(number)));
        assert!(set.contains(part(86)) && !set.contains(part(87)) && !set.is_empty());
        let parts: Vec<_> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!((parts, set.is_empty()), ([0, 43, 86, 129].map(part).to_vec(), true));
    }

    #[test]
    fn only_sleeping_ends_are_woken() {
        let mut active = ActiveSet::none(3, 1, 1);
        active.sending.insert(UnitId(1));
        [0, 2].into_iter().for_each(|number| active.receiving.insert(UnitId(number)));
        active.wake(PortEnd::Receiver, UnitId(0));
        active.wake(PortEnd::Receiver, UnitId(1));
        active.wake(PortEnd::Sender, UnitId(1));
        let marked = [active.next_marked(), active.next_marked()];
        assert_eq!(marked, [Some((PortEnd::Receiver, UnitId(1))), None]);
    }
}
