//! Which parts of a network are looked at in a period: the others do what they did before, so that
//! what becomes of them is known without looking (`stepper/stillness.rs`).

/// A set of parts, a bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartSet(Vec<u64>);

impl PartSet {
    /// So many parts, all of them.
    pub(crate) fn all(count: usize) -> Self {
        let mut set = Self(vec![0; count.div_ceil(64)]);
        (0..count).for_each(|part| set.insert(part));
        set
    }

    pub(crate) fn insert(&mut self, part: usize) {
        self.0.get_mut(part / 64).into_iter().for_each(|word| *word |= 1 << (part % 64));
    }

    pub(crate) fn remove(&mut self, part: usize) {
        self.0.get_mut(part / 64).into_iter().for_each(|word| *word &= !(1 << (part % 64)));
    }

    #[inline]
    pub(crate) fn contains(&self, part: usize) -> bool {
        self.0.get(part / 64).is_some_and(|word| word & 1 << (part % 64) != 0)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The same parts as another.
    #[inline]
    fn set_to(&mut self, other: &Self) {
        self.0.resize(other.0.len(), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word = *other);
    }

    /// Takes out the first part.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let place = self.0.iter().position(|word| *word != 0)?;
        let word = self.0.get_mut(place)?;
        let part = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(place * 64 + part)
    }
}

/// What is looked at. A channel has the number of the circuit at which it comes in.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveSet {
    /// Circuits that hear: their channels are awake.
    receiving: PartSet,
    /// Circuits that send: the channels at their far ends are awake.
    sending: PartSet,
    /// Hosts that may take or offer something.
    pub(crate) hosts: PartSet,
    /// Channels that something happens to, and that are asleep.
    woken: Vec<u32>,
    /// Before this period no host has anything to do of itself.
    pub(crate) hosts_due: u64,
    /// Before this period no channel wakes of itself.
    pub(crate) channels_due: u64,
    /// Parts of the phase that is under way.
    scratch: PartSet,
}

impl ActiveSet {
    /// Everything is looked at.
    pub(crate) fn all(circuits: usize, hosts: usize) -> Self {
        let (hears, sends, hosts) =
            (PartSet::all(circuits), PartSet::all(circuits), PartSet::all(hosts));
        Self { receiving: hears, sending: sends, hosts, channels_due: u64::MAX, ..Self::default() }
    }

    /// Something happens at one end of a channel.
    #[inline]
    pub(crate) fn wake(&mut self, channel: u32) {
        if !self.receiving.contains(channel as usize) {
            self.woken.push(channel);
        }
    }

    /// A channel that is asleep and to which something has happened, if there is one.
    #[inline]
    pub(crate) fn next_woken(&mut self) -> Option<u32> {
        self.woken.pop()
    }

    /// A host has something to do at that time.
    #[inline]
    pub(crate) fn host_due(&mut self, at: u64) {
        self.hosts_due = self.hosts_due.min(at);
    }

    /// Whether a channel is looked at.
    #[inline]
    pub(crate) fn is_awake(&self, channel: usize) -> bool {
        self.receiving.contains(channel)
    }

    /// Whether nothing is looked at.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.receiving.is_empty() && self.hosts.is_empty()
    }

    /// A channel is looked at from now on, from one circuit to another.
    pub(crate) fn begin(&mut self, from: usize, to: usize) {
        self.sending.insert(from);
        self.receiving.insert(to);
    }

    /// A channel is looked at no more.
    pub(crate) fn end(&mut self, from: usize, to: usize) {
        self.sending.remove(from);
        self.receiving.remove(to);
    }

    /// The circuits that hear, as they are now. To be given back.
    #[inline]
    pub(crate) fn take_receiving(&mut self) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(&self.receiving);
        now
    }

    /// The circuits that send, as they are now. To be given back.
    #[inline]
    pub(crate) fn take_sending(&mut self) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(&self.sending);
        now
    }

    /// The hosts, as they are now. To be given back.
    #[inline]
    pub(crate) fn take_hosts(&mut self) -> PartSet {
        let mut now = std::mem::take(&mut self.scratch);
        now.set_to(&self.hosts);
        now
    }

    /// A phase is over.
    #[inline]
    pub(crate) fn give_back(&mut self, set: PartSet) {
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
    fn only_what_is_asleep_is_woken() {
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
