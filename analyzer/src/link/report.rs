//! Rows of `myriscope links`.

use codec::capture::{Channel, ChannelId};

use super::interval::{ActivityInterval, ChannelActivity, PeriodTotals};
use super::led::LedState;
use super::parameters::{ChannelParameters, ParameterKey, ParameterRow};
use super::totals::{ChannelTotals, PacketTotals, PingTotals};
use crate::channel_name::TapEnd;
use crate::counters::CONTROL;
use crate::event::Picoseconds;
use crate::named_enum::named_enum;
use crate::row::FieldShape::{List, Place, Real};
use crate::row::{FieldType, NamedValues, RowField, row};

/// Totals of a channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelReport<'a> {
    /// Its number.
    pub id: ChannelId,
    /// The channel.
    pub channel: &'a Channel,
    /// The opposite channel.
    pub peer: Option<ChannelId>,
    /// Begin and end of the time in which the opposite channel, which carries its STOP and GO, was recorded too. F-1
    pub opposed: Option<[Picoseconds; 2]>,
    /// Its activity at the last known character, and since when.
    pub now: Option<ActivityInterval>,
    /// Its totals.
    pub totals: &'a ChannelTotals,
    /// Periods in each LED state of the port at its receiving end, in the order of [`LedState::ALL`]. L
    pub leds: &'a PeriodTotals<4>,
    /// Its parameters, and the source of each value.
    pub parameters: ChannelParameters,
    /// Upper bound of h, from the shortest time between STOP and GO. F-3
    pub hysteresis_max: Option<u32>,
}

named_enum! {
    /// Interpretation of the time between a ping and its reply at the tap. R-6
    pub enum PingMeasure {
        /// The tap is at the end that sends pings: both ways, and the response time.
        RoundTrip = "round-trip",
        /// The tap is at the end that replies: the response time only.
        Response = "response",
    }
}

impl PingMeasure {
    /// The interpretation on a channel, if its tap is declared.
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
    /// True if its stops are told: its opposite was recorded for nine tenths of its time (*chosen*).
    pub fn shows_stops(&self) -> bool {
        let recorded = self.channel.period.time(self.totals.counters.characters());
        self.opposed
            .is_some_and(|[from, to]| (to - from).saturating_mul(10) >= recorded.saturating_mul(9))
    }

    /// A value that events of the opposite channel tell, if so many are known or it was recorded.
    fn shown_by_opposite(&self, known: u64, value: u64) -> Option<u64> {
        (self.opposed.is_some() || known > 0).then_some(value)
    }

    /// The row of `myriscope links`.
    pub fn row(&self) -> ChannelTotalsRow<'a> {
        let ChannelTotals { counters, times, stops, packets, pings, commands, history: _ } =
            self.totals;
        let characters = counters.characters();
        let told = |value| self.shown_by_opposite(stops.count, value);
        let span = counters.span().map_or(0, |(first, last)| last.0 - first.0 + 1);
        let sent = counters.control().filter(|(kind, _)| matches!(*kind, "STOP" | "GO"));
        let flow_control: u64 = sent.map(|(_, count)| count).sum();
        ChannelTotalsRow {
            channel: &self.channel.name,
            index: self.id.0,
            peer: self.peer.map(|peer| peer.0),
            period_ps: self.channel.period.ps(),
            tap: self.channel.tap.as_deref(),
            first: counters.span().map(|(first, _)| first.0),
            last: counters.span().map(|(_, last)| last.0),
            characters,
            data: counters.data(),
            utilisation: share(counters.data(), characters),
            control: NamedValues(counters.control().collect()),
            corrected: counters.corrected(),
            invalid: counters.invalid(),
            holes: counters.holes(),
            states: shares(times, ChannelActivity::ALL.map(ChannelActivity::name)),
            lamp: shares(self.leds, LedState::ALL.map(LedState::name)),
            stops: StopsRow {
                count: told(stops.count),
                periods: told(stops.periods),
                share: told(stops.periods).map(|periods| share(periods, span)),
                longest: told(stops.longest),
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
        // In thousandths of a period.
        let mean = (pings.sum * 1000).checked_div(u128::from(pings.answered));
        PingsRow {
            sent: pings.sent,
            answered: self.shown_by_opposite(pings.answered, pings.answered),
            measures: PingMeasure::on(self.channel).map(PingMeasure::name),
            min: pings.range.map(|(min, _)| min),
            mean: mean.map(|mean| f64::from(u32::try_from(mean).unwrap_or(u32::MAX)) / 1e3),
            max: pings.range.map(|(_, max)| max),
        }
    }

    /// Rows of the channel's parameters.
    pub fn parameters(&self) -> Vec<ParameterRow> {
        let hysteresis = |mut row: ParameterRow| {
            if row.name == ParameterKey::Hysteresis.name()
                && !self.parameters.of_key(ParameterKey::Hysteresis).is_declared()
            {
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
            ended_by: NamedValues(vec![
                ("gap", self.gap),
                ("open_link", self.open_link),
                ("reset", self.reset),
                ("hole", self.hole),
                ("capture_end", self.capture_end),
            ]),
            crc: NamedValues(vec![
                ("good", self.good),
                ("bad", self.bad),
                ("runt", self.runt),
                ("partial", self.partial),
            ]),
        }
    }
}

impl ActivityInterval {
    /// The row of `myriscope links --intervals`.
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

row! {
    /// Periods, and their share of all periods.
    #[derive(Copy)]
    pub struct PeriodShare {
        periods: u64: "Number of periods.";
        share: f64: "Share of all periods.";
    }
}

macro_rules! shares {
    ($($name:literal, $rule:literal, $help:literal;)+) => {
        &[$(
            RowField::new(concat!($name, ".periods"), Place, "characters", $rule, $help),
            RowField::new(concat!($name, ".share"), Real, "", $rule, "the same, of all"),
        )+]
    };
}

const STATES: &[RowField] = shares! {
    "unknown", "", "time before it was understood";
    "open", "F-7", "time in silence";
    "reset", "R-2", "time in a forward reset";
    "stopped", "F-1", "time stopped";
    "sending", "P-1", "time sending a packet";
    "starved", "F-8", "time waiting for a packet's bytes";
    "idle", "P-7", "time between packets";
};

const LEDS: &[RowField] = shares! {
    "unknown", "L", "not known";
    "red", "L", "open";
    "green", "L", "connected and idle";
    "yellow", "L", "a packet passes, in either direction";
};

impl PeriodShare {
    /// A part of some periods.
    pub fn of(periods: u64, all: u64) -> Self {
        Self { periods, share: share(periods, all) }
    }
}

fn shares<const N: usize>(
    times: &PeriodTotals<N>,
    names: [&'static str; N],
) -> NamedValues<PeriodShare> {
    let all = times.periods().iter().sum();
    let shares = times.periods().map(|periods| PeriodShare::of(periods, all));
    NamedValues(names.into_iter().zip(shares).collect())
}

row! {
    /// A row of `myriscope links`; fields as in `docs/output.md`.
    pub struct ChannelTotalsRow<'a> at (first, last) {
        channel: &'a str, "", "", "name of the channel";
        index: u32, "", "", "number of the channel's interface in the file";
        peer: Option<u32>, "", "", "index of the opposite channel";
        period_ps: u64, "ps", "", "character period";
        tap: Option<&'a str>, "", "", "the end at which it was observed";
        first: Option<u64> as Place, "characters", "", "place of the first character";
        last: Option<u64> as Place, "characters", "", "place of the last character";
        characters: u64, "characters", "", "characters recorded";
        data: u64, "bytes", "C-1", "data bytes";
        utilisation: f64, "", "C-1", "data bytes in a character";
        control: NamedValues<u64> as List, "kinds", "C-2", "control symbols, by kind" => CONTROL;
        corrected: u64, "characters", "C-4", "symbols that had to be corrected";
        invalid: u64, "characters", "C-5", "control codes that are no symbol";
        holes: u64, "holes", "", "stretches that were not recorded";
        states: NamedValues<PeriodShare> as List, "kinds", "", "time in each state" => STATES;
        lamp: NamedValues<PeriodShare> as List, "kinds", "L", "what the lamps of the receiving port showed" => LEDS;
        stops: StopsRow, "kinds", "F-1", "stops of its sender" => StopsRow::FIELDS;
        flow_control: FlowRow, "kinds", "F-4", "STOP and GO on it" => FlowRow::FIELDS;
        packets: PacketsRow, "kinds", "P-1", "its packets" => PacketsRow::FIELDS;
        pings: PingsRow, "kinds", "R-6", "pings and their answers" => PingsRow::FIELDS;
        parameters: Vec<ParameterRow>, "parameters", "F-4", "what governs the channel" => ParameterRow::FIELDS;
    }
}

row! {
    /// Stops of a sender.
    #[derive(Copy)]
    pub struct StopsRow {
        count: Option<u64>, "", "F-1", "how often its sender was stopped";
        periods: Option<u64> as Place, "characters", "F-1", "for how long, whatever else was the matter";
        share: Option<f64>, "", "F-1", "the same, of all";
        longest: Option<u64> as Place, "characters", "F-1", "the longest stop";
    }
}

row! {
    /// STOP and GO on a channel.
    #[derive(Copy)]
    pub struct FlowRow {
        characters: u64, "characters", "F-1", "STOP and GO";
        share: f64, "", "F-4", "the same, of all";
        commands: u64, "characters", "F-3", "STOP and GO that were news";
        commands_share: f64, "", "F-4", "the same, of all";
    }
}

row! {
    /// Packets by the cause of their end, and by their CRC byte.
    pub struct PacketsRow {
        count: u64, "packets", "P-1", "packets";
        ended_by: NamedValues<u64> as List, "kinds", "P-1", "by what ended them" => ENDED_BY;
        crc: NamedValues<u64> as List, "kinds", "P-4", "by their CRC byte" => CRC;
    }
}

const ENDED_BY: &[RowField] = &[
    RowField::new("gap", u64::SHAPE, "packets", "P-1", "ended by GAP"),
    RowField::new("open_link", u64::SHAPE, "packets", "F-7", "ended by silence"),
    RowField::new("reset", u64::SHAPE, "packets", "R-2", "ended by FRES"),
    RowField::new("hole", u64::SHAPE, "packets", "", "ended where nothing was recorded"),
    RowField::new("capture_end", u64::SHAPE, "packets", "", "not ended"),
];

const CRC: &[RowField] = &[
    RowField::new("good", u64::SHAPE, "packets", "P-4", "with a right CRC byte"),
    RowField::new("bad", u64::SHAPE, "packets", "P-5", "with a wrong CRC byte"),
    RowField::new("runt", u64::SHAPE, "packets", "P-9", "too short for a CRC byte"),
    RowField::new("partial", u64::SHAPE, "packets", "P-7", "start or end not recorded"),
];

row! {
    /// Pings and their replies.
    #[derive(Copy)]
    #[expect(clippy::doc_markdown, reason = "the meaning of a field is plain text")]
    pub struct PingsRow {
        sent: u64, "", "R-6", "PRB0 on the channel";
        answered: Option<u64>, "", "R-6", "REPLx to them on the opposite channel";
        measures: Option<&'static str> as PingMeasure::SHAPE, "", "R-6", "what the time to an answer is";
        min: Option<u64> as Place, "characters", "R-6", "shortest time to an answer";
        mean: Option<f64>, "characters", "R-6", "mean time to an answer";
        max: Option<u64> as Place, "characters", "R-6", "longest time to an answer";
    }
}

row! {
    /// A row of `myriscope links --intervals`; fields as in `docs/output.md`.
    pub struct IntervalRow<'a> at (start, end) {
        channel: &'a str, "", "", "name of the channel";
        start: u64 as Place, "characters", "", "place of the first character";
        end: u64 as Place, "characters", "", "place of the last character";
        periods: u64 as Place, "characters", "", "how many characters it has";
        state: &'static str as ChannelActivity::SHAPE, "", "", "what the channel was doing";
    }
}
