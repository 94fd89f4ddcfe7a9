//! Items held until all earlier ones have arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::event::Picoseconds;

/// Maximum number of items held. *Chosen*: two of each packet, and more packets than are in transit at a time, captured
/// or not.
const WAITING_MAX: usize = 1 << 17;

/// Items in order of their times, or of another key; items of one time in the order in which they were added.
#[derive(Debug)]
pub(crate) struct TimeQueue<T, K = Picoseconds> {
    waiting: BinaryHeap<Reverse<QueuedItem<T, K>>>,
    fed: u64,
}

#[derive(Debug)]
struct QueuedItem<T, K> {
    time: K,
    number: u64,
    item: T,
}

impl<T, K: Copy + Ord> PartialEq for QueuedItem<T, K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T, K: Copy + Ord> Eq for QueuedItem<T, K> {}

impl<T, K: Copy + Ord> PartialOrd for QueuedItem<T, K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T, K: Copy + Ord> Ord for QueuedItem<T, K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl<T, K: Copy + Ord> Default for TimeQueue<T, K> {
    fn default() -> Self {
        Self { waiting: BinaryHeap::new(), fed: 0 }
    }
}

impl<T, K: Copy + Ord> TimeQueue<T, K> {
    /// Adds an item. Returns the first one if too many are held.
    pub(crate) fn push(&mut self, time: K, item: T) -> Option<(K, T)> {
        let number = self.fed;
        self.fed += 1;
        self.waiting.push(Reverse(QueuedItem { time, number, item }));
        if self.waiting.len() > WAITING_MAX { self.pop() } else { None }
    }

    /// The first item before a time.
    pub(crate) fn pop_before(&mut self, until: K) -> Option<(K, T)> {
        let Reverse(first) = self.waiting.peek()?;
        if first.time < until { self.pop() } else { None }
    }

    /// The first item.
    pub(crate) fn pop(&mut self) -> Option<(K, T)> {
        self.waiting.pop().map(|Reverse(first)| (first.time, first.item))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
