//! Hosts with endpoints, joined by ideal wires.

mod loss;
mod memory;
mod returns;
mod sharing;
mod traffic;

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use codec::time::Ticks;

use super::*;
use crate::traffic::{ArrivalProcess, PayloadSize};

/// Delay of a packet between two NICs, whatever its length.
const WIRE: u64 = 100;

type WireQueue = VecDeque<(u64, Vec<u8>)>;

/// Hosts joined by wires that keep the order of packets and drop selected ones.
struct MessagingNetwork {
    hosts: Vec<HostMessaging>,
    wires: BTreeMap<(u16, u16), WireQueue>,
    sending: Vec<Option<u64>>,
    /// Selects the packets that are lost, by number.
    lost: fn(u64) -> bool,
    packets: u64,
    events: Vec<(u64, u16, MessagingEvent)>,
    now: u64,
}

impl MessagingNetwork {
    fn new(plans: Vec<MessagingPlan>) -> Self {
        let hosts: Vec<_> = plans.into_iter().map(|plan| HostMessaging::new(plan, 7)).collect();
        let sending = vec![None; hosts.len()];
        Self {
            hosts,
            wires: BTreeMap::new(),
            sending,
            lost: |_| false,
            packets: 0,
            events: Vec::new(),
            now: 0,
        }
    }

    fn next(&self) -> Option<u64> {
        let hosts = self.hosts.iter().filter_map(HostMessaging::due);
        let wires = self.wires.values().filter_map(|wire| wire.front().map(|(at, _)| *at));
        hosts.chain(wires).chain(self.sending.iter().flatten().copied()).min()
    }

    fn run(&mut self, until: u64) {
        while let Some(next) = self.next()
            && next <= until
        {
            assert!(next >= self.now, "time goes on");
            self.now = next;
            self.step_all();
            assert!(self.hosts.iter().all(HostMessaging::is_consistent));
        }
        self.now = until;
    }

    fn step_all(&mut self) {
        let now = self.now;
        for (place, host) in self.hosts.iter_mut().enumerate() {
            let nic = u16::try_from(place).unwrap();
            let mut events = Vec::new();
            let sent = self.sending[place].take_if(|until| *until <= now);
            if sent.is_some() {
                host.sent(now);
            }
            for ((_, to), wire) in &mut self.wires {
                while *to == nic && wire.front().is_some_and(|(at, _)| *at <= now) {
                    let (_, payload) = wire.pop_front().unwrap();
                    host.receive(now, &payload, &mut events);
                }
            }
            host.step(now, &mut events);
            self.events.extend(events.into_iter().map(|event| (now, nic, event)));
            if self.sending[place].is_none()
                && host.take_outgoing().is_some()
                && let Some(outgoing) = host.leaves(now)
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
        self.hosts[nic].endpoint_statistics(EndpointId(endpoint)).unwrap().clone()
    }

    fn count(&self, which: impl Fn(&MessagingEvent) -> bool) -> usize {
        self.events.iter().filter(|(_, _, event)| which(event)).count()
    }

    /// T-1: every accepted message was written once and acknowledged.
    fn assert_exactly_once(&self, messages: usize) {
        let mut accepted = BTreeMap::new();
        for (_, _, events) in &self.events {
            if let MessagingEvent::Accepted(id, _) = events {
                accepted.insert(*id, (0, 0));
            } else if let MessagingEvent::Written(id, _) = events {
                accepted.get_mut(id).unwrap().0 += 1;
            } else if let MessagingEvent::Acknowledged(id) = events {
                accepted.get_mut(id).unwrap().1 += 1;
            } else if let MessagingEvent::Returned(id, why) = events {
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

fn plan(nic: u16, endpoints: u16) -> MessagingPlan {
    let endpoint = |id| EndpointPlan {
        id: EndpointId(id),
        key: key(nic, id),
        segment: 1 << 16,
        wake: WakeMode::Poll,
    };
    let names = (0..4).flat_map(|nic| {
        (0..40).map(move |endpoint| ((Nic(nic), EndpointId(endpoint)), key(nic, endpoint)))
    });
    MessagingPlan {
        nic: Nic(nic),
        transport: TransportParameters { nics: 8, ..TransportParameters::default() },
        parameters: EndpointParameters::default(),
        costs: MessageCosts::AM_II,
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
        kind: MessageKind::Short,
        size: PayloadSize::Fixed(16),
        arrivals: ArrivalProcess::Saturating,
        start: 0,
        count: Some(count),
        returned: ReturnHandler::Drop,
    }
}

/// Stream from endpoint 0 of host 0 to endpoint 0 of host 1, of another kind and size.
fn sized(kind: MessageKind, bytes: u32, count: u64) -> MessageStream {
    MessageStream { kind, size: PayloadSize::Fixed(bytes), ..stream(0, (1, 0), count) }
}

fn ping_pong() -> ArrivalProcess {
    ArrivalProcess::Closed(NonZeroU32::new(1).unwrap(), Ticks(0))
}

/// Two hosts with as many endpoints; the first one sends.
fn two(
    parameters: EndpointParameters,
    endpoints: u16,
    streams: Vec<MessageStream>,
) -> MessagingNetwork {
    MessagingNetwork::new(vec![
        MessagingPlan { streams, parameters, ..plan(0, endpoints) },
        MessagingPlan { parameters, ..plan(1, endpoints) },
    ])
}

fn pair(streams: Vec<MessageStream>) -> MessagingNetwork {
    two(EndpointParameters::default(), 1, streams)
}

const SECOND: u64 = 1_000_000 * MICROSECOND;
