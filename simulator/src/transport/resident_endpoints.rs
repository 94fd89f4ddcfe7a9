//! Resident endpoints and their outstanding messages. T-13

use std::collections::BTreeMap;

use codec::transport::EndpointId;

/// Resident endpoints, usually seven.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ResidentEndpoints(BTreeMap<EndpointId, ResidentEndpoint>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ResidentEndpoint {
    stage: ResidentStage,
    outstanding: u32,
    /// Messages whose latest transmission has no answer.
    unanswered: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ResidentStage {
    Staying,
    /// Waiting for answers, sending nothing new. T-13
    Leaving,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResidentChange {
    /// A message was sent for the first time.
    Sent,
    Resent,
    Refused,
    /// A message ended, its latest transmission unanswered.
    EndedUnanswered,
    EndedRefused,
}

impl ResidentEndpoints {
    /// Adds an endpoint; a leaving one stays.
    pub(super) fn load(&mut self, endpoint: EndpointId) {
        let new = ResidentEndpoint { stage: ResidentStage::Staying, outstanding: 0, unanswered: 0 };
        self.0.entry(endpoint).or_insert(new).stage = ResidentStage::Staying;
    }

    /// Marks an endpoint as leaving; true if it can leave at once. T-13
    pub(super) fn unload(&mut self, endpoint: EndpointId) -> bool {
        self.0.get_mut(&endpoint).is_none_or(|resident| {
            resident.stage = ResidentStage::Leaving;
            resident.may_leave()
        })
    }

    pub(super) fn remove(&mut self, endpoint: EndpointId) {
        self.0.remove(&endpoint);
    }

    pub(super) fn stage(&self, endpoint: EndpointId) -> Option<ResidentStage> {
        self.0.get(&endpoint).map(|resident| resident.stage)
    }

    pub(super) fn outstanding(&self, endpoint: EndpointId) -> u32 {
        self.0.get(&endpoint).map_or(0, |resident| resident.outstanding)
    }

    /// Counts a change; true if the endpoint can leave now. T-13
    pub(super) fn count(&mut self, endpoint: EndpointId, change: ResidentChange) -> bool {
        let Some(resident) = self.0.get_mut(&endpoint) else { return false };
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
        resident.may_leave()
    }

    /// Unacknowledged and unanswered messages of each resident endpoint.
    pub(super) fn counts(&self) -> BTreeMap<EndpointId, (u32, u32)> {
        let counts = |resident: &ResidentEndpoint| (resident.outstanding, resident.unanswered);
        self.0.iter().map(|(endpoint, resident)| (*endpoint, counts(resident))).collect()
    }
}

impl ResidentEndpoint {
    /// T-13: every packet was acknowledged, or its latest transmission refused.
    const fn may_leave(self) -> bool {
        matches!((self.stage, self.unanswered), (ResidentStage::Leaving, 0))
    }
}
