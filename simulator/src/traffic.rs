//! What hosts send, to whom, how much and when.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use codec::chars::CharBuf;
use codec::packet::Tag;
use codec::tick::Ticks;

use crate::chance::Dice;
use crate::control::REQUEST;
use crate::topology::NodeId;

/// Bytes of payload that a request has at least: its host and its number. *Chosen*
pub const CLOSED_BYTES_MIN: u32 = 8;

/// Packets from one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The host.
    pub from: NodeId,
    /// To whom.
    pub to: Destination,
    /// Their type. P-2
    pub tag: Tag,
    /// Bytes of payload.
    pub payload: Size,
    /// When.
    pub arrivals: Arrivals,
    /// Not before: periods of the full rate.
    pub start: u64,
    /// How many at most.
    pub packets: Option<u64>,
}

/// To whom packets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To one host.
    One(NodeId),
    /// To any of these, all alike, never to the sender itself. At least one other.
    Among(Vec<NodeId>),
}

/// A law of payload sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// All alike.
    Fixed(u32),
    /// Any from the first to the last.
    Uniform(u32, u32),
    /// Small ones and, so many in 65 536, large ones.
    Bimodal {
        /// The small size.
        small: u32,
        /// The large size.
        large: u32,
        /// Large ones in 65 536.
        share: u16,
    },
}

/// A law of sending times, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// One every so many periods. Open loop.
    Constant(Ticks),
    /// At random, so many periods apart in the mean. Open loop.
    Poisson(Ticks),
    /// So many together, every so many periods. Open loop.
    Bursts(NonZeroU32, Ticks),
    /// As many as the link takes.
    Saturating,
    /// At most so many not answered; the next so long after an answer. Closed loop: the receiver
    /// answers each with one of the same size.
    Closed(NonZeroU32, Ticks),
}

/// Characters that a host's link is made to send, however broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The host.
    pub from: NodeId,
    /// Not before: periods of the full rate.
    pub at: u64,
    /// Data and GAP go through flow control, other control codes go out as they stand.
    pub chars: CharBuf,
}

/// A packet that a stream wants sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// To which host.
    pub to: NodeId,
    /// Its type. P-2
    pub tag: Tag,
    /// Bytes of payload.
    pub length: u32,
}

/// A stream at work. What it draws depends on its own dice only, and not on when it is asked.
#[derive(Clone, Debug)]
pub struct Machine {
    dice: Dice,
    to: Vec<NodeId>,
    tag: Tag,
    payload: Size,
    clock: Clock,
    /// Packets that it may still send.
    left: Option<u64>,
}

/// When a stream sends.
#[derive(Clone, Debug)]
enum Clock {
    Constant { next: u64, period: u64 },
    Poisson { next: u64, mean: u64 },
    Bursts { next: u64, period: u64, size: NonZeroU32, sent: u32 },
    Saturating { next: u64 },
    Closed(Window),
}

/// The places of a closed loop.
#[derive(Clone, Debug)]
struct Window {
    think: u64,
    start: u64,
    /// Places that were never used.
    fresh: u32,
    /// When each place that was used is free again; in order.
    free: VecDeque<u64>,
    /// The numbers of what has not been answered.
    unanswered: Vec<u32>,
}

impl Machine {
    /// A stream that has not begun.
    #[must_use]
    pub fn new(stream: Stream, mut dice: Dice) -> Self {
        let Stream { from, to, tag, payload, arrivals, start, packets } = stream;
        let mut to = match to {
            Destination::One(to) => vec![to],
            Destination::Among(to) => to,
        };
        to.retain(|to| *to != from);
        let clock = match arrivals {
            Arrivals::Constant(Ticks(period)) => {
                Clock::Constant { next: start, period: period.max(1) }
            }
            Arrivals::Poisson(Ticks(mean)) => {
                Clock::Poisson { next: start.saturating_add(dice.exponential(mean)), mean }
            }
            Arrivals::Bursts(size, Ticks(period)) => {
                Clock::Bursts { next: start, period: period.max(1), size, sent: 0 }
            }
            Arrivals::Saturating => Clock::Saturating { next: start },
            Arrivals::Closed(window, Ticks(think)) => Clock::Closed(Window {
                think,
                start,
                fresh: window.get(),
                free: VecDeque::new(),
                unanswered: Vec::new(),
            }),
        };
        let tag = match clock {
            Clock::Closed(_) => REQUEST,
            Clock::Constant { .. }
            | Clock::Poisson { .. }
            | Clock::Bursts { .. }
            | Clock::Saturating { .. } => tag,
        };
        Self { dice, to, tag, payload, clock, left: packets }
    }

    /// When it next wants to send, if it ever does.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        if self.left == Some(0) || self.to.is_empty() {
            return None;
        }
        match &self.clock {
            Clock::Constant { next, .. }
            | Clock::Poisson { next, .. }
            | Clock::Bursts { next, .. }
            | Clock::Saturating { next } => Some(*next),
            Clock::Closed(Window { fresh: 0, free, .. }) => free.front().copied(),
            Clock::Closed(window) => Some(window.start),
        }
    }

    /// The packet that is due, whose command gets this number.
    pub fn draw(&mut self, now: u64, number: u32) -> Option<Packet> {
        let to = usize::try_from(self.dice.below(self.to.len() as u64)).ok()?;
        let to = *self.to.get(to)?;
        let length = self.length();
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.clock.advance(now, number, &mut self.dice);
        Some(Packet { to, tag: self.tag, length })
    }

    fn length(&mut self) -> u32 {
        let length = match self.payload {
            Size::Fixed(length) => length,
            Size::Uniform(first, last) => {
                let length = self.dice.between(first.into(), last.into());
                u32::try_from(length).unwrap_or(last)
            }
            Size::Bimodal { small, large, share } => {
                if self.dice.chance(share) {
                    large
                } else {
                    small
                }
            }
        };
        if self.is_closed() { length.max(CLOSED_BYTES_MIN) } else { length }
    }

    /// Whether it waits for answers.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.clock, Clock::Closed(_))
    }

    /// The packet of that number has been answered, or is known to be lost, if it is one of these.
    pub fn answered(&mut self, now: u64, number: u32) {
        if let Clock::Closed(window) = &mut self.clock
            && let Some(place) = window.unanswered.iter().position(|other| *other == number)
        {
            window.unanswered.remove(place);
            window.free.push_back(now.saturating_add(window.think));
        }
    }

    /// All that has not been answered is lost.
    pub fn forget(&mut self, now: u64) {
        if let Clock::Closed(window) = &mut self.clock {
            let free = now.saturating_add(window.think);
            window.free.extend(window.unanswered.drain(..).map(|_| free));
        }
    }

    /// What it would have sent before now is not sent any more.
    pub fn skip(&mut self, now: u64) {
        match &mut self.clock {
            Clock::Constant { next, .. }
            | Clock::Poisson { next, .. }
            | Clock::Saturating { next } => *next = now.max(*next),
            Clock::Bursts { next, sent, .. } if *next < now => (*next, *sent) = (now, 0),
            Clock::Bursts { .. } | Clock::Closed(_) => {}
        }
    }
}

impl Clock {
    /// A packet is sent. What is late does not put off what follows: the load stays the same.
    fn advance(&mut self, now: u64, number: u32, dice: &mut Dice) {
        match self {
            Self::Constant { next, period } => *next = next.saturating_add(*period),
            Self::Poisson { next, mean } => *next = next.saturating_add(dice.exponential(*mean)),
            Self::Bursts { next, period, size, sent } => {
                *sent += 1;
                if *sent >= size.get() {
                    (*next, *sent) = (next.saturating_add(*period), 0);
                }
            }
            // So that others whose time came before come first.
            Self::Saturating { next } => *next = now,
            Self::Closed(window) => {
                if window.fresh > 0 {
                    window.fresh -= 1;
                } else {
                    window.free.pop_front();
                }
                window.unanswered.push(number);
            }
        }
    }
}
