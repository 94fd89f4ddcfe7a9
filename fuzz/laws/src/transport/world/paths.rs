//! What is under way between NICs, and what becomes of it.

use codec::transport::{self as wire, Body, EndpointKey, Form, LogicalChannel, Nic, Reason};
use simulator::endpoint::MICROSECOND;
use simulator::transport::{Effect, Micros, Packet};

use super::super::ledger::{Cause, Ledger, Number};
use super::super::plan::Forged;
use super::{Endpoint, Frame, Lane, Way, World, Wrong, header};
use crate::journal::{self, Entry};

impl World {
    /// A packet as it is read from its bytes.
    pub(super) fn through_bytes(&mut self, packet: &Packet<Number>) -> Packet<Number> {
        let word = match packet {
            Packet::Data(_, _, number) => number.to_be_bytes(),
            Packet::Ack(_) | Packet::Nack(..) => [0; 4],
        };
        let Some(body) = Body::new(Form::Short, &word) else { return *packet };
        let written = match packet {
            Packet::Data(header, sync, number) => {
                wire::Packet::Data(*header, *sync, self.message(*number, body))
            }
            Packet::Ack(header) => wire::Packet::Ack(*header),
            Packet::Nack(header, reason) => wire::Packet::Nack(*header, *reason),
        };
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        written.emit(&mut bytes);
        let read = wire::Packet::parse(&bytes);
        assert_eq!(read, Ok(written), "it is read as it was written");
        let read = match read {
            Ok(wire::Packet::Data(header, sync, message)) => {
                let number = message.body.bytes().first_chunk().map(|it| u32::from_be_bytes(*it));
                Packet::Data(header, sync, number.unwrap_or(u32::MAX))
            }
            Ok(wire::Packet::Ack(header)) => Packet::Ack(header),
            Ok(wire::Packet::Nack(header, reason)) => Packet::Nack(header, reason),
            Err(_) => *packet,
        };
        self.bytes = bytes;
        read
    }

    fn message<B>(&self, number: Number, body: B) -> wire::Message<B> {
        let account = self.ledger.account(number);
        wire::Message {
            role: wire::Role::Request,
            source: account.map(|it| it.from.endpoint).unwrap_or_default(),
            destination: account.map(|it| it.to.endpoint).unwrap_or_default(),
            key: EndpointKey(account.map_or(0, |it| it.key)),
            handler: 1,
            body,
        }
    }

    /// A packet begins on its way.
    pub(super) fn transmit(&mut self, nic: Nic, packet: &Packet<Number>) {
        let packet = self.through_bytes(packet);
        let to = header(&packet).destination;
        let at = self.now * MICROSECOND;
        journal::tell(|| Entry::Packet(at, nic, to, self.bytes.clone()));
        let place = self.place((nic, to));
        let lane = self.lanes.get_mut(place);
        lane.into_iter().for_each(|lane| lane.packets.push_back(packet));
    }

    /// What a NIC has queued leaves it, if it is still to leave and nothing holds it up. T-3, T-8
    pub(super) fn depart(&mut self, nic: Nic) {
        let clock = Micros(self.clock(nic));
        while let Some(host) = self.hosts.get_mut(usize::from(nic.0)).filter(|it| !it.stalled)
            && let Some(mut packet) = host.queue.pop_front()
        {
            let Packet::Data(header, _, number) = packet else { continue };
            let is_queued = self.ledger.is_queued(nic, &header, number);
            assert_eq!(host.machine.is_queued(&packet), is_queued, "what is to leave: {packet:?}");
            host.machine.on_leave(clock, &mut packet);
            if let Packet::Data(header, ..) = &packet
                && is_queued
            {
                self.ledger.departs(nic, clock.0, header);
                self.transmit(nic, &packet);
            }
        }
    }

    /// From now on what is queued leaves a NIC again.
    pub(super) fn start(&mut self, nic: Nic) {
        self.host_mut(nic).into_iter().for_each(|host| host.stalled = false);
        self.touch(nic);
        self.depart(nic);
    }

    pub(super) fn deliver(&mut self, way: Way) {
        let place = self.place(way);
        let Some(lane) = self.lanes.get_mut(place) else { return };
        if lane.held {
            return;
        }
        let now_and_then = self.now.is_multiple_of(3);
        let packet = match self.wrong {
            Wrong::Overtaking if now_and_then => lane.packets.pop_back(),
            Wrong::Nothing | Wrong::Overtaking | Wrong::Praise | Wrong::Flip => {
                lane.packets.pop_front()
            }
        };
        lane.remember(packet);
        let Some(packet) = packet else { return };
        let packet = match (self.wrong, packet) {
            (Wrong::Praise, Packet::Nack(header, _)) if now_and_then => Packet::Ack(header),
            (Wrong::Flip, Packet::Data(header, sync, number)) if now_and_then => {
                Packet::Data(wire::Header { seq: header.seq.flipped(), ..header }, sync, number)
            }
            (Wrong::Nothing | Wrong::Overtaking | Wrong::Praise | Wrong::Flip, packet) => packet,
        };
        self.hear(way.1, &packet);
    }

    /// Until nothing is under way that is not held: one after the other of each path that has
    /// something, in rounds.
    pub(super) fn flush(&mut self) {
        let mut ways = Vec::new();
        loop {
            let nics = || self.nics();
            let all = nics().flat_map(|from| nics().map(move |to| (from, to)));
            let waits = |lane: &Lane| !lane.held && !lane.packets.is_empty();
            let waiting = all.zip(&self.lanes).filter(|(_, lane)| waits(lane));
            ways.extend(waiting.map(|(way, _)| way));
            if ways.is_empty() {
                return;
            }
            ways.drain(..).for_each(|way| self.deliver(way));
        }
    }

    /// A packet comes in.
    pub(super) fn hear(&mut self, nic: Nic, packet: &Packet<Number>) {
        let over = self.ledger.is_over(nic, packet);
        let Some(host) = self.hosts.get_mut(usize::from(nic.0)) else { return };
        let before = over.then(|| host.machine.clone());
        let mut offered = None;
        let (ledger, endpoints) = (&self.ledger, &host.endpoints);
        let mut take = |number: &Number| {
            let verdict = verdict(ledger, endpoints, *number);
            assert_eq!(offered, None, "a message is offered once");
            offered = Some(verdict);
            verdict
        };
        host.machine.on_packet(packet, &mut take, &mut self.effects);
        if let Some(before) = before {
            assert!(before == host.machine, "what is over changes nothing: {packet:?}");
        }
        let cause = match packet {
            Packet::Data(header, sync, number) => Cause::Data(*header, *sync, *number, offered),
            Packet::Ack(header) => Cause::Answer(*header, None),
            Packet::Nack(header, reason) => Cause::Answer(*header, Some(*reason)),
        };
        self.done(nic, cause);
    }

    /// A packet of the past comes in once more, if nothing of it may count any more.
    pub(super) fn replay(&mut self, way: Way, which: usize) {
        let past = self.lanes.get(self.place(way)).map(|lane| &lane.past);
        let packet = past.and_then(|past| past.get(which % past.len().max(1))).copied();
        if let Some(packet) = packet
            && self.ledger.is_over(way.1, &packet)
        {
            self.hear(way.1, &packet);
        }
    }

    /// A packet that the tables have no place for changes nothing. T-7
    pub(super) fn forge(&mut self, (from, to): Way, forged: Forged) {
        let packet = self.lanes.get(self.place((from, to))).and_then(|lane| lane.past.back());
        let Some(mut packet) = packet.copied() else { return };
        let header = match &mut packet {
            Packet::Data(header, ..) | Packet::Ack(header) | Packet::Nack(header, _) => header,
        };
        match forged {
            Forged::Source => header.source = Nic(self.parameters.nics),
            Forged::Channel => header.channel = LogicalChannel(self.parameters.channels),
            Forged::Destination => header.destination = from,
        }
        let Some(host) = self.hosts.get_mut(usize::from(to.0)) else { return };
        let before = host.machine.clone();
        let mut offered = 0;
        let mut take = |_: &Number| {
            offered += 1;
            Ok(())
        };
        host.machine.on_packet(&packet, &mut take, &mut self.effects);
        let unchanged = before == host.machine && offered == 0;
        assert!(unchanged, "what is unknown changes nothing. T-7: {packet:?}");
        let does = self.effects.drain(..).find(|effect| !matches!(effect, Effect::Noted(..)));
        assert_eq!(does, None, "what is unknown has no answer. T-7: {packet:?}");
    }
}

/// What an endpoint says to a message. T-6
fn verdict(ledger: &Ledger, endpoints: &[Endpoint], number: Number) -> Result<(), Reason> {
    let account = ledger.account(number).ok_or(Reason::NoSuchEndpoint)?;
    let endpoint = endpoints.get(usize::from(account.to.endpoint.0));
    let endpoint = endpoint.ok_or(Reason::NoSuchEndpoint)?;
    if endpoint.key != account.key {
        return Err(Reason::BadKey);
    }
    if endpoint.frame != Frame::Resident {
        return Err(Reason::NotResident);
    }
    endpoint.room.refusal().map_or(Ok(()), Err)
}
