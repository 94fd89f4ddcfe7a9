//! The slack buffer of an input circuit, and the latency of its commands. F-3, F-4

use std::collections::VecDeque;

use crate::link::SlackSize;
use crate::link::tagged_char::{TaggedChar, move_cells};
use crate::truth::StopGo;

/// A FIFO of characters. F-3
#[derive(Clone, Debug)]
pub(super) struct SlackBuffer {
    cells: VecDeque<TaggedChar>,
    /// Number of characters that are no bytes within a packet.
    boundaries: u32,
    /// Number of framing marks.
    marks: u32,
    size: u32,
    full_max: u32,
    go_at: u32,
    stop_at: u32,
}

impl SlackBuffer {
    pub(super) fn new(slack: &SlackSize) -> Self {
        Self {
            cells: VecDeque::with_capacity(slack.cells() as usize),
            boundaries: 0,
            marks: 0,
            size: slack.cells(),
            full_max: 0,
            go_at: slack.go_slack,
            stop_at: slack.stop_at(),
        }
    }

    /// Appends a character, or loses it if the buffer is full.
    #[inline]
    pub(super) fn push(&mut self, cell: TaggedChar) {
        if self.is_full() {
            return;
        }
        self.cells.push_back(cell);
        self.boundaries += u32::from(!cell.is_plain());
        self.marks += u32::from(!cell.is_data());
        self.full_max = self.full_max.max(self.fill());
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<TaggedChar> {
        let cell = self.cells.pop_front()?;
        self.boundaries = self.boundaries.saturating_sub(u32::from(!cell.is_plain()));
        self.marks = self.marks.saturating_sub(u32::from(!cell.is_data()));
        Some(cell)
    }

    /// The character at a position, 0 being the oldest.
    #[inline]
    pub(super) fn peek(&self, place: u32) -> Option<TaggedChar> {
        self.cells.get(place as usize).copied()
    }

    pub(super) fn clear(&mut self) {
        self.cells.clear();
        (self.boundaries, self.marks) = (0, 0);
    }

    /// The bytes up to the first framing mark, if there is one. B-2
    pub(super) fn first_packet(&self) -> Option<impl Iterator<Item = u8>> {
        let bytes = self.cells.iter().take_while(|cell| cell.is_data());
        (self.marks > 0).then(|| bytes.map(|cell| cell.low()))
    }

    /// Number of characters, f. F-3
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "at most the size, outside of `span`")]
    pub(super) fn fill(&self) -> u32 {
        self.cells.len() as u32
    }
    pub(super) const fn fill_max(&self) -> u32 {
        self.full_max
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.fill() >= self.size
    }

    /// True at or below the lower threshold, where GO is due after STOP. F-3
    #[inline]
    pub(super) fn is_low(&self) -> bool {
        self.fill() <= self.go_at
    }

    /// True at or above the upper threshold, where STOP is due after GO. F-3
    #[inline]
    pub(super) fn is_high(&self) -> bool {
        self.fill() >= self.stop_at
    }

    /// True if the next character is stored without reaching the upper threshold.
    #[inline]
    pub(super) fn has_ease(&self) -> bool {
        !self.is_full() && self.fill() + 1 < self.stop_at
    }
}

/// Predictions for a buffer that fills and drains at constant rates.
impl SlackBuffer {
    /// The position of the first character that is no byte within a packet.
    pub(super) fn first_boundary(&self) -> Option<u32> {
        if self.boundaries == 0 {
            return None;
        }
        let place = self.cells.iter().position(|cell| !cell.is_plain());
        place.and_then(|place| u32::try_from(place).ok())
    }

    /// The number of the first character from now on, 1 being the next, at which a buffer that
    /// stores one in each period, and from which `taken` (0 or 1) is then taken, does more than
    /// store it; `None` if there is none. `last` is its last command.
    pub(super) fn next_event(&self, last: StopGo, taken: u32) -> Option<u64> {
        let fill = self.fill();
        let (low, top) = match last {
            StopGo::Go => (false, self.stop_at),
            StopGo::Stop => (fill <= self.go_at, self.size.saturating_add(1)),
        };
        match (low, taken) {
            (true, _) => Some(1),
            (false, 0) => Some(u64::from(top.saturating_sub(fill)).max(1)),
            (false, _) => (fill + 1 >= top).then_some(1),
        }
    }

    /// The number of the first period from now on, 1 being the next, that finds the buffer at its
    /// lower threshold, if it stores nothing and one is taken after each.
    pub(super) fn fall(&self, last: StopGo) -> Option<u64> {
        match last {
            StopGo::Go => None,
            StopGo::Stop => Some(u64::from(self.fill().saturating_sub(self.go_at)) + 1),
        }
    }

    /// Appends bytes within a packet, which fill it up to `top` if some are taken meanwhile.
    pub(super) fn span(&mut self, cells: &[TaggedChar], top: Option<u32>) {
        let before = self.fill();
        self.cells.extend(cells);
        if self.fill() > before {
            self.full_max = self.full_max.max(top.unwrap_or_else(|| self.fill()));
        }
    }

    /// Moves the oldest bytes, all within a packet, to a list.
    pub(super) fn take(&mut self, count: usize, to: &mut Vec<TaggedChar>) {
        move_cells(&mut self.cells, count, to);
    }
}

/// Commands delayed by up to 15 periods, two bits each, the next lowest. F-4
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DelayedCommands(u64);

impl DelayedCommands {
    /// Adds a command that comes out after this many periods, replacing another.
    #[inline]
    pub(super) const fn push(&mut self, command: StopGo, periods: u8) {
        let bits = match command {
            StopGo::Go => 1,
            StopGo::Stop => 2,
        };
        let shift = 2 * periods as u32;
        self.0 = self.0 & !(3 << shift) | bits << shift;
    }

    /// The command of this period.
    #[inline]
    pub(super) const fn pop(&mut self) -> Option<StopGo> {
        let command = match self.0 & 3 {
            0 => None,
            1 => Some(StopGo::Go),
            _ => Some(StopGo::Stop),
        };
        self.0 >>= 2;
        command
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub(super) const fn clear(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_out_in_order_and_none_fits_into_a_full_buffer() {
        let slack = SlackSize { go_slack: 1, hysteresis: 1, stop_slack: 1 };
        let mut buffer = SlackBuffer::new(&slack);
        // Round and round the three cells.
        for byte in 0..20 {
            buffer.push(TaggedChar::data(byte));
            buffer.push(TaggedChar::data(byte + 100));
            assert_eq!(
                (buffer.peek(1), buffer.peek(2)),
                (Some(TaggedChar::data(byte + 100)), None)
            );
            assert_eq!(buffer.pop(), Some(TaggedChar::data(byte)));
            assert_eq!(buffer.pop(), Some(TaggedChar::data(byte + 100)));
            assert_eq!(buffer.pop(), None);
        }
        (0..4).for_each(|byte| buffer.push(TaggedChar::data(byte)));
        assert!(buffer.is_full());
        assert_eq!((buffer.fill(), buffer.fill_max()), (3, 3));
        assert_eq!(buffer.peek(2), Some(TaggedChar::data(2)));
        buffer.clear();
        assert_eq!((buffer.fill(), buffer.fill_max(), buffer.peek(0)), (0, 3, None));
    }

    #[test]
    fn a_buffer_has_ease_up_to_one_cell_below_the_upper_threshold() {
        // F-3: GO at 1 and fewer, STOP at 3 and more, of 4.
        let slack = SlackSize { go_slack: 1, hysteresis: 2, stop_slack: 1 };
        let mut buffer = SlackBuffer::new(&slack);
        let mut seen = Vec::new();
        for _ in 0..5 {
            let at = [buffer.is_low(), buffer.has_ease(), buffer.is_high(), buffer.is_full()];
            seen.push(at.map(u8::from));
            buffer.push(TaggedChar::data(1));
        }
        assert_eq!(seen, [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]);
    }

    #[test]
    fn a_command_comes_out_after_its_delay() {
        let mut delayed = DelayedCommands::default();
        delayed.push(StopGo::Stop, 2);
        assert_eq!([delayed.pop(), delayed.pop()], [None, None]);
        delayed.push(StopGo::Go, 15);
        assert_eq!(delayed.pop(), Some(StopGo::Stop));
        assert!((0..14).all(|_| delayed.pop().is_none()));
        assert_eq!((delayed.pop(), delayed.is_empty()), (Some(StopGo::Go), true));
        // Two that fall into one period: the later one holds.
        delayed.push(StopGo::Stop, 1);
        delayed.push(StopGo::Go, 1);
        assert_eq!([delayed.pop(), delayed.pop()], [None, Some(StopGo::Go)]);
        delayed.push(StopGo::Stop, 3);
        assert!(!delayed.is_empty());
        delayed.clear();
        assert!(delayed.is_empty());
    }
}
