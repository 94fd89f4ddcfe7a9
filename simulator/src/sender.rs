//! The output circuit of a port: what it sends in each period. F-1, F-2, F-6..F-8, R-1, R-4

use std::collections::VecDeque;

use codec::character::Symbol;

use crate::link::{FillMode, FramingMode, PortParameters, ResetEnding};
use crate::slack::DelayedCommands;
use crate::source_item::{AcceptMode, SendDecision, SourceItem};
use crate::tagged_char::{PacketId, TaggedChar};
use crate::truth::{
    BlockedEscape, FrameEnding, FrameTracker, ReleaseCause, RuleId, StopGo, TraceContext,
    TruthEventKind,
};

/// An output circuit.
#[derive(Clone, Debug)]
pub struct PortSender {
    sending: SendState,
    /// Whether data may go. F-2
    flow: StopGo,
    /// The last STOP or GO that came in for it: what `flow` will be. F-1
    last_received: StopGo,
    /// STOP and GO that came in, being interpreted. F-4
    commands: DelayedCommands,
    interpretation: u8,
    /// The last STOP or GO that was commanded and sent: what fill repeats. F-8
    fill: StopGo,
    variant: SenderOptions,
    /// Whether no GAP has ended its reset yet. R-1
    after_reset: bool,
    /// IDLE in turn up to now, if it fills with it.
    silent_periods: u8,
    /// What the far sender has been told last, as far as this end knows.
    announced: StopGo,
    /// The channel's period in which fill began with GAP. F-8
    origin: u64,
    /// Other symbols to be sent, in order. F-6
    queued_symbols: VecDeque<u8>,
    stopped_since: u64,
    packet_since: u64,
    /// When it will have been stopped, or been sending one packet, for too long. R-4
    deadline: u64,
    blocked: u64,
    account: Option<Box<FrameTracker>>,
    /// The packet that is being sent, if it is one.
    current: Option<PacketId>,
}

/// What the rules leave to a sender.
#[derive(Clone, Copy, Debug)]
struct SenderOptions {
    reset: ResetEnding,
    fill: FillMode,
    framing: FramingMode,
}

/// Where a sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendState {
    /// Between packets.
    Between,
    /// Inside a packet.
    Packet,
    /// Between packets, but its source must first give up the rest of a packet.
    Discarding,
    /// GAP comes next, then this.
    Closing(PacketRest),
}

/// What remains of a packet that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketRest {
    /// Nothing.
    Nothing,
    /// Its source still holds some of it.
    AtSource,
}

impl PortSender {
    /// An output circuit after power-up: in GO, between packets. F-2
    #[must_use]
    pub fn new(port: &PortParameters, account: Option<Box<FrameTracker>>) -> Self {
        Self {
            sending: SendState::Between,
            flow: StopGo::Go,
            last_received: StopGo::Go,
            commands: DelayedCommands::default(),
            interpretation: port.interpretation,
            fill: StopGo::Go,
            announced: StopGo::Go,
            // Power-up counts as after a GAP: GO comes first.
            origin: 1,
            queued_symbols: VecDeque::new(),
            stopped_since: 0,
            packet_since: 0,
            deadline: u64::MAX,
            blocked: port.blocked.0,
            variant: SenderOptions { reset: port.reset, fill: port.fill, framing: port.framing },
            after_reset: false,
            silent_periods: 0,
            account,
            current: None,
        }
    }

    /// Takes a STOP or GO that has come in. F-1
    pub fn command(&mut self, command: StopGo, telling: &mut TraceContext<'_>) {
        // Reading: a STOP said again does not start the clock of R-4 again.
        if command == self.last_received {
            return;
        }
        self.last_received = command;
        self.commands.push(command, self.interpretation);
        telling.emit(None, || match command {
            StopGo::Stop => TruthEventKind::SenderStopped,
            StopGo::Go => TruthEventKind::SenderResumed(ReleaseCause::Go),
        });
    }

    /// It is in GO, whatever came in before. F-7, R-1
    pub fn release(&mut self, by: ReleaseCause, telling: &mut TraceContext<'_>) {
        if self.last_received == StopGo::Stop {
            telling.emit(None, || TruthEventKind::SenderResumed(by));
        }
        self.last_received = StopGo::Go;
        self.flow = StopGo::Go;
        self.commands.clear();
        self.set_deadline();
    }

    /// Has a symbol sent when its turn comes. F-6
    pub fn queue_symbol(&mut self, symbol: Symbol) {
        if let Some(code) = symbol.code()
            && !self.queued_symbols.contains(&code)
        {
            self.queued_symbols.push_back(code);
        }
    }

    /// Its source is gone: what has been sent of a packet ends with a GAP. R-3
    pub fn sever(&mut self) {
        self.sending = match self.sending {
            SendState::Packet | SendState::Closing(_) => SendState::Closing(PacketRest::Nothing),
            SendState::Between | SendState::Discarding => SendState::Between,
        };
        self.set_deadline();
    }

    /// FRES has come in: the far sender goes on of itself. R-1
    pub const fn far_reset(&mut self) {
        self.announced = StopGo::Go;
    }

    /// The fill of a period, if nothing else can be sent in it or comes of it. F-8
    #[inline]
    #[must_use]
    pub fn idle(&self, slot: u64) -> Option<TaggedChar> {
        let calm = self.sending == SendState::Between
            && self.flow == StopGo::Go
            && self.commands.is_empty()
            && self.announced == self.fill
            && self.queued_symbols.is_empty()
            && !self.after_reset
            && !self.is_sparse()
            && slot < self.deadline;
        calm.then(|| self.fill_char(slot))
    }

    /// Whether it is inside a packet, and a byte of it is all that it may send now.
    #[inline]
    #[must_use]
    pub fn streams(&self, slot: u64) -> bool {
        self.sending == SendState::Packet
            && self.flow == StopGo::Go
            && self.commands.is_empty()
            && self.queued_symbols.is_empty()
            && self.account.is_none()
            && !self.is_sparse()
            && slot < self.deadline
    }

    /// What it sends from now on, in its even and in its odd periods, as long as nothing comes in
    /// and its source has nothing for it.
    #[must_use]
    pub fn steady_pattern(&self, slot: u64) -> Option<[TaggedChar; 2]> {
        let closing = matches!(self.sending, SendState::Closing(_));
        let calm = !closing
            && self.commands.is_empty()
            && self.announced == self.fill
            && self.queued_symbols.is_empty()
            && !self.after_reset
            && !self.is_sparse()
            && slot < self.deadline;
        calm.then(|| [self.fill_char(0), self.fill_char(1)])
    }

    /// Whether it fills with IDLE: all that it sends is looked at then.
    #[inline]
    const fn is_sparse(&self) -> bool {
        matches!(self.variant.fill, FillMode::Idle(_))
    }

    /// Periods up to now without a sign of life. F-8
    #[must_use]
    pub const fn silent_periods(&self) -> u8 {
        self.silent_periods
    }

    /// The period of the channel in which it will have been stopped, or been sending one packet, for
    /// too long. R-4
    #[must_use]
    pub const fn deadline(&self) -> u64 {
        self.deadline
    }

    /// What it does in a period. `due` is the STOP or GO of its port's slack buffer. F-6, R-4
    pub fn decide(&mut self, due: Option<StopGo>, telling: &mut TraceContext<'_>) -> SendDecision {
        let slot = telling.slot;
        if let Some(command) = self.commands.pop() {
            self.apply(command, slot);
        }
        if let Some(command) = due {
            self.fill = command;
            // Told though it says nothing new: it takes the place of what else would go. F-6
            if command == self.announced {
                telling.emit(None, || TruthEventKind::Commanded(command));
            }
            return SendDecision::Send(code_of(command));
        }
        if let SendState::Closing(rest) = self.sending {
            self.sending = match rest {
                PacketRest::Nothing => SendState::Between,
                PacketRest::AtSource => SendState::Discarding,
            };
            self.end_packet(slot);
            self.end_frame(FrameEnding::Gap, telling);
            return SendDecision::Send(TaggedChar::END);
        }
        if slot >= self.deadline {
            return self.escape(telling);
        }
        if let Some(code) = self.queued_symbols.pop_front() {
            return SendDecision::Send(self.symbol(code, telling));
        }
        SendDecision::Ask(self.accept_mode())
    }

    /// What it asks its source for.
    #[must_use]
    pub const fn accept_mode(&self) -> AcceptMode {
        match (self.sending, self.flow, self.variant.framing) {
            (SendState::Discarding, ..) => AcceptMode::Discard,
            (_, StopGo::Stop, FramingMode::Free) => AcceptMode::Framing,
            (_, StopGo::Stop, FramingMode::Waits) => AcceptMode::Nothing,
            (_, StopGo::Go, _) => AcceptMode::All,
        }
    }

    /// Sends what the source had. F-6, F-8
    pub fn send(&mut self, supply: SourceItem, telling: &mut TraceContext<'_>) -> TaggedChar {
        let slot = telling.slot;
        if self.sending == SendState::Discarding {
            if supply == SourceItem::Mark {
                self.sending = SendState::Between;
            }
            return self.fill_char(slot);
        }
        match supply {
            SourceItem::Nothing => self.fill_char(slot),
            SourceItem::Data(cell, head) => {
                if self.sending == SendState::Between {
                    self.sending = SendState::Packet;
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
            SourceItem::Mark => {
                self.sending = SendState::Between;
                self.end_packet(slot);
                self.end_frame(FrameEnding::Gap, telling);
                TaggedChar::END
            }
            SourceItem::Symbol(code) => {
                let plain = [Symbol::Idle, Symbol::Go, Symbol::Stop];
                if let codec::DecodedCode::Exact(symbol) = codec::character::decode_control(code)
                    && !plain.contains(&symbol)
                {
                    telling.emit(None, || TruthEventKind::SymbolSent(symbol));
                }
                TaggedChar::control(code)
            }
        }
    }

    /// Notes what goes out, whoever made it: the far sender hears it.
    #[inline]
    pub fn note_sent(&mut self, cell: TaggedChar, telling: &mut TraceContext<'_>) {
        let idle = self.is_sparse() && cell.bits() == TaggedChar::IDLE.bits();
        self.silent_periods = if idle { self.silent_periods.saturating_add(1) } else { 0 };
        let command = match cell.character() {
            codec::Character::Control(0x03) => StopGo::Go,
            codec::Character::Control(0x0f) => StopGo::Stop,
            codec::Character::GAP => {
                if std::mem::take(&mut self.after_reset) {
                    telling.emit(None, || TruthEventKind::ResetClosed);
                }
                return;
            }
            codec::Character::Control(_) | codec::Character::Data(_) => return,
        };
        if self.announced != command {
            self.announced = command;
            telling.emit(None, || TruthEventKind::Commanded(command));
        }
    }

    /// The fill of a period. F-8
    #[inline]
    fn fill_char(&self, slot: u64) -> TaggedChar {
        let inside = self.sending == SendState::Packet;
        let since = slot.wrapping_sub(self.origin);
        match self.variant.fill {
            FillMode::Chip if !inside && since & 1 == 0 => TaggedChar::GAP,
            FillMode::Gaps if !inside => TaggedChar::GAP,
            FillMode::Idle(every) if !since.wrapping_add(1).is_multiple_of(every.into()) => {
                TaggedChar::IDLE
            }
            FillMode::Chip | FillMode::Gaps | FillMode::Commands | FillMode::Idle(_) => {
                code_of(self.fill)
            }
        }
    }

    /// STOP or GO takes effect. F-2
    const fn apply(&mut self, command: StopGo, slot: u64) {
        self.flow = command;
        self.stopped_since = slot;
        self.set_deadline();
    }

    ///
    const fn set_deadline(&mut self) {
        let stopped = match self.flow {
            StopGo::Stop => self.stopped_since.saturating_add(self.blocked),
            StopGo::Go => u64::MAX,
        };
        let packet = match self.sending {
            SendState::Packet => self.packet_since.saturating_add(self.blocked),
            SendState::Between | SendState::Discarding | SendState::Closing(_) => u64::MAX,
        };
        self.deadline = if stopped < packet { stopped } else { packet };
    }

    ///
    fn escape(&mut self, telling: &mut TraceContext<'_>) -> SendDecision {
        match self.flow {
            StopGo::Stop => {
                telling.emit(self.current, || TruthEventKind::Blocked(BlockedEscape::Reset));
                SendDecision::Send(self.reset(telling))
            }
            StopGo::Go => {
                telling.emit(self.current, || TruthEventKind::Blocked(BlockedEscape::Gap));
                telling.emit(self.current, || TruthEventKind::Truncated(RuleId("R-4")));
                self.sending = SendState::Discarding;
                self.end_packet(telling.slot);
                self.end_frame(FrameEnding::Gap, telling);
                SendDecision::Send(TaggedChar::END)
            }
        }
    }

    fn symbol(&mut self, code: u8, telling: &mut TraceContext<'_>) -> TaggedChar {
        if Symbol::ForwardReset.code() == Some(code) {
            return self.reset(telling);
        }
        if let codec::DecodedCode::Exact(symbol) = codec::character::decode_control(code) {
            telling.emit(None, || TruthEventKind::SymbolSent(symbol));
        }
        TaggedChar::control(code)
    }

    ///
    fn reset(&mut self, telling: &mut TraceContext<'_>) -> TaggedChar {
        if self.sending == SendState::Packet {
            telling.emit(self.current, || TruthEventKind::Truncated(RuleId("R-1")));
        }
        self.end_frame(FrameEnding::Reset, telling);
        match (self.variant.reset, self.sending) {
            (ResetEnding::OwnGap, SendState::Packet | SendState::Discarding) => {
                self.sending = SendState::Closing(PacketRest::AtSource);
            }
            (ResetEnding::OwnGap, SendState::Between) => {
                self.sending = SendState::Closing(PacketRest::Nothing);
            }
            // Reading: the clock of R-4 begins anew with FRES, also for the packet that goes on.
            (ResetEnding::NextGap, _) => self.packet_since = telling.slot,
            (ResetEnding::OwnGap, SendState::Closing(_)) => {}
        }
        self.after_reset = true;
        telling.emit(None, || TruthEventKind::SymbolSent(Symbol::ForwardReset));
        self.release(ReleaseCause::Reset, telling);
        TaggedChar::control(0x33)
    }

    const fn end_packet(&mut self, slot: u64) {
        self.origin = slot;
        self.set_deadline();
    }

    fn end_frame(&mut self, by: FrameEnding, telling: &mut TraceContext<'_>) {
        let id = self.current.take();
        if let Some(frame) = self.account.as_mut().and_then(|account| account.end(by)) {
            telling.emit(id, || TruthEventKind::Sent(frame));
        }
    }

    /// The run ends: tells of the frame that is being sent.
    pub fn finish(&mut self, telling: &mut TraceContext<'_>) {
        self.end_frame(FrameEnding::RunEnd, telling);
    }

    /// The channel has been silent for 16 periods, for want of power: who hears it is in GO.
    pub fn fell_silent(&mut self, telling: &mut TraceContext<'_>) {
        self.end_frame(FrameEnding::LinkOpen, telling);
        self.sending = SendState::Between;
        self.announced = StopGo::Go;
    }

    /// The power comes back: all is as after power-up, fill from this period on. If it was away so
    /// briefly that the far end still waits for more of a packet, a GAP ends that first.
    pub fn power_up(&mut self, telling: &mut TraceContext<'_>) {
        self.release(ReleaseCause::Power, telling);
        self.sever();
        self.fill = StopGo::Go;
        self.origin = telling.slot.wrapping_add(1);
        self.queued_symbols.clear();
        self.set_deadline();
    }

    /// Where it stands.
    #[must_use]
    pub const fn sending(&self) -> SendState {
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
    pub const fn last_received(&self) -> StopGo {
        self.last_received
    }

    /// Whether data may go. F-2
    #[inline]
    #[must_use]
    pub const fn flow(&self) -> StopGo {
        self.flow
    }
}

/// STOP or GO. C-2
pub(crate) const fn code_of(command: StopGo) -> TaggedChar {
    match command {
        StopGo::Go => TaggedChar::control(0x03),
        StopGo::Stop => TaggedChar::control(0x0f),
    }
}

#[cfg(test)]
mod tests;
