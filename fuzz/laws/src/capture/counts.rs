//! Counters of a channel: the analyzer's against the reference's.

use std::collections::BTreeMap;

use analyzer::counters::ChannelCounters;
use analyzer::event_reader::CounterReader;
use analyzer::packet::ByteRetention;
use analyzer::window::TimeWindow;
use codec::capture::ReadProgress;
use codec::character::Character;
use codec::time::Tick;

use super::{CaptureContents, SectionContents};
use crate::reference::{SymbolMatch, decode_symbol};

/// Most periods that the reference plays through. *Chosen*: about a millisecond.
const PERIODS_MAX: u64 = 1 << 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplayLength {
    Short,
    Long,
}

impl ReplayLength {
    pub(super) fn of(read: &CaptureContents) -> Self {
        let periods =
            read.sections.iter().map(SectionContents::periods).fold(0, u64::saturating_add);
        let is_short = periods <= PERIODS_MAX && !read.has_virtual_channels();
        if is_short { Self::Short } else { Self::Long }
    }

    /// Tests whether packets keep their bytes: only where there are few.
    pub(super) const fn bytes(self) -> ByteRetention {
        match self {
            Self::Short => ByteRetention::Keep,
            Self::Long => ByteRetention::Forget,
        }
    }
}

/// Every channel is counted, every period of it, and what came in each.
pub(super) fn tallies(file: &[u8], read: &CaptureContents, length: ReplayLength) {
    let mut tallies = CounterReader::new(file);
    let mut faults = 0;
    let error = loop {
        match tallies.step(&TimeWindow::ALL, &mut |_| faults += 1) {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!((error.as_ref(), faults), (read.error.as_ref(), read.faults));
    let all: BTreeMap<_, _> = read.sections.iter().flat_map(|section| &section.channels).collect();
    let counted: BTreeMap<_, _> =
        tallies.channels().iter().map(|(id, counted)| (id, &*counted.channel)).collect();
    assert_eq!(counted, all, "every channel is counted");
    for section in &read.sections {
        for id in section.channels.keys() {
            let Some(counted) = tallies.channels().get(id) else { continue };
            let tally = &counted.counters;
            let periods: u64 = section.of(*id).map(|it| it.chunk().periods()).sum();
            assert_eq!(tally.characters(), periods, "every period is counted");
            if length == ReplayLength::Short {
                counts(tally, &section.characters(*id));
            }
        }
    }
}

pub fn counts(tally: &ChannelCounters, characters: &[(u64, Character)]) {
    let mut control: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut data, mut corrected, mut invalid) = (0, 0, 0);
    for (_, character) in characters {
        match character {
            Character::Data(_) => data += 1,
            Character::Control(code) => match decode_symbol(*code) {
                None => invalid += 1,
                Some((symbol, how)) => {
                    corrected += u64::from(how == SymbolMatch::Weakly);
                    *control.entry(symbol.family()).or_default() += 1;
                }
            },
        }
    }
    let pairs = characters.iter().zip(characters.iter().skip(1));
    let holes = pairs.filter(|((one, _), (next, _))| one + 1 < *next).count() as u64;
    let ends = characters.first().zip(characters.last());
    let span = ends.map(|((first, _), (last, _))| (Tick(*first), Tick(*last)));
    assert_eq!(
        (tally.data(), tally.corrected(), tally.invalid(), tally.holes(), tally.span()),
        (data, corrected, invalid, holes, span),
        "counts are the reference's"
    );
    assert_eq!(tally.control().collect::<BTreeMap<_, _>>(), control, "and by symbol");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::capture_input::OwnedChunk;
    use crate::chars::expansion;
    use codec::notation::parse;

    pub(crate) fn a_tally_that_leaves_out_a_round_is_caught() {
        let pattern = parse("83 GAP!04 !a6").unwrap();
        let rounds =
            |count| OwnedChunk { first: Tick(0), chars: pattern.clone(), count: Some(count) };
        let mut tally = ChannelCounters::default();
        tally.feed(&rounds(8).chunk());
        counts(&tally, &expansion(&rounds(9).chunk()));
    }
}
