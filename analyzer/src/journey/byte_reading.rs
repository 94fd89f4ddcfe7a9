//! Absolute or relative route bytes: how a switch reads them, by the packets that passed it. S-1

use std::cmp::Ordering;

/// Known addressing of a switch. S-1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteReading {
    Absolute,
    Relative,
    Either,
}

impl ByteReading {
    /// The addressing with more votes.
    pub(super) fn of([absolute, relative]: [u64; 2]) -> Self {
        match absolute.cmp(&relative) {
            Ordering::Greater => Self::Absolute,
            Ordering::Less => Self::Relative,
            Ordering::Equal => Self::Either,
        }
    }

    pub(super) fn of_both<T>(self, [absolute, relative]: [Option<T>; 2]) -> [Option<T>; 2] {
        match self {
            Self::Absolute => [absolute, None],
            Self::Relative => [None, relative],
            Self::Either => [absolute, relative],
        }
    }
}

/// Counts a passage that only one addressing explains.
pub(super) const fn count_vote(votes: &mut [u64; 2], explains: [bool; 2]) {
    let [absolute, relative] = votes;
    match explains {
        [true, false] => *absolute += 1,
        [false, true] => *relative += 1,
        [true, true] | [false, false] => {}
    }
}
