//! DMA mappings of host memory. T-6, T-15

use std::collections::VecDeque;

/// Bytes of a page, and maximum of a message in a staging area. *Chosen*: a page of an
/// `UltraSPARC`.
pub(super) const PAGE: u32 = 8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPage {
    Staging(usize),
    Segment(u32),
}

/// Pinned pages with a DMA mapping, oldest first, each with its minimum stay.
pub(super) type PageMappings = VecDeque<(HostPage, u64)>;
