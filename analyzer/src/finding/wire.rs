//! What the characters of a channel tell by themselves: codes, fill, what stands behind FRES. Takes a
//! step for every run of data, of silence, and every other control code; a repeat costs a few rounds.

use codec::Chars;
use codec::capture::{Chunk, Content};
use codec::character::{Heard, Symbol, hear};
use codec::chars::Run;
use codec::tick::{OPEN_LINK, Tick};

use super::ledger::Scribe;
use super::{Fact, Kind};
use crate::link::assume::{Key, Parameters};

/// The characters of one channel.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    next: Option<Tick>,
    phase: Phase,
    heeded: Heeded,
    parameters: Parameters,
    /// Whether two periods in a row were without a character, as that fill has none.
    pauses: bool,
}

/// All that decides what further characters bring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Phase {
    /// Silent periods in a row, no more counted than open a link.
    silent: u64,
    /// Whether anything but IDLE has come.
    life: Life,
    behind: Behind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    None,
    Heard,
}

/// What the last FRES is waiting for. R-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Behind {
    /// There was none, or GAP has come.
    #[default]
    Nothing,
    /// The character behind it: GAP, STOP or GO.
    Reset,
    /// STOP or GO has come: now GAP.
    Command,
    /// It did not come in time, but R-2 goes on.
    Late(Dropped),
}

/// Whether data has come between FRES and GAP. R-2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    No,
    Yes,
}

/// Symbols that rules are about, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Heeded {
    codes: u64,
    optional: u64,
    resets: u64,
}

impl Wire {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            next: None,
            phase: Phase::default(),
            heeded: Heeded::default(),
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
    pub(super) fn feed(&mut self, chunk: &Chunk<'_>, scribe: &mut Scribe<'_>) {
        if self.next != Some(chunk.first) {
            self.phase = Phase::default();
        }
        let mut at = chunk.first;
        self.heeded = Heeded::default();
        match chunk.content {
            Content::Literal(chars) => self.chars(&mut at, chars, &mut |kind, at, more| {
                scribe.note(kind, at, || facts(kind, more));
            }),
            Content::Repeat { pattern, count } => self.repeat(&mut at, pattern, count, scribe),
        }
        self.next = Some(at);
        let Heeded { codes, optional, resets } = self.heeded;
        let seen = scribe.seen();
        seen.characters = seen.characters.saturating_add(chunk.periods());
        seen.codes = seen.codes.saturating_add(codes);
        seen.optional = seen.optional.saturating_add(optional);
        seen.resets = seen.resets.saturating_add(resets);
    }

    /// Takes rounds of a repeat until one leaves things as it found them: all others bring the same.
    fn repeat(&mut self, at: &mut Tick, pattern: Chars<'_>, count: u64, scribe: &mut Scribe<'_>) {
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

    fn chars(&mut self, at: &mut Tick, chars: Chars<'_>, out: &mut impl FnMut(Kind, Tick, u8)) {
        for run in chars.runs() {
            match run {
                Run::Data(data) => {
                    self.alive(*at, out);
                    self.data(*at, out);
                    at.0 += data.len() as u64;
                }
                Run::Control(codes) => {
                    self.heeded.codes += codes.len() as u64;
                    self.control(at, codes, out);
                }
            }
        }
    }

    fn control(&mut self, at: &mut Tick, codes: &[u8], out: &mut impl FnMut(Kind, Tick, u8)) {
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
            match hear(*code) {
                Heard::Exact(symbol) => self.symbol(*at, symbol, out),
                Heard::Corrected(symbol) => {
                    out(Kind::CorrectedCode, *at, *code);
                    self.symbol(*at, symbol, out);
                }
                Heard::Invalid => {
                    out(Kind::InvalidCode, *at, *code);
                    self.late(*at, out);
                }
            }
            at.0 += 1;
            rest = after;
        }
    }

    fn symbol(&mut self, at: Tick, symbol: Symbol, out: &mut impl FnMut(Kind, Tick, u8)) {
        match symbol {
            Symbol::Gap => {
                self.phase.behind = Behind::Nothing;
                return;
            }
            Symbol::Go | Symbol::Stop if self.phase.behind == Behind::Reset => {
                self.phase.behind = Behind::Command;
                return;
            }
            Symbol::ForwardReset => {
                self.late(at, out);
                self.phase.behind = Behind::Reset;
                self.heeded.resets += 1;
                return out(Kind::ForwardReset, at, 0);
            }
            Symbol::OverrunAlarm => out(Kind::OverrunAlarm, at, 0),
            Symbol::BackwardReset => out(Kind::BackwardReset, at, 0),
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
    fn alive(&mut self, at: Tick, out: &mut impl FnMut(Kind, Tick, u8)) {
        let Phase { silent, life, .. } = self.phase;
        if life == Life::Heard && (2..OPEN_LINK.0).contains(&silent) {
            self.pauses = true;
            if self.parameters.is_told_default(Key::FillVariant) {
                // Fewer than 16.
                out(Kind::UnlikeFill, Tick(at.0 - silent), u8::try_from(silent).unwrap_or(u8::MAX));
            }
        }
        (self.phase.silent, self.phase.life) = (0, Life::Heard);
    }

    /// Something other than what is due behind FRES has come. R-1
    fn late(&mut self, at: Tick, out: &mut impl FnMut(Kind, Tick, u8)) {
        match self.phase.behind {
            Behind::Nothing | Behind::Late(_) => {}
            Behind::Reset | Behind::Command => {
                self.phase.behind = Behind::Late(Dropped::No);
                if self.parameters.is_told_default(Key::ResetVariant) {
                    out(Kind::ResetNotEnded, at, 0);
                }
            }
        }
    }

    ///
    fn data(&mut self, at: Tick, out: &mut impl FnMut(Kind, Tick, u8)) {
        self.late(at, out);
        if self.phase.behind == Behind::Late(Dropped::No) {
            self.phase.behind = Behind::Late(Dropped::Yes);
            out(Kind::DataInReset, at, 0);
        }
    }
}

impl Heeded {
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
fn facts(kind: Kind, more: u8) -> Vec<Fact> {
    if kind == Kind::CorrectedCode {
        let symbol = hear(more).symbol().map_or("", Symbol::family);
        return vec![Fact::byte("code", more), Fact::word("symbol", symbol)];
    }
    if kind == Kind::UnlikeFill {
        return vec![Fact::number("periods", u64::from(more))];
    }
    if kind == Kind::InvalidCode { vec![Fact::byte("code", more)] } else { Vec::new() }
}
