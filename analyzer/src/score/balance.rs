//! What is expected of a channel against what was found on it, whichever comes first.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::line::{Class, Kind, Line};
use super::port::Reason;

/// How often something was in the truth, was found, and was found as it is in the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) in_truth: u64,
    pub(super) found: u64,
    pub(super) right: u64,
}

/// One channel.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// Lines without a counterpart so far: so many more in the truth, or, below 0, found.
    open: BTreeMap<Line, i64>,
    /// From where on a class is not compared.
    limits: BTreeMap<Class, (u64, Reason)>,
    /// Where the capture is a repeat of which not every round is listed, in order, as far as the truth
    /// has not come past it.
    repeated: VecDeque<Range<u64>>,
    /// The first place recorded, and the last.
    recorded: (u64, u64),
    /// The same of the opposite channel, which tells the sender what to do; none if it was not.
    opposite: Option<(u64, u64)>,
    /// Up to where a packet goes on that began before the recording.
    begun_before: Option<u64>,
    /// A packet goes on behind the end of the recording.
    goes_on: GoesOn,
    /// From where on what the sender does is known: it may have been stopped before the recording.
    sender: Option<u64>,
    counts: BTreeMap<Kind, Count>,
    left_out: BTreeMap<(Kind, Reason), u64>,
}

/// A line in one account and not in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    /// It happened, and was not found.
    Missed(Line),
    /// It was found, and did not happen.
    Invented(Line),
}

/// Which account a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Truth,
    Capture,
}

impl Balance {
    /// A channel of which these places were recorded, from the first to the last; and of its
    /// opposite.
    pub(super) fn new(recorded: (u64, u64), opposite: Option<(u64, u64)>) -> Self {
        Self {
            open: BTreeMap::new(),
            limits: BTreeMap::new(),
            repeated: VecDeque::new(),
            recorded,
            opposite,
            begun_before: None,
            goes_on: GoesOn::No,
            sender: opposite.is_some_and(|(first, _)| first == 0).then_some(0),
            counts: BTreeMap::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// Whether a place was recorded, but for holes.
    pub(super) const fn has(&self, place: u64) -> bool {
        self.recorded.0 <= place && place <= self.recorded.1
    }

    /// Behind the last place that was recorded on both channels of the link.
    pub(super) fn end(&self) -> u64 {
        let (_, last) = self.opposite.unwrap_or(self.recorded);
        last.min(self.recorded.1).saturating_add(1)
    }

    /// Takes a line of the truth.
    pub(super) fn expect(&mut self, line: Line) {
        let (first, last) = self.recorded;
        let is_packet = matches!(line.kind, Kind::Packet | Kind::OpenPacket);
        if is_packet && line.start < first && first <= line.at {
            self.begun_before = self.begun_before.max(Some(line.at));
            self.drop_begun_before();
        }
        if is_packet && line.start <= last && line.end > last {
            self.goes_on = GoesOn::Yes;
            self.drop_found(|line| line.kind == Kind::OpenPacket);
        }
        let recorded = match line.kind.class() {
            Class::Sender => {
                self.opposite.is_some_and(|(first, last)| (first..=last).contains(&line.at))
            }
            Class::OpenPacket => first <= line.start && line.end <= last,
            Class::Own | Class::ResetEnd => first <= line.start && line.end.max(line.at) <= last,
        };
        if !recorded {
            return self.leave_out(line.kind, Reason::NotRecorded);
        }
        if line.kind.class() == Class::Sender && self.sender.is_none_or(|from| line.at < from) {
            // What the sender was told before is not known: from the next line on it is.
            let from = line.at.saturating_add(1);
            if self.sender.is_none() {
                self.sender = Some(from);
                self.drop_found(|line| line.kind.class() == Class::Sender && line.at < from);
            }
            return self.leave_out(line.kind, Reason::NotRecorded);
        }
        if let Some(reason) = self.is_beyond(&line) {
            return self.leave_out(line.kind, reason);
        }
        self.count(line, From::Truth);
    }

    /// Takes a line of the capture.
    pub(super) fn find(&mut self, line: Line) {
        let is_packet = matches!(line.kind, Kind::Packet | Kind::OpenPacket);
        let cut = line.kind == Kind::OpenPacket && self.goes_on == GoesOn::Yes
            || is_packet && self.begun_before.is_some_and(|at| line.start <= at);
        let unknown =
            line.kind.class() == Class::Sender && self.sender.is_some_and(|from| line.at < from);
        if !cut && !unknown && self.is_beyond(&line).is_none() {
            self.count(line, From::Capture);
        }
    }

    fn is_beyond(&self, line: &Line) -> Option<Reason> {
        let limit = self.limits.get(&line.kind.class());
        let limit = limit.filter(|(limit, _)| line.at >= *limit).map(|(_, reason)| *reason);
        let repeated = self.repeated.iter().any(|range| is_in(range, line));
        limit.or_else(|| repeated.then_some(Reason::Repeated))
    }

    fn leave_out(&mut self, kind: Kind, reason: Reason) {
        *self.left_out.entry((kind, reason)).or_default() += 1;
    }

    fn count(&mut self, line: Line, from: From) {
        let count = self.counts.entry(line.kind).or_default();
        let step = match from {
            From::Truth => {
                count.in_truth += 1;
                1
            }
            From::Capture => {
                count.found += 1;
                -1
            }
        };
        let open = self.open.get(&line).copied().unwrap_or_default();
        if open.signum() == -step {
            count.right += 1;
        }
        if open == -step {
            self.open.remove(&line);
        } else {
            self.open.insert(line, open + step);
        }
    }

    /// From a place on, a class is not compared.
    pub(super) fn limit(&mut self, class: Class, from: u64, reason: Reason) {
        let limit = self.limits.entry(class).or_insert((from, reason));
        if from < limit.0 {
            *limit = (from, reason);
        }
        let beyond = |line: &Line| line.kind.class() == class && line.at >= from;
        self.drop_found(beyond);
        self.drop_expected(reason, beyond);
    }

    /// What the channel's characters say here over and over is not listed in the capture's account.
    pub(super) fn repeat(&mut self, places: Range<u64>) {
        self.drop_expected(Reason::Repeated, |line| is_in(&places, line));
        self.repeated.push_back(places);
    }

    /// Takes back what was expected and has no counterpart.
    fn drop_expected(&mut self, reason: Reason, which: impl Fn(&Line) -> bool) {
        let Self { open, counts, left_out, .. } = self;
        open.retain(|line, more| {
            let dropped = which(line);
            if dropped && *more > 0 {
                let number = more.unsigned_abs();
                counts.entry(line.kind).or_default().in_truth -= number;
                *left_out.entry((line.kind, reason)).or_default() += number;
            }
            !dropped
        });
    }

    fn drop_begun_before(&mut self) {
        let end = self.begun_before;
        self.drop_found(|line| {
            matches!(line.kind, Kind::Packet | Kind::OpenPacket) && Some(line.start) <= end
        });
    }

    /// Takes back what was found and has no counterpart.
    fn drop_found(&mut self, which: impl Fn(&Line) -> bool) {
        let counts = &mut self.counts;
        self.open.retain(|line, more| {
            let dropped = *more < 0 && which(line);
            if dropped {
                counts.entry(line.kind).or_default().found -= more.unsigned_abs();
            }
            !dropped
        });
    }

    /// What is still open before a place will not find its counterpart any more.
    pub(super) fn settle(&mut self, before: u64, out: &mut impl FnMut(Odd)) {
        while self.repeated.pop_front_if(|range| range.end < before).is_some() {}
        while let Some(entry) = self.open.first_entry() {
            if entry.key().at >= before {
                break;
            }
            odd(entry.remove_entry(), out);
        }
    }

    /// All of it.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Odd)) {
        if self.sender.is_none() {
            self.drop_found(|line| line.kind.class() == Class::Sender);
        }
        std::mem::take(&mut self.open).into_iter().for_each(|entry| odd(entry, out));
    }

    pub(super) const fn counts(&self) -> &BTreeMap<Kind, Count> {
        &self.counts
    }

    pub(super) const fn left_out(&self) -> &BTreeMap<(Kind, Reason), u64> {
        &self.left_out
    }
}

/// Whether a line is of a channel's own characters, in a range of places.
fn is_in(places: &Range<u64>, line: &Line) -> bool {
    line.kind.class() != Class::Sender && places.contains(&line.at)
}

fn odd((line, more): (Line, i64), out: &mut impl FnMut(Odd)) {
    for _ in 0..more.unsigned_abs() {
        out(if more > 0 { Odd::Missed(line.clone()) } else { Odd::Invented(line.clone()) });
    }
}

/// Whether a packet goes on behind the end of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoesOn {
    Yes,
    No,
}
