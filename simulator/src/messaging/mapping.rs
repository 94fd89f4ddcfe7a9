//! DMA mappings of host memory, and faults for unmapped pages. T-6, T-15

use std::collections::VecDeque;

use codec::transport::{MessageForm, NackReason};

use super::HostMessaging;
use super::endpoint_queues::EndpointQueues;
use super::message::SharedMessage;

/// Bytes of a page, and maximum of a message in a staging area. *Chosen*: a page of an
/// `UltraSPARC`.
const PAGE: u32 = 8192;

/// Page of an endpoint's host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPage {
    /// Place for a message in the staging area.
    Staging(usize),
    /// Page of the segment.
    Segment(u32),
}

/// Pinned pages with a DMA mapping, oldest first, each with its minimum stay.
pub(super) type PageMappings = VecDeque<(HostPage, u64)>;

impl EndpointQueues {
    /// Unmapped page of a message, if mappings are limited.
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

    /// Earliest time for another mapping.
    pub(super) fn mapping_due(&self) -> u64 {
        let most = usize::from(self.parameters.mappings.unwrap_or(u16::MAX));
        let oldest = self.mapped.front().filter(|_| self.mapped.len() >= most);
        oldest.map_or(0, |(_, stays)| *stays)
    }

    /// Maps a page, replacing the oldest beyond the limit.
    pub(super) fn map(&mut self, page: HostPage, stays: u64) {
        self.mapped.push_back((page, stays));
        if self.mapped.len() > usize::from(self.parameters.mappings.unwrap_or(u16::MAX)) {
            self.mapped.pop_front();
        }
    }
}

impl HostMessaging {
    /// Reason to refuse a transfer to the host: no free DMA resource, or an unmapped page, which is
    /// queued for mapping. T-6
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
