//! The frames in the NIC's memory, in which endpoints are resident, and second chance: who leaves one
//! for another. T-15

/// The frames. Endpoints are told by their place in the host's list.
#[derive(Clone, Debug)]
pub(super) struct EndpointFrames {
    frames: Vec<EndpointFrame>,
    /// Where the search for a victim goes on.
    hand: usize,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndpointFrame {
    Free,
    /// Kept for an endpoint, which is not yet in it or already leaving it.
    Kept,
    Used {
        endpoint: usize,
        chance: SecondChance,
        /// Until then it is not made to leave.
        stays: u64,
    },
}

/// Whether an endpoint was used since the hand last passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondChance {
    Used,
    Unused,
}

impl EndpointFrames {
    /// So many, all free; one at least.
    pub(super) fn new(count: u8) -> Self {
        Self { frames: vec![EndpointFrame::Free; usize::from(count.max(1))], hand: 0 }
    }

    /// All are free again.
    pub(super) fn clear(&mut self) {
        self.frames.fill(EndpointFrame::Free);
        self.hand = 0;
    }

    /// Keeps a free frame, if there is one.
    pub(super) fn keep(&mut self) -> Option<usize> {
        let place = self.frames.iter().position(|frame| *frame == EndpointFrame::Free)?;
        self.set(place, EndpointFrame::Kept);
        Some(place)
    }

    /// An endpoint is in a frame now, and has its chance. It stays until then at least.
    pub(super) fn fill(&mut self, place: usize, endpoint: usize, stays: u64) {
        self.set(place, EndpointFrame::Used { endpoint, chance: SecondChance::Used, stays });
    }

    /// When the next one may be made to leave.
    pub(super) fn due(&self) -> Option<u64> {
        let stays = |frame: &EndpointFrame| match frame {
            EndpointFrame::Used { stays, .. } => Some(*stays),
            EndpointFrame::Free | EndpointFrame::Kept => None,
        };
        self.frames.iter().filter_map(stays).min()
    }

    /// The endpoint in a frame was used.
    pub(super) fn touch(&mut self, place: usize) {
        if let Some(EndpointFrame::Used { chance, .. }) = self.frames.get_mut(place) {
            *chance = SecondChance::Used;
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
                Some(EndpointFrame::Used { stays, .. }) if *stays > now => {}
                Some(EndpointFrame::Used { chance: chance @ SecondChance::Used, .. }) => {
                    *chance = SecondChance::Unused
                }
                Some(EndpointFrame::Used { endpoint, chance: SecondChance::Unused, .. }) => {
                    let endpoint = *endpoint;
                    self.set(place, EndpointFrame::Kept);
                    return Some((endpoint, place));
                }
                Some(EndpointFrame::Free | EndpointFrame::Kept) | None => {}
            }
        }
        None
    }

    fn set(&mut self, place: usize, frame: EndpointFrame) {
        if let Some(slot) = self.frames.get_mut(place) {
            *slot = frame;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(count: u8) -> EndpointFrames {
        let mut frames = EndpointFrames::new(count);
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
        assert_eq!(EndpointFrames::new(0).keep(), Some(0), "one at least");
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
