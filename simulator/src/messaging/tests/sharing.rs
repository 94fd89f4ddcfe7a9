//! Endpoints that share queues, frames and their NIC. T-9, T-13..T-15

use codec::time::Ticks;
use codec::transport::{NackReason, Nic};

use super::super::counters::reason_class;
use super::{MessagingNetwork, SECOND, plan, stream, two};
use crate::messaging::{
    EndpointParameters, HostMessaging, MICROSECOND, MessageCosts, MessageStream, MessagingEvent,
    MessagingPlan, ProtocolLayers,
};
use crate::traffic::ArrivalProcess;

#[test]
fn an_application_that_does_not_read_fills_its_queue_and_is_not_overrun() {
    // Six clients of four credits each are more than the sixteen places of the queue.
    let server = MessagingPlan {
        costs: MessageCosts { host_receive: 5_000_000, ..MessageCosts::AM_II },
        ..plan(0, 1)
    };
    let client = |nic| MessagingPlan {
        streams: (0..3).map(|from| stream(from, (0, 0), 4)).collect(),
        ..plan(nic, 3)
    };
    let mut net = MessagingNetwork::new(vec![server, client(1), client(2)]);
    net.run(10 * SECOND);
    net.assert_exactly_once(2 * 24);
    assert!(net.hosts[0].statistics().nacks_sent[reason_class(NackReason::QueueFull)] > 0);
}

#[test]
fn eight_endpoints_share_seven_frames() {
    let streams = (0..8).map(|from| stream(from, (1, from), 20)).collect();
    let mut net = two(EndpointParameters::default(), 8, streams);
    net.run(20 * SECOND);
    net.assert_exactly_once(2 * 8 * 20);
    assert!((0..8).all(|endpoint| net.statistics(0, endpoint).completed == 20));
    assert!(net.hosts.iter().all(HostMessaging::is_quiet));
    assert!(net.count(|event| matches!(event, MessagingEvent::Loaded(_))) >= 2);
}

#[test]
fn what_travelled_with_its_endpoint_is_sent_again_by_itself() {
    // The server has one frame for two endpoints, so that most of what comes is refused; so has the
    // client, whose endpoints leave with what was refused.
    let parameters = EndpointParameters { frames: 1, ..EndpointParameters::default() };
    let streams = (0..2).map(|from| stream(from, (1, from), 40)).collect();
    let mut net = two(parameters, 2, streams);
    net.run(60 * SECOND);
    net.assert_exactly_once(2 * 80);
    assert!(net.count(|event| matches!(event, MessagingEvent::Unloaded(_))) > 4);
    assert!(net.hosts.iter().all(HostMessaging::is_quiet));
}

/// Sender of each message of a host, in the order of acknowledgment.
fn senders(net: &mut MessagingNetwork, nic: u16, until: u64) -> Vec<u16> {
    net.run(until);
    let mut senders = Vec::new();
    for (_, _, events) in &net.events {
        if let MessagingEvent::Acknowledged(id) = events
            && id.nic == Nic(nic)
        {
            senders.push(id.endpoint.0);
        }
    }
    senders
}

#[test]
fn endpoints_that_always_have_something_to_send_get_the_same_share() {
    let streams = (0..3).map(|from| stream(from, (1, from), 2_000)).collect();
    let parameters = EndpointParameters { burst_log2: 3, ..EndpointParameters::default() };
    let mut net = two(parameters, 3, streams);
    let order = senders(&mut net, 0, SECOND / 20);
    let share = |endpoint| order.iter().filter(|sender| **sender == endpoint).count();
    let shares = [share(0), share(1), share(2)];
    assert!(shares[0] > 300);
    assert!(shares.iter().all(|share| share.abs_diff(shares[0]) <= 2 * 8), "{shares:?}");
}

/// Time when host 1 has written the first message of each endpoint of host 0.
fn written(net: &MessagingNetwork, endpoint: u16) -> u64 {
    let first = net.events.iter().find(|(_, _, event)| {
        matches!(event, MessagingEvent::Written(id, _) if (id.nic.0, id.endpoint.0) == (0, endpoint))
    });
    first.unwrap().0
}

#[test]
fn an_endpoint_waits_for_the_attempts_that_are_left_of_another_that_pauses() {
    // Endpoint 0 has one request; that of endpoint 1 comes while the NIC looks for more of 0.
    for burst_log2 in 0..6 {
        let parameters = EndpointParameters { burst_log2, ..EndpointParameters::default() };
        let streams = vec![
            stream(0, (1, 0), 1),
            MessageStream { start: 5 * MICROSECOND, ..stream(1, (1, 1), 1) },
        ];
        let mut net = two(parameters, 2, streams);
        let look = 10 * MICROSECOND;
        net.hosts[0].costs.look = look;
        net.run(SECOND);
        let looks = (written(&net, 1) - written(&net, 0)) / look;
        // Besides: sending it, and taking in what answers the first.
        let least = (1 << burst_log2) - 1;
        assert!((least..=least + 2).contains(&looks), "{burst_log2}: {looks}");
    }
}

/// Requests in 0.1 s of a saturated endpoint, and of others of its host with a request every
/// `every` microseconds each.
fn beside(others: u16, every: u64) -> (u64, u64) {
    let rare = |from| MessageStream {
        arrivals: ArrivalProcess::Constant(Ticks(every * MICROSECOND)),
        ..stream(from, (1, from), u64::MAX)
    };
    let mut streams = vec![stream(0, (1, 0), u64::MAX)];
    streams.extend((1..=others).map(rare));
    let client = MessagingPlan { streams, ..plan(0, others + 1) };
    let mut net = MessagingNetwork::new(vec![client, plan(1, others + 1)]);
    net.run(SECOND / 10);
    let completed = |endpoint| net.statistics(0, endpoint).completed;
    (completed(0), (1..=others).map(completed).sum())
}

#[test]
fn rare_senders_take_no_more_of_their_neighbour_than_their_attempts() {
    // T-14: at either NIC a rare message takes its own time, a gap g of 12.8 µs and a header, and 63
    // looks of 0.5 µs; for as long, at worst, the neighbour stands still.
    let costs = MessageCosts::AM_II;
    let gap = costs.gap(ProtocolLayers::Protection);
    let lost =
        |messages: u64| (messages * 2 * (gap + costs.header + 63 * costs.look)).div_ceil(gap);
    let (alone, _) = beside(0, 1);
    assert!(alone > 7_500, "{alone}");
    // With one in 10 ms it loses less than one request in a hundred; with six in a millisecond half.
    for (others, every) in [(1, 10_000), (6, 1_000)] {
        let (with_others, theirs) = beside(others, every);
        let due = u64::from(others) * 100_000 / every;
        assert!((due - u64::from(others)..=due + u64::from(others)).contains(&theirs), "{theirs}");
        assert!(with_others + lost(theirs) >= alone, "{with_others} of {alone}, {theirs}");
    }
}
