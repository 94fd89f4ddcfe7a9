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
    Queued {
        label: PacketLabel,
        /// SYNC is repeated with its incarnation until it is acknowledged. T-12
        sync: SyncFlag,
    },
    /// In transit or lost, without an answer.
    Underway { label: PacketLabel, sync: SyncFlag },
    /// Refused; retransmitted at a scan. T-10
    Refused { label: PacketLabel, sync: SyncFlag },
    /// Refused with reason 4; retransmitted with SYNC and a new incarnation. T-12
    Closed,
}

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
        let flight = match self {
            Self::Closed | Self::Open(_) => return AnswerMeaning::Late,
            Self::Busy(flight) => flight,
        };
        let echo = flight.echo(header);
        match echo {
            EchoMatch::Latest | EchoMatch::Earlier => flight.retries = 0,
            EchoMatch::Foreign => {}
        }
        match (flight.phase, answer, echo) {
            // An acknowledgment of any transmission says that the message was written. T-5
            (
                FlightPhase::Queued { .. } | FlightPhase::Underway { .. } | FlightPhase::Refused { .. },
                AnswerKind::Ack,
                EchoMatch::Latest | EchoMatch::Earlier,
            ) => AnswerMeaning::Acknowledged,
            // T-13: a NACK of the latest transmission that has left. One that is queued need not go.
            (
                FlightPhase::Queued { .. } | FlightPhase::Underway { .. },
                AnswerKind::Nack(reason),
                EchoMatch::Latest,
            ) => {
                if reason.is_final() { AnswerMeaning::Return(reason) } else { AnswerMeaning::Refused(reason) }
            }
            // T-8, T-11. Reading: a final one of an earlier transmission is no more, since a later
            // transmission may still be written.
            (
                FlightPhase::Queued { .. } | FlightPhase::Underway { .. } | FlightPhase::Refused { .. },
                AnswerKind::Nack(reason),
                EchoMatch::Earlier,
            ) => AnswerMeaning::Alive(reason),
            // Reading: once.
            (FlightPhase::Refused { .. }, AnswerKind::Nack(_), EchoMatch::Latest)
            | (
                FlightPhase::Queued { .. } | FlightPhase::Underway { .. } | FlightPhase::Refused { .. },
                AnswerKind::Ack | AnswerKind::Nack(_),
                EchoMatch::Foreign,
            )
            // What went out before reason 4 came is of a use of the channel that is over. T-12
            | (
                FlightPhase::Closed,
                AnswerKind::Ack | AnswerKind::Nack(_),
                EchoMatch::Latest | EchoMatch::Earlier | EchoMatch::Foreign,
            ) => AnswerMeaning::Late,
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
    /// A latest transmission was refused.
    pub(super) const fn refused(self, reason: NackReason) -> Self {
        match (self, reason) {
            // T-12: the receiver knows nothing of the channel, which becomes uninitialised.
            (_, NackReason::NoChannelState) | (Self::Closed, _) => Self::Closed,
            (
                Self::Queued { label, sync }
                | Self::Underway { label, sync }
                | Self::Refused { label, sync },
                _,
            ) => Self::Refused { label, sync },
        }
    }
}

impl<M> InFlightMessage<M> {
    /// Matches an answer's echo with the transmissions. T-8, T-12
    fn echo(&self, header: &TransportHeader) -> EchoMatch {
        match (self.phase, self.sent) {
            (
                FlightPhase::Queued { label, .. }
                | FlightPhase::Underway { label, .. }
                | FlightPhase::Refused { label, .. },
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
            (
                FlightPhase::Queued { .. }
                | FlightPhase::Underway { .. }
                | FlightPhase::Refused { .. },
                None,
            )
            | (FlightPhase::Closed, _) => EchoMatch::Foreign,
        }
    }

    pub(super) fn is_queued_as(&self, header: &TransportHeader) -> bool {
        match self.phase {
            FlightPhase::Queued { label, .. } => {
                (label.seq, label.incarnation) == (header.seq, header.incarnation)
            }
            FlightPhase::Underway { .. } | FlightPhase::Refused { .. } | FlightPhase::Closed => {
                false
            }
        }
    }

    /// Marks the queued transmission as sent and starts its timer. T-3, T-11
    pub(super) const fn leave(&mut self, now: Micros) {
        if let FlightPhase::Queued { label, sync } = self.phase {
            self.phase = FlightPhase::Underway { label, sync };
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
            // What has not left has no timer.
            (
                FlightPhase::Queued { .. },
                ResidentStage::Staying | ResidentStage::Leaving,
                RetryState::Early | RetryState::Timeout | RetryState::Silence,
            )
            | (
                FlightPhase::Underway { .. },
                ResidentStage::Staying | ResidentStage::Leaving,
                RetryState::Early,
            ) => Due::Nothing,
            // An endpoint that leaves waits for an answer, and so still asks for one. T-13
            (
                FlightPhase::Underway { .. },
                ResidentStage::Staying | ResidentStage::Leaving,
                RetryState::Timeout,
            ) => Due::Resend,
            (
                FlightPhase::Underway { .. },
                ResidentStage::Staying | ResidentStage::Leaving,
                RetryState::Silence,
            ) => Due::Return,
            (
                FlightPhase::Refused { .. } | FlightPhase::Closed,
                ResidentStage::Staying,
                RetryState::Early,
            ) => Due::Nothing,
            // T-10: the NACK itself does not resend. T-11: whoever answered is not silent.
            (
                FlightPhase::Refused { .. } | FlightPhase::Closed,
                ResidentStage::Staying,
                RetryState::Timeout | RetryState::Silence,
            ) => Due::Resend,
            // Reading of T-13: its latest transmission has its answer, and must stay the latest.
            (
                FlightPhase::Refused { .. } | FlightPhase::Closed,
                ResidentStage::Leaving,
                RetryState::Early | RetryState::Timeout | RetryState::Silence,
            ) => Due::Nothing,
        }
    }

    /// Queues a retransmission with the same label and SYNC, or on a reopened channel. T-12
    pub(super) const fn resend(
        &mut self,
        next: &mut ChannelIncarnation,
    ) -> (PacketLabel, SyncFlag) {
        let (label, sync) = match self.phase {
            FlightPhase::Queued { label, sync }
            | FlightPhase::Underway { label, sync }
            | FlightPhase::Refused { label, sync } => (label, sync),
            FlightPhase::Closed => {
                self.sent = None;
                (PacketLabel::open(next), SyncFlag::Set)
            }
        };
        self.phase = FlightPhase::Queued { label, sync };
        (label, sync)
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
