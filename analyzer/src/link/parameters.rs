//! Parameters of a channel, and their sources. F-3, F-4; variants of senders: F-1, F-8, R-1

mod assumptions;
mod parameter_row;

use std::fmt;
use std::ops::RangeInclusive;

use crate::channel_name::TapEnd;
use crate::named_enum::named_enum;
use codec::capture::Channel;
use codec::time::FULL_RATE_PERIOD_PS;

pub use self::assumptions::{AssumeError, LinkAssumptions};
pub(super) use self::parameter_row::{ASSUMED, ASSUMED_BY};
pub use self::parameter_row::{ParameterRange, ParameterRow, PerParameter, UnknownParameters};

/// Greatest part of a slack buffer in cells, and greatest latency in periods. *Chosen*: the cells that 44
/// km of optical fiber need (N-5), so that memory stays bounded.
const PART_MAX: u32 = 1 << 16;
/// Greatest delay in periods. *Chosen*: 130 km.
const DELAY_MAX: u32 = 1 << 16;

/// Parameters that say when which characters follow each other on a wire: where virtual channels share the wire,
/// the symbols of one may wait for those of others. F-4, F-8, R-1, C-7
const OF_WIRE: [ParameterKey; 3] =
    [ParameterKey::Generation, ParameterKey::ResetVariant, ParameterKey::FillVariant];

/// Value of a variant other than the default.
pub(crate) const OTHER_VARIANT: u32 = 1;

/// Names of fill in `docs/scenario.md`; fill that differs from that of the chips is `other`. F-8
#[rustfmt::skip]
const FILL_VARIANTS: [&str; 18] = [
    "chip", "other", "stop-go", "gap", "idle-2", "idle-3", "idle-4", "idle-5", "idle-6", "idle-7",
    "idle-8", "idle-9", "idle-10", "idle-11", "idle-12", "idle-13", "idle-14", "idle-15",
];

struct ParameterInfo {
    name: &'static str,
    /// The default by the decisions of F-4.
    default: u32,
    range: RangeInclusive<u32>,
    /// The names of a variant, the default first.
    variants: &'static [&'static str],
}

/// Declares the parameters, in the order of output: `Key: key in captures and on the command line, default, valid
/// range, names of a variant;`.
macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $Key:ident: $name:literal, $default:literal, $range:expr, $variants:expr;)+) => {
        /// A parameter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ParameterKey {
            $($(#[doc = $doc])+ $Key,)+
        }

        const NAMES: &[&str] = &[$($name),+];

        impl ParameterKey {
            /// All parameters, in the order of output.
            pub const ALL: [Self; NAMES.len()] = [$(Self::$Key),+];

            const fn about(self) -> &'static ParameterInfo {
                match self { $(
                    Self::$Key => &ParameterInfo {
                        name: $name,
                        default: $default,
                        range: $range,
                        variants: $variants,
                    },
                )+ }
            }
        }
    };
}

parameters! {
    /// `k_g`: GO when no more cells are full than these. F-3
    GoSlack: "kg", 32, 0..=PART_MAX, &[];
    /// h, at least 1: cells between the thresholds of GO and STOP. F-3
    Hysteresis: "h", 16, 1..=PART_MAX, &[];
    /// `k_s`: STOP when no more cells are empty than these. F-3
    StopSlack: "ks", 32, 0..=PART_MAX, &[];
    /// Transit time of a character, in periods of the full rate. F-4
    Delay: "delay", 12, 0..=DELAY_MAX, &[];
    /// Periods of the link from a threshold to its STOP or GO on the wire. F-4
    Generation: "gen", 2, 0..=PART_MAX, &[];
    /// Periods of the link from a STOP or GO to the sender's response. F-4
    Interpretation: "int", 2, 0..=PART_MAX, &[];
    /// Longest path formation in the switch at the receiving end, in periods of the full rate; that of an 8-port switch,
    /// no other switch is assumed to have it. S-6
    Path: "path", 44, 0..=PART_MAX, &[];
    /// GAP that ends a sender's forward reset: generated at once, or the next one. R-1
    ResetVariant: "reset", 0, 0..=1, &["own-gap", "next-gap"];
    /// Fill of a sender: that of Myricom's chips, or other. F-8
    FillVariant: "fill", 0, 0..=1, &FILL_VARIANTS;
    /// GAP that ends a packet of a stopped sender: sent at once, or after GO. F-1
    FramingVariant: "framing", 0, 0..=1, &["free", "waits"];
}

/// Value of a parameter, and its source. Of a variant: 0 is the default, 1 any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterValue {
    /// The value.
    pub value: u32,
    /// Its source.
    pub source: ParameterSource,
}

named_enum! {
    /// Source of a value.
    pub enum ParameterSource {
        /// Command line.
        CommandLine = "command-line",
        /// Description of the channel in the capture.
        Capture = "capture",
        /// Shortest time from a probe to its reply. R-6
        Probe = "probe",
        /// Longest time for which data continued after a STOP. F-4
        Stop = "stop",
        /// Observed characters that only one variant sends.
        Observed = "seen",
        /// Default, by the decisions of F-4.
        Default = "default",
    }
}

/// All parameters of a channel, in the order of [`ParameterKey::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelParameters([ParameterValue; ParameterKey::ALL.len()]);

impl ParameterKey {
    /// The key in captures and on the command line.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// The names of a variant, the default first.
    pub const fn variants(self) -> &'static [&'static str] {
        self.about().variants
    }

    /// The value that the capture declares for a channel, if it is valid.
    pub fn declared(self, channel: &Channel) -> Option<u32> {
        let (_, value) = channel.more.iter().find(|(name, _)| name == self.name())?;
        // Unknown names of fill count as `other`.
        self.parse(value).or((self == Self::FillVariant).then_some(OTHER_VARIANT))
    }

    fn parse(self, value: &str) -> Option<u32> {
        if let Some(variant) = self.variants().iter().position(|variant| *variant == value) {
            return u32::try_from(variant).ok();
        }
        let value = value.parse().ok().filter(|value| self.about().range.contains(value));
        value.filter(|_| self.variants().is_empty())
    }

    /// Description of the valid values.
    fn expected(self) -> String {
        match self.variants() {
            [] => format!("a number in {:?}", self.about().range),
            variants => variants.join(" or "),
        }
    }
}

impl ParameterValue {
    /// True if declared in the capture or on the command line: rules are checked against no other value.
    pub const fn is_declared(&self) -> bool {
        matches!(self.source, ParameterSource::CommandLine | ParameterSource::Capture)
    }

    /// The range of an estimate.
    pub const fn range(&self) -> Option<ParameterRange> {
        // A reply takes time of its own; a sender may stop because it has no more to send.
        match self.source {
            ParameterSource::Probe => Some((0, Some(self.value))),
            ParameterSource::Stop => Some((self.value, None)),
            ParameterSource::CommandLine | ParameterSource::Capture => None,
            ParameterSource::Observed | ParameterSource::Default => None,
        }
    }
}

impl ChannelParameters {
    /// Periods after a STOP at a tap from which no data may pass it. F-1
    pub(crate) fn grace(&self, end: TapEnd, channel: &Channel) -> u64 {
        let obedience = u64::from(self.of_key(ParameterKey::Interpretation).value) + 1;
        match end {
            TapEnd::Sender => obedience,
            TapEnd::Receiver => {
                let cable = u64::from(self.of_key(ParameterKey::Delay).value)
                    * u64::from(FULL_RATE_PERIOD_PS);
                obedience + 2 * cable.div_ceil(channel.period.ps()) + 1
            }
        }
    }

    /// That of the end at which the channel is tapped, or of the end where it is longer. F-1
    pub(crate) fn longest_grace(&self, channel: &Channel) -> u64 {
        self.grace(TapEnd::of(channel).unwrap_or(TapEnd::Receiver), channel)
    }

    /// The parameters of a channel: the command line takes precedence over the capture.
    pub fn of(channel: &Channel, assumptions: &LinkAssumptions) -> Self {
        let is_shared = channel.virtual_channel().is_some();
        Self(ParameterKey::ALL.map(|key| {
            let usual = (key.about().default, ParameterSource::Default);
            let (value, source) = match (assumptions.of(key), key.declared(channel)) {
                // They hold for the wire, not for one of its virtual channels. C-7
                _ if is_shared && OF_WIRE.contains(&key) => usual,
                (Some(value), _) => (value, ParameterSource::CommandLine),
                (None, Some(value)) => (value, ParameterSource::Capture),
                (None, None) => usual,
            };
            ParameterValue { value, source }
        }))
    }

    /// The value of a parameter: cells, periods or the number of a variant.
    #[expect(clippy::indexing_slicing, reason = "a value for each key")]
    pub const fn of_key(&self, key: ParameterKey) -> ParameterValue {
        self.0[key as usize]
    }

    #[expect(clippy::indexing_slicing, reason = "a value for each key")]
    pub(super) const fn set(&mut self, key: ParameterKey, value: u32, source: ParameterSource) {
        self.0[key as usize] = ParameterValue { value, source };
    }

    /// True if the channel's sender is declared to be the default variant.
    pub(crate) fn is_declared_default(&self, variant: ParameterKey) -> bool {
        let it = self.of_key(variant);
        it.is_declared() && it.value == 0
    }

    /// Replaces defaults of reset and fill with the observed variants.
    pub(crate) fn with_observed(mut self, variants: [Option<u32>; 2]) -> Self {
        for (key, seen) in
            [ParameterKey::ResetVariant, ParameterKey::FillVariant].into_iter().zip(variants)
        {
            if let (ParameterSource::Default, Some(value)) = (self.of_key(key).source, seen) {
                self.set(key, value, ParameterSource::Observed);
            }
        }
        self
    }

    /// Cells of the buffer: r. F-3
    pub const fn cells(&self) -> u32 {
        self.stop_at().saturating_add(self.of_key(ParameterKey::StopSlack).value)
    }

    /// Number of full cells that generates GO: `k_g`. F-3
    pub const fn go_at(&self) -> u32 {
        self.of_key(ParameterKey::GoSlack).value
    }

    /// Number of full cells that generates STOP: r − `k_s`. F-3
    pub const fn stop_at(&self) -> u32 {
        self.go_at().saturating_add(self.of_key(ParameterKey::Hysteresis).value)
    }

    /// Transit time of a character in whole periods of a channel, and 1 if a fraction is left over.
    pub(crate) fn delay_on(&self, channel: &Channel) -> (u64, u64) {
        let delay_ps =
            u64::from(self.of_key(ParameterKey::Delay).value) * u64::from(FULL_RATE_PERIOD_PS);
        let period_ps = channel.period.ps();
        // A clock that is nearly at the full rate makes no fraction. W-6
        let nearly = delay_ps / 2000;
        let periods = delay_ps.saturating_add(nearly) / period_ps;
        (periods, u64::from(delay_ps.saturating_sub(periods * period_ps) > nearly))
    }
}

impl ParameterSource {
    /// Description of the source, printed behind a value.
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
            let numbers = ParameterKey::ALL.iter().zip(self.0).take(6);
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
    use codec::time::CharacterPeriod;

    use super::*;

    #[test]
    fn the_command_line_precedes_the_capture_and_the_capture_precedes_f_4() {
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
    fn undeclared_parameters_are_listed_with_the_option_that_sets_them() {
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
    fn the_delay_is_whole_periods_of_the_channel_and_a_remainder() {
        let mut channel = Channel::named("a:0>b:0");
        let parameters = ChannelParameters::of(&channel, &LinkAssumptions::default());
        assert_eq!(parameters.delay_on(&channel), (12, 0));
        channel.period = CharacterPeriod::from_ps(62_500).unwrap();
        assert_eq!(parameters.delay_on(&channel), (2, 1));
    }
}
