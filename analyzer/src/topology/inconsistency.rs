//! Contradictions in what is known of a network.

use serde::Serialize;

/// Contradiction in what is known of a network: a row of `myriscope topology`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inconsistency {
    /// Its kind.
    pub about: InconsistencyKind,
    /// Names of the channels.
    pub channels: Vec<String>,
    /// Description.
    pub text: String,
}

/// Kind of a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InconsistencyKind {
    /// A channel's name does not say from where to where it runs.
    NoName,
    /// The opposite of a channel was not captured.
    OneWay,
    /// The two channels of a link have names that do not answer each other.
    Unlike,
    /// The two channels of a link have different rates.
    Rates,
    /// A port has two links.
    SharedPort,
    /// The tap is at neither end of the link.
    Tap,
    /// Packets go from one channel to another, which by their names do not meet.
    Apart,
    /// Packets go to another port than their route byte asks for. S-1
    WrongPort,
}
