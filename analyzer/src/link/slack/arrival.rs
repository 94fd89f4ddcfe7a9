//! Characters and commands at the tap, and their periods at the far receiver.

use codec::capture::Channel;
use codec::time::Tick;

use crate::channel_name::TapEnd;
use crate::event::ChannelEvent;
use crate::link::parameters::{ChannelParameters, ParameterKey};
use crate::options::AnalysisScope;
use crate::packet::FrameEnd;

/// Offsets between characters at the tap and periods of the far receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlackTiming {
    /// Periods from a character at the tap to its arrival.
    pub(super) arrives: u64,
    /// Periods from the decision for a command to the command at the tap.
    pub(super) decided: u64,
    /// Periods from the decision for a STOP to the last data that may arrive.
    pub(super) effective: u64,
    /// The last of these periods, in which the sender's FRES still cancels the STOP. R-1
    pub(super) forgotten: u64,
}

/// An event of the channel other than data, at its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntakeEvent {
    /// GAP that ends a packet.
    Gap(Tick),
    /// Open-link timeout that ends a packet. F-5, F-7
    LinkOpen(Tick),
    /// FRES. R-2
    Reset(Tick),
    /// Characters are unknown from here on.
    Lost(Tick),
    /// Characters are known again from here on.
    Found(Tick),
}

/// A command to the channel's sender, or a change in the knowledge of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlackCommand {
    Go,
    Stop,
    /// Not recorded.
    Unseen,
    /// Silent for so long that the receiver may have lost its power. F-7
    Dark,
}

/// Characters of the channel, in periods of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferArrival {
    Data { start: u64, end: u64 },
    Mark(u64),
    Reset(u64),
    Lost(u64),
    Found(u64),
}

impl BufferArrival {
    /// The next period in which the input changes.
    pub(super) const fn next(self, now: u64) -> u64 {
        match self {
            Self::Data { start, end } if start == now => end,
            Self::Mark(at) if at == now => at + 1,
            Self::Data { start: at, .. } | Self::Mark(at) | Self::Reset(at) => at,
            Self::Lost(at) | Self::Found(at) => at,
        }
    }
}

impl SlackTiming {
    /// Offsets of a channel that is tapped at an end.
    pub(super) fn new(
        end: Option<TapEnd>,
        parameters: &ChannelParameters,
        channel: &Channel,
    ) -> Self {
        let (delay, rest) = parameters.delay_on(channel);
        let [generation, interpretation] = [ParameterKey::Generation, ParameterKey::Interpretation]
            .map(|key| u64::from(parameters.of_key(key).value));
        let there = if end == Some(TapEnd::Sender) { delay } else { 0 };
        Self {
            arrives: there,
            decided: there + generation + rest,
            effective: 2 * (delay + rest) + generation + interpretation,
            forgotten: interpretation + rest,
        }
    }
}

/// Urgency of settling the fill before an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SettleUrgency {
    /// The event adds to later periods only.
    Later,
    /// The event may change the state in which the periods before it are settled.
    Now,
}

impl SettleUrgency {
    /// The least urgency before any event.
    pub(super) const fn least(scope: AnalysisScope) -> Self {
        match scope.includes_fills() {
            // The order of the bounds of two channels depends on when each is settled.
            true => Self::Now,
            false => Self::Later,
        }
    }

    pub(super) const fn before(event: &ChannelEvent) -> Self {
        match event {
            ChannelEvent::Head(_) | ChannelEvent::Data(_) => Self::Later,
            ChannelEvent::Packet(packet) if matches!(packet.ended_by, FrameEnd::Gap) => Self::Later,
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Packet(_) => Self::Now,
            ChannelEvent::Link(_) | ChannelEvent::Command(_) => Self::Now,
            ChannelEvent::Omitted { .. } => Self::Now,
        }
    }
}
