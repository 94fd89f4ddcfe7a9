//! The frames in the NIC's memory, in which endpoints are resident, and second chance: who leaves one
//! for another. T-15

/// The frames. Endpoints are told by their place in the host's list.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    /// Where the search for a victim goes on.
    hand: usize,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Free,
    /// Kept for an endpoint, which is not yet in it or already leaving it.
    Kept,
    Used {
        endpoint: usize,
        chance: Chance,
        /// Until then it is not made to leave.
        stays: u64,
    },
}

/// Whether an endpoint was used since the hand last passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chance {
    Used,
    Unused,
}

impl Frames {
    /// So many, all free; one at least.
    pub(super) fn new(count: u8) -> Self {
        Self { frames: vec![Frame::Free; usize::from(count.max(1))], hand: 0 }
    }

    /// All are free again.
    pub(super) fn clear(&mut self) {
        self.frames.fill(Frame::Free);
        self.hand = 0;
    }

    /// Keeps a free frame, if there is one.
    pub(super) fn keep(&mut self) -> Option<usize> {
        let place = self.frames.iter().position(|frame| *frame == Frame::Free)?;
        self.set(place, Frame::Kept);
        Some(place)
    }

    /// An endpoint is in a frame now, and has its chance. It stays until then at least.
    pub(super) fn fill(&mut self, place: usize, endpoint: usize, stays: u64) {
        self.set(place, Frame::Used { endpoint, chance: Chance::Used, stays });
    }

    /// When the next one may be made to leave.
    pub(super) fn due(&self) -> Option<u64> {
        let stays = |frame: &Frame| match frame {
            Frame::Used { stays, .. } => Some(*stays),
            Frame::Free | Frame::Kept => None,
        };
        self.frames.iter().filter_map(stays).min()
    }

    /// The endpoint in a frame was used.
    pub(super) fn touch(&mut self, place: usize) {
        if let Some(Frame::Used { chance, .. }) = self.frames.get_mut(place) {
            *chance = Chance::Used;
        }
    }

    /// The endpoint that has to leave, and its frame, which is kept: the hand passes those that were
    /// used since it came by last, or that have not stayed long enough, and takes the first other one.
    /// T-15
    pub(super) fn victim(&mut self, now: u64) -> Option<(usize, usize)> {
        // In a first turn each may lose its chance, in the second one is taken.
        for _ in 0..2 * self.frames.len() {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            match self.frames.get_mut(place) {
                Some(Frame::Used { stays, .. }) if *stays > now => {}
                Some(Frame::Used { chance: chance @ Chance::Used, .. }) => *chance = Chance::Unused,
                Some(Frame::Used { endpoint, chance: Chance::Unused, .. }) => {
                    let endpoint = *endpoint;
                    self.set(place, Frame::Kept);
                    return Some((endpoint, place));
                }
                Some(Frame::Free | Frame::Kept) | None => {}
            }
        }
        None
    }

    fn set(&mut self, place: usize, frame: Frame) {
        if let Some(slot) = self.frames.get_mut(place) {
            *slot = frame;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(count: u8) -> Frames {
        let mut frames = Frames::new(count);
        for endpoint in 0..usize::from(count) {
            let place = frames.keep().unwrap();
            frames.fill(place, 10 + endpoint, 0);
        }
        frames
    }

    #[test]
    fn there_are_as_many_frames_as_there_are() {
        let mut frames = full(7);
        assert_eq!(frames.keep(), None);
        frames.clear();
        assert_eq!(frames.keep(), Some(0));
        assert_eq!(Frames::new(0).keep(), Some(0), "one at least");
    }

    #[test]
    fn who_was_not_used_leaves_first() {
        let mut frames = full(3);
        // All lose their chance, and the first is taken.
        assert_eq!(frames.victim(0), Some((10, 0)));
        frames.fill(0, 20, 0);
        frames.touch(1);
        assert_eq!(frames.victim(0), Some((12, 2)), "11 was used, 12 was not");
        frames.fill(2, 22, 0);
        frames.touch(0);
        assert_eq!(frames.victim(0), Some((11, 1)), "its second chance is over");
    }

    #[test]
    fn a_frame_that_is_kept_is_no_victim() {
        let mut frames = full(2);
        assert_eq!((frames.victim(0), frames.victim(0)), (Some((10, 0)), Some((11, 1))));
        assert_eq!(frames.victim(0), None);
    }

    #[test]
    fn who_has_not_stayed_long_enough_stays() {
        let mut frames = full(2);
        frames.fill(0, 20, 100);
        assert_eq!((frames.due(), frames.victim(99)), (Some(0), Some((11, 1))));
        assert_eq!((frames.due(), frames.victim(99)), (Some(100), None));
        assert_eq!(frames.victim(100), Some((20, 0)));
    }
}
