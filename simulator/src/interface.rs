//! A host's interface: memory, engines, queues and control program. I-1..I-6

pub mod checksum;
mod consumption;
pub mod dma;
pub mod firmware;
pub mod host;
pub mod memory;
pub mod queue;
pub mod receiving;
pub mod sending;
mod statistics;

use codec::route::PortId;
use codec::tick::Ticks;

use self::dma::Engine;
use self::firmware::Firmware;
use self::host::{Host, Queues};
use self::receiving::{Program, Receiving, Transport};
pub use self::sending::Offer;
use self::sending::{Behalf, Left, Sending, Taken};
pub use self::statistics::{Handled, HostStatistics};
use crate::cell::{Cell, PacketId};
use crate::chance::Dice;
use crate::control::Control;
use crate::endpoint::Messaging;
use crate::topology::{NodeId, Port};
use crate::traffic::{Destination, Raw, Stream};
use crate::truth::{Command, Log, Rule, What};

/// The parameters of an interface and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceParameters {
    /// The host's bus, over which the DMA engine reaches host memory. I-5
    pub bus: Bus,
    /// Bytes of memory for packets on their way out. I-5
    pub send_memory: u32,
    /// Bytes of memory for packets that have come in; when it is full the link is held up. I-4, I-5
    pub receive_memory: u32,
    /// How fast characters are taken from the slack buffer. I-4
    pub consumption: Consumption,
    /// How long loading the control program takes, in periods of the full rate. I-3
    pub boot: Ticks,
    /// Commands that the host's queue holds. I-6
    pub commands: u32,
}

/// How fast the DMA engine moves data. I-5 (Micro)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bus {
    /// At once: what is measured is the network.
    #[default]
    Ideal,
    /// A `SPARCstation`'s `SBus`: 20 MHz, bursts of 16 words of 4 bytes in 23 clocks, 444 Mb/s.
    SBus,
}

/// How an interface takes characters from its slack buffer. I-4
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consumption {
    /// Whenever there is one.
    #[default]
    Always,
    /// Not at all.
    Never,
    /// One in so many periods of the full rate.
    Every(std::num::NonZeroU32),
    /// So as to provoke the most STOP and GO: it takes while the last command is STOP. F-4
    Adversary,
}

/// A host with its interface.
///
/// In every period it is told the time, then takes a character at most, then offers one.
#[derive(Clone, Debug)]
pub struct Interface {
    place: Port,
    parameters: InterfaceParameters,
    /// Before this period there is nothing to do but to take and to send characters.
    due: u64,
    /// Before this period it takes no character. I-4
    takes_from: u64,
    state: State,
    host: Host,
    queues: Queues,
    control: Control,
    dma: Engine,
    sending: Sending,
    receiving: Receiving,
    /// Where the host has endpoints.
    firmware: Option<Box<Firmware>>,
    statistics: HostStatistics,
}

/// Whether an interface works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has no power.
    Off,
    /// It is held in reset while its control program is loaded. I-3
    Loading { until: u64 },
    /// Its control program runs.
    Running,
}

/// What is lost for want of power is lost as on a link that falls silent. F-7
const POWER: Rule = Rule("F-7");

impl Interface {
    /// An interface that has just been powered, with its own table of routes.
    #[must_use]
    #[expect(
        clippy::too_many_arguments,
        reason = "all that a host has of its own, told apart by type"
    )]
    pub fn new(
        host: NodeId,
        parameters: InterfaceParameters,
        dice: Dice,
        routes: Vec<(NodeId, Vec<u8>)>,
        mut streams: Vec<Stream>,
        raw: Vec<Raw>,
    ) -> Self {
        let place = Port { node: host, port: PortId(0) };
        let control = Control::new(routes, parameters.send_memory as usize);
        for stream in &mut streams {
            match &mut stream.to {
                Destination::Among(to) => to.retain(|to| control.route(*to).is_some()),
                Destination::One(_) => {}
            }
        }
        Self {
            place,
            parameters,
            due: 0,
            takes_from: 0,
            state: State::Loading { until: parameters.boot.0 },
            host: Host::new(host, streams, parameters.send_memory, dice),
            queues: Queues::new(parameters.commands, parameters.receive_memory),
            control,
            dma: Engine::new(parameters.bus),
            sending: Sending::new(place, raw),
            receiving: Receiving::new(
                place,
                parameters.receive_memory as usize,
                Transport::Delivered,
            ),
            firmware: None,
            statistics: HostStatistics::default(),
        }
    }

    /// The same with endpoints. T
    #[must_use]
    pub fn with_endpoints(mut self, messaging: Messaging) -> Self {
        let memory = self.parameters.receive_memory as usize;
        self.receiving = Receiving::new(self.place, memory, Transport::Served);
        let firmware = Firmware::new(messaging, self.parameters.boot.0);
        self.firmware = Some(Box::new(firmware));
        self
    }

    /// Advances host, DMA engine and control program to a period; once in each.
    #[inline]
    pub fn tick(&mut self, now: u64, log: &mut Log) {
        if now >= self.due {
            self.work(now);
            self.tell(now, log);
        }
    }

    fn work(&mut self, now: u64) {
        let Self { host, queues, control, dma, sending, receiving, firmware, statistics, .. } =
            self;
        let next = match self.state {
            State::Off => None,
            State::Loading { until } if now < until => {
                // The host goes on meanwhile.
                if let Some(firmware) = firmware {
                    firmware.work(now, control, (sending, receiving));
                }
                sending.step(now);
                let firmware = firmware.as_ref().and_then(|firmware| firmware.due());
                [Some(until), firmware, sending.due()].into_iter().flatten().min()
            }
            State::Loading { .. } | State::Running => {
                self.state = State::Running;
                control.hand_on(queues, dma, receiving);
                host.step(now, queues, statistics);
                control.take_command(queues, dma);
                receiving.free(dma.step(now));
                control.collect(queues, dma, sending, receiving);
                host.read(now, queues, statistics);
                if let Some(firmware) = firmware {
                    firmware.work(now, control, (sending, receiving));
                }
                sending.step(now);
                let host = host.due().filter(|_| !queues.commands.is_full());
                let control = control.is_due(queues, dma, receiving).then_some(0);
                let firmware = firmware.as_ref().and_then(|firmware| firmware.due());
                [host, control, firmware, dma.due(), sending.due()].into_iter().flatten().min()
            }
        };
        self.due = next.map_or(u64::MAX, |next| next.max(now.saturating_add(1)));
    }

    /// Tells what has happened to messages.
    fn tell(&mut self, now: u64, log: &mut Log) {
        let Self { firmware: Some(firmware), place, .. } = self else { return };
        for told in firmware.told() {
            log.tell(now, *place, None, || What::Told(told));
        }
    }

    /// What its sending engine has next for the output circuit.
    #[must_use]
    #[inline]
    pub fn offer(&self) -> Offer {
        self.sending.offer()
    }

    /// The output circuit has taken what was offered.
    #[inline]
    pub fn taken(&mut self, now: u64, log: &mut Log) {
        match self.sending.taken(now, log) {
            Taken::Part => {}
            Taken::Head => {
                self.statistics.injected += 1;
                self.transmitted(now, log);
            }
            Taken::End(left) => {
                if let Some(Left { bytes, .. }) = left {
                    self.statistics.sent += 1;
                    self.statistics.sent_bytes += bytes as u64;
                }
                self.left(left);
            }
        }
    }

    /// The first byte of a packet has gone; it may be one of the firmware's.
    fn transmitted(&self, now: u64, log: &mut Log) {
        if let (Some(firmware), Some(Behalf::Firmware)) = (&self.firmware, self.sending.behalf())
            && let Some(transmission) = firmware.transmission()
        {
            let id = self.sending.last_id();
            log.tell(now, self.place, Some(id), || What::Transmitted(transmission));
        }
    }

    /// The output circuit has ended the packet that it was sending by itself, and tells so: its rest
    /// is discarded, and so is the end of a text that left a packet open.
    pub fn cut(&mut self) {
        let left = self.sending.cut();
        self.left(left);
    }

    /// Something else may be sent, and there may be more memory.
    fn left(&mut self, left: Option<Left>) {
        self.due = 0;
        if let Some(left) = left {
            self.control.left(left, &mut self.queues);
            if left.behalf == Behalf::Firmware
                && let Some(firmware) = &mut self.firmware
            {
                firmware.left();
            }
        }
    }

    /// Whether it takes a character from its slack buffer, whose last command this was.
    #[must_use]
    #[inline]
    pub fn takes(&self, now: u64, commanded: Command) -> bool {
        let willing = match self.parameters.consumption {
            Consumption::Always => true,
            Consumption::Never => false,
            Consumption::Every(_) => now >= self.takes_from,
            Consumption::Adversary => commanded == Command::Stop,
        };
        willing && self.state != State::Off && self.receiving.has_room()
    }

    /// Takes a byte or a framing mark from the slack buffer, and which packet begins with it. One
    /// that begins inside another has lost the GAP before it, and is a part of the other now.
    #[inline]
    pub fn take(&mut self, now: u64, cell: Cell, id: Option<PacketId>, log: &mut Log) {
        if let Consumption::Every(periods) = self.parameters.consumption {
            self.takes_from = now.saturating_add(periods.get().into());
        }
        if !cell.is_data() {
            let account = self.receiving.mark(now, log);
            account.into_iter().for_each(|account| self.statistics.count(account));
            self.due = 0;
            return;
        }
        if id.is_some() && self.receiving.is_inside() {
            log.tell(now, self.place, id, || What::Merged);
        }
        let program = match self.state {
            State::Loading { until } if now < until => Program::Loading,
            State::Off | State::Loading { .. } | State::Running => Program::Running,
        };
        self.receiving.byte(cell.low(), id, program);
    }

    /// FRES has come, or a restart was ordered: the control program is loaded again. The packet half
    /// taken in is lost; one half sent is ended without its rest. R-3
    pub fn reset(&mut self, now: u64, log: &mut Log) {
        if self.state != State::Off {
            self.receiving.reset(now, Rule("R-3"), log);
            self.sending.reset(now, Rule("R-3"), log);
            self.load(now);
        }
    }

    /// The power goes off: nothing is sent or taken any more.
    pub fn power_off(&mut self, now: u64, log: &mut Log) {
        self.receiving.reset(now, POWER, log);
        self.sending.power_off(now, POWER, log);
        self.forget(now, u64::MAX);
        self.state = State::Off;
    }

    /// The power comes on again: the host starts anew, and loads the control program. I-3
    pub fn power_on(&mut self, now: u64) {
        if self.state == State::Off {
            self.host.power_on(now);
            self.load(now);
        }
    }

    /// The control program is loaded again. I-3
    fn load(&mut self, now: u64) {
        let until = now.saturating_add(self.parameters.boot.0);
        self.forget(now, until);
        self.state = State::Loading { until };
    }

    /// Nothing is left in the interface's memory, the queues in it included. A control program will
    /// run from `ready` on. Reading: a host's own memory outlives even its power, and the endpoints
    /// that are in it.
    fn forget(&mut self, now: u64, ready: u64) {
        let InterfaceParameters { commands, receive_memory, .. } = self.parameters;
        self.queues = Queues::new(commands, receive_memory);
        self.dma.reset();
        self.control.reset();
        self.host.reset(now);
        if let Some(firmware) = &mut self.firmware {
            firmware.restart(now, ready);
        }
        self.due = 0;
    }

    /// Whether a packet is half taken in.
    #[must_use]
    pub fn is_taking(&self) -> bool {
        self.receiving.has_head()
    }

    /// Before this period it has nothing to do of itself.
    #[must_use]
    pub(crate) const fn due(&self) -> u64 {
        self.due
    }

    /// Its host's endpoints, if there are any.
    #[must_use]
    pub fn messaging(&self) -> Option<&Messaging> {
        self.firmware.as_ref().map(|firmware| firmware.messaging())
    }

    /// What has passed through it.
    #[must_use]
    pub const fn statistics(&self) -> &HostStatistics {
        &self.statistics
    }
}

impl Default for InterfaceParameters {
    /// What is measured is the network. *Chosen*: half of the memory of 128 KB for either way, and
    /// a queue that is seldom full. I-5, I-6
    fn default() -> Self {
        Self {
            bus: Bus::Ideal,
            send_memory: 1 << 16,
            receive_memory: 1 << 16,
            consumption: Consumption::Always,
            boot: Ticks(0),
            commands: 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use codec::crc::{crc8, syndrome};
    use codec::packet::{Check, Tag};
    use codec::{CharBuf, Character};

    use super::host::payload;
    use super::queue::{Command as Order, Interrupt};
    use super::*;
    use crate::traffic::{Arrivals, Size};
    use crate::truth::{Handling, Wanted};

    const HERE: NodeId = NodeId(0);
    const THERE: NodeId = NodeId(1);
    const PARAMETERS: InterfaceParameters = InterfaceParameters {
        bus: Bus::Ideal,
        send_memory: 1000,
        receive_memory: 1000,
        consumption: Consumption::Always,
        boot: Ticks(0),
        commands: 4,
    };

    fn interface(
        parameters: InterfaceParameters,
        streams: Vec<Stream>,
        raw: Vec<Raw>,
    ) -> Interface {
        let routes = vec![(THERE, vec![0x81])];
        Interface::new(HERE, parameters, Dice::new(7, 0), routes, streams, raw)
    }

    fn stream(arrivals: Arrivals, payload: u32) -> Stream {
        Stream {
            from: HERE,
            to: Destination::One(THERE),
            tag: Tag::new(0x05).unwrap(),
            payload: Size::Fixed(payload),
            arrivals,
            start: 0,
            packets: None,
        }
    }

    fn raw(at: u64, chars: impl IntoIterator<Item = Character>) -> Raw {
        let mut text = CharBuf::new();
        chars.into_iter().for_each(|character| text.push(character));
        Raw { from: HERE, at, chars: text }
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

    /// An interface alone, and what it says.
    struct Bench {
        interface: Interface,
        now: u64,
        log: Log,
    }

    impl Bench {
        fn new(interface: Interface) -> Self {
            Self { interface, now: 0, log: Log::new(Wanted::Everything) }
        }

        fn receiver(parameters: InterfaceParameters) -> Self {
            Self::new(interface(parameters, vec![], vec![]))
        }

        /// A period in which what is offered is taken.
        fn period(&mut self) -> Offer {
            self.interface.tick(self.now, &mut self.log);
            let offer = self.interface.offer();
            if offer != Offer::Nothing {
                self.interface.taken(self.now, &mut self.log);
            }
            self.now += 1;
            offer
        }

        /// The bytes up to the next mark, and when the first was sent.
        fn sent(&mut self) -> (u64, Vec<u8>) {
            let (mut start, mut bytes) = (None, Vec::new());
            for _ in 0..100_000 {
                match self.period() {
                    Offer::Data(cell, _) => {
                        start = start.or(Some(self.now - 1));
                        bytes.push(cell.low());
                    }
                    Offer::Mark => return (start.unwrap_or(self.now - 1), bytes),
                    Offer::Nothing | Offer::Symbol(_) => {}
                }
            }
            panic!("nothing is sent");
        }

        /// Has it take a packet, a byte in a period; how many periods it was not willing to.
        fn give(&mut self, number: u32, bytes: &[u8]) -> u64 {
            let held = self.give_part(Some(id(number)), bytes);
            held + self.give_cell(Cell::GAP, None)
        }

        fn give_part(&mut self, id: Option<PacketId>, bytes: &[u8]) -> u64 {
            let ids = std::iter::once(id).chain(std::iter::repeat(None));
            bytes.iter().zip(ids).map(|(byte, id)| self.give_cell(Cell::data(*byte), id)).sum()
        }

        fn give_cell(&mut self, cell: Cell, id: Option<PacketId>) -> u64 {
            for held in 0..100_000 {
                self.interface.tick(self.now, &mut self.log);
                let takes = self.interface.takes(self.now, Command::Go);
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

        /// What happened to which packet, and forgets it.
        fn happened(&mut self) -> Vec<(Option<u32>, What)> {
            let rows = self.log.drain();
            rows.map(|row| (row.packet.map(|id| id.number), row.what)).collect()
        }

        /// What became of a packet given alone.
        fn handling(&mut self, bytes: &[u8]) -> Handling {
            self.give(9, bytes);
            match &self.happened()[..] {
                [(Some(9), What::Consumed { handling, .. })] => *handling,
                other => panic!("{other:?}"),
            }
        }

        fn order(&mut self, number: u32, gather: Vec<Vec<u8>>, checksum: Option<usize>) {
            let order = Order {
                number,
                gather,
                checksum,
                to: THERE,
                tag: Tag::new(0x05).unwrap(),
                interrupt: Interrupt::Yes,
            };
            self.interface.queues.commands.push(order).unwrap();
            self.interface.due = 0;
        }
    }

    // Sending.

    /// I-1
    #[test]
    fn a_packet_goes_out_with_its_route_its_tag_and_its_crc() {
        let mut bench =
            Bench::new(interface(PARAMETERS, vec![stream(Arrivals::Saturating, 20)], vec![]));
        let (start, bytes) = bench.sent();
        assert_eq!((start, bytes.len(), syndrome(&bytes)), (0, 23, Some(0)));
        assert_eq!(bytes[..2], [0x81, 0x05]);
        assert_eq!(bytes[2..22], payload(HERE, 0, 20));
        // The next follows without a pause: 23 bytes and a GAP.
        let (start, bytes) = bench.sent();
        assert_eq!((start, &bytes[2..22]), (24, &payload(HERE, 1, 20)[..]));
        assert_eq!(
            bench.happened(),
            [(Some(0), What::Injected { length: 23 }), (Some(1), What::Injected { length: 23 })]
        );
        let statistics = bench.interface.statistics();
        assert_eq!((statistics.injected, statistics.sent, statistics.sent_bytes), (2, 2, 46));
    }

    #[test]
    fn the_first_byte_alone_names_its_packet() {
        let mut bench =
            Bench::new(interface(PARAMETERS, vec![stream(Arrivals::Saturating, 0)], vec![]));
        let first = PacketId { host: HERE, number: 0 };
        bench.interface.tick(0, &mut bench.log);
        let head = Offer::Data(Cell::data(0x81).as_head(), Some(first));
        // What is not taken is offered again.
        assert_eq!(
            [bench.interface.offer(), bench.period(), bench.period()],
            [head, head, Offer::Data(Cell::data(0x05), None)]
        );
        assert!(matches!(bench.period(), Offer::Data(_, None)));
        assert_eq!(bench.period(), Offer::Mark);
        let second = PacketId { host: HERE, number: 1 };
        assert_eq!(bench.period(), Offer::Data(Cell::data(0x81).as_head(), Some(second)));
    }

    /// I-6
    #[test]
    fn a_command_gathers_blocks_and_inserts_their_checksum() {
        let mut bench = Bench::receiver(PARAMETERS);
        bench.order(
            0,
            vec![vec![0x00, 0x01, 0xf2], vec![0x03, 0, 0], vec![0xf4, 0xf5, 0xf6, 0xf7]],
            Some(4),
        );
        let (_, bytes) = bench.sent();
        let body = [0x81, 0x05, 0x00, 0x01, 0xf2, 0x03, 0x22, 0x0d, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(bytes, [&body[..], &[crc8(&body)]].concat());
        assert_eq!(bench.interface.statistics().interrupts, 0);
        bench.period();
        assert_eq!(bench.interface.statistics().interrupts, 1);
    }

    #[test]
    fn over_the_sbus_a_packet_is_ready_after_its_bursts() {
        let parameters = InterfaceParameters { bus: Bus::SBus, ..PARAMETERS };
        let streams = vec![stream(Arrivals::Constant(Ticks(10_000)), 128)];
        let mut bench = Bench::new(interface(parameters, streams, vec![]));
        assert_eq!(bench.sent().0, 64 + 28 + 64);
    }

    #[test]
    fn the_sbus_cannot_keep_up_with_the_link() {
        let parameters = InterfaceParameters { bus: Bus::SBus, ..PARAMETERS };
        let mut bench =
            Bench::new(interface(parameters, vec![stream(Arrivals::Saturating, 128)], vec![]));
        let starts: Vec<u64> = (0..5).map(|_| bench.sent().0).collect();
        // Two bursts a packet, 92 periods each; the link would need 132.
        assert_eq!(starts, [156, 340, 524, 708, 892]);
    }

    #[test]
    fn commands_wait_for_send_memory() {
        // 403 bytes each: two fit.
        let mut bench =
            Bench::new(interface(PARAMETERS, vec![stream(Arrivals::Saturating, 400)], vec![]));
        for now in 0..50 {
            bench.interface.tick(now, &mut bench.log);
        }
        bench.now = 50;
        assert!(bench.interface.queues.commands.is_full());
        assert_eq!(bench.interface.queues.commands.iter().count(), 4);
        assert_eq!(bench.interface.queues.commands.first().unwrap().number, 2);
        bench.sent();
        bench.period();
        assert_eq!(bench.interface.queues.commands.first().unwrap().number, 3);
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let few = |to, payload, packets| Stream {
            to: Destination::One(to),
            packets: Some(packets),
            ..stream(Arrivals::Saturating, payload)
        };
        // A route byte, a tag, 997 bytes and a CRC byte fill the memory.
        let streams = vec![
            few(NodeId(5), 20, 3),
            few(THERE, u32::MAX, 5),
            few(THERE, 998, 7),
            few(THERE, 997, 1),
        ];
        let mut bench = Bench::new(interface(PARAMETERS, streams, vec![]));
        assert_eq!(bench.sent().1.len(), 1000);
        for _ in 0..100 {
            bench.period();
        }
        assert_eq!(bench.interface.statistics().refused, 3 + 5 + 7);
        assert_eq!(bench.interface.statistics().injected, 1);
    }

    #[test]
    fn two_streams_take_turns() {
        let mut other = stream(Arrivals::Saturating, 6);
        other.tag = Tag::new(0x06).unwrap();
        let streams = vec![stream(Arrivals::Saturating, 5), other];
        let mut bench = Bench::new(interface(PARAMETERS, streams, vec![]));
        let tags: Vec<u8> = (0..6).map(|_| bench.sent().1[1]).collect();
        assert_eq!(tags, [5, 6, 5, 6, 5, 6]);
    }

    #[test]
    fn a_packet_that_is_cut_gives_way_to_the_next() {
        let mut bench =
            Bench::new(interface(PARAMETERS, vec![stream(Arrivals::Saturating, 400)], vec![]));
        for _ in 0..10 {
            bench.period();
        }
        bench.interface.cut();
        let (start, bytes) = bench.sent();
        assert_eq!((start, &bytes[2..402]), (10, &payload(HERE, 1, 400)[..]));
        // The memory of the first is free again.
        for number in 2..6 {
            assert_eq!(bench.sent().1[2..402], payload(HERE, number, 400));
        }
        assert_eq!(bench.interface.statistics().sent, 5);
    }

    // Texts.

    #[test]
    fn a_text_goes_out_as_it_stands_before_packets() {
        let text = [
            data(&[0x81, 0x05]),
            vec![Character::Control(0x33), Character::Control(0)],
            data(&[0x07]),
            vec![Character::GAP, Character::GAP],
            data(&[0xff]),
            vec![Character::GAP],
        ]
        .concat();
        let streams = vec![stream(Arrivals::Saturating, 1)];
        let mut bench = Bench::new(interface(PARAMETERS, streams, vec![raw(2, text)]));
        assert_eq!(bench.sent().1.len(), 4);
        let offers: Vec<Offer> = (0..9).map(|_| bench.period()).collect();
        let numbered = |number| Some(PacketId { host: HERE, number });
        assert_eq!(
            offers,
            [
                Offer::Data(Cell::data(0x81).as_head(), numbered(1)),
                Offer::Data(Cell::data(0x05), None),
                Offer::Symbol(0x33),
                Offer::Symbol(0),
                Offer::Data(Cell::data(0x07), None),
                Offer::Mark,
                Offer::Mark,
                Offer::Data(Cell::data(0xff).as_head(), numbered(2)),
                Offer::Mark,
            ]
        );
        assert_eq!(bench.sent().1.len(), 4);
        let injected = |(number, length)| (Some(number), What::Injected { length });
        let mut rows = [(0, 4), (1, 3), (2, 1), (3, 4)].map(injected).to_vec();
        let text = "81 05 FRES IDLE 07 GAP GAP ff GAP";
        rows.insert(1, (None, What::Raw(text.to_owned())));
        assert_eq!(bench.happened(), rows);
        assert_eq!(
            (bench.interface.statistics().injected, bench.interface.statistics().sent),
            (4, 2)
        );
    }

    #[test]
    fn after_a_text_that_leaves_a_packet_open_nothing_follows_until_it_is_cut() {
        let streams = vec![stream(Arrivals::Saturating, 1)];
        let mut bench = Bench::new(interface(PARAMETERS, streams, vec![raw(0, data(&[0x81, 5]))]));
        let offers = [bench.period(), bench.period(), bench.period()];
        assert!(matches!(offers, [Offer::Data(_, Some(_)), Offer::Data(_, None), Offer::Nothing]));
        assert!((0..100).all(|_| bench.period() == Offer::Nothing));
        bench.interface.cut();
        assert_eq!(
            bench.sent(),
            (
                103,
                [
                    &[0x81, 5][..],
                    &payload(HERE, 0, 1),
                    &[crc8(&[&[0x81, 5][..], &payload(HERE, 0, 1)].concat())]
                ]
                .concat()
            )
        );
    }

    #[test]
    fn a_text_that_is_cut_goes_on_with_its_next_packet() {
        let text =
            [data(&[1, 2, 3]), vec![Character::GAP], data(&[4]), vec![Character::GAP]].concat();
        let mut bench = Bench::new(interface(PARAMETERS, vec![], vec![raw(0, text)]));
        bench.period();
        bench.interface.cut();
        assert_eq!(bench.sent(), (1, vec![4]));
    }

    // Receiving.

    /// I-2, I-3
    #[test]
    fn every_handling_has_its_packet() {
        let mut bench = Bench::receiver(InterfaceParameters { boot: Ticks(4), ..PARAMETERS });
        let good = packet(0x05, &[1, 2, 3]);
        assert_eq!(bench.handling(&good), Handling::Ignored, "it began in period 0");
        assert_eq!(bench.now, 6);
        assert_eq!(bench.handling(&good), Handling::Delivered);
        assert_eq!(bench.handling(&packet(0x05, &[])), Handling::Delivered);
        assert_eq!(bench.handling(&[0x05, 1, 2, 3, good[4] ^ 1]), Handling::Corrupt);
        assert_eq!(bench.handling(&[0x05]), Handling::Runt);
        assert_eq!(bench.handling(&[0x81]), Handling::Runt);
        assert_eq!(bench.handling(&packet(0x81, &[5])), Handling::Misrouted);
        assert_eq!(bench.handling(&[0x81, 5, 0]), Handling::Misrouted);
        assert_eq!(bench.handling(&packet(0x40, &[1])), Handling::NoRoutine);
        assert_eq!(bench.handling(&[0x40, 1, 0]), Handling::Corrupt);
        assert_eq!(bench.handling(&packet(0x05, &[0; 999])), Handling::TooLong);
        assert_eq!(bench.handling(&packet(0x05, &[0; 998])), Handling::Delivered);
        let Handled { delivered, corrupt, runt, misrouted, no_routine, ignored, too_long } =
            bench.interface.statistics().handled;
        assert_eq!([delivered, corrupt, runt, misrouted], [3, 2, 2, 2]);
        assert_eq!([no_routine, ignored, too_long], [1, 1, 1]);
        assert_eq!(bench.interface.statistics().received, 12);
        assert_eq!(bench.interface.statistics().delivered_bytes, 5 + 2 + 1000);
    }

    #[test]
    fn what_is_consumed_is_told_with_its_length_and_its_check() {
        let mut bench = Bench::receiver(PARAMETERS);
        bench.give(3, &packet(0x05, &[1, 2, 3]));
        bench.give(4, &packet(0x05, &[1; 5000]));
        let mut bad = packet(0x85, &[1; 600]);
        bad[300] ^= 0x40;
        bench.give(5, &bad);
        let consumed = |length, check, handling| What::Consumed { length, check, handling };
        let bad = Check::Bad(syndrome(&bad).unwrap());
        assert_eq!(
            bench.happened(),
            [
                (Some(3), consumed(5, Check::Good, Handling::Delivered)),
                (Some(4), consumed(5002, Check::Good, Handling::TooLong)),
                (Some(5), consumed(602, bad, Handling::Misrouted)),
            ]
        );
    }

    #[test]
    fn a_packet_without_a_gap_before_it_is_a_part_of_the_one_before() {
        let mut bench = Bench::receiver(PARAMETERS);
        bench.give_part(Some(id(0)), &[5, 6]);
        bench.give(1, &[5, 7, 8]);
        let handling = Handling::Corrupt;
        let check = Check::of(syndrome(&[5, 6, 5, 7, 8]));
        assert_eq!(
            bench.happened(),
            [(Some(1), What::Merged), (Some(0), What::Consumed { length: 5, check, handling }),]
        );
    }

    #[test]
    fn a_mark_alone_ends_nothing() {
        let mut bench = Bench::receiver(PARAMETERS);
        bench.give_cell(Cell::GAP, None);
        assert_eq!(bench.happened(), []);
    }

    /// I-4
    #[test]
    fn memory_that_is_full_holds_up_the_link() {
        let parameters = InterfaceParameters { bus: Bus::SBus, receive_memory: 100, ..PARAMETERS };
        let mut bench = Bench::receiver(parameters);
        // 82 bytes, then 18 of the next fill the memory.
        assert_eq!(bench.give(0, &packet(5, &[0; 80])), 0);
        // The first goes to the host from period 83 on: 64 bytes by 147, 16 by 147 + 28 + 16. The
        // second fills the memory in period 83 + 17, and waits from 101 to 147.
        assert_eq!(bench.give(1, &packet(5, &[0; 80])), 46);
        assert_eq!(bench.interface.statistics().handled.delivered, 2);
        for _ in 0..500 {
            bench.period();
        }
        assert_eq!(bench.interface.receiving.used(), 0);
        assert_eq!(bench.interface.queues.posted.iter().count(), 1);
    }

    #[test]
    fn a_packet_longer_than_all_memory_is_absorbed_once_it_is_alone() {
        let parameters = InterfaceParameters { bus: Bus::SBus, receive_memory: 100, ..PARAMETERS };
        let mut bench = Bench::receiver(parameters);
        bench.give(0, &packet(5, &[0; 80]));
        let held = bench.give(1, &packet(5, &[0; 300]));
        // Until all of the first is with the host: 83 + 64 + 28 + 16 = 191. Of the second 18 bytes were
        // taken from 83 to 100, and 64 when the first burst was done, 147 to 210; nothing else waits.
        assert_eq!(held, 46);
        assert_eq!(bench.interface.statistics().handled.too_long, 1);
        assert_eq!(bench.handling_after_all(), Handling::Delivered);
    }

    #[test]
    fn no_memory_at_all_absorbs_all() {
        let mut bench = Bench::receiver(InterfaceParameters { receive_memory: 0, ..PARAMETERS });
        assert_eq!(bench.handling(&packet(5, &[])), Handling::TooLong);
    }

    impl Bench {
        fn handling_after_all(&mut self) -> Handling {
            self.happened();
            self.handling(&packet(5, &[1]))
        }
    }

    #[test]
    fn characters_are_taken_as_the_host_pleases() {
        let takes = |consumption, command| {
            let mut bench = Bench::receiver(InterfaceParameters { consumption, ..PARAMETERS });
            let mut periods = Vec::new();
            for now in 0..10 {
                bench.interface.tick(now, &mut bench.log);
                if bench.interface.takes(now, command) {
                    bench.interface.take(now, Cell::data(5), None, &mut bench.log);
                    periods.push(now);
                }
            }
            periods
        };
        let every = Consumption::Every(NonZeroU32::new(4).unwrap());
        assert_eq!(takes(Consumption::Always, Command::Go).len(), 10);
        assert_eq!(takes(Consumption::Never, Command::Stop).len(), 0);
        assert_eq!(takes(every, Command::Go), [0, 4, 8]);
        assert_eq!(takes(Consumption::Adversary, Command::Stop).len(), 10);
        assert_eq!(takes(Consumption::Adversary, Command::Go).len(), 0);
    }

    // Resets and power.

    #[test]
    fn a_reset_drops_what_is_half_received_and_ends_what_is_half_sent() {
        let parameters = InterfaceParameters { boot: Ticks(50), ..PARAMETERS };
        let mut bench =
            Bench::new(interface(parameters, vec![stream(Arrivals::Saturating, 100)], vec![]));
        while !matches!(bench.period(), Offer::Data(..)) {}
        assert_eq!(bench.now, 51);
        bench.give_part(Some(id(8)), &[5, 6, 7]);
        bench.interface.reset(bench.now, &mut bench.log);
        assert_eq!(
            bench.happened(),
            [
                (Some(0), What::Injected { length: 103 }),
                (Some(8), What::Dropped(Rule("R-3"))),
                (Some(0), What::Truncated(Rule("R-3"))),
            ]
        );
        assert_eq!(bench.period(), Offer::Mark);
        // It is loaded again: absorbs, and sends nothing until then.
        assert_eq!(bench.handling(&packet(5, &[1])), Handling::Ignored);
        assert_eq!(bench.sent().0, 54 + 50);
    }

    #[test]
    fn a_reset_leaves_a_packet_whole_that_lacks_its_end_only() {
        let mut bench =
            Bench::new(interface(PARAMETERS, vec![stream(Arrivals::Saturating, 1)], vec![]));
        for _ in 0..4 {
            bench.period();
        }
        bench.interface.reset(4, &mut bench.log);
        assert_eq!(bench.happened(), [(Some(0), What::Injected { length: 4 })]);
        assert_eq!(bench.period(), Offer::Mark);
        assert!(matches!(bench.period(), Offer::Data(_, Some(PacketId { number: 1, .. }))));
    }

    #[test]
    fn without_power_nothing_is_sent_or_taken() {
        let streams = vec![stream(Arrivals::Constant(Ticks(100)), 10)];
        let mut bench = Bench::new(interface(PARAMETERS, streams, vec![]));
        bench.period();
        bench.give_part(Some(id(8)), &[5]);
        bench.interface.power_off(2, &mut bench.log);
        assert_eq!(
            bench.happened()[1..],
            [(Some(8), What::Dropped(Rule("F-7"))), (Some(0), What::Truncated(Rule("F-7"))),]
        );
        for _ in 2..1000 {
            assert_eq!(bench.period(), Offer::Nothing);
            assert!(!bench.interface.takes(bench.now, Command::Go));
        }
        bench.interface.reset(1000, &mut bench.log);
        assert!(!bench.interface.takes(1000, Command::Go));
        bench.interface.power_on(1000);
        // What was due meanwhile is not made up for.
        assert_eq!([bench.sent().0, bench.sent().0], [1000, 1100]);
    }

    #[test]
    fn what_is_skipped_would_have_changed_nothing() {
        for bus in [Bus::Ideal, Bus::SBus] {
            let window = NonZeroU32::new(2).unwrap();
            let parameters = InterfaceParameters { bus, receive_memory: 100, ..PARAMETERS };
            let streams = vec![
                stream(Arrivals::Poisson(Ticks(300)), 50),
                stream(Arrivals::Bursts(NonZeroU32::new(3).unwrap(), Ticks(2000)), 200),
                stream(Arrivals::Closed(window, Ticks(70)), 30),
            ];
            let mut lazy = Bench::new(interface(parameters, streams, vec![raw(999, data(&[1]))]));
            let mut eager = Bench::new(lazy.interface.clone());
            // What comes in: requests, answers and others, as fast as they are taken.
            let mut arrivals = (0..=0xff).cycle().flat_map(|number| {
                let bytes = packet(0x10 + number % 3, &[0, 0, 0, 0, 0, 0, 0, number, 9, 9, 9]);
                bytes.into_iter().map(Cell::data).chain([Cell::GAP])
            });
            for now in 0..20_000 {
                eager.interface.due = 0;
                if now == 3000 {
                    lazy.interface.cut();
                    eager.interface.cut();
                }
                assert_eq!(lazy.period(), eager.period());
                let takes = [&lazy, &eager].map(|bench| bench.interface.takes(now, Command::Go));
                assert_eq!(takes[0], takes[1]);
                if let (true, Some(cell)) = (takes[0], arrivals.next()) {
                    lazy.interface.take(now, cell, None, &mut lazy.log);
                    eager.interface.take(now, cell, None, &mut eager.log);
                }
            }
            assert_eq!(lazy.interface.statistics(), eager.interface.statistics());
            assert!(lazy.interface.statistics().sent > 50);
        }
    }

    // Closed loops.

    /// Two interfaces on a perfect wire; after each period, how many requests are unanswered.
    fn loop_of(window: u32, think: u64, periods: u64) -> (Vec<u64>, [Interface; 2]) {
        let window = NonZeroU32::new(window).unwrap();
        let streams = vec![stream(Arrivals::Closed(window, Ticks(think)), 30)];
        let there = Interface::new(
            THERE,
            PARAMETERS,
            Dice::new(7, 1),
            vec![(HERE, vec![])],
            vec![],
            vec![],
        );
        let here = Interface::new(
            HERE,
            PARAMETERS,
            Dice::new(7, 0),
            vec![(THERE, vec![])],
            streams,
            vec![],
        );
        let (mut pair, mut log) = ([here, there], Log::default());
        let mut unanswered = Vec::new();
        for now in 0..periods {
            pair.iter_mut().for_each(|interface| interface.tick(now, &mut log));
            let offers = [pair[0].offer(), pair[1].offer()];
            for (from, to) in [(0, 1), (1, 0)] {
                let (cell, id) = match offers[from] {
                    Offer::Data(cell, id) => (cell, id),
                    Offer::Mark => (Cell::GAP, None),
                    Offer::Nothing | Offer::Symbol(_) => continue,
                };
                pair[from].taken(now, &mut log);
                assert!(pair[to].takes(now, Command::Go));
                pair[to].take(now, cell, id, &mut log);
            }
            let answered = pair[0].statistics().handled.delivered;
            unanswered.push(pair[0].statistics().injected - answered);
        }
        (unanswered, pair)
    }

    #[test]
    fn no_more_than_the_window_is_unanswered() {
        let window = NonZeroU32::new(3).unwrap();
        let mut bench = Bench::new(interface(
            PARAMETERS,
            vec![stream(Arrivals::Closed(window, Ticks(5)), 30)],
            vec![],
        ));
        let requests: Vec<Vec<u8>> = (0..3).map(|_| bench.sent().1).collect();
        for (number, request) in (0..).zip(&requests) {
            // Route, tag, its own number and that of the request.
            assert_eq!(request[..10], [0x81, 0x10, 0, 0, 0, 0, 0, 0, 0, number]);
            assert_eq!(request[10..32], payload(HERE, number.into(), 30)[8..]);
        }
        for _ in 0..1000 {
            assert_eq!(bench.period(), Offer::Nothing);
        }
        bench.give(0, &packet(0x11, &[0, 0, 0, 0, 0, 0, 0, 7]));
        bench.give(0, &packet(0x11, &[0, 0, 0, 1, 0, 0, 0, 1]));
        bench.give(0, &packet(0x11, &[0, 0, 0]));
        for _ in 0..1000 {
            assert_eq!(bench.period(), Offer::Nothing, "that answers no request");
        }
        bench.give(0, &packet(0x11, &requests[1][2..32]));
        let read = bench.now;
        assert_eq!(bench.sent().0, read + 5);
        for _ in 0..1000 {
            assert_eq!(bench.period(), Offer::Nothing);
        }
    }

    #[test]
    fn every_request_has_an_answer_as_long() {
        let (unanswered, [here, there]) = loop_of(3, 10, 5000);
        assert!(unanswered.iter().all(|count| *count <= 3));
        let (here, there) = (here.statistics(), there.statistics());
        assert_eq!(here.sent_bytes, here.sent * 32);
        assert_eq!(there.sent_bytes, there.sent * 32);
        assert_eq!(here.handled.delivered, there.sent);
        // The way of the requests is always busy: 33 periods each.
        assert_eq!(here.sent, 5000 / 33);
    }

    #[test]
    fn a_window_of_one_asks_so_long_after_each_answer() {
        let (unanswered, [here, _]) = loop_of(1, 100, 2000);
        assert_eq!(unanswered.iter().max(), Some(&1));
        // A request takes 33 periods, GAP included: 0 to 32; read in 33, answered from 34 to 66; read
        // in 67, and the next begins 100 later.
        assert_eq!(here.statistics().injected, 2000_u64.div_ceil(167));
    }
}
