//! Violations of the laws of the protocol.

use std::fmt;

use super::plan::{ModelMessage, ModelSide};

/// A law of the protocol that does not hold. The numbers are those of the digest's properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelViolation {
    /// 1: a message was written twice in one life of the NIC that it was for.
    WrittenTwice(ModelMessage),
    /// 2: a message was acknowledged, and never written.
    AcknowledgedUnwritten(ModelMessage),
    /// 3: an outstanding message was received, and not answered.
    Unanswered(ModelMessage),
    /// 3: nothing goes wrong any more, and yet the messages come to no end.
    Endless,
    /// 4: a channel carries a message while another is outstanding on it, or one that is none of it.
    ChannelShared(ModelMessage),
    /// 5: a packet that is over changed this NIC, or made it do something.
    Disturbed(ModelSide),
    /// 6: this NIC counts other messages as outstanding than those that are.
    Miscounted(ModelSide),
    /// 6: a message came to an end that was not outstanding, or an unload took others along than those
    /// that were.
    Misplaced(ModelSide),
    /// T-11: a message came back although there was a sign of its destination in time.
    GivenUpEarly(ModelMessage),
    /// T-6: a message that was refused for good had been written.
    RefusedWritten(ModelMessage),
    /// [`super::plan::ExtraClaim::ReturnedIsUnwritten`]: it came back, and was written.
    ReturnedWritten(ModelMessage),
    /// [`super::plan::ExtraClaim::OneLife`]: it was written in two lives.
    WrittenInTwoLives(ModelMessage),
}

impl fmt::Display for ModelViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrittenTwice(message) => write!(f, "{message} is written twice (property 1)"),
            Self::AcknowledgedUnwritten(message) => {
                write!(f, "{message} is acknowledged, and was never written (property 2)")
            }
            Self::Unanswered(message) => {
                write!(f, "{message} is heard, and not answered (property 3)")
            }
            Self::Endless => {
                write!(f, "nothing goes wrong any more, and it never ends (property 3)")
            }
            Self::ChannelShared(message) => {
                write!(f, "{message} goes on a channel that is not its own (property 4)")
            }
            Self::Disturbed(side) => {
                write!(f, "{side} is changed by a packet that is over (property 5)")
            }
            Self::Miscounted(side) => {
                write!(f, "{side} miscounts what is outstanding (property 6)")
            }
            Self::Misplaced(side) => {
                write!(f, "{side} ends what was not outstanding, or forgets what was (property 6)")
            }
            Self::GivenUpEarly(message) => write!(f, "{message} is given up too early (T-11)"),
            Self::RefusedWritten(message) => {
                write!(f, "{message} is refused for good, and was written (T-6)")
            }
            Self::ReturnedWritten(message) => {
                write!(f, "{message} comes back, and was written: returned is not undelivered")
            }
            Self::WrittenInTwoLives(message) => {
                write!(f, "{message} is written in two lives of its destination")
            }
        }
    }
}
