//! Characters on the nine wires of a channel. W-1 to W-8 (§5.1)
//!
//! A 1 of a character is a transition of its wire, a 0 is none, so IDLE is silence. [`WireEncoder`]
//! gives the transitions of characters; [`WindowDecoder`] reads them as a receiver does, with a
//! window that the first transition of a character opens. [`ClockRecovery`] reads a recording: it
//! recovers the sender's clock and the delay of each wire, and places each character in its period,
//! also where the skew exceeds what a receiver tolerates.
//!
//! Times are femtoseconds since the beginning of the recording: 2⁶⁴ of them are 5.1 hours.

mod diagnosis;
mod edge_tracker;
mod evidence;
mod map;
mod recovery;
mod sender_clock;

pub use diagnosis::WiringFault;
pub use evidence::WireEvidence;
pub use map::{GuessedMap, WireMap, find_order, guess_map};
pub use recovery::{ClockRecovery, EyeHistogram, PlacedCharacter, WireQuality};
pub use sender_clock::SenderClock;

use crate::character::Character;

/// Wires of a channel: wire 0 to 7 carry the bits of the low byte, wire 8 carries `d`. W-1
pub const WIRES: usize = 9;

/// Femtoseconds in a picosecond.
pub const FS_PER_PS: u64 = 1000;

/// Wires that change their level at one time. W-1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireTransition {
    /// Femtoseconds since the beginning of the recording.
    pub time_fs: u64,
    /// Bit i is set if wire i changes, as in [`Character::bits`].
    pub wires: u16,
}

impl WireTransition {
    /// The wires that change, by number.
    pub fn each(self) -> impl Iterator<Item = usize> {
        let mut left = u32::from(self.wires);
        std::iter::from_fn(move || {
            let wire = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (wire < WIRES).then_some(wire)
        })
    }
}

/// Sender and cable of a channel: characters to transitions. W-1, W-2
#[derive(Clone, Debug)]
pub struct WireEncoder {
    period_fs: u64,
    /// Edge of `sendclk` that sends the next character.
    next_fs: u64,
    /// Transitions that a later character may precede, in order of time.
    pending: Vec<WireTransition>,
}

impl WireEncoder {
    /// A sender with a character period, whose first character leaves at `first_fs`.
    pub const fn new(period_fs: u64, first_fs: u64) -> Self {
        Self { period_fs, next_fs: first_fs, pending: Vec::new() }
    }

    /// Sends one character. `delay_fs` is the delay of a wire at this transition: skew, jitter and
    /// the difference between its edges. Transitions are given in order of time once no later
    /// character can precede them; those of one time are given together.
    pub fn send(
        &mut self,
        character: Character,
        mut delay_fs: impl FnMut(usize) -> u64,
        transition: impl FnMut(WireTransition),
    ) {
        let wires = WireTransition { time_fs: self.next_fs, wires: character.bits() };
        for wire in wires.each() {
            self.toggle(self.next_fs.saturating_add(delay_fs(wire)), wire);
        }
        self.next_fs = self.next_fs.saturating_add(self.period_fs);
        self.give_before(self.next_fs, transition);
    }

    /// Sends IDLE for some periods.
    pub fn idle(&mut self, periods: u64, transition: impl FnMut(WireTransition)) {
        self.next_fs = self.next_fs.saturating_add(self.period_fs.saturating_mul(periods));
        self.give_before(self.next_fs, transition);
    }

    /// Changes the level of a wire at a time that is not earlier than the next character: a glitch
    /// is two such changes. W-8
    pub fn toggle(&mut self, time_fs: u64, wire: usize) {
        let at = self.pending.partition_point(|pending| pending.time_fs < time_fs);
        match self.pending.get_mut(at) {
            Some(same) if same.time_fs == time_fs => same.wires ^= 1 << wire,
            _ => self.pending.insert(at, WireTransition { time_fs, wires: 1 << wire }),
        }
    }

    /// Gives all transitions that remain.
    pub fn finish(mut self, transition: impl FnMut(WireTransition)) {
        self.give_before(u64::MAX, transition);
    }

    fn give_before(&mut self, end_fs: u64, transition: impl FnMut(WireTransition)) {
        let ready = self.pending.partition_point(|pending| pending.time_fs < end_fs);
        let given = self.pending.drain(..ready);
        // Two changes of a wire at one time are none.
        given.filter(|given| given.wires != 0).for_each(transition);
    }
}

/// Receiver of a channel: transitions to characters. The first transition opens a window; all
/// transitions inside it belong to one character, a later one to the next. W-3
#[derive(Clone, Debug)]
pub struct WindowDecoder {
    window_fs: u64,
    open: Option<WireTransition>,
}

impl WindowDecoder {
    /// A receiver with a sampling window: half a character period, if nothing else is set. W-3
    pub const fn new(window_fs: u64) -> Self {
        Self { window_fs, open: None }
    }

    /// Takes a transition, not earlier than those before. Returns the character that it ends, with
    /// the time of its first transition.
    pub fn receive(&mut self, transition: WireTransition) -> Option<(u64, Character)> {
        match &mut self.open {
            Some(open) if transition.time_fs.saturating_sub(open.time_fs) <= self.window_fs => {
                open.wires |= transition.wires;
                None
            }
            open => open.replace(transition).map(received),
        }
    }

    /// Ends a character whose window is over before a time.
    pub fn settle(&mut self, time_fs: u64) -> Option<(u64, Character)> {
        self.open
            .take_if(|open| time_fs.saturating_sub(open.time_fs) > self.window_fs)
            .map(received)
    }

    /// The last character.
    pub fn finish(self) -> Option<(u64, Character)> {
        self.open.map(received)
    }
}

const fn received(open: WireTransition) -> (u64, Character) {
    (open.time_fs, Character::from_bits(open.wires))
}
