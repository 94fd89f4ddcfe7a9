//! Events of a capture, as far as the page shows them: their memory does not grow with the capture.

use std::collections::BTreeMap;

use analyzer::blocking::trees::WaitTrees;
use analyzer::flow_table::FlowTable;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::MappingText;
use codec::capture::ChannelId;
use codec::time::Tick;

use super::decimate::{StretchList, StretchValue, TimeStretch};
use super::lanes::ActivityTimes;
use super::messages::MessageRecord;
use super::moments::{self, RecordedPackets, RecordedStops};
use super::numbers::{FateTotals, FillRange, fill_parts};
use crate::analyze::CliAnalysis;
use crate::args::CapturePart;

/// Stretches of all lanes together, and the most and the fewest of one. *Chosen*: half a million take 40 MB.
const STRETCHES_MAX: usize = 1 << 19;
const LANE_MAX: usize = 1 << 14;
const LANE_MIN: usize = 16;

/// Selected events of a capture.
#[derive(Default)]
pub(crate) struct RecordedEvents {
    pub(super) lanes: BTreeMap<ChannelId, StretchList<ActivityTimes>>,
    pub(super) fills: BTreeMap<ChannelId, StretchList<FillRange>>,
    pub(super) waits: WaitTrees,
    pub(super) stops: RecordedStops,
    pub(super) journeys: FateTotals,
    pub(super) packets: RecordedPackets,
    pub(super) flows: FlowTable,
    pub(super) messages: MessageRecord,
    pub(super) mapping: MappingText,
}

impl RecordedEvents {
    /// Adds an event, if the options select it.
    pub(crate) fn add(&mut self, part: &CapturePart, analysis: &CliAnalysis, event: AnalysisEvent) {
        let Some(channel) = part.channel_of(&event, &|id| analysis.channel(id)) else {
            return;
        };
        let window = part.window().on(channel);
        match event {
            AnalysisEvent::Interval(it) => {
                let part = (it.start.0, it.end.0);
                add(&mut self.lanes, (it.channel, window), part, |periods| {
                    let mut times = ActivityTimes::default();
                    times.get_mut(it.state.index()).into_iter().for_each(|time| *time = periods);
                    times
                });
            }
            AnalysisEvent::Slack(event) => {
                let Some(it) = event.fill() else { return };
                for (from, to, range) in fill_parts(it) {
                    let channel = (it.channel, window);
                    add(&mut self.fills, channel, (from, to), |_| range);
                }
            }
            AnalysisEvent::Journey(journey) => {
                self.journeys.add(&journey);
                self.flows.add(&journey, &|id| analysis.channel(id));
                moments::add_packet(&mut self.packets, &journey);
            }
            AnalysisEvent::Blocked(wait) => {
                moments::add_stop(&mut self.stops, &wait);
                self.waits.add(wait);
            }
            AnalysisEvent::Conversation(event) => self.messages.add(channel.capture, event),
            AnalysisEvent::Mapping(event) => self.mapping.add(event, channel),
            AnalysisEvent::Row(_) | AnalysisEvent::Case(_) | AnalysisEvent::Fault(_) => {}
        }
    }
}

/// Adds the part of a stretch within a window.
fn add<T: StretchValue>(
    lists: &mut BTreeMap<ChannelId, StretchList<T>>,
    (channel, (from, to)): (ChannelId, (Tick, Tick)),
    (start, end): (u64, u64),
    value: impl FnOnce(u64) -> T,
) {
    let (start, end) = (start.max(from.0), end.min(to.0));
    if start < end {
        let most = (STRETCHES_MAX / (lists.len() + 1)).clamp(LANE_MIN, LANE_MAX);
        let list = lists.entry(channel).or_default();
        list.add(TimeStretch { start, end, value: value(end - start) }, most);
    }
}
