//! When an interface takes characters, and how that changes. I-4

use super::{ConsumptionMode, HostInterface};
use crate::truth::StopGo;

impl HostInterface {
    /// When it takes a character from its slack buffer, whose last command this was, if it does
    /// before anything else happens to it.
    #[must_use]
    pub fn takes_at(&self, now: u64, commanded: StopGo) -> Option<u64> {
        let at = now.max(self.takes_from);
        self.takes(at, commanded).then_some(at)
    }

    /// From now on it takes characters like this. I-4
    pub const fn set_consumption(&mut self, consumption: ConsumptionMode) {
        self.parameters.consumption = consumption;
        self.takes_from = 0;
    }
}
