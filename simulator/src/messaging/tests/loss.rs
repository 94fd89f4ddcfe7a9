//! Packets that are lost, doubled or damaged, and hosts that are restarted. T-1

use codec::transport::EndpointId;

use super::{MessagingNetwork, SECOND, pair, plan, sized, stream, two};
use crate::messaging::{
    EndpointParameters, HostMessaging, MICROSECOND, MessageKind, MessageStream, MessagingEvent,
    MessagingPlan, ProtocolLayers,
};
use crate::transport::TransportNotice;

#[test]
fn nothing_lost_and_nothing_twice_on_a_wire_that_loses_every_seventh_packet() {
    let streams = vec![stream(0, (1, 0), 300), stream(0, (2, 0), 300)];
    let mut net = MessagingNetwork::new(vec![
        MessagingPlan { streams, ..plan(0, 1) },
        MessagingPlan { streams: vec![stream(0, (2, 0), 300)], ..plan(1, 1) },
        plan(2, 1),
    ]);
    net.lost = |packet| packet % 7 == 3;
    net.run(60 * SECOND);
    net.assert_exactly_once(2 * 900);
    assert!(
        net.count(|event| matches!(event, MessagingEvent::Observed(_, TransportNotice::Duplicate)))
            > 0
    );
    assert!(net.hosts[0].statistics().retransmitted > 100);
    assert!(net.hosts.iter().all(HostMessaging::is_quiet));
}

#[test]
fn without_reliability_a_packet_is_sent_and_forgotten() {
    let parameters = EndpointParameters {
        layers: ProtocolLayers::Baseline,
        patience: SECOND / 100,
        ..EndpointParameters::default()
    };
    let mut net = two(parameters, 1, vec![stream(0, (1, 0), 20)]);
    net.lost = |packet| packet == 3;
    net.run(SECOND);
    let statistics = net.statistics(0, 0);
    assert_eq!((statistics.completed, statistics.given_up), (19, 1));
    assert_eq!(net.count(|event| matches!(event, MessagingEvent::Acknowledged(_))), 0);
    assert_eq!(net.hosts.iter().map(|host| host.statistics().acks_sent).sum::<u64>(), 0);
}

/// First packet of a stream of host 0.
fn first_packet(stream: MessageStream) -> Vec<u8> {
    let mut net = pair(vec![stream]);
    loop {
        net.run(net.next().unwrap());
        if let Some(wire) = net.wires.get(&(0, 1)) {
            return wire[0].1.clone();
        }
    }
}

#[test]
fn what_comes_behind_one_that_waits_for_the_bus_is_dropped_and_counted() {
    // T-4: the firmware has looked at the second copy long before the first one's bytes have moved.
    let medium = sized(MessageKind::Medium, 8192, 1);
    let payload = first_packet(medium);
    let mut host = HostMessaging::new(plan(1, 1), 0);
    let mut events = Vec::new();
    host.receive(0, &payload, &mut events);
    host.receive(0, &payload, &mut events);
    host.step(SECOND, &mut events);
    let is_it = |event: &&MessagingEvent| matches!(event, MessagingEvent::Written(..));
    assert_eq!(events.iter().filter(is_it).count(), 1);
    let counts = host.statistics();
    assert_eq!((counts.data_received, counts.held_up, counts.duplicates), (2, 1, 0));
}

#[test]
fn a_changed_byte_that_the_crc_lets_pass_is_told() {
    let mut host = HostMessaging::new(plan(1, 1), 0);
    let mut payload = first_packet(stream(0, (1, 0), 1));
    *payload.last_mut().unwrap() ^= 1;
    let mut events = Vec::new();
    host.receive(0, &payload, &mut events);
    host.step(SECOND, &mut events);
    let is_it = |event: &&MessagingEvent| matches!(event, MessagingEvent::Damaged(..));
    assert_eq!(events.iter().filter(is_it).count(), 1);
}

#[test]
fn a_restart_in_mid_conversation_ends_every_message() {
    for (victim, at) in [(0, 500), (1, 500), (0, 777), (1, 1234), (1, 2001)] {
        let medium = sized(MessageKind::Medium, 3000, 100);
        let mut net = pair(vec![stream(0, (1, 0), 100), medium]);
        net.run(at * MICROSECOND);
        let mut events = Vec::new();
        let ready = (at + 100) * MICROSECOND;
        net.hosts[victim].restart(net.now, ready, &mut events);
        net.sending[victim] = None;
        let nic = u16::try_from(victim).unwrap();
        net.events.extend(events.into_iter().map(|event| (net.now, nic, event)));
        net.run(100 * SECOND);
        let statistics = net.statistics(0, 0);
        let ends = statistics.completed + statistics.returned + statistics.given_up;
        assert_eq!((statistics.requests_sent, ends), (200, 200), "{victim} {at}");
        assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
        assert!(net.hosts.iter().all(HostMessaging::is_quiet), "{victim} {at}");
        assert!(statistics.completed >= 190, "it goes on");
    }
}

#[test]
fn a_restart_keeps_no_place_for_what_does_not_come_any_more() {
    let parameters = EndpointParameters { frames: 1, ..EndpointParameters::default() };
    let mut host = HostMessaging::new(MessagingPlan { parameters, ..plan(0, 2) }, 0);
    for endpoint in host.endpoints.iter_mut() {
        endpoint.keep(codec::transport::MessageRole::Request);
    }
    assert!(!host.is_resident(EndpointId(1)));
    host.restart(10, 20, &mut Vec::new());
    assert!(host.endpoints.iter().all(|endpoint| endpoint.kept == [0; 2]));
}
