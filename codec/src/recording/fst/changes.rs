//! Blocks of changes of an FST file.

use std::io::{Read, Seek};
use std::ops::Range;

use super::packing::{FstPacking, signed_varint, unpack, varint};
use super::{BYTES_MAX, BlockFile, CHANGES_ALIAS_2, FileBlock, VARIABLES_MAX};
use crate::recording::decimal::TimeOrigin;
use crate::recording::levels::{SignalLevel, SignalLevels};
use crate::recording::{ChangeSink, RecordingError};

/// Longest head of a list: three numbers.
const HEAD: u64 = 30;

/// Changes of the selected signals, block by block.
#[derive(Default)]
pub(super) struct BlockChanges<'a> {
    /// Bytes of a level of each variable as text, by its number.
    pub(super) widths: &'a [u32],
    /// Selected variables by number, with masks of their signals from the least significant bit.
    pub(super) selected: Vec<(usize, Vec<u64>)>,
    pub(super) unit_fs: u64,
    pub(super) levels: SignalLevels,
    pub(super) origin: TimeOrigin,
    /// Time of the levels; `None` before the first block.
    pub(super) time_fs: Option<u64>,
    /// Times at which the dump was switched off and on again, packed, and the first of them, with true for off.
    pub(super) switches: &'a [u8],
    pub(super) switch: Option<(u64, bool)>,
    /// Signals whose level was known when the dump was switched off.
    pub(super) hidden: u64,
}

/// Parts of a block of changes, as places in the file.
struct BlockParts {
    block: FileBlock,
    /// Levels at the beginning, and their length once they are unpacked.
    frame: Range<u64>,
    frame_length: u64,
    /// Packed changes of the signals, behind a byte that names their compression.
    chains: Range<u64>,
    places: Range<u64>,
    times: Range<u64>,
    times_length: u64,
}

impl BlockParts {
    fn read(
        file: &mut BlockFile<impl Read + Seek>,
        block: FileBlock,
    ) -> Result<Self, RecordingError> {
        let frame = block.start.saturating_add(24);
        let ([frame_length, packed, _], frame) = numbers(file, block, frame)?;
        let frame_end = frame.saturating_add(packed);
        let ([_handles], chains) = numbers(file, block, frame_end)?;
        let end = block.end.saturating_sub(24);
        let times_length = file.number(block, end)?;
        let times = end.saturating_sub(file.number(block, end + 8)?);
        let places_end = times.saturating_sub(8);
        let places = places_end.saturating_sub(file.number(block, places_end)?);
        if places <= chains {
            return Err(block.damaged("parts of a block of changes overlap"));
        }
        Ok(Self {
            block,
            frame: frame..frame_end,
            frame_length,
            chains: chains..places,
            places: places..places_end,
            times: times..end,
            times_length,
        })
    }
}

/// Numbers at a place, and the place behind them.
fn numbers<const N: usize>(
    file: &mut BlockFile<impl Read + Seek>,
    block: FileBlock,
    at: u64,
) -> Result<([u64; N], u64), RecordingError> {
    let head = file.bytes(block, at, HEAD.min(block.end.saturating_sub(at)))?;
    let (mut rest, mut all) = (head.as_slice(), [0; N]);
    for number in &mut all {
        *number = varint(&mut rest).ok_or_else(|| block.damaged("a number does not end"))?;
    }
    Ok((all, at + (head.len() - rest.len()) as u64))
}

/// Bytes of a part of a block.
fn part(
    file: &mut BlockFile<impl Read + Seek>,
    block: FileBlock,
    place: &Range<u64>,
) -> Result<Vec<u8>, RecordingError> {
    file.bytes(block, place.start, place.end.saturating_sub(place.start))
}

/// Bytes of a part of a block, which is stored if it would not become shorter.
fn unpacked_part(
    file: &mut BlockFile<impl Read + Seek>,
    block: FileBlock,
    (place, length): (&Range<u64>, u64),
) -> Result<Vec<u8>, RecordingError> {
    let packed = part(file, block, place)?;
    let is_stored = packed.len() as u64 == length;
    unpack(if is_stored { FstPacking::Stored } else { FstPacking::Zlib }, &packed, length)
        .map_err(|cause| RecordingError::at_byte(place.start, cause))
}

impl BlockChanges<'_> {
    /// Reads a block. The changes of its last time are kept, as the next may begin with it.
    pub(super) fn read(
        &mut self,
        file: &mut BlockFile<impl Read + Seek>,
        block: FileBlock,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let damaged = |cause: String| block.damaged(cause);
        let parts = BlockParts::read(file, block)?;
        if self.time_fs.is_none() {
            self.advance(file.number(block, block.start)?, sink).map_err(damaged)?;
            self.set_frame(&unpacked_part(file, block, (&parts.frame, parts.frame_length))?);
        }
        let times = unpacked_part(file, block, (&parts.times, parts.times_length))?;
        let mut chains = self.chains(file, &parts)?;
        let (mut times, mut time, mut count) = (times.as_slice(), 0_u64, 0);
        while let Some(index) = chains.iter().filter_map(|chain| chain.next).min() {
            while count <= index {
                let passed = varint(&mut times).and_then(|passed| time.checked_add(passed));
                time = passed.ok_or_else(|| block.damaged("a change is behind the last time"))?;
                count += 1;
            }
            self.advance(time, sink).map_err(damaged)?;
            for chain in chains.iter_mut().filter(|chain| chain.next == Some(index)) {
                let masks = self.selected.get(chain.number).map(|(_, masks)| masks.as_slice());
                chain
                    .step(index, masks.unwrap_or_default(), &mut self.levels)
                    .ok_or_else(|| block.damaged("changes of a signal are cut short"))?;
            }
        }
        Ok(())
    }

    /// Gives the changes before a time.
    fn advance(&mut self, time: u64, sink: &mut ChangeSink<'_>) -> Result<(), String> {
        self.take_switches(time, sink);
        self.pass(time, sink)
    }

    /// Switches the dump off behind the changes of a time, and on before them, if that is before those of a time. What was not
    /// written is not known, and what is not written again is as before.
    pub(super) fn take_switches(&mut self, end: u64, sink: &mut ChangeSink<'_>) {
        while let Some((time, is_off)) = self.switch.filter(|(at, off)| (*at, *off) < (end, true)) {
            // One before the first block changes nothing.
            if self.time_fs.is_some() && self.pass(time, sink).is_ok() {
                match is_off {
                    true => self.hidden = self.levels.hide(),
                    false => self.levels.show(self.hidden),
                }
            }
            self.find_switch(time);
        }
    }

    /// Finds the next switch of the dump, behind a time.
    pub(super) fn find_switch(&mut self, time: u64) {
        let state = self.switches.split_off_first();
        let later = varint(&mut self.switches).and_then(|passed| time.checked_add(passed));
        self.switch = state.zip(later).map(|(state, time)| (time, *state == 0));
    }

    fn pass(&mut self, time: u64, sink: &mut ChangeSink<'_>) -> Result<(), String> {
        let now_fs = self.time_fs.unwrap_or_default();
        match self.origin.since(i128::from(time) * i128::from(self.unit_fs)) {
            Some(time_fs) if time_fs >= now_fs => {
                if time_fs > now_fs && self.time_fs.is_some() {
                    self.levels.end(now_fs, sink);
                }
                self.time_fs = Some(time_fs);
                Ok(())
            }
            Some(_) => Err(format!("time {time} is earlier than the time before it")),
            None => Err(format!("time {time} is no number of units below 5.1 hours")),
        }
    }

    /// Sets the levels at the beginning of a recording.
    fn set_frame(&mut self, frame: &[u8]) {
        let (mut place, mut number) = (0_usize, 0);
        for (variable, masks) in &self.selected {
            let between = self.widths.get(number..*variable).unwrap_or_default();
            place =
                between.iter().fold(place, |place, width| place.saturating_add(*width as usize));
            number = *variable;
            let width = self.widths.get(number).map_or(0, |width| *width as usize);
            let level = frame.get(place..place.saturating_add(width)).unwrap_or_default();
            set(&mut self.levels, masks, width, |at| letter(level.get(at)));
        }
    }

    /// Changes of the selected signals.
    fn chains(
        &self,
        file: &mut BlockFile<impl Read + Seek>,
        parts: &BlockParts,
    ) -> Result<Vec<ChangeChain>, RecordingError> {
        let BlockParts { block, chains, .. } = parts;
        let length = chains.end.saturating_sub(chains.start);
        let table = part(file, *block, &parts.places)?;
        let places = ChainPlaces::parse(&table, block.kind, self.widths.len());
        let places = places.ok_or_else(|| block.damaged("places of changes make no sense"))?;
        let packing = match file.bytes(*block, chains.start, 1)?.first() {
            Some(b'Z') => FstPacking::Zlib,
            Some(b'4') => FstPacking::Lz4,
            Some(b'F') => FstPacking::FastLz,
            _ => {
                let text = "changes are not packed with zlib, LZ4 or FastLZ: convert the file with fst2vcd";
                return Err(block.damaged(text));
            }
        };
        let mut left = BYTES_MAX;
        let mut all = Vec::new();
        for (number, (variable, _)) in self.selected.iter().enumerate() {
            let Some(place) = places.of(*variable, length) else { continue };
            let at = chains.start.saturating_add(place.start);
            let packed = file.bytes(*block, at, place.end.saturating_sub(place.start))?;
            let mut packed = packed.as_slice();
            let cut = || "a number does not end".to_owned();
            let bytes = match varint(&mut packed).ok_or_else(cut) {
                Ok(0) => unpack(FstPacking::Stored, packed, packed.len() as u64),
                Ok(unpacked) if unpacked > left => Err("more than a block has".to_owned()),
                Ok(unpacked) => unpack(packing, packed, unpacked),
                Err(cause) => Err(cause),
            };
            let bytes = bytes.map_err(|cause| {
                RecordingError::at_byte(at, format!("changes of a signal: {cause}"))
            })?;
            left = left.saturating_sub(bytes.len() as u64);
            let width = self.widths.get(*variable).map_or(0, |width| *width as usize);
            let mut chain = ChangeChain { number, width, bytes, at: 0, head: 0, next: None };
            let cut = || block.damaged("changes of a signal are cut short");
            chain.find_next(0).ok_or_else(cut)?;
            all.push(chain);
        }
        Ok(all)
    }
}

/// Widths of the variables of a block, if its levels at the beginning show that each is one.
pub(super) fn scalars(
    file: &mut BlockFile<impl Read + Seek>,
    block: FileBlock,
) -> Result<Option<Vec<u32>>, RecordingError> {
    let ([length, _, handles], _) = numbers(file, block, block.start.saturating_add(24))?;
    let count =
        usize::try_from(handles).ok().filter(|_| handles == length && handles <= VARIABLES_MAX);
    Ok(count.map(|count| vec![1; count]))
}

fn letter(letter: Option<&u8>) -> SignalLevel {
    letter.and_then(|letter| SignalLevel::of(*letter)).unwrap_or(SignalLevel::Unknown)
}

/// Level of a bit, the last one of a number.
const fn level(bit: u64) -> SignalLevel {
    if bit & 1 == 1 { SignalLevel::High } else { SignalLevel::Low }
}

/// Letters of the levels of a scalar that are no bit.
const LETTERS: &[u8; 8] = b"xzhuwl-?";

/// Sets the signals of some masks by the bits of a level, most significant first.
#[inline]
fn set(levels: &mut SignalLevels, masks: &[u64], width: usize, bit: impl Fn(usize) -> SignalLevel) {
    (0..width).rev().zip(masks).for_each(|(at, mask)| levels.put(*mask, bit(at)));
}

/// Places of changes of the variables in a block.
#[derive(Debug, Default, PartialEq)]
struct ChainPlaces {
    /// Chain of each variable, by its number.
    chains: Vec<Option<usize>>,
    /// Bytes from the first of all to the first of each chain, increasing.
    starts: Vec<u64>,
}

impl ChainPlaces {
    /// Reads the places of some variables; `None` if they make no sense.
    fn parse(mut table: &[u8], kind: u8, variables: usize) -> Option<Self> {
        let (mut all, mut start, mut alias) = (Self::default(), 0_u64, None);
        while !table.is_empty() && all.chains.len() < variables {
            let (number, signed) = signed_varint(&mut table)?;
            let is_signed = kind == CHANGES_ALIAS_2;
            if number & 1 == 1 && (!is_signed || signed > 1) {
                let step = if is_signed { signed.cast_unsigned() } else { number } >> 1;
                start = start.checked_add(step).filter(|_| step > 0)?;
                all.chains.push(Some(all.starts.len()));
                all.starts.push(start);
            } else if number & 1 == 1 || number == 0 && !is_signed {
                // The changes of another variable: of the same as before, or of one that is named.
                let named =
                    if !is_signed { varint(&mut table)? } else { (signed >> 1).unsigned_abs() };
                if named > 0 {
                    alias = *all.chains.get(usize::try_from(named - 1).ok()?)?;
                }
                all.chains.push(alias);
            } else {
                let free = variables - all.chains.len();
                let none = usize::try_from(number >> 1).map_or(free, |none| none.min(free));
                all.chains.extend(std::iter::repeat_n(None, none));
            }
        }
        Some(all)
    }

    /// Place of the changes of a variable, where all end at `end`; `None` if it has none.
    fn of(&self, variable: usize, end: u64) -> Option<Range<u64>> {
        let chain = (*self.chains.get(variable)?)?;
        let start = *self.starts.get(chain)?;
        Some(start..self.starts.get(chain + 1).copied().unwrap_or(end))
    }
}

/// Changes of a variable in a block.
struct ChangeChain {
    /// Number among the selected variables, and bits.
    number: usize,
    width: usize,
    bytes: Vec<u8>,
    /// Bytes that have been read.
    at: usize,
    /// Number that begins the next change: its distance in times, and a part of its level.
    head: u64,
    /// Number of the next change's time.
    next: Option<u64>,
}

impl ChangeChain {
    /// Reads the beginning of the next change; `None` if it is cut short.
    fn find_next(&mut self, index: u64) -> Option<()> {
        let mut rest = self.bytes.get(self.at..)?;
        self.next = None;
        if !rest.is_empty() {
            self.head = varint(&mut rest)?;
            self.at = self.bytes.len() - rest.len();
            let bits = match (self.width, self.head & 1) {
                (1, 0) => 2,
                (1, _) => 4,
                _ => 1,
            };
            self.next = Some(index.checked_add(self.head >> bits)?);
        }
        Some(())
    }

    /// Sets the level of the next change, and finds the one behind it; `None` if it is cut short.
    fn step(&mut self, index: u64, masks: &[u64], levels: &mut SignalLevels) -> Option<()> {
        let (head, width) = (self.head, self.width);
        let is_packed = head & 1 == 0;
        if width == 1 {
            let other = LETTERS.get((head >> 1 & 7) as usize);
            set(levels, masks, 1, |_| if is_packed { level(head >> 1) } else { letter(other) });
        } else {
            let length = if is_packed { width.div_ceil(8) } else { width };
            let bytes = self.bytes.get(self.at..)?.get(..length)?;
            self.at += length;
            set(levels, masks, width, |at| match bytes.get(at / 8) {
                Some(byte) if is_packed => level(u64::from(byte >> (7 - at % 8))),
                _ => letter(bytes.get(at)),
            });
        }
        self.find_next(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::SignalChange;

    /// A number of variable length with its highest bit as sign.
    fn put(mut number: i64, table: &mut Vec<u8>) {
        loop {
            let byte = u8::try_from(number & 0x7f).unwrap();
            number >>= 7;
            if number == if byte & 0x40 == 0 { 0 } else { -1 } {
                return table.push(byte);
            }
            table.push(byte | 0x80);
        }
    }

    #[test]
    fn a_change_is_one_of_the_level_at_the_beginning() {
        let mut changes = BlockChanges {
            widths: &[2, 1, 2],
            selected: vec![(1, vec![1]), (2, vec![2, 4])],
            unit_fs: 1,
            ..BlockChanges::default()
        };
        // Variable 1 is high, and of variable 2 the least significant bit.
        changes.set_frame(b"xx101");
        let mut seen = Vec::new();
        let mut sink = |given: &[SignalChange]| seen.extend_from_slice(given);
        changes.levels.end(0, &mut sink);
        changes.levels.set(7, 2);
        changes.levels.finish(5, &mut sink);
        let change = |(time_fs, signals)| SignalChange { time_fs, signals, unknown: 0 };
        assert_eq!(seen, [(0, 0), (5, 1)].map(change));
    }

    #[test]
    fn a_pause_of_a_dump_makes_no_level_known() {
        let (mut levels, mut seen) = (SignalLevels::default(), Vec::new());
        levels.set(3, 1);
        levels.put(2, SignalLevel::Unknown);
        let hidden = levels.hide();
        levels.show(hidden);
        levels.finish(5, &mut |given| seen.extend_from_slice(given));
        assert_eq!(seen, [SignalChange { time_fs: 5, signals: 0, unknown: 2 }]);
    }

    /// Variables with changes of their own, with those of another, named or as the last one, and with none.
    #[test]
    fn the_places_of_changes_are_those_of_the_variables_that_have_them() {
        let mut state = 1_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for round in 0..2000 {
            let (mut table, mut starts, mut last) = (Vec::new(), Vec::new(), None);
            let mut owners: Vec<Option<usize>> = Vec::new();
            let count = usize::try_from(draw(20)).unwrap() + 1;
            while owners.len() < count {
                match draw(4) {
                    0 => {
                        let none = draw(3) + 1;
                        put((none << 1).into(), &mut table);
                        owners.extend((0..none).map(|_| None));
                    }
                    1 if !owners.is_empty() => {
                        let named = usize::try_from(draw(9)).unwrap() % owners.len();
                        put(-2 * (i64::try_from(named).unwrap() + 1) + 1, &mut table);
                        last = owners[named];
                        owners.push(last);
                    }
                    2 if !owners.is_empty() => {
                        put(1, &mut table);
                        owners.push(last);
                    }
                    _ => {
                        let step = draw(300) + 1;
                        put((step << 1 | 1).into(), &mut table);
                        owners.push(Some(starts.len()));
                        starts.push(starts.last().unwrap_or(&0) + u64::from(step));
                    }
                }
            }
            let places = ChainPlaces::parse(&table, CHANGES_ALIAS_2, owners.len()).unwrap();
            for (variable, owner) in owners.iter().enumerate() {
                let end = |chain| starts.get(chain + 1).copied().unwrap_or(9999);
                let expected = owner.map(|chain| starts[chain]..end(chain));
                assert_eq!(places.of(variable, 9999), expected, "{round}: {variable}");
            }
        }
    }
}
