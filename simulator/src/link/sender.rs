//! The output circuit of a port: chooses the character to send in each period. F-1, F-2, F-6..F-8,
//!

use codec::framing::FrameEnd;
mod fill;
mod recovery;

use std::collections::VecDeque;

use codec::character::Symbol;

use crate::link::slack_buffer::DelayedCommands;
use crate::link::source_item::{AcceptMode, SendDecision, SourceItem};
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::link::{FillMode, FramingMode, PortParameters, ResetEnding};
use crate::truth::{FrameTracker, ReleaseCause, StopGo, TraceContext, TruthEventKind};

/// An output circuit.
#[derive(Clone, Debug)]
pub struct PortSender {
    sending: SendState,
    /// GO if data may be sent. F-2
    flow: StopGo,
    /// The last STOP or GO received, which `flow` will follow. F-1
    last_received: StopGo,
    /// Received STOP and GO before their effect. F-4
    commands: DelayedCommands,
    interpretation: u8,
    /// The last STOP or GO of the slack buffer that was sent, which fill repeats. F-8
    fill: StopGo,
    variant: SenderOptions,
    /// True after FRES until a GAP ends the reset. R-1
    after_reset: bool,
    /// Consecutive periods of IDLE, if that is the fill.
    silent_periods: u8,
    /// The last command that the far sender has received from this end.
    announced: StopGo,
    /// The period in which fill began with GAP. F-8
    origin: u64,
    /// Other symbols to send, in order. F-6
    queued_symbols: VecDeque<u8>,
    stopped_since: u64,
    packet_since: u64,
    /// The period of the next blocked-packet timeout. R-4
    deadline: u64,
    blocked: u64,
    account: Option<Box<FrameTracker>>,
    /// The packet being sent, if known.
    current: Option<PacketId>,
}

/// Variants that the rules allow.
#[derive(Clone, Copy, Debug)]
struct SenderOptions {
    reset: ResetEnding,
    fill: FillMode,
    framing: FramingMode,
}

/// State of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendState {
    /// Between packets.
    Between,
    /// Inside a packet.
    Packet,
    /// Between packets, while the source discards the rest of a packet.
    Discarding,
    /// About to send GAP.
    Closing(PacketRest),
}

/// Rest of a packet that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketRest {
    /// None.
    Nothing,
    /// The source still holds it.
    AtSource,
}

impl PortSender {
    /// An output circuit after power-up: in GO, between packets. F-2
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

    /// Handles a received STOP or GO. F-1
    pub fn command(&mut self, command: StopGo, trace: &mut TraceContext<'_>) {
        // Reading: a STOP said again does not start the clock of R-4 again.
        if command == self.last_received {
            return;
        }
        self.last_received = command;
        self.commands.push(command, self.interpretation);
        trace.emit(None, || match command {
            StopGo::Stop => TruthEventKind::SenderStopped,
            StopGo::Go => TruthEventKind::SenderResumed(ReleaseCause::Go),
        });
    }

    /// Queues a symbol. F-6
    pub fn queue_symbol(&mut self, symbol: Symbol) {
        if let Some(code) = symbol.code()
            && !self.queued_symbols.contains(&code)
        {
            self.queued_symbols.push_back(code);
        }
    }

    /// Consecutive periods of IDLE sent. F-8
    pub(crate) const fn silent_periods(&self) -> u8 {
        self.silent_periods
    }

    /// The period of the next blocked-packet timeout. R-4
    pub(crate) const fn deadline(&self) -> u64 {
        self.deadline
    }

    /// The decision of a period. `due` is the STOP or GO of the port's slack buffer. F-6, R-4
    pub fn decide(&mut self, due: Option<StopGo>, trace: &mut TraceContext<'_>) -> SendDecision {
        self.interpret(trace.slot);
        self.decide_now(due, trace)
    }

    /// Lets the STOP or GO of a period take effect. F-4
    pub(crate) fn interpret(&mut self, slot: u64) {
        if let Some(command) = self.commands.pop() {
            self.apply(command, slot);
        }
    }

    /// True if it sends a symbol, or ends a packet, whatever its source has.
    pub(crate) fn is_urgent(&self, slot: u64) -> bool {
        matches!(self.sending, SendState::Closing(_))
            || slot >= self.deadline
            || !self.queued_symbols.is_empty()
    }

    /// The decision of a period, after [`Self::interpret`].
    pub(crate) fn decide_now(
        &mut self,
        due: Option<StopGo>,
        trace: &mut TraceContext<'_>,
    ) -> SendDecision {
        let slot = trace.slot;
        if let Some(command) = due {
            self.fill = command;
            // Told though it says nothing new: it takes the place of what else would go. F-6
            if command == self.announced {
                trace.emit(None, || TruthEventKind::Commanded(command));
            }
            return SendDecision::Send(command_code(command));
        }
        if let SendState::Closing(rest) = self.sending {
            self.sending = match rest {
                PacketRest::Nothing => SendState::Between,
                PacketRest::AtSource => SendState::Discarding,
            };
            self.end_packet(slot);
            self.end_frame(FrameEnd::Gap, trace);
            return SendDecision::Send(TaggedChar::END);
        }
        if slot >= self.deadline {
            return self.escape(trace);
        }
        if let Some(code) = self.queued_symbols.pop_front() {
            return SendDecision::Send(self.symbol(code, trace));
        }
        SendDecision::Request(self.accept_mode())
    }

    /// The items it accepts from its source.
    pub(crate) const fn accept_mode(&self) -> AcceptMode {
        match (self.sending, self.flow, self.variant.framing) {
            (SendState::Discarding, ..) => AcceptMode::Discard,
            (_, StopGo::Stop, FramingMode::Free) => AcceptMode::Framing,
            (_, StopGo::Stop, FramingMode::Waits) => AcceptMode::Nothing,
            (_, StopGo::Go, _) => AcceptMode::All,
        }
    }

    /// Sends the item of the source, or fill. F-6, F-8
    pub fn send(&mut self, item: SourceItem, trace: &mut TraceContext<'_>) -> TaggedChar {
        let slot = trace.slot;
        if self.sending == SendState::Discarding {
            if item == SourceItem::Mark {
                self.sending = SendState::Between;
            }
            return self.fill_char(slot);
        }
        match item {
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
                self.end_frame(FrameEnd::Gap, trace);
                TaggedChar::END
            }
            SourceItem::Symbol(code) => {
                let plain = [Symbol::Idle, Symbol::Go, Symbol::Stop];
                if let codec::DecodedCode::Exact(symbol) = codec::character::decode_control(code)
                    && !plain.contains(&symbol)
                {
                    trace.emit(None, || TruthEventKind::SymbolSent(symbol));
                }
                TaggedChar::control(code)
            }
        }
    }

    /// Records a character sent, from whatever source.
    #[inline]
    pub fn note_sent(&mut self, cell: TaggedChar, trace: &mut TraceContext<'_>) {
        let idle = self.is_uneven() && cell.bits() == TaggedChar::IDLE.bits();
        self.silent_periods = if idle { self.silent_periods.saturating_add(1) } else { 0 };
        let command = match cell.character() {
            codec::Character::Control(0x03) => StopGo::Go,
            codec::Character::Control(0x0f) => StopGo::Stop,
            codec::Character::GAP => {
                if std::mem::take(&mut self.after_reset) {
                    trace.emit(None, || TruthEventKind::ResetClosed);
                }
                return;
            }
            codec::Character::Control(_) | codec::Character::Data(_) => return,
        };
        if self.announced != command {
            self.announced = command;
            trace.emit(None, || TruthEventKind::Commanded(command));
        }
    }

    /// Lets STOP or GO take effect. F-2
    const fn apply(&mut self, command: StopGo, slot: u64) {
        self.flow = command;
        self.stopped_since = slot;
        self.set_deadline();
    }

    /// Updates the blocked-packet timeout. R-4
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

    fn symbol(&mut self, code: u8, trace: &mut TraceContext<'_>) -> TaggedChar {
        if Symbol::ForwardReset.code() == Some(code) {
            return self.reset(trace);
        }
        if let codec::DecodedCode::Exact(symbol) = codec::character::decode_control(code) {
            trace.emit(None, || TruthEventKind::SymbolSent(symbol));
        }
        TaggedChar::control(code)
    }

    const fn end_packet(&mut self, slot: u64) {
        self.origin = slot;
        self.set_deadline();
    }

    fn end_frame(&mut self, by: FrameEnd, trace: &mut TraceContext<'_>) {
        let id = self.current.take();
        if let Some(frame) = self.account.as_mut().and_then(|account| account.end(by)) {
            trace.emit(id, || TruthEventKind::Sent(frame));
        }
    }

    /// Ends the frame being sent at the end of the run.
    pub fn finish(&mut self, trace: &mut TraceContext<'_>) {
        self.end_frame(FrameEnd::CaptureEnd, trace);
    }

    pub(crate) const fn sending(&self) -> SendState {
        self.sending
    }

    /// The packet being sent.
    pub const fn current(&self) -> Option<PacketId> {
        self.current
    }

    /// The last STOP or GO received. F-1
    #[inline]
    pub const fn last_received(&self) -> StopGo {
        self.last_received
    }

    /// The last STOP or GO of the slack buffer that was sent. F-8
    pub(crate) const fn last_command(&self) -> TaggedChar {
        command_code(self.fill)
    }

    /// GO if data may be sent. F-2
    #[inline]
    pub const fn flow(&self) -> StopGo {
        self.flow
    }
}

/// The control code of STOP or GO. C-2
pub(crate) const fn command_code(command: StopGo) -> TaggedChar {
    match command {
        StopGo::Go => TaggedChar::control(0x03),
        StopGo::Stop => TaggedChar::control(0x0f),
    }
}

#[cfg(test)]
mod tests;
