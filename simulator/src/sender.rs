//! The output circuit of a port: what it sends in each period. F-1, F-2, F-6..F-8, R-1, R-4

use std::collections::VecDeque;

use codec::character::Symbol;

use crate::cell::{Cell, PacketId};
use crate::link::{Fill, Framing, PortParameters, ResetEnding};
use crate::slack::Delayed;
use crate::supply::{Appetite, Supply, Turn};
use crate::truth::{Command, Escape, FrameAccount, FrameEnd, Release, Rule, Telling, What};

/// An output circuit.
#[derive(Clone, Debug)]
pub struct Sender {
    sending: Sending,
    /// Whether data may go. F-2
    flow: Command,
    /// The last STOP or GO that came in for it: what `flow` will be. F-1
    heard: Command,
    /// STOP and GO that came in, being interpreted. F-4
    commands: Delayed,
    interpretation: u8,
    /// The last STOP or GO that was commanded and sent: what fill repeats. F-8
    fill: Command,
    variant: Variant,
    /// Whether no GAP has ended its reset yet. R-1
    after_reset: bool,
    /// IDLE in turn up to now, if it fills with it.
    quiet: u8,
    /// What the far sender has been told last, as far as this end knows.
    told: Command,
    /// The channel's period in which fill began with GAP. F-8
    origin: u64,
    /// Other symbols to be sent, in order. F-6
    waiting: VecDeque<u8>,
    stopped_since: u64,
    packet_since: u64,
    /// When it will have been stopped, or been sending one packet, for too long. R-4
    deadline: u64,
    blocked: u64,
    account: Option<Box<FrameAccount>>,
    /// The packet that is being sent, if it is one.
    current: Option<PacketId>,
}

/// What the rules leave to a sender.
#[derive(Clone, Copy, Debug)]
struct Variant {
    reset: ResetEnding,
    fill: Fill,
    framing: Framing,
}

/// Where a sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Between packets.
    Between,
    /// Inside a packet.
    Packet,
    /// Between packets, but its source must first give up the rest of a packet.
    Discarding,
    /// GAP comes next, then this.
    Closing(Rest),
}

/// What remains of a packet that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// Its source still holds some of it.
    AtSource,
}

impl Sender {
    /// An output circuit after power-up: in GO, between packets. F-2
    #[must_use]
    pub fn new(port: &PortParameters, account: Option<Box<FrameAccount>>) -> Self {
        Self {
            sending: Sending::Between,
            flow: Command::Go,
            heard: Command::Go,
            commands: Delayed::default(),
            interpretation: port.interpretation,
            fill: Command::Go,
            told: Command::Go,
            // Power-up counts as after a GAP: GO comes first.
            origin: 1,
            waiting: VecDeque::new(),
            stopped_since: 0,
            packet_since: 0,
            deadline: u64::MAX,
            blocked: port.blocked.0,
            variant: Variant { reset: port.reset, fill: port.fill, framing: port.framing },
            after_reset: false,
            quiet: 0,
            account,
            current: None,
        }
    }

    /// Takes a STOP or GO that has come in. F-1
    pub fn command(&mut self, command: Command, telling: &mut Telling<'_>) {
        // Reading: a STOP said again does not start the clock of R-4 again.
        if command == self.heard {
            return;
        }
        self.heard = command;
        self.commands.push(command, self.interpretation);
        telling.tell(None, || match command {
            Command::Stop => What::SenderStopped,
            Command::Go => What::SenderResumed(Release::Go),
        });
    }

    /// It is in GO, whatever came in before. F-7, R-1
    pub fn release(&mut self, by: Release, telling: &mut Telling<'_>) {
        if self.heard == Command::Stop {
            telling.tell(None, || What::SenderResumed(by));
        }
        self.heard = Command::Go;
        self.flow = Command::Go;
        self.commands.clear();
        self.set_deadline();
    }

    /// Has a symbol sent when its turn comes. F-6
    pub fn order(&mut self, symbol: Symbol) {
        if let Some(code) = symbol.code()
            && !self.waiting.contains(&code)
        {
            self.waiting.push_back(code);
        }
    }

    /// Its source is gone: what has been sent of a packet ends with a GAP. R-3
    pub fn sever(&mut self) {
        self.sending = match self.sending {
            Sending::Packet | Sending::Closing(_) => Sending::Closing(Rest::Nothing),
            Sending::Between | Sending::Discarding => Sending::Between,
        };
        self.set_deadline();
    }

    /// FRES has come in: the far sender goes on of itself. R-1
    pub const fn far_reset(&mut self) {
        self.told = Command::Go;
    }

    /// The fill of a period, if nothing else can be sent in it or comes of it. F-8
    #[inline]
    #[must_use]
    pub fn idle(&self, slot: u64) -> Option<Cell> {
        let calm = self.sending == Sending::Between
            && self.flow == Command::Go
            && self.commands.is_empty()
            && self.told == self.fill
            && self.waiting.is_empty()
            && !self.after_reset
            && !self.is_sparse()
            && slot < self.deadline;
        calm.then(|| self.filling(slot))
    }

    /// Whether it is inside a packet, and a byte of it is all that it may send now.
    #[inline]
    #[must_use]
    pub fn streams(&self, slot: u64) -> bool {
        self.sending == Sending::Packet
            && self.flow == Command::Go
            && self.commands.is_empty()
            && self.waiting.is_empty()
            && self.account.is_none()
            && !self.is_sparse()
            && slot < self.deadline
    }

    /// What it sends from now on, in its even and in its odd periods, as long as nothing comes in
    /// and its source has nothing for it.
    #[must_use]
    pub fn rhythm(&self, slot: u64) -> Option<[Cell; 2]> {
        let closing = matches!(self.sending, Sending::Closing(_));
        let calm = !closing
            && self.commands.is_empty()
            && self.told == self.fill
            && self.waiting.is_empty()
            && !self.after_reset
            && !self.is_sparse()
            && slot < self.deadline;
        calm.then(|| [self.filling(0), self.filling(1)])
    }

    /// Whether it fills with IDLE: all that it sends is looked at then.
    #[inline]
    const fn is_sparse(&self) -> bool {
        matches!(self.variant.fill, Fill::Idle(_))
    }

    /// Periods up to now without a sign of life. F-8
    #[must_use]
    pub const fn quiet(&self) -> u8 {
        self.quiet
    }

    /// The period of the channel in which it will have been stopped, or been sending one packet, for
    /// too long. R-4
    #[must_use]
    pub const fn deadline(&self) -> u64 {
        self.deadline
    }

    /// What it does in a period. `due` is the STOP or GO of its port's slack buffer. F-6, R-4
    pub fn turn(&mut self, due: Option<Command>, telling: &mut Telling<'_>) -> Turn {
        let slot = telling.slot;
        if let Some(command) = self.commands.pop() {
            self.obey(command, slot);
        }
        if let Some(command) = due {
            self.fill = command;
            // Told though it says nothing new: it takes the place of what else would go. F-6
            if command == self.told {
                telling.tell(None, || What::Commanded(command));
            }
            return Turn::Send(code_of(command));
        }
        if let Sending::Closing(rest) = self.sending {
            self.sending = match rest {
                Rest::Nothing => Sending::Between,
                Rest::AtSource => Sending::Discarding,
            };
            self.end_packet(slot);
            self.end_frame(FrameEnd::Gap, telling);
            return Turn::Send(Cell::END);
        }
        if slot >= self.deadline {
            return self.escape(telling);
        }
        if let Some(code) = self.waiting.pop_front() {
            return Turn::Send(self.symbol(code, telling));
        }
        Turn::Ask(self.appetite())
    }

    /// What it asks its source for.
    #[must_use]
    pub const fn appetite(&self) -> Appetite {
        match (self.sending, self.flow, self.variant.framing) {
            (Sending::Discarding, ..) => Appetite::Discard,
            (_, Command::Stop, Framing::Free) => Appetite::Framing,
            (_, Command::Stop, Framing::Waits) => Appetite::Nothing,
            (_, Command::Go, _) => Appetite::All,
        }
    }

    /// Sends what the source had. F-6, F-8
    pub fn send(&mut self, supply: Supply, telling: &mut Telling<'_>) -> Cell {
        let slot = telling.slot;
        if self.sending == Sending::Discarding {
            if supply == Supply::Mark {
                self.sending = Sending::Between;
            }
            return self.filling(slot);
        }
        match supply {
            Supply::Nothing => self.filling(slot),
            Supply::Data(cell, head) => {
                if self.sending == Sending::Between {
                    self.sending = Sending::Packet;
                    self.packet_since = slot;
                    self.current = head;
                    self.set_deadline();
                }
                if let Some(account) = &mut self.account
                    && !self.after_reset
                {
                    account.data(slot, cell.low());
                }
                cell
            }
            Supply::Mark => {
                self.sending = Sending::Between;
                self.end_packet(slot);
                self.end_frame(FrameEnd::Gap, telling);
                Cell::END
            }
            Supply::Symbol(code) => {
                let plain = [Symbol::Idle, Symbol::Go, Symbol::Stop];
                if let codec::Heard::Exact(symbol) = codec::character::hear(code)
                    && !plain.contains(&symbol)
                {
                    telling.tell(None, || What::SymbolSent(symbol));
                }
                Cell::control(code)
            }
        }
    }

    /// Notes what goes out, whoever made it: the far sender hears it.
    #[inline]
    pub fn sent(&mut self, cell: Cell, telling: &mut Telling<'_>) {
        let idle = self.is_sparse() && cell.bits() == Cell::IDLE.bits();
        self.quiet = if idle { self.quiet.saturating_add(1) } else { 0 };
        let command = match cell.character() {
            codec::Character::Control(0x03) => Command::Go,
            codec::Character::Control(0x0f) => Command::Stop,
            codec::Character::GAP => {
                if std::mem::take(&mut self.after_reset) {
                    telling.tell(None, || What::ResetClosed);
                }
                return;
            }
            codec::Character::Control(_) | codec::Character::Data(_) => return,
        };
        if self.told != command {
            self.told = command;
            telling.tell(None, || What::Commanded(command));
        }
    }

    /// The fill of a period. F-8
    #[inline]
    fn filling(&self, slot: u64) -> Cell {
        let inside = self.sending == Sending::Packet;
        let since = slot.wrapping_sub(self.origin);
        match self.variant.fill {
            Fill::Chip if !inside && since & 1 == 0 => Cell::GAP,
            Fill::Gaps if !inside => Cell::GAP,
            Fill::Idle(every) if !since.wrapping_add(1).is_multiple_of(every.into()) => Cell::IDLE,
            Fill::Chip | Fill::Gaps | Fill::Commands | Fill::Idle(_) => code_of(self.fill),
        }
    }

    /// STOP or GO takes effect. F-2
    const fn obey(&mut self, command: Command, slot: u64) {
        self.flow = command;
        self.stopped_since = slot;
        self.set_deadline();
    }

    ///
    const fn set_deadline(&mut self) {
        let stopped = match self.flow {
            Command::Stop => self.stopped_since.saturating_add(self.blocked),
            Command::Go => u64::MAX,
        };
        let packet = match self.sending {
            Sending::Packet => self.packet_since.saturating_add(self.blocked),
            Sending::Between | Sending::Discarding | Sending::Closing(_) => u64::MAX,
        };
        self.deadline = if stopped < packet { stopped } else { packet };
    }

    ///
    fn escape(&mut self, telling: &mut Telling<'_>) -> Turn {
        match self.flow {
            Command::Stop => {
                telling.tell(self.current, || What::Blocked(Escape::Reset));
                Turn::Send(self.reset(telling))
            }
            Command::Go => {
                telling.tell(self.current, || What::Blocked(Escape::Gap));
                telling.tell(self.current, || What::Truncated(Rule("R-4")));
                self.sending = Sending::Discarding;
                self.end_packet(telling.slot);
                self.end_frame(FrameEnd::Gap, telling);
                Turn::Send(Cell::END)
            }
        }
    }

    fn symbol(&mut self, code: u8, telling: &mut Telling<'_>) -> Cell {
        if Symbol::ForwardReset.code() == Some(code) {
            return self.reset(telling);
        }
        if let codec::Heard::Exact(symbol) = codec::character::hear(code) {
            telling.tell(None, || What::SymbolSent(symbol));
        }
        Cell::control(code)
    }

    ///
    fn reset(&mut self, telling: &mut Telling<'_>) -> Cell {
        if self.sending == Sending::Packet {
            telling.tell(self.current, || What::Truncated(Rule("R-1")));
        }
        self.end_frame(FrameEnd::Reset, telling);
        match (self.variant.reset, self.sending) {
            (ResetEnding::OwnGap, Sending::Packet | Sending::Discarding) => {
                self.sending = Sending::Closing(Rest::AtSource);
            }
            (ResetEnding::OwnGap, Sending::Between) => {
                self.sending = Sending::Closing(Rest::Nothing);
            }
            // Reading: the clock of R-4 begins anew with FRES, also for the packet that goes on.
            (ResetEnding::NextGap, _) => self.packet_since = telling.slot,
            (ResetEnding::OwnGap, Sending::Closing(_)) => {}
        }
        self.after_reset = true;
        telling.tell(None, || What::SymbolSent(Symbol::ForwardReset));
        self.release(Release::Reset, telling);
        Cell::control(0x33)
    }

    const fn end_packet(&mut self, slot: u64) {
        self.origin = slot;
        self.set_deadline();
    }

    fn end_frame(&mut self, by: FrameEnd, telling: &mut Telling<'_>) {
        let id = self.current.take();
        if let Some(frame) = self.account.as_mut().and_then(|account| account.end(by)) {
            telling.tell(id, || What::Sent(frame));
        }
    }

    /// The run ends: tells of the frame that is being sent.
    pub fn finish(&mut self, telling: &mut Telling<'_>) {
        self.end_frame(FrameEnd::RunEnd, telling);
    }

    /// The channel has been silent for 16 periods, for want of power: who hears it is in GO.
    pub fn fell_silent(&mut self, telling: &mut Telling<'_>) {
        self.end_frame(FrameEnd::LinkOpen, telling);
        self.sending = Sending::Between;
        self.told = Command::Go;
    }

    /// The power comes back: all is as after power-up, fill from this period on. If it was away so
    /// briefly that the far end still waits for more of a packet, a GAP ends that first.
    pub fn power_up(&mut self, telling: &mut Telling<'_>) {
        self.release(Release::Power, telling);
        self.sever();
        self.fill = Command::Go;
        self.origin = telling.slot.wrapping_add(1);
        self.waiting.clear();
        self.set_deadline();
    }

    /// Where it stands.
    #[must_use]
    pub const fn sending(&self) -> Sending {
        self.sending
    }

    /// The packet that is being sent.
    #[must_use]
    pub const fn current(&self) -> Option<PacketId> {
        self.current
    }

    /// The last STOP or GO that came in for it. F-1
    #[inline]
    #[must_use]
    pub const fn heard(&self) -> Command {
        self.heard
    }

    /// Whether data may go. F-2
    #[inline]
    #[must_use]
    pub const fn flow(&self) -> Command {
        self.flow
    }
}

/// STOP or GO. C-2
pub(crate) const fn code_of(command: Command) -> Cell {
    match command {
        Command::Go => Cell::control(0x03),
        Command::Stop => Cell::control(0x0f),
    }
}

#[cfg(test)]
mod tests;
