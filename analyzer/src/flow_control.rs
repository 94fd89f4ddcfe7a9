//! Flow control of a channel's sender, as far as the tap shows it. F-1, F-2, F-7, R-1 (§4.5)

use codec::capture::StartSender;

use crate::event::{LinkEvent, ResumeCause};

/// The control-control state of a channel's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FlowControl {
    /// It may send; the initial state. F-2
    #[default]
    Going,
    /// It must pause.
    Stopped,
    /// The opposite channel had a hole, and has not commanded since.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowInput {
    /// STOP on the opposite channel. F-2
    Stop,
    /// GO on the opposite channel. F-2
    Go,
    /// 16 silent periods on the opposite channel. F-7
    PeerSilent,
    /// FRES on the channel itself. R-1
    OwnReset,
    /// Hole on the opposite channel.
    PeerHole,
}

impl FlowControl {
    /// The state of a recording that was cut.
    pub(crate) const fn at_start(sender: StartSender) -> Self {
        match sender {
            StartSender::Going => Self::Going,
            StartSender::Stopped(_) => Self::Stopped,
        }
    }

    /// Applies an input; returns the resulting event on the channel.
    pub(crate) const fn step(&mut self, input: FlowInput) -> Option<LinkEvent> {
        use FlowControl::{Going, Stopped, Unknown};
        use FlowInput::{Go, OwnReset, PeerHole, PeerSilent, Stop};
        use LinkEvent::{SenderResumed, SenderStopped};
        let (next, event) = match (*self, input) {
            (Going, Stop) => (Stopped, Some(SenderStopped)),
            (Going, Go | PeerSilent | OwnReset) => (Going, None),
            (Going, PeerHole) => (Unknown, None),
            (Stopped, Stop) => (Stopped, None),
            (Stopped, Go) => (Going, Some(SenderResumed(ResumeCause::Go))),
            (Stopped, PeerSilent) => (Going, Some(SenderResumed(ResumeCause::OpenLink))),
            (Stopped, OwnReset) => (Going, Some(SenderResumed(ResumeCause::Reset))),
            (Stopped, PeerHole) => (Unknown, None),
            (Unknown, Stop) => (Stopped, Some(SenderStopped)),
            (Unknown, Go | PeerSilent | OwnReset) => (Going, None),
            (Unknown, PeerHole) => (Unknown, None),
        };
        *self = next;
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(inputs: &[FlowInput]) -> Vec<Option<LinkEvent>> {
        let mut control = FlowControl::default();
        inputs.iter().map(|input| control.step(*input)).collect()
    }

    #[test]
    fn stop_holds_and_go_silence_and_reset_release() {
        use FlowInput::{Go, OwnReset, PeerSilent, Stop};
        let stopped = Some(LinkEvent::SenderStopped);
        let resumed = |by| Some(LinkEvent::SenderResumed(by));
        assert_eq!(
            check(&[Go, Stop, Stop, Go, Stop, PeerSilent, Stop, OwnReset, OwnReset]),
            [
                None,
                stopped,
                None,
                resumed(ResumeCause::Go),
                stopped,
                resumed(ResumeCause::OpenLink),
                stopped,
                resumed(ResumeCause::Reset),
                None
            ]
        );
    }

    #[test]
    fn after_a_hole_only_stop_is_an_event() {
        use FlowInput::{Go, PeerHole, Stop};
        let stopped = Some(LinkEvent::SenderStopped);
        assert_eq!(check(&[Stop, PeerHole, Go, Go]), [stopped, None, None, None]);
        assert_eq!(check(&[Stop, PeerHole, Stop, Stop]), [stopped, None, stopped, None]);
    }
}
