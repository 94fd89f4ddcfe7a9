//! History of the messages of one NIC, kept beside the machine, which does not see it.

use std::collections::BTreeMap;

use codec::transport::{
    ChannelIncarnation, LogicalChannel, SequenceBit, TransportHeader, TransportTimestamp,
};
use simulator::transport::ProtocolPacket;

use super::plan::{ExtraClaim, MESSAGES_MAX, ModelMessage, ModelPlan, ModelSide};
use super::violation::ModelViolation;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelFate {
    Foreign,
    /// Its application has it ready, or it has come back into a frame with its endpoint.
    Waiting,
    /// The protocol has accepted it, and has not brought it to an end.
    Outstanding,
    /// It has left the frame with its endpoint. T-13
    Carried,
    /// It is acknowledged. T-5
    Acknowledged,
    /// It has come back. T-6, T-11
    Returned,
    /// Its NIC was restarted while it was outstanding.
    Lost,
}

/// Tests whether a message was written, at the side that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteState {
    Never,
    Before,
    Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutstandingMessage {
    pub message: ModelMessage,
    /// Header of its latest transmission; none before the first.
    pub latest: Option<TransportHeader>,
    /// Retransmissions that left since there was a sign of its destination. T-11
    pub retries: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryRecord {
    fates: [ModelFate; MESSAGES_MAX],
    written: [WriteState; MESSAGES_MAX],
    outstanding: BTreeMap<LogicalChannel, OutstandingMessage>,
    /// Incarnation and number of the last message written from each channel of the other NIC, in this life.
    last: BTreeMap<LogicalChannel, (ChannelIncarnation, SequenceBit)>,
}

impl DeliveryRecord {
    pub fn new(plan: &ModelPlan, side: ModelSide) -> Self {
        let mut fates = [ModelFate::Foreign; MESSAGES_MAX];
        for (fate, mail) in fates.iter_mut().zip(&plan.messages) {
            if mail.from == side {
                *fate = ModelFate::Waiting;
            }
        }
        Self {
            fates,
            written: [WriteState::Never; MESSAGES_MAX],
            outstanding: BTreeMap::new(),
            last: BTreeMap::new(),
        }
    }

    pub fn fate(&self, message: ModelMessage) -> ModelFate {
        self.fates.get(usize::from(message.0)).copied().unwrap_or(ModelFate::Foreign)
    }

    pub fn written(&self, message: ModelMessage) -> WriteState {
        self.written.get(usize::from(message.0)).copied().unwrap_or(WriteState::Never)
    }

    pub fn waiting(&self) -> impl Iterator<Item = ModelMessage> {
        let messages = (0..).map(ModelMessage).zip(&self.fates);
        messages.filter(|(_, fate)| **fate == ModelFate::Waiting).map(|(message, _)| message)
    }

    /// Messages that are outstanding, by their channels.
    pub fn outstanding(&self) -> impl Iterator<Item = ModelMessage> {
        self.outstanding.values().map(|own| own.message)
    }

    /// Tests whether every message of this side has come to an end.
    pub fn is_resolved(&self) -> bool {
        self.fates.iter().all(|fate| match fate {
            ModelFate::Foreign
            | ModelFate::Acknowledged
            | ModelFate::Returned
            | ModelFate::Lost => true,
            ModelFate::Waiting | ModelFate::Outstanding | ModelFate::Carried => false,
        })
    }

    fn set(&mut self, message: ModelMessage, fate: ModelFate) {
        if let Some(place) = self.fates.get_mut(usize::from(message.0)) {
            *place = fate;
        }
    }

    /// The protocol has accepted a message.
    pub(super) fn accept(&mut self, on: LogicalChannel, message: ModelMessage) -> CheckResult {
        let new = OutstandingMessage { message, latest: None, retries: 0 };
        self.set(message, ModelFate::Outstanding);
        match self.outstanding.insert(on, new) {
            None => Ok(()),
            Some(_) => Err(ModelViolation::ChannelShared(message)),
        }
    }

    pub(super) fn transmit(
        &mut self,
        header: TransportHeader,
        message: ModelMessage,
    ) -> CheckResult {
        match self.outstanding.get_mut(&header.channel) {
            Some(own) if own.message == message => {
                let again = own.latest.is_some_and(|it| it.incarnation == header.incarnation);
                own.retries = if again { own.retries.saturating_add(1) } else { 0 };
                own.latest = Some(header);
            }
            Some(_) | None => return Err(ModelViolation::ChannelShared(message)),
        }
        Ok(())
    }

    pub(super) fn end(
        &mut self,
        message: ModelMessage,
        fate: ModelFate,
    ) -> Option<OutstandingMessage> {
        let on = self.outstanding.iter().find(|(_, own)| own.message == message);
        let channel = on.map(|(channel, _)| *channel)?;
        self.set(message, fate);
        self.outstanding.remove(&channel)
    }

    /// The endpoint is back in a frame, and what it took along with it.
    pub(super) fn bring_back(&mut self) {
        for fate in &mut self.fates {
            if *fate == ModelFate::Carried {
                *fate = ModelFate::Waiting;
            }
        }
    }

    pub(super) fn restart(&mut self, lost: ModelFate) {
        for own in std::mem::take(&mut self.outstanding).into_values() {
            self.set(own.message, lost);
        }
        for written in &mut self.written {
            if *written == WriteState::Now {
                *written = WriteState::Before;
            }
        }
        self.last.clear();
    }

    /// Tests whether an answer is to what is outstanding, whichever of its transmissions it echoes. T-8
    pub fn counts(&self, answer: &ProtocolPacket<ModelMessage>) -> bool {
        let latest = |channel| self.outstanding.get(channel).and_then(|own| own.latest);
        match answer {
            ProtocolPacket::Data(..) => false,
            ProtocolPacket::Ack(header) | ProtocolPacket::Nack(header, _) => {
                latest(&header.channel).is_some_and(|latest| {
                    TransportHeader { timestamp: latest.timestamp, ..header.answer() } == latest
                })
            }
        }
    }

    /// There was a sign of the destination of what is outstanding there. T-11
    pub(super) fn reset_retries(&mut self, on: LogicalChannel) {
        if let Some(own) = self.outstanding.get_mut(&on) {
            own.retries = 0;
        }
    }

    pub fn on(&self, channel: LogicalChannel) -> Option<&OutstandingMessage> {
        self.outstanding.get(&channel)
    }

    /// Tests whether a data packet was written before, or is of an incarnation before that of what was
    /// written last. With one packet outstanding on FIFO paths there is nothing else that is over. T-4
    pub fn is_over(&self, header: &TransportHeader) -> bool {
        self.last.get(&header.channel).is_some_and(|(incarnation, seq)| {
            incarnation.is_newer_than(header.incarnation)
                || (*incarnation == header.incarnation && *seq == header.seq)
        })
    }

    pub(super) fn write(
        &mut self,
        plan: &ModelPlan,
        header: &TransportHeader,
        message: ModelMessage,
    ) -> CheckResult {
        let Some(written) = self.written.get_mut(usize::from(message.0)) else { return Ok(()) };
        match (*written, plan.claim) {
            (WriteState::Now, _) => return Err(ModelViolation::WrittenTwice(message)),
            (WriteState::Before, Some(ExtraClaim::OneLife)) => {
                return Err(ModelViolation::WrittenInTwoLives(message));
            }
            (
                WriteState::Before,
                Some(ExtraClaim::ReturnedIsUnwritten | ExtraClaim::HeardIsAnswered) | None,
            )
            | (WriteState::Never, _) => {}
        }
        *written = WriteState::Now;
        self.last.insert(header.channel, (header.incarnation, header.seq));
        Ok(())
    }

    /// Shifts the record to an earlier time.
    pub(super) fn earlier(&mut self, then: impl Fn(TransportTimestamp) -> TransportTimestamp) {
        for own in self.outstanding.values_mut() {
            if let Some(latest) = &mut own.latest {
                latest.timestamp = then(latest.timestamp);
            }
        }
    }
}

pub(super) type CheckResult = Result<(), ModelViolation>;
