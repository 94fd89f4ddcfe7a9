//! Messages of applications, and their logical channels.

use codec::transport::{EndpointId, Nic};
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
        self.checker.accept(from, to, key);
        self.send_waiting(from);
    }

    /// Sends what waits, as long as there are channels. T-2
    pub(super) fn send_waiting(&mut self, from: EndpointAddress) {
        let waiting: Vec<MessageNumber> = self
            .checker
            .waiting(from.nic)
            .filter(|(_, at)| *at == from)
            .map(|(number, _)| number)
            .collect();
        waiting.into_iter().for_each(|number| self.try_to_send(from, number));
    }

    /// The first message that waits at a NIC and can be sent, and its endpoint.
    pub(crate) fn next_to_send(&self, nic: Nic) -> Option<(MessageNumber, EndpointAddress)> {
        let (number, from) = self.checker.waiting(nic).find(|(_, at)| self.is_resident(*at))?;
        let to = self.checker.account(number).to.nic;
        self.host(nic).machine.has_channel(to).then_some((number, from))
    }

    pub(crate) fn send_next(&mut self, nic: Nic) {
        if let Some((number, from)) = self.next_to_send(nic) {
            self.try_to_send(from, number);
        }
    }

    fn try_to_send(&mut self, from: EndpointAddress, number: MessageNumber) {
        let now = Micros(self.clock(from.nic));
        let to = self.checker.account(number).to.nic;
        let letter = OutboundMessage { endpoint: from.endpoint, message: number };
        let taken = self.checker.taken(from.nic, to);
        let may = self.is_resident(from) && taken < usize::from(self.setup.parameters.channels);
        let mut effects = Vec::new();
        let sent = self.host_mut(from.nic).machine.on_send(now, to, letter, &mut effects);
        assert_eq!(sent.is_ok(), may, "{taken} channels are taken. T-2: {from:?}");
        if sent.is_err() {
            assert_eq!((sent, &effects[..]), (Err(number), &[][..]), "nothing is done");
            return;
        }
        self.done(from.nic, StepCause::Send(number), effects);
    }

    fn is_resident(&self, at: EndpointAddress) -> bool {
        self.endpoint(at).is_some_and(|it| it.frame == FrameResidency::Resident)
    }
}
