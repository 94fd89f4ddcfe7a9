//! Checks of a channel's characters: codes, fill, and the characters that must follow FRES. They
//! process the events of the receiver's framer; a repeat costs a few iterations.

use codec::Chars;
use codec::capture::{Channel, Chunk, ChunkContent, StartState};
use codec::character::{DecodedCode, Symbol, decode_control};
use codec::framing::{FrameEvent, Framer, FramerMode, LinkRules};
use codec::time::{OPEN_LINK, Tick};

use super::sink::FindingSink;
use super::wires::{OpenWireCodes, open_wire};
use super::{FindingFact, FindingKind};
use crate::link::parameters::{ChannelParameters, ParameterKey};

#[derive(Clone, Debug)]
pub(super) struct SymbolChecker {
    next: Option<Tick>,
    /// First character other than IDLE. F-7
    pub(super) used: Option<Tick>,
    phase: SymbolPhase,
    acted: ActedSymbols,
    open_wires: OpenWireCodes,
    parameters: ChannelParameters,
    rules: LinkRules,
    /// True after two consecutive periods without a character, which the chips' fill never has.
    pub(super) pauses: bool,
}

/// State that determines the findings in the following characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SymbolPhase {
    /// Consecutive silent periods, at most the number that opens a link.
    silent: u64,
    /// True once a character other than IDLE was captured.
    is_alive: bool,
    behind: ResetFollower,
}

/// State after the last FRES. R-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResetFollower {
    /// No FRES, or GAP has followed.
    #[default]
    Nothing,
    /// GAP, STOP or GO must follow.
    Reset,
    /// STOP or GO has followed; GAP must follow.
    Command,
    /// GAP has not followed in time; the reset continues, and data has been dropped or not. R-2
    Late { has_dropped: bool },
}

/// Counters of the symbols that rules apply to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ActedSymbols {
    codes: u64,
    optional: u64,
    resets: u64,
}

impl From<StartState> for SymbolPhase {
    fn from(start: StartState) -> Self {
        // A reset across the cut is not checked.
        let behind = match start.packet {
            Some(FramerMode::Reset) => ResetFollower::Late { has_dropped: true },
            Some(FramerMode::Between | FramerMode::Inside) | None => ResetFollower::Nothing,
        };
        Self { silent: start.silent, is_alive: start.alive == Some(true), behind }
    }
}

impl SymbolChecker {
    pub(super) fn new(channel: &Channel, parameters: &ChannelParameters) -> Self {
        let start = StartState::of(channel);
        Self {
            next: start.map(|start| start.at),
            used: start.and_then(|start| start.alive).map(|_| Tick(0)),
            phase: start.map(SymbolPhase::from).unwrap_or_default(),
            acted: ActedSymbols::default(),
            open_wires: OpenWireCodes::default(),
            parameters: *parameters,
            rules: channel.link_rules(),
            pauses: false,
        }
    }

    /// The character after the last one.
    pub(super) fn next(&self) -> Tick {
        self.next.unwrap_or_default()
    }

    /// Begins a chunk. The characters of a literal chunk follow by [`SymbolChecker::observe`]; a
    /// repeat is processed here.
    pub(super) fn begin(&mut self, chunk: &Chunk<'_>, sink: &mut FindingSink<'_>) {
        if self.next != Some(chunk.first) {
            self.phase = SymbolPhase::default();
        }
        self.acted = ActedSymbols::default();
        if let ChunkContent::Repeat { pattern, count } = chunk.content {
            self.repeat(chunk.first, pattern, count, sink);
        }
    }

    pub(super) fn end(&mut self, chunk: &Chunk<'_>, sink: &mut FindingSink<'_>) {
        self.next = Some(chunk.end());
        let ActedSymbols { codes, optional, resets } = self.acted;
        let seen = sink.seen();
        seen.characters = seen.characters.saturating_add(chunk.periods());
        seen.codes = seen.codes.saturating_add(codes);
        seen.optional = seen.optional.saturating_add(optional);
        seen.resets = seen.resets.saturating_add(resets);
    }

    /// Processes iterations of a repeat until one leaves the state unchanged: all later ones have
    /// the same findings.
    fn repeat(&mut self, first: Tick, pattern: Chars<'_>, count: u64, sink: &mut FindingSink<'_>) {
        let mut framer = Framer::new().with_rules(self.rules);
        framer.seek(first, &mut |_, _| {});
        let mut left = count;
        let mut found = Vec::new();
        while left > 0 {
            found.clear();
            let (phase, acted, wires) = (self.phase, self.acted, self.open_wires);
            framer.feed(pattern, &mut |at, event| {
                self.check(at, event, &mut |kind, at, more| {
                    sink.note(kind, at, || facts(kind, more));
                    found.push((kind, at));
                });
            });
            left -= 1;
            if self.phase != phase || self.open_wires.suspected != wires.suspected {
                continue;
            }
            let later = left.saturating_mul(pattern.len() as u64);
            for (kind, at) in &found {
                sink.again(*kind, left, Tick(at.0.saturating_add(later)));
            }
            self.acted.repeat(&acted, left);
            if let Some((wire, at)) = self.open_wires.repeat(&wires, left) {
                sink.note(FindingKind::WireOpen, at, || open_wire(wire));
            }
            return;
        }
    }

    /// Processes characters of a literal chunk.
    #[inline]
    pub(super) fn observe(&mut self, at: Tick, event: FrameEvent<'_>, sink: &mut FindingSink<'_>) {
        self.check(at, event, &mut |kind, at, more| sink.note(kind, at, || facts(kind, more)));
    }

    #[inline]
    fn check(
        &mut self,
        at: Tick,
        event: FrameEvent<'_>,
        out: &mut impl FnMut(FindingKind, Tick, u8),
    ) {
        match event {
            FrameEvent::Start(bytes) | FrameEvent::Data(bytes) | FrameEvent::Discarded(bytes) => {
                self.open_wires.data(bytes);
                self.alive(at, out);
                self.data(at, out);
            }
            FrameEvent::Idle(periods) => {
                self.acted.codes += periods;
                self.late(at, out);
                let silent = self.phase.silent.saturating_add(periods);
                self.phase.silent = silent.min(OPEN_LINK.0);
            }
            FrameEvent::Fill(codes) => self.acted.codes += codes.len() as u64,
            FrameEvent::Control { code, decoded } => {
                self.acted.codes += 1;
                if let Some((wire, at)) = self.open_wires.code(at, code, decoded) {
                    out(FindingKind::WireOpen, at, wire);
                }
                self.alive(at, out);
                match decoded {
                    DecodedCode::Exact(symbol) => self.symbol(at, symbol, out),
                    DecodedCode::Corrected(symbol) => {
                        out(FindingKind::CorrectedCode, at, code);
                        self.symbol(at, symbol, out);
                    }
                    DecodedCode::Invalid => {
                        out(FindingKind::InvalidCode, at, code);
                        self.late(at, out);
                    }
                }
            }
            FrameEvent::Begin | FrameEvent::Hole { .. } | FrameEvent::Synchronized => {}
            FrameEvent::LinkRestored | FrameEvent::End(_) | FrameEvent::LinkOpen => {}
            FrameEvent::Reset | FrameEvent::ResetEnded => {}
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
                self.acted.resets += 1;
                return out(FindingKind::ForwardReset, at, 0);
            }
            Symbol::OverrunAlarm => out(FindingKind::OverrunAlarm, at, 0),
            Symbol::BackwardReset => out(FindingKind::BackwardReset, at, 0),
            Symbol::Probe(_) | Symbol::Reply(_) => {}
            // A period of another virtual channel. C-7
            Symbol::Virtual { .. } => return,
            // IDLE is no character. C-6
            Symbol::Go | Symbol::Stop | Symbol::Idle | _ => {
                return self.late(at, out);
            }
        }
        self.acted.optional += 1;
        self.late(at, out);
    }

    /// Processes the end of a silence. F-8
    fn alive(&mut self, at: Tick, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        let SymbolPhase { silent, is_alive, .. } = self.phase;
        if is_alive && (2..OPEN_LINK.0).contains(&silent) {
            self.pauses = true;
            if self.parameters.is_declared_default(ParameterKey::FillVariant) {
                let periods = u8::try_from(silent).unwrap_or(u8::MAX);
                out(FindingKind::UnexpectedFill, Tick(at.0 - silent), periods);
            }
        }
        (self.phase.silent, self.phase.is_alive) = (0, true);
        self.used.get_or_insert(at);
    }

    /// Processes a character other than the one that must follow FRES. R-1
    fn late(&mut self, at: Tick, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        if let ResetFollower::Reset | ResetFollower::Command = self.phase.behind {
            self.phase.behind = ResetFollower::Late { has_dropped: false };
            if self.parameters.is_declared_default(ParameterKey::ResetVariant) {
                out(FindingKind::ResetNotEnded, at, 0);
            }
        }
    }

    /// Checks a data byte. R-2
    fn data(&mut self, at: Tick, out: &mut impl FnMut(FindingKind, Tick, u8)) {
        self.late(at, out);
        if let ResetFollower::Late { has_dropped: has_dropped @ false } = &mut self.phase.behind {
            *has_dropped = true;
            out(FindingKind::DataInReset, at, 0);
        }
    }
}

impl ActedSymbols {
    /// Adds the counts since `before` another `times` times.
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

fn facts(kind: FindingKind, more: u8) -> Vec<FindingFact> {
    if kind == FindingKind::CorrectedCode {
        let symbol = decode_control(more).symbol().map_or("", Symbol::family);
        vec![FindingFact::byte("code", more), FindingFact::word("symbol", symbol)]
    } else if kind == FindingKind::WireOpen {
        open_wire(more)
    } else if kind == FindingKind::UnexpectedFill {
        vec![FindingFact::number("periods", u64::from(more))]
    } else if kind == FindingKind::InvalidCode {
        vec![FindingFact::byte("code", more)]
    } else {
        Vec::new()
    }
}
