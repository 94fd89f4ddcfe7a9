//! A history, to be read: who sends what, what arrives, what is written, and what the ledger says.

use std::fmt::{self, Write as _};

use codec::transport::{Header, Reason, Seq, Sync};
use simulator::transport::{Note, Packet, Return};

use super::breach::Breach;
use super::plan::{Message, Plan, Side};
use super::walk::Counterexample;
use super::world::apply::Step;
use super::world::time::Reckoning;
use super::world::{Action, End, Event, World};

/// A counterexample as numbered lines, with clocks that run from 0.
///
/// It is played once more to be told, in absolute time: so the telling does not rest on how the walk
/// counts time.
#[must_use]
pub fn story(plan: &Plan, counterexample: &Counterexample) -> String {
    let mut told = String::new();
    let mut world = World::new(plan);
    let mut breach = None;
    for (at, action) in counterexample.actions.iter().enumerate() {
        if at == counterexample.faulty {
            told.push_str("   from here on nothing goes wrong any more\n");
        }
        let mut events = Vec::new();
        let mut step = Step { plan, reckoning: Reckoning::Absolute, events: &mut events };
        let stepped = step.take(&world, *action);
        let line = Line { action: *action, events: &events, at: &world };
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
        (None, Breach::Endless) => writeln!(told, "   and so on. {}", Breach::Endless),
        (Some(breach), _) => writeln!(told, "   {breach}"),
        (None, breach) => writeln!(told, "   (told, it does not end so: {breach})"),
    };
    told
}

/// What happens in one step.
struct Line<'a> {
    action: Action,
    events: &'a [Event],
    at: &'a World,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Action::Send(_) => {}
            Action::Deliver(side) => self.arrival(f, side, "")?,
            Action::Overtake(side, 1) => self.arrival(f, side, " before the one ahead of it")?,
            Action::Overtake(side, place) => {
                self.arrival(f, side, &format!(" before {place} ahead of it"))?;
            }
            Action::Double(side) => self.arrival(f, side, ", and is doubled")?,
            Action::Lose(side) => {
                if let [Event::Lost(packet)] = self.events {
                    write!(f, "{} to {side} is lost", Told(packet))?;
                }
            }
            Action::Leave(side, _) => write!(f, "a packet leaves {side}")?,
            Action::Tick => {
                let now = self.at.now.0.saturating_add(1);
                write!(f, "time passes: it is {}", now.saturating_sub(World::ORIGIN.0))?;
            }
            Action::Fill(side) => write!(f, "the receive queue at {side} is full")?,
            Action::Empty(side) => write!(f, "the receive queue at {side} has room again")?,
            Action::Unload(side) => write!(f, "the endpoint of {side} is to leave its frame")?,
            Action::Load(side) => write!(f, "the endpoint of {side} is loaded")?,
            Action::Restart(side) => write!(f, "{side} is started anew")?,
        }
        let opens = matches!(self.action, Action::Send(_));
        for (at, event) in self.events.iter().enumerate() {
            let between = if opens && at == 0 { "" } else { "; " };
            consequence(f, between, event)?;
        }
        Ok(())
    }
}

impl Line<'_> {
    fn arrival(&self, f: &mut fmt::Formatter<'_>, side: Side, how: &str) -> fmt::Result {
        match self.events.first() {
            Some(Event::Heard(packet)) => write!(f, "{} reaches {side}{how}", Told(packet)),
            Some(_) | None => Ok(()),
        }
    }
}

/// What an event adds to its step's line.
fn consequence(f: &mut fmt::Formatter<'_>, between: &str, event: &Event) -> fmt::Result {
    match event {
        Event::Heard(_) | Event::Lost(_) | Event::Noted(Note::Retransmitted | Note::Refused(_)) => {
            Ok(())
        }
        Event::Written => write!(f, "{between}it is WRITTEN"),
        Event::Sent(packet) => {
            let (Packet::Data(header, ..) | Packet::Ack(header) | Packet::Nack(header, _)) = packet;
            write!(f, "{between}NIC {} sends {}", header.source.0, Told(packet))
        }
        Event::Dropped(_, packet) => write!(f, "{between}{} is dropped there", Told(packet)),
        Event::Ended(side, message, end) => {
            write!(f, "{between}at {side} {}", Ended(*message, *end))
        }
        Event::Noted(Note::Duplicate) => write!(f, "{between}it is a duplicate"),
        Event::Noted(Note::Stale) => write!(f, "{between}it is stale"),
        Event::Noted(Note::Late) => write!(f, "{between}it is late"),
        Event::Noted(Note::Unknown) => write!(f, "{between}it is unknown"),
        Event::Unloaded(side) => write!(f, "{between}the endpoint of {side} has left"),
    }
}

/// A packet.
struct Told<'a>(&'a Packet<Message>);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Packet::Data(header, sync, message) => {
                let sync = match sync {
                    Sync::Set => " SYNC",
                    Sync::Clear => "",
                };
                write!(f, "{message}({}{sync})", Label(header))
            }
            Packet::Ack(header) => write!(f, "ACK({})", Label(header)),
            Packet::Nack(header, reason) => {
                write!(f, "NACK({} {})", Label(header), because(*reason))
            }
        }
    }
}

/// What tells one transmission from another.
struct Label<'a>(&'a Header);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { channel, seq, incarnation, timestamp, .. } = self.0;
        let seq = match seq {
            Seq::Zero => 0,
            Seq::One => 1,
        };
        let at = timestamp.0.wrapping_sub(World::ORIGIN.timestamp().0);
        write!(f, "channel {} #{:x}.{seq} at {at}", channel.0, incarnation.0)
    }
}

/// How a message ends.
struct Ended(Message, End);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(message, end) = self;
        match end {
            End::Acknowledged => write!(f, "{message} is ACKNOWLEDGED"),
            End::Returned(Return::Refused(_)) => write!(f, "{message} is RETURNED: refused"),
            End::Returned(Return::Unreachable) => write!(f, "{message} is RETURNED: unreachable"),
            End::Carried => write!(f, "{message} is carried along"),
        }
    }
}

const fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::NotResident => "not resident",
        Reason::QueueFull => "queue full",
        Reason::NoResource => "no resource",
        Reason::NoChannelState => "no channel state",
        Reason::BadKey => "bad key",
        Reason::NoSuchEndpoint => "no such endpoint",
    }
}
