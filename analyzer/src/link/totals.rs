//! What the states of a channel add up to. F-4, R-6, L

use codec::character::ProbeNumber;
use codec::packet::CrcCheck;
use codec::time::{Tick, Ticks};

use super::activity::ActivityHistory;
use crate::counters::ChannelCounters;
use crate::packet::{PacketEnd, ReceivedPacket};

/// Sums of periods, one for each of some kinds of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodTotals<const N: usize>([u64; N]);

/// What a channel carried and did, added up; its size does not grow.
#[derive(Clone, Debug, Default)]
pub struct ChannelTotals {
    /// Characters by kind.
    pub tally: ChannelCounters,
    /// Periods in each state, in the order of [`super::state::ChannelActivity::ALL`].
    pub times: PeriodTotals<7>,
    /// What it was doing when.
    pub history: ActivityHistory,
    /// STOP and GO that said something else than the one before. F-3
    pub commands: u64,
    /// When its sender had to pause.
    pub stops: StopTotals,
    /// Its packets.
    pub packets: PacketTotals,
    /// Its PRB0, and `REPLx` on the opposite channel.
    pub pings: PingTotals,
}

/// How often and for how long a sender was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopTotals {
    /// How often.
    pub count: u64,
    /// For how many periods in all, whatever else was the matter, to the end of the recording.
    pub periods: u64,
    /// The longest, in periods.
    pub longest: u64,
}

/// Packets by what ended them, and by their CRC byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketTotals {
    /// By GAP. P-1
    pub gap: u64,
    /// By 16 silent periods. F-7
    pub open_link: u64,
    /// By FRES. R-2
    pub reset: u64,
    /// By a hole.
    pub hole: u64,
    /// By the end of the recording.
    pub capture_end: u64,
    /// With a CRC byte that is right. P-4
    pub good: u64,
    /// With one that is not. P-5
    pub bad: u64,
    /// Without one. P-9
    pub runt: u64,
}

/// Pings and the time to their answers, in periods. R-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PingTotals {
    /// The last one, as long as it has not been answered.
    waiting: Option<Tick>,
    /// How many were sent.
    pub sent: u64,
    /// How many were answered.
    pub answered: u64,
    sum: u128,
    /// The shortest and the longest time to an answer.
    pub range: Option<(u64, u64)>,
}

impl<const N: usize> Default for PeriodTotals<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> PeriodTotals<N> {
    pub(super) fn add(&mut self, index: usize, periods: Ticks) {
        if let Some(time) = self.0.get_mut(index) {
            *time += periods.0;
        }
    }

    /// The sums.
    #[must_use]
    pub const fn periods(&self) -> &[u64; N] {
        &self.0
    }
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
            PacketEnd::Gap => self.gap += 1,
            PacketEnd::OpenLink => self.open_link += 1,
            PacketEnd::Reset => self.reset += 1,
            PacketEnd::Hole => self.hole += 1,
            PacketEnd::CaptureEnd => self.capture_end += 1,
        }
        match packet.check {
            CrcCheck::Good => self.good += 1,
            CrcCheck::Bad(_) => self.bad += 1,
            CrcCheck::Runt => self.runt += 1,
        }
    }

    /// All of them.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.good + self.bad + self.runt
    }
}

impl PingTotals {
    /// A probe passes. Reading: an answer is that to the last probe, and only PRB0 is a ping.
    pub fn sent(&mut self, at: Tick, number: ProbeNumber) {
        let ping = number.value() == 0;
        self.sent += u64::from(ping);
        self.waiting = ping.then_some(at);
    }

    /// An answer passes on the opposite channel.
    pub fn answered(&mut self, at: Tick) {
        let Some(sent) = self.waiting.take() else { return };
        let periods = at.since(sent).0;
        self.answered += 1;
        self.sum += u128::from(periods);
        let (min, max) = self.range.unwrap_or((periods, periods));
        self.range = Some((min.min(periods), max.max(periods)));
    }

    /// Something was not recorded: the answer may be among it.
    pub(super) const fn forget(&mut self) {
        self.waiting = None;
    }

    /// The mean time to an answer, in thousandths of a period.
    #[must_use]
    pub fn mean_thousandths(&self) -> Option<u128> {
        (self.sum * 1000).checked_div(u128::from(self.answered))
    }
}
