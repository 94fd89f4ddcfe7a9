//! Counters of a channel: O(runs) per chunk, O(pattern) per repeat of any length.

use codec::Chars;
use codec::capture::{Channel, ChannelId, Chunk};
use codec::character::{CodeTable, DecodedCode, Symbol};
use codec::chars::CharRun;
use codec::time::Tick;
use codec::virtual_channels::SelectCodes;

use crate::row::FieldShape::{List, Place};
use crate::row::{FieldType, NamedValues, RowField, row};

/// Kinds of symbols that have codes, in the order of C-2.
const FAMILIES: [&str; 10] =
    ["IDLE", "GAP", "GO", "STOP", "ORUN", "FRES", "BRES", "PRBn", "REPLx", "VCn"];
/// Classes of codes: exact and corrected symbols of each family, and the invalid ones.
const CLASSES: usize = 2 * FAMILIES.len() + 1;
const INVALID: usize = CLASSES - 1;
/// Class of selections of virtual channels, which a link profile gives codes. C-7
const SELECTION: usize = FAMILIES.len() - 1;

static CLASS: [usize; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
const fn classes() -> [usize; 256] {
    let mut table = [INVALID; 256];
    let mut code = 0;
    while code < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let decoded = CodeTable::STANDARD.decode(code as u8);
        table[code] = match decoded {
            DecodedCode::Exact(symbol) => family(symbol),
            DecodedCode::Corrected(symbol) => FAMILIES.len() + family(symbol),
            DecodedCode::Invalid => INVALID,
        };
        code += 1;
    }
    table
}

/// Index in [`FAMILIES`].
const fn family(symbol: Symbol) -> usize {
    match symbol {
        Symbol::Idle => 0,
        Symbol::Gap => 1,
        Symbol::Go => 2,
        Symbol::Stop => 3,
        Symbol::OverrunAlarm => 4,
        Symbol::ForwardReset => 5,
        Symbol::BackwardReset => 6,
        Symbol::Probe(_) => 7,
        Symbol::Reply(_) => 8,
        // Without a code in the standard table. C-7
        Symbol::Virtual { .. } => SELECTION,
        _ => INVALID,
    }
}

/// Counters of one channel. None overflows: a channel has fewer than 2⁶⁴ characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounters {
    codes: [u64; CLASSES],
    data: u64,
    holes: u64,
    /// Codes of selections. C-7
    selects: SelectCodes,
    /// The first character, and the one after the last.
    span: Option<(Tick, Tick)>,
}

impl ChannelCounters {
    /// Counters of a channel before its first character.
    pub fn of(channel: &Channel) -> Self {
        Self { selects: channel.link_rules().selects, ..Self::default() }
    }

    /// Counts the next chunk of the channel.
    pub fn feed(&mut self, chunk: &Chunk<'_>) {
        let (chars, times) = chunk.content.parts();
        self.count(chars, times.unwrap_or(1));
        let (first, end) = self.span.unwrap_or((chunk.first, chunk.first));
        self.holes += u64::from(end < chunk.first);
        self.span = Some((first, chunk.end()));
    }

    fn count(&mut self, chars: Chars<'_>, times: u64) {
        for run in chars.runs() {
            match run {
                CharRun::Data(bytes) => self.data += times * bytes.len() as u64,
                CharRun::Control(codes) => {
                    for code in codes {
                        #[expect(clippy::indexing_slicing, reason = "a class for each code")]
                        let class = match CLASS[usize::from(*code)] {
                            INVALID if self.selects.channel(*code).is_some() => SELECTION,
                            class => class,
                        };
                        #[expect(clippy::indexing_slicing, reason = "classes below CLASSES")]
                        let count = &mut self.codes[class];
                        *count += times;
                    }
                }
            }
        }
    }

    /// Number of characters of all kinds.
    pub fn characters(&self) -> u64 {
        self.data + self.codes.iter().sum::<u64>()
    }

    /// Number of data bytes.
    pub const fn data(&self) -> u64 {
        self.data
    }

    /// Control symbols by kind, corrected ones included; only kinds that occurred. C-2, C-4
    pub fn control(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let (exact, rest) = self.codes.split_at(FAMILIES.len());
        let both = exact.iter().zip(rest).map(|(exact, corrected)| exact + corrected);
        FAMILIES.into_iter().zip(both).filter(|(_, count)| *count > 0)
    }

    /// Number of corrected symbols. C-4
    pub fn corrected(&self) -> u64 {
        self.codes.iter().skip(FAMILIES.len()).take(FAMILIES.len()).sum()
    }

    /// Number of codes that are no symbol. C-5
    pub const fn invalid(&self) -> u64 {
        self.codes[INVALID]
    }

    /// Number of holes between the first and the last character.
    pub const fn holes(&self) -> u64 {
        self.holes
    }

    /// The first and the last character.
    pub fn span(&self) -> Option<(Tick, Tick)> {
        self.span.map(|(first, end)| (first, Tick(end.0 - 1)))
    }

    /// The row of `docs/output.md`.
    pub fn row<'a>(
        &self,
        id: ChannelId,
        channel: &'a Channel,
        peer: Option<ChannelId>,
    ) -> CountersRow<'a> {
        CountersRow {
            index: id.0,
            name: &channel.name,
            peer: peer.map(|peer| peer.0),
            period_ps: channel.period.ps(),
            characters: self.characters(),
            data: self.data,
            control: NamedValues(self.control().collect()),
            corrected: self.corrected(),
            invalid: self.invalid(),
            holes: self.holes,
            first: self.span().map(|(first, _)| first.0),
            last: self.span().map(|(_, last)| last.0),
        }
    }
}

row! {
    /// A channel of `myriscope info`; fields as in `docs/output.md`.
    pub struct CountersRow<'a> at (first, last) {
        index: u32, "", "", "number of the channel's interface in the file";
        name: &'a str, "", "", "name of the channel";
        peer: Option<u32>, "", "", "index of the opposite channel";
        period_ps: u64, "ps", "", "character period";
        characters: u64, "characters", "", "characters recorded";
        data: u64, "bytes", "C-1", "data bytes";
        control: NamedValues<u64> as List, "kinds", "C-2", "control symbols, by kind" => CONTROL;
        corrected: u64, "characters", "C-4", "symbols that had to be corrected";
        invalid: u64, "characters", "C-5", "control codes that are no symbol";
        holes: u64, "holes", "", "stretches that were not recorded";
        first: Option<u64> as Place, "characters", "", "place of the first character";
        last: Option<u64> as Place, "characters", "", "place of the last character";
    }
}

macro_rules! counted {
    ($($name:literal $rule:literal),+) => {
        &[$(RowField::new($name, u64::SHAPE, "characters", $rule, "how many of these").of_some()),+]
    };
}

/// Members of `control`.
pub(crate) const CONTROL: &[RowField] = counted! {
    "IDLE" "C-6", "GAP" "P-1", "GO" "F-1", "STOP" "F-1", "ORUN" "F-9", "FRES" "R-2", "BRES" "R-5",
    "PRBn" "R-6", "REPLx" "R-6", "VCn" "C-7"
};

#[cfg(test)]
mod tests {
    use super::*;
    use codec::capture::ChunkContent;
    use codec::notation::parse;

    #[test]
    fn a_repeat_counts_as_its_characters() {
        let pattern = parse("GAP!04 83 !a6 PRB3 GO").unwrap();
        let mut repeated = ChannelCounters::default();
        let content = ChunkContent::Repeat { pattern: pattern.chars(), count: 1_000_000_000 };
        repeated.feed(&Chunk { first: Tick(7), content });
        assert_eq!(repeated.characters(), 5_000_000_000);
        assert_eq!((repeated.data(), repeated.invalid()), (1_000_000_000, 1_000_000_000));
        assert_eq!(repeated.corrected(), 1_000_000_000);
        let kinds: Vec<_> = repeated.control().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["GAP", "GO", "PRBn"]);
        assert_eq!(repeated.span(), Some((Tick(7), Tick(5_000_000_006))));
    }

    #[test]
    fn only_what_lies_between_chunks_is_a_hole() {
        let chars = parse("IDLE×3").unwrap();
        let mut counters = ChannelCounters::default();
        for first in [100, 103, 110, 200] {
            counters
                .feed(&Chunk { first: Tick(first), content: ChunkContent::Literal(chars.chars()) });
        }
        assert_eq!((counters.holes(), counters.characters()), (2, 12));
        assert_eq!(counters.span(), Some((Tick(100), Tick(202))));
    }
}
