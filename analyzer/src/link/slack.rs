//! Bounds of the fill of the slack buffer at the far end of a channel. F-3..F-5, F-9
//!
//! The receiver R at the far end of the channel stores its characters and commands its sender on the
//! opposite channel. What R removes is not visible, but it is at most one cell per period of the full
//! rate. All times are converted to R's clock: the period in which a character reaches R. The fill of a
//! period counts after its character is stored and before anything is removed. With the tap at the
//! sender's end, a character reaches R a delay D later, and R decided a command D plus the generation
//! time before it reaches the tap; with the tap at R's end only the generation time applies.
//!
//! So the fill is computed up to the last period from which every command would have reached the tap,
//! and since which the opposite channel cannot have been silent long enough to open the link (F-7).
//! Characters of the channel behind that period are queued.

mod align;
mod arrival;
mod bound_tracker;
mod fill_row;
mod linear;
mod segment;
mod slack_totals;

use std::collections::VecDeque;

use codec::capture::{Channel, ChannelId};
use codec::framing::LinkRules;
use codec::time::{CharacterPeriod, FULL_RATE_PERIOD_PS, OPEN_LINK, Tick};

use self::align::{LateDataMeaning, SlackAligner};
use self::arrival::{IntakeEvent, SettleUrgency, SlackCommand, SlackTiming};
pub use self::fill_row::FillRow;
pub use self::slack_totals::SlackRow;
use super::parameters::{
    ChannelParameters, LinkAssumptions, ParameterKey, ParameterSource, ParameterValue,
    UnknownParameters,
};
use crate::channel_name::TapEnd;
use crate::event::{ChannelEvent, FlowCommand, LinkEvent};
use crate::options::AnalysisScope;
use crate::packet::FrameEnd;

/// Silent periods before the period in which an open link is detected. F-7
const SILENT: u64 = OPEN_LINK.0 - 1;

/// A pause of data, in periods, behind which a sender that is seen from the far end may have gone on by itself: what
/// silences the cable for so long may have silenced it for 16 periods there, with an IDLE of fill on either side. F-7, F-8
pub(crate) const SILENT_ELSEWHERE: u64 = OPEN_LINK.0 - 2;

/// Linear bounds of a fill over an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillBounds {
    /// The channel that fills the buffer.
    pub channel: ChannelId,
    /// First period, on the far receiver's clock. Its character has this index with the tap at the
    /// receiver's end, and an index lower by the delay with the tap at the sender's end.
    pub start: Tick,
    /// The period after the last.
    pub end: Tick,
    /// Minimum of full cells in the first period.
    pub lo: u32,
    /// Change of the minimum per period.
    pub lo_slope: i32,
    /// Maximum of full cells in the first period.
    pub hi: u32,
    /// Change of the maximum per period.
    pub hi_slope: i32,
}

/// An event of a slack buffer. Times are on the far receiver's clock, as in [`FillBounds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlackEvent {
    /// Bounds over an interval.
    Fill(FillBounds),
    /// Data continued after a STOP for longer than delay and latencies allow. F-4
    Late {
        /// The channel.
        channel: ChannelId,
        /// First late character.
        at: Tick,
        /// Number of late characters.
        by: u64,
    },
    /// Characters after a STOP may have overrun the buffer. F-9
    OverrunRisk {
        /// The channel.
        channel: ChannelId,
        /// First character that may be lost.
        at: Tick,
        /// Number of characters that may be lost.
        by: u64,
    },
    /// The capture contradicts the parameters; the fill is unknown from about here to the next STOP or
    /// GO.
    Contradiction {
        /// The channel.
        channel: ChannelId,
        /// The contradictory command.
        at: Tick,
        /// True if all parameters involved are declared.
        is_declared: bool,
    },
}

/// Parameters that determine fill and time of the decision for a STOP or GO.
pub(crate) const THRESHOLDS: &[ParameterKey] = &[
    ParameterKey::GoSlack,
    ParameterKey::Hysteresis,
    ParameterKey::StopSlack,
    ParameterKey::Delay,
    ParameterKey::Generation,
];
/// Parameters that determine the last data after a STOP.
pub(crate) const STOP_RESPONSE: &[ParameterKey] =
    &[ParameterKey::Delay, ParameterKey::Interpretation];
/// Parameters that determine the room left after a STOP.
pub(crate) const ROOM: &[ParameterKey] =
    &[ParameterKey::StopSlack, ParameterKey::Delay, ParameterKey::Generation];

impl FillBounds {
    /// The bounds in a period.
    pub fn at(&self, period: Tick) -> Option<(u32, u32)> {
        let periods = i64::try_from(period.0.checked_sub(self.start.0)?).ok()?;
        let value = |first: u32, slope: i32| {
            u32::try_from(i64::from(first) + i64::from(slope) * periods).unwrap_or(0)
        };
        let bounds = (value(self.lo, self.lo_slope), value(self.hi, self.hi_slope));
        (period < self.end).then_some(bounds)
    }

    /// Number of periods.
    pub const fn periods(&self) -> u64 {
        self.end.since(self.start).0
    }
}

impl SlackEvent {
    /// The channel that fills the buffer.
    pub const fn channel(&self) -> ChannelId {
        match self {
            Self::Fill(FillBounds { channel, .. })
            | Self::Late { channel, .. }
            | Self::OverrunRisk { channel, .. }
            | Self::Contradiction { channel, .. } => *channel,
        }
    }

    /// The bounds, if it has some.
    pub const fn fill(&self) -> Option<&FillBounds> {
        if let Self::Fill(fill) = self { Some(fill) } else { None }
    }

    /// Time at which the event became known.
    pub const fn at(&self) -> Tick {
        match self {
            Self::Fill(fill) => fill.end,
            Self::Late { at, .. }
            | Self::OverrunRisk { at, .. }
            | Self::Contradiction { at, .. } => *at,
        }
    }
}

/// The recorded part of a channel. Characters behind a hole count only once the hole's event has come.
#[derive(Clone, Debug, Default)]
struct RecordedExtent {
    /// Nothing is missing before this character but holes whose events have come.
    end: Option<Tick>,
    /// Ranges behind holes whose events have not come.
    later: VecDeque<[Tick; 2]>,
}

impl RecordedExtent {
    fn add(&mut self, [first, end]: [Tick; 2]) {
        match (self.later.back_mut(), self.end) {
            (Some([_, before]), _) if *before == first => *before = end,
            (None, before) if before.is_none_or(|before| first <= before) => self.end = Some(end),
            (Some(_) | None, _) => self.later.push_back([first, end]),
        }
    }

    /// Processes the event of the hole before a character.
    fn pass(&mut self, at: Tick) {
        while let Some([_, end]) = self.later.pop_front_if(|[first, _]| *first <= at) {
            self.end = Some(end);
        }
    }
}

/// Tracks the slack buffer at the far end of one channel.
#[derive(Clone, Debug)]
pub struct SlackTracker {
    /// The tapped end; `None` if it is unknown, on handshake links (B-1) and on virtual channels (C-7).
    end: Option<TapEnd>,
    period: CharacterPeriod,
    parameters: ChannelParameters,
    aligner: SlackAligner,
    /// Recorded parts of the channel and of the opposite one.
    recorded: [RecordedExtent; 2],
    /// The last probe on the channel, until it is answered. R-6
    pending_probe: Option<Tick>,
    channel: Channel,
    /// Least urgency of settling.
    urgency: SettleUrgency,
}

impl SlackTracker {
    /// The buffer before the channel's first character.
    pub fn new(
        id: ChannelId,
        channel: &Channel,
        assumptions: &LinkAssumptions,
        scope: AnalysisScope,
    ) -> Self {
        let parameters = ChannelParameters::of(channel, assumptions);
        let end = TapEnd::of(channel).filter(|_| channel.link_rules() == LinkRules::MYRINET);
        let period = channel.period;
        let drain = period.full_rate_periods();
        let timing = SlackTiming::new(end, &parameters, channel);
        let mut aligner = SlackAligner::new(id, &parameters, drain, timing);
        if end == Some(TapEnd::Receiver) {
            // A cable of unknown length may be longer than assumed.
            let is_known =
                parameters.of_key(ParameterKey::Delay).source != ParameterSource::Default;
            aligner.set_late_data_meaning(match is_known {
                true => LateDataMeaning::Violation,
                false => LateDataMeaning::LongerCable,
            });
        }
        Self {
            end,
            period,
            parameters,
            aligner,
            recorded: Default::default(),
            pending_probe: None,
            channel: channel.clone(),
            urgency: SettleUrgency::least(scope),
        }
    }

    pub(crate) fn recorded(&mut self, range: [Tick; 2]) {
        let [own, _] = &mut self.recorded;
        own.add(range);
    }

    pub(crate) fn opposite_recorded(&mut self, period: CharacterPeriod, range: [Tick; 2]) {
        // Characters of a channel of another rate have no exact period here.
        if period == self.period {
            let [_, opposite] = &mut self.recorded;
            opposite.add(range);
        }
    }

    /// Processes the next event of its channel. Periods before the event are settled without it, so
    /// that the result does not depend on the number of events.
    pub(crate) fn own(&mut self, at: Tick, event: &ChannelEvent) {
        if self.end.is_none() {
            return;
        }
        self.settle(at, SettleUrgency::before(event));
        let aligner = &mut self.aligner;
        match event {
            ChannelEvent::Begins => aligner.begin(at),
            ChannelEvent::Framed => aligner.enter(IntakeEvent::Found(Tick(at.0 + 1))),
            ChannelEvent::Data(len) => aligner.data(at, *len),
            ChannelEvent::Packet(packet) => match packet.ended_by {
                FrameEnd::Gap => aligner.enter(IntakeEvent::Gap(at)),
                FrameEnd::OpenLink => aligner.enter(IntakeEvent::LinkOpen(at)),
                FrameEnd::Reset | FrameEnd::Hole | FrameEnd::CaptureEnd => {}
            },
            ChannelEvent::Link(LinkEvent::ForwardReset) => aligner.enter(IntakeEvent::Reset(at)),
            ChannelEvent::Link(LinkEvent::OpenLink) => aligner.start_again(at),
            ChannelEvent::Link(LinkEvent::Hole { missing }) => {
                aligner.enter(IntakeEvent::Lost(Tick(at.0.saturating_sub(*missing))));
                let [own, _] = &mut self.recorded;
                own.pass(at);
            }
            ChannelEvent::Omitted { .. } => aligner.enter(IntakeEvent::Lost(at)),
            ChannelEvent::Link(LinkEvent::Probe(_)) => self.pending_probe = Some(at),
            ChannelEvent::Head(_) | ChannelEvent::Command(_) | ChannelEvent::Link(_) => {}
        }
    }

    /// Processes the next event of the opposite channel, at a character of this channel.
    pub(crate) fn opposite(&mut self, at: Tick, event: &ChannelEvent) {
        let [_, opposite] = &mut self.recorded;
        if self.end.is_none() || opposite.end.is_none() {
            return;
        }
        self.settle(at, SettleUrgency::before(event));
        let aligner = &mut self.aligner;
        match event {
            ChannelEvent::Command(FlowCommand::Go) => aligner.add_command(at, SlackCommand::Go),
            ChannelEvent::Command(FlowCommand::Stop) => {
                aligner.add_command(at, SlackCommand::Stop);
            }
            ChannelEvent::Link(LinkEvent::Hole { missing }) => {
                aligner.add_command(Tick(at.0.saturating_sub(*missing)), SlackCommand::Unseen);
                let [_, opposite] = &mut self.recorded;
                opposite.pass(at);
            }
            ChannelEvent::Omitted { .. } => aligner.add_command(at, SlackCommand::Unseen),
            // After 16 silent periods the far end may have lost its power. F-7
            ChannelEvent::Link(LinkEvent::OpenLink) => {
                aligner.add_command(Tick(at.0.saturating_sub(SILENT)), SlackCommand::Dark);
            }
            ChannelEvent::Link(LinkEvent::Reply(_)) => self.replied(at),
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Head(_) => {}
            ChannelEvent::Data(_) | ChannelEvent::Packet(_) | ChannelEvent::Link(_) => {}
        }
    }

    /// Settles the fill: all events before a character of the tap have come.
    fn settle(&mut self, now: Tick, urgency: SettleUrgency) {
        let now = Tick(now.0.saturating_sub(SILENT));
        if urgency.max(self.urgency) == SettleUrgency::Later
            && self.aligner.can_wait(now, self.ends())
        {
            return;
        }
        self.aligner.settle(now, self.ends());
        if let Some(late) = self.aligner.overdue() {
            let per = self.period.full_rate_periods();
            let more = u32::try_from(late.div_ceil(2).saturating_mul(per)).unwrap_or(u32::MAX);
            let value = self.parameters.of_key(ParameterKey::Delay).value.saturating_add(more);
            self.parameters.set(ParameterKey::Delay, value, ParameterSource::Stop);
            self.aligner.allow(late.div_ceil(2) * 2);
        }
    }

    fn ends(&self) -> [Option<Tick>; 2] {
        let [own, opposite] = &self.recorded;
        [own.end, opposite.end]
    }

    /// A reply bounds the delay: the round trip of the cable takes no longer. R-6
    fn replied(&mut self, at: Tick) {
        let Some(probe) = self.pending_probe.take() else { return };
        let ParameterValue { value: before, source } = self.parameters.of_key(ParameterKey::Delay);
        let unknown = source == ParameterSource::Default || source == ParameterSource::Probe;
        if self.end != Some(TapEnd::Sender) || !unknown {
            return;
        }
        let round_trip = self.period.time(at.since(probe).0);
        let delay = round_trip / u128::from(2 * FULL_RATE_PERIOD_PS);
        let Ok(value) = u32::try_from(delay) else { return };
        let nearer = source == ParameterSource::Default || value < before;
        if nearer && value <= u32::from(u16::MAX) {
            self.parameters.set(ParameterKey::Delay, value, ParameterSource::Probe);
            self.aligner.shift(SlackTiming::new(self.end, &self.parameters, &self.channel));
        }
    }

    /// Ends the recording.
    pub(crate) fn finish(&mut self) {
        self.aligner.finish(self.ends());
    }

    pub(crate) const fn has_events(&self) -> bool {
        !self.aligner.events.is_empty()
    }

    /// Removes the events so far. Without the events that depend on assumed parameters only. F-4
    pub(crate) fn take_events(&mut self) -> impl Iterator<Item = SlackEvent> {
        let Self { aligner, parameters, .. } = self;
        let declared = |keys| UnknownParameters::of(parameters, keys).is_empty();
        aligner.events.drain(..).filter_map(move |event| match event {
            SlackEvent::Fill(_) => Some(event),
            SlackEvent::Late { .. } => declared(STOP_RESPONSE).then_some(event),
            SlackEvent::OverrunRisk { .. } => declared(ROOM).then_some(event),
            SlackEvent::Contradiction { channel, at, .. } => {
                let is_declared = declared(THRESHOLDS);
                Some(SlackEvent::Contradiction { channel, at, is_declared })
            }
        })
    }

    /// The row of `links`.
    pub fn summary(&self) -> SlackRow<'_> {
        let tapped = TapEnd::of(&self.channel).map(TapEnd::name);
        self.aligner.totals.row(&self.channel.name, tapped, self.parameters)
    }

    /// The channel that fills the buffer.
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Parameters of the channel.
    pub const fn parameters(&self) -> &ChannelParameters {
        &self.parameters
    }
}
