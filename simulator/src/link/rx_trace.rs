//! Packets at an input circuit, for the truth only.

use codec::framing::FrameEnd;
use std::collections::VecDeque;

use crate::link::tagged_char::{PacketId, TaggedChar, low_bytes};
use crate::truth::{FrameTracker, RuleId, TraceContext, TruthEventKind};

/// The packets being received and those in the slack buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct RxTrace {
    /// The packets that begin in the slack buffer.
    heads: VecDeque<PacketId>,
    /// A packet whose first byte was lost, and the rule by which; it begins with the next byte
    /// kept.
    headless: Option<(PacketId, RuleId)>,
    /// The packet being received, if known.
    current: Option<PacketId>,
    account: Option<Box<FrameTracker>>,
}

/// The received characters that the trace needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceNeed {
    Nothing,
    /// Data, for the frame tracker.
    Data,
    /// Data and GAP, since the first byte of a packet was lost.
    Framing,
}

impl RxTrace {
    pub(crate) fn new(account: Option<Box<FrameTracker>>) -> Self {
        Self { account, ..Self::default() }
    }

    pub(crate) const fn trace_need(&self) -> TraceNeed {
        match (&self.headless, &self.account) {
            (Some(_), _) => TraceNeed::Framing,
            (None, Some(_)) => TraceNeed::Data,
            (None, None) => TraceNeed::Nothing,
        }
    }

    /// Begins a packet; `rule` drops it if none of its bytes is kept.
    pub(crate) fn begin(&mut self, id: PacketId, rule: RuleId, trace: &mut TraceContext<'_>) {
        self.lose_headless(trace);
        self.headless = Some((id, rule));
    }

    /// Records a byte, kept or not.
    pub(crate) fn byte(&mut self, byte: u8, trace: &TraceContext<'_>) {
        if let Some(account) = &mut self.account {
            account.data(trace.slot, byte);
        }
    }

    /// Records bytes of consecutive periods from `first` on.
    pub(crate) fn bytes(&mut self, first: u64, cells: &[TaggedChar]) {
        if let Some(account) = &mut self.account {
            account.run(first, low_bytes(cells));
        }
    }

    /// Records that a byte is kept; returns the packet that begins with it.
    pub(crate) fn keep(&mut self) -> Option<PacketId> {
        let (id, _) = self.headless.take()?;
        self.heads.push_back(id);
        self.current.get_or_insert(id);
        Some(id)
    }

    /// Records that a byte is dropped, and with it the packet that begins there.
    pub(crate) fn lose(&mut self, rule: RuleId, trace: &mut TraceContext<'_>) {
        if let Some((id, _)) = self.headless.take() {
            trace.drop_packet(Some(id), rule);
        }
    }

    /// Drops the packet that has lost its first byte, since it has no other.
    pub(crate) fn lose_headless(&mut self, trace: &mut TraceContext<'_>) {
        if let Some((_, rule)) = self.headless {
            self.lose(rule, trace);
        }
    }

    /// Ends the frame being received.
    pub(crate) fn end(&mut self, by: FrameEnd, trace: &mut TraceContext<'_>) {
        let id = self.current.take();
        if let Some(frame) = self.account.as_mut().and_then(|account| account.end(by)) {
            trace.emit(id, || TruthEventKind::Received(frame));
        }
    }

    /// Drops the packets in the slack buffer.
    pub(crate) fn clear(&mut self, rule: RuleId, trace: &mut TraceContext<'_>) {
        for id in std::mem::take(&mut self.heads) {
            trace.drop_packet(Some(id), rule);
        }
        self.lose_headless(trace);
    }

    /// The packet that begins with the character taken from the slack buffer.
    pub(crate) fn take(&mut self) -> Option<PacketId> {
        self.heads.pop_front()
    }

    pub(crate) const fn current(&self) -> Option<PacketId> {
        self.current
    }

    pub(crate) fn count(&self) -> usize {
        self.heads.len() + usize::from(self.headless.is_some())
    }
}
