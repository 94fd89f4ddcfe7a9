//! What does not go together in what is known of a network.

/// Something that does not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// What it is about.
    pub about: InconsistencyKind,
    /// Names of the channels that it is about.
    pub channels: Vec<String>,
    /// What is so, in words.
    pub text: String,
}

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

impl InconsistencyKind {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoName => "no-name",
            Self::OneWay => "one-way",
            Self::Unlike => "unlike",
            Self::Rates => "rates",
            Self::SharedPort => "shared-port",
            Self::Tap => "tap",
            Self::Apart => "apart",
            Self::WrongPort => "wrong-port",
        }
    }
}
