//! Host memory that DMA goes to, and the driver's work on pages of it that have no mapping. T-6, T-15

use std::collections::VecDeque;

use codec::transport::{MessageForm, NackReason};

use super::HostMessaging;
use super::endpoint_queues::EndpointQueues;
use super::message::SharedMessage;

/// Bytes of a page, and of a message in a staging area at most. *Chosen*: a page of an `UltraSPARC`.
const PAGE: u32 = 8192;

/// A page of an endpoint's host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPage {
    /// Of its staging area: a place for a message.
    Staging(usize),
    /// Of its segment.
    Segment(u32),
}

/// Pages that are pinned and have a DMA mapping, the oldest first, and until when each stays at least.
pub(super) type PageMappings = VecDeque<(HostPage, u64)>;

impl EndpointQueues {
    /// A page that a message's bytes go to and that has no mapping, if all have none by themselves.
    fn unmapped(&self, letter: &SharedMessage) -> Option<HostPage> {
        self.parameters.mappings?;
        let pages = match letter.form {
            MessageForm::Short => return None,
            MessageForm::Medium => [HostPage::Staging(self.staged_or_kept()); 2],
            MessageForm::Bulk { offset, .. } => {
                let last = u32::try_from(letter.bytes.len()).unwrap_or(PAGE).saturating_sub(1);
                [offset, offset.saturating_add(last)].map(|at| HostPage::Segment(at / PAGE))
            }
        };
        pages.into_iter().find(|page| !self.mapped.iter().any(|(mapped, _)| mapped == page))
    }

    /// When another page can be mapped: there is a mapping left, or the oldest one has stayed.
    pub(super) fn mapping_due(&self) -> u64 {
        let most = usize::from(self.parameters.mappings.unwrap_or(u16::MAX));
        let oldest = self.mapped.front().filter(|_| self.mapped.len() >= most);
        oldest.map_or(0, |(_, stays)| *stays)
    }

    /// A page has a mapping now, in place of the oldest if there are too many.
    pub(super) fn map(&mut self, page: HostPage, stays: u64) {
        self.mapped.push_back((page, stays));
        if self.mapped.len() > usize::from(self.parameters.mappings.unwrap_or(u16::MAX)) {
            self.mapped.pop_front();
        }
    }
}

impl HostMessaging {
    /// Why the NIC cannot move a message to the host now, if it cannot: no DMA resource is free, or a
    /// page has no mapping, which starts the driver's work on it. T-6
    pub(super) fn transfer_refusal(
        &mut self,
        place: usize,
        letter: &SharedMessage,
    ) -> Option<NackReason> {
        let is_free = |dma: u8| self.bus.incoming() < usize::from(dma);
        if !self.parameters.dma.is_none_or(is_free) {
            return Some(NackReason::NoResource);
        }
        let page = self.endpoints.get(place)?.unmapped(letter)?;
        self.driver.fault((place, page));
        Some(NackReason::NoResource)
    }
}
