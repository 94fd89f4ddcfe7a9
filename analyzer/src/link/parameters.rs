//! Parameters of a link, and their sources. F-3, F-4; variants of senders: F-1, F-8, R-1

mod parameter_row;

use std::fmt;
use std::str::FromStr;

use codec::capture::Channel;
use codec::time::FULL_RATE_PERIOD_PS;

pub use self::parameter_row::{ParameterRange, ParameterRow, PerParameter, UnknownParameters};

/// Most cells of a part of a slack buffer, and most periods of a latency. *Chosen*: 44 km of optical
/// fiber take as many cells (N-5), and memory stays bounded.
const PART_MAX: u32 = 1 << 16;
/// Most periods of delay. *Chosen*: likewise; 130 km.
const DELAY_MAX: u32 = 1 << 16;

/// The value of a variant that is not the default.
pub(crate) const OTHER_VARIANT: u32 = 1;

/// Names of fill, as `docs/scenario.md` has them; what is unlike that of the chips is `other`. F-8
#[rustfmt::skip]
const FILL_VARIANTS: [&str; 18] = [
    "chip", "other", "stop-go", "gap", "idle-2", "idle-3", "idle-4", "idle-5", "idle-6", "idle-7",
    "idle-8", "idle-9", "idle-10", "idle-11", "idle-12", "idle-13", "idle-14", "idle-15",
];

/// What the command line says about all links: `kg=32,h=16,reset=own-gap`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkAssumptions {
    values: [Option<u32>; 10],
}

/// One of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParameterKey {
    /// `k_g`: GO when no more cells are full than these. F-3
    GoSlack,
    /// h, at least 1: cells between the thresholds of GO and STOP. F-3
    Hysteresis,
    /// `k_s`: STOP when no more cells are empty than these. F-3
    StopSlack,
    /// Periods of the full rate that a character is under way. F-4
    Delay,
    /// Periods of the link between a threshold and the STOP or GO on the wire. F-4
    Generation,
    /// Periods of the link between a STOP or GO and the sender's obedience. F-4
    Interpretation,
    /// Longest path formation in the switch behind, in periods of the full rate. S-6
    Path,
    /// The GAP that ends a sender's forward reset: generated at once, or the next one. R-1
    ResetVariant,
    /// Fill of a sender: that of Myricom's chips, or another. F-8
    FillVariant,
    /// The GAP that ends a packet of a stopped sender: sent all the same, or held. F-1
    FramingVariant,
}

/// A number, and who says so. Of a variant: 0 is the default, 1 the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterValue {
    /// The number.
    pub value: u32,
    /// On whose word.
    pub source: ParameterSource,
}

/// Who says what a link is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParameterSource {
    /// Whoever started the program.
    CommandLine,
    /// The description of the channel in the capture.
    Capture,
    /// The shortest time from a probe to its reply. R-6
    Probe,
    /// The longest time for which data went on after a STOP. F-4
    Stop,
    /// Characters of the channel that only one variant sends.
    Observed,
    /// Nobody: what the decisions of F-4 say.
    Default,
}

/// All that is taken for granted about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelParameters {
    /// [`ParameterKey::GoSlack`], in cells.
    pub kg: ParameterValue,
    /// [`ParameterKey::Hysteresis`], in cells.
    pub h: ParameterValue,
    /// [`ParameterKey::StopSlack`], in cells.
    pub ks: ParameterValue,
    /// [`ParameterKey::Delay`], in periods of the full rate.
    pub delay: ParameterValue,
    /// [`ParameterKey::Generation`], in periods of the link.
    pub generation: ParameterValue,
    /// [`ParameterKey::Interpretation`], in periods of the link.
    pub interpretation: ParameterValue,
    /// [`ParameterKey::Path`] and the variants.
    others: [ParameterValue; 4],
}

/// Why an assumption was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssumeError {
    /// A word without a `=`.
    #[error("`{0}` is no assumption (one is `key=number`, such as `delay=12`)")]
    NoNumber(String),
    /// No such number.
    #[error("`{0}` is not known (what is: {known})", known = ParameterKey::ALL.map(ParameterKey::name).join(", "))]
    Unknown(String),
    /// Given before.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// No number or variant, or not one that is possible.
    #[error("{key} is `{value}`, not {expected}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// What is possible.
        expected: String,
    },
}

impl ParameterKey {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 10] = [
        Self::GoSlack,
        Self::Hysteresis,
        Self::StopSlack,
        Self::Delay,
        Self::Generation,
        Self::Interpretation,
        Self::Path,
        Self::ResetVariant,
        Self::FillVariant,
        Self::FramingVariant,
    ];

    /// As it is written, in a capture and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GoSlack => "kg",
            Self::Hysteresis => "h",
            Self::StopSlack => "ks",
            Self::Delay => "delay",
            Self::Generation => "gen",
            Self::Interpretation => "int",
            Self::Path => "path",
            Self::ResetVariant => "reset",
            Self::FillVariant => "fill",
            Self::FramingVariant => "framing",
        }
    }

    /// What the decisions of F-4 say, and the least and the greatest that is possible.
    const fn numbers(self) -> (u32, [u32; 2]) {
        match self {
            Self::GoSlack | Self::StopSlack => (32, [0, PART_MAX]),
            Self::Hysteresis => (16, [1, PART_MAX]),
            Self::Delay => (12, [0, DELAY_MAX]),
            Self::Generation | Self::Interpretation => (2, [0, PART_MAX]),
            // That of an 8-port switch, which is not taken for granted of any. S-6
            Self::Path => (44, [0, PART_MAX]),
            Self::ResetVariant | Self::FillVariant | Self::FramingVariant => (0, [0, 1]),
        }
    }

    /// The names of a variant, the default first.
    #[must_use]
    pub const fn variants(self) -> &'static [&'static str] {
        match self {
            Self::ResetVariant => &["own-gap", "next-gap"],
            Self::FillVariant => &FILL_VARIANTS,
            Self::FramingVariant => &["free", "waits"],
            Self::GoSlack | Self::Hysteresis | Self::StopSlack | Self::Delay => &[],
            Self::Generation | Self::Interpretation | Self::Path => &[],
        }
    }

    /// What the description of a channel in the capture says; what is not possible is not said.
    #[must_use]
    pub fn declared(self, channel: &Channel) -> Option<u32> {
        let (_, value) = channel.more.iter().find(|(name, _)| name == self.name())?;
        // There are more kinds of fill than are told apart.
        self.parse(value).or((self == Self::FillVariant).then_some(OTHER_VARIANT))
    }

    fn parse(self, value: &str) -> Option<u32> {
        if let Some(variant) = self.variants().iter().position(|variant| *variant == value) {
            return u32::try_from(variant).ok();
        }
        let (_, [least, most]) = self.numbers();
        let value = value.parse().ok().filter(|value| (least..=most).contains(value));
        value.filter(|_| self.variants().is_empty())
    }

    /// What is possible, in words.
    fn expected(self) -> String {
        let (_, [least, most]) = self.numbers();
        match self.variants() {
            [] => format!("a number in {least}..={most}"),
            variants => variants.join(" or "),
        }
    }
}

impl LinkAssumptions {
    /// A number that is known of a channel: given on the command line, or declared in the capture.
    #[must_use]
    pub fn known(&self, key: ParameterKey, channel: &Channel) -> Option<u32> {
        self.of(key).or_else(|| key.declared(channel))
    }

    fn of(&self, key: ParameterKey) -> Option<u32> {
        self.values.get(key as usize).copied().flatten()
    }
}

impl FromStr for LinkAssumptions {
    type Err = AssumeError;

    fn from_str(text: &str) -> Result<Self, AssumeError> {
        let mut assumptions = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let no_number = || AssumeError::NoNumber(word.to_owned());
            let (name, value) = word.split_once('=').ok_or_else(no_number)?;
            let (name, value) = (name.trim(), value.trim());
            let places = &mut assumptions.values;
            let mut keys = ParameterKey::ALL.iter().zip(places);
            let found = keys.find(|(key, _)| key.name() == name);
            let (key, place) = found.ok_or_else(|| AssumeError::Unknown(name.to_owned()))?;
            let out_of_range = || AssumeError::OutOfRange {
                key: key.name(),
                value: value.to_owned(),
                expected: key.expected(),
            };
            if place.replace(key.parse(value).ok_or_else(out_of_range)?).is_some() {
                return Err(AssumeError::Twice(key.name()));
            }
        }
        Ok(assumptions)
    }
}

impl ParameterValue {
    /// Whether it is declared or given: no rule is judged by anything else.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        matches!(self.source, ParameterSource::CommandLine | ParameterSource::Capture)
    }

    /// The range of an estimate.
    #[must_use]
    pub const fn range(&self) -> Option<ParameterRange> {
        match self.source {
            // An answer takes time of its own; a sender may stop with no more to send.
            ParameterSource::Probe => Some((0, Some(self.value))),
            ParameterSource::Stop => Some((self.value, None)),
            ParameterSource::CommandLine
            | ParameterSource::Capture
            | ParameterSource::Observed
            | ParameterSource::Default => None,
        }
    }
}

impl ChannelParameters {
    /// What holds for a channel: the command line's word counts most, then the capture's.
    #[must_use]
    pub fn of(channel: &Channel, assumptions: &LinkAssumptions) -> Self {
        let assumed = |key: ParameterKey| match (assumptions.of(key), key.declared(channel)) {
            (Some(value), _) => ParameterValue { value, source: ParameterSource::CommandLine },
            (None, Some(value)) => ParameterValue { value, source: ParameterSource::Capture },
            (None, None) => {
                ParameterValue { value: key.numbers().0, source: ParameterSource::Default }
            }
        };
        let [kg, h, ks, delay, generation, interpretation, path, reset, fill, framing] =
            ParameterKey::ALL.map(assumed);
        let others = [path, reset, fill, framing];
        Self { kg, h, ks, delay, generation, interpretation, others }
    }

    /// Whether the channel's sender is declared or given to be the default variant.
    pub(crate) fn is_declared_default(&self, variant: ParameterKey) -> bool {
        let mut all = ParameterKey::ALL.into_iter().zip(self.all());
        all.any(|(key, it)| key == variant && it.is_told() && it.value == 0)
    }

    /// The same, with what is seen of reset and fill where nobody tells it.
    pub(super) fn with_observed(mut self, variants: [Option<u32>; 2]) -> Self {
        for (it, seen) in self.others.iter_mut().skip(1).zip(variants) {
            if let (ParameterSource::Default, Some(value)) = (it.source, seen) {
                *it = ParameterValue { value, source: ParameterSource::Observed };
            }
        }
        self
    }

    /// All cells: r. F-3
    #[must_use]
    pub const fn cells(&self) -> u32 {
        self.stop_at().saturating_add(self.ks.value)
    }

    /// Full cells that generate STOP: r − `k_s`. F-3
    #[must_use]
    pub const fn stop_at(&self) -> u32 {
        self.kg.value.saturating_add(self.h.value)
    }

    /// Whole periods of a channel that a character is under way, and whether a part of one is left.
    pub(super) fn delay_on(&self, channel: &Channel) -> (u64, u64) {
        let delay_ps = u64::from(self.delay.value) * u64::from(FULL_RATE_PERIOD_PS);
        let period_ps = channel.period_ps.get();
        // A clock that is nearly at the full rate makes no part of a period. W-6
        let nearly = delay_ps / 2000;
        let periods = delay_ps.saturating_add(nearly) / period_ps;
        (periods, u64::from(delay_ps.saturating_sub(periods * period_ps) > nearly))
    }

    /// All of them, in the order of [`ParameterKey::ALL`].
    const fn all(&self) -> [ParameterValue; 10] {
        let Self { kg, h, ks, delay, generation, interpretation, others } = *self;
        let [path, reset, fill, framing] = others;
        [kg, h, ks, delay, generation, interpretation, path, reset, fill, framing]
    }
}

impl ParameterSource {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::CommandLine, Self::Capture, Self::Probe, Self::Stop, Self::Observed, Self::Default];

    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CommandLine => "command-line",
            Self::Capture => "capture",
            Self::Probe => "probe",
            Self::Stop => "stop",
            Self::Observed => "seen",
            Self::Default => "default",
        }
    }

    /// In words, behind a number.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::CommandLine => "as given",
            Self::Capture => "from the capture",
            Self::Probe => "measured by probes",
            Self::Stop => "measured by STOP",
            Self::Observed => "as seen",
            Self::Default => "assumed",
        }
    }
}

impl fmt::Display for ChannelParameters {
    /// `kg=32 h=16 ks=32 gen=2 int=2 from the capture, delay=12 as given`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for source in ParameterSource::ALL {
            let numbers = ParameterKey::ALL.iter().zip(self.all()).take(6);
            let mut words = numbers.filter(|(_, assumed)| assumed.source == source).peekable();
            if words.peek().is_none() {
                continue;
            }
            f.write_str(before)?;
            for (key, assumed) in words {
                write!(f, "{}={} ", key.name(), assumed.value)?;
            }
            f.write_str(source.words())?;
            before = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<LinkAssumptions>().unwrap_err().to_string()
    }

    #[test]
    fn the_command_line_counts_most_then_the_capture_then_f_4() {
        let mut channel = Channel::named("a:0>b:0");
        for (key, value) in [("kg", "8"), ("h", "4"), ("ks", "x"), ("delay", "3")] {
            channel.more.push((key.to_owned(), value.to_owned()));
        }
        let assumptions = " delay=20, kg=9".parse().unwrap();
        let parameters = ChannelParameters::of(&channel, &assumptions);
        assert_eq!((parameters.stop_at(), parameters.cells()), (13, 45));
        assert_eq!(
            parameters.to_string(),
            "kg=9 delay=20 as given, h=4 from the capture, ks=32 gen=2 int=2 assumed"
        );
    }

    #[test]
    fn what_is_not_told_is_named_with_what_would_tell_it() {
        let mut channel = Channel::named("a:0>b:0");
        channel.more.push(("h".to_owned(), "4".to_owned()));
        channel.more.push(("fill".to_owned(), "gap-only".to_owned()));
        let parameters =
            ChannelParameters::of(&channel, &"gen=1,reset=own-gap,path=60".parse().unwrap());
        let keys = [ParameterKey::Hysteresis, ParameterKey::StopSlack, ParameterKey::Generation];
        let unknown = UnknownParameters::of(&parameters, &keys);
        let ks = "ks not known (--assume ks=…, or this word in the capture)";
        assert_eq!(unknown.to_string(), ks);
        let rows = parameters.rows().skip(6).map(|row| (row.value, row.variant, row.source));
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows[0], (Some(60), None, Some("command-line")));
        assert_eq!(rows[1], (None, Some("own-gap"), Some("command-line")));
        assert_eq!(rows[2], (None, Some("other"), Some("capture")));
        assert_eq!(rows[3], (None, Some("free"), Some("default")));
        assert!(parameters.is_declared_default(ParameterKey::ResetVariant));
        assert!(!parameters.is_declared_default(ParameterKey::FramingVariant));
    }

    #[test]
    fn the_delay_is_whole_periods_of_the_channel_and_a_rest() {
        let mut channel = Channel::named("a:0>b:0");
        let parameters = ChannelParameters::of(&channel, &LinkAssumptions::default());
        assert_eq!(parameters.delay_on(&channel), (12, 0));
        channel.period_ps = channel.period_ps.saturating_add(50_000);
        assert_eq!(parameters.delay_on(&channel), (2, 1));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(error("kg"), "`kg` is no assumption (one is `key=number`, such as `delay=12`)");
        let known = "(what is: kg, h, ks, delay, gen, int, path, reset, fill, framing)";
        assert_eq!(error("kx=1"), format!("`kx` is not known {known}"));
        assert_eq!(error("reset=gap"), "reset is `gap`, not own-gap or next-gap");
        assert_eq!(error("fill=chip,fill=chip"), "`fill` is given twice");
        assert_eq!(error("kg=1,kg=1"), "`kg` is given twice");
        assert_eq!(error("h=0"), "h is `0`, not a number in 1..=65536");
        assert_eq!(error("delay=99999999999"), "delay is `99999999999`, not a number in 0..=65536");
    }
}
