//! One channel: what a receiver at the tap makes of its characters. P-1, P-7..P-9, F-7, R-2, C-4, C-5

use codec::Chars;
use codec::character::{DecodedCode, Symbol, decode_control};
use codec::chars::CharRun;
use codec::time::{OPEN_LINK, Tick};

use crate::event::{ChannelEvent, FlowCommand, LinkEvent};
use crate::packet::{ByteRetention, PacketAssembler, PacketEnd};

/// A receiver at the tap: fed with the characters of a channel in order, it hands out what it
/// notices and where. Every run of characters is one step; nothing in it grows with their number.
#[derive(Clone, Debug)]
pub struct ChannelReceiver {
    /// Place of the next character; none before the first.
    next: Option<Tick>,
    silence: SilenceState,
    receiving: ReceiveState,
    framing: FramingState,
    /// What the channel told the opposite sender last.
    command: Option<FlowCommand>,
    /// Packets closed.
    packets: u64,
    bytes: ByteRetention,
}

/// How long nothing but IDLE has come. F-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SilenceState {
    /// For so many periods, fewer than 16.
    Periods(u64),
    /// For longer: the link is open.
    Open,
}

/// Whether what stands between two packets has been seen, so that bytes have a place in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramingState {
    Unknown,
    Known,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of each channel")]
enum ReceiveState {
    /// Nothing: the next data character heads a packet. P-7
    Between,
    Packet(PacketAssembler),
    /// Data is dropped until a GAP. R-2
    Reset,
}

/// What a round of a repeat left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatRound {
    /// Whether it left the receiver as it had found it. If it brought nothing either, no further
    /// round will bring anything, but for STOP said again.
    pub(crate) left: RoundEffect,
    /// Packets closed in it.
    pub(crate) packets: u64,
    /// Other notices in it, but for STOP, and what there is inside packets.
    pub(crate) others: u64,
    /// Bytes of packets in it.
    pub(crate) data: u64,
}

/// How a round leaves a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundEffect {
    Same,
    Changed,
}

impl RepeatRound {
    /// Whether further rounds bring nothing, but for STOP said again.
    pub(crate) fn is_settled(&self) -> bool {
        self.left == RoundEffect::Same && self.packets == 0 && self.others == 0
    }
}

impl ChannelReceiver {
    /// A receiver before its first character.
    #[must_use]
    pub const fn new(bytes: ByteRetention) -> Self {
        Self {
            next: None,
            silence: SilenceState::Periods(0),
            receiving: ReceiveState::Between,
            framing: FramingState::Unknown,
            command: None,
            packets: 0,
            bytes,
        }
    }

    /// Place of the next character, once there was one.
    #[must_use]
    pub const fn next(&self) -> Option<Tick> {
        self.next
    }

    /// Says where the next characters stand, not before those that were fed. If some were not
    /// recorded, all that was known of the channel's state is forgotten.
    pub fn seek(&mut self, first: Tick, out: &mut impl FnMut(Tick, ChannelEvent)) {
        match self.next.replace(first) {
            Some(expected) if expected < first => {
                self.close(first, PacketEnd::Hole, out);
                let missing = first.since(expected).0;
                out(first, ChannelEvent::Link(LinkEvent::Hole { missing }));
                self.silence = SilenceState::Periods(0);
                self.receiving = ReceiveState::Between;
                self.framing = FramingState::Unknown;
                self.command = None;
            }
            None => out(first, ChannelEvent::Begins),
            Some(_) => {}
        }
    }

    /// Takes the next characters: O(runs + bytes to check), not O(characters).
    pub fn feed(&mut self, chars: Chars<'_>, out: &mut impl FnMut(Tick, ChannelEvent)) {
        let mut at = self.next.unwrap_or_default();
        for run in chars.runs() {
            match run {
                CharRun::Data(data) => {
                    self.data(at, data, out);
                    at.0 += data.len() as u64;
                }
                CharRun::Control(codes) => {
                    self.control(at, codes, out);
                    at.0 += codes.len() as u64;
                }
            }
        }
        self.next = Some(at);
    }

    /// Takes characters that repeat: O(pattern) once a round no longer brings anything new. Rounds
    /// that do are handed out one by one, however many they are.
    pub fn feed_repeated(
        &mut self,
        pattern: Chars<'_>,
        mut count: u64,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) {
        while count > 0 {
            let round = self.round(pattern, out);
            count -= 1;
            if round.is_settled() {
                self.skip(pattern, count, round);
                return;
            }
        }
    }

    /// Takes one round of a repeat.
    pub(crate) fn round(
        &mut self,
        pattern: Chars<'_>,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) -> RepeatRound {
        let (before, packets) = (self.phase(), self.packets);
        let (mut others, mut data) = (0, 0);
        self.feed(pattern, &mut |at, notice| {
            match notice {
                ChannelEvent::Link(_) | ChannelEvent::Command(FlowCommand::Go) => others += 1,
                ChannelEvent::Data(len) => data += len,
                ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Omitted { .. } => {}
                ChannelEvent::Head(_)
                | ChannelEvent::Packet(_)
                | ChannelEvent::Command(FlowCommand::Stop) => {}
            }
            out(at, notice);
        });
        let left = if before == self.phase() { RoundEffect::Same } else { RoundEffect::Changed };
        RepeatRound { left, packets: self.packets - packets, others, data }
    }

    /// All that decides what further characters bring, but for what a packet has taken in so far.
    const fn phase(&self) -> (SilenceState, u8, FramingState, Option<FlowCommand>) {
        (self.silence, self.receiving.kind(), self.framing, self.command)
    }

    /// Passes over further rounds like the last, at least two of which have been taken unless it
    /// was settled. (What a symbol does to `receiving` it does again without effect, and so does a
    /// round; that is why rounds repeat.)
    pub(crate) fn skip(&mut self, pattern: Chars<'_>, rounds: u64, last: RepeatRound) {
        let len = pattern.len() as u64;
        let later = len * rounds;
        let next = self.next.unwrap_or_default();
        self.next = Some(Tick(next.0 + later));
        self.packets += last.packets * rounds;
        if let ReceiveState::Packet(packet) = &mut self.receiving {
            if next.since(packet.start()).0 > len {
                // It began before the last round: it takes in what every round brings.
                let data: Vec<u8> = pattern.runs().flat_map(data_of).copied().collect();
                packet.pass_over(next, (pattern, &data), rounds);
            } else {
                packet.shift(later);
            }
        }
    }

    /// The recording ends here: what is still being received ends too.
    pub fn finish(&mut self, out: &mut impl FnMut(Tick, ChannelEvent)) {
        let last = Tick(self.next.unwrap_or_default().0.saturating_sub(1));
        self.close(last, PacketEnd::CaptureEnd, out);
    }

    fn data(&mut self, at: Tick, data: &[u8], out: &mut impl FnMut(Tick, ChannelEvent)) {
        self.alive(at, out);
        match &mut self.receiving {
            ReceiveState::Between => {
                let mut packet = PacketAssembler::new(at, self.bytes);
                packet.add(at, data);
                self.receiving = ReceiveState::Packet(packet);
                data.first().into_iter().for_each(|first| out(at, ChannelEvent::Head(*first)));
            }
            ReceiveState::Packet(packet) => packet.add(at, data),
            ReceiveState::Reset => return,
        }
        out(at, ChannelEvent::Data(data.len() as u64));
    }

    fn control(&mut self, mut at: Tick, codes: &[u8], out: &mut impl FnMut(Tick, ChannelEvent)) {
        let mut rest = codes;
        while let Some((code, after)) = rest.split_first() {
            if *code == IDLE {
                let idle = rest.iter().position(|code| *code != IDLE).unwrap_or(rest.len());
                self.idle(at, idle as u64, out);
                at.0 += idle as u64;
                rest = rest.get(idle..).unwrap_or_default();
                continue;
            }
            self.alive(at, out);
            match decode_control(*code) {
                DecodedCode::Exact(symbol) => self.symbol(at, symbol, out),
                DecodedCode::Corrected(symbol) => {
                    out(at, ChannelEvent::Link(LinkEvent::CorrectedCode { code: *code, symbol }));
                    self.symbol(at, symbol, out);
                }
                DecodedCode::Invalid => {
                    self.pause(at);
                    out(at, ChannelEvent::Link(LinkEvent::InvalidCode(*code)));
                }
            }
            at.0 += 1;
            rest = after;
        }
    }

    fn symbol(&mut self, at: Tick, symbol: Symbol, out: &mut impl FnMut(Tick, ChannelEvent)) {
        match symbol {
            Symbol::Gap => {
                self.framed(at, out);
                match self.receiving {
                    ReceiveState::Between => {}
                    ReceiveState::Packet(_) => self.close(at, PacketEnd::Gap, out),
                    ReceiveState::Reset => {
                        self.receiving = ReceiveState::Between;
                        out(at, ChannelEvent::Link(LinkEvent::ResetEnded));
                    }
                }
            }
            // GO said again changes nothing: only a STOP from here could have.
            Symbol::Go if self.command == Some(FlowCommand::Go) => {}
            Symbol::Go => self.command(at, FlowCommand::Go, out),
            Symbol::Stop => self.command(at, FlowCommand::Stop, out),
            Symbol::ForwardReset => {
                self.framed(at, out);
                self.close(at, PacketEnd::Reset, out);
                self.receiving = ReceiveState::Reset;
                out(at, ChannelEvent::Link(LinkEvent::ForwardReset));
            }
            Symbol::BackwardReset => out(at, ChannelEvent::Link(LinkEvent::BackwardReset)),
            Symbol::OverrunAlarm => out(at, ChannelEvent::Link(LinkEvent::OverrunAlarm)),
            Symbol::Probe(number) => out(at, ChannelEvent::Link(LinkEvent::Probe(number))),
            Symbol::Reply(status) => out(at, ChannelEvent::Link(LinkEvent::Reply(status))),
            // IDLE is no character (C-6); symbols that are not known are ignored (C-3, C-7).
            Symbol::Idle | Symbol::Virtual { .. } | _ => {}
        }
    }

    fn command(
        &mut self,
        at: Tick,
        command: FlowCommand,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) {
        self.command = Some(command);
        out(at, ChannelEvent::Command(command));
    }

    /// A character other than IDLE has come. F-7
    fn alive(&mut self, at: Tick, out: &mut impl FnMut(Tick, ChannelEvent)) {
        if self.silence == SilenceState::Open {
            out(at, ChannelEvent::Link(LinkEvent::LinkRestored));
        }
        self.silence = SilenceState::Periods(0);
    }

    /// So many silent periods, from `at` on. F-7
    fn idle(&mut self, at: Tick, periods: u64, out: &mut impl FnMut(Tick, ChannelEvent)) {
        let SilenceState::Periods(before) = self.silence else { return };
        if before + periods < OPEN_LINK.0 {
            self.pause(at);
            self.silence = SilenceState::Periods(before + periods);
            return;
        }
        let sixteenth = Tick(at.0 + OPEN_LINK.0 - before - 1);
        self.silence = SilenceState::Open;
        self.framed(sixteenth, out);
        self.close(sixteenth, PacketEnd::OpenLink, out);
        out(sixteenth, ChannelEvent::Link(LinkEvent::OpenLink));
    }

    /// No packet goes on across this character. P-1
    fn framed(&mut self, at: Tick, out: &mut impl FnMut(Tick, ChannelEvent)) {
        if self.framing == FramingState::Unknown {
            self.framing = FramingState::Known;
            out(at, ChannelEvent::Framed);
        }
    }

    /// Something stands inside a packet that may have been a GAP. P-1
    fn pause(&mut self, at: Tick) {
        if let ReceiveState::Packet(packet) = &mut self.receiving {
            packet.pause(at);
        }
    }

    /// Ends the packet that is being received, if one is.
    fn close(&mut self, at: Tick, ended_by: PacketEnd, out: &mut impl FnMut(Tick, ChannelEvent)) {
        if let ReceiveState::Packet(_) = self.receiving {
            let received = std::mem::replace(&mut self.receiving, ReceiveState::Between);
            if let ReceiveState::Packet(packet) = received {
                let packet = Box::new(packet.close(self.packets, ended_by));
                out(at, ChannelEvent::Packet(packet));
                self.packets += 1;
            }
        }
    }
}

const IDLE: u8 = 0;

const fn data_of(run: CharRun<'_>) -> &[u8] {
    match run {
        CharRun::Data(data) => data,
        CharRun::Control(_) => &[],
    }
}

impl ReceiveState {
    const fn kind(&self) -> u8 {
        match self {
            Self::Between => 0,
            Self::Packet(_) => 1,
            Self::Reset => 2,
        }
    }
}
