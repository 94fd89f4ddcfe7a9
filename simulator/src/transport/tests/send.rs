//! Sending. T-2, T-3

use codec::transport::{ChannelIncarnation, EndpointId, LogicalChannel, Nic};

use super::PARAMETERS;
use crate::transport::{Micros, OutboundMessage, Transport, TransportParameters};

#[test]
fn thirty_two_logical_channels_are_the_most() {
    for (channels, most) in [(0, 0), (1, 1), (31, 31), (32, 32), (33, 32), (255, 32)] {
        let parameters = TransportParameters { channels, ..PARAMETERS };
        let mut nic = Transport::new(Nic(0), parameters, ChannelIncarnation(0));
        nic.on_load(EndpointId(0));
        let mut effects = Vec::new();
        let letter = OutboundMessage { endpoint: EndpointId(0), message: 'a' };
        let mut sent = 0;
        while nic.has_channel(Nic(1)) {
            assert_eq!(nic.free_channels(Nic(1)), u32::from(most - sent));
            let channel = nic.on_send(Micros(0), Nic(1), letter, &mut effects);
            assert_eq!(channel, Ok(LogicalChannel(sent)));
            sent += 1;
        }
        assert_eq!(nic.on_send(Micros(0), Nic(1), letter, &mut effects), Err('a'));
        assert_eq!(nic.free_channels(Nic(1)), 0);
        assert_eq!((sent, nic.outstanding(EndpointId(0))), (most, usize::from(most)));
        assert_eq!(nic.free_channels(Nic(2)), 0, "there is no such row");
        assert!(nic.is_consistent());
    }
}
