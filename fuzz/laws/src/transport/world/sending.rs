//! Messages of applications, and their logical channels.

use codec::transport::EndpointId;
use simulator::transport::{Micros, OutboundMessage};

use super::super::checker::{EndpointAddress, MessageNumber, StepCause};
use super::super::input::{ENDPOINTS, EndpointPick, KeyPick};
use super::{FrameResidency, NicPairPick, TransportWorld};

impl TransportWorld {
    pub(super) fn send(&mut self, from: EndpointPick, to: EndpointPick, key: KeyPick) {
        let from = self.at(from);
        let (_, nic) = self.way(NicPairPick { from: from.nic.0, to: to.nic });
        // One of eight is for an endpoint that is not there. T-6
        let id = if to.endpoint % 8 == 7 { ENDPOINTS } else { to.endpoint % ENDPOINTS };
        let to = EndpointAddress { nic, endpoint: EndpointId(id) };
        let right = self.endpoint(to).map_or(0, |endpoint| endpoint.key);
        let key = match key {
            KeyPick::Right => right,
            KeyPick::Wrong => right + 1,
        };
        let number = self.ledger.accept(from, to, key);
        self.endpoint(from).into_iter().for_each(|endpoint| endpoint.waiting.push_back(number));
        self.send_waiting(from);
    }

    /// Sends what waits, as long as there are channels. T-2
    pub(super) fn send_waiting(&mut self, from: EndpointAddress) {
        let count = self.endpoint(from).map_or(0, |endpoint| endpoint.waiting.len());
        for _ in 0..count {
            let waiting = self.endpoint(from).and_then(|endpoint| endpoint.waiting.pop_front());
            let Some(number) = waiting else { return };
            if !self.try_to_send(from, number)
                && let Some(endpoint) = self.endpoint(from)
            {
                endpoint.waiting.push_back(number);
            }
        }
    }

    fn try_to_send(&mut self, from: EndpointAddress, number: MessageNumber) -> bool {
        let now = Micros(self.clock(from.nic));
        let Some(to) = self.ledger.account(number).map(|account| account.to.nic) else {
            return false;
        };
        let letter = OutboundMessage { endpoint: from.endpoint, message: number };
        let taken = self.ledger.taken(from.nic, to);
        let may = self.endpoint(from).is_some_and(|it| it.frame == FrameResidency::Resident)
            && taken < usize::from(self.parameters.channels);
        let mut effects = std::mem::take(&mut self.effects);
        let Some(host) = self.host_mut(from.nic) else { return false };
        let sent = host.machine.on_send(now, to, letter, &mut effects);
        self.effects = effects;
        assert_eq!(sent.is_ok(), may, "{taken} channels are taken. T-2: {from:?}");
        if sent.is_err() {
            assert_eq!((sent, &self.effects[..]), (Err(number), &[][..]), "nothing is done");
            return false;
        }
        self.done(from.nic, StepCause::Send(number));
        true
    }
}
