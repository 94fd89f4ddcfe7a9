//! What happened to the messages of one NIC, kept beside the machine and never shown to it.

use std::collections::BTreeMap;

use codec::transport::{Header, Incarnation, LogicalChannel, Seq, Timestamp};
use simulator::transport::Packet;

use super::breach::Breach;
use super::plan::{Claim, MESSAGES_MAX, Message, Plan, Side};

/// What has become of a message, at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It is the other side's.
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

/// Whether a message was written, at the side that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// Not yet.
    Never,
    /// In an earlier life of this NIC.
    Before,
    /// In this one.
    Now,
}

/// A message under way on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outstanding {
    /// Which.
    pub message: Message,
    /// Of its latest transmission; none before the first.
    pub latest: Option<Header>,
    /// Retransmissions that left since there was a sign of its destination. T-11
    pub retries: u32,
}

/// What happened to the messages of one NIC.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ledger {
    fates: [Fate; MESSAGES_MAX],
    written: [Written; MESSAGES_MAX],
    outstanding: BTreeMap<LogicalChannel, Outstanding>,
    /// What was last written from each channel of the other NIC, in this life.
    last: BTreeMap<LogicalChannel, (Incarnation, Seq)>,
}

impl Ledger {
    /// Before anything has happened.
    #[must_use]
    pub fn new(plan: &Plan, side: Side) -> Self {
        let mut fates = [Fate::Foreign; MESSAGES_MAX];
        for (fate, mail) in fates.iter_mut().zip(&plan.messages) {
            if mail.from == side {
                *fate = Fate::Waiting;
            }
        }
        Self {
            fates,
            written: [Written::Never; MESSAGES_MAX],
            outstanding: BTreeMap::new(),
            last: BTreeMap::new(),
        }
    }

    /// What has become of a message of this side.
    #[must_use]
    pub fn fate(&self, message: Message) -> Fate {
        self.fates.get(usize::from(message.0)).copied().unwrap_or(Fate::Foreign)
    }

    /// Whether a message for this side was written.
    #[must_use]
    pub fn written(&self, message: Message) -> Written {
        self.written.get(usize::from(message.0)).copied().unwrap_or(Written::Never)
    }

    /// Messages that wait to be sent.
    pub fn waiting(&self) -> impl Iterator<Item = Message> {
        let messages = (0..).map(Message).zip(&self.fates);
        messages.filter(|(_, fate)| **fate == Fate::Waiting).map(|(message, _)| message)
    }

    /// Messages that are outstanding, by their channels.
    pub fn outstanding(&self) -> impl Iterator<Item = Message> {
        self.outstanding.values().map(|own| own.message)
    }

    /// Whether every message of this side has come to an end.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.fates.iter().all(|fate| match fate {
            Fate::Foreign | Fate::Acknowledged | Fate::Returned | Fate::Lost => true,
            Fate::Waiting | Fate::Outstanding | Fate::Carried => false,
        })
    }

    fn set(&mut self, message: Message, fate: Fate) {
        if let Some(place) = self.fates.get_mut(usize::from(message.0)) {
            *place = fate;
        }
    }

    /// The protocol has accepted a message.
    pub(super) fn accept(&mut self, on: LogicalChannel, message: Message) -> Step {
        let new = Outstanding { message, latest: None, retries: 0 };
        self.set(message, Fate::Outstanding);
        match self.outstanding.insert(on, new) {
            None => Ok(()),
            Some(_) => Err(Breach::ChannelShared(message)),
        }
    }

    /// A message is transmitted.
    pub(super) fn transmit(&mut self, header: Header, message: Message) -> Step {
        match self.outstanding.get_mut(&header.channel) {
            Some(own) if own.message == message => {
                let again = own.latest.is_some_and(|it| it.incarnation == header.incarnation);
                own.retries = if again { own.retries.saturating_add(1) } else { 0 };
                own.latest = Some(header);
            }
            Some(_) | None => return Err(Breach::ChannelShared(message)),
        }
        Ok(())
    }

    /// A message has come to its end.
    pub(super) fn end(&mut self, message: Message, fate: Fate) -> Option<Outstanding> {
        let on = self.outstanding.iter().find(|(_, own)| own.message == message);
        let channel = on.map(|(channel, _)| *channel)?;
        self.set(message, fate);
        self.outstanding.remove(&channel)
    }

    /// The endpoint is back in a frame, and what it took along with it.
    pub(super) fn bring_back(&mut self) {
        for fate in &mut self.fates {
            if *fate == Fate::Carried {
                *fate = Fate::Waiting;
            }
        }
    }

    /// The NIC begins a new life.
    pub(super) fn restart(&mut self, lost: Fate) {
        for own in std::mem::take(&mut self.outstanding).into_values() {
            self.set(own.message, lost);
        }
        for written in &mut self.written {
            if *written == Written::Now {
                *written = Written::Before;
            }
        }
        self.last.clear();
    }

    /// Whether an answer is to what is outstanding, whichever of its transmissions it echoes. T-8
    #[must_use]
    pub fn counts(&self, answer: &Packet<Message>) -> bool {
        let latest = |channel| self.outstanding.get(channel).and_then(|own| own.latest);
        match answer {
            Packet::Data(..) => false,
            Packet::Ack(header) | Packet::Nack(header, _) => {
                latest(&header.channel).is_some_and(|latest| {
                    Header { timestamp: latest.timestamp, ..header.answer() } == latest
                })
            }
        }
    }

    /// There was a sign of the destination of what is outstanding there. T-11
    pub(super) fn hear_of(&mut self, on: LogicalChannel) {
        if let Some(own) = self.outstanding.get_mut(&on) {
            own.retries = 0;
        }
    }

    /// What is outstanding on a channel.
    #[must_use]
    pub fn on(&self, channel: LogicalChannel) -> Option<&Outstanding> {
        self.outstanding.get(&channel)
    }

    /// Whether a data packet was written before, or is of an incarnation before that of what was
    /// written last. With one packet outstanding on FIFO paths there is nothing else that is over. T-4
    #[must_use]
    pub fn is_over(&self, header: &Header) -> bool {
        self.last.get(&header.channel).is_some_and(|(incarnation, seq)| {
            incarnation.is_newer_than(header.incarnation)
                || (*incarnation == header.incarnation && *seq == header.seq)
        })
    }

    /// A message is written.
    pub(super) fn write(&mut self, plan: &Plan, header: &Header, message: Message) -> Step {
        let Some(written) = self.written.get_mut(usize::from(message.0)) else { return Ok(()) };
        match (*written, plan.claim) {
            (Written::Now, _) => return Err(Breach::WrittenTwice(message)),
            (Written::Before, Some(Claim::OneLife)) => {
                return Err(Breach::WrittenInTwoLives(message));
            }
            (Written::Before, Some(Claim::ReturnedIsUnwritten | Claim::HeardIsAnswered) | None)
            | (Written::Never, _) => {}
        }
        *written = Written::Now;
        self.last.insert(header.channel, (header.incarnation, header.seq));
        Ok(())
    }

    /// The same, had all happened so much earlier.
    pub(super) fn earlier(&mut self, then: impl Fn(Timestamp) -> Timestamp) {
        for own in self.outstanding.values_mut() {
            if let Some(latest) = &mut own.latest {
                latest.timestamp = then(latest.timestamp);
            }
        }
    }
}

/// Whether a law is broken.
pub(super) type Step = Result<(), Breach>;
