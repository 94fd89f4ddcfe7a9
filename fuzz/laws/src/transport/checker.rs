//! Expected state of messages, channels and NICs, from the rules alone: the second witness. It is simple, and sees
//! what no NIC can.

mod accounts;
mod receiver;
mod sender;

use std::rc::Rc;

use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, NackReason, Nic, SequenceBit, SyncFlag,
    TransportHeader,
};
use simulator::transport::{
    Micros, ProtocolPacket, TransportEffect, TransportNotice, TransportParameters,
};

use self::accounts::WriteState;
pub(crate) use self::accounts::{EndpointAddress, TransportOutcome, TransportRecord};
pub use self::accounts::{ExtraClaim, MessageNumber};

/// A message that is not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct UnackedMessage {
    number: MessageNumber,
    header: TransportHeader,
    sync: SyncFlag,
    queued: bool,
    /// Time when the latest one with this label left, by the NIC's clock. T-3
    left: Option<u64>,
    /// Retransmissions that left behind the last sign of its destination. T-11
    retries: u32,
    /// Consequence for the endpoint: its latest message that left was refused. T-13
    refused: Option<MessageRefusal>,
}

/// How a message was refused that is not yet brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MessageRefusal {
    /// It is sent again as it was. T-10
    NotYet,
    /// Its channel is opened anew. T-12
    Forgotten,
}

impl UnackedMessage {
    fn place(&self) -> RemoteChannel {
        (self.header.destination, self.header.channel)
    }

    /// Tests whether its channel is to be opened anew. T-12
    fn is_forgotten(&self) -> bool {
        self.refused == Some(MessageRefusal::Forgotten)
    }
}

/// A logical channel, at the NIC that sends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct SenderChannel {
    /// Its incarnation and the next sequence number, if it is initialised. T-11
    open: Option<(ChannelIncarnation, SequenceBit)>,
    flight: Option<UnackedMessage>,
}

impl SenderChannel {
    /// It is not initialised, and nothing is outstanding on it.
    const fn close(&mut self) {
        (self.open, self.flight) = (None, None);
    }
}

/// A logical channel, by the NIC at its other end.
pub(crate) type RemoteChannel = (Nic, LogicalChannel);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NicRecord {
    /// The newest incarnation that it ever used.
    used: Option<ChannelIncarnation>,
    channels: Vec<SenderChannel>,
    /// Position where data came from: the incarnation of what was last written, in this life.
    stored: Vec<Option<ChannelIncarnation>>,
    unloading: Vec<EndpointId>,
}

impl NicRecord {
    fn new(parameters: &TransportParameters) -> Self {
        let places = usize::from(parameters.nics) * usize::from(parameters.channels);
        Self {
            channels: vec![SenderChannel::default(); places],
            stored: vec![None; places],
            ..Self::default()
        }
    }

    /// An endpoint does not wait any more to leave its frame. Whether it did.
    fn stays(&mut self, endpoint: EndpointId) -> bool {
        let place = self.unloading.iter().position(|it| *it == endpoint);
        place.map(|place| self.unloading.swap_remove(place)).is_some()
    }
}

#[derive(Clone, Debug)]
pub(super) enum StepCause {
    Send(MessageNumber),
    /// And what became of the offer, if the message was offered.
    Data(TransportHeader, SyncFlag, MessageNumber, Option<Result<(), NackReason>>),
    Answer(TransportHeader, Option<NackReason>),
    Tick,
    Unload(EndpointId),
}

#[derive(Debug)]
pub(super) struct MachineStep<'a> {
    pub(super) nic: Nic,
    pub(super) clock: u64,
    pub(super) cause: StepCause,
    pub(super) effects: &'a [TransportEffect<MessageNumber>],
}

#[derive(Clone, Debug)]
pub(crate) struct TransportChecker {
    pub(crate) accounts: Rc<Vec<TransportRecord>>,
    pub(crate) sides: Vec<Rc<NicRecord>>,
    parameters: TransportParameters,
    claim: Option<ExtraClaim>,
    /// A key has changed: what was written in a life before may be refused in another.
    keys_have_changed: bool,
}

impl TransportChecker {
    pub(super) fn new(parameters: TransportParameters, claim: Option<ExtraClaim>) -> Self {
        let sides = (0..parameters.nics).map(|_| Rc::new(NicRecord::new(&parameters))).collect();
        Self { accounts: Rc::default(), sides, parameters, claim, keys_have_changed: false }
    }

    fn side(&self, nic: Nic) -> &NicRecord {
        match self.sides.get(usize::from(nic.0)) {
            Some(side) => side,
            None => unreachable!("every NIC has a record: {nic:?}"),
        }
    }

    /// Position where a logical channel stands in a side's lists.
    fn index(&self, (nic, channel): RemoteChannel) -> usize {
        let channels = usize::from(self.parameters.channels);
        usize::from(nic.0) * channels + usize::from(channel.0).min(channels)
    }

    fn channel(&self, nic: Nic, place: RemoteChannel) -> &SenderChannel {
        match self.side(nic).channels.get(self.index(place)) {
            Some(channel) => channel,
            None => unreachable!("a NIC has all channels: {place:?}"),
        }
    }

    fn channel_mut(&mut self, nic: Nic, place: RemoteChannel) -> &mut SenderChannel {
        let index = self.index(place);
        match self.side_mut(nic).channels.get_mut(index) {
            Some(channel) => channel,
            None => unreachable!("a NIC has all channels: {place:?}"),
        }
    }

    fn stored(&self, nic: Nic, place: RemoteChannel) -> Option<ChannelIncarnation> {
        *self.side(nic).stored.get(self.index(place))?
    }

    fn side_mut(&mut self, nic: Nic) -> &mut NicRecord {
        match self.sides.get_mut(usize::from(nic.0)) {
            Some(side) => Rc::make_mut(side),
            None => unreachable!("every NIC has a record: {nic:?}"),
        }
    }

    fn flights(&self, nic: Nic) -> impl Iterator<Item = &UnackedMessage> {
        self.side(nic).channels.iter().filter_map(|channel| channel.flight.as_ref())
    }

    fn flights_of(&self, at: EndpointAddress) -> impl Iterator<Item = &UnackedMessage> {
        self.flights(at.nic).filter(move |flight| self.account(flight.number).from == at)
    }

    /// Messages of an endpoint that are not acknowledged.
    pub(super) fn outstanding(&self, at: EndpointAddress) -> usize {
        self.flights_of(at).count()
    }

    /// Logical channels between two NICs that are taken.
    pub(super) fn taken(&self, nic: Nic, to: Nic) -> usize {
        let channels = usize::from(self.parameters.channels);
        let row = usize::from(to.0) * channels;
        let row = self.side(nic).channels.get(row..row + channels);
        row.into_iter().flatten().filter(|channel| channel.flight.is_some()).count()
    }

    pub(super) fn waits(&self, nic: Nic) -> bool {
        self.flights(nic).next().is_some()
    }

    pub(super) fn is_unloading(&self, at: EndpointAddress) -> bool {
        self.side(at.nic).unloading.contains(&at.endpoint)
    }

    /// An endpoint stays in its frame, or is in one again.
    pub(super) fn stays(&mut self, at: EndpointAddress) {
        self.side_mut(at.nic).stays(at.endpoint);
    }

    /// A NIC's control program is loaded again: all that it knew is gone. T-11
    pub(super) fn restart(&mut self, nic: Nic) {
        let lost: Vec<MessageNumber> = self.flights(nic).map(|flight| flight.number).collect();
        lost.into_iter().for_each(|number| self.set(number, TransportOutcome::Lost));
        let new = NicRecord::new(&self.parameters);
        let side = self.side_mut(nic);
        *side = NicRecord { used: side.used, ..new };
        self.forget_writes(nic);
    }

    /// Moves what has left back in time, but not before `oldest`.
    pub(super) fn shift_back(&mut self, by: u64, oldest: u64) {
        for side in &mut self.sides {
            let flights =
                Rc::make_mut(side).channels.iter_mut().filter_map(|it| it.flight.as_mut());
            for flight in flights {
                flight.left = flight.left.map(|left| left.saturating_sub(by).max(oldest));
                if let Some(left) = flight.left {
                    flight.header.timestamp = Micros(left).timestamp();
                }
            }
        }
    }

    /// Header of the latest transmission of what is outstanding on a channel, if it has left.
    pub(crate) fn latest(&self, nic: Nic, place: RemoteChannel) -> Option<TransportHeader> {
        let flight = self.channel(nic, place).flight.as_ref()?;
        flight.left.map(|_| flight.header)
    }

    /// Tests whether a packet is so old that nothing of it may count. T-8, T-12
    pub(super) fn is_over(&self, nic: Nic, packet: &ProtocolPacket<MessageNumber>) -> bool {
        match packet {
            ProtocolPacket::Data(header, ..) => {
                let stored = self.stored(nic, (header.source, header.channel));
                stored.is_some_and(|stored| stored.is_newer_than(header.incarnation))
            }
            ProtocolPacket::Ack(header) | ProtocolPacket::Nack(header, _) => {
                self.answered(nic, header).is_none()
            }
        }
    }

    /// Tests whether data was written before, in this life.
    pub(super) fn is_again(&self, packet: &ProtocolPacket<MessageNumber>) -> bool {
        match packet {
            ProtocolPacket::Data(_, _, number) => self.is_written(*number, WriteState::Now),
            ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..) => false,
        }
    }

    /// Tests whether it is claimed that data is answered: as the latest transmission of what is
    /// outstanding.
    pub(super) fn is_answer_due(&self, packet: &ProtocolPacket<MessageNumber>) -> bool {
        let ProtocolPacket::Data(header, ..) = packet else { return false };
        let latest = self.latest(header.source, (header.destination, header.channel));
        self.claim == Some(ExtraClaim::ReceivedIsAnswered) && latest == Some(*header)
    }

    /// Outstanding message that an answer answers, if it echoes a transmission of it. T-8
    fn answered(&self, nic: Nic, answer: &TransportHeader) -> Option<&UnackedMessage> {
        let flight = self.channel(nic, (answer.source, answer.channel)).flight.as_ref()?;
        let same = flight.header.seq == answer.seq
            && flight.header.incarnation == answer.incarnation
            && flight.left.is_some();
        (same && !flight.is_forgotten()).then_some(flight)
    }

    /// A machine has done a step: it did what it ought to, and it goes into the ledger.
    pub(super) fn step(&mut self, step: &MachineStep<'_>) {
        match &step.cause {
            StepCause::Send(number) => self.sends(step, *number),
            StepCause::Data(header, sync, number, offered) => {
                self.receive(step, (header, *sync, *number), *offered);
            }
            StepCause::Answer(header, reason) => self.is_answered(step, header, *reason),
            StepCause::Tick => self.scans(step),
            StepCause::Unload(endpoint) => {
                let side = self.side_mut(step.nic);
                side.stays(*endpoint);
                side.unloading.push(*endpoint);
                self.no_more(step, &[]);
            }
        }
        self.all_that_can_leave_have_left(step.nic);
    }

    /// Besides what is expected, and notes, endpoints have left. T-13
    fn no_more(&mut self, step: &MachineStep<'_>, expected: &[TransportEffect<MessageNumber>]) {
        let mut expected = expected.iter();
        for effect in step.effects {
            match effect {
                TransportEffect::Noted(header, note) => self.is_true(step, header, *note),
                TransportEffect::Unloaded(endpoint, messages) => {
                    self.leaves(step, *endpoint, messages);
                }
                TransportEffect::Send(_)
                | TransportEffect::Acknowledged(_)
                | TransportEffect::Returned(..) => {
                    assert_eq!(Some(effect), expected.next(), "what is to be done: {step:?}");
                }
            }
        }
        assert_eq!(expected.next(), None, "what is to be done: {step:?}");
    }

    fn leaves(&mut self, step: &MachineStep<'_>, endpoint: EndpointId, messages: &[MessageNumber]) {
        let at = EndpointAddress { nic: step.nic, endpoint };
        let leaves = self.side_mut(at.nic).stays(endpoint);
        assert!(leaves, "it is to leave: {step:?}");
        let flights: Vec<_> = self
            .flights_of(at)
            .map(|flight| (flight.place(), flight.number, flight.refused))
            .collect();
        let waits = flights.iter().find(|(_, _, refused)| refused.is_none());
        assert_eq!(waits, None, "each was refused for its latest transmission. T-13: {step:?}");
        let mut taken = messages.to_vec();
        taken.sort_unstable();
        let mut numbers: Vec<_> = flights.iter().map(|(_, number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(taken, numbers, "what is not acknowledged travels along. T-13: {step:?}");
        for (place, number, _) in flights {
            self.channel_mut(at.nic, place).close();
            self.set(number, TransportOutcome::Stored);
        }
    }

    fn all_that_can_leave_have_left(&self, nic: Nic) {
        for endpoint in &self.side(nic).unloading {
            let at = EndpointAddress { nic, endpoint: *endpoint };
            let waits = self.flights_of(at).any(|flight| flight.refused.is_none());
            assert!(waits, "{at:?} leaves as soon as it can. T-13");
        }
    }

    fn is_true(&self, step: &MachineStep<'_>, header: &TransportHeader, note: TransportNotice) {
        let is_true = match (note, &step.cause) {
            (TransportNotice::Duplicate, StepCause::Data(.., number, None)) => {
                self.is_written(*number, WriteState::Now)
            }
            (TransportNotice::Stale, StepCause::Data(.., None)) => {
                !step.effects.iter().any(|effect| matches!(effect, TransportEffect::Send(_)))
            }
            (TransportNotice::Late, StepCause::Answer(..)) => {
                !step.effects.iter().any(|effect| !matches!(effect, TransportEffect::Noted(..)))
            }
            (TransportNotice::Refused(noted), StepCause::Answer(_, Some(reason))) => {
                noted == *reason
            }
            (TransportNotice::Retransmitted, StepCause::Tick) => {
                step.effects.iter().filter_map(data).any(|(sent, ..)| sent == header)
            }
            (
                TransportNotice::Duplicate
                | TransportNotice::Stale
                | TransportNotice::Late
                | TransportNotice::Refused(_)
                | TransportNotice::Retransmitted
                | TransportNotice::Unknown,
                _,
            ) => false,
        };
        assert!(is_true, "{note:?}: {step:?}");
    }
}

const fn data(
    effect: &TransportEffect<MessageNumber>,
) -> Option<(&TransportHeader, SyncFlag, MessageNumber)> {
    let TransportEffect::Send(packet) = effect else { return None };
    let ProtocolPacket::Data(header, sync, number) = packet else { return None };
    Some((header, *sync, *number))
}
