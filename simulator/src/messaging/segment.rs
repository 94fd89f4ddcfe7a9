//! Segment of an endpoint, the target of bulk messages.

use std::collections::BTreeMap;

use super::plan::SEGMENT_MAX;

const PAGE: u32 = 4096;

/// Registered segment, initially zero. Only written pages are allocated.
#[derive(Clone, Debug)]
pub(super) struct MemorySegment {
    size: u32,
    pages: BTreeMap<u32, Vec<u8>>,
}

impl MemorySegment {
    pub(super) const fn new(size: u32) -> Self {
        let size = if size > SEGMENT_MAX { SEGMENT_MAX } else { size };
        Self { size, pages: BTreeMap::new() }
    }

    pub(super) fn holds(&self, offset: u32, length: usize) -> bool {
        let end = u64::from(offset).saturating_add(length as u64);
        end <= u64::from(self.size)
    }

    pub(super) fn write(&mut self, offset: u32, bytes: &[u8]) {
        if !self.holds(offset, bytes.len()) {
            return;
        }
        let (mut at, mut left) = (offset, bytes);
        while !left.is_empty() {
            let start = (at % PAGE) as usize;
            let (now, later) = left.split_at(left.len().min(PAGE as usize - start));
            let page = self.pages.entry(at / PAGE).or_insert_with(|| vec![0; PAGE as usize]);
            page.iter_mut().skip(start).zip(now).for_each(|(to, from)| *to = *from);
            at = at.saturating_add(u32::try_from(now.len()).unwrap_or(PAGE));
            left = later;
        }
    }

    /// Reads a range, as far as it is within the segment.
    pub(super) fn read(&self, offset: u32, length: u32) -> Vec<u8> {
        let end = offset.saturating_add(length).min(self.size);
        let byte = |at: u32| {
            let page = self.pages.get(&(at / PAGE));
            page.and_then(|page| page.get((at % PAGE) as usize)).copied().unwrap_or(0)
        };
        (offset..end).map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_over_pages_is_read_again() {
        let mut segment = MemorySegment::new(10_000);
        let bytes: Vec<u8> = (0..9_000_u32).map(|at| at.to_be_bytes()[3] ^ 0x5a).collect();
        segment.write(777, &bytes);
        assert_eq!(segment.read(777, 9_000), bytes);
        assert_eq!(segment.read(775, 3), [0, 0, 0x5a]);
        assert_eq!(segment.read(9_777, 1_000), [0; 223], "it ends");
    }

    #[test]
    fn nothing_is_written_beyond_its_end() {
        let mut segment = MemorySegment::new(100);
        assert!(segment.holds(96, 4) && !segment.holds(97, 4) && !segment.holds(u32::MAX, 1));
        segment.write(97, &[1; 4]);
        assert_eq!(segment.read(0, 100), [0; 100]);
        assert!(!MemorySegment::new(u32::MAX).holds(SEGMENT_MAX, 1));
    }
}
