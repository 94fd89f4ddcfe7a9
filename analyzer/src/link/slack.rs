//! How full the slack buffer at the far end of a channel is: never known, always bounded. F-3..F-5, F-9
//!
//! The receiver R at the channel's far end takes in what the channel brings and commands its sender
//! on the opposite channel; what R takes out is not seen, but it is no more than a cell in a period
//! of the full rate. Everything is brought to R's clock: the period in which R hears a character.
//! The fill of a period counts when the character of that period has been put in, before anything is
//! taken out in it. Where the tap is at the sender's end R hears a character D later, and has decided
//! what the tap hears D and the generation time earlier; at R's own end only the latter.
//!
//! So whatever arrives at the tap, the fill is settled up to those periods from which every command
//! would have been heard, and since which the opposite channel may have been silent without its being
//! known yet that the link is open (F-7). What the channel brings after them waits.

mod align;
mod arrival;
mod bound_tracker;
mod fill_row;
mod linear;
mod segment;
mod slack_totals;

use std::collections::VecDeque;

use codec::capture::{Channel, ChannelId};
use codec::time::{FULL_RATE_PERIOD_PS, OPEN_LINK, Tick};

use self::align::{LateDataMeaning, SlackAligner};
use self::arrival::{IntakeEvent, SlackCommand, SlackTiming};
pub use self::fill_row::FillRow;
pub use self::slack_totals::{SlackRow, SlackTotals};
pub use super::parameters::{ChannelParameters, LinkAssumptions, ParameterSource, ParameterValue};
use super::parameters::{ParameterKey, UnknownParameters};
use crate::channel_name::TapEnd;
use crate::event::LinkEvent;
use crate::packet::PacketEnd;
use crate::receiver::FlowCommand;
use crate::timeline::{EventBody, EventDetail};

/// Of the silence that opens a link, the periods before the one in which that is known. F-7
const SILENT: u64 = OPEN_LINK.0 - 1;

/// Bounds of a fill over a stretch of periods, as straight lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillBounds {
    /// The channel whose far receiver it is about.
    pub channel: ChannelId,
    /// The first period, on the clock of the far receiver: a character that it hears there stands at
    /// this place if the tap is at its end, and the delay earlier if it is at the sender's.
    pub start: Tick,
    /// The period after the last.
    pub end: Tick,
    /// At least so many cells are full in the first period,
    pub lo: u32,
    /// and so many more in each further one.
    pub lo_slope: i32,
    /// At most so many in the first period,
    pub hi: u32,
    /// and so many more in each further one.
    pub hi_slope: i32,
}

/// Something about a slack buffer. Places are on the clock of the far receiver, as in [`FillBounds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlackEvent {
    /// Its bounds over a stretch.
    Fill(FillBounds),
    /// Data went on for longer after a STOP than delay and latencies allow. F-4
    Late {
        /// The channel.
        channel: ChannelId,
        /// The first character that came too late.
        at: Tick,
        /// How many did.
        by: u64,
    },
    /// After a STOP so much came in that some of it may have been lost. F-9
    OverrunRisk {
        /// The channel.
        channel: ChannelId,
        /// The first cell that may have found the buffer full.
        at: Tick,
        /// How many may have.
        by: u64,
    },
    /// What is seen cannot be with what is assumed; nothing is known of the fill from about here to
    /// the next STOP or GO.
    Contradiction {
        /// The channel.
        channel: ChannelId,
        /// The command that cannot be.
        at: Tick,
        /// Whether all parameters that it rests on are declared or given.
        is_declared: bool,
    },
}

/// Parameters that say at which fill, and when, a STOP or GO was decided.
pub(crate) const THRESHOLDS: &[ParameterKey] = &[
    ParameterKey::GoSlack,
    ParameterKey::Hysteresis,
    ParameterKey::StopSlack,
    ParameterKey::Delay,
    ParameterKey::Generation,
];
/// Parameters that say until when data may arrive after a STOP.
pub(crate) const STOP_RESPONSE: &[ParameterKey] =
    &[ParameterKey::Delay, ParameterKey::Interpretation];
/// Parameters that say how many cells have room after a STOP.
pub(crate) const ROOM: &[ParameterKey] =
    &[ParameterKey::StopSlack, ParameterKey::Delay, ParameterKey::Generation];

impl FillBounds {
    /// The bounds in a period.
    #[must_use]
    pub fn at(&self, place: Tick) -> Option<(u32, u32)> {
        let periods = i64::try_from(place.0.checked_sub(self.start.0)?).ok()?;
        let value = |first: u32, slope: i32| {
            u32::try_from(i64::from(first) + i64::from(slope) * periods).unwrap_or(0)
        };
        let bounds = (value(self.lo, self.lo_slope), value(self.hi, self.hi_slope));
        (place < self.end).then_some(bounds)
    }

    /// Its periods.
    #[must_use]
    pub const fn periods(&self) -> u64 {
        self.end.since(self.start).0
    }
}

impl SlackEvent {
    /// The channel whose far receiver it is about.
    #[must_use]
    pub const fn channel(&self) -> ChannelId {
        match self {
            Self::Fill(FillBounds { channel, .. })
            | Self::Late { channel, .. }
            | Self::OverrunRisk { channel, .. }
            | Self::Contradiction { channel, .. } => *channel,
        }
    }

    /// When it became known: a place on the channel.
    #[must_use]
    pub const fn at(&self) -> Tick {
        match self {
            Self::Fill(fill) => fill.end,
            Self::Late { at, .. }
            | Self::OverrunRisk { at, .. }
            | Self::Contradiction { at, .. } => *at,
        }
    }
}

/// How far a channel was recorded: what is recorded behind a hole counts only when the row that
/// tells of the hole has come.
#[derive(Clone, Debug, Default)]
struct RecordedExtent {
    /// Up to here nothing is missing but what rows have told of.
    end: Option<Tick>,
    /// Behind holes that no row has told of yet: from a place up to another.
    later: VecDeque<[Tick; 2]>,
}

impl RecordedExtent {
    /// So much more, from a place up to another.
    fn add(&mut self, [first, end]: [Tick; 2]) {
        match (self.later.back_mut(), self.end) {
            (Some([_, before]), _) if *before == first => *before = end,
            (None, before) if before.is_none_or(|before| first <= before) => self.end = Some(end),
            (Some(_) | None, _) => self.later.push_back([first, end]),
        }
    }

    /// A row has told of the hole before a place.
    fn pass(&mut self, at: Tick) {
        while let Some([_, end]) = self.later.pop_front_if(|[first, _]| *first <= at) {
            self.end = Some(end);
        }
    }
}

/// The slack buffer at the far end of one channel.
#[derive(Clone, Debug)]
pub struct SlackTracker {
    /// Where that is not known, nothing can be aligned.
    end: Option<TapEnd>,
    period_ps: u64,
    parameters: ChannelParameters,
    aligner: SlackAligner,
    /// How far the channel and the opposite one were recorded.
    recorded: [RecordedExtent; 2],
    /// When a probe went out on the channel that has not been answered. R-6
    pending_probe: Option<Tick>,
    channel: Channel,
}

impl SlackTracker {
    /// The buffer before the channel's first character.
    #[must_use]
    pub fn new(id: ChannelId, channel: &Channel, assumptions: &LinkAssumptions) -> Self {
        let parameters = ChannelParameters::of(channel, assumptions);
        let end = TapEnd::of(channel);
        let period_ps = channel.period_ps.get();
        let drain = period_ps.div_ceil(u64::from(FULL_RATE_PERIOD_PS));
        let timing = timing(end, &parameters, channel);
        let mut settling = SlackAligner::new(id, &parameters, drain, timing);
        if end == Some(TapEnd::Receiver) {
            // Where nobody has said how long the cable is, it may be longer than is thought.
            let is_told = parameters.delay.source != ParameterSource::Default;
            let lateness =
                if is_told { LateDataMeaning::Violation } else { LateDataMeaning::LongerCable };
            settling.set_late_data_meaning(lateness);
        }
        Self {
            end,
            period_ps,
            parameters,
            aligner: settling,
            recorded: Default::default(),
            pending_probe: None,
            channel: channel.clone(),
        }
    }

    /// The channel is recorded from a place up to another.
    pub fn recorded(&mut self, places: [Tick; 2]) {
        let [own, _] = &mut self.recorded;
        own.add(places);
    }

    /// The opposite channel is.
    pub fn opposite_recorded(&mut self, period_ps: u64, places: [Tick; 2]) {
        // What is heard on a channel of another rate cannot be brought to the period.
        if period_ps == self.period_ps {
            let [_, opposite] = &mut self.recorded;
            opposite.add(places);
        }
    }

    /// Takes the next row of its channel. Where the rows are of before it is settled without it, so
    /// that it makes no difference how many rows there were.
    pub fn own(&mut self, at: Tick, what: &EventBody, out: &mut impl FnMut(SlackEvent)) {
        if self.end.is_none() {
            return;
        }
        self.settle(at, &mut suppress_assumed(self.parameters, out));
        let settling = &mut self.aligner;
        match what {
            EventBody::Detail(EventDetail::Begins) => settling.begin(at),
            EventBody::Detail(EventDetail::Framed) => {
                settling.enter(IntakeEvent::Found(Tick(at.0 + 1)))
            }
            EventBody::Detail(EventDetail::Data(len)) => settling.data(at, *len),
            EventBody::Packet(packet) => match packet.ended_by {
                PacketEnd::Gap => settling.enter(IntakeEvent::Gap(at)),
                PacketEnd::OpenLink => settling.enter(IntakeEvent::LinkOpen(at)),
                PacketEnd::Reset | PacketEnd::Hole | PacketEnd::CaptureEnd => {}
            },
            EventBody::Event(LinkEvent::ForwardReset) => settling.enter(IntakeEvent::Reset(at)),
            EventBody::Event(LinkEvent::OpenLink) => settling.start_again(at),
            EventBody::Event(LinkEvent::Hole { missing }) => {
                settling.enter(IntakeEvent::Lost(Tick(at.0.saturating_sub(*missing))));
                let [own, _] = &mut self.recorded;
                own.pass(at);
            }
            EventBody::Omitted { .. } => settling.enter(IntakeEvent::Lost(at)),
            EventBody::Event(LinkEvent::Probe(_)) => self.pending_probe = Some(at),
            EventBody::Detail(EventDetail::Head(_) | EventDetail::Command(_))
            | EventBody::Event(_) => {}
        }
    }

    /// Takes the next row of the opposite channel, at a place of its own channel.
    pub fn opposite(&mut self, at: Tick, what: &EventBody, out: &mut impl FnMut(SlackEvent)) {
        let [_, opposite] = &mut self.recorded;
        if self.end.is_none() || opposite.end.is_none() {
            return;
        }
        self.settle(at, &mut suppress_assumed(self.parameters, out));
        let settling = &mut self.aligner;
        match what {
            EventBody::Detail(EventDetail::Command(FlowCommand::Go)) => {
                settling.add_command(at, SlackCommand::Go)
            }
            EventBody::Detail(EventDetail::Command(FlowCommand::Stop)) => {
                settling.add_command(at, SlackCommand::Stop)
            }
            EventBody::Event(LinkEvent::Hole { missing }) => {
                settling.add_command(Tick(at.0.saturating_sub(*missing)), SlackCommand::Unseen);
                let [_, opposite] = &mut self.recorded;
                opposite.pass(at);
            }
            EventBody::Omitted { .. } => settling.add_command(at, SlackCommand::Unseen),
            // Nothing has come for 16 periods: the far end may have lost its power since. F-7
            EventBody::Event(LinkEvent::OpenLink) => {
                settling.add_command(Tick(at.0.saturating_sub(SILENT)), SlackCommand::Dark);
            }
            EventBody::Event(LinkEvent::Reply(_)) => self.replied(at),
            EventBody::Detail(_) | EventBody::Packet(_) | EventBody::Event(_) => {}
        }
    }

    /// All before a place of the tap has been told.
    fn settle(&mut self, now: Tick, out: &mut impl FnMut(SlackEvent)) {
        let now = Tick(now.0.saturating_sub(SILENT));
        self.aligner.settle(now, self.ends(), out);
        if let Some(late) = self.aligner.overdue() {
            let per = self.period_ps.div_ceil(u64::from(FULL_RATE_PERIOD_PS)).max(1);
            let more = u32::try_from(late.div_ceil(2).saturating_mul(per)).unwrap_or(u32::MAX);
            let value = self.parameters.delay.value.saturating_add(more);
            self.parameters.delay = ParameterValue { value, source: ParameterSource::Stop };
            self.aligner.allow(late.div_ceil(2) * 2);
        }
    }

    fn ends(&self) -> [Option<Tick>; 2] {
        let [own, opposite] = &self.recorded;
        [own.end, opposite.end]
    }

    /// A probe has been answered: there and back the cable takes no longer. R-6
    fn replied(&mut self, at: Tick) {
        let Some(probed) = self.pending_probe.take() else { return };
        let source = self.parameters.delay.source;
        let unknown = source == ParameterSource::Default || source == ParameterSource::Probe;
        if self.end != Some(TapEnd::Sender) || !unknown {
            return;
        }
        let round_trip = u128::from(at.since(probed).0) * u128::from(self.period_ps);
        let delay = round_trip / u128::from(2 * FULL_RATE_PERIOD_PS);
        let Ok(value) = u32::try_from(delay) else { return };
        let nearer = source == ParameterSource::Default || value < self.parameters.delay.value;
        if nearer && value <= u32::from(u16::MAX) {
            self.parameters.delay = ParameterValue { value, source: ParameterSource::Probe };
            self.aligner.shift(timing(self.end, &self.parameters, &self.channel));
        }
    }

    /// The recording ends.
    pub fn finish(&mut self, out: &mut impl FnMut(SlackEvent)) {
        self.aligner.finish(self.ends(), &mut suppress_assumed(self.parameters, out));
    }

    /// What there is to say about all of it.
    #[must_use]
    pub fn summary(&self) -> SlackRow<'_> {
        let tapped = self.end.map(|end| match end {
            TapEnd::Sender => "sender",
            TapEnd::Receiver => "receiver",
        });
        self.aligner.marks().row(&self.channel.name, tapped, self.parameters)
    }

    /// The channel that fills it.
    #[must_use]
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// What is taken for granted.
    #[must_use]
    pub const fn parameters(&self) -> &ChannelParameters {
        &self.parameters
    }
}

/// Leaves out what rests on parameters that are only assumed. F-4
fn suppress_assumed<F: FnMut(SlackEvent)>(
    parameters: ChannelParameters,
    out: &mut F,
) -> impl FnMut(SlackEvent) {
    move |said| {
        let told = |keys| UnknownParameters::of(&parameters, keys).is_empty();
        match said {
            SlackEvent::Late { .. } if !told(STOP_RESPONSE) => {}
            SlackEvent::OverrunRisk { .. } if !told(ROOM) => {}
            SlackEvent::Contradiction { channel, at, .. } => {
                out(SlackEvent::Contradiction { channel, at, is_declared: told(THRESHOLDS) });
            }
            SlackEvent::Fill(_) | SlackEvent::Late { .. } | SlackEvent::OverrunRisk { .. } => {
                out(said);
            }
        }
    }
}

/// How periods of the tap and of the far receiver lie to each other.
fn timing(end: Option<TapEnd>, parameters: &ChannelParameters, channel: &Channel) -> SlackTiming {
    let (delay, rest) = parameters.delay_on(channel);
    let [generation, interpretation] =
        [parameters.generation, parameters.interpretation].map(|it| u64::from(it.value));
    let there = if end == Some(TapEnd::Sender) { delay } else { 0 };
    SlackTiming {
        arrives: there,
        decided: there + generation + rest,
        effective: 2 * (delay + rest) + generation + interpretation,
        forgotten: interpretation + rest,
    }
}
