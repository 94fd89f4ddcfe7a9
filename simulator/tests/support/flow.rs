//! One channel with flow control, made of the parts that the simulator uses: a sender, the wire,
//! the slack buffer of a receiver, and the wire on which its STOP and GO come back. F-1..F-4

use codec::route::PortId;
use myriscope_simulator::link::LinkParameters;
use myriscope_simulator::link::receiver::{PortReceiver, PortRequest};
use myriscope_simulator::link::sender::PortSender;
use myriscope_simulator::link::source_item::{AcceptMode, SendDecision, SourceItem};
use myriscope_simulator::link::tagged_char::{PacketId, TaggedChar};
use myriscope_simulator::link::wire::ChannelWire;
use myriscope_simulator::topology::{NodeId, NodePort};
use myriscope_simulator::truth::{StopGo, TraceContext, TruthLog};

/// Channel within an endless packet. It has no clock, so that equal states compare equal.
#[derive(Clone, Debug)]
pub(crate) struct FlowChannel {
    sender: PortSender,
    there: ChannelWire,
    receiver: PortReceiver,
    back: ChannelWire,
}

/// Actions of source and sink in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeriodInputs {
    pub(crate) source: SourceAction,
    pub(crate) sink: SinkAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceAction {
    Offers,
    Rests,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SinkAction {
    Takes,
    Rests,
    /// The sink takes a byte while the last command is STOP.
    TakesWhileStopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeriodOutcome {
    /// STOP or GO sent on the opposite channel.
    pub(crate) command: Option<StopGo>,
    pub(crate) buffer: BufferResult,
}

/// Result of the slack buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferResult {
    /// All requests were served.
    Served,
    /// The sink found no byte.
    Starved,
    /// A byte found no room.
    Overflowed,
}

/// Source and sink are both active.
pub(crate) const FLOWING: PeriodInputs =
    PeriodInputs { source: SourceAction::Offers, sink: SinkAction::Takes };
/// Only the source is active.
pub(crate) const BLOCKED: PeriodInputs =
    PeriodInputs { source: SourceAction::Offers, sink: SinkAction::Rests };

impl FlowChannel {
    pub(crate) fn new(link: &LinkParameters) -> Self {
        Self {
            sender: PortSender::new(&link.ports[0], None),
            there: ChannelWire::new(link.delay, link.ports[0].divisor),
            receiver: PortReceiver::new(&link.ports[1], None),
            back: ChannelWire::new(link.delay, link.ports[1].divisor),
        }
    }

    /// Simulates one period in the order of the stepper: receive, consume, send.
    pub(crate) fn step(&mut self, will: PeriodInputs) -> PeriodOutcome {
        let log = &mut TruthLog::default();
        let place = NodePort { node: NodeId(0), port: PortId(0) };
        let telling = &mut TraceContext { now: 0, slot: 0, place, log };
        let none: Option<PacketId> = None;
        let heard = self.receiver.receive(self.there.arrive(0), none, telling);
        match self.back.arrive(0).low() {
            0x0f => self.sender.command(StopGo::Stop, telling),
            0x03 => self.sender.command(StopGo::Go, telling),
            _ => {}
        }
        let takes = match will.sink {
            SinkAction::Takes => true,
            SinkAction::Rests => false,
            SinkAction::TakesWhileStopped => self.receiver.last_command() == StopGo::Stop,
        };
        let starved = takes && self.receiver.take().is_none();
        let byte = match self.sender.decide(None, telling) {
            SendDecision::Request(AcceptMode::All) if will.source == SourceAction::Offers => {
                self.sender.send(SourceItem::Data(TaggedChar::data(0), None), telling)
            }
            // Fill, a sign of life. F-8
            SendDecision::Request(_) | SendDecision::Send(_) => TaggedChar::control(0x03),
        };
        self.there.put(byte);
        let command = self.receiver.due();
        self.back.put(match command {
            Some(StopGo::Stop) => TaggedChar::control(0x0f),
            Some(StopGo::Go) => TaggedChar::control(0x03),
            None => TaggedChar::IDLE,
        });
        let buffer = if heard == PortRequest::Overflow {
            BufferResult::Overflowed
        } else if starved {
            BufferResult::Starved
        } else {
            BufferResult::Served
        };
        PeriodOutcome { command, buffer }
    }
}
