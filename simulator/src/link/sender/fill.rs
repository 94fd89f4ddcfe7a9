//! Fill of an output circuit, and periods in which nothing else can be sent. F-8

use super::{PortSender, SendState, command_code};
use crate::link::FillMode;
use crate::link::tagged_char::{TaggedChar, low_bytes};
use crate::truth::StopGo;

impl PortSender {
    /// The fill of a period in which nothing else happens. F-8
    #[inline]
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

    /// True if it is inside a packet, and nothing but a byte can be sent.
    #[inline]
    pub fn streams(&self, slot: u64) -> bool {
        self.account.is_none() && self.goes_on(slot)
    }

    /// True if it is inside a packet and sends its bytes as long as its source has them, up to its
    /// deadline.
    #[inline]
    pub(crate) fn goes_on(&self, slot: u64) -> bool {
        self.sending == SendState::Packet
            && self.flow == StopGo::Go
            && self.commands.is_empty()
            && self.queued_symbols.is_empty()
            && !self.is_sparse()
            && slot < self.deadline
    }

    /// Records bytes sent within a packet in consecutive periods from `first` on.
    pub(crate) fn sent_bytes(&mut self, first: u64, cells: &[TaggedChar]) {
        if let Some(account) = &mut self.account
            && !self.after_reset
        {
            account.run(first, low_bytes(cells));
        }
    }

    /// The characters of its even and odd periods from now on, as long as it receives nothing and
    /// its source has nothing.
    pub(crate) fn steady_pattern(&self, slot: u64) -> Option<[TaggedChar; 2]> {
        self.is_steady(slot).then(|| [self.fill_char(0), self.fill_char(1)])
    }

    /// True if it sends nothing but fill from now on, as long as it receives nothing and its source has
    /// nothing.
    pub(crate) fn is_steady(&self, slot: u64) -> bool {
        let closing = matches!(self.sending, SendState::Closing(_));
        !closing
            && self.commands.is_empty()
            && self.announced == self.fill
            && self.queued_symbols.is_empty()
            && !self.after_reset
            && !self.is_uneven()
            && slot < self.deadline
    }

    /// True if the fill is IDLE, so that every period in a packet is processed.
    #[inline]
    pub(super) const fn is_sparse(&self) -> bool {
        matches!(self.variant.fill, FillMode::Idle(_))
    }

    /// True if the fill is IDLE with other characters in it, so that every period is processed.
    #[inline]
    pub(super) const fn is_uneven(&self) -> bool {
        matches!(self.variant.fill, FillMode::Idle(1..))
    }

    /// The fill of a period. F-8
    #[inline]
    pub(super) fn fill_char(&self, slot: u64) -> TaggedChar {
        let inside = self.sending == SendState::Packet;
        let since = slot.wrapping_sub(self.origin);
        match self.variant.fill {
            FillMode::Idle(0) => TaggedChar::IDLE,
            FillMode::Chip if !inside && since & 1 == 0 => TaggedChar::GAP,
            FillMode::Gaps if !inside => TaggedChar::GAP,
            FillMode::Idle(every) if !since.wrapping_add(1).is_multiple_of(every.into()) => {
                TaggedChar::IDLE
            }
            FillMode::Chip | FillMode::Gaps | FillMode::Commands | FillMode::Idle(_) => {
                command_code(self.fill)
            }
        }
    }
}
