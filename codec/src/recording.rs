//! Recordings of instruments: levels of signals over time. W-1, W-2
//!
//! A recording has signals of one bit each; a signal of several bits counts as several. Its reader
//! gives the changes of some of them in order of time, with memory that does not grow with the file.

mod content;
mod error;
pub mod export;
#[cfg(feature = "recordings")]
pub mod fst;
pub mod import;
mod levels;
mod line;
#[cfg(feature = "recordings")]
pub mod sigrok;
#[cfg(feature = "recordings")]
pub mod table;
mod variables;
pub mod vcd;
mod vcd_writer;
mod words;

pub use content::ContentCounts;
pub use error::{RecordingError, RecordingPlace};
pub use vcd_writer::VcdWriter;

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

/// Receiver of changes in order of time, several at once.
pub type ChangeSink<'a> = dyn FnMut(&[SignalChange]) + 'a;
