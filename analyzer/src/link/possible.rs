//! Knowledge of a channel and its sender, and the activities that it leaves possible. F-1, F-7, R-2

use std::collections::VecDeque;

use codec::framing::FramerMode;
use codec::time::Tick;

use super::interval::{ChannelActivity, WireState};
use super::led::LedTraffic;

/// Where a channel is relative to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PacketPhase {
    #[default]
    Between,
    Packet {
        /// Bytes are expected from this character on: behind the last byte, or once the sender may send.
        /// It lies ahead while a run of bytes passes.
        awaited: Tick,
    },
    Reset,
}

impl PacketPhase {
    /// The phase in which a slice begins.
    pub(super) const fn at_start(mode: Option<FramerMode>, at: Tick) -> Self {
        match mode {
            Some(FramerMode::Inside) => Self::Packet { awaited: at },
            Some(FramerMode::Reset) => Self::Reset,
            Some(FramerMode::Between) | None => Self::Between,
        }
    }

    pub(super) const fn traffic(self) -> LedTraffic {
        match self {
            Self::Between | Self::Reset => LedTraffic::Nothing,
            Self::Packet { .. } => LedTraffic::Packet,
        }
    }
}

/// Knowledge of the channel's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SenderPermission {
    /// The opposite channel is recorded, and has not commanded yet.
    Unknown,
    /// It may send. F-2
    #[default]
    Going,
    /// It must not send since that character.
    Stopped(Tick),
}

/// A STOP that was not recorded, if there was one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnseenStop {
    /// Periods behind a STOP in which data may still pass. F-1
    pub(super) grace: u64,
    /// Commands before this character were not recorded.
    pub(super) until: Tick,
}

impl UnseenStop {
    /// True if data up to a character cannot have passed behind it.
    pub(super) const fn is_refuted(self, end: Tick) -> bool {
        end.0 > self.until.0.saturating_add(self.grace)
    }
}

/// Activities that this knowledge leaves possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PossibleActivity {
    Certain(ChannelActivity),
    /// A packet passes, and bytes are expected since that character: the length of the pause decides.
    Packet(Tick),
}

impl PossibleActivity {
    pub(super) const fn of(
        wire: WireState,
        receiving: PacketPhase,
        sender: SenderPermission,
    ) -> Self {
        use ChannelActivity::{Idle, Open, Reset, Stopped, Unknown};
        Self::Certain(match (wire, receiving, sender) {
            (WireState::Open, _, _) => Open,
            (_, PacketPhase::Reset, _) => Reset,
            // Reading: a stopped sender is known whether or not framing is.
            (_, _, SenderPermission::Stopped(_)) => Stopped,
            (WireState::Unknown, _, _) => Unknown,
            (WireState::Alive, PacketPhase::Packet { awaited }, _) => {
                return Self::Packet(awaited);
            }
            (WireState::Alive, PacketPhase::Between, SenderPermission::Unknown) => Unknown,
            (WireState::Alive, PacketPhase::Between, SenderPermission::Going) => Idle,
        })
    }
}

/// Recorded parts of a channel, from its first character on.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedRange {
    pub(super) end: Tick,
    /// First characters of holes whose events are still to come.
    pub(super) holes: VecDeque<Tick>,
}

impl RecordedRange {
    pub(super) fn add(&mut self, [first, end]: [Tick; 2]) {
        if self.end < first {
            self.holes.push_back(self.end);
        }
        self.end = end;
    }

    /// A character, or the first unrecorded character before it.
    pub(super) fn limit(&self, at: Tick) -> Tick {
        at.min(self.holes.front().copied().unwrap_or(self.end))
    }
}
