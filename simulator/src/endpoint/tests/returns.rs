//! Messages that come back. T-6, T-11

use codec::transport::{EndpointId, EndpointKey, Reason};

use super::{SECOND, pair, stream};
use crate::endpoint::{Kind, MessageStream, Told, Why};
use crate::traffic::Size;

#[test]
fn a_wrong_key_brings_the_request_back_at_once() {
    let key = EndpointKey(1);
    let mut net = pair(vec![MessageStream { key, ..stream(0, (1, 0), 1) }]);
    net.run(SECOND / 1000);
    let refused = |told: &Told| matches!(told, Told::Returned(_, Why::Refused(Reason::BadKey)));
    assert_eq!((net.count(refused), net.statistics(0, 0).returned), (1, 1));
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
}

#[test]
fn what_is_outside_the_segment_comes_back() {
    let size = Size::Fixed(70_000);
    let mut net = pair(vec![MessageStream { kind: Kind::Bulk, size, ..stream(0, (1, 0), 1) }]);
    net.run(SECOND);
    // The segment has 65536 bytes: eight pieces are within, the ninth is not.
    assert_eq!((net.statistics(0, 0).completed, net.statistics(0, 0).returned), (8, 1));
    assert!(net.hosts[0].is_quiet());
}

#[test]
fn no_such_endpoint_and_no_such_nic_bring_the_request_back() {
    let streams = vec![stream(0, (1, 5), 1), stream(0, (9, 0), 1), stream(0, (0, 0), 1)];
    let mut net = pair(streams);
    net.run(SECOND);
    let why = |why| net.count(|told| matches!(told, Told::Returned(_, other) if *other == why));
    assert_eq!(why(Why::Refused(Reason::NoSuchEndpoint)), 1);
    // The tables have rows for eight NICs, and none has a way to itself.
    assert_eq!(why(Why::Unreachable), 2);
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
}

#[test]
fn what_no_one_hears_comes_back_as_unreachable() {
    let mut net = pair(vec![stream(0, (1, 0), 9)]);
    net.lost = |_| true;
    net.hosts[0].protocol.retries = 12;
    net.run(30 * SECOND);
    assert_eq!(net.count(|told| matches!(told, Told::Returned(_, Why::Unreachable))), 9);
    assert!(net.hosts[0].is_quiet());
}
