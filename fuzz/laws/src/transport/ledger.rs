//! What must be so of messages, channels and NICs, kept beside the machines from the rules alone: the
//! second witness. Plain, and it sees what no NIC can.

mod receiver;
mod sender;

use codec::transport::{EndpointId, Header, Incarnation, LogicalChannel, Nic, Reason, Seq, Sync};
use simulator::transport::{Effect, Letter, Note, Packet, TransportParameters};

/// Messages are carried by their number.
pub(super) type Number = u32;

/// An endpoint anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) nic: Nic,
    pub(super) endpoint: EndpointId,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A NIC has it.
    Open,
    /// It left its NIC with its endpoint.
    Stored,
    /// It is acknowledged.
    Acknowledged,
    /// It is back.
    Returned,
    /// Its NIC was restarted.
    Lost,
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) from: At,
    pub(super) to: At,
    pub(super) key: u64,
    pub(super) end: End,
    /// The lives of its destination in which it was written.
    written: Vec<u32>,
}

/// A message that is not acknowledged.
#[derive(Clone, Debug)]
struct Flight {
    number: Number,
    /// Of the latest transmission that was queued.
    header: Header,
    sync: Sync,
    /// Whether that has not left its NIC.
    queued: bool,
    /// When the latest one with this label left, by the NIC's clock. T-3
    left: Option<u64>,
    /// Retransmissions that left behind the last sign of its destination. T-11
    retries: u32,
    /// Why the latest one that left was refused. T-13
    refused: Option<Reason>,
}

impl Flight {
    fn place(&self) -> Place {
        (self.header.destination, self.header.channel)
    }

    /// Whether its channel is to be opened anew. T-12
    fn is_forgotten(&self) -> bool {
        self.refused == Some(Reason::NoChannelState)
    }
}

/// A logical channel, at the NIC that sends on it.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// Its incarnation and the next sequence number, if it is initialised. T-11
    open: Option<(Incarnation, Seq)>,
    flight: Option<Flight>,
}

impl Channel {
    /// It is not initialised, and nothing is outstanding on it.
    const fn close(&mut self) {
        (self.open, self.flight) = (None, None);
    }
}

/// A logical channel, by the NIC at its other end.
type Place = (Nic, LogicalChannel);

/// A NIC.
#[derive(Clone, Debug, Default)]
struct Side {
    life: u32,
    /// The newest incarnation that it ever used.
    used: Option<Incarnation>,
    /// By the other NIC, then by number.
    channels: Vec<Channel>,
    /// Where data came from: the incarnation of what was last written, in this life.
    stored: Vec<Option<Incarnation>>,
    unloading: Vec<EndpointId>,
}

impl Side {
    fn new(parameters: &TransportParameters) -> Self {
        let places = usize::from(parameters.nics) * usize::from(parameters.channels);
        Self {
            channels: vec![Channel::default(); places],
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

/// Why a machine does something.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    Send(Number),
    /// And what became of the offer, if the message was offered.
    Data(Header, Sync, Number, Option<Result<(), Reason>>),
    Answer(Header, Option<Reason>),
    Tick,
    Unload(EndpointId),
}

/// What a machine did.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) nic: Nic,
    /// By its clock.
    pub(super) clock: u64,
    pub(super) cause: Cause,
    pub(super) effects: &'a [Effect<Number>],
}

/// All of it.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    pub(super) accounts: Vec<Account>,
    /// By the numbers of their NICs.
    sides: Vec<Side>,
    parameters: TransportParameters,
}

impl Ledger {
    pub(super) fn new(parameters: TransportParameters) -> Self {
        let sides = (0..parameters.nics).map(|_| Side::new(&parameters)).collect();
        Self { accounts: Vec::new(), sides, parameters }
    }

    pub(super) fn account(&self, number: Number) -> Option<&Account> {
        self.accounts.get(usize::try_from(number).ok()?)
    }

    fn set(&mut self, number: Number, end: End) {
        let account = usize::try_from(number).ok().and_then(|at| self.accounts.get_mut(at));
        assert!(account.is_some(), "{number}: a message that nobody sent");
        account.into_iter().for_each(|account| account.end = end);
    }

    /// A message that an application hands over.
    pub(super) fn accept(&mut self, from: At, to: At, key: u64) -> Number {
        let account = Account { from, to, key, end: End::Stored, written: Vec::new() };
        self.accounts.push(account);
        u32::try_from(self.accounts.len() - 1).unwrap_or(u32::MAX)
    }

    fn side(&self, nic: Nic) -> Option<&Side> {
        self.sides.get(usize::from(nic.0))
    }

    /// Where a logical channel stands in a side's lists.
    fn index(&self, (nic, channel): Place) -> usize {
        let channels = usize::from(self.parameters.channels);
        usize::from(nic.0) * channels + usize::from(channel.0).min(channels)
    }

    fn channel(&self, nic: Nic, place: Place) -> Option<&Channel> {
        self.side(nic)?.channels.get(self.index(place))
    }

    fn channel_mut(&mut self, nic: Nic, place: Place) -> Option<&mut Channel> {
        let index = self.index(place);
        self.side_mut(nic)?.channels.get_mut(index)
    }

    fn stored(&self, nic: Nic, place: Place) -> Option<Incarnation> {
        *self.side(nic)?.stored.get(self.index(place))?
    }

    fn side_mut(&mut self, nic: Nic) -> Option<&mut Side> {
        self.sides.get_mut(usize::from(nic.0))
    }

    fn flights(&self, nic: Nic) -> impl Iterator<Item = &Flight> {
        let channels = self.side(nic).into_iter().flat_map(|side| &side.channels);
        channels.filter_map(|channel| channel.flight.as_ref())
    }

    fn flights_of(&self, at: At) -> impl Iterator<Item = &Flight> {
        self.flights(at.nic).filter(move |flight| {
            self.account(flight.number).is_some_and(|account| account.from == at)
        })
    }

    /// Messages of an endpoint that are not acknowledged.
    pub(super) fn outstanding(&self, at: At) -> usize {
        self.flights_of(at).count()
    }

    /// Logical channels between two NICs that are taken.
    pub(super) fn taken(&self, nic: Nic, to: Nic) -> usize {
        let channels = usize::from(self.parameters.channels);
        let row = usize::from(to.0) * channels;
        let row = self.side(nic).and_then(|side| side.channels.get(row..row + channels));
        row.into_iter().flatten().filter(|channel| channel.flight.is_some()).count()
    }

    /// Whether a NIC waits for anything.
    pub(super) fn waits(&self, nic: Nic) -> bool {
        self.flights(nic).next().is_some()
    }

    pub(super) fn is_unloading(&self, at: At) -> bool {
        self.side(at.nic).is_some_and(|side| side.unloading.contains(&at.endpoint))
    }

    /// An endpoint stays in its frame, or is in one again.
    pub(super) fn stays(&mut self, at: At) {
        self.side_mut(at.nic).into_iter().for_each(|side| {
            side.stays(at.endpoint);
        });
    }

    /// A NIC's control program is loaded again: all that it knew is gone. T-11
    pub(super) fn restart(&mut self, nic: Nic) {
        let lost: Vec<Number> = self.flights(nic).map(|flight| flight.number).collect();
        lost.into_iter().for_each(|number| self.set(number, End::Lost));
        let new = Side::new(&self.parameters);
        if let Some(side) = self.side_mut(nic) {
            *side = Side { life: side.life + 1, used: side.used, ..new };
        }
    }

    /// Whether a packet is so old that nothing of it may count. T-8, T-12
    pub(super) fn is_over(&self, nic: Nic, packet: &Packet<Number>) -> bool {
        match packet {
            Packet::Data(header, ..) => {
                let stored = self.stored(nic, (header.source, header.channel));
                stored.is_some_and(|stored| stored.is_newer_than(header.incarnation))
            }
            Packet::Ack(header) | Packet::Nack(header, _) => self.answered(nic, header).is_none(),
        }
    }

    /// What an answer answers, if it is of a transmission of it. T-8
    fn answered(&self, nic: Nic, answer: &Header) -> Option<&Flight> {
        let channel = self.channel(nic, (answer.source, answer.channel))?;
        let flight = channel.flight.as_ref()?;
        let same = flight.header.seq == answer.seq
            && flight.header.incarnation == answer.incarnation
            && flight.left.is_some();
        (same && !flight.is_forgotten()).then_some(flight)
    }

    /// A machine has done a step: it did what it ought to, and it goes into the ledger.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        match &step.cause {
            Cause::Send(number) => self.sends(step, *number),
            Cause::Data(header, sync, number, offered) => {
                self.hears(step, (header, *sync, *number), *offered);
            }
            Cause::Answer(header, reason) => self.is_answered(step, header, *reason),
            Cause::Tick => self.scans(step),
            Cause::Unload(endpoint) => {
                let side = self.side_mut(step.nic).filter(|it| !it.unloading.contains(endpoint));
                side.into_iter().for_each(|side| side.unloading.push(*endpoint));
                self.no_more(step, &[]);
            }
        }
        self.all_that_can_leave_have_left(step.nic);
    }

    fn letter(&self, number: Number) -> Letter<Number> {
        let endpoint = self.account(number).map(|account| account.from.endpoint);
        Letter { endpoint: endpoint.unwrap_or_default(), message: number }
    }

    /// Besides what is expected, and notes, endpoints have left. T-13
    fn no_more(&mut self, step: &Step<'_>, expected: &[Effect<Number>]) {
        let mut expected = expected.iter();
        for effect in step.effects {
            match effect {
                Effect::Noted(header, note) => self.is_true(step, header, *note),
                Effect::Unloaded(endpoint, messages) => self.leaves(step, *endpoint, messages),
                Effect::Send(_) | Effect::Acknowledged(_) | Effect::Returned(..) => {
                    assert_eq!(Some(effect), expected.next(), "what is to be done: {step:?}");
                }
            }
        }
        assert_eq!(expected.next(), None, "what is to be done: {step:?}");
    }

    fn leaves(&mut self, step: &Step<'_>, endpoint: EndpointId, messages: &[Number]) {
        let at = At { nic: step.nic, endpoint };
        let leaves = self.side_mut(at.nic).is_some_and(|side| side.stays(endpoint));
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
            self.channel_mut(at.nic, place).into_iter().for_each(Channel::close);
            self.set(number, End::Stored);
        }
    }

    fn all_that_can_leave_have_left(&self, nic: Nic) {
        let leaving = self.side(nic).into_iter().flat_map(|side| &side.unloading);
        for endpoint in leaving {
            let at = At { nic, endpoint: *endpoint };
            let waits = self.flights_of(at).any(|flight| flight.refused.is_none());
            assert!(waits, "{at:?} leaves as soon as it can. T-13");
        }
    }

    /// A note says what happened.
    fn is_true(&self, step: &Step<'_>, header: &Header, note: Note) {
        let is_true = match (note, &step.cause) {
            (Note::Duplicate, Cause::Data(.., number, None)) => {
                let life = self.side(step.nic).map_or(0, |side| side.life);
                self.account(*number).is_some_and(|account| account.written.contains(&life))
            }
            (Note::Stale, Cause::Data(.., None)) => {
                !step.effects.iter().any(|effect| matches!(effect, Effect::Send(_)))
            }
            (Note::Late, Cause::Answer(..)) => {
                !step.effects.iter().any(|effect| !matches!(effect, Effect::Noted(..)))
            }
            (Note::Refused(noted), Cause::Answer(_, Some(reason))) => noted == *reason,
            (Note::Retransmitted, Cause::Tick) => {
                step.effects.iter().filter_map(data).any(|(sent, ..)| sent == header)
            }
            (
                Note::Duplicate
                | Note::Stale
                | Note::Late
                | Note::Refused(_)
                | Note::Retransmitted
                | Note::Unknown,
                _,
            ) => false,
        };
        assert!(is_true, "{note:?}: {step:?}");
    }
}

/// Data that is sent.
const fn data(effect: &Effect<Number>) -> Option<(&Header, Sync, Number)> {
    match effect {
        Effect::Send(Packet::Data(header, sync, number)) => Some((header, *sync, *number)),
        Effect::Send(Packet::Ack(_) | Packet::Nack(..))
        | Effect::Acknowledged(_)
        | Effect::Returned(..)
        | Effect::Unloaded(..)
        | Effect::Noted(..) => None,
    }
}
