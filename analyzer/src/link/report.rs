//! What the channels of a link did, as the rows of `docs/output.md`.

use codec::capture::{Channel, ChannelId};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::led::LedState;
use super::parameters::{ChannelParameters, ParameterKey, ParameterRow};
use super::state::{ActivityInterval, ChannelActivity};
use super::totals::{ChannelTotals, PeriodTotals, PingTotals};
use crate::channel_name::TapEnd;
use crate::counters::{ChannelLabel, ControlCounts};

/// What a channel did, added up.
#[derive(Clone, Copy, Debug)]
pub struct ChannelReport<'a> {
    /// Its number.
    pub id: ChannelId,
    /// The channel.
    pub channel: &'a Channel,
    /// The opposite channel.
    pub peer: Option<ChannelId>,
    /// What it carried and did.
    pub summary: &'a ChannelTotals,
    /// For how long the lamps of the port at its receiving end showed what, in the order of
    /// [`LedState::ALL`]. L
    pub leds: &'a PeriodTotals<4>,
    /// What governs it, and the source of each value.
    pub parameters: ChannelParameters,
    /// The most that h can be, by how fast STOP and GO took turns. F-3
    pub hysteresis_max: Option<u32>,
}

/// What the time between a ping and its answer is, as seen at the tap. R-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingMeasure {
    /// The tap is at the end that asks: there and back, and the time in between.
    RoundTrip,
    /// It is at the end that answers: only the time that took.
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

    /// What it is on a channel, if the channel says where its tap is.
    #[must_use]
    pub fn on(channel: &Channel) -> Option<Self> {
        Some(match TapEnd::of(channel)? {
            TapEnd::Sender => Self::RoundTrip,
            TapEnd::Receiver => Self::Response,
        })
    }
}

/// A part of a whole in millionths, as a decimal number.
fn share(part: u64, whole: u64) -> f64 {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let millionths = (part * 1_000_000 + whole / 2).checked_div(whole).unwrap_or(0);
    f64::from(u32::try_from(millionths).unwrap_or(u32::MAX)) / 1e6
}

impl<'a> ChannelReport<'a> {
    /// The channel's place in rows.
    #[must_use]
    pub fn place(&self) -> ChannelLabel<'a> {
        ChannelLabel {
            index: self.id.0,
            name: &self.channel.name,
            peer: self.peer.map(|peer| peer.0),
            period_ps: self.channel.period_ps.get(),
        }
    }

    /// The row of `myriscope links`.
    #[must_use]
    pub fn row(&self) -> ChannelTotalsRow<'a> {
        let ChannelTotals { tally, times, stops, packets, pings, commands, history: _ } =
            self.summary;
        let all = tally.characters();
        let state = |state: ChannelActivity| (state.name(), periods(times, state.index()));
        let light = |light: LedState| (light.name(), periods(self.leds, light.index()));
        let span = tally.span().map_or(0, |(first, last)| last.0 - first.0 + 1);
        let flow: u64 = tally
            .control()
            .filter_map(|(kind, count)| matches!(kind, "STOP" | "GO").then_some(count))
            .sum();
        ChannelTotalsRow {
            channel: &self.channel.name,
            index: self.id.0,
            peer: self.peer.map(|peer| peer.0),
            period_ps: self.channel.period_ps.get(),
            tap: self.channel.tap.as_deref(),
            first: tally.span().map(|(first, _)| first.0),
            last: tally.span().map(|(_, last)| last.0),
            characters: all,
            data: tally.data(),
            utilisation: share(tally.data(), all),
            control: ControlCounts(tally.control().collect()),
            corrected: tally.corrected(),
            invalid: tally.invalid(),
            holes: tally.holes(),
            states: NamedValues(ChannelActivity::ALL.map(state)),
            lamp: NamedValues(LedState::ALL.map(light)),
            stops: StopsRow {
                count: stops.count,
                periods: stops.periods,
                share: share(stops.periods, span),
                longest: stops.longest,
            },
            flow_control: FlowRow {
                characters: flow,
                share: share(flow, all),
                commands: *commands,
                commands_share: share(*commands, all),
            },
            packets: PacketsRow {
                count: packets.count(),
                ended_by: NamedValues([
                    ("gap", packets.gap),
                    ("open_link", packets.open_link),
                    ("reset", packets.reset),
                    ("hole", packets.hole),
                    ("capture_end", packets.capture_end),
                ]),
                crc: NamedValues([
                    ("good", packets.good),
                    ("bad", packets.bad),
                    ("runt", packets.runt),
                ]),
            },
            pings: self.pings(pings),
            parameters: self.parameters(),
        }
    }

    fn pings(&self, pings: &PingTotals) -> PingsRow {
        PingsRow {
            sent: pings.sent,
            answered: pings.answered,
            measures: PingMeasure::on(self.channel).map(PingMeasure::name),
            min: pings.range.map(|(min, _)| min),
            mean: pings
                .mean_thousandths()
                .map(|mean| f64::from(u32::try_from(mean).unwrap_or(u32::MAX)) / 1e3),
            max: pings.range.map(|(_, max)| max),
        }
    }

    /// What governs the channel.
    #[must_use]
    pub fn parameters(&self) -> Vec<ParameterRow> {
        let hysteresis = |mut row: ParameterRow| {
            if row.name == ParameterKey::Hysteresis.name() && !self.parameters.h.is_told() {
                row.range = self.hysteresis_max.map(|max| (1, Some(max)));
            }
            row
        };
        self.parameters.rows().map(hysteresis).collect()
    }
}

fn periods<const N: usize>(times: &PeriodTotals<N>, index: usize) -> PeriodShare {
    let all = times.periods().iter().sum();
    PeriodShare::of(times.periods().get(index).copied().unwrap_or(0), all)
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

/// A row of `myriscope links`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelTotalsRow<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// Number of its interface in the file.
    pub index: u32,
    /// That of the opposite channel.
    pub peer: Option<u32>,
    /// Character period in picoseconds.
    pub period_ps: u64,
    /// The end at which it was observed.
    pub tap: Option<&'a str>,
    /// Place of its first character.
    pub first: Option<u64>,
    /// Place of its last.
    pub last: Option<u64>,
    /// Characters recorded.
    pub characters: u64,
    /// Data bytes among them.
    pub data: u64,
    /// Their share.
    pub utilisation: f64,
    /// Control symbols by kind. C-2
    pub control: ControlCounts,
    /// Symbols that had to be corrected. C-4
    pub corrected: u64,
    /// Codes that are no symbol. C-5
    pub invalid: u64,
    /// Stretches that were not recorded.
    pub holes: u64,
    /// Time in each state.
    pub states: NamedValues<PeriodShare, 7>,
    /// What the lamps of the port at its receiving end showed. L
    pub lamp: NamedValues<PeriodShare, 4>,
    /// Stops of its sender. F-1
    pub stops: StopsRow,
    /// STOP and GO on it. F-4
    pub flow_control: FlowRow,
    /// Its packets.
    pub packets: PacketsRow,
    /// Its pings. R-6
    pub pings: PingsRow,
    /// What governs it.
    pub parameters: Vec<ParameterRow>,
}

impl PeriodShare {
    /// A part of some periods.
    #[must_use]
    pub fn of(periods: u64, all: u64) -> Self {
        Self { periods, share: share(periods, all) }
    }
}

/// Time for which something held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PeriodShare {
    /// In periods of the channel.
    pub periods: u64,
    /// Of all recorded.
    pub share: f64,
}

/// How a sender was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StopsRow {
    /// How often.
    pub count: u64,
    /// For how many periods in all, whatever else was the matter.
    pub periods: u64,
    /// Of all from the first character to the last.
    pub share: f64,
    /// The longest, in periods.
    pub longest: u64,
}

/// STOP and GO on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowRow {
    /// STOP and GO.
    pub characters: u64,
    /// Of all characters.
    pub share: f64,
    /// Those that said something new.
    pub commands: u64,
    /// Of all characters.
    pub commands_share: f64,
}

/// Packets by kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PacketsRow {
    /// How many.
    pub count: u64,
    /// By what ended them.
    pub ended_by: NamedValues<u64, 5>,
    /// By their CRC byte.
    pub crc: NamedValues<u64, 3>,
}

/// Pings and their answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PingsRow {
    /// PRB0 on the channel.
    pub sent: u64,
    /// Those that were answered by `REPLx` on the opposite one.
    pub answered: u64,
    /// What their times measure: `round-trip` or `response`.
    pub measures: Option<&'static str>,
    /// Shortest time to an answer, in periods.
    pub min: Option<u64>,
    /// Mean time.
    pub mean: Option<f64>,
    /// Longest time.
    pub max: Option<u64>,
}

/// A row of `myriscope links --intervals`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IntervalRow<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// Place of its first character.
    pub start: u64,
    /// Place of its last character.
    pub end: u64,
    /// How many characters it has.
    pub periods: u64,
    /// The state.
    pub state: &'static str,
}
