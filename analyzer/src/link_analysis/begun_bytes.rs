//! Bytes of the packet that passes, up to a stop of its sender: they tell what has left the buffer at the far end. F-3

use codec::time::Tick;

use crate::event::{ChannelEvent, LinkEvent};

/// Bytes of a packet: those of its last run, from a character on, and those before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BegunBytes {
    before: u64,
    from: Tick,
    run: u64,
}

impl BegunBytes {
    /// Counts the bytes of an event; returns those up to a stop of the sender.
    pub(super) fn observe(&mut self, at: Tick, event: &ChannelEvent) -> Option<ChannelEvent> {
        if let ChannelEvent::Data(length) = event {
            *self = Self { before: self.before + self.run, from: at, run: *length };
        } else if let ChannelEvent::Head(_) | ChannelEvent::Packet(_) = event {
            *self = Self::default();
        } else if let ChannelEvent::Link(LinkEvent::SenderStopped) = event {
            let run = self.run.min(at.since(self.from).0 + 1);
            return Some(ChannelEvent::Data(self.before + run));
        }
        None
    }
}
