//! Totals of one channel. F-4, R-6, L

use codec::character::ProbeNumber;
use codec::packet::CrcCheck;
use codec::time::{Tick, Ticks};

use super::activity::ActivityHistory;
use super::interval::PeriodTotals;
use crate::counters::ChannelCounters;
use crate::packet::{FrameEnd, ReceivedPacket};

/// Totals of a channel; their size does not grow.
#[derive(Clone, Debug, Default)]
pub struct ChannelTotals {
    /// Characters by kind.
    pub counters: ChannelCounters,
    /// Periods in each activity, in the order of [`super::interval::ChannelActivity::ALL`].
    pub times: PeriodTotals<7>,
    /// Activity over time.
    pub history: ActivityHistory,
    /// STOP and GO that changed the state of the opposite sender. F-3
    pub commands: u64,
    /// Stops of its sender.
    pub stops: StopTotals,
    /// Its packets.
    pub packets: PacketTotals,
    /// PRB0 on it, and `REPLx` on the opposite channel.
    pub pings: PingTotals,
}

/// Stops of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopTotals {
    /// Number of stops.
    pub count: u64,
    /// Periods in all, in any activity, from the first to the last recorded character, holes between them included.
    pub periods: u64,
    /// The longest, in periods.
    pub longest: u64,
}

/// Packets by the cause of their end, and by their CRC byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketTotals {
    /// Ended by GAP. P-1
    pub gap: u64,
    /// Ended by 16 silent periods. F-7
    pub open_link: u64,
    /// Ended by FRES. R-2
    pub reset: u64,
    /// Ended by a hole.
    pub hole: u64,
    /// Ended by the end of the recording.
    pub capture_end: u64,
    /// With a correct CRC byte. P-4
    pub good: u64,
    /// With a wrong CRC byte. P-5
    pub bad: u64,
    /// Without a CRC byte. P-9
    pub runt: u64,
    /// Without its start or its end in the recording. P-7
    pub partial: u64,
}

/// Pings and their response times, in periods. R-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PingTotals {
    /// The last ping, until it is answered.
    waiting: Option<Tick>,
    /// Pings sent.
    pub sent: u64,
    /// Pings answered.
    pub answered: u64,
    pub(super) sum: u128,
    /// The shortest and the longest response time.
    pub range: Option<(u64, u64)>,
}

impl StopTotals {
    pub(super) fn ended(&mut self, periods: Ticks) {
        self.periods += periods.0;
        self.longest = self.longest.max(periods.0);
    }
}

impl PacketTotals {
    pub(super) const fn add(&mut self, packet: &ReceivedPacket) {
        match packet.ended_by {
            FrameEnd::Gap => self.gap += 1,
            FrameEnd::OpenLink => self.open_link += 1,
            FrameEnd::Reset => self.reset += 1,
            FrameEnd::Hole => self.hole += 1,
            FrameEnd::CaptureEnd => self.capture_end += 1,
        }
        match packet.check {
            CrcCheck::Good => self.good += 1,
            CrcCheck::Bad(_) => self.bad += 1,
            CrcCheck::Runt => self.runt += 1,
            CrcCheck::Partial => self.partial += 1,
        }
    }

    /// Number of packets.
    pub const fn count(&self) -> u64 {
        self.good + self.bad + self.runt + self.partial
    }

    /// Packets with a wrong CRC byte or none. Of those that were not recorded whole it is not known. P-7
    pub const fn not_good(&self) -> u64 {
        self.bad + self.runt
    }
}

impl PingTotals {
    /// Counts a probe. Reading: a reply answers the last probe, and only PRB0 is a ping.
    pub fn sent(&mut self, at: Tick, number: ProbeNumber) {
        let ping = number.value() == 0;
        self.sent += u64::from(ping);
        self.waiting = ping.then_some(at);
    }

    /// Counts a reply on the opposite channel.
    pub fn answered(&mut self, at: Tick) {
        let Some(sent) = self.waiting.take() else { return };
        let periods = at.since(sent).0;
        self.answered += 1;
        self.sum += u128::from(periods);
        let (min, max) = self.range.unwrap_or((periods, periods));
        self.range = Some((min.min(periods), max.max(periods)));
    }

    /// Forgets the last ping: its answer may be in a hole.
    pub(super) const fn forget(&mut self) {
        self.waiting = None;
    }
}
