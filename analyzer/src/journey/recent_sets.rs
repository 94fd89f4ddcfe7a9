//! Table of recent packets by their content and a node. P-3, N-6

use codec::crc::CrcResidue;

/// Number of buckets. *Chosen*: tables take 100 to 200 KB.
const SETS: u64 = 1021;
/// Entries in a bucket. *Chosen*: with fewer, irrelevant packets displace relevant ones.
const SET_MAX: usize = 4;
/// Node of packets that may be anywhere.
pub(super) const ANY_NODE: usize = 0;

/// The newest entries of each bucket; the oldest is replaced first. There are no buckets before the first entry.
#[derive(Debug)]
pub(super) struct RecentSets<T>(Vec<[Option<T>; SET_MAX]>);

impl<T: Copy> Default for RecentSets<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> RecentSets<T> {
    pub(super) fn add(&mut self, content: CrcResidue, node: usize, entry: T) {
        if self.0.is_empty() {
            self.0.extend((0..SETS).map(|_| [None; SET_MAX]));
        }
        if let Some(set) = self.0.get_mut(place(content, node)) {
            set.rotate_left(1);
            let [.., last] = set;
            *last = Some(entry);
        }
    }

    /// Entries that may have this content at this node, the oldest first.
    pub(super) fn find(
        &self,
        content: CrcResidue,
        node: usize,
    ) -> impl DoubleEndedIterator<Item = T> {
        self.0.get(place(content, node)).into_iter().flatten().flatten().copied()
    }
}

fn place(content: CrcResidue, node: usize) -> usize {
    let bits = content.bits();
    // A 128-bit remainder takes ten times as long.
    let folded = u64::try_from((bits >> 64) ^ (bits & u128::from(u64::MAX))).unwrap_or(0);
    usize::try_from((folded ^ node as u64) % SETS).unwrap_or(0)
}
