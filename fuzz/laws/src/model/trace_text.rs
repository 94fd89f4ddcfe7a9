//! Text of a history: packets sent, received and written, and the delivery record.

use std::fmt::{self, Write as _};

use codec::transport::{NackReason, SequenceBit, SyncFlag, TransportHeader};
use simulator::transport::{ProtocolPacket, ReturnReason, TransportNotice};

use super::plan::{ModelMessage, ModelPlan, ModelSide};
use super::violation::ModelViolation;
use super::walk::Counterexample;
use super::world::apply::ModelStep;
use super::world::time::ModelClock;
use super::world::{ModelAction, ModelEvent, ModelOutcome, ModelState};

/// A counterexample as numbered lines, with clocks that run from 0.
///
/// The history is replayed in absolute time, so that the text does not depend on how the walk
/// counts time.
pub fn trace_text(plan: &ModelPlan, counterexample: &Counterexample) -> String {
    let mut told = String::new();
    let mut world = ModelState::new(plan);
    let mut breach = None;
    for (at, action) in counterexample.actions.iter().enumerate() {
        if at == counterexample.faulty {
            told.push_str("   from here on nothing goes wrong any more\n");
        }
        let mut events = Vec::new();
        let mut step = ModelStep { plan, reckoning: ModelClock::Absolute, events: &mut events };
        let stepped = step.take(&world, *action);
        let line = StepText { action: *action, events: &events, at: &world };
        let _ = writeln!(told, "{:<3}{line}", at + 1);
        match stepped {
            Ok(Some(next)) => world = next,
            Ok(None) => told.push_str("   (this cannot happen)\n"),
            Err(broken) => {
                breach = Some(broken);
                break;
            }
        }
    }
    let _ = match (breach, counterexample.breach) {
        (None, ModelViolation::Endless) => {
            writeln!(told, "   and so on. {}", ModelViolation::Endless)
        }
        (Some(breach), _) => writeln!(told, "   {breach}"),
        (None, breach) => writeln!(told, "   (told, it does not end so: {breach})"),
    };
    told
}

struct StepText<'a> {
    action: ModelAction,
    events: &'a [ModelEvent],
    at: &'a ModelState,
}

impl fmt::Display for StepText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            ModelAction::Send(_) => {}
            ModelAction::Deliver(side) => self.arrival(f, side, "")?,
            ModelAction::Overtake(side, 1) => {
                self.arrival(f, side, " before the one ahead of it")?;
            }
            ModelAction::Overtake(side, place) => {
                self.arrival(f, side, &format!(" before {place} ahead of it"))?;
            }
            ModelAction::Double(side) => self.arrival(f, side, ", and is doubled")?,
            ModelAction::Lose(side) => {
                if let [ModelEvent::Lost(packet)] = self.events {
                    write!(f, "{} to {side} is lost", PacketText(packet))?;
                }
            }
            ModelAction::Leave(side, _) => write!(f, "a packet leaves {side}")?,
            ModelAction::Tick => {
                let now = self.at.now.0.saturating_add(1);
                write!(f, "time passes: it is {}", now.saturating_sub(ModelState::ORIGIN.0))?;
            }
            ModelAction::Fill(side) => write!(f, "the receive queue at {side} is full")?,
            ModelAction::Empty(side) => write!(f, "the receive queue at {side} has room again")?,
            ModelAction::Unload(side) => write!(f, "the endpoint of {side} is to leave its frame")?,
            ModelAction::Load(side) => write!(f, "the endpoint of {side} is loaded")?,
            ModelAction::Restart(side) => write!(f, "{side} is started anew")?,
        }
        let opens = matches!(self.action, ModelAction::Send(_));
        for (at, event) in self.events.iter().enumerate() {
            let between = if opens && at == 0 { "" } else { "; " };
            consequence(f, between, event)?;
        }
        Ok(())
    }
}

impl StepText<'_> {
    fn arrival(&self, f: &mut fmt::Formatter<'_>, side: ModelSide, how: &str) -> fmt::Result {
        match self.events.first() {
            Some(ModelEvent::Heard(packet)) => {
                write!(f, "{} reaches {side}{how}", PacketText(packet))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn consequence(f: &mut fmt::Formatter<'_>, between: &str, event: &ModelEvent) -> fmt::Result {
    match event {
        ModelEvent::Heard(_)
        | ModelEvent::Lost(_)
        | ModelEvent::Noted(TransportNotice::Retransmitted | TransportNotice::Refused(_)) => Ok(()),
        ModelEvent::Written => write!(f, "{between}it is WRITTEN"),
        ModelEvent::Sent(packet) => {
            let (ProtocolPacket::Data(header, ..)
            | ProtocolPacket::Ack(header)
            | ProtocolPacket::Nack(header, _)) = packet;
            write!(f, "{between}NIC {} sends {}", header.source.0, PacketText(packet))
        }
        ModelEvent::Dropped(_, packet) => {
            write!(f, "{between}{} is dropped there", PacketText(packet))
        }
        ModelEvent::Ended(side, message, end) => {
            write!(f, "{between}at {side} {}", OutcomeText(*message, *end))
        }
        ModelEvent::Noted(TransportNotice::Duplicate) => write!(f, "{between}it is a duplicate"),
        ModelEvent::Noted(TransportNotice::Stale) => write!(f, "{between}it is stale"),
        ModelEvent::Noted(TransportNotice::Late) => write!(f, "{between}it is late"),
        ModelEvent::Noted(TransportNotice::Unknown) => write!(f, "{between}it is unknown"),
        ModelEvent::Unloaded(side) => write!(f, "{between}the endpoint of {side} has left"),
    }
}

struct PacketText<'a>(&'a ProtocolPacket<ModelMessage>);

impl fmt::Display for PacketText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ProtocolPacket::Data(header, sync, message) => {
                let sync = match sync {
                    SyncFlag::Set => " SYNC",
                    SyncFlag::Clear => "",
                };
                write!(f, "{message}({}{sync})", HeaderText(header))
            }
            ProtocolPacket::Ack(header) => write!(f, "ACK({})", HeaderText(header)),
            ProtocolPacket::Nack(header, reason) => {
                write!(f, "NACK({} {})", HeaderText(header), reason_text(*reason))
            }
        }
    }
}

struct HeaderText<'a>(&'a TransportHeader);

impl fmt::Display for HeaderText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TransportHeader { channel, seq, incarnation, timestamp, .. } = self.0;
        let seq = match seq {
            SequenceBit::Zero => 0,
            SequenceBit::One => 1,
        };
        let at = timestamp.0.wrapping_sub(ModelState::ORIGIN.timestamp().0);
        write!(f, "channel {} #{:x}.{seq} at {at}", channel.0, incarnation.0)
    }
}

struct OutcomeText(ModelMessage, ModelOutcome);

impl fmt::Display for OutcomeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(message, end) = self;
        match end {
            ModelOutcome::Acknowledged => write!(f, "{message} is ACKNOWLEDGED"),
            ModelOutcome::Returned(ReturnReason::Refused(_)) => {
                write!(f, "{message} is RETURNED: refused")
            }
            ModelOutcome::Returned(ReturnReason::Unreachable) => {
                write!(f, "{message} is RETURNED: unreachable")
            }
            ModelOutcome::Carried => write!(f, "{message} is carried along"),
        }
    }
}

const fn reason_text(reason: NackReason) -> &'static str {
    match reason {
        NackReason::NotResident => "not resident",
        NackReason::QueueFull => "queue full",
        NackReason::NoResource => "no resource",
        NackReason::NoChannelState => "no channel state",
        NackReason::BadKey => "bad key",
        NackReason::NoSuchEndpoint => "no such endpoint",
    }
}
