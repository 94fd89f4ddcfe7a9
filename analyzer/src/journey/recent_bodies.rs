//! Index of packets sent into uncaptured links, by body. P-3

use codec::crc::CrcResidue;

use super::hop_record::HopId;

/// Number of buckets. *Chosen*: they take 100 KB in all.
const SETS: usize = 1021;
/// Packets in a bucket. *Chosen*: with fewer, irrelevant packets displace relevant ones.
const SET_MAX: usize = 4;

/// The newest packets of each bucket; the oldest is replaced first.
#[derive(Debug)]
pub(super) struct RecentBodies {
    sets: Vec<[Option<(u64, HopId)>; SET_MAX]>,
}

impl Default for RecentBodies {
    fn default() -> Self {
        Self { sets: vec![[None; SET_MAX]; SETS] }
    }
}

impl RecentBodies {
    pub(super) fn add(&mut self, body: CrcResidue, seq: u64, leg: HopId) {
        if let Some(set) = self.sets.get_mut(place(body)) {
            set.rotate_left(1);
            if let Some(last) = set.last_mut() {
                *last = Some((seq, leg));
            }
        }
    }

    /// Packets that may have this body, the oldest first.
    pub(super) fn find(&self, body: CrcResidue) -> impl Iterator<Item = (u64, HopId)> {
        self.sets.get(place(body)).into_iter().flatten().flatten().copied()
    }
}

fn place(body: CrcResidue) -> usize {
    let bits = body.bits();
    let folded = (bits >> 64) ^ (bits & u128::from(u64::MAX));
    // A 128-bit remainder takes ten times as long.
    let folded = u64::try_from(folded).unwrap_or(0);
    usize::try_from(folded % SETS as u64).unwrap_or(0)
}
