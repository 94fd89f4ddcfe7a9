//! Returned messages. T-6, T-11

use codec::transport::{EndpointId, EndpointKey, NackReason, Nic};

use super::{MessagingNetwork, SECOND, key, pair, plan, sized, stream};
use crate::messaging::{
    HostMessaging, MessageKind, MessageStream, MessagingEvent, MessagingPlan, ReturnCause,
    ReturnHandler,
};
use crate::transport::TransportParameters;

#[test]
fn a_wrong_key_brings_the_request_back_at_once() {
    let key = EndpointKey(1);
    let mut net = pair(vec![MessageStream { key, ..stream(0, (1, 0), 1) }]);
    net.run(SECOND / 1000);
    let refused = |events: &MessagingEvent| {
        matches!(events, MessagingEvent::Returned(_, ReturnCause::Refused(NackReason::BadKey)))
    };
    assert_eq!((net.count(refused), net.statistics(0, 0).returned), (1, 1));
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
}

#[test]
fn what_is_outside_the_segment_comes_back() {
    let mut net = pair(vec![sized(MessageKind::Bulk, 70_000, 1)]);
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
    let why = |why| {
        net.count(|event| matches!(event, MessagingEvent::Returned(_, other) if *other == why))
    };
    assert_eq!(why(ReturnCause::Refused(NackReason::NoSuchEndpoint)), 1);
    // The tables have rows for eight NICs, and none has a way to itself.
    assert_eq!(why(ReturnCause::Unreachable), 2);
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
}

#[test]
fn what_no_one_hears_comes_back_as_unreachable() {
    let mut net = pair(vec![stream(0, (1, 0), 9)]);
    net.lost = |_| true;
    net.hosts[0].protocol.retries = 12;
    net.run(30 * SECOND);
    let unreachable = ReturnCause::Unreachable;
    assert_eq!(
        net.count(|it| matches!(it, MessagingEvent::Returned(_, cause) if *cause == unreachable)),
        9
    );
    assert!(net.hosts[0].is_quiet());
}

#[test]
fn a_handler_drops_what_comes_back_or_sends_it_again_or_elsewhere() {
    // To an endpoint that is not there; the handler knows one that is, or another that is not.
    let elsewhere = |id| ReturnHandler::SendElsewhere((Nic(1), EndpointId(id)), key(1, id));
    let ends = |returned, to| {
        let base = plan(0, 1);
        let transport = TransportParameters { retries: 10, ..base.transport };
        let streams = vec![MessageStream { returned, ..stream(0, (1, to), 3) }];
        let mut net =
            MessagingNetwork::new(vec![MessagingPlan { streams, transport, ..base }, plan(1, 1)]);
        // T-11: whoever sends again is heard at last.
        net.lost = match returned {
            ReturnHandler::SendAgain => |packet| packet < 60,
            ReturnHandler::Drop | ReturnHandler::SendElsewhere(..) => |_| false,
        };
        net.run(10 * SECOND);
        assert!(net.hosts.iter().all(HostMessaging::is_quiet));
        assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
        let of = net.statistics(0, 0);
        assert_eq!(of.requests_sent, of.completed + of.returned);
        [of.completed, of.returned, of.sent_again, of.sent_elsewhere]
    };
    assert_eq!(ends(ReturnHandler::Drop, 5), [0, 3, 0, 0]);
    assert_eq!(ends(elsewhere(0), 5), [3, 3, 0, 3]);
    assert_eq!(ends(elsewhere(6), 5), [0, 6, 0, 3]);
    let [completed, returned, again, other] = ends(ReturnHandler::SendAgain, 0);
    assert_eq!((completed, other), (3, 0));
    assert!(again > 0 && returned == again, "{returned} {again}");
}
