//! What may be sent. T-2, T-3

use codec::transport::{ChannelIncarnation, EndpointId, LogicalChannel, Nic};

use super::{PARAMETERS, check};
use crate::transport::{Micros, OutboundMessage, Transport, TransportParameters};

#[test]
fn a_logical_channel_has_one_packet_outstanding() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a
        2 send 3 b
        3 send 3 c
        4 ack 0 0 7 @1
        5 send 3 d
        6 send 3 e
    "), @"
    0 load 3
    1 send 3 a
      data 1.0 0 7 @1 sync a
    2 send 3 b
      data 1.1 0 8 @2 sync b
    3 send 3 c -> handed back
    4 ack 0 0 7 @1
      acknowledged a
    5 send 3 d
      data 1.0 1 7 @5 d
    6 send 3 e -> handed back
    ");
}

#[test]
fn each_nic_has_logical_channels_of_its_own() {
    insta::assert_snapshot!(check("
        0 load 3
        1 send 3 a to 0
        2 send 3 b to 0
        3 send 3 c to 1
        4 ack 1 0 9 @3
        5 ack 1 0 8 @2 from 0
    "), @"
    0 load 3
    1 send 3 a to 0
      data 0.0 0 7 @1 sync a
    2 send 3 b to 0
      data 0.1 0 8 @2 sync b
    3 send 3 c to 1
      data 1.0 0 9 @3 sync c
    4 ack 1 0 9 @3
      noted Late
    5 ack 1 0 8 @2 from 0
      acknowledged b
    ");
}

#[test]
fn what_has_no_row_or_no_frame_is_handed_back() {
    insta::assert_snapshot!(check("
        0 send 3 a
        1 load 3
        2 send 3 b to 2
        3 send 4 c
        4 send 3 d
        5 unload 3
        6 send 3 e
        7 ack 0 0 7 @4
        8 send 3 f
    "), @"
    0 send 3 a -> handed back
    1 load 3
    2 send 3 b to 2 -> handed back
    3 send 4 c -> handed back
    4 send 3 d
      data 1.0 0 7 @4 sync d
    5 unload 3
    6 send 3 e -> handed back
    7 ack 0 0 7 @4
      acknowledged d
      unloaded 3 with []
    8 send 3 f -> handed back
    ");
}

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
