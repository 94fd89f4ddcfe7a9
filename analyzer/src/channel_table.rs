//! Values by channel, looked up by index.

use std::collections::BTreeMap;

use codec::capture::{ChannelId, INTERFACES_MAX};

/// A map from channels to values. The ids of a section are consecutive, so that a look-up needs no
/// search, but for virtual channels without an interface of their own. C-7
#[derive(Clone, Debug)]
pub(crate) struct ChannelTable<T> {
    /// Id of the first slot.
    base: u32,
    slots: Vec<Option<T>>,
    /// Number of values in slots.
    len: usize,
    /// Values of ids that no interface has.
    others: BTreeMap<ChannelId, T>,
}

impl<T> Default for ChannelTable<T> {
    fn default() -> Self {
        Self { base: 0, slots: Vec::new(), len: 0, others: BTreeMap::new() }
    }
}

impl<T> ChannelTable<T> {
    #[inline]
    pub(crate) fn get(&self, id: ChannelId) -> Option<&T> {
        match is_interface(id) {
            true => self.slots.get(id.0.checked_sub(self.base)? as usize)?.as_ref(),
            false => self.others.get(&id),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ChannelId) -> Option<&mut T> {
        match is_interface(id) {
            true => self.slots.get_mut(id.0.checked_sub(self.base)? as usize)?.as_mut(),
            false => self.others.get_mut(&id),
        }
    }

    pub(crate) fn insert(&mut self, id: ChannelId, value: T) {
        if !is_interface(id) {
            self.others.insert(id, value);
            return;
        }
        if self.slots.is_empty() {
            self.base = id.0;
        }
        if let Some(missing) = self.base.checked_sub(id.0) {
            self.slots.splice(..0, (0..missing).map(|_| None));
            self.base = id.0;
        }
        let place = (id.0 - self.base) as usize;
        if place >= self.slots.len() {
            self.slots.resize_with(place + 1, || None);
        }
        if let Some(slot) = self.slots.get_mut(place) {
            self.len += usize::from(slot.replace(value).is_none());
        }
    }

    pub(crate) fn remove(&mut self, id: ChannelId) -> Option<T> {
        if !is_interface(id) {
            return self.others.remove(&id);
        }
        let place = id.0.checked_sub(self.base)? as usize;
        let value = self.slots.get_mut(place)?.take();
        self.len -= usize::from(value.is_some());
        value
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0 && self.others.is_empty()
    }

    /// All values, in ascending order of the channels.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ChannelId, &T)> {
        let slots = (self.base..).zip(&self.slots);
        let slots = slots.filter_map(|(id, slot)| Some((ChannelId(id), slot.as_ref()?)));
        slots.chain(self.others.iter().map(|(id, value)| (*id, value)))
    }
}

const fn is_interface(id: ChannelId) -> bool {
    (id.0 as usize) < INTERFACES_MAX
}
