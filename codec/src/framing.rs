//! Framing: characters in pieces of any size to frames, control symbols and link states.
//! P-1, P-7, P-8, C-4, C-5, F-7, R-2
//!
//! A frame is the data between two framing marks. [`crate::packet`] parses its bytes.

mod codes;
mod link_rules;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::codes::{ControlCodes, code, fill_len, run};
pub use self::link_rules::LinkRules;
use crate::character::{DecodedCode, Symbol};
use crate::chars::{CharRun, Chars};
use crate::time::{LinkTimeout, OPEN_LINK, Tick};

/// An event on a channel, at the place of its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEvent<'a> {
    /// First recorded character of the channel.
    Begin,
    /// Characters missing from the recording before this place. The framer starts afresh.
    Hole {
        /// Number of missing characters.
        missing: u64,
    },
    /// From here on the packet boundaries are known: the first GAP, FRES or sixteenth silent period
    /// of the channel, or after a hole. P-1, F-7, R-2
    Synchronized,
    /// End of an open-link period, before the event of the character that ends it. F-7
    LinkRestored,
    /// First bytes of a frame, at least one. P-7
    Start(&'a [u8]),
    /// Further bytes of the frame. P-8
    Data(&'a [u8]),
    /// Data between FRES and the next GAP. R-2
    Discarded(&'a [u8]),
    /// A run of IDLEs of this length. C-6
    Idle(u64),
    /// Codes of GAP, GO and STOP, each that of the second character before it: all but commands have their effect once,
    /// and the first two of them came as [`Self::Control`]. F-8
    Fill(&'a [u8]),
    /// Any other control code, before its effects. C-2..C-5
    Control {
        /// The received code.
        code: u8,
        /// The symbol, if the code has one.
        decoded: DecodedCode,
    },
    /// End of the current frame.
    End(FrameEnd),
    /// Sixteenth silent period in a row, after the end of the frame that it cuts off. F-7
    LinkOpen,
    /// FRES, after the end of the frame that it cuts off. R-2
    Reset,
    /// First GAP after FRES. R-2
    ResetEnded,
}

crate::named_enum! {
    /// Event that ended a frame.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum FrameEnd {
        /// A GAP, corrected ones (C-4) included. P-1
        Gap = "gap",
        /// 16 silent periods. F-7
        OpenLink = "open-link",
        /// FRES. R-2, R-3
        Reset = "reset",
        /// Missing characters.
        Hole = "hole",
        /// End of the recording.
        CaptureEnd = "capture-end",
    }
}

/// Streaming framer of one channel. It takes one step per run of data or of IDLE and per control
/// code, whatever the length of the runs, and never allocates.
///
/// ```
/// use myriscope_codec::framing::{FrameEnd, FrameEvent, Framer};
///
/// let chars = myriscope_codec::notation::parse("83 05 STOP 92 GAP")?;
/// let (mut framer, mut bytes) = (Framer::new(), Vec::new());
/// framer.feed(chars.chars(), &mut |at, event| match event {
///     FrameEvent::Start(data) | FrameEvent::Data(data) => bytes.extend_from_slice(data),
///     FrameEvent::End(end) => assert_eq!((at.0, end), (4, FrameEnd::Gap)),
///     _ => {}
/// });
/// assert_eq!(bytes, [0x83, 0x05, 0x92]);
/// # Ok::<(), myriscope_codec::notation::NotationError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Framer {
    next: Option<Tick>,
    state: FramerState,
    rules: LinkRules,
}

/// Everything that decides the events of further characters, apart from their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FramerState {
    mode: FramerMode,
    /// Silent periods since the last other character, at most [`OPEN_LINK`]: then the link is open.
    silent: u64,
    synchronized: bool,
}

/// Position relative to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FramerMode {
    /// The next data character starts a frame. P-7
    #[default]
    Between,
    /// The next data character belongs to the frame of the last one.
    Inside,
    /// Data is discarded up to the next GAP. R-2
    Reset,
}

impl FramerState {
    /// Position of the next character relative to packets, if it is known. P-7
    pub const fn mode(&self) -> Option<FramerMode> {
        match (self.mode, self.synchronized) {
            (FramerMode::Between, false) => None,
            (mode, _) => Some(mode),
        }
    }

    /// Silent periods since the last other character, at most [`OPEN_LINK`]: then the link is open.
    pub const fn silent(&self) -> u64 {
        self.silent
    }
}

impl Framer {
    /// A framer before the first character.
    pub const fn new() -> Self {
        let state = FramerState { mode: FramerMode::Between, silent: 0, synchronized: false };
        Self { next: None, state, rules: LinkRules::MYRINET }
    }

    /// The framer of a link with other rules.
    pub const fn with_rules(self, rules: LinkRules) -> Self {
        Self { rules, ..self }
    }

    /// Rules of the link.
    pub const fn rules(&self) -> LinkRules {
        self.rules
    }

    /// Place of the next character, once there was one.
    pub const fn position(&self) -> Option<Tick> {
        self.next
    }

    /// State after the last character.
    pub const fn state(&self) -> FramerState {
        self.state
    }

    /// Sets the place of the next character, at or after the end of the last ones.
    pub fn seek<'a>(&mut self, first: Tick, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        match self.next.replace(first) {
            Some(expected) if expected < first => {
                self.end(first, FrameEnd::Hole, out);
                out(first, FrameEvent::Hole { missing: first.since(expected).0 });
                self.state = FramerState::default();
            }
            None => out(first, FrameEvent::Begin),
            Some(_) => {}
        }
    }

    /// Continues a recording that was cut before the next character, at a position relative to packets if it is known,
    /// after some silent periods. The rest of a packet that began before counts as data whose packet boundaries are not
    /// known.
    pub const fn resume(&mut self, position: Option<FramerMode>, silent: u64) {
        let (mode, synchronized) = match position {
            Some(mode @ (FramerMode::Between | FramerMode::Reset)) => (mode, true),
            Some(FramerMode::Inside) | None => (FramerMode::Between, false),
        };
        self.state = FramerState { mode, silent, synchronized };
    }

    /// Takes the next characters.
    #[inline]
    pub fn feed<'a>(&mut self, chars: Chars<'a>, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        let (mut at, mut rest) = (self.next.unwrap_or_default(), chars);
        while let Ok((after, run)) = run(rest) {
            match run {
                CharRun::Data(bytes) => self.data(at, bytes, out),
                CharRun::Control(codes) => self.control(at, codes, out),
            }
            at.0 += (rest.len() - after.len()) as u64;
            rest = after;
        }
        self.next = Some(at);
    }

    /// Skips characters that would leave the state as it is: further rounds of a repeat.
    pub fn skip(&mut self, periods: u64) {
        self.next = Some(Tick(self.next.unwrap_or_default().0 + periods));
    }

    /// Ends the recording.
    pub fn finish<'a>(&mut self, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        let last = Tick(self.next.unwrap_or_default().0.saturating_sub(1));
        self.end(last, FrameEnd::CaptureEnd, out);
    }

    #[inline]
    fn data<'a>(&mut self, at: Tick, bytes: &'a [u8], out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        self.end_silence(at, out);
        match self.state.mode {
            FramerMode::Between => {
                self.state.mode = FramerMode::Inside;
                out(at, FrameEvent::Start(bytes));
            }
            FramerMode::Inside => out(at, FrameEvent::Data(bytes)),
            FramerMode::Reset => out(at, FrameEvent::Discarded(bytes)),
        }
    }

    #[inline]
    fn control<'a>(
        &mut self,
        mut at: Tick,
        codes: &'a [u8],
        out: &mut impl FnMut(Tick, FrameEvent<'a>),
    ) {
        let mut rest = codes;
        while let Ok((after, code)) = code(rest) {
            let len = (rest.len() - after.len()) as u64;
            match code {
                ControlCodes::Idle => self.idle(at, len, out),
                ControlCodes::Other(code) => self.code(at, code, out),
            }
            at.0 += len;
            rest = after;
            let fill = fill_len(&self.rules, codes, rest);
            if let Some((fill, after)) = rest.split_at_checked(fill).filter(|_| fill > 0) {
                out(at, FrameEvent::Fill(fill));
                at.0 += fill.len() as u64;
                rest = after;
            }
        }
    }

    #[inline]
    fn code<'a>(&mut self, at: Tick, code: u8, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        self.end_silence(at, out);
        let decoded = self.rules.decode(code);
        out(at, FrameEvent::Control { code, decoded });
        match decoded.symbol() {
            Some(Symbol::Gap) => {
                self.synchronize(at, out);
                if self.state.mode == FramerMode::Reset {
                    self.state.mode = FramerMode::Between;
                    out(at, FrameEvent::ResetEnded);
                }
                self.end(at, FrameEnd::Gap, out);
            }
            Some(Symbol::ForwardReset) => {
                self.synchronize(at, out);
                self.end(at, FrameEnd::Reset, out);
                self.state.mode = FramerMode::Reset;
                out(at, FrameEvent::Reset);
            }
            Some(
                Symbol::Idle
                | Symbol::Go
                | Symbol::Stop
                | Symbol::OverrunAlarm
                | Symbol::BackwardReset
                | Symbol::Probe(_)
                | Symbol::Reply(_)
                | Symbol::Virtual { .. },
            )
            | None => {}
        }
    }

    /// F-7
    #[inline]
    fn end_silence<'a>(&mut self, at: Tick, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        if self.state.silent == OPEN_LINK.0 {
            out(at, FrameEvent::LinkRestored);
        }
        self.state.silent = 0;
    }

    /// F-7
    fn idle<'a>(&mut self, at: Tick, periods: u64, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        // There it stands between any two characters, and is no sign of anything.
        if self.rules.timeout == LinkTimeout::Never {
            return;
        }
        out(at, FrameEvent::Idle(periods));
        let missing = OPEN_LINK.0 - self.state.silent;
        self.state.silent += periods.min(missing);
        if missing > 0 && periods >= missing {
            let sixteenth = Tick(at.0 + missing - 1);
            self.synchronize(sixteenth, out);
            self.end(sixteenth, FrameEnd::OpenLink, out);
            out(sixteenth, FrameEvent::LinkOpen);
        }
    }

    #[inline]
    fn synchronize<'a>(&mut self, at: Tick, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        if !self.state.synchronized {
            self.state.synchronized = true;
            out(at, FrameEvent::Synchronized);
        }
    }

    #[inline]
    fn end<'a>(&mut self, at: Tick, end: FrameEnd, out: &mut impl FnMut(Tick, FrameEvent<'a>)) {
        if self.state.mode == FramerMode::Inside {
            self.state.mode = FramerMode::Between;
            out(at, FrameEvent::End(end));
        }
    }
}

/// A frame as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Place of the first byte.
    pub start: Tick,
    /// The bytes, CRC byte included: borrowed where no symbol stands among them. P-8
    pub bytes: Cow<'a, [u8]>,
    /// Event that ended it.
    pub end: FrameEnd,
}

/// The frames of some characters, the first of which stands at place 0.
pub fn frames(chars: Chars<'_>) -> impl Iterator<Item = Frame<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    Framer::new().feed(chars, &mut |start, event| match (event, frames.last_mut()) {
        (FrameEvent::Start(bytes), _) => {
            frames.push(Frame { start, bytes: bytes.into(), end: FrameEnd::CaptureEnd });
        }
        (FrameEvent::Data(bytes), Some(frame)) => frame.bytes.to_mut().extend_from_slice(bytes),
        (FrameEvent::End(end), Some(frame)) => frame.end = end,
        _ => {}
    });
    frames.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    /// The frames of a text, and the events of its characters fed in pieces of `len`.
    fn check(text: &str, len: usize) -> (Vec<String>, Vec<String>) {
        let chars = parse(text).unwrap();
        let shown =
            |frame: Frame<'_>| format!("{} {:02x?} {}", frame.start, frame.bytes, frame.end.name());
        let (mut events, mut framer) = (Vec::new(), Framer::new());
        let mut rest = chars.chars();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(len);
            framer.feed(piece, &mut |at, event| {
                let silent = matches!(
                    event,
                    FrameEvent::Idle(_) | FrameEvent::Fill(_) | FrameEvent::Control { .. }
                );
                events.extend((!silent).then(|| format!("{at} {event:02x?}")));
            });
            rest = after;
        }
        (frames(chars.chars()).map(shown).collect(), events)
    }

    #[test]
    fn gaps_weakened_too_separate_frames_and_symbols_inside_are_no_part() {
        let (shown, _) = check("83 05 92 GAP GAP GO GAP 01 07", 100);
        assert_eq!(shown, ["0 [83, 05, 92] gap", "7 [01, 07] capture-end"]);
        assert_eq!(check("GAP GO IDLE×100", 100).0, [""; 0]);
        let chars = parse("83 05 92 GAP 83 GO 05").unwrap();
        let owned = frames(chars.chars()).map(|frame| matches!(frame.bytes, Cow::Owned(_)));
        assert_eq!(owned.collect::<Vec<_>>(), [false, true]);
        let (frames, events) = check("STOP 83 STOP!07 IDLE 05 GO 92 IDLE GAP!08 IDLE", 100);
        assert_eq!(frames, ["1 [83, 05, 92] gap"]);
        let rest =
            ["1 Start([83])", "4 Data([05])", "6 Data([92])", "8 Synchronized", "8 End(Gap)"];
        assert_eq!(events, rest);
    }

    /// F-7, R-2
    #[test]
    fn resets_open_links_holes_and_the_end_of_the_recording_end_frames() {
        let text = "83 FRES 05 GAP 07 IDLE×15 06 IDLE×20 GAP 01";
        let (frames, events) = check(text, 100);
        assert_eq!(frames, ["0 [83] reset", "4 [07, 06] open-link", "42 [01] capture-end"]);
        let expected = "0 Start([83]); 1 Synchronized; 1 End(Reset); 1 Reset; 2 Discarded([05]); 3 ResetEnded; 4 Start([07]); \
                        20 Data([06]); 36 End(OpenLink); 36 LinkOpen; 41 LinkRestored; 42 Start([01])";
        let expected: Vec<_> = expected.split("; ").collect();
        assert_eq!(events, expected);
        (1..20).for_each(|len| assert_eq!(check(text, len).1, expected, "pieces of {len}"));
        let (mut events, mut framer) = (Vec::new(), Framer::new());
        let chars = parse("83 05").unwrap();
        let mut out = |at: Tick, event: FrameEvent<'_>| events.push(format!("{at} {event:?}"));
        for first in [7, 9, 20] {
            framer.seek(Tick(first), &mut out);
            framer.feed(chars.chars(), &mut out);
        }
        assert_eq!((framer.position(), framer.state().synchronized), (Some(Tick(22)), false));
        framer.finish(&mut out);
        let expected = "7 Begin; 7 Start([131, 5]); 9 Data([131, 5]); 20 End(Hole); 20 Hole { missing: 9 }; \
                        20 Start([131, 5]); 21 End(CaptureEnd)";
        assert_eq!(events, expected.split("; ").collect::<Vec<_>>());
    }
}
