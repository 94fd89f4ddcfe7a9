//! What the characters of a channel tell by themselves: codes, fill, what stands behind FRES. Takes a
//! step for every run of data, of silence, and every other control code; a repeat costs a few rounds.

use codec::Chars;
use codec::capture::{Chunk, ChunkContent};
use codec::character::{DecodedCode, Symbol, decode_control};
use codec::chars::CharRun;
use codec::time::{OPEN_LINK, Tick};

use super::set::FindingSink;
use super::{FindingFact, FindingKind};
use crate::link::parameters::{ChannelParameters, ParameterKey};

/// The characters of one channel.
#[derive(Clone, Debug)]
pub(super) struct SymbolChecker {
    next: Option<Tick>,
    phase: SymbolPhase,
    heeded: ActedSymbol,
    parameters: ChannelParameters,
    /// Whether two periods in a row were without a character, as that fill has none.
    pauses: bool,
}

/// All that decides what further characters bring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SymbolPhase {
    /// Silent periods in a row, no more counted than open a link.
    silent: u64,
    /// Whether anything but IDLE has come.
    life: ChannelLife,
    behind: ResetFollower,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChannelLife {
    #[default]
    None,
    Heard,
}

/// What the last FRES is waiting for. R-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResetFollower {
    /// There was none, or GAP has come.
    #[default]
    Nothing,
    /// The character behind it: GAP, STOP or GO.
    Reset,
    /// STOP or GO has come: now GAP.
    Command,
    /// It did not come in time, but R-2 goes on.
    Late(DroppedData),
}

/// Whether data has come between FRES and GAP. R-2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DroppedData {
    No,
    Yes,
}

/// Symbols that rules are about, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ActedSymbol {
    codes: u64,
    optional: u64,
    resets: u64,
}

impl SymbolChecker {
    pub(super) fn new(parameters: &ChannelParameters) -> Self {
        Self {
            next: None,
            phase: SymbolPhase::default(),
            heeded: ActedSymbol::default(),
            parameters: *parameters,
            pauses: false,
        }
    }

    /// Whether the channel's fill is not that of Myricom's chips.
    pub(super) const fn pauses(&self) -> bool {
        self.pauses
    }

    /// The place behind the last character.
    pub(super) fn next(&self) -> Tick {
        self.next.unwrap_or_default()
    }

    /// Takes the next characters.
    pub(super) fn feed(&mut self, chunk: &Chunk<'_>, scribe: &mut FindingSink<'_>) {
        if self.next != Some(chunk.first) {
            self.phase = SymbolPhase::default();
        }
        let mut at = chunk.first;
        self.heeded = ActedSymbol::default();
        match chunk.content {
            ChunkContent::Literal(chars) => self.chars(&mut at, chars, &mut |kind, at, more| {
                scribe.note(kind, at, || facts(kind, more));
            }),
            ChunkContent::Repeat { pattern, count } => self.repeat(&mut at, pattern, count, scribe),
        }
        self.next = Some(at);
        let ActedSymbol { codes, optional, resets } = self.heeded;
        let seen = scribe.seen();
        seen.characters = seen.characters.saturating_add(chunk.periods());
        seen.codes = seen.codes.saturating_add(codes);
        seen.optional = seen.optional.saturating_add(optional);
        seen.resets = seen.resets.saturating_add(resets);
    }

    /// Takes rounds of a repeat until one leaves things as it found them: all others bring the same.
    fn repeat(
        &mut self,
        at: &mut Tick,
        pattern: Chars<'_>,
        count: u64,
        scribe: &mut FindingSink<'_>,
    ) {
        let mut left = count;
        let mut brought = Vec::new();
        while left > 0 {
            brought.clear();
            let (phase, heeded) = (self.phase, self.heeded);
            self.chars(at, pattern, &mut |kind, at, more| {
                scribe.note(kind, at, || facts(kind, more));
                brought.push((kind, at));
            });
            left -= 1;
            if self.phase != phase {
                continue;
            }
            let later = left.saturating_mul(pattern.len() as u64);
            at.0 = at.0.saturating_add(later);
            for (kind, place) in &brought {
                scribe.again(*kind, left, Tick(place.0.saturating_add(later)));
            }
            self.heeded.repeat(&heeded, left);
            return;
        }
    }

    fn chars(
        &mut self,
        at: &mut Tick,
        chars: Chars<'_>,
        out: &mut impl FnMut(FindingKind, Tick, u8),
    ) {
        for run in chars.runs() {
            match run {
                CharRun::Data(data) => {
                    self.alive(*at, out);
                    self.data(*at, out);
                    at.0 += data.len() as u64;
                }
                CharRun::Control(codes) => {
                    self.heeded.codes += codes.len() as u64;
                    self.control(at, codes, out);
                }
            }
        }
    }

    fn control(
        &mut self,
        at: &mut Tick,
        codes: &[u8],
        out: &mut impl FnMut(FindingKind, Tick, u8),
    ) {
        let mut rest = codes;
        while let Some((code, after)) = rest.split_first() {
            if *code == 0 {
                let idle = rest.iter().position(|code| *code != 0).unwrap_or(rest.len());
                self.late(*at, out);
                let silent = self.phase.silent.saturating_add(idle as u64);
                self.phase.silent = silent.min(OPEN_LINK.0);
                at.0 += idle as u64;
                rest = rest.get(idle..).unwrap_or_default();
                continue;
            }
            self.alive(*at, out);
            match decode_control(*code) {
                DecodedCode::Exact(symbol) => self.symbol(*at, symbol, out),
                DecodedCode::Corrected(symbol) => {
                    out(FindingKind::CorrectedCode, *at, *code);
                    self.symbol(*at, symbol, out);
                }
                DecodedCode::Invalid => {
                    out(FindingKind::InvalidCode, *at, *code);
                    self.late(*at, out);
                }
            }
            at.0 += 1;
            rest = after;
        }
    }

    fn symbol(&mut self, at: Tick, symbol: Symbol, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        match symbol {
            Symbol::Gap => {
                self.phase.behind = ResetFollower::Nothing;
                return;
            }
            Symbol::Go | Symbol::Stop if self.phase.behind == ResetFollower::Reset => {
                self.phase.behind = ResetFollower::Command;
                return;
            }
            Symbol::ForwardReset => {
                self.late(at, out);
                self.phase.behind = ResetFollower::Reset;
                self.heeded.resets += 1;
                return out(FindingKind::ForwardReset, at, 0);
            }
            Symbol::OverrunAlarm => out(FindingKind::OverrunAlarm, at, 0),
            Symbol::BackwardReset => out(FindingKind::BackwardReset, at, 0),
            Symbol::Probe(_) | Symbol::Reply(_) => {}
            // IDLE is no character (C-6); symbols without codes do not come (C-7).
            Symbol::Go | Symbol::Stop | Symbol::Idle | Symbol::Virtual { .. } | _ => {
                return self.late(at, out);
            }
        }
        self.heeded.optional += 1;
        self.late(at, out);
    }

    /// A character other than IDLE has come. F-8
    fn alive(&mut self, at: Tick, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        let SymbolPhase { silent, life, .. } = self.phase;
        if life == ChannelLife::Heard && (2..OPEN_LINK.0).contains(&silent) {
            self.pauses = true;
            if self.parameters.is_declared_default(ParameterKey::FillVariant) {
                // Fewer than 16.
                out(
                    FindingKind::UnexpectedFill,
                    Tick(at.0 - silent),
                    u8::try_from(silent).unwrap_or(u8::MAX),
                );
            }
        }
        (self.phase.silent, self.phase.life) = (0, ChannelLife::Heard);
    }

    /// Something other than what is due behind FRES has come. R-1
    fn late(&mut self, at: Tick, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        match self.phase.behind {
            ResetFollower::Nothing | ResetFollower::Late(_) => {}
            ResetFollower::Reset | ResetFollower::Command => {
                self.phase.behind = ResetFollower::Late(DroppedData::No);
                if self.parameters.is_declared_default(ParameterKey::ResetVariant) {
                    out(FindingKind::ResetNotEnded, at, 0);
                }
            }
        }
    }

    ///
    fn data(&mut self, at: Tick, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        self.late(at, out);
        if self.phase.behind == ResetFollower::Late(DroppedData::No) {
            self.phase.behind = ResetFollower::Late(DroppedData::Yes);
            out(FindingKind::DataInReset, at, 0);
        }
    }
}

impl ActedSymbol {
    /// Counts what has come since `before` so many times more.
    const fn repeat(&mut self, before: &Self, times: u64) {
        const fn more(now: u64, before: u64, times: u64) -> u64 {
            now.saturating_add((now - before).saturating_mul(times))
        }
        *self = Self {
            codes: more(self.codes, before.codes, times),
            optional: more(self.optional, before.optional, times),
            resets: more(self.resets, before.resets, times),
        };
    }
}

/// What is to be said about what a character says.
fn facts(kind: FindingKind, more: u8) -> Vec<FindingFact> {
    if kind == FindingKind::CorrectedCode {
        let symbol = decode_control(more).symbol().map_or("", Symbol::family);
        return vec![FindingFact::byte("code", more), FindingFact::word("symbol", symbol)];
    }
    if kind == FindingKind::UnexpectedFill {
        return vec![FindingFact::number("periods", u64::from(more))];
    }
    if kind == FindingKind::InvalidCode {
        vec![FindingFact::byte("code", more)]
    } else {
        Vec::new()
    }
}
