//! The circuits of a port from the rules alone: the second witness. Slow and plain.

use std::collections::{BTreeMap, VecDeque};

use codec::character::{Character, ReplyStatus, Symbol};
use simulator::link::receiver::PortRequest;
use simulator::link::source_item::{AcceptMode, SourceItem};
use simulator::link::{FillMode, FramingMode, PortParameters, ResetEnding, SlackSize, SymbolSet};
use simulator::truth::StopGo;

use crate::reference::decode_symbol;

/// An input circuit. F-3, F-5, F-7, F-9, R-2
#[derive(Debug)]
pub(crate) struct InputModel {
    slack: SlackSize,
    symbols: SymbolSet,
    generation: u64,
    receiving: InputFraming,
    silent: u32,
    /// Position where characters come in at another rate than the port's own: whether one has that is a sign of
    /// life, since a period of its own began. W-6
    alive: Option<bool>,
    commanded: StopGo,
    /// STOP and GO by the period in which they are to be sent.
    due: BTreeMap<u64, StopGo>,
    buffer: VecDeque<Option<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputFraming {
    Between,
    Packet,
    Reset,
}

impl InputModel {
    pub(crate) fn new(link: &PortParameters) -> Self {
        Self {
            slack: link.slack,
            symbols: link.symbols,
            generation: link.generation.into(),
            receiving: InputFraming::Between,
            silent: 0,
            alive: None,
            commanded: StopGo::Go,
            due: BTreeMap::new(),
            buffer: VecDeque::new(),
        }
    }

    pub(crate) fn fill(&self) -> u32 {
        u32::try_from(self.buffer.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn front(&self) -> Option<Option<u8>> {
        self.buffer.front().copied()
    }

    /// Tests whether the silence is so long that the link is open. F-7
    pub(crate) const fn is_open(&self) -> bool {
        self.silent >= 16
    }

    pub(crate) fn is_receiving(&self) -> bool {
        self.receiving == InputFraming::Packet
    }

    pub(crate) fn take(&mut self) -> Option<Option<u8>> {
        self.buffer.pop_front()
    }

    pub(crate) fn due(&mut self, slot: u64) -> Option<StopGo> {
        self.due.remove(&slot)
    }

    fn command(&mut self, slot: u64, command: StopGo) {
        if self.commanded != command {
            self.commanded = command;
            self.due.insert(slot + self.generation, command);
        }
    }

    fn push(&mut self, slot: u64, cell: Option<u8>) -> PortRequest {
        if self.fill() == self.slack.cells() {
            return PortRequest::Overflow;
        }
        self.buffer.push_back(cell);
        if self.fill() >= self.slack.cells() - self.slack.stop_slack {
            self.command(slot, StopGo::Stop);
        }
        PortRequest::Nothing
    }

    pub(crate) fn receive(&mut self, slot: u64, character: Character) -> PortRequest {
        if self.fill() <= self.slack.go_slack {
            self.command(slot, StopGo::Go);
        }
        if character == Character::IDLE {
            return if self.alive.is_none() { self.is_silent(slot) } else { PortRequest::Nothing };
        }
        self.silent = 0;
        self.alive = self.alive.map(|_| true);
        match character {
            Character::Data(_) if self.receiving == InputFraming::Reset => PortRequest::Nothing,
            Character::Data(byte) => {
                self.receiving = InputFraming::Packet;
                self.push(slot, Some(byte))
            }
            Character::Control(code) => match decode_symbol(code) {
                Some((symbol, _)) => self.symbol(slot, symbol),
                None => PortRequest::Nothing,
            },
        }
    }

    /// Lets characters come in at another rate than the port's own.
    pub(crate) fn with_own_time(self) -> Self {
        Self { alive: Some(false), ..self }
    }

    /// A period of its own begins, and what comes in with it has come in. F-7, W-6
    pub(crate) fn begins(&mut self, slot: u64) -> PortRequest {
        if self.fill() <= self.slack.go_slack {
            self.command(slot, StopGo::Go);
        }
        match self.alive.replace(false) {
            Some(true) => PortRequest::Nothing,
            Some(false) | None => self.is_silent(slot),
        }
    }

    fn is_silent(&mut self, slot: u64) -> PortRequest {
        self.silent += 1;
        if self.silent != 16 {
            return PortRequest::Nothing;
        }
        if self.receiving == InputFraming::Packet {
            self.receiving = InputFraming::Between;
            self.push(slot, None);
        }
        PortRequest::LinkOpen
    }

    fn symbol(&mut self, slot: u64, symbol: Symbol) -> PortRequest {
        let is_optional = self.symbols == SymbolSet::All;
        match symbol {
            Symbol::Gap => {
                let before = std::mem::replace(&mut self.receiving, InputFraming::Between);
                if before == InputFraming::Packet {
                    self.push(slot, None)
                } else {
                    PortRequest::Nothing
                }
            }
            Symbol::Go => PortRequest::Command(StopGo::Go),
            Symbol::Stop => PortRequest::Command(StopGo::Stop),
            Symbol::ForwardReset => {
                self.buffer.clear();
                self.receiving = InputFraming::Reset;
                self.command(slot, StopGo::Go);
                PortRequest::Reset
            }
            Symbol::BackwardReset if is_optional => PortRequest::BackwardReset,
            Symbol::Probe(number) if is_optional => PortRequest::Probe(number),
            Symbol::Reply(status) => PortRequest::Reply(status),
            Symbol::Idle
            | Symbol::OverrunAlarm
            | Symbol::BackwardReset
            | Symbol::Probe(_)
            | Symbol::Virtual { .. }
            | _ => PortRequest::Nothing,
        }
    }
}

/// An output circuit. F-1, F-2, F-6, F-8, R-1, R-4
#[derive(Debug)]
pub(crate) struct OutputModel {
    interpretation: u64,
    blocked: u64,
    sending: OutputFraming,
    flow: StopGo,
    last_received: StopGo,
    scheduled: BTreeMap<u64, StopGo>,
    stopped: u64,
    fill: StopGo,
    /// Periods since the last GAP that ended something; power-up counts as one to come.
    since_gap: i64,
    /// Number of these GAPs.
    pub(crate) packets: u64,
    waiting: VecDeque<Symbol>,
    reset: ResetEnding,
    fills: FillMode,
    framing: FramingMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFraming {
    Between,
    Packet(u64),
    Discarding,
    /// FRES has gone out, GAP follows, and then this.
    Closing(AfterReset),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterReset {
    Nothing,
    Packet,
}

impl OutputModel {
    pub(crate) fn new(link: &PortParameters) -> Self {
        Self {
            interpretation: link.interpretation.into(),
            blocked: link.blocked.0,
            sending: OutputFraming::Between,
            flow: StopGo::Go,
            last_received: StopGo::Go,
            scheduled: BTreeMap::new(),
            stopped: 0,
            fill: StopGo::Go,
            since_gap: -2,
            packets: 0,
            waiting: VecDeque::new(),
            reset: link.reset,
            fills: link.fill,
            framing: link.framing,
        }
    }

    pub(crate) const fn flow(&self) -> StopGo {
        self.flow
    }

    pub(crate) fn order(&mut self, symbol: Symbol) {
        if !self.waiting.contains(&symbol) {
            self.waiting.push_back(symbol);
        }
    }

    pub(crate) fn answer(&mut self, slot: u64, asked: PortRequest, symbols: SymbolSet) {
        match asked {
            PortRequest::Nothing | PortRequest::Reply(_) | PortRequest::Reset => {}
            PortRequest::Command(command) => {
                if command != self.last_received {
                    self.last_received = command;
                    self.scheduled.insert(slot + self.interpretation, command);
                }
            }
            PortRequest::LinkOpen => self.release(),
            PortRequest::BackwardReset => self.order(Symbol::ForwardReset),
            PortRequest::Probe(_) => {
                ReplyStatus::new(2).into_iter().for_each(|it| self.order(Symbol::Reply(it)));
            }
            PortRequest::Overflow => match symbols {
                SymbolSet::All => self.order(Symbol::OverrunAlarm),
                SymbolSet::Mandatory => {}
            },
        }
    }

    fn release(&mut self) {
        self.scheduled.clear();
        self.last_received = StopGo::Go;
        self.flow = StopGo::Go;
    }

    pub(crate) fn is_sending(&self) -> bool {
        matches!(self.sending, OutputFraming::Packet(_))
    }

    /// Drops the packet being sent: a GAP ends the part already sent. R-3
    pub(crate) const fn sever(&mut self) {
        self.sending = match self.sending {
            OutputFraming::Packet(_) | OutputFraming::Closing(_) => {
                OutputFraming::Closing(AfterReset::Nothing)
            }
            OutputFraming::Between | OutputFraming::Discarding => OutputFraming::Between,
        };
    }

    pub(crate) fn send(&mut self, slot: u64, due: Option<StopGo>, supply: SourceItem) -> Character {
        match self.turn(slot, due) {
            Ok(character) => character,
            Err(_) => self.put(slot, supply),
        }
    }

    /// Character sent in a period regardless of the source, or the items that may be taken from it.
    pub(crate) fn turn(&mut self, slot: u64, due: Option<StopGo>) -> Result<Character, AcceptMode> {
        self.since_gap += 1;
        if let Some(command) = self.scheduled.remove(&slot) {
            self.flow = command;
            self.stopped = slot;
        }
        if let Some(command) = due {
            self.fill = command;
            return Ok(self.command());
        }
        if let OutputFraming::Closing(rest) = self.sending {
            return Ok(self.gap(match rest {
                AfterReset::Nothing => OutputFraming::Between,
                AfterReset::Packet => OutputFraming::Discarding,
            }));
        }
        if self.flow == StopGo::Stop && slot >= self.stopped + self.blocked {
            return Ok(self.reset(slot));
        }
        if let OutputFraming::Packet(since) = self.sending
            && slot >= since + self.blocked
        {
            let stopped = self.flow == StopGo::Stop;
            return Ok(if stopped {
                self.reset(slot)
            } else {
                self.gap(OutputFraming::Discarding)
            });
        }
        match self.waiting.pop_front() {
            Some(Symbol::ForwardReset) => Ok(self.reset(slot)),
            Some(symbol) => Ok(Character::Control(symbol.code().unwrap_or_default())),
            None => Err(match (self.sending, self.flow) {
                (OutputFraming::Discarding, _) => AcceptMode::Discard,
                (_, StopGo::Stop) if self.framing == FramingMode::Waits => AcceptMode::Nothing,
                (_, StopGo::Stop) => AcceptMode::Framing,
                (_, StopGo::Go) => AcceptMode::All,
            }),
        }
    }

    pub(crate) fn put(&mut self, slot: u64, supply: SourceItem) -> Character {
        match (self.sending, supply) {
            (OutputFraming::Discarding, SourceItem::Mark) => self.sending = OutputFraming::Between,
            (OutputFraming::Discarding, _) => {}
            (_, SourceItem::Mark)
                if self.flow == StopGo::Go || self.framing == FramingMode::Free =>
            {
                return self.gap(OutputFraming::Between);
            }
            (_, SourceItem::Data(cell, _)) if self.flow == StopGo::Go => {
                if self.sending == OutputFraming::Between {
                    self.sending = OutputFraming::Packet(slot);
                }
                return cell.character();
            }
            (
                _,
                SourceItem::Nothing
                | SourceItem::Data(..)
                | SourceItem::Mark
                | SourceItem::Symbol(_),
            ) => {}
        }
        let even = self.since_gap % 2 == 0;
        match self.fills {
            FillMode::Idle(every) if (self.since_gap + 1) % i64::from(every) != 0 => {
                Character::IDLE
            }
            FillMode::Chip if even && !self.is_sending() => Character::GAP,
            FillMode::Gaps if !self.is_sending() => Character::GAP,
            FillMode::Chip | FillMode::Gaps | FillMode::Commands | FillMode::Idle(_) => {
                self.command()
            }
        }
    }

    const fn command(&self) -> Character {
        Character::Control(match self.fill {
            StopGo::Go => 0x03,
            StopGo::Stop => 0x0f,
        })
    }

    const fn gap(&mut self, next: OutputFraming) -> Character {
        self.sending = next;
        self.since_gap = 0;
        self.packets += 1;
        Character::GAP
    }

    fn reset(&mut self, slot: u64) -> Character {
        self.sending = match (self.reset, self.sending) {
            (ResetEnding::OwnGap, OutputFraming::Packet(_) | OutputFraming::Discarding) => {
                OutputFraming::Closing(AfterReset::Packet)
            }
            (ResetEnding::OwnGap, OutputFraming::Between | OutputFraming::Closing(_)) => {
                OutputFraming::Closing(AfterReset::Nothing)
            }
            // It goes on, and has the packet's time anew.
            (ResetEnding::NextGap, OutputFraming::Packet(_)) => OutputFraming::Packet(slot),
            (ResetEnding::NextGap, other) => other,
        };
        self.release();
        Character::Control(0x33)
    }
}
