//! Traffic and faults of a fuzz input.

use std::num::NonZeroU32;

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::character::{Character, ProbeNumber};
use codec::chars::CharBuf;
use codec::route::PortId;
use simulator::fault::{self, BitErrors, FaultKind, FaultPlace};
use simulator::interface::ConsumptionMode;
use simulator::topology::{NodeId, NodeKind, NodePort, Topology};

use super::draft::NetworkDraft;
use crate::reference::crc;

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct StreamInput {
    from: u8,
    to: u8,
    tag: u8,
    size: SizeInput,
    pace: PaceInput,
    start: u16,
    packets: u8,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum SizeInput {
    Small(u8),
    Large(u16),
    Uniform(u8, u16),
    Bimodal(u8, u16, u16),
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum PaceInput {
    Constant(u16),
    Poisson(u16),
    Bursts(u8, u16),
    Saturating,
    Closed(u8, u8),
}

/// A text that a host's link is made to send.
#[derive(Clone, Debug, Arbitrary)]
pub struct RawTextInput {
    from: u8,
    at: u16,
    #[arbitrary(with = several::<9, _>)]
    words: Vec<RawTextPart>,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum RawTextPart {
    Data(u8),
    Header(u8),
    /// A packet to a host: length, and the wrong bits of its CRC byte.
    Packet(u8, u8, u8),
    /// A packet that loads an entry of a multicast table: its address, its ports. S-9
    Table(u8, [u8; 2]),
    Multicast(u8, u8),
    /// A packet that reads the identity of the first switch, and goes on to a host. S-8
    Request(u8),
    Gap,
    /// IDLE, up to 4 times.
    Silence(u8),
    Symbol(u8),
    Code(u8),
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct FaultInput {
    at: u16,
    lasts: Option<u16>,
    place: u8,
    what: FaultInputKind,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
enum FaultInputKind {
    Noise { flip: bool, mean: u16 },
    Flip(u8),
    Flips(u16),
    OpenWire(u8),
    Cut,
    LoseGap,
    ForwardReset,
    BackwardReset,
    Probe(u8),
    PowerOff,
    DeadPort,
    Consume(ConsumptionInput),
    Restart,
}

/// A list of at most `MOST` values.
pub(crate) fn several<'a, const MOST: u8, T: Arbitrary<'a>>(
    bytes: &mut Unstructured<'a>,
) -> Result<Vec<T>, Error> {
    let len = bytes.int_in_range(0..=MOST)?;
    (0..len).map(|_| bytes.arbitrary()).collect()
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum ConsumptionInput {
    Always,
    AlwaysToo,
    Never,
    Every(u8),
    Adversary,
}

fn pick<T: Copy>(from: &[T], number: u8) -> Option<T> {
    from.get(usize::from(number) % from.len().max(1)).copied()
}

impl ConsumptionInput {
    /// The mode itself if it consumes in the end, or else one that does.
    pub(super) const fn consuming(self) -> Self {
        match self {
            Self::Never | Self::Adversary => Self::Always,
            Self::Always | Self::AlwaysToo | Self::Every(_) => self,
        }
    }

    pub(super) fn consumption(self) -> ConsumptionMode {
        match self {
            Self::Always | Self::AlwaysToo => ConsumptionMode::Always,
            Self::Never => ConsumptionMode::Never,
            Self::Every(periods) => {
                ConsumptionMode::Every(NonZeroU32::MIN.saturating_add((periods % 64).into()))
            }
            Self::Adversary => ConsumptionMode::Adversary,
        }
    }
}

impl StreamInput {
    /// The receiver, unless it is any host.
    fn to(&self, hosts: &[NodeId]) -> Option<NodeId> {
        hosts.get(usize::from(self.to) % (hosts.len() + 1)).copied()
    }

    /// True if the sender is its own receiver.
    pub fn is_to_itself(&self, hosts: &[NodeId]) -> bool {
        self.to(hosts).is_some_and(|to| pick(hosts, self.from) == Some(to))
    }

    /// Number of packets, if it has an end. What a host would send to itself keeps its place among the streams, since
    /// others draw the same lots.
    pub fn packets(&self, hosts: &[NodeId]) -> Option<u64> {
        if self.is_to_itself(hosts) {
            Some(0)
        } else {
            self.packets.checked_sub(100).map(u64::from)
        }
    }

    /// Keys of its table but for the number of packets; none in a network with one host. It starts in a span after
    /// `begin`.
    pub fn keys(&self, draft: &NetworkDraft, (begin, span): (u64, u64)) -> Option<String> {
        let hosts = &draft.hosts;
        let from = pick(hosts, self.from)?;
        let other = draft.name(*hosts.iter().find(|host| **host != from)?);
        let to = self.to(hosts).map_or("uniform", |to| draft.name(to));
        let to = if self.is_to_itself(hosts) { other } else { to };
        let command = match self.tag / 0x48 {
            0 => "",
            // I-6
            1 => "checksum = 'nic'\nblocks = 3\n",
            2 => "checksum = 'host'\n",
            _ => "interrupt = true\n",
        };
        Some(format!(
            "from = '{}'\nto = '{to}'\ntag = {}\npayload = {}\n{}start_periods = {}\n{command}",
            draft.name(from),
            self.tag % 0x48,
            self.size.value(),
            self.pace.keys(),
            begin + u64::from(self.start) % span,
        ))
    }
}

impl SizeInput {
    fn value(self) -> String {
        let large = |size: u16| size % 2000;
        match self {
            Self::Small(size) => (size % 32).to_string(),
            Self::Large(size) => large(size).to_string(),
            Self::Uniform(first, more) => format!("[{first}, {}]", u16::from(first) + large(more)),
            Self::Bimodal(small, more, share) => {
                // The least share there is, 10⁻⁶, means none.
                let nanos = ((u64::from(share.max(1)) * 1_000_000_000 + (1 << 15)) >> 16).max(1000);
                let large = large(more);
                format!("{{ small = {small}, large = {large}, large_share = 0.{nanos:09} }}")
            }
        }
    }
}

impl PaceInput {
    fn keys(self) -> String {
        let every = |periods: u16| format!("every_periods = {}\n", (periods % 1024).max(1));
        match self {
            Self::Constant(period) => every(period),
            Self::Poisson(mean) => every(mean) + "law = 'poisson'\n",
            Self::Bursts(size, period) => every(period) + &format!("burst = {}\n", 1 + size % 8),
            Self::Saturating => "saturate = true\n".to_owned(),
            Self::Closed(window, think) => {
                format!("window = {}\nthink_periods = {think}\n", 1 + window % 8)
            }
        }
    }
}

impl RawTextInput {
    /// Keys of its table, unless it is empty. It starts in a span after `begin`.
    pub fn keys(&self, draft: &NetworkDraft, (begin, span): (u64, u64)) -> Option<String> {
        let NetworkDraft { hosts, routes, .. } = draft;
        let from = pick(hosts, self.from)?;
        let mut chars = CharBuf::new();
        for word in &self.words {
            word.put(&mut chars, |to| Some(routes.get(from, pick(hosts, to)?)?.to_vec()));
        }
        let (name, at) = (draft.name(from), begin + u64::from(self.at) % span);
        let keys = format!("from = '{name}'\nat_periods = {at}\nchars = '{chars}'\n");
        (!chars.is_empty()).then_some(keys)
    }
}

impl RawTextPart {
    fn put(self, out: &mut CharBuf, route: impl Fn(u8) -> Option<Vec<u8>>) {
        match self {
            Self::Data(byte) => out.push(Character::Data(byte)),
            Self::Header(byte) => out.push(Character::Data(byte & 0x87)),
            Self::Packet(to, len, wrong) => {
                let mut bytes = route(to).unwrap_or_default();
                bytes.push(to & 0x3f);
                bytes.extend((0..len % 64).map(|at| at.wrapping_mul(wrong)));
                put_packet(out, bytes, if wrong.is_multiple_of(4) { wrong } else { 0 });
            }
            Self::Table(address, ports) => {
                // One item or two, and now and then one is missing.
                let count = 1 + (address >> 6);
                let mut bytes = vec![0xff, 0x7f, 0x60 + address % 2, count.min(2) + count / 4];
                for port in ports.iter().take(count.into()) {
                    // Each with a header of a byte or of none.
                    bytes.extend([port % 5, port >> 7]);
                    bytes.extend((port & 0x80 != 0).then_some(0x80 | port >> 3 & 7));
                }
                put_packet(out, bytes, 0);
            }
            Self::Multicast(address, len) => {
                let mut bytes = vec![0xe0 + address % 2];
                bytes.extend(0..=len % 64);
                put_packet(out, bytes, 0);
            }
            Self::Request(to) => {
                let mut bytes = vec![0xff];
                bytes.extend(route(to).unwrap_or_default());
                bytes.push(5);
                put_packet(out, bytes, 0);
            }
            Self::Gap => out.push(Character::GAP),
            Self::Silence(count) => {
                (0..=count % 4).for_each(|_| out.push(Character::IDLE));
            }
            Self::Symbol(which) => {
                let symbols = [0x03, 0x0f, 0x30, 0x3c, 0xc0, 0xc5, 0xf0, 0xf9];
                pick(&symbols, which)
                    .into_iter()
                    .for_each(|code| out.push(Character::Control(code)));
            }
            Self::Code(code) => out.push(Character::Control(code)),
        }
    }
}

/// Puts a packet and the GAP behind it, its CRC byte wrong by some bits.
fn put_packet(out: &mut CharBuf, mut bytes: Vec<u8>, wrong: u8) {
    bytes.push(crc(&bytes) ^ wrong);
    bytes.into_iter().map(Character::Data).for_each(|byte| out.push(byte));
    out.push(Character::GAP);
}

impl FaultInput {
    pub fn fault(&self, topology: &Topology, duration: u64) -> Option<fault::FaultSpec> {
        let ends: Vec<NodePort> = topology.cables().iter().flat_map(|cable| cable.ends).collect();
        let port = pick(&ends, self.place)?;
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let host = pick(&hosts, self.place)?;
        let is_host = |port: NodePort| {
            topology.node(port.node).is_some_and(|node| node.kind == NodeKind::Host)
        };
        let what = match self.what {
            FaultInputKind::Noise { flip, mean } => FaultKind::Noise {
                errors: if flip { BitErrors::Flip } else { BitErrors::Weaken },
                mean: 1 + u64::from(mean % 1024),
            },
            FaultInputKind::Flip(bit) => FaultKind::Flip { bits: 1 << (bit % 9) },
            FaultInputKind::Flips(bits) => FaultKind::Flip { bits: (bits & 0x1ff).max(1) },
            FaultInputKind::OpenWire(wire) => FaultKind::OpenWire { wire: wire % 9 },
            FaultInputKind::Cut => FaultKind::Cut,
            FaultInputKind::LoseGap => FaultKind::LoseGap,
            FaultInputKind::ForwardReset => FaultKind::ForwardReset,
            FaultInputKind::BackwardReset => FaultKind::BackwardReset,
            FaultInputKind::Probe(number) => FaultKind::Probe(ProbeNumber::new(number % 8)?),
            FaultInputKind::PowerOff => FaultKind::PowerOff,
            FaultInputKind::DeadPort if is_host(port) => FaultKind::PowerOff,
            FaultInputKind::DeadPort => FaultKind::DeadPort,
            FaultInputKind::Consume(appetite) => FaultKind::Consume(appetite.consumption()),
            FaultInputKind::Restart => FaultKind::Restart,
        };
        let place = match what.acts_on() {
            FaultPlace::Node => NodePort { port: PortId(0), ..port },
            FaultPlace::Host => NodePort { node: host, port: PortId(0) },
            FaultPlace::Port | FaultPlace::Sender | FaultPlace::SwitchPort => port,
        };
        let at = u64::from(self.at) % duration;
        let lasts = self.lasts.filter(|_| what.lasts());
        let until = lasts.map(|lasts| at + 1 + u64::from(lasts % 1024));
        Some(fault::FaultSpec { at, until, place, kind: what })
    }
}
