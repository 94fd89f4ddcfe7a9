//! A few hosts with endpoints, what these send, and what an adversary does to the packets between
//! them, made up from arbitrary bytes.

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::route::PortId;
use simulator::link::LinkParameters;
use simulator::messaging::{MICROSECOND, MessagingPlan};
use simulator::routes::RoutingMethod;
use simulator::topology::{CableSpec, NodeId, NodeKind, NodePort, NodeSpec, Topology};

use crate::network::draft::NetworkDraft;
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

    /// Setup of each host: as in a network of pairs, whose nodes are hosts only.
    pub fn hosts(&self) -> Vec<MessagingPlan> {
        let count = usize::from(self.shape.hosts());
        let Some(mut draft) = pairs(count) else { return Vec::new() };
        draft.set("duration_us = 10_000");
        draft.hosts.truncate(count);
        self.shape.add_endpoints(&mut draft);
        self.add_messages(&self.shape, &mut draft, 0);
        draft.scenario().messaging.into_values().collect()
    }

    /// Adds the messages to hosts with the endpoints of a shape. They begin so much later.
    pub fn add_messages(&self, shape: &MessagingShape, draft: &mut NetworkDraft, begin: u64) {
        for stream in &self.streams {
            draft.add("messages", &stream.keys(shape, draft, begin));
        }
    }
}

/// At least so many hosts, each with a cable to another.
fn pairs(count: usize) -> Option<NetworkDraft> {
    let count = u32::try_from(count).ok()?.next_multiple_of(2);
    let host = |number| NodeSpec { name: format!("h{number}"), kind: NodeKind::Host };
    let end = |number| NodePort { node: NodeId(number), port: PortId(0) };
    let cable = |number| CableSpec {
        ends: [end(number), end(number + 1)],
        link: LinkParameters::default(),
    };
    let nodes = (0..count).map(host).collect();
    let topology = Topology::new(nodes, (0..count).step_by(2).map(cable).collect()).ok()?;
    NetworkDraft::new(topology, RoutingMethod::UpDown)
}

/// The key of an endpoint.
fn key(host: NodeId, id: u8) -> u32 {
    1000 + 10 * host.0 + u32::from(id)
}

impl MessagingShape {
    fn hosts(&self) -> u8 {
        2 + self.hosts % 4
    }

    fn endpoints(&self) -> u8 {
        1 + self.endpoints % 4
    }

    /// Adds the endpoints of all hosts of a network, at least two, and their parameters. Times are short, so that many
    /// fit into a run; frames are few, so that endpoints compete for them.
    pub fn add_endpoints(&self, draft: &mut NetworkDraft) {
        draft.set(&self.transport(draft.hosts.iter().map(|host| host.0 + 1).max().unwrap_or(1)));
        draft.set(&self.costs());
        for host in draft.hosts.clone() {
            for id in 0..self.endpoints() {
                let wake = if self.wake >> (id % 8) & 1 == 0 { "poll" } else { "event" };
                let (name, key) = (draft.name(host), key(host, id));
                let keys = format!(
                    "name = '{name}.{id}'\nhost = '{name}'\nkey = {key}\nwake = '{wake}'\nsegment = 32768\n"
                );
                draft.add("endpoint", &keys);
            }
        }
    }

    fn transport(&self, nics: u32) -> String {
        let load = u64::from(self.load) * MICROSECOND;
        let dma = (self.staging & 0x40 != 0).then(|| format!("dma = {}\n", 1 + self.queue / 128));
        let mappings = self.staging & 0x80 != 0;
        let mappings = mappings.then(|| format!("mappings = {}\n", 2 + self.queue / 64));
        format!(
            "[transport]\nnics = {nics}\nchannels = {}\nscan_us = {}\ntimeout_us = {}\nretries = {}\n\
             frames = {}\ncredits = {}\nrequest_queue = {}\nstaging = {}\nmap_periods = {}\nburst_log2 = {}\n\
             load_periods = {load}\npatience_us = 20000\nlayers = '{}'\n{}{}",
            // With one, requests could keep all replies out.
            2 + self.channels % 3,
            20 + u16::from(self.scan),
            60 + 2 * u16::from(self.timeout),
            2 + self.unreachable / 64,
            1 + self.frames % 3,
            1 + self.credits % 4,
            1 + self.queue % 8,
            1 + self.staging % 4,
            load / 4,
            self.burst % 7,
            if self.costs >= 224 { "reliability" } else { "protection" },
            dma.unwrap_or_default(),
            mappings.unwrap_or_default(),
        )
    }

    fn costs(&self) -> String {
        let preset = ["nothing", "am-ii", "gam"].into_iter().nth(usize::from(self.costs % 3));
        let look = u64::from(self.look) * MICROSECOND / 64;
        let transfers = if self.costs & 8 == 0 { "" } else { "transfers = 'pipelined'\n" };
        format!(
            "[costs]\npreset = '{}'\nlook_periods = {look}\nheader_periods = {}\n{transfers}",
            preset.unwrap_or("nothing"),
            look / 2,
        )
    }
}

impl MessagingStream {
    /// Keys of its table.
    fn keys(&self, shape: &MessagingShape, draft: &NetworkDraft, begin: u64) -> String {
        let count = draft.hosts.len();
        let from = usize::from(self.from) % count;
        let to = (from + 1 + usize::from(self.to) % (count - 1).max(1)) % count;
        let host = |number: usize| draft.hosts.get(number).copied().unwrap_or(NodeId(0));
        let (from, to) = (draft.name(host(from)), host(to));
        // One of eight is for an endpoint that is not there, or with a wrong key. T-6
        let is_there = self.wrong % 16 != 1;
        let id = if is_there { self.to / 8 % shape.endpoints() } else { shape.endpoints() };
        let key = key(to, id) + u32::from(self.wrong.is_multiple_of(16));
        let to = draft.name(to);
        let place = if is_there {
            format!("'{to}.{id}'")
        } else {
            format!("{{ host = '{to}', number = {id} }}")
        };
        let size = match self.kind % 4 {
            0 | 1 => format!("words = {}", 1 + self.size % 29 / 4),
            2 => format!("kind = 'medium'\nbytes = {}", 4 + self.size % 8189),
            _ => format!("kind = 'bulk'\nbytes = {}", 4 + self.size % 30_000),
        };
        let every = (1 + u64::from(self.every)) * MICROSECOND;
        let arrivals = match self.arrivals % 4 {
            0 => format!("every_periods = {every}"),
            1 => format!("every_periods = {every}\nlaw = 'poisson'"),
            2 => "saturate = true".to_owned(),
            _ => format!("window = {}\nthink_periods = {every}", 1 + self.arrivals / 64),
        };
        let returned =
            if self.wrong < 0x80 { "" } else { &format!("returned = {{ to = '{to}.0' }}\n") };
        format!(
            "from = '{from}.{}'\nto = {place}\nkey = {key}\n{size}\n{arrivals}\nstart_periods = {}\ncount = {}\n\
             {returned}",
            self.from / 8 % shape.endpoints(),
            begin + u64::from(self.start) * 10 * MICROSECOND,
            1 + self.count % 12,
        )
    }
}
