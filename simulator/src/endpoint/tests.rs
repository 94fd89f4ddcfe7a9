use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use codec::tick::Ticks;
use codec::transport::Reason;

use super::*;
use crate::traffic::{Arrivals, Size};
use crate::transport::{Micros, Note};

/// Periods that a packet is on its way between two NICs, whatever its length.
const WIRE: u64 = 100;

/// Packets on their way, and when each arrives.
type Wire = VecDeque<(u64, Vec<u8>)>;

/// Hosts joined in pairs by wires that keep the order of packets and lose what they are told to.
struct Net {
    hosts: Vec<Messaging>,
    wires: BTreeMap<(u16, u16), Wire>,
    sending: Vec<Option<u64>>,
    /// Whether the nth packet is lost.
    lost: fn(u64) -> bool,
    packets: u64,
    told: Vec<(u64, u16, Told)>,
    now: u64,
}

impl Net {
    fn new(plans: Vec<MessagingPlan>) -> Self {
        let hosts: Vec<_> = plans.into_iter().map(|plan| Messaging::new(plan, 7)).collect();
        let sending = vec![None; hosts.len()];
        Self {
            hosts,
            wires: BTreeMap::new(),
            sending,
            lost: |_| false,
            packets: 0,
            told: Vec::new(),
            now: 0,
        }
    }

    fn next(&self) -> Option<u64> {
        let hosts = self.hosts.iter().filter_map(Messaging::due);
        let wires = self.wires.values().filter_map(|wire| wire.front().map(|(at, _)| *at));
        hosts.chain(wires).chain(self.sending.iter().flatten().copied()).min()
    }

    fn run(&mut self, until: u64) {
        while let Some(next) = self.next()
            && next <= until
        {
            assert!(next >= self.now, "time goes on");
            self.now = next;
            self.moment();
            assert!(self.hosts.iter().all(Messaging::agrees));
        }
        self.now = until;
    }

    fn moment(&mut self) {
        let now = self.now;
        for (place, host) in self.hosts.iter_mut().enumerate() {
            let nic = u16::try_from(place).unwrap();
            let mut told = Vec::new();
            let sent = self.sending[place].take_if(|until| *until <= now);
            if sent.is_some() {
                host.sent(now);
            }
            for ((_, to), wire) in &mut self.wires {
                while *to == nic && wire.front().is_some_and(|(at, _)| *at <= now) {
                    let (_, payload) = wire.pop_front().unwrap();
                    host.hear(now, &payload, &mut told);
                }
            }
            host.step(now, &mut told);
            self.told.extend(told.into_iter().map(|told| (now, nic, told)));
            if self.sending[place].is_none()
                && let Some(outgoing) = host.take_outgoing()
            {
                let length = outgoing.payload.len() as u64;
                self.sending[place] = Some(now + length);
                if !(self.lost)(self.packets) && usize::from(outgoing.to.0) < self.sending.len() {
                    let wire = self.wires.entry((nic, outgoing.to.0)).or_default();
                    wire.push_back((now + length + WIRE, outgoing.payload));
                }
                self.packets += 1;
            }
        }
    }

    fn statistics(&self, nic: usize, endpoint: u16) -> EndpointStatistics {
        *self.hosts[nic].endpoint_statistics(EndpointId(endpoint)).unwrap()
    }

    fn count(&self, which: impl Fn(&Told) -> bool) -> usize {
        self.told.iter().filter(|(_, _, told)| which(told)).count()
    }

    /// T-1: every message that was accepted was written once, and its sender knows that.
    fn assert_exactly_once(&self, messages: usize) {
        let mut accepted = BTreeMap::new();
        for (_, _, told) in &self.told {
            if let Told::Accepted(id, _) = told {
                accepted.insert(*id, (0, 0));
            } else if let Told::Written(id, _) = told {
                accepted.get_mut(id).unwrap().0 += 1;
            } else if let Told::Acknowledged(id) = told {
                accepted.get_mut(id).unwrap().1 += 1;
            } else if let Told::Returned(id, why) = told {
                panic!("{id:?} came back: {why:?}");
            }
        }
        assert_eq!(accepted.len(), messages);
        assert!(accepted.values().all(|counts| *counts == (1, 1)), "{accepted:?}");
    }
}

fn key(nic: u16, endpoint: u16) -> EndpointKey {
    EndpointKey(1000 + u64::from(nic) * 100 + u64::from(endpoint))
}

/// A host with so many endpoints.
fn plan(nic: u16, endpoints: u16) -> MessagingPlan {
    let endpoint = |id| EndpointPlan {
        id: EndpointId(id),
        key: key(nic, id),
        segment: 1 << 16,
        wake: Wake::Poll,
    };
    let names = (0..4).flat_map(|nic| {
        (0..40).map(move |endpoint| ((Nic(nic), EndpointId(endpoint)), key(nic, endpoint)))
    });
    MessagingPlan {
        nic: Nic(nic),
        transport: TransportParameters { nics: 8, ..TransportParameters::default() },
        parameters: EndpointParameters::default(),
        costs: Costs::AM_II,
        endpoints: (0..endpoints).map(endpoint).collect(),
        streams: Vec::new(),
        names: names.collect(),
    }
}

fn stream(from: u16, (nic, endpoint): (u16, u16), count: u64) -> MessageStream {
    MessageStream {
        from: EndpointId(from),
        to: (Nic(nic), EndpointId(endpoint)),
        key: key(nic, endpoint),
        kind: Kind::Short,
        size: Size::Fixed(16),
        arrivals: Arrivals::Saturating,
        start: 0,
        count: Some(count),
    }
}

/// One at a time: the next is asked for when the last is answered.
fn ping_pong() -> Arrivals {
    Arrivals::Closed(NonZeroU32::new(1).unwrap(), Ticks(0))
}

fn pair(streams: Vec<MessageStream>) -> Net {
    Net::new(vec![MessagingPlan { streams, ..plan(0, 1) }, plan(1, 1)])
}

const SECOND: u64 = 1_000_000 * MICROSECOND;

#[test]
fn a_request_is_answered() {
    let mut net = pair(vec![stream(0, (1, 0), 1)]);
    net.run(SECOND);
    net.assert_exactly_once(2);
    let statistics = net.statistics(0, 0);
    assert_eq!((statistics.requests_sent, statistics.completed), (1, 1));
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
    assert!(net.hosts.iter().all(Messaging::is_quiet));
}

#[test]
fn a_round_trip_takes_the_sum_of_its_stages() {
    let arrivals = ping_pong();
    let mut net = pair(vec![MessageStream { arrivals, ..stream(0, (1, 0), 1) }]);
    net.hosts.iter_mut().for_each(|host| host.costs.host_poll = 1);
    net.run(SECOND);
    // A short packet of four words: 38 bytes and 16, and its wire.
    let packet = 54 + WIRE;
    let way = 320 + (368 + 40 + 48) + packet + (368 + 40 + 48) + 320;
    // Before it sends, the client looks once whether something has come; both find what comes at once.
    assert_eq!(net.statistics(0, 0).round_trips.mean(), Some(1 + 2 * way));
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
fn a_wrong_key_brings_the_request_back_at_once() {
    let key = EndpointKey(1);
    let mut net = pair(vec![MessageStream { key, ..stream(0, (1, 0), 1) }]);
    net.run(SECOND / 1000);
    let refused = |told: &Told| matches!(told, Told::Returned(_, Why::Refused(Reason::BadKey)));
    assert_eq!((net.count(refused), net.statistics(0, 0).returned), (1, 1));
    assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
}

#[test]
fn what_no_one_hears_comes_back_as_unreachable() {
    let mut net = pair(vec![stream(0, (1, 0), 9)]);
    net.lost = |_| true;
    net.hosts[0].protocol.unreachable = Micros(50_000);
    net.run(30 * SECOND);
    assert_eq!(net.count(|told| matches!(told, Told::Returned(_, Why::Unreachable))), 9);
    assert!(net.hosts[0].is_quiet());
}

#[test]
fn nothing_lost_and_nothing_twice_on_a_wire_that_loses_every_seventh_packet() {
    let streams = vec![stream(0, (1, 0), 300), stream(0, (2, 0), 300)];
    let mut net = Net::new(vec![
        MessagingPlan { streams, ..plan(0, 1) },
        MessagingPlan { streams: vec![stream(0, (2, 0), 300)], ..plan(1, 1) },
        plan(2, 1),
    ]);
    net.lost = |packet| packet % 7 == 3;
    net.run(60 * SECOND);
    net.assert_exactly_once(2 * 900);
    assert!(net.count(|told| matches!(told, Told::Noticed(_, Note::Duplicate))) > 0);
    assert!(net.hosts[0].statistics().retransmitted > 100);
    assert!(net.hosts.iter().all(Messaging::is_quiet));
}

#[test]
fn a_request_takes_a_credit_and_its_reply_gives_it_back() {
    let mut net = pair(vec![stream(0, (1, 0), 50)]);
    net.run(SECOND);
    let mut credits = Vec::new();
    for (_, _, told) in &net.told {
        if let Told::Credits(_, left) = told {
            credits.push(*left);
        }
    }
    assert_eq!(credits.iter().min(), Some(&0), "four at once: K");
    assert_eq!((credits.len(), credits.last()), (100, Some(&4)));
}

#[test]
fn a_medium_message_arrives_as_it_was_sent() {
    let medium = |bytes| {
        let size = Size::Fixed(bytes);
        MessageStream { kind: Kind::Medium, size, ..stream(0, (1, 0), 5) }
    };
    let mut net = pair(vec![medium(4), medium(1000), medium(8192)]);
    net.run(SECOND);
    net.assert_exactly_once(30);
    let read = net.statistics(1, 0);
    assert_eq!((read.requests_read, read.bytes_read, read.damaged), (15, 5 * 9196, 0));
}

/// The first packet that a stream of host 0 puts on the wire.
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
    let medium =
        MessageStream { kind: Kind::Medium, size: Size::Fixed(8192), ..stream(0, (1, 0), 1) };
    let payload = first_packet(medium);
    let mut host = Messaging::new(plan(1, 1), 0);
    let mut told = Vec::new();
    host.hear(0, &payload, &mut told);
    host.hear(0, &payload, &mut told);
    host.step(SECOND, &mut told);
    assert_eq!(told.iter().filter(|told| matches!(told, Told::Written(..))).count(), 1);
    let counts = host.statistics();
    assert_eq!((counts.data_heard, counts.held_up, counts.duplicates), (2, 1, 0));
}

#[test]
fn a_changed_byte_that_the_crc_lets_pass_is_told() {
    let mut host = Messaging::new(plan(1, 1), 0);
    let mut payload = first_packet(stream(0, (1, 0), 1));
    *payload.last_mut().unwrap() ^= 1;
    let mut told = Vec::new();
    host.hear(0, &payload, &mut told);
    host.step(SECOND, &mut told);
    assert_eq!(told.iter().filter(|told| matches!(told, Told::Damaged(..))).count(), 1);
}

#[test]
fn a_bulk_transfer_lands_at_its_offsets() {
    let size = Size::Fixed(20_000);
    let mut net = pair(vec![MessageStream { kind: Kind::Bulk, size, ..stream(0, (1, 0), 1) }]);
    net.run(SECOND);
    net.assert_exactly_once(2 * 3);
    let id = |number| MessageId { nic: Nic(0), endpoint: EndpointId(0), number };
    let pieces = [(0, 8192), (1, 8192), (2, 3616)];
    let bytes = pieces.map(|(number, length)| parcel::content(id(number), length)).concat();
    assert_eq!(net.hosts[1].segment(EndpointId(0), 0, 20_000), Some(bytes));
    assert_eq!(net.hosts[1].segment(EndpointId(0), 20_000, 4), Some(vec![0; 4]));
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
fn a_restart_in_mid_conversation_ends_every_message() {
    for (victim, at) in [(0, 500), (1, 500), (0, 777), (1, 1234), (1, 2001)] {
        let medium =
            MessageStream { kind: Kind::Medium, size: Size::Fixed(3000), ..stream(0, (1, 0), 100) };
        let mut net = pair(vec![stream(0, (1, 0), 100), medium]);
        net.run(at * MICROSECOND);
        let mut told = Vec::new();
        let ready = (at + 100) * MICROSECOND;
        net.hosts[victim].restart(net.now, ready, &mut told);
        net.sending[victim] = None;
        let nic = u16::try_from(victim).unwrap();
        net.told.extend(told.into_iter().map(|told| (net.now, nic, told)));
        net.run(100 * SECOND);
        let statistics = net.statistics(0, 0);
        let ends = statistics.completed + statistics.returned + statistics.given_up;
        assert_eq!((statistics.requests_sent, ends), (200, 200), "{victim} {at}");
        assert_eq!(net.hosts[0].credits(EndpointId(0)), Some(4));
        assert!(net.hosts.iter().all(Messaging::is_quiet), "{victim} {at}");
        assert!(statistics.completed >= 190, "it goes on");
    }
}

#[test]
fn without_reliability_a_packet_is_sent_and_forgotten() {
    let parameters = EndpointParameters {
        layers: Layers::Baseline,
        patience: SECOND / 100,
        ..EndpointParameters::default()
    };
    let mut net = Net::new(vec![
        MessagingPlan { parameters, streams: vec![stream(0, (1, 0), 20)], ..plan(0, 1) },
        MessagingPlan { parameters, ..plan(1, 1) },
    ]);
    net.lost = |packet| packet == 3;
    net.run(SECOND);
    let statistics = net.statistics(0, 0);
    assert_eq!((statistics.completed, statistics.given_up), (19, 1));
    assert_eq!(net.count(|told| matches!(told, Told::Acknowledged(_))), 0);
    assert_eq!(net.hosts.iter().map(|host| host.statistics().acks_sent).sum::<u64>(), 0);
}

#[test]
fn a_thread_with_an_event_sleeps_until_something_comes() {
    let mut server = plan(1, 2);
    server.endpoints.iter_mut().for_each(|endpoint| endpoint.wake = Wake::Event);
    let arrivals = ping_pong();
    let client = MessageStream { arrivals, ..stream(0, (1, 1), 1) };
    let mut net = Net::new(vec![MessagingPlan { streams: vec![client], ..plan(0, 1) }, server]);
    net.hosts[0].costs.host_poll = 1;
    net.run(SECOND);
    // As in the round trip above; the server's second thread is woken, and looked for something first,
    // after the first thread: that is a switch.
    let way = 320 + (368 + 40 + 48) + (54 + WIRE) + (368 + 40 + 48) + 320;
    assert_eq!(net.statistics(0, 0).round_trips.mean(), Some(1 + 2 * way + 800));
    assert_eq!(net.statistics(1, 1).events, 1);
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

#[test]
fn a_restart_keeps_no_place_for_what_does_not_come_any_more() {
    let parameters = EndpointParameters { frames: 1, ..EndpointParameters::default() };
    let mut host = Messaging::new(MessagingPlan { parameters, ..plan(0, 2) }, 0);
    for endpoint in &mut host.endpoints {
        endpoint.keep(codec::transport::Role::Request);
    }
    assert!(!host.is_resident(EndpointId(1)));
    host.restart(10, 20, &mut Vec::new());
    assert!(host.endpoints.iter().all(|endpoint| endpoint.kept == [0; 2]));
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
