//! DMA mappings of host memory. T-6, T-15

use std::collections::VecDeque;

/// Bytes of a page, and maximum of a message in a staging area. *Chosen*: a page of an
/// `UltraSPARC`.
pub(super) const PAGE: u32 = 8192;

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
