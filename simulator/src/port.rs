//! A port at work: its input and its output circuit, what they are connected to inside the node,
//! and their control interface. L, R-5, R-6

use std::ops::Range;

use codec::Character;
use codec::character::{ReplyStatus, Symbol};

use crate::fill_trace::FillTrace;
use crate::link::{LinkParameters, SymbolSet};
use crate::receiver::{PortReceiver, PortRequest};
use crate::sender::{PortSender, SendState};
use crate::switch::{Switch, SwitchInputState};
use crate::tagged_char::{PacketId, TaggedChar};
use crate::topology::NodePort;
use crate::truth::{
    FrameTracker, ReleaseCause, TraceContext, TraceLevel, TruthEventKind, TruthLog,
};
use crate::wire::PortClock;

/// A port at work.
#[derive(Clone, Debug)]
pub struct PortUnit {
    /// Which port it is.
    pub port: NodePort,
    /// The circuit at the other end of the cable.
    pub peer: u32,
    /// When it sends and hears.
    pub clock: PortClock,
    /// Its input circuit.
    pub receiver: PortReceiver,
    /// Its output circuit.
    pub sender: PortSender,
    /// Where the data that it receives goes.
    pub sink: DataSink,
    /// Where the data that it sends comes from.
    pub source: DataSource,
    /// The channel into which its sink, the input of a switch, last began to send data.
    pub downstream: u32,
    /// Whether it has power, and how long it has been silent for want of it.
    pub power: PowerState,
    /// When it first sends after it last got its power, and how long it had been silent before.
    power_return: (u64, u8),
    /// Its two channels in the capture, if it is tapped.
    pub tapped: Option<Box<TapWindows>>,
    /// What has been told of its slack buffer's fill, if that is wanted.
    pub fill_trace: Option<Box<FillTrace>>,
    /// The status word of its control interface. R-6
    pub status: StatusWord,
    /// Whether it replies to probes. R-6
    replies: bool,
    /// What has passed through it, but for what the input circuit counts.
    pub counters: PortCounters,
}

/// Where received data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSink {
    /// To a host's interface.
    Host(u32),
    /// Into a switch, whose input does this.
    Switch(u32, SwitchInputState),
}

/// Where data to be sent comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSource {
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
pub enum PowerState {
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
pub struct TapWindows {
    /// The channel that goes out.
    pub outgoing: u32,
    /// The channel that comes in.
    pub incoming: u32,
    /// In these periods of the full rate.
    pub windows: Vec<Range<u64>>,
}

impl TapWindows {
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
pub struct StatusWord {
    word: u8,
    /// When the probe went out that has not been answered.
    probe_sent_at: Option<u64>,
}

/// What has passed through a port, in periods of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
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
pub enum PortLed {
    /// Neither: no power.
    Off,
    /// Red: the link is open.
    Red,
    /// Green: connected and idle.
    Green,
    /// Both: sending or receiving a packet.
    Yellow,
}

impl PortUnit {
    /// A port after power-up, at its end of a link, the first.
    #[must_use]
    pub fn new(port: NodePort, link: &LinkParameters, sink: DataSink, wanted: TraceLevel) -> Self {
        let account = || match wanted {
            TraceLevel::Nothing => None,
            TraceLevel::Everything => Some(Box::new(FrameTracker::default())),
        };
        let source = match sink {
            DataSink::Host(host) => DataSource::Host(host),
            DataSink::Switch(..) => DataSource::Nowhere,
        };
        let [own, far] = &link.ports;
        let divisors = [own.divisor, far.divisor];
        let receiver = PortReceiver::new(own, account());
        Self {
            port,
            peer: 0,
            clock: PortClock::new(link.delay, divisors),
            receiver: if own.divisor == far.divisor { receiver } else { receiver.with_own_time() },
            sender: PortSender::new(own, account()),
            sink,
            source,
            downstream: 0,
            power: PowerState::On,
            power_return: (0, 0),
            tapped: None,
            fill_trace: None,
            status: StatusWord::default(),
            replies: own.replies,
            counters: PortCounters::default(),
        }
    }

    /// Does what an arriving character asks of the port, but for what concerns its sink.
    pub fn handle(&mut self, asked: PortRequest, telling: &mut TraceContext<'_>) {
        match asked {
            PortRequest::Nothing => {}
            PortRequest::Command(command) => self.sender.command(command, telling),
            PortRequest::LinkOpen => self.sender.release(ReleaseCause::LinkOpen, telling),
            PortRequest::Reset => self.sender.far_reset(),
            PortRequest::BackwardReset => self.sender.queue_symbol(Symbol::ForwardReset),
            PortRequest::Probe(_) => {
                let status = self.led().status().filter(|_| self.replies);
                status
                    .into_iter()
                    .for_each(|status| self.sender.queue_symbol(Symbol::Reply(status)));
            }
            PortRequest::Reply(status) => {
                let round_trip = self.status.replied(status, telling.now);
                telling.emit(None, || TruthEventKind::ReplyReceived { status, round_trip });
            }
            PortRequest::Overflow => match self.receiver.symbols() {
                SymbolSet::All => self.sender.queue_symbol(Symbol::OverrunAlarm),
                SymbolSet::Mandatory => {}
            },
        }
    }

    /// What has passed through it.
    #[must_use]
    pub const fn counters(&self) -> PortCounters {
        PortCounters { fill_max: self.receiver.fill_max(), ..self.counters }
    }

    /// Its lamps. L
    #[must_use]
    pub fn led(&self) -> PortLed {
        let busy = self.receiver.is_receiving() || self.sender.sending() == SendState::Packet;
        match self.power {
            PowerState::Off { .. } => PortLed::Off,
            PowerState::On if self.receiver.is_open() => PortLed::Red,
            PowerState::On if busy => PortLed::Yellow,
            PowerState::On => PortLed::Green,
        }
    }

    /// The next byte for the output that the input is connected to, if it is one within the packet.
    #[inline]
    pub fn stream(&mut self) -> Option<TaggedChar> {
        match &mut self.sink {
            DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                transit.stream(&mut self.receiver)
            }
            DataSink::Switch(..) | DataSink::Host(_) => None,
        }
    }

    /// If it is an input of a switch, what it was doing is forgotten; hands back the packet whose
    /// first byte is lost. R-3
    pub fn reset_input(&mut self, switches: &mut [Switch]) -> Option<PacketId> {
        let DataSink::Switch(switch, input) = &mut self.sink else { return None };
        let before = std::mem::replace(input, SwitchInputState::Empty);
        switches.get_mut(*switch as usize)?.reset(self.port.port, &before)
    }

    /// Notes what goes out.
    pub fn note_sent(&mut self, cell: TaggedChar, telling: &mut TraceContext<'_>) {
        self.sender.note_sent(cell, telling);
        match cell.character() {
            Character::Data(_) => self.counters.data += 1,
            Character::Control(_) if cell.is_end() => self.counters.packets += 1,
            Character::Control(0xc0..=0xc7) => self.status.probed(telling.now),
            Character::Control(_) => {}
        }
    }

    /// A period without power passes: nothing is sent.
    pub fn stay_silent(&mut self, telling: &mut TraceContext<'_>) {
        let PowerState::Off { silent, .. } = &mut self.power else { return };
        if *silent < 16 {
            *silent += 1;
            if *silent == 16 {
                self.sender.fell_silent(telling);
                telling.emit(None, || TruthEventKind::FellSilent);
            }
        }
    }

    /// Loses its power once more.
    pub fn power_off(&mut self, now: u64, log: &mut TruthLog) {
        self.power = match self.power {
            // Nothing has ended the silence if the power goes again before the first character.
            PowerState::On if now <= self.power_return.0 => {
                PowerState::Off { faults: 1, silent: self.power_return.1 }
            }
            PowerState::On => PowerState::Off { faults: 1, silent: self.sender.silent_periods() },
            PowerState::Off { faults, silent } => PowerState::Off { faults: faults + 1, silent },
        };
        let slot = now / self.clock.divisor();
        let telling = &mut TraceContext { now, slot, place: self.port, log };
        telling.emit(None, || TruthEventKind::PowerLost);
        self.receiver.power_up(telling);
    }

    /// Loses one reason to be without power; back to where it was after power-up if it was the last.
    pub fn power_on(&mut self, now: u64, log: &mut TruthLog) {
        let PowerState::Off { faults, silent } = self.power else { return };
        if faults > 1 {
            self.power = PowerState::Off { faults: faults - 1, silent };
            return;
        }
        self.power = PowerState::On;
        // The first period in which it will send.
        let slot = now.div_ceil(self.clock.divisor());
        self.power_return = (slot * self.clock.divisor(), silent);
        let telling = &mut TraceContext { now, slot, place: self.port, log };
        self.receiver.power_up(telling);
        self.sender.power_up(telling);
        if silent == 16 {
            telling.emit(None, || TruthEventKind::SilenceEnded);
        }
    }
}

impl DataSink {
    /// Whether the extensions of its switch see to what it does. S-8, S-9
    #[must_use]
    pub fn is_extended(&self) -> bool {
        matches!(self, Self::Switch(_, SwitchInputState::Extended))
    }

    /// The input of a switch goes over to something else.
    pub const fn set(&mut self, next: SwitchInputState) {
        if let Self::Switch(_, input) = self {
            *input = next;
        }
    }
}

impl StatusWord {
    /// A probe goes out. R-6
    pub const fn probed(&mut self, now: u64) {
        self.word |= 0x10;
        self.probe_sent_at = Some(now);
    }

    /// A reply has come; hands back how long after the probe.
    const fn replied(&mut self, status: ReplyStatus, now: u64) -> Option<u64> {
        self.word = status.value();
        match self.probe_sent_at.take() {
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

impl PortLed {
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
    use crate::cut_through::CutThrough;
    use crate::link::PortParameters;
    use crate::source_item::{SendDecision, SourceItem};
    use crate::topology::{NodeId, SwitchParameters};
    use codec::character::ProbeNumber;
    use codec::route::{PortId, RouteAddressing};
    use codec::time::Ticks;
    use std::num::NonZeroU32;

    const PLACE: NodePort = NodePort { node: NodeId(7), port: PortId(0) };

    /// A port of a link at a quarter of the full rate, with all symbols, and what it tells.
    struct PortBench {
        circuit: PortUnit,
        log: TruthLog,
    }

    impl PortBench {
        fn new(sink: DataSink) -> Self {
            let divisor = NonZeroU32::MIN.saturating_add(3);
            let port = PortParameters { divisor, symbols: SymbolSet::All, ..Default::default() };
            let link = LinkParameters::alike(Ticks(12), port);
            let circuit = PortUnit::new(PLACE, &link, sink, TraceLevel::Everything);
            Self { circuit, log: TruthLog::new(TraceLevel::Everything) }
        }

        fn at<T>(
            &mut self,
            slot: u64,
            act: impl FnOnce(&mut PortUnit, &mut TraceContext<'_>) -> T,
        ) -> T {
            let log = &mut self.log;
            act(&mut self.circuit, &mut TraceContext { now: 4 * slot, slot, place: PLACE, log })
        }

        /// Hears some characters, one a period from period 0 on.
        fn hear(&mut self, text: &str) {
            for (slot, character) in (0..).zip(codec::notation::parse(text).unwrap().chars()) {
                self.at(slot, |circuit, telling| {
                    circuit.receiver.receive(TaggedChar::of(character), None, telling);
                });
            }
        }

        /// What it sends in a period in which its source has nothing.
        fn turn(&mut self, slot: u64) -> TaggedChar {
            self.at(slot, |circuit, telling| match circuit.sender.decide(None, telling) {
                SendDecision::Send(cell) => cell,
                SendDecision::Ask(_) => circuit.sender.send(SourceItem::Nothing, telling),
            })
        }

        fn stay_silent(&mut self, periods: Range<u64>) {
            periods.for_each(|slot| self.at(slot, PortUnit::stay_silent));
        }

        fn told(&mut self) -> Vec<(u64, &'static str)> {
            self.log.drain().map(|row| (row.at, row.kind.kind())).collect()
        }
    }

    #[test]
    fn a_tap_records_in_its_windows() {
        let tapped = TapWindows { outgoing: 0, incoming: 1, windows: vec![2..5, 8..10] };
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
        let lamps = |bench: &mut PortBench| {
            let probe = PortRequest::Probe(ProbeNumber::new(2).unwrap());
            bench.at(50, |circuit, telling| circuit.handle(probe, telling));
            (bench.circuit.led(), bench.turn(50))
        };
        let reply = |bits: u8| TaggedChar::control(0xf0 + bits);
        let bench = || PortBench::new(DataSink::Host(0));
        assert_eq!(lamps(&mut bench()), (PortLed::Green, reply(2)));
        let mut receiving = bench();
        receiving.hear("83 05");
        assert_eq!(lamps(&mut receiving), (PortLed::Yellow, reply(3)));
        let mut sending = bench();
        let byte = SourceItem::Data(TaggedChar::data(0x83), None);
        sending.at(0, |circuit, telling| circuit.sender.send(byte, telling));
        assert_eq!(lamps(&mut sending), (PortLed::Yellow, reply(3)));
        let mut open = bench();
        open.hear("IDLE×16");
        assert_eq!(lamps(&mut open), (PortLed::Red, reply(1)));
        open.circuit.power_off(100, &mut open.log);
        assert_eq!(lamps(&mut open), (PortLed::Off, reply(0)));
    }

    #[test]
    fn what_passes_is_counted() {
        let mut bench = PortBench::new(DataSink::Host(0));
        let [byte, go] = [TaggedChar::data(0x0c), TaggedChar::control(0x03)];
        for cell in
            [byte, byte, byte, TaggedChar::END, go, TaggedChar::GAP, TaggedChar::control(0xc7)]
        {
            bench.at(9, |circuit, telling| circuit.note_sent(cell, telling));
        }
        bench.hear("83 05 07");
        let passed = bench.circuit.counters();
        // A GAP that fills a period ends no packet.
        let expected = PortCounters { data: 3, packets: 1, fill_max: 3, ..PortCounters::default() };
        assert_eq!(passed, expected);
        // The last one was a probe. R-6
        assert_eq!(bench.circuit.status.word(), 0x10);
    }

    #[test]
    fn without_power_a_port_falls_silent_once_and_loses_what_it_held() {
        let mut bench = PortBench::new(DataSink::Host(0));
        bench.hear("83 05");
        bench.circuit.power_off(40, &mut bench.log);
        assert_eq!(bench.circuit.receiver.fill(), 0);
        bench.stay_silent(0..15);
        assert_eq!(bench.told(), [(40, "power-lost"), (40, "received")]);
        bench.stay_silent(15..35);
        assert_eq!(bench.told(), [(60, "fell-silent")]);
        assert_eq!(bench.circuit.power, PowerState::Off { faults: 1, silent: 16 });
        // A port that has power does not fall silent.
        bench.circuit.power_on(200, &mut bench.log);
        bench.stay_silent(50..90);
        assert_eq!(bench.told(), [(200, "silence-ended")]);
    }

    #[test]
    fn power_is_back_when_the_last_fault_that_took_it_is_over() {
        let mut bench = PortBench::new(DataSink::Host(0));
        bench.circuit.power_off(40, &mut bench.log);
        bench.circuit.power_off(44, &mut bench.log);
        bench.circuit.power_off(48, &mut bench.log);
        for faults in [2, 1] {
            bench.circuit.power_on(60, &mut bench.log);
            assert_eq!(bench.circuit.power, PowerState::Off { faults, silent: 0 });
        }
        bench.circuit.power_on(60, &mut bench.log);
        assert_eq!(bench.circuit.power, PowerState::On);
        // A silence of fewer than 16 periods was not told, and neither is its end.
        assert_eq!(bench.told(), [(40, "power-lost"), (44, "power-lost"), (48, "power-lost")]);
    }

    #[test]
    fn a_silence_goes_on_if_nothing_was_sent_in_between() {
        // With power from time 41 on, it first sends in period 11, at time 44.
        for (again, silent) in [(44, 7), (45, 0)] {
            let mut bench = PortBench::new(DataSink::Host(0));
            bench.circuit.power_off(8, &mut bench.log);
            bench.stay_silent(2..9);
            bench.circuit.power_on(41, &mut bench.log);
            bench.circuit.power_off(again, &mut bench.log);
            assert_eq!(bench.circuit.power, PowerState::Off { faults: 1, silent }, "{again}");
        }
        // F-8: fill begins with GO.
        let mut bench = PortBench::new(DataSink::Host(0));
        bench.circuit.power_off(8, &mut bench.log);
        bench.circuit.power_on(41, &mut bench.log);
        assert_eq!((bench.turn(11), bench.turn(12)), (TaggedChar::control(0x03), TaggedChar::GAP));
    }

    #[test]
    fn an_input_of_a_switch_streams_only_while_it_is_connected() {
        let connected = SwitchInputState::Connected(PortId(1), CutThrough::new(0x81, None));
        for (input, byte) in
            [(connected, Some(TaggedChar::data(5))), (SwitchInputState::Discarding, None)]
        {
            let mut bench = PortBench::new(DataSink::Switch(0, SwitchInputState::Empty));
            bench.hear("05 06");
            // Its head has been taken.
            bench.circuit.sink.set(input);
            assert_eq!(bench.circuit.stream(), byte);
        }
        assert_eq!(PortBench::new(DataSink::Host(0)).circuit.stream(), None);
    }

    #[test]
    fn a_reset_input_is_empty_and_hands_back_the_packet_that_has_not_gone_on() {
        //
        let id = PacketId { host: NodeId(3), number: 4 };
        let connected = SwitchInputState::Connected(PortId(1), CutThrough::new(0x81, Some(id)));
        let mut switches =
            [Switch::new(NodeId(7), SwitchParameters::new(8, RouteAddressing::Relative))];
        let mut bench = PortBench::new(DataSink::Switch(0, connected));
        assert_eq!(bench.circuit.reset_input(&mut switches), Some(id));
        assert_eq!(bench.circuit.sink, DataSink::Switch(0, SwitchInputState::Empty));
        assert_eq!(bench.circuit.reset_input(&mut switches), None);
    }

    #[test]
    fn only_an_input_that_its_switch_has_set_aside_is_extended() {
        let sinks = [
            DataSink::Host(0),
            DataSink::Switch(0, SwitchInputState::Ready),
            DataSink::Switch(0, SwitchInputState::Extended),
        ];
        assert_eq!(sinks.map(|sink| sink.is_extended()), [false, false, true]);
    }

    #[test]
    fn a_probe_sets_bit_four_and_its_reply_clears_it() {
        //
        let mut status = StatusWord::default();
        status.probed(100);
        assert_eq!(status.word(), 0x10);
        let replied = |status: &mut StatusWord, bits, now| {
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
