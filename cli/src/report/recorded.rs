//! Events of a capture, as far as the page shows them: their memory does not grow with the capture.

use std::collections::BTreeMap;

use analyzer::blocking::trees::WaitTrees;
use analyzer::journey::JourneyHop;
use analyzer::link::slack::SlackEvent;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::MappingText;
use codec::capture::ChannelId;
use codec::time::Tick;

use super::decimate::{StretchList, StretchValue, TimeStretch};
use super::lanes::ActivityTimes;
use super::messages::MessageRecord;
use super::numbers::{FateTotals, FillRange, fill_parts};
use crate::analyze::{CliAnalysis, is_selected};
use crate::args::ViewArgs;
use crate::commands::{blocking, conversations, mapping};

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
    pub(super) mapping: MappingText,
}

impl RecordedEvents {
    /// Adds an event, if the options select it.
    pub(crate) fn add(&mut self, view: &ViewArgs, analysis: &CliAnalysis, event: AnalysisEvent) {
        let window = |id| {
            let channel = analysis.channel(id).filter(|it| view.channels().selects(it));
            channel.map_or((Tick(0), Tick(0)), |channel| view.window().on(channel))
        };
        match event {
            AnalysisEvent::Interval(it) => {
                let part = (it.start.0, it.end.0);
                add(&mut self.lanes, (it.channel, window(it.channel)), part, |periods| {
                    let mut times = ActivityTimes::default();
                    times.get_mut(it.state.index()).into_iter().for_each(|time| *time = periods);
                    times
                });
            }
            AnalysisEvent::Slack(SlackEvent::Fill(it)) => {
                for (from, to, range) in fill_parts(&it) {
                    let channel = (it.channel, window(it.channel));
                    add(&mut self.fills, channel, (from, to), |_| range);
                }
            }
            AnalysisEvent::Journey(journey) => {
                let is_on = |hop: &JourneyHop| {
                    let channel = analysis.channel(hop.channel);
                    channel.is_some_and(|channel| is_selected(view, channel, hop.start, hop.end))
                };
                if journey.hops.iter().any(is_on) {
                    self.journeys.add(&journey);
                }
            }
            AnalysisEvent::Blocked(_) => {
                let wait = blocking::selected(view, None, analysis, event);
                wait.into_iter().for_each(|wait| self.waits.add(wait));
            }
            AnalysisEvent::Spoken(_) => {
                if let Some((event, place)) = conversations::selected(view, analysis, event) {
                    let capture = analysis.channel(place.channel).map_or(0, |it| it.capture);
                    self.messages.add(capture, event);
                }
            }
            AnalysisEvent::Mapping(_) => {
                if let Some((event, channel)) = mapping::selected(view, analysis, event) {
                    self.mapping.add(event, channel);
                }
            }
            AnalysisEvent::Row(_) | AnalysisEvent::Case(_) | AnalysisEvent::Fault(_) => {}
            AnalysisEvent::Slack(
                SlackEvent::Late { .. }
                | SlackEvent::OverrunRisk { .. }
                | SlackEvent::Contradiction { .. },
            ) => {}
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
