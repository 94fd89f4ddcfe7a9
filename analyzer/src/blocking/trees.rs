//! Trees of all waits of a capture: the cause at the root, the waits behind it as branches. Their
//! size depends on the network, not on the number of waits.

use crate::event::{Picoseconds, ResumeCause};
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::ChannelId;

use super::{BlockingEvent, Deadlock, STANDS_UNSEEN, StopEnd, StopReport, WaitRoot};

/// Maximum of kept branches, and of kept deadlocks. *Chosen*: more than a reader needs.
const KEPT_MAX: usize = 4096;

/// Root of a tree of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockingRoot {
    /// A wait-for cycle of channels.
    Deadlock,
    /// The host behind this channel.
    Host(ChannelId),
    /// The open link of this channel.
    OpenLink(ChannelId),
    /// The uncaptured part of the network behind this channel.
    OutOfSight(ChannelId),
    /// The packets of other inputs on this channel.
    Busy(ChannelId),
    /// The switch before this channel: path formation.
    Switch(ChannelId),
    /// This channel, slower than an input.
    SlowOutput(ChannelId),
    /// This channel, to which packets are delayed for an unknown reason.
    Unknown(ChannelId),
}

/// Waits of a channel with the same chain of causes, and the waits behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitBranch {
    /// Number of stops.
    pub stops: u64,
    /// Total duration.
    pub total: Picoseconds,
    /// The longest of them.
    pub longest: Option<LongestWait>,
    /// Duration of the wait that lasted to the end of the recording; none if all ended before.
    pub lasts: Option<Picoseconds>,
    /// Number of stops ended by the blocked-packet timeout. R-4
    pub timeouts: u64,
    /// Inputs whose packets held the output.
    pub holders: BTreeSet<ChannelId>,
    /// Branches of the channels that waited for this one.
    pub behind: BTreeMap<ChannelId, Self>,
}

/// The longest wait of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// Time of its beginning.
    pub since: Picoseconds,
    /// Duration.
    pub lasted: Picoseconds,
    /// Number of the packet at the head of the input behind the channel.
    pub packet: Option<u64>,
    /// Cause of its end.
    pub ended: StopEnd,
}

/// All waits of a capture, as trees.
#[derive(Clone, Debug, Default)]
pub struct WaitTrees {
    roots: BTreeMap<BlockingRoot, WaitBranch>,
    branches: usize,
    deadlocks: Vec<Deadlock>,
    channels: BTreeSet<ChannelId>,
    stops: u64,
    total: Picoseconds,
    left_out: u64,
}

impl WaitTrees {
    /// Adds a reported event.
    pub fn add(&mut self, blocked: BlockingEvent) {
        match blocked {
            BlockingEvent::Deadlock(deadlock) if self.deadlocks.len() < KEPT_MAX => {
                self.deadlocks.push(deadlock);
            }
            BlockingEvent::Deadlock(_) => self.left_out += 1,
            BlockingEvent::Stop(stop) => self.add_stop(&stop),
        }
    }

    fn add_stop(&mut self, stop: &StopReport) {
        let lasted = stop.until.saturating_sub(stop.since);
        self.stops += 1;
        self.total += lasted;
        self.channels.insert(stop.channel);
        let (culprit, way) = stop.path_from_root();
        let mut branch = self.roots.entry(culprit).or_default();
        for channel in way {
            if !branch.behind.contains_key(&channel) {
                if self.branches == KEPT_MAX {
                    self.left_out += 1;
                    return;
                }
                self.branches += 1;
            }
            branch = branch.behind.entry(channel).or_default();
        }
        branch.add(stop, lasted);
    }

    /// The roots, sorted by the longest wait, descending.
    pub fn roots(&self) -> Vec<(BlockingRoot, &WaitBranch)> {
        let mut roots: Vec<_> = self.roots.iter().map(|(root, branch)| (*root, branch)).collect();
        // A stable sort: equal roots stay in their own order.
        roots.sort_by_cached_key(|(_, branch)| std::cmp::Reverse(branch.worst()));
        roots
    }

    /// The deadlocks, in order of time.
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.deadlocks
    }

    /// Number of stops, number of their channels, and total duration.
    pub fn sum(&self) -> (u64, usize, Picoseconds) {
        (self.stops, self.channels.len(), self.total)
    }

    /// Number of waits and deadlocks beyond the limit.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl WaitBranch {
    fn add(&mut self, stop: &StopReport, lasted: Picoseconds) {
        let StopReport { since, packet, ended, .. } = *stop;
        self.stops += 1;
        self.total += lasted;
        self.timeouts += u64::from(stop.timed_out());
        if self.longest.is_none_or(|longest| lasted > longest.lasted) {
            self.longest = Some(LongestWait { since, lasted, packet, ended });
        }
        if ended == StopEnd::CaptureEnd {
            self.lasts = self.lasts.max(Some(lasted));
        }
        self.holders.extend(stop.holders.iter().map(|holder| holder.channel));
    }

    /// True if a wait of the tree, for what is out of sight, stood to the end of the recording or to a timeout.
    pub fn stands(&self) -> bool {
        self.timeouts > 0
            || self.lasts.is_some_and(|lasted| lasted >= STANDS_UNSEEN)
            || self.behind.values().any(Self::stands)
    }

    /// True if the longest wait of each channel of the tree, and its last one, ended by GO.
    pub fn is_released(&self) -> bool {
        let ended = self.longest.map(|longest| longest.ended);
        ended.is_none_or(|ended| ended == StopEnd::Resumed(ResumeCause::Go))
            && self.lasts.is_none()
            && self.timeouts == 0
            && self.behind.values().all(Self::is_released)
    }

    /// The longest wait in the tree, and the total duration of all.
    pub fn worst(&self) -> (Picoseconds, Picoseconds) {
        let own = (self.longest.map_or(0, |longest| longest.lasted), self.total);
        self.behind.values().fold(own, |(longest, total), branch| {
            let (other, more) = branch.worst();
            (longest.max(other), total + more)
        })
    }

    /// The branches, sorted by the longest wait, descending.
    pub fn branches(&self) -> Vec<(ChannelId, &Self)> {
        let mut behind: Vec<_> = self.behind.iter().map(|(id, branch)| (*id, branch)).collect();
        behind.sort_by_cached_key(|(_, branch)| std::cmp::Reverse(branch.worst()));
        behind
    }
}

impl StopReport {
    /// The root of the stop's tree.
    pub fn culprit(&self) -> BlockingRoot {
        self.path_from_root().0
    }

    /// The root of a stop, and the channels from the root to its own.
    fn path_from_root(&self) -> (BlockingRoot, Vec<ChannelId>) {
        let last = self.last();
        let mut chain: Vec<ChannelId> = self.chain.clone();
        let culprit = match self.root {
            WaitRoot::Host => BlockingRoot::Host(last),
            WaitRoot::OutOfSight => BlockingRoot::OutOfSight(last),
            WaitRoot::Busy => BlockingRoot::Busy(last),
            WaitRoot::Switch => BlockingRoot::Switch(last),
            WaitRoot::SlowOutput => BlockingRoot::SlowOutput(last),
            WaitRoot::Unknown => BlockingRoot::Unknown(last),
            WaitRoot::OpenLink => BlockingRoot::OpenLink(last),
            WaitRoot::Cycle => {
                // The chain is kept up to the first channel of the cycle; a channel of the cycle
                // itself has no chain.
                let meets = chain.iter().position(|channel| *channel == last);
                let alone = last == self.channel;
                chain.truncate(if alone { 0 } else { meets.map_or(0, |place| place + 1) });
                BlockingRoot::Deadlock
            }
        };
        if self.root.is_at_output() {
            chain.pop();
        }
        let way = chain.into_iter().rev().chain([self.channel]).collect();
        (culprit, way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(branch: &WaitBranch) -> usize {
        branch.behind.values().map(|behind| 1 + count(behind)).sum()
    }

    /// A stop behind a chain of channels that leads out of sight.
    fn stop(channel: u32, chain: impl Iterator<Item = u32>, lasted: Picoseconds) -> BlockingEvent {
        BlockingEvent::Stop(StopReport {
            channel: ChannelId(channel),
            until: lasted,
            periods: 1,
            chain: chain.map(ChannelId).collect(),
            ..StopReport::default()
        })
    }

    /// By the longest stop, of equal ones by the time of all, of equal ones in the order of channels.
    #[test]
    fn roots_are_ranked_by_all_the_stops_behind_them() {
        for round in 0..200_u32 {
            let (mut trees, mut expected) = (WaitTrees::default(), BTreeMap::new());
            for number in 0..24 {
                let draw = (round * 24 + number).wrapping_mul(0x9e37_79b9).rotate_left(13);
                // Few lengths, roots and ways: most are equal.
                let (root, lasted) = (draw % 5, Picoseconds::from(draw >> 8 & 3) + 1);
                let way = (0..draw >> 16 & 3).map(|place| 10 * (place + 1) + (draw >> 20 & 1));
                trees.add(stop(9, way.chain([root]), lasted));
                let (most, all) = expected.entry(root).or_insert((0, 0));
                (*most, *all) = (lasted.max(*most), lasted + *all);
            }
            let mut expected: Vec<(u32, (Picoseconds, Picoseconds))> =
                expected.into_iter().collect();
            expected.sort_by_key(|(root, rank)| (std::cmp::Reverse(*rank), *root));
            let expected = expected
                .into_iter()
                .map(|(root, rank)| (BlockingRoot::OutOfSight(ChannelId(root)), rank));
            let found = trees.roots().into_iter().map(|(root, branch)| (root, branch.worst()));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{round}");
        }
    }

    #[test]
    fn there_are_no_more_branches_than_are_kept() {
        let mut trees = WaitTrees::default();
        for number in 0..100 {
            let chain = (0..200).map(|place| 1000 * number + place);
            trees.add(stop(1000 * number + 999, chain, 1));
        }
        let branches: usize = trees.roots().iter().map(|(_, branch)| count(branch)).sum();
        // 20 chains of 201 branches fit, and a part of the next.
        assert_eq!((branches, trees.left_out()), (KEPT_MAX, 80));
    }
}
