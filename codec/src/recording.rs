//! Recordings of instruments: levels of signals over time. W-1, W-2
//!
//! A recording has signals of one bit each; a signal of several bits counts as several. Its reader
//! gives the changes of some of them in order of time, with memory that does not grow with the file.

mod content;
mod decimal;
mod error;
pub mod export;
#[cfg(feature = "recordings")]
pub mod format;
#[cfg(feature = "recordings")]
pub mod fst;
pub mod import;
mod levels;
mod line;
mod selection;
#[cfg(feature = "recordings")]
pub mod sigrok;
#[cfg(feature = "recordings")]
pub mod table;
mod variables;
pub mod vcd;
mod vcd_writer;
mod words;

pub use content::ContentCounts;
#[cfg(feature = "recordings")]
pub use decimal::SampleDistance;
pub use error::{RecordingError, RecordingPlace};
pub use selection::{SignalGroup, WireSelection, channel_of_scope};
pub use variables::SignalTable;
pub use vcd_writer::VcdWriter;

/// Most signals that are read together: seven channels of nine wires fit.
pub const SELECTED_MAX: usize = 64;

/// Changes of selected signals at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalChange {
    /// Femtoseconds since the beginning of the recording.
    pub time_fs: u64,
    /// Bit i is set if the level of selected signal i changes.
    pub signals: u64,
    /// Bit i is set if selected signal i had a level and has none from here on, until a later change; with the bit in
    /// `signals`, if it has its first level, and may have changed.
    pub unknown: u64,
}

impl SignalChange {
    /// Bit i is set if the level of selected signal i changes beyond doubt.
    pub const fn certain(&self) -> u64 {
        self.signals & !self.unknown
    }
}

/// Receiver of changes in order of time, several at once.
pub type ChangeSink<'a> = dyn FnMut(&[SignalChange]) + 'a;

/// Reader of the signals of a recording.
pub trait SignalReader {
    /// The signals, one a bit.
    fn signals(&self) -> &SignalTable;

    /// Gives the changes of some signals, by their numbers, in order of time: the first of them, perhaps of none, at the first
    /// time. The first level of a signal is no change; an unknown level leaves the level as it was, and the change says so.
    /// All levels are unknown behind the end, if it is known: a list of changes does not tell it.
    fn read(self: Box<Self>, selected: &[usize], sink: &mut ChangeSink<'_>) -> ReadSummary;
}

/// What the changes of a recording do not tell.
#[derive(Debug, Default)]
pub struct ReadSummary {
    /// Selected signals that had a level at some time.
    pub known: u64,
    /// Selected signals, by number, whose level was not known from the beginning on, and the time of their first.
    pub late: Vec<(u32, u64)>,
    /// Selected signals whose level was unknown later.
    pub lost: u64,
    /// True if the last line of a text has no end, so that what it says may be cut.
    pub is_cut_line: bool,
    /// Damage that ended the reading. What precedes it has been given.
    pub error: Option<RecordingError>,
}
