//! All waits of a capture, put together into trees: at the root what held things up, behind it what
//! waited. Their size is that of the network, however many waits there are.

use crate::event::Picoseconds;
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::ChannelId;

use super::{BlockingEvent, Deadlock, StopEnd, StopReport, WaitRoot};

/// Most branches, and most deadlocks, that are kept. *Chosen*: more than anybody reads.
const KEPT_MAX: usize = 4096;

/// Root of a tree of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockingRoot {
    /// Channels that waited for each other.
    Deadlock,
    /// The host behind this channel.
    Host(ChannelId),
    /// This channel, whose link was open.
    OpenLink(ChannelId),
    /// The uncaptured part behind this channel.
    OutOfSight(ChannelId),
    /// This channel, busy with packets.
    Busy(ChannelId),
    /// The switch before this channel: it formed a path, or the channel is slower than an input.
    Switch(ChannelId),
}

/// The waits of a channel that had one chain of reasons, and what waited behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitBranch {
    /// The number.
    pub stops: u64,
    /// Duration for which all took together.
    pub total: Picoseconds,
    /// The longest.
    pub longest: Option<LongestWait>,
    /// Number of those that ended by the blocked-packet timeout. R-4
    pub timeouts: u64,
    /// Inputs whose packets held the output.
    pub holders: BTreeSet<ChannelId>,
    /// The channels that waited for this one.
    pub behind: BTreeMap<ChannelId, Self>,
}

/// A wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// Time at which it began.
    pub since: Picoseconds,
    /// Duration for which it took.
    pub lasted: Picoseconds,
    /// The packet at the head of the input behind the channel.
    pub packet: Option<u64>,
    /// Its end.
    pub ended: StopEnd,
}

/// All waits.
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
    /// Adds one.
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

    /// The roots, that with the longest wait first.
    #[must_use]
    pub fn roots(&self) -> Vec<(BlockingRoot, &WaitBranch)> {
        let mut roots: Vec<_> = self.roots.iter().map(|(root, branch)| (*root, branch)).collect();
        // Stable: of equals the first in order of culprits stays first.
        roots.sort_by_cached_key(|(_, branch)| std::cmp::Reverse(branch.worst()));
        roots
    }

    /// The deadlocks, in order of time.
    #[must_use]
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.deadlocks
    }

    /// Number of stops there were, on how many channels, and how long they took together.
    #[must_use]
    pub fn sum(&self) -> (u64, usize, Picoseconds) {
        (self.stops, self.channels.len(), self.total)
    }

    /// Waits that are in no tree, as there were too many.
    #[must_use]
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
        self.holders.extend(stop.holders.iter().map(|holder| holder.channel));
    }

    /// The longest wait in the tree, and the sum of all.
    #[must_use]
    pub fn worst(&self) -> (Picoseconds, Picoseconds) {
        let own = (self.longest.map_or(0, |longest| longest.lasted), self.total);
        self.behind.values().fold(own, |(longest, total), branch| {
            let (other, more) = branch.worst();
            (longest.max(other), total + more)
        })
    }

    /// The branches, that with the longest wait first.
    #[must_use]
    pub fn branches(&self) -> Vec<(ChannelId, &Self)> {
        let mut behind: Vec<_> = self.behind.iter().map(|(id, branch)| (*id, branch)).collect();
        behind.sort_by_cached_key(|(_, branch)| std::cmp::Reverse(branch.worst()));
        behind
    }
}

impl StopReport {
    /// The root of a stop, and the channels from the root to its own.
    fn path_from_root(&self) -> (BlockingRoot, Vec<ChannelId>) {
        let last = self.last();
        let mut chain: Vec<ChannelId> = self.chain.clone();
        let culprit = match self.root {
            WaitRoot::Host => BlockingRoot::Host(last),
            WaitRoot::OutOfSight => BlockingRoot::OutOfSight(last),
            WaitRoot::Busy => {
                chain.pop();
                BlockingRoot::Busy(last)
            }
            WaitRoot::Switch => {
                chain.pop();
                BlockingRoot::Switch(last)
            }
            WaitRoot::OpenLink => {
                chain.pop();
                BlockingRoot::OpenLink(last)
            }
            WaitRoot::Cycle => {
                // Up to where the circle begins; a channel of the circle stands alone.
                let meets = chain.iter().position(|channel| *channel == last);
                let alone = last == self.channel;
                chain.truncate(if alone { 0 } else { meets.map_or(0, |place| place + 1) });
                BlockingRoot::Deadlock
            }
        };
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

    #[test]
    fn there_are_no_more_branches_than_are_kept() {
        let mut trees = WaitTrees::default();
        for number in 0..100 {
            let chain = (0..200).map(|place| ChannelId(1000 * number + place)).collect();
            trees.add(BlockingEvent::Stop(StopReport {
                number: number.into(),
                channel: ChannelId(1000 * number + 999),
                since: 0,
                until: 1,
                periods: 1,
                sending: None,
                ended: StopEnd::CaptureEnd,
                packet: None,
                chain,
                behind: None,
                root: WaitRoot::OutOfSight,
                holders: Vec::new(),
            }));
        }
        let branches: usize = trees.roots().iter().map(|(_, branch)| count(branch)).sum();
        // 20 chains of 201 fit, and a part of the next.
        assert_eq!((branches, trees.left_out()), (KEPT_MAX, 80));
    }
}
