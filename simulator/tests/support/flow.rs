//! One channel with flow control, made of the parts that the simulator uses: a sender, the wire,
//! the slack buffer of a receiver, and the wire on which its STOP and GO come back. F-1..F-4

use codec::route::PortId;
use simulator::cell::{Cell, PacketId};
use simulator::link::LinkParameters;
use simulator::receiver::{Asked, Receiver};
use simulator::sender::Sender;
use simulator::supply::{Appetite, Supply, Turn};
use simulator::topology::{NodeId, Port};
use simulator::truth::{Command, Log, Telling};
use simulator::wire::Wire;

/// A channel at work, in the middle of a packet without end. It goes by no clock, so that two of
/// the same state are alike.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    sender: Sender,
    there: Wire,
    receiver: Receiver,
    back: Wire,
}

/// What the data's source and its sink do in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Will {
    pub(crate) source: Source,
    pub(crate) sink: Sink,
}

/// Whether a source offers a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Offers,
    Rests,
}

/// Whether a sink takes a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    Takes,
    Rests,
    /// It takes one while the last command is STOP.
    TakesWhileStopped,
}

/// What came of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// STOP or GO went out on the opposite channel.
    pub(crate) command: Option<Command>,
    pub(crate) buffer: Buffer,
}

/// What the slack buffer was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// Nothing that it could not do.
    Served,
    /// The sink would have taken a byte, and there was none.
    Starved,
    /// A byte came, and there was no room.
    Overflowed,
}

/// Source and sink are both willing.
pub(crate) const FLOWING: Will = Will { source: Source::Offers, sink: Sink::Takes };
/// The sink is not.
pub(crate) const BLOCKED: Will = Will { source: Source::Offers, sink: Sink::Rests };

impl Channel {
    /// A channel after power-up.
    pub(crate) fn new(link: &LinkParameters) -> Self {
        Self {
            sender: Sender::new(&link.ports[0], None),
            there: Wire::new(link.delay, link.ports[0].divisor),
            receiver: Receiver::new(&link.ports[1], None),
            back: Wire::new(link.delay, link.ports[1].divisor),
        }
    }

    /// One period, in the order of the stepper: hear, take, send.
    pub(crate) fn step(&mut self, will: Will) -> Outcome {
        let log = &mut Log::default();
        let place = Port { node: NodeId(0), port: PortId(0) };
        let telling = &mut Telling { now: 0, slot: 0, place, log };
        let none: Option<PacketId> = None;
        let heard = self.receiver.hear_any(self.there.arrive(0), none, telling);
        match self.back.arrive(0).low() {
            0x0f => self.sender.command(Command::Stop, telling),
            0x03 => self.sender.command(Command::Go, telling),
            _ => {}
        }
        let takes = match will.sink {
            Sink::Takes => true,
            Sink::Rests => false,
            Sink::TakesWhileStopped => self.receiver.commanded() == Command::Stop,
        };
        let starved = takes && self.receiver.take().is_none();
        let byte = match self.sender.turn(None, telling) {
            Turn::Ask(Appetite::All) if will.source == Source::Offers => {
                self.sender.send(Supply::Data(Cell::data(0), None), telling)
            }
            // Fill, a sign of life. F-8
            Turn::Ask(_) | Turn::Send(_) => Cell::control(0x03),
        };
        self.there.put(byte);
        let command = self.receiver.due();
        self.back.put(match command {
            Some(Command::Stop) => Cell::control(0x0f),
            Some(Command::Go) => Cell::control(0x03),
            None => Cell::IDLE,
        });
        let buffer = if heard == Asked::Overflow {
            Buffer::Overflowed
        } else if starved {
            Buffer::Starved
        } else {
            Buffer::Served
        };
        Outcome { command, buffer }
    }
}
