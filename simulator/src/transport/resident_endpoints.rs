//! Which endpoints may send, and how much each still waits for. T-13

use std::collections::BTreeMap;

use codec::transport::EndpointId;

/// The endpoints in frames: seven, as a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ResidentEndpoints(BTreeMap<EndpointId, ResidentEndpoint>);

/// An endpoint in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ResidentEndpoint {
    stage: ResidentStage,
    /// Its messages that are not acknowledged.
    outstanding: u32,
    /// Those of them whose latest transmission has no answer.
    unanswered: u32,
}

/// What an endpoint in a frame may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ResidentStage {
    /// It sends.
    Staying,
    /// It waits for answers, and sends nothing new. T-13
    Leaving,
}

/// What has changed for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResidentChange {
    /// A message goes out for the first time.
    Sent,
    /// One that was refused goes out again.
    Resent,
    /// Its latest transmission was refused.
    Refused,
    /// The message is done with, or goes back, and its latest transmission had no answer.
    EndedUnanswered,
    /// The same, but it had been refused.
    EndedRefused,
}

impl ResidentEndpoints {
    /// An endpoint is in a frame. One that was leaving stays.
    pub(super) fn load(&mut self, endpoint: EndpointId) {
        let new = ResidentEndpoint { stage: ResidentStage::Staying, outstanding: 0, unanswered: 0 };
        self.0.entry(endpoint).or_insert(new).stage = ResidentStage::Staying;
    }

    /// An endpoint is to leave. Whether it can at once. T-13
    pub(super) fn unload(&mut self, endpoint: EndpointId) -> LeaveDecision {
        match self.0.get_mut(&endpoint) {
            None => LeaveDecision::Now,
            Some(resident) => {
                resident.stage = ResidentStage::Leaving;
                resident.leave()
            }
        }
    }

    /// It has left.
    pub(super) fn remove(&mut self, endpoint: EndpointId) {
        self.0.remove(&endpoint);
    }

    /// What it may do; nothing if it is in no frame.
    pub(super) fn stage(&self, endpoint: EndpointId) -> Option<ResidentStage> {
        self.0.get(&endpoint).map(|resident| resident.stage)
    }

    /// Its messages that are not acknowledged.
    pub(super) fn outstanding(&self, endpoint: EndpointId) -> u32 {
        self.0.get(&endpoint).map_or(0, |resident| resident.outstanding)
    }

    /// Counts a change. Whether the endpoint can leave now. T-13
    pub(super) fn count(&mut self, endpoint: EndpointId, change: ResidentChange) -> LeaveDecision {
        let Some(resident) = self.0.get_mut(&endpoint) else { return LeaveDecision::Not };
        let (outstanding, unanswered) = (resident.outstanding, resident.unanswered);
        (resident.outstanding, resident.unanswered) = match change {
            ResidentChange::Sent => (outstanding + 1, unanswered + 1),
            ResidentChange::Resent => (outstanding, unanswered + 1),
            ResidentChange::Refused => (outstanding, unanswered.saturating_sub(1)),
            ResidentChange::EndedUnanswered => {
                (outstanding.saturating_sub(1), unanswered.saturating_sub(1))
            }
            ResidentChange::EndedRefused => (outstanding.saturating_sub(1), unanswered),
        };
        resident.leave()
    }

    /// Those in frames, with what each waits for: messages, and answers.
    pub(super) fn counts(&self) -> BTreeMap<EndpointId, (u32, u32)> {
        let counts = |resident: &ResidentEndpoint| (resident.outstanding, resident.unanswered);
        self.0.iter().map(|(endpoint, resident)| (*endpoint, counts(resident))).collect()
    }
}

/// Whether an endpoint may leave its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaveDecision {
    /// It may not, or does not want to.
    Not,
    /// It may.
    Now,
}

impl ResidentEndpoint {
    /// T-13: when each packet of its has been acknowledged, or refused for its latest transmission.
    const fn leave(self) -> LeaveDecision {
        match (self.stage, self.unanswered) {
            (ResidentStage::Leaving, 0) => LeaveDecision::Now,
            (ResidentStage::Leaving, 1..) | (ResidentStage::Staying, _) => LeaveDecision::Not,
        }
    }
}
