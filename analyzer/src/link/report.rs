//! Rows of `myriscope links`.

#![expect(missing_docs, reason = "docs/output.md describes the fields of rows")]

use codec::capture::{Channel, ChannelId};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::interval::{ActivityInterval, ChannelActivity, PeriodTotals};
use super::led::LedState;
use super::parameters::{ChannelParameters, ParameterKey, ParameterRow};
use super::totals::{ChannelTotals, PacketTotals, PingTotals};
use crate::channel_name::TapEnd;
use crate::counters::{ChannelLabel, ControlCounts};

/// Totals of a channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelReport<'a> {
    /// Its number.
    pub id: ChannelId,
    /// The channel.
    pub channel: &'a Channel,
    /// The opposite channel.
    pub peer: Option<ChannelId>,
    /// Its totals.
    pub totals: &'a ChannelTotals,
    /// Periods in each LED state of the port at its receiving end, in the order of [`LedState::ALL`]. L
    pub leds: &'a PeriodTotals<4>,
    /// Its parameters, and the source of each value.
    pub parameters: ChannelParameters,
    /// Upper bound of h, from the shortest time between STOP and GO. F-3
    pub hysteresis_max: Option<u32>,
}

/// Interpretation of the time between a ping and its reply at the tap. R-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingMeasure {
    /// The tap is at the end that sends pings: both ways, and the response time.
    RoundTrip,
    /// The tap is at the end that replies: the response time only.
    Response,
}

impl PingMeasure {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundTrip => "round-trip",
            Self::Response => "response",
        }
    }

    /// The interpretation on a channel, if its tap is declared.
    #[must_use]
    pub fn on(channel: &Channel) -> Option<Self> {
        Some(match TapEnd::of(channel)? {
            TapEnd::Sender => Self::RoundTrip,
            TapEnd::Receiver => Self::Response,
        })
    }
}

/// A fraction, rounded to millionths.
fn share(part: u64, whole: u64) -> f64 {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let millionths = (part * 1_000_000 + whole / 2).checked_div(whole).unwrap_or(0);
    f64::from(u32::try_from(millionths).unwrap_or(u32::MAX)) / 1e6
}

impl<'a> ChannelReport<'a> {
    /// The channel's label in rows.
    #[must_use]
    pub fn place(&self) -> ChannelLabel<'a> {
        ChannelLabel::new(self.id, self.channel, self.peer)
    }

    /// The row of `myriscope links`.
    #[must_use]
    pub fn row(&self) -> ChannelTotalsRow<'a> {
        let ChannelTotals { counters, times, stops, packets, pings, commands, history: _ } =
            self.totals;
        let characters = counters.characters();
        let span = counters.span().map_or(0, |(first, last)| last.0 - first.0 + 1);
        let flow_control: u64 = counters
            .control()
            .filter_map(|(kind, count)| matches!(kind, "STOP" | "GO").then_some(count))
            .sum();
        ChannelTotalsRow {
            channel: &self.channel.name,
            index: self.id.0,
            peer: self.peer.map(|peer| peer.0),
            period_ps: self.channel.period_ps.get(),
            tap: self.channel.tap.as_deref(),
            first: counters.span().map(|(first, _)| first.0),
            last: counters.span().map(|(_, last)| last.0),
            characters,
            data: counters.data(),
            utilisation: share(counters.data(), characters),
            control: ControlCounts(counters.control().collect()),
            corrected: counters.corrected(),
            invalid: counters.invalid(),
            holes: counters.holes(),
            states: NamedValues(
                ChannelActivity::ALL
                    .map(|state| (state.name(), PeriodShare::of_total(times, state.index()))),
            ),
            lamp: NamedValues(
                LedState::ALL
                    .map(|state| (state.name(), PeriodShare::of_total(self.leds, state as usize))),
            ),
            stops: StopsRow {
                count: stops.count,
                periods: stops.periods,
                share: share(stops.periods, span),
                longest: stops.longest,
            },
            flow_control: FlowRow {
                characters: flow_control,
                share: share(flow_control, characters),
                commands: *commands,
                commands_share: share(*commands, characters),
            },
            packets: packets.row(),
            pings: self.pings(pings),
            parameters: self.parameters(),
        }
    }

    fn pings(&self, pings: &PingTotals) -> PingsRow {
        let mean = pings.mean_thousandths();
        PingsRow {
            sent: pings.sent,
            answered: pings.answered,
            measures: PingMeasure::on(self.channel).map(PingMeasure::name),
            min: pings.range.map(|(min, _)| min),
            mean: mean.map(|mean| f64::from(u32::try_from(mean).unwrap_or(u32::MAX)) / 1e3),
            max: pings.range.map(|(_, max)| max),
        }
    }

    /// Rows of the channel's parameters.
    #[must_use]
    pub fn parameters(&self) -> Vec<ParameterRow> {
        let hysteresis = |mut row: ParameterRow| {
            if row.name == ParameterKey::Hysteresis.name() && !self.parameters.h.is_declared() {
                row.range = self.hysteresis_max.map(|max| (1, Some(max)));
            }
            row
        };
        self.parameters.rows().map(hysteresis).collect()
    }
}

impl PacketTotals {
    fn row(&self) -> PacketsRow {
        PacketsRow {
            count: self.count(),
            ended_by: NamedValues([
                ("gap", self.gap),
                ("open_link", self.open_link),
                ("reset", self.reset),
                ("hole", self.hole),
                ("capture_end", self.capture_end),
            ]),
            crc: NamedValues([("good", self.good), ("bad", self.bad), ("runt", self.runt)]),
        }
    }
}

impl ActivityInterval {
    /// The row of `myriscope links --intervals`.
    #[must_use]
    pub const fn row<'a>(&self, channel: &'a str) -> IntervalRow<'a> {
        IntervalRow {
            channel,
            start: self.start.0,
            end: self.end.0.saturating_sub(1),
            periods: self.end.since(self.start).0,
            state: self.state.name(),
        }
    }
}

/// Values by name, in a fixed order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedValues<T, const N: usize>(pub [(&'static str, T); N]);

impl<T: Serialize, const N: usize> Serialize for NamedValues<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(N))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// Periods, and their share of all periods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PeriodShare {
    pub periods: u64,
    pub share: f64,
}

impl PeriodShare {
    /// A part of some periods.
    #[must_use]
    pub fn of(periods: u64, all: u64) -> Self {
        Self { periods, share: share(periods, all) }
    }

    fn of_total<const N: usize>(times: &PeriodTotals<N>, index: usize) -> Self {
        let periods = times.periods().get(index).copied().unwrap_or(0);
        Self::of(periods, times.periods().iter().sum())
    }
}

/// A row of `myriscope links`; fields as in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelTotalsRow<'a> {
    pub channel: &'a str,
    pub index: u32,
    pub peer: Option<u32>,
    pub period_ps: u64,
    pub tap: Option<&'a str>,
    pub first: Option<u64>,
    pub last: Option<u64>,
    pub characters: u64,
    pub data: u64,
    pub utilisation: f64,
    pub control: ControlCounts,
    pub corrected: u64,
    pub invalid: u64,
    pub holes: u64,
    pub states: NamedValues<PeriodShare, 7>,
    pub lamp: NamedValues<PeriodShare, 4>,
    pub stops: StopsRow,
    pub flow_control: FlowRow,
    pub packets: PacketsRow,
    pub pings: PingsRow,
    pub parameters: Vec<ParameterRow>,
}

/// Stops of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StopsRow {
    pub count: u64,
    pub periods: u64,
    pub share: f64,
    pub longest: u64,
}

/// STOP and GO on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowRow {
    pub characters: u64,
    pub share: f64,
    pub commands: u64,
    pub commands_share: f64,
}

/// Packets by the cause of their end, and by their CRC byte.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PacketsRow {
    pub count: u64,
    pub ended_by: NamedValues<u64, 5>,
    pub crc: NamedValues<u64, 3>,
}

/// Pings and their replies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PingsRow {
    pub sent: u64,
    pub answered: u64,
    pub measures: Option<&'static str>,
    pub min: Option<u64>,
    pub mean: Option<f64>,
    pub max: Option<u64>,
}

/// A row of `myriscope links --intervals`; fields as in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IntervalRow<'a> {
    pub channel: &'a str,
    pub start: u64,
    pub end: u64,
    pub periods: u64,
    pub state: &'static str,
}
