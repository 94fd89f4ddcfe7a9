//! What a sender knows of a logical channel, and what it makes of an answer and of time. T-3, T-8, T-10..T-13

use codec::transport::{Header, Incarnation, Reason, Seq, Sync};

use super::residents::Stage;
use super::{FIRST, Letter, Micros, TransportParameters};

/// An entry of the send table. T-3
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum SendEntry<M> {
    /// Free and uninitialised: the next packet brings SYNC and a new incarnation. T-11
    #[default]
    Closed,
    /// Free: the next packet has this label.
    Open(Label),
    /// Stop-and-wait: one packet is unacknowledged, and no other may go. T-2
    Busy(Flight<M>),
}

/// What tells a packet from the others of its logical channel. T-4, T-12
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Label {
    /// Its number.
    pub seq: Seq,
    /// Which use of the channel it belongs to.
    pub incarnation: Incarnation,
}

/// A message that is not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flight<M> {
    /// The message and whose it is.
    pub letter: Letter<M>,
    /// When it was transmitted last. T-3
    pub sent: Micros,
    /// What has become of that transmission.
    pub phase: Phase,
}

/// What has become of a message's latest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It has no answer.
    Underway {
        /// Its label, which each transmission has.
        label: Label,
        /// SYNC is repeated with its incarnation until it is acknowledged. T-12
        sync: Sync,
        /// When the first one went out that has no answer: since then there is no sign of life. T-11
        silent: Micros,
    },
    /// It was refused, and goes out again at a scan. T-10
    Refused {
        /// The label that it keeps.
        label: Label,
        /// The same.
        sync: Sync,
    },
    /// It was refused with reason 4: it goes out again with SYNC and a new incarnation. T-12
    Closed,
}

/// An answer, as its sender meant it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was written. T-5
    Ack,
    /// It was not. T-6
    Nack(Reason),
}

/// How an answer's echo stands to the packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    /// Of its latest transmission. T-8
    Latest,
    /// Of an earlier one.
    Earlier,
    /// Of another packet, or of another use of the channel.
    Foreign,
}

/// What an answer means for the packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing.
    Late,
    /// It was written.
    Acknowledged,
    /// It goes out again at a scan. T-10
    Refused(Reason),
    /// It will never be taken. T-6
    Return(Reason),
}

/// What a scan does about a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// It waits.
    Nothing,
    /// It goes out again. T-10
    Resend,
    /// It goes back: its destination is unreachable. T-11
    Return,
}

/// What the clock says about a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Its latest transmission is not older than the timeout.
    Early,
    /// It is.
    Timeout,
    /// There was no sign of life for too long.
    Silence,
}

impl<M> SendEntry<M> {
    /// What an answer means. T-5, T-6, T-8, T-12, T-13
    pub(super) fn hear(&self, header: &Header, answer: Answer) -> Meaning {
        let (echo, phase) = match self {
            Self::Closed | Self::Open(_) => return Meaning::Late,
            Self::Busy(flight) => (flight.echo(header), flight.phase),
        };
        match (phase, answer, echo) {
            // An acknowledgment of any transmission says that the message was written. T-5
            (
                Phase::Underway { .. } | Phase::Refused { .. },
                Answer::Ack,
                Echo::Latest | Echo::Earlier,
            ) => Meaning::Acknowledged,
            // T-8: a NACK of the latest transmission counts.
            (Phase::Underway { .. }, Answer::Nack(reason), Echo::Latest) => {
                if reason.is_final() { Meaning::Return(reason) } else { Meaning::Refused(reason) }
            }
            // Reading: once.
            (Phase::Refused { .. }, Answer::Nack(_), Echo::Latest)
            // T-8, T-13: one of an earlier transmission does not count.
            | (Phase::Underway { .. } | Phase::Refused { .. }, Answer::Nack(_), Echo::Earlier)
            | (
                Phase::Underway { .. } | Phase::Refused { .. },
                Answer::Ack | Answer::Nack(_),
                Echo::Foreign,
            )
            // What went out before reason 4 came is of a use of the channel that is over. T-12
            | (
                Phase::Closed,
                Answer::Ack | Answer::Nack(_),
                Echo::Latest | Echo::Earlier | Echo::Foreign,
            ) => Meaning::Late,
        }
    }
}

impl Label {
    /// That of the first packet of a channel's next use. T-12
    pub(super) const fn open(next: &mut Incarnation) -> Self {
        let incarnation = *next;
        *next = incarnation.next();
        Self { seq: FIRST, incarnation }
    }
}

impl Phase {
    /// Its latest transmission was refused.
    pub(super) const fn refused(self, reason: Reason) -> Self {
        match (self, reason) {
            // T-12: the receiver knows nothing of the channel, which becomes uninitialised.
            (_, Reason::NoChannelState) | (Self::Closed, _) => Self::Closed,
            (Self::Underway { label, sync, .. } | Self::Refused { label, sync }, _) => {
                Self::Refused { label, sync }
            }
        }
    }
}

impl<M> Flight<M> {
    /// Which transmission of it an answer echoes. T-8, T-12
    fn echo(&self, header: &Header) -> Echo {
        match self.phase {
            Phase::Underway { label, .. } | Phase::Refused { label, .. } => {
                if header.seq != label.seq || header.incarnation != label.incarnation {
                    Echo::Foreign
                } else if header.timestamp == self.sent.timestamp() {
                    Echo::Latest
                } else {
                    Echo::Earlier
                }
            }
            Phase::Closed => Echo::Foreign,
        }
    }

    /// What a scan does about it. T-10, T-11, T-13
    pub(super) fn due(&self, now: Micros, stage: Stage, parameters: &TransportParameters) -> Due {
        match (self.phase, stage, self.clock(now, parameters)) {
            (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Early) => Due::Nothing,
            // An endpoint that leaves waits for an answer, and so still asks for one. T-13
            (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Timeout) => {
                Due::Resend
            }
            (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Silence) => {
                Due::Return
            }
            (Phase::Refused { .. } | Phase::Closed, Stage::Staying, Clock::Early) => Due::Nothing,
            // T-10: the NACK itself does not resend. T-11: whoever answered is not silent.
            (
                Phase::Refused { .. } | Phase::Closed,
                Stage::Staying,
                Clock::Timeout | Clock::Silence,
            ) => Due::Resend,
            // Reading of T-13: its latest transmission has its answer, and must stay the latest.
            (
                Phase::Refused { .. } | Phase::Closed,
                Stage::Leaving,
                Clock::Early | Clock::Timeout | Clock::Silence,
            ) => Due::Nothing,
        }
    }

    /// It goes out again: with the label and the SYNC that it had, or on a channel opened anew. T-12
    pub(super) const fn resend(&mut self, now: Micros, next: &mut Incarnation) -> (Label, Sync) {
        let (label, sync, silent) = match self.phase {
            Phase::Underway { label, sync, silent } => (label, sync, silent),
            Phase::Refused { label, sync } => (label, sync, now),
            Phase::Closed => (Label::open(next), Sync::Set, now),
        };
        self.sent = now;
        self.phase = Phase::Underway { label, sync, silent };
        (label, sync)
    }

    /// Reading: both times are over when they are exceeded. T-10, T-11
    fn clock(&self, now: Micros, parameters: &TransportParameters) -> Clock {
        let silent = match self.phase {
            Phase::Underway { silent, .. } => now.since(silent),
            Phase::Refused { .. } | Phase::Closed => Micros(0),
        };
        if silent > parameters.unreachable {
            Clock::Silence
        } else if now.since(self.sent) > parameters.timeout {
            Clock::Timeout
        } else {
            Clock::Early
        }
    }
}
