//! Whether a channel's sender may send, as far as the tap can tell. F-1, F-2, F-7, R-1 (§4.5)

use crate::event::{LinkEvent, ResumeCause};

/// The flow-control state of a channel's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowControl {
    /// It may send. F-2: how it starts.
    #[default]
    Going,
    /// It must pause.
    Stopped,
    /// The channel that commands it had a hole, and has not commanded since.
    Unknown,
}

/// What may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowInput {
    /// STOP on the opposite channel. F-2
    Stop,
    /// GO on the opposite channel. F-2
    Go,
    /// The opposite channel has been silent for 16 periods. F-7
    PeerSilent,
    /// FRES on the channel itself. R-1
    OwnReset,
    /// The opposite channel was not recorded for a while.
    PeerHole,
}

impl FlowControl {
    /// One step; returns the event that it is on the channel.
    #[must_use]
    pub const fn step(&mut self, input: FlowInput) -> Option<LinkEvent> {
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
        let mut flow = FlowControl::default();
        inputs.iter().map(|input| flow.step(*input)).collect()
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
    fn after_a_hole_only_stop_is_news() {
        use FlowInput::{Go, PeerHole, Stop};
        let stopped = Some(LinkEvent::SenderStopped);
        assert_eq!(check(&[Stop, PeerHole, Go, Go]), [stopped, None, None, None]);
        assert_eq!(check(&[Stop, PeerHole, Stop, Stop]), [stopped, None, stopped, None]);
    }
}
