//! A port: its sender and receiver, their connections inside the node, and the control interface.
//! L, R-5, R-6

mod tap_windows;

use std::ops::Range;

use codec::Character;
use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::time::CharacterPeriod;

pub(crate) use self::tap_windows::TapWindows;
use crate::arena::{HostId, SwitchId, UnitId};
use crate::fault::ProbeAction;
use crate::link::clock::PortClock;
use crate::link::fill_trace::FillTrace;
use crate::link::handshake::HandshakeEnd;
use crate::link::receiver::{PortReceiver, PortRequest};
use crate::link::sender::{PortSender, SendState};
use crate::link::shared_line::SharedLine;
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::link::{LinkParameters, SymbolSet};
use crate::node::{NodePort, virtual_channel};
use crate::switch::{SwitchArena, SwitchInputState};
use crate::truth::{
    FrameTracker, ReleaseCause, StopGo, TraceContext, TraceLevel, TruthEventKind, TruthLog,
};

/// One port of a node.
#[derive(Clone, Debug)]
pub(crate) struct PortUnit {
    pub(crate) port: NodePort,
    /// Index of the port at the other end of the cable.
    pub(crate) peer: UnitId,
    pub(crate) clock: PortClock,
    pub(crate) receiver: PortReceiver,
    pub(crate) sender: PortSender,
    pub(crate) handshake: Option<HandshakeEnd>,
    /// The virtual channel of the port that has its wires: itself but for further virtual channels. C-7
    pub(crate) first: UnitId,
    /// Virtual channels of the port, itself the first one: 1 without any.
    pub(crate) lanes: u8,
    /// The use of the wires, if this is the first of several virtual channels.
    pub(crate) line: Option<Box<SharedLine>>,
    pub(crate) sink: DataSink,
    pub(crate) source: DataSource,
    /// Index of the last output that its switch input was connected to.
    pub(crate) downstream: UnitId,
    pub(crate) power: PowerState,
    /// Time of the first character after power-on, and the length of the silence before it.
    power_return: (u64, u8),
    pub(crate) tapped: Option<Box<TapWindows>>,
    pub(crate) fill_trace: Option<Box<FillTrace>>,
    pub(crate) status: StatusWord,
    /// True if it replies to probes. R-6
    replies: bool,
    /// Counters of the sender's side.
    pub(crate) counters: PortCounters,
    /// The number that replies to probes carry, from the next bits on, and how many replies it
    /// takes. R-6
    reading: (u64, u8),
}

/// Destination of received data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataSink {
    /// A host's interface.
    Host(HostId),
    /// A switch, with the state of its input.
    Switch(SwitchId, SwitchInputState),
}

/// Source of the data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataSource {
    /// None at present.
    Nowhere,
    /// A host's interface.
    Host(HostId),
    /// The slack buffer of another port of the switch, through the crossbar.
    Circuit(UnitId),
    /// A multicast of the switch. S-9
    Copies,
}

/// Power of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PowerState {
    On,
    Off {
        /// Number of faults that keep it off.
        faults: u32,
        /// Silent periods so far, at most 16.
        silent: u8,
    },
}

/// Status word of the control interface: bits 3–0 of the last reply; bit 4 is set while a reply is
/// outstanding. R-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusWord {
    word: u8,
    /// Time of the probe that has not been answered.
    probe_sent_at: Option<u64>,
}

/// Counters of a port, in periods of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Bytes sent.
    pub data: u64,
    /// Packets ended.
    pub packets: u64,
    /// STOP and GO sent for the slack buffer.
    pub commands: u64,
    /// Periods in which the sender was stopped.
    pub stopped: u64,
    /// Highest fill of the slack buffer, in characters.
    pub fill_max: u32,
}

/// The two LEDs of a port. L (§4.7)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortLed {
    /// Both dark: no power.
    Off,
    /// Red: the link is open.
    Red,
    /// Green: connected and idle.
    Green,
    /// Both: sending or receiving a packet.
    Yellow,
}

impl PortUnit {
    /// A port after power-up; its own end of the link comes first.
    pub(crate) fn new(
        port: NodePort,
        link: &LinkParameters,
        sink: DataSink,
        level: TraceLevel,
    ) -> Self {
        let account = || match level {
            TraceLevel::Nothing => None,
            TraceLevel::Everything => Some(Box::new(FrameTracker::default())),
        };
        let is_first = virtual_channel(port.port) == 0;
        let codes = link.shared().filter(|_| is_first);
        let line = codes.and_then(|codes| SharedLine::new(codes, link.ports[0].passage));
        // An interface sends on virtual channel 0 alone. C-7
        let source = match sink {
            DataSink::Host(host) if is_first => DataSource::Host(host),
            DataSink::Host(_) | DataSink::Switch(..) => DataSource::Nowhere,
        };
        let (own, handshake) = &HandshakeEnd::of_port(link);
        let divisors = [own.divisor, link.ports[1].divisor];
        let receiver = PortReceiver::new(own, account());
        Self {
            port,
            peer: UnitId(0),
            clock: PortClock::new(link.delay, divisors),
            receiver: if divisors[0] == divisors[1] { receiver } else { receiver.with_own_time() },
            sender: PortSender::new(own, account()),
            handshake: *handshake,
            first: UnitId(0),
            lanes: codes.map_or(1, |codes| codes.channels()),
            line: line.map(Box::new),
            sink,
            source,
            downstream: UnitId(0),
            power: PowerState::On,
            power_return: (0, 0),
            tapped: None,
            fill_trace: None,
            status: StatusWord::default(),
            replies: own.replies,
            counters: PortCounters::default(),
            reading: (0, 0),
        }
    }

    /// Sets the clocks of its node and of the far one, which differ: characters come in at another
    /// rate, so that it counts the silence of the other end in its own periods. F-7, W-6
    pub(crate) fn set_rates(&mut self, rates: [CharacterPeriod; 2]) {
        self.receiver = self.receiver.clone().with_own_time();
        self.clock = self.clock.with_rates(rates);
    }

    /// Handles the effect of a received character on the port, except for its data sink.
    pub(crate) fn handle(&mut self, request: PortRequest, trace: &mut TraceContext<'_>) {
        match request {
            PortRequest::Nothing => {}
            PortRequest::Command(command) => self.sender.command(command, trace),
            PortRequest::LinkOpen => self.sender.release(ReleaseCause::LinkOpen, trace),
            PortRequest::Reset => self.sender.far_reset(),
            PortRequest::BackwardReset => self.sender.queue_symbol(Symbol::ForwardReset),
            PortRequest::Probe(number) => {
                let status = match self.probe_action(number) {
                    Some(ProbeAction::Counters) => self.next_counter_bits(),
                    Some(ProbeAction::Status | ProbeAction::Reset) => self.led().status(),
                    None => None,
                };
                status
                    .into_iter()
                    .for_each(|status| self.sender.queue_symbol(Symbol::Reply(status)));
            }
            PortRequest::Reply(status) => {
                let round_trip = self.status.replied(status, trace.now);
                trace.emit(None, || TruthEventKind::ReplyReceived { status, round_trip });
            }
            PortRequest::Overflow => match self.receiver.symbols() {
                SymbolSet::All => self.sender.queue_symbol(Symbol::OverrunAlarm),
                SymbolSet::Mandatory => {}
            },
        }
    }
    /// The action that a probe asks for, if the port answers.
    pub(crate) fn probe_action(&self, number: ProbeNumber) -> Option<ProbeAction> {
        self.replies.then(|| ProbeAction::of(number))
    }

    /// The next four bits of the packets sent, the lowest first: eight replies are a number.
    fn next_counter_bits(&mut self) -> Option<ReplyStatus> {
        let (count, left) = self.reading;
        let (count, left) = if left == 0 { (self.counters().packets, 8) } else { (count, left) };
        self.reading = (count >> 4, left - 1);
        ReplyStatus::new(u8::try_from(count & 0xf).ok()?)
    }

    pub(crate) const fn counters(&self) -> PortCounters {
        PortCounters { fill_max: self.receiver.fill_max(), ..self.counters }
    }

    /// State of its LEDs. L
    pub(crate) fn led(&self) -> PortLed {
        let busy = self.receiver.is_receiving() || self.sender.sending() == SendState::Packet;
        match self.power {
            PowerState::Off { .. } => PortLed::Off,
            PowerState::On if self.receiver.is_open() => PortLed::Red,
            PowerState::On if busy => PortLed::Yellow,
            PowerState::On => PortLed::Green,
        }
    }

    /// True if each fall of its slack buffer matters: GO may be due, or the fill is traced.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.receiver.last_command() == StopGo::Stop || self.fill_trace.is_some()
    }

    /// Records the fill of its slack buffer, if it is traced.
    #[inline]
    pub(crate) fn trace_fill(&mut self, now: u64, slot: u64, log: &mut TruthLog) {
        if let Some(trace) = &mut self.fill_trace {
            let context = &mut TraceContext { now, slot, place: self.port, log };
            trace.record(self.receiver.fill(), context);
        }
    }

    /// True if it decodes the first byte of a packet until a period. S-6
    pub(crate) fn is_ready_at(&self, at: u64) -> bool {
        matches!(self.sink, DataSink::Switch(_, SwitchInputState::Decoding(ready)) if ready == at)
    }

    /// Counts the silence of a range of times that it has slept, in which the characters of a range
    /// of the far port's periods have arrived. F-7, W-6
    #[inline]
    pub(crate) fn pass_time(&mut self, slept: Range<u64>, arrived: Range<u64>) {
        if self.receiver.has_own_time() && self.power == PowerState::On {
            let last = if arrived.is_empty() {
                slept.start
            } else {
                self.clock.receive_time(arrived.end - 1)
            };
            let periods = self.clock.next_sent(slept.end) - self.clock.next_sent(last);
            self.receiver.pass_time(arrived.end - arrived.start, periods);
        }
    }

    /// The next byte for the connected output, if it lies within the packet.
    #[inline]
    pub(crate) fn stream(&mut self) -> Option<TaggedChar> {
        match &mut self.sink {
            DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                transit.stream(&mut self.receiver)
            }
            DataSink::Switch(..) | DataSink::Host(_) => None,
        }
    }

    /// Resets the switch input of this port; returns the packet whose first byte is lost. R-3
    pub(crate) fn reset_input(&mut self, switches: &mut SwitchArena) -> Option<PacketId> {
        let DataSink::Switch(switch, input) = &mut self.sink else { return None };
        let before = std::mem::replace(input, SwitchInputState::Empty);
        switches[*switch].reset(self.port.port, &before)
    }

    /// Counts a character that goes out.
    pub(crate) fn note_sent(&mut self, cell: TaggedChar, trace: &mut TraceContext<'_>) {
        self.sender.note_sent(cell, trace);
        match cell.character() {
            Character::Data(_) => self.counters.data += 1,
            Character::Control(_) if cell.is_end() => self.counters.packets += 1,
            Character::Control(0xc0..=0xc7) => self.status.probed(trace.now),
            Character::Control(_) => {}
        }
    }

    /// Counts a period without power. Nothing comes of it on a handshake cable, which has no open-link
    /// timeout. B-1
    pub(crate) fn stay_silent(&mut self, trace: &mut TraceContext<'_>) {
        let PowerState::Off { silent, .. } = &mut self.power else { return };
        if *silent < 16 {
            *silent += 1;
            if *silent == 16 && self.handshake.is_none() {
                self.sender.fell_silent(trace);
                trace.emit(None, || TruthEventKind::FellSilent);
            }
        }
    }

    /// Adds a fault that keeps the power off.
    pub(crate) fn power_off(&mut self, now: u64, log: &mut TruthLog) {
        self.power = match self.power {
            // Nothing has ended the silence if the power goes again before the first character.
            PowerState::On if now <= self.power_return.0 => {
                PowerState::Off { faults: 1, silent: self.power_return.1 }
            }
            PowerState::On => PowerState::Off { faults: 1, silent: self.sender.silent_periods() },
            PowerState::Off { faults, silent } => PowerState::Off { faults: faults + 1, silent },
        };
        let slot = now / self.clock.divisor();
        let trace = &mut TraceContext { now, slot, place: self.port, log };
        trace.emit(None, || TruthEventKind::PowerLost);
        self.handshake.as_mut().into_iter().for_each(|end| end.power_up());
        self.line.iter_mut().for_each(|line| line.power_off());
        self.receiver.power_up(trace);
    }

    /// Removes a fault that keeps the power off; after the last one the port is as after power-up.
    pub(crate) fn power_on(&mut self, now: u64, log: &mut TruthLog) {
        let PowerState::Off { faults, silent } = self.power else { return };
        if faults > 1 {
            self.power = PowerState::Off { faults: faults - 1, silent };
            return;
        }
        self.power = PowerState::On;
        // The first period in which it will send.
        let slot = now.div_ceil(self.clock.divisor());
        self.power_return = (slot * self.clock.divisor(), silent);
        let trace = &mut TraceContext { now, slot, place: self.port, log };
        self.receiver.power_up(trace);
        self.sender.power_up(trace);
        if silent == 16 && self.handshake.is_none() {
            trace.emit(None, || TruthEventKind::SilenceEnded);
        }
    }
}

impl DataSink {
    /// True while the extensions of its switch handle the input. S-8, S-9
    pub(crate) fn is_extended(&self) -> bool {
        matches!(self, Self::Switch(_, SwitchInputState::Extended))
    }

    #[inline]
    pub(crate) fn input(&mut self) -> &mut SwitchInputState {
        let Self::Switch(_, input) = self else { unreachable!("{self:?} is no input of a switch") };
        input
    }
}

impl StatusWord {
    pub(crate) const fn probed(&mut self, now: u64) {
        self.word |= 0x10;
        self.probe_sent_at = Some(now);
    }

    /// Records a reply; returns the time since the probe.
    const fn replied(&mut self, status: ReplyStatus, now: u64) -> Option<u64> {
        self.word = status.value();
        match self.probe_sent_at.take() {
            Some(request) => Some(now - request),
            None => None,
        }
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
    use crate::link::PortParameters;
    use crate::link::source_item::{SendDecision, SourceItem};
    use crate::switch::Switch;
    use crate::switch::cut_through::CutThrough;
    use crate::topology::{NodeId, SwitchParameters};
    use codec::route::{PortId, RouteAddressing};
    use codec::time::Ticks;
    use std::num::NonZeroU32;

    const PLACE: NodePort = NodePort { node: NodeId(7), port: PortId(0) };

    /// A port at a quarter of the full rate, with all symbols, and its truth log.
    struct PortBench {
        unit: PortUnit,
        log: TruthLog,
    }

    impl PortBench {
        fn new(sink: DataSink) -> Self {
            let divisor = NonZeroU32::MIN.saturating_add(3);
            let port = PortParameters { divisor, symbols: SymbolSet::All, ..Default::default() };
            let link = LinkParameters::alike(Ticks(12), port);
            let unit = PortUnit::new(PLACE, &link, sink, TraceLevel::Everything);
            Self { unit, log: TruthLog::new(TraceLevel::Everything) }
        }

        fn at<T>(
            &mut self,
            slot: u64,
            act: impl FnOnce(&mut PortUnit, &mut TraceContext<'_>) -> T,
        ) -> T {
            let log = &mut self.log;
            act(&mut self.unit, &mut TraceContext { now: 4 * slot, slot, place: PLACE, log })
        }

        /// Receives characters, one a period from period 0 on.
        fn receive(&mut self, text: &str) {
            for (slot, character) in (0..).zip(codec::notation::parse(text).unwrap().chars().iter())
            {
                self.at(slot, |unit, trace| {
                    unit.receiver.receive(TaggedChar::of(character), None, trace);
                });
            }
        }

        /// The character sent in a period in which the source has nothing.
        fn turn(&mut self, slot: u64) -> TaggedChar {
            self.at(slot, |unit, trace| match unit.sender.decide(None, trace) {
                SendDecision::Send(cell) => cell,
                SendDecision::Request(_) => unit.sender.send(SourceItem::Nothing, trace),
            })
        }

        fn stay_silent(&mut self, periods: Range<u64>) {
            periods.for_each(|slot| self.at(slot, PortUnit::stay_silent));
        }

        fn events(&mut self) -> Vec<(u64, &'static str)> {
            self.log.drain().map(|row| (row.at, row.kind.name())).collect()
        }
    }

    #[test]
    fn a_tap_records_in_its_windows() {
        let tapped = TapWindows { outgoing: 0, incoming: 1, windows: vec![2..5, 8..10] };
        let on: Vec<u64> = (0..12).filter(|now| tapped.is_on(*now)).collect();
        assert_eq!(on, [2, 3, 4, 8, 9]);
        let stretches = |range| tapped.stretches(range).collect::<Vec<_>>();
        assert_eq!(stretches(0..20), [2..5, 8..10]);
        assert_eq!(stretches(3..9), [3..5, 8..9]);
        assert_eq!(stretches(5..8), []);
    }

    #[test]
    fn the_leds_show_power_an_open_link_and_packets_and_a_reply_carries_them() {
        // L. The bits are chosen here.
        let leds = |bench: &mut PortBench| {
            let probe = PortRequest::Probe(ProbeNumber::new(2).unwrap());
            bench.at(50, |unit, trace| unit.handle(probe, trace));
            (bench.unit.led(), bench.turn(50))
        };
        let reply = |bits: u8| TaggedChar::control(0xf0 + bits);
        let bench = || PortBench::new(DataSink::Host(HostId(0)));
        assert_eq!(leds(&mut bench()), (PortLed::Green, reply(2)));
        let mut receiving = bench();
        receiving.receive("83 05");
        assert_eq!(leds(&mut receiving), (PortLed::Yellow, reply(3)));
        let mut sending = bench();
        let byte = SourceItem::Data(TaggedChar::data(0x83), None);
        sending.at(0, |unit, trace| unit.sender.send(byte, trace));
        assert_eq!(leds(&mut sending), (PortLed::Yellow, reply(3)));
        let mut open = bench();
        open.receive("IDLE×16");
        assert_eq!(leds(&mut open), (PortLed::Red, reply(1)));
        open.unit.power_off(100, &mut open.log);
        assert_eq!(leds(&mut open), (PortLed::Off, reply(0)));
    }

    #[test]
    fn characters_sent_are_counted() {
        let mut bench = PortBench::new(DataSink::Host(HostId(0)));
        let [byte, go] = [TaggedChar::data(0x0c), TaggedChar::control(0x03)];
        for cell in
            [byte, byte, byte, TaggedChar::END, go, TaggedChar::GAP, TaggedChar::control(0xc7)]
        {
            bench.at(9, |unit, trace| unit.note_sent(cell, trace));
        }
        bench.receive("83 05 07");
        let passed = bench.unit.counters();
        // A GAP that fills a period ends no packet.
        let expected = PortCounters { data: 3, packets: 1, fill_max: 3, ..PortCounters::default() };
        assert_eq!(passed, expected);
        // The last one was a probe. R-6
        assert_eq!(bench.unit.status.word, 0x10);
    }

    #[test]
    fn without_power_a_port_falls_silent_once_and_loses_what_it_held() {
        let mut bench = PortBench::new(DataSink::Host(HostId(0)));
        bench.receive("83 05");
        bench.unit.power_off(40, &mut bench.log);
        assert_eq!(bench.unit.receiver.fill(), 0);
        bench.stay_silent(0..15);
        assert_eq!(bench.events(), [(40, "power-lost"), (40, "received")]);
        bench.stay_silent(15..35);
        assert_eq!(bench.events(), [(60, "fell-silent")]);
        assert_eq!(bench.unit.power, PowerState::Off { faults: 1, silent: 16 });
        // A port that has power does not fall silent.
        bench.unit.power_on(200, &mut bench.log);
        bench.stay_silent(50..90);
        assert_eq!(bench.events(), [(200, "silence-ended")]);
    }

    #[test]
    fn power_is_back_when_the_last_fault_that_took_it_is_over() {
        let mut bench = PortBench::new(DataSink::Host(HostId(0)));
        bench.unit.power_off(40, &mut bench.log);
        bench.unit.power_off(44, &mut bench.log);
        bench.unit.power_off(48, &mut bench.log);
        for faults in [2, 1] {
            bench.unit.power_on(60, &mut bench.log);
            assert_eq!(bench.unit.power, PowerState::Off { faults, silent: 0 });
        }
        bench.unit.power_on(60, &mut bench.log);
        assert_eq!(bench.unit.power, PowerState::On);
        // A silence of fewer than 16 periods was not told, and neither is its end.
        assert_eq!(bench.events(), [(40, "power-lost"), (44, "power-lost"), (48, "power-lost")]);
    }

    #[test]
    fn a_silence_goes_on_if_nothing_was_sent_in_between() {
        // With power from time 41 on, it first sends in period 11, at time 44.
        for (again, silent) in [(44, 7), (45, 0)] {
            let mut bench = PortBench::new(DataSink::Host(HostId(0)));
            bench.unit.power_off(8, &mut bench.log);
            bench.stay_silent(2..9);
            bench.unit.power_on(41, &mut bench.log);
            bench.unit.power_off(again, &mut bench.log);
            assert_eq!(bench.unit.power, PowerState::Off { faults: 1, silent }, "{again}");
        }
        // F-8: fill begins with GO.
        let mut bench = PortBench::new(DataSink::Host(HostId(0)));
        bench.unit.power_off(8, &mut bench.log);
        bench.unit.power_on(41, &mut bench.log);
        assert_eq!((bench.turn(11), bench.turn(12)), (TaggedChar::control(0x03), TaggedChar::GAP));
    }

    #[test]
    fn an_input_of_a_switch_streams_only_while_it_is_connected() {
        let connected = SwitchInputState::Connected(PortId(1), CutThrough::new(0x81, None));
        for (input, byte) in
            [(connected, Some(TaggedChar::data(5))), (SwitchInputState::Discarding, None)]
        {
            let mut bench = PortBench::new(DataSink::Switch(SwitchId(0), SwitchInputState::Empty));
            bench.receive("05 06");
            // Its head has been taken.
            *bench.unit.sink.input() = input;
            assert_eq!(bench.unit.stream(), byte);
        }
        assert_eq!(PortBench::new(DataSink::Host(HostId(0))).unit.stream(), None);
    }

    #[test]
    fn a_reset_input_is_empty_and_hands_back_the_packet_that_has_not_gone_on() {
        //
        let id = PacketId { host: NodeId(3), number: 4 };
        let connected = SwitchInputState::Connected(PortId(1), CutThrough::new(0x81, Some(id)));
        let mut switches = SwitchArena::default();
        let parameters = SwitchParameters::new(8, RouteAddressing::Relative);
        switches.push(Switch::new(NodeId(7), parameters, 1));
        let mut bench = PortBench::new(DataSink::Switch(SwitchId(0), connected));
        assert_eq!(bench.unit.reset_input(&mut switches), Some(id));
        assert_eq!(bench.unit.sink, DataSink::Switch(SwitchId(0), SwitchInputState::Empty));
        assert_eq!(bench.unit.reset_input(&mut switches), None);
    }

    #[test]
    fn only_an_input_that_its_switch_has_set_aside_is_extended() {
        let sinks = [
            DataSink::Host(HostId(0)),
            DataSink::Switch(SwitchId(0), SwitchInputState::Ready),
            DataSink::Switch(SwitchId(0), SwitchInputState::Extended),
        ];
        assert_eq!(sinks.map(|sink| sink.is_extended()), [false, false, true]);
    }

    #[test]
    fn a_probe_sets_bit_four_and_its_reply_clears_it() {
        //
        let mut status = StatusWord::default();
        status.probed(100);
        assert_eq!(status.word, 0x10);
        let replied = |status: &mut StatusWord, bits, now| {
            ReplyStatus::new(bits).and_then(|reply| status.replied(reply, now))
        };
        assert_eq!(replied(&mut status, 5, 130), Some(30));
        assert_eq!(status.word, 5);
        // Bits 3 to 0 stay until the next reply; one that nobody asked for has no round trip.
        status.probed(200);
        assert_eq!(status.word, 0x15);
        assert_eq!(replied(&mut status, 9, 210), Some(10));
        assert_eq!((replied(&mut status, 2, 220), status.word), (None, 2));
    }
}
