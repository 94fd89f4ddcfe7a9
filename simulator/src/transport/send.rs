//! Sender's state of a logical channel, with transitions for answers and timeouts. T-3, T-8,
//! T-10..T-13

use codec::transport::{ChannelIncarnation, NackReason, SequenceBit, SyncFlag, TransportHeader};

use super::resident_endpoints::ResidentStage;
use super::{FIRST, Micros, OutboundMessage, TransportParameters};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum SendEntry<M> {
    /// Free and uninitialised: the next packet carries SYNC and a new incarnation. T-11
    #[default]
    Closed,
    /// Free: the next packet has this label.
    Open(PacketLabel),
    /// Stop-and-wait: one packet is unacknowledged, and no other may be sent. T-2
    Busy(InFlightMessage<M>),
}

/// Identification of a packet in its logical channel. T-4, T-12
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PacketLabel {
    pub seq: SequenceBit,
    pub incarnation: ChannelIncarnation,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct InFlightMessage<M> {
    pub letter: OutboundMessage<M>,
    /// Time when the latest transmission left; none before the first one of the current
    /// incarnation. T-3
    pub sent: Option<Micros>,
    /// Retransmissions since the last ACK or NACK. T-3, T-11
    pub retries: u32,
    pub phase: FlightPhase,
}

/// State of a message's latest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FlightPhase {
    Queued(LabelledSync),
    /// In transit or lost, without an answer.
    Underway(LabelledSync),
    /// Refused; retransmitted at a scan. T-10
    Refused(LabelledSync),
    /// Refused with reason 4; retransmitted with SYNC and a new incarnation. T-12
    Closed,
}

/// Label of a message's transmissions, and SYNC, which is repeated with its incarnation until it is
/// acknowledged. T-12
type LabelledSync = (PacketLabel, SyncFlag);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    /// The message was written. T-5
    Ack,
    /// The message was refused. T-6
    Nack(NackReason),
}

/// Relation of an answer's echo to the packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EchoMatch {
    /// Latest transmission that has left. T-8
    Latest,
    Earlier,
    Foreign,
}

/// Effect of an answer on the packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerMeaning {
    /// No message.
    Late,
    Acknowledged,
    /// Only a sign of life. T-11
    Alive(NackReason),
    /// Retransmitted at a scan. T-10
    Refused(NackReason),
    /// Returned for good. T-6
    Return(NackReason),
}

/// Action of a scan on a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    Resend,
    /// Return: the destination is unreachable. T-11
    Return,
}

/// State of timer and retry count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RetryState {
    Early,
    /// First transmission.
    Timeout,
    /// Past the timeout, and all retransmissions were unanswered.
    Silence,
}

impl<M> SendEntry<M> {
    /// Evaluates an answer. An answer to the packet in flight resets its retry count. T-5, T-6,
    /// T-8, T-11..T-13
    pub(super) fn step(&mut self, header: &TransportHeader, answer: AnswerKind) -> AnswerMeaning {
        let Self::Busy(flight) = self else { return AnswerMeaning::Late };
        let echo = flight.echo(header);
        if echo != EchoMatch::Foreign {
            flight.retries = 0;
        }
        match (flight.phase, answer, echo) {
            // What went out before reason 4 came is of a use of the channel that is over. T-12
            (FlightPhase::Closed, ..) | (_, _, EchoMatch::Foreign) => AnswerMeaning::Late,
            // An acknowledgment of any transmission says that the message was written. T-5
            (_, AnswerKind::Ack, EchoMatch::Latest | EchoMatch::Earlier) => {
                AnswerMeaning::Acknowledged
            }
            // T-8, T-11. Reading: a final one of an earlier transmission is no more, since a later
            // transmission may still be written.
            (_, AnswerKind::Nack(reason), EchoMatch::Earlier) => AnswerMeaning::Alive(reason),
            // Reading: once.
            (FlightPhase::Refused(_), AnswerKind::Nack(_), EchoMatch::Latest) => {
                AnswerMeaning::Late
            }
            // T-13: a NACK of the latest transmission that has left. One that is queued need not go.
            (
                FlightPhase::Queued(_) | FlightPhase::Underway(_),
                AnswerKind::Nack(reason),
                EchoMatch::Latest,
            ) => {
                if reason.is_final() {
                    AnswerMeaning::Return(reason)
                } else {
                    AnswerMeaning::Refused(reason)
                }
            }
        }
    }
}

impl PacketLabel {
    /// Label of the first packet of a new incarnation. T-12
    pub(super) const fn open(next: &mut ChannelIncarnation) -> Self {
        let incarnation = *next;
        *next = incarnation.next();
        Self { seq: FIRST, incarnation }
    }
}

impl FlightPhase {
    /// True while the latest transmission has no answer. T-13
    pub(super) const fn is_unanswered(self) -> bool {
        matches!(self, Self::Queued(_) | Self::Underway(_))
    }

    /// A latest transmission was refused.
    pub(super) const fn refused(self, reason: NackReason) -> Self {
        match (self, reason) {
            // T-12: the receiver knows nothing of the channel, which becomes uninitialised.
            (_, NackReason::NoChannelState) | (Self::Closed, _) => Self::Closed,
            (Self::Queued(sent) | Self::Underway(sent) | Self::Refused(sent), _) => {
                Self::Refused(sent)
            }
        }
    }
}

impl<M> InFlightMessage<M> {
    /// Matches an answer's echo with the transmissions. T-8, T-12
    fn echo(&self, header: &TransportHeader) -> EchoMatch {
        match (self.phase, self.sent) {
            (
                FlightPhase::Queued((label, _))
                | FlightPhase::Underway((label, _))
                | FlightPhase::Refused((label, _)),
                Some(sent),
            ) => {
                if header.seq != label.seq || header.incarnation != label.incarnation {
                    EchoMatch::Foreign
                } else if header.timestamp == sent.timestamp() {
                    EchoMatch::Latest
                } else {
                    EchoMatch::Earlier
                }
            }
            // Nothing of this use of the channel has left.
            (_, None) | (FlightPhase::Closed, _) => EchoMatch::Foreign,
        }
    }

    pub(super) fn is_queued_as(&self, header: &TransportHeader) -> bool {
        matches!(self.phase, FlightPhase::Queued((label, _))
            if (label.seq, label.incarnation) == (header.seq, header.incarnation))
    }

    /// Marks the queued transmission as sent and starts its timer. T-3, T-11
    pub(super) const fn leave(&mut self, now: Micros) {
        if let FlightPhase::Queued(sent) = self.phase {
            self.phase = FlightPhase::Underway(sent);
            // Reading of T-12: the first one of a new use of the channel is no retransmission.
            if self.sent.is_some() {
                self.retries = self.retries.saturating_add(1);
            }
            self.sent = Some(now);
        }
    }

    pub(super) fn due(
        &self,
        now: Micros,
        stage: ResidentStage,
        parameters: &TransportParameters,
    ) -> Due {
        match (self.phase, stage, self.clock(now, parameters)) {
            // What has not left has no timer. T-10: the NACK itself does not resend.
            (FlightPhase::Queued(_), ..) | (_, _, RetryState::Early) => Due::Nothing,
            // An endpoint that leaves waits for an answer, and still requests one. T-13
            (FlightPhase::Underway(_), _, RetryState::Timeout) => Due::Resend,
            (FlightPhase::Underway(_), _, RetryState::Silence) => Due::Return,
            // T-11: a NIC that answered is not silent.
            (
                FlightPhase::Refused(_) | FlightPhase::Closed,
                ResidentStage::Staying,
                RetryState::Timeout | RetryState::Silence,
            ) => Due::Resend,
            // Reading of T-13: its latest transmission has its answer, and must stay the latest.
            (FlightPhase::Refused(_) | FlightPhase::Closed, ResidentStage::Leaving, _) => {
                Due::Nothing
            }
        }
    }

    /// Queues a retransmission with the same label and SYNC, or on a reopened channel. T-12
    pub(super) const fn resend(&mut self, next: &mut ChannelIncarnation) -> LabelledSync {
        let sent = match self.phase {
            FlightPhase::Queued(sent)
            | FlightPhase::Underway(sent)
            | FlightPhase::Refused(sent) => sent,
            FlightPhase::Closed => {
                self.sent = None;
                (PacketLabel::open(next), SyncFlag::Set)
            }
        };
        self.phase = FlightPhase::Queued(sent);
        sent
    }

    /// Reading: a timeout must be exceeded. T-10, T-11
    fn clock(&self, now: Micros, parameters: &TransportParameters) -> RetryState {
        if self.sent.is_none_or(|sent| now.since(sent) <= parameters.timeout) {
            RetryState::Early
        } else if self.retries < parameters.retries {
            RetryState::Timeout
        } else {
            RetryState::Silence
        }
    }
}
