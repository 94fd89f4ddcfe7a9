//! Results: stops with their causes, and deadlocks.

use crate::event::Picoseconds;
use codec::capture::ChannelId;

use crate::event::ResumeCause;

/// A result, in order of the time at which it became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockingEvent {
    /// A sender was stopped, and has been released since; or is stopped when the recording ends.
    Stop(StopReport),
    /// Senders that waited for each other in a circle.
    Deadlock(Deadlock),
}

/// A channel's sender was stopped. F-1
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReport {
    /// Counts from 0, in the order in which stops began.
    pub number: u64,
    /// The channel.
    pub channel: ChannelId,
    /// Time at which it was stopped.
    pub since: Picoseconds,
    /// Time at which that ended.
    pub until: Picoseconds,
    /// The same in periods of the channel.
    pub periods: u64,
    /// Periods from the first byte of the packet that was held up on the channel itself, if one was, to
    /// the end of the stop.
    pub sending: Option<u64>,
    /// Its end.
    pub ended: StopEnd,
    /// The number of the packet that was at the head of the input behind the channel, where known.
    pub packet: Option<u64>,
    /// The channels that it waited for, one for the other, the nearest first; those of the longest
    /// part of the stop, if they changed.
    pub chain: Vec<ChannelId>,
    /// The number of the stop of the first of them, if that was stopped too.
    pub behind: Option<u64>,
    /// Cause of the wait of the last of them, or of the channel itself.
    pub root: WaitRoot,
    /// Inputs whose packets held the output that the packet at the head requested.
    pub holders: Vec<OutputHolder>,
}

/// The end of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopEnd {
    /// The sender was released. F-2, F-7, R-1
    Resumed(ResumeCause),
    /// The opposite channel, which commands it, has a hole.
    Hole,
    /// The recording ended.
    CaptureEnd,
}

/// Reason why the last channel of a chain could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitRoot {
    /// The host behind it took nothing. I-4
    Host,
    /// It was busy with packets of others: no more than saturation. S-3
    Busy,
    /// Nobody else was seen there: the switch formed a path, or its output is slower than its input. S-6
    Switch,
    /// It waited for itself: deadlock, or the channel waits behind one.
    Cycle,
    /// Its link was open. F-7
    OpenLink,
    /// The next channel was not captured, or is unknown.
    OutOfSight,
}

/// An input whose packets had an output while another waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputHolder {
    /// The channel that leads to the input.
    pub channel: ChannelId,
    /// Number of of its packets.
    pub packets: u64,
}

/// Senders that wait for each other in a circle, each stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Each waits for the next, the last for the first; the first is that of the smallest name.
    pub channels: Vec<ChannelId>,
    /// Time at which the last of them was stopped, or asked for the next.
    pub since: Picoseconds,
    /// Time at which it was broken, or the recording ended.
    pub until: Picoseconds,
    /// The same in periods of the first channel; R-4 breaks it after 2²².
    pub periods: u64,
    /// The channel that was released first, and the reason; none if it was not broken.
    pub broken: Option<(ChannelId, DeadlockRelease)>,
}

/// Reason for the end of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlockRelease {
    /// A sender was released.
    Resumed(ResumeCause),
    /// A packet asks for its output no more: it was dropped, or cut off.
    Dropped,
    /// The channel that commands a sender has a hole.
    Hole,
}

/// Periods after which a sender that is stopped, or sends one packet, must give up. R-4 (§4.6.2)
pub const BLOCKED_TIMEOUT: u64 = 1 << 22;

impl StopReport {
    /// True if the blocked-packet timeout ended it, of the stop or of the packet: a deadlock or a dead
    /// sink is ahead. R-4
    #[must_use]
    pub fn timed_out(&self) -> bool {
        let periods = self.periods.max(self.sending.unwrap_or(0));
        self.ended == StopEnd::Resumed(ResumeCause::Reset) && periods >= BLOCKED_TIMEOUT
    }
}
