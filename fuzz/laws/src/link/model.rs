//! The circuits of a port from the rules alone: the second witness. Slow and plain.

use std::collections::{BTreeMap, VecDeque};

use codec::character::{Character, ReplyStatus, Symbol};
use simulator::link::{Fill, Framing, PortParameters, ResetEnding, Slack, Symbols};
use simulator::receiver::Asked;
use simulator::supply::{Appetite, Supply};
use simulator::truth::Command;

use crate::reference::heard;

/// An input circuit. F-3, F-5, F-7, F-9, R-2
#[derive(Debug)]
pub(crate) struct Input {
    slack: Slack,
    symbols: Symbols,
    generation: u64,
    receiving: Receiving,
    silent: u32,
    /// Where characters come in at another rate than the port's own: whether one has that is a sign of
    /// life, since a period of its own began. W-6
    alive: Option<bool>,
    commanded: Command,
    /// STOP and GO by the period in which they are to be sent.
    due: BTreeMap<u64, Command>,
    /// Bytes and marks.
    buffer: VecDeque<Option<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiving {
    Between,
    Packet,
    Reset,
}

impl Input {
    pub(crate) fn new(link: &PortParameters) -> Self {
        Self {
            slack: link.slack,
            symbols: link.symbols,
            generation: link.generation.into(),
            receiving: Receiving::Between,
            silent: 0,
            alive: None,
            commanded: Command::Go,
            due: BTreeMap::new(),
            buffer: VecDeque::new(),
        }
    }

    pub(crate) fn fill(&self) -> u32 {
        u32::try_from(self.buffer.len()).unwrap_or(u32::MAX)
    }

    /// What stands at its front, a byte or a mark.
    pub(crate) fn front(&self) -> Option<Option<u8>> {
        self.buffer.front().copied()
    }

    /// Whether it has heard nothing for so long that the link is open. F-7
    pub(crate) const fn is_open(&self) -> bool {
        self.silent >= 16
    }

    /// Whether a packet comes in. L
    pub(crate) fn is_receiving(&self) -> bool {
        self.receiving == Receiving::Packet
    }

    pub(crate) fn take(&mut self) -> Option<Option<u8>> {
        self.buffer.pop_front()
    }

    pub(crate) fn due(&mut self, slot: u64) -> Option<Command> {
        self.due.remove(&slot)
    }

    fn command(&mut self, slot: u64, command: Command) {
        if self.commanded != command {
            self.commanded = command;
            self.due.insert(slot + self.generation, command);
        }
    }

    fn push(&mut self, slot: u64, cell: Option<u8>) -> Asked {
        if self.fill() == self.slack.cells() {
            return Asked::Overflow;
        }
        self.buffer.push_back(cell);
        if self.fill() >= self.slack.cells() - self.slack.stop_slack {
            self.command(slot, Command::Stop);
        }
        Asked::Nothing
    }

    pub(crate) fn hear(&mut self, slot: u64, character: Character) -> Asked {
        if self.fill() <= self.slack.go_slack {
            self.command(slot, Command::Go);
        }
        if character == Character::IDLE {
            return if self.alive.is_none() { self.is_silent(slot) } else { Asked::Nothing };
        }
        self.silent = 0;
        self.alive = self.alive.map(|_| true);
        match character {
            Character::Data(_) if self.receiving == Receiving::Reset => Asked::Nothing,
            Character::Data(byte) => {
                self.receiving = Receiving::Packet;
                self.push(slot, Some(byte))
            }
            Character::Control(code) => match heard(code) {
                Some((symbol, _)) => self.symbol(slot, symbol),
                None => Asked::Nothing,
            },
        }
    }

    /// The same port, where characters come in at another rate than its own.
    pub(crate) fn with_own_time(self) -> Self {
        Self { alive: Some(false), ..self }
    }

    /// A period of its own begins, and what comes in with it has come in. F-7, W-6
    pub(crate) fn begins(&mut self, slot: u64) -> Asked {
        if self.fill() <= self.slack.go_slack {
            self.command(slot, Command::Go);
        }
        match self.alive.replace(false) {
            Some(true) => Asked::Nothing,
            Some(false) | None => self.is_silent(slot),
        }
    }

    fn is_silent(&mut self, slot: u64) -> Asked {
        self.silent += 1;
        if self.silent != 16 {
            return Asked::Nothing;
        }
        if self.receiving == Receiving::Packet {
            self.receiving = Receiving::Between;
            self.push(slot, None);
        }
        Asked::LinkOpen
    }

    fn symbol(&mut self, slot: u64, symbol: Symbol) -> Asked {
        let is_optional = self.symbols == Symbols::All;
        match symbol {
            Symbol::Gap => {
                let before = std::mem::replace(&mut self.receiving, Receiving::Between);
                if before == Receiving::Packet { self.push(slot, None) } else { Asked::Nothing }
            }
            Symbol::Go => Asked::Command(Command::Go),
            Symbol::Stop => Asked::Command(Command::Stop),
            Symbol::ForwardReset => {
                self.buffer.clear();
                self.receiving = Receiving::Reset;
                self.command(slot, Command::Go);
                Asked::Reset
            }
            Symbol::BackwardReset if is_optional => Asked::BackwardReset,
            Symbol::Probe(number) if is_optional => Asked::Probe(number),
            Symbol::Reply(status) => Asked::Reply(status),
            Symbol::Idle
            | Symbol::OverrunAlarm
            | Symbol::BackwardReset
            | Symbol::Probe(_)
            | Symbol::Virtual { .. }
            | _ => Asked::Nothing,
        }
    }
}

/// An output circuit. F-1, F-2, F-6, F-8, R-1, R-4
#[derive(Debug)]
pub(crate) struct Output {
    interpretation: u64,
    blocked: u64,
    sending: Sending,
    flow: Command,
    heard: Command,
    obeys: BTreeMap<u64, Command>,
    stopped: u64,
    fill: Command,
    /// Periods since the last GAP that ended something; power-up counts as one to come.
    since_gap: i64,
    waiting: VecDeque<Symbol>,
    reset: ResetEnding,
    fills: Fill,
    framing: Framing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    Between,
    /// Since that period.
    Packet(u64),
    /// The rest of a packet is given up.
    Discarding,
    /// FRES has gone out, GAP follows, and then this.
    Closing(Rest),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Packet,
}

impl Output {
    pub(crate) fn new(link: &PortParameters) -> Self {
        Self {
            interpretation: link.interpretation.into(),
            blocked: link.blocked.0,
            sending: Sending::Between,
            flow: Command::Go,
            heard: Command::Go,
            obeys: BTreeMap::new(),
            stopped: 0,
            fill: Command::Go,
            since_gap: -2,
            waiting: VecDeque::new(),
            reset: link.reset,
            fills: link.fill,
            framing: link.framing,
        }
    }

    pub(crate) const fn flow(&self) -> Command {
        self.flow
    }

    pub(crate) fn order(&mut self, symbol: Symbol) {
        if !self.waiting.contains(&symbol) {
            self.waiting.push_back(symbol);
        }
    }

    pub(crate) fn answer(&mut self, slot: u64, asked: Asked, symbols: Symbols) {
        match asked {
            Asked::Nothing | Asked::Reply(_) | Asked::Reset => {}
            Asked::Command(command) => {
                if command != self.heard {
                    self.heard = command;
                    self.obeys.insert(slot + self.interpretation, command);
                }
            }
            Asked::LinkOpen => self.release(),
            Asked::BackwardReset => self.order(Symbol::ForwardReset),
            Asked::Probe(_) => {
                ReplyStatus::new(2).into_iter().for_each(|it| self.order(Symbol::Reply(it)));
            }
            Asked::Overflow => match symbols {
                Symbols::All => self.order(Symbol::OverrunAlarm),
                Symbols::Mandatory => {}
            },
        }
    }

    fn release(&mut self) {
        self.obeys.clear();
        self.heard = Command::Go;
        self.flow = Command::Go;
    }

    /// Whether a packet goes out. L
    pub(crate) fn is_sending(&self) -> bool {
        matches!(self.sending, Sending::Packet(_))
    }

    /// What it was sending is gone: GAP ends what went out of it. R-3
    pub(crate) const fn sever(&mut self) {
        self.sending = match self.sending {
            Sending::Packet(_) | Sending::Closing(_) => Sending::Closing(Rest::Nothing),
            Sending::Between | Sending::Discarding => Sending::Between,
        };
    }

    /// What goes out in a period.
    pub(crate) fn send(&mut self, slot: u64, due: Option<Command>, supply: Supply) -> Character {
        match self.turn(slot, due) {
            Ok(character) => character,
            Err(_) => self.put(slot, supply),
        }
    }

    /// What goes out in a period whatever there is to send, or else what may be taken of that.
    pub(crate) fn turn(&mut self, slot: u64, due: Option<Command>) -> Result<Character, Appetite> {
        self.since_gap += 1;
        if let Some(command) = self.obeys.remove(&slot) {
            self.flow = command;
            self.stopped = slot;
        }
        if let Some(command) = due {
            self.fill = command;
            return Ok(self.command());
        }
        if let Sending::Closing(rest) = self.sending {
            return Ok(self.gap(match rest {
                Rest::Nothing => Sending::Between,
                Rest::Packet => Sending::Discarding,
            }));
        }
        if self.flow == Command::Stop && slot >= self.stopped + self.blocked {
            return Ok(self.reset(slot));
        }
        if let Sending::Packet(since) = self.sending
            && slot >= since + self.blocked
        {
            let stopped = self.flow == Command::Stop;
            return Ok(if stopped { self.reset(slot) } else { self.gap(Sending::Discarding) });
        }
        match self.waiting.pop_front() {
            Some(Symbol::ForwardReset) => Ok(self.reset(slot)),
            Some(symbol) => Ok(Character::Control(symbol.code().unwrap_or_default())),
            None => Err(match (self.sending, self.flow) {
                (Sending::Discarding, _) => Appetite::Discard,
                (_, Command::Stop) if self.framing == Framing::Waits => Appetite::Nothing,
                (_, Command::Stop) => Appetite::Framing,
                (_, Command::Go) => Appetite::All,
            }),
        }
    }

    /// What goes out where that is up to the source.
    pub(crate) fn put(&mut self, slot: u64, supply: Supply) -> Character {
        match (self.sending, supply) {
            (Sending::Discarding, Supply::Mark) => self.sending = Sending::Between,
            (Sending::Discarding, _) => {}
            (_, Supply::Mark) if self.flow == Command::Go || self.framing == Framing::Free => {
                return self.gap(Sending::Between);
            }
            (_, Supply::Data(cell, _)) if self.flow == Command::Go => {
                if self.sending == Sending::Between {
                    self.sending = Sending::Packet(slot);
                }
                return cell.character();
            }
            (_, Supply::Nothing | Supply::Data(..) | Supply::Mark | Supply::Symbol(_)) => {}
        }
        let even = self.since_gap % 2 == 0;
        match self.fills {
            Fill::Idle(every) if (self.since_gap + 1) % i64::from(every) != 0 => Character::IDLE,
            Fill::Chip if even && !self.is_sending() => Character::GAP,
            Fill::Gaps if !self.is_sending() => Character::GAP,
            Fill::Chip | Fill::Gaps | Fill::Commands | Fill::Idle(_) => self.command(),
        }
    }

    const fn command(&self) -> Character {
        Character::Control(match self.fill {
            Command::Go => 0x03,
            Command::Stop => 0x0f,
        })
    }

    const fn gap(&mut self, next: Sending) -> Character {
        self.sending = next;
        self.since_gap = 0;
        Character::GAP
    }

    fn reset(&mut self, slot: u64) -> Character {
        self.sending = match (self.reset, self.sending) {
            (ResetEnding::OwnGap, Sending::Packet(_) | Sending::Discarding) => {
                Sending::Closing(Rest::Packet)
            }
            (ResetEnding::OwnGap, Sending::Between | Sending::Closing(_)) => {
                Sending::Closing(Rest::Nothing)
            }
            // It goes on, and has the packet's time anew.
            (ResetEnding::NextGap, Sending::Packet(_)) => Sending::Packet(slot),
            (ResetEnding::NextGap, other) => other,
        };
        self.release();
        Character::Control(0x33)
    }
}
