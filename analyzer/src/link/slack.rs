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

mod arrival;
mod bound;
mod piece;
mod ramp;
mod row;
mod settle;
mod summary;

use std::collections::VecDeque;

use codec::capture::{Channel, ChannelId};
use codec::tick::{FULL_RATE_PERIOD_PS, OPEN_LINK, Tick};

use self::arrival::{Entry, Order, Timing};
pub use self::row::FillRow;
use self::settle::{Lateness, Settling};
pub use self::summary::{Marks, SlackRow};
pub use super::assume::{Assumed, Assumptions, Parameters, Source};
use super::assume::{Key, UnknownParameters};
use crate::channel::Command;
use crate::event::Event;
use crate::packet::EndedBy;
use crate::place::TapEnd;
use crate::timeline::{Detail, What};

/// Of the silence that opens a link, the periods before the one in which that is known. F-7
const SILENT: u64 = OPEN_LINK.0 - 1;

/// Bounds of a fill over a stretch of periods, as straight lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
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

/// Something about a slack buffer. Places are on the clock of the far receiver, as in [`Fill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlackSaid {
    /// Its bounds over a stretch.
    Fill(Fill),
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
        is_told: bool,
    },
}

/// Parameters that say at which fill, and when, a STOP or GO was decided.
pub(crate) const THRESHOLDS: &[Key] =
    &[Key::GoSlack, Key::Hysteresis, Key::StopSlack, Key::Delay, Key::Generation];
/// Parameters that say until when data may arrive after a STOP.
pub(crate) const OBEDIENCE: &[Key] = &[Key::Delay, Key::Interpretation];
/// Parameters that say how many cells have room after a STOP.
pub(crate) const ROOM: &[Key] = &[Key::StopSlack, Key::Delay, Key::Generation];

impl Fill {
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

impl SlackSaid {
    /// The channel whose far receiver it is about.
    #[must_use]
    pub const fn channel(&self) -> ChannelId {
        match self {
            Self::Fill(Fill { channel, .. })
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
struct Recorded {
    /// Up to here nothing is missing but what rows have told of.
    end: Option<Tick>,
    /// Behind holes that no row has told of yet: from a place up to another.
    later: VecDeque<[Tick; 2]>,
}

impl Recorded {
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
pub struct Slack {
    /// Where that is not known, nothing can be aligned.
    end: Option<TapEnd>,
    period_ps: u64,
    parameters: Parameters,
    settling: Settling,
    /// How far the channel and the opposite one were recorded.
    recorded: [Recorded; 2],
    /// When a probe went out on the channel that has not been answered. R-6
    probed: Option<Tick>,
    channel: Channel,
}

impl Slack {
    /// The buffer before the channel's first character.
    #[must_use]
    pub fn new(id: ChannelId, channel: &Channel, assumptions: &Assumptions) -> Self {
        let parameters = Parameters::of(channel, assumptions);
        let end = TapEnd::of(channel);
        let period_ps = channel.period_ps.get();
        let drain = period_ps.div_ceil(u64::from(FULL_RATE_PERIOD_PS));
        let timing = timing(end, &parameters, channel);
        let mut settling = Settling::new(id, &parameters, drain, timing);
        if end == Some(TapEnd::Receiver) {
            // Where nobody has said how long the cable is, it may be longer than is thought.
            let is_told = parameters.delay.source != Source::Default;
            let lateness = if is_told { Lateness::IsTold } else { Lateness::Lengthens };
            settling.judge_from_afar(lateness);
        }
        Self {
            end,
            period_ps,
            parameters,
            settling,
            recorded: Default::default(),
            probed: None,
            channel: channel.clone(),
        }
    }

    /// The channel is recorded from a place up to another.
    pub fn recorded(&mut self, places: [Tick; 2]) {
        let [own, _] = &mut self.recorded;
        own.add(places);
    }

    /// The opposite channel is.
    pub fn heard(&mut self, period_ps: u64, places: [Tick; 2]) {
        // What is heard on a channel of another rate cannot be brought to the period.
        if period_ps == self.period_ps {
            let [_, opposite] = &mut self.recorded;
            opposite.add(places);
        }
    }

    /// Takes the next row of its channel. Where the rows are of before it is settled without it, so
    /// that it makes no difference how many rows there were.
    pub fn own(&mut self, at: Tick, what: &What, out: &mut impl FnMut(SlackSaid)) {
        if self.end.is_none() {
            return;
        }
        self.settle(at, &mut judged(self.parameters, out));
        let settling = &mut self.settling;
        match what {
            What::Detail(Detail::Begins) => settling.begin(at),
            What::Detail(Detail::Framed) => settling.enter(Entry::Found(Tick(at.0 + 1))),
            What::Detail(Detail::Data(len)) => settling.data(at, *len),
            What::Packet(packet) => match packet.ended_by {
                EndedBy::Gap => settling.enter(Entry::Gap(at)),
                EndedBy::OpenLink => settling.enter(Entry::LinkOpen(at)),
                EndedBy::Reset | EndedBy::Hole | EndedBy::CaptureEnd => {}
            },
            What::Event(Event::ForwardReset) => settling.enter(Entry::Reset(at)),
            What::Event(Event::OpenLink) => settling.start_again(at),
            What::Event(Event::Hole { missing }) => {
                settling.enter(Entry::Lost(Tick(at.0.saturating_sub(*missing))));
                let [own, _] = &mut self.recorded;
                own.pass(at);
            }
            What::Omitted { .. } => settling.enter(Entry::Lost(at)),
            What::Event(Event::Probe(_)) => self.probed = Some(at),
            What::Detail(Detail::Head(_) | Detail::Command(_)) | What::Event(_) => {}
        }
    }

    /// Takes the next row of the opposite channel, at a place of its own channel.
    pub fn opposite(&mut self, at: Tick, what: &What, out: &mut impl FnMut(SlackSaid)) {
        let [_, opposite] = &mut self.recorded;
        if self.end.is_none() || opposite.end.is_none() {
            return;
        }
        self.settle(at, &mut judged(self.parameters, out));
        let settling = &mut self.settling;
        match what {
            What::Detail(Detail::Command(Command::Go)) => settling.order(at, Order::Go),
            What::Detail(Detail::Command(Command::Stop)) => settling.order(at, Order::Stop),
            What::Event(Event::Hole { missing }) => {
                settling.order(Tick(at.0.saturating_sub(*missing)), Order::Unseen);
                let [_, opposite] = &mut self.recorded;
                opposite.pass(at);
            }
            What::Omitted { .. } => settling.order(at, Order::Unseen),
            // Nothing has come for 16 periods: the far end may have lost its power since. F-7
            What::Event(Event::OpenLink) => {
                settling.order(Tick(at.0.saturating_sub(SILENT)), Order::Dark);
            }
            What::Event(Event::Reply(_)) => self.replied(at),
            What::Detail(_) | What::Packet(_) | What::Event(_) => {}
        }
    }

    /// All before a place of the tap has been told.
    fn settle(&mut self, now: Tick, out: &mut impl FnMut(SlackSaid)) {
        let now = Tick(now.0.saturating_sub(SILENT));
        self.settling.settle(now, self.ends(), out);
        if let Some(late) = self.settling.overdue() {
            let per = self.period_ps.div_ceil(u64::from(FULL_RATE_PERIOD_PS)).max(1);
            let more = u32::try_from(late.div_ceil(2).saturating_mul(per)).unwrap_or(u32::MAX);
            let value = self.parameters.delay.value.saturating_add(more);
            self.parameters.delay = Assumed { value, source: Source::Stop };
            self.settling.allow(late.div_ceil(2) * 2);
        }
    }

    fn ends(&self) -> [Option<Tick>; 2] {
        let [own, opposite] = &self.recorded;
        [own.end, opposite.end]
    }

    /// A probe has been answered: there and back the cable takes no longer. R-6
    fn replied(&mut self, at: Tick) {
        let Some(probed) = self.probed.take() else { return };
        let source = self.parameters.delay.source;
        let unknown = source == Source::Default || source == Source::Probe;
        if self.end != Some(TapEnd::Sender) || !unknown {
            return;
        }
        let round_trip = u128::from(at.since(probed).0) * u128::from(self.period_ps);
        let delay = round_trip / u128::from(2 * FULL_RATE_PERIOD_PS);
        let Ok(value) = u32::try_from(delay) else { return };
        let nearer = source == Source::Default || value < self.parameters.delay.value;
        if nearer && value <= u32::from(u16::MAX) {
            self.parameters.delay = Assumed { value, source: Source::Probe };
            self.settling.shift(timing(self.end, &self.parameters, &self.channel));
        }
    }

    /// The recording ends.
    pub fn finish(&mut self, out: &mut impl FnMut(SlackSaid)) {
        self.settling.finish(self.ends(), &mut judged(self.parameters, out));
    }

    /// What there is to say about all of it.
    #[must_use]
    pub fn summary(&self) -> SlackRow<'_> {
        let tapped = self.end.map(|end| match end {
            TapEnd::Sender => "sender",
            TapEnd::Receiver => "receiver",
        });
        self.settling.marks().row(&self.channel.name, tapped, self.parameters)
    }

    /// The channel that fills it.
    #[must_use]
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// What is taken for granted.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}

/// Leaves out what rests on parameters that are only assumed. F-4
fn judged<F: FnMut(SlackSaid)>(parameters: Parameters, out: &mut F) -> impl FnMut(SlackSaid) {
    move |said| {
        let told = |keys| UnknownParameters::of(&parameters, keys).is_empty();
        match said {
            SlackSaid::Late { .. } if !told(OBEDIENCE) => {}
            SlackSaid::OverrunRisk { .. } if !told(ROOM) => {}
            SlackSaid::Contradiction { channel, at, .. } => {
                out(SlackSaid::Contradiction { channel, at, is_told: told(THRESHOLDS) });
            }
            SlackSaid::Fill(_) | SlackSaid::Late { .. } | SlackSaid::OverrunRisk { .. } => {
                out(said);
            }
        }
    }
}

/// How periods of the tap and of the far receiver lie to each other.
fn timing(end: Option<TapEnd>, parameters: &Parameters, channel: &Channel) -> Timing {
    let (delay, rest) = parameters.delay_on(channel);
    let [generation, interpretation] =
        [parameters.generation, parameters.interpretation].map(|it| u64::from(it.value));
    let there = if end == Some(TapEnd::Sender) { delay } else { 0 };
    Timing {
        arrives: there,
        decided: there + generation + rest,
        obeyed: 2 * (delay + rest) + generation + interpretation,
        forgotten: interpretation + rest,
    }
}
