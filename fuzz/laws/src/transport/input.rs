//! A few NICs and what is done to them, one thing after another, made up from arbitrary bytes.

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::transport::{ChannelIncarnation, NackReason, Nic};
use simulator::transport::{Micros, TransportParameters};

/// Endpoints that each NIC has; one more can be named, which is not there.
pub const ENDPOINTS: u16 = 2;

/// Most operations. *Chosen*: a fuzzer's inputs have fewer.
const OPS_MAX: usize = 512;

#[derive(Clone, Debug)]
pub struct TransportInput {
    /// Number of NICs there are, and what they are set to.
    pub shape: TransportShape,
    pub ops: Vec<TransportOp>,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct TransportShape {
    nics: u8,
    channels: u8,
    scan: u8,
    timeout: u8,
    unreachable: u8,
    clock: u8,
    incarnation: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportOp {
    Send {
        from: EndpointPick,
        /// Destination: another NIC, and an endpoint there.
        to: EndpointPick,
        /// Tests whether its key is that of the endpoint at present.
        key: KeyPick,
    },
    Deliver(NicPairPick, u8),
    /// All paths that are not held are emptied, again and again until nothing is in transit.
    Flush,
    /// The first packet of a path is lost.
    Lose(NicPairPick),
    /// The first answer of a path arrives twice.
    DuplicateAnswer(NicPairPick),
    Hold(NicPairPick),
    Release(NicPairPick),
    /// Nothing that a NIC has queued leaves it.
    Stall(u16),
    Start(u16),
    /// So much time passes, and every NIC does what is due when it is.
    Pass(u64),
    /// Likewise, up to the next moment at which something is due, if there is one.
    PassToNext,
    /// So much time passes in which every NIC is too busy to do what is due, but in the end.
    Jump(u64),
    /// A NIC's control program is loaded again.
    Restart(u16, RestartClock),
    Unload(EndpointPick),
    /// It is in a frame again, if it has left it.
    Load(EndpointPick),
    Room(EndpointPick, EndpointRoom),
    /// An endpoint has another key from now on.
    Rekey(EndpointPick),
    /// A packet of the past of a path comes in once more, if nothing of it may count any more.
    Replay(NicPairPick, u8),
    /// A packet without a table entry comes in. T-7
    Forge(NicPairPick, ForgedField),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointPick {
    pub nic: u16,
    pub endpoint: u16,
}

/// From one NIC to another. Both numbers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicPairPick {
    pub from: u16,
    pub to: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPick {
    Right,
    Wrong,
}

/// Clock of a NIC after its control program is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartClock {
    GoesOn,
    /// It begins at 0.
    Begins,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EndpointRoom {
    #[default]
    Free,
    Full,
    Without,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgedField {
    /// It is from a NIC that the tables have no row for.
    Source,
    /// It is on a logical channel that they have no column for.
    Channel,
    Destination,
}

impl TransportInput {
    /// The plan that some bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Unstructured::new(bytes);
        let shape = bytes.arbitrary().ok()?;
        let mut ops = Vec::new();
        while !bytes.is_empty() && ops.len() < OPS_MAX {
            ops.push(bytes.arbitrary().ok()?);
        }
        Some(Self { shape, ops })
    }
}

impl TransportShape {
    pub fn nics(&self) -> u16 {
        2 + u16::from(self.nics % 4)
    }

    /// Parameters. Times are short, so that many fit into a run.
    pub fn parameters(&self) -> TransportParameters {
        let scan = 5 + u64::from(self.scan % 16);
        let timeout = 10 + u64::from(self.timeout % 64);
        TransportParameters {
            nics: self.nics(),
            channels: 1 + self.channels % 3,
            scan: Micros(scan),
            timeout: Micros(timeout),
            retries: 3 + u32::from(self.unreachable / 64),
        }
    }

    /// Clock of a NIC at the beginning: sometimes such that timestamps soon wrap. T-8
    pub fn clock(&self, nic: Nic) -> u64 {
        let apart = u64::from(nic.0) * 1000;
        if self.clock < 128 { apart } else { (1 << 32) - 8 * u64::from(self.clock) + apart }
    }

    /// The first incarnation of a NIC: now and then such that they soon wrap. T-12
    pub fn incarnation(&self, nic: Nic) -> ChannelIncarnation {
        let first = u16::from(self.incarnation);
        let first = if first < 128 { first } else { first.wrapping_sub(260) };
        ChannelIncarnation(first.wrapping_add(nic.0))
    }
}

impl EndpointRoom {
    pub const fn refusal(self) -> Option<NackReason> {
        match self {
            Self::Free => None,
            Self::Full => Some(NackReason::QueueFull),
            Self::Without => Some(NackReason::NoResource),
        }
    }
}

/// Four bytes each, so that what a fuzzer changes in one leaves the others as they are.
impl<'a> Arbitrary<'a> for TransportOp {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self, Error> {
        let [kind, one, two, three]: [u8; 4] = bytes.arbitrary()?;
        let path = NicPairPick { from: one.into(), to: two.into() };
        let place = EndpointPick { nic: one.into(), endpoint: two.into() };
        Ok(match kind % 38 {
            0..=7 => Self::Send {
                from: EndpointPick { nic: one.into(), endpoint: u16::from(one / 8) },
                to: EndpointPick { nic: two.into(), endpoint: u16::from(two / 8) },
                key: if three < 20 { KeyPick::Wrong } else { KeyPick::Right },
            },
            8..=12 => Self::Deliver(path, 1 + three % 4),
            13 | 14 => Self::Flush,
            15..=17 => Self::Lose(path),
            18 | 19 => Self::DuplicateAnswer(path),
            20 if three < 128 => Self::Hold(path),
            20 => Self::Stall(one.into()),
            21 if three < 128 => Self::Release(path),
            21 => Self::Start(one.into()),
            22 | 23 => Self::Pass((three % 32).into()),
            24 => Self::Pass(u64::from(three) * 4),
            25..=27 => Self::PassToNext,
            28 => Self::Jump(u64::from(three)),
            29 => Self::Restart(
                one.into(),
                if three < 128 { RestartClock::GoesOn } else { RestartClock::Begins },
            ),
            30 => Self::Unload(place),
            31 | 32 => Self::Load(place),
            33 => Self::Room(
                place,
                match three % 4 {
                    0 => EndpointRoom::Full,
                    1 => EndpointRoom::Without,
                    _ => EndpointRoom::Free,
                },
            ),
            34 => Self::Rekey(place),
            35 | 36 => Self::Replay(path, three),
            _ => Self::Forge(
                path,
                match three % 3 {
                    0 => ForgedField::Source,
                    1 => ForgedField::Channel,
                    _ => ForgedField::Destination,
                },
            ),
        })
    }
}
