//! Reported events: stops with their causes, and deadlocks.

use crate::event::{Picoseconds, ResumeCause};
use codec::capture::ChannelId;
use codec::time::FULL_RATE_PERIOD_PS;

use crate::named_enum::named_enum;

/// A reported event, in order of the time at which it became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockingEvent {
    /// A stop that ended, or lasted to the end of the recording.
    Stop(StopReport),
    /// A wait-for cycle that lasted too long to resolve itself.
    Deadlock(Deadlock),
}

/// A stop of a channel's sender. F-1
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopReport {
    /// Number of the stop from 0, in order of the beginnings.
    pub number: u64,
    /// The channel.
    pub channel: ChannelId,
    /// Time of its beginning.
    pub since: Picoseconds,
    /// Time of its end.
    pub until: Picoseconds,
    /// Duration in periods of the channel.
    pub periods: u64,
    /// Periods from the first byte of the packet held up on the channel itself, if there is one, to
    /// the end of the stop.
    pub sending: Option<u64>,
    /// Cause of its end.
    pub ended: StopEnd,
    /// Number of the packet at the head of the input behind the channel, if known.
    pub packet: Option<u64>,
    /// Chain of channels that it waited for, the nearest first; for the longest part of the stop if
    /// the chain changed.
    pub chain: Vec<ChannelId>,
    /// Number of the stop of the first channel of the chain, if that was stopped too.
    pub behind: Option<u64>,
    /// Cause of the wait at the end of the chain.
    pub root: WaitRoot,
    /// Inputs whose packets held the requested output.
    pub holders: Vec<OutputHolder>,
    /// Its cause at the end of the recording, if it lasted to that.
    pub standing: Option<EndCause>,
}

/// Cause of a stop at its last moment, whatever it waited for before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndCause {
    /// Time from which on it waited for that.
    pub since: Picoseconds,
    /// Chain of stopped channels up to the cause, the nearest first.
    pub chain: Vec<ChannelId>,
    /// Cause at the end of the chain.
    pub root: WaitRoot,
}

/// Cause of the end of a stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopEnd {
    /// The sender was released. F-2, F-7, R-1
    Resumed(ResumeCause),
    /// The opposite channel, which carries STOP and GO, has a hole.
    Hole,
    /// The recording ended.
    #[default]
    CaptureEnd,
}

named_enum! {
    /// Cause of the wait at the end of a chain.
    #[derive(Default)]
    pub enum WaitRoot {
        /// The host behind the channel accepted nothing. I-4
        Host = "host",
        /// The channel was busy with packets of other inputs: saturation only. S-3
        Busy = "busy",
        /// No other packet was there: the switch formed a path. S-6
        Switch = "switch",
        /// No other packet was there, and the output is slower than the input: by its rate, because each byte is
        /// acknowledged, or because other virtual channels share its wire. B-1, C-7
        SlowOutput = "slow-output",
        /// No other packet was seen there, for longer than a path takes to form, or that time is not known. S-6
        Unknown = "unknown",
        /// The chain is cyclic: deadlock, or the channel waits behind one.
        Cycle = "deadlock",
        /// The link of the channel was open. F-7
        OpenLink = "open-link",
        /// The next channel is uncaptured or unknown.
        #[default]
        OutOfSight = "out-of-sight",
    }
}

impl WaitRoot {
    /// True if the last channel of the chain is the cause itself: it was not stopped.
    pub(crate) const fn is_at_output(self) -> bool {
        match self {
            Self::Busy | Self::Switch | Self::SlowOutput | Self::Unknown | Self::OpenLink => true,
            Self::Host | Self::Cycle | Self::OutOfSight => false,
        }
    }
}

/// An input whose packets held an output for which another packet waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputHolder {
    /// The channel that leads to the input.
    pub channel: ChannelId,
    /// Number of its packets.
    pub packets: u64,
}

/// Stopped senders that wait for one another in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Channels of the cycle: each waits for the next, the last for the first. The first has the
    /// smallest name.
    pub channels: Vec<ChannelId>,
    /// Time at which the last of them was stopped or requested the next.
    pub since: Picoseconds,
    /// Time from which no character under way could end it.
    pub certain: Picoseconds,
    /// Time of its end, or of the end of the recording of its links.
    pub until: Picoseconds,
    /// Duration in periods of the first channel; R-4 breaks it after 2²².
    pub periods: u64,
    /// The first channel whose wait ended, with the cause; `None` if none did.
    pub broken: Option<(ChannelId, DeadlockRelease)>,
}

/// Cause of the end of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlockRelease {
    /// A sender was released.
    Resumed(ResumeCause),
    /// A packet no longer requests its output: it was dropped or truncated.
    Dropped,
    /// The channel that carries STOP and GO of a sender has a hole.
    Hole,
}

/// Minimum duration of a wait to the end of the recording that counts as a standstill. *Chosen*: 51 µs, as long as
/// a packet of 4 kB.
pub const STANDS: Picoseconds = (1 << 12) * FULL_RATE_PERIOD_PS as Picoseconds;

/// Minimum duration of a wait to the end of the recording that counts as a standstill if its cause is out of sight, or if
/// it is no tenth of the recording. *Chosen*: 0.8 ms, 16 packets of 4 kB, one from each other port of a switch.
pub const STANDS_UNSEEN: Picoseconds = 16 * STANDS;

/// Periods after which a sender that is stopped, or sends one packet, times out. R-4 (§4.6.2)
pub const BLOCKED_TIMEOUT: u64 = 1 << 22;

impl StopReport {
    /// True if the blocked-packet timeout of the stop or of the packet ended the stop: evidence of
    /// a deadlock or a dead receiver ahead. R-4
    pub fn timed_out(&self) -> bool {
        let periods = self.periods.max(self.sending.unwrap_or(0));
        self.ended == StopEnd::Resumed(ResumeCause::Reset) && periods >= BLOCKED_TIMEOUT
    }
}
