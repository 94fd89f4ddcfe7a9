//! Recordings of instruments: levels of signals over time. W-1, W-2
//!
//! A recording has signals of one bit each; a signal of several bits counts as several. Its reader
//! gives the changes of some of them in order of time, with memory that does not grow with the file.

mod content;
mod error;
pub mod export;
pub mod import;
mod levels;
#[cfg(feature = "recordings")]
pub mod sigrok;
#[cfg(feature = "recordings")]
pub mod table;
pub mod vcd;
mod vcd_writer;
mod words;

pub use content::ContentCounts;
pub use error::{RecordingError, RecordingPlace};
pub use vcd_writer::VcdWriter;

use crate::wires::WireTransition;

/// Most signals that are read together: three channels of nine wires fit.
pub const SELECTED_MAX: usize = 32;

/// Changes of selected signals at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalChange {
    /// Femtoseconds since the beginning of the recording.
    pub time_fs: u64,
    /// Bit i is set if the level of selected signal i changes.
    pub signals: u32,
}

impl SignalChange {
    /// The part of a channel whose nine signals begin at a number; `None` if none of them changes.
    pub fn channel(self, first: u32) -> Option<WireTransition> {
        let [low, high, ..] = self.signals.checked_shr(first)?.to_le_bytes();
        let wires = u16::from_le_bytes([low, high & 1]);
        (wires != 0).then_some(WireTransition { time_fs: self.time_fs, wires })
    }
}
