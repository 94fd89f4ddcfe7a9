//! Endpoint frames in the NIC's memory, replaced by the second-chance algorithm. T-15

use crate::arena::EndpointNumber;

/// Frames; endpoints are identified by their index in the host's list.
#[derive(Clone, Debug)]
pub(super) struct EndpointFrames {
    frames: Vec<EndpointFrame>,
    /// Clock hand: start of the next search for a victim.
    hand: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndpointFrame {
    Free,
    /// Reserved for an endpoint that is entering or leaving.
    Kept,
    Used {
        endpoint: EndpointNumber,
        /// Reference bit since the hand last passed.
        is_used: bool,
        /// End of the minimum residence.
        stays: u64,
    },
}

impl EndpointFrames {
    /// Creates `count` free frames, at least one.
    pub(super) fn new(count: u8) -> Self {
        Self { frames: vec![EndpointFrame::Free; usize::from(count.max(1))], hand: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.frames.fill(EndpointFrame::Free);
        self.hand = 0;
    }

    pub(super) fn keep(&mut self) -> Option<usize> {
        let place = self.frames.iter().position(|frame| *frame == EndpointFrame::Free)?;
        self.set(place, EndpointFrame::Kept);
        Some(place)
    }

    /// Assigns a reserved frame to an endpoint, which stays at least until `stays`.
    pub(super) fn fill(&mut self, place: usize, endpoint: EndpointNumber, stays: u64) {
        self.set(place, EndpointFrame::Used { endpoint, is_used: true, stays });
    }

    pub(super) fn due(&self) -> Option<u64> {
        let stays = |frame: &EndpointFrame| {
            if let EndpointFrame::Used { stays, .. } = frame { Some(*stays) } else { None }
        };
        self.frames.iter().filter_map(stays).min()
    }

    pub(super) fn touch(&mut self, place: usize) {
        if let Some(EndpointFrame::Used { is_used, .. }) = self.frames.get_mut(place) {
            *is_used = true;
        }
    }

    /// Selects a victim and reserves its frame: the hand skips endpoints that were used since its
    /// last pass or that are within their minimum residence. T-15
    pub(super) fn victim(&mut self, now: u64) -> Option<(EndpointNumber, usize)> {
        // In a first turn each may lose its chance, in the second one is taken.
        for _ in 0..2 * self.frames.len() {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            match self.frames.get_mut(place) {
                Some(EndpointFrame::Used { stays, .. }) if *stays > now => {}
                Some(EndpointFrame::Used { is_used, .. }) if *is_used => *is_used = false,
                Some(EndpointFrame::Used { endpoint, .. }) => {
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
        for endpoint in 0..u32::from(count) {
            let place = frames.keep().unwrap();
            frames.fill(place, EndpointNumber(10 + endpoint), 0);
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
        assert_eq!(frames.victim(0), Some((EndpointNumber(10), 0)));
        frames.fill(0, EndpointNumber(20), 0);
        frames.touch(1);
        assert_eq!(frames.victim(0), Some((EndpointNumber(12), 2)), "11 was used, 12 was not");
        frames.fill(2, EndpointNumber(22), 0);
        frames.touch(0);
        assert_eq!(frames.victim(0), Some((EndpointNumber(11), 1)), "its second chance is over");
    }

    #[test]
    fn a_frame_that_is_kept_is_no_victim() {
        let mut frames = full(2);
        assert_eq!(
            (frames.victim(0), frames.victim(0)),
            (Some((EndpointNumber(10), 0)), Some((EndpointNumber(11), 1)))
        );
        assert_eq!(frames.victim(0), None);
    }

    #[test]
    fn who_has_not_stayed_long_enough_stays() {
        let mut frames = full(2);
        frames.fill(0, EndpointNumber(20), 100);
        assert_eq!((frames.due(), frames.victim(99)), (Some(0), Some((EndpointNumber(11), 1))));
        assert_eq!((frames.due(), frames.victim(99)), (Some(100), None));
        assert_eq!(frames.victim(100), Some((EndpointNumber(20), 0)));
    }
}
