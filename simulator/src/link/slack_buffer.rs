//! The slack buffer of an input circuit, and the latency of its commands. F-3, F-4

use crate::link::SlackSize;
use crate::link::tagged_char::TaggedChar;
use crate::truth::StopGo;

/// A FIFO of characters: `full` of them from `first` on. F-3
#[derive(Clone, Debug)]
pub(super) struct SlackBuffer {
    cells: Box<[TaggedChar]>,
    first: u32,
    full: u32,
    full_max: u32,
    go_at: u32,
    stop_at: u32,
}

impl SlackBuffer {
    pub(super) fn new(slack: &SlackSize) -> Self {
        Self {
            cells: vec![TaggedChar::IDLE; slack.cells() as usize].into_boxed_slice(),
            first: 0,
            full: 0,
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
        let place = self.place(self.full);
        if let Some(place) = self.cells.get_mut(place) {
            *place = cell;
            self.full += 1;
            self.full_max = self.full_max.max(self.full);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<TaggedChar> {
        let cell = self.peek(0)?;
        self.first += 1;
        if self.first as usize == self.cells.len() {
            self.first = 0;
        }
        self.full -= 1;
        Some(cell)
    }

    /// The character at a position, 0 being the oldest.
    #[inline]
    pub(super) fn peek(&self, place: u32) -> Option<TaggedChar> {
        if place >= self.full { None } else { self.cells.get(self.place(place)).copied() }
    }

    #[inline]
    const fn place(&self, place: u32) -> usize {
        let place = self.first as usize + place as usize;
        if place >= self.cells.len() { place - self.cells.len() } else { place }
    }

    pub(super) const fn clear(&mut self) {
        self.full = 0;
    }

    /// Number of characters, f. F-3
    #[inline]
    pub(super) const fn fill(&self) -> u32 {
        self.full
    }
    pub(super) const fn fill_max(&self) -> u32 {
        self.full_max
    }

    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.full as usize == self.cells.len()
    }

    /// True at or below the lower threshold, where GO is due after STOP. F-3
    #[inline]
    pub(super) const fn is_low(&self) -> bool {
        self.full <= self.go_at
    }

    /// True at or above the upper threshold, where STOP is due after GO. F-3
    #[inline]
    pub(super) const fn is_high(&self) -> bool {
        self.full >= self.stop_at
    }

    /// True if the next character is stored without reaching the upper threshold.
    #[inline]
    pub(super) const fn has_ease(&self) -> bool {
        !self.is_full() && self.full + 1 < self.stop_at
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
