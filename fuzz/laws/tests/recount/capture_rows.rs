//! The rows of a capture and its characters, from which totals are computed once more.

use std::collections::BTreeMap;

use analyzer::blocking::{BlockingEvent, StopReport};
use analyzer::event::{LinkEvent, TimedEvent};
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::link::interval::ActivityInterval;
use analyzer::options::AnalysisScope;
use analyzer::packet::{ByteRetention, FrameEnd};
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::timeline::EventFilter;
use analyzer::{ChannelEvent, Journey};
use codec::Character;
use codec::capture::{CaptureItem, CaptureReader, Channel, ChannelId, ReadProgress};
use laws::chars::expansion;
use laws::network::analyzed::analyze;
use laws::single_thread::use_one_thread;

pub(crate) struct CaptureRows<'a> {
    pub(crate) analysis: CaptureAnalysis<&'a [u8]>,
    pub(crate) peers: BTreeMap<ChannelId, ChannelId>,
    /// Recorded characters of each channel with their places.
    pub(crate) characters: BTreeMap<ChannelId, Vec<(u64, Character)>>,
    /// Events of all channels, commands included, in order of time.
    pub(crate) events: Vec<TimedEvent>,
    pub(crate) journeys: Vec<Journey>,
    pub(crate) intervals: Vec<ActivityInterval>,
    pub(crate) stops: Vec<StopReport>,
}

impl<'a> CaptureRows<'a> {
    pub(crate) fn of(capture: &'a [u8]) -> Self {
        use_one_thread();
        let (mut journeys, mut intervals, mut stops) = (Vec::new(), Vec::new(), Vec::new());
        let mut times = Vec::new();
        let analysis = analyze(capture, AnalysisScope::Everything, &mut |event| match event {
            AnalysisEvent::Interval(interval) => intervals.push(interval),
            AnalysisEvent::Journey(journey) => journeys.push(journey),
            AnalysisEvent::Blocked(BlockingEvent::Stop(stop)) => stops.push(stop),
            // What the end of the recording cuts comes last.
            AnalysisEvent::Row(TimedEvent { time, channel, body, .. }) => {
                let is_cut = body.packet().is_some_and(|it| it.ended_by == FrameEnd::CaptureEnd);
                times.extend((!is_cut).then_some((channel, time)));
            }
            AnalysisEvent::Slack(_) | AnalysisEvent::Case(_) | AnalysisEvent::Conversation(_) => {}
            AnalysisEvent::Mapping(_) | AnalysisEvent::Fault(_) => {}
            AnalysisEvent::Blocked(BlockingEvent::Deadlock(_)) => {}
        });
        let of_capture = |(channel, time)| (analysis.channel(channel).map(|it| it.capture), time);
        let times = times.into_iter().map(of_capture);
        assert!(times.is_sorted(), "rows are in order of time, whatever their rates");
        let (peers, characters, events) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut rows = Self { analysis, peers, characters, events, journeys, intervals, stops };
        rows.read(capture);
        rows
    }

    fn read(&mut self, capture: &[u8]) {
        let mut reader = CaptureReader::new(capture);
        let mut keep = |item: CaptureItem<'_>| match item {
            CaptureItem::Channel(id, _) => _ = self.characters.entry(id).or_default(),
            CaptureItem::Link(one, other) => self.peers.extend([(one, other), (other, one)]),
            CaptureItem::Chunk(id, chunk) => {
                self.characters.get_mut(&id).unwrap().extend(expansion(&chunk));
            }
            CaptureItem::Section => {}
            CaptureItem::Fault(fault) => panic!("{fault}"),
        };
        while reader.step(&mut keep).unwrap() == ReadProgress::More {}
        let mut reader = EventReader::new(capture, EventFilter::All, ByteRetention::Forget);
        let mut keep = |item: ReadItem<'_>| match item {
            ReadItem::Row(_, event) => self.events.push(event),
            ReadItem::Fault(fault) => panic!("{fault}"),
        };
        while reader.step(&mut keep).unwrap() == ReadProgress::More {}
    }

    pub(crate) fn channel(&self, id: ChannelId) -> &Channel {
        self.analysis.channel(id).unwrap()
    }

    /// Begin and end of what was recorded of a channel, in picoseconds.
    fn span(&self, id: ChannelId) -> Option<[u128; 2]> {
        let (characters, period) = (&self.characters[&id], self.channel(id).period);
        Some([characters.first()?.0, characters.last()?.0 + 1].map(|at| period.time(at)))
    }

    /// Begin and end of the time in which a channel and its opposite were both recorded, in picoseconds.
    pub(crate) fn opposed(&self, id: ChannelId) -> Option<[u128; 2]> {
        let ([from, to], [begin, end]) = self.span(id).zip(self.span(*self.peers.get(&id)?))?;
        (from.max(begin) < to.min(end)).then_some([from.max(begin), to.min(end)])
    }

    /// Events of one channel.
    pub(crate) fn own(&self, id: ChannelId) -> impl Iterator<Item = &TimedEvent> {
        self.events.iter().filter(move |event| event.channel == id)
    }

    /// Events on a channel and on the opposite one, in order of time, each with the character of the channel at that
    /// moment; true for those on the channel itself.
    pub(crate) fn of_both(
        &self,
        id: ChannelId,
    ) -> impl Iterator<Item = (bool, u64, &ChannelEvent)> {
        let (peer, period) = (self.peers.get(&id).copied(), self.channel(id).period);
        self.events.iter().filter_map(move |event| {
            let is_own = event.channel == id;
            let at = if is_own { event.at.0 } else { period.periods(event.time) };
            (is_own || Some(event.channel) == peer).then_some((is_own, at, &event.body))
        })
    }

    /// The link events of them.
    pub(crate) fn of_link(&self, id: ChannelId) -> impl Iterator<Item = (bool, u64, &LinkEvent)> {
        self.of_both(id).filter_map(|(is_own, at, event)| Some((is_own, at, event.link()?)))
    }
}
