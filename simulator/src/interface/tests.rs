//! An interface on a test bench: received packets, offered items and events.

mod processor;
mod receiving;
mod requests;
mod restart;
mod sending;
mod texts;

use codec::crc::crc8;
use codec::packet::PacketTag;
use codec::time::Ticks;
use codec::{CharBuf, Character};

use super::queues::SendCommand as Order;
use super::*;
use crate::clock::NodeClock;
use crate::traffic::{ArrivalProcess, CommandForm, PayloadSize, SignalMode};
use crate::truth::{PacketHandling, TraceLevel};

const HERE: NodeId = NodeId(0);
const THERE: NodeId = NodeId(1);
const PARAMETERS: InterfaceParameters = InterfaceParameters {
    bus: DmaBus::Ideal,
    memory: 1 << 17,
    program: 0,
    send_memory: Some(1000),
    receive_memory: Some(1000),
    consumption: ConsumptionMode::Always,
    boot: Some(Ticks(0)),
    commands: 4,
    costs: ProgramCosts { command: 0, packet: 0, mapping: 0 },
    host: HostCosts {
        interrupt: 0,
        checksum: 0,
        arrivals: SignalMode::Poll,
        system_call: 0,
        driver: 0,
        copy: 0,
        stack: CopyPath::ZeroCopy,
        path: SoftwarePath::Kernel,
    },
    relay: RelayPolicy::Wait,
    mtu: 1500,
    clock: NodeClock::EXACT,
    place: InterfacePlace { index: 0, count: 1 },
};

fn interface(
    parameters: InterfaceParameters,
    streams: Vec<TrafficStream>,
    raw: Vec<RawText>,
) -> HostInterface {
    let routes = vec![(THERE, vec![0x81])];
    HostInterface::new(HERE, parameters, Rng::new(7, 0), routes, streams, raw)
}

fn stream(arrivals: ArrivalProcess, payload: u32) -> TrafficStream {
    TrafficStream {
        from: HERE,
        to: StreamDestination::One(THERE),
        tag: PacketTag::new(0x05).unwrap(),
        protocol: None,
        multicast: None,
        payload: PayloadSize::Fixed(payload),
        arrivals,
        start: 0,
        packets: None,
        command: CommandForm::default(),
    }
}

fn raw(at: u64, chars: impl IntoIterator<Item = Character>) -> RawText {
    let mut text = CharBuf::new();
    chars.into_iter().for_each(|character| text.push(character));
    RawText { from: HERE, at, chars: text }
}

fn data(bytes: &[u8]) -> Vec<Character> {
    bytes.iter().copied().map(Character::Data).collect()
}

/// A good packet as it arrives.
fn packet(tag: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [&[tag], payload].concat();
    bytes.push(crc8(&bytes));
    bytes
}

const fn id(number: u32) -> PacketId {
    PacketId { host: THERE, number }
}

/// An interface and its truth log.
struct InterfaceBench {
    interface: HostInterface,
    now: u64,
    log: TruthLog,
}

impl InterfaceBench {
    fn new(interface: HostInterface) -> Self {
        Self { interface, now: 0, log: TruthLog::new(TraceLevel::Everything) }
    }

    fn receiver(parameters: InterfaceParameters) -> Self {
        Self::new(interface(parameters, vec![], vec![]))
    }

    /// An interface whose host always has a packet of this payload to send.
    fn saturated(parameters: InterfaceParameters, payload: u32) -> Self {
        let streams = vec![stream(ArrivalProcess::Saturating, payload)];
        Self::new(interface(parameters, streams, vec![]))
    }

    fn assert_sends_nothing(&mut self, periods: u32) {
        for _ in 0..periods {
            assert_eq!(self.period(), SourceItem::Nothing);
        }
    }

    /// One period, in which the offered item is taken.
    fn period(&mut self) -> SourceItem {
        self.interface.tick(self.now, &mut self.log);
        let offer = self.interface.offered();
        if offer != SourceItem::Nothing {
            self.interface.taken(self.now, &mut self.log);
        }
        self.now += 1;
        offer
    }

    /// The bytes up to the next mark, and the time of the first.
    fn sent(&mut self) -> (u64, Vec<u8>) {
        let (mut start, mut bytes) = (None, Vec::new());
        for _ in 0..100_000 {
            match self.period() {
                SourceItem::Data(cell, _) => {
                    start = start.or(Some(self.now - 1));
                    bytes.push(cell.low());
                }
                SourceItem::Mark => return (start.unwrap_or(self.now - 1), bytes),
                SourceItem::Nothing | SourceItem::Symbol(_) => {}
            }
        }
        panic!("nothing is sent");
    }

    /// Gives it a packet, one byte a period; returns the number of periods in which it was held up.
    fn give(&mut self, number: u32, bytes: &[u8]) -> u64 {
        let held = self.give_part(Some(id(number)), bytes);
        held + self.give_cell(TaggedChar::GAP, None)
    }

    fn give_part(&mut self, id: Option<PacketId>, bytes: &[u8]) -> u64 {
        let ids = std::iter::once(id).chain(std::iter::repeat(None));
        bytes.iter().zip(ids).map(|(byte, id)| self.give_cell(TaggedChar::data(*byte), id)).sum()
    }

    fn give_cell(&mut self, cell: TaggedChar, id: Option<PacketId>) -> u64 {
        for held in 0..100_000 {
            self.interface.tick(self.now, &mut self.log);
            let takes = self.interface.takes(self.now, StopGo::Go);
            if takes {
                self.interface.take(self.now, cell, id, &mut self.log);
            }
            self.now += 1;
            if takes {
                return held;
            }
        }
        panic!("nothing is taken");
    }

    /// The events so far with their packets, without those of memory.
    fn happened(&mut self) -> Vec<(Option<u32>, TruthEventKind)> {
        let rows =
            self.log.drain().filter(|row| !matches!(row.kind, TruthEventKind::MemoryFilled(_)));
        rows.map(|row| (row.packet.map(|id| id.number), row.kind)).collect()
    }

    /// The handling of a single packet.
    fn handling(&mut self, bytes: &[u8]) -> PacketHandling {
        self.give(9, bytes);
        match &self.happened()[..] {
            [(Some(9), TruthEventKind::Consumed { handling, .. })] => *handling,
            other => panic!("{other:?}"),
        }
    }

    fn order(&mut self, number: u32, gather: Vec<Vec<u8>>, checksum: Option<usize>) {
        let order = Order {
            number,
            gather: gather.into(),
            checksum,
            to: THERE,
            tag: PacketTag::new(0x05).unwrap(),
            ready: self.now,
            interrupt: true,
        };
        self.interface.queues.commands.push_back(order);
        self.interface.due = 0;
    }
}
