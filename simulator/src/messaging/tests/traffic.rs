//! Requests, replies and bulk transfers: delivery, durations and wake-ups. T-9

use codec::transport::{EndpointId, Nic};

use super::{MessagingNetwork, SECOND, WIRE, pair, ping_pong, plan, sized, stream};
use crate::messaging::{
    HostMessaging, MessageId, MessageKind, MessageStream, MessagingEvent, MessagingPlan, WakeMode,
    message,
};

#[test]
fn a_request_is_answered() {
    let mut net = pair(vec![stream(0, (1, 0), 1)]);
    net.run(SECOND);
    net.assert_exactly_once(2);
    let statistics = net.statistics(0, 0);
    assert_eq!((statistics.requests_sent, statistics.completed), (1, 1));
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
    assert!(net.hosts.iter().all(HostMessaging::is_quiet));
}

#[test]
fn a_round_trip_takes_the_sum_of_its_stages() {
    let arrivals = ping_pong();
    let mut net = pair(vec![MessageStream { arrivals, ..stream(0, (1, 0), 1) }]);
    for host in &mut net.hosts {
        (host.costs.host_poll, host.costs.look) = (1, 1);
    }
    net.run(SECOND);
    // A short packet of four words: 38 bytes and 16, and its wire.
    let packet = 54 + WIRE;
    let way = 320 + (20 + 348 + 40 + 48) + packet + (348 + 40 + 48) + 320;
    // Before it sends, the client looks once whether something has come; both find what comes at once.
    assert_eq!(net.statistics(0, 0).round_trips.mean(), Some(1 + 2 * way));
}

#[test]
fn a_thread_with_an_event_sleeps_until_something_comes() {
    let mut server = plan(1, 2);
    server.endpoints.iter_mut().for_each(|endpoint| endpoint.wake = WakeMode::Event);
    let arrivals = ping_pong();
    let client = MessageStream { arrivals, ..stream(0, (1, 1), 1) };
    let mut net =
        MessagingNetwork::new(vec![MessagingPlan { streams: vec![client], ..plan(0, 1) }, server]);
    net.hosts[0].costs.host_poll = 1;
    net.hosts.iter_mut().for_each(|host| host.costs.look = 1);
    net.run(SECOND);
    // As in the round trip above; the server's second thread is woken, and looked for something first,
    // after the first thread: that is a switch.
    let way = 320 + (20 + 348 + 40 + 48) + (54 + WIRE) + (348 + 40 + 48) + 320;
    assert_eq!(net.statistics(0, 0).round_trips.mean(), Some(1 + 2 * way + 800));
    assert_eq!(net.statistics(1, 1).events, 1);
}

#[test]
fn a_request_takes_a_credit_and_its_reply_gives_it_back() {
    let mut net = pair(vec![stream(0, (1, 0), 50)]);
    net.run(SECOND);
    let mut credits = Vec::new();
    for (_, _, events) in &net.events {
        if let MessagingEvent::Credits(_, left) = events {
            credits.push(*left);
        }
    }
    assert_eq!(credits.iter().min(), Some(&0), "four at once: K");
    assert_eq!((credits.len(), credits.last()), (100, Some(&4)));
}

#[test]
fn a_medium_message_arrives_as_it_was_sent() {
    let medium = |bytes| sized(MessageKind::Medium, bytes, 5);
    let mut net = pair(vec![medium(4), medium(1000), medium(8192)]);
    net.run(SECOND);
    net.assert_exactly_once(30);
    let read = net.statistics(1, 0);
    assert_eq!((read.requests_read, read.bytes_read, read.damaged), (15, 5 * 9196, 0));
}

#[test]
fn a_bulk_transfer_lands_at_its_offsets() {
    let mut net = pair(vec![sized(MessageKind::Bulk, 20_000, 1)]);
    net.run(SECOND);
    net.assert_exactly_once(2 * 3);
    let id = |number| MessageId { nic: Nic(0), endpoint: EndpointId(0), number };
    let pieces = [(0, 8192), (1, 8192), (2, 3616)];
    let bytes = pieces.map(|(number, length)| message::content(id(number), length)).concat();
    assert_eq!(net.hosts[1].segment(EndpointId(0), 0, 20_000), Some(bytes));
    assert_eq!(net.hosts[1].segment(EndpointId(0), 20_000, 4), Some(vec![0; 4]));
}
