//! A few hosts with endpoints, what these send, and what an adversary does to the packets between
//! them, made up from arbitrary bytes.

use std::num::NonZeroU32;

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::time::Ticks;
use codec::transport::{EndpointId, EndpointKey, Nic};
use simulator::messaging::{
    EndpointParameters, EndpointPlan, MICROSECOND, MessageCosts, MessageKind, MessageStream,
    MessagingPlan, ProtocolLayers, ReturnHandler, TransferMode, WakeMode,
};
use simulator::traffic::{ArrivalProcess, PayloadSize};
use simulator::transport::{Micros, TransportParameters};

use crate::network::traffic_input::several;

/// Streams and faults of a small plan at most. *Chosen*: enough for a message, what it meets, and what
/// goes wrong meanwhile.
const SMALL: usize = 6;

#[derive(Clone, Debug, Arbitrary)]
pub struct MessagingInput {
    /// The hosts, and what they are set to.
    pub shape: MessagingShape,
    #[arbitrary(with = several::<6, _>)]
    pub streams: Vec<MessagingStream>,
    #[arbitrary(with = several::<6, _>)]
    pub faults: Vec<MessagingFault>,
}

#[derive(Clone, Debug)]
pub struct MessagingSetup {
    /// Setup of each host; they have the NICs 0, 1, and so on, and equal parameters.
    pub hosts: Vec<MessagingPlan>,
    /// Periods that a packet is in transit.
    pub latency: u64,
    pub seed: u64,
    pub faults: Vec<MessagingFault>,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct MessagingShape {
    hosts: u8,
    endpoints: u8,
    frames: u8,
    credits: u8,
    queue: u8,
    staging: u8,
    channels: u8,
    scan: u8,
    timeout: u8,
    unreachable: u8,
    burst: u8,
    look: u8,
    load: u8,
    costs: u8,
    latency: u8,
    wake: u8,
    seed: u8,
}

/// Requests from an endpoint to another.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct MessagingStream {
    from: u8,
    to: u8,
    kind: u8,
    size: u16,
    arrivals: u8,
    every: u8,
    start: u8,
    count: u8,
    wrong: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagingFault {
    pub at: u64,
    pub lasts: u64,
    pub host: u8,
    pub other: u8,
    pub what: MessagingFaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagingFaultKind {
    /// So many of 256 packets from one host to another are lost.
    Loss(u8),
    /// Nothing arrives from one host at another until it is over; then all does.
    Hold,
    /// Nothing goes out from a host or comes in.
    Island,
    /// A host's control program is loaded again, and runs when it is over.
    Restart,
    Noise(u8),
}

impl<'a> Arbitrary<'a> for MessagingFault {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self, Error> {
        bytes.arbitrary().map(Self::of)
    }
}

impl MessagingFault {
    fn of([at, lasts, host, other, kind, share]: [u8; 6]) -> Self {
        Self {
            at: u64::from(at) * 10 * MICROSECOND,
            lasts: u64::from(lasts) * 8 * MICROSECOND,
            host,
            other,
            what: match kind % 8 {
                0..=2 => MessagingFaultKind::Loss(share | 15),
                3 | 4 => MessagingFaultKind::Hold,
                5 => MessagingFaultKind::Island,
                6 => MessagingFaultKind::Restart,
                _ => MessagingFaultKind::Noise(share),
            },
        }
    }
}

impl MessagingInput {
    /// The plan that some bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::arbitrary(&mut Unstructured::new(bytes)).ok()
    }

    /// The small plan that some bytes of a fuzzer stand for: two hosts or three, few streams of few
    /// messages, few faults, eight bytes each. Large ones are for the storms.
    pub fn small(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unstructured::new(bytes);
        let shape = MessagingShape::arbitrary(&mut bytes).ok()?;
        let shape =
            MessagingShape { hosts: shape.hosts % 2, endpoints: shape.endpoints % 3, ..shape };
        let mut plan = Self { shape, streams: Vec::new(), faults: Vec::new() };
        for _ in 0..SMALL.min(bytes.len() / 8) {
            let [kind, one, two, three, four, five, six, seven] = bytes.arbitrary().ok()?;
            if kind % 8 < 5 {
                plan.streams.push(MessagingStream {
                    from: one,
                    to: two,
                    kind: three,
                    size: u16::from(three / 4) * 9,
                    arrivals: four,
                    every: five,
                    start: six,
                    count: seven % 8,
                    wrong: seven / 8,
                });
            } else {
                plan.faults.push(MessagingFault::of([one, two, three, four, five, six]));
            }
        }
        Some(plan)
    }

    pub fn setup(&self) -> MessagingSetup {
        let Self { shape, faults, .. } = self;
        let (latency, seed) = (1 + 4 * u64::from(shape.latency), shape.seed.into());
        MessagingSetup { hosts: self.hosts(), latency, seed, faults: faults.clone() }
    }

    pub fn hosts(&self) -> Vec<MessagingPlan> {
        let nics: Vec<Nic> = (0..self.shape.hosts()).map(Nic).collect();
        self.hosts_at(&nics)
    }

    /// Setup of each host with these NICs. There are at least two.
    pub fn hosts_at(&self, nics: &[Nic]) -> Vec<MessagingPlan> {
        nics.iter().map(|nic| self.host(*nic, nics)).collect()
    }

    fn host(&self, nic: Nic, nics: &[Nic]) -> MessagingPlan {
        let ids = || (0..self.shape.endpoints()).map(EndpointId);
        let wake = |id: EndpointId| {
            if self.shape.wake >> (id.0 % 8) & 1 == 0 { WakeMode::Poll } else { WakeMode::Event }
        };
        let endpoint =
            |id| EndpointPlan { id, key: key(nic, id), segment: 1 << 15, wake: wake(id) };
        let streams = self.streams.iter().filter_map(|it| it.stream(&self.shape, nic, nics));
        let names = nics.iter().flat_map(|nic| ids().map(|id| ((*nic, id), key(*nic, id))));
        let rows = nics.iter().map(|nic| nic.0 + 1).max().unwrap_or(1);
        MessagingPlan {
            nic,
            transport: TransportParameters { nics: rows, ..self.shape.transport() },
            parameters: self.shape.parameters(),
            costs: self.shape.costs(),
            endpoints: ids().map(endpoint).collect(),
            streams: streams.collect(),
            names: names.collect(),
        }
    }
}

fn key(nic: Nic, id: EndpointId) -> EndpointKey {
    EndpointKey(1000 + 10 * u64::from(nic.0) + u64::from(id.0))
}

impl MessagingShape {
    fn hosts(&self) -> u16 {
        2 + u16::from(self.hosts % 4)
    }

    fn endpoints(&self) -> u16 {
        1 + u16::from(self.endpoints % 4)
    }

    /// Times are short, so that many fit into a run.
    pub fn transport(&self) -> TransportParameters {
        let scan = 20 + u64::from(self.scan);
        let timeout = 60 + 2 * u64::from(self.timeout);
        TransportParameters {
            nics: self.hosts(),
            // With one, requests could keep all replies out.
            channels: 2 + self.channels % 3,
            scan: Micros(scan),
            timeout: Micros(timeout),
            retries: 2 + u32::from(self.unreachable / 64),
        }
    }

    /// Parameters of the endpoints: frames are few, so that endpoints compete for them.
    pub fn parameters(&self) -> EndpointParameters {
        EndpointParameters {
            frames: 1 + self.frames % 3,
            credits: 1 + u16::from(self.credits % 4),
            request_queue: 1 + u16::from(self.queue % 8),
            staging: 1 + u16::from(self.staging % 4),
            dma: (self.staging & 0x40 != 0).then_some(1 + self.queue / 128),
            mappings: (self.staging & 0x80 != 0).then_some(2 + u16::from(self.queue / 64)),
            map: u64::from(self.load) * MICROSECOND / 4,
            burst_log2: self.burst % 7,
            load: u64::from(self.load) * MICROSECOND,
            patience: 20_000 * MICROSECOND,
            layers: if self.costs >= 224 {
                ProtocolLayers::Reliability
            } else {
                ProtocolLayers::Protection
            },
        }
    }

    fn costs(&self) -> MessageCosts {
        let costs = match self.costs % 3 {
            0 => MessageCosts::NOTHING,
            1 => MessageCosts::AM_II,
            _ => MessageCosts::GAM,
        };
        let look = u64::from(self.look) * MICROSECOND / 64;
        let costs = MessageCosts { look, header: look / 2, ..costs };
        let pipelined = MessageCosts { transfers: TransferMode::Pipelined, ..costs };
        if self.costs & 8 == 0 { costs } else { pipelined }
    }
}

impl MessagingStream {
    /// The stream that it stands for, if it is of that NIC.
    fn stream(&self, shape: &MessagingShape, nic: Nic, nics: &[Nic]) -> Option<MessageStream> {
        let count = nics.len();
        let from = usize::from(self.from) % count;
        let to = (from + 1 + usize::from(self.to) % (count - 1).max(1)) % count;
        let to = *nics.get(to)?;
        if nics.get(from) != Some(&nic) {
            return None;
        }
        // One of eight is for an endpoint that is not there, or with a wrong key. T-6
        let id = u16::from(self.to / 8) % shape.endpoints();
        let id = EndpointId(if self.wrong % 16 == 1 { shape.endpoints() } else { id });
        let EndpointKey(right) = key(to, id);
        let every = Ticks((1 + u64::from(self.every)) * MICROSECOND);
        let size = u32::from(self.size);
        let (kind, size) = match self.kind % 4 {
            0 | 1 => (MessageKind::Short, 4 + size % 29),
            2 => (MessageKind::Medium, 4 + size % 8189),
            _ => (MessageKind::Bulk, 4 + size % 30_000),
        };
        Some(MessageStream {
            from: EndpointId(u16::from(self.from / 8) % shape.endpoints()),
            to: (to, id),
            key: EndpointKey(if self.wrong.is_multiple_of(16) { right + 1 } else { right }),
            kind,
            size: PayloadSize::Fixed(size),
            arrivals: match self.arrivals % 4 {
                0 => ArrivalProcess::Constant(every),
                1 => ArrivalProcess::Poisson(every),
                2 => ArrivalProcess::Saturating,
                _ => ArrivalProcess::Closed(
                    NonZeroU32::MIN.saturating_add((self.arrivals / 64).into()),
                    every,
                ),
            },
            start: u64::from(self.start) * 10 * MICROSECOND,
            count: Some(1 + u64::from(self.count % 12)),
            returned: if self.wrong < 0x80 {
                ReturnHandler::Drop
            } else {
                ReturnHandler::SendElsewhere((to, EndpointId(0)), key(to, EndpointId(0)))
            },
        })
    }
}
