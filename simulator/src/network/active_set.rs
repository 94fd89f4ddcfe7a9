//! The parts of a network that are processed in a period. All others sleep (`sleep.rs`), or have
//! nothing to do.

use super::schedule::PortEnd;

/// A set of part indices, one bit each.
#[derive(Clone, Debug, Default)]
pub(super) struct PartSet(Vec<u64>);

impl PartSet {
    /// The indices below `count`.
    pub(super) fn all(count: usize) -> Self {
        let mut set = Self(vec![0; count.div_ceil(64)]);
        (0..count).for_each(|part| set.insert(part));
        set
    }

    pub(super) fn insert(&mut self, part: usize) {
        self.0.get_mut(part / 64).into_iter().for_each(|word| *word |= 1 << (part % 64));
    }

    pub(super) fn remove(&mut self, part: usize) {
        self.0.get_mut(part / 64).into_iter().for_each(|word| *word &= !(1 << (part % 64)));
    }

    #[inline]
    pub(super) fn contains(&self, part: usize) -> bool {
        self.0.get(part / 64).is_some_and(|word| word & 1 << (part % 64) != 0)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline]
    fn set_to(&mut self, other: &Self) {
        self.0.resize(other.0.len(), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word = *other);
    }

    /// Removes the lowest index.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<usize> {
        let place = self.0.iter().position(|word| *word != 0)?;
        let word = self.0.get_mut(place)?;
        let part = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(place * 64 + part)
    }
}

/// The active ends of channels, by port, hosts and switches.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSet {
    pub(super) receiving: PartSet,
    pub(super) sending: PartSet,
    pub(super) hosts: PartSet,
    /// Those that may have something to decide.
    pub(super) switches: PartSet,
    /// Receivers and senders that have just done what they can do asleep.
    pub(super) calm_receivers: PartSet,
    pub(super) calm_senders: PartSet,
    /// Sleeping ends that must wake.
    marked: Vec<(PortEnd, u32)>,
    /// Buffer for the set that a phase iterates over.
    scratch: PartSet,
}

impl ActiveSet {
    /// No part.
    pub(super) fn none(units: usize, hosts: usize, switches: usize) -> Self {
        let none = |count: usize| PartSet(vec![0; count.div_ceil(64)]);
        Self {
            receiving: none(units),
            sending: none(units),
            hosts: none(hosts),
            switches: none(switches),
            calm_receivers: none(units),
            calm_senders: none(units),
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

    pub(super) fn all(units: usize, hosts: usize, switches: usize) -> Self {
        let (receiving, sending) = (PartSet::all(units), PartSet::all(units));
        let calm = || PartSet(vec![0; units.div_ceil(64)]);
        Self {
            receiving,
            sending,
            hosts: PartSet::all(hosts),
            switches: PartSet::all(switches),
            calm_receivers: calm(),
            calm_senders: calm(),
            ..Self::default()
        }
    }

    /// The active ends of a kind, by port.
    #[inline]
    pub(super) const fn ends(&mut self, end: PortEnd) -> &mut PartSet {
        match end {
            PortEnd::Receiver => &mut self.receiving,
            PortEnd::Sender => &mut self.sending,
        }
    }

    /// The ends of a kind that have just done what they can do asleep.
    #[inline]
    pub(super) const fn calm(&mut self, end: PortEnd) -> &mut PartSet {
        match end {
            PortEnd::Receiver => &mut self.calm_receivers,
            PortEnd::Sender => &mut self.calm_senders,
        }
    }

    /// Marks an end to be woken, if it sleeps.
    #[inline]
    pub(super) fn wake(&mut self, end: PortEnd, unit: u32) {
        if !self.ends(end).contains(unit as usize) {
            self.marked.push((end, unit));
        }
    }

    #[inline]
    pub(super) fn next_marked(&mut self) -> Option<(PortEnd, u32)> {
        self.marked.pop()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        [&self.receiving, &self.sending, &self.hosts, &self.switches]
            .into_iter()
            .all(PartSet::is_empty)
    }

    /// A copy of one of the sets, to be returned with [`Self::give_back`].
    #[inline]
    pub(super) fn take(&mut self, set: impl FnOnce(&Self) -> &PartSet) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(set(self));
        now
    }

    #[inline]
    pub(super) fn give_back(&mut self, set: PartSet) {
        self.scratch = set;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_hands_out_its_parts_in_order() {
        let mut set = PartSet::all(130);
        assert!((0..130).all(|part| set.contains(part)) && !set.contains(130));
        (0..130).filter(|part| part % 43 != 0).for_each(|part| set.remove(part));
        assert!(set.contains(86) && !set.contains(87) && !set.is_empty());
        let parts: Vec<_> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!((parts, set.is_empty()), (vec![0, 43, 86, 129], true));
    }

    #[test]
    fn only_sleeping_ends_are_woken() {
        let mut active = ActiveSet::all(3, 1, 1);
        active.receiving.remove(1);
        active.wake(PortEnd::Receiver, 0);
        active.wake(PortEnd::Receiver, 1);
        active.wake(PortEnd::Sender, 1);
        let marked = [active.next_marked(), active.next_marked()];
        assert_eq!(marked, [Some((PortEnd::Receiver, 1)), None]);
    }
}
