//! Time that was recorded of each channel. Nothing is a fault that rests on any other: see [`FindingGrounds`].

use std::collections::{BTreeMap, VecDeque};

use codec::capture::ChannelId;

use crate::event::Picoseconds;

/// Maximum of recorded spans of a channel that are kept, the newest. *Chosen*: time before them counts as not
/// recorded.
const SPANS_MAX: usize = 1 << 12;

/// Time that must have been recorded for a finding to be true. Holes, a late start, an early end and a channel without
/// characters are all the same: time that was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingGrounds<'a> {
    /// The characters at its place.
    Characters,
    /// All characters of these channels and their opposites, from one time to another.
    Channels([Picoseconds; 2], &'a [ChannelId]),
    /// All characters of all channels, as far as any was recorded.
    Network([Picoseconds; 2]),
}

/// Spans of time of which the characters of channels were recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordedTime {
    spans: BTreeMap<ChannelId, VecDeque<[Picoseconds; 2]>>,
    opposites: BTreeMap<ChannelId, ChannelId>,
}

impl RecordedTime {
    pub(crate) fn declare(&mut self, id: ChannelId) {
        self.spans.entry(id).or_default();
    }

    /// Declares two channels as the directions of one link.
    pub(crate) fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.opposites.extend([(one, other), (other, one)]);
    }

    /// Adds the time of a chunk of a channel, from its first character to the end of its last one.
    pub(crate) fn add(&mut self, id: ChannelId, [from, to]: [Picoseconds; 2]) {
        let Some(spans) = self.spans.get_mut(&id) else { return };
        match spans.back_mut() {
            Some([_, end]) if *end == from => *end = to,
            Some(_) | None => spans.push_back([from, to]),
        }
        while spans.len() > SPANS_MAX {
            spans.pop_front();
        }
    }

    /// Takes out time of which the events were not examined: what they would show is as unknown as in a hole.
    pub(crate) fn omit(&mut self, id: ChannelId, [from, to]: [Picoseconds; 2]) {
        let Some(spans) = self.spans.get_mut(&id) else { return };
        let Some(place) = spans.iter().rposition(|[begin, _]| *begin <= from) else { return };
        if let Some([_, end]) = spans.get_mut(place) {
            let behind = [to, std::mem::replace(end, from)];
            spans.insert(place + 1, behind);
        }
    }

    /// Adds the channels of another link.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        if self.spans.is_empty() {
            std::mem::swap(&mut self.spans, &mut other.spans);
        }
        self.spans.extend(other.spans);
        self.opposites.extend(other.opposites);
    }

    /// First and last recorded moment of a channel.
    pub(crate) fn span(&self, id: ChannelId) -> Option<[Picoseconds; 2]> {
        let spans = self.spans.get(&id)?;
        Some([spans.front()?[0], spans.back()?[1]])
    }

    /// First and last moment of which both directions of a link were recorded, as far as either was: STOP and GO of a
    /// channel are on its opposite.
    pub(crate) fn link_span(&self, id: ChannelId) -> Option<[Picoseconds; 2]> {
        let both = [Some(&id), self.opposites.get(&id)].into_iter().flatten();
        let both = both.filter_map(|id| self.span(*id));
        both.reduce(|[from, to], [begin, end]| [from.max(begin), to.min(end)])
    }

    /// True if characters of the opposite channel were recorded: STOP and GO of a channel are there.
    pub(crate) fn has_opposite(&self, id: ChannelId) -> bool {
        self.opposites.get(&id).is_some_and(|opposite| self.span(*opposite).is_some())
    }

    /// True if all that a finding rests on was recorded.
    pub(crate) fn supports(&self, grounds: FindingGrounds<'_>) -> bool {
        match grounds {
            FindingGrounds::Characters => true,
            FindingGrounds::Channels(span, channels) => {
                let opposites = channels.iter().filter_map(|id| self.opposites.get(id));
                channels.iter().chain(opposites).all(|id| self.covers(*id, span))
            }
            FindingGrounds::Network([from, to]) => {
                let starts = self.spans.values().filter_map(|spans| spans.front());
                let start = starts.map(|[start, _]| *start).min().unwrap_or_default();
                self.spans.keys().all(|id| self.covers(*id, [from.max(start), to]))
            }
        }
    }

    /// True if a channel was recorded from one time to another.
    pub(crate) fn covers(&self, id: ChannelId, [from, to]: [Picoseconds; 2]) -> bool {
        self.covered_to(id, from).is_some_and(|end| to <= end)
    }

    /// Time up to which a channel was recorded from another one on.
    pub(crate) fn covered_to(&self, id: ChannelId, from: Picoseconds) -> Option<Picoseconds> {
        let spans = self.spans.get(&id)?;
        let behind = spans.partition_point(|[start, _]| *start <= from);
        let [_, end] = behind.checked_sub(1).and_then(|place| spans.get(place))?;
        Some(*end).filter(|end| from <= *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_rests_on_recorded_time_only() {
        let [one, other, empty] = [0, 1, 2].map(ChannelId);
        let mut recorded = RecordedTime::default();
        [one, other].into_iter().for_each(|id| recorded.declare(id));
        for (id, span) in [(one, [0, 10]), (one, [10, 20]), (other, [0, 12]), (other, [13, 30])] {
            recorded.add(id, span);
        }
        let both = [one, other];
        let cases: [(FindingGrounds<'_>, bool); 8] = [
            (FindingGrounds::Channels([0, 20], &[one]), true),
            (FindingGrounds::Channels([5, 21], &[one]), false),
            (FindingGrounds::Channels([0, 12], &both), true),
            (FindingGrounds::Channels([11, 14], &both), false),
            (FindingGrounds::Channels([13, 20], &both), true),
            (FindingGrounds::Channels([13, 20], &[one, empty]), false),
            (FindingGrounds::Network([13, 20]), true),
            (FindingGrounds::Characters, true),
        ];
        for (grounds, expected) in cases {
            assert_eq!(recorded.supports(grounds), expected, "{grounds:?}");
        }
        recorded.omit(one, [4, 16]);
        let known = [[0, 4], [0, 5], [16, 20], [15, 20]].map(|span| recorded.covers(one, span));
        assert_eq!(known, [true, false, true, false]);
        recorded.declare(empty);
        recorded.join(one, empty);
        assert!(!recorded.supports(FindingGrounds::Channels([13, 20], &[one])));
        assert!(!recorded.supports(FindingGrounds::Network([13, 20])));
    }
}
