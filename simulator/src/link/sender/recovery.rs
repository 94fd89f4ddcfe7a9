//! Recovery of an output circuit: resets, timeouts, loss and return of power. F-7, R-1, R-3, R-4

use codec::character::Symbol;
use codec::framing::FrameEnd;

use super::{PacketRest, PortSender, SendState};
use crate::link::ResetEnding;
use crate::link::source_item::SendDecision;
use crate::link::tagged_char::TaggedChar;
use crate::truth::{BlockedEscape, ReleaseCause, RuleId, StopGo, TraceContext, TruthEventKind};

impl PortSender {
    /// Returns to GO at once. F-7, R-1
    pub fn release(&mut self, by: ReleaseCause, trace: &mut TraceContext<'_>) {
        if self.last_received == StopGo::Stop {
            trace.emit(None, || TruthEventKind::SenderResumed(by));
        }
        self.last_received = StopGo::Go;
        self.flow = StopGo::Go;
        self.commands.clear();
        self.set_deadline();
    }

    /// Ends the packet with a GAP, since its source is gone. R-3
    pub fn sever(&mut self) {
        self.sending = match self.sending {
            SendState::Packet | SendState::Closing(_) => SendState::Closing(PacketRest::Nothing),
            SendState::Between | SendState::Discarding => SendState::Between,
        };
        self.set_deadline();
    }

    /// Handles the far sender's FRES, after which that is in GO. R-1
    pub const fn far_reset(&mut self) {
        self.announced = StopGo::Go;
    }

    /// Handles the blocked-packet timeout. R-4
    pub(super) fn escape(&mut self, trace: &mut TraceContext<'_>) -> SendDecision {
        match self.flow {
            StopGo::Stop => {
                trace.emit(self.current, || TruthEventKind::Blocked(BlockedEscape::Reset));
                SendDecision::Send(self.reset(trace))
            }
            StopGo::Go => {
                trace.emit(self.current, || TruthEventKind::Blocked(BlockedEscape::Gap));
                trace.emit(self.current, || TruthEventKind::Truncated(RuleId("R-4")));
                self.sending = SendState::Discarding;
                self.end_packet(trace.slot);
                self.end_frame(FrameEnd::Gap, trace);
                SendDecision::Send(TaggedChar::END)
            }
        }
    }

    /// Sends FRES. R-1
    pub(super) fn reset(&mut self, trace: &mut TraceContext<'_>) -> TaggedChar {
        if self.sending == SendState::Packet {
            trace.emit(self.current, || TruthEventKind::Truncated(RuleId("R-1")));
        }
        self.end_frame(FrameEnd::Reset, trace);
        match (self.variant.reset, self.sending) {
            (ResetEnding::OwnGap, SendState::Packet | SendState::Discarding) => {
                self.sending = SendState::Closing(PacketRest::AtSource);
            }
            (ResetEnding::OwnGap, SendState::Between) => {
                self.sending = SendState::Closing(PacketRest::Nothing);
            }
            // Reading: the clock of R-4 begins anew with FRES, also for the packet that goes on.
            (ResetEnding::NextGap, _) => self.packet_since = trace.slot,
            (ResetEnding::OwnGap, SendState::Closing(_)) => {}
        }
        self.after_reset = true;
        trace.emit(None, || TruthEventKind::SymbolSent(Symbol::ForwardReset));
        self.release(ReleaseCause::Reset, trace);
        TaggedChar::control(0x33)
    }

    /// Records 16 silent periods without power, after which the far sender is in GO.
    pub(crate) fn fell_silent(&mut self, trace: &mut TraceContext<'_>) {
        self.end_frame(FrameEnd::OpenLink, trace);
        self.sending = SendState::Between;
        self.announced = StopGo::Go;
    }

    /// Restarts after the return of power. If the far end has not seen a timeout, a GAP first ends
    /// the packet it was receiving.
    pub(crate) fn power_up(&mut self, trace: &mut TraceContext<'_>) {
        self.release(ReleaseCause::Power, trace);
        self.sever();
        self.fill = StopGo::Go;
        self.origin = trace.slot.wrapping_add(1);
        self.queued_symbols.clear();
        self.set_deadline();
    }
}
