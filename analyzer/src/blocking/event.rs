//! What is told of waits: stops with their reasons, and deadlocks.

use crate::event::Picoseconds;
use codec::capture::ChannelId;

use crate::event::ResumeCause;

/// What is told, in order of the time at which it became known.
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
    /// When it was stopped.
    pub since: Picoseconds,
    /// When that ended.
    pub until: Picoseconds,
    /// The same in periods of the channel.
    pub periods: u64,
    /// Periods from the first byte of the packet that was held up on the channel itself, if one was, to
    /// the end of the stop.
    pub sending: Option<u64>,
    /// How it ended.
    pub ended: StopEnd,
    /// The number of the packet that was at the head of the input behind the channel, where known.
    pub packet: Option<u64>,
    /// The channels that it waited for, one for the other, the nearest first; those of the longest
    /// part of the stop, if they changed.
    pub chain: Vec<ChannelId>,
    /// The number of the stop of the first of them, if that was stopped too.
    pub behind: Option<u64>,
    /// What the last of them, or the channel itself, was held up by.
    pub root: WaitRoot,
    /// Whose packets had the output that the packet at the head asked for.
    pub holders: Vec<OutputHolder>,
}

/// How a stop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopEnd {
    /// The sender was released. F-2, F-7, R-1
    Resumed(ResumeCause),
    /// What commands it was not recorded for a while.
    Hole,
    /// The recording ended.
    CaptureEnd,
}

/// Why the last channel of a chain could not go on.
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
    /// What comes next was not captured, or is not known.
    OutOfSight,
}

/// An input whose packets had an output while another waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputHolder {
    /// The channel that leads to the input.
    pub channel: ChannelId,
    /// How many of its packets.
    pub packets: u64,
}

/// Senders that wait for each other in a circle, each stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Each waits for the next, the last for the first; the first is that of the smallest name.
    pub channels: Vec<ChannelId>,
    /// When the last of them was stopped, or asked for the next.
    pub since: Picoseconds,
    /// When it was broken, or the recording ended.
    pub until: Picoseconds,
    /// The same in periods of the first channel; R-4 breaks it after 2²².
    pub periods: u64,
    /// What broke it, and which of them went on; none if it was not broken.
    pub broken: Option<(ChannelId, DeadlockRelease)>,
}

/// What breaks a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlockRelease {
    /// A sender was released.
    Resumed(ResumeCause),
    /// A packet asks for its output no more: it was dropped, or cut off.
    Dropped,
    /// What commands a sender was not recorded for a while.
    Hole,
}

/// Periods after which a sender that is stopped, or sends one packet, must give up. R-4 (§4.6.2)
pub const BLOCKED_TIMEOUT: u64 = 1 << 22;

impl StopReport {
    /// Whether the blocked-packet timeout ended it, of the stop or of the packet: a deadlock or a dead
    /// sink is ahead. R-4
    #[must_use]
    pub fn timed_out(&self) -> bool {
        let periods = self.periods.max(self.sending.unwrap_or(0));
        self.ended == StopEnd::Resumed(ResumeCause::Reset) && periods >= BLOCKED_TIMEOUT
    }
}
