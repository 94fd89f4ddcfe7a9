//! A port at work: its input and its output circuit, what they are connected to inside the node,
//! and their control interface. L, R-5, R-6

use std::ops::Range;

use codec::Character;
use codec::character::{ReplyStatus, Symbol};

use crate::cell::{Cell, PacketId};
use crate::link::{LinkParameters, Symbols};
use crate::receiver::{Asked, Receiver};
use crate::sender::{Sender, Sending};
use crate::switch::{Input, Switch};
use crate::topology::Port;
use crate::truth::{FrameAccount, Log, Release, Telling, Wanted, What};
use crate::watch::FillWatch;
use crate::wire::Clock;

/// A port at work.
#[derive(Clone, Debug)]
pub struct Circuit {
    /// Which port it is.
    pub port: Port,
    /// The circuit at the other end of the cable.
    pub peer: u32,
    /// When it sends and hears.
    pub clock: Clock,
    /// Its input circuit.
    pub receiver: Receiver,
    /// Its output circuit.
    pub sender: Sender,
    /// Where the data that it receives goes.
    pub sink: Sink,
    /// Where the data that it sends comes from.
    pub source: Source,
    /// The channel into which its sink, the input of a switch, last began to send data.
    pub onto: u32,
    /// Whether it has power, and how long it has been silent for want of it.
    pub power: Power,
    /// When it first sends after it last got its power, and how long it had been silent before.
    back: (u64, u8),
    /// Its two channels in the capture, if it is tapped.
    pub tapped: Option<Box<Tapped>>,
    /// What has been told of its slack buffer's fill, if that is wanted.
    pub watch: Option<Box<FillWatch>>,
    /// The status word of its control interface. R-6
    pub status: Status,
    /// Whether it replies to probes. R-6
    replies: bool,
    /// What has passed through it, but for what the input circuit counts.
    pub passed: Passed,
}

/// Where received data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// To a host's interface.
    Host(u32),
    /// Into a switch, whose input does this.
    Switch(u32, Input),
}

/// Where data to be sent comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From nowhere now.
    Nowhere,
    /// From a host's interface.
    Host(u32),
    /// From another circuit's slack buffer, through the crossbar.
    Circuit(u32),
    /// From its switch, which sends a packet to several outputs. S-9
    Copies,
}

/// Whether a port has power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It has.
    On,
    /// So many faults keep it off; it has been silent for so many periods, up to 16.
    Off {
        /// Faults that keep it off.
        faults: u32,
        /// Silent periods.
        silent: u8,
    },
}

/// Where a port's channels are recorded, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    /// The channel that goes out.
    pub outgoing: u32,
    /// The channel that comes in.
    pub incoming: u32,
    /// In these periods of the full rate.
    pub windows: Vec<Range<u64>>,
}

impl Tapped {
    /// Whether they are recorded in a period.
    #[must_use]
    pub fn is_on(&self, now: u64) -> bool {
        self.windows.iter().any(|window| window.contains(&now))
    }

    /// The next period from one on in which recording begins or ends.
    #[must_use]
    pub fn edge(&self, from: u64) -> Option<u64> {
        let edges = self.windows.iter().flat_map(|window| [window.start, window.end]);
        edges.filter(|edge| *edge > from).min()
    }

    /// The stretches of a range in which they are recorded.
    pub fn stretches(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { mut start, end } = range;
        std::iter::from_fn(move || {
            let next = self.windows.iter().filter(|window| window.end > start);
            let from = next.map(|window| window.start.max(start)).min()?;
            let to = self.windows.iter().filter(|window| window.contains(&from));
            let to = to.map(|window| window.end.min(end)).max()?;
            start = to;
            (from < to).then_some(from..to)
        })
    }
}

/// The status word of a control interface: bits 3–0 of the last reply; bit 4 while one is owed. R-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    word: u8,
    /// When the probe went out that has not been answered.
    asked: Option<u64>,
}

/// What has passed through a port, in periods of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Bytes sent.
    pub data: u64,
    /// Packets ended.
    pub packets: u64,
    /// STOP and GO that the slack buffer had sent.
    pub commands: u64,
    /// Periods in which it was stopped.
    pub stopped: u64,
    /// The most cells that were full in its slack buffer.
    pub fill_max: u32,
}

/// The two lamps of a port. L (§4.7)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Light {
    /// Neither: no power.
    Off,
    /// Red: the link is open.
    Red,
    /// Green: connected and idle.
    Green,
    /// Both: sending or receiving a packet.
    Yellow,
}

impl Circuit {
    /// A port after power-up, at its end of a link, the first.
    #[must_use]
    pub fn new(port: Port, link: &LinkParameters, sink: Sink, wanted: Wanted) -> Self {
        let account = || match wanted {
            Wanted::Nothing => None,
            Wanted::Everything => Some(Box::new(FrameAccount::default())),
        };
        let source = match sink {
            Sink::Host(host) => Source::Host(host),
            Sink::Switch(..) => Source::Nowhere,
        };
        let [own, far] = &link.ports;
        let divisors = [own.divisor, far.divisor];
        let receiver = Receiver::new(own, account());
        Self {
            port,
            peer: 0,
            clock: Clock::new(link.delay, divisors),
            receiver: if own.divisor == far.divisor { receiver } else { receiver.with_own_time() },
            sender: Sender::new(own, account()),
            sink,
            source,
            onto: 0,
            power: Power::On,
            back: (0, 0),
            tapped: None,
            watch: None,
            status: Status::default(),
            replies: own.replies,
            passed: Passed::default(),
        }
    }

    /// Does what an arriving character asks of the port, but for what concerns its sink.
    pub fn answer(&mut self, asked: Asked, telling: &mut Telling<'_>) {
        match asked {
            Asked::Nothing => {}
            Asked::Command(command) => self.sender.command(command, telling),
            Asked::LinkOpen => self.sender.release(Release::LinkOpen, telling),
            Asked::Reset => self.sender.far_reset(),
            Asked::BackwardReset => self.sender.order(Symbol::ForwardReset),
            Asked::Probe(_) => {
                let status = self.light().status().filter(|_| self.replies);
                status.into_iter().for_each(|status| self.sender.order(Symbol::Reply(status)));
            }
            Asked::Reply(status) => {
                let round_trip = self.status.replied(status, telling.now);
                telling.tell(None, || What::ReplyReceived { status, round_trip });
            }
            Asked::Overflow => match self.receiver.symbols() {
                Symbols::All => self.sender.order(Symbol::OverrunAlarm),
                Symbols::Mandatory => {}
            },
        }
    }

    /// What has passed through it.
    #[must_use]
    pub const fn passed(&self) -> Passed {
        Passed { fill_max: self.receiver.fill_max(), ..self.passed }
    }

    /// Its lamps. L
    #[must_use]
    pub fn light(&self) -> Light {
        let busy = self.receiver.is_receiving() || self.sender.sending() == Sending::Packet;
        match self.power {
            Power::Off { .. } => Light::Off,
            Power::On if self.receiver.is_open() => Light::Red,
            Power::On if busy => Light::Yellow,
            Power::On => Light::Green,
        }
    }

    /// The next byte for the output that the input is connected to, if it is one within the packet.
    #[inline]
    pub fn stream(&mut self) -> Option<Cell> {
        match &mut self.sink {
            Sink::Switch(_, Input::Connected(_, transit)) => transit.stream(&mut self.receiver),
            Sink::Switch(..) | Sink::Host(_) => None,
        }
    }

    /// If it is an input of a switch, what it was doing is forgotten; hands back the packet whose
    /// first byte is lost. R-3
    pub fn reset_input(&mut self, switches: &mut [Switch]) -> Option<PacketId> {
        let Sink::Switch(switch, input) = &mut self.sink else { return None };
        let before = std::mem::replace(input, Input::Empty);
        switches.get_mut(*switch as usize)?.reset(self.port.port, &before)
    }

    /// Notes what goes out.
    pub fn note(&mut self, cell: Cell, telling: &mut Telling<'_>) {
        self.sender.sent(cell, telling);
        match cell.character() {
            Character::Data(_) => self.passed.data += 1,
            Character::Control(_) if cell.is_end() => self.passed.packets += 1,
            Character::Control(0xc0..=0xc7) => self.status.probed(telling.now),
            Character::Control(_) => {}
        }
    }

    /// A period without power passes: nothing is sent.
    pub fn stay_silent(&mut self, telling: &mut Telling<'_>) {
        let Power::Off { silent, .. } = &mut self.power else { return };
        if *silent < 16 {
            *silent += 1;
            if *silent == 16 {
                self.sender.fell_silent(telling);
                telling.tell(None, || What::FellSilent);
            }
        }
    }

    /// Loses its power once more.
    pub fn power_off(&mut self, now: u64, log: &mut Log) {
        self.power = match self.power {
            // Nothing has ended the silence if the power goes again before the first character.
            Power::On if now <= self.back.0 => Power::Off { faults: 1, silent: self.back.1 },
            Power::On => Power::Off { faults: 1, silent: self.sender.quiet() },
            Power::Off { faults, silent } => Power::Off { faults: faults + 1, silent },
        };
        let slot = now / self.clock.divisor();
        let telling = &mut Telling { now, slot, place: self.port, log };
        telling.tell(None, || What::PowerLost);
        self.receiver.power_up(telling);
    }

    /// Loses one reason to be without power; back to where it was after power-up if it was the last.
    pub fn power_on(&mut self, now: u64, log: &mut Log) {
        let Power::Off { faults, silent } = self.power else { return };
        if faults > 1 {
            self.power = Power::Off { faults: faults - 1, silent };
            return;
        }
        self.power = Power::On;
        // The first period in which it will send.
        let slot = now.div_ceil(self.clock.divisor());
        self.back = (slot * self.clock.divisor(), silent);
        let telling = &mut Telling { now, slot, place: self.port, log };
        self.receiver.power_up(telling);
        self.sender.power_up(telling);
        if silent == 16 {
            telling.tell(None, || What::SilenceEnded);
        }
    }
}

impl Sink {
    /// Whether the extensions of its switch see to what it does. S-8, S-9
    #[must_use]
    pub fn is_extended(&self) -> bool {
        matches!(self, Self::Switch(_, Input::Extended))
    }

    /// The input of a switch goes over to something else.
    pub const fn set(&mut self, next: Input) {
        if let Self::Switch(_, input) = self {
            *input = next;
        }
    }
}

impl Status {
    /// A probe goes out. R-6
    pub const fn probed(&mut self, now: u64) {
        self.word |= 0x10;
        self.asked = Some(now);
    }

    /// A reply has come; hands back how long after the probe.
    const fn replied(&mut self, status: ReplyStatus, now: u64) -> Option<u64> {
        self.word = status.value();
        match self.asked.take() {
            Some(asked) => Some(now - asked),
            None => None,
        }
    }

    /// The word.
    #[must_use]
    pub const fn word(&self) -> u8 {
        self.word
    }
}

impl Light {
    /// The four bits that a reply carries. *Chosen*: the specification leaves them to the system.
    const fn status(self) -> Option<ReplyStatus> {
        ReplyStatus::new(match self {
            Self::Off => 0,
            Self::Red => 1,
            Self::Green => 2,
            Self::Yellow => 3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::PortParameters;
    use crate::supply::{Supply, Turn};
    use crate::topology::{NodeId, SwitchParameters};
    use crate::transit::Transit;
    use codec::character::ProbeNumber;
    use codec::route::{Addressing, PortId};
    use codec::tick::Ticks;
    use std::num::NonZeroU32;

    const PLACE: Port = Port { node: NodeId(7), port: PortId(0) };

    /// A port of a link at a quarter of the full rate, with all symbols, and what it tells.
    struct Bench {
        circuit: Circuit,
        log: Log,
    }

    impl Bench {
        fn new(sink: Sink) -> Self {
            let divisor = NonZeroU32::MIN.saturating_add(3);
            let port = PortParameters { divisor, symbols: Symbols::All, ..Default::default() };
            let link = LinkParameters::alike(Ticks(12), port);
            let circuit = Circuit::new(PLACE, &link, sink, Wanted::Everything);
            Self { circuit, log: Log::new(Wanted::Everything) }
        }

        fn at<T>(&mut self, slot: u64, act: impl FnOnce(&mut Circuit, &mut Telling<'_>) -> T) -> T {
            let log = &mut self.log;
            act(&mut self.circuit, &mut Telling { now: 4 * slot, slot, place: PLACE, log })
        }

        /// Hears some characters, one a period from period 0 on.
        fn hear(&mut self, text: &str) {
            for (slot, character) in (0..).zip(codec::notation::parse(text).unwrap().chars()) {
                self.at(slot, |circuit, telling| {
                    circuit.receiver.hear_any(Cell::of(character), None, telling);
                });
            }
        }

        /// What it sends in a period in which its source has nothing.
        fn turn(&mut self, slot: u64) -> Cell {
            self.at(slot, |circuit, telling| match circuit.sender.turn(None, telling) {
                Turn::Send(cell) => cell,
                Turn::Ask(_) => circuit.sender.send(Supply::Nothing, telling),
            })
        }

        fn stay_silent(&mut self, periods: Range<u64>) {
            periods.for_each(|slot| self.at(slot, Circuit::stay_silent));
        }

        fn told(&mut self) -> Vec<(u64, &'static str)> {
            self.log.drain().map(|row| (row.at, row.what.kind())).collect()
        }
    }

    #[test]
    fn a_tap_records_in_its_windows() {
        let tapped = Tapped { outgoing: 0, incoming: 1, windows: vec![2..5, 8..10] };
        let on: Vec<u64> = (0..12).filter(|now| tapped.is_on(*now)).collect();
        assert_eq!(on, [2, 3, 4, 8, 9]);
        let edges = [0, 2, 4, 5, 8, 9, 10].map(|from| tapped.edge(from));
        assert_eq!(edges, [Some(2), Some(5), Some(5), Some(8), Some(10), Some(10), None]);
        let stretches = |range| tapped.stretches(range).collect::<Vec<_>>();
        assert_eq!(stretches(0..20), [2..5, 8..10]);
        assert_eq!(stretches(3..9), [3..5, 8..9]);
        assert_eq!(stretches(5..8), []);
    }

    #[test]
    fn the_lamps_show_power_an_open_link_and_packets_and_a_reply_carries_them() {
        // L. The bits are chosen here.
        let lamps = |bench: &mut Bench| {
            let probe = Asked::Probe(ProbeNumber::new(2).unwrap());
            bench.at(50, |circuit, telling| circuit.answer(probe, telling));
            (bench.circuit.light(), bench.turn(50))
        };
        let reply = |bits: u8| Cell::control(0xf0 + bits);
        let bench = || Bench::new(Sink::Host(0));
        assert_eq!(lamps(&mut bench()), (Light::Green, reply(2)));
        let mut receiving = bench();
        receiving.hear("83 05");
        assert_eq!(lamps(&mut receiving), (Light::Yellow, reply(3)));
        let mut sending = bench();
        let byte = Supply::Data(Cell::data(0x83), None);
        sending.at(0, |circuit, telling| circuit.sender.send(byte, telling));
        assert_eq!(lamps(&mut sending), (Light::Yellow, reply(3)));
        let mut open = bench();
        open.hear("IDLE×16");
        assert_eq!(lamps(&mut open), (Light::Red, reply(1)));
        open.circuit.power_off(100, &mut open.log);
        assert_eq!(lamps(&mut open), (Light::Off, reply(0)));
    }

    #[test]
    fn what_passes_is_counted() {
        let mut bench = Bench::new(Sink::Host(0));
        let [byte, go] = [Cell::data(0x0c), Cell::control(0x03)];
        for cell in [byte, byte, byte, Cell::END, go, Cell::GAP, Cell::control(0xc7)] {
            bench.at(9, |circuit, telling| circuit.note(cell, telling));
        }
        bench.hear("83 05 07");
        let passed = bench.circuit.passed();
        // A GAP that fills a period ends no packet.
        let expected = Passed { data: 3, packets: 1, fill_max: 3, ..Passed::default() };
        assert_eq!(passed, expected);
        // The last one was a probe. R-6
        assert_eq!(bench.circuit.status.word(), 0x10);
    }

    #[test]
    fn without_power_a_port_falls_silent_once_and_loses_what_it_held() {
        let mut bench = Bench::new(Sink::Host(0));
        bench.hear("83 05");
        bench.circuit.power_off(40, &mut bench.log);
        assert_eq!(bench.circuit.receiver.fill(), 0);
        bench.stay_silent(0..15);
        assert_eq!(bench.told(), [(40, "power-lost"), (40, "received")]);
        bench.stay_silent(15..35);
        assert_eq!(bench.told(), [(60, "fell-silent")]);
        assert_eq!(bench.circuit.power, Power::Off { faults: 1, silent: 16 });
        // A port that has power does not fall silent.
        bench.circuit.power_on(200, &mut bench.log);
        bench.stay_silent(50..90);
        assert_eq!(bench.told(), [(200, "silence-ended")]);
    }

    #[test]
    fn power_is_back_when_the_last_fault_that_took_it_is_over() {
        let mut bench = Bench::new(Sink::Host(0));
        bench.circuit.power_off(40, &mut bench.log);
        bench.circuit.power_off(44, &mut bench.log);
        bench.circuit.power_off(48, &mut bench.log);
        for faults in [2, 1] {
            bench.circuit.power_on(60, &mut bench.log);
            assert_eq!(bench.circuit.power, Power::Off { faults, silent: 0 });
        }
        bench.circuit.power_on(60, &mut bench.log);
        assert_eq!(bench.circuit.power, Power::On);
        // A silence of fewer than 16 periods was not told, and neither is its end.
        assert_eq!(bench.told(), [(40, "power-lost"), (44, "power-lost"), (48, "power-lost")]);
    }

    #[test]
    fn a_silence_goes_on_if_nothing_was_sent_in_between() {
        // With power from time 41 on, it first sends in period 11, at time 44.
        for (again, silent) in [(44, 7), (45, 0)] {
            let mut bench = Bench::new(Sink::Host(0));
            bench.circuit.power_off(8, &mut bench.log);
            bench.stay_silent(2..9);
            bench.circuit.power_on(41, &mut bench.log);
            bench.circuit.power_off(again, &mut bench.log);
            assert_eq!(bench.circuit.power, Power::Off { faults: 1, silent }, "{again}");
        }
        // F-8: fill begins with GO.
        let mut bench = Bench::new(Sink::Host(0));
        bench.circuit.power_off(8, &mut bench.log);
        bench.circuit.power_on(41, &mut bench.log);
        assert_eq!((bench.turn(11), bench.turn(12)), (Cell::control(0x03), Cell::GAP));
    }

    #[test]
    fn an_input_of_a_switch_streams_only_while_it_is_connected() {
        let connected = Input::Connected(PortId(1), Transit::new(0x81, None));
        for (input, byte) in [(connected, Some(Cell::data(5))), (Input::Discarding, None)] {
            let mut bench = Bench::new(Sink::Switch(0, Input::Empty));
            bench.hear("05 06");
            // Its head has been taken.
            bench.circuit.sink.set(input);
            assert_eq!(bench.circuit.stream(), byte);
        }
        assert_eq!(Bench::new(Sink::Host(0)).circuit.stream(), None);
    }

    #[test]
    fn a_reset_input_is_empty_and_hands_back_the_packet_that_has_not_gone_on() {
        //
        let id = PacketId { host: NodeId(3), number: 4 };
        let connected = Input::Connected(PortId(1), Transit::new(0x81, Some(id)));
        let mut switches = [Switch::new(NodeId(7), SwitchParameters::new(8, Addressing::Relative))];
        let mut bench = Bench::new(Sink::Switch(0, connected));
        assert_eq!(bench.circuit.reset_input(&mut switches), Some(id));
        assert_eq!(bench.circuit.sink, Sink::Switch(0, Input::Empty));
        assert_eq!(bench.circuit.reset_input(&mut switches), None);
    }

    #[test]
    fn only_an_input_that_its_switch_has_set_aside_is_extended() {
        let sinks =
            [Sink::Host(0), Sink::Switch(0, Input::Ready), Sink::Switch(0, Input::Extended)];
        assert_eq!(sinks.map(|sink| sink.is_extended()), [false, false, true]);
    }

    #[test]
    fn a_probe_sets_bit_four_and_its_reply_clears_it() {
        //
        let mut status = Status::default();
        status.probed(100);
        assert_eq!(status.word(), 0x10);
        let replied = |status: &mut Status, bits, now| {
            ReplyStatus::new(bits).and_then(|reply| status.replied(reply, now))
        };
        assert_eq!(replied(&mut status, 5, 130), Some(30));
        assert_eq!(status.word(), 5);
        // Bits 3 to 0 stay until the next reply; one that nobody asked for has no round trip.
        status.probed(200);
        assert_eq!(status.word(), 0x15);
        assert_eq!(replied(&mut status, 9, 210), Some(10));
        assert_eq!((replied(&mut status, 2, 220), status.word()), (None, 2));
    }
}
