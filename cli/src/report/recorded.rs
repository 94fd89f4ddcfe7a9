//! Events of a capture, as far as the page shows them: their memory does not grow with the capture.

use std::collections::BTreeMap;

use analyzer::blocking::BlockingEvent;
use analyzer::blocking::trees::WaitTrees;
use analyzer::conversation::TransportEvent;
use analyzer::journey::Journey;
use analyzer::link::interval::ActivityInterval;
use analyzer::link::slack::FillBounds;
use codec::capture::ChannelId;
use codec::time::Tick;

use super::decimate::{StretchList, StretchValue, TimeStretch};
use super::lanes::ActivityTimes;
use super::messages::MessageRecord;
use super::numbers::{FateTotals, FillRange, fill_parts};

/// Stretches of all lanes together, and the most and the fewest of one. *Chosen*: 1024 are more than a
/// screen has columns; half a million take 40 MB.
const STRETCHES_MAX: usize = 1 << 19;
const LANE_MAX: usize = 1024;
const LANE_MIN: usize = 16;

/// Selected events of a capture.
#[derive(Default)]
pub(crate) struct RecordedEvents {
    pub(super) lanes: BTreeMap<ChannelId, StretchList<ActivityTimes>>,
    pub(super) fills: BTreeMap<ChannelId, StretchList<FillRange>>,
    pub(super) waits: WaitTrees,
    pub(super) journeys: FateTotals,
    pub(super) messages: MessageRecord,
}

/// First tick of a window, and the tick behind its last.
type TickWindow = (Tick, Tick);

impl RecordedEvents {
    /// Adds the part of an interval within a window.
    pub(crate) fn interval(&mut self, interval: &ActivityInterval, window: TickWindow) {
        let part = [interval.start, interval.end];
        add(&mut self.lanes, (interval.channel, window), part, |periods| {
            let mut times = ActivityTimes::default();
            if let Some(time) = times.0.get_mut(interval.state.index()) {
                *time = periods;
            }
            times
        });
    }

    /// Adds the part of the bounds of a slack buffer within a window.
    pub(crate) fn fill(&mut self, bounds: &FillBounds, window: TickWindow) {
        for (from, to, range) in fill_parts(bounds) {
            add(&mut self.fills, (bounds.channel, window), [Tick(from), Tick(to)], |_| range);
        }
    }

    pub(crate) fn journey(&mut self, journey: &Journey) {
        self.journeys.add(journey);
    }

    pub(crate) fn wait(&mut self, wait: BlockingEvent) {
        self.waits.add(wait);
    }

    /// Adds an event of the reliability protocol in a capture of the file.
    pub(crate) fn message(&mut self, capture: u32, event: TransportEvent) {
        match event {
            TransportEvent::Noticed(observation) => self.messages.observation(capture, observation),
            TransportEvent::Conversation(it) => self.messages.conversation(capture, *it),
            TransportEvent::Malformed(_) => {}
        }
    }
}

/// Adds the part of a stretch within a window.
fn add<T: StretchValue>(
    lists: &mut BTreeMap<ChannelId, StretchList<T>>,
    (channel, (from, to)): (ChannelId, TickWindow),
    [start, end]: [Tick; 2],
    value: impl FnOnce(u64) -> T,
) {
    let (start, end) = (start.max(from).0, end.min(to).0);
    if start < end {
        let most = (STRETCHES_MAX / (lists.len() + 1)).clamp(LANE_MIN, LANE_MAX);
        let list = lists.entry(channel).or_default();
        list.add(TimeStretch { start, end, value: value(end - start) }, most);
    }
}
