//! Contradictions in the evidence of a network.

use serde::Serialize;

/// Contradiction in the evidence of a network; a row of `myriscope topology`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inconsistency {
    /// Kind of the contradiction.
    pub about: InconsistencyKind,
    /// Names of the channels involved.
    pub channels: Vec<String>,
    /// Description.
    pub text: String,
}

/// Kind of a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InconsistencyKind {
    /// The name of a channel does not give its ends.
    NoName,
    /// The opposite of a channel was not captured.
    OneWay,
    /// The names of a link's channels do not match.
    Unlike,
    /// The two channels of a link have different rates.
    Rates,
    /// A port has two links.
    SharedPort,
    /// The tap is at neither end of the link.
    Tap,
    /// Packets pass between two channels that do not meet according to their names.
    Apart,
    /// Packets take another port than their route byte selects. S-1
    WrongPort,
}
