//! Arbitration of an output by the age of packets. A packet does not say when it entered the network: its age is
//! what the switch sees of it, the time since it requested the output. S-5 *Chosen*

use codec::route::PortId;

use super::{OutputPolicy, WaitingInputs, bit};

#[derive(Clone, Debug)]
pub(crate) struct AgePolicy {
    /// The requesting inputs, with the times of their requests, in this order.
    waiting: Vec<(u64, PortId)>,
    /// The first input of those of the same age: behind the one served last.
    first: u8,
}

impl AgePolicy {
    pub(super) const fn new(first: u8) -> Self {
        Self { waiting: Vec::new(), first }
    }
}

impl OutputPolicy for AgePolicy {
    fn request(&mut self, now: u64, input: PortId) {
        self.waiting.push((now, input));
    }

    fn withdraw(&mut self, inputs: &WaitingInputs) {
        self.waiting.retain(|(_, input)| inputs.requests & bit(*input) != 0);
    }

    fn release(&mut self, next: u8) {
        self.first = next;
    }

    /// It takes no time.
    fn choose(&mut self, _: u64, inputs: &WaitingInputs) -> Option<PortId> {
        let place = |input: PortId| inputs.order.steps(self.first, bit(input));
        let oldest = self.waiting.iter().min_by_key(|(since, input)| (*since, place(*input)));
        oldest.map(|(_, input)| *input)
    }
}

#[cfg(test)]
mod tests {
    use crate::arbitration::ArbitrationPolicy;
    use crate::node::virtual_port;
    use crate::switch::Switch;
    use crate::topology::{NodeId, SwitchParameters};
    use codec::route::{PortId, RouteAddressing};

    #[test]
    fn the_oldest_request_is_served_first_and_at_once() {
        let parameters = SwitchParameters::new(4, RouteAddressing::Absolute);
        let arbitration = ArbitrationPolicy::Age;
        let mut switch = Switch::new(NodeId(0), SwitchParameters { arbitration, ..parameters }, 1);
        let output = PortId(3);
        for (now, input) in [(10, 2), (11, 0), (11, 1), (11, 3), (12, 2)] {
            // The packet of input 2 at time 10 is served at once.
            switch.request(PortId(input), output, now);
            let mut served = None;
            switch.arbitrate(now, &mut |input, _| served = Some(input.0));
            assert_eq!(served, (now == 10).then_some(2));
        }
        // Of one age the first one behind input 2 is served first, and a younger one last.
        let next = |switch: &mut Switch, now| {
            switch.release(output);
            let mut served = None;
            switch.arbitrate(now, &mut |input, _| served = Some(input.0));
            served
        };
        assert_eq!(
            [20, 30, 40, 50, 60].map(|now| next(&mut switch, now)),
            [Some(3), Some(0), Some(1), Some(2), None]
        );
        // A packet that is gone is not served, also by the number of its virtual channel.
        for gone in [PortId(0), virtual_port(PortId(0), 0)] {
            switch.request(PortId(0), output, 70);
            switch.request(PortId(1), output, 71);
            switch.reset(gone, &crate::switch::SwitchInputState::Waiting(output));
            assert_eq!([72, 73].map(|now| next(&mut switch, now)), [Some(1), None]);
        }
    }
}
