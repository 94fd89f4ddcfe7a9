//! Packets between a host's IP stack and its interface.

use std::collections::VecDeque;

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

/// Packets between stack and interface.
pub(super) struct PacketQueue {
    pub(super) received: VecDeque<Vec<u8>>,
    pub(super) sending: Option<Vec<u8>>,
    mtu: usize,
}

impl PacketQueue {
    pub(super) fn new(mtu: u16) -> Self {
        Self { received: VecDeque::new(), sending: None, mtu: mtu.into() }
    }
}

impl Device for PacketQueue {
    type RxToken<'a> = ReceivedToken;
    type TxToken<'a> = SendToken<'a>;

    fn receive(&mut self, now: Instant) -> Option<(ReceivedToken, SendToken<'_>)> {
        if self.sending.is_some() {
            return None;
        }
        let packet = ReceivedToken(self.received.pop_front()?);
        Some((packet, self.transmit(now)?))
    }

    fn transmit(&mut self, _: Instant) -> Option<SendToken<'_>> {
        self.sending.is_none().then_some(SendToken(&mut self.sending))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}

pub(super) struct ReceivedToken(Vec<u8>);

pub(super) struct SendToken<'a>(&'a mut Option<Vec<u8>>);

impl RxToken for ReceivedToken {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for SendToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        write(self.0.insert(vec![0; len]))
    }
}
