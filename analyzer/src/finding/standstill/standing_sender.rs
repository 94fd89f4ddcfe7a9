//! A sender that stands, as a finding. F-1, S-3

use codec::capture::ChannelId;
use codec::time::CharacterPeriod;

use super::super::fact::{FactValue, FindingFact};
use super::super::{FindingKind, Severity};
use crate::blocking::WaitRoot;
use crate::event::Picoseconds;

/// Minimum share, as its reciprocal, from which a standstill is an error. *Chosen*: half of the time.
const ERROR_SHARE: u64 = 2;

/// Cause of a standstill whose sender is not stopped.
pub const NOTHING_FOLLOWS: &str = "nothing-follows";

/// A sender that is stopped, or whose packet stands though it is not.
#[derive(Clone, Debug)]
pub(super) struct StandingSender {
    pub(super) since: Picoseconds,
    pub(super) until: Picoseconds,
    pub(super) packet: Option<u64>,
    pub(super) chain: Vec<ChannelId>,
    pub(super) cause: StandingCause,
    /// True if it ends with the recording.
    pub(super) lasts: bool,
}

/// Why a sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandingCause {
    Stopped(WaitRoot),
    /// It is not stopped, and nothing follows.
    Nothing,
    /// No STOP or GO to it was recorded: it may be stopped.
    NoCommands,
}

impl StandingSender {
    /// A stopped sender of which only the commands were recorded: nothing tells what held it up.
    pub(super) const fn unseen([since, until]: [Picoseconds; 2]) -> Self {
        let cause = StandingCause::Stopped(WaitRoot::OutOfSight);
        Self { since, until, packet: None, chain: Vec::new(), cause, lasts: false }
    }

    /// Its commands were recorded up to a time: whether it is stopped is not known behind.
    pub(super) fn recorded_to(&mut self, to: Picoseconds) {
        let to = to.clamp(self.since, self.until);
        if self.cause == StandingCause::Nothing && self.until - to > to - self.since {
            (self.since, self.cause) = (to, StandingCause::NoCommands);
        }
    }

    pub(super) fn judged(
        &self,
        lasted: Picoseconds,
        recorded: Picoseconds,
    ) -> Option<(FindingKind, Severity)> {
        let is_long = lasted.saturating_mul(ERROR_SHARE.into()) >= recorded;
        match (self.cause, is_long) {
            // Packets of others go on; whether its turn ever comes cannot be told if it waits for most of the time.
            (StandingCause::Stopped(WaitRoot::Busy), _) => {
                (is_long && self.lasts).then_some((FindingKind::HeldUp, Severity::Note))
            }
            (_, true) => Some((FindingKind::Standstill, Severity::Error)),
            (_, false) => Some((FindingKind::Standstill, Severity::Warning)),
        }
    }

    /// Facts of a wait for what is out of sight, of a packet that may wait for that, or of one for others' packets.
    pub(super) fn held_up(&self, channel: ChannelId, share: FindingFact) -> Vec<FindingFact> {
        let last = self.chain.last().copied().unwrap_or(channel);
        let mut facts = vec![share, FindingFact::channel("behind", last)];
        facts.extend(match self.cause {
            StandingCause::Stopped(root) => at_output(root),
            StandingCause::Nothing => Some(FindingFact::word("cause", NOTHING_FOLLOWS)),
            StandingCause::NoCommands => None,
        });
        facts.extend(self.lasts.then(|| FindingFact::word("until", "end")));
        facts.extend(self.packet.map(|packet| FindingFact::number("packet", packet)));
        facts
    }

    pub(super) fn facts(
        self,
        lasted: Picoseconds,
        recorded: Picoseconds,
        period: CharacterPeriod,
    ) -> Vec<FindingFact> {
        let cause = match self.cause {
            StandingCause::Stopped(root) => root.name(),
            StandingCause::Nothing | StandingCause::NoCommands => NOTHING_FOLLOWS,
        };
        let chain = (!self.chain.is_empty()).then_some(FactValue::Channels(self.chain));
        let mut facts = vec![
            FindingFact::number("periods", period.periods(lasted)),
            share(lasted, recorded),
            FindingFact::word("cause", cause),
        ];
        facts.extend(self.lasts.then(|| FindingFact::word("until", "end")));
        facts.extend(self.packet.map(|packet| FindingFact::number("packet", packet)));
        facts.extend(chain.map(|value| FindingFact { name: "waits_for", value }));
        facts
    }
}

/// The cause of a wait that is neither the host nor out of sight behind the last channel.
pub(super) fn at_output(root: WaitRoot) -> Option<FindingFact> {
    root.is_at_output().then(|| FindingFact::word("cause", root.name()))
}

/// Share of the recorded time, in percent.
pub(super) fn share(lasted: Picoseconds, recorded: Picoseconds) -> FindingFact {
    let percent = lasted.saturating_mul(100).checked_div(recorded).unwrap_or(0).min(100);
    FindingFact::number("share", u64::try_from(percent).unwrap_or(100))
}
