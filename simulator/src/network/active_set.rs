//! The parts of a network that are processed in a period. All others repeat what they did in the
//! period before, so their state follows without processing them (`idle_skip.rs`).

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

/// The active channels and hosts. A channel has the index of the port that receives it.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSet {
    /// Ports whose incoming channel is active.
    receiving: PartSet,
    /// Ports whose outgoing channel is active.
    sending: PartSet,
    pub(super) hosts: PartSet,
    /// Idle channels that must become active.
    woken: Vec<u32>,
    /// No host acts on its own before this period.
    pub(super) hosts_due: u64,
    /// No idle channel becomes active on its own before this period.
    pub(super) channels_due: u64,
    /// Buffer for the set that a phase iterates over.
    scratch: PartSet,
}

impl ActiveSet {
    pub(super) fn all(units: usize, hosts: usize) -> Self {
        let (hears, sends, hosts) = (PartSet::all(units), PartSet::all(units), PartSet::all(hosts));
        Self { receiving: hears, sending: sends, hosts, channels_due: u64::MAX, ..Self::default() }
    }

    /// Marks an idle channel for activation.
    #[inline]
    pub(super) fn wake(&mut self, channel: u32) {
        if !self.receiving.contains(channel as usize) {
            self.woken.push(channel);
        }
    }

    #[inline]
    pub(super) fn next_woken(&mut self) -> Option<u32> {
        self.woken.pop()
    }

    #[inline]
    pub(super) fn host_due(&mut self, at: u64) {
        self.hosts_due = self.hosts_due.min(at);
    }

    #[inline]
    pub(super) fn is_awake(&self, channel: usize) -> bool {
        self.receiving.contains(channel)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.receiving.is_empty() && self.hosts.is_empty()
    }

    /// Makes a channel active, given the ports that send and receive it.
    pub(super) fn begin(&mut self, from: usize, to: usize) {
        self.sending.insert(from);
        self.receiving.insert(to);
    }

    /// Makes a channel idle.
    pub(super) fn end(&mut self, from: usize, to: usize) {
        self.sending.remove(from);
        self.receiving.remove(to);
    }

    /// A copy of the receiving ports, to be returned with [`Self::give_back`].
    #[inline]
    pub(super) fn take_receiving(&mut self) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(&self.receiving);
        now
    }

    /// A copy of the sending ports, to be returned with [`Self::give_back`].
    #[inline]
    pub(super) fn take_sending(&mut self) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(&self.sending);
        now
    }

    /// A copy of the hosts, to be returned with [`Self::give_back`].
    #[inline]
    pub(super) fn take_hosts(&mut self) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(&self.hosts);
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
    fn only_idle_channels_are_activated() {
        let mut attention = ActiveSet::all(3, 1);
        attention.end(0, 1);
        attention.wake(0);
        attention.wake(1);
        assert_eq!([attention.next_woken(), attention.next_woken()], [Some(1), None]);
        attention.begin(0, 1);
        attention.wake(1);
        assert_eq!(attention.next_woken(), None);
    }
}
