//! What the firmware does with packets: the protocol's machine between endpoints and the wire. T-5..T-13

use codec::transport::{Header, Incarnation, LogicalChannel, Nic, Reason, Seq, Sync};

use super::bus::{Done, Transfer};
use super::costs::Layers;
use super::firmware::{Memory, Queued, Work, micros};
use super::parcel::{self, Letter};
use super::queue::Place;
use super::told::{MessageId, Outgoing, Transmission, Turn, Why};
use super::{Messaging, Told};
use crate::transport::{self, Effect, Note, Packet, Return};

impl Messaging {
    /// The NIC's processor is done with something.
    pub(super) fn end_firmware(&mut self, now: u64, told: &mut Vec<Told>) {
        match self.firmware.end(now) {
            Some(Work::TakeIn(packet)) => self.take_in(now, packet, told),
            Some(Work::Answer(packet)) => {
                let (turn, memory) = (Turn::First, Memory::Own);
                self.firmware.ready(Queued { packet, turn, memory });
            }
            Some(Work::Scan) => {
                let mut effects = Vec::new();
                self.transport.on_tick(micros(now), &mut effects);
                self.apply(now, effects, told);
            }
            Some(Work::Again(queued)) => self.pass_on(queued),
            Some(Work::Send { endpoint, message, memory, .. }) => {
                self.send(now, endpoint, message, memory);
            }
            Some(Work::Look(_)) | None => {}
        }
    }

    /// Bytes have moved between host and NIC.
    pub(super) fn end_bus(&mut self, now: u64, told: &mut Vec<Told>) {
        if let Some(queued) = self.bus.released(now) {
            self.emit(queued);
        }
        match self.bus.end(now) {
            Some(Done::In(packet)) => {
                if let Packet::Data(_, _, letter) = &packet
                    && let Some(endpoint) = self.endpoint_mut(letter.to)
                {
                    endpoint.free(letter.role);
                }
                self.process(now, &packet, None, told);
            }
            Some(Done::Page) => self.page_moved(now, told),
            Some(Done::Out) | None => {}
        }
    }

    /// A packet was looked at. A medium or bulk message goes to host memory first, if it is new and
    /// looks as if it could be written, and is written when it is there. What comes on its logical
    /// channel meanwhile is dropped: it can only be the same again, or comes again; and nothing may
    /// overtake it, for then a copy of it that also waited could be taken for what comes next. T-4
    fn take_in(&mut self, now: u64, packet: Packet<Letter>, told: &mut Vec<Told>) {
        if let Packet::Data(header, sync, letter) = &packet {
            self.statistics.data_heard += 1;
            let layers = self.parameters.layers;
            let is_new = match layers {
                Layers::Baseline => true,
                Layers::Reliability | Layers::Protection => {
                    if self.bus.brings(header.source, header.channel) {
                        self.statistics.held_up += 1;
                        return;
                    }
                    self.transport.is_new(header, *sync)
                }
            };
            if letter.is_transferred()
                && is_new
                && let Some(place) = self.places.get(&letter.to).copied()
                && let Some(endpoint) = self.endpoints.get(place)
                && endpoint.refusal(letter, layers).is_none()
            {
                let refusal = self.transfer_refusal(place, letter);
                if refusal.is_none()
                    && let Some(endpoint) = self.endpoints.get_mut(place)
                {
                    endpoint.keep(letter.role);
                    self.bus.push(letter.bytes.len(), Transfer::In(packet));
                    return;
                }
                return self.process(now, &packet, refusal, told);
            }
        }
        self.process(now, &packet, None, told);
    }

    /// The protocol decides about a packet, which the NIC may have to refuse. T-4..T-8
    fn process(
        &mut self,
        now: u64,
        packet: &Packet<Letter>,
        refusal: Option<Reason>,
        told: &mut Vec<Told>,
    ) {
        let Self { transport, endpoints, places, parameters, .. } = self;
        let mut offered = None;
        let mut take = |letter: &Letter| {
            let place = places.get(&letter.to).copied();
            let endpoint = place.and_then(|place| endpoints.get_mut(place));
            let written = match (endpoint, refusal) {
                (Some(_), Some(reason)) => Err(reason),
                (Some(endpoint), None) => endpoint.write(letter, parameters.layers),
                (None, _) => Err(Reason::NoSuchEndpoint),
            };
            offered = Some((letter.id, place, written));
            written
        };
        let mut effects = Vec::new();
        match (parameters.layers, packet) {
            (Layers::Reliability | Layers::Protection, _) => {
                transport.on_packet(packet, &mut take, &mut effects);
            }
            (Layers::Baseline, Packet::Data(_, _, letter)) => {
                if let Err(reason) = take(letter) {
                    told.push(Told::Dropped(letter.id, reason));
                }
            }
            (Layers::Baseline, Packet::Ack(_) | Packet::Nack(..)) => {}
        }
        match offered {
            Some((message, Some(place), Ok(()))) => self.written(now, place, message, told),
            // T-6: a message for an endpoint that is not resident starts its loading.
            Some((_, Some(place), Err(Reason::NotResident))) => self.want(place),
            Some(_) | None => {}
        }
        if let Packet::Data(_, _, letter) = packet {
            for effect in &effects {
                if let Effect::Send(Packet::Nack(header, reason)) = effect {
                    told.push(Told::Refused(letter.id, *header, *reason));
                }
            }
        }
        self.apply(now, effects, told);
    }

    fn written(&mut self, now: u64, place: usize, message: MessageId, told: &mut Vec<Told>) {
        let Some(endpoint) = self.endpoints.get(place) else { return };
        told.push(Told::Written(message, endpoint.plan.id));
        if let Place::Resident(frame) = endpoint.place {
            self.frames.touch(frame);
        }
        self.notify(now, place);
    }

    /// Does what the protocol asks for.
    pub(super) fn apply(&mut self, now: u64, effects: Vec<Effect<Letter>>, told: &mut Vec<Told>) {
        for effect in effects {
            match effect {
                Effect::Send(packet @ Packet::Data(..)) => self.firmware.send_again(packet),
                Effect::Send(answer @ (Packet::Ack(_) | Packet::Nack(..))) => {
                    self.firmware.answer(answer);
                }
                Effect::Acknowledged(letter) => {
                    told.push(Told::Acknowledged(letter.message.id));
                    if let Some(place) = self.places.get(&letter.endpoint).copied() {
                        self.settle(now, place, letter.message.id);
                    }
                }
                Effect::Returned(letter, why) => {
                    let why = match why {
                        Return::Refused(reason) => Why::Refused(reason),
                        Return::Unreachable => Why::Unreachable,
                    };
                    if let Some(place) = self.places.get(&letter.endpoint).copied() {
                        self.bring_back(now, place, (letter.message, why), told);
                    }
                }
                Effect::Unloaded(endpoint, letters) => {
                    if let Some(place) = self.places.get(&endpoint).copied() {
                        if let Some(endpoint) = self.endpoints.get_mut(place) {
                            letters.iter().for_each(|letter| endpoint.again(letter.id));
                        }
                        self.released(place);
                    }
                }
                Effect::Noted(header, note) => self.noted(header, note, told),
            }
        }
    }

    fn noted(&mut self, header: Header, note: Note, told: &mut Vec<Told>) {
        let statistics = &mut self.statistics;
        match note {
            Note::Duplicate => statistics.duplicates += 1,
            Note::Stale => statistics.stale += 1,
            Note::Late => statistics.late += 1,
            Note::Unknown => statistics.malformed += 1,
            Note::Retransmitted => {}
            Note::Refused(reason) => {
                if let Some(count) = statistics.nacks_heard.get_mut(reason_class(reason)) {
                    *count += 1;
                }
            }
        }
        told.push(Told::Noticed(header, note));
    }

    /// A message is done with: it was written.
    fn settle(&mut self, now: u64, place: usize, message: MessageId) {
        if let Some(endpoint) = self.endpoints.get_mut(place) {
            endpoint.settle(now, message);
        }
        self.notify(now, place);
    }

    /// A message goes back to its application. T-6, T-11
    pub(super) fn bring_back(
        &mut self,
        now: u64,
        place: usize,
        (letter, why): (Letter, Why),
        told: &mut Vec<Told>,
    ) {
        told.push(Told::Returned(letter.id, why));
        if let Some(endpoint) = self.endpoints.get_mut(place) {
            endpoint.bring_back(letter);
        }
        self.notify(now, place);
    }

    /// A message's packet has been built. T-2, T-3
    fn send(&mut self, now: u64, place: usize, message: MessageId, memory: Memory) {
        match self.label(now, place, message) {
            Some(((header, sync), letter)) => {
                let packet = Packet::Data(header, sync, letter);
                self.pass_on(Queued { packet, turn: Turn::First, memory });
            }
            None => self.firmware.abandon(memory),
        }
    }

    /// What it is sent as; nothing if its endpoint was made to leave meanwhile.
    fn label(&mut self, now: u64, place: usize, id: MessageId) -> Option<((Header, Sync), Letter)> {
        let endpoint = self.endpoints.get_mut(place)?;
        let (message, to) = endpoint.destination(id)?;
        let Place::Resident(frame) = endpoint.place else { return None };
        let label = match self.parameters.layers {
            Layers::Baseline => {
                endpoint.settle(now, id);
                (self.fire_and_forget(now, to), Sync::Set)
            }
            Layers::Reliability | Layers::Protection => {
                let letter =
                    transport::Letter { endpoint: endpoint.plan.id, message: message.clone() };
                let mut effects = Vec::new();
                self.transport.on_send(micros(now), to, letter, &mut effects).ok()?;
                endpoint.underway(id);
                effects.into_iter().find_map(|effect| match effect {
                    Effect::Send(Packet::Data(header, sync, _)) => Some((header, sync)),
                    Effect::Send(Packet::Ack(_) | Packet::Nack(..))
                    | Effect::Acknowledged(_)
                    | Effect::Returned(..)
                    | Effect::Unloaded(..)
                    | Effect::Noted(..) => None,
                })?
            }
        };
        self.frames.touch(frame);
        Some((label, message))
    }

    /// The header of a packet that nobody will answer: all the same but the time.
    const fn fire_and_forget(&self, now: u64, destination: Nic) -> Header {
        Header {
            source: self.nic,
            destination,
            channel: LogicalChannel(0),
            seq: Seq::Zero,
            timestamp: micros(now).timestamp(),
            incarnation: Incarnation(0),
        }
    }

    /// A data packet's bytes come from the host's memory, or are in its endpoint's frame.
    fn pass_on(&mut self, queued: Queued) {
        match (queued.memory, &queued.packet) {
            (Memory::Buffer, Packet::Data(_, _, letter)) => {
                self.bus.push(letter.bytes.len(), Transfer::Out(queued));
            }
            (Memory::Own | Memory::Buffer, _) => self.emit(queued),
        }
    }

    /// A data packet is ready for the sending engine, if it is still to leave.
    fn emit(&mut self, queued: Queued) {
        if self.is_queued(&queued.packet) {
            self.firmware.ready(queued);
        } else {
            self.firmware.abandon(queued.memory);
        }
    }

    /// Whether a packet is still to leave. Without reliability nothing is known of it.
    fn is_queued(&self, packet: &Packet<Letter>) -> bool {
        self.parameters.layers == Layers::Baseline || self.transport.is_queued(packet)
    }

    /// Drops what waits and need not leave any more.
    pub(super) fn drop_old(&mut self) {
        let Self { firmware, transport, parameters, .. } = self;
        let baseline = parameters.layers == Layers::Baseline;
        firmware.drop_old(|packet| baseline || transport.is_queued(packet));
    }

    /// Hands out the next packet for the sending engine; the firmware gives it one at a time, the next
    /// after [`Messaging::sent`]. It is as it would leave now: see [`Messaging::leaves`].
    pub fn take_outgoing(&mut self) -> Option<Outgoing> {
        self.firmware.take().map(outgoing)
    }

    /// Whether the packet that was taken is still to leave. If not, and its first byte has not left,
    /// the sending engine need not send it. T-5
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.firmware.on_wire.as_ref().is_some_and(|queued| self.is_queued(&queued.packet))
    }

    /// The first byte of the packet that was taken leaves the interface: the packet as it is on the
    /// wire, with the time of now. T-3, T-8
    pub fn leaves(&mut self, now: u64) -> Option<Outgoing> {
        let queued = self.firmware.on_wire.as_mut()?;
        match (self.parameters.layers, &mut queued.packet) {
            (Layers::Baseline, Packet::Data(header, ..)) => {
                header.timestamp = micros(now).timestamp();
            }
            (_, packet) => self.transport.on_leave(micros(now), packet),
        }
        let outgoing = outgoing(queued);
        let statistics = &mut self.statistics;
        match outgoing.what {
            Transmission::Data { turn, .. } => {
                statistics.data_sent += 1;
                statistics.retransmitted += match turn {
                    Turn::First => 0,
                    Turn::Again => 1,
                };
            }
            Transmission::Ack(_) => statistics.acks_sent += 1,
            Transmission::Nack(_, reason) => {
                if let Some(count) = statistics.nacks_sent.get_mut(reason_class(reason)) {
                    *count += 1;
                }
            }
        }
        Some(outgoing)
    }
}

/// A packet in bytes, and what it is.
fn outgoing(queued: &Queued) -> Outgoing {
    let what = match &queued.packet {
        Packet::Data(header, sync, letter) => Transmission::Data {
            header: *header,
            sync: *sync,
            message: letter.id,
            turn: queued.turn,
        },
        Packet::Ack(header) => Transmission::Ack(*header),
        Packet::Nack(header, reason) => Transmission::Nack(*header, *reason),
    };
    let (to, payload) = parcel::write(&queued.packet);
    Outgoing { to, payload, what }
}

/// The place of a reason's count.
pub(super) const fn reason_class(reason: Reason) -> usize {
    match reason {
        Reason::NotResident => 0,
        Reason::QueueFull => 1,
        Reason::NoResource => 2,
        Reason::NoChannelState => 3,
        Reason::BadKey => 4,
        Reason::NoSuchEndpoint => 5,
    }
}
