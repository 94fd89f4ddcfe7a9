//! Endpoints that share queues, frames and the attention of their NIC. T-9, T-13..T-15

use codec::transport::{Nic, Reason};

use super::super::protocol::reason_class;
use super::{Net, SECOND, ping_pong, plan, stream};
use crate::endpoint::{
    Costs, EndpointParameters, MICROSECOND, MessageStream, Messaging, MessagingPlan, Told,
};

#[test]
fn an_application_that_does_not_read_fills_its_queue_and_is_not_overrun() {
    // Six clients of four credits each are more than the sixteen places of the queue.
    let server =
        MessagingPlan { costs: Costs { host_receive: 5_000_000, ..Costs::AM_II }, ..plan(0, 1) };
    let client = |nic| MessagingPlan {
        streams: (0..3).map(|from| stream(from, (0, 0), 4)).collect(),
        ..plan(nic, 3)
    };
    let mut net = Net::new(vec![server, client(1), client(2)]);
    net.run(10 * SECOND);
    net.assert_exactly_once(2 * 24);
    assert!(net.hosts[0].statistics().nacks_sent[reason_class(Reason::QueueFull)] > 0);
}

#[test]
fn eight_endpoints_share_seven_frames() {
    let streams = (0..8).map(|from| stream(from, (1, from), 20)).collect();
    let mut net = Net::new(vec![MessagingPlan { streams, ..plan(0, 8) }, plan(1, 8)]);
    net.run(20 * SECOND);
    net.assert_exactly_once(2 * 8 * 20);
    assert!((0..8).all(|endpoint| net.statistics(0, endpoint).completed == 20));
    assert!(net.hosts.iter().all(Messaging::is_quiet));
    assert!(net.count(|told| matches!(told, Told::Loaded(_))) >= 2);
}

#[test]
fn what_travelled_with_its_endpoint_is_sent_again_by_itself() {
    // The server has one frame for two endpoints, so that most of what comes is refused; so has the
    // client, whose endpoints leave with what was refused.
    let parameters = EndpointParameters { frames: 1, ..EndpointParameters::default() };
    let streams = (0..2).map(|from| stream(from, (1, from), 40)).collect();
    let mut net = Net::new(vec![
        MessagingPlan { streams, parameters, ..plan(0, 2) },
        MessagingPlan { parameters, ..plan(1, 2) },
    ]);
    net.run(60 * SECOND);
    net.assert_exactly_once(2 * 80);
    assert!(net.count(|told| matches!(told, Told::Unloaded(_))) > 4);
    assert!(net.hosts.iter().all(Messaging::is_quiet));
}

/// Who sent each message of a host, in the order in which they were acknowledged.
fn senders(net: &mut Net, nic: u16, until: u64) -> Vec<u16> {
    net.run(until);
    let mut senders = Vec::new();
    for (_, _, told) in &net.told {
        if let Told::Acknowledged(id) = told
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
    let mut net = Net::new(vec![
        MessagingPlan { streams, parameters, ..plan(0, 3) },
        MessagingPlan { parameters, ..plan(1, 3) },
    ]);
    let order = senders(&mut net, 0, SECOND / 20);
    let share = |endpoint| order.iter().filter(|sender| **sender == endpoint).count();
    let shares = [share(0), share(1), share(2)];
    assert!(shares[0] > 300);
    assert!(shares.iter().all(|share| share.abs_diff(shares[0]) <= 2 * 8), "{shares:?}");
}

#[test]
fn loitering_keeps_the_others_waiting_for_one_that_pauses() {
    // Endpoint 0 asks, and asks again when it has its answer; endpoint 1 has one request. The NIC
    // stays with 0 for all its burst, or goes on to 1 as soon as the queue of 0 is empty.
    let first_of_the_other = |loiter| {
        let parameters =
            EndpointParameters { loiter, burst_log2: 3, ..EndpointParameters::default() };
        let streams = vec![
            MessageStream { arrivals: ping_pong(), ..stream(0, (1, 0), 20) },
            MessageStream { start: 50 * MICROSECOND, ..stream(1, (1, 1), 1) },
        ];
        let mut net = Net::new(vec![
            MessagingPlan { streams, parameters, ..plan(0, 2) },
            MessagingPlan { parameters, ..plan(1, 2) },
        ]);
        senders(&mut net, 0, SECOND).iter().position(|sender| *sender == 1)
    };
    assert_eq!(first_of_the_other(8_000 * MICROSECOND), Some(8), "2 to the 3 come first");
    assert!(first_of_the_other(0) < Some(4));
}
