//! What a channel carried: the analyzer's counts against the reference's.

use std::collections::BTreeMap;

use analyzer::reading::Tallies;
use analyzer::tally::Tally;
use analyzer::window::Window;
use codec::capture::Progress;
use codec::character::Character;
use codec::tick::Tick;

use super::rows::Length;
use super::{Read, Section};
use crate::reference::{Heard, heard};

/// Every channel is counted, every period of it, and what came in each.
pub(super) fn tallies(file: &[u8], read: &Read, length: Length) {
    let mut tallies = Tallies::new(file);
    let mut faults = 0;
    let error = loop {
        match tallies.step(&Window::ALL, &mut |_| faults += 1) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!((error.as_ref(), faults), (read.error.as_ref(), read.faults));
    let all: BTreeMap<_, _> = read.sections.iter().flat_map(|section| &section.channels).collect();
    let counted: BTreeMap<_, _> =
        tallies.channels().iter().map(|(id, counted)| (id, &counted.channel)).collect();
    assert_eq!(counted, all, "every channel is counted");
    let characters = |section: &Section, id| {
        let own = section.chunks.iter().filter(|(other, _)| *other == id);
        own.map(|(_, chunk)| chunk.chunk().periods()).sum::<u64>()
    };
    for section in &read.sections {
        for id in section.channels.keys() {
            let Some(counted) = tallies.channels().get(id) else { continue };
            let tally = &counted.tally;
            assert_eq!(tally.characters(), characters(section, *id), "every period is counted");
            if length == Length::Short {
                counts(tally, &section.characters(*id));
            }
        }
    }
}

fn counts(tally: &Tally, characters: &[(u64, Character)]) {
    let mut control: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut data, mut corrected, mut invalid) = (0, 0, 0);
    for (_, character) in characters {
        match character {
            Character::Data(_) => data += 1,
            Character::Control(code) => match heard(*code) {
                None => invalid += 1,
                Some((symbol, how)) => {
                    corrected += u64::from(how == Heard::Weakly);
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
    use crate::chars::expansion;
    use crate::plan::Owned;
    use codec::notation::parse;

    pub(crate) fn a_tally_that_leaves_out_a_round_is_caught() {
        let pattern = parse("83 GAP!04 !a6").unwrap();
        let rounds = |count| Owned { first: Tick(0), chars: pattern.clone(), count: Some(count) };
        let mut tally = Tally::default();
        tally.feed(&rounds(8).chunk());
        counts(&tally, &expansion(&rounds(9).chunk()));
    }
}
