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
    /// When the first byte of its latest transmission left; none before that of its channel's latest
    /// use. T-3
    pub sent: Option<Micros>,
    /// Retransmissions that have left since there was an ACK or a NACK of any of its transmissions. T-3,
    /// T-11
    pub retries: u32,
    /// What has become of its latest transmission.
    pub phase: Phase,
}

/// What has become of a message's latest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It is queued, and has not left this NIC.
    Queued {
        /// Its label, which each transmission has.
        label: Label,
        /// SYNC is repeated with its incarnation until it is acknowledged. T-12
        sync: Sync,
    },
    /// It has left, and has no answer.
    Underway {
        /// The same.
        label: Label,
        /// The same.
        sync: Sync,
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
    /// Of the latest transmission that has left. T-8
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
    /// Its destination is alive, and nothing else. T-11
    Alive(Reason),
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

/// What timer and count say about a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Its latest transmission is not older than the timeout.
    Early,
    /// It is.
    Timeout,
    /// It is, and as many retransmissions as there may be had no answer.
    Silence,
}

impl<M> SendEntry<M> {
    /// What an answer means. One that is of the packet in flight is a sign of life: the count of its
    /// retries begins anew. T-5, T-6, T-8, T-11..T-13
    pub(super) fn step(&mut self, header: &Header, answer: Answer) -> Meaning {
        let flight = match self {
            Self::Closed | Self::Open(_) => return Meaning::Late,
            Self::Busy(flight) => flight,
        };
        let echo = flight.echo(header);
        match echo {
            Echo::Latest | Echo::Earlier => flight.retries = 0,
            Echo::Foreign => {}
        }
        match (flight.phase, answer, echo) {
            // An acknowledgment of any transmission says that the message was written. T-5
            (
                Phase::Queued { .. } | Phase::Underway { .. } | Phase::Refused { .. },
                Answer::Ack,
                Echo::Latest | Echo::Earlier,
            ) => Meaning::Acknowledged,
            // T-13: a NACK of the latest transmission that has left. One that is queued need not go.
            (
                Phase::Queued { .. } | Phase::Underway { .. },
                Answer::Nack(reason),
                Echo::Latest,
            ) => {
                if reason.is_final() { Meaning::Return(reason) } else { Meaning::Refused(reason) }
            }
            // T-8, T-11. Reading: a final one of an earlier transmission is no more, since a later
            // transmission may still be written.
            (
                Phase::Queued { .. } | Phase::Underway { .. } | Phase::Refused { .. },
                Answer::Nack(reason),
                Echo::Earlier,
            ) => Meaning::Alive(reason),
            // Reading: once.
            (Phase::Refused { .. }, Answer::Nack(_), Echo::Latest)
            | (
                Phase::Queued { .. } | Phase::Underway { .. } | Phase::Refused { .. },
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
            (
                Self::Queued { label, sync }
                | Self::Underway { label, sync }
                | Self::Refused { label, sync },
                _,
            ) => Self::Refused { label, sync },
        }
    }
}

impl<M> Flight<M> {
    /// Which transmission of it an answer echoes. T-8, T-12
    fn echo(&self, header: &Header) -> Echo {
        match (self.phase, self.sent) {
            (
                Phase::Queued { label, .. }
                | Phase::Underway { label, .. }
                | Phase::Refused { label, .. },
                Some(sent),
            ) => {
                if header.seq != label.seq || header.incarnation != label.incarnation {
                    Echo::Foreign
                } else if header.timestamp == sent.timestamp() {
                    Echo::Latest
                } else {
                    Echo::Earlier
                }
            }
            // Nothing of this use of the channel has left.
            (Phase::Queued { .. } | Phase::Underway { .. } | Phase::Refused { .. }, None)
            | (Phase::Closed, _) => Echo::Foreign,
        }
    }

    /// Whether it is queued, with the label of this header.
    pub(super) fn is_queued_as(&self, header: &Header) -> bool {
        match self.phase {
            Phase::Queued { label, .. } => {
                (label.seq, label.incarnation) == (header.seq, header.incarnation)
            }
            Phase::Underway { .. } | Phase::Refused { .. } | Phase::Closed => false,
        }
    }

    /// Its queued transmission leaves: from now on its timer runs. T-3, T-11
    pub(super) const fn leave(&mut self, now: Micros) {
        if let Phase::Queued { label, sync } = self.phase {
            self.phase = Phase::Underway { label, sync };
            // Reading of T-12: the first one of a new use of the channel is no retransmission.
            if self.sent.is_some() {
                self.retries = self.retries.saturating_add(1);
            }
            self.sent = Some(now);
        }
    }

    /// What a scan does about it. T-10, T-11, T-13
    pub(super) fn due(&self, now: Micros, stage: Stage, parameters: &TransportParameters) -> Due {
        match (self.phase, stage, self.clock(now, parameters)) {
            // What has not left has no timer.
            (
                Phase::Queued { .. },
                Stage::Staying | Stage::Leaving,
                Clock::Early | Clock::Timeout | Clock::Silence,
            )
            | (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Early) => {
                Due::Nothing
            }
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

    /// It is queued again: with the label and the SYNC that it had, or on a channel opened anew. T-12
    pub(super) const fn resend(&mut self, next: &mut Incarnation) -> (Label, Sync) {
        let (label, sync) = match self.phase {
            Phase::Queued { label, sync }
            | Phase::Underway { label, sync }
            | Phase::Refused { label, sync } => (label, sync),
            Phase::Closed => {
                self.sent = None;
                (Label::open(next), Sync::Set)
            }
        };
        self.phase = Phase::Queued { label, sync };
        (label, sync)
    }

    /// Reading: the time is over when it is exceeded. T-10, T-11
    fn clock(&self, now: Micros, parameters: &TransportParameters) -> Clock {
        if self.sent.is_none_or(|sent| now.since(sent) <= parameters.timeout) {
            Clock::Early
        } else if self.retries < parameters.retries {
            Clock::Timeout
        } else {
            Clock::Silence
        }
    }
}
