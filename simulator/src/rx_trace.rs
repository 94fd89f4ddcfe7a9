//! Which packets come in at an input circuit: for the truth only, and seldom looked at.

use std::collections::VecDeque;

use crate::tagged_char::PacketId;
use crate::truth::{FrameEnding, FrameTracker, RuleId, TraceContext, TruthEventKind};

/// What comes in, and what stands in the slack buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct RxTrace {
    /// The packets that begin in the slack buffer.
    heads: VecDeque<PacketId>,
    /// A packet whose first byte was lost, and to what: it begins with the next byte that is kept.
    headless: Option<(PacketId, RuleId)>,
    /// The packet that is being received, if it is one.
    current: Option<PacketId>,
    account: Option<Box<FrameTracker>>,
}

/// What must be heeded of what comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceNeed {
    /// Nothing.
    Nothing,
    /// Data: it is accounted for.
    Data,
    /// Data and GAP: the first byte of a packet was lost.
    Framing,
}

impl RxTrace {
    /// Nothing has come in.
    pub(crate) fn new(account: Option<Box<FrameTracker>>) -> Self {
        Self { account, ..Self::default() }
    }

    /// What must be heeded from now on.
    pub(crate) const fn heed(&self) -> TraceNeed {
        match (&self.headless, &self.account) {
            (Some(_), _) => TraceNeed::Framing,
            (None, Some(_)) => TraceNeed::Data,
            (None, None) => TraceNeed::Nothing,
        }
    }

    /// A packet begins here; `rule` says what becomes of it if its bytes are not kept.
    pub(crate) fn begin(&mut self, id: PacketId, rule: RuleId, telling: &mut TraceContext<'_>) {
        self.lose_headless(telling);
        self.headless = Some((id, rule));
    }

    /// A byte comes in, kept or not.
    pub(crate) fn byte(&mut self, byte: u8, telling: &TraceContext<'_>) {
        if let Some(account) = &mut self.account {
            account.data(telling.slot, byte);
        }
    }

    /// A byte is kept: the packet that begins with it.
    pub(crate) fn keep(&mut self) -> Option<PacketId> {
        let (id, _) = self.headless.take()?;
        self.heads.push_back(id);
        self.current.get_or_insert(id);
        Some(id)
    }

    /// A byte is dropped by a rule, and with it the packet that begins there.
    pub(crate) fn lose(&mut self, rule: RuleId, telling: &mut TraceContext<'_>) {
        if let Some((id, _)) = self.headless.take() {
            telling.emit(Some(id), || TruthEventKind::Dropped(rule));
        }
    }

    /// Of the packet whose first byte was lost nothing more comes.
    pub(crate) fn lose_headless(&mut self, telling: &mut TraceContext<'_>) {
        if let Some((_, rule)) = self.headless {
            self.lose(rule, telling);
        }
    }

    /// The frame that comes in ends.
    pub(crate) fn end(&mut self, by: FrameEnding, telling: &mut TraceContext<'_>) {
        let id = self.current.take();
        if let Some(frame) = self.account.as_mut().and_then(|account| account.end(by)) {
            telling.emit(id, || TruthEventKind::Received(frame));
        }
    }

    /// The slack buffer is emptied: the packets that begin there end there.
    pub(crate) fn clear(&mut self, rule: RuleId, telling: &mut TraceContext<'_>) {
        for id in std::mem::take(&mut self.heads) {
            telling.emit(Some(id), || TruthEventKind::Dropped(rule));
        }
        self.lose_headless(telling);
    }

    /// The packet that begins with the cell that is taken from the slack buffer.
    pub(crate) fn take(&mut self) -> Option<PacketId> {
        self.heads.pop_front()
    }

    /// The packet that is being received.
    pub(crate) const fn current(&self) -> Option<PacketId> {
        self.current
    }

    /// Packets that begin in the slack buffer.
    pub(crate) fn count(&self) -> usize {
        self.heads.len() + usize::from(self.headless.is_some())
    }
}
