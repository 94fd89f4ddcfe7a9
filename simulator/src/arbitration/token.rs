//! Arbitration of an output by a token that visits one input after the other. S-5

use codec::route::PortId;

use super::{OutputPolicy, WaitingInputs, bit};

#[derive(Clone, Debug)]
pub(crate) struct TokenPolicy {
    /// The input at which the token is.
    token: u8,
    /// Arrival time of the token at that input; `None` while it is parked.
    since: Option<u64>,
}

impl TokenPolicy {
    pub(super) const fn new(token: u8) -> Self {
        Self { token, since: None }
    }
}

impl OutputPolicy for TokenPolicy {
    fn withdraw(&mut self, inputs: &WaitingInputs) {
        if inputs.requests == 0 {
            self.since = None;
        }
    }

    fn release(&mut self, next: u8) {
        (self.token, self.since) = (next, None);
    }

    /// Moves the token up to the next input with a request.
    fn catch_up(&mut self, now: u64, inputs: &WaitingInputs) {
        let step = inputs.order.step;
        while let Some(since) = self.since
            && inputs.requests & bit(PortId(self.token)) == 0
            && step > 0
            && since + step < now
        {
            self.token = inputs.order.after(self.token);
            self.since = Some(since + step);
        }
    }

    /// The token has been at an input with a request for long enough.
    fn due(&self, next: u64, inputs: &WaitingInputs) -> Option<u64> {
        let (Some(since), step @ 1..) = (self.since, inputs.order.step) else {
            return Some(next);
        };
        let steps = inputs.order.steps(self.token, inputs.requests)?;
        Some((since + step * (steps + 1)).max(next))
    }

    fn choose(&mut self, now: u64, inputs: &WaitingInputs) -> Option<PortId> {
        let since = *self.since.get_or_insert(now);
        if now - since < inputs.order.step {
            return None;
        }
        let input = PortId(self.token);
        if inputs.requests & bit(input) == 0 {
            self.token = inputs.order.after(self.token);
            self.since = Some(now);
            return None;
        }
        self.since = None;
        Some(input)
    }
}
